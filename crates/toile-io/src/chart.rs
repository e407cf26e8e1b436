//! Points of a pattern found on the triangles that are cut from it.

use glam::DVec2;

/// A point of a pattern on a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    /// The triangle.
    pub face: u32,
    /// Weights of its corners: none negative, with sum 1.
    pub weights: [f64; 3],
    /// How far from the point that is [m]: 0 within a triangle.
    pub distance: f64,
}

/// Triangles of a pattern, in cells to find them by.
pub(crate) struct Chart {
    triangles: Vec<[DVec2; 3]>,
    low: DVec2,
    cell: DVec2,
    side: usize,
    cells: Vec<Vec<u32>>,
}

impl Chart {
    /// Triangles by the places of their corners [m]; those without a place are nowhere.
    pub fn new(triangles: Vec<[DVec2; 3]>) -> Chart {
        let known = |t: &&[DVec2; 3]| t.iter().all(|p| p.is_finite());
        let corners = triangles.iter().filter(known).flatten();
        let (low, high) = corners
            .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), p| (low.min(*p), high.max(*p)));
        let side = (triangles.len() as f64).sqrt().ceil().max(1.0) as usize;
        let cell = ((high - low) / side as f64).max(DVec2::splat(f64::MIN_POSITIVE));
        let mut chart = Chart { triangles, low, cell, side, cells: vec![Vec::new(); side * side] };
        for (k, triangle) in chart.triangles.iter().enumerate().filter(|(_, t)| known(t)) {
            let [a, b, c] = *triangle;
            let (from, to) = (chart.place(a.min(b).min(c)), chart.place(a.max(b).max(c)));
            for row in from[1]..=to[1] {
                for column in from[0]..=to[0] {
                    chart.cells[row * side + column].push(k as u32);
                }
            }
        }
        chart
    }

    fn place(&self, point: DVec2) -> [usize; 2] {
        let at = (point - self.low) / self.cell;
        [at.x, at.y].map(|x| (x.max(0.0) as usize).min(self.side - 1))
    }

    /// The first triangle that holds a point, or the nearest one; nothing without any.
    pub fn find(&self, point: DVec2) -> Option<Found> {
        let [column, row] = self.place(point);
        let near = self.cells[row * self.side + column].iter();
        let within = |face: &u32| {
            let weights = weights(&self.triangles[*face as usize], point)?;
            // Points on an edge are on both its sides, give or take rounding.
            weights.iter().all(|w| *w >= -1e-9).then(|| Found {
                face: *face,
                weights: tidy(weights),
                distance: 0.0,
            })
        };
        near.copied().collect::<Vec<_>>().iter().find_map(within).or_else(|| self.nearest(point))
    }

    fn nearest(&self, point: DVec2) -> Option<Found> {
        let mut best: Option<Found> = None;
        for (face, corners) in self.triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                let along = b - a;
                let t = ((point - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
                let distance = (a + along * t).distance(point);
                if distance < best.map_or(f64::INFINITY, |best| best.distance) {
                    let mut weights = [0.0; 3];
                    (weights[k], weights[(k + 1) % 3]) = (1.0 - t, t);
                    best = Some(Found { face: face as u32, weights, distance });
                }
            }
        }
        best
    }
}

/// Weights of the corners of a triangle at a point, whatever side it is on; nothing where it has no area.
pub(crate) fn weights(&[a, b, c]: &[DVec2; 3], point: DVec2) -> Option<[f64; 3]> {
    let area = (b - a).perp_dot(c - a);
    let part = |p: DVec2, q: DVec2| (p - point).perp_dot(q - point) / area;
    (area != 0.0 && area.is_finite()).then(|| [part(b, c), part(c, a), part(a, b)])
}

/// None negative, with sum 1.
pub(crate) fn tidy(weights: [f64; 3]) -> [f64; 3] {
    let positive = weights.map(|w| w.max(0.0));
    let sum: f64 = positive.iter().sum();
    positive.map(|w| w / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_found_in_the_triangles_that_hold_them_or_on_the_nearest() {
        let p = DVec2::new;
        let mut triangles = Vec::new();
        for k in 0..20 {
            let (u, v) = (f64::from(k % 5), f64::from(k / 5));
            triangles.push([p(u, v), p(u + 1.0, v), p(u + 1.0, v + 1.0)]);
            triangles.push([p(u, v), p(u + 1.0, v + 1.0), p(u, v + 1.0)]);
        }
        triangles.push([DVec2::NAN; 3]);
        let chart = Chart::new(triangles.clone());
        for k in 0..200 {
            let point = p(f64::from(k % 20) * 0.27 - 0.1, f64::from(k / 20) * 0.45 - 0.1);
            let found = chart.find(point).expect("found");
            let corners = triangles[found.face as usize];
            let at = (0..3).fold(DVec2::ZERO, |sum, k| sum + corners[k] * found.weights[k]);
            assert!((at.distance(point) - found.distance).abs() < 1e-12, "{point} at {at}");
            let inside = point.clamp(DVec2::ZERO, p(5.0, 4.0));
            assert!((inside.distance(point) - found.distance).abs() < 1e-12, "the nearest");
        }
        assert_eq!(Chart::new(vec![[DVec2::NAN; 3]]).find(DVec2::ZERO), None);
    }
}
