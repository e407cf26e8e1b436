//! Tangled starts: six kinds of cloth that begins where it cannot be, each from any seed.
//!
//! Every start has a small clean sheet beside or above the tangle that falls on it, and must never meet anything.

use crate::collide::collider::{self, Body, Collider};
use crate::drive::{Motion, Transform};
use crate::math::DVec3;
use crate::math::random::Dice;
use crate::math::rotation::euler_degrees;
use crate::mesh::{Mesh, MeshError, Pattern, Shape, ShapeError, shapes};
use crate::{Air, Cloth, ContactSettings, Fabric, Obstacle, PinDown, Setup, World};

/// How cloth begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tube round a body that is up to 2 cm outside it.
    InBody,
    /// A sheet folded over whose end went through it.
    FoldThrough,
    /// The end of a sleeve inside a torso, through its wall.
    Sleeve,
    /// Two layers of which the upper is below the lower over most of it.
    Swapped,
    /// Two sheets that hang, with their hems on the wrong sides of each other.
    CrossedHem,
    /// The corner of a sheet through another.
    Corner,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] =
        [Kind::InBody, Kind::FoldThrough, Kind::Sleeve, Kind::Swapped, Kind::CrossedHem, Kind::Corner];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::InBody => "body 2 cm inside",
            Kind::FoldThrough => "fold-through",
            Kind::Sleeve => "sleeve through torso",
            Kind::Swapped => "swapped layers",
            Kind::CrossedHem => "crossed hem",
            Kind::Corner => "corner through cloth",
        }
    }
}

/// A name for the clean sheet, the last cloth of every start.
pub const CLEAN: &str = "clean";

/// A start, or why its shapes could not be made.
pub fn start(kind: Kind, seed: u64) -> Result<Setup, String> {
    let mut dice = Dice::new(1000 * seed + kind as u64);
    let mut setup = Setup { substeps: 4, contact: ContactSettings::default(), ..Setup::default() };
    match kind {
        Kind::InBody => in_body(&mut dice, &mut setup),
        Kind::FoldThrough => fold_through(&mut dice, &mut setup),
        Kind::Sleeve => sleeve(&mut dice, &mut setup),
        Kind::Swapped => swapped(&mut dice, &mut setup),
        Kind::CrossedHem => crossed_hem(&mut dice, &mut setup),
        Kind::Corner => corner(&mut dice, &mut setup),
    }
    .map_err(|Unmade(reason)| reason)?;
    Ok(setup)
}

/// A start as a world.
pub fn world(kind: Kind, seed: u64) -> Result<World, String> {
    World::new(start(kind, seed)?).map_err(|error| error.to_string())
}

struct Unmade(String);

impl From<ShapeError> for Unmade {
    fn from(error: ShapeError) -> Unmade {
        Unmade(error.to_string())
    }
}

impl From<MeshError> for Unmade {
    fn from(error: MeshError) -> Unmade {
        Unmade(error.to_string())
    }
}

impl From<collider::ColliderError> for Unmade {
    fn from(error: collider::ColliderError) -> Unmade {
        Unmade(error.to_string())
    }
}

/// A cloth of a shape whose vertices are somewhere else than they were cut.
fn cloth(name: &str, shape: Shape, place: impl Fn(DVec3) -> DVec3) -> Result<Cloth, Unmade> {
    let positions = shape.positions.iter().map(|p| place(*p)).collect();
    let mesh = Mesh::new(shape.positions.len(), shape.faces, shape.rest)?;
    let fabric = Fabric { damping: 1e-3, ..Fabric::default() };
    let air = Air { drag: 1.0, ..Air::default() };
    Ok(Cloth { air, ..Cloth::new(name, mesh, positions, fabric) })
}

/// A sheet around the origin.
fn sheet(width: f64, height: f64, cell: f64, seed: u64) -> Result<Shape, Unmade> {
    let count = |length: f64| (length / cell).round().max(2.0) as usize;
    let pattern = Pattern::Jittered { amount: 0.2, seed };
    let mut shape = shapes::sheet(width, height, count(width), count(height), pattern)?;
    let middle = DVec3::new(0.5 * width, 0.0, 0.5 * height);
    shape.positions.iter_mut().for_each(|p| *p -= middle);
    Ok(shape)
}

fn clean(dice: &mut Dice, at: DVec3) -> Result<Cloth, Unmade> {
    cloth(CLEAN, sheet(0.08, 0.08, 0.016, dice.below(1 << 20) as u64)?, |p| p + at)
}

