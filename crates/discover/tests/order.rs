//! A model is a function of the log: the order of cases, and of the files that they come from, does
//! not show in any output.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::collections::BTreeMap;
use std::io;

use flowmine_activity_log::{ActivityLog, BytesFrom, InstanceRow, LogBuilder, Measure, Status, UNKNOWN};
use flowmine_discover::pictures;
use flowmine_discover::{
    batches, compare, dotted_chart, findings, gantt, lifecycle, performance_spectrum, process_model, requests, resources, summary,
    temporal_profile, variants,
};
use flowmine_process_models::declare;
use proptest::prelude::*;

/// An instance: activity, resource, when it was ready, waits, runs (in seconds), outcome, bytes,
/// CPUs.
type Row = (u8, u8, i64, i64, i64, u8, i64, i64);

fn log(cases: &[(usize, &Vec<Row>)]) -> ActivityLog {
    let mut builder = LogBuilder::new(&[]);
    for (name, rows) in cases {
        for &(activity, resource, ready, waits, runs, outcome, bytes, cpus) in *rows {
            const SECOND: i64 = 1_000_000_000;
            let status = [Status::Completed, Status::Failed, Status::Aborted, Status::Unknown][usize::from(outcome % 4)];
            let (activity, resource) = (builder.activity(&format!("act {activity}")), builder.resource(&format!("node {resource}")));
            let start_ns = if outcome == 9 { UNKNOWN } else { (ready + waits) * SECOND };
            let row = InstanceRow {
                activity,
                ready_ns: ready * SECOND,
                start_ns,
                end_ns: (ready + waits + runs) * SECOND,
                resource: Some(resource),
                status,
                attempt: u32::from(outcome % 3),
                measures: &[
                    (Measure::ReadBytes, bytes),
                    (Measure::WrittenBytes, bytes / 3),
                    (Measure::UniqueReadBytes, bytes / 2),
                    (Measure::ReadCalls, bytes / 100),
                    (Measure::WriteCalls, bytes / 700),
                    (Measure::IoTimeNs, bytes * 7_001),
                    (Measure::CpuTimeNs, bytes * 333_667),
                    (Measure::Cpus, cpus),
                    (Measure::TimeLimitNs, 1_000 * SECOND),
                ],
                bytes_from: if outcome % 2 == 0 { BytesFrom::Trace } else { BytesFrom::Engine },
                attributes: &[],
            };
            builder.instance(&row).unwrap();
        }
        builder.end_case(&format!("case {name}")).unwrap();
    }
    builder.finish()
}

type Write<'a> = &'a dyn Fn(&mut Vec<u8>) -> io::Result<()>;

fn bytes(write: Write<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    out
}

/// What every model of a log writes, by name.
fn outputs(log: &ActivityLog) -> BTreeMap<String, Vec<u8>> {
    let cases = log.cases().unwrap();
    let mut all = BTreeMap::new();
    let mut put = |name: &str, bytes: Vec<u8>| assert!(all.insert(name.to_owned(), bytes).is_none(), "{name}");
    macro_rules! chart {
        ($picture:ident, $found:expr) => {{
            let found = $found;
            put(concat!(stringify!($picture), ".json"), bytes(&|out| pictures::$picture::json(&found, out)));
            put(concat!(stringify!($picture), ".csv"), bytes(&|out| pictures::$picture::csv(&found, out)));
            found
        }};
    }
    macro_rules! drawn {
        ($picture:ident, $found:expr) => {{
            let found = chart!($picture, $found);
            put(
                concat!(stringify!($picture), ".svg"),
                pictures::$picture::svg(&found, &pictures::$picture::Drawing::default()).into_bytes(),
            );
        }};
    }
    let found = chart!(dfg, flowmine_discover::dfg::dfg(log, cases));
    put("dfg.svg", flowmine_draw::svg::svg(&pictures::dfg::graph(&found, &pictures::dfg::Options::default())).unwrap().into_bytes());
    drawn!(variants, variants::discover(log, cases, &variants::Options::default()));
    drawn!(dotted_chart, dotted_chart::discover(log, cases, &dotted_chart::Options::default()));
    drawn!(performance_spectrum, performance_spectrum::discover(log, cases, &performance_spectrum::Options::default()).unwrap());
    drawn!(batches, batches::discover(log, cases, &batches::Options { merge_distance_ns: 2_000_000_000, ..batches::Options::default() }));
    drawn!(lifecycle, lifecycle::discover(log, cases, &lifecycle::Options::default()));
    drawn!(temporal_profile, temporal_profile::discover(log, cases, &temporal_profile::Options { zeta: 0.5, ..Default::default() }));
    drawn!(gantt, gantt::discover(log, cases, &gantt::Options::default()));
    let found = chart!(summary, summary::discover(log, cases, &summary::Options { cases_by: summary::CasesBy::Duration }));
    put("summary.cases", bytes(&|out| pictures::summary::cases_csv(&found, out)));
    put("summary.txt", pictures::summary::text(&found, &pictures::summary::Drawing::default()).into_bytes());
    let found = chart!(findings, findings::discover(&findings::Input::of(log, cases)));
    put("findings.txt", pictures::findings::text(&found).into_bytes());
    chart!(resources, resources::discover(log, cases));
    chart!(requests, requests::discover(log, cases, requests::Rule::default()));
    let found = process_model::discover(log, cases, &process_model::Options::default()).unwrap();
    put("tree.json", bytes(&|out| pictures::process_model::json(&found, out)));
    put("tree.pnml", pictures::process_model::to_pnml(&found).into_bytes());
    put("tree.txt", pictures::process_model::text(&found).into_bytes());
    let found = process_model::constraints(log, cases, &declare::Options::default()).unwrap();
    put("declare.csv", bytes(&|out| pictures::process_model::constraints_csv(&found, out)));
    put("declare.json", bytes(&|out| pictures::process_model::constraints_json(&found, out)));
    chart!(compare, compare::discover(("one", log, cases), ("other", log, cases)));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Few values, so that there are many ties.
    #[test]
    fn the_order_of_cases_does_not_show(
        cases in prop::collection::vec(
            prop::collection::vec((0..4u8, 0..2u8, 0..4i64, 0..3i64, 0..4i64, 0..10u8, 0..5_000i64, 1..3i64), 1..5),
            1..7,
        ),
        order in Just((0..7usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let given: Vec<(usize, &Vec<Row>)> = cases.iter().enumerate().collect();
        let moved: Vec<(usize, &Vec<Row>)> = order.iter().filter_map(|&at| given.get(at).copied()).collect();
        let (one, other) = (outputs(&log(&given)), outputs(&log(&moved)));
        for (name, bytes) in &one {
            prop_assert!(
                bytes == &other[name],
                "{name} shows the order of cases {order:?}:\n{}\n{}",
                String::from_utf8_lossy(bytes),
                String::from_utf8_lossy(&other[name])
            );
        }
    }
}
