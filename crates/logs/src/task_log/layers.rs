//! When what happened to the layers of a task that `flowmine transform` wrapped: the times in
//! `task_runs.layers`, as events.
//!
//! A layer that runs what is below it again has the times of its last run there, so each layer has
//! one start and one end.

use flowmine_schema::tables::TaskRun;
use serde_json::Value;

/// An event of a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LayerMoment {
    /// Its place among the events of a task that have the same time: layers begin outermost first,
    /// and end innermost first.
    pub number: u8,
    /// `layer podman started`.
    pub kind: String,
    /// Name of the layer, `task` for the plain task.
    pub layer: String,
    /// Number of the layer, counted outwards from the plain task, which is 0.
    pub level: u8,
    /// The transition of the XES lifecycle.
    pub lifecycle: &'static str,
    /// When it happened, UTC nanoseconds since 1970.
    pub time_ns: i64,
    /// The exit status with which the layer ended.
    pub status: Option<i64>,
    /// In what of it a failure began: also in layers above the one that failed.
    pub failed_in: Option<String>,
    /// The signal by which it ended.
    pub signal: Option<String>,
}

/// More layers than these have no events.
const MOST: usize = 100;

/// The events of a task's layers; none where it has none, or they are left out of the log.
pub(super) fn moments(row: &TaskRun<'_>) -> Vec<LayerMoment> {
    let Some(Value::Array(layers)) = row.layers.as_deref().and_then(|text| serde_json::from_str(text).ok()) else { return Vec::new() };
    let mut all = Vec::new();
    for (level, layer) in (0u8..).zip(layers.iter().take(MOST)) {
        let Some(name) = layer["name"].as_str() else { continue };
        let text = |field: &str| layer[field].as_str().map(str::to_owned);
        let status = layer["status"].as_i64();
        let moment = |number, happened: &str, lifecycle, time_ns| LayerMoment {
            number,
            kind: format!("layer {name} {happened}"),
            layer: name.to_owned(),
            level,
            lifecycle,
            time_ns,
            status: None,
            failed_in: None,
            signal: None,
        };
        all.extend(layer["started_ns"].as_i64().map(|time| moment(2 + MOST as u8 - level, "started", "start", time)));
        let (happened, lifecycle) = if status == Some(0) { ("finished", "complete") } else { ("failed", "ate_abort") };
        let end = layer["finished_ns"].as_i64().filter(|_| status.is_some());
        let ended = end.map(|time| moment(3 + MOST as u8 + level, happened, lifecycle, time));
        all.extend(ended.map(|ended| LayerMoment { status, failed_in: text("failed_in"), signal: text("signal"), ..ended }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_each_layer_that_ended() {
        let layers = r#"[{"name":"task","id":"a","runs":0},
            {"name":"pull","id":"b","runs":1,"failed_in":"pre","command_status":5,"status":5,"signal":null,"started_ns":20,"finished_ns":30},
            {"name":"retry","id":"c","runs":1,"failed_in":null,"command_status":5,"status":0,"signal":null,"started_ns":10,"finished_ns":30}]"#;
        let row = TaskRun { layers: Some(layers.into()), ..TaskRun::default() };
        let mut all = moments(&row);
        all.sort_by_key(|moment| (moment.time_ns, moment.number));
        let told: Vec<_> = all.iter().map(|m| (m.kind.as_str(), m.level, m.lifecycle, m.status, m.failed_in.as_deref())).collect();
        assert_eq!(
            told,
            [
                ("layer retry started", 2, "start", None, None),
                ("layer pull started", 1, "start", None, None),
                ("layer pull failed", 1, "ate_abort", Some(5), Some("pre")),
                ("layer retry finished", 2, "complete", Some(0), None),
            ]
        );
        for odd in ["", "{}", "[1]", "[{}]", "[{\"name\":\"x\",\"status\":\"0\",\"started_ns\":1.5}]", "null"] {
            assert_eq!(moments(&TaskRun { layers: Some(odd.into()), ..TaskRun::default() }), [], "{odd}");
        }
    }
}
