//! Fabrics: impossible quantities refused, suspicious ones remarked on.

use super::Check;
use crate::axes::Up;
use crate::scene::schema::{
    BendFile, Bending, ByYarn, Fabric, FabricChoice, Friction, Model, Pair, Stiffness,
};
use crate::scene::{Document, InputFile, SceneError};
use toile::{Bend, Curve, Yield};

/// What the fabric of a cloth starts from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// The preset or the content of the file; without one, the defaults of the scene reference.
    pub(crate) fabric: Option<toile::Fabric>,
    /// The file.
    pub(crate) input: Option<InputFile>,
}

impl Start {
    /// The whole fabric.
    pub(crate) fn with(&self, choice: &FabricChoice) -> toile::Fabric {
        complete(choice.table().unwrap_or(&Fabric::default()), self.fabric)
    }

    /// Its friction on itself, if the scene or the fabric it starts from says it.
    pub(crate) fn friction(&self, choice: &FabricChoice) -> Option<toile::Friction> {
        let own = choice.table().and_then(|table| table.friction.as_ref()).map(Friction::values);
        let [still, sliding] = own.or(self.fabric.map(|fabric| fabric.friction))?;
        Some(toile::Friction { still, sliding })
    }
}

/// The whole fabric of a table at `path`, and what is wrong with it.
pub(crate) fn validate_fabric(
    doc: &Document,
    path: &str,
    table: &Fabric,
    start: Option<toile::Fabric>,
) -> (toile::Fabric, Vec<SceneError>) {
    let mut check = Check { doc, up: Up::Y, errors: Vec::new(), notes: Vec::new() };
    check.fabric(path, table, start);
    (complete(table, start), check.errors)
}

/// A fabric table on top of what it starts from. Call it on tables that [`Check::fabric`] lets through.
fn complete(table: &Fabric, start: Option<toile::Fabric>) -> toile::Fabric {
    let base = start.unwrap_or(toile::Fabric::isotropic(0.2, 1000.0, 0.3, 1e-5));
    let curve = |stiffness: &Stiffness| stiffness.curve().unwrap_or(Curve::linear(0.0));
    let stretch = table.stretch.as_ref().map_or(base.stretch, |pair| pair.both().each_ref().map(curve));
    let poisson = table.poisson.unwrap_or(base.poisson);
    let isotropic = || {
        let [warp, weft] = stretch.map(|curve| curve.initial());
        0.5 * (warp + weft) / (2.0 * (1.0 + poisson))
    };
    let coupling = table.bend_poisson.unwrap_or(base.bend.poisson);
    toile::Fabric {
        density: table.density.unwrap_or(base.density),
        stretch,
        shear: match (&table.shear, start) {
            (Some(shear), _) => curve(shear),
            (None, Some(start)) => start.shear,
            (None, None) => isotropic().into(),
        },
        poisson,
        bend: table.bend.as_ref().map_or(Bend { poisson: coupling, ..base.bend }, |b| b.bend(coupling)),
        damping: table.damping.unwrap_or(base.damping),
        bend_damping: table.bend_damping.or(base.bend_damping),
        crease: table.crease.map(Yield::from).or(base.crease),
        set: table.set.map(Yield::from).or(base.set),
        bend_hysteresis: table.bend_hysteresis.as_ref().map_or(base.bend_hysteresis, ByYarn::both),
        bend_onset: table.bend_onset.unwrap_or(base.bend_onset),
        shear_hysteresis: table.shear_hysteresis.unwrap_or(base.shear_hysteresis),
        shear_onset: table.shear_onset.unwrap_or(base.shear_onset),
        thickness: table.thickness.unwrap_or(base.thickness),
        friction: table.friction.as_ref().map_or(base.friction, Friction::values),
    }
}

