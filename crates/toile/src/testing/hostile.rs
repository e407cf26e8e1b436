//! Hostile passes: scenes and wishes made to break the guarantee ([`crate::contact::filter`]).
//!
//! A seed decides everything: what lies on what, how thin the gaps are, who is led and where everyone wishes to be,
//! pass after pass. After every pass the exact checker looks at the places and the continuous test at the ways; both
//! share no code with the filter.

use crate::collide::Role;
use crate::collide::certify::{Audit, CheckOptions, CheckSurface, Checker, Distance, Kind};
use crate::contact::filter::{Fault, Filter, Wish};
use crate::contact::space::{Object, Range, Shape, Space};
use crate::math::random::Dice;
use crate::math::{DMat3, DVec3};
use std::sync::Arc;

/// What lies on what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// Wavy sheets over a ball and a floor that move.
    Stack,
    /// Sheets 0.3 mm apart, some of their vertices led.
    Thin,
    /// One sheet folded over and over.
    Folded,
    /// Sheets with faces that have nearly no area.
    Degenerate,
    /// Sheets so close that no plane can be told to lie between them.
    Frozen,
}

impl Scene {
    /// All of them.
    pub const ALL: [Scene; 5] = [Scene::Stack, Scene::Thin, Scene::Folded, Scene::Degenerate, Scene::Frozen];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Scene::Stack => "stack",
            Scene::Thin => "thin",
            Scene::Folded => "folded",
            Scene::Degenerate => "degenerate",
            Scene::Frozen => "frozen",
        }
    }
}

/// What a trial found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Passes tried.
    pub passes: u64,
    /// Passes after which something intersected.
    pub crossed: u64,
    /// Passes on whose ways something may have met.
    pub met: u64,
    /// Pairs that were split, summed over passes.
    pub pairs: u64,
    /// Motion wished for by free points [m], and what the filter kept of it.
    pub wished: f64,
    /// See `wished`.
    pub kept: f64,
    /// Smallest distance after a pass [m].
    pub closest: f64,
}

impl Outcome {
    /// Nothing yet.
    pub fn none() -> Outcome {
        Outcome { closest: f64::INFINITY, ..Outcome::default() }
    }

    /// Adds up.
    pub fn add(&mut self, other: &Outcome) {
        self.passes += other.passes;
        self.crossed += other.crossed;
        self.met += other.met;
        self.pairs += other.pairs;
        self.wished += other.wished;
        self.kept += other.kept;
        self.closest = self.closest.min(other.closest);
    }

    /// Passes that broke the guarantee.
    pub fn violations(&self) -> u64 {
        self.crossed.max(self.met)
    }
}

/// A surface in place.
struct Part {
    faces: Vec<[u32; 3]>,
    x: Vec<DVec3>,
    body: bool,
}

/// A stage for passes: what the filter and its judges look at.
struct Stage {
    space: Space,
    checker: Checker,
    audit: Audit,
    sizes: Vec<usize>,
    x: Vec<DVec3>,
    led: Vec<bool>,
    bound: Vec<(u32, DMat3)>,
    gap: f64,
    /// Whether the filter may be told pairs beforehand.
    foresees: bool,
}

