//! Process models as pictures (a process tree as a BPMN-like diagram, a Petri net as a graph), as
//! text, JSON, PNML and BPMN 2.0.

use std::fmt::Write as _;
use std::io::{self, Write};

use flowmine_draw::document::{self, Document, DocumentFormat, Entries};
use flowmine_draw::graph::{Datum, Direction, Edge, Graph, Node, Shape as NodeShape};
use flowmine_draw::legend::{Entry, Sample};
use flowmine_draw::sheet::{Frame, Num, Part, Sheet, TEXT, WEAK_TEXT};
use flowmine_draw::text::{count, counted, duration, visible, width, wrap_name, wrap_words};
use flowmine_process_models::declare::Constraint;
use flowmine_process_models::layout::{Kind, Layout, Sizes};
use flowmine_process_models::net::Transition;
use flowmine_process_models::{FlatTree, PetriNet, ProcessTree, bpmn, pnml};
use schemars::JsonSchema;
use serde::Serialize;

use super::csv::Csv;
use crate::about::About;
use crate::process_model::{Constraints, ProcessModel};

/// What was measured, in sentences.
fn facts(model: &ProcessModel) -> Vec<String> {
    let mut facts = vec![format!(
        "{}, {}, {}; {}.",
        counted(model.about.cases, "case", "cases"),
        model.about.counted(model.about.instances),
        counted(model.variants, "variant", "variants"),
        if model.noise > 0.0 {
            format!("Inductive Miner – infrequent, noise threshold {}", model.noise)
        } else {
            "Inductive Miner".to_owned()
        }
    )];
    facts.extend(model.about.facts());
    let mut measures = format!("Token replay: fitness {:.4}, {:.1} % of cases without a fault", model.fitness, model.fitting_cases * 100.0);
    if let Some(precision) = model.precision {
        let _ = write!(measures, "; precision {precision:.4}");
    }
    let _ = write!(measures, "; generalisation {:.4}.", model.generalisation);
    facts.push(measures);
    if let Some(fitness) = model.alignment_fitness {
        let mut words = format!("Alignments: fitness {fitness:.4}");
        if model.not_aligned > 0 {
            let _ = write!(words, "; {} would take too long and are not in it", counted(model.not_aligned, "case", "cases"));
        }
        words.push('.');
        facts.push(words);
    }
    for (number, one, many) in [
        (
            model.flowers,
            "part is a flower: any number of its activities in any order",
            "parts are flowers: any number of their activities in any order",
        ),
        (model.passed_over, "fall-through was not tried, for time", "fall-throughs were not tried, for time"),
        (model.cut_short, "variant was replayed by a shorter search", "variants were replayed by a shorter search"),
    ] {
        if number > 0 {
            facts.push(format!("{}.", counted(number, one, many)));
        }
    }
    facts
}

const MARGIN: f64 = 24.0;

/// A4 in landscape: width to height.
const LANDSCAPE: f64 = 297.0 / 210.0;
/// A diagram of this width is readable in one row.
const ONE_ROW: i64 = 1000;

/// How the diagram of a process tree is arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// Direction of the flow; rows become columns if it is from top to bottom.
    pub direction: Option<Direction>,
    /// Width of a row in pixels; 0: one row. `None`: the diagram gets the ratio of A4 in landscape.
    pub row_width: Option<u64>,
}

impl Arrangement {
    fn layout(self, tree: &ProcessTree, sizes: Sizes) -> Layout {
        let turns = self.direction == Some(Direction::Down);
        let sizes = if turns { Sizes { task_width: sizes.task_height, task_height: sizes.task_width, ..sizes } } else { sizes };
        let row = self.row_width.map(|pixels| i64::try_from(pixels).unwrap_or(i64::MAX)).filter(|pixels| *pixels > 0);
        let layout = match self.row_width {
            None => Layout::of_ratio(tree, &sizes, LANDSCAPE, ONE_ROW),
            Some(_) => Layout::of_tree(tree, &Sizes { row, ..sizes }),
        };
        if turns { layout.turned() } else { layout }
    }
}

