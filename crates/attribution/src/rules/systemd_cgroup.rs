//! A control group of systemd's names the scope or service:
//! `/user.slice/user-1000.slice/session-4.scope` (systemd.scope(5), systemd.service(5)). The
//! innermost one counts; those of containers and of Slurm's jobs are what their own rules say.

use super::claim::{Claim, Strength};
use super::facts::Facts;
use super::rule::{AddClaim, Rule};
use super::{container_cgroup, slurm_cgroup};
use crate::entities::Entities;

pub(super) struct SystemdCgroup;

impl Rule for SystemdCgroup {
    fn name(&self) -> &'static str {
        "systemd-cgroup"
    }

    fn strength(&self) -> Strength {
        Strength::Declared
    }

    fn of_process(&self, facts: &Facts, _: &Entities, say: &mut AddClaim<'_>) {
        let of_others = |path: &&str| container_cgroup::container(path).is_some() || slurm_cgroup::read(path).is_some();
        let unit = |path: &str| path.rsplit('/').find(|step| step.ends_with(".scope") || step.ends_with(".service")).map(str::to_owned);
        if let Some((unit, path)) = facts.cgroups().filter(|path| !of_others(path)).find_map(|path| Some((unit(path)?, path))) {
            say(Claim::Unit(unit), format!("control group {path}"));
        }
    }
}
