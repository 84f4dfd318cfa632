//! The terms of the page, for readers who do not know process mining: all of them, and those of
//! each section.

use crate::block::{Block, Fact, Section};

/// Terms with their meanings.
const TERMS: [(&str, &str); 23] = [
    ("Activity", "A kind of work: a process of Nextflow, a rule of Snakemake, the name of a job without its numbers."),
    ("Activity instance", "One execution of an activity: an attempt at a job or task, with its submission, start and end."),
    ("Attempt", "One execution of a job or task. A retry or a requeue is another attempt."),
    ("Case", "The events that belong to one thing, such as a run, a group of jobs that depend on each other, or an order of a shop."),
    ("Case notion", "The definition of a case, such as dependency, account-group or work-directory."),
    ("Object type", "The kind of an object, such as job, user or file. One event can belong to several objects."),
    ("Variant", "A sequence of activities, in the order in which cases had them."),
    ("Directly-follows graph", "Activities, with an edge from each to those that started next in the same case."),
    ("Run", "One execution of a workflow by an engine."),
    ("Time in the queue", "The time in which an instance was ready and only the cluster kept it from starting."),
    ("Throughput", "The number of instances that end in a span of time."),
    ("Dotted chart", "A row for each case and a mark for each activity instance, at its time."),
    ("Performance spectrum", "A line for each passage from one activity to the next: the more it leans, the longer it took."),
    ("Core-hours", "Hours multiplied by CPUs: four CPUs for two hours are eight core-hours."),
    ("Time at stake", "The time that a finding costs. Several findings can count the same time, so do not add them."),
    ("Critical path", "The chain of tasks that determines the end of a run: the run is shorter only if this chain is shorter."),
    ("Staging", "Copying inputs to the place where a task runs, before it runs."),
    ("Trend", "The additional time of each run compared with the one before: the median of the slopes between all pairs of runs."),
    ("Median", "The value in the middle: half of the values are smaller, half are larger."),
    ("CPU used", "CPU time divided by running time and CPUs: 25 % of four CPUs is one busy CPU."),
    ("Request size", "The number of bytes that a process asks for in one read or write."),
    ("Read again", "Bytes that a process read of a file in addition to the size of the file: it read some of them twice."),
    ("Limit", "The resource or data that a task waits for at a moment, such as CPU, bandwidth, or the output of another task."),
];

/// The terms that each section uses.
const OF_SECTIONS: [(&str, &[&str]); 8] = [
    ("overview", &["Activity instance", "Case", "Core-hours", "Time at stake"]),
    ("process", &["Activity", "Case notion", "Directly-follows graph", "Object type", "Variant"]),
    ("waiting", &["Time in the queue", "Throughput", "Dotted chart", "Performance spectrum", "Median"]),
    ("runs", &["Run", "Critical path", "Staging", "Trend"]),
    ("resources", &["Core-hours", "CPU used", "Attempt"]),
    ("io", &["Request size", "Read again"]),
    ("prediction", &["Limit", "Run"]),
    ("variants", &["Variant", "Case"]),
];

/// The terms of a section, with their meanings.
pub fn of(section: &str) -> Vec<(&'static str, &'static str)> {
    let names = OF_SECTIONS.iter().find(|(id, _)| *id == section).map_or(&[][..], |(_, names)| names);
    names.iter().filter_map(|name| TERMS.into_iter().find(|(term, _)| term == name)).collect()
}

/// The section.
pub fn section() -> Section {
    let facts = TERMS.into_iter().map(|(name, meaning)| Fact::new(name, meaning)).collect();
    Section { id: "terms", title: "Terms", question: "Definitions of the words of this page.", blocks: vec![Block::Facts(facts)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_of_a_section_is_explained() {
        for (section, names) in OF_SECTIONS {
            assert_eq!(of(section).len(), names.len(), "{section}");
        }
    }
}
