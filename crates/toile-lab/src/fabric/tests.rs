//! A known fabric, its readings by the exact formulas, and the fabric that the fit makes of them.

use super::*;
use crate::elastica::Cantilever;
use toile::{Bend, Curve, Fabric};
use toile_io::fabric::readings::{
    BiasStrip, Direction, Fit, Mass, Overhang, Readings, Slide, Strip, Thickness, Trellis,
};
use toile_io::fabric::{Sheet, Status};

fn known() -> Fabric {
    Fabric {
        density: 0.137,
        stretch: [Curve::bilinear(1500.0, 0.014, 18000.0), Curve::linear(2600.0)],
        shear: 48.0.into(),
        poisson: 0.21,
        bend: Bend { warp: 9.3e-6, weft: 5.1e-6, bias: 6.0e-6, poisson: 0.0 },
        thickness: 2.9e-4,
        friction: [0.52, 0.43],
        ..Fabric::default()
    }
}

/// The overhang [mm] at which a strip of stiffness `d` reaches `angle` [°].
fn overhang(d: f64, angle: f64) -> f64 {
    let gamma = Cantilever::of_chord(f64::to_radians(angle)).expect("a strip").gamma;
    1e3 * (gamma * d / (known().density * GRAVITY)).cbrt()
}

fn strip(direction: Direction, curve: &Curve, most: f64, poisson: f64) -> Strip {
    let strains: Vec<f64> = (0..=24).map(|n| most * f64::from(n) / 24.0).collect();
    Strip {
        direction,
        width_mm: 50.0,
        gauge_mm: 200.0,
        load: strains.iter().map(|s| 0.05 * curve.at(*s).tension).collect(),
        extension_mm: strains.iter().map(|s| 200.0 * s).collect(),
        narrowing_mm: Some(strains.iter().map(|s| 50.0 * poisson * s).collect()),
        fit: Fit::Auto,
    }
}

fn readings() -> Readings {
    let f = known();
    let [warp, weft] = f.stretch;
    let young = 4.0 / (1.0 / 1500.0 + 1.0 / 2600.0 - 2.0 * 0.21 / 1500.0 + 1.0 / 48.0);
    let bias: Vec<f64> = (1..=8).map(|n| 0.004 * f64::from(n)).collect();
    let hang = |direction, d: f64, angle: f64| Overhang {
        direction,
        overhang_mm: vec![overhang(d, angle) * 0.99, overhang(d, angle), overhang(d, angle) * 1.01],
        angle_deg: Some(angle),
    };
    Readings {
        toile: 1,
        name: "known".into(),
        mass: vec![Mass {
            length_mm: Some(200.0),
            width_mm: Some(100.0),
            mass_g: Some(f.density * 0.02 * 1e3),
            density_g_m2: None,
        }],
        thickness: vec![Thickness { thickness_mm: vec![0.28, 0.29, 0.30], pressure_kpa: Some(1.0) }],
        cantilever: vec![
            hang(Direction::Warp, f.bend.warp, 41.5),
            hang(Direction::Weft, f.bend.weft, 30.0),
            hang(Direction::Bias, f.bend.bias, 55.0),
        ],
        strip: vec![
            strip(Direction::Warp, &warp, 0.035, 0.21),
            strip(Direction::Weft, &weft, 0.06, 0.21 * 2600.0 / 1500.0),
        ],
        bias_strip: vec![BiasStrip {
            width_mm: 50.0,
            gauge_mm: 200.0,
            load: bias.iter().map(|s| 0.05 * young * s).collect(),
            extension_mm: bias.iter().map(|s| 200.0 * s).collect(),
        }],
        slide: vec![Slide {
            start_deg: vec![0.52f64.atan().to_degrees()],
            keep_deg: vec![0.43f64.atan().to_degrees()],
        }],
        ..Readings::default()
    }
}

