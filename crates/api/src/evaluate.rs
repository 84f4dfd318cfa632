//! How far the cases of notions agree with a truth.

mod evidence;
mod json;
mod models;
mod steps;
mod truth;

use std::path::PathBuf;

use flowmine_attribution::has_traces;
pub use flowmine_correlate::agreement::Agreement;
use flowmine_correlate::agreement::agreement;
use flowmine_correlate::cases::{self, CaseNotion};
use flowmine_correlate::{Entities, RowRules, Timestamp, tasks_as_jobs};
use flowmine_dataset::Dataset;
use flowmine_logs::task_log::{self, jobs_of_tasks};

use crate::error::{Result, ensure};
use crate::jobs;
use crate::sink::Sink;

pub use evidence::OfEvidence;
pub use json::models_json;
pub use models::{OfModel, evaluate_models};
pub use steps::{EvaluatedSteps, LOGICAL_TASK, evaluate_steps};
pub use truth::Truth;

/// Number of ranges of the confidence in [`Reliability`].
const RANGES: usize = 10;

/// What is evaluated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The dataset.
    pub dataset: PathBuf,
    /// A table of jobs and their true cases, or the name of a case notion that is held to be true.
    pub truth: String,
    /// The case notions; empty for all that the dataset has the data for.
    pub notions: Vec<String>,
}

/// How far one notion agrees with the truth.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// Name of the notion.
    pub notion: &'static str,
    /// The measures.
    pub agreement: Agreement,
    /// Of a notion with several kinds of evidence, the measures of each.
    pub evidence: Vec<OfEvidence>,
    /// Of a notion that estimates it, how often it is right.
    pub reliability: Vec<Reliability>,
}

/// How often assignments with a confidence in one range are right.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Reliability {
    /// Number of jobs.
    pub jobs: usize,
    /// Mean confidence.
    pub confidence: f64,
    /// Share of the jobs that are in one true case with the job that they follow, or follow none and
    /// are the oldest of their true case.
    pub right: f64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The notions, in the order of the list of notions.
    pub notions: Vec<Evaluated>,
    /// Jobs of the dataset whose true case is not known; they are left out.
    pub without_truth: usize,
}

/// A job of the dataset.
struct Job {
    /// By what it is named in the truth: cluster, job, submission.
    cluster: String,
    label: String,
    submission: String,
    since_ns: i64,
}

/// What a notion says of a job.
#[derive(Clone, Default)]
struct Said {
    case: String,
    /// The kind of evidence; empty where the notion has only one.
    reason: &'static str,
    follows: Option<String>,
    confidence: Option<f32>,
}

/// Compares the cases of notions with a truth. An array counts as one job, and so do all attempts at
/// a job.
///
/// # Errors
/// When the dataset or the truth cannot be read, or has no job of the other.
pub fn evaluate(options: &Options, sink: &dyn Sink) -> Result<Found> {
    let dataset = Dataset::open(&options.dataset)?;
    ensure!(jobs::has_any(&dataset)?, "the dataset has no jobs");
    let notions = notions(options, &dataset)?;
    let truth = Truth::read(&options.truth)?;
    let mut asked = notions.clone();
    if let Truth::Notion(notion) = &truth
        && !asked.iter().any(|known| known.name() == notion.name())
    {
        asked.push(*notion);
    }
    let (all, said) = read(&dataset, &asked, sink)?;
    let of_notion = |name: &str| asked.iter().position(|notion| notion.name() == name).map(|at| &said[at]);
    let mut cases = Numbers::default();
    let true_cases: Vec<Option<u32>> = match &truth {
        Truth::Notion(notion) => {
            let said = of_notion(notion.name()).into_iter().flatten();
            said.map(|said| Some(cases.of(&said.case))).collect()
        }
        Truth::Table(table) => {
            let known = |job: &Job| table.case_of(&job.cluster, &[&job.label, &job.submission]);
            all.iter().map(|job| known(job).map(|case| cases.of(case))).collect()
        }
    };
    let known: Vec<usize> = (0..all.len()).filter(|&at| true_cases[at].is_some()).collect();
    ensure!(!known.is_empty(), "{}: no job of the dataset is in it: it names jobs as squeue prints them (7, 8_3, 18+1)", options.truth);
    let true_cases: Vec<u32> = known.iter().filter_map(|&at| true_cases[at]).collect();
    let mut found = Vec::new();
    for notion in &notions {
        let Some(said) = of_notion(notion.name()) else { continue };
        let mut cases = Numbers::default();
        let cases: Vec<u32> = known.iter().map(|&at| cases.of(&said[at].case)).collect();
        let agreement = agreement(&true_cases, &cases);
        let right = right(&all, &known, &true_cases, said);
        let reasons: Vec<&str> = known.iter().map(|&at| said[at].reason).collect();
        found.push(Evaluated {
            notion: notion.name(),
            agreement,
            evidence: evidence::of_each(&reasons, &true_cases, &cases, &right),
            reliability: reliability(&known, said, &right),
        });
    }
    Ok(Found { notions: found, without_truth: all.len() - known.len() })
}

