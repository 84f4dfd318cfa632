//! Fork tree of processes.

use flowmine_activity_log::{IoPhase, Processes};
use flowmine_dataset::Dataset;
use flowmine_discover::fork_tree::{self, Options};
use flowmine_discover::pictures::{fork_tree as picture, perfetto};
use flowmine_logs::{io_phases, process_rows};

use super::fold::FOLD;
use super::{About, Input, Model};
use crate::error::{Context, Result, refuse};
use crate::format::Format;
use crate::found::{Found, write_graph};
use crate::processes::{self, JOB, PID};
use crate::request::Request;
use crate::sink::Sink;

/// Fork tree of processes.
pub struct ForkTree;

static ABOUT: About = About {
    name: "fork-tree",
    question: "which process forked which, with times and bytes; a thousand equal samples are one branch",
    input: Input::Processes,
    has_graph_options: false,
    own: &[FOLD, PID, JOB],
    formats: &[
        Format::Svg,
        Format::Png,
        Format::Text,
        Format::Csv,
        Format::Json,
        Format::Dot,
        Format::Graphml,
        Format::Gml,
        Format::Cytoscape,
        Format::Perfetto,
    ],
    documents: &[picture::DOCUMENT],
};

impl Model for ForkTree {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let Some(dir) = request.source.only_dataset() else {
            refuse!("fork-tree is made of the processes of a dataset: give --dataset DIR")
        };
        let dataset = Dataset::open(dir)?;
        if request.format == Format::Perfetto {
            let (processes, phases) = with_phases(request, &dataset, sink)?;
            let found = Found::new(request, false, move |_, out| Ok(perfetto::processes((&processes, &phases), out)?));
            return Ok(found.only(request));
        }
        let stage = sink.stage("reading the dataset");
        let mut all = process_rows::read(&dataset)?;
        if let Some(chosen) = processes::chosen(request, &dataset, &all).with_context(|| dir.display().to_string())? {
            all = all.only(&all.with_parents(chosen));
        }
        drop(stage);
        let _stage = sink.stage("discovering");
        let found = fork_tree::discover(&all, &Options { fold: request.values.choice(FOLD.name), ..Options::default() });
        let drawing = request.drawing;
        let written = Found::new(request, false, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            Format::Text => Ok(out.write_all(picture::text(&found).as_bytes())?),
            Format::Svg => Ok(out.write_all(picture::svg(&found).as_bytes())?),
            _ => write_graph(picture::graph(&found), drawing, format, out),
        });
        Ok(written.without(Format::Perfetto))
    }
}

/// The processes that are asked for, and when each of them read and wrote.
fn with_phases(request: &Request, dataset: &Dataset, sink: &dyn Sink) -> Result<(Processes, Vec<Vec<IoPhase>>)> {
    let _stage = sink.stage("reading the dataset");
    let (all, phases) = io_phases::read(dataset)?;
    let Some(chosen) = processes::chosen(request, dataset, &all).with_context(|| dataset.dir().display().to_string())? else {
        return Ok((all, phases));
    };
    let kept = all.with_parents(chosen);
    let phases = phases.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(phases, _)| phases).collect();
    Ok((all.only(&kept), phases))
}
