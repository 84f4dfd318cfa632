//! A directly-follows graph as a picture, as JSON and as a table.

use std::io::{self, Write};

use flowmine_activity_log::BytesFrom;
use flowmine_draw::axis::bytes as bytes_words;
use flowmine_draw::graph::{Datum, Edge as Line, Graph, Mark, Node, Shape};
use flowmine_draw::legend::{self, Entry, Sample};
use flowmine_draw::scale::{TimeScale, WidthScale, box_colour};
use flowmine_draw::sheet::CASE_LINE;
use flowmine_draw::svg::CASE_WIDTH;
use flowmine_draw::text::{count, counted, duration, visible};
use serde_json::{Value, json};

pub use super::dfg_json::{DOCUMENT, json};

use super::csv::Csv;
use super::dfg_json::integer;
use super::units::core_hours;
use crate::about;
use crate::dfg::{Activity, Dfg, Edge, OnPath};
use crate::stats::Stats;

/// Which statistic of a time a picture shows; all stand in the titles and in the other formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Statistic {
    /// The median ([`Stats::median`]).
    #[default]
    Median,
    /// The arithmetic mean ([`Stats::mean`]).
    Mean,
    /// The 95th percentile ([`Stats::p95`]).
    P95,
    /// The largest value ([`Stats::max`]).
    Max,
    /// The sum of all values ([`Stats::sum`]).
    Sum,
}

impl Statistic {
    /// Its name in words, such as `median`; `longest` for the largest value.
    pub fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
            Self::P95 => "95th percentile",
            Self::Max => "longest",
            Self::Sum => "total",
        }
    }

    /// The value of this statistic, in the unit of `stats`.
    pub fn of(self, stats: &Stats) -> f64 {
        match self {
            Self::Median => stats.median,
            Self::Mean => stats.mean,
            Self::P95 => stats.p95,
            Self::Max => stats.max as f64,
            Self::Sum => stats.sum as f64,
        }
    }
}

/// Which numbers the boxes and lines of the graph show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Show {
    /// Where the time is: what lies on the critical paths of cases is coloured, the rest is pale,
    /// and activities without a line are a list. Of a log of moments as [`Show::All`].
    #[default]
    Path,
    /// Frequency, duration, bytes; lines are as wide as frequent and coloured by time.
    All,
    /// How often activities occur and follow each other.
    Frequency,
    /// How long activities and the waits between them take.
    Time,
    /// How many bytes; lines are as wide as bytes flow.
    Bytes,
}

/// What a picture of a directly-follows graph shows, and how much of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What boxes and lines show.
    pub show: Show,
    /// The statistic of times that boxes and lines show.
    pub time: Statistic,
    /// Lines are shown, the most frequent first, until they stand for this share of all steps (0 to
    /// 1). Without it all when there are not more than [`ALL_EDGES`], else about so many at most,
    /// and [`USUAL_COVERAGE`].
    pub coverage: Option<f64>,
    /// Activities and lines that occur less often are not shown.
    pub min_count: u64,
    /// The most activities that are shown: the most frequent ones.
    pub most_activities: usize,
    /// The most lines, and the most boxes, that are marked as those that cost most.
    pub marks: usize,
}

/// The most lines of which none is left out when no coverage is asked for.
pub const ALL_EDGES: usize = 48;

/// The share of steps that is shown of larger graphs when nothing else is said.
pub const USUAL_COVERAGE: f64 = 0.8;

impl Default for Options {
    fn default() -> Self {
        Self { show: Show::Path, time: Statistic::Median, coverage: None, min_count: 0, most_activities: 60, marks: 3 }
    }
}

/// The activities and edges that are drawn, and which of them are marked.
struct Chosen {
    activities: Vec<usize>,
    edges: Vec<usize>,
    starts: Vec<(usize, u64)>,
    ends: Vec<(usize, u64)>,
    marked_edges: Vec<usize>,
    marked_activities: Vec<usize>,
}

/// The cost by which a line is marked: waiting time or bytes; nothing where only numbers are shown.
fn line_cost(edge: &Edge, show: Show) -> i128 {
    match show {
        Show::Path => edge.on_path.map_or(0, |of| of.time_ns),
        Show::Bytes => edge.bytes.map_or(0, |bytes| bytes.sum),
        Show::Frequency => 0,
        Show::All | Show::Time => edge.last_wait_ns.max(0),
    }
}

/// Bytes read and written.
fn moved(activity: &Activity) -> i128 {
    [activity.read_bytes, activity.written_bytes].into_iter().flatten().map(|bytes| bytes.sum).sum()
}

/// The cost by which a box is marked: core time, time or bytes.
fn box_cost(activity: &Activity, show: Show) -> i128 {
    match show {
        Show::Path => activity.on_path.map_or(0, path_cost),
        Show::Bytes => moved(activity),
        Show::Frequency => 0,
        Show::All | Show::Time => activity.service_ns.map_or(0, |service| service.sum.max(0)),
    }
}

/// The core time on critical paths, in nanoseconds; the time, where no CPUs are known.
fn path_cost(of: OnPath) -> i128 {
    of.core_ns.unwrap_or(of.time_ns)
}

/// The largest by a cost, largest first: at most so many, at most half of all, and each at least a
/// twentieth of the sum and this much.
fn dearest(all: &[usize], most: usize, least: i128, cost: impl Fn(usize) -> i128) -> Vec<usize> {
    let sum: i128 = all.iter().map(|&at| cost(at)).sum();
    let dear = |&at: &usize| cost(at) > 0 && cost(at) * 20 >= sum && cost(at) >= least;
    let mut dear: Vec<usize> = all.iter().copied().filter(dear).collect();
    dear.sort_by_key(|&at| (std::cmp::Reverse(cost(at)), at));
    dear.truncate(most.min(all.len() / 2));
    dear
}

