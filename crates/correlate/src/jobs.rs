//! Everything known about jobs, in memory: attempts, events, submissions, dependencies.
//!
//! In goes a dataset; its tables `job_states` and `job_dependencies` are read file by file with
//! only the columns that are needed. Texts are kept once ([`Strings`]), so that five million events
//! of 1.7 million attempts take about two gigabytes at the peak, while the rows are merged.

use flowmine_dataset::Dataset;
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::text::ids::escape;
use flowmine_schema::time::SECOND_NS;
use flowmine_spill::{put_ordered, put_ordered_text};
use rustc_hash::FxHashMap;

use crate::CorrelateError;
use crate::attempts::{Before, Fact, Folder, JobAttempt, JobRow, Seen, UNKNOWN_ACTIVITY, Value};
use crate::clocks::Clocks;
use crate::dependencies::{self, Dependencies, DependencyRow};
use crate::events::{self, AttemptFacts, Context, Event, Timestamp};
use crate::memory;
use crate::packed_int::PackedInt;
use crate::row_rules::RowRules;
use crate::state::{self, CHANGED, ELIGIBLE, HELD, LEFT, PENDING, Phase, RELEASED, REQUEUED, RUNNING};
use crate::strings::{Strings, StringsBuilder, Sym};
use crate::submissions::{self, Submission};

/// The jobs of a dataset.
#[derive(Debug, Clone, Default)]
pub struct Jobs {
    /// The texts to which the numbers ([`Sym`]) in attempts, events and terms refer.
    pub strings: Strings,
    /// All attempts in the order of submission: submit time, cluster, raw job id, job, attempt.
    pub attempts: Vec<JobAttempt>,
    /// All events by attempt, in the order in which they happened to it.
    pub events: Vec<Event>,
    /// What changed was before, for the events that have [`Event::before`].
    pub before: Vec<Vec<Before>>,
    /// All submissions by first submit time, cluster and id.
    pub submissions: Vec<Submission>,
    /// The dependencies between submissions.
    pub dependencies: Dependencies,
    /// The first event of the record of an array's pending tasks, by submission. The record has no
    /// events in the log next to those tasks, which waited as it did.
    pub(crate) records: FxHashMap<u32, Event>,
    /// What was odd in the rows that were read.
    pub diagnostics: Diagnostics,
}

impl Jobs {
    /// Reads the jobs of a dataset whole into memory.
    ///
    /// # Errors
    /// When a file cannot be read, or there are more than four thousand million attempts or events.
    pub fn read(dataset: &Dataset, timestamp: Timestamp) -> Result<Self, CorrelateError> {
        Self::read_with(dataset, timestamp, &RowRules::default())
    }

