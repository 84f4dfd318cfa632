//! What a case, an event and an activity of a log are.

use flowmine_correlate::Timestamp;
use flowmine_logs::columns::Unit;

use super::Grouped;
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
pub const CASE_NOTION: OptionSpec = OptionSpec::text("case-notion", "NAME", "What a case is, such as dependency, task-run, object:TYPE")
    .details(
        "dependency (the default for jobs), account-group, data-flow (jobs of which one read what another wrote, as traced; needs \
         `flowmine correlate`), job, array, work-directory and name (of one user), engine-run (jobs that a \
         run of an engine submitted, as Slurm shows), auto (the strongest evidence of each job), session (runs inferred \
         from when, where and how a user submitted jobs), gap-arrival, gap-last and gap-max (of one user, until a \
         gap of 20 minutes), task-run (the tasks of a workflow engine's run; the default without jobs), task-session (of a run and of \
         those that resume it), task-tag (with one tag, in nf-core's pipelines of one sample), or object:TYPE for the objects of a type. \
         The cases of an XES file are its traces",
    );
/// `--timestamp`.
pub const TIMESTAMP: OptionSpec =
    OptionSpec::choice::<Timestamp>("timestamp", "MOMENT", "Moment of an observed interval that is the time of an event")
        .by_default("reported")
        .rare();

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
            OptionSpec::text("activity", "KEY[+KEY]", "Attributes that name an activity, or a classifier of the log").details(
                "Several are joined by plus signs (concept:name+lifecycle:transition). For jobs also `command` (the default) and \
                 `command-state`",
            ),
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
    use flowmine_correlate::cases;
    use flowmine_logs::task_log::TaskNotion;

    use super::*;

    #[test]
    fn the_help_has_every_notion() {
        let of_jobs = cases::ALL.iter().map(|notion| notion.name());
        for name in of_jobs.chain(TaskNotion::ALL.into_iter().map(TaskNotion::name)) {
            assert!(CASE_NOTION.details.contains(name), "{name}");
        }
    }
}
