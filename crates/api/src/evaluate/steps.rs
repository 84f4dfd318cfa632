//! How far steps agree with a truth, by the evidence that they are based on.

use std::path::Path;

use flowmine_correlate::agreement::{Agreement, agreement};
use flowmine_correlate::{RowRules, Timestamp};
use flowmine_dataset::Dataset;
use flowmine_logs::steps::{Sources, logical_tasks};

use super::Numbers;
use super::truth::Table;
use crate::error::{Result, ensure};
use crate::jobs;
use crate::sink::Sink;
use crate::steps::of_dataset;

/// The truth that engines declare.
pub const LOGICAL_TASK: &str = "logical-task";

/// How far steps agree with the truth.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluatedSteps {
    /// The evidence that was used.
    pub evidence: &'static str,
    /// The measures.
    pub agreement: Agreement,
}

/// The kinds of evidence that are compared. What engines declare is the truth, and is hidden.
const EVIDENCE: [(&str, Sources); 2] =
    [("names, commands", Sources { declared: false, traced: false }), ("with traces", Sources { declared: false, traced: true })];

/// Compares steps with the logical tasks of engines ([`LOGICAL_TASK`]), or with a table of jobs and
/// their steps.
///
/// # Errors
/// When the dataset or the table cannot be read, or no attempt has a true step.
pub fn evaluate_steps(dir: &Path, truth: &str, sink: &dyn Sink) -> Result<Vec<EvaluatedSteps>> {
    let dataset = Dataset::open(dir)?;
    let rules = RowRules::default();
    let known = if truth == LOGICAL_TASK { logical_tasks(&dataset, &rules)? } else { of_table(&dataset, truth, sink)? };
    ensure!(!known.is_empty(), "{truth}: the true step of no job and no task of the dataset is known");
    let mut numbers = Numbers::default();
    let truth: Vec<u32> = known.iter().map(|(_, step)| numbers.of(step)).collect();
    EVIDENCE
        .into_iter()
        .map(|(evidence, sources)| {
            let steps = of_dataset(&dataset, sources, false, sink)?;
            let found: Vec<u32> = known.iter().map(|(attempt, _)| steps.number(attempt).unwrap_or(u32::MAX)).collect();
            Ok(EvaluatedSteps { evidence, agreement: agreement(&truth, &found) })
        })
        .collect()
}

/// The attempts at jobs that a table has, with their steps.
fn of_table(dataset: &Dataset, name: &str, sink: &dyn Sink) -> Result<Vec<(String, String)>> {
    let table = Table::read(name, &["step"])?;
    let rules = RowRules::default();
    let mut known = Vec::new();
    jobs::parts(dataset, Timestamp::default(), &rules, sink)?.for_each(|jobs| -> Result<()> {
        for attempt in jobs.attempts.iter().filter(|attempt| !jobs.is_array_record(attempt)) {
            let step = table.case_of(jobs.text(attempt.cluster), &[jobs.text(attempt.job), &attempt.job_id.to_string()]);
            known.extend(step.map(|step| (jobs.attempt_id(attempt), step.to_owned())));
        }
        Ok(())
    })?;
    Ok(known)
}
