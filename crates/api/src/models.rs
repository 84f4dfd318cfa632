//! The registry of models. A model is a file below `models/`, which declares and computes it, and a
//! line in [`MODELS`].

mod batches;
mod bpmn;
mod compare;
mod critical_path;
pub mod dag;
mod declare;
mod dependency_audit;
mod dfg;
mod dotted_chart;
mod file_span;
mod file_timeline;
pub(crate) mod findings;
mod fold;
mod fork_tree;
pub(crate) mod gantt;
mod handover;
pub(crate) mod io_profile;
mod lifecycle;
mod ocdfg;
mod performance_spectrum;
mod petri;
mod process_model;
mod requests;
mod resources;
mod sort;
mod steps;
mod summary;
mod temporal_profile;
mod tree;
mod variants;
mod waits;

use flowmine_draw::document::DocumentFormat;

use crate::error::Result;
use crate::format::Format;
use crate::found::Found;
use crate::groups::{CASE, CaseOptions, Drawing, EventFilter, Figure, Grouped, OF_GRAPHS, Part, TableColumns};
use crate::options::{Group, OptionSpec};
use crate::request::Request;
use crate::sink::Sink;

/// All models, in the order of the documentation.
pub const MODELS: &[&dyn Model] = &[
    &dfg::Dfg,
    &ocdfg::ObjectDfg,
    &findings::Findings,
    &waits::Waits,
    &resources::Resources,
    &requests::Requests,
    &summary::Summary,
    &dag::Dag,
    &critical_path::CriticalPath,
    &gantt::Gantt,
    &io_profile::IoProfile,
    &fork_tree::ForkTree,
    &compare::Compare,
    &handover::Handover,
    &dependency_audit::DependencyAudit,
    &variants::Variants,
    &steps::Steps,
    &dotted_chart::DottedChart,
    &performance_spectrum::PerformanceSpectrum,
    &lifecycle::Lifecycle,
    &batches::Batches,
    &temporal_profile::TemporalProfile,
    &tree::Tree,
    &petri::Petri,
    &bpmn::Bpmn,
    &declare::Declare,
    &file_span::FileSpan,
    &file_timeline::FileTimeline,
];

/// A model: what it is, and how it is made.
pub trait Model: Sync {
    /// Describes the model.
    fn about(&self) -> &'static About;

    /// Makes the model.
    ///
    /// # Errors
    /// When the source cannot be read, or the model cannot be made of it.
    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found>;
}

/// The description of a model.
#[derive(Debug)]
pub struct About {
    /// Name.
    pub name: &'static str,
    /// The question that it answers, as a noun phrase or a question without its mark.
    pub question: &'static str,
    /// What it is made of.
    pub input: Input,
    /// Whether its figure is a directly-follows graph, with the options of these.
    pub has_graph_options: bool,
    /// Its own options.
    pub own: &'static [OptionSpec],
    /// Its formats, the usual one first.
    pub formats: &'static [Format],
    /// The documents that JSON is, with their schemas.
    pub documents: &'static [DocumentFormat],
}

/// What a model is made of; this decides which shared options it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A log with cases.
    Log,
    /// An object-centric log.
    Objects,
    /// The jobs of a dataset.
    Jobs,
    /// Attempts at jobs and tasks of a dataset.
    Attempts,
    /// One run of a dataset, with its times and dependencies.
    Run,
    /// The traced processes of a dataset.
    Processes,
    /// What the tasks of a dataset did to files.
    Accesses,
}

impl Input {
    /// Describes the input in a noun phrase.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Log => "log with cases",
            Self::Objects => "object-centric log",
            Self::Jobs => "jobs of a dataset",
            Self::Attempts => "jobs and tasks of a dataset",
            Self::Run => "run of a dataset",
            Self::Processes => "traced processes of a dataset",
            Self::Accesses => "traced tasks of a dataset",
        }
    }

    fn groups(self) -> &'static [&'static Group] {
        match self {
            Self::Log => &[&RUN, CaseOptions::GROUP, EventFilter::GROUP, Part::GROUP, TableColumns::GROUP],
            Self::Objects => &[CaseOptions::GROUP, EventFilter::GROUP, Part::GROUP, TableColumns::GROUP],
            Self::Jobs => &[EventFilter::GROUP],
            Self::Run => &[&RUN_OR_CASE, EventFilter::GROUP],
            Self::Processes => &[&RUN],
            Self::Attempts | Self::Accesses => &[],
        }
    }
}

