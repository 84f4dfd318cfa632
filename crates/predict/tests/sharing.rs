//! Who gives up what of a shared resource.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use flowmine_predict::model::Model;
use serde_json::{Value, json};

fn line(to: f64) -> Value {
    json!({"points": [[0, 0], [1, to]]})
}

fn finish(model: &Value) -> f64 {
    let model = Model::from_json(&model.to_string()).unwrap();
    model.check().unwrap().predict().unwrap().finish_s().unwrap()
}

/// A transfer over a shared link, read as a stream by a task that needs little of the shared processors; beside it a task that could use both.
fn model(processors_of_transfer: bool) -> Value {
    let mut transfer = json!({"name": "transfer", "progress": 1, "resources": [{"name": "net", "requirement": line(10.0), "shared": "link"}],
        "outputs": [{"name": "o", "written": line(1.0)}]});
    if processors_of_transfer {
        let cpu = json!({"name": "cpu", "requirement": line(1.0), "shared": "processors"});
        transfer["resources"].as_array_mut().unwrap().push(cpu);
    }
    json!({"shared": [{"name": "link", "capacity": 1}, {"name": "processors", "capacity": 2}],
        "processes": [transfer,
            {"name": "reader", "progress": 1, "data": [{"name": "d", "requirement": line(1.0), "from": {"process": "transfer", "output": "o"}}],
                "resources": [{"name": "cpu", "requirement": line(1.0), "shared": "processors"}]},
            {"name": "worker", "progress": 1, "resources": [{"name": "cpu", "requirement": line(15.2), "shared": "processors"}]}]})
}

#[test]
fn a_reader_whose_stream_hangs_on_a_link_gives_up_processors() {
    // The reader needs a tenth of a processor for ten seconds; the worker has the rest, 1.9 of 2, and ends after 8 seconds.
    let mut model = model(false);
    model["processes"][2]["progress"] = json!(1);
    assert!((finish(&model) - 10.0).abs() < 1e-9);
    model["processes"].as_array_mut().unwrap()[2]["resources"][0]["requirement"] = line(38.0);
    // 19 for the first ten seconds, then both processors: (38 − 19) / 2.
    assert!((finish(&model) - 19.5).abs() < 1e-9, "{}", finish(&model));
}

#[test]
fn where_use_and_share_hang_on_each_other_the_part_is_kept() {
    // The transfer uses both, so that all that hang on it keep their third of the processors until they end.
    let kept = finish(&model(true));
    assert!(kept > finish(&model(false)) && kept < 30.0, "{kept}");
}
