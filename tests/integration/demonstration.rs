//! The monitoring paper's demonstration: TRIMGALORE writes a file, reads it again, and
//! BBMAP_BBSPLIT reads it. The same must hold of the recorded run and of one that runs here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flowmine_schema::tables::{DataFlow, TaskIo, TaskRun, TaskTotal};
use serde_json::Value;

use crate::support::makeflow::makeflow_is_there;
use crate::support::require::require;
use crate::support::traced::each;
use crate::support::{doctor, traced};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn flowmine(arguments: &[&str], dataset: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_flowmine"));
    command.args(arguments).arg("--dataset").arg(dataset).output().unwrap()
}

/// Runs it and gives what it wrote.
fn told(arguments: &[&str], dataset: &Path) -> String {
    let output = flowmine(arguments, dataset);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str], dataset: &Path) -> String {
    let output = flowmine(arguments, dataset);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The rows of CSV without quoted fields.
fn table(csv: &str) -> Vec<BTreeMap<&str, &str>> {
    assert!(!csv.contains('"'));
    let mut lines = csv.split_terminator("\r\n");
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(|line| names.iter().copied().zip(line.split(',')).collect()).collect()
}

/// Of a file: what each logical task read and wrote, by `task_io`.
fn by_task(dataset: &Path, path: &str) -> BTreeMap<String, (i64, i64)> {
    let mut found = BTreeMap::new();
    each::<TaskIo<'static>>(dataset, |row| {
        if row.path.as_deref() == Some(path) {
            let sums: &mut (i64, i64) = found.entry(row.logical_task.unwrap_or_default().into_owned()).or_default();
            *sums = (sums.0 + row.read_bytes, sums.1 + row.written_bytes);
        }
    });
    found
}

/// What must hold of the file that two tasks share, `size` bytes long.
fn holds(dataset: &Path, path: &str, size: i64) {
    // What the engine calls the attempts.
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    each::<TaskRun<'static>>(dataset, |row| {
        ids.insert(row.logical_task.into_owned(), format!("{}#{}", row.task_id.unwrap(), row.attempt.unwrap()));
    });
    let (trim, map) = (ids["TRIMGALORE"].as_str(), ids["BBMAP_BBSPLIT"].as_str());
    let tasks = by_task(dataset, path);
    assert_eq!(tasks.keys().collect::<Vec<_>>(), ["BBMAP_BBSPLIT", "TRIMGALORE"]);
    let (trimmed, mapped) = (tasks["TRIMGALORE"], tasks["BBMAP_BBSPLIT"]);
    assert_eq!(trimmed.1, size, "it wrote the file once");
    assert!(trimmed.0 >= size, "FastQC within it reads all of it: {trimmed:?}");
    assert!(mapped.0 >= size && mapped.1 == 0, "it reads all of it: {mapped:?}");

    let mut flows = Vec::new();
    each::<DataFlow<'static>>(dataset, |row| {
        let task = |id: &Option<std::borrow::Cow<'_, str>>| id.as_deref().and_then(|id| id.rsplit('/').next()).map(str::to_owned);
        if row.path.as_deref() == Some(path) {
            flows.push((row.version, task(&row.writer), row.written_bytes, task(&row.reader), row.read_bytes));
        }
    });
    flows.sort();
    let task = |id: &str| Some(id.to_owned());
    let mut wanted = [(1, task(trim), size, task(trim), trimmed.0), (1, task(trim), size, task(map), mapped.0)];
    wanted.sort();
    assert_eq!(flows, wanted);

    figure_5(dataset, path, size, &tasks);
    figure_4(dataset);
    side_by_side(dataset, trim, map);
}