/// The process tree as a diagram of boxes and gateways, as BPMN draws them.
pub fn tree_svg(model: &ProcessModel, arrangement: Arrangement) -> String {
    let labels: Vec<Vec<String>> = model.tree.labels().iter().map(|name| wrap_name(name, 12.0, 132.0, 3)).collect();
    let widest = labels.iter().flatten().map(|line| width(line, 12.0)).fold(60.0, f64::max);
    let sizes = Sizes {
        task_width: widest.ceil() as i64 + 20,
        task_height: 54,
        gateway: 34,
        event: 24,
        gap_x: 26,
        gap_y: 16,
        margin: 4,
        row: None,
    };
    let layout = arrangement.layout(&model.tree, sizes);
    let inner = (layout.width as f64).max(520.0);
    let mut sheet = Sheet::default();
    sheet.begin(Part::Heading);
    let mut y = MARGIN;
    for line in wrap_words("Process model", 18.0 * 1.14, inner) {
        y += 20.0;
        sheet.text(MARGIN, y, 18.0, TEXT, "font-weight=\"bold\"", &line);
    }
    y += 6.0;
    let facts = facts(model);
    for fact in &facts {
        for line in wrap_words(&visible(fact), 12.0, inner) {
            y += 16.0;
            sheet.text(MARGIN, y, 12.0, WEAK_TEXT, "", &line);
        }
    }
    sheet.end();
    y += 18.0;
    sheet.drawing(Frame { x: MARGIN - 8.0, y: y - 8.0, w: layout.width as f64 + 16.0, h: layout.height as f64 + 16.0 });
    let _ = writeln!(sheet.body, "<g transform=\"translate({} {})\">", Num(MARGIN), Num(y));
    for edge in &layout.edges {
        let mut data = String::new();
        for (at, &(x, y)) in edge.points.iter().enumerate() {
            let _ = write!(data, "{}{} {}", if at == 0 { "M" } else { "L" }, Num(x as f64), Num(y as f64));
        }
        let _ = writeln!(sheet.body, "<path d=\"{data}\" fill=\"none\" stroke=\"#52606d\" stroke-width=\"1.4\"/>");
        if let [.., (bx, by), (x, y)] = edge.points[..] {
            let (dx, dy) = ((x - bx).signum() as f64, (y - by).signum() as f64);
            let (x, y) = (x as f64, y as f64);
            let (px, py) = (x - 7.0 * dx, y - 7.0 * dy);
            let data = format!(
                "M{} {}L{} {}L{} {}Z",
                Num(x),
                Num(y),
                Num(px - 3.5 * dy),
                Num(py + 3.5 * dx),
                Num(px + 3.5 * dy),
                Num(py - 3.5 * dx)
            );
            sheet.path(&data, "#52606d", "");
        }
    }
    for shape in &layout.shapes {
        let frame = Frame { x: shape.x as f64, y: shape.y as f64, w: shape.width as f64, h: shape.height as f64 };
        let (cx, cy) = (frame.x + frame.w / 2.0, frame.y + frame.h / 2.0);
        match shape.kind {
            Kind::Start => sheet.circle((cx, cy), frame.w / 2.0 - 1.0, "#ffffff", "#334155", 1.4),
            Kind::End => sheet.circle((cx, cy), frame.w / 2.0 - 1.5, "#ffffff", "#334155", 3.0),
            Kind::Task(activity) => {
                sheet.rect(frame, 6.0, "#e6f0f8", Some(("#5b6f82", 1.0)));
                let lines = labels.get(activity as usize).map_or(&[][..], Vec::as_slice);
                let top = cy - 8.0 * lines.len() as f64 + 12.0;
                for (at, line) in lines.iter().enumerate() {
                    sheet.text(cx, top + 16.0 * at as f64, 12.0, TEXT, "text-anchor=\"middle\"", line);
                }
            }
            Kind::XorSplit | Kind::XorJoin | Kind::AndSplit | Kind::AndJoin => {
                let r = frame.w / 2.0;
                let data = format!(
                    "M{} {}L{} {}L{} {}L{} {}Z",
                    Num(cx),
                    Num(cy - r),
                    Num(cx + r),
                    Num(cy),
                    Num(cx),
                    Num(cy + r),
                    Num(cx - r),
                    Num(cy)
                );
                sheet.path(&data, "#fff7e0", "stroke=\"#334155\" stroke-width=\"1.4\"");
                let sign = if matches!(shape.kind, Kind::AndSplit | Kind::AndJoin) { "+" } else { "×" };
                sheet.text(cx, cy + 6.0, 18.0, TEXT, "text-anchor=\"middle\" font-weight=\"bold\"", sign);
            }
        }
    }
    sheet.body.push_str("</g>\n");
    sheet.begin(Part::Legend);
    y += layout.height as f64 + 26.0;
    for line in
        wrap_words("Diamond ×: one of the lines. Diamond +: all lines, side by side. Thin circle: begin; thick circle: end.", 11.0, inner)
    {
        sheet.text(MARGIN, y, 11.0, WEAK_TEXT, "", &line);
        y += 15.0;
    }
    sheet.end();
    sheet.document((inner + 2.0 * MARGIN).ceil(), (y + MARGIN - 10.0).ceil(), "Process model", &facts.join(" "))
}

