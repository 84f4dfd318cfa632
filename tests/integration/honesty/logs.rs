//! Honesty of logs: where the program ends with 0 and says nothing, what it writes is what a small
//! model of its own here computes from the same instances; where times contradict each other, it
//! says so and the model leaves them out.
//!
//! The model shares no code with the program: it looks at all pairs of a case.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use super::queue::config;
use crate::support::{expect, flowmine};

/// An activity with its start and end, in seconds of a day; no two moments of a case are equal.
pub(super) type Interval = (char, u32, u32);

/// What the program and the model say of a log: instances, edges and their times in seconds.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Graph {
    /// Instances, and of those whose length is known the number, sum, least and most.
    pub(super) activities: BTreeMap<String, (u64, u64, i64, i64, i64)>,
    /// How often, in how many cases, and the sum of the known waits.
    pub(super) edges: BTreeMap<(String, String), (u64, u64, i64)>,
    /// Cases in which nothing precedes an instance of the activity; in which nothing follows it.
    pub(super) starts: BTreeMap<String, u64>,
    pub(super) ends: BTreeMap<String, u64>,
}

/// The graph by its definition.
pub(super) fn model(cases: &[Vec<Interval>]) -> Graph {
    let mut graph = Graph::default();
    for case in cases {
        for &(name, start, end) in case {
            let of = graph.activities.entry(name.to_string()).or_default();
            let time = i64::from(end) - i64::from(start);
            *of = match of {
                (n, 0, ..) => (*n + 1, 1, time, time, time),
                (n, known, sum, least, most) => (*n + 1, *known + 1, *sum + time, (*least).min(time), (*most).max(time)),
            };
        }
        let (mut edges, mut starts, mut ends) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for b in case {
            // What ended last of each activity that precedes `b` with nothing between.
            let mut last: BTreeMap<char, u32> = BTreeMap::new();
            for a in case.iter().filter(|a| a.2 < b.1) {
                if !case.iter().any(|c| a.2 < c.1 && c.2 < b.1) {
                    let known = last.entry(a.0).or_default();
                    *known = (*known).max(a.2);
                }
            }
            for (name, ended) in last {
                let edge: &mut (u64, i64) = edges.entry((name.to_string(), b.0.to_string())).or_default();
                *edge = (edge.0 + 1, edge.1 + i64::from(b.1 - ended));
            }
            if case.iter().all(|a| a.2 > b.1) {
                starts.insert(b.0.to_string(), 1);
            }
            if case.iter().all(|a| a.1 < b.2) {
                ends.insert(b.0.to_string(), 1);
            }
        }
        for (pair, (count, wait)) in edges {
            let of = graph.edges.entry(pair).or_default();
            *of = (of.0 + count, of.1 + 1, of.2 + wait);
        }
        starts.into_iter().for_each(|(name, one)| *graph.starts.entry(name).or_default() += one);
        ends.into_iter().for_each(|(name, one)| *graph.ends.entry(name).or_default() += one);
    }
    graph
}

/// The graph that the program wrote as JSON.
pub(super) fn written(json: &[u8]) -> Graph {
    let json: Value = serde_json::from_slice(json).unwrap();
    let list = |key: &str| json[key].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let seconds = |value: &Value| value.as_f64().unwrap().round() as i64;
    let terminals = |key| list(key).iter().map(|of| (text(&of["activity"]), of["cases"].as_u64().unwrap())).collect();
    Graph {
        activities: (list("activities").iter())
            .map(|of| {
                let service = &of["service_s"];
                let known = service["count"].as_u64().unwrap_or(0);
                let of_known = |key: &str| if known > 0 { seconds(&service[key]) } else { 0 };
                (text(&of["name"]), (of["frequency"].as_u64().unwrap(), known, of_known("sum"), of_known("min"), of_known("max")))
            })
            .collect(),
        edges: (list("edges").iter())
            .map(|of| {
                let wait = seconds(&of["wait_s"]["sum"]);
                ((text(&of["from"]), text(&of["to"])), (of["frequency"].as_u64().unwrap(), of["cases"].as_u64().unwrap(), wait))
            })
            .collect(),
        starts: terminals("start_activities"),
        ends: terminals("end_activities"),
    }
}

