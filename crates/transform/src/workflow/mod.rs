//! Reads and writes workflows: Makeflow's JSON, JX and own language, Slurm's job scripts and the
//! scripts that submit them, Snakefiles, lists of tasks in the paper's form, and lists of commands,
//! one a line.

mod constants;
mod files;
mod lines;
mod make_language;
mod makeflow;
mod one_word;
mod own_lines;
mod shell;
mod slurm;
mod snakemake;
mod tasks;
mod understood;

pub use files::{Files, NAMED_BYTES, NAMED_FILES, NoFiles, STATEMENTS, can_change, can_change_in, has_other_names_in, leads_here_in};

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use crate::algebra::{Collisions, Composition, Contents, FileName, Layer, Task, across, task_id};
use crate::error::{Error, Fault, Place, Result};
use crate::jx::syntax::Definition;
use crate::script::{self, About, Script, leads_out};

/// A workflow that was read.
pub struct Workflow {
    /// Its file as the user named it.
    pub file: String,
    /// Its tasks, with the categories in which they are.
    pub tasks: Vec<Entry>,
    /// Parts that cannot be wrapped, and stay unchanged.
    pub notes: Vec<Note>,
    form: Form,
}

/// A note on a workflow that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Place in the workflow's file.
    pub at: Place,
    /// The note, as a sentence.
    pub message: String,
}

/// A task of a workflow.
pub struct Entry {
    /// The task itself.
    pub task: Task,
    /// Its category, in workflows with categories.
    pub category: Option<String>,
    /// The numbers of tasks that come before it, in addition to those that make its inputs.
    pub after: Vec<usize>,
    /// Whether its inputs and outputs are declared.
    pub files: bool,
    /// Reason why its scripts may run more than once in a run of the workflow, if they may.
    pub repeats: Option<&'static str>,
}

impl Entry {
    /// Returns the activity of the task: its category, else its program.
    fn activity(&self) -> &str {
        self.category.as_deref().unwrap_or_else(|| program(&self.task.parts.command.cmd))
    }
}

/// The file name of a command's program.
fn program(command: &str) -> &str {
    let word = command.split_whitespace().find(|word| !word.contains('=')).unwrap_or(command);
    word.rsplit('/').next().unwrap_or(word).trim_end_matches(';')
}

enum Form {
    Makeflow(makeflow::Makeflow),
    Tasks,
    Lines(Vec<Option<usize>>, Vec<String>),
    Slurm(slurm::Slurm),
    Snakemake(snakemake::Snakemake),
}

/// A workflow that is transformed, before anything is written.
pub struct Plan {
    /// The text of the new workflow.
    pub workflow: String,
    /// Files next to it other than the layers' scripts: job scripts.
    pub files: Vec<Script>,
    /// Each task's layers, the plain one first; none for tasks that were not selected.
    pub tasks: Vec<(Task, Vec<Layer>)>,
    about: Vec<Known>,
    file: String,
    instances: bool,
}

/// Returns the identifier of a task before any layer was applied, or its name if none was.
fn plain_id((task, layers): &(Task, Vec<Layer>)) -> &str {
    layers.first().map_or(&task.name, |layer| &layer.id)
}

/// Properties of a task in its records.
struct Known {
    activity: String,
    /// The numbers of the tasks that come before it.
    parents: Vec<usize>,
}

impl Plan {
    /// The scripts of a task's layers, by the task's number; none for one that was not selected.
    pub fn scripts(&self, task: usize) -> Vec<Script> {
        let (Some((of, layers)), Some(known)) = (self.tasks.get(task), self.about.get(task)) else { return Vec::new() };
        let parents: Vec<&str> = known.parents.iter().filter_map(|n| self.tasks.get(*n)).map(plain_id).collect();
        let about = About { task: &of.name, activity: &known.activity, workflow: &self.file, parents: &parents, instances: self.instances };
        script::scripts(about, layers)
    }
}

