//! Environment variables that a scheduler or an engine sets: Slurm's `SLURM_JOB_ID`,
//! `SLURM_STEP_ID` and `SLURM_CLUSTER_NAME` (sbatch(1), srun(1)), Airflow's `AIRFLOW_CTX_…`,
//! Nextflow's `NXF_TASK_WORKDIR`. Whoever starts a process can set them to anything, so that they
//! count less than a control group.

use super::claim::{Claim, JobClaim, Strength};
use super::facts::{Facts, User};
use super::rule::{AddClaim, Rule};
use crate::entities::Entities;

/// The variables that rules read: those that `flowmine trace` records by default.
pub const VARIABLES: &[&str] = &[
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_CLUSTER_NAME",
    "AIRFLOW_CTX_DAG_ID",
    "AIRFLOW_CTX_DAG_RUN_ID",
    "AIRFLOW_CTX_TASK_ID",
    "AIRFLOW_CTX_TRY_NUMBER",
    "NXF_TASK_WORKDIR",
];

pub(super) struct Environment;

impl Rule for Environment {
    fn name(&self) -> &'static str {
        "environment"
    }

    fn strength(&self) -> Strength {
        Strength::Derived
    }

    fn makers(&self, facts: &Facts) -> Vec<User> {
        facts.environment_makers()
    }

    fn of_process(&self, facts: &Facts, entities: &Entities, say: &mut AddClaim<'_>) {
        if let Some(id) = facts.variable("SLURM_JOB_ID").and_then(|id| id.parse().ok()) {
            let cluster = facts.variable("SLURM_CLUSTER_NAME").map(str::to_owned);
            let step = facts.variable("SLURM_STEP_ID").map(step);
            say(Claim::Job(JobClaim { id, cluster, step }), format!("SLURM_JOB_ID={id}"));
        }
        let found = airflow(facts, entities);
        if let [task] = found[..] {
            let id = facts.variable("AIRFLOW_CTX_TASK_ID").unwrap_or_default();
            say(Claim::Task(task), format!("AIRFLOW_CTX_TASK_ID={id}"));
        }
        if let Some(dir) = facts.variable("NXF_TASK_WORKDIR")
            && let [task] = entities.tasks.in_work_dir(dir)
        {
            say(Claim::Task(*task), format!("NXF_TASK_WORKDIR={dir}"));
        }
    }
}

/// Slurm numbers its special steps from the top of 32 bits (slurm.h).
fn step(id: &str) -> String {
    match id {
        "4294967291" => "batch".to_owned(),
        "4294967292" => "extern".to_owned(),
        "4294967290" => "interactive".to_owned(),
        id => id.to_owned(),
    }
}

/// Instances of a mapped task have no index there: they are found by their process.
fn airflow(facts: &Facts, entities: &Entities) -> Vec<u32> {
    let run = facts.variable("AIRFLOW_CTX_DAG_RUN_ID").zip(facts.variable("AIRFLOW_CTX_TASK_ID"));
    let Some((run, task)) = run else { return Vec::new() };
    let try_number = facts.variable("AIRFLOW_CTX_TRY_NUMBER").and_then(|number| number.parse().ok());
    let dag = facts.variable("AIRFLOW_CTX_DAG_ID");
    let fits = |at: &u32| {
        let known = entities.tasks.get(*at);
        let same_run = known.run_id.as_deref() == Some(run) && dag.is_none_or(|dag| known.run_name.as_deref() == Some(dag));
        known.engine == "airflow" && same_run && known.attempt == try_number
    };
    entities.tasks.with_task_id(task).iter().copied().filter(fits).collect()
}
