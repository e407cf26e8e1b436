//! One fabric in SI quantities, from which every model derives its constants.

mod bend;
mod curve;
mod plane;

pub use bend::Bend;
pub use curve::{Curve, CurveError, Knee, Pull};
pub use plane::{InPlane, Reply};

use crate::forces::give::Yield;
use std::fmt;

/// What a piece of cloth is made of, as a laboratory measures it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Mass per area [kg/m²].
    pub density: f64,
    /// Tension per width [N/m] against strain, along warp and weft, of a strip that may narrow.
    pub stretch: [Curve; 2],
    /// Shear force per width [N/m] against shear angle [rad].
    pub shear: Curve,
    /// How much pulling along the warp narrows the weft (ν of the warp).
    pub poisson: f64,
    /// Bending stiffness by direction.
    pub bend: Bend,
    /// Time constant of internal viscosity [s]: stress grows by this times its rate (Kelvin–Voigt).
    pub damping: f64,
    /// The same for bending [s]; without one, `damping`.
    pub bend_damping: Option<f64>,
    /// Folds that stay: the curvature [1/m] beyond which the rest curvature follows. Stiffer directions give way at less,
    /// softer ones at more: at the same energy.
    pub crease: Option<Yield>,
    /// Strain beyond which rest lengths follow, of springs.
    pub set: Option<Yield>,
    /// Width of the loop of bending moment per width [N] along warp and weft: 2HB of KES. 0 is no friction.
    pub bend_hysteresis: [f64; 2],
    /// Curvature [1/m] over which that friction builds up.
    pub bend_onset: f64,
    /// Width of the loop of shear force per width [N/m]: 2HG of KES. 0 is no friction.
    pub shear_hysteresis: f64,
    /// Shear [rad] over which that friction builds up.
    pub shear_onset: f64,
    /// Thickness [m].
    pub thickness: f64,
    /// Friction of the fabric on itself, static and kinetic.
    pub friction: [f64; 2],
}

impl Default for Fabric {
    /// A light plain weave: nominal, not measured.
    fn default() -> Self {
        Fabric {
            density: 0.2,
            stretch: [1000.0.into(), 1000.0.into()],
            shear: 60.0.into(),
            poisson: 0.2,
            bend: 1e-5.into(),
            damping: 0.0,
            bend_damping: None,
            crease: None,
            set: None,
            bend_hysteresis: [0.0; 2],
            bend_onset: 20.0,
            shear_hysteresis: 0.0,
            shear_onset: 0.01,
            thickness: 4e-4,
            friction: [0.4, 0.3],
        }
    }
}

impl Fabric {
    /// An isotropic fabric: stretch `young` [N/m] in every direction, bending `bend` [N·m].
    pub fn isotropic(density: f64, young: f64, poisson: f64, bend: f64) -> Fabric {
        Fabric {
            density,
            stretch: [young.into(); 2],
            shear: (0.5 * young / (1.0 + poisson)).into(),
            poisson,
            bend: bend.into(),
            ..Fabric::default()
        }
    }

    /// The law of forces within the sheet.
    pub fn in_plane(&self) -> InPlane {
        InPlane::new(self)
    }

    /// Entries (E₁₁, E₂₂, E₁₂, E₃₃) [N/m] of the matrix that turns small strain (uu, vv, engineering shear)
    /// into stress, for plane stress in an orthotropic sheet (B14-2).
    pub fn stiffness(&self) -> [f64; 4] {
        self.in_plane().at_rest()
    }

    /// Young's modulus [N/m] at small strain that a model without directions should use.
    pub fn mean_stretch(&self) -> f64 {
        0.5 * (self.stretch[0].initial() + self.stretch[1].initial())
    }

    /// Plate stiffness (D₁₁ warp, D₂₂ weft, D₁₂ coupling, D₆₆ twist) [N·m].
    pub fn bending_stiffness(&self) -> [f64; 4] {
        self.bend.stiffness()
    }

    /// Viscosity time of bending [s].
    pub fn bending_damping(&self) -> f64 {
        self.bend_damping.unwrap_or(self.damping)
    }

    /// Friction of shear, if there is any: stiffness [N/m] while yarns stick, and the shear at which they slide.
    pub fn shear_friction(&self) -> Option<(f64, Yield)> {
        let stiffness = 0.5 * self.shear_hysteresis / self.shear_onset;
        (stiffness > 0.0).then_some((stiffness, Yield { limit: self.shear_onset, hardening: 0.0 }))
    }

