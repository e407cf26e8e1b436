//! Things that keep their shape: particles that move as one.
//!
//! A rigid thing is made of particles like everything else: those of its surface, and one inside that takes what is left of
//! its mass, so that mass, centre and inertia are those of the solid ([`solid`]). Stiff springs hold them together while
//! a substep is solved; what the springs leave of its motion is then the rigid motion with the same momentum and angular
//! momentum ([`Rigid::settle`]). The guarantee cuts its way as a whole (`contact/filter.rs`).

use crate::forces::{Brace, Braces};
use crate::math::matrix::outer;
use crate::math::{DMat3, DQuat, DVec3};
use crate::mesh::Mesh;
use std::ops::Range;

/// Particles of an island that keep their shape.
#[derive(Clone, Debug)]
pub struct Rigid {
    /// The particles.
    pub particles: Range<usize>,
    /// Where they are from the centre of mass, unturned [m].
    shape: Vec<DVec3>,
    /// Distance of the farthest [m].
    radius: f64,
}

/// Where a rigid thing is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Its centre of mass [m].
    pub centre: DVec3,
    /// How it is turned.
    pub turn: DQuat,
}

impl Pose {
    /// Part `part` of the way to `other`: straight for the centre, turning about one axis.
    pub fn towards(&self, other: &Pose, part: f64) -> Pose {
        // The two signs of a quaternion are one rotation: the shorter way.
        let end = if self.turn.dot(other.turn) < 0.0 { -other.turn } else { other.turn };
        Pose {
            centre: self.centre + (other.centre - self.centre) * part,
            turn: (self.turn * (1.0 - part) + end * part).normalize(),
        }
    }
}

impl Rigid {
    /// Particles of these masses [kg] that are at `x` [m] and stay so to each other.
    pub fn new(particles: Range<usize>, mass: &[f64], x: &[DVec3]) -> Rigid {
        let centre = centre_of(particles.clone(), mass, x);
        let shape: Vec<DVec3> = x[particles.clone()].iter().map(|p| *p - centre).collect();
        let radius = shape.iter().fold(0.0f64, |most, s| most.max(s.length()));
        Rigid { particles, shape, radius }
    }

    /// Distance of its farthest particle from its centre of mass [m].
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Where particle `i` of the island is in a pose [m].
    pub fn point(&self, pose: &Pose, i: usize) -> DVec3 {
        pose.centre + pose.turn * self.shape[i - self.particles.start]
    }

    /// The pose nearest to particles at `x`, by their masses.
    pub fn fit(&self, mass: &[f64], x: &[DVec3]) -> Pose {
        let centre = centre_of(self.particles.clone(), mass, x);
        let spread = self.particles.clone().zip(&self.shape);
        let spread = spread.fold(DMat3::ZERO, |sum, (i, s)| sum + outer(x[i] - centre, *s * mass[i]));
        Pose { centre, turn: rotation_of(spread) }
    }

    /// Brings its particles to the nearest rigid pose and motion: centre of mass, momentum and angular momentum stay.
    pub fn settle(&self, mass: &[f64], x: &mut [DVec3], v: &mut [DVec3]) {
        let pose = self.fit(mass, x);
        // Angular momentum about the centre is that of the places it was had in.
        let (speed, turning) = self.momenta(mass, x, v);
        for i in self.particles.clone() {
            x[i] = self.point(&pose, i);
        }
        self.go(mass, x, v, speed, turning);
    }

    /// Makes the velocities `v` those of a rigid motion with the same momenta, particles at `x`.
    pub fn settle_motion(&self, mass: &[f64], x: &[DVec3], v: &mut [DVec3]) {
        let (speed, turning) = self.momenta(mass, x, v);
        self.go(mass, x, v, speed, turning);
    }

    /// Velocity of the centre [m/s] and angular momentum about it [kg·m²/s].
    fn momenta(&self, mass: &[f64], x: &[DVec3], v: &[DVec3]) -> (DVec3, DVec3) {
        let centre = centre_of(self.particles.clone(), mass, x);
        let speed = centre_of(self.particles.clone(), mass, v);
        let turning = self.particles.clone();
        let turning = turning.fold(DVec3::ZERO, |sum, i| sum + (x[i] - centre).cross(v[i] - speed) * mass[i]);
        (speed, turning)
    }

    fn go(&self, mass: &[f64], x: &[DVec3], v: &mut [DVec3], speed: DVec3, turning: DVec3) {
        let centre = centre_of(self.particles.clone(), mass, x);
        let inertia = self.particles.clone().fold(DMat3::ZERO, |sum, i| {
            let r = x[i] - centre;
            sum + (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer(r, r)) * mass[i]
        });
        // Particles on one line could not be told apart by turning about it.
        let spin = if inertia.determinant() > 0.0 { inertia.inverse() * turning } else { DVec3::ZERO };
        for i in self.particles.clone() {
            v[i] = speed + spin.cross(x[i] - centre);
        }
    }
}

