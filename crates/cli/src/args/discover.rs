//! Arguments of `flowmine discover`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use flowmine_discover::fold::Fold;

use super::shared::{FilterArgs, SourceArgs, TimestampArg, duration, time};

/// Models that can be discovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Model {
    /// Directly-follows graph: which activity follows which, how often, how long it waited, how
    /// many bytes went along.
    Dfg,
    /// The same for each type of objects of an object-centric log, in one graph.
    Ocdfg,
    /// The sequences of activities, with shares, times and bytes.
    Variants,
    /// A dot for each activity instance: cases over time.
    DottedChart,
    /// Each passage from activity to activity, drawn from its beginning to its end.
    PerformanceSpectrum,
    /// Instances of an activity that were done together.
    Batches,
    /// Where activities spend their time: queued, running; and what became of them.
    Lifecycle,
    /// Usual times between activities, and cases that deviate.
    TemporalProfile,
    /// A process tree by the Inductive Miner, with fitness, precision and generalisation.
    Tree,
    /// The same as a Petri net.
    Petri,
    /// The same as BPMN 2.0.
    Bpmn,
    /// Constraints that the cases keep, such as response(align, merge).
    Declare,
    /// What costs most time, in one ranked list with evidence and advice.
    Bottlenecks,
    /// Tables of activities and cases: times, failures, retries, memory and CPUs asked for and
    /// used.
    Summary,
    /// One run: who gives data to whom, with files, bytes and rates, and what the run waited for.
    /// Where nothing was traced, or of several runs: which tasks wait for which, by logical task,
    /// as workflow engines declare it.
    Dag,
    /// What a run waited for: its critical path and what it is made of, slack, and what would be
    /// gained if a part were faster.
    CriticalPath,
    /// What jobs waited for: by cause, user, account, partition, QOS, activity, run, hour and week,
    /// with core-hours, the longest examples and who occupied the CPUs meanwhile.
    Waits,
    /// Whether a run's tasks did what was declared: missing and needless dependencies, files that
    /// are not declared or that nobody read.
    Check,
    /// A run as a workflow that can be run again, for Makeflow, Snakemake or Slurm.
    Spec,
    /// What ran where and when, in lanes of hosts, and how much at once.
    Gantt,
    /// Two runs, datasets, logs or periods beside each other: what appeared, vanished, took longer,
    /// moved more bytes, and which differences chance explains.
    Compare,
    /// Which process forked which, with times and bytes; equal sub-trees are one.
    ProcessTree,
    /// How files are read and written: calls and their latencies, sizes, patterns, who uses which
    /// file, bytes over time, and what is noteworthy.
    Profile,
    /// How much of a task's time lies between its first and last access to a file, for each task
    /// and file.
    AccessShare,
    /// The reads and writes of one file (--file): offset over time, and by which task.
    Accesses,
}

/// How a model is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModelFormat {
    /// A picture.
    Svg,
    /// The same as pixels, for slides.
    Png,
    /// For Graphviz.
    Dot,
    /// Everything, for programs.
    Json,
    /// The numbers as a table.
    Csv,
    /// Graphs for yEd, Gephi, networkx.
    Graphml,
    /// Graphs for Gephi, networkx.
    Gml,
    /// Graphs for Cytoscape.
    Cytoscape,
    /// For a terminal: of bottlenecks, waits, summary, tree, declare, critical-path, check, compare,
    /// process-tree, dag, profile.
    Text,
    /// A trace for Perfetto's page or chrome://tracing: of gantt, process-tree, critical-path.
    Perfetto,
    /// Petri nets (ISO/IEC 15909-2), for ProM, PM4Py and others.
    Pnml,
    /// BPMN 2.0 with its diagram.
    Bpmn,
    /// Makeflow's workflows in JSON: of spec.
    Makeflow,
    /// Makeflow's own language, after make's: of spec.
    Make,
    /// A Snakefile: of spec.
    Snakemake,
    /// A script that submits jobs to Slurm: of spec.
    Slurm,
}

/// Of what the model is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum EventsArg {
    /// Activity instances: starts and ends are paired, with the time between them.
    #[default]
    Instances,
    /// Every event by itself, as PM4Py and process_mining take a log.
    All,
    /// Only events at which something begins to run.
    Starts,
    /// Only events at which something has ended.
    Ends,
}

/// Which statistic of times a picture shows; all of them stand in the other formats and in a
/// picture's tooltips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum StatisticArg {
    /// The median.
    #[default]
    Median,
    /// The arithmetic mean.
    Mean,
    /// The 95th percentile.
    P95,
    /// The longest.
    Max,
    /// The sum.
    Sum,
}