    /// Friction of bending, if there is any: a second sheet beside the elastic one that gives way early, with its
    /// stiffness (D₁₁, D₂₂, D₁₂, D₆₆) [N·m] and where it does, as √(moment × curvature) [√N/m].
    ///
    /// It gives way at one energy in every direction, D κ² = m k, where m is the mean friction moment and k the
    /// onset. A direction whose friction is M then has D = M²/(m k).
    pub fn bending_friction(&self) -> Option<([f64; 4], Yield)> {
        let moments = self.bend_hysteresis.map(|width| 0.5 * width);
        let energy = 0.5 * (moments[0] + moments[1]) * self.bend_onset;
        let [warp, weft] = moments.map(|moment| moment * moment / energy);
        (energy > 0.0)
            .then(|| (Bend::of(warp, weft).stiffness(), Yield { limit: energy.sqrt(), hardening: 0.0 }))
    }

    /// Where folds begin to stay, in the same terms: at D κ² with the mean stiffness D.
    pub fn creasing(&self) -> Option<Yield> {
        let give = self.crease?;
        Some(Yield { limit: self.bend.mean().sqrt() * give.limit, ..give })
    }

    /// Bending lengths (D / (σ g))^⅓ [m] along warp, weft and bias: folds are about this wide.
    pub fn bending_length(&self, gravity: f64) -> [f64; 3] {
        let weight = self.density * gravity;
        [self.bend.warp, self.bend.weft, self.bend.bias].map(|d| libm::cbrt(d / weight))
    }

    /// Refuses what no cloth can be. All problems at once.
    pub fn check(&self) -> Result<(), FabricError> {
        let mut problems = Vec::new();
        let mut demand = |ok: bool, name: &'static str, value: f64, limit: &'static str| {
            if !ok {
                problems.push(FabricProblem { name, value, limit });
            }
        };
        let positive = |v: f64| v > 0.0 && v.is_finite();
        let not_negative = |v: f64| v >= 0.0 && v.is_finite();
        demand(positive(self.density), "density", self.density, "above 0 kg/m²");
        let mut curve =
            |curve: &Curve, name: &'static str, least: &'static str, zero: bool| match curve.problem() {
                Some(_) if zero && *curve == Curve::linear(0.0) => {}
                Some(CurveError::Strain { strain, .. }) => {
                    demand(false, name, strain, "with knees at growing strains above 0")
                }
                Some(CurveError::Slope { slope, .. }) => demand(false, name, slope, least),
                _ => {}
            };
        curve(&self.stretch[0], "stretch (warp)", "above 0 N/m", false);
        curve(&self.stretch[1], "stretch (weft)", "above 0 N/m", false);
        curve(&self.shear, "shear", "0 N/m or more", true);
        let bend = &self.bend;
        if [bend.weft, bend.bias].map(f64::to_bits) == [bend.warp.to_bits(); 2] {
            demand(not_negative(bend.warp), "bend", bend.warp, "0 N·m or more");
        } else {
            demand(not_negative(bend.warp), "bend (warp)", bend.warp, "0 N·m or more");
            demand(not_negative(bend.weft), "bend (weft)", bend.weft, "0 N·m or more");
            // Stored values round: a hair below no twist is no twist.
            let least = bend.least_bias() * (1.0 - 1e-9);
            let limit = "at least (warp + weft + 2 bend_poisson √(warp·weft)) / 4, where twist costs nothing";
            demand(bend.bias >= least && bend.bias.is_finite(), "bend (bias)", bend.bias, limit);
        }
        demand(bend.poisson.abs() <= 1.0, "bend_poisson", bend.poisson, "between -1 and 1");
        demand(not_negative(self.damping), "damping", self.damping, "0 s or more");
        let bending = self.bend_damping.unwrap_or(0.0);
        demand(not_negative(bending), "bend_damping", bending, "0 s or more");
        let share = |give: &Yield| give.hardening >= 0.0 && give.hardening < 1.0;
        if let Some(give) = &self.crease {
            demand(positive(give.limit), "crease.yield", give.limit, "above 0 per metre");
            demand(share(give), "crease.hardening", give.hardening, "from 0 to below 1");
        }
        if let Some(give) = &self.set {
            demand(positive(give.limit), "set.yield", give.limit, "above 0");
            demand(share(give), "set.hardening", give.hardening, "from 0 to below 1");
        }
        let [warp, weft] = self.bend_hysteresis;
        demand(not_negative(warp), "bend_hysteresis (warp)", warp, "0 N or more");
        demand(not_negative(weft), "bend_hysteresis (weft)", weft, "0 N or more");
        demand(positive(self.bend_onset), "bend_onset", self.bend_onset, "above 0 per metre");
        demand(
            not_negative(self.shear_hysteresis),
            "shear_hysteresis",
            self.shear_hysteresis,
            "0 N/m or more",
        );
        demand(positive(self.shear_onset), "shear_onset", self.shear_onset, "above 0 rad");
        demand(not_negative(self.thickness), "thickness", self.thickness, "0 m or more");
        let [at_rest, sliding] = self.friction;
        demand(not_negative(at_rest), "friction (static)", at_rest, "0 or more");
        demand(
            not_negative(sliding) && sliding <= at_rest.max(0.0),
            "friction (kinetic)",
            sliding,
            "between 0 and static friction",
        );
        let bound = self.poisson * self.poisson * self.stretch[1].lowest() / self.stretch[0].lowest();
        demand(bound < 1.0, "poisson", self.poisson, "between ±√(warp stretch / weft stretch)");
        if problems.is_empty() { Ok(()) } else { Err(FabricError { problems }) }
    }
}

