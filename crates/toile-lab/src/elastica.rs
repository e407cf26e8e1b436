//! A strip clamped horizontally at one end and bent by its own weight: the heavy elastica.
//!
//! With θ the angle below the horizontal and s the length from the clamp over the overhang L,
//! θ″ = −Γ (1 − s) cos θ, θ(0) = 0, θ′(1) = 0, and Γ = σ g L³ / D the only number in it: the overhang over the bending
//! length c = (D / (σ g))^⅓, cubed. Measured from the free end in units of c, the angle from the vertical φ obeys
//! φ″ = τ sin φ, φ(0) = δ, φ′(0) = 0, without Γ: every δ is one strip, whose overhang L/c is where φ reaches 90°.
//! So no boundary value problem remains, and one bisection on δ finds the strip with a given Γ or a given slope.

use std::f64::consts::FRAC_PI_2;

/// Step along the strip [bending lengths]: Runge–Kutta of fourth order is then right to 1e-9.
const STEP: f64 = 0.005;
/// Longest strip [bending lengths]: Γ = 64,000, hanging straight down for all but its first few per cent.
const LONGEST: f64 = 40.0;

/// An equilibrium, in units of the overhang.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cantilever {
    /// Γ = σ g L³ / D.
    pub gamma: f64,
    /// How far the tip is below the clamp, over L.
    pub height: f64,
    /// How far the tip is in front of the clamp, over L.
    pub reach: f64,
    /// Angle of the tip below the horizontal [rad].
    pub tip: f64,
    /// Curvature at the clamp, times L.
    pub clamp: f64,
}

impl Cantilever {
    /// The strip with Γ between 1e-6 and 60,000.
    pub fn of_gamma(gamma: f64) -> Option<Cantilever> {
        if !(1e-6..=6e4).contains(&gamma) {
            return None;
        }
        search(|strip| strip.gamma > gamma)
    }

    /// The strip whose tip is seen from the clamp at `angle` [rad] below the horizontal, from 1e-6 to 1.55 (89°).
    pub fn of_chord(angle: f64) -> Option<Cantilever> {
        if !(1e-6..=1.55).contains(&angle) {
            return None;
        }
        search(|strip| strip.chord() > angle)
    }

    /// The angle [rad] at which the tip is seen from the clamp, below the horizontal.
    pub fn chord(&self) -> f64 {
        self.height.atan2(self.reach)
    }

    /// Bending length over overhang: Γ^(−⅓).
    pub fn bending_length(&self) -> f64 {
        self.gamma.cbrt().recip()
    }
}

/// Peirce's approximation of the same: c / L = (cos(θ/2) / (8 tan θ))^⅓ for the chord at θ [rad].
pub fn peirce(angle: f64) -> f64 {
    ((0.5 * angle).cos() / (8.0 * angle.tan())).cbrt()
}

/// The strip at which `beyond` changes to true when strips get longer.
fn search(beyond: impl Fn(&Cantilever) -> bool) -> Option<Cantilever> {
    // δ shrinks like exp(−⅔ τ^1.5) on long strips and nears 90° on short ones: its logit is an even scale for both.
    let strip = |x: f64| hang(FRAC_PI_2 / (1.0 + x.exp()));
    let (mut short, mut long) = (-22.0, 180.0);
    for _ in 0..100 {
        let middle = 0.5 * (short + long);
        match strip(middle) {
            Some(found) if !beyond(&found) => short = middle,
            _ => long = middle,
        }
    }
    strip(short)
}

/// φ, φ′, and the integrals of sin φ and cos φ.
type State = [f64; 4];

fn slope(tau: f64, y: State) -> State {
    let (sin, cos) = y[0].sin_cos();
    [y[1], tau * sin, sin, cos]
}

fn step(tau: f64, y: State, h: f64) -> State {
    let add = |k: State, by: f64| [0, 1, 2, 3].map(|i| y[i] + by * k[i]);
    let a = slope(tau, y);
    let b = slope(tau + 0.5 * h, add(a, 0.5 * h));
    let c = slope(tau + 0.5 * h, add(b, 0.5 * h));
    let d = slope(tau + h, add(c, h));
    [0, 1, 2, 3].map(|i| y[i] + h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]))
}

