//! A model fitted to a run that a program has observed itself, with no dataset:
//! `cargo run -p flowmine-predict --example fit`.

use std::error::Error;

use flowmine_activity_log::{NONE, TracedInput, TracedOutput, TracedRun, TracedTask};
use flowmine_predict::fit::{self, Options};

fn main() -> Result<(), Box<dyn Error>> {
    // A task that reads 1 GB in its first two seconds and works on it for eight more; another copies what it wrote.
    let first = TracedTask {
        name: "first".to_owned(),
        activity: "first".to_owned(),
        start_s: Some(0.0),
        run_s: 10.0,
        traced: true,
        inputs: vec![TracedInput { from: NONE, read: vec![(1.0, 5e8), (2.0, 1e9)], streamed: false }],
        outputs: vec![TracedOutput { to: 1, written: vec![(5.0, 5e7), (10.0, 1e8)] }],
        written: Some(1e8),
        ..TracedTask::default()
    };
    let second = TracedTask {
        name: "second".to_owned(),
        activity: "second".to_owned(),
        start_s: Some(10.5),
        run_s: 1.0,
        traced: true,
        inputs: vec![TracedInput { from: 0, read: vec![(0.5, 5e7), (1.0, 1e8)], streamed: false }],
        ..TracedTask::default()
    };
    let run = TracedRun { name: "example".to_owned(), tasks: vec![first, second], makespan_s: Some(11.5), ..TracedRun::default() };
    let fitted = fit::fit(&[&run], &run, &Options::default())?;
    println!("{}", fitted.model.to_toml()?);
    for note in &fitted.notes {
        println!("# {note}");
    }
    println!("# finishes: {:?} s", fitted.model.check()?.predict()?.finish_s());
    Ok(())
}