fn choose(dfg: &Dfg, options: &Options) -> Chosen {
    let mut activities: Vec<usize> = (0..dfg.activities.len()).filter(|&a| dfg.activities[a].frequency >= options.min_count).collect();
    activities.sort_by_key(|&a| (std::cmp::Reverse(dfg.activities[a].frequency), a));
    activities.truncate(options.most_activities);
    activities.sort_unstable();
    let shown = |a: usize| activities.binary_search(&a).is_ok();
    let all: Vec<usize> = (0..dfg.edges.len())
        .filter(|&e| {
            let edge = &dfg.edges[e];
            // What only exchanged bytes is no step.
            let is_step = edge.frequency > 0 || options.show != Show::Path;
            shown(edge.from) && shown(edge.to) && is_step && (edge.frequency.max(1) >= options.min_count)
        })
        .collect();
    // Waits are times: what is a hundredth of the running times is worth a mark.
    let running: i128 = match options.show {
        Show::Bytes | Show::Frequency => 0,
        Show::Path => dfg.activities.iter().filter_map(|activity| activity.on_path).map(|of| of.time_ns).sum(),
        show => dfg.activities.iter().map(|activity| box_cost(activity, show)).sum(),
    };
    let marked_edges = dearest(&all, options.marks, running / 100, |e| line_cost(&dfg.edges[e], options.show));
    let marked_activities = dearest(&activities, options.marks, 0, |a| box_cost(&dfg.activities[a], options.show));
    let mut needed = marked_edges.clone();
    if options.show == Show::Path {
        // Of paths the parts with most time, whatever their frequency.
        let mut on_path: Vec<usize> = all.iter().copied().filter(|&e| dfg.edges[e].on_path.is_some()).collect();
        on_path.sort_by_key(|&e| (std::cmp::Reverse(line_cost(&dfg.edges[e], Show::Path)), e));
        needed.extend(on_path.into_iter().take(ALL_EDGES / 2));
    }
    let edges = match options.coverage {
        None if all.len() <= ALL_EDGES => all,
        None => cover(dfg, all, USUAL_COVERAGE, ALL_EDGES, &needed),
        Some(coverage) => cover(dfg, all, coverage, usize::MAX, &needed),
    };
    let terminals = |list: &[(usize, u64)]| -> Vec<(usize, u64)> {
        let mut shown: Vec<(usize, u64)> = list.iter().copied().filter(|&(a, n)| shown(a) && n >= options.min_count).collect();
        if edges.len() < dfg.edges.len() {
            // Those that stand for the same share of cases as lines of steps, and one at least.
            shown.sort_by_key(|&(a, n)| (std::cmp::Reverse(n), a));
            let total: u64 = list.iter().map(|(_, n)| n).sum();
            let needed = options.coverage.unwrap_or(0.95).clamp(0.0, 1.0) * total as f64;
            let mut sum = 0;
            let enough = shown.iter().position(|(_, n)| {
                sum += n;
                sum as f64 >= needed
            });
            shown.truncate(enough.map_or(shown.len(), |at| at + 1).min(24));
            shown.sort_unstable();
        }
        shown
    };
    let (starts, ends) = (terminals(&dfg.starts), terminals(&dfg.ends));
    Chosen { starts, ends, edges, activities, marked_edges, marked_activities }
}

/// The most frequent edges, until they stand for a share of all steps. An activity without its most
/// frequent neighbours would seem to come from nowhere, and what costs most is what a reader looks
/// for: these are shown besides, and come first when about `most` altogether can be shown.
pub(crate) fn cover(dfg: &Dfg, mut all: Vec<usize>, coverage: f64, most: usize, marked: &[usize]) -> Vec<usize> {
    let steps: u64 = all.iter().map(|&e| dfg.edges[e].frequency).sum();
    let needed = coverage.clamp(0.0, 1.0) * steps as f64;
    all.sort_by_key(|&e| (std::cmp::Reverse(dfg.edges[e].frequency), e));
    // Where most cases begin nothing else has to come in, and where most end nothing has to go out.
    let (mut begun, mut ended) = (vec![0; dfg.activities.len()], vec![0; dfg.activities.len()]);
    dfg.starts.iter().for_each(|&(activity, cases)| begun[activity] = cases);
    dfg.ends.iter().for_each(|&(activity, cases)| ended[activity] = cases);
    let mut taken = vec![false; dfg.edges.len()];
    for &e in &all {
        let edge = &dfg.edges[e];
        let is_needed = edge.from != edge.to && (edge.frequency > ended[edge.from] || edge.frequency > begun[edge.to]);
        if is_needed || marked.contains(&e) {
            ended[edge.from] = u64::MAX;
            begun[edge.to] = u64::MAX;
            taken[e] = true;
        }
    }
    let mut by_bytes: Vec<usize> = all.iter().copied().filter(|&e| dfg.edges[e].bytes.is_some()).collect();
    by_bytes.sort_by_key(|&e| (std::cmp::Reverse(dfg.edges[e].bytes.map_or(0, |bytes| bytes.sum)), e));
    by_bytes.iter().take(10).for_each(|&e| taken[e] = true);
    let mut lines = taken.iter().filter(|&&taken| taken).count();
    // However many these are, some of the most frequent stand beside them.
    let most = most.max(lines.saturating_add(most / 4));
    let mut sum = 0;
    for &e in &all {
        if sum as f64 >= needed || lines >= most {
            break;
        }
        lines += usize::from(!taken[e]);
        taken[e] = true;
        sum += dfg.edges[e].frequency;
    }
    let mut chosen: Vec<usize> = all.into_iter().filter(|&e| taken[e]).collect();
    chosen.sort_unstable();
    chosen
}

/// A number of bytes in words, for people.
pub(crate) fn bytes(number: i128) -> String {
    bytes_words(number)
}

/// Who counted the bytes, in words.
fn origin(from: BytesFrom) -> &'static str {
    match from {
        BytesFrom::Nobody => "nobody",
        BytesFrom::Trace => "traced",
        BytesFrom::Engine => "reported by the engine",
        BytesFrom::Accounting => "reported by Slurm's accounting",
        BytesFrom::Log => "reported by the log",
    }
}

/// The options as they hold of a graph: without a path there is none to be shown.
fn effective(dfg: &Dfg, options: &Options) -> Options {
    let has_path = dfg.activities.iter().any(|activity| activity.on_path.is_some());
    let show = if options.show == Show::Path && !has_path { Show::All } else { options.show };
    Options { show, ..options.clone() }
}

/// Takes activities without a line out of what is drawn, where others have one; they are a list.
fn take_isolated(dfg: &Dfg, chosen: &mut Chosen) -> Vec<usize> {
    let has_line = |a: &usize| chosen.edges.iter().any(|&e| (dfg.edges[e].from == *a) != (dfg.edges[e].to == *a));
    let (with, without): (Vec<usize>, Vec<usize>) = chosen.activities.iter().copied().partition(has_line);
    if with.is_empty() || without.is_empty() {
        return Vec::new();
    }
    let is_drawn = |a: usize| with.binary_search(&a).is_ok();
    chosen.edges.retain(|&e| is_drawn(dfg.edges[e].from));
    chosen.starts.retain(|(a, _)| is_drawn(*a));
    chosen.ends.retain(|(a, _)| is_drawn(*a));
    chosen.activities = with;
    without
}