/// What the boxes and lines of a graph tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum ShowArg {
    /// How often, how long, how many bytes.
    #[default]
    All,
    /// How often.
    Frequency,
    /// How long.
    Time,
    /// How many bytes.
    Bytes,
}

/// When parts of a structure are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FoldArg {
    /// Never.
    Never,
    /// When they have the same name and the same around them (processes: what they forked), equally
    /// often.
    Equal,
    /// When they have the same name and the same around them, however often.
    Alike,
    /// When they have the same name.
    Name,
}

impl FoldArg {
    /// The option as the type that models use.
    pub fn fold(self) -> Fold {
        match self {
            Self::Never => Fold::Never,
            Self::Equal => Fold::Equal,
            Self::Alike => Fold::Alike,
            Self::Name => Fold::Name,
        }
    }
}

/// The order of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum SortArg {
    /// By their first moment.
    #[default]
    Start,
    /// By how long they took.
    Duration,
    /// By name.
    Name,
}

/// What tasks, processes and jobs are put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByArg {
    /// What they are instances of.
    Activity,
    /// Their program: of profile.
    Program,
    /// Each process by itself, instead of tasks and jobs: of dag.
    Process,
    /// Each task (or job, where there are no tasks).
    Task,
    /// The job in which they ran.
    Job,
    /// The host on which they ran.
    Host,
}

/// What files are put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FilesArg {
    /// Each version of a file by itself.
    Each,
    /// The directory in which they lie.
    Directory,
    /// No files: lines lead from task to task.
    None,
}

/// Of which things a table has rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum TableArg {
    /// Activities, or pairs of them.
    #[default]
    Activities,
    /// Cases, or deviations in them.
    Cases,
    /// Lines of a graph: of dag, which has nodes else.
    Edges,
    /// Operations by kind: of profile, as all below.
    Operations,
    /// Bytes, and files and processes by what was done, of each group.
    Groups,
    /// Cumulative distributions of sizes, latencies, life times.
    Distributions,
    /// Files.
    Files,
    /// Processes.
    Processes,
    /// Which group used which file.
    Uses,
    /// Bytes of each group over time.
    OverTime,
    /// Bytes over time, by place in the file.
    OverOffset,
    /// What is noteworthy.
    Advice,
}

