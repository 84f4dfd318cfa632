//! The terms of the page, for readers who do not know process mining.

use crate::block::{Block, Fact, Section};

/// Terms with their meanings.
const TERMS: [(&str, &str); 12] = [
    ("Activity", "A kind of work: a process of Nextflow, a rule of Snakemake, the name of a job without its numbers."),
    ("Activity instance", "One execution of an activity: an attempt at a job or task, with its submission, start and end."),
    ("Case", "What belongs together: the tasks of a run, jobs that depend on each other, an order of a shop."),
    ("Variant", "A sequence of activities that one or more cases have."),
    ("Directly-follows graph", "Activities, with an edge from each to those that started next in the same case."),
    ("Time in the queue", "From the moment from which only the cluster kept an instance from starting, to its start."),
    ("Core-hours", "Hours multiplied by CPUs: four CPUs for two hours are eight core-hours."),
    ("Time at stake", "What would be gained without a finding. Findings overlap: their times are not to be added."),
    ("Critical path", "The chain of tasks that decides when a run ends: only what shortens it makes the run shorter."),
    ("Median", "Half of the values are smaller, half are larger."),
    ("CPU used", "CPU time divided by running time and CPUs: 25 % of four CPUs is one busy CPU."),
    ("Read again", "Bytes that a process read of a file beyond what the file has: it read some of them twice."),
];

/// The section.
pub fn section() -> Section {
    let facts = TERMS.into_iter().map(|(name, meaning)| Fact::new(name, meaning)).collect();
    Section { id: "terms", title: "Terms", question: "What the words of this page mean.", blocks: vec![Block::Facts(facts)] }
}
