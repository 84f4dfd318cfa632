//! `flowmine transform`: applies layers of the workflow algebra to a workflow.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use flowmine_api::inputs;
use flowmine_transform::algebra::{Collisions, Composition, Contents, Layer, Setting, Task};
use flowmine_transform::script::quote;
use flowmine_transform::workflow::{Files, Workflow, utf8};
use flowmine_transform::{Error, builtin, digest, jx};

use flowmine_schema::text::visible;

use crate::args::{CollisionsArg, Transform};
use crate::outcome::Outcome;
use crate::{messages, output};

use super::transform_scripts;

/// Larger workflows and layers are refused.
const FILE_BYTES: u64 = 64 << 20;

/// Reads, applies, and writes or shows what comes out.
pub fn run(args: &Transform) -> anyhow::Result<Outcome> {
    let name = args.workflow.display().to_string();
    let beside = args.workflow.parent().unwrap_or(Path::new("")).to_owned();
    let arguments = args.jx_args.iter().map(|path| Ok((path.display().to_string(), bytes(path)?)));
    let arguments = arguments.collect::<Result<Vec<_>, Error>>()?;
    let workflow = Workflow::read_with(&name, &bytes(&args.workflow)?, &Beside(beside), &arguments)?;
    for note in &workflow.notes {
        messages::warning(&format!("{}:{}: {}", visible(&name), note.at, visible(&note.message)));
    }
    let (mut layers, mut bound) = (Composition::default(), HashSet::new());
    for layer in &args.apply {
        layers = layers.then(composition(layer, &args.values, &mut bound)?);
    }
    if let Some((name, _)) = args.values.iter().find(|(name, _)| !bound.contains(name)) {
        let mut known: Vec<&str> = bound.iter().map(String::as_str).collect();
        known.sort_unstable();
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        anyhow::bail!("no layer binds “{}” with let; they bind {}", visible(name), visible(&known));
    }
    let how = match args.collisions {
        CollisionsArg::Refuse => Collisions::Refuse,
        CollisionsArg::Remap => Collisions::Remap,
    };
    // Names of files in a workflow are seen from where it runs: the directory of what is written.
    let beside = args.out.as_deref().unwrap_or(&args.workflow);
    let directory = beside.parent().unwrap_or(Path::new("")).to_owned();
    for layer in &layers.0 {
        if let Some(dataset) = layer.dataset()? {
            refuse_no_dataset(&layer.name, &directory.join(dataset))?;
        }
    }
    let contents = FileContents { directory: directory.clone(), known: RefCell::default(), read: Cell::new(0) };
    let selection: Vec<String> = args.explain.iter().cloned().chain(args.select.iter().cloned()).collect();
    let plan = workflow.transform(&layers, &selection, how, &contents)?;
    let changed = plan.tasks.iter().filter(|(_, layers)| !layers.is_empty()).count();
    if args.explain.is_some() {
        output::write(None, |out| plan.tasks.iter().try_for_each(|(task, layers)| explain(out, task, layers)))?;
    } else if args.dry_run {
        output::write(None, |out| Ok(out.write_all(plan.workflow.as_bytes())?))?;
    } else if let (Some(path), false) = (&args.out, args.check) {
        let scripts = transform_scripts::write(&plan, path, &directory)?;
        messages::note(&format!("{changed} of {} tasks transformed, {scripts} scripts", plan.tasks.len()));
    } else {
        messages::note(&format!("the layers go with {changed} of {} tasks", plan.tasks.len()));
    }
    Ok(if workflow.notes.is_empty() { Outcome::Clean } else { Outcome::WithLosses })
}

/// A directory that has files and is no dataset: no tracer would write there, and no task would run.
fn refuse_no_dataset(layer: &str, dir: &Path) -> anyhow::Result<()> {
    let has_files = std::fs::read_dir(dir).is_ok_and(|mut files| files.next().is_some());
    if has_files && !dir.join("flowmine.json").exists() {
        anyhow::bail!(
            "{} has files and is no dataset, so that {} could not write there: name a new directory (--let dataset=DIR)",
            visible(&dir.display().to_string()),
            visible(layer)
        );
    }
    Ok(())
}

/// The directory of the workflow, in which the job scripts lie that it names.
struct Beside(PathBuf);

impl Files for Beside {
    fn text(&self, name: &str) -> io::Result<String> {
        // The workflow's author chose the path: nothing that waits or acts is opened.
        let path = self.0.join(name);
        inputs::note(&path);
        let bytes = bounded(flowmine_files::open_plain(&path)?)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }

    fn can_change(&self, changed: &str, script: &str) -> bool {
        flowmine_transform::workflow::can_change_in(&self.0, changed, script)
    }

