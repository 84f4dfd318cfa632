//! What a case of tasks is.
//!
//! | notion | a case | id |
//! |---|---|---|
//! | `task-run` | a run of a workflow engine | `task-run:<engine>:<name>:<id>`; tasks whose run is not known are one case for each engine, `task-run:<engine>:(unknown)` |
//! | `task-session` | a run with those that resume it: what Nextflow calls a session. Of other engines, which know no such thing, a run | `task-session:nextflow:<id>`; else as `task-run` |
//! | `task-tag` | the tasks of a session that have the same `tag`: in nf-core's pipelines those of a sample | `task-tag:<session>:<tag>` |
//!
//! A task without a tag is in no case of `task-tag`, which is counted.

use flowmine_schema::tables::TaskRun;
use flowmine_schema::text::ids::escape;

/// A notion of cases of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskNotion {
    /// The tasks of one run of an engine.
    #[default]
    Run,
    /// A run with those that resume it.
    Session,
    /// What tells the instances of a logical task apart.
    Tag,
}

impl TaskNotion {
    /// All case notions of tasks, the usual one first.
    pub const ALL: [Self; 3] = [Self::Run, Self::Session, Self::Tag];

    /// Its name, as options have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "task-run",
            Self::Session => "task-session",
            Self::Tag => "task-tag",
        }
    }

    /// What a case is, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Run => "tasks of one run of a workflow engine",
            Self::Session => "tasks of a run and of those that resume it",
            Self::Tag => "tasks with one tag, in nf-core's pipelines of one sample",
        }
    }

    /// The notion of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notion| notion.name() == name)
    }

    /// What all tasks of a case have in common: names of columns of `task_runs`.
    pub(crate) fn of_case(self, row: &TaskRun<'_>) -> &'static [&'static str] {
        match self {
            Self::Run => &["engine", "run_id", "run_name"],
            Self::Session if is_resumed_by_id(row) => &["engine", "run_id"],
            Self::Session => &["engine", "run_id", "run_name"],
            Self::Tag if is_resumed_by_id(row) => &["engine", "run_id", "tag"],
            Self::Tag => &["engine", "run_id", "run_name", "tag"],
        }
    }

    /// The case of a task, if it is in one.
    pub(crate) fn case_of(self, row: &TaskRun<'_>) -> Option<String> {
        Some(match self {
            Self::Run => format!("{}:{}", self.name(), run_or_engine(row)),
            Self::Session => format!("{}:{}", self.name(), session_name(row)),
            Self::Tag => {
                let mut case = format!("{}:{}:", self.name(), session_name(row));
                escape(row.tag.as_deref().filter(|tag| !tag.is_empty())?, &mut case);
                case
            }
        })
    }
}

/// Whether a run that goes on where another ended has its id: Nextflow's session, of which each run
/// has a name of its own.
fn is_resumed_by_id(row: &TaskRun<'_>) -> bool {
    row.engine == "nextflow" && row.run_id.is_some()
}

/// A run's engine, name and id, as they stand in ids; `None` when its engine does not name its run.
pub(crate) fn run_name(row: &TaskRun<'_>) -> Option<String> {
    name_of_run(&row.engine, row.run_name.as_deref(), row.run_id.as_deref())
}

fn name_of_run(engine: &str, name: Option<&str>, id: Option<&str>) -> Option<String> {
    if name.is_none() && id.is_none() {
        return None;
    }
    Some(joined(engine, &[name, id]))
}

/// The engine and the session, or what stands for it.
pub(super) fn session_name(row: &TaskRun<'_>) -> String {
    if is_resumed_by_id(row) { joined(&row.engine, &[row.run_id.as_deref()]) } else { run_or_engine(row) }
}

/// The same, and of tasks whose run is not known their engine.
pub fn run_or_engine(row: &TaskRun<'_>) -> String {
    run_or_its_engine(&row.engine, row.run_name.as_deref(), row.run_id.as_deref())
}

/// As [`run_or_engine`], of an engine, a run's name and its id.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn case(notion: TaskNotion, engine: &'static str, run: [Option<&'static str>; 2], tag: Option<&'static str>) -> Option<String> {
        let [name, id] = run.map(|text| text.map(Into::into));
        notion.case_of(&TaskRun { engine: engine.into(), run_name: name, run_id: id, tag: tag.map(Into::into), ..TaskRun::default() })
    }

    #[test]
    fn cases_of_tasks() {
        use TaskNotion::{Run, Session, Tag};
        let (first, again) = ([Some("goofy"), Some("uu-1")], [Some("happy"), Some("uu-1")]);
        assert_eq!(case(Run, "nextflow", first, None).as_deref(), Some("task-run:nextflow:goofy:uu-1"));
        assert_eq!(case(Session, "nextflow", first, None), case(Session, "nextflow", again, Some("x")));
        assert_eq!(case(Session, "nextflow", first, None).as_deref(), Some("task-session:nextflow:uu-1"));
        // Airflow's runs of different DAGs have the same ids.
        assert_eq!(case(Session, "airflow", [Some("dag"), Some("daily")], None).as_deref(), Some("task-session:airflow:dag:daily"));
        assert_eq!(case(Tag, "nextflow", again, Some("a:b")).as_deref(), Some("task-tag:nextflow:uu-1:a%3Ab"));
        assert_eq!((case(Tag, "nextflow", first, None), case(Tag, "nextflow", first, Some(""))), (None, None));
        assert_eq!(case(Run, "makeflow", [None, None], None).as_deref(), Some("task-run:makeflow:(unknown)"));
        assert_eq!(case(Tag, "makeflow", [None, None], Some("t")).as_deref(), Some("task-tag:makeflow:(unknown):t"));
        assert!(TaskNotion::ALL.iter().all(|notion| TaskNotion::find(notion.name()) == Some(*notion)));
    }
}
