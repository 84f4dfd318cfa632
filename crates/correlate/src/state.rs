//! What job states mean: the phase of a job's life, and the transition of the XES lifecycle
//! extension.
//!
//! In go the full names of squeue(1), JOB STATE CODES, and `LEFT` for a job that is no longer in
//! the queue; other words are kept as they are and have no phase. The transitions are those of the
//! standard lifecycle model of IEEE 1849 (the lifecycle extension): assign, ate_abort, autoskip,
//! complete, manualskip, pi_abort, reassign, resume, schedule, start, suspend, unknown, withdraw.
//! An activity instance is one attempt, so every attempt begins with `schedule`:
//!
//! | state | transition |
//! |---|---|
//! | PENDING, REQUEUE_FED, REQUEUE_HOLD, RESV_DEL_HOLD, SPECIAL_EXIT | schedule (all of them wait in the queue) |
//! | CONFIGURING | assign: nodes are given, nothing runs yet |
//! | RUNNING | start; after SUSPENDED or STOPPED resume; again for another reason unknown |
//! | SUSPENDED, STOPPED | suspend |
//! | RESIZING | reassign |
//! | COMPLETED | complete |
//! | CANCELLED, DEADLINE, REVOKED before it ran | withdraw |
//! | the other ended states, and those three after it ran | ate_abort: this activity instance is aborted, its case is not |
//! | REQUEUED | ate_abort: this attempt is over, the next begins with schedule |
//! | COMPLETING, SIGNALING, STAGE_OUT, LEFT, other words | unknown |
//! | ELIGIBLE, HELD, RELEASED, CHANGED: what happens to a job in the state it has | unknown |

pub use flowmine_slurm::state::Phase;
use flowmine_slurm::state::State;

/// The state of an event that records that a job is no longer in the queue, with an unknown
/// outcome.
pub const LEFT: &str = "LEFT";
/// The state of an event that says from when on nothing but resources and its turn kept a job from
/// starting.
pub const ELIGIBLE: &str = "ELIGIBLE";
/// The state of an event that says that a waiting job is kept from starting by its user or an
/// administrator.
pub const HELD: &str = "HELD";
/// The state of an event that says that a job is held no longer.
pub const RELEASED: &str = "RELEASED";
/// The state of an event that says that something else changed of a job in the same state.
pub const CHANGED: &str = "CHANGED";
/// The state of a job that waits for resources or its turn (squeue(1), "JOB STATE CODES").
pub const PENDING: &str = "PENDING";
/// The state of a job that runs.
pub const RUNNING: &str = "RUNNING";
/// The state of a job that was put back into the queue.
pub const REQUEUED: &str = "REQUEUED";

/// Whether a word is no state of a job but says what happened to it in the state it has.
pub fn keeps_state(word: &str) -> bool {
    matches!(word, ELIGIBLE | HELD | RELEASED | CHANGED)
}

/// The phase that the state of an event belongs to.
pub fn phase(state: &str) -> Phase {
    match state {
        ELIGIBLE => Phase::Waiting,
        _ => State::named(state).map_or(Phase::Other, |state| state.phase()),
    }
}

/// A transition of the standard lifecycle model of XES.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lifecycle {
    /// The job was put in the queue.
    Schedule,
    /// The job was given nodes, which are being configured.
    Assign,
    /// The job's allocation is changed (RESIZING).
    Reassign,
    /// The job begins to run.
    Start,
    /// The job was stopped for a while.
    Suspend,
    /// The job runs again.
    Resume,
    /// The job ended in the state COMPLETED.
    Complete,
    /// Taken back before it ran.
    Withdraw,
    /// The job ended in another state, or was put back into the queue.
    AteAbort,
    /// The model has no word for it.
    Unknown,
}

impl Lifecycle {
    /// The value of `lifecycle:transition`.
    pub fn name(self) -> &'static str {
        match self {
            Lifecycle::Schedule => "schedule",
            Lifecycle::Assign => "assign",
            Lifecycle::Reassign => "reassign",
            Lifecycle::Start => "start",
            Lifecycle::Suspend => "suspend",
            Lifecycle::Resume => "resume",
            Lifecycle::Complete => "complete",
            Lifecycle::Withdraw => "withdraw",
            Lifecycle::AteAbort => "ate_abort",
            Lifecycle::Unknown => "unknown",
        }
    }
}

/// Follows one attempt and names the transition of each of its states.
#[derive(Debug, Default, Clone, Copy)]
pub struct LifecycleTracker {
    ran: bool,
    started: bool,
    paused: bool,
}

impl LifecycleTracker {
    /// For an attempt; `ran` when it is known to have run even if no state shows it.
    pub fn new(ran: bool) -> Self {
        Self { ran, ..Self::default() }
    }

    /// The transition into a state.
    pub fn enter(&mut self, state: &str) -> Lifecycle {
        if keeps_state(state) {
            return Lifecycle::Unknown;
        }
        let phase = phase(state);
        let transition = match phase {
            Phase::Waiting => Lifecycle::Schedule,
            Phase::Configuring => Lifecycle::Assign,
            Phase::Running if self.paused => Lifecycle::Resume,
            Phase::Running if !self.started => Lifecycle::Start,
            Phase::Running => Lifecycle::Unknown,
            Phase::Paused => Lifecycle::Suspend,
            Phase::Resizing => Lifecycle::Reassign,
            Phase::Ended if state == "COMPLETED" => Lifecycle::Complete,
            Phase::Ended if !self.ran && matches!(state, "CANCELLED" | "DEADLINE" | "REVOKED") => Lifecycle::Withdraw,
            Phase::Ended | Phase::Requeued => Lifecycle::AteAbort,
            Phase::Ending | Phase::Other => Lifecycle::Unknown,
        };
        self.ran |= phase.has_run();
        self.started |= phase == Phase::Running;
        self.paused = phase == Phase::Paused;
        transition
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(ran: bool, states: &[&str]) -> Vec<&'static str> {
        let mut tracker = LifecycleTracker::new(ran);
        states.iter().map(|s| tracker.enter(s).name()).collect()
    }

    #[test]
    fn the_usual_lives() {
        assert_eq!(
            path(false, &["PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "COMPLETED"]),
            ["schedule", "assign", "start", "unknown", "complete"]
        );
        assert_eq!(path(false, &["PENDING", "CANCELLED"]), ["schedule", "withdraw"]);
        assert_eq!(path(false, &["PENDING", "RUNNING", "CANCELLED"]), ["schedule", "start", "ate_abort"]);
        // Accounting knows that it ran though no poll saw it.
        assert_eq!(path(true, &["PENDING", "CANCELLED"]), ["schedule", "ate_abort"]);
        assert_eq!(
            path(false, &["RUNNING", "SUSPENDED", "RUNNING", "STOPPED", "RUNNING", "TIMEOUT"]),
            ["start", "suspend", "resume", "suspend", "resume", "ate_abort"]
        );
        assert_eq!(path(false, &["RUNNING", "LEFT"]), ["start", "unknown"]);
        assert_eq!(path(false, &["SPECIAL_EXIT", "a word of the future"]), ["schedule", "unknown"]);
    }

    #[test]
    fn words_of_events_have_their_phase() {
        assert_eq!([PENDING, RUNNING, REQUEUED].map(phase), [Phase::Waiting, Phase::Running, Phase::Requeued]);
        assert_eq!([ELIGIBLE, LEFT, "PD"].map(phase), [Phase::Waiting, Phase::Other, Phase::Other]);
    }
}
