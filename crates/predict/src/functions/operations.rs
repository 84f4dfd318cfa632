//! What is done with functions in pieces: sum, scale, derivative, integral, composition, minimum
//! and the inverse. Breakpoints of a result are those of its parts and where parts meet.

use super::piecewise::Piecewise;
use super::polynomial::Poly;

/// The least of several functions and which of them it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The least value of all functions at each place.
    pub function: Piecewise,
    /// From each place on, the number of the function that is least there. Of equal ones the one
    /// that stays lower wins, and of the same ones the first.
    pub least: Vec<(f64, usize)>,
}

impl Piecewise {
    /// The values times `factor`.
    pub fn scaled(&self, factor: f64) -> Option<Self> {
        Self::new(self.pieces().map(|(x, p)| (x, p.scaled(factor))))
    }

    /// The values between two places times `factor`.
    pub fn scaled_between(&self, from: f64, to: f64, factor: f64) -> Option<Self> {
        self.parts(from, to, |x, inside| self.seen_from(x).scaled(if inside { factor } else { 1.0 }))
    }

    /// The same values, but those between two places come `factor` times as fast, and all later
    /// ones as much earlier.
    pub fn faster_between(&self, from: f64, to: f64, factor: f64) -> Option<Self> {
        let lead = if to.is_finite() { (to - from) * (factor - 1.0) } else { 0.0 };
        let mut pieces: Vec<(f64, Poly)> = Vec::new();
        let line = |x: f64, slope: f64| Poly::line(x, slope);
        for at in self.breakpoints().iter().copied().chain([from, from + (to - from) * factor]).filter(|x| x.is_finite()) {
            // The place of an old breakpoint, and how fast time runs there.
            let (place, pace, seen) = if at < from {
                (at, 1.0, at)
            } else if at < from + (to - from) * factor {
                (from + (at - from) / factor, factor, at)
            } else {
                (at - lead, 1.0, at)
            };
            pieces.push((place, self.seen_from(seen).compose(&line(0.0, pace), 0.0)?));
        }
        pieces.sort_by(|a, b| a.0.total_cmp(&b.0));
        pieces.dedup_by(|b, a| a.0 == b.0);
        Self::new(pieces)
    }

    /// Other pieces inside and outside of an interval.
    fn parts(&self, from: f64, to: f64, part: impl Fn(f64, bool) -> Poly) -> Option<Self> {
        let mut places: Vec<f64> = self.breakpoints().iter().copied().chain([from, to]).filter(|x| x.is_finite()).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        Self::new(places.into_iter().map(|x| (x, part(x, x >= from && x < to))))
    }

