//! The log of a request, in columns: from a dataset, a log file, a table or standard input.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use flowmine_activity_log::{ActivityLog, Cases, Concatenation, JOB};
use flowmine_attribution::losses;
use flowmine_correlate::Entities;
use flowmine_dataset::Dataset;
use flowmine_discover::resources::STATE;
use flowmine_discover::who;
use flowmine_logs::columns::{self, JobColumns, ReadOptions, Unit};
use flowmine_logs::log_file::{Content, LogRules};
use flowmine_logs::run_graph::{self, NotionOfCase};
use flowmine_logs::steps::{STEP, Sources};
use flowmine_logs::tables::{self, TableOptions, TimeUnit};
use flowmine_logs::task_log::notions::{self, TaskNotion};
use flowmine_logs::task_log::{self, HeldUntil, Tasks};
use flowmine_privacy::RowRules;
use flowmine_schema::diagnostic::Diagnostics;

use crate::activities;
use crate::error::{Context, Error, Result, ensure, refuse};
use crate::groups::EventFilter;
use crate::inputs;
use crate::jobs;
use crate::log_memory::KeptLog;
use crate::log_parts::{self, LogPart};
use crate::models::Input;
use crate::part_of_log::{self, OF_FILES, OF_JOBS};
use crate::report::messages::Messages;
use crate::request::Request;
use crate::sink::{Message, Sink};
use crate::source::{self, Notion, Selection, Source};
use crate::steps;
use crate::task_waits;

/// A log and whether something of its source was lost.
pub struct Loaded {
    /// The log, with the events that pass the filter.
    pub log: ActivityLog,
    /// Whether the exit code must say that something is missing.
    pub is_lossy: bool,
    /// Which part of a log the file says it is.
    part: Option<LogPart>,
    /// The unit of times that are numbers, in a table that has such.
    time_unit: Option<TimeUnit>,
}

impl Loaded {
    /// The cases of the log.
    ///
    /// # Errors
    /// When it has none.
    pub fn cases(&self) -> Result<&Cases> {
        self.log.cases().context("the log has no cases")
    }
}

/// Attributes of instances that a model needs beyond those by which is filtered.
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    /// Of every log.
    pub of_all: Vec<String>,
    /// Of the jobs of a dataset.
    pub of_jobs: Vec<String>,
    /// Of the tasks of a dataset.
    pub of_tasks: Vec<String>,
    /// Of log files.
    pub of_files: Vec<String>,
}

impl Attributes {
    /// What identifies an instance in a line of evidence.
    pub fn of_evidence() -> Self {
        let of_tasks: Vec<String> = who::OF_TASKS.map(str::to_owned).to_vec();
        let of_files = std::iter::once(who::JOB_IN_FILES.to_owned()).chain(of_tasks.iter().cloned()).collect();
        Self { of_jobs: vec![JOB.to_owned()], of_tasks, of_files, ..Self::default() }
    }

    /// What names an instance in a list of resources, and to whom its core-hours belong.
    pub fn of_resources() -> Self {
        let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        Self {
            of_jobs: owned(&[JOB, "user", "account", "partition", STATE]),
            of_tasks: owned(&["task:name"]),
            of_files: owned(&["slurm:job", "org:resource", "slurm:account", "slurm:partition"]),
            ..Self::default()
        }
    }
}

/// A request while its log is read.
#[derive(Clone, Copy)]
struct Asked<'a> {
    request: &'a Request,
    attributes: &'a Attributes,
    sink: &'a dyn Sink,
}

