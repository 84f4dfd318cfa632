//! Replay of a log on a net: fitness, precision and generalisation.
//!
//! In: a [`PetriNet`] and [`Variants`], with activities that are matched by name. Out: counts of
//! tokens, and measures from 0 to 1. Nothing is refused; where a search meets its bound, that is
//! counted in the result.
//!
//! A case is replayed event by event (Rozinat, van der Aalst: Conformance checking of processes
//! based on monitoring real behavior, 2008). Where the event's transition is not enabled, the
//! fewest silent transitions that enable it are fired; where none do, the tokens that it lacks are
//! added and counted as missing. At the end silent transitions are fired that lead to the final
//! marking; what is left beside it counts as remaining. Events of activities that the net does not
//! have are passed over, as in PM4Py and process_mining. Where this takes a wrong turn a search for
//! a run of the net that is exactly the case is made, so that a case in the net's language has
//! nothing missing and nothing remaining (PM4Py has no such search).

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Variants;
use crate::net::PetriNet;

/// How many states a replay may search for an exact run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many states the search for an exact run may look at for one case.
    pub max_states_each: usize,
    /// How many states the searches may look at in all; beyond it cases are replayed without them.
    pub max_states: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { max_states_each: 20_000, max_states: 5_000_000 }
    }
}

/// The tokens of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Given by transitions, and the one at the beginning.
    pub produced: u64,
    /// Taken by transitions, and the one at the end.
    pub consumed: u64,
    /// Added because a transition, or the end, lacked them.
    pub missing: u64,
    /// Left over in addition to the final marking.
    pub remaining: u64,
}

impl Tokens {
    /// `0.5 (1 − missing / consumed) + 0.5 (1 − remaining / produced)`.
    pub fn fitness(&self) -> f64 {
        if self.consumed == 0 || self.produced == 0 {
            return 1.0;
        }
        0.5 * (1.0 - self.missing as f64 / self.consumed as f64) + 0.5 * (1.0 - self.remaining as f64 / self.produced as f64)
    }

    /// Whether nothing is missing and nothing remains.
    pub fn fits(&self) -> bool {
        self.missing == 0 && self.remaining == 0
    }

    fn add(&mut self, other: Tokens, times: u64) {
        let add = |to: &mut u64, n: u64| *to = to.saturating_add(n.saturating_mul(times));
        add(&mut self.produced, other.produced);
        add(&mut self.consumed, other.consumed);
        add(&mut self.missing, other.missing);
        add(&mut self.remaining, other.remaining);
    }
}

/// What the replay of a log on a net found, in tokens and cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The tokens of one case of each variant, in the order of [`Variants::variants`].
    pub variants: Vec<Tokens>,
    /// The transitions that fire for each variant, in their order; `None` where it does not fit.
    pub runs: Vec<Option<Vec<u32>>>,
    /// The tokens of all cases.
    pub total: Tokens,
    /// The share of cases with nothing missing and nothing remaining; 0 for a log without cases.
    pub fitting: f64,
    /// The mean of the cases' fitness, as PM4Py's `average_trace_fitness`; 0 for a log without
    /// cases.
    pub mean_fitness: f64,
    /// How often each transition fired, over all cases.
    pub fired: Vec<u64>,
    /// For how many variants the search for an exact run met its bound; these may fit and not be
    /// said to.
    pub cut_short: u64,
}

impl Replay {
    /// The log's fitness: the formula of [`Tokens::fitness`] over all cases, as in PM4Py's
    /// `log_fitness` and process_mining.
    pub fn fitness(&self) -> f64 {
        self.total.fitness()
    }

    /// How much of the model is used often enough to be believed (Buijs, van Dongen, van der Aalst
    /// 2014): one less the mean over all transitions of 1 / √(times fired), which is 1 for one that
    /// never fired. PM4Py's `generalization_tbr`.
    pub fn generalisation(&self) -> f64 {
        if self.fired.is_empty() {
            return 1.0;
        }
        let sum: f64 = self.fired.iter().map(|&n| if n == 0 { 1.0 } else { 1.0 / (n as f64).sqrt() }).sum();
        1.0 - sum / self.fired.len() as f64
    }
}

