//! Handovers of work as a graph, as text, as a table and as JSON.

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::document::{self, Document, DocumentFormat};
use flowmine_draw::graph::{Edge, Graph, Node};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::scale::{WidthScale, box_colour};
use flowmine_draw::text::{count, counted, duration, visible};

use super::csv::{Csv, mean_seconds, seconds};
use super::text_table::{self, Column};
use crate::handover::{Handover, Pass, Resource};

const LINE: &str = "#5b6b7f";

/// The name of a resource, as text that is fit to be seen.
fn name(resource: &Resource) -> String {
    resource.name.as_deref().map_or_else(|| "(not known)".to_owned(), visible)
}

/// Makes a graph: a node for each resource, an edge for each pair that handed work over.
pub fn graph(found: &Handover) -> Graph {
    let boxes = WidthScale::new(found.resources.iter().map(|resource| resource.instances));
    let widths = WidthScale::new(found.handovers.iter().map(|pass| pass.count));
    let mut picture = Graph { name: "handover", title: format!("Handover of work by {}", visible(&found.by)), ..Graph::default() };
    picture.facts.push(facts(found));
    picture.facts.extend(found.about.facts());
    picture.nodes = found.resources.iter().enumerate().map(|(at, resource)| node(found, at, resource, boxes)).collect();
    picture.edges = found.handovers.iter().map(|pass| edge(found, pass, widths)).collect();
    let samples = boxes.samples().into_iter().map(|n| (box_colour(boxes, n), count(n))).collect();
    let word = found.about.word();
    picture.legend.push(Entry::new(format!("Node: {} and its {word}s", visible(&found.by)), Sample::Boxes(samples), ""));
    let samples = widths.samples().into_iter().map(|n| (widths.width(n), count(n))).collect();
    let what = "with the median time from the end of the first to the start of the second";
    picture.legend.push(Entry::new("Edge: number of handovers", Sample::Widths(samples), what));
    let stays = found.handovers.iter().any(|pass| pass.from == pass.to);
    let dashed = Entry::new("Dashed: work that stays", Sample::Dashed(LINE.to_owned(), 1.5), "number of steps");
    picture.legend.extend(stays.then_some(dashed));
    picture
}

fn facts(found: &Handover) -> String {
    let handed_over = counted(found.handed_over, "handover", "handovers");
    format!("{handed_over} from one to another, {} at which work stayed.", steps(found.kept))
}

fn steps(n: u64) -> String {
    counted(n, "step", "steps")
}

fn node(found: &Handover, at: usize, resource: &Resource, boxes: WidthScale) -> Node {
    let instances = found.about.counted(resource.instances);
    Node {
        id: format!("r{at}"),
        name: name(resource),
        lines: vec![count(resource.instances)],
        fill: box_colour(boxes, resource.instances),
        unsure: resource.name.is_none(),
        title: vec![name(resource), instances, counted(resource.cases, "case", "cases")],
        data: vec![("instances", resource.instances.into()), ("cases", resource.cases.into())],
        ..Node::default()
    }
}

fn edge(found: &Handover, pass: &Pass, widths: WidthScale) -> Edge {
    let [from, to] = [pass.from, pass.to].map(|at| found.resources.get(at).map_or(String::new(), name));
    let mut label = vec![count(pass.count)];
    let stays = pass.from == pass.to;
    let how_often =
        if stays { format!("{} at which work stayed", steps(pass.count)) } else { counted(pass.count, "handover", "handovers") };
    let mut title = vec![format!("{from} → {to}"), how_often, counted(pass.cases, "case", "cases")];
    let mut data = vec![("count", pass.count.into()), ("cases", pass.cases.into())];
    if let Some(between) = pass.between_ns {
        label.push(duration(between.median));
        title.push(format!(
            "time between (known of {}): median {}, longest {}, sum {}",
            count(between.count),
            duration(between.median),
            duration(between.max as f64),
            duration(between.sum as f64)
        ));
        data.push(("between_median_s", (between.median / 1e9).into()));
        data.push(("between_sum_s", (between.sum as f64 / 1e9).into()));
    }
    Edge {
        from: pass.from,
        to: pass.to,
        label,
        colour: LINE.to_owned(),
        width: widths.width(pass.count),
        dashed: stays,
        weight: pass.count,
        title,
        data,
        ..Edge::default()
    }
}

/// The number of pairs that are shown in a terminal.
const SHOWN: usize = 20;

