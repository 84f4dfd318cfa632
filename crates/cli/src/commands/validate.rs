//! `flowmine validate`: checks event logs against their standards.

use flowmine_api::validate::{Severity, validate};
use flowmine_schema::text::visible;

use crate::args::Validate;
use crate::outcome::Outcome;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Checks files; what is wrong with them goes to standard output, with its place.
pub fn run(args: &Validate) -> anyhow::Result<Outcome> {
    let mut errors = 0u64;
    // A file that cannot be read keeps no other from being checked.
    let mut unreadable: Option<anyhow::Error> = None;
    for path in &args.files {
        let name = path.display().to_string();
        let checked = match validate(path, &args.columns, &Terminal) {
            Ok(checked) => checked,
            Err(error) => {
                if let Some(before) = unreadable.replace(error.into()) {
                    messages::error(&messages::chain(&before));
                }
                continue;
            }
        };
        let summary = checked.summary;
        errors += summary.errors;
        let least = if args.quiet { Severity::Warning } else { Severity::Note };
        output::write(None, |out| {
            for finding in checked.findings.iter().filter(|finding| finding.severity >= least) {
                writeln!(out, "{}", messages::finding_text(&name, finding))?;
            }
            let counts = format!("{} errors, {} warnings, {} notes", summary.errors, summary.warnings, summary.notes);
            Ok(writeln!(out, "{}: {}, {counts}", visible(&name), checked.standard)?)
        })?;
    }
    if let Some(error) = unreadable {
        return Err(error);
    }
    Ok(if errors > 0 { Outcome::WithLosses } else { Outcome::Clean })
}
