//! Writes the tasks of a run as a Workflow Run RO-Crate.
//!
//! The metadata conforms to Process Run Crate 0.5. Workflow and Provenance Run Crate require the
//! file of the workflow, which the table `task_runs` does not have; their terms for the run, its
//! engine, and the steps are used where these are known.
//!
//! A column without a term in the profiles is an `additionalProperty` of its action: the writer
//! reads its own actions, and adds the columns that would differ.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::DateTime;
use flowmine_schema::diagnostic::Diagnostics;
use serde_json::{Map, Value, json};

use super::{columns, ids, rows_of, usage};
use crate::{Options, Row};

/// Name of the metadata file in the directory of a crate.
pub const METADATA: &str = "ro-crate-metadata.json";

const PROCESS_RUN: &str = "https://w3id.org/ro/wfrun/process/0.5";
const RUN: &str = "#run";
const WORKFLOW: &str = "#workflow";
const ENGINE: &str = "#engine";

/// The metadata of a crate.
#[derive(Debug, Clone, PartialEq)]
pub struct Crate {
    /// The content of `ro-crate-metadata.json`.
    pub json: Value,
    /// Numbers of values that the metadata cannot express exactly, by description.
    pub notes: BTreeMap<&'static str, u64>,
}

/// Returns the metadata of the attempts of one run.
///
/// # Errors
/// A message with the reason if there are no attempts.
pub fn metadata(rows: &[Row]) -> Result<Crate, String> {
    let Some(first) = rows.first() else { return Err("the run has no tasks".to_owned()) };
    let mut writer = Writer::default();
    let actions: Vec<Value> = rows.iter().map(|row| writer.action(row)).collect();
    let mut crate_json = writer.crate_of(first, rows, actions);
    add_columns(&mut crate_json, rows)?;
    Ok(Crate { json: crate_json, notes: writer.notes })
}

/// Adds the columns that a reader would not find.
fn add_columns(json: &mut Value, rows: &[Row]) -> Result<(), String> {
    let read = rows_of(json, &mut Diagnostics::default(), &Options::default()).map_err(|diagnostic| diagnostic.message)?;
    let Some(graph) = json["@graph"].as_array_mut() else { return Ok(()) };
    let mut known: HashMap<(&str, String), String> = HashMap::new();
    let mut numbers: BTreeMap<&str, u64> = BTreeMap::new();
    let mut added = Vec::new();
    let actions = graph.iter_mut().filter(|entity| entity["@type"] == "CreateAction" && entity["@id"] != RUN);
    for (action, (row, read)) in actions.zip(rows.iter().zip(&read)) {
        let mut references = Vec::new();
        for (column, value) in columns::differences(row, read) {
            let id = known.entry((column, value.to_string())).or_insert_with(|| {
                let number = numbers.entry(column).and_modify(|number| *number += 1).or_insert(1);
                let id = format!("#{column}-{number}");
                added.push(columns::entity(&id, column, &value));
                id
            });
            references.push(json!({ "@id": id }));
        }
        if !references.is_empty() {
            action["additionalProperty"] = references.into();
        }
    }
    graph.extend(added);
    Ok(())
}

/// The entities that actions refer to, in the order in which they first appear.
#[derive(Default)]
struct Writer {
    entities: Vec<Value>,
    known: BTreeSet<String>,
    /// Ids of data entities.
    files: Vec<String>,
    /// The attempts at each logical task, in the order of these.
    steps: Vec<(String, Vec<String>)>,
    /// The index in `steps` by the id of the tool.
    step_of: HashMap<String, usize>,
    notes: BTreeMap<&'static str, u64>,
}

impl Writer {
    fn note(&mut self, what: &'static str) {
        *self.notes.entry(what).or_insert(0) += 1;
    }

    fn add(&mut self, id: &str, entity: impl FnOnce() -> Value) -> Value {
        if self.known.insert(id.to_owned()) {
            let mut entity = entity();
            entity["@id"] = id.into();
            self.entities.push(entity);
        }
        reference(id)
    }

    fn action(&mut self, row: &Row) -> Value {
        let id = self.id_of_attempt(row);
        let mut action = Map::new();
        action.insert("@id".into(), id.clone().into());
        action.insert("@type".into(), "CreateAction".into());
        if !row.name.is_empty() {
            action.insert("name".into(), row.name.as_ref().into());
        }
        let tool = format!("#tool/{}", ids::encoded(&row.logical_task));
        action.insert("instrument".into(), self.add(&tool, || json!({ "@type": "SoftwareApplication", "name": row.logical_task })));
        let step = *self.step_of.entry(tool.clone()).or_insert(self.steps.len());
        if step == self.steps.len() {
            self.steps.push((tool, Vec::new()));
        }
        self.steps[step].1.push(id.clone());
        for (name, ns, precision) in
            [("startTime", row.started_ns, row.started_precision_ns), ("endTime", row.finished_ns, row.finished_precision_ns)]
        {
            action.extend(ns.map(|ns| (name.into(), time(ns, precision).into())));
        }
        action.extend(self.outcome(row));
        if let Some(user) = row.user.as_deref() {
            let agent = self.add(&format!("#user/{}", ids::encoded(user)), || json!({ "@type": "Person", "name": user }));
            action.insert("agent".into(), agent);
        }
        for (name, listed) in [("object", &row.inputs), ("result", &row.outputs)] {
            action.extend(self.files_of(listed.as_deref()).map(|files| (name.into(), files.into())));
        }
        action.extend(row.container_image.as_deref().map(|image| ("containerImage".into(), image.into())));
        let used = usage::of(row).into_iter().enumerate();
        let used: Vec<Value> = used.map(|(at, usage)| self.add(&format!("{id}/usage/{at}"), || usage)).collect();
        if !used.is_empty() {
            action.insert("resourceUsage".into(), used.into());
        }
        action.into()
    }

