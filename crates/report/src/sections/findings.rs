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
        blocks.push(Block::Text(format!("Nothing that could be judged and changed takes {least} of the core time or makespan.")));
    } else {
        blocks.push(Block::Cards(cards));
    }
    let not_judged = &found.findings.not_judged;
    if !not_judged.is_empty() {
        let line = |of: &flowmine_discover::findings::NotJudged| {
            let rules: Vec<String> = of.rules.iter().map(|rule| rule.replace('-', " ")).collect();
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
        action: of.action.clone(),
        gain: format!("{}.", visible(&gain)),
    }
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