/// The picture of a graph.
pub fn graph(dfg: &Dfg, options: &Options) -> Graph {
    let options = &effective(dfg, options);
    let mut chosen = choose(dfg, options);
    let isolated = if options.show == Show::Path { take_isolated(dfg, &mut chosen) } else { Vec::new() };
    let chosen = chosen;
    let view = View::new(dfg, options, &chosen);
    let left_out = left_out(dfg, &chosen, isolated.len(), options);
    let mut picture = Graph { name: "dfg", title: title(dfg), facts: facts(dfg, options.show), left_out, ..Graph::default() };
    let mut place = vec![usize::MAX; dfg.activities.len()];
    for &a in &chosen.activities {
        place[a] = picture.nodes.len();
        picture.nodes.push(view.node(a));
    }
    for &e in &chosen.edges {
        let edge = &dfg.edges[e];
        picture.edges.push(view.line(e, place[edge.from], place[edge.to]));
    }
    terminals(&mut picture, dfg, &place, &chosen.starts, true);
    terminals(&mut picture, dfg, &place, &chosen.ends, false);
    picture.legend = view.legend(&chosen);
    picture.legend.extend(view.isolated(&isolated));
    picture
}

/// Fill of a box, and colour and width of a line, that are on no critical path.
const PALE_BOX: &str = "#fafbfc";
const PALE_LINE: &str = "#d3dae2";

/// Number of activities without a line that are listed.
const LISTED: usize = 20;

/// The core-hours of what lies on critical paths; the time, where no CPUs are known.
fn cost_words(of: OnPath) -> String {
    match of.core_ns {
        // What two digits do not show.
        Some(core_ns) if core_ns < 36_000_000_000 => format!("{} core time", duration(core_ns as f64)),
        Some(core_ns) => format!("{} core-hours", core_hours(core_ns)),
        None => duration(of.time_ns as f64),
    }
}

struct View<'a> {
    dfg: &'a Dfg,
    options: &'a Options,
    chosen: &'a Chosen,
    boxes: WidthScale,
    widths: WidthScale,
    times: TimeScale,
    byte_colours: TimeScale,
    concurrent: Vec<Vec<usize>>,
    instance: String,
}

impl<'a> View<'a> {
    fn new(dfg: &'a Dfg, options: &'a Options, chosen: &'a Chosen) -> Self {
        let is_coloured = |e: &&usize| options.show != Show::Path || dfg.edges[**e].on_path.is_some();
        let coloured = chosen.edges.iter().filter(is_coloured);
        let waits: Vec<f64> = coloured.filter_map(|&e| dfg.edges[e].wait_ns.map(|wait| options.time.of(&wait))).collect();
        let flow: Vec<f64> = chosen.edges.iter().filter_map(|&e| dfg.edges[e].bytes.map(|bytes| bytes.sum as f64)).collect();
        let mut concurrent = vec![Vec::new(); dfg.activities.len()];
        for pair in dfg.concurrent.iter().filter(|pair| pair.a != pair.b && pair.frequency > 0) {
            concurrent[pair.a].push(pair.b);
            concurrent[pair.b].push(pair.a);
        }
        let width = |e: usize| match options.show {
            Show::Bytes => dfg.edges[e].bytes.map_or(0, |bytes| u64::try_from(bytes.sum.max(0)).unwrap_or(u64::MAX)),
            _ => dfg.edges[e].frequency,
        };
        Self {
            boxes: WidthScale::new(
                chosen
                    .activities
                    .iter()
                    .filter(|&&a| options.show != Show::Path || dfg.activities[a].on_path.is_some())
                    .map(|&a| box_value(&dfg.activities[a], options)),
            ),
            widths: WidthScale::new(chosen.edges.iter().map(|&e| width(e)).filter(|&n| n > 0)),
            times: TimeScale::new(waits.iter().copied()),
            byte_colours: TimeScale::new(flow.iter().copied()),
            concurrent,
            instance: if dfg.words.instance.is_empty() { "event".to_owned() } else { visible(&dfg.words.instance) },
            dfg,
            options,
            chosen,
        }
    }

    /// Whether something is drawn pale: it is on no critical path.
    fn is_pale(&self, on_path: Option<OnPath>) -> bool {
        self.options.show == Show::Path && on_path.is_none()
    }

    /// The list of activities without a line, for next to the graph.
    fn isolated(&self, isolated: &[usize]) -> Option<Entry> {
        if isolated.is_empty() {
            return None;
        }
        let mut by_cost = isolated.to_vec();
        by_cost.sort_by_key(|&a| (std::cmp::Reverse(box_cost(&self.dfg.activities[a], Show::Path)), a));
        let words = |&a: &usize| {
            let activity = &self.dfg.activities[a];
            let cost = activity.on_path.map(|of| format!(", {}", cost_words(of))).unwrap_or_default();
            format!("{} ({}{cost})", self.name(a), counted(activity.frequency, &self.instance, &plural(&self.instance)))
        };
        let mut list: Vec<String> = by_cost.iter().take(LISTED).map(words).collect();
        if by_cost.len() > LISTED {
            list.push(format!("and {} more", count((by_cost.len() - LISTED) as u64)));
        }
        Some(Entry::new("Alone in their cases, not drawn", Sample::Words, list.join("; ")))
    }

    fn name(&self, activity: usize) -> String {
        visible(&self.dfg.activities[activity].name)
    }

    fn node(&self, at: usize) -> Node {
        let activity = &self.dfg.activities[at];
        let marked = self.chosen.marked_activities.contains(&at);
        Node {
            id: format!("a{at}"),
            name: activity.name.clone(),
            lines: self.node_lines(activity, marked, self.concurrent[at].len()),
            fill: if self.is_pale(activity.on_path) {
                PALE_BOX.to_owned()
            } else {
                box_colour(self.boxes, box_value(activity, self.options))
            },
            mark: if marked { Mark::Halo } else { Mark::None },
            title: self.node_title(at),
            data: node_data(activity),
            ..Node::default()
        }
    }