    fn has_other_names(&self, script: &str) -> bool {
        flowmine_transform::workflow::has_other_names_in(&self.0, script)
    }

    fn leads_here(&self, name: &str) -> bool {
        flowmine_transform::workflow::leads_here_in(&self.0, name)
    }
}

/// The bytes of a file that the user named, be it a pipe.
fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    inputs::note(path);
    File::open(path).and_then(bounded).map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn bounded(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES {
        return Err(io::Error::other(format!("the file has more than {} MiB", FILE_BYTES >> 20)));
    }
    Ok(bytes)
}

/// A built-in, where no file has that name. `bound` gets the names that its text binds.
fn composition(layer: &str, values: &[(String, String)], bound: &mut HashSet<String>) -> Result<Composition, Error> {
    let mut bind = |file: &str, text: &str| -> Result<(), Error> {
        let program = jx::parse(text).map_err(|fault| fault.in_file(file))?;
        bound.extend(program.definitions.iter().filter(|known| known.arguments.is_none()).map(|known| known.name.to_string()));
        Ok(())
    };
    if let Some(text) = builtin::text(layer).filter(|_| !Path::new(layer).exists()) {
        bind(layer, text)?;
        return Composition::read(layer, text, None, values);
    }
    let (file, choice) = match layer.rsplit_once('#') {
        Some((file, choice)) if !Path::new(layer).exists() => (file, Some(choice)),
        _ => (layer, None),
    };
    let bytes = bytes(Path::new(file))?;
    let text = utf8(file, &bytes)?;
    bind(file, text)?;
    Composition::read(file, text, choice, values)
}

/// What each layer of a task does, the plain task first.
fn explain(out: &mut dyn Write, task: &Task, layers: &[Layer]) -> anyhow::Result<()> {
    for (level, layer) in layers.iter().enumerate() {
        let parts = &layer.parts;
        let sandbox = if layer.sandbox { ", in a directory of its own" } else { "" };
        writeln!(out, "{} layer {level} {}: {}{sandbox}", task.name, layer.name, layer.script())?;
        for (kind, commands) in [("pre", &parts.command.pre), ("cmd", &vec![parts.command.cmd.clone()]), ("post", &parts.command.post)] {
            commands.iter().try_for_each(|command| writeln!(out, "  {kind}: {command}"))?;
        }
        for (kind, files) in [("input", &parts.inputs), ("output", &parts.outputs)] {
            for file in files {
                let inner = if file.is_renamed() { format!(", inside {}", quote(&file.inner)) } else { String::new() };
                writeln!(out, "  {kind}: {}{inner}", quote(&file.outer))?;
            }
        }
        for (name, setting) in &parts.environment {
            match setting {
                Setting::Set(value) => writeln!(out, "  environment: {name}={}", quote(value))?,
                Setting::Mask => writeln!(out, "  environment: no {name}")?,
                Setting::Prepend(text) => writeln!(out, "  environment: {name} begins with {}", quote(text))?,
                Setting::Append(text) => writeln!(out, "  environment: {name} ends with {}", quote(text))?,
            }
        }
        for (kind, amount) in &parts.resources {
            writeln!(out, "  {kind}: {amount}{}", if matches!(&**kind, "memory" | "disk") { " MB" } else { "" })?;
        }
    }
    Ok(())
}

/// Of an input that is larger, or that comes after as many bytes of others, the length stands for the
/// content: a workflow can name files of any size, and any number of them.
const DIGESTED_FILE: u64 = 1 << 30;
/// See [`DIGESTED_FILE`].
const DIGESTED_ALL: u64 = 8 << 30;

/// Digests of the inputs that are there, each read once.
struct FileContents {
    directory: PathBuf,
    known: RefCell<HashMap<String, Option<[u8; 32]>>>,
    /// Bytes that were read so far.
    read: Cell<u64>,
}

impl FileContents {
    /// Directories, pipes and devices count by their names.
    fn digest_of(&self, name: &str) -> io::Result<[u8; 32]> {
        let file = flowmine_files::open_plain(&self.directory.join(name))?;
        let length = file.metadata()?.len();
        let read = self.read.get().saturating_add(length);
        if length > DIGESTED_FILE || read > DIGESTED_ALL {
            return digest(&length.to_le_bytes()[..]);
        }
        self.read.set(read);
        // Some files of the kernel have no end, and no length.
        digest(file.take(length))
    }
}

impl Contents for FileContents {
    fn digest(&self, name: &str) -> Option<[u8; 32]> {
        if let Some(digest) = self.known.borrow().get(name) {
            return *digest;
        }
        let digest = self.digest_of(name).ok();
        self.known.borrow_mut().insert(name.to_owned(), digest);
        digest
    }
}
