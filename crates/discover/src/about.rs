//! What a log is, for those who see only a model of it: a log and its cases in, words and counts
//! out.

use flowmine_activity_log::{ActivityLog, BytesFrom, Cases};
use flowmine_draw::text::{counted, visible, wrap_name};
use schemars::JsonSchema;
use serde::Serialize;

/// What a model is of. Names in it are as the log has them, not yet fit to be seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct About {
    /// What an instance is: `task`, `job`; `instance` when the log does not say.
    pub instance: String,
    /// What a case is, in the log's words; empty when it does not say.
    pub case: String,
    /// What the activity is, when it is not the usual.
    pub activity: String,
    /// What makes an instance ready: `submitted`, `scheduled`; `ready` when the log does not say.
    pub ready: String,
    /// Filters that were applied before.
    pub filters: Vec<String>,
    /// Number of instances in the log.
    pub instances: u64,
    /// How many cases there are, those without instances included.
    pub cases: u64,
    /// What is lost or doubtful in the log, in sentences without full stops.
    pub notes: Vec<String>,
}

impl About {
    /// What a picture or a table says about a log and its cases in words.
    pub fn of(log: &ActivityLog, cases: &Cases) -> Self {
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

    /// A number of instances with their word: `12 tasks`.
    pub fn counted(&self, n: u64) -> String {
        let one = self.word();
        counted(n, &one, &format!("{one}s"))
    }

    /// The word for an instance, fit to be seen and as short as words are.
    pub fn word(&self) -> String {
        let head: String = self.instance.chars().take(100).collect();
        wrap_name(&head, 11.0, 90.0, 1).concat()
    }

    /// What every picture says: what a case is, what the activity is, filters, doubts.
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

/// Who counted bytes, in a word for JSON and columns of tables.
pub fn origin(from: BytesFrom) -> &'static str {
    match from {
        BytesFrom::Nobody => "untold",
        BytesFrom::Trace => "trace",
        BytesFrom::Engine => "engine",
        BytesFrom::Accounting => "accounting",
        BytesFrom::Log => "log",
    }
}

/// Who counted bytes, in a sentence: `bytes counted by …`.
pub fn origin_words(from: &str) -> &'static str {
    match from {
        "trace" => "flowmine's trace",
        "engine" => "the workflow engine",
        "accounting" => "Slurm's accounting",
        "log" => "the log's own account",
        _ => "nobody who is named",
    }
}

/// All origins, in the order in which they are shown.
pub(crate) const ORIGINS: [BytesFrom; 5] = [BytesFrom::Trace, BytesFrom::Engine, BytesFrom::Accounting, BytesFrom::Log, BytesFrom::Nobody];

/// Who counted the bytes of an instance.
pub(crate) fn bytes_from(log: &ActivityLog, instance: u32) -> BytesFrom {
    log.instances.bytes_from.get(instance as usize).copied().unwrap_or_default()
}

/// The first and the last known moment of a case, submissions included; `None` when no time is
/// known.
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