    fn node_lines(&self, activity: &Activity, marked: bool, concurrent: usize) -> Vec<String> {
        let show = self.options.show;
        let mut lines = Vec::new();
        let mut first = count(activity.frequency);
        if activity.most_at_once > 1 {
            first.push_str(&format!(" · {} at once", count(activity.most_at_once)));
        }
        lines.push(first);
        if matches!(show, Show::All | Show::Time | Show::Path) {
            let statistic = self.options.time;
            let mut parts = Vec::new();
            parts.extend(activity.service_ns.map(|s| format!("ran {}", duration(statistic.of(&s)))));
            parts.extend(activity.queue_ns.filter(|q| q.max > 0).map(|q| format!("queued {}", duration(statistic.of(&q)))));
            if !parts.is_empty() {
                lines.push(parts.join(" · "));
            }
            match (show, activity.on_path, activity.service_ns) {
                (Show::Path, Some(of), _) => lines.push(format!("{}{} on paths", if marked { "▲ " } else { "" }, cost_words(of))),
                (Show::All | Show::Time, _, Some(service)) if marked => lines.push(format!("▲ Σ {}", duration(service.sum as f64))),
                _ => {}
            }
        }
        if matches!(show, Show::All | Show::Bytes) {
            let mut parts = Vec::new();
            parts.extend(activity.read_bytes.map(|r| format!("read {}", bytes(r.sum))));
            parts.extend(activity.written_bytes.map(|w| format!("wrote {}", bytes(w.sum))));
            if !parts.is_empty() {
                let mark = if marked && show == Show::Bytes { "▲ " } else { "" };
                lines.push(format!("{mark}{}", parts.join(" · ")));
            }
        }
        if let (Show::Bytes, Some(rate)) = (show, activity.bytes_per_s) {
            lines.push(format!("{}/s", bytes(rate as i128)));
        }
        let mut parts = Vec::new();
        for (number, word) in [
            (activity.failed, "failed"),
            (activity.aborted, "aborted"),
            (activity.cached, "cached"),
            (activity.unfinished, "unfinished"),
            (activity.retries, "retried"),
        ] {
            if number > 0 {
                parts.push(format!("{} {word}", count(number)));
            }
        }
        if !parts.is_empty() {
            lines.extend(parts.chunks(2).map(|two| two.join(" · ")));
        }
        if concurrent > 0 {
            lines.push(format!("∥ {concurrent} {}", if concurrent == 1 { "other" } else { "others" }));
        }
        lines
    }

    fn node_title(&self, at: usize) -> Vec<String> {
        let activity = &self.dfg.activities[at];
        let mut lines = vec![
            visible(&activity.name),
            format!(
                "{} in {}",
                counted(activity.frequency, &self.instance, &plural(&self.instance)),
                counted(activity.cases, "case", "cases")
            ),
        ];
        lines.extend(activity.service_ns.map(|s| format!("ran: {}", times(&s))));
        lines.extend(activity.on_path.map(|of| path_words(&of)));
        lines.extend(activity.queue_ns.map(|q| format!("queued: {}", times(&q))));
        lines.extend(activity.read_bytes.map(|r| format!("read: {}", volumes(&r))));
        lines.extend(activity.written_bytes.map(|w| format!("wrote: {}", volumes(&w))));
        if !activity.bytes_from.is_empty() {
            let origins: Vec<String> = activity.bytes_from.iter().map(|&(from, n)| format!("{} of {}", origin(from), count(n))).collect();
            lines.push(format!("bytes {}", origins.join(", ")));
        }
        lines.extend(activity.bytes_per_s.map(|rate| format!("{} for each second that it ran", bytes(rate as i128))));
        for &other in self.concurrent[at].iter().take(12) {
            lines.push(format!("∥ {}", self.name(other)));
        }
        if self.concurrent[at].len() > 12 {
            lines.push(format!("∥ {} others more", self.concurrent[at].len() - 12));
        }
        lines
    }

    fn line(&self, at: usize, from: usize, to: usize) -> Line {
        let edge = &self.dfg.edges[at];
        let marked = self.chosen.marked_edges.contains(&at);
        let show = self.options.show;
        let is_pale = self.is_pale(edge.on_path);
        let weight = match show {
            Show::Bytes => edge.bytes.map_or(0, |bytes| u64::try_from(bytes.sum.max(0)).unwrap_or(u64::MAX)),
            _ => edge.frequency,
        };
        Line {
            from,
            to,
            label: self.label(edge, marked),
            colour: self.line_colour(edge),
            width: if weight == 0 || is_pale { 1.2 } else { self.widths.width(weight) },
            dashed: edge.frequency == 0,
            mark: if marked { Mark::Halo } else { Mark::None },
            weight: edge.frequency.max(1),
            title: self.line_title(at),
            data: line_data(edge),
            ..Line::default()
        }
    }

    fn line_colour(&self, edge: &Edge) -> String {
        match self.options.show {
            Show::Frequency => "#64748b".to_owned(),
            Show::Path if self.is_pale(edge.on_path) => PALE_LINE.to_owned(),
            Show::Bytes => edge.bytes.map_or("#b6c0cb".to_owned(), |bytes| self.byte_colours.colour(bytes.sum as f64)),
            Show::All | Show::Time | Show::Path => match edge.wait_ns {
                Some(wait) => self.times.colour(self.options.time.of(&wait)),
                None => "#7b8a99".to_owned(),
            },
        }
    }

    fn label(&self, edge: &Edge, marked: bool) -> Vec<String> {
        let wait = edge.wait_ns.map(|wait| duration(self.options.time.of(&wait)));
        let mut lines = Vec::new();
        match self.options.show {
            Show::Frequency if edge.frequency > 0 => lines.push(count(edge.frequency)),
            Show::Time => lines.extend(wait),
            Show::All | Show::Path if edge.frequency > 0 => {
                let mut parts = vec![count(edge.frequency)];
                parts.extend(wait);
                lines.push(parts.join(" · "));
            }
            _ => {}
        }
        let show = self.options.show;
        if marked && show != Show::Bytes {
            lines.push(format!("▲ Σ {}", duration(line_cost(edge, show) as f64)));
        }
        if let (Show::All | Show::Bytes, Some(flow)) = (show, edge.bytes) {
            let mark = if marked && show == Show::Bytes { "▲ " } else { "" };
            lines.push(format!("{mark}{}", bytes(flow.sum)));
        }
        lines
    }

    fn line_title(&self, at: usize) -> Vec<String> {
        let edge = &self.dfg.edges[at];
        let mut lines = vec![format!("{} → {}", self.name(edge.from), self.name(edge.to))];
        if edge.frequency > 0 {
            lines.push(format!("{} in {}", counted(edge.frequency, "time", "times"), counted(edge.cases, "case", "cases")));
        } else {
            lines.push("never directly one after the other: only bytes".to_owned());
        }
        lines.extend(edge.wait_ns.map(|wait| format!("waited: {}", times(&wait))));
        lines.extend(edge.on_path.map(|of| path_words(&of)));
        if edge.wait_ns.is_some_and(|wait| wait.sum != edge.last_wait_ns) {
            lines.push(format!("of that for the last to end: {}", duration(edge.last_wait_ns as f64)));
        }
        if let Some(flow) = &edge.bytes {
            let how = if self.dfg.flow.is_some_and(|flow| flow.declared) { "declared" } else { "traced" };
            lines.push(format!("bytes ({how}): {} from {}", volumes(flow), counted(flow.count, "pair", "pairs")));
        }
        lines
    }