/// A second of the day as text.
pub(super) fn time(second: u32) -> String {
    format!("2026-01-02T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

fn csv(cases: &[(usize, &Vec<Interval>)], time: impl Fn(u32) -> String) -> String {
    let mut text = "case,activity,start,end\n".to_owned();
    for (name, case) in cases {
        for &(activity, start, end) in *case {
            text.push_str(&format!("{name},{activity},{},{}\n", time(start), time(end)));
        }
    }
    text
}

fn xes(cases: &[Vec<Interval>]) -> String {
    let mut text = "<log xes.version=\"1.0\">".to_owned();
    for (name, case) in cases.iter().enumerate() {
        text.push_str(&format!("<trace><string key=\"concept:name\" value=\"{name}\"/>"));
        let moments = case
            .iter()
            .enumerate()
            .flat_map(|(at, &(activity, start, end))| [(start, activity, at, "start"), (end, activity, at, "complete")]);
        let mut moments: Vec<_> = moments.collect();
        moments.sort();
        for (second, activity, instance, transition) in moments {
            text.push_str(&format!(
                "<event><string key=\"concept:name\" value=\"{activity}\"/><string key=\"concept:instance\" value=\"{instance}\"/>\
                 <string key=\"lifecycle:transition\" value=\"{transition}\"/><date key=\"time:timestamp\" value=\"{}\"/></event>",
                time(second)
            ));
        }
        text.push_str("</trace>");
    }
    text + "</log>"
}

/// What a model of these logs is, and what was said.
fn discover(source: &str, from: &[PathBuf], model: &str) -> (Vec<u8>, String) {
    let mut command = flowmine();
    command.args(["discover", model, "--format", "json"]);
    from.iter().for_each(|path| _ = command.arg(source).arg(path));
    let output = expect(&mut command, 0);
    (output.stdout, String::from_utf8(output.stderr).unwrap())
}

/// Cases of intervals whose moments all differ.
pub(super) fn cases() -> impl Strategy<Value = Vec<Vec<Interval>>> {
    let case = (1..6usize).prop_flat_map(|n| {
        let moments: Vec<u32> = (1..=2 * n as u32).collect();
        (prop::collection::vec(prop::char::range('a', 'c'), n), Just(moments).prop_shuffle(), 1..500u32)
    });
    let case = case.prop_map(|(names, moments, scale)| {
        let pair = |(name, at): (char, &[u32])| (name, scale * at[0].min(at[1]), scale * at[0].max(at[1]));
        names.into_iter().zip(moments.chunks(2)).map(pair).collect()
    });
    prop::collection::vec(case, 1..6)
}

fn run(times: u32, check: impl Fn(&Path, Vec<Vec<Interval>>) -> Result<(), TestCaseError>) {
    let mut runner = TestRunner::new(Config { cases: times, ..config() });
    let checked = runner.run(&cases(), |cases| {
        let dir = tempfile::tempdir().unwrap();
        check(dir.path(), cases)
    });
    checked.unwrap();
}

#[test]
fn every_source_gives_the_graph_of_the_definition() {
    run(12, |dir, cases| {
        let expected = model(&cases);
        let (table, log, parquet, dataset) = (dir.join("log.csv"), dir.join("log.xes"), dir.join("log.parquet"), dir.join("dataset"));
        fs::write(&table, csv(&cases.iter().enumerate().collect::<Vec<_>>(), time)).unwrap();
        fs::write(&log, xes(&cases)).unwrap();
        expect(flowmine().args(["export", "--format", "parquet", "--log"]).arg(&log).arg("-o").arg(&parquet), 0);
        expect(flowmine().args(["import", "log"]).arg(&log).arg("--dataset").arg(&dataset), 0);
        for (source, path) in [("--log", table), ("--log", log), ("--log", parquet), ("--dataset", dataset)] {
            let (json, said) = discover(source, std::slice::from_ref(&path), "dfg");
            prop_assert_eq!(&said, "", "{}", path.display());
            prop_assert_eq!(&written(&json), &expected, "{}", path.display());
        }
        Ok(())
    });
}

#[test]
fn numbers_are_times_in_one_unit_that_is_said() {
    run(6, |dir, cases| {
        let expected = model(&cases);
        for (unit, factor) in [("seconds", 1), ("milliseconds", 1_000), ("microseconds", 1_000_000), ("nanoseconds", 1_000_000_000_i64)] {
            let path = dir.join("numbers.csv");
            let number = |second: u32| ((1_795_000_000 + i64::from(second)) * factor).to_string();
            fs::write(&path, csv(&cases.iter().enumerate().collect::<Vec<_>>(), number)).unwrap();
            let (json, said) = discover("--log", &[path], "dfg");
            prop_assert!(said.contains(&format!("interpreted as {unit} since 1970")), "{}", said);
            prop_assert_eq!(&written(&json), &expected);
        }
        Ok(())
    });
}

#[test]
fn parts_say_what_the_whole_says() {
    const MODELS: [&str; 13] = [
        "dfg",
        "variants",
        "dotted-chart",
        "performance-spectrum",
        "batches",
        "lifecycle",
        "temporal-profile",
        "summary",
        "findings",
        "gantt",
        "tree",
        "petri",
        "declare",
    ];
    run(4, |dir, cases| {
        let all: Vec<(usize, &Vec<Interval>)> = cases.iter().enumerate().collect();
        let (even, odd): (Vec<_>, Vec<_>) = all.iter().copied().partition(|(at, _)| at % 2 == 0);
        let paths: Vec<PathBuf> = ["whole.csv", "odd.csv", "even.csv"].iter().map(|name| dir.join(name)).collect();
        for (path, cases) in paths.iter().zip([&all, &odd, &even]) {
            fs::write(path, csv(cases, time)).unwrap();
        }
        let parts = if odd.is_empty() { &paths[2..] } else { &paths[1..] };
        for model in MODELS {
            let (whole, parts) = (discover("--log", &paths[..1], model), discover("--log", parts, model));
            prop_assert!(whole == parts, "{model}:\n{}\n{}", String::from_utf8_lossy(&whole.0), String::from_utf8_lossy(&parts.0));
        }
        Ok(())
    });
}

#[test]
fn an_end_before_its_start_is_said_and_is_no_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.csv");
    fs::write(&path, csv(&[(1, &vec![('a', 7200, 3600), ('b', 10_800, 14_400)])], time)).unwrap();
    for model in ["dfg", "gantt", "summary", "lifecycle", "batches", "findings", "variants", "temporal-profile", "dotted-chart"] {
        let (_, said) = discover("--log", std::slice::from_ref(&path), model);
        assert!(said.contains("1 instance ends before it starts, and its end counts as unknown"), "{model}: {said}");
    }
    let graph: Value = serde_json::from_slice(&discover("--log", &[path], "dfg").0).unwrap();
    assert_eq!((&graph["activities"][0]["service_s"], &graph["steps_without_time"]), (&Value::Null, &Value::from(1)));
    assert_eq!(graph["activities"][1]["service_s"]["sum"], Value::from(3600.0));
}

#[test]
fn units_that_do_not_fit_together_are_refused_or_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.csv");
    fs::write(&path, "case,activity,time\nc,A,9000000000\nc,B,100000000000\nc,C,200000000000\n").unwrap();
    let (json, said) = discover("--log", std::slice::from_ref(&path), "dfg");
    let edges = written(&json).edges.into_keys().collect::<Vec<_>>();
    assert_eq!(edges, [("A".to_owned(), "B".to_owned()), ("B".to_owned(), "C".to_owned())]);
    assert!(said.contains("line 4, column 3 has 200000000000"), "{said}");
    fs::write(&path, "case,activity,time\nc,A,1700000000\nc,B,1700000010000\n").unwrap();
    let refused = |options: &[&str], code| {
        let output = expect(flowmine().args(["discover", "--log"]).arg(&path).args(["--format", "json"]).args(options), code);
        String::from_utf8(output.stderr).unwrap()
    };
    let said = refused(&[], 2);
    assert!(said.contains("log.csv") && said.contains("line 2, column 3 has 1700000000 seconds"), "{said}");
    assert_eq!(refused(&["--timestamp-unit", "ms"], 0), "");
}

