//! The first screen: what was observed, what to do first, and what failed.

use super::{failures, findings, observed};
use crate::ReportError;
use crate::block::{Block, Section};
use crate::results::Results;

/// Number of findings on the first screen.
const FINDINGS: usize = 3;

/// The title of the page.
pub fn title(results: &Results) -> String {
    let Ok(found) = &results.log else { return "Nothing to report".to_owned() };
    let about = &found.summary.about;
    match results.sources.as_slice() {
        [] => about.counted(about.instances),
        [one] => format!("{} of {}", about.counted(about.instances), name(one)),
        [first, rest @ ..] => format!("{} of {} and {} more", about.counted(about.instances), name(first), rest.len()),
    }
}

/// The last part of a path, fit to be seen.
fn name(path: &str) -> String {
    let path = path.trim_end_matches('/');
    flowmine_schema::text::visible(path.rsplit('/').next().unwrap_or(path)).into_owned()
}

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let mut blocks = Vec::new();
    match &results.log {
        Ok(found) => {
            blocks.push(Block::Facts(observed::facts(results, found)));
            blocks.push(Block::Heading("What to do first".to_owned()));
            blocks.extend(findings::cards(found, FINDINGS));
            blocks.extend(failures::blocks(found)?);
        }
        Err(reason) => {
            blocks.push(Block::missing(
                format!("There is no job, task or event to report on: {reason}."),
                "Give a dataset with rows, a log, or the files of a workflow engine.",
            ));
            blocks.push(Block::Facts(vec![observed::sources(results)]));
        }
    }
    blocks.push(Block::Heading("How complete it is".to_owned()));
    let sentences = observed::completeness(results);
    blocks.push(if sentences.is_empty() { Block::Text("Nothing is known to be missing.".to_owned()) } else { Block::List(sentences) });
    Ok(Section { id: "overview", title: "Overview", question: "The outcome, the largest costs, and the failures.", blocks })
}
