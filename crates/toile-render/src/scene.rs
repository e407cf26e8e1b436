//! What a picture shows: surfaces with their looks, the ground, the sun, markers and a caption.

use crate::camera::Bounds;
use crate::colour::{Colour, ColourMap};
use crate::ticks::nice_step;
use glam::{Vec2, Vec3};

/// Everything in front of the camera. Lengths are metres.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// Meshes, drawn in no particular order.
    pub surfaces: Vec<Surface<'a>>,
    /// Which way is up.
    pub up: Up,
    /// The floor, if there is one.
    pub ground: Option<Ground>,
    /// Direction towards the sun, any length. `None` keeps it above the camera's left shoulder, which
    /// shows folds well from any side.
    pub sun: Option<Vec3>,
    /// Things to point at, drawn over everything else.
    pub markers: Vec<Marker>,
    /// One line at the bottom left: `hang · frame 48 · 0.80 s`.
    pub caption: Option<String>,
}

/// The vertical axis of the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Up {
    /// +Y up; the front view looks along −Z.
    #[default]
    Y,
    /// +Z up; the front view looks along +Y.
    Z,
}

impl Up {
    /// Unit vector pointing up.
    pub fn vector(self) -> Vec3 {
        match self {
            Up::Y => Vec3::Y,
            Up::Z => Vec3::Z,
        }
    }

    /// Unit vectors to the right in the front view and from the scene towards its viewer.
    pub(crate) fn horizontal(self) -> (Vec3, Vec3) {
        match self {
            Up::Y => (Vec3::X, Vec3::Z),
            Up::Z => (Vec3::X, -Vec3::Y),
        }
    }
}

/// A horizontal floor with a faint grid that fades into the horizon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Height along the up axis [m].
    pub height: f32,
    /// Spacing of the grid lines [m]; zero draws none.
    pub grid: f32,
}

impl Ground {
    /// Ground at the bottom of `bounds`, with a grid of a round spacing that suits its size.
    pub fn under(bounds: &Bounds, up: Up) -> Ground {
        if bounds.is_empty() {
            return Ground { height: 0.0, grid: 0.1 };
        }
        // About six lines across the scene, at 1, 2 or 5 times a power of ten.
        let step = nice_step(f64::from(bounds.diagonal().max(1e-3)) / 6.0);
        Ground { height: bounds.min.dot(up.vector()), grid: step as f32 }
    }
}

/// A triangle mesh and how it looks.
///
/// Triangles that cannot be drawn (an index out of range, a coordinate that is not finite or is beyond
/// 10⁶ m, no area) are skipped and counted in [`Picture::skipped`](crate::Picture::skipped).
#[derive(Clone, Copy, Debug)]
pub struct Surface<'a> {
    /// Vertex positions [m].
    pub positions: &'a [Vec3],
    /// Corners of each triangle, counter-clockwise seen from the front.
    pub triangles: &'a [[u32; 3]],
    /// Material coordinates of each triangle's corners [m], along weft and warp. Patterns need them;
    /// triangles without an entry are drawn plain.
    pub material: Option<&'a [[Vec2; 3]]>,
    /// Unit normals of the vertices, on the front side, to shade by. Zero or a missing entry, and `None` throughout, takes
    /// the mean of the triangles round the vertex.
    pub normals: Option<&'a [Vec3]>,
    /// Colour and pattern, or a quantity shown in colours.
    pub look: Look<'a>,
    /// Draws the mesh lines over the surface in this colour.
    pub wire: Option<Colour>,
}

impl<'a> Surface<'a> {
    /// A surface without material coordinates, normals of its own or mesh lines.
    pub fn new(positions: &'a [Vec3], triangles: &'a [[u32; 3]], look: Look<'a>) -> Surface<'a> {
        Surface { positions, triangles, material: None, normals: None, look, wire: None }
    }
}

/// How a surface takes light.
#[derive(Clone, Copy, Debug)]
pub enum Look<'a> {
    /// Two-sided fabric: matt, with a soft sheen at grazing angles and some light shining through.
    Cloth {
        /// Colour of the side whose triangles turn counter-clockwise.
        front: Colour,
        /// Colour of the other side.
        back: Colour,
        /// What is woven into or printed on it.
        pattern: Pattern,
    },
    /// A solid thing: mannequin, table, ball. Edges sharper than 50° stay sharp.
    Body {
        /// Surface colour.
        colour: Colour,
    },
    /// A quantity in colours, softly lit so that colours still match the legend.
    Field(Field<'a>),
}

/// What is woven into or printed on a cloth, in material coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// One colour.
    Plain,
    /// Plain weave. Threads finer than a pixel fade to their mean tone, so no moiré appears.
    Weave {
        /// Distance between threads [m].
        spacing: f32,
    },
    /// Two tones of the same colour in squares: shows stretch and shear at a glance.
    Checker {
        /// Side of a square [m].
        cell: f32,
    },
    /// Two tones in stripes along the warp.
    Stripes {
        /// Width of a stripe [m].
        width: f32,
    },
}