/// Maximum size of the tasks of a workflow with all their layers, in bytes, in addition to
/// [`PER_TASK`] for each task.
const MOST_TASKS: usize = 512 << 20;
/// Number of bytes that each task with all its layers adds to that.
const PER_TASK: usize = 64 << 10;

impl Workflow {
    /// Reads a workflow. A name that ends in `.json`, `.jx`, `.makeflow` or `.mf` is Makeflow's or
    /// a list of tasks; one that ends in `.smk`, or is `Snakefile`, is Snakemake's; a script with
    /// lines or calls of sbatch is Slurm's; another is a list of commands.
    pub fn read(file: &str, bytes: &[u8], files: &dyn Files) -> Result<Self> {
        Self::read_with(file, bytes, files, &[])
    }

    /// As [`Workflow::read`], with files of JX with values that replace the workflow's own
    /// definitions (`makeflow --jx-args`); the last of several values holds. Each is its name and
    /// its bytes, and can use the values of those before it.
    pub fn read_with(file: &str, bytes: &[u8], files: &dyn Files, arguments: &[(String, Vec<u8>)]) -> Result<Self> {
        let mut definitions: Vec<Definition> = Vec::new();
        for (name, bytes) in arguments {
            let told = makeflow::arguments(utf8(name, bytes)?, &definitions).map_err(|fault| fault.in_file(name))?;
            definitions.retain(|known| !told.iter().any(|new| new.name == known.name));
            definitions.extend(told);
        }
        let text = utf8(file, bytes)?;
        let path = Path::new(file);
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let files = &files::Named::new(files);
        let read = match ending {
            _ if makeflow::is_makes_language(name, ending, text) => make_language::read(file, text, &definitions),
            "json" | "jx" | "makeflow" | "mf" => makeflow::read(file, text, &definitions),
            "smk" | "snakefile" => snakemake::read(file, text, files),
            _ if name.starts_with("Snakefile") => snakemake::read(file, text, files),
            _ if slurm::is_slurm(text) => slurm::read(file, text, files),
            _ if name.starts_with("Makeflow") => makeflow::read(file, text, &definitions),
            _ if text.starts_with("#!") => Err(Fault::new(
                Place { line: 1, column: 1 },
                "this is a script without a call of sbatch, and no list of commands: its lines belong together. Write the tasks one a line \
                 into a file without #!, or as a list in JSON",
            )),
            _ => tasks::lines(file, text),
        };
        read.map_err(|fault| fault.in_file(file))
    }

