//! Constant curvature in every direction on every kind of mesh: what it costs when imposed, what it costs when
//! only the border is held and the inside may relax, and what simple hinges make of it.
//!
//! The imposed test alone blesses elements that relax to something softer; both must give ½ κᵀDκ per area.

use crate::material::PATTERNS;
use crate::session::{Chart, Curve, LabError, Session};
use crate::statics::{Statics, Symmetric};
use glam::{DVec2, DVec3};
use toile::Fabric;
use toile::drive::Motion;
use toile::forces::bending::recon::rest_angles;
use toile::forces::bending::{Clamp, DihedralHinge, LinearHinge, Recon, ReconOptions, Rigidity};
use toile::forces::{Membrane, Strain};
use toile::interaction::{Elements, ForceModel, Interactions, Law, Mix, Moment};
use toile::math::random;
use toile::mesh::{Mesh, Pattern, Shape, shapes};
use toile::testing::eigen::symmetric_eigenvalues;

/// Cells along a side of the square metre.
const CELLS: usize = 16;
/// Directions of curvature over a half turn.
const DIRECTIONS: usize = 16;
const SEEDS: u64 = 3;
/// Largest force left when a sheet counts as rolled up [N]; moments of D κ₀ = 1 to 5 N·m/m act on it.
const ROLLED: f64 = 1e-3;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let sheets = [
        ("isotropic", Rigidity::isotropic(1.0, 0.0)),
        ("isotropic, ν = 0.3", Rigidity::isotropic(1.0, 0.3)),
        ("4:1", Rigidity { warp: 4.0, weft: 1.0, coupling: 0.3, twist: 0.35 }),
    ];
    let mut rows = Vec::new();
    for (sheet, rigidity) in sheets {
        let mut worst = Patch::default();
        for (kind, shape) in meshes()? {
            let mesh = mesh(&shape)?;
            for k in 0..DIRECTIONS {
                let angle = direction(k);
                let found = patch(&mesh, &shape, rigidity, angle)?;
                worst.imposed = worst.imposed.max((found.imposed - 1.0).abs());
                worst.relaxed = worst.relaxed.max((found.relaxed - 1.0).abs());
                worst.left = worst.left.max(found.left);
                let Patch { imposed, relaxed, left } = found;
                rows.push(format!("{sheet},{kind},{},{imposed},{relaxed},{left}", angle.to_degrees()));
            }
        }
        session.at_most(format!("{sheet}: imposed curvature, energy off"), worst.imposed, "relative", 1e-6);
        session.at_most(format!("{sheet}: relaxed inside, energy off"), worst.relaxed, "relative", 1e-6);
        session.at_most(format!("{sheet}: force inside"), worst.left, "relative", 1e-9);
    }
    session.csv("patch", "sheet,mesh,direction [°],imposed,relaxed,force inside", &rows)?;
    zero_modes(session)?;
    rolling(session)?;
    bias(session)
}

fn direction(k: usize) -> f64 {
    k as f64 * std::f64::consts::PI / DIRECTIONS as f64
}

fn mesh(shape: &Shape) -> Result<Mesh, LabError> {
    Ok(Mesh::new(shape.positions.len(), shape.faces.clone(), shape.rest.clone())?)
}

/// Every pattern, irregular ones with several seeds, and meshes with slivers.
fn meshes() -> Result<Vec<(String, Shape)>, LabError> {
    let mut all = Vec::new();
    let mut add = |name: String, pattern| -> Result<Shape, LabError> {
        let shape = shapes::sheet(1.0, 1.0, CELLS, CELLS, pattern)?;
        all.push((name, shape.clone()));
        Ok(shape)
    };
    let mut spoilt = Vec::new();
    for (name, pattern) in PATTERNS {
        match pattern {
            Pattern::Jittered { amount, .. } => {
                for seed in 0..SEEDS {
                    add(format!("{name} {seed}"), Pattern::Jittered { amount, seed })?;
                }
            }
            Pattern::Delaunay { .. } => {
                for seed in 0..SEEDS {
                    let shape = add(format!("{name} {seed}"), Pattern::Delaunay { seed })?;
                    spoilt.push((format!("slivers {seed}"), slivers(shape, seed)?));
                }
            }
            _ => {
                add(name.to_string(), pattern)?;
            }
        }
    }
    all.extend(spoilt);
    Ok(all)
}

