use super::support::*;
use crate::attempts::Value;
use crate::{PackedInt, Timestamp};

#[test]
fn what_polling_saw() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "PENDING", 110).reported_ns = Some(s(100));
    rows.state("7", 100, "RUNNING", 110, 120).reported_ns = Some(s(115));
    rows.state("7", 100, "COMPLETING", 120, 130);
    rows.left("7", Some(100), 130, 140);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@115", "COMPLETING@130", "LEFT@140"]);
    let attempt = &jobs.attempts[0];
    assert_eq!((attempt.final_state, attempt.ended_ns.get(), attempt.ran), (None, Some(s(140)), true));
    let left = &jobs.events[3];
    assert_eq!((left.not_before_ns.get(), left.observed_at_ns), (Some(s(130)), s(140)));
    assert_eq!(events(&rows.jobs_at(Timestamp::ObservedAt), "7", 1), ["PENDING@110", "RUNNING@120", "COMPLETING@130", "LEFT@140"]);
    assert_eq!(events(&rows.jobs_at(Timestamp::NotBefore), "7", 1), ["PENDING@100", "RUNNING@110", "COMPLETING@120", "LEFT@130"]);
}

#[test]
fn what_slurm_tells_of_a_job_first_seen_late_is_an_event() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 120).start_ns = Some(s(115));
    // Between two polls all of it.
    let row = rows.new_job("8", 130, "COMPLETED", 180);
    (row.not_before_ns, row.start_ns, row.end_ns, row.node_list) = (Some(s(130)), Some(s(131)), Some(s(150)), Some("n1".into()));
    // Cancelled before it ran, and expected to run.
    let row = rows.new_job("9", 130, "CANCELLED", 180);
    (row.start_ns, row.end_ns) = (Some(s(150)), Some(s(150)));
    rows.new_job("10", 130, "PENDING", 180).start_ns = Some(s(900));
    // Is being put back: the start is still to come.
    rows.new_job("11", 130, "COMPLETING", 180).start_ns = Some(s(300));
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@115"]);
    assert_eq!(events(&jobs, "8", 1), ["PENDING@130", "RUNNING@131", "COMPLETED@150"]);
    assert_eq!(events(&jobs, "9", 1), ["PENDING@130", "CANCELLED@150"]);
    assert_eq!(events(&jobs, "10", 1), ["PENDING@130"]);
    assert_eq!(events(&jobs, "11", 1), ["PENDING@130", "COMPLETING@180"]);
    let first = &jobs.events[jobs.attempts[0].events.0 as usize];
    assert_eq!(
        (first.polled, first.not_before_ns.get(), first.observed_at_ns, first.reported_ns.get()),
        (false, None, s(120), Some(s(100)))
    );
    assert_eq!(jobs.text(first.source), "squeue");
    // What no poll saw keeps its time whatever is asked for.
    assert_eq!(events(&rows.jobs_at(Timestamp::ObservedAt), "8", 1), ["PENDING@130", "RUNNING@131", "COMPLETED@180"]);
}

#[test]
fn a_start_before_a_pause_is_an_event_of_its_own() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "SUSPENDED", 120).start_ns = Some(s(105));
    rows.state("7", 100, "RUNNING", 120, 130).start_ns = Some(s(105));
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@105", "SUSPENDED@120", "RUNNING@130"]);
    rows.accounting("7", 100, "COMPLETED", Some(105), Some(140), 200);
    assert_eq!(events(&rows.jobs(), "7", 1), ["PENDING@100", "RUNNING@105", "SUSPENDED@120", "RUNNING@130", "COMPLETED@140"]);
}

#[test]
fn the_end_is_when_completing_began() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 110).start_ns = Some(s(105));
    rows.state("7", 100, "COMPLETING", 110, 170).end_ns = Some(s(120));
    rows.state("7", 100, "COMPLETED", 170, 230).end_ns = Some(s(120));
    rows.new_job("8", 100, "RUNNING", 110).start_ns = Some(s(105));
    rows.state("8", 100, "COMPLETING", 110, 170).end_ns = Some(s(120));
    rows.left("8", Some(100), 170, 230);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@105", "COMPLETING@120", "COMPLETED@120"]);
    assert_eq!(events(&jobs, "8", 1), ["PENDING@100", "RUNNING@105", "COMPLETING@120", "LEFT@120"]);
    assert_eq!(jobs.attempts.iter().map(|a| a.ended_ns.get()).collect::<Vec<_>>(), [Some(s(120)), Some(s(120))]);
    let end = &jobs.events[3];
    assert_eq!((end.not_before_ns.get(), end.observed_at_ns), (Some(s(110)), s(230)));
    // Accounting reports the same.
    rows.accounting("7", 100, "COMPLETED", Some(105), Some(120), 300);
    assert_eq!(events(&rows.jobs(), "7", 1), ["PENDING@100", "RUNNING@105", "COMPLETING@120", "COMPLETED@120"]);
}

