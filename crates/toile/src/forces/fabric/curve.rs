//! A stiffness that changes with strain: crimp is pulled straight first, then the yarns themselves stretch.

use std::fmt;

/// Tension per width [N/m] against strain, through the origin.
///
/// Straight pieces that meet in knees. Below zero strain it goes on with the initial modulus. Each knee is
/// rounded over a sixteenth of the way to its nearer neighbour, so that the tangent has no jumps:
/// T(ε) = m₀ ε + Σ (mᵢ − mᵢ₋₁) R(ε − sᵢ), where R is the ramp max(0, x) with its corner rounded. Outside the
/// rounding it is exactly the straight pieces.
#[derive(Clone, Copy, PartialEq)]
pub struct Curve {
    initial: f64,
    knees: [Knee; Curve::MOST_KNEES],
    count: usize,
}

/// Where a [`Curve`] changes its slope.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Knee {
    /// Strain, above 0.
    pub strain: f64,
    /// Slope from there on [N/m].
    pub modulus: f64,
}

/// Energy per area, tension and tangent at some strain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pull {
    /// Energy per rest area [J/m²].
    pub energy: f64,
    /// Tension per width [N/m].
    pub tension: f64,
    /// Derivative of the tension [N/m].
    pub tangent: f64,
}

/// Why points or knees make no curve.
#[derive(Clone, Debug, PartialEq)]
pub enum CurveError {
    /// More knees than a curve holds.
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// No points at all.
    Empty,
    /// A strain is not above the one before, or above 0 for the first.
    Strain {
        /// Which point, from 0.
        index: usize,
        /// Its strain.
        strain: f64,
        /// What it must be above.
        above: f64,
    },
    /// The slope up to a point is not above 0.
    Slope {
        /// Which point, from 0.
        index: usize,
        /// The slope [N/m].
        slope: f64,
    },
}

impl fmt::Display for CurveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { count } => {
                write!(
                    f,
                    "{count} points, the limit is {}; leave out points on straight pieces",
                    Curve::MOST_POINTS
                )
            }
            Self::Empty => write!(f, "no points; give at least one [strain, tension]"),
            Self::Strain { index, strain, above } => {
                write!(f, "strain {index} is {strain}, it must be above {above}; sort the points by strain")
            }
            Self::Slope { index, slope } => {
                write!(
                    f,
                    "the slope up to point {index} is {slope} N/m, it must be above 0; tension grows with strain"
                )
            }
        }
    }
}

impl std::error::Error for CurveError {}

impl Curve {
    /// Most knees of a curve: it lives inside [`super::Fabric`], which is copied freely.
    pub const MOST_KNEES: usize = 11;
    /// Most points that [`Curve::through`] takes.
    pub const MOST_POINTS: usize = Curve::MOST_KNEES + 1;

    /// The same modulus [N/m] at every strain.
    pub fn linear(modulus: f64) -> Curve {
        Curve { initial: modulus, knees: [Knee::default(); Curve::MOST_KNEES], count: 0 }
    }

    /// `initial` [N/m] up to the strain `knee`, then `second` [N/m].
    pub fn bilinear(initial: f64, knee: f64, second: f64) -> Curve {
        let mut curve = Curve::linear(initial);
        curve.knees[0] = Knee { strain: knee, modulus: second };
        curve.count = 1;
        curve
    }

    /// Straight pieces from the origin through points [strain, tension [N/m]], with the last slope beyond.
    pub fn through(points: &[[f64; 2]]) -> Result<Curve, CurveError> {
        if points.len() > Curve::MOST_POINTS {
            return Err(CurveError::TooMany { count: points.len() });
        }
        let mut curve = Curve::linear(0.0);
        let [mut strain, mut tension] = [0.0, 0.0];
        for (index, &[s, t]) in points.iter().enumerate() {
            if !(s > strain && s.is_finite()) {
                return Err(CurveError::Strain { index, strain: s, above: strain });
            }
            let slope = (t - tension) / (s - strain);
            if !(slope > 0.0 && slope.is_finite()) {
                return Err(CurveError::Slope { index, slope });
            }
            match index {
                0 => curve.initial = slope,
                _ => curve.knees[index - 1] = Knee { strain, modulus: slope },
            }
            [strain, tension] = [s, t];
        }
        curve.count = points.len().checked_sub(1).ok_or(CurveError::Empty)?;
        Ok(curve)
    }