    fn legend(&self, chosen: &Chosen) -> Vec<Entry> {
        let mut entries = Vec::new();
        let show = self.options.show;
        let instance = &self.instance;
        let what = match show {
            Show::All | Show::Frequency => format!("Box: activity and its {}", plural(instance)),
            Show::Path => format!("Box: {} on critical paths", if self.has_cores() { "core time" } else { "time" }),
            Show::Time => "Box: activity, by total time".to_owned(),
            Show::Bytes => "Box: activity, by bytes moved".to_owned(),
        };
        if !chosen.activities.is_empty() {
            let boxes = self.boxes.samples().into_iter().map(|n| (box_colour(self.boxes, n), self.box_words(n))).collect();
            let mut note = Vec::new();
            let some = |has: fn(&Activity) -> bool| chosen.activities.iter().any(|&a| has(&self.dfg.activities[a]));
            if show == Show::Path {
                note.push(
                    "the chain of a case back from what ended last, each time over what ended last before; the rest is pale".to_owned(),
                );
            }
            if matches!(show, Show::All | Show::Time | Show::Path) && some(|a| a.service_ns.is_some()) {
                note.push(format!("ran: {} from start to end", self.options.time.name()));
            }
            if matches!(show, Show::All | Show::Time | Show::Path) && some(|a| a.queue_ns.is_some_and(|q| q.max > 0)) {
                let ready = if self.dfg.words.ready.is_empty() { "ready".to_owned() } else { visible(&self.dfg.words.ready) };
                note.push(format!("queued: {} from {ready} to start", self.options.time.name()));
            }
            if matches!(show, Show::All | Show::Bytes) && some(|a| a.read_bytes.is_some() || a.written_bytes.is_some()) {
                note.push(format!("read, wrote: bytes in sum, {}", self.origins()));
            }
            if some(|a| a.most_at_once > 1) {
                note.push("at once: the most that ran side by side".to_owned());
            }
            if chosen.activities.iter().any(|&a| !self.concurrent[a].is_empty()) {
                note.push("∥: number of other activities that overlap in time (no edge)".to_owned());
            }
            entries.push(Entry::new(what, Sample::Boxes(boxes), note.join("; ")));
        }
        if chosen.edges.is_empty() {
            if !chosen.starts.is_empty() {
                entries.push(legend::terminals());
            }
            return entries;
        }
        let most = chosen.edges.iter().copied().max_by_key(|&e| (self.dfg.edges[e].frequency, std::cmp::Reverse(e)));
        if let Some(sample) = most.map(|e| self.label(&self.dfg.edges[e], false)).filter(|label| !label.is_empty()) {
            let has_times = chosen.edges.iter().any(|&e| self.dfg.edges[e].wait_ns.is_some());
            let mut parts = Vec::new();
            if matches!(show, Show::All | Show::Frequency | Show::Path) {
                parts.push("how often".to_owned());
            }
            if matches!(show, Show::All | Show::Time | Show::Path) && has_times {
                parts.push(format!("{} time from end to start", self.options.time.name()));
            }
            if matches!(show, Show::All | Show::Bytes) && self.dfg.flow.is_some() {
                parts.push("bytes written by the first and read by the second".to_owned());
            }
            entries.push(Entry::new(format!("Line: {instance} directly after {instance}"), Sample::Label(sample), parts.join(" · ")));
        }
        match show {
            Show::Bytes => {
                let samples = self.widths.samples().into_iter().map(|n| (self.widths.width(n), bytes(n.into()))).collect();
                if self.widths.most > 0 {
                    entries.push(Entry::new("Line width: bytes", Sample::Widths(samples), ""));
                    let words = [0.0, 0.5, 1.0].map(|share| bytes(self.byte_colours.time_at(share) as i128));
                    entries.push(Entry::new("Line colour: bytes", Sample::Ramp(self.byte_colours.ramp(9), words), "grey: none known"));
                }
            }
            _ => {
                let samples = self.widths.samples().into_iter().map(|n| (self.widths.width(n), count(n))).collect();
                let note = if show == Show::Path { "Pale lines all have the least." } else { "" };
                entries.push(Entry::new("Line width: how often", Sample::Widths(samples), note));
            }
        }
        let is_coloured = |e: usize| self.dfg.edges[e].wait_ns.is_some() && !self.is_pale(self.dfg.edges[e].on_path);
        if matches!(show, Show::All | Show::Time | Show::Path) && chosen.edges.iter().any(|&e| is_coloured(e)) {
            let words = [0.0, 0.5, 1.0].map(|share| duration(self.times.time_at(share)));
            entries.push(Entry::new(
                format!("Line colour: {} waiting time", self.options.time.name()),
                Sample::Ramp(self.times.ramp(9), words),
                "",
            ));
        }
        if !chosen.marked_edges.is_empty() || !chosen.marked_activities.is_empty() {
            let colour = chosen.marked_edges.first().map_or("#64748b".to_owned(), |&e| self.line_colour(&self.dfg.edges[e]));
            let note = match show {
                Show::Path => "what costs most on critical paths, and the waits on them that cost most in sum (Σ)",
                Show::Bytes => "the activities that moved most bytes, and the lines with most bytes",
                _ => "the running times, and the waits for what ended last, that cost most in sum (Σ)",
            };
            let heading = if show == Show::Bytes { "▲ Most bytes" } else { "▲ Costs most" };
            entries.push(Entry::new(heading, Sample::Halo(colour, 3.0), note));
        }
        if chosen.edges.iter().any(|&e| self.dfg.edges[e].frequency == 0) {
            let note = "bytes went from one to the other, which never follows directly";
            entries.push(Entry::new("Dashed line: only bytes", Sample::Dashed("#64748b".to_owned(), 1.2), note));
        }
        if !chosen.starts.is_empty() || !chosen.ends.is_empty() {
            entries.push(legend::terminals());
        }
        entries
    }

    fn box_words(&self, n: u64) -> String {
        match self.options.show {
            Show::Path if self.has_cores() => cost_words(OnPath { core_ns: Some(n.into()), ..OnPath::default() }),
            Show::Time | Show::Path => duration(n as f64),
            Show::Bytes => bytes(n.into()),
            Show::All | Show::Frequency => count(n),
        }
    }

    /// Whether core time is known of what lies on critical paths.
    fn has_cores(&self) -> bool {
        self.dfg.activities.iter().any(|activity| activity.on_path.is_some_and(|of| of.core_ns.is_some()))
    }

