//! Experiments and benchmarks. Each computes its own reference, writes a CSV and a plot, and ends in a
//! [`Report`]: one JSON line for machines, a table for people.
//!
//! With `$TOILE_DATA` set, experiments that know an independent reference there compare with it too.

mod benches;
mod bob;
mod cusick;
pub mod elastica;
pub mod fabric;
mod hang;
mod labs;
mod material;
pub mod plot;
pub mod report;
pub mod session;
mod statics;
mod watched;

pub use report::{Figure, Op, Report, Timing};
pub use session::{LabError, Session};

/// An experiment or a benchmark.
#[derive(Clone, Copy)]
pub struct Lab {
    /// Name on the command line: the experiment's id in lower case.
    pub id: &'static str,
    /// What it shows, in a line.
    pub title: &'static str,
    /// Does it.
    pub run: fn(&mut Session) -> Result<(), LabError>,
}

/// All experiments.
pub const LABS: &[Lab] = &[
    Lab {
        id: "v00-x3",
        title: "nearly aligned springs under a lateral load: which tangent lands where (V00 Fig. 1, 2a)",
        run: labs::aligned_springs::run,
    },
    Lab {
        id: "forms",
        title: "the three linear systems of V00-3 with every method, operator and preconditioner agree",
        run: labs::forms::run,
    },
    Lab {
        id: "tension",
        title: "uniaxial tension patch test against the closed form, on every mesh pattern",
        run: labs::patch::tension,
    },
    Lab {
        id: "shear",
        title: "simple shear patch test against the closed form, on every mesh pattern",
        run: labs::patch::shear,
    },
    Lab {
        id: "bending-patch",
        title: "constant curvature, imposed and relaxed, in 16 directions on every kind of mesh; rolling; hinge bias",
        run: labs::bending_patch::run,
    },
    Lab {
        id: "cantilever",
        title: "a strip bent by its weight against the elastica, by weight, mesh and direction of the weave",
        run: labs::cantilever::run,
    },
    Lab {
        id: "catenary",
        title: "a strip hung by both ends: sag and pull against the catenary, by span",
        run: labs::catenary::run,
    },
    Lab {
        id: "pendulum",
        title: "a pendulum's period against its amplitude, at 200 steps per period",
        run: labs::pendulum::run,
    },
    Lab {
        id: "strip-modes",
        title: "a hanging strip swings in its modes: frequencies, and decay per step of every integrator",
        run: labs::strip_modes::run,
    },
    Lab {
        id: "orders",
        title: "observed order of convergence of every integrator, its start and restart included",
        run: labs::orders::run,
    },
    Lab {
        id: "integrators",
        title: "work and precision of every integrator: error of the free edge against linear solves",
        run: labs::integrators::run,
    },
    Lab {
        id: "drape",
        title: "round cloth on a round table: its shadow and folds by stiffness, mesh and unevenness; the same cloth as a strip",
        run: labs::drape::run,
    },
    Lab {
        id: "explain",
        title: "forces by source on every vertex sum to mass times acceleration, on five scenes",
        run: labs::explain::run,
    },
    Lab {
        id: "replay",
        title: "a minute at the studio with a hundred changes, made again from its inputs: the same bits",
        run: labs::replay::run,
    },
    Lab {
        id: "v00-x2",
        title: "stiff cubes piled on a cloth held along its borders come to perfect rest (V00-X2)",
        run: labs::cubes::run,
    },
    Lab {
        id: "tangles",
        title: "thirty starts that intersect, of six kinds: drawn back within a second, the rest known to the pair",
        run: labs::tangles::run,
    },
    Lab {
        id: "freefall",
        title: "a crumpled cloth in free fall keeps its momentum and drifts nowhere, with every solver",
        run: labs::freefall::run,
    },
    Lab {
        id: "fall",
        title: "the same fall at every stiffness, mass and mesh, at frames of 31.6 ms",
        run: labs::fall::run,
    },
    Lab {
        id: "resolution",
        title: "the same cloth at every resolution: free edges of hang and of a gathered curtain",
        run: labs::resolution::run,
    },
    Lab {
        id: "v00-x1",
        title: "how much motion the lambda-midpoint keeps: oscillator, strip and falling sheet, which meets itself (V00-X1)",
        run: labs::lambda::run,
    },
    Lab {
        id: "quasistatic",
        title: "draping without motion to 1e-6 N, and the same shape as cloth that came to rest (V00-14)",
        run: labs::quasistatic::run,
    },
    Lab {
        id: "laws",
        title: "every law against its energy, finite differences, balance of forces and rigid motion",
        run: labs::laws::run,
    },
    Lab {
        id: "solver",
        title: "the Cholesky preconditioner on folded cloth: iterations at every stiffness and size, and times",
        run: labs::solver::run,
    },
    Lab {
        id: "ccd",
        title: "continuous detection against exact arithmetic: ten million queries and the shared sets, none missed",
        run: labs::ccd::run,
    },
    Lab {
        id: "metaballs",
        title: "metaballs as a field against the mesh of them: time and error of distance and normal (V00-21)",
        run: labs::metaballs::run,
    },
    Lab {
        id: "detection",
        title: "random scenes: every k-DOP, tree and question against every pair of features",
        run: labs::detection::run,
    },
    Lab {
        id: "m03-x6",
        title: "what the curvature criterion spares on smooth cloth, with the same contacts (M03-X6)",
        run: labs::detection::curvature,
    },
    Lab {
        id: "m03-x7",
        title: "lazy updates, the list of separations and reuse, slow and fast, with the same contacts (M03-X7)",
        run: labs::detection::coherence,
    },
    Lab {
        id: "m03-table1",
        title: "trousers on walking legs: M03's Table 1 and ours, with the same contacts (M03-X2)",
        run: labs::detection::table1,
    },
    Lab {
        id: "v00-x6",
        title: "how tight each k-DOP is: two discs, and trees over trousers (V00-X6)",
        run: labs::detection::tightness,
    },
    Lab {
        id: "arity",
        title: "depth of the walk and box tests by the number of children (M03 Fig. 4)",
        run: labs::detection::arity,
    },
    Lab {
        id: "k02-x1",
        title: "cost of a step of K02 against vertices and edges: its four discs, then 1e5 to 1e6 vertices (K02-X1)",
        run: labs::k02::x1,
    },
    Lab {
        id: "k02-x2",
        title: "a minute of K02's flag: 2048 triangles at 1/300 s in the wind (K02-X2)",
        run: labs::k02::x2,
    },
    Lab {
        id: "k02-x3",
        title: "3025 triangles at 1/120 s with K02, against real time (K02-X3)",
        run: labs::k02::x3,
    },
    Lab {
        id: "k02-x5",
        title: "how much motion of the flag K02's blocks keep that scalars kill (K02-X5)",
        run: labs::k02::x5,
    },
    Lab {
        id: "k02-parity",
        title: "growth per step for K = 0…5 sweeps of block Jacobi and h²κ/m = 1…1e4: odd never, even always",
        run: labs::k02_parity::run,
    },
    Lab {
        id: "inverse",
        title: "a precomputed inverse cut off after K = 1…16: entries per column, error, time against CG (V00-12, V00-13)",
        run: labs::inverse::run,
    },
    Lab {
        id: "preconditioning",
        title: "half of a sheet wanted ten times more accurately: error per half by iterations of CG (V00-10)",
        run: labs::preconditioning::run,
    },
    Lab {
        id: "rosenbrock",
        title: "linearly implicit Runge–Kutta: observed order, and error in proportion to the tolerance (V00-16)",
        run: labs::rosenbrock::run,
    },
    Lab {
        id: "hybrid",
        title: "membrane implicit, the rest explicit at third order: order, and error at equal steps (V00-23)",
        run: labs::rosenbrock::hybrid,
    },
    Lab {
        id: "v00-x4",
        title: "drop of a stiff 100 × 100 sheet in half a second by step and scheme, Runge–Kutta included (V00-X4)",
        run: labs::v00_x4::run,
    },
    Lab {
        id: "one-fabric",
        title: "one fabric in every model of stretching, on every mesh: what it resists against what was asked for",
        run: labs::one_fabric::run,
    },
    Lab {
        id: "v97-x1",
        title: "a square stretched to four times its length: how it narrows by alpha, and where it explodes (V97 Fig. 4)",
        run: labs::coupled::stretched,
    },
    Lab {
        id: "v97-x2",
        title: "seven things a tailor does to a sheet of 400 triangles while it moves, certified and undone (V97 Fig. 5)",
        run: labs::scissors::run,
    },
    Lab {
        id: "v97-x5",
        title: "what coupled edges cost beside plain springs (V97-X5)",
        run: labs::coupled::cost,
    },
    Lab {
        id: "v97-x6",
        title: "ten thousand scrambled sheets: kinematic correction makes no energy and no NaN (V97-X6)",
        run: labs::coupled::scrambled,
    },
    Lab {
        id: "b14-x1",
        title: "explicit steps cost the same per triangle at 302 and 4874 triangles (B14 Fig. 5)",
        run: labs::dress::sizes,
    },
    Lab {
        id: "b14-x2",
        title: "a linen dress with a step just too long: lost without position correction, kept with it (B14 Fig. 6)",
        run: labs::dress::linen,
    },
    Lab {
        id: "b14-x3",
        title: "silk and cotton dresses finish with and without correction; three fabrics drape differently (B14 Fig. 7, 8)",
        run: labs::dress::fabrics,
    },
    Lab {
        id: "b14-x4",
        title: "a garment on a cylinder refined by twelve critical angles, as the paper does and as we do (B14 Table 1)",
        run: labs::garment::angles,
    },
    Lab {
        id: "b14-x5",
        title: "triangles against the critical angle for one, two and three levels (B14 Fig. 9)",
        run: labs::garment::depths,
    },
    Lab {
        id: "b14-x6",
        title: "cloth on a sphere keeps its triangles until it touches; a garment is refined at once (B14 Fig. 10, 11)",
        run: labs::garment::contact,
    },
    Lab {
        id: "b14-x7",
        title: "one set of defaults runs every scene of B14, which needed one for each (B14-X7)",
        run: labs::garment::defaults,
    },
    Lab {
        id: "adaptive",
        title: "error against time of refined and of uniform meshes, and draping from coarse to fine",
        run: labs::adaptive::run,
    },
    Lab {
        id: "memory",
        title: "cloth that remembers: loops of bending and shear as wide as asked for, and the angle a fold keeps (V97-20, B14-7)",
        run: labs::memory::run,
    },
    Lab {
        id: "guarantee",
        title: "ten thousand hostile passes and nothing meets; every rule broken on purpose is caught",
        run: labs::guarantee::run,
    },
    Lab {
        id: "certified",
        title: "every scene with contact, three of them from ten starts: no frame intersects, nothing changes sides",
        run: labs::certified::run,
    },
    Lab {
        id: "hard",
        title: "funnel (from ten starts), ring, press, knot, spike and cards: certified, and each does what it must",
        run: labs::hard::run,
    },
    Lab {
        id: "soup",
        title: "fifty worlds at random, from chiffon to steel, from rest to 50 m/s: all finish, none intersects; rest ends",
        run: labs::soup::run,
    },
    Lab {
        id: "anywhere",
        title: "the same scene in mm, cm and inches, turned by 37° and a kilometre away: how little it differs",
        run: labs::anywhere::run,
    },
    Lab {
        id: "zoo",
        title: "meshes wrong in every way we know: each is repaired and runs clean, or is refused by its name",
        run: labs::zoo::run,
    },
    Lab {
        id: "collider-faults",
        title: "animated bodies with one thing wrong: refused by object and frame, or held, and said; cloth stays cloth",
        run: labs::collider_faults::run,
    },
    Lab {
        id: "slide",
        title: "without friction a sheet slides down an incline at g sin θ, on a body and on another sheet",
        run: labs::slide::run,
    },
    Lab {
        id: "friction",
        title: "where sheets begin to slide, how little they creep, and a strip over a table's edge, against Coulomb",
        run: labs::friction::run,
    },
    Lab {
        id: "momentum",
        title: "two free sheets collide: their momentum stays, and no energy comes from nowhere",
        run: labs::momentum::run,
    },
    Lab {
        id: "rest",
        title: "a sheet on a ball, sixteen in a stack and a table cloth come to rest and stay",
        run: labs::rest::run,
    },
    Lab {
        id: "glue",
        title: "the guarantee keeps what the solver moves, and frames of 1/60 s fall like steps of 1/960 s",
        run: labs::rest::glue,
    },
    Lab {
        id: "m03-x1",
        title: "a table cloth of 72 triangles by faces, and by vertices only (M03-X1)",
        run: labs::meeting::tablecloth,
    },
    Lab {
        id: "m03-x4",
        title: "sheets on a ball, a cone and a box: nothing intersects, and they come to rest (M03-X4)",
        run: labs::meeting::sheets,
    },
    Lab {
        id: "m03-x5",
        title: "a long tape piles up in a bowl: nothing intersects in any frame (M03-X5)",
        run: labs::meeting::tape,
    },
    Lab {
        id: "same-bits",
        title: "one fingerprint for any number of threads and after resuming in the middle",
        run: labs::same_bits::run,
    },
];

