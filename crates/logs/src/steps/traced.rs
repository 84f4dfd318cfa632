//! What traces show of attempts: the programs that they ran, by CPU time, and the kinds of their
//! files.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{NONE, ProcessRow, Processes};
use flowmine_correlate::jobs::attempt_name;
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_eventlog::IdHash;
use flowmine_schema::tables::{Link, Process, TaskIo};
use flowmine_steps::command::{of_executable, of_words};
use flowmine_steps::{Kind, Program, Ran};
use rustc_hash::FxHashMap;

use crate::places::{Places, key};
use crate::process_rows;

/// Number of kinds of files that are kept of an attempt.
const MOST_KINDS: usize = 16;

/// What traces show of an attempt.
#[derive(Debug, Default)]
pub(super) struct OfAttempt {
    pub programs: Vec<Ran>,
    pub read_kinds: Vec<Box<str>>,
    pub written_kinds: Vec<Box<str>>,
}

/// What traces show of attempts, by the name of the attempt.
#[derive(Debug, Default)]
pub(super) struct Traced(FxHashMap<IdHash, OfAttempt>);

flowmine_schema::columns! {
    /// What shows the program of a process.
    struct CommandRow of Process { host, pid, process_start_ns, as_of_ns, started_ns, executable, command_line }
}

flowmine_schema::columns! {
    /// Who read and wrote which file.
    struct FileRow of TaskIo { task, cluster, job, job_submit_ns, path, read_bytes, written_bytes }
}

impl Traced {
    pub fn read(dataset: &Dataset) -> Result<Self, DatasetError> {
        let mut traced = Self::default();
        traced.read_programs(dataset)?;
        traced.read_kinds(dataset)?;
        Ok(traced)
    }

    pub fn of(&self, attempt: &str) -> Option<&OfAttempt> {
        if self.0.is_empty() { None } else { self.0.get(&IdHash::new(attempt)) }
    }

    pub fn of_hash(&self, attempt: IdHash) -> Option<&OfAttempt> {
        self.0.get(&attempt)
    }

    fn read_programs(&mut self, dataset: &Dataset) -> Result<(), DatasetError> {
        if dataset.row_count::<Process<'static>>()? == 0 {
            return Ok(());
        }
        let (processes, places) = process_rows::read_places(dataset)?;
        let programs = programs(dataset, &processes, &places)?;
        let of_tasks = processes.rows.iter().map(|row| {
            let owner = (row.owner != NONE).then(|| processes.owners.get(row.owner));
            // Jobs come with their cluster from the links.
            owner.filter(|owner| !owner.starts_with("job ")).map(IdHash::new)
        });
        let of_tasks: Vec<Option<IdHash>> = of_tasks.collect();
        let of_jobs = jobs_of_processes(dataset, &processes)?;
        for owners in [of_tasks, of_jobs] {
            let mut sums: FxHashMap<IdHash, BTreeMap<&Program, i64>> = FxHashMap::default();
            for ((row, owner), main) in processes.rows.iter().zip(&owners).zip(mains(&processes.rows, &owners, &programs)) {
                if let (Some(owner), Some(main)) = (owner, main) {
                    let sum = sums.entry(*owner).or_default().entry(main).or_default();
                    flowmine_sums::add_to(sum, row.cpu_ns.unwrap_or(0).max(0));
                }
            }
            for (owner, sums) in sums {
                let ran = sums.into_iter().map(|(program, cpu_ns)| Ran { program: program.clone(), cpu_ns });
                self.0.entry(owner).or_default().programs = ran.collect();
            }
        }
        Ok(())
    }

    fn read_kinds(&mut self, dataset: &Dataset) -> Result<(), DatasetError> {
        let mut kinds: FxHashMap<IdHash, [BTreeSet<Box<str>>; 2]> = FxHashMap::default();
        dataset.read::<FileRow<'static>, DatasetError>(|row| {
            let Some(kind) = row.path.as_deref().and_then(kind) else { return Ok(()) };
            let task = row.task.as_deref().map(IdHash::new);
            let job = row.cluster.as_deref().zip(row.job.as_deref());
            let job = job.map(|(cluster, job)| IdHash::new(&attempt_name(cluster, job, row.job_submit_ns)));
            for owner in [task, job].into_iter().flatten() {
                let [read, written] = kinds.entry(owner).or_default();
                for (all, bytes) in [(read, row.read_bytes), (written, row.written_bytes)] {
                    if bytes > 0 && !all.contains(kind.as_str()) {
                        all.insert(kind.as_str().into());
                        // The first ones by text: the same in whatever order they come.
                        if all.len() > MOST_KINDS {
                            all.pop_last();
                        }
                    }
                }
            }
            Ok(())
        })?;
        for (owner, [read, written]) in kinds {
            let of = self.0.entry(owner).or_default();
            of.read_kinds = read.into_iter().collect();
            of.written_kinds = written.into_iter().collect();
        }
        Ok(())
    }
}

