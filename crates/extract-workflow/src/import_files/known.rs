//! What was imported before, and whether what is given now is the same, the same and grown, or new.
//!
//! A file is known by its bytes, since logs are renamed when the next run begins. One whose first
//! bytes are all the bytes that were imported has grown since. A directory that is read as one
//! thing is known by its bytes and its name: attempts at a task can be alike to the byte.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flowmine_dataset::Import;
use sha2::{Digest, Sha256};

use crate::Engine;
use crate::input::open_plain;

/// Files are looked for by so many of their first bytes, which hold a time to the millisecond in
/// most logs; a shorter one is never known to have grown.
const HEAD: usize = 32;

/// A source that is given to be imported.
#[derive(Debug, Clone)]
pub struct Given {
    pub path: PathBuf,
    pub kind: &'static str,
    pub import: Import,
    /// Which of the given paths it was found in; what is named one by one is found in the same.
    pub group: usize,
    /// SHA-256 of what would be its beginnings, by their lengths.
    beginnings: HashMap<u64, String>,
}

/// Whether a given source was imported before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    New,
    /// The number of the import that it is.
    There(usize),
    /// The number of the import that it was.
    Grown(usize),
}

impl Given {
    /// Looks at a source: what it is, and how long. `None` when the engine does not read it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn look_at(engine: &dyn Engine, path: &Path, group: usize) -> io::Result<Option<Self>> {
        let head = if path.is_dir() { Vec::new() } else { crate::input::head(path)? };
        let Some(kind) = engine.recognise(path, &head) else { return Ok(None) };
        let mut import = Import { name: name_of(path), kind: Some(kind.to_owned()), ..Import::default() };
        if path.is_dir() {
            // A work directory's own name is half a hash: the other half is the name of the one above.
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

    /// Reads its bytes. `lengths` are those of files that begin as this one does.
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

    /// The key by which it is found again: the SHA-256 of a file, or of the engine's files in a
    /// directory with its name.
    pub fn key(&self) -> String {
        if self.path.is_dir() { key_of_dir(&self.import) } else { self.import.sha256.clone() }
    }

    /// The beginnings that are shorter than the whole, by which an earlier copy of it is known.
    pub fn beginnings(&self) -> impl Iterator<Item = (u64, &str)> {
        let whole = self.import.bytes;
        self.beginnings.iter().filter(move |(bytes, _)| Some(**bytes) != whole).map(|(bytes, sha256)| (*bytes, sha256.as_str()))
    }
}

/// The imports that a dataset has already, as its manifest lists them.
#[derive(Debug, Default)]
pub struct Known {
    pub imports: Vec<Import>,
    by_key: HashMap<String, usize>,
    /// The lengths of those that begin alike.
    lengths: HashMap<String, BTreeSet<u64>>,
    /// By length and SHA-256 the last of those that can have grown.
    by_bytes: HashMap<(u64, String), usize>,
}

impl Known {
    /// Of a manifest's list; what was read again stands in it twice, the last time as it is now.
    pub fn of(imports: Vec<Import>) -> Self {
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

    /// The lengths of imports that begin as a file does.
    pub fn lengths(&self, given: &Given) -> BTreeSet<u64> {
        given.import.head_sha256.as_ref().and_then(|head| self.lengths.get(head)).cloned().unwrap_or_default()
    }

    /// Whether an import described tasks.
    pub fn tells(&self, at: usize) -> bool {
        self.imports[at].rows.is_some_and(|rows| rows > 0)
    }

    /// Whether a source was imported before, has grown since it was imported, or is new.
    pub fn what(&self, given: &Given) -> Is {
        if let Some(at) = self.by_key.get(&given.key()) {
            return Is::There(*at);
        }
        let was = given.beginnings().filter_map(|(bytes, sha256)| Some((bytes, *self.by_bytes.get(&(bytes, sha256.to_owned()))?)));
        was.max().map_or(Is::New, |(_, at)| Is::Grown(at))
    }

    /// The imports that were read together with one of those that have grown, by their batches; of
    /// what was read more than once the last.
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

/// Only the name is kept in the dataset: where it lay is nobody's business.
pub fn name_of(path: &Path) -> String {
    path.file_name().map(|name| flowmine_schema::text::decode(name.as_encoded_bytes()).into_owned()).unwrap_or_default()
}

/// What shows which sources were read together.
pub fn batch_of<'a>(sources: impl Iterator<Item = &'a Given>) -> String {
    let keys: BTreeSet<String> = sources.map(Given::key).collect();
    let mut hash = Sha256::new();
    keys.iter().for_each(|key| hash.update(key));
    hex(hash)[..16].to_owned()
}

fn key_of_dir(import: &Import) -> String {
    format!("{} {}", import.sha256, import.name)
}

/// Of the engine's own files in a directory.
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

/// Adds a file's bytes, and notes the hash after so many of them. Gives their number.
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
