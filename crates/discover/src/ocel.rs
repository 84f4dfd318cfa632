//! OCEL 2.0 as JSON: jobs in, an object-centric event log out.
//!
//! Objects, with ids that begin with their type so that two types cannot collide:
//!
//! | type | id | is |
//! |---|---|---|
//! | `job` | `job:<cluster>:<job>@<submit time in seconds>` | one job attempt |
//! | `array` | `array:<cluster>:<array id>`, `#2` for a later use of the id | a job array |
//! | `user`, `group` | `user:<name>`, `group:<name>` | as the system's user database has them, for all clusters |
//! | `account`, `partition`, `node` | `account:<cluster>:<name>` | of one cluster |
//!
//! An event's type is `job ` and its state in lower case (`job running`), `job left queue` for `LEFT`. Events lead to objects as
//! `job`, `member of array`, `submitted by`, `of group`, `charged to`, `in partition` and `ran on`; jobs to objects as `attempt of` (its first
//! attempt), `member of array`, `component of` (the first component of a heterogeneous job) and `depends on (afterok)`, … as declared.
//!
//! State, reason and node list of a job change: they carry the time of each change. What does not change carries
//! 1970-01-01T00:00:00Z, as the standard has it. Numbers are JSON numbers (the published JSON schema wants strings there; the tools that read
//! OCEL do not).
//!
//! The log is written as it is walked through: types, objects, events. Memory holds the names of nodes and, for each host list, its
//! nodes. A host list with more than [`MAX_NODES`] nodes, or one that is none, stays one object of type `node`; a dependency on a job that is not in the
//! log has no object to lead to: both are counted in the diagnostics that [`write()`] returns.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

use flowmine_correlate::cases::escape;
use flowmine_correlate::dependencies::Target;
use flowmine_correlate::state::LEFT;
use flowmine_correlate::{Attempt, Event, Filter, Jobs, Maybe, Submission, Sym};
use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text::visible;
use flowmine_schema::time::rfc3339;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::hostlist;

/// How many nodes one host list may name.
pub const MAX_NODES: usize = 100_000;

/// Why a log could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OcelError {
    /// From where it is written to.
    #[error("writing OCEL: {0}")]
    Io(#[from] io::Error),
    /// A value could not be made JSON, which for these values means that it could not be written.
    #[error("writing OCEL: {0}")]
    Json(#[from] serde_json::Error),
}

/// What was written.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// Number of events.
    pub events: usize,
    /// Number of objects.
    pub objects: usize,
    /// Relations from events to objects.
    pub event_relations: usize,
    /// Relations between objects.
    pub object_relations: usize,
    /// What had to be left out.
    pub diagnostics: Diagnostics,
}

#[derive(Serialize)]
struct TypeDef<'a> {
    name: &'a str,
    attributes: Vec<AttributeDef>,
}

#[derive(Serialize)]
struct AttributeDef {
    name: &'static str,
    r#type: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Text(Cow<'a, str>),
    Integer(i64),
}

#[derive(Serialize)]
struct ObjectAttribute<'a> {
    name: &'static str,
    value: Value<'a>,
    time: Cow<'static, str>,
}

#[derive(Serialize)]
struct EventAttribute<'a> {
    name: &'static str,
    value: Value<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Relation {
    object_id: String,
    qualifier: Cow<'static, str>,
}

#[derive(Serialize)]
struct OcelObject<'a> {
    id: String,
    r#type: &'static str,
    attributes: Vec<ObjectAttribute<'a>>,
    relationships: Vec<Relation>,
}

#[derive(Serialize)]
struct OcelEvent<'a> {
    id: String,
    r#type: String,
    time: String,
    attributes: Vec<EventAttribute<'a>>,
    relationships: Vec<Relation>,
}