/// Reads what was asked for, once, and takes the part that was asked for.
pub fn load(request: &Request, attributes: &Attributes, sink: &dyn Sink) -> Result<Loaded> {
    let asked = Asked { request, attributes, sink };
    let unit = asked.request.cases.events;
    let (mut loaded, names) = remembered(asked)?;
    if names == OF_FILES && asked.request.cases.activity.as_deref() == Some(STEP) {
        steps::rename(&mut loaded.log);
    }
    for sentence in loaded.log.left_out.sentences() {
        asked.sink.note(&sentence);
    }
    loaded.is_lossy |= loaded.log.left_out.is_loss();
    let mut filter = part_of_log::filter(&asked.request.part, &asked.request.filter, names)?;
    filter.case_names.extend(asked.request.run.as_deref().map(|run| case_of_run(asked, run)).transpose()?);
    let before = loaded.log.len();
    let mut words = part_of_log::words(&asked.request.part, &asked.request.filter);
    words.extend(asked.request.run.iter().map(|run| format!("run {run}")));
    let mut log = filter.apply(loaded.log)?;
    note_cut_cases(&log, asked.sink);
    log.words.filters.extend(words);
    if before > 0 && log.is_empty() {
        asked.sink.warning("nothing of the log passes the filters");
    } else if log.is_empty() && matches!(unit, Unit::Starts | Unit::Ends) {
        asked.sink.warning("the log is empty: no event has a lifecycle:transition of a start or an end, by which --events chooses");
    }
    if let Some(activity) = &asked.request.cases.activity {
        log.words.activity = activity.clone();
    }
    Ok(Loaded { log, is_lossy: loaded.is_lossy, part: None, time_unit: None })
}

/// Reads a log before the part of it is taken, or has a copy of the one that is kept.
fn remembered(asked: Asked<'_>) -> Result<(Loaded, [&'static str; 2])> {
    let Some(remembered) = &asked.request.remembered else { return read(asked) };
    let key = key(asked);
    if let Some(kept) = remembered.get(&key, asked.sink) {
        return Ok((Loaded { log: kept.log.clone(), is_lossy: kept.is_lossy, part: None, time_unit: None }, kept.names));
    }
    let messages = Messages::new(asked.sink);
    let (loaded, names) = read(Asked { sink: &messages, ..asked })?;
    if remembered.has_room(&loaded.log) {
        remembered.put(&key, KeptLog { log: loaded.log.clone(), is_lossy: loaded.is_lossy, names, messages: messages.all() });
    }
    Ok((loaded, names))
}

/// Everything on which a log depends before the part of it is taken.
fn key(asked: Asked<'_>) -> String {
    let Request { model, source, run, cases, filter, part, columns, .. } = asked.request;
    let EventFilter { account, user, .. } = filter;
    let keys = [OF_JOBS, OF_FILES].map(|names| part_of_log::keys(part, filter, names));
    let case = part.filter.case_names.first();
    let input = model.about().input;
    format!("{:?}", (source, run.is_some(), cases, (account, user), (keys, case, &part.qualifiers), columns, input, asked.attributes))
}

/// Reads what was asked for, whole.
fn read(asked: Asked<'_>) -> Result<(Loaded, [&'static str; 2])> {
    let options = ReadOptions { unit: asked.request.cases.events, ..ReadOptions::default() };
    Ok(match (&asked.request.source.dataset, &asked.request.source.logs[..]) {
        (None, [path]) => {
            let loaded = file(asked, path, options)?;
            whole(loaded.part.as_slice(), asked.sink)?;
            (loaded, OF_FILES)
        }
        (None, [_, _, ..]) => (files(asked, &options)?, OF_FILES),
        _ => dataset(asked, options)?,
    })
}

/// Notes the cases of which a time frame has only a part.
pub fn note_cut_cases(log: &ActivityLog, sink: &dyn Sink) {
    if let Some(sentence) = log.left_out.cut_sentence() {
        sink.note(&format!("{sentence}; --time-frame contained or intersecting keeps cases whole"));
    }
}

/// The id of the case that a run is, under the case notion of runs.
fn case_of_run(asked: Asked<'_>, run: &str) -> Result<String> {
    let Some(dir) = asked.request.source.only_dataset() else {
        refuse!("--run chooses a run of a workflow engine in a dataset; a case of a log file is chosen with --case")
    };
    let (rules, filter) = (RowRules::default(), flowmine_correlate::Filter::default());
    let name = run_graph::run_called(&Tasks::new(&Dataset::open(dir)?, &rules, &filter), run).with_context(|| dir.display().to_string())?;
    Ok(format!("{}:{name}", notions::Run.name()))
}

/// The attribute that says on which nodes a job ran.
pub const NODES: &str = "node_list";

