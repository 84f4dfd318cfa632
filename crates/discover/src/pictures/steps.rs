//! Steps as text, as a table and as JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::text::{count, counted, duration};

use super::csv::{Csv, seconds};
use super::text_table::{self, Column};
use crate::steps::{Step, Steps};

/// Number of steps that are shown in a terminal.
const SHOWN: usize = 40;
/// Number of names that a cell of a terminal has.
const NAMES: usize = 2;

impl Document for Steps {
    const FORMAT: &'static str = "flowmine-steps";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Steps>();

/// Writes the JSON document.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &Steps, out: impl Write) -> io::Result<()> {
    document::write(found, out)
}

/// The first names, and the number of the others.
fn some(names: &[String]) -> String {
    let mut text = names.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES {
        let _ = write!(text, " +{}", names.len() - NAMES);
    }
    text
}

/// Writes the steps for a terminal, those with most attempts first.
pub fn text(found: &Steps) -> String {
    let steps = counted(found.steps.len() as u64, "step", "steps");
    let (jobs, tasks) = (counted(found.jobs, "job", "jobs"), counted(found.tasks, "task", "tasks"));
    let mut out = format!("{steps} of {jobs} and {tasks}, attempts counted\n");
    let shown = &found.steps[..found.steps.len().min(SHOWN)];
    if shown.is_empty() {
        return out;
    }
    let column = |heading: &str, right: bool, cell: &dyn Fn(&Step) -> String| Column {
        heading: heading.to_owned(),
        right,
        cells: shown.iter().map(cell).collect(),
        ..Column::default()
    };
    out.push('\n');
    out.push_str(&text_table::write(&[
        column("step", false, &|step| step.name.clone()),
        column("attempts", true, &|step| count(step.attempts())),
        column("users", true, &|step| count(step.users.len() as u64)),
        column("median time", true, &|step| step.median_running_ns.map_or(String::new(), |ns| duration(ns as f64))),
        column("named by", false, &|step| step.evidence.iter().map(|of| of.by.as_str()).collect::<Vec<_>>().join(", ")),
        column("names", false, &|step| some(&step.examples)),
        column("programs", false, &|step| some(&step.programs.iter().map(|program| program.name.clone()).collect::<Vec<_>>())),
    ]));
    let more = found.steps.len() - shown.len();
    if more > 0 {
        let _ = writeln!(out, "\n{}; --format csv and json have all.", counted(more as u64, "step more", "steps more"));
    }
    out
}

/// Writes the steps as a table; several names in one field are joined by ` ; `.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &Steps, out: impl Write) -> io::Result<()> {
    let columns = [
        "step",
        "jobs",
        "tasks",
        "users",
        "accounts",
        "evidence",
        "joined_by_program",
        "templates",
        "examples",
        "programs",
        "read_kinds",
        "written_kinds",
        "median_cpus",
        "median_memory_bytes",
        "median_running_s",
    ];
    let mut table = Csv::new(out, &columns)?;
    for step in &found.steps {
        let joined = |texts: &[String]| texts.join(" ; ");
        table.text(&step.name).count(step.jobs).count(step.tasks).text(&joined(&step.users)).text(&joined(&step.accounts));
        table.text(&joined(&step.evidence.iter().map(|of| of.by.clone()).collect::<Vec<_>>()));
        table.number(Some(step.joined_by_program)).text(&joined(&step.templates)).text(&joined(&step.examples));
        table.text(&joined(&step.programs.iter().map(|program| program.name.clone()).collect::<Vec<_>>()));
        table.text(&joined(&step.read_kinds)).text(&joined(&step.written_kinds));
        table.number(step.median_cpus).number(step.median_memory_bytes);
        table.number(step.median_running_ns.map(|ns| seconds(ns.into()))).end()?;
    }
    table.finish()
}

/// Writes the attempts of each step as a table: the step, `job` or `task`, and the attempt.
///
/// # Errors
/// When `out` cannot be written.
pub fn members_csv<'m>(members: impl Iterator<Item = (&'m str, bool, &'m str)>, out: impl Write) -> io::Result<()> {
    let mut table = Csv::new(out, &["step", "kind", "attempt"])?;
    for (step, is_task, attempt) in members {
        table.text(step).text(if is_task { "task" } else { "job" }).text(attempt).end()?;
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::{Evidence, Program};

    #[test]
    fn hostile_names_are_made_visible() {
        let step = Step {
            name: "<b>\u{1b}[31m".to_owned(),
            jobs: 3,
            users: vec!["anna".to_owned()],
            evidence: vec![Evidence { by: "script".to_owned(), attempts: 3 }],
            examples: ["=1+1", "b", "c"].map(str::to_owned).to_vec(),
            programs: vec![Program { name: "bwa mem".to_owned(), attempts: 3, cpu_time_ns: None }],
            ..Step::default()
        };
        let found = Steps { jobs: 3, tasks: 0, steps: vec![step] };
        let shown = text(&found);
        assert!(!shown.contains('\u{1b}') && shown.contains("=1+1, b +1") && shown.contains("bwa mem"), "{shown}");
        let mut table = Vec::new();
        csv(&found, &mut table).expect("a vector takes all");
        let table = String::from_utf8_lossy(&table).into_owned();
        assert!(table.lines().nth(1).is_some_and(|line| line.contains(",3,0,anna,") && line.contains("'=1+1 ; b ; c")), "{table}");
        assert_eq!(text(&Steps::default()), "0 steps of 0 jobs and 0 tasks, attempts counted\n");
    }
}
