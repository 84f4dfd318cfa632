//! What accounting reports of job attempts, as rows: each attempt when it is first reported and
//! whenever something about it is new.
//!
//! sacct is asked for a window that overlaps the one before, because a record can arrive late; an
//! attempt that was reported before and has not changed makes no row. Rows of accounting are facts,
//! not observed changes: `change` is `accounting`, and `submit_ns`, `start_ns` and `end_ns` hold
//! the true times.

use std::collections::BTreeMap;

use flowmine_dataset::{Builder, Rows};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::tables::change;
use flowmine_schema::text;
use flowmine_schema::time::SECOND_NS;
use flowmine_slurm::dependency;
use flowmine_slurm::state::State;
use sha2::{Digest, Sha256};

use crate::naming::Naming;
use crate::queue::{Changes, push_dependency};
use crate::record::JobRecord;

/// How far the window of one query reaches back into the one before.
pub const OVERLAP_NS: i64 = 600 * SECOND_NS;

flowmine_schema::table! {
    /// One job attempt that accounting has reported: an observer's memory, not part of the
    /// dataset's tables.
    pub struct KnownAttempt in ".state" {
        /// The job as in `job_states`.
        job: text(Number),
        /// Submit time of the attempt, UTC nanoseconds since 1970; with `job` it identifies the
        /// attempt.
        submit_ns: opt_i64,
        /// Digest of what was reported.
        digest: i64,
        /// When it ended, UTC nanoseconds since 1970; null while it has not.
        end_ns: opt_i64,
        /// Digest of the dependency that was reported; null when none was.
        dependency_digest: opt_i64,
    }
}

/// What was reported of one attempt.
#[derive(Debug, Clone, Copy)]
struct Known {
    digest: i64,
    end_ns: Option<i64>,
    dependency: Option<i64>,
}

/// What accounting has reported of one cluster.
#[derive(Debug, Default)]
pub struct Accounting {
    cluster: String,
    first_ns: Option<i64>,
    until_ns: Option<i64>,
    told: BTreeMap<(String, Option<i64>), Known>,
    changed: bool,
}

impl Accounting {
    /// Returns the memory of a cluster before its accounting is queried.
    pub fn new(cluster: impl Into<String>) -> Self {
        Self { cluster: cluster.into(), ..Self::default() }
    }

    /// From when on it was asked the first time.
    pub fn first_ns(&self) -> Option<i64> {
        self.first_ns
    }

    /// Until when it was asked.
    pub fn until_ns(&self) -> Option<i64> {
        self.until_ns
    }

    /// Whether there is something new to remember.
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// Begins a query: what changes from now on is to be remembered.
    pub fn begin(&mut self) {
        self.changed = false;
    }

    /// Returns the start of the window to query. `first_ns` is the start of the first query; it is
    /// kept, so that the window does not move while queries fail. `now_ns` is the time of the
    /// query.
    pub fn window_start_ns(&mut self, first_ns: i64, now_ns: i64) -> i64 {
        let first = *self.first_ns.get_or_insert(first_ns);
        self.until_ns.map_or(first, |until| until.min(now_ns) - OVERLAP_NS)
    }

