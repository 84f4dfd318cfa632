//! How fast records become rows in Parquet: one thread, CPU time, bytes on disk for each event.
//!
//! `cargo bench --bench records [-- --events N]` makes up operations of a few processes on many files (reads at growing offsets and random ones, writes,
//! opens and closes) in the form in which the ring has them, and takes them through decoding, the recorder and the Parquet writer.
//! CPU time of the whole process counts, so that work handed to other threads is not free. A table of measured values stands in docs/performance.md.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use flowmine_extract_ebpf::host::HostFacts;
use flowmine_extract_ebpf::recorder::WayIn;
use flowmine_extract_ebpf::{FileKey, Op, Operation, Options, ProcessKey, Record, Recorder};
use flowmine_schema::Dataset;
use flowmine_schema::dataset::Role;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let events = match arguments.iter().position(|argument| argument == "--events") {
        Some(at) => arguments.get(at + 1).ok_or("--events N")?.parse()?,
        None => 5_000_000u64,
    };
    let dir = tempfile::tempdir_in("/var/tmp")?;
    let dataset = Dataset::open_or_create(dir.path())?;
    let host = HostFacts::read(Path::new("/proc"));
    let writer = dataset.writer(Role::Host(host.name.clone()), "bench")?;
    let way = WayIn { backend: "ebpf", hooks: Some("syscalls".into()), ring_bytes: Some(16 << 20) };
    let mut recorder = Recorder::begin(writer, host, way, &Options::default(), None)?;
    let (wall, cpu) = (Instant::now(), cpu_seconds());
    for at in 0..events {
        let process = ProcessKey { pid: 1000 + (at / 977 % 7) as u32, start_boot_ns: 5_000_000_000 + at / 977 % 7 };
        let number = at / 64 % 5000;
        let file = FileKey { device: 2049, inode: 1_000_000 + number, generation: Some(number as u32) };
        let start = 1_000_000_000_000 + at * 1100 + (at * 7919) % 500;
        let path = format!("/work/run/ab/{number:06x}/input.fastq.gz");
        let random = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let operation = Operation {
            end_boot_ns: Some(start + 300 + (random & 511)),
            open_file: Some(number),
            file: Some(file),
            ..Operation::new(process, process.pid, Op::Read, start)
        };
        let operation = match at % 64 {
            0 => Operation { op: Op::Open, result: Some(0), path: Some(path.as_bytes()), flags: Some(0), ..operation },
            63 => Operation { op: Op::Close, result: Some(0), ..operation },
            n => Operation {
                op: if n % 3 == 0 { Op::Write } else { Op::Read },
                offset: Some(if number % 2 == 0 { n * 4096 } else { random << 12 }),
                size: Some(4096),
                result: Some(if n == 62 { 1234 } else { 4096 }),
                ..operation
            },
        };
        recorder.take(&Record::Operation(operation))?;
    }
    recorder.end(None)?;
    let (wall, cpu) = (wall.elapsed().as_secs_f64(), cpu_seconds() - cpu);
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

fn size(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

/// CPU time of this process, from `/proc/self/stat` (fields 14 and 15, in hundredths of a second on Linux).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<f64> = after.split_whitespace().map(|field| field.parse().unwrap_or(0.0)).collect();
    (fields.get(11).unwrap_or(&0.0) + fields.get(12).unwrap_or(&0.0)) / 100.0
}
