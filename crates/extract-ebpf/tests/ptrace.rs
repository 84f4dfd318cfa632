//! Commands traced by ptrace, as rows of a dataset.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitStatus;

use flowmine_extract_ebpf::host::HostFacts;
use flowmine_extract_ebpf::ptrace;
use flowmine_extract_ebpf::stop::Stop;
use flowmine_extract_ebpf::{Detail, Options, TraceError};
use flowmine_schema::dataset::Role;
use flowmine_schema::tables::{IoEvent, IoLoss, Process, TracedFile};
use flowmine_schema::{Dataset, DatasetError, Projection, Row};

/// A trace and what it made.
struct Traced {
    status: ExitStatus,
    events: Vec<IoEvent<'static>>,
    processes: Vec<Process<'static>>,
    files: Vec<TracedFile<'static>>,
    losses: Vec<IoLoss<'static>>,
}

fn rows<R: Row, T>(dataset: &Dataset, mut of: impl FnMut(R::Of<'_>) -> T) -> Vec<T> {
    let mut rows = Vec::new();
    let read = dataset.read::<R, DatasetError>(Projection::All, |row| {
        rows.push(of(row));
        Ok(())
    });
    read.unwrap();
    rows
}

fn trace_with(command: &[OsString], options: &Options, stop: &Stop) -> Result<Traced, TraceError> {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(&dir.path().join("dataset")).unwrap();
    let host = HostFacts::read(Path::new("/proc"));
    let writer = dataset.writer(Role::Host(host.name.clone()), "test").unwrap();
    let ended = ptrace::run(command, options, host, writer, stop)?;
    let mut events = rows::<IoEvent<'static>, _>(&dataset, |row| row.into_owned());
    events.sort_by_key(|row| row.start_ns);
    Ok(Traced {
        status: ended.status,
        events,
        processes: rows::<Process<'static>, _>(&dataset, |row| row.into_owned()),
        files: rows::<TracedFile<'static>, _>(&dataset, |row| row.into_owned()),
        losses: rows::<IoLoss<'static>, _>(&dataset, |row| row.into_owned()),
    })
}

fn words(command: &[&str]) -> Vec<OsString> {
    command.iter().map(OsString::from).collect()
}

fn trace(command: &[&str], detail: Detail) -> Traced {
    trace_with(&words(command), &Options { detail, ..Options::default() }, &Stop::never()).unwrap()
}

fn shell(script: &str, detail: Detail) -> Traced {
    trace(&["sh", "-c", script], detail)
}

impl Traced {
    /// Operations on files below a directory, by their handles or paths.
    fn below(&self, dir: &Path) -> Vec<&IoEvent<'static>> {
        let inside = |path: Option<&str>| path.is_some_and(|path| Path::new(path).starts_with(dir));
        let files: Vec<_> = self.files.iter().filter(|file| inside(file.path.as_deref())).map(|file| (file.device, file.inode)).collect();
        let ours =
            |row: &&IoEvent<'static>| inside(row.path.as_deref()) || row.device.zip(row.inode).is_some_and(|file| files.contains(&file));
        self.events.iter().filter(ours).collect()
    }
}

fn show(rows: &[&IoEvent<'static>]) -> Vec<String> {
    let one = |row: &&IoEvent<'static>| {
        let name = row.path.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or("");
        format!("{} {:?} {:?} {:?} {name}", row.op, row.offset, row.size, row.result)
    };
    rows.iter().map(one).collect()
}

#[test]
fn dd_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    std::fs::write(base.join("in"), vec![7u8; 10_000]).unwrap();
    let (from, to) = (format!("if={}/in", base.display()), format!("of={}/out", base.display()));
    let traced = trace(&["dd", &from, &to, "bs=4096", "status=none"], Detail::Events);
    assert!(traced.status.success());
    assert!(traced.losses.is_empty(), "{:?}", traced.losses);
    for row in traced.below(&base) {
        eprintln!("{row:?}");
    }
    let rows = traced.below(&base);
    let kept: Vec<_> = rows.iter().copied().filter(|row| matches!(&*row.op, "read" | "write")).collect();
    assert_eq!(
        show(&kept),
        [
            "read Some(0) Some(4096) Some(4096) ",
            "write Some(0) Some(4096) Some(4096) ",
            "read Some(4096) Some(4096) Some(4096) ",
            "write Some(4096) Some(4096) Some(4096) ",
            "read Some(8192) Some(4096) Some(1808) ",
            "write Some(8192) Some(1808) Some(1808) ",
            "read Some(10000) Some(4096) Some(0) ",
        ]
    );
    let process = traced.processes.iter().find(|process| process.exit_ns.is_some()).unwrap();
    assert!(process.rchar_bytes >= Some(10_000) && process.wchar_bytes >= Some(10_000), "{process:?}");
    assert_eq!((process.exit_code, process.execs), (Some(0), 1));
}

#[test]
fn a_shell_that_copies() {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    std::fs::write(base.join("a"), vec![7u8; 10_000]).unwrap();
    let traced = shell(&format!("cd {} && cp a b; cat b >/dev/null; exit 3", base.display()), Detail::Events);
    assert_eq!(traced.status.code(), Some(3));
    for row in traced.below(&base) {
        eprintln!("{row:?}");
    }
    for process in &traced.processes {
        eprintln!("{process:?}");
    }
}
