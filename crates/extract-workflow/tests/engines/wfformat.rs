//! WfFormat instances in, rows and diagnostics out.

use std::fs;
use std::path::Path;

use flowmine_extract_workflow::wfformat::WfFormat;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::time::rfc3339;
use serde_json::{Value, json};

fn read(name: &str, options: &Options) -> (Vec<Row>, Vec<&'static str>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wfformat").join(name);
    let (rows, said) = read_file(&path, options);
    (rows, said.iter().map(|d| d.code).collect())
}

fn read_file(path: &Path, options: &Options) -> (Vec<Row>, Diagnostics) {
    let kind = WfFormat.recognise(path, &fs::read(path).unwrap()).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut sources =
        [Source { path: path.to_owned(), name, kind, sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() }];
    let rows = WfFormat.read(&mut sources, options);
    (rows, std::mem::take(&mut sources[0].diagnostics))
}

type Parents = Vec<(String, Option<Vec<String>>)>;

/// Parents by task, and what is said: code and message.
fn read_tasks(version: &str, workflow: &Value) -> (Parents, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("instance.json");
    fs::write(&path, json!({ "name": "made", "schemaVersion": version, "workflow": workflow }).to_string()).unwrap();
    let (rows, said) = read_file(&path, &Options::default());
    let parents = |row: &Row| row.parents.as_deref().map(|list| serde_json::from_str(list).unwrap());
    let rows = rows.iter().map(|row| (row.task_id.as_deref().unwrap().to_owned(), parents(row))).collect();
    (rows, said.iter().map(|d| format!("{} {}", d.code, d.message)).collect())
}

fn parents_of<'r>(rows: &'r [(String, Option<Vec<String>>)], task: &str) -> Option<Vec<&'r str>> {
    rows.iter().find(|(id, _)| id == task).unwrap().1.as_ref().map(|list| list.iter().map(String::as_str).collect())
}

/// A task of 1.4: id, name, parents, files that it reads and writes.
fn flat(id: &str, name: &str, parents: &[&str], reads: &[&str], writes: &[&str]) -> Value {
    let file = |link: &'static str| move |name: &&str| json!({ "link": link, "name": name, "sizeInBytes": 1 });
    let files: Vec<Value> = reads.iter().map(file("input")).chain(writes.iter().map(file("output"))).collect();
    json!({ "id": id, "name": name, "type": "compute", "parents": parents, "files": files, "runtimeInSeconds": 1 })
}

#[test]
fn a_name_that_several_tasks_share_is_decided_by_files_then_by_lists_of_children() {
    let mut tasks = vec![
        flat("1", "fetch", &[], &["in"], &["a/x"]),
        flat("2", "fetch", &[], &["in"], &["b/x"]),
        flat("3", "align", &["fetch"], &["a/x"], &["a/y", "log"]),
        flat("4", "align", &["fetch", "fetch"], &["b/x"], &["b/y", "log"]),
        flat("5", "merge", &["align"], &["a/y", "b/y"], &["y"]),
        flat("6", "told by children", &["fetch"], &["y"], &[]),
        // Both write this file, which says nothing.
        flat("7", "ambiguous", &["merge", "align"], &["y", "log"], &[]),
        flat("8", "1", &[], &[], &["z"]),
        flat("9", "a name that is an id", &["1"], &["z"], &[]),
        flat("10", "by id", &["3"], &[], &[]),
        flat("11", "align", &["align"], &["a/y"], &["c/y"]),
        flat("12", "itself", &["itself", "gone", "merge"], &[], &[]),
    ];
    tasks[1]["children"] = json!(["told by children", "align"]);
    let (rows, said) = read_tasks("1.4", &json!({ "tasks": tasks }));
    let parents = |task| parents_of(&rows, task);
    // Taking the last task of a name gives 2, 2, 11, 2, 11, 8 where there are 1, 2, 3 and 4, 2, nothing, 8.
    assert_eq!((parents("3"), parents("4"), parents("5")), (Some(vec!["1"]), Some(vec!["2"]), Some(vec!["3", "4"])));
    assert_eq!((parents("6"), parents("7")), (Some(vec!["2"]), None), "what nothing tells is not known");
    assert_eq!((parents("9"), parents("10"), parents("11")), (Some(vec!["8"]), Some(vec!["3"]), Some(vec!["3"])));
    assert_eq!(parents("12"), Some(vec!["5", "gone"]), "what is told of a task that is not there stays");
    assert_eq!(
        said,
        [
            "parent_ambiguous the parents of task 7 (\"7\") are not known: \"align\" can be any of 3 tasks, and neither files nor lists of children decide",
            "parent_is_itself task 12 (\"12\") names itself as its parent, which is left out",
            "parent_unknown task 12 (\"12\") has a parent that is not in the instance: \"gone\"",
        ]
    );
}

