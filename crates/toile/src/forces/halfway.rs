//! Vertices half way between two others: the cracks between levels of detail, held shut (G-2).
//!
//! A gauge x − ½ a − ½ b with a stiffness far above inertia keeps the crack shut inside an implicit solve. What it leaves
//! open, [`close`] takes away after the step: then the vertex has no freedom of its own.

use crate::interaction::{Elements, Law, Outside, Response, Sample};
use crate::math::DVec3;
use crate::math::matrix::scaled_identity;

/// How much stronger than inertia the crack is held. More would only cost the solver iterations: [`close`] does the rest.
const FIRMNESS: f64 = 30.0;

/// The law of vertices half way.
pub struct Halfway {
    /// Mass that meets [kg]: 1/(1/m + ¼/m_a + ¼/m_b).
    masses: Vec<f64>,
    /// Length of the substep [s].
    dt: f64,
}

impl Halfway {
    /// Holds the first of each three half way between the others; `mass` [kg] is that of each particle.
    pub fn elements(threes: &[[u32; 3]], mass: &[f64]) -> Elements<3, 1, Halfway> {
        let meets = |three: &[u32; 3]| {
            let [m, a, b] = three.map(|v| 1.0 / mass[v as usize]);
            1.0 / (m + 0.25 * (a + b))
        };
        let law = Halfway { masses: threes.iter().map(meets).collect(), dt: 1.0 };
        Elements::new(mass.len(), threes, &vec![[[1.0, -0.5, -0.5]]; threes.len()], law)
    }
}

impl Law<3, 1> for Halfway {
    fn name(&self) -> &'static str {
        "cracks"
    }

    fn respond(&self, element: usize, at: &Sample<3, 1>) -> Response<1> {
        let stiffness = FIRMNESS * self.masses[element] / (self.dt * self.dt);
        Response {
            energy: 0.5 * stiffness * at.gauge[0].length_squared(),
            force: [at.gauge[0] * -stiffness],
            stiffness: [[scaled_identity(stiffness)]],
            ..Response::ZERO
        }
    }

    fn drive(&mut self, outside: &Outside) {
        // Looking ahead from the start of a step has a negative length.
        self.dt = outside.dt.abs().max(f64::MIN_POSITIVE);
    }
}

/// Puts the first of each three exactly half way between the others. `values` are positions or velocities; their sum by
/// `mass` stays what it is, but for what `project` takes away: changes that particles cannot follow.
///
/// What a vertex is off by goes to its ends by halves, on to theirs where they hang too, and is shared there with the mass
/// that hangs on them. Values that are half way already do not change, so rigid motion passes. Ends come before what hangs
/// between them in `threes`.
pub fn close(threes: &[[u32; 3]], mass: &[f64], project: impl Fn(&mut [DVec3]), values: &mut [DVec3]) {
    if threes.is_empty() {
        return;
    }
    // Where each hanging vertex would be by the free ones alone.
    let before = values.to_vec();
    let place = |values: &mut [DVec3]| {
        for [m, a, b] in threes.iter().map(|three| three.map(|v| v as usize)) {
            values[m] = 0.5 * (values[a] + values[b]);
        }
    };
    place(values);
    let mut hung: Vec<(f64, DVec3)> = vec![(0.0, DVec3::ZERO); values.len()];
    for [m, a, b] in threes.iter().rev().map(|three| three.map(|v| v as usize)) {
        let (carried, owed) = hung[m];
        let all = (0.5 * (carried + mass[m]), 0.5 * (owed + mass[m] * (before[m] - values[m])));
        hung[m] = (0.0, DVec3::ZERO);
        for end in [a, b] {
            hung[end] = (hung[end].0 + all.0, hung[end].1 + all.1);
        }
    }
    let mut gains: Vec<DVec3> = hung.iter().zip(mass).map(|((own, owed), m)| *owed / (m + own)).collect();
    project(&mut gains);
    values.iter_mut().zip(&gains).for_each(|(value, gain)| *value += *gain);
    place(values);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(mass: &[f64], values: &[DVec3]) -> DVec3 {
        mass.iter().zip(values).fold(DVec3::ZERO, |sum, (m, v)| sum + *m * *v)
    }

    #[test]
    fn cracks_close_exactly_and_keep_momentum() {
        // 3 hangs between 0 and 1, 4 between 0 and 3, 5 between 1 and 2.
        let threes = [[3, 0, 1], [4, 0, 3], [5, 1, 2]];
        let mass = [0.1, 0.2, 0.3, 0.05, 0.02, 0.4];
        let start = [1.0, -2.0, 0.5, 4.0, 0.3, -1.0].map(|x| DVec3::new(x, x * x, 1.0 - x));
        let mut values = start;
        close(&threes, &mass, |_| {}, &mut values);
        assert!((sum(&mass, &values) - sum(&mass, &start)).length() < 1e-15);
        for [m, a, b] in threes {
            assert_eq!(values[m as usize], 0.5 * (values[a as usize] + values[b as usize]));
        }
        let again = values;
        close(&threes, &mass, |_| {}, &mut values);
        assert_eq!(values, again, "what is closed stays");
        let mut values = start;
        close(&threes, &mass, |gains| gains[0] = DVec3::ZERO, &mut values);
        assert_eq!(values[0], start[0], "what is held stays");
    }
}
