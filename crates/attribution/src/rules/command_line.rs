//! The last resort: a shell runs the command that an engine reports for a task, at the time and
//! place of the task, and ends with the same result. If several tasks match, the rule claims all of
//! them, and the claims contradict each other.
//!
//! A shell may execute its last command in its own place: what it was before counts as well.
//! Whether the process is below the engine that ran the task is looked at when it is decided
//! ([`super::engine::excludes`]).

use super::claim::{Claim, Strength};
use super::facts::{Facts, Program};
use super::rule::{AddClaim, Rule};
use super::{engine, native_id};
use crate::entities::{Entities, Task};

const SLACK_NS: i64 = 1_000_000_000;
/// A command with fewer bytes is no evidence: any process can have it.
const SHORTEST: usize = 8;
/// Maximum number of commands in front of it.
const BEFORE: usize = 8;
/// Maximum number of fitting tasks that are reported; two are enough for a contradiction, and some
/// may be excluded later.
const FITTING: usize = 64;

/// The rule's name, as in the table `links`.
pub const NAME: &str = "command-line";

pub(super) struct CommandLine;

impl Rule for CommandLine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn strength(&self) -> Strength {
        Strength::Inferred
    }

    fn of_program(&self, program: &Program, facts: &Facts, entities: &Entities, say: &mut AddClaim<'_>) {
        if facts.started_ns.is_none() {
            return;
        }
        // `sh -c COMMAND`: the argument after it. Snakemake puts `set -euo pipefail; ` before the command.
        let Some(arguments) = &program.command_line else { return };
        let Some(given) = arguments.iter().position(|argument| argument == "-c").and_then(|at| arguments.get(at + 1)) else { return };
        let ends = given.match_indices(';').take(BEFORE).map(|(at, _)| &given[at + 1..]);
        let commands = std::iter::once(given.as_str()).chain(ends).filter(|command| command.trim().len() >= SHORTEST);
        let fitting = commands.flat_map(|command| entities.tasks.with_command(command)).copied().filter(|at| {
            let task = entities.tasks.get(*at);
            // Below its engine it is where the engine is, whatever that place is called.
            let is_there =
                || task.host.as_deref().is_none_or(|host| native_id::same_host(host, &facts.host)) && is_in(program, facts, task);
            (task.submitted.is_some() || task.started.is_some())
                && engine::ran_as(task, facts, SLACK_NS)
                && (engine::is_above(task, facts) || is_there())
        });
        for task in fitting.take(FITTING) {
            say(Claim::Task(task), format!("runs the command of {} while it ran", entities.tasks.get(task).key));
        }
    }
}

/// Whether a program began in a task's directory, or below it, as far as both are known. In another
/// pid namespace a process sees other directories than its host.
fn is_in(program: &Program, facts: &Facts, task: &Task) -> bool {
    let Some((told, seen)) = task.work_dir.as_deref().zip(program.work_dir.as_deref()) else { return true };
    let below = seen.strip_prefix(told.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    below || !told.starts_with('/') || facts.container_pid.is_some()
}
