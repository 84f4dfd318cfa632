//! `export --drop`: what is dropped is in no format.

use std::fs;

use super::cells::{text, texts};
use super::{Recording, all_formats, said};

/// Columns that reach a log, with what begins or is their key there, and a value of theirs that
/// nothing else in the recording has.
const COLUMNS: [(&str, &[&str], Option<&str>); 9] = [
    ("user", &["org:resource", "slurm:user"], Some("fm-alice")),
    ("group", &["org:group", "slurm:group"], Some("fm-physics")),
    ("work_dir", &["slurm:work_dir", "work_dir"], None),
    ("comment", &["slurm:comment", "comment"], None),
    ("qos", &["slurm:qos", "qos"], None),
    ("exit_code", &["slurm:exit_code", "exit_code"], None),
    ("cpus", &["slurm:cpus", "cpus"], None),
    ("read_bytes", &["io:read_bytes", "read_bytes"], None),
    ("node_list", &["slurm:node_list", "node_list"], None),
];

#[test]
fn a_dropped_column_is_in_no_format() {
    let recording = Recording::new();
    for format in all_formats() {
        let plain = texts(&recording.export(format, "plain", &[]));
        let all = COLUMNS.map(|(column, _, _)| column).join(",");
        // All at once, separated by commas; and the option again and again.
        let again: Vec<&str> = COLUMNS.iter().flat_map(|(column, _, _)| ["--drop", column]).collect();
        let dropped = recording.export(format, "dropped", &["--drop", &all]);
        assert!(fs::read(&dropped).unwrap() == fs::read(recording.export(format, "again", &again)).unwrap(), "{format}");
        let left = texts(&dropped);
        for (column, keys, value) in COLUMNS {
            let there = |texts: &std::collections::BTreeMap<String, _>| keys.iter().any(|key| texts.contains_key(*key));
            assert!(format.starts_with("ocel") && value.is_some() || there(&plain), "{format}: {column} was there");
            assert!(!there(&left), "{format}: {column} is still there");
        }
        // The user is an object there; nothing of it is left. Its home folder is part of other columns' paths.
        let users = |texts: &std::collections::BTreeMap<String, std::collections::BTreeSet<String>>| {
            texts.values().flatten().any(|text| text.contains("fm-physics") || text == "fm-alice" || text == "user:fm-alice")
        };
        assert!(users(&plain) && !users(&left), "{format}");
        assert!(left.values().flatten().any(|text| text == "physics"), "{format}: the account stays");
    }
    // With the paths gone no byte of a user's name is left.
    for format in all_formats() {
        let columns = "user,group,name,command,arguments,work_dir,submit_line,comment";
        let file = recording.export(format, "bare", &["--drop", columns]);
        let text = String::from_utf8_lossy(&text(&file)).into_owned();
        for name in ["fm-alice", "fm-bob", "fm-carol", "flowmine-lab"] {
            assert!(!text.contains(name), "{format}: {name}");
        }
    }
}

#[test]
fn what_cannot_be_dropped_is_refused_with_advice() {
    let recording = Recording::new();
    let to = recording.path("log");
    for format in all_formats() {
        for (column, advice) in [("users", "did you mean user?"), ("state", "cannot be dropped"), ("job", "cannot be dropped")] {
            let text = said(recording.command(format, &to).args(["--drop", &format!("comment,{column}")]), 2);
            assert!(text.contains("--drop") && text.contains(column) && text.contains(advice), "{format}: {text}");
            assert!(!to.exists());
        }
    }
}
