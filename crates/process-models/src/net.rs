//! Workflow nets of process trees.
//!
//! In: a [`ProcessTree`]. Out: a [`PetriNet`] with one source and one sink place, arcs of weight
//! one, and the tree's language; it is sound and 1-safe, as the net of a tree is. Nothing is
//! refused.
//!
//! The translation is the usual one (van der Aalst, Buijs, van Dongen 2012; PM4Py's is alike): a
//! choice shares its places, a concurrency has a silent split and join, a loop leads back. Silent
//! transitions are then spared where a place makes them needless: a loop uses the neighbouring
//! places where nothing else would be affected, and a silent transition that is all that takes from
//! its one input place, or all that gives to its one output place, is joined with its neighbours.

use crate::tree::{Node, ProcessTree};

/// A transition of a net.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The activity, as an index into [`PetriNet::labels`]; `None` for a silent transition.
    pub activity: Option<u32>,
    /// The places from which firing takes one token each, ascending.
    pub inputs: Vec<u32>,
    /// The places to which firing gives one token each, ascending.
    pub outputs: Vec<u32>,
}

/// A workflow net. It begins with one token in place [`PetriNet::SOURCE`] and ends with one in
/// [`PetriNet::SINK`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PetriNet {
    labels: Vec<String>,
    places: u32,
    transitions: Vec<Transition>,
}

impl PetriNet {
    /// The place that holds the token at the beginning.
    pub const SOURCE: u32 = 0;
    /// The place that holds the token at the end.
    pub const SINK: u32 = 1;

    /// The net of a tree. The tree is brought into canonical form first.
    pub fn of_tree(tree: &ProcessTree) -> Self {
        let tree = tree.canonical();
        let mut maker = Maker { places: 2, transitions: Vec::new() };
        maker.add(&tree);
        let (places, transitions) = reduce(maker.places, maker.transitions);
        PetriNet { labels: tree.labels().to_vec(), places, transitions }
    }

    /// The names of the activities.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// How many places there are; they are numbered from 0.
    pub fn places(&self) -> u32 {
        self.places
    }

    /// The transitions, by their numbers from 0.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// How many transitions are silent.
    pub fn silent(&self) -> usize {
        self.transitions.iter().filter(|t| t.activity.is_none()).count()
    }

    /// The name of an activity.
    pub fn label(&self, activity: u32) -> &str {
        self.labels.get(activity as usize).map_or("", String::as_str)
    }
}

struct Maker {
    places: u32,
    transitions: Vec<Transition>,
}

/// A node to add between two places.
struct Job {
    node: usize,
    from: u32,
    to: u32,
    /// Nothing but this node takes from `from`: what it puts back there comes to nothing else.
    from_is_own: bool,
    /// Nothing but this node gives to `to`: what it takes there it has given itself.
    to_is_own: bool,
}

impl Maker {
    fn place(&mut self) -> u32 {
        self.places += 1;
        self.places - 1
    }

    fn transition(&mut self, activity: Option<u32>, inputs: Vec<u32>, outputs: Vec<u32>) {
        self.transitions.push(Transition { activity, inputs, outputs });
    }

    fn add(&mut self, tree: &ProcessTree) {
        let nodes = tree.nodes();
        // Whether a node would use the place before (after) it in both directions if it may.
        let (mut loops_first, mut loops_last) = (vec![false; nodes.len()], vec![false; nodes.len()]);
        for (at, node) in nodes.iter().enumerate() {
            match node {
                Node::Loop { .. } => (loops_first[at], loops_last[at]) = (true, true),
                Node::Sequence(c) => {
                    loops_first[at] = c.first().is_some_and(|&c| loops_first[c]);
                    loops_last[at] = c.last().is_some_and(|&c| loops_last[c]);
                }
                _ => {}
            }
        }
        let own = |node: usize, from: u32, to: u32| Job { node, from, to, from_is_own: false, to_is_own: false };
        // Nothing may lead to the source or away from the sink.
        let mut todo = vec![own(tree.root(), PetriNet::SOURCE, PetriNet::SINK)];
        while let Some(job) = todo.pop() {
            match &nodes[job.node] {
                Node::Activity(a) => self.transition(Some(*a), vec![job.from], vec![job.to]),
                Node::Tau => self.transition(None, vec![job.from], vec![job.to]),
                Node::Xor(children) => todo.extend(children.iter().rev().map(|&c| own(c, job.from, job.to))),
                Node::Sequence(children) => {
                    let (mut from, mut from_is_own) = (job.from, job.from_is_own);
                    let mut jobs = Vec::with_capacity(children.len());
                    for (i, &c) in children.iter().enumerate() {
                        match children.get(i + 1) {
                            Some(&next) => {
                                let to = self.place();
                                // Two loops must not share the place between them: the first has it.
                                jobs.push(Job { node: c, from, to, from_is_own, to_is_own: loops_last[c] || !loops_first[next] });
                                (from, from_is_own) = (to, !loops_last[c]);
                            }
                            None => jobs.push(Job { node: c, from, to: job.to, from_is_own, to_is_own: job.to_is_own }),
                        }
                    }
                    todo.extend(jobs.into_iter().rev());
                }
                Node::Parallel(children) => {
                    let (mut begins, mut ends) = (Vec::new(), Vec::new());
                    for &c in children.iter().rev() {
                        let (from, to) = (self.place(), self.place());
                        begins.push(from);
                        ends.push(to);
                        todo.push(Job { node: c, from, to, from_is_own: true, to_is_own: true });
                    }
                    self.transition(None, vec![job.from], begins);
                    self.transition(None, ends, vec![job.to]);
                }
                &Node::Loop { body, redo } if nodes[body] == Node::Tau => {
                    // Around one place.
                    let around = if job.from_is_own {
                        self.transition(None, vec![job.from], vec![job.to]);
                        job.from
                    } else if job.to_is_own {
                        self.transition(None, vec![job.from], vec![job.to]);
                        job.to
                    } else {
                        let around = self.place();
                        self.transition(None, vec![job.from], vec![around]);
                        self.transition(None, vec![around], vec![job.to]);
                        around
                    };
                    todo.push(own(redo, around, around));
                }
                &Node::Loop { body, redo } => {
                    let (mut from, mut to) = (job.from, job.to);
                    if !job.from_is_own {
                        from = self.place();
                        self.transition(None, vec![job.from], vec![from]);
                    }
                    if !job.to_is_own {
                        to = self.place();
                        self.transition(None, vec![to], vec![job.to]);
                    }
                    todo.push(own(redo, to, from));
                    todo.push(Job { node: body, from, to, from_is_own: true, to_is_own: true });
                }
            }
        }
    }
}

