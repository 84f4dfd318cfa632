//! Earlier imports, and whether a source is unchanged, has grown, or is new.
//!
//! The bytes of a file identify it, since logs are renamed when the next run begins. A file has
//! grown if it begins with all bytes of an import. A directory that is read as one source is
//! identified by its bytes and its name, since two attempts at a task can have equal bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flowmine_dataset::Import;
use sha2::{Digest, Sha256};

use crate::Engine;
use crate::input::open_plain;

/// Number of leading bytes by which grown files are looked up. In most logs they contain a time to
/// the millisecond. A shorter file is never recognised as grown.
const HEAD: usize = 32;

/// A source that is given for import.
#[derive(Debug, Clone)]
pub struct Given {
    pub path: PathBuf,
    pub kind: &'static str,
    pub import: Import,
    /// Index of the given path that contains it; all paths that were named one by one share an
    /// index.
    pub group: usize,
    /// SHA-256 of the beginnings of the file that may be earlier imports, by length.
    beginnings: HashMap<u64, String>,
}

/// State of a source relative to the earlier imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    New,
    /// Unchanged; index of the import.
    There(usize),
    /// Grown; index of the earlier import.
    Grown(usize),
}

impl Given {
    /// Inspects a source and returns its kind and size. `None` when the engine does not read it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn look_at(engine: &dyn Engine, path: &Path, group: usize) -> io::Result<Option<Self>> {
        let head = if path.is_dir() { Vec::new() } else { crate::input::head(path)? };
        let Some(kind) = engine.recognise(path, &head) else { return Ok(None) };
        let mut import = Import { name: name_of(path), kind: Some(kind.to_owned()), ..Import::default() };
        if path.is_dir() {
            // The name of a work directory is only a part of the hash: the name of its parent is
            // the rest.
            import.name = format!("{}/{}", path.parent().map(name_of).unwrap_or_default(), import.name);
        } else if engine.beside(path).is_none() {
            let mut head = Vec::new();
            open_plain(path)?.take(HEAD as u64).read_to_end(&mut head)?;
            if head.len() == HEAD {
                import.bytes = Some(fs::metadata(path)?.len());
                import.head_sha256 = Some(hex(Sha256::new_with_prefix(&head)));
            }
        }
        Ok(Some(Self { path: path.to_owned(), kind, import, group, beginnings: HashMap::new() }))
    }

    /// Reads and hashes the bytes. `lengths` are the sizes of files with the same first bytes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn digest(&mut self, engine: &dyn Engine, lengths: &BTreeSet<u64>) -> io::Result<()> {
        if self.path.is_dir() {
            self.import.sha256 = sha256_of_dir(engine, &self.path)?;
            return Ok(());
        }
        let mut hash = Sha256::new();
        let bytes = add(&mut hash, &self.path, lengths, &mut self.beginnings)?;
        if let Some(beside) = engine.beside(&self.path) {
            add(&mut hash, &beside, &BTreeSet::new(), &mut HashMap::new())?;
        }
        self.import.bytes = self.import.bytes.map(|_| bytes);
        self.import.sha256 = hex(hash);
        Ok(())
    }

    /// Returns the key by which the source is found again: the SHA-256 of a file, or that of the
    /// engine's files in a directory together with the name of the directory.
    pub fn key(&self) -> String {
        if self.path.is_dir() { key_of_dir(&self.import) } else { self.import.sha256.clone() }
    }

    /// Returns the beginnings that are shorter than the file; an earlier copy of it is among them.
    pub fn beginnings(&self) -> impl Iterator<Item = (u64, &str)> {
        let whole = self.import.bytes;
        self.beginnings.iter().filter(move |(bytes, _)| Some(**bytes) != whole).map(|(bytes, sha256)| (*bytes, sha256.as_str()))
    }
}

/// The imports that a dataset already has, from its manifest.
#[derive(Debug, Default)]
pub struct Known {
    pub imports: Vec<Import>,
    by_key: HashMap<String, usize>,
    /// Sizes of the imports, by the hash of their first bytes.
    lengths: HashMap<String, BTreeSet<u64>>,
    /// The last import with this size and SHA-256, for imports that can grow.
    by_bytes: HashMap<(u64, String), usize>,
}

