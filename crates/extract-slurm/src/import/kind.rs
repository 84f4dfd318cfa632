//! Which files there are.

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// squeue's text.
    SqueueText,
    /// squeue's JSON.
    SqueueJson,
    /// sacct's text.
    SacctText,
    /// sacct's JSON.
    SacctJson,
    /// A SLURMminer log.
    SlurmMiner,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::SqueueText, Kind::SqueueJson, Kind::SacctText, Kind::SacctJson, Kind::SlurmMiner];

    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::SqueueText => "squeue text",
            Kind::SqueueJson => "squeue --json",
            Kind::SacctText => "sacct --parsable2",
            Kind::SacctJson => "sacct --json",
            Kind::SlurmMiner => "SLURMminer log",
        }
    }
}

/// What is known beside the file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How far east of UTC times without zone are, in seconds. `None` takes them as UTC and says so.
    pub zone_offset_s: Option<i64>,
    /// What separates fields, instead of finding it out from the header.
    pub separator: Option<String>,
}
