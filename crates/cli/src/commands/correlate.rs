//! `flowmine correlate`: writes the derived tables of a dataset.

use flowmine_api::correlate::{HubOptions, Options, correlate};

use crate::args::Correlate;
use crate::terminal::Terminal;
use crate::{Outcome, messages, output};

/// Runs `flowmine correlate`: writes the derived tables.
pub fn run(args: &Correlate) -> anyhow::Result<Outcome> {
    let count = |count: Option<u32>| count.map(|count| count as usize);
    let age_ns = args.hub_age.map(|age| i64::try_from(age.as_nanos()).unwrap_or(i64::MAX));
    let hubs = HubOptions { runs: count(args.hub_runs), readers: count(args.hub_readers), age_ns };
    let dataset = args.source.dir()?.to_owned();
    let options = Options { dataset, as_owner: args.written.as_owner, case_notion: args.case_notion.clone(), hubs };
    let found = correlate(&options, &Terminal)?;
    let text = if args.json { format!("{:#}\n", found.json()) } else { found.text() };
    output::write(None, |out| Ok(out.write_all(text.as_bytes())?))?;
    messages::diagnostics("correlate", &found.counts.attributed.diagnostics, messages::Kept::InDataset);
    if let Some(sentence) = found.lost.sentence() {
        messages::warning(&sentence);
    }
    Ok(if found.counts.diagnostics.errors() > 0 { Outcome::WithLosses } else { Outcome::Clean })
}
