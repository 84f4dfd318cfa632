//! The formats of Slurm's files that can be imported, and the options for reading them.

/// The format of a file that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// squeue's text.
    SqueueText,
    /// squeue's JSON.
    SqueueJson,
    /// sacct's text.
    SacctText,
    /// sacct's JSON.
    SacctJson,
    /// A log of SLURMminer: rows of squeue, each with the time at which it was seen.
    SlurmMiner,
    /// The Standard Workload Format.
    Swf,
}

impl FileKind {
    /// Every kind, in the order in which messages list them.
    pub const ALL: [FileKind; 6] =
        [FileKind::SqueueText, FileKind::SqueueJson, FileKind::SacctText, FileKind::SacctJson, FileKind::SlurmMiner, FileKind::Swf];

    /// Name of the kind as messages have it, such as `squeue --json`.
    pub fn name(self) -> &'static str {
        match self {
            FileKind::SqueueText => "squeue text",
            FileKind::SqueueJson => "squeue --json",
            FileKind::SacctText => "sacct --parsable2",
            FileKind::SacctJson => "sacct --json",
            FileKind::SlurmMiner => "SLURMminer log",
            FileKind::Swf => "Standard Workload Format",
        }
    }
}

/// Information about the file that it does not contain.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Offset of times without zone, in seconds east of UTC. `None` treats them as UTC and reports
    /// it.
    pub zone_offset_s: Option<i64>,
    /// Field separator; by default it is found from the header.
    pub separator: Option<String>,
}
