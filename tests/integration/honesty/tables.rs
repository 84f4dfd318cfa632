//! Tables as people have them, orders of events at equal times, and filters: one log in many
//! forms, through the built program, gives one result.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::logs::written;
use super::queue::config;
use crate::support::{csv, expect, flowmine};

fn graph(path: &Path, options: &[&str]) -> (Vec<(String, String)>, String) {
    let output = expect(flowmine().args(["discover", "dfg", "--format", "json", "--log"]).arg(path).args(options), 0);
    let edges = written(&output.stdout).edges.into_keys().collect();
    (edges, String::from_utf8(output.stderr).unwrap())
}

fn refusal(path: &Path, options: &[&str]) -> String {
    let output = expect(flowmine().args(["discover", "dfg", "--format", "json", "--log"]).arg(path).args(options), 2);
    String::from_utf8(output.stderr).unwrap()
}

fn pair(a: &str, b: &str) -> (String, String) {
    (a.to_owned(), b.to_owned())
}

fn utf_16(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn tables_that_people_have_are_read_and_what_was_inferred_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("table.csv");
    let numbered = &["--case-column", "1", "--activity-column", "2", "--timestamp-column", "3"][..];
    // The second event is the earlier one, which only its time shows.
    let forms: [(Vec<u8>, &[&str], &str); 12] = [
        (b"Case ID;Activity;Timestamp\n1;b;18-03-2026 08:00\n1;a;05-04-2025 09:00\n".to_vec(), &[], "dates have the day first"),
        (b"case,activity,time\n1,b,3/18/2026 1:00 PM\n1,a,3/18/2026 9:00 AM\n".to_vec(), &[], "dates have the month first"),
        (b"case,activity,time\n1,b,18 Mar 2026 08:00\n1,a,\"March 5, 2026\"\n".to_vec(), &[], "dates are read by their form: line 2"),
        (
            b"case,activity,time\n1,b,2026/03/18 08:00:00.000\n1,a,2026/03/05 08:00:00.000\n".to_vec(),
            &[],
            "dates are read by their form: line 2",
        ),
        (b"case,activity,date,time\n1,b,18.03.2026,8:00\n1,a,18.03.2026,7:59\n".to_vec(), &[], "dates have the day first"),
        (b"1,b,2026-03-18 08:00:00\n1,a,2026-03-05 08:00:00\n".to_vec(), numbered, "columns are numbered from 1"),
        (b"sep=;\r\ncase;activity;time\r\n1;b;2026-03-18\r\n1;a;2026-03-05\r\n".to_vec(), &[], ""),
        (b"case,activity,time\r1,b,2026-03-18\r1,a,2026-03-05\r".to_vec(), &[], ""),
        (utf_16("case\tactivity\ttime\r\n1\tb\t2026-03-18\r\n1\ta\t2026-03-05\r\n"), &[], "its text is UTF-16LE"),
        (b"case,activity,time\n1,b,46082.708333\n1,a,46082.625\n".to_vec(), &[], "days of a spreadsheet"),
        (b"case,activity,time\n1,b,20260318\n1,a,20260305\n".to_vec(), &[], "the digits of dates"),
        (b"case,activity,time\n1,b,18|2026|03\n1,a,05|2026|03\n".to_vec(), &["--date-format", "%d|%Y|%m", "--delimiter", ","], ""),
    ];
    for (bytes, options, expected) in forms {
        fs::write(&path, &bytes).unwrap();
        let (edges, said) = graph(&path, options);
        assert_eq!(edges, [pair("a", "b")], "{said}");
        let lines = said.lines().filter(|line| line.contains("otherwise")).count();
        assert_eq!((said.contains(expected), lines), (true, usize::from(!expected.is_empty())), "{expected}: {said}");
        let by_path = expect(flowmine().args(["discover", "dfg", "--format", "json"]).arg(&path).args(options), 0);
        assert_eq!(written(&by_path.stdout).edges.into_keys().collect::<Vec<_>>(), edges);
    }
}

