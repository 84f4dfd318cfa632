//! Temporal profile.

use flowmine_discover::pictures::temporal_profile as picture;
use flowmine_discover::temporal_profile;

use super::{About, Input, Model};
use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::log;
use crate::options::{Choice, Kind, OptionSpec};
use crate::request::Request;
use crate::sink::Sink;

/// The tables of a temporal profile.
#[derive(Clone, Copy, PartialEq)]
enum Table {
    Pairs,
    Deviations,
}

/// Temporal profile.
pub struct TemporalProfile;

static ABOUT: About = About {
    name: "temporal-profile",
    question: "the usual times between activities, and which cases deviate",
    input: Input::Log,
    has_graph_options: false,
    own: &[
        OptionSpec::new("zeta", "N", Kind::Number(0.0, f64::MAX), "Number of standard deviations from the mean that are still usual")
            .by_default("6"),
        OptionSpec::choice::<Table>("table", "TABLE", "Table that CSV has").by_default("activities"),
    ],
    formats: Format::CHART,
    documents: &[picture::DOCUMENT],
};

impl Choice for Table {
    const VALUES: &'static [(&'static str, &'static str, Self)] =
        &[("activities", "Pairs of activities", Self::Pairs), ("cases", "Deviations of cases", Self::Deviations)];
}

impl Model for TemporalProfile {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let usual = temporal_profile::Options::default();
        let options = temporal_profile::Options { zeta: request.values.number("zeta").unwrap_or(usual.zeta), ..usual };
        let deviations = request.values.choice("table") == Some(Table::Deviations);
        let loaded = log::load(request, &log::Attributes::default(), sink)?;
        let _stage = sink.stage("discovering");
        let found = temporal_profile::discover(&loaded.log, loaded.cases()?, &options);
        Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv if deviations => Ok(picture::deviations_csv(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::svg(&found, &picture::Drawing::default()).as_bytes())?),
        }))
    }
}
