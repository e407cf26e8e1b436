//! What is done to a step's result before it is accepted: kinematic error correction (V97-8), position correction
//! (B14-9), limits of strain (B14-10), direct damping of velocities (V97-15), in this order.
//!
//! It comes after forces and integration and before collisions (B14-1). All but the position correction act along
//! edges by opposite impulses, so they keep momentum; each edge sees what the edges before it did, in a fixed
//! colouring. Freedoms and pins are honoured: a particle gives way as its inverse mass L allows.

use super::bodies::Bodies;
use super::named_choices;
use crate::math::{DMat3, DVec3};

named_choices! {
    /// Which reading of B14's position correction (B14-9).
    PositionCorrection {
        /// None.
        Off = "off",
        /// As printed: the velocity is corrected only where the last pass still acted (E26).
        Paper = "paper",
        /// The velocity is that of the corrected way wherever a pass acted.
        Fixed = "fixed",
        /// The same, on the way relative to the neighbours: free fall is no error.
        Relative = "relative",
    }
}

named_choices! {
    /// What is done about edges that are too long (B14-10).
    StrainLimit {
        /// Nothing.
        Off = "off",
        /// Each is shortened once (Provot): edges after it may lengthen it again.
        Provot = "provot",
        /// Sweeps until none is too long.
        Strict = "strict",
    }
}

/// Sweeps of the strict limit before it is left as it is, and the part of the limit it may leave.
const SWEEPS: usize = 1000;
const SLACK: f64 = 1e-3;

/// Which corrections are made, and how strongly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corrections {
    /// B14-9: particles that move too far in a step go only part of the way.
    pub position: PositionCorrection,
    /// The way above which it acts [m].
    pub threshold: f64,
    /// Most halvings of the way.
    pub passes: u32,
    /// V97-8: edges are brought to rest within the error of the step. Only explicit steps know theirs.
    pub kinematic: bool,
    /// B14-10: what is done about edges that are too long.
    pub strain: StrainLimit,
    /// Largest strain of an edge (0.1 is 10 % longer than at rest).
    pub strain_limit: f64,
    /// V97-15: time in which edges stop lengthening or shortening, but for 1/e [s]. Infinity damps nothing.
    pub damping_time: f64,
}

impl Default for Corrections {
    fn default() -> Self {
        Corrections {
            position: PositionCorrection::Off,
            threshold: 0.01,
            passes: 10,
            kinematic: false,
            strain: StrainLimit::Off,
            strain_limit: 0.1,
            damping_time: f64::INFINITY,
        }
    }
}

impl Corrections {
    /// Whether nothing is corrected.
    pub fn are_none(&self) -> bool {
        self.position == PositionCorrection::Off
            && !self.kinematic
            && self.strain == StrainLimit::Off
            && self.damping_time == f64::INFINITY
    }
}

/// An edge as corrections see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Its particles.
    pub ends: [u32; 2],
    /// Length at rest [m].
    pub rest: f64,
}

