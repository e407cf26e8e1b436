//! What the air does: drag on particles, wind on faces.

use crate::interaction::{Elements, Law, Outside, Response, Sample};
use crate::math::matrix::{outer, scaled_identity};
use crate::math::{DVec3, random};
use crate::mesh::Mesh;

/// Moving air, the same everywhere, changing with time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindField {
    /// Mean velocity [m/s].
    pub velocity: DVec3,
    /// Strength of gusts [m/s].
    pub gust: f64,
    /// Gusts per second [Hz].
    pub frequency: f64,
    /// Which gusts.
    pub seed: u64,
}

impl WindField {
    /// Air velocity [m/s] at `time` [s]: the mean plus gusts along it and half as strong across it, each a sum
    /// of three incommensurable waves with random phases.
    pub fn at(&self, time: f64) -> DVec3 {
        if self.gust == 0.0 {
            return self.velocity;
        }
        let along = self.velocity.try_normalize().unwrap_or(DVec3::X);
        let (across, aside) = along.any_orthonormal_pair();
        self.velocity
            + self.gust * (self.wave(0, time) * along)
            + 0.5 * self.gust * (self.wave(3, time) * across + self.wave(6, time) * aside)
    }

    /// A random wave between −1 and 1.
    fn wave(&self, channel: u64, time: f64) -> f64 {
        let part = |k: u64, ratio: f64| {
            let phase = random::unit(self.seed, channel + k);
            libm::sin(std::f64::consts::TAU * (self.frequency * ratio * time + phase))
        };
        (part(0, 1.0) + 0.6 * part(1, 1.618) + 0.4 * part(2, 2.7)) / 2.0
    }
}

/// Isotropic drag (V00-8): f = −e (v − air) per particle, with e = coefficient × its area.
pub struct AirDrag {
    /// e of each particle [N·s/m].
    drag: Vec<f64>,
    air: DVec3,
}

impl AirDrag {
    /// Drag of `coefficient` [N·s/m³] on every particle that carries area.
    pub fn elements(mesh: &Mesh, coefficient: f64) -> Elements<1, 1, AirDrag> {
        let area = mesh.vertex_area();
        let members: Vec<[u32; 1]> = (0..mesh.vertices() as u32).map(|v| [v]).collect();
        let law = AirDrag { drag: area.iter().map(|a| a * coefficient).collect(), air: DVec3::ZERO };
        Elements::new(mesh.vertices(), &members, &vec![[[1.0]]; members.len()], law)
    }
}

impl Law<1, 1> for AirDrag {
    fn name(&self) -> &'static str {
        "air"
    }

    fn is_lossy(&self) -> bool {
        true
    }

    fn respond(&self, element: usize, at: &Sample<1, 1>) -> Response<1> {
        let e = self.drag[element];
        let force = [(self.air - at.rate[0]) * e];
        Response { force, lossy: force, damping: [[scaled_identity(e)]], ..Response::ZERO }
    }

    fn drive(&mut self, outside: &Outside) {
        self.air = outside.air;
    }
}

/// Pressure of the wind on faces (B14-6, eq. 8 corrected as E25), also V00's normal-only drag in still air:
/// F = A n (n·u)(c + ½ρC|n·u|), u the air relative to the face, a third to each corner.
pub struct Wind {
    /// Linear coefficient c [N·s/m³].
    linear: f64,
    /// Half air density times drag coefficient [kg/m³].
    quadratic: f64,
    air: DVec3,
}

impl Wind {
    /// Wind on every face. `linear` [N·s/m³]; `quadratic` is ½ρC_D [kg/m³].
    pub fn elements(mesh: &Mesh, linear: f64, quadratic: f64) -> Elements<3, 1, Wind> {
        let third = 1.0 / 3.0;
        let weights = vec![[[third; 3]]; mesh.faces().len()];
        let law = Wind { linear, quadratic, air: DVec3::ZERO };
        Elements::new(mesh.vertices(), mesh.faces(), &weights, law)
    }
}

impl Law<3, 1> for Wind {
    fn name(&self) -> &'static str {
        "wind"
    }

    fn is_lossy(&self) -> bool {
        true
    }

    fn respond(&self, _element: usize, at: &Sample<3, 1>) -> Response<1> {
        let cross = (at.x[1] - at.x[0]).cross(at.x[2] - at.x[0]);
        let doubled = cross.length();
        if doubled == 0.0 {
            return Response::ZERO;
        }
        let n = cross / doubled;
        let area = 0.5 * doubled;
        let speed = n.dot(self.air - at.rate[0]);
        let pressure = speed * (self.linear + self.quadratic * speed.abs());
        let slope = self.linear + 2.0 * self.quadratic * speed.abs();
        let force = [n * (area * pressure)];
        Response { force, lossy: force, damping: [[outer(n, n) * (area * slope)]], ..Response::ZERO }
    }

    fn drive(&mut self, outside: &Outside) {
        self.air = outside.air;
    }
}
