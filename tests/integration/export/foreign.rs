//! Logs of others: `--log FILE`, `import log`, and conversions between all formats.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::cells::{as_in_xml, dump, rows};
use super::{CASES, NOTIONS, OBJECTS, READABLE, Recording, all_formats, graph, said};
use crate::support::{csv, expect, flowmine, repository};

fn convert(from: &Path, format: &str, to: &Path) -> Command {
    let mut command = flowmine();
    command.args(["export", "--log"]).arg(from).args(["--format", format, "-o"]).arg(to);
    command
}

fn import(dataset: &Path, files: &[&Path]) -> Command {
    let mut command = flowmine();
    command.args(["import", "log", "--dataset"]).arg(dataset).args(files);
    command
}

/// An XES log is the same again, to the byte, and so is an OCEL log: our own, and hand-made ones
/// once they are in our hand.
#[test]
fn the_same_format_is_the_same_file() {
    let recording = Recording::new();
    let again = |from: &Path, format: &str, name: &str| {
        let direct = recording.path(&format!("{name}-direct.{format}"));
        expect(&mut convert(from, format, &direct), 0);
        let (dataset, imported) = (recording.path(&format!("{name}-{format}")), recording.path(&format!("{name}-imported.{format}")));
        expect(&mut import(&dataset, &[from]), 0);
        expect(flowmine().args(["export", "--dataset"]).arg(&dataset).args(["--format", format, "-o"]).arg(&imported), 0);
        let bytes = fs::read(&direct).unwrap();
        assert!(bytes == fs::read(&imported).unwrap(), "{} by import", from.display());
        (direct, bytes)
    };
    for format in READABLE {
        for notion in if format == "xes" { &NOTIONS[..] } else { &NOTIONS[..1] } {
            let options: &[&str] = if OBJECTS.contains(&format) { &[] } else { &["--case-notion", notion] };
            let ours = recording.export(format, "ours", options);
            let name = notion.replace([':', ' '], "-");
            let (direct, bytes) = again(&ours, format, &name);
            // A database keeps no order of types and attributes that could be kept.
            let same = if format == "ocel.sqlite" { dump(&direct) == dump(&ours) } else { bytes == fs::read(&ours).unwrap() };
            assert!(same, "{format} {notion}");
        }
    }
    for (file, format) in [("jobs.json", "ocel.json"), ("odd.json", "ocel.json"), ("cases.xes", "xes"), ("odd.xes", "xes")] {
        let (first, bytes) = again(&repository("tests/fixtures/logs").join(file), format, file);
        assert!(again(&first, format, &format!("again-{file}")).1 == bytes, "{file}");
    }
}

/// Numbers of objects or traces, of events, of relations and of attributes.
fn counts(file: &Path) -> [usize; 4] {
    if matches!(super::cells::format(file), "csv" | "parquet") {
        let rows = rows(file);
        let mut cases: Vec<_> = rows.iter().map(|row| row["case:concept:name"].clone()).collect();
        cases.sort();
        cases.dedup();
        return [cases.len(), rows.len(), 0, 0];
    }
    let dump = dump(file);
    let things = || dump.objects.values().chain(dump.events.values());
    let of_traces = dump.traces.iter().flat_map(|trace| trace.events.iter().chain([&trace.attributes])).map(Vec::len).sum::<usize>();
    [
        dump.objects.len() + dump.traces.len(),
        dump.events.len() + dump.traces.iter().map(|trace| trace.events.len()).sum::<usize>(),
        things().map(|thing| thing.relations.len()).sum(),
        things().map(|thing| thing.attributes.len()).sum::<usize>() + of_traces,
    ]
}

