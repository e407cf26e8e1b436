//! Readings become quantities. Each formula is explained in docs/fabrics.md.

use super::GRAVITY;
use super::describe::{Described, describe};
use crate::elastica::{Cantilever, peirce};
use toile::{Bend, Curve, Fabric};
use toile_io::fabric::readings::{Direction, Fit, Readings};
use toile_io::fabric::{Origin, Sheet, Status};

/// A fabric from readings.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The fabric, with the origin of every quantity.
    pub sheet: Sheet,
    /// What was found, in the order of the tests.
    pub found: Vec<Found>,
    /// What a reader should doubt, and why.
    pub warnings: Vec<String>,
}

/// A number that the readings gave.
#[derive(Clone, Debug)]
pub struct Found {
    /// What.
    pub name: String,
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: &'static str,
    /// How sure, or how found.
    pub remark: String,
}

/// Mean, and standard deviation over the mean for two readings or more.
fn mean(list: &[f64]) -> (f64, Option<f64>) {
    let n = list.len() as f64;
    let mean = list.iter().sum::<f64>() / n;
    let square = list.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    (mean, (list.len() > 1).then(|| (square / (n - 1.0)).sqrt() / mean))
}

/// The range of numbers, for people.
fn range(list: impl Iterator<Item = f64> + Clone, unit: &str) -> String {
    let (low, high) = (list.clone().fold(f64::INFINITY, f64::min), list.fold(0.0, f64::max));
    if high - low < 1e-9 * high {
        format!("{high:.4} {unit}")
    } else {
        format!("{low:.4} to {high:.4} {unit}")
    }
}

fn percent(x: f64) -> String {
    format!("{:.1} %", 100.0 * x)
}

fn measured(source: &str, load: String) -> Origin {
    Origin { status: Status::Measured, source: source.into(), load, ..Origin::default() }
}

/// The fabric that readings describe. What they do not say comes from the preset they are `like`, or is round numbers.
/// An error is one sentence with what is missing and what to do.
pub fn fit(readings: &Readings) -> Result<Fitted, String> {
    let like = readings.like.as_deref().and_then(Sheet::preset);
    let nominal = Fabric { damping: 0.002, ..Fabric::isotropic(0.15, 1000.0, 0.2, 1e-5) };
    let mut sheet = Sheet {
        name: readings.name.clone(),
        about: readings.about.clone(),
        fabric: like.as_ref().map_or(nominal, |like| like.fabric),
        origin: Default::default(),
    };
    let source = match &like {
        Some(like) => format!("not measured: as the preset {}", like.name),
        None => "not measured: a round number".to_string(),
    };
    let unknown = Origin { status: Status::Nominal, source, ..Origin::default() };
    let o = &mut sheet.origin;
    for origin in [
        &mut o.density,
        &mut o.stretch,
        &mut o.shear,
        &mut o.poisson,
        &mut o.bend,
        &mut o.damping,
        &mut o.thickness,
        &mut o.friction,
    ] {
        *origin = unknown.clone();
    }
    let mut work = Work { readings, out: Fitted { sheet, found: Vec::new(), warnings: Vec::new() } };
    work.density(like.is_some())?;
    work.thickness();
    work.stretch();
    work.poisson();
    work.shear()?;
    work.bend();
    work.friction();
    work.plausible();
    let out = work.out;
    out.sheet.fabric.check().map_err(|error| format!("{error}; measure again, or leave that test out"))?;
    Ok(out)
}

struct Work<'a> {
    readings: &'a Readings,
    out: Fitted,
}

