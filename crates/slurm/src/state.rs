//! Job states by their full names, and the phase of a job's life that each belongs to: squeue(1),
//! section JOB STATE CODES.

use std::borrow::Cow;

use flowmine_schema::time::SECOND_NS;

/// A phase of a job's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// In the queue, not started.
    Waiting,
    /// Has nodes that are being made ready.
    Configuring,
    /// The job runs on its nodes.
    Running,
    /// The job is stopped for a while, and may run again.
    Paused,
    /// Its size is being changed.
    Resizing,
    /// Is being signalled, cleans up, or stages files out.
    Ending,
    /// The job has ended.
    Ended,
    /// The attempt is over, the job goes back into the queue.
    Requeued,
    /// A word that squeue(1) of 22.05 to 25.05 does not list.
    Other,
}

impl Phase {
    /// Whether a job in this phase has run.
    pub fn has_run(self) -> bool {
        matches!(self, Phase::Running | Phase::Paused | Phase::Resizing)
    }

    /// Whether the attempt is over.
    pub fn ends_attempt(self) -> bool {
        matches!(self, Phase::Ended | Phase::Requeued)
    }

    /// Whether a job in this phase has not begun to run.
    pub fn before_run(self) -> bool {
        matches!(self, Phase::Waiting | Phase::Configuring)
    }
}

macro_rules! states {
    ($($variant:ident $code:literal $name:literal $phase:ident),+ $(,)?) => {
        /// A job state. Slurm knows 24; one that a later Slurm adds is kept as it is written.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each variant is the state it is named after, described in squeue(1)")]
        pub enum State {
            $($variant,)+
            /// A word that squeue(1) does not list.
            Other(String),
        }

        impl State {
            /// All 24, in the order of the manual page.
            pub const ALL: [State; 24] = [$(State::$variant),+];

            /// Their full names, in the same order.
            pub const NAMES: [&'static str; 24] = [$($name),+];

            /// The full name of the state, such as `PENDING`.
            pub fn name(&self) -> &str {
                match self {
                    $(State::$variant => $name,)+
                    State::Other(word) => word,
                }
            }

            /// Reads a full name or a compact code (`PD`).
            pub fn parse(word: &str) -> State {
                match word {
                    $($name | $code => State::$variant,)+
                    _ => State::Other(word.to_owned()),
                }
            }

            /// The state with this full name; `None` for another word.
            pub fn named(name: &str) -> Option<State> {
                match name {
                    $($name => Some(State::$variant),)+
                    _ => None,
                }
            }

            /// The phase of a job's life that it belongs to.
            pub fn phase(&self) -> Phase {
                match self {
                    $(State::$variant => Phase::$phase,)+
                    State::Other(_) => Phase::Other,
                }
            }

            /// Whether the job will not run any more in this attempt.
            pub fn has_ended(&self) -> bool {
                self.phase().ends_attempt()
            }
        }
    };
}

states! {
    BootFail "BF" "BOOT_FAIL" Ended,
    Cancelled "CA" "CANCELLED" Ended,
    Completed "CD" "COMPLETED" Ended,
    Configuring "CF" "CONFIGURING" Configuring,
    Completing "CG" "COMPLETING" Ending,
    Deadline "DL" "DEADLINE" Ended,
    Failed "F" "FAILED" Ended,
    NodeFail "NF" "NODE_FAIL" Ended,
    OutOfMemory "OOM" "OUT_OF_MEMORY" Ended,
    Pending "PD" "PENDING" Waiting,
    Preempted "PR" "PREEMPTED" Ended,
    Running "R" "RUNNING" Running,
    ReservationDeleted "RD" "RESV_DEL_HOLD" Waiting,
    RequeueFederation "RF" "REQUEUE_FED" Waiting,
    RequeueHold "RH" "REQUEUE_HOLD" Waiting,
    Requeued "RQ" "REQUEUED" Requeued,
    Resizing "RS" "RESIZING" Resizing,
    Revoked "RV" "REVOKED" Ended,
    Signaling "SI" "SIGNALING" Ending,
    SpecialExit "SE" "SPECIAL_EXIT" Waiting,
    StageOut "SO" "STAGE_OUT" Ending,
    Stopped "ST" "STOPPED" Paused,
    Suspended "S" "SUSPENDED" Paused,
    Timeout "TO" "TIMEOUT" Ended,
}

/// The times of a job that Slurm reports, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// When it was submitted.
    pub submit_ns: Option<i64>,
    /// When it started, or is expected to.
    pub start_ns: Option<i64>,
    /// When it ended, or is expected to.
    pub end_ns: Option<i64>,
}

