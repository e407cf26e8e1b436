//! A scene's edits, done when their time has come: found in the pattern of the cloth as it is then.

use crate::chart::Chart;
use crate::scene::{Edit, Job, Region, Scene, Stitch};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use toile::mesh::edit::Place;
use toile::{Cloth, ReshapeError, TailorError, Tailoring, World};

/// A line of `edits.jsonl`: what became of an edit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EditLine {
    /// The first frame that shows it.
    pub frame: u32,
    /// Number of the edit in the scene, from 0; none for a seam that was sewn.
    pub edit: Option<usize>,
    /// Name of the cloth.
    pub cloth: String,
    /// What was done: "cut", "remove", "resize", "seam", "fill"; "sew" when a seam has closed.
    pub what: String,
    /// What became of it.
    pub outcome: EditOutcome,
    /// The same for people.
    pub message: String,
}

/// What became of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditOutcome {
    /// It is done.
    Done,
    /// Something would have met: it is tried again in every frame.
    Waits,
    /// It cannot be done, now or later.
    Impossible,
}

/// The edits of a scene that are still to come.
pub struct Tailor {
    /// With their numbers, and whether they wait.
    pending: Vec<(usize, Edit, bool)>,
    seams: usize,
}

impl Tailor {
    /// Those of a scene of which nothing is done but what `lines` say.
    pub fn new(scene: &Scene, lines: &[EditLine], world: &World) -> Tailor {
        let over =
            |n: usize| lines.iter().any(|line| line.edit == Some(n) && line.outcome != EditOutcome::Waits);
        let waits = |n: usize| lines.iter().any(|line| line.edit == Some(n));
        let mut pending: Vec<(usize, Edit, bool)> = scene
            .edits
            .iter()
            .enumerate()
            .filter(|(n, _)| !over(*n))
            .map(|(n, edit)| (n, edit.clone(), waits(n)))
            .collect();
        pending.sort_by_key(|(n, edit, _)| (edit.frame, *n));
        Tailor { pending, seams: world.seams().len() }
    }

    /// Those that come after a frame, in a world in which all before are done.
    pub fn after(scene: &Scene, frame: u32, world: &World) -> Tailor {
        let mut tailor = Tailor::new(scene, &[], world);
        tailor.pending.retain(|(_, edit, _)| edit.frame > frame);
        tailor
    }

    /// Does what is due before the world is stepped to `frame`, and says what became of it. What must wait is tried again in
    /// every frame, and what comes after it on the same cloth waits behind it.
    pub fn work(&mut self, world: &mut World, frame: u32) -> Vec<EditLine> {
        let mut lines = Vec::new();
        let mut held: Vec<usize> = Vec::new();
        self.pending.retain_mut(|(number, edit, waits)| {
            if edit.frame > frame || held.contains(&edit.cloth) {
                return true;
            }
            let name = world.cloths()[edit.cloth].name.clone();
            let mut say = |outcome, message: String| {
                let (what, cloth) = (edit.job.name().to_string(), name.clone());
                lines.push(EditLine { frame, edit: Some(*number), cloth, what, outcome, message });
            };
            match apply(world, edit) {
                Ok(message) => say(EditOutcome::Done, message),
                Err(Refusal::Now(message)) => {
                    if !std::mem::replace(waits, true) {
                        say(EditOutcome::Waits, message);
                    }
                    held.push(edit.cloth);
                    return true;
                }
                Err(Refusal::Ever(message)) => say(EditOutcome::Impossible, message),
            }
            false
        });
        self.seams = world.seams().len();
        lines
    }

    /// Says which seams were sewn in the step to `frame`.
    pub fn sewn(&mut self, world: &World, frame: u32) -> Vec<EditLine> {
        let now = world.seams().len();
        let before = std::mem::replace(&mut self.seams, now);
        if now >= before {
            return Vec::new();
        }
        let message = format!("{} closed, {now} still open", count(before - now, "seam"));
        let (what, outcome) = ("sew".to_string(), EditOutcome::Done);
        vec![EditLine { frame, edit: None, cloth: String::new(), what, outcome, message }]
    }