/// The arcs of a net in the order in which its figure has them: from and to, where transitions
/// follow the places.
fn arcs(net: &PetriNet) -> Vec<(usize, usize)> {
    let first = net.places() as usize;
    let of = |(at, transition): (usize, &Transition)| {
        let inputs: Vec<_> = transition.inputs.iter().map(|&place| (place as usize, first + at)).collect();
        inputs.into_iter().chain(transition.outputs.iter().map(|&place| (first + at, place as usize)).collect::<Vec<_>>())
    };
    net.transitions().iter().enumerate().flat_map(of).collect()
}

/// Of each arc whether it leads back to a node on the way from the source to it, as the arcs that
/// begin a loop again do.
fn leads_back(nodes: usize, arcs: &[(usize, usize)]) -> Vec<bool> {
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    arcs.iter().enumerate().for_each(|(arc, &(node, _))| from[node].push(arc));
    let mut back = vec![false; arcs.len()];
    let (mut seen, mut on_way) = (vec![false; nodes], vec![false; nodes]);
    // Each node of the way with the number of its arcs that were followed.
    let source = PetriNet::SOURCE as usize;
    let mut way = vec![(source, 0)];
    (seen[source], on_way[source]) = (true, true);
    while let Some((node, followed)) = way.last_mut() {
        let Some(&arc) = from[*node].get(*followed) else {
            on_way[*node] = false;
            way.pop();
            continue;
        };
        *followed += 1;
        let to = arcs[arc].1;
        back[arc] = on_way[to];
        if !seen[to] {
            (seen[to], on_way[to]) = (true, true);
            way.push((to, 0));
        }
    }
    back
}

