//! What it costs to write a log: our writers beside those of process_mining and PM4Py, on the same
//! events, in one run.
//!
//! `cargo bench --bench logs [-- --events N] [--pm4py-events N] [--alone]` makes up a log of N
//! events (1,000,000 unless told otherwise), each with three objects and four or five attributes,
//! and the same events as cases of ten. Each writer runs in a process of its own, which prints its
//! time and its peak memory: ours takes the records from a temporary file; the peers read the log
//! first, which is not counted as time. The best of three counts (PM4Py: one run, on fewer events,
//! because it needs minutes). `--alone` leaves the peers out. A table of measured values stands in
//! docs/performance.md.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use flowmine_eventlog::{
    Attribute, Batch, BatchBuilder, Batches, CaseHeader, CaseLog, Classifier, Event, Extension, LogError, Object, ObjectLog, Record,
    Relation, TypeDef, Types, Value, ValueType, ocel, xes,
};

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/support/peers.rs"]
mod peers;

use peers::{Converted, Peer};

type Outcome<T> = Result<T, Box<dyn Error>>;

const START_NS: i64 = 1_795_000_000_000_000_000;
const KINDS: [&str; 8] =
    ["job submitted", "job pending", "job held", "job released", "job started", "job suspended", "job resumed", "job completed"];
const TRANSITIONS: [&str; 8] = ["schedule", "schedule", "suspend", "resume", "start", "suspend", "resume", "complete"];
const REASONS: [&str; 5] = ["Priority", "Resources", "AssocGrpCpuLimit", "Dependency & <afterok>", "QOSMaxJobsPerUserLimit"];
const USERS: usize = 1_000;
const NODES: usize = 5_000;

fn time_ns(event: usize) -> i64 {
    START_NS + event as i64 * 1_234_567_891
}

/// Four attributes, every second event five.
fn attributes(event: usize) -> Vec<Attribute<'static>> {
    let mut attributes = vec![
        Attribute::text("reason", REASONS[event % REASONS.len()]),
        Attribute::integer("cpus", 1 + (event % 128) as i64),
        Attribute::new("priority", Value::Float((event % 100_003) as f64 / 1009.0)),
        Attribute::time("not_before", time_ns(event) - 59_999_999_999),
    ];
    if event % 2 == 1 {
        attributes.push(Attribute::new("backfilled", Value::Boolean(event.is_multiple_of(3))));
    }
    attributes
}

fn job(event: usize) -> usize {
    event / KINDS.len()
}

fn relation(object: String, qualifier: &'static str) -> Relation<'static> {
    Relation { object: object.into(), qualifier: qualifier.into() }
}

fn event(number: usize) -> Record<'static> {
    let relations = vec![
        relation(format!("job {}", 40_000_000 + job(number)), "of"),
        relation(format!("user{:04}", job(number) % USERS), "submitted by"),
        relation(format!("nc{:04}", number % NODES), "ran on"),
    ];
    let (id, kind) = (format!("e{number}").into(), KINDS[number % KINDS.len()].into());
    Record::Event(Event { id, kind, time_ns: time_ns(number), attributes: attributes(number), relations })
}

fn object(id: String, kind: &'static str, attributes: Vec<Attribute<'static>>, relations: Vec<Relation<'static>>) -> Record<'static> {
    Record::Object(Object { id: id.into(), kind: kind.into(), attributes, relations })
}

fn objects(events: usize) -> impl Iterator<Item = Record<'static>> {
    let jobs = (0..events.div_ceil(KINDS.len())).map(|job| {
        let first_ns = time_ns(job * KINDS.len());
        let attributes = vec![
            Attribute::text("name", format!("md_production_run_{:05}", job % 3000)),
            Attribute::integer("cpus", 1 + (job % 128) as i64),
            Attribute::text("state", "PENDING"),
            Attribute::text("state", "RUNNING").since(first_ns + 4_000_000_001),
            Attribute::text("state", "COMPLETED").since(first_ns + 9_000_000_002),
        ];
        object(format!("job {}", 40_000_000 + job), "job", attributes, vec![relation(format!("user{:04}", job % USERS), "submitted by")])
    });
    let users = (0..USERS).map(|user| object(format!("user{user:04}"), "user", Vec::new(), Vec::new()));
    let nodes = (0..NODES).map(|node| object(format!("nc{node:04}"), "node", vec![Attribute::integer("memory_mb", 192_000)], Vec::new()));
    jobs.chain(users).chain(nodes)
}

fn cases(events: usize) -> impl Iterator<Item = Record<'static>> {
    (0..events).flat_map(move |number| {
        let begin = (number % 10 == 0).then(|| Record::Trace(vec![Attribute::text("concept:name", format!("case {}", number / 10))]));
        let mut of_event = vec![
            Attribute::text("concept:name", KINDS[number % KINDS.len()]),
            Attribute::time("time:timestamp", time_ns(number)),
            Attribute::text("lifecycle:transition", TRANSITIONS[number % TRANSITIONS.len()]),
            Attribute::text("org:resource", format!("user{:04}", job(number) % USERS)),
        ];
        if number % 2 == 1 {
            of_event.push(Attribute::integer("cpus", 1 + (number % 128) as i64));
        }
        let end = (number % 10 == 9 || number + 1 == events).then_some(Record::TraceEnd);
        begin.into_iter().chain([Record::CaseEvent(of_event)]).chain(end)
    })
}