/// A marking: the places that hold tokens and how many, ascending.
type Marking = Vec<(u32, u32)>;

/// A marking, and places that are to have tokens.
type Question = (Marking, Vec<u32>);

/// A net made ready for replay.
struct Player<'a> {
    net: &'a PetriNet,
    /// The silent transitions that take from each place.
    silent_from: Vec<Vec<u32>>,
    /// The transitions of each activity of the log.
    of_activity: Vec<Vec<u32>>,
    /// How many states the searches may still look at.
    states_left: usize,
    max_each: usize,
    /// Ways that were found, or found not to be, from a marking to places.
    known_ways: RefCell<FxHashMap<Question, Option<Vec<u32>>>>,
}

/// A case while it is replayed.
#[derive(Clone)]
struct Case {
    marking: Marking,
    tokens: Tokens,
    fired: Vec<u32>,
}

impl<'a> Player<'a> {
    fn new(net: &'a PetriNet, variants: &Variants, options: &Options) -> Self {
        let mut silent_from = vec![Vec::new(); net.places() as usize];
        let mut of_label: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        for (t, transition) in (0u32..).zip(net.transitions()) {
            match transition.activity {
                None => transition.inputs.iter().for_each(|&p| silent_from[p as usize].push(t)),
                Some(a) => of_label.entry(net.label(a)).or_default().push(t),
            }
        }
        let of_activity = variants.activities().iter().map(|a| of_label.get(a.as_str()).cloned().unwrap_or_default()).collect();
        Player {
            net,
            silent_from,
            of_activity,
            states_left: options.max_states,
            max_each: options.max_states_each,
            known_ways: RefCell::default(),
        }
    }

    fn begin(&self) -> Case {
        Case { marking: vec![(PetriNet::SOURCE, 1)], tokens: Tokens { produced: 1, ..Tokens::default() }, fired: Vec::new() }
    }

