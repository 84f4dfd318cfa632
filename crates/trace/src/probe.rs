//! What works on this machine, and which backend to take. Facts are read by each backend
//! (`facts.rs` of its crate), which makes a [`Verdict`] of them; the choice is a pure function of
//! these.

use serde::Serialize;

/// One thing that a backend needs or can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at, in words.
    pub what: String,
    /// Whether it is there; `None` when that could not be found out.
    pub holds: Option<bool>,
    /// What was found, in words.
    pub found: String,
    /// The one line that would change it.
    pub remedy: Option<String>,
}

impl Check {
    /// A check with what was found, and without a remedy.
    pub fn new(what: impl Into<String>, holds: impl Into<Option<bool>>, found: impl Into<String>) -> Self {
        Check { what: what.into(), holds: holds.into(), found: found.into(), remedy: None }
    }

    /// What would help, said only where it does not hold.
    #[must_use]
    pub fn or(mut self, remedy: impl Into<String>) -> Self {
        if self.holds != Some(true) {
            self.remedy = Some(remedy.into());
        }
        self
    }
}

/// What was found out about one backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Name of the backend: `ebpf`, `fuse` or `ptrace`.
    pub backend: &'static str,
    /// Whether the backend can trace on this host.
    pub works: bool,
    /// How, such as the hooks; or why not, in a sentence.
    pub how: String,
    /// Whether it can trace processes that it did not start.
    pub whole_host: bool,
    /// Everything that was looked at.
    pub checks: Vec<Check>,
}

/// What is to be traced, as far as the choice depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Whether a command is to be started and traced.
    pub command: bool,
    /// Directories are named over which an overlay can lie: all but `/`.
    pub directories: bool,
}

/// Takes the first of backends, in the order in which they suit a trace, that works for it. The
/// second value says why.
///
/// # Errors
/// A sentence that says why none of them works.
pub fn choose(verdicts: &[Verdict], wanted: Needs) -> Result<(&'static str, String), String> {
    let mut refused = Vec::new();
    for verdict in verdicts {
        if verdict.works && (wanted.command || verdict.whole_host) {
            let why = if refused.is_empty() { String::new() } else { format!(" ({})", refused.join("; ")) };
            return Ok((verdict.backend, format!("{}: {}{why}", verdict.backend, verdict.how)));
        }
        refused.push(format!("not {}: {}", verdict.backend, verdict.how));
    }
    let advice = if wanted.command {
        "`flowmine doctor` shows what would help"
    } else {
        "tracing a whole host takes eBPF; a command of your own can be traced without privileges: flowmine trace --dataset DIR -- COMMAND"
    };
    Err(format!("nothing that works here can trace this ({}); {advice}", refused.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(backend: &'static str, works: bool) -> Verdict {
        Verdict { backend, works, how: format!("{backend} {works}"), whole_host: backend == "ebpf", checks: Vec::new() }
    }

    #[test]
    fn the_best_that_works_is_taken() {
        let all = |e, f, p| [verdict("ebpf", e), verdict("fuse", f), verdict("ptrace", p)];
        let command = Needs { command: true, directories: true };
        let host = Needs { command: false, directories: true };
        let chosen = |verdicts: &[Verdict], wanted| choose(verdicts, wanted).map(|chosen| chosen.0).ok();
        assert_eq!(chosen(&all(true, true, true), command), Some("ebpf"));
        assert_eq!(chosen(&all(false, true, true), command), Some("fuse"));
        assert_eq!(chosen(&all(false, false, true), command), Some("ptrace"));
        assert_eq!(chosen(&all(false, false, false), command), None);
        assert_eq!(chosen(&all(true, false, false), host), Some("ebpf"));
        assert_eq!(chosen(&all(false, true, true), host), None);
        let (_, why) = choose(&all(false, true, true), command).unwrap();
        assert!(why.contains("not ebpf"), "{why}");
    }
}
