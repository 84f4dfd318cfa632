//! Two logs beside each other: as text for a terminal, as a table and as JSON
//! (`flowmine-comparison`).

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::axis;
use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::text::{count, counted, duration, visible};

use super::csv::{Csv, mean_seconds};
use super::text_table::{self, Column};
use crate::about::origin_words;
use crate::compare::{Activity, Comparison, Difference, LEVEL, Quantity, Side, Verdict};

/// So many activities and differences are shown to people.
const SHOWN: usize = 25;

fn side(of: &Side) -> String {
    let took = of.time_ns.map_or(String::new(), |ns| format!(", {} from the first to the last moment", duration(ns as f64)));
    let cases = counted(of.about.cases, "case", "cases");
    format!("{}: {} in {cases}{took}", visible(&of.name), of.about.counted(of.about.instances))
}

/// A difference of times with its sign.
fn signed(ns: i128) -> String {
    match ns {
        0 => "0".to_owned(),
        ns => format!("{}{}", if ns < 0 { "−" } else { "+" }, duration(ns.unsigned_abs() as f64)),
    }
}

fn value(quantity: Quantity, number: f64) -> String {
    if quantity.is_time() { duration(number) } else { axis::bytes(number.round() as i64) }
}

fn ratio(of: &Difference) -> String {
    of.ratio.map_or(String::new(), |ratio| format!("× {ratio:.2}"))
}

/// What chance has to do with it, in a few words.
fn verdict(of: &Difference) -> String {
    match of.verdict {
        Verdict::Same => "the same".to_owned(),
        Verdict::BeyondChance if of.corrected_p < 0.001 => "beyond chance (p < 0.001)".to_owned(),
        Verdict::BeyondChance => format!("beyond chance (p = {:.3})", of.corrected_p),
        Verdict::Chance => format!("chance explains it (p = {:.2})", of.corrected_p),
        Verdict::TooFew => "too few for a test".to_owned(),
    }
}

fn column(heading: &str, right: bool, cells: Vec<String>) -> Column {
    Column { group: String::new(), heading: heading.to_owned(), right, cells }
}

/// For a terminal: what is on one side only, then what differs, by activity.
pub fn text(found: &Comparison) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "First   {}", side(&found.first));
    let _ = writeln!(out, "Second  {}", side(&found.second));
    if let Some((one, other)) = found.first.time_ns.zip(found.second.time_ns) {
        let _ = writeln!(out, "The second took {} than the first.", longer(one, other));
    }
    let (one, other) = (&found.first.about, &found.second.about);
    if one.instance != other.instance {
        let words = [one, other].map(|of| format!("{}s", of.word()));
        let _ = writeln!(out, "The first is made of {}, the second of {}: --case-notion chooses the same of both.", words[0], words[1]);
    }
    if found.equal {
        out.push_str("Nothing differs: neither frequency, duration nor bytes.\n");
        return out;
    }
    let only = |of: &Activity| (of.first.instances == 0, of.second.instances == 0);
    for (words, wanted) in [("Only in the second", (true, false)), ("Only in the first", (false, true))] {
        let names: Vec<String> = found.activities.iter().filter(|of| only(of) == wanted).map(|of| visible(&of.activity)).collect();
        if !names.is_empty() {
            let more = if names.len() > SHOWN { format!(" and {} more", count((names.len() - SHOWN) as u64)) } else { String::new() };
            let _ = writeln!(out, "{words}: {}{more}.", names[..names.len().min(SHOWN)].join(", "));
        }
    }
    put_activities(found, &mut out);
    put_differences(found, &mut out);
    out
}

fn longer(one: i64, other: i64) -> String {
    let by = i128::from(other) - i128::from(one);
    let share = if one > 0 { format!(" ({:.1} %)", by.unsigned_abs() as f64 / one as f64 * 100.0) } else { String::new() };
    match by {
        0 => "unchanged duration".to_owned(),
        1.. => format!("{}{share} longer", duration(by as f64)),
        _ => format!("{}{share} shorter", duration(by.unsigned_abs() as f64)),
    }
}

fn put_activities(found: &Comparison, out: &mut String) {
    let shown: Vec<&Activity> = found.activities.iter().take(SHOWN).collect();
    let _ = writeln!(out, "\nActivities, that with most time between the two first\n");
    let counts =
        |first: u64, second: u64| if first + second == 0 { String::new() } else { format!("{} → {}", count(first), count(second)) };
    let any = |of: fn(&Activity) -> u64| shown.iter().any(|activity| of(activity) > 0);
    let mut table = vec![
        column("activity", false, shown.iter().map(|of| of.activity.clone()).collect()),
        column("instances", true, shown.iter().map(|of| counts(of.first.instances, of.second.instances)).collect()),
        column("time, all", true, shown.iter().map(|of| of.time_difference_ns.map_or(String::new(), signed)).collect()),
    ];
    if any(|of| of.first.failed + of.second.failed) {
        table.push(column("failed", true, shown.iter().map(|of| counts(of.first.failed, of.second.failed)).collect()));
    }
    if any(|of| of.first.cached + of.second.cached) {
        table.push(column("cached", true, shown.iter().map(|of| counts(of.first.cached, of.second.cached)).collect()));
    }
    if any(|of| of.first.retries + of.second.retries) {
        table.push(column("retries", true, shown.iter().map(|of| counts(of.first.retries, of.second.retries)).collect()));
    }
    out.push_str(&text_table::write(&table));
    let more = found.activities.len() - shown.len();
    if more > 0 {
        let _ = writeln!(out, "and {} that differ less (--format csv has all)", counted(more as u64, "activity", "activities"));
    }
}

