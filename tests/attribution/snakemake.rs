//! The workflow as a Snakefile, on Slurm.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use super::place::Place;
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

/// The command that runs it. Snakemake takes the variables of Slurm out of its environment, so Slurm's programs are found by way of a directory
/// in which each is told its configuration.
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
