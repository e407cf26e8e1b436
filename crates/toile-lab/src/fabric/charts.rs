//! The curves of a fabric, with the readings they come from.

use super::GRAVITY;
use super::fit::{hung, pulled, sheared};
use crate::plot::{Chart, Curve as Line, Panel};
use toile::{Curve, Fabric};
use toile_io::fabric::readings::{Direction, Readings};

/// Units of the abscissa per strain or radian.
const PERCENT: f64 = 100.0;
const DEGREES: f64 = 180.0 / std::f64::consts::PI;

/// Points of a curve from 0 to `most`.
fn line(name: &str, curve: &Curve, most: f64, unit: f64) -> Line {
    let points = (0..=200).map(|n| most * f64::from(n) / 200.0).map(|s| (unit * s, curve.at(s).tension));
    Line { name: name.into(), points: points.collect() }
}

fn dots(points: Vec<[f64; 2]>, unit: f64) -> Line {
    Line { name: String::new(), points: points.into_iter().map(|[s, t]| (unit * s, t)).collect() }
}

/// Twice the last knee, or a strain at which a linear fabric carries 50 N/m.
fn extent(curves: &[Curve]) -> f64 {
    let last = |c: &Curve| c.knees().last().map_or(50.0 / c.initial().max(1.0), |knee| 2.0 * knee.strain);
    curves.iter().map(last).fold(1e-3, f64::max)
}

fn chart(title: &str, x: &str, y: &str, curves: Vec<Line>) -> Chart {
    Chart { title: title.into(), x: x.into(), y: y.into(), log: (false, false), curves }
}

fn bending(fabric: &Fabric) -> Chart {
    let [warp, weft, coupling, twist] = fabric.bending_stiffness();
    let along = |degrees: f64| {
        let (s, c) = degrees.to_radians().sin_cos();
        let (s, c) = (s * s, c * c);
        1e6 * (warp * c * c + weft * s * s + 2.0 * (coupling + 2.0 * twist) * s * c)
    };
    let points = (0..=90).map(|n| (f64::from(n), along(f64::from(n)))).collect();
    let line = Line { name: String::new(), points };
    chart("Bending", "angle from the warp [°]", "stiffness [µN·m]", vec![line])
}

/// Stretch, shear and bending of a fabric.
pub fn panels(fabric: &Fabric) -> Vec<Panel> {
    read_panels(fabric, &Readings::default())
}

/// The same with the readings.
pub fn read_panels(fabric: &Fabric, readings: &Readings) -> Vec<Panel> {
    let strips = |direction: Direction| -> Vec<[f64; 2]> {
        let strips = readings.strip.iter().filter(|s| s.direction == direction);
        strips.flat_map(|s| pulled(&s.load, &s.extension_mm, s.width_mm, s.gauge_mm)).collect()
    };
    let frames = readings.trellis.iter();
    let frames: Vec<[f64; 2]> = frames.flat_map(|t| sheared(&t.load, &t.extension_mm, t.side_mm)).collect();
    let reach = |points: &[[f64; 2]]| points.iter().map(|p| p[0]).fold(0.0, f64::max);
    let (warp, weft) = (strips(Direction::Warp), strips(Direction::Weft));
    let longest = reach(&warp).max(reach(&weft));
    let most = if longest > 0.0 { 1.05 * longest } else { extent(&fabric.stretch) };
    let stretch = vec![
        line("warp", &fabric.stretch[0], most, PERCENT),
        line("weft", &fabric.stretch[1], most, PERCENT),
    ];
    let sheared = reach(&frames);
    let last = fabric.shear.knees().last().map_or(0.0, |knee| 2.0 * knee.strain);
    let most = if sheared > 0.0 { 1.05 * sheared } else { last.clamp(0.2, 1.0) };
    let shear = vec![line("", &fabric.shear, most, DEGREES)];
    let weight = fabric.density * GRAVITY;
    let hanging = [(Direction::Warp, 0.0), (Direction::Weft, 90.0), (Direction::Bias, 45.0)];
    let hanging = hanging.into_iter().flat_map(|(direction, angle)| {
        let (stiffness, _) = hung(readings, direction, weight);
        stiffness.into_iter().map(move |d| (angle, 1e6 * d)).collect::<Vec<_>>()
    });
    let hanging = Line { name: String::new(), points: hanging.collect() };
    let mut panels = vec![
        Panel {
            chart: chart("Stretch", "strain [%]", "tension per width [N/m]", stretch),
            dots: vec![dots(warp, PERCENT), dots(weft, PERCENT)],
        },
        Panel {
            chart: chart("Shear", "shear angle [°]", "shear force per width [N/m]", shear),
            dots: vec![dots(frames, DEGREES)],
        },
        Panel { chart: bending(fabric), dots: vec![hanging] },
    ];
    let bias = readings.bias_strip.iter();
    let bias: Vec<[f64; 2]> =
        bias.flat_map(|s| pulled(&s.load, &s.extension_mm, s.width_mm, s.gauge_mm)).collect();
    if !bias.is_empty() {
        let [warp, weft] = fabric.stretch.map(|curve| curve.initial());
        let soft = 1.0 / warp + 1.0 / weft - 2.0 * fabric.poisson / warp + 1.0 / fabric.shear.initial();
        let line = line("", &Curve::linear(4.0 / soft), 1.05 * reach(&bias), PERCENT);
        let chart = chart("Bias strip", "strain [%]", "tension per width [N/m]", vec![line]);
        panels.push(Panel { chart, dots: vec![dots(bias, PERCENT)] });
    }
    panels
}