/// All benchmarks.
pub const BENCHES: &[Lab] = &[
    Lab {
        id: "hang",
        title: "a square metre of cloth held by one edge: milliseconds per 31.6 ms frame, by size and threads",
        run: benches::hang::run,
    },
    Lab {
        id: "check",
        title: "the exact checker on folded cloth: milliseconds per frame, by size",
        run: benches::check::run,
    },
    Lab {
        id: "contact",
        title: "cloth on a ball, stacks, tape and table cloth: milliseconds per frame and stage, certified, beside Blender",
        run: benches::contact::run,
    },
    Lab {
        id: "detect",
        title: "contacts of folded cloth, alone and with a body: build, refit and query, beside ipctk and parry",
        run: benches::detect::run,
    },
    Lab {
        id: "cubes",
        title: "frames per second and the share of contact while 8 to 128 stiff cubes pile up on cloth, beside V00's",
        run: labs::cubes::rates,
    },
    Lab {
        id: "studio",
        title: "the studio: frames per second and the way of an edit to a frame, for one page, four, and beside a stalled one",
        run: benches::studio::run,
    },
];

/// The experiment or benchmark called `id`.
pub fn find(table: &'static [Lab], id: &str) -> Option<&'static Lab> {
    table.iter().find(|lab| lab.id == id)
}
