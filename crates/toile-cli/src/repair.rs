//! `toile repair`: what is wrong with a mesh, what a run makes of it, and the mesh without it.

use crate::Context;
use crate::fail::Failure;
use clap::Args;
use glam::DVec3;
use serde_json::json;
use std::path::{Path, PathBuf};
use toile_io::Obj;
use toile_io::obj::{self, NO_TEXCOORD, ObjectRef, Polygons, Precision};
use toile_io::repair::Repaired;

/// Options of `toile repair`.
#[derive(Args)]
pub struct RepairArgs {
    /// The mesh, an OBJ file.
    input: PathBuf,
    /// Where to write the repaired mesh: its triangles as they would be simulated, over the same vertices.
    output: Option<PathBuf>,
    /// What a unit of the file is [m]; distances and areas are reported in metres.
    #[arg(long, default_value_t = 1.0, value_name = "METRES")]
    unit: f64,
}

/// `toile repair`.
pub fn repair(args: &RepairArgs, context: Context) -> Result<(), Failure> {
    if !(args.unit > 0.0 && args.unit.is_finite()) {
        return Err(Failure::Refused(format!(
            "--unit is {}, it must be above 0; 0.01 is a centimetre",
            args.unit
        )));
    }
    let mut mesh = Obj::read(&args.input)?;
    let file = mesh.positions.clone();
    mesh.positions.iter_mut().for_each(|p| *p *= args.unit);
    let name = args.input.display();
    let repaired = mesh.repaired().map_err(|error| Failure::Refused(format!("{name}: {error}")))?;
    if let Some(output) = &args.output {
        write(output, &mesh, &repaired, file)?;
    }
    let (findings, sound) = (&repaired.findings, repaired.findings.is_sound());
    let verdict = if sound { "sound" } else { "repaired" };
    if context.json {
        let line = json!({
            "status": verdict, "vertices": mesh.positions.len(), "polygons": mesh.polygons.len(),
            "triangles": repaired.faces.len(), "doubles": repaired.doubles().len(), "findings": findings.to_json(),
            "notes": mesh.notes, "output": args.output.as_ref().map(|path| path.display().to_string()),
        });
        println!("{line}");
    } else {
        let (vertices, polygons, triangles) =
            (mesh.positions.len(), mesh.polygons.len(), repaired.faces.len());
        println!("{name}: {vertices} vertices, {polygons} polygons, {triangles} triangles: {verdict}");
        mesh.notes.iter().for_each(|note| println!("  {note}"));
        findings.all.iter().for_each(|finding| println!("  {finding}"));
        if let Some(output) = &args.output {
            println!("wrote {}", output.display());
        }
    }
    Ok(())
}

/// Writes the triangles over the vertices of the input; those that are one lie in one place, and loose edges and texture
/// coordinates are as they were.
fn write(path: &Path, mesh: &Obj, repaired: &Repaired, file: Vec<DVec3>) -> Result<(), Failure> {
    let positions: Vec<DVec3> = repaired.stands.iter().map(|v| file[*v as usize]).collect();
    let counts = vec![3; repaired.faces.len()];
    let texcoords = repaired.texcoords.as_flattened();
    let charted = texcoords.iter().any(|t| *t != NO_TEXCOORD);
    let texcoords = if charted { texcoords.to_vec() } else { Vec::new() };
    let polygons = Polygons::from_counts(&counts, repaired.faces.as_flattened().to_vec(), texcoords);
    let object = ObjectRef {
        name: "",
        note: "repaired by toile",
        positions: &positions,
        texcoords: &mesh.texcoords,
        polygons: &polygons.unwrap_or_default(),
        groups: &[],
        edges: &mesh.edges,
    };
    Ok(obj::write(path, &[object], Precision::Double)?)
}
