//! The Cholesky preconditioner on folded hanging cloth, at every stiffness and size, against a direct solve.
//!
//! A square metre hangs in folds from one row; H = M + h²V at h = 1/30 s, with gravity on the right-hand side.
//! (On flat cloth every method looks good.) Residuals are |r|/|b| in the Euclidean norm.

use crate::material::{border, cloth};
use crate::session::{Chart, Curve, LabError, Session};
use crate::statics::Symmetric;
use glam::{DMat3, DVec3};
use std::time::Instant;
use toile::forces::{LinearHinge, Membrane, Strain};
use toile::freedom::{Freedom, Mobility};
use toile::interaction::{ForceModel, Interactions, Mix, Moment};
use toile::math::reduce;
use toile::mesh::{Pattern, shapes};
use toile::solve::forms::System;
use toile::solve::operator::{BlockSparse, Pattern as Blocks};
use toile::solve::{
    Factor, Form, Integrator, LinearOperator, Precision, Preconditioner, PreconditionerKind, SolverSettings,
    Symbolic,
};
use toile::{Fabric, PinDown, Probe, Setup, World};

/// Length of the step [s].
const STEP: f64 = 1.0 / 30.0;

/// Iterations after which block-Jacobi is given up.
const CAP: usize = 4000;

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let all = [1e3, 1e4, 1e5, 1e6];
    let largest: &[f64] = if session.full { &all } else { &[1e3, 1e6] };
    let mut rows = Vec::new();
    let mut curves = Vec::new();
    for (n, stiffnesses) in [(50, &all[..]), (100, &all), (224, largest)] {
        let (mut direct, mut jacobi) = (Vec::new(), Vec::new());
        for &k in stiffnesses {
            let case = Case::new(n, k)?;
            let found = case.measure(session.full)?;
            report(session, &case, &found);
            direct.push((k, found.cholesky.to_fine as f64));
            jacobi.push((k, found.jacobi.to_fine as f64));
            rows.push(found.row(&case));
        }
        let triangles = 2 * n * n;
        curves.push(Curve { name: format!("Cholesky, {triangles} triangles"), points: direct });
        curves.push(Curve { name: format!("block-Jacobi, {triangles} triangles"), points: jacobi });
    }
    session.note("residuals are |r|/|b| in the Euclidean norm; velocity errors are mass-weighted");
    session.note(format!("block-Jacobi is given up after {CAP} iterations"));
    session.note("references: the sparse Cholesky factorisation of faer, in double precision");
    session.csv(
        "solver",
        "triangles,k [N/m],precision,iterations to 1e-3,to 1e-6,velocity error at 1e-3,block-Jacobi to 1e-3,to 1e-6,symbolic [ms],factor 1 thread [ms],factor 2 threads [ms],solve 1 thread [ms],solve 2 threads [ms],Mflop,MB",
        &rows,
    )?;
    session.plot(
        "solver",
        Chart {
            title: "Iterations to a residual of 1e-6, folded hanging cloth, h = 1/30 s".into(),
            x: "stiffness [N/m]".into(),
            y: "iterations".into(),
            log: (true, true),
            curves,
        },
    )
}

fn report(session: &mut Session, case: &Case, found: &Found) {
    let name = format!("{} triangles, k = {:.0e}", 2 * case.n * case.n, case.k);
    session.at_most(format!("{name}: iterations to 1e-3"), found.cholesky.to_coarse as f64, "", 10.0);
    session.at_most(format!("{name}: iterations to 1e-6"), found.cholesky.to_fine as f64, "", 20.0);
    session.at_most(format!("{name}: velocity error at 1e-3"), found.error, "relative", 0.01);
    session.equal(format!("{name}: entries differing on 2 threads"), found.differing as f64, "", 0.0);
    session.info(format!("{name}: block-Jacobi to 1e-3"), found.jacobi.to_coarse as f64, "");
    session.info(format!("{name}: block-Jacobi to 1e-6"), found.jacobi.to_fine as f64, "");
    session.info(format!("{name}: bits of a number"), found.bits as f64, "");
    session.time(format!("{name}: symbolic"), "ms", &found.symbolic);
    for (threads, time) in [1, 2].iter().zip(&found.times) {
        session.time(format!("{name}: factor, {threads} threads"), "ms", &time.factor);
        session.time(format!("{name}: solve, {threads} threads"), "ms", &time.solve);
    }
}