fn put_differences(found: &Comparison, out: &mut String) {
    let mut all: Vec<(&Activity, &Difference)> = found
        .activities
        .iter()
        .flat_map(|activity| activity.quantities.iter().map(move |of| (activity, of)))
        .filter(|(_, of)| of.verdict != Verdict::Same)
        .collect();
    if all.is_empty() {
        return;
    }
    let size = |of: &Difference| of.ratio.map_or(f64::INFINITY, |ratio| ratio.max(f64::MIN_POSITIVE).ln().abs());
    all.sort_by(|a, b| a.1.verdict.cmp(&b.1.verdict).then(size(b.1).total_cmp(&size(a.1))));
    let hidden = all.len().saturating_sub(SHOWN);
    all.truncate(SHOWN);
    let _ = writeln!(out, "\nDifferences of means, those beyond chance first\n");
    let origin =
        |of: &Difference| of.counted_by.filter(|by| *by != "trace").map_or(String::new(), |by| format!(", by {}", origin_words(by)));
    out.push_str(&text_table::write(&[
        column("activity", false, all.iter().map(|(activity, _)| activity.activity.clone()).collect()),
        column("what", false, all.iter().map(|(_, of)| format!("{}{}", of.quantity.name(), origin(of))).collect()),
        column("first", true, all.iter().map(|(_, of)| value(of.quantity, of.first.mean)).collect()),
        column("second", true, all.iter().map(|(_, of)| value(of.quantity, of.second.mean)).collect()),
        column("ratio", true, all.iter().map(|(_, of)| ratio(of)).collect()),
        column("delta", true, all.iter().map(|(_, of)| format!("{:+.2}", of.test.cliffs_delta)).collect()),
        column("", false, all.iter().map(|(_, of)| verdict(of)).collect()),
    ]));
    if hidden > 0 {
        let _ = writeln!(out, "and {} (--format csv has all)", counted(hidden as u64, "smaller difference", "smaller differences"));
    }
    let _ = writeln!(
        out,
        "\ndelta: Cliff's, −1 (all of the second are smaller) to +1 (all are larger). Beyond chance: test of Mann and Whitney, corrected for all tests \
         (Holm), p below {LEVEL}."
    );
}

/// Writes a row for each activity and quantity; of what is on one side only, or of which nothing is
/// known on both, one with counts alone.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &Comparison, out: impl Write) -> io::Result<()> {
    let columns = [
        "activity",
        "first_instances",
        "second_instances",
        "first_failed",
        "second_failed",
        "quantity",
        "counted_by",
        "first_mean",
        "second_mean",
        "first_median",
        "second_median",
        "ratio",
        "cliffs_delta",
        "p",
        "corrected_p",
        "verdict",
    ];
    let mut csv = Csv::new(out, &columns)?;
    for activity in &found.activities {
        let mut put = |of: Option<&Difference>| -> io::Result<()> {
            csv.text(&activity.activity).count(activity.first.instances).count(activity.second.instances);
            csv.count(activity.first.failed).count(activity.second.failed);
            let unit = |of: &Difference| if of.quantity.is_time() { "_s" } else { "" };
            let number = |of: &Difference, n: f64| if of.quantity.is_time() { mean_seconds(n) } else { Some(format!("{n}")) };
            csv.text(&of.map_or(String::new(), |of| format!("{}{}", of.quantity.name().replace(' ', "_"), unit(of))));
            csv.text(of.and_then(|of| of.counted_by).unwrap_or_default());
            for pick in [
                |of: &Difference| of.first.mean,
                |of: &Difference| of.second.mean,
                |of: &Difference| of.first.median,
                |of: &Difference| of.second.median,
            ] {
                csv.number(of.and_then(|of| number(of, pick(of))));
            }
            csv.number(of.and_then(|of| of.ratio)).number(of.map(|of| of.test.cliffs_delta));
            csv.number(of.map(|of| of.test.p)).number(of.map(|of| of.corrected_p));
            csv.text(of.map_or("", |of| match of.verdict {
                Verdict::Same => "same",
                Verdict::BeyondChance => "beyond_chance",
                Verdict::Chance => "chance",
                Verdict::TooFew => "too_few",
            }));
            csv.end()
        };
        if activity.quantities.is_empty() {
            put(None)?;
        }
        activity.quantities.iter().try_for_each(|of| put(Some(of)))?;
    }
    csv.finish()
}

impl Document for Comparison {
    const FORMAT: &'static str = "flowmine-comparison";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Comparison>();

/// Writes the whole comparison as JSON (`flowmine-comparison`).
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &Comparison, out: impl Write) -> io::Result<()> {
    document::write(found, out)
}
