//! Names of runs and sessions of workflow engines, as in ids of cases and objects.

use flowmine_schema::tables::TaskRun;
use flowmine_schema::text::ids::escape;

/// Whether a run that goes on where another ended has its id: Nextflow's session, of which each run
/// has a name of its own.
pub(super) fn is_resumed_by_id(row: &TaskRun<'_>) -> bool {
    row.engine == "nextflow" && row.run_id.is_some()
}

/// Returns a run's engine, name and id, as they appear in ids; `None` when its engine does not name
/// the run.
pub(crate) fn run_name(row: &TaskRun<'_>) -> Option<String> {
    name_of_run(&row.engine, row.run_name.as_deref(), row.run_id.as_deref())
}

fn name_of_run(engine: &str, name: Option<&str>, id: Option<&str>) -> Option<String> {
    if name.is_none() && id.is_none() {
        return None;
    }
    Some(joined(engine, &[name, id]))
}

/// Returns the engine and the session; where the engine has no sessions, the same as
/// [`run_or_engine`].
pub(super) fn session_name(row: &TaskRun<'_>) -> String {
    if is_resumed_by_id(row) { joined(&row.engine, &[row.run_id.as_deref()]) } else { run_or_engine(row) }
}

/// Returns a run's engine, name and id; for a task of an unknown run, its engine.
pub fn run_or_engine(row: &TaskRun<'_>) -> String {
    run_or_its_engine(&row.engine, row.run_name.as_deref(), row.run_id.as_deref())
}

/// Does the same as [`run_or_engine`] for an engine, and the name and id of a run.
pub(crate) fn run_or_its_engine(engine: &str, name: Option<&str>, id: Option<&str>) -> String {
    name_of_run(engine, name, id).unwrap_or_else(|| format!("{engine}:(unknown)"))
}

fn joined(engine: &str, parts: &[Option<&str>]) -> String {
    let mut name = String::new();
    escape(engine, &mut name);
    for part in parts {
        name.push(':');
        escape(part.unwrap_or_default(), &mut name);
    }
    name
}
