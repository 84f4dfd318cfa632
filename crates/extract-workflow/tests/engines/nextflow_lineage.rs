//! Nextflow's lineage store. The records have the form of the published examples: those of the
//! schema `lineage/v1beta1` (kind and specification), and those of Nextflow's documentation (25.04,
//! the type next to the content).

use std::fs;
use std::path::{Path, PathBuf};

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_extract_workflow::import_files::import_files;
use flowmine_extract_workflow::nextflow::Nextflow;
use flowmine_extract_workflow::{Engine, Options, Row};
use flowmine_schema::tables::TaskRun;
use serde_json::{Value, json};

const SESSION: &str = "07f90f21-844e-4b68-a36f-ba1de8340e44";
const RUN: &str = "49cdd59aeb45dde9bcdaecf488c1f442";
const INDEX: &str = "f2189a2c424c6ad40c8a334d4e90c93c";
const ALIGN: &str = "3cf7a0e35e88bf747ad1a3d4ec34ebc5";

fn record(store: &Path, key: &str, kind: &str, spec: Value, is_flat: bool) {
    let mut record = json!({ "version": "lineage/v1beta1" });
    if is_flat {
        record["type"] = kind.into();
        record.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    } else {
        record["kind"] = kind.into();
        record["spec"] = spec;
    }
    let dir = store.join(key);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join(".data.json"), serde_json::to_string_pretty(&record).unwrap()).unwrap();
}

fn work_dir(hash: &str) -> String {
    format!("/home/lab/work/{}/{}", &hash[..2], &hash[2..])
}

/// Makes a launch directory with the records of two tasks.
fn launch(root: &Path, is_flat: bool) -> PathBuf {
    let launch = root.join("launch");
    let store = launch.join(".lineage");
    let task = |name: &str, input: Value| {
        json!({
            "sessionId": SESSION, "name": name, "script": "\n    bwa\n    ", "input": input, "container": "bwa:1", "conda": null,
            "workflowRun": format!("lid://{RUN}"),
        })
    };
    let output = |hash: &str, name: &str, size: i64| json!({ "path": format!("{}/{name}", work_dir(hash)), "taskRun": format!("lid://{hash}"), "workflowRun": format!("lid://{RUN}"), "size": size });
    record(&store, RUN, "WorkflowRun", json!({ "sessionId": SESSION, "name": "voluminous_bardeen" }), is_flat);
    record(
        &store,
        INDEX,
        "TaskRun",
        task("INDEX (g)", json!([{ "type": "path", "name": "fasta", "value": [{ "path": "/data/g.fa" }] }])),
        is_flat,
    );
    record(&store, &format!("{INDEX}/out/index"), "FileOutput", output(INDEX, "out/index", 7), is_flat);
    let inputs = json!([
        { "type": "val", "name": "meta", "value": { "path": "no file" } },
        { "type": "path", "name": "index", "value": [format!("lid://{INDEX}/out/index/0.bin")] },
        { "type": "path", "name": "reads", "value": format!("lid://{INDEX}/out/index") },
    ]);
    record(&store, ALIGN, "TaskRun", task("S:ALIGN (a)", inputs), is_flat);
    record(&store, &format!("{ALIGN}/b.bam"), "FileOutput", output(ALIGN, "b.bam", 12), is_flat);
    record(&store, &format!("{ALIGN}/a.bai"), "FileOutput", output(ALIGN, "a.bai", 3), is_flat);
    launch
}

fn rows(dir: &Path, paths: &[PathBuf]) -> Vec<Row> {
    let dataset = Dataset::open_or_create(dir).unwrap();
    let options = Options { zone_offset_s: Some(0), year: Some(2026) };
    import_files(&dataset, &Nextflow, paths, &options).unwrap();
    let mut rows = Vec::new();
    let keep = |row: TaskRun<'_>| {
        rows.push(row.into_owned());
        Ok::<(), DatasetError>(())
    };
    dataset.read::<TaskRun<'static>, DatasetError>(keep).unwrap();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

