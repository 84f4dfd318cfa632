//! Which part of a dataset is the run: a run of an engine, or cases of a notion.

use flowmine_correlate::cases::{self, CaseNotion};
use flowmine_correlate::{Entities, Jobs, Overview};
use flowmine_schema::tables::TaskRun;

use crate::task_log::notions::{self, TaskNotion, case_id};
use crate::task_log::run_names::run_or_engine;

/// The part of a dataset that is treated as a run.
#[derive(Debug, Clone, Copy, Default)]
pub enum RunPart<'a> {
    /// The only run of an engine; without tasks all jobs.
    #[default]
    Whole,
    /// The run of an engine with this name, id, or both as `engine:name:id`.
    Run(&'a str),
    /// The tasks of these cases.
    TaskCases(&'a dyn TaskNotion, &'a [String]),
    /// The jobs of these cases, with what is known of all jobs.
    JobCases(&'a dyn CaseNotion, &'a [String], &'a Overview),
}

/// A notion of cases, of tasks or of jobs.
#[derive(Debug, Clone, Copy)]
pub enum NotionOfCase {
    /// Of tasks.
    Tasks(&'static dyn TaskNotion),
    /// Of jobs.
    Jobs(&'static dyn CaseNotion),
}

impl NotionOfCase {
    /// Returns the notion of a case: the id of the case begins with the name of the notion.
    pub fn new(case: &str) -> Option<Self> {
        Self::find(case.split_once(':')?.0)
    }

    /// The notion with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|notion| notion.name() == name)
    }

    /// All notions, those of jobs first.
    pub fn all() -> impl Iterator<Item = Self> {
        let of_jobs = cases::ALL.iter().copied().map(Self::Jobs);
        of_jobs.chain(notions::ALL.iter().copied().map(Self::Tasks))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tasks(notion) => notion.name(),
            Self::Jobs(notion) => notion.name(),
        }
    }

    /// What a case is, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Tasks(notion) => notion.description(),
            Self::Jobs(notion) => notion.description(),
        }
    }
}

/// Which tasks belong to a run.
#[derive(Debug, Clone, Copy)]
pub(super) enum TasksOf<'a> {
    All,
    Run(&'a str),
    Cases(&'a dyn TaskNotion, &'a [String]),
}

impl TasksOf<'_> {
    /// Returns the name of the run.
    pub fn name(self) -> String {
        match self {
            Self::All => "all tasks".to_owned(),
            Self::Run(run) => run.to_owned(),
            Self::Cases(_, cases) => cases.join(", "),
        }
    }

    pub fn has(self, row: &TaskRun<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Run(run) => run_or_engine(row) == run,
            Self::Cases(notion, cases) => case_id(notion, row).is_some_and(|case| cases.contains(&case)),
        }
    }
}

/// Which jobs belong to a run.
#[derive(Debug, Clone, Copy)]
pub(super) enum JobsOf<'a> {
    All,
    Cases(&'a dyn CaseNotion, &'a [String], &'a Overview),
}

impl JobsOf<'_> {
    /// Returns the name of the run.
    pub fn name(self) -> String {
        match self {
            Self::All => "all jobs".to_owned(),
            Self::Cases(_, cases, _) => cases.join(", "),
        }
    }

    /// Of each attempt whether it belongs to the run.
    pub fn chosen(self, jobs: &Jobs) -> Vec<bool> {
        let Self::Cases(notion, names, overview) = self else { return vec![true; jobs.attempts.len()] };
        let assignment = notion.assign(&Entities { jobs, overview });
        let wanted: Vec<bool> = assignment.ids.iter().map(|id| names.contains(id)).collect();
        assignment.case_of.iter().map(|case| wanted[*case as usize]).collect()
    }
}
