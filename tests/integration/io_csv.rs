//! The trace files of the published monitoring tool, in and out, as a user meets them.

use std::fs;
use std::path::Path;
use std::process::Command;

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::Row;
use flowmine_schema::tables::{DiagnosticRow, Host, IoEvent, Process, TracedFile};

use crate::support::require::require;
use crate::support::{expect, flowmine, has_program, repository};

fn rows<R: Row, T>(dataset: &Path, own: impl Fn(R::Of<'_>) -> T) -> Vec<T> {
    let mut rows = Vec::new();
    let read = Dataset::open(dataset).unwrap().read::<R, DatasetError>(|row| {
        rows.push(own(row));
        Ok(())
    });
    read.unwrap();
    rows
}

/// A row as text, so that all of it can be compared.
fn events(dataset: &Path) -> Vec<String> {
    rows::<IoEvent<'static>, _>(dataset, |row| format!("{:?}", IoEvent { trace_ns: 0, ..row }))
}

/// Host, process, start, parent, cgroup, how it was first seen.
type Seen = (String, i32, Option<i64>, Option<i32>, Option<i64>, String);

fn processes(dataset: &Path) -> Vec<Seen> {
    rows::<Process<'static>, _>(dataset, |row| {
        (row.host.into_owned(), row.pid, row.started_ns, row.parent_pid, row.cgroup_id, row.first_seen.into_owned())
    })
}

fn import(dataset: &Path, dir: &Path, code: i32) -> String {
    let output = expect(flowmine().args(["import", "io-csv", "--dataset"]).arg(dataset).arg(dir), code);
    String::from_utf8(output.stderr).unwrap()
}

fn export(dataset: &Path, out: &Path) -> String {
    let output = expect(flowmine().args(["export", "--format", "io-csv", "--dataset"]).arg(dataset).arg("-o").arg(out), 0);
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn files_as_published() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    import(&dataset, &repository("fixtures/io-csv/as_published"), 0);

    let hosts = rows::<Host<'static>, _>(&dataset, |row| {
        (row.host.into_owned(), row.trace_ns, row.state.into_owned(), row.backend.into_owned(), row.received)
    });
    let host = |name: &str, ns, count| (name.to_owned(), ns, "ended".to_owned(), "io-csv".to_owned(), Some(count));
    assert_eq!(hosts, [host("node1", 1_714_067_937_409_123_456, 14), host("node2", 1_714_067_937_790_000_000, 3)]);

    let bytes = |op: &str| {
        let of = rows::<IoEvent<'static>, _>(&dataset, |row| if row.op == op { row.result.unwrap_or(0) } else { 0 });
        of.iter().sum::<i64>()
    };
    assert_eq!((bytes("read"), bytes("write"), bytes("open")), (98 + 512 + 88 + 131_072, 600, -2));

    let files = rows::<TracedFile<'static>, _>(&dataset, |row| (row.device, row.inode, row.path.map(|path| path.into_owned())));
    let names: Vec<_> = files.iter().map(|(_, inode, path)| (*inode, path.as_deref().unwrap().rsplit('/').next().unwrap())).collect();
    assert_eq!(names, [(5276, ".command.sh"), (5277, "reads 1,2.fq.gz"), (5278, "out:1.txt"), (9, "out:1.txt")]);
    assert!(files.iter().all(|(device, ..)| device.is_none()), "the format tells none");

    let forks = processes(&dataset);
    let of_1169230: Vec<_> = forks.iter().filter(|process| process.1 == 1_169_230).map(|process| (process.2, process.4)).collect();
    assert_eq!(
        of_1169230,
        [(Some(1_714_067_937_740_000_001), Some(131_863)), (Some(1_714_067_937_900_000_000), Some(42))],
        "a number that came again is another process"
    );
    assert!(rows::<DiagnosticRow<'static>, _>(&dataset, |row| row.message.into_owned()).is_empty());
}

#[test]
fn an_import_is_not_taken_in_twice() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    import(&dataset, &repository("fixtures/io-csv/as_published"), 0);
    let before = (events(&dataset), processes(&dataset));
    assert!(import(&dataset, &repository("fixtures/io-csv/as_published/node1"), 0).contains("2 files had been imported before"));
    assert_eq!((events(&dataset), processes(&dataset)), before);
    // Unpacked it is the same file; of another host it is another.
    let copy = dir.path().join("copy");
    fs::create_dir_all(copy.join("node2")).unwrap();
    let packed = fs::read(repository("fixtures/io-csv/as_published/node1/file-bpf.csv")).unwrap();
    fs::write(copy.join("node2/file-bpf.csv"), packed).unwrap();
    import(&dataset, &copy, 0);
    assert_eq!(events(&dataset).len(), before.0.len() + 14);
}

