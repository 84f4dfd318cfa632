//! The memory of a whole job: how much it occupied, and how much it used at most.
//!
//! The definitions are those of `seff` 2.1 (Slurm, `contribs/seff/seff`), and where accounting
//! lacks what it reads, those of `reportseff` (`src/reportseff/job.py`):
//!
//! * **Occupied**: `mem` of `AllocTRES`; else `ReqMem` of the job; else `mem` of `ReqTRES`. What
//!   was asked for per node or per CPU gives the whole only where the job has as many nodes as
//!   CPUs: the table does not say which of both it was.
//! * **Used**: the largest sum of the peaks of a step's tasks (`mem` of `TRESUsageInTot`, else
//!   `MaxRSS` × `NTasks`); else the largest peak of a task (`MaxRSS`).

use flowmine_slurm::tres;

use crate::attempts::JobAttempt;
use crate::packed_int::PackedInt;
use crate::strings::{Strings, Sym};

/// The memory that a job occupied, in bytes.
pub(crate) fn of_job(attempt: &JobAttempt, strings: &Strings) -> PackedInt {
    let named = |list: Option<Sym>| PackedInt::from(list.and_then(|list| tres::memory_bytes(strings.get(list))));
    named(attempt.allocated_tres).or(attempt.total_memory_bytes).or(named(attempt.requested_tres)).or(of_parts(attempt).into())
}

fn of_parts(attempt: &JobAttempt) -> Option<i64> {
    let parts = attempt.nodes.get().filter(|nodes| attempt.cpus.get() == Some(*nodes))?;
    attempt.memory_bytes.get()?.checked_mul(parts)
}

/// The memory that a job used at most, in bytes.
pub(crate) fn peak(attempt: &JobAttempt) -> PackedInt {
    attempt.step_memory_bytes.or(attempt.max_rss_bytes)
}