/// An attribute's name and where it comes from.
type Pick<From, To> = (&'static str, fn(&From) -> To);

const JOB_TEXTS: [Pick<Attempt, Option<Sym>>; 9] = [
    ("cluster", |a| Some(a.cluster)),
    ("job", |a| Some(a.job)),
    ("name", |a| a.name),
    ("activity", |a| Some(a.activity)),
    ("command", |a| a.command),
    ("arguments", |a| a.arguments),
    ("work_dir", |a| a.work_dir),
    ("qos", |a| a.qos),
    ("comment", |a| a.comment),
];

const JOB_NUMBERS: [Pick<Attempt, Maybe>; 13] = [
    ("job_id", |a| Maybe::known(a.job_id)),
    ("attempt", |a| Maybe::known(i64::from(a.number))),
    ("array_task_id", |a| a.array_task_id),
    ("het_offset", |a| a.het_offset),
    ("nodes", |a| a.nodes),
    ("cpus", |a| a.cpus),
    ("memory_bytes", |a| a.memory_bytes),
    ("time_limit_s", |a| a.time_limit_s),
    ("exit_code", |a| a.exit_code),
    ("exit_signal", |a| a.exit_signal),
    ("cancelled_by_uid", |a| a.cancelled_by_uid),
    ("read_bytes", |a| a.read_bytes),
    ("written_bytes", |a| a.written_bytes),
];

const JOB_TIMES: [Pick<Attempt, Maybe>; 3] = [("submit", |a| a.submit_ns), ("start", |a| a.start_ns), ("end", |a| a.end_ns)];

const JOB_CHANGING: [Pick<Event, Option<Sym>>; 3] =
    [("state", |e| Some(e.state)), ("reason", |e| e.reason), ("node_list", |e| e.node_list)];

const EVENT_TEXTS: [&str; 4] = ["activity", "lifecycle", "reason", "source"];
const EVENT_TIMES: [Pick<Event, Maybe>; 3] =
    [("not_before", |e| e.not_before_ns), ("observed_at", |e| Maybe::known(e.observed_at_ns)), ("reported", |e| e.reported_ns)];

/// The time that the standard gives to attributes that do not change.
const ALWAYS: Cow<'static, str> = Cow::Borrowed("1970-01-01T00:00:00Z");

/// Writes the jobs that pass the filter. The caller buffers `out` and flushes it.
///
/// # Errors
/// When `out` does not take it.
pub fn write(jobs: &Jobs, filter: &Filter, mut out: impl Write) -> Result<Written, OcelError> {
    let filter = filter.resolve(jobs);
    let attempts: Vec<(u32, &Attempt)> =
        (0u32..).zip(&jobs.attempts).filter(|(_, attempt)| filter.events(attempt).next().is_some()).collect();
    let mut log = Log { jobs, inside: attempts.iter().map(|a| a.0).collect(), nodes: FxHashMap::default(), written: Written::default() };
    let mut states: BTreeSet<String> = BTreeSet::new();
    let mut state_seen: FxHashSet<Sym> = FxHashSet::default();
    for (_, attempt) in &attempts {
        for event in filter.events(attempt) {
            let event = &jobs.events[event as usize];
            if state_seen.insert(event.state) {
                states.insert(event_type(jobs.text(event.state)));
            }
            log.expand(event.node_list);
        }
    }

    write!(out, "{{\n\"eventTypes\": [")?;
    let mut list = List::default();
    for name in &states {
        list.item(&mut out, &TypeDef { name, attributes: event_attributes() })?;
    }
    write!(out, "\n],\n\"objectTypes\": [")?;
    let mut list = List::default();
    for (name, attributes) in object_types() {
        list.item(&mut out, &TypeDef { name, attributes })?;
    }
    write!(out, "\n],\n\"objects\": [")?;
    log.objects(&attempts, &filter, &mut out)?;
    write!(out, "\n],\n\"events\": [")?;
    log.events(&attempts, &filter, &mut out)?;
    write!(out, "\n]\n}}\n")?;
    Ok(log.written)
}

#[derive(Default)]
struct List {
    started: bool,
}

impl List {
    fn item(&mut self, out: &mut impl Write, item: &impl Serialize) -> Result<(), OcelError> {
        out.write_all(if self.started { b",\n" } else { b"\n" })?;
        self.started = true;
        Ok(serde_json::to_writer(out, item)?)
    }
}

fn event_type(state: &str) -> String {
    if state == LEFT { "job left queue".to_owned() } else { format!("job {}", state.to_lowercase()) }
}

fn event_attributes() -> Vec<AttributeDef> {
    let texts = EVENT_TEXTS.iter().map(|name| AttributeDef { name, r#type: "string" });
    let times = EVENT_TIMES.iter().map(|(name, _)| AttributeDef { name, r#type: "time" });
    texts.chain(times).collect()
}

fn object_types() -> Vec<(&'static str, Vec<AttributeDef>)> {
    let text = |name| AttributeDef { name, r#type: "string" };
    let job = (JOB_TEXTS.iter().map(|a| text(a.0)))
        .chain(JOB_NUMBERS.iter().map(|a| AttributeDef { name: a.0, r#type: "integer" }))
        .chain(JOB_TIMES.iter().map(|a| AttributeDef { name: a.0, r#type: "time" }))
        .chain(JOB_CHANGING.iter().map(|a| text(a.0)))
        .collect();
    let array = vec![text("cluster"), AttributeDef { name: "array_job_id", r#type: "integer" }];
    let on_cluster = || vec![text("cluster"), text("name")];
    vec![
        ("job", job),
        ("array", array),
        ("user", vec![text("name")]),
        ("group", vec![text("name")]),
        ("account", on_cluster()),
        ("partition", on_cluster()),
        ("node", on_cluster()),
    ]
}

struct Log<'j> {
    jobs: &'j Jobs,
    inside: FxHashSet<u32>,
    nodes: FxHashMap<Sym, Vec<String>>,
    written: Written,
}

impl<'j> Log<'j> {
    fn expand(&mut self, list: Option<Sym>) {
        let Some(list) = list else { return };
        if self.nodes.contains_key(&list) {
            return;
        }
        let text = self.jobs.text(list);
        let names = hostlist::expand(text, MAX_NODES).map(|mut names| {
            names.sort_unstable();
            names.dedup();
            names
        });
        let names = names.unwrap_or_else(|error| {
            let start: String = text.chars().take(80).collect();
            let message = format!("{error}: {:?} is one object of type node", visible(&start));
            self.written.diagnostics.push(Diagnostic::warning("ocel_host_list", message));
            vec![text.to_owned()]
        });
        self.nodes.insert(list, names);
    }

    fn on_cluster(&self, kind: &str, cluster: Sym, name: &str) -> String {
        let mut id = format!("{kind}:");
        escape(self.jobs.text(cluster), &mut id);
        id.push(':');
        id.push_str(name);
        id
    }

    fn array_id(&self, submission: &Submission) -> String {
        let again = if submission.generation > 1 { format!("#{}", submission.generation) } else { String::new() };
        self.on_cluster("array", submission.cluster, &format!("{}{again}", submission.id))
    }

    fn job_id(&self, attempt: u32) -> String {
        format!("job:{}", self.jobs.attempt_id(&self.jobs.attempts[attempt as usize]))
    }

    fn partitions(&self, attempt: &Attempt) -> impl Iterator<Item = &'j str> + use<'j> {
        let mut names: Vec<&str> =
            self.jobs.text_of(attempt.partition).into_iter().flat_map(|p| p.split(',')).filter(|p| !p.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }

    fn objects(
        &mut self,
        attempts: &[(u32, &'j Attempt)],
        filter: &flowmine_correlate::log::ResolvedFilter<'j>,
        out: &mut impl Write,
    ) -> Result<(), OcelError> {
        let jobs = self.jobs;
        let mut list = List::default();
        let mut arrays: BTreeSet<u32> = BTreeSet::new();
        let (mut users, mut groups) = (BTreeSet::new(), BTreeSet::new());
        let (mut accounts, mut partitions, mut node_lists) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let depends = self.depends();
        let first_attempts = self.first_attempts();
        for &(at, attempt) in attempts {
            users.extend(attempt.user);
            groups.extend(attempt.group);
            accounts.extend(attempt.account.map(|name| (attempt.cluster, name)));
            partitions.extend(self.partitions(attempt).map(|name| (attempt.cluster, name)));
            let mut attributes = Vec::new();
            for (name, pick) in JOB_TEXTS {
                if let Some(text) = jobs.text_of(pick(attempt)) {
                    attributes.push(ObjectAttribute { name, value: Value::Text(text.into()), time: ALWAYS });
                }
            }
            for (name, pick) in JOB_NUMBERS {
                if let Some(number) = pick(attempt).get() {
                    attributes.push(ObjectAttribute { name, value: Value::Integer(number), time: ALWAYS });
                }
            }
            for (name, pick) in JOB_TIMES {
                if let Some(time) = pick(attempt).get() {
                    attributes.push(ObjectAttribute { name, value: Value::Text(rfc3339(time).into()), time: ALWAYS });
                }
            }
            for (name, pick) in JOB_CHANGING {
                let mut before = None;
                for event in filter.events(attempt) {
                    let event = &jobs.events[event as usize];
                    if let Some(now) = pick(event)
                        && before != Some(now)
                    {
                        before = Some(now);
                        let time = rfc3339(event.time_ns).into();
                        attributes.push(ObjectAttribute { name, value: Value::Text(jobs.text(now).into()), time });
                    }
                }
            }
            node_lists
                .extend(filter.events(attempt).filter_map(|e| jobs.events[e as usize].node_list).map(|nodes| (attempt.cluster, nodes)));
            let mut relationships = Vec::new();
            let mut relate = |object_id: String, qualifier: Cow<'static, str>| relationships.push(Relation { object_id, qualifier });
            if let Some(&first) = first_attempts.get(&(attempt.submission, attempt.job)).filter(|&&first| first != at)
                && self.inside.contains(&first)
            {
                relate(self.job_id(first), "attempt of".into());
            }
            if self.is_of_array(attempt) {
                arrays.insert(attempt.submission);
                relate(self.array_id(&jobs.submissions[attempt.submission as usize]), "member of array".into());
            }
            let component = jobs.submissions[attempt.submission as usize].first_attempt;
            if attempt.het_job_id.is_known()
                && component != at
                && self.inside.contains(&component)
                && jobs.attempts[component as usize].job != attempt.job
            {
                relate(self.job_id(component), "component of".into());
            }
            for &edge in depends.get(&at).map_or(&[][..], Vec::as_slice) {
                let edge = &jobs.dependencies.edges[edge as usize];
                let kind = jobs.text(jobs.dependencies.terms[edge.term as usize].kind);
                match self.target(edge.to) {
                    Some(target) => relate(target, format!("depends on ({kind})").into()),
                    None => {
                        let message = format!("job {} depends on a job that is not in the log", jobs.text(attempt.job));
                        self.written.diagnostics.push(Diagnostic::warning("ocel_target_not_in_log", message));
                    }
                }
            }
            self.written.object_relations += relationships.len();
            self.written.objects += 1;
            list.item(out, &OcelObject { id: self.job_id(at), r#type: "job", attributes, relationships })?;
        }
        let fixed = |name, value: &'j str| ObjectAttribute { name, value: Value::Text(value.into()), time: ALWAYS };
        let mut more: Vec<(String, &'static str, Vec<ObjectAttribute<'j>>)> = Vec::new();
        for array in arrays {
            let submission = &jobs.submissions[array as usize];
            let id = ObjectAttribute { name: "array_job_id", value: Value::Integer(submission.id), time: ALWAYS };
            more.push((self.array_id(submission), "array", vec![fixed("cluster", jobs.text(submission.cluster)), id]));
        }
        more.extend(users.iter().map(|&u| (format!("user:{}", jobs.text(u)), "user", vec![fixed("name", jobs.text(u))])));
        more.extend(groups.iter().map(|&g| (format!("group:{}", jobs.text(g)), "group", vec![fixed("name", jobs.text(g))])));
        let accounts = accounts.iter().map(|&(cluster, name)| (cluster, "account", jobs.text(name)));
        let partitions = partitions.iter().map(|&(cluster, name)| (cluster, "partition", name));
        for (cluster, kind, name) in accounts.chain(partitions) {
            more.push((self.on_cluster(kind, cluster, name), kind, vec![fixed("cluster", jobs.text(cluster)), fixed("name", name)]));
        }
        for (id, r#type, attributes) in more {
            self.written.objects += 1;
            list.item(out, &OcelObject { id, r#type, attributes, relationships: Vec::new() })?;
        }
        let nodes: BTreeSet<(Sym, &str)> = node_lists
            .iter()
            .flat_map(|(cluster, nodes)| self.nodes.get(nodes).into_iter().flatten().map(|name| (*cluster, name.as_str())))
            .collect();
        for &(cluster, name) in &nodes {
            let text = |name: &'static str, value| ObjectAttribute { name, value: Value::Text(Cow::Borrowed(value)), time: ALWAYS };
            let attributes = vec![text("cluster", jobs.text(cluster)), text("name", name)];
            list.item(
                out,
                &OcelObject { id: self.on_cluster("node", cluster, name), r#type: "node", attributes, relationships: Vec::new() },
            )?;
        }
        self.written.objects += nodes.len();
        Ok(())
    }

    fn is_of_array(&self, attempt: &Attempt) -> bool {
        attempt.array_job_id.is_known() || self.jobs.text(attempt.job).contains('_')
    }

    /// The edges of each attempt, in order.
    fn depends(&self) -> FxHashMap<u32, Vec<u32>> {
        let mut edges: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (at, edge) in (0u32..).zip(&self.jobs.dependencies.edges) {
            edges.entry(self.jobs.dependencies.terms[edge.term as usize].attempt).or_default().push(at);
        }
        edges
    }

    fn first_attempts(&self) -> FxHashMap<(u32, Sym), u32> {
        let mut first = FxHashMap::default();
        for (at, attempt) in (0u32..).zip(&self.jobs.attempts) {
            first.entry((attempt.submission, attempt.job)).or_insert(at);
        }
        first
    }

    fn target(&self, target: Target) -> Option<String> {
        match target {
            Target::Unseen(_) => None,
            Target::Seen(_, Some(attempt)) => self.inside.contains(&attempt).then(|| self.job_id(attempt)),
            Target::Seen(submission, None) => {
                let submission = &self.jobs.submissions[submission as usize];
                let first = submission.first_attempt;
                if !self.inside.contains(&first) {
                    return None;
                }
                let array = self.is_of_array(&self.jobs.attempts[first as usize]);
                Some(if array { self.array_id(submission) } else { self.job_id(first) })
            }
        }
    }

    fn events(
        &mut self,
        attempts: &[(u32, &'j Attempt)],
        filter: &flowmine_correlate::log::ResolvedFilter<'j>,
        out: &mut impl Write,
    ) -> Result<(), OcelError> {
        let jobs = self.jobs;
        let mut order: Vec<u32> = attempts.iter().flat_map(|(_, attempt)| filter.events(attempt)).collect();
        order.sort_unstable_by_key(|&at| (jobs.events[at as usize].time_ns, at));
        let mut list = List::default();
        for (number, at) in order.into_iter().enumerate() {
            let event = &jobs.events[at as usize];
            let attempt = jobs.attempt_of(event);
            let mut attributes = Vec::new();
            let texts = [
                Some(jobs.text(attempt.activity)),
                Some(event.lifecycle.name()),
                jobs.text_of(event.reason),
                Some(jobs.text(event.source)),
            ];
            for (name, text) in EVENT_TEXTS.into_iter().zip(texts) {
                if let Some(text) = text {
                    attributes.push(EventAttribute { name, value: Value::Text(text.into()) });
                }
            }
            for (name, pick) in EVENT_TIMES {
                if let Some(time) = pick(event).get() {
                    attributes.push(EventAttribute { name, value: Value::Text(rfc3339(time).into()) });
                }
            }
            let mut relationships = vec![Relation { object_id: self.job_id(event.attempt), qualifier: "job".into() }];
            let mut relate =
                |object_id: String, qualifier: &'static str| relationships.push(Relation { object_id, qualifier: qualifier.into() });
            if self.is_of_array(attempt) {
                relate(self.array_id(&jobs.submissions[attempt.submission as usize]), "member of array");
            }
            if let Some(user) = jobs.text_of(attempt.user) {
                relate(format!("user:{user}"), "submitted by");
            }
            if let Some(group) = jobs.text_of(attempt.group) {
                relate(format!("group:{group}"), "of group");
            }
            if let Some(account) = jobs.text_of(attempt.account) {
                relate(self.on_cluster("account", attempt.cluster, account), "charged to");
            }
            for partition in self.partitions(attempt) {
                relate(self.on_cluster("partition", attempt.cluster, partition), "in partition");
            }
            if let Some(nodes) = event.node_list {
                for node in self.nodes.get(&nodes).into_iter().flatten() {
                    relate(self.on_cluster("node", attempt.cluster, node), "ran on");
                }
            }
            self.written.events += 1;
            self.written.event_relations += relationships.len();
            let id = format!("e{}", number + 1);
            let r#type = event_type(jobs.text(event.state));
            list.item(out, &OcelEvent { id, r#type, time: rfc3339(event.time_ns), attributes, relationships })?;
        }
        Ok(())
    }
}
