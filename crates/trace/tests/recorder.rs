//! Records in, rows of the dataset out.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::time::Duration;

use flowmine_dataset::{Dataset, DatasetError, Role};
use flowmine_schema::Row;
use flowmine_schema::tables::{Clock, Host, IoEvent, IoLoss, IoTotal, Process, TracedFile};
use flowmine_trace::host::HostFacts;
use flowmine_trace::options::Filters;
use flowmine_trace::record::{Counters, FileKind, Loss, OpenFile, ProcessChange, ProcessFacts, ProcessNews, Sum, Totals};
use flowmine_trace::recorder::{Backend, Outcome};
use flowmine_trace::{CommandLines, FileKey, Op, Operation, Options, ProcessKey, Record, Recorder, Via};

const OFFSET: i64 = 1_795_000_000_000_000_000;
const PROCESS: ProcessKey = ProcessKey { pid: 10, start_boot_ns: 5 };
const FILE: FileKey = FileKey { device: 2049, inode: 7, generation: Some(3) };

struct Fixture {
    dataset: Dataset,
    _dir: tempfile::TempDir,
}

impl Fixture {
    fn record(options: &Options, records: &[Record<'_>]) -> (Self, Outcome) {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let host = HostFacts { name: "node/7".into(), boot_offset_ns: OFFSET, boot_id: Some("b".into()), ..HostFacts::default() };
        let writer = dataset.writer(Role::Host(host.name.clone()), "test").unwrap();
        let way = Backend { name: "ptrace", hooks: None, ring_bytes: None };
        let mut recorder = Recorder::begin(writer, host, way, options, Some(&[b"a b".to_vec(), b"\xff".to_vec()])).unwrap();
        for record in records {
            recorder.take(record).unwrap();
        }
        let outcome = recorder.end(Some(99)).unwrap();
        (Self { dataset, _dir: dir }, outcome)
    }

    fn rows<R: Row, T>(&self, mut of: impl FnMut(R::Of<'_>) -> T) -> Vec<T> {
        let mut rows = Vec::new();
        self.dataset
            .read::<R, DatasetError>(|row| {
                rows.push(of(row));
                Ok(())
            })
            .unwrap();
        rows
    }

    fn events(&self) -> Vec<IoEvent<'static>> {
        self.rows::<IoEvent<'static>, _>(|row| row.into_owned())
    }
}

fn open<'a>(number: u64, file: FileKey, path: &'a [u8], at: u64) -> Record<'a> {
    Record::Operation(Operation {
        open_file: Some(number),
        file: Some(file),
        kind: Some(FileKind::Regular),
        file_system: Some("ext4"),
        result: Some(0),
        path: Some(path),
        end_boot_ns: Some(at + 1),
        ..Operation::new(PROCESS, 11, Op::Open, at)
    })
}

fn read(number: u64, at: u64) -> Record<'static> {
    Record::Operation(Operation {
        open_file: Some(number),
        file: Some(FILE),
        offset: Some(0),
        size: Some(10),
        result: Some(10),
        ..Operation::new(PROCESS, 11, Op::Read, at)
    })
}

fn news(change: ProcessChange, at_boot_ns: u64) -> Record<'static> {
    Record::Process(Box::new(ProcessNews {
        process: PROCESS,
        at_boot_ns,
        change,
        facts: ProcessFacts::default(),
        counters: Counters::default(),
    }))
}

#[test]
fn files_are_told_once_for_each_path() {
    let (fixture, outcome) = Fixture::record(
        &Options::default(),
        &[open(1, FILE, b"/d/a", 100), read(1, 110), open(2, FILE, b"/d/b", 120), read(1, 130), open(3, FILE, b"/d/a", 140), read(3, 150)],
    );
    let handles: Vec<_> = fixture.events().iter().map(|row| row.handle.unwrap()).collect();
    assert_eq!(handles, [1, 1, 2, 1, 3, 3]);
    let files = fixture.rows::<TracedFile<'static>, _>(|row| (row.inode, row.path.unwrap().into_owned(), row.first_seen_ns - OFFSET));
    assert_eq!(files, [(7, "/d/a".to_owned(), 100), (7, "/d/b".to_owned(), 120)]);
    assert_eq!((outcome.received, outcome.events, outcome.processes, outcome.counted), (6, 6, 1, Some(99)));
}