    /// Returns an id with the task and the attempt, with a number if it exists.
    fn id_of_attempt(&mut self, row: &Row) -> String {
        let task = ids::encoded(row.task_id.as_deref().unwrap_or_default());
        let attempt = row.attempt.map(|attempt| format!("/{attempt}")).unwrap_or_default();
        let base = format!("#task/{task}{attempt}");
        let mut id = base.clone();
        for number in 2.. {
            if self.known.insert(id.clone()) {
                break;
            }
            id = format!("{base}/again/{number}");
        }
        id
    }

    fn outcome(&mut self, row: &Row) -> Vec<(String, Value)> {
        let status = match row.status.as_ref() {
            "completed" | "cached" => "CompletedActionStatus",
            "failed" | "aborted" => "FailedActionStatus",
            "running" => "ActiveActionStatus",
            "submitted" => "PotentialActionStatus",
            _ => {
                self.note("attempts have an unknown status: by the profile, an action without a status is completed");
                return Vec::new();
            }
        };
        let mut outcome = vec![("actionStatus".to_owned(), json!(format!("http://schema.org/{status}")))];
        if status == "FailedActionStatus" {
            let exit_code = || row.exit_code.map(|code| format!("exit code {code}"));
            let error = row.error.as_deref().map(str::to_owned).or_else(exit_code);
            outcome.extend(error.map(|error| ("error".to_owned(), error.into())));
        }
        outcome
    }

    /// Returns references to the files of a list in the columns `inputs` and `outputs`.
    fn files_of(&mut self, listed: Option<&str>) -> Option<Vec<Value>> {
        let listed: Value = serde_json::from_str(listed?).ok()?;
        let mut references = Vec::new();
        for file in listed.as_array()? {
            let Some(path) = file["path"].as_str().filter(|path| !path.is_empty()) else { continue };
            if path.contains(['*', '?', '[', '{']) && !path.contains("://") {
                self.note("paths of tasks are patterns: the crate lists no files for them");
                continue;
            }
            let id = ids::of_path(path);
            if !id.starts_with('#') && !self.known.contains(&id) {
                self.files.push(id.clone());
            }
            let bytes = file["bytes"].as_i64().filter(|bytes| *bytes >= 0);
            references.push(self.add(&id, || {
                let mut entity = json!({ "@type": if path.ends_with('/') { "Dataset" } else { "File" }, "name": path });
                if let Some(bytes) = bytes {
                    entity["contentSize"] = bytes.to_string().into();
                }
                entity
            }));
        }
        Some(references)
    }

