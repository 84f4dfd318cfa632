//! Models fitted to runs of which the truth is known.

use flowmine_activity_log::{Curve, NONE, TracedInput, TracedOutput, TracedRun, TracedTask};
use flowmine_predict::fit::{self, Fitted, Link, Options, Pace, Start};
use flowmine_predict::model::{Model, When};

/// Evenly from one share of the work to another, in steps.
fn evenly(bytes: f64, run_s: f64, from: f64, to: f64) -> Curve {
    (1..=500).map(|n| (run_s * (from + (to - from) * f64::from(n) / 500.0), bytes * f64::from(n) / 500.0)).collect()
}

/// A transfer, a task that reads all in the first fifth of its work, one that reads as it goes, and
/// one that reads both results.
fn run(name: &str, bytes: f64, scale: f64) -> TracedRun {
    let mut at = 0.0;
    let mut task = |name: &str, run_s: f64, cpu: f64, inputs: Vec<TracedInput>, outputs: Vec<TracedOutput>| {
        let written = Some(outputs.iter().map(|output| output.written.last().unwrap().1).sum());
        let start_s = Some(at);
        at += run_s;
        TracedTask {
            name: name.to_owned(),
            activity: name.to_owned(),
            start_s,
            run_s,
            host: Some("n1".to_owned()),
            traced: true,
            inputs,
            outputs,
            written,
            cpu_s: vec![(0.0, 0.0), (run_s, cpu * run_s)],
            ..TracedTask::default()
        }
    };
    let input = |from, read| TracedInput { from, read, streamed: false };
    let output = |to, written| TracedOutput { to, written };
    let (get, all, flow, join) = (10.0 * scale, 5.0 * scale + 1.0, 2.0 * scale, scale);
    let tasks = vec![
        task("get 1", get, 0.02, vec![], vec![output(1, evenly(bytes, get, 0.0, 1.0))]),
        task("all", all, 0.95, vec![input(0, evenly(bytes, all, 0.0, 0.2))], vec![output(4, evenly(bytes / 10.0, all, 0.2, 1.0))]),
        task("get 2", get, 0.02, vec![], vec![output(3, evenly(bytes, get, 0.0, 1.0))]),
        task("flow", flow, 0.6, vec![input(2, evenly(bytes, flow, 0.0, 1.0))], vec![output(4, evenly(bytes, flow, 0.0, 1.0))]),
        task(
            "join",
            join,
            0.9,
            vec![input(1, evenly(bytes / 10.0, join, 0.0, 0.5)), input(3, evenly(bytes, join, 0.5, 1.0))],
            vec![output(NONE, evenly(bytes * 1.1, join, 0.5, 1.0))],
        ),
    ];
    let makespan_s = Some(tasks.iter().map(|task| task.run_s).sum());
    TracedRun { name: name.to_owned(), tasks, makespan_s, processors: vec![("n1".to_owned(), 4)], ..TracedRun::default() }
}

fn finish(model: &Model) -> f64 {
    model.check().unwrap().predict().unwrap().finish_s().unwrap()
}

fn fitted(runs: &[&TracedRun], target: &TracedRun, options: &Options) -> Fitted {
    fit::fit(runs, target, options).unwrap()
}

#[test]
fn a_run_is_predicted_as_it_was() {
    let run = run("one", 1e9, 1.0);
    let fitted = fitted(&[&run], &run, &Options::default());
    assert!((finish(&fitted.model) - fitted.observed_s.unwrap()).abs() < 1e-6, "{}", finish(&fitted.model));
    let of = |name: &str| fitted.learnt.iter().find(|of| of.name == name).unwrap();
    assert!(of("all").inputs[0].is_burst() && !of("flow").inputs[0].is_burst());
    assert!(of("flow").inputs[0].shape.error < 0.01 && of("flow").inputs[0].shape.knots.len() == 2);
    assert!(fitted.notes.is_empty(), "{:?}", fitted.notes);
}

#[test]
fn the_workflow_that_was_never_seen_together_is_predicted() {
    // Alone one after the other; together on one link, streaming, as the paper's evaluation.
    let run = run("one", 1e9, 1.0);
    let share = vec![Link { name: "link".to_owned(), tasks: vec!["get 1".to_owned(), "get 2".to_owned()] }];
    let options = Options { start: Start::Ready, stream: ["all", "flow"].map(str::to_owned).to_vec(), share, ..Options::default() };
    let mut model = fitted(&[&run], &run, &options).model;
    let when = |at: usize| model.processes[at].data[0].from.as_ref().unwrap().when;
    assert_eq!([when(1), when(3), when(4)], [When::Streaming, When::Streaming, When::Complete]);
    for part in [0.5, 0.7, 0.9] {
        for (at, part) in [(0, part), (2, 1.0 - part)] {
            model.processes[at].resources[0].weight = Some(part);
        }
        // The first transfer takes 10 s of the link at its part; `all` has 4.8 s of work after the last byte (a fifth of 6 s before); both
        // transfers take 20 s. `join` waits for both and takes one more.
        let expected = f64::max(10.0 / part + 4.8, 20.0) + 1.0;
        assert!((finish(&model) - expected).abs() < 0.03, "{part}: {} {expected}", finish(&model));
    }
}

