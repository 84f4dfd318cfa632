//! Jobs and what they waited for: input of models in addition to the log in columns.
//!
//! The parts of a job's time, each with its cause, cover it from submission to end without overlap.
//! The reader of a source passes one [`JobWait`] after the other to a model, so that memory holds
//! only what the model needs.

/// The attribute that names the job of an instance, as users type it.
pub const JOB: &str = "job";

/// The attribute that names the cause of most of the time that an instance queued.
pub const QUEUED_FOR: &str = "queued_for";

/// The attribute that names the wish of its own that most kept an instance from being ready.
pub const NOT_READY_FOR: &str = "not_ready_for";

/// Kind of the time of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitKind {
    /// It waited for a job on which it depends: that job's time, and no loss of its own.
    Predecessor,
    /// Its own wishes kept it from starting: a hold, a begin time, a requeue.
    Wish,
    /// It could have started, and the cluster let it wait.
    Queue,
    /// It waited; nothing is known of why.
    Unknown,
    /// A task that its engine had not submitted, or of which it is not known when it was: no time
    /// in the queue.
    Engine,
    /// Its nodes were being made ready, it ran or was suspended.
    Started,
}

impl WaitKind {
    /// All kinds of waiting.
    pub const WAITING: [WaitKind; 5] = [WaitKind::Predecessor, WaitKind::Wish, WaitKind::Queue, WaitKind::Unknown, WaitKind::Engine];

    /// Whether it counts as time in the queue: the cluster let it wait, or nothing is known of why.
    pub fn is_queue(self) -> bool {
        matches!(self, WaitKind::Queue | WaitKind::Unknown)
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            WaitKind::Predecessor => "predecessor",
            WaitKind::Wish => "wish",
            WaitKind::Queue => "queue",
            WaitKind::Unknown => "unknown",
            WaitKind::Engine => "engine",
            WaitKind::Started => "started",
        }
    }
}

/// A part of a job's time, with the intervals of its borders; UTC nanoseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitPart<'a> {
    /// Name of its cause.
    pub cause: &'static str,
    /// Kind of its time.
    pub kind: WaitKind,
    /// When it began.
    pub from_ns: i64,
    /// When it ended.
    pub to_ns: i64,
    /// Interval that contains its begin.
    pub from_within_ns: (i64, i64),
    /// Interval that contains its end.
    pub to_within_ns: (i64, i64),
    /// The scheduler's reason, as it wrote it.
    pub reason: Option<&'a str>,
    /// The limit that kept it waiting, as the scheduler names it; `None` where the cause is another.
    pub limit: Option<&'a str>,
    /// The jobs that were waited for, with commas between.
    pub predecessors: Option<String>,
    /// Evidence for the cause.
    pub evidence: &'static str,
}

impl WaitPart<'_> {
    /// Its length in nanoseconds.
    pub fn len_ns(&self) -> i64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// An attempt at a job, or a task of a workflow engine with all attempts, with the parts of its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobWait<'a> {
    /// Name of the cluster.
    pub cluster: &'a str,
    /// The job, as the scheduler prints it and users type it; of a task its name.
    pub job: &'a str,
    /// Whether it is a task of a workflow engine.
    pub is_task: bool,
    /// The number of the attempt, from 1; of a task that of the last one.
    pub attempt: u32,
    /// Its activity.
    pub activity: &'a str,
    /// The user.
    pub user: Option<&'a str>,
    /// The account that is charged.
    pub account: Option<&'a str>,
    /// The partition, or several with commas between.
    pub partition: Option<&'a str>,
    /// The quality of service.
    pub qos: Option<&'a str>,
    /// The case that it belongs to.
    pub run: &'a str,
    /// Number of CPUs requested or allocated.
    pub cpus: Option<i64>,
    /// The state in which it ended; `None` while it has not, and where its outcome is unknown.
    pub state: Option<&'a str>,
    /// When it ended or by when it had left the queue, in nanoseconds since 1970; `None` while it
    /// has not.
    pub ended_ns: Option<i64>,
    /// The parts of its time, in order and without gaps.
    pub parts: Vec<WaitPart<'a>>,
}

impl JobWait<'_> {
    /// Returns its time in the queue, in nanoseconds.
    pub fn queued_ns(&self) -> i64 {
        let parts = self.parts.iter().filter(|part| part.kind.is_queue());
        parts.fold(0, |sum, part| sum.saturating_add(part.len_ns()))
    }
}