/// The edges of an island, colour by colour: no two of a colour share a particle, so their order cannot matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Net {
    links: Vec<Link>,
    colours: usize,
    /// Where each particle's neighbours start.
    start: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Net {
    /// The net of `links` between `particles` particles: each takes the first colour free at both ends, in this order.
    pub fn new(particles: usize, links: impl IntoIterator<Item = Link>) -> Net {
        let mut taken: Vec<Vec<bool>> = vec![Vec::new(); particles];
        let mut coloured: Vec<(usize, Link)> = Vec::new();
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); particles];
        for link in links {
            let [a, b] = link.ends.map(|v| v as usize);
            let is = |taken: &[bool], c: usize| taken.get(c).copied().unwrap_or(false);
            let colour = (0..).find(|c| !is(&taken[a], *c) && !is(&taken[b], *c)).unwrap_or(0);
            for v in [a, b] {
                let len = taken[v].len().max(colour + 1);
                taken[v].resize(len, false);
                taken[v][colour] = true;
            }
            around[a].push(b as u32);
            around[b].push(a as u32);
            coloured.push((colour, link));
        }
        let colours = coloured.iter().map(|(c, _)| c + 1).max().unwrap_or(0);
        coloured.sort_by_key(|(colour, link)| (*colour, link.ends));
        let mut start = vec![0u32];
        for near in &around {
            start.push(start[start.len() - 1] + near.len() as u32);
        }
        let links = coloured.into_iter().map(|(_, link)| link).collect();
        Net { links, colours, start, neighbours: around.concat() }
    }

    /// All edges, colour by colour.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Number of colours.
    pub fn colours(&self) -> usize {
        self.colours
    }

    /// Particles that share an edge with `particle`.
    pub fn neighbours(&self, particle: usize) -> &[u32] {
        match self.start.get(particle + 1) {
            Some(end) => &self.neighbours[self.start[particle] as usize..*end as usize],
            None => &[],
        }
    }
}

/// A step's result, and where it came from.
pub struct Leap<'a> {
    /// Positions before [m].
    pub from: &'a [DVec3],
    /// Length of the step [s].
    pub dt: f64,
    /// Estimated errors of positions [m] and velocities [m/s], if the integrator knows them.
    pub error: Option<(&'a [DVec3], &'a [DVec3])>,
    /// Positions [m].
    pub x: &'a mut [DVec3],
    /// Velocities [m/s].
    pub v: &'a mut [DVec3],
}

/// Corrects a step; returns the particles that it moved or slowed, ascending.
pub fn apply(settings: &Corrections, bodies: Bodies, leap: Leap) -> Vec<u32> {
    if settings.are_none() {
        return Vec::new();
    }
    let n = leap.x.len();
    // Only what acts along edges asks how their ends give way.
    let along_edges =
        settings.kinematic || settings.strain != StrainLimit::Off || settings.damping_time < f64::INFINITY;
    let mobility = if along_edges { mobilities(bodies) } else { Vec::new() };
    let mut work = Work { mobility, links: bodies.net.links(), touched: vec![false; n], leap };
    if settings.kinematic {
        work.kinematic();
    }
    if settings.position != PositionCorrection::Off {
        work.position(settings, bodies);
    }
    match settings.strain {
        StrainLimit::Off => {}
        StrainLimit::Provot => work.limit(settings.strain_limit, 1),
        StrainLimit::Strict => work.limit(settings.strain_limit, SWEEPS),
    }
    if settings.damping_time < f64::INFINITY {
        work.damp(settings.damping_time);
    }
    (0..n as u32).filter(|i| work.touched[*i as usize]).collect()
}

/// Halvings of a way of `length` until it is at most `threshold`, but for `passes`: B14's loop in closed form.
pub fn halvings(length: f64, threshold: f64, passes: u32) -> u32 {
    if length <= threshold || length.is_nan() {
        return 0;
    }
    // The cast saturates.
    passes.min(libm::ceil(libm::log2(length / threshold)) as u32)
}

/// L of each particle [1/kg].
fn mobilities(bodies: Bodies) -> Vec<DMat3> {
    let inverse = &bodies.mobility.inverse_mass;
    let mut all: Vec<DMat3> = inverse.iter().map(|w| DMat3::from_diagonal(DVec3::splat(*w))).collect();
    for (i, projector) in &bodies.mobility.projectors {
        all[*i as usize] = *projector * inverse[*i as usize];
    }
    all
}

struct Work<'a> {
    mobility: Vec<DMat3>,
    links: &'a [Link],
    touched: Vec<bool>,
    leap: Leap<'a>,
}

/// An edge as it is: its unit vector, its length [m], and how its ends give way to opposite unit impulses along it.
struct Taut {
    ends: [usize; 2],
    along: DVec3,
    length: f64,
    give: [DVec3; 2],
}