fn near(name: &str, got: f64, want: f64, within: f64) {
    assert!((got / want - 1.0).abs() < within, "{name}: {got} instead of {want}");
}

#[test]
fn a_known_fabric_is_recovered() {
    let fitted = fit(&readings()).unwrap_or_else(|e| panic!("{e}"));
    let (f, want) = (fitted.sheet.fabric, known());
    assert!(fitted.warnings.is_empty(), "{:?}", fitted.warnings);
    for (name, got, want) in [
        ("density", f.density, want.density),
        ("thickness", f.thickness, want.thickness),
        ("warp", f.stretch[0].initial(), 1500.0),
        ("knee", f.stretch[0].knees()[0].strain, 0.014),
        ("second", f.stretch[0].knees()[0].modulus, 18000.0),
        ("weft", f.stretch[1].initial(), 2600.0),
        ("shear", f.shear.initial(), 48.0),
        ("poisson", f.poisson, 0.21),
        ("bend warp", f.bend.warp, want.bend.warp),
        ("bend weft", f.bend.weft, want.bend.weft),
        ("bend bias", f.bend.bias, want.bend.bias),
        ("static", f.friction[0], 0.52),
        ("kinetic", f.friction[1], 0.43),
    ] {
        near(name, got, want, 0.01);
    }
    for (group, origin) in fitted.sheet.origin.each().into_iter().filter(|(name, _)| *name != "damping") {
        assert_eq!(origin.status, Status::Measured, "{group}");
    }
    let text = fitted.sheet.to_toml();
    let again = Sheet::parse(&text, "again").unwrap_or_else(|e| panic!("{e}\n{text}"));
    near("again", again.fabric.bend.warp, want.bend.warp, 0.01);
    assert_eq!(again.origin.bend.source, fitted.sheet.origin.bend.source);
}

#[test]
fn peirces_formula_would_be_six_per_cent_off() {
    let fitted = fit(&readings()).unwrap_or_else(|e| panic!("{e}"));
    let warp = fitted.found.iter().find(|f| f.name == "bending, warp").expect("found");
    let simple: f64 = warp.remark.rsplit(' ').next().and_then(|x| x.parse().ok()).expect("a number");
    assert!((1.04..1.07).contains(&(simple / warp.value)), "{simple} {}", warp.value);
}

#[test]
fn a_shear_frame_gives_the_curve() {
    let curve = Curve::bilinear(40.0, 0.3, 220.0);
    let frame = |shear: f64| {
        let cos = (0.5 * (std::f64::consts::FRAC_PI_2 - shear)).cos();
        let side = 0.2;
        (2.0 * cos * side * curve.at(shear).tension, 1e3 * side * (2.0 * cos - 2f64.sqrt()))
    };
    let (load, extension_mm) = (1..=20).map(|n| frame(0.03 * f64::from(n))).unzip();
    let trellis = Trellis { side_mm: 200.0, load, extension_mm, fit: Fit::Auto };
    let fitted = fit(&Readings { trellis: vec![trellis], bias_strip: Vec::new(), ..readings() });
    let shear = fitted.unwrap_or_else(|e| panic!("{e}")).sheet.fabric.shear;
    near("initial", shear.initial(), 40.0, 0.01);
    near("knee", shear.knees()[0].strain, 0.3, 0.01);
    near("second", shear.knees()[0].modulus, 220.0, 0.01);
}

#[test]
fn crooked_curves_become_pieces() {
    let points: Vec<[f64; 2]> =
        (1..=60).map(|n| f64::from(n) * 1e-3).map(|s| [s, 8e5 * s * s * s + 300.0 * s]).collect();
    let described = describe(&points, Fit::Auto).expect("described");
    assert_eq!(described.kind, Fit::Curve);
    assert!(described.residual < 0.02, "{}", described.residual);
    assert!(describe(&points, Fit::Linear).expect("described").residual > 0.1);
    assert!(describe(&[], Fit::Auto).is_none());
}

