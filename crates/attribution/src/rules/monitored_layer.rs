//! A monitor that `flowmine transform` put around a task: `flowmine trace --task ID` declares that
//! a process and all below it are the task ID (engine `flowmine`). ID is the identifier of a layer
//! of a transformed task, and the record of that task contains the attempt that ran at that time.
//! Both are declared; no name, time or command is inferred.

use super::claim::{Claim, Strength};
use super::facts::Facts;
use super::native_id::same_host;
use super::rule::{AddClaim, Rule};
use crate::entities::Entities;

/// The tracer and the shell read one clock, of one host; the record's precision is in its row.
/// Attempts follow each other at once, so that this has to be short.
const SLACK_NS: i64 = 100_000_000;

pub(super) struct MonitoredLayer;

impl Rule for MonitoredLayer {
    fn name(&self) -> &'static str {
        "monitored-layer"
    }

    fn strength(&self) -> Strength {
        Strength::Declared
    }

    fn of_process(&self, facts: &Facts, entities: &Entities, say: &mut AddClaim<'_>) {
        let tasks = &entities.tasks;
        let Some(started_ns) = facts.started_ns else { return };
        let covers = |at: &u32, slack: i64| tasks.get(*at).covers(started_ns, slack);
        let pid = facts.pid.to_string();
        let traced = tasks.with_native_id(&pid).iter().filter(|at| {
            let task = tasks.get(**at);
            task.engine == "flowmine"
                && task.native_kind.as_deref() == Some("pid")
                && task.host.as_deref().is_some_and(|host| same_host(host, &facts.host))
        });
        for task in traced.filter(|at| covers(at, 0)).map(|at| tasks.get(*at)) {
            let Some(id) = task.task_id.as_deref() else { continue };
            let mut attempts = tasks.with_layer(id).iter().copied().filter(|at| covers(at, SLACK_NS));
            if let (Some(only), None) = (attempts.next(), attempts.next()) {
                say(Claim::Task(only), format!("its monitor's task is the layer {id}"));
                return;
            }
        }
    }
}
