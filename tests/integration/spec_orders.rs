//! `export --format slurm`, `makeflow`, `snakemake` of random traced scripts: whatever order of the jobs the workflow allows gives
//! the files that the script gave. What is refused, or warned of, is no lie.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::{expect, flowmine};

/// Number of scripts, unless `FLOWMINE_SPEC_ORDERS` gives another.
const SCRIPTS: u64 = 12;

/// Of a palette of commands: `A` and `B` are files of their own lane, `D` is a directory of it.
const COMMANDS: [&str; 34] = [
    "cp in.txt A",
    "cp in2.txt B",
    "cp A B",
    "cp in.txt D/y",
    "cp -r D D.copy",
    "sort -o B A",
    "sort -r -o A in.txt",
    "sort -o D/z in2.txt",
    "mkdir D",
    "mkdir -p D/deep/er",
    "rmdir D/deep/er",
    "rm -rf D",
    "rm A",
    "rm -f B",
    "mv A B",
    "mv A D",
    "ln -s A B",
    "ln -sf in2.txt A",
    "ln A B",
    "tar xf a.tar --transform s,^t,D,",
    "tar cf D.tar D",
    "install -D in2.txt D/e/x",
    "install -m 600 in.txt A",
    "chmod 640 A",
    "chmod -R u+w D",
    "truncate -s 3 A",
    "touch A",
    "find D A -size +0 -fprint B",
    "sh -c 'test -e A && cp in2.txt B'",
    "sh -c 'if [ -e A ]; then cp A B; else cp in2.txt B; fi'",
    "sh -c 'rm -f A; cp in2.txt B'",
    "sh -c 'if [ -L A ]; then cp in.txt B; elif [ -x A ]; then cp in2.txt B; fi'",
    "perl -e 'symlink(\"in.txt\",\"A\"); open F,\">\",\"B\"; print F -s \"D\" ? 1 : 2'",
    "perl -e 'mkdir(\"D\"); chmod(0600,\"A\"); utime(1,1,\"A\"); open F,\">\",\"B\"; print F join \",\", sort glob \"D/* A*\"'",
];

/// What perl does itself, so that no command does it; and whether the trace has to show it.
const OWN: [(&str, bool); 8] = [
    ("rename(\"A\",\"B\") or die;", true),
    ("link(\"A\",\"B\") or die;", true),
    ("unlink(\"A\") or die;", true),
    ("truncate(\"A\",2) or die;", true),
    ("mkdir(\"D\") or die;", true),
    ("symlink(\"in.txt\",\"B\") or die;", true),
    ("chmod(0600,\"A\") or die;", false),
    ("utime(1,1,\"A\") or die;", false),
];

/// Dice that fall the same each time (xorshift64*).
struct Dice(u64);

impl Dice {
    fn of(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    /// A command of a lane, whose files no other lane names.
    fn names(&mut self, text: &str, lane: &str) -> String {
        let number = self.below(2);
        let name = |c: char| match c {
            'A' => format!("{lane}a{number}"),
            'B' => format!("{lane}b{number}"),
            'D' => format!("{lane}d"),
            c => c.to_string(),
        };
        // `-D` and words of perl stay.
        text.split_inclusive(' ')
            .map(|word| if word.starts_with('-') { word.to_owned() } else { word.chars().map(name).collect() })
            .collect()
    }
}

/// A directory as all scripts begin in it.
fn place(dir: &Path, name: &str) -> PathBuf {
    let place = dir.join(name);
    fs::create_dir(&place).unwrap();
    fs::write(place.join("in.txt"), "pear\napple\nfig\n").unwrap();
    fs::write(place.join("in2.txt"), "two\none\n").unwrap();
    fs::create_dir(place.join("t")).unwrap();
    fs::write(place.join("t/z"), "packed\n").unwrap();
    expect(Command::new("tar").args(["cf", "a.tar", "t"]).current_dir(&place), 0);
    fs::remove_dir_all(place.join("t")).unwrap();
    place
}

fn succeeds(place: &Path, program: &str, script: &str) -> bool {
    let mut command = Command::new(program);
    command.args([if program == "perl" { "-e" } else { "-c" }, script]).current_dir(place).stdin(Stdio::null());
    command.output().unwrap().status.success()
}

/// What is in a directory at the end: of each path its kind, mode and content.
fn tree(place: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![place.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let told = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(place).unwrap().to_str().unwrap().to_owned();
            let what = if told.is_symlink() {
                format!("-> {}", fs::read_link(&path).unwrap().display())
            } else if told.is_dir() {
                open.push(path);
                format!("{:o} directory", told.permissions().mode())
            } else if name.ends_with(".tar") {
                // It holds times.
                "an archive".to_owned()
            } else {
                format!("{:o} {}", told.permissions().mode(), String::from_utf8_lossy(&fs::read(&path).unwrap()))
            };
            if name != "script" {
                found.insert(name, what);
            }
        }
    }
    found
}

