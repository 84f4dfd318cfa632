//! The order of cases, which two models share.

use crate::options::{Choice, OptionSpec};

/// The order of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// By the first moment.
    Start,
    /// By duration.
    Duration,
    /// By name.
    Name,
}

impl Choice for Sort {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("start", "By their first moment", Self::Start),
        ("duration", "By their duration", Self::Duration),
        ("name", "By name", Self::Name),
    ];
}

/// `--sort`.
pub const SORT: OptionSpec = OptionSpec::choice::<Sort>("sort", "ORDER", "Order of cases").by_default("start");
