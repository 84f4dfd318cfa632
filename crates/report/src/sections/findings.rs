//! The findings that come first, with their evidence, share, action and gain.

use flowmine_discover::findings::thresholds::LEAST_SHARE;
use flowmine_discover::findings::{Example, Finding};
use flowmine_discover::pictures::findings as picture;
use flowmine_draw::axis::percent;
use flowmine_draw::text::duration;
use flowmine_schema::text::visible;

use super::words::INSTANCES;
use crate::block::{Block, Card, Evidence};
use crate::results::LogResults;

/// Number of activities that the sentence of a finding names.
const IN_SENTENCE: usize = 3;

/// The most activities that a card lists; the table of findings has all.
const MOST_ACTIVITIES: usize = 50;

/// The first findings as blocks.
pub fn cards(found: &LogResults, most: usize) -> Vec<Block> {
    if !found.log.has_intervals() {
        return vec![Block::missing(
            "The log has one moment for each activity: running and waiting cannot be distinguished.",
            "Record the start and the end of each activity.",
        )];
    }
    let cards: Vec<Card> = found.findings.findings.iter().take(most).enumerate().map(|(at, of)| card(at + 1, of)).collect();
    let mut blocks = Vec::new();
    if cards.is_empty() {
        let least = percent(LEAST_SHARE.value);
        blocks.push(Block::Text(format!(
            "No finding: nothing that the data can show costs {least} or more of the core time or of the makespan."
        )));
    } else {
        blocks.push(Block::Cards(cards));
    }
    let not_judged = &found.findings.not_judged;
    if !not_judged.is_empty() {
        let line = |of: &flowmine_discover::findings::NotJudged| {
            let rules: Vec<String> = of.rules.iter().map(|rule| rule_words(rule)).collect();
            format!("Not judged, for lack of {}: {}. {}", of.missing, rules.join(", "), of.record)
        };
        blocks.push(Block::List(not_judged.iter().map(line).collect()));
    }
    blocks
}

fn card(rank: usize, of: &Finding) -> Card {
    let gain = picture::gain(&of.gain);
    Card {
        rank,
        found: format!("{}.", visible(&of.found)),
        cost: picture::at_stake(of),
        evidence: of.examples.iter().map(evidence).collect(),
        all_activities: of.activities.len(),
        activities: activities(of),
        action: of.action.clone(),
        gain: format!("{}.", visible(&gain)),
    }
}

/// The name of a rule in words.
pub fn rule_words(rule: &str) -> String {
    let words = rule.split('-').map(|word| match word {
        "cpu" => "CPU",
        "cpus" => "CPUs",
        "io" => "I/O",
        other => other,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// All activities of a finding with their shares, where its sentence does not name them all.
fn activities(of: &Finding) -> Vec<Evidence> {
    if of.activities.len() <= IN_SENTENCE {
        return Vec::new();
    }
    let named = of.activities.iter().zip(&of.activity_shares).take(MOST_ACTIVITIES);
    let link = |(name, share): (&String, &f64)| {
        let value = visible(name).into_owned();
        Evidence { words: format!("{value}: {}", percent(*share)), table: INSTANCES, column: "activity", value }
    };
    named.map(link).collect()
}

/// An instance, with the row of the table that describes it.
fn evidence(example: &Example) -> Evidence {
    let who = &example.who;
    let case = example.case.as_deref().unwrap_or_default();
    let (column, value) = match (&who.job, &who.task) {
        (Some(job), _) => ("job", visible(job).into_owned()),
        (None, Some(task)) => ("task", visible(task).into_owned()),
        (None, None) => ("case", visible(case).into_owned()),
    };
    let who = who.words().unwrap_or_else(|| format!("case {}", visible(case)));
    let words = format!("{}, {who}", duration(example.time_ns as f64));
    Evidence { words, table: INSTANCES, column, value }
}
