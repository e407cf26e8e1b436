//! What a world cannot be built from, all of it at once.

use super::{Anchor, Bending, Cloth, Criterion, Every, RestShape, Setup, Stretching, seam, within_reach};
use crate::contact::{ContactSettings, Friction};
use crate::error::{SetupError, SetupProblem};
use crate::forces::Brace;
use crate::mesh::{Closure, Levels};
use crate::solve::{Integrator, SolverSettings};

pub(crate) fn check(setup: &Setup) -> Result<(), SetupError> {
    let mut problems = Vec::new();
    if setup.cloths.is_empty() {
        problems.push(SetupProblem::NoCloth);
    }
    for (n, cloth) in setup.cloths.iter().enumerate() {
        let name = || cloth.name.clone();
        if setup.cloths[..n].iter().any(|other| other.name == cloth.name) {
            problems.push(SetupProblem::DuplicateName { cloth: name() });
        }
        let (vertices, positions) = (cloth.mesh.vertices(), cloth.positions.len());
        if vertices != positions {
            problems.push(SetupProblem::PositionCount { cloth: name(), vertices, positions });
        }
        if let Some(&vertex) = cloth.doubles.as_flattened().iter().find(|v| **v as usize >= vertices) {
            problems.push(SetupProblem::UnknownVertex { cloth: name(), vertex, vertices });
        }
        let bad = cloth.positions.iter().position(|p| !within_reach(*p));
        if let Some(vertex) = bad {
            let value = cloth.positions[vertex];
            problems.push(SetupProblem::BadPosition { cloth: name(), vertex, value });
        }
        if let Err(error) = cloth.fabric.check() {
            problems.push(SetupProblem::Fabric { cloth: name(), error });
        }
        if let RestShape::Angles(angles) = &cloth.rest_shape {
            let edges = cloth.mesh.edges().len();
            if angles.len() != edges || angles.iter().any(|a| !a.is_finite()) {
                let (what, limit) = ("number of rest angles", "one finite angle per edge of the mesh");
                problems.push(SetupProblem::OutOfRange { what, value: angles.len() as f64, limit });
            }
        }
        problems.extend(unfit(cloth, &setup.solver));
        problems.extend(unfit_refinement(cloth, &setup.contact));
        let vertices = cloth.mesh.vertices();
        for (vertex, value) in &cloth.braces.masses {
            if *vertex as usize >= vertices {
                problems.push(SetupProblem::UnknownVertex { cloth: name(), vertex: *vertex, vertices });
            }
            if !(*value > 0.0 && value.is_finite()) {
                let (what, value) = ("mass of a vertex [kg]", *value);
                problems.push(SetupProblem::OutOfRange { what, value, limit: "above 0" });
            }
        }
        for Brace { ends, rest_length, stiffness } in &cloth.braces.springs {
            if let Some(&vertex) = ends.iter().find(|v| **v as usize >= vertices) {
                problems.push(SetupProblem::UnknownVertex { cloth: name(), vertex, vertices });
            }
            for (what, value) in
                [("length of a brace [m]", *rest_length), ("stiffness of a brace [N/m]", *stiffness)]
            {
                if !(value > 0.0 && value.is_finite()) {
                    problems.push(SetupProblem::OutOfRange { what, value, limit: "above 0" });
                }
            }
        }
        if !cloth.velocity.is_finite() {
            let value = cloth.velocity.max_element();
            problems.push(SetupProblem::OutOfRange { what: "initial velocity", value, limit: "finite" });
        }
        if let Stretching::Coupled(options) = cloth.stretching {
            let value = options.alpha.unwrap_or(0.0);
            if !(-2.0..=2.0).contains(&value) {
                problems.push(SetupProblem::OutOfRange { what: "alpha", value, limit: "between -2 and 2" });
            }
        }
        for (what, value) in [
            ("air drag", cloth.air.drag),
            ("normal drag", cloth.air.normal),
            ("quadratic drag", cloth.air.quadratic),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                problems.push(SetupProblem::OutOfRange { what, value, limit: "0 or more" });
            }
        }
    }
    for pin in &setup.pins {
        let Some(cloth) = setup.cloths.get(pin.cloth) else {
            problems.push(SetupProblem::UnknownCloth { index: pin.cloth, cloths: setup.cloths.len() });
            continue;
        };
        if cloth.rigid {
            problems.push(SetupProblem::RigidPinned { cloth: cloth.name.clone() });
        }
        let vertices = cloth.mesh.vertices();
        if let Some(&vertex) = pin.vertices.iter().find(|v| **v as usize >= vertices) {
            problems.push(SetupProblem::UnknownVertex { cloth: cloth.name.clone(), vertex, vertices });
        }
    }
    for elastic in &setup.elastics {
        let other = match elastic.to {
            Anchor::Vertex(cloth, vertex) => Some((cloth, vertex)),
            Anchor::Place(..) => None,
        };
        for (index, vertex) in [Some(elastic.from), other].into_iter().flatten() {
            match setup.cloths.get(index) {
                None => problems.push(SetupProblem::UnknownCloth { index, cloths: setup.cloths.len() }),
                Some(cloth) if vertex as usize >= cloth.mesh.vertices() => {
                    let (cloth, vertices) = (cloth.name.clone(), cloth.mesh.vertices());
                    problems.push(SetupProblem::UnknownVertex { cloth, vertex, vertices });
                }
                Some(_) => {}
            }
        }
        if !(elastic.time > 0.0 && elastic.time.is_finite()) {
            let (what, value) = ("time constant of an elastic [s]", elastic.time);
            problems.push(SetupProblem::OutOfRange { what, value, limit: "above 0" });
        }
        if let Some(value) = elastic.carries.filter(|mass| !(*mass > 0.0 && mass.is_finite())) {
            let what = "mass that an elastic carries [kg]";
            problems.push(SetupProblem::OutOfRange { what, value, limit: "above 0" });
        }
    }
    problems.extend(seam::unfit(&setup.seams, &setup.cloths));
    problems.extend(unfit_contact(setup));
    if setup.substeps == 0 {
        problems.push(SetupProblem::OutOfRange { what: "substeps", value: 0.0, limit: "1 or more" });
    }
    if !setup.gravity.is_finite() || !setup.wind.velocity.is_finite() {
        let value = f64::NAN;
        problems.push(SetupProblem::OutOfRange { what: "gravity or wind", value, limit: "finite" });
    }
    let k02 = setup.solver.k02;
    if !(0.0..=1.0).contains(&k02.blend) {
        problems.push(SetupProblem::OutOfRange { what: "k02 blend", value: k02.blend, limit: "from 0 to 1" });
    }
    if !(k02.coefficient >= 0.0 && k02.coefficient.is_finite()) {
        let (what, value) = ("k02 damping coefficient", k02.coefficient);
        problems.push(SetupProblem::OutOfRange { what, value, limit: "0 or more" });
    }
    for (what, value) in [
        ("accuracy weight", setup.solver.accuracy.weight),
        ("Rosenbrock tolerance [m]", setup.solver.rosenbrock_tolerance),
    ] {
        if !(value > 0.0 && value.is_finite()) {
            problems.push(SetupProblem::OutOfRange { what, value, limit: "above 0" });
        }
    }
    if !setup.solver.is_sound() {
        let (value, limit) = (0.0, "bicg or bicgstab when the form is unsymmetric");
        problems.push(SetupProblem::OutOfRange { what: "solver method cg", value, limit });
    }
    if problems.is_empty() { Ok(()) } else { Err(SetupError { problems }) }
}

