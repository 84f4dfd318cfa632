//! Snakemake, versions 5 to 9: logs, metadata, benchmark files, and logs of jobs on Slurm.
//!
//! A log lists attempts. The metadata describe the job that last made each output, with times in
//! UTC, from which the zone of the log's times follows. A job's own log on Slurm contains its start
//! and end there. Metadata that match no attempt belong to runs without logs, and become rows too.

mod benchmark;
mod files;
mod folder;
mod hidden;
mod join;
mod log;
mod metadata;

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use flowmine_schema::diagnostic::Diagnostic;
use flowmine_schema::text;

use self::join::Joined;
use crate::{Engine, Options, Row, Source, input};
use folder::FOLDER;

/// Name of the engine, as in the column `engine`.
pub const NAME: &str = crate::engine_names::SNAKEMAKE;

// In order of precedence.
const LOG: &str = "Snakemake log";
const SLURM_LOG: &str = "log of a Snakemake job on Slurm";
const METADATA: &str = "Snakemake metadata";
const BENCHMARK: &str = "Snakemake benchmark";

/// The engine Snakemake.
#[derive(Debug, Clone, Copy)]
pub struct Snakemake;

impl Engine for Snakemake {
    fn name(&self) -> &'static str {
        NAME
    }

    /// For a directory in which Snakemake ran, returns logs, metadata, benchmark files named in
    /// logs, and the files in folders with names that begin with `benchmark`. For other
    /// directories, returns every file.
    fn find(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let folder = if dir.ends_with(FOLDER) { dir.to_owned() } else { dir.join(FOLDER) };
        if !folder.is_dir() {
            return metadata::files(dir);
        }
        let mut found = Vec::new();
        for path in ["log", "slurm_logs"].map(|name| folder.join(name)).into_iter().filter(|path| path.is_dir()) {
            if path.is_symlink() {
                found.push(path);
            } else {
                found.extend(metadata::files(&path)?);
            }
        }
        let benchmarks = named_benchmarks(folder.parent().unwrap_or(dir), &found);
        found.extend(Some(folder.join("metadata")).filter(|path| path.is_dir()));
        for entry in input::entries(dir)? {
            if entry.is_dir() && entry.name.to_string_lossy().to_ascii_lowercase().starts_with("benchmark") {
                found.extend(metadata::files(&entry.path)?);
            }
        }
        found.extend(benchmarks.into_iter().filter(|path| !found.contains(path)).collect::<Vec<_>>());
        Ok(found)
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<&'static str> {
        if path.is_dir() {
            return path.ends_with(Path::new(FOLDER).join("metadata")).then_some(METADATA);
        }
        let text = String::from_utf8_lossy(head);
        if text.lines().next().is_some_and(benchmark::is_header) {
            return Some(BENCHMARK);
        }
        // The lines before it differ between versions and contain the output of the user's code.
        let is_log = text.lines().any(|line| line.starts_with("Building DAG of jobs") || line.starts_with("Snakemake version: "))
            || text.lines().any(|line| log::stamp(line.trim_start()).is_some())
            || text.contains("\nSNAKEMAKE\n=========\n")
            || text.contains("Job counts:\n\tcount\tjobs\n");
        match is_log {
            false => None,
            true if is_of_job(path, &text) => Some(SLURM_LOG),
            true => Some(LOG),
        }
    }

    fn parts(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut files = metadata::files(dir)?;
        files.retain(|path| !input::is_no_plain_file(path));
        Ok(files)
    }

    fn read(&self, sources: &mut [Source], options: &Options) -> Vec<Row> {
        let rank = |kind: &str| [LOG, SLURM_LOG, METADATA, BENCHMARK].iter().position(|known| *known == kind);
        sources.sort_by(|a, b| (rank(a.kind), &a.name, &a.path).cmp(&(rank(b.kind), &b.name, &b.path)));
        let mut joined = Joined::default();
        for (at, source) in sources.iter_mut().enumerate() {
            let read = match source.kind {
                LOG => input::open(&source.path).and_then(log::read).map(|runs| joined.add_runs(at, runs, source)),
                SLURM_LOG => input::open(&source.path).and_then(log::read_job).map(|log| joined.add_job(at, job_id(&source.path), log)),
                METADATA => metadata::read(&source.path, &mut source.diagnostics).map(|records| joined.add_records(at, records)),
                BENCHMARK => input::open(&source.path).and_then(benchmark::read).map(|told| match told {
                    Some(told) => joined.add_benchmark(at, told),
                    None => source.refuse(Diagnostic::error("benchmark_bad", "there is no line with numbers in it")),
                }),
                _ => continue,
            };
            if let Err(e) = read {
                source.refuse(Diagnostic::of_reading(&e));
            }
        }
        joined.finish(sources, options)
    }
}

/// Returns the benchmark files below a directory that logs name. A log that cannot be read names
/// none; its import reports the reason.
fn named_benchmarks(dir: &Path, logs: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for reader in logs.iter().filter(|path| path.is_file()).filter_map(|path| input::open(path).ok()) {
        let mut lines = input::lines(reader);
        while let Ok(Some((_, line))) = lines.next() {
            let line = text::decode(line);
            let Some(name) = line.trim_start().strip_prefix("benchmark: ") else { continue };
            let path = dir.join(files::path(name.trim()));
            let is_below = path.starts_with(dir) && !path.components().any(|part| part == Component::ParentDir);
            if is_below && path.is_file() && !input::is_no_plain_file(&path) {
                found.insert(path);
            }
        }
    }
    found
}

/// Whether a file is the log of a job. Snakemake's plugin for Slurm has a folder for these; other
/// executors leave the name to sbatch.
fn is_of_job(path: &Path, text: &str) -> bool {
    path.components().any(|part| part.as_os_str() == "slurm_logs") || job_id(path).is_some() || text.contains(" --mode remote")
}

/// Returns the Slurm job of `slurm_logs/rule_count/a/14.log` or of `slurm-14.out`; an array task is
/// `14_2`.
fn job_id(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.trim_end_matches(".gz");
    let id = name.strip_suffix(".log").or_else(|| name.strip_prefix("slurm-")?.strip_suffix(".out"))?;
    let is_one = id.split('_').count() <= 2 && id.split('_').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    is_one.then(|| id.to_owned())
}
