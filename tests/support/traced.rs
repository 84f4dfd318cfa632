//! The rows of a traced dataset in the form in which `operations.rs` compares them.

#![allow(dead_code, reason = "each test file uses another part")]

use std::collections::BTreeMap;
use std::path::Path;

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::Row;
use flowmine_schema::tables::{Host, IoEvent, Process, TracedFile};
use flowmine_schema::text::encode;

use super::operations::{Seen, SeenFile};

/// A row of `io_events`.
pub fn seen(row: &IoEvent<'_>) -> Seen {
    let bytes = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(encode);
    Seen {
        pid: row.pid.into(),
        process_start_ns: row.process_start_ns,
        tid: row.tid.map_or(-1, i64::from),
        op: row.op.to_string(),
        via: row.via.to_string(),
        start_ns: row.start_ns,
        end_ns: row.end_ns,
        handle: row.handle,
        device: row.device,
        inode: row.inode,
        path: bytes(&row.path),
        container_path: bytes(&row.container_path),
        new_path: bytes(&row.new_path),
        offset: row.offset,
        size: row.size,
        result: row.result,
        flags: row.flags.map(i64::from),
    }
}

/// Reads a table.
pub fn each<R: Row>(dataset: &Path, mut each: impl FnMut(R::Of<'_>)) {
    let read = Dataset::open(dataset).expect("a dataset").read::<R, DatasetError>(|row| {
        each(row);
        Ok(())
    });
    read.unwrap_or_else(|error| panic!("{} is readable: {error}", R::TABLE));
}

/// All rows of `io_events` and `files`.
pub fn rows(dataset: &Path) -> (Vec<Seen>, Vec<SeenFile>) {
    let (mut rows, mut files) = (Vec::new(), Vec::new());
    each::<IoEvent<'static>>(dataset, |row| rows.push(seen(&row)));
    each::<TracedFile<'static>>(dataset, |row| {
        files.push(SeenFile {
            device: row.device.unwrap_or(-1),
            inode: row.inode,
            kind: row.kind.as_deref().map(str::to_owned),
            path: row.path.as_deref().map(encode),
        });
    });
    (rows, files)
}

/// Calls on directories of each process, as its last row tells them.
pub fn directory_calls(dataset: &Path) -> Vec<[Option<i64>; 5]> {
    let mut last = BTreeMap::new();
    each::<Process<'static>>(dataset, |row| {
        let calls = [row.mkdir_calls, row.rmdir_calls, row.symlink_calls, row.readdir_calls, row.stat_calls];
        last.insert((row.pid, row.process_start_ns), calls);
    });
    last.into_values().collect()
}

/// What the last row of `hosts` says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct End {
    pub state: String,
    pub kernel: String,
    pub hooks: String,
    pub operations: Option<i64>,
    pub received: Option<i64>,
    pub lost: Option<i64>,
}

/// How a trace ended; `state` is `began` when it was killed.
pub fn end(dataset: &Path) -> End {
    let mut end = End::default();
    each::<Host<'static>>(dataset, |row| {
        end = End {
            state: row.state.to_string(),
            kernel: row.kernel.unwrap_or_default().into(),
            hooks: row.hooks.unwrap_or_default().into(),
            operations: row.operations,
            received: row.received,
            lost: row.lost,
        };
    });
    end
}
