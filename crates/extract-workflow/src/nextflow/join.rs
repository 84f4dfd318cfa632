//! Merges logs, trace files, reports and work directories: the records of one attempt become one
//! row.
//!
//! The key is the hash; where only its beginning is known, number and name are compared as well.
//! The cached tasks of a resumed run have the hashes of the earlier run. A trace file therefore
//! belongs to the run that executed the tasks that the file lists as executed, and a work directory
//! to the run that executed its task.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::NaiveDateTime;
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::time::{SECOND_NS, rfc3339};

use super::clock::Resolved;
use super::history::{self, Launch};
use super::names::{MOST_OF_A_HASH, can_be_same, differ_by_number, names_agree, shown, surely_same};
use super::report::Report;
use super::status::Run;
use super::trace::{Record, Written};
use crate::{Options, Row};

/// A run known from a log, a report or the history.
#[derive(Debug, Default)]
struct KnownRun {
    id: Option<String>,
    name: Option<String>,
    clock: Option<Resolved>,
    trace_file: Option<String>,
    graph_file: Option<String>,
    has_log: bool,
    /// Index of the source with the run's log.
    log: Option<usize>,
    /// Whether the log begins with its session: no task was submitted before.
    has_begin: bool,
    /// Whether only a trace file describes the run.
    of_trace: bool,
    /// Tasks that the log does not describe, and the number of rows that it does.
    missing: Option<(Missing, usize)>,
}

/// Tasks that Nextflow counted and no source describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// Index of the source with the log.
    pub source: usize,
    /// Line of Nextflow's counts in the log.
    pub line: u64,
    /// Number of these tasks.
    pub tasks: usize,
}

/// The rows of all sources read so far.
#[derive(Default)]
pub struct Joined {
    rows: Vec<Row>,
    /// For each row the known part of its hash.
    hashes: Vec<Option<String>>,
    /// For each row the index of its run in `runs`.
    run_of: Vec<Option<usize>>,
    runs: Vec<KnownRun>,
    launches: Vec<Launch>,
    /// Names given to runs that only a trace file describes, each with the last number appended.
    of_traces: HashMap<String, usize>,
    /// Indices of rows by the displayed hash and by run, at most [`MOST_OF_A_HASH`] for each.
    by_key: HashMap<String, BTreeMap<Option<usize>, Vec<usize>>>,
    /// Number of times a source added to a row.
    pub filled: u64,
    /// Number of rows of the last source that are not in `by_key`, because it is full.
    crowded: u64,
}

impl Joined {
    /// Adds the runs of a history; returns the number of rows, which is 0.
    pub fn add_history(&mut self, launches: Vec<Launch>) -> u64 {
        self.launches.extend(launches);
        self.launches.dedup();
        0
    }

    /// Adds a run from a log with its rows; `source` is the index of the log.
    pub fn add_run(&mut self, run: Run, source: usize, diagnostics: &mut Diagnostics) -> u64 {
        let is_its = |known: &KnownRun| known.log == Some(source) && run.id.is_some() && known.id == run.id && known.name == run.name;
        if let Some(number) = self.runs.iter().position(is_its) {
            return self.add_run_again(run, number, source, diagnostics);
        }
        let (number, told) = (self.runs.len(), run.rows.len() as u64);
        self.runs.push(KnownRun {
            has_begin: run.id.is_some() || run.name.is_some(),
            id: run.id,
            name: run.name,
            clock: run.clock,
            trace_file: run.trace_file,
            graph_file: run.graph_file,
            has_log: true,
            log: Some(source),
            of_trace: false,
            missing: run.missing.map(|(tasks, line)| (Missing { source, line, tasks }, run.rows.len())),
        });
        for (row, hash) in run.rows.into_iter().zip(run.hashes) {
            self.push(row, hash, Some(number));
        }
        told
    }

