//! Parents of the tasks in an instance. The input is the tasks with their references to each other;
//! the output is ids, or nothing where an instance does not determine them.
//!
//! Since 1.5 tasks refer to each other by id. Up to 1.4 they refer by name, which several can
//! share, and some makers write ids there too. A reference that fits several tasks is resolved by
//! files (a file that the child reads and exactly one task writes) or, without such files, by the
//! candidates' own lists of children. If neither resolves it, all parents of that task are null,
//! since the others alone would be a wrong list.
//!
//! A dependency that only one end declares counts, as in WfCommons' own migration
//! (`wfcommons-migrate-instance.py`).

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};

/// A task of an instance, with its references to its neighbours.
#[derive(Debug, Default)]
pub struct Described<'t> {
    /// The task's id, as in the column `task_id` of `task_runs`.
    pub id: String,
    /// The task's name, which other tasks can share.
    pub name: &'t str,
    /// References to the tasks before it; `None` where it has no list.
    pub parents: Option<Vec<&'t str>>,
    /// References to the tasks after it; `None` where it has no list.
    pub children: Option<Vec<&'t str>>,
    /// Files that the task reads, as the instance names them.
    pub reads: Vec<String>,
    /// Files that the task writes, as the instance names them.
    pub writes: Vec<String>,
}

/// The kind of references between tasks of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// By id, in WfFormat since 1.5.
    Id,
    /// By name, up to 1.4; ids are accepted as well.
    Name,
}

/// Returns the parents of each task, as ids.
pub fn of(tasks: &[Described<'_>], by: By, diagnostics: &mut Diagnostics) -> Vec<Option<Vec<String>>> {
    let graph = Graph::new(tasks, by);
    let claimed = graph.claimed(diagnostics);
    let parents = (0..tasks.len()).map(|child| graph.parents(child, &claimed[child], diagnostics));
    let parents: Vec<Option<Vec<usize>>> = parents.collect();
    graph.compare(&parents, diagnostics);
    let unknown: Vec<Vec<&str>> = (0..tasks.len()).map(|child| graph.unknown(child)).collect();
    parents
        .into_iter()
        .zip(unknown)
        .map(|(parents, unknown)| {
            let known = parents?.into_iter().map(|at| tasks[at].id.clone());
            // References to missing tasks are kept as they are.
            Some(known.chain(unknown.into_iter().map(str::to_owned)).collect())
        })
        .collect()
}

/// Tasks and their files; tasks are identified by their index in the list.
struct Graph<'t> {
    tasks: &'t [Described<'t>],
    /// The tasks to which a reference can lead, by its text.
    named: HashMap<&'t str, Vec<usize>>,
    /// For each task the tasks that are the only writers of a file that it reads.
    from: Vec<Vec<usize>>,
    /// For each task the readers of a file of which it is the only writer.
    to: Vec<Vec<usize>>,
    by: By,
}

