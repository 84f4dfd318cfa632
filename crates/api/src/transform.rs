//! Layers of the workflow algebra around the tasks of a workflow.

mod contents;
mod explain;
mod files;
mod scripts;

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use flowmine_files::Folder;
use flowmine_schema::text::visible;
use flowmine_transform::Error as TransformError;
use flowmine_transform::algebra::Composition;
use flowmine_transform::workflow::{Plan, Workflow};
use serde::Serialize;

use crate::error::{Result, refuse};
use crate::options::Choice;
use crate::sink::Sink;
use contents::FileContents;
use files::{Beside, bytes, composition};

pub use flowmine_transform::algebra::Collisions;

/// A transformation: of which workflow, by which layers.
#[derive(Debug, Clone)]
pub struct Request {
    /// The workflow.
    pub workflow: PathBuf,
    /// The layers, the innermost first: files, `FILE#NAME`, or names of built-in ones.
    pub layers: Vec<String>,
    /// Values of names that the layers bind.
    pub values: Vec<(String, String)>,
    /// Files with definitions for a workflow in JX.
    pub jx_args: Vec<PathBuf>,
    /// Names, categories or outputs of the tasks; empty for all.
    pub selection: Vec<String>,
    /// What is done when two tasks get an output of one name.
    pub collisions: Collisions,
    /// The file of the new workflow, from whose directory it runs; without it that of the workflow.
    pub out: Option<PathBuf>,
}

impl Choice for Collisions {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("refuse", "It is an error", Self::Refuse),
        ("remap", "Each gets its task's identifier after its name in the workflow", Self::Remap),
    ];
}

/// A transformed workflow, which is not written yet.
pub struct Transformed {
    /// The new workflow with its scripts.
    pub plan: Plan,
    /// Whether something of the workflow was left out, which was reported.
    pub is_lossy: bool,
    out: Option<PathBuf>,
    directory: PathBuf,
}

/// The numbers of a transformation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Numbers {
    /// Number of tasks.
    pub tasks: usize,
    /// Number of tasks that have layers.
    pub transformed: usize,
}

/// Applies layers to a workflow. Nothing is written, and nothing of the workflow runs.
///
/// # Errors
/// When a file cannot be read, or a layer does not go with a task.
pub fn transform(request: &Request, sink: &dyn Sink) -> Result<Transformed> {
    let name = request.workflow.display().to_string();
    let beside = request.workflow.parent().unwrap_or(Path::new("")).to_owned();
    let arguments = request.jx_args.iter().map(|path| Ok((path.display().to_string(), bytes(path)?)));
    let arguments = arguments.collect::<Result<Vec<_>, TransformError>>()?;
    let workflow = Workflow::read_with(&name, &bytes(&request.workflow)?, &Beside(beside), &arguments)?;
    for note in &workflow.notes {
        sink.warning(&format!("{}:{}: {}", visible(&name), note.at, visible(&note.message)));
    }
    let layers = layers(request)?;
    // Names of files in a workflow are seen from where it runs: the directory of what is written.
    let beside = request.out.as_deref().unwrap_or(&request.workflow);
    let directory = beside.parent().unwrap_or(Path::new("")).to_owned();
    if let Some(out) = request.out.as_deref().and_then(Path::file_name) {
        workflow.refuse_mentioned(&out.to_string_lossy())?;
        if let Some(text) = request.out.as_deref().and_then(files::there) {
            workflow.refuse_replaced(&out.to_string_lossy(), &text)?;
        }
    }
    for layer in &layers.0 {
        if let Some(dataset) = layer.dataset()? {
            workflow.refuse_mentioned(&dataset)?;
            refuse_no_dataset(&layer.name, &directory.join(dataset))?;
        }
    }
    let contents = FileContents::new(directory.clone());
    let plan = workflow.transform(&layers, &request.selection, request.collisions, &contents)?;
    Ok(Transformed { plan, is_lossy: !workflow.notes.is_empty(), out: request.out.clone(), directory })
}

impl Transformed {
    /// Returns the numbers of tasks.
    pub fn numbers(&self) -> Numbers {
        let tasks = &self.plan.tasks;
        Numbers { tasks: tasks.len(), transformed: tasks.iter().filter(|(_, layers)| !layers.is_empty()).count() }
    }

    /// Writes the layers of each task for people.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn explain(&self, out: &mut dyn Write) -> Result<()> {
        Ok(self.plan.tasks.iter().try_for_each(|(task, layers)| explain::explain(out, task, layers))?)
    }

    /// Writes the scripts and then the workflow. Returns the number of scripts.
    ///
    /// # Errors
    /// When they cannot be written there, or the request has no file for the workflow.
    pub fn write(&self, sink: &dyn Sink) -> Result<usize> {
        let Some(path) = &self.out else { refuse!("there is no file for the new workflow") };
        scripts::write(&self.plan, path, &self.directory, sink)
    }
}

/// Reads the layers of a request.
fn layers(request: &Request) -> Result<Composition> {
    let (mut layers, mut bound) = (Composition::default(), HashSet::new());
    for layer in &request.layers {
        layers = layers.then(composition(layer, &request.values, &mut bound)?);
    }
    if let Some((name, _)) = request.values.iter().find(|(name, _)| !bound.contains(name)) {
        let mut known: Vec<&str> = bound.iter().map(String::as_str).collect();
        known.sort_unstable();
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        refuse!("no layer binds “{}” with let; they bind {}", visible(name), visible(&known));
    }
    Ok(layers)
}

/// Refuses a directory that has files and is no dataset: no tracer would write there, and no task
/// would run.
fn refuse_no_dataset(layer: &str, dir: &Path) -> Result<()> {
    let has_files = Folder::open(dir).and_then(|folder| folder.entries(1)).is_ok_and(|listed| !listed.entries.is_empty());
    if has_files && !dir.join("flowmine.json").exists() {
        refuse!(
            "{} has files and is no dataset, so that {} could not write there: name a new directory (--let dataset=DIR)",
            visible(&dir.display().to_string()),
            visible(layer)
        );
    }
    Ok(())
}
