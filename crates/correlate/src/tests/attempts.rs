use super::support::*;
use crate::PackedInt;

#[test]
fn the_last_known_value_wins_and_accounting_over_polling() {
    let mut rows = Rows::default();
    let first = rows.new_job("7", 100, "PENDING", 110);
    first.cpus = Some(4);
    first.start_ns = Some(s(900));
    first.command = Some("/home/ann/step.sh".into());
    let second = rows.state("7", 100, "RUNNING", 110, 120);
    second.cpus = None;
    second.nodes = Some(2);
    second.start_ns = Some(s(115));
    second.end_ns = Some(s(9999));
    let fact = rows.accounting("7", 100, "COMPLETED", Some(116), Some(130), 200);
    fact.activity = Some("its name".into());
    fact.command = Some("wrong".into());
    fact.nodes = Some(3);
    let jobs = rows.jobs();
    let a = &jobs.attempts[0];
    assert_eq!((a.cpus.get(), a.nodes.get()), (Some(4), Some(3)));
    assert_eq!((a.start_ns.get(), a.end_ns.get()), (Some(s(116)), Some(s(130))));
    assert_eq!(jobs.text(a.activity), "step.sh");
    assert_eq!(jobs.text_of(a.command), Some("/home/ann/step.sh"));
}

#[test]
fn expected_times_are_not_kept() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "PENDING", 110).start_ns = Some(s(900));
    let row = rows.new_job("8", 100, "RUNNING", 110);
    (row.start_ns, row.end_ns) = (Some(s(105)), Some(s(9999)));
    let jobs = rows.jobs();
    assert_eq!(jobs.attempts[0].start_ns, PackedInt::UNKNOWN);
    assert_eq!((jobs.attempts[1].start_ns.get(), jobs.attempts[1].end_ns.get()), (Some(s(105)), None));
}

#[test]
fn an_unknown_activity_is_the_name_or_said_to_be_unknown() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 110).activity = None;
    let row = rows.new_job("8", 100, "RUNNING", 110);
    (row.activity, row.name) = (None, None);
    let jobs = rows.jobs();
    assert_eq!(jobs.text(jobs.attempts[0].activity), "job");
    assert_eq!(jobs.text(jobs.attempts[1].activity), "(unknown)");
}

#[test]
fn a_job_that_is_being_requeued_keeps_its_start() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 110).start_ns = Some(s(101));
    rows.state("7", 100, "COMPLETING", 110, 120).start_ns = Some(s(400));
    rows.new_job("8", 100, "COMPLETING", 120).start_ns = Some(s(101));
    let jobs = rows.jobs();
    assert_eq!(jobs.attempts[0].start_ns.get(), Some(s(101)));
    // Not known to have run before it completes: COMPLETING alone does not say so.
    assert_eq!(jobs.attempts[1].start_ns.get(), None);
}

fn numbers(rows: &Rows) -> Vec<(String, u32, u32)> {
    let jobs = rows.jobs();
    let of = |a: &crate::JobAttempt| (jobs.text(a.job).to_owned(), jobs.submissions[a.submission as usize].generation, a.number);
    jobs.attempts.iter().map(of).collect()
}

fn job(label: &str, generation: u32, number: u32) -> (String, u32, u32) {
    (label.to_owned(), generation, number)
}

#[test]
fn a_later_submit_time_is_a_requeue() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 110);
    rows.requeued("7", 200, "PENDING", 190, 210);
    assert_eq!(numbers(&rows), [job("7", 1, 1), job("7", 1, 2)]);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@110", "REQUEUED@200"]);
    assert_eq!(events(&jobs, "7", 2), ["PENDING@200"]);
}

#[test]
fn after_leaving_the_queue_the_id_belongs_to_another_job() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 110);
    rows.left("7", Some(100), 110, 120);
    rows.new_job("7", 500, "PENDING", 510);
    rows.requeued("7", 600, "PENDING", 590, 610);
    assert_eq!(numbers(&rows), [job("7", 1, 1), job("7", 2, 1), job("7", 2, 2)]);
}