/// One linear system, with what it came from.
struct Case {
    n: usize,
    k: f64,
    /// Where the particles were before they moved.
    start: Vec<DVec3>,
    mass: Vec<f64>,
    mobility: Mobility,
    forces: Vec<Box<dyn ForceModel>>,
    answers: Vec<Interactions>,
    pattern: Blocks,
    b: Vec<DVec3>,
}

/// Iterations to each of two residuals, and the solution at the coarse one.
struct Run {
    to_coarse: usize,
    to_fine: usize,
    coarse: Vec<DVec3>,
    fine: Vec<DVec3>,
}

#[derive(Default)]
struct Times {
    factor: Vec<f64>,
    solve: Vec<f64>,
}

struct Found {
    cholesky: Run,
    jacobi: Run,
    error: f64,
    differing: usize,
    bits: usize,
    symbolic: Vec<f64>,
    times: [Times; 2],
    flops: f64,
    numbers: usize,
}

impl Case {
    /// The system of a sheet of n × n quads with Young's modulus `k` [N/m], after hanging for a moment.
    fn new(n: usize, k: f64) -> Result<Case, LabError> {
        let shape = shapes::sheet(1.0, 1.0, n, n, Pattern::Jittered { amount: 0.25, seed: 11 })?;
        let fabric = Fabric::isotropic(0.2, k, 0.3, 1e-5);
        let held = border(&shape, "left")?;
        let mut sheet = cloth("sheet", &shape, fabric)?;
        sheet.positions.iter_mut().for_each(|place| *place = folded(*place));
        let (mesh, start) = (sheet.mesh.clone(), sheet.positions.clone());
        // One linear solve a substep: the matrix of a plausible state is wanted, not the right fall.
        let solver = SolverSettings { integrator: Integrator::LinearEuler, ..Default::default() };
        let pins = vec![PinDown::fixed(0, held.clone())];
        let mut world =
            World::new(Setup { cloths: vec![sheet], pins, solver, substeps: 2, ..Setup::default() })?;
        for _ in 0..4 {
            world.step(1.0 / 30.0, &mut Probe::default())?;
        }
        let x = world.positions(0);
        let mass: Vec<f64> = mesh.vertex_area().iter().map(|a| a * 0.2).collect();
        let mobility = Mobility {
            inverse_mass: mass.iter().map(|m| 1.0 / m).collect(),
            projectors: {
                let mut held: Vec<_> = held.iter().map(|i| (*i, Freedom::Fixed.projector())).collect();
                held.sort_by_key(|(i, _)| *i);
                held
            },
        };
        let forces: Vec<Box<dyn ForceModel>> = vec![
            Box::new(Membrane::elements(&mesh, &fabric, Strain::Green)),
            Box::new(LinearHinge::elements(&mesh, &fabric)),
        ];
        let v = vec![DVec3::ZERO; x.len()];
        let mut answers = vec![Interactions::default(); forces.len()];
        for (force, answer) in forces.iter().zip(&mut answers) {
            force.respond(Moment::new(&x, &v), Mix::implicit_euler(STEP), &[], answer);
        }
        let pattern = Blocks::new(x.len(), &forces);
        let mut b: Vec<DVec3> = mass.iter().map(|m| DVec3::new(0.0, -9.81 * m * STEP, 0.0)).collect();
        mobility.project(&mut b);
        Ok(Case { n, k, start, mass, mobility, forces, answers, pattern, b })
    }

