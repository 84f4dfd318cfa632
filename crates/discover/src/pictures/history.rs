//! The times of the runs of workflows one after the other, as a figure.

use flowmine_draw::axis::{self, Axis, SMALL, Ticks};
use flowmine_draw::duration;
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Num, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, visible};

use super::page::{INNER, MARGIN, Page, name_in};
use crate::calendar::moment;
use crate::history::Workflow;

/// Number of workflows that are drawn, and of runs of each: the last ones.
const DRAWN: usize = 4;
const MOST_RUNS: usize = 300;
const HEIGHT: f64 = 120.0;
const LEFT: f64 = 90.0;
const USUAL: &str = "#1f6fb4";
const REGRESSED: &str = "#b3261e";
const MEDIAN: &str = "#7b8794";

/// The name of a workflow: its first activities.
pub fn name(of: &Workflow) -> String {
    let (names, all) = &of.activities;
    let names: Vec<String> = names.iter().map(|name| visible(name)).collect();
    let more = all.saturating_sub(names.len());
    let more = if more > 0 { format!(" and {} more", count(more as u64)) } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// The trend in words.
pub fn trend(ns: Option<f64>) -> String {
    match ns {
        None => "too few runs".to_owned(),
        Some(ns) if ns < 0.0 => format!("−{} a run", duration(-ns)),
        Some(ns) => format!("+{} a run", duration(ns)),
    }
}

/// The runs of the workflows with most runs; names of runs by their cases.
pub fn svg<'n>(found: &[Workflow], case: impl Fn(u32) -> &'n str) -> String {
    let hidden = found.len().saturating_sub(DRAWN);
    let mut page = Page { title: "Runs of the same workflow".to_owned(), ..Page::default() };
    page.facts.push(format!("{} with more than one run.", counted(found.len() as u64, "workflow", "workflows")));
    if hidden > 0 {
        page.left_out.push(format!("{} with fewer runs", counted(hidden as u64, "workflow", "workflows")));
    }
    let cut = found.iter().take(DRAWN).map(|of| of.runs.len().saturating_sub(MOST_RUNS)).sum::<usize>();
    if cut > 0 {
        page.left_out.push(format!("the first {}", counted(cut as u64, "run", "runs")));
    }
    let swatches = vec![(USUAL.to_owned(), "run".to_owned()), (REGRESSED.to_owned(), "longer than all before".to_owned())];
    page.legend.push(Entry::new("Dot: a run", Sample::Swatches(swatches), "height: time from begin to end"));
    page.legend.push(Entry::new("Line", Sample::Dashed(MEDIAN.to_owned(), 1.2), "median of the runs before"));
    page.draw(|sheet, top| {
        let mut y = top;
        for of in found.iter().take(DRAWN) {
            let runs = &of.runs[of.runs.len().saturating_sub(MOST_RUNS)..];
            let most = runs.iter().map(|run| run.time_ns).max().unwrap_or(0).max(1);
            let words = format!("{}; trend: {}", counted(of.runs.len() as u64, "run", "runs"), trend(of.trend_ns));
            sheet.text(MARGIN, y + 12.0, 13.0, TEXT, "font-weight=\"bold\"", &name_in(&name(of), 13.0, INNER * 0.7));
            sheet.text(MARGIN + INNER, y + 12.0, SMALL, WEAK_TEXT, "text-anchor=\"end\"", &words);
            let (high, low) = (y + 24.0, y + 24.0 + HEIGHT);
            let up = Axis { low: 0.0, high: most as f64 * 1.08, from: low, to: high };
            let across = Axis { low: -0.5, high: runs.len() as f64 - 0.5, from: LEFT, to: MARGIN + INNER };
            let ticks = Ticks::of_time(&up, 4.0);
            axis::up(sheet, &up, &ticks, LEFT, across.to);
            axis::upward_words(sheet, MARGIN + 8.0, (high + low) / 2.0, ticks.unit);
            let line: Vec<String> = runs
                .iter()
                .enumerate()
                .filter_map(|(at, run)| {
                    Some(format!("{} {}", Num(across.at(at as f64)), Num(up.at(run.before_ns?.min(most as f64 * 1.08)))))
                })
                .collect();
            if line.len() > 1 {
                sheet.path(
                    &format!("M{}", line.join("L")),
                    "none",
                    &format!("stroke=\"{MEDIAN}\" stroke-width=\"1.2\" stroke-dasharray=\"5 4\""),
                );
            }
            for (at, run) in runs.iter().enumerate() {
                let colour = if run.regressed == Some(true) { REGRESSED } else { USUAL };
                let mut title = vec![visible(case(run.case)), format!("{}: {}", moment(run.begin_ns), duration(run.time_ns as f64))];
                title.extend(run.before_ns.map(|ns| format!("median of those before: {}", duration(ns))));
                sheet.body.push_str("<g>");
                sheet.title(&title);
                sheet.dot((across.at(at as f64), up.at(run.time_ns as f64)), 4.5, colour);
                sheet.body.push_str("</g>\n");
            }
            sheet.text(LEFT, low + 16.0, SMALL, WEAK_TEXT, "", &runs.first().map(|run| moment(run.begin_ns)).unwrap_or_default());
            let last = runs.last().map(|run| moment(run.begin_ns)).unwrap_or_default();
            sheet.text(across.to, low + 16.0, SMALL, WEAK_TEXT, "text-anchor=\"end\"", &last);
            y = low + 40.0;
        }
        y
    })
}
