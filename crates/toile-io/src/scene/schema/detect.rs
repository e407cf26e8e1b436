//! `[detect]`: how pairs of features that are close are found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How pairs of features that are close are found, for `toile contacts`. Every choice finds the same pairs, except where it
/// says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Detect {
    /// What is walked. Default "patches".
    pub search: Search,
    /// Faces of the boxes in trees: 6, 8, 12, 14, 18 or 26 (M03-1). Default 6.
    pub kdop: u32,
    /// Children of each node in trees: 2, 4 or 8 (M03-7). Default 4.
    pub tree: u32,
    /// How boxes are made larger for motion. Default "still".
    pub inflation: Inflation,
    /// "oriented": speed [m/s] below which a vertex does not widen the cone of velocities. Default 0.01.
    pub v_min: f64,
    /// Which features are compared. Default "all".
    pub features: Features,
    /// How flat parts of a surface are recognised and spared the comparison with themselves. Default "off".
    pub curvature: Curvature,
    /// "cones": how cones of normals are merged. Default "tight".
    pub cone_merge: ConeMerge,
    /// "cones": angle [degrees] of the cone below which a patch is flat, at most 180. Default 150.
    pub apex: f64,
    /// How far vertices may go before their boxes are made anew (M03-8) [units]. Default 0: every time.
    pub lazy: f64,
    /// What is made of the frame before. Default "off".
    pub tracking: Tracking,
    /// "coherent": relative motion after which a pair of nodes is looked at again [units]. Default: 1 mm.
    pub margin: Option<f64>,
    /// "separations" and "coherent": frames after which everything is looked at again. Default 20.
    pub restart: u32,
}

impl Default for Detect {
    fn default() -> Self {
        Detect {
            search: Search::default(),
            kdop: 6,
            tree: 4,
            inflation: Inflation::default(),
            v_min: 0.01,
            features: Features::default(),
            curvature: Curvature::default(),
            cone_merge: ConeMerge::default(),
            apex: 150.0,
            lazy: 0.0,
            tracking: Tracking::default(),
            margin: None,
            restart: 20,
        }
    }
}

choice! {
    /// What is walked.
    Search {
        /// Patches of sixteen faces in boxes: several times faster. Questions that they do not answer go to trees.
        #[default]
        Patches,
        /// M03's trees down to single faces.
        Trees,
    }
}

choice! {
    /// How boxes are made larger so that no pair of a step is missed.
    Inflation {
        /// By half the distance on all sides (M03-2): enough for places at one time.
        #[default]
        Still,
        /// Also by the way of the fastest vertex on all sides.
        Isotropic,
        /// Also by that way along the cone of velocities (M03-3).
        Oriented,
        /// M03 eq. 1 as printed. Lossy: misses pairs whenever the velocities of a face differ.
        OrientedAsPrinted,
        /// Round both ends of every vertex's way: the tightest (M03-4).
        Swept,
    }
}

choice! {
    /// Which features are compared.
    Features {
        /// Vertices with faces and edges with edges: everything by which triangles can be close.
        #[default]
        All,
        /// Vertices with faces: blind where edges cross (M03-16).
        VerticesOnly,
        /// Vertices, middles of edges and middles of faces, with faces (M03-16).
        Virtual,
    }
}

choice! {
    /// How flat parts are recognised. They are left out: neighbours on smooth cloth are not reported.
    Curvature {
        /// Not at all.
        #[default]
        Off,
        /// By cones of normals (M03-9).
        Cones,
        /// By outlines (M03-10).
        Exact,
    }
}

choice! {
    /// How cones of normals are merged.
    ConeMerge {
        /// The smallest cone round both.
        #[default]
        Tight,
        /// Provot's rule, as in M03.
        Provot,
    }
}

choice! {
    /// What is made of the frame before.
    Tracking {
        /// Nothing.
        #[default]
        Off,
        /// Walks start where the last one ended (M03-17).
        Separations,
        /// Pairs of nodes with little relative motion are not walked at all (M03-18).
        Coherent,
    }
}