impl Work<'_> {
    fn fabric(&mut self) -> &mut Fabric {
        &mut self.out.sheet.fabric
    }

    fn found(&mut self, name: impl Into<String>, value: f64, unit: &'static str, remark: impl Into<String>) {
        self.out.found.push(Found { name: name.into(), value, unit, remark: remark.into() });
    }

    fn warn(&mut self, text: impl Into<String>) {
        self.out.warnings.push(text.into());
    }

    /// Says when readings of the same thing differ by more than `limit`.
    fn spread(&mut self, name: &str, spread: Option<f64>, limit: f64) -> String {
        if let Some(x) = spread.filter(|x| *x > limit) {
            self.warn(format!(
                "{name}: readings differ by {} (standard deviation); look for an outlier",
                percent(x)
            ));
        }
        spread.map_or("one reading".into(), |x| format!("± {}", percent(x)))
    }

    fn density(&mut self, known: bool) -> Result<(), String> {
        let list: Vec<f64> = self.readings.mass.iter().map(|mass| mass.density()).collect();
        if list.is_empty() {
            if !self.readings.cantilever.is_empty() && !known {
                return Err("the cantilevers need the mass per area: bending stiffness is weight times length cubed; \
                            add [[mass]] with length_mm, width_mm and mass_g"
                    .into());
            }
            if !self.readings.cantilever.is_empty() {
                let density = 1e3 * self.fabric().density;
                self.warn(format!(
                    "no [[mass]]: bending stiffness is computed with {density:.0} g/m² of the preset and is as wrong as that"
                ));
            }
            return Ok(());
        }
        let (density, spread) = mean(&list);
        let remark = self.spread("mass", spread, 0.05);
        self.found("mass per area", 1e3 * density, "g/m²", remark);
        self.fabric().density = density;
        let source = format!("{} weighed pieces", list.len());
        self.out.sheet.origin.density = Origin { spread, ..measured(&source, String::new()) };
        Ok(())
    }

    fn thickness(&mut self) {
        let tests = &self.readings.thickness;
        let list: Vec<f64> = tests.iter().flat_map(|t| t.thickness_mm.iter().map(|x| 1e-3 * x)).collect();
        if list.is_empty() {
            return;
        }
        let (thickness, spread) = mean(&list);
        let remark = self.spread("thickness", spread, 0.1);
        self.found("thickness", 1e3 * thickness, "mm", remark);
        self.fabric().thickness = thickness;
        let pressures = tests.iter().filter_map(|t| t.pressure_kpa);
        let load = if pressures.clone().count() > 0 { range(pressures, "kPa") } else { String::new() };
        let source = format!("{} readings under a presser foot", list.len());
        self.out.sheet.origin.thickness = Origin { spread, ..measured(&source, load) };
    }

    fn stretch(&mut self) {
        let mut told: [Option<Described>; 2] = [None, None];
        for (slot, direction) in [(0, Direction::Warp), (1, Direction::Weft)] {
            let strips: Vec<_> = self.readings.strip.iter().filter(|s| s.direction == direction).collect();
            let points = strips.iter().flat_map(|s| pulled(&s.load, &s.extension_mm, s.width_mm, s.gauge_mm));
            let fit = strips.first().map_or(Fit::Auto, |s| s.fit);
            let Some(described) = describe(&points.collect::<Vec<_>>(), fit) else { continue };
            self.told(&format!("stretch, {}", direction.name()), &described);
            for strip in &strips {
                self.slack(&format!("stretch, {}", direction.name()), &strip.load, &strip.extension_mm);
            }
            told[slot] = Some(described);
        }
        let Some(first) = told.iter().flatten().next() else { return };
        let other = first.clone();
        for (slot, name) in [(0, "warp"), (1, "weft")] {
            if told[slot].is_none() {
                self.warn(format!("no strip along the {name}: it is taken to be like the other direction"));
            }
            self.fabric().stretch[slot] = told[slot].as_ref().unwrap_or(&other).curve;
        }
        let all: Vec<&Described> = told.iter().flatten().collect();
        let residual = all.iter().map(|d| d.residual).fold(0.0, f64::max);
        let load = format!("up to {}, straight beyond", range(all.iter().map(|d| d.most[1]), "N/m"));
        let origin = measured("strips pulled in a tensile tester", load);
        self.out.sheet.origin.stretch = Origin { residual: Some(residual), ..origin };
    }

    /// Reports a described curve and doubts about it.
    fn told(&mut self, name: &str, described: &Described) {
        let Described { curve, kind, residual, most, falls } = described;
        let kind = match kind {
            Fit::Linear | Fit::Auto => "linear",
            Fit::Bilinear => "bilinear",
            Fit::Curve => "straight pieces",
        };
        let remark = format!("{kind}, leaves {} of {:.1} N/m", percent(*residual), most[1]);
        self.found(format!("{name}: initial modulus"), curve.initial(), "N/m", remark);
        if let [knee, ..] = curve.knees() {
            self.found(format!("{name}: first knee"), 100.0 * knee.strain, "%", "");
        }
        if let Some(last) = curve.knees().last() {
            self.found(format!("{name}: last modulus"), last.modulus, "N/m", "");
        }
        if *falls > 0 {
            self.warn(format!(
                "{name}: the load falls {falls} times though the strip gets longer: it slipped in the jaws or yarns broke; leave those readings out"
            ));
        }
        if *residual > 0.1 {
            self.warn(format!(
                "{name}: the curve leaves {} of the largest load; plot it",
                percent(*residual)
            ));
        }
    }

    /// A strip that carries load before it gets longer was not slack at the start.
    fn slack(&mut self, name: &str, load: &[f64], extension: &[f64]) {
        let most = load.iter().copied().fold(0.0, f64::max);
        let start =
            load.iter().zip(extension).filter(|(_, x)| **x == 0.0).map(|(f, _)| *f).fold(0.0, f64::max);
        if start > 0.05 * most {
            self.warn(format!(
                "{name}: {start} N without extension; the first of the curve is missing, count from the slack strip"
            ));
        }
    }

    fn poisson(&mut self) {
        let mut ratios = [None, None];
        for (slot, direction) in [(0, Direction::Warp), (1, Direction::Weft)] {
            let strips = self.readings.strip.iter().filter(|s| s.direction == direction);
            let [mut product, mut square] = [0.0, 0.0];
            for strip in strips {
                let Some(narrowing) = &strip.narrowing_mm else { continue };
                for (x, w) in strip.extension_mm.iter().zip(narrowing) {
                    let strain = x / strip.gauge_mm;
                    product += strain * w / strip.width_mm;
                    square += strain * strain;
                }
            }
            ratios[slot] = (square > 0.0).then(|| product / square);
        }
        let [warp, weft] = self.fabric().stretch.map(|curve| curve.lowest());
        let limit = (warp / weft).sqrt();
        let (mut ratio, from) = match ratios {
            [Some(own), Some(other)] => {
                let expected = own * weft / warp;
                if (other - expected).abs() > 0.3 * expected.abs().max(0.05) {
                    self.warn(format!(
                        "poisson: the weft strip narrows by {other:.3} per strain, warp strip and moduli ask for {expected:.3}; the warp's is kept"
                    ));
                }
                (own, "warp strip")
            }
            [Some(own), None] => (own, "warp strip"),
            [None, Some(other)] => (other * warp / weft, "weft strip and the moduli"),
            [None, None] => {
                let poisson = self.fabric().poisson;
                self.fabric().poisson = poisson.clamp(-0.9 * limit, 0.9 * limit);
                return;
            }
        };
        if ratio.abs() > 0.9 * limit {
            self.warn(format!(
                "poisson: {ratio:.3} is more than an elastic sheet of these moduli can have ({limit:.3}); 0.9 of that is kept"
            ));
            ratio = ratio.clamp(-0.9 * limit, 0.9 * limit);
        }
        self.found("poisson ratio of the warp", ratio, "", from);
        self.fabric().poisson = ratio;
        self.out.sheet.origin.poisson = measured(&format!("narrowing of the {from}"), "all loads".into());
    }

    fn shear(&mut self) -> Result<(), String> {
        let strips = &self.readings.bias_strip;
        let points: Vec<[f64; 2]> =
            strips.iter().flat_map(|s| pulled(&s.load, &s.extension_mm, s.width_mm, s.gauge_mm)).collect();
        let mut by_strip = None;
        if let Some(described) = describe(&points, Fit::Auto) {
            let young = described.curve.initial();
            let fabric = self.out.sheet.fabric;
            let [warp, weft] = fabric.stretch.map(|curve| curve.initial());
            // Off-axis pull: 4 / E45 = 1 / E1 + 1 / E2 − 2 ν / E1 + 1 / G.
            let threads = if self.readings.strip.is_empty() {
                self.warn("bias strip: warp and weft were not pulled and count as inextensible, G = E45 / 4");
                0.0
            } else {
                1.0 / warp + 1.0 / weft - 2.0 * fabric.poisson / warp
            };
            let soft = 4.0 / young - threads;
            if soft <= 0.0 {
                return Err(format!(
                    "the bias strip ({young:.1} N/m) is stiffer than warp ({warp:.1} N/m) and weft ({weft:.1} N/m) allow; \
                     check which strip is which and the units of its extensions"
                ));
            }
            for strip in strips.iter().filter(|s| s.gauge_mm < 2.0 * s.width_mm) {
                self.warn(format!(
                    "bias strip: {} mm long and {} mm wide; below twice its width the jaws hold all of it and G comes out too high",
                    strip.gauge_mm, strip.width_mm
                ));
            }
            let curve = Curve::linear(1.0 / soft);
            self.told("bias strip", &described);
            self.found("shear modulus", curve.initial(), "N/m", "from the bias strip");
            by_strip = Some((curve, described));
        }
        let points = self.readings.trellis.iter().flat_map(|t| sheared(&t.load, &t.extension_mm, t.side_mm));
        let fit = self.readings.trellis.first().map_or(Fit::Auto, |t| t.fit);
        let by_trellis = describe(&points.collect::<Vec<_>>(), fit);
        if let Some(described) = &by_trellis {
            self.told("shear frame", described);
        }
        if let (Some((strip, _)), Some(frame)) = (&by_strip, &by_trellis) {
            let ratio = strip.initial() / frame.curve.initial();
            if !(0.6..1.7).contains(&ratio) {
                self.warn(format!(
                    "shear: the bias strip gives {:.1} N/m, the frame {:.1} N/m; the frame's is kept",
                    strip.initial(),
                    frame.curve.initial()
                ));
            }
        }
        let (curve, described, source) = match (by_trellis, by_strip) {
            (Some(described), _) => (described.curve, described, "shear frame"),
            (None, Some((curve, described))) => (curve, described, "bias strip"),
            (None, None) => return Ok(()),
        };
        self.fabric().shear = curve;
        let load = format!("up to {:.1} N/m", described.most[1]);
        self.out.sheet.origin.shear = Origin { residual: Some(described.residual), ..measured(source, load) };
        Ok(())
    }

    fn bend(&mut self) {
        let weight = self.fabric().density * GRAVITY;
        let mut found: [Option<f64>; 3] = [None; 3];
        let mut worst: Option<f64> = None;
        for (slot, direction) in [Direction::Warp, Direction::Weft, Direction::Bias].into_iter().enumerate() {
            let (stiffness, simple) = hung(self.readings, direction, weight);
            if stiffness.is_empty() {
                continue;
            }
            let (d, spread) = mean(&stiffness);
            let name = format!("bending, {}", direction.name());
            let sure = self.spread(&name, spread, 0.3);
            let by_peirce = mean(&simple).0;
            let remark = format!("{sure}; Peirce's formula gives {:.3}", 1e6 * by_peirce);
            self.found(name.clone(), 1e6 * d, "µN·m", remark);
            self.found(format!("{name}: length"), 1e3 * (d / weight).cbrt(), "mm", "");
            found[slot] = Some(d);
            worst = worst.into_iter().chain(spread).reduce(f64::max);
        }
        let (warp, weft) = match found {
            [Some(warp), Some(weft), _] => (warp, weft),
            [Some(only), None, _] | [None, Some(only), _] => {
                let lacking = if found[0].is_none() { "warp" } else { "weft" };
                self.warn(format!(
                    "no cantilever along the {lacking}: it is taken to be like the other direction"
                ));
                (only, only)
            }
            [None, None, Some(bias)] => {
                self.warn("cantilevers along the bias only: warp and weft are taken to be the same");
                (bias, bias)
            }
            [None, None, None] => return,
        };
        let bend = match found[2] {
            Some(bias) => {
                let (bend, raised) = Bend::fitted(warp, weft, bias, 0.0);
                if raised > 0.0 {
                    self.warn(format!(
                        "bending, bias: {:.3} µN·m is less than a quarter of warp + weft ({:.3}), which no elastic sheet can have; that limit is kept, so twist costs nothing",
                        1e6 * bias,
                        1e6 * bend.bias
                    ));
                }
                bend
            }
            None => Bend::of(warp, weft),
        };
        let [.., twist] = bend.stiffness();
        self.found(
            "bending, twist D66",
            1e6 * twist,
            "µN·m",
            if found[2].is_some() { "" } else { "bias not measured" },
        );
        self.fabric().bend = bend;
        let angles = self.readings.cantilever.iter().map(|c| c.angle_deg.unwrap_or(41.5));
        let load = format!("own weight, slope {}", range(angles, "°"));
        let origin = measured("cantilevers, exact heavy elastica", load);
        self.out.sheet.origin.bend = Origin { spread: worst, ..origin };
    }

    fn friction(&mut self) {
        let tan = |x: &f64| x.to_radians().tan();
        let start: Vec<f64> = self.readings.slide.iter().flat_map(|s| s.start_deg.iter().map(tan)).collect();
        let keep: Vec<f64> = self.readings.slide.iter().flat_map(|s| s.keep_deg.iter().map(tan)).collect();
        if start.is_empty() {
            return;
        }
        let (at_rest, spread) = mean(&start);
        let remark = self.spread("static friction", spread, 0.2);
        self.found("static friction", at_rest, "", remark);
        let mut source = "tilted board, cloth on cloth".to_string();
        let sliding = if keep.is_empty() {
            source.push_str("; kinetic assumed 0.85 of static");
            0.85 * at_rest
        } else {
            let (sliding, spread) = mean(&keep);
            let remark = self.spread("kinetic friction", spread, 0.2);
            self.found("kinetic friction", sliding, "", remark);
            if sliding > at_rest {
                self.warn(format!(
                    "friction: kinetic {sliding:.3} exceeds static {at_rest:.3}; static is kept for both, check keep_deg"
                ));
            }
            sliding.min(at_rest)
        };
        self.fabric().friction = [at_rest, sliding];
        self.out.sheet.origin.friction = Origin { spread, ..measured(&source, "own weight".into()) };
    }

    /// Orders of magnitude that betray a wrong unit.
    fn plausible(&mut self) {
        let fabric = self.out.sheet.fabric;
        if self.out.sheet.origin.stretch.status == Status::Measured {
            for (curve, name) in fabric.stretch.iter().zip(["warp", "weft"]) {
                let k = curve.initial();
                if !(5.0..2e5).contains(&k) {
                    self.warn(format!(
                        "stretch, {name}: {k:.3e} N/m; cloth has 30 to 50,000: are loads in newtons and extensions in millimetres?"
                    ));
                }
            }
        }
        if self.out.sheet.origin.bend.status == Status::Measured {
            for (c, name) in fabric.bending_length(GRAVITY).into_iter().zip(["warp", "weft", "bias"]) {
                if !(0.004..0.1).contains(&c) {
                    self.warn(format!(
                        "bending, {name}: a bending length of {:.1} mm; cloth has 10 to 50: check the overhangs",
                        1e3 * c
                    ));
                }
            }
        }
    }
}

