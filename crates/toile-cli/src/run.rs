//! `toile run` and `toile resume`: a scene becomes frames, figures, pictures and a verdict.

use crate::Context;
use crate::certify::Judge;
use crate::fail::Failure;
use crate::picture::{Painter, Shown};
use crate::topology;
use clap::Args;
use glam::DVec3;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use toile::collide::certify::Distance;
use toile::contact::{Release, Tangle};
use toile::mesh::Mesh;
use toile::probe::{COUNTER_CHANNELS, Counters, Stage};
use toile::{Cloth, Probe};
use toile_io::build::{Built, build};
use toile_io::cache::{Cache, CacheOptions};
use toile_io::convert::SMOOTHED;
use toile_io::run::{
    Existing, Frame, Outcome, ReleaseLine, RunFolder, StatsWriter, Status, TangleEvent, TangleLine, Topology,
    VERSION, input_hash, load_snapshot, save_snapshot, single_precision, tangle_lines,
};
use toile_io::scene::{Resolved, Scene, resolve};
use toile_io::tailor::{EditLine, EditOutcome, Tailor};

/// Options of `toile run`.
#[derive(Args)]
pub struct RunArgs {
    /// A built-in scene, a folder with a scene.toml, or a scene file.
    scene: String,
    /// Override a field of the scene: `--set cloth.0.fabric.density=0.3`. May be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Frames to simulate instead of the scene's: `1-100` or a count.
    #[arg(long)]
    frames: Option<String>,
    /// Output folder. Default: `out/<scene>`, with a number if that is taken.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Replace the run that the output folder holds.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    after: AfterArgs,
}

/// Options of `toile resume`.
#[derive(Args)]
pub struct ResumeArgs {
    /// Folder of the run.
    folder: PathBuf,
    #[command(flatten)]
    after: AfterArgs,
}

/// What follows a simulation.
#[derive(Args, Clone, Copy, Default)]
struct AfterArgs {
    /// Also make an animation.
    #[arg(long)]
    animate: bool,
    /// Make no picture and no animation.
    #[arg(long)]
    no_picture: bool,
    /// Do not check the frames for intersections.
    #[arg(long)]
    no_check: bool,
}

/// `toile` without arguments.
pub fn showcase(context: Context) -> Result<(), Failure> {
    let scene = Scene::open(&resolve("canopy")?, &[])?;
    let after = AfterArgs { animate: true, ..AfterArgs::default() };
    start(&scene, None, false, after, context)
}

/// `toile run`.
pub fn run(args: &RunArgs, context: Context) -> Result<(), Failure> {
    let mut set = args.set.clone();
    if let Some(frames) = &args.frames {
        let range = frames.contains('-');
        set.push(if range { format!("frames=\"{frames}\"") } else { format!("frames={frames}") });
    }
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let source: Resolved = resolve(&args.scene)?;
    let scene = Scene::open(&source, &set)?;
    start(&scene, args.out.as_deref(), args.force, args.after, context)
}

fn start(
    scene: &Scene,
    out: Option<&Path>,
    force: bool,
    after: AfterArgs,
    context: Context,
) -> Result<(), Failure> {
    let built = build(scene)?;
    say_notes(scene, &built, context);
    let existing = if force { Existing::Replace } else { Existing::Refuse };
    let folder = out.map_or_else(|| free_folder(&scene.name), Path::to_path_buf);
    let run = RunFolder::create(&folder, scene, &built.inputs, existing)?;
    let start = built.world.cloths().to_vec();
    Simulation::new(scene, built, start, run, context)?.go(None, after)
}

/// `toile resume`.
pub fn resume(args: &ResumeArgs, context: Context) -> Result<(), Failure> {
    let old = RunFolder::open(&args.folder)?;
    let scene = old.scene()?;
    let mut built = build(&scene)?;
    let start = built.world.cloths().to_vec();
    let run = RunFolder::create(&args.folder, &scene, &built.inputs, Existing::Resume)?;
    if let Some(note) = run.lock_note().filter(|_| !context.quiet) {
        eprintln!("note: {note}");
    }
    let checkpoint = whole_until(&run, scene.frames.first).and_then(|last| run.newest_checkpoint(last));
    let from = match &checkpoint {
        None => None,
        Some(checkpoint) => {
            for note in checkpoint.notes.iter().filter(|_| !context.quiet) {
                eprintln!("note: {note}");
            }
            let snapshot = load_snapshot(&run, checkpoint)?;
            built.world.restore(snapshot).map_err(|error| Failure::Refused(error.to_string()))?;
            Some(checkpoint.frame)
        }
    };
    let complete = run.outcome()?.is_some_and(|outcome| outcome.status == Status::Ok);
    if complete && from.is_some_and(|frame| frame >= scene.frames.last) {
        eprintln!("this run is complete: frame {} is on disk, nothing was changed", scene.frames.last);
        return Ok(());
    }
    run.rewind(from)?;
    Simulation::new(&scene, built, start, run, context)?.go(from, args.after)
}

