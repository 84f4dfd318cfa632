//! What a picture shows, before anything has a place: a graph and options in; the chosen part, its labels and scales,
//! and the sentences about what was left out, out. SVG and DOT draw the same picture.

use super::scale::{TimeScale, WidthScale};
use super::text::{count, counted, duration, visible};
use super::{Options, Time};
use crate::dfg::{Dfg, Edge};

/// The chosen part of a graph.
pub(super) struct Picture<'a> {
    pub dfg: &'a Dfg,
    /// Shown activities: indices into the graph, ascending.
    pub activities: Vec<usize>,
    /// Shown edges: indices into the graph, ascending.
    pub edges: Vec<usize>,
    /// Shown starts and ends: activity and cases.
    pub starts: Vec<(usize, u64)>,
    pub ends: Vec<(usize, u64)>,
    /// Which of `edges` are marked, slowest first: indices into the graph.
    pub slowest: Vec<usize>,
    /// How often an edge had to be seen to be marked.
    pub support: u64,
    pub widths: WidthScale,
    pub boxes: WidthScale,
    pub times: TimeScale,
    pub time: Time,
}

impl<'a> Picture<'a> {
    pub fn new(dfg: &'a Dfg, options: &Options) -> Self {
        let activities = most_frequent_activities(dfg, options.most_activities);
        let edges = choose_edges(dfg, &activities, options);
        let terminals = |all: &[(usize, u64)]| most_frequent_terminals(all, &activities, options.most_terminals);
        let (starts, ends) = (terminals(&dfg.starts), terminals(&dfg.ends));
        let (slowest, support) = slowest(dfg, &edges, options);
        let counts = edges.iter().map(|&e| dfg.edges[e].frequency);
        Self {
            widths: WidthScale::of(counts),
            boxes: WidthScale::of(activities.iter().map(|&a| dfg.activities[a].frequency)),
            times: TimeScale::of(edges.iter().map(|&e| options.time.of(&dfg.edges[e]))),
            time: options.time,
            dfg,
            activities,
            edges,
            starts,
            ends,
            slowest,
            support,
        }
    }

    pub fn is_slowest(&self, edge: usize) -> bool {
        self.slowest.contains(&edge)
    }

    /// What stands on an edge, with a mark in front if it is among the slowest.
    pub fn label(&self, edge: usize) -> String {
        let mark = if self.is_slowest(edge) { "▲ " } else { "" };
        format!("{mark}{}", self.plain_label(edge))
    }

    /// `120 · 3m 05s`.
    pub fn plain_label(&self, edge: usize) -> String {
        let e = &self.dfg.edges[edge];
        format!("{} · {}", count(e.frequency), duration(self.time.of(e)))
    }

    /// The whole picture in sentences, for those who cannot draw a legend.
    pub fn legend(&self) -> Vec<String> {
        let mut out = Vec::new();
        if !self.activities.is_empty() {
            out.push(format!("Box: activity and its events, darker for more ({}).", self.boxes.words()));
        }
        if !self.edges.is_empty() {
            out.push(format!("Line: event directly after event; how often · {} time between them.", self.time.name()));
            out.push(format!("Line width: how often ({}).", self.widths.words()));
            out.push(format!("Line colour: {} time, darker for longer ({}).", self.time.name(), self.times.words()));
        }
        if !self.slowest.is_empty() {
            out.push(format!("▲ Slowest: {}.", self.slowest_words()));
        }
        if !self.starts.is_empty() || !self.ends.is_empty() {
            out.push("Dashed: number of cases that begin or end there.".to_owned());
        }
        out
    }

    /// What is marked.
    pub fn slowest_words(&self) -> String {
        let what = match self.slowest.len() {
            1 => format!("the longest {} time", self.time.name()),
            n => format!("the {n} longest {} times", self.time.name()),
        };
        let among = if self.edges.len() < self.dfg.edges.len() { "the lines shown" } else { "all lines" };
        match self.support {
            0 | 1 => format!("{what} of {among}"),
            n => format!("{what} of {among} with a count of {} or more", count(n)),
        }
    }

    /// Everything about an edge, in lines.
    pub fn edge_title(&self, edge: usize) -> Vec<String> {
        let e = &self.dfg.edges[edge];
        let mut lines = vec![
            format!("{} → {}", self.name(e.from), self.name(e.to)),
            format!("{} in {}", counted(e.frequency, "time", "times"), counted(e.cases, "case", "cases")),
            format!("median {}, mean {}, p95 {}", duration(e.median_ns), duration(e.mean_ns), duration(e.p95_ns)),
            format!("least {}, most {}", duration(e.min_ns as f64), duration(e.max_ns as f64)),
        ];
        if self.is_slowest(edge) {
            lines.push("among the slowest".to_owned());
        }
        lines
    }

