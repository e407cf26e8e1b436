//! What detection costs beside what others offer: a sheet folded like an accordion into layers 2 mm apart, waving from frame to
//! frame, alone and with a body that it touches along a line.
//!
//! All are asked for the same: every vertex–face and edge–edge pair within the contact distance. Ours answers in one call;
//! ipctk finds candidates (its broad phases) and then filters them by distance; parry's tree finds pairs of faces, whose
//! features are then compared. The pairs must be the same, one by one. Times are ratios within one run: ours before and after
//! the others.

use crate::benches::check::accordion;
use crate::session::{Chart, Curve, LabError, Session};
use glam::DVec3;
use parry3d::bounding_volume::Aabb;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use toile::collide::proximity::{edge_edge, vertex_face};
use toile::collide::{Contact, Detector, Kind, Motion, Query, Role, Search, Settings, Shell};
use toile::mesh::{Pattern, Shape, shapes};

/// Contact distance [m].
const EPSILON: f64 = 1e-3;

/// Cells along a side of the sheet: 5000, 49,928 and 500,000 triangles; and frames timed.
const SIZES: [(usize, usize); 3] = [(50, 8), (158, 6), (500, 3)];

const THREADS: [usize; 2] = [1, 2];

const SCRIPT: &str = include_str!("detect.py");

/// A pair by its vertices, cloth before body: kind, then those of the first and the second feature.
type Key = (bool, [u32; 4]);