fn between(dice: &mut Dice, low: f64, high: f64) -> f64 {
    low + (high - low) * dice.unit()
}

fn in_body(dice: &mut Dice, setup: &mut Setup) -> Result<(), Unmade> {
    let radius = between(dice, 0.08, 0.11);
    let form = match dice.below(3) {
        0 => collider::Form::Capsule { radius, height: 0.3 },
        1 => collider::Form::Cylinder { radius, height: 0.4 },
        _ => collider::Form::Cone { radius_bottom: radius, radius_top: radius, height: 0.4 },
    };
    let collider = Collider::standing(Body::Form(form), Transform::IDENTITY, Motion::still(), 1e-3)?;
    setup.bodies.push(Obstacle { name: "body".into(), collider });
    let pattern = Pattern::Jittered { amount: 0.2, seed: dice.below(1 << 20) as u64 };
    let loose = between(dice, 0.005, 0.015);
    let tube = shapes::tube(radius + loose, radius + loose, 0.15, 40, 11, pattern)?;
    // So far aside that it is 2 cm inside, and a little askew.
    let angle = std::f64::consts::TAU * dice.unit();
    let aside = DVec3::new(libm::cos(angle), 0.0, libm::sin(angle)) * (loose + 0.02);
    let turn = euler_degrees(DVec3::new(dice.signed(), 0.0, dice.signed()) * 3.0);
    setup.cloths.push(cloth("tube", tube, |p| turn * (p - DVec3::Y * 0.075) + aside)?);
    setup.cloths.push(clean(dice, DVec3::Y * 0.3)?);
    Ok(())
}

fn fold_through(dice: &mut Dice, setup: &mut Setup) -> Result<(), Unmade> {
    let (width, flat, round) = (between(dice, 0.1, 0.16), 0.16, between(dice, 0.015, 0.025));
    let flap = between(dice, 0.09, 0.12);
    let bend = std::f64::consts::PI * round;
    let shape = sheet(flat + bend + flap, width, 0.01, dice.below(1 << 20) as u64)?;
    // Down steeply enough that the end is below the flat part by 1 to 2.5 cm.
    let below = between(dice, 0.01, 0.025);
    let slope = libm::asin((2.0 * round + below) / flap);
    let skew = 0.1 * dice.signed();
    let half = 0.5 * (flat + bend + flap);
    let place = |p: DVec3| {
        let (u, v) = (p.x + half, p.z);
        if u < flat {
            return DVec3::new(u, 0.0, v);
        }
        let turn = ((u - flat) / round).min(std::f64::consts::PI);
        let on = DVec3::new(flat + round * libm::sin(turn), round * (1.0 - libm::cos(turn)), v);
        let rest = (u - flat - bend).max(0.0);
        // The slope begins gently.
        let down = slope * (rest / (0.3 * flap)).min(1.0);
        on + DVec3::new(-libm::cos(down) * rest, -libm::sin(down) * rest, skew * rest)
    };
    let held: Vec<u32> = (0..shape.positions.len() as u32)
        .filter(|i| {
            let p = shape.positions[*i as usize];
            p.x + half < 0.8 * flat && p.z.abs() > 0.5 * width - 1e-6 || p.x + half < 1e-6
        })
        .collect();
    setup.cloths.push(cloth("fold", shape, place)?);
    setup.pins.push(PinDown::fixed(0, held));
    setup.cloths.push(clean(dice, DVec3::new(0.08, 0.12, 0.0))?);
    Ok(())
}

fn sleeve(dice: &mut Dice, setup: &mut Setup) -> Result<(), Unmade> {
    let jitter = |dice: &mut Dice| Pattern::Jittered { amount: 0.2, seed: dice.below(1 << 20) as u64 };
    let (torso, arm) = (between(dice, 0.12, 0.15), between(dice, 0.03, 0.045));
    let pattern = jitter(dice);
    let shape = shapes::tube(torso, torso, 0.28, 44, 15, pattern)?;
    let upper = shape.group("upper").unwrap_or_default().to_vec();
    setup.cloths.push(cloth("torso", shape, |p| p - DVec3::Y * 0.14)?);
    setup.pins.push(PinDown::fixed(0, upper));
    let pattern = jitter(dice);
    let length = 0.15;
    let shape = shapes::tube(arm, arm, length, 16, 10, pattern)?;
    let inside = between(dice, 0.02, 0.05);
    let turn = euler_degrees(DVec3::new(0.0, 15.0 * dice.signed(), -90.0 + 15.0 * dice.signed()));
    let height = 0.05 * dice.signed();
    let outer = shape.group("upper").unwrap_or_default().to_vec();
    setup.cloths.push(cloth("sleeve", shape, |p| turn * p + DVec3::new(torso - inside, height, 0.0))?);
    setup.pins.push(PinDown::fixed(1, outer[..1].to_vec()));
    setup.cloths.push(clean(dice, DVec3::new(torso + 0.1, height + 0.2, 0.0))?);
    Ok(())
}

