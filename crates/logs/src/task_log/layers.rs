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

/// More layers than these have no events: two events each have a number of one byte.
const MOST: usize = 100;

/// The events of a task's layers: of the first [`MOST`] all, of those beyond the times alone. None
/// where it has no layers, or they are left out of the log.
pub(super) fn moments(row: &TaskRun<'_>) -> (Vec<LayerMoment>, Vec<i64>) {
    let (mut all, mut beyond) = (Vec::new(), Vec::new());
    let Some(Value::Array(layers)) = row.layers.as_deref().and_then(|text| serde_json::from_str(text).ok()) else { return (all, beyond) };
    for (at, layer) in layers.iter().enumerate() {
        let Some(name) = layer["name"].as_str() else { continue };
        let text = |field: &str| layer[field].as_str().map(str::to_owned);
        let status = layer["status"].as_i64();
        let start = layer["started_ns"].as_i64();
        let end = layer["finished_ns"].as_i64().filter(|_| status.is_some());
        if at >= MOST {
            beyond.extend(start.into_iter().chain(end));
            continue;
        }
        let level = at as u8;
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
        all.extend(start.map(|time| moment(2 + MOST as u8 - level, "started", "start", time)));
        let (happened, lifecycle) = if status == Some(0) { ("finished", "complete") } else { ("failed", "ate_abort") };
        let ended = end.map(|time| moment(3 + MOST as u8 + level, happened, lifecycle, time));
        all.extend(ended.map(|ended| LayerMoment { status, failed_in: text("failed_in"), signal: text("signal"), ..ended }));
    }
    (all, beyond)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use flowmine_correlate::Filter;
    use flowmine_privacy::RowRules;
    use flowmine_test_support::TempDataset;

    use super::*;
    use crate::task_log::Tasks;
    use crate::task_log::objects::{ObjectSelection, objects};

    #[test]
    fn events_of_each_layer_that_ended() {
        let layers = r#"[{"name":"task","id":"a","runs":0},
            {"name":"pull","id":"b","runs":1,"failed_in":"pre","command_status":5,"status":5,"signal":null,"started_ns":20,"finished_ns":30},
            {"name":"retry","id":"c","runs":1,"failed_in":null,"command_status":5,"status":0,"signal":null,"started_ns":10,"finished_ns":30}]"#;
        let row = TaskRun { layers: Some(layers.into()), ..TaskRun::default() };
        let (mut all, beyond) = moments(&row);
        assert!(beyond.is_empty());
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
            assert_eq!(moments(&TaskRun { layers: Some(odd.into()), ..TaskRun::default() }), (vec![], Vec::<i64>::new()), "{odd}");
        }
    }

    #[test]
    fn what_is_left_out_of_layers_is_counted() {
        let layer = |at: i64| serde_json::json!({ "name": "l", "status": 0, "started_ns": 1000 - at, "finished_ns": 1000 + at });
        let layers = Value::Array((0..102).map(layer).collect()).to_string();
        let dataset = TempDataset::new();
        let row = TaskRun { engine: "transform".into(), name: "a".into(), layers: Some(layers.into()), ..TaskRun::default() };
        dataset.append::<TaskRun<'static>>(&[row]);
        let wanted = ObjectSelection { jobs: false, tasks: true, processes: false, files: false };
        let left_out = |filter: &Filter| objects(&Tasks::new(&dataset, &RowRules::default(), filter), wanted, None).unwrap().1.layer_events;
        assert_eq!(left_out(&Filter::default()), 4);
    }

    #[test]
    fn layers_beyond_the_first_hundred_are_known_by_their_times() {
        let layer = |at: i64| serde_json::json!({ "name": "l", "status": 0, "started_ns": 1000 - at, "finished_ns": 1000 + at });
        let layers = Value::Array((0..102).map(layer).collect()).to_string();
        let (mut all, beyond) = moments(&TaskRun { layers: Some(layers.into()), ..TaskRun::default() });
        assert_eq!((all.len(), beyond), (200, vec![900, 1100, 899, 1101]));
        all.sort_by_key(|moment| moment.number);
        assert!(all.windows(2).all(|two| two[0].number < two[1].number));
    }
}