impl Work<'_> {
    /// None if the edge has no direction or both ends are held.
    fn taut(&self, link: &Link) -> Option<Taut> {
        let ends = link.ends.map(|v| v as usize);
        let d = self.leap.x[ends[1]] - self.leap.x[ends[0]];
        let length = d.length();
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        let along = d / length;
        let give = ends.map(|i| self.mobility[i] * along);
        let sum = along.dot(give[0] + give[1]);
        (sum > 0.0).then(|| Taut { ends, along, length, give: give.map(|g| g / sum) })
    }

    /// Moves the ends so that the edge becomes longer by `by` [m].
    fn lengthen(&mut self, edge: &Taut, by: f64) {
        self.leap.x[edge.ends[0]] -= edge.give[0] * by;
        self.leap.x[edge.ends[1]] += edge.give[1] * by;
        self.touch(edge);
    }

    /// Pushes the ends so that the edge lengthens faster by `by` [m/s].
    fn quicken(&mut self, edge: &Taut, by: f64) {
        self.leap.v[edge.ends[0]] -= edge.give[0] * by;
        self.leap.v[edge.ends[1]] += edge.give[1] * by;
        self.touch(edge);
    }

    fn touch(&mut self, edge: &Taut) {
        for i in edge.ends {
            self.touched[i] = true;
        }
    }

    fn rate(&self, edge: &Taut) -> f64 {
        edge.along.dot(self.leap.v[edge.ends[1]] - self.leap.v[edge.ends[0]])
    }

    /// V97-8: within the error of its ends along it, each edge goes to its rest length, then to rest.
    fn kinematic(&mut self) {
        let Some((ex, ev)) = self.leap.error else { return };
        for link in self.links {
            let Some(edge) = self.taut(link) else { continue };
            let range = |e: &[DVec3]| edge.ends.iter().fold(0.0, |sum, i| sum + edge.along.dot(e[*i]).abs());
            let by = within(link.rest - edge.length, range(ex));
            if by != 0.0 {
                self.lengthen(&edge, by);
            }
            let by = within(-self.rate(&edge), range(ev));
            if by != 0.0 {
                self.quicken(&edge, by);
            }
        }
    }

    /// B14-9, in closed form: what moved farther than the threshold goes 2⁻ᵐ of its way.
    fn position(&mut self, settings: &Corrections, bodies: Bodies) {
        let Corrections { position, threshold, passes, .. } = *settings;
        let Leap { from, dt, ref mut x, ref mut v, .. } = self.leap;
        let relative = position == PositionCorrection::Relative;
        let before = if relative { x.to_vec() } else { Vec::new() };
        let common = |i: usize| {
            let near = bodies.net.neighbours(i);
            let sum = near.iter().fold(DVec3::ZERO, |sum, j| sum + before[*j as usize] - from[*j as usize]);
            if near.is_empty() { sum } else { sum / near.len() as f64 }
        };
        let mut held = bodies.mobility.projectors.iter().peekable();
        for i in 0..x.len() {
            let projector = held.next_if(|(k, _)| *k as usize == i).map(|(_, projector)| *projector);
            let way = x[i] - from[i];
            let own = if relative { way - common(i) } else { way };
            let m = halvings(own.length(), threshold, passes);
            if m == 0 || projector == Some(DMat3::ZERO) {
                continue;
            }
            let back = own * libm::ldexp(1.0, -(m as i32)) - own;
            x[i] += projector.map_or(back, |projector| projector * back);
            if position != PositionCorrection::Paper || m == passes {
                v[i] = (x[i] - from[i]) / dt;
            }
            self.touched[i] = true;
        }
    }

    /// B14-10: edges longer than the limit are shortened to it, `sweeps` times over; velocities follow.
    fn limit(&mut self, limit: f64, sweeps: usize) {
        let before = self.leap.x.to_vec();
        for _ in 0..sweeps {
            let mut worst = 0.0f64;
            for link in self.links {
                let longest = link.rest * (1.0 + limit);
                let Some(edge) = self.taut(link) else { continue };
                let excess = edge.length - longest;
                if excess > 0.0 {
                    worst = worst.max(excess / (link.rest * limit.max(SLACK)));
                    self.lengthen(&edge, -excess);
                }
            }
            if worst <= SLACK {
                break;
            }
        }
        for (i, before) in before.iter().enumerate() {
            self.leap.v[i] += (self.leap.x[i] - *before) / self.leap.dt;
        }
    }

    /// V97-15: the rate of each edge falls to e^(−h/τ) of itself, whatever h is.
    fn damp(&mut self, time: f64) {
        let part = libm::expm1(-self.leap.dt / time);
        for link in self.links {
            let Some(edge) = self.taut(link) else { continue };
            let by = part * self.rate(&edge);
            if by != 0.0 {
                self.quicken(&edge, by);
            }
        }
    }
}

