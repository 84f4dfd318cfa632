//! Columns that are left out: `--drop COLUMN`.
//!
//! The input is names of columns of `job_states`, or of attributes of tasks, processes and files in
//! logs. The output sets the columns to null, row by row, and lists the attributes that are left
//! out. Which columns these are is declared where the columns are (`droppable` in
//! `crates/schema/src/tables/`). Refused are columns that rows cannot do without: those that are
//! never null, and those that say which attempt a row is of and what happened to it when.

use flowmine_schema::tables::{JobState, Process, TaskIo, TaskRun};
use flowmine_schema::{ColumnDef, Record, Row, View};

/// Why a column cannot be dropped.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DropError {
    /// There is no such column.
    #[error("there is no column {name:?} that can be dropped: did you mean {nearest}?")]
    Unknown {
        /// The name that was asked for, of which there is no column.
        name: String,
        /// The column with the most similar name.
        nearest: &'static str,
    },
    /// The log is made of it.
    #[error("{name} cannot be dropped, because events and cases are made of it; these can: {}", droppable().collect::<Vec<_>>().join(", "))]
    Required {
        /// Name of the column.
        name: &'static str,
    },
}

/// Names of attributes of tasks, processes and files that can be left out, in addition to those
/// with the name of a column of `job_states`.
fn of_tasks() -> Vec<&'static str> {
    let tables = [<TaskRun<'static> as View>::COLUMNS, <Process<'static> as View>::COLUMNS, <TaskIo<'static> as View>::COLUMNS];
    let mut names: Vec<&'static str> = tables.into_iter().flat_map(names_of).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn names_of(columns: &'static [ColumnDef]) -> impl Iterator<Item = &'static str> {
    columns.iter().filter(|column| column.droppable).map(|column| column.name)
}

/// What reveals the same as a column under another name: a program's command line holds its command
/// and its arguments.
const ALSO: &[(&str, &[&str])] = &[
    ("command", &["command_line", "executable"]),
    ("arguments", &["command", "command_line"]),
    ("activity", &["logical_task"]),
    ("tag", &["name"]),
    ("partition", &["queue"]),
];

/// The names of the columns that can be dropped, in the order of the table.
pub fn droppable() -> impl Iterator<Item = &'static str> {
    names_of(<JobState<'static> as View>::COLUMNS)
}

/// Columns to drop. The default drops none.
#[derive(Debug, Clone, Default)]
pub struct DropColumns {
    columns: Vec<&'static str>,
    /// Attributes of tasks, processes and files that are left out.
    attributes: Vec<&'static str>,
}

impl DropColumns {
    /// The columns of these names; a name may come twice.
    ///
    /// # Errors
    /// For the first name that is no column, or one that cannot be dropped.
    pub fn parse<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self, DropError> {
        let of_tasks = of_tasks();
        let mut columns: Vec<&'static str> = Vec::new();
        let mut attributes: Vec<&'static str> = Vec::new();
        for name in names {
            let name = name.as_ref();
            attributes.extend(ALSO.iter().filter(|(column, _)| *column == name).flat_map(|(_, also)| *also));
            attributes.extend(droppable().chain(of_tasks.iter().copied()).filter(|known| *known == name));
            if of_tasks.contains(&name) {
                continue;
            }
            let known = JobState::COLUMNS.iter().map(|column| column.name).chain(of_tasks.iter().copied());
            let Some(column) = known.clone().find(|column| *column == name) else {
                let nearest = known.min_by_key(|column| distance(name, column)).unwrap_or_default();
                return Err(DropError::Unknown { name: name.to_owned(), nearest });
            };
            if !droppable().any(|droppable| droppable == column) {
                return Err(DropError::Required { name: column });
            }
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        Ok(Self { columns, attributes })
    }

    /// Whether no column and no attribute is dropped.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty() && self.attributes.is_empty()
    }

    /// Whether an attribute of tasks, processes and files is left out.
    pub fn leaves_out(&self, attribute: &str) -> bool {
        self.attributes.contains(&attribute)
    }

