//! A run that is written down as a workflow, and run again: by Makeflow, Snakemake and Slurm.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use flowmine_schema::tables::JobState;

use super::place::{Place, flowmine, run, until};
use super::{Expected, Lab, Shows, alone, makeflow, slurm, snakemake};

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
    run(flowmine().args(["discover", "--model", "spec", "--format", format, "--dataset"]).arg(place.dataset()).arg("-o").arg(to));
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
    let place = Place::new(&Expected::of(Vec::new(), Shows::PLAIN));
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
    let script =
        run(flowmine().args(["discover", "--model", "spec", "--format", "slurm", "--from", &since(&dataset), "--dataset"]).arg(&dataset));
    std::fs::write(again.join("submit.sh"), script.stdout).unwrap();
    run(Command::new("sh").arg("submit.sh").env("SLURM_CONF", lab.conf()).current_dir(&again));
    until("the jobs end", || queue().is_empty());
    assert_eq!(std::fs::read_to_string(again.join("y")).unwrap(), of_these);
}

/// When the first job that is called after a script was submitted: jobs of the test before are still in the queue.
fn since(dataset: &Path) -> String {
    let mut first: Option<i64> = None;
    super::each::<JobState<'static>>(dataset, |row| {
        if row.activity.as_deref() == Some("first.sh") {
            first = first.into_iter().chain(row.submit_ns).min();
        }
    });
    flowmine_schema::time::rfc3339(first.unwrap())
}
