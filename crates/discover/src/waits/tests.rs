//! Planted situations, and sums against a small model.

use flowmine_activity_log::{JobWait, WaitKind, WaitPart};
use proptest::prelude::*;

use super::{Builder, Waits};
use crate::pictures;

const HOUR: i64 = 3_600_000_000_000;

fn part(cause: &'static str, kind: WaitKind, from: i64, to: i64) -> WaitPart<'static> {
    let (from_ns, to_ns) = (from * HOUR, to * HOUR);
    WaitPart {
        cause,
        kind,
        from_ns,
        to_ns,
        from_within_ns: (from_ns, from_ns),
        to_within_ns: (to_ns, to_ns),
        reason: None,
        limit: None,
        predecessors: None,
        evidence: "poll",
    }
}

fn job(job: &'static str, user: &'static str, cpus: i64, parts: Vec<WaitPart<'static>>) -> JobWait<'static> {
    let (cluster, account, partition) = ("lab", Some("chem"), Some("main"));
    JobWait {
        cluster,
        job,
        user: Some(user),
        account,
        partition,
        cpus: Some(cpus),
        activity: "step.sh",
        run: job,
        attempt: 1,
        parts,
        ..JobWait::default()
    }
}

fn found(jobs: &[JobWait<'_>]) -> Waits {
    let mut builder = Builder::default();
    jobs.iter().for_each(|job| builder.add(job));
    builder.finish()
}

fn first_line(jobs: &[JobWait<'_>]) -> String {
    pictures::waits::text(&found(jobs)).lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_first_line_names_the_cause_the_limit_the_user_and_the_core_hours() {
    let running = part("running", WaitKind::Started, 0, 1);
    let of = |cause, kind| vec![job("1", "ann", 4, vec![part(cause, kind, 0, 10)]), job("2", "bob", 1, vec![running.clone()])];
    for (cause, kind) in [
        ("partition_down", WaitKind::Queue),
        ("held_by_admin", WaitKind::Wish),
        ("resources", WaitKind::Queue),
        ("array_throttle", WaitKind::Wish),
        ("never_satisfiable", WaitKind::Wish),
    ] {
        assert_eq!(first_line(&of(cause, kind)), format!("40.00 core-hours, 10h 00m: {cause}, partition main, user ann"));
    }
    let limit = WaitPart { limit: Some("QOSMaxCpuPerUserLimit"), ..part("limit_of_user", WaitKind::Queue, 0, 2) };
    let line = first_line(&[job("1", "bob", 8, vec![limit])]);
    assert_eq!(line, "16.00 core-hours, 2h 00m: limit_of_user QOSMaxCpuPerUserLimit, partition main, user bob");
}

#[test]
fn predecessors_come_last_whatever_their_core_hours() {
    let jobs = [
        job("1", "ann", 64, vec![part("predecessor", WaitKind::Predecessor, 0, 100)]),
        job("2", "ann", 1, vec![part("priority", WaitKind::Queue, 0, 1)]),
    ];
    let causes: Vec<&str> = found(&jobs).causes.iter().map(|row| row.cause).collect();
    assert_eq!(causes, ["priority", "predecessor"]);
}

#[test]
fn who_ran_in_the_partition_meanwhile() {
    let wide = part("running", WaitKind::Started, 0, 6);
    let jobs = [
        job("1", "eve", 512, vec![wide.clone()]),
        job("2", "bob", 2, vec![wide.clone()]),
        JobWait { partition: Some("other"), ..job("3", "carl", 999, vec![wide]) },
        job("4", "ann", 1, vec![part("resources", WaitKind::Queue, 2, 5), part("running", WaitKind::Started, 5, 6)]),
        JobWait { partition: Some("main,short"), ..job("5", "ann", 1, vec![part("resources", WaitKind::Queue, 3, 6)]) },
    ];
    let row = &found(&jobs).causes[0];
    let who: Vec<(&str, i128)> = row.occupants.iter().map(|of| (of.user.as_str(), of.core_ns / i128::from(HOUR))).collect();
    // From hour 2 to 6, in which jobs waited; each time counts once.
    assert_eq!(who, [("eve", 4 * 512), ("bob", 4 * 2), ("ann", 1)]);
    assert_eq!(row.examples[0].job, "4");
}

#[test]
fn by_user_hour_and_week() {
    let jobs = [
        job("1", "ann", 2, vec![part("queued", WaitKind::Queue, 5, 7), part("running", WaitKind::Started, 7, 8)]),
        job("2", "ann", 2, vec![part("held_by_user", WaitKind::Wish, 5, 6), part("priority", WaitKind::Queue, 6, 7)]),
        job("3", "bob", 8, vec![part("running", WaitKind::Started, 6, 9)]),
    ];
    let found = found(&jobs);
    let of = |name: &str| &found.by.iter().find(|of| of.name == name).expect("a dimension").rows;
    let users: Vec<_> =
        of("user").iter().map(|row| (row.value.as_str(), row.jobs, row.queue_core_ns / i128::from(HOUR), row.main_cause)).collect();
    assert_eq!(users, [("ann", 2, 6, Some("queued")), ("bob", 1, 0, None)]);
    assert_eq!((of("user")[0].wish_ns, of("user")[0].median_queue_ns), (i128::from(HOUR), HOUR));
    let hours: Vec<&str> = of("hour").iter().map(|row| row.value.as_str()).collect();
    assert_eq!(hours, ["05", "06"]);
    assert_eq!(of("week")[0].value, "1969-12-29");
    assert_eq!((found.jobs, found.waited), (3, 2));
}

const CAUSES: [(&str, WaitKind); 5] = [
    ("priority", WaitKind::Queue),
    ("unknown", WaitKind::Unknown),
    ("held", WaitKind::Wish),
    ("predecessor", WaitKind::Predecessor),
    ("running", WaitKind::Started),
];

proptest! {
    #[test]
    fn causes_dimensions_and_the_time_series_have_the_same_sums(
        all in prop::collection::vec((0i64..100, prop::collection::vec((0usize..CAUSES.len(), 1i64..20), 1..6), 1i64..9), 1..20)
    ) {
        let mut waited = 0i128;
        let mut cores = 0i128;
        let jobs: Vec<JobWait<'_>> = all.iter().map(|(begin, parts, cpus)| {
            let mut at = *begin;
            let parts = parts.iter().map(|&(cause, length)| {
                let (name, kind) = CAUSES[cause];
                at += length;
                if kind != WaitKind::Started {
                    waited += i128::from(length);
                    cores += i128::from(length * cpus);
                }
                part(name, kind, at - length, at)
            }).collect();
            job("1", "ann", *cpus, parts)
        }).collect();
        let found = found(&jobs);
        let hours = |ns: i128| ns / i128::from(HOUR);
        prop_assert_eq!(hours(found.causes.iter().map(|row| row.time_ns).sum()), waited);
        prop_assert_eq!(hours(found.causes.iter().map(|row| row.core_ns).sum()), cores);
        for dimension in &found.by {
            let all: i128 = dimension.rows.iter().map(|row| row.queue_ns + row.wish_ns + row.predecessor_ns).sum();
            prop_assert!(dimension.rows.is_empty() || hours(all) == waited, "{}", dimension.name);
        }
        let drawn: f64 = found.series.causes.iter().flat_map(|of| &of.cpus).sum::<f64>() * found.series.step_ns as f64 / HOUR as f64;
        prop_assert!((drawn - cores as f64).abs() < 1e-6 * (cores as f64 + 1.0), "{drawn} {cores}");
    }
}
