//! Vertices that are one vertex written several times.

use super::Polygons;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};

/// Vertices nearer than this part of their mean edge are one.
pub const WELD: f64 = 1e-4;

/// Cells are this much wider than what is looked for in them: most points have neighbours in one cell only.
const CELL: f64 = 8.0;

/// For each vertex, the one that stands for it: itself, or the nearest before it within reach. Vertices without a side of
/// some length stand for themselves.
pub fn weld(positions: &[DVec3], polygons: &Polygons) -> Vec<u32> {
    let reach = reaches(positions, polygons);
    let mut stands = same_place(positions, &reach);
    let mut grid = Grid::new(positions, &reach, &stands);
    for v in 0..positions.len() {
        if stands[v] != v as u32 || reach[v] <= 0.0 {
            continue;
        }
        match grid.nearest(v) {
            Some(of) => stands[v] = of,
            None => grid.insert(v),
        }
    }
    // What was in the same place as a vertex goes with it.
    for v in 0..stands.len() {
        stands[v] = stands[stands[v] as usize];
    }
    stands
}

/// How near another vertex may be to be the same [m]; 0 for vertices of no polygon.
fn reaches(positions: &[DVec3], polygons: &Polygons) -> Vec<f64> {
    let mut sum = vec![(0.0, 0u32); positions.len()];
    for corners in polygons.iter() {
        for i in 0..corners.len() {
            let (a, b) = (corners[i] as usize, corners[(i + 1) % corners.len()] as usize);
            let length = positions[a].distance(positions[b]);
            if length > 0.0 {
                for v in [a, b] {
                    sum[v] = (sum[v].0 + length, sum[v].1 + 1);
                }
            }
        }
    }
    let of = |(x, &(length, count)): (&DVec3, &(f64, u32))| {
        let reach = if count > 0 { WELD * length / f64::from(count) } else { 0.0 };
        // Below the digits of the coordinates there is nothing to tell apart.
        if reach > 1e-13 * x.abs().max_element() { reach } else { 0.0 }
    };
    positions.iter().zip(&sum).map(of).collect()
}

/// Welds what is in the very same place.
fn same_place(positions: &[DVec3], reach: &[f64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..positions.len() as u32).filter(|v| reach[*v as usize] > 0.0).collect();
    // Adding zero makes −0 and 0 the same.
    let key = |v: u32| (positions[v as usize] + 0.0).to_array().map(f64::to_bits);
    order.sort_unstable_by_key(|v| (key(*v), *v));
    let mut stands: Vec<u32> = (0..positions.len() as u32).collect();
    for group in order.chunk_by(|a, b| key(*a) == key(*b)) {
        group.iter().for_each(|v| stands[*v as usize] = group[0]);
    }
    stands
}

/// Vertices that stand for themselves, by cells. Reaches differ from place to place: each power of two has its own
/// cells, with all vertices that reach so far or farther. Those are apart by about a reach, so no cell is crowded.
struct Grid<'a> {
    positions: &'a [DVec3],
    reach: &'a [f64],
    levels: BTreeSet<i32>,
    cells: BTreeMap<(i32, [i64; 3]), Vec<u32>>,
}

impl Grid<'_> {
    fn new<'a>(positions: &'a [DVec3], reach: &'a [f64], stands: &[u32]) -> Grid<'a> {
        let own = (0..stands.len()).filter(|v| stands[*v] == *v as u32 && reach[*v] > 0.0);
        let levels = own.map(|v| level(reach[v])).collect();
        Grid { positions, reach, levels, cells: BTreeMap::new() }
    }

    fn insert(&mut self, v: usize) {
        for &l in self.levels.range(..=level(self.reach[v])) {
            let cell = cell(self.positions[v], l);
            self.cells.entry((l, cell)).or_default().push(v as u32);
        }
    }

    /// The nearest vertex within the reach of both, the first of equally near ones.
    fn nearest(&self, v: usize) -> Option<u32> {
        let (x, reach) = (self.positions[v], self.reach[v]);
        let mut best: Option<(f64, u32)> = None;
        for &l in self.levels.range(..=level(reach)) {
            let around = DVec3::splat(reach.min(libm::ldexp(1.0, l)));
            let (low, high) = (cell(x - around, l), cell(x + around, l));
            for i in low[0]..=high[0] {
                for j in low[1]..=high[1] {
                    for k in low[2]..=high[2] {
                        for &w in self.cells.get(&(l, [i, j, k])).into_iter().flatten() {
                            let distance = x.distance(self.positions[w as usize]);
                            let within = distance <= reach.min(self.reach[w as usize]);
                            if within && best.is_none_or(|b| (distance, w) < b) {
                                best = Some((distance, w));
                            }
                        }
                    }
                }
            }
        }
        best.map(|(_, w)| w)
    }
}

/// The least power of two that is not below a reach.
fn level(reach: f64) -> i32 {
    libm::frexp(reach).1
}

fn cell(x: DVec3, level: i32) -> [i64; 3] {
    let size = CELL * libm::ldexp(1.0, level);
    // The cast saturates: points that far out share a cell.
    x.to_array().map(|c| (c / size).floor() as i64)
}