    /// Takes one record in. What is remembered of earlier ones decides whether it makes a row.
    pub fn see(
        &mut self,
        record: &JobRecord<'_>,
        observed_at_ns: i64,
        source: &'static str,
        changes: &mut Changes,
        diagnostics: &mut Diagnostics,
    ) {
        let job = record.label();
        let mut row = record.to_row();
        row.cluster = self.cluster.as_str().into();
        row.change = change::ACCOUNTING.into();
        row.source = source.into();
        row.observed_at_ns = observed_at_ns;
        row.reported_ns = match &record.state {
            State::Pending => record.submit_ns,
            state if state.has_ended() => record.end_ns,
            _ => record.start_ns,
        };
        let digest = digest(record, &changes.naming);
        let ended = record.end_ns.filter(|_| record.state.has_ended());
        let submitted = record.submitted_dependency();
        let declared = submitted.as_ref().map(|(dependency, _)| dependency.as_str()).or(record.dependency.as_deref());
        let key = (job.clone(), record.submit_ns);
        let before = self.told.get(&key).copied();
        let known_dependency = before.and_then(|known| known.dependency);
        let dependency = declared.map(|text| digest_of_text(&changes.naming.text(text))).or(known_dependency);
        self.told.insert(key, Known { digest, end_ns: ended, dependency });
        if before.is_none_or(|known| known.digest != digest) {
            self.changed = true;
            changes.push_state(&row);
        }
        // One source has the dependency and another does not: whichever comes first, it is reported once.
        let Some(declared_text) = declared.filter(|_| dependency != known_dependency) else { return };
        self.changed = true;
        if submitted.as_ref().is_some_and(|(_, is_doubtful)| *is_doubtful) {
            let line = text::visible(record.submit_line.as_deref().unwrap_or_default());
            let message = format!(
                "job {job}: the quotes of {line:?} are lost; the dependency {:?} may be part of another option's value",
                text::visible(declared_text)
            );
            diagnostics.push(Diagnostic::warning("submit_line_doubtful", message));
        }
        match dependency::parse(declared_text) {
            Ok(expression) => {
                for (position, term) in expression.terms.iter().enumerate() {
                    push_dependency(changes, &self.cluster, &job, record, term, expression.operator, position, observed_at_ns, source);
                }
            }
            Err(at) => diagnostics.push(Diagnostic::warning(
                "submit_line_not_understood",
                format!(
                    "job {job}: dependency {:?} of the submit line is not understood at byte {}",
                    text::visible(declared_text),
                    at.0 + 1
                ),
            )),
        }
    }

    /// Ends a query that was answered whole; what ended before the next window begins is forgotten.
    pub fn finish(&mut self, until_ns: i64) {
        // Not the latest: one poll of a clock that was a year ahead must not end all questions.
        self.until_ns = Some(until_ns);
        let horizon = until_ns - 2 * OVERLAP_NS;
        // What never ends as far as accounting knows (a pending array's record, a lost job) is forgotten too, after a quarter of a year.
        let ancient = until_ns - 90 * 86_400 * SECOND_NS;
        let before = self.told.len();
        self.told.retain(|(_, submit), known| match known.end_ns {
            Some(end) => end >= horizon,
            None => submit.is_none_or(|submit| submit >= ancient),
        });
        self.changed |= before != self.told.len();
    }

    /// What must be remembered, as rows.
    pub fn remember(&self) -> Builder<KnownAttempt<'static>> {
        let mut rows = Builder::with_capacity(self.told.len());
        for ((job, submit_ns), known) in &self.told {
            rows.push(&KnownAttempt {
                job: job.as_str().into(),
                submit_ns: *submit_ns,
                digest: known.digest,
                end_ns: known.end_ns,
                dependency_digest: known.dependency,
                ..KnownAttempt::default()
            });
        }
        rows
    }

    /// Reads back what [`Accounting::remember`] wrote; without `rows`, no attempt is known.
    ///
    /// # Errors
    /// When the file is not what [`Accounting::remember`] wrote.
    pub fn recall(
        cluster: &str,
        first_ns: Option<i64>,
        until_ns: Option<i64>,
        rows: Option<&Rows<KnownAttempt<'static>>>,
    ) -> Result<Self, String> {
        let mut accounting = Self { first_ns, until_ns, ..Self::new(cluster) };
        let Some(rows) = rows else { return Ok(accounting) };
        for row in rows.iter() {
            let known = Known { digest: row.digest, end_ns: row.end_ns, dependency: row.dependency_digest };
            accounting.told.insert((row.job.into_owned(), row.submit_ns), known);
        }
        Ok(accounting)
    }
}

/// The first eight bytes of the SHA-256: it is kept on disk and must be the same for ever.
fn digest_of_text(text: &str) -> i64 {
    let bytes: [u8; 32] = Sha256::digest(text).into();
    i64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]])
}

