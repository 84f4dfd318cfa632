//! Builds a small log of two cases and writes it as XES.
//!
//! ```text
//! cargo run --release -p flowmine-eventlog --example write_xes -- FILE
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use flowmine_eventlog::xes::extensions::{CONCEPT, TIME};
use flowmine_eventlog::{Attribute, Batch, BatchBuilder, Batches, CaseHeader, CaseLog, Classifier, Counts, Record, xes};

/// A log in memory. One that is read from elsewhere would make its batches while it is walked
/// through.
struct Log {
    header: CaseHeader,
    batches: Vec<Batch>,
}

impl CaseLog for Log {
    fn header(&self) -> &CaseHeader {
        &self.header
    }

    fn traces(&self) -> Batches<'_> {
        Box::new(self.batches.iter().cloned().map(Ok))
    }
}

/// A log of cases, each with its name and its events: the activity, and the time in seconds since 1970.
fn log(cases: &[(&str, &[(&str, i64)])]) -> Log {
    let mut builder = BatchBuilder::default();
    let mut batches = Vec::new();
    // `push` gives a batch back whenever one is full.
    let mut push = |record: &Record<'_>| batches.extend(builder.push(record));
    for (name, events) in cases {
        push(&Record::Trace(vec![Attribute::text("concept:name", *name)]));
        for (activity, time_s) in *events {
            push(&Record::CaseEvent(vec![
                Attribute::text("concept:name", *activity),
                Attribute::time("time:timestamp", time_s * 1_000_000_000),
            ]));
        }
        push(&Record::TraceEnd);
    }
    batches.extend(builder.finish());
    let header = CaseHeader {
        extensions: vec![CONCEPT.extension(), TIME.extension()],
        // What every trace and event has; the values stand for any.
        trace_globals: vec![Attribute::text("concept:name", "")],
        event_globals: vec![Attribute::text("concept:name", ""), Attribute::time("time:timestamp", 0)],
        classifiers: vec![Classifier::new("Activity", &["concept:name"])],
        ..CaseHeader::default()
    };
    Log { header, batches }
}

/// Writes the log to the file and gives what was written.
pub fn run(file: &Path) -> Result<Counts, Box<dyn Error>> {
    let log = log(&[
        ("order 1", &[("align", 1_795_179_845), ("sort", 1_795_179_905), ("call", 1_795_180_145)]),
        ("order 2", &[("align", 1_795_179_850), ("call", 1_795_180_000)]),
    ]);
    let refused = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
    let mut out = BufWriter::new(File::create(file).map_err(|error| refused(&error))?);
    let counts = xes::write(&log, &mut out).map_err(|error| refused(&error))?;
    out.flush().map_err(|error| refused(&error))?;
    Ok(counts)
}

#[allow(dead_code, reason = "a test takes this file in and calls `run`")]
fn main() -> ExitCode {
    match of_arguments() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn of_arguments() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(file), None) = (arguments.next(), arguments.next()) else {
        return Err("usage: write_xes FILE".into());
    };
    let counts = run(Path::new(&file))?;
    println!("{} traces, {} events", counts.traces, counts.events);
    Ok(())
}
