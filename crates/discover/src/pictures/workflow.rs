//! A workflow in the languages of those that run workflows: Makeflow's JSON, its own language,
//! Snakemake, and a script that submits jobs to Slurm.
//!
//! Commands are executed by `sh`; those of an engine that has another shell name it. Names and paths stand in quotes; what no quotes of
//! a language can hold is refused.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use crate::workflow::{Workflow, WorkflowTask, quoted};

/// Why a workflow cannot be written in a language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LanguageError {
    /// A task has no output by which the language could ask for it.
    #[error("{language} runs a task for its outputs, and none is known of {task:?}: write it for Slurm")]
    NoOutput {
        /// Name of the language.
        language: &'static str,
        /// Name of the task without an output.
        task: String,
    },
    /// A file whose name is a pattern to Snakemake.
    #[error("Snakemake takes the braces in {path:?}, a file of {task:?}, for a wildcard: write it for Makeflow or Slurm")]
    Braces {
        /// Path of the file.
        path: String,
        /// Name of the task that reads or writes it.
        task: String,
    },
    /// A file of which two tasks are the makers.
    #[error("{language} lets one task make a file, and {first:?} and {second:?} both wrote {path:?}: write it for Slurm")]
    TwoMakers {
        /// Name of the language.
        language: &'static str,
        /// Path of the file that two tasks wrote.
        path: String,
        /// Name of the first task that wrote it.
        first: String,
        /// Name of another task that wrote it.
        second: String,
    },
    /// A file that was there before the run would be taken for a result of a task.
    #[error(
        "{task:?} changed {path:?}, which was there before the run: {language} would take it for a result, and remove it or leave the task out; write it for Slurm"
    )]
    WasThere {
        /// Name of the language.
        language: &'static str,
        /// Path of the file.
        path: String,
        /// Name of the task that changed it.
        task: String,
    },
    /// A line's end where the language has none.
    #[error(
        "Makeflow's own language has a command, a name and a category on one line, and there is a line's end in one of {task:?}: write it as Makeflow's JSON"
    )]
    Lines {
        /// Name of the task.
        task: String,
    },
    /// A character that cannot be written.
    #[error("the command or a file of {task:?} has a NUL, which no program can be given")]
    Nul {
        /// Name of the task.
        task: String,
    },
}

#[derive(Serialize)]
struct Rules<'a> {
    rules: Vec<Rule<'a>>,
}

#[derive(Serialize)]
struct Rule<'a> {
    category: &'a str,
    command: Cow<'a, str>,
    inputs: &'a [String],
    outputs: &'a [String],
}

impl<'a> Rule<'a> {
    fn new(task: &'a WorkflowTask) -> Self {
        Self { category: &task.activity, command: command(task), inputs: &task.inputs, outputs: &task.outputs }
    }
}

/// Makeflow's JSON (`makeflow --json`, also read as JX by `--jx`).
///
/// # Errors
/// When Makeflow would not run the same.
pub fn makeflow(workflow: &Workflow) -> Result<String, LanguageError> {
    by_files(workflow, "Makeflow")?;
    let rules = Rules { rules: workflow.tasks.iter().map(Rule::new).collect() };
    let mut out = serde_json::to_string_pretty(&rules).unwrap_or_default();
    out.push('\n');
    Ok(out)
}

/// Makeflow's own language, after make's.
///
/// # Errors
/// When Makeflow would not run the same.
pub fn make(workflow: &Workflow) -> Result<String, LanguageError> {
    by_files(workflow, "Makeflow")?;
    let mut out = String::from("# Written by flowmine from a run.\n");
    for task in &workflow.tasks {
        let command = command(task);
        let texts = task.inputs.iter().chain(&task.outputs).map(String::as_str).chain([&*command, &task.activity]);
        if texts.into_iter().any(|text| text.contains(['\n', '\r'])) {
            return Err(LanguageError::Lines { task: task.name.clone() });
        }
        let list = |paths: &[String]| paths.iter().map(|path| word(path)).collect::<Vec<_>>().join(" ");
        let category = if task.activity.is_empty() { "default" } else { &task.activity };
        let _ = write!(
            out,
            "\n.MAKEFLOW CATEGORY {}\n{}: {}\n\t{}\n",
            word(category),
            list(&task.outputs),
            list(&task.inputs),
            one_command(&command)
        );
    }
    Ok(out)
}

/// A name in Makeflow's own language, where a backslash takes any meaning from what comes after it.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_./".contains(c);
    text.chars().flat_map(|c| [Some('\\').filter(|_| !is_plain(c)), Some(c)]).flatten().collect()
}

/// A command in it. Blanks after blanks would be lost, and two words at its beginning mean
/// something.
fn one_command(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for (at, c) in text.chars().enumerate() {
        let means = "\\\"'$#\t".contains(c) || (c == ' ' && before == ' ') || (at == 0 && c.is_alphabetic());
        out.extend(Some('\\').filter(|_| means));
        out.push(c);
        before = c;
    }
    out
}

