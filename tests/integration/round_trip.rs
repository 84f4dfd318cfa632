//! Round trips: what we write, process_mining and PM4Py read as the same log; what they write back,
//! we read as the same log, but for what they are known to cut (tests/support/cuts.rs,
//! docs/round-trips.md).
//!
//! A list of cuts has to be right in both directions: a difference that no cut explains fails a
//! test, and so does a cut that no hand-made log needs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flowmine_eventlog::read::{self, Limits, Severity};
use flowmine_eventlog::{ocel, xes};

use crate::support;
use crate::support::cuts::{self, Cut};
use crate::support::dump::Dump;
use crate::support::logs::Log;
use crate::support::peers::{self, Peer};
use crate::support::require::require;
use crate::support::{expect, flowmine, repository};

/// What a log is exchanged in: the name of the file is what the peers know the format by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Xml,
    Sqlite,
    Xes,
    XesGz,
}

impl Format {
    const OCEL: [Self; 3] = [Self::Json, Self::Xml, Self::Sqlite];
    const XES: [Self; 2] = [Self::Xes, Self::XesGz];

    fn file(self, dir: &Path, whose: &str) -> PathBuf {
        let extension = match self {
            Self::Json => "json",
            Self::Xml => "xml",
            Self::Sqlite => "sqlite",
            Self::Xes => "xes",
            Self::XesGz => "xes.gz",
        };
        dir.join(format!("{whose}.{extension}"))
    }

    /// What the format itself has no place for.
    fn cuts(self) -> &'static [Cut] {
        match self {
            Self::Sqlite => &[Cut::NoNegativeZero],
            Self::Xml => &[Cut::VisibleControls],
            Self::Json | Self::Xes | Self::XesGz => &[],
        }
    }

    fn write(self, log: &Log, path: &Path) {
        if self == Self::Sqlite {
            ocel::sqlite::write(log, path).unwrap();
            return;
        }
        let mut out = BufWriter::new(File::create(path).unwrap());
        match self {
            Self::Json => ocel::json::write(log, &mut out),
            Self::Xml => ocel::xml::write(log, &mut out),
            Self::Xes => xes::write(log, &mut out),
            Self::XesGz | Self::Sqlite => xes::gzip::write(log, &mut out),
        }
        .unwrap();
        out.flush().unwrap();
    }
}

/// Hand-made logs with everything that is easily lost.
const OBJECT_LOGS: [&str; 2] = ["jobs.json", "odd.json"];
const CASE_LOGS: [&str; 2] = ["cases.xes", "odd.xes"];

fn fixture(name: &str) -> Log {
    let (log, errors) = read(&repository("tests/fixtures/logs").join(name));
    assert!(errors.is_empty(), "{name}: {errors:?}");
    log
}

/// The log in a file, and what our reader says is against the standard.
fn read(file: &Path) -> (Log, Vec<String>) {
    let mut log = Log::default();
    read::read_file(file, &Limits::default(), &mut log).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let errors = log.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let errors = errors.map(|finding| format!("{}: {} {}", finding.rule, finding.place, finding.message)).collect();
    (log, errors)
}

#[track_caller]
fn same(what: &str, ours: &Dump, theirs: &Dump, cuts: &[Cut]) {
    if let Some(differences) = cuts::differences(ours, theirs, cuts) {
        panic!("{what}: {differences}");
    }
}

/// What a peer cuts in a format: when it reads our file, and when it writes that back.
struct Exchange {
    format: Format,
    reading: &'static [Cut],
    writing: &'static [Cut],
}

/// Compressed or not, it is the same file.
const fn xes_exchanges(reading: &'static [Cut], writing: &'static [Cut]) -> [Exchange; 2] {
    [Exchange { format: Format::Xes, reading, writing }, Exchange { format: Format::XesGz, reading, writing }]
}

/// Lets a peer read and write back what we write of some logs.
fn exchange(peer: &Peer, name: &str, exchanges: &[Exchange], logs: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    for Exchange { format, reading, writing } in exchanges {
        let of_format: Vec<Cut> = format.cuts().iter().chain(*reading).copied().collect();
        let of_both: Vec<Cut> = of_format.iter().chain(*writing).copied().collect();
        let mut needless: Vec<Vec<Cut>> = Vec::new();
        for source in logs {
            let what = format!("{source} as {format:?} and {name}");
            let log = fixture(source);
            let ours = Dump::new(&log);
            let (written, back) =
                (format.file(dir.path(), &format!("{source}-ours")), format.file(dir.path(), &format!("{source}-{name}")));
            format.write(&log, &written);

            let theirs = Dump::parse(&peer.exchange(&written, &back).unwrap_or_else(|e| panic!("{what}: {e}")));
            same(&format!("{what} reads"), &ours, &theirs, &of_format);
            let again = Dump::new(&read(&back).0);
            same(&format!("{what} writes back"), &ours, &again, &of_both);

            // Of the cuts in reading, those that neither comparison needs; of the others, those that the second does not need.
            let (first, second) = (cuts::needless(&ours, &theirs, &of_format), cuts::needless(&ours, &again, &of_both));
            needless.push(
                of_both.iter().copied().filter(|cut| second.contains(cut) && (first.contains(cut) || writing.contains(cut))).collect(),
            );
        }
        let never = needless.iter().flatten().filter(|cut| needless.iter().all(|list| list.contains(cut)));
        assert_eq!(never.collect::<Vec<_>>(), Vec::<&Cut>::new(), "{format:?} and {name}: cuts that no log needs");
    }
}