#[test]
fn texts_that_are_repeated_are_bounded() {
    let mut tasks: Vec<Value> = (0..300).map(|n| flat(&n.to_string(), "a", &[], &[], &[])).collect();
    tasks.iter_mut().for_each(|task| task["machine"] = json!("w"));
    let machines = json!([{ "nodeName": "w", "release": "x".repeat(1 << 20) }]);
    let (rows, said) = read_tasks("1.4", &json!({ "tasks": tasks, "machines": machines }));
    assert!(rows.is_empty() && said[0].starts_with("too_much_repeated"), "{said:?}");
}

#[test]
fn many_references_to_many_tasks_of_a_name_are_read_at_once() {
    // Three tasks of each of 20,000 names, and one that waits for all names and reads a file of each first one.
    let name = |n: usize| format!("n{n}");
    let mut tasks: Vec<Value> =
        (0..60_000).map(|n| flat(&n.to_string(), &name(n % 20_000), &[], &[], &[format!("f{n}").as_str()])).collect();
    let (parents, reads): (Vec<String>, Vec<String>) = (0..20_000).map(|n| (name(n), format!("f{n}"))).unzip();
    let refs = |texts: &[String]| texts.iter().map(|text| json!(text)).collect::<Vec<_>>();
    let files: Vec<Value> = reads.iter().map(|name| json!({ "link": "input", "name": name, "sizeInBytes": 1 })).collect();
    tasks.push(json!({ "id": "last", "name": "last", "parents": refs(&parents), "files": files }));
    let (rows, said) = read_tasks("1.4", &json!({ "tasks": tasks }));
    let expected: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    assert_eq!(parents_of(&rows, "last").unwrap(), expected);
    assert!(said.is_empty(), "{:?}", &said[..1]);
}

