//! Dotted chart.

use flowmine_discover::dotted_chart;
use flowmine_discover::pictures::dotted_chart as picture;

use super::sort::{SORT, Sort};
use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log;
use crate::options::OptionSpec;
use crate::request::Request;
use crate::sink::Sink;

/// Dotted chart.
pub struct DottedChart;

static ABOUT: About = About {
    name: "dotted-chart",
    question: "what happened when: a dot for each activity instance, cases over time",
    input: Input::Log,
    has_graph_options: false,
    own: &[SORT, OptionSpec::flag("relative", "Draw each case from its own beginning")],
    formats: Format::CHART,
    documents: &[picture::DOCUMENT],
};

impl Model for DottedChart {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let options = dotted_chart::Options {
            sort: match request.values.choice(SORT.name) {
                Some(Sort::Duration) => dotted_chart::Sort::Duration,
                Some(Sort::Name) => dotted_chart::Sort::Name,
                Some(Sort::Start) | None => dotted_chart::Sort::Start,
            },
            time: if request.values.flag("relative") { dotted_chart::Time::Relative } else { dotted_chart::Time::Absolute },
        };
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let found = dotted_chart::discover(&loaded.log, loaded.cases()?, &options);
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::svg(&found, &picture::Drawing::default()).as_bytes())?),
        }))
    }
}
