//! The registry of models as a JSON document, and the other documents of a server.

use flowmine_draw::document::Document;
use flowmine_logs::run_graph::NotionOfCase;
use schemars::JsonSchema;
use serde::Serialize;

use crate::activities::ACTIVITIES;
use crate::models::MODELS;
use crate::options::{Choice, Kind, Many, OptionSpec};

/// The models, with their options and formats.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Registry {
    /// The models, in the order of the documentation.
    pub models: Vec<ModelEntry>,
    /// The case notions, those of jobs first.
    pub case_notions: Vec<NameEntry>,
    /// The activities with a name, the usual one first.
    pub activities: Vec<NameEntry>,
}

/// A model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelEntry {
    /// Its name.
    pub name: &'static str,
    /// The question that it answers.
    pub question: &'static str,
    /// What it is made of.
    pub input: &'static str,
    /// Its formats, the usual one first.
    pub formats: Vec<&'static str>,
    /// The names of the formats of its JSON documents; `docs/schemas/` has their schemas.
    pub documents: Vec<&'static str>,
    /// Its options.
    pub options: Vec<OptionEntry>,
}

/// An option of a model: a query parameter.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OptionEntry {
    /// Its name.
    pub name: &'static str,
    /// The heading of the options with which it is shared; null for an option of the model alone.
    pub group: Option<&'static str>,
    /// What it does.
    pub help: &'static str,
    /// The word for its value; empty for a switch.
    pub value_name: &'static str,
    /// Whether it is a switch.
    pub is_switch: bool,
    /// Whether it may be given more than once.
    pub is_repeated: bool,
    /// Whether it names a file, which a server does not read.
    pub is_place: bool,
    /// The value without the option; null where there is none.
    pub default: Option<&'static str>,
    /// The names among which it chooses; empty where it takes others.
    pub choices: Vec<NameEntry>,
}

/// A name with its meaning.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NameEntry {
    /// The name.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

impl Document for Registry {
    const FORMAT: &'static str = "flowmine-models";
}

impl Registry {
    /// Describes all models.
    pub fn new() -> Self {
        let models = MODELS.iter().map(|model| model.about()).map(|about| ModelEntry {
            name: about.name,
            question: about.question,
            input: about.input.describe(),
            formats: about.formats.iter().map(|format| format.name()).collect(),
            documents: about.documents.iter().map(|document| document.name).collect(),
            options: {
                let own = about.own.iter().map(|option| entry(option, None));
                let shared =
                    about.groups().into_iter().flat_map(|group| group.options.iter().map(|option| entry(option, Some(group.heading))));
                own.chain(shared).collect()
            },
        });
        let case_notions = NotionOfCase::all().map(|notion| NameEntry { name: notion.name(), meaning: notion.description() });
        let activities = ACTIVITIES.iter().map(|activity| NameEntry { name: activity.name, meaning: activity.description });
        Self { models: models.collect(), case_notions: case_notions.collect(), activities: activities.collect() }
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

fn entry(option: &'static OptionSpec, group: Option<&'static str>) -> OptionEntry {
    let choices = if let Kind::Choice(names) = option.kind { names() } else { Vec::new() };
    OptionEntry {
        name: option.name,
        group,
        help: option.help,
        value_name: option.value_name,
        is_switch: matches!(option.kind, Kind::Flag),
        is_repeated: option.many != Many::One,
        is_place: matches!(option.kind, Kind::Place),
        default: option.default,
        choices: choices.into_iter().map(|(name, meaning)| NameEntry { name, meaning }).collect(),
    }
}

/// The reason why a request has no result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Refusal {
    /// The reason, and what to do.
    pub error: String,
    /// The messages of the work until then, in their order.
    pub messages: Vec<String>,
}

impl Document for Refusal {
    const FORMAT: &'static str = "flowmine-refusal";
}

/// The state of a source on the disk.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SourceState {
    /// A text that differs when the files of the source have changed.
    pub state: String,
    /// The state of the source of which the page with the same query is; null for a page that was
    /// not asked for.
    pub page: Option<String>,
    /// Whether changes are noticed: a temporary dataset that was imported does not change.
    pub is_followed: bool,
    /// When the last poll of this server ended, in nanoseconds since 1970; null if it does not
    /// observe, or no poll has succeeded.
    pub last_poll_ns: Option<i64>,
    /// Why the last poll failed; null if it did not.
    pub poll_failed: Option<String>,
}

impl Document for SourceState {
    const FORMAT: &'static str = "flowmine-source-state";
}

/// How far a request is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RequestProgress {
    /// `unknown`, `waiting`, `running` or `done`.
    pub state: &'static str,
    /// The stage of the work; null where none has begun.
    pub stage: Option<&'static str>,
    /// Number of parts of the stage that are done; null if unknown.
    pub done: Option<u64>,
    /// Number of parts of the stage; null if unknown.
    pub total: Option<u64>,
}

impl Document for RequestProgress {
    const FORMAT: &'static str = "flowmine-progress";
}