fn types() -> Types {
    use ValueType::{Boolean, Float, Integer, String, Time};
    let of = |name: &str, attributes: &[(&str, ValueType)]| TypeDef {
        name: name.to_owned(),
        attributes: attributes.iter().map(|(name, of)| ((*name).to_owned(), *of)).collect(),
    };
    let even = [("reason", String), ("cpus", Integer), ("priority", Float), ("not_before", Time)];
    let odd = [even[0], even[1], even[2], even[3], ("backfilled", Boolean)];
    Types {
        events: KINDS.iter().enumerate().map(|(number, kind)| of(kind, if number % 2 == 1 { &odd } else { &even })).collect(),
        objects: vec![
            of("job", &[("name", String), ("cpus", Integer), ("state", String)]),
            of("user", &[]),
            of("node", &[("memory_mb", Integer)]),
        ],
    }
}

fn header() -> CaseHeader {
    let extension = |name: &str, prefix: &str| Extension {
        name: name.to_owned(),
        prefix: prefix.to_owned(),
        uri: format!("http://www.xes-standard.org/{prefix}.xesext"),
    };
    CaseHeader {
        extensions: vec![
            extension("Concept", "concept"),
            extension("Time", "time"),
            extension("Lifecycle", "lifecycle"),
            extension("Organizational", "org"),
        ],
        trace_globals: vec![Attribute::text("concept:name", "unknown")],
        event_globals: vec![Attribute::text("concept:name", "unknown"), Attribute::time("time:timestamp", 0)],
        classifiers: vec![Classifier { name: "Activity".to_owned(), keys: vec!["concept:name".to_owned()] }],
        attributes: vec![Attribute::text("concept:name", "benchmark")],
    }
}

/// The records in files of length and bytes, so that neither making them nor holding them counts.
struct Stored {
    dir: PathBuf,
    types: Types,
    header: CaseHeader,
}

impl Stored {
    fn make(dir: &Path, events: usize) -> Outcome<Self> {
        store(&dir.join("objects"), objects(events))?;
        store(&dir.join("events"), (0..events).map(event))?;
        store(&dir.join("cases"), cases(events))?;
        Ok(Self::open(dir))
    }

    fn open(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), types: types(), header: header() }
    }

    fn batches(&self, name: &str) -> Batches<'static> {
        match File::open(self.dir.join(name)) {
            Ok(file) => Box::new(Pieces { file: BufReader::with_capacity(1 << 20, file), builder: Some(BatchBuilder::default()) }),
            Err(error) => Box::new(std::iter::once(Err(error.into()))),
        }
    }
}

fn store(path: &Path, records: impl Iterator<Item = Record<'static>>) -> Outcome<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut bytes = Vec::new();
    for record in records {
        bytes.clear();
        record.encode(&mut bytes);
        out.write_all(&u32::try_from(bytes.len())?.to_le_bytes())?;
        out.write_all(&bytes)?;
    }
    Ok(out.flush()?)
}

struct Pieces {
    file: BufReader<File>,
    builder: Option<BatchBuilder>,
}

impl Iterator for Pieces {
    type Item = Result<Batch, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut length = [0; 4];
        let mut piece = Vec::new();
        loop {
            let builder = self.builder.as_mut()?;
            match self.file.read_exact(&mut length) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return self.builder.take()?.finish().map(Ok),
                Err(error) => return Some(Err(error.into())),
            }
            piece.resize(u32::from_le_bytes(length) as usize, 0);
            if let Err(error) = self.file.read_exact(&mut piece) {
                return Some(Err(error.into()));
            }
            if let Some(batch) = builder.push_piece(&piece) {
                return Some(Ok(batch));
            }
        }
    }
}

impl ObjectLog for Stored {
    fn types(&self) -> &Types {
        &self.types
    }

    fn objects(&self) -> Batches<'_> {
        self.batches("objects")
    }

    fn events(&self) -> Batches<'_> {
        self.batches("events")
    }
}

impl CaseLog for Stored {
    fn header(&self) -> &CaseHeader {
        &self.header
    }

    fn traces(&self) -> Batches<'_> {
        self.batches("cases")
    }
}

/// A row of the table: what it is called, the extension, process_mining's options. Its XES module
/// compresses with level 1, its general interface with level 6.
const ROWS: [(&str, &str, &[&str]); 6] = [
    ("OCEL JSON", "json", &[]),
    ("OCEL XML", "xml", &[]),
    ("OCEL SQLite", "sqlite", &[]),
    ("XES", "xes", &[]),
    ("XES.gz, its level 1", "xes.gz", &[]),
    ("XES.gz, its level 6", "xes.gz", &["--default-gz"]),
];

