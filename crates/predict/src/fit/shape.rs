//! The shape of a function that was seen several times: shares of an amount over shares of the
//! work, averaged and put into few straight pieces.

use flowmine_activity_log::Curve;

/// Shares of the amount at which shapes are compared.
const GRID: usize = 256;
/// Maximum number of pieces of a shape.
pub const MAX_PIECES: usize = 12;
/// Pieces may be so far from what was seen, as a share, if [`MAX_PIECES`] allow it.
pub const TOLERANCE: f64 = 0.01;

/// Knots from work to amount, both as shares from 0 to 1, neither ever falling.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Pairs of work and amount; the first amount is 0, the last is 1.
    pub knots: Vec<(f64, f64)>,
    /// The largest distance to what was seen, as a share of the work or of the amount, whichever is
    /// less.
    pub error: f64,
}

/// How points of a curve are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// The amount is there at the place of the point, as after a read or a write.
    Steps,
    /// It grows evenly between points, from (0, 0) on.
    Lines,
}

impl Shape {
    /// Of curves that were seen, each with the length of its life. Nothing when none has an amount.
    pub fn new(seen: &[(&Curve, f64)], joined: Joined) -> Option<Self> {
        let seen: Vec<Vec<f64>> = seen.iter().filter_map(|(curve, length)| places(curve, *length, joined)).collect();
        if seen.is_empty() {
            return None;
        }
        let mean = |at: usize| seen.iter().map(|places| places[at]).sum::<f64>() / seen.len() as f64;
        let points: Vec<(f64, f64)> = (0..=GRID).map(|at| (mean(at), at as f64 / GRID as f64)).collect();
        let knots = simplified(&points);
        let off =
            |places: &Vec<f64>| places.iter().enumerate().map(|(at, x)| distance(&knots, *x, at as f64 / GRID as f64)).fold(0.0, f64::max);
        let error = seen.iter().map(off).fold(0.0, f64::max);
        Some(Self { knots, error })
    }

    /// Where there is only one thing to know: all at this share of the work.
    pub fn at_once(work: f64) -> Self {
        Self { knots: vec![(work, 0.0), (work, 1.0)], error: 0.0 }
    }

    /// The share of the work that is still to come when the last of the amount is needed or there.
    pub fn work_after(&self) -> f64 {
        1.0 - self.knots.last().map_or(0.0, |last| last.0)
    }

    /// The part of the amount from one share to another, as a shape of its own.
    pub fn slice(&self, from: f64, to: f64) -> Self {
        if to <= from {
            return Self::at_once(self.work_at(from));
        }
        let mut knots = vec![(self.work_at(from), 0.0)];
        let inner = self.knots.iter().filter(|knot| knot.1 > from && knot.1 < to);
        knots.extend(inner.map(|(x, y)| (*x, (y - from) / (to - from))));
        knots.push((self.work_at(to), 1.0));
        Self { knots, error: self.error }
    }

    /// The share of the work at which a share of the amount is reached.
    fn work_at(&self, amount: f64) -> f64 {
        let at = self.knots.partition_point(|knot| knot.1 < amount);
        match (at.checked_sub(1).map(|before| self.knots[before]), self.knots.get(at)) {
            (Some((x, y)), Some((to, top))) => x + (to - x) * (amount - y) / (top - y),
            (None, Some(first)) => first.0,
            (_, None) => self.knots.last().map_or(0.0, |last| last.0),
        }
    }
}

/// The share of the work at which each share of the amount is reached.
fn places(curve: &Curve, length: f64, joined: Joined) -> Option<Vec<f64>> {
    let total = curve.last().map(|last| last.1).filter(|total| *total > 0.0)?;
    let share = |x: f64| if length > 0.0 { (x / length).clamp(0.0, 1.0) } else { 0.0 };
    let place = |at: usize| {
        let amount = total * at as f64 / GRID as f64;
        // The beginning is where the first of it is reached.
        let next = curve.partition_point(|point| if at == 0 { point.1 <= 0.0 } else { point.1 < amount * (1.0 - 1e-12) });
        let (x, y) = curve[next.min(curve.len() - 1)];
        if joined == Joined::Steps {
            return share(x);
        }
        let (from, low) = next.checked_sub(1).map_or((0.0, 0.0), |before| curve[before]);
        share(if y > low { from + (x - from) * ((amount - low) / (y - low)).clamp(0.0, 1.0) } else { x })
    };
    Some((0..=GRID).map(place).collect())
}