#[test]
fn conversions_between_all_formats_lose_nothing() {
    let recording = Recording::new();
    for from in READABLE {
        let source = recording.export(from, "ours", &[]);
        let [things, events, relations, attributes] = counts(&source);
        for to in all_formats() {
            let file = recording.path(&format!("from-{}.{to}", from.replace('.', "-")));
            let mut command = convert(&source, to, &file);
            let crossing = OBJECTS.contains(&from) && CASES.contains(&to);
            if crossing {
                command.args(["--case-notion", "object:job"]);
            }
            expect(&mut command, 0);
            let found = counts(&file);
            let what = format!("{from} to {to}: {found:?}");
            match (OBJECTS.contains(&from), OBJECTS.contains(&to)) {
                (true, true) => assert_eq!(found, [things, events, relations, attributes], "{what}"),
                // Each event is of one job; jobs without events are traces without any, which a table has not.
                (true, false) => {
                    let log = dump(&source);
                    let jobs = log.objects.values().filter(|object| object.kind == "job").count();
                    let with_events = log.events.values().flat_map(|e| e.relations.iter().filter(|r| r.1 == "job").map(|r| &r.0));
                    let with_events = with_events.collect::<std::collections::BTreeSet<_>>().len();
                    let traces = if matches!(to, "csv" | "parquet") { with_events } else { jobs };
                    assert_eq!((found[0], found[1]), (traces, events), "{what}");
                }
                // A trace is an object and each of its events leads to it.
                (false, true) => assert_eq!((found[0], found[1], found[2]), (things, events, events), "{what}"),
                (false, false) => assert_eq!((found[0], found[1]), (things, events), "{what}"),
            }
        }
        if OBJECTS.contains(&from) {
            // Back again, nothing has changed but what XML cannot carry.
            let (json, original) = (dump(&recording.path(&format!("from-{}.ocel.json", from.replace('.', "-")))), dump(&source));
            assert!(json == original, "{from} to JSON is another log");
        }
    }
    // A table made of a log file is the one made of the dataset.
    for format in ["csv", "parquet"] {
        let (of_file, of_dataset) = (rows(&recording.path(&format!("from-xes.{format}"))), rows(&recording.export(format, "own", &[])));
        assert_eq!(of_file, as_in_xml(of_dataset), "{format}");
    }
}

/// Edges and activities with what is counted about them, without the words of title and notion.
fn facts(graph: &Value) -> BTreeMap<String, Value> {
    let words = ["title", "case_notion", "filters", "instance", "left_out"];
    let mut facts: BTreeMap<String, Value> =
        graph.as_object().unwrap().clone().into_iter().filter(|(key, _)| !words.contains(&key.as_str())).collect();
    // A dataset knows who counted bytes; of a file it is the file that says so.
    for activity in facts.get_mut("activities").and_then(Value::as_array_mut).unwrap() {
        activity.as_object_mut().unwrap().remove("bytes_from");
    }
    facts
}

#[test]
fn a_graph_of_an_exported_log_is_the_graph_of_the_dataset() {
    let recording = Recording::new();
    let ocel: Vec<_> = OBJECTS.iter().map(|format| recording.export(format, "ours", &[])).collect();
    for notion in NOTIONS {
        for events in ["instances", "all", "starts", "ends"] {
            for activity in ["command", "command-state"] {
                let options = ["--events", events, "--activity", activity];
                let of_dataset = recording.graph(&[&["--case-notion", notion], &options[..]].concat());
                let what = format!("{notion} {events} {activity}");
                assert!(
                    of_dataset["instances"].as_u64().unwrap() > 20 && !of_dataset["activities"].as_array().unwrap().is_empty(),
                    "{what}: {of_dataset}"
                );
                let xes = recording.export("xes", "ours", &["--case-notion", notion]);
                let of_file = graph(flowmine().args(["discover", "--log"]).arg(&xes).args(options));
                if notion.starts_with("object:") && events == "instances" {
                    // Events of objects are moments; in XES their lifecycle joins them.
                } else if notion.starts_with("object:") || matches!(events, "all" | "instances") {
                    assert_eq!(facts(&of_dataset), facts(&of_file), "{what}");
                } else {
                    assert_eq!(of_dataset["edges"], of_file["edges"], "{what}");
                    assert_eq!(facts(&of_dataset)["activities"], facts(&of_file)["activities"], "{what}");
                }
                if !notion.starts_with("object:") && matches!(events, "instances" | "all") {
                    for format in ["csv", "parquet"] {
                        let table = recording.export(format, "ours", &["--case-notion", notion]);
                        let of_table = graph(flowmine().args(["discover", "--log"]).arg(&table).args(options));
                        // Of which attempt a row is, no usual column of a table says.
                        let without = |graph: &Value| {
                            let mut facts = facts(graph);
                            for activity in facts.get_mut("activities").and_then(Value::as_array_mut).unwrap() {
                                activity.as_object_mut().unwrap().remove("retries");
                            }
                            facts
                        };
                        assert!(without(&of_dataset) == without(&of_table), "{what} {format}");
                    }
                }
                if notion.starts_with("object:") && activity == "command" {
                    for file in &ocel {
                        let of_file = graph(flowmine().args(["discover", "--log"]).arg(file).args(["--case-notion", notion]).args(options));
                        assert_eq!(facts(&of_dataset), facts(&of_file), "{what} {}", file.display());
                    }
                }
            }
        }
    }
}

