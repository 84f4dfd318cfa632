//! Models that are ready to be written, and in which format.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use flowmine_activity_log::{ActivityLog, Cases};
use flowmine_draw::{Graph, dot, exchange, svg};

use crate::args::ModelFormat;
use crate::output;

use ModelFormat::{Bpmn, Csv, Json, Png, Pnml, Svg, Text};

/// A model that is ready to be written.
pub type Made<'a> = Box<dyn FnOnce(&mut dyn Write) -> anyhow::Result<()> + 'a>;

/// The endings of files' names, and the formats that they stand for.
const ENDINGS: [(&str, ModelFormat); 17] = [
    ("svg", Svg),
    ("png", Png),
    ("dot", ModelFormat::Dot),
    ("gv", ModelFormat::Dot),
    ("json", Json),
    ("csv", Csv),
    ("graphml", ModelFormat::Graphml),
    ("gml", ModelFormat::Gml),
    ("cyjs", ModelFormat::Cytoscape),
    ("txt", Text),
    ("pnml", Pnml),
    ("bpmn", Bpmn),
    ("jx", ModelFormat::Makeflow),
    ("makeflow", ModelFormat::Makeflow),
    ("mk", ModelFormat::Make),
    ("smk", ModelFormat::Snakemake),
    ("sh", ModelFormat::Slurm),
];

/// The format that the ending of a file's name stands for; `None` without a file or an ending.
///
/// # Errors
/// When the ending stands for none; the message has those of the formats in `known`.
pub fn by_name(file: Option<&Path>, known: &[ModelFormat]) -> anyhow::Result<Option<ModelFormat>> {
    output::by_ending(file, &ENDINGS, |format| known.contains(&format))
}

pub fn cases(log: &ActivityLog) -> anyhow::Result<&Cases> {
    log.cases().context("the log has no cases")
}

/// Writes a graph as a picture or for other programs.
pub fn write_graph(graph: &Graph, format: ModelFormat, out: &mut dyn Write) -> anyhow::Result<()> {
    match format {
        ModelFormat::Dot => out.write_all(dot::dot(graph)?.as_bytes())?,
        ModelFormat::Graphml => out.write_all(exchange::graphml(graph)?.as_bytes())?,
        ModelFormat::Gml => out.write_all(exchange::gml(graph)?.as_bytes())?,
        ModelFormat::Cytoscape => out.write_all(exchange::cytoscape(graph)?.as_bytes())?,
        _ => out.write_all(svg::svg(graph)?.as_bytes())?,
    }
    Ok(())
}
