//! WfFormat instances in, rows and diagnostics out.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fs;
use std::path::Path;

use flowmine_extract_workflow::wfformat::WfFormat;
use flowmine_extract_workflow::{Engine, Options, Row, Source};
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::time::rfc3339;

fn read(name: &str, options: &Options) -> (Vec<Row>, Vec<&'static str>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wfformat").join(name);
    let kind = WfFormat.recognise(&path, &fs::read(&path).unwrap()).unwrap();
    let mut sources = [Source { path, name: name.to_owned(), kind, rows: 0, diagnostics: Diagnostics::default() }];
    let rows = WfFormat.read(&mut sources, options);
    (rows, sources[0].diagnostics.iter().map(|d| d.code).collect())
}

#[test]
fn specification_and_execution() {
    let (rows, said) = read("times_and_bytes_1.6.json", &Options::default());
    assert_eq!((rows.len(), said), (2, vec!["task_without_name", "no_zone"]));
    let split = &rows[0];
    assert_eq!(
        (split.task_id.as_deref(), split.logical_task.as_ref(), split.command.as_deref()),
        (Some("ID0000001"), "split", Some("split -n 2"))
    );
    assert_eq!((split.read_bytes, split.write_bytes, split.peak_rss_bytes, split.cpus), (Some(1024), Some(512), Some(4 << 20), Some(1)));
    assert_eq!((split.realtime_s, split.cpu_percent, split.host.as_deref()), (Some(4.25), Some(93.78), Some("node01")));
    assert_eq!((split.inputs.as_deref(), split.parents.as_deref()), (Some(r#"[{"bytes":1024,"path":"in.txt"}]"#), Some("[]")));
    assert_eq!(split.started_ns.map(rfc3339).as_deref(), Some("2026-08-04T23:20:00Z"));
    assert_eq!(split.finished_ns.map(rfc3339).as_deref(), Some("2026-08-04T23:20:04.250Z"));
    assert_eq!((split.started_precision_ns, split.status.as_ref()), (Some(1_000_000_000), "unknown"));
    let analyze = &rows[1];
    assert_eq!((analyze.command.as_deref(), analyze.host.as_deref()), (Some("./analyze chunk.txt"), None));
    assert_eq!(analyze.parents.as_deref(), Some(r#"["ID0000001"]"#));
    assert_eq!(analyze.inputs.as_deref(), Some(r#"[{"bytes":512,"path":"chunk.txt"},{"path":"unlisted"}]"#));
    assert_eq!(analyze.started_precision_ns, Some(50_400_001_000_000));
    let (rows, said) = read("times_and_bytes_1.6.json", &Options { zone_offset_s: Some(3600), ..Options::default() });
    assert_eq!(said, ["task_without_name"]);
    assert_eq!(rows[1].started_ns.map(rfc3339).as_deref(), Some("2026-08-04T14:20:04.500Z"));
}

#[test]
fn one_object_a_task() {
    let (rows, said) = read("flat_1.4.json", &Options::default());
    assert_eq!((rows.len(), said), (2, vec![]));
    assert_eq!((rows[0].logical_task.as_ref(), rows[1].logical_task.as_ref()), ("blastall", "cat"));
    assert_eq!((rows[0].cpus, rows[0].host.as_deref(), rows[0].read_bytes), (Some(2), Some("w1"), Some(46_000)));
    assert_eq!(rows[0].inputs.as_deref(), Some(r#"[{"bytes":7,"path":"/db/nt"}]"#));
    assert_eq!(rows[0].outputs.as_deref(), Some(r#"[{"bytes":9,"path":"out"}]"#));
    assert_eq!(rows[1].parents.as_deref(), Some(r#"["ID000001"]"#), "by id, as told by name");
    assert_eq!((rows[1].inputs.as_deref(), rows[1].started_ns), (None, None));
}

#[test]
fn what_did_not_run_or_is_too_old() {
    assert_eq!(read("specification_only_1.5.json", &Options::default()), (vec![], vec!["workflow_without_run"]));
    assert_eq!(read("too_old_1.1.json", &Options::default()), (vec![], vec!["version_unknown"]));
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
            let mut sources = [Source { path, name: name.to_owned(), kind: "WfFormat instance", rows: 0, diagnostics: Diagnostics::default() }];
            for row in WfFormat.read(&mut sources, &Options::default()) {
                prop_assert!(row.task_id.is_some() && row.realtime_s.is_none_or(|seconds| seconds >= 0.0));
            }
        }
    }
}