/// The graph of the run: no line between what ran side by side, bytes on the line along which they
/// went, and all bytes as in the tables.
fn side_by_side(dataset: &Path, trim: &str, map: &str) {
    let graph: Value = serde_json::from_str(&told(&["discover", "--format", "json"], dataset)).unwrap();
    let list = |key: &str| graph[key].as_array().unwrap();
    let edge = |from: &str, to: &str| list("edges").iter().find(|edge| edge["from"] == from && edge["to"] == to);
    for (a, b) in [("FASTQC", "TRIMGALORE"), ("TRIMGALORE", "FASTQC"), ("BBMAP_BBSPLIT", "TRIMGALORE"), ("BBMAP_BBSPLIT", "FASTQC")] {
        assert!(edge(a, b).is_none_or(|edge| edge["frequency"] == 0), "{a} → {b} in {graph}");
    }
    let pair = list("concurrent").iter().find(|pair| pair["a"] == "FASTQC" && pair["b"] == "TRIMGALORE").expect("they ran side by side");
    assert!(pair["frequency"] == 1 && pair["overlap_s"].as_f64().unwrap() > 0.0, "{pair}");

    let sum = |key: &str, part: &str| -> i64 { list(key).iter().filter_map(|one| one[part]["sum"].as_i64()).sum() };
    let (mut read, mut written) = (0, 0);
    each::<TaskTotal<'static>>(dataset, |row| {
        read += row.read_bytes;
        written += row.written_bytes;
    });
    let others = |key: &str| graph[key].as_i64().unwrap();
    assert_eq!(sum("activities", "read_bytes") + others("read_bytes_of_others"), read);
    assert_eq!(sum("activities", "written_bytes") + others("written_bytes_of_others"), written);
    let objects = told(&["discover", "ocdfg", "--format", "json"], dataset);
    let objects: serde_json::Value = serde_json::from_str(&objects).unwrap();
    let of_events = |key: &str| -> i64 { objects["activities"].as_array().unwrap().iter().filter_map(|a| a[key]["sum"].as_i64()).sum() };
    for key in ["read_bytes", "written_bytes"] {
        assert_eq!(of_events(key), sum("activities", key), "the events of files have all bytes of the tasks");
    }

    let (mut all, mut from_trim_to_map) = (0, 0);
    each::<DataFlow<'static>>(dataset, |row| {
        all += row.read_bytes;
        let is = |id: &Option<std::borrow::Cow<'_, str>>, rule: &str| id.as_deref().is_some_and(|id| id.rsplit('/').next() == Some(rule));
        if is(&row.writer, trim) && is(&row.reader, map) {
            from_trim_to_map += row.read_bytes;
        }
    });
    let flow = graph["flow_bytes"].as_object().unwrap();
    let parts: i64 = ["between", "from_outside", "read_back", "read_by_others"].iter().map(|key| flow[*key].as_i64().unwrap()).sum();
    assert_eq!((parts, sum("edges", "bytes")), (all, flow["between"].as_i64().unwrap()));
    let line = edge("TRIMGALORE", "BBMAP_BBSPLIT").expect("one reads what the other wrote");
    assert_eq!((line["frequency"].as_i64(), line["bytes"]["sum"].as_i64()), (Some(1), Some(from_trim_to_map)));
    assert!(from_trim_to_map > 0);
    let svg = told(&["discover"], dataset);
    assert!(svg.contains("TRIMGALORE → BBMAP_BBSPLIT") && svg.contains("∥ FASTQC"), "{svg}");
}