#[test]
fn what_a_table_does_not_decide_is_refused_with_the_option() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("table.csv");
    fs::write(&path, "case,activity,time\n1,a,03/04/2026\n1,b,04/03/2026\n").unwrap();
    let said = refusal(&path, &[]);
    assert!(said.contains("which is 2026-04-03 or 2026-03-04") && said.contains("--date-format day-first"), "{said}");
    assert_eq!(graph(&path, &["--date-format", "month-first"]).0, [pair("a", "b")]);
    assert_eq!(graph(&path, &["--date-format", "day-first"]).0, [pair("b", "a")]);
    fs::write(&path, "case,activity,time\n1,a,13/04/2026\n1,b,04/13/2026\n").unwrap();
    assert!(refusal(&path, &[]).contains("no order of day and month fits all dates"));
    fs::write(&path, "1,a,2026-01-01\n").unwrap();
    let said = refusal(&path, &[]);
    assert!(said.contains("--case-column 1") && said.contains("2 has \"a\""), "{said}");
}

#[test]
fn names_that_differ_in_a_byte_are_two() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("table.csv");
    let rows = |names: [&[u8]; 3]| {
        let lines = names.iter().zip(1..).map(|(name, day)| [&b"1,"[..], *name, format!(",2026-01-0{day}\n").as_bytes()].concat());
        [b"case,activity,time\n".to_vec(), lines.collect::<Vec<_>>().concat()].concat()
    };
    fs::write(&path, rows([b"pr\xfcfen", b"pr\xe4fen", b"end"])).unwrap();
    let (edges, said) = graph(&path, &[]);
    assert_eq!(edges, [pair("präfen", "end"), pair("prüfen", "präfen")]);
    assert!(said.contains("line 2, column 2") && said.contains("windows-1252"), "{said}");
    assert_eq!(graph(&path, &["--encoding", "cp1250"]).0, [pair("präfen", "end"), pair("prüfen", "präfen")]);
    fs::write(&path, rows(["prüfen".as_bytes(), "ende".as_bytes(), b"x\xfc"])).unwrap();
    let (edges, said) = graph(&path, &["--encoding", "utf-8"]);
    assert_eq!(edges, [pair("ende", "x\\xfc"), pair("prüfen", "ende")], "{said}");
}

/// As bupaR's tables are: rows are paired by a lifecycle, or by start and end, unless each is asked
/// for by itself.
#[test]
fn events_by_themselves_are_never_paired() {
    let dir = tempfile::tempdir().unwrap();
    let instances = |text: &str, options: &[&str]| {
        let path = dir.path().join("table.csv");
        fs::write(&path, text).unwrap();
        let output = expect(flowmine().args(["discover", "dfg", "--format", "json", "--log"]).arg(&path).args(options), 0);
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["instances"].as_u64().unwrap()
    };
    let patients = "case,handling,number,type,time\n1,x,7,start,2026-01-01\n1,x,7,complete,2026-01-02\n1,y,8,start,2026-01-03\n1,y,8,complete,2026-01-04\n";
    let named = ["--activity-column", "handling", "--lifecycle-column", "type", "--instance-column", "number"];
    assert_eq!(instances(patients, &named), 2);
    assert_eq!(instances(patients, &[&named[..], &["--events", "all"]].concat()), 4);
    let spans = "case,activity,began,time\n1,a,2026-01-01,2026-01-03\n1,b,2026-01-02,2026-01-04\n";
    let edges = |options: &[&str]| {
        instances(spans, options);
        graph(&dir.path().join("table.csv"), options).0.len()
    };
    assert_eq!((edges(&["--start-column", "began"]), edges(&["--start-column", "began", "--events", "all"])), (0, 1));
}

