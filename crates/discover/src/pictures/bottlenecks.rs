//! Bottlenecks as text for a terminal, as a table and as JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::duration;
use flowmine_draw::text::{counted, visible};

use super::csv::{Csv, seconds};
use super::units::core_hours;
use crate::bottlenecks::{Bottlenecks, Example, Finding};

fn example(of: &Example) -> String {
    let mut words = format!("{} in ", duration(of.time_ns as f64));
    if let Some(who) = of.who.words() {
        let _ = write!(words, "{who}, ");
    }
    let _ = write!(words, "case {} (no. {})", visible(&of.case), of.place);
    if let Some(ns) = of.start_ns {
        let _ = write!(words, ", started {}", super::calendar::iso(ns));
    }
    if let Some(resource) = &of.resource {
        let _ = write!(words, ", {}", visible(resource));
    }
    words
}

/// The core-hours at stake with the time next to them; of instances whose CPUs are not known the
/// time alone.
fn at_stake(finding: &Finding) -> String {
    let time = duration(finding.at_stake_ns as f64);
    let core = finding.at_stake_core_ns.filter(|_| finding.at_stake_ns > 0);
    core.map_or_else(|| time.clone(), |core| format!("{} core-hours, {time}", core_hours(core)))
}

/// So many findings are shown in a terminal.
const SHOWN: usize = 15;

/// The list for a terminal: the first findings, with evidence and advice.
pub fn text(list: &Bottlenecks) -> String {
    let mut out = String::new();
    let about = &list.about;
    let _ = writeln!(out, "{}, {}", counted(about.cases, "case", "cases"), about.counted(about.instances));
    for fact in about.facts() {
        let _ = writeln!(out, "{}", visible(&fact));
    }
    if list.findings.is_empty() {
        out.push_str("\nNothing costs time that can be seen.\n");
    }
    for (at, finding) in list.findings.iter().take(SHOWN).enumerate() {
        let name = match &finding.after {
            Some(after) => format!("{} → {}", visible(after), visible(&finding.activity)),
            None => visible(&finding.activity),
        };
        let _ = writeln!(out, "\n{:>2}. {}  {}  {}", at + 1, at_stake(finding), finding.kind.name(), name);
        let _ = writeln!(out, "    {}.", visible(&finding.found));
        for one in &finding.examples {
            let _ = writeln!(out, "    - {}", example(one));
        }
        let _ = writeln!(out, "    {}", finding.advice());
    }
    let more = list.findings.len().saturating_sub(SHOWN) as u64 + list.small;
    if more > 0 {
        let _ = writeln!(
            out,
            "\n{} with less at stake; --format csv and json have those above a thousandth of the first.",
            counted(more, "finding more", "findings more")
        );
    }
    for unknown in &list.unknown {
        let _ = writeln!(out, "\nNot known: {unknown}.");
    }
    out
}

/// Writes the whole list as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(list: &Bottlenecks, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Csv::new(
        out,
        &["rank", "kind", "activity", "after", "cause", "at_stake_s", "core_hours", "instances", "found", "example", "advice"],
    )?;
    for (at, finding) in list.findings.iter().enumerate() {
        table.count(at as u64 + 1).text(finding.kind.name()).text(&finding.activity);
        table.text_or_unknown(finding.after.as_deref()).text_or_unknown(finding.cause.as_deref());
        table
            .number(Some(seconds(finding.at_stake_ns)))
            .number(finding.at_stake_core_ns.map(core_hours))
            .count(finding.instances)
            .text(&finding.found);
        table.text_or_unknown(finding.examples.first().map(example).as_deref());
        table.text(finding.advice());
        table.end()?;
    }
    table.finish()
}

impl Document for Bottlenecks {
    const FORMAT: &'static str = "flowmine-bottlenecks";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::of::<Bottlenecks>();

/// Writes the whole list as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(list: &Bottlenecks, out: &mut dyn Write) -> io::Result<()> {
    document::write(list, out)
}