/// `flowmine discover`.
#[derive(Debug, Args, Clone)]
#[command(
    after_help = "An activity instance is one execution of an activity: an attempt at a task or job with its submission, start and end, or the \
    events of a log file that lifecycle:transition joins. docs/models.md says how each model is defined, docs/pictures.md what the marks in a \
    picture mean."
)]
pub struct Discover {
    /// What to look at.
    #[command(flatten)]
    pub source: SourceArgs,
    /// The model.
    #[arg(long, value_enum, default_value = "dfg")]
    pub model: Model,
    /// The format. When not given that of the output file's extension, else a picture, text for
    /// models that are lists, pnml and bpmn for those models.
    #[arg(long, value_enum)]
    pub format: Option<ModelFormat>,
    /// A run of a workflow engine: its name, its id, or both as they are listed when there are
    /// several. dag, critical-path, check and spec are made of one run; of others it chooses the
    /// tasks.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// How nodes become one, for process-tree and dag. When not given the strictest that leaves few
    /// enough to look at.
    #[arg(long, value_enum)]
    pub fold: Option<FoldArg>,
    /// What tasks and processes are put together by, for dag and profile. When not given: in dag
    /// each task, folded; in profile the activity.
    #[arg(long, value_enum)]
    pub by: Option<ByArg>,
    /// What files are put together by, for dag. When not given: each by itself, folded; in pictures
    /// and text without files where there is no room for them.
    #[arg(long, value_enum)]
    pub files: Option<FilesArg>,
    /// With files of the system (in /usr, /lib, /etc and the like) that nobody of the run wrote,
    /// for dag.
    #[arg(long)]
    pub system_files: bool,
    /// Only processes with this number and what they forked, for process-tree (which also has what
    /// they descend from), dag and profile; may be given more than once.
    #[arg(long, value_name = "PID")]
    pub pid: Vec<i32>,
    /// Only this job, or its processes, likewise; may be given more than once.
    #[arg(long, value_name = "JOB")]
    pub job: Vec<String>,
    /// The attribute that has a lane of its own in a Gantt chart. When not given: of tasks the
    /// host, of jobs the nodes, of logs of others the resource.
    #[arg(long, value_name = "KEY")]
    pub lanes: Option<String>,
    /// By what each part of a run is divided to say what would be gained, for critical-path.
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0)]
    pub faster: f64,
    /// The file of --model accesses: its path as task_io.path has it, or an id from the list that
    /// is shown when several files had that path. Of --model profile: only operations on files with
    /// this path, in which * stands for any text.
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// What a case is: dependency (when not given), account-group, data-flow (jobs of which one
    /// read what another wrote, as traced; needs `flowmine correlate`), task-run (the tasks of a
    /// workflow engine's run; when not given and there are no jobs), task-session (of a run and of
    /// those that resume it), task-tag (with one tag, in nf-core's pipelines of one sample), or
    /// object:TYPE for the objects of a type. The cases of an XES file are its traces when not
    /// given.
    #[arg(long, value_name = "NAME")]
    pub case_notion: Option<String>,
    /// Types of objects of --model ocdfg, separated by commas; all when not given.
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    pub object_types: Vec<String>,
    /// Of what the model is made.
    #[arg(long, value_enum, default_value_t)]
    pub events: EventsArg,
    /// What an activity is: an attribute of events, several joined by plus signs
    /// (concept:name+lifecycle:transition), or a classifier that the log declares. For jobs also
    /// `command` (when not given) and `command-state`.
    #[arg(long, value_name = "KEY[+KEY]")]
    pub activity: Option<String>,
    /// How rare an edge must be beside the most frequent one out of the same activity to be noise,
    /// 0 to 1, for tree, petri and bpmn. 0 keeps every trace possible.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub noise: f64,
    /// The activities of --model performance-spectrum, in their order; those of the most frequent
    /// variant when not given.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub segments: Vec<String>,
    /// So many standard deviations from the mean are still usual, for temporal-profile.
    #[arg(long, value_name = "N", default_value_t = 6.0)]
    pub zeta: f64,
    /// The order of cases, for dotted-chart and summary.
    #[arg(long, value_enum, default_value_t)]
    pub sort: SortArg,
    /// Draw each case from its own beginning, for dotted-chart.
    #[arg(long)]
    pub relative: bool,
    /// Two instances are of one batch if the second starts no later than this after the first ended
    /// (900s, 15m), for batches.
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = duration)]
    pub batch_gap: std::time::Duration,
    /// Which table goes into CSV: of summary and temporal-profile activities or cases, pairs or
    /// deviations; of dag nodes (when not given) or edges; of profile operations (when not given)
    /// or one of those that are named so.
    #[arg(long, value_enum, default_value_t)]
    pub table: TableArg,
    /// Which moment of an observed interval is an event's time.
    #[arg(long, value_enum, default_value_t)]
    pub timestamp: TimestampArg,
    /// Where to; standard output when not given.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What is shown.
    #[command(flatten)]
    pub picture: PictureArgs,
    /// With what --model compare compares.
    #[command(flatten)]
    pub other: OtherArgs,
    /// Columns of tables.
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Which events.
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Which part of the log.
    #[command(flatten)]
    pub part: PartArgs,
}

impl Discover {
    /// Whether anything but times, accounts and users chooses a part of what is looked at.
    pub fn chooses_a_part(&self) -> bool {
        let part = &self.part;
        let names = [&part.only_activity, &part.without_activity];
        names.iter().any(|list| !list.is_empty())
            || ![&part.instances_where, &part.cases_where].iter().all(|list| list.is_empty())
            || !part.path.is_empty()
            || !part.case.is_empty()
            || part.top_variants.is_some()
            || part.variant_coverage.is_some()
            || self.case_notion.is_some()
            || self.activity.is_some()
    }
}

/// What pictures of graphs show.
#[derive(Debug, Args, Clone)]
#[command(next_help_heading = "Pictures")]
pub struct PictureArgs {
    /// Which statistic of times stands on boxes and lines.
    #[arg(long, value_enum, default_value_t)]
    pub time: StatisticArg,
    /// What boxes and lines tell.
    #[arg(long, value_enum, default_value_t)]
    pub show: ShowArg,
    /// How many pixels of a PNG are one of the SVG.
    #[arg(long, value_name = "N", default_value_t = 2.0)]
    pub scale: f32,
    /// Show the most frequent lines until they stand for this percentage of all steps. When not
    /// given: all lines of a small graph; of a larger one 80, and about fifty lines at most.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub coverage: Option<f64>,
    /// Leave out activities and lines that occur less often.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_count: u64,
    /// Show at most so many activities, the most frequent ones.
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub most_activities: usize,
}

/// The second of the two that are compared. What is not given is that of the first.
#[derive(Debug, Args, Clone, Default, PartialEq, Eq)]
#[command(next_help_heading = "The second side of --model compare")]
pub struct OtherArgs {
    /// The dataset (a directory) or the log file.
    #[arg(long, value_name = "DIR|FILE")]
    pub with: Option<PathBuf>,
    /// The run.
    #[arg(long, value_name = "RUN")]
    pub with_run: Option<String>,
    /// The case.
    #[arg(long, value_name = "NAME")]
    pub with_case: Option<String>,
    /// Only what happened at or after this time, as --from.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub with_from: Option<i64>,
    /// Only what happened before this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub with_to: Option<i64>,
}

