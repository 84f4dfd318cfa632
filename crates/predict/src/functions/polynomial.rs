//! Polynomials of one variable over f64, up to degree [`MAX_DEGREE`].
//!
//! Coefficients are kept in ascending order. Sums and products round as f64 does. Differences are
//! cleaned: a coefficient is zero if its two parts agree to 1e-12 of their size, so that functions
//! that are equal but for rounding compare as equal and do not seem to cross.

use std::cmp::Ordering;

/// The highest degree. What would be higher is refused ([`Poly::compose`] gives nothing).
pub const MAX_DEGREE: usize = 6;

/// Two coefficients that differ by less than this share of the larger are the same.
pub const SAME: f64 = 1e-12;

/// A polynomial of a degree up to [`MAX_DEGREE`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poly {
    c: [f64; MAX_DEGREE + 1],
    degree: usize,
}

impl Poly {
    /// The polynomial with the same value everywhere.
    pub fn constant(value: f64) -> Self {
        Self::line(value, 0.0)
    }

    /// The line `at_zero + slope·x`.
    pub fn line(at_zero: f64, slope: f64) -> Self {
        let mut c = [0.0; MAX_DEGREE + 1];
        (c[0], c[1]) = (at_zero, slope);
        Self { c, degree: usize::from(slope != 0.0) }
    }

    /// Of coefficients in ascending order; nothing when there are too many.
    pub fn new(coefficients: &[f64]) -> Option<Self> {
        let used = coefficients.iter().rposition(|c| *c != 0.0).map_or(0, |at| at + 1);
        if used > MAX_DEGREE + 1 {
            return None;
        }
        let mut c = [0.0; MAX_DEGREE + 1];
        c[..used].copy_from_slice(&coefficients[..used]);
        Some(Self { c, degree: used.saturating_sub(1) })
    }

    /// The coefficients in ascending order.
    pub fn coefficients(&self) -> &[f64] {
        &self.c[..=self.degree]
    }

    /// The degree; 0 of a constant.
    pub fn degree(&self) -> usize {
        self.degree
    }

    fn trimmed(mut self) -> Self {
        self.degree = self.c.iter().rposition(|c| *c != 0.0).unwrap_or(0);
        self
    }

    /// The value at `x` (Horner's rule).
    pub fn at(&self, x: f64) -> f64 {
        self.coefficients().iter().rev().fold(0.0, |sum, c| sum * x + c)
    }

    /// The same polynomial seen from `x`: `shifted(x).at(y) = at(x + y)`.
    pub fn shifted(&self, x: f64) -> Self {
        let mut out = *self;
        if x == 0.0 {
            return out;
        }
        for low in 0..self.degree {
            for at in (low..self.degree).rev() {
                out.c[at] += x * out.c[at + 1];
            }
        }
        out
    }

    /// The derivative by `x`.
    pub fn derivative(&self) -> Self {
        let mut c = [0.0; MAX_DEGREE + 1];
        for at in 1..=self.degree {
            c[at - 1] = self.c[at] * at as f64;
        }
        Self { c, degree: self.degree.saturating_sub(1) }
    }

    /// The integral with this value at zero; nothing when its degree is too high.
    pub fn integral(&self, at_zero: f64) -> Option<Self> {
        let mut c = [0.0; MAX_DEGREE + 2];
        c[0] = at_zero;
        for at in 0..=self.degree {
            c[at + 1] = self.c[at] / (at + 1) as f64;
        }
        Self::new(&c)
    }

