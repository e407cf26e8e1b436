//! One fabric in every model of stretching: what a flat sheet of each resists, against what the fabric says.
//!
//! The border of a sheet is held at a small uniform strain, the inside finds its equilibrium, and the stored energy per
//! area is ½ εᵀ C ε: four strains give C, and C gives the stiffness along warp and weft, Poisson's ratio and the shear
//! stiffness that a user would measure.

use crate::material::{PATTERNS, cloth};
use crate::session::{LabError, Session};
use glam::DVec3;
use toile::forces::{CoupledOptions, Masses, Strain, Tangent};
use toile::mesh::{Pattern, shapes};
use toile::solve::Integrator;
use toile::{Bending, Fabric, PinDown, Probe, Setup, SolverSettings, Stretching, World};

const SIDE: f64 = 0.3;
const CELLS: usize = 24;
const STRAIN: f64 = 1e-3;

/// What a sheet resists.
struct Resistance {
    /// Tension per strain along warp and weft, sides free [N/m].
    young: [f64; 2],
    poisson: f64,
    shear: f64,
}

const MODELS: [(&str, Stretching); 4] = [
    ("membrane", Stretching::Membrane(Strain::Green)),
    ("membrane, engineering strain", Stretching::Membrane(Strain::Engineering)),
    ("springs", Stretching::Springs(Tangent::Safe)),
    ("coupled", Stretching::Coupled(CoupledOptions { alpha: None, masses: Masses::Equal, symmetric: true })),
];

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let isotropic = Fabric::isotropic(0.2, 1000.0, 0.2, 1e-5);
    let woven =
        Fabric { stretch: [1500.0.into(), 700.0.into()], shear: 60.0.into(), poisson: 0.15, ..isotropic };
    let mut rows = Vec::new();
    for (fabric_name, fabric) in [("isotropic", isotropic), ("woven", woven)] {
        let asked = from_stiffness(fabric.stiffness());
        for (model, stretching) in MODELS {
            for (mesh, pattern) in PATTERNS {
                let found = measure(&fabric, stretching, pattern)?;
                let parts = [
                    found.young[0] / asked.young[0],
                    found.young[1] / asked.young[1],
                    found.shear / asked.shear,
                ];
                let off = parts.iter().map(|part| (part - 1.0).abs()).fold(0.0, f64::max);
                rows.push(format!(
                    "{fabric_name},{},{mesh},{:.4},{:.4},{:.4},{:.4},{:.4}",
                    model.replace(',', ""),
                    parts[0],
                    parts[1],
                    parts[2],
                    found.poisson,
                    asked.poisson
                ));
                let label = format!("{fabric_name} fabric, {model}, {mesh}");
                let exact = matches!(stretching, Stretching::Membrane(_));
                let meant = !exact && fabric_name == "isotropic" && mesh == "equilateral";
                if exact {
                    session.at_most(format!("{label}: farthest stiffness off"), off, "relative", 0.01);
                    let ratio = (found.poisson - asked.poisson).abs();
                    session.at_most(format!("{label}: Poisson's ratio off"), ratio, "", 0.01);
                } else {
                    session.info(format!("{label}: warp over that of the fabric"), parts[0], "");
                    session.info(format!("{label}: weft over that of the fabric"), parts[1], "");
                    session.info(format!("{label}: shear over that of the fabric"), parts[2], "");
                    session.info(
                        format!("{label}: Poisson's ratio (fabric {:.2})", asked.poisson),
                        found.poisson,
                        "",
                    );
                }
                if meant && model == "coupled" {
                    session.at_most(format!("{label}: farthest stiffness off"), off, "relative", 0.05);
                }
            }
        }
    }
    session.csv(
        "one-fabric",
        "fabric,model,mesh,warp over fabric,weft over fabric,shear over fabric,Poisson's ratio,that of the fabric",
        &rows,
    )
}

/// From C₁₁, C₂₂, C₁₂, C₃₃.
fn from_stiffness([warp, weft, coupling, shear]: [f64; 4]) -> Resistance {
    let young = [warp - coupling * coupling / weft, weft - coupling * coupling / warp];
    Resistance { young, poisson: coupling / weft, shear }
}

fn measure(fabric: &Fabric, stretching: Stretching, pattern: Pattern) -> Result<Resistance, LabError> {
    let of = |xx: f64, yy: f64, xy: f64| -> Result<f64, LabError> {
        let energy = stored(fabric, stretching, pattern, [xx * STRAIN, yy * STRAIN, xy * STRAIN])?;
        Ok(2.0 * energy / (STRAIN * STRAIN))
    };
    let (warp, weft, shear) = (of(1.0, 0.0, 0.0)?, of(0.0, 1.0, 0.0)?, of(0.0, 0.0, 1.0)?);
    let coupling = 0.5 * (of(1.0, 1.0, 0.0)? - warp - weft);
    Ok(from_stiffness([warp, weft, coupling, shear]))
}

/// Energy per area [J/m²] of a sheet whose border is held at strains along warp and weft and at an angle.
fn stored(
    fabric: &Fabric,
    stretching: Stretching,
    pattern: Pattern,
    [xx, yy, angle]: [f64; 3],
) -> Result<f64, LabError> {
    // Equilateral triangles need a height that suits them.
    let height = if pattern == Pattern::Equilateral { 0.75f64.sqrt() * SIDE } else { SIDE };
    let shape = shapes::sheet(SIDE, height, CELLS, CELLS, pattern)?;
    let mut sheet = cloth("sheet", &shape, *fabric)?;
    (sheet.stretching, sheet.bending) = (stretching, Bending::None);
    // Generated sheets lie in x and z with the warp along x.
    let place = |p: &DVec3| {
        DVec3::new(p.x * (1.0 + xx) + 0.5 * angle * p.z, 0.0, p.z * (1.0 + yy) + 0.5 * angle * p.x)
    };
    sheet.positions = shape.positions.iter().map(place).collect();
    let area = sheet.mesh.total_area();
    let held = sheet.mesh.border();
    let mut solver = SolverSettings { integrator: Integrator::QuasiStatic, ..SolverSettings::default() };
    solver.drape.residual = 1e-9;
    let (pins, gravity) = (vec![PinDown::fixed(0, held)], DVec3::ZERO);
    let mut world = World::new(Setup { cloths: vec![sheet], pins, gravity, solver, ..Setup::default() })?;
    world.step(1.0, &mut Probe::default())?;
    Ok(world.energies().stored.iter().map(|(_, energy)| energy).sum::<f64>() / area)
}