/// A Snakefile: a rule for each task.
///
/// # Errors
/// When Snakemake would not run the same.
pub fn snakemake(workflow: &Workflow) -> Result<String, LanguageError> {
    by_files(workflow, "Snakemake")?;
    for task in &workflow.tasks {
        if let Some(path) = task.inputs.iter().chain(&task.outputs).find(|path| path.contains(['{', '}'])) {
            return Err(LanguageError::Braces { path: path.clone(), task: task.name.clone() });
        }
    }
    let list = |paths: &[String]| paths.iter().map(|path| literal(path)).collect::<Vec<_>>().join(", ");
    let mut out = String::from("# Written by flowmine from a run. Commands are executed by sh, as they were.\n\n");
    let named: BTreeSet<&str> =
        workflow.tasks.iter().flat_map(|task| task.inputs.iter().chain(&task.outputs)).map(String::as_str).collect();
    // A file below it is named too.
    let is_directory = |path: &str| {
        let below = format!("{path}/");
        named.range(&*below..).next().is_some_and(|other| other.starts_with(&below))
    };
    // What a task takes away again is not there at the end.
    let is_there = |path: &&String| !workflow.removed.contains(*path);
    let all: Vec<String> = workflow.tasks.iter().flat_map(|task| task.outputs.iter().filter(is_there).cloned()).collect();
    let _ = write!(out, "rule all:\n    input: {}\n", list(&all));
    for (at, task) in workflow.tasks.iter().enumerate() {
        let _ = write!(out, "\nrule task_{at}:\n");
        if !task.inputs.is_empty() {
            let _ = writeln!(out, "    input: {}", list(&task.inputs));
        }
        let outputs: Vec<String> = task
            .outputs
            .iter()
            .map(|path| if is_directory(path) { format!("directory({})", literal(path)) } else { literal(path) })
            .collect();
        let _ = writeln!(out, "    output: {}", outputs.join(", "));
        let _ = writeln!(out, "    shell: {}", literal(&braces(&format!("sh -c {}", script(&command(task))))));
    }
    Ok(out)
}

/// A script for `sh` that submits a job for each task, waiting for those before it to end well.
///
/// # Errors
/// When a command has a NUL.
pub fn slurm(workflow: &Workflow) -> Result<String, LanguageError> {
    let mut out = String::from(
        "#!/bin/sh\n# Written by flowmine from a run: submits its tasks as jobs of Slurm, from the directory in which their files are.\nset -eu\n\n",
    );
    for (at, task) in workflow.tasks.iter().enumerate() {
        no_nul(task)?;
        let _ = write!(out, "j{at}=$(sbatch --parsable --job-name={}", quoted(&one_line(&task.activity)));
        if !task.after.is_empty() {
            let ids: Vec<String> = task.after.iter().map(|before| format!("${{j{before}%%;*}}")).collect();
            let _ = write!(out, " --dependency=\"afterok:{}\"", ids.join(":"));
        }
        let _ = writeln!(out, " --wrap={})", quoted(&command(task)));
    }
    for at in 0..workflow.tasks.len() {
        let _ = writeln!(out, "echo \"${{j{at}%%;*}}\"");
    }
    Ok(out)
}

/// What is executed from the directory of the workflow.
fn command(task: &WorkflowTask) -> Cow<'_, str> {
    match &task.directory {
        // It is a path below; cd would take a beginning `-` for an option or the directory before, and
        // look for others in CDPATH too.
        Some(directory) => Cow::Owned(format!("cd ./{} && sh -c {}", quoted(directory), script(&task.command))),
        // What begins like this the engine's `sh -c` takes for its options.
        None if task.command.starts_with(['-', '+']) => Cow::Owned(format!("sh -c {}", script(&task.command))),
        None => Cow::Borrowed(&task.command),
    }
}

/// Refuses what a language of files cannot say.
fn by_files(workflow: &Workflow, language: &'static str) -> Result<(), LanguageError> {
    let mut makers: BTreeMap<&str, &WorkflowTask> = BTreeMap::new();
    for task in &workflow.tasks {
        for path in &task.outputs {
            if workflow.was_there.contains(path) {
                return Err(LanguageError::WasThere { language, path: path.clone(), task: task.name.clone() });
            }
            if let Some(other) = makers.insert(path, task).filter(|other| !std::ptr::eq(*other, task)) {
                let (first, second) = (other.name.clone(), task.name.clone());
                return Err(LanguageError::TwoMakers { language, path: path.clone(), first, second });
            }
        }
        no_nul(task)?;
        if task.outputs.is_empty() {
            return Err(LanguageError::NoOutput { language, task: task.name.clone() });
        }
    }
    Ok(())
}