#[test]
fn an_operation_becomes_a_row_with_every_field() {
    let rename = Operation {
        via: Via::Call,
        end_boot_ns: Some(230),
        result: Some(-2),
        flags: Some(1),
        path: Some(b"/d/a,\n\xff"),
        container_path: Some(b"/a"),
        new_path: Some(b"/d/\\x"),
        ..Operation::new(PROCESS, 12, Op::Rename, 200)
    };
    let (fixture, _) = Fixture::record(&Options::default(), &[Record::Operation(rename)]);
    let rows = fixture.events();
    let row = &rows[0];
    assert_eq!((row.host.as_ref(), row.pid, row.process_start_ns, row.tid), ("node/7", 10, Some(5), Some(12)));
    assert_eq!((row.op.as_ref(), row.via.as_ref(), row.start_ns, row.end_ns), ("rename", "call", OFFSET + 200, Some(OFFSET + 230)));
    assert_eq!((row.handle, row.device, row.offset, row.size, row.result, row.flags), (None, None, None, None, Some(-2), Some(1)));
    assert_eq!(
        (row.path.as_deref(), row.container_path.as_deref(), row.new_path.as_deref()),
        (Some("/d/a,\n\\xff"), Some("/a"), Some("/d/\\x5cx"))
    );
}

#[test]
fn directories_are_filtered_with_all_that_is_done_on_their_files() {
    let filters = Filters { directories: vec!["/d".into()], directories_out: vec!["/d/tmp".into()], ..Filters::default() };
    let options = Options { filters, ..Options::default() };
    let other = FileKey { inode: 8, ..FILE };
    let records = [
        open(1, FILE, b"/d/a", 1),
        open(2, other, b"/dd/a", 2),
        read(2, 3),
        open(3, other, b"/d/tmp/x", 4),
        read(3, 5),
        read(1, 6),
        Record::OpenFile(OpenFile {
            at_boot_ns: 7,
            open_file: Some(9),
            file: other,
            kind: None,
            file_system: None,
            size: None,
            path: Some(b"/x"),
            container_path: None,
        }),
        read(9, 8),
        // Its open comes after it was read in.
        open(9, other, b"/x", 8),
        Record::Operation(Operation { path: Some(b"/x/y"), new_path: Some(b"/d/y"), ..Operation::new(PROCESS, 1, Op::Rename, 9) }),
        Record::Operation(Operation { path: Some(b"/x/y"), ..Operation::new(PROCESS, 1, Op::Delete, 10) }),
    ];
    let (fixture, outcome) = Fixture::record(&options, &records);
    let starts: Vec<_> = fixture.events().iter().map(|row| row.start_ns - OFFSET).collect();
    assert_eq!(starts, [1, 6, 9]);
    assert_eq!(outcome.events, 3);
    let filters = fixture.rows::<Host<'static>, _>(|row| row.filters.map(|text| text.into_owned()));
    assert_eq!(filters[0].as_deref(), Some(r#"{"directories":["/d"],"directories_out":["/d/tmp"]}"#));
}

/// Sums of a process that was forked with an open file: its parent's close made the number of the
/// open file unknown.
#[test]
fn an_open_file_without_an_open_is_elsewhere_where_its_file_is() {
    let filters = Filters { directories: vec!["/d".into()], ..Filters::default() };
    let options = Options { filters, ..Options::default() };
    let unknown = |number, file| {
        Record::OpenFile(OpenFile {
            at_boot_ns: 7,
            open_file: Some(number),
            file,
            kind: None,
            file_system: None,
            size: None,
            path: None,
            container_path: None,
        })
    };
    let sum = |number, file| {
        Record::Totals(Totals {
            process: PROCESS,
            open_file: Some(number),
            file,
            first_boot_ns: 8,
            last_boot_ns: 9,
            read: Sum { calls: 1, bytes: number, ..Sum::default() },
            write: Sum::default(),
            faults: 0,
        })
    };
    let (elsewhere, unseen) = (FileKey { inode: 8, ..FILE }, FileKey { inode: 9, ..FILE });
    let records = [
        open(1, FILE, b"/d/a", 1),
        open(2, elsewhere, b"/dd/a", 2),
        Record::FileGone(1),
        Record::FileGone(2),
        unknown(3, FILE),
        unknown(4, elsewhere),
        unknown(5, unseen),
        sum(3, FILE),
        sum(4, elsewhere),
        sum(5, unseen),
    ];
    let (fixture, _) = Fixture::record(&options, &records);
    let bytes = fixture.rows::<IoTotal<'static>, _>(|row| row.read_bytes);
    assert_eq!(bytes, [3, 5]);
}

#[test]
fn a_process_has_one_last_row_with_all_that_was_learnt() {
    let facts = ProcessFacts {
        parent: Some(ProcessKey { pid: 1, start_boot_ns: 0 }),
        arguments: Some(vec![b"cat".to_vec(), b"\"x\"\n".to_vec()]),
        environment: Some(vec![("SLURM_JOB_ID".into(), b"7".to_vec())]),
        cgroup_v1: Some(vec![("freezer".into(), b"/slurm/job_7".to_vec())]),
        ..ProcessFacts::default()
    };
    let exec = ProcessNews { process: PROCESS, at_boot_ns: 30, change: ProcessChange::Exec, facts, counters: Counters::default() };
    let counters = Counters { rchar_bytes: Some(12), ..Counters::default() };
    let exit =
        ProcessNews { process: PROCESS, at_boot_ns: 40, change: ProcessChange::Exit(Some(9)), facts: ProcessFacts::default(), counters };
    // The operation came before the news of the fork.
    let records = [read(1, 20), news(ProcessChange::Fork, 10), Record::Process(Box::new(exec)), Record::Process(Box::new(exit))];
    let (fixture, _) = Fixture::record(&Options { flush_every: Duration::from_secs(1000), ..Options::default() }, &records);
    let rows = fixture.rows::<Process<'static>, _>(|row| row.into_owned());
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!((row.first_seen.as_ref(), row.parent_pid, row.execs, row.exec_ns), ("fork", Some(1), 1, Some(OFFSET + 30)));
    assert_eq!((row.exit_code, row.exit_signal, row.exit_ns, row.rchar_bytes), (None, Some(9), Some(OFFSET + 40), Some(12)));
    assert_eq!(row.command_line.as_deref(), Some(r#"["cat","\"x\"\n"]"#));
    assert_eq!(
        (row.environment.as_deref(), row.cgroup_v1.as_deref()),
        (Some(r#"{"SLURM_JOB_ID":"7"}"#), Some(r#"{"freezer":"/slurm/job_7"}"#))
    );
    assert_eq!(row.as_of_ns, OFFSET + 40);
}

/// A process of one user that becomes a set-user-id program, which starts another as root.
#[test]
fn who_started_a_program_and_who_set_its_environment() {
    const NAMELESS: u32 = 1_234_567;
    let child = ProcessKey { pid: 43, start_boot_ns: 40 };
    let change = |process, at_boot_ns, change, (real_uid, uid): (u32, u32), job: Option<&str>| {
        let facts = ProcessFacts {
            parent: (process == child).then_some(PROCESS),
            real_uid: Some(real_uid),
            uid: Some(uid),
            executable: job.map(|_| b"/bin/x".to_vec()),
            environment: job.map(|job| vec![("SLURM_JOB_ID".into(), job.as_bytes().to_vec())]),
            ..ProcessFacts::default()
        };
        Record::Process(Box::new(ProcessNews { process, at_boot_ns, change, facts, counters: Counters::default() }))
    };
    let records = [
        change(PROCESS, 10, ProcessChange::Fork, (NAMELESS, NAMELESS), None),
        change(PROCESS, 20, ProcessChange::Exec, (NAMELESS, NAMELESS), Some("5001")),
        change(PROCESS, 30, ProcessChange::Exec, (NAMELESS, 0), Some("5001")),
        change(child, 40, ProcessChange::Fork, (0, 0), None),
        change(child, 50, ProcessChange::Exec, (0, 0), Some("5001")),
    ];
    let (fixture, _) = Fixture::record(&Options { flush_every: Duration::from_secs(1000), ..Options::default() }, &records);
    let mut rows = fixture.rows::<Process<'static>, _>(|row| row.into_owned());
    rows.sort_by_key(|row| row.pid);
    let told = |row: &Process<'static>| {
        let text = |text: &Option<std::borrow::Cow<'static, str>>| text.as_deref().map(str::to_owned);
        (row.real_uid, text(&row.real_user), row.uid, text(&row.user), text(&row.environment_users))
    };
    let (root, users) = (Some("root".to_owned()), Some(format!("[{NAMELESS}]")));
    assert_eq!(told(&rows[0]), (Some(NAMELESS.into()), None, Some(0), root.clone(), users.clone()));
    assert_eq!(told(&rows[1]), (Some(0), root.clone(), Some(0), root, users));
    assert!(rows[0].earlier_programs.as_deref().is_some_and(|text| text.contains(&format!("\"real_user\":{NAMELESS}"))));
}

/// A shell that executes its last command in its own place.
#[test]
fn what_a_process_was_before_is_kept_as_command_lines_are() {
    let exec = |at_boot_ns, words: &[&str]| {
        let facts = ProcessFacts {
            executable: Some(format!("/bin/{}", words[0]).into()),
            arguments: Some(words.iter().map(|word| word.as_bytes().to_vec()).collect()),
            work_dir: Some(b"/d".to_vec()),
            ..ProcessFacts::default()
        };
        Record::Process(Box::new(ProcessNews {
            process: PROCESS,
            at_boot_ns,
            change: ProcessChange::Exec,
            facts,
            counters: Counters::default(),
        }))
    };
    let records = [news(ProcessChange::Fork, 10), exec(20, &["bash", "-c", "sort x"]), exec(30, &["sort", "x"])];
    let earlier = |line: &str| format!(r#"[{{{line}"exec_ns":{},"executable":"/bin/bash","work_dir":"/d"}}]"#, OFFSET + 20);
    for (command_lines, line, last) in [
        (CommandLines::All, r#""command_line":["bash","-c","sort x"],"command_line_cut":false,"#, Some(r#"["sort","x"]"#)),
        (CommandLines::Program, r#""command_line":["bash"],"command_line_cut":true,"#, Some(r#"["sort"]"#)),
        (CommandLines::None, "", None),
    ] {
        let options = Options { command_lines, flush_every: Duration::from_secs(1000), ..Options::default() };
        let (fixture, _) = Fixture::record(&options, &records);
        let rows = fixture.rows::<Process<'static>, _>(|row| row.into_owned());
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].earlier_programs.as_deref(), Some(&*earlier(line)), "{command_lines:?}");
        assert_eq!((rows[0].command_line.as_deref(), rows[0].work_dir.as_deref(), rows[0].execs), (last, Some("/d"), 2));
    }
    // One that becomes another program for ever.
    let records: Vec<_> = (0..100).map(|at| exec(20 + at, &["sh"])).collect();
    let (fixture, _) = Fixture::record(&Options { flush_every: Duration::from_secs(1000), ..Options::default() }, &records);
    let kept = fixture.rows::<Process<'static>, _>(|row| row.earlier_programs.map_or(0, |text| text.matches("exec_ns").count()));
    assert_eq!(kept, [16]);
}

/// What is not known of a program is not what its predecessor was.
#[test]
fn a_program_whose_command_line_could_not_be_read_has_none() {
    let exec = |at_boot_ns, arguments: Option<Vec<Vec<u8>>>| {
        let facts = ProcessFacts { arguments, ..ProcessFacts::default() };
        Record::Process(Box::new(ProcessNews {
            process: PROCESS,
            at_boot_ns,
            change: ProcessChange::Exec,
            facts,
            counters: Counters::default(),
        }))
    };
    let (fixture, _) = Fixture::record(&Options::default(), &[exec(20, Some(vec![b"sh".to_vec()])), exec(30, None)]);
    let rows = fixture.rows::<Process<'static>, _>(|row| (row.command_line.is_some(), row.earlier_programs.is_some()));
    assert_eq!(rows, [(false, true)]);
}

#[test]
fn sums_that_are_told_after_the_end_of_a_process_make_no_second_one() {
    let totals = Totals {
        process: PROCESS,
        open_file: Some(1),
        file: FILE,
        first_boot_ns: 20,
        last_boot_ns: 30,
        read: Sum { calls: 1, bytes: 5, errors: 0, time_ns: 1, range: Some((0, 5)) },
        write: Sum::default(),
        faults: 0,
    };
    let records =
        [news(ProcessChange::Fork, 10), news(ProcessChange::Exit(Some(0)), 40), Record::Totals(totals), news(ProcessChange::Update, 50)];
    let (fixture, outcome) = Fixture::record(&Options { flush_every: Duration::ZERO, ..Options::default() }, &records);
    let rows = fixture.rows::<Process<'static>, _>(|row| (row.first_seen.into_owned(), row.exit_code));
    assert_eq!((rows.last(), outcome.processes), (Some(&("fork".to_owned(), Some(0))), 1));
    assert!(rows.iter().all(|(first_seen, _)| first_seen == "fork"), "{rows:?}");
}

#[test]
fn what_still_runs_at_the_end_has_a_row_without_an_end() {
    let (fixture, _) = Fixture::record(&Options::default(), &[news(ProcessChange::Running, 10)]);
    let rows = fixture.rows::<Process<'static>, _>(|row| (row.first_seen.into_owned(), row.exit_ns, row.execs));
    assert_eq!(rows, [("running".to_owned(), None, 0)]);
}

#[test]
fn totals_losses_clocks_and_hosts_are_kept() {
    let sum = Sum { calls: 3, bytes: 30, errors: 1, time_ns: 5, range: Some((10, 40)) };
    let totals = Totals {
        process: PROCESS,
        open_file: Some(1),
        file: FILE,
        first_boot_ns: 1,
        last_boot_ns: 9,
        read: sum,
        write: Sum::default(),
        faults: 2,
    };
    let loss = Loss {
        processor: Some(1),
        kind: "write",
        reason: "ring-full",
        count: 4,
        bytes: Some(400),
        not_before_boot_ns: 5,
        observed_boot_ns: 6,
    };
    let (fixture, outcome) = Fixture::record(&Options::default(), &[Record::Totals(totals), Record::Loss(loss)]);
    assert_eq!((outcome.received, outcome.totals, outcome.lost), (5, 1, 4));
    let totals = fixture.rows::<IoTotal<'static>, _>(|row| {
        (row.read_bytes, row.read_offset_min, row.read_offset_end, row.write_offset_min, row.faults, row.handle)
    });
    assert_eq!(totals, [(30, Some(10), Some(40), None, 2, Some(1))]);
    let losses = fixture.rows::<IoLoss<'static>, _>(|row| {
        (row.kind.into_owned(), row.count, row.bytes, row.not_before_ns - OFFSET, row.observed_at_ns - OFFSET)
    });
    assert_eq!(losses, [("write".to_owned(), 4, Some(400), 5, 6)]);
    let hosts = fixture.rows::<Host<'static>, _>(|row| {
        (row.state.into_owned(), row.operations, row.received, row.lost, row.command.map(|text| text.into_owned()))
    });
    let command = Some(r#"["a b","\\xff"]"#.to_owned());
    assert_eq!(hosts, [("began".to_owned(), None, None, None, command.clone()), ("ended".to_owned(), Some(99), Some(5), Some(4), command)]);
    assert_eq!(fixture.rows::<Clock<'static>, _>(|row| row.error_ns >= 0), [true, true]);
    assert_eq!(fixture.dataset.manifest().unwrap().hosts.into_iter().collect::<Vec<_>>(), ["node/7"]);
}

#[test]
fn what_was_flushed_is_there_when_the_tracer_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let host = HostFacts { name: "n".into(), boot_offset_ns: OFFSET, ..HostFacts::default() };
    let writer = dataset.writer(Role::Host("n".into()), "test").unwrap();
    let options = Options { flush_every: Duration::ZERO, ..Options::default() };
    let way = Backend { name: "ebpf", hooks: Some("syscalls".into()), ring_bytes: Some(1 << 24) };
    let mut recorder = Recorder::begin(writer, host, way, &options, None).unwrap();
    recorder.take(&read(1, 5)).unwrap();
    recorder.tick().unwrap();
    recorder.drain().unwrap();
    recorder.take(&read(1, 6)).unwrap();
    // Neither ended nor dropped properly.
    std::mem::forget(recorder);
    let mut starts = Vec::new();
    dataset
        .read::<IoEvent<'static>, DatasetError>(|row| {
            starts.push(row.start_ns - OFFSET);
            Ok(())
        })
        .unwrap();
    assert_eq!(starts, [5]);
}

