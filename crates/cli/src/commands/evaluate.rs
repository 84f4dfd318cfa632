//! `flowmine evaluate`: reports how far case notions agree with a truth.

use flowmine_api::evaluate::{Evaluated, Options, Reliability, evaluate};

use crate::args::Evaluate;
use crate::outcome::Outcome;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Reports how far case notions agree with a truth.
pub fn run(args: &Evaluate) -> anyhow::Result<Outcome> {
    let options = Options { dataset: args.source.dir()?.to_owned(), truth: args.truth.clone(), notions: args.notion.clone() };
    let found = evaluate(&options, &Terminal)?;
    output::write(None, |out| {
        let titles = ["precision", "recall", "F1", "rand", "V", "cases", "true", "exact", "split", "merged"];
        writeln!(out, "{:<16}{}", "notion", titles.map(|title| format!("{title:>10}")).concat())?;
        for Evaluated { notion, agreement: of, .. } in &found.notions {
            let shares = [of.precision, of.recall, of.f1, of.adjusted_rand, of.v_measure].map(|share| format!("{share:>10.3}"));
            let counts = [of.found_cases, of.true_cases, of.exact, of.split, of.merged].map(|count| format!("{count:>10}"));
            writeln!(out, "{notion:<16}{}{}", shares.concat(), counts.concat())?;
        }
        for evaluated in found.notions.iter().filter(|evaluated| !evaluated.reliability.is_empty()) {
            writeln!(out, "\n{:<16}{:>10}{:>12}{:>10}", evaluated.notion, "jobs", "confidence", "right")?;
            for Reliability { jobs, confidence, right } in &evaluated.reliability {
                writeln!(out, "{:<16}{jobs:>10}{confidence:>12.3}{right:>10.3}", "")?;
            }
        }
        Ok(())
    })?;
    if found.without_truth > 0 {
        messages::note(&format!("flowmine: note: {} jobs are left out: the truth does not have them", found.without_truth));
    }
    Ok(Outcome::Clean)
}