#[test]
fn bad_lines_are_told_with_their_places() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    let said = import(&dataset, &repository("fixtures/io-csv/bad_lines"), 1);
    assert!(said.contains("file-bpf.csv:4:") && said.contains("5 lines imported; 6 errors"), "{said}");
    let told = rows::<DiagnosticRow<'static>, _>(&dataset, |row| (row.code.into_owned(), row.line, row.input.into_owned()));
    let codes: Vec<_> = told.iter().filter(|(_, _, input)| input == "node1/file-bpf.csv").map(|(code, line, _)| (&**code, *line)).collect();
    assert_eq!(
        codes,
        [
            ("unknown_type", Some(4)),
            ("bad_time", Some(5)),
            ("too_few_columns", Some(6)),
            ("bad_number", Some(7)),
            ("too_few_columns", Some(8)),
            ("ends_before_start", Some(11)),
            ("path_cut", Some(12)),
            ("truncated_last_line", Some(14)),
            ("path_doubtful", None)
        ]
    );
    assert!(told.iter().any(|(code, ..)| code == "file_missing"), "cgroups.csv");
    let seen: Vec<_> = processes(&dataset).into_iter().map(|process| (process.1, process.2, process.5)).collect();
    assert_eq!(seen, [(7, None, "operation".to_owned())], "of a process without fork only that it did something is known");
}

#[test]
fn what_is_no_trace_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let node = dir.path().join("node");
    fs::create_dir(&node).unwrap();
    let dataset = dir.path().join("dataset");
    assert!(import(&dataset, &node, 2).contains("neither file-bpf.csv nor cgroups.csv"));
    fs::write(node.join("file-bpf.csv"), "milk\neggs\n").unwrap();
    assert!(import(&dataset, &node, 2).contains("nothing could be imported"));
    let said = expect(flowmine().args(["import", "io-csv", "--dataset"]).arg(&dataset).arg(node.join("file-bpf.csv")), 2).stderr;
    assert!(String::from_utf8(said).unwrap().contains("give the directory"));
    // A packed file that ends early: what is in it is used.
    let packed = fs::read(repository("fixtures/io-csv/as_published/node2/file-bpf.csv.gz")).unwrap();
    fs::remove_file(node.join("file-bpf.csv")).unwrap();
    fs::write(node.join("file-bpf.csv.gz"), &packed[..packed.len() - 8]).unwrap();
    assert!(import(&dataset, &node, 1).contains("damaged or ends early"));
    assert_eq!(events(&dataset).len(), 3);
}

#[test]
fn what_is_exported_is_imported_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (first, out, second, again) = (dir.path().join("1"), dir.path().join("out"), dir.path().join("2"), dir.path().join("again"));
    import(&first, &repository("fixtures/io-csv/as_published"), 0);
    let said = export(&first, &out);
    assert!(said.contains("1 operations were left out, because the format has no type for them (1 fault)"), "{said}");
    import(&second, &out, 0);
    let faults = |events: Vec<String>| events.into_iter().filter(|event| !event.contains("\"fault\"")).collect::<Vec<_>>();
    assert_eq!(events(&second), faults(events(&first)));
    assert_eq!(processes(&second), processes(&first));
    export(&second, &again);
    for file in ["node1/file-bpf.csv", "node1/cgroups.csv", "node2/file-bpf.csv", "node2/cgroups.csv"] {
        assert_eq!(fs::read_to_string(again.join(file)).unwrap(), fs::read_to_string(out.join(file)).unwrap(), "{file}");
    }
    let names: Vec<_> = fs::read_dir(out.join("node1")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 2, "nothing is left beside them: {names:?}");
}