    /// Reads a dataset with rules that change each row before anything is derived from it.
    ///
    /// # Errors
    /// As [`Jobs::read`].
    pub fn read_with(dataset: &Dataset, timestamp: Timestamp, rules: &RowRules) -> Result<Self, CorrelateError> {
        let clocks = Clocks::read(dataset)?;
        let mut builder = JobsBuilder::default();
        dataset.read::<JobRow<'static>, CorrelateError>(|row| {
            builder.push_state(&rules.apply(clocks.job_row(row)));
            Ok(())
        })?;
        dataset.read::<DependencyRow<'static>, CorrelateError>(|row| {
            builder.push_dependency(&rules.apply(clocks.dependency_row(row)));
            Ok(())
        })?;
        builder.finish(timestamp)
    }

    /// Returns the text of a symbol.
    pub fn text(&self, sym: Sym) -> &str {
        self.strings.get(sym)
    }

    /// The text of a number, if there is one.
    pub fn text_of(&self, sym: Option<Sym>) -> Option<&str> {
        sym.map(|sym| self.strings.get(sym))
    }

    /// The attempt that an event is of.
    pub fn attempt_of(&self, event: &Event) -> &JobAttempt {
        &self.attempts[event.attempt as usize]
    }

    /// The events of an attempt.
    pub fn events_of(&self, attempt: &JobAttempt) -> &[Event] {
        &self.events[attempt.events.0 as usize..attempt.events.1 as usize]
    }

    /// What a column had been at one of an attempt's events (the n-th), where it became another
    /// later; nothing where the attempt's own value holds.
    pub fn value_at(&self, attempt: &JobAttempt, number: usize, column: &str) -> Option<Value> {
        let later = self.events_of(attempt).get(number + 1..)?;
        let before = later.iter().filter_map(|event| self.before.get(event.before? as usize)).flatten();
        before.into_iter().find(|before| before.column == column).map(|before| before.value)
    }

    /// Whether something of an attempt changed while its state did not, so that [`Jobs::value_at`]
    /// is worth asking.
    pub fn has_changes(&self, attempt: &JobAttempt) -> bool {
        !self.before.is_empty() && self.events_of(attempt).iter().any(|event| event.before.is_some())
    }

    /// Returns whether the attempt is only the record of an array's pending tasks, while other
    /// tasks of the array were seen. Such a record is no job and has no events. If no task of an
    /// array was seen, its record represents the array.
    pub fn is_array_record(&self, attempt: &JobAttempt) -> bool {
        is_array_record(attempt, &self.submissions, &self.strings)
    }

    /// A name for an attempt that no other attempt has: `lab:8_3@1795179770`, with the submit time
    /// in seconds (`?` when it is not known) and `#2` for a second attempt with the same submit
    /// time.
    pub fn attempt_id(&self, attempt: &JobAttempt) -> String {
        let mut id = attempt_name(self.text(attempt.cluster), self.text(attempt.job), attempt.submit_ns.get());
        if attempt.copy > 1 {
            id.push_str(&format!("#{}", attempt.copy));
        }
        id
    }

    /// Appends to a key for sorting what puts attempts in the order of submission, that of
    /// [`Jobs::attempts`], across parts ([`crate::parts`]).
    pub fn put_order(&self, attempt: &JobAttempt, key: &mut Vec<u8>) {
        put_ordered(attempt.since_ns, key);
        put_ordered_text(self.text(attempt.cluster), key);
        put_ordered(attempt.job_id, key);
        put_ordered_text(self.text(attempt.job), key);
        put_ordered(i64::from(attempt.number), key);
        put_ordered(i64::from(attempt.copy), key);
    }

    /// How a submission is called: the label of its job, `8_*` for an array, `18+0` for a
    /// heterogeneous job.
    pub fn label(&self, submission: u32) -> String {
        let submission = &self.submissions[submission as usize];
        let label = self.text(self.attempts[submission.first_attempt as usize].job);
        flowmine_slurm::job_ref::name_of_whole(submission.id, label)
    }
}

/// What [`Jobs::attempt_id`] calls the first attempt with this submit time.
pub fn attempt_name(cluster: &str, job: &str, submit_ns: Option<i64>) -> String {
    let mut id = String::new();
    escape(cluster, &mut id);
    id.push(':');
    let mut label = String::new();
    escape(job, &mut label);
    id.push_str(&label.replace('@', "%40"));
    id.push('@');
    match submit_ns {
        None => id.push('?'),
        Some(ns) => put_seconds(ns, &mut id),
    }
    id
}

/// Appends a time as seconds since 1970, with nine digits after the dot where it is not whole.
pub fn put_seconds(ns: i64, id: &mut String) {
    let (seconds, rest) = (ns.div_euclid(SECOND_NS), ns.rem_euclid(SECOND_NS));
    id.push_str(&seconds.to_string());
    if rest != 0 {
        id.push_str(&format!(".{rest:09}"));
    }
}

/// Takes rows; those of one job in the order of writing, those of different jobs in any.
#[derive(Debug, Default)]
pub struct JobsBuilder {
    strings: StringsBuilder,
    attempts: Folder,
    dependencies: dependencies::Folder,
}

impl JobsBuilder {
    /// Takes a row of `job_states`.
    pub fn push_state(&mut self, row: &JobRow<'_>) {
        self.attempts.push(row, &mut self.strings);
    }

    /// Takes a row of `job_dependencies`.
    pub fn push_dependency(&mut self, row: &DependencyRow<'_>) {
        self.dependencies.push(row, &mut self.strings);
    }