/// The last frame before the first that is missing or damaged: everything after it is simulated again.
fn whole_until(run: &RunFolder, first: u32) -> Option<u32> {
    (first..).take_while(|frame| run.read_frame(*frame).is_ok()).last()
}

fn say_notes(scene: &Scene, built: &Built, context: Context) {
    if context.quiet {
        return;
    }
    for note in &scene.notes {
        eprintln!("note: {} — {}", note.message, note.help);
    }
    for note in &built.notes {
        eprintln!("note: {note}");
    }
}

/// `out/<name>`, or with the first free number: a run is never overwritten unasked.
fn free_folder(name: &str) -> PathBuf {
    let base = Path::new("out");
    let mut folder = base.join(name);
    let mut number = 2;
    while folder.exists() {
        folder = base.join(format!("{name}-{number}"));
        number += 1;
    }
    folder
}

/// A run in progress.
struct Simulation<'a> {
    scene: &'a Scene,
    built: Built,
    run: RunFolder,
    context: Context,
    /// The cloths as the scene builds them.
    start: Vec<Cloth>,
    /// The topology they start with, the meshes they have, and the id of these.
    first: Topology,
    meshes: Vec<Arc<Mesh>>,
    topology: u64,
    tailor: Tailor,
    begun: Instant,
    last: Option<u32>,
    /// What was counted in all frames of this run.
    totals: Counters,
}

impl<'a> Simulation<'a> {
    /// Writes the topology, so that the folder can be read from its first frame on.
    fn new(
        scene: &'a Scene,
        built: Built,
        start: Vec<Cloth>,
        run: RunFolder,
        context: Context,
    ) -> Result<Self, Failure> {
        let first = topology::first(scene, &built, &start);
        run.write_topology(&first)?;
        let tailor = Tailor::new(scene, &run.read_edits()?, &built.world);
        Ok(Simulation {
            scene,
            built,
            run,
            context,
            meshes: topology::meshes(&start),
            start,
            topology: first.id(),
            first,
            tailor,
            begun: Instant::now(),
            last: None,
            totals: Counters::default(),
        })
    }

    /// Writes the topology if a cloth has another mesh than in the frame before.
    fn write_topology(&mut self) -> Result<(), Failure> {
        let cloths = self.built.world.cloths();
        if cloths.iter().zip(&self.meshes).all(|(cloth, mesh)| Arc::ptr_eq(&cloth.mesh, mesh)) {
            return Ok(());
        }
        let now = topology::now(self.scene, &self.first, &self.start, &self.built.world);
        self.meshes = topology::meshes(cloths);
        self.topology = now.id();
        if self.topology != self.first.id() {
            self.run.write_later_topology(&now)?;
        }
        Ok(())
    }

    /// Does the edits that are due before a frame, and says what must wait or cannot be.
    fn edit(&mut self, frame: u32) -> Result<(), Failure> {
        let lines = self.tailor.work(&mut self.built.world, frame);
        let aloud = |line: &&EditLine| line.outcome != EditOutcome::Done && !self.context.quiet;
        for line in lines.iter().filter(aloud) {
            let number = line.edit.unwrap_or_default();
            eprintln!("note: frame {frame}: edit {number} ({}): {}", line.what, line.message);
        }
        Ok(self.run.append_edits(&lines)?)
    }

