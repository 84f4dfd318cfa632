//! Every reader of foreign input, given bytes that a fuzzer makes up: none may panic, hang, or take
//! memory out of proportion to what it reads.
//!
//! A target is a function of bytes. Where it has several readers, the first byte says which; where
//! a reader takes several files, they are put one after the other with [`BETWEEN`] between them.

pub mod engines;
pub mod io_csv;
pub mod logs;
pub mod memory;
pub mod models;
pub mod random;
pub mod slurm;
pub mod slurm_words;
pub mod tables;
pub mod workflows;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use libfuzzer_sys as _;

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// What stands between two files of one input (ASCII's file separator).
pub const BETWEEN: u8 = 0x1c;

/// Where a target begins: with these bytes, and then a file.
pub struct Seeds {
    /// What goes before the file's bytes.
    pub before: &'static [u8],
    /// A file, or a folder of which all are taken that lie in it or below.
    pub place: &'static str,
    /// How their names end; `.gz` may follow.
    pub ending: &'static str,
}

/// A target.
pub struct Target {
    /// As it is called by run.sh.
    pub name: &'static str,
    /// Number of inputs that a submission tries: at most what half a minute of a core of a busy
    /// machine tried.
    pub runs: u32,
    /// What it does with an input.
    pub run: fn(&[u8]),
    /// Its readers, each of which some seed has to reach.
    pub readers: &'static [&'static str],
    /// The fixtures from which it starts.
    pub seeds: &'static [Seeds],
}

const fn from(before: &'static [u8], place: &'static str, ending: &'static str) -> Seeds {
    Seeds { before, place, ending }
}

