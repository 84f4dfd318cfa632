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
fn coupled_processes_give_up_what_they_cannot_use() {
    // Transfer and reader each need a tenth of a processor for ten seconds; the worker has 1.8, then both: 10 + (38 − 18) / 2.
    let mut model = model(true);
    model["processes"][2]["resources"][0]["requirement"] = line(38.0);
    assert!((finish(&model) - 20.0).abs() < 1e-9, "{}", finish(&model));
}

#[test]
fn an_amount_at_once_is_worked_off_by_the_share_of_each_time() {
    // Both have half until the first has its 1; then the second has 2 left, and all of the resource.
    let at_once = |name: &str, amount: f64| {
        json!({"name": name, "progress": 1, "resources": [
        {"name": "r", "requirement": {"points": [[0, amount], [1, amount]]}, "shared": "s"}]})
    };
    let model = json!({"shared": [{"name": "s", "capacity": 2}], "processes": [at_once("a", 1.0), at_once("b", 3.0)]});
    assert!((finish(&model) - 2.0).abs() < 1e-9, "{}", finish(&model));
}

/// A writer and a reader that need these amounts of one resource, and the policy.
fn pipe(policy: &str, capacity: f64, needs: [f64; 2], priorities: [i32; 2]) -> Value {
    let resource = |n: usize| json!([{"name": "cpu", "requirement": line(needs[n]), "shared": "cpu", "priority": priorities[n]}]);
    json!({"shared": [{"name": "cpu", "capacity": capacity, "policy": policy}], "processes": [
        {"name": "writer", "progress": 1, "resources": resource(0), "outputs": [{"name": "o", "written": line(1.0)}]},
        {"name": "reader", "progress": 1, "resources": resource(1),
            "data": [{"name": "d", "requirement": line(1.0), "from": {"process": "writer", "output": "o"}}]}]})
}

#[test]
fn a_pipe_uses_all_of_a_shared_resource_until_its_end() {
    for (needs, priorities) in
        [([20.0, 0.1], [0, 0]), ([10.0, 1.0], [0, 1]), ([1.0, 10.0], [1, 0]), ([5.0, 5.0], [0, 1]), ([1.0, 7.0], [0, 0])]
    {
        for policy in ["fair", "weighted", "prioritised"] {
            let found = finish(&pipe(policy, 2.0, needs, priorities));
            let expected = (needs[0] + needs[1]) / 2.0;
            assert!((found - expected).abs() < 1e-9, "{policy} {needs:?} {priorities:?}: {found}");
        }
    }
}

#[test]
fn the_pipe_next_to_another_task_takes_its_reader_with_it() {
    // Writer and other task have at most one processor each: 2 = v + v + v / 100.
    let mut model = pipe("fair", 2.0, [100.0, 1.0], [0, 0]);
    let own = json!({"name": "own", "requirement": line(100.0), "allocation": 1});
    model["processes"][0]["resources"].as_array_mut().unwrap().push(own.clone());
    let other = json!({"name": "other", "progress": 1, "resources": [own, {"name": "cpu", "requirement": line(100.0), "shared": "cpu"}]});
    model["processes"].as_array_mut().unwrap().push(other);
    assert!((finish(&model) - 100.5).abs() < 1e-9, "{}", finish(&model));
}

#[test]
fn a_capacity_that_grows_from_zero_is_divided_at_once() {
    // All of t²/2 is used: 8 = t² / 2.
    let mut model = pipe("fair", 1.0, [7.0, 1.0], [0, 0]);
    model["shared"][0]["capacity"] = json!({"pieces": [{"from": 0, "polynomial": [0, 1]}]});
    assert!((finish(&model) - 4.0).abs() < 1e-9, "{}", finish(&model));
}

#[test]
fn a_curve_between_coupled_processes_is_noted() {
    let mut model = pipe("fair", 2.0, [3.0, 1.0], [0, 0]);
    model["processes"][0]["outputs"][0]["written"] = json!({"pieces": [{"from": 0, "polynomial": [0, 0, 1]}]});
    let flow = Model::from_json(&model.to_string()).unwrap().check().unwrap();
    let prediction = flow.predict().unwrap();
    assert!((prediction.finish_s().unwrap() - 2.0).abs() < 1e-4, "{:?}", prediction.finish_s());
    assert!(
        prediction.notes()[0].starts_with("processes[0].outputs[0].written: straight pieces replace the curve"),
        "{:?}",
        prediction.notes()
    );
}