    /// The names of the dropped columns, in the order in which they were asked for.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().copied()
    }

    /// Sets the columns of a row of `job_states` to null; other rows stay as they are.
    pub fn apply<'r, R: Record<'r>>(&self, row: &mut R) {
        if !self.columns.is_empty() && R::TABLE == <JobState<'static> as Row>::TABLE {
            row.each_cell(|column, cell| {
                if self.columns.contains(&column.name) {
                    cell.clear();
                }
            });
        }
    }
}

/// How many letters to insert, delete or change between two words (Levenshtein), of the first 64
/// letters each.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(64).enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (to, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(from != *to)).min(*cell + 1).min(left + 1);
            diagonal = std::mem::replace(cell, best);
            left = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns that can be null and yet cannot be dropped: without a submit time attempts run
    /// together, and events are what `state`, `start_ns` and `end_ns` say.
    const KEPT: &[&str] = &["submit_ns", "state", "start_ns", "end_ns"];

    #[test]
    fn every_column_that_can_be_null_is_droppable_or_kept_for_a_reason() {
        let nullable = JobState::COLUMNS.iter().filter(|column| column.nullable).map(|column| column.name);
        let expected: Vec<&str> = nullable.filter(|name| !KEPT.contains(name)).collect();
        assert_eq!(droppable().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn dropping() {
        let drop = DropColumns::parse(["comment", "user", "comment"]).unwrap();
        assert_eq!(drop.names().collect::<Vec<_>>(), ["comment", "user"]);
        let mut row = JobState { user: Some("ann".into()), comment: Some("x".into()), name: Some("n".into()), ..JobState::default() };
        drop.apply(&mut row);
        assert_eq!(row, JobState { name: Some("n".into()), ..JobState::default() });
        assert!(DropColumns::parse::<&str>([]).unwrap().is_empty());
    }

    #[test]
    fn attributes_of_tasks() {
        let drop = DropColumns::parse(["arguments", "path"]).unwrap();
        for (attribute, out) in [("command", true), ("command_line", true), ("path", true), ("executable", false), ("name", false)] {
            assert_eq!(drop.leaves_out(attribute), out, "{attribute}");
        }
        let mut row = JobState { command: Some("c".into()), arguments: Some("a".into()), ..JobState::default() };
        drop.apply(&mut row);
        assert_eq!(row, JobState { command: Some("c".into()), ..JobState::default() });
        assert!(!DropColumns::parse(["tag"]).unwrap().is_empty());
    }

    #[test]
    fn what_of_tasks_can_be_left_out() {
        let expected = "cache_key cgroup_path command_line container_id container_image earlier_paths error executable executor file_system native_id path queue tag";
        assert_eq!(of_tasks().join(" "), expected);
        // What cannot be null would not become unknown, but empty.
        for columns in [TaskRun::COLUMNS, Process::COLUMNS, TaskIo::COLUMNS, JobState::COLUMNS] {
            assert!(columns.iter().all(|column| !column.droppable || column.nullable));
        }
    }

    #[test]
    fn refusals_help() {
        let unknown = |name: &str| DropColumns::parse([name]).unwrap_err().to_string();
        assert!(unknown("users").ends_with("did you mean user?"), "{}", unknown("users"));
        assert!(unknown("workdir").ends_with("did you mean work_dir?"));
        assert!(unknown("Comment").ends_with("did you mean comment?"));
        assert!(unknown(&"x".repeat(100_000)).contains("did you mean"));
        for required in ["cluster", "job", "observed_at_ns", "submit_ns", "state", "start_ns"] {
            let message = DropColumns::parse([required]).unwrap_err().to_string();
            assert!(message.starts_with(required) && message.contains("work_dir") && !message.contains(" job_id,"), "{message}");
        }
    }

    #[test]
    fn distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!((distance("", "abc"), distance("abc", ""), distance("abc", "abc")), (3, 3, 0));
    }
}