    pub fn activity_title(&self, activity: usize) -> Vec<String> {
        let a = &self.dfg.activities[activity];
        vec![visible(&a.name), format!("{} in {}", counted(a.frequency, "event", "events"), counted(a.cases, "case", "cases"))]
    }

    pub fn name(&self, activity: usize) -> String {
        visible(&self.dfg.activities[activity].name)
    }

    /// The heading.
    pub fn title(&self) -> String {
        if self.dfg.title.is_empty() { "Directly-follows graph".to_owned() } else { visible(&self.dfg.title) }
    }

    /// What is shown and what is not, in sentences.
    pub fn facts(&self) -> Vec<String> {
        let dfg = self.dfg;
        let mut facts = Vec::new();
        if dfg.events == 0 {
            facts.push("There are no events.".to_owned());
        }
        facts.push(format!(
            "{}, {}, {}, {}.",
            counted(dfg.cases, "case", "cases"),
            counted(dfg.events, "event", "events"),
            counted(dfg.activities.len() as u64, "activity", "activities"),
            counted(dfg.edges.len() as u64, "directly-follows pair", "directly-follows pairs"),
        ));
        if !dfg.notion.is_empty() {
            facts.push(format!("A case is: {}", visible(&dfg.notion)));
        }
        if !dfg.filters.is_empty() {
            let filters: Vec<String> = dfg.filters.iter().map(|f| visible(f)).collect();
            facts.push(format!("Filtered: {}", filters.join("; ")));
        }
        if !dfg.abstraction.is_empty() {
            facts.push(format!("Abstraction: {}", visible(&dfg.abstraction)));
        }
        if dfg.empty_cases > 0 {
            facts.push(format!("{} without events not counted.", counted(dfg.empty_cases, "case", "cases")));
        }
        if dfg.backward_steps > 0 {
            let steps = counted(dfg.backward_steps, "step goes", "steps go");
            facts.push(format!("{steps} back in time and count as negative."));
        }
        facts
    }

    /// What is not shown, in sentences; empty if everything is.
    pub fn left_out(&self) -> Vec<String> {
        let dfg = self.dfg;
        let mut out = Vec::new();
        let hidden = dfg.activities.len() - self.activities.len();
        if hidden > 0 {
            let shown: u64 = self.activities.iter().map(|&a| dfg.activities[a].frequency).sum();
            out.push(format!(
                "{} of {} activities, the rarest, with {} of {} events",
                count(hidden as u64),
                count(dfg.activities.len() as u64),
                count(dfg.events.saturating_sub(shown)),
                count(dfg.events)
            ));
        }
        let hidden = dfg.edges.len() - self.edges.len();
        if hidden > 0 {
            let steps = |edges: &mut dyn Iterator<Item = &Edge>| -> u64 { edges.map(|e| e.frequency).sum() };
            let all = steps(&mut dfg.edges.iter());
            let shown = steps(&mut self.edges.iter().map(|&e| &dfg.edges[e]));
            out.push(format!(
                "{} of {} directly-follows pairs, with {} of {} steps",
                count(hidden as u64),
                count(dfg.edges.len() as u64),
                count(all - shown),
                count(all)
            ));
        }
        for (shown, all, word) in [(&self.starts, &dfg.starts, "start"), (&self.ends, &dfg.ends, "end")] {
            if shown.len() < all.len() {
                let cases = |list: &[(usize, u64)]| list.iter().map(|t| t.1).sum::<u64>();
                let missing = cases(all) - cases(shown);
                out.push(format!("the {word} of {} of {} cases", count(missing), count(dfg.cases)));
            }
        }
        out
    }
}

fn most_frequent_activities(dfg: &Dfg, most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..dfg.activities.len()).collect();
    order.sort_by_key(|&a| (std::cmp::Reverse(dfg.activities[a].frequency), a));
    order.truncate(most);
    order.sort_unstable();
    order
}

fn most_frequent_terminals(all: &[(usize, u64)], activities: &[usize], most: usize) -> Vec<(usize, u64)> {
    let mut shown: Vec<(usize, u64)> = all.iter().copied().filter(|t| activities.binary_search(&t.0).is_ok()).collect();
    shown.sort_by_key(|&(a, n)| (std::cmp::Reverse(n), a));
    shown.truncate(most);
    shown.sort_unstable();
    shown
}

