//! Eigenvalues of small symmetric matrices, for tests.

/// Eigenvalues of the symmetric part of `a` by cyclic Jacobi rotations, ascending.
pub fn symmetric_eigenvalues(a: &[Vec<f64>]) -> Vec<f64> {
    let n = a.len();
    let mut m: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| 0.5 * (a[i][j] + a[j][i])).collect()).collect();
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut m, p, q);
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| m[i][i]).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn rotate(m: &mut [Vec<f64>], p: usize, q: usize) {
    if m[p][q] == 0.0 {
        return;
    }
    let theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let t = if theta == 0.0 { 1.0 } else { t };
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..m.len() {
        let (a, b) = (m[k][p], m[k][q]);
        (m[k][p], m[k][q]) = (c * a - s * b, s * a + c * b);
    }
    for k in 0..m.len() {
        let (a, b) = (m[p][k], m[q][k]);
        (m[p][k], m[q][k]) = (c * a - s * b, s * a + c * b);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn known_spectrum() {
        let a = vec![vec![2.0, 1.0, 0.0], vec![1.0, 2.0, 0.0], vec![0.0, 0.0, -4.0]];
        let got = super::symmetric_eigenvalues(&a);
        for (g, w) in got.iter().zip([-4.0, 1.0, 3.0]) {
            assert!((g - w).abs() < 1e-14, "{got:?}");
        }
    }
}