#[test]
fn traces_of_a_host_follow_one_another() {
    let dir = tempfile::tempdir().unwrap();
    let (dataset, out) = (dir.path().join("dataset"), dir.path().join("out"));
    let node = dir.path().join("node");
    fs::create_dir(&node).unwrap();
    let line = |second: u32, op: &str, path: &str| format!("{second}.000,{second}.001,7,0,0,0,0,3,{op},0,1,0,0,0x0,{path}\n");
    // The later one is imported first.
    for second in [200, 100] {
        fs::write(node.join("file-bpf.csv"), line(second, "O", "/a\\x") + &line(second + 1, "C", "")).unwrap();
        import(&dataset, &node, 0);
    }
    let said = export(&dataset, &out);
    assert!(said.contains("several traces") && said.contains("paths are in quotes"), "{said}");
    let text = fs::read_to_string(out.join("node/file-bpf.csv")).unwrap();
    let fields: Vec<Vec<_>> = text.lines().skip(1).map(|line| line.split(',').map(str::trim).collect()).collect();
    let told: Vec<_> = fields.iter().map(|fields| (fields[0], fields[8], fields[10])).collect();
    assert_eq!(told, [("100.000", "O", "1"), ("101.000", "C", "1"), ("200.000", "O", "3"), ("201.000", "C", "3")]);
    let period = ["--from", "1970-01-01T00:01:41Z", "--to", "1970-01-01T00:03:21Z"];
    let part = dir.path().join("part");
    expect(flowmine().args(["export", "--format", "io-csv", "--dataset"]).arg(&dataset).args(period).arg("-o").arg(&part), 0);
    assert_eq!(fs::read_to_string(part.join("node/file-bpf.csv")).unwrap().lines().count(), 1 + 2);
}

#[test]
fn names_in_paths_are_not_written_when_they_must_not_be() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    import(&dataset, &repository("fixtures/io-csv/as_published"), 0);
    let key = dir.path().join("key");
    fs::write(&key, "0123456789abcdef0123456789abcdef").unwrap();
    let mut export = flowmine();
    export.args(["export", "--format", "io-csv", "--dataset"]).arg(&dataset).arg("-o").arg(dir.path().join("out")).arg("--pseudonymise");
    let said = String::from_utf8(expect(export.arg(&key), 2).stderr).unwrap();
    assert!(said.contains("--pseudonymise") && !dir.path().join("out").exists(), "{said}");
}

/// Reads as the published analysis does (csv.reader, columns by number, Decimal and int, base 16)
/// and prints what it found.
const READER: &str = r#"
import csv, sys
from decimal import Decimal
cgroup_of = {}
with open(sys.argv[1] + '/cgroups.csv') as f:
    for row in csv.reader(f):
        cgroup_of[int(row[2].strip())] = int(row[3].strip())
moved = {'R': 0, 'W': 0}
paths = []
with open(sys.argv[1] + '/file-bpf.csv') as f:
    for row in csv.reader(f):
        if row[0][0] in '#t':
            continue
        path = '_'.join(row[14:]).split(':')[0].strip()
        row = [x.strip() for x in row]
        time, pid, inode, result, handle = Decimal(row[0]), int(row[2]), int(row[7]), int(row[9]), int(row[10])
        offset, size, flags = int(row[11]), int(row[12]), int(row[13], 16)
        assert time > 0 and handle >= 0 and pid in cgroup_of, row
        if row[8] == 'O':
            assert flags & 0b11 in (0, 1, 2)
            paths.append(path)
        if row[8] in moved and 0 < result <= size:
            moved[row[8]] += result
print(moved['R'], moved['W'], len(cgroup_of), '|'.join(paths))
"#;

#[test]
fn a_reader_as_the_published_one_reads_the_export() {
    if !require("python", "python3", has_program("python3")) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (dataset, out, node) = (dir.path().join("dataset"), dir.path().join("out"), dir.path().join("node1"));
    // A name with a newline and one with a quote after a comma: neither may forge or swallow a line.
    fs::create_dir(&node).unwrap();
    let published = fs::read_to_string(repository("fixtures/io-csv/as_published/node1/file-bpf.csv")).unwrap();
    let begin = "1714067938.000,1714067938.000,1169224,0,0,0,0,6,O,0,40000,0,0,0x00000002,";
    fs::write(node.join("file-bpf.csv"), format!("{published}{begin}\"/w/a\\x0aforged,b::\"\n{begin}/w/c,\"d::\n{begin}/w/e::\n")).unwrap();
    fs::copy(repository("fixtures/io-csv/as_published/node1/cgroups.csv"), node.join("cgroups.csv")).unwrap();
    import(&dataset, &node, 0);
    export(&dataset, &out);
    let printed = expect(Command::new("python3").args(["-c", READER]).arg(out.join("node1")), 0).stdout;
    let printed = String::from_utf8(printed).unwrap();
    let work = "/home/w/run/work/52/0a1b2c3d4e5f60718293a4b5c6d7e8";
    let expected = format!("698 600 3 {work}/.command.sh|{work}/reads 1_2.fq.gz|{work}/out||/w/a\\x0aforged,b|/w/c,\"d|/w/e\n");
    assert_eq!(printed, expected);
}
