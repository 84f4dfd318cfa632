//! What a model that is fitted to traced runs predicts.

use flowmine_draw::duration;
use flowmine_draw::text::counted;
use flowmine_schema::text::visible;

use super::words::capital;
use crate::ReportError;
use crate::block::{Block, Fact, Section, Table};
use crate::column::Column;
use crate::results::{PredictionResults, Results};

/// The most rows of a table of predictions.
const MOST: usize = 20_000;

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let blocks = match &results.prediction {
        Ok(found) => of_model(found)?,
        Err(reason) => vec![Block::missing(
            format!("There is no prediction: {}.", visible(reason)),
            "Run the workflow under flowmine trace, import its log and correlate the dataset.",
        )],
    };
    Ok(Section {
        id: "prediction",
        title: "Prediction",
        question: "The limit of each task over time, and the gain from more of it.",
        blocks,
    })
}

fn nanoseconds(seconds: f64) -> Option<i128> {
    seconds.is_finite().then_some((seconds * 1e9).round() as i128)
}

/// The task of a limit, where it is that of one, and the limit.
fn parts(what: &str) -> (Option<&str>, &str) {
    match [": resource ", ": data "].iter().find_map(|kind| what.rsplit_once(kind)) {
        Some((task, limit)) => (Some(task), limit),
        None => (None, what),
    }
}

/// A limit without the word that it is a resource.
fn without_kind(limit: &str) -> &str {
    limit.strip_prefix("resource ").unwrap_or(limit)
}

/// A note as a sentence.
fn sentence(note: &str) -> String {
    format!("{}.", capital(note).trim_end_matches('.'))
}

fn of_model(found: &PredictionResults) -> Result<Vec<Block>, ReportError> {
    let finish = found.finish_s.map_or_else(|| "never".to_owned(), |seconds| duration(seconds * 1e9));
    let mut blocks = vec![Block::Facts(vec![
        Fact::new("Run", visible(&found.run).into_owned()).note("the model is fitted to all traced runs"),
        Fact::new("Predicted time", finish).note("from the begin of the run"),
    ])];
    blocks.push(Block::figure("prediction", "Progress of each task, and what limits it over time.", &found.figure)?);
    let gains = &found.gains[..found.gains.len().min(MOST)];
    let columns = [
        Column::text("limit", gains.iter().map(|(what, ..)| Some(parts(what).1))),
        Column::duration("the run ends earlier by", gains.iter().map(|(_, _, gain)| nanoseconds(*gain))),
        Column::duration("limits for", gains.iter().map(|(_, limits, _)| nanoseconds(*limits))),
        Column::text("task", gains.iter().map(|(what, ..)| parts(what).0)),
    ];
    blocks.push(cut(Table::new("gains", "Gains if one limit is twice as wide", &columns)?, gains.len(), found.gains.len()));
    let limits = &found.limits[..found.limits.len().min(MOST)];
    let columns = [
        Column::text("task", limits.iter().map(|(task, ..)| Some(task.as_str()))),
        Column::text("limited by", limits.iter().map(|(_, limit, ..)| Some(without_kind(limit)))),
        Column::duration("from", limits.iter().map(|(_, _, from, _)| nanoseconds(*from))),
        Column::duration("to", limits.iter().map(|(.., to)| nanoseconds(*to))),
    ];
    blocks.push(cut(Table::new("limits", "What limits each task, and when", &columns)?, limits.len(), found.limits.len()));
    if !found.notes.is_empty() {
        blocks.push(Block::List(found.notes.iter().map(|note| sentence(&visible(note))).collect()));
    }
    Ok(blocks)
}

fn cut(table: Table, shown: usize, all: usize) -> Block {
    Block::Table(if all > shown {
        table.left_out(format!(
            "The first {} of {} are in this table. flowmine predict --format json writes all.",
            counted(shown as u64, "row", "rows"),
            counted(all as u64, "row", "rows")
        ))
    } else {
        table
    })
}
