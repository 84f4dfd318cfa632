//! Inference on simulated runs, of which each dependency is known.
//!
//! An engine submits what is ready while a slot is free. Pipelines have samples with a chain of
//! tasks each, an index that all use, steps that gather all samples, and steps that pair tasks
//! without a common tag.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::{LogicalParent, RunGraph, RunTask};

use super::{CONFIDENCE_PERCENT, predecessors};
use crate::critical_path;

/// Random numbers (xorshift64*), the same for each seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }
}

const MS: i64 = 1_000_000;

/// What is known of a simulated run without its dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    Times,
    Tags,
    Graph,
}

struct Simulated {
    run: RunGraph,
    edges: BTreeSet<(u32, u32)>,
}

/// Plans a pipeline: the activity and tag of each task, and its predecessors.
fn plan(random: &mut Random) -> Vec<(String, String, Vec<u32>)> {
    let samples = random.between(1, 8) as u32;
    let steps = random.between(1, 4);
    let mut tasks: Vec<(String, String, Vec<u32>)> = Vec::new();
    let index = (random.below(2) == 0).then(|| {
        tasks.push(("INDEX".to_owned(), String::new(), Vec::new()));
        0
    });
    let mut last: Vec<u32> = Vec::new();
    for step in 0..steps {
        // A step that takes any one result of the step before: its tag is another, or none.
        let is_mixed = step > 0 && random.below(4) == 0;
        let shift = if is_mixed { random.below(u64::from(samples)) as usize } else { 0 };
        let mut now = Vec::new();
        for sample in 0..samples as usize {
            let mut above: Vec<u32> = last.get((sample + shift) % samples as usize).copied().into_iter().collect();
            above.extend(index.filter(|_| step == 1));
            let tag = if is_mixed { format!("{}", sample + 1) } else { format!("sample_{sample}") };
            now.push(tasks.len() as u32);
            tasks.push((format!("STEP_{step}"), tag, above));
        }
        last = now;
    }
    if random.below(2) == 0 {
        tasks.push(("REPORT".to_owned(), String::new(), last));
    }
    tasks
}

/// Runs a pipeline.
fn simulate(seed: u64, known: Known) -> Simulated {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let plan = plan(&mut random);
    let slots = if random.below(3) == 0 { 64 } else { random.between(1, 6) as usize };
    let longest = random.between(2_000, 300_000);
    let mut ends: Vec<Option<i64>> = vec![None; plan.len()];
    let mut tasks: Vec<RunTask> = vec![RunTask::default(); plan.len()];
    // Ends of the tasks that hold a slot.
    let mut held: Vec<i64> = Vec::new();
    let mut now = 0;
    while ends.iter().any(Option::is_none) {
        held.retain(|end| *end > now);
        let is_ready = |at: usize| ends[at].is_none() && plan[at].2.iter().all(|above| ends[*above as usize].is_some_and(|end| end <= now));
        let next = (0..plan.len()).find(|at| held.len() < slots && is_ready(*at));
        let Some(at) = next else {
            now = held.iter().copied().min().unwrap_or(now + 1);
            continue;
        };
        let submitted = now + random.between(5, 900);
        let started = submitted + random.between(1, 2_000);
        let end = started + random.between(500, longest);
        let (activity, tag, _) = &plan[at];
        tasks[at] = RunTask {
            name: format!("{activity} ({at})"),
            activity: activity.clone(),
            tag: (known != Known::Times && !tag.is_empty()).then(|| tag.clone()),
            attempts: 1,
            submitted_ns: Some(submitted * MS),
            started_ns: Some(started * MS),
            finished_ns: Some(end * MS),
            ..RunTask::default()
        };
        ends[at] = Some(end);
        held.push(end);
    }
    let edges: BTreeSet<(u32, u32)> = (0..).zip(&plan).flat_map(|(at, (.., above))| above.iter().map(move |from| (*from, at))).collect();
    if known == Known::Graph {
        put_graph(&mut tasks, &edges);
    }
    Simulated { run: RunGraph { noun: "task", tasks, ..RunGraph::default() }, edges }
}

/// Gives each task the graph of activities, as an engine draws it.
fn put_graph(tasks: &mut [RunTask], edges: &BTreeSet<(u32, u32)>) {
    let activity = |at: &u32| tasks[*at as usize].activity.clone();
    let mut above: BTreeMap<String, BTreeMap<String, BTreeSet<u32>>> = BTreeMap::new();
    for (from, to) in edges {
        above.entry(activity(to)).or_default().entry(activity(from)).or_default().insert(*to);
    }
    let mut of: BTreeMap<String, usize> = BTreeMap::new();
    for task in tasks.iter() {
        *of.entry(task.activity.clone()).or_default() += 1;
    }
    for task in tasks.iter_mut() {
        let parents = above.get(&task.activity).into_iter().flatten();
        let parent = |(activity, users): (&String, &BTreeSet<u32>)| LogicalParent {
            activity: activity.clone(),
            each: users.len() == of[&task.activity],
        };
        task.logical_parents = Some(parents.map(parent).collect());
    }
}

/// Hides the dependencies of many runs, and compares what is inferred with them.
#[test]
fn what_is_inferred_of_simulated_runs_is_right_as_often_as_stated() {
    for known in [Known::Times, Known::Tags, Known::Graph] {
        let (mut runs, mut right, mut inferred, mut all) = (0, 0, 0, 0);
        for seed in 1..=400 {
            let Simulated { run, edges } = simulate(seed, known);
            let found = predecessors(&run);
            runs += usize::from(!found.is_empty());
            inferred += found.len();
            right += found.iter().filter(|of| edges.contains(&(of.from, of.to))).count();
            all += edges.len();
            // Bounds that are stated without a confidence hold.
            let mut whole = run.clone();
            whole.declared = edges.iter().map(|&(from, to)| flowmine_activity_log::Declared { from, to, for_start: false }).collect();
            whole.tasks.iter_mut().for_each(|task| task.parents_known = true);
            let truth = critical_path::discover(&whole, &critical_path::Options::default()).span_ns;
            let hidden = critical_path::discover(&run, &critical_path::Options::default());
            let most = hidden.most_span_ns.unwrap_or(hidden.span_ns);
            assert!(hidden.span_ns <= truth && truth <= most, "{seed} {known:?}: {} {truth} {most}", hidden.span_ns);
        }
        let score = format!("{known:?}: {right} of {inferred} right, in {runs} runs, of {all} dependencies");
        assert!(runs >= 20 && right * 100 >= inferred * usize::from(CONFIDENCE_PERCENT), "{score}");
    }
}