/// The program of each process; `None` where it runs its parent's, or nothing is known.
fn programs(dataset: &Dataset, processes: &Processes, places: &Places) -> Result<Vec<Option<Program>>, DatasetError> {
    let mut found: Vec<(i64, Option<Program>)> = vec![(i64::MIN, None); processes.rows.len()];
    dataset.read::<CommandRow<'static>, DatasetError>(|row| {
        let Some(host) = places.host(&row.host) else { return Ok(()) };
        let at = places.place.get(&key(host, row.pid, row.process_start_ns, row.started_ns));
        if let Some(known) = at.and_then(|at| found.get_mut(*at as usize)).filter(|known| known.0 <= row.as_of_ns) {
            let words: Vec<String> = row.command_line.as_deref().and_then(|words| serde_json::from_str(words).ok()).unwrap_or_default();
            let program = of_words(&words).or_else(|| row.executable.as_deref().and_then(of_executable));
            *known = (row.as_of_ns, program);
        }
        Ok(())
    })?;
    Ok(found.into_iter().map(|(_, program)| program).collect())
}

/// The program that each process counts for: the first one above it that does work, as far as the
/// attempt goes, else its own.
fn mains<'p>(rows: &[ProcessRow], owners: &[Option<IdHash>], programs: &'p [Option<Program>]) -> Vec<Option<&'p Program>> {
    let mut mains: Vec<Option<&Program>> = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        // Parents come before their children.
        let parent = Some(row.parent as usize).filter(|parent| *parent < at && owners[*parent] == owners[at]);
        let above = parent.and_then(|parent| mains[parent]);
        let own = programs[at].as_ref();
        let is_tool = above.is_some_and(|above| above.kind == Kind::Tool);
        mains.push(if is_tool || own.is_none() { above } else { own });
    }
    mains
}

/// The attempt at a job to which each process belongs.
fn jobs_of_processes(dataset: &Dataset, processes: &Processes) -> Result<Vec<Option<IdHash>>, DatasetError> {
    let mut at: FxHashMap<(&str, i32, Option<i64>), usize> = FxHashMap::default();
    for (place, row) in processes.rows.iter().enumerate() {
        at.insert((processes.hosts.get(row.host), row.pid, row.started_ns), place);
    }
    let mut jobs = vec![None; processes.rows.len()];
    dataset.read::<Link<'static>, DatasetError>(|row| {
        let is_job = matches!(&*row.target_type, "job" | "step") && row.source_type == "process" && row.relation == "belongs-to";
        let place = row.source.parse().ok().and_then(|pid| at.get(&(&*row.source_scope, pid, row.source_ns)));
        if let Some(place) = place.filter(|_| is_job) {
            let job = if row.target_type == "step" { row.target.split('.').next().unwrap_or_default() } else { &row.target };
            jobs[*place] = Some(IdHash::new(&attempt_name(&row.target_scope, job, row.target_ns)));
        }
        Ok(())
    })?;
    Ok(jobs)
}

/// The kind of a data file: its ending, with that of what is compressed.
fn kind(path: &str) -> Option<String> {
    const SYSTEM: [&str; 8] = ["/bin/", "/dev/", "/etc/", "/lib", "/proc/", "/sys/", "/usr/", "/opt/"];
    const OF_PROGRAMS: [&str; 7] = ["conf", "jar", "lock", "pid", "py", "pyc", "so"];
    const COMPRESSED: [&str; 5] = ["bz2", "gz", "xz", "zip", "zst"];
    if SYSTEM.iter().any(|folder| path.starts_with(folder)) {
        return None;
    }
    let name = path.rsplit('/').next().filter(|name| !name.starts_with('.'))?;
    let (stem, ending) = name.rsplit_once('.')?;
    let is_kind = |ending: &str| {
        (1..=12).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if !is_kind(ending) || OF_PROGRAMS.contains(&ending) {
        return None;
    }
    let inner = stem.rsplit_once('.').map(|(_, inner)| inner).filter(|inner| COMPRESSED.contains(&ending) && is_kind(inner));
    Some(inner.map_or_else(|| format!(".{ending}"), |inner| format!(".{inner}.{ending}")).to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn kinds_of_files() {
        for (path, wanted) in [
            ("/home/a/x.bam", Some(".bam")),
            ("/home/a/x_1.fq.gz", Some(".fq.gz")),
            ("/home/a/x.2026.gz", Some(".gz")),
            ("/home/a/X.CSV", Some(".csv")),
            ("/usr/lib/x.dat", None),
            ("/home/a/.command.run", None),
            ("/home/a/x.so", None),
            ("/home/a/x.17", None),
            ("/home/a/x", None),
            ("", None),
        ] {
            assert_eq!(kind(path).as_deref(), wanted, "{path}");
        }
    }
}
