//! `flowmine evaluate`: reports how far case notions agree with a truth, or how good their models are.

use std::io::{self, Write};

use flowmine_api::evaluate::{
    Agreement, Evaluated, EvaluatedSteps, Found, OfEvidence, OfModel, Options, Reliability, evaluate, evaluate_models, evaluate_steps,
    models_json,
};

use crate::args::Evaluate;
use crate::outcome::Outcome;
use crate::terminal::Terminal;
use crate::{messages, output};

/// Reports how far case notions agree with a truth.
pub fn run(args: &Evaluate) -> anyhow::Result<Outcome> {
    let truth = args.truth.clone();
    if args.steps {
        let found = evaluate_steps(args.source.dir()?, &truth.unwrap_or_default(), &Terminal)?;
        output::write(None, |out| {
            titles("evidence", "steps", out)?;
            found.iter().try_for_each(|EvaluatedSteps { evidence, agreement }| row(evidence, agreement, out))?;
            Ok(())
        })?;
        return Ok(Outcome::Clean);
    }
    let is_of_models = truth.is_none();
    let options = Options { dataset: args.source.dir()?.to_owned(), truth: truth.unwrap_or_default(), notions: args.notion.clone() };
    if is_of_models {
        let found = evaluate_models(&options, &Terminal)?;
        output::write(None, |out| if args.json { Ok(writeln!(out, "{:#}", models_json(&found))?) } else { Ok(models(&found, out)?) })?;
        return Ok(Outcome::Clean);
    }
    let found = evaluate(&options, &Terminal)?;
    output::write(None, |out| if args.json { Ok(writeln!(out, "{:#}", found.json())?) } else { Ok(text(&found, out)?) })?;
    if found.without_truth > 0 {
        messages::note(&format!("flowmine: note: {} jobs are left out: the truth does not have them", found.without_truth));
    }
    Ok(Outcome::Clean)
}

fn text(found: &Found, out: &mut dyn Write) -> io::Result<()> {
    titles("notion", "cases", out)?;
    for Evaluated { notion, agreement, .. } in &found.notions {
        row(notion, agreement, out)?;
    }
    for evaluated in found.notions.iter().filter(|evaluated| !evaluated.evidence.is_empty()) {
        let titles = ["jobs", "share", "precision", "recall", "F1", "right"].map(|title| format!("{title:>10}"));
        writeln!(out, "\n{:<20}{}", format!("{} by", evaluated.notion), titles.concat())?;
        for OfEvidence { reason, jobs, share, agreement, right } in &evaluated.evidence {
            let shares = [*share, agreement.precision, agreement.recall, agreement.f1, *right].map(|share| format!("{share:>10.3}"));
            writeln!(out, "  {reason:<18}{jobs:>10}{}", shares.concat())?;
        }
    }
    for evaluated in found.notions.iter().filter(|evaluated| !evaluated.reliability.is_empty()) {
        writeln!(out, "\n{:<16}{:>10}{:>12}{:>10}", evaluated.notion, "jobs", "confidence", "right")?;
        for Reliability { jobs, confidence, right } in &evaluated.reliability {
            writeln!(out, "{:<16}{jobs:>10}{confidence:>12.3}{right:>10.3}", "")?;
        }
    }
    Ok(())
}

fn models(found: &[OfModel], out: &mut dyn Write) -> io::Result<()> {
    let titles = ["cases", "variants", "fitness", "precision", "simplicity"].map(|title| format!("{title:>12}"));
    writeln!(out, "{:<20}{}", "notion", titles.concat())?;
    for OfModel { notion, cases, variants, fitness, precision, simplicity } in found {
        let shares = [fitness, precision, simplicity].map(|share| match share {
            Some(share) => format!("{share:>12.3}"),
            None => format!("{:>12}", "unknown"),
        });
        writeln!(out, "{notion:<20}{cases:>12}{variants:>12}{}", shares.concat())?;
    }
    Ok(())
}

fn titles(first: &str, found: &str, out: &mut dyn Write) -> io::Result<()> {
    let titles = ["precision", "recall", "F1", "rand", "V", found, "true", "exact", "split", "merged"];
    writeln!(out, "{first:<18}{}", titles.map(|title| format!("{title:>10}")).concat())
}

fn row(name: &str, of: &Agreement, out: &mut dyn Write) -> io::Result<()> {
    let shares = [of.precision, of.recall, of.f1, of.adjusted_rand, of.v_measure].map(|share| format!("{share:>10.3}"));
    let counts = [of.found_cases, of.true_cases, of.exact, of.split, of.merged].map(|count| format!("{count:>10}"));
    writeln!(out, "{name:<18}{}{}", shares.concat(), counts.concat())
}
