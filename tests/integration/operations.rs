//! The program that does known file operations, and the comparison of traces with what it says:
//! both are what the tests of tracing stand on.

use std::path::{Path, PathBuf};

use crate::support::operations::{
    Blind, Column, Expectations, Expected, Extra, Seen, SeenFile, Sight, Used, Want, Way, cases, compare, run_alone,
};

const PLAIN: Way = Way { name: "made", same_files: true, ordered: true, blind: &[], extra: &[] };

/// An empty directory of its own, and a place beside it.
fn place(test: &str, case: &str) -> (PathBuf, PathBuf) {
    let base =
        Path::new(option_env!("CARGO_TARGET_TMPDIR").unwrap_or("/var/tmp")).join(format!("operations-{test}-{}", std::process::id()));
    let dir = base.join(case);
    // An earlier test may have had the same process number.
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    (dir.canonicalize().unwrap(), base.canonicalize().unwrap().join(format!("{case}.expect")))
}

fn done(dir: &Path) {
    std::fs::remove_dir_all(dir.parent().unwrap()).unwrap();
}

fn value<T: Clone>(want: &Want<T>) -> Option<T> {
    match want {
        Want::Is(value) => Some(value.clone()),
        Want::Absent | Want::Any => None,
    }
}

/// The rows of a tracer that sees all.
fn perfect(dir: &Path, expectations: &Expectations) -> Vec<Seen> {
    let whole = |path: &Want<Vec<u8>>| value(path).map(|path| [dir.as_os_str().as_encoded_bytes(), b"/", &path].concat());
    let row = |(at, row): (usize, &Expected)| Seen {
        pid: row.pid,
        process_start_ns: expectations.processes.iter().find(|(pid, _)| *pid == row.pid).map(|(_, ticks)| ticks * 10_000_000 + 123),
        tid: row.tid,
        op: row.op.clone(),
        via: value(&row.via).unwrap_or_else(|| "call".to_owned()),
        start_ns: at as i64 * 10,
        end_ns: Some(at as i64 * 10 + 5),
        handle: value(&row.handle).map(|handle| handle * 7 + 1000),
        device: value(&row.device),
        inode: value(&row.inode),
        path: whole(&row.path),
        container_path: value(&row.container_path),
        new_path: whole(&row.new_path),
        offset: value(&row.offset),
        size: value(&row.size),
        result: value(&row.result),
        flags: value(&row.flags),
    };
    expectations.rows.iter().enumerate().map(row).collect()
}

fn check(way: &Way, case: &str, dir: &Path, expectations: &Expectations, rows: &[Seen]) -> Result<(), String> {
    compare(way, case, dir, expectations, rows, &[], &mut Used::default())
}

/// Each case runs on this file system, and a perfect trace of it is accepted.
#[test]
fn every_case_runs_and_is_told() {
    let mut ran = 0;
    for case in cases() {
        let (dir, file) = place("runs", &case);
        // Without the right to chroot, say.
        let Some(expectations) = run_alone(&case, &dir, &file) else { continue };
        assert!(expectations.rows.iter().any(|row| row.op == "open"), "{case}");
        check(&PLAIN, &case, &dir, &expectations, &perfect(&dir, &expectations)).unwrap();
        ran += 1;
    }
    assert!(ran >= 35, "only {ran} cases ran");
    done(&place("runs", "end").0);
}

