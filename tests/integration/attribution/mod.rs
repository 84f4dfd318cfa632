//! Whose bytes are these: workflows run by real engines, traced while they run, compared with what
//! the tasks' own program knows.
//!
//! Each test runs the workflow of `tests/workflows/tasks.tsv` by one engine. What an attempt at a
//! task reads and writes is known beforehand (`workflow`), told by the program (`truth`), traced
//! (`traced`) and attributed (`tables`): the four must be equal to the byte.

mod again;
mod airflow;
mod container;
mod forged;
mod makeflow;
mod montage;
mod nextflow;
mod place;
mod planted;
mod slurm;
mod snakemake;
mod tables;
mod traced;
mod truth;
mod workflow;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::support::cases;
use crate::support::doctor;
use crate::support::is_root;
use crate::support::require::require;
use crate::support::traced::{each, end as traced_end};
use container::Podman;
use place::{Beside, Place, run};
use slurm::Lab;
use tables::Shows;
use workflow::{Attempt, EXTERNAL, Known, Task, known, tasks};

/// One run at a time: a Slurm with control groups must be alone, Open MPI (Makeflow) does not start
/// twice at the same moment, and recorded runs share a directory.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ebpf() -> bool {
    let (works, how) = doctor::says("ebpf");
    require("bpf", &format!("eBPF ({how})"), works)
}

/// What a run is compared with.
struct Expected {
    tasks: Vec<Task>,
    /// Files that are there before the run, and their sizes.
    external: Vec<(&'static str, usize)>,
    shows: Shows,
    /// Words in the command lines of other programs that read the tasks' files.
    readers: &'static [&'static str],
}

impl Expected {
    fn new(tasks: Vec<Task>, shows: Shows) -> Self {
        Self { tasks, external: EXTERNAL.to_vec(), shows, readers: &[] }
    }
}

/// Compares what was traced and imported with what the tasks told and what was known; correlates it
/// and compares that too.
fn check(dataset: &Path, truth: &Path, expected: &Expected) {
    let (known, truth) = (known(&expected.tasks, &expected.external), truth::read(truth));
    truth::check(&truth, &known);
    traced::check(dataset, &truth, expected.readers);
    run(place::flowmine().args(["correlate", "--dataset"]).arg(dataset));
    tables::check(dataset, &truth, &known, expected.shows);
    if expected.shows.jobs {
        jobs_in_cases(dataset, &known);
    }
}

/// No engine declares dependencies to Slurm: each job is a case of its own, but where data flow
/// joins those that exchanged data.
fn jobs_in_cases(dataset: &Path, known: &Known) {
    let all = cases(dataset);
    let sizes = |notion: &str| {
        let mut jobs: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
        for row in all.iter().filter(|row| row.notion == notion) {
            jobs.entry(&row.case_id).or_default().extend(row.job_id);
        }
        let mut sizes: Vec<usize> = jobs.values().map(BTreeSet::len).filter(|size| *size > 1).collect();
        sizes.sort_unstable();
        sizes
    };
    assert!(sizes("dependency").is_empty());
    // What is known before the run: each attempt with all that it exchanges data with.
    let mut together: BTreeMap<&Attempt, BTreeSet<&Attempt>> =
        known.accesses.keys().map(|attempt| (attempt, BTreeSet::from([attempt]))).collect();
    for (writer, reader) in known.flow.iter().filter_map(|edge| edge.writer.as_ref().zip(edge.reader.as_ref())) {
        let both: BTreeSet<&Attempt> = together[writer].union(&together[reader]).copied().collect();
        for attempt in &both {
            together.insert(attempt, both.clone());
        }
    }
    let mut expected: Vec<usize> =
        together.values().collect::<BTreeSet<_>>().iter().map(|set| set.len()).filter(|size| *size > 1).collect();
    expected.sort_unstable();
    assert_eq!((expected.len(), sizes("data-flow")), (1, expected));
}

#[test]
fn makeflow_local() {
    let _alone = alone();
    if !ebpf() || !makeflow::present() {
        return;
    }
    let expected = Expected::new(tasks(), Shows::PLAIN);
    let place = Place::new(&expected);
    makeflow::write(&place, &expected.tasks, |task| place.work(task));
    run(place.trace().arg("--").args(makeflow::command("local")));
    place.import("makeflow", &[makeflow::LOG]);
    check(&place.dataset(), &place.truth(), &expected);
}

fn makeflow_slurm_expected() -> Expected {
    Expected::new(tasks(), Shows { jobs: true, ..Shows::PLAIN })
}