#[test]
fn pictures_of_a_log_file() {
    let recording = Recording::new();
    let xes = recording.export("xes.gz", "ours", &[]);
    for (format, begin) in [("svg", "<svg"), ("dot", "digraph")] {
        let print = |discover: &mut Command| String::from_utf8(expect(discover.args(["--format", format]), 0).stdout).unwrap();
        let picture = print(flowmine().args(["discover", "--log"]).arg(&xes));
        assert!(picture.contains(begin) && picture.contains("merge.sh"), "{format}");
        assert!(!picture.contains("<script"), "{format}");
    }
}

#[test]
fn a_type_that_there_is_not_is_answered_with_those_that_there_are() {
    let recording = Recording::new();
    let ocel = recording.export("ocel.xml", "ours", &[]);
    for notion in [None, Some("object:moon"), Some("job")] {
        let notion: Vec<&str> = notion.into_iter().flat_map(|notion| ["--case-notion", notion]).collect();
        for what in [&["discover"][..], &["export", "--format", "csv"], &["export", "--format", "xes"]] {
            let text = said(flowmine().args(what).arg("--log").arg(&ocel).args(&notion), 2);
            for kind in &NOTIONS[2..] {
                assert!(text.contains(kind), "{what:?} {notion:?}: {text}");
            }
        }
    }
    let text = said(flowmine().args(["discover", "--case-notion", "object:moon", "--dataset"]).arg(&recording.dataset), 2);
    assert!(text.contains("object:job") && text.contains("object:workflow run"), "{text}");
    // The traces of an XES file are objects of a type as well.
    let xes = recording.export("xes", "ours", &[]);
    let by_trace = graph(flowmine().args(["discover", "--events", "all", "--case-notion", "object:case", "--log"]).arg(&xes));
    assert_eq!(facts(&by_trace), facts(&graph(flowmine().args(["discover", "--events", "all", "--log"]).arg(&xes))));
    assert!(said(flowmine().args(["discover", "--case-notion", "object:moon", "--log"]).arg(&xes), 2).contains("object:case"));
}

#[test]
fn imported_logs_are_chosen_by_name() {
    let recording = Recording::new();
    let (xes, ocel) = (recording.export("xes.gz", "one", &[]), recording.export("ocel.sqlite", "two", &[]));
    let dataset = recording.path("logs");
    let told = said(&mut import(&dataset, &[&xes]), 0);
    assert!(told.contains("one.xes.gz: 166 traces and ") && told.contains(" events imported"), "{told}");
    let of_dataset = |options: &[&str]| {
        let mut command = flowmine();
        command.args(["discover", "--dataset"]).arg(&dataset).args(options);
        command
    };
    // One log needs no name.
    let alone = graph(&mut of_dataset(&[]));
    assert_eq!(facts(&alone), facts(&graph(flowmine().args(["discover", "--log"]).arg(&xes))));
    let told = said(&mut import(&dataset, &[&ocel]), 0);
    assert!(told.contains("two.ocel.sqlite: ") && told.contains(" objects and "), "{told}");
    let text = said(&mut of_dataset(&[]), 2);
    assert!(text.contains("--log") && text.contains("one.xes.gz") && text.contains("two.ocel.sqlite"), "{text}");
    assert_eq!(graph(&mut of_dataset(&["--log", "one.xes.gz"])), alone);
    let by_job = graph(&mut of_dataset(&["--log", "two.ocel.sqlite", "--case-notion", "object:job"]));
    assert_eq!(facts(&by_job), facts(&recording.graph(&["--case-notion", "object:job"])));
    let text = said(&mut of_dataset(&["--log", "three.xes"]), 2);
    assert!(text.contains("three.xes") && text.contains("one.xes.gz"), "{text}");

    // A second log of the same name changes nothing.
    let other = recording.path("other");
    fs::create_dir(&other).unwrap();
    let twin = other.join("one.xes.gz");
    fs::copy(recording.export("xes.gz", "users", &["--case-notion", "object:user"]), &twin).unwrap();
    let text = said(&mut import(&dataset, &[&twin]), 2);
    assert!(text.contains("one.xes.gz") && text.contains("already"), "{text}");
    assert_eq!(graph(&mut of_dataset(&["--log", "one.xes.gz"])), alone);
}

