//! From interactions to the next state: operators, linear solvers, integrators.

pub mod bodies;
pub mod correct;
pub mod explicit;
pub mod forms;
pub mod integrate;
pub mod inverse;
pub mod jacobi;
pub mod krylov;
pub mod linear;
pub mod multifrontal;
pub mod newton;
pub mod one_step;
pub mod operator;
pub mod precondition;
pub mod rosenbrock;
pub mod settings;
pub mod stability;

pub use bodies::{Bodies, Course, Place, families};
pub use correct::{Corrections, Link, Net, PositionCorrection, StrainLimit};
pub use forms::Form;
pub use integrate::{Ledger, Span, Stepper};
pub use jacobi::K02Settings;
pub use krylov::{End, Method, Outcome, Stop};
pub use multifrontal::{Factor, NotPositive, Precision, Symbolic};
pub use operator::{BlockOperator, LinearOperator, OperatorKind};
pub use precondition::{Accuracy, Preconditioner, PreconditionerKind};
pub use settings::{DrapeSettings, Integrator, LambdaRhs, NewtonSettings, SolverSettings};

/// Declares the choices of an option with the names that scene files and reports use.
macro_rules! named_choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }

        impl $name {
            /// Every choice.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Name in scene files and reports.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// The choice called `name`.
            pub fn from_name(name: &str) -> Option<$name> {
                Self::ALL.iter().copied().find(|choice| choice.name() == name)
            }
        }
    };
}
pub(crate) use named_choices;
