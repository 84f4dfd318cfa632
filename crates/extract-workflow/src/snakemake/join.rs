//! Merges the records of an attempt from logs, metadata, jobs' own logs and benchmarks.
//!
//! The record of an output belongs to the attempt that, according to the log, ended at the end in
//! the record: Snakemake writes both at the same moment. The difference also gives the zone of the
//! log's times.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use chrono::{Duration, NaiveDateTime};
use flowmine_schema::diagnostic::Diagnostic;
use flowmine_schema::time::SECOND_NS;
use serde_json::json;

use super::benchmark::Benchmark;
use super::folder::FOLDER;
use super::log::{Log, LoggedAttempt};
use super::metadata::Record;
use super::{files as lists, hidden};
use crate::engine_names::SNAKEMAKE;
use crate::{Options, Row, Source};

const QUARTER_HOUR_NS: i64 = 900 * SECOND_NS;
/// An hour in nanoseconds, the shift of daylight saving time.
const HOUR_NS: i64 = 3600 * SECOND_NS;
/// Zones lie between 12 hours west and 14 hours east of Greenwich.
const ANY_ZONE_NS: i64 = 14 * 3600 * SECOND_NS;
/// Maximum delay of the log's line after the record: the first value for lines that determine the
/// zone, the second for others, since Snakemake may have to read inputs in between.
const AT_ONCE_NS: i64 = 5 * SECOND_NS;
const SOON_NS: i64 = 60 * SECOND_NS;
/// Maximum lead of the log's line before the record; a second may end in between.
const BEFORE_NS: i64 = 2 * SECOND_NS;
/// Precision of a line's time: lines have whole seconds.
const LINE_NS: i64 = SECOND_NS;
/// Precision of a record's times: they are times of files, which the kernel takes from a clock with
/// 100 ticks a second or more.
const RECORD_NS: i64 = 10_000_000;
/// Unit of Snakemake's `mem_mb` and `disk_mb`.
const MEGABYTE: i64 = 1_000_000;

/// Contents of all sources; numbers are indices into the list of sources.
#[derive(Debug, Default)]
pub struct Joined {
    runs: Vec<(usize, Log)>,
    /// The name of each run, as in the column `run_name`.
    names: Vec<String>,
    jobs: Vec<(usize, Option<String>, Log)>,
    records: Vec<(usize, Record)>,
    benchmarks: Vec<(usize, Benchmark)>,
}

/// Conversion of local times to UTC.
#[derive(Debug, Clone, Copy)]
struct Zone {
    offset_ns: i64,
    precision_ns: i64,
}

impl Zone {
    fn utc(self, local: NaiveDateTime) -> Option<i64> {
        local.checked_sub_signed(Duration::nanoseconds(self.offset_ns))?.and_utc().timestamp_nanos_opt()
    }
}

/// An attempt with its further records.
#[derive(Debug)]
struct Known {
    run: usize,
    attempt: LoggedAttempt,
    records: Vec<usize>,
    /// Index of the job's own log, and the attempt in it.
    job: Option<(usize, LoggedAttempt)>,
    benchmark: Option<usize>,
}

impl Known {
    /// Whether its inputs and outputs are known: the message of a rule hides them in the log.
    fn has_known_files(&self) -> bool {
        self.attempt.is_described || !self.records.is_empty()
    }
}

impl Joined {
    /// Adds the runs of a log; `at` is the index of its source.
    pub fn add_runs(&mut self, at: usize, runs: Vec<Log>, source: &mut Source) {
        for (number, mut log) in runs.into_iter().enumerate() {
            let diagnostics = &mut source.diagnostics;
            if log.is_dry {
                let message = "this was a dry run, which runs no job: what it shows is left out";
                diagnostics.push(Diagnostic::warning("dry_run", message));
                log.attempts.clear();
            } else if let Some((line, count)) = log.undated {
                let message = format!("{count} jobs are logged without a time, the first one here: they are left out");
                let advice = "Snakemake writes times since version 5; nothing can be ordered without them";
                diagnostics.push(Diagnostic::error("no_times", message).at(line, None).advise(advice));
            }
            let stem = run_name(&source.name);
            let numbered = if number == 0 { stem.to_owned() } else { format!("{stem}.{}", number + 1) };
            self.names.push(log.own_log.clone().unwrap_or(numbered));
            self.runs.push((at, log));
        }
    }

    /// Adds the log of one job.
    pub fn add_job(&mut self, source: usize, id: Option<String>, log: Log) {
        self.jobs.push((source, id, log));
    }

    /// Adds the metadata of outputs, `.snakemake/metadata`.
    pub fn add_records(&mut self, source: usize, records: Vec<Record>) {
        self.records.extend(records.into_iter().map(|record| (source, record)));
    }

    /// Adds a benchmark file.
    pub fn add_benchmark(&mut self, source: usize, benchmark: Benchmark) {
        self.benchmarks.push((source, benchmark));
    }

