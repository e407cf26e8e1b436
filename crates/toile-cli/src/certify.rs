//! The exact checker on frames as they were stored.

use glam::DVec3;
use serde::Serialize;
use toile::collide::certify::{CheckOptions, CheckSurface, Checker, Distance, Finding, Kind, Verdict};
use toile_io::cache::CacheObject;
use toile_io::run::Role;

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
    /// What this certificate does and does not say.
    pub scope: &'static str,
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

const SCOPE: &str = "each stored frame by itself: finite values, sound topology, no edge meets a face \
(exact predicates on the stored values); motion between frames is not judged; vertices and triangles count from 0";

/// Judges frame after frame.
pub struct Judge {
    checker: Checker,
    certificate: Certificate,
}

impl Judge {
    /// A judge of these objects.
    pub fn new(objects: &[CacheObject], bodies: bool, distance: Distance) -> Result<Judge, String> {
        let surfaces = objects
            .iter()
            .map(|o| {
                let kind = if o.role == Role::Cloth { Kind::Cloth } else { Kind::Body };
                CheckSurface::new(&o.name, kind, o.vertex_count, o.faces.clone())
            })
            .collect();
        let options = CheckOptions { distance, bodies, ..CheckOptions::default() };
        let checker = Checker::new(surfaces, options).map_err(|error| error.to_string())?;
        let certificate = Certificate {
            pass: true,
            frames: 0,
            min_distance: None,
            closest: None,
            closest_frame: None,
            first_bad: None,
            worst_frame: None,
            bad: Vec::new(),
            scope: SCOPE,
        };
        Ok(Judge { checker, certificate })
    }

    /// Judges a frame and remembers the verdict.
    pub fn judge(&mut self, frame: i64, positions: &[&[DVec3]]) -> Verdict {
        let verdict = self.checker.check(positions);
        let c = &mut self.certificate;
        c.frames += 1;
        if verdict.intersections() > 0 {
            // Distances of features mean nothing where faces pass through one another.
            c.min_distance = Some(0.0);
            c.closest = Some("intersecting faces".into());
            c.closest_frame.get_or_insert(frame);
        } else if let Some(closest) = verdict.closest
            && c.min_distance.is_none_or(|least| closest.distance < least)
        {
            c.min_distance = Some(closest.distance);
            c.closest = Some(self.checker.describe(closest).to_string());
            c.closest_frame = Some(frame);
        }
        if !verdict.pass() {
            c.pass = false;
            c.first_bad.get_or_insert(frame);
            let count = verdict.findings.len() + verdict.unlisted;
            if c.bad.iter().all(|bad| count > bad.count) {
                c.worst_frame = Some(frame);
            }
            let listed = verdict.findings.iter().take(LISTED);
            let findings =
                listed.map(|finding: &Finding| self.checker.describe(*finding).to_string()).collect();
            c.bad.push(BadFrame { frame, count, findings });
        }
        verdict
    }

    /// A frame that could not even be read fails.
    pub fn unreadable(&mut self, frame: i64, message: String) {
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

impl Certificate {
    /// One line for people.
    pub fn headline(&self) -> String {
        let frames = format!("{} frame{}", self.frames, if self.frames == 1 { "" } else { "s" });
        if self.pass {
            let gap = match (self.min_distance, &self.closest, self.closest_frame) {
                (Some(_), Some(closest), Some(frame)) => format!(", closest {closest} in frame {frame}"),
                _ => String::new(),
            };
            format!("PASS  {frames} finite, well formed and free of intersections{gap}")
        } else {
            let first = self.first_bad.map_or(String::new(), |f| format!(", the first is frame {f}"));
            let fail = if self.bad.len() == 1 { "fails" } else { "fail" };
            format!("FAIL  {} of {frames} {fail}{first}", self.bad.len())
        }
    }
}
