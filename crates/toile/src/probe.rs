//! What a run tells about itself. The engine reads no clock: the caller hands one in.

/// Parts of a substep, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Pins, wind and moving targets.
    Drive,
    /// Finding what is close.
    Detect,
    /// Choosing what may push.
    Contact,
    /// Forces and tangents of all elements.
    Forces,
    /// Building the operator.
    Assemble,
    /// Factoring it.
    Factor,
    /// The linear solve.
    Solve,
    /// New velocities and positions.
    Update,
    /// Letting nothing through.
    Filter,
}

impl Stage {
    /// All stages in order.
    pub const ALL: [Stage; 9] = [
        Stage::Drive,
        Stage::Detect,
        Stage::Contact,
        Stage::Forces,
        Stage::Assemble,
        Stage::Factor,
        Stage::Solve,
        Stage::Update,
        Stage::Filter,
    ];

    const NAMES: [&'static str; 9] =
        ["drive", "detect", "contact", "forces", "assemble", "factor", "solve", "update", "filter"];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// A reported quantity: declared once, so that every door shows it alike.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// Key in `stats.jsonl`.
    pub name: &'static str,
    /// Unit, empty for counts.
    pub unit: &'static str,
    /// One sentence.
    pub meaning: &'static str,
}

/// What happened in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Substeps taken, over all islands.
    pub substeps: u64,
    /// Substeps redone as two halves because their result was not finite.
    pub retries: u64,
    /// Implicit stages solved; some schemes have two per substep.
    pub stages: u64,
    /// Linear systems solved.
    pub solves: u64,
    /// Iterations of the linear solver.
    pub iterations: u64,
    /// Solves that ended at the iteration limit.
    pub capped: u64,
    /// Solves that met a direction of no or negative stiffness.
    pub indefinite: u64,
    /// Halvings of Newton steps by the line search.
    pub shortened: u64,
    /// Substeps redone carefully: Newton's method did not converge, or energy came out of nothing.
    pub guarded: u64,
    /// Stages accepted although Newton's method did not converge.
    pub unconverged: u64,
    /// Substeps of an integrator that linearises once whose leftover acceleration dwarfs the true one: cloth falls
    /// like honey there.
    pub honey: u64,
    /// Explicit steps: times that all forces were asked for.
    pub evaluations: u64,
    /// Explicit steps redone shorter because they erred too much.
    pub rejected: u64,
    /// Particles that corrections moved, summed over steps.
    pub corrected: u64,
    /// Substeps redone as two halves because things passed each other too fast, or what is led was blocked.
    pub halved: u64,
    /// Most pairs that might push in one substep.
    pub contacts: u64,
    /// Passes of the guarantee.
    pub passes: u64,
    /// Particles that the guarantee stopped short, summed over substeps.
    pub cut: u64,
    /// Motion that was asked of the guarantee, summed over particles and substeps [m].
    pub wished: f64,
    /// What it kept of that [m].
    pub kept: f64,
    /// Impulse that it removed [N·s].
    pub removed: f64,
    /// Explicit steps: largest estimated error of one that was accepted [m].
    pub step_error: f64,
    /// Largest force left unbalanced on a particle [N].
    pub residual: f64,
    /// Largest force left unbalanced, over the mean weight of a particle.
    pub residual_ratio: f64,
    /// Largest root mean square over particles of what a step left unbalanced, as an acceleration [m/s²].
    pub residual_rms: f64,
    /// Seconds per stage by the caller's clock, summed over islands.
    pub seconds: [f64; Stage::ALL.len()],
}

/// The channels of [`Counters`], in the order of [`Counters::values`].
pub const COUNTER_CHANNELS: [Channel; 25] = [
    Channel { name: "substeps", unit: "", meaning: "substeps taken, over all islands" },
    Channel {
        name: "retries",
        unit: "",
        meaning: "substeps redone as two halves: the result was not finite",
    },
    Channel { name: "implicit_stages", unit: "", meaning: "implicit stages solved" },
    Channel { name: "solves", unit: "", meaning: "linear systems solved" },
    Channel { name: "iterations", unit: "", meaning: "iterations of the linear solver" },
    Channel { name: "capped", unit: "", meaning: "solves that ended at the iteration limit" },
    Channel { name: "indefinite", unit: "", meaning: "solves that met no or negative stiffness" },
    Channel { name: "shortened", unit: "", meaning: "halvings of Newton steps" },
    Channel {
        name: "guarded",
        unit: "",
        meaning: "substeps redone carefully: not converged, or energy out of nothing",
    },
    Channel { name: "unconverged", unit: "", meaning: "stages accepted without convergence" },
    Channel {
        name: "honey",
        unit: "",
        meaning: "substeps whose one linearisation left far more unbalanced than moved the cloth",
    },
    Channel { name: "evaluations", unit: "", meaning: "explicit steps: evaluations of all forces" },
    Channel {
        name: "rejected",
        unit: "",
        meaning: "explicit steps redone shorter: their error was too large",
    },
    Channel { name: "corrected", unit: "", meaning: "particles moved by corrections, summed over steps" },
    Channel {
        name: "halved",
        unit: "",
        meaning: "substeps redone as two halves: too fast for what meets, or blocked",
    },
    Channel { name: "contacts", unit: "", meaning: "most pairs that might push in one substep" },
    Channel { name: "passes", unit: "", meaning: "passes of the guarantee" },
    Channel {
        name: "cut",
        unit: "",
        meaning: "particles that the guarantee stopped short, summed over substeps",
    },
    Channel {
        name: "wished_motion",
        unit: "m",
        meaning: "motion asked of the guarantee, summed over particles",
    },
    Channel { name: "kept_motion", unit: "m", meaning: "what the guarantee kept of that" },
    Channel { name: "removed_impulse", unit: "N·s", meaning: "impulse that the guarantee removed" },
    Channel { name: "step_error", unit: "m", meaning: "explicit steps: largest estimated error of one" },
    Channel { name: "residual", unit: "N", meaning: "largest force left unbalanced on a particle" },
    Channel { name: "residual_ratio", unit: "", meaning: "the same over the mean weight of a particle" },
    Channel {
        name: "residual_rms",
        unit: "m/s²",
        meaning: "root mean square of what a step left unbalanced, as an acceleration",
    },
];

