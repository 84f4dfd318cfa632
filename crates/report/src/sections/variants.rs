//! Variants: the sequences of activities of the cases.

use flowmine_discover::pictures::variants as figure;
use flowmine_draw::text::{count, counted};

use crate::ReportError;
use crate::block::{Block, Section, Table};
use crate::column::{Column, Kind};
use crate::results::{LogResults, Results};

/// The most rows of a table of variants, and activities of one.
const MOST_VARIANTS: usize = 5000;
const MOST_ACTIVITIES: usize = 200;

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let blocks = match &results.log {
        Ok(found) if found.variants.total > 0 => vec![
            Block::figure(
                "variants",
                "The most frequent sequences of activities.",
                &figure::svg(&found.variants, &figure::Drawing::default()),
            )?,
            Block::Table(table(found)?),
        ],
        _ => vec![Block::missing("There are no cases.", "Variants need cases with at least one activity each.")],
    };
    Ok(Section { id: "variants", title: "Variants", question: "Which sequences of activities occur, and which are rare.", blocks })
}

fn table(found: &LogResults) -> Result<Table, ReportError> {
    let model = &found.variants;
    let rows = &model.variants[..model.variants.len().min(MOST_VARIANTS)];
    let sequences: Vec<String> = rows
        .iter()
        .map(|row| {
            let mut names: Vec<&str> = row.trace.iter().take(MOST_ACTIVITIES).map(|&at| model.activities.get(at)).collect();
            let more = row.trace.len().saturating_sub(MOST_ACTIVITIES);
            let more = if more > 0 { format!("{} more", count(more as u64)) } else { String::new() };
            names.extend((!more.is_empty()).then_some(more.as_str()));
            names.join(" → ")
        })
        .collect();
    let time = |of: Option<f64>| of.map(|ns| ns.round() as i128);
    let columns = [
        Column::text("variant", sequences.iter().map(|words| Some(words.as_str()))),
        Column::numbers("cases", Kind::Count, rows.iter().map(|row| Some(row.cases.into()))),
        Column::share("share", rows.iter().map(|row| Some(row.share))),
        Column::numbers("activities", Kind::Count, rows.iter().map(|row| Some(row.trace.len() as i128))),
        Column::duration("median", rows.iter().map(|row| time(row.median_ns))),
        Column::duration("mean", rows.iter().map(|row| time(row.mean_ns))),
        Column::text("example", rows.iter().map(|row| Some(row.example.as_str()))),
    ];
    let table = Table::new("variantlist", "All variants", &columns)?;
    Ok(if model.total > rows.len() as u64 {
        table.left_out(format!(
            "The {} with most cases of {} are in this table. flowmine discover variants --format csv writes all.",
            counted(rows.len() as u64, "variant", "variants"),
            counted(model.total, "variant", "variants")
        ))
    } else {
        table
    })
}