/// The sheet with every third interior vertex pushed until a face beside it has lost 98 % of its area.
fn slivers(mut shape: Shape, seed: u64) -> Result<Shape, LabError> {
    let border = mesh(&shape)?.border();
    let mut flat: Vec<DVec2> = shape.positions.iter().map(|p| DVec2::new(p.x, p.z)).collect();
    let doubled = |p: &[DVec2], f: &[u32; 3]| {
        let [a, b, c] = f.map(|i| p[i as usize]);
        (c - a).perp_dot(b - a)
    };
    for i in (0..flat.len() as u32).filter(|i| i % 3 == 0 && border.binary_search(i).is_err()) {
        let around: Vec<[u32; 3]> = shape.faces.iter().filter(|f| f.contains(&i)).copied().collect();
        let before: Vec<f64> = around.iter().map(|f| doubled(&flat, f)).collect();
        let (home, way) = (flat[i as usize], DVec2::from_angle(6.3 * random::unit(seed, u64::from(i))));
        let (mut near, mut far) = (0.0, 1.0);
        for _ in 0..50 {
            let middle = 0.5 * (near + far);
            flat[i as usize] = home + way * middle;
            let open = around.iter().zip(&before).all(|(f, area)| doubled(&flat, f) > 0.02 * area);
            if open { near = middle } else { far = middle }
        }
        flat[i as usize] = home + way * near;
    }
    shape.positions = flat.iter().map(|p| DVec3::new(p.x, 0.0, p.y)).collect();
    shape.rest = shape.faces.iter().map(|f| f.map(|i| flat[i as usize])).collect();
    Ok(shape)
}

/// Energy over ½ κᵀDκ A with the parabola imposed and relaxed, and the largest force on an interior particle
/// of the imposed parabola over the largest single term in it.
#[derive(Default)]
struct Patch {
    imposed: f64,
    relaxed: f64,
    left: f64,
}

/// Unit curvature along `angle`. Heights w and slopes s of the clamps enter E = ½ wᵀKw − fᵀw + E₀ exactly: f and E₀
/// are the force and energy of flat cloth between tilted clamps, whose angles are the slopes themselves.
fn patch(mesh: &Mesh, shape: &Shape, rigidity: Rigidity, angle: f64) -> Result<Patch, LabError> {
    let along = DVec3::new(angle.cos(), 0.0, angle.sin());
    let flat = &shape.positions;
    // Centred, so that slopes stay below a right angle.
    let centre = DVec3::new(0.5, 0.0, 0.5);
    let reach = |p: DVec3| (p - centre).dot(along);
    let mut clamps = Vec::new();
    for edge in mesh.edges().iter().filter(|e| e.is_border()) {
        let [c, d] = edge.ends.map(|i| flat[i as usize]);
        let apex = flat[mesh.faces()[edge.faces[0] as usize][mesh.apex(edge.faces[0], edge)] as usize];
        let side = (d - c).normalize();
        let inward = (apex - c - side * (apex - c).dot(side)).normalize();
        let (s, c) = (reach(0.5 * (c + d)) * inward.dot(along)).sin_cos();
        clamps.push(Clamp { edge: edge.ends, direction: inward * c + DVec3::Y * s, motion: Motion::still() });
    }
    let bending = Recon::new(mesh, rigidity, &ReconOptions { clamps, ..ReconOptions::default() });
    let n = flat.len();
    let mut load = vec![DVec3::ZERO; n];
    let mut answer = Interactions::default();
    bending.respond(Moment::new(flat, &vec![DVec3::ZERO; n]), Mix::NONE, &[], &mut answer);
    bending.coupling().scatter(&answer.force, &mut load);
    let tilted = bending.energy(flat);
    let k = bending.stiffness();
    let energy = |w: &[f64]| {
        let pull: f64 = (0..n).map(|i| load[i].y * w[i]).sum();
        let bent: f64 = (0..n).map(|i| w[i] * k.row(i).map(|(j, v)| v * w[j]).sum::<f64>()).sum();
        0.5 * bent - pull + tilted
    };
    let exact = 0.5 * rigidity.along(angle) * mesh.total_area();
    let mut w: Vec<f64> = flat.iter().map(|p| 0.5 * reach(*p) * reach(*p)).collect();
    let imposed = energy(&w) / exact;
    let border = mesh.border();
    let inside: Vec<usize> = (0..n).filter(|i| border.binary_search(&(*i as u32)).is_err()).collect();
    let mut number = vec![None; n];
    inside.iter().enumerate().for_each(|(m, i)| number[*i] = Some(m));
    let mut matrix = Symmetric::new(inside.len());
    let mut right = Vec::new();
    let (mut left, mut terms) = (0.0f64, 0.0f64);
    for (m, &i) in inside.iter().enumerate() {
        k.row(i).for_each(|(j, v)| {
            if let Some(column) = number[j] {
                matrix.add(m, column, v)
            }
        });
        let force = load[i].y - k.row(i).map(|(j, v)| v * w[j]).sum::<f64>();
        left = left.max(force.abs());
        terms = k.row(i).map(|(j, v)| (v * w[j]).abs()).fold(terms, f64::max);
        right.push(force);
    }
    for (step, &i) in matrix.solve(&right)?.iter().zip(&inside) {
        w[i] += step;
    }
    // A kick from elsewhere: the relaxed state must come back to the same place.
    let kicked: Vec<f64> = inside.iter().map(|i| random::signed(77, *i as u64)).collect();
    for (kick, &i) in kicked.iter().zip(&inside) {
        w[i] += kick;
    }
    let right: Vec<f64> =
        inside.iter().map(|&i| load[i].y - k.row(i).map(|(j, v)| v * w[j]).sum::<f64>()).collect();
    for (step, &i) in matrix.solve(&right)?.iter().zip(&inside) {
        w[i] += step;
    }
    Ok(Patch { imposed, relaxed: energy(&w) / exact, left: left / terms })
}

