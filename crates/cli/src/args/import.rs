//! Arguments of `flowmine import`.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use flowmine_api::groups::TableColumns;
use flowmine_api::import::{Engine, KINDS, Kind, ReadOptions, Reading, Recorded, Request, SlurmOptions, TaskOptions};
use flowmine_api::options::parse::moment;

use super::options::{Group, sentence};
use super::shared::Kept;

/// `flowmine import`.
#[derive(Debug, Subcommand)]
pub enum Import {
    /// Files of squeue, sacct or SLURMminer, and logs in the Standard Workload Format, recognised by
    /// their content.
    #[command(visible_aliases = ["squeue", "sacct", "swf"])]
    Slurm(ImportSlurm),
    /// Event logs of other programs: XES, OCEL 2.0 or tables.
    Log(ImportLog),
    /// I/O traces of the published eBPF and FUSE monitoring tools: directories with file-bpf.csv
    /// and cgroups.csv.
    IoCsv(ImportIoCsv),
    /// Records of a workflow engine.
    #[command(flatten)]
    Engine(ImportEngine),
}

impl Import {
    /// The request for the library.
    pub fn request(&self) -> Request {
        let (dataset, kept, recorded) = match self {
            Self::Slurm(args) => (&args.dataset, &args.kept, args.recorded()),
            Self::Log(args) => (&args.dataset, &args.kept, Recorded::Logs(args.files.clone(), Box::new((*args.columns).clone()))),
            Self::IoCsv(args) => (&args.dataset, &args.kept, Recorded::IoCsv(args.dirs.clone())),
            Self::Engine(ImportEngine { engine, args }) => (&args.dataset, &args.kept, args.recorded(*engine)),
        };
        Request { into: kept.target(dataset), recorded }
    }
}

/// `flowmine import ENGINE`: a command for each workflow engine among the kinds of sources.
pub struct ImportEngine {
    engine: &'static dyn Engine,
    args: ImportTasks,
}

impl std::fmt::Debug for ImportEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImportEngine").field("engine", &self.engine.name()).field("args", &self.args).finish()
    }
}

/// The kinds of sources that are recorded by a workflow engine.
fn engines() -> impl Iterator<Item = (&'static Kind, &'static dyn Engine)> {
    KINDS.iter().filter_map(|kind| match kind.reading {
        Reading::Tasks(engine) => Some((*kind, engine)),
        _ => None,
    })
}

