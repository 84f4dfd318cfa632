//! Functions that several sources of Airflow share.

use flowmine_schema::diagnostic::Diagnostic;

use crate::Source;

/// Warns, if `so`, that times had no zone and are interpreted as UTC.
pub fn without_zone(so: bool, source: &mut Source) {
    if so {
        let message = "times have no zone; they are interpreted as UTC and can be wrong by up to 14 hours, all by the same amount";
        source.diagnostics.push(Diagnostic::warning("no_zone", message).advise("give the zone with --zone, as in --zone=+01:00"));
    }
}

/// Whether the task's own process reported its end. For other ends Airflow records when it noticed
/// them, up to seconds later: its supervisor reports a final failure only after the process has
/// exited and all its connections to the supervisor are closed.
pub fn ended_itself(state: Option<&str>) -> bool {
    matches!(state, Some("success" | "up_for_retry"))
}