    fn inputs(&self, t: u32) -> &'a [u32] {
        &self.net.transitions()[t as usize].inputs
    }

    fn outputs(&self, t: u32) -> &'a [u32] {
        &self.net.transitions()[t as usize].outputs
    }

    fn enabled(&self, marking: &Marking, t: u32) -> bool {
        self.inputs(t).iter().all(|&p| holds(marking, p) > 0)
    }

    fn fire(&self, case: &mut Case, t: u32) {
        for &p in self.inputs(t) {
            change(&mut case.marking, p, -1);
        }
        for &p in self.outputs(t) {
            change(&mut case.marking, p, 1);
        }
        case.tokens.consumed += self.inputs(t).len() as u64;
        case.tokens.produced += self.outputs(t).len() as u64;
        case.fired.push(t);
    }

    /// One event; whether it was possible without adding tokens.
    fn event(&self, case: &mut Case, activity: u32) -> bool {
        let transitions = &self.of_activity[activity as usize];
        let Some(&first) = transitions.first() else { return true };
        if let Some(&t) = transitions.iter().find(|&&t| self.enabled(&case.marking, t)) {
            self.fire(case, t);
            return true;
        }
        let wanted = transitions.iter().filter_map(|&t| self.way(&case.marking, self.inputs(t)).map(|way| (way.len(), t, way)));
        if let Some((_, t, way)) = wanted.min() {
            way.into_iter().for_each(|silent| self.fire(case, silent));
            self.fire(case, t);
            return true;
        }
        for &p in self.inputs(first) {
            if holds(&case.marking, p) == 0 {
                change(&mut case.marking, p, 1);
                case.tokens.missing += 1;
            }
        }
        self.fire(case, first);
        false
    }

    fn end(&self, case: &mut Case) {
        if holds(&case.marking, PetriNet::SINK) == 0
            && let Some(way) = self.way(&case.marking, &[PetriNet::SINK])
        {
            way.into_iter().for_each(|silent| self.fire(case, silent));
        }
        case.tokens.consumed += 1;
        let mut left: u64 = case.marking.iter().map(|&(_, n)| u64::from(n)).sum();
        if holds(&case.marking, PetriNet::SINK) > 0 {
            left -= 1;
        } else {
            case.tokens.missing += 1;
        }
        case.tokens.remaining += left;
    }

    /// Silent transitions that put a token into each of these places when they fire, few of them;
    /// `None` where there are none.
    ///
    /// Each place's cost is the least number of silent transitions that fill it, found as if tokens
    /// were never used up (Knuth's generalisation of Dijkstra's algorithm); in the net of a tree
    /// the ways to several places of one transition use different tokens. The way is then fired to
    /// see that it is one.
    fn way(&self, marking: &Marking, places: &[u32]) -> Option<Vec<u32>> {
        let key = (marking.clone(), places.to_vec());
        if let Some(way) = self.known_ways.borrow().get(&key) {
            return way.clone();
        }
        let way = self.search_way(marking, places);
        let mut known = self.known_ways.borrow_mut();
        // Markings of a big net may be many: forget rather than fill the memory.
        if known.len() >= 1 << 16 {
            known.clear();
        }
        known.insert(key, way.clone());
        way
    }

    fn search_way(&self, marking: &Marking, places: &[u32]) -> Option<Vec<u32>> {
        let mut done: FxHashMap<u32, Option<u32>> = FxHashMap::default();
        let mut needs: FxHashMap<u32, (usize, u64)> = FxHashMap::default();
        // (cost, transition that fills, place)
        let mut queue: BinaryHeap<Reverse<(u64, Option<u32>, u32)>> = marking.iter().map(|&(p, _)| Reverse((0, None, p))).collect();
        let mut open = places.iter().filter(|&&p| holds(marking, p) == 0).count();
        if open == 0 {
            return Some(Vec::new());
        }
        while let Some(Reverse((cost, by, place))) = queue.pop() {
            if done.contains_key(&place) {
                continue;
            }
            done.insert(place, by);
            if by.is_some() && places.contains(&place) {
                open -= 1;
                if open == 0 {
                    break;
                }
            }
            for &t in &self.silent_from[place as usize] {
                let (left, sum) = needs.entry(t).or_insert((self.inputs(t).len(), 1));
                *left -= 1;
                *sum += cost;
                if *left == 0 {
                    let sum = *sum;
                    queue.extend(self.outputs(t).iter().filter(|p| !done.contains_key(p)).map(|&p| Reverse((sum, Some(t), p))));
                }
            }
        }
        if open > 0 {
            return None;
        }
        // The transitions needed, each after those that fill its inputs.
        let mut way: Vec<u32> = Vec::new();
        let mut taken: FxHashSet<u32> = FxHashSet::default();
        let mut todo: Vec<(u32, bool)> = places.iter().rev().filter_map(|p| done.get(p).copied().flatten()).map(|t| (t, false)).collect();
        while let Some((t, inputs_done)) = todo.pop() {
            if inputs_done {
                way.push(t);
            } else if taken.insert(t) {
                todo.push((t, true));
                todo.extend(self.inputs(t).iter().rev().filter_map(|p| done.get(p).copied().flatten()).map(|t| (t, false)));
            }
        }
        let mut trial = Case { marking: marking.clone(), tokens: Tokens::default(), fired: Vec::new() };
        for &t in &way {
            if !self.enabled(&trial.marking, t) {
                return None;
            }
            self.fire(&mut trial, t);
        }
        places.iter().all(|&p| holds(&trial.marking, p) > 0).then_some(way)
    }

    /// A run of the net that is exactly this trace: to the final marking, or only to its last
    /// event. Looks first where the trace gets on, then at silent transitions. `Err` when the bound
    /// was met.
    fn exact(&mut self, trace: &[u32], to_the_end: bool) -> Result<Option<Case>, ()> {
        let trace: Vec<u32> = trace.iter().copied().filter(|&a| !self.of_activity[a as usize].is_empty()).collect();
        let mut bound = self.max_each.min(self.states_left);
        // Each state with the state it came from and the transition between.
        let mut states: Vec<(usize, Marking, usize, u32)> = vec![(0, self.begin().marking, usize::MAX, 0)];
        let mut seen: FxHashSet<(usize, Marking)> = FxHashSet::default();
        seen.insert((0, self.begin().marking));
        let mut stack = vec![0usize];
        while let Some(at) = stack.pop() {
            let (position, marking) = (states[at].0, states[at].1.clone());
            let over = position == trace.len();
            if over && (!to_the_end || marking == [(PetriNet::SINK, 1)]) {
                let mut way = Vec::new();
                let mut s = at;
                while states[s].2 != usize::MAX {
                    way.push(states[s].3);
                    s = states[s].2;
                }
                let mut case = self.begin();
                way.iter().rev().for_each(|&t| self.fire(&mut case, t));
                return Ok(Some(case));
            }
            if bound == 0 {
                return Err(());
            }
            bound -= 1;
            self.states_left -= 1;
            let mut next: Vec<(usize, u32)> = Vec::new();
            for &(p, _) in &marking {
                next.extend(self.silent_from[p as usize].iter().filter(|&&t| self.enabled(&marking, t)).map(|&t| (position, t)));
            }
            next.sort_unstable_by(|a, b| b.cmp(a));
            next.dedup();
            if !over {
                let visible = self.of_activity[trace[position] as usize].iter().rev();
                next.extend(visible.filter(|&&t| self.enabled(&marking, t)).map(|&t| (position + 1, t)));
            }
            for (position, t) in next {
                let mut case = Case { marking: marking.clone(), tokens: Tokens::default(), fired: Vec::new() };
                self.fire(&mut case, t);
                if seen.insert((position, case.marking.clone())) {
                    states.push((position, case.marking, at, t));
                    stack.push(states.len() - 1);
                }
            }
        }
        Ok(None)
    }

    /// The labels of the visible transitions that are enabled here, or are after silent
    /// transitions. In the net of a tree the ways to several places of one transition use different
    /// tokens, so that tokens need not be counted.
    fn enabled_labels(&self, marking: &Marking, visible_from: &[Vec<u32>]) -> Vec<u32> {
        let mut done: FxHashSet<u32> = marking.iter().map(|&(p, _)| p).collect();
        let mut todo: Vec<u32> = done.iter().copied().collect();
        let mut needs: FxHashMap<u32, usize> = FxHashMap::default();
        let mut labels = Vec::new();
        while let Some(place) = todo.pop() {
            for &t in self.silent_from[place as usize].iter().chain(&visible_from[place as usize]) {
                let left = needs.entry(t).or_insert(self.inputs(t).len());
                *left -= 1;
                if *left == 0 {
                    match self.net.transitions()[t as usize].activity {
                        Some(a) => labels.push(a),
                        None => todo.extend(self.outputs(t).iter().copied().filter(|&p| done.insert(p))),
                    }
                }
            }
        }
        labels.sort_unstable();
        labels.dedup();
        labels
    }
}

