//! `flowmine discover`.

use anyhow::Context;
use flowmine_activity_log::{ActivityLog, Cases};
use flowmine_discover::dfg::dfg;
use flowmine_discover::ocdfg::ocdfg;
use flowmine_discover::pictures::{self, dfg as dfg_picture, ocdfg as ocdfg_picture};
use flowmine_draw::{Graph, dot, exchange, svg};

use super::{file_access, log};
use crate::args::{Discover, Model, ModelFormat, ShowArg, StatisticArg};
use crate::progress::Stage;
use crate::{Outcome, output};

/// Discovers a model and writes it.
pub fn run(args: &Discover) -> anyhow::Result<Outcome> {
    if matches!(args.model, Model::AccessShare | Model::Accesses) {
        return file_access::run(args);
    }
    anyhow::ensure!(args.file.is_none(), "--file chooses the file of --model accesses");
    anyhow::ensure!(args.object_types.is_empty() || args.model == Model::Ocdfg, "--object-types is for --model ocdfg");
    let log::Loaded { log, lossy } = log::load(args)?;
    let stage = Stage::new("discovering");
    let format = args.format.unwrap_or(ModelFormat::Svg);
    let options = options(args);
    match args.model {
        Model::Ocdfg => {
            let found = ocdfg(&log, &args.object_types);
            if let Some(missing) = args.object_types.iter().find(|name| found.types.iter().all(|of| of.kind != **name)) {
                let known: Vec<&str> = log.groups.iter().map(|group| group.kind.as_str()).collect();
                anyhow::bail!("there are no objects of type {missing:?}; there are: {}", known.join(", "));
            }
            drop(stage);
            output::write(args.output.as_deref(), |out| match format {
                ModelFormat::Json => Ok(ocdfg_picture::json(&found, out)?),
                ModelFormat::Csv => Ok(ocdfg_picture::csv(&found, out)?),
                _ => write_graph(&ocdfg_picture::graph(&found, &options), format, out),
            })?;
        }
        Model::Dfg => {
            let found = dfg(&log, cases(&log)?);
            drop(stage);
            output::write(args.output.as_deref(), |out| match format {
                ModelFormat::Json => Ok(dfg_picture::json(&found, out)?),
                ModelFormat::Csv => Ok(dfg_picture::csv(&found, out)?),
                _ => write_graph(&dfg_picture::graph(&found, &options), format, out),
            })?;
        }
        Model::AccessShare | Model::Accesses => {}
    }
    Ok(if lossy { Outcome::WithLosses } else { Outcome::Clean })
}

fn cases(log: &ActivityLog) -> anyhow::Result<&Cases> {
    log.cases().context("the log has no cases")
}

/// How graphs are drawn.
pub fn options(args: &Discover) -> pictures::dfg::Options {
    use pictures::dfg::{Options, Show, Statistic};
    let picture = &args.picture;
    Options {
        time: match picture.time {
            StatisticArg::Median => Statistic::Median,
            StatisticArg::Mean => Statistic::Mean,
            StatisticArg::P95 => Statistic::P95,
            StatisticArg::Max => Statistic::Max,
            StatisticArg::Sum => Statistic::Sum,
        },
        show: match picture.show {
            ShowArg::All => Show::All,
            ShowArg::Frequency => Show::Frequency,
            ShowArg::Time => Show::Time,
            ShowArg::Bytes => Show::Bytes,
        },
        coverage: picture.coverage,
        min_count: picture.min_count,
        most_activities: picture.most_activities,
        ..Options::default()
    }
}

/// Writes a graph as a picture or for other programs.
pub fn write_graph(graph: &Graph, format: ModelFormat, out: &mut dyn std::io::Write) -> anyhow::Result<()> {
    match format {
        ModelFormat::Svg => out.write_all(svg::svg(graph)?.as_bytes())?,
        ModelFormat::Dot => out.write_all(dot::dot(graph)?.as_bytes())?,
        ModelFormat::Graphml => exchange::graphml(graph, out)?,
        ModelFormat::Gml => exchange::gml(graph, out)?,
        ModelFormat::Cytoscape => exchange::cytoscape(graph, out)?,
        ModelFormat::Json | ModelFormat::Csv => anyhow::bail!("a graph is not written so"),
    }
    Ok(())
}
