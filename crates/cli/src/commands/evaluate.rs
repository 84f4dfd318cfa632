//! `flowmine evaluate`: reports how far case notions agree with a truth.

use std::io::{self, Write};

use flowmine_api::evaluate::{Agreement, Evaluated, EvaluatedSteps, Options, Reliability, evaluate, evaluate_steps};

use crate::args::Evaluate;
use crate::outcome::Outcome;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Reports how far case notions agree with a truth.
pub fn run(args: &Evaluate) -> anyhow::Result<Outcome> {
    if args.steps {
        let found = evaluate_steps(args.source.dir()?, &args.truth, &Terminal)?;
        output::write(None, |out| {
            titles("evidence", "steps", out)?;
            found.iter().try_for_each(|EvaluatedSteps { evidence, agreement }| row(evidence, agreement, out))?;
            Ok(())
        })?;
        return Ok(Outcome::Clean);
    }
    let options = Options { dataset: args.source.dir()?.to_owned(), truth: args.truth.clone(), notions: args.notion.clone() };
    let found = evaluate(&options, &Terminal)?;
    output::write(None, |out| {
        titles("notion", "cases", out)?;
        for Evaluated { notion, agreement, .. } in &found.notions {
            row(notion, agreement, out)?;
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

fn titles(first: &str, found: &str, out: &mut dyn Write) -> io::Result<()> {
    let titles = ["precision", "recall", "F1", "rand", "V", found, "true", "exact", "split", "merged"];
    writeln!(out, "{first:<16}{}", titles.map(|title| format!("{title:>10}")).concat())
}

fn row(name: &str, of: &Agreement, out: &mut dyn Write) -> io::Result<()> {
    let shares = [of.precision, of.recall, of.f1, of.adjusted_rand, of.v_measure].map(|share| format!("{share:>10.3}"));
    let counts = [of.found_cases, of.true_cases, of.exact, of.split, of.merged].map(|count| format!("{count:>10}"));
    writeln!(out, "{name:<16}{}{}", shares.concat(), counts.concat())
}
