//! Who waits for whom. An edge of Argo (`children`) goes to what follows or to what is inside;
//! tasks that are joined by a path through nodes that are none wait for each other.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::names;
use super::node::Node;

/// Edges that are gone along for all tasks together: a step of thousands after a step of thousands
/// has millions.
const MOST_STEPS: usize = 5_000_000;

/// The nodes of a workflow, joined.
pub struct Graph<'n> {
    nodes: &'n BTreeMap<String, Node>,
    /// The nodes of which a node is a child.
    before: HashMap<&'n str, Vec<&'n str>>,
    /// The node under whose name an attempt is known.
    retried: HashMap<&'n str, &'n str>,
    /// The nodes of the containers of each container set, by the set's id.
    containers: HashMap<&'n str, Vec<&'n str>>,
    root: &'n str,
    /// The id of what runs at the exit.
    exit: String,
    steps_left: usize,
}

/// The nodes that had to end before a task could start.
pub enum Parents {
    /// The ids of its parents.
    Known(Vec<String>),
    /// It runs at the exit: all other tasks of the workflow end before it. Those of its own
    /// template come before it, too.
    AtExit(Vec<String>),
    /// Nothing leads to it from where the workflow begins: a hook.
    Unknown,
    /// There are more edges than are gone along.
    TooMany,
}

impl<'n> Graph<'n> {
    /// Joins nodes; `root` is where the workflow begins.
    pub fn new(nodes: &'n BTreeMap<String, Node>, root: &'n str) -> Self {
        let (mut before, mut retried, mut containers) = (HashMap::new(), HashMap::new(), HashMap::new());
        for node in nodes.values() {
            for child in &node.children {
                before.entry(child.as_str()).or_insert_with(Vec::new).push(node.id.as_str());
                // Hooks hang there too.
                if node.kind == "Retry" && nodes.get(child).is_some_and(|child| child.number.is_some()) {
                    retried.insert(child.as_str(), node.id.as_str());
                }
            }
            if let Some(set) = node.boundary.as_deref().filter(|_| node.kind == "Container") {
                containers.entry(set).or_insert_with(Vec::new).push(node.id.as_str());
            }
        }
        let exit = names::node_id(root, &format!("{root}.onExit"));
        Self { nodes, before, retried, containers, root, exit, steps_left: MOST_STEPS }
    }

    /// Whether a node is a task: it did something, and not only its containers.
    pub fn is_task(&self, id: &str) -> bool {
        self.nodes.get(id).is_some_and(|node| node.is_task) && !self.containers.contains_key(id)
    }

    /// The id of the task at which a node is an attempt.
    pub fn task<'i>(&self, id: &'i str) -> &'i str
    where
        'n: 'i,
    {
        self.retried.get(id).copied().unwrap_or(id)
    }

    /// The tasks that run at the exit.
    pub fn at_exit(&self) -> HashSet<String> {
        let mut seen = HashSet::from([self.exit.as_str()]);
        let mut open = vec![self.exit.as_str()];
        while let Some(id) = open.pop() {
            let children = self.nodes.get(id).map(|node| node.children.as_slice()).unwrap_or_default();
            open.extend(children.iter().map(String::as_str).filter(|child| seen.insert(child)));
        }
        seen.into_iter().map(|id| self.task(id).to_owned()).collect()
    }

    /// Who must end before a node.
    pub fn parents(&mut self, id: &str) -> Parents {
        let mut parents = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        let Some(first) = self.nodes.get_key_value(id).map(|(id, _)| id.as_str()) else { return Parents::Unknown };
        let mut open = vec![first];
        let mut at_exit = false;
        while let Some(at) = open.pop() {
            let before = self.before.get(at).map(Vec::as_slice).unwrap_or_default();
            if before.is_empty() && at != self.root {
                if at != self.exit {
                    return Parents::Unknown;
                }
                at_exit = true;
            }
            match self.steps_left.checked_sub(before.len() + 1) {
                Some(left) => self.steps_left = left,
                None => return Parents::TooMany,
            }
            // Until 2018 all groups of steps were children of what holds them; who ran before them says more.
            let node = self.nodes.get(at).filter(|node| node.kind == "StepGroup" && before.len() > 1);
            let holder = node.and_then(|node| node.boundary.as_deref());
            for other in before.iter().copied().filter(|other| Some(*other) != holder && seen.insert(other)) {
                if self.is_task(other) {
                    parents.push(self.task(other));
                    continue;
                }
                // A set of containers is over when all of them are.
                let is_inside = self.nodes.get(at).is_some_and(|node| node.boundary.as_deref() == Some(other));
                let containers = self.containers.get(other).filter(|_| !is_inside);
                parents.extend(containers.into_iter().flatten());
                open.push(other);
            }
        }
        let own = self.task(first);
        parents.retain(|parent| *parent != own);
        parents.sort_unstable();
        parents.dedup();
        let parents = parents.into_iter().map(str::to_owned).collect();
        if at_exit { Parents::AtExit(parents) } else { Parents::Known(parents) }
    }
}