/// `wanted`, but no farther from zero than `range`.
fn within(wanted: f64, range: f64) -> f64 {
    if wanted.abs() <= range { wanted } else { range.copysign(wanted) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::freedom::Mobility;
    use crate::math::{random, reduce};
    use crate::mesh::{Mesh, Pattern, shapes};

    struct Cloth {
        net: Net,
        mobility: Mobility,
        mass: Vec<f64>,
        rest: Vec<DVec3>,
    }

    fn cloth(projectors: Vec<(u32, DMat3)>) -> Cloth {
        let shape = shapes::sheet(0.4, 0.3, 5, 4, Pattern::Delaunay { seed: 5 }).expect("shape");
        let rest = shape.positions.clone();
        let mesh = Mesh::new(rest.len(), shape.faces, shape.rest).expect("mesh");
        let mass: Vec<f64> = (0..rest.len()).map(|i| 1.0 + random::unit(3, i as u64)).collect();
        let inverse_mass = mass.iter().map(|m| 1.0 / m).collect();
        let links = mesh.edges().iter().map(|e| Link { ends: e.ends, rest: mesh.rest_length(e) });
        let net = Net::new(rest.len(), links);
        Cloth { net, mobility: Mobility { inverse_mass, projectors }, mass, rest }
    }

    impl Cloth {
        fn bodies(&self) -> Bodies<'_> {
            Bodies {
                mass: &self.mass,
                forces: &[],
                memory: &[],
                gravity: DVec3::ZERO,
                mobility: &self.mobility,
                places: &[],
                net: &self.net,
                start: &self.rest,
                edge: 0.08,
                size: 0.35,
                struck: None,
            }
        }

        fn noise(&self, seed: u64, size: f64) -> Vec<DVec3> {
            let entry = |k: usize| size * random::signed(seed, k as u64);
            let at = |i: usize| DVec3::new(entry(3 * i), entry(3 * i + 1), entry(3 * i + 2));
            (0..self.rest.len()).map(at).collect()
        }

        fn moved(&self, way: &[DVec3]) -> Vec<DVec3> {
            self.rest.iter().zip(way).map(|(x, d)| *x + *d).collect()
        }

        fn total(&self, t: &[DVec3]) -> DVec3 {
            reduce::sum_vectors(t.len(), |i| self.mass[i] * t[i])
        }

        fn kinetic(&self, v: &[DVec3]) -> f64 {
            reduce::sum(v.len(), |i| 0.5 * self.mass[i] * v[i].length_squared())
        }
    }

    #[test]
    fn no_two_edges_of_a_colour_share_a_particle() {
        let Cloth { net, rest, .. } = cloth(Vec::new());
        assert!(net.colours() >= 6 && net.colours() < 20, "{}", net.colours());
        let mut last: Vec<Option<usize>> = vec![None; rest.len()];
        let (mut colour, mut fresh) = (0, vec![false; rest.len()]);
        for link in net.links() {
            if link.ends.iter().any(|v| fresh[*v as usize]) {
                colour += 1;
                fresh.fill(false);
            }
            for v in link.ends.map(|v| v as usize) {
                assert!(last[v] != Some(colour));
                (last[v], fresh[v]) = (Some(colour), true);
            }
        }
        assert!(colour < net.colours());
        assert_eq!(net.neighbours(0).len(), net.links().iter().filter(|l| l.ends.contains(&0)).count());
    }

    /// The closed form is the printed loop, and whether its last pass acted.
    #[test]
    fn the_closed_form_is_the_loop() {
        for k in 0..20_000u64 {
            let length = libm::exp2(12.0 * random::signed(7, k));
            let passes = (random::unit(8, k) * 12.0) as u32;
            let (mut way, mut acted, mut last) = (length, 0, false);
            for _ in 0..passes {
                last = way > 1.0;
                if last {
                    way /= 2.0;
                    acted += 1;
                }
            }
            let m = halvings(length, 1.0, passes);
            assert_eq!((m, m > 0 && m == passes), (acted, last), "{length} {passes}");
            assert_eq!(length * libm::ldexp(1.0, -(m as i32)), way);
        }
        for (exact, m) in [(1.0, 0), (2.0, 1), (1024.0, 10)] {
            assert_eq!(halvings(exact, 1.0, 40), m);
        }
        assert_eq!(halvings(f64::NAN, 1.0, 5), 0);
        assert_eq!(halvings(f64::INFINITY, 1.0, 5), 5);
    }

    /// Ways end in (threshold/2, threshold]; velocities are those of the way, in print only sometimes.
    #[test]
    fn position_correction_shortens_ways() {
        let sheet = cloth(vec![(3, DMat3::ZERO)]);
        let (way, v) = (sheet.noise(11, 0.02), sheet.noise(12, 1.0));
        let dt = 0.01;
        let run = |position, passes| {
            let (mut x, mut v) = (sheet.moved(&way), v.clone());
            let settings = Corrections { position, threshold: 0.004, passes, ..Corrections::default() };
            let leap = Leap { from: &sheet.rest, dt, error: None, x: &mut x, v: &mut v };
            let touched = apply(&settings, sheet.bodies(), leap);
            (x, v, touched)
        };
        let (x, after, touched) = run(PositionCorrection::Fixed, 10);
        assert!(touched.len() > sheet.rest.len() / 2 && !touched.contains(&3));
        for i in 0..x.len() {
            let way_left = x[i].distance(sheet.rest[i]);
            if touched.contains(&(i as u32)) {
                assert!(way_left <= 0.004 * (1.0 + 1e-12) && way_left > 0.002);
                assert!(after[i].distance((x[i] - sheet.rest[i]) / dt) < 1e-12);
            } else {
                assert_eq!((x[i], after[i]), (sheet.rest[i] + way[i], v[i]));
            }
        }
        // Print leaves the velocity of all that ended within the passes.
        let (printed, left, _) = run(PositionCorrection::Paper, 10);
        assert_eq!(printed, x);
        assert_eq!(left, v);
        let (_, one, _) = run(PositionCorrection::Paper, 1);
        assert_ne!(one, v);
    }

    /// Free fall, however fast, is no error to the relative reading, and is to the others.
    #[test]
    fn relative_correction_lets_cloth_fall() {
        let sheet = cloth(Vec::new());
        let way = vec![DVec3::NEG_Y * 0.3; sheet.rest.len()];
        for (position, free) in [(PositionCorrection::Relative, true), (PositionCorrection::Fixed, false)] {
            let (mut x, mut v) = (sheet.moved(&way), way.clone());
            let settings = Corrections { position, threshold: 0.01, ..Corrections::default() };
            let leap = Leap { from: &sheet.rest, dt: 1.0, error: None, x: &mut x, v: &mut v };
            assert_eq!(apply(&settings, sheet.bodies(), leap).is_empty(), free, "{}", position.name());
        }
    }

    /// V97-8 and V97-15 keep momentum and centre of mass, take kinetic energy, and no more than the error allows.
    #[test]
    fn edge_corrections_keep_momentum() {
        let sheet = cloth(Vec::new());
        let (ex, ev) = (sheet.noise(21, 1e-3), sheet.noise(22, 0.1));
        let settings = [
            Corrections { kinematic: true, ..Corrections::default() },
            Corrections { damping_time: 0.003, ..Corrections::default() },
            Corrections { strain: StrainLimit::Provot, strain_limit: 0.02, ..Corrections::default() },
            Corrections { strain: StrainLimit::Strict, strain_limit: 0.02, ..Corrections::default() },
        ];
        for (k, settings) in settings.iter().enumerate() {
            let start = sheet.moved(&sheet.noise(31, 0.02));
            let (mut x, mut v) = (start.clone(), sheet.noise(32, 1.0));
            let before = (sheet.total(&x), sheet.total(&v), sheet.kinetic(&v));
            let error = Some((&ex[..], &ev[..]));
            let leap = Leap { from: &sheet.rest, dt: 0.01, error, x: &mut x, v: &mut v };
            assert!(!apply(settings, sheet.bodies(), leap).is_empty());
            assert!(sheet.total(&x).distance(before.0) < 1e-12 * before.0.length());
            assert!(sheet.total(&v).distance(before.1) < 1e-12);
            if k < 2 {
                assert!(sheet.kinetic(&v) < before.2);
            }
            let strain = |x: &[DVec3]| {
                let of = |l: &Link| x[l.ends[0] as usize].distance(x[l.ends[1] as usize]) / l.rest - 1.0;
                sheet.net.links().iter().map(of).fold(f64::MIN, f64::max)
            };
            match k {
                0 | 2 => assert!(strain(&x) < strain(&start), "{} {}", strain(&x), strain(&start)),
                3 => assert!(strain(&x) < 0.02 * (1.0 + 2.0 * SLACK), "{}", strain(&x)),
                _ => assert_eq!(x, start),
            }
        }
    }

    /// One edge: the formulas of V97-8 themselves.
    #[test]
    fn kinematic_correction_of_one_edge() {
        let taut = |rest: f64, ex: f64, ev: f64| {
            let net = Net { links: vec![Link { ends: [0, 1], rest }], ..Net::default() };
            let mobility = Mobility { inverse_mass: vec![1.0, 0.4], projectors: Vec::new() };
            let sheet = Cloth { net, mobility, mass: vec![1.0, 2.5], rest: vec![DVec3::ZERO; 2] };
            let (mut x, mut v) = (vec![DVec3::ZERO, DVec3::X], vec![DVec3::ZERO, DVec3::new(0.7, 1.0, 0.0)]);
            let (ex, ev) = (vec![DVec3::X * ex, DVec3::Y], vec![DVec3::Y, DVec3::X * -ev]);
            let error = Some((&ex[..], &ev[..]));
            let leap = Leap { from: &[DVec3::ZERO; 2], dt: 0.1, error, x: &mut x, v: &mut v };
            apply(&Corrections { kinematic: true, ..Corrections::default() }, sheet.bodies(), leap);
            ((x[1] - x[0]).length(), (v[1] - v[0]).x)
        };
        let near = |(l, r): (f64, f64), (a, b): (f64, f64)| (l - a).abs() < 1e-15 && (r - b).abs() < 1e-15;
        assert!(near(taut(0.5, 0.05, 0.1), (0.95, 0.6)));
        assert!(near(taut(0.97, 0.05, 0.9), (0.97, 0.0)));
        assert!(near(taut(1.5, 0.05, 0.0), (1.05, 0.7)));
    }
}