/// Runs `passes` passes on `scene` with a rule broken or none. After a violation it goes back to where all was well.
pub fn run(scene: Scene, seed: u64, passes: u64, fault: Fault) -> Outcome {
    let mut dice = Dice::new(seed.wrapping_mul(31) ^ scene as u64);
    let mut outcome = Outcome::none();
    // A start that intersects shows nothing: another one.
    let Some(mut stage) = (0..20).find_map(|_| stage(scene, &mut dice)) else { return outcome };
    let mut filter = Filter::default();
    filter.fault = fault;
    let xi = 0.05 * stage.gap;
    let mut bulk = true;
    for _ in 0..passes {
        let before = stage.x.clone();
        let to = wishes(&stage, &mut dice);
        let reach: Vec<f64> = to.iter().zip(&before).map(|(a, b)| 1.5 * (*a - *b).length()).collect();
        filter.forget();
        if stage.foresees && fault == Fault::None && dice.unit() < 0.3 {
            let mut known = Vec::new();
            let way = to.iter().zip(&before).map(|(a, b)| 0.5 * (*a - *b)).collect();
            let range = Range { way, reach };
            stage.space.pairs(&before, &range, stage.gap, false, &mut known);
            filter.know(&known, &before, &range, stage.gap);
        }
        // Within a step the filter goes on with what is left: now and then so does this.
        let again = if dice.unit() < 0.3 { 1 + dice.below(3) } else { 1 };
        for round in 0..again {
            let wish =
                Wish { to: &to, led: &stage.led, bound: &stage.bound, released: &[], rigid: &[], mass: &[] };
            let start = stage.x.clone();
            bulk |= round == 0 && dice.unit() < 0.7;
            let passed = filter.pass(&mut stage.space, &mut stage.x, wish, (xi, &mut bulk));
            outcome.passes += 1;
            outcome.pairs += passed.pairs as u64;
            if !stage.judge(&start, &mut outcome) {
                stage.x.clone_from(&start);
                break;
            }
        }
        for i in 0..stage.space.particles() {
            let (wanted, got) = (to[i] - before[i], stage.x[i] - before[i]);
            if !stage.led[i] && wanted != DVec3::ZERO {
                outcome.wished += wanted.length();
                outcome.kept += wanted.dot(got) / wanted.length();
            }
        }
    }
    outcome
}

impl Stage {
    /// Whether nothing intersects, and nothing met on the way from `start`.
    fn judge(&mut self, start: &[DVec3], outcome: &mut Outcome) -> bool {
        let cut = |x: &[DVec3], sizes: &[usize]| -> Vec<Vec<DVec3>> {
            let mut first = 0;
            let mut each = Vec::with_capacity(sizes.len());
            for len in sizes {
                each.push(x[first..first + len].to_vec());
                first += len;
            }
            each
        };
        let (old, new) = (cut(start, &self.sizes), cut(&self.x, &self.sizes));
        let old: Vec<&[DVec3]> = old.iter().map(Vec::as_slice).collect();
        let new: Vec<&[DVec3]> = new.iter().map(Vec::as_slice).collect();
        let verdict = self.checker.check(&new);
        let finite = self.x.iter().all(|p| p.is_finite());
        let crossed = verdict.intersections() > 0 || !finite;
        self.audit.forget();
        self.audit.step(&old);
        let met = self.audit.step(&new).is_none_or(|audited| audited.total > 0);
        outcome.crossed += u64::from(crossed);
        outcome.met += u64::from(met);
        outcome.closest = outcome.closest.min(verdict.min_distance().unwrap_or(f64::INFINITY));
        !(crossed || met)
    }
}

fn stage(scene: Scene, dice: &mut Dice) -> Option<Stage> {
    let gap = match scene {
        Scene::Thin => 3e-4,
        Scene::Frozen => 1e-3,
        _ => [3e-4, 1e-3, 3e-3][dice.below(3)],
    };
    let parts = parts(scene, gap, dice);
    let sizes: Vec<usize> = parts.iter().map(|part| part.x.len()).collect();
    let x: Vec<DVec3> = parts.iter().flat_map(|part| part.x.iter().copied()).collect();
    let mut surfaces = Vec::new();
    let mut objects = Vec::new();
    let mut led = Vec::new();
    for (number, part) in parts.into_iter().enumerate() {
        let kind = if part.body { Kind::Body } else { Kind::Cloth };
        surfaces.push(CheckSurface::new(format!("{number}"), kind, part.x.len(), part.faces.clone()));
        led.resize(led.len() + part.x.len(), part.body);
        let role = if part.body { Role::Body } else { Role::Cloth };
        objects.push(Object {
            number: number as u32,
            names: Vec::new(),
            is_body: part.body,
            stiff: false,
            thickness: 0.0,
            first: 0,
            shape: Arc::new(Shape::new(part.x.len(), part.faces, role)?),
        });
    }
    let space = Space::new(objects, &x);
    let mut bound = Vec::new();
    for i in 0..space.particles() {
        let kind = dice.unit();
        if kind < 0.02 {
            led[i] = true;
        } else if kind < 0.04 {
            let n = dice.vector().normalize_or(DVec3::Y);
            let line = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
            bound.push((i as u32, if kind < 0.03 { line } else { DMat3::IDENTITY - line }));
        }
    }
    let options = CheckOptions { distance: Distance::Within(1e-2), ..CheckOptions::default() };
    let mut checker = Checker::new(surfaces.clone(), options).ok()?;
    let mut audit = Audit::new(&surfaces, 1);
    let mut first = 0;
    let mut each = Vec::new();
    for len in &sizes {
        each.push(&x[first..first + len]);
        first += len;
    }
    // Pairs must be apart as far as the continuous test can tell, or it would blame the start on the pass.
    audit.step(&each);
    let apart = audit.step(&each).is_some_and(|audited| audited.total == 0);
    if checker.check(&each).intersections() > 0 || !apart {
        return None;
    }
    Some(Stage { space, checker, audit, sizes, x, led, bound, gap, foresees: true })
}