#[test]
fn records_alone_have_names_files_and_parents() {
    for is_flat in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let launch = launch(root.path(), is_flat);
        let rows = rows(&root.path().join("dataset"), &Nextflow.find(&launch).unwrap());
        let [index, align] = &rows[..] else { panic!("{rows:?}") };
        assert_eq!((&*align.logical_task, align.tag.as_deref(), &*align.status), ("S:ALIGN", Some("a"), "unknown"));
        assert_eq!((align.run_id.as_deref(), align.run_name.as_deref()), (Some(SESSION), Some("voluminous_bardeen")));
        assert_eq!((align.cache_key.as_deref(), align.work_dir.as_deref()), (Some("3c/f7a0e3"), Some(&*work_dir(ALIGN))));
        assert_eq!((align.command.as_deref(), align.container_image.as_deref()), (Some("\n    bwa"), Some("bwa:1")));
        let made = format!("{}/out/index", work_dir(INDEX));
        let inputs = json!([{ "path": format!("{made}/0.bin") }, { "path": made, "bytes": 7 }]).to_string();
        assert_eq!(align.inputs.as_deref(), Some(&*inputs));
        let output = |name: &str, bytes: i64| json!({ "path": format!("{}/{name}", work_dir(ALIGN)), "bytes": bytes });
        assert_eq!(align.outputs.as_deref(), Some(&*json!([output("a.bai", 3), output("b.bam", 12)]).to_string()));
        assert_eq!(index.parents.as_deref(), Some("[]"));
        assert_eq!(align.parents.as_deref(), Some(&*json!([index.task_id.as_deref().unwrap()]).to_string()));
        assert_eq!((align.started_ns, align.exit_code), (None, None));
    }
}

#[test]
fn records_join_the_log_and_a_lost_maker_is_unknown() {
    let root = tempfile::tempdir().unwrap();
    let launch = launch(root.path(), false);
    let log = |second: u32, text: &str| format!("Jul-10 10:00:{second:02}.000 {text}\n");
    let done = |id: u32, name: &str, hash: &str| {
        format!(
            "[Task monitor] DEBUG n.processor.TaskPollingMonitor - Task completed > TaskHandler[id: {id}; name: {name}; status: COMPLETED; exit: 0; error: -; workDir: {}]",
            work_dir(hash)
        )
    };
    let text = [
        log(0, "[main] DEBUG nextflow.cli.Launcher - $> nextflow run main.nf"),
        log(0, &format!("[main] DEBUG nextflow.Session - Session UUID: {SESSION}")),
        log(0, "[main] DEBUG nextflow.Session - Run name: voluminous_bardeen"),
        log(1, &format!("[Task submitter] INFO  nextflow.Session - [{}/{}] Submitted process > INDEX (g)", &INDEX[..2], &INDEX[2..8])),
        log(4, &done(1, "INDEX (g)", INDEX)),
        log(5, &format!("[Task submitter] INFO  nextflow.Session - [{}/{}] Submitted process > S:ALIGN (a)", &ALIGN[..2], &ALIGN[2..8])),
        log(9, &done(2, "S:ALIGN (a)", ALIGN)),
        log(9, "[main] DEBUG nextflow.script.ScriptRunner - > Execution complete -- Goodbye"),
    ];
    fs::write(launch.join(".nextflow.log"), text.concat()).unwrap();
    let known = rows(&root.path().join("dataset"), &Nextflow.find(&launch).unwrap());
    let [index, align] = &known[..] else { panic!("{known:?}") };
    assert_eq!((&*index.status, &*align.status, align.exit_code), ("completed", "completed", Some(0)));
    assert_eq!((index.parents.as_deref(), align.parents.as_deref()), (Some("[]"), Some("[\"1\"]")));
    assert_eq!(align.source, ".nextflow.log");

    // Without the record of its maker an input stays a link; the log still knows the task.
    fs::remove_dir_all(launch.join(".lineage").join(INDEX)).unwrap();
    let linked = rows(&root.path().join("linked"), &Nextflow.find(&launch).unwrap());
    assert_eq!(linked[1].inputs.as_deref().unwrap().matches("lid://").count(), 2);
    assert_eq!((linked[0].parents.as_deref(), linked[1].parents.as_deref()), (None, Some("[\"1\"]")));
    fs::remove_file(launch.join(".nextflow.log")).unwrap();
    let alone = rows(&root.path().join("alone"), &Nextflow.find(&launch).unwrap());
    assert_eq!((alone.len(), alone[0].parents.as_deref()), (1, None));
}

/// `storeDir` and `publishDir` put files elsewhere than in the task's own directory.
#[test]
fn a_file_outside_of_work_directories_has_the_maker_that_its_link_names() {
    let dir = tempfile::tempdir().unwrap();
    let launch = launch(dir.path(), false);
    let store = launch.join(".lineage");
    let elsewhere = json!({ "path": "/store/index", "taskRun": format!("lid://{INDEX}"), "size": 7 });
    record(&store, &format!("{INDEX}/out/index"), "FileOutput", elsewhere, false);
    let rows = rows(&dir.path().join("dataset"), &[launch]);
    assert_eq!((rows[0].task_id.as_deref(), rows[0].parents.as_deref()), (Some("f2/189a2c"), Some("[]")));
    assert_eq!(rows[1].parents.as_deref(), Some("[\"f2/189a2c\"]"));
    assert!(rows[1].inputs.as_deref().unwrap().contains("/store/index/0.bin"), "{:?}", rows[1].inputs);
}
