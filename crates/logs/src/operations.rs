//! The operations of a dataset's traces, each with its process and its file, as a stream.
//!
//! In go the tables `io_events`, `io_totals` and `files`, host by host, in the order in which they
//! were traced; out come operations one after the other. Which file is which, and when a number is
//! used again, is decided as [`flowmine_attribution::files`] does it. Memory holds a row group, and
//! some two hundred bytes for each file.

use flowmine_activity_log::{DirectionSum, NONE, Names, Operation, OperationKind, OperationSum, TracedOperation};
use flowmine_attribution::files::{FileEvent, FileKey, Files, UNTOLD};
use flowmine_correlate::CorrelateError;
use flowmine_dataset::Dataset;
use flowmine_schema::tables::{IoEvent, IoTotal, TracedFile};
use rustc_hash::FxHashMap;

use crate::places::Places;

flowmine_schema::columns! {
    /// What a file is called.
    struct FileName of TracedFile { device, inode, generation, path }
}

/// What a file is called of which no path is known.
pub const NO_PATH: &str = "(path not known)";

/// The files of the hosts, by number.
#[derive(Debug, Default)]
pub struct OperationFiles {
    /// Paths of the files, by their numbers.
    pub paths: Names,
    /// Operations that were traced one by one.
    pub events: u64,
    /// Rows of operations that were added up.
    pub sums: u64,
}

/// Numbers of the files of one host.
#[derive(Default)]
struct Numbers {
    of: FxHashMap<FileKey, u32>,
    paths: Vec<Option<Box<str>>>,
}

impl Numbers {
    /// Sets the last name of a file that has a number.
    fn rename(&mut self, key: FileKey, path: &str) {
        if let Some(&at) = self.of.get(&key) {
            self.paths[at as usize] = Some(path.into());
        }
    }

    fn number(&mut self, key: FileKey, path: Option<&str>) -> u32 {
        let next = self.paths.len() as u32;
        let at = *self.of.entry(key).or_insert(next);
        if at == next {
            self.paths.push(None);
        }
        let known = &mut self.paths[at as usize];
        if known.is_none() {
            *known = path.map(Into::into);
        }
        at
    }
}

/// Calls `each` with all operations, and says which files they were on.
///
/// # Errors
/// When the dataset cannot be read.
pub fn each(dataset: &Dataset, places: &Places, mut each: impl FnMut(&TracedOperation)) -> Result<OperationFiles, CorrelateError> {
    let mut all: Vec<String> = dataset.hosts_of::<IoEvent<'static>>()?;
    all.extend(dataset.hosts_of::<IoTotal<'static>>()?);
    all.sort();
    all.dedup();
    let mut found = OperationFiles::default();
    for host in all {
        let number = places.host(&host);
        let first = found.paths.len() as u32;
        let mut numbers = Numbers::default();
        let mut files = Files::default();
        dataset.read_host::<FileName<'static>, CorrelateError>(&host, |row| {
            let key = (row.device.unwrap_or(UNTOLD), row.inode, row.generation.unwrap_or(UNTOLD));
            files.told(key, row.path.as_deref(), None, None);
            Ok(())
        })?;
        let process = |pid: i32, start: Option<i64>, at_ns: i64| number.map_or(NONE, |host| places.find(host, pid, start, at_ns));
        dataset.read_host::<FileEvent<'static>, CorrelateError>(&host, |event| {
            if matches!(&*event.op, "delete" | "rename" | "link") {
                for at in files.moved(&event) {
                    if let Some((file, path)) = files.peek(at).and_then(|file| Some((file.key, file.names.last()?))) {
                        numbers.rename(file, path);
                    }
                }
            }
            let kind = OperationKind::new(&event.op);
            // What could not be opened is no file.
            let failed = event.result.is_some_and(|result| result < 0);
            let file = if kind == OperationKind::Open && failed || event.inode.is_none() && event.path.is_none() {
                NONE
            } else {
                let at = files.of_event(&event);
                files.peek(at).map_or(NONE, |file| first + numbers.number(file.key, event.path.as_deref().or(file.names.last())))
            };
            found.events += 1;
            each(&TracedOperation::One(Operation {
                process: process(event.pid, event.process_start_ns, event.start_ns),
                file,
                kind,
                start_ns: event.start_ns,
                end_ns: event.end_ns,
                offset: event.offset,
                size: event.size,
                result: event.result,
            }));
            Ok(())
        })?;
        dataset.read_host::<IoTotal<'static>, CorrelateError>(&host, |row| {
            let key = FileKey { device: row.device, inode: row.inode, generation: row.generation.unwrap_or(UNTOLD), incarnation: 1 };
            let known = files.path_of((key.device, key.inode, key.generation));
            let file = first + numbers.number(key, known);
            found.sums += 1;
            each(&TracedOperation::Sum(OperationSum {
                process: process(row.pid, row.process_start_ns, row.first_ns),
                file,
                first_ns: row.first_ns,
                last_ns: row.last_ns,
                read: DirectionSum {
                    calls: row.read_calls,
                    bytes: row.read_bytes,
                    errors: row.read_errors,
                    time_ns: row.read_time_ns,
                    extent: row.read_offset_min.zip(row.read_offset_end),
                },
                write: DirectionSum {
                    calls: row.write_calls,
                    bytes: row.write_bytes,
                    errors: row.write_errors,
                    time_ns: row.write_time_ns,
                    extent: row.write_offset_min.zip(row.write_offset_end),
                },
                faults: row.faults,
            }));
            Ok(())
        })?;
        for path in numbers.paths {
            found.paths.push(path.as_deref().unwrap_or(NO_PATH));
        }
    }
    Ok(found)
}
