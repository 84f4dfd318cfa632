//! Profile of reads and writes.

use flowmine_activity_log::filter::matches;
use flowmine_activity_log::{NONE, Processes};
use flowmine_dataset::Dataset;
use flowmine_discover::io_profile::{Builder, Groups, Options, Profile};
use flowmine_discover::pictures::io_profile::{self as picture, Table};
use flowmine_logs::process_groups::{self, GroupBy};
use flowmine_logs::process_rows::Places;
use flowmine_logs::{operations, process_rows};
use flowmine_schema::losses::LostOperations;

use super::{About, Input, Model};
use crate::error::{Context, Result, ensure, refuse};
use crate::format::Format;
use crate::found::Found;
use crate::lower_bounds;
use crate::options::{Choice, OptionSpec};
use crate::processes::{self, JOB, PID};
use crate::request::Request;
use crate::sink::Sink;

/// Profile of reads and writes.
pub struct IoProfile;

static ABOUT: About = About {
    name: "io-profile",
    question: "how files are read and written: calls, latencies, sizes, patterns, files of each task, bytes over time, and advice",
    input: Input::Processes,
    has_graph_options: false,
    own: &[
        OptionSpec::choice::<GroupBy>("by", "WHAT", "Grouping of processes").by_default("activity"),
        PID,
        JOB,
        OptionSpec::text("file", "PATH", "Only operations on files with this path; * matches any text"),
        OptionSpec::choice::<Table>("table", "TABLE", "Table that CSV has").by_default("operations"),
    ],
    formats: &[Format::Text, Format::Svg, Format::Png, Format::Csv, Format::Json],
    documents: &[picture::DOCUMENT],
};

impl Choice for GroupBy {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("activity", "What the task or job is an instance of", Self::Activity),
        ("program", "Their program", Self::Program),
        ("task", "Their task", Self::Task),
        ("job", "The job in which they ran", Self::Job),
        ("host", "The host on which they ran", Self::Host),
    ];
}

impl Choice for Table {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("operations", "Operations by kind", Self::Operations),
        ("groups", "Bytes, files and processes of each group, by kind of access", Self::Groups),
        ("distributions", "Cumulative distributions of sizes, latencies, life times", Self::Distributions),
        ("files", "Files", Self::Files),
        ("processes", "Processes", Self::Processes),
        ("uses", "Which group used which file", Self::Uses),
        ("over-time", "Bytes of each group over time", Self::OverTime),
        ("over-offset", "Bytes over time, by place in the file", Self::OverOffset),
        ("advice", "What is noteworthy", Self::Advice),
    ];
}

impl Model for IoProfile {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let Some(dir) = request.source.only_dataset() else {
            refuse!("io-profile is made of the traced operations of a dataset: give --dataset DIR")
        };
        let table = request.values.choice("table").unwrap_or(Table::Operations);
        let by = request.values.choice("by").unwrap_or(GroupBy::Activity);
        let dataset = Dataset::open(dir)?;
        let _stage = sink.stage("reading the dataset");
        let (all, places) = process_rows::read_places(&dataset)?;
        let (names, mut of) = process_groups::groups(&dataset, &all, by)?;
        let chosen = processes::chosen(request, &dataset, &all).with_context(|| dir.display().to_string())?;
        if let Some(chosen) = &chosen {
            of.iter_mut().zip(chosen).filter(|(_, chosen)| !**chosen).for_each(|(of, _)| *of = NONE);
        }
        let files = request.values.text("file").map(|pattern| files(&dataset, &places, &pattern)).transpose()?;
        let groups = Groups { by: word(by, &all), names, of, whole: chosen.is_none(), files };
        let (found, lost) = make(&dataset, &all, &places, groups, sink).with_context(|| dir.display().to_string())?;
        Ok(Found::new(request, lost.count > 0, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, table, out)?),
            Format::Svg => Ok(out.write_all(picture::svg(&found).as_bytes())?),
            _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
        }))
    }
}

/// The profile of everything that was traced in a dataset, and what the trace lost.
pub(crate) fn of_whole(dataset: &Dataset, by: GroupBy, sink: &dyn Sink) -> Result<(Profile, LostOperations)> {
    let _stage = sink.stage("reading the dataset");
    let (all, places) = process_rows::read_places(dataset)?;
    let (names, of) = process_groups::groups(dataset, &all, by)?;
    make(dataset, &all, &places, Groups { by: word(by, &all), names, of, whole: true, files: None }, sink)
}

/// What processes belong to, in a word: their programs where nothing is known of tasks.
fn word(by: GroupBy, all: &Processes) -> &'static str {
    let is_owned = all.rows.iter().any(|row| row.owner != NONE);
    if by == GroupBy::Activity && !is_owned { GroupBy::Program.word() } else { by.word() }
}

fn make(dataset: &Dataset, all: &Processes, places: &Places, groups: Groups, sink: &dyn Sink) -> Result<(Profile, LostOperations)> {
    let mut builder = Builder::new(all, groups, Options::default());
    let files = operations::each(dataset, places, |operation| builder.add(operation))?;
    ensure!(files.events > 0 || files.sums > 0, "no operation on a file was traced; `flowmine trace` traces a command");
    let lost = lower_bounds::warn(dataset, sink)?;
    Ok((builder.finish(&files.paths, (lost.count, lost.bytes)), lost))
}

/// Which files are called so. Their paths are known when all operations have been read: then they
/// are read once more.
fn files(dataset: &Dataset, places: &Places, pattern: &str) -> Result<Vec<bool>> {
    let all = operations::each(dataset, places, |_| {})?;
    let wanted: Vec<bool> = all.paths.iter().map(|path| matches(pattern, path)).collect();
    ensure!(
        wanted.contains(&true),
        "no operation on a file called {pattern:?} was traced; --table files has the files, and * matches any text"
    );
    Ok(wanted)
}
