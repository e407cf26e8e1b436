//! B14's criterion: split where neighbours stand at an angle, cancel where the surface is flat (B14-12, B14-13).

use super::neighbours::{angle, normal};
use super::sizing::{Seen, Wishes};
use super::{Face, Levels, LevelsError};
use crate::math::DVec3;

const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// When the neighbours of a split face count as flat to it (E27).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flat {
    /// When all of them do, as B14's text says.
    #[default]
    All,
    /// When one of them does, as B14's listing says. A face without neighbours then stays split.
    Any,
}

/// B14's criterion. All angles are between normals, 0° for a flat surface, as the text of §3.1 says and the direction of
/// Table 1 confirms: fewer faces are split at larger angles.
///
/// The paper goes face by face and splits at once; here all faces are judged as the mesh stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paper {
    alpha: f64,
    beta: f64,
    flat: f64,
    reading: Flat,
}

impl Paper {
    /// A face of level ℓ is split when a neighbour stands at more than `alpha` + ℓ `beta` [°] to it. A split is cancelled when
    /// the three corner children and the neighbours stand at no more than `flat` [°] to the child in the centre.
    ///
    /// The paper has one β for both; `flat` must be below `alpha`, or what is cancelled would be split again at once.
    pub fn new(alpha: f64, beta: f64, flat: f64, reading: Flat) -> Result<Paper, LevelsError> {
        let between = |what, value: f64, least: f64, most: f64, limit| {
            let sound = value >= least && value <= most;
            if sound { Ok(()) } else { Err(LevelsError::Setting { what, value, limit }) }
        };
        between("alpha [°]", alpha, 0.0, 180.0, "between 0 and 180")?;
        between("beta [°]", beta, 0.0, 180.0, "between 0 and 180")?;
        between("flat [°]", flat, 0.0, 180.0, "between 0 and 180")?;
        if flat >= alpha {
            return Err(LevelsError::Setting { what: "flat [°]", value: flat, limit: "below alpha" });
        }
        Ok(Paper { alpha: alpha * DEGREE, beta: beta * DEGREE, flat: flat * DEGREE, reading })
    }

    /// What to split and what to cancel. Of what is seen, only positions count.
    pub fn wishes(&self, levels: &Levels, seen: &Seen) -> Result<Wishes, LevelsError> {
        seen.check(levels)?;
        let normals: Vec<DVec3> =
            levels.nodes.iter().map(|node| normal(node.corners, seen.positions)).collect();
        let beside = levels.leaves_beside(&levels.beside());
        let mut wishes = Wishes::default();
        for group in beside.chunk_by(|a, b| a[0] == b[0]) {
            let face = group[0][0];
            let level = levels.nodes[face as usize].level;
            let critical = self.alpha + f64::from(level) * self.beta;
            let stands = |other: Face| angle(normals[face as usize], normals[other as usize]) > critical;
            if level < levels.most() && group.iter().any(|pair| stands(pair[1])) {
                wishes.split.push(face);
            }
        }
        let split = (0..levels.nodes.len() as Face).filter(|&f| levels.children(f).is_some());
        wishes.cancel = split.filter(|&f| self.is_flat(levels, f, &normals, &beside)).collect();
        Ok(wishes)
    }

    /// Whether a split face is to become whole again.
    fn is_flat(&self, levels: &Levels, face: Face, normals: &[DVec3], beside: &[[u32; 2]]) -> bool {
        let Some(children) = levels.children(face) else { return false };
        if children.iter().any(|&c| levels.children(c).is_some()) {
            return false;
        }
        let centre = normals[children[3] as usize];
        let flat = |other: Face| angle(centre, normals[other as usize]) <= self.flat;
        if !children[..3].iter().all(|&child| flat(child)) {
            return false;
        }
        let around = || {
            children[..3].iter().flat_map(|&child| {
                let first = beside.partition_point(|pair| pair[0] < child);
                let own = beside[first..].iter().take_while(move |pair| pair[0] == child);
                own.map(|pair| pair[1]).filter(|other| !children.contains(other))
            })
        };
        match self.reading {
            Flat::All => around().all(flat),
            Flat::Any => around().any(flat),
        }
    }
}
