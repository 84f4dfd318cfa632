//! How fast records of the kernel become rows in Parquet: CPU time, and bytes on disk for each
//! event.
//!
//! `cargo bench --bench records [-- --events N]` makes up operations of a few processes on many
//! files (reads at growing offsets and random ones, writes, opens and closes) as the bytes that the
//! kernel side puts into its ring (`bpf/wire.h`), and takes them through the decoder, the recorder
//! and the Parquet writer. Making them up does not count. CPU time of the whole process counts, so
//! that work handed to other threads is not free. A table of measured values stands in
//! docs/performance.md.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use flowmine_dataset::{Dataset, Role};
use flowmine_extract_ebpf::decode::{Decoder, Host, op_number};
use flowmine_extract_ebpf::wire::{HEAD, cpu, has, kind, operation, part, part_head};
use flowmine_trace::host::HostFacts;
use flowmine_trace::recorder::Backend;
use flowmine_trace::{Op, Options, Recorder};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let events = match arguments.iter().position(|argument| argument == "--events") {
        Some(at) => arguments.get(at + 1).ok_or("--events N")?.parse()?,
        None => 3_000_000u64,
    };
    let (mut ring, mut ends) = (Vec::with_capacity(events as usize * 130), Vec::with_capacity(events as usize));
    for at in 0..events {
        put(&mut ring, at);
        ends.push(ring.len());
    }
    let dir = tempfile::tempdir_in("/var/tmp")?;
    let dataset = Dataset::open_or_create(dir.path())?;
    let host = HostFacts::read(Path::new("/proc"));
    let writer = dataset.writer(Role::Host(host.name.clone()), "bench")?;
    let way = Backend { name: "ebpf", hooks: Some("syscalls".into()), ring_bytes: Some(16 << 20) };
    let mut decoder = Decoder::new(Host::read("/proc".as_ref(), "/".as_ref())?, Vec::new(), false, Box::new(|_| true));
    let mut recorder = Recorder::begin(writer, host, way, &Options::default(), None)?;
    let (wall, cpu) = (Instant::now(), cpu_seconds());
    let mut start = 0;
    for end in ends {
        decoder.record(&ring[start..end], &mut |record| recorder.take(record))?;
        start = end;
    }
    recorder.end(None)?;
    let (wall, cpu) = (wall.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    if decoder.unreadable + decoder.left_out > 0 {
        return Err(format!("{} records were not understood, {} left out", decoder.unreadable, decoder.left_out).into());
    }
    let rows = dataset.row_count::<flowmine_schema::tables::IoEvent<'static>>()?;
    if rows != events {
        return Err(format!("{rows} rows of {events} events").into());
    }
    let bytes = size(&dir.path().join("io_events"))?;
    println!(
        "{events} events: {:.2} s wall, {:.2} s CPU: {:.0} events a second of CPU; {:.1} bytes an event on disk",
        wall,
        cpu,
        events as f64 / cpu,
        bytes as f64 / events as f64
    );
    Ok(())
}

/// Adds the record of an operation as the kernel side writes it.
fn put(ring: &mut Vec<u8>, at: u64) {
    let file = at / 64 % 5000;
    let random = mixed(at);
    // Not as regular as a clock: what differs costs bytes.
    let start = 1_000_000_000_000 + at * 1100 + (random >> 32) % 1000;
    let process = at / 977 % 7;
    let (op, offset, size, result) = match at % 64 {
        0 => (Op::Open, None, None, 0),
        63 => (Op::Close, None, None, 0),
        n => {
            let op = if n % 3 == 0 { Op::Write } else { Op::Read };
            (op, Some(if file.is_multiple_of(2) { n * 4096 } else { (random >> 44) << 12 }), Some(4096), if n == 62 { 1234 } else { 4096 })
        }
    };
    let open = op == Op::Open;
    let mut tail = Vec::new();
    if open {
        // Names from the leaf up.
        let names = format!("input.fastq.gz\0{file:06x}\0ab\0run\0work\0");
        tail.resize(part_head::SIZE, 0);
        tail[0] = part::PATH;
        tail[offset_of(part_head::LAYOUT.1, "length")..][..4].copy_from_slice(&(names.len() as u32).to_le_bytes());
        tail.extend_from_slice(names.as_bytes());
    }
    let bits = [
        (has::FILE | has::HANDLE | has::RESULT | has::CPU, true),
        (has::OFFSET | has::SIZE, offset.is_some()),
        (has::FLAGS | has::TAIL, open),
    ];
    let has = bits.iter().filter(|(_, is)| *is).fold(0, |all, (bit, _)| all | bit);
    let begin = ring.len();
    ring.resize(begin + if open { HEAD } else { operation::SIZE + cpu::SIZE }, 0);
    let record = &mut ring[begin..];
    record[0] = kind::OPERATION;
    let mut set = |name: &str, value: &[u8]| record[offset_of(operation::LAYOUT.1, name)..][..value.len()].copy_from_slice(value);
    set("op", &[op_number(op)]);
    set("has", &has.to_le_bytes());
    set("tgid", &(1000 + process as u32).to_le_bytes());
    set("tid", &(1000 + process as u32).to_le_bytes());
    set("process_start", &(5_000_000_000 + process).to_le_bytes());
    set("start", &start.to_le_bytes());
    set("end", &(start + 300 + (random & 1023)).to_le_bytes());
    set("handle", &(0xffff_8880_0000_0000 + file * 256).to_le_bytes());
    set("inode", &(1_000_000 + file).to_le_bytes());
    set("device", &(8u32 << 20 | 1).to_le_bytes());
    set("generation", &(file as u32).to_le_bytes());
    set("offset", &offset.unwrap_or(0).to_le_bytes());
    set("size", &size.unwrap_or(0u64).to_le_bytes());
    set("result", &i64::to_le_bytes(result));
    set("tail", &(tail.len() as u32).to_le_bytes());
    // CPU times grow by a tick of the scheduler now and then.
    for (n, time) in [at / 5000 * 4_000_000, at / 3000 * 4_000_000, at / 5000 * 4_000_000, at / 3000 * 4_000_000].into_iter().enumerate() {
        record[operation::SIZE + n * 8..][..8].copy_from_slice(&time.to_le_bytes());
    }
    ring.extend_from_slice(&tail);
}

/// Bits that look like chance, the same each time (splitmix64).
fn mixed(at: u64) -> u64 {
    let mut bits = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn offset_of(layout: &[(&str, usize)], name: &str) -> usize {
    layout.iter().find(|(field, _)| *field == name).map_or_else(|| panic!("{name} is no field"), |(_, at)| *at)
}

fn size(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

/// CPU time of this process, from `/proc/self/stat` (fields 14 and 15, in hundredths of a second on
/// Linux).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<f64> = after.split_whitespace().map(|field| field.parse().unwrap_or(0.0)).collect();
    (fields.get(11).unwrap_or(&0.0) + fields.get(12).unwrap_or(&0.0)) / 100.0
}