/// Rigid motions are the only ones that cost nothing: the third eigenvalue vanishes, the fourth does not.
fn zero_modes(session: &mut Session) -> Result<(), LabError> {
    let (mut zero, mut next) = (0.0f64, f64::INFINITY);
    for (_, pattern) in PATTERNS {
        let shape = shapes::sheet(1.0, 1.0, 6, 6, pattern)?;
        for shape in [shape.clone(), slivers(shape, 1)?] {
            let bending = Recon::new(&mesh(&shape)?, Rigidity::isotropic(1.0, 0.3), &ReconOptions::default());
            let n = shape.positions.len();
            let mut dense = vec![vec![0.0; n]; n];
            for i in 0..n {
                bending.stiffness().row(i).for_each(|(j, value)| dense[i][j] = value);
            }
            let values = symmetric_eigenvalues(&dense);
            zero = zero.max(values[2].abs().max(values[0].abs()) / values[n - 1]);
            // The softest bending mode costs about D/area whatever the mesh.
            next = next.min(values[3]);
        }
    }
    session.at_most("free sheet: three zero modes", zero, "of the largest", 1e-12);
    session.at_least("free sheet: fourth eigenvalue", next, "D/m²", 1e-2);
    Ok(())
}

/// A free sheet whose rest shape is a cylinder rolls up to it, if the membrane does not stand in the way.
fn rolling(session: &mut Session) -> Result<(), LabError> {
    let cells = 12;
    let h = 1.0 / cells as f64;
    let mut rows = Vec::new();
    for (name, pattern) in PATTERNS {
        let shape = shapes::sheet(1.0, 1.0, cells, cells, pattern)?;
        let mesh = mesh(&shape)?;
        let mut roll = |stiffness: f64, turn: f64, degrees: f64| -> Result<f64, LabError> {
            let (got, steps) = rolled(&mesh, &shape, turn / h, degrees.to_radians(), stiffness / (h * h))?;
            rows.push(format!("{name},{stiffness},{turn},{degrees},{got},{steps}"));
            Ok(got)
        };
        let mut least = f64::INFINITY;
        for turn in [0.1, 0.2, 0.4] {
            for degrees in [0.0, 22.5, 45.0, -45.0] {
                least = least.min(roll(2500.0, turn, degrees)?);
            }
        }
        let figure = format!("rolling, {name}: least κ/κ₀ at Yh²/D = 2500");
        if pattern == Pattern::Alternating {
            session.info(figure, least, "");
            for stiffness in [1e3, 1e4] {
                let got = roll(stiffness, 0.2, 45.0)?;
                session.info(format!("rolling, {name}: κ/κ₀ at 45°, κh = 0.2, Yh²/D = {stiffness}"), got, "");
            }
        } else {
            session.at_least(figure, least, "", 0.97);
        }
    }
    session.csv("rolling", "mesh,Yh²/D,κh,direction [°],κ/κ₀,steps", &rows)
}