    /// Joins all sources and returns rows of `task_runs`.
    pub fn finish(mut self, sources: &mut [Source], options: &Options) -> Vec<Row> {
        self.each_run_once(sources);
        self.ends(sources);
        let mut known: Vec<Known> = Vec::new();
        for (run, (_, log)) in self.runs.iter_mut().enumerate() {
            let attempts = std::mem::take(&mut log.attempts).into_iter();
            known.extend(attempts.map(|attempt| Known { run, attempt, records: Vec::new(), job: None, benchmark: None }));
        }
        let mut by_output: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, (_, record)) in self.records.iter().enumerate() {
            by_output.entry(&record.output).or_default().push(at);
        }
        let zones = self.zones(&known, &by_output, sources, options);
        let mut used = self.join_records(&mut known, &by_output, &zones, sources);
        self.join_hidden(&mut known, &mut used, &zones, sources);
        self.name_rules(&mut known, &by_output, sources);
        let alone = self.join_jobs(&mut known, sources);
        self.join_benchmarks(&mut known, &zones, sources);
        let mut rows = self.rows(known, &zones, sources);
        rows.extend(self.rows_of_jobs(alone, &zones, sources, options));
        rows.extend(self.rows_of_records(&used, sources));
        rows
    }

    /// Drops runs that a second log describes: the output of Snakemake may have been redirected
    /// into a file next to its own log, which takes precedence.
    fn each_run_once(&mut self, sources: &mut [Source]) {
        let own: HashMap<&str, usize> = self
            .runs
            .iter()
            .zip(&self.names)
            .filter(|((at, _), name)| run_name(&sources[*at].name) == *name)
            .map(|((at, _), name)| (name.as_str(), *at))
            .collect();
        let again: Vec<bool> =
            self.runs.iter().zip(&self.names).map(|((at, _), name)| own.get(name.as_str()).is_some_and(|own| own != at)).collect();
        for ((at, log), _) in self.runs.iter_mut().zip(&again).filter(|(_, again)| **again) {
            let message = "this is the output of a run whose own log was given as well; that one is read";
            sources[*at].diagnostics.push(Diagnostic::warning("run_twice", message));
            log.attempts.clear();
        }
    }

    /// Determines the outcome of jobs that still run at the end of a log without the end of its
    /// run. Snakemake locks its directory while it runs: if the directory is not locked, or a later
    /// run has locked it, the run was killed.
    fn ends(&mut self, sources: &mut [Source]) {
        let mut last_of: HashMap<PathBuf, String> = HashMap::new();
        for source in self.runs.iter().map(|(at, _)| &sources[*at]) {
            if let Some(base) = base(&source.path) {
                let last = last_of.entry(base).or_default();
                *last = std::mem::take(last).max(source.name.clone());
            }
        }
        for (at, log) in self.runs.iter_mut().filter(|(_, log)| !log.ended && !log.interrupted && !log.gave_up) {
            let running = log.attempts.iter().filter(|attempt| attempt.succeeded.is_none()).count();
            if running == 0 {
                continue;
            }
            let base = base(&sources[*at].path);
            let is_last = base.as_ref().and_then(|base| last_of.get(base)).is_none_or(|last| *last == sources[*at].name);
            log.was_killed = log.is_followed || !is_last || !base.is_some_and(|base| is_locked(&base));
            let message = match (log.was_killed, log.is_local == Some(false)) {
                (true, false) => format!(
                    "the log ends while {running} jobs run, and not with the end of the run: it was killed, and they are recorded as aborted"
                ),
                (true, true) => format!(
                    "the log ends while {running} jobs run, and not with the end of the run: it was killed; their outcome on the cluster is not known"
                ),
                (false, _) => format!(
                    "the log ends while {running} jobs run, and its directory is locked: the run still runs, or was killed; they are recorded as running"
                ),
            };
            sources[*at].diagnostics.push(Diagnostic::warning("run_without_end", message));
        }
    }

    /// Returns the zone of each run, and reports assumptions.
    fn zones(&self, known: &[Known], by_output: &HashMap<&str, Vec<usize>>, sources: &mut [Source], options: &Options) -> Vec<Zone> {
        let mut votes: Vec<BTreeMap<i64, u64>> = vec![BTreeMap::new(); self.runs.len()];
        for known in known {
            let Some(local) = known.attempt.ended.and_then(|ended| ended.and_utc().timestamp_nanos_opt()) else { continue };
            for record in self.candidates(known, by_output, sources) {
                let Some(ended) = self.records[record].1.ended_ns else { continue };
                let east = local.saturating_sub(ended);
                let offset = east.saturating_add(QUARTER_HOUR_NS / 2).div_euclid(QUARTER_HOUR_NS) * QUARTER_HOUR_NS;
                if (-ANY_ZONE_NS..=ANY_ZONE_NS).contains(&offset) && (-BEFORE_NS..=AT_ONCE_NS).contains(&(east - offset)) {
                    *votes[known.run].entry(offset).or_default() += 1;
                }
            }
        }
        let told = |votes: &BTreeMap<i64, u64>| {
            let most = votes.values().max()?;
            let mut winners = votes.iter().filter(|(_, count)| *count == most);
            winners.next().filter(|_| winners.next().is_none()).map(|(offset, _)| *offset)
        };
        let given = options.zone_offset_s.map(|seconds| seconds * SECOND_NS);
        let mut zones = Vec::new();
        let mut days: Vec<Option<(chrono::NaiveDate, chrono::NaiveDate)>> = vec![None; self.runs.len()];
        for known in known {
            let times = [known.attempt.began, known.attempt.ended].into_iter().flatten().map(|time| time.date());
            let all = times.chain(days[known.run].iter().flat_map(|(first, last)| [*first, *last])).collect::<Vec<_>>();
            days[known.run] = all.iter().min().copied().zip(all.iter().max().copied());
        }
        let all_told: Vec<Option<i64>> = votes.iter().map(told).collect();
        let mut has_times = vec![false; self.runs.len()];
        known.iter().for_each(|known| has_times[known.run] = true);
        for (run, (has_times, (source, _))) in has_times.iter().zip(&self.runs).enumerate() {
            let told = all_told[run];
            let neighbours =
                (0..self.runs.len()).filter(|other| is_same_folder(&sources[*source].path, &sources[self.runs[*other].0].path));
            let of_neighbours = zone_of_neighbours(days[run], neighbours.filter_map(|other| days[other].zip(all_told[other])));
            let diagnostics = &mut sources[*source].diagnostics;
            if told.zip(given).is_some_and(|(told, given)| told != given) {
                let message = "the metadata imply that the log's zone differs from the given one; the metadata are used";
                diagnostics.push(Diagnostic::warning("zone_contradicted", message));
            }
            zones.push(match told.or(given) {
                Some(offset_ns) => Zone { offset_ns, precision_ns: 0 },
                None if of_neighbours.is_some() => of_neighbours.unwrap_or(Zone { offset_ns: 0, precision_ns: ANY_ZONE_NS }),
                // A run without jobs has no times.
                None if *has_times => no_zone(diagnostics),
                None => Zone { offset_ns: 0, precision_ns: ANY_ZONE_NS },
            });
        }
        zones
    }

    /// Returns the records of its outputs in the same directory.
    fn candidates(&self, known: &Known, by_output: &HashMap<&str, Vec<usize>>, sources: &[Source]) -> Vec<usize> {
        let log = &sources[self.runs[known.run].0].path;
        let attempt = &known.attempt;
        let outputs = if attempt.is_described { &attempt.outputs } else { &attempt.missing };
        let records = outputs.iter().filter_map(|output| by_output.get(output.as_str())).flatten().copied();
        let in_storage = attempt.special.iter().filter(|(path, kind)| kind.ends_with(" storage") && !by_output.contains_key(path.as_str()));
        let copies = in_storage.flat_map(|(address, _)| by_output.iter().filter(|(path, _)| lists::is_local_copy(path, address)));
        let records = records.chain(copies.flat_map(|(_, records)| records.iter().copied()));
        let fits = |at: &usize| {
            let (source, record) = &self.records[*at];
            attempt.rule.as_ref().is_none_or(|rule| *rule == record.rule) && are_together(log, &sources[*source].path)
        };
        records.filter(fits).collect()
    }

    /// Assigns records to the attempts that ended at the same time, the last one of several.
    /// Returns for each record whether it was assigned.
    fn join_records(&self, known: &mut [Known], by_output: &HashMap<&str, Vec<usize>>, zones: &[Zone], sources: &[Source]) -> Vec<bool> {
        let mut nearest: Vec<Option<(i64, usize)>> = vec![None; self.records.len()];
        for (at, known) in known.iter().enumerate() {
            let Some(ended) = known.attempt.ended.and_then(|ended| zones[known.run].utc(ended)) else { continue };
            for record in self.candidates(known, by_output, sources) {
                let Some(late) = self.records[record].1.ended_ns.map(|told| ended.saturating_sub(told)) else { continue };
                let is_near = (-BEFORE_NS..=SOON_NS).contains(&late);
                if is_near && nearest[record].is_none_or(|(known, _)| late.abs() <= known) {
                    nearest[record] = Some((late.abs(), at));
                }
            }
        }
        // A message hides all outputs except the missing ones: the other outputs of the same job
        // are assigned with these.
        let mut makers: HashMap<(usize, &str, i64), usize> = HashMap::new();
        for ((source, record), (_, at)) in self.records.iter().zip(&nearest).filter_map(|(record, nearest)| Some((record, (*nearest)?))) {
            if let Some(hash) = record.job_hash.filter(|_| !known[at].attempt.is_described) {
                makers.insert((*source, &record.rule, hash), at);
            }
        }
        let mut used = vec![false; self.records.len()];
        for (at, (source, record)) in self.records.iter().enumerate() {
            let maker = record.job_hash.and_then(|hash| makers.get(&(*source, record.rule.as_str(), hash)).copied());
            if let Some(maker) = nearest[at].map(|(_, maker)| maker).or(maker) {
                known[maker].records.push(at);
                used[at] = true;
            }
        }
        used
    }

    /// Assigns records to attempts with neither outputs nor reasons in the log. A record that can
    /// belong to several such attempts counts as used without an owner.
    fn join_hidden(&self, known: &mut [Known], used: &mut [bool], zones: &[Zone], sources: &[Source]) {
        let mut jobs: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (at, (source, record)) in self.records.iter().enumerate().filter(|(at, _)| !used[*at]) {
            let own = record.job_hash.is_none().then_some(&record.output);
            jobs.entry((*source, &record.rule, record.job_hash, own)).or_default().push(at);
        }
        let mut hidden: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (at, Known { run, attempt, records, .. }) in known.iter().enumerate() {
            let ended = attempt.ended.and_then(|ended| zones[*run].utc(ended));
            let is_hidden = !attempt.is_described && records.is_empty() && attempt.succeeded == Some(true);
            if let Some((line, ended)) = attempt.end_line.zip(ended).filter(|_| is_hidden) {
                hidden.entry((*run, attempt.rule.clone())).or_default().push((line, ended, at));
            }
        }
        for ((run, rule), mut attempts) in hidden {
            attempts.sort_unstable();
            let log = &sources[self.runs[run].0].path;
            let fits = |source: usize, of: &String| rule.as_ref().is_none_or(|rule| rule == of) && are_together(log, &sources[source].path);
            let ended = |records: &Vec<usize>| records.iter().filter_map(|at| self.records[*at].1.ended_ns).max();
            let of_run = jobs.iter().filter(|((source, rule, ..), records)| fits(*source, rule) && records.iter().all(|at| !used[*at]));
            let mut of_run: Vec<(i64, &Vec<usize>)> = of_run.filter_map(|(_, records)| Some((ended(records)?, records))).collect();
            of_run.sort_unstable();
            let ends: Vec<i64> = attempts.iter().map(|(_, ended, _)| *ended).collect();
            let job_ends: Vec<i64> = of_run.iter().map(|(ended, _)| *ended).collect();
            let found = hidden::pair(&ends, &job_ends, BEFORE_NS, AT_ONCE_NS);
            for (attempt, job) in &found.pairs {
                known[attempts[*attempt].2].records.clone_from(of_run[*job].1);
            }
            let claimed = found.pairs.iter().map(|(_, job)| *job).chain(found.ambiguous);
            claimed.flat_map(|job| of_run[job].1).for_each(|at| used[*at] = true);
        }
    }

    /// Sets the rules of unfinished attempts that a message hides, from earlier records of the
    /// outputs that they were to make.
    fn name_rules(&self, known: &mut [Known], by_output: &HashMap<&str, Vec<usize>>, sources: &[Source]) {
        for known in known.iter_mut().filter(|known| known.attempt.rule.is_none() && !known.attempt.is_described) {
            let mut rules = self.candidates(known, by_output, sources).into_iter().map(|record| &self.records[record].1.rule);
            let first = rules.next();
            known.attempt.rule = first.filter(|first| rules.all(|rule| rule == *first)).cloned();
        }
    }

    /// Assigns jobs' own logs to the attempts; returns those that match none.
    fn join_jobs(&self, known: &mut [Known], sources: &[Source]) -> Vec<(usize, LoggedAttempt)> {
        let mut by_native: HashMap<String, Vec<usize>> = HashMap::new();
        // Jobs of a group have no native ids of their own.
        let mut by_outputs: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
        for (at, Known { attempt, .. }) in known.iter().enumerate() {
            match &attempt.native {
                Some((id, _)) => by_native.entry(id.clone()).or_default().push(at),
                None if !attempt.outputs.is_empty() && !attempt.is_local_rule => {
                    by_outputs.entry(attempt.outputs.clone()).or_default().push(at)
                }
                None => {}
            }
        }
        let slurm_jobs: Vec<HashSet<&String>> = self.runs.iter().map(|(_, log)| log.slurm_jobs.iter().collect()).collect();
        let mut alone = Vec::new();
        for (at, (source, id, log)) in self.jobs.iter().enumerate() {
            for inner in innermost(&log.attempts) {
                let own = id.as_ref().and_then(|id| by_native.get(id)).into_iter().flatten();
                let of_groups = by_outputs.get(&inner.outputs).into_iter().flatten();
                let of_groups = of_groups.filter(|at| id.as_ref().is_some_and(|id| slurm_jobs[known[**at].run].contains(id)));
                let fits = |at: &&usize| {
                    let Known { run, attempt: outer, .. } = &known[**at];
                    let same_rule = outer.rule.is_none() || inner.rule.is_none() || outer.rule == inner.rule;
                    let same_outputs = inner.outputs == outer.outputs || !(inner.is_described && outer.is_described);
                    same_rule && same_outputs && are_together(&sources[self.runs[*run].0].path, &sources[*source].path)
                };
                match own.filter(fits).max().or_else(|| of_groups.filter(fits).max()).copied() {
                    Some(place) => {
                        let known = &mut known[place];
                        known.attempt.native = known.attempt.native.take().or_else(|| id.clone().map(|id| (id, true)));
                        known.job = Some((at, inner));
                    }
                    None => alone.push((at, inner)),
                }
            }
        }
        alone
    }

    /// Assigns each benchmark to the last attempt that wrote it.
    fn join_benchmarks(&self, known: &mut [Known], zones: &[Zone], sources: &mut [Source]) {
        let mut by_name: HashMap<PathBuf, Vec<usize>> = HashMap::new();
        for (at, known) in known.iter().enumerate().filter(|(_, known)| known.attempt.succeeded == Some(true)) {
            if let Some(name) = &known.attempt.benchmark {
                by_name.entry(PathBuf::from(name)).or_default().push(at);
            }
        }
        for (at, (source, told)) in self.benchmarks.iter().enumerate() {
            let path = sources[*source].path.clone();
            // As an absolute path, or relative to any directory above.
            let suffixes = path.ancestors().map(|above| path.strip_prefix(above).unwrap_or(&path)).chain([path.as_path()]);
            let candidates = suffixes.filter_map(|suffix| by_name.get(suffix)).flatten().filter(|at| {
                let Known { run, attempt, .. } = &known[**at];
                let base = base(&sources[self.runs[*run].0].path);
                base.zip(attempt.benchmark.as_ref()).is_none_or(|(base, name)| base.join(name) == path)
            });
            let last = candidates.max_by_key(|at| {
                let Known { run, attempt, .. } = &known[**at];
                attempt.ended.and_then(|ended| zones[*run].utc(ended))
            });
            let fits = |at: &&usize| {
                let LoggedAttempt { began, ended, .. } = &known[**at].attempt;
                let took = ended.zip(*began).map(|(ended, began)| (ended - began).num_seconds() as f64);
                told.realtime_s.zip(took).is_none_or(|(told, took)| told <= took + 2.0)
            };
            match last.filter(fits).copied() {
                Some(place) => known[place].benchmark = Some(at),
                None => {
                    let message = "no log that was given has an attempt that wrote it";
                    sources[*source].diagnostics.push(Diagnostic::warning("benchmark_without_run", message));
                }
            }
        }
    }

    fn rows(&self, known: Vec<Known>, zones: &[Zone], sources: &mut [Source]) -> Vec<Row> {
        let mut makers: HashMap<(usize, String), String> = HashMap::new();
        let mut described = Vec::new();
        for mut known in known {
            if let Some((_, record)) = known.records.first().map(|at| &self.records[*at]) {
                let attempt = &mut known.attempt;
                if !attempt.is_described {
                    attempt.rule = Some(record.rule.clone());
                    attempt.inputs.clone_from(&record.inputs);
                    attempt.outputs = known.records.iter().map(|at| self.records[*at].1.output.clone()).collect();
                }
                attempt.command = record.command.clone().or(attempt.command.take());
            }
            let attempt = &known.attempt;
            let outputs = if known.has_known_files() { &attempt.outputs } else { &attempt.missing };
            makers.extend(outputs.iter().map(|output| ((known.run, output.clone()), attempt.job.clone())));
            described.push(known);
        }
        // For each run the line of the first end of an attempt that may have made any file.
        let mut hidden: HashMap<usize, u64> = HashMap::new();
        for (run, end) in
            described.iter().filter(|known| !known.has_known_files()).filter_map(|known| Some((known.run, known.attempt.end_line?)))
        {
            hidden.entry(run).and_modify(|first| *first = end.min(*first)).or_insert(end);
        }
        let mut tries: HashMap<(usize, String), i64> = HashMap::new();
        let mut rows = Vec::new();
        for known in described {
            let (source, log) = &self.runs[known.run];
            let zone = zones[known.run];
            let attempt = &known.attempt;
            let mut row = self.row(attempt, log, zone);
            let number = tries.entry((known.run, attempt.job.clone())).and_modify(|tries| *tries += 1).or_insert(1);
            row.attempt = Some(*number);
            row.task_id = Some(attempt.job.clone().into());
            row.run_id = log.run_id.clone().map(Into::into);
            row.run_name = Some(self.names[known.run].clone().into());
            let after_hidden = hidden.get(&known.run).is_some_and(|end| *end < attempt.line);
            row.parents = parents(&known, &makers, after_hidden).map(|parents| json!(parents).to_string().into());
            self.put_exact_times(&mut row, &known);
            row.container_image = known.records.iter().find_map(|at| self.records[*at].1.container.clone()).map(|image| image.into());
            if let Some((at, inner)) = &known.job {
                let (job_source, _, job_log) = &self.jobs[*at];
                sources[*job_source].rows += 1;
                add_job(&mut row, inner, job_log, zone);
            }
            if let Some((_, told)) = known.benchmark.map(|at| &self.benchmarks[at]) {
                row.realtime_s = told.realtime_s;
                (row.peak_rss_bytes, row.peak_vmem_bytes) = (told.peak_rss_bytes, told.peak_vmem_bytes);
                (row.read_bytes, row.write_bytes, row.cpu_percent) = (told.read_bytes, told.write_bytes, told.cpu_percent);
            }
            sources[*source].sign(&mut row);
            row.line = Some(attempt.line as i64);
            sources[*source].rows += 1;
            rows.push(row);
        }
        rows
    }

    /// Replaces the times of a local attempt, in whole seconds in the log, by those of its records.
    fn put_exact_times(&self, row: &mut Row, known: &Known) {
        let records = || known.records.iter().map(|at| &self.records[*at].1);
        let began = records().filter_map(|record| record.began_ns).min();
        let ended = records().filter_map(|record| record.ended_ns).max();
        let (Some(began), Some(ended), Some(line), Some(last)) = (began, ended, row.started_ns, row.finished_ns) else { return };
        let fits = (0..LINE_NS + BEFORE_NS).contains(&(began - line)) && (-BEFORE_NS..=AT_ONCE_NS).contains(&(last - ended));
        if fits && began <= ended && row.executor.as_deref() == Some("local") {
            let precision = Some(RECORD_NS);
            (row.submitted_ns, row.submitted_precision_ns) = (Some(began), precision);
            (row.started_ns, row.started_precision_ns) = (Some(began), precision);
            (row.finished_ns, row.finished_precision_ns) = (Some(ended), precision);
        }
    }

    /// Returns the row of an attempt in a log.
    fn row(&self, attempt: &LoggedAttempt, log: &Log, zone: Zone) -> Row {
        let is_local = attempt.is_local_rule || log.is_local == Some(true);
        let is_slurm = attempt.native.as_ref().is_some_and(|(id, is_slurm)| *is_slurm || log.slurm_jobs.contains(id));
        let began = attempt.began.and_then(|began| zone.utc(began));
        let precision = began.map(|_| LINE_NS + zone.precision_ns);
        let ended = attempt.ended.and_then(|ended| zone.utc(ended));
        let resource = |name: &str| attempt.resources.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let megabytes = |name: &str| resource(name)?.parse::<i64>().ok().filter(|size| *size >= 0)?.checked_mul(MEGABYTE);
        let rule = attempt.rule.clone().unwrap_or_else(|| format!("job {}", attempt.job));
        let status = match attempt.succeeded {
            Some(true) => "completed",
            Some(false) if attempt.interrupted => "aborted",
            Some(false) => "failed",
            None if log.interrupted || (log.was_killed && is_local) => "aborted",
            None if log.ended => "unknown",
            None if is_local => "running",
            // Only a submission has an id.
            None if attempt.native.is_some() => "submitted",
            None => "unknown",
        };
        Row {
            engine: SNAKEMAKE.into(),
            name: attempt.wildcards.as_ref().map_or_else(|| rule.clone(), |wildcards| format!("{rule}:{wildcards}")).into(),
            logical_task: rule.into(),
            tag: attempt.wildcards.clone().map(Into::into),
            work_dir: log.work_dir.clone().map(Into::into),
            executor: if is_local { Some("local".into()) } else { is_slurm.then_some("slurm".into()) },
            queue: resource("slurm_partition").filter(|_| !is_local).map(|queue| queue.to_owned().into()),
            native_id: attempt.native.clone().map(|(id, _)| id.into()),
            native_kind: is_slurm.then_some("slurm_job".into()),
            host: log.host.clone().filter(|_| is_local).map(Into::into),
            user: log.user.clone().map(Into::into),
            submitted_ns: began,
            submitted_precision_ns: precision,
            started_ns: began.filter(|_| is_local),
            started_precision_ns: precision.filter(|_| is_local),
            finished_ns: ended,
            // Ends on a cluster are found by polling, with an interval that varies.
            finished_precision_ns: ended.filter(|_| is_local).map(|_| LINE_NS + zone.precision_ns + attempt.ended_within_s * SECOND_NS),
            status: status.into(),
            exit_code: attempt.exit_code,
            command: attempt.command.clone().map(Into::into),
            error: attempt.error.clone().map(Into::into),
            cpus: attempt.threads.or(attempt.is_described.then_some(1)),
            memory_bytes: megabytes("mem_mb"),
            disk_bytes: megabytes("disk_mb"),
            time_s: resource("runtime").and_then(|minutes| minutes.parse::<u32>().ok()).map(|minutes| f64::from(minutes) * 60.0),
            inputs: files(&attempt.inputs).filter(|_| attempt.is_described || !attempt.inputs.is_empty()),
            outputs: files(&attempt.outputs).filter(|_| attempt.is_described || !attempt.outputs.is_empty()),
            engine_steps: Some(engine_steps(attempt, log).into()),
            ..Row::default()
        }
    }

    /// Returns the rows of jobs without the log of their run.
    fn rows_of_jobs(&self, alone: Vec<(usize, LoggedAttempt)>, zones: &[Zone], sources: &mut [Source], options: &Options) -> Vec<Row> {
        let mut rows = Vec::new();
        for (at, attempt) in alone {
            let (source, id, log) = &self.jobs[at];
            let base_of = |at: usize| base(&sources[at].path);
            let of_run = self.runs.iter().zip(zones).find(|((run, _), zone)| {
                zone.precision_ns < ANY_ZONE_NS && base_of(*run).is_some_and(|base| base_of(*source) == Some(base))
            });
            let zone = match (options.zone_offset_s, of_run) {
                (Some(seconds), _) => Zone { offset_ns: seconds * SECOND_NS, precision_ns: 0 },
                // The zone of another run in the same directory: daylight saving time may have
                // changed in between.
                (None, Some((_, zone))) => Zone { offset_ns: zone.offset_ns, precision_ns: HOUR_NS },
                (None, None) => no_zone(&mut sources[*source].diagnostics),
            };
            let mut row = self.row(&attempt, log, zone);
            (row.submitted_ns, row.submitted_precision_ns, row.started_ns, row.finished_ns) = (None, None, None, None);
            add_job(&mut row, &attempt, log, zone);
            row.executor = Some("slurm".into());
            row.native_id = id.clone().map(Into::into);
            row.native_kind = id.as_ref().map(|_| "slurm_job".into());
            sources[*source].sign(&mut row);
            row.line = Some(attempt.line as i64);
            sources[*source].rows += 1;
            rows.push(row);
        }
        rows
    }

    /// Returns the rows of jobs that only metadata describe: one for all outputs of the same job.
    fn rows_of_records(&self, used: &[bool], sources: &mut [Source]) -> Vec<Row> {
        let mut together: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (at, (source, record)) in self.records.iter().enumerate().filter(|(at, _)| !used[*at]) {
            let own = record.job_hash.is_none().then_some(&record.output);
            together.entry((source, &record.rule, record.job_hash, &record.inputs, &record.command, own)).or_default().push(at);
        }
        let mut rows = Vec::new();
        for ((source, rule, _, inputs, command, _), records) in together {
            let all = || records.iter().map(|at| &self.records[*at].1);
            let outputs: Vec<String> = all().map(|record| record.output.clone()).collect();
            sources[*source].rows += 1;
            let mut row = Row {
                engine: SNAKEMAKE.into(),
                name: rule.clone().into(),
                logical_task: rule.clone().into(),
                status: "unknown".into(),
                started_ns: all().filter_map(|record| record.began_ns).min(),
                finished_ns: all().filter_map(|record| record.ended_ns).max(),
                command: command.clone().map(Into::into),
                container_image: all().find_map(|record| record.container.clone()).map(Into::into),
                inputs: files(inputs),
                outputs: files(&outputs),
                ..Row::default()
            };
            sources[*source].sign(&mut row);
            rows.push(row);
        }
        rows
    }
}