#[test]
fn a_dataset_can_have_jobs_and_logs() {
    let recording = Recording::new();
    let before = recording.graph(&[]);
    let jobs = fs::read(recording.export("csv", "before", &[])).unwrap();
    let xes = recording.export("xes", "users", &["--case-notion", "object:user"]);
    expect(&mut import(&recording.dataset, &[&xes]), 0);
    assert_eq!(recording.graph(&[]), before, "without --log it is the jobs");
    assert!(fs::read(recording.export("csv", "after", &[])).unwrap() == jobs);
    let of_log = recording.graph(&["--log", "users.xes"]);
    assert_eq!(of_log["cases"], 3);
    assert!(fs::read(recording.export("xes", "again", &["--log", "users.xes"])).unwrap() == fs::read(&xes).unwrap());
    // And jobs can be imported into a dataset that began with a log.
    let dataset = recording.path("began-with-a-log");
    expect(&mut import(&dataset, &[&xes]), 0);
    let files = ["fixtures/case-study/polls", "fixtures/case-study/sacct-token.txt.gz"].map(repository);
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).args(files), 0);
    assert_eq!(graph(flowmine().args(["discover", "--dataset"]).arg(&dataset)), before);
}

/// What a log of others has not, cannot be chosen in it; that is said instead of left out.
#[test]
fn options_for_jobs_are_refused_for_logs() {
    let recording = Recording::new();
    let xes = recording.export("xes", "ours", &[]);
    // A part of any log can be taken; only the ends of intervals are the dataset's own.
    for command in [&["export", "--format", "csv"][..], &["discover"]] {
        let text = said(flowmine().args(command).args(["--timestamp", "observed-at", "--log"]).arg(&xes), 2);
        assert!(text.contains("--timestamp"), "{command:?}: {text}");
    }
    let text = said(flowmine().args(["export", "--format", "ocel.json", "--case-notion", "object:case", "--log"]).arg(&xes), 2);
    assert!(text.contains("--case-notion"), "{text}");
}

/// A log of jobs has accounts and users too.
#[test]
fn accounts_and_users_choose_events_of_logs() {
    let recording = Recording::new();
    let xes = recording.export("xes", "ours", &[]);
    let rows = |options: &[&str]| {
        let output = expect(flowmine().args(["export", "--format", "csv"]).args(options).arg("--log").arg(&xes), 0);
        csv::rows(&String::from_utf8(output.stdout).unwrap())
    };
    let all = rows(&[]);
    let users = ["fm-alice", "fm-bob", "fm-carol"];
    let by = [("--account", "slurm:account", &["physics", "biology", "thesis"]), ("--user", "org:resource", &users)];
    for (option, column, names) in by {
        let chosen: Vec<Vec<_>> = names.iter().map(|name| rows(&[option, name])).collect();
        for (name, rows) in names.iter().zip(&chosen) {
            assert!(rows.iter().all(|row| row[column] == *name), "{option} {name}");
        }
        // Each event has one account and one user.
        let ids = |rows: &[BTreeMap<String, String>]| {
            let mut ids: Vec<_> = rows.iter().map(|row| row["identity:id"].clone()).collect();
            ids.sort();
            ids
        };
        assert_eq!(ids(&chosen.concat()), ids(&all), "{option}");
    }
}

