//! The ways in that this build has, see the features in Cargo.toml. A way is one file here and one
//! line in [`built`].

use flowmine_trace::probe::Verdict;

#[cfg(feature = "ebpf")]
mod ebpf;
#[cfg(feature = "fuse")]
mod fuse;
#[cfg(feature = "ptrace")]
mod ptrace;
mod way;

pub use way::Way;

/// All that there are, built or not.
const NAMES: [&str; 3] = ["ebpf", "fuse", "ptrace"];

/// Those of this build.
pub fn built() -> &'static [Way] {
    &[
        #[cfg(feature = "ebpf")]
        ebpf::WAY,
        #[cfg(feature = "fuse")]
        fuse::WAY,
        #[cfg(feature = "ptrace")]
        ptrace::WAY,
    ]
}

/// The way of this name.
///
/// # Errors
/// When this build does not have it.
pub fn way(name: &str) -> anyhow::Result<&'static Way> {
    built().iter().find(|way| way.name == name).ok_or_else(|| anyhow::anyhow!("this way in does not work: {}", left_out(name)))
}

/// What was found out about every way, those that are not in this build included.
pub fn verdicts() -> Vec<Verdict> {
    let of = |name: &'static str| match way(name) {
        Ok(way) => (way.verdict)(),
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
    fn every_way_is_told_and_one_that_was_left_out_says_so() {
        let verdicts = verdicts();
        assert_eq!(verdicts.iter().map(|verdict| verdict.backend).collect::<Vec<_>>(), NAMES);
        for verdict in verdicts {
            let is_built = built().iter().any(|way| way.name == verdict.backend);
            assert_eq!(verdict.how.contains("built without it"), !is_built, "{}", verdict.how);
        }
        let refused = way("other").err().map(|error| error.to_string());
        assert_eq!(refused.as_deref(), Some("this way in does not work: this flowmine was built without it (the feature `other`)"));
    }
}
