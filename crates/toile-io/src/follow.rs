//! The vertices of one mesh followed by their places in the pattern, whatever mesh the cloth has.

use crate::cache::{CacheFrame, CacheObject};
use crate::chart::{Chart, tidy, weights};
use glam::{DVec2, DVec3};
use std::sync::Arc;

/// Corners of a triangle and their weights.
type Spot = ([u32; 3], [f64; 3]);

/// How far into its own triangle a vertex looks, over the way to the middle: which side of a cut it is on.
const ASIDE: f64 = 1e-3;

/// Follows the vertices that an object has in one topology.
pub(crate) struct Follower {
    target: Arc<Vec<CacheObject>>,
    object: usize,
    /// Of the topology met last: where each vertex is.
    source: Arc<Vec<CacheObject>>,
    places: Vec<Spot>,
    /// Frames in which the object has another topology.
    pub followed: usize,
}

impl Follower {
    /// Follows object number `object` as it is in `target`.
    pub fn new(target: Arc<Vec<CacheObject>>, object: usize) -> Follower {
        Follower { source: target.clone(), target, object, places: Vec::new(), followed: 0 }
    }

    /// Where the vertices are in a frame [m].
    pub fn positions(&mut self, frame: &CacheFrame) -> Result<Vec<DVec3>, String> {
        let (x, own) = (&frame.positions[self.object], &frame.objects[self.object]);
        let target = &self.target[self.object];
        if Arc::ptr_eq(&frame.objects, &self.target) || own.faces == target.faces {
            return Ok(x.clone());
        }
        if !Arc::ptr_eq(&frame.objects, &self.source) {
            self.places = places(target, own)?;
            self.source = frame.objects.clone();
        }
        self.followed += 1;
        let at = |(corners, weights): &Spot| {
            (0..3).fold(DVec3::ZERO, |sum, k| sum + x[corners[k] as usize] * weights[k])
        };
        Ok(self.places.iter().map(at).collect())
    }
}

/// The triangle of `source` and the weights of its corners where each vertex of `target` is. Where the pattern has a hole by
/// now, a vertex is on its rim.
fn places(target: &CacheObject, source: &CacheObject) -> Result<Vec<Spot>, String> {
    let name = &target.name;
    if target.chart.is_empty() || source.chart.is_empty() {
        return Err(format!("\"{name}\" changes its mesh and its topologies have no pattern"));
    }
    let chart = Chart::new(source.chart.clone());
    let mut wanted: Vec<Option<(DVec2, DVec2)>> = vec![None; target.vertex_count];
    for (face, corners) in target.faces.iter().zip(&target.chart) {
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        for (v, place) in face.iter().zip(corners) {
            wanted[*v as usize].get_or_insert((*place, *place + (middle - *place) * ASIDE));
        }
    }
    let place = |(vertex, wanted): (usize, &Option<(DVec2, DVec2)>)| {
        let nowhere = || format!("vertex {vertex} of \"{name}\" has no place in the pattern");
        // A vertex without faces is wherever the first one is.
        let Some((exact, aside)) = wanted else { return Ok((source.faces[0], [1.0, 0.0, 0.0])) };
        if !exact.is_finite() {
            return Err(nowhere());
        }
        let found = chart.find(*aside).ok_or_else(nowhere)?;
        let own = match found.distance == 0.0 {
            true => weights(&source.chart[found.face as usize], *exact).map(tidy),
            false => None,
        };
        Ok((source.faces[found.face as usize], own.unwrap_or(found.weights)))
    };
    wanted.iter().enumerate().map(place).collect()
}