#[test]
fn a_log_of_others_can_have_its_texts_replaced_and_attributes_dropped() {
    let recording = Recording::new();
    let key = recording.path("key");
    fs::write(&key, [7, 8, 9, 10].repeat(8)).unwrap();
    for (from, format) in [("xes", "ocel.json"), ("ocel.sqlite", "ocel.xml"), ("ocel.json", "ocel.json")] {
        let log = recording.export(from, "whole", &[]);
        let to = recording.path("replaced");
        let mut command = flowmine();
        command.args(["export", "--format", format, "--drop", "slurm:account,comment", "--pseudonymise"]).arg(&key);
        expect(command.arg("--log").arg(&log).arg("-o").arg(&to), 0);
        let text = fs::read_to_string(&to).unwrap();
        for name in ["fm-alice", "physics", "pre-processing", "name=\"comment\"", "slurm:account"] {
            assert!(!text.contains(name), "{from} {format}: {name}");
        }
        assert!(text.contains("name-") && text.contains("COMPLETED") && text.contains("complete"), "{from} {format}");
        expect(flowmine().arg("validate").arg(&to), 0);
    }
}

const BROKEN: &str = "<?xml version=\"1.0\"?>\n<log xes.version=\"1849.2016\">\n  <trace>\n    <event>\n      <string key=\"a\" value=\"b\"/>\n  </trace>\n</log>\n";

#[test]
fn a_broken_file_is_an_error_with_its_place() {
    let recording = Recording::new();
    let json = fs::read(recording.export("ocel.json", "whole", &[])).unwrap();
    let xml = fs::read(recording.export("ocel.xml", "whole", &[])).unwrap();
    let gz = fs::read(recording.export("xes.gz", "whole", &[])).unwrap();
    let sqlite = fs::read(recording.export("ocel.sqlite", "whole", &[])).unwrap();
    let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE log [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]>\n<log><string key=\"x\" value=\"&b;\"/></log>\n";
    let broken: [(&str, Vec<u8>, Option<&str>); 9] = [
        ("crossed.xes", BROKEN.into(), Some(":6:")),
        ("bomb.xes", bomb.into(), Some(":")),
        ("cut.json", json[..json.len() / 2].into(), Some(":")),
        ("cut.xml", xml[..xml.len() / 2].into(), Some(":")),
        ("cut.xes.gz", gz[..gz.len() / 2].into(), None),
        ("cut.sqlite", sqlite[..sqlite.len() / 2].into(), None),
        ("empty.xes", Vec::new(), None),
        ("shopping.txt", b"milk\neggs\n".into(), Some(":1:1: ")),
        ("encoding.xes", b"<?xml version=\"1.0\" encoding=\"EBCDIC-DE\"?>\n<log></log>".into(), Some(":1:")),
    ];
    for (name, bytes, place) in broken {
        let file = recording.path(name);
        fs::write(&file, bytes).unwrap();
        let dataset = recording.path("dataset-of-broken");
        for command in [
            &mut import(&dataset, &[&file]),
            &mut convert(&file, "csv", &recording.path("out.csv")),
            flowmine().args(["discover", "--log"]).arg(&file),
        ] {
            let text = said(command, 2);
            let line = text.lines().last().unwrap();
            let rest = line.strip_prefix("flowmine: ").and_then(|line| line.strip_prefix(&file.display().to_string()));
            let rest = rest.unwrap_or_else(|| panic!("{name}: {text}"));
            if let Some(place) = place {
                assert!(rest.starts_with(place), "{name}: {text}");
                let mut numbers = rest.split(':').skip(1);
                let (line, column) = (numbers.next().unwrap(), numbers.next().unwrap());
                assert!(line.parse::<u64>().is_ok_and(|n| n > 0) && column.parse::<u64>().is_ok_and(|n| n > 0), "{name}: {text}");
            }
            assert!(!text.contains("panicked"), "{name}: {text}");
        }
        assert!(!recording.path("out.csv").exists());
        // What is wrong with a file whose kind is known is what `validate` was asked for; then the exit code is 1.
        let output = flowmine().arg("validate").arg(&file).output().unwrap();
        let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(matches!(output.status.code(), Some(1 | 2)) && all.contains(&format!("{}", file.display())), "{name}: {all}");
        let place = place.map(|place| format!("{}{place}", file.display()));
        assert!(place.is_none_or(|place| all.contains(&place)), "{name}: {all}");
        // What was refused is not there, and the dataset takes a better file.
        assert!(said(flowmine().args(["discover", "--log", name, "--dataset"]).arg(&dataset), 2).contains("it has: none"), "{name}");
    }
}