/// Which columns of a table (CSV, Parquet) are what. Without these the names of PM4Py, bupaR and
/// flowmine are looked for.
#[derive(Debug, Args, Clone, Default, PartialEq, Eq)]
#[command(next_help_heading = "Columns of tables")]
pub struct ColumnArgs {
    /// The case.
    #[arg(long, value_name = "NAME")]
    pub case_column: Option<String>,
    /// The activity; several are joined by plus signs.
    #[arg(long, value_name = "NAME")]
    pub activity_column: Vec<String>,
    /// When it happened or, beside a start, when it ended.
    #[arg(long, value_name = "NAME")]
    pub timestamp_column: Option<String>,
    /// When it started.
    #[arg(long, value_name = "NAME")]
    pub start_column: Option<String>,
    /// Unit of times that are numbers since 1970; by default inferred from the largest number.
    #[arg(long, value_enum, value_name = "UNIT")]
    pub timestamp_unit: Option<TimeUnitArg>,
    /// The transition of the lifecycle.
    #[arg(long, value_name = "NAME")]
    pub lifecycle_column: Option<String>,
    /// The activity instance that rows belong to.
    #[arg(long, value_name = "NAME")]
    pub instance_column: Option<String>,
    /// Who or what did it.
    #[arg(long, value_name = "NAME")]
    pub resource_column: Option<String>,
    /// Bytes read.
    #[arg(long, value_name = "NAME")]
    pub read_bytes_column: Option<String>,
    /// Bytes written.
    #[arg(long, value_name = "NAME")]
    pub written_bytes_column: Option<String>,
}

/// `--timestamp-unit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimeUnitArg {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl ColumnArgs {
    /// Whether a column is named.
    pub fn is_some(&self) -> bool {
        *self != Self::default()
    }
}

/// Which part of a log a model is made of.
#[derive(Debug, Args, Clone, Default)]
#[command(next_help_heading = "Filters by activity, path, variant, attribute")]
pub struct PartArgs {
    /// Only this activity; may be given more than once, and * stands for any text.
    #[arg(long, value_name = "NAME")]
    pub only_activity: Vec<String>,
    /// Not this activity.
    #[arg(long, value_name = "NAME")]
    pub without_activity: Vec<String>,
    /// Only the case with this name; may be given more than once.
    #[arg(long, value_name = "NAME")]
    pub case: Vec<String>,
    /// Only cases in which the second activity comes right after the first: `align=>merge`; may be
    /// given more than once.
    #[arg(long, value_name = "A=>B", value_parser = path)]
    pub path: Vec<(String, String)>,
    /// Only cases of the N most frequent variants.
    #[arg(long, value_name = "N")]
    pub top_variants: Option<usize>,
    /// Only cases of the most frequent variants that together cover this percentage of cases.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub variant_coverage: Option<f64>,
    /// Only events, tasks or jobs with this value of an attribute; of several values of one
    /// attribute any.
    #[arg(long = "where", value_name = "KEY=VALUE", value_parser = key_value)]
    pub instances_where: Vec<(String, String)>,
    /// Only cases that have this value of an attribute, or an event that has it. Attributes of
    /// traces have `case:` before their key.
    #[arg(long = "cases-where", value_name = "KEY=VALUE", value_parser = key_value)]
    pub cases_where: Vec<(String, String)>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 = text.trim_end_matches('%').trim().parse().map_err(|_| format!("{text:?} is not a percentage such as 80"))?;
    if (0.0..=100.0).contains(&number) { Ok(number / 100.0) } else { Err(format!("{text:?} is not between 0 and 100")) }
}

fn path(text: &str) -> Result<(String, String), String> {
    let (first, second) = text.split_once("=>").ok_or_else(|| format!("{text:?} is not a path such as align=>merge"))?;
    Ok((first.trim().to_owned(), second.trim().to_owned()))
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("{text:?} is not an attribute and its value such as user=ann"))?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!((percent("80"), percent("2.5%")), (Ok(0.8), Ok(0.025)));
        assert!(percent("101").is_err() && percent("all").is_err());
        assert_eq!(path("a b=>c"), Ok(("a b".to_owned(), "c".to_owned())));
        assert_eq!(key_value("user=a=b"), Ok(("user".to_owned(), "a=b".to_owned())));
        assert!(path("a->b").is_err() && key_value("user").is_err());
    }
}
