//! Fabrics as text: files of their own, and blocks to paste into a scene.

use super::Sheet;
use crate::scene::schema::{BendFile, ByYarn, Fabric as Table, Friction, Origin, Pair, Status, Stiffness};
use std::fmt::Write;
use toile::Fabric;

impl From<&Fabric> for Table {
    fn from(fabric: &Fabric) -> Table {
        let bend = fabric.bend;
        Table {
            preset: None,
            density: Some(fabric.density),
            stretch: Some(Pair::Two(fabric.stretch.each_ref().map(Stiffness::from))),
            shear: Some(Stiffness::from(&fabric.shear)),
            poisson: Some(fabric.poisson),
            bend: Some(BendFile::Each(vec![bend.warp, bend.weft, bend.bias])),
            bend_poisson: Some(bend.poisson),
            damping: Some(fabric.damping),
            bend_damping: fabric.bend_damping,
            crease: fabric.crease.map(Into::into),
            set: fabric.set.map(Into::into),
            bend_hysteresis: (fabric.bend_hysteresis != [0.0; 2])
                .then_some(ByYarn::Two(fabric.bend_hysteresis)),
            bend_onset: (fabric.bend_hysteresis != [0.0; 2]).then_some(fabric.bend_onset),
            shear_hysteresis: (fabric.shear_hysteresis != 0.0).then_some(fabric.shear_hysteresis),
            shear_onset: (fabric.shear_hysteresis != 0.0).then_some(fabric.shear_onset),
            thickness: Some(fabric.thickness),
            friction: Some(Friction::Two(fabric.friction)),
        }
    }
}

/// A number as TOML wants it, to seven digits: no laboratory has more.
fn number(x: f64) -> String {
    let x: f64 = format!("{x:.6e}").parse().unwrap_or(x);
    let size = x.abs();
    if x == 0.0 || (1e-3..1e7).contains(&size) { format!("{x:?}") } else { format!("{x:e}") }
}

fn list(values: &[f64]) -> String {
    format!("[{}]", values.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", "))
}

fn stiffness(stiffness: &Stiffness) -> String {
    match stiffness {
        Stiffness::Number(x) => number(*x),
        Stiffness::Curve(curve) => match &curve.points {
            Some(points) => {
                let points: Vec<String> = points.iter().map(|p| list(p)).collect();
                format!("{{ points = [{}] }}", points.join(", "))
            }
            None => {
                let [initial, knee, second] =
                    [curve.initial, curve.knee, curve.second].map(|x| number(x.unwrap_or_default()));
                format!("{{ initial = {initial}, knee = {knee}, second = {second} }}")
            }
        },
    }
}

/// Text in quotes. JSON's escapes are a subset of TOML's, and stay on one line.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The quantities of a fabric as lines `key = value # unit`.
fn quantities(fabric: &Fabric) -> String {
    let table = Table::from(fabric);
    let mut lines: Vec<(&str, String, &str)> = Vec::new();
    lines.push(("density", number(fabric.density), "kg/m²"));
    lines.push(("thickness", number(fabric.thickness), "m"));
    if let Some(Pair::Two([warp, weft])) = &table.stretch {
        let pair = format!("[{}, {}]", stiffness(warp), stiffness(weft));
        lines.push(("stretch", pair, "warp, weft [N/m]"));
    }
    lines.push(("shear", stiffness(&Stiffness::from(&fabric.shear)), "N/m"));
    lines.push(("poisson", number(fabric.poisson), ""));
    let bend = fabric.bend;
    lines.push(("bend", list(&[bend.warp, bend.weft, bend.bias]), "warp, weft, bias [N·m]"));
    lines.push(("bend_poisson", number(bend.poisson), ""));
    lines.push(("damping", number(fabric.damping), "s"));
    if let Some(bending) = fabric.bend_damping {
        lines.push(("bend_damping", number(bending), "s"));
    }
    for (key, give, unit) in [
        ("crease", table.crease, "1/m, share of stiffness"),
        ("set", table.set, "strain, share of stiffness"),
    ] {
        if let Some(give) = give {
            let [limit, hardening] = [give.limit, give.hardening].map(number);
            lines.push((key, format!("{{ yield = {limit}, hardening = {hardening} }}"), unit));
        }
    }
    if let (Some(width), Some(onset)) = (table.bend_hysteresis, table.bend_onset) {
        lines.push(("bend_hysteresis", list(&width.both()), "warp, weft, 2HB [N]"));
        lines.push(("bend_onset", number(onset), "1/m"));
    }
    if let (Some(width), Some(onset)) = (table.shear_hysteresis, table.shear_onset) {
        lines.push(("shear_hysteresis", number(width), "2HG [N/m]"));
        lines.push(("shear_onset", number(onset), "rad"));
    }
    lines.push(("friction", list(&fabric.friction), "static, kinetic"));
    let mut out = String::new();
    for (key, value, unit) in lines {
        let remark = if unit.is_empty() { String::new() } else { format!(" # {unit}") };
        let _ = writeln!(out, "{key} = {value}{remark}");
    }
    out
}

fn origin(out: &mut String, name: &str, origin: &Origin) {
    let status = match origin.status {
        Status::Measured => "measured",
        Status::Estimate => "estimate",
        Status::Nominal => "nominal",
    };
    let _ = writeln!(out, "\n[origin.{name}]\nstatus = \"{status}\"");
    for (key, text) in [("source", &origin.source), ("load", &origin.load)] {
        if !text.is_empty() {
            let _ = writeln!(out, "{key} = {}", quote(text));
        }
    }
    for (key, value) in [("residual", origin.residual), ("spread", origin.spread)] {
        if let Some(x) = value {
            let _ = writeln!(out, "{key} = {}", number(x));
        }
    }
}

impl Sheet {
    /// A fabric file.
    pub fn to_toml(&self) -> String {
        let mut out = format!("toile = 1\nname = {}\nabout = {}\n", quote(&self.name), quote(&self.about));
        let _ = write!(out, "\n[fabric]\n{}", quantities(&self.fabric));
        for (name, from) in self.origin.each() {
            origin(&mut out, name, from);
        }
        out
    }

    /// A block to paste below a `[[cloth]]` of a scene.
    pub fn to_scene_block(&self) -> String {
        format!("[cloth.fabric] # {}: {}\n{}", self.name, self.about, quantities(&self.fabric))
    }
}
