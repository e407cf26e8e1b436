//! Springs inside things that are more than a surface (V00-25).

use crate::math::DVec3;
use crate::mesh::Mesh;

/// Springs inside a thing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Braces {
    /// The springs.
    pub springs: Vec<Brace>,
    /// Their viscosity, as a time constant [s].
    pub damping: f64,
    /// Vertices, ascending, whose mass [kg] is not their share of the fabric; those inside, which no face has, among them.
    pub masses: Vec<(u32, f64)>,
}

/// A spring between two vertices of a thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brace {
    /// Its vertices.
    pub ends: [u32; 2],
    /// Length at rest [m].
    pub rest_length: f64,
    /// Stiffness [N/m].
    pub stiffness: f64,
}

impl Braces {
    /// Springs of `stiffness` [N/m] between all pairs of vertices at `x` that no edge of `mesh` joins, as long as they are now:
    /// with the edges of a cube, its face and space diagonals (V00-25).
    pub fn across(mesh: &Mesh, x: &[DVec3], stiffness: f64, damping: f64) -> Braces {
        let n = x.len() as u32;
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b]));
        let inner = pairs.filter(|ends| mesh.edges().binary_search_by_key(ends, |edge| edge.ends).is_err());
        let spring = |ends: [u32; 2]| {
            let [a, b] = ends.map(|v| x[v as usize]);
            Brace { ends, rest_length: a.distance(b), stiffness }
        };
        Braces { springs: inner.map(spring).collect(), damping, masses: Vec::new() }
    }
}
