//! What ends a check before the end of the file.

use super::report::Report;
use super::rules::{REFUSED, Rule};
use crate::error::LogError;
use crate::read::input::Position;

/// What ends a check before the end of the file.
#[derive(Debug)]
pub(super) enum Fault {
    /// Something about the file, as a finding.
    Found(&'static Rule, Position, String),
    /// An error of reading the file; only a refusal of its content becomes a finding.
    Log(LogError),
}

impl From<LogError> for Fault {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl Fault {
    /// Something that is too large.
    pub(super) fn too_large(at: Position, message: impl Into<String>) -> Self {
        Self::Found(&REFUSED, at, message.into())
    }

    /// Adds the fault to the report if it concerns the file; returns any other as an error.
    pub(super) fn report(self, report: &mut Report<'_>) -> Result<(), LogError> {
        let (rule, at, message) = match self {
            Self::Found(rule, at, message) => (rule, at, message),
            Self::Log(LogError::Refused { line, column, message }) => (&REFUSED, Position { line, column }, message),
            Self::Log(error) => return Err(error),
        };
        report.add(rule, at, String::new, || message);
        Ok(())
    }
}
