//! Workflow Run RO-Crates in, rows and diagnostics out.

use std::fs;
use std::path::Path;

use flowmine_extract_workflow::ro_crate::RoCrate;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::time::rfc3339;
use serde_json::{Value, json};

fn read_file(path: &Path, options: &Options) -> (Vec<Row>, Vec<&'static str>) {
    let kind = RoCrate.recognise(path, &fs::read(path).unwrap()).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut sources =
        [Source { path: path.to_owned(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() }];
    let rows = RoCrate.read(&mut sources, options);
    (rows, sources[0].diagnostics.iter().map(|d| d.code).collect())
}

fn read(name: &str) -> (Vec<Row>, Vec<&'static str>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ro_crate").join(name);
    read_file(&path, &Options { zone_offset_s: Some(0), ..Options::default() })
}

fn read_graph(entities: Value) -> (Vec<Row>, Vec<&'static str>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ro-crate-metadata.json");
    fs::write(&path, json!({ "@context": "https://w3id.org/ro/crate/1.1/context", "@graph": entities }).to_string()).unwrap();
    read_file(&path, &Options::default())
}

#[test]
fn the_tools_of_a_run_wait_for_those_that_made_their_files() {
    let (rows, said) = read("provenance_0.5_cwl.json");
    assert_eq!(said, Vec::<&str>::new());
    let told: Vec<_> = rows.iter().map(|row| (&*row.logical_task, &*row.status, row.started_ns.map(rfc3339).unwrap())).collect();
    assert_eq!(rows.len(), 2);
    assert!(told.contains(&("revtool.cwl", "completed", "2018-10-25T15:46:35.314101Z".to_owned())), "{told:?}");
    let rev = rows.iter().find(|row| row.logical_task == "revtool.cwl").unwrap();
    let sort = rows.iter().find(|row| row.logical_task == "sorttool.cwl").unwrap();
    assert_eq!(rev.parents.as_deref(), Some("[]"));
    assert_eq!(sort.parents.as_deref(), Some(&*json!([rev.task_id.as_deref().unwrap()]).to_string()));
    assert_eq!(sort.started_precision_ns, Some(1000), "microseconds");
    assert!(rows.iter().all(|row| row.run_id == rows[0].run_id && row.run_id.is_some()));
}

#[test]
fn what_a_task_used_is_read_and_unknown_parents_are_null() {
    let (rows, _) = read("usage_nextflow.json");
    assert_eq!(rows.len(), 3);
    let split = rows.iter().find(|row| row.logical_task == "splitLetters").unwrap();
    assert_eq!((split.realtime_s, split.cpu_percent, split.rchar_bytes), (Some(0.005), Some(66.7), Some(145_813)));
    assert_eq!(split.peak_rss_bytes, None, "zero is what Nextflow did not measure");
    assert!(rows.iter().all(|row| row.parents.is_none()));
}

#[test]
fn a_run_without_its_tools_is_one_task_and_a_crate_without_a_run_is_refused() {
    let (rows, said) = read("workflow_only_0.5.json");
    assert_eq!((rows.len(), &said[..1]), (1, &["tasks_not_described"][..]));
    assert_eq!(rows[0].parents, None);
    let (rows, said) = read("data_only.json");
    assert_eq!((rows.len(), said), (0, vec!["crate_without_run"]));
}

#[test]
fn an_action_that_failed_or_has_no_id_or_no_zone() {
    let (rows, said) = read_graph(json!([
        { "@id": "#a", "@type": "CreateAction", "name": "a", "startTime": "2026-03-01T08:00:00", "endTime": "2026-03-01T08:00:05",
          "actionStatus": { "@id": "http://schema.org/FailedActionStatus" }, "error": "exit 3", "result": { "@id": "x" } },
        { "@id": "#b", "@type": ["CreateAction"], "name": "b", "object": { "@id": "x" }, "instrument": { "@id": "missing" } },
        { "@type": "CreateAction", "name": "c" },
        { "@id": "x", "@type": "File", "contentSize": "17" },
    ]));
    assert_eq!(said, ["action_without_id", "no_zone"]);
    assert_eq!((&*rows[0].status, rows[0].error.as_deref()), ("failed", Some("exit 3")));
    assert_eq!((rows[0].parents.as_deref(), rows[1].parents.as_deref()), (None, Some("[\"#a\"]")));
    assert_eq!((&*rows[1].logical_task, rows[1].inputs.as_deref()), ("missing", Some(r#"[{"bytes":17,"path":"x"}]"#)));
}

#[test]
fn long_names_and_many_makers_of_a_file_are_refused() {
    // The name of a tool is in the row of each of its tasks.
    let tool = json!({ "@id": "t", "name": "n".repeat(8 << 20) });
    let of = |tasks: usize| {
        let tasks = (0..tasks).map(|at| json!({ "@id": format!("#{at}"), "@type": "CreateAction", "instrument": { "@id": "t" } }));
        read_graph(std::iter::once(tool.clone()).chain(tasks).collect())
    };
    assert_eq!(of(40), (Vec::new(), vec!["too_much_repeated"]));
    assert_eq!(of(4).0.len(), 4);
    // Each of many tasks would have all others as its parents.
    let both = |at: usize| {
        let id = format!("#{at:0>1000}");
        json!({ "@id": id, "@type": "CreateAction", "result": { "@id": "x" }, "object": { "@id": "x" } })
    };
    assert_eq!(read_graph((0..600).map(both).collect()), (Vec::new(), vec!["too_much_repeated"]));
    assert_eq!(read_graph((0..60).map(both).collect()).0.len(), 60);
}

/// As WfExS-backend writes it: the run of the workflow, and the drawing of its diagram.
#[test]
fn the_action_of_a_tool_that_is_no_part_of_the_workflow_is_no_task() {
    let crate_of = |parts: Value| {
        read_graph(json!([
            { "@id": "main.nf", "@type": ["File", "ComputationalWorkflow"], "hasPart": parts },
            { "@id": "#align", "@type": "SoftwareApplication", "name": "align" },
            { "@id": "#backend", "@type": "SoftwareApplication", "name": "backend" },
            { "@id": "#run", "@type": "CreateAction", "instrument": { "@id": "main.nf" }, "startTime": "2026-01-02T00:00:00Z",
              "endTime": "2026-01-02T01:00:00Z", "actionStatus": { "@id": "http://schema.org/FailedActionStatus" } },
            { "@id": "#task", "@type": "CreateAction", "instrument": { "@id": "#align" } },
            { "@id": "#diagram", "@type": "CreateAction", "instrument": { "@id": "#backend" } }
        ]))
    };
    let ids =
        |rows: &[Row]| rows.iter().map(|row| (row.task_id.as_deref().unwrap().to_owned(), row.status.to_string())).collect::<Vec<_>>();
    let (rows, said) = crate_of(json!([{ "@id": "#align" }, { "@id": "#nowhere" }]));
    assert_eq!((ids(&rows), said), (vec![("#task".to_owned(), "completed".to_owned())], vec!["action_of_no_run"]));
    let (rows, said) = crate_of(json!([]));
    assert_eq!(ids(&rows), [("#run".to_owned(), "failed".to_owned())]);
    assert_eq!(said, ["action_of_no_run", "tasks_not_described"]);
}
