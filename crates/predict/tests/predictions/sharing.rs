//! Who gives up what of a shared resource.

use flowmine_predict::model::Model;
use serde_json::{Value, json};

fn line(to: f64) -> Value {
    json!({"points": [[0, 0], [1, to]]})
}

fn finish(model: &Value) -> f64 {
    let model = Model::from_json(&model.to_string()).unwrap();
    model.check().unwrap().predict().unwrap().finish_s().unwrap()
}

/// A transfer over a shared link, read as a stream by a task that needs little of the shared
/// processors; beside it a task that could use both.
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
    // The transfer uses both, so that all that depend on it keep their third of the processors until they end.
    let kept = finish(&model(true));
    assert!(kept > finish(&model(false)) && kept < 30.0, "{kept}");
}

/// What a prediction gives within a minute; without an end the test fails and does not hang.
fn within_a_minute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(std::time::Duration::from_secs(60)).unwrap()
}

/// The text of a model: processes that use one pool, each as long as `work` says, with at most
/// `own` of it a second.
fn pool(capacity: f64, count: usize, work: impl Fn(usize) -> f64, own: Option<f64>, after: impl Fn(usize) -> Option<usize>) -> String {
    let processes: Vec<String> = (0..count)
        .map(|n| {
            let need = format!("\"requirement\": {{\"points\": [[0, 0], [1, {}]]}}", work(n));
            let own = own.map_or_else(String::new, |own| format!(", {{\"name\": \"own\", {need}, \"allocation\": {own}}}"));
            let after = after(n).map_or_else(String::new, |n| format!("\"p{n}\""));
            format!(
                "{{\"name\": \"p{n}\", \"progress\": 1, \"after\": [{after}], \"resources\": [{{\"name\": \"cpu\", {need}, \"shared\": \"pool\"}}{own}]}}"
            )
        })
        .collect();
    format!("{{\"shared\": [{{\"name\": \"pool\", \"capacity\": {capacity}}}], \"processes\": [{}]}}", processes.join(","))
}

fn finish_of(text: &str) -> f64 {
    Model::from_json(text).unwrap().check().unwrap().predict().unwrap().finish_s().unwrap()
}

#[test]
fn a_hundred_thousand_users_of_one_pool_of_which_four_run_at_a_time() {
    // Four rows of processes, each of a second of one of four processors.
    let end = within_a_minute(|| finish_of(&pool(4.0, 100_000, |_| 1.0, None, |n| n.checked_sub(4))));
    assert!((end - 25_000.0).abs() < 1e-6, "{end}");
    // Rows of different lengths: at each moment another one ends.
    let end = within_a_minute(|| finish_of(&pool(4.0, 40_000, |n| 1.0 + 0.1 * (n % 4) as f64, Some(1.0), |n| n.checked_sub(4))));
    assert!((end - 13_000.0).abs() < 1e-6, "{end}");
}

#[test]
fn a_hundred_thousand_users_at_the_same_time_that_all_have_what_they_ask_for() {
    // Each ends at another time, and nobody else is changed by that.
    let end = within_a_minute(|| finish_of(&pool(1e5, 100_000, |n| 1.0 + n as f64 * 1e-3, Some(1.0), |_| None)));
    assert!((end - 100.999).abs() < 1e-9, "{end}");
    // There is enough only after some have ended: half of them, alike, end first.
    let end = within_a_minute(|| finish_of(&pool(3e4, 40_000, |n| if n % 2 == 0 { 3.0 } else { 9.0 }, Some(1.0), |_| None)));
    // With 3/4 each until 3 is worked off after 4 s, then 1 each for the rest, 6.
    assert!((end - 10.0).abs() < 1e-9, "{end}");
}

#[test]
fn a_crowd_whose_rates_change_at_every_end_is_refused() {
    let said = within_a_minute(|| {
        let model = pool(10.0, 40_000, |n| 1.0 + n as f64, None, |_| None);
        Model::from_json(&model).unwrap().check().unwrap().predict().unwrap_err().to_string()
    });
    assert!(said.starts_with("shared[0]: ") && said.contains("40000 processes share it, and whenever one ends"), "{said}");
    // A thousand of them are predicted: they end in order, and all that there is is used until the end.
    let end = within_a_minute(|| finish_of(&pool(10.0, 1000, |n| 1.0 + n as f64, None, |_| None)));
    assert!((end - 50_050.0).abs() < 1e-6, "{end}");
    // Many that are alike end together.
    let end = within_a_minute(|| finish_of(&pool(10.0, 100_000, |_| 1.0, None, |_| None)));
    assert!((end - 10_000.0).abs() < 1e-6, "{end}");
}