/// Quads along a side of a sheet of 10 cm.
const QUADS: usize = 5;

fn parts(scene: Scene, gap: f64, dice: &mut Dice) -> Vec<Part> {
    let mut parts = Vec::new();
    let layers = 2 + dice.below(3);
    // Turned or wavy: the corners of sheets that are both would stick out of each other.
    let flat = dice.unit() < 0.5;
    let turn = if flat { dice.unit() } else { 0.0 };
    let height = if flat { 0.0 } else { 0.004 * dice.unit() };
    let wave = (height, 10.0 + 40.0 * dice.unit(), 10.0 + 40.0 * dice.unit());
    for layer in 0..layers {
        let apart = match scene {
            // Far below what a plane is trusted to tell.
            Scene::Frozen => 5e-13,
            _ => gap * [0.06, 0.3, 1.0, 4.0][dice.below(4)],
        };
        let lift = apart * layer as f64;
        let angle = if scene == Scene::Frozen { 0.0 } else { turn * layer as f64 };
        let (faces, mut x) = sheet(QUADS, |u, v| {
            let (s, c) = libm::sincos(angle);
            let (a, b) = (0.1 * (u - 0.5), 0.1 * (v - 0.5));
            let p = DVec3::new(c * a - s * b, 0.0, s * a + c * b);
            p + DVec3::Y * (wave.0 * libm::sin(wave.1 * p.x) * libm::cos(wave.2 * p.z))
        });
        x.iter_mut().for_each(|p| p.y += lift);
        match scene {
            Scene::Folded => {
                parts.push(folded(2 * QUADS, gap));
                break;
            }
            Scene::Degenerate => flatten_some(&faces, &mut x, dice),
            _ => {}
        }
        parts.push(Part { faces, x, body: false });
    }
    if matches!(scene, Scene::Stack | Scene::Degenerate | Scene::Folded) {
        let below = parts.iter().flat_map(|part| &part.x).fold(f64::INFINITY, |low, p| low.min(p.y));
        let (faces, x) = ball(0.03);
        let top = below - 2.0 * gap * dice.unit() - 1e-5;
        parts.push(Part { faces, x: x.iter().map(|p| *p + DVec3::Y * (top - 0.03)).collect(), body: true });
        let (faces, x) = sheet(1, |u, v| DVec3::new(0.3 * (u - 0.5), 0.0, 0.3 * (v - 0.5)));
        parts.push(Part { faces, x: x.iter().map(|p| *p + DVec3::Y * (top - 0.01)).collect(), body: true });
    }
    parts
}

/// A sheet of n × n quads; `place` puts it in space.
fn sheet(n: usize, place: impl Fn(f64, f64) -> DVec3) -> (Vec<[u32; 3]>, Vec<DVec3>) {
    let at = |i: usize, j: usize| (i * (n + 1) + j) as u32;
    let mut faces = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            faces.extend(if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
        }
    }
    let each = (0..=n).flat_map(|i| (0..=n).map(move |j| (i, j)));
    let x = each.map(|(i, j)| place(i as f64 / n as f64, j as f64 / n as f64)).collect();
    (faces, x)
}

/// A sheet folded like an accordion into layers `gap` apart.
fn folded(n: usize, gap: f64) -> Part {
    let (straight, radius) = (0.06, 0.5 * gap.max(1e-3));
    let period = straight + std::f64::consts::PI * radius;
    let (faces, x) = sheet(n, |u, v| {
        let length = u * 3.0 * period * 0.999;
        let (layer, along) = (libm::floor(length / period), length % period);
        let bend = ((along - straight) / radius).max(0.0);
        let (s, c) = libm::sincos(bend);
        let x = along.min(straight) + radius * s;
        let side = if layer % 2.0 == 0.0 { x } else { straight - x };
        DVec3::new(side - 0.03, 2.0 * radius * layer + radius * (1.0 - c), 0.1 * (v - 0.5))
    });
    Part { faces, x, body: false }
}

