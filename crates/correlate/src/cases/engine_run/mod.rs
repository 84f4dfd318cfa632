//! The notion `engine-run`: the jobs that one run of a workflow engine submitted are one case.
//!
//! Engines leave signatures in what Slurm records of their jobs, so no log of the engine is needed.
//! A signature counts within one user: a copied name, comment or directory does not join the run of
//! another user. A job without a signature or with an unknown user is alone.
//!
//! The id is `engine-run:<cluster>:<user>:<engine>:<run>`; that of a job without signature is
//! `engine-run:<cluster>:<id>`. What shows only where a run works, and not which run it is, counts
//! within one submitting session where Slurm's session is known. Without the session, runs of one
//! user in one directory are one case.

mod cromwell;
mod dask;
mod makeflow;
mod nextflow;
mod parsl;
mod snakemake;

use rustc_hash::FxHashMap;

use flowmine_schema::text::ids::escape;

use super::entities::Entities;
use super::notion::{Assignment, CaseNotion, Strength, Why};
use crate::attempts::JobAttempt;
use crate::components;
use crate::jobs::Jobs;

/// What Slurm records of a job that an engine can have left a signature in.
#[derive(Debug, Clone, Copy, Default)]
struct Recorded<'j> {
    name: &'j str,
    /// File name of the command.
    command: &'j str,
    comment: &'j str,
    work_dir: &'j str,
}

/// What the jobs of an engine have in common.
#[derive(Debug)]
struct Signature {
    engine: &'static str,
    /// Whether the text that `run` returns is that of one run only, wherever it was submitted.
    names_run: bool,
    /// Returns the run, or where it works; `None` for a job of nothing that the engine submitted.
    run: fn(&Recorded<'_>) -> Option<String>,
}

static SIGNATURES: &[Signature] =
    &[snakemake::SIGNATURE, nextflow::SIGNATURE, makeflow::SIGNATURE, cromwell::SIGNATURE, parsl::SIGNATURE, dask::SIGNATURE];

/// One case for each run of an engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineRun;

impl CaseNotion for EngineRun {
    fn name(&self) -> &'static str {
        "engine-run"
    }

    fn description(&self) -> &'static str {
        "jobs that one run of a workflow engine submitted, as their names, comments and directories show"
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn strength(&self) -> Strength {
        Strength::Derived
    }

    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        let jobs = entities.jobs;
        let mut assignment = Assignment::default();
        let mut known: FxHashMap<String, u32> = FxHashMap::default();
        for attempt in &jobs.attempts {
            let signed = signed(jobs, attempt);
            let id = match &signed {
                Some((_, run)) => format!("{}:{run}", self.name()),
                None => components::case_id(self.name(), components::key(jobs, attempt.submission)),
            };
            let case = match known.get(&id) {
                Some(&case) => case,
                None => {
                    let case = assignment.case(id.clone(), signed.is_some());
                    known.insert(id, case);
                    case
                }
            };
            assignment.case_of.push(case);
            assignment.why.push(Why {
                reason: signed.map_or("alone", |(engine, _)| engine),
                evidence: None,
                confidence: None,
                strength: None,
            });
        }
        assignment
    }
}

/// The engine that submitted a job, and the run: cluster, user, engine and run, escaped.
pub(crate) fn signed(jobs: &Jobs, attempt: &JobAttempt) -> Option<(&'static str, String)> {
    let text = |sym| jobs.text_of(sym).unwrap_or_default();
    let user = jobs.text_of(attempt.user)?;
    let command = text(attempt.command);
    let command = command.rsplit('/').next().unwrap_or(command);
    let recorded = Recorded { name: text(attempt.name), command, comment: text(attempt.comment), work_dir: text(attempt.work_dir) };
    let (signature, run) = SIGNATURES.iter().find_map(|signature| Some((signature, (signature.run)(&recorded)?)))?;
    let mut id = String::new();
    for part in [jobs.text(attempt.cluster), user, signature.engine, &run] {
        if !id.is_empty() {
            id.push(':');
        }
        escape(part, &mut id);
    }
    if let (false, Some(node), Some(session)) = (signature.names_run, jobs.text_of(attempt.submit_node), attempt.submit_session.get()) {
        id.push(':');
        escape(node, &mut id);
        id.push_str(&format!(":{session}"));
    }
    Some((signature.engine, id))
}

#[cfg(test)]
mod tests {
    use super::{Recorded, SIGNATURES};

    fn run_of(name: &str, command: &str, comment: &str, work_dir: &str) -> Option<(&'static str, String)> {
        let recorded = Recorded { name, command, comment, work_dir };
        SIGNATURES.iter().find_map(|signature| Some((signature.engine, (signature.run)(&recorded)?)))
    }

    #[test]
    fn engines_sign_their_jobs() {
        let uuid = "3f2b8c1e-90ab-4cde-8f01-23456789abcd";
        let found =
            |name, command, comment, work_dir| run_of(name, command, comment, work_dir).map(|(engine, run)| format!("{engine} {run}"));
        assert_eq!(found(uuid, "", "rule_trim_wildcards_s1", "/w"), Some(format!("snakemake {uuid}")));
        assert_eq!(found("nf-ALIGN_(s1)", ".command.run", "", "/p/work/3f/0a1b2c3d4e"), Some("nextflow /p/work".to_owned()));
        assert_eq!(found("makeflow12", "slurm.wrapper", "", "/p"), Some("makeflow /p".to_owned()));
        assert_eq!(found("cromwell_3f2b8c1e_align", "script", "", "/p"), Some("cromwell 3f2b8c1e".to_owned()));
        assert_eq!(found("parsl.htex.block-0.1700000000.12", "x", "", "/p"), Some("parsl /p htex".to_owned()));
        assert_eq!(found("dask-worker", "x", "", "/p"), Some("dask-jobqueue /p".to_owned()));
    }

    #[test]
    fn what_only_looks_like_an_engine_is_none() {
        for (name, command, comment, work_dir) in [
            ("3f2b8c1e-90ab-4cde-8f01-23456789abcd", "", "mine", "/w"),
            ("trim", "", "rule_trim", "/w"),
            ("nf-ALIGN", "run.sh", "", "/p/work/3f/0a1b2c3d4e"),
            ("nf-ALIGN", ".command.run", "", "/p/work"),
            ("makeflow", "slurm.wrapper", "", "/p"),
            ("makeflow1", "other", "", "/p"),
            ("cromwell_align", "script", "", "/p"),
            ("cromwell_3f2b8c1g_align", "script", "", "/p"),
            ("parsl.htex", "x", "", "/p"),
            ("my-dask-worker", "x", "", "/p"),
            ("", "", "", ""),
        ] {
            assert_eq!(run_of(name, command, comment, work_dir), None, "{name} {command}");
        }
    }
}