/// Without control groups of jobs: their environment tells.
#[test]
fn makeflow_slurm() {
    let _alone = alone();
    if !ebpf() || !makeflow::present() || !slurm::present() {
        return;
    }
    let expected = makeflow_slurm_expected();
    let place = Place::new(&expected);
    let lab = Lab::up(&place, &["--nodes", "2"]);
    makeflow::write(&place, &expected.tasks, |task| place.work(task));
    let trace = Beside::trace(&place, &["--directory", place.dir.to_str().unwrap()]);
    let [program, options @ ..] = makeflow::command("slurm");
    run(Command::new(program).args(options).env("SLURM_CONF", lab.conf()).current_dir(place.run()));
    trace.end();
    lab.observe(&place.dataset());
    place.import("makeflow", &[makeflow::LOG]);
    check(&place.dataset(), &place.truth(), &expected);
}

/// What somebody says of himself is not charged to another user's job.
#[test]
fn a_claim_to_another_users_job_is_refuted() {
    let _alone = alone();
    if ebpf() && slurm::present() {
        forged::claims();
    }
}

/// Nor is what a set-user-id program or a control group of the user's own says.
#[test]
fn a_set_user_id_program_charges_nobody() {
    let _alone = alone();
    if ebpf() {
        forged::without_slurm("ebpf");
    }
    let (works, how) = doctor::says("ptrace");
    if require("ptrace", &format!("ptrace as root ({how})"), works && is_root()) {
        forged::without_slurm("ptrace");
    }
    let (works, how) = doctor::says("fuse");
    if require("fuse", &format!("FUSE as root ({how})"), works && is_root()) {
        forged::without_slurm("fuse");
    }
}

fn snakemake_slurm_expected() -> Expected {
    // Snakemake looks into small inputs to see whether they have changed.
    Expected { readers: &["snakemake"], ..Expected::new(tasks()[..5].to_vec(), Shows { jobs: true, ..Shows::PLAIN }) }
}

/// With a control group for each job step. Each job loads Snakemake twice, and it looks every few
/// seconds whether jobs have ended: so no more tasks than have to be.
#[test]
fn snakemake_slurm() {
    let _alone = alone();
    if !ebpf() || !slurm::present() {
        return;
    }
    let Some(program) = snakemake::program() else { return };
    let expected = snakemake_slurm_expected();
    let place = Place::new(&expected);
    let lab = Lab::up(&place, &["--nodes", "2", "--cgroup"]);
    snakemake::write(&place, &expected.tasks);
    let trace = Beside::trace(&place, &["--directory", place.dir.to_str().unwrap()]);
    run(&mut snakemake::command(&place, &program, &lab.conf()));
    trace.end();
    lab.observe(&place.dataset());
    place.import("snakemake", &[".snakemake"]);
    check(&place.dataset(), &place.truth(), &expected);
}

/// Without a scheduler: jobs are Snakemake's own children, and bash executes a command in its own
/// place.
#[test]
fn snakemake_local() {
    let _alone = alone();
    if !ebpf() {
        return;
    }
    let Some(program) = snakemake::program() else { return };
    let expected = Expected { readers: &["snakemake"], ..Expected::new(tasks(), Shows::PLAIN) };
    let place = Place::new(&expected);
    snakemake::write(&place, &expected.tasks);
    let command = snakemake::local(&place, &program);
    run(place.trace().arg("--").arg(command.get_program()).args(command.get_args()));
    place.import("snakemake", &[".snakemake"]);
    check(&place.dataset(), &place.truth(), &expected);
}

/// Commands, pipes, Python code and a script, of two runs of one Snakefile at the same time, by
/// each way: each one's bytes are its own, whether the other one's log is known or not.
#[test]
fn snakemake_runs_side_by_side() {
    let _alone = alone();
    let Some(program) = snakemake::program() else { return };
    for backend in ["ebpf", "ptrace"] {
        if backend == "ebpf" && !ebpf() {
            continue;
        }
        snakemake::side_by_side(&program, backend);
    }
}

fn containers_expected() -> Expected {
    Expected::new(tasks(), Shows { containers: |_| true, ..Shows::PLAIN })
}

/// Two at once.
#[test]
fn a_container_per_task() {
    let _alone = alone();
    if !ebpf() || !makeflow::present() {
        return;
    }
    let expected = containers_expected();
    let place = Place::new(&expected);
    let Some(podman) = Podman::new(&place) else { return };
    let container = podman.run(&place, place.run().to_str().unwrap());
    makeflow::write(&place, &expected.tasks, |task| format!("{container} {}", place.work(task)));
    run(place.trace().arg("--").args(makeflow::command("local")).env("HOME", &place.dir));
    place.import("makeflow", &[makeflow::LOG]);
    check(&place.dataset(), &place.truth(), &expected);
}