    /// Applies a composition to the tasks that `selection` names, or to all: by name, category or
    /// output.
    pub fn transform(&self, what: &Composition, selection: &[String], how: Collisions, contents: &dyn Contents) -> Result<Plan> {
        let chosen: Vec<bool> = self.tasks.iter().map(|entry| selection.is_empty() || selection.iter().any(|s| entry.is(s))).collect();
        if let Some(unknown) = selection.iter().find(|s| !self.tasks.iter().any(|entry| entry.is(s))) {
            let message = format!("no task, category or output is called “{unknown}”");
            return Err(Error::Text { file: self.file.clone(), at: Place { line: 1, column: 1 }, message });
        }
        let plain: Vec<Task> = self.tasks.iter().map(|entry| entry.task.clone()).collect();
        let made = plain.iter().flat_map(|task| &task.parts.outputs).map(|output| output.outer.as_str()).collect();
        let contents = &Sources { made, contents };
        let (mut after, mut size) = (Vec::with_capacity(plain.len()), 0usize);
        for (task, chosen) in plain.iter().zip(&chosen) {
            let task = if *chosen { what.apply(task.clone(), contents)? } else { task.clone() };
            size = size.saturating_add(task.size());
            if size > MOST_TASKS.saturating_add(plain.len().saturating_mul(PER_TASK)) {
                let message = format!("with {} the tasks up to here have more than {} MiB: the layers add too much", task.name, size >> 20);
                return Err(Error::Text { file: self.file.clone(), at: task.at, message });
            }
            after.push(task);
        }
        let repeats: Vec<Option<&str>> = self.tasks.iter().map(|entry| entry.repeats).collect();
        across(&self.file, &plain, &mut after, how, self.instances(), &repeats)?;
        self.need_files(&after)?;
        let (mut tasks, mut names) = (Vec::with_capacity(plain.len()), HashSet::new());
        for (task, chosen) in after.into_iter().zip(chosen) {
            let layers = if chosen { script::layers(&task, task_id(&task, contents)) } else { Vec::new() };
            if let Some(twice) = layers.iter().find(|layer| !names.insert(layer.id.clone())) {
                let message = format!("{} has the identifier {} of another task: give one of them another name", task.name, twice.id);
                return Err(Error::Collision { file: self.file.clone(), at: task.at, message });
            }
            if let Some((layer, name)) = layers.iter().filter(|layer| layer.sandbox).find_map(|layer| Some((layer, leads_out(layer)?))) {
                let message = format!(
                    "{} cannot run in a directory of its own ({}), because its file “{name}” is not below that directory: \
                     {{\"outer_name\": \"{name}\", \"inner_name\": NAME}} gives it a name there",
                    task.name, layer.name
                );
                return Err(Error::Text { file: self.file.clone(), at: task.at, message });
            }
            tasks.push((task, layers));
        }
        for (entry, (_, layers)) in self.tasks.iter().zip(&tasks) {
            let of_task: HashSet<&str> = entry.task.parts.outputs.iter().map(|file| file.outer.as_str()).collect();
            let of_layers = layers.iter().flat_map(|layer| &layer.parts.outputs).map(|file| file.outer.as_str());
            of_layers.filter(|file| !of_task.contains(file)).try_for_each(|file| self.refuse_mentioned(file))?;
        }
        let (workflow, files) = match &self.form {
            Form::Makeflow(makeflow) => (makeflow.write(&tasks), Vec::new()),
            Form::Tasks => (tasks::write_tasks(&tasks), Vec::new()),
            Form::Lines(order, lines) => (tasks::write_lines(order, lines, &tasks), Vec::new()),
            Form::Slurm(slurm) => slurm.write(&tasks),
            Form::Snakemake(snakemake) => snakemake.write(&tasks),
        };
        let file = Path::new(&self.file).file_name().map_or_else(|| self.file.clone(), |name| name.to_string_lossy().into_owned());
        Ok(Plan { workflow, files, tasks, about: self.known(), file, instances: self.instances() })
    }
}

impl Workflow {
    /// Refuses a file that is new in the directory of the workflow (the new workflow itself, a
    /// dataset, outputs of layers) where a script that submits jobs mentions its name, or has a
    /// pattern that can match it: the script would do something else.
    ///
    /// # Errors
    /// An error with the place of the name or pattern.
    pub fn refuse_mentioned(&self, file: &str) -> Result<()> {
        match &self.form {
            Form::Slurm(slurm) => slurm.refuse_mentioned(file).map_err(|fault| fault.in_file(&self.file)),
            _ => Ok(()),
        }
    }

    /// Refuses to replace a file with this text by the new workflow, if a script that submits jobs
    /// has a call with a job script that is known only when it runs: the call may submit that file.
    /// Files that `transform` wrote are replaced.
    ///
    /// # Errors
    /// An error with the place of the call.
    pub fn refuse_replaced(&self, file: &str, text: &str) -> Result<()> {
        let is_chain = matches!(&self.form, Form::Slurm(slurm) if slurm.is_chain());
        let Some(note) = self.notes.first().filter(|_| is_chain && !text.contains(".t_")) else { return Ok(()) };
        let message = format!("“{file}” exists, and this sbatch may submit it: choose a new name for the new script");
        Err(Error::Text { file: self.file.clone(), at: note.at, message })
    }

