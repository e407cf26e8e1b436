//! The exact checker on frames as they were stored, and what happened between them. docs/certificate.md says what is
//! proven and what is not.

use glam::DVec3;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use toile::collide::certify::{
    Audit, CheckOptions, CheckSurface, Checker, Distance, Finding, Kind, SideTest, Verdict,
};
use toile_io::cache::CacheObject;
use toile_io::run::{Figures, Role, RunFolder, chain};

/// Pairs listed per frame in reports; the rest is counted.
const LISTED: usize = 50;

/// The verdict on a whole cache.
#[derive(Clone, Debug, Serialize)]
pub struct Certificate {
    /// Whether every frame passed.
    pub pass: bool,
    /// Frames judged.
    pub frames: usize,
    /// Smallest distance between features that share no vertex [m], over all frames; 0 where faces intersect.
    pub min_distance: Option<f64>,
    /// Where that was.
    pub closest: Option<String>,
    /// The frame where that was.
    pub closest_frame: Option<i64>,
    /// First frame that failed.
    pub first_bad: Option<i64>,
    /// The frame with most findings.
    pub worst_frame: Option<i64>,
    /// Every failing frame with what was found.
    pub bad: Vec<BadFrame>,
    /// Points that went through something between two frames, over all frames.
    pub passages: usize,
    /// Points that either went through something or round its border: no fault, but not proven.
    pub undecided: usize,
    /// Frames in which a cloth has another mesh than in the frame before; nobody looked for what went through something
    /// there.
    #[serde(skip_serializing_if = "is_zero")]
    pub changes: usize,
    /// Intersections of bodies with cloth that was pinched between them and let through, over all frames: known, and no fault
    /// of the cloth's.
    pub exempt: usize,
    /// The frames in which they are.
    pub exempt_frames: Vec<i64>,
    /// Those of them that were there at the start and are not yet undone, over all frames.
    pub tangled: usize,
    /// The frames in which they are.
    pub tangled_frames: Vec<i64>,
    /// What may have met between frames if all points moved straight; null without an audit.
    pub audit: Option<AuditReport>,
    /// Whether the run was made under the guarantee ("on"), or not ("not guaranteed"); null where nobody knows.
    pub guarantee: Option<&'static str>,
    /// Hash of all positions judged, each frame's chained to the one before.
    pub hash: String,
    /// A line for each frame.
    pub by_frame: Vec<FrameLine>,
    /// What this certificate does and does not say.
    pub scope: &'static str,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A failing frame.
#[derive(Clone, Debug, Serialize)]
pub struct BadFrame {
    /// Frame number.
    pub frame: i64,
    /// Number of findings.
    pub count: usize,
    /// The first ones, by object and element.
    pub findings: Vec<String>,
}

/// The certificate of one frame.
#[derive(Clone, Debug, Serialize)]
pub struct FrameLine {
    /// Frame number.
    pub frame: i64,
    /// Whether it passed.
    pub pass: bool,
    /// Pairs of faces that intersect.
    pub intersections: usize,
    /// Smallest distance [m].
    pub min_distance: Option<f64>,
    /// Points that went through something since the frame before; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passages: Option<usize>,
    /// Points that went through something or round its border since the frame before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<usize>,
    /// Hash of the positions, chained to the frame before.
    pub hash: String,
    /// What the run itself counted: strain, residual, removed impulse and more, by the names of `stats.jsonl`.
    #[serde(flatten)]
    pub figures: Map<String, Value>,
}

/// What an audit found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AuditReport {
    /// Steps between consecutive frames that were audited.
    pub steps: usize,
    /// Steps in which something may have met.
    pub steps_met: usize,
    /// Pairs that may have met.
    pub pairs: usize,
    /// The first ones of each such step.
    pub met: Vec<String>,
    /// What this means.
    pub caveat: &'static str,
}