    /// Makes attempts, events, submissions and dependencies of the rows taken.
    ///
    /// # Errors
    /// When there is more than 32 bits can count.
    pub fn finish(mut self, timestamp: Timestamp) -> Result<Jobs, CorrelateError> {
        let words = [PENDING, RUNNING, LEFT, REQUEUED, UNKNOWN_ACTIVITY, ELIGIBLE, HELD, RELEASED, CHANGED];
        let words = words.map(|word| self.strings.intern(word));
        let (strings, renumbering) = self.strings.finish();
        let [pending, running, left, requeued, unknown, eligible, held, released, changed] = words.map(|mut sym| {
            renumbering.apply(&mut sym);
            sym
        });
        let mut folder = self.attempts;
        folder.renumber(&renumbering);
        self.dependencies.renumber(&renumbering);
        drop(renumbering);
        folder.assign_copies();
        let Folder { slots, mut seen, mut facts, before, former, .. } = folder;
        // Six events are added at most for each attempt.
        if u32::try_from(seen.len() + 6 * slots.len() + 1).is_err() {
            return Err(CorrelateError::TooMany { what: "events" });
        }
        seen.sort_by_key(|s| s.slot);
        facts.sort_by_key(|f| f.slot);

        let context = Context { strings: &strings, pending, running, left, eligible, held, released, changed, timestamp };
        let mut events: Vec<Event> = Vec::with_capacity(seen.len() + facts.len());
        let (mut seen, mut facts) = (&seen[..], &facts[..]);
        let mut attempts: Vec<JobAttempt> = Vec::with_capacity(slots.len());
        for (at, slot) in slots.into_iter().enumerate() {
            let at = at as u32;
            let of_seen = take(&mut seen, |s: &Seen| s.slot == at);
            let of_facts = take(&mut facts, |f: &Fact| f.slot == at);
            let mut attempt = slot.attempt;
            attempt.activity = slot.engine_activity.or(slot.activity).or(attempt.name).unwrap_or(unknown);
            let ran =
                attempt.start_ns.get().zip(attempt.end_ns.get()).is_some_and(|(start, end)| start < end) && attempt.node_list.is_some();
            let first = events.len() as u32;
            let of = AttemptFacts { attempt: at, submit_ns: attempt.submit_ns, is_first: attempt.copy == 1, ran };
            let outcome = events::merge(of, of_seen, of_facts, &context, &mut events);
            attempt.events = (first, events.len() as u32);
            attempt.final_state = outcome.final_state;
            attempt.ended_ns = outcome.ended_ns;
            attempt.left_ns = outcome.left_ns;
            attempt.ran = outcome.ran;
            attempt.start_ns = if outcome.ran { outcome.start_ns.or(attempt.start_ns) } else { PackedInt::UNKNOWN };
            attempt.end_ns = outcome.end_ns.or(attempt.end_ns);
            (attempt.job_memory_bytes, attempt.job_peak_bytes) = (memory::of_job(&attempt, &strings), memory::peak(&attempt));
            attempts.push(attempt);
        }

        let mut submissions = submissions::find(&mut attempts, &strings);
        let former = former_names(&attempts, &former);
        let records = records(&attempts, &events, &submissions, &strings);
        let (attempts, events) = in_order_of_submission(attempts, &events, [left, requeued], &submissions, &strings, timestamp);
        for (at, attempt) in attempts.iter().enumerate().rev() {
            submissions[attempt.submission as usize].first_attempt = at as u32;
        }
        let mut diagnostics = Diagnostics::default();
        let dependencies = self.dependencies.resolve(&attempts, &submissions, &former, &strings, &mut diagnostics);
        Ok(Jobs { strings, attempts, events, before, submissions, dependencies, records, diagnostics })
    }
}

