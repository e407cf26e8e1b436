//! What of a scene is a paper's way and not ours: results say it, because they are not the default's.

use super::Scene;
use super::schema::*;

impl Scene {
    /// A line for each way of a paper that the scene takes, with its source and what to expect of it; empty for the
    /// default's.
    pub fn paper_modes(&self) -> Vec<String> {
        let Solver { integrator, lambda_rhs, preconditioner, k02, correct, .. } = &self.solver;
        let mut all = Vec::new();
        let mut say = |path: &str, value: &str, what: &str| all.push(format!("{path} = \"{value}\": {what}"));
        let step = match integrator {
            Integrator::LinearEuler => Some(("linear-euler", "V00 eq. 1–3, one linearisation per step")),
            Integrator::LambdaMidpoint => {
                Some(("lambda-midpoint", "V00 eq. 13–15, one linearisation per step"))
            }
            Integrator::K02 => Some(("k02", "K02, sweeps of block Jacobi on one linearisation: sluggish")),
            Integrator::Precomputed => Some(("precomputed", "V00 §2.5, constant derivatives: over-damped")),
            Integrator::Verlet => Some(("verlet", "B14 eq. 9–10 read as velocity Verlet")),
            Integrator::Heun => Some(("heun", "B14 eq. 9–10 read as the textbook's modified Euler")),
            Integrator::Symplectic => Some(("symplectic", "B14 eq. 9–10 without the factor ½")),
            Integrator::Literal => Some(("literal", "B14 eq. 9–10 as printed: forces count half")),
            Integrator::Midpoint => Some(("midpoint", "V97's predecessor")),
            Integrator::Rk4 => Some(("rk4", "V97 §2.3")),
            _ => None,
        };
        if let Some((name, what)) = step {
            say("solver.integrator", name, what);
        }
        if *integrator == Integrator::LambdaMidpoint && *lambda_rhs == LambdaRhs::Printed {
            say("solver.lambda_rhs", "printed", "V00 eq. 15 as printed: damps like λ = 0");
        }
        if *preconditioner == Preconditioner::Accuracy {
            say("solver.preconditioner", "accuracy", "V00 §2.5");
        }
        if *integrator == Integrator::K02 {
            if k02.jacobian == K02Jacobian::Rank1 {
                say("solver.k02.jacobian", "rank1", "K02 eq. 11 as printed");
            }
            if k02.damping_form == K02DampingForm::Paper && k02.damping != K02Damping::None {
                say("solver.k02.damping_form", "paper", "K02 eq. 22–25 as printed: acts as inertia");
            }
            if k02.parity == K02Parity::Free && k02.iterations % 2 == 0 {
                say("solver.k02.parity", "free", "an even number of sweeps, which can grow");
            }
        }
        if correct.position == PositionCorrection::Paper {
            say("solver.correct.position", "paper", "B14's position correction as printed");
        }
        let response = match self.contact.response {
            _ if self.contact.is_off() => None,
            toile::Response::Gauge => None,
            toile::Response::Constraint => Some("V00-18 and V00-19, contacts as constraints of two steps"),
            toile::Response::Correction => Some("V97-11, positions and velocities corrected at once"),
            toile::Response::Projection => Some("B14-11, projection onto bodies; cloth does not meet cloth"),
            toile::Response::Penalty => Some("springs, which V00 §3.1 rejects"),
            toile::Response::None => Some("nothing pushes surfaces apart"),
        };
        if let Some(what) = response {
            say("contact.response", self.contact.response.name(), what);
        }
        if self.contact.vertices_only && !self.contact.is_off() {
            say("contact.vertices_only", "true", "as systems before M03: blind where edges cross");
        }
        if !self.contact.guarantee && !self.contact.is_off() {
            say("contact.guarantee", "false", "cloth may pass through cloth and bodies");
        }
        for cloth in &self.cloths {
            let path = format!("cloth {}: model", cloth.name);
            match cloth.model {
                Model::Membrane => {}
                Model::Springs => say(&path, "springs", "springs along edges depend on the mesh"),
                Model::Coupled if cloth.coupled.symmetric => say(&path, "coupled", "V97's triangles"),
                Model::Coupled => {
                    say(&path, "coupled", "V97's triangles as printed: they pump or drain energy")
                }
            }
        }
        all
    }
}