const ODD: &str = r#"{"eventTypes": [{"name": "done", "attributes": []}], "objectTypes": [{"name": "part", "attributes": []}],
 "objects": [{"id": "p1", "type": "part"}],
 "events": [{"id": "e1", "type": "done", "time": "2026-11-20T13:00:00Z", "relationships": [{"objectId": "p1", "qualifier": "of"}]},
  {"id": "e1", "type": "done", "time": "2026-11-20T14:00:00Z", "relationships": [{"objectId": "moon", "qualifier": "of"}]}]}"#;

/// What is against the standard and can be mended is taken, said, and ends with 1.
#[test]
fn an_odd_log_is_imported_and_said_to_be_odd() {
    let recording = Recording::new();
    let file = recording.path("odd.json");
    fs::write(&file, ODD).unwrap();
    let dataset = recording.path("odd-dataset");
    let text = said(&mut import(&dataset, &[&file]), 1);
    assert!(text.contains("error: ") && text.contains("e1#2") && text.contains("\"moon\""), "{text}");
    assert!(text.contains("1 objects and 2 events imported"), "{text}");
    // What is in the dataset is mended.
    let mended = recording.path("mended.ocel.json");
    expect(flowmine().args(["export", "--format", "ocel.json", "--dataset"]).arg(&dataset).arg("-o").arg(&mended), 0);
    expect(flowmine().arg("validate").arg(&mended), 0);
    assert_eq!(counts(&mended), [1, 2, 1, 0]);
    // `validate` says what is wrong, and where.
    let output = expect(flowmine().arg("validate").arg(&file), 1);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("odd.json:4:") && printed.contains("error: ") && printed.contains("moon"), "{printed}");
}

#[test]
fn what_needs_jobs_says_that_there_are_none() {
    let recording = Recording::new();
    let (log, dataset) = (recording.export("xes", "whole", &[]), recording.path("logs"));
    expect(flowmine().args(["import", "log"]).arg(&log).arg("--dataset").arg(&dataset), 0);
    let out = recording.path("out");
    for (command, more) in [("run", vec!["--out".into(), out.into_os_string()]), ("correlate", Vec::new())] {
        assert!(said(flowmine().args([command, "--dataset"]).arg(&dataset).args(more), 2).contains("only logs of others"));
    }
}

const UNTIMED: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849.2016">
<trace><string key="concept:name" value="t"/>
<event><string key="concept:name" value="first"/></event>
<event><string key="concept:name" value="a"/><date key="time:timestamp" value="2020-01-01T10:00:00Z"/></event>
<event><string key="concept:name" value="b"/></event>
<event><int key="concept:name" value="7"/><string key="time:timestamp" value="2020-01-01T24:00:00Z"/></event>
<event><string key="concept:name" value="early"/><date key="time:timestamp" value="2020-01-01T11:00:00Z"/></event>
</trace>
<trace><string key="concept:name" value="t"/><event><string key="concept:name" value="a"/></event></trace>
</log>
"#;

