//! `flowmine doctor`: what works on this machine, why not, and what would help.

use flowmine_trace::probe::{Check, Verdict};
use serde_json::json;

use super::backends;
use crate::args::Doctor;
use crate::outcome::Outcome;
use crate::output;

/// Probes every backend and shows what was found.
pub fn run(args: &Doctor) -> anyhow::Result<Outcome> {
    let verdicts = if backends::built().is_empty() { Vec::new() } else { backends::verdicts() };
    let text = if args.json { json_text(&verdicts) } else { table(&verdicts) };
    output::write(None, |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(if verdicts.iter().any(|verdict| verdict.works) { Outcome::Clean } else { Outcome::WithLosses })
}

fn mark(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "yes",
        Some(false) => "no",
        None => "?",
    }
}

fn table(verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return "No way to trace works: this flowmine was built without tracing (the feature `tracing`).\n".to_owned();
    }
    let mut text = String::new();
    for verdict in verdicts {
        let works = if verdict.works { "works" } else { "does not work" };
        text.push_str(&format!("{} {works}: {}\n", verdict.backend, verdict.how));
        for check in &verdict.checks {
            text.push_str(&format!("  {:<3} {}: {}\n", mark(check.holds), check.what, check.found));
            if let Some(remedy) = &check.remedy {
                text.push_str(&format!("      → {remedy}\n"));
            }
        }
    }
    text.lines().map(|line| format!("{}\n", flowmine_schema::text::visible(line))).collect()
}

fn json_text(verdicts: &[Verdict]) -> String {
    let check = |check: &Check| json!({ "what": check.what, "holds": check.holds, "found": check.found, "remedy": check.remedy });
    let verdicts: Vec<_> = verdicts
        .iter()
        .map(|verdict| {
            json!({
                "backend": verdict.backend,
                "works": verdict.works,
                "how": verdict.how,
                "whole_host": verdict.whole_host,
                "checks": verdict.checks.iter().map(check).collect::<Vec<_>>(),
            })
        })
        .collect();
    format!("{:#}\n", json!({ "backends": verdicts }))
}