fn figure_5(dataset: &Path, path: &str, size: i64, tasks: &BTreeMap<String, (i64, i64)>) {
    let draw = ["discover", "file-timeline", "--file", path, "--format"];
    let csv = told(&[&draw[..], &["csv"]].concat(), dataset);
    let mut drawn: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in table(&csv) {
        let number = |column: &str| row[column].parse::<i64>().unwrap();
        let sums = drawn.entry(row["logical_task"].to_owned()).or_default();
        if row["op"] == "write" {
            sums.1 += number("bytes")
        } else {
            sums.0 += number("bytes")
        }
        assert!(0 <= number("offset") && number("offset") <= number("end_offset") && number("end_offset") <= size);
        let share = |column: &str| row[column].parse::<f64>().unwrap();
        // Makeflow's clock readings are not those of the trace.
        assert!(-0.01 < share("first_share") && share("first_share") <= share("last_share") && share("last_share") < 1.01, "{row:?}");
    }
    assert_eq!(drawn, *tasks, "all bytes are drawn");
    let json: serde_json::Value = serde_json::from_str(&told(&[&draw[..], &["json"]].concat(), dataset)).unwrap();
    assert_eq!(json["bars"].as_array().unwrap().len(), table(&csv).len());
    assert!(json["not_drawn"].as_object().unwrap().values().all(|number| number == 0), "{}", json["not_drawn"]);
    let names: Vec<&str> = json["users"].as_array().unwrap().iter().filter_map(|user| user["logical_task"].as_str()).collect();
    assert_eq!(names, ["TRIMGALORE", "BBMAP_BBSPLIT"], "in the order of the first access");
    let svg = || told(&[&draw[..], &["svg"]].concat(), dataset);
    assert!(svg() == svg() && svg().contains("TRIMGALORE wrote") && svg().contains("BBMAP_BBSPLIT read"));
}

fn figure_4(dataset: &Path) {
    let draw = ["discover", "file-span", "--format"];
    let csv = told(&[&draw[..], &["csv"]].concat(), dataset);
    let mut drawn: Vec<_> = table(&csv)
        .iter()
        .map(|row| (row["task"].to_owned(), row["path"].to_owned(), row["access_share"].parse::<f64>().unwrap()))
        .collect();
    let mut known = Vec::new();
    each::<TaskIo<'static>>(dataset, |row| {
        if let Some(task) = row.task.filter(|_| row.read_calls + row.write_calls > row.read_errors + row.write_errors) {
            known.push((task.into_owned(), row.path.unwrap_or_default().into_owned(), row.access_share.unwrap()));
        }
    });
    drawn.sort_by(|a, b| a.partial_cmp(b).unwrap());
    known.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert!(known.len() > 20);
    assert_eq!(drawn, known, "every pair of a task and a file");
    let svg = || told(&[&draw[..], &["svg"]].concat(), dataset);
    assert!(svg() == svg() && ["FASTQC", "TRIMGALORE", "BBMAP_BBSPLIT"].iter().all(|name| svg().contains(name)));
}

/// The recorded dataset, correlated.
fn recorded(dir: &Path) -> PathBuf {
    let dataset = dir.join("dataset");
    let source = repository("fixtures/demonstration");
    assert!(Command::new("cp").arg("-r").arg(source.join("dataset")).arg(&dataset).status().unwrap().success());
    told(&["import", "makeflow", source.join("rnaseq.makeflow.makeflowlog").to_str().unwrap()], &dataset);
    told(&["correlate"], &dataset);
    dataset
}

/// The size that Makeflow saw when the rule had ended.
fn size_by_makeflow(log: &Path, name: &str) -> i64 {
    let log = fs::read_to_string(log).unwrap();
    let mut sizes = log.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        matches!(words[..], ["#", "FILE", _, file, "2", _] if file == name).then(|| words[5].parse().unwrap())
    });
    sizes.next().unwrap()
}

const SHARED: &str = "WT_REP1_2_val_2.fq.gz";

#[test]
fn the_recorded_run() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dataset = recorded(dir.path());
    let size = size_by_makeflow(&repository("fixtures/demonstration/rnaseq.makeflow.makeflowlog"), SHARED);
    holds(&dataset, &format!("/var/tmp/flow/demo/{SHARED}"), size);
}

#[test]
fn what_cannot_be_drawn_is_refused_with_what_can() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let accesses = |file: &'static str| ["discover", "file-timeline", "--file", file];
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    told(&["import", "makeflow", repository("fixtures/demonstration/rnaseq.makeflow.makeflowlog").to_str().unwrap()], &empty);
    assert!(refused(&accesses("/a"), &empty).contains("flowmine correlate"));
    assert!(refused(&["discover", "file-span"], &empty).contains("flowmine correlate"));
    let dataset = recorded(dir.path());
    let unknown = refused(&accesses("WT_REP1_2_val_2.fq.gz"), &dataset);
    assert!(unknown.contains("did you mean\n  /var/tmp/flow/demo/WT_REP1_2_val_2.fq.gz\n"), "{unknown}");
    assert!(refused(&["discover", "file-timeline"], &dataset).contains("--file"));
    assert!(refused(&["discover", "file-span", "--format", "dot"], &dataset).contains("svg, png, json, csv"));
    assert!(refused(&["discover", "file-span", "--user", "me"], &dataset).contains("--user"));
    assert!(refused(&["discover", "--format", "pnml"], &dataset).contains("possible values: svg, png, dot"));
}