#[test]
fn a_requeue_ends_the_attempt_before_it() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 110).start_ns = Some(s(105));
    rows.requeued("7", 150, "PENDING", 110, 170);
    // Twice between two polls.
    rows.requeued("7", 200, "PENDING", 170, 230);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@105", "REQUEUED@150"]);
    assert_eq!(events(&jobs, "7", 2), ["PENDING@150", "REQUEUED@200"]);
    assert_eq!(events(&jobs, "7", 3), ["PENDING@200"]);
    assert_eq!(jobs.text_of(jobs.attempts[0].final_state), Some("REQUEUED"));
    assert_eq!((jobs.attempts[0].ended_ns.get(), jobs.events[2].lifecycle.name()), (Some(s(150)), "ate_abort"));
    // Accounting knows better how it ended.
    rows.accounting("7", 100, "NODE_FAIL", Some(105), Some(140), 300);
    assert_eq!(events(&rows.jobs(), "7", 1), ["PENDING@100", "RUNNING@105", "NODE_FAIL@140"]);
}

#[test]
fn accounting_gives_exact_times_and_what_polling_missed() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "PENDING", 110);
    rows.state("7", 100, "COMPLETING", 110, 130);
    rows.left("7", Some(100), 130, 140);
    rows.accounting("7", 100, "COMPLETED", Some(112), Some(125), 200).exit_code = Some(0);
    let jobs = rows.jobs();
    // COMPLETING was seen at 130 and its interval (110, 130] allows that it was before the end at 125.
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@112", "COMPLETING@125", "COMPLETED@125"]);
    let sources: Vec<&str> = jobs.events.iter().map(|e| jobs.text(e.source)).collect();
    assert_eq!(sources, ["squeue", "sacct", "squeue", "sacct"]);
    let reported: Vec<_> = jobs.events.iter().map(|e| e.reported_ns.get().map(|t| t / s(1))).collect();
    assert_eq!(reported, [Some(100), Some(112), None, Some(125)]);
    let lifecycle: Vec<&str> = jobs.events.iter().map(|e| e.lifecycle.name()).collect();
    assert_eq!(lifecycle, ["schedule", "start", "unknown", "complete"]);
    let a = &jobs.attempts[0];
    assert_eq!((a.start_ns, a.end_ns, a.exit_code), (PackedInt::known(s(112)), PackedInt::known(s(125)), PackedInt::known(0)));
    assert_eq!(jobs.text_of(a.final_state), Some("COMPLETED"));
    assert!(a.left_ns.is_known());
}

#[test]
fn an_older_answer_of_accounting_does_not_undo_the_end() {
    let mut rows = Rows::default();
    rows.accounting("7", 100, "COMPLETED", Some(110), Some(170), 200);
    rows.accounting("7", 100, "RUNNING", Some(110), None, 120);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@110", "COMPLETED@170"]);
}

#[test]
fn accounting_alone() {
    let mut rows = Rows::default();
    rows.accounting("7", 100, "RUNNING", Some(110), None, 120);
    rows.accounting("7", 100, "TIMEOUT", Some(110), Some(170), 200);
    rows.accounting("8", 100, "PENDING", None, None, 120);
    // Never started: accounting gives it a start that is its end, and no nodes.
    rows.accounting("9", 100, "CANCELLED", Some(150), Some(150), 200).node_list = None;
    rows.accounting("10", 100, "CANCELLED", None, Some(150), 200);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@110", "TIMEOUT@170"]);
    assert_eq!(events(&jobs, "8", 1), ["PENDING@100"]);
    assert_eq!(events(&jobs, "9", 1), ["PENDING@100", "CANCELLED@150"]);
    assert_eq!(events(&jobs, "10", 1), ["PENDING@100", "CANCELLED@150"]);
    let cancelled = jobs.attempts.iter().find(|a| jobs.text(a.job) == "9").unwrap();
    assert_eq!((cancelled.ran, cancelled.start_ns.get()), (false, None));
    assert_eq!(jobs.events_of(cancelled)[1].lifecycle.name(), "withdraw");
}