const CAVEAT: &str = "points are taken to move straight from frame to frame; on such paths nothing is missed, but cloth \
that slides or turns cuts corners it did not cut, so pairs are places to look at, not faults";

const SCOPE: &str = "each stored frame: finite values, sound topology, no edge meets a face (exact predicates on the \
stored values), save where bodies were let through pinched cloth and where cloth that started tangled is not yet clear; between consecutive frames: no point of a sample changed sides, save where it may have gone round a \
border; vertices and triangles count from 0";

/// Judges frame after frame.
pub struct Judge {
    checker: Checker,
    surfaces: Vec<CheckSurface>,
    /// What the surfaces are those of.
    objects: Arc<Vec<CacheObject>>,
    options: CheckOptions,
    sides: Option<SideTest>,
    audit: Option<Audit>,
    figures: Figures,
    last: Option<i64>,
    hash: u64,
    certificate: Certificate,
}

impl Judge {
    /// A judge of these objects.
    pub fn new(objects: Arc<Vec<CacheObject>>, bodies: bool, distance: Distance) -> Result<Judge, String> {
        let options = CheckOptions { distance, bodies, ..CheckOptions::default() };
        let surfaces = surfaces_of(&objects);
        let checker = Checker::new(surfaces.clone(), options).map_err(|error| error.to_string())?;
        let certificate = Certificate {
            pass: true,
            frames: 0,
            min_distance: None,
            closest: None,
            closest_frame: None,
            first_bad: None,
            worst_frame: None,
            bad: Vec::new(),
            passages: 0,
            undecided: 0,
            changes: 0,
            exempt: 0,
            exempt_frames: Vec::new(),
            tangled: 0,
            tangled_frames: Vec::new(),
            audit: None,
            guarantee: None,
            hash: format!("{:016x}", 0),
            by_frame: Vec::new(),
            scope: SCOPE,
        };
        let sides = Some(SideTest::new(&surfaces));
        let figures = Figures::default();
        Ok(Judge {
            checker,
            surfaces,
            objects,
            options,
            sides,
            audit: None,
            figures,
            last: None,
            hash: 0,
            certificate,
        })
    }

    /// The frames that follow are those of other objects, if they are others: cloth was cut, sewn or refined. What went through
    /// something between the two meshes is not known.
    pub fn look_at(&mut self, objects: &Arc<Vec<CacheObject>>) -> Result<(), String> {
        if Arc::ptr_eq(objects, &self.objects) {
            return Ok(());
        }
        self.surfaces = surfaces_of(objects);
        self.checker =
            Checker::new(self.surfaces.clone(), self.options).map_err(|error| error.to_string())?;
        self.sides = self.sides.as_ref().map(|_| SideTest::new(&self.surfaces));
        self.audit = self.audit.as_ref().map(|_| Audit::new(&self.surfaces, LISTED));
        (self.objects, self.last) = (objects.clone(), None);
        self.certificate.changes += 1;
        Ok(())
    }

    /// Leaves out what happens between frames.
    pub fn without_sides(mut self) -> Judge {
        self.sides = None;
        self
    }

    /// Also lists what may have met between frames.
    pub fn with_audit(mut self) -> Judge {
        self.audit = Some(Audit::new(&self.surfaces, LISTED));
        self.certificate.audit = Some(AuditReport { caveat: CAVEAT, ..AuditReport::default() });
        self
    }

    /// Adds what a run counted to the lines of its frames, and whether they were made under the guarantee of contact.
    pub fn of_run(mut self, run: &RunFolder) -> Judge {
        self.figures = run.figures();
        self.certificate.guarantee = run.guarantee().map(|on| if on { "on" } else { "not guaranteed" });
        self
    }

