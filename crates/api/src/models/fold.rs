//! When parts of a structure are one, which two models share.

use flowmine_discover::fold::Fold;

use crate::options::{Choice, OptionSpec};

impl Choice for Fold {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("never", "Never", Self::Never),
        ("equal", "When they have the same name and the same around them, equally often", Self::Equal),
        ("alike", "When they have the same name and the same around them, however often", Self::Alike),
        ("name", "When they have the same name", Self::Name),
    ];
}

/// `--fold`.
pub const FOLD: OptionSpec = OptionSpec::choice::<Fold>("fold", "HOW", "When nodes are merged")
    .details("By default the strictest that leaves few enough to look at. Around a process is what it forked");