/// Returns the jobs that made the inputs of an attempt; `None` where one of them is not known. If
/// an attempt before it may have made any file (`after_hidden`), each input without a known maker
/// has an unknown one.
fn parents<'m>(known: &Known, makers: &'m HashMap<(usize, String), String>, after_hidden: bool) -> Option<Vec<&'m String>> {
    let attempt = &known.attempt;
    if !known.has_known_files() || attempt.has_unknown_inputs {
        return None;
    }
    let mut parents: Vec<&String> = Vec::new();
    for input in &attempt.inputs {
        // A file in a directory that is an output was made by the maker of the directory.
        let mut above = Path::new(input).ancestors().filter_map(Path::to_str);
        match above.find_map(|path| makers.get(&(known.run, path.to_owned()))) {
            None if after_hidden => return None,
            None => {}
            Some(maker) if *maker == attempt.job || parents.contains(&maker) => {}
            Some(maker) => parents.push(maker),
        }
    }
    Some(parents)
}

/// Returns the attempts of the innermost Snakemake: within a job Snakemake runs Snakemake, which
/// may retry the task. Retries are merged, from the start of the first to the end of the last, with
/// the status of the last.
fn innermost(attempts: &[LoggedAttempt]) -> Vec<LoggedAttempt> {
    let mut tasks: Vec<LoggedAttempt> = Vec::new();
    for attempt in attempts {
        match tasks.iter_mut().find(|known| known.rule == attempt.rule && known.outputs == attempt.outputs) {
            Some(known) => {
                let is_within = known.end_line.is_none_or(|end| attempt.line < end);
                let began = if is_within { attempt.began } else { known.began };
                *known = LoggedAttempt { began, ..attempt.clone() };
            }
            None => tasks.push(attempt.clone()),
        }
    }
    tasks
}

