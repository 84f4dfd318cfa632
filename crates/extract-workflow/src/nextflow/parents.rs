//! Whose outputs a task's inputs are: an input that lies in the work directory of another task was made by that task.
//!
//! In go rows of which the column `parents` says that all inputs are known (`work_dir.rs`); in it come out the tasks in whose work directories they lie. Null where one lies in a work
//! directory of which no task of the run is known, or whose task has no number. What a task is given as a value is told nowhere.

use std::collections::{BTreeSet, HashMap};

use crate::Row;

/// Puts them into the rows; `run_of` tells the run of each.
pub fn put(rows: &mut [Row], run_of: &[Option<usize>]) {
    let mut made_in: HashMap<(Option<usize>, &str), Option<&str>> = HashMap::new();
    for (row, run) in rows.iter().zip(run_of) {
        if let Some(dir) = row.work_dir.as_deref() {
            made_in.insert((*run, dir.trim_end_matches('/')), row.task_id.as_deref());
        }
    }
    let maker = |run: Option<usize>, path: &str| -> Maker {
        let mut dirs = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path]);
        if let Some(task) = dirs.clone().find_map(|dir| made_in.get(&(run, dir))) {
            return task.map_or(Maker::Unknown, |task| Maker::Task(task.to_owned()));
        }
        if dirs.any(is_work_dir) { Maker::Unknown } else { Maker::Nobody }
    };
    let parents: Vec<Option<String>> = (rows.iter().zip(run_of))
        .map(|(row, run)| {
            row.parents.as_ref()?;
            let inputs: Vec<serde_json::Value> = serde_json::from_str(row.inputs.as_deref()?).ok()?;
            let mut parents = BTreeSet::new();
            for path in inputs.iter().filter_map(|input| input["path"].as_str()) {
                match maker(*run, path) {
                    Maker::Task(task) => parents.extend((row.task_id.as_deref() != Some(&task)).then_some(task)),
                    Maker::Nobody => {}
                    Maker::Unknown => return None,
                }
            }
            // Numbers in their order.
            let mut parents: Vec<String> = parents.into_iter().collect();
            parents.sort_by_key(|task| task.parse::<u64>().unwrap_or(u64::MAX));
            serde_json::to_string(&parents).ok()
        })
        .collect();
    for (row, parents) in rows.iter_mut().zip(parents) {
        row.parents = parents.map(Into::into);
    }
}

enum Maker {
    Task(String),
    Nobody,
    Unknown,
}

/// Whether a path ends as a work directory's does: `…/ab/` and 30 digits more of a hash.
fn is_work_dir(dir: &str) -> bool {
    let hex =
        |name: Option<&str>, length: usize| name.is_some_and(|name| name.len() == length && name.bytes().all(|b| b.is_ascii_hexdigit()));
    let mut names = dir.rsplit('/');
    hex(names.next(), 30) && hex(names.next(), 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: Option<&'static str>, dir: &str, inputs: &[&str]) -> Row {
        let list: Vec<_> = inputs.iter().map(|path| serde_json::json!({ "path": path })).collect();
        Row {
            task_id: id.map(Into::into),
            work_dir: Some(dir.to_owned().into()),
            inputs: Some(serde_json::Value::Array(list).to_string().into()),
            parents: Some("[]".into()),
            ..Row::default()
        }
    }

    #[test]
    fn inputs_in_work_directories() {
        let dir = |n: u32| format!("/w/a{n}/{}", "0123456789".repeat(3));
        let (one, two, gone) = (format!("{}/x", dir(1)), dir(2), format!("{}/x", dir(9)));
        let mut rows = [
            row(Some("10"), &dir(1), &["/data/in", "/data/ab/cd/in"]),
            row(None, &dir(2), &[]),
            row(Some("9"), &dir(3), &[&one]),
            row(Some("11"), &dir(4), &["/data/in", &one, &format!("{}/y", dir(3)), &one]),
            row(Some("12"), &dir(5), &[&two]),
            row(Some("13"), &dir(6), &[&gone]),
            row(Some("14"), &dir(1), &[&one]),
        ];
        rows[6].work_dir = Some(dir(7).into());
        put(&mut rows, &[Some(0), Some(0), Some(0), Some(0), Some(0), Some(0), Some(1)]);
        let parents: Vec<Option<&str>> = rows.iter().map(|row| row.parents.as_deref()).collect();
        assert_eq!(parents, [Some("[]"), Some("[]"), Some("[\"10\"]"), Some("[\"9\",\"10\"]"), None, None, None]);
    }
}