/// Whether the tools are here, and what they run on.
fn tools() -> bool {
    let (works, how) = doctor::says("ebpf");
    let tools = ["fastqc", "trim_galore"].into_iter().all(has) && Path::new("/usr/share/bbmap/bbsplit.sh").is_file();
    require("bpf", &format!("eBPF ({how})"), works) && require("demonstration", "Debian's fastqc, trim-galore and bbmap", tools)
}

fn has(program: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|dir| dir.join(program).is_file())
}

/// Runs it and gives where it took place.
fn run(engine: &str, pairs: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = fs::canonicalize(dir.path()).unwrap();
    let script = repository("tests/demonstration/run.sh");
    let run = Command::new(script).arg(engine).arg(env!("CARGO_BIN_EXE_flowmine")).arg(&place).arg(pairs).output().unwrap();
    assert!(run.status.success(), "{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let end = traced::end(&place.join("dataset"));
    assert_eq!((end.state.as_str(), end.lost), ("ended", Some(0)));
    (dir, place)
}

#[test]
fn the_run_here() {
    if !tools() || !makeflow_is_there() {
        return;
    }
    let (_dir, place) = run("makeflow", "10000");
    let file = place.join("demo").join(SHARED);
    let size = fs::metadata(&file).unwrap().len() as i64;
    assert_eq!(size, size_by_makeflow(&place.join("demo/rnaseq.makeflow.makeflowlog"), SHARED));
    holds(&place.join("dataset"), file.to_str().unwrap(), size);
    // What the other task made and read, to the byte.
    let report = place.join("demo/WT_REP1_1_fastqc.zip");
    let expected = (0, fs::metadata(&report).unwrap().len() as i64);
    assert_eq!(by_task(&place.join("dataset"), report.to_str().unwrap()), BTreeMap::from([("FASTQC".to_owned(), expected)]));
}

/// By Nextflow itself, as in the paper.
#[test]
fn the_run_here_by_nextflow() {
    if !tools() || !require("nextflow", "Nextflow (FLOWMINE_NEXTFLOW)", std::env::var_os("FLOWMINE_NEXTFLOW").is_some()) {
        return;
    }
    let (_dir, place) = run("nextflow", "2000");
    let dataset = place.join("dataset");
    let mut work = BTreeMap::new();
    each::<TaskRun<'static>>(&dataset, |row| {
        work.insert(
            row.logical_task.into_owned(),
            (
                PathBuf::from(row.work_dir.unwrap().as_ref()),
                row.parents.map(|parents| parents.into_owned()),
                row.task_id.unwrap().into_owned(),
            ),
        );
    });
    let file = work["TRIMGALORE"].0.join(SHARED);
    holds(&dataset, file.to_str().unwrap(), fs::metadata(&file).unwrap().len() as i64);
    // Whose outputs are linked into the work directory of the last one.
    let none = Some("[]".to_owned());
    assert_eq!((&work["FASTQC"].1, &work["TRIMGALORE"].1), (&none, &none));
    assert_eq!(work["BBMAP_BBSPLIT"].1, Some(format!("[{:?}]", work["TRIMGALORE"].2)));
    let report = work["FASTQC"].0.join("WT_REP1_1_fastqc.zip");
    let expected = (0, fs::metadata(&report).unwrap().len() as i64);
    assert_eq!(by_task(&dataset, report.to_str().unwrap()), BTreeMap::from([("FASTQC".to_owned(), expected)]));
}
