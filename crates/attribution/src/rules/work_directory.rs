//! A script that belongs to one task or job, and the shell that runs it.
//!
//! The monitoring paper's rule for Nextflow: who opens the `.command.run` or `.command.sh` of a
//! task's work directory belongs to the task (section V-B). Whoever only looks at such a file does
//! not: the process has to be a shell with the file on its command line, as far as that is known,
//! and it has to run while the task ran. The same idea holds for Slurm's job script
//! (`…/job00007/slurm_script`), for the wrappers of Makeflow (`task_3_…`) and the job scripts of
//! Snakemake before version 8 (`snakejob.RULE.3.sh`) and for the layers of `flowmine transform`
//! (`t_ID.sh`).
//!
//! What is said of a process that is in a container holds for all of the container (`groups.rs`),
//! otherwise for its descendants ([`super::process_tree`]).

use super::claim::{Claim, JobClaim, Strength};
use super::facts::{Facts, Program, Script};
use super::native_id::same_host;
use super::rule::{AddClaim, Rule};
use crate::entities::{Entities, Task};

const SLACK_NS: i64 = 10_000_000_000;

/// The rule's name, as in the table `links`.
pub const NAME: &str = "work-directory";

pub(super) struct WorkDirectory;

impl Rule for WorkDirectory {
    fn name(&self) -> &'static str {
        NAME
    }

    fn strength(&self) -> Strength {
        Strength::Derived
    }

    fn of_script(&self, script: &Script, facts: &Facts, entities: &Entities, say: &mut AddClaim<'_>) {
        for path in [Some(&script.path), script.container_path.as_ref()].into_iter().flatten() {
            let Some((dir, name)) = path.rsplit_once('/') else { continue };
            if !runs(facts.program_at(script.at_ns), name) {
                continue;
            }
            let evidence = || format!("opened {path}");
            let the_one = |mut fitting: Vec<u32>| {
                fitting.retain(|at| entities.tasks.get(*at).covers(script.at_ns, SLACK_NS));
                if let [task] = fitting[..] { Some(task) } else { None }
            };
            let by_id = |engine: &str, id: &str, rule: Option<&str>| {
                let fits = |task: &Task| task.engine == engine && rule.is_none_or(|rule| task.logical_task == rule);
                the_one(entities.tasks.with_task_id(id).iter().copied().filter(|at| fits(entities.tasks.get(*at))).collect())
            };
            let found = match kind(name) {
                Some(EngineDirectory::Nextflow) => the_one(entities.tasks.in_work_dir(dir).to_vec()),
                Some(EngineDirectory::Slurm) => {
                    if let Some(id) = dir.rsplit('/').next().and_then(|step| step.strip_prefix("job")?.parse().ok()) {
                        say(Claim::Job(JobClaim { id, cluster: None, step: Some("batch".to_owned()) }), evidence());
                        return;
                    }
                    None
                }
                Some(EngineDirectory::Makeflow(id)) => by_id("makeflow", id, None),
                Some(EngineDirectory::Snakemake(rule, id)) => by_id("snakemake", id, Some(rule)),
                Some(EngineDirectory::Layer(id)) => the_one(
                    entities.tasks.with_layer(id).iter().copied().filter(|at| is_of_its_job(entities.tasks.get(*at), facts)).collect(),
                ),
                None => None,
            };
            if let Some(task) = found {
                say(Claim::Task(task), evidence());
                return;
            }
        }
    }
}

enum EngineDirectory<'p> {
    Nextflow,
    Slurm,
    Makeflow(&'p str),
    Snakemake(&'p str, &'p str),
    Layer(&'p str),
}

/// Jobs of an array, and machines, run the same scripts.
fn is_of_its_job(task: &Task, facts: &Facts) -> bool {
    if task.host.as_deref().is_some_and(|host| !same_host(host, &facts.host)) {
        return false;
    }
    let job = task.native_id.as_deref().filter(|_| task.native_kind.as_deref() == Some("slurm_job"));
    job.zip(facts.variable("SLURM_JOB_ID")).is_none_or(|(told, seen)| told == seen)
}

fn kind(name: &str) -> Option<EngineDirectory<'_>> {
    if matches!(name, ".command.run" | ".command.sh") {
        return Some(EngineDirectory::Nextflow);
    }
    if name == "slurm_script" {
        return Some(EngineDirectory::Slurm);
    }
    if let Some(rest) = name.strip_prefix("task_") {
        let (id, _) = rest.split_once('_')?;
        return id.bytes().all(|byte| byte.is_ascii_digit()).then_some(EngineDirectory::Makeflow(id));
    }
    // Those of Slurm are hidden.
    if let Some(id) = name.strip_prefix('.').unwrap_or(name).strip_prefix("t_").and_then(|rest| rest.strip_suffix(".sh")) {
        return (id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(EngineDirectory::Layer(id));
    }
    let (rule, id) = name.strip_prefix("snakejob.")?.strip_suffix(".sh")?.rsplit_once('.')?;
    Some(EngineDirectory::Snakemake(rule, id))
}

pub(super) fn is_script(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with(['.', 's', 't']) && kind(name).is_some())
}

const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "ksh", "zsh", "busybox"];

/// Whether a program runs a script, as far as its command line is known: a shell with the script's
/// name, or the script itself.
fn runs(known: Option<&Program>, name: &str) -> bool {
    let Some((known, [program, arguments @ ..])) = known.and_then(|known| Some((known, known.command_line.as_deref()?))) else {
        return true;
    };
    let base = |path: &str| path.rsplit('/').next().unwrap_or_default().trim_start_matches('-').to_owned();
    let names_it =
        |argument: &String| base(argument) == name || argument.split_whitespace().any(|word| base(word.trim_matches(['"', '\''])) == name);
    base(program) == name || (SHELLS.contains(&base(program).as_str()) && (known.only_program() || arguments.iter().any(names_it)))
}
