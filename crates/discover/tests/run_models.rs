//! Models of one run with names that try to be markup, formulas, paths and commands: every picture
//! is XML with all words within, every table has as many fields in each line, JSON can be read,
//! DOT's names stand in strings, and a second run gives the same.

mod common;

use flowmine_activity_log::{
    Declared, FileFlow, IoPhase, Loss, NONE, Operation, OperationKind, ProcessIo, ProcessRow, Processes, RunGraph, RunTask, TracedOperation,
};
use flowmine_discover::fold::Fold;
use flowmine_discover::io_profile::{Builder, Groups};
use flowmine_discover::{critical_path, fork_tree, pictures, run_dag};
use flowmine_draw::{dot, exchange, svg};
use proptest::prelude::*;

const NAMES: [&str; 8] = [
    "<script>alert(1)</script>",
    "\"]; evil [label=\"",
    "]]><!-- & \u{0}\u{1b}[2J",
    "=HYPERLINK(\"x\"),\r\n@y",
    "\u{202e}gpj.exe\u{2066}",
    "`rm -rf /`$(x)",
    "\\N\\G\\",
    "",
];

fn run(tasks: &[(usize, i64, i64)], flows: &[(usize, u32, u32)]) -> RunGraph {
    let name = |at: usize| NAMES[at % NAMES.len()].to_owned();
    let mut run = RunGraph { name: name(2), noun: "task", ..RunGraph::default() };
    for &(of, start, time) in tasks {
        run.tasks.push(RunTask {
            name: name(of),
            activity: name(of + 1),
            attempts: 1,
            started_ns: Some(start),
            finished_ns: start.checked_add(time),
            host: Some(name(of + 2)),
            job: Some(name(of + 3)),
            parents_known: true,
            failed: of == 1,
            ..RunTask::default()
        });
    }
    run.files = (0..NAMES.len()).map(|at| format!("/{}/{}", name(at + 1), name(at))).collect();
    for (version, &(file, writer, reader)) in flows.iter().enumerate() {
        run.flows.push(FileFlow {
            file: (file % NAMES.len()) as u32,
            version: version as u64,
            writer,
            reader,
            was_there: writer == NONE,
            written_bytes: i64::MAX,
            read_bytes: i64::MAX - 1,
            first_read_ns: Some(i64::MIN),
            last_read_ns: Some(i64::MAX),
            doubtful: version % 2 == 0,
            ..FileFlow::default()
        });
    }
    run.declared = vec![Declared { from: 0, to: 0, for_start: false }];
    run.losses = vec![Loss { host: name(2), from_ns: i64::MIN, to_ns: i64::MAX, count: 3 }];
    run
}

/// Rows of a table: each with the fields of the first.
fn fields(table: &str) {
    let mut rows = vec![1usize];
    let mut quoted = false;
    for c in table.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => *rows.last_mut().expect("one") += 1,
            '\n' if !quoted => rows.push(1),
            _ => {}
        }
    }
    assert!(!quoted && rows.pop() == Some(1), "{table:?}");
    assert!(rows.iter().all(|count| *count == rows[0]), "{rows:?} {table:?}");
}

fn written(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes all");
    String::from_utf8(out).expect("UTF-8")
}

fn json(text: &str) {
    let read: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
    assert!(read["format"].as_str().is_some_and(|format| format.starts_with("flowmine-")));
}

