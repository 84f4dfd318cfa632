//! Steps with their members and evidence.

use flowmine_dataset::Dataset;
use flowmine_discover::pictures::steps as picture;
use flowmine_discover::steps;
use flowmine_logs::steps::Sources;

use super::{About, Input, Model};
use crate::error::{Result, refuse};
use crate::format::Format;
use crate::found::Found;
use crate::options::{Choice, OptionSpec};
use crate::request::Request;
use crate::sink::Sink;

/// The tables of steps.
#[derive(Clone, Copy, PartialEq)]
enum Table {
    Steps,
    Members,
}

impl Choice for Table {
    const VALUES: &'static [(&'static str, &'static str, Self)] =
        &[("steps", "Steps", Self::Steps), ("members", "Attempts at jobs and tasks, each with its step", Self::Members)];
}

/// Steps with their members and evidence.
pub struct Steps;

static ABOUT: About = About {
    name: "steps",
    question: "which jobs and tasks do the same under different names, users and accounts, and on what evidence",
    input: Input::Attempts,
    has_graph_options: false,
    own: &[OptionSpec::choice::<Table>("table", "TABLE", "Table that CSV has").by_default("steps")],
    formats: Format::LIST,
    documents: &[picture::DOCUMENT],
};

impl Model for Steps {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let Some(dir) = request.source.only_dataset() else {
            refuse!("the model steps is made of a dataset with jobs or tasks: give --dataset DIR and no --log")
        };
        let dataset = Dataset::open(dir)?;
        let has_members = request.values.choice("table") == Some(Table::Members);
        let names = crate::steps::of_dataset(&dataset, Sources::default(), has_members, sink)?;
        let found = steps::discover(names.steps());
        Ok(Found::new(request, false, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv if has_members => Ok(picture::members_csv(names.members(), out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
        }))
    }
}