fn centre_of(particles: Range<usize>, mass: &[f64], x: &[DVec3]) -> DVec3 {
    let (sum, all) =
        particles.fold((DVec3::ZERO, 0.0), |(sum, all), i| (sum + x[i] * mass[i], all + mass[i]));
    sum / all
}

/// The rotation nearest to a matrix whose determinant is above zero; none where it is not.
fn rotation_of(matrix: DMat3) -> DQuat {
    let size = matrix.x_axis.length() + matrix.y_axis.length() + matrix.z_axis.length();
    let mut turn = matrix * (1.0 / size.max(f64::MIN_POSITIVE));
    // Higham's iteration on the polar factor: quadratic near the end.
    for _ in 0..40 {
        // Nor is one that is not a number.
        let upright = turn.determinant() > 1e-30;
        if !upright {
            return DQuat::IDENTITY;
        }
        let next = (turn + turn.inverse().transpose()) * 0.5;
        let change = (0..3).fold(0.0f64, |most, k| most.max((next.col(k) - turn.col(k)).length()));
        turn = next;
        if change < 1e-15 {
            break;
        }
    }
    DQuat::from_mat3(&turn).normalize()
}

/// Stiffness of the springs of a rigid thing over the mass of a particle and the square of a step of 1/240 s: some three hundred
/// times that of a contact.
const FIRM: f64 = 1e4 * 240.0 * 240.0;

/// Their viscosity, as a time constant [s].
const DULL: f64 = 1e-3;

/// Vertices that all others are held by, besides the one inside.
const FRAME: usize = 6;

/// A solid body as particles.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Where the particle inside goes [m], the last of all.
    pub inside: DVec3,
    /// Springs and masses.
    pub braces: Braces,
}

/// The particles of a solid of `mass` [kg] inside the closed surface `mesh` at `x`, faces outward: masses at the
/// vertices and at one inside, such that mass, centre and inertia are those of the solid, and springs that hold them. Nothing
/// if the surface has no inside, or is such that masses would be negative.
pub fn solid(mesh: &Mesh, x: &[DVec3], mass: f64) -> Option<Solid> {
    let open = mesh.edges().iter().any(|edge| edge.is_border());
    let [moment, first, second] = (!open).then(|| moments(mesh.faces(), x))?;
    let volume = moment.x;
    let inside = volume > 0.0 && mass > 0.0;
    if !inside {
        return None;
    }
    let (density, centre) = (mass / volume, first / volume);
    // Second moments about the centre [kg·m²], the diagonal.
    let second = [second, outer_sums(mesh.faces(), x)].map(|s| s * density);
    let spread = [
        second[0] - centre * centre * mass,
        second[1] - DVec3::new(centre.x * centre.y, centre.y * centre.z, centre.z * centre.x) * mass,
    ];
    let area: Vec<f64> = areas(mesh, x);
    let sum: f64 = area.iter().fold(0.0, |sum, a| sum + a);
    let trace = (0..x.len()).fold(0.0, |sum, v| sum + area[v] * (x[v] - centre).length_squared());
    let outer_mass = (spread[0].element_sum() / trace * sum).min(mass);
    let terms =
        |p: DVec3| [1.0, p.x, p.y, p.z, p.x * p.x, p.y * p.y, p.z * p.z, p.x * p.y, p.y * p.z, p.z * p.x];
    // In units of the radius, so that all terms are of one size.
    let radius = x.iter().fold(0.0f64, |most, p| most.max((*p - centre).length()));
    let (r, r2) = (1.0 / radius, 1.0 / (radius * radius));
    let wanted = [
        outer_mass,
        0.0,
        0.0,
        0.0,
        spread[0].x * r2,
        spread[0].y * r2,
        spread[0].z * r2,
        spread[1].x * r2,
        spread[1].y * r2,
        spread[1].z * r2,
    ];
    let places: Vec<[f64; 10]> = x.iter().map(|p| terms((*p - centre) * r)).collect();
    let factor = least_change(&places, &area, outer_mass / sum, wanted);
    let masses: Vec<f64> = (0..x.len())
        .map(|v| area[v] * places[v].iter().zip(factor).fold(0.0, |sum, (a, b)| sum + a * b))
        .collect();
    let inner = mass - masses.iter().fold(0.0, |sum, m| sum + m);
    let least = 1e-3 * mass / x.len() as f64;
    if !masses.iter().all(|m| *m > least) {
        return None;
    }
    let inner = inner.max(least);
    Some(Solid { inside: centre, braces: frame(mesh, x, centre, &masses, inner) })
}

