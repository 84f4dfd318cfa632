//! What a prediction costs: the paper's evaluation workflow, its sweep of 600 shares, and 10,000 processes in streams.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::time::Instant;

use flowmine_predict::PredictError;
use flowmine_predict::model::Model;
use serde_json::json;

fn main() -> Result<(), PredictError> {
    let mut model = Model::from_json(include_str!("evaluation.json"))?;
    let flow = model.check()?;
    let begin = Instant::now();
    for _ in 0..10_000 {
        std::hint::black_box(flow.predict()?.finish_s());
    }
    println!("five processes: {:.2} us", begin.elapsed().as_secs_f64() * 1e6 / 1e4);
    let begin = Instant::now();
    let mut best = (f64::INFINITY, 0.0);
    for n in 0..600 {
        let share = 0.5 + 0.49 * f64::from(n) / 599.0;
        model.processes[0].resources[0].weight = Some(share);
        model.processes[1].resources[0].weight = Some(1.0 - share);
        let finish = model.check()?.predict()?.finish_s().unwrap_or(f64::INFINITY);
        // What is the same but for rounding is not better.
        if finish < best.0 * (1.0 - 1e-12) {
            best = (finish, share);
        }
    }
    println!("600 shares: {:.2} ms, best {:.3} s at {:.4}", begin.elapsed().as_secs_f64() * 1e3, best.0, best.1);
    let one = json!({"points": [[0, 0], [1, 1]]});
    let processes = (0..10_000).map(|n: usize| {
        let data = match n.checked_sub(100) {
            Some(source) => json!([{"name": "d", "requirement": one, "from": {"process": format!("p{source}"), "output": "o"}}]),
            None => json!([{"name": "d", "requirement": one, "available": 1}]),
        };
        json!({"name": format!("p{n}"), "progress": 1, "data": data, "outputs": [{"name": "o", "written": one}],
            "resources": [{"name": "cpu", "requirement": one, "allocation": 1 + n % 7}]})
    });
    let flow = Model::from_json(&json!({ "processes": processes.collect::<Vec<_>>() }).to_string())?.check()?;
    let begin = Instant::now();
    std::hint::black_box(flow.predict()?.finish_s());
    println!("10,000 processes: {:.3} s", begin.elapsed().as_secs_f64());
    Ok(())
}
