//! Work that is distributed: partial results of hosts that a real Slurm, a real Makeflow and a real
//! Snakemake make, and the merge. The tables are those of one process, to the byte.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::makeflow::makeflow_is_there;
use crate::support::slurm_lab::SlurmLab;
use crate::support::{expect, flowmine, is_root};

/// Two commands on each host: one writes a file that the next host reads.
fn trace(command: impl Fn(&str) -> Command, dataset: &Path, hosts: &[&str]) {
    let shared = dataset.with_file_name("shared");
    std::fs::create_dir(&shared).unwrap();
    for (number, host) in hosts.iter().enumerate() {
        for part in ["a", "b"] {
            let (before, after) = (shared.join(format!("{part}{number}")), shared.join(format!("{part}{}", number + 1)));
            let script = format!("cat '{}' - >'{}' <<'.'\n{host}\n.\n", before.display(), after.display());
            std::fs::File::options().create(true).append(true).open(before).unwrap();
            let mut command = command(host);
            command.args(["trace", "--backend", "ptrace", "--detail", "events", "--host", host, "--dataset"]).arg(dataset);
            expect(command.args(["--", "sh", "-c", &script]).stdin(Stdio::null()), 0);
        }
    }
}

/// A copy of a dataset, correlated by one process.
fn by_one_process(dataset: &Path) -> PathBuf {
    let copy = dataset.with_file_name("one");
    expect(Command::new("cp").arg("-r").arg(dataset).arg(&copy), 0);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&copy), 0);
    copy
}

