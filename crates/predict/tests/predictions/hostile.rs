//! Models that cannot be are refused with the path of the field, and large ones end.

use std::time::Instant;

use flowmine_predict::model::Model;
use flowmine_predict::report::{self, Report};
use flowmine_predict::what_if::Wider;
use flowmine_predict::{PredictError, picture};
use serde_json::{Value, json};

fn process(name: &str, data: &Value, resources: &Value) -> Value {
    json!({"name": name, "progress": 1, "data": data, "resources": resources, "outputs": [{"name": "o", "written": {"points": [[0, 0], [1, 1]]}}]})
}

fn refused(processes: &Value) -> String {
    let model = Model::from_json(&json!({ "processes": processes }).to_string()).unwrap();
    let error = model.check().unwrap_err();
    assert!(matches!(error, PredictError::Field { .. }));
    error.to_string()
}

#[test]
fn each_refusal_names_its_field() {
    let one = |requirement: Value, allocation: Value| {
        refused(&json!([process("a", &json!([]), &json!([{"name": "r", "requirement": requirement, "allocation": allocation}]))]))
    };
    let place = "processes[0].resources[0].";
    assert!(one(json!({"points": [[0, 1], [1, 0]]}), json!(1)).starts_with(&format!("{place}requirement: the function must never fall")));
    assert!(one(json!({"points": [[1, 0], [2, 1]]}), json!(1)).contains("requirement: a function begins at 0"));
    assert!(one(json!({"points": [[0, 0], [2, 1], [1, 2]]}), json!(1)).starts_with(&format!("{place}requirement.points[2]")));
    assert!(one(json!({"points": []}), json!(1)).contains("at least one piece"));
    assert!(one(json!({"pieces": [{"from": 0, "polynomial": [0, 0, 1]}]}), json!(1)).contains("straight"));
    assert!(one(json!(1), json!(-1)).starts_with(&format!("{place}allocation: the function must not be below zero")));
    let cycle = |name: &str, from: &str| {
        process(
            name,
            &json!([{"name": "d", "requirement": {"points": [[0, 0], [1, 1]]}, "from": {"process": from, "output": "o"}}]),
            &json!([]),
        )
    };
    assert!(refused(&json!([cycle("a", "b"), cycle("b", "a")])).contains("waits for itself"));
    assert!(refused(&json!([cycle("a", "c"), cycle("b", "a")])).starts_with("processes[0].data[0].from.process"));
    assert!(Model::from_json(r#"{"processes": [], "sharde": []}"#).unwrap_err().to_string().contains("sharde"));
    assert!(Model::from_json(r#"{"processes": [{"name": "a", "progress": 1e999}]}"#).is_err());
}

#[test]
fn a_zero_rate_never_finishes_and_says_why() {
    let model = json!({"processes": [process("a", &json!([]), &json!([{"name": "r", "requirement": {"points": [[0, 0], [1, 1]]}, "allocation": 0}]))]});
    let flow = Model::from_json(&model.to_string()).unwrap().check().unwrap();
    let prediction = flow.predict().unwrap();
    assert_eq!(prediction.finish_s(), None);
    assert_eq!(prediction.limit_name(0, prediction.segments(0)[0].limit), "resource r");
}

#[test]
fn a_burst_is_worked_off_before_progress() {
    let points = json!({"points": [[0, 6], [1, 6]]});
    let model = json!({"processes": [process("a", &json!([]), &json!([{"name": "r", "requirement": points, "allocation": 2}]))]});
    let flow = Model::from_json(&model.to_string()).unwrap().check().unwrap();
    assert_eq!(flow.predict().unwrap().finish_s(), Some(3.0));
}

#[test]
fn a_million_pieces_and_ten_thousand_processes_end() {
    let points: Vec<(f64, f64)> = (0..500_000).map(|n| (f64::from(n), f64::from(n * 2 - n % 2))).collect();
    let resource = json!([{"name": "r", "requirement": {"points": points}, "allocation": 10}]);
    let mut long = process("a", &json!([]), &resource);
    long["progress"] = json!(499_999);
    let flow = Model::from_json(&json!({ "processes": [long] }).to_string()).unwrap().check().unwrap();
    assert!(flow.predict().unwrap().finish_s().is_some());

    let one = json!({"points": [[0, 0], [1, 1]]});
    let chain = (0..10_000).map(|n: usize| {
        let data = if n < 100 {
            json!([{"name": "d", "requirement": one, "available": 1}])
        } else {
            json!([{"name": "d", "requirement": one, "from": {"process": format!("p{}", n - 100), "output": "o"}}])
        };
        process(&format!("p{n}"), &data, &json!([{"name": "cpu", "requirement": one, "allocation": 1.0 + (n % 7) as f64}]))
    });
    let flow = Model::from_json(&json!({ "processes": chain.collect::<Vec<_>>() }).to_string()).unwrap().check().unwrap();
    let begin = Instant::now();
    assert!(flow.predict().unwrap().finish_s().is_some());
    // benches/predict.rs measures 0.05 s; the bound only distinguishes an end from none.
    assert!(begin.elapsed().as_secs_f64() < 10.0);
}

#[test]
fn numbers_that_are_none_are_refused_wherever_they_stand() {
    // TOML has words for them; JSON's numbers can be too large for any.
    let model = |progress: &str, weight: &str, requirement: &str, allocation: &str| {
        format!(
            "[[shared]]\nname = \"s\"\ncapacity = {allocation}\n[[processes]]\nname = \"a\"\nprogress = {progress}\n\
             resources = [{{ name = \"r\", requirement = {{ points = [[0, 0], [1, {requirement}]] }}, shared = \"s\", weight = {weight} }}]\n"
        )
    };
    let check = |text: String| Model::from_toml(&text).and_then(|model| model.check().map(drop));
    assert!(check(model("1", "1", "1", "1")).is_ok());
    for bad in ["nan", "inf", "-inf", "-nan"] {
        for (text, place) in [
            (model(bad, "1", "1", "1"), "processes[0].progress"),
            (model("1", bad, "1", "1"), "processes[0].resources[0].weight"),
            (model("1", "1", bad, "1"), "processes[0].resources[0].requirement.points[1]"),
            (model("1", "1", "1", bad), "shared[0].capacity"),
        ] {
            let said = check(text).unwrap_err().to_string();
            assert!(said.starts_with(place), "{bad}: {said}");
        }
    }
    let json = r#"{"processes": [{"name": "a", "progress": 1, "resources": [{"name": "r", "requirement": 1e999, "allocation": 1}]}]}"#;
    assert!(Model::from_json(json).unwrap_err().to_string().contains("processes[0].resources[0]"));
}

#[test]
fn numbers_are_the_nearest_to_what_a_file_says() {
    let text = r#"{"processes": [{"name": "a", "progress": 11374865e59}]}"#;
    let model = Model::from_json(text).unwrap();
    let written = model.to_json().unwrap();
    assert!(written.contains(&json!(11_374_865e59).to_string()), "{written}");
    assert_eq!(Model::from_json(&written).unwrap().to_json().unwrap(), written);
}

#[test]
fn many_jumps_at_one_place_are_one() {
    let points = json!({"points": [[0, 0], [0, 1], [0, 2], [0.5, 2], [0.5, 3], [0.5, 3], [0.5, 6], [1, 6]]});
    let model = json!({"processes": [process("a", &json!([]), &json!([{"name": "r", "requirement": points, "allocation": 2}]))]});
    let flow = Model::from_json(&model.to_string()).unwrap().check().unwrap();
    assert_eq!(flow.predict().unwrap().finish_s(), Some(3.0));
}

#[test]
fn a_hundred_thousand_processes_end() {
    let one = json!({"points": [[0, 0], [1, 1]]});
    let all = (0..100_000).map(|n: usize| {
        let mut process =
            process(&format!("p{n}"), &json!([]), &json!([{"name": "cpu", "requirement": one, "allocation": 1.0 + (n % 7) as f64}]));
        if n > 0 {
            process["after"] = json!([format!("p{}", (n - 1) / 2)]);
        }
        process
    });
    let flow = Model::from_json(&json!({ "processes": all.collect::<Vec<_>>() }).to_string()).unwrap().check().unwrap();
    assert!(flow.predict().unwrap().finish_s().is_some());
    let more = json!({"processes": (0..200_001).map(|n| json!({"name": format!("p{n}"), "progress": 1})).collect::<Vec<_>>()});
    assert!(
        Model::from_json(&more.to_string())
            .unwrap()
            .check()
            .unwrap_err()
            .to_string()
            .starts_with("processes: there have to be 1 to 200000")
    );
}

fn finish(model: &Value) -> Option<f64> {
    Model::from_json(&model.to_string()).unwrap().check().unwrap().predict().unwrap().finish_s()
}

#[test]
fn what_is_needed_over_very_little_progress_is_not_lost() {
    // A terabyte of progress, of which one byte takes nearly all of the work: the first, the last, one in the middle, after something at once.
    for (points, seconds) in [
        (json!([[0, 0], [1, 100], [1e12, 100]]), 100.0),
        (json!([[0, 0], [999_999_999_999_u64, 1], [1e12, 1000]]), 1000.0),
        (json!([[0, 0], [5e11, 1], [500_000_000_001_u64, 50], [1e12, 51]]), 51.0),
        (json!([[0, 6], [1, 7], [1e12, 8]]), 8.0),
        (json!([[0, 0], [1, 1], [2, 5], [3, 9], [1e12, 9]]), 9.0),
    ] {
        let mut one = process("a", &json!([]), &json!([{"name": "r", "requirement": {"points": points}, "allocation": 1}]));
        one["progress"] = json!(1e12);
        let found = finish(&json!({ "processes": [one] })).unwrap();
        assert!((found - seconds).abs() < 1e-6 * seconds, "{points}: {found}");
    }
}

#[test]
fn weights_that_cannot_be_added_up_are_refused() {
    let user = |name: &str, weight: f64| {
        process(name, &json!([]), &json!([{"name": "r", "requirement": {"points": [[0, 0], [1, 1]]}, "shared": "s", "weight": weight}]))
    };
    let model = |weight: f64| json!({"shared": [{"name": "s", "capacity": 1, "policy": "weighted"}], "processes": [user("a", weight), user("b", weight)]});
    let said = Model::from_json(&model(1e308).to_string()).unwrap().check().unwrap_err().to_string();
    assert!(said.starts_with("shared[0]: the weights"), "{said}");
    assert_eq!(finish(&model(1e300)), Some(2.0));
    assert_eq!(finish(&model(1e-300)), Some(2.0));
}

#[test]
fn a_process_that_uses_thousands_of_shared_resources_ends() {
    let (done, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let resources =
            (0..3000).map(|n| json!({"name": format!("r{n}"), "requirement": {"points": [[0, 0], [1, 1]]}, "shared": format!("s{n}")}));
        let shared = (0..3000).map(|n| json!({"name": format!("s{n}"), "capacity": 1.0 + f64::from(n)}));
        let one = process("a", &json!([]), &json!(resources.collect::<Vec<_>>()));
        done.send(finish(&json!({"shared": shared.collect::<Vec<_>>(), "processes": [one]})))
    });
    assert_eq!(result.recv_timeout(std::time::Duration::from_secs(60)).unwrap(), Some(1.0));
}

#[test]
fn gains_that_would_take_hours_are_refused() {
    let one = json!([{"name": "r", "requirement": {"points": [[0, 0], [1, 1]]}, "allocation": 1}]);
    let processes: Vec<Value> = (0..20_000).map(|n| process(&format!("p{n}"), &json!([]), &one)).collect();
    let flow = Model::from_json(&json!({ "processes": processes }).to_string()).unwrap().check().unwrap();
    let said = flow.gains(Wider::Times(2.0)).unwrap_err().to_string();
    assert!(said.starts_with("widen: 20000 things limit 20000 processes"), "{said}");
}

#[test]
fn names_reach_tables_pictures_and_terminals_only_escaped() {
    let (name, data) = ("a\u{1b}[31m\u{202e}<b>&\"',\n", "=cmd|' /C calc'!A0");
    let input = json!([{"name": data, "requirement": {"points": [[0, 0], [1, 1]]}, "available": {"points": [[0, 0], [10, 1]]}}]);
    let flow = Model::from_json(&json!({"processes": [process(name, &input, &json!([]))]}).to_string()).unwrap().check().unwrap();
    let prediction = flow.predict().unwrap();
    let drawn = picture::detailed(&prediction);
    assert!(drawn.contains("&lt;b&gt;") && !drawn.contains("<b>") && !drawn.contains(['\u{1b}', '\u{202e}']), "{drawn}");
    assert!(!report::text(&Report::of(&prediction)).contains(['\u{1b}', '\u{202e}']));
    // Nothing that a table's reader takes for a formula.
    assert!(report::csv_of_details(&prediction).contains(",data,'=cmd|"));
    let mut json = Vec::new();
    report::json(&Report::of(&prediction), &mut json).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["processes"][0]["name"], name);
}

/// Stages of a pipe that all share one resource, each a reader of the one before.
fn pipe(stages: usize, first: impl Fn(usize) -> Option<usize>) -> Value {
    let one = json!({"points": [[0, 0], [1, 1]]});
    let stage = |n: usize| {
        let mut stage = process(&format!("p{n}"), &json!([]), &json!([{"name": "cpu", "requirement": one, "shared": "cpu"}]));
        match first(n) {
            Some(before) => stage["after"] = json!([format!("p{before}")]),
            None if n > 0 => {
                stage["data"] = json!([{"name": "d", "requirement": one, "from": {"process": format!("p{}", n - 1), "output": "o"}}])
            }
            None => {}
        }
        stage
    };
    json!({"shared": [{"name": "cpu", "capacity": 2}], "processes": (0..stages).map(stage).collect::<Vec<_>>()})
}

#[test]
fn long_pipes_on_one_resource_end() {
    let begin = Instant::now();
    // All run at once, and each has a five-hundredth.
    assert!((finish(&pipe(500, |_| None)).unwrap() - 250.0).abs() < 1e-6);
    // Pipes of four, one after the other.
    let found = finish(&pipe(20_000, |n| (n > 0 && n % 4 == 0).then(|| n - 1))).unwrap();
    assert!((found - 10_000.0).abs() < 1e-3, "{found}");
    // The bound only distinguishes an end from none.
    assert!(begin.elapsed().as_secs_f64() < 60.0);
}

#[test]
fn a_pipe_waits_where_the_capacity_is_zero() {
    let mut model = pipe(3, |_| None);
    model["shared"][0]["capacity"] = json!({"points": [[0, 3], [0.5, 3], [0.5, 0], [7, 0], [7, 3]]});
    // Half of the 3 needed is done before the gap, and half after it.
    assert!((finish(&model).unwrap() - 7.5).abs() < 1e-9);
    model["shared"][0]["capacity"] = json!({"points": [[0, 3], [0.5, 3], [0.5, 0]]});
    assert_eq!(finish(&model), None);
}

#[test]
fn a_rate_beyond_all_numbers_is_no_limit() {
    // The writer is done at once; the reader needs 1e300 of 1e300 a second.
    let mut model = pipe(2, |_| None);
    model["shared"][0]["capacity"] = json!(1e300);
    for (n, amount) in [1e-300, 1e300].into_iter().enumerate() {
        model["processes"][n]["resources"][0]["requirement"] = json!({"points": [[0, 0], [1, amount]]});
    }
    assert!((finish(&model).unwrap() - 1.0).abs() < 1e-9, "{:?}", finish(&model));
    // The same alone.
    let alone = process("a", &json!([]), &json!([{"name": "r", "requirement": {"points": [[0, 0], [1, 1e-300]]}, "allocation": 1e300}]));
    assert!(finish(&json!({ "processes": [alone] })).unwrap() < 1e-300);
}

#[test]
fn what_is_needed_at_two_places_close_to_each_other_is_not_lost_on_a_shared_resource() {
    let points = json!({"points": [[0, 0], [1e-13, 1], [2e-13, 1], [2e-13, 2], [1, 3]]});
    let mut model = pipe(1, |_| None);
    model["processes"][0]["resources"][0]["requirement"] = points;
    assert!((finish(&model).unwrap() - 1.5).abs() < 1e-9, "{:?}", finish(&model));
}