/// Writes the pairs for a terminal, those with most handovers first.
pub fn text(found: &Handover) -> String {
    let about = &found.about;
    let mut out = format!("{}, {}\n", counted(about.cases, "case", "cases"), about.counted(about.instances));
    for fact in about.facts().into_iter().chain([facts(found)]) {
        let _ = writeln!(out, "{}", visible(&fact));
    }
    let mut passes: Vec<&Pass> = found.handovers.iter().filter(|pass| pass.from != pass.to).collect();
    passes.sort_by_key(|pass| (std::cmp::Reverse(pass.count), pass.from, pass.to));
    let shown = &passes[..passes.len().min(SHOWN)];
    if shown.is_empty() {
        return out;
    }
    let of = |at: usize| found.resources.get(at).map_or(String::new(), name);
    let column = |heading: &str, right: bool, cell: &dyn Fn(&Pass) -> String| Column {
        heading: heading.to_owned(),
        right,
        cells: shown.iter().map(|pass| cell(pass)).collect(),
        ..Column::default()
    };
    out.push('\n');
    out.push_str(&text_table::write(&[
        column("from", false, &|pass| of(pass.from)),
        column("to", false, &|pass| of(pass.to)),
        column("handovers", true, &|pass| count(pass.count)),
        column("cases", true, &|pass| count(pass.cases)),
        column("median between", true, &|pass| pass.between_ns.map_or(String::new(), |between| duration(between.median))),
    ]));
    let more = passes.len() - shown.len();
    if more > 0 {
        let _ = writeln!(out, "\n{}; --format csv and json have all.", counted(more as u64, "pair more", "pairs more"));
    }
    out
}

/// Writes the pairs as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(found: &Handover, out: impl Write) -> io::Result<()> {
    let columns = [
        "from",
        "to",
        "count",
        "cases",
        "between_known",
        "between_sum_s",
        "between_mean_s",
        "between_median_s",
        "between_p95_s",
        "between_max_s",
    ];
    let mut table = Csv::new(out, &columns)?;
    for pass in &found.handovers {
        for at in [pass.from, pass.to] {
            match found.resources.get(at).and_then(|resource| resource.name.as_deref()) {
                Some(name) => table.text(name),
                None => table.number(None::<u64>),
            };
        }
        let between = pass.between_ns;
        table.count(pass.count).count(pass.cases).count(between.map_or(0, |between| between.count));
        table.number(between.map(|between| seconds(between.sum)));
        for of in [between.map(|of| of.mean), between.map(|of| of.median), between.map(|of| of.p95)] {
            table.number(of.and_then(mean_seconds));
        }
        table.number(between.map(|between| seconds(between.max.into())));
        table.end()?;
    }
    table.finish()
}

impl Document for Handover {
    const FORMAT: &'static str = "flowmine-handover";
}

/// The format of the JSON document.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Handover>();

/// Writes the JSON document.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(found: &Handover, out: impl Write) -> io::Result<()> {
    document::write(found, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Stats;

    fn found() -> Handover {
        let resource = |name: Option<&str>| Resource { name: name.map(str::to_owned), instances: 2, cases: 1 };
        let between_ns = Stats::new(&mut [1_000_000_000, 3_000_000_000]);
        Handover {
            by: "user".to_owned(),
            resources: vec![resource(Some("<b>&\u{1b}[31m")), resource(None)],
            handovers: vec![
                Pass { from: 0, to: 0, count: 1, cases: 1, between_ns: None },
                Pass { from: 0, to: 1, count: 2, cases: 1, between_ns },
            ],
            ..Handover::default()
        }
    }

    #[test]
    fn names_are_made_visible_and_unknown_is_empty() {
        let mut table = Vec::new();
        csv(&found(), &mut table).expect("a vector takes all");
        let table = String::from_utf8_lossy(&table).into_owned();
        assert!(table.ends_with(",,2,1,2,4,2,2,2.9,3\r\n"), "{table}");
        let shown = text(&found());
        assert!(!shown.contains('\u{1b}') && shown.contains("(not known)") && shown.ends_with(" 2s\n"), "{shown}");
        let drawn = flowmine_draw::svg::svg(&graph(&found())).expect("small");
        assert!(!drawn.contains("<b>") && drawn.contains("(not known)"), "{drawn}");
        // The first keeps a step, and hands over twice.
        assert!(drawn.contains("1 step at which work stayed") && drawn.contains("2 handovers") && !drawn.contains("1 handover"), "{drawn}");
        assert!(drawn.contains("Dashed: work that stays"), "{drawn}");
    }
}