    /// Edits that have not been done.
    pub fn left(&self) -> usize {
        self.pending.len()
    }
}

enum Refusal {
    /// It may be possible later.
    Now(String),
    /// It is not.
    Ever(String),
}

impl From<TailorError> for Refusal {
    fn from(error: TailorError) -> Self {
        let message = error.to_string();
        match error {
            TailorError::Reshape(ReshapeError::Meets { .. } | ReshapeError::Tangled { .. }) => {
                Refusal::Now(message)
            }
            _ => Refusal::Ever(message),
        }
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Does an edit, and says what it did.
fn apply(world: &mut World, edit: &Edit) -> Result<String, Refusal> {
    let cloth = &world.cloths()[edit.cloth];
    let before = [cloth.mesh.faces().len(), cloth.mesh.vertices()];
    let pattern = Pattern::of(cloth);
    let job = match &edit.job {
        Job::Cut(line) => {
            Tailoring::Cut { line: line.iter().map(|p| pattern.place(*p)).collect::<Result<_, _>>()? }
        }
        Job::Remove(region) => Tailoring::Remove { faces: pattern.within(region)? },
        Job::Resize { at, radius, hardness, factor, keep } => {
            let (at, radius, hardness) = (pattern.place(*at)?, *radius, *hardness);
            Tailoring::Resize { at, radius, hardness, factor: *factor, keep: *keep }
        }
        Job::Fill(point) => Tailoring::Fill { start: pattern.border_at(*point)? },
        Job::Seam(stitch, time) => {
            let pairs = pattern.pairs(stitch)?;
            world.seam(edit.cloth, &pairs, *time)?;
            let seam = world.seams().pop();
            let open = seam.map_or(0.0, |seam| seam.distance);
            return Ok(format!(
                "{} up to {:.1} mm apart are drawn together",
                count(pairs.len(), "pair"),
                1e3 * open
            ));
        }
    };
    world.tailor(edit.cloth, &job)?;
    let mesh = &world.cloths()[edit.cloth].mesh;
    let [faces, vertices] = [mesh.faces().len(), mesh.vertices()];
    Ok(format!("{} → {faces} triangles, {} → {vertices} vertices", before[0], before[1]))
}

/// A cloth as its pattern maker sees it.
struct Pattern<'a> {
    cloth: &'a Cloth,
    chart: Chart,
    /// Mean edge at rest [m].
    edge: f64,
}

impl Pattern<'_> {
    fn of(cloth: &Cloth) -> Pattern<'_> {
        let edges = cloth.mesh.edges();
        let sum: f64 = edges.iter().map(|edge| cloth.mesh.rest_length(edge)).sum();
        Pattern { cloth, chart: Chart::new(cloth.chart().to_vec()), edge: sum / edges.len() as f64 }
    }

    fn nowhere(&self, point: DVec2, what: &str) -> Refusal {
        let DVec2 { x, y } = point;
        let (name, edge) = (&self.cloth.name, self.edge);
        Refusal::Ever(format!(
            "cloth `{name}` has no {what} within {edge:.4} m of ({x:.4}, {y:.4}) m in its pattern: move the point onto it"
        ))
    }

    /// The place of a point, or of the border if it is less than an edge beyond it.
    fn place(&self, point: DVec2) -> Result<Place, Refusal> {
        let found = self.chart.find(point).filter(|found| found.distance <= self.edge);
        let found = found.ok_or_else(|| self.nowhere(point, "cloth"))?;
        Ok(Place { face: found.face, weights: found.weights })
    }

    /// Triangles whose middles are in a region.
    fn within(&self, region: &Region) -> Result<Vec<u32>, Refusal> {
        let inside = |p: DVec2| match region {
            Region::Circle(centre, radius) => p.distance(*centre) <= *radius,
            Region::Polygon(corners) => {
                let sides = (0..corners.len()).map(|k| [corners[k], corners[(k + 1) % corners.len()]]);
                let crossed = sides.filter(|[a, b]| {
                    (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x)
                });
                crossed.count() % 2 == 1
            }
        };
        let middle = |t: &[DVec2; 3]| (t[0] + t[1] + t[2]) / 3.0;
        let chart = self.cloth.chart().iter().enumerate();
        let faces: Vec<u32> = chart.filter(|(_, t)| inside(middle(t))).map(|(f, _)| f as u32).collect();
        if faces.is_empty() {
            let name = &self.cloth.name;
            return Err(Refusal::Ever(format!(
                "no triangle of cloth `{name}` has its middle in the region: make it larger than a triangle, about {:.4} m",
                self.edge
            )));
        }
        Ok(faces)
    }

    /// Vertices of borders with their places in the pattern.
    fn borders(&self) -> Vec<(u32, DVec2)> {
        let mut places = vec![DVec2::NAN; self.cloth.mesh.vertices()];
        for (face, corners) in self.cloth.mesh.faces().iter().zip(self.cloth.chart()) {
            face.iter().zip(corners).for_each(|(v, place)| places[*v as usize] = *place);
        }
        self.cloth.mesh.border().into_iter().map(|v| (v, places[v as usize])).collect()
    }

    /// The border vertex nearest to a point.
    fn border_at(&self, point: DVec2) -> Result<u32, Refusal> {
        let all = self.borders().into_iter().filter(|(_, place)| place.is_finite());
        let nearest = all.min_by(|(_, a), (_, b)| a.distance(point).total_cmp(&b.distance(point)));
        nearest.map(|(v, _)| v).ok_or_else(|| self.nowhere(point, "border"))
    }

    /// Border vertices within half an edge of a line, with how far along it each is [m] and its place, in that order.
    fn on(&self, line: &[DVec2]) -> Vec<(f64, u32, DVec2)> {
        let mut all = Vec::new();
        for (vertex, place) in self.borders() {
            let (mut before, mut best) = (0.0, (f64::INFINITY, 0.0));
            for pair in line.windows(2) {
                let way = pair[1] - pair[0];
                let t = ((place - pair[0]).dot(way) / way.length_squared()).clamp(0.0, 1.0);
                let off = (pair[0] + way * t).distance(place);
                if off < best.0 {
                    best = (off, before + t * way.length());
                }
                before += way.length();
            }
            if best.0 <= 0.5 * self.edge {
                all.push((best.1, vertex, place));
            }
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all
    }

    fn pairs(&self, stitch: &Stitch) -> Result<Vec<[u32; 2]>, Refusal> {
        let name = &self.cloth.name;
        match stitch {
            Stitch::Along(line) => {
                let all = self.on(line);
                let same = |a: DVec2, b: DVec2| a.distance(b) < 1e-6 * self.edge;
                let mut pairs = Vec::new();
                for (k, (_, v, place)) in all.iter().enumerate() {
                    let mut twins = all[k + 1..].iter().filter(|(_, _, other)| same(*place, *other));
                    if let (Some((_, w, _)), None) = (twins.next(), twins.next())
                        && !pairs.as_flattened().contains(v)
                    {
                        pairs.push([*v, *w]);
                    }
                }
                if pairs.is_empty() {
                    let message =
                        format!("cloth `{name}` is not cut along the line of the seam: cut it first");
                    return Err(Refusal::Ever(message));
                }
                Ok(pairs)
            }
            Stitch::Between(lines) => {
                let [from, to] = [&lines[0], &lines[1]].map(|line| self.on(line));
                if from.len() != to.len() || from.is_empty() {
                    return Err(Refusal::Ever(format!(
                        "the two borders of the seam of cloth `{name}` have {} and {} vertices: choose borders with as many",
                        from.len(),
                        to.len()
                    )));
                }
                Ok(from.iter().zip(&to).map(|(a, b)| [a.1, b.1]).collect())
            }
        }
    }
}
