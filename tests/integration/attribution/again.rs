//! A run that is written down as a workflow, and run again: by Makeflow, Snakemake and Slurm.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use flowmine_schema::tables::JobState;

use super::place::{Place, flowmine, run, until};
use super::{Expected, Lab, Shows, alone, ebpf, makeflow, nextflow, slurm, snakemake};

/// Quotes, braces, a failure that a shell passes over, and two outputs of one rule.
const FLOW: &str = r#".MAKEFLOW CATEGORY split
a.txt b.txt: in.txt
	head -n 1 in.txt > a.txt; false; tail -n 2 in.txt > b.txt

.MAKEFLOW CATEGORY count
a.n: a.txt
	awk '{ print NR, "{a}" }' a.txt > a.n

.MAKEFLOW CATEGORY count
b.n: b.txt
	wc -c < b.txt > b.n

.MAKEFLOW CATEGORY merge
sum.txt: a.n b.n
	cat a.n b.n > sum.txt
"#;

const INPUT: &str = "one\ntwo\nthree\n";
const FILES: [&str; 5] = ["a.txt", "b.txt", "a.n", "b.n", "sum.txt"];

fn contents(dir: &Path) -> BTreeMap<&'static str, Option<String>> {
    FILES.iter().map(|name| (*name, std::fs::read_to_string(dir.join(name)).ok())).collect()
}

/// A directory with the input, in which the workflow is run that `format` makes of the dataset.
fn written(place: &Place, format: &str, file: &str) -> std::path::PathBuf {
    let dir = place.dir.join(format);
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("in.txt"), INPUT).unwrap();
    let to = dir.join(file);
    run(flowmine().args(["export", "--format", format, "--dataset"]).arg(place.dataset()).arg("-o").arg(to));
    dir
}

#[test]
fn a_run_that_is_written_down_runs_again() {
    let _alone = alone();
    let (has_slurm, snakemake) = (slurm::present(), snakemake::program());
    if !makeflow::present() || !has_slurm {
        return;
    }
    let Some(snakemake) = snakemake else { return };
    let place = Place::new(&Expected::new(Vec::new(), Shows::PLAIN));
    std::fs::write(place.run().join("in.txt"), INPUT).unwrap();
    std::fs::write(place.run().join("flow.makeflow"), FLOW).unwrap();
    let [program, options @ ..] = makeflow::command("local");
    run(Command::new(program).args(options).current_dir(place.run()));
    place.import("makeflow", &[makeflow::LOG]);
    let wanted = contents(&place.run());
    assert_eq!(wanted["sum.txt"].as_deref(), Some("1 {a}\n10\n"));

    let dir = written(&place, "makeflow", "flow.json");
    run(Command::new("makeflow").args(["--json", "flow.json"]).current_dir(&dir));
    assert_eq!(contents(&dir), wanted);

    let dir = written(&place, "make", "flow.makeflow");
    run(Command::new("makeflow").args(["-T", "local", "flow.makeflow"]).current_dir(&dir));
    assert_eq!(contents(&dir), wanted);

    let dir = written(&place, "snakemake", "Snakefile");
    run(Command::new(snakemake).args(["--cores", "1"]).current_dir(&dir));
    assert_eq!(contents(&dir), wanted);

    let dir = written(&place, "slurm", "submit.sh");
    let lab = Lab::up(&place, &["--nodes", "2"]);
    let output = run(Command::new("sh").arg("submit.sh").env("SLURM_CONF", lab.conf()).current_dir(&dir));
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 4);
    let queue = || run(Command::new("squeue").arg("--noheader").env("SLURM_CONF", lab.conf())).stdout;
    until("the jobs end", || queue().is_empty());
    assert_eq!(contents(&dir), wanted);
    jobs_again(&place, &lab);
}