/// The strip whose tip is `delta` [rad] from the vertical; none if it is too long.
fn hang(delta: f64) -> Option<Cantilever> {
    let mut y = [delta, 0.0, 0.0, 0.0];
    // Short strips are as finely divided as long ones: for them τ³ = 6 (90° − δ).
    let h = STEP.min(0.01 * (6.0 * (FRAC_PI_2 - delta)).cbrt());
    let mut n = 0u32;
    while f64::from(n) * h < LONGEST {
        let tau = f64::from(n) * h;
        let next = step(tau, y, h);
        if next[0] >= FRAC_PI_2 {
            let (mut low, mut high) = (0.0, h);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if step(tau, y, middle)[0] < FRAC_PI_2 { low = middle } else { high = middle }
            }
            let end = step(tau, y, high);
            let length = tau + high;
            return Some(Cantilever {
                gamma: length * length * length,
                height: end[3] / length,
                reach: end[2] / length,
                tip: FRAC_PI_2 - delta,
                clamp: end[1] * length,
            });
        }
        y = next;
        n += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_strips_are_the_beam_of_small_deflections() {
        // Height L Γ/8, tip Γ/6, clamp Γ/2.
        let strip = Cantilever::of_gamma(1e-3).expect("a strip");
        for (got, want) in [(strip.height, 1.25e-4), (strip.tip, 1e-3 / 6.0), (strip.clamp, 5e-4)] {
            assert!((got / want - 1.0).abs() < 1e-6, "{got} {want}");
        }
        assert!((strip.gamma / 1e-3 - 1.0).abs() < 1e-9 && (strip.reach - 1.0).abs() < 1e-7);
    }

    #[test]
    fn heights_over_reaches_are_the_known_ones() {
        for (gamma, ratio) in [(1.0, 0.124562), (10.0, 1.066802), (100.0, 5.888105), (1000.0, 21.33544)] {
            let strip = Cantilever::of_gamma(gamma).expect("a strip");
            let got = strip.height / strip.reach;
            assert!((got / ratio - 1.0).abs() < 4e-6, "{gamma}: {got}");
        }
    }

    #[test]
    fn chords_lead_back_to_their_strips() {
        for gamma in [1e-4, 0.03, 1.0, 8.0, 70.0, 3000.0] {
            let strip = Cantilever::of_gamma(gamma).expect("a strip");
            let again = Cantilever::of_chord(strip.chord()).expect("a strip");
            assert!((again.gamma / gamma - 1.0).abs() < 1e-7, "{gamma} {}", again.gamma);
        }
        assert!(Cantilever::of_chord(0.0).is_none() && Cantilever::of_chord(f64::NAN).is_none());
        assert!(Cantilever::of_gamma(1e9).is_none() && Cantilever::of_gamma(-1.0).is_none());
    }

    #[test]
    fn peirce_is_near_at_small_angles_and_two_per_cent_off_at_his_own() {
        let exact =
            |degrees: f64| Cantilever::of_chord(degrees.to_radians()).expect("a strip").bending_length();
        let off = |degrees: f64| peirce(degrees.to_radians()) / exact(degrees) - 1.0;
        assert!(off(7.1).abs() < 6e-4, "{}", off(7.1));
        assert!((0.015..0.022).contains(&off(41.5)), "{}", off(41.5));
    }

    /// Rows of a reference table, if there is one.
    fn table(name: &str) -> Vec<Vec<f64>> {
        let Some(folder) = std::env::var_os("TOILE_DATA") else {
            eprintln!("skipped: $TOILE_DATA is not set");
            return Vec::new();
        };
        let path = std::path::Path::new(&folder).join("validation").join(name);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().skip(1).map(|l| l.split(',').filter_map(|x| x.parse().ok()).collect()).collect()
    }

    #[test]
    fn independent_tables_agree() {
        for row in table("cantilever_master.csv") {
            let strip = Cantilever::of_gamma(row[0]).expect("a strip");
            for (got, want) in
                [(strip.height, row[1]), (strip.reach, row[2]), (strip.tip, row[4]), (strip.clamp, row[5])]
            {
                assert!((got / want - 1.0).abs() < 1e-6, "{row:?} {strip:?}");
            }
        }
        for row in table("peirce_check.csv") {
            let angle = row[1].to_radians();
            let exact = Cantilever::of_chord(angle).expect("a strip").bending_length();
            assert!((exact / row[2] - 1.0).abs() < 1e-6, "{row:?} {exact}");
            assert!((peirce(angle) / row[3] - 1.0).abs() < 1e-6, "{row:?}");
        }
    }
}
