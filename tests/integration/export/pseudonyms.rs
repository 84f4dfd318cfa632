//! `export --pseudonymise`: no name of the dataset is anywhere in what comes out, and everything
//! but names is as before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use flowmine_schema::tables::JobState;
use flowmine_schema::{ColumnKind, View as _};
use flowmine_slurm::host_list;
use serde_json::Value;

use super::cells::{Row, dump, rows, text, texts};
use super::{CASES, NOTIONS, OBJECTS, Recording, graph, said_by};
use crate::support::{expect, flowmine, job_dependencies, job_states};

const KEY: &[u8] = b"0123456789abcdef0123456789abcdef";
const TAGS: [&str; 11] = ["user", "account", "group", "host", "partition", "qos", "cluster", "name", "comment", "detail", "word"];
/// Extensions in the recording that stay.
const EXTENSIONS: [&str; 2] = ["sh", "exe"];

/// Columns that hold Slurm's words and our own. What is on none of their lists becomes a code,
/// which crates/correlate/tests/pseudonyms.rs tries.
const OF_WORDS: [&str; 12] = [
    "state",
    "change",
    "changed",
    "source",
    "reason",
    "tres_per_node",
    "licenses",
    "requested_tres",
    "allocated_tres",
    "operator",
    "kind",
    "target_kind",
];

/// Words that are part of some name in the recording and also of a format, of Slurm or of flowmine:
/// a job is called "array", "after" or "RUNNING". That no name hides among them is seen to by
/// [`only_codes_where_names_were`].
const BOTH: &str = "RUNNING after afterany afterburstbuffer aftercorr afternotok afterok and array cluster comment deadline dependency dir \
    flowmine held het http job lost name nodes not other partition signal singleton special start task time types work workflow xml";

fn key(recording: &Recording) -> PathBuf {
    let key = recording.path("key");
    fs::write(&key, KEY).unwrap();
    expect(std::process::Command::new("chmod").arg("600").arg(&key), 0);
    key
}

/// Everything in the columns of names.
fn names(dataset: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut put = |column: &str, text: Option<&str>| {
        if let Some(text) = text.filter(|_| !OF_WORDS.contains(&column)) {
            names.insert(text.to_owned());
            if column == "node_list" {
                names.extend(host_list::expand(text, 1000).into_iter().flatten());
            }
        }
    };
    for row in job_states(dataset) {
        let columns = [
            ("cluster", Some(&row.cluster)),
            ("job", Some(&row.job)),
            ("change", Some(&row.change)),
            ("changed", row.changed.as_ref()),
            ("state", row.state.as_ref()),
            ("source", Some(&row.source)),
            ("array_tasks", row.array_tasks.as_ref()),
            ("name", row.name.as_ref()),
            ("user", row.user.as_ref()),
            ("group", row.group.as_ref()),
            ("account", row.account.as_ref()),
            ("partition", row.partition.as_ref()),
            ("qos", row.qos.as_ref()),
            ("reason", row.reason.as_ref()),
            ("comment", row.comment.as_ref()),
            ("activity", row.activity.as_ref()),
            ("command", row.command.as_ref()),
            ("arguments", row.arguments.as_ref()),
            ("work_dir", row.work_dir.as_ref()),
            ("node_list", row.node_list.as_ref()),
            ("features", row.features.as_ref()),
            ("tres_per_node", row.tres_per_node.as_ref()),
            ("licenses", row.licenses.as_ref()),
            ("submit_node", row.submit_node.as_ref()),
            ("requested_tres", row.requested_tres.as_ref()),
            ("allocated_tres", row.allocated_tres.as_ref()),
            ("submit_line", row.submit_line.as_ref()),
        ];
        let all = JobState::COLUMNS.iter().filter(|column| column.kind == ColumnKind::Text).map(|column| column.name);
        assert!(columns.iter().map(|column| column.0).eq(all), "a column of texts was forgotten");
        columns.into_iter().for_each(|(column, text)| put(column, text.map(|text| &**text)));
    }
    for row in job_dependencies(dataset) {
        put("cluster", Some(&row.cluster));
        put("job", Some(&row.job));
    }
    names
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// What stands between what is neither letter nor digit.
fn words(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| !is_word(byte)).filter(|word| !word.is_empty())
}