/// Few knots among the points (Ramer, Douglas, Peucker), so that what never falls still never does.
fn simplified(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut tolerance = TOLERANCE;
    loop {
        let mut keep = vec![false; points.len()];
        (keep[0], keep[points.len() - 1]) = (true, true);
        let mut open = vec![(0, points.len() - 1)];
        while let Some((from, to)) = open.pop() {
            let chord = [points[from], points[to]];
            let far = (from + 1..to).map(|at| (distance(&chord, points[at].0, points[at].1), at));
            let farthest = far.fold((0.0, 0), |most, of| if of.0 > most.0 { of } else { most });
            if farthest.0 > tolerance {
                keep[farthest.1] = true;
                open.extend([(from, farthest.1), (farthest.1, to)]);
            }
        }
        if keep.iter().filter(|keep| **keep).count() <= MAX_PIECES + 1 {
            return points.iter().zip(keep).filter(|(_, keep)| *keep).map(|(point, _)| *point).collect();
        }
        tolerance *= 1.5;
    }
}

/// How far a point is from straight lines between knots that never fall: across or up, whichever is
/// less.
fn distance(knots: &[(f64, f64)], x: f64, y: f64) -> f64 {
    let low = |of: fn(&(f64, f64)) -> f64, at: f64| knots.partition_point(|knot| of(knot) < at).clamp(1, knots.len() - 1) - 1;
    let ((from, bottom), (to, top)) = pair(knots, low(|knot| knot.1, y));
    let across = x - if top > bottom { from + (to - from) * ((y - bottom) / (top - bottom)).clamp(0.0, 1.0) } else { to };
    let ((from, bottom), (to, top)) = pair(knots, low(|knot| knot.0, x));
    let up = y - if to > from { bottom + (top - bottom) * ((x - from) / (to - from)).clamp(0.0, 1.0) } else { top };
    across.abs().min(up.abs())
}

fn pair(knots: &[(f64, f64)], at: usize) -> ((f64, f64), (f64, f64)) {
    (knots[at], knots[at + 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_one_piece_and_a_burst_two() {
        let stream: Curve = (1..=1000).map(|n| (f64::from(n) / 100.0, f64::from(n) * 8192.0)).collect();
        let shape = Shape::new(&[(&stream, 10.0)], Joined::Steps).unwrap();
        assert_eq!(shape.knots.len(), 2, "{shape:?}");
        assert!(shape.error < TOLERANCE && shape.work_after() < 0.01);
        let burst: Curve = (1..=1000).map(|n| (f64::from(n) / 500.0, f64::from(n))).collect();
        let shape = Shape::new(&[(&burst, 10.0)], Joined::Steps).unwrap();
        assert!((shape.work_after() - 0.8).abs() < 1e-9 && shape.knots.len() == 2);
        assert_eq!(Shape::new(&[(&Curve::new(), 1.0)], Joined::Steps), None);
    }

    #[test]
    fn many_bends_are_cut_to_few_and_the_error_tells_it() {
        let stairs: Curve = (0..40).flat_map(|n| [(f64::from(n), f64::from(n)), (f64::from(n) + 0.9, f64::from(n) + 0.1)]).collect();
        let shape = Shape::new(&[(&stairs, 40.0)], Joined::Lines).unwrap();
        assert!(shape.knots.len() <= MAX_PIECES + 1 && shape.error > TOLERANCE / 2.0, "{shape:?}");
        let all_at_once = Curve::from([(3.0, 7.0)]);
        assert_eq!(Shape::new(&[(&all_at_once, 4.0)], Joined::Steps).unwrap().knots, [(0.75, 0.0), (0.75, 1.0)]);
    }

    #[test]
    fn a_slice_is_the_part_between() {
        let shape = Shape { knots: vec![(0.0, 0.0), (0.5, 0.5), (0.5, 0.6), (1.0, 1.0)], error: 0.0 };
        assert_eq!(shape.slice(0.0, 1.0).knots, shape.knots);
        assert_eq!(shape.slice(0.25, 0.5).knots, [(0.25, 0.0), (0.5, 1.0)]);
    }
}
