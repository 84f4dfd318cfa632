//! What the jobs of a dataset waited for, as models take it ([`JobWait`]).
//!
//! In go jobs, part by part ([`flowmine_correlate::parts`]), and a notion of cases; out comes each
//! attempt with the parts of its time ([`flowmine_correlate::waits`]), in the order of submission
//! within a part. Records of arrays that have tasks are left out.

use flowmine_activity_log::{JobWait, WaitKind, WaitPart};
use flowmine_correlate::cases::CaseNotion;
use flowmine_correlate::waits::{Cause, Moment, Part, Waits};
use flowmine_correlate::{Entities, Filter, JobAttempt};
use flowmine_slurm::reason::Blocker;

/// Calls `each` with every attempt that passes the filter and of which a time is known; those that
/// have not ended are divided until `until_ns`.
pub fn for_each(
    entities: &Entities<'_>,
    notion: &dyn CaseNotion,
    filter: &Filter,
    until_ns: Option<i64>,
    mut each: impl FnMut(&JobWait<'_>),
) {
    let jobs = entities.jobs;
    let assignment = notion.assign(entities);
    let filter = filter.resolve(jobs);
    let waits = Waits::new(jobs, until_ns);
    for (at, attempt) in jobs.attempts.iter().enumerate() {
        if jobs.is_array_record(attempt) || filter.events(attempt).next().is_none() {
            continue;
        }
        let text = |sym| jobs.text_of(sym);
        let parts = waits.of(attempt).parts.iter().map(|part| in_model(&waits, attempt, part)).collect();
        each(&JobWait {
            cluster: jobs.text(attempt.cluster),
            job: jobs.text(attempt.job),
            is_task: false,
            attempt: attempt.number,
            activity: jobs.text(attempt.activity),
            user: text(attempt.user),
            account: text(attempt.account),
            partition: text(attempt.partition),
            qos: text(attempt.qos),
            run: assignment.id_of(at),
            cpus: attempt.cpus.get(),
            state: text(attempt.final_state),
            ended_ns: attempt.ended_ns.get(),
            parts,
        });
    }
}

fn in_model<'j>(waits: &Waits<'j>, attempt: &JobAttempt, part: &Part<'j>) -> WaitPart<'j> {
    let of = |moment: Moment| (moment.at_ns, moment.within_ns().unwrap_or((moment.at_ns, moment.at_ns)));
    let ((from_ns, from_within_ns), (to_ns, to_within_ns)) = (of(part.from), of(part.to));
    WaitPart {
        cause: part.cause.name(),
        kind: kind(part.cause),
        from_ns,
        to_ns,
        from_within_ns,
        to_within_ns,
        reason: part.reason,
        limit: part.reason.filter(|_| matches!(part.cause, Cause::Blocked(Blocker::Limit(_)))),
        predecessors: waits.waited_for(attempt, part),
        evidence: part.evidence.name(),
    }
}

/// The kind of time that a cause is.
pub fn kind(cause: Cause) -> WaitKind {
    match cause {
        Cause::Blocked(Blocker::Predecessor) => WaitKind::Predecessor,
        cause if cause.is_own_wish() => WaitKind::Wish,
        cause if cause.is_after_start() => WaitKind::Started,
        Cause::Unknown => WaitKind::Unknown,
        _ => WaitKind::Queue,
    }
}
