//! A scene's detection, as the engine takes it.

use crate::axes::Axes;
use crate::scene::schema::{self, Detect};
use toile::collide::cones::ConeMerge;
use toile::collide::{Curvature, Dop, Features, Inflation, Query, Search, Settings, Tracking};

/// Relative motion after which a pair of nodes is looked at again, unless the scene says [m].
const MARGIN: f64 = 1e-3;

/// The k-DOP with `k` faces.
pub fn dop(k: u32) -> Option<Dop> {
    Dop::ALL.into_iter().find(|dop| dop.k() == k as usize)
}

/// How hierarchies are built, and what is asked of them: pairs within `epsilon` [m], in a step of `dt` [s]. Lengths of
/// `detect` are in the unit of `axes`.
pub fn question(detect: &Detect, axes: Axes, epsilon: f64, dt: f64) -> (Settings, Query) {
    let settings = Settings {
        dop: dop(detect.kdop).unwrap_or(Dop::K6),
        arity: detect.tree as usize,
        search: match detect.search {
            schema::Search::Patches => Search::Patches,
            schema::Search::Trees => Search::Trees,
        },
    };
    let merge = match detect.cone_merge {
        schema::ConeMerge::Tight => ConeMerge::Tight,
        schema::ConeMerge::Provot => ConeMerge::Provot,
    };
    let (margin, restart) = (detect.margin.map_or(MARGIN, |m| axes.length_in(m)), detect.restart);
    let query = Query {
        epsilon,
        dt,
        inflation: match detect.inflation {
            schema::Inflation::Still => Inflation::Still,
            schema::Inflation::Isotropic => Inflation::Isotropic,
            schema::Inflation::Oriented => Inflation::Oriented { v_min: detect.v_min },
            schema::Inflation::OrientedAsPrinted => Inflation::OrientedAsPrinted,
            schema::Inflation::Swept => Inflation::Swept,
        },
        features: match detect.features {
            schema::Features::All => Features::All,
            schema::Features::VerticesOnly => Features::VerticesOnly,
            schema::Features::Virtual => Features::Virtual,
        },
        curvature: match detect.curvature {
            schema::Curvature::Off => Curvature::Off,
            schema::Curvature::Cones => Curvature::Cones { merge, apex: detect.apex.to_radians() },
            schema::Curvature::Exact => Curvature::Exact,
        },
        lazy: axes.length_in(detect.lazy),
        tracking: match detect.tracking {
            schema::Tracking::Off => Tracking::Off,
            schema::Tracking::Separations => Tracking::Separations { restart },
            schema::Tracking::Coherent => Tracking::Coherent { margin, restart },
        },
        ..Query::default()
    };
    (settings, query)
}