fn holds(marking: &Marking, place: u32) -> u32 {
    marking.binary_search_by_key(&place, |&(p, _)| p).map_or(0, |at| marking[at].1)
}

fn change(marking: &mut Marking, place: u32, by: i32) {
    match marking.binary_search_by_key(&place, |&(p, _)| p) {
        Ok(at) => {
            marking[at].1 = marking[at].1.saturating_add_signed(by);
            if marking[at].1 == 0 {
                marking.remove(at);
            }
        }
        Err(at) if by > 0 => marking.insert(at, (place, by.unsigned_abs())),
        Err(_) => {}
    }
}

/// Replays a log on a net.
pub fn replay(net: &PetriNet, variants: &Variants, options: Options) -> Replay {
    let mut player = Player::new(net, variants, &options);
    let mut out = Replay {
        variants: Vec::with_capacity(variants.variants().len()),
        runs: Vec::with_capacity(variants.variants().len()),
        total: Tokens::default(),
        fitting: 0.0,
        mean_fitness: 0.0,
        fired: vec![0; net.transitions().len()],
        cut_short: 0,
    };
    let (mut fitting, mut sum) = (0u64, 0.0);
    for variant in variants.variants() {
        let mut case = player.begin();
        for &activity in &variant.trace {
            player.event(&mut case, activity);
        }
        player.end(&mut case);
        if !case.tokens.fits() {
            match player.exact(&variant.trace, true) {
                Ok(Some(mut exact)) => {
                    player.end(&mut exact);
                    case = exact;
                }
                Ok(None) => {}
                Err(()) => out.cut_short += 1,
            }
        }
        for &t in &case.fired {
            out.fired[t as usize] = out.fired[t as usize].saturating_add(variant.count);
        }
        out.total.add(case.tokens, variant.count);
        fitting += if case.tokens.fits() { variant.count } else { 0 };
        sum += case.tokens.fitness() * variant.count as f64;
        out.variants.push(case.tokens);
        out.runs.push(case.tokens.fits().then_some(case.fired));
    }
    let cases = variants.cases();
    if cases > 0 {
        out.fitting = fitting as f64 / cases as f64;
        out.mean_fitness = sum / cases as f64;
    }
    out
}

