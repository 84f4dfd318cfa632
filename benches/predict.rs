//! What a prediction costs: the paper's evaluation workflow of five processes, its sweep of 600 shares, 10,000 processes in streams, a model of a million pieces.
//!
//! `cargo bench -p flowmine-predict` prints the best of five rounds. With `FLOWMINE_BOTTLEMOD` (a directory with `task.py`, `func.py` and `ppoly.py` of BottleMod's repository) and `FLOWMINE_PYTHON`
//! (with SciPy) the published Python analyses the same workflow in the same run, at the shares at which it does not fail. A table of measured values stands in docs/performance.md.

#![allow(missing_docs, reason = "a benchmark")]

use std::error::Error;
use std::process::Command;
use std::time::Instant;

use flowmine_predict::model::Model;
use flowmine_predict::study::{self, Sweep};
use serde_json::json;

const EVALUATION: &str = include_str!("../crates/predict/examples/evaluation.json");
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
    if let (Some(dir), Some(python)) = (std::env::var_os("FLOWMINE_BOTTLEMOD"), std::env::var_os("FLOWMINE_PYTHON")) {
        let done = Command::new(python).arg("-c").arg(PYTHON).env("PYTHONPATH", dir).status()?;
        if !done.success() {
            return Err("BottleMod's Python failed".into());
        }
    }
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

/// The same workflow for the published classes.
const PYTHON: &str = r#"
import time
from func import Func
from ppoly import PPoly
from task import Task, TaskExecution

SIZE, LINK, OUT, WORK, LAST = 1137486559, 12780544, 80 << 20, 82, 500

def transfer(rate):
    return TaskExecution(Task([PPoly([0, SIZE], [[1]])], [Func([0, SIZE], [[1, 0]])]), [rate], [Func([0, LAST], [[SIZE]])]).get_result()[0]

def step(data, size, seconds, functions):
    task = Task([PPoly([0, size], [[seconds / size]])], functions)
    return TaskExecution(task, [PPoly([0, LAST], [[1]])] , data).get_result()[0]

def analyse(share):
    first = transfer(PPoly([0, LAST], [[LINK * share]]))
    taken = PPoly([0, first.x[1], LAST], [[LINK * share, 0]])
    second = transfer(PPoly([0, LAST], [[LINK]]) - taken)
    reversed_ = step([first], OUT, WORK, [Func([0, SIZE - 0.0001, SIZE], [[0], [OUT]])])
    rotated = step([second], OUT, WORK, [Func([0, SIZE - 0.0001, SIZE], [[OUT / SIZE, 0], [0, OUT]])])
    return step([reversed_, rotated], 2 * OUT, 1, [Func([0, OUT], [[2, 0]]), Func([0, OUT], [[2, 0]])]).x[-1]

done, failed, seconds = 0, 0, []
begin = time.perf_counter()
for n in range(600):
    share = 0.5 + 0.49 * n / 599
    one = time.perf_counter()
    try:
        analyse(share)
        seconds.append(time.perf_counter() - one)
    except Exception:
        failed += 1
seconds.sort()
print(f"BottleMod's Python: five processes {seconds[0] * 1e3:.2f} ms at best, {seconds[len(seconds) // 2] * 1e3:.2f} ms median; 600 shares {time.perf_counter() - begin:.2f} s, of which {failed} failed")
"#;