    /// All values times `factor`.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut out = *self;
        out.c.iter_mut().for_each(|c| *c *= factor);
        out.trimmed()
    }

    /// Whether all coefficients are numbers.
    pub fn is_finite(&self) -> bool {
        self.coefficients().iter().all(|c| c.is_finite())
    }

    /// The sum of both polynomials.
    pub fn plus(&self, other: &Self) -> Self {
        let mut out = *self;
        for (c, o) in out.c.iter_mut().zip(other.c) {
            *c += o;
        }
        out.trimmed()
    }

    /// The difference, cleaned of rounding errors.
    pub fn minus(&self, other: &Self) -> Self {
        let mut out = *self;
        for (c, o) in out.c.iter_mut().zip(other.c) {
            let difference = *c - o;
            *c = if difference.abs() <= SAME * c.abs().max(o.abs()) { 0.0 } else { difference };
        }
        out.trimmed()
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let mut c = [0.0; 2 * MAX_DEGREE + 1];
        for (a, x) in self.coefficients().iter().enumerate() {
            for (b, y) in other.coefficients().iter().enumerate() {
                c[a + b] += x * y;
            }
        }
        Self::new(&c)
    }

    /// `x ↦ self(inner(x) − from)`; nothing when its degree is too high.
    pub fn compose(&self, inner: &Self, from: f64) -> Option<Self> {
        let mut inner = *inner;
        inner.c[0] -= from;
        let mut out = Self::constant(self.c[self.degree]);
        for c in self.c[..self.degree].iter().rev() {
            out = out.times(&inner)?;
            out.c[0] += c;
        }
        Some(out.trimmed())
    }

    /// Which is lower right of zero: by value, then by slope, and so on.
    pub fn compare(&self, other: &Self) -> Ordering {
        let difference = self.minus(other);
        let first = difference.coefficients().iter().find(|c| **c != 0.0);
        first.map_or(Ordering::Equal, |c| c.total_cmp(&0.0))
    }

    /// Where it first gets above zero, right of zero and not after `limit`.
    ///
    /// Nothing when it is above zero from the start: what compares polynomials has seen that.
    /// The error is a few units in the last place up to degree 2; above, the bracket is halved
    /// until no number lies in between.
    pub fn first_above(&self, limit: f64) -> Option<f64> {
        let low = self.coefficients().iter().position(|c| *c != 0.0)?;
        if self.c[low] > 0.0 {
            return None;
        }
        let mut c = [0.0; MAX_DEGREE + 1];
        c[..=self.degree - low].copy_from_slice(&self.c[low..=self.degree]);
        let rest = Self { c, degree: self.degree - low };
        rest.rising_root(limit).filter(|x| *x <= limit)
    }

    /// The first root above zero of a polynomial that is negative at zero. Beyond `limit` it need
    /// not be found.
    fn rising_root(&self, limit: f64) -> Option<f64> {
        let [c, b, a, ..] = self.c;
        match self.degree {
            0 => None,
            1 => (b > 0.0).then(|| -c / b),
            2 => {
                let d = b.mul_add(b, -4.0 * a * c);
                if d <= 0.0 {
                    return None;
                }
                // The form without cancellation, for each sign of b.
                let q = -0.5 * (b + d.sqrt().copysign(b));
                let (x, y) = (q / a, c / q);
                let (x, y) = (x.min(y), x.max(y));
                if x > 0.0 { Some(x) } else { (y > 0.0).then_some(y) }
            }
            _ => {
                // All roots lie within Cauchy's bound.
                let top = self.c[self.degree].abs();
                let bound = 1.0 + self.c[..self.degree].iter().fold(0.0, |m, c| c.abs().max(m)) / top;
                let end = limit.min(bound);
                let mut from = 0.0;
                for to in self.derivative().turns(end).into_iter().chain([end]) {
                    if self.at(to) > 0.0 {
                        return Some(halve(from, to, |x| self.at(x) > 0.0));
                    }
                    from = to;
                }
                None
            }
        }
    }

    /// The places in `(0, end)` where the sign changes, ascending.
    fn turns(&self, end: f64) -> Vec<f64> {
        if self.degree == 0 {
            return Vec::new();
        }
        let mut out = Vec::new();
        let mut from = 0.0;
        for to in self.derivative().turns(end).into_iter().chain([end]) {
            let above = self.at(from) > 0.0;
            if (self.at(to) > 0.0) != above {
                out.push(halve(from, to, |x| (self.at(x) > 0.0) != above));
            }
            from = to;
        }
        out
    }
}

/// The first place at which `holds`, which does not at `from` and does at `to`.
pub(crate) fn halve(mut from: f64, mut to: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..2_000 {
        let middle = from + (to - from) / 2.0;
        if middle <= from || middle >= to {
            break;
        }
        if holds(middle) { to = middle } else { from = middle }
    }
    to
}