    /// Judges a frame and remembers the verdict.
    pub fn judge(&mut self, frame: i64, positions: &[&[DVec3]]) -> Verdict {
        let mut verdict = self.checker.check(positions);
        if self.figures.any_pinched(frame) {
            let (surfaces, figures) = (&self.surfaces, &self.figures);
            let name = |surface: u32| surfaces[surface as usize].name.as_str();
            self.checker.excuse(&mut verdict, |v| figures.is_pinched(frame, name(v.surface), v.vertex));
        }
        let mut tangled = 0;
        if self.figures.tangled.any(frame) {
            let (surfaces, figures, before) = (&self.surfaces, &self.figures, verdict.exempt);
            let name = |surface: u32| surfaces[surface as usize].name.as_str();
            self.checker.excuse_tangled(&mut verdict, |edge, face| {
                let (a, b) = (edge.map(|v| v.vertex), face.map(|v| v.vertex));
                figures.tangled.excuses(frame, (name(edge[0].surface), &a), (name(face[0].surface), &b))
            });
            tangled = verdict.exempt - before;
        }
        // What is inside a body says nothing about sides.
        // What is drawn back goes through what it should not have been behind.
        let free = verdict.pass() && verdict.exempt == 0 && !self.figures.tangled.any(frame);
        let between = self.between(frame, positions, free);
        self.hash = chain(self.hash, positions);
        let c = &mut self.certificate;
        c.frames += 1;
        c.hash = format!("{:016x}", self.hash);
        let intersections = verdict.intersections();
        let mut figures = self.figures.of(frame);
        if verdict.exempt > 0 {
            c.exempt += verdict.exempt;
            c.exempt_frames.push(frame);
            figures.insert("exempt".into(), verdict.exempt.into());
        }
        if tangled > 0 {
            c.tangled += tangled;
            c.tangled_frames.push(frame);
        }
        c.by_frame.push(FrameLine {
            frame,
            pass: verdict.pass() && between.went_through.is_empty(),
            intersections,
            min_distance: if intersections + verdict.exempt > 0 { Some(0.0) } else { verdict.min_distance() },
            passages: between.known.then_some(between.went_through.len()),
            undecided: between.known.then_some(between.undecided),
            hash: c.hash.clone(),
            figures,
        });
        c.passages += between.went_through.len();
        c.undecided += between.undecided;
        if verdict.intersections() + verdict.exempt > 0 {
            // Distances of features mean nothing where faces pass through one another.
            if c.min_distance != Some(0.0) {
                c.closest_frame = Some(frame);
            }
            c.min_distance = Some(0.0);
            c.closest = Some("intersecting faces".into());
        } else if let Some(closest) = verdict.closest
            && c.min_distance.is_none_or(|least| closest.distance < least)
        {
            c.min_distance = Some(closest.distance);
            c.closest = Some(self.checker.describe(closest).to_string());
            c.closest_frame = Some(frame);
        }
        if !verdict.pass() || !between.went_through.is_empty() {
            c.pass = false;
            c.first_bad.get_or_insert(frame);
            let count = verdict.findings.len() + verdict.unlisted + between.went_through.len();
            if c.bad.iter().all(|bad| count > bad.count) {
                c.worst_frame = Some(frame);
            }
            let own = verdict.findings.iter().map(|f: &Finding| self.checker.describe(*f).to_string());
            let findings = own.chain(between.went_through).take(LISTED).collect();
            c.bad.push(BadFrame { frame, count, findings });
        }
        verdict
    }

