//! Resource usage of a task: `resourceUsage`, with the properties of Nextflow's trace file.

use serde_json::Value;

use super::graph::Graph;
use crate::Row;

/// Prefix of the names from Nextflow's trace file.
const NEXTFLOW: &str = "https://w3id.org/ro/terms/nf-trace#";

/// Fills the columns of a row with the resource usage in its action.
pub fn put(graph: &Graph<'_>, task: &Value, row: &mut Row) {
    let used = match &task["resourceUsage"] {
        Value::Array(several) => several.iter().collect(),
        Value::Null => Vec::new(),
        one => vec![one],
    };
    for entity in used {
        let entity = super::graph::id(entity).and_then(|id| graph.get(id)).unwrap_or(entity);
        let Some(name) = entity["propertyID"].as_str().and_then(|id| id.strip_prefix(NEXTFLOW)) else { continue };
        let value = &entity["value"];
        let number = value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number: &f64| number.is_finite() && *number >= 0.0);
        let Some(number) = number else { continue };
        let unit = entity["unitCode"].as_str().and_then(|unit| unit.rsplit('/').next());
        let bytes = (number < 9e15 && unit.is_none_or(|unit| unit == "BYTE")).then_some(number.round() as i64);
        match name {
            "realTime" => row.realtime_s = (unit == Some("MilliSEC")).then_some(number / 1000.0),
            "percentCPU" => row.cpu_percent = Some(number),
            // Nextflow writes zero for missing measurements.
            "peakRSS" => row.peak_rss_bytes = bytes.filter(|bytes| *bytes > 0),
            "peakVMEM" => row.peak_vmem_bytes = bytes.filter(|bytes| *bytes > 0),
            "rChar" => row.rchar_bytes = bytes,
            "wChar" => row.wchar_bytes = bytes,
            _ => {}
        }
    }
}
