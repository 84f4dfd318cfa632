//! Temporal profiles and batches held against PM4Py 2.7.23.11. `pm4py_oracle.py` made the logs and
//! what PM4Py says of them; nothing here needs Python.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{ActivityLog, BytesFrom, InstanceRow, LogBuilder, Status, UNKNOWN};
use flowmine_discover::batches::{self, BatchKind};
use flowmine_discover::temporal_profile;
use serde::Deserialize;

#[derive(Deserialize)]
struct Oracle {
    rows: Vec<(String, String, i64, i64, String)>,
    profile: Profile,
    distance_s: i64,
    batches_sorted: Vec<Batch>,
}

/// Activity, resource, kind, start and end in microseconds, instances, cases.
type Batch = (String, String, String, i64, i64, u64, Vec<String>);

#[derive(Deserialize)]
struct Profile {
    /// Activities, mean and standard deviation in seconds.
    pairs: Vec<(String, String, f64, f64)>,
    deviating_2: u64,
}

fn oracles() -> BTreeMap<String, Oracle> {
    serde_json::from_str(include_str!("pm4py.json")).expect("the fixture is JSON")
}

fn log(oracle: &Oracle) -> ActivityLog {
    let mut builder = LogBuilder::new(&[]);
    let mut cases: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for row in &oracle.rows {
        cases.entry(&row.0).or_default().push(row);
    }
    for (case, rows) in cases {
        for (_, activity, start, end, resource) in rows {
            let row = InstanceRow {
                activity: builder.activity(activity),
                ready_ns: UNKNOWN,
                start_ns: start * 1000,
                end_ns: end * 1000,
                resource: Some(builder.resource(resource)),
                status: Status::Unknown,
                attempt: 0,
                measures: &[],
                bytes_from: BytesFrom::Nobody,
                attributes: &[],
            };
            builder.instance(&row).expect("few");
        }
        builder.end_case(case).expect("few");
    }
    builder.finish()
}

#[test]
fn temporal_profiles_equal_pm4pys() {
    let mut compared = 0;
    for (name, oracle) in oracles() {
        let log = log(&oracle);
        let cases = log.cases().expect("it has cases");
        let options = temporal_profile::Options { zeta: 2.0, ..Default::default() };
        let profile = temporal_profile::discover(&log, cases, &options);
        let of = |at: u32| profile.activities[at as usize].clone();
        let ours: BTreeMap<(String, String), (f64, f64)> =
            profile.pairs.iter().map(|pair| ((of(pair.from), of(pair.to)), (pair.mean_ns / 1e9, pair.stdev_ns / 1e9))).collect();
        assert_eq!(ours.len(), oracle.profile.pairs.len(), "{name}");
        for (from, to, mean, stdev) in &oracle.profile.pairs {
            let (our_mean, our_stdev) = ours[&(from.clone(), to.clone())];
            for (ours, theirs) in [(our_mean, *mean), (our_stdev, *stdev)] {
                assert!((ours - theirs).abs() <= 1e-6 * theirs.abs().max(1e-9), "{name}: {from} {to} {ours} {theirs}");
                compared += 1;
            }
        }
        assert_eq!(profile.deviating, oracle.profile.deviating_2, "{name}");
        assert_eq!(profile.deviations.len() as u64, profile.deviating, "{name}");
        assert!(profile.deviations.iter().all(|found| found.deviations.is_none_or(|far| far > 2.0)));
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn batches_equal_pm4pys() {
    let mut kinds = BTreeSet::new();
    for (name, oracle) in oracles() {
        let log = log(&oracle);
        let cases = log.cases().expect("it has cases");
        let options = batches::Options { merge_distance_ns: oracle.distance_s * 1_000_000_000, ..Default::default() };
        let found = batches::discover(&log, cases, &options);
        let word = |kind: BatchKind| match kind {
            BatchKind::Simultaneous => "Simultaneous",
            BatchKind::AtStart => "Batching on Start",
            BatchKind::AtEnd => "Batching on End",
            BatchKind::Sequential => "Sequential batching",
            BatchKind::Concurrent => "Concurrent batching",
        };
        let mut ours = Vec::new();
        for group in &found.groups {
            for batch in &group.batches {
                let mut names = batch.cases.clone();
                names.sort();
                let resource = group.resource.clone().expect("all have one");
                let kind = word(batch.kind).to_owned();
                let (start, end) = (batch.start_ns / 1000, batch.end_ns / 1000);
                ours.push((group.activity.clone(), resource, kind, start, end, batch.instances, names));
                kinds.insert(batch.kind);
            }
        }
        ours.sort();
        assert_eq!(ours, oracle.batches_sorted, "{name}");
    }
    assert_eq!(kinds.len(), 5, "every kind is there");
}