/// Bending stiffness [N·m] by each overhang of cloth of some weight per area [N/m²], and by Peirce's formula.
pub(super) fn hung(readings: &Readings, direction: Direction, weight: f64) -> (Vec<f64>, Vec<f64>) {
    let mut found = (Vec::new(), Vec::new());
    for test in readings.cantilever.iter().filter(|c| c.direction == direction) {
        let angle = test.angle_deg.unwrap_or(41.5).to_radians();
        let Some(strip) = Cantilever::of_chord(angle) else { continue };
        for overhang in &test.overhang_mm {
            let cube = (1e-3 * overhang).powi(3);
            found.0.push(weight * cube / strip.gamma);
            found.1.push(weight * cube * peirce(angle).powi(3));
        }
    }
    found
}

/// Strain and tension per width [N/m] of a pulled strip.
pub(super) fn pulled(load: &[f64], extension_mm: &[f64], width_mm: f64, gauge_mm: f64) -> Vec<[f64; 2]> {
    load.iter().zip(extension_mm).map(|(f, x)| [x / gauge_mm, f / (1e-3 * width_mm)]).collect()
}

/// Shear angle [rad] and shear force per width [N/m] in a frame with bars of `side_mm` pulled along its diagonal:
/// with α half the angle between bars, cos α = (√2 a + x) / 2a, γ = 90° − 2α and the force along a bar is F / (2 cos α).
pub(super) fn sheared(load: &[f64], extension_mm: &[f64], side_mm: f64) -> Vec<[f64; 2]> {
    let point = |(f, x): (&f64, &f64)| {
        let cos = (std::f64::consts::FRAC_1_SQRT_2 + 0.5 * x / side_mm).min(1.0);
        let shear = std::f64::consts::FRAC_PI_2 - 2.0 * cos.acos();
        [shear, f / (2.0 * cos) / (1e-3 * side_mm)]
    };
    load.iter().zip(extension_mm).map(point).collect()
}