#[test]
fn with_accounting_alone_a_day_between_tells_a_recycled_id() {
    let day = 24 * 3600;
    let mut rows = Rows::default();
    rows.accounting("7", 100, "NODE_FAIL", Some(110), Some(200), 9_000_000);
    rows.accounting("7", 200 + day, "COMPLETED", Some(300 + day), Some(400 + day), 9_000_000);
    rows.accounting("8", 100, "COMPLETED", Some(110), Some(200), 9_000_000);
    rows.accounting("8", 201 + day, "COMPLETED", Some(300 + day), Some(400 + day), 9_000_000);
    let mut all = numbers(&rows);
    all.sort();
    // Exactly a day after the end is still "not more than a day".
    assert_eq!(all, [job("7", 1, 1), job("7", 1, 2), job("8", 1, 1), job("8", 2, 1)]);
}

#[test]
fn another_user_is_another_job() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 110);
    rows.new_job("7", 200, "PENDING", 210).user = Some("bob".into());
    assert_eq!(numbers(&rows), [job("7", 1, 1), job("7", 2, 1)]);
}

#[test]
fn a_requeue_within_the_same_second() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 101);
    rows.requeued("7", 100, "PENDING", 110, 120);
    rows.state("7", 100, "RUNNING", 120, 130);
    rows.accounting("7", 100, "COMPLETED", Some(125), Some(140), 200);
    let jobs = rows.jobs();
    assert_eq!(numbers(&rows), [job("7", 1, 1), job("7", 1, 2)]);
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@101", "REQUEUED@110"]);
    assert_eq!(events(&jobs, "7", 2), ["PENDING@110", "RUNNING@125", "COMPLETED@140"]);
    assert_ne!(jobs.attempt_id(&jobs.attempts[0]), jobs.attempt_id(&jobs.attempts[1]));
}

#[test]
fn without_submit_times_leaving_divides_jobs() {
    let mut rows = Rows::default();
    rows.new_without_submit("7", "RUNNING", 110);
    rows.left("7", None, 110, 120);
    rows.new_without_submit("7", "PENDING", 500);
    assert_eq!(numbers(&rows), [job("7", 1, 1), job("7", 2, 1)]);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1).len(), 3);
    assert_eq!(jobs.events_of(&jobs.attempts[0]).len(), 2);
}

#[test]
fn one_task_of_an_array_requeued_after_others_have_left() {
    let mut rows = Rows::default();
    rows.new_job("8_1", 100, "RUNNING", 110);
    rows.new_job("8_2", 100, "RUNNING", 110);
    rows.left("8_1", Some(100), 110, 120);
    rows.requeued("8_2", 200, "PENDING", 190, 210);
    assert_eq!(numbers(&rows), [job("8_1", 1, 1), job("8_2", 1, 1), job("8_2", 1, 2)]);
    // All gone: another array.
    rows.left("8_2", Some(200), 210, 220);
    rows.new_job("8_1", 300, "PENDING", 310);
    assert_eq!(numbers(&rows)[3], job("8_1", 2, 1));
}

#[test]
fn tasks_of_a_throttled_array_without_submit_times_are_one_submission() {
    let mut rows = Rows::default();
    rows.new_without_submit("8_*", "PENDING", 100);
    rows.new_without_submit("8_1", "RUNNING", 110);
    rows.left("8_1", None, 110, 120);
    rows.new_without_submit("8_2", "RUNNING", 130);
    assert_eq!(numbers(&rows).iter().map(|n| n.1).max(), Some(1));
}

#[test]
fn a_recycled_array_id_is_seen_though_the_record_of_the_pending_tasks_never_left() {
    let mut rows = Rows::default();
    rows.new_job("8_*", 100, "PENDING", 110);
    rows.new_job("8_1", 100, "RUNNING", 120);
    rows.left("8_1", Some(100), 120, 130);
    rows.new_job("8_*", 500, "PENDING", 510);
    assert_eq!(numbers(&rows), [job("8_*", 1, 1), job("8_1", 1, 1), job("8_*", 2, 1)]);
}
