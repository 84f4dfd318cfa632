//! Small workflows of Makeflow with mistakes that are known (`tests/workflows/planted.py`), traced:
//! a check finds each of them and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use super::place::{Place, flowmine, run};
use super::{Expected, Shows, alone, ebpf, fixture, makeflow};

type Finding = (String, String, String);

/// What was planted, by run.
fn planted(file: &Path) -> BTreeMap<String, BTreeSet<Finding>> {
    let mut planted: BTreeMap<String, BTreeSet<Finding>> = BTreeMap::new();
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let [run, kind, first, second] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let of = planted.entry(run.to_owned()).or_default();
        of.insert((kind.to_owned(), first.to_owned(), second.to_owned()));
        // Who reads what he does not wait for does not declare the file either.
        if kind == "missing_dependency" {
            of.insert(("undeclared_input".to_owned(), first.to_owned(), second.to_owned()));
        }
    }
    planted
}

fn check(dataset: &Path, planted: &BTreeMap<String, BTreeSet<Finding>>, count: usize) {
    for number in 0..count {
        let name = format!("{number:02}.makeflow");
        let output = run(flowmine().args(["discover", "dependency-audit", "--format", "json", "--run", &name, "--dataset"]).arg(dataset));
        let check: Json = serde_json::from_slice(&output.stdout).unwrap();
        let text = |of: &Json, key: &str| of[key].as_str().unwrap().to_owned();
        let found = check["findings"].as_array().unwrap().iter();
        let found: BTreeSet<Finding> =
            found.map(|of| (text(of, "kind"), text(of, "first_activity"), text(of, "second_activity"))).collect();
        assert_eq!(found, planted.get(&name).cloned().unwrap_or_default(), "{name}: {check}");
        assert!(check["tasks"].as_u64() >= Some(5) && check["not_traced"] == 0, "{name}: {check}");
    }
}

#[test]
fn planted_mistakes_are_found() {
    let _alone = alone();
    if !ebpf() || !makeflow::present() {
        return;
    }
    // All of them where a run is recorded.
    let count = if std::env::var_os("FLOWMINE_RECORD").is_some() { 50 } else { 5 };
    let place = Place::new(&Expected::new(Vec::new(), Shows::PLAIN));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/workflows/planted.py");
    run(Command::new("python3").arg(script).arg(count.to_string()).arg(place.run()));
    let all = "for flow in ??.makeflow; do makeflow -T local --log-verbose -j 20 $flow || exit 1; done";
    run(place.trace().args(["--", "sh", "-c", all]));
    place.import("makeflow", &["."]);
    run(flowmine().args(["correlate", "--dataset"]).arg(place.dataset()));
    check(&place.dataset(), &planted(&place.run().join("planted.tsv")), count);
}

#[test]
fn fifty_recorded_workflows_with_planted_mistakes() {
    let copy = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dataset = copy.path().join("dataset");
    run(Command::new("cp").arg("-r").arg(fixture("planted").join("dataset")).arg(&dataset));
    run(flowmine().args(["correlate", "--dataset"]).arg(&dataset));
    let planted = planted(&fixture("planted").join("planted.tsv"));
    let kinds = |kind: &str| planted.values().flatten().filter(|(of, ..)| of == kind).count();
    assert_eq!((kinds("missing_dependency"), kinds("needless_dependency"), planted.len()), (40, 42, 39));
    check(&dataset, &planted, 50);
}
