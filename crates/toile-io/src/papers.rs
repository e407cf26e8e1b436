//! Options of the papers' solvers, as the engine takes them.

use crate::scene::{Scene, schema};
use toile::solve::{Accuracy, K02Settings, jacobi};

/// The box in metres, Y up.
pub(crate) fn accuracy(scene: &Scene) -> Accuracy {
    let Some(region) = &scene.solver.accuracy else { return Accuracy::default() };
    let (a, b) = (scene.axes.point_in(region.min.into()), scene.axes.point_in(region.max.into()));
    Accuracy { min: a.min(b), max: a.max(b), weight: region.weight }
}

/// Choices of the K02 solver.
pub(crate) fn k02(k02: &schema::K02) -> K02Settings {
    K02Settings {
        iterations: k02.iterations,
        parity: match k02.parity {
            schema::K02Parity::Odd => jacobi::Parity::Odd,
            schema::K02Parity::Free => jacobi::Parity::Free,
        },
        jacobian: match k02.jacobian {
            schema::K02Jacobian::Safe => jacobi::Jacobian::Safe,
            schema::K02Jacobian::Rank1 => jacobi::Jacobian::Rank1,
            schema::K02Jacobian::Exact => jacobi::Jacobian::Exact,
            schema::K02Jacobian::Blend => jacobi::Jacobian::Blend,
            schema::K02Jacobian::Scalar => jacobi::Jacobian::Scalar,
        },
        blend: k02.blend,
        damping: match k02.damping {
            schema::K02Damping::None => jacobi::Damping::None,
            schema::K02Damping::ModelA => jacobi::Damping::ModelA,
            schema::K02Damping::ModelB => jacobi::Damping::ModelB,
        },
        damping_form: match k02.damping_form {
            schema::K02DampingForm::Consistent => jacobi::DampingForm::Consistent,
            schema::K02DampingForm::Paper => jacobi::DampingForm::Paper,
        },
        coefficient: k02.coefficient,
    }
}
