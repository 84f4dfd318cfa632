//! Imports of recordings and event logs into a dataset.

use std::path::{Path, PathBuf};

use flowmine_dataset::Dataset;
use flowmine_logs::log_file::{Content, LogRules, stored};
use flowmine_schema::text::visible;
use flowmine_sources::import::{self, Fetched};

use crate::error::Result;
use crate::groups::TableColumns;
use crate::sink::{Message, Sink};
use crate::source;
use crate::target::Target;

pub use flowmine_extract_slurm::import::Options as ReadOptions;
pub use flowmine_extract_slurm::import_files::Options as SlurmOptions;
pub use flowmine_extract_workflow::{Engine, Options as TaskOptions};
pub use flowmine_sources::import::{Imported, Input};
pub use flowmine_sources::{KINDS, Kind, Reading};

/// An import: from where, and into which dataset.
pub struct Request {
    /// The dataset.
    pub into: Target,
    /// What is imported.
    pub recorded: Recorded,
}

/// What is imported.
pub enum Recorded {
    /// Files of squeue, sacct and SLURMminer, and directories of them.
    Slurm(Vec<PathBuf>, SlurmOptions),
    /// Directories with I/O traces of the published monitoring tools.
    IoCsv(Vec<PathBuf>),
    /// Event logs, and what the columns of tables hold.
    Logs(Vec<PathBuf>, Box<TableColumns>),
    /// What a workflow engine recorded.
    Tasks(&'static dyn Engine, Vec<PathBuf>, TaskOptions),
}

/// Imports into a dataset.
///
/// # Errors
/// When a path cannot be read, or the dataset cannot be written.
pub fn import(request: &Request, sink: &dyn Sink) -> Result<Imported> {
    match &request.recorded {
        Recorded::Slurm(files, options) => {
            import::exist(files)?;
            let dataset = request.into.open()?;
            let stage = sink.stage("importing");
            let imported = import::slurm(&dataset, files, options, &mut |done, total| stage.at(done, total))?;
            drop(stage);
            if let [Input { name, kind: Some(kind), .. }] = &imported.inputs[..] {
                sink.message(Message::Done(&format!("{}: {kind}", visible(name))));
            }
            Ok(imported)
        }
        Recorded::IoCsv(dirs) => {
            import::are_directories(dirs)?;
            let dataset = request.into.open()?;
            let stage = sink.stage("importing");
            Ok(import::io_csv(&dataset, dirs, &mut |done, total| stage.at(done, total))?)
        }
        Recorded::Logs(files, columns) => {
            let dataset = request.into.open()?;
            let mut errors = 0;
            for path in files {
                errors += u64::from(log(&dataset, path, columns, sink)?);
            }
            Ok(Imported { inputs: Vec::new(), summary: String::new(), errors, is_empty: false })
        }
        Recorded::Tasks(engine, paths, options) => {
            let fetched = Fetched::new(*engine, paths)?;
            let dataset = request.into.open()?;
            let _stage = sink.stage("importing");
            Ok(import::tasks(&dataset, *engine, &fetched, options)?)
        }
    }
}

/// Imports an event log. Returns whether something of it is lost.
fn log(dataset: &Dataset, path: &Path, columns: &TableColumns, sink: &dyn Sink) -> Result<bool> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let log = source::read_file(path, columns, LogRules::default(), sink)?;
    let is_lossy = source::findings(&path.display().to_string(), &log.findings, sink);
    let counts = stored::store(dataset, &name, &log)?;
    let what = if matches!(log.content, Content::Traces(_)) { "traces" } else { "objects" };
    sink.message(Message::Done(&format!("{}: {} {what} and {} events imported", visible(&name), counts.objects, counts.events)));
    Ok(is_lossy)
}
