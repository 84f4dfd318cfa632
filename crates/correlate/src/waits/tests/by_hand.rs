use super::super::{Doing, Evidence, divide};
use super::*;

#[test]
fn eligible_time_divides_wishes_from_queueing() {
    let changes = [runs(100)];
    let of = |eligible: Option<i64>, released| {
        let wait = divide(Facts { eligible_ns: eligible.map(|s| s * SECOND_NS), released, ..facts(150, &changes) });
        (written(&wait.parts), wait.before_ready_ns.map(|ns| ns / SECOND_NS))
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(of(Some(0), Released::WithoutDependency), (words(&["queued 0-100", "running 100-150"]), Some(0)));
    assert_eq!(of(Some(60), Released::WithoutDependency), (words(&["not_eligible 0-60", "queued 60-100", "running 100-150"]), Some(60)));
    assert_eq!(of(Some(60), Released::At(at(60))), (words(&["predecessor 0-60", "queued 60-100", "running 100-150"]), Some(60)));
    assert_eq!(
        of(Some(60), Released::At(at(50))),
        (words(&["predecessor 0-50", "not_eligible 50-60", "queued 60-100", "running 100-150"]), Some(60))
    );
    // Without accounting the end of the predecessors divides.
    assert_eq!(of(None, Released::At(at(50))), (words(&["predecessor 0-50", "unknown 50-100", "running 100-150"]), Some(50)));
    assert_eq!(of(None, Released::WithoutDependency), (words(&["unknown 0-100", "running 100-150"]), Some(0)));
    assert_eq!(of(None, Released::Unknown), (words(&["unknown 0-100", "running 100-150"]), None));
}

#[test]
fn reasons_hold_until_a_poll_sees_another() {
    let changes = [waits(0, 10, "Priority"), waits(40, 50, "Resources"), waits(70, 80, "QOSMaxCpuPerUserLimit"), runs(95)];
    let wait = divide(facts(100, &changes));
    assert_eq!(written(&wait.parts), ["unknown 0-10", "priority 10-50", "resources 50-80", "limit_of_user 80-95", "running 95-100"]);
    assert_eq!(wait.before_ready_ns, Some(0));
    let resources = wait.parts[2];
    assert_eq!((resources.from, resources.to), (within(40, 50), within(70, 80)));
    assert_eq!((resources.reason, resources.evidence), (Some("Resources"), Evidence::Poll));
}

#[test]
fn a_wish_ends_where_that_is_known_better_than_by_polls() {
    let changes = [waits(0, 10, "Dependency"), waits(40, 50, "Priority"), runs(60)];
    let by_eligible = divide(Facts { eligible_ns: Some(44 * SECOND_NS), ..facts(70, &changes) });
    assert_eq!(written(&by_eligible.parts), ["not_eligible 0-10", "predecessor 10-44", "priority 44-60", "running 60-70"]);
    let by_predecessor = divide(Facts { released: Released::At(at(42)), ..facts(70, &changes) });
    assert_eq!(written(&by_predecessor.parts), ["predecessor 0-42", "priority 42-60", "running 60-70"]);
    assert_eq!(by_predecessor.before_ready_ns, Some(42 * SECOND_NS));
    // A reason that Slurm has not looked at again since is out of date.
    let stale = [waits(0, 10, "Dependency"), runs(60)];
    let wait = divide(Facts { eligible_ns: Some(20 * SECOND_NS), released: Released::At(at(20)), ..facts(70, &stale) });
    assert_eq!(written(&wait.parts), ["predecessor 0-20", "queued 20-60", "running 60-70"]);
}

#[test]
fn a_hold_counts_also_after_the_job_was_eligible() {
    let changes = [waits(0, 10, "Resources"), waits(20, 30, "JobHeldAdmin"), waits(60, 70, "Resources"), runs(90)];
    let wait = divide(Facts { eligible_ns: Some(0), ..facts(100, &changes) });
    assert_eq!(written(&wait.parts), ["queued 0-10", "resources 10-30", "held_by_admin 30-70", "resources 70-90", "running 90-100"]);
    assert_eq!(wait.before_ready_ns, Some(40 * SECOND_NS));
}

#[test]
fn what_had_a_wish_left_was_not_ready_before() {
    let changes = [waits(0, 30, "JobHeldUser"), waits(50, 60, "Priority"), runs(80)];
    let wait = divide(facts(100, &changes));
    assert_eq!(written(&wait.parts), ["unknown 0-30", "held_by_user 30-60", "priority 60-80", "running 80-100"]);
    assert_eq!(wait.before_ready_ns, Some(60 * SECOND_NS));
}

#[test]
fn a_requeued_job_waits_for_its_delay() {
    let changes = [waits(0, 10, "BeginTime"), waits(110, 120, "Priority"), runs(130)];
    let of = |is_again| written(&divide(Facts { is_again, eligible_ns: Some(115 * SECOND_NS), ..facts(140, &changes) }).parts);
    assert_eq!(of(true), ["requeued 0-115", "priority 115-130", "running 130-140"]);
    assert_eq!(of(false), ["not_eligible 0-10", "begin_time 10-115", "priority 115-130", "running 130-140"]);
}

#[test]
fn what_runs_can_be_suspended_and_what_never_ran_has_no_such_part() {
    let paused = Change { moment: at(40), doing: Doing::Pauses };
    let changes = [runs(20), paused, runs(50)];
    let wait = divide(facts(60, &changes));
    assert_eq!(written(&wait.parts), ["unknown 0-20", "running 20-40", "suspended 40-50", "running 50-60"]);
    let never = [waits(0, 10, "Dependency"), waits(20, 30, "DependencyNeverSatisfied")];
    let wait = divide(Facts { released: Released::Unknown, ..facts(90, &never) });
    assert_eq!(written(&wait.parts), ["unknown 0-10", "predecessor 10-30", "never_satisfiable 30-90"]);
    assert_eq!(wait.before_ready_ns, Some(90 * SECOND_NS));
}

#[test]
fn times_that_contradict_each_other_still_tile() {
    let changes = [waits(50, 60, "Priority"), runs(40), Change { moment: at(200), doing: Doing::Pauses }];
    let wait = divide(Facts { eligible_ns: Some(300 * SECOND_NS), ..facts(100, &changes) });
    assert_eq!(written(&wait.parts), ["not_eligible 0-40", "running 40-100"]);
    assert_eq!(written(&divide(Facts { submit_ns: 10 * SECOND_NS, ..facts(5, &[]) }).parts), [""; 0]);
}