    /// Adds a run that its log contains once more: attempts with the same hash, native id and times
    /// are the same. Returns the number of rows that are new.
    fn add_run_again(&mut self, run: Run, number: usize, source: usize, diagnostics: &mut Diagnostics) -> u64 {
        let (mut joined, mut added, mut twice) = (HashSet::new(), 0, Twice::default());
        for (row, hash) in run.rows.into_iter().zip(run.hashes) {
            let same = self.same_task(hash.as_deref(), &row, Some(number));
            match same.into_iter().find(|at| is_same_attempt(&self.rows[*at], &row) && joined.insert(*at)) {
                Some(at) => {
                    twice.count(&row);
                    fill(&mut self.rows[at], row, diagnostics);
                }
                None => {
                    joined.insert(self.rows.len());
                    self.push(row, hash, Some(number));
                    added += 1;
                }
            }
        }
        let known = &mut self.runs[number];
        known.missing = known.missing.take().or(run.missing.map(|(tasks, line)| (Missing { source, line, tasks }, added as usize)));
        twice.say(diagnostics);
        added
    }

    fn push(&mut self, row: Row, hash: Option<String>, run: Option<usize>) {
        if let Some(hash) = &hash {
            let same_key = self.by_key.entry(shown(hash).to_owned()).or_default().entry(run).or_default();
            if same_key.len() < MOST_OF_A_HASH {
                same_key.push(self.rows.len());
            } else {
                self.crowded += 1;
            }
        }
        self.rows.push(row);
        self.hashes.push(hash);
        self.run_of.push(run);
    }

    /// Reports the number of rows of the last source beyond the maximum number of rows per hash.
    pub fn say_crowded(&mut self, diagnostics: &mut Diagnostics) {
        let count = std::mem::take(&mut self.crowded);
        if count > 0 {
            let message = format!(
                "more than {MOST_OF_A_HASH} tasks of a run share a hash as Nextflow shows it: it is not looked for more where something else is \
                 told of this hash, and what is told of the others can be rows of its own"
            );
            diagnostics.push(Diagnostic { count, ..Diagnostic::warning("hash_crowded", message) });
        }
    }

    /// Returns the rows of one run, or of all, that can be of the same task by hash, number and
    /// name; certain ones come first. Number and name are unique only within a run, so they are
    /// compared only within it, and not where the whole hash is known.
    fn same_task(&self, hash: Option<&str>, row: &Row, of_run: Option<usize>) -> Vec<usize> {
        let Some((hash, by_run)) = hash.and_then(|hash| Some((hash, self.by_key.get(shown(hash))?))) else { return Vec::new() };
        let same_key: Vec<usize> = match of_run {
            Some(_) => by_run.get(&of_run).cloned().unwrap_or_default(),
            None => by_run.values().flatten().copied().collect(),
        };
        let surely = |at: usize| self.hashes[at].as_deref().is_some_and(|known| surely_same(known, hash));
        let can_be = |at: usize| {
            let known = &self.rows[at];
            let same_id = known.task_id.as_deref().zip(row.task_id.as_deref()).is_none_or(|(known, told)| known == told);
            // A cached task has another number in the run that executed it. Where the number is the
            // tag, the name differs, too: `p (1)` was `p (2)`.
            let renumbered = known.cached && differ_by_number(&known.name, &row.name);
            let same_name = row.name.is_empty() || names_agree(&known.name, &row.name) || renumbered;
            same_name && (same_id || known.cached != row.cached) && self.hashes[at].as_deref().is_some_and(|known| can_be_same(known, hash))
        };
        let mut found: Vec<usize> = same_key.into_iter().filter(|at| surely(*at) || can_be(*at)).collect();
        let agrees = |at: usize| names_agree(&self.rows[at].name, &row.name);
        found.sort_by_key(|at| (!surely(*at), !agrees(*at), *at));
        found
    }

