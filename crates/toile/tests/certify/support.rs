//! Random numbers, small meshes and shorthands shared by the tests.

use std::collections::BTreeSet;

use glam::DVec3;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Finding, Kind, Meeting, Verdict};
use toile::mesh::shapes::{Pattern, Shape, sheet};

/// splitmix64 as a stream.
pub struct Rng(pub u64);

impl Rng {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0))
    }
}

/// A mesh of one surface.
#[derive(Clone, Debug)]
pub struct Mesh {
    pub x: Vec<DVec3>,
    pub faces: Vec<[u32; 3]>,
}

impl Mesh {
    pub fn corners(&self, f: usize) -> [DVec3; 3] {
        self.faces[f].map(|v| self.x[v as usize])
    }

    /// Adds a face of three new vertices; returns its number.
    pub fn add_face(&mut self, corners: [DVec3; 3]) -> usize {
        let first = self.x.len() as u32;
        self.x.extend(corners);
        self.faces.push([first, first + 1, first + 2]);
        self.faces.len() - 1
    }

    pub fn check(&self) -> Verdict {
        self.check_with(CheckOptions::default())
    }

    pub fn check_with(&self, options: CheckOptions) -> Verdict {
        let surface = CheckSurface::new("mesh", Kind::Cloth, self.x.len(), self.faces.clone());
        Checker::new(vec![surface], options).unwrap().check(&[&self.x])
    }
}

impl From<Shape> for Mesh {
    fn from(shape: Shape) -> Mesh {
        Mesh { x: shape.positions, faces: shape.faces }
    }
}

/// Pairs of faces (low, high) reported to meet in a mesh of one surface.
pub fn meeting_faces(verdict: &Verdict) -> BTreeSet<(usize, usize)> {
    let pair = |f: &Finding| match f {
        Finding::Intersection { edge, face, .. } => {
            let (a, b) = (edge.face as usize, face.face as usize);
            Some((a.min(b), a.max(b)))
        }
        _ => None,
    };
    verdict.findings.iter().filter_map(pair).collect()
}

/// How two faces are reported to meet.
pub fn meeting(verdict: &Verdict, a: usize, b: usize) -> Option<Meeting> {
    verdict.findings.iter().find_map(|f| match f {
        Finding::Intersection { kind, edge, face } => {
            let (p, q) = (edge.face as usize, face.face as usize);
            ((p, q) == (a, b) || (p, q) == (b, a)).then_some(*kind)
        }
        _ => None,
    })
}

pub fn pattern(rng: &mut Rng) -> Pattern {
    match rng.below(6) {
        0 => Pattern::Structured,
        1 => Pattern::Flipped,
        2 => Pattern::Alternating,
        3 => Pattern::Equilateral,
        4 => Pattern::Jittered { amount: 0.25, seed: rng.bits() },
        _ => Pattern::Delaunay { seed: rng.bits() },
    }
}

/// A clean piece of cloth: a graph y(x, z), turned anyhow.
pub fn wavy(rng: &mut Rng) -> Mesh {
    let (nx, ny) = (2 + rng.below(6), 2 + rng.below(6));
    let pattern = pattern(rng);
    let mut mesh = Mesh::from(sheet(1.0, 1.0, nx, ny, pattern).unwrap());
    let (height, tilt) = (rng.between(0.0, 0.5), rng.vector());
    let (k, phase) = (8.0 * rng.vector(), 6.0 * rng.unit());
    let (right, up) = (tilt.any_orthonormal_vector(), tilt.normalize());
    let ahead = up.cross(right);
    for p in &mut mesh.x {
        p.y = height * libm::sin(k.dot(*p) + phase);
        *p = right * p.x + up * p.y + ahead * p.z;
    }
    mesh
}

/// A flat sheet of dyadic coordinates sheared by integers: exactly plane, but in no coordinate plane.
pub fn exact_plane(rng: &mut Rng) -> Mesh {
    let n = [2, 4, 8][rng.below(3)];
    let pattern = [Pattern::Structured, Pattern::Flipped, Pattern::Alternating][rng.below(3)];
    let mut mesh = Mesh::from(sheet(1.0, 1.0, n, n, pattern).unwrap());
    let (a, b) = (rng.below(5) as f64 - 2.0, rng.below(5) as f64 - 2.0);
    let turn = rng.below(3);
    for p in &mut mesh.x {
        let y = a * p.x + b * p.z;
        *p = [DVec3::new(p.x, y, p.z), DVec3::new(p.z, p.x, y), DVec3::new(y, p.z, p.x)][turn];
    }
    mesh
}