/// What of its refinement cannot be.
fn unfit_refinement(cloth: &Cloth, contact: &ContactSettings) -> Vec<SetupProblem> {
    let mut all = Vec::new();
    let Some(refine) = &cloth.refine else { return all };
    let mut refuse = |what, fix| {
        all.push(SetupProblem::Refinement { cloth: cloth.name.clone(), what, fix });
    };
    if cloth.is_solid() {
        refuse("a solid is no surface to refine".into(), "leave out `refine`");
    }
    let cracks = matches!(refine.closure, Closure::None | Closure::Midpoint);
    if cracks && contact.cloth && contact.guarantee {
        refuse(
            "vertices in the cracks between levels touch the cloth beside them".into(),
            "use closure = \"redgreen\", or turn off contact of cloth with cloth",
        );
    }
    if refine.every == Every::Frames(0) {
        refuse("it is looked at every 0 frames".into(), "use every = 1 or more");
    }
    let sound = match &refine.criterion {
        Criterion::Sizing(sizing) => sizing.check(),
        Criterion::Folds(folds) => folds.check(),
        Criterion::Paper(_) => Ok(()),
    };
    if let Err(error) = sound {
        refuse(error.to_string(), "use a value within the limit");
    }
    if matches!(refine.criterion, Criterion::Folds(_)) != (refine.closure == Closure::Halves) {
        refuse("folds go with halves, and halves with folds".into(), "use Refine::folds, or another closure");
    }
    if let Err(error) = Levels::check_most(refine.most) {
        refuse(error.to_string(), "use fewer levels");
    }
    all
}

