//! How commands end, for the exit code.

/// How a command ended when it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All was read and written, and nothing was lost.
    Clean,
    /// Finished, but something was lost or rejected, and said so.
    WithLosses,
    /// A command that was started ended with this exit code, which is ours too.
    Code(u8),
}