#[test]
fn it_does_not_matter_whether_accounting_was_read_first() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "PENDING", 110).node_list = None;
    rows.state("7", 100, "RUNNING", 110, 120).partition = Some("debug,short".into());
    rows.accounting("7", 100, "FAILED", Some(115), Some(125), 200).partition = Some("short".into());
    let after = rows.jobs();
    rows.states.rotate_right(1);
    let before = rows.jobs();
    for jobs in [&after, &before] {
        assert_eq!(events(jobs, "7", 1), ["PENDING@100", "RUNNING@115", "FAILED@125"]);
        assert_eq!(jobs.text_of(jobs.attempts[0].partition), Some("short"));
        assert_eq!(jobs.attempts[0].end_ns.get(), Some(s(125)));
    }
}

#[test]
fn reported_times_stay_within_what_polling_saw_and_never_run_backwards() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "PENDING", 110).reported_ns = Some(s(90));
    rows.state("7", 100, "RUNNING", 110, 120).reported_ns = Some(s(500));
    // The cluster's clock was set back.
    rows.state("7", 100, "SUSPENDED", 120, 90);
    rows.state("7", 100, "RUNNING", 90, 140).reported_ns = Some(s(1));
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@120", "SUSPENDED@120", "RUNNING@120"]);
    assert_eq!(jobs.events[3].lifecycle.name(), "resume");
}

#[test]
fn left_is_only_where_no_end_is_known() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 110);
    rows.state("7", 100, "FAILED", 110, 120);
    rows.left("7", Some(100), 120, 130);
    // Was hidden for one poll: it had not left.
    rows.new_job("8", 100, "RUNNING", 110);
    rows.left("8", Some(100), 110, 120);
    rows.new_job("8", 100, "RUNNING", 130);
    rows.state("8", 100, "COMPLETED", 130, 140);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@110", "FAILED@120"]);
    assert_eq!(events(&jobs, "8", 1), ["PENDING@100", "RUNNING@110", "COMPLETED@140"]);
    assert_eq!(jobs.attempts[0].left_ns.get(), Some(s(130)));
    assert_eq!(jobs.attempts[1].left_ns.get(), None);
}

#[test]
fn the_record_of_a_pending_array_does_not_leave() {
    let mut rows = Rows::default();
    rows.new_job("8_*", 100, "PENDING", 110);
    rows.new_job("8_1", 100, "RUNNING", 120);
    rows.left("8_*", Some(100), 110, 120);
    // Of this one no task was ever seen.
    rows.new_job("9_*", 100, "PENDING", 110);
    rows.left("9_*", Some(100), 110, 120);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "8_*", 1), [""; 0]);
    assert!(jobs.attempts.iter().any(|a| jobs.text(a.job) == "8_*" && jobs.is_array_record(a)));
    assert_eq!(events(&jobs, "9_*", 1), ["PENDING@100", "LEFT@120"]);
}

#[test]
fn two_observers_of_one_job_see_each_change_once() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "PENDING", 110);
    rows.state("7", 100, "RUNNING", 110, 120);
    rows.state("7", 100, "COMPLETED", 120, 130);
    for (at, state) in [(113, "PENDING"), (123, "RUNNING"), (128, "COMPLETING")] {
        rows.new_job("7", 100, state, at).source = "slurmminer".into();
    }
    assert_eq!(events(&rows.jobs(), "7", 1), ["PENDING@100", "RUNNING@120", "COMPLETING@128", "COMPLETED@130"]);
}

#[test]
fn a_job_that_changed_its_size_has_one_start_and_one_end() {
    let mut rows = Rows::default();
    rows.accounting("7", 100, "RESIZING", Some(110), Some(120), 200);
    rows.accounting("7", 100, "COMPLETED", Some(120), Some(150), 200);
    assert_eq!(events(&rows.jobs(), "7", 1), ["PENDING@100", "RUNNING@110", "COMPLETED@150"]);
}

#[test]
fn an_end_that_polling_saw_stays_beside_that_of_the_record() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "RUNNING", 110);
    rows.state("7", 100, "COMPLETED", 110, 120).reported_ns = Some(s(119));
    rows.accounting("7", 100, "REQUEUED", Some(105), Some(121), 200);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "RUNNING@105", "COMPLETED@119", "REQUEUED@121"]);
    assert_eq!(jobs.text_of(jobs.attempts[0].final_state), Some("REQUEUED"));
}