    fn origins(&self) -> String {
        let mut origins: Vec<BytesFrom> = self.dfg.activities.iter().flat_map(|a| a.bytes_from.iter().map(|(from, _)| *from)).collect();
        origins.sort_unstable();
        origins.dedup();
        let words: Vec<&str> = origins.into_iter().map(origin).collect();
        if words.is_empty() { "reported by the log".to_owned() } else { words.join(" or ") }
    }
}

/// The number by which a box is coloured: how often, nanoseconds or bytes.
fn box_value(activity: &Activity, options: &Options) -> u64 {
    let sum = |stats: Option<Stats>| stats.map_or(0, |stats| u64::try_from(stats.sum.max(0)).unwrap_or(u64::MAX));
    match options.show {
        Show::All | Show::Frequency => activity.frequency,
        Show::Path => activity.on_path.map_or(0, |of| u64::try_from(path_cost(of)).unwrap_or(u64::MAX)),
        Show::Time => sum(activity.service_ns),
        Show::Bytes => u64::try_from(moved(activity)).unwrap_or(u64::MAX),
    }
}

/// What lies on critical paths, for those who point at it.
fn path_words(of: &OnPath) -> String {
    let core = of.core_ns.map(|core_ns| format!(", {} core-hours", core_hours(core_ns))).unwrap_or_default();
    format!("on critical paths: {}, {}{core}", counted(of.frequency, "time", "times"), duration(of.time_ns as f64))
}

fn plural(word: &str) -> String {
    format!("{word}s")
}

fn times(stats: &Stats) -> String {
    format!(
        "median {}, mean {}, p95 {}, least {}, most {}, deviation {}, sum {}",
        duration(stats.median),
        duration(stats.mean),
        duration(stats.p95),
        duration(stats.min as f64),
        duration(stats.max as f64),
        duration(stats.stdev),
        duration(stats.sum as f64)
    )
}

pub(crate) fn volumes(stats: &Stats) -> String {
    let rounded = |number: f64| bytes(number.round() as i128);
    format!(
        "{} in sum ({} bytes), median {}, mean {}, p95 {}, least {}, most {}",
        bytes(stats.sum),
        count(stats.sum.max(0).unsigned_abs()),
        rounded(stats.median),
        rounded(stats.mean),
        rounded(stats.p95),
        bytes(stats.min.into()),
        bytes(stats.max.into())
    )
}

fn terminals(picture: &mut Graph, dfg: &Dfg, place: &[usize], list: &[(usize, u64)], start: bool) {
    if list.is_empty() {
        return;
    }
    let node = picture.nodes.len();
    let (id, text, verb, shape) = if start { ("start", "▶ Start", "begin", Shape::Start) } else { ("end", "■ End", "end", Shape::End) };
    picture.nodes.push(Node {
        id: id.to_owned(),
        shape,
        name: text.to_owned(),
        title: vec![format!("where cases {verb}")],
        ..Node::default()
    });
    for &(activity, n) in list {
        let (from, to) = if start { (node, place[activity]) } else { (place[activity], node) };
        picture.edges.push(Line {
            from,
            to,
            label: vec![count(n)],
            colour: CASE_LINE.to_owned(),
            width: CASE_WIDTH,
            dashed: true,
            weight: n,
            title: vec![format!("{} {verb} with {}", counted(n, "case", "cases"), visible(&dfg.activities[activity].name))],
            data: vec![("cases", n.into())],
            ..Line::default()
        });
    }
}

pub(super) fn title(dfg: &Dfg) -> String {
    if dfg.words.instance.is_empty() {
        "Directly-follows graph".to_owned()
    } else {
        format!("Directly-follows graph of {}", plural(&dfg.words.instance))
    }
}

/// What was counted, in sentences.
fn facts(dfg: &Dfg, show: Show) -> Vec<String> {
    let mut facts = Vec::new();
    let instance = if dfg.words.instance.is_empty() { "event" } else { &dfg.words.instance };
    if dfg.instances == 0 {
        facts.push(format!("There are no {}.", plural(instance)));
    }
    let pairs = dfg.edges.iter().filter(|edge| edge.frequency > 0).count() as u64;
    facts.push(format!(
        "{}, {}, {}, {}.",
        counted(dfg.cases, "case", "cases"),
        counted(dfg.instances, instance, &plural(instance)),
        counted(dfg.activities.len() as u64, "activity", "activities"),
        counted(pairs, "directly-follows pair", "directly-follows pairs"),
    ));
    if !dfg.words.notion.is_empty() {
        facts.push(format!("A case is: {}", dfg.words.notion));
    }
    if !dfg.words.activity.is_empty() {
        facts.push(format!("An activity is: {}", dfg.words.activity));
    }
    if !dfg.words.filters.is_empty() {
        facts.push(format!("Filtered: {}", dfg.words.filters.join("; ")));
    }
    if let Some(flow) = dfg.flow.as_ref().filter(|_| matches!(show, Show::All | Show::Bytes)) {
        let how = if flow.declared { "Declared" } else { "Traced" };
        let mut parts = vec![format!("{} from {instance} to {instance}", bytes(flow.between))];
        for (number, words) in [
            (flow.from_outside, "of what was there before"),
            (flow.read_back, "read back by their writer"),
            (flow.read_by_others, "read by others"),
        ] {
            if number > 0 {
                parts.push(format!("{} {words}", bytes(number)));
            }
        }
        facts.push(format!("{how} bytes read: {}.", parts.join(", ")));
    }
    if dfg.empty_cases > 0 {
        facts.push(format!("{} without events not counted.", counted(dfg.empty_cases, "case", "cases")));
    }
    if dfg.backward_steps > 0 {
        let steps = counted(dfg.backward_steps, "step goes", "steps go");
        facts.push(format!("{steps} back in time and count as negative."));
    }
    if dfg.steps_without_time > 0 {
        facts.push(format!("Of {} a time is not known.", counted(dfg.steps_without_time, "step", "steps")));
    }
    if dfg.uncounted_overlaps > 0 {
        facts.push(format!(
            "{} started while more than a thousand activities ran; what they overlapped with is not counted.",
            counted(dfg.uncounted_overlaps, instance, &plural(instance))
        ));
    }
    let left_out = dfg.left_out.sentences();
    if !left_out.is_empty() {
        facts.push(format!("In the log: {}.", left_out.join("; ")));
    }
    facts
}

