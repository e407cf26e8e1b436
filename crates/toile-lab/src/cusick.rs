//! The Cusick drape test: a round specimen of 30 cm on a round table of 18 cm, and the shadow it throws.

use crate::material::cloth;
use crate::session::LabError;
use crate::watched::{Watched, body};
use glam::{DVec2, DVec3};
use std::f64::consts::{PI, TAU};
use toile::collide::collider::Form;
use toile::drive::Transform;
use toile::math::random;
use toile::mesh::{Pattern, Shape, shapes};
use toile::{Air, ContactSettings, Edit, Fabric, Friction, Setup, World};

/// Radius of the table [m].
pub const TABLE: f64 = 0.09;
/// Radius of the specimen [m].
pub const RADIUS: f64 = 0.15;
/// Gravity [m/s²].
pub const GRAVITY: f64 = 9.81;
/// Directions in which the shadow is measured.
const DIRECTIONS: usize = 720;
/// Part of the mean radius by which a fold must stand out of its surroundings.
const PROMINENCE: f64 = 0.05;

/// Unevenness of the specimen at its rim [m], per wave around: less than cloth is thick. With 1e-3 the folds are those of the
/// unevenness, and the coefficient goes by its seed.
const UNEVEN: f64 = 2e-4;
/// Waves around of which it consists.
const WAVES: std::ops::RangeInclusive<u64> = 2..=12;
/// Time in which the specimen takes over its weight, and time in all until it has settled [s].
const LOWERING: f64 = 1.5;
const FALL: f64 = 2.0;
/// Length of a frame [s], and substeps in it: in long ones cloth trembles on the rim.
const STEP: f64 = 0.02;
const SUBSTEPS: u32 = 3;
/// Rate at which air slows it [1/s]. With four times as much, stiff specimens stay on the way to their folds.
const AIR: f64 = 1.0;
/// The table as a body: how thick it is, what cloth keeps from it [m], and friction that holds it.
const THICK: f64 = 0.01;
const GAP: f64 = 1e-3;
const GRIP: f64 = 1.0;
/// Rate at which more air brings it to rest [1/s]. Much more would only slow its way there.
const CALM: f64 = 4.0;
/// It rests when its coefficient changes by less than this in such a time [s], and it is slower than that [m/s] (one that
/// swings about its mean keeps its coefficient, too); it may take so long [s] at most.
const STILL: f64 = 1e-3;
const SPELL: f64 = 0.5;
const SLOW: f64 = 5e-4;
const LONGEST: f64 = 8.0;

/// A specimen before the test: it lies flat on the table, a body, held by friction and its own weight alone. It may lift
/// from the table, slide over it and meet itself.
#[derive(Clone, Copy, Debug)]
pub struct Specimen {
    /// What it is made of.
    pub fabric: Fabric,
    /// Length of an edge of its mesh [m].
    pub edge: f64,
    /// How the mesh is made.
    pub pattern: Pattern,
    /// Which unevenness it starts with.
    pub seed: u64,
}

/// A specimen at rest.
pub struct Draped {
    /// Its faces.
    pub faces: Vec<[u32; 3]>,
    /// Where its vertices are [m].
    pub x: Vec<DVec3>,
    /// Its shadow.
    pub shadow: Shadow,
    /// The shadow at the end of the fall.
    pub fallen: Shadow,
    /// How long it took to come to rest [s].
    pub waited: f64,
    /// Root mean square speed at the end [m/s].
    pub speed: f64,
    /// What the table carries, over the weight.
    pub carried: f64,
    /// How far cloth on the inner four fifths of the table is from where it lay, sideways [m].
    pub slid: f64,
    /// Frames in which something intersected.
    pub bad_frames: u64,
}

impl Specimen {
    /// The specimen, with a circle of vertices on the edge of the table.
    pub fn shape(&self) -> Result<Shape, LabError> {
        let count = |length: f64| ((length / self.edge).round() as usize).max(1);
        let (inner, outer) = (count(TABLE), count(RADIUS - TABLE));
        let mut shape = shapes::disc((inner + outer) as f64, inner + outer, self.pattern)?;
        // Ring k of a disc has 6 k vertices, the centre comes first.
        let table = 1 + 3 * inner * (inner - 1)..1 + 3 * inner * (inner + 1);
        for (i, p) in shape.positions.iter_mut().enumerate() {
            let ring = if table.contains(&i) { inner as f64 } else { p.length() };
            let (inner, outer) = (inner as f64, outer as f64);
            let r = TABLE * (ring / inner).min(1.0) + (RADIUS - TABLE) * ((ring - inner) / outer).max(0.0);
            *p = p.normalize_or_zero() * r;
        }
        let x = &shape.positions;
        shape.rest = shape.faces.iter().map(|f| f.map(|v| flat(x[v as usize]))).collect();
        Ok(shape)
    }