    fn measure(&self, full: bool) -> Result<Found, LabError> {
        let mut blocks = Vec::new();
        let mut matrix = BlockSparse::assemble(&self.pattern, &self.forces, &self.answers, &mut blocks);
        let values = matrix.blocks().to_vec();
        let mut symbolic = Vec::new();
        let analyse = || Symbolic::new(self.pattern.start(), self.pattern.columns(), &self.start);
        for _ in 0..3 {
            let clock = Instant::now();
            let _ = analyse();
            symbolic.push(1e3 * clock.elapsed().as_secs_f64());
        }
        let mut factor = Factor::new(analyse());
        let mut times: [Times; 2] = Default::default();
        let mut answers = Vec::new();
        let repeats = if full { 15 } else { 7 };
        for (threads, times) in [1, 2].iter().zip(&mut times) {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(*threads).build()?;
            answers.push(pool.install(|| self.time(&mut factor, &values, repeats, times))?);
        }
        let differing = answers[0].iter().zip(&answers[1]).filter(|(a, b)| a != b).count();

        let mut system = System::new(Form::Mass, &self.mobility, &self.mass, &mut matrix);
        let jacobi = Preconditioner::new(PreconditionerKind::BlockJacobi, &system, None);
        let cholesky = Preconditioner::new(PreconditionerKind::Cholesky, &system, Some(&factor));
        let jacobi = iterate(&mut system, &jacobi, &self.b, CAP, 1e-6);
        let cholesky = iterate(&mut system, &cholesky, &self.b, CAP, 1e-6);
        let bits = if factor.precision() == Some(Precision::Double) { 64 } else { 32 };
        let reference = self.reference(&values)?;
        let norm = |v: &dyn Fn(usize) -> DVec3| {
            (0..self.mass.len()).fold(0.0, |sum, i| sum + self.mass[i] * v(i).length_squared()).sqrt()
        };
        let error = norm(&|i| cholesky.coarse[i] - reference[i]) / norm(&|i| reference[i]);
        let (flops, numbers) = (factor.symbolic().flops(), factor.symbolic().numbers());
        Ok(Found { cholesky, jacobi, error, differing, bits, symbolic, times, flops, numbers })
    }

    fn time(
        &self,
        factor: &mut Factor,
        values: &[DMat3],
        repeats: usize,
        times: &mut Times,
    ) -> Result<Vec<DVec3>, LabError> {
        let mut z = vec![DVec3::ZERO; self.b.len()];
        for repeat in 0..repeats + 1 {
            let clock = Instant::now();
            factor.refresh(values, &self.mass, &self.mobility).map_err(|e| LabError(e.to_string()))?;
            let factored = clock.elapsed().as_secs_f64();
            let clock = Instant::now();
            factor.solve(&self.b, &mut z);
            // The first time fetches memory.
            if repeat > 0 {
                times.factor.push(1e3 * factored);
                times.solve.push(1e3 * clock.elapsed().as_secs_f64());
            }
        }
        Ok(z)
    }

    /// The solution of the system by the library's factorisation in double precision.
    fn reference(&self, values: &[DMat3]) -> Result<Vec<DVec3>, LabError> {
        let (start, columns) = (self.pattern.start(), self.pattern.columns());
        let mut held = vec![false; self.mass.len()];
        self.mobility.projectors.iter().for_each(|(i, _)| held[*i as usize] = true);
        let mut matrix = Symmetric::new(3 * self.mass.len());
        for i in 0..self.mass.len() {
            (0..3).for_each(|r| matrix.add(3 * i + r, 3 * i + r, self.mass[i]));
            for k in start[i]..start[i + 1] {
                let j = columns[k] as usize;
                for (r, c) in (0..9).map(|e| (e / 3, e % 3)).filter(|_| !held[i] && !held[j]) {
                    matrix.add(3 * i + r, 3 * j + c, values[k].col(c)[r]);
                }
            }
        }
        let right: Vec<f64> = self.b.iter().flat_map(|b| b.to_array()).collect();
        Ok(matrix.solve(&right)?.chunks_exact(3).map(DVec3::from_slice).collect())
    }
}