impl Counters {
    /// Values in the order of [`COUNTER_CHANNELS`].
    pub fn values(&self) -> [f64; COUNTER_CHANNELS.len()] {
        [
            self.substeps as f64,
            self.retries as f64,
            self.stages as f64,
            self.solves as f64,
            self.iterations as f64,
            self.capped as f64,
            self.indefinite as f64,
            self.shortened as f64,
            self.guarded as f64,
            self.unconverged as f64,
            self.honey as f64,
            self.evaluations as f64,
            self.rejected as f64,
            self.corrected as f64,
            self.halved as f64,
            self.contacts as f64,
            self.passes as f64,
            self.cut as f64,
            self.wished,
            self.kept,
            self.removed,
            self.step_error,
            self.residual,
            self.residual_ratio,
            self.residual_rms,
        ]
    }

    /// Adds what happened elsewhere.
    pub fn merge(&mut self, other: &Counters) {
        self.substeps += other.substeps;
        self.retries += other.retries;
        self.stages += other.stages;
        self.solves += other.solves;
        self.iterations += other.iterations;
        self.capped += other.capped;
        self.indefinite += other.indefinite;
        self.shortened += other.shortened;
        self.guarded += other.guarded;
        self.unconverged += other.unconverged;
        self.honey += other.honey;
        self.evaluations += other.evaluations;
        self.rejected += other.rejected;
        self.corrected += other.corrected;
        self.halved += other.halved;
        self.contacts = self.contacts.max(other.contacts);
        self.passes += other.passes;
        self.cut += other.cut;
        self.wished += other.wished;
        self.kept += other.kept;
        self.removed += other.removed;
        self.step_error = self.step_error.max(other.step_error);
        self.residual = self.residual.max(other.residual);
        self.residual_ratio = self.residual_ratio.max(other.residual_ratio);
        self.residual_rms = self.residual_rms.max(other.residual_rms);
        for (mine, theirs) in self.seconds.iter_mut().zip(other.seconds) {
            *mine += theirs;
        }
    }
}

/// A clock: seconds since any fixed instant.
pub type Clock<'a> = &'a (dyn Fn() -> f64 + Sync);

/// Watches a step: counts, and times the stages if it has a clock.
#[derive(Clone, Copy, Default)]
pub struct Probe<'a> {
    clock: Option<Clock<'a>>,
    since: f64,
    /// What was counted so far.
    pub counters: Counters,
}

impl<'a> Probe<'a> {
    /// A probe that reads `clock`.
    pub fn with_clock(clock: Clock<'a>) -> Self {
        Probe { clock: Some(clock), since: clock(), counters: Counters::default() }
    }

    /// A probe with the same clock and nothing counted.
    pub fn fresh(&self) -> Self {
        Probe { clock: self.clock, since: self.clock.map_or(0.0, |c| c()), counters: Counters::default() }
    }

    /// Starts timing.
    pub(crate) fn start(&mut self) {
        self.since = self.clock.map_or(0.0, |clock| clock());
    }

    /// Books the time since the last call on `stage`.
    pub(crate) fn lap(&mut self, stage: Stage) {
        if let Some(clock) = self.clock {
            let now = clock();
            self.counters.seconds[stage as usize] += now - self.since;
            self.since = now;
        }
    }
}

/// Where the energy is [J], and how far the cloth is stretched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Energies {
    /// ½ m v².
    pub kinetic: f64,
    /// −m g·x.
    pub gravity: f64,
    /// Stored energy of each family of forces, by name, in order of first appearance.
    pub stored: Vec<(&'static str, f64)>,
}

impl Energies {
    /// Sum of all.
    pub fn total(&self) -> f64 {
        self.stored.iter().fold(self.kinetic + self.gravity, |sum, (_, energy)| sum + energy)
    }
}
