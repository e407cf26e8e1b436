//! What holds a vertex, in newtons and in a sentence.

use super::Live;
use crate::protocol::Explanation;
use toile::math::DVec3;

pub fn explain(live: &Live, object: u32, vertex: u32) -> Result<Explanation, String> {
    let (cloth, name) = live.cloth(object)?;
    let world = live.world();
    let account = world.account(cloth, vertex).map_err(|error| error.to_string())?;
    let (strain, stress) = world.tension(cloth, vertex);
    let held = live.hands.values().any(|hand| hand.holds(object, vertex));
    let called = |source: &'static str| match source {
        "elastic" if held => "hand",
        other => other,
    };
    // What no vertex of this world can feel is not worth a row.
    let forces: Vec<(&str, DVec3)> = account
        .forces
        .iter()
        .filter(|(source, force)| {
            *force != DVec3::ZERO || matches!(*source, "stretch" | "gravity" | "contact")
        })
        .map(|(source, force)| (called(source), *force))
        .collect();
    Ok(Explanation {
        object,
        vertex,
        tick: live.tick(),
        place: account.place.to_array(),
        velocity: account.velocity.to_array(),
        mass: account.mass,
        inertia: account.inertia.to_array(),
        residual: account.residual().to_array(),
        strain,
        stress,
        sentence: sentence(
            &name,
            vertex,
            &forces,
            account.velocity,
            world.let_through().contains(&[cloth as u32, vertex]),
        ),
        forces: forces.iter().map(|(source, force)| (source.to_string(), force.to_array())).collect(),
    })
}

/// Who carries it, in words.
fn sentence(name: &str, vertex: u32, forces: &[(&str, DVec3)], velocity: DVec3, pinched: bool) -> String {
    let of = |source: &str| forces.iter().find(|(s, _)| *s == source).map_or(DVec3::ZERO, |(_, f)| *f);
    let subject = format!("Vertex {vertex} of {name}");
    let weight = of("gravity").length();
    let speed = velocity.length();
    let motion =
        if speed < 1e-3 { "is at rest".to_string() } else { format!("moves at {}", metric(speed, "m/s")) };
    if pinched {
        return format!("{subject} {motion}: it is pinched, and bodies are let through it until it is free.");
    }
    let held = of("pin");
    if held.length() > 1e-12 {
        return format!("{subject} is held by a pin, which pulls at it with {}.", metric(held.length(), "N"));
    }
    let hand = of("hand");
    if hand.length() > 0.5 * weight {
        return format!("{subject} {motion}: a hand pulls at it with {}.", metric(hand.length(), "N"));
    }
    let others: Vec<&(&str, DVec3)> = forces.iter().filter(|(s, _)| *s != "gravity").collect();
    let up = if weight > 0.0 { -of("gravity") / weight } else { DVec3::ZERO };
    let lift = |force: DVec3| if weight > 0.0 { force.dot(up) } else { force.length() };
    let best = others.iter().max_by(|a, b| lift(a.1).total_cmp(&lift(b.1)));
    let Some((source, force)) = best.filter(|(_, force)| lift(*force) > 0.2 * weight) else {
        return match weight > 0.0 {
            true => format!("{subject} {motion}: next to nothing carries it, it falls."),
            false => format!("{subject} {motion}: next to nothing acts on it."),
        };
    };
    let what = match *source {
        "contact" => "what it lies on or leans against pushes it",
        "friction" => "friction holds it",
        "stretch" => "the cloth around it pulls it",
        "shear" => "the cloth around it resists shear and pulls it",
        "bend" => "the stiffness of the fold it is in carries it",
        "wind" | "drag" => "the air carries it",
        "filter" => "the guarantee kept it from passing through something",
        _ => "an elastic draws it",
    };
    let share = if weight > 0.0 {
        format!(" with {:.0} % of its weight upwards", 100.0 * lift(*force) / weight)
    } else {
        format!(" with {}", metric(force.length(), "N"))
    };
    format!("{subject} {motion}: {what}{share}.")
}

/// A value with three digits and a prefix.
fn metric(value: f64, unit: &str) -> String {
    let (factor, prefix) = match value.abs() {
        v if v >= 1.0 => (1.0, ""),
        v if v >= 1e-3 => (1e3, "m"),
        _ => (1e6, "µ"),
    };
    format!("{:.3} {prefix}{unit}", value * factor)
}
