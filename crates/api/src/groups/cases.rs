//! What a case, an event and an activity of a log are.

use flowmine_correlate::{Timestamp, cases};
use flowmine_logs::columns::Unit;
use flowmine_logs::task_log;

use super::Grouped;
use crate::activities::ACTIVITIES;
use crate::options::{Choice, Group, OptionSpec, Values};

/// What a case, an event and an activity of a log are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CaseOptions {
    /// The case notion.
    pub case_notion: Option<String>,
    /// The events that are read.
    pub events: Unit,
    /// The attributes that name an activity, or the classifier.
    pub activity: Option<String>,
    /// The moment of an observed interval that is the time of an event.
    pub timestamp: Timestamp,
}

/// `--case-notion`.
pub const CASE_NOTION: OptionSpec =
    OptionSpec::text("case-notion", "NAME", "What a case is, such as auto, dependency, task-run, object:TYPE")
        .details("object:TYPE is for the objects of a type; the cases of an XES file are its traces")
        .listed(notions);
/// `--timestamp`.
pub const TIMESTAMP: OptionSpec =
    OptionSpec::choice::<Timestamp>("timestamp", "MOMENT", "Moment of an observed interval that is the time of an event")
        .by_default("reported")
        .rare();

fn list<'a>(known: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    known.map(|(name, description)| format!("{name} ({description})")).collect::<Vec<_>>().join(", ")
}

/// Lists the case notions of jobs.
pub fn job_notions() -> String {
    format!("Notions of jobs, auto by default: {}", list(cases::ALL.iter().map(|notion| (notion.name(), notion.description()))))
}

fn notions() -> String {
    let of_tasks = list(task_log::notions::ALL.iter().map(|notion| (notion.name(), notion.description())));
    format!("{}. Notions of tasks, the first by default without jobs: {of_tasks}", job_notions())
}

fn named_activities() -> String {
    format!("Activities with a name: {}", list(ACTIVITIES.iter().map(|activity| (activity.name, activity.description))))
}

impl Choice for Unit {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("instances", "Activity instances: starts and ends are paired, with the time between them", Self::Instances),
        ("all", "Every event by itself, as PM4Py and process_mining take a log", Self::Events),
        ("starts", "Only events at which something begins to run", Self::Starts),
        ("ends", "Only events at which something has ended", Self::Ends),
    ];
}

impl Choice for Timestamp {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("reported", "What Slurm reports, within the interval; its end where Slurm reports nothing", Self::Reported),
        ("observed-at", "The end of the interval: when the change was seen", Self::ObservedAt),
        ("not-before", "The beginning of the interval", Self::NotBefore),
    ];
}

impl Grouped for CaseOptions {
    const GROUP: &'static Group = &Group {
        heading: "Cases and activities",
        options: &[
            CASE_NOTION,
            OptionSpec::choice::<Unit>("events", "EVENTS", "What the model is made of").by_default("instances"),
            OptionSpec::text("activity", "KEY[+KEY]", "Attributes that name an activity, or a classifier of the log")
                .details("Several are joined by plus signs (concept:name+lifecycle:transition)")
                .listed(named_activities),
            TIMESTAMP,
        ],
    };

    fn read(values: &Values) -> Self {
        Self {
            case_notion: values.text("case-notion"),
            events: values.choice("events").unwrap_or_default(),
            activity: values.text("activity"),
            timestamp: values.choice("timestamp").unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use flowmine_logs::run_graph::NotionOfCase;

    use super::*;

    #[test]
    fn the_help_has_every_notion_and_every_named_activity() {
        let activity = CaseOptions::GROUP.options.iter().find(|option| option.name == "activity").map(OptionSpec::all_details);
        for (name, help) in NotionOfCase::all()
            .map(|notion| (notion.name(), CASE_NOTION.all_details()))
            .chain(ACTIVITIES.iter().map(|named| (named.name, activity.clone().unwrap_or_default())))
        {
            assert!(help.contains(&format!(" {name} (")), "{name} in {help}");
        }
    }
}
