//! Description of a log for the readers of a model: a log and its cases in, words and counts out.

use flowmine_activity_log::{ActivityLog, BytesFrom, Cases};
use flowmine_draw::text::{counted, visible, wrap_name};
use schemars::JsonSchema;
use serde::Serialize;

/// Description of the log of a model. Names are as in the log, not yet escaped for display.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct About {
    /// Word for an instance: `task`, `job`; `instance` if the log does not specify it.
    pub instance: String,
    /// Word for a case in the log; empty if the log does not specify it.
    pub case: String,
    /// Definition of the activity, if it is not the default.
    pub activity: String,
    /// Event that makes an instance ready: `submitted`, `scheduled`; `ready` if the log does not
    /// specify it.
    pub ready: String,
    /// Filters that have been applied to the log.
    pub filters: Vec<String>,
    /// Number of instances in the log.
    pub instances: u64,
    /// Number of cases, including those without instances.
    pub cases: u64,
    /// Missing and doubtful parts of the log, as sentences without full stops.
    pub notes: Vec<String>,
}

impl About {
    /// Returns the description of a log and its cases for figures and tables.
    pub fn new(log: &ActivityLog, cases: &Cases) -> Self {
        let words = &log.words;
        let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
        let case = if words.notion.is_empty() && !cases.kind.is_empty() {
            format!("an object of the type {}", cases.kind)
        } else {
            words.notion.clone()
        };
        Self {
            instance: or(&words.instance, "instance"),
            case,
            activity: words.activity.clone(),
            ready: or(&words.ready, "ready"),
            filters: words.filters.clone(),
            instances: log.len() as u64,
            cases: cases.len() as u64,
            notes: log.left_out.sentences(),
        }
    }

    /// Returns a number of instances with their word: `12 tasks`.
    pub fn counted(&self, n: u64) -> String {
        let one = self.word();
        counted(n, &one, &format!("{one}s"))
    }

    /// Returns the word for an instance, escaped for display and shortened to the length of a word.
    pub fn word(&self) -> String {
        let head: String = self.instance.chars().take(100).collect();
        wrap_name(&head, 11.0, 90.0, 1).concat()
    }

    /// Returns the sentences of every figure: definition of case and activity, filters, doubts.
    pub fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        if !self.case.is_empty() {
            facts.push(format!("A case is {}.", visible(&self.case)));
        }
        if !self.activity.is_empty() {
            facts.push(format!("The activity is {}.", visible(&self.activity)));
        }
        if !self.filters.is_empty() {
            facts.push(format!("Filtered: {}.", visible(&self.filters.join("; "))));
        }
        if !self.notes.is_empty() {
            facts.push(format!("In the log: {}.", self.notes.join("; ")));
        }
        facts
    }
}

/// Returns the origin of byte counts as a word for JSON and table columns.
pub fn origin(from: BytesFrom) -> &'static str {
    match from {
        BytesFrom::Nobody => "untold",
        BytesFrom::Trace => "trace",
        BytesFrom::Engine => "engine",
        BytesFrom::Accounting => "accounting",
        BytesFrom::Log => "log",
    }
}

/// Returns the origin of byte counts as a phrase: `bytes counted by …`.
pub fn origin_words(from: &str) -> &'static str {
    match from {
        "trace" => "flowmine's trace",
        "engine" => "the workflow engine",
        "accounting" => "Slurm's accounting",
        "log" => "the log's own account",
        _ => "unnamed",
    }
}

/// All origins, in the order in which they are shown.
pub(crate) const ORIGINS: [BytesFrom; 5] = [BytesFrom::Trace, BytesFrom::Engine, BytesFrom::Accounting, BytesFrom::Log, BytesFrom::Nobody];

/// Returns the origin of the byte counts of an instance.
pub(crate) fn bytes_from(log: &ActivityLog, instance: u32) -> BytesFrom {
    log.instances.bytes_from.get(instance as usize).copied().unwrap_or_default()
}

/// Returns the first and the last known moment of a case, submissions included; `None` if no time
/// is known.
pub fn span(log: &ActivityLog, cases: &Cases, case: usize) -> Option<(i64, i64)> {
    let mut found: Option<(i64, i64)> = None;
    for at in cases.of(case) {
        for time in [log.submitted_ns(at), log.start_ns(at), log.end_ns(at)].into_iter().flatten() {
            let (low, high) = found.unwrap_or((time, time));
            found = Some((low.min(time), high.max(time)));
        }
    }
    found
}
