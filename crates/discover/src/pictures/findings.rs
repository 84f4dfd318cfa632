//! Findings as text for a terminal, as a table and as JSON, and the tables of rules and thresholds
//! for the documentation.

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis::percent;
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::text::{counted, duration, visible};

use super::csv::{Csv, seconds};
use super::units::core_hours;
use crate::findings::{Example, Finding, Findings, Gain, Quantity, rules, thresholds};

fn example(of: &Example) -> String {
    let mut words = format!("{} in ", duration(of.time_ns as f64));
    let case = of.case.as_ref().map(|case| format!("case {}", visible(case)));
    let parts: Vec<String> = of.who.words().into_iter().chain(case).collect();
    let _ = write!(words, "{}", if parts.is_empty() { "an instance".to_owned() } else { parts.join(", ") });
    if let Some(ns) = of.start_ns {
        let _ = write!(words, ", from {}", super::calendar::iso(ns));
    }
    if let Some(resource) = &of.resource {
        let _ = write!(words, ", {}", visible(resource));
    }
    words
}

/// An amount of a quantity in words: core-hours, or a length of time.
pub fn amount(ns: i128, of: Quantity) -> String {
    match of {
        Quantity::CoreTime if ns >= 36_000_000_000 => format!("{} core-hours", core_hours(ns)),
        Quantity::CoreTime => format!("{} of core time", duration(ns as f64)),
        Quantity::Time | Quantity::Makespan => duration(ns as f64),
    }
}

/// The gain as a range with its assumption: `Gain: 1h 00m to 2h 00m, if …`, without a full stop.
pub fn gain(gain: &Gain) -> String {
    let (low, high) = (amount(gain.low_ns, gain.of), amount(gain.high_ns, gain.of));
    let range = match () {
        () if gain.low_ns == gain.high_ns => high,
        () if gain.low_ns == 0 => format!("0 to {high}"),
        () => format!("{low} to {high}"),
    };
    let of = if gain.of == Quantity::Makespan { " of makespan" } else { "" };
    // What begins with the least of a range lists both of its ends.
    let is_list = ["nothing ", "at the least"].iter().any(|first| gain.assumption.starts_with(first));
    format!("{range}{of}{} {}", if is_list { ":" } else { "," }, gain.assumption)
}

/// What is at stake, with its share: `96.00 core-hours, 12% of …`.
pub fn at_stake(finding: &Finding) -> String {
    let stake = match finding.at_stake_core_ns {
        Some(core) => amount(core, Quantity::CoreTime),
        None => duration(finding.at_stake_ns as f64),
    };
    format!("{stake}, {} of {}", percent(finding.share), finding.share_of.words())
}

/// Number of findings that are shown in a terminal.
const SHOWN: usize = 15;

/// The list for a terminal: findings with evidence, gain and action, then what could not be judged.
pub fn text(list: &Findings) -> String {
    let mut out = String::new();
    let about = &list.about;
    let _ = writeln!(out, "{}, {}", counted(about.cases, "case", "cases"), about.counted(about.instances));
    for fact in about.facts() {
        let _ = writeln!(out, "{}", visible(&fact));
    }
    if list.findings.is_empty() {
        let least = percent(thresholds::LEAST_SHARE.value);
        let _ = writeln!(out, "\nNo finding: nothing that could be judged takes {least} of the core time or makespan.");
    }
    for (at, finding) in list.findings.iter().take(SHOWN).enumerate() {
        let _ = writeln!(out, "\n{:>2}. {}  {}", at + 1, finding.rule, visible(&finding.cause));
        let _ = writeln!(out, "    {}.", visible(&finding.found));
        let _ = writeln!(out, "    At stake: {}.", at_stake(finding));
        for one in &finding.examples {
            let _ = writeln!(out, "    - {}", example(one));
        }
        let _ = writeln!(out, "    Gain: {}.", visible(&gain(&finding.gain)));
        let _ = writeln!(out, "    {}", visible(&finding.action));
    }
    let more = list.findings.len().saturating_sub(SHOWN) as u64;
    if more > 0 {
        let _ = writeln!(out, "\n{} in --format csv and json.", counted(more, "finding more", "findings more"));
    }
    if list.small > 0 {
        let least = percent(thresholds::LEAST_SHARE.value);
        let _ = writeln!(out, "\n{} left out: less than {least} is at stake.", counted(list.small, "finding is", "findings are"));
    }
    for of in &list.not_judged {
        let _ = writeln!(out, "\nNot judged: {}, for lack of {}. {}", of.rules.join(", "), of.missing, of.record);
    }
    out
}

/// Writes the whole list as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(list: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Csv::new(
        out,
        &[
            "rank",
            "rule",
            "cause",
            "activities",
            "share",
            "share_of",
            "at_stake_s",
            "core_hours",
            "instances",
            "found",
            "shared",
            "example",
            "gain_low_s",
            "gain_high_s",
            "gain_of",
            "gain_from",
            "assumption",
            "action",
        ],
    )?;
    for (at, finding) in list.findings.iter().enumerate() {
        table.count(at as u64 + 1).text(finding.rule).text(&finding.cause).text(&finding.activities.join("; "));
        table.number(Some(format!("{:.4}", finding.share))).text(finding.share_of.name());
        table.number(Some(seconds(finding.at_stake_ns))).number(finding.at_stake_core_ns.map(core_hours));
        let shared: Vec<String> = finding.shared.iter().map(|of| format!("{} {}", of.what, of.value)).collect();
        table.count(finding.instances).text(&finding.found).text(&shared.join("; "));
        table.text_or_unknown(finding.examples.first().map(example).as_deref());
        let gain = &finding.gain;
        table.number(Some(seconds(gain.low_ns))).number(Some(seconds(gain.high_ns))).text(gain.of.name()).text(gain.from);
        table.text(&gain.assumption).text(&finding.action);
        table.end()?;
    }
    table.finish()
}

impl Document for Findings {
    const FORMAT: &'static str = "flowmine-findings";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Findings>();

/// Writes the whole list as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(list: &Findings, out: &mut dyn Write) -> io::Result<()> {
    document::write(list, out)
}

/// The table of rules in Markdown, made from the registry.
pub fn rules_in_markdown() -> String {
    let mut out = "| rule | found if | at stake | gain | needs | thresholds |\n|---|---|---|---|---|---|\n".to_owned();
    for rule in rules::ALL {
        let needs: Vec<&str> = rule.needs.iter().map(|need| need.words()).collect();
        let thresholds: Vec<String> = rule.thresholds.iter().map(|of| format!("`{}`", of.name)).collect();
        let always = if rule.is_always_listed { " (always listed)" } else { "" };
        let _ = writeln!(
            out,
            "| `{}` | {}{always} | {} | {} | {} | {} |",
            rule.name,
            rule.finds,
            rule.at_stake,
            rule.gain,
            needs.join(", "),
            thresholds.join(", ")
        );
    }
    out
}

/// The table of thresholds in Markdown.
pub fn thresholds_in_markdown() -> String {
    let mut out = "| threshold | value | meaning | reason |\n|---|---|---|---|\n".to_owned();
    for of in thresholds::ALL {
        let _ = writeln!(out, "| `{}` | {} | {} | {} |", of.name, of.value, of.meaning, of.reason);
    }
    out
}
