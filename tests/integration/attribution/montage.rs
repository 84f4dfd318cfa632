//! Montage's programs on made images of the sky (`tests/workflows/montage.py`): by a shell script,
//! by Makeflow and by Snakemake, traced; what models say of them is what the script, the directory
//! and the workflow's files say, and the workflow that is made of each run makes the same files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use flowmine_schema::tables::{Process, TaskIo, TaskRun};
use serde_json::Value as Json;

use super::place::{Place, flowmine, run, until};
use super::{Expected, Lab, Shows, alone, each, ebpf, makeflow, require, slurm, snakemake};

const IMAGES: usize = 4;

/// What is there before.
const GIVEN: [&str; 5] = ["raw", "images.tbl", "montage.sh", "montage.makeflow", "Snakefile"];

fn present() -> bool {
    let there = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|dir| dir.join("mProjectPP").is_file());
    require("montage", "Debian's montage", there)
}

/// Images and workflows in the folder `name` of a place.
fn made(place: &Place, name: &str) -> std::path::PathBuf {
    let dir = place.dir.join(name);
    run(Command::new("python3").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/workflows/montage.py")).arg(IMAGES.to_string()).arg(&dir));
    dir
}

/// What Montage made in a directory, with checksums, and sizes.
fn files(dir: &Path) -> BTreeMap<String, (String, i64)> {
    let kept = format!(
        "find . -type f \\( {} \\) -exec sha256sum {{}} +",
        ["*.fits", "*.tbl", "*.hdr", "*.png"].map(|name| format!("-name '{name}'")).join(" -o ")
    );
    let output = run(Command::new("sh").args(["-c", &kept]).current_dir(dir));
    let text = String::from_utf8(output.stdout).unwrap();
    let file = |line: &str| {
        let (sum, path) = line.split_once("  ./").unwrap();
        (path.to_owned(), (sum.to_owned(), std::fs::metadata(dir.join(path)).unwrap().len() as i64))
    };
    let all: BTreeMap<_, _> = text.lines().map(file).collect();
    // Projected, corrected, compared in pairs: each image and its weights.
    assert!(all.len() > 6 * IMAGES && all.contains_key("mosaic.png"), "{all:?}");
    all
}

fn model(dataset: &Path, model: &str, more: &[&str]) -> Json {
    let mut command = flowmine();
    serde_json::from_slice(&run(command.args(["discover", model, "--format", "json", "--dataset"]).arg(dataset).args(more)).stdout).unwrap()
}

/// Writes the run as a workflow into the directory.
fn write_spec(dataset: &Path, format: &str, to: &Path) {
    run(flowmine().args(["export", "--format", format, "--dataset"]).arg(dataset).arg("-o").arg(to));
}

/// The programs that `montage.sh` starts, by its text.
fn programs(dir: &Path) -> BTreeMap<String, usize> {
    let script = std::fs::read_to_string(dir.join("montage.sh")).unwrap();
    let mut programs = BTreeMap::new();
    for program in script
        .split_whitespace()
        .map(|word| word.trim_start_matches('('))
        .filter(|word| word.starts_with('m') && word.contains(char::is_uppercase))
    {
        *programs.entry(program.to_owned()).or_default() += 1;
    }
    programs
}

/// Every file in the directory was written whole by the tasks, and its size is where their writes
/// end.
fn sizes_are_those_of_ls(dataset: &Path, dir: &Path, files: &BTreeMap<String, (String, i64)>) {
    let mut ends: BTreeMap<String, i64> = BTreeMap::new();
    each::<TaskIo<'static>>(dataset, |row| {
        let name = row.path.as_deref().and_then(|path| Path::new(path).strip_prefix(dir).ok()).map(|path| path.display().to_string());
        if let (Some(name), Some(_), Some(end)) = (name, &row.task, row.write_offset_end) {
            let known = ends.entry(name).or_default();
            *known = end.max(*known);
        }
    });
    let told: BTreeMap<String, i64> = files
        .iter()
        .filter(|(path, _)| !GIVEN.iter().any(|given| path.starts_with(given)))
        .map(|(path, (_, size))| (path.clone(), *size))
        .collect();
    let ends: BTreeMap<String, i64> = ends.into_iter().filter(|(path, _)| told.contains_key(path)).collect();
    assert_eq!(ends, told, "ends of what was written, sizes of files");
}