/// The attributes by which is filtered, and those that a picture shows.
fn kept(asked: Asked<'_>, names: [&str; 2]) -> Vec<String> {
    let mut keys = part_of_log::keys(&asked.request.part, &asked.request.filter, names);
    keys.extend(asked.attributes.of_all.iter().cloned());
    keys.sort();
    keys.dedup();
    keys
}

/// The attributes of a log file that are kept where it has them.
fn kept_of_file(asked: Asked<'_>) -> Vec<String> {
    let mut keys = kept(asked, OF_FILES);
    keys.extend(asked.attributes.of_files.iter().cloned());
    keys.sort();
    keys.dedup();
    keys
}

fn keep_once(keep: &mut Vec<String>, key: &str) {
    if !keep.iter().any(|known| known == key) {
        keep.push(key.to_owned());
    }
}

/// The attributes that are the activity in a log file. A file has no steps, but names of which they
/// are made afterwards.
fn activity_of_file(asked: Asked<'_>) -> Vec<String> {
    let activity = asked.request.cases.activity.as_deref().filter(|activity| *activity != STEP);
    activity.map(activities::keys).unwrap_or_default()
}

fn dataset(asked: Asked<'_>, options: ReadOptions) -> Result<(Loaded, [&'static str; 2])> {
    let of_run = asked.request.run.is_some().then(|| notions::Run.name());
    let of_case = || asked.request.part.filter.case_names.first().and_then(|case| NotionOfCase::new(case)).map(NotionOfCase::name);
    let name = asked.request.cases.case_notion.as_deref().or(of_run).or_else(of_case);
    ensure!(of_run.is_none_or(|of_run| name == Some(of_run)), "a run is a case of the case notion {}", notions::Run.name());
    let dataset = match source::open(
        &asked.request.source,
        &asked.request.columns,
        asked.request.cases.timestamp,
        LogRules::default(),
        asked.sink,
    )? {
        Source::Jobs(dataset) => dataset,
        Source::Log(file) => {
            let mut options = ReadOptions {
                keep: kept_of_file(asked),
                required: part_of_log::keys(&asked.request.part, &asked.request.filter, OF_FILES),
                qualifiers: asked.request.part.qualifiers.clone(),
                activity: activity_of_file(asked),
                ..options
            };
            let lossy = source::has_losses(&file.findings);
            let (log, findings) = match file.content {
                Content::Traces(log) => {
                    name.map(source::traces_are_cases).transpose()?;
                    columns::walk_cases(&*log, options)?
                }
                Content::Objects(log) => {
                    options.case_type = case_type(asked, name.and_then(|name| name.strip_prefix("object:")), || types_of(&*log))?;
                    columns::walk_objects(&*log, options)?
                }
            };
            let lossy = source::findings("log", &findings, asked.sink) || lossy;
            return Ok((Loaded { log, is_lossy: lossy, part: None, time_unit: None }, OF_FILES));
        }
    };
    let mut options = ReadOptions {
        keep: kept(asked, OF_JOBS),
        activity: asked.request.cases.activity.as_deref().map(activities::keys).unwrap_or_default(),
        ..options
    };
    if steps::is_wanted(options.activity.iter().chain(&options.keep)) {
        options.steps = Some(steps::of_dataset(&dataset, Sources::default(), false, asked.sink)?);
    }
    let lost = losses::lost_operations(&dataset)?;
    let with_losses = |mut loaded: Loaded| {
        loaded.log.left_out.lost = lost;
        (loaded, OF_JOBS)
    };
    if asked.request.model.about().input == Input::Objects && name.is_none() {
        return Ok(with_losses(objects(asked, &dataset, &Notion::Objects(String::new()), options)?));
    }
    let log = match source::notion(name, &dataset)? {
        Notion::Jobs(notion) => {
            asked.attributes.of_jobs.iter().for_each(|key| keep_once(&mut options.keep, key));
            options.activity = asked.request.cases.activity.as_deref().map(activities::keys_of_jobs).unwrap_or_default();
            let filter = flowmine_correlate::Filter { from_ns: None, to_ns: None, ..jobs::filter(&asked.request.filter)? };
            let rules = RowRules::default();
            ensure!(
                columns::suffices(&options),
                "of jobs {:?} cannot be an activity or chosen by here; export the dataset as XES and give that with --log",
                options.activity.iter().chain(&options.keep).cloned().collect::<Vec<_>>().join(", ")
            );
            let traced = task_log::of_jobs(&dataset, &rules)?;
            let parts = jobs::parts(&dataset, asked.request.cases.timestamp, &rules, asked.sink)?;
            let stage = asked.sink.stage("making the log");
            let overview = jobs::overview(&dataset, &parts, &rules, &[notion], asked.sink)?;
            let (mut unknown, mut odd) = (jobs::Unknown::new(&filter), Diagnostics::default());
            let mut log = JobColumns::new(&dataset, notion, &filter, &traced, &options)?;
            let (mut done, total) = (0, parts.count());
            parts.for_each(|jobs| -> Result<()> {
                stage.at(done, total);
                done += 1;
                odd.extend(jobs.diagnostics.clone());
                unknown.look(jobs);
                Ok(log.add(&Entities { jobs, overview: &overview })?)
            })?;
            asked.sink.message(Message::Diagnostics("dataset", &odd));
            unknown.say(&asked.request.filter, asked.sink);
            log.finish(&dataset)?
        }
        Notion::Tasks(notion) => {
            asked.attributes.of_tasks.iter().for_each(|key| keep_once(&mut options.keep, key));
            let unknown = [&options.activity, &options.keep].into_iter().find_map(|keys| columns::unknown_attribute(keys));
            if let Some(key) = unknown.filter(|key| !OF_JOBS.contains(key)) {
                refuse!("tasks have no attribute {key:?}: docs/tables.md lists the columns of task_runs");
            }
            let filter = flowmine_correlate::Filter::default();
            let _stage = asked.sink.stage("reading the dataset");
            if task_log::is_uncorrelated(&dataset)? {
                asked.sink.warning("whose the traced operations are is not known yet: run `flowmine correlate` first");
            }
            if !asked.request.filter.account.is_empty() || !asked.request.filter.user.is_empty() {
                asked.sink.warning("tasks are of no account and no user that is known: --account and --user leave all of them out");
            }
            let rules = RowRules::default();
            // Other units of time have no queue.
            let held = if options.unit == Unit::Instances { task_waits::held_until(&dataset, &rules)? } else { HeldUntil::default() };
            columns::tasks(&Tasks::new(&dataset, &rules, &filter).with_held(&held), notion, &options)?
        }
        notion @ Notion::Objects(_) => return Ok(with_losses(objects(asked, &dataset, &notion, options)?)),
    };
    Ok(with_losses(Loaded { log, is_lossy: false, part: None, time_unit: None }))
}

