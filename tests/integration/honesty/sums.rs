//! Sums of bytes: what the program gives without a word is the exact sum; what does not fit into 64
//! bits is given as the largest number, with a warning, and in the table `diagnostics`.

use std::path::Path;

use flowmine_dataset::{Builder, Dataset, Role};
use flowmine_schema::tables::{DiagnosticRow, IoEvent, IoTotal, Process, TaskTotal};
use flowmine_schema::time::{Day, SECOND_NS};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use super::queue::config;
use crate::support::flowmine;
use crate::support::traced::each;

const BEGIN_NS: i64 = 1_795_000_000 * SECOND_NS;
const HOST: &str = "n1";

/// What a process writes by one operation each, and what the kernel added up of its other writes.
type Writes = (Vec<i64>, Option<i64>);

/// Amounts of which few or many do not fit together.
fn amounts() -> impl Strategy<Value = i64> {
    prop_oneof![1..10_000i64, Just(i64::MAX / 2), i64::MAX - 3..=i64::MAX]
}

fn traced(path: &Path, of_processes: &[Writes]) {
    let (mut processes, mut events, mut totals) =
        (Builder::<Process<'static>>::new(), Builder::<IoEvent<'static>>::new(), Builder::<IoTotal<'static>>::new());
    for (pid, (writes, rest)) in (10..).zip(of_processes) {
        let process_start_ns = Some(i64::from(pid) * SECOND_NS);
        processes.push(&Process {
            host: HOST.into(),
            trace_ns: BEGIN_NS,
            pid,
            process_start_ns,
            start_precision_ns: Some(1),
            as_of_ns: BEGIN_NS + 50 * SECOND_NS,
            started_ns: Some(BEGIN_NS),
            exit_ns: Some(BEGIN_NS + 50 * SECOND_NS),
            ..Process::default()
        });
        for (at, bytes) in (1..).zip(writes) {
            events.push(&IoEvent {
                host: HOST.into(),
                trace_ns: BEGIN_NS,
                pid,
                process_start_ns,
                op: "write".into(),
                via: "call".into(),
                start_ns: BEGIN_NS + at * SECOND_NS,
                end_ns: Some(BEGIN_NS + at * SECOND_NS + 1000),
                device: Some(1),
                inode: Some(2),
                size: Some(*bytes),
                result: Some(*bytes),
                ..IoEvent::default()
            });
        }
        if let Some(bytes) = *rest {
            totals.push(&IoTotal {
                host: HOST.into(),
                trace_ns: BEGIN_NS,
                pid,
                process_start_ns,
                device: 1,
                inode: 3,
                first_ns: BEGIN_NS + SECOND_NS,
                last_ns: BEGIN_NS + 2 * SECOND_NS,
                write_calls: 1,
                write_bytes: bytes,
                ..IoTotal::default()
            });
        }
    }
    let dataset = Dataset::open_or_create(path).unwrap();
    let mut writer = dataset.writer(Role::Host(HOST.to_owned()), "a test").unwrap();
    let mut transaction = writer.begin().unwrap();
    let day = Day::new(BEGIN_NS);
    transaction.append_split(processes, HOST, day).unwrap();
    transaction.append_split(events, HOST, day).unwrap();
    transaction.append_split(totals, HOST, day).unwrap();
    transaction.commit().unwrap();
}

/// What a command wrote, and whether it warned of a sum.
fn run(arguments: &[&str], dataset: &Path) -> (Vec<u8>, bool) {
    let output = flowmine().args(arguments).arg("--dataset").arg(dataset).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?}: {said}");
    (output.stdout, said.contains("does not fit into 64 bits"))
}

#[test]
fn a_sum_is_exact_or_the_program_says_so() {
    let of_processes = prop::collection::vec((prop::collection::vec(amounts(), 1..3), prop::option::of(amounts())), 1..4);
    let mut runner = TestRunner::new(Config { cases: 16, ..config() });
    let checked = runner.run(&of_processes, |of_processes| {
        let dir = tempfile::tempdir().unwrap();
        let dataset = dir.path().join("dataset");
        traced(&dataset, &of_processes);
        let exact: i128 = of_processes.iter().flat_map(|(writes, rest)| writes.iter().chain(rest)).map(|&bytes| i128::from(bytes)).sum();
        let fits = exact < i128::from(i64::MAX);
        let held = exact.min(i128::from(i64::MAX));

        let (_, warned) = run(&["correlate"], &dataset);
        prop_assert_eq!(warned, !fits, "correlate of {}", exact);
        let (mut written, mut diagnosed) = (Vec::new(), Vec::new());
        each::<TaskTotal<'static>>(&dataset, |row| written.push(row.written_bytes));
        each::<DiagnosticRow<'static>>(&dataset, |row| diagnosed.push(row.code.to_string()));
        prop_assert_eq!(written.iter().map(|&bytes| i128::from(bytes)).max().unwrap_or(0), held);
        prop_assert_eq!(diagnosed.iter().any(|code| code == "sum_out_of_range"), !fits, "{:?}", diagnosed);

        let total = |json: &Value| json.pointer("/total/written_bytes").and_then(Value::as_i64).map(i128::from);
        let of_roots = |json: &Value| {
            let roots = json["nodes"].as_array()?.iter().filter(|node| node["parent"].is_null());
            roots.map(|node| node["all_written_bytes"].as_i64().map(i128::from)).sum()
        };
        type Given<'a> = &'a dyn Fn(&Value) -> Option<i128>;
        let models: [(&str, Given<'_>); 2] = [("io-profile", &total), ("fork-tree", &of_roots)];
        for (model, given) in models {
            let (json, warned) = run(&["discover", model, "--format", "json"], &dataset);
            let json: Value = serde_json::from_slice(&json).unwrap();
            prop_assert!(warned || given(&json) == Some(exact), "{}: not {}: {}", model, exact, json);
            prop_assert!(!fits || !warned, "{}: {} fits", model, exact);
        }
        Ok(())
    });
    checked.unwrap();
}