/// `report` also reads the script in the work directory of `split`, which does not make it a part
/// of `split`.
fn nextflow_expected(dir: &Path, shows: Shows) -> Expected {
    let mut expected = Expected::new(tasks(), shows);
    let script = nextflow::script(dir, &expected.tasks[0]);
    expected.external.push((nextflow::SCRIPT, script.len()));
    let report = expected.tasks.iter_mut().find(|task| task.name == "report").unwrap();
    report.inputs.push(format!("split/{}", nextflow::SCRIPT));
    report.steps.push_str(&format!(" read split/{} 64", nextflow::SCRIPT));
    Expected { readers: &["/bin/bash", "nextflow"], ..expected }
}

const IN_CONTAINERS: Shows = Shows { containers: |task| matches!(task, "p1" | "p2"), ..Shows::PLAIN };

/// Next to it, two tasks in containers; p3 fails and is tried again.
#[test]
fn nextflow_local() {
    let _alone = alone();
    if !ebpf() || !nextflow::present() {
        return;
    }
    let place = Place::new(&Expected::new(tasks(), Shows::PLAIN));
    let expected = nextflow_expected(&place.dir, IN_CONTAINERS);
    let Some(podman) = Podman::new(&place) else { return };
    nextflow::write(&place, &expected.tasks, expected.shows.containers, false);
    let (engine, options) = podman.options(&place);
    nextflow::configure(&place, &format!("podman.enabled = true\npodman.engineOptions = '{engine}'\npodman.runOptions = '{options}'\n"));
    let mut command = nextflow::command(&place.dir);
    command.args(["run", "flow.nf", "-with-trace", "trace.txt", "-with-dag", "dag.dot"]);
    run(place
        .trace()
        .arg("--")
        .arg(command.get_program())
        .args(command.get_args())
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))));
    place.import("nextflow", &[".nextflow.log", "trace.txt", "work"]);
    let drawn = nextflow::drawn(&place.run().join("dag.dot"));
    assert_eq!(drawn.len(), 10, "{drawn:?}");
    assert_eq!(nextflow::told(&place.dataset()), drawn);
    check(&place.dataset(), &place.truth(), &expected);
    nextflow::instance(&place, &expected.tasks);
}

/// On Slurm: the first head job is killed when half of the tasks have ended, the second takes what
/// they made and runs the rest.
#[test]
fn nextflow_slurm() {
    let _alone = alone();
    if !ebpf() || !slurm::present() || !nextflow::present() {
        return;
    }
    let place = Place::new(&Expected::new(tasks(), Shows::PLAIN));
    let expected = nextflow_expected(&place.dir, Shows { jobs: true, ..Shows::PLAIN });
    let lab = Lab::up(&place, &["--nodes", "2"]);
    nextflow::write(&place, &expected.tasks, |_| false, true);
    nextflow::configure(&place, "process.executor = 'slurm'\nexecutor.pollInterval = '300ms'\nexecutor.queueStatInterval = '1s'\n");
    let trace = Beside::trace(&place, &["--directory", place.dir.to_str().unwrap()]);
    let head = |more: &[&str]| {
        let mut command = nextflow::command(&place.dir);
        command.args(["run", "flow.nf"]).args(more).env("SLURM_CONF", lab.conf()).current_dir(place.run());
        command
    };
    let killed = Beside::start(head(&["--hold", "300"]).stdout(std::process::Stdio::null()));
    let log = place.run().join(".nextflow.log");
    place::until("half of the tasks have ended", || {
        std::fs::read_to_string(&log).is_ok_and(|log| log.contains("Submitted process > hold"))
    });
    // What it knows of tasks that ended goes to its disk beside what it does.
    std::thread::sleep(std::time::Duration::from_secs(1));
    drop(killed);
    run(Command::new("scancel").args(["--name", "nf-hold"]).env("SLURM_CONF", lab.conf()));
    run(&mut head(&["-resume"]));
    trace.end();
    lab.observe(&place.dataset());
    place.import("nextflow", &[".nextflow.log", ".nextflow.log.1", "work"]);
    check(&place.dataset(), &place.truth(), &expected);
    // Its work directory tells that the job was cancelled.
    nextflow::killed_and_resumed(&place.dataset(), ("failed", Some(143)), Some(0));
}

