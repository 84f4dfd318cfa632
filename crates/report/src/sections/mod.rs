//! The sections of the page, a file each.

mod data;
mod failures;
mod findings;
mod graph;
mod io;
mod observed;
pub mod overview;
mod prediction;
mod process;
mod resources;
mod runs;
pub mod terms;
mod times;
mod variants;
mod waiting;
mod words;

use crate::ReportError;
use crate::block::{Block, Section};
use crate::results::Results;

/// All sections, in the order of the page.
///
/// # Errors
/// When a figure or a table cannot be made.
pub fn all(results: &Results) -> Result<Vec<Section>, ReportError> {
    let mut all = vec![
        overview::section(results)?,
        process::section(results)?,
        waiting::section(results)?,
        runs::section(results)?,
        resources::section(results)?,
        io::section(results)?,
        prediction::section(results)?,
        variants::section(results)?,
        data::section(results)?,
        terms::section(),
    ];
    let left_out = left_out(&all);
    if let Some(data) = all.iter_mut().find(|section| section.id == "data") {
        data.blocks.extend(left_out);
    }
    Ok(all)
}

/// What the tables of all sections leave out, together.
fn left_out(sections: &[Section]) -> Vec<Block> {
    let of = |block: &Block| match block {
        Block::Table(table) if !table.left_out.is_empty() => Some(format!("{}: {}", table.title, table.left_out)),
        _ => None,
    };
    let sentences: Vec<String> = sections.iter().flat_map(|section| &section.blocks).filter_map(of).collect();
    let list =
        if sentences.is_empty() { Block::Text("No table of this page leaves out a row.".to_owned()) } else { Block::List(sentences) };
    vec![Block::Heading("Left out of this page".to_owned()), list]
}
