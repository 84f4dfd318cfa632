//! The registry of tracing backends. A backend is one file here and one line in [`ALL`]; its
//! program can be left out of a build, see the features in Cargo.toml.

mod backend;
mod ebpf;
mod fuse;
mod ptrace;

use flowmine_trace::probe::{self, Needs, Verdict};

use crate::error::{Error, Result, refuse};

pub use backend::{Backend, Built, Job};

/// All backends, the best one first: eBPF costs least and sees every process; ptrace sees some
/// calls that FUSE does not (`docs/tracing.md`).
pub static ALL: &[Backend] = &[ebpf::BACKEND, fuse::BACKEND, ptrace::BACKEND];

/// Returns the backend with this name.
pub fn find(name: &str) -> Option<&'static Backend> {
    ALL.iter().find(|backend| backend.name == name)
}

/// Whether this build has a backend.
pub fn any_built() -> bool {
    ALL.iter().any(|backend| backend.built.is_some())
}

impl Backend {
    /// Returns its program.
    ///
    /// # Errors
    /// When this build lacks it.
    pub fn program(&self) -> Result<&Built> {
        let Some(built) = &self.built else { refuse!("this backend does not work: {}", self.left_out()) };
        Ok(built)
    }

    /// Reports whether it works here.
    pub fn verdict(&self) -> Verdict {
        match &self.built {
            Some(built) => (built.verdict)(),
            None => Verdict { backend: self.name, works: false, how: self.left_out(), whole_host: false, checks: Vec::new() },
        }
    }

    fn left_out(&self) -> String {
        format!("this flowmine was built without it (the feature `{}`)", self.name)
    }
}

/// Returns the best backend that works here for such a trace, and a sentence that gives the reason.
///
/// # Errors
/// When none works; the text reports why.
pub fn choose(wanted: Needs) -> Result<(&'static Backend, String)> {
    let verdicts: Vec<Verdict> = ALL.iter().filter(|backend| (backend.suits)(wanted)).map(Backend::verdict).collect();
    let (name, why) = probe::choose(&verdicts, wanted).map_err(Error::Refused)?;
    let Some(backend) = find(name) else { refuse!("there is no backend {name}") };
    Ok((backend, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_backend_has_its_verdict_and_one_that_was_left_out_says_so() {
        for backend in ALL {
            let verdict = backend.verdict();
            assert_eq!(verdict.backend, backend.name);
            assert_eq!(verdict.how.contains("built without it"), backend.built.is_none(), "{}", verdict.how);
        }
        let other = Backend { name: "other", built: None, ..ptrace::BACKEND };
        let refused = other.program().err().map(|error| error.to_string());
        assert_eq!(refused.as_deref(), Some("this backend does not work: this flowmine was built without it (the feature `other`)"));
    }

    #[test]
    fn backends_are_chosen_for_what_they_suit() {
        let suited = |command, directories| {
            let wanted = Needs { command, directories };
            ALL.iter().filter(|backend| (backend.suits)(wanted)).map(|backend| backend.name).collect::<Vec<_>>()
        };
        assert_eq!(suited(false, true), ["ebpf"]);
        assert_eq!(suited(true, false), ["ebpf", "ptrace"]);
        assert_eq!(suited(true, true), ["ebpf", "fuse", "ptrace"]);
        assert!(ALL.iter().all(|backend| !backend.serves || !backend.only_commands));
    }
}
