//! Notions of tasks for jobs: a job is in the case of the task that it was.

use flowmine_correlate::cases::{self, Assignment, CaseNotion, Entities, Strength};
use flowmine_schema::tables::TaskRun;

use super::notions::{Run, Session, Tag, TaskNotion, case_id};

/// A notion of tasks, for jobs.
#[derive(Debug)]
struct OfTasks(&'static dyn TaskNotion);

/// All notions of tasks, for jobs.
pub static ALL: &[&dyn CaseNotion] = &[&OfTasks(&Run), &OfTasks(&Session), &OfTasks(&Tag)];

impl CaseNotion for OfTasks {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn description(&self) -> &'static str {
        self.0.description()
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn is_of_tasks(&self) -> bool {
        true
    }

    fn case_of_task(&self, row: &TaskRun<'_>) -> Option<String> {
        case_id(self.0, row)
    }

    fn strength(&self) -> Strength {
        Strength::Derived
    }

    fn assign(&self, entities: &Entities<'_>) -> Assignment {
        cases::assign_by_task(entities, self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::super::notions;
    use super::*;

    #[test]
    fn each_notion_of_tasks_is_one_of_jobs() {
        let names = |all: Vec<&'static str>| all.join(" ");
        assert_eq!(
            names(ALL.iter().map(|notion| notion.name()).collect()),
            names(notions::ALL.iter().map(|notion| notion.name()).collect())
        );
    }
}