/// A quantity on a surface, shown in colours with a legend.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The numbers. NaN or a missing entry is drawn dark grey.
    pub values: Values<'a>,
    /// Values at the two ends of the colour map; numbers outside take the end colours.
    pub range: [f32; 2],
    /// Colours to use.
    pub map: ColourMap,
    /// Name of the quantity, over the legend.
    pub title: &'a str,
    /// Unit shown after the name, such as `N/m`; empty for pure numbers.
    pub unit: &'a str,
}

/// Where a field's numbers live.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// One number a vertex, interpolated across triangles.
    PerVertex(&'a [f32]),
    /// One number a triangle, drawn flat.
    PerFace(&'a [f32]),
}

impl Values<'_> {
    /// Smallest and largest finite number, or zeros if there is none.
    pub fn range(&self) -> [f32; 2] {
        let (Values::PerVertex(values) | Values::PerFace(values)) = self;
        let finite = values.iter().copied().filter(|v| v.is_finite());
        let [low, high] =
            finite.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        if low <= high { [low, high] } else { [0.0, 0.0] }
    }
}

/// Something to point at. Markers are never hidden by surfaces.
#[derive(Clone, Debug)]
pub struct Marker {
    /// What is pointed at.
    pub shape: Shape,
    /// Usually [`Colour::ALERT`].
    pub colour: Colour,
    /// A few words beside it.
    pub label: Option<String>,
}

/// The geometry of a [`Marker`] [m].
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A ring around a point.
    Point(Vec3),
    /// A line between two points.
    Segment([Vec3; 2]),
    /// A tinted triangle with its outline.
    Triangle([Vec3; 3]),
}

impl Shape {
    pub(crate) fn points(&self) -> &[Vec3] {
        match self {
            Shape::Point(p) => std::slice::from_ref(p),
            Shape::Segment(p) => p,
            Shape::Triangle(p) => p,
        }
    }
}

/// Size, effort and backdrop of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Width [px].
    pub width: usize,
    /// Height [px].
    pub height: usize,
    /// How much work goes into each pixel.
    pub quality: Quality,
    /// Colours behind and under the scene.
    pub backdrop: Backdrop,
}

impl Default for Options {
    fn default() -> Options {
        Options { width: 1280, height: 720, quality: Quality::Standard, backdrop: Backdrop::LIGHT }
    }
}

/// How much work goes into each pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// For frames of an animation and quick looks.
    Draft,
    /// For pages.
    #[default]
    Standard,
    /// For print and covers.
    Fine,
}

/// Colours behind and under the scene. The light itself does not change with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backdrop {
    /// Colour where ground and sky meet.
    pub horizon: Colour,
    /// Colour straight up.
    pub zenith: Colour,
    /// Colour of unshadowed ground.
    pub ground: Colour,
    /// Text and lines over the picture.
    pub ink: Colour,
}

impl Backdrop {
    /// Warm white studio, for light pages.
    pub const LIGHT: Backdrop = Backdrop {
        horizon: Colour::hex(0xf1efeb),
        zenith: Colour::hex(0xc9d3dc),
        ground: Colour::hex(0xe6e3dd),
        ink: Colour::hex(0x23262b),
    };
    /// Dark studio, for dark pages.
    pub const DARK: Backdrop = Backdrop {
        horizon: Colour::hex(0x2b2e34),
        zenith: Colour::hex(0x17191d),
        ground: Colour::hex(0x3a3c41),
        ink: Colour::hex(0xeeeae3),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_ignores_what_is_not_a_number() {
        assert_eq!(Values::PerFace(&[f32::NAN, 2.0, -1.0, f32::INFINITY]).range(), [-1.0, 2.0]);
        assert_eq!(Values::PerVertex(&[f32::NAN]).range(), [0.0, 0.0]);
        assert_eq!(Values::PerVertex(&[]).range(), [0.0, 0.0]);
    }
}
