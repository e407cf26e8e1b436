//! Polynomials with integer coefficients, their roots between 0 and 1, and signs at such roots. Nothing rounds.

use num_bigint::{BigInt, Sign};
use num_traits::{One, Zero};

/// Σ cᵢ tⁱ; no leading zeros, so the zero polynomial is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Polynomial(Vec<BigInt>);

impl Polynomial {
    pub fn new(mut coefficients: Vec<BigInt>) -> Polynomial {
        while coefficients.last().is_some_and(Zero::is_zero) {
            coefficients.pop();
        }
        Polynomial(coefficients)
    }

    /// From `start` at t = 0 to `end` at t = 1.
    pub fn linear(start: &BigInt, end: &BigInt) -> Polynomial {
        Polynomial::new(vec![start.clone(), end - start])
    }

    pub fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn degree(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    pub fn plus(&self, other: &Polynomial) -> Polynomial {
        self.combine(other, false)
    }

    pub fn minus(&self, other: &Polynomial) -> Polynomial {
        self.combine(other, true)
    }

    fn combine(&self, other: &Polynomial, subtract: bool) -> Polynomial {
        let mut sum = self.0.clone();
        sum.resize(self.0.len().max(other.0.len()), BigInt::zero());
        for (s, o) in sum.iter_mut().zip(&other.0) {
            if subtract { *s -= o } else { *s += o }
        }
        Polynomial::new(sum)
    }

    pub fn times(&self, other: &Polynomial) -> Polynomial {
        if self.is_zero() || other.is_zero() {
            return Polynomial(Vec::new());
        }
        let mut product = vec![BigInt::zero(); self.0.len() + other.0.len() - 1];
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in other.0.iter().enumerate() {
                product[i + j] += a * b;
            }
        }
        Polynomial::new(product)
    }

    /// Sign at a dyadic number.
    fn sign_at(&self, t: &Dyadic) -> i32 {
        // Horner on 2^(kn) p(m/2^k).
        let mut sum = BigInt::zero();
        for (n, c) in self.0.iter().rev().enumerate() {
            sum = sum * &t.numerator + (c << (t.shift as usize * n));
        }
        sign(&sum)
    }

    fn derivative(&self) -> Polynomial {
        Polynomial::new(self.0.iter().enumerate().skip(1).map(|(i, c)| c * i).collect())
    }

    /// Divided by the common factor of its coefficients.
    fn primitive(&self) -> Polynomial {
        let factor = self.0.iter().fold(BigInt::zero(), |g, c| gcd(g, c.clone()));
        if factor.is_zero() || factor.is_one() {
            return self.clone();
        }
        Polynomial::new(self.0.iter().map(|c| c / &factor).collect())
    }

    /// Remainder and quotient of c·self by `other`, for some positive integer c.
    fn divide(&self, other: &Polynomial) -> (Polynomial, Polynomial) {
        let (mut rest, mut quotient) = (self.clone(), Polynomial(Vec::new()));
        let Some(lead) = other.0.last() else { return (rest, quotient) };
        let scale = lead * lead;
        while !rest.is_zero() && rest.degree() >= other.degree() {
            // Scaling by a square keeps all signs.
            let top = rest.0[rest.degree()].clone() * lead;
            let shift = rest.degree() - other.degree();
            let mut term = vec![BigInt::zero(); shift];
            term.push(top);
            let term = Polynomial::new(term);
            let scaled = |p: &Polynomial| Polynomial::new(p.0.iter().map(|c| c * &scale).collect());
            rest = scaled(&rest).minus(&other.times(&term));
            quotient = scaled(&quotient).plus(&term);
        }
        (rest, quotient)
    }

    fn common(&self, other: &Polynomial) -> Polynomial {
        let (mut a, mut b) = (self.primitive(), other.primitive());
        while !b.is_zero() {
            let rest = a.divide(&b).0.primitive();
            (a, b) = (b, rest);
        }
        a
    }

    /// The same roots, each once.
    fn square_free(&self) -> Polynomial {
        let shared = self.common(&self.derivative());
        if shared.degree() == 0 { self.primitive() } else { self.divide(&shared).1.primitive() }
    }

    /// Upper bound of the number of roots strictly between two dyadic numbers, exact when 0 or 1 (Descartes' rule
    /// after a Möbius map to the positive half line).
    fn variations(&self, low: &Dyadic, high: &Dyadic) -> usize {
        let shift = low.shift.max(high.shift);
        let (a, b) = (low.raised(shift), high.raised(shift));
        let width = &b - &a;
        // p(a + (b − a) s) 2^(shift n) by Horner.
        let n = self.degree();
        let mut moved: Vec<BigInt> = Vec::with_capacity(n + 1);
        for (step, c) in self.0.iter().rev().enumerate() {
            let mut next = vec![BigInt::zero(); moved.len() + 1];
            for (i, m) in moved.iter().enumerate() {
                next[i] += m * &a;
                next[i + 1] += m * &width;
            }
            next[0] += c << (shift as usize * step);
            next.truncate(step + 1);
            moved = next;
        }
        // s = 1/(1 + x): reverse, then shift by one.
        moved.reverse();
        for i in 0..n {
            for j in (i..n).rev() {
                let above = moved[j + 1].clone();
                moved[j] += above;
            }
        }
        let signs: Vec<i32> = moved.iter().map(sign).filter(|s| *s != 0).collect();
        signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// The roots in [0, 1], in no order. Empty for the zero polynomial.
    pub fn roots(&self) -> Vec<Root> {
        if self.degree() == 0 {
            return Vec::new();
        }
        let p = self.square_free();
        let mut roots = Vec::new();
        let exact = |t: &Dyadic| (p.sign_at(t) == 0).then(|| Root::exactly(t.clone()));
        roots.extend(exact(&Dyadic::new(0)));
        let mut pending = vec![(Dyadic::new(0), Dyadic::new(1))];
        while let Some((low, high)) = pending.pop() {
            match p.variations(&low, &high) {
                0 => {}
                1 if p.sign_at(&low) != 0 && p.sign_at(&high) != 0 => {
                    roots.push(Root { of: p.clone(), low, high });
                }
                _ => {
                    let middle = low.middle(&high);
                    roots.extend(exact(&middle));
                    pending.push((middle.clone(), high));
                    pending.push((low, middle));
                }
            }
        }
        roots.extend(exact(&Dyadic::new(1)));
        roots
    }
}

/// m / 2^k.
#[derive(Clone, Debug, PartialEq)]
pub struct Dyadic {
    numerator: BigInt,
    shift: u32,
}

impl Dyadic {
    pub fn new(value: i32) -> Dyadic {
        Dyadic { numerator: BigInt::from(value), shift: 0 }
    }