/// What is not shown, in parts of a sentence.
fn left_out(dfg: &Dfg, chosen: &Chosen, isolated: usize, options: &Options) -> Vec<String> {
    let mut out = Vec::new();
    let hidden = dfg.activities.len() - chosen.activities.len() - isolated;
    if hidden > 0 {
        let shown: u64 = chosen.activities.iter().map(|&a| dfg.activities[a].frequency).sum();
        let all: u64 = dfg.activities.iter().map(|activity| activity.frequency).sum();
        out.push(format!(
            "{} of {} activities, the rarest, with {} of {} {}",
            count(hidden as u64),
            count(dfg.activities.len() as u64),
            count(all - shown),
            count(all),
            plural(if dfg.words.instance.is_empty() { "event" } else { &dfg.words.instance }),
        ));
    }
    let hidden = dfg.edges.len() - chosen.edges.len();
    if hidden > 0 {
        let all: u64 = dfg.edges.iter().map(|e| e.frequency).sum();
        let shown: u64 = chosen.edges.iter().map(|&e| dfg.edges[e].frequency).sum();
        let mut words = format!(
            "{} of {} lines, with {} of {} steps",
            count(hidden as u64),
            count(dfg.edges.len() as u64),
            count(all - shown),
            count(all)
        );
        let flow = |edges: &mut dyn Iterator<Item = &Edge>| -> i128 { edges.filter_map(|e| e.bytes).map(|b| b.sum).sum() };
        let lost = flow(&mut dfg.edges.iter()) - flow(&mut chosen.edges.iter().map(|&e| &dfg.edges[e]));
        if lost > 0 {
            words.push_str(&format!(" and {}", bytes(lost)));
        }
        if options.coverage.is_none() && options.min_count == 0 {
            words.push_str(" (--coverage 100 shows all)");
        }
        out.push(words);
    }
    for (shown, all, word) in [(&chosen.starts, &dfg.starts, "begin"), (&chosen.ends, &dfg.ends, "end")] {
        let hidden = all.len() - shown.len();
        if hidden > 0 {
            out.push(format!("{} of {} activities with which cases {word}", count(hidden as u64), count(all.len() as u64)));
        }
    }
    out
}

fn stats_data(out: &mut Vec<(&'static str, Datum)>, names: [&'static str; 4], stats: &Option<Stats>, unit: f64) {
    if let Some(stats) = stats {
        let [sum, mean, median, p95] = names;
        out.push((sum, (stats.sum as f64 / unit).into()));
        out.push((mean, (stats.mean / unit).into()));
        out.push((median, (stats.median / unit).into()));
        out.push((p95, (stats.p95 / unit).into()));
    }
}

