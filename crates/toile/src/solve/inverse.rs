//! Steps with an inverse that is computed once (V00-12), whole or cut off (V00-13).
//!
//! With derivatives that are alike in all directions and do not change, κ I for a spring, the matrix of implicit Euler
//! H = M + h² K + h C is a constant table of single numbers, and so is its inverse (Desbrun, Schröder & Barr 1999). The
//! price is the over-damping of isotropic derivatives, and n² numbers. V00's remedy for the latter: K iterations of
//! conjugate gradients on each unit vector give a column that reaches K − 1 rings far, so storage and time grow with K².
//! Columns cut off like that are not quite symmetric; the mean with the transpose is.
//!
//! The inverse is made anew when the step, a mass or what is held changes. Springs and reconstructed bending enter it,
//! and soft pins and isotropic drag on its diagonal; the wind acts explicitly. Sliding particles are filtered before
//! and after, which is exact only for free and fixed ones.

use super::bodies::{Bodies, Course};
use super::integrate::Span;
use crate::interaction::{ConstantTangent, Coupling, Interactions, Mix, Moment};
use crate::math::{DMat3, DVec3, parallel};
use crate::probe::{Probe, Stage};
use crate::state::State;

/// Residual of a whole column, relative to the unit vector, at which conjugate gradients stop.
const EXACT: f64 = 1e-13;

/// An inverse of a symmetric positive matrix of single numbers: rows of (columns, entries).
#[derive(Clone, Debug, Default)]
pub struct Inverse {
    rows: Vec<Vec<(u32, f64)>>,
}

impl Inverse {
    /// The inverse of `matrix`, each column by at most `iterations` of conjugate gradients, or until it is exact for 0.
    pub fn new(matrix: &ConstantTangent, iterations: usize) -> Inverse {
        let n = matrix.start.len().saturating_sub(1);
        let mut rows = vec![Vec::new(); n];
        parallel::fill_heavy(&mut rows, |i| column(matrix, i, iterations));
        // The pattern is symmetric: j lies within K − 1 rings of i as i does of j.
        let entry = |i: usize, j: u32| match rows[i].binary_search_by_key(&j, |(k, _)| *k) {
            Ok(at) => rows[i][at].1,
            Err(_) => 0.0,
        };
        let mean = |i: usize, (j, value): &(u32, f64)| (*j, 0.5 * (value + entry(*j as usize, i as u32)));
        let mut even = vec![Vec::new(); n];
        parallel::fill_heavy(&mut even, |i| rows[i].iter().map(|e| mean(i, e)).collect());
        Inverse { rows: even }
    }

    /// `out` = H⁻¹ b.
    pub fn apply(&self, b: &[DVec3], out: &mut [DVec3]) {
        let rows = &self.rows;
        parallel::fill(out, |i| rows[i].iter().fold(DVec3::ZERO, |sum, (j, z)| sum + *z * b[*j as usize]));
    }

    /// Entries in all.
    pub fn entries(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }
}

/// Column `i` of the inverse: conjugate gradients on the unit vector, on the rings they can reach.
fn column(matrix: &ConstantTangent, i: usize, iterations: usize) -> Vec<(u32, f64)> {
    let n = matrix.start.len() - 1;
    let most = if iterations == 0 { 10 * n + 100 } else { iterations };
    let reached = rings(matrix, i, if iterations == 0 { n } else { iterations - 1 });
    // One more ring is touched by the last product, and read by nobody.
    let (mut x, mut r, mut t) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut ht = vec![0.0; reached.len()];
    (r[i], t[i]) = (1.0, 1.0);
    let mut alpha = 1.0;
    for _ in 0..most {
        let mut beta = 0.0;
        for (k, &row) in reached.iter().enumerate() {
            ht[k] = matrix.row(row as usize).fold(0.0, |sum, (j, h)| sum + h * t[j]);
            beta += t[row as usize] * ht[k];
        }
        if beta <= 0.0 {
            break;
        }
        let step = alpha / beta;
        let mut next = 0.0;
        for (k, &row) in reached.iter().enumerate() {
            let row = row as usize;
            x[row] += step * t[row];
            r[row] -= step * ht[k];
            next += r[row] * r[row];
        }
        if next <= EXACT * EXACT {
            break;
        }
        let turn = next / alpha;
        alpha = next;
        for &row in &reached {
            t[row as usize] = r[row as usize] + turn * t[row as usize];
        }
    }
    reached.iter().map(|&row| (row, x[row as usize])).collect()
}

/// What lies within `reach` rings of `i`, ascending.
fn rings(matrix: &ConstantTangent, i: usize, reach: usize) -> Vec<u32> {
    let mut seen = vec![false; matrix.start.len() - 1];
    seen[i] = true;
    let (mut all, mut edge) = (vec![i as u32], vec![i as u32]);
    for _ in 0..reach {
        let mut outer = Vec::new();
        for &p in &edge {
            for (j, value) in matrix.row(p as usize) {
                if value != 0.0 && !seen[j] {
                    seen[j] = true;
                    outer.push(j as u32);
                }
            }
        }
        if outer.is_empty() {
            break;
        }
        all.extend_from_slice(&outer);
        edge = outer;
    }
    all.sort_unstable();
    all
}

