//! What is said on standard error. Text from a cluster is made visible first, so that a name cannot
//! steer the terminal.

use std::io::{IsTerminal, Write};

use flowmine_api::validate::{self, Finding};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics, Severity};
use flowmine_schema::text::visible;

fn say(text: &str) {
    // Standard error may be closed (cron): that is no reason to stop.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A sentence for whoever looks; newlines in it are ours.
pub fn note(text: &str) {
    let lines: Vec<_> = text.lines().map(visible).collect();
    say(&lines.join("\n"));
}

/// Writes a warning to standard error.
pub fn warning(text: &str) {
    note(&format!("flowmine: warning: {text}"));
}

/// Writes to standard error why the command failed.
pub fn error(text: &str) {
    note(&format!("flowmine: {text}"));
}

/// An error and its causes as one sentence, without what a cause repeats.
pub fn chain(error: &anyhow::Error) -> String {
    flowmine_api::chain(error.as_ref())
}

/// Whether standard error is a terminal.
pub fn on_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// How many diagnostics of an input are shown.
const SHOWN: usize = 10;

/// Whether diagnostics can be looked up later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// They are kept in the table `diagnostics`.
    InDataset,
    /// They are only shown, each time anew.
    Nowhere,
}

/// Shows diagnostics with their places and codes.
pub fn diagnostics(input: &str, diagnostics: &Diagnostics, kept: Kept) {
    for diagnostic in diagnostics.iter().take(SHOWN) {
        note(&one(input, diagnostic));
    }
    let more = diagnostics.iter().count().saturating_sub(SHOWN);
    if more > 0 {
        let where_all_are = if kept == Kept::InDataset { "; all are listed in the table `diagnostics` of the dataset" } else { "" };
        note(&format!("{input}: {more} more messages{where_all_are}"));
    }
}

/// Shows a finding about a log with its place.
pub fn finding(input: &str, found: &Finding) {
    note(&finding_text(input, found));
}

/// A finding about a log in one line: file, line and column, severity, text.
pub fn finding_text(input: &str, found: &Finding) -> String {
    let mut text = visible(input).into_owned();
    if let Some(line) = found.line {
        text.push_str(&format!(":{line}"));
        if let Some(column) = found.column {
            text.push_str(&format!(":{column}"));
        }
    }
    let severity = match found.severity {
        validate::Severity::Note => "note",
        validate::Severity::Warning => "warning",
        validate::Severity::Error => "error",
    };
    text.push_str(&format!(": {severity}: "));
    if !found.place.is_empty() {
        text.push_str(&format!("{}: ", visible(&found.place)));
    }
    text.push_str(&format!("{} ({})", visible(&found.message), found.rule));
    text
}

fn one(input: &str, d: &Diagnostic) -> String {
    let mut text = visible(input).into_owned();
    if let Some(line) = d.line {
        text.push_str(&format!(":{line}"));
        if let Some(column) = d.column {
            text.push_str(&format!(":{column}"));
        }
    }
    let severity = match d.severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    text.push_str(&format!(": {severity}: {}", visible(&d.message)));
    if d.count > 1 {
        text.push_str(&format!(" ({} times)", d.count));
    }
    text.push_str(&format!(" [{}]", d.code));
    if let Some(advice) = d.advice {
        text.push_str(&format!(" ({advice})"));
    }
    text
}
