//! process_mining as a program: what it reads from a log, and how long it takes to write one.
//!
//! `flowmine-peer dump FILE` prints the log as it stands in process_mining's memory, in the form
//! that tests/support/dump.rs describes, one JSON array a line. `flowmine-peer exchange IN OUT`
//! does the same and then writes the log to another file. `flowmine-peer convert IN OUT` reads one
//! file, writes another and prints as JSON how long both took and the largest memory after each.
//! `flowmine-peer graph FILE` reads a log, finds its directly-follows graph (of OCEL one for each
//! type of objects) and prints as JSON how long each took and what the graph has.
//! `flowmine-peer replay NET.pnml LOG.xes` (feature `replay`) prints the tokens of a replay.
//! Formats go by extension: `.xes`, `.xes.gz`, `.json`, `.xml`, `.sqlite`. Never for files from
//! elsewhere.

mod dump;
mod graph;
mod ocel;
#[cfg(feature = "replay")]
mod replay;
mod xes;

use std::error::Error;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use process_mining::core::event_data::case_centric::xes::export_xes_event_log_to_path;
use process_mining::{EventLog, Exportable, Importable, OCEL};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args.as_slice() {
        ["dump", file] => print(Path::new(file), None),
        ["exchange", from, to] => print(Path::new(from), Some(Path::new(to))),
        ["graph", file] => graph::graph(Path::new(file)),
        #[cfg(feature = "replay")]
        ["replay", net, log] => replay::replay(Path::new(net), Path::new(log)),
        ["convert", from, to] => convert(Path::new(from), Path::new(to), false),
        ["convert", "--default-gz", from, to] => convert(Path::new(from), Path::new(to), true),
        _ => Err("usage: flowmine-peer dump FILE | graph FILE | exchange IN OUT | convert [--default-gz] IN OUT".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flowmine-peer: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_xes(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    name.ends_with(".xes") || name.ends_with(".xes.gz")
}

fn print(file: &Path, to: Option<&Path>) -> Outcome {
    let mut out = BufWriter::new(std::io::stdout().lock());
    if is_xes(file) {
        let log = EventLog::import_from_path(file)?;
        xes::dump(&log, &mut out)?;
        to.map(|to| log.export_to_path(to)).transpose()?;
    } else {
        let log = OCEL::import_from_path(file)?;
        ocel::dump(&log, &mut out)?;
        to.map(|to| log.export_to_path(to)).transpose()?;
    }
    Ok(out.flush()?)
}

/// `default_gz` compresses through the writer that `Exportable` offers; without it, through the
/// faster one of the XES module.
fn convert(from: &Path, to: &Path, default_gz: bool) -> Outcome {
    if is_xes(from) != is_xes(to) {
        return Err("XES becomes XES, and OCEL becomes OCEL".into());
    }
    // process_mining adds to a database that is there.
    if to.exists() {
        return Err(format!("{} exists already", to.display()).into());
    }
    let begin = Instant::now();
    let (read_s, read_kib, write_s) = if is_xes(from) {
        let log = EventLog::import_from_path(from)?;
        let (read_s, read_kib, begin) = (begin.elapsed().as_secs_f64(), peak_kib(), Instant::now());
        if default_gz {
            log.export_to_path(to)?;
        } else {
            export_xes_event_log_to_path(&log, to)?;
        }
        (read_s, read_kib, begin.elapsed().as_secs_f64())
    } else {
        let log = OCEL::import_from_path(from)?;
        let (read_s, read_kib, begin) = (begin.elapsed().as_secs_f64(), peak_kib(), Instant::now());
        log.export_to_path(to)?;
        (read_s, read_kib, begin.elapsed().as_secs_f64())
    };
    let result = serde_json::json!({
        "read_s": read_s, "write_s": write_s, "peak_read_kib": read_kib, "peak_kib": peak_kib(), "bytes": std::fs::metadata(to)?.len(),
    });
    println!("{result}");
    Ok(())
}

/// The largest resident memory so far (`VmHWM` in proc(5)).
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0)
}
