//! The partial results of all hosts of a dataset, checked before any is merged.

use std::collections::BTreeMap;
use std::path::PathBuf;

use flowmine_dataset::{Dataset, DatasetError, host_folder, host_of_folder};
use flowmine_files::Folder;

use super::dir::{PartialDir, folder_of};
use super::manifest::{FILE, expected};
use super::{InMemory, PartialError, PartialManifest};
use crate::AttributionError;

/// The partial results of all hosts of a dataset, in the order of hosts.
#[derive(Debug)]
pub struct Collection(Vec<PartialDir>);

impl Collection {
    /// Finds the partial results in directories, in any order. A directory is a partial result or
    /// holds one for each host.
    ///
    /// # Errors
    /// When one is damaged, doubled, of other rows, of another version or of another dataset, or a
    /// host of the dataset has none.
    pub fn open(dirs: &[PathBuf], dataset: &Dataset) -> Result<Self, AttributionError> {
        let hosts = crate::hosts(dataset)?;
        let expected = expected(dataset, &hosts)?;
        let mut found: BTreeMap<String, PartialDir> = BTreeMap::new();
        for partial in partials(dirs)? {
            let (path, host) = (partial.folder().path().to_owned(), partial.manifest().host.clone());
            let Some(expected) = expected.get(&host) else { return Err(PartialError::Foreign { path, host }.into()) };
            if let Some(file) = partial.manifest().other_input(expected) {
                return Err(PartialError::OtherInput { path, file }.into());
            }
            partial.check_files()?;
            if let Some(first) = found.get(&host) {
                return Err(PartialError::Doubled { first: first.folder().path().to_owned(), second: path, host }.into());
            }
            found.insert(host, partial);
        }
        let missing: Vec<String> = hosts.into_iter().filter(|host| !found.contains_key(host)).collect();
        if !missing.is_empty() {
            return Err(PartialError::Missing(missing).into());
        }
        Ok(Self(found.into_values().collect()))
    }

    /// The names of the hosts, in order.
    pub fn hosts(&self) -> Vec<String> {
        self.0.iter().map(|partial| partial.manifest().host.clone()).collect()
    }

    /// The partial results, in the order of hosts.
    pub fn into_partials(self) -> impl Iterator<Item = PartialDir> {
        self.0.into_iter()
    }

    /// The partial result of a host in a directory of several, if it is whole and made of what the
    /// manifest describes.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn made(above: &Folder, wanted: &PartialManifest) -> Result<Option<PartialDir>, AttributionError> {
        let name = host_folder(&wanted.host);
        let folder = match above.folder(&name) {
            Err(error) if error.is_not_found() => return Ok(None),
            other => other.map_err(|error| DatasetError::Io { path: above.path().join(&name), source: error.into() })?,
        };
        // One of another version, or damaged, is made again.
        Ok(PartialDir::open(folder).ok().flatten().filter(|partial| partial.is_made_of(wanted)))
    }

    /// Removes the manifest of the partial result of a host in a directory of several: it is to be
    /// made again.
    ///
    /// # Errors
    /// When the folder is none of a partial result of the user, or the file cannot be removed.
    pub fn discard(above: &Folder, host: &str) -> Result<(), AttributionError> {
        let name = host_folder(host);
        match above.folder(&name) {
            Err(error) if error.is_not_found() => return Ok(()),
            _ => {}
        }
        let folder = folder_of(above, &name)?;
        match folder.remove(FILE) {
            Err(error) if !error.is_not_found() => Err(DatasetError::Io { path: folder.path().join(FILE), source: error.into() }.into()),
            _ => Ok(()),
        }
    }

    /// Writes the partial result of a host into its folder of a directory.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(above: &Folder, partial: &InMemory, wanted: PartialManifest) -> Result<PartialDir, AttributionError> {
        PartialDir::write(folder_of(above, &host_folder(&wanted.host))?, partial, wanted)
    }
}

/// The partial results in directories.
fn partials(dirs: &[PathBuf]) -> Result<Vec<PartialDir>, AttributionError> {
    let mut all = Vec::new();
    for dir in dirs {
        let io_error = |source| DatasetError::Io { path: dir.clone(), source };
        let folder = Folder::open(dir).map_err(io_error)?;
        if let Some(one) = PartialDir::open(folder.try_clone().map_err(io_error)?)? {
            all.push(one);
            continue;
        }
        let before = all.len();
        let mut names = folder.names().map_err(io_error)?;
        names.sort();
        for name in names {
            let Some(host) = host_of_folder(&name) else { continue };
            let below = folder.folder(&name).map_err(|error| DatasetError::Io { path: dir.join(&name), source: error.into() })?;
            // Without a manifest it is not finished.
            let Some(partial) = PartialDir::open(below)? else { continue };
            if partial.manifest().host != host {
                let (path, host) = (partial.folder().path().to_owned(), partial.manifest().host.clone());
                return Err(PartialError::Renamed { path, host }.into());
            }
            all.push(partial);
        }
        if all.len() == before {
            return Err(PartialError::None(dir.clone()).into());
        }
    }
    Ok(all)
}
