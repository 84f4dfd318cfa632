//! What was evaluated, as JSON.

use serde_json::{Value, json};

use super::{Agreement, Evaluated, Found, OfEvidence, OfModel, Reliability};

impl Found {
    /// Returns the measures as JSON.
    pub fn json(&self) -> Value {
        let notions: Vec<Value> = self.notions.iter().map(of_notion).collect();
        json!({ "notions": notions, "jobs_without_truth": self.without_truth })
    }
}

fn of_notion(of: &Evaluated) -> Value {
    let evidence = |OfEvidence { reason, jobs, share, agreement, right }: &OfEvidence| json!({ "evidence": reason, "jobs": jobs, "share": share, "right": right, "measures": measures(agreement) });
    let range = |Reliability { jobs, confidence, right }: &Reliability| json!({ "jobs": jobs, "confidence": confidence, "right": right });
    json!({
        "notion": of.notion,
        "measures": measures(&of.agreement),
        "evidence": of.evidence.iter().map(evidence).collect::<Vec<_>>(),
        "reliability": of.reliability.iter().map(range).collect::<Vec<_>>(),
    })
}

fn measures(of: &Agreement) -> Value {
    json!({
        "precision": of.precision, "recall": of.recall, "f1": of.f1, "adjusted_rand": of.adjusted_rand, "v_measure": of.v_measure,
        "jobs": of.jobs, "cases": of.found_cases, "true_cases": of.true_cases, "exact": of.exact, "split": of.split, "merged": of.merged,
    })
}

/// Returns the models of notions as JSON.
pub fn models_json(models: &[OfModel]) -> Value {
    let of = |of: &OfModel| {
        json!({
            "notion": of.notion, "cases": of.cases, "variants": of.variants,
            "fitness": of.fitness, "precision": of.precision, "simplicity": of.simplicity,
        })
    };
    json!({ "models": models.iter().map(of).collect::<Vec<_>>() })
}