/// The object-centric log of a dataset.
fn objects(asked: Asked<'_>, dataset: &Dataset, notion: &Notion, mut options: ReadOptions) -> Result<Loaded> {
    ensure!(options.steps.is_none(), "a step is of jobs or tasks, not of events of objects: give --case-notion with a notion of these");
    let rules = RowRules::default();
    let timestamp = asked.request.cases.timestamp;
    let whole = EventFilter { from: None, to: None, ..asked.request.filter.clone() };
    let wanted =
        Selection { objects: Some(source::usual_objects(notion)), notions: &[], part: None, filter: &whole, timestamp, rules: &rules };
    let log = source::job_logs(dataset, &wanted, asked.sink)?.objects.context("no object-centric log was made")?;
    let kind = asked.request.cases.case_notion.as_deref().and_then(|name| name.strip_prefix("object:"));
    options.case_type = kind.map(str::to_owned);
    if let Some(kind) = kind {
        check_type(kind, &types_of(&log))?;
    }
    let (log, findings) = columns::walk_objects(&log, options)?;
    let lossy = source::findings("log", &findings, asked.sink);
    Ok(Loaded { log, is_lossy: lossy, part: None, time_unit: None })
}

fn types_of(log: &dyn flowmine_eventlog::ObjectLog) -> Vec<String> {
    log.types().objects.iter().map(|def| def.name.clone()).collect()
}

fn check_type(kind: &str, known: &[String]) -> Result<()> {
    let list = || known.iter().map(|name| format!("object:{}", flowmine_schema::text::visible(name))).collect::<Vec<_>>().join(", ");
    ensure!(known.iter().any(|name| name == kind), "there are no objects of type {kind:?}; --case-notion can be one of: {}", list());
    Ok(())
}