/// The Petri net as a graph.
pub fn net_graph(model: &ProcessModel) -> Graph {
    let net = &model.net;
    let mut picture = Graph { name: "petri", title: "Petri net".to_owned(), facts: facts(model), ..Graph::default() };
    for place in 0..net.places() {
        let name = match place {
            PetriNet::SOURCE => "▶",
            PetriNet::SINK => "■",
            _ => "",
        };
        let mean = model.sojourns.get(place as usize).filter(|_| model.has_times()).and_then(|of| of.mean_ns);
        let count = model.sojourns.get(place as usize).map_or(0, |of| of.count);
        let lines: Vec<String> = mean.map(duration).into_iter().collect();
        let mut title = vec![format!("place {place}")];
        title.extend(mean.map(|ns| format!("mean time of {}: {}", counted(count, "token", "tokens"), duration(ns))));
        picture.nodes.push(Node {
            id: format!("p{place}"),
            shape: NodeShape::Circle,
            name: name.to_owned(),
            fill: "#ffffff".to_owned(),
            lines,
            title,
            data: mean.map(|ns| ("mean_s", Datum::Number(ns / 1e9))).into_iter().collect(),
            ..Node::default()
        });
    }
    for (at, transition) in net.transitions().iter().enumerate() {
        let (shape, name) = match transition.activity {
            Some(activity) => (NodeShape::Box, net.label(activity).to_owned()),
            None => (NodeShape::Bar, String::new()),
        };
        let title = if name.is_empty() && shape == NodeShape::Bar { "silent transition".to_owned() } else { visible(&name) };
        let execution = transition.activity.and_then(|activity| model.executions.get(activity as usize));
        let lines: Vec<String> = execution
            .map(|of| [Some(model.about.counted(of.count)), of.median_ns.map(|ns| format!("median {}", duration(ns)))])
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        let mut data = Vec::new();
        data.extend(execution.map(|of| ("instances", Datum::from(of.count))));
        data.extend(execution.and_then(|of| of.median_ns).map(|ns| ("median_s", Datum::Number(ns / 1e9))));
        let title = std::iter::once(title).chain(lines.iter().cloned()).collect();
        picture.nodes.push(Node { id: format!("t{at}"), shape, name, lines, fill: "#e6f0f8".to_owned(), title, data, ..Node::default() });
    }
    let arcs = arcs(net);
    // The arcs that lead back are the ones against the flow, however many they are.
    let forward = arcs.len() as u64 + 1;
    let weights = leads_back(picture.nodes.len(), &arcs).into_iter().map(|back| if back { 1 } else { forward });
    picture.edges = (arcs.iter().zip(weights))
        .map(|(&(from, to), weight)| Edge { from, to, colour: "#52606d".to_owned(), width: 1.4, weight, ..Edge::default() })
        .collect();
    picture.legend = vec![Entry::new(
        "Circle: place; box: activity; bar: silent",
        Sample::Words,
        "▶ holds the token at the beginning, ■ at the end. Median: time from start to end.",
    )];
    if model.has_times() {
        picture.legend.push(Entry::new(
            "Time in a circle: mean time of a token",
            Sample::Words,
            "From the end of the activity before to the start of the next one, in cases without a fault. A bar takes no time.",
        ));
    }
    picture
}

/// The tree in PM4Py's notation, with a line feed.
pub fn text(model: &ProcessModel) -> String {
    format!("{}\n", visible(&model.tree.to_text()))
}

/// A process model and its measures.
#[derive(Serialize, JsonSchema)]
struct Json<'a> {
    /// The log that the model is of.
    about: &'a About,
    /// Fitness by alignments.
    alignments: Alignments,
    /// Parts of the log that ended in a flower: any number of any of their activities.
    flowers: u64,
    /// Generalisation, 0 to 1.
    generalisation: f64,
    /// The Petri net.
    net: Net<'a>,
    /// The noise threshold, 0 to 1.
    noise: f64,
    /// Number of steps of cases behind a prefix that the net cannot follow; they do not count in the
    /// precision.
    not_followed: u64,
    /// Number of fall-throughs that were not tried because they would have taken too long.
    passed_over: u64,
    /// Precision, 0 to 1; null when the log gives no state to judge by.
    precision: Option<f64>,
    /// Token-based replay.
    token_replay: TokenReplay,
    /// The process tree.
    tree: FlatTree<'a>,
    /// The process tree in PM4Py's notation.
    tree_text: String,
    /// Number of distinct traces in the log.
    variants: u64,
}

