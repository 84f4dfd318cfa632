//! Model files (`flowmine-predict`).

use flowmine_predict::model::Model;

use crate::{Seeds, choice, from, reached};

/// See [`run`].
pub const SEEDS: &[Seeds] =
    &[from(b"\0", "crates/predict/examples", ".json"), from(b"\0", "fuzz/seeds", "model.json"), from(b"\x01", "fuzz/seeds", "model.toml")];

/// A model in JSON or TOML, its prediction, and itself written and read again.
pub fn run(bytes: &[u8]) {
    let (first, bytes) = choice(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let toml = first & 1 == 1;
    let Ok(model) = (if toml { Model::from_toml(text) } else { Model::from_json(text) }) else { return };
    reached(true, if toml { "a model in TOML" } else { "a model in JSON" });
    if let Ok(flow) = model.check()
        && let Ok(prediction) = flow.predict()
    {
        prediction.finish_s();
        for process in 0..prediction.len().min(50) {
            assert!(!prediction.progress_at_end(process).is_nan());
        }
    }
    let Ok(json) = model.to_json() else { return };
    let again = Model::from_json(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(again.to_json().ok().as_deref(), Some(json.as_str()));
}