#[test]
fn a_time_frame_that_cuts_cases_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.csv");
    fs::write(&path, "case,activity,time\n1,a,2026-01-01\n1,b,2026-01-05\n1,c,2026-01-09\n2,a,2026-01-05\n3,a,2026-01-09\n").unwrap();
    let frame = ["--from", "2026-01-04", "--to", "2026-01-06"];
    let expected = "the time frame cuts 1 case, of which 2 instances lie outside and are left out";
    let out = dir.path().join("part.csv");
    for command in
        [&["discover", "dfg", "--format", "json", "--log"][..], &["export", "--format", "csv", "-o", out.to_str().unwrap(), "--log"]]
    {
        let said = |options: &[&str]| {
            let output = expect(flowmine().args(command).arg(&path).args(frame).args(options), 0);
            (String::from_utf8(output.stderr).unwrap(), String::from_utf8(output.stdout).unwrap())
        };
        let (said_of_cut, document) = said(&[]);
        assert!(said_of_cut.contains(expected), "{said_of_cut}");
        assert!(command[0] == "export" || document.contains(expected), "{document}");
        for whole in ["contained", "intersecting"] {
            assert!(!said(&["--time-frame", whole]).0.contains("cuts"), "{whole}");
        }
    }
}

/// Two activities that could each be the one that is cut off: the first by name is, as in PM4Py.
#[test]
fn ties_of_the_inductive_miner_go_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.csv");
    // Whatever comes first in the file.
    for cases in [["dc", "daccd"], ["daccd", "dc"]] {
        let rows = cases.iter().zip(1..).flat_map(|(names, case)| {
            names.chars().zip(0..).map(move |(name, hour)| format!("{case},{name},2026-01-0{case}T0{hour}:00:00Z\n"))
        });
        fs::write(&path, format!("case,activity,time\n{}", rows.collect::<String>())).unwrap();
        let output = expect(flowmine().args(["discover", "petri", "--format", "json", "--log"]).arg(&path), 0);
        let precision = serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["precision"].as_f64().unwrap();
        assert!((precision - 9.0 / 14.0).abs() < 1e-12, "{precision}");
    }
}

fn export(from: &Path, format: &str, to: PathBuf, options: &[&str]) -> PathBuf {
    expect(flowmine().args(["export", "--format", format, "--log"]).arg(from).arg("-o").arg(&to).args(options), 0);
    to
}

fn ocdfg(path: &Path) -> Output {
    expect(flowmine().args(["discover", "ocdfg", "--format", "csv", "--log"]).arg(path), 0)
}

/// Events of few times: their activities and times, in the order of the log.
fn events() -> impl Strategy<Value = Vec<(char, u32)>> {
    prop::collection::vec((prop::char::range('a', 'e'), 0..3u32), 1..12)
}

fn run(check: impl Fn(&Path, Vec<(char, u32)>) -> Result<(), TestCaseError>) {
    let checked = TestRunner::new(Config { cases: 8, ..config() }).run(&events(), |mut events| {
        events.sort_by_key(|(_, second)| *second);
        let dir = tempfile::tempdir().unwrap();
        check(dir.path(), events)
    });
    checked.unwrap();
}

#[test]
fn row_order_survives_every_conversion() {
    run(|dir, events| {
        let expected: Vec<(String, String)> = {
            let pairs = events.windows(2).map(|two| pair(&two[0].0.to_string(), &two[1].0.to_string()));
            pairs.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
        };
        let table = dir.join("log.csv");
        let rows: String = events.iter().map(|(name, second)| format!("1,{name},2026-01-01T00:00:0{second}Z\n")).collect();
        fs::write(&table, format!("case,activity,time\n{rows}")).unwrap();
        let xes = export(&table, "xes", dir.join("log.xes"), &[]);
        let parquet = export(&xes, "parquet", dir.join("log.parquet"), &[]);
        let again = export(&parquet, "csv", dir.join("again.csv"), &[]);
        // Through objects and back; each event as often as it is there.
        for format in ["ocel.json", "ocel.xml", "ocel.sqlite"] {
            let objects = export(&again, format, dir.join(format!("log.{format}")), &[]);
            let back = export(&objects, "csv", dir.join(format!("{format}.csv")), &["--case-notion", "object:case"]);
            let rows = csv::rows(&fs::read_to_string(&back).unwrap());
            let names: String = rows.iter().map(|row| row["concept:name"].as_str()).collect();
            prop_assert_eq!(names, events.iter().map(|(name, _)| *name).collect::<String>(), "{}", format);
        }
        let dataset = dir.join("dataset");
        expect(flowmine().args(["import", "log"]).arg(&parquet).arg("--dataset").arg(&dataset), 0);
        for path in [&table, &xes, &parquet, &again] {
            prop_assert_eq!(&graph(path, &["--events", "all"]).0, &expected, "{}", path.display());
        }
        let of_dataset = expect(flowmine().args(["discover", "dfg", "--format", "json", "--events", "all", "--dataset"]).arg(&dataset), 0);
        prop_assert_eq!(&written(&of_dataset.stdout).edges.into_keys().collect::<Vec<_>>(), &expected);
        Ok(())
    });
}

