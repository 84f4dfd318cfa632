//! A control group of a container runtime names the container, and of Kubernetes the pod.
//!
//! Kubernetes: `/kubepods/burstable/pod<uid>/<id>` or, with systemd,
//! `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid with
//! _>.slice/cri-containerd-<id>.scope`; Docker: `/docker/<id>`, `docker-<id>.scope`; Podman:
//! `libpod-<id>` and `libpod-<id>.scope`; CRI-O: `crio-<id>.scope`. An id has 64 hexadecimal
//! digits. `libpod-conmon-…` is the monitor of a container, which is not in it. A pod below a
//! user's own control groups is not accepted: only root makes those of Kubernetes.

use super::claim::{Claim, Strength};
use super::facts::Facts;
use super::rule::{AddClaim, Rule};
use super::slurm_cgroup;
use crate::entities::Entities;

pub(super) struct ContainerCgroup;

impl Rule for ContainerCgroup {
    fn name(&self) -> &'static str {
        "container-cgroup"
    }

    fn strength(&self) -> Strength {
        Strength::Declared
    }

    fn of_process(&self, facts: &Facts, _: &Entities, say: &mut AddClaim<'_>) {
        if let Some((id, path)) = facts.cgroups().find_map(|path| Some((container(path)?, path))) {
            say(Claim::Container(id.to_owned()), format!("control group {path}"));
        }
        if let Some((uid, path)) = facts.cgroups().find_map(|path| Some((pod(path)?, path))) {
            say(Claim::Pod(uid), format!("control group {path}"));
        }
    }
}

/// The innermost container of a path.
pub(super) fn container(path: &str) -> Option<&str> {
    path.rsplit('/').find_map(|step| {
        let name = step.strip_suffix(".scope").unwrap_or(step);
        let id = name.rsplit(['-', ':']).next()?;
        let is_id = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_id && !name.contains("conmon")).then_some(id)
    })
}

/// Whether the group that names the container of a process is one that a user can have made: of
/// Podman without root, or of a user who knows the id of another user's container.
pub(super) fn of_user(facts: &Facts) -> bool {
    let path = facts.cgroups().find(|path| container(path).is_some());
    path.is_some_and(|path| path.split('/').any(slurm_cgroup::is_of_user))
}

/// The uid of the Kubernetes pod in a cgroup's path, if there is one that no user can have made.
pub(super) fn pod(path: &str) -> Option<String> {
    let of_user = path.split('/').any(slurm_cgroup::is_of_user);
    path.split('/').filter(|_| path.contains("kubepods") && !of_user).find_map(|step| {
        let name = step.strip_suffix(".slice").unwrap_or(step);
        let (before, uid) = name.rsplit_once("pod")?;
        let uid = uid.replace('_', "-");
        let is_uid = uid.len() >= 32 && uid.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        (is_uid && (before.is_empty() || before.ends_with('-'))).then_some(uid)
    })
}