#[test]
fn holds_releases_and_changes_stand_where_they_were_seen() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "PENDING", 110).partition = Some("debug".into());
    rows.change("7", 100, "held", "reason,priority", 110, 120).reason = Some("JobHeldUser".into());
    rows.change("7", 100, "released", "priority", 120, 130);
    rows.change("7", 100, "changed", "partition", 130, 140).partition = Some("short".into());
    let row = rows.state("7", 100, "RUNNING", 140, 150);
    (row.start_ns, row.reported_ns, row.partition) = (Some(s(139)), Some(s(139)), Some("short".into()));
    rows.left("7", Some(100), 150, 160);
    let jobs = rows.jobs();
    // Slurm's start, in whole seconds, is before the poll that still saw it wait: Slurm's time holds.
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "HELD@120", "RELEASED@130", "CHANGED@139", "RUNNING@139", "LEFT@160"]);
    let attempt = &jobs.attempts[0];
    let partition = |number: usize| match jobs.value_at(attempt, number, "partition") {
        Some(Value::Text(text)) => jobs.text_of(text).map(str::to_owned),
        _ => None,
    };
    assert!(jobs.has_changes(attempt));
    assert_eq!((partition(0).as_deref(), partition(2).as_deref(), partition(3)), (Some("debug"), Some("debug"), None));
    assert_eq!(jobs.text_of(attempt.partition), Some("short"));
    let held = &jobs.events[1];
    assert_eq!(
        (held.not_before_ns.get(), held.reported_ns.get(), jobs.text_of(held.changed)),
        (Some(s(110)), None, Some("reason,priority"))
    );
    assert_eq!(events(&rows.jobs_at(Timestamp::NotBefore), "7", 1)[1], "HELD@110");
}

#[test]
fn what_changed_of_a_job_that_accounting_had_told_of() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "PENDING", 110);
    rows.accounting("7", 100, "PENDING", None, None, 110).partition = Some("debug".into());
    rows.change("7", 100, "changed", "partition", 110, 120).partition = Some("short".into());
    assert_eq!(rows.jobs().text_of(rows.jobs().attempts[0].partition), Some("short"));
}

#[test]
fn a_job_that_is_held_when_it_is_first_seen() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "PENDING", 110).reason = Some("JobHeldUser".into());
    rows.new_job("8", 100, "PENDING", 110).priority = Some(0);
    // Of a job that runs, a priority of 0 is no hold.
    rows.new_job("9", 100, "RUNNING", 110).priority = Some(0);
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "HELD@110"]);
    assert_eq!(events(&jobs, "8", 1), ["PENDING@100", "HELD@110"]);
    assert_eq!(events(&jobs, "9", 1), ["PENDING@100", "RUNNING@110"]);
}

#[test]
fn what_changed_while_tasks_waited_in_their_arrays_record_is_theirs() {
    let mut rows = Rows::default();
    rows.new_job("8_*", 100, "PENDING", 110);
    rows.new_job("8_0", 100, "RUNNING", 120).start_ns = Some(s(115));
    rows.change("8_*", 100, "held", "priority", 120, 130);
    rows.change("8_*", 100, "released", "priority", 130, 140);
    rows.new_job("8_1", 100, "RUNNING", 150).start_ns = Some(s(145));
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "8_0", 1), ["PENDING@100", "RUNNING@115"]);
    assert_eq!(events(&jobs, "8_1", 1), ["PENDING@100", "HELD@130", "RELEASED@140", "RUNNING@145"]);
    assert!(events(&jobs, "8_*", 1).is_empty());
}

#[test]
fn when_a_job_became_eligible() {
    let mut rows = Rows::default();
    rows.new_job("7", 100, "PENDING", 110);
    rows.accounting("7", 100, "COMPLETED", Some(150), Some(160), 200).eligible_ns = Some(s(140));
    // At once: nothing more to report than the submission.
    rows.new_job("8", 100, "PENDING", 110);
    rows.accounting("8", 100, "COMPLETED", Some(150), Some(160), 200).eligible_ns = Some(s(100));
    // Still to come.
    rows.new_job("9", 100, "PENDING", 110).eligible_ns = Some(s(900));
    let jobs = rows.jobs();
    assert_eq!(events(&jobs, "7", 1), ["PENDING@100", "ELIGIBLE@140", "RUNNING@150", "COMPLETED@160"]);
    assert_eq!(events(&jobs, "8", 1), ["PENDING@100", "RUNNING@150", "COMPLETED@160"]);
    assert_eq!(events(&jobs, "9", 1), ["PENDING@100"]);
    assert_eq!(jobs.attempts[1].eligible_ns.get(), Some(s(100)));
}
