//! Parts of waits as rows of the table `waits`.

use flowmine_schema::tables::WaitPart;
use flowmine_slurm::reason::Blocker;

use super::{Cause, Part, Waits};
use crate::attempts::JobAttempt;
use crate::jobs::Jobs;

/// A part of an attempt's wait, its n-th, as a row.
pub fn row<'j>(jobs: &'j Jobs, waits: &Waits<'j>, attempt: &'j JobAttempt, number: i64, part: &Part<'j>) -> WaitPart<'j> {
    let (from, to) = (part.from.within_ns(), part.to.within_ns());
    WaitPart {
        cluster: Some(jobs.text(attempt.cluster).into()),
        job: Some(jobs.text(attempt.job).into()),
        job_id: Some(attempt.job_id),
        submit_ns: attempt.submit_ns.get(),
        attempt: i64::from(attempt.number),
        part: number,
        cause: part.cause.name().into(),
        from_ns: part.from.at_ns,
        to_ns: part.to.at_ns,
        from_earliest_ns: from.map(|(earliest, _)| earliest),
        from_latest_ns: from.map(|(_, latest)| latest),
        to_earliest_ns: to.map(|(earliest, _)| earliest),
        to_latest_ns: to.map(|(_, latest)| latest),
        reason: part.reason.map(Into::into),
        predecessors: waits.waited_for(attempt, part).map(Into::into),
        evidence: part.evidence.name().into(),
        ..WaitPart::default()
    }
}

impl Waits<'_> {
    /// The jobs that a part of an attempt's time was spent waiting for, with commas between: those
    /// that had not ended when it began. `None` where the cause is another.
    pub fn waited_for(&self, attempt: &JobAttempt, part: &Part<'_>) -> Option<String> {
        if !matches!(part.cause, Cause::Blocked(Blocker::Predecessor | Blocker::NeverSatisfiable)) {
            return None;
        }
        let of = self.predecessors(attempt).into_iter();
        let open =
            of.filter(|of| part.cause != Cause::Blocked(Blocker::Predecessor) || of.released.is_none_or(|end| end.at_ns > part.from.at_ns));
        let names: Vec<String> = open.map(|of| of.job).collect();
        (!names.is_empty()).then(|| names.join(","))
    }
}