/// A script of commands that succeed, some of them at the same time in lanes of their own.
fn shell_script(dice: &mut Dice, dir: &Path) -> String {
    let scratch = place(dir, "scratch");
    let mut lines: Vec<String> = Vec::new();
    let wanted = 3 + dice.below(4);
    for _ in 0..60 {
        if lines.len() == wanted {
            break;
        }
        let line = |lane: &str, dice: &mut Dice| {
            let command = COMMANDS[dice.below(COMMANDS.len())];
            Some(dice.names(command, lane)).filter(|line| succeeds(&scratch, "sh", line))
        };
        if dice.below(5) > 0 {
            lines.extend(line("p", dice));
            continue;
        }
        match (line("p", dice), line("q", dice)) {
            (Some(one), Some(other)) => lines.push(format!("{one} &\n{other} &\nwait")),
            (one, other) => lines.extend(one.or(other)),
        }
    }
    lines.join("\n") + "\n"
}

/// A script of perl, with commands and what perl does itself; and whether the trace has to show such.
fn perl_script(dice: &mut Dice, dir: &Path) -> (String, bool) {
    let scratch = place(dir, "scratch");
    let (mut lines, mut shown) = (Vec::new(), false);
    for _ in 0..12 {
        let (own, is_shown) = OWN[dice.below(OWN.len())];
        let (line, is_shown) = match dice.below(2) {
            0 => (dice.names(own, "p"), is_shown),
            _ => (format!("system(\"cp\",\"in.txt\",\"pa{}\") == 0 or die;", dice.below(2)), false),
        };
        if succeeds(&scratch, "perl", &line) {
            lines.push(line);
            shown |= is_shown;
        }
    }
    (lines.join("\n") + "\n", shown)
}

/// Traces a script in a directory of its own, which it returns.
fn trace(dir: &Path, program: &str, script: &str) -> PathBuf {
    let run = place(dir, "run");
    fs::write(run.join("script"), script).unwrap();
    let dataset = dir.join("dataset");
    let mut command = flowmine();
    command.args(["trace", "--backend", "ptrace", "--tasks", "commands", "--dataset"]).arg(&dataset).args(["--", program, "script"]);
    expect(command.current_dir(&run).stdin(Stdio::null()), 0);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    run
}

fn spec(dir: &Path, format: &str) -> Output {
    flowmine().args(["export", "--format", format, "--dataset"]).arg(dir.join("dataset")).output().unwrap()
}

/// A job: its command, and the places of those that it waits for.
type Job = (String, Vec<usize>);