#[test]
fn event_order_survives_every_conversion_of_objects() {
    run(|dir, events| {
        // Ids descend, so that their order is never that of the events.
        let count = events.len();
        let list: Vec<String> = (events.iter().enumerate())
            .map(|(at, (name, second))| {
                format!(
                    r#"{{"id":"e{:02}","type":"{name}","time":"2026-01-01T00:00:0{second}Z","relationships":[{{"objectId":"o","qualifier":"q"}}]}}"#,
                    count - at
                )
            })
            .collect();
        let types: Vec<String> = "abcde".chars().map(|name| format!(r#"{{"name":"{name}","attributes":[]}}"#)).collect();
        let json = dir.join("log.json");
        let text = format!(
            r#"{{"eventTypes":[{}],"objectTypes":[{{"name":"t","attributes":[]}}],"objects":[{{"id":"o","type":"t"}}],"events":[{}]}}"#,
            types.join(","),
            list.join(",")
        );
        fs::write(&json, text).unwrap();
        let sqlite = export(&json, "ocel.sqlite", dir.join("log.sqlite"), &[]);
        let xml = export(&sqlite, "ocel.xml", dir.join("log.xml"), &[]);
        let again = export(&xml, "ocel.sqlite", dir.join("again.sqlite"), &[]);
        let last = export(&again, "ocel.json", dir.join("again.json"), &[]);
        let expected = ocdfg(&json);
        for path in [&sqlite, &xml, &again, &last] {
            prop_assert!(ocdfg(path).stdout == expected.stdout, "{}", path.display());
        }
        let cases = export(&sqlite, "xes", dir.join("log.xes"), &["--case-notion", "object:t"]);
        let edges: std::collections::BTreeSet<_> =
            events.windows(2).map(|two| pair(&two[0].0.to_string(), &two[1].0.to_string())).collect();
        prop_assert_eq!(graph(&cases, &["--events", "all"]).0, edges.into_iter().collect::<Vec<_>>());
        expect(flowmine().arg("validate").arg(&sqlite).arg(&again), 0);
        Ok(())
    });
}

#[test]
fn filters_choose_the_same_in_discover_and_export() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("log.csv");
    let rows = "case,activity,timestamp,cost\n\
        long,submit,2026-01-01 08:00:00,5\nlong,run,2026-01-06 08:00:00,50\nlong,end,2026-01-21 08:00:00,7\n\
        span,start,2026-01-01 08:00:00,1\nspan,end,2026-01-21 08:00:00,2\n\
        again,run,2026-01-02 08:00:00,1\nagain,run,2026-01-02 09:00:00,1\n";
    fs::write(&table, rows).unwrap();
    let xes = export(&table, "xes", dir.path().join("log.xes"), &[]);
    let frame = ["--from", "2026-01-05", "--to", "2026-01-10"];
    let framed = |name| [&frame[..], &["--time-frame", name]].concat();
    for (options, expected) in [
        (framed("trimmed"), "long:run"),
        (framed("intersecting"), "long:submit,run,end span:start,end"),
        (framed("contained"), ""),
        (vec!["--to", "2026-01-03", "--time-frame", "contained"], "again:run,run"),
        (vec!["--starts-with", "submit", "--ends-with", "end"], "long:submit,run,end"),
        (vec!["--min-duration", "20d"], "long:submit,run,end span:start,end"),
        (vec!["--max-duration", "1h"], "again:run,run"),
        (vec!["--max-size", "2"], "span:start,end again:run,run"),
        (vec!["--eventually", "submit=>end"], "long:submit,run,end"),
        (vec!["--between", "submit=>run"], "long:submit,run"),
        (vec!["--rework", "run"], "again:run,run"),
        (vec!["--where", "cost>=5"], "long:submit,run,end"),
        (vec!["--where", "cost!=1"], "long:submit,run,end span:end"),
        (vec!["--cases-where", "cost=2", "--cases-where", "cost=50"], "long:submit,run,end span:start,end"),
    ] {
        for path in [&table, &xes] {
            let filtered = expect(flowmine().args(["export", "--format", "csv", "--log"]).arg(path).args(&options), 0);
            let filtered = String::from_utf8(filtered.stdout).unwrap();
            let mut cases: Vec<(String, Vec<String>)> = Vec::new();
            for row in filtered.lines().skip(1) {
                let mut fields = row.split(',').map(str::to_owned);
                let (case, activity) = (fields.next().unwrap(), fields.next().unwrap());
                match cases.last_mut() {
                    Some((last, activities)) if *last == case => activities.push(activity),
                    _ => cases.push((case, vec![activity])),
                }
            }
            let shown: Vec<String> = cases.iter().map(|(case, activities)| format!("{case}:{}", activities.join(","))).collect();
            assert_eq!(shown.join(" "), expected, "{options:?} {}", path.display());
            let discovered = expect(flowmine().args(["discover", "dfg", "--format", "json", "--log"]).arg(path).args(&options), 0);
            let count: u64 = written(&discovered.stdout).activities.values().map(|of| of.0).sum();
            assert_eq!(count as usize, cases.iter().map(|(_, activities)| activities.len()).sum::<usize>(), "{options:?}");
        }
    }
    for path in [&table, &xes] {
        let said = refusal(path, &["--where", "colour=red"]);
        assert!(said.contains("colour") && said.contains("cost"), "{said}");
    }
}

#[test]
fn qualifiers_choose_relations() {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("log.json");
    let event = |id: &str, kind: &str, day: u32, qualifier: &str| {
        format!(
            r#"{{"id":"{id}","type":"{kind}","time":"2026-01-0{day}T00:00:00Z","relationships":[{{"objectId":"o","qualifier":"{qualifier}"}}]}}"#
        )
    };
    let events = [event("1", "a", 1, "in"), event("2", "b", 2, "out"), event("3", "c", 3, "in")].join(",");
    let types = ["a", "b", "c"].map(|name| format!(r#"{{"name":"{name}","attributes":[]}}"#)).join(",");
    let text = format!(
        r#"{{"eventTypes":[{types}],"objectTypes":[{{"name":"t","attributes":[]}}],"objects":[{{"id":"o","type":"t"}}],"events":[{events}]}}"#
    );
    fs::write(&json, text).unwrap();
    let case = ["--case-notion", "object:t", "--qualifier", "in"];
    assert_eq!(graph(&json, &case).0, [pair("a", "c")]);
    let chosen = export(&json, "ocel.json", dir.path().join("chosen.json"), &["--qualifier", "in"]);
    assert_eq!(graph(&chosen, &case[..2]).0, [pair("a", "c")]);
    let said = refusal(&json, &["--case-notion", "object:t", "--qualifier", "inn"]);
    assert!(said.contains("there are: in, out"), "{said}");
}

#[test]
fn a_start_timestamp_of_xes_is_a_start() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("log.csv");
    let rows = "case,activity,start,end\n1,a,2026-01-01T08:00:00Z,2026-01-01T09:00:00Z\n1,b,2026-01-01T09:30:00Z,2026-01-01T11:00:00Z\n";
    fs::write(&table, rows).unwrap();
    let xes = export(&table, "xes", dir.path().join("log.xes"), &[]);
    assert!(fs::read_to_string(&xes).unwrap().contains("<date key=\"start_timestamp\""));
    let read = |path: &Path| {
        let output = expect(flowmine().args(["discover", "dfg", "--format", "json", "--log"]).arg(path), 0);
        written(&output.stdout)
    };
    assert_eq!(read(&xes), read(&table));
    assert_eq!(read(&xes).activities["b"], (1, 1, 5400, 5400, 5400));
}
