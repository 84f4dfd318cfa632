//! Parents of tasks from their inputs: an input in the work directory of another task was made by
//! that task.
//!
//! The function [`put`] replaces the column `parents` of rows with completely known inputs
//! (`work_dir.rs`) by the tasks to which the inputs' work directories belong. The result is null
//! where a work directory belongs to no known task of the run, or to two, or to a task with neither
//! a number nor a unique hash. Inputs that are values are recorded nowhere. Where a store names the
//! tasks that made the inputs (`lineage.rs`), the column holds their hashes before.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use super::names::{shown, whole_hash};
use crate::Row;

/// Gives an id to tasks without a number: cached ones that only a log describes, those that had not
/// ended, and those that only a work directory describes. The id is the displayed hash, if it is
/// unique in the run. `run_of` contains the run of each row.
pub fn give_ids(rows: &mut [Row], run_of: &[Option<usize>]) {
    let mut of_number: HashMap<(Option<usize>, &str), usize> = HashMap::new();
    let mut of_hash: HashMap<(Option<usize>, &str), usize> = HashMap::new();
    for (row, run) in rows.iter().zip(run_of) {
        for (counts, told) in [(&mut of_number, &row.task_id), (&mut of_hash, &row.cache_key)] {
            if let Some(told) = told.as_deref() {
                *counts.entry((*run, told)).or_default() += 1;
            }
        }
    }
    let ids: Vec<Option<Cow<'static, str>>> = (rows.iter().zip(run_of))
        .map(|(row, run)| {
            let is_alone = |counts: &HashMap<(Option<usize>, &str), usize>, told: &str| counts.get(&(*run, told)) == Some(&1);
            // For a cached task, trace files and reports contain the number from the run that
            // executed it, which another task can have in this run.
            let number = row.task_id.as_ref().filter(|number| !row.cached || is_alone(&of_number, number));
            number.or_else(|| row.cache_key.as_ref().filter(|hash| is_alone(&of_hash, hash))).cloned()
        })
        .collect();
    for (row, id) in rows.iter_mut().zip(ids) {
        row.task_id = id;
    }
}