/// Adds the more precise values of a job's own log.
fn add_job(row: &mut Row, inner: &LoggedAttempt, log: &Log, zone: Zone) {
    let precision = Some(LINE_NS + zone.precision_ns);
    if let Some(began) = inner.began.and_then(|began| zone.utc(began)) {
        (row.started_ns, row.started_precision_ns) = (Some(began), precision);
    }
    if let Some(ended) = inner.ended.and_then(|ended| zone.utc(ended)) {
        (row.finished_ns, row.finished_precision_ns) = (Some(ended), precision);
    }
    match (row.status.as_ref(), inner.succeeded) {
        ("submitted" | "unknown" | "running", Some(true)) => row.status = "completed".into(),
        ("submitted" | "unknown" | "running", Some(false)) => row.status = "failed".into(),
        ("submitted", None) => row.status = "running".into(),
        _ => {}
    }
    row.host = log.host.clone().map(Into::into);
    row.exit_code = row.exit_code.or(inner.exit_code);
    row.command = row.command.take().or_else(|| inner.command.clone().map(Into::into));
    row.native_kind = row.native_id.as_ref().map(|_| "slurm_job".into());
    row.executor = Some("slurm".into());
}

/// First and last day of a run.
type Days = (chrono::NaiveDate, chrono::NaiveDate);