fn notions(options: &Options, dataset: &Dataset) -> Result<Vec<&'static dyn CaseNotion>> {
    if !options.notions.is_empty() {
        return options.notions.iter().map(|name| jobs::notion(name)).collect();
    }
    let has_data_flow = has_traces(dataset)? && !task_log::is_uncorrelated(dataset)?;
    let of_jobs = cases::ALL.iter().copied().filter(|notion| !notion.needs_data_flow() || has_data_flow);
    let ran = !tasks_as_jobs::ran_as(dataset, &RowRules::default())?.is_empty();
    Ok(of_jobs.chain(jobs_of_tasks::ALL.iter().copied().filter(|_| ran)).collect())
}

/// The submissions of a dataset in the order of age, and what each notion says of each.
fn read(dataset: &Dataset, notions: &[&'static dyn CaseNotion], sink: &dyn Sink) -> Result<(Vec<Job>, Vec<Vec<Said>>)> {
    let rules = RowRules::default();
    let parts = jobs::parts(dataset, Timestamp::default(), &rules, sink)?;
    let overview = jobs::overview(dataset, &parts, &rules, notions, sink)?;
    let mut rows: Vec<(Job, Vec<Said>)> = Vec::new();
    parts.for_each(|jobs| -> Result<()> {
        let start = rows.len();
        for (number, submission) in (0u32..).zip(&jobs.submissions) {
            let (cluster, label) = (jobs.text(submission.cluster).to_owned(), jobs.label(number));
            let job = Job { cluster, label, submission: submission.id.to_string(), since_ns: submission.since_ns };
            rows.push((job, vec![Said::default(); notions.len()]));
        }
        for (at, notion) in notions.iter().enumerate() {
            let assignment = notion.assign(&Entities { jobs, overview: &overview });
            for (number, submission) in jobs.submissions.iter().enumerate() {
                let first = submission.first_attempt as usize;
                let why = assignment.why.get(first);
                rows[start + number].1[at] = Said {
                    case: assignment.id_of(first).to_owned(),
                    reason: why.map_or("", |why| why.reason),
                    follows: why.and_then(|why| why.evidence.clone()),
                    confidence: why.and_then(|why| why.confidence),
                };
            }
        }
        Ok(())
    })?;
    rows.sort_by(|(a, _), (b, _)| (a.since_ns, &a.cluster, &a.submission).cmp(&(b.since_ns, &b.cluster, &b.submission)));
    let mut said = vec![Vec::with_capacity(rows.len()); notions.len()];
    let mut all = Vec::with_capacity(rows.len());
    for (job, of_notions) in rows {
        all.push(job);
        said.iter_mut().zip(of_notions).for_each(|(all, one)| all.push(one));
    }
    Ok((all, said))
}

/// Of each job whether it is in one true case with the job that it follows, or follows none and is the
/// oldest of its true case.
fn right(all: &[Job], known: &[usize], true_cases: &[u32], said: &[Said]) -> Vec<bool> {
    let mut case_of_job = std::collections::HashMap::new();
    let mut seen = std::collections::HashSet::new();
    let mut right = Vec::with_capacity(known.len());
    for (&at, &case) in known.iter().zip(true_cases) {
        let is_first = seen.insert(case);
        right.push(match &said[at].follows {
            Some(before) => case_of_job.get(before) == Some(&case),
            None => is_first,
        });
        case_of_job.insert(format!("job {} of {}", all[at].submission, all[at].cluster), case);
    }
    right
}

fn reliability(known: &[usize], said: &[Said], right: &[bool]) -> Vec<Reliability> {
    let mut ranges = [Reliability::default(); RANGES];
    for (&at, &is_right) in known.iter().zip(right) {
        let Some(confidence) = said[at].confidence else { continue };
        let range = &mut ranges[((f64::from(confidence) * RANGES as f64) as usize).min(RANGES - 1)];
        range.jobs += 1;
        range.confidence += f64::from(confidence);
        range.right += f64::from(u8::from(is_right));
    }
    for range in &mut ranges {
        range.confidence /= range.jobs.max(1) as f64;
        range.right /= range.jobs.max(1) as f64;
    }
    ranges.into_iter().filter(|range| range.jobs > 0).collect()
}

/// Gives each different name a number.
#[derive(Default)]
struct Numbers<'n>(std::collections::HashMap<&'n str, u32>);

impl<'n> Numbers<'n> {
    fn of(&mut self, name: &'n str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(name).or_insert(next)
    }
}
