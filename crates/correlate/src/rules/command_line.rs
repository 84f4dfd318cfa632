//! The last resort: a shell runs what an engine says that a task runs, at the time at which it ran. When several tasks fit, none does.

use super::{Claim, Facts, Rule, Said, Strength, native_id};
use crate::entities::Entities;

const SLACK_NS: i64 = 1_000_000_000;
/// Shorter commands are anybody's.
const SHORTEST: usize = 8;
/// So many commands may stand before it.
const BEFORE: usize = 8;

pub(super) struct CommandLine;

impl Rule for CommandLine {
    fn name(&self) -> &'static str {
        "command-line"
    }

    fn strength(&self) -> Strength {
        Strength::Guessed
    }

    fn of_process(&self, facts: &Facts, entities: &Entities, say: &mut Said<'_>) {
        let Some(started_ns) = facts.started_ns else { return };
        // `sh -c COMMAND`: the argument after it. Snakemake puts `set -euo pipefail; ` before the command.
        let Some(arguments) = &facts.command_line else { return };
        let Some(given) = arguments.iter().position(|argument| argument == "-c").and_then(|at| arguments.get(at + 1)) else { return };
        let ends = given.match_indices(';').take(BEFORE).map(|(at, _)| &given[at + 1..]);
        let commands = std::iter::once(given.as_str()).chain(ends).filter(|command| command.trim().len() >= SHORTEST);
        let mut fitting = commands.flat_map(|command| entities.tasks.with_command(command)).copied().filter(|at| {
            let task = entities.tasks.get(*at);
            (task.submitted.is_some() || task.started.is_some())
                && task.covers(started_ns, SLACK_NS)
                && task.host.as_deref().is_none_or(|host| native_id::same_host(host, &facts.host))
        });
        if let Some(first) = fitting.next()
            && fitting.next().is_none()
        {
            say(Claim::Task(first), format!("runs the command of {} while it ran", entities.tasks.get(first).key));
        }
    }
}
