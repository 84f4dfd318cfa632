//! What log, trace files and work directories tell of the same attempt becomes one row.
//!
//! They are joined by the hash. A run that was resumed has the hashes of the run before among its cached tasks; a trace file therefore belongs
//! to the run with which it agrees on most tasks, cached or not, and a work directory to the run that executed the task.

use std::collections::HashMap;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};

use super::clock::Resolved;
use super::fate::Run;
use super::trace::Record;
use crate::{Options, Row};

/// All rows so far.
#[derive(Default)]
pub struct Joined {
    rows: Vec<Row>,
    /// Of each row, the number of its run in `runs`.
    run_of: Vec<Option<usize>>,
    runs: Vec<(Option<Resolved>, Option<String>)>,
    by_key: HashMap<String, Vec<usize>>,
}

impl Joined {
    /// Adds a run of a log.
    pub fn add_run(&mut self, run: Run) {
        let number = self.runs.len();
        self.runs.push((run.clock, run.trace_file));
        for row in run.rows {
            self.push(row, Some(number));
        }
    }

    fn push(&mut self, row: Row, run: Option<usize>) {
        if let Some(key) = &row.cache_key {
            self.by_key.entry(key.to_string()).or_default().push(self.rows.len());
        }
        self.rows.push(row);
        self.run_of.push(run);
    }

    fn with_key(&self, row: &Row) -> &[usize] {
        row.cache_key.as_deref().and_then(|key| self.by_key.get(key)).map_or(&[], Vec::as_slice)
    }

    /// The run with which a trace file agrees on most tasks; the log names its file, which decides between equals.
    fn run_of_trace(&self, name: &str, records: &[Record]) -> Option<usize> {
        let mut agree = vec![0; self.runs.len()];
        for record in records {
            for at in self.with_key(&record.row) {
                if let Some(run) = self.run_of[*at].filter(|_| self.rows[*at].cached == record.row.cached) {
                    agree[run] += 1;
                }
            }
        }
        let named = |run: usize| self.runs[run].1.as_deref() == Some(name);
        (0..agree.len()).filter(|run| agree[*run] > 0).max_by_key(|run| (agree[*run], named(*run), std::cmp::Reverse(*run)))
    }

    /// Adds a trace file; gives the number of rows of which it told first.
    pub fn add_trace(&mut self, name: &str, records: Vec<Record>, options: &Options, said: &mut Diagnostics) -> u64 {
        let run = self.run_of_trace(name, &records);
        let of_log = run.and_then(|run| self.runs[run].0);
        let clock = of_log.unwrap_or_else(|| Resolved::without_log(options));
        if of_log.is_none() && options.zone_offset_s.is_none() && records.iter().any(|record| !record.row.cached && record.needs_zone()) {
            let message =
                "the trace file does not tell its zone; its times are taken as UTC and can be wrong by up to 14 hours, all by the same";
            let advice = "import it together with the run's .nextflow.log, or say the zone with --zone, as in --zone=+01:00";
            said.push(Diagnostic::warning("no_zone", message).advise(advice));
        }
        let mut added = 0;
        for record in records {
            let mut row = record.finish(&clock);
            if row.cached {
                forget_earlier_run(&mut row);
            }
            let line = row.line;
            let known = self.with_key(&row).iter().copied().find(|at| self.run_of[*at] == run);
            if let Some(at) = known {
                fill(&mut self.rows[at], row, said);
                continue;
            }
            if row.name.is_empty() {
                let message = "neither name nor process of this task is told, and no log knows its hash";
                said.push(Diagnostic::error("task_without_name", message).at(line.unwrap_or(1) as u64, None));
                continue;
            }
            if let Some(same_run) = run.and_then(|run| self.run_of.iter().position(|of| *of == Some(run))) {
                row.run_id = self.rows[same_run].run_id.clone();
                row.run_name = self.rows[same_run].run_name.clone();
            }
            self.push(row, run);
            added += 1;
        }
        added
    }

    /// Adds a work directory; gives the number of rows of which it told first.
    pub fn add_work_dir(&mut self, mut row: Row, said: &mut Diagnostics) -> u64 {
        let known = self.with_key(&row).to_vec();
        let executed: Vec<usize> = known.iter().copied().filter(|at| !self.rows[*at].cached).collect();
        if let Some(at) = executed.first() {
            if executed.len() > 1 {
                said.push(Diagnostic::warning("work_dir_twice", "several attempts have this hash; the first is taken"));
            }
            fill(&mut self.rows[*at], row, said);
            return 0;
        }
        if !known.is_empty() {
            forget_earlier_run(&mut row);
            for at in known {
                fill(&mut self.rows[at], row.clone(), said);
            }
            return 0;
        }
        if row.name.is_empty() {
            said.push(Diagnostic::error(
                "task_without_name",
                "there is no .command.run to tell the task's name, and no log knows its hash",
            ));
            return 0;
        }
        self.push(row, None);
        1
    }

    /// The rows: those of logs in their order, then those of trace files, then those of work directories.
    pub fn finish(self) -> Vec<Row> {
        let mut rows = self.rows;
        for row in &mut rows {
            if row.native_id.is_some() && row.native_kind.is_none() {
                row.native_kind = super::native_kind(row.executor.as_deref().unwrap_or_default()).map(Into::into);
            }
        }
        rows
    }
}

/// Of a cached task the sources tell when, where and with what the earlier run executed it, which this run did not.
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

/// Fills what is null in `row` from `other`, and says where they contradict each other.
fn fill(row: &mut Row, other: Row, said: &mut Diagnostics) {
    let place = other.line;
    let mut contradicts = |what: &str, known: &str, told: &str| {
        let message = format!("{what} of {} is {told} here and {known} in {}, which is kept", row.name, row.source);
        let diagnostic = Diagnostic::warning("sources_contradict", message);
        said.push(place.map_or(diagnostic.clone(), |line| diagnostic.at(line as u64, None)));
    };
    if let (Some(known), Some(told)) = (row.exit_code, other.exit_code)
        && known != told
    {
        contradicts("the exit code", &known.to_string(), &told.to_string());
    }
    for (what, known, told) in [
        ("the native id", row.native_id.as_deref(), other.native_id.as_deref()),
        ("the number", row.task_id.as_deref(), other.task_id.as_deref()),
        ("the name", Some(row.name.as_ref()), Some(other.name.as_ref()).filter(|name| !name.is_empty())),
    ] {
        if let (Some(known), Some(told)) = (known, told)
            && known != told
        {
            contradicts(what, known, told);
        }
    }
    let open = |status: &str| matches!(status, "unknown" | "running" | "submitted");
    // An exit code 0 is no contradiction to a failure that was seen elsewhere, nor is the earlier run of a cached task.
    let agree = row.status == other.status || row.status == "failed" && other.status == "completed";
    if row.cached || other.cached || open(&other.status) || agree {
        // Nothing new.
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
    take_time! {
        queued_ns, queued_precision_ns;
        submitted_ns, submitted_precision_ns;
        started_ns, started_precision_ns;
        finished_ns, finished_precision_ns;
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