/// One unit: operations of operations, and other records for themselves.
#[test]
fn what_was_lost_is_told_in_one_unit() {
    use flowmine_trace::recorder::Outcome;
    let by = |reasons: &[(&'static str, u64)]| reasons.iter().copied().collect();
    let lost = |lost, lost_operations, lost_bytes, reasons: &[(&'static str, u64)]| {
        let outcome = Outcome { received: 10, lost, lost_operations, lost_bytes, lost_by_reason: by(reasons), ..Outcome::default() };
        outcome.losses()
    };
    assert_eq!(lost(0, 0, 0, &[]), None);
    assert_eq!(
        lost(210, 210, 200_000, &[("32-bit-program", 210)]).unwrap(),
        "210 of 220 operations, with 200000 bytes of reads and writes, were lost (32-bit-program: 210)"
    );
    assert_eq!(lost(1, 1, 0, &[("no-descriptor", 1)]).unwrap(), "1 of 11 operations was lost (no-descriptor: 1)");
    assert_eq!(lost(1, 0, 0, &[("ring-full", 1)]).unwrap(), "1 record of processes or open files was lost (ring-full: 1)");
    assert_eq!(
        lost(3, 2, 0, &[("ring-full", 3)]).unwrap(),
        "2 of 12 operations and 1 record of processes or open files were lost (ring-full: 3)"
    );
    // Where the kernel counts, it is what it counted.
    let outcome = Outcome { lost: 1, lost_operations: 1, counted: Some(7), lost_by_reason: by(&[("ring-full", 1)]), ..Outcome::default() };
    assert_eq!(outcome.losses().unwrap(), "1 of 7 operations was lost (ring-full: 1)");
}