    /// Lowers it, lets it settle, then brings it to rest.
    ///
    /// In the test a plate around the table carries the rim and is let down: cloth takes over its weight little
    /// by little. Here its weight grows instead. Released at once, cloth of 1e-5 N·m on
    /// 12 mm edges ended in 7 to 12 folds by unevenness and mesh, of higher energy than the 6 or 7 found so.
    pub fn drape(&self) -> Result<Draped, LabError> {
        let shape = self.shape()?;
        let start: Vec<DVec3> =
            shape.positions.iter().map(|p| *p + DVec3::Y * (GAP + self.lift(*p))).collect();
        let placed = Shape { positions: start, ..shape.clone() };
        let mut falling = Watched::of(self.world(&placed, AIR)?, STEP)?;
        for step in 1..=(FALL / STEP).round() as usize {
            let part = (step as f64 * STEP / LOWERING).min(1.0);
            falling.world.edit(&Edit::Gravity(DVec3::NEG_Y * (GRAVITY * part)))?;
            falling.step()?;
        }
        let fallen = Shadow::of(&falling.world.positions(0), &shape.faces);
        let mut slower = self.world(&placed, CALM)?;
        slower.restore(falling.world.snapshot())?;
        let mut calming = Watched::of(slower, STEP)?;
        let (mut shadow, mut waited) = (fallen.clone(), 0.0);
        loop {
            let before = shadow.coefficient();
            calming.run(SPELL)?;
            waited += SPELL;
            shadow = Shadow::of(&calming.world.positions(0), &shape.faces);
            let rests = (shadow.coefficient() - before).abs() < STILL && calming.speed() < SLOW;
            if rests || waited >= LONGEST {
                break;
            }
        }
        let x = calming.world.positions(0);
        let carried = calming.world.contact_forces(0).iter().fold(DVec3::ZERO, |sum, f| sum + *f);
        let slid = (0..x.len()).filter(|i| shape.positions[*i].length() < 0.8 * TABLE);
        let slid = slid.map(|i| flat(x[i] - shape.positions[i]).length()).fold(0.0, f64::max);
        Ok(Draped {
            shadow,
            fallen,
            waited,
            speed: calming.speed(),
            carried: carried.y / calming.weight(),
            slid,
            bad_frames: falling.bad_frames + calming.bad_frames,
            faces: shape.faces,
            x,
        })
    }

    /// Unevenness of what overhangs [m].
    fn lift(&self, p: DVec3) -> f64 {
        if on_table(p) { 0.0 } else { self.unevenness(p) }
    }

    fn world(&self, shape: &Shape, air: f64) -> Result<World, LabError> {
        // Flat at rest, wherever it starts.
        let mut specimen = cloth("specimen", shape, self.fabric)?;
        specimen.air = Air { drag: air * self.fabric.density, ..Air::default() };
        let stand = Transform { offset: DVec3::NEG_Y * (0.5 * THICK), ..Transform::IDENTITY };
        let table = body("table", Form::Cylinder { radius: TABLE, height: THICK }, stand, 1e-4)?;
        let friction = [ContactSettings::default().friction[0], Friction::of(GRIP)];
        let contact = ContactSettings { gap: GAP, friction, ..ContactSettings::default() };
        let (cloths, bodies) = (vec![specimen], vec![table]);
        Ok(World::new(Setup { cloths, bodies, contact, substeps: SUBSTEPS, ..Setup::default() })?)
    }

    /// Height above the table's plane at the start [m]: a few waves around, the same on every mesh.
    fn unevenness(&self, p: DVec3) -> f64 {
        let angle = p.z.atan2(p.x);
        let out = (p.length() - TABLE) / (RADIUS - TABLE);
        let wave = |k: u64| {
            let (s, c) = (k as f64 * angle).sin_cos();
            c * random::signed(self.seed, 2 * k) + s * random::signed(self.seed, 2 * k + 1)
        };
        UNEVEN * out * out * WAVES.map(wave).sum::<f64>()
    }
}

