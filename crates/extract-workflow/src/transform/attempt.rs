//! An attempt at a transformed task.

use serde_json::{Map, Value, json};

use crate::Row;
use crate::engine_names::TRANSFORM;

/// Precision of a time: the shell's clock counts hundredths of a second, and a time is up to the
/// start of a process old.
const PRECISION_NS: i64 = 50_000_000;

/// A layer, and its last end.
#[derive(Debug)]
struct Layer {
    name: String,
    id: String,
    /// Number of times that it ended: a layer above may run it again.
    runs: i64,
    ended: Option<Ended>,
}

#[derive(Debug)]
struct Ended {
    failed_in: Option<String>,
    command: i64,
    status: i64,
    signal: Option<String>,
    begin_ns: Option<i64>,
    end_ns: Option<i64>,
}

/// An attempt in a record.
#[derive(Debug)]
pub(super) struct RecordedAttempt {
    /// Line at which it begins.
    pub line: u64,
    /// Path of its workflow's file.
    pub workflow: String,
    /// Instance of a script that runs several times: in an array of jobs, in a loop, by a rule with
    /// wildcards. The value is the job, else the process.
    pub instance: Option<String>,
    /// Start of the attempt, in nanoseconds since 1970 (UTC).
    pub begin_ns: i64,
    name: String,
    activity: String,
    layers: Vec<Layer>,
    told: FirstLine,
}

/// Maximum number of layers. A forged record could otherwise make the lookup of each line slow.
pub(super) const MOST_LAYERS: usize = 1000;

/// Further values of the first line.
#[derive(Debug)]
struct FirstLine {
    parents: Option<Vec<String>>,
    inputs: Option<String>,
    outputs: Option<String>,
    cores: Option<i64>,
    memory: Option<i64>,
    disk: Option<i64>,
    pid: Option<i64>,
    host: Option<String>,
    job: Option<String>,
}

impl FirstLine {
    fn new(object: &Value) -> Self {
        let text = |name: &str| object[name].as_str().map(str::to_owned);
        let files = |name: &str| {
            let paths = object[name].as_array()?;
            Some(Value::Array(paths.iter().filter_map(Value::as_str).map(|path| json!({ "path": path })).collect()).to_string())
        };
        Self {
            parents: object["parents"].as_array().map(|list| list.iter().filter_map(|id| Some(id.as_str()?.to_owned())).collect()),
            inputs: files("inputs"),
            outputs: files("outputs"),
            cores: object["cores"].as_i64(),
            memory: object["memory"].as_i64(),
            disk: object["disk"].as_i64(),
            pid: object["pid"].as_i64(),
            host: text("host"),
            job: text("job").filter(|job| job.bytes().all(|byte| byte.is_ascii_digit())),
        }
    }
}

impl RecordedAttempt {
    pub(super) fn begin(object: &Value, line: u64) -> Option<Self> {
        let layer = |layer: &Value| {
            let text = |name: &str| Some(layer[name].as_str()?.to_owned());
            Some(Layer { name: text("name")?, id: text("id")?, runs: 0, ended: None })
        };
        if object["layers"].as_array()?.len() > MOST_LAYERS {
            return None;
        }
        let layers: Vec<Layer> = object["layers"].as_array()?.iter().map(layer).collect::<Option<_>>()?;
        let name = object["task"].as_str()?.to_owned();
        Some(Self {
            line,
            workflow: object["workflow"].as_str().unwrap_or_default().to_owned(),
            // A restarted job is another attempt of the same instance.
            instance: object["instance"].as_str().and_then(|instance| instance.split('.').next()).map(str::to_owned),
            begin_ns: ns(&object["begin"])?,
            activity: object["activity"].as_str().filter(|activity| !activity.is_empty()).unwrap_or(&name).to_owned(),
            name,
            layers: Some(layers).filter(|layers| !layers.is_empty())?,
            told: FirstLine::new(object),
        })
    }

    /// Returns the identifier of the plain task, with the instance.
    pub(super) fn task_id(&self) -> String {
        match &self.instance {
            None => self.plain_id().to_owned(),
            Some(instance) => format!("{}.{instance}", self.plain_id()),
        }
    }

    /// Returns the identifier of the plain task.
    pub(super) fn plain_id(&self) -> &str {
        &self.layers[0].id
    }

    /// Returns the identifiers of the plain tasks before it; `None` where they are not known.
    pub(super) fn parents(&self) -> Option<Vec<&str>> {
        Some(self.told.parents.as_ref()?.iter().map(String::as_str).collect())
    }

    /// Adds the end of a layer; returns whether the line belongs to this attempt.
    pub(super) fn layer_ended(&mut self, object: &Value) -> bool {
        let id = object["id"].as_str();
        let Some(layer) = self.layers.iter_mut().find(|layer| Some(&*layer.id) == id) else { return false };
        let (Some(command), Some(status)) = (object["command"].as_i64(), object["status"].as_i64()) else { return false };
        let text = |name: &str| object[name].as_str().map(str::to_owned);
        layer.runs += 1;
        layer.ended = Some(Ended {
            failed_in: text("failed_in"),
            command,
            status,
            signal: text("signal"),
            begin_ns: ns(&object["begin"]),
            end_ns: ns(&object["end"]),
        });
        true
    }