impl Subcommand for ImportEngine {
    fn augment_subcommands(command: Command) -> Command {
        // The arguments would give the command their own description.
        let of = |kind: &Kind| {
            ImportTasks::augment_args(Command::new(kind.name)).about(sentence(format!("{}: {}", kind.title, kind.reads.replace('`', ""))))
        };
        command.subcommands(engines().map(|(kind, _)| of(kind)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        engines().any(|(kind, _)| kind.name == name)
    }
}

impl FromArgMatches for ImportEngine {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let engine = |name: &str| engines().find(|(kind, _)| kind.name == name).map(|(_, engine)| engine);
        let (engine, matches) = matches
            .subcommand()
            .and_then(|(name, matches)| Some((engine(name)?, matches)))
            .ok_or_else(|| clap::Error::new(clap::error::ErrorKind::MissingSubcommand))?;
        Ok(Self { engine, args: ImportTasks::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// `flowmine import nextflow` and the other workflow engines.
#[derive(Debug, Args)]
#[command(
    after_help = "Files are recognised by their content and may be packed with gzip. Give all files of a run in one call: their facts \
    about a task are merged into one row of the table task_runs. Files that were imported before (same content) are skipped."
)]
pub struct ImportTasks {
    /// Files, and directories that contain them.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The dataset; made when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Readers of written files.
    #[command(flatten)]
    pub kept: Kept,
    /// Zone of times without one, as an offset east of UTC (+01:00), where the files do not contain
    /// it.
    #[arg(long, value_name = "OFFSET", value_parser = zone, allow_hyphen_values = true)]
    pub zone: Option<i64>,
    /// Year in which a log without years begins [default: by the file's modification time, with a
    /// note].
    #[arg(long, value_name = "YEAR", value_parser = clap::value_parser!(i32).range(1990..2262))]
    pub year: Option<i32>,
}

impl ImportTasks {
    fn recorded(&self, engine: &'static dyn Engine) -> Recorded {
        Recorded::Tasks(engine, self.paths.clone(), TaskOptions { zone_offset_s: self.zone, year: self.year })
    }
}

/// `flowmine import io-csv`.
#[derive(Debug, Args)]
#[command(after_help = "Reads file-bpf.csv and cgroups.csv, packed with gzip or not, in each directory given and in those below it. \
    The name of the directory in which they lie is the host's. A file that was imported before (same host, same content) is skipped.")]
pub struct ImportIoCsv {
    /// A directory of a node, or one that holds several.
    #[arg(required = true, value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// The dataset; made when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Readers of written files.
    #[command(flatten)]
    pub kept: Kept,
}

/// `flowmine import log`.
#[derive(Debug, Args)]
#[command(after_help = "Reads XES, OCEL 2.0 (JSON, XML, SQLite) and tables (CSV, Parquet); the text formats packed with gzip or not. \
    `discover` and `export` take such a file directly as well.")]
pub struct ImportLog {
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Contents of a table's columns.
    #[command(flatten)]
    pub columns: Group<TableColumns>,
    /// The dataset; made when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Readers of written files.
    #[command(flatten)]
    pub kept: Kept,
}

/// `flowmine import slurm`.
#[derive(Debug, Args)]
#[command(after_help = "Reads: squeue -o text with a header and any separator, recordings of `flowmine observe --record`, squeue --json, \
    sacct --parsable2 with a header, sacct --json, and SLURMminer's files; packed with gzip or not, from files or pipes. Files of one queue are read in the order of their times; \
    a file that was imported before (same name, same content) is skipped.")]
pub struct ImportSlurm {
    /// Files, or directories of which all files are read.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The dataset; made when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub dataset: PathBuf,
    /// Readers of written files.
    #[command(flatten)]
    pub kept: Kept,
    /// Name of the cluster [default: the name in the files, else "cluster"].
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub cluster: Option<String>,
    /// Time of the recording, for files without it in their content or name
    /// (squeue-20261120T130405Z.txt) [default: the file's modification time, with a note].
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub observed_at: Option<i64>,
    /// Zone of times without one, as an offset east of UTC (+01:00) [default: UTC, with a note].
    #[arg(long, value_name = "OFFSET", value_parser = zone, allow_hyphen_values = true)]
    pub zone: Option<i64>,
    /// Separator of the fields of a text file [default: by the header].
    #[arg(long, value_name = "TEXT")]
    pub separator: Option<String>,
}

impl ImportSlurm {
    fn recorded(&self) -> Recorded {
        let options = SlurmOptions {
            cluster: self.cluster.clone(),
            observed_at_ns: self.observed_at,
            import: ReadOptions { zone_offset_s: self.zone, separator: self.separator.clone() },
        };
        Recorded::Slurm(self.files.clone(), options)
    }
}

fn zone(text: &str) -> Result<i64, String> {
    let bad = || format!("{text:?} is not an offset from UTC such as +01:00 or Z");
    if matches!(text, "Z" | "z" | "UTC") {
        return Ok(0);
    }
    let (sign, rest) = match text.split_at_checked(1) {
        Some(("+", rest)) => (1, rest),
        Some(("-", rest)) => (-1, rest),
        _ => return Err(bad()),
    };
    let digits: String = rest.split(':').collect();
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(bad());
    }
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.parse::<i64>().map_err(|_| bad())?, 0),
        4 => (digits[..2].parse::<i64>().map_err(|_| bad())?, digits[2..].parse::<i64>().map_err(|_| bad())?),
        _ => return Err(bad()),
    };
    if hours > 14 || minutes > 59 {
        return Err(bad());
    }
    Ok(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones() {
        assert_eq!(zone("+01:00"), Ok(3600));
        assert_eq!(zone("-0530"), Ok(-19_800));
        assert!(zone("CET").is_err() && zone("+25").is_err());
    }
}
