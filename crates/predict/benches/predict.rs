//! What a prediction costs: the paper's evaluation workflow of five processes, its sweep of 600 shares, 10,000 processes in streams, a model of a million pieces.
//!
//! `cargo bench -p flowmine-predict` prints the best of five rounds. A table of measured values stands in docs/performance.md.

#![allow(missing_docs, reason = "a benchmark")]

use std::error::Error;
use std::time::Instant;

use flowmine_predict::model::Model;
use flowmine_predict::study::{self, Sweep};
use serde_json::json;

const EVALUATION: &str = include_str!("../examples/evaluation.json");
const SWEEP: &str = "shared[link].part[download 1]=0.5..0.99/600";

fn main() -> Result<(), Box<dyn Error>> {
    let model = Model::from_json(EVALUATION)?;
    let flow = model.check()?;
    let predict = best(|| {
        for _ in 0..10_000 {
            std::hint::black_box(flow.predict()?.finish_s());
        }
        Ok(())
    })?;
    println!("five processes, checked: {:.2} µs", predict * 1e6 / 1e4);
    let whole = best(|| {
        for _ in 0..1_000 {
            std::hint::black_box(Model::from_json(EVALUATION)?.check()?.predict()?.finish_s());
        }
        Ok(())
    })?;
    println!("five processes from the text of the model: {:.2} µs", whole * 1e6 / 1e3);
    let sweep: Sweep = SWEEP.parse()?;
    let swept = best(|| {
        std::hint::black_box(study::sweep(&model, &sweep)?);
        Ok(())
    })?;
    println!("600 shares: {:.2} ms", swept * 1e3);
    let flow = streams(10_000)?.check()?;
    let many = best(|| {
        std::hint::black_box(flow.predict()?.finish_s());
        Ok(())
    })?;
    println!("10,000 processes in streams: {many:.3} s");
    let flow = pieces(1_000_000)?.check()?;
    let long = best(|| {
        std::hint::black_box(flow.predict()?.finish_s());
        Ok(())
    })?;
    println!("a function of a million pieces: {long:.3} s");
    Ok(())
}

/// The shortest of five times, in seconds.
fn best(mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let begin = Instant::now();
        work()?;
        least = least.min(begin.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// Processes of which each reads what the hundredth before it writes, as it is written.
fn streams(count: usize) -> Result<Model, Box<dyn Error>> {
    let one = json!({"points": [[0, 0], [1, 1]]});
    let processes = (0..count).map(|n| {
        let data = match n.checked_sub(100) {
            Some(source) => json!([{"name": "d", "requirement": one, "from": {"process": format!("p{source}"), "output": "o"}}]),
            None => json!([{"name": "d", "requirement": one, "available": 1}]),
        };
        json!({"name": format!("p{n}"), "progress": 1, "data": data, "outputs": [{"name": "o", "written": one}],
            "resources": [{"name": "cpu", "requirement": one, "allocation": 1 + n % 7}]})
    });
    Ok(Model::from_json(&json!({ "processes": processes.collect::<Vec<_>>() }).to_string())?)
}

/// One process whose requirement changes so many times.
fn pieces(count: u32) -> Result<Model, Box<dyn Error>> {
    let points: Vec<(f64, f64)> = (0..count).map(|n| (f64::from(n), f64::from(n * 2 - n % 2))).collect();
    let model = json!({"processes": [{"name": "a", "progress": count - 1,
        "resources": [{"name": "r", "requirement": {"points": points}, "allocation": 10}]}]});
    Ok(Model::from_json(&model.to_string())?)
}
