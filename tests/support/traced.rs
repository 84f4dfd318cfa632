//! The rows of a traced dataset in the form in which `operations.rs` compares them.

#![allow(dead_code, reason = "each test file uses another part")]

use std::path::Path;

use flowmine_schema::tables::{IoEvent, TracedFile};
use flowmine_schema::text::encode;
use flowmine_schema::{Dataset, DatasetError, Projection};

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

/// All rows of `io_events` and `files`.
pub fn rows(dataset: &Path) -> (Vec<Seen>, Vec<SeenFile>) {
    let dataset = Dataset::open(dataset).expect("a dataset");
    let (mut rows, mut files) = (Vec::new(), Vec::new());
    let read = dataset.read::<IoEvent<'static>, DatasetError>(Projection::All, |row| {
        rows.push(seen(&row));
        Ok(())
    });
    read.expect("io_events is readable");
    let read = dataset.read::<TracedFile<'static>, DatasetError>(Projection::All, |row| {
        files.push(SeenFile {
            device: row.device.unwrap_or(-1),
            inode: row.inode,
            kind: row.kind.as_deref().map(str::to_owned),
            path: row.path.as_deref().map(encode),
        });
        Ok(())
    });
    read.expect("files is readable");
    (rows, files)
}
