//! `flowmine validate`: checks event logs against their standards.

use std::path::Path;

use flowmine_api::source;
use flowmine_eventlog::read::{Finding, Format, Severity};
use flowmine_eventlog::validate::{self, Summary};
use flowmine_logs::log_file::LogRules;
use flowmine_schema::text::visible;

use crate::args::Validate;
use crate::outcome::Outcome;
use crate::progress::Stage;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Checks files; what is wrong with them goes to standard output, with its place.
pub fn run(args: &Validate) -> anyhow::Result<Outcome> {
    let mut errors = 0u64;
    // A file that cannot be read keeps no other from being checked.
    let mut unreadable: Option<anyhow::Error> = None;
    for path in &args.files {
        let name = path.display().to_string();
        let mut lines = Vec::new();
        let mut count = Summary::default();
        let checked = check(args, path, &mut |finding| {
            *match finding.severity {
                Severity::Error => &mut count.errors,
                Severity::Warning => &mut count.warnings,
                Severity::Note => &mut count.notes,
            } += 1;
            if finding.severity > Severity::Note || !args.quiet {
                lines.push(messages::finding_text(&name, &finding));
            }
        });
        let format = match checked {
            Ok(format) => format,
            Err(error) => {
                if let Some(before) = unreadable.replace(error) {
                    messages::error(&messages::chain(&before));
                }
                continue;
            }
        };
        errors += count.errors;
        output::write(None, |out| {
            for line in &lines {
                writeln!(out, "{line}")?;
            }
            let Summary { errors, warnings, notes, .. } = count;
            Ok(writeln!(out, "{}: {format}, {errors} errors, {warnings} warnings, {notes} notes", visible(&name))?)
        })?;
    }
    if let Some(error) = unreadable {
        return Err(error);
    }
    Ok(if errors > 0 { Outcome::WithLosses } else { Outcome::Clean })
}

/// Checks a file, and gives the name of its format.
fn check(args: &Validate, path: &Path, found: &mut dyn FnMut(Finding)) -> anyhow::Result<&'static str> {
    if source::is_table(path)? {
        let log = source::read_file(path, &args.columns, LogRules::default(), &Terminal)?;
        log.findings.into_iter().for_each(found);
        return Ok("table");
    }
    anyhow::ensure!(!args.columns.is_some(), "{}: --case-column and the like are for tables, and this is none", path.display());
    let _stage = Stage::new("checking");
    let (format, _) = validate::validate(path, found).map_err(|error| source::in_file(path, error))?;
    Ok(match format {
        Format::Xes => "XES",
        Format::OcelJson => "OCEL 2.0 JSON",
        Format::OcelXml => "OCEL 2.0 XML",
        Format::OcelSqlite => "OCEL 2.0 SQLite",
    })
}