/// Events without a time keep their place and their number in graphs and tables; object-centric
/// logs cannot hold them, which the exit code says.
#[test]
fn events_without_a_time_are_counted_and_keep_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let xes = dir.path().join("untimed.xes");
    fs::write(&xes, UNTIMED).unwrap();
    let output = expect(flowmine().args(["discover", "--format", "json", "--log"]).arg(&xes), 1);
    let graph: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&graph["cases"], &graph["instances"]), (&Value::from(2), &Value::from(6)));
    let edges: Vec<String> = graph["edges"].as_array().unwrap().iter().map(|edge| format!("{} {}", edge["from"], edge["to"])).collect();
    assert_eq!(edges, [r#""7" "early""#, r#""a" "b""#, r#""b" "7""#, r#""first" "a""#]);

    let export = |options: &[&str], code| {
        let to = dir.path().join("untimed.ocel.json");
        let text = said(convert(&xes, "ocel.json", &to).args(options), code);
        let log: Value = serde_json::from_slice(&fs::read(&to).unwrap()).unwrap();
        let events: Vec<String> =
            log["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
        (text, log, events)
    };
    let (text, _, events) = export(&[], 1);
    assert_eq!(events, ["a", "early", "7"]);
    assert!(text.contains("(event_without_time)") && text.contains("(event_order)") && text.contains("(text_time)"), "{text}");
    let (text, log, events) = export(&["--untimed-events", "neighbour"], 1);
    assert_eq!(events, ["first", "a", "b", "early", "7"]);
    assert_eq!(log["events"][2]["attributes"], serde_json::json!([{ "name": "time_unknown", "value": true }]));
    assert!(text.contains("t#2: an event without time:timestamp cannot be in an OCEL log"), "{text}");
    // What a second trace of the same name is called stands beside its id.
    assert_eq!(log["objects"][1]["id"], "t#2");
    assert_eq!(log["objects"][1]["attributes"][0]["value"], "t");

    let csv = dir.path().join("untimed.csv");
    let text = said(&mut convert(&xes, "csv", &csv), 0);
    assert!(text.contains("1 traces have no name, or that of an earlier trace"), "{text}");
    let cases: Vec<String> =
        fs::read_to_string(&csv).unwrap().lines().skip(1).map(|line| line.split(',').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(cases, ["t first", "t a", "t b", "t 7", "t early", "t#2 a"]);
    // Imported into a dataset nothing is lost, and it is the same log.
    let dataset = dir.path().join("dataset");
    expect(&mut import(&dataset, &[&xes]), 0);
    let again = expect(flowmine().args(["discover", "--format", "json", "--dataset"]).arg(&dataset), 1).stdout;
    assert_eq!(serde_json::from_slice::<Value>(&again).unwrap()["edges"], graph["edges"]);
}

const SAID_TWICE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849.2016" xmlns="http://www.xes-standard.org/">
<trace>
<string key="concept:name" value="c"><string key="why" value="kept"/></string><string key="concept:name" value="second"/>
<event><string key="concept:name" value="a"/><string key="concept:name" value="other"/><date key="time:timestamp" value="2020-01-01T10:00:00Z"/></event>
<event><string key="concept:name" value="b"><int key="line" value="7"/></string><date key="time:timestamp" value="2020-01-01T11:00:00Z"/></event>
<event><string key="concept:name" value="c"/><date key="time:timestamp" value="2020-01-01T12:00:00Z"><float key="off" value="0.5"/></date></event>
</trace>
</log>
"#;

/// What becomes an event's type, its time or an object's id is not a way to lose what stands beside
/// or below it.
#[test]
fn names_and_times_that_hold_more_are_kept_or_said() {
    let dir = tempfile::tempdir().unwrap();
    let (xes, to) = (dir.path().join("twice.xes"), dir.path().join("twice.ocel.json"));
    fs::write(&xes, SAID_TWICE).unwrap();
    let text = said(&mut convert(&xes, "ocel.json", &to), 1);
    assert!(text.contains("(repeated_attribute)") && text.contains("concept:name"), "{text}");
    let log: Value = serde_json::from_slice(&fs::read(&to).unwrap()).unwrap();
    let value = |of: &Value, key: &str| {
        let all = of["attributes"].as_array().unwrap().iter();
        let found: Vec<String> = all.filter(|one| one["name"] == key).map(|one| one["value"].as_str().unwrap().to_owned()).collect();
        found.join(" | ")
    };
    assert_eq!((&log["objects"][0]["id"], value(&log["objects"][0], "name").contains("kept")), (&Value::from("c"), true), "{log}");
    let events = log["events"].as_array().unwrap();
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["a", "b", "c"]);
    assert!(value(&events[1], "name").contains(r#""line""#), "{log}");
    assert!(value(&events[2], "time").contains("0.5"), "{log}");
}