#[test]
fn more_than_one_fair_division_is_noted() {
    // Two writers on two resources, and the readers of each on the other's: either writer may be ahead of the other.
    let mut processes = Vec::new();
    for (writer, other) in [("a", "b"), ("b", "a")] {
        processes.push(json!({"name": writer, "progress": 1, "resources": [{"name": "r", "requirement": line(1.0), "shared": writer}],
            "outputs": [{"name": "o", "written": line(1.0)}]}));
        for n in 0..10 {
            processes.push(json!({"name": format!("{writer}{n}"), "progress": 1, "resources": [{"name": "r", "requirement": line(0.9), "shared": other}],
                "data": [{"name": "d", "requirement": line(1.0), "from": {"process": writer, "output": "o"}}]}));
        }
    }
    let model = json!({"shared": [{"name": "a", "capacity": 1}, {"name": "b", "capacity": 1}], "processes": processes});
    let flow = Model::from_json(&model.to_string()).unwrap().check().unwrap();
    let prediction = flow.predict().unwrap();
    assert!(prediction.notes()[0].contains("more than one fair division"), "{:?}", prediction.notes());
    assert!(prediction.finish_s().is_some());
}

#[test]
fn a_reader_that_has_fallen_behind_its_writer_is_divided_anew() {
    // From the first second on the reader is behind. When the third process comes, the reader may take all of "b", and the writer nothing.
    let resource =
        |pool: &str, amount: f64, priority: i32| json!({"name": pool, "requirement": line(amount), "shared": pool, "priority": priority});
    let own = json!({"name": "own", "requirement": line(2.0), "allocation": 1});
    let model = json!({
        "shared": [{"name": "a", "capacity": 4.6}, {"name": "b", "capacity": 5.1, "policy": "prioritised"}],
        "processes": [
            {"name": "writer", "progress": 1, "resources": [resource("a", 6.7, 0), resource("b", 4.5, 1), own],
                "outputs": [{"name": "o", "written": line(1.0)}]},
            {"name": "reader", "progress": 1, "resources": [resource("a", 15.4, 0), resource("b", 18.8, 2)],
                "data": [{"name": "d", "requirement": line(1.0), "from": {"process": "writer", "output": "o"}}]},
            {"name": "late", "progress": 1, "start_s": 1, "resources": [resource("b", 10.0, 0)]}]});
    let flow = Model::from_json(&model.to_string()).unwrap().check().unwrap();
    let prediction = flow.predict().unwrap();
    assert!(prediction.notes().iter().any(|note| note.contains("from 1 s on more than one fair division")), "{:?}", prediction.notes());
}

/// What a prediction gives. Without an end the test fails and does not hang.
fn without_a_hang<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(std::time::Duration::from_secs(1200)).unwrap()
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
    let end = without_a_hang(|| finish_of(&pool(4.0, 100_000, |_| 1.0, None, |n| n.checked_sub(4))));
    assert!((end - 25_000.0).abs() < 1e-6, "{end}");
    // Rows of different lengths: at each moment another one ends.
    let end = without_a_hang(|| finish_of(&pool(4.0, 40_000, |n| 1.0 + 0.1 * (n % 4) as f64, Some(1.0), |n| n.checked_sub(4))));
    assert!((end - 13_000.0).abs() < 1e-6, "{end}");
}

#[test]
fn a_hundred_thousand_users_at_the_same_time_that_all_have_what_they_ask_for() {
    // Each ends at another time, and nobody else is changed by that.
    let end = without_a_hang(|| finish_of(&pool(1e5, 100_000, |n| 1.0 + n as f64 * 1e-3, Some(1.0), |_| None)));
    assert!((end - 100.999).abs() < 1e-9, "{end}");
    // There is enough only after some have ended: half of them, alike, end first.
    let end = without_a_hang(|| finish_of(&pool(3e4, 40_000, |n| if n % 2 == 0 { 3.0 } else { 9.0 }, Some(1.0), |_| None)));
    // With 3/4 each until 3 is worked off after 4 s, then 1 each for the rest, 6.
    assert!((end - 10.0).abs() < 1e-9, "{end}");
}

#[test]
fn a_crowd_is_predicted_that_ends_in_order_or_at_once() {
    // All that there is is used until the end.
    let end = without_a_hang(|| finish_of(&pool(10.0, 1000, |n| 1.0 + n as f64, None, |_| None)));
    assert!((end - 50_050.0).abs() < 1e-6, "{end}");
    // Many that are alike end together.
    let end = without_a_hang(|| finish_of(&pool(10.0, 100_000, |_| 1.0, None, |_| None)));
    assert!((end - 10_000.0).abs() < 1e-6, "{end}");
}