/// Fitness by alignments.
#[derive(Serialize, JsonSchema)]
struct Alignments {
    /// Fitness over the cases that have an alignment, 0 to 1; null when there are none.
    fitness: Option<f64>,
    /// Number of cases of which an alignment would take longer than is allowed.
    not_aligned_cases: u64,
}

/// A workflow net.
#[derive(Serialize, JsonSchema)]
struct Net<'a> {
    /// The mean time of a token in each place, in seconds, over cases without a fault; null when
    /// none is known.
    mean_sojourns_s: Vec<Option<f64>>,
    /// Number of places; they are numbered from zero.
    places: u32,
    /// The place that holds the token at the end.
    sink: u32,
    /// The place that holds the token at the beginning.
    source: u32,
    /// The transitions.
    transitions: Entries<'a, JsonTransition<'a>>,
}

/// A transition.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Transition")]
struct JsonTransition<'a> {
    /// Its activity; null for a silent transition.
    activity: Option<&'a str>,
    /// The places from which firing takes one token each.
    inputs: &'a [u32],
    /// The places to which firing gives one token each.
    outputs: &'a [u32],
}

/// Token-based replay.
#[derive(Serialize, JsonSchema)]
struct TokenReplay {
    /// Number of variants of which it is not certain that they do not fit.
    cut_short: u64,
    /// Fitness of the log, 0 to 1.
    fitness: f64,
    /// The share of cases that fit without a fault.
    fitting_cases: f64,
}

impl Document for Json<'_> {
    const FORMAT: &'static str = "flowmine-process-model";
}

/// The format of the JSON document of a model.
pub const DOCUMENT: DocumentFormat = DocumentFormat::new::<Json<'static>>();

/// Writes the model and its measures as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn json(model: &ProcessModel, out: &mut dyn Write) -> io::Result<()> {
    let json = Json {
        about: &model.about,
        alignments: Alignments { fitness: model.alignment_fitness, not_aligned_cases: model.not_aligned },
        flowers: model.flowers,
        generalisation: model.generalisation,
        net: Net {
            mean_sojourns_s: model.sojourns.iter().map(|of| of.mean_ns.map(|ns| ns / 1e9)).collect(),
            places: model.net.places(),
            sink: PetriNet::SINK,
            source: PetriNet::SOURCE,
            transitions: Entries::new(model.net.transitions(), |of| json_transition(&model.net, of)),
        },
        noise: model.noise,
        not_followed: model.not_followed,
        passed_over: model.passed_over,
        precision: model.precision,
        token_replay: TokenReplay { cut_short: model.cut_short, fitness: model.fitness, fitting_cases: model.fitting_cases },
        tree: model.tree.to_flat(),
        tree_text: model.tree.to_text(),
        variants: model.variants,
    };
    document::write(&json, out)
}

fn json_transition<'a>(net: &'a PetriNet, of: &'a Transition) -> JsonTransition<'a> {
    JsonTransition { activity: of.activity.map(|activity| net.label(activity)), inputs: &of.inputs, outputs: &of.outputs }
}

/// The Petri net as PNML (ISO/IEC 15909-2).
pub fn to_pnml(model: &ProcessModel) -> String {
    pnml::to_pnml(&model.net, "flowmine")
}

/// The process as BPMN 2.0 with its diagram, which is one row without a width of rows.
pub fn to_bpmn(model: &ProcessModel, arrangement: Arrangement) -> String {
    let arrangement = Arrangement { row_width: arrangement.row_width.or(Some(0)), ..arrangement };
    let tree = model.tree.canonical();
    bpmn::with_layout(&tree, &arrangement.layout(&tree, Sizes::default()), "flowmine")
}

