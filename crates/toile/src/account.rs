//! What acts on a particle: forces by source, and what they gave it in the last substep.

use crate::interaction::{Interactions, Mix, Moment};
use crate::math::{DMat3, DVec3};
use crate::solve::families;
use crate::step::Island;

/// Forces on one particle in the last substep, and what became of them. Before the first substep, and after a change of
/// what the world is made of, as the particle stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// Mass [kg].
    pub mass: f64,
    /// Where it is [m].
    pub place: DVec3,
    /// Its velocity [m/s].
    pub velocity: DVec3,
    /// Forces by source [N], each source once: `gravity`, `stretch`, `shear`, `bend`, `drag`, `wind`, `contact`,
    /// `friction`, `elastic`, `pin`, and `filter`, what the guarantee and corrections after the step did.
    pub forces: Vec<(&'static str, DVec3)>,
    /// Mass times acceleration over the substep [N].
    pub inertia: DVec3,
}

impl Account {
    /// What the forces leave unexplained [N]: what the solver left unbalanced. Schemes that do not solve for the forces at
    /// the end of a step leave more than that.
    pub fn residual(&self) -> DVec3 {
        self.inertia - self.forces.iter().fold(DVec3::ZERO, |sum, (_, force)| sum + *force)
    }

    fn add(&mut self, source: &'static str, force: DVec3) {
        match self.forces.iter_mut().find(|(name, _)| *name == source) {
            Some((_, sum)) => *sum += force,
            None => self.forces.push((source, force)),
        }
    }
}

/// What people call the forces of a family.
fn source(family: &'static str) -> &'static str {
    match family {
        "membrane" | "springs" | "coupled" => "stretch",
        "bending" => "bend",
        "air" => "drag",
        "attach" => "pin",
        other => other,
    }
}

impl Island {
    /// What acts on `particle`.
    pub fn account(&self, particle: usize) -> Account {
        let (model, n) = (&self.model, self.now.x.len());
        let (solved, ledger) = (self.solved(), self.ledger());
        let moved = solved.x.len() == n && ledger.a.len() == n;
        let (x, v, memory) = match moved {
            true => (&solved.x, &ledger.v, &self.before().memory),
            false => (&self.now.x, &self.now.v, &self.now.memory),
        };
        let mass = model.mass[particle];
        let (place, velocity) = (self.now.x[particle], self.now.v[particle]);
        let mut account = Account { mass, place, velocity, ..Account::default() };
        account.add("gravity", model.gravity * mass);
        let mut answer = Interactions::default();
        for (force, memory) in families(&model.forces, memory) {
            let at = Moment { x, v, memory };
            let scattered = |values: &[DVec3]| {
                let mut sum = vec![DVec3::ZERO; n];
                force.coupling().scatter(values, &mut sum);
                sum[particle]
            };
            force.respond(at, Mix::NONE, &[], &mut answer);
            let mut whole = scattered(&answer.force);
            if let Some((name, part)) = force.part(at) {
                let part = scattered(&part);
                account.add(name, part);
                whole -= part;
            }
            account.add(source(force.name()), whole);
        }
        let bound = self.bound(particle);
        let known = account.forces.iter().fold(DVec3::ZERO, |sum, (_, force)| sum + *force);
        let gained = if moved { ledger.a[particle] * mass } else { bound * known };
        account.add("pin", (DMat3::IDENTITY - bound) * (gained - known));
        if moved {
            account.add("filter", (velocity - solved.v[particle]) * (mass / solved.dt));
            account.inertia = gained + account.forces[account.forces.len() - 1].1;
        } else {
            account.inertia = gained;
        }
        account
    }
}