    /// What became of the scene's edits, over the whole run and not only since it was resumed.
    fn edits(&self) -> Vec<String> {
        let lines = self.run.read_edits().unwrap_or_default();
        let count =
            |outcome| lines.iter().filter(|line| line.edit.is_some() && line.outcome == outcome).count();
        let mut said = Vec::new();
        if !self.scene.edits.is_empty() {
            let (all, done) = (self.scene.edits.len(), count(EditOutcome::Done));
            let open = self.built.world.seams();
            let widest = open.iter().map(|closing| closing.distance).fold(0.0, f64::max);
            let seams = match open.len() {
                0 => String::new(),
                n => format!(", {n} seams are still open by up to {:.2} mm", 1e3 * widest),
            };
            said.push(format!(
                "{done} of {all} edits were done, {} had to wait, {} were impossible and {} are left{seams}; `edits.jsonl` \
                 lists them",
                count(EditOutcome::Waits),
                count(EditOutcome::Impossible),
                self.tailor.left(),
            ));
        }
        let impossible = lines.iter().filter(|line| line.outcome == EditOutcome::Impossible);
        said.extend(impossible.map(|line| {
            format!("edit {} in frame {}: {}", line.edit.unwrap_or_default(), line.frame, line.message)
        }));
        said
    }

    /// Simulates what is left, then pictures and verdict; always ends with a written outcome.
    fn go(mut self, from: Option<u32>, after: AfterArgs) -> Result<(), Failure> {
        self.last = from;
        let result = self.frames(from);
        let (status, reason, message) = match &result {
            Ok(()) => (Status::Ok, "done", "every frame was written".to_string()),
            Err(failure) => {
                let interrupted = matches!(failure, Failure::Interrupted);
                let status = if interrupted { Status::Interrupted } else { Status::Failed };
                (status, failure.reason(), failure.message())
            }
        };
        let outcome = Outcome {
            status,
            reason: reason.into(),
            message,
            frame: self.last,
            seed: self.scene.seed,
            toile: VERSION.into(),
            input_hash: input_hash(self.scene, &self.built.inputs),
            paper_modes: self.scene.paper_modes(),
            notes: self.built.notes.clone(),
            seconds: self.begun.elapsed().as_secs_f64(),
        };
        // If even this cannot be written (disk full), the first failure is the one to report.
        let written = self.run.write_outcome(&outcome);
        let report = self.finish(&result, &outcome, after);
        result?;
        written?;
        report
    }

