//! Job states by their full names, squeue(1) section JOB STATE CODES.

use std::borrow::Cow;

macro_rules! states {
    ($($variant:ident $code:literal $name:literal $ended:literal),+ $(,)?) => {
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

            /// The full name: `PENDING`.
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

            /// Whether the job will not run any more in this attempt.
            pub fn has_ended(&self) -> bool {
                match self {
                    $(State::$variant => $ended,)+
                    State::Other(_) => false,
                }
            }
        }
    };
}

states! {
    BootFail "BF" "BOOT_FAIL" true,
    Cancelled "CA" "CANCELLED" true,
    Completed "CD" "COMPLETED" true,
    Configuring "CF" "CONFIGURING" false,
    Completing "CG" "COMPLETING" false,
    Deadline "DL" "DEADLINE" true,
    Failed "F" "FAILED" true,
    NodeFail "NF" "NODE_FAIL" true,
    OutOfMemory "OOM" "OUT_OF_MEMORY" true,
    Pending "PD" "PENDING" false,
    Preempted "PR" "PREEMPTED" true,
    Running "R" "RUNNING" false,
    ReservationDeleted "RD" "RESV_DEL_HOLD" false,
    RequeueFederation "RF" "REQUEUE_FED" false,
    RequeueHold "RH" "REQUEUE_HOLD" false,
    Requeued "RQ" "REQUEUED" true,
    Resizing "RS" "RESIZING" false,
    Revoked "RV" "REVOKED" true,
    Signaling "SI" "SIGNALING" false,
    SpecialExit "SE" "SPECIAL_EXIT" false,
    StageOut "SO" "STAGE_OUT" false,
    Stopped "ST" "STOPPED" false,
    Suspended "S" "SUSPENDED" false,
    Timeout "TO" "TIMEOUT" true,
}

/// A state as a source writes it: sacct adds who cancelled (`CANCELLED by 1001`), and may cut a word short with a `+`
/// (`CANCELLED+`), which `--parsable2` does not.
pub fn from_accounting(text: &str) -> (State, Option<i64>) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let by = rest.strip_prefix("by ").and_then(|uid| uid.trim().parse().ok());
    (State::parse(word.trim_end_matches('+')), by)
}

/// A list of flags, as newer `squeue --json` writes states (`["RUNNING","COMPLETING"]`): the flag that tells most about now.
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
        }
        assert_eq!(State::parse("NEW_ONE").name(), "NEW_ONE");
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
