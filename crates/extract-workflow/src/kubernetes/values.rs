//! Values in objects of the API.

use chrono::DateTime;
use serde_json::Value;

/// Parses a time of the API, `2026-11-20T13:04:05Z`. For a container that could not be started,
/// Kubernetes reports 1970, which is null here.
pub fn time(value: &Value) -> Option<i64> {
    DateTime::parse_from_rfc3339(value.as_str()?).ok()?.timestamp_nanos_opt().filter(|ns| *ns > 0)
}

/// Returns a text that is not empty.
pub fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns the items of a list; nothing for other values.
pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