    fn frames(&mut self, from: Option<u32>) -> Result<(), Failure> {
        let range = self.scene.frames;
        let stop = stop_flag();
        let bar = self.progress_bar(from);
        let mut pulse = Pulse { begun: Instant::now(), last: Instant::now(), frames: 0 };
        let mut stats = self.run.stats()?;
        let origin = Instant::now();
        let clock = || origin.elapsed().as_secs_f64();
        for number in from.map_or(range.first, |f| f + 1)..=range.last {
            let mut probe = Probe::with_clock(&clock);
            let start = clock();
            self.edit(number)?;
            let tangled = if number > range.first { self.built.world.tangled().to_vec() } else { Vec::new() };
            if number > range.first {
                let step = self.built.world.step(self.scene.frame_time, &mut probe);
                step.map_err(|error| Failure::Simulation(format!("frame {number}: {error}")))?;
            }
            let sewn = self.tailor.sewn(&self.built.world, number);
            self.run.append_edits(&sewn)?;
            self.write_topology()?;
            self.built.place(self.built.world.time())?;
            self.log_releases(number)?;
            self.log_tangles(number, &tangled)?;
            self.totals.merge(&probe.counters);
            self.write_frame(number, &probe, clock() - start, &mut stats)?;
            self.last = Some(number);
            let every = self.scene.output.checkpoint_every;
            let stopped = stop.load(Ordering::SeqCst) > 0;
            let due = every > 0 && (number - range.first).is_multiple_of(every);
            if due || number == range.last || stopped {
                save_snapshot(&self.run, number, &self.built.world.snapshot())?;
            }
            bar.inc(1);
            pulse.beat(number, range.last, !self.context.quiet && bar.is_hidden());
            if stopped && number < range.last {
                bar.abandon();
                return Err(Failure::Interrupted);
            }
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Writes down what bodies were let through in a frame.
    fn log_releases(&mut self, frame: u32) -> Result<(), Failure> {
        let releases = self.built.world.take_releases();
        let cloths = self.built.world.cloths();
        let line = |r: &Release| ReleaseLine {
            frame,
            time: r.time,
            cloth: cloths[r.cloth as usize].name.clone(),
            vertex: r.vertex,
            through: r.through,
        };
        self.run.append_releases(&releases.iter().map(line).collect::<Vec<_>>())?;
        Ok(())
    }

    /// Writes down what is tangled otherwise than `before`; everything that intersects at the start and at the end.
    fn log_tangles(&self, frame: u32, before: &[Tangle]) -> Result<(), Failure> {
        let world = &self.built.world;
        let range = self.scene.frames;
        let found = !world.tangled().is_empty() && (frame == range.first || frame == range.last);
        if found || world.tangled() != before {
            self.run.append_tangles(&tangle_lines(world, before, frame, found))?;
        }
        Ok(())
    }

    /// What was tangled at the start and what still is, over the whole run and not only since it was resumed.
    fn tangled(&self) -> Option<String> {
        let lines = self.run.read_tangles().unwrap_or_default();
        let count = |line: &TangleLine| match &line.event {
            TangleEvent::Found { pairs, inside } => Some((pairs.clone(), inside.clone())),
            TangleEvent::Exempt { .. } => None,
        };
        let (pairs, inside) = lines.iter().find_map(count)?;
        let first = match (pairs.first(), inside.first()) {
            (Some([(a, f), (b, g)]), _) => format!("first \"{a}\" face {f} with \"{b}\" face {g}"),
            (None, Some((cloth, vertex, body))) => format!("first \"{cloth}\" vertex {vertex} in \"{body}\""),
            (None, None) => return None,
        };
        let last = lines.iter().map(|line| line.frame).max().unwrap_or(0);
        let left = match self.built.world.tangled().len() {
            0 => format!("all clear in frame {last}"),
            n => {
                let still = self.built.world.tangles();
                let vertices = if still.inside.is_empty() {
                    String::new()
                } else {
                    format!(" and {} vertices", still.inside.len())
                };
                format!(
                    "{n} tangles with {} pairs{vertices} are left and exempt: start them apart",
                    still.pairs.len()
                )
            }
        };
        Some(format!(
            "{} pairs of faces intersected at the start and {} vertices were inside bodies, {first}; {left}; \
             `tangles.jsonl` lists them",
            pairs.len(),
            inside.len(),
        ))
    }

    fn write_frame(
        &self,
        number: u32,
        probe: &Probe,
        seconds: f64,
        stats: &mut StatsWriter,
    ) -> Result<(), Failure> {
        let world = &self.built.world;
        let cloths = 0..world.cloths().len();
        let all =
            |values: &dyn Fn(usize) -> Vec<[f32; 3]>| cloths.clone().flat_map(values).collect::<Vec<_>>();
        let narrow = |values: Vec<DVec3>| values.iter().map(|v| v.as_vec3().to_array()).collect();
        let velocities = self.scene.output.velocities;
        let moving = self.built.bodies.iter().filter(|body| body.collider.moves());
        let frame = Frame {
            frame: number,
            time: world.time(),
            topology: self.topology,
            counts: world.cloths().iter().map(|c| c.positions.len() as u32).collect(),
            positions: all(&|c| world.positions_f32(c)),
            velocities: velocities.then(|| all(&|c| narrow(world.velocities(c)))),
            bodies: moving.flat_map(|body| single_precision(body.collider.positions())).collect(),
        };
        self.run.write_frame(&frame)?;
        stats.append(&self.statistics(number, probe, seconds))?;
        Ok(())
    }

    /// The line of a frame in `stats.jsonl`; docs/formats.md lists the keys.
    fn statistics(&self, number: u32, probe: &Probe, seconds: f64) -> Value {
        let world = &self.built.world;
        let mut line = Map::new();
        line.insert("frame".into(), json!(number));
        line.insert("time".into(), json!(world.time()));
        line.insert("fingerprint".into(), json!(format!("{:016x}", world.fingerprint())));
        for (channel, value) in COUNTER_CHANNELS.iter().zip(probe.counters.values()) {
            // Counts have no unit and no fraction.
            let count = channel.unit.is_empty() && value.fract() == 0.0 && channel.name != "residual_ratio";
            line.insert(channel.name.into(), if count { json!(value as u64) } else { json!(value) });
        }
        let (_, centre, _) = world.momentum();
        line.insert("centre".into(), json!(centre.to_array()));
        let energies = world.energies();
        let mut energy = Map::new();
        energy.insert("kinetic".into(), json!(energies.kinetic));
        energy.insert("gravity".into(), json!(energies.gravity));
        for (name, value) in &energies.stored {
            energy.insert((*name).into(), json!(value));
        }
        line.insert("energy".into(), Value::Object(energy));
        let mut strains: Vec<f64> = (0..world.cloths().len()).flat_map(|c| world.strains(c)).collect();
        strains.sort_by(f64::total_cmp);
        let at = |part: f64| strains[((strains.len() - 1) as f64 * part) as usize];
        line.insert("strain_max".into(), json!(at(1.0)));
        line.insert("strain_p95".into(), json!(at(0.95)));
        line.insert("seconds".into(), json!(seconds));
        let stages = Stage::ALL.iter().zip(probe.counters.seconds);
        let stages: Map<String, Value> = stages.map(|(s, t)| (s.name().into(), json!(t))).collect();
        line.insert("stages".into(), Value::Object(stages));
        Value::Object(line)
    }

    /// What guards and limits did in this run, in sentences.
    fn acted(&self) -> Vec<String> {
        let c = &self.totals;
        let of = |count: u64, all: u64, what: &str, then: &str| {
            (count > 0).then(|| format!("{count} of {all} {what}; {then}"))
        };
        [
            of(
                c.honey,
                c.substeps,
                "substeps left far more unbalanced than moved the cloth: it falls like honey",
                "linear-euler and lambda-midpoint linearise once: use bdf2, or many more substeps",
            ),
            of(c.guarded, c.substeps, "substeps were redone carefully", "more substeps make them rare"),
            of(
                c.unconverged,
                c.stages,
                "stages were accepted without convergence",
                "use more substeps; `stats.jsonl` says which frames",
            ),
            of(
                c.capped,
                c.solves,
                "linear solves ended at max_iterations",
                "raise it, or use preconditioner = \"cholesky\"",
            ),
            of(c.indefinite, c.solves, "linear solves met no positive matrix", "their results are rough"),
            of(c.retries, c.substeps, "substeps were halved to stay finite", "more substeps make them rare"),
        ]
        .into_iter()
        .flatten()
        .chain(self.let_through())
        .chain(self.tangled())
        .chain(self.edits())
        .collect()
    }

    /// How many vertices bodies were let through and when first, over the whole run and not only since it was resumed.
    fn let_through(&self) -> Option<String> {
        // A log that cannot be read stops no run; the verdict counts what it can.
        let lines = self.run.read_releases().unwrap_or_default();
        let through: Vec<&ReleaseLine> = lines.iter().filter(|line| line.through).collect();
        let first = through.first()?;
        let vertices: BTreeSet<_> = through.iter().map(|line| (&line.cloth, line.vertex)).collect();
        let still = self.built.world.let_through().len();
        Some(format!(
            "bodies were let through {} vertices, first \"{}\" vertex {} in frame {} at {:.3} s, {still} of them still \
             at the end; `releases.jsonl` lists them: give the cloth room between what closes on it",
            vertices.len(),
            first.cloth,
            first.vertex,
            first.frame,
            first.time,
        ))
    }

    fn progress_bar(&self, from: Option<u32>) -> ProgressBar {
        let range = self.scene.frames;
        if self.context.quiet {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(range.count()), ProgressDrawTarget::stderr());
        let style = "{msg} {wide_bar} {pos}/{len} · {per_sec} · {eta_precise} left";
        bar.set_style(ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(self.scene.name.clone());
        bar.enable_steady_tick(Duration::from_millis(500));
        bar.set_position(u64::from(from.map_or(0, |f| f + 1 - range.first)));
        if bar.is_hidden() {
            eprintln!("simulating {}: frames {}–{}", self.scene.name, range.first, range.last);
        }
        bar
    }

    /// Verdict, pictures and the closing words.
    fn finish(
        &self,
        result: &Result<(), Failure>,
        outcome: &Outcome,
        after: AfterArgs,
    ) -> Result<(), Failure> {
        let mut files = Vec::new();
        let mut certificate = None;
        if result.is_ok() {
            let mut cache = Cache::open(self.run.root(), &CacheOptions::default())?;
            if !after.no_check {
                let judge =
                    Judge::new(cache.objects.clone(), false, Distance::Exact).map_err(Failure::Refused)?;
                let mut judge = judge.of_run(&self.run);
                let all = 0..cache.frames().len();
                judge_cache(&mut cache, all, &mut judge);
                let verdict = judge.certificate().clone();
                let path = self.run.root().join("certificate.json");
                toile_io::atomic::write_atomic(&path, format!("{:#}\n", json!(verdict)).as_bytes())?;
                files.push(path);
                certificate = Some(verdict);
            }
            if !after.no_picture {
                let painter = Painter::new(self.scene, &self.built, &self.start)?;
                let last = cache.frames().len() - 1;
                let path = self.run.root().join("picture.png");
                painter.still(&mut cache, last, &Shown::default(), &path)?;
                files.push(path);
                if after.animate {
                    let path = self.run.root().join("animation.png");
                    painter.animation(
                        &mut cache,
                        self.scene.render.every as usize,
                        &path,
                        self.context.quiet,
                    )?;
                    files.push(path);
                }
            }
        }
        let smoothed = result.is_ok() && !after.no_picture && self.scene.render.smooth > 1;
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        if !self.context.quiet {
            let frame = outcome.frame.map_or("no frame".into(), |f| format!("frame {f}"));
            eprintln!(
                "{} · {frame} · {:.1} s · {}",
                self.scene.name,
                outcome.seconds,
                self.run.root().display()
            );
            for line in self.acted().iter().chain(&outcome.paper_modes) {
                eprintln!("note: {line}");
            }
            if smoothed {
                eprintln!("note: pictures are {SMOOTHED}");
            }
            if let Some(certificate) = &certificate {
                eprintln!("{}", certificate.headline());
                if !certificate.pass {
                    let folder = self.run.root().display();
                    eprintln!("      toile check {folder} --picture worst.png names and shows every pair");
                }
            }
            names.iter().for_each(|name| eprintln!("wrote {name}"));
        }
        // A failure gets its line of JSON where every command's failures do.
        if self.context.json && matches!(result, Ok(()) | Err(Failure::Interrupted)) {
            let mut line = json!({
                "status": outcome.status, "reason": outcome.reason, "frame": outcome.frame,
                "folder": self.run.root().display().to_string(),
                "fingerprint": format!("{:016x}", self.built.world.fingerprint()),
                "acted": self.acted(), "paper_modes": outcome.paper_modes, "notes": outcome.notes, "certificate": certificate, "files": names, "seconds": outcome.seconds,
            });
            if smoothed {
                line["note"] = SMOOTHED.into();
            }
            println!("{line}");
        }
        Ok(())
    }
}

/// A sign of life where there is no terminal for a progress bar.
struct Pulse {
    begun: Instant,
    last: Instant,
    frames: u32,
}

impl Pulse {
    /// Every few seconds, says which frame is done and how long the rest will take.
    fn beat(&mut self, frame: u32, last: u32, aloud: bool) {
        self.frames += 1;
        if aloud && self.last.elapsed() > Duration::from_secs(5) {
            self.last = Instant::now();
            let left = self.begun.elapsed().as_secs_f64() / f64::from(self.frames) * f64::from(last - frame);
            eprintln!("frame {frame} of {last} · {left:.0} s left");
        }
    }
}

/// Judges the frames at these positions of a cache.
pub fn judge_cache(cache: &mut Cache, indices: impl Iterator<Item = usize>, judge: &mut Judge) {
    for index in indices {
        let number = cache.frames()[index];
        match cache.read(index) {
            Ok(frame) => {
                if let Err(error) = judge.look_at(&frame.objects) {
                    judge.unreadable(number, error);
                    continue;
                }
                let positions: Vec<&[DVec3]> = frame.positions.iter().map(Vec::as_slice).collect();
                judge.judge(number, &positions);
            }
            Err(error) => judge.unreadable(number, error.to_string()),
        }
    }
}

/// Counts requests to stop: the first finishes the frame, the second ends at once.
fn stop_flag() -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let inner = Arc::clone(&count);
    // Only the first run of a process gets the signal; there is only one.
    let _ = ctrlc::set_handler(move || {
        if inner.fetch_add(1, Ordering::SeqCst) > 0 {
            std::process::exit(130);
        }
        eprintln!("\nfinishing this frame; once more stops at once");
    });
    count
}
