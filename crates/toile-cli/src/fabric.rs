//! `toile fabric`: what cloth is made of, and how to find out.

use crate::Context;
use crate::fail::Failure;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toile::Curve;
use toile_io::FileError;
use toile_io::atomic::write_atomic;
use toile_io::fabric::readings::Readings;
use toile_io::fabric::{Origin, Sheet, Status, preset_names};
use toile_lab::fabric::{Fitted, GRAVITY, fit, panels, read_panels};
use toile_lab::plot::svg_sheet;

/// Options of `toile fabric`.
#[derive(Args)]
pub struct FabricArgs {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// List the fabrics inside the program.
    List,
    /// Show every quantity of a fabric: its value, where it comes from and at which load it holds.
    Show {
        /// A preset, or a fabric file.
        fabric: String,
        /// As a block to paste into a scene.
        #[arg(long)]
        toml: bool,
        /// Draw its curves.
        #[arg(long, value_name = "FILE.svg")]
        plot: Option<PathBuf>,
    },
    /// Turn laboratory readings into a fabric file.
    Fit {
        /// Readings, TOML or CSV.
        readings: PathBuf,
        /// The fabric file to write. Default: the readings' name with `-fabric.toml`.
        #[arg(long)]
        out: Option<PathBuf>,
        /// Draw the curves and the readings.
        #[arg(long, value_name = "FILE.svg")]
        plot: Option<PathBuf>,
        /// Replace the fabric file if it exists.
        #[arg(long)]
        force: bool,
    },
}

/// Lists, shows or fits.
pub fn run(args: &FabricArgs, context: Context) -> Result<(), Failure> {
    match &args.command {
        None | Some(Command::List) => list(context),
        Some(Command::Show { fabric, toml, plot }) => {
            if fabric.ends_with(".toml") {
                readable(Path::new(fabric))?;
            }
            let sheet = Sheet::find(fabric)?;
            if let Some(path) = plot {
                draw(path, svg_sheet(panels(&sheet.fabric)), context)?;
            }
            if *toml {
                print!("{}", sheet.to_scene_block());
            } else if context.json {
                println!("{}", described(&sheet));
            } else {
                show(&sheet);
            }
            Ok(())
        }
        Some(Command::Fit { readings, out, plot, force }) => {
            let out = out.clone().unwrap_or_else(|| beside(readings));
            fitted(readings, &out, plot.as_deref(), *force, context)
        }
    }
}

/// `lab/poplin.toml` → `lab/poplin-fabric.toml`.
fn beside(readings: &Path) -> PathBuf {
    let stem = readings.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    readings.with_file_name(format!("{stem}-fabric.toml"))
}

/// A file that is not there is another failure than one that is wrong.
fn readable(path: &Path) -> Result<(), Failure> {
    match std::fs::File::open(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(FileError::from_io(path, "read", &error).into()),
    }
}

fn draw(path: &Path, svg: String, context: Context) -> Result<(), Failure> {
    if path.extension().is_none_or(|e| !e.eq_ignore_ascii_case("svg")) {
        let message = format!("--plot {}: plots are SVG; give a name that ends in .svg", path.display());
        return Err(Failure::Refused(message));
    }
    write_atomic(path, svg.as_bytes())?;
    wrote(path, context);
    Ok(())
}

fn wrote(path: &Path, context: Context) {
    if !context.quiet {
        eprintln!("wrote {}", path.display());
    }
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Measured => "measured",
        Status::Estimate => "estimate",
        Status::Nominal => "nominal",
    }
}

/// The presets, which a test of their own reads one by one.
fn presets() -> impl Iterator<Item = Sheet> {
    preset_names().into_iter().filter_map(Sheet::preset)
}

fn list(context: Context) -> Result<(), Failure> {
    if context.json {
        println!("{}", Value::from_iter(presets().map(|sheet| described(&sheet))));
        return Ok(());
    }
    println!(
        "{:8} {:>6} {:>6} {:>15} {:>18} {:>8}  {:9} what",
        "name", "g/m²", "mm", "stretch N/m", "bend µN·m", "c mm", "status"
    );
    for sheet in presets() {
        let f = &sheet.fabric;
        let stretch = f.stretch.map(|c| format!("{:.0}", c.initial())).join(" ");
        let bend = [f.bend.warp, f.bend.weft, f.bend.bias].map(|d| format!("{:.1}", 1e6 * d)).join(" ");
        let [warp, weft, _] = f.bending_length(GRAVITY).map(|c| 1e3 * c);
        println!(
            "{:8} {:>6.0} {:>6.2} {stretch:>15} {bend:>18} {:>8}  {:9} {}",
            sheet.name,
            1e3 * f.density,
            1e3 * f.thickness,
            format!("{warp:.0} {weft:.0}"),
            status(sheet.status()),
            sheet.about
        );
    }
    println!(
        "\nstretch at small strain, warp and weft; bend along warp, weft and bias; c is the bending length"
    );
    Ok(())
}

fn curve(curve: &Curve) -> String {
    let mut text = format!("{:.1}", curve.initial());
    for knee in curve.knees() {
        text.push_str(&format!(", then {:.1} from {:.2} %", knee.modulus, 100.0 * knee.strain));
    }
    text
}