    /// Returns the run of a trace file: the one with most of its executed tasks, since only one run
    /// executes a task, or with most of its cached tasks where it lists no others. Between equal
    /// runs the file name in the log decides; without one the file belongs to none of them.
    fn run_of_trace(&self, name: &str, records: &[Record]) -> Option<usize> {
        let mut agree = vec![(0, 0); self.runs.len()];
        for record in records {
            let runs: HashSet<usize> = self
                .same_task(record.hash(), &record.row, None)
                .into_iter()
                .filter(|at| self.rows[*at].cached == record.row.cached)
                .filter_map(|at| self.run_of[at])
                .collect();
            for run in runs {
                if record.row.cached {
                    agree[run].1 += 1;
                } else {
                    agree[run].0 += 1;
                }
            }
        }
        let has_executed = records.iter().any(|record| !record.row.cached && record.hash().is_some());
        let score = |run: usize| (agree[run], self.runs[run].trace_file.as_deref() == Some(name));
        // Every resumed run has the cached tasks: by these alone, two trace files without a log are
        // two runs.
        let agrees = |run: &usize| if has_executed { agree[*run].0 > 0 } else { agree[*run].1 > 0 && !self.runs[*run].of_trace };
        let best = (0..agree.len()).filter(agrees).max_by_key(|run| score(*run))?;
        let mut equal = (0..agree.len()).filter(|run| score(*run) == score(best));
        // A log under two names describes the same run.
        let same_run = |a: usize, b: usize| (&self.runs[a].id, &self.runs[a].name) == (&self.runs[b].id, &self.runs[b].name);
        let first = equal.next()?;
        equal.all(|other| same_run(first, other)).then_some(first)
    }

    /// Returns the run in the history that was active when the tasks of a trace file ran, where no
    /// log or report contains them.
    fn launched(&mut self, records: &[Record]) -> Option<usize> {
        let executed = records.iter().filter(|record| !record.row.cached);
        let local: Vec<NaiveDateTime> = executed.filter_map(|record| record.local()).collect();
        let launch = history::run_of(&self.launches, *local.iter().min()?, *local.iter().max()?)?;
        let (id, name) = (Some(launch.run_id.clone()), Some(launch.run_name.clone()));
        let known = self.runs.iter().position(|run| run.id == id && run.name == name);
        match known {
            // The log of this run does not contain these tasks.
            Some(at) if self.runs[at].has_log => None,
            Some(at) => Some(at),
            None => {
                self.runs.push(KnownRun { id, name, ..KnownRun::default() });
                Some(self.runs.len() - 1)
            }
        }
    }

    /// Returns the zone of a trace file, derived from a task with a submission time in UTC from
    /// another source.
    fn clock_by_pairs(&self, records: &[Record], run: usize) -> Option<Resolved> {
        records.iter().filter(|record| !record.row.cached).find_map(|record| {
            let Some(Written::Local(local)) = record.submit else { return None };
            let same = self.same_task(record.hash(), &record.row, Some(run)).into_iter().next()?;
            // The times of another trace file can be in an assumed zone.
            let is_exact = self.rows[same].submitted_precision_ns.is_some_and(|precision| precision < SECOND_NS);
            Resolved::by_pair(local, self.rows[same].submitted_ns.filter(|_| is_exact)?)
        })
    }

    /// Adds a run for a trace file that belongs to no known run. Its name is the file name with the
    /// first time of an executed task, as written in the file, because the trace files of many runs
    /// have the same name. Times of cached tasks belong to earlier runs.
    fn run_of_its_own(&mut self, file: &str, records: &[Record]) -> usize {
        let executed = || records.iter().filter(|record| !record.row.cached);
        let local = executed().filter_map(Record::local).min().map(|local| local.to_string());
        let begun = local.or_else(|| executed().filter_map(Record::utc).min().map(rfc3339));
        let name = begun.map_or_else(|| file.to_owned(), |begun| format!("{file} {begun}"));
        let name = self.free_name(name);
        self.runs.push(KnownRun { name: Some(name), of_trace: true, ..KnownRun::default() });
        self.runs.len() - 1
    }

    /// Returns the name, with a number appended if the run of another trace file has it.
    fn free_name(&mut self, name: String) -> String {
        let mut free = name.clone();
        while self.of_traces.contains_key(&free) {
            let used = self.of_traces.entry(name.clone()).or_insert(1);
            *used += 1;
            free = format!("{name} ({used})");
        }
        self.of_traces.insert(free.clone(), 1);
        free
    }

