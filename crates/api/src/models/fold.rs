//! When parts of a structure are one, which two models share.

use flowmine_discover::fold::Fold;

use crate::options::{Choice, OptionSpec};

impl Choice for Fold {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("never", "Never", Self::Never),
        ("equal", "Nodes of one name with the same neighbours, equally often", Self::Equal),
        ("alike", "Nodes of one name with the same neighbours, in any number", Self::Alike),
        ("name", "Nodes of one name", Self::Name),
    ];
}

/// `--fold`.
pub const FOLD: OptionSpec = OptionSpec::choice::<Fold>("fold", "HOW", "When nodes are merged")
    .details("By default the strictest with at most sixty nodes. Neighbours of a process are its child processes");
