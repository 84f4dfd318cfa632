//! Comparison of Nextflow's own counts at the end of a run with the tasks in its log.
//!
//! `WorkflowStats[succeededCount=15; failedCount=2; ignoredCount=2; …]` appears near the end of the
//! log. The failed tasks include those that were retried or ignored; the oldest versions count
//! ignored tasks separately, and count tasks that they ended themselves as failed. Results of a
//! `storeDir` are not counted, nor are failures of operators that make tasks.
//!
//! If the totals agree and the outcomes differ, no row is missing, and the difference is a warning.
//! If Nextflow counted more tasks than the log describes, rows are missing unless another source
//! describes them; tasks that no source describes are an error (`Joined::missing`).

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};

use super::tasks::Task;
use crate::Row;

/// Number of tasks of a run by outcome.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    completed: usize,
    failed_or_aborted: usize,
    ignored: usize,
    retried: usize,
    cached: usize,
    /// Tasks without a known outcome: Nextflow can have counted them under any.
    open: usize,
}

/// Flags of a task that its row does not contain.
#[derive(Debug, Clone, Copy)]
pub struct Aside {
    stored: bool,
    ignored: bool,
    retried: bool,
    had_hash: bool,
}

impl Aside {
    /// Returns the flags of a task that its row does not contain.
    pub fn new(task: &Task) -> Self {
        Self { stored: task.stored, ignored: task.ignored, retried: task.retried, had_hash: task.row.cache_key.is_some() }
    }
}

impl Counts {
    /// Counts a task by its status and its flags.
    pub fn add(&mut self, aside: Aside, row: &Row) {
        match row.status.as_ref() {
            "completed" => self.completed += 1,
            "failed" | "aborted" => self.failed_or_aborted += usize::from(aside.had_hash),
            "cached" => self.cached += usize::from(!aside.stored),
            _ => self.open += 1,
        }
        self.ignored += usize::from(aside.ignored);
        self.retried += usize::from(aside.retried);
    }

    /// Reports differences from the engine's counts; returns the number of tasks that it counted in
    /// excess of those in the log.
    pub fn compare(&self, stats: &str, line: u64, diagnostics: &mut Diagnostics) -> usize {
        let told = |name: &str| count_of(stats, name);
        let failed = told("failedCount").map(|failed| failed.saturating_add(told("abortedCount").unwrap_or(0)));
        let apart = if told("pendingCount").is_none() { told("ignoredCount").unwrap_or(0) } else { 0 };
        let succeeded = told("succeededCount").or(told("succeedCount"));
        let all = [succeeded, failed, Some(apart), told("cachedCount")].into_iter().flatten().fold(0, usize::saturating_add);
        let failed = failed.filter(|failed| failed.saturating_add(apart) != self.failed_or_aborted);
        for (what, told, counted) in [
            ("succeeded", succeeded, self.completed),
            ("failed or were aborted", failed, self.failed_or_aborted),
            ("failed and were ignored", told("ignoredCount"), self.ignored),
            ("failed and were retried", told("retriesCount"), self.retried),
            ("were cached", told("cachedCount"), self.cached),
        ] {
            if let Some(told) = told.filter(|told| *told != counted) {
                let message = format!("by Nextflow's own count {told} tasks {what}, by the log's lines on each task {counted}");
                diagnostics.push(Diagnostic::warning("counts_differ", message).at(line, None));
            }
        }
        all.saturating_sub(self.completed + self.failed_or_aborted + self.cached + self.open)
    }
}

/// Returns the number under a name in `WorkflowStats[…]`.
pub fn count_of(stats: &str, name: &str) -> Option<usize> {
    stats.split([';', '[', ']']).find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ(counts: &Counts, stats: &str) -> Vec<String> {
        let mut diagnostics = Diagnostics::default();
        counts.compare(stats, 7, &mut diagnostics);
        diagnostics
            .iter()
            .map(|d| d.message.split(" tasks ").nth(1).unwrap_or_default().split(',').next().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn ignored_failures_are_counted_as_nextflow_does() {
        let counts = Counts { completed: 15, failed_or_aborted: 3, ignored: 2, retried: 1, cached: 4, open: 0 };
        let new = "succeededCount=15; failedCount=3; ignoredCount=2; cachedCount=4; pendingCount=0; retriesCount=1; abortedCount=0; succeedDuration=1s";
        assert_eq!(differ(&counts, new), Vec::<String>::new());
        let old = "succeedCount=15; failedCount=1; ignoredCount=2; cachedCount=4; succeedDuration=1s";
        assert_eq!(differ(&counts, old), Vec::<String>::new());
        assert_eq!(differ(&counts, &new.replace("ignoredCount=2", "ignoredCount=1")), ["failed and were ignored"]);
        assert_eq!(differ(&counts, &new.replace("failedCount=3", "failedCount=1")), ["failed or were aborted"]);
        assert_eq!(differ(&counts, &new.replace("retriesCount=1", "retriesCount=0")), ["failed and were retried"]);
        assert_eq!(differ(&counts, &new.replace("cachedCount=4", "cachedCount=40")), ["were cached"]);
        let missing = |counts: &Counts, stats: &str| counts.compare(stats, 7, &mut Diagnostics::default());
        assert_eq!((missing(&counts, new), missing(&counts, old)), (0, 0));
        assert_eq!(missing(&counts, &new.replace("cachedCount=4", "cachedCount=40")), 36);
        let taken_otherwise = new.replace("succeededCount=15", "succeededCount=14").replace("cachedCount=4", "cachedCount=5");
        assert_eq!(missing(&counts, &taken_otherwise), 0);
        assert_eq!(missing(&Counts { completed: 14, open: 1, ..counts }, new), 0);
    }
}