/// The names that submissions had before others, and those of their attempts and tasks, in the
/// order of the submissions, each once.
fn former_names(attempts: &[JobAttempt], former: &[(u32, Sym)]) -> Vec<(u32, Sym)> {
    let mut names: Vec<(u32, Sym)> = former.iter().map(|&(at, name)| (attempts[at as usize].submission, name)).collect();
    let mut first: FxHashMap<u32, Sym> = FxHashMap::default();
    for (submission, name) in attempts.iter().filter_map(|attempt| Some((attempt.submission, attempt.name?))) {
        let first = *first.entry(submission).or_insert(name);
        if name != first {
            names.extend([(submission, first), (submission, name)]);
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// How the records of arrays that have tasks were first seen, by submission.
fn records(attempts: &[JobAttempt], events: &[Event], submissions: &[Submission], strings: &Strings) -> FxHashMap<u32, Event> {
    let records = attempts.iter().filter(|attempt| is_array_record(attempt, submissions, strings));
    let first = |record: &JobAttempt| {
        let mut of = events[record.events.0 as usize..record.events.1 as usize].iter();
        of.find(|event| event.polled && state::phase(strings.get(event.state)) == Phase::Waiting).copied()
    };
    records.filter_map(|record| Some((record.submission, first(record)?))).collect()
}

fn is_array_record(attempt: &JobAttempt, submissions: &[Submission], strings: &Strings) -> bool {
    attempt.is_pending_array(strings) && submissions[attempt.submission as usize].jobs > 1
}

fn take<'a, T>(from: &mut &'a [T], belongs: impl Fn(&T) -> bool) -> &'a [T] {
    let count = from.iter().take_while(|item| belongs(item)).count();
    let (taken, rest) = from.split_at(count);
    *from = rest;
    taken
}

fn in_order_of_submission(
    attempts: Vec<JobAttempt>,
    events: &[Event],
    [left, requeued]: [Sym; 2],
    submissions: &[Submission],
    strings: &Strings,
    timestamp: Timestamp,
) -> (Vec<JobAttempt>, Vec<Event>) {
    let mut order: Vec<u32> = (0..attempts.len() as u32).collect();
    order.sort_unstable_by_key(|&at| {
        let a = &attempts[at as usize];
        (a.since_ns, a.cluster, a.job_id, a.job, a.number, a.copy)
    });
    // The first event of the attempt after it.
    let mut next_of: FxHashMap<(u32, Sym, u32), Event> = FxHashMap::default();
    for next in attempts.iter().filter(|next| next.number > 1 && next.events.0 < next.events.1) {
        next_of.insert((next.submission, next.job, next.number - 1), events[next.events.0 as usize]);
    }
    // What changed of tasks while they waited in their array's record.
    let mut of_records: FxHashMap<u32, Vec<Event>> = FxHashMap::default();
    for record in attempts.iter().filter(|attempt| is_array_record(attempt, submissions, strings)) {
        let of = &events[record.events.0 as usize..record.events.1 as usize];
        let changes = of.iter().filter(|event| event.polled && state::keeps_state(strings.get(event.state)));
        of_records.entry(record.submission).or_default().extend(changes);
    }
    let mut new_events = Vec::with_capacity(events.len());
    let mut new_attempts = Vec::with_capacity(attempts.len());
    let mut taken: Vec<Option<JobAttempt>> = attempts.into_iter().map(Some).collect();
    for old in order {
        let Some(mut attempt) = taken[old as usize].take() else { continue };
        let first = new_events.len() as u32;
        let is_record = is_array_record(&attempt, submissions, strings);
        let next = next_of.get(&(attempt.submission, attempt.job, attempt.number));
        let next = next.filter(|_| attempt.final_state.is_none() && !attempt.is_pending_array(strings));
        let of = events[attempt.events.0 as usize..attempt.events.1 as usize].iter();
        let at = new_attempts.len() as u32;
        let is_one = |e: &&Event| !is_record && (next.is_none() || e.state != left);
        new_events.extend(of.filter(is_one).map(|e| Event { attempt: at, ..*e }));
        if let Some(changes) =
            of_records.get(&attempt.submission).filter(|changes| !changes.is_empty() && !is_record && attempt.number == 1)
        {
            let mut own = new_events.split_off(first as usize);
            let seen = own.iter().filter(|event| event.polled).map(|event| event.observed_at_ns).min().unwrap_or(i64::MIN);
            for change in changes.iter().filter(|change| change.observed_at_ns < seen) {
                // What a value was before stands with the record.
                events::insert_change(&mut own, Event { attempt: at, before: None, ..*change }, timestamp);
            }
            new_events.append(&mut own);
        }
        if let Some(next) = next {
            let end = events::requeued(at, new_events[first as usize..].last(), next, requeued);
            attempt.final_state = Some(requeued);
            attempt.ended_ns = PackedInt::known(end.time_ns);
            new_events.push(end);
        }
        attempt.events = (first, new_events.len() as u32);
        new_attempts.push(attempt);
    }
    (new_attempts, new_events)
}