const LOGS: &str = "crates/eventlog/tests/fixtures";
const ENGINES: &str = "crates/extract-workflow/tests/fixtures";

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "xes",
        runs: 60_000,
        run: logs::xes,
        readers: &["XES"],
        seeds: &[from(b"", LOGS, ".xes"), from(b"", "tests/fixtures/logs", ".xes")],
    },
    Target {
        name: "ocel_json",
        runs: 60_000,
        run: logs::ocel_json,
        readers: &["OCEL, JSON"],
        seeds: &[from(b"", LOGS, ".json"), from(b"", "tests/fixtures/logs", ".json")],
    },
    Target { name: "ocel_xml", runs: 60_000, run: logs::ocel_xml, readers: &["OCEL, XML"], seeds: &[from(b"", LOGS, ".xml")] },
    Target { name: "ocel_sqlite", runs: 20_000, run: logs::ocel_sqlite, readers: &["OCEL, SQLite"], seeds: &[from(b"", LOGS, ".sqlite")] },
    Target { name: "validate", runs: 20_000, run: logs::validate, readers: &["validate"], seeds: &[from(b"", LOGS, "")] },
    Target {
        name: "slurm_words",
        runs: 160_000,
        run: slurm_words::run,
        readers: &["dependencies", "indices of an array"],
        seeds: slurm_words::SEEDS,
    },
    Target {
        name: "slurm_text",
        runs: 24_000,
        run: slurm::text,
        readers: &["squeue text", "sacct --parsable2", "SLURMminer log", "what squeue answers", "what sacct answers", "a submit line"],
        seeds: slurm::TEXT_SEEDS,
    },
    Target {
        name: "slurm_json",
        runs: 28_000,
        run: slurm::json,
        readers: &["squeue --json", "sacct --json"],
        seeds: &[
            from(b"", "fixtures/import", ".json"),
            from(b"", "fixtures/case-study/squeue", ".json"),
            from(b"", "fixtures/case-study", "sacct.json"),
        ],
    },
    Target {
        name: "swf",
        runs: 200_000,
        run: slurm::workload,
        readers: &["Standard Workload Format"],
        seeds: &[from(b"\0", "fixtures/import", "swf_three_jobs.txt"), from(b"\0", "fuzz/seeds", ".swf")],
    },
    Target {
        name: "nextflow",
        runs: 20_000,
        run: engines::nextflow,
        readers: &[
            "Nextflow history",
            "Nextflow log",
            "Nextflow report",
            "Nextflow trace file",
            "Nextflow work directory",
            "Nextflow graph of processes",
        ],
        seeds: engines::NEXTFLOW_SEEDS,
    },
    Target {
        name: "snakemake",
        runs: 20_000,
        run: engines::snakemake,
        readers: &["Snakemake log", "log of a Snakemake job on Slurm", "Snakemake metadata", "Snakemake benchmark"],
        seeds: engines::SNAKEMAKE_SEEDS,
    },
    Target {
        name: "makeflow",
        runs: 20_000,
        run: engines::makeflow,
        readers: &["Makeflow log", "Makeflow workflow", "Makeflow resource summary", "Makeflow resource series"],
        seeds: engines::MAKEFLOW_SEEDS,
    },
    Target {
        name: "airflow",
        runs: 18_000,
        run: engines::airflow,
        readers: &["Airflow database (PostgreSQL)", "Airflow task log", "Airflow scheduler log"],
        seeds: engines::AIRFLOW_SEEDS,
    },
    Target {
        name: "airflow_sqlite",
        runs: 10_000,
        run: engines::airflow_sqlite,
        readers: &["Airflow database (SQLite)"],
        seeds: &[from(b"", ENGINES, "airflow.sql")],
    },
    Target {
        name: "kubernetes",
        runs: 13_000,
        run: engines::kubernetes,
        readers: &["objects of Kubernetes", "Argo workflows"],
        seeds: engines::KUBERNETES_SEEDS,
    },
    Target {
        name: "wfformat",
        runs: 20_000,
        run: engines::wfformat,
        readers: &["WfFormat instance", "record of a transformed task"],
        seeds: engines::WFFORMAT_SEEDS,
    },
    Target {
        name: "ro_crate",
        runs: 20_000,
        run: engines::ro_crate,
        readers: &["Workflow Run RO-Crate"],
        seeds: &[from(b"\0", "crates/extract-workflow/tests/fixtures/ro_crate", ".json"), from(b"\0", "fuzz/seeds", "crate.json")],
    },
    Target {
        name: "taskvine",
        runs: 10_000,
        run: engines::taskvine,
        readers: &["TaskVine transactions log"],
        seeds: &[from(b"\0", "crates/extract-workflow/tests/fixtures/taskvine", "transactions"), from(b"\0", "fuzz/seeds", "transactions")],
    },
    Target {
        name: "io_csv",
        runs: 130,
        run: io_csv::run,
        readers: &["operations of the monitoring paper", "forks of the monitoring paper", "folders of the monitoring paper"],
        seeds: io_csv::SEEDS,
    },
    Target {
        name: "tables",
        runs: 3_000,
        run: tables::csv,
        readers: &["CSV"],
        seeds: &[from(b"\0", "crates/logs/tests/fixtures", ".csv"), from(b"\x01", "crates/logs/tests/fixtures", ".csv")],
    },
    Target {
        name: "parquet",
        runs: 5_500,
        run: tables::parquet,
        readers: &["Parquet", "a column of Parquet"],
        seeds: &[from(b"", "crates/logs/tests/fixtures", ".parquet")],
    },
    Target {
        name: "workflows",
        runs: 1_500,
        run: workflows::workflows,
        readers: &["Makeflow's language", "JX", "Makeflow's JSON", "Snakefile", "Slurm script", "list of tasks", "list of commands"],
        seeds: workflows::SEEDS,
    },
    Target {
        name: "layers",
        runs: 11_000,
        run: workflows::layers,
        readers: &["expressions of JX", "transformations"],
        seeds: workflows::LAYER_SEEDS,
    },
    Target { name: "models", runs: 60_000, run: models::run, readers: &["a model in JSON", "a model in TOML"], seeds: models::SEEDS },
];

/// The target of that name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

static REACHED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Notes that a reader took an input in, if it did.
pub fn reached(so: bool, reader: &'static str) {
    if so && let Ok(mut reached) = REACHED.lock() {
        reached.insert(reader);
    }
}

/// Which readers have taken inputs in until now.
pub fn all_reached() -> BTreeSet<&'static str> {
    REACHED.lock().map(|reached| reached.clone()).unwrap_or_default()
}

/// Runs a target and looks at the memory that it took.
pub fn run(target: &Target, bytes: &[u8]) {
    let before = memory::begin();
    (target.run)(bytes);
    memory::check(before, bytes);
}

/// A folder for files, in memory where there is such a place.
pub fn folder() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let dir = std::env::var_os("FLOWMINE_FUZZ_DIR").map_or(if memory.is_dir() { memory } else { std::env::temp_dir() }, PathBuf::from);
        let path = dir.join(format!("flowmine-fuzz-{}", std::process::id()));
        if let Err(error) = std::fs::create_dir_all(&path) {
            panic!("{}: {error}", path.display());
        }
        path
    })
}

/// A file with these bytes.
pub fn file_of(bytes: &[u8]) -> Option<PathBuf> {
    let path = folder().join("file");
    std::fs::write(&path, bytes).ok()?;
    Some(path)
}

/// The first byte, and the files behind it.
pub fn choice(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest))
}