/// Bytes with a blank in the place of each code.
fn without_codes(bytes: &[u8]) -> (Vec<u8>, BTreeSet<Vec<u8>>) {
    let (mut rest, mut codes) = (Vec::with_capacity(bytes.len()), BTreeSet::new());
    let mut done = 0;
    for at in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'-').map(|(at, _)| at) {
        let tag = TAGS.iter().find(|tag| at >= done + tag.len() && bytes[..at].ends_with(tag.as_bytes()));
        let (Some(tag), Some(code)) = (tag, bytes.get(at + 1..at + 17)) else { continue };
        if code.iter().all(|c| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains(c)) {
            rest.extend_from_slice(&bytes[done..at - tag.len()]);
            rest.push(b' ');
            done = at + 17;
            codes.insert(bytes[at - tag.len()..done].to_vec());
        }
    }
    rest.extend_from_slice(&bytes[done..]);
    (rest, codes)
}

/// What is looked for in bytes.
struct Names {
    words: BTreeSet<Vec<u8>>,
    /// Names that have no word of their own: they are looked for as they are.
    whole: Vec<String>,
}

impl Names {
    fn new(dataset: &Path, more: &[&str]) -> Self {
        let both: BTreeSet<&[u8]> = BOTH.split_ascii_whitespace().map(str::as_bytes).collect();
        let mut found = Self { words: BTreeSet::new(), whole: Vec::new() };
        let names: BTreeSet<String> = names(dataset).into_iter().chain(more.iter().map(|&name| name.to_owned())).collect();
        for known in
            ["fm-alice", "physics", "fm-physics", "debug", "normal", "lab", "pre-processing.sh", "n1", "n4", "<script>alert(1)</script>"]
        {
            assert!(names.contains(known), "{known} is a name in the recording");
        }
        for name in names {
            let letters = name.chars().filter(|c| c.is_alphabetic()).count();
            let mut own = false;
            for word in words(name.as_bytes()) {
                // Shorter ones and numbers are in everything.
                let is_host = ["n1", "n2", "n3", "n4"].iter().any(|host| host.as_bytes() == word);
                let long = String::from_utf8_lossy(word).chars().filter(|c| c.is_alphabetic()).count() >= 3;
                if (long || is_host) && !both.contains(word) && !EXTENSIONS.iter().any(|e| e.as_bytes() == word) {
                    found.words.insert(word.to_owned());
                    own = true;
                }
            }
            if !own && letters >= 3 && !both.contains(name.as_bytes()) {
                found.whole.push(name);
            }
        }
        assert!(found.words.len() > 100 && !found.whole.is_empty(), "{} and {:?}", found.words.len(), found.whole);
        found
    }

    /// Those that are in bytes.
    fn among(&self, bytes: &[u8]) -> BTreeSet<String> {
        let rest = without_codes(bytes).0;
        let mut found: BTreeSet<String> =
            words(&rest).filter(|word| self.words.contains(*word)).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let rest = String::from_utf8_lossy(&rest);
        found.extend(self.whole.iter().filter(|name| rest.contains(*name)).cloned());
        found
    }

    /// Those that are in a file, packed or unpacked.
    fn in_file(&self, file: &Path) -> BTreeSet<String> {
        let mut found = self.among(&text(file));
        let values: Vec<String> = texts(file).into_values().flatten().collect();
        found.append(&mut self.among(values.join("\n").as_bytes()));
        // Two letters stand in packed bytes by chance.
        found.extend(self.among(&fs::read(file).unwrap()).into_iter().filter(|name| name.len() > 4));
        found
    }
}