/// Draws and writes everything; gives what was said.
fn all(run: &RunGraph, processes: &Processes, operations: &[TracedOperation]) -> Vec<String> {
    let mut said = Vec::new();
    for fold in Fold::ALL {
        let found = run_dag::discover(run, &run_dag::Options { fold: Some(fold), ..run_dag::Options::default() });
        let graph = pictures::run_dag::graph(&found);
        let picture = svg::svg(&pictures::run_dag::picture(&found)).expect("it is a graph");
        let _ = common::check::picture(&picture);
        let dot = dot::dot(&graph).expect("it is a graph");
        assert!(!dot.contains("evil [label=\"\"") && dot.matches('\u{0}').count() == 0);
        let graphml = exchange::graphml(&graph).expect("it is a graph");
        let mut reader = quick_xml::Reader::from_str(&graphml);
        loop {
            if reader.read_event().expect("it is XML") == quick_xml::events::Event::Eof {
                break;
            }
        }
        let cytoscape = exchange::cytoscape(&graph).expect("it is a graph");
        let _: serde_json::Value = serde_json::from_str(&cytoscape).expect("it is JSON");
        let gml = exchange::gml(&graph).expect("it is a graph");
        assert!(gml.is_ascii());
        let text = pictures::run_dag::text(&found);
        assert!(!text.chars().any(|c| c != '\n' && flowmine_text::is_unsafe(c)), "{text:?}");
        let (nodes, edges) = (written(|out| pictures::run_dag::csv(&found, out)), written(|out| pictures::run_dag::edges_csv(&found, out)));
        fields(&nodes);
        fields(&edges);
        let whole = written(|out| pictures::run_dag::json(&found, out));
        json(&whole);
        said.extend([picture, dot, graphml, cytoscape, gml, text, nodes, edges, whole]);
    }
    let path = critical_path::discover(run, &critical_path::Options::default());
    let trace = written(|out| pictures::perfetto::critical_path(&path, out));
    let _: serde_json::Value = serde_json::from_str(&trace).expect("it is JSON");
    let tree = fork_tree::discover(processes, &fork_tree::Options::default());
    let _ = common::check::picture(&pictures::fork_tree::svg(&tree));
    let phases: Vec<Vec<IoPhase>> = processes
        .rows
        .iter()
        .map(|_| vec![IoPhase { from_ns: i64::MIN, to_ns: i64::MAX, write: true, bytes: i64::MAX, operations: 1, added_up: true }])
        .collect();
    let of_processes = written(|out| pictures::perfetto::processes((processes, &phases), out));
    let _: serde_json::Value = serde_json::from_str(&of_processes).expect("it is JSON");
    let groups = Groups {
        by: "program",
        names: processes.programs.clone(),
        of: processes.rows.iter().map(|row| row.program).collect(),
        whole: true,
        files: None,
    };
    let mut builder = Builder::new(processes, groups, Default::default());
    operations.iter().for_each(|operation| builder.add(operation));
    let profile = builder.finish(&run.files.iter().collect(), (1, 0));
    let _ = common::check::picture(&pictures::io_profile::svg(&profile));
    let text = pictures::io_profile::text(&profile);
    assert!(!text.chars().any(|c| c != '\n' && flowmine_text::is_unsafe(c)), "{text:?}");
    use pictures::io_profile::Table;
    for table in [
        Table::Operations,
        Table::Groups,
        Table::Distributions,
        Table::Files,
        Table::Processes,
        Table::Uses,
        Table::OverTime,
        Table::OverOffset,
        Table::Advice,
    ] {
        let table = written(|out| pictures::io_profile::csv(&profile, table, out));
        fields(&table);
        said.push(table);
    }
    let whole = written(|out| pictures::io_profile::json(&profile, out));
    json(&whole);
    said.extend([trace, of_processes, text, whole]);
    said
}

fn processes(of: &[(u32, usize, i64)]) -> Processes {
    let row = |&(parent, program, start): &(u32, usize, i64)| ProcessRow {
        host: 0,
        pid: i32::MAX,
        parent,
        program: (program % NAMES.len()) as u32,
        forked_only: false,
        was_running: false,
        owner: (program % NAMES.len()) as u32,
        started_ns: Some(start),
        ended_ns: (program % 3 > 0).then(|| start.saturating_add(5)),
        exit_code: None,
        exit_signal: Some(9),
        cpu_ns: None,
        io: ProcessIo { read_bytes: i64::MAX, written_bytes: i64::MAX, ..ProcessIo::default() },
    };
    Processes {
        hosts: [NAMES[0]].iter().collect(),
        programs: NAMES.iter().collect(),
        owners: NAMES.iter().collect(),
        rows: of.iter().map(row).collect(),
        lost: 1,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_names_and_numbers_are(
        tasks in prop::collection::vec((0usize..8, prop_oneof![0i64..100, any::<i64>()], 0i64..50), 1..8),
        flows in prop::collection::vec((0usize..8, prop_oneof![0u32..8, Just(NONE)], prop_oneof![0u32..8, Just(NONE)]), 0..12),
        rows in prop::collection::vec((prop_oneof![0u32..6, Just(NONE)], 0usize..8, prop_oneof![0i64..100, any::<i64>()]), 0..6),
        operations in prop::collection::vec((0u32..8, 0u32..8, 0usize..13, any::<i64>(), prop::option::of(any::<i64>()), prop::option::of(any::<i64>())), 0..12),
    ) {
        let count = tasks.len() as u32;
        let known = |at: u32| if at < count { at } else { NONE };
        let flows: Vec<(usize, u32, u32)> = flows.into_iter().map(|(file, writer, reader)| (file, known(writer), known(reader))).collect();
        let run = run(&tasks, &flows);
        let processes = processes(&rows);
        let operations: Vec<TracedOperation> = operations
            .into_iter()
            .map(|(process, file, kind, start_ns, end_ns, number)| TracedOperation::One(Operation {
                process: if (process as usize) < rows.len() { process } else { NONE },
                file: if file == 7 { NONE } else { file },
                kind: OperationKind::ALL[kind],
                start_ns,
                end_ns,
                offset: number,
                size: number,
                result: number,
            }))
            .collect();
        prop_assert_eq!(all(&run, &processes, &operations), all(&run, &processes, &operations));
    }
}