fn no_nul(task: &WorkflowTask) -> Result<(), LanguageError> {
    let texts = task.inputs.iter().chain(&task.outputs).chain([&task.command, &task.activity]);
    if texts.into_iter().any(|text| text.contains('\0')) {
        return Err(LanguageError::Nul { task: task.name.clone() });
    }
    Ok(())
}

/// A script as a word after `sh -c`, which would take a beginning `-` or `+` for options.
fn script(text: &str) -> String {
    if text.starts_with(['-', '+']) { quoted(&format!(" {text}")) } else { quoted(text) }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A string of Python: JSON's are of its form.
fn literal(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Snakemake takes what stands in braces for a name.
fn braces(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str, inputs: &[&str], outputs: &[&str], after: &[usize]) -> WorkflowTask {
        let own = |list: &[&str]| list.iter().map(|path| (*path).to_owned()).collect();
        WorkflowTask {
            name: name.to_owned(),
            activity: name.to_owned(),
            command: format!("echo '{name}' {{}} > \"$HOME\""),
            directory: None,
            inputs: own(inputs),
            outputs: own(outputs),
            after: after.to_vec(),
        }
    }

    #[test]
    fn quotes_hold() {
        let made = Workflow { tasks: vec![task("a", &[], &["x"], &[]), task("b\n$(id)", &["x"], &["y z"], &[0])], ..Workflow::default() };
        let script = slurm(&made).unwrap();
        assert!(
            script.contains("--job-name='b $(id)' --dependency=\"afterok:${j0%%;*}\" --wrap='echo '\\''b\n$(id)'\\'' {} > \"$HOME\"')"),
            "{script}"
        );
        let snakefile = snakemake(&made).unwrap();
        assert!(snakefile.contains("output: \"y z\"") && snakefile.contains("{{}}"), "{snakefile}");
        assert!(matches!(make(&made), Err(LanguageError::Lines { task }) if task == "b\n$(id)"));
        let one = Workflow { tasks: vec![task("a  b", &["x y:z"], &["o"], &[])], ..Workflow::default() };
        assert_eq!(
            make(&one).unwrap(),
            "# Written by flowmine from a run.\n\n.MAKEFLOW CATEGORY a\\ \\ b\no: x\\ y\\:z\n\t\\echo \\'a \\ b\\' {} > \\\"\\$HOME\\\"\n"
        );
        let rules: serde_json::Value = serde_json::from_str(&makeflow(&made).unwrap()).unwrap();
        assert_eq!(rules["rules"][1]["outputs"][0], "y z");
    }

    #[test]
    fn directories_and_commands_may_begin_as_options_do() {
        let place = tempfile::tempdir().unwrap();
        for directory in ["-", "-P", "--", "plain"] {
            std::fs::create_dir(place.path().join(directory)).unwrap();
            let mut told = task("a", &[], &["x"], &[]);
            (told.directory, told.command) = (Some(directory.to_owned()), "-no-such-program 2>/dev/null; echo \"${PWD##*/}\"".to_owned());
            let run = std::process::Command::new("sh")
                .args(["-c", &command(&told)])
                .current_dir(place.path())
                .env("CDPATH", "/")
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&run.stdout), format!("{directory}\n"), "{}", String::from_utf8_lossy(&run.stderr));
        }
    }

    #[test]
    fn what_a_language_cannot_say_is_refused() {
        let without_output = Workflow { tasks: vec![task("a", &[], &[], &[])], ..Workflow::default() };
        assert!(matches!(makeflow(&without_output), Err(LanguageError::NoOutput { .. })));
        assert!(slurm(&without_output).is_ok());
        let twice = Workflow { tasks: vec![task("a", &[], &["x", "x"], &[]), task("b", &["x"], &["y", "x"], &[0])], ..Workflow::default() };
        assert!(matches!(snakemake(&twice), Err(LanguageError::TwoMakers { path, .. }) if path == "x"));
        let mut below = Workflow { tasks: vec![task("a", &[], &["x"], &[])], ..Workflow::default() };
        below.tasks[0].directory = Some("in side".to_owned());
        assert!(makeflow(&below).unwrap().contains("cd ./'in side' && sh -c 'echo '\\\\''a'\\\\'' {}"));
        let mut nul = Workflow { tasks: vec![task("a", &[], &["x"], &[])], ..Workflow::default() };
        nul.tasks[0].command.push('\0');
        assert!(matches!(slurm(&nul), Err(LanguageError::Nul { .. })));
        let without_output = Workflow { tasks: vec![task("a", &[], &[], &[])], ..Workflow::default() };
        assert!(matches!(snakemake(&without_output), Err(LanguageError::NoOutput { .. })));
        let pattern = Workflow { tasks: vec![task("a", &[], &["{x}"], &[])], ..Workflow::default() };
        assert!(matches!(snakemake(&pattern), Err(LanguageError::Braces { .. })));
    }
}
