//! `export --format slurm`, `makeflow`, `snakemake` of Snakemake's runs: what Snakemake does around its commands is in the
//! workflow, or the run is refused.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::makeflow::makeflow_is_there;
use crate::support::require::require;
use crate::support::{expect, flowmine, has_program};

fn snakemake() -> Option<Command> {
    let given = std::env::var_os("FLOWMINE_SNAKEMAKE");
    let is_there = require("snakemake", "snakemake", given.is_some() || has_program("snakemake"));
    is_there.then(|| Command::new(given.unwrap_or_else(|| "snakemake".into())))
}

/// A run of Snakemake that was imported.
struct Imported {
    dir: TempDir,
}

impl Imported {
    fn new(rules: &str) -> Option<Self> {
        let mut snakemake = snakemake()?;
        let imported = Self { dir: tempfile::tempdir().unwrap() };
        let first = imported.place("first");
        fs::write(first.join("Snakefile"), rules).unwrap();
        expect(snakemake.args(["--cores", "2"]).current_dir(&first), 0);
        expect(flowmine().args(["import", "snakemake", "--dataset"]).arg(imported.dir.path().join("dataset")).arg(&first), 0);
        Some(imported)
    }

    fn place(&self, name: &str) -> PathBuf {
        let place = self.dir.path().join(name);
        fs::create_dir(&place).unwrap();
        place
    }

    fn spec(&self, format: &str) -> Output {
        let dataset = self.dir.path().join("dataset");
        flowmine().args(["export", "--format", format, "--dataset"]).arg(dataset).output().unwrap()
    }

    /// The files of the run, and those of the workflow that is written in a language.
    fn again(&self, format: &str, file: &str, engine: &mut Command) -> [BTreeMap<String, String>; 2] {
        let again = self.place(format);
        let made = self.spec(format);
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.code() == Some(0) && said.contains("shell.prefix()"), "{format}: {said}");
        fs::write(again.join(file), made.stdout).unwrap();
        expect(engine.current_dir(&again), 0);
        [self.dir.path().join("first"), again].map(|place| files(&place))
    }
}

/// Paths and contents, without what the engines and this test write; of a benchmark only that it is there.
fn files(place: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![place.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(place).unwrap().to_str().unwrap().to_owned();
            // Snakemake marks directories too.
            if name.ends_with(".snakemake_timestamp")
                || [".snakemake", "Snakefile", "flow", "makeflow", "submit", "sbatch", "bench"].iter().any(|own| name.starts_with(own))
            {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

const RULES: &str = r#"
rule all:
    input: "d/x/o2", "flags/done.flag", "dir", "c.out"
rule a:
    output: "d/x/o2"
    shell: "echo a > {output}"
rule b:
    output: touch("flags/done.flag")
    shell: "true"
rule c:
    input: "dir"
    output: "c.out"
    log: "logs/c.log"
    benchmark: "bench/c.txt"
    shell: "cat {input}/f > {output}; printf '%s' '\\x41' >> {output}; echo said > {log}"
rule d:
    output: directory("dir")
    shell: "mkdir {output}; echo x > {output}/f"
"#;

#[test]
fn what_snakemake_does_around_commands_is_in_the_workflow() {
    let Some(imported) = Imported::new(RULES) else { return };
    let sbatch = imported.dir.path().join("sbatch");
    fs::write(&sbatch, "#!/bin/sh\nfor word; do case $word in --wrap=*) sh -c \"${word#--wrap=}\" >&2 || exit 1 ;; esac; done\necho 7\n")
        .unwrap();
    fs::set_permissions(&sbatch, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", imported.dir.path().display(), std::env::var("PATH").unwrap());
    let [first, again] = imported.again("slurm", "submit.sh", Command::new("sh").arg("submit.sh").env("PATH", path));
    assert_eq!(again, first);
    assert!(first.len() == 5 && first["c.out"] == "x\n\\x41" && first["logs/c.log"] == "said\n", "{first:?}");
    if makeflow_is_there() {
        let [first, again] = imported.again("makeflow", "flow.json", Command::new("makeflow").args(["-T", "local", "--json", "flow.json"]));
        assert_eq!(again, first);
    }
}

/// Snakemake itself, with files only: its log does not record which outputs are directories.
#[test]
fn snakemake_runs_its_own_run_again() {
    let rules = RULES.replace("\"dir\"", "\"dir/f\"").replace("directory(\"dir/f\")", "\"dir/f\"");
    let rules = rules.replace("mkdir {output}; echo x > {output}/f", "echo x > {output}").replace("cat {input}/f", "cat {input}");
    let (Some(imported), Some(mut engine)) = (Imported::new(&rules), snakemake()) else { return };
    let [first, again] = imported.again("snakemake", "Snakefile", engine.args(["--cores", "1"]));
    assert_eq!(again, first);
}

/// A shell that is not bash gets no prologue; a command that failed before is told of.
#[test]
fn the_shell_of_the_run_executes_its_commands() {
    let rules = "shell.executable(\"/bin/sh\")\nrule all:\n    output: \"o\"\n    retries: 1\n    shell: \"[ -e tried ] || {{ touch tried; exit 1; }}; false | true; echo $0 > {output}\"\n";
    let Some(imported) = Imported::new(rules) else { return };
    let made = imported.spec("slurm");
    let (script, said) = (String::from_utf8(made.stdout).unwrap(), String::from_utf8(made.stderr).unwrap());
    assert!(script.contains("/bin/sh") && !script.contains("pipefail"), "{script}{said}");
    assert!(said.contains("1 tasks were attempted more than once"), "{said}");
}

#[test]
fn pipes_of_snakemake_are_refused() {
    let rules = "rule all:\n    input: \"pp\"\n    output: \"o\"\n    shell: \"cat {input} > {output}\"\nrule w:\n    output: pipe(\"pp\")\n    shell: \"echo w > {output}\"\n";
    let Some(imported) = Imported::new(rules) else { return };
    let refused = imported.spec("slurm");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.contains("\"w\" makes \"pp\"") && said.contains("\"pipe\""), "{said}");
}