/// What makes a record worth another row: its state, times, exit, counters, use, and what only some
/// sources report.
fn digest(record: &JobRecord<'_>, naming: &Naming) -> i64 {
    let times = (record.start_ns, record.end_ns);
    let exit = (record.exit_code, record.exit_signal, record.cancelled_by_uid);
    let bytes = (record.read_bytes, record.written_bytes);
    let told = (record.node_list.as_deref(), record.submit_line.as_deref(), record.command_line.as_deref());
    let used = (record.eligible_ns, record.max_rss_bytes, record.cpu_time_ns);
    // Absent where it is not known, so that digests of earlier versions stay what they were.
    let memory = record.step_memory_bytes.map(|bytes| format!(" {bytes}")).unwrap_or_default();
    let gpus = record.gpu_percent.map(|percent| format!(" {percent} {:?}", record.gpu_memory_bytes)).unwrap_or_default();
    // Without a key a digest confirms a right guess.
    digest_of_text(&naming.text(&format!("{} {times:?} {exit:?} {bytes:?} {told:?} {used:?}{memory}{gpus}", record.state.name())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_schema::tables::source::SACCT;
    use flowmine_slurm::job_ref::JobRef;

    const S: i64 = SECOND_NS;

    fn rows(accounting: &mut Accounting, record: &JobRecord<'_>) -> (usize, usize) {
        let mut changes = Changes::default();
        accounting.see(record, 1000 * S, SACCT, &mut changes, &mut Diagnostics::default());
        (changes.states.len(), changes.dependencies.len())
    }

    #[test]
    fn a_dependency_that_comes_later_is_told_all_the_same() {
        let mut accounting = Accounting::new("lab");
        let mut record = JobRecord::new(7, JobRef::Single, State::Completed);
        record.submit_ns = Some(900 * S);
        assert_eq!(rows(&mut accounting, &record), (1, 0));
        record.submit_line = Some("sbatch -d afterok:5 step.sh".into());
        assert_eq!(rows(&mut accounting, &record), (1, 1));
        record.submit_line = None;
        assert_eq!(rows(&mut accounting, &record), (1, 0));
    }

    #[test]
    fn a_dependency_of_a_submit_line_that_cannot_be_read_is_said() {
        let mut record = JobRecord::new(7, JobRef::Single, State::Completed);
        record.submit_ns = Some(900 * S);
        record.submit_line = Some("sbatch -d afterok:x step.sh".into());
        let mut diagnostics = Diagnostics::default();
        Accounting::new("lab").see(&record, 1000 * S, SACCT, &mut Changes::default(), &mut diagnostics);
        assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["submit_line_not_understood"]);
    }

    #[test]
    fn a_fact_is_told_once_and_again_when_it_changes() {
        let mut accounting = Accounting::new("lab");
        let mut record = JobRecord::new(7, JobRef::Single, State::Running);
        record.submit_ns = Some(900 * S);
        record.submit_line = Some("sbatch -d afterok:5:6 step.sh".into());
        assert_eq!(rows(&mut accounting, &record), (1, 2));
        assert_eq!(rows(&mut accounting, &record), (0, 0));
        record.state = State::Completed;
        record.end_ns = Some(990 * S);
        assert_eq!(rows(&mut accounting, &record), (1, 0));
        // Another attempt of the same id is another fact.
        record.submit_ns = Some(950 * S);
        assert_eq!(rows(&mut accounting, &record), (1, 2));
        accounting.finish(1000 * S);
        let remembered = accounting.remember().finish().unwrap();
        let mut accounting = Accounting::recall("lab", Some(0), Some(1000 * S), Some(&remembered)).unwrap();
        assert_eq!(rows(&mut accounting, &record), (0, 0));
        assert_eq!(accounting.window_start_ns(0, 1060 * S), 400 * S);
        assert_eq!(accounting.window_start_ns(0, 700 * S), 100 * S, "the clock was set back");
        accounting.finish(9000 * S);
        assert_eq!(accounting.remember().len(), 0, "long ended attempts are forgotten");
    }
}
