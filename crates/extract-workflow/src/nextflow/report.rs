//! `execution_report.html` from `-with-report`: a page that contains its tasks as JSON with raw
//! values and every column of a trace file.
//!
//! ```text
//! <title>[goofy_yalow] Nextflow Workflow Report</title>
//! <dt …>Workflow session</dt> <dd …><code>6d1a1f6e-…</code></dd>
//! window.data = { "trace":[ {"task_id":"1","hash":"19\/2c6526",…},…], "summary":[…] };
//! ```
//!
//! The JSON has Java's escapes for JavaScript: `\'` is not an escape of JSON. The report of a run
//! with a very large number of tasks has `"trace":null`.

use std::io;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use serde_json::Value;

use super::trace::{self, Record};
use crate::{input, json};

const TITLE: &str = "Nextflow Workflow Report</title>";
const DATA: &str = "window.data = ";

/// The HTML report of a run (`-with-report`).
#[derive(Debug, Default)]
pub struct Report {
    /// The session's UUID.
    pub run_id: Option<String>,
    /// The run's name.
    pub run_name: Option<String>,
    /// The tasks of the run.
    pub records: Vec<Record>,
}

/// Whether a text begins as a report does.
pub fn is_one(head: &str) -> bool {
    head.contains(TITLE)
}

/// Reads an HTML report.
///
/// # Errors
/// When its tasks cannot be read.
pub fn read(text: &str, diagnostics: &mut Diagnostics) -> io::Result<Report> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let after = |what: &str| text.split_once(what).map(|(_, after)| after);
    let name = text.split_once(TITLE).and_then(|(before, _)| before.rsplit_once("<title>[")?.1.trim_end().strip_suffix(']'));
    let session = after("Workflow session</dt>").and_then(|rest| rest.split_once("<code>")?.1.split_once("</code>"));
    let mut report = Report {
        run_id: session.map(|(id, _)| id.trim().to_owned()).filter(|id| !id.is_empty() && id != "null"),
        run_name: name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()),
        records: Vec::new(),
    };
    // A task's script can contain the same text, but only after this place.
    let at = text.find(DATA).ok_or_else(|| invalid("the report has no tasks: it ends before them".to_owned()))?;
    let line = text[..at].matches('\n').count() as u64 + 1;
    let data = as_json(&text[at + DATA.len()..]);
    // The rest of the page follows.
    let data = json::first(&data).map_err(|e| {
        let cut = if e.is_eof() { "; the file ends within them: it was cut" } else { "" };
        invalid(format!("its tasks, which begin in line {line}, cannot be read: {e}, counted from there{cut}"))
    })?;
    let Some(tasks) = data.get("trace").and_then(Value::as_array) else {
        let message = "the report holds no table of tasks, as Nextflow leaves it out when there are too many";
        diagnostics.push(Diagnostic::warning("report_without_tasks", message).at(line, None).advise("import the run's trace file or log"));
        return Ok(report);
    };
    input::not_too_many(tasks.len())?;
    for task in tasks {
        let Some(columns) = task.as_object() else {
            diagnostics.push(Diagnostic::error("report_task_bad", "a task of the report is no object").at(line, None));
            continue;
        };
        let told = columns.iter().filter_map(|(column, value)| Some((column.as_str(), value.as_str()?)));
        report.records.push(trace::decode(told, line, diagnostics));
    }
    Ok(report)
}

/// Replaces escapes that JSON does not have by their characters.
fn as_json(script: &str) -> String {
    let mut out = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest[at..].chars().nth(1).map_or(1, |c| 1 + c.len_utf8());
        match &rest[at..at + escape] {
            "\\'" => out.push('\''),
            other => out.push_str(other),
        }
        rest = &rest[at + escape..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(as_json(r#"{"a":"it\'s \"b\" \\'c\/d\n\u00E9\\"}x"#), r#"{"a":"it's \"b\" \\'c\/d\n\u00E9\\"}x"#);
        assert_eq!(as_json("\\"), "\\");
        assert_eq!(as_json("a\\é"), "a\\é");
    }

    proptest! {
        #[test]
        fn whatever_stands_in_it(text in r#"(<title>\[a|\] Nextflow Workflow Report</title>|Workflow session</dt>|<code>|</code>|window\.data = |\{ "trace":\[|\{"task_id":"1","name":"x","submit":"17"\}|,|\]|\}|\\'|\\|"|é|null|;){0,14}"#) {
            let _ = read(&text, &mut Diagnostics::default());
        }
    }

    #[test]
    fn cut_and_without_tasks() {
        let read = |text: &str| {
            let mut diagnostics = Diagnostics::default();
            let report = read(text, &mut diagnostics);
            (report.map(|report| report.records.len()).map_err(|e| e.to_string()), diagnostics.iter().map(|d| d.code).collect::<Vec<_>>())
        };
        let head = "<title>[a_b] Nextflow Workflow Report</title>\n";
        assert_eq!(read(&format!("{head}window.data = {{ \"trace\":null, \"summary\":[] }};")), (Ok(0), vec!["report_without_tasks"]));
        assert!(read(head).0.is_err());
        let cut = read(&format!("{head}\nwindow.data = {{ \"trace\":[\n{{\"task_id\":\"1\"")).0.unwrap_err();
        assert!(cut.contains("line 3"), "{cut}");
    }
}
