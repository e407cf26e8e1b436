//! A mesh that is being spoilt: vertices and polygons without any promise, written as OBJ.

use glam::DVec3;
use std::fmt::Write;
use toile::math::random;

/// Vertices, polygons, and lines that no program should write.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// Places [m].
    pub x: Vec<DVec3>,
    /// Polygons, counted from 0.
    pub faces: Vec<Vec<usize>>,
    /// Lines after all others.
    pub more: String,
}

impl Draft {
    /// A flat square sheet of `size` [m] with n × n quads, centred on the origin.
    pub fn sheet(n: usize, size: f64) -> Draft {
        let at = |v: usize| {
            let part = |k: usize| size * (k as f64 / n as f64 - 0.5);
            DVec3::new(part(v % (n + 1)), 0.0, part(v / (n + 1)))
        };
        let quad = |q: usize| {
            let v = q / n * (n + 1) + q % n;
            vec![v, v + n + 1, v + n + 2, v + 1]
        };
        Draft {
            x: (0..(n + 1) * (n + 1)).map(at).collect(),
            faces: (0..n * n).map(quad).collect(),
            more: String::new(),
        }
    }

    /// The same with triangles.
    pub fn triangles(mut self) -> Draft {
        let cut = |f: &Vec<usize>| (2..f.len()).map(|i| vec![f[0], f[i - 1], f[i]]).collect::<Vec<_>>();
        self.faces = self.faces.iter().flat_map(cut).collect();
        self
    }

    /// Every polygon with vertices of its own, each off by up to `noise` [m].
    pub fn soup(&self, noise: f64) -> Draft {
        let mut soup = Draft::default();
        for face in &self.faces {
            let first = soup.x.len();
            for v in face {
                let die = |k: u64| random::signed(71, 3 * soup.x.len() as u64 + k);
                soup.x.push(self.x[*v] + noise * DVec3::new(die(0), die(1), die(2)));
            }
            soup.faces.push((first..soup.x.len()).collect());
        }
        soup
    }

    /// Both, side by side in one file.
    pub fn and(mut self, other: &Draft) -> Draft {
        let first = self.x.len();
        self.x.extend(&other.x);
        self.faces.extend(other.faces.iter().map(|f| f.iter().map(|v| v + first).collect()));
        self
    }

    /// Moved.
    pub fn shifted(mut self, by: DVec3) -> Draft {
        self.x.iter_mut().for_each(|p| *p += by);
        self
    }

    /// Changed by hand.
    pub fn with(mut self, change: impl FnOnce(&mut Draft)) -> Draft {
        change(&mut self);
        self
    }

    /// A vertex more; its number.
    pub fn vertex(&mut self, x: f64, y: f64, z: f64) -> usize {
        self.x.push(DVec3::new(x, y, z));
        self.x.len() - 1
    }

    /// A ball of 80 faces.
    pub fn ball(radius: f64) -> Draft {
        let mut ball = Draft::default();
        let (rows, around) = (5, 10);
        let tip = |ball: &mut Draft, y: f64| ball.vertex(0.0, y, 0.0);
        let top = tip(&mut ball, radius);
        for row in 1..rows {
            let (s, c) = libm::sincos(std::f64::consts::PI * row as f64 / rows as f64);
            for k in 0..around {
                let (t, u) = libm::sincos(std::f64::consts::TAU * k as f64 / around as f64);
                ball.vertex(radius * s * u, radius * c, -radius * s * t);
            }
        }
        let bottom = tip(&mut ball, -radius);
        let at = |row: usize, k: usize| 1 + (row - 1) * around + k % around;
        for k in 0..around {
            ball.faces.push(vec![top, at(1, k), at(1, k + 1)]);
            for row in 1..rows - 1 {
                ball.faces.push(vec![at(row, k), at(row + 1, k), at(row + 1, k + 1), at(row, k + 1)]);
            }
            ball.faces.push(vec![at(rows - 1, k + 1), at(rows - 1, k), bottom]);
        }
        ball
    }

    /// As a file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for p in &self.x {
            let _ = writeln!(text, "v {:e} {:e} {:e}", p.x, p.y, p.z);
        }
        for face in &self.faces {
            text.push('f');
            face.iter().for_each(|v| {
                let _ = write!(text, " {}", v + 1);
            });
            text.push('\n');
        }
        text + &self.more
    }
}
