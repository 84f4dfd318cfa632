//! `flowmine correlate`: writes the derived tables of a dataset.

use flowmine_api::correlate::{Options, correlate};

use crate::args::Correlate;
use crate::terminal::Terminal;
use crate::{Outcome, messages, output};

/// Runs `flowmine correlate`: writes the derived tables.
pub fn run(args: &Correlate) -> anyhow::Result<Outcome> {
    let options =
        Options { dataset: args.source.dir()?.to_owned(), as_owner: args.written.as_owner, case_notion: args.case_notion.clone() };
    let found = correlate(&options, &Terminal)?;
    output::write(None, |out| Ok(out.write_all(found.text().as_bytes())?))?;
    messages::diagnostics("correlate", &found.counts.attributed.diagnostics, messages::Kept::InDataset);
    if let Some(sentence) = found.lost.sentence() {
        messages::warning(&sentence);
    }
    Ok(if found.counts.diagnostics.errors() > 0 { Outcome::WithLosses } else { Outcome::Clean })
}