/// All files with rows, by their paths.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(next) = dirs.pop() {
        for path in std::fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|ending| ending == "parquet") {
                files.insert(path.strip_prefix(dir).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

fn assert_equal(one: &Path, distributed: &Path) {
    let (one, distributed) = (files(one), files(distributed));
    for table in ["task_io", "task_totals", "links", "data_flow"] {
        assert!(one.keys().any(|path| path.starts_with(table)), "{table} has no rows");
    }
    assert_eq!(one.keys().collect::<Vec<_>>(), distributed.keys().collect::<Vec<_>>());
    for (path, bytes) in &one {
        assert!(distributed[path] == *bytes, "{} differs", path.display());
    }
}

fn distribute(dataset: &Path, out: &Path, launcher: &str) -> Command {
    let mut command = flowmine();
    command.args(["distribute", "correlate", "--on", launcher, "--dataset"]).arg(dataset).arg("--out").arg(out);
    command
}

#[test]
fn an_array_with_a_killed_task_gives_the_tables_of_one_process() {
    let Some(lab) = SlurmLab::up(3) else { return };
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (dataset, out) = (dir.path().join("dataset"), dir.path().join("it's out"));
    let on = |host: &str| {
        let mut command = lab.command("srun");
        command.args(["--partition", "wide", "--nodelist", host, env!("CARGO_BIN_EXE_flowmine")]);
        command
    };
    trace(on, &dataset, &["n1", "n2", "n3"]);
    let slurm = |mut command: Command| {
        command.env("SLURM_CONF", lab.dir().join("etc/slurm.conf"));
        String::from_utf8(expect(&mut command, 0).stdout).unwrap()
    };
    let mut observe = flowmine();
    observe.args(["observe", "--once", "--dataset"]).arg(&dataset);
    slurm(observe);
    let one = by_one_process(&dataset);

    // The second task is killed when it runs for the first time.
    let (program, killed) = (dir.path().join("program"), dir.path().join("killed"));
    let text = format!(
        "#!/bin/sh\nif [ \"$3\" = 2 ] && ! [ -e '{0}' ]; then : >'{0}'; kill -KILL $$; fi\nexec '{1}' \"$@\"\n",
        killed.display(),
        env!("CARGO_BIN_EXE_flowmine")
    );
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let submit = || {
        let mut command = distribute(&dataset, &out, "slurm");
        command.arg("--program").arg(&program).arg("--submit");
        let said = slurm(command);
        lab.settle();
        said
    };
    let said = submit();
    assert!(said.starts_with("3 tasks, 3 of them missing, and a merge\n") && said.matches("submitted job ").count() == 2, "{said}");
    let manifest = |host: &str| out.join(format!("partials/host={host}/partial.json")).exists();
    assert_eq!((killed.exists(), ["n1", "n2", "n3"].map(manifest)), (true, [true, false, true]));
    assert!(!out.join("merged.json").exists(), "the merge waits for all");

    let said = submit();
    assert!(said.starts_with("3 tasks, 1 of them missing, and a merge\n"), "{said}");
    assert!(out.join("merged.json").exists(), "{}", std::fs::read_to_string(out.join("logs/merge.log")).unwrap_or_default());
    assert_equal(&one, &dataset);
    // Nothing is missing: the merge alone, by the script that a user starts.
    let said = slurm(distribute(&dataset, &out, "slurm"));
    assert!(said.starts_with("3 tasks, 0 of them missing, and a merge\n") && !said.contains("array.sh"), "{said}");
    let mut command = Command::new("sh");
    command.arg(out.join("submit.sh")).stdin(Stdio::null());
    slurm(command);
    lab.settle();
}

#[test]
fn makeflow_and_snakemake_run_the_tasks() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dataset = dir.path().join("dataset");
    let hosts = ["n1", "n 2 ü", "$(id)"];
    let in_a_job = |_: &str| {
        let mut command = flowmine();
        command.env("SLURM_JOB_ID", "7");
        command
    };
    trace(in_a_job, &dataset, &hosts);
    let one = by_one_process(&dataset);
    let refused = flowmine().args(["merge", "--dataset"]).arg(&dataset).arg(dir.path()).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let snakemake = std::env::var_os("FLOWMINE_SNAKEMAKE").map(PathBuf::from);
    let run = |launcher: &str, program: &Path, arguments: &[&str]| {
        let (copy, out) = (dir.path().join(format!("for {launcher}")), dir.path().join(launcher));
        expect(Command::new("cp").arg("-r").arg(&dataset).arg(&copy), 0);
        expect(distribute(&copy, &out, launcher).args(["--tasks", "2"]), 0);
        let mut engine = Command::new(program);
        expect(engine.args(arguments).current_dir(&out).stdin(Stdio::null()), 0);
        assert_equal(&one, &copy);
    };
    if makeflow_is_there() {
        run("makeflow", Path::new("sh"), &["-c", "exec makeflow --json correlate-*.makeflow.json"]);
    }
    if let Some(snakemake) = snakemake {
        run("snakemake", &snakemake, &["--cores", "2"]);
    }
    // Without an engine: each task of the plan by hand, in any order.
    let out = dir.path().join("by hand");
    expect(distribute(&dataset, &out, "slurm").args(["--tasks", "2"]), 0);
    for task in ["2", "1", "merge"] {
        expect(flowmine().arg("work").arg(out.join("plan.json")).arg(task), 0);
    }
    assert_equal(&one, &dataset);
    let none = flowmine().arg("work").arg(out.join("plan.json")).arg("3").output().unwrap();
    assert!(String::from_utf8_lossy(&none.stderr).contains("there is no task 3, the last one is 2"));
}

/// Root runs later what lies there: as with scripts of `transform`, nobody else may change it.
#[test]
fn root_is_refused_directories_and_plans_of_others() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dataset = dir.path().join("dataset");
    trace(|_| flowmine(), &dataset, &["n1"]);
    let (of_another, of_all, own) = (dir.path().join("another"), dir.path().join("all"), dir.path().join("own"));
    for place in [&of_another, &of_all] {
        std::fs::create_dir(place).unwrap();
    }
    chown(&of_another, Some(6001), Some(6001)).unwrap();
    std::fs::set_permissions(&of_all, PermissionsExt::from_mode(0o777)).unwrap();
    for place in [&of_another, &of_all] {
        for launcher in ["slurm", "makeflow", "snakemake"] {
            let refused = distribute(&dataset, place, launcher).output().unwrap();
            let said = String::from_utf8_lossy(&refused.stderr);
            assert!(refused.status.code() == Some(2) && said.contains("before root runs them"), "{said}");
            assert_eq!(std::fs::read_dir(place).unwrap().count(), 0);
        }
    }
    // A file of the user stays.
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("Snakefile"), "mine").unwrap();
    let refused = distribute(&dataset, &own, "snakemake").output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("Snakefile is there already"), "{said}");
    assert_eq!(std::fs::read_to_string(own.join("Snakefile")).unwrap(), "mine");
    expect(&mut distribute(&dataset, &own, "slurm"), 0);
    let plan = own.join("plan.json");
    expect(flowmine().arg("work").arg(&plan).arg("1"), 0);
    chown(&plan, Some(6001), Some(6001)).unwrap();
    let refused = flowmine().arg("work").arg(&plan).arg("merge").output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("no plan of this user or of root"), "{said}");
    chown(&plan, Some(0), Some(0)).unwrap();
    chown(&own, Some(6001), Some(6001)).unwrap();
    let refused = flowmine().arg("work").arg(&plan).arg("merge").output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && said.contains("belongs to the user with the id 6001"), "{said}");
}