    fn raised(&self, shift: u32) -> BigInt {
        &self.numerator << (shift - self.shift) as usize
    }

    fn middle(&self, other: &Dyadic) -> Dyadic {
        let shift = self.shift.max(other.shift);
        Dyadic { numerator: self.raised(shift) + other.raised(shift), shift: shift + 1 }
    }

    /// Near enough for reports.
    pub fn to_f64(&self) -> f64 {
        use num_traits::ToPrimitive;
        // Sixty bits are more than an f64 holds.
        let surplus = self.shift.saturating_sub(60);
        let top = &self.numerator >> surplus as usize;
        top.to_f64().unwrap_or(f64::NAN) / libm::exp2(f64::from(self.shift - surplus))
    }
}

/// A root of a polynomial, alone between two dyadic numbers, or exactly one.
#[derive(Clone, Debug)]
pub struct Root {
    of: Polynomial,
    pub low: Dyadic,
    pub high: Dyadic,
}

impl Root {
    pub fn exactly(t: Dyadic) -> Root {
        Root { of: Polynomial(Vec::new()), low: t.clone(), high: t }
    }

    /// Halves the interval.
    pub fn refine(&mut self) {
        if self.low == self.high {
            return;
        }
        let middle = self.low.middle(&self.high);
        match self.of.sign_at(&middle) {
            0 => (self.low, self.high) = (middle.clone(), middle),
            s if s == self.of.sign_at(&self.low) => self.low = middle,
            _ => self.high = middle,
        }
    }

    /// The sign of a polynomial at the root.
    pub fn sign_of(&mut self, q: &Polynomial) -> i32 {
        if q.is_zero() {
            return 0;
        }
        for round in 0.. {
            if self.low == self.high {
                return q.sign_at(&self.low);
            }
            if q.variations(&self.low, &self.high) == 0 {
                // No root inside; the ends may be roots, the middle is not.
                return q.sign_at(&self.low.middle(&self.high));
            }
            if round == 6 {
                // A common factor changes sign here exactly when it has this root: `of` has it once and alone.
                let shared = self.of.common(q);
                if shared.degree() > 0 && shared.sign_at(&self.low) != shared.sign_at(&self.high) {
                    return 0;
                }
            }
            self.refine();
        }
        unreachable!("a polynomial without the root has a sign near it")
    }
}

fn sign(value: &BigInt) -> i32 {
    match value.sign() {
        Sign::Minus => -1,
        Sign::NoSign => 0,
        Sign::Plus => 1,
    }
}

fn gcd(mut a: BigInt, mut b: BigInt) -> BigInt {
    while !b.is_zero() {
        let rest = &a % &b;
        (a, b) = (b, rest);
    }
    if a.sign() == Sign::Minus { -a } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poly(c: &[i64]) -> Polynomial {
        Polynomial::new(c.iter().map(|c| BigInt::from(*c)).collect())
    }

    #[test]
    fn roots_are_found_once_and_signed() {
        // (3t − 1)² (2t − 1)(t − 2): 1/3 twice, 1/2, 2.
        let p = poly(&[-1, 3]).times(&poly(&[-1, 3])).times(&poly(&[-1, 2])).times(&poly(&[-2, 1]));
        let mut roots = p.roots();
        assert_eq!(roots.len(), 2);
        roots.sort_by(|a, b| a.low.to_f64().total_cmp(&b.low.to_f64()));
        assert_eq!(roots.iter_mut().map(|r| r.sign_of(&poly(&[-1, 2]))).collect::<Vec<_>>(), [-1, 0]);
        assert_eq!(roots.iter_mut().map(|r| r.sign_of(&poly(&[-1, 3]))).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(roots.iter_mut().map(|r| r.sign_of(&p)).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(poly(&[0, 1]).times(&poly(&[-1, 1])).roots().len(), 2, "both ends");
        assert!(poly(&[5]).roots().is_empty() && poly(&[]).roots().is_empty());
        // √½ from two polynomials: t² − ½ and t⁴ − ¼ share it.
        let mut root = poly(&[-1, 0, 2]).roots().remove(0);
        assert_eq!(root.sign_of(&poly(&[-1, 0, 0, 0, 4])), 0);
        assert_eq!(root.sign_of(&poly(&[-7071, 10000])), 1);
        assert_eq!(root.sign_of(&poly(&[-7072, 10000])), -1);
        assert!((root.low.to_f64() - 0.5_f64.sqrt()).abs() < 1e-3);
    }
}
