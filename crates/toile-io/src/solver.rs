//! A scene's solver, as the engine takes it.

use crate::scene::{Scene, schema};
use toile::solve::{
    Accuracy, Corrections, DrapeSettings, Form, Integrator, K02Settings, LambdaRhs, Method, NewtonSettings,
    OperatorKind, PositionCorrection, PreconditionerKind, SolverSettings, StrainLimit, jacobi,
};

/// Everything a scene says about stepping.
pub(crate) fn settings(scene: &Scene) -> SolverSettings {
    let solver = &scene.solver;
    let default = SolverSettings::default();
    SolverSettings {
        integrator: match solver.integrator {
            schema::Integrator::Bdf2 => Integrator::Bdf2,
            schema::Integrator::TrBdf2 => Integrator::TrBdf2,
            schema::Integrator::ImplicitEuler => Integrator::ImplicitEuler,
            schema::Integrator::LinearEuler => Integrator::LinearEuler,
            schema::Integrator::LambdaMidpoint => Integrator::LambdaMidpoint,
            schema::Integrator::QuasiStatic => Integrator::QuasiStatic,
            schema::Integrator::K02 => Integrator::K02,
            schema::Integrator::Precomputed => Integrator::Precomputed,
            schema::Integrator::Rosenbrock => Integrator::Rosenbrock,
            schema::Integrator::Hybrid => Integrator::Hybrid,
            schema::Integrator::Verlet => Integrator::Verlet,
            schema::Integrator::Heun => Integrator::Heun,
            schema::Integrator::Symplectic => Integrator::Symplectic,
            schema::Integrator::Literal => Integrator::Literal,
            schema::Integrator::Midpoint => Integrator::Midpoint,
            schema::Integrator::Rk4 => Integrator::Rk4,
        },
        lambda: solver.lambda,
        lambda_rhs: match solver.lambda_rhs {
            schema::LambdaRhs::Corrected => LambdaRhs::Corrected,
            schema::LambdaRhs::Printed => LambdaRhs::Printed,
        },
        newton: NewtonSettings {
            step: solver.newton_step,
            residual: solver.newton_residual,
            max_solves: solver.max_solves as usize,
        },
        drape: DrapeSettings {
            step: solver.drape_step,
            residual: solver.drape_residual,
            max_solves: solver.drape_solves as usize,
        },
        k02: k02(&solver.k02),
        inverse_iterations: solver.inverse_iterations as usize,
        rosenbrock_tolerance: solver.rosenbrock_tolerance,
        accuracy: accuracy(scene),
        error_limit: solver.error_limit.unwrap_or(f64::INFINITY),
        corrections: corrections(&solver.correct),
        form: match solver.form {
            schema::Form::Symmetric => Form::Symmetric,
            schema::Form::Mass => Form::Mass,
            schema::Form::Unsymmetric => Form::Unsymmetric,
        },
        method: match solver.method {
            schema::Method::Cg => Method::Cg,
            schema::Method::Bicg => Method::Bicg,
            schema::Method::Bicgstab => Method::Bicgstab,
        },
        operator: match solver.operator {
            schema::Operator::MatrixFree => OperatorKind::MatrixFree,
            schema::Operator::BlockSparse => OperatorKind::BlockSparse,
        },
        preconditioner: match solver.preconditioner {
            schema::Preconditioner::Cholesky => PreconditionerKind::Cholesky,
            schema::Preconditioner::BlockJacobi => PreconditionerKind::BlockJacobi,
            schema::Preconditioner::None => PreconditionerKind::None,
            schema::Preconditioner::Accuracy => PreconditionerKind::Accuracy,
        },
        tolerance: solver.tolerance,
        max_iterations: solver.max_iterations.map_or(default.max_iterations, |n| n as usize),
    }
}

fn corrections(correct: &schema::Correct) -> Corrections {
    Corrections {
        position: match correct.position {
            schema::PositionCorrection::Off => PositionCorrection::Off,
            schema::PositionCorrection::Paper => PositionCorrection::Paper,
            schema::PositionCorrection::Fixed => PositionCorrection::Fixed,
            schema::PositionCorrection::Relative => PositionCorrection::Relative,
        },
        threshold: correct.threshold,
        passes: correct.passes,
        kinematic: correct.kinematic,
        strain: match correct.strain {
            schema::StrainLimit::Off => StrainLimit::Off,
            schema::StrainLimit::Provot => StrainLimit::Provot,
            schema::StrainLimit::Strict => StrainLimit::Strict,
        },
        strain_limit: correct.strain_limit,
        damping_time: correct.damping_time.unwrap_or(f64::INFINITY),
    }
}

/// The box in metres, Y up.
fn accuracy(scene: &Scene) -> Accuracy {
    let Some(region) = &scene.solver.accuracy else { return Accuracy::default() };
    let (a, b) = (scene.axes.point_in(region.min.into()), scene.axes.point_in(region.max.into()));
    Accuracy { min: a.min(b), max: a.max(b), weight: region.weight }
}

/// Choices of the K02 solver.
fn k02(k02: &schema::K02) -> K02Settings {
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
