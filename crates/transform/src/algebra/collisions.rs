//! Static name collisions (the paper's section "Composability versus Commutability"): found before
//! anything runs.

use std::collections::{HashMap, HashSet};

use super::task::{FileName, Parts, Task};
use crate::error::{Error, Fault, Place, Result};

/// Policy for transformations that give two tasks of a workflow an output of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Collisions {
    /// The workflow is refused: nothing is transformed.
    #[default]
    Refuse,
    /// The output has the task's identifier after its name in the workflow, and its own name where
    /// the task runs.
    Remap,
}

/// Refuses what a layer adds when it takes a name that the task has already.
pub(super) fn within(at: Place, before: &Parts, after: &Parts, script: &str) -> Result<(), Fault> {
    let clash = |name: &str, what: &str| {
        Err(Fault::new(at, format!("static name collision: “{name}” is {what}; give it another inner_name or outer_name")))
    };
    let mut inner: HashMap<&str, &str> = HashMap::new();
    for file in &after.inputs {
        if let Some(other) = inner.insert(&file.inner, &file.outer) {
            return clash(&file.inner, &format!("the name of two inputs where the task runs, “{other}” and “{}”", file.outer));
        }
    }
    let outer: HashSet<&str> = after.inputs.iter().map(|file| file.outer.as_str()).collect();
    let (mut inner_out, mut outer_out) = (HashSet::new(), HashSet::new());
    let old: HashSet<&FileName> = before.outputs.iter().collect();
    for file in &after.outputs {
        if !inner_out.insert(file.inner.as_str()) {
            return clash(&file.inner, "the name of two outputs where the task runs");
        }
        if !outer_out.insert(file.outer.as_str()) {
            return clash(&file.outer, "the name of two outputs in the workflow");
        }
        if old.contains(file) {
            continue;
        }
        if file.inner == script || file.outer == script {
            return clash(script, "the script of the task below");
        }
        if inner.contains_key(file.inner.as_str()) || outer.contains(file.outer.as_str()) {
            return clash(&file.inner, "an output that the layer adds, and an input of the task");
        }
    }
    Ok(())
}

/// Looks for outputs of one name among the tasks of a workflow, and for added outputs that are
/// other tasks' inputs. `plain` are the tasks as they were, `tasks` the same transformed. `shared`
/// says that tasks of the workflow itself may make one file, as jobs one after the other do;
/// `repeats` why a task may run more than once: then all its runs would make the file that a layer
/// adds.
pub fn across(file: &str, plain: &[Task], tasks: &mut [Task], how: Collisions, shared: bool, repeats: &[Option<&str>]) -> Result<()> {
    let mut users: HashMap<String, usize> = HashMap::new();
    for (n, task) in plain.iter().enumerate() {
        let files: HashSet<&str> = task.parts.inputs.iter().chain(&task.parts.outputs).map(|f| f.outer.as_str()).collect();
        for name in files {
            users.insert(name.to_owned(), n);
        }
    }
    let mut makers: HashMap<String, usize> = HashMap::new();
    for task in tasks.iter() {
        for output in &task.parts.outputs {
            *makers.entry(output.outer.clone()).or_default() += 1;
        }
    }
    for ((task, before), repeats) in tasks.iter_mut().zip(plain).zip(repeats) {
        let id = task.under.last().map_or_else(String::new, |layer| layer.id.clone());
        let (name, at) = (task.name.clone(), task.at);
        let own: HashSet<&str> = before.parts.outputs.iter().map(|output| output.outer.as_str()).collect();
        for output in &mut task.parts.outputs {
            let added = !own.contains(output.outer.as_str());
            let taken = makers.get(&output.outer).is_some_and(|n| *n > 1) || (added && users.contains_key(&output.outer));
            let again = repeats.filter(|_| added && !output.outer.starts_with("/dev/"));
            if again.is_none() && (!taken || shared && !added) {
                continue;
            }
            if added && how == Collisions::Remap && !output.outer.starts_with('/') {
                output.outer = format!("{}.{id}", output.outer);
                output.each_run = again.is_some();
                continue;
            }
            let hint = if added { "; --collisions remap gives each task's its identifier" } else { "" };
            if let Some(why) = again {
                let message = format!(
                    "static name collision: {why}, and all jobs of {name} would make the output “{}”: where files are declared --collisions remap gives each its own, else the layer's command names it after $FLOWMINE_TASK and its outputs leave it out",
                    output.outer
                );
                return Err(Error::Collision { file: file.to_owned(), at, message });
            }
            let message = format!("static name collision: the output “{}” of {name} is another task's file too{hint}", output.outer);
            return Err(Error::Collision { file: file.to_owned(), at, message });
        }
    }
    needed_outputs(file, plain, tasks)
}

/// Refuses a transformation that hides an output which another task reads.
fn needed_outputs(file: &str, plain: &[Task], tasks: &[Task]) -> Result<()> {
    let read: HashSet<&str> = plain.iter().flat_map(|task| &task.parts.inputs).map(|input| input.outer.as_str()).collect();
    for (before, after) in plain.iter().zip(tasks) {
        let made: HashSet<&str> = after.parts.outputs.iter().map(|output| output.outer.as_str()).collect();
        let lost = before.parts.outputs.iter().find(|o| read.contains(o.outer.as_str()) && !made.contains(o.outer.as_str()));
        if let Some(lost) = lost {
            let message = format!("{} no longer makes “{}”, which other tasks read: write T.outputs + […]", before.name, lost.outer);
            return Err(Error::Collision { file: file.to_owned(), at: after.at, message });
        }
    }
    Ok(())
}