#[test]
fn texts_with_apostrophes_stay_what_they_are() {
    let names = ["=x", "'=x", "''=x", "x", "'x", "-5", "+a", "@", "-inf"];
    let dir = tempfile::tempdir().unwrap();
    let (foreign, log, ours) = (dir.path().join("foreign.csv"), dir.path().join("log.xes"), dir.path().join("ours.csv"));
    let rows = names.iter().zip(0..).map(|(name, at)| format!("c,{name},{}\n", time(at)));
    fs::write(&foreign, rows.fold("case,activity,time\n".to_owned(), |text, row| text + &row)).unwrap();
    let events = names.iter().zip(0..).map(|(name, at)| {
        format!("<event><string key=\"concept:name\" value=\"{name}\"/><date key=\"time:timestamp\" value=\"{}\"/></event>", time(at))
    });
    let events: String = events.collect();
    fs::write(&log, format!("<log xes.version=\"1.0\"><trace><string key=\"concept:name\" value=\"c\"/>{events}</trace></log>")).unwrap();
    expect(flowmine().args(["export", "--format", "csv", "--log"]).arg(&log).arg("-o").arg(&ours), 0);
    let mut sorted = names.map(str::to_owned).to_vec();
    sorted.sort();
    for path in [foreign, log, ours] {
        let found: Vec<String> = written(&discover("--log", std::slice::from_ref(&path), "dfg").0).activities.into_keys().collect();
        assert_eq!(found, sorted, "{}", path.display());
    }
}

#[test]
fn an_unknown_ending_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.csv");
    fs::write(&path, csv(&[(1, &vec![('a', 1, 2)])], time)).unwrap();
    for (name, code) in [("x.pdf", 2), ("x.html", 2), ("x.svgz", 2), ("x", 0), ("x.SVG", 0)] {
        let to = dir.path().join(name);
        let output = expect(flowmine().args(["discover", "--log"]).arg(&path).arg("-o").arg(&to), code);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(to.exists(), code == 0, "{name}");
        assert!(code == 0 || said.contains("The endings known here are .svg, .png, .dot"), "{said}");
    }
}