impl<'t> Graph<'t> {
    fn new(tasks: &'t [Described<'t>], by: By) -> Self {
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut ids = HashSet::new();
        // Tasks with the same id are interchangeable here.
        for (at, task) in tasks.iter().enumerate().filter(|(_, task)| ids.insert(task.id.as_str())) {
            named.entry(&task.id).or_default().push(at);
            if by == By::Name && task.name != task.id {
                named.entry(task.name).or_default().push(at);
            }
        }
        // `None` when several tasks write the file.
        let mut writers: HashMap<&str, Option<usize>> = HashMap::new();
        for (at, task) in tasks.iter().enumerate() {
            for file in &task.writes {
                writers.entry(file).and_modify(|writer| *writer = writer.filter(|known| *known == at)).or_insert(Some(at));
            }
        }
        let mut to = vec![Vec::new(); tasks.len()];
        let mut from = vec![Vec::new(); tasks.len()];
        for (at, task) in tasks.iter().enumerate() {
            let sole = task.reads.iter().filter_map(|file| *writers.get(file.as_str())?);
            let sole: HashSet<usize> = sole.filter(|writer| *writer != at).collect();
            from[at].extend(sole);
            from[at].sort_unstable();
            from[at].iter().for_each(|writer| to[*writer].push(at));
        }
        Self { tasks, named, from, to, by }
    }

    fn candidates(&self, reference: &str) -> &[usize] {
        self.named.get(reference).map(Vec::as_slice).unwrap_or_default()
    }

    /// Indexes these tasks by the names that can refer to them.
    fn index(&self, tasks: &[usize]) -> HashMap<&'t str, Vec<usize>> {
        let mut index: HashMap<&str, Vec<usize>> = HashMap::new();
        for at in tasks {
            self.names(*at).for_each(|name| index.entry(name).or_default().push(*at));
        }
        index.values_mut().for_each(Vec::dedup);
        index
    }

    /// Returns the tasks to which a reference of `at` leads: the only one that fits, else those of
    /// `near` that fit. The result is empty if none can be determined, and contains `at` itself
    /// only if no other task fits.
    fn meant<'n>(&self, at: usize, reference: &str, near: impl FnOnce() -> &'n HashMap<&'t str, Vec<usize>>) -> Vec<usize>
    where
        't: 'n,
    {
        match self.candidates(reference) {
            [one] => vec![*one],
            [a, b] if *a == at => vec![*b],
            [a, b] if *b == at => vec![*a],
            [] => Vec::new(),
            _ => near().get(reference).into_iter().flatten().copied().filter(|other| *other != at).collect(),
        }
    }

    /// Returns for each task the tasks that list it as a child.
    fn claimed(&self, diagnostics: &mut Diagnostics) -> Vec<Vec<usize>> {
        let mut claimed = vec![Vec::new(); self.tasks.len()];
        for (at, task) in self.tasks.iter().enumerate() {
            let mut seen = HashSet::new();
            let readers = LazyCell::new(|| self.index(&self.to[at]));
            for reference in task.children.iter().flatten().filter(|reference| seen.insert(**reference)) {
                if self.candidates(reference).is_empty() {
                    let message = format!("{} has a child that is not in the instance: {reference:?}", self.shown(at));
                    diagnostics.push(Diagnostic::warning("child_unknown", message));
                }
                match &self.meant(at, reference, || &*readers)[..] {
                    [child] if *child == at => diagnostics.push(self.itself(at, "child")),
                    children => children.iter().for_each(|child| claimed[*child].push(at)),
                }
            }
        }
        for parents in &mut claimed {
            parents.sort_unstable();
            parents.dedup();
        }
        claimed
    }

    /// Returns the parents of a task, and reports problems of its references.
    fn parents(&self, child: usize, claimed: &[usize], diagnostics: &mut Diagnostics) -> Option<Vec<usize>> {
        let Some(references) = &self.tasks[child].parents else {
            return (!claimed.is_empty()).then(|| claimed.to_vec());
        };
        let (writers, claimers) = (LazyCell::new(|| self.index(&self.from[child])), LazyCell::new(|| self.index(claimed)));
        let mut parents = Vec::new();
        let mut seen = HashSet::new();
        for reference in references.iter().filter(|reference| seen.insert(**reference)) {
            let candidates = self.candidates(reference);
            if candidates.is_empty() {
                let message = format!("{} has a parent that is not in the instance: {reference:?}", self.shown(child));
                diagnostics.push(Diagnostic::warning("parent_unknown", message));
                continue;
            }
            let mut meant = self.meant(child, reference, || &*writers);
            if meant.is_empty() {
                meant = self.meant(child, reference, || &*claimers);
            }
            if meant.is_empty() {
                diagnostics.push(self.ambiguous(child, reference, candidates.len()));
                return None;
            }
            if meant == [child] {
                diagnostics.push(self.itself(child, "parent"));
                continue;
            }
            parents.extend(meant);
        }
        parents.extend(claimed);
        let mut seen = HashSet::new();
        parents.retain(|parent| seen.insert(*parent));
        Some(parents)
    }

    fn ambiguous(&self, child: usize, reference: &str, candidates: usize) -> Diagnostic {
        let message = format!(
            "the parents of {} are not known: {reference:?} can be any of {candidates} tasks, and neither files nor lists of children decide",
            self.shown(child)
        );
        Diagnostic::warning("parent_ambiguous", message)
    }

    fn itself(&self, at: usize, what: &str) -> Diagnostic {
        Diagnostic::warning("parent_is_itself", format!("{} names itself as its {what}, which is left out", self.shown(at)))
    }

    fn unknown(&self, child: usize) -> Vec<&'t str> {
        let mut seen = HashSet::new();
        let references = self.tasks[child].parents.iter().flatten().copied();
        references.filter(|reference| self.candidates(reference).is_empty() && seen.insert(*reference)).collect()
    }

    /// Reports where lists of parents and of children differ; a task without a list contradicts no
    /// other.
    fn compare(&self, parents: &[Option<Vec<usize>>], diagnostics: &mut Diagnostics) {
        let set = |list: &Option<Vec<&'t str>>| list.as_ref().map(|list| list.iter().copied().collect::<HashSet<&str>>());
        let told: Vec<_> = self.tasks.iter().map(|task| set(&task.children)).collect();
        let mut found: Vec<HashSet<&str>> = vec![HashSet::new(); self.tasks.len()];
        for (child, parents) in parents.iter().enumerate() {
            let task = &self.tasks[child];
            let of_child = set(&task.parents);
            for parent in parents.iter().flatten() {
                found[*parent].extend(self.names(child));
                let by_child = of_child.as_ref().is_none_or(|list| self.names(*parent).any(|name| list.contains(name)));
                let by_parent = told[*parent].as_ref().is_none_or(|list| self.names(child).any(|name| list.contains(name)));
                if by_child != by_parent {
                    let whose = if by_child { "only the child" } else { "only the parent" };
                    let message = format!("that {} waits for {} is told by {whose}", self.shown(child), self.shown(*parent));
                    diagnostics.push(Diagnostic::warning("parents_and_children_differ", message));
                }
            }
        }
        // For a child with unknown parents this has been reported.
        let unknown: HashSet<&str> = (0..parents.len()).filter(|at| parents[*at].is_none()).flat_map(|at| self.names(at)).collect();
        for (at, task) in self.tasks.iter().enumerate() {
            let mut seen = HashSet::new();
            for reference in task.children.iter().flatten().filter(|reference| seen.insert(**reference)) {
                let is_lost = self.candidates(reference).len() > 1 && !found[at].contains(reference) && !unknown.contains(reference);
                if is_lost {
                    let message = format!("{reference:?} is ambiguous as a child of {}: it is left out", self.shown(at));
                    diagnostics.push(Diagnostic::warning("child_ambiguous", message));
                }
            }
        }
    }

    fn names(&self, at: usize) -> impl Iterator<Item = &'t str> + use<'t> {
        let task = &self.tasks[at];
        [task.id.as_str()].into_iter().chain((self.by == By::Name).then_some(task.name))
    }

    /// Returns index and id of a task for messages.
    fn shown(&self, at: usize) -> String {
        format!("task {} ({:?})", at + 1, self.tasks[at].id)
    }
}
