//! Work over time: throughput, arrivals, cases and passages from activity to activity.

use flowmine_discover::pictures::{arrivals, dotted_chart as dots, performance_spectrum as spectrum};
use flowmine_discover::{dotted_chart, performance_spectrum};

use crate::ReportError;
use crate::block::Block;
use crate::results::LogResults;

/// The most dots and lines of a figure on the page.
const MOST_MARKS: usize = 4000;

/// The figures.
pub fn blocks(found: &LogResults) -> Result<Vec<Block>, ReportError> {
    let log = &found.log;
    if found.arrivals.columns.is_empty() {
        return Ok(vec![Block::missing("No time is known.", "Record the time of each event.")]);
    }
    let mut blocks = vec![
        Block::figure("throughput", "Work that arrived, started and ended over time.", &arrivals::throughput(&found.arrivals))?,
        Block::figure("arrivals", "Work by weekday and hour of its arrival.", &arrivals::hours(&found.arrivals))?,
    ];
    let Some(cases) = log.cases() else { return Ok(blocks) };
    let chart = dotted_chart::discover(log, cases, &dotted_chart::Options::default());
    let drawing = dots::Drawing { most_dots: MOST_MARKS, ..dots::Drawing::default() };
    blocks.push(Block::figure("dots", "Dotted chart: each case is a row, each activity instance a mark.", &dots::svg(&chart, &drawing))?);
    // A log whose most frequent variant has one activity has no passage.
    if let Ok(passages) = performance_spectrum::discover(log, cases, &performance_spectrum::Options::default())
        && passages.segments.iter().any(|segment| !segment.passages.is_empty())
    {
        let drawing = spectrum::Drawing { most_lines: MOST_MARKS };
        let caption = "Performance spectrum: each line is a passage from one activity to the next; slow passages lean.";
        blocks.push(Block::figure("spectrum", caption, &spectrum::svg(&passages, &drawing))?);
    }
    Ok(blocks)
}
