//! One fabric in SI quantities, from which every model derives its constants.

use std::fmt;

/// What a piece of cloth is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fabric {
    /// Mass per area [kg/m²].
    pub density: f64,
    /// Tensile stiffness per width along warp and weft [N/m] (Young's modulus × thickness).
    pub stretch: [f64; 2],
    /// Shear stiffness [N/m].
    pub shear: f64,
    /// How much pulling along the warp narrows the weft (ν of the warp).
    pub poisson: f64,
    /// Bending stiffness [N·m].
    pub bend: f64,
    /// Time constant of internal viscosity [s]: stress grows by this times its rate (Kelvin–Voigt).
    pub damping: f64,
}

impl Default for Fabric {
    /// A light plain weave: nominal, not measured.
    fn default() -> Self {
        Fabric {
            density: 0.2,
            stretch: [1000.0, 1000.0],
            shear: 60.0,
            poisson: 0.2,
            bend: 1e-5,
            damping: 0.0,
        }
    }
}

impl Fabric {
    /// An isotropic fabric: stretch `young` [N/m] in every direction.
    pub fn isotropic(density: f64, young: f64, poisson: f64, bend: f64) -> Fabric {
        Fabric {
            density,
            stretch: [young; 2],
            shear: 0.5 * young / (1.0 + poisson),
            poisson,
            bend,
            damping: 0.0,
        }
    }

    /// Entries (E₁₁, E₂₂, E₁₂, E₃₃) [N/m] of the matrix that turns strain (uu, vv, engineering shear) into
    /// stress, for plane stress in an orthotropic sheet (B14-2).
    pub fn stiffness(&self) -> [f64; 4] {
        let [warp, weft] = self.stretch;
        let weft_poisson = self.poisson * weft / warp;
        let plane = 1.0 / (1.0 - self.poisson * weft_poisson);
        [warp * plane, weft * plane, weft_poisson * warp * plane, self.shear]
    }

    /// Young's modulus [N/m] a model without directions should use.
    pub fn mean_stretch(&self) -> f64 {
        0.5 * (self.stretch[0] + self.stretch[1])
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
        demand(positive(self.stretch[0]), "stretch (warp)", self.stretch[0], "above 0 N/m");
        demand(positive(self.stretch[1]), "stretch (weft)", self.stretch[1], "above 0 N/m");
        demand(not_negative(self.shear), "shear", self.shear, "0 N/m or more");
        demand(not_negative(self.bend), "bend", self.bend, "0 N·m or more");
        demand(not_negative(self.damping), "damping", self.damping, "0 s or more");
        let bound = self.poisson * self.poisson * self.stretch[1] / self.stretch[0];
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
        let fabric = Fabric { density: 0.0, bend: f64::NAN, poisson: 2.0, ..Fabric::default() };
        let problems = fabric.check().expect_err("impossible").problems;
        assert_eq!(problems.iter().map(|p| p.name).collect::<Vec<_>>(), ["density", "bend", "poisson"]);
        assert!(Fabric::default().check().is_ok());
    }
}