#[test]
fn tasks_without_ids_are_told_apart() {
    let mut tasks = vec![flat("", "a", &[], &[], &["1"]), flat("", "a", &[], &[], &["2"]), flat("", "b", &["a"], &["2"], &[])];
    tasks.iter_mut().for_each(|task| drop(task.as_object_mut().unwrap().remove("id")));
    let (rows, said) = read_tasks("1.4", &json!({ "tasks": tasks }));
    assert_eq!(rows.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a_0", "a_1", "b"]);
    assert_eq!(parents_of(&rows, "b"), Some(vec!["a_1"]));
    assert!(said.len() == 1 && said[0].starts_with("task_without_id a task has no id"), "{said:?}");
}

#[test]
fn lists_that_contradict_each_other_and_tasks_without_a_counterpart_are_said() {
    let task = |id: &str, parents: &[&str], children: &[&str]| json!({ "id": id, "name": id, "parents": parents, "children": children });
    let specified = [
        task("a", &[], &["b", "gone"]),
        task("b", &[], &["c"]),
        task("c", &["b", "a"], &["c"]),
        task("twice", &["a"], &[]),
        task("twice", &["b"], &[]),
        task("idle", &["c"], &[]),
    ];
    let ran: Vec<Value> = ["a", "b", "c", "twice", "strange"].iter().map(|id| json!({ "id": id, "runtimeInSeconds": 1 })).collect();
    let (rows, said) = read_tasks("1.5", &json!({ "specification": { "tasks": specified }, "execution": { "tasks": ran } }));
    assert_eq!(parents_of(&rows, "b"), Some(vec!["a"]), "one end tells it");
    assert_eq!(parents_of(&rows, "c"), Some(vec!["b", "a"]));
    assert_eq!((parents_of(&rows, "twice"), parents_of(&rows, "strange")), (None, None));
    let codes: Vec<&str> = said.iter().map(|said| said.split(' ').next().unwrap()).collect();
    let expected = [
        "task_id_twice",
        "child_unknown",
        "parent_is_itself",
        "parents_and_children_differ",
        "parents_and_children_differ",
        "parents_and_children_differ",
        "parents_and_children_differ",
        "parents_and_children_differ",
        "task_not_specified",
        "task_did_not_run",
    ];
    assert_eq!(codes, expected, "{said:#?}");
    assert!(said[3].ends_with("that task 2 (\"b\") waits for task 1 (\"a\") is told by only the parent"), "{said:#?}");
}

#[test]
fn machines_and_makespan() {
    let machine = json!({ "nodeName": "w1", "system": "linux", "architecture": "x86_64", "release": "5.4", "memoryInBytes": 1024,
        "cpu": { "count": 24, "speed": 2300, "vendor": "GenuineIntel" } });
    let mut tasks = vec![flat("1", "a", &[], &[], &[]), flat("2", "b", &[], &[], &[])];
    tasks[0]["machine"] = json!("w1");
    (tasks[1]["machine"], tasks[1]["priority"], tasks[1]["cores"]) = (json!("w2"), json!(20), json!(1.5));
    let workflow =
        json!({ "makespanInSeconds": 3.5, "executedAt": "20200101T000000Z", "tasks": tasks, "machines": [machine, { "nodeName": "w3" }] });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("instance.json");
    fs::write(&path, json!({ "name": "made", "schemaVersion": "1.4", "workflow": workflow }).to_string()).unwrap();
    let (rows, said) = read_file(&path, &Options::default());
    let told: Value = serde_json::from_str(rows[0].machines.as_deref().unwrap()).unwrap();
    let expected = json!([{ "name": "w1", "cpus": 24, "cpu_mhz": 2300, "cpu_vendor": "GenuineIntel", "memory_bytes": 1024,
        "system": "linux", "architecture": "x86_64", "release": "5.4" }]);
    assert_eq!((told, rows[1].machines.as_deref(), rows[1].host.as_deref()), (expected, None, Some("w2")));
    assert!(rows.iter().all(|row| row.run_makespan_s == Some(3.5)));
    let said: Vec<_> = said.iter().map(|d| (d.code, d.message.as_str(), d.count)).collect();
    let left = "what the table has no column for is left out: 1 coreCount (a part of a core), 1 machines (no task names them), 1 priority";
    assert_eq!(said, [("values_left_out", left, 1)]);
}

#[test]
fn times_without_a_zone_are_in_that_of_the_options() {
    let (_, said) = read("times_and_bytes_1.6.json", &Options::default());
    assert_eq!(said, ["task_without_name", "no_zone"]);
    let (rows, said) = read("times_and_bytes_1.6.json", &Options { zone_offset_s: Some(3600), ..Options::default() });
    assert_eq!(said, ["task_without_name"]);
    assert_eq!(rows[1].started_ns.map(rfc3339).as_deref(), Some("2026-08-04T14:20:04.500Z"));
}

mod hostile {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Puts something else in the place of the n-th value.
    fn replace(value: &mut Value, n: &mut usize, with: &Value) {
        if *n == 0 {
            *value = with.clone();
        }
        *n = n.wrapping_sub(1);
        match value {
            Value::Array(inside) => inside.iter_mut().for_each(|value| replace(value, n, with)),
            Value::Object(inside) => inside.iter_mut().for_each(|(_, value)| replace(value, n, with)),
            _ => {}
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn decoding_never_panics(flat in any::<bool>(), places in proptest::collection::vec(0..70_usize, 0..4), which in 0..9_usize) {
            let with = ["null", "[]", "{}", "-1", "1e300", "9223372036854775807", "\"\"", "\"9999-99-99T00:00:00\"", "[[1], {\"name\": 2}]"][which];
            let with: Value = serde_json::from_str(with).unwrap();
            let name = if flat { "flat_1.4.json" } else { "times_and_bytes_1.6.json" };
            let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wfformat").join(name)).unwrap();
            let mut instance: Value = serde_json::from_str(&text).unwrap();
            for mut place in places {
                replace(&mut instance, &mut place, &with);
            }
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(name);
            fs::write(&path, instance.to_string()).unwrap();
            let mut sources = [Source { path, name: name.to_owned(), kind: "WfFormat instance", sha256: String::new(), rows: 0, joined: 0, diagnostics: Diagnostics::default() }];
            for row in WfFormat.read(&mut sources, &Options::default()) {
                prop_assert!(row.task_id.is_some() && row.realtime_s.is_none_or(|seconds| seconds >= 0.0));
            }
        }
    }
}

/// Values that are none of their property are null, and that is said once for each property.
#[test]
fn values_that_cannot_be_are_said() {
    let bad = [
        ("runtimeInSeconds", json!(-5)),
        ("runtimeInSeconds", json!(1e300)),
        ("runtimeInSeconds", json!(99_999_999_999_u64)),
        ("runtimeInSeconds", json!("4.25")),
        ("executedAt", json!("2026-08-04")),
        ("executedAt", json!("yesterday")),
        ("executedAt", json!(1_754_300_000)),
        ("executedAt", json!("2026-08-04T10:00:00+25:00")),
        ("executedAt", json!("9999-08-04T10:00:00Z")),
        ("readBytes", json!(-5)),
        ("writtenBytes", json!(1_u64 << 63)),
        ("memoryInBytes", json!("1 GB")),
        ("avgCPU", json!(-1)),
    ];
    for (property, value) in bad {
        let mut task = json!({ "id": "1", "name": "a", "parents": [], "children": [], "files": [] });
        task[property] = value.clone();
        let (_, said) = read_tasks("1.4", &json!({ "tasks": [task, { "id": "2", "name": "b", "parents": [], "children": [] }] }));
        let found: Vec<&String> = said.iter().filter(|said| said.starts_with("value_bad") && said.contains(property)).collect();
        assert_eq!(found.len(), 1, "{property} {value}: {said:?}");
    }
    let file = json!([{ "name": "x", "sizeInBytes": -1, "link": "input" }]);
    let (_, said) = read_tasks("1.4", &json!({ "makespanInSeconds": "long", "tasks": [{ "id": "1", "name": "a", "files": file }] }));
    assert!(said.iter().filter(|said| said.starts_with("value_bad")).count() == 2, "{said:?}");
}
