//! The paper's worked figures and its evaluation workflow.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use flowmine_predict::model::Model;
use flowmine_predict::{Limit, Prediction};

const FIGURE_4: &str = include_str!("../examples/figure-4.json");
const EVALUATION: &str = include_str!("../examples/evaluation.json");

const SIZE: f64 = 1_137_486_559.0;
const LINK: f64 = 12_780_544.0;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

#[test]
fn figure_4_has_the_papers_pieces() {
    let flow = Model::from_json(FIGURE_4).unwrap().check().unwrap();
    let prediction = flow.predict().unwrap();
    // From, to, coefficients of the time since the workflow's start, limit.
    let expected: [(f64, f64, [f64; 3], Limit); 6] = [
        (0.0, 16.0, [0.0, 0.0, 0.025], Limit::Data(2)),
        (16.0, 33.0, [-6.4, 0.8, 0.0], Limit::Resource(2)),
        (33.0, 50.0, [20.0, 0.0, 0.0], Limit::Data(1)),
        (50.0, 60.0, [-130.0, 3.0, 0.0], Limit::Resource(0)),
        (60.0, 80.0, [-40.0, 1.5, 0.0], Limit::Resource(1)),
        (80.0, 100.0, [0.0, 1.0, 0.0], Limit::Data(0)),
    ];
    let segments = prediction.segments(0);
    assert_eq!(segments.len(), expected.len(), "{segments:#?}");
    for (segment, (from, to, c, limit)) in segments.iter().zip(expected) {
        assert!(near(segment.from, from) && near(segment.to, to) && segment.limit == limit, "{segment:?}");
        let seen = segment.progress.shifted(-segment.from);
        for (at, c) in c.into_iter().enumerate() {
            assert!((seen.coefficients().get(at).copied().unwrap_or(0.0) - c).abs() < 1e-9, "{segment:?}");
        }
    }
    assert!(near(prediction.finish_s().unwrap(), 100.0));
    // Resource 2 is used in full where it limits (equation 7); data 1 wait from 0 to 50 (equation 8).
    assert!(near(prediction.relative_use(0, 2, 20.0).unwrap(), 1.0));
    assert!(near(prediction.used(0, 2, 8.0), 0.4 * 1.25));
    assert!(near(prediction.buffered(0, 1, 16.0), 20.0 - 6.4));
    assert!(prediction.buffered(0, 1, 40.0).abs() < 1e-9);
}

/// The evaluation workflow with this share of the link for task 1 and its data times `scale`.
fn evaluation(share: f64, scale: f64) -> Model {
    let text = EVALUATION.replace("1137486559", &format!("{:?}", SIZE * scale)).replace("0.5123", &format!("{share:?}"));
    let text = text.replace("0.4877", &format!("{:?}", 1.0 - share)).replace("12780544", &format!("{:?}", LINK * scale));
    Model::from_json(&text).unwrap()
}

#[test]
fn the_closed_form_holds_at_600_fractions() {
    let d = SIZE / LINK;
    for n in 0..600 {
        let f = 0.5 + 0.49 * f64::from(n) / 599.0;
        let flow = evaluation(f, 1.0).check().unwrap();
        let finish = flow.predict().unwrap().finish_s().unwrap();
        let closed = (d / f + 82.0).max(2.0 * d);
        assert!((finish - closed).abs() <= 1e-9 * closed, "{f}: {finish} instead of {closed}");
    }
}

#[test]
fn the_events_at_95_percent() {
    let flow = evaluation(0.95, 1.0).check().unwrap();
    let prediction = flow.predict().unwrap();
    let finish = |name: &str| {
        let at = (0..prediction.len()).find(|at| prediction.name(*at) == name).unwrap();
        prediction.finished_s(at).unwrap()
    };
    assert!((finish("download 1") - 93.6857).abs() < 5e-5);
    assert!((finish("task 1") - 175.6857).abs() < 5e-5);
    assert!((finish("download 2") - 178.002_839_159_3).abs() < 1e-9);
}

fn pieces(prediction: &Prediction<'_>) -> usize {
    (0..prediction.len()).map(|at| prediction.segments(at).len()).sum()
}

#[test]
fn a_hundred_times_the_data_cost_the_same() {
    let (one, hundred) = (evaluation(0.7, 1.0).check().unwrap(), evaluation(0.7, 100.0).check().unwrap());
    let (one, hundred) = (one.predict().unwrap(), hundred.predict().unwrap());
    assert_eq!(pieces(&one), pieces(&hundred));
    assert!(near(one.finish_s().unwrap(), hundred.finish_s().unwrap()));
}
