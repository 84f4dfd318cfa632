//! From records to rows, without any memory.

use std::borrow::Cow;

use flowmine_schema::tables::{IoEvent, IoTotal};
use flowmine_schema::text::decode;

use crate::options::Filters;
use crate::record::{Operation, Sum, Totals};

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn io_event<'a>(operation: &Operation<'a>) -> IoEvent<'a> {
    IoEvent {
        pid: operation.process.pid as i32,
        process_start_ns: Some(signed(operation.process.start_boot_ns)),
        tid: Some(operation.tid as i32),
        op: Cow::Borrowed(operation.op.name()),
        via: Cow::Borrowed(operation.via.name()),
        handle: operation.open_file.map(signed),
        // All 64 bits of it, as declared in the table.
        device: operation.file.map(|file| file.device as i64),
        inode: operation.file.map(|file| file.inode as i64),
        generation: operation.file.and_then(|file| file.generation).map(i64::from),
        offset: operation.offset.map(signed),
        offset_uncertain: operation.offset_uncertain.then_some(true),
        size: operation.size.map(signed),
        result: operation.result,
        flags: operation.flags.map(|flags| flags as i32),
        path: operation.path.map(decode),
        container_path: operation.container_path.map(decode),
        new_path: operation.new_path.map(decode),
        utime_start_ns: operation.cpu_start.map(|cpu| signed(cpu.user_ns)),
        utime_end_ns: operation.cpu_end.map(|cpu| signed(cpu.user_ns)),
        stime_start_ns: operation.cpu_start.map(|cpu| signed(cpu.system_ns)),
        stime_end_ns: operation.cpu_end.map(|cpu| signed(cpu.system_ns)),
        ..IoEvent::default()
    }
}

pub(super) fn io_total(totals: &Totals) -> IoTotal<'static> {
    let range = |sum: &Sum| (sum.range.map(|range| signed(range.0)), sum.range.map(|range| signed(range.1)));
    let (read_offset_min, read_offset_end) = range(&totals.read);
    let (write_offset_min, write_offset_end) = range(&totals.write);
    IoTotal {
        handle: totals.open_file.map(signed),
        pid: totals.process.pid as i32,
        process_start_ns: Some(signed(totals.process.start_boot_ns)),
        device: totals.file.device as i64,
        inode: totals.file.inode as i64,
        generation: totals.file.generation.map(i64::from),
        read_calls: signed(totals.read.calls),
        read_bytes: signed(totals.read.bytes),
        read_errors: signed(totals.read.errors),
        read_time_ns: signed(totals.read.time_ns),
        read_offset_min,
        read_offset_end,
        write_calls: signed(totals.write.calls),
        write_bytes: signed(totals.write.bytes),
        write_errors: signed(totals.write.errors),
        write_time_ns: signed(totals.write.time_ns),
        write_offset_min,
        write_offset_end,
        faults: signed(totals.faults),
        ..IoTotal::default()
    }
}

/// Byte strings as a JSON array of texts; bytes that are no UTF-8 as [`decode`] writes them.
pub(super) fn json_array(items: &[Vec<u8>]) -> String {
    let items: Vec<serde_json::Value> = items.iter().map(|item| decode(item).into_owned().into()).collect();
    serde_json::Value::Array(items).to_string()
}

/// Pairs as a JSON object.
pub(super) fn json_object<'a>(pairs: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let pairs = pairs.map(|(name, value)| (name.to_owned(), decode(value).into_owned().into())).collect();
    serde_json::Value::Object(pairs).to_string()
}

/// The filters that were set, as a JSON object; `None` when none was. `only_joined`: only commands
/// that joined the trace were seen.
pub(super) fn filters(filters: &Filters, only_joined: bool) -> Option<String> {
    let mut set = serde_json::Map::new();
    let mut put = |name: &str, values: Vec<serde_json::Value>| {
        if !values.is_empty() {
            set.insert(name.to_owned(), values.into());
        }
    };
    let paths = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| decode(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str())).into_owned().into()).collect::<Vec<_>>()
    };
    put("cgroups", paths(&filters.cgroups));
    put("pids", filters.pids.iter().map(|&pid| pid.into()).collect());
    put("uids", filters.uids.iter().map(|&uid| uid.into()).collect());
    put("gids", filters.gids.iter().map(|&gid| gid.into()).collect());
    put("file_systems", filters.file_systems.iter().map(|name| name.as_str().into()).collect());
    put("file_systems_out", filters.file_systems_out.iter().map(|name| name.as_str().into()).collect());
    put("ops", filters.ops.iter().map(|op| op.name().into()).collect());
    put("directories", paths(&filters.directories));
    put("directories_out", paths(&filters.directories_out));
    if only_joined {
        set.insert("joined".to_owned(), true.into());
    }
    (!set.is_empty()).then(|| serde_json::Value::Object(set).to_string())
}
