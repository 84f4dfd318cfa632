//! `flowmine doctor` in a build without tracing: no way to trace works.

use crate::Outcome;
use crate::args::Doctor;
use crate::output;

/// Says so.
pub fn run(args: &Doctor) -> anyhow::Result<Outcome> {
    let text = if args.json {
        format!("{:#}\n", serde_json::json!({ "ways": [] }))
    } else {
        "No way to trace works: this flowmine was built without tracing (the feature `tracing`).\n".to_owned()
    };
    output::write(None, |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(Outcome::WithLosses)
}
