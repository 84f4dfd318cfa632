//! Whose bytes are these: workflows run by real engines, traced while they run, compared with what the tasks' own program knows.
//!
//! Each test runs the workflow of `tests/workflows/tasks.tsv` by one engine. What an attempt at a task reads and writes is known beforehand
//! (`workflow`), told by the program (`truth`), traced (`traced`) and attributed (`tables`): the four must be equal to the byte.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod container;
#[path = "../support/doctor.rs"]
mod doctor;
mod makeflow;
mod nextflow;
#[path = "../support/operations.rs"]
mod operations;
mod place;
#[path = "../support/require.rs"]
mod require;
mod slurm;
mod snakemake;
#[path = "../support/traced.rs"]
mod support_traced;
mod traced;
mod truth;
mod workflow;

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use container::Podman;
use place::{Beside, Place, run};
use require::require;
use slurm::Lab;
use support_traced::{each, end as traced_end};
use workflow::{EXTERNAL, Task, known, tasks};

/// One run at a time: a Slurm with control groups must be alone, and recorded runs share a directory.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ebpf() -> bool {
    let (works, how) = doctor::says("ebpf");
    require("bpf", &format!("eBPF ({how})"), works)
}

/// Compares a finished run. `readers`: other programs that read the tasks' files.
fn check(place: &Place, tasks: &[Task], readers: &[&str]) {
    let (known, truth) = (known(tasks, &EXTERNAL), truth::read(&place.truth()));
    truth::check(&truth, &known);
    traced::check(&place.dataset(), &truth, readers);
}

#[test]
fn makeflow_local() {
    if !ebpf() || !makeflow::present() {
        return;
    }
    let _alone = alone();
    let tasks = tasks();
    let place = Place::new(&tasks);
    makeflow::write(&place, &tasks, |task| place.work(task));
    run(place.trace().arg("--").args(makeflow::command("local")));
    place.import("makeflow", &[Path::new("flow.makeflow.makeflowlog")]);
    check(&place, &tasks, &[]);
}

/// Without control groups of jobs: their environment tells.
#[test]
fn makeflow_slurm() {
    if !ebpf() || !makeflow::present() || !slurm::present() {
        return;
    }
    let _alone = alone();
    let tasks = tasks();
    let place = Place::new(&tasks);
    let lab = Lab::up(&place, &["--nodes", "2"]);
    makeflow::write(&place, &tasks, |task| place.work(task));
    let trace = Beside::trace(&place, &["--directory", place.dir.to_str().unwrap()]);
    let [program, options @ ..] = makeflow::command("slurm");
    run(Command::new(program).args(options).env("SLURM_CONF", lab.conf()).current_dir(place.run()));
    trace.end();
    lab.observe(&place.dataset());
    place.import("makeflow", &[Path::new("flow.makeflow.makeflowlog")]);
    check(&place, &tasks, &[]);
}

#[test]
fn snakemake_slurm() {
    if !ebpf() || !slurm::present() {
        return;
    }
    let Some(program) = snakemake::program() else { return };
    let _alone = alone();
    // Each job loads Snakemake twice, and it looks every few seconds whether jobs have ended: no more tasks than have to be.
    let tasks = tasks()[..5].to_vec();
    let place = Place::new(&tasks);
    let lab = Lab::up(&place, &["--nodes", "2", "--cgroup"]);
    snakemake::write(&place, &tasks);
    let trace = Beside::trace(&place, &["--directory", place.dir.to_str().unwrap()]);
    run(&mut snakemake::command(&place, &program, &lab.conf()));
    trace.end();
    lab.observe(&place.dataset());
    check(&place, &tasks, &["snakemake"]);
}

#[test]
fn a_container_per_task() {
    if !ebpf() || !makeflow::present() {
        return;
    }
    let _alone = alone();
    let tasks = tasks();
    let place = Place::new(&tasks);
    let Some(podman) = Podman::new(&place) else { return };
    let container = podman.run(&place, place.run().to_str().unwrap());
    makeflow::write(&place, &tasks, |task| format!("{container} {}", place.work(task)));
    run(place.trace().arg("--").args(makeflow::command("local")).env("HOME", &place.dir));
    place.import("makeflow", &[Path::new("flow.makeflow.makeflowlog")]);
    check(&place, &tasks, &[]);
}

#[test]
fn work_directories_of_nextflow() {
    if !ebpf() {
        return;
    }
    let _alone = alone();
    let tasks = tasks();
    let place = Place::new(&tasks);
    let Some(podman) = Podman::new(&place) else { return };
    let command = nextflow::command(&place, &tasks, &["p1", "p2"]);
    run(place.trace().arg("--").args(command).env("HOME", &place.dir).env("FLOW_BOX", podman.run(&place, "$PWD")));
    place.import("nextflow", &[Path::new(".nextflow.log"), Path::new("work")]);
    check(&place, &tasks, &[]);
}

/// A server, started beside the engine, writes files because tasks ask it to: it did that, not they.
#[test]
fn a_daemon_serves_two_tasks() {
    if !ebpf() || !makeflow::present() {
        return;
    }
    let _alone = alone();
    let task = |name: &str, steps: &str| Task {
        name: name.to_owned(),
        inputs: vec!["in.dat".to_owned()],
        outputs: vec![format!("{name}/gift-{name}")],
        steps: steps.to_owned(),
    };
    let tasks = [
        task("left", "read in.dat 8192 ask sock left/gift-left 100 5 read left/gift-left 64"),
        task("right", "ask sock right/gift-right 200 6 read right/gift-right 4096"),
    ];
    let place = Place::new(&tasks);
    makeflow::write(&place, &tasks, |task| place.work(task));
    let daemon = place.work(&Task { name: "daemon".to_owned(), inputs: vec![], outputs: vec![], steps: "serve sock 2".to_owned() });
    let both = format!("{daemon} & while [ ! -S sock ]; do sleep 0.05; done; {}; wait", makeflow::command("local").join(" "));
    run(place.trace().args(["--", "sh", "-c", &both]));
    place.import("makeflow", &[Path::new("flow.makeflow.makeflowlog")]);
    check(&place, &tasks, &[]);
}
