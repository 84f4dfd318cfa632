//! A control group of Slurm's names its job and step.
//!
//! v1: `/slurm/uid_1000/job_7/step_0/task_0` (`/slurm_NODE/…` with several slurmd on a machine);
//! v2: `/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0` (cgroup.conf(5), slurm's
//! cgroup_v2 documentation). Steps are numbers, `batch`, `extern`, `interactive`. Only groups that
//! are called exactly so count, in which Slurm's own stands first and not below those that systemd
//! hands to a user (`user.slice`), who can make any in them.

use super::claim::{Claim, JobClaim, Strength};
use super::facts::Facts;
use super::rule::{AddClaim, Rule};
use crate::entities::Entities;

/// The rule's name, as in the table `links`.
pub const NAME: &str = "slurm-cgroup";

pub(super) struct SlurmCgroup;

impl Rule for SlurmCgroup {
    fn name(&self) -> &'static str {
        NAME
    }

    fn strength(&self) -> Strength {
        Strength::Declared
    }

    fn of_process(&self, facts: &Facts, _: &Entities, say: &mut AddClaim<'_>) {
        // The path that says most: some hierarchies know the job only.
        let told = facts.cgroups().filter_map(|path| Some((read(path)?, path)));
        if let Some((job, path)) = told.max_by_key(|(job, path)| (job.step.is_some(), std::cmp::Reverse(*path))) {
            say(Claim::Job(job), format!("control group {path}"));
        }
    }
}

/// The job and the step of a path.
pub(super) fn read(path: &str) -> Option<JobClaim> {
    let mut steps = path.split('/').filter(|step| !step.is_empty());
    loop {
        let step = steps.next()?;
        if is_of_user(step) {
            return None;
        }
        if step == "slurm" || step.starts_with("slurm_") {
            steps.next()?.strip_prefix("uid_")?.parse::<u32>().ok()?;
            break;
        }
        if step.strip_suffix("slurmstepd.scope").is_some_and(|node| node.is_empty() || node.ends_with('_')) {
            break;
        }
    }
    let id = steps.next()?.strip_prefix("job_")?.parse().ok()?;
    let step = steps.next().and_then(|step| step.strip_prefix("step_")).map(str::to_owned);
    Some(JobClaim { id, cluster: None, step })
}

/// Whether a control group is one that systemd hands to a user, who can make others in it
/// (systemd's documentation on control group delegation).
pub(super) fn is_of_user(step: &str) -> bool {
    step == "user.slice" || step.starts_with("user@") || step.starts_with("user-")
}