/// How precise a net is, and how that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// From 0 to 1: one minus the share of steps that the net allows after a prefix of the log and
    /// that never occur in the log.
    pub precision: f64,
    /// How many cases' steps the net could follow so far.
    pub followed: u64,
    /// How many it could not; they do not count.
    pub not_followed: u64,
}

/// ETConformance (Muñoz-Gama, Carmona: A fresh look at precision in process conformance, 2010) as
/// PM4Py's `precision_token_based_replay` counts it: for each proper prefix of a case that the net
/// can follow, the activities that the net allows next, and those of them that no case with this
/// prefix goes on with. The empty prefix counts for every case, and what cases begin with there is
/// what no empty case does. 1 where the net allows nothing.
pub fn precision(net: &PetriNet, variants: &Variants, options: Options) -> Precision {
    let mut player = Player::new(net, variants, &options);
    let mut visible_from = vec![Vec::new(); net.places() as usize];
    for (t, transition) in (0u32..).zip(net.transitions()).filter(|(_, t)| t.activity.is_some()) {
        transition.inputs.iter().for_each(|&p| visible_from[p as usize].push(t));
    }
    // Activities of the log by the net's number for them.
    let numbers: FxHashMap<&str, u32> = net.labels().iter().map(String::as_str).zip(0u32..).collect();
    let number: Vec<u32> = variants.activities().iter().map(|a| numbers.get(a.as_str()).copied().unwrap_or(u32::MAX)).collect();
    let list = variants.variants();
    let mut known: FxHashMap<Marking, Vec<u32>> = FxHashMap::default();
    let (mut allowed_sum, mut escaping_sum) = (0f64, 0f64);
    let mut out = Precision { precision: 1.0, followed: 0, not_followed: 0 };
    // Variants from..to share their first `depth` events, after which the case stands so.
    let mut todo: Vec<(usize, usize, usize, Case)> = vec![(0, list.len(), 0, player.begin())];
    while let Some((mut from, to, depth, case)) = todo.pop() {
        let all: u64 = list[from..to].iter().map(|v| v.count).sum();
        while from < to && list[from].trace.len() == depth {
            from += 1;
        }
        if from == to && depth > 0 {
            continue;
        }
        let count: u64 = if depth == 0 { all } else { list[from..to].iter().map(|v| v.count).sum() };
        let labels = match known.get(&case.marking) {
            Some(labels) => labels,
            None => {
                // Markings of a big net may be many: forget rather than fill the memory.
                if known.len() >= 1 << 16 {
                    known.clear();
                }
                let labels = player.enabled_labels(&case.marking, &visible_from);
                known.entry(case.marking.clone()).or_insert(labels)
            }
        };
        let (allowed, mut escaping) = (labels.len(), labels.len());
        out.followed += count;
        for group in list[from..to].chunk_by(|a, b| a.trace[depth] == b.trace[depth]) {
            let activity = group[0].trace[depth];
            escaping -= usize::from(labels.binary_search(&number[activity as usize]).is_ok());
            let until = from + group.len();
            let mut next = Case { fired: Vec::new(), ..case.clone() };
            if player.event(&mut next, activity) {
                todo.push((from, until, depth + 1, next));
            } else if let Ok(Some(exact)) = player.exact(&group[0].trace[..=depth], false) {
                todo.push((from, until, depth + 1, exact));
            } else {
                out.not_followed += group.iter().map(|v| v.count * (v.trace.len() - 1 - depth) as u64).sum::<u64>();
            }
            from = until;
        }
        allowed_sum += allowed as f64 * count as f64;
        escaping_sum += escaping as f64 * count as f64;
    }
    if allowed_sum > 0.0 {
        out.precision = 1.0 - escaping_sum / allowed_sum;
    }
    out
}
