//! Activities with a name of their own in `--activity`. A new one is a line in [`ACTIVITIES`].

use flowmine_logs::columns::OR;
use flowmine_logs::steps::STEP;

/// A named activity.
#[derive(Debug)]
pub struct NamedActivity {
    /// The name.
    pub name: &'static str,
    /// What an activity is, as a noun phrase.
    pub description: &'static str,
    /// The attributes of a job's event that are joined; none for the usual activity.
    of_jobs: &'static [&'static str],
    /// The same for other events; of several attributes in one place, an event's first one counts.
    of_others: &'static [&'static [&'static str]],
}

/// All named activities, the usual one first.
pub const ACTIVITIES: &[NamedActivity] = &[
    NamedActivity { name: "command", description: "the command of a job, the usual activity", of_jobs: &[], of_others: &[] },
    NamedActivity {
        name: "command-state",
        description: "the same with the state that the job entered",
        of_jobs: &["activity", "state"],
        of_others: &[&["concept:name"], &["slurm:state", "lifecycle:transition", "state", "lifecycle"]],
    },
    NamedActivity {
        name: STEP,
        description: "what jobs and tasks with different names and users have in common; of a dataset",
        of_jobs: &[STEP],
        of_others: &[&[STEP]],
    },
];

fn find(name: &str) -> Option<&'static NamedActivity> {
    ACTIVITIES.iter().find(|activity| activity.name == name)
}

/// Returns the attributes of an event that are its activity, as `--activity` chooses them.
pub fn keys(activity: &str) -> Vec<String> {
    match find(activity) {
        Some(named) => named.of_others.iter().map(|places| places.join(&OR.to_string())).collect(),
        None => activity.split('+').map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned).collect(),
    }
}

/// The same for events of jobs in a dataset.
pub fn keys_of_jobs(activity: &str) -> Vec<String> {
    match find(activity) {
        Some(named) => named.of_jobs.iter().map(|key| (*key).to_owned()).collect(),
        None => keys(activity),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_not_attributes_and_all_else_is() {
        assert_eq!((keys("command"), keys_of_jobs("command")), (Vec::new(), Vec::new()));
        assert_eq!(keys_of_jobs("command-state"), ["activity", "state"]);
        assert_eq!((keys("step"), keys_of_jobs("step")), (vec!["step".to_owned()], vec!["step".to_owned()]));
        assert_eq!(keys("command-state"), ["concept:name", "slurm:state\u{1f}lifecycle:transition\u{1f}state\u{1f}lifecycle"]);
        for keys in [keys, keys_of_jobs] {
            assert_eq!(keys("concept:name + lifecycle:transition+"), ["concept:name", "lifecycle:transition"]);
        }
    }
}
