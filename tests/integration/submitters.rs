//! Who submitted a job, on a real Slurm: the sessions of a loop, of two shells, of a job that
//! submits others, of windows of tmux and of workflow engines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use flowmine_schema::tables::JobState;

use crate::support::makeflow::makeflow_is_there;
use crate::support::require::require;
use crate::support::slurm_lab::SlurmLab;
use crate::support::{expect, has_program, job_states, repository};

/// A script of a job that submits two others, the second from a shell below its own.
const SUBMITS: &str = "#!/bin/sh
sbatch --output=/dev/null --job-name=from-job --wrap true
(sbatch --output=/dev/null --job-name=from-job --wrap true)
";

/// Runs commands in a shell that leads a session of its own, as at each login; its session is its
/// process id. `setsid` is the program of this name, with its environment.
fn shell(mut setsid: Command, dir: &Path, commands: &str) -> i64 {
    setsid.args(["--wait", "sh", "-c"]).arg(format!("echo $$; {{ {commands}; }} >/dev/null")).current_dir(dir);
    String::from_utf8(expect(&mut setsid, 0).stdout).unwrap().trim().parse().unwrap()
}

/// All jobs, once they have ended.
fn observed(lab: &SlurmLab, dir: &Path) -> Vec<JobState<'static>> {
    lab.settle();
    let dataset = dir.join("dataset");
    expect(lab.command(env!("CARGO_BIN_EXE_flowmine")).args(["observe", "--once", "--dataset"]).arg(&dataset), 0);
    job_states(&dataset).into_iter().filter(|row| row.change == "new").collect()
}

#[test]
fn shells_and_jobs_that_submit_have_a_session_each() {
    let Some(lab) = SlurmLab::up(1) else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("submits.sh"), SUBMITS).unwrap();
    let shell = |commands: &str| shell(lab.command("setsid"), dir.path(), commands);
    let sbatch = "sbatch --output=/dev/null";
    let of_loop = shell(&format!("for job in 1 2 3; do {sbatch} --job-name=from-loop --wrap true; done"));
    let of_shell = shell(&format!("{sbatch} --job-name=from-shell --wrap true"));
    let of_other = shell(&format!("{sbatch} --job-name=submits submits.sh"));

    let mut sessions: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let mut nodes = BTreeSet::new();
    for row in observed(&lab, dir.path()) {
        nodes.insert(row.submit_node.unwrap_or_default().into_owned());
        sessions.entry(row.name.unwrap_or_default().into_owned()).or_default().extend(row.submit_session);
    }
    assert_eq!(sessions["from-loop"], [of_loop; 3]);
    assert_eq!(sessions["from-shell"], [of_shell]);
    assert_eq!(sessions["submits"], [of_other]);
    let [first, second] = sessions["from-job"][..] else { panic!("two jobs came from a job: {sessions:?}") };
    assert!(first == second && ![of_loop, of_shell, of_other].contains(&first), "a job has a session: {sessions:?}");
    // Slurm resolves the name of the machine, and that may come to another one of its names.
    assert!(nodes.len() == 1 && !nodes.contains(""), "all were submitted on this machine: {nodes:?}");
}

#[test]
fn each_window_of_tmux_has_a_session() {
    if !require("tmux", "tmux", has_program("tmux")) {
        return;
    }
    let Some(lab) = SlurmLab::up(1) else { return };
    let dir = tempfile::tempdir().unwrap();
    let window = |name: &str| {
        format!(
            "sbatch --output=/dev/null --job-name={name} --wrap true; sbatch --output=/dev/null --job-name={name} --wrap true; \
             echo $$ >{name}.new; mv {name}.new {name}.sid"
        )
    };
    let tmux = || {
        let mut tmux = lab.command("tmux");
        tmux.arg("-S").arg(dir.path().join("socket")).args(["-f", "/dev/null"]).current_dir(dir.path());
        tmux
    };
    // The second window keeps the server until it has begun.
    expect(tmux().args(["new-session", "-d"]).arg(format!("sh -c '{}; sleep 60'", window("one"))), 0);
    expect(tmux().arg("new-window").arg(format!("sh -c '{}'", window("two"))), 0);
    let session = |name: &str| -> i64 {
        let (file, began) = (dir.path().join(format!("{name}.sid")), Instant::now());
        while !file.exists() {
            assert!(began.elapsed() < Duration::from_secs(60), "window {name} does not end");
            std::thread::sleep(Duration::from_millis(50));
        }
        fs::read_to_string(file).unwrap().trim().parse().unwrap()
    };
    let (one, two) = (session("one"), session("two"));
    expect(tmux().arg("kill-server"), 0);
    let rows = observed(&lab, dir.path());
    let of = |name: &str| -> Vec<Option<i64>> {
        rows.iter().filter(|row| row.name.as_deref() == Some(name)).map(|row| row.submit_session).collect()
    };
    assert!(one != two);
    assert_eq!((of("one"), of("two")), (vec![Some(one); 2], vec![Some(two); 2]));
}