fn show(sheet: &Sheet) {
    let f = &sheet.fabric;
    println!("{}: {}\n", sheet.name, sheet.about);
    let line = |name: &str, value: String| println!("{name:28} {value}");
    let from = |origin: &Origin| {
        let mut words = vec![status(origin.status).to_string()];
        words.extend([&origin.source, &origin.load].into_iter().filter(|s| !s.is_empty()).cloned());
        words.extend(origin.residual.map(|r| format!("leaves {:.1} %", 100.0 * r)));
        words.extend(origin.spread.map(|r| format!("± {:.1} %", 100.0 * r)));
        println!("{:28} {}", "", words.join("; "));
    };
    let o = &sheet.origin;
    line("density [kg/m²]", f.density.to_string());
    from(&o.density);
    line("thickness [m]", f.thickness.to_string());
    from(&o.thickness);
    line("stretch, warp [N/m]", curve(&f.stretch[0]));
    line("stretch, weft [N/m]", curve(&f.stretch[1]));
    if let Some(give) = f.set {
        line("set, yield hardening", format!("{} {}", give.limit, give.hardening));
    }
    from(&o.stretch);
    line("shear [N/m]", curve(&f.shear));
    if f.shear_hysteresis != 0.0 {
        line("shear_hysteresis [N/m]", format!("{}, onset {} rad", f.shear_hysteresis, f.shear_onset));
    }
    from(&o.shear);
    line("poisson", f.poisson.to_string());
    from(&o.poisson);
    line("bend, warp weft bias [N·m]", format!("{:e} {:e} {:e}", f.bend.warp, f.bend.weft, f.bend.bias));
    line("bend_poisson", f.bend.poisson.to_string());
    if let Some(give) = f.crease {
        line("crease, yield [1/m] hardening", format!("{} {}", give.limit, give.hardening));
    }
    if f.bend_hysteresis != [0.0; 2] {
        let [warp, weft] = f.bend_hysteresis;
        line("bend_hysteresis, warp weft [N]", format!("{warp:e} {weft:e}, onset {} 1/m", f.bend_onset));
    }
    from(&o.bend);
    line("damping, bend_damping [s]", format!("{} {}", f.damping, f.bending_damping()));
    from(&o.damping);
    line("friction, static kinetic", format!("{} {}", f.friction[0], f.friction[1]));
    from(&o.friction);
    let d = derived(sheet);
    let list = |name: &str| -> String {
        let values = d[name].as_array().map(Vec::as_slice).unwrap_or_default();
        values.iter().filter_map(Value::as_f64).map(|x| format!("{x:.4e}")).collect::<Vec<_>>().join(" ")
    };
    println!("\nderived");
    line("E11 E22 E12 E33 [N/m]", list("stiffness_N_m"));
    line("D11 D22 D12 D66 [N·m]", list("bending_N_m"));
    line("k/ρ warp weft [m²/s²]", list("k_over_rho_m2_s2"));
    line("bending length [m]", list("bending_length_m"));
    line("mesh size c/4 [m]", format!("{:.4}", d["mesh_size_m"].as_f64().unwrap_or_default()));
}

/// Numbers that follow from the quantities.
fn derived(sheet: &Sheet) -> Value {
    let f = &sheet.fabric;
    let lengths = f.bending_length(GRAVITY);
    json!({
        "stiffness_N_m": f.stiffness(),
        "bending_N_m": f.bending_stiffness(),
        "k_over_rho_m2_s2": f.stretch.map(|c| c.initial() / f.density),
        "bending_length_m": lengths,
        "mesh_size_m": 0.25 * lengths.into_iter().fold(f64::INFINITY, f64::min),
    })
}

/// Everything about a fabric, for programs.
fn described(sheet: &Sheet) -> Value {
    let table = toile_io::fabric::FabricTable::from(&sheet.fabric);
    json!({
        "name": sheet.name,
        "about": sheet.about,
        "status": status(sheet.status()),
        "fabric": table,
        "origin": sheet.origin,
        "derived": derived(sheet),
    })
}

fn fitted(
    path: &Path,
    out: &Path,
    plot: Option<&Path>,
    force: bool,
    context: Context,
) -> Result<(), Failure> {
    readable(path)?;
    let readings = Readings::load(path)?;
    let named = |error| Failure::Refused(format!("{}: {error}", path.display()));
    let Fitted { sheet, found, warnings } = fit(&readings).map_err(named)?;
    if out.exists() && !force {
        let message = format!("{} exists; give another --out, or --force to replace it", out.display());
        return Err(Failure::Refused(message));
    }
    if !context.quiet {
        for x in &found {
            let remark = if x.remark.is_empty() { String::new() } else { format!("  ({})", x.remark) };
            eprintln!("{:32} {:>10.4} {}{remark}", x.name, x.value, x.unit);
        }
    }
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    if let Some(plot) = plot {
        draw(plot, svg_sheet(read_panels(&sheet.fabric, &readings)), context)?;
    }
    write_atomic(out, sheet.to_toml().as_bytes())?;
    wrote(out, context);
    if context.json {
        let mut line = described(&sheet);
        line["file"] = out.display().to_string().into();
        line["warnings"] = warnings.into();
        println!("{line}");
    }
    Ok(())
}
