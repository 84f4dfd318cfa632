//! A control group of Slurm's names its job and step.
//!
//! v1: `/slurm/uid_1000/job_7/step_0/task_0` (`/slurm_NODE/…` with several slurmd on a machine); v2: `/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0`
//! (cgroup.conf(5), slurm's cgroup_v2 documentation). Steps are numbers, `batch`, `extern`, `interactive`.

use super::{Claim, Facts, JobClaim, Rule, Said, Strength};
use crate::entities::Entities;

pub(super) struct SlurmCgroup;

impl Rule for SlurmCgroup {
    fn name(&self) -> &'static str {
        "slurm-cgroup"
    }

    fn strength(&self) -> Strength {
        Strength::Told
    }

    fn of_process(&self, facts: &Facts, _: &Entities, say: &mut Said<'_>) {
        // The path that tells most: some hierarchies know the job only.
        let told = facts.cgroups().filter_map(|path| Some((read(path)?, path)));
        if let Some((job, path)) = told.max_by_key(|(job, path)| (job.step.is_some(), std::cmp::Reverse(*path))) {
            say(Claim::Job(job), format!("control group {path}"));
        }
    }
}

/// The job and the step of a path.
pub(super) fn read(path: &str) -> Option<JobClaim> {
    let mut steps = path.split('/').skip_while(|step| !step.contains("slurm"));
    steps.next()?;
    let id = steps.find_map(|step| step.strip_prefix("job_")?.parse().ok())?;
    let step = steps.next().and_then(|step| step.strip_prefix("step_")).map(str::to_owned);
    Some(JobClaim { id, cluster: None, step })
}