/// The type of objects that are the cases, where the model needs one.
fn case_type(asked: Asked<'_>, kind: Option<&str>, known: impl Fn() -> Vec<String>) -> Result<Option<String>> {
    match kind {
        Some(kind) => {
            check_type(kind, &known())?;
            Ok(Some(kind.to_owned()))
        }
        None if asked.request.model.about().input == Input::Objects => Ok(None),
        None => {
            let list: Vec<String> = known().iter().map(|name| format!("object:{}", flowmine_schema::text::visible(name))).collect();
            refuse!("which objects are the cases of this object-centric log? Give --case-notion with one of: {}", list.join(", "))
        }
    }
}

fn file(asked: Asked<'_>, path: &Path, mut options: ReadOptions) -> Result<Loaded> {
    let spooled = if path == Path::new("-") { Some(spool()?) } else { None };
    let path: PathBuf = spooled.as_ref().map_or_else(|| path.to_owned(), |file| file.path().to_owned());
    inputs::note(&path);
    let shown = if spooled.is_some() { "standard input".to_owned() } else { path.display().to_string() };
    options.keep = kept_of_file(asked);
    options.required = part_of_log::keys(&asked.request.part, &asked.request.filter, OF_FILES);
    options.qualifiers = asked.request.part.qualifiers.clone();
    options.activity = activity_of_file(asked);
    ensure!(
        asked.request.cases.timestamp == flowmine_correlate::Timestamp::default(),
        "--timestamp chooses among the ends of the intervals in which jobs of a dataset changed; in a log of others an event has one time"
    );
    let _stage = asked.sink.stage("reading the log");
    let name = asked.request.cases.case_notion.as_deref();
    if spooled.is_some() || is_regular(&path) {
        let mut head = vec![0; 4096];
        let length = flowmine_files::open_plain(&path)
            .map_err(io::Error::from)
            .and_then(|mut file| file.read(&mut head))
            .with_context(|| shown.clone())?;
        if tables::is_table(spooled.is_none().then_some(path.as_path()), &head[..length]) {
            return table(asked, &path, &shown, &options);
        }
    }
    ensure!(!asked.request.columns.is_some(), "{shown}: --case-column and the like are for tables (CSV, Parquet), and this is none");
    let kind = name.and_then(|name| name.strip_prefix("object:"));
    if let [single] = &options.activity[..]
        && !single.contains(':')
        && let Some(keys) = columns::classifier(&path, single)?
    {
        options.activity = keys;
    }
    let read = columns::read_file(&path, ReadOptions { case_type: None, ..options });
    let (mut log, header, findings, format) = read.map_err(|error| source::in_file(Path::new(&shown), error))?;
    let lossy = source::findings(&shown, &findings, asked.sink);
    if format == flowmine_eventlog::read::Format::Xes {
        name.map(source::traces_are_cases).transpose()?;
    } else {
        let known = || log.groups.iter().map(|group| group.kind.clone()).collect::<Vec<_>>();
        if let (Some(name), None) = (name, kind) {
            check_type(name, &known())?;
        }
        if let Some(kind) = case_type(asked, kind, known)? {
            log.groups.retain(|group| group.kind == kind);
            log.words.notion = format!("objects of type {kind}");
        }
    }
    Ok(Loaded { log, is_lossy: lossy, part: LogPart::new(&header), time_unit: None })
}

/// Says when parts of a log are missing.
fn whole(parts: &[LogPart], sink: &dyn Sink) -> Result<()> {
    if let Some(missing) = log_parts::check(parts)? {
        sink.warning(&missing);
    }
    Ok(())
}