    /// Adds a trace file; returns the number of rows that it was the first to describe.
    pub fn add_trace(&mut self, name: &str, records: Vec<Record>, options: &Options, diagnostics: &mut Diagnostics) -> u64 {
        let run = self.run_of_trace(name, &records).or_else(|| self.launched(&records));
        let clock = run.and_then(|run| self.runs[run].clock.or_else(|| self.clock_by_pairs(&records, run)));
        if clock.is_none() && options.zone_offset_s.is_none() && records.iter().any(|record| !record.row.cached && record.needs_zone()) {
            let message = "the trace file does not contain its zone; its times are interpreted as UTC and can be wrong by up to 14 hours, all by the same amount";
            let advice = "import it together with the run's .nextflow.log, or give the zone with --zone, as in --zone=+01:00";
            diagnostics.push(Diagnostic::warning("no_zone", message).advise(advice));
        }
        // Task numbers are unique within a run, so a file that fits no known run becomes a run of
        // its own.
        let run = run.unwrap_or_else(|| self.run_of_its_own(name, &records));
        self.add_records(records, run, &clock.unwrap_or_else(|| Resolved::without_log(options)), diagnostics)
    }

    /// Adds a report, which names its run and has times in UTC; returns the number of rows that it
    /// was the first to describe.
    pub fn add_report(&mut self, report: Report, diagnostics: &mut Diagnostics) -> u64 {
        let is_its = |run: &KnownRun| run.id == report.run_id && run.name == report.run_name;
        let run = self.runs.iter().position(is_its).unwrap_or(self.runs.len());
        if run == self.runs.len() {
            self.runs.push(KnownRun { id: report.run_id, name: report.run_name, ..KnownRun::default() });
        }
        self.add_records(report.records, run, &Resolved::without_log(&Options::default()), diagnostics)
    }

    fn add_records(&mut self, records: Vec<Record>, run: usize, clock: &Resolved, diagnostics: &mut Diagnostics) -> u64 {
        let mut added = 0;
        // Each row of a file is a separate task.
        let mut joined: HashSet<usize> = HashSet::new();
        let (mut told, mut twice) = (HashSet::new(), Twice::default());
        for record in records {
            let hash = record.hash().map(str::to_owned);
            if record.key().is_some_and(|key| !told.insert(key)) {
                twice.count(&record.row);
                continue;
            }
            let mut row = record.finish(clock);
            if row.cached {
                forget_earlier_run(&mut row);
            }
            let line = row.line;
            let same = self.same_task(hash.as_deref(), &row, Some(run));
            let known = same.into_iter().find(|at| self.rows[*at].cached == row.cached && joined.insert(*at));
            if let Some(at) = known {
                self.filled += 1;
                fill(&mut self.rows[at], row, diagnostics);
                continue;
            }
            if row.name.is_empty() {
                let message = "neither name nor process of this task is given, and no log has its hash";
                diagnostics.push(Diagnostic::error("task_without_name", message).at(line.unwrap_or(1) as u64, None));
                continue;
            }
            row.run_id = self.runs[run].id.clone().map(Into::into);
            row.run_name = self.runs[run].name.clone().map(Into::into);
            joined.insert(self.rows.len());
            self.push(row, hash, Some(run));
            added += 1;
        }
        twice.say(diagnostics);
        added
    }

    /// Adds a work directory; returns the number of rows that it was the first to describe.
    pub fn add_work_dir(&mut self, mut row: Row, hash: &str, diagnostics: &mut Diagnostics) -> u64 {
        let known = self.same_task(Some(hash), &row, None);
        if !known.is_empty() {
            self.filled += 1;
            let (cached, executed): (Vec<usize>, Vec<usize>) = known.into_iter().partition(|at| self.rows[*at].cached);
            if executed.len() > 1 {
                diagnostics.push(Diagnostic::warning("work_dir_twice", "several attempts have this hash; the first is used"));
            }
            if let Some(at) = executed.first() {
                fill(&mut self.rows[*at], row.clone(), diagnostics);
            }
            // The command and the files of the task are the same in a resumed run.
            forget_earlier_run(&mut row);
            for at in self.without_doubt(cached, hash) {
                fill(&mut self.rows[at], row.clone(), diagnostics);
            }
            return 0;
        }
        if row.name.is_empty() {
            diagnostics
                .push(Diagnostic::error("task_without_name", "there is no .command.run with the task's name, and no log has its hash"));
            return 0;
        }
        self.push(row, Some(hash.to_owned()), None);
        1
    }

