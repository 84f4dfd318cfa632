//! Reads an OCEL 2.0 file (JSON, XML or SQLite) and prints how many objects and events there are of
//! each type.
//!
//! ```text
//! cargo run --release -p flowmine-eventlog --example read_ocel -- FILE
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use flowmine_eventlog::read::{self, Finding, Format, Limits, Sink};
use flowmine_eventlog::{CaseHeader, LogError, Record, Types};

/// Takes what the reader gives: nothing of the file is kept but these numbers.
#[derive(Default)]
struct Counter {
    objects: BTreeMap<String, u64>,
    events: BTreeMap<String, u64>,
    findings: u64,
}

impl Sink for Counter {
    fn types(&mut self, types: Types) -> Result<(), LogError> {
        // A type that the file declares is shown also when nothing is of it.
        for object in types.objects {
            self.objects.entry(object.name).or_default();
        }
        for event in types.events {
            self.events.entry(event.name).or_default();
        }
        Ok(())
    }

    fn header(&mut self, _: CaseHeader) -> Result<(), LogError> {
        Ok(()) // Only XES has one.
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        match record {
            Record::Object(object) => *self.objects.entry(object.kind.to_string()).or_default() += 1,
            Record::Event(event) => *self.events.entry(event.kind.to_string()).or_default() += 1,
            Record::Trace(_) | Record::CaseEvent(_) | Record::TraceEnd => {}
        }
        Ok(())
    }

    fn finding(&mut self, _: Finding) {
        self.findings += 1;
    }
}

/// Reads the file and prints the numbers.
pub fn run(file: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let refused = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
    if read::detect(file).map_err(|error| refused(&error))? == Format::Xes {
        return Err(refused(&"this is XES, which has cases and no objects").into());
    }
    let mut counter = Counter::default();
    read::read_file(file, &Limits::default(), &mut counter).map_err(|error| refused(&error))?;
    for (title, counts) in [("object types", &counter.objects), ("event types", &counter.events)] {
        writeln!(out, "{title}:")?;
        for (name, count) in counts {
            // A name may hold anything, also what a terminal obeys.
            writeln!(out, "{count:>8}  {}", name.escape_debug())?;
        }
    }
    if counter.findings > 0 {
        writeln!(out, "odd places in the file: {}", counter.findings)?;
    }
    Ok(())
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
        return Err("usage: read_ocel FILE".into());
    };
    run(Path::new(&file), &mut io::stdout().lock())
}
