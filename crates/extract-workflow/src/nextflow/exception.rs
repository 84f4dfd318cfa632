//! Kinds of exceptions in Nextflow's log.

/// Names of Java's exceptions in an interrupted thread: they show that the run was ended, not that
/// a task failed.
const INTERRUPTIONS: [&str; 5] =
    ["InterruptedException", "ClosedByInterruptException", "InterruptedIOException", "FileLockInterruptionException", "AbortedException"];
/// Further exceptions while the run is being ended, because resources in use have been closed.
const AFTER_THE_END: [&str; 5] =
    ["CancellationException", "RejectedExecutionException", "ClosedChannelException", "ClosedFileSystemException", "AbortRunException"];

/// Whether an exception means that its thread was interrupted. `class` is its Java name; `message`
/// can be the name of another exception that caused it; `is_ending` is whether the run was being
/// ended.
pub fn is_interruption(class: &str, message: &str, is_ending: bool) -> bool {
    let simple = |name: &'_ str| name.rsplit(['.', '$']).next().unwrap_or(name).to_owned();
    let first_word = message.split([':', ' ', '\n']).next().unwrap_or_default();
    [simple(class), simple(first_word)].iter().any(|name| {
        let name = name.as_str();
        INTERRUPTIONS.contains(&name) || is_ending && AFTER_THE_END.contains(&name)
    })
}

#[cfg(test)]
mod tests {
    use super::is_interruption;

    #[test]
    fn kinds() {
        for (class, message, is_ending, expected) in [
            ("java.lang.InterruptedException", "java.lang.InterruptedException", false, true),
            ("java.nio.channels.ClosedByInterruptException", "", false, true),
            ("com.amazonaws.AbortedException", "Thread was interrupted", false, true),
            ("nextflow.exception.ProcessException", "java.lang.InterruptedException", false, true),
            ("java.util.concurrent.RejectedExecutionException", "Task x rejected", false, false),
            ("java.util.concurrent.RejectedExecutionException", "Task x rejected", true, true),
            ("nextflow.exception.ProcessFailedException", "Process `A` terminated with an error exit status (1)", true, false),
            ("java.net.SocketTimeoutException", "Read timed out", true, false),
            ("java.util.ConcurrentModificationException", "java.util.ConcurrentModificationException", true, false),
        ] {
            assert_eq!(is_interruption(class, message, is_ending), expected, "{class} {message}");
        }
    }
}