impl Found {
    fn row(&self, case: &Case) -> String {
        let median = |samples: &[f64]| {
            let mut sorted = samples.to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted[sorted.len() / 2]
        };
        let [one, two] = &self.times;
        format!(
            "{},{:e},{},{},{},{:e},{},{},{:.3},{:.3},{:.3},{:.3},{:.3},{:.1},{:.1}",
            2 * case.n * case.n,
            case.k,
            self.bits,
            self.cholesky.to_coarse,
            self.cholesky.to_fine,
            self.error,
            self.jacobi.to_coarse,
            self.jacobi.to_fine,
            median(&self.symbolic),
            median(&one.factor),
            median(&two.factor),
            median(&one.solve),
            median(&two.solve),
            self.flops / 1e6,
            self.numbers as f64 * self.bits as f64 / 8e6
        )
    }
}

/// A point of a flat sheet, hung by x = 0 in folds along z that keep its lengths, more or less.
fn folded(flat: DVec3) -> DVec3 {
    let (amplitude, wave) = (0.05, 2.0 * std::f64::consts::PI * 5.0 / 0.7);
    let steps = 400;
    let (mut place, ds) = (0.0f64, flat.z / steps as f64);
    for _ in 0..steps {
        let slope = amplitude * wave * (wave * place).cos();
        place += ds / (1.0 + slope * slope).sqrt();
    }
    // Folds deepen and lean on the way down.
    let depth = 1.0 + 0.15 * (7.0 * flat.x + 3.0 * place).sin() * flat.x;
    DVec3::new(place, -flat.x, amplitude * depth * (wave * place + 0.8 * flat.x).sin())
}

/// Preconditioned conjugate gradients from zero, down to |r| = `fine` |b|.
fn iterate(system: &mut System, preconditioner: &Preconditioner, b: &[DVec3], cap: usize, fine: f64) -> Run {
    let n = b.len();
    let (mut r, mut x, mut z) = (b.to_vec(), vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
    preconditioner.apply(&r, &mut z);
    let mut t = z.clone();
    let mut ht = vec![DVec3::ZERO; n];
    let mut alpha = reduce::dot(&r, &z);
    let size = reduce::dot(b, b).sqrt();
    let mut run = Run { to_coarse: cap, to_fine: cap, coarse: Vec::new(), fine: Vec::new() };
    for iteration in 1..=cap {
        system.apply(&t, &mut ht);
        let step = alpha / reduce::dot(&t, &ht);
        for i in 0..n {
            x[i] += step * t[i];
            r[i] -= step * ht[i];
        }
        let residual = reduce::dot(&r, &r).sqrt() / size;
        if residual <= 1e-3 && run.coarse.is_empty() {
            run.to_coarse = iteration;
            run.coarse.clone_from(&x);
        }
        if residual <= fine {
            run.to_fine = iteration;
            break;
        }
        preconditioner.apply(&r, &mut z);
        let next = reduce::dot(&r, &z);
        let turn = next / alpha;
        alpha = next;
        (0..n).for_each(|i| t[i] = z[i] + turn * t[i]);
    }
    if run.coarse.is_empty() {
        run.coarse.clone_from(&x);
    }
    run.fine = x;
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_in_double_precision_agrees_with_the_library() {
        let case = Case::new(12, 1e4).expect("a hanging sheet");
        let mut blocks = Vec::new();
        let matrix = BlockSparse::assemble(&case.pattern, &case.forces, &case.answers, &mut blocks);
        let library = case.reference(matrix.blocks()).expect("positive definite");
        let (start, columns) = (case.pattern.start(), case.pattern.columns());
        let mut factor = Factor::new(Symbolic::new(start, columns, &case.start));
        factor
            .refresh_in(Precision::Double, matrix.blocks(), &case.mass, &case.mobility)
            .expect("positive definite");
        let mut z = case.b.clone();
        factor.solve(&case.b, &mut z);
        let size = library.iter().map(|v| v.length()).fold(0.0, f64::max);
        let off = library.iter().zip(&z).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
        assert!(size > 0.01 && off < 1e-10 * size, "{off:e} of {size}");
    }
}