pub fn run(session: &mut Session) -> Result<(), LabError> {
    let python = std::env::var("TOILE_PYTHON").ok();
    if python.is_none() {
        session.note(
            "skipped: ipctk, because TOILE_PYTHON is not set (`cargo xtask python` says what to set it to)",
        );
    }
    let mut methods = vec!["LBVH", "HashGrid", "SpatialHash", "SweepAndPrune"];
    let (mut rows, mut curves) = (Vec::new(), BTreeMap::<String, Curve>::new());
    for (n, frames) in SIZES {
        let scene = Scene::new(n)?;
        let faces = scene.cloth.faces.len();
        let mut record = |what: &str, threads: usize, samples: &[f64], session: &mut Session| {
            session.time(format!("{faces} faces, {what}, {threads} threads"), "ms", samples);
            rows.push(format!("{faces},{threads},{what},{},{}", least(samples), median(samples)));
        };
        let mut ours = Vec::new();
        for threads in THREADS {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
            ours.push(pool.install(|| scene.ours(Search::Patches, frames))?);
        }
        let parry = scene.parry(frames)?;
        let theirs = match &python {
            Some(python) => Some(scene.ipctk(python, &methods, frames)?),
            None => None,
        };
        for (threads, ours) in THREADS.iter().zip(&mut ours) {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(*threads).build()?;
            ours.add(pool.install(|| scene.ours(Search::Patches, frames))?);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        let trees = pool.install(|| scene.ours(Search::Trees, frames))?;
        for (name, ours, threads) in
            [("ours", &ours[0], 1), ("ours", &ours[1], 2), ("ours with M03's trees", &trees, 1)]
        {
            record(&format!("{name}: build"), threads, &ours.build, session);
            record(&format!("{name}: refit"), threads, &ours.refit, session);
            record(&format!("{name}: self"), threads, &ours.alone, session);
            record(&format!("{name}: self and body"), threads, &ours.both, session);
        }
        let mut point = |name: &str, ms: f64| {
            let curve =
                curves.entry(name.into()).or_insert_with(|| Curve { name: name.into(), points: vec![] });
            curve.points.push((faces as f64, ms));
        };
        point("ours", least(&ours[0].alone));
        point("ours with M03's trees", least(&trees.alone));
        session.info(format!("{faces} faces: contacts, alone"), ours[0].pairs[0].len() as f64, "");
        session.info(format!("{faces} faces: contacts, with the body"), ours[0].pairs[1].len() as f64, "");
        let same =
            |pairs: &[Vec<Key>; 2]| (0..2).map(|k| differing(&ours[0].pairs[k], &pairs[k])).sum::<usize>();
        session.equal(
            format!("{faces} faces: pairs that differ, M03's trees"),
            same(&trees.pairs) as f64,
            "",
            0.0,
        );
        let from_parry = differing(&ours[0].pairs[0], &parry.pairs);
        session.equal(format!("{faces} faces: pairs that differ, parry"), from_parry as f64, "", 0.0);
        record("parry: build", 1, &parry.build, session);
        record("parry: refit and pairs of faces", 1, &parry.candidates, session);
        record("parry: self", 1, &parry.whole, session);
        point("parry", least(&parry.whole));
        let mut best = [[f64::INFINITY; 2]; 2];
        let mut broad = [f64::INFINITY; 2];
        best[0][0] = least(&parry.whole);
        if let Some(theirs) = &theirs {
            session.equal(
                format!("{faces} faces: pairs that differ, ipctk"),
                same(&theirs.pairs) as f64,
                "",
                0.0,
            );
            for ((method, threads, what), times) in &theirs.times {
                let candidates: Vec<f64> = times.iter().map(|t| t[0]).collect();
                let whole: Vec<f64> = times.iter().map(|t| t[0] + t[1]).collect();
                record(&format!("ipctk {method}: {what}, candidates only"), *threads, &candidates, session);
                record(&format!("ipctk {method}: {what}"), *threads, &whole, session);
                let k = usize::from(what == "both");
                best[threads - 1][k] = best[threads - 1][k].min(least(&whole));
                if k == 0 {
                    broad[threads - 1] = broad[threads - 1].min(least(&candidates));
                    if *threads == 1 {
                        point(&format!("ipctk {method}"), least(&whole));
                    }
                }
            }
            let one = |method: &str| {
                theirs
                    .times
                    .get(&(method.into(), 1, "self".into()))
                    .map_or(f64::INFINITY, |t| least(&t.iter().map(|t| t[0]).collect::<Vec<_>>()))
            };
            // What is far behind at one size is not waited for at the next.
            methods.retain(|method| one(method) < 2.0 * broad[0]);
        }
        for (threads, ours) in THREADS.iter().zip(&ours) {
            let k = threads - 1;
            for (what, best, ours) in [
                ("self", best[k][0], least(&ours.alone)),
                ("self and body", best[k][1], least(&ours.both)),
                ("self, against candidates alone", broad[k], least(&ours.alone)),
            ] {
                if best.is_finite() {
                    let name =
                        format!("{faces} faces, {threads} threads, {what}: best of the others to ours");
                    session.info(name, best / ours, "x");
                }
            }
        }
    }
    session.csv("detect", "faces,threads,what,least ms,median ms", &rows)?;
    session.plot(
        "detect",
        Chart {
            title: "Pairs within 1 mm on folded cloth, one thread".into(),
            x: "faces".into(),
            y: "ms per frame".into(),
            log: (true, true),
            curves: curves.into_values().collect(),
        },
    )
}

fn refuse(error: impl std::fmt::Display) -> LabError {
    LabError(error.to_string())
}

fn least(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// How many of two sorted lists are in one only.
fn differing(a: &[Key], b: &[Key]) -> usize {
    let absent = |a: &[Key], b: &[Key]| a.iter().filter(|k| b.binary_search(k).is_err()).count();
    absent(a, b) + absent(b, a)
}

fn vertex_face_key(v: u32, mut face: [u32; 3]) -> Key {
    face.sort_unstable();
    (false, [v, face[0], face[1], face[2]])
}

fn edge_edge_key(mut a: [u32; 2], mut b: [u32; 2]) -> Key {
    a.sort_unstable();
    b.sort_unstable();
    let (a, b) = (a.min(b), a.max(b));
    (true, [a[0], a[1], b[0], b[1]])
}

struct Scene {
    cloth: Shape,
    body: Shape,
}

/// Milliseconds of ours, and the pairs of the first frame, alone and with the body.
#[derive(Default)]
struct Ours {
    build: Vec<f64>,
    refit: Vec<f64>,
    alone: Vec<f64>,
    both: Vec<f64>,
    pairs: [Vec<Key>; 2],
}

impl Ours {
    fn add(&mut self, other: Ours) {
        self.build.extend(other.build);
        self.refit.extend(other.refit);
        self.alone.extend(other.alone);
        self.both.extend(other.both);
    }
}

struct Parry {
    build: Vec<f64>,
    candidates: Vec<f64>,
    whole: Vec<f64>,
    pairs: Vec<Key>,
}

/// Milliseconds of candidates and filter by method, threads and question.
type Times = BTreeMap<(String, usize, String), Vec<[f64; 2]>>;

/// The same as the script tells it.
type Told = BTreeMap<String, BTreeMap<String, BTreeMap<String, Vec<[f64; 2]>>>>;

struct Ipctk {
    times: Times,
    pairs: [Vec<Key>; 2],
}

impl Scene {
    fn new(n: usize) -> Result<Scene, LabError> {
        let cloth = shapes::sheet(1.0, 1.0, n, n, Pattern::Structured)?;
        let body = shapes::sheet(0.3, 1.0, n / 3, n / 2, Pattern::Structured)?;
        Ok(Scene { cloth, body })
    }

    fn cloth_at(&self, frame: usize) -> Vec<DVec3> {
        accordion(&self.cloth, 0.05 * frame as f64)
    }

    /// The body follows the lowest layer and falls away from it on both sides of a line.
    fn body_at(&self, frame: usize) -> Vec<DVec3> {
        let time = 0.05 * frame as f64;
        let place = |p: &DVec3| {
            let x = p.x - 0.05;
            let wave = 0.02 * (12.0 * x + 9.0 * p.z + time).sin();
            DVec3::new(x, wave - 5e-4 - 0.2 * (p.z - 0.5).abs(), p.z)
        };
        self.body.positions.iter().map(place).collect()
    }

    fn ours(&self, search: Search, frames: usize) -> Result<Ours, LabError> {
        let mut ours = Ours::default();
        let clock = |start: Instant| 1e3 * start.elapsed().as_secs_f64();
        let settings = Settings { search, ..Settings::default() };
        let surface = |shape: &Shape, role| {
            Shell::new(shape.positions.len(), shape.faces.clone(), role).map_err(refuse)
        };
        let start = Instant::now();
        let mut alone = Detector::new(settings);
        alone.add(surface(&self.cloth, Role::Cloth)?, &self.cloth_at(0)).map_err(refuse)?;
        ours.build.push(clock(start));
        let mut both = Detector::new(settings);
        both.add(surface(&self.cloth, Role::Cloth)?, &self.cloth_at(0)).map_err(refuse)?;
        both.add(surface(&self.body, Role::Body)?, &self.body_at(0)).map_err(refuse)?;
        let query = Query { epsilon: EPSILON, ..Query::default() };
        let mut contacts = Vec::new();
        for frame in 0..=frames {
            let (x, y) = (self.cloth_at(frame), self.body_at(frame));
            let motions = [Motion::still(&x), Motion::still(&y)];
            let start = Instant::now();
            alone.update(&motions[..1], &query).map_err(refuse)?;
            let refit = clock(start);
            let start = Instant::now();
            alone.detect(&motions[..1], &query, &mut contacts).map_err(refuse)?;
            let self_time = clock(start);
            if frame == 0 {
                ours.pairs[0] = self.keys(&contacts);
            }
            let start = Instant::now();
            both.detect(&motions, &query, &mut contacts).map_err(refuse)?;
            let both_time = clock(start);
            if frame == 0 {
                // Lists grow in the first frame.
                ours.pairs[1] = self.keys(&contacts);
            } else {
                ours.refit.push(refit);
                ours.alone.push(self_time);
                ours.both.push(both_time);
            }
        }
        Ok(ours)
    }

    fn keys(&self, contacts: &[Contact]) -> Vec<Key> {
        let cloth = self.cloth.positions.len() as u32;
        let key = |c: &Contact| {
            let split = if c.kind == Kind::EdgeEdge { 2 } else { 1 };
            let of =
                |k: usize| c.vertices[k] + if c.objects[usize::from(k >= split)] == 0 { 0 } else { cloth };
            match c.kind {
                Kind::EdgeEdge => edge_edge_key([of(0), of(1)], [of(2), of(3)]),
                _ => vertex_face_key(of(0), [of(1), of(2), of(3)]),
            }
        };
        let mut keys: Vec<Key> = contacts.iter().map(key).collect();
        keys.sort_unstable();
        keys
    }

    /// parry's tree over the faces of the cloth, on one thread.
    fn parry(&self, frames: usize) -> Result<Parry, LabError> {
        let surface =
            Shell::new(self.cloth.positions.len(), self.cloth.faces.clone(), Role::Cloth).map_err(refuse)?;
        let mut parry = Parry { build: vec![], candidates: vec![], whole: vec![], pairs: vec![] };
        // Rounding to f32 moves a point by less than this.
        let pad = (0.5 * EPSILON + 1e-6) as f32;
        let boxes = |x: &[DVec3]| -> Vec<Aabb> {
            let one = |face: &[u32; 3]| {
                let [a, b, c] = face.map(|v| x[v as usize].as_vec3());
                Aabb::new(a.min(b).min(c) - pad, a.max(b).max(c) + pad)
            };
            self.cloth.faces.iter().map(one).collect()
        };
        let start = Instant::now();
        let mut tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes(&self.cloth_at(0)));
        parry.build.push(1e3 * start.elapsed().as_secs_f64());
        let mut space = BvhWorkspace::default();
        for frame in 0..=frames {
            let x = self.cloth_at(frame);
            let (mut met, mut pairs) = (Vec::new(), Vec::new());
            let start = Instant::now();
            for (f, bounds) in boxes(&x).into_iter().enumerate() {
                tree.insert_or_update_partially(bounds, f as u32, 0.0);
            }
            tree.refit(&mut space);
            tree.traverse_bvtt_single_tree::<false>(&mut space, &mut |a, b| met.push([a, b]));
            let candidates = 1e3 * start.elapsed().as_secs_f64();
            for [a, b] in met {
                close_features(&surface, &x, [a, b], &mut pairs);
            }
            let whole = 1e3 * start.elapsed().as_secs_f64();
            if frame == 0 {
                pairs.sort_unstable();
                parry.pairs = pairs;
            } else {
                parry.candidates.push(candidates);
                parry.whole.push(whole);
            }
        }
        Ok(parry)
    }

    /// ipctk's broad phases, in a process of its own.
    fn ipctk(&self, python: &str, methods: &[&str], frames: usize) -> Result<Ipctk, LabError> {
        let folder = std::env::temp_dir().join(format!("toile-bench-detect-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let answer = self.ask_ipctk(python, methods, frames, &folder);
        std::fs::remove_dir_all(&folder)?;
        answer
    }

    fn ask_ipctk(
        &self,
        python: &str,
        methods: &[&str],
        frames: usize,
        folder: &Path,
    ) -> Result<Ipctk, LabError> {
        let cloth = self.cloth.positions.len();
        let plan = serde_json::json!({
            "epsilon": EPSILON, "frames": frames, "threads": THREADS, "methods": methods, "cloth_vertices": cloth,
        });
        std::fs::write(folder.join("plan.json"), plan.to_string())?;
        let offset = cloth as u32;
        let mut all = self.cloth.faces.clone();
        write_faces(&folder.join("self-faces.bin"), &all)?;
        all.extend(self.body.faces.iter().map(|f| f.map(|v| v + offset)));
        write_faces(&folder.join("both-faces.bin"), &all)?;
        for frame in 0..frames {
            let mut x = self.cloth_at(frame);
            write_places(&folder.join(format!("self-{frame}.bin")), &x)?;
            x.extend(self.body_at(frame));
            write_places(&folder.join(format!("both-{frame}.bin")), &x)?;
        }
        std::fs::write(folder.join("detect.py"), SCRIPT)?;
        let output = Command::new(python).arg(folder.join("detect.py")).arg(folder).output()?;
        if !output.status.success() {
            return Err(LabError(format!("{python} failed: {}", String::from_utf8_lossy(&output.stderr))));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let told: Told = serde_json::from_str(said.trim()).map_err(refuse)?;
        let mut times = Times::new();
        for (method, by_threads) in told {
            for (threads, by_name) in by_threads {
                for (name, found) in by_name {
                    times.insert((method.clone(), threads.parse().map_err(refuse)?, name), found);
                }
            }
        }
        let mut x = self.cloth_at(0);
        x.extend(self.body_at(0));
        let pairs =
            [candidates_within(folder, "self", &x, &all)?, candidates_within(folder, "both", &x, &all)?];
        Ok(Ipctk { times, pairs })
    }
}

/// The features that two faces own, against each other.
fn close_features(surface: &Shell, x: &[DVec3], faces: [u32; 2], out: &mut Vec<Key>) {
    let limit = EPSILON * EPSILON;
    let corners = faces.map(|f| surface.faces()[f as usize]);
    let owned = faces.map(|f| surface.owned()[f as usize]);
    for (near, far) in [(0, 1), (1, 0)] {
        for (k, v) in corners[near].into_iter().enumerate() {
            if owned[near] >> k & 1 == 1 && !corners[far].contains(&v) {
                let face = corners[far].map(|v| x[v as usize]);
                if vertex_face(x[v as usize], face).squared <= limit {
                    out.push(vertex_face_key(v, corners[far]));
                }
            }
        }
    }
    let side = |f: usize, k: usize| [corners[f][k], corners[f][(k + 1) % 3]];
    for i in (0..3).filter(|i| owned[0] >> (3 + i) & 1 == 1) {
        for j in (0..3).filter(|j| owned[1] >> (3 + j) & 1 == 1) {
            let (a, b) = (side(0, i), side(1, j));
            let at = |e: [u32; 2]| e.map(|v| x[v as usize]);
            if !a.iter().any(|v| b.contains(v)) && edge_edge(at(a), at(b)).squared <= limit {
                out.push(edge_edge_key(a, b));
            }
        }
    }
}

/// Candidates that ipctk wrote, those within the contact distance.
fn candidates_within(
    folder: &Path,
    name: &str,
    x: &[DVec3],
    faces: &[[u32; 3]],
) -> Result<Vec<Key>, LabError> {
    let read = |path: PathBuf| -> Result<Vec<u32>, LabError> {
        let bytes = std::fs::read(path)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect())
    };
    let (limit, at) = (EPSILON * EPSILON, |v: u32| x[v as usize]);
    let mut keys = Vec::new();
    for [v, f] in read(folder.join(format!("{name}-vertex-face.bin")))?.as_chunks::<2>().0 {
        let face = faces[*f as usize];
        if vertex_face(at(*v), face.map(at)).squared <= limit {
            keys.push(vertex_face_key(*v, face));
        }
    }
    for [a, b, c, d] in read(folder.join(format!("{name}-edge-edge.bin")))?.as_chunks::<4>().0 {
        if edge_edge([at(*a), at(*b)], [at(*c), at(*d)]).squared <= limit {
            keys.push(edge_edge_key([*a, *b], [*c, *d]));
        }
    }
    keys.sort_unstable();
    Ok(keys)
}

fn write_faces(path: &Path, faces: &[[u32; 3]]) -> Result<(), LabError> {
    let bytes: Vec<u8> = faces.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    Ok(std::fs::write(path, bytes)?)
}

fn write_places(path: &Path, x: &[DVec3]) -> Result<(), LabError> {
    let bytes: Vec<u8> = x.iter().flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes).collect();
    Ok(std::fs::write(path, bytes)?)
}
