//! Takes what a check finds, shows the first of each rule with their places and counts the rest.

use std::collections::{BTreeMap, HashSet};

use super::rules::Rule;
use crate::id_hash::IdHash;
use crate::read::input::Position;
use crate::read::{Finding, Severity};

/// How many keys, prefixes and names are remembered so that they are not reported again.
const REMEMBERED: usize = 10_000;

/// Takes findings, gives the first of each rule and counts the rest.
pub(super) struct Report<'a> {
    found: &'a mut dyn FnMut(Finding),
    /// In the order of their words, so that what comes at the end has an order.
    counts: BTreeMap<&'static str, (&'static Rule, u64)>,
    said: HashSet<(&'static str, IdHash)>,
}

impl<'a> Report<'a> {
    pub(super) fn new(found: &'a mut dyn FnMut(Finding)) -> Self {
        Self { found, counts: BTreeMap::new(), said: HashSet::new() }
    }

    /// Reports something. Place and message are made only if they are shown.
    pub(super) fn add(&mut self, rule: &'static Rule, at: Position, place: impl FnOnce() -> String, message: impl FnOnce() -> String) {
        let (_, count) = self.counts.entry(rule.word).or_insert((rule, 0));
        *count += 1;
        if *count <= rule.shown {
            let (line, column) = (Some(at.line), Some(at.column));
            (self.found)(Finding { severity: rule.severity, rule: rule.word, line, column, place: place(), message: message() });
        }
    }

    /// Whether no more findings of this rule are shown.
    pub(super) fn is_full(&self, rule: &'static Rule) -> bool {
        self.counts.get(rule.word).is_some_and(|(_, count)| *count >= rule.shown)
    }

    /// Counts what is not shown any more.
    pub(super) fn count(&mut self, rule: &'static Rule, more: u64) {
        self.counts.entry(rule.word).or_insert((rule, 0)).1 += more;
    }

    /// Reports something once for each `key`.
    pub(super) fn once(
        &mut self,
        rule: &'static Rule,
        key: &str,
        at: Position,
        place: impl FnOnce() -> String,
        message: impl FnOnce() -> String,
    ) {
        if self.said.len() < REMEMBERED && self.said.insert((rule.word, IdHash::new(key))) {
            self.add(rule, at, place, message);
        }
    }

    /// Says how much was not shown.
    pub(super) fn finish(self) {
        for (word, (rule, count)) in self.counts {
            if count > rule.shown {
                let message = format!("{} more of the same; {} shown, {count} in all", count - rule.shown, rule.shown);
                let place = String::new();
                (self.found)(Finding { severity: rule.severity, rule: word, line: None, column: None, place, message });
            }
        }
    }
}

/// What was found, counted as it passes.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) errors: u64,
    pub(super) warnings: u64,
    pub(super) notes: u64,
}

impl Tally {
    pub(super) fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Note => self.notes += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules::{NOT_JSON, SHOWN, VALUE_NOT_STRING};
    use super::*;

    #[test]
    fn the_first_are_shown_and_the_rest_counted() {
        let mut findings = Vec::new();
        let mut take = |finding| findings.push(finding);
        let mut report = Report::new(&mut take);
        for _ in 0..SHOWN + 5 {
            report.add(&NOT_JSON, Position::START, String::new, String::new);
            report.add(&VALUE_NOT_STRING, Position::START, String::new, String::new);
        }
        report.finish();
        assert_eq!(findings.len(), 103);
        assert_eq!(findings[101].message, "5 more of the same; 100 shown, 105 in all");
        assert_eq!((findings[102].rule, findings[102].line), ("value_not_string", None));
    }
}
