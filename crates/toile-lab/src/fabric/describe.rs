//! The simplest curve that describes a strip's readings.

use toile::Curve;
use toile_io::fabric::readings::Fit;

/// What the simplest description may leave, of the largest tension.
const GOOD: f64 = 0.02;

/// A curve and how well it fits.
#[derive(Clone, Debug)]
pub struct Described {
    /// Tension per width [N/m] against strain.
    pub curve: Curve,
    /// Which kind it is; never [`Fit::Auto`].
    pub kind: Fit,
    /// Root mean square of what it leaves, over the largest tension [-].
    pub residual: f64,
    /// Largest strain and tension [N/m] among the readings.
    pub most: [f64; 2],
    /// Readings where the tension falls though the strain grows, by more than 2 % of the largest tension.
    pub falls: usize,
}

/// Describes points (strain, tension [N/m]) by a curve through the origin. None if no two have a strain and tension
/// above 0.
pub fn describe(points: &[[f64; 2]], fit: Fit) -> Option<Described> {
    let mut points: Vec<[f64; 2]> = points.iter().copied().filter(|[s, t]| *s > 0.0 && *t >= 0.0).collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let most = points.iter().fold([0.0f64; 2], |m, p| [m[0].max(p[0]), m[1].max(p[1])]);
    if points.iter().filter(|p| p[1] > 0.0).count() < 2 {
        return None;
    }
    let falls = points.windows(2).filter(|w| w[0][0] < w[1][0] && w[1][1] < w[0][1] - GOOD * most[1]).count();
    let made = |curve: Curve, kind: Fit| {
        let square = points.iter().map(|p| (curve.at(p[0]).tension - p[1]).powi(2)).sum::<f64>();
        let residual = (square / points.len() as f64).sqrt() / most[1];
        Described { curve, kind, residual, most, falls }
    };
    let straight = || made(linear(&points), Fit::Linear);
    let bent = || bilinear(&points, most[0]).map(|curve| made(curve, Fit::Bilinear));
    let pieces = || pieces(&points, most).map(|curve| made(curve, Fit::Curve));
    Some(match fit {
        Fit::Linear => straight(),
        Fit::Bilinear => bent().unwrap_or_else(straight),
        Fit::Curve => pieces().unwrap_or_else(straight),
        Fit::Auto => {
            let simple = straight();
            if simple.residual <= GOOD {
                return Some(simple);
            }
            match (bent(), pieces()) {
                // Pieces must earn their complication.
                (Some(two), Some(many)) if two.residual > GOOD && many.residual < 0.7 * two.residual => many,
                (Some(two), _) => two,
                (None, many) => many.unwrap_or(simple),
            }
        }
    })
}

/// Least squares through the origin.
fn linear(points: &[[f64; 2]]) -> Curve {
    let product: f64 = points.iter().map(|[s, t]| s * t).sum();
    let square: f64 = points.iter().map(|[s, _]| s * s).sum();
    Curve::linear(product / square)
}

/// Least squares over both moduli, for each knee; then over the knee.
fn bilinear(points: &[[f64; 2]], most: f64) -> Option<Curve> {
    if points.len() < 4 {
        return None;
    }
    let at = |knee: f64| -> Option<(f64, Curve)> {
        // What a knee adds per change of modulus, rounding included.
        let ramp = Curve::bilinear(1.0, knee, 2.0);
        let [mut aa, mut ab, mut bb, mut ay, mut by] = [0.0; 5];
        for [s, t] in points {
            let r = ramp.at(*s).tension - s;
            aa += s * s;
            ab += s * r;
            bb += r * r;
            ay += s * t;
            by += r * t;
        }
        let det = aa * bb - ab * ab;
        if det <= 1e-12 * aa * bb {
            return None;
        }
        let (first, change) = ((ay * bb - by * ab) / det, (by * aa - ay * ab) / det);
        let second = first + change;
        let curve = (first > 0.0 && second > 0.0).then(|| Curve::bilinear(first, knee, second))?;
        Some((points.iter().map(|[s, t]| (curve.at(*s).tension - t).powi(2)).sum(), curve))
    };
    let grid = 200;
    let knee = |n: f64| most * n / f64::from(grid);
    let best = (2..grid - 1)
        .filter_map(|n| Some((f64::from(n), at(knee(f64::from(n)))?)))
        .min_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let (mut low, mut high) = (best.0 - 1.0, best.0 + 1.0);
    let left = |n: f64| at(knee(n)).map_or(f64::INFINITY, |found| found.0);
    for _ in 0..60 {
        let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if left(a) < left(b) { high = b } else { low = a }
    }
    let refined = at(knee(0.5 * (low + high)));
    refined.into_iter().chain([best.1]).min_by(|a, b| a.0.total_cmp(&b.0)).map(|found| found.1)
}

/// Straight pieces through means of neighbouring readings, made to grow.
fn pieces(points: &[[f64; 2]], most: [f64; 2]) -> Option<Curve> {
    let groups = points.len().min(Curve::MOST_POINTS);
    let mut means: Vec<[f64; 2]> = (0..groups)
        .map(|g| {
            let part = &points[g * points.len() / groups..(g + 1) * points.len() / groups];
            let sum = part.iter().fold([0.0, 0.0], |a, p| [a[0] + p[0], a[1] + p[1]]);
            sum.map(|x| x / part.len() as f64)
        })
        .collect();
    means.dedup_by(|b, a| b[0] - a[0] < 1e-3 * most[0]);
    // A hundredth of the mean slope is the least: flat cloth would have no stiffness at all.
    let least = 0.01 * most[1] / most[0];
    let mut before = [0.0, 0.0];
    for mean in &mut means {
        mean[1] = mean[1].max(before[1] + least * (mean[0] - before[0]));
        before = *mean;
    }
    Curve::through(&means).ok()
}