/// Jobs without an engine, of which the queue tells scripts and dependencies.
fn jobs_again(place: &Place, lab: &Lab) {
    let scripts = [("first.sh", "sleep 1; echo made by $1 > x"), ("second.sh", "sed s/made/used/ x > y")];
    let submitted = place.dir.join("jobs");
    std::fs::create_dir(&submitted).unwrap();
    for (name, commands) in scripts {
        std::fs::write(submitted.join(name), format!("#!/bin/sh\n{commands}\n")).unwrap();
        std::fs::set_permissions(submitted.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let dataset = place.dir.join("dataset-of-jobs");
    // Times of Slurm are whole seconds: these jobs come after those before.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let submit = "j=$(sbatch --parsable first.sh hand); sbatch --dependency=afterok:$j second.sh";
    run(Command::new("sh").args(["-c", submit]).env("SLURM_CONF", lab.conf()).current_dir(&submitted));
    // A dependency is no longer told when it is met.
    lab.observe(&dataset);
    let queue = || run(Command::new("squeue").arg("--noheader").env("SLURM_CONF", lab.conf())).stdout;
    until("the jobs end", || queue().is_empty());
    lab.observe(&dataset);
    run(flowmine().args(["correlate", "--dataset"]).arg(&dataset));
    let again = place.dir.join("jobs-again");
    std::fs::create_dir(&again).unwrap();
    let of_these = std::fs::read_to_string(submitted.join("y")).unwrap();
    assert_eq!(of_these, "used by hand\n");
    let script = run(flowmine().args(["export", "--format", "slurm", "--from", &since(&dataset), "--dataset"]).arg(&dataset));
    std::fs::write(again.join("submit.sh"), script.stdout).unwrap();
    run(Command::new("sh").arg("submit.sh").env("SLURM_CONF", lab.conf()).current_dir(&again));
    until("the jobs end", || queue().is_empty());
    assert_eq!(std::fs::read_to_string(again.join("y")).unwrap(), of_these);
}

/// Two samples, each in a directory of its own, and a task that has both.
const PIPELINE: &str = r#"
process part { input: path 'in put.txt'; val n; output: path "part.${n}"; script: "sed -n ${n}p 'in put.txt' > part.${n}" }
process count { input: path x; output: path '*.n'; script: "wc -c < $x > ${x}.n; echo said" }
process merge { input: path all; output: path 'sum.txt'; script: "cat $all | sort > sum.txt" }
workflow { merge(count(part(file('in put.txt'), channel.of(1, 2))).collect()) }
"#;

/// What the tasks made in their directories, by path below the work directory.
fn made(work: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = run(Command::new("find").arg(work).args(["-type", "f", "-not", "-name", ".*", "-printf", "%P\\n"])).stdout;
    let files = String::from_utf8(files).unwrap();
    files.lines().map(|file| (file.to_owned(), std::fs::read(work.join(file)).unwrap())).collect()
}

/// Tasks of Nextflow ran in directories of their own, where each is run again.
#[test]
fn a_run_of_nextflow_runs_again_without_it() {
    let _alone = alone();
    if !ebpf() || !nextflow::present() || !makeflow::present() {
        return;
    }
    let place = Place::new(&Expected::new(Vec::new(), Shows::PLAIN));
    std::fs::write(place.run().join("in put.txt"), INPUT).unwrap();
    std::fs::write(place.run().join("flow.nf"), PIPELINE).unwrap();
    let mut nextflow = nextflow::command(&place.dir);
    nextflow.args(["run", "flow.nf", "-with-trace", "trace.txt"]);
    let variables = nextflow.get_envs().filter_map(|(name, value)| Some((name, value?)));
    run(place.trace().arg("--").arg(nextflow.get_program()).args(nextflow.get_args()).envs(variables));
    place.import("nextflow", &[".nextflow.log", "trace.txt", "work"]);
    run(flowmine().args(["correlate", "--dataset"]).arg(place.dataset()));
    let work = place.run().join("work");
    let wanted = made(&work);
    assert_eq!(wanted.len(), 5, "{wanted:?}");
    assert_eq!(wanted.iter().find(|(path, _)| path.ends_with("sum.txt")).unwrap().1, b"4\n4\n");
    for (format, file, options) in [("makeflow", "flow.json", &["--json"][..]), ("make", "flow.makeflow", &[])] {
        let to = work.join(file);
        let said = run(flowmine().args(["export", "--format", format, "--dataset"]).arg(place.dataset()).arg("-o").arg(&to));
        let said = String::from_utf8(said.stderr).unwrap();
        assert!(said.contains(&format!("the workflow is to be run in {:?}", work.to_str().unwrap())), "{said}");
        wanted.keys().for_each(|path| std::fs::remove_file(work.join(path)).unwrap());
        run(Command::new("makeflow").args(["-T", "local"]).args(options).arg(file).current_dir(&work));
        for name in [file.to_owned(), format!("{file}.makeflowlog")] {
            std::fs::remove_file(work.join(name)).unwrap();
        }
        assert_eq!(made(&work), wanted, "{format}");
    }
}

/// When the first job that is called after a script was submitted: jobs of the test before are
/// still in the queue.
fn since(dataset: &Path) -> String {
    let mut first: Option<i64> = None;
    super::each::<JobState<'static>>(dataset, |row| {
        if row.activity.as_deref() == Some("first.sh") {
            first = first.into_iter().chain(row.submit_ns).min();
        }
    });
    flowmine_schema::time::rfc3339(first.unwrap())
}