/// Constraints as lines for a terminal.
pub fn constraints_text(found: &Constraints) -> String {
    let mut out = String::new();
    let name = |at: u32| found.activities.get(at as usize).map_or(String::new(), |name| visible(name));
    for constraint in &found.constraints {
        let names = match constraint.b {
            Some(b) => format!("{}, {}", name(constraint.a), name(b)),
            None => name(constraint.a),
        };
        let _ = writeln!(
            out,
            "{}({names})  holds in {} of {} cases",
            constraint.template.name(),
            count(constraint.holds),
            count(constraint.activated)
        );
    }
    if out.is_empty() {
        out.push_str("no constraint reaches the thresholds\n");
    }
    out
}

/// Writes constraints as a table.
///
/// # Errors
/// When `out` cannot be written.
pub fn constraints_csv(found: &Constraints, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Csv::new(out, &["constraint", "a", "b", "support", "confidence", "activated", "holds", "cases"])?;
    let name = |at: u32| found.activities.get(at as usize).map_or("", String::as_str);
    for c in &found.constraints {
        table.text(c.template.name()).text(name(c.a));
        match c.b {
            Some(b) => table.text(name(b)),
            None => table.number(None::<u64>),
        };
        table.number(Some(c.support())).number(Some(c.confidence())).count(c.activated).count(c.holds).count(c.cases);
        table.end()?;
    }
    table.finish()
}

/// The constraints that the cases keep.
#[derive(Serialize, JsonSchema)]
struct JsonConstraints<'a> {
    /// The log that the constraints are of.
    about: &'a About,
    /// The constraints.
    constraints: Entries<'a, JsonConstraint<'a>>,
}

/// A constraint.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Constraint")]
struct JsonConstraint<'a> {
    /// The first activity.
    a: &'a str,
    /// Number of cases in which it is activated.
    activated: u64,
    /// The second activity; null for a constraint on one.
    b: Option<&'a str>,
    /// Number of cases of the log.
    cases: u64,
    /// The share of the cases in which it is activated and holds, 0 to 1.
    confidence: f64,
    /// Name of the constraint.
    constraint: &'static str,
    /// Number of cases in which it is activated and holds.
    holds: u64,
    /// The share of cases in which it is activated, 0 to 1.
    support: f64,
}

impl Document for JsonConstraints<'_> {
    const FORMAT: &'static str = "flowmine-declare";
}

/// The format of the JSON document of constraints.
pub const CONSTRAINTS_DOCUMENT: DocumentFormat = DocumentFormat::new::<JsonConstraints<'static>>();

/// Writes the constraints as JSON.
///
/// # Errors
/// When `out` cannot be written.
pub fn constraints_json(found: &Constraints, out: &mut dyn Write) -> io::Result<()> {
    let name = move |at: u32| found.activities.get(at as usize).map_or("", String::as_str);
    let constraint = move |of: &Constraint| JsonConstraint {
        a: name(of.a),
        activated: of.activated,
        b: of.b.map(name),
        cases: of.cases,
        confidence: of.confidence(),
        constraint: of.template.name(),
        holds: of.holds,
        support: of.support(),
    };
    let json = JsonConstraints { about: &found.about, constraints: Entries::new(&found.constraints, constraint) };
    document::write(&json, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop whose body is a choice, entered from the source: only the arc that begins it again
    /// leads back, whatever the order of arcs.
    #[test]
    fn only_the_arc_that_begins_a_loop_again_leads_back() {
        let source = PetriNet::SOURCE as usize;
        let rest: Vec<usize> = (0..7).filter(|&node| node != source).collect();
        let [enter, head, left, right, tail, redo] = rest[..] else { unreachable!("six nodes are left") };
        let mut arcs =
            vec![(source, enter), (enter, head), (head, left), (head, right), (left, tail), (right, tail), (tail, redo), (redo, head)];
        for _ in 0..arcs.len() {
            arcs.rotate_left(1);
            let back: Vec<_> = arcs.iter().zip(leads_back(7, &arcs)).filter(|(_, back)| *back).map(|(arc, _)| *arc).collect();
            assert_eq!(back, [(redo, head)]);
        }
    }
}