    /// Modulus at no strain and in compression [N/m].
    pub fn initial(&self) -> f64 {
        self.initial
    }

    /// Where the slope changes, in order.
    pub fn knees(&self) -> &[Knee] {
        &self.knees[..self.count]
    }

    /// Whether the modulus is the same at every strain.
    pub fn is_linear(&self) -> bool {
        self.count == 0
    }

    /// Smallest modulus at any strain [N/m].
    pub fn lowest(&self) -> f64 {
        self.knees().iter().fold(self.initial, |least, knee| least.min(knee.modulus))
    }

    /// Largest modulus at any strain [N/m].
    pub fn highest(&self) -> f64 {
        self.knees().iter().fold(self.initial, |most, knee| most.max(knee.modulus))
    }

    /// Multiplies every modulus.
    pub fn scaled(mut self, factor: f64) -> Curve {
        self.initial *= factor;
        self.knees.iter_mut().for_each(|knee| knee.modulus *= factor);
        self
    }

    /// The answer at `strain`, positive in tension.
    pub fn at(&self, strain: f64) -> Pull {
        let mut pull = self.beyond(strain);
        pull.energy += 0.5 * self.initial * strain * strain;
        pull.tension += self.initial * strain;
        pull.tangent += self.initial;
        pull
    }

    /// What the knees add to the initial modulus.
    pub(super) fn beyond(&self, strain: f64) -> Pull {
        let mut sum = Pull::default();
        let mut before = self.initial;
        for (n, knee) in self.knees().iter().enumerate() {
            let (step, round) = (knee.modulus - before, self.rounding(n));
            before = knee.modulus;
            let x = strain - knee.strain;
            if x >= round {
                sum.energy += step * (0.5 * x * x + round * round / 6.0);
                sum.tension += step * x;
                sum.tangent += step;
            } else if x > -round {
                let y = x + round;
                sum.energy += step * (y * y * y / (12.0 * round));
                sum.tension += step * (y * y / (4.0 * round));
                sum.tangent += step * (y / (2.0 * round));
            }
        }
        sum
    }

    /// Half the width of the rounding of a knee.
    fn rounding(&self, knee: usize) -> f64 {
        let knees = self.knees();
        let here = knees[knee].strain;
        let before = if knee == 0 { 0.0 } else { knees[knee - 1].strain };
        let gap = knees.get(knee + 1).map_or(here - before, |next| (here - before).min(next.strain - here));
        gap / 16.0
    }

    /// What is wrong with it, if anything.
    pub(super) fn problem(&self) -> Option<CurveError> {
        let positive = |slope: f64| slope > 0.0 && slope.is_finite();
        if !positive(self.initial) {
            return Some(CurveError::Slope { index: 0, slope: self.initial });
        }
        let mut above = 0.0;
        for (index, knee) in self.knees().iter().enumerate() {
            if !(knee.strain > above && knee.strain.is_finite()) {
                return Some(CurveError::Strain { index, strain: knee.strain, above });
            }
            if !positive(knee.modulus) {
                return Some(CurveError::Slope { index: index + 1, slope: knee.modulus });
            }
            above = knee.strain;
        }
        None
    }
}

impl From<f64> for Curve {
    fn from(modulus: f64) -> Curve {
        Curve::linear(modulus)
    }
}