/// The edges to show. An activity without its most frequent neighbours would seem to come from nowhere, and a slow
/// edge is what a reader looks for, so these come before plain frequency.
fn choose_edges(dfg: &Dfg, activities: &[usize], options: &Options) -> Vec<usize> {
    let shown = |a: usize| activities.binary_search(&a).is_ok();
    let mut possible: Vec<usize> = (0..dfg.edges.len()).filter(|&e| shown(dfg.edges[e].from) && shown(dfg.edges[e].to)).collect();
    if possible.len() <= options.most_edges {
        return possible;
    }
    let slow = slowest(dfg, &possible, options).0;
    possible.sort_by_key(|&e| (std::cmp::Reverse(dfg.edges[e].frequency), e));
    let mut has_in = vec![false; dfg.activities.len()];
    let mut has_out = vec![false; dfg.activities.len()];
    let mut first = Vec::new();
    let mut rest = Vec::new();
    for &e in &possible {
        let edge = &dfg.edges[e];
        let needed = edge.from != edge.to && (!has_out[edge.from] || !has_in[edge.to]);
        if needed {
            has_out[edge.from] = true;
            has_in[edge.to] = true;
            first.push(e);
        } else {
            rest.push(e);
        }
    }
    let (slow_rest, plain_rest): (Vec<usize>, Vec<usize>) = rest.into_iter().partition(|e| slow.contains(e));
    first.extend(slow_rest);
    first.extend(plain_rest);
    first.truncate(options.most_edges);
    first.sort_unstable();
    first
}

/// The slowest of some edges, slowest first, and how often an edge had to be seen.
pub(super) fn slowest(dfg: &Dfg, among: &[usize], options: &Options) -> (Vec<usize>, u64) {
    let frequency = |e: usize| dfg.edges[e].frequency;
    let most = among.iter().map(|&e| frequency(e)).max().unwrap_or(0);
    let support = options.least_support.unwrap_or_else(|| (most / 20).max(2).min(most.max(1)));
    let time = |e: usize| options.time.of(&dfg.edges[e]);
    let fastest = among.iter().map(|&e| time(e)).fold(f64::INFINITY, f64::min);
    let mut slow: Vec<usize> = among.iter().copied().filter(|&e| frequency(e) >= support && time(e) > fastest.max(0.0)).collect();
    slow.sort_by(|&a, &b| time(b).total_cmp(&time(a)).then(frequency(b).cmp(&frequency(a))).then(a.cmp(&b)));
    slow.truncate(options.slowest.min(among.len() / 2));
    (slow, support)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dfg::DfgBuilder;

    /// Pairs of activities with their times in seconds; each pair is a case of its own.
    fn pairs(list: &[(&str, &str, i64)]) -> Dfg {
        let mut names: Vec<&str> = list.iter().flat_map(|p| [p.0, p.1]).collect();
        names.sort_unstable();
        names.dedup();
        let id = |n: &str| names.iter().position(|x| *x == n).expect("the test's own input") as u32;
        let mut builder = DfgBuilder::new(names.iter().copied());
        for &(a, b, s) in list {
            builder.add_trace(&[(id(a), 0), (id(b), s * 1_000_000_000)]).expect("the test's own input");
        }
        builder.finish()
    }

    #[test]
    fn slow_needs_support_and_something_faster() {
        let options = Options::default();
        assert!(super::super::slowest(&pairs(&[("a", "b", 9), ("a", "b", 9)]), &options).is_empty());
        assert!(super::super::slowest(&pairs(&[("a", "b", 9), ("b", "c", 9)]), &options).is_empty());
        assert!(super::super::slowest(&pairs(&[("a", "b", 0), ("b", "c", -4)]), &options).is_empty());
        // b→c is the slowest but was seen once.
        let dfg = pairs(&[("a", "b", 5), ("a", "b", 5), ("b", "c", 900), ("c", "d", 1), ("c", "d", 1)]);
        assert_eq!(super::super::slowest(&dfg, &options), [0]);
        let all = Options { least_support: Some(1), slowest: 1, ..options };
        assert_eq!(super::super::slowest(&dfg, &all), [1]);
    }

    #[test]
    fn half_of_the_edges_at_most() {
        let dfg = pairs(&[("a", "b", 1), ("b", "c", 2), ("c", "d", 3), ("d", "e", 4), ("e", "f", 5)]);
        assert_eq!(super::super::slowest(&dfg, &Options::default()), [4, 3]);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let dfg = pairs(&[("a", "b", 1), ("a", "b", 1), ("b", "a", 1), ("c", "d", 1)]);
        let options = Options { most_activities: 2, most_edges: 1, most_terminals: 1, ..Options::default() };
        let picture = Picture::new(&dfg, &options);
        assert_eq!(picture.activities, [0, 1]);
        assert_eq!(picture.edges, [0]);
        assert_eq!(
            picture.left_out(),
            [
                "2 of 4 activities, the rarest, with 2 of 8 events",
                "2 of 3 directly-follows pairs, with 2 of 4 steps",
                "the start of 2 of 4 cases",
                "the end of 2 of 4 cases",
            ]
        );
        assert!(Picture::new(&dfg, &Options::default()).left_out().is_empty());
    }
}