impl Known {
    /// Indexes the list of a manifest. A source that was read again is listed twice; the last entry
    /// is current.
    pub fn new(imports: Vec<Import>) -> Self {
        let (mut by_key, mut by_bytes) = (HashMap::new(), HashMap::new());
        let mut lengths: HashMap<String, BTreeSet<u64>> = HashMap::new();
        for (at, import) in imports.iter().enumerate() {
            by_key.insert(import.sha256.clone(), at);
            by_key.insert(key_of_dir(import), at);
            if let (Some(head), Some(bytes)) = (&import.head_sha256, import.bytes) {
                lengths.entry(head.clone()).or_default().insert(bytes);
                by_bytes.insert((bytes, import.sha256.clone()), at);
            }
        }
        Self { imports, by_key, lengths, by_bytes }
    }

    /// Returns the sizes of the imports with the same first bytes as a file.
    pub fn lengths(&self, given: &Given) -> BTreeSet<u64> {
        given.import.head_sha256.as_ref().and_then(|head| self.lengths.get(head)).cloned().unwrap_or_default()
    }

    /// Whether an import described tasks.
    pub fn tells(&self, at: usize) -> bool {
        self.imports[at].rows.is_some_and(|rows| rows > 0)
    }

    /// Returns whether a source was imported before, has grown since, or is new.
    pub fn what(&self, given: &Given) -> Is {
        if let Some(at) = self.by_key.get(&given.key()) {
            return Is::There(*at);
        }
        let was = given.beginnings().filter_map(|(bytes, sha256)| Some((bytes, *self.by_bytes.get(&(bytes, sha256.to_owned()))?)));
        was.max().map_or(Is::New, |(_, at)| Is::Grown(at))
    }

    /// Returns the batches of the imports that have grown, each with its members; for a source that
    /// was read more than once the last entry.
    pub fn batches(&self, grown: impl Iterator<Item = usize>) -> BTreeMap<&str, Vec<usize>> {
        let touched: HashSet<&str> = grown.filter_map(|at| self.imports[at].batch.as_deref()).collect();
        let mut batches: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, import) in self.imports.iter().enumerate() {
            if let Some(batch) = import.batch.as_deref().filter(|batch| touched.contains(batch))
                && self.by_key.get(&key_of_dir(import)) == Some(&at)
            {
                batches.entry(batch).or_default().push(at);
            }
        }
        batches
    }
}

/// Returns the name of a source without its folders: the dataset keeps no path, for privacy.
pub fn name_of(path: &Path) -> String {
    path.file_name().map(|name| flowmine_schema::text::decode(name.as_encoded_bytes()).into_owned()).unwrap_or_default()
}

/// Returns the identifier of the sources that are read together.
pub fn batch_of<'a>(sources: impl Iterator<Item = &'a Given>) -> String {
    let keys: BTreeSet<String> = sources.map(Given::key).collect();
    let mut hash = Sha256::new();
    keys.iter().for_each(|key| hash.update(key));
    hex(hash)[..16].to_owned()
}

fn key_of_dir(import: &Import) -> String {
    format!("{} {}", import.sha256, import.name)
}

/// Returns the SHA-256 of the engine's own files in a directory.
fn sha256_of_dir(engine: &dyn Engine, dir: &Path) -> io::Result<String> {
    let mut files = engine.parts(dir)?;
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        hash.update(file.strip_prefix(dir).unwrap_or(file).as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(fs::metadata(file)?.len().to_le_bytes());
        add(&mut hash, file, &BTreeSet::new(), &mut HashMap::new())?;
    }
    Ok(hex(hash))
}

/// Hashes the bytes of a file, and records the hash after each of the given lengths. Returns the
/// number of bytes.
fn add(hash: &mut Sha256, path: &Path, lengths: &BTreeSet<u64>, beginnings: &mut HashMap<u64, String>) -> io::Result<u64> {
    let mut file = open_plain(path)?;
    let mut buffer = vec![0; 1 << 16];
    let mut lengths = lengths.iter().copied().peekable();
    let mut bytes = 0;
    loop {
        let room = lengths.peek().map_or(u64::MAX, |next| next - bytes).min(buffer.len() as u64) as usize;
        let read = if room == 0 { 0 } else { file.read(&mut buffer[..room])? };
        hash.update(&buffer[..read]);
        bytes += read as u64;
        if let Some(length) = lengths.next_if_eq(&bytes) {
            beginnings.insert(length, hex(hash.clone()));
        } else if read == 0 {
            return Ok(bytes);
        }
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
