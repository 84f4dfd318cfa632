//! `flowmine validate`: checks event logs against their standards.

use flowmine_api::source;
use flowmine_eventlog::read::{Format, Severity};
use flowmine_eventlog::validate;
use flowmine_schema::text::visible;

use crate::args::Validate;
use crate::outcome::Outcome;
use crate::progress::Stage;
use crate::{messages, output};

/// Checks files; what is wrong with them goes to standard output, with its place.
pub fn run(args: &Validate) -> anyhow::Result<Outcome> {
    let mut errors = 0u64;
    // A file that cannot be read keeps no other from being checked.
    let mut unreadable: Option<anyhow::Error> = None;
    for path in &args.files {
        let name = path.display().to_string();
        let _stage = Stage::new("checking");
        let mut lines = Vec::new();
        let checked = validate::validate(path, &mut |finding| {
            if finding.severity > Severity::Note || !args.quiet {
                lines.push(messages::finding_text(&name, &finding));
            }
        });
        let (format, summary) = match checked {
            Ok(checked) => checked,
            Err(error) => {
                if let Some(before) = unreadable.replace(source::in_file(path, error).into()) {
                    messages::error(&messages::chain(&before));
                }
                continue;
            }
        };
        errors += summary.errors;
        let format = match format {
            Format::Xes => "XES",
            Format::OcelJson => "OCEL 2.0 JSON",
            Format::OcelXml => "OCEL 2.0 XML",
            Format::OcelSqlite => "OCEL 2.0 SQLite",
        };
        output::write(None, |out| {
            for line in &lines {
                writeln!(out, "{line}")?;
            }
            Ok(writeln!(
                out,
                "{}: {format}, {} errors, {} warnings, {} notes",
                visible(&name),
                summary.errors,
                summary.warnings,
                summary.notes
            )?)
        })?;
    }
    if let Some(error) = unreadable {
        return Err(error);
    }
    Ok(if errors > 0 { Outcome::WithLosses } else { Outcome::Clean })
}
