//! A square metre of cloth, held by one edge, falls for a second.

use toile::mesh::{Mesh, Pattern, shapes};
use toile::{Cloth, Fabric, PinDown, Probe, Setup, World};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sheet = shapes::sheet(1.0, 1.0, 20, 20, Pattern::Structured)?;
    let held = sheet.group("left").unwrap_or_default().to_vec();
    let mesh = Mesh::new(sheet.positions.len(), sheet.faces, sheet.rest)?;
    let cloth = Cloth::new("sheet", mesh, sheet.positions, Fabric::default());

    let mut world =
        World::new(Setup { cloths: vec![cloth], pins: vec![PinDown::fixed(0, held)], ..Setup::default() })?;

    for frame in 1..=60 {
        world.step(1.0 / 60.0, &mut Probe::default())?;
        if frame % 10 == 0 {
            let (_, centre, _) = world.momentum();
            let strain = world.strains(0).into_iter().fold(0.0, f64::max);
            println!(
                "{:.2} s  centre {:+.3} m  largest strain {:.2} %",
                world.time(),
                centre.y,
                100.0 * strain
            );
        }
    }
    println!("fingerprint {:016x}", world.fingerprint());
    Ok(())
}
