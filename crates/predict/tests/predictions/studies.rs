//! Sweeps, sensitivity, chance, and gains of single segments.

use flowmine_predict::model::Model;
use flowmine_predict::study::{self, Change, Parameter, Sweep, Vary};

const EVALUATION: &str = include_str!("../../examples/evaluation.json");
const FIGURE_4: &str = include_str!("../../examples/figure-4.json");
const DOWNLOAD: f64 = 1_137_486_559.0 / 12_780_544.0;

fn evaluation() -> Model {
    Model::from_json(EVALUATION).unwrap()
}

#[test]
fn the_sweep_of_figure_7_finds_the_least_share_that_is_best() {
    let sweep: Sweep = "shared[link].part[download 1]=0.5..0.99/600".parse().unwrap();
    let (points, best) = study::sweep(&evaluation(), &sweep).unwrap();
    for point in &points {
        let closed = (DOWNLOAD / point.value + 82.0).max(2.0 * DOWNLOAD);
        assert!((point.finish_s.unwrap() - closed).abs() < 1e-9 * closed, "{point:?}");
    }
    let best = points[best.unwrap()];
    // From 0.9270707 on all is as good.
    assert!(best.value >= 0.927_070_7 && best.value < 0.9283, "{best:?}");
    assert!((best.finish_s.unwrap() - 178.002_839_159_3).abs() < 1e-6);
}

#[test]
fn what_cannot_be_swept_is_refused_with_its_path() {
    let no = |text: &str| text.parse::<Sweep>().and_then(|sweep| study::sweep(&evaluation(), &sweep)).unwrap_err().to_string();
    for text in ["x", "a=1", "a=1..2/0", "a=1..2/1000000000", "a=nan..2", "shared[link].capacity=x..2"] {
        assert!(no(text).starts_with("sweep:"), "{text}: {}", no(text));
    }
    assert!(no("processes[9].start_s=0..1").contains("no such number"));
    assert!(no("shared[link].part[task 1]=0.1..0.5").starts_with("shared[link].part[task 1]: there is no such"));
    assert!(no("shared[link].part[download 1]=0..1/3").contains("between 0 and 1"));
    assert!(no("shared[link].part[download 1]*0.1..0.5/3").contains("is set, not multiplied"));
    assert!(no("shared[link].capacity=-1..1/3").starts_with("shared[0].capacity: the function must not be below zero"));
}

#[test]
fn every_path_sets_what_it_names() {
    let model = evaluation();
    for path in [
        "shared[0].capacity",
        "processes[task 1].start_s",
        "processes[task 1].resources[0].allocation",
        "processes[task 1].resources[cpu].requirement",
        "processes[download 1].resources[0].weight",
        "processes[download 1].data[0].available",
        "processes[download 1].data[0].requirement",
        "processes[download 1].outputs[0].written",
    ] {
        for change in [Change::Set, Change::Times] {
            let mut changed = model.clone();
            Parameter::find(&model, path, change).unwrap().apply(&mut changed, 2.0).unwrap();
            let differ = serde_json::to_value(&changed).unwrap() != serde_json::to_value(&model).unwrap();
            // Twice a start of zero is one of zero.
            assert!(differ || (change == Change::Times && path.ends_with("start_s")), "{path}");
        }
    }
}

#[test]
fn sensitivities_are_those_of_the_closed_form() {
    // With a share of 0.5123, T = D / f + 82.
    let all = study::sensitivity(&evaluation()).unwrap();
    let of = |path: &str| all.iter().find(|s| s.path == path).map_or(0.0, |s| s.per_cent);
    let (load, work) = (DOWNLOAD / 0.5123, 82.0);
    let total = load + work;
    assert!((of("processes[task 1].resources[cpu].requirement") - work / total).abs() < 1e-3, "{all:?}");
    assert!((of("shared[link].capacity") + load / total).abs() < 1e-3, "{all:?}");
    assert!(all.windows(2).all(|pair| pair[0].per_cent.abs() >= pair[1].per_cent.abs()));
}

#[test]
fn chance_is_the_same_for_the_same_seed_and_has_the_right_spread() {
    let vary: Vec<Vary> = vec!["processes[task 1].resources[cpu].requirement*1+-0.1".parse().unwrap()];
    let draw = |seed| study::monte_carlo(&evaluation(), &vary, 4_000, seed).unwrap();
    let (one, again, other) = (draw(1), draw(1), draw(2));
    assert_eq!(one, again);
    assert_ne!(one, other);
    // 82 s with a deviation of a tenth.
    let mean = DOWNLOAD / 0.5123 + 82.0;
    assert!((one.mean_s - mean).abs() < 0.5 && (one.deviation_s - 8.2).abs() < 0.3, "{one:?}");
    let (low, high) = (one.quantiles[1].1, one.quantiles[5].1);
    assert!((high - low - 2.0 * 1.645 * 8.2).abs() < 1.0, "{one:?}");
    let uniform: Vec<Vary> = vec!["shared[link].capacity*0.9..1.1".parse().unwrap()];
    let range = study::monte_carlo(&evaluation(), &uniform, 500, 1).unwrap();
    let at = |factor: f64| DOWNLOAD / factor / 0.5123 + 82.0;
    assert!(range.quantiles[0].1 >= at(1.1) && range.quantiles[6].1 <= at(0.9));
    assert!(study::monte_carlo(&evaluation(), &vary, 0, 1).is_err() && "a=1+-x".parse::<Vary>().is_err());
}

#[test]
fn a_segment_gains_what_lies_in_it() {
    let model = Model::from_json(FIGURE_4).unwrap();
    let flow = model.check().unwrap();
    let gains = flow.segment_gains(2.0, 10).unwrap();
    assert_eq!(gains.len(), 6);
    // Data 0 comes twice as fast in the last segment, which takes half as long. What came before waits at data 1, or for data 0.
    assert!((gains[0].gain_s - 10.0).abs() < 1e-9 && gains[0].from_s == 80.0, "{gains:?}");
    assert!(gains[1..].iter().all(|gain| gain.gain_s.abs() < 1e-9), "{gains:?}");
    assert_eq!(flow.segment_gains(2.0, 2).unwrap().len(), 2);
    // One process and one allocation: twice as much for the first half of the time is a quarter less of it.
    let one = r#"{"processes": [{"name": "a", "progress": 1, "resources": [
        {"name": "r", "requirement": {"points": [[0, 0], [1, 10]]}, "allocation": {"points": [[0, 1], [5, 1], [5, 1]]}},
        {"name": "s", "requirement": {"points": [[0, 0], [0.5, 0], [1, 1]]}, "allocation": 1}]}]}"#;
    let flow = Model::from_json(one).unwrap();
    let flow = flow.check().unwrap();
    let gains = flow.segment_gains(2.0, 5).unwrap();
    assert!((flow.predict().unwrap().finish_s().unwrap() - 10.0).abs() < 1e-9 && (gains[0].gain_s - 5.0).abs() < 1e-9, "{gains:?}");
}