/// Curvature reached over curvature wanted, and Newton steps; D = 1 N·m.
fn rolled(
    mesh: &Mesh,
    shape: &Shape,
    curvature: f64,
    angle: f64,
    young: f64,
) -> Result<(f64, f64), LabError> {
    let along = DVec3::new(angle.cos(), 0.0, angle.sin());
    let reach = |p: DVec3| (p - DVec3::new(0.5, 0.0, 0.5)).dot(along);
    // Angles of a shallow parabola, scaled up: what constant curvature means across each edge.
    let shallow = 1e-5;
    let dish: Vec<DVec3> =
        shape.positions.iter().map(|p| *p + DVec3::Y * (0.5 * shallow * reach(*p) * reach(*p))).collect();
    let wanted: Vec<f64> = rest_angles(mesh, &dish).iter().map(|a| a * curvature / shallow).collect();
    let cylinder: Vec<DVec3> = shape
        .positions
        .iter()
        .map(|p| {
            let (s, c) = (curvature * reach(*p)).sin_cos();
            *p + along * (s / curvature - reach(*p)) + DVec3::Y * ((1.0 - c) / curvature)
        })
        .collect();
    let options = ReconOptions { rest_angles: wanted.clone(), ..ReconOptions::default() };
    let rigidity = Rigidity::isotropic(1.0, 0.0);
    let fabric = Fabric::isotropic(1.0, young, 0.0, 0.0);
    let statics = Statics {
        forces: vec![
            Box::new(Membrane::elements(mesh, &fabric, Strain::Green)),
            Box::new(Recon::new(mesh, rigidity, &options)),
        ],
        load: vec![DVec3::ZERO; shape.positions.len()],
        held: vec![[false; 3]; shape.positions.len()],
        tether: 1e-6,
    };
    let end = statics.solve(&cylinder, ROLLED, 300)?;
    // ⟨θ, Sθ₀⟩/⟨θ₀, Sθ₀⟩ by polarisation: E(θ − θ₀), E(θ) and E(−θ₀).
    let rolling = Recon::new(mesh, rigidity, &options);
    let plain = Recon::new(mesh, rigidity, &ReconOptions::default());
    let rest = rolling.energy(&shape.positions);
    let both = rolling.energy(&end.x);
    if end.residual > ROLLED {
        return Err(LabError(format!("rolling stopped with {:e} N unbalanced", end.residual)));
    }
    Ok(((plain.energy(&end.x) + rest - both) / (2.0 * rest), end.steps as f64))
}