    fn outermost(&self) -> Option<&Ended> {
        self.layers.last()?.ended.as_ref()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.outermost().is_some()
    }

    /// Whether a layer ended before its own start or that of the attempt, by more than the clock's
    /// precision.
    pub(super) fn ends_before_it_begins(&self) -> bool {
        let mut ended = self.layers.iter().filter_map(|layer| layer.ended.as_ref());
        ended.any(|how| how.end_ns.is_some_and(|end| end + PRECISION_NS < how.begin_ns.unwrap_or(end).max(self.begin_ns)))
    }

    /// Returns the layer that failed by itself: the layer below it did not end, or succeeded.
    fn failed(&self) -> Option<(&Layer, &Ended)> {
        let ended = |layer: &Layer| layer.ended.as_ref().is_some_and(|ended| ended.status == 0);
        let mut found = None;
        for (at, layer) in self.layers.iter().enumerate() {
            let Some(how) = layer.ended.as_ref().filter(|how| how.status != 0) else { continue };
            let below = at.checked_sub(1).map(|below| &self.layers[below]);
            if below.is_none_or(|below| below.ended.is_none() || ended(below)) {
                found = Some((layer, how));
            }
        }
        found
    }

    /// Returns the row; `parents` are ids of tasks, where they are known.
    pub(super) fn row(&self, attempt: i64, parents: Option<Vec<String>>) -> Row {
        let told = &self.told;
        let outermost = self.outermost();
        let failed = self.failed().filter(|_| outermost.is_some_and(|how| how.status != 0));
        let status = match outermost {
            None => "unknown",
            Some(how) if how.status == 0 => "completed",
            Some(how) if how.signal.is_some() => "aborted",
            Some(_) => "failed",
        };
        let job = told.job.clone();
        let pid = told.pid.map(|pid| pid.to_string());
        let megabytes = |amount: Option<i64>| amount.and_then(|mb| mb.checked_mul(1 << 20));
        let finished_ns = outermost.and_then(|how| how.end_ns);
        let precision = |time: Option<i64>| time.map(|_| PRECISION_NS);
        Row {
            engine: TRANSFORM.into(),
            run_name: Some(self.workflow.clone()).filter(|name| !name.is_empty()).map(Into::into),
            task_id: Some(self.task_id().into()),
            attempt: Some(attempt),
            name: self.name.clone().into(),
            logical_task: self.activity.clone().into(),
            executor: job.as_ref().map(|_| "slurm".into()),
            native_kind: job.as_ref().map(|_| "slurm_job").or(pid.as_ref().map(|_| "pid")).map(Into::into),
            native_id: job.or(pid).map(Into::into),
            host: told.host.clone().map(Into::into),
            started_ns: Some(self.begin_ns),
            started_precision_ns: Some(PRECISION_NS),
            finished_ns,
            finished_precision_ns: precision(finished_ns),
            status: status.into(),
            exit_code: outermost.map(|how| how.status),
            error: failed.map(|(layer, how)| error(layer, how).into()),
            layers: Some(self.layers_json().into()),
            failed_layer: failed.map(|(layer, _)| layer.name.clone().into()),
            failed_in: failed.and_then(|(_, how)| how.failed_in.clone()).map(Into::into),
            cpus: told.cores,
            memory_bytes: megabytes(told.memory),
            disk_bytes: megabytes(told.disk),
            parents: parents.map(|parents| json!(parents).to_string().into()),
            inputs: told.inputs.clone().map(Into::into),
            outputs: told.outputs.clone().map(Into::into),
            line: Some(self.line as i64),
            ..Row::default()
        }
    }

    fn layers_json(&self) -> String {
        let one = |layer: &Layer| {
            let mut object = Map::new();
            object.insert("name".to_owned(), layer.name.clone().into());
            object.insert("id".to_owned(), layer.id.clone().into());
            object.insert("runs".to_owned(), layer.runs.into());
            if let Some(how) = &layer.ended {
                object.insert("failed_in".to_owned(), how.failed_in.clone().into());
                object.insert("command_status".to_owned(), how.command.into());
                object.insert("status".to_owned(), how.status.into());
                object.insert("signal".to_owned(), how.signal.clone().into());
                object.insert("started_ns".to_owned(), how.begin_ns.into());
                object.insert("finished_ns".to_owned(), how.end_ns.into());
            }
            Value::Object(object)
        };
        Value::Array(self.layers.iter().map(one).collect()).to_string()
    }
}

fn error(layer: &Layer, how: &Ended) -> String {
    let place = how.failed_in.as_deref().map(|place| format!(" in {place}")).unwrap_or_default();
    let by = how.signal.as_deref().map(|signal| format!(", ended by {signal}")).unwrap_or_default();
    format!("{} failed{place} with status {}{by}", layer.name, how.status)
}

/// Converts seconds since 1970, with hundredths, to nanoseconds.
fn ns(value: &Value) -> Option<i64> {
    let seconds = value.as_f64().filter(|seconds| (0.0..9.0e9).contains(seconds))?;
    Some((seconds * 100.0).round() as i64 * 10_000_000)
}