#[test]
fn montage_by_a_shell_script() {
    let _alone = alone();
    if !ebpf() || !present() || !makeflow::present() {
        return;
    }
    let place = Place::new(&Expected::new(Vec::new(), Shows::PLAIN));
    let dir = made(&place, "montage");
    run(place.trace().args(["--tasks", "commands", "--", "sh", "montage.sh"]).current_dir(&dir));
    let dataset = place.dataset();
    let said = run(flowmine().args(["correlate", "--dataset"]).arg(&dataset)).stderr;
    assert!(!String::from_utf8_lossy(&said).contains("warning"), "{}", String::from_utf8_lossy(&said));
    let wanted = files(&dir);
    sizes_are_those_of_ls(&dataset, &dir, &wanted);
    // Each program of the script is a task, also the first of `a && b`, and a process.
    let (mut tasks, mut traced) = (BTreeMap::new(), BTreeMap::new());
    each::<TaskRun<'static>>(&dataset, |row| {
        assert_eq!(row.status, "completed", "{row:?}");
        *tasks.entry(row.logical_task.into_owned()).or_insert(0) += 1;
    });
    let mut seen = BTreeSet::new();
    each::<Process<'static>>(&dataset, |row| {
        let words: Vec<String> = row.command_line.as_deref().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        if let Some(program) = words.first().filter(|program| program.starts_with('m') && seen.insert((row.pid, row.process_start_ns))) {
            *traced.entry(program.clone()).or_insert(0) += 1;
        }
    });
    let programs = programs(&dir);
    assert_eq!((&tasks, &traced), (&programs, &programs));
    assert_eq!((programs["mProjectPP"], programs["mImgtbl"]), (IMAGES, 3));
    let tree = model(&dataset, "fork-tree", &[]);
    let lines = tree["nodes"].as_array().unwrap();
    let of =
        |program: &str| lines.iter().filter(|line| line["program"] == program).map(|line| line["processes"].as_u64().unwrap()).sum::<u64>();
    assert!(programs.iter().all(|(program, count)| of(program) == *count as u64), "{tree}");
    // One after the other: nothing gains from more machines.
    let path = model(&dataset, "critical-path", &[]);
    assert_eq!(path["tasks"].as_u64(), Some(programs.values().sum::<usize>() as u64), "{path}");
    let parts: i64 = path["parts"].as_array().unwrap().iter().map(|of| of["time_ns"].as_i64().unwrap()).sum();
    assert_eq!(Some(parts), path["makespan_ns"].as_i64());
    // Makeflow makes the same files of it.
    let again = made(&place, "again");
    write_spec(&dataset, "makeflow", &again.join("flow.json"));
    run(Command::new("makeflow").args(["--json", "-j", "2", "flow.json"]).current_dir(&again));
    assert_eq!(files(&again), wanted);
}