/// Quantities outside what a fabric can have.
#[derive(Clone, Debug, PartialEq)]
pub struct FabricError {
    /// Each offending quantity.
    pub problems: Vec<FabricProblem>,
}

/// One quantity, its value and what it must be.
#[derive(Clone, Debug, PartialEq)]
pub struct FabricProblem {
    /// Which quantity.
    pub name: &'static str,
    /// What it is.
    pub value: f64,
    /// What it must be.
    pub limit: &'static str,
}

impl fmt::Display for FabricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, p) in self.problems.iter().enumerate() {
            let gap = if n > 0 { "; " } else { "" };
            write!(f, "{gap}fabric {} is {}, it must be {}", p.name, p.value, p.limit)?;
        }
        Ok(())
    }
}

impl std::error::Error for FabricError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isotropic_matrix_is_the_textbook_one() {
        let [e11, e22, e12, e33] = Fabric::isotropic(0.2, 900.0, 0.25, 0.0).stiffness();
        let plane = 900.0 / (1.0 - 0.0625);
        for (got, want) in [(e11, plane), (e22, plane), (e12, 0.25 * plane), (e33, plane * 0.375)] {
            assert!((got - want).abs() < 1e-10, "{got} {want}");
        }
    }

    #[test]
    fn impossible_fabrics_are_refused_with_every_reason() {
        let fabric = Fabric {
            density: 0.0,
            stretch: [Curve::bilinear(100.0, -0.1, 200.0), (-3.0).into()],
            bend: f64::NAN.into(),
            damping: -1.0,
            bend_damping: Some(-2.0),
            thickness: -1e-3,
            friction: [0.2, 0.3],
            ..Fabric::default()
        };
        let names = |fabric: Fabric| -> Vec<&str> {
            fabric.check().map_or_else(|e| e.problems.iter().map(|p| p.name).collect(), |()| Vec::new())
        };
        let all = [
            "density",
            "stretch (warp)",
            "stretch (weft)",
            "bend",
            "damping",
            "bend_damping",
            "thickness",
            "friction (kinetic)",
        ];
        assert_eq!(names(fabric), all);
        assert_eq!(names(Fabric { poisson: 2.0, ..Fabric::default() }), ["poisson"]);
        assert_eq!(names(Fabric { bend: (-1.0).into(), ..Fabric::default() }), ["bend"]);
        let soft = Bend { bias: 1e-6, ..1e-5.into() };
        assert_eq!(names(Fabric { bend: soft, ..Fabric::default() }), ["bend (bias)"]);
        assert!(Fabric::default().check().is_ok());
        assert!(Fabric { shear: 0.0.into(), bend: 0.0.into(), ..Fabric::default() }.check().is_ok());
    }

    #[test]
    fn bending_length_is_peirces() {
        // A cotton of 150 g/m² with 8 µN·m: (8e-6 / (0.15 · 9.81))^⅓ = 17.6 mm.
        let fabric = Fabric { density: 0.15, bend: 8e-6.into(), ..Fabric::default() };
        assert!((fabric.bending_length(9.81)[0] - 0.01758).abs() < 1e-5);
    }
}