    /// Whether one script runs for many jobs: of an array, of a loop, of a rule with wildcards.
    fn instances(&self) -> bool {
        matches!(self.form, Form::Slurm(_) | Form::Snakemake(_))
    }

    /// Refuses a directory of its own for a task without declared files: the directory would not
    /// contain them.
    fn need_files(&self, after: &[Task]) -> Result<()> {
        for (entry, task) in self.tasks.iter().zip(after).filter(|(entry, _)| !entry.files) {
            let of_layers = task.under.iter().find(|layer| layer.sandbox).map(|layer| &layer.name);
            let renames = task.parts.inputs.iter().chain(&task.parts.outputs).any(FileName::is_renamed);
            let Some(layer) = of_layers.or((task.sandbox || renames).then_some(&task.layer)) else { continue };
            let how = match self.form {
                Form::Slurm(_) => "declare them in its job script: #FLOWMINE inputs NAME… and #FLOWMINE outputs NAME…",
                Form::Snakemake(_) => "those of a rule are known only when it runs",
                _ => "write the tasks as a list in JSON, with inputs and outputs",
            };
            let message =
                format!("{} cannot run in a directory of its own ({layer}), because its files are not declared: {how}", task.name);
            return Err(Error::Text { file: self.file.clone(), at: entry.task.at, message });
        }
        Ok(())
    }

    /// Returns the properties of all tasks. The tasks before a task are those that make its inputs,
    /// and its declared predecessors.
    fn known(&self) -> Vec<Known> {
        let outputs =
            |(n, entry): (usize, &Entry)| entry.task.parts.outputs.iter().map(move |file| (file.outer.clone(), n)).collect::<Vec<_>>();
        let makers: HashMap<String, usize> = self.tasks.iter().enumerate().flat_map(outputs).collect();
        let of = |(n, entry): (usize, &Entry)| {
            let makers = entry.task.parts.inputs.iter().filter_map(|file| makers.get(&file.outer).copied());
            let parents: BTreeSet<usize> = makers.chain(entry.after.iter().copied()).collect();
            Known { activity: entry.activity().to_owned(), parents: parents.into_iter().filter(|parent| *parent != n).collect() }
        };
        self.tasks.iter().enumerate().map(of).collect()
    }
}

/// Contents of files that no task makes: so the identifiers are the same before and after a run of
/// the workflow.
struct Sources<'a> {
    made: HashSet<&'a str>,
    contents: &'a dyn Contents,
}

impl Contents for Sources<'_> {
    fn digest(&self, name: &str) -> Option<[u8; 32]> {
        if self.made.contains(name) { None } else { self.contents.digest(name) }
    }
}

impl Entry {
    fn is(&self, selected: &str) -> bool {
        self.task.name == selected
            || self.category.as_deref() == Some(selected)
            || self.task.parts.outputs.iter().any(|output| output.outer == selected)
    }
}

/// Bytes as text, or the place of the first that is no UTF-8.
pub fn utf8<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let at = Place { line: u32::try_from(line).unwrap_or(u32::MAX), column: u32::try_from(column).unwrap_or(u32::MAX) };
        Error::Text { file: file.to_owned(), at, message: "the text is not UTF-8 here".to_owned() }
    })
}

/// Replacement of a task for an engine: the outermost script, and the files that it needs and
/// makes.
struct Outermost {
    command: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

fn outermost(task: &Task, layers: &[Layer]) -> Outermost {
    let mut inputs: Vec<String> = task.parts.inputs.iter().map(|file| file.outer.clone()).collect();
    let mut known: HashSet<String> = inputs.iter().cloned().collect();
    inputs.extend(layers.iter().map(Layer::script).filter(|script| known.insert(script.clone())));
    // The record is no declared output: Makeflow deletes those of a rule that failed, when the record is needed most.
    let outputs = task.parts.outputs.iter().map(|file| file.outer.clone()).collect();
    Outermost { command: format!("./{}", layers.last().map_or_else(String::new, Layer::script)), inputs, outputs }
}
