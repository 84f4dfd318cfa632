//! What a page is made of: a log, and the models that were discovered in it.

use flowmine_activity_log::ActivityLog;
use flowmine_discover::arrivals::Arrivals;
use flowmine_discover::critical_path::CriticalPath;
use flowmine_discover::findings::Findings;
use flowmine_discover::gantt::Gantt;
use flowmine_discover::history::Workflow;
use flowmine_discover::io_profile::Profile;
use flowmine_discover::requests::Requests;
use flowmine_discover::resources::Resources;
use flowmine_discover::summary::Summary;
use flowmine_discover::variants::VariantsModel;
use flowmine_discover::waits::Waits;
use flowmine_discover::waits::weeks::Weeks;

use crate::view::View;

/// The results of which a page is made.
#[derive(Debug)]
pub struct Results {
    /// The sources as a user named them.
    pub sources: Vec<String>,
    /// What the sources lack, and what reading them reported.
    pub quality: Quality,
    /// The models of the log; the reason where there is no log.
    pub log: Outcome<LogResults>,
    /// What jobs waited for.
    pub waits: Outcome<WaitResults>,
    /// The runs that are shown, the longest first.
    pub runs: Vec<RunResults>,
    /// How tasks used files.
    pub file_access: Outcome<FileAccess>,
    /// What a model that is fitted to the traced runs predicts.
    pub prediction: Outcome<PredictionResults>,
    /// How files were read and written.
    pub profile: Outcome<Profile>,
}

/// A result, or why there is none: a sentence without a full stop.
pub type Outcome<T> = Result<T, String>;

/// What the sources lack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quality {
    /// Number of inputs that were rejected.
    pub errors: u64,
    /// Number of inputs that are odd.
    pub warnings: u64,
    /// Operations that the traces lack, in a sentence without a full stop.
    pub lost: Option<String>,
    /// The messages of reading and discovering, in their order.
    pub messages: Vec<String>,
}

/// A log, and the models of it.
#[derive(Debug)]
pub struct LogResults {
    /// The log.
    pub log: ActivityLog,
    /// Its activities and cases in numbers.
    pub summary: Summary,
    /// What costs time and can be changed.
    pub findings: Findings,
    /// Its process under one or more notions of what a case is; the first is that of the log.
    pub views: Vec<View>,
    /// The notions that are not among the views, in sentences.
    pub views_left_out: Vec<String>,
    /// The sequences of activities of its cases.
    pub variants: VariantsModel,
    /// Resources occupied and used.
    pub resources: Resources,
    /// Suggested requests.
    pub requests: Requests,
    /// When work arrives and how much is done.
    pub arrivals: Arrivals,
    /// The runs of each workflow one after the other.
    pub history: Vec<Workflow>,
}

/// One run in detail. Figures are SVG documents.
#[derive(Debug)]
pub struct RunResults {
    /// The name of its case.
    pub case: String,
    /// Its critical path.
    pub critical_path: Outcome<CriticalPath>,
    /// Its tasks and files as a graph.
    pub graph: Outcome<String>,
    /// Its instances over time.
    pub gantt: Option<Gantt>,
}

/// How tasks used files. Figures are SVG documents.
#[derive(Debug)]
pub struct FileAccess {
    /// The share of a task's time between its first and last access to a file.
    pub spans: String,
    /// The accesses to the files with most bytes: their paths, with a figure of each.
    pub files: Vec<(String, String)>,
    /// Number of other files.
    pub others: u64,
}

/// What a fitted model predicts.
#[derive(Debug)]
pub struct PredictionResults {
    /// The run that is predicted.
    pub run: String,
    /// When it finishes, in seconds from its begin; `None` where it never does.
    pub finish_s: Option<f64>,
    /// Progress and limits over time: an SVG document.
    pub figure: String,
    /// What limits each task and when: task, limit, from and to in seconds.
    pub limits: Vec<(String, String, f64, f64)>,
    /// What would be gained: what is made wider, for how long it limits and the gain in seconds.
    pub gains: Vec<(String, f64, f64)>,
    /// Where the prediction may be inexact.
    pub notes: Vec<String>,
}

/// What jobs waited for.
#[derive(Debug)]
pub struct WaitResults {
    /// By cause, user, partition and more.
    pub causes: Waits,
    /// Week after week.
    pub weeks: Weeks,
}
