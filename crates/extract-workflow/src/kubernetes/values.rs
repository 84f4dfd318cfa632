//! Values in objects of the API.

use chrono::DateTime;
use serde_json::Value;

/// A time of the API, `2026-11-20T13:04:05Z`. A container that could not be started is said to have
/// been in 1970.
pub fn time(value: &Value) -> Option<i64> {
    DateTime::parse_from_rfc3339(value.as_str()?).ok()?.timestamp_nanos_opt().filter(|ns| *ns > 0)
}

/// A text that is not empty.
pub fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// What a list holds; nothing where it is none.
pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