/// Returns the zone of other runs in the same directory, if all have the same. It is exact on a day
/// on which one of them ran, or between two of them, and otherwise uncertain by daylight saving
/// time.
fn zone_of_neighbours(days: Option<Days>, told: impl Iterator<Item = (Days, i64)>) -> Option<Zone> {
    let (first, last) = days?;
    let told: Vec<(Days, i64)> = told.collect();
    let (_, offset_ns) = *told.first()?;
    if told.iter().any(|(_, other)| *other != offset_ns) {
        return None;
    }
    let same_day = told.iter().any(|((other_first, other_last), _)| *other_first <= last && first <= *other_last);
    let between = told.iter().any(|((_, other), _)| *other < first) && told.iter().any(|((other, _), _)| *other > last);
    Some(Zone { offset_ns, precision_ns: if same_day || between { 0 } else { HOUR_NS } })
}

/// Whether two logs are in the same folder.
fn is_same_folder(a: &Path, b: &Path) -> bool {
    a.parent().is_some_and(|folder| !folder.as_os_str().is_empty() && b.parent() == Some(folder))
}

/// Whether a directory is locked by Snakemake. The lock exists while Snakemake runs, and after it
/// was killed until `--unlock`.
fn is_locked(base: &Path) -> bool {
    crate::input::entries(&base.join(FOLDER).join("locks")).is_ok_and(|locks| !locks.is_empty())
}

