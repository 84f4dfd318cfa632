//! Advice on causes of waiting.

/// Returns the advice for the cause with this name, as a sentence. Tasks are those of an engine.
pub fn of(cause: &str, is_task: bool) -> &'static str {
    match cause {
        "unknown" if is_task => {
            "The reason is unknown, because the records of the engine lack its dependencies: add the engine's log or graph (Nextflow: -with-dag), or trace the run."
        }
        "predecessor" if is_task => {
            "The time is that of its predecessors: make those tasks shorter, or start tasks that do not need their results earlier."
        }
        "predecessor" => {
            "The time is that of its predecessors: make those jobs shorter, or start jobs that do not need their results earlier."
        }
        "never_satisfiable" => {
            "A job that it depends on failed: cancel it (scancel), repair that job, and submit both again; --kill-on-invalid-dep=yes cancels by itself."
        }
        "slots" => "The largest number of tasks ran at once: more slots of the executor (cores, queueSize, --jobs) let more run.",
        "submission" => "The engine submitted it late: let the engine poll more often, or check the load of the engine's host.",
        "retry" => "Attempts before the last one failed, and their time is lost: read their error output.",
        "waiting" => "The time of its submission is unknown: import the engine's own log, or the jobs of the queue.",
        "lag" => "It reads the output of a task that runs at the same time: it can start only after that task.",
        "begin_time" => "The user requested its begin time (--begin): the cluster cannot start it earlier.",
        "held" | "held_by_user" => "It was held: scontrol release lets it start.",
        "held_by_admin" => "An administrator or Slurm held it: ask support why; only they can release it.",
        "requeued" => "Slurm delays a job that it put back into the queue: find out why the attempt before ended.",
        "not_eligible" => {
            "A condition of its own kept it (hold, begin time, dependency, array limit, reservation): poll the queue to record which one."
        }
        "array_throttle" => "The array limits itself (--array=…%N): a larger N lets more tasks run at once.",
        "limit_of_qos" | "limit_of_user" | "limit_of_account" => {
            "A limit was reached: spread the work over time, use another QOS or account, or ask for a higher limit."
        }
        "limit_of_partition" => "The partition does not allow the request: request less, or use another partition.",
        "partition_down" => "The partition was down: use another one, or ask the administrators when it is up again.",
        "node_down" => "Nodes that it needs were down or drained: do not name nodes, or ask the administrators.",
        "reservation" => "Its reservation had not begun: submit for the time of the reservation, or leave it out.",
        "reservation_of_others" => "Nodes were reserved for others: a time limit that ends before their reservation lets it start.",
        "priority" => "Jobs of higher priority went first: a shorter time limit lets it start in gaps.",
        "licenses" => "All licences were in use: let fewer jobs use them at once, or ask for more licences.",
        "resources" => {
            "Ask for less (time, memory, CPUs) so that it fits into gaps, use another partition, or submit short tasks together as one job."
        }
        _ => "The reason is unknown: poll the queue (flowmine observe) to record the scheduler's reasons.",
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn what_the_cluster_did_not_decide_is_not_solved_by_asking_for_less() {
        for cause in
            ["held", "held_by_user", "held_by_admin", "partition_down", "never_satisfiable", "predecessor", "begin_time", "licenses"]
        {
            assert!(!of(cause, false).contains("for less"), "{cause}");
        }
        assert!(of("resources", false).contains("Ask for less"));
    }
}
