//! Dependencies between tasks. An edge of Argo (`children`) leads to a node that follows or to one
//! inside; tasks depend on each other when a path through nodes that are not tasks connects them.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::names;
use super::node::Node;

/// Maximum number of edges followed for all tasks together: two consecutive steps of thousands of
/// tasks have millions.
const MOST_STEPS: usize = 5_000_000;

/// The nodes of a workflow, connected.
pub struct Graph<'n> {
    nodes: &'n BTreeMap<String, Node>,
    /// The parents of each node.
    before: HashMap<&'n str, Vec<&'n str>>,
    /// The `Retry` node of each attempt; the attempt has its name.
    retried: HashMap<&'n str, &'n str>,
    /// The nodes of the containers of each container set, by the set's id.
    containers: HashMap<&'n str, Vec<&'n str>>,
    root: &'n str,
    /// The id of the exit handler.
    exit: String,
    steps_left: usize,
}

/// The tasks that must end before a task can start.
pub enum Parents {
    /// The ids of its parents.
    Known(Vec<String>),
    /// The task is part of the exit handler, before which all other tasks of the workflow end.
    /// These are its parents within its own template.
    AtExit(Vec<String>),
    /// No path leads to it from the root of the workflow: a hook.
    Unknown,
    /// There are more edges than are followed.
    TooMany,
}

impl<'n> Graph<'n> {
    /// Connects the nodes; `root` is the first node of the workflow.
    pub fn new(nodes: &'n BTreeMap<String, Node>, root: &'n str) -> Self {
        let (mut before, mut retried, mut containers) = (HashMap::new(), HashMap::new(), HashMap::new());
        for node in nodes.values() {
            for child in &node.children {
                before.entry(child.as_str()).or_insert_with(Vec::new).push(node.id.as_str());
                // Hooks are children of it, too.
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

    /// Whether a node is a task: it did something itself, not only through its containers.
    pub fn is_task(&self, id: &str) -> bool {
        self.nodes.get(id).is_some_and(|node| node.is_task) && !self.containers.contains_key(id)
    }

    /// Returns the id of the task of which a node is an attempt.
    pub fn task<'i>(&self, id: &'i str) -> &'i str
    where
        'n: 'i,
    {
        self.retried.get(id).copied().unwrap_or(id)
    }

    /// Returns the tasks of the exit handler.
    pub fn at_exit(&self) -> HashSet<String> {
        let mut seen = HashSet::from([self.exit.as_str()]);
        let mut open = vec![self.exit.as_str()];
        while let Some(id) = open.pop() {
            let children = self.nodes.get(id).map(|node| node.children.as_slice()).unwrap_or_default();
            open.extend(children.iter().map(String::as_str).filter(|child| seen.insert(child)));
        }
        seen.into_iter().map(|id| self.task(id).to_owned()).collect()
    }

    /// Returns the tasks that must end before a node.
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
            // Until 2018 all groups of steps were children of their `Steps` node; the preceding
            // group is more specific.
            let node = self.nodes.get(at).filter(|node| node.kind == "StepGroup" && before.len() > 1);
            let holder = node.and_then(|node| node.boundary.as_deref());
            for other in before.iter().copied().filter(|other| Some(*other) != holder && seen.insert(other)) {
                if self.is_task(other) {
                    parents.push(self.task(other));
                    continue;
                }
                // A container set ends with the last of its containers.
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
