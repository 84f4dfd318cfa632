//! The plan: which task does what.

use std::io::Read;
use std::path::Path;

use flowmine_dataset::row_file;
use flowmine_files::{Folder, place_of};
use serde::{Deserialize, Serialize};

use crate::correlate::HubOptions;
use crate::error::{Context, Error, Result, ensure};
use crate::output;
use crate::sink::Sink;

/// Name of the plan's file.
pub const PLAN: &str = "plan.json";

/// Name of the folder next to it with the partial results.
pub const PARTIALS: &str = "partials";

/// Name of the folder next to it with the messages of tasks that Slurm runs.
pub const LOGS: &str = "logs";

/// Largest plan that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// The tasks of distributed work. The same dataset and options give the same plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of flowmine that made it.
    pub version: String,
    /// Path of the dataset.
    pub dataset: String,
    /// The hosts of each task.
    pub tasks: Vec<Vec<String>>,
    /// Case notion of the report.
    pub case_notion: Option<String>,
    /// From when on a file joins no runs.
    pub hubs: HubOptions,
}

impl Plan {
    /// Writes the plan into its folder.
    pub(super) fn write(&self, folder: &Folder) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(self).map_err(|error| Error::Refused(error.to_string()))?;
        json.push(b'\n');
        Ok(row_file::put(folder, PLAN, &json)?)
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// When it cannot be read, is of another user than root and the caller, or of another version.
    pub fn read(path: &Path, sink: &dyn Sink) -> Result<Self> {
        let (folder, name) = place_of(path)?;
        output::refuse_strangers(&folder, sink)?;
        let shown = || path.display().to_string();
        let file = folder.own_note(&name).with_context(shown)?;
        let file = file.with_context(|| format!("{}: there is no plan of this user or of root", shown()))?;
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes).with_context(shown)?;
        let plan: Self = serde_json::from_slice(&bytes)
            .map_err(|error| Error::Refused(format!("{}: {error}: it is no plan of `flowmine distribute`", path.display())))?;
        let here = env!("CARGO_PKG_VERSION");
        ensure!(
            plan.version == here,
            "{}: a plan of flowmine {}, and this is {here}: make it again, or use the same version on all machines",
            path.display(),
            flowmine_schema::text::visible(&plan.version)
        );
        Ok(plan)
    }
}