/// Whatever is wrong in a single row is found: no column of which the program says something can
/// differ.
#[test]
fn every_difference_is_found() {
    for case in [
        "append",
        "dup",
        "fd_passing",
        "fork_without_exec",
        "vfork_exec",
        "rename_over",
        "hard_link",
        "sendfile",
        "mmap",
        "truncate",
        "chroot",
    ] {
        let (dir, file) = place("differences", case);
        let Some(expectations) = run_alone(case, &dir, &file) else { continue };
        let rows = perfect(&dir, &expectations);
        for at in 0..rows.len() {
            let wanted = &expectations.rows[at];
            let mut missing = rows.clone();
            missing.remove(at);
            let mut twice = rows.clone();
            twice.insert(at, rows[at].clone());
            let mut wrong = vec![("missing", missing), ("twice", twice)];
            let mut change = |what, column: &dyn Fn(&mut Seen)| {
                let mut rows = rows.clone();
                column(&mut rows[at]);
                wrong.push((what, rows));
            };
            let other = |value: Option<i64>| Some(value.map_or(1, |value| value + 1));
            change("pid", &|row| row.pid += 100_000);
            change("tid", &|row| row.tid += 100_000);
            change("op", &|row| row.op = "sync".to_owned());
            change("via", &|row| row.via = "io_uring".to_owned());
            change("end", &|row| row.end_ns = Some(row.start_ns - 1));
            change("start of the process", &|row| row.process_start_ns = row.process_start_ns.map(|start| start + 10_000_000));
            if wanted.path != Want::Any {
                change("path", &|row| row.path = Some([dir.as_os_str().as_encoded_bytes(), b"/wrong"].concat()));
            }
            if wanted.container_path != Want::Any {
                change("container path", &|row| row.container_path = Some(b"/wrong".to_vec()));
            }
            change("new path", &|row| row.new_path = Some([dir.as_os_str().as_encoded_bytes(), b"/wrong"].concat()));
            // Of a file with one row nobody can tell that its handle is another.
            if expectations.rows.iter().filter(|row| row.handle == wanted.handle).count() > 1 || wanted.handle == Want::Absent {
                change("handle", &|row| row.handle = Some(row.handle.map_or(1, |handle| handle + 100_000)));
            }
            if wanted.inode != Want::Any {
                change("inode", &|row| row.inode = other(row.inode));
                change("device", &|row| row.device = other(row.device));
            }
            for (what, want, column) in [
                ("offset", &wanted.offset, (|row| &mut row.offset) as fn(&mut Seen) -> &mut Option<i64>),
                ("size", &wanted.size, |row| &mut row.size),
                ("result", &wanted.result, |row| &mut row.result),
                ("flags", &wanted.flags, |row| &mut row.flags),
            ] {
                if *want != Want::Any {
                    change(what, &|row| *column(row) = other(*column(row)));
                    if *want != Want::Absent {
                        change(what, &|row| *column(row) = None);
                    }
                }
            }
            for (what, rows) in wrong {
                assert!(
                    check(&PLAIN, case, &dir, &expectations, &rows).is_err(),
                    "{case}: a wrong {what} of row {at} is not found: {:?}",
                    rows[at]
                );
            }
        }
        // Two calls the other way round.
        let mut swapped = rows.clone();
        (swapped[0].start_ns, swapped[1].start_ns) = (rows[1].start_ns, rows[0].start_ns);
        (swapped[0].end_ns, swapped[1].end_ns) = (None, None);
        assert!(check(&PLAIN, case, &dir, &expectations, &swapped).is_err(), "{case}: the order is not compared");
    }
    done(&place("differences", "end").0);
}

/// Rows of elsewhere and of page faults do not count; those of an inode that is below the directory
/// do, whatever their path says.
#[test]
fn only_the_directory_counts() {
    let (dir, file) = place("directory", "sequential");
    let expectations = run_alone("sequential", &dir, &file).unwrap();
    let rows = perfect(&dir, &expectations);
    let with = |row: Seen| {
        let mut rows = rows.clone();
        rows.push(row);
        check(&PLAIN, "sequential", &dir, &expectations, &rows)
    };
    let beside = [dir.as_os_str().as_encoded_bytes(), b"-beside/data"].concat();
    let one = Seen { path: Some(beside), device: Some(1), inode: Some(2), ..rows[0].clone() };
    with(one.clone()).unwrap();
    with(Seen { op: "fault".to_owned(), ..rows[1].clone() }).unwrap();
    with(Seen { path: Some([dir.as_os_str().as_encoded_bytes(), b"/more"].concat()), ..one.clone() }).unwrap_err();
    with(Seen { device: rows[0].device, inode: rows[0].inode, ..one.clone() }).unwrap_err();
    with(Seen { pid: 1, tid: 1, start_ns: 0, ..rows[1].clone() }).unwrap_err();
    // A kind of file that is not recorded.
    let pipe = SeenFile { device: 1, inode: 2, kind: Some("fifo".to_owned()), path: rows[0].path.clone() };
    compare(&PLAIN, "sequential", &dir, &expectations, &rows, &[pipe], &mut Used::default()).unwrap_err();
    done(&dir);
}