/// What of its contact cannot be.
fn unfit_contact(setup: &Setup) -> Vec<SetupProblem> {
    let ContactSettings { gap, stiffness, penalty, gain, passes, friction, pairs, .. } = &setup.contact;
    let mut all = Vec::new();
    for (what, value) in [
        ("gap of contact [m]", *gap),
        ("stiffness of contact", *stiffness),
        ("penalty of contact [N/m]", *penalty),
        ("gain of contact", *gain),
        ("passes of contact", f64::from(*passes)),
    ] {
        if !(value > 0.0 && value.is_finite()) {
            all.push(SetupProblem::OutOfRange { what, value, limit: "above 0" });
        }
    }
    let names: Vec<&str> = setup.cloths.iter().map(|cloth| cloth.name.as_str()).collect();
    let names = [names, setup.bodies.iter().map(|body| body.name.as_str()).collect()].concat();
    let mut coulomb = |Friction { still, sliding }: Friction, between: &dyn Fn() -> String| {
        if !(sliding >= 0.0 && still >= sliding && still.is_finite()) {
            all.push(SetupProblem::Friction { between: between(), still, sliding });
        }
    };
    coulomb(friction[0], &|| "of cloth on cloth".into());
    coulomb(friction[1], &|| "of cloth on bodies".into());
    for (pair, friction) in pairs {
        let [Some(a), Some(b)] = pair.map(|k| names.get(k)) else { continue };
        coulomb(*friction, &|| format!("between `{a}` and `{b}`"));
    }
    for (pair, _) in pairs {
        match pair.map(|k| names.get(k)) {
            [Some(a), Some(b)] if pair.iter().all(|k| *k >= setup.cloths.len()) => {
                all.push(SetupProblem::TwoBodies { names: [a.to_string(), b.to_string()] });
            }
            [Some(_), Some(_)] => {}
            _ => all.push(SetupProblem::UnknownObject { pair: *pair, objects: names.len() }),
        }
    }
    all
}

/// Most vertices of a cloth whose whole inverse is kept: its square in numbers is 200 MB.
const WHOLE_INVERSE: usize = 5000;

/// What of `cloth` its integrator cannot step. K02 knows springs and the air (K02-1); a precomputed inverse needs
/// tangents that do not change (V00-12).
fn unfit(cloth: &Cloth, solver: &SolverSettings) -> Vec<SetupProblem> {
    let mut all = Vec::new();
    let integrator = solver.integrator;
    let mut refuse = |what, fix| {
        let (cloth, integrator) = (cloth.name.clone(), integrator.name());
        all.push(SetupProblem::Unfit { cloth, integrator, what, fix });
    };
    let constant = match integrator {
        Integrator::K02 => false,
        Integrator::Precomputed => true,
        _ => return all,
    };
    if !matches!(cloth.stretching, Stretching::Springs(_)) {
        refuse("a membrane", "use model = \"springs\", or integrator = \"bdf2\"");
    }
    if !constant && cloth.fabric.set.is_some() {
        refuse(
            "springs that are pulled out of shape",
            "leave out the fabric's set, or use integrator = \"bdf2\"",
        );
    }
    let fits = cloth.bending == Bending::None || constant && cloth.bending == Bending::Recon;
    if !fits && cloth.fabric.bending_stiffness() != [0.0; 4] {
        refuse("this model of bending", "use bending = \"none\", or integrator = \"bdf2\"");
    }
    if constant && solver.inverse_iterations == 0 && cloth.mesh.vertices() > WHOLE_INVERSE {
        refuse("more than 5000 vertices with a whole inverse", "use inverse_iterations = 8");
    }
    all
}