/// The jobs that a script submits to an `sbatch` that only notes them.
fn jobs_of_slurm(dir: &Path, script: &[u8]) -> Vec<Job> {
    let bin = dir.join("bin");
    let noted = dir.join("jobs");
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir(&noted).unwrap();
    let sbatch = bin.join("sbatch");
    fs::write(
        &sbatch,
        "#!/bin/sh\nset -- \"$(ls \"$JOBS\" | wc -l)\" \"$@\"; n=$1; mkdir \"$JOBS/$n\"; : >\"$JOBS/$n/after\"\nfor word; do case $word in --wrap=*) printf %s \"${word#--wrap=}\" >\"$JOBS/$n/command\" ;; --dependency=afterok:*) printf %s \"${word#--dependency=afterok:}\" >\"$JOBS/$n/after\" ;; esac; done\necho \"$n\"\n",
    )
    .unwrap();
    fs::set_permissions(&sbatch, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    fs::write(dir.join("submit.sh"), script).unwrap();
    let submitted = expect(Command::new("sh").arg("submit.sh").current_dir(dir).env("PATH", path).env("JOBS", &noted), 0);
    let count = String::from_utf8(submitted.stdout).unwrap().lines().count();
    let job = |at: usize| {
        let [command, after] = ["command", "after"].map(|name| fs::read_to_string(noted.join(at.to_string()).join(name)).unwrap());
        (command, after.split(':').filter(|id| !id.is_empty()).map(|id| id.parse().unwrap()).collect())
    };
    let jobs = (0..count).map(job).collect();
    fs::remove_dir_all(noted).unwrap();
    jobs
}

/// The rules of Makeflow's JSON, each after those that make its inputs.
fn jobs_of_makeflow(text: &[u8]) -> Vec<Job> {
    let flow: serde_json::Value = serde_json::from_slice(text).unwrap();
    let rules = flow["rules"].as_array().unwrap();
    let makes = |rule: &serde_json::Value, file: &serde_json::Value| rule["outputs"].as_array().unwrap().contains(file);
    let after = |rule: &serde_json::Value| {
        let inputs = rule["inputs"].as_array().unwrap();
        (0..rules.len()).filter(|at| rules[*at] != *rule && inputs.iter().any(|file| makes(&rules[*at], file))).collect()
    };
    rules.iter().map(|rule| (rule["command"].as_str().unwrap().to_owned(), after(rule))).collect()
}

/// Runs the jobs in an order that they allow, by dice.
fn run_in_some_order(dice: &mut Dice, place: &Path, jobs: &[Job]) -> Result<(), String> {
    let mut done: Vec<usize> = Vec::new();
    while done.len() < jobs.len() {
        let mut free: Vec<usize> =
            (0..jobs.len()).filter(|at| !done.contains(at) && jobs[*at].1.iter().all(|before| done.contains(before))).collect();
        // The last one that is free is the one that waits for fewest.
        let at = free.pop().filter(|_| free.is_empty() || dice.below(3) > 0).unwrap_or_else(|| free[dice.below(free.len())]);
        let ran = Command::new("sh").args(["-c", &jobs[at].0]).current_dir(place).stdin(Stdio::null()).output().unwrap();
        if !ran.status.success() {
            return Err(format!("{:?} failed: {}", jobs[at].0, String::from_utf8_lossy(&ran.stderr)));
        }
        done.push(at);
    }
    Ok(())
}

fn scripts() -> u64 {
    std::env::var("FLOWMINE_SPEC_ORDERS").ok().map_or(SCRIPTS, |count| count.parse().unwrap())
}

#[test]
fn every_allowed_order_gives_the_files_of_the_script() {
    let mut written = BTreeMap::from([("slurm", 0), ("makeflow", 0)]);
    for seed in 0..scripts() {
        let mut dice = Dice::of(seed);
        let dir: TempDir = tempfile::tempdir().unwrap();
        let script = shell_script(&mut dice, dir.path());
        let wanted = tree(&trace(dir.path(), "sh", &script));
        for (format, count) in &mut written {
            let made = spec(dir.path(), format);
            let said = String::from_utf8_lossy(&made.stderr);
            if made.status.code() == Some(2) {
                continue;
            }
            *count += u64::from(made.status.code() == Some(0));
            let jobs = if *format == "slurm" { jobs_of_slurm(dir.path(), &made.stdout) } else { jobs_of_makeflow(&made.stdout) };
            for round in 0..2 {
                let again = place(dir.path(), &format!("{format}{round}"));
                let ran = run_in_some_order(&mut dice, &again, &jobs);
                assert!(
                    ran == Ok(()) && tree(&again) == wanted,
                    "seed {seed}, {format}: {ran:?}\n{script}\n{jobs:?}\n{said}\n{:?}\n{wanted:?}",
                    tree(&again)
                );
            }
        }
    }
    // Most scripts are written for Slurm; Makeflow has no tasks without outputs.
    assert!(written["slurm"] * 2 > scripts() && written["makeflow"] > 0, "{written:?}");
}

/// A script of perl is refused for what perl did itself, or warned of where no trace can show it.
#[test]
fn what_the_program_of_a_script_does_itself_is_refused_or_warned_of() {
    let mut refused = 0;
    for seed in 0..scripts() {
        let dir = tempfile::tempdir().unwrap();
        let (script, shown) = perl_script(&mut Dice::of(seed), dir.path());
        if !script.contains("system") {
            continue;
        }
        trace(dir.path(), "perl", &script);
        let made = spec(dir.path(), "slurm");
        let (code, said) = (made.status.code(), String::from_utf8_lossy(&made.stderr));
        if shown {
            assert!(code == Some(2) && said.contains("in its own process"), "seed {seed}: {script}{said}");
            refused += 1;
        } else {
            assert!(code == Some(1) && said.contains("perl runs the script"), "seed {seed}: {script}{said}");
        }
    }
    assert!(refused > 0);
}