    /// Returns the cached tasks to which the work directory certainly belongs. If tasks with
    /// different names in a run share the displayed hash, it can belong to any of them, so none is
    /// returned.
    fn without_doubt(&self, mut cached: Vec<usize>, hash: &str) -> Vec<usize> {
        let surely = |at: usize| self.hashes[at].as_deref().is_some_and(|known| surely_same(known, hash));
        let mut names: HashMap<Option<usize>, Option<&str>> = HashMap::new();
        for at in &cached {
            let name = self.rows[*at].name.as_ref();
            names.entry(self.run_of[*at]).and_modify(|known| *known = known.filter(|known| *known == name)).or_insert(Some(name));
        }
        cached.retain(|at| surely(*at) || names[&self.run_of[*at]].is_some());
        cached
    }

    /// Returns for each run the tasks that Nextflow counted and no source describes, if there are
    /// any.
    pub fn missing(&self) -> Vec<Missing> {
        let mut rows = vec![0; self.runs.len()];
        self.run_of.iter().flatten().for_each(|run| rows[*run] += 1);
        let of_run = |(run, rows): (&KnownRun, usize)| {
            let (missing, of_log) = run.missing?;
            // Rows of other sources may be the missing tasks.
            let tasks = missing.tasks.saturating_sub(rows.saturating_sub(of_log));
            (tasks > 0).then_some(Missing { tasks, ..missing })
        };
        self.runs.iter().zip(rows).filter_map(of_run).collect()
    }

    /// Returns the rows: those of logs in their order, then those of trace files, then those of
    /// work directories; and the run of each, where known.
    pub fn finish(self) -> Finished {
        let mut rows = self.rows;
        for row in &mut rows {
            if row.native_id.is_some() && row.native_kind.is_none() {
                row.native_kind = super::native_kind(row.executor.as_deref().unwrap_or_default()).map(Into::into);
            }
        }
        super::parents::give_ids(&mut rows, &self.run_of);
        super::parents::put(&mut rows, &self.run_of);
        let has_begin = self.runs.iter().map(|run| run.has_begin).collect();
        let graph_files = self.runs.into_iter().map(|run| run.graph_file).collect();
        Finished { rows, run_of: self.run_of, has_begin, graph_files }
    }
}

/// Attempts that a file describes repeatedly.
#[derive(Default)]
struct Twice {
    count: u64,
    first: Option<i64>,
}

impl Twice {
    fn count(&mut self, row: &Row) {
        self.count += 1;
        self.first = self.first.or(row.line);
    }

    fn say(self, diagnostics: &mut Diagnostics) {
        if self.count > 0 {
            let message = "this attempt appears earlier in the file, with the same hash, native id and times: it is counted once";
            let diagnostic = Diagnostic::warning("attempt_twice", message).at(self.first.unwrap_or(1) as u64, None);
            diagnostics.push(Diagnostic { count: self.count, ..diagnostic });
        }
    }
}

/// Whether two rows of the same task of a run are the same attempt, possibly with different columns
/// filled.
fn is_same_attempt(known: &Row, told: &Row) -> bool {
    let agree = |known: Option<&str>, told: Option<&str>| known.zip(told).is_none_or(|(known, told)| known == told);
    let same_time = match known.cached {
        true => known.cached_ns == told.cached_ns,
        false => known.submitted_ns == told.submitted_ns && agree(known.native_id.as_deref(), told.native_id.as_deref()),
    };
    known.cached == told.cached && known.name == told.name && agree(known.task_id.as_deref(), told.task_id.as_deref()) && same_time
}

/// The rows of all sources.
pub struct Finished {
    /// The rows of `task_runs`: the attempts at tasks.
    pub rows: Vec<Row>,
    /// For each row the index of its run.
    pub run_of: Vec<Option<usize>>,
    /// For each run, whether a log describes it from its beginning. A trace file or a report does
    /// not suffice: both omit tasks with results from a `storeDir`.
    pub has_begin: Vec<bool>,
    /// For each run the file name of its graph of processes, where its log has it.
    pub graph_files: Vec<Option<String>>,
}

