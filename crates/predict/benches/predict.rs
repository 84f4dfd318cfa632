//! What a prediction costs: the paper's evaluation workflow of five processes, its sweep of 600
//! shares, 10,000 processes in streams, a model of a million pieces.
//!
//! `cargo bench -p flowmine-predict` prints the best of five rounds. A table of measured values
//! stands in docs/performance.md. With `FLOWMINE_BOTTLEMOD` (a directory with BottleMod's published
//! Python) and `FLOWMINE_PYTHON` (an interpreter with the SciPy that it needs) its own analysis of
//! the same five processes is timed in the same run, at the 630 shares of its own sweep.

#![allow(missing_docs, reason = "a benchmark")]

use std::error::Error;
use std::process::Command;
use std::time::Instant;

use flowmine_predict::model::Model;
use flowmine_predict::study::{self, Sweep};
use serde_json::json;

const EVALUATION: &str = include_str!("../examples/evaluation.json");
const SWEEP: &str = "shared[link].part[download 1]=0.5..0.99/600";

/// Runs BottleMod's own function for its evaluation workflow, without the figures that its file
/// draws, and compares with the closed form.
const BOTTLEMOD: &str = r#"
import time
from task import *
from func import *
from ppoly import *
text = open("paper_figures_eval.py").read()
exec(text[text.index("def LinkPrio"):text.index("\nfig, (")])
times, failed, worst = [], 0, 0.0
for share in range(6400, 12700, 10):
    begin = time.perf_counter()
    try:
        finish = LinkPrio(share, 12800 - share, False)
    except Exception:
        failed += 1
        continue
    times.append(time.perf_counter() - begin)
    alone = 1137486559 / (12481 * 1024)
    worst = max(worst, abs(finish / max(alone / (share / 12800) + 82, 2 * alone) - 1))
times.sort()
if times:
    print(f"BottleMod's Python, {len(times)} analyses: least {times[0] * 1e3:.2f} ms, median {times[len(times) // 2] * 1e3:.2f} ms, off by {worst:.1e} at most; {failed} failed")
else:
    print(f"BottleMod's Python: all of {failed} analyses failed")
"#;

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
    if let (Some(directory), Some(python)) = (std::env::var_os("FLOWMINE_BOTTLEMOD"), std::env::var_os("FLOWMINE_PYTHON")) {
        let ended = Command::new(python).args(["-c", BOTTLEMOD]).env("PYTHONPATH", &directory).current_dir(&directory).status()?;
        if !ended.success() {
            println!("BottleMod's Python ended with {ended}");
        }
    }
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
