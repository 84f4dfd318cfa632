//! The manifest of a partial result: of what it was made, and its files.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_dataset::{Dataset, Input};
use flowmine_schema::tables::{ControllerClock, JobDependency, JobState, TaskRun};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Summary;
use crate::AttributionError;

/// Version of the tables and the manifest of partial results.
pub const FORMAT: u32 = 1;

/// Name of the manifest.
pub(super) const FILE: &str = "partial.json";

/// The result that its tables are parts of.
const CORRELATION: &str = "correlation";

/// The manifest of a partial result, as `partial.json` has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartialManifest {
    /// Version of the tables: [`FORMAT`].
    pub format: u32,
    /// Version of flowmine that made it.
    pub version: String,
    /// The result of which this is a part.
    pub part_of: String,
    /// The host.
    pub host: String,
    /// Numbers that are no rows.
    pub summary: Summary,
    /// Files of the dataset with the tables that all hosts share. They identify the dataset.
    pub shared: Vec<Input>,
    /// Files of the dataset with the rows of the host.
    pub inputs: Vec<Input>,
    /// Its files, by table.
    pub files: BTreeMap<String, Vec<Input>>,
    /// SHA-256 of all of the above, as JSON.
    pub sha256: String,
}

impl PartialManifest {
    /// The digest of all other fields.
    pub(super) fn digest(&self) -> Result<String, serde_json::Error> {
        let json = serde_json::to_vec(&Self { sha256: String::new(), ..self.clone() })?;
        Ok(Sha256::digest(json).iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The path of the first file of a dataset that differs from that in another manifest.
    pub(super) fn other_input(&self, other: &Self) -> Option<String> {
        let set = |inputs: &'_ [Input]| inputs.iter().cloned().collect::<BTreeSet<Input>>();
        let both = [(&self.shared, &other.shared), (&self.inputs, &other.inputs)];
        both.into_iter().filter(|(a, b)| a != b).find_map(|(a, b)| {
            let differing = set(a).symmetric_difference(&set(b)).next().map(|input| input.path.clone());
            // The same files in another order are read in another order.
            differing.or_else(|| a.first().map(|input| input.path.clone()))
        })
    }
}

/// A short name of partial results that are still to be made of these rows, with the text that makes
/// them.
///
/// # Errors
/// When a manifest is no JSON, which does not happen.
pub fn short_name(text: &str, expected: &BTreeMap<String, PartialManifest>) -> Result<String, serde_json::Error> {
    let digest = Sha256::new().chain_update(text).chain_update(serde_json::to_vec(expected)?).finalize();
    Ok(digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect())
}

/// The manifests, without results, of the partial results of these hosts.
///
/// # Errors
/// When the dataset cannot be read.
pub fn expected(dataset: &Dataset, hosts: &[String]) -> Result<BTreeMap<String, PartialManifest>, AttributionError> {
    let mut shared = dataset.inputs_of::<JobState<'static>>()?;
    shared.extend(dataset.inputs_of::<JobDependency<'static>>()?);
    shared.extend(dataset.inputs_of::<ControllerClock<'static>>()?);
    shared.extend(dataset.inputs_of::<TaskRun<'static>>()?);
    let of_host = |host: &String| {
        let manifest = PartialManifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            part_of: CORRELATION.to_owned(),
            host: host.clone(),
            shared: shared.clone(),
            inputs: dataset.inputs_of_host(host)?,
            ..PartialManifest::default()
        };
        Ok((host.clone(), manifest))
    };
    hosts.iter().map(of_host).collect()
}
