//! The backends that this build has, see the features in Cargo.toml. A backend is one file here and
//! one line in [`built`].

use flowmine_trace::probe::Verdict;

mod backend;
#[cfg(feature = "ebpf")]
mod ebpf;
#[cfg(feature = "fuse")]
mod fuse;
#[cfg(feature = "ptrace")]
mod ptrace;

pub use backend::Backend;

/// All that there are, built or not.
const NAMES: [&str; 3] = ["ebpf", "fuse", "ptrace"];

/// The backends that are part of this build, as its features say.
pub fn built() -> &'static [Backend] {
    &[
        #[cfg(feature = "ebpf")]
        ebpf::BACKEND,
        #[cfg(feature = "fuse")]
        fuse::BACKEND,
        #[cfg(feature = "ptrace")]
        ptrace::BACKEND,
    ]
}

/// The backend of this name.
///
/// # Errors
/// When this build does not have it.
pub fn find(name: &str) -> anyhow::Result<&'static Backend> {
    built().iter().find(|backend| backend.name == name).ok_or_else(|| anyhow::anyhow!("this backend does not work: {}", left_out(name)))
}

/// What was found out about every backend, those that are not in this build included.
pub fn verdicts() -> Vec<Verdict> {
    let of = |name: &'static str| match find(name) {
        Ok(backend) => (backend.verdict)(),
        Err(_) => Verdict { backend: name, works: false, how: left_out(name), whole_host: false, checks: Vec::new() },
    };
    NAMES.map(of).into()
}

fn left_out(name: &str) -> String {
    format!("this flowmine was built without it (the feature `{name}`)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_backend_is_listed_and_one_that_was_left_out_says_so() {
        let verdicts = verdicts();
        assert_eq!(verdicts.iter().map(|verdict| verdict.backend).collect::<Vec<_>>(), NAMES);
        for verdict in verdicts {
            let is_built = built().iter().any(|backend| backend.name == verdict.backend);
            assert_eq!(verdict.how.contains("built without it"), !is_built, "{}", verdict.how);
        }
        let refused = find("other").err().map(|error| error.to_string());
        assert_eq!(refused.as_deref(), Some("this backend does not work: this flowmine was built without it (the feature `other`)"));
    }
}