/// Takes all but nothing of the area from some faces: a corner moves to the opposite side, up to a hair's breadth that
/// the filter can still tell, or cannot.
fn flatten_some(faces: &[[u32; 3]], x: &mut [DVec3], dice: &mut Dice) {
    for face in faces {
        if dice.unit() < 0.03 {
            let [a, b, c] = face.map(|v| v as usize);
            let left = [1e-4, 1e-8, 1e-11][dice.below(3)];
            let middle = (x[b] + x[c]) * 0.5;
            x[a] = middle + (x[a] - middle) * left;
        }
    }
}

/// A ball of 80 faces round the origin.
fn ball(radius: f64) -> (Vec<[u32; 3]>, Vec<DVec3>) {
    let (rings, sides) = (5, 8);
    let mut x = vec![DVec3::Y * radius];
    for ring in 1..rings {
        let (s, c) = libm::sincos(std::f64::consts::PI * ring as f64 / rings as f64);
        for side in 0..sides {
            let (u, v) = libm::sincos(std::f64::consts::TAU * side as f64 / sides as f64);
            x.push(DVec3::new(s * v, c, s * u) * radius);
        }
    }
    x.push(DVec3::NEG_Y * radius);
    let at = |ring: usize, side: usize| (1 + (ring - 1) * sides + side % sides) as u32;
    let last = x.len() as u32 - 1;
    let mut faces = Vec::new();
    for side in 0..sides {
        faces.push([0, at(1, side + 1), at(1, side)]);
        faces.push([last, at(rings - 1, side), at(rings - 1, side + 1)]);
        for ring in 1..rings - 1 {
            let (a, b) = (at(ring, side), at(ring, side + 1));
            let (c, d) = (at(ring + 1, side + 1), at(ring + 1, side));
            faces.extend([[a, b, c], [a, c, d]]);
        }
    }
    (faces, x)
}

/// Where everyone wishes to be: from a nanometre to a metre away, all of them or a few, alone or together.
fn wishes(stage: &Stage, dice: &mut Dice) -> Vec<DVec3> {
    let magnitude = libm::pow(10.0, -9.0 + 8.0 * dice.unit());
    let (kind, density) = (dice.below(6), [1.0, 0.5, 0.05][dice.below(3)]);
    let centre = dice.vector() * 0.05;
    let direction = dice.vector();
    let often = dice.unit();
    // What all do together, and what is led does: as rigid bodies.
    let together = if dice.unit() < 0.4 {
        dice.vector() * libm::pow(10.0, -4.0 + 3.0 * dice.unit())
    } else {
        DVec3::ZERO
    };
    let carried = if dice.unit() < 0.4 {
        dice.vector() * libm::pow(10.0, -4.0 + 3.0 * dice.unit())
    } else {
        DVec3::ZERO
    };
    let spin = if dice.unit() < 0.3 { dice.vector() * 0.3 } else { DVec3::ZERO };
    let mut to = Vec::with_capacity(stage.x.len());
    for (i, x) in stage.x.iter().enumerate() {
        let own = match kind {
            0 => dice.vector() * magnitude,
            1 => (centre - *x) * (0.3 * dice.unit()),
            2 => direction * (4.0 * magnitude * libm::sin(200.0 * x.x)),
            3 => (dice.vector() * 1.5).round() * magnitude,
            // To the other side.
            4 => DVec3::Y * (2.0 * (centre.y * 0.1 - x.y)),
            _ => DVec3::ZERO,
        };
        let wanted = if stage.led[i] {
            carried + spin.cross(*x)
        } else if dice.unit() > density {
            together * if often < 0.5 { 1.0 } else { 0.0 }
        } else {
            own + together
        };
        to.push(*x + wanted);
    }
    for (i, projector) in &stage.bound {
        let i = *i as usize;
        if !stage.led[i] {
            to[i] = stage.x[i] + *projector * (to[i] - stage.x[i]);
        }
    }
    to
}