/// What hinges make of constant curvature, by direction: energy of the edges in the middle over their share of the
/// true one, imposed and with all but two border rings relaxed.
fn bias(session: &mut Session) -> Result<(), LabError> {
    let fabric = Fabric::isotropic(1.0, 1.0, 0.0, 1.0);
    let (mut rows, mut curves) = (Vec::new(), Vec::new());
    for (name, pattern) in PATTERNS {
        let shape = shapes::sheet(1.0, 1.0, CELLS, CELLS, pattern)?;
        let mesh = mesh(&shape)?;
        let linear = LinearHinge::elements(&mesh, &fabric);
        let dihedral = DihedralHinge::elements(&mesh, &fabric);
        let (mut least, mut most, mut apart) = (f64::INFINITY, 0.0f64, 0.0f64);
        let mut points = Vec::new();
        for k in 0..=DIRECTIONS {
            let angle = direction(k);
            let found = hinge_bias(&mesh, &shape, &linear, &dihedral, angle)?;
            let [imposed, relaxed, angles] = found;
            rows.push(format!("{name},{},{imposed},{relaxed},{angles}", angle.to_degrees()));
            points.push((angle.to_degrees(), imposed));
            (least, most) = (least.min(imposed), most.max(imposed));
            apart = apart.max((angles / imposed - 1.0).abs());
        }
        session.info(format!("linear hinge, {name}: softest direction"), least, "× D");
        session.info(format!("linear hinge, {name}: stiffest direction"), most, "× D");
        session.at_most(format!("angle hinge, {name}: off the linear one"), apart, "relative", 1e-6);
        curves.push(Curve { name: name.to_string(), points });
    }
    curves.push(Curve { name: "recon".into(), points: vec![(0.0, 1.0), (180.0, 1.0)] });
    session.csv("bias", "mesh,direction [°],linear imposed,linear relaxed,angle imposed", &rows)?;
    session.plot(
        "bias",
        Chart {
            title: "Bending stiffness of hinges by direction".into(),
            x: "direction of curvature [°]".into(),
            y: "stiffness over D".into(),
            log: (false, false),
            curves,
        },
    )
}

fn hinge_bias(
    mesh: &Mesh,
    shape: &Shape,
    linear: &Elements<4, 1, LinearHinge>,
    dihedral: &Elements<4, 3, DihedralHinge>,
    angle: f64,
) -> Result<[f64; 3], LabError> {
    let along = DVec3::new(angle.cos(), 0.0, angle.sin());
    let curvature = 1e-4;
    let bent: Vec<DVec3> = shape
        .positions
        .iter()
        .map(|p| *p + DVec3::Y * (0.5 * curvature * p.dot(along) * p.dot(along)))
        .collect();
    let hinges: Vec<_> = mesh.edges().iter().filter(|e| !e.is_border()).collect();
    let middle = |e: usize| {
        let m =
            0.5 * hinges[e].ends.map(|i| shape.positions[i as usize]).iter().fold(DVec3::ZERO, |s, p| s + *p);
        (m.x - 0.5).abs() < 0.25 && (m.z - 0.5).abs() < 0.25
    };
    let chosen: Vec<usize> = (0..hinges.len()).filter(|e| middle(*e)).collect();
    // Every edge stands for a third of the faces beside it.
    let area: f64 = chosen
        .iter()
        .map(|e| hinges[*e].faces.iter().map(|f| mesh.area()[*f as usize]).sum::<f64>() / 3.0)
        .sum();
    let exact = 0.5 * curvature * curvature * area;
    let imposed = share(linear, &chosen, &bent) / exact;
    let angles = share(dihedral, &chosen, &bent) / exact;
    // Hold the border and its neighbours, which together fix heights and slopes; relax the rest.
    let border = mesh.border();
    let mut held = vec![false; bent.len()];
    for face in mesh.faces() {
        if face.iter().any(|i| border.binary_search(i).is_ok()) {
            face.iter().for_each(|i| held[*i as usize] = true);
        }
    }
    let law: Elements<4, 1, LinearHinge> =
        LinearHinge::elements(mesh, &Fabric::isotropic(1.0, 1.0, 0.0, 1.0));
    let statics = Statics {
        forces: vec![Box::new(law)],
        load: vec![DVec3::ZERO; bent.len()],
        held: held.iter().map(|h| [true, *h, true]).collect(),
        tether: 0.0,
    };
    let relaxed = statics.solve(&bent, 0.0, 2)?;
    Ok([imposed, share(linear, &chosen, &relaxed.x) / exact, angles])
}

/// Energy of the chosen elements.
fn share<const P: usize, const G: usize, L: Law<P, G>>(
    elements: &Elements<P, G, L>,
    chosen: &[usize],
    x: &[DVec3],
) -> f64 {
    let still = vec![DVec3::ZERO; x.len()];
    let at = Moment::new(x, &still);
    debug_assert!(elements.stencil().len() >= chosen.len());
    chosen.iter().map(|&e| elements.law.respond(e, &elements.sample(e, at)).energy).sum()
}
