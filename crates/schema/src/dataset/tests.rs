use std::fs;
use std::path::Path;

use super::place::PartName;
use super::*;
use crate::row::Builder;
use crate::tables::{self, Link};

crate::table! {
    /// A table that is split.
    pub struct Seen in "seen" by host {
        /// Where.
        host: text,
        /// What.
        number: i64,
    }
}

/// Beside those of [`tables::ALL`].
pub(super) const TABLES: &[tables::TableDef] = &[tables::def::<Seen<'static>>()];

fn link(n: i64) -> Link<'static> {
    Link { cluster: "lab".into(), source: format!("{n}").into(), source_submit_ns: Some(n), target_seen: true, ..Default::default() }
}

fn builder(numbers: impl IntoIterator<Item = i64>) -> Builder<Link<'static>> {
    let mut builder = Builder::new();
    for n in numbers {
        builder.push(&link(n));
    }
    builder
}

fn numbers(dataset: &Dataset) -> Vec<i64> {
    let mut numbers = Vec::new();
    dataset
        .read::<Link<'static>, DatasetError>(Projection::All, |row| {
            assert_eq!(row.clone().into_owned(), link(row.source_submit_ns.unwrap()));
            numbers.push(row.source_submit_ns.unwrap());
            Ok(())
        })
        .unwrap();
    numbers
}

fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn rows_come_back_in_order_also_after_many_small_writes() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    for n in 0..300 {
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([2 * n, 2 * n + 1])).unwrap();
        transaction.commit().unwrap();
        writer.merge_small_files::<Link<'static>>().unwrap();
    }
    assert_eq!(numbers(&dataset), (0..600).collect::<Vec<_>>());
    let count = files(&dir.path().join("links")).len();
    assert!(count < 40, "{count} files were left of 300");
}

#[test]
fn a_dropped_transaction_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder([1])).unwrap();
    drop(transaction);
    assert!(files(&dir.path().join("links")).is_empty());
}

#[test]
fn killed_after_the_commit_point() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder([1, 2])).unwrap();
    // What a kill between the commit point and the renames leaves behind.
    fs::write(dir.path().join(".raw.commit.json"), serde_json::to_vec(&transaction.commit).unwrap()).unwrap();
    transaction.done = true;
    drop(transaction);
    drop(writer);
    assert_eq!(numbers(&dataset), [1, 2], "a reader applies the list");
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    assert_eq!(numbers(&dataset), [1, 2], "the next writer finishes it");
    assert_eq!(files(&dir.path().join("links")), ["part-0000000001-0000000001.parquet"]);
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder([3])).unwrap();
    transaction.commit().unwrap();
    assert_eq!(numbers(&dataset), [1, 2, 3]);
}

#[test]
fn a_commit_that_could_not_be_finished_is_finished_before_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    // Something in the way of one file: the rows are moved, the memory is not.
    let obstacle = dir.path().join(".state/memory");
    fs::create_dir_all(&obstacle).unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder([1, 2])).unwrap();
    transaction.put_state("memory", b"two").unwrap();
    assert!(transaction.commit().is_err());
    assert_eq!((numbers(&dataset), dataset.state("memory").unwrap().unwrap()), (vec![1, 2], b"two".to_vec()));
    assert!(writer.begin().is_err(), "still in the way");
    fs::remove_dir(&obstacle).unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder([3])).unwrap();
    transaction.commit().unwrap();
    assert_eq!((numbers(&dataset), dataset.state("memory").unwrap().unwrap()), (vec![1, 2, 3], b"two".to_vec()));
}