/// Springs of every vertex to its neighbours, to the one inside and to a few far ones.
fn frame(mesh: &Mesh, x: &[DVec3], inside: DVec3, masses: &[f64], inner: f64) -> Braces {
    let n = x.len() as u32;
    let mut held = vec![0u32];
    while held.len() < FRAME.min(x.len()) {
        let far = |v: &u32| {
            held.iter().fold(f64::INFINITY, |least, h| least.min(x[*v as usize].distance(x[*h as usize])))
        };
        let next = (0..n).max_by(|a, b| far(a).total_cmp(&far(b)).then(b.cmp(a)));
        held.extend(next);
    }
    let mean = (masses.iter().fold(inner, |sum, m| sum + m)) / f64::from(n + 1);
    let place = |v: u32| x.get(v as usize).copied().unwrap_or(inside);
    let mut ends: Vec<[u32; 2]> = mesh.edges().iter().map(|edge| edge.ends).collect();
    ends.extend((0..n).map(|v| [v, n]));
    ends.extend(held.iter().flat_map(|h| (0..n).map(|v| [v.min(*h), v.max(*h)])));
    ends.retain(|[a, b]| a != b && place(*a) != place(*b));
    ends.sort_unstable();
    ends.dedup();
    let spring = |ends: [u32; 2]| Brace {
        ends,
        rest_length: place(ends[0]).distance(place(ends[1])),
        stiffness: FIRM * mean,
    };
    let all = masses.iter().copied().chain([inner]).enumerate();
    Braces {
        springs: ends.into_iter().map(spring).collect(),
        damping: DULL,
        masses: all.map(|(v, m)| (v as u32, m)).collect(),
    }
}

/// Volume (in x), first moments and the diagonal of the second moments inside closed faces at `x`.
fn moments(faces: &[[u32; 3]], x: &[DVec3]) -> [DVec3; 3] {
    faces.iter().fold([DVec3::ZERO; 3], |[volume, first, second], face| {
        let [a, b, c] = face.map(|v| x[v as usize]);
        // The tetrahedron to the origin.
        let v = a.dot(b.cross(c)) / 6.0;
        let s = a + b + c;
        [volume + DVec3::X * v, first + s * (v / 4.0), second + (a * a + b * b + c * c + s * s) * (v / 20.0)]
    })
}

/// Second moments xy, yz and zx inside closed faces at `x`.
fn outer_sums(faces: &[[u32; 3]], x: &[DVec3]) -> DVec3 {
    let mixed = |p: DVec3| DVec3::new(p.x * p.y, p.y * p.z, p.z * p.x);
    faces.iter().fold(DVec3::ZERO, |sum, face| {
        let [a, b, c] = face.map(|v| x[v as usize]);
        let v = a.dot(b.cross(c)) / 6.0;
        sum + (mixed(a) + mixed(b) + mixed(c) + mixed(a + b + c)) * (v / 20.0)
    })
}

/// A third of the area of the faces round each vertex [m²].
fn areas(mesh: &Mesh, x: &[DVec3]) -> Vec<f64> {
    let mut area = vec![0.0; x.len()];
    for face in mesh.faces() {
        let [a, b, c] = face.map(|v| x[v as usize]);
        let third = (b - a).cross(c - a).length() / 6.0;
        face.iter().for_each(|v| area[*v as usize] += third);
    }
    area
}

/// Factors c of ten terms t such that Σ area (c·t) t is `wanted`, as near to c = (`usual`, 0, …) as that allows.
fn least_change(places: &[[f64; 10]], area: &[f64], usual: f64, wanted: [f64; 10]) -> [f64; 10] {
    let mut gram = [[0.0; 10]; 10];
    let mut missing = wanted;
    for (t, a) in places.iter().zip(area) {
        for i in 0..10 {
            missing[i] -= a * usual * t[i];
            for j in 0..10 {
                gram[i][j] += a * t[i] * t[j];
            }
        }
    }
    // Terms may depend on each other, as x² + y² + z² on a ball: a little on the diagonal picks the smallest answer.
    let little = 1e-12 * (0..10).fold(0.0, |sum, i| sum + gram[i][i]);
    (0..10).for_each(|i| gram[i][i] += little);
    let mut c = solve_spd(gram, missing);
    c[0] += usual;
    c
}

/// Solves a small positive definite system by Cholesky's factor.
fn solve_spd(mut a: [[f64; 10]; 10], mut b: [f64; 10]) -> [f64; 10] {
    for j in 0..10 {
        for k in 0..j {
            for i in j..10 {
                a[i][j] -= a[i][k] * a[j][k];
            }
        }
        let root = a[j][j].max(f64::MIN_POSITIVE).sqrt();
        (j..10).for_each(|i| a[i][j] /= root);
    }
    for i in 0..10 {
        for k in 0..i {
            b[i] -= a[i][k] * b[k];
        }
        b[i] /= a[i][i];
    }
    for i in (0..10).rev() {
        for k in i + 1..10 {
            b[i] -= a[k][i] * b[k];
        }
        b[i] /= a[i][i];
    }
    b
}

/// Brings a list of particles in order, each rigid thing whole or not at all.
pub fn as_wholes(list: &mut Vec<u32>, rigid: &[Rigid]) {
    list.sort_unstable();
    list.dedup();
    let own = |thing: &Rigid| thing.particles.start as u32..thing.particles.end as u32;
    let more: Vec<u32> =
        rigid.iter().map(own).filter(|own| list.iter().any(|p| own.contains(p))).flatten().collect();
    if !more.is_empty() {
        list.extend(more);
        list.sort_unstable();
        list.dedup();
    }
}