/// Where names were there are codes, marks, numbers and extensions, and the kinds of things that
/// ids begin with.
fn only_codes_where_names_were(file: &Path, notion: &str) {
    let kinds = ["job", "array", "workflow", "run", "user", "group", "account", "partition", "node", "dependency"];
    let mut seen = 0;
    for (key, values) in texts(file).into_iter().filter(|(key, _)| !key.starts_with("log:")) {
        let (place, key) = key.rsplit_once(':').unwrap_or(("", &key));
        let is_id = matches!(key, "related" | "instance" | "case_id") || matches!((place, key), ("", "id") | ("case:concept", "name"));
        let is_name = match (place, key) {
            // There it is the type of an event.
            ("concept", "name") => !notion.starts_with("object:"),
            _ => matches!(
                key,
                "name"
                    | "resource"
                    | "user"
                    | "group"
                    | "account"
                    | "cluster"
                    | "partition"
                    | "qos"
                    | "comment"
                    | "activity"
                    | "command"
                    | "arguments"
                    | "work_dir"
                    | "node_list"
                    | "job"
            ),
        };
        if !is_id && !is_name {
            continue;
        }
        for value in values {
            seen += 1;
            let rest = without_codes(value.as_bytes()).0;
            let rest = String::from_utf8(rest).unwrap();
            for word in rest.split(|c: char| !c.is_alphabetic()).filter(|word| word.chars().count() > 1) {
                let known = EXTENSIONS.contains(&word) || is_id && kinds.contains(&word);
                assert!(known, "{}: {word:?} in {value:?} under {place}:{key}", file.display());
            }
        }
    }
    assert!(seen > 3, "{seen}");
}