/// The hand-made files themselves: what we did not write ourselves, our readers read as others do.
#[test]
fn our_readers_agree_with_the_peers_on_hand_made_files() {
    let (rust, python) = (process_mining(), pm4py());
    let dir = repository("tests/fixtures/logs");
    for (peer, name, ocel, xes) in [(rust, "process_mining", &PROCESS_MINING, &PROCESS_MINING_XES), (python, "pm4py", &PM4PY, &PM4PY_XES)] {
        let Some(peer) = peer else { continue };
        for (source, cuts) in OBJECT_LOGS.map(|log| (log, ocel[0].reading)).into_iter().chain(CASE_LOGS.map(|log| (log, xes[0].reading))) {
            let theirs = Dump::parse(&peer.dump(&dir.join(source)).unwrap());
            same(&format!("{name} reads {source}"), &Dump::new(&fixture(source)), &theirs, cuts);
        }
    }
}

#[test]
fn we_read_what_we_write() {
    let dir = tempfile::tempdir().unwrap();
    for (logs, formats) in [(&OBJECT_LOGS[..], &Format::OCEL[..]), (&CASE_LOGS, &Format::XES)] {
        for (source, format) in logs.iter().flat_map(|source| formats.iter().map(move |format| (source, format))) {
            let log = fixture(source);
            let file = format.file(dir.path(), source);
            format.write(&log, &file);
            let (again, errors) = read(&file);
            assert_eq!(errors, Vec::<String>::new(), "{source} as {format:?}");
            same(&format!("{source} as {format:?}"), &Dump::new(&log), &Dump::new(&again), format.cuts());
        }
    }
}

fn process_mining() -> Option<Peer> {
    let peer = peers::process_mining();
    let reason = format!("process_mining (tests/peer): {}", peer.as_ref().err().map_or("", String::as_str));
    require("process_mining", &reason, peer.is_ok()).then(|| peer.unwrap())
}

fn pm4py() -> Option<Peer> {
    let peer = peers::pm4py();
    require("pm4py", "a Python with pm4py (FLOWMINE_PYTHON)", peer.is_ok()).then(|| peer.unwrap())
}

const PROCESS_MINING: [Exchange; 3] = [
    Exchange { format: Format::Json, reading: &[Cut::TextLikeTimes], writing: &[] },
    Exchange { format: Format::Xml, reading: &[Cut::EmptyIsNothing], writing: &[Cut::LineEnds] },
    Exchange { format: Format::Sqlite, reading: &[], writing: &[Cut::UnquotedNames] },
];

#[test]
fn process_mining_exchanges_ocel() {
    let Some(peer) = process_mining() else { return };
    exchange(&peer, "process_mining", &PROCESS_MINING, &OBJECT_LOGS);
}

const PROCESS_MINING_XES: [Exchange; 2] = xes_exchanges(&[Cut::OnlyUuids], &[Cut::Spaces]);

#[test]
fn process_mining_exchanges_xes() {
    let Some(peer) = process_mining() else { return };
    exchange(&peer, "process_mining", &PROCESS_MINING_XES, &CASE_LOGS);
}

const PM4PY: [Exchange; 3] = [
    Exchange {
        format: Format::Json,
        reading: &[
            Cut::OnlyRelated,
            Cut::OneQualifier,
            Cut::FirstValueAlways,
            Cut::Microseconds,
            Cut::NullText,
            Cut::IntegersAsFloats,
            Cut::InferredTypes,
        ],
        writing: &[Cut::Seconds, Cut::OnlyTextAndFloats],
    },
    Exchange {
        format: Format::Xml,
        reading: &[
            Cut::OnlyRelated,
            // Times that become text keep their nanoseconds.
            Cut::OnlyTextAndFloats,
            Cut::FirstValueAlways,
            Cut::Microseconds,
            Cut::EmptyIsNone,
            Cut::InferredTypes,
        ],
        writing: &[],
    },
    Exchange {
        format: Format::Sqlite,
        reading: &[Cut::OnlyRelated, Cut::IntegersAsFloats, Cut::BooleansAsNumbers, Cut::TimesAsText, Cut::CountColumn, Cut::InferredTypes],
        writing: &[Cut::Microseconds],
    },
];

#[test]
fn pm4py_exchanges_ocel() {
    let Some(peer) = pm4py() else { return };
    exchange(&peer, "pm4py", &PM4PY, &OBJECT_LOGS);
}

