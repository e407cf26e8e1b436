//! What a solver's table may still get wrong.

use super::Check;
use crate::scene::schema::*;

impl Check<'_> {
    pub(super) fn solver(&mut self, scene: &SceneFile) {
        let solver = &scene.solver;
        self.at_least_one("solver.substeps", solver.substeps.unwrap_or(1));
        self.at_least_one("solver.max_solves", solver.max_solves);
        self.at_least_one("solver.drape_solves", solver.drape_solves);
        self.above_zero("solver.newton_step", solver.newton_step, "m", "1e-4 is the default");
        self.above_zero("solver.newton_residual", solver.newton_residual, "m/s²", "0.1 is the default");
        self.above_zero("solver.drape_step", solver.drape_step, "s", "1 is the default");
        self.above_zero("solver.drape_residual", solver.drape_residual, "N", "1e-6 is the default");
        if !(0.0..=1.0).contains(&solver.lambda) {
            let what = format!("{} is not between 0 and 1", solver.lambda);
            self.fail("solver.lambda", what, "0.8 is V00's choice");
        }
        self.at_least_one("solver.max_iterations", solver.max_iterations.unwrap_or(1));
        self.above_zero("solver.tolerance", solver.tolerance, "", "1e-3 is the default, 1e-6 is strict");
        if solver.tolerance >= 1.0 {
            let what = format!(
                "is {}, it must be below 1: a particle's own weight would count as balanced",
                solver.tolerance
            );
            self.fail("solver.tolerance", what, "1e-3 is the default, 1e-6 is strict");
        }
        self.options(solver);
        self.corrections(solver);
        self.models(scene);
        if solver.form == Form::Unsymmetric && solver.method == Method::Cg {
            self.fail(
                "solver.form",
                "is \"unsymmetric\", which conjugate gradients cannot solve",
                "add method = \"bicgstab\", or use form = \"symmetric\"",
            );
        }
    }

    /// Options of single integrators.
    fn options(&mut self, solver: &Solver) {
        self.above_zero(
            "solver.rosenbrock_tolerance",
            solver.rosenbrock_tolerance,
            " m",
            "1e-5 is the default",
        );
        match (&solver.accuracy, solver.preconditioner) {
            (Some(region), _) => {
                self.above_zero("solver.accuracy.weight", region.weight, "", "10 is the default")
            }
            (None, Preconditioner::Accuracy) => {
                let help = "add accuracy = { min = [x, y, z], max = [x, y, z], weight = 10 }";
                self.fail("solver.preconditioner", "is \"accuracy\", but no accuracy is given", help);
            }
            _ => {}
        }
        let k02 = &solver.k02;
        if !(0.0..=1.0).contains(&k02.blend) {
            let what = format!("is {}, it must lie between 0 and 1", k02.blend);
            self.fail("solver.k02.blend", what, "0.1 is the default");
        }
        self.not_negative("solver.k02.coefficient", k02.coefficient, " N·s/m", "0 is no damping");
        if solver.integrator == Integrator::K02 && k02.damping == K02Damping::None && k02.coefficient > 0.0 {
            self.note(
                "solver.k02.coefficient",
                "has no effect with damping = \"none\"",
                "add damping = \"model-b\"",
            );
        }
    }

    /// What of the cloth the integrator cannot step.
    fn models(&mut self, scene: &SceneFile) {
        let name = match scene.solver.integrator {
            Integrator::K02 => "k02",
            Integrator::Precomputed => "precomputed",
            _ => return,
        };
        for (i, cloth) in scene.cloth.iter().enumerate() {
            if self.full() {
                break;
            }
            if cloth.model != Model::Springs {
                let model = format!("{:?}", cloth.model).to_lowercase();
                let what =
                    format!("is \"{model}\", which integrator = \"{name}\" cannot step: it knows springs");
                self.fail(
                    &format!("cloth.{i}.model"),
                    what,
                    "write model = \"springs\", or integrator = \"bdf2\"",
                );
            }
            let fits =
                cloth.bending == Bending::None || name == "precomputed" && cloth.bending == Bending::Recon;
            if !fits {
                let bending = format!("{:?}", cloth.bending).to_lowercase();
                let what = format!("is \"{bending}\", which integrator = \"{name}\" cannot step");
                self.fail(
                    &format!("cloth.{i}.bending"),
                    what,
                    "write bending = \"none\", or integrator = \"bdf2\"",
                );
            }
        }
    }

    fn corrections(&mut self, solver: &Solver) {
        let Correct { kinematic, position, threshold, passes, strain, strain_limit, damping_time } =
            &solver.correct;
        let explicit = solver.integrator.is_explicit();
        self.above_zero(
            "solver.error_limit",
            solver.error_limit.unwrap_or(1.0),
            " m",
            "1e-5 is a good start",
        );
        self.above_zero("solver.correct.threshold", *threshold, " m", "0.01 is the default");
        self.above_zero("solver.correct.strain_limit", *strain_limit, "", "0.1 is the default");
        self.above_zero(
            "solver.correct.damping_time",
            damping_time.unwrap_or(1.0),
            " s",
            "0.01 is a good start",
        );
        self.at_least_one("solver.correct.passes", *passes);
        if *kinematic && !explicit {
            let what = "is true, but only explicit steps know their error";
            self.fail("solver.correct.kinematic", what, "add integrator = \"rk4\", or remove it");
        }
        if solver.error_limit.is_some() && !explicit {
            let what = "has no effect with an implicit integrator";
            self.note("solver.error_limit", what, "add integrator = \"rk4\", or remove it");
        }
        if solver.integrator == Integrator::Literal {
            let what = "is \"literal\", B14 as printed: every force counts half, things fall at g/2";
            self.note("solver.integrator", what, "\"verlet\" is what B14 meant");
        }
        if *position == PositionCorrection::Paper {
            let what = "is \"paper\", B14 as printed: most velocities stay as if nothing had been corrected";
            self.note("solver.correct.position", what, "\"fixed\" corrects them too");
        }
        let limits_speed = matches!(position, PositionCorrection::Paper | PositionCorrection::Fixed);
        if limits_speed && *strain != StrainLimit::Off {
            let what = "acts before the limit of strain, which moves particles again";
            self.note("solver.correct.position", what, "keep one of the two");
        }
    }
}