/// A server, started beside the engine, writes files because tasks ask it to: it did that, not
/// they.
fn daemon_expected() -> Expected {
    let task = |name: &str, steps: &str| Task {
        name: name.to_owned(),
        inputs: vec!["in.dat".to_owned()],
        outputs: vec![format!("{name}/gift-{name}")],
        steps: steps.to_owned(),
    };
    let tasks = vec![
        task("left", "read in.dat 8192 ask sock left/gift-left 100 5 read left/gift-left 64"),
        task("right", "ask sock right/gift-right 200 6 read right/gift-right 4096"),
    ];
    Expected::new(tasks, Shows::PLAIN)
}

#[test]
fn a_daemon_serves_two_tasks() {
    let _alone = alone();
    if !ebpf() || !makeflow::present() {
        return;
    }
    let expected = daemon_expected();
    let place = Place::new(&expected);
    makeflow::write(&place, &expected.tasks, |task| place.work(task));
    let daemon = place.work(&Task { name: "daemon".to_owned(), inputs: vec![], outputs: vec![], steps: "serve sock 2".to_owned() });
    let both = format!("{daemon} & while [ ! -S sock ]; do sleep 0.05; done; {}; wait", makeflow::command("local").join(" "));
    run(place.trace().args(["--", "sh", "-c", &both]));
    place.import("makeflow", &[makeflow::LOG]);
    check(&place.dataset(), &place.truth(), &expected);
}

#[test]
fn airflow_with_its_local_executor() {
    let _alone = alone();
    if !ebpf() {
        return;
    }
    let Some(venv) = airflow::venv() else { return };
    let temp = tempfile::Builder::new().prefix("flow").tempdir_in("/var/tmp").unwrap();
    // `FLOWMINE_RECORD` makes it a directory of a name that says nothing.
    let recorded = std::env::var_os("FLOWMINE_RECORD").map(|_| Path::new("/var/tmp/flow"));
    if let Some(dir) = recorded {
        let _ = std::fs::remove_dir_all(dir);
        std::fs::create_dir(dir).unwrap();
    }
    let dir = recorded.unwrap_or(temp.path());
    airflow::check(dir, &dir.join("lab/work/truth-files"), &airflow::traced(dir, &venv));
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/workflows").join(name)
}

/// The runs of `fixtures/workflows`, without what they need to run.
#[test]
fn recorded_runs() {
    let flow = Path::new("/var/tmp/flow");
    for (name, import, expected) in [
        ("makeflow-local", &["makeflow", makeflow::LOG][..], Expected::new(tasks(), Shows::PLAIN)),
        ("makeflow-slurm", &["makeflow", makeflow::LOG], makeflow_slurm_expected()),
        ("nextflow-local", &["nextflow", "nextflow.log", "trace.txt", "--year", "2026"], nextflow_expected(flow, IN_CONTAINERS)),
        (
            "nextflow-slurm",
            &["nextflow", "nextflow.log", "nextflow.log.1", "--year", "2026"],
            nextflow_expected(flow, Shows { jobs: true, ..Shows::PLAIN }),
        ),
        ("daemon", &["makeflow", makeflow::LOG], daemon_expected()),
        ("makeflow-containers", &["makeflow", makeflow::LOG], containers_expected()),
        ("snakemake-slurm", &["snakemake", ".snakemake"], snakemake_slurm_expected()),
    ] {
        let copy = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let dataset = copy.path().join("dataset");
        run(Command::new("cp").arg("-r").arg(fixture(name).join("dataset")).arg(&dataset));
        run(place::flowmine().arg("import").args(import).arg("--dataset").arg(&dataset).current_dir(fixture(name)));
        check(&dataset, &fixture(name).join("truth.tsv"), &expected);
        if name == "nextflow-slurm" {
            nextflow::killed_and_resumed(&dataset, ("submitted", None), None);
        }
    }
}

#[test]
fn a_recorded_run_of_airflow() {
    let copy = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dataset = copy.path().join("dataset");
    run(Command::new("cp").arg("-r").arg(fixture("airflow-local").join("dataset")).arg(&dataset));
    run(place::flowmine().args(["correlate", "--dataset"]).arg(&dataset));
    airflow::check(Path::new("/var/tmp/flow"), &fixture("airflow-local").join("truth-files"), &dataset);
}

/// The comparison sees a single byte.
#[test]
#[should_panic(expected = "traced, told")]
fn a_wrong_byte_is_found() {
    let mut truth = truth::read(&fixture("makeflow-local").join("truth.tsv"));
    let told = truth.get_mut(&("p2".to_owned(), 1)).unwrap();
    told.files.values_mut().find(|(name, _)| name == "ref.dat").unwrap().1.read_bytes += 1;
    traced::check(&fixture("makeflow-local").join("dataset"), &truth, &[]);
}
