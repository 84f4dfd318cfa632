//! The example, run on a small log.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::fs;

#[path = "../examples/dfg.rs"]
mod dfg;

const LOG: &str = r#"<log xes.version="1.0">
<trace><string key="concept:name" value="1"/>
<event><string key="concept:name" value="align"/><date key="time:timestamp" value="2026-11-20T13:04:05Z"/></event>
<event><string key="concept:name" value="merge"/><date key="time:timestamp" value="2026-11-20T13:05:05Z"/></event>
</trace></log>"#;

#[test]
fn dfg_draws_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log.xes");
    fs::write(&log, LOG).unwrap();
    for (name, begins) in [("graph.svg", "<svg"), ("graph.dot", "digraph")] {
        let graph = dir.path().join(name);
        dfg::run(&log, &graph).unwrap();
        let drawn = fs::read_to_string(&graph).unwrap();
        assert!(drawn.contains(begins) && drawn.contains("align") && drawn.contains("merge"), "{drawn}");
    }
}

#[test]
fn dfg_says_which_file_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log.xes");
    let graph = dir.path().join("graph.svg");
    for (text, why) in [("", "it is empty"), (r#"{"events": []}"#, "this is OCEL"), (&LOG[..200], "line ")] {
        fs::write(&log, text).unwrap();
        let error = dfg::run(&log, &graph).unwrap_err().to_string();
        assert!(error.contains("log.xes") && error.contains(why), "{error}");
        assert!(!graph.exists());
    }
}
