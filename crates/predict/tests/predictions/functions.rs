//! Functions in pieces against their values at many places.

use flowmine_predict::functions::{Piecewise, Poly};
use proptest::prelude::*;

fn rising() -> impl Strategy<Value = Piecewise> {
    prop::collection::vec((0.05..2.0f64, 0.0..2.0f64, prop::bool::weighted(0.2)), 1..8).prop_map(|steps| {
        let (mut x, mut y) = (0.0, 0.0);
        let mut points = vec![(0.0, 0.0)];
        for (dx, dy, jump) in steps {
            (x, y) = (if jump { x } else { x + dx }, y + dy);
            points.push((x, y));
        }
        Piecewise::points(&points).unwrap()
    })
}

fn places() -> impl Iterator<Item = f64> {
    (0..2_000).map(|n| f64::from(n) * 0.008_1 + 0.000_37)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn operations_agree_with_values(f in rising(), g in rising()) {
        let (sum, inside) = (f.plus(&g).unwrap(), f.compose(&g).unwrap());
        let least = Piecewise::minimum(&[&f, &g]).unwrap();
        for x in places() {
            prop_assert!((sum.at(x) - f.at(x) - g.at(x)).abs() < 1e-9);
            prop_assert!((least.function.at(x) - f.at(x).min(g.at(x))).abs() < 1e-9);
            // Within rounding of a jump either side may count.
            let (low, high) = (f.at(g.at(x) - 1e-9), f.at(g.at(x) + 1e-9));
            let value = inside.at(x);
            prop_assert!(value >= low - 1e-6 && value <= high + 1e-6, "{value} not in {low} to {high} at {x}");
        }
    }

    #[test]
    fn the_inverse_is_the_least_place(f in rising(), y in 0.0..10.0f64) {
        if let Some(x) = f.inverse_at(y) {
            prop_assert!(f.at(x) >= y - 1e-9);
            prop_assert!(x == 0.0 || f.at(x - 1e-6) < y + 1e-9);
        } else {
            prop_assert!(f.at(1e9) < y);
        }
    }

    #[test]
    fn the_derivative_of_the_integral_is_the_function(f in rising()) {
        let back = f.integral().unwrap().derivative().unwrap();
        for x in places() {
            prop_assert!((back.at(x) - f.at(x)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_crossing_is_the_first(c in prop::collection::vec(-3.0..3.0f64, 2..7)) {
        let mut c = c;
        c[0] = -c[0].abs() - 0.1;
        let poly = Poly::new(&c).unwrap();
        let found = poly.first_above(10.0);
        let seen = (1..=100_000).map(|n| f64::from(n) * 1e-4).find(|x| poly.at(*x) > 0.0);
        match (found, seen) {
            (Some(found), Some(seen)) => prop_assert!(found <= seen && poly.at(found).abs() < 1e-6),
            (None, Some(seen)) => prop_assert!(false, "missed {seen}"),
            (Some(found), None) => prop_assert!(poly.at(found).abs() < 1e-6),
            (None, None) => {}
        }
    }
}