#[test]
fn no_name_is_anywhere_in_any_format_and_notion() {
    let recording = Recording::new();
    let key = key(&recording);
    // The words of what the command was told on this side: files, folders, the key.
    let paths = ["zanzibar", "zanzibarkey", "zanzibarlog", "tmp"];
    let (dataset, key_file) = (recording.path("zanzibar"), recording.path("zanzibarkey"));
    fs::rename(&recording.dataset, &dataset).unwrap();
    fs::rename(&key, &key_file).unwrap();
    let names = Names::new(&dataset, &paths);
    let temporary = recording.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let logs = OBJECTS
        .iter()
        .map(|format| (*format, None))
        .chain(NOTIONS.iter().flat_map(|notion| CASES.iter().map(move |format| (*format, Some(*notion)))));
    for (format, notion) in logs {
        let to = recording.path(&format!("zanzibarlog.{format}"));
        let mut command = flowmine();
        command.args(["export", "--format", format, "--dataset"]).arg(&dataset).arg("-o").arg(&to).env("TMPDIR", &temporary);
        command.args(notion.iter().flat_map(|notion| ["--case-notion", notion]));
        // The same search finds them where they are.
        let plain = said_by(&expect(&mut command, 0));
        let what = format!("{format} {notion:?}");
        let before = names.in_file(&to);
        let least = if notion.is_some_and(|notion| notion.starts_with("object:")) { 1 } else { 100 };
        assert!(before.len() >= least, "{what}: only {} names were there, {before:?}", before.len());

        let output = expect(command.arg("--pseudonymise").arg(&key_file), 0);
        let said = said_by(&output);
        assert_eq!(names.in_file(&to), BTreeSet::new(), "{what}");
        assert_eq!(names.among(said.as_bytes()), BTreeSet::new(), "{what}: {said}, before {plain}");
        assert!(output.stdout.is_empty());
        only_codes_where_names_were(&to, notion.unwrap_or_default());
        let all = texts(&to);
        assert!(!all.keys().any(|key| key.ends_with("cancelled_by_uid") && all[key].iter().any(|value| value != "integer")), "{what}");
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn a_key_gives_the_same_and_another_key_gives_nothing_of_it() {
    let recording = Recording::new();
    let key = key(&recording);
    let other = recording.path("other");
    fs::write(&other, b"another key of more than sixteen").unwrap();
    expect(std::process::Command::new("chmod").arg("600").arg(&other), 0);
    let export = |format: &str, name: &str, key: &Path| {
        fs::read(recording.export(format, name, &["--pseudonymise", key.to_str().unwrap()])).unwrap()
    };
    for format in OBJECTS.into_iter().chain(CASES) {
        assert!(export(format, "one", &key) == export(format, "two", &key), "{format}");
    }
    let codes = |bytes: &[u8]| without_codes(bytes).1;
    // A name is one code in every format.
    let of_xes = codes(&export("xes", "one", &key));
    assert!(of_xes.len() > 50, "{}", of_xes.len());
    assert_eq!(codes(&export("csv", "one", &key)), of_xes);
    assert!(of_xes.is_disjoint(&codes(&export("xes", "one", &other))));
}

#[test]
fn keys_that_protect_nothing_are_refused() {
    let recording = Recording::new();
    let (to, key) = (recording.path("log.xes"), recording.path("key"));
    for (bytes, what) in [(&b"short"[..], "16"), (&[7; 40], "key")] {
        fs::write(&key, bytes).unwrap();
        let text = said_by(&expect(recording.command("xes", &to).arg("--pseudonymise").arg(&key), 2));
        assert!(text.contains(&key.display().to_string()) && text.contains(what), "{text}");
    }
    let text = said_by(&expect(recording.command("xes", &to).arg("--pseudonymise").arg(recording.path("none")), 2));
    assert!(text.contains("none"), "{text}");
    assert!(!to.exists());
    fs::write(&key, KEY).unwrap();
    expect(std::process::Command::new("chmod").arg("644").arg(&key), 0);
    let text = said_by(&expect(recording.command("xes", &to).arg("--pseudonymise").arg(&key), 0));
    assert!(text.contains("chmod 600"), "{text}");
}

/// What says which event of which attempt a row is, and is no name.
fn event_of(row: &Row) -> Vec<Option<String>> {
    let keys = ["slurm:job", "slurm:submit", "slurm:state", "slurm:observed_at", "slurm:reported", "time:timestamp", "slurm:attempt"];
    keys.iter().map(|key| row.get(*key).cloned()).collect()
}

#[test]
fn cases_events_and_times_stay() {
    let recording = Recording::new();
    let key = key(&recording);
    for notion in ["dependency", "account-group"] {
        let export = |name: &str, more: &[&str]| recording.export("xes", name, &[&["--case-notion", notion], more].concat());
        let (plain, coded) = (export("plain", &[]), export("coded", &["--pseudonymise", key.to_str().unwrap()]));
        // Activities by their new names, which are one for one.
        let mut renamed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let sorted = |file: &Path| {
            let mut rows: Vec<_> = rows(file).into_iter().map(|row| (event_of(&row), row)).collect();
            rows.sort();
            rows
        };
        let (before, after) = (sorted(&plain), sorted(&coded));
        assert_eq!(before.len(), after.len(), "{notion}");
        let cases = |rows: &[(Vec<Option<String>>, Row)]| {
            let mut cases: BTreeMap<String, Vec<Vec<Option<String>>>> = BTreeMap::new();
            rows.iter().for_each(|(event, row)| cases.entry(row["case:concept:name"].clone()).or_default().push(event.clone()));
            let mut cases: Vec<_> = cases.into_values().collect();
            cases.sort();
            cases
        };
        assert_eq!(cases(&before), cases(&after), "{notion}");
        for ((event, before), (again, after)) in before.iter().zip(&after) {
            assert_eq!(event, again, "{notion}");
            renamed.entry(before["concept:name"].clone()).or_default().insert(after["concept:name"].clone());
            for (key, value) in before {
                let stays = !is_name_column(key);
                assert!(!stays || after.get(key) == Some(value), "{notion}: {key}={value} became {:?}", after.get(key));
                assert!(after.contains_key(key) || key == "slurm:cancelled_by_uid", "{notion}: {key}={value} is gone");
            }
            assert!(after.keys().all(|key| before.contains_key(key)));
        }
        let new: BTreeSet<&String> = renamed.values().flatten().collect();
        assert!(renamed.values().all(|names| names.len() == 1) && new.len() == renamed.len(), "{renamed:?}");

        // The graph of the coded log is the graph of the plain one under other names.
        let edges = |file: &Path, rename: &dyn Fn(&str) -> String| -> BTreeMap<(String, String), Value> {
            let graph = graph(flowmine().args(["discover", "--log"]).arg(file));
            let name = |value: &Value| rename(value.as_str().unwrap());
            graph["edges"].as_array().unwrap().iter().map(|e| ((name(&e["from"]), name(&e["to"])), e["frequency"].clone())).collect()
        };
        let of_plain = edges(&plain, &|name| renamed[name].first().unwrap().clone());
        assert!(of_plain.len() > 10);
        assert_eq!(of_plain, edges(&coded, &|name| name.to_owned()), "{notion}");
    }
}

fn is_name_column(key: &str) -> bool {
    let name = key.rsplit(':').next().unwrap();
    matches!(
        name,
        "name"
            | "resource"
            | "user"
            | "group"
            | "account"
            | "cluster"
            | "partition"
            | "qos"
            | "comment"
            | "activity"
            | "command"
            | "arguments"
            | "work_dir"
            | "node_list"
            | "instance"
            | "id"
            | "cancelled_by_uid"
    )
}

#[test]
fn objects_and_relations_stay() {
    let recording = Recording::new();
    let key = key(&recording);
    for format in OBJECTS {
        let plain = dump(&recording.export(format, "plain", &[]));
        let coded = dump(&recording.export(format, "coded", &["--pseudonymise", key.to_str().unwrap()]));
        let objects = |dump: &crate::support::dump::Dump| {
            let mut all: Vec<_> = dump
                .objects
                .values()
                .map(|object| {
                    let mut qualifiers: Vec<_> = object.relations.iter().map(|(_, qualifier)| qualifier.clone()).collect();
                    qualifiers.sort();
                    let attributes = object.attributes.iter().filter(|a| a.key != "cancelled_by_uid");
                    let mut attributes: Vec<_> = attributes.map(|a| (a.key.clone(), a.since)).collect();
                    attributes.sort();
                    (object.kind.clone(), qualifiers, attributes)
                })
                .collect();
            all.sort();
            all
        };
        assert!(plain.objects.len() > 300 && plain.events.len() > 500);
        assert_eq!(objects(&plain), objects(&coded), "{format}");
        let types = |dump: &crate::support::dump::Dump| (dump.event_types.clone(), dump.object_types.clone());
        assert_eq!(types(&plain), types(&coded), "{format}");
        let events = |dump: &crate::support::dump::Dump| {
            let of = |event: &crate::support::dump::Thing| {
                let mut qualifiers: Vec<_> = event.relations.iter().map(|(_, qualifier)| qualifier.clone()).collect();
                qualifiers.sort();
                (event.time, event.kind.clone(), qualifiers)
            };
            let mut all: Vec<_> = dump.events.values().map(of).collect();
            all.sort();
            all
        };
        assert_eq!(events(&plain), events(&coded), "{format}");
    }
}

/// A filter's names are those that people know, not the codes.
#[test]
fn filters_take_the_original_names() {
    let recording = Recording::new();
    let key = key(&recording);
    let mut counts = Vec::new();
    for filter in
        [&["--account", "physics"][..], &["--user", "fm-bob"], &["--account", "thesis", "--user", "fm-carol"], &["--account", "moon"]]
    {
        let plain = rows(&recording.export("parquet", "plain", filter));
        let to = recording.path("coded.parquet");
        let text = said_by(&expect(recording.command("parquet", &to).args(filter).arg("--pseudonymise").arg(&key), 0));
        let coded = rows(&to);
        let sorted = |rows: &[Row]| {
            let mut events: Vec<_> = rows.iter().map(event_of).collect();
            events.sort();
            events
        };
        assert_eq!(sorted(&plain), sorted(&coded), "{filter:?}");
        assert_eq!(text.contains("no job in the dataset has it"), filter == ["--account", "moon"], "{text}");
        counts.push(plain.len());
    }
    assert!(counts[..3].iter().all(|&count| count > 0) && counts[3] == 0, "{counts:?}");
}