#[test]
fn doubtful_readings_are_kept_with_a_warning() {
    type Spoil = Box<dyn Fn(&mut Readings)>;
    let cases: Vec<(&str, Spoil)> = vec![
        ("which no elastic sheet can have", Box::new(|r| r.cantilever[2].overhang_mm = vec![20.0])),
        ("the load falls", Box::new(|r| r.strip[1].load[20] = 1.0)),
        ("no strip along the weft", Box::new(|r| r.strip.truncate(1))),
        ("no cantilever along the warp", Box::new(|r| drop(r.cantilever.remove(0)))),
        ("N without extension", Box::new(|r| r.strip[1].load[0] = 4.0)),
        (
            "are loads in newtons",
            Box::new(|r| {
                r.bias_strip.clear();
                r.strip[1].load.iter_mut().for_each(|f| *f *= 1e-4);
            }),
        ),
        ("readings differ by", Box::new(|r| r.cantilever[0].overhang_mm = vec![30.0, 50.0])),
        ("exceeds static", Box::new(|r| r.slide[0].keep_deg = vec![40.0])),
        ("below twice its width", Box::new(|r| r.bias_strip[0].gauge_mm = 90.0)),
        ("the weft strip narrows", Box::new(|r| r.strip[1].narrowing_mm = r.strip[0].narrowing_mm.clone())),
        (
            "than an elastic sheet of these moduli",
            Box::new(|r| {
                r.strip[1].narrowing_mm = None;
                let narrowing = r.strip[0].extension_mm.iter().map(|x| 0.5 * x).collect();
                r.strip[0].narrowing_mm = Some(narrowing);
            }),
        ),
        (
            "as wrong as that",
            Box::new(|r| {
                r.mass.clear();
                r.like = Some("cotton".into());
            }),
        ),
    ];
    for (want, change) in cases {
        let mut readings = readings();
        change(&mut readings);
        let fitted = fit(&readings).unwrap_or_else(|e| panic!("{want}: {e}"));
        assert!(fitted.warnings.iter().any(|w| w.contains(want)), "{want}: {:?}", fitted.warnings);
        assert!(fitted.sheet.fabric.check().is_ok(), "{want}");
    }
}

#[test]
fn what_cannot_be_computed_is_refused() {
    let error = fit(&Readings { mass: Vec::new(), ..readings() }).map(|f| f.sheet.name).expect_err("no mass");
    assert!(error.contains("need the mass per area") && error.contains("add [[mass]]"), "{error}");
    let mut stiff = readings();
    stiff.bias_strip[0].load.iter_mut().for_each(|f| *f *= 1e3);
    let error = fit(&stiff).map(|f| f.sheet.name).expect_err("stiff bias");
    assert!(error.contains("stiffer than warp"), "{error}");
}

#[test]
fn what_was_not_measured_says_so() {
    let only = Readings { toile: 1, name: "x".into(), mass: readings().mass, ..Readings::default() };
    let sheet = fit(&Readings { like: Some("silk".into()), ..only }).unwrap_or_else(|e| panic!("{e}")).sheet;
    assert_eq!(sheet.origin.bend.status, Status::Nominal);
    assert!(sheet.origin.bend.source.contains("as the preset silk"));
    assert_eq!(sheet.fabric.bend, Sheet::preset("silk").expect("a preset").fabric.bend);
}

#[test]
fn the_plot_shows_lines_and_readings() {
    let readings = readings();
    let fitted = fit(&readings).unwrap_or_else(|e| panic!("{e}"));
    let svg = crate::plot::svg_sheet(read_panels(&fitted.sheet.fabric, &readings));
    assert!(svg.starts_with("<svg") && svg.contains("Stretch") && svg.contains("Bending"));
    assert!(svg.matches("<circle").count() >= 50, "{}", svg.matches("<circle").count());
    assert!(!crate::plot::svg_sheet(panels(&known())).contains("<circle"));
}