/// Slurm's programs by way of a directory in which each is told its configuration: Snakemake takes
/// Slurm's variables out of its environment.
fn slurm_programs(dir: &Path, lab: &SlurmLab) -> PathBuf {
    let bin = dir.join("slurm-bin");
    fs::create_dir(&bin).unwrap();
    for name in ["sbatch", "srun", "squeue", "sacct", "scontrol", "scancel", "sinfo", "sacctmgr"] {
        let file = bin.join(name);
        let conf = lab.dir().join("etc/slurm.conf");
        fs::write(&file, format!("#!/bin/sh\nSLURM_CONF={} exec /usr/bin/{name} \"$@\"\n", conf.display())).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    bin
}

const SNAKEFILE: &str =
    "rule all:\n    input: \"1.done\", \"2.done\"\nrule step:\n    output: \"{n}.done\"\n    shell: \"touch {output}\"\n";

const NEXTFLOW: &str = "process step {\n  input: val n\n  output: val n\n  script: 'true'\n}\nworkflow { step(Channel.of(1, 2)) }\n";

const MAKEFLOW: &str = "a:\n\ttouch a\nb:\n\ttouch b\n";

/// Snakemake, Nextflow and Makeflow, each from a shell of its own: all jobs of a run have the
/// session of that shell. It takes a minute and more: only with `FLOWMINE_LONG=1`.
#[test]
fn the_jobs_of_a_run_of_an_engine_have_the_session_of_its_shell() {
    if std::env::var_os("FLOWMINE_LONG").is_none() {
        return;
    }
    let snakemake = PathBuf::from(std::env::var_os("FLOWMINE_SNAKEMAKE").unwrap_or_else(|| "snakemake".into()));
    let version = Command::new(&snakemake).args(["--executor", "slurm", "--version"]).output();
    let has_snakemake = version.is_ok_and(|output| output.status.success());
    if !require("snakemake", "snakemake with snakemake-executor-plugin-slurm", has_snakemake)
        || !require("nextflow", "Nextflow (FLOWMINE_NEXTFLOW) and Java", std::env::var_os("FLOWMINE_NEXTFLOW").is_some())
        || !makeflow_is_there()
    {
        return;
    }
    let Some(lab) = SlurmLab::up(2) else { return };
    // Jobs run in it, and it must not be long.
    let dir = tempfile::Builder::new().prefix("fm").tempdir_in("/tmp").unwrap();
    let bin = slurm_programs(dir.path(), &lab);
    let mut path = vec![bin];
    path.extend(snakemake.parent().filter(|dir| !dir.as_os_str().is_empty()).map(Path::to_owned));
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path).unwrap();
    let run = |name: &str, file: &str, text: &str, commands: &str| -> i64 {
        let own = dir.path().join(name);
        fs::create_dir(&own).unwrap();
        fs::write(own.join(file), text).unwrap();
        let mut setsid = lab.command("setsid");
        setsid.env("PATH", &path).env("HOME", &own).env("NXF_HOME", own.join("nextflow-home"));
        setsid.env("SNAKEMAKE", &snakemake).env("NEXTFLOW", repository("tests/lab/nextflow/nextflow"));
        shell(setsid, &own, commands)
    };
    let of_snakemake = run(
        "snakemake",
        "Snakefile",
        SNAKEFILE,
        "\"$SNAKEMAKE\" --executor slurm --jobs 4 --latency-wait 10 --slurm-init-seconds-before-status-checks 9 \
         --seconds-between-status-checks 1 --slurm-status-command squeue --default-resources slurm_partition=debug mem_mb=500 runtime=5",
    );
    let options = "process.executor = 'slurm'\nexecutor.pollInterval = '300ms'\nexecutor.queueStatInterval = '1s'\n";
    let write = format!("printf '%s' \"{options}\" >nextflow.config");
    let of_nextflow = run("nextflow", "flow.nf", NEXTFLOW, &format!("{write}; \"$NEXTFLOW\" run flow.nf"));
    let of_makeflow = run("makeflow", "flow.makeflow", MAKEFLOW, "makeflow -T slurm --max-remote=4 flow.makeflow");

    let mut sessions: BTreeMap<&str, Vec<Option<i64>>> = BTreeMap::new();
    let mut others = Vec::new();
    for row in observed(&lab, dir.path()) {
        let engine = match (row.comment.as_deref(), row.name.as_deref(), row.work_dir.as_deref()) {
            (Some(comment), ..) if comment.starts_with("rule_step") => "snakemake",
            (_, Some(name), _) if name.starts_with("nf-step") => "nextflow",
            (.., Some(dir)) if dir.ends_with("/makeflow") => "makeflow",
            _ => {
                others.push(row);
                continue;
            }
        };
        sessions.entry(engine).or_default().push(row.submit_session);
    }
    assert!(others.is_empty(), "{others:?}");
    let two = |session: i64| vec![Some(session); 2];
    assert_eq!(
        sessions,
        BTreeMap::from([("makeflow", two(of_makeflow)), ("nextflow", two(of_nextflow)), ("snakemake", two(of_snakemake))])
    );
}