#[test]
fn montage_by_makeflow() {
    let _alone = alone();
    if !ebpf() || !present() || !makeflow::present() || !slurm::present() {
        return;
    }
    let place = Place::new(&Expected::new(Vec::new(), Shows::PLAIN));
    let dir = made(&place, "montage");
    run(place.trace().args(["--", "makeflow", "-T", "local", "--log-verbose", "-j", "2", "montage.makeflow"]).current_dir(&dir));
    let dataset = place.dataset();
    run(flowmine().args(["import", "makeflow", "montage.makeflow.makeflowlog", "--dataset"]).arg(&dataset).current_dir(&dir));
    run(flowmine().args(["correlate", "--dataset"]).arg(&dataset));
    let wanted = files(&dir);
    sizes_are_those_of_ls(&dataset, &dir, &wanted);
    // It declares what it does.
    let check = model(&dataset, "dependency-audit", &[]);
    assert_eq!((&check["findings"], check["declared"].as_u64()), (&Json::Array(Vec::new()), check["traced"].as_u64()), "{check}");
    // Who waits for whom is what its rules say.
    let pairs = std::fs::read_to_string(dir.join("montage.makeflow")).unwrap().matches("CATEGORY mDiff\n").count() as u64;
    let dag = model(&dataset, "dag", &[]);
    let nodes = dag["nodes"].as_array().unwrap();
    let task = |start: &str| nodes.iter().position(|node| node["kind"] == "task" && node["name"].as_str().unwrap().starts_with(start));
    let edges: Vec<(u64, u64, u64, bool)> = dag["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| {
            let number = |key: &str| edge[key].as_u64().unwrap();
            (number("from"), number("to"), number("count"), edge["kind"] == "read")
        })
        .collect();
    // How many files of those that the first wrote the second read, as often as it did.
    let passed = |from: &str, to: &str| -> u64 {
        let (from, to) = (task(from).unwrap() as u64, task(to).unwrap() as u64);
        let written = |file: u64| edges.iter().any(|edge| !edge.3 && (edge.0, edge.1) == (from, file));
        edges.iter().filter(|edge| edge.3 && edge.1 == to && written(edge.0)).map(|edge| edge.2).sum()
    };
    // An image and its area of each of the two; the difference of a pair; an image and its area of each.
    let between = (passed("mProjectPP", "mDiff"), passed("mDiff", "mFitExec"), passed("mBackground", "mAdd"));
    assert_eq!(between, (4 * pairs, pairs, 2 * IMAGES as u64), "{dag}");
    // Slurm makes the same files of it.
    let again = made(&place, "again");
    write_spec(&dataset, "slurm", &again.join("submit.sh"));
    let lab = Lab::up(&place, &["--nodes", "4"]);
    run(Command::new("sh").arg("submit.sh").env("SLURM_CONF", lab.conf()).current_dir(&again));
    until("the jobs end", || run(Command::new("squeue").arg("--noheader").env("SLURM_CONF", lab.conf())).stdout.is_empty());
    assert_eq!(files(&again), wanted);
}

#[test]
fn montage_by_snakemake() {
    let _alone = alone();
    let Some(program) = snakemake::program() else { return };
    if !ebpf() || !present() {
        return;
    }
    let place = Place::new(&Expected::new(Vec::new(), Shows::PLAIN));
    let dir = made(&place, "montage");
    let snakemake = |dir: &Path| {
        let mut command = snakemake::local(&place, &program);
        command.current_dir(dir);
        command
    };
    let command = snakemake(&dir);
    run(place.trace().arg("--").arg(command.get_program()).args(command.get_args()).current_dir(&dir).env("HOME", &place.dir));
    let dataset = place.dataset();
    run(flowmine().args(["import", "snakemake", ".snakemake", "--dataset"]).arg(&dataset).current_dir(&dir));
    run(flowmine().args(["correlate", "--dataset"]).arg(&dataset));
    let wanted = files(&dir);
    sizes_are_those_of_ls(&dataset, &dir, &wanted);
    let check = model(&dataset, "dependency-audit", &[]);
    // The rule `all` waits for the last one and reads nothing.
    assert_eq!(
        (&check["findings"], check["declared"].as_u64()),
        (&Json::Array(Vec::new()), check["traced"].as_u64().map(|pairs| pairs + 1)),
        "{check}"
    );
    let again = made(&place, "again");
    write_spec(&dataset, "snakemake", &again.join("Snakefile"));
    run(&mut snakemake(&again));
    assert_eq!(files(&again), wanted);
}
