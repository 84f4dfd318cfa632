//! A function in pieces.
//!
//! Breakpoints are exact. At a breakpoint the piece on its right counts (the paper's section 4), so
//! a jump has happened at its place. Each polynomial is written from its own breakpoint. The last
//! piece goes on without end; before the first breakpoint the first piece's first value counts.

use super::polynomial::{Poly, halve};

/// A function in pieces, continuous from the right.
#[derive(Debug, Clone, PartialEq)]
pub struct Piecewise {
    from: Vec<f64>,
    pieces: Vec<Poly>,
}

impl Piecewise {
    /// The function with the same value everywhere.
    pub fn constant(value: f64) -> Self {
        Self { from: vec![0.0], pieces: vec![Poly::constant(value)] }
    }

    /// A straight line through (0, `at_zero`).
    pub fn line(at_zero: f64, slope: f64) -> Self {
        Self { from: vec![0.0], pieces: vec![Poly::line(at_zero, slope)] }
    }

    /// Of pieces, each with its breakpoint and its polynomial written from there. Nothing when
    /// there are none, a number is not finite or the breakpoints do not ascend.
    pub fn new(pieces: impl IntoIterator<Item = (f64, Poly)>) -> Option<Self> {
        let (from, pieces): (Vec<f64>, Vec<Poly>) = pieces.into_iter().unzip();
        let ascends = from.windows(2).all(|w| w[0] < w[1]);
        let finite = from.iter().chain(pieces.iter().flat_map(Poly::coefficients)).all(|n| n.is_finite());
        (!from.is_empty() && ascends && finite).then_some(Self { from, pieces })
    }

    /// Straight lines between points; two points at one place are a jump. After the last point
    /// the function stays as it is. Nothing when places descend or numbers are not finite.
    pub fn points(points: &[(f64, f64)]) -> Option<Self> {
        let last = points.last()?;
        let mut pieces = Vec::with_capacity(points.len());
        for pair in points.windows(2) {
            let ((x, y), (to, value)) = (pair[0], pair[1]);
            if to < x {
                return None;
            }
            if to > x {
                pieces.push((x, Poly::line(y, (value - y) / (to - x))));
            }
        }
        pieces.push((last.0, Poly::constant(last.1)));
        Self::new(pieces)
    }

    /// The breakpoints, ascending; the first is where the function begins.
    pub fn breakpoints(&self) -> &[f64] {
        &self.from
    }

    /// The pieces with their breakpoints.
    pub fn pieces(&self) -> impl Iterator<Item = (f64, &Poly)> {
        self.from.iter().copied().zip(&self.pieces)
    }

    /// Whether all pieces are straight lines.
    pub fn is_linear(&self) -> bool {
        self.pieces.iter().all(|p| p.degree() <= 1)
    }

    /// The number of the piece that counts at `x`.
    pub fn index(&self, x: f64) -> usize {
        self.from.partition_point(|b| *b <= x).saturating_sub(1)
    }

    /// A piece with its breakpoint and that of the next.
    pub fn piece(&self, index: usize) -> (f64, &Poly, Option<f64>) {
        (self.from[index], &self.pieces[index], self.from.get(index + 1).copied())
    }

    /// The value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        let (from, poly, _) = self.piece(self.index(x));
        poly.at((x - from).max(0.0))
    }

    /// What the function comes to from the left at `x`.
    pub fn left_of(&self, x: f64) -> f64 {
        let index = self.from.partition_point(|b| *b < x).saturating_sub(1);
        let (from, poly, _) = self.piece(index);
        poly.at((x - from).max(0.0))
    }

    /// The polynomial that counts from `x` on, written from `x`.
    pub fn seen_from(&self, x: f64) -> Poly {
        let (from, poly, _) = self.piece(self.index(x));
        if x < from { Poly::constant(poly.at(0.0)) } else { poly.shifted(x - from) }
    }

    /// The first breakpoint after `x`.
    pub fn next_after(&self, x: f64) -> Option<f64> {
        self.from.get(self.from.partition_point(|b| *b <= x)).copied()
    }

    /// Of a function that never falls: the least `x`, not before the first breakpoint, with a
    /// value of `y` or more. Exact to a few units in the last place; halved above degree 1.
    pub fn inverse_at(&self, y: f64) -> Option<f64> {
        // The first piece with a sufficient end contains it.
        let ends = |at: usize| match self.from.get(at + 1) {
            Some(next) => self.pieces[at].at(next - self.from[at]),
            None => f64::INFINITY,
        };
        let (mut low, mut high) = (0, self.pieces.len() - 1);
        while low < high {
            let middle = low.midpoint(high);
            let enough = ends(middle) >= y || self.pieces[middle + 1].at(0.0) >= y;
            if enough { high = middle } else { low = middle + 1 }
        }
        let (from, poly, next) = self.piece(low);
        if poly.at(0.0) >= y {
            return Some(from);
        }
        if next.is_some() && ends(low) < y {
            return next;
        }
        if poly.degree() <= 1 {
            let slope = poly.derivative().at(0.0);
            let x = from + (y - poly.at(0.0)) / slope;
            return (slope > 0.0).then(|| next.map_or(x, |n| x.min(n)));
        }
        let bound = next.map_or(f64::INFINITY, |n| n - from);
        let above = poly.minus(&Poly::constant(y));
        above.first_above(bound).map(|x| from + x).or_else(|| {
            // The value is reached just at the end of the piece, without being passed.
            let end = next?;
            Some(halve(from, end, |x| poly.at(x - from) >= y))
        })
    }

    /// The place and size of the first fall: where a function that should never fall does.
    pub fn first_fall(&self) -> Option<f64> {
        for at in 0..self.pieces.len() {
            let (from, poly, next) = self.piece(at);
            let slope = poly.derivative();
            let falling = slope.scaled(-1.0);
            let first = slope.coefficients().iter().find(|c| **c != 0.0);
            let width = next.map_or(f64::INFINITY, |n| n - from);
            if first.is_some_and(|c| *c < 0.0) {
                return Some(from);
            }
            if let Some(x) = falling.first_above(width * (1.0 - 1e-9)) {
                return Some(from + x);
            }
            if let Some(next) = next {
                let (end, begin) = (poly.at(next - from), self.pieces[at + 1].at(0.0));
                if begin < end - 1e-9 * end.abs().max(begin.abs()) {
                    return Some(next);
                }
            }
        }
        None
    }

    /// The first place at which the function is below zero.
    pub fn first_below_zero(&self) -> Option<f64> {
        (0..self.pieces.len()).find_map(|at| {
            let (from, poly, next) = self.piece(at);
            let under = poly.scaled(-1.0);
            let first = under.coefficients().iter().find(|c| **c != 0.0);
            if first.is_some_and(|c| *c > 0.0) {
                return Some(from);
            }
            under.first_above(next.map_or(f64::INFINITY, |n| (n - from) * (1.0 - 1e-9))).map(|x| from + x)
        })
    }
}
