//! What a log file is found to have wrong with it.

use flowmine_eventlog::read::{Finding, Severity};

/// How many findings are kept of one kind; the rest is counted.
const FINDINGS_OF_A_KIND: u64 = 20;

/// Findings, not more than a few of a kind.
#[derive(Debug, Default)]
pub struct Findings {
    kept: Vec<Finding>,
    counts: Vec<(&'static str, u64, usize)>,
}

impl Findings {
    /// Takes a finding; of one rule only the first twenty are kept, the others are counted.
    pub fn push(&mut self, finding: Finding) {
        match self.counts.iter_mut().find(|(rule, ..)| *rule == finding.rule) {
            Some((_, count, _)) => {
                *count += 1;
                if *count > FINDINGS_OF_A_KIND {
                    return;
                }
            }
            None => self.counts.push((finding.rule, 1, self.kept.len())),
        }
        self.kept.push(finding);
    }

    /// Those kept, and for each kind of which there are more one that says how many.
    pub fn finish(mut self) -> Vec<Finding> {
        for (rule, count, first) in self.counts {
            if count > FINDINGS_OF_A_KIND {
                let more = count - FINDINGS_OF_A_KIND;
                let severity = self.kept[first].severity;
                let message = format!("{more} more of this kind");
                self.kept.push(Finding { severity, rule, line: None, column: None, place: String::new(), message });
            }
        }
        self.kept
    }
}

pub(crate) fn found(severity: Severity, rule: &'static str, place: &str, message: impl Into<String>) -> Finding {
    Finding { severity, rule, line: None, column: None, place: place.to_owned(), message: message.into() }
}