    /// The sum of both functions; nothing when a number of it is not finite.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let places = merged(&[self, other]);
        Self::new(places.into_iter().map(|x| (x, self.seen_from(x).plus(&other.seen_from(x)))))
    }

    /// The slope; jumps leave no trace in it.
    pub fn derivative(&self) -> Option<Self> {
        Self::new(self.pieces().map(|(x, p)| (x, p.derivative())))
    }

    /// The area from the first breakpoint on; nothing when the degree gets too high.
    pub fn integral(&self) -> Option<Self> {
        let mut area = 0.0;
        let mut out = Vec::with_capacity(self.breakpoints().len());
        for at in 0..self.breakpoints().len() {
            let (from, poly, next) = self.piece(at);
            let piece = poly.integral(area)?;
            area = next.map_or(area, |n| piece.at(n - from));
            out.push((from, piece));
        }
        Self::new(out)
    }

    /// `x ↦ self(inner(x))` for an inner function that never falls; nothing when the degree gets
    /// too high or the inner function begins below where this one does.
    pub fn compose(&self, inner: &Self) -> Option<Self> {
        let mut out = Vec::new();
        for at in 0..inner.breakpoints().len() {
            let (from, poly, next) = inner.piece(at);
            let mut x = from;
            let mut index = self.index(poly.at(0.0));
            loop {
                let (base, piece, to) = self.piece(index);
                let seen = poly.shifted(x - from);
                // Rounding may leave the inner value just below a piece that it has reached; before the first piece there is nothing.
                if index == 0 && seen.at(0.0) < base {
                    return None;
                }
                out.push((x, piece.compose(&seen, base)?));
                let Some(to) = to else { break };
                let reach = seen.minus(&Poly::constant(to));
                let Some(step) = reach.first_above(next.map_or(f64::INFINITY, |n| n - x)) else { break };
                if next.is_some_and(|n| x + step >= n) {
                    break;
                }
                x = (x + step).max(x.next_up());
                index += 1;
            }
        }
        Self::new(out)
    }

    /// The least of functions; nothing of none.
    pub fn minimum(functions: &[&Self]) -> Option<Minimum> {
        let places = merged(functions);
        let (mut pieces, mut least) = (Vec::new(), Vec::<(f64, usize)>::new());
        for (at, &begin) in places.iter().enumerate() {
            let end = places.get(at + 1).copied().unwrap_or(f64::INFINITY);
            let mut x = begin;
            while x < end {
                let seen: Vec<Poly> = functions.iter().map(|f| f.seen_from(x)).collect();
                let first = (1..seen.len()).fold(0, |m, n| if seen[n].compare(&seen[m]).is_lt() { n } else { m });
                pieces.push((x, *seen.get(first)?));
                if least.last().is_none_or(|l| l.1 != first) {
                    least.push((x, first));
                }
                let crossings = seen.iter().filter_map(|f| seen[first].minus(f).first_above(end - x));
                x = (x + crossings.fold(f64::INFINITY, f64::min)).max(x.next_up());
            }
        }
        Some(Minimum { function: Self::new(pieces)?, least })
    }

    /// Straight pieces from the first breakpoint to `end`, and the largest difference as a share of
    /// the greatest value. A curved piece becomes `cuts` straight ones, fewer where all curves would
    /// become more than `most`. The function is level after `end`.
    pub fn straightened(&self, end: f64, cuts: usize, most: usize) -> Option<(Self, f64)> {
        let curves = self.pieces().filter(|(_, p)| p.degree() > 1).count().max(1);
        let cuts = cuts.min(most / curves).max(1);
        let (mut pieces, mut gap) = (Vec::new(), 0.0f64);
        for at in 0..self.breakpoints().len() {
            let (from, poly, next) = self.piece(at);
            if from >= end {
                break;
            }
            let width = next.unwrap_or(end).min(end) - from;
            let cuts = if poly.degree() > 1 { cuts } else { 1 };
            let place = |n: usize| width * n as f64 / cuts as f64;
            for n in 0..cuts {
                let (x, to) = (place(n), place(n + 1));
                let chord = Poly::line(poly.at(x), (poly.at(to) - poly.at(x)) / (to - x));
                let middle = (to - x) / 2.0;
                gap = gap.max((chord.at(middle) - poly.at(x + middle)).abs());
                if to > x {
                    pieces.push((from + x, chord));
                }
            }
        }
        pieces.push((end.max(self.breakpoints()[0]), Poly::constant(self.at(end))));
        pieces.dedup_by(|b, a| a.0 >= b.0);
        let height = self.at(end).abs();
        Some((Self::new(pieces)?, if height > 0.0 { gap / height } else { 0.0 }))
    }

    /// The inverse of straight pieces that never fall. Level pieces become jumps (continuous from
    /// the right: at the jump itself the greatest `x`; [`Piecewise::inverse_at`] gives the least)
    /// and jumps become level. Nothing for curves: see [`Piecewise::inverse_at`].
    pub fn inverse(&self) -> Option<Self> {
        if !self.is_linear() || self.first_fall().is_some() {
            return None;
        }
        let mut points = Vec::new();
        for at in 0..self.breakpoints().len() {
            let (from, poly, next) = self.piece(at);
            points.push((poly.at(0.0), from));
            match next {
                Some(next) => points.push((poly.at(next - from).max(poly.at(0.0)), next)),
                None if poly.degree() == 1 => {
                    let mut out: Vec<_> = Self::points(&points)?.pieces().map(|(y, p)| (y, *p)).collect();
                    let slope = 1.0 / poly.derivative().at(0.0);
                    out.pop();
                    out.push((poly.at(0.0), Poly::line(from, slope)));
                    return Self::new(out);
                }
                None => {}
            }
        }
        Self::points(&points)
    }
}

/// All breakpoints, ascending, each once.
fn merged(functions: &[&Piecewise]) -> Vec<f64> {
    let mut all: Vec<f64> = functions.iter().flat_map(|f| f.breakpoints().iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}
