//! `flowmine correlate` and `flowmine merge`: write the derived tables of a dataset.

use flowmine_api::correlate::{Found, Options, correlate};
use flowmine_api::partial;
use flowmine_schema::text::visible;

use crate::args::{Correlate, Merge};
use crate::terminal::Terminal;
use crate::{Outcome, messages, output};

/// Runs `flowmine correlate`: writes the derived tables, or partial results of hosts.
pub fn run(args: &Correlate) -> anyhow::Result<Outcome> {
    let dataset = args.source.dir()?.to_owned();
    if let Some(dir) = &args.partial {
        return make_partials(&partial::Options { dataset, hosts: args.host.clone(), dir: dir.clone() });
    }
    let (as_owner, case_notion, hubs) = (args.written.as_owner, args.cases.case_notion.clone(), args.cases.hubs());
    write_tables(&Options { dataset, as_owner, case_notion, hubs, partials: Vec::new() }, args.cases.json)
}

/// Runs `flowmine merge`: writes the derived tables from partial results.
pub fn merge(args: &Merge) -> anyhow::Result<Outcome> {
    let (as_owner, case_notion, hubs) = (args.written.as_owner, args.cases.case_notion.clone(), args.cases.hubs());
    write_tables(&Options { dataset: args.dataset.clone(), as_owner, case_notion, hubs, partials: args.partials.clone() }, args.cases.json)
}

fn write_tables(options: &Options, json: bool) -> anyhow::Result<Outcome> {
    report_tables(&correlate(options, &Terminal)?, json)
}

/// Prints what was found while the tables were written.
pub fn report_tables(found: &Found, json: bool) -> anyhow::Result<Outcome> {
    let text = if json { format!("{:#}\n", found.json()) } else { found.text() };
    output::write(None, |out| Ok(out.write_all(text.as_bytes())?))?;
    messages::diagnostics("correlate", &found.counts.attributed.diagnostics, messages::Kept::InDataset);
    if let Some(sentence) = found.lost.sentence() {
        messages::warning(&sentence);
    }
    Ok(if found.counts.diagnostics.errors() > 0 { Outcome::WithLosses } else { Outcome::Clean })
}

fn make_partials(options: &partial::Options) -> anyhow::Result<Outcome> {
    report_partials(&partial::make(options, &Terminal)?)
}

/// Prints which partial results were made.
pub fn report_partials(done: &partial::Made) -> anyhow::Result<Outcome> {
    output::write(None, |out| {
        for (hosts, outcome) in [(&done.made, "partial result written"), (&done.kept, "partial result is up to date")] {
            for host in hosts {
                writeln!(out, "{}: {outcome}", visible(host))?;
            }
        }
        Ok(())
    })?;
    Ok(Outcome::Clean)
}