/// K and C of an island: isotropic stiffness [N/m] and damping [N·s/m] on one pattern.
#[derive(Clone, Debug, Default)]
pub struct Isotropic {
    /// K.
    pub stiffness: ConstantTangent,
    /// C, in the places of K.
    pub damping: Vec<f64>,
}

impl Isotropic {
    /// Springs as κ I, and families whose tangent is constant already.
    pub fn new(bodies: Bodies) -> Isotropic {
        let n = bodies.mass.len();
        let mut entries: Vec<(u32, u32, f64, f64)> = (0..n as u32).map(|i| (i, i, 0.0, 0.0)).collect();
        for force in bodies.forces {
            match (force.coupling(), force.springs()) {
                (Coupling::Elements(stencil), Some(springs)) => {
                    for (ends, k) in stencil.elements().zip(springs.stiffness) {
                        let (a, b, c) = (ends[0], ends[1], k * springs.viscosity);
                        entries.extend([(a, a, *k, c), (b, b, *k, c), (a, b, -k, -c), (b, a, -k, -c)]);
                    }
                }
                (Coupling::Constant(matrix), _) => {
                    let mut answer = Interactions::default();
                    let still = vec![DVec3::ZERO; n];
                    let mix = Mix { stiffness: 0.0, damping: 1.0, lag: 0.0 };
                    force.respond(Moment::new(bodies.start, &still), mix, &[], &mut answer);
                    entries.extend(matrix.entries().map(|(i, j, k)| (i, j, k, k * answer.scale)));
                }
                _ => {}
            }
        }
        entries.sort_by_key(|(i, j, ..)| (*i, *j));
        let mut all = Isotropic::default();
        all.stiffness.start.push(0);
        let mut last = None;
        for (i, j, k, c) in entries {
            if last == Some((i, j)) {
                if let (Some(value), Some(damping)) =
                    (all.stiffness.values.last_mut(), all.damping.last_mut())
                {
                    *value += k;
                    *damping += c;
                }
                continue;
            }
            if last.is_some_and(|(row, _)| row != i) {
                all.stiffness.start.push(all.stiffness.columns.len());
            }
            last = Some((i, j));
            all.stiffness.columns.push(j);
            all.stiffness.values.push(k);
            all.damping.push(c);
        }
        all.stiffness.start.push(all.stiffness.columns.len());
        all
    }

    /// H = diagonal + h² K + h C, with unit rows where `fixed` says so.
    pub fn matrix(&self, h: f64, diagonal: &[f64], fixed: &[bool]) -> ConstantTangent {
        let mut matrix = self.stiffness.clone();
        for i in 0..diagonal.len() {
            for k in matrix.start[i]..matrix.start[i + 1] {
                let j = matrix.columns[k] as usize;
                let own = if i == j { diagonal[i] } else { 0.0 };
                matrix.values[k] = match fixed[i] || fixed[j] {
                    true => f64::from(u8::from(i == j)),
                    false => own + h * h * matrix.values[k] + h * self.damping[k],
                };
            }
        }
        matrix
    }
}

/// The integrator, with the inverse it keeps.
#[derive(Default)]
pub struct InverseStep {
    isotropic: Option<Isotropic>,
    inverse: Inverse,
    /// What the inverse was made for: step, iterations, diagonal, and who is fixed.
    made_for: (f64, usize, Vec<f64>, Vec<bool>),
    answer: Interactions,
    impulse: Vec<DVec3>,
    change: Vec<DVec3>,
    led: Vec<DVec3>,
}

impl InverseStep {
    /// Computes `next` one substep after `now`.
    pub fn advance(
        &mut self,
        course: &mut dyn Course,
        span: Span,
        now: &State,
        next: &mut State,
        probe: &mut Probe,
    ) -> bool {
        let Span { settings, time, dt, .. } = span;
        course.go_to(time + dt, dt);
        let bodies = course.bodies();
        self.led.clone_from(&now.v);
        bodies.mobility.project(&mut self.led);
        for place in bodies.places {
            let p = place.particle as usize;
            self.led[p] += place.away(now.x[p]) / dt;
        }
        probe.lap(Stage::Drive);
        let diagonal = self.push(bodies, &now.x, dt);
        probe.lap(Stage::Forces);
        self.refresh(bodies, dt, settings.inverse_iterations, diagonal);
        probe.lap(Stage::Factor);
        bodies.mobility.project(&mut self.impulse);
        self.change.resize(now.x.len(), DVec3::ZERO);
        self.inverse.apply(&self.impulse, &mut self.change);
        bodies.mobility.project(&mut self.change);
        probe.counters.stages += 1;
        probe.counters.solves += 1;
        probe.lap(Stage::Solve);
        let (led, change) = (&self.led, &self.change);
        parallel::fill(&mut next.v, |i| led[i] + change[i]);
        let v = &next.v;
        parallel::fill(&mut next.x, |i| now.x[i] + dt * v[i]);
        for place in bodies.places {
            let p = place.particle as usize;
            next.x[p] = place.settle(next.x[p]);
        }
        next.past.restart.clear();
        probe.lap(Stage::Update);
        true
    }