    /// What happened since the frame before, where that one was clean and is the one before this.
    fn between(&mut self, frame: i64, positions: &[&[DVec3]], clean: bool) -> Between {
        let mut between = Between::default();
        let follows = self.last.is_some_and(|last| last + 1 == frame);
        if !follows || !clean {
            self.sides.iter_mut().for_each(SideTest::forget);
            self.audit.iter_mut().for_each(Audit::forget);
        }
        self.last = clean.then_some(frame);
        if !clean {
            return between;
        }
        if let Some(sides) = &mut self.sides {
            let found = sides.step(positions);
            between.known = follows;
            between.undecided = found.undecided;
            let name = |p| format!("since frame {}: {}", frame - 1, self.checker.describe(p));
            between.went_through = found.passages.iter().map(|p| name(*p)).collect();
        }
        let found = self.audit.as_mut().and_then(|audit| audit.step(positions));
        if let (Some(found), Some(report)) = (found, &mut self.certificate.audit) {
            report.steps += 1;
            report.steps_met += usize::from(found.total > 0);
            report.pairs += found.total;
            let room = (20 * LISTED).saturating_sub(report.met.len());
            for met in found.met.iter().take(room) {
                let pair = self.checker.describe(met.pair);
                report.met.push(format!("frames {}–{frame}: {pair}", frame - 1));
            }
        }
        between
    }

    /// A frame that could not even be read fails.
    pub fn unreadable(&mut self, frame: i64, message: String) {
        self.last = None;
        let c = &mut self.certificate;
        c.frames += 1;
        c.pass = false;
        c.first_bad.get_or_insert(frame);
        c.bad.push(BadFrame { frame, count: 1, findings: vec![message] });
    }

    /// The verdict so far.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }
}

fn surfaces_of(objects: &[CacheObject]) -> Vec<CheckSurface> {
    let surface = |o: &CacheObject| {
        let kind = if o.role == Role::Cloth { Kind::Cloth } else { Kind::Body };
        CheckSurface::new(&o.name, kind, o.vertex_count, o.faces.clone())
    };
    objects.iter().map(surface).collect()
}

/// What happened between two frames.
#[derive(Default)]
struct Between {
    known: bool,
    went_through: Vec<String>,
    undecided: usize,
}

impl Certificate {
    /// One line for people, and more where there is more to say.
    pub fn headline(&self) -> String {
        let mut text = self.verdict();
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        if self.guarantee == Some("not guaranteed") {
            text += "\n      not guaranteed: contact.guarantee is off";
        }
        if self.undecided > 0 {
            let n = self.undecided;
            text += &format!(
                "\n      side test: {n} point{} went through something or round its border: undecided",
                plural(n)
            );
        }
        if self.changes > 0 {
            let n = self.changes;
            text +=
                &format!("\n      side test: cloth got another mesh {n} time{}, unknown there", plural(n));
        }
        if let Some(audit) = &self.audit {
            let (n, steps) = (audit.pairs, audit.steps);
            text += &format!(
                "\n      audit: {n} pair{} may have met in {} of {steps} step{}, if all moved straight",
                plural(n),
                audit.steps_met,
                plural(steps)
            );
        }
        text
    }

    fn verdict(&self) -> String {
        let frames = format!("{} frame{}", self.frames, if self.frames == 1 { "" } else { "s" });
        if self.pass {
            let gap = match (self.min_distance, &self.closest, self.closest_frame) {
                (Some(_), Some(closest), Some(frame)) => format!(", closest {closest} in frame {frame}"),
                _ => String::new(),
            };
            let save = |what: &str, frames: &[i64]| match frames {
                [] => String::new(),
                [first, rest @ ..] => format!(
                    ", save {what}, in {} frame{} from {first} to {}",
                    frames.len(),
                    if rest.is_empty() { "" } else { "s" },
                    rest.last().unwrap_or(first)
                ),
            };
            let pinched = if self.exempt > self.tangled { self.exempt_frames.as_slice() } else { &[] };
            let caught = save("pinched cloth in bodies that left it no room", pinched)
                + &save("cloth that started tangled and was not yet clear", &self.tangled_frames);
            format!("PASS  {frames} finite, well formed and free of intersections{caught}{gap}")
        } else {
            let first = self.first_bad.map_or(String::new(), |f| format!(", the first is frame {f}"));
            let fail = if self.bad.len() == 1 { "fails" } else { "fail" };
            format!("FAIL  {} of {frames} {fail}{first}", self.bad.len())
        }
    }
}
