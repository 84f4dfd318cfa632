//! Tables of activities and cases.

use flowmine_discover::pictures::summary as picture;
use flowmine_discover::summary;

use super::sort::{SORT, Sort};
use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log;
use crate::options::{Choice, OptionSpec};
use crate::request::Request;
use crate::sink::Sink;

/// The tables of a summary.
#[derive(Clone, Copy, PartialEq)]
enum Table {
    Activities,
    Cases,
}

/// Tables of activities and cases.
pub struct Summary;

static ABOUT: About = About {
    name: "summary",
    question: "activities and cases as tables: times, failures, retries, cached, memory and CPUs requested and used",
    input: Input::Log,
    has_graph_options: false,
    own: &[SORT, OptionSpec::choice::<Table>("table", "TABLE", "Table that CSV has").by_default("activities")],
    formats: Format::LIST,
    documents: &[picture::DOCUMENT],
};

impl Choice for Table {
    const VALUES: &'static [(&'static str, &'static str, Self)] =
        &[("activities", "Activities", Self::Activities), ("cases", "Cases", Self::Cases)];
}

impl Model for Summary {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let cases_by = match request.values.choice(SORT.name) {
            Some(Sort::Duration) => summary::CasesBy::Duration,
            Some(Sort::Name) => summary::CasesBy::Name,
            Some(Sort::Start) | None => summary::CasesBy::Start,
        };
        let by_case = request.values.choice("table") == Some(Table::Cases);
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let found = summary::discover(&loaded.log, loaded.cases()?, &summary::Options { cases_by });
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv if by_case => Ok(picture::cases_csv(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::text(&found, &picture::Drawing::default()).as_bytes())?),
        }))
    }
}
