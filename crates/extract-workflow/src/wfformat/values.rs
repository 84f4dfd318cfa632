//! Readers of JSON values in the forms of instances.

use serde_json::Value;

pub(super) fn list_ref(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn whole(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().filter(|number| *number < 9e18).map(|number| number.round() as i64))
        .filter(|number| *number >= 0)
}