/// Removes the values of a cached task that describe its execution in an earlier run.
fn forget_earlier_run(row: &mut Row) {
    macro_rules! forget {
        ($($column:ident),+ $(,)?) => { $( row.$column = None; )+ };
    }
    forget!(
        attempt,
        executor,
        queue,
        native_id,
        native_kind,
        host,
        container_id,
        queued_ns,
        queued_precision_ns,
        submitted_ns,
        submitted_precision_ns,
        started_ns,
        started_precision_ns,
        finished_ns,
        finished_precision_ns,
        duration_s,
        realtime_s,
        cpu_percent,
        peak_rss_bytes,
        peak_vmem_bytes,
        rchar_bytes,
        wchar_bytes,
        read_bytes,
        write_bytes
    );
}

/// Fills null columns of `row` from `other`, and reports contradictions.
fn fill(row: &mut Row, other: Row, diagnostics: &mut Diagnostics) {
    let place = other.line;
    let mut contradicts = |what: &str, known: &str, told: &str| {
        let message = format!("{what} of {} is {told} here and {known} in {}, which is kept", row.name, row.source);
        let diagnostic = Diagnostic::warning("sources_contradict", message);
        diagnostics.push(place.map_or(diagnostic.clone(), |line| diagnostic.at(line as u64, None)));
    };
    if let (Some(known), Some(told)) = (row.exit_code, other.exit_code)
        && known != told
    {
        contradicts("the exit code", &known.to_string(), &told.to_string());
    }
    for (what, known, told) in [
        ("the native id", row.native_id.as_deref(), other.native_id.as_deref()),
        ("the number", row.task_id.as_deref(), other.task_id.as_deref()),
        ("the name", Some(row.name.as_ref()), Some(other.name.as_ref()).filter(|name| !name.is_empty() && !row.cached)),
    ] {
        if let (Some(known), Some(told)) = (known, told)
            && known != told
        {
            contradicts(what, known, told);
        }
    }
    let open = |status: &str| matches!(status, "unknown" | "running" | "submitted");
    // An exit code 0 does not contradict a failure seen elsewhere, nor does the earlier run of a
    // cached task.
    let agree = row.status == other.status || row.status == "failed" && other.status == "completed";
    if row.cached || other.cached || open(&other.status) || agree {
        // Nothing to add.
    } else if open(&row.status) {
        row.status = other.status;
    } else {
        contradicts("the status", &row.status, &other.status);
    }
    macro_rules! take {
        ($($column:ident),+ $(,)?) => { $( if row.$column.is_none() { row.$column = other.$column; } )+ };
    }
    // A time and its precision go together.
    macro_rules! take_time {
        ($($time:ident, $precision:ident;)+) => { $( if row.$time.is_none() { (row.$time, row.$precision) = (other.$time, other.$precision); } )+ };
    }
    let (began, ended) = (other.started_ns, other.finished_ns);
    take_time! {
        queued_ns, queued_precision_ns;
        submitted_ns, submitted_precision_ns;
        started_ns, started_precision_ns;
        finished_ns, finished_precision_ns;
    }
    // A start that was computed from another end (a trace file rounds `duration` to tenths of a
    // second) is shifted by the difference of the two ends.
    if let (Some(started), Some(finished)) = (row.started_ns, row.finished_ns)
        && row.started_ns == began
        && started > finished
    {
        let length = ended.map_or(0, |ended| ended.saturating_sub(started).max(0));
        let earliest = row.submitted_ns.map_or(finished, |submitted| submitted.min(finished));
        row.started_ns = Some(finished.saturating_sub(length).max(earliest));
    }
    take!(
        run_id,
        run_name,
        task_id,
        attempt,
        tag,
        cache_key,
        work_dir,
        executor,
        queue,
        native_id,
        native_kind,
        host,
        container_image,
        container_id,
        exit_code,
        command,
        error,
        cpus,
        memory_bytes,
        disk_bytes,
        time_s,
        duration_s,
        realtime_s,
        cpu_percent,
        peak_rss_bytes,
        peak_vmem_bytes,
        rchar_bytes,
        wchar_bytes,
        read_bytes,
        write_bytes,
        parents,
        inputs,
        outputs
    );
}
