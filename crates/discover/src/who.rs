//! Identity of an instance for look-ups: the job as users type it, or the name, tag and work
//! directory of a task.

use flowmine_activity_log::{ActivityLog, Attribute, JOB, RunGraph, RunTask};
use flowmine_text::visible;
use schemars::JsonSchema;
use serde::Serialize;

/// Attributes of tasks by which they are looked up: name, tag, work directory.
pub const OF_TASKS: [&str; 3] = ["task:name", "task:tag", "task:work_dir"];

/// Attribute with the job in log files.
pub const JOB_IN_FILES: &str = "slurm:job";

/// Identity of an instance; unknown parts are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Who {
    /// The job, as users type it.
    pub job: Option<String>,
    /// Name of the task.
    pub task: Option<String>,
    /// Tag that distinguishes the task from others of its activity.
    pub tag: Option<String>,
    /// Work directory of the task.
    pub work_dir: Option<String>,
}

impl Who {
    /// Returns the identity of a task of a run, or of a job.
    pub fn of_task(run: &RunGraph, task: &RunTask) -> Self {
        let is_job = run.noun == "job";
        Self {
            job: task.job.clone(),
            task: (!is_job).then(|| task.name.clone()),
            tag: task.tag.clone(),
            // For a job, the name suffices.
            work_dir: task.work_dir.clone().filter(|_| !is_job),
        }
    }

    /// Returns the identity as text, escaped for display: `job 41`, `task ALIGN (s1), /work/ab/cd`.
    /// `None` if nothing is known.
    pub fn words(&self) -> Option<String> {
        let job = self.job.as_ref().map(|job| format!("job {}", visible(job)));
        let task = self.task.as_ref().map(|task| format!("task {}", visible(task)));
        // Nextflow's names contain the tag.
        let has_tag = |tag: &str| self.task.as_ref().is_some_and(|task| task.contains(tag));
        let tag = self.tag.as_ref().filter(|tag| !tag.is_empty() && !has_tag(tag)).map(|tag| format!("tag {}", visible(tag)));
        let work_dir = self.work_dir.as_ref().map(|dir| visible(dir).into_owned());
        let words: Vec<String> = [job, task, tag, work_dir].into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// The attributes of a log that identify its instances.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Identities {
    job: Option<Attribute>,
    task: [Option<Attribute>; OF_TASKS.len()],
}

impl Identities {
    /// Returns the attributes that the log has.
    pub fn new(log: &ActivityLog) -> Self {
        let job = log.attribute(JOB).or_else(|| log.attribute(JOB_IN_FILES));
        Self { job: job.cloned(), task: OF_TASKS.map(|key| log.attribute(key).cloned()) }
    }

    /// Returns the identity of an instance.
    pub fn who(&self, instance: u32) -> Who {
        let value = |attribute: &Option<Attribute>| attribute.as_ref().and_then(|of| of.value(instance)).map(str::to_owned);
        let [task, tag, work_dir] = &self.task;
        Who { job: value(&self.job), task: value(task), tag: value(tag), work_dir: value(work_dir) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_what_is_known_once() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(Who::default().words(), None);
        assert_eq!(Who { job: text("8_3"), ..Who::default() }.words(), text("job 8_3"));
        let task = Who { task: text("ALIGN (s1)"), tag: text("s1"), work_dir: text("/w/a\nb"), ..Who::default() };
        assert_eq!(task.words(), text("task ALIGN (s1), /w/a\\nb"));
        assert_eq!(Who { task: text("align"), tag: text("s2"), ..Who::default() }.words(), text("task align, tag s2"));
    }
}
