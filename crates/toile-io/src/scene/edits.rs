//! `[[edit]]` in metres.

use super::schema::{EditFile, KeepFile};
use super::si::Builder;
use glam::DVec2;
use toile::Seam;
use toile::mesh::edit::Keep;

/// A change of a cloth while it moves. Points are in its pattern [m].
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The first frame that shows it.
    pub frame: u32,
    /// Position of the cloth in [`super::Scene::cloths`].
    pub cloth: usize,
    /// What is done.
    pub job: Job,
}

/// What is done to a cloth.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named by the variant's own sentence")]
pub enum Job {
    /// Cut along a line.
    Cut(Vec<DVec2>),
    /// Triangles in a region taken away.
    Remove(Region),
    /// Lengths at rest multiplied by `factor` within `radius` [m].
    Resize { at: DVec2, radius: f64, hardness: f64, factor: f64, keep: Keep },
    /// Drawn together and sewn, with this time constant [s].
    Seam(Stitch, f64),
    /// The hole nearest to a point filled.
    Fill(DVec2),
}

/// A region of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// Centre and radius [m].
    Circle(DVec2, f64),
    /// Corners [m].
    Polygon(Vec<DVec2>),
}

/// What a seam joins.
#[derive(Clone, Debug, PartialEq)]
pub enum Stitch {
    /// The two sides of a cut.
    Along(Vec<DVec2>),
    /// Two borders in the same order.
    Between([Vec<DVec2>; 2]),
}

impl Job {
    /// What it is called in the file.
    pub fn name(&self) -> &'static str {
        match self {
            Job::Cut(_) => "cut",
            Job::Remove(_) => "remove",
            Job::Resize { .. } => "resize",
            Job::Seam(..) => "seam",
            Job::Fill(_) => "fill",
        }
    }
}

impl Builder<'_> {
    /// An edit of cloth number `cloth`; nothing if it says nothing to do.
    pub(crate) fn edit(&self, cloth: usize, edit: &EditFile) -> Option<Edit> {
        let length = |l: f64| self.axes.length_in(l);
        let point = |p: [f64; 2]| DVec2::new(length(p[0]), length(p[1]));
        let line = |points: &[[f64; 2]]| points.iter().map(|p| point(*p)).collect::<Vec<DVec2>>();
        let job = if let Some(points) = &edit.cut {
            Job::Cut(line(points))
        } else if let Some(region) = &edit.remove {
            Job::Remove(match (&region.circle, &region.polygon) {
                (Some(circle), _) => Region::Circle(point(circle.centre), length(circle.radius)),
                (None, polygon) => Region::Polygon(line(polygon.as_deref()?)),
            })
        } else if let Some(resize) = &edit.resize {
            let keep = match resize.keep {
                KeepFile::Mass => Keep::Mass,
                KeepFile::Density => Keep::Density,
            };
            let (at, radius) = (point(resize.centre), length(resize.radius));
            Job::Resize { at, radius, hardness: resize.hardness, factor: resize.factor, keep }
        } else if let Some(seam) = &edit.seam {
            let stitch = match (&seam.along, &seam.from, &seam.to) {
                (Some(along), ..) => Stitch::Along(line(along)),
                (None, from, to) => Stitch::Between([line(from.as_deref()?), line(to.as_deref()?)]),
            };
            Job::Seam(stitch, seam.time.unwrap_or(Seam::TIME))
        } else {
            Job::Fill(point(edit.fill?))
        };
        Some(Edit { frame: edit.frame, cloth, job })
    }
}
