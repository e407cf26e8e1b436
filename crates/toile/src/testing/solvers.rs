//! Every way of solving the linear systems.

use crate::solve::{Form, Integrator, Method, OperatorKind, PreconditionerKind, SolverSettings};

/// Every sound combination of form, method, operator and preconditioner at `tolerance`, with its name, in steps that
/// linearise once.
pub fn every_solver(tolerance: f64) -> Vec<(String, SolverSettings)> {
    let mut all = Vec::new();
    for &form in Form::ALL {
        for &method in Method::ALL {
            for &operator in OperatorKind::ALL {
                for &preconditioner in PreconditionerKind::ALL {
                    let settings = SolverSettings {
                        integrator: Integrator::LinearEuler,
                        form,
                        method,
                        operator,
                        preconditioner,
                        tolerance,
                        ..Default::default()
                    };
                    if settings.is_sound() {
                        let parts = [form.name(), method.name(), operator.name(), preconditioner.name()];
                        all.push((parts.join(" "), settings));
                    }
                }
            }
        }
    }
    all
}
