//! Activities of an exported log of a dataset: steps, or columns of jobs and tasks.

use std::sync::Arc;

use flowmine_dataset::Dataset;
use flowmine_eventlog::relabelled::Relabelled;
use flowmine_eventlog::{Attribute, CaseLog, Value};
use flowmine_logs::columns::{self, OR, ReadOptions};
use flowmine_logs::steps::{STEP, Sources, StepNames};

use crate::activities;
use crate::error::{Result, ensure, refuse};
use crate::sink::Sink;
use crate::source::Notion;
use crate::steps;

/// The attributes that differ in name from the column of jobs or tasks.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("activity", &["concept:name"]),
    ("logical_task", &["concept:name"]),
    ("user", &["org:resource", "task:user"]),
    ("group", &["org:group"]),
];
const PREFIXES: [&str; 2] = ["slurm:", "task:"];
/// The activity of an event with none of the attributes.
const UNKNOWN: &str = "(unknown)";

/// The attributes that name the activity, with the steps where they are asked for.
pub struct Activities {
    keys: Vec<String>,
    steps: Option<Arc<StepNames>>,
}

impl Activities {
    /// Reads what an activity needs.
    ///
    /// # Errors
    /// When the dataset cannot be read, or jobs or tasks have no such column.
    pub fn new(activity: &str, notion: &Notion, dataset: &Dataset, is_changed: bool, sink: &dyn Sink) -> Result<Self> {
        let keys = match notion {
            Notion::Jobs(_) => activities::keys_of_jobs(activity),
            Notion::Tasks(_) => activities::keys(activity),
            Notion::Objects(kind) => refuse!("--activity is for jobs and tasks, not for objects of type {kind:?}"),
        };
        let unknown = match notion {
            Notion::Jobs(_) => keys.iter().find(|key| {
                let options = ReadOptions { activity: vec![(*key).clone()], ..ReadOptions::default() };
                !columns::suffices(&options)
            }),
            _ => keys.iter().find(|key| !key.contains(OR) && columns::unknown_attribute(std::slice::from_ref(*key)).is_some()),
        };
        if let Some(key) = unknown {
            refuse!("{key:?} cannot be an activity: docs/tables.md lists the columns of job_states and task_runs");
        }
        let steps = if steps::is_wanted(&keys) {
            // A step is named by columns that other rules may hide.
            ensure!(!is_changed, "--activity step shows names: leave out --pseudonymise and --drop, or choose columns as the activity");
            Some(steps::of_dataset(dataset, Sources::default(), false, sink)?)
        } else {
            None
        };
        Ok(Self { keys, steps })
    }

    /// The log with these activities.
    pub fn of<'l>(&'l self, log: &'l dyn CaseLog) -> Relabelled<'l> {
        Relabelled::new(log, Box::new(move |attributes| self.label(attributes)))
    }

    fn label(&self, attributes: &[Attribute<'_>]) -> Option<String> {
        if self.keys.is_empty() {
            return None;
        }
        let parts: Vec<String> = self.keys.iter().filter_map(|key| key.split(OR).find_map(|key| self.value(key, attributes))).collect();
        Some(if parts.is_empty() { UNKNOWN.to_owned() } else { parts.join("+") })
    }

    fn value(&self, key: &str, attributes: &[Attribute<'_>]) -> Option<String> {
        let find = |key: &str| attributes.iter().find(|attribute| attribute.key == key).and_then(|attribute| text(&attribute.value));
        if key == STEP {
            return self.steps.as_ref()?.of(&find("concept:instance")?).map(str::to_owned);
        }
        let others = OTHER_NAMES.iter().filter(|(known, _)| *known == key).flat_map(|(_, names)| *names);
        let found = others.copied().find_map(find);
        found.or_else(|| find(key)).or_else(|| PREFIXES.iter().find_map(|prefix| find(&format!("{prefix}{key}"))))
    }
}

fn text(value: &Value<'_>) -> Option<String> {
    match value {
        Value::String(text) | Value::Id(text) => Some(text.to_string()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Time(_) | Value::List(_) | Value::Container => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_joined_and_the_first_of_several_counts() {
        let attributes = [
            Attribute::text("concept:name", "align.sh"),
            Attribute::text("org:resource", "anna"),
            Attribute::text("slurm:partition", "long"),
            Attribute::integer("slurm:cpus", 4),
        ];
        let of = |keys: &[&str]| Activities { keys: keys.iter().map(|key| (*key).to_owned()).collect(), steps: None }.label(&attributes);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["activity", "partition"]).as_deref(), Some("align.sh+long"));
        assert_eq!(of(&["user", "cpus", "qos"]).as_deref(), Some("anna+4"));
        assert_eq!(of(&["qos\u{1f}partition"]).as_deref(), Some("long"));
        assert_eq!(of(&["qos"]).as_deref(), Some("(unknown)"));
    }
}