/// In the process of its own: writes the log and prints what that took.
fn child(format: &str, dir: &Path, path: &Path) -> Outcome<()> {
    let log = Stored::open(dir);
    let begin = Instant::now();
    if format == "sqlite" {
        ocel::sqlite::write(&log, path)?;
    } else {
        let mut out = BufWriter::new(File::create(path)?);
        match format {
            "json" => ocel::json::write(&log, &mut out)?,
            "xml" => ocel::xml::write(&log, &mut out)?,
            "xes" => xes::write(&log, &mut out)?,
            _ => xes::gzip::write(&log, &mut out)?,
        };
        out.flush()?;
    }
    println!("{} {} {}", begin.elapsed().as_secs_f64(), peak_mb(), std::fs::metadata(path)?.len());
    Ok(())
}

fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok()).map_or(f64::NAN, |kib| kib / 1000.0 * 1.024)
}

/// Seconds of writing, peak MB, bytes of the file.
#[derive(Clone, Copy)]
struct Taken(f64, f64, u64);

fn ours(format: &str, dir: &Path, path: &Path) -> Outcome<Taken> {
    let _ = std::fs::remove_file(path);
    let output = Command::new(std::env::current_exe()?).args(["--child", format]).args([dir, path]).output()?;
    let text = String::from_utf8(output.stdout)?;
    let mut parts = text.split_ascii_whitespace();
    let (Some(seconds), Some(peak), Some(bytes)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(format!("{format}: {}", String::from_utf8_lossy(&output.stderr)).into());
    };
    Ok(Taken(seconds.parse()?, peak.parse()?, bytes.parse()?))
}

fn theirs(peer: &Peer, options: &[&str], from: &Path, to: &Path) -> Outcome<Taken> {
    let _ = std::fs::remove_file(to);
    let Converted { write_s, peak_mb, bytes, .. } = peer.convert(options, from, to)?;
    Ok(Taken(write_s, peak_mb, bytes))
}

fn best(runs: usize, mut run: impl FnMut() -> Outcome<Taken>) -> Outcome<Taken> {
    let mut best = run()?;
    for _ in 1..runs {
        let next = run()?;
        best = Taken(best.0.min(next.0), best.1.max(next.1), next.2);
    }
    Ok(best)
}

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [first, format, dir, path] = args.as_slice()
        && first == "--child"
    {
        return child(format, Path::new(dir), Path::new(path));
    }
    let option = |name: &str| args.iter().skip_while(|arg| *arg != name).nth(1).map(|value| value.parse::<usize>()).transpose();
    let events = option("--events")?.unwrap_or(1_000_000);
    let few = option("--pm4py-events")?.unwrap_or(100_000).min(events);
    let alone = args.iter().any(|arg| arg == "--alone");
    let rust = if alone { None } else { Some(peers::process_mining()?) };
    let python = if alone { None } else { Some(peers::pm4py().map_err(|e| format!("PM4Py (FLOWMINE_PYTHON): {e}"))?) };

    let dir = tempfile::tempdir()?;
    let (many_dir, few_dir) = (dir.path().join("many"), dir.path().join("few"));
    std::fs::create_dir(&many_dir)?;
    std::fs::create_dir(&few_dir)?;
    Stored::make(&many_dir, events)?;
    Stored::make(&few_dir, few)?;

    println!("{events} events; PM4Py: {few} events, its ratio is that of the times an event takes\n");
    println!("| format | flowmine | peak | file | process_mining | peak | file | ratio | PM4Py | peak | ratio |");
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mb = |bytes: u64| format!("{:.0} MB", bytes as f64 / 1e6);
    let mut before = None;
    for (name, format, options) in ROWS {
        let (out, to) = (dir.path().join(format!("ours.{format}")), dir.path().join(format!("theirs.{format}")));
        // The second row of a format compares with the same run of ours.
        let own = match before {
            Some((of, taken)) if of == format => taken,
            _ => best(3, || ours(format, &many_dir, &out))?,
        };
        before = Some((format, own));
        let mut row = format!("| {name} | {:.2} s | {:.0} MB | {} |", own.0, own.1, mb(own.2));
        // The peers read what they read fastest.
        let source = if format.starts_with("xes") { "xes" } else { "json" };
        let read_by_peers = |of: &str, records: &Path| -> Outcome<PathBuf> {
            let file = dir.path().join(format!("{of}.{source}"));
            if !file.exists() {
                ours(source, records, &file)?;
            }
            Ok(file)
        };
        if let Some(peer) = &rust {
            let from = read_by_peers("many", &many_dir)?;
            let taken = best(3, || theirs(peer, options, &from, &to))?;
            row += &format!(" {:.2} s | {:.0} MB | {} | {:.1} × |", taken.0, taken.1, mb(taken.2), taken.0 / own.0);
        }
        if let Some(peer) = &python
            && options.is_empty()
        {
            let taken = theirs(peer, &[], &read_by_peers("few", &few_dir)?, &to)?;
            let ratio = taken.0 / few as f64 / (own.0 / events as f64);
            row += &format!(" {:.2} s | {:.0} MB | {ratio:.0} × |", taken.0, taken.1);
        }
        println!("{row}");
        for file in [out, to] {
            let _ = std::fs::remove_file(file);
        }
    }
    Ok(())
}
