//! The workflow as a Snakefile, on Slurm and beside Snakemake; and a Snakefile with all that a rule
//! can run.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use flowmine_schema::tables::{TaskIo, TaskRun};

use super::each;
use super::place::{Place, flowmine, run};
use super::workflow::Task;

/// Snakemake with its executor for Slurm: `FLOWMINE_SNAKEMAKE` names the program.
pub fn program() -> Option<PathBuf> {
    let program = PathBuf::from(std::env::var_os("FLOWMINE_SNAKEMAKE").unwrap_or_else(|| "snakemake".into()));
    let version = Command::new(&program).args(["--executor", "slurm", "--version"]).output();
    super::require("snakemake", "snakemake with snakemake-executor-plugin-slurm", version.is_ok_and(|output| output.status.success()))
        .then_some(program)
}

pub fn write(place: &Place, tasks: &[Task]) {
    let quoted = |names: &[String]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let mut text = String::from("rule all:\n    input: ");
    writeln!(text, "{}", quoted(&tasks.last().unwrap().outputs)).unwrap();
    for task in tasks {
        writeln!(text, "rule {}:\n    input: {}", task.name, quoted(&task.inputs)).unwrap();
        writeln!(text, "    output: {}\n    shell: {:?}", quoted(&task.outputs), place.work(task)).unwrap();
    }
    std::fs::write(place.run().join("Snakefile"), text).unwrap();
}

/// The command that runs it. Snakemake takes the variables of Slurm out of its environment, so
/// Slurm's programs are found by way of a directory in which each is told its configuration.
pub fn command(place: &Place, program: &std::path::Path, conf: &std::path::Path) -> Command {
    let bin = place.dir.join("slurm-bin");
    std::fs::create_dir_all(&bin).unwrap();
    for name in ["sbatch", "srun", "squeue", "sacct", "scontrol", "scancel", "sinfo", "sacctmgr"] {
        let file = bin.join(name);
        std::fs::write(&file, format!("#!/bin/sh\nSLURM_CONF={} exec /usr/bin/{name} \"$@\"\n", conf.display())).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut path = vec![bin, program.parent().unwrap().to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = Command::new(program);
    command.args(["--executor", "slurm", "--jobs", "4", "--retries", "1", "--latency-wait", "10"]);
    command.args([
        "--slurm-init-seconds-before-status-checks",
        "9",
        "--seconds-between-status-checks",
        "1",
        "--slurm-status-command",
        "squeue",
    ]);
    command.args(["--default-resources", "slurm_partition=debug", "mem_mb=500", "runtime=5"]);
    command.env("PATH", std::env::join_paths(path).unwrap()).env("HOME", &place.dir).current_dir(place.run());
    command
}

/// The command that runs it beside itself.
pub fn local(place: &Place, program: &std::path::Path) -> Command {
    let mut command = Command::new(program);
    command.args(["--cores", "2", "--retries", "1", "--latency-wait", "10"]).env("HOME", &place.dir).current_dir(place.run());
    command
}

const SNAKEFILE: &str = r#"
N = range(3)
rule all:
    input: expand("out/{n}.final", n=N), "total.txt"
rule make:
    output: "raw/{n}.txt"
    shell: "seq 1 2000{wildcards.n} > {output}"
rule sorted:
    input: "raw/{n}.txt"
    output: "out/{n}.sorted"
    shell: "sort -rn {input} -o {output}"
rule pipes:
    input: "out/{n}.sorted"
    output: "out/{n}.count"
    shell: "cat {input} | grep 7 | wc -l > {output}"
rule code:
    input: "out/{n}.count", "out/{n}.sorted"
    output: "out/{n}.final"
    run:
        with open(output[0], "w") as out:
            out.write(open(input[0]).read())
        shell("cat {input[1]} >> {output}")
rule total:
    input: expand("out/{n}.final", n=N)
    output: "total.txt"
    script: "total.py"
"#;

const SCRIPT: &str = r#"
total = 0
for name in snakemake.input:
    with open(name) as f:
        total += len(f.read())
with open(snakemake.output[0], "w") as out:
    out.write(f"{total}\n")
"#;

/// Two runs at the same time; the log of one is imported, then that of the other.
pub fn side_by_side(program: &std::path::Path, backend: &str) {
    let temp = tempfile::tempdir_in("/var/tmp").unwrap();
    let dir = temp.path();
    for name in ["one", "two"] {
        std::fs::create_dir(dir.join(name)).unwrap();
        std::fs::write(dir.join(name).join("Snakefile"), SNAKEFILE).unwrap();
        std::fs::write(dir.join(name).join("total.py"), SCRIPT).unwrap();
    }
    let both = format!("(cd one && '{0}' -c 1) & (cd two && '{0}' -c 1) & wait", program.display());
    let dataset = dir.join("dataset");
    let mut trace = flowmine();
    trace.args(["trace", "--backend", backend, "--host", "node1", "--dataset"]).arg(&dataset).args(["--", "sh", "-c", &both]);
    super::place::run_within(trace.env("HOME", dir).current_dir(dir), 300);
    for known in [&["one"][..], &["one", "two"]] {
        run(flowmine().args(["import", "snakemake", "--dataset"]).arg(&dataset).arg(dir.join(known[known.len() - 1])));
        run(flowmine().args(["correlate", "--dataset"]).arg(&dataset));
        check_side_by_side(dir, &dataset, known, backend);
    }
}

fn check_side_by_side(dir: &std::path::Path, dataset: &std::path::Path, known: &[&str], backend: &str) {
    // The directory in which each run took place, by its name.
    let mut runs: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    let mut jobs = 0;
    each::<TaskRun<'static>>(dataset, |row| {
        jobs += 1;
        runs.insert(row.run_name.unwrap().into_owned(), row.work_dir.unwrap().into_owned());
    });
    assert_eq!((runs.len(), jobs), (known.len(), 14 * known.len()), "{backend}");
    let mut written: std::collections::BTreeMap<(String, String), i64> = std::collections::BTreeMap::new();
    each::<TaskIo<'static>>(dataset, |row| {
        let Some(path) = row.path.as_deref().and_then(|path| std::path::Path::new(path).strip_prefix(dir).ok()) else { return };
        let (of, file) = path.to_str().unwrap().split_once('/').unwrap_or_default();
        if file.starts_with(".snakemake")
            || !(file.starts_with("raw/") || file.starts_with("out/") || file == "total.txt")
            || row.written_bytes == 0
        {
            return;
        }
        let Some(task) = &row.task else {
            assert!(!known.contains(&of) && row.unassigned.as_deref() == Some("no-rule"), "{backend}: {path:?} is {:?}", row.unassigned);
            return;
        };
        let ran_in = &runs[&*row.run_name.unwrap()];
        assert!(ran_in.ends_with(&format!("/{of}")), "{backend}: {task} of {ran_in} wrote {path:?}");
        *written.entry((of.to_owned(), file.to_owned())).or_default() += row.written_bytes;
    });
    for of in known {
        let files =
            (0..3).flat_map(|n| [format!("raw/{n}.txt"), format!("out/{n}.sorted"), format!("out/{n}.count"), format!("out/{n}.final")]);
        for file in files.chain(["total.txt".to_owned()]) {
            let size = std::fs::metadata(dir.join(of).join(&file)).unwrap().len() as i64;
            assert_eq!(written.remove(&((*of).to_owned(), file.clone())), Some(size), "{backend}: {of}/{file}");
        }
    }
    assert!(written.is_empty(), "{backend}: {written:?}");
}
