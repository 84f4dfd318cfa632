//! The paper's worked figures and its evaluation workflow.

use flowmine_predict::model::Model;
use flowmine_predict::{Limit, Prediction};

const FIGURE_4: &str = include_str!("../../examples/figure-4.json");
const EVALUATION: &str = include_str!("../../examples/evaluation.json");

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

/// What the authors measured, in seconds, in the first of their runs: the first download has (6400 +
/// 100 n) of 12800 kB/s (BottleMod's repository, `paper_figures_eval.py`).
const MEASURED: [f64; 64] = [
    259.637, 256.858, 254.629, 251.711, 248.929, 246.604, 244.545, 242.189, 238.881, 237.183, 235.233, 233.010, 230.487, 229.137, 226.128,
    225.560, 223.373, 221.500, 220.369, 218.552, 217.523, 216.071, 212.961, 213.396, 211.442, 210.689, 210.326, 207.289, 206.073, 204.248,
    204.058, 202.697, 201.100, 200.426, 198.702, 197.879, 196.920, 195.434, 194.353, 193.084, 192.183, 191.026, 191.464, 189.055, 188.511,
    187.180, 186.224, 185.472, 183.708, 183.234, 181.999, 180.757, 180.978, 179.404, 179.109, 178.602, 178.095, 178.434, 178.136, 178.437,
    178.160, 178.403, 178.247, 178.434,
];

#[test]
fn the_measured_points_of_the_paper() {
    let mut sum = 0.0;
    for (n, measured) in MEASURED.into_iter().enumerate() {
        let flow = evaluation((6400.0 + 100.0 * n as f64) / 12800.0, 1.0).check().unwrap();
        let off = flow.predict().unwrap().finish_s().unwrap() / measured - 1.0;
        assert!(off.abs() < 0.0105, "{n}: {off}");
        sum += off.abs();
    }
    assert!(sum / 64.0 < 0.003, "{}", sum / 64.0);
}

/// The example that BottleMod's repository tests itself with: requirements in one piece each, rates
/// that change with time.
#[test]
fn the_published_example_with_changing_rates() {
    let text = r#"{"processes": [{"name": "example", "progress": 100, "data": [
        {"name": "d0", "requirement": {"points": [[0, 0], [100, 100]]}, "available": {"points": [[0, 0], [100, 100]]}},
        {"name": "d1", "requirement": {"points": [[0, 0], [100, 100]]}, "available": {"points": [[0, 20], [50, 20], [50, 100]]}},
        {"name": "d2", "requirement": {"points": [[0, 0], [100, 100]]}, "available": {"pieces": [{"from": 0, "polynomial": [0, 0, 0.025]}]}}],
      "resources": [
        {"name": "r0", "requirement": {"points": [[0, 0], [100, 100]]}, "allocation": 3},
        {"name": "r1", "requirement": {"points": [[0, 0], [100, 100]]}, "allocation": {"points": [[0, 10], [60, 10], [60, 1.5]]}},
        {"name": "r2", "requirement": {"points": [[0, 0], [100, 100]]}, "allocation": {"points": [[0, 0.8], [40, 0.8], [40, 10]]}}]}]}"#;
    the_six_pieces(text);
}

/// The one that its figures are made of: both change.
#[test]
fn the_published_example_with_changing_requirements_and_rates() {
    let text = r#"{"processes": [{"name": "example", "progress": 100, "data": [
        {"name": "d0", "requirement": {"points": [[0, 0], [100, 100]]}, "available": {"points": [[0, 0], [100, 100]]}},
        {"name": "d1", "requirement": {"points": [[0, 0], [100, 100]]}, "available": {"points": [[0, 20], [50, 20], [50, 100]]}},
        {"name": "d2", "requirement": {"points": [[0, 0], [100, 100]]}, "available": {"pieces": [{"from": 0, "polynomial": [0, 0, 0.025]}]}}],
      "resources": [
        {"name": "r0", "requirement": {"pieces": [{"from": 0, "polynomial": [0, 0.8]}, {"from": 20, "polynomial": [16, 1.3333333333333333]},
            {"from": 60, "polynomial": [69.33333333333333, 0.26666666666666666]}]}, "allocation": 4},
        {"name": "r1", "requirement": {"points": [[0, 0], [40, 16], [90, 66], [190, 96]]}, "allocation": {"points": [[0, 5], [60, 5], [60, 1.5]]}},
        {"name": "r2", "requirement": {"points": [[0, 0], [30, 60], [80, 100], [180, 110]]}, "allocation": {"points": [[0, 1.6], [40, 1.6], [40, 6.5]]}}]}]}"#;
    the_six_pieces(text);
}

/// What the repository says comes out of both: places, slopes, and what limits.
fn the_six_pieces(text: &str) {
    let flow = Model::from_json(text).unwrap().check().unwrap();
    let prediction = flow.predict().unwrap();
    let limits: Vec<Limit> = prediction.segments(0).iter().map(|s| s.limit).collect();
    let expected = [Limit::Data(2), Limit::Resource(2), Limit::Data(1), Limit::Resource(0), Limit::Resource(1), Limit::Data(0)];
    assert_eq!(limits, expected, "{:#?}", prediction.segments(0));
    for (segment, (from, value, slope)) in prediction.segments(0).iter().zip([
        (0.0, 0.0, 0.0),
        (16.0, 6.4, 0.8),
        (33.0, 20.0, 0.0),
        (50.0, 20.0, 3.0),
        (60.0, 50.0, 1.5),
        (80.0, 80.0, 1.0),
    ]) {
        let c = segment.progress.coefficients();
        assert!(near(segment.from, from) && near(c[0], value) && near(c.get(1).copied().unwrap_or(0.0), slope), "{segment:?}");
    }
    assert!(near(prediction.finish_s().unwrap(), 100.0));
}

#[test]
fn figure_3_has_the_papers_pieces() {
    use flowmine_predict::functions::{Piecewise, Poly};
    let data = [
        Piecewise::line(0.0, 1.0),
        Piecewise::points(&[(0.0, 20.0), (50.0, 20.0), (50.0, 100.0)]).unwrap(),
        Piecewise::new([(0.0, Poly::new(&[0.0, 0.0, 0.025]).unwrap())]).unwrap(),
    ];
    let minimum = Piecewise::minimum(&data.each_ref()).unwrap();
    // Data 2 until it allows as much as data 1, at the root of 800; data 1 until it jumps; then data 0, until all is there at 100.
    let expected = [(0.0, 2), (800f64.sqrt(), 1), (50.0, 0), (100.0, 1)];
    assert_eq!(minimum.least.len(), expected.len(), "{:?}", minimum.least);
    for ((at, least), (from, number)) in minimum.least.iter().zip(expected) {
        assert!(near(*at, from) && *least == number, "{:?}", minimum.least);
    }
    assert!(near(minimum.function.at(20.0), 10.0) && near(minimum.function.at(40.0), 20.0) && near(minimum.function.at(70.0), 70.0));
}