fn node_data(activity: &Activity) -> Vec<(&'static str, Datum)> {
    let mut data: Vec<(&'static str, Datum)> = vec![("frequency", activity.frequency.into()), ("cases", activity.cases.into())];
    stats_data(&mut data, ["service_sum_s", "service_mean_s", "service_median_s", "service_p95_s"], &activity.service_ns, 1e9);
    stats_data(&mut data, ["queue_sum_s", "queue_mean_s", "queue_median_s", "queue_p95_s"], &activity.queue_ns, 1e9);
    data.extend(activity.read_bytes.map(|r| ("read_bytes", r.sum.into())));
    data.extend(activity.written_bytes.map(|w| ("written_bytes", w.sum.into())));
    data.extend(activity.on_path.map(|of| ("path_s", (of.time_ns as f64 / 1e9).into())));
    data.extend(activity.on_path.and_then(|of| of.core_ns).map(|ns| ("path_core_hours", (ns as f64 / 3.6e12).into())));
    data.extend(activity.bytes_per_s.map(|rate| ("bytes_per_s", rate.into())));
    for (name, number) in [
        ("failed", activity.failed),
        ("aborted", activity.aborted),
        ("cached", activity.cached),
        ("unfinished", activity.unfinished),
        ("retries", activity.retries),
        ("most_at_once", activity.most_at_once),
    ] {
        data.push((name, number.into()));
    }
    data
}

fn line_data(edge: &Edge) -> Vec<(&'static str, Datum)> {
    let mut data: Vec<(&'static str, Datum)> = vec![("frequency", edge.frequency.into()), ("cases", edge.cases.into())];
    stats_data(&mut data, ["wait_sum_s", "wait_mean_s", "wait_median_s", "wait_p95_s"], &edge.wait_ns, 1e9);
    data.extend(edge.bytes.map(|bytes| ("bytes", bytes.sum.into())));
    data.extend(edge.on_path.map(|of| ("path_s", (of.time_ns as f64 / 1e9).into())));
    data
}

/// Names of the columns of the CSV table, in their order.
const COLUMNS: [&str; 30] = [
    "kind",
    "from",
    "to",
    "frequency",
    "cases",
    "sum_s",
    "mean_s",
    "median_s",
    "p95_s",
    "min_s",
    "max_s",
    "stdev_s",
    "queue_sum_s",
    "queue_mean_s",
    "queue_median_s",
    "queue_p95_s",
    "read_bytes",
    "written_bytes",
    "bytes_from",
    "bytes_per_s",
    "failed",
    "aborted",
    "cached",
    "unfinished",
    "retries",
    "most_at_once",
    "bytes",
    "bytes_mean",
    "bytes_median",
    "bytes_p95",
];

/// Writes the graph as a table: a row for each activity (`kind` is `activity`; its times are from
/// start to end), each pair (`edge`; its times are waits), and each activity with which cases begin
/// or end (`start`, `end`).
///
/// # Errors
/// When `out` cannot be written.
pub fn csv(dfg: &Dfg, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Csv::new(out, &COLUMNS)?;
    let times = |stats: &Option<Stats>| -> Vec<Value> {
        let of = |pick: fn(&Stats) -> f64| stats.as_ref().map_or(Value::Null, |stats| json!(pick(stats) / 1e9));
        vec![
            of(|s| s.sum as f64),
            of(|s| s.mean),
            of(|s| s.median),
            of(|s| s.p95),
            of(|s| s.min as f64),
            of(|s| s.max as f64),
            of(|s| s.stdev),
        ]
    };
    let sum = |stats: &Option<Stats>| stats.as_ref().map_or(Value::Null, |stats| integer(stats.sum));
    for a in &dfg.activities {
        let mut row = vec![json!("activity"), json!(a.name), Value::Null, json!(a.frequency), json!(a.cases)];
        row.extend(times(&a.service_ns));
        row.extend(times(&a.queue_ns).into_iter().take(4));
        let from: Vec<&str> = a.bytes_from.iter().map(|&(from, _)| about::origin(from)).collect();
        let from = if from.is_empty() { Value::Null } else { json!(from.join("+")) };
        row.extend([sum(&a.read_bytes), sum(&a.written_bytes), from, a.bytes_per_s.map_or(Value::Null, |rate| json!(rate))]);
        row.extend([a.failed, a.aborted, a.cached, a.unfinished, a.retries, a.most_at_once].map(|n| json!(n)));
        put_row(&mut table, row)?;
    }
    let name = |at: usize| json!(dfg.activities.get(at).map_or("", |activity| activity.name.as_str()));
    for e in &dfg.edges {
        let mut row = vec![json!("edge"), name(e.from), name(e.to), json!(e.frequency), json!(e.cases)];
        row.extend(times(&e.wait_ns));
        row.resize(26, Value::Null);
        row.push(sum(&e.bytes));
        row.extend(e.bytes.iter().flat_map(|b| [b.mean, b.median, b.p95]).map(|n| json!(n)));
        put_row(&mut table, row)?;
    }
    for (kind, list) in [("start", &dfg.starts), ("end", &dfg.ends)] {
        for &(activity, cases) in list {
            let ends = if kind == "start" { [Value::Null, name(activity)] } else { [name(activity), Value::Null] };
            let [from, to] = ends;
            put_row(&mut table, vec![json!(kind), from, to, Value::Null, json!(cases)])?;
        }
    }
    table.finish()
}

/// A row, filled up with unknown values.
fn put_row(table: &mut Csv<&mut dyn Write>, row: Vec<Value>) -> io::Result<()> {
    for at in 0..COLUMNS.len() {
        match row.get(at) {
            None | Some(Value::Null) => table.number(None::<u64>),
            Some(Value::String(text)) => table.text(text),
            Some(other) => table.number(Some(other)),
        };
    }
    table.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(value: i64) -> Option<Stats> {
        Stats::new(&mut [value])
    }

    /// `a → c` is on a critical path, `b → c` and `b` are not; `alone` has no line.
    fn with_paths() -> Dfg {
        const HOUR: i64 = 3_600_000_000_000;
        let on_path = |hours: i64| Some(OnPath { frequency: 1, time_ns: (hours * HOUR).into(), core_ns: Some((hours * HOUR * 4).into()) });
        let activity = |name: &str, bytes: i64, on_path| Activity {
            name: name.to_owned(),
            frequency: 1,
            service_ns: stats(HOUR),
            read_bytes: stats(bytes),
            on_path,
            ..Activity::default()
        };
        let activities = vec![
            activity("a", 10, on_path(2)),
            activity("alone", 10, on_path(1)),
            activity("b", 5000, None),
            activity("c", 10, on_path(1)),
        ];
        let edge = |from, bytes: i64, on_path| Edge {
            from,
            to: 3,
            frequency: 1,
            wait_ns: stats(HOUR),
            bytes: stats(bytes),
            on_path,
            ..Edge::default()
        };
        let edges = vec![edge(0, 10, on_path(1)), edge(2, 5000, None)];
        Dfg {
            activities,
            edges,
            starts: vec![(0, 1), (1, 1)],
            ends: vec![(1, 1), (3, 1)],
            flow: Some(Default::default()),
            ..Dfg::default()
        }
    }

    fn named<'g>(picture: &'g Graph, name: &str) -> Option<&'g Node> {
        picture.nodes.iter().find(|node| node.name == name)
    }

    #[test]
    fn the_usual_picture_shows_where_the_time_is() {
        let picture = graph(&with_paths(), &Options::default());
        assert!(named(&picture, "alone").is_none());
        let listed = picture.legend.iter().find(|entry| entry.heading.starts_with("Alone")).expect("a list");
        assert!(listed.note.contains("alone (1 event, 4.00 core-hours)"), "{listed:?}");
        let [a, b] = ["a", "b"].map(|name| named(&picture, name).expect("drawn"));
        assert!(a.lines.iter().any(|line| line.contains("8.00 core-hours on paths")) && b.fill == PALE_BOX && a.fill != PALE_BOX);
        assert!(picture.edges.iter().filter(|edge| edge.label.iter().any(|line| line.contains('·'))).count() == 2);
        assert_eq!(picture.edges.iter().filter(|edge| edge.colour == PALE_LINE).count(), 1);
        // Bytes are another picture.
        let words = format!("{:?} {:?} {:?}", picture.facts, picture.legend, a.lines);
        assert!(!words.contains("ytes"), "{words}");
    }

    #[test]
    fn marks_and_legend_of_bytes_are_about_bytes() {
        let picture = graph(&with_paths(), &Options { show: Show::Bytes, ..Options::default() });
        let marked: Vec<&str> = picture.nodes.iter().filter(|node| node.mark == Mark::Halo).map(|node| node.name.as_str()).collect();
        assert_eq!(marked, ["b"]);
        assert!(named(&picture, "b").expect("drawn").lines.iter().any(|line| line.starts_with("▲ read 4.9 KiB")));
        assert!(picture.legend.iter().any(|entry| entry.heading == "▲ Most bytes"));
        assert!(picture.facts.iter().any(|fact| fact.contains("bytes read")), "{:?}", picture.facts);
    }

    /// A path of ten activities, each with a loop to itself, an unusual way back to its beginning
    /// and rare steps from everywhere to everywhere.
    #[test]
    fn what_happens_most_is_shown_and_what_is_rare_is_not() {
        let edge = |from, to, frequency| Edge { from, to, frequency, ..Edge::default() };
        let mut edges: Vec<Edge> = (0..9).map(|at| edge(at, at + 1, 1000)).collect();
        edges.extend((0..10).map(|at| edge(at, at, 400)));
        edges.extend((0..10).flat_map(|from| (0..10).filter(move |&to| to != from && to != from + 1).map(move |to| edge(from, to, 3))));
        let activities = (0..10).map(|at| Activity { name: format!("a{at}"), frequency: 1400, ..Activity::default() }).collect();
        let dfg = Dfg { activities, edges, starts: vec![(0, 1000)], ends: vec![(9, 1000)], ..Dfg::default() };
        let all: Vec<usize> = (0..dfg.edges.len()).collect();
        let shown = cover(&dfg, all.clone(), 0.98, ALL_EDGES, &[]);
        assert_eq!(shown, (0..19).collect::<Vec<_>>(), "the path and the loops");
        assert_eq!(cover(&dfg, all.clone(), 0.0, ALL_EDGES, &[]), (0..9).collect::<Vec<_>>(), "where each comes from and goes to");
        assert_eq!(cover(&dfg, all.clone(), 0.95, 5, &[]), (0..10).collect::<Vec<_>>(), "a loop beside the path");
        assert_eq!(cover(&dfg, all.clone(), 1.0, usize::MAX, &[]), all);
        // Where few begin, a way in is needed.
        let without = Dfg { starts: vec![(0, 1)], ..dfg.clone() };
        let back = cover(&without, all, 0.0, ALL_EDGES, &[]);
        assert!(back.iter().any(|&e| without.edges[e].to == 0));
    }
}
