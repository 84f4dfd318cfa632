//! The tasks of all runs of a dataset, divided into a graph for each run.

use flowmine_activity_log::{Declared, FileFlow, Interner, NONE, Names, RunGraph};

/// The graph of each run, in the order of their names: tasks, dependencies and the flows between
/// tasks of the run.
pub(super) fn split(all: RunGraph, run_of: &[u32], names: &Names) -> Vec<RunGraph> {
    let mut runs: Vec<(RunGraph, Interner)> = names
        .iter()
        .map(|name| {
            let run = RunGraph { name: name.to_owned(), noun: all.noun, losses: all.losses.clone(), ..RunGraph::default() };
            (run, Interner::default())
        })
        .collect();
    let mut place = Vec::with_capacity(all.tasks.len());
    for (task, &run) in all.tasks.into_iter().zip(run_of) {
        let tasks = &mut runs[run as usize].0.tasks;
        place.push(tasks.len() as u32);
        tasks.push(task);
    }
    let run = |task: u32| run_of.get(task as usize).copied();
    for of in all.declared.into_iter().filter(|of| run(of.from) == run(of.to)) {
        if let Some(run) = run(of.to) {
            let declared = Declared { from: place[of.from as usize], to: place[of.to as usize], ..of };
            runs[run as usize].0.declared.push(declared);
        }
    }
    for flow in &all.flows {
        let (writer, reader) = (run(flow.writer), run(flow.reader));
        // To other runs it is a reader or a writer outside.
        let both = [writer, reader.filter(|run| Some(*run) != writer)];
        for run in both.into_iter().flatten() {
            let within = |task: u32, of: Option<u32>| if of == Some(run) { place[task as usize] } else { NONE };
            let (graph, files) = &mut runs[run as usize];
            let file = files.intern(all.files.get(flow.file));
            let read_outside = flow.read_outside || reader.is_some_and(|of| of != run);
            let (writer, reader) = (within(flow.writer, writer), within(flow.reader, reader));
            graph.flows.push(FileFlow { file, writer, reader, read_outside, ..*flow });
        }
    }
    let finish = |(mut run, files): (RunGraph, Interner)| {
        run.files = files.into_names();
        run
    };
    let mut runs: Vec<RunGraph> = runs.into_iter().map(finish).filter(|run| !run.tasks.is_empty()).collect();
    runs.sort_by(|a, b| a.name.cmp(&b.name));
    runs
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::RunTask;

    use super::*;

    #[test]
    fn each_run_has_its_tasks_dependencies_and_flows() {
        let task = |name: &str| RunTask { name: name.to_owned(), ..RunTask::default() };
        let mut names = Names::default();
        for name in ["two", "one"] {
            names.push(name);
        }
        let mut all = RunGraph { noun: "task", tasks: ["a", "b", "c", "d"].map(task).into(), ..RunGraph::default() };
        all.declared = [(0, 2), (1, 3)].map(|(from, to)| Declared { from, to, for_start: false }).into();
        all.files.push("/unused");
        all.files.push("/f");
        let flow = |writer, reader| FileFlow { file: 1, writer, reader, ..FileFlow::default() };
        // Within the first run, and from it to the second.
        all.flows = vec![flow(0, 2), flow(2, 3)];
        let runs = split(all, &[0, 1, 0, 1], &names);
        let shown: Vec<(&str, Vec<&str>)> =
            runs.iter().map(|run| (run.name.as_str(), run.tasks.iter().map(|task| task.name.as_str()).collect())).collect();
        assert_eq!(shown, [("one", vec!["b", "d"]), ("two", vec!["a", "c"])]);
        assert!(runs.iter().all(|run| run.declared == [Declared { from: 0, to: 1, for_start: false }]), "{runs:?}");
        let flows =
            |run: &RunGraph| -> Vec<(u32, u32, bool)> { run.flows.iter().map(|of| (of.writer, of.reader, of.read_outside)).collect() };
        assert_eq!(flows(&runs[0]), [(NONE, 1, false)]);
        assert_eq!(flows(&runs[1]), [(0, 1, false), (1, NONE, true)]);
        assert_eq!(runs[0].files.get(runs[0].flows[0].file), "/f");
    }
}