/// What a backend cannot see has to be declared, truly and not in vain.
#[test]
fn a_blind_spot_must_be_one() {
    let (dir, file) = place("blind", "sequential");
    let expectations = run_alone("sequential", &dir, &file).unwrap();
    let rows = perfect(&dir, &expectations);
    const READS: fn(&str, &Expected) -> bool = |_, row| row.op == "read";
    static NO_READS: &[Blind] = &[Blind { why: "reads", of: READS, sight: Sight::NoRow }];
    static NO_OFFSETS: &[Blind] = &[Blind { why: "offsets of reads", of: READS, sight: Sight::Null(Column::Offset) }];
    static ANY_OFFSETS: &[Blind] = &[Blind { why: "offsets of reads", of: READS, sight: Sight::NotCompared(Column::Offset) }];
    static NOTHING: &[Blind] = &[Blind { why: "nothing at all", of: |_, row| row.op == "none", sight: Sight::NoRow }];
    static SYNCS: &[Extra] = &[Extra { why: "syncs", of: |_, row| row.op == "sync" }];
    let without: Vec<Seen> = rows.iter().filter(|row| row.op != "read").cloned().collect();
    let nulls: Vec<Seen> =
        rows.iter().map(|row| if row.op == "read" { Seen { offset: None, ..row.clone() } } else { row.clone() }).collect();
    let blind = |blind, rows: &[Seen]| check(&Way { blind, ..PLAIN }, "sequential", &dir, &expectations, rows);
    blind(NO_READS, &without).unwrap();
    blind(NO_READS, &rows).unwrap_err();
    blind(NO_OFFSETS, &nulls).unwrap();
    blind(NO_OFFSETS, &rows).unwrap_err();
    blind(ANY_OFFSETS, &rows).unwrap();
    blind(&[], &without).unwrap_err();
    blind(&[], &nulls).unwrap_err();
    let vain = |blind: &'static [Blind], extra: &'static [Extra], rows: &[Seen]| {
        let (way, mut used) = (Way { blind, extra, ..PLAIN }, Used::default());
        compare(&way, "sequential", &dir, &expectations, rows, &[], &mut used)?;
        used.check(&way)
    };
    vain(NO_READS, &[], &without).unwrap();
    vain(NOTHING, &[], &rows).unwrap_err();
    vain(&[], SYNCS, &rows).unwrap_err();
    let mut synced = rows.clone();
    synced.push(Seen { op: "sync".to_owned(), ..rows[1].clone() });
    vain(&[], SYNCS, &synced).unwrap();
    done(&dir);
}

/// An overlay has inode numbers of its own; each must stand for one file all the same.
#[test]
fn other_inodes_are_compared_by_what_they_stand_for() {
    let (dir, file) = place("inodes", "dup");
    let expectations = run_alone("dup", &dir, &file).unwrap();
    let overlay = Way { same_files: false, ..PLAIN };
    let mut rows = perfect(&dir, &expectations);
    for row in &mut rows {
        (row.device, row.inode) = (row.device.map(|_| 5), row.inode.map(|inode| inode * 3));
    }
    check(&overlay, "dup", &dir, &expectations, &rows).unwrap();
    check(&PLAIN, "dup", &dir, &expectations, &rows).unwrap_err();
    // One file for two.
    let one: Vec<Seen> = rows.iter().map(|row| Seen { inode: Some(1), ..row.clone() }).collect();
    check(&overlay, "dup", &dir, &expectations, &one).unwrap_err();
    // Two for the same open file.
    rows.last_mut().unwrap().inode = Some(1);
    check(&overlay, "dup", &dir, &expectations, &rows).unwrap_err();
    done(&dir);
}
