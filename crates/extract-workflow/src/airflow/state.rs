//! Airflow's states of a task instance, mapped to the column `status`.

/// Returns the status of an attempt; `None` when there was no attempt. `began` is whether a process
/// was started for it.
pub fn status(state: Option<&str>, began: bool) -> Option<&'static str> {
    match state {
        Some("success") => Some("completed"),
        Some("failed" | "up_for_retry") => Some("failed"),
        // The task's own program reported this at its end; a task that the scheduler skips never
        // begins.
        Some("skipped") if began => Some("completed"),
        Some("running" | "deferred" | "up_for_reschedule" | "awaiting_input") if began => Some("running"),
        Some("running") => Some("running"),
        Some("queued") => Some("submitted"),
        // Cleared while it ran, or ended from outside.
        Some("restarting" | "shutdown") => Some("aborted"),
        // The instance waits, perhaps for a further attempt: the other columns still belong to an
        // attempt that has its own row.
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
            // The scheduler completes tasks without work.
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