/// Joins silent transitions with their neighbours where that changes no language and adds no arcs.
fn reduce(places: u32, transitions: Vec<Transition>) -> (u32, Vec<Transition>) {
    let mut gives = vec![Vec::<u32>::new(); places as usize];
    let mut takes = vec![Vec::<u32>::new(); places as usize];
    for (t, transition) in (0u32..).zip(&transitions) {
        transition.inputs.iter().for_each(|&p| takes[p as usize].push(t));
        transition.outputs.iter().for_each(|&p| gives[p as usize].push(t));
    }
    let mut kept: Vec<Option<Transition>> = transitions.into_iter().map(Some).collect();
    let mut todo: Vec<u32> = (0..kept.len() as u32).rev().collect();
    while let Some(t) = todo.pop() {
        let Some(silent) = kept[t as usize].clone().filter(|s| s.activity.is_none()) else { continue };
        if silent.inputs.iter().any(|p| silent.outputs.contains(p)) {
            continue;
        }
        // All that takes from its one input: what gives there may give to the outputs at once.
        if let [p] = silent.inputs[..]
            && p != PetriNet::SOURCE
            && takes[p as usize].as_slice() == [t]
            && (silent.outputs.len() == 1 || gives[p as usize].len() == 1)
            && gives[p as usize].iter().all(|&g| outputs_of(&kept, g).is_some_and(|o| may_join(o, &silent.outputs)))
        {
            let givers = std::mem::take(&mut gives[p as usize]);
            for &q in &silent.outputs {
                gives[q as usize].retain(|&g| g != t);
                gives[q as usize].extend_from_slice(&givers);
            }
            for g in givers {
                if let Some(giver) = &mut kept[g as usize] {
                    giver.outputs.retain(|&o| o != p);
                    giver.outputs.extend_from_slice(&silent.outputs);
                }
                todo.push(g);
            }
            todo.extend(silent.outputs.iter().flat_map(|&q| takes[q as usize].iter().copied()).take(64));
            takes[p as usize].clear();
            kept[t as usize] = None;
            continue;
        }
        // All that gives to its one output: what takes there may take from the inputs at once.
        if let [q] = silent.outputs[..]
            && q != PetriNet::SINK
            && gives[q as usize].as_slice() == [t]
            && (silent.inputs.len() == 1 || takes[q as usize].len() == 1)
            && takes[q as usize].iter().all(|&g| inputs_of(&kept, g).is_some_and(|i| may_join(i, &silent.inputs)))
        {
            let takers = std::mem::take(&mut takes[q as usize]);
            for &p in &silent.inputs {
                takes[p as usize].retain(|&g| g != t);
                takes[p as usize].extend_from_slice(&takers);
            }
            for g in takers {
                if let Some(taker) = &mut kept[g as usize] {
                    taker.inputs.retain(|&i| i != q);
                    taker.inputs.extend_from_slice(&silent.inputs);
                }
                todo.push(g);
            }
            gives[q as usize].clear();
            kept[t as usize] = None;
        }
    }
    // Numbers without gaps, in the order in which the transitions name the places.
    let mut number = vec![u32::MAX; places as usize];
    (number[PetriNet::SOURCE as usize], number[PetriNet::SINK as usize]) = (PetriNet::SOURCE, PetriNet::SINK);
    let mut next = 2;
    let mut out: Vec<Transition> = kept.into_iter().flatten().collect();
    for transition in &mut out {
        for p in transition.inputs.iter_mut().chain(&mut transition.outputs) {
            if number[*p as usize] == u32::MAX {
                number[*p as usize] = next;
                next += 1;
            }
            *p = number[*p as usize];
        }
        transition.inputs.sort_unstable();
        transition.outputs.sort_unstable();
    }
    (next, out)
}

/// Whether a transition can have these places besides its own: none of them twice, and few enough
/// that joining is fast.
fn may_join(own: &[u32], more: &[u32]) -> bool {
    own.len() + more.len() <= 1_000 && more.iter().all(|p| !own.contains(p))
}

fn outputs_of(kept: &[Option<Transition>], t: u32) -> Option<&[u32]> {
    kept[t as usize].as_ref().map(|t| t.outputs.as_slice())
}

fn inputs_of(kept: &[Option<Transition>], t: u32) -> Option<&[u32]> {
    kept[t as usize].as_ref().map(|t| t.inputs.as_slice())
}