const PM4PY_XES: [Exchange; 2] = xes_exchanges(&[Cut::Microseconds, Cut::IdsAsText, Cut::NoContainers, Cut::LastOfKey], &[]);

#[test]
fn pm4py_exchanges_xes() {
    let Some(peer) = pm4py() else { return };
    exchange(&peer, "pm4py", &PM4PY_XES, &CASE_LOGS);
}

#[test]
fn sqlite_passes_all_relational_checks() {
    let Some(peer) = pm4py() else { return };
    let dir = tempfile::tempdir().unwrap();
    for source in OBJECT_LOGS {
        let file = Format::Sqlite.file(dir.path(), source);
        Format::Sqlite.write(&fixture(source), &file);
        let (passed, failed) = peer.checks(&file).unwrap();
        assert_eq!((passed.len(), failed), (24, Vec::new()), "{source}");
    }
}

/// The recorded dataset, exported by the program: all formats hold the same log, and the peers read
/// it.
#[test]
fn a_recorded_dataset_survives_the_peers() {
    let (Some(rust), Some(python)) = (process_mining(), pm4py()) else { return };
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    let fixtures = ["fixtures/case-study/polls", "fixtures/case-study/sacct-token.txt.gz"].map(repository);
    expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).args(fixtures), 0);
    survives(&dataset, &["ocel.json", "ocel.xml", "ocel.sqlite"], &[(&rust, &PROCESS_MINING), (&python, &PM4PY)], &[]);
    survives(&dataset, &["xes", "xes.gz"], &[(&rust, &PROCESS_MINING_XES), (&python, &PM4PY_XES)], &[]);
}

/// The same for tasks, processes and files, of which types have numbers with and without a
/// fraction, and truth values.
#[test]
fn a_dataset_of_tasks_survives_the_peers() {
    let (Some(rust), Some(python)) = (process_mining(), pm4py()) else { return };
    let dir = tempfile::tempdir().unwrap();
    let dataset = support::world::make(dir.path(), support::world::Parts { jobs: true, tasks: true, traces: true });
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    let (objects, runs) = (["--objects", "job,task,process,file"], ["--case-notion", "task-run"]);
    survives(&dataset, &["ocel.json", "ocel.xml", "ocel.sqlite"], &[(&rust, &PROCESS_MINING), (&python, &PM4PY)], &objects);
    survives(&dataset, &["xes", "xes.gz"], &[(&rust, &PROCESS_MINING_XES), (&python, &PM4PY_XES)], &runs);
}

/// Exports a dataset in formats that hold the same, the first of which is what the others are
/// compared with; the exchanges are in that order.
fn survives(dataset: &Path, formats: &[&str], peers: &[(&Peer, &[Exchange])], options: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let mut first: Option<Dump> = None;
    for (number, name) in formats.iter().enumerate() {
        let format = peers[0].1[number].format;
        let file = format.file(dir.path(), "ours");
        expect(flowmine().args(["export", "--format", name, "--dataset"]).arg(dataset).arg("-o").arg(&file).args(options), 0);
        let (log, errors) = read(&file);
        assert_eq!(errors, Vec::<String>::new(), "{name}");
        let ours = Dump::new(&log);
        assert!(ours.events.len() + ours.traces.iter().map(|trace| trace.events.len()).sum::<usize>() >= 10, "{name}");
        same(name, first.get_or_insert_with(|| ours.clone()), &ours, format.cuts());
        for (whose, (peer, exchanges)) in peers.iter().enumerate() {
            let Exchange { reading, writing, .. } = &exchanges[number];
            let back = format.file(dir.path(), &format!("peer-{whose}"));
            let theirs = Dump::parse(&peer.exchange(&file, &back).unwrap());
            same(&format!("{peer:?} reads {name}"), &ours, &theirs, reading);
            let both: Vec<Cut> = reading.iter().chain(*writing).copied().collect();
            same(&format!("{peer:?} writes {name} back"), &ours, &Dump::new(&read(&back).0), &both);
        }
    }
}

/// Names that differ only in what SQLite does not tell apart, or that are those of its tables and
/// columns.
#[test]
fn names_that_collide_in_sqlite_stay_apart() {
    let log = fixture("twins.json");
    let ours = Dump::new(&log);
    let dir = tempfile::tempdir().unwrap();
    for (format, cuts) in [(Format::Json, &[][..]), (Format::Xml, &[]), (Format::Sqlite, &[Cut::NumberedNames])] {
        let file = format.file(dir.path(), "twins");
        format.write(&log, &file);
        same(&format!("{format:?}"), &ours, &Dump::new(&read(&file).0), cuts);
        for (peer, name, more) in [(process_mining(), "process_mining", None), (pm4py(), "pm4py", Some(Cut::InferredTypes))] {
            let Some(peer) = peer else { continue };
            let cuts: Vec<Cut> = cuts.iter().copied().chain(more).collect();
            same(&format!("{name} reads {format:?}"), &ours, &Dump::parse(&peer.dump(&file).unwrap()), &cuts);
        }
    }
}