/// Puts the parents into the rows; `run_of` contains the run of each row.
pub fn put(rows: &mut [Row], run_of: &[Option<usize>]) {
    // If two tasks have the same directory, neither is chosen.
    let mut made_in: HashMap<(Option<usize>, &str), Option<&str>> = HashMap::new();
    for (row, run) in rows.iter().zip(run_of) {
        let Some(dir) = row.work_dir.as_deref().map(|dir| dir.trim_end_matches('/')) else { continue };
        // Also by the whole hash: copied work directories are not where their links point, and
        // links can be relative (`../../ab/1234…`).
        for place in [Some(dir), whole_hash(dir)].into_iter().flatten() {
            let id = row.task_id.as_deref();
            made_in.entry((*run, place)).and_modify(|known| *known = known.filter(|known| Some(*known) == id)).or_insert(id);
        }
    }
    let mut of_hash: HashMap<(Option<usize>, &str), Option<&str>> = HashMap::new();
    for (row, run) in rows.iter().zip(run_of) {
        let Some(hash) = row.cache_key.as_deref() else { continue };
        let id = row.task_id.as_deref();
        of_hash.entry((*run, hash)).and_modify(|known| *known = known.filter(|known| Some(*known) == id)).or_insert(id);
    }
    let named = |run: Option<usize>, hash: &str| -> Maker {
        let task = made_in.get(&(run, hash)).or_else(|| of_hash.get(&(run, shown(hash)))).copied().flatten();
        task.map_or(Maker::Unknown, |task| Maker::Task(task.to_owned()))
    };
    let maker = |run: Option<usize>, path: &str| -> Maker {
        let mut dirs = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path]);
        let known = |dir| made_in.get(&(run, dir)).or_else(|| made_in.get(&(run, whole_hash(dir)?)));
        if let Some(task) = dirs.clone().find_map(known) {
            return task.map_or(Maker::Unknown, |task| Maker::Task(task.to_owned()));
        }
        if dirs.any(is_work_dir) { Maker::Unknown } else { Maker::Nobody }
    };
    let parents: Vec<Option<String>> = (rows.iter().zip(run_of))
        .map(|(row, run)| {
            let makers: Vec<String> = serde_json::from_str(row.parents.as_deref()?).ok()?;
            let inputs: Vec<serde_json::Value> = serde_json::from_str(row.inputs.as_deref()?).ok()?;
            let mut parents = BTreeSet::new();
            let of_paths = inputs
                .iter()
                .filter_map(|input| input["path"].as_str())
                .map(|path| maker(*run, super::lineage::relative(path).as_deref().unwrap_or(path)));
            for maker in makers.iter().map(|hash| named(*run, hash)).chain(of_paths) {
                match maker {
                    Maker::Task(task) => parents.extend((row.task_id.as_deref() != Some(&task)).then_some(task)),
                    Maker::Nobody => {}
                    Maker::Unknown => return None,
                }
            }
            // Numbers in numerical order.
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

/// Whether a path ends like that of a work directory: `…/ab/` and 30 further digits of a hash.
/// Files that Nextflow itself fetched are in `…/stage-SESSION/ab/1234…`, with the UUID of the
/// session: no task made those.
fn is_work_dir(dir: &str) -> bool {
    let hex =
        |name: Option<&str>, length: usize| name.is_some_and(|name| name.len() == length && name.bytes().all(|b| b.is_ascii_hexdigit()));
    let is_uuid = |text: &str| text.len() == 36 && text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let mut names = dir.rsplit('/');
    hex(names.next(), 30) && hex(names.next(), 2) && !names.next().and_then(|name| name.strip_prefix("stage-")).is_some_and(is_uuid)
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

    #[test]
    fn copies_relative_links_and_what_was_fetched() {
        let hash = |n: u32| format!("a{n}/{}", "0123456789".repeat(3));
        let staged = format!("/w/stage-5c3f1dd1-d163-4212-b372-cb47d5401755/{}/remote.txt", hash(8));
        let mut rows = [
            row(Some("1"), &format!("copy/work/{}", hash(1)), &[&staged]),
            row(Some("2"), &format!("copy/work/{}", hash(2)), &[&format!("/home/w/{}/x", hash(1)), &staged]),
            row(Some("3"), &format!("copy/work/{}", hash(3)), &[&format!("../../{}/x/y", hash(2))]),
            row(Some("4"), &format!("copy/work/{}", hash(4)), &[&format!("/home/w/tmp/{}/collected", hash(9))]),
            // Such a folder belongs to the user.
            row(Some("5"), &format!("copy/work/{}", hash(5)), &[&format!("/w/stage-2/{}/x", hash(8))]),
        ];
        put(&mut rows, &[Some(0); 5]);
        let parents: Vec<Option<&str>> = rows.iter().map(|row| row.parents.as_deref()).collect();
        assert_eq!(parents, [Some("[]"), Some("[\"1\"]"), Some("[\"2\"]"), None, None]);
    }

    /// Returns a row with a hash, cached or not.
    fn keyed(id: Option<&'static str>, hash: &str, cached: bool, inputs: &[&str]) -> Row {
        Row { cache_key: Some(hash[..9].to_owned().into()), cached, ..row(id, &format!("/w/{hash}"), inputs) }
    }

    #[test]
    fn two_tasks_with_one_directory() {
        let hash = |n: u32| format!("a{n}/{}", "0123456789".repeat(3));
        let made = format!("/w/{}/x", hash(1));
        // The same result was taken twice; in another run once.
        let mut rows = [
            keyed(Some("1"), &hash(1), true, &[]),
            keyed(Some("2"), &hash(1), true, &[]),
            keyed(Some("3"), &hash(3), false, &[&made]),
            keyed(Some("7"), &hash(1), false, &[]),
            keyed(Some("8"), &hash(4), false, &[&made]),
        ];
        let run_of = [Some(0), Some(0), Some(0), Some(1), Some(1)];
        give_ids(&mut rows, &run_of);
        put(&mut rows, &run_of);
        let parents: Vec<Option<&str>> = rows.iter().map(|row| row.parents.as_deref()).collect();
        assert_eq!(parents, [Some("[]"), Some("[]"), None, Some("[]"), Some("[\"7\"]")]);
    }

    #[test]
    fn ids_of_tasks_without_numbers() {
        let hash = |n: u32| format!("a{n}/{}", "0123456789".repeat(3));
        let mut rows = [
            keyed(None, &hash(1), true, &[]),
            keyed(Some("2"), &hash(2), false, &[&format!("/w/{}/x", hash(1))]),
            // The number belongs to an earlier run.
            keyed(Some("2"), &hash(3), true, &[]),
            keyed(Some("4"), &hash(4), true, &[]),
            // Two tasks share the displayed hash.
            keyed(None, &hash(5), true, &[]),
            keyed(None, &hash(5), true, &[]),
            keyed(None, &hash(5), true, &[]),
        ];
        let run_of = [Some(0), Some(0), Some(0), Some(0), Some(0), Some(0), Some(1)];
        give_ids(&mut rows, &run_of);
        put(&mut rows, &run_of);
        let ids: Vec<Option<&str>> = rows.iter().map(|row| row.task_id.as_deref()).collect();
        assert_eq!(ids, [Some("a1/012345"), Some("2"), Some("a3/012345"), Some("4"), None, None, Some("a5/012345")]);
        assert_eq!(rows[1].parents.as_deref(), Some("[\"a1/012345\"]"));
    }
}
