//! Resource usage of a task: `resourceUsage`, with the properties of Nextflow's trace file.

use serde_json::{Value, json};

use super::graph::Graph;
use crate::Row;

/// Prefix of the names from Nextflow's trace file.
const NEXTFLOW: &str = "https://w3id.org/ro/terms/nf-trace#";
/// Prefix of the names of units.
const UNIT: &str = "https://qudt.org/vocab/unit/";

/// Returns name, value and unit of the measurements of a task that the trace file has names for.
pub fn of(row: &Row) -> Vec<Value> {
    let bytes = |bytes: Option<i64>| bytes.filter(|bytes| *bytes >= 0).map(|bytes| json!(bytes.to_string()));
    let seconds = row.realtime_s.filter(|seconds| *seconds >= 0.0).map(|seconds| json!(seconds.to_string()));
    let percent = row.cpu_percent.filter(|percent| *percent >= 0.0).map(|percent| json!(percent.to_string()));
    let measured = [
        ("realTime", seconds, Some("SEC")),
        ("percentCPU", percent, None),
        ("peakRSS", bytes(row.peak_rss_bytes.filter(|bytes| *bytes > 0)), Some("BYTE")),
        ("peakVMEM", bytes(row.peak_vmem_bytes.filter(|bytes| *bytes > 0)), Some("BYTE")),
        ("rChar", bytes(row.rchar_bytes), Some("BYTE")),
        ("wChar", bytes(row.wchar_bytes), Some("BYTE")),
    ];
    let property = |(name, value, unit): (&str, Option<Value>, Option<&str>)| {
        let mut property = json!({ "@type": "PropertyValue", "name": name, "propertyID": format!("{NEXTFLOW}{name}"), "value": value? });
        if let Some(unit) = unit {
            property["unitCode"] = format!("{UNIT}{unit}").into();
        }
        Some(property)
    };
    measured.into_iter().filter_map(property).collect()
}

/// Fills the columns of a row with the resource usage in its action.
pub fn put(graph: &Graph<'_>, task: &Value, row: &mut Row) {
    for entity in graph.entities_of(&task["resourceUsage"]) {
        let Some(name) = entity["propertyID"].as_str().and_then(|id| id.strip_prefix(NEXTFLOW)) else { continue };
        let value = &entity["value"];
        let number = value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number: &f64| number.is_finite() && *number >= 0.0);
        let Some(number) = number else { continue };
        let unit = entity["unitCode"].as_str().and_then(|unit| unit.rsplit('/').next());
        let bytes = (number < 9e15 && unit.is_none_or(|unit| unit == "BYTE")).then_some(number.round() as i64);
        match name {
            "realTime" => {
                row.realtime_s = match unit {
                    Some("MilliSEC") => Some(number / 1000.0),
                    Some("SEC") => Some(number),
                    _ => None,
                }
            }
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
