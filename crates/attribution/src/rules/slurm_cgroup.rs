//! A control group of Slurm's names its job and step.
//!
//! v1: `/slurm/uid_1000/job_7/step_0/task_0` (`/slurm_NODE/…` with several slurmd on a machine);
//! v2: `/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0` (cgroup.conf(5), slurm's
//! cgroup_v2 documentation). Steps are numbers, `batch`, `extern`, `interactive`. Only these places
//! count, from the root of the hierarchy: below a service or session that systemd delegates to a
//! user, the user can make any others. A slurmd in a container has its groups below the
//! container's, as seen from outside; its processes are assigned by their environment.

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
    let below = below_v1(path).map(|(_, below)| below).or_else(|| below_v2(path))?;
    let mut steps = below.split('/');
    let id = steps.next()?.strip_prefix("job_")?.parse().ok()?;
    let step = steps.next().and_then(|step| step.strip_prefix("step_")).map(str::to_owned);
    Some(JobClaim { id, cluster: None, step })
}

/// The user of a job by the path of its control group, which only v1 has.
pub(super) fn owner(facts: &Facts) -> Option<i64> {
    facts.cgroups().find_map(|path| below_v1(path).map(|(uid, _)| uid))
}

/// The user, and what follows, in the group that slurmd makes in the root of a v1 hierarchy.
fn below_v1(path: &str) -> Option<(i64, &str)> {
    let (own, rest) = path.strip_prefix('/')?.split_once('/')?;
    let (user, below) = rest.split_once('/')?;
    let uid: u32 = user.strip_prefix("uid_")?.parse().ok()?;
    (own == "slurm" || own.starts_with("slurm_")).then_some((uid.into(), below))
}

/// What follows Slurm's scope, which lies in a slice of the system's (`CgroupSlice` of
/// cgroup.conf(5), else `system.slice`). Users' slices are below `user.slice`.
fn below_v2(path: &str) -> Option<&str> {
    let mut rest = path.strip_prefix('/')?;
    let mut slices = 0;
    loop {
        let (step, below) = rest.split_once('/')?;
        if slices > 0 && step.strip_suffix("slurmstepd.scope").is_some_and(|node| node.is_empty() || node.ends_with('_')) {
            return Some(below);
        }
        if !step.ends_with(".slice") || is_of_user(step) {
            return None;
        }
        (slices, rest) = (slices + 1, below);
    }
}

/// Whether systemd delegates a control group to a user, who can make others in it (systemd's
/// documentation on control group delegation): that of a session, or of a service with `Delegate=`,
/// such as a notebook server. Services of container runtimes run as root.
pub(super) fn is_of_user(step: &str) -> bool {
    let is_service = step.ends_with(".service") && !RUNTIMES.contains(&step);
    step == "user.slice" || step.starts_with("user@") || step.starts_with("user-") || is_service
}

/// Services in which container runtimes put containers, where they do not use slices.
const RUNTIMES: &[&str] =
    &["containerd.service", "crio.service", "docker.service", "k3s-agent.service", "k3s.service", "kubelet.service", "rke2-agent.service"];