fn swapped(dice: &mut Dice, setup: &mut Setup) -> Result<(), Unmade> {
    let side = 0.24;
    let (depth, phase) = (between(dice, 0.01, 0.02), between(dice, -0.5, 0.5));
    let wave = |p: DVec3, turn: f64| libm::cos(std::f64::consts::PI * (p.x / side + turn * p.z / side));
    for (layer, name) in ["lining", "coat"].into_iter().enumerate() {
        let shape = sheet(side, side, 0.012, dice.below(1 << 20) as u64)?;
        let ends = ["left", "right"].iter().flat_map(|name| shape.group(name).unwrap_or_default().to_vec());
        let mut held: Vec<u32> = ends.collect();
        held.sort_unstable();
        let upper = layer == 1;
        // The coat is held 6 mm above the lining along two sides, and sags through it between them.
        let place = |p: DVec3| {
            let sag = depth * wave(p, phase * 0.3).max(-0.3);
            if upper { p + DVec3::Y * (0.006 - sag) } else { p }
        };
        let mut own = cloth(name, shape, place)?;
        own.layer = Some(layer as u32);
        setup.cloths.push(own);
        setup.pins.push(PinDown::fixed(layer, held));
    }
    let aside = 0.02 * dice.signed();
    setup.cloths.push(clean(dice, DVec3::new(aside, 0.06, 0.02))?);
    Ok(())
}

fn crossed_hem(dice: &mut Dice, setup: &mut Setup) -> Result<(), Unmade> {
    let (height, gap) = (0.2, between(dice, 0.01, 0.02));
    let (from, lean) = (between(dice, 0.1, 0.15), 0.2 * dice.signed());
    let narrow = between(dice, 0.7, 1.0);
    for (k, name) in ["front", "back"].into_iter().enumerate() {
        let width = if k == 0 { 0.2 * narrow } else { 0.2 };
        let shape = sheet(width, height, 0.011, dice.below(1 << 20) as u64)?;
        let held: Vec<u32> = (0..shape.positions.len() as u32)
            .filter(|i| shape.positions[*i as usize].z < -0.5 * height + 1e-6)
            .collect();
        let side = if k == 0 { 1.0 } else { -1.0 };
        // Each keeps to its side down to a line, and goes to the other below it.
        let place = |p: DVec3| {
            let down = p.z + 0.5 * height;
            let beyond = (down - from - lean * p.x).max(0.0) * 0.35;
            DVec3::new(
                p.x + 0.002 * side,
                -down,
                side * (gap * (1.0 - down / (from + 0.02)).max(0.15) - beyond),
            )
        };
        setup.cloths.push(cloth(name, shape, place)?);
        setup.pins.push(PinDown::fixed(k, held));
    }
    setup.cloths.push(clean(dice, DVec3::new(0.0, 0.05, 0.0))?);
    Ok(())
}

fn corner(dice: &mut Dice, setup: &mut Setup) -> Result<(), Unmade> {
    let shape = sheet(0.26, 0.26, 0.012, dice.below(1 << 20) as u64)?;
    let held = shape.group("border").unwrap_or_default().to_vec();
    setup.cloths.push(cloth("sheet", shape, |p| p)?);
    setup.pins.push(PinDown::fixed(0, held));
    let shape = sheet(0.12, 0.12, 0.01, dice.below(1 << 20) as u64)?;
    let depth = between(dice, 0.015, 0.035);
    let lean = between(dice, 30.0, 60.0);
    let around = euler_degrees(DVec3::Y * (360.0 * dice.unit()));
    // Turned so that a corner points down, its tip under the other sheet.
    let turn = around * euler_degrees(DVec3::Z * -lean) * euler_degrees(DVec3::Y * 45.0);
    let tip = turn * DVec3::new(0.06, 0.0, 0.06);
    let lowest = shape.positions.iter().fold(f64::INFINITY, |low, p| low.min((turn * *p).y));
    setup.cloths.push(cloth("flap", shape, |p| turn * p - DVec3::new(tip.x, lowest + depth, tip.z))?);
    setup.cloths.push(clean(dice, around * DVec3::new(0.05, 0.005, 0.06))?);
    Ok(())
}