/// The group of the one option `--run`.
pub const RUN: Group = Group {
    heading: "Run",
    options: &[OptionSpec::text("run", "RUN", "Run of a workflow engine: its name, its id, or both as they are listed")],
};

/// The group of `--run` and `--case`, which choose a run.
const RUN_OR_CASE: Group = Group { heading: "Run", options: &[RUN.options[0], CASE] };

impl About {
    /// Returns the groups of options that the model shares with others.
    pub fn groups(&self) -> Vec<&'static Group> {
        let mut groups: Vec<&'static Group> = Vec::new();
        groups.extend(self.has_graph_options.then_some(Figure::GROUP));
        groups.extend(self.formats.contains(&Format::Dot).then_some(&OF_GRAPHS));
        groups.extend(self.formats.contains(&Format::Png).then_some(Drawing::GROUP));
        groups.extend(self.input.groups());
        groups
    }

    /// Returns all options: its own, and those that it shares with others.
    pub fn options(&self) -> Vec<&'static OptionSpec> {
        self.own.iter().chain(self.groups().into_iter().flat_map(|group| group.options)).collect()
    }

    /// Whether the model has an option of this name.
    pub fn has_option(&self, name: &str) -> bool {
        self.options().iter().any(|option| option.name == name || option.alias == Some(name))
    }
}

/// Returns the model with this name.
pub fn find(name: &str) -> Option<&'static dyn Model> {
    MODELS.iter().copied().find(|model| model.about().name == name)
}

/// Earlier names of models, each with the present one. They work for one release.
pub const OLD_NAMES: &[(&str, &str)] = &[
    ("access-share", "file-span"),
    ("accesses", "file-timeline"),
    ("bottlenecks", "findings"),
    ("check", "dependency-audit"),
    ("profile", "io-profile"),
];

/// Returns the present name of a model that had another, with that.
pub fn renamed(name: &str) -> Option<(&'static str, &'static str)> {
    OLD_NAMES.iter().copied().find(|(old, _)| *old == name)
}

/// Returns a sentence with the models that have an option; `None` where none has it.
pub fn with_option(option: &str) -> Option<String> {
    let names: Vec<_> = MODELS.iter().map(|model| model.about()).filter(|about| about.has_option(option)).map(|about| about.name).collect();
    (!names.is_empty()).then(|| format!("--{option} is an option of {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_options_are_unique_and_formats_are_there() {
        let names: BTreeSet<_> = MODELS.iter().map(|model| model.about().name).collect();
        assert_eq!(names.len(), MODELS.len());
        for about in MODELS.iter().map(|model| model.about()) {
            let options = about.options();
            let names: BTreeSet<_> = options.iter().flat_map(|option| std::iter::once(option.name).chain(option.alias)).collect();
            assert_eq!(names.len(), options.iter().map(|option| 1 + usize::from(option.alias.is_some())).sum::<usize>(), "{}", about.name);
            assert_eq!(about.documents.is_empty(), !about.formats.contains(&Format::Json), "{}", about.name);
            assert!(!about.formats.is_empty() && !about.question.ends_with(['.', '?']), "{}", about.name);
        }
    }

    #[test]
    fn an_option_of_another_model_is_refused_with_the_models_that_have_it() {
        let refused = Request::read("dag", Default::default(), None, [("zeta", "1")]).err().map(|error| error.to_string());
        assert_eq!(refused.as_deref(), Some("the model dag has no option --zeta; --zeta is an option of temporal-profile"));
    }
}
