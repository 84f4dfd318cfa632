//! Diagnostics: a bad line neither stops the import nor is ignored; it becomes a diagnostic.

pub mod codes;

use std::io;

use crate::tables::DiagnosticRow;

/// Severity of a diagnostic: whether rows are missing because of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input was read, but a part of it was unusual or is unknown.
    Warning,
    /// The input was rejected: rows are missing because of it.
    Error,
}

impl Severity {
    /// Returns its word in the column `severity` of `diagnostics`.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A problem of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether the input was rejected or only unusual.
    pub severity: Severity,
    /// A short fixed name, one of [`codes::CODES`].
    pub code: &'static str,
    /// One sentence. The code that prints it makes it safe for terminals.
    pub message: String,
    /// Advice to the user.
    pub advice: Option<&'static str>,
    /// Line of the input, from 1; `None` where there is no such place.
    pub line: Option<u64>,
    /// Column in bytes, from 1.
    pub column: Option<u64>,
    /// Number of occurrences; more than 1 if equal ones were counted together.
    pub count: u64,
}

impl Diagnostic {
    /// Creates an error: input was rejected.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, code, message: message.into(), advice: None, line: None, column: None, count: 1 }
    }

    /// Creates a warning: input was unusual, and was read.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Creates an error: a file could not be read, or exceeds the maximum size, which readers
    /// report as [`io::ErrorKind::FileTooLarge`].
    pub fn of_reading(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::FileTooLarge => Self::error("file_too_large", error.to_string()),
            _ => Self::error("file_unreadable", error.to_string()),
        }
    }

    /// Adds the place in the input: line and column, both from 1.
    pub fn at(mut self, line: u64, column: Option<u64>) -> Self {
        self.line = Some(line);
        self.column = column;
        self
    }

    /// As a row of the table, of an input.
    pub fn row<'a>(&'a self, input: &'a str) -> DiagnosticRow<'a> {
        DiagnosticRow {
            severity: self.severity.name().into(),
            code: self.code.into(),
            message: self.message.as_str().into(),
            advice: self.advice.map(Into::into),
            input: input.into(),
            line: self.line.map(|n| n as i64),
            column: self.column.map(|n| n as i64),
            count: self.count as i64,
            ..DiagnosticRow::default()
        }
    }

    /// The diagnostic of a row of the table, if its code is known and its advice is one of these.
    pub fn of_row(row: &DiagnosticRow<'_>, known_advice: &[&'static str]) -> Option<Self> {
        let severity = [Severity::Warning, Severity::Error].into_iter().find(|severity| severity.name() == row.severity)?;
        let code = codes::CODES.iter().find(|code| code.name == row.code)?.name;
        let advice = match row.advice.as_deref() {
            Some(advice) => Some(*known_advice.iter().find(|known| **known == advice)?),
            None => None,
        };
        let number = |number: Option<i64>| number.map(u64::try_from).transpose().ok();
        let (line, column, count) = (number(row.line)?, number(row.column)?, u64::try_from(row.count).ok()?);
        Some(Self { severity, code, message: row.message.to_string(), advice, line, column, count })
    }

    /// Adds what the user can do about it.
    pub fn advise(mut self, advice: &'static str) -> Self {
        self.advice = Some(advice);
        self
    }
}

/// Diagnostics of one input; of those alike (same code) only the first [`Diagnostics::KEPT`] are
/// kept and the rest counted in one more, so that a hostile input cannot fill a disk.
#[derive(Debug, Default, Clone)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    more: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Maximum number of diagnostics of one code that are kept with their place.
    pub const KEPT: usize = 20;

    /// Adds a diagnostic; beyond [`Diagnostics::KEPT`] of its code it is only counted.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.kept.iter().filter(|d| d.code == diagnostic.code).count() < Self::KEPT {
            self.kept.push(diagnostic);
        } else if let Some(more) = self.more.iter_mut().find(|d| d.code == diagnostic.code) {
            more.count += diagnostic.count;
        } else {
            let message = format!("more of the same, the first: {}", diagnostic.message);
            self.more.push(Diagnostic { message, ..diagnostic });
        }
    }

    /// Adds all diagnostics of another input or step.
    pub fn extend(&mut self, other: Diagnostics) {
        other.kept.into_iter().for_each(|diagnostic| self.push(diagnostic));
        other.more.into_iter().for_each(|more| self.restore(more));
    }

    /// Adds a diagnostic as [`Diagnostics::iter`] gave it, after those before it: beyond
    /// [`Diagnostics::KEPT`] of its code it counts those that were not kept.
    pub fn restore(&mut self, diagnostic: Diagnostic) {
        if self.kept.iter().filter(|d| d.code == diagnostic.code).count() < Self::KEPT {
            self.kept.push(diagnostic);
        } else if let Some(more) = self.more.iter_mut().find(|d| d.code == diagnostic.code) {
            more.count += diagnostic.count;
        } else {
            self.more.push(diagnostic);
        }
    }

    /// Returns the same diagnostics with `words` instead of each message.
    pub fn without_messages(&self, words: &str) -> Self {
        let without = |all: &[Diagnostic]| all.iter().map(|d| Diagnostic { message: words.to_owned(), ..d.clone() }).collect();
        Self { kept: without(&self.kept), more: without(&self.more) }
    }

    /// Iterates over the diagnostics in order; those that were only counted are last.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.kept.iter().chain(&self.more)
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns the number of rejected inputs.
    pub fn errors(&self) -> u64 {
        self.iter().filter(|d| d.severity == Severity::Error).map(|d| d.count).sum()
    }

    /// Returns the number of warnings, including those that were only counted.
    pub fn warnings(&self) -> u64 {
        self.iter().filter(|d| d.severity == Severity::Warning).map(|d| d.count).sum()
    }

    /// As rows of the table `diagnostics`, of an input, seen at a time in nanoseconds since 1970.
    pub fn rows<'a>(&'a self, input: &'a str, observed_at_ns: Option<i64>) -> impl Iterator<Item = DiagnosticRow<'a>> {
        self.iter().map(move |diagnostic| DiagnosticRow { observed_at_ns, ..diagnostic.row(input) })
    }
}
