//! Search for a file by a path or an id; the result is the file with its rows of `task_io`.

use std::collections::BTreeMap;

use flowmine_attribution::files;
use flowmine_dataset::Dataset;
use flowmine_schema::tables::TaskIo;
use flowmine_schema::text::visible;

use super::{FileAccessError, untold};

flowmine_schema::columns! {
    /// Use of a file by a task.
    pub struct FileUse of TaskIo {
        task, logical_task, cluster, job, pod, container, unassigned, host, device, inode,
        generation, incarnation, file_system, path, earlier_paths, read_calls, write_calls, read_errors,
        write_errors, read_bytes, written_bytes, faults, mappings,
    }
}

/// Maximum number of candidates that are listed.
const CANDIDATES: usize = 12;

/// Identity of a file on its host. Unknown numbers are `i64::MIN`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Name of the host.
    pub host: String,
    /// Device number of the file system.
    pub device: i64,
    /// Inode number on that device.
    pub inode: i64,
    /// The inode's generation.
    pub generation: i64,
    /// Number of the file among those that had these numbers one after the other, from 1.
    pub incarnation: i64,
}

impl FileId {
    fn new(row: &FileUse<'_>) -> Self {
        Self {
            host: row.host.to_string(),
            device: untold(row.device),
            inode: untold(row.inode),
            generation: untold(row.generation),
            incarnation: row.incarnation,
        }
    }

    fn text(&self) -> String {
        let number = |number: i64| if number == files::UNTOLD { "-".to_owned() } else { number.to_string() };
        format!("{}:{}:{}:{}:{}", self.host, number(self.device), number(self.inode), number(self.generation), self.incarnation)
    }
}

/// A requested file, as in the dataset.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its path, or its id if no path is known.
    pub path: String,
    /// The identity of the file on each host: a single one, except for files of network file
    /// systems.
    pub ids: Vec<FileId>,
    /// All rows of `task_io` about it.
    pub rows: Vec<FileUse<'static>>,
}

/// Finds a file by a path as in `task_io.path`, by a name that it had before, or by an id as [`FileAccessError::SeveralFiles`]
/// lists them.
///
/// # Errors
/// If the dataset cannot be read, or if the path or id does not match exactly one file; the error
/// then lists candidates.
pub fn find(dataset: &Dataset, wanted: &str) -> Result<Found, FileAccessError> {
    let mut rows = 0u64;
    let mut candidates: BTreeMap<FileId, Candidate> = BTreeMap::new();
    let mut by_earlier_name: BTreeMap<FileId, Candidate> = BTreeMap::new();
    let mut like: BTreeMap<String, i64> = BTreeMap::new();
    let name = wanted.rsplit('/').next().unwrap_or(wanted);
    dataset.read::<FileUse<'static>, FileAccessError>(|row| {
        rows += 1;
        let id = FileId::new(&row);
        let path = row.path.as_deref();
        if path == Some(wanted) || id.text() == wanted {
            candidates.entry(id).or_default().add(&row);
        } else if had_name(&row, wanted) {
            by_earlier_name.entry(id).or_default().add(&row);
        } else if let Some(path) = path.filter(|path| !name.is_empty() && path.rsplit('/').next().is_some_and(|last| last.contains(name))) {
            let bytes = flowmine_sums::add(row.read_bytes, row.written_bytes);
            let known = like.entry(path.to_owned()).or_default();
            flowmine_sums::add_to(known, bytes);
            // The path with the fewest bytes is the least likely one.
            if like.len() > 4 * CANDIDATES
                && let Some(least) = like.iter().min_by_key(|(_, bytes)| **bytes).map(|(path, _)| path.clone())
            {
                like.remove(&least);
            }
        }
        Ok(())
    })?;
    if rows == 0 {
        return Err(FileAccessError::NotCorrelated);
    }
    if candidates.is_empty() {
        candidates = by_earlier_name;
    }
    let mut groups: BTreeMap<FileId, Vec<FileId>> = BTreeMap::new();
    for (id, candidate) in &candidates {
        // A file of a network file system is the same on all hosts that have it under one path.
        let group = if candidate.network { FileId { host: String::new(), device: 0, ..id.clone() } } else { id.clone() };
        groups.entry(group).or_default().push(id.clone());
    }
    let mut groups = groups.into_values();
    let (Some(ids), next) = (groups.next(), groups.next()) else {
        let mut like: Vec<_> = like.into_iter().collect();
        like.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let like = like.into_iter().take(CANDIDATES).map(|(path, _)| visible(&path).into_owned()).collect();
        return Err(FileAccessError::UnknownFile { file: wanted.to_owned(), like });
    };
    if next.is_some() {
        let mut which: Vec<String> = candidates.iter().take(CANDIDATES).map(|(id, candidate)| candidate.words(id)).collect();
        if candidates.len() > CANDIDATES {
            which.push(format!("and {} more", candidates.len() - CANDIDATES));
        }
        return Err(FileAccessError::SeveralFiles { file: wanted.to_owned(), which });
    }
    let path = ids.first().and_then(|id| candidates.get(id)?.path.clone()).unwrap_or_else(|| wanted.to_owned());
    let mut of_file = Vec::new();
    dataset.read::<FileUse<'static>, FileAccessError>(|row| {
        if ids.contains(&FileId::new(&row)) {
            of_file.push(row.into_owned());
        }
        Ok(())
    })?;
    Ok(Found { path, ids, rows: of_file })
}

/// Whether a file had a name before its last one.
fn had_name(row: &FileUse<'_>, name: &str) -> bool {
    let names = row.earlier_paths.as_deref().and_then(|names| serde_json::from_str::<Vec<String>>(names).ok());
    names.is_some_and(|names| names.iter().any(|known| known == name))
}

#[derive(Default)]
struct Candidate {
    path: Option<String>,
    network: bool,
    read: i64,
    written: i64,
    who: Option<String>,
}

impl Candidate {
    fn add(&mut self, row: &FileUse<'_>) {
        self.path = self.path.take().or_else(|| row.path.as_deref().map(str::to_owned));
        self.network |= row.file_system.as_deref().is_some_and(files::is_network);
        flowmine_sums::add_to(&mut self.read, row.read_bytes);
        flowmine_sums::add_to(&mut self.written, row.written_bytes);
        self.who = self.who.take().or_else(|| row.logical_task.as_deref().map(str::to_owned));
    }

    fn words(&self, id: &FileId) -> String {
        let who = self.who.as_ref().map(|who| format!(", among others by {who}")).unwrap_or_default();
        // A name must not forge another line of the list.
        visible(&format!("{} ({} bytes read, {} written{who})", id.text(), self.read, self.written)).into_owned()
    }
}
