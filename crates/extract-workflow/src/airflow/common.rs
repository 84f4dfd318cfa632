//! What more than one source of Airflow has to say or to judge.

use flowmine_schema::diagnostic::Diagnostic;

use crate::Source;

/// Warns, where `so`, that times had no zone and are taken as UTC.
pub fn without_zone(so: bool, source: &mut Source) {
    if so {
        let message = "times do not tell their zone; they are taken as UTC and can be wrong by up to 14 hours, all by the same";
        source.diagnostics.push(Diagnostic::warning("no_zone", message).advise("say the zone with --zone, as in --zone=+01:00"));
    }
}

/// Whether the task's own process said when it ended. Of other ends Airflow writes when it noticed
/// them, up to seconds later: its supervisor reports a final failure only when the process is gone
/// and all that it opened towards it is closed.
pub fn ended_itself(state: Option<&str>) -> bool {
    matches!(state, Some("success" | "up_for_retry"))
}