    /// Impulses h (f − h K v); returns the diagonal of H besides K and C [kg].
    fn push(&mut self, bodies: Bodies, x: &[DVec3], h: f64) -> Vec<f64> {
        let Bodies { mass, gravity, .. } = bodies;
        let isotropic = self.isotropic.get_or_insert_with(|| Isotropic::new(bodies));
        let mut single = vec![DMat3::ZERO; mass.len()];
        self.impulse.resize(mass.len(), DVec3::ZERO);
        parallel::fill(&mut self.impulse, |i| gravity * mass[i]);
        for (force, memory) in bodies.families() {
            let alone = matches!(force.coupling(), Coupling::Elements(s) if s.particles() == 1);
            let mix = if alone { Mix::implicit_euler(h) } else { Mix::NONE };
            force.respond(Moment { x, v: &self.led, memory }, mix, &[], &mut self.answer);
            force.coupling().scatter(&self.answer.push, &mut self.impulse);
            if let (true, Coupling::Elements(stencil)) = (alone, force.coupling()) {
                stencil.add_diagonal(&self.answer.tangent, &mut single);
            }
        }
        let (stiffness, led) = (&isotropic.stiffness, &self.led);
        parallel::update(&mut self.impulse, |i, b| *b = h * (*b - h * stiffness.row_times(i, led)));
        let trace = |m: &DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
        mass.iter().zip(&single).map(|(m, block)| m + trace(block) / 3.0).collect()
    }

    /// Makes the inverse if the one at hand was made for something else.
    fn refresh(&mut self, bodies: Bodies, h: f64, iterations: usize, diagonal: Vec<f64>) {
        let mut fixed = vec![false; diagonal.len()];
        for (i, projector) in &bodies.mobility.projectors {
            fixed[*i as usize] = *projector == DMat3::ZERO;
        }
        let wanted = (h, iterations, diagonal, fixed);
        if let (Some(isotropic), true) = (&self.isotropic, self.made_for != wanted) {
            self.inverse = Inverse::new(&isotropic.matrix(h, &wanted.2, &wanted.3), iterations);
            self.made_for = wanted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random;

    /// A row of masses joined by springs.
    fn chain(n: usize) -> ConstantTangent {
        let mut matrix = ConstantTangent { start: vec![0], ..ConstantTangent::default() };
        for i in 0..n {
            for j in i.saturating_sub(1)..(i + 2).min(n) {
                matrix.columns.push(j as u32);
                matrix.values.push(if i == j { 3.0 + 0.1 * i as f64 } else { -1.0 });
            }
            matrix.start.push(matrix.columns.len());
        }
        matrix
    }

    #[test]
    fn the_whole_inverse_inverts() {
        let matrix = chain(30);
        let inverse = Inverse::new(&matrix, 0);
        let b: Vec<DVec3> =
            (0..30).map(|i| DVec3::new(random::unit(1, i), random::unit(2, i), 1.0)).collect();
        let mut x = vec![DVec3::ZERO; 30];
        inverse.apply(&b, &mut x);
        let worst = (0..30).map(|i| matrix.row_times(i, &x).distance(b[i])).fold(0.0, f64::max);
        assert!(worst < 1e-11, "{worst:e}");
        assert_eq!(inverse.entries(), 900);
    }

    /// V00-13: K iterations reach K − 1 rings, and more of them err less.
    #[test]
    fn a_cut_off_inverse_is_sparse_and_converges() {
        let matrix = chain(40);
        let exact = Inverse::new(&matrix, 0);
        let mut last = f64::INFINITY;
        for k in 1..8 {
            let cut = Inverse::new(&matrix, k);
            assert_eq!(cut.rows[20].len(), 2 * k - 1);
            let b: Vec<DVec3> = (0..40).map(|i| DVec3::splat(random::unit(3, i) - 0.5)).collect();
            let (mut x, mut y) = (vec![DVec3::ZERO; 40], vec![DVec3::ZERO; 40]);
            cut.apply(&b, &mut x);
            exact.apply(&b, &mut y);
            let off = x.iter().zip(&y).map(|(a, b)| a.distance_squared(*b)).sum::<f64>();
            assert!(off < last, "K = {k}: {off:e} after {last:e}");
            last = off;
        }
    }
}
