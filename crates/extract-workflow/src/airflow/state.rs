//! Airflow's states of a task instance, as the column `status` has them.

/// What a state says of an attempt; `None` when there was no attempt. `began` is whether a process
/// was started for it.
pub fn status(state: Option<&str>, began: bool) -> Option<&'static str> {
    match state {
        Some("success") => Some("completed"),
        Some("failed" | "up_for_retry") => Some("failed"),
        // The task's own program said so, at its end; one that the scheduler skips never begins.
        Some("skipped") if began => Some("completed"),
        Some("running" | "deferred" | "up_for_reschedule" | "awaiting_input") if began => Some("running"),
        Some("running") => Some("running"),
        Some("queued") => Some("submitted"),
        // Cleared while it ran, or ended from outside.
        Some("restarting" | "shutdown") => Some("aborted"),
        // Waits for its turn, perhaps once more: what the row still says is of an attempt that has a row of its own.
        None | Some("" | "None" | "none" | "scheduled") => None,
        Some(_) => began.then_some("unknown"),
    }
}

#[cfg(test)]
mod tests {
    use super::status;

    #[test]
    fn states() {
        for (state, began, expected) in [
            (Some("success"), true, Some("completed")),
            // Tasks without work are done by the scheduler.
            (Some("success"), false, Some("completed")),
            (Some("up_for_retry"), true, Some("failed")),
            (Some("failed"), false, Some("failed")),
            (Some("skipped"), false, None),
            (Some("skipped"), true, Some("completed")),
            (Some("upstream_failed"), false, None),
            (Some("removed"), true, Some("unknown")),
            (Some("deferred"), true, Some("running")),
            (Some("queued"), false, Some("submitted")),
            (Some("restarting"), true, Some("aborted")),
            (Some("scheduled"), false, None),
            (None, true, None),
            (Some("of the future"), true, Some("unknown")),
        ] {
            assert_eq!(status(state, began), expected, "{state:?} {began}");
        }
    }
}
