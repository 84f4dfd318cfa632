//! Dotted chart.

use flowmine_discover::dotted_chart;
use flowmine_discover::pictures::dotted_chart as picture;

use super::sort::{SORT, Sort};
use super::{About, Input, Model};
use crate::error::{Result, refuse};
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
    own: &[
        SORT,
        OptionSpec::flag("relative", "Draw each case from its own beginning")
            .details("Figures do by default if cases do not overlap, lie far apart (no case is open in half of the time) or are short"),
        OptionSpec::flag("absolute", "Draw each moment at its date"),
    ],
    formats: Format::CHART,
    documents: &[picture::DOCUMENT],
};

impl Model for DottedChart {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let sort = match request.values.choice(SORT.name) {
            Some(Sort::Duration) => dotted_chart::Sort::Duration,
            Some(Sort::Name) => dotted_chart::Sort::Name,
            Some(Sort::Start) | None => dotted_chart::Sort::Start,
        };
        let time = match (request.values.flag("relative"), request.values.flag("absolute")) {
            (true, true) => refuse!("--relative and --absolute exclude each other: give one of them"),
            (true, false) => Some(dotted_chart::Time::Relative),
            (false, true) => Some(dotted_chart::Time::Absolute),
            (false, false) => None,
        };
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let is_lossy = loaded.is_lossy;
        if time.is_none() && matches!(request.format, Format::Svg | Format::Png) {
            let reason = dotted_chart::fitting_time(&loaded.log, loaded.cases()?);
            sink.note(&match reason.time() {
                dotted_chart::Time::Relative => format!("time is relative because {}; --absolute draws dates", reason.words()),
                dotted_chart::Time::Absolute => {
                    format!("time is absolute because {}; --relative draws each case from its beginning", reason.words())
                }
            });
        }
        Ok(Found::new(request, is_lossy, move |format, out| {
            // Columns and fields do not depend on the log.
            let is_table = matches!(format, Format::Json | Format::Csv);
            let time = time.or(is_table.then_some(dotted_chart::Time::Absolute));
            let found = dotted_chart::discover(&loaded.log, loaded.cases()?, &dotted_chart::Options { sort, time });
            match format {
                Format::Json => Ok(picture::json(&found, out)?),
                Format::Csv => Ok(picture::csv(&found, out)?),
                _ => Ok(out.write_all(picture::svg(&found, &picture::Drawing::default()).as_bytes())?),
            }
        }))
    }
}