impl State {
    /// When Slurm says that a job came into this state: the submit time for PENDING, the start for
    /// RUNNING and CONFIGURING, the end for COMPLETING and the states after running. A time outside
    /// the interval in which the change was seen is about something else (the start of a job that
    /// was suspended meanwhile) and is not used. Slurm cuts to whole seconds.
    pub fn reported_ns(&self, times: Times, not_before_ns: Option<i64>, observed_at_ns: i64) -> Option<i64> {
        let time = match self {
            State::Pending => times.submit_ns,
            State::Running | State::Configuring => times.start_ns,
            state if *state == State::Completing || state.has_ended() => times.end_ns,
            _ => None,
        }?;
        let is_early = not_before_ns.is_some_and(|not_before| time.saturating_add(SECOND_NS) <= not_before);
        (!is_early && time <= observed_at_ns).then_some(time)
    }

    /// The times of a job in this state that had passed when Slurm showed them. Of a job that is
    /// waiting or completing, Slurm also shows expected ones.
    pub fn past(&self, times: Times) -> [Option<i64>; 3] {
        let phase = self.phase();
        let has_started = matches!(phase, Phase::Configuring | Phase::Running | Phase::Paused);
        [times.submit_ns, times.start_ns.filter(|_| has_started), times.end_ns.filter(|_| phase == Phase::Ended)]
    }
}

/// A state as a source writes it: sacct adds who cancelled (`CANCELLED by 1001`), and may cut a
/// word short with a `+` (`CANCELLED+`), which `--parsable2` does not.
pub fn from_accounting(text: &str) -> (State, Option<i64>) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let by = rest.strip_prefix("by ").and_then(|uid| uid.trim().parse().ok());
    (State::parse(word.trim_end_matches('+')), by)
}

/// A list of flags, as newer `squeue --json` writes states (`["RUNNING","COMPLETING"]`): the flag
/// that says most about now.
pub fn from_flags<'a>(flags: impl IntoIterator<Item = Cow<'a, str>>) -> Option<State> {
    // The base state comes first and flags such as COMPLETING or REQUEUED after it; squeue's text shows the flag.
    let mut found: Option<State> = None;
    for flag in flags {
        let state = State::parse(&flag);
        if found.is_none() || !matches!(state, State::Other(_)) {
            found = Some(state);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_read_by_name_and_by_code() {
        let codes = "BF CA CD CF CG DL F NF OOM PD PR R RD RF RH RQ RS RV SI SE SO ST S TO";
        let read: Vec<State> = codes.split(' ').map(State::parse).collect();
        assert_eq!(read, State::ALL);
        for state in State::ALL {
            assert_eq!(State::parse(state.name()), state);
            assert_ne!(state.phase(), Phase::Other);
            assert_eq!(State::named(state.name()), Some(state));
        }
        assert_eq!(State::parse("NEW_ONE").name(), "NEW_ONE");
        assert_eq!(State::named("PD"), None, "a code is no name");
    }

    #[test]
    fn accounting_says_who_cancelled() {
        assert_eq!(from_accounting("CANCELLED by 1001"), (State::Cancelled, Some(1001)));
        assert_eq!(from_accounting("COMPLETED"), (State::Completed, None));
        assert_eq!(from_accounting("CANCELLED+"), (State::Cancelled, None));
    }

    #[test]
    fn flags_beside_a_base_state() {
        assert_eq!(from_flags(["RUNNING".into(), "COMPLETING".into()]), Some(State::Completing));
        assert_eq!(from_flags(["PENDING".into()]), Some(State::Pending));
        assert_eq!(from_flags([]), None);
    }
}
