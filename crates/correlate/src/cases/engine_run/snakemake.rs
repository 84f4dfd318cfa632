//! Snakemake's executor plugin for Slurm: the job's name is the UUID of the run, the comment is
//! `rule_NAME` with the wildcards (snakemake-executor-plugin-slurm, `run_job`).

use super::{Recorded, Signature};
use crate::engine_jobs::is_uuid;

pub(super) const SIGNATURE: Signature = Signature { engine: "snakemake", names_run: true, run };

fn run(job: &Recorded<'_>) -> Option<String> {
    (is_uuid(job.name) && job.comment.starts_with("rule_")).then(|| job.name.to_owned())
}