impl Check<'_> {
    /// Checks a fabric table, field by field and then as a whole.
    pub(crate) fn fabric(&mut self, path: &str, table: &Fabric, start: Option<toile::Fabric>) {
        let at = |field: &str| format!("{path}.{field}");
        let before = self.errors.len();
        if let Some(density) = table.density {
            self.above_zero(&at("density"), density, " kg/m²", "a cotton shirt has 0.15");
        }
        match &table.stretch {
            Some(Pair::Two(pair)) => {
                for (n, stiffness) in pair.iter().enumerate() {
                    self.stiffness(
                        &at(&format!("stretch.{n}")),
                        stiffness,
                        false,
                        "woven cloth has 500 to 5000",
                    );
                }
            }
            Some(pair) => {
                self.stiffness(&at("stretch"), &pair.both()[0], false, "woven cloth has 500 to 5000");
            }
            None => {}
        }
        if let Some(shear) = &table.shear {
            self.stiffness(&at("shear"), shear, true, "woven cloth has 10 to 300");
        }
        let bends: Vec<(String, f64)> = match &table.bend {
            Some(BendFile::One(x)) => vec![(at("bend"), *x)],
            Some(BendFile::Each(list)) => {
                list.iter().enumerate().map(|(n, x)| (at(&format!("bend.{n}")), *x)).collect()
            }
            None => Vec::new(),
        };
        for (path, bend) in &bends {
            self.not_negative(path, *bend, " N·m", "woven cloth has 1e-6 to 1e-4");
        }
        if let Some(x) = table.bend_poisson.filter(|x| x.abs() > 1.0) {
            let what = format!("is {x}, it must lie between -1 and 1");
            self.fail(&at("bend_poisson"), what, "0 suits woven cloth");
        }
        let times = [("damping", table.damping), ("bend_damping", table.bend_damping)];
        for (field, x) in times.into_iter().filter_map(|(field, x)| Some((field, x?))) {
            self.not_negative(&at(field), x, " s", "0 is no damping; 0.01 calms a garment");
        }
        if let Some(thickness) = table.thickness {
            self.not_negative(&at("thickness"), thickness, " m", "0.4 mm is 0.0004");
        }
        self.friction(&at("friction"), table.friction.as_ref());
        self.memory(path, table);
        if self.errors.len() == before {
            self.fabric_as_a_whole(path, &complete(table, start));
            self.fabric_notes(path, table, &bends);
        }
    }

    fn stiffness(&mut self, path: &str, stiffness: &Stiffness, zero: bool, help: &str) {
        let Stiffness::Curve(file) = stiffness else {
            let Stiffness::Number(x) = *stiffness else { return };
            return if zero {
                self.not_negative(path, x, " N/m", help)
            } else {
                self.above_zero(path, x, " N/m", help)
            };
        };
        for (field, x) in [("initial", file.initial), ("second", file.second)] {
            self.above_zero(&format!("{path}.{field}"), x.unwrap_or(1.0), " N/m", help);
        }
        self.above_zero(&format!("{path}.knee"), file.knee.unwrap_or(1.0), "", "a strain of 2 % is 0.02");
        if let Err((field, what, fix)) = stiffness.curve() {
            let path = if field.is_empty() { path.to_string() } else { format!("{path}.{field}") };
            self.fail(&path, what, fix);
        }
    }

    /// Creases, sets and friction between yarns.
    fn memory(&mut self, path: &str, table: &Fabric) {
        let at = |field: &str| format!("{path}.{field}");
        for (field, give, unit, help) in [
            ("crease", table.crease, " per metre", "300 creases at radii below 3 mm"),
            ("set", table.set, "", "0.05 is a strain of 5 %"),
        ] {
            let Some(give) = give else { continue };
            self.above_zero(&at(&format!("{field}.yield")), give.limit, unit, help);
            if !(0.0..1.0).contains(&give.hardening) {
                let what = format!("is {}, it must be from 0 to below 1", give.hardening);
                self.fail(&at(&format!("{field}.hardening")), what, "0.1 keeps a tenth of the stiffness");
            }
        }
        let bending = "2HB of KES in N: 0.05 gf·cm/cm is 4.9e-4";
        match table.bend_hysteresis {
            Some(ByYarn::One(x)) => self.not_negative(&at("bend_hysteresis"), x, " N", bending),
            Some(ByYarn::Two(pair)) => {
                for (n, x) in pair.into_iter().enumerate() {
                    self.not_negative(&at(&format!("bend_hysteresis.{n}")), x, " N", bending);
                }
            }
            None => {}
        }
        if let Some(x) = table.shear_hysteresis {
            self.not_negative(&at("shear_hysteresis"), x, " N/m", "2HG of KES in N/m: 1 gf/cm is 0.98");
        }
        for (field, x, unit, help) in [
            ("bend_onset", table.bend_onset, " per metre", "20 is the default"),
            ("shear_onset", table.shear_onset, " rad", "0.01 is the default"),
        ] {
            self.above_zero(&at(field), x.unwrap_or(1.0), unit, help);
        }
    }

    fn friction(&mut self, path: &str, friction: Option<&Friction>) {
        let Some(friction) = friction else { return };
        let [at_rest, sliding] = friction.values();
        match friction {
            Friction::One(x) => self.not_negative(path, *x, "", "cotton on cotton has 0.4"),
            Friction::Two(_) => {
                for (n, x) in [at_rest, sliding].into_iter().enumerate() {
                    self.not_negative(&format!("{path}.{n}"), x, "", "cotton on cotton has 0.4");
                }
                if sliding > at_rest {
                    let what = format!("is {sliding}, it cannot exceed static friction, {at_rest}");
                    self.fail(&format!("{path}.1"), what, "write [static, kinetic], the larger first");
                }
            }
        }
    }

    /// What only shows when quantities meet.
    fn fabric_as_a_whole(&mut self, path: &str, fabric: &toile::Fabric) {
        let Err(error) = fabric.check() else { return };
        for problem in error.problems {
            match problem.name {
                "poisson" => {
                    let limit = (fabric.stretch[0].lowest() / fabric.stretch[1].lowest()).sqrt();
                    let what = format!(
                        "is {}, its size must be below sqrt(warp / weft) = {limit:.4}: such a sheet would have negative energy",
                        fabric.poisson
                    );
                    self.fail(&format!("{path}.poisson"), what, "woven cloth has 0 to 0.3");
                }
                "bend (bias)" => {
                    let least = fabric.bend.least_bias();
                    let what = format!(
                        "has bias {:e} N·m, at least {least:e} N·m belongs to its warp and weft: with less, twisting would give energy",
                        fabric.bend.bias
                    );
                    self.fail(
                        &format!("{path}.bend"),
                        what,
                        format!("write {least:e} for the bias, or leave it out"),
                    );
                }
                name => {
                    let field = name.split(" (").next().unwrap_or(name);
                    let what = format!("is {}, it must be {}", problem.value, problem.limit);
                    self.fail(&format!("{path}.{field}"), what, "`toile fabric list` shows common values");
                }
            }
        }
    }

    /// Memory that the models of a cloth do not have.
    pub(super) fn forgotten(&mut self, path: &str, table: &Fabric, model: Model, bending: Bending) {
        let recon = (bending != Bending::Recon).then_some("bending = \"recon\"");
        let membrane = (model != Model::Membrane).then_some("model = \"membrane\"");
        let springs = (model != Model::Springs).then_some("model = \"springs\"");
        for (field, given, needs) in [
            ("crease", table.crease.is_some(), recon),
            ("bend_hysteresis", table.bend_hysteresis.is_some(), recon),
            ("shear_hysteresis", table.shear_hysteresis.is_some(), membrane),
            ("set", table.set.is_some(), springs),
        ] {
            if let (true, Some(needs)) = (given, needs) {
                let help = format!("write {needs} for this cloth, or leave it out");
                self.note(&format!("{path}.{field}"), &format!("has no effect without {needs}"), &help);
            }
        }
    }

    /// Values that are possible but look like a wrong unit.
    fn fabric_notes(&mut self, path: &str, table: &Fabric, bends: &[(String, f64)]) {
        if let Some(x) = table.density.filter(|x| *x > 3.0) {
            let help = format!("{x} g/m² is {}", x / 1000.0);
            self.note(&format!("{path}.density"), &format!("is {x} kg/m², more than ten times denim"), &help);
        }
        if let Some(x) = table.thickness.filter(|x| *x > 0.02) {
            let help = format!("thickness is in metres: {x} mm is {}", x / 1000.0);
            self.note(&format!("{path}.thickness"), &format!("is {x} m"), &help);
        }
        if let Some((at, x)) = bends.iter().find(|(_, x)| *x > 0.01) {
            let help = "cloth has 1e-6 to 1e-4; 1 gf·cm²/cm is 98.07e-6 N·m";
            self.note(at, &format!("is {x} N·m, stiffer than cardboard"), help);
        }
        if let Some(x) = table.bend_hysteresis.map(|x| x.both()[0]).filter(|x| *x > 0.01) {
            let help = "cloth has 1e-5 to 2e-3; 1 gf·cm/cm is 9.807e-3 N";
            self.note(
                &format!("{path}.bend_hysteresis"),
                &format!("is {x} N, more than ten times denim"),
                help,
            );
        }
    }
}
