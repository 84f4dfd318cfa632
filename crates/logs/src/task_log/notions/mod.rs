//! Case notions of tasks.
//!
//! A new notion is a file with an implementation of [`TaskNotion`] and a line in [`ALL`].
//!
//! A case id begins with the notion's name and a colon.

mod run;
mod session;
mod tag;

use std::fmt;

use flowmine_schema::tables::TaskRun;

pub use run::Run;
pub use session::Session;
pub use tag::Tag;

/// All case notions of tasks, the usual one first.
pub static ALL: &[&dyn TaskNotion] = &[&Run, &Session, &Tag];

/// A notion of cases of tasks.
pub trait TaskNotion: fmt::Debug + Sync {
    /// The name, as on the command line and at the start of case ids.
    fn name(&self) -> &'static str;

    /// What a case is, in one line.
    fn description(&self) -> &'static str;

    /// Whether `run` writes its logs without a request for them.
    fn is_standard(&self) -> bool {
        false
    }

    /// What all tasks of a case have in common: names of columns of `task_runs`.
    fn of_case(&self, row: &TaskRun<'_>) -> &'static [&'static str];

    /// The case of a task without the notion's name; `None` for a task that is in no case, which is
    /// counted.
    fn case_of(&self, row: &TaskRun<'_>) -> Option<String>;
}

/// Returns the first of [`ALL`], which counts where none is chosen.
pub fn usual() -> &'static dyn TaskNotion {
    ALL[0]
}

/// Returns the notion with this name.
pub fn find(name: &str) -> Option<&'static dyn TaskNotion> {
    ALL.iter().copied().find(|notion| notion.name() == name)
}

/// Returns the id of the case of a task, if the task is in one.
pub(crate) fn case_id(notion: &dyn TaskNotion, row: &TaskRun<'_>) -> Option<String> {
    Some(format!("{}:{}", notion.name(), notion.case_of(row)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn case(notion: &dyn TaskNotion, engine: &'static str, run: [Option<&'static str>; 2], tag: Option<&'static str>) -> Option<String> {
        let [name, id] = run.map(|text| text.map(Into::into));
        let row = TaskRun { engine: engine.into(), run_name: name, run_id: id, tag: tag.map(Into::into), ..TaskRun::default() };
        case_id(notion, &row)
    }

    #[test]
    fn cases_of_tasks() {
        let (first, again) = ([Some("goofy"), Some("uu-1")], [Some("happy"), Some("uu-1")]);
        assert_eq!(case(&Run, "nextflow", first, None).as_deref(), Some("task-run:nextflow:goofy:uu-1"));
        assert_eq!(case(&Session, "nextflow", first, None), case(&Session, "nextflow", again, Some("x")));
        assert_eq!(case(&Session, "nextflow", first, None).as_deref(), Some("task-session:nextflow:uu-1"));
        // Airflow's runs of different DAGs have the same ids.
        assert_eq!(case(&Session, "airflow", [Some("dag"), Some("daily")], None).as_deref(), Some("task-session:airflow:dag:daily"));
        assert_eq!(case(&Tag, "nextflow", again, Some("a:b")).as_deref(), Some("task-tag:nextflow:uu-1:a%3Ab"));
        assert_eq!((case(&Tag, "nextflow", first, None), case(&Tag, "nextflow", first, Some(""))), (None, None));
        assert_eq!(case(&Run, "makeflow", [None, None], None).as_deref(), Some("task-run:makeflow:(unknown)"));
        assert_eq!(case(&Tag, "makeflow", [None, None], Some("t")).as_deref(), Some("task-tag:makeflow:(unknown):t"));
    }

    #[test]
    fn names_find_their_notions_and_are_none_of_jobs() {
        let names: BTreeSet<_> = ALL.iter().map(|notion| notion.name()).collect();
        assert_eq!(names.len(), ALL.len());
        for notion in ALL {
            assert_eq!(find(notion.name()).map(|found| found.description()), Some(notion.description()));
            assert!(flowmine_correlate::cases::find(notion.name()).is_none(), "{}", notion.name());
        }
    }
}