    /// Returns the whole metadata.
    fn crate_of(&mut self, first: &Row, rows: &[Row], actions: Vec<Value>) -> Value {
        let run = first.run_name.as_deref().or(first.run_id.as_deref()).filter(|run| !run.is_empty());
        let label = run.map_or_else(|| format!("Run of {}", first.engine), |run| format!("Run {run} of {}", first.engine));
        let mut mentions: Vec<Value> = actions.iter().map(|action| json!({ "@id": action["@id"] })).collect();
        let mut of_run = Vec::new();
        if let Some(run) = run {
            mentions.insert(0, reference(RUN));
            of_run = self.run(run, &first.engine, rows);
        }
        let mut root = json!({
            "@id": "./",
            "@type": "Dataset",
            "name": label,
            "description": format!("Tasks of a run of {}, written by flowmine. The files are not part of the crate.", first.engine),
            "conformsTo": { "@id": PROCESS_RUN },
            // RO-Crate requires a licence, or a text on the use of the crate.
            "license": "The source records no licence. Ask the owner of the run.",
            "mentions": mentions,
        });
        if !self.files.is_empty() {
            root["hasPart"] = self.files.iter().map(|id| reference(id)).collect::<Vec<_>>().into();
        }
        // The crate depends on its dataset alone, not on the time of the export.
        let times = rows.iter().flat_map(|row| [row.finished_ns, row.cached_ns, row.started_ns, row.submitted_ns, row.queued_ns]);
        match times.flatten().max() {
            Some(last) => root["datePublished"] = time(last, Some(1_000_000_000)).into(),
            None => self.note("crate without times: it lacks the date that RO-Crate requires"),
        }
        let mut graph = vec![
            json!({
                "@id": METADATA,
                "@type": "CreativeWork",
                "about": { "@id": "./" },
                "conformsTo": { "@id": "https://w3id.org/ro/crate/1.1" },
            }),
            root,
            json!({ "@id": PROCESS_RUN, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5" }),
        ];
        graph.extend(of_run);
        graph.extend(actions);
        graph.append(&mut self.entities);
        json!({
            "@context": ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"],
            "@graph": graph,
        })
    }

    /// Returns the run with its engine, and the steps with their attempts.
    fn run(&self, name: &str, engine: &str, rows: &[Row]) -> Vec<Value> {
        let step = |at: usize| format!("{WORKFLOW}/step/{}", at + 1);
        let control = |at: usize| format!("{RUN}/step/{}", at + 1);
        let all = |id: &dyn Fn(usize) -> String| (0..self.steps.len()).map(|at| reference(&id(at))).collect::<Vec<_>>();
        let tools: Vec<Value> = self.steps.iter().map(|(tool, _)| reference(tool)).collect();
        let mut run = json!({ "@id": RUN, "@type": "CreateAction", "name": name, "instrument": reference(WORKFLOW) });
        run.as_object_mut().into_iter().for_each(|run| run.extend(outcome_of_run(rows)));
        let mut entities = vec![
            run,
            json!({
                "@id": WORKFLOW,
                "@type": ["SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
                "name": name,
                "hasPart": tools,
                "step": all(&step),
            }),
            json!({
                "@id": "#organized",
                "@type": "OrganizeAction",
                "name": format!("Run of {engine}"),
                "instrument": reference(ENGINE),
                "object": all(&control),
                "result": reference(RUN),
            }),
            json!({ "@id": ENGINE, "@type": "SoftwareApplication", "name": engine }),
        ];
        for (at, (tool, attempts)) in self.steps.iter().enumerate() {
            entities.push(json!({ "@id": step(at), "@type": "HowToStep", "workExample": reference(tool) }));
            entities.push(json!({
                "@id": control(at),
                "@type": "ControlAction",
                "instrument": reference(&step(at)),
                "object": attempts.iter().map(|attempt| reference(attempt)).collect::<Vec<_>>(),
            }));
        }
        entities
    }
}

/// Returns the outcome of the run, by the last attempts at its tasks.
fn outcome_of_run(rows: &[Row]) -> Vec<(String, Value)> {
    let mut last: BTreeMap<&str, &Row> = BTreeMap::new();
    for row in rows {
        let of_task = last.entry(row.task_id.as_deref().unwrap_or_default()).or_insert(row);
        if row.attempt >= of_task.attempt {
            *of_task = row;
        }
    }
    let count = |wanted: &[&str]| last.values().filter(|row| wanted.contains(&row.status.as_ref())).count();
    let failed = count(&["failed", "aborted"]);
    let (status, error) = if count(&["running", "submitted"]) > 0 {
        ("ActiveActionStatus", None)
    } else if failed > 0 {
        ("FailedActionStatus", Some(format!("{failed} of {} tasks did not complete", last.len())))
    } else if count(&["completed", "cached"]) == last.len() {
        ("CompletedActionStatus", None)
    } else {
        return Vec::new();
    };
    let status = ("actionStatus".to_owned(), json!(format!("http://schema.org/{status}")));
    std::iter::once(status).chain(error.map(|error| ("error".to_owned(), error.into()))).collect()
}

fn reference(id: &str) -> Value {
    json!({ "@id": id })
}

/// Returns a time with the digits of its precision, or more if its value has them.
fn time(ns: i64, precision: Option<i64>) -> String {
    let digits_of = |step: i64| (0..=9).find(|digits| 10_i64.pow(9 - digits) <= step).unwrap_or(9) as usize;
    let of_value = (0..=9).find(|digits| ns % 10_i64.pow(9 - digits) == 0).unwrap_or(9) as usize;
    let digits = precision.map_or(0, digits_of).max(of_value);
    let text = DateTime::from_timestamp_nanos(ns).format("%Y-%m-%dT%H:%M:%S%.9f").to_string();
    let whole = text.len().saturating_sub(10);
    let kept = if digits == 0 { whole } else { whole + 1 + digits };
    format!("{}Z", text.get(..kept).unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_show_their_precision() {
        let second = 1_772_352_000_000_000_000;
        for (ns, precision, expected) in [
            (second, Some(1_000_000_000), "2026-03-01T08:00:00Z"),
            (second, Some(1_000_000), "2026-03-01T08:00:00.000Z"),
            (second, Some(250_000_000), "2026-03-01T08:00:00.0Z"),
            (second + 120_000_000, Some(1_000_000_000), "2026-03-01T08:00:00.12Z"),
            (second + 1, None, "2026-03-01T08:00:00.000000001Z"),
            (second, None, "2026-03-01T08:00:00Z"),
            (-1, Some(1), "1969-12-31T23:59:59.999999999Z"),
        ] {
            assert_eq!(time(ns, precision), expected);
        }
    }
}
