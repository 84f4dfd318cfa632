//! Waits of jobs with hand-made rows, in seconds.

use flowmine_schema::tables::change;

use super::super::{Wait, Waits};
use super::*;
use crate::jobs::Jobs;
use crate::tests::support::{Rows, s};

fn wait<'j>(jobs: &'j Jobs, job: &str) -> Wait<'j> {
    let attempt = jobs.attempts.iter().find(|attempt| jobs.text(attempt.job) == job).expect("the job");
    Waits::new(jobs, None).of(attempt)
}

fn parts(rows: &Rows, job: &str) -> Vec<String> {
    let jobs = rows.jobs();
    written(&wait(&jobs, job).parts)
}

/// A job of accounting with an eligible time.
fn accounted(rows: &mut Rows, job: &str, [submit, eligible, start, end]: [i64; 4]) {
    rows.accounting(job, submit, "COMPLETED", Some(start), Some(end), 10_000).eligible_ns = Some(s(eligible));
}

#[test]
fn a_job_that_waits_for_another_does_not_queue() {
    let mut rows = Rows::default();
    accounted(&mut rows, "1", [0, 0, 0, 7200]);
    accounted(&mut rows, "2", [0, 7200, 7200, 7800]);
    rows.depends("2", 0, "afterok:1", 0);
    assert_eq!(parts(&rows, "1"), ["running 0-7200"]);
    assert_eq!(parts(&rows, "2"), ["predecessor 0-7200", "running 7200-7800"]);
    let jobs = rows.jobs();
    assert_eq!(wait(&jobs, "2").before_ready_ns, Some(s(7200)));
    let waits = Waits::new(&jobs, None);
    let found: Vec<String> = waits.predecessors(&jobs.attempts[1]).into_iter().map(|of| of.job).collect();
    assert_eq!(found, ["1"]);
}

#[test]
fn the_last_of_the_predecessors_counts_and_of_alternatives_the_first() {
    let mut rows = Rows::default();
    for (job, end) in [("1", 100), ("2", 200)] {
        rows.accounting(job, 0, "COMPLETED", Some(1), Some(end), 10_000);
    }
    for (job, operator) in [("3", "and"), ("4", "or")] {
        rows.accounting(job, 5, "COMPLETED", Some(250), Some(300), 10_000);
        for target in ["afterok:1", "afterok:2"] {
            rows.depends(job, 5, target, 6).operator = Some(operator.into());
        }
    }
    rows.accounting("5", 5, "COMPLETED", Some(250), Some(300), 10_000);
    rows.depends("5", 5, "after:2", 6).delay_s = Some(60);
    rows.accounting("6", 5, "COMPLETED", Some(250), Some(300), 10_000);
    rows.depends("6", 5, "afterok:77", 6);
    assert_eq!(parts(&rows, "3"), ["predecessor 5-200", "unknown 200-250", "running 250-300"]);
    assert_eq!(parts(&rows, "4"), ["predecessor 5-100", "unknown 100-250", "running 250-300"]);
    assert_eq!(parts(&rows, "5"), ["predecessor 5-61", "unknown 61-250", "running 250-300"]);
    assert_eq!(parts(&rows, "6"), ["unknown 5-250", "running 250-300"]);
    assert_eq!(wait(&rows.jobs(), "6").before_ready_ns, None);
}

#[test]
fn reasons_that_polls_saw() {
    let mut rows = Rows::default();
    rows.new_job("1", 0, "PENDING", 10).reason = Some("Priority".into());
    rows.change("1", 0, change::CHANGED, "reason", 20, 30).reason = Some("PartitionDown".into());
    let held = rows.change("1", 0, change::HELD, "reason,priority", 50, 60);
    (held.reason, held.priority) = (Some("JobHeldAdmin".into()), Some(0));
    rows.change("1", 0, change::RELEASED, "reason,priority", 80, 90).reason = Some("Resources".into());
    rows.state("1", 0, "RUNNING", 90, 100).reported_ns = Some(s(95));
    rows.state("1", 0, "COMPLETED", 110, 120).reported_ns = Some(s(115));
    assert_eq!(
        parts(&rows, "1"),
        ["unknown 0-10", "priority 10-30", "partition_down 30-60", "held_by_admin 60-90", "resources 90-95", "running 95-115"]
    );
}

#[test]
fn tasks_of_an_array_waited_as_their_record_did() {
    let mut rows = Rows::default();
    rows.new_job("8_*", 0, "PENDING", 10).reason = Some("JobArrayTaskLimit".into());
    rows.state("8_*", 0, "PENDING", 60, 70).reason = Some("JobArrayTaskLimit".into());
    for (task, start) in [("8_1", 5), ("8_2", 40)] {
        let row = rows.new_job(task, 0, "RUNNING", start + 5);
        (row.start_ns, row.reported_ns) = (Some(s(start)), Some(s(start)));
        rows.state(task, 0, "COMPLETED", start + 20, start + 25).reported_ns = Some(s(start + 20));
    }
    assert_eq!(parts(&rows, "8_1"), ["unknown 0-5", "running 5-25"]);
    assert_eq!(parts(&rows, "8_2"), ["unknown 0-10", "array_throttle 10-40", "running 40-60"]);
}

#[test]
fn what_left_the_queue_may_have_run_unseen() {
    let mut rows = Rows::default();
    rows.new_job("1", 0, "PENDING", 10).reason = Some("Priority".into());
    rows.left("1", Some(0), 50, 60);
    assert_eq!(parts(&rows, "1"), ["unknown 0-10", "priority 10-50", "unknown 50-60"]);
}

#[test]
fn what_has_not_ended_goes_on_until_the_last_observation() {
    let mut rows = Rows::default();
    rows.new_job("1", 0, "PENDING", 10).reason = Some("Resources".into());
    let jobs = rows.jobs();
    let of = |until: Option<i64>| written(&Waits::new(&jobs, until.map(s)).of(&jobs.attempts[0]).parts);
    assert_eq!(of(None), ["unknown 0-10"]);
    assert_eq!(of(Some(500)), ["unknown 0-10", "resources 10-500"]);
}
