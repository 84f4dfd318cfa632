//! Every file of the trees of fixtures and tests, given by its path alone.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use flowmine_sources::{KINDS, Reading, open, recognise};

/// What a file is.
#[derive(Debug, Clone, Copy)]
enum Is {
    /// A source of this kind, which opens.
    Source(&'static str),
    /// A source of this kind of which nothing can be read.
    Refused(&'static str),
    /// No source, for this reason, which the error must not contradict: it is never a kind.
    Nothing(#[allow(dead_code, reason = "for people")] &'static str),
}

use Is::{Nothing, Refused, Source};

const ENGINES: &str = "crates/extract-workflow/tests/fixtures";

/// The first pattern that fits a path decides; `*` stands for any text.
const RULES: &[(&str, Is)] = &[
    ("*.md", Nothing("a text for people")),
    ("*.rs", Nothing("a program")),
    ("*.sh", Nothing("a program")),
    ("*.py", Nothing("a program")),
    ("*.c", Nothing("a program")),
    ("*.h", Nothing("a part of programs")),
    ("*.nf", Nothing("a program")),
    ("*.awk", Nothing("a program")),
    ("*.sql", Nothing("a program that makes a database")),
    ("*.lock", Nothing("a lock")),
    ("*.gitignore", Nothing("a list for git")),
    ("*.toml", Nothing("the description of a package")),
    ("tests/lab/nextflow/pom.xml", Nothing("the description of a package")),
    ("tests/lab/nextflow/nextflow", Nothing("a program")),
    ("tests/lab/airflow/*.txt", Nothing("a list of packages")),
    ("tests/one-by-one", Nothing("a program")),
    ("tests/dist/squeue", Nothing("a program")),
    ("tests/workflows/tasks.tsv", Nothing("the tasks of a made workflow")),
    // Datasets.
    ("fixtures/*/flowmine.json", Source("dataset")),
    ("fixtures/*.parquet", Nothing("a file of a dataset, which is read as a whole")),
    // What is known of the recorded runs. Those with a header are tables, though not logs.
    ("fixtures/case-study/truth*.tsv", Source("table")),
    ("fixtures/workflows/planted/planted.tsv", Source("table")),
    ("fixtures/workflows/*/truth.tsv", Nothing("the truth about a run, without a header")),
    ("fixtures/workflows/airflow-local/truth-files", Nothing("the truth about a run")),
    ("tests/axe/*.json", Nothing("packages of npm")),
    ("fixtures/case-study/host.txt", Nothing("versions of programs")),
    // Slurm.
    ("fixtures/case-study/sacct*.gz", Source("slurm")),
    ("fixtures/case-study/squeue/*", Source("slurm")),
    ("fixtures/case-study/polls/*", Source("slurm")),
    ("fixtures/import/sacct_plain_columns.txt", Refused("slurm")),
    ("fixtures/import/squeue_two_polls.txt", Refused("slurm")),
    ("fixtures/import/*", Source("slurm")),
    // I/O traces.
    ("fixtures/io-csv/*.csv", Source("io-csv")),
    ("fixtures/io-csv/*.csv.gz", Source("io-csv")),
    // Workflow engines.
    ("*.makeflowlog", Source("makeflow")),
    ("*.makeflow", Nothing("a workflow that Makeflow runs, not what it records")),
    ("crates/*/makeflow/words.jx", Refused("makeflow")),
    ("crates/*/makeflow/words.json", Source("makeflow")),
    ("crates/*/makeflow/*.summary", Source("makeflow")),
    ("crates/*/makeflow/*.series", Source("makeflow")),
    ("fixtures/workflows/nextflow-*/nextflow.log*", Source("nextflow")),
    ("fixtures/workflows/nextflow-*/trace.txt", Source("nextflow")),
    ("crates/*/nextflow/*.log", Source("nextflow")),
    ("crates/*/nextflow/*.trace.txt", Source("nextflow")),
    ("crates/*/snakemake/Snakefile.*", Nothing("a workflow that Snakemake runs, not what it records")),
    ("*/.snakemake/*", Source("snakemake")),
    ("crates/*/snakemake/*", Source("snakemake")),
    ("crates/*/airflow/*", Source("airflow")),
    ("crates/*/argo/*.json", Source("argo")),
    ("crates/*/kubernetes/*.json*", Source("kubernetes")),
    ("crates/*/ro_crate/data_only.json", Refused("ro-crate")),
    ("crates/*/ro_crate/*.json", Source("ro-crate")),
    ("crates/*/taskvine/*/performance", Nothing("a log without tasks")),
    ("crates/*/taskvine/*/transactions", Source("taskvine")),
    ("crates/*/wfformat/too_old_1.1.json", Refused("wfformat")),
    ("crates/*/wfformat/*.json", Source("wfformat")),
    ("crates/*/transform/*.record", Source("transform")),
    // Logs.
    ("tests/fixtures/logs/*", Source("log")),
    ("fixtures/logs/*.csv", Source("table")),
    ("crates/eventlog/*/empty.json", Nothing("an empty file")),
    ("crates/eventlog/*/utf16.xes", Nothing("text in UTF-16")),
    ("crates/eventlog/*/latin1.xes", Nothing("text in Latin-1")),
    ("crates/eventlog/*/billion_laughs.xes", Nothing("entities that are not expanded")),
    ("crates/eventlog/tests/fixtures/*", Source("log")),
    ("crates/logs/tests/fixtures/tables/*", Source("table")),
];

fn fits(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some(at) = rest.find(before) else { return false };
            rest = &rest[at + before.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}

fn files_below(dir: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        // Built programs are no fixtures.
        if kind.is_dir() && entry.file_name() != "target" && entry.file_name() != "__pycache__" {
            files_below(&entry.path(), files);
        } else if kind.is_file() {
            files.insert(entry.path());
        }
    }
}

#[test]
fn every_fixture_is_recognised_by_its_path_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut files = BTreeSet::new();
    let crates = ["crates/eventlog/tests/fixtures", "crates/logs/tests/fixtures/tables"];
    for tree in ["fixtures", "tests", ENGINES].into_iter().chain(crates) {
        files_below(&root.join(tree), &mut files);
    }
    assert!(files.len() > 500, "{}", files.len());
    let (mut wrong, mut opened) = (Vec::new(), HashSet::new());
    let (mut used, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for path in &files {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let Some((_, is)) = RULES.iter().find(|(pattern, _)| fits(pattern, name)) else {
            wrong.push(format!("{name}: no rule says what it is"));
            continue;
        };
        used.insert(RULES.iter().position(|(pattern, _)| fits(pattern, name)));
        if let Source(kind) = is {
            kinds.insert(*kind);
        }
        match (recognise(std::slice::from_ref(path)), is) {
            (Err(_), Nothing(_)) => {}
            (Ok(plan), Source(kind) | Refused(kind)) if plan.sources()[0].kind.name == *kind => {
                let source = &plan.sources()[0];
                if opened.insert(source.read.clone()) && open(&plan, &mut ()).is_ok() != matches!(is, Source(_)) {
                    wrong.push(format!("{name}: {is:?}, but {:?}", open(&plan, &mut ()).map(|_| "it opens")));
                }
            }
            (found, _) => wrong.push(format!("{name}: {is:?}, but {:?}", found.map(|plan| plan.sources()[0].note()))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let idle = RULES.iter().enumerate().filter(|(at, _)| !used.contains(&Some(*at))).map(|(_, (pattern, _))| *pattern);
    assert_eq!(idle.collect::<Vec<_>>(), [""; 0], "rules that fit no file");
    let read = KINDS.iter().filter(|kind| !matches!(kind.reading, Reading::NotRead)).map(|kind| kind.name);
    assert_eq!(read.filter(|name| !kinds.contains(name)).collect::<Vec<_>>(), [""; 0], "kinds without a fixture that opens");
}

#[test]
fn directories_of_runs_are_recognised() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    for (dir, kind) in [
        ("fixtures/demonstration/dataset", "dataset"),
        ("fixtures/case-study/polls", "slurm"),
        ("fixtures/io-csv/as_published", "io-csv"),
        ("fixtures/io-csv/as_published/node1", "io-csv"),
        ("fixtures/workflows/nextflow-local", "nextflow"),
        ("fixtures/workflows/makeflow-slurm", "makeflow"),
        ("fixtures/workflows/snakemake-slurm", "snakemake"),
        ("fixtures/workflows/snakemake-slurm/.snakemake", "snakemake"),
        ("fixtures/workflows/snakemake-slurm/.snakemake/metadata", "snakemake"),
        ("crates/extract-workflow/tests/fixtures/airflow/3.3.2", "airflow"),
        ("crates/extract-workflow/tests/fixtures/transform", "transform"),
        ("crates/extract-workflow/tests/fixtures/wfformat", "wfformat"),
        ("crates/extract-workflow/tests/fixtures/taskvine/2026-03-01T080000", "taskvine"),
        ("crates/extract-workflow/tests/fixtures/kubernetes", "kubernetes"),
    ] {
        let plan = recognise(&[root.join(dir)]).unwrap();
        assert_eq!(plan.sources()[0].kind.name, kind, "{dir}: {}", plan.sources()[0].seen);
        open(&plan, &mut ()).unwrap();
    }
}