impl fmt::Debug for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Curve").field("initial", &self.initial).field("knees", &self.knees()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> impl Iterator<Item = f64> {
        (-400..=1600).map(|n| f64::from(n) * 1.25e-4 + 1e-7)
    }

    fn curves() -> [Curve; 4] {
        [
            Curve::linear(800.0),
            Curve::bilinear(300.0, 0.03, 6000.0),
            Curve::bilinear(900.0, 0.05, 40.0),
            Curve::through(&[[0.01, 5.0], [0.02, 7.0], [0.05, 40.0], [0.1, 600.0]]).expect("a curve"),
        ]
    }

    #[test]
    fn tension_is_the_slope_of_energy_and_tangent_that_of_tension() {
        for curve in curves() {
            for strain in samples() {
                let d = 1e-6;
                let (low, here, high) = (curve.at(strain - d), curve.at(strain), curve.at(strain + d));
                let slope = (high.energy - low.energy) / (2.0 * d);
                // A centred difference is off by d² times the third derivative, here d times the tangent's jump.
                assert!(
                    (slope - here.tension).abs() < 1e-5 * (1.0 + here.tension.abs()),
                    "{strain} {slope} {here:?}"
                );
                let slope = (high.tension - low.tension) / (2.0 * d);
                assert!((slope - here.tangent).abs() < 2.0 * d * 3e7, "{strain} {slope} {here:?}");
                assert!(here.tangent >= curve.lowest() - 1e-9 && here.tangent <= curve.highest() + 1e-9);
            }
        }
    }

    #[test]
    fn outside_the_rounding_it_is_the_straight_pieces() {
        let curve = Curve::bilinear(300.0, 0.04, 6000.0);
        for strain in samples() {
            let sharp = 300.0 * strain + 5700.0 * (strain - 0.04).max(0.0);
            let off = curve.at(strain).tension - sharp;
            // Largest in the knee: a quarter of the rounding times the change of slope.
            assert!((-1e-9..=5700.0 * 0.0025 / 4.0 + 1e-9).contains(&off), "{strain} {off}");
            assert!((strain - 0.04).abs() < 0.0025 || off.abs() < 1e-9, "{strain} {off}");
        }
        assert!((curve.at(0.04).tension - 12.0 - 5700.0 * 0.0025 / 4.0).abs() < 1e-9);
    }

    #[test]
    fn it_goes_near_its_points_and_keeps_slopes_at_both_ends() {
        let points = [[0.01, 5.0], [0.02, 7.0], [0.05, 40.0], [0.1, 600.0]];
        let curve = Curve::through(&points).expect("a curve");
        assert_eq!((curve.initial(), curve.knees().len(), curve.lowest()), (500.0, 3, 200.0));
        assert_eq!(curve.at(-0.1).tension, -50.0);
        assert_eq!(curve.at(0.2).tangent, curve.at(0.1).tangent);
        assert!((curve.at(0.1).tension - 600.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_no_curve_is_refused() {
        assert_eq!(Curve::through(&[]), Err(CurveError::Empty));
        let refused = |points: &[[f64; 2]]| Curve::through(points).expect_err("no curve").to_string();
        assert!(refused(&[[0.0, 1.0]]).contains("strain 0 is 0, it must be above 0"));
        assert!(refused(&[[0.1, 1.0], [0.05, 2.0]]).contains("strain 1 is 0.05, it must be above 0.1"));
        assert!(refused(&[[0.1, 5.0], [0.2, 4.0]]).contains("up to point 1 is"));
        assert!(refused(&[[f64::NAN, 5.0]]).contains("NaN"));
        assert!(refused(&[[0.1, f64::INFINITY]]).contains("slope"));
        let many: Vec<[f64; 2]> = (1..=13).map(|n| [f64::from(n), f64::from(n)]).collect();
        assert!(refused(&many).contains("13 points, the limit is 12"));
        assert!(Curve::bilinear(1.0, -0.1, 2.0).problem().is_some());
        assert!(Curve::bilinear(1.0, 0.1, 0.0).problem().is_some());
        assert!(Curve::linear(f64::NAN).problem().is_some());
        assert!(curves().iter().all(|curve| curve.problem().is_none()));
    }
}