/// Several files as one log.
fn files(asked: Asked<'_>, options: &ReadOptions) -> Result<Loaded> {
    let mut all = Concatenation::default();
    let (mut lossy, mut parts) = (false, Vec::new());
    let (mut with_attempts, mut without) = (false, false);
    let mut first_unit: Option<(&PathBuf, TimeUnit)> = None;
    for path in &asked.request.source.logs {
        let Loaded { log, is_lossy: some_lost, part, time_unit } = file(asked, path, options.clone())?;
        if let (Some((first, known)), Some(unit)) = (&first_unit, time_unit) {
            ensure!(
                *known == unit,
                "the times of {} are {}, and those of {} {}, by the size of their numbers: name one unit with --timestamp-unit",
                first.display(),
                known.name(),
                path.display(),
                unit.name()
            );
        }
        first_unit = first_unit.or(time_unit.map(|unit| (path, unit)));
        lossy |= some_lost;
        parts.extend(part);
        with_attempts |= !log.instances.attempt.is_empty();
        without |= log.instances.attempt.is_empty() && !log.is_empty();
        all.push(log).with_context(|| path.display().to_string())?;
    }
    whole(&parts, asked.sink)?;
    if with_attempts && without {
        asked.sink.warning("some of the files do not number the attempts of instances: counts of attempts hold for the others");
    }
    if all.repeated_cases() > 0 {
        asked.sink.warning(&format!("{} cases have the name of a case in an earlier file; each counts for itself", all.repeated_cases()));
    }
    Ok(Loaded { log: all.finish(), is_lossy: lossy, part: None, time_unit: None })
}

fn is_regular(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|data| data.is_file())
}

/// Loads a table of instances or events (CSV, Parquet) as an activity log.
fn table(asked: Asked<'_>, path: &Path, shown: &str, options: &ReadOptions) -> Result<Loaded> {
    let typed = &asked.request.columns;
    // With no such column each row is an event by itself, also where one is named.
    let paired = |named: Option<String>| if options.unit == Unit::Events { Some(String::new()) } else { named };
    ensure!(
        matches!(options.unit, Unit::Instances | Unit::Events),
        "--events starts and ends choose by the lifecycle of events; of a table choose rows with --where COLUMN=VALUE"
    );
    let named = typed.options();
    let wanted = TableOptions {
        activity_column: named.activity_column.or_else(|| {
            // Of several names the first is that of our own tables.
            let keys: Vec<&str> = options.activity.iter().filter_map(|key| key.split(columns::OR).next()).collect();
            (!keys.is_empty()).then(|| keys.join("+"))
        }),
        start_column: paired(named.start_column),
        lifecycle_column: paired(named.lifecycle_column),
        // A table is refused where it lacks a column that is to be kept.
        keep: kept(asked, OF_FILES),
        ..named
    };
    let read = tables::read(path, &wanted).map_err(|error| match path.display().to_string() {
        name if name == shown => Error::from(error),
        name => Error::Refused(error.to_string().replace(&name, shown)),
    })?;
    for note in &read.notes {
        asked.sink.warning(note);
    }
    if let Some(inferred) = &read.inferred {
        asked.sink.note(&format!("{shown}: {inferred}"));
    }
    let mut log = read.log;
    let kind = asked.request.cases.case_notion.as_deref().and_then(|name| name.strip_prefix("object:"));
    if log.groups.iter().any(|group| !group.kind.is_empty()) {
        let known = || log.groups.iter().map(|group| group.kind.clone()).collect::<Vec<_>>();
        if let Some(kind) = case_type(asked, kind, known)? {
            log.groups.retain(|group| group.kind == kind);
            log.words.notion = format!("objects of type {kind}");
        }
    } else {
        ensure!(asked.request.cases.case_notion.is_none(), "a table with cases has no objects: leave --case-notion out");
    }
    if log.words.instance.is_empty() {
        log.words.instance = if log.has_intervals() { "instance" } else { "event" }.to_owned();
    }
    let lossy = read.bad_rows > 0 || log.left_out.without_case > 0;
    Ok(Loaded { log, is_lossy: lossy, part: None, time_unit: read.time_unit })
}

/// Standard input as a file: formats are found by their content, and some are read twice.
fn spool() -> Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new().context("a temporary file for standard input")?;
    let mut buffer = vec![0; 1 << 16];
    let mut input = std::io::stdin().lock();
    loop {
        match input.read(&mut buffer).context("standard input")? {
            0 => break,
            n => file.write_all(&buffer[..n]).context("a temporary file for standard input")?,
        }
    }
    file.flush()?;
    Ok(file)
}