#[test]
fn a_list_that_leads_out_of_the_dataset_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (inside, victim) = (dir.path().join("dataset"), dir.path().join("victim"));
    fs::write(&victim, "mine").unwrap();
    let dataset = Dataset::open_or_create(&inside).unwrap();
    for list in [
        format!(r#"{{"moves":[],"deletes":["{}"]}}"#, victim.display()),
        r#"{"moves":[],"deletes":["../victim"]}"#.to_owned(),
        r#"{"moves":[["../victim","links/part-0000000001-0000000001.parquet"]],"deletes":[]}"#.to_owned(),
        r#"{"moves":[["links/.raw-1-1.tmp","links/../../victim"]],"deletes":[]}"#.to_owned(),
        r#"{"moves":[],"deletes":["flowmine.json"]}"#.to_owned(),
    ] {
        fs::write(inside.join(".raw.commit.json"), &list).unwrap();
        assert!(matches!(dataset.writer(Role::Raw, "test"), Err(DatasetError::Foreign { .. })), "{list}");
        assert!(matches!(dataset.parts::<Link<'static>>(), Err(DatasetError::Foreign { .. })), "{list}");
    }
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
}

#[test]
fn links_that_lead_out_of_the_dataset_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (inside, victim) = (dir.path().join("dataset"), dir.path().join("victim"));
    fs::write(&victim, "mine").unwrap();
    let dataset = Dataset::open_or_create(&inside).unwrap();
    std::os::unix::fs::symlink(&victim, inside.join(".derived.lock")).unwrap();
    assert!(matches!(dataset.writer(Role::Derived, "test"), Err(DatasetError::Foreign { .. })));
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(&folder, inside.join("links")).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    assert!(matches!(writer.begin().unwrap().append(builder([1])), Err(DatasetError::Foreign { .. })));
    assert_eq!((fs::read(&victim).unwrap(), files(&folder)), (b"mine".to_vec(), vec![]));
}

#[test]
fn what_an_unfinished_commit_replaces_is_not_read_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Derived, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder([1, 2])).unwrap();
    transaction.commit().unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.replace(builder([3])).unwrap();
    fs::write(dir.path().join(".derived.commit.json"), serde_json::to_vec(&transaction.commit).unwrap()).unwrap();
    transaction.done = true;
    drop(transaction);
    assert_eq!(numbers(&dataset), [3]);
}

#[test]
fn a_file_of_another_table_or_a_damaged_one_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder([1, 2])).unwrap();
    transaction.commit().unwrap();
    let part = "part-0000000001-0000000001.parquet";
    fs::create_dir(dir.path().join("job_states")).unwrap();
    fs::copy(dir.path().join("links").join(part), dir.path().join("job_states").join(part)).unwrap();
    let read = dataset.read::<crate::tables::JobState<'static>, DatasetError>(Projection::Only(&["job"]), |_| Ok(()));
    assert!(read.unwrap_err().to_string().contains("job"));
    let bytes = fs::read(dir.path().join("links").join(part)).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        fs::write(dir.path().join("links").join(part), &damaged).unwrap();
        // An error or other values, but no panic.
        let _ = dataset.read::<Link<'static>, DatasetError>(Projection::All, |_| Ok(()));
    }
}

#[test]
fn killed_before_the_commit_point() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder([1, 2])).unwrap();
    transaction.done = true;
    drop(transaction);
    drop(writer);
    assert!(numbers(&dataset).is_empty());
    dataset.writer(Role::Raw, "test").unwrap();
    assert!(files(&dir.path().join("links")).is_empty(), "the hidden file is gone");
}

#[test]
fn a_merge_that_was_killed_doubles_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    for n in 0..3 {
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([n])).unwrap();
        transaction.commit().unwrap();
    }
    let mut transaction = writer.begin().unwrap();
    let mut rows = builder(0..3).finish().unwrap();
    let name = PartName { owner: None, first: 1, last: 3 };
    transaction.write_file("links", &name.file_name(), |file| parquet::write(file, &mut rows)).unwrap();
    // The merged file is in place, those it replaces not yet gone.
    transaction.commit().unwrap();
    assert_eq!(files(&dir.path().join("links")).len(), 4);
    assert_eq!(numbers(&dataset), [0, 1, 2]);
}

#[test]
fn a_second_writer_is_told_who_is_first() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let _writer = dataset.writer(Role::Raw, "observe, process 4711").unwrap();
    let error = dataset.writer(Role::Raw, "x").unwrap_err().to_string();
    assert!(error.contains("observe, process 4711"), "{error}");
    dataset.writer(Role::Derived, "correlate").unwrap();
}

#[test]
fn a_folder_with_other_things_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.tex"), "").unwrap();
    assert!(matches!(Dataset::open_or_create(dir.path()), Err(DatasetError::NotEmpty(_))));
    assert!(matches!(Dataset::open(dir.path()), Err(DatasetError::NotADataset(_))));
}

#[test]
fn replaced_rows_are_gone() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Derived, "test").unwrap();
    for numbers in [vec![1, 2, 3], vec![4], vec![]] {
        let mut transaction = writer.begin().unwrap();
        transaction.replace(builder(numbers.clone())).unwrap();
        transaction.commit().unwrap();
        assert_eq!(self::numbers(&dataset), numbers);
    }
}

#[test]
fn the_manifest_keeps_what_it_was_told() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.update_manifest(|m| m.clusters.extend(["lab".to_owned()])).unwrap();
    transaction.commit().unwrap();
    assert!(dataset.manifest().unwrap().clusters.contains("lab"));
    fs::write(dir.path().join("flowmine.json"), "{\"format_version\": 99}").unwrap();
    assert!(matches!(Dataset::open(dir.path()), Err(DatasetError::Version { found: 99, .. })));
}
