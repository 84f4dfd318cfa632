//! Known file operations, given to the recorder as a backend that sees all would report them: the
//! dataset must hold them unchanged.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "../../../tests/support/operations.rs"]
mod operations;
#[path = "../../../tests/support/traced.rs"]
mod traced;

use flowmine_dataset::{Dataset, Role};
use flowmine_trace::host::HostFacts;
use flowmine_trace::recorder::Backend;
use flowmine_trace::{FileKey, Op, Operation, Options, ProcessKey, Record, Recorder, Via};

use operations::{Expectations, Used, Want, Way, cases, compare, run_alone};

const RECORDER: Way = Way { name: "the recorder", same_files: true, ordered: true, blind: &[], extra: &[] };

fn value<T: Clone>(want: &Want<T>) -> Option<T> {
    match want {
        Want::Is(value) => Some(value.clone()),
        Want::Absent | Want::Any => None,
    }
}

fn tell(recorder: &mut Recorder, base: &[u8], expectations: &Expectations) {
    for (at, row) in expectations.rows.iter().enumerate() {
        let ticks = expectations.processes.iter().find(|(pid, _)| *pid == row.pid).unwrap().1;
        let process = ProcessKey { pid: row.pid as u32, start_boot_ns: ticks as u64 * 10_000_000 + 77 };
        let whole = |path: &Want<Vec<u8>>| value(path).map(|path| [base, b"/", &path].concat());
        let (path, container_path, new_path) = (whole(&row.path), value(&row.container_path), whole(&row.new_path));
        let begin = 1_000_000 + at as u64 * 10;
        let operation = Operation {
            via: value(&row.via).map_or(Via::Call, |via| Via::of(&via).unwrap()),
            end_boot_ns: Some(begin + 5),
            open_file: value(&row.handle).map(|handle| handle as u64 + 100),
            file: value(&row.device).map(|device| FileKey {
                device: device as u64,
                inode: value(&row.inode).unwrap() as u64,
                generation: Some(1),
            }),
            offset: value(&row.offset).map(|offset| offset as u64),
            size: value(&row.size).map(|size| size as u64),
            result: value(&row.result),
            flags: value(&row.flags).map(|flags| flags as u32),
            path: path.as_deref(),
            container_path: container_path.as_deref(),
            new_path: new_path.as_deref(),
            ..Operation::new(process, row.tid as u32, Op::of(&row.op).unwrap(), begin)
        };
        recorder.take(&Record::Operation(operation)).unwrap();
    }
}

#[test]
fn the_dataset_holds_what_a_way_in_tells() {
    let temp = tempfile::tempdir().unwrap();
    let base = temp.path().canonicalize().unwrap();
    for case in cases() {
        let dir = base.join(&case);
        std::fs::create_dir(&dir).unwrap();
        let Some(expectations) = run_alone(&case, &dir, &base.join(format!("{case}.expect"))) else { continue };
        let dataset = base.join(format!("{case}.dataset"));
        let writer = Dataset::open_or_create(&dataset).unwrap().writer(Role::Raw, "test").unwrap();
        let backend = Backend { name: "ebpf", hooks: None, ring_bytes: None };
        let host = HostFacts { name: "host".to_owned(), ..HostFacts::default() };
        let mut recorder = Recorder::begin(writer, host, backend, &Options::default(), None).unwrap();
        tell(&mut recorder, dir.as_os_str().as_encoded_bytes(), &expectations);
        let outcome = recorder.end(None).unwrap();
        assert_eq!(outcome.events, expectations.rows.len() as u64, "{case}");
        let (rows, files) = traced::rows(&dataset);
        compare(&RECORDER, &case, &dir, &expectations, &rows, &files, &mut Used::default()).unwrap();
    }
}