#[test]
fn two_sizes_tell_what_is_fixed_and_predict_a_third() {
    let (small, large, third) = (run("small", 1e9, 1.0), run("large", 4e9, 4.0), run("third", 2e9, 2.0));
    let of = fitted(&[&small, &large], &third, &Options::default());
    let predicted = finish(&of.model);
    let expected = third.makespan_s.unwrap();
    assert!((predicted - expected).abs() < 0.01 * expected, "{predicted} {expected}");
    let all = of.learnt.iter().find(|of| of.name == "all").unwrap();
    assert!((all.work.fixed - 1.0).abs() < 1e-6 && (all.work.per_byte - 5e-9).abs() < 1e-15 && !all.work.one_size);
    let twice = fitted(&[&small], &small, &Options { inputs_times: 2.0, ..Options::default() });
    assert!(twice.notes.iter().any(|note| note.contains("second size")), "{:?}", twice.notes);
}

#[test]
fn more_tasks_than_processors_take_turns() {
    let mut run = run("one", 1e9, 1.0);
    run.processors = vec![("n1".to_owned(), 1)];
    run.tasks = ["a", "b"]
        .map(|name| TracedTask { name: name.to_owned(), start_s: Some(0.0), inputs: vec![], outputs: vec![], ..run.tasks[1].clone() })
        .to_vec();
    let of = fitted(&[&run], &run, &Options::default());
    // Each has 5.7 CPU seconds in its six; together they need 11.4 of one processor.
    assert!((finish(&of.model) - 11.4).abs() < 0.01, "{}", finish(&of.model));
}

/// Time beyond CPU, reads and writes in which threads were ready to run is contention, and holds the
/// task up where it is more than a third of the time in which they wanted a processor.
#[test]
fn waiting_for_a_processor_is_no_time_elsewhere() {
    let run_s = 10.0;
    let mut run = run("one", 1e9, 1.0);
    let shares = |cpu: f64, files: f64, delay: Option<f64>| TracedTask {
        start_s: Some(0.0),
        run_s,
        inputs: vec![],
        outputs: vec![],
        cpu_s: vec![(0.0, 0.0), (run_s, cpu * run_s)],
        io_s: vec![(0.0, 0.0), (run_s, files * run_s)],
        run_delay_s: delay.map_or_else(Curve::new, |delay| vec![(0.0, 0.0), (run_s, delay * run_s)]),
        ..run.tasks[1].clone()
    };
    let cases = [
        ("two on one", shares(0.5, 0.0, Some(0.5)), Pace::Queue),
        ("three on one", shares(0.33, 0.0, Some(0.67)), Pace::Queue),
        ("not recorded", shares(0.33, 0.0, None), Pace::Elsewhere),
        ("alone", shares(0.9, 0.0, Some(0.1)), Pace::Cpu),
        // Neither its CPU time nor its waiting is most of it, but both together are.
        ("wants a processor", shares(0.35, 0.0, Some(0.25)), Pace::Queue),
        ("asleep", shares(0.1, 0.0, Some(0.2)), Pace::Elsewhere),
        ("reads", shares(0.1, 0.7, Some(0.2)), Pace::Files),
        // All its time is explained by what its other threads do meanwhile.
        ("many threads", shares(2.0, 0.0, Some(6.0)), Pace::Cpu),
    ];
    let paces = cases.map(|(name, task, pace)| {
        run.tasks.push(TracedTask { name: name.to_owned(), activity: name.to_owned(), ..task });
        (name, pace)
    });
    run.tasks.drain(..5);
    run.processors = vec![("n1".to_owned(), 64)];
    let of = fitted(&[&run], &run, &Options::default());
    for (name, pace) in paces {
        let learnt = of.learnt.iter().find(|learnt| learnt.name == name).unwrap();
        assert_eq!(learnt.paces, [(0.0, pace)], "{name}");
        let process = of.model.processes.iter().find(|process| process.name == name).unwrap();
        assert_eq!(process.resources[0].name, pace.name(), "{name}");
    }
    assert_eq!(Pace::Queue.name(), "waiting for a processor");
    assert!((finish(&of.model) - run_s).abs() < 1e-6, "{}", finish(&of.model));
}

#[test]
fn what_was_not_traced_gives_a_coarse_model_that_says_so() {
    let task = |name: &str, after: Vec<u32>, run_s: f64| TracedTask {
        name: name.to_owned(),
        activity: "step".to_owned(),
        run_s,
        after,
        inputs: vec![TracedInput { from: NONE, read: vec![(0.0, 5e8)], streamed: false }],
        ..TracedTask::default()
    };
    let run = TracedRun {
        name: "told".to_owned(),
        tasks: vec![task("a", vec![], 10.0), task("b", vec![0], 20.0), task("c", vec![0], 30.0)],
        makespan_s: Some(45.0),
        ..TracedRun::default()
    };
    let of = fitted(&[&run], &run, &Options::default());
    assert!(of.notes.iter().any(|note| note.starts_with("coarse: of all tasks")), "{:?}", of.notes);
    // All instances of a logical task with the same input work as long: 20 s, twice.
    assert!((finish(&of.model) - 40.0).abs() < 1e-6);
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let run = run("one", 1e9, 1.0);
    let no = |options: &Options| fit::fit(&[&run], &run, options).unwrap_err().to_string();
    let link = |task: &str| Link { name: "link".to_owned(), tasks: vec![task.to_owned()] };
    assert!(no(&Options { share: vec![link("nobody")], ..Options::default() }).contains("no task \"nobody\""));
    assert!(no(&Options { stream: vec!["nobody".to_owned()], ..Options::default() }).starts_with("stream:"));
    assert!(no(&Options { inputs_times: 0.0, ..Options::default() }).contains("above zero"));
    let empty = TracedRun { name: "empty".to_owned(), ..TracedRun::default() };
    assert!(fit::fit(&[], &empty, &Options::default()).unwrap_err().to_string().contains("there is nothing to fit"));
}