fn no_zone(diagnostics: &mut flowmine_schema::diagnostic::Diagnostics) -> Zone {
    let message =
        "the log does not contain its zone; its times are interpreted as UTC and can be wrong by up to 14 hours, all by the same amount";
    let advice = "give .snakemake/metadata as well, whose times are in UTC, or give the zone with --zone, as in --zone=+01:00";
    if !diagnostics.iter().any(|known| known.code == "no_zone") {
        diagnostics.push(Diagnostic::warning("no_zone", message).advise(advice));
    }
    Zone { offset_ns: 0, precision_ns: ANY_ZONE_NS }
}

fn files(paths: &[String]) -> Option<std::borrow::Cow<'static, str>> {
    let files: Vec<_> = paths.iter().map(|path| json!({ "path": path })).collect();
    Some(json!(files).to_string().into())
}

/// Returns Snakemake's own steps around the command of an attempt, as in the column `engine_steps`.
fn engine_steps(attempt: &LoggedAttempt, log: &Log) -> String {
    let special: Vec<_> = attempt.special.iter().map(|(path, kind)| json!({ "path": path, "kind": kind })).collect();
    let touched: Vec<&String> = attempt.outputs.iter().filter(|path| log.touched.contains(*path)).collect();
    let logs: Vec<&String> = attempt.logs.iter().chain(&attempt.benchmark).collect();
    json!({ "shell": log.shell, "logs": logs, "touched": touched, "special": special }).to_string()
}

/// Returns the name of a run, the time of its start: `2026-11-22T060002.317716`.
fn run_name(source: &str) -> &str {
    source.trim_end_matches(".gz").trim_end_matches(".snakemake.log").trim_end_matches(".log")
}

/// Returns the directory in which Snakemake ran, where the path contains it.
fn base(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|above| above.ends_with(FOLDER))?.parent().map(Path::to_owned)
}

/// Whether two files can belong to runs in the same directory.
fn are_together(a: &Path, b: &Path) -> bool {
    base(a).zip(base(b)).is_none_or(|(a, b)| a == b)
}