fn on_table(p: DVec3) -> bool {
    p.length() < TABLE * (1.0 + 1e-9)
}

fn flat(p: DVec3) -> DVec2 {
    DVec2::new(p.x, p.z)
}

/// The outline of a specimen and its table seen from above: the farthest cloth in evenly spaced directions [m].
#[derive(Clone, Debug)]
pub struct Shadow {
    /// Radius in each direction, the first along +X and on towards +Z [m].
    pub radius: Vec<f64>,
}

impl Shadow {
    /// That of cloth at `x`.
    pub fn of(x: &[DVec3], faces: &[[u32; 3]]) -> Shadow {
        let step = TAU / DIRECTIONS as f64;
        let mut radius = vec![TABLE; DIRECTIONS];
        let sides = faces.iter().flat_map(|f| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]]);
        for [a, b] in sides.map(|side| side.map(|v| flat(x[v as usize]))) {
            // Directions that meet the side, counted from the end that comes first around.
            let (a, b) = if a.perp_dot(b) < 0.0 { (b, a) } else { (a, b) };
            let first = a.to_angle() / step;
            let last = first + a.angle_to(b) / step;
            for k in first.ceil() as i64..=last.floor() as i64 {
                let ray = DVec2::from_angle(k as f64 * step);
                let across = ray.perp_dot(b - a);
                if across.abs() > 1e-12 {
                    let r = &mut radius[k.rem_euclid(DIRECTIONS as i64) as usize];
                    *r = r.max(a.perp_dot(b - a) / across);
                }
            }
        }
        Shadow { radius }
    }

    /// Its area [m²].
    pub fn area(&self) -> f64 {
        let next = self.radius.iter().cycle().skip(1);
        let corners = self.radius.iter().zip(next).map(|(a, b)| a * b).sum::<f64>();
        0.5 * (TAU / DIRECTIONS as f64).sin() * corners
    }

    /// Drape coefficient: part of the overhanging ring that is in the shadow.
    pub fn coefficient(&self) -> f64 {
        (self.area() / PI - TABLE * TABLE) / (RADIUS * RADIUS - TABLE * TABLE)
    }

    /// Number of folds: maxima of the radius that stand out.
    pub fn folds(&self) -> usize {
        let n = self.radius.len();
        let least = PROMINENCE * self.radius.iter().sum::<f64>() / n as f64;
        let at = |i: usize| self.radius[i % n];
        // Lowest place on the way from a maximum to anything higher.
        let lowest =
            |way: &mut dyn Iterator<Item = f64>, top: f64| way.take_while(|r| *r <= top).fold(top, f64::min);
        let stands_out = |i: &usize| {
            let top = at(*i);
            let ahead = lowest(&mut (1..n).map(|k| at(i + k)), top);
            let behind = lowest(&mut (1..n).map(|k| at(i + n - k)), top);
            top > at(i + n - 1) && top >= at(i + 1) && top - ahead.max(behind) > least
        };
        (0..n).filter(stands_out).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_specimen_throws_all_its_shadow_and_has_no_folds() {
        let specimen = Specimen {
            fabric: Fabric::default(),
            edge: 0.008,
            pattern: Pattern::Delaunay { seed: 3 },
            seed: 0,
        };
        let shape = specimen.shape().expect("a shape");
        let shadow = Shadow::of(&shape.positions, &shape.faces);
        assert!((shadow.coefficient() - 1.0).abs() < 5e-3, "{}", shadow.coefficient());
        assert_eq!(shadow.folds(), 0);
    }

    #[test]
    fn waves_are_counted_and_ripples_are_not() {
        let wavy = |ripple: f64| Shadow {
            radius: (0..DIRECTIONS)
                .map(|k| TAU * k as f64 / DIRECTIONS as f64)
                .map(|a| 0.12 + 0.01 * (7.0 * a + 0.3).cos() + ripple * (31.0 * a).cos())
                .collect(),
        };
        assert_eq!([wavy(0.0).folds(), wavy(1e-3).folds(), wavy(2e-2).folds()], [7, 7, 31]);
        let area = TAU * (0.12 * 0.12 + 0.5 * 1e-4) / 2.0;
        assert!((wavy(0.0).area() / area - 1.0).abs() < 1e-3);
    }
}
