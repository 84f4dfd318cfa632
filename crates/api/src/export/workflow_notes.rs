//! Notes and warnings about a workflow that was made of a run: what the run had and the workflow
//! lacks.

use flowmine_discover::workflow::Workflow;

use crate::sink::Sink;

/// Reports them. Returns whether the workflow may lack what the run did.
pub fn report(made: &Workflow, sink: &dyn Sink) -> bool {
    if made.cached > 0 {
        let words = "tasks were not run because earlier results were taken; they are in the workflow";
        sink.warning(&format!("{} {words}", made.cached));
    }
    if made.retried > 0 {
        sink.warning(&format!("{} tasks were attempted more than once; the workflow attempts each once", made.retried));
    }
    if made.of_snakemake {
        sink.note(
            "Snakemake's log does not record shell.prefix(), conda environments, containers and directory(), nor what it removes as temp(): \
             the workflow has none of them",
        );
    }
    if made.of_makeflow {
        sink.note(
            "Makeflow's log does not record its options, such as --wrapper and --docker, nor which outputs are directories: the workflow \
             has none of the former, and Snakemake refuses the latter",
        );
    }
    if made.of_script {
        sink.note(
            "variables that the script set for its commands, its umask and its limits are not in the workflow: the trace does not record them",
        );
    }
    if made.in_order_of_trace > 0 {
        sink.note(&format!(
            "{} of {} commands are in the order of the trace, because what they looked at and which modes and times they changed is not \
             recorded",
            made.in_order_of_trace,
            made.tasks.len()
        ));
    }
    if made.at_once > 0 {
        sink.note(&format!(
            "{} of {} commands ran at the same time as others, and are not ordered among these",
            made.at_once,
            made.tasks.len()
        ));
    }
    for (task, doubt) in &made.doubts {
        sink.warning(&format!("the command of {task:?} may not be all of it: {doubt}"));
    }
    for doubt in &made.doubts_of_script {
        sink.warning(doubt);
    }
    if let Some(directory) = &made.directory {
        sink.note(&format!("the workflow is to be run in {directory:?}"));
        let bound = made.bound_to_directory();
        if let Some(first) = bound.first() {
            sink.warning(&format!(
                "the commands of {} tasks name paths in {directory:?}, such as {:?}: run elsewhere, they read and write there",
                bound.len(),
                first.name
            ));
        }
    }
    !(made.doubts.is_empty() && made.doubts_of_script.is_empty())
}
