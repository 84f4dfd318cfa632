mod interrupted;

use std::fs;
use std::path::Path;

use crate::place::PartName;
use crate::*;
use flowmine_schema::tables::{self, Case, JobState, Link};
use flowmine_schema::time::Day;

flowmine_schema::columns! {
    /// The job of each row of `job_states`.
    struct Job of JobState { job }
}

flowmine_schema::columns! {
    /// When a link's source began.
    struct SourceTime of Link { source_ns }
}

flowmine_schema::columns! {
    /// The number in each row of [`Seen`].
    struct Number of Seen { number }
}

flowmine_schema::table! {
    /// A table that is split.
    pub struct Seen in "seen" by host {
        /// Host by which the table is split into folders.
        host: text(Host),
        /// The value of the row, any number.
        number: i64,
    }
}

/// The tables of these tests, in addition to [`tables::ALL`].
pub(crate) const TABLES: &[tables::TableDef] = &[tables::TableDef::new::<Seen<'static>>()];

fn link(n: i64) -> Link<'static> {
    Link { source_scope: "lab".into(), source: format!("{n}").into(), source_ns: Some(n), target_seen: true, ..Default::default() }
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
        .read::<Link<'static>, DatasetError>(|row| {
            assert_eq!(row.clone().into_owned(), link(row.source_ns.unwrap()));
            numbers.push(row.source_ns.unwrap());
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
    assert!(matches!(dataset.writer(Role::Raw, "test"), Err(DatasetError::Foreign { .. })));
    fs::remove_file(inside.join("links")).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    std::os::unix::fs::symlink(&folder, inside.join("links")).unwrap();
    assert!(matches!(writer.begin().unwrap().append(builder([1])), Err(DatasetError::Foreign { .. })));
    assert_eq!((fs::read(&victim).unwrap(), files(&folder)), (b"mine".to_vec(), vec![]));
}

#[test]
fn what_would_hang_or_never_end_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = |path: &Path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    let zero = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    for (at, in_the_way) in [&fifo as &dyn Fn(&Path), &zero].into_iter().enumerate() {
        let inside = dir.path().join(at.to_string());
        let dataset = Dataset::open_or_create(&inside).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([1])).unwrap();
        transaction.put_state("memory", b"one").unwrap();
        transaction.commit().unwrap();
        drop(writer);
        let refused = |name: &str, uses: &dyn Fn() -> Result<(), DatasetError>| {
            let path = inside.join(name);
            let kept = fs::read(&path).ok();
            let _ = fs::remove_file(&path);
            in_the_way(&path);
            let told = uses();
            assert!(matches!(told, Err(DatasetError::Foreign { .. })), "{name}: {told:?}");
            fs::remove_file(&path).unwrap();
            kept.into_iter().for_each(|kept| fs::write(&path, kept).unwrap());
        };
        refused("flowmine.json", &|| Dataset::open(&inside).map(drop));
        refused("flowmine.json", &|| Dataset::open_or_create(&inside).map(drop));
        refused(".raw.commit.json", &|| Dataset::open(&inside).map(drop));
        refused("links/part-0000000001-0000000001.parquet", &|| dataset.parts::<Link<'static>>().map(drop));
        refused(".state/memory", &|| dataset.state("memory").map(drop));
        refused(".state/memory", &|| dataset.state_rows::<Link<'static>>("memory").map(drop));
        refused(".raw.lock", &|| dataset.writer(Role::Raw, "test").map(drop));
        assert_eq!(numbers(&dataset), [1]);
    }
}

#[test]
fn the_dataset_is_the_directory_that_was_opened() {
    let dir = tempfile::tempdir().unwrap();
    let (inside, moved, other) = (dir.path().join("dataset"), dir.path().join("moved"), dir.path().join("other"));
    let dataset = Dataset::open_or_create(&inside).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    fs::create_dir(&other).unwrap();
    fs::rename(&inside, &moved).unwrap();
    std::os::unix::fs::symlink(&other, &inside).unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder([1])).unwrap();
    transaction.commit().unwrap();
    drop(writer);
    assert!(files(&other).is_empty());
    assert_eq!(numbers(&Dataset::open(&moved).unwrap()), [1]);
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
    let read = dataset.read::<Job<'static>, DatasetError>(|_| Ok(()));
    assert!(read.unwrap_err().to_string().contains("job"));
    let bytes = fs::read(dir.path().join("links").join(part)).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        fs::write(dir.path().join("links").join(part), &damaged).unwrap();
        // An error or other values, but no panic.
        let _ = dataset.read::<Link<'static>, DatasetError>(|_| Ok(()));
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
    let rows = builder(0..3).finish().unwrap();
    let name = PartName { owner: None, first: 1, last: 3 };
    transaction.write_file("links", &name.file_name(), |file| parquet_writer::write(file, rows)).unwrap();
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

/// Rows of an older flowmine that mean something else now are not read; the rest of its dataset is,
/// and deriving them anew ends that.
#[test]
fn what_an_older_version_derived_is_refused_until_it_is_derived_again() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let derive = |dataset: &Dataset, version: Option<u32>| {
        let mut writer = dataset.writer(Role::Derived, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        let mut links = Builder::<Link<'static>>::new();
        links.push(&Link { strength: "declared".into(), ..Link::default() });
        transaction.replace(links).unwrap();
        if let Some(version) = version {
            transaction.update_manifest(|manifest| manifest.format_version = version).unwrap();
        }
        transaction.commit().unwrap();
    };
    derive(&dataset, None);
    assert_eq!(dataset.row_count::<Link<'static>>().unwrap(), 1);
    fs::write(dir.path().join("flowmine.json"), "{\"format_version\": 1}").unwrap();
    let dataset = Dataset::open(dir.path()).unwrap();
    let refused = dataset.row_count::<Link<'static>>().unwrap_err();
    assert!(matches!(refused, DatasetError::Older { table: "links", found: 1, .. }), "{refused}");
    assert!(refused.to_string().contains("flowmine correlate --dataset"), "{refused}");
    assert_eq!(dataset.row_count::<Case<'static>>().unwrap(), 0, "tables that mean what they meant are read");
    // Whoever writes something else leaves the version as it is.
    derive(&dataset, None);
    assert!(dataset.row_count::<Link<'static>>().is_err());
    derive(&dataset, Some(FORMAT_VERSION));
    assert_eq!(dataset.row_count::<Link<'static>>().unwrap(), 1);
    assert_eq!(Dataset::open(dir.path()).unwrap().manifest().unwrap().format_version, FORMAT_VERSION);
}

fn seen(host: &'static str, numbers: impl IntoIterator<Item = i64>) -> Builder<Seen<'static>> {
    let mut builder = Builder::new();
    for number in numbers {
        builder.push(&Seen { host: host.into(), number, ..Default::default() });
    }
    builder
}

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

fn add(writer: &mut Writer, host: &'static str, date: &str, numbers: impl IntoIterator<Item = i64>) {
    let mut transaction = writer.begin().unwrap();
    transaction.append_split(seen(host, numbers), host, day(date)).unwrap();
    transaction.commit().unwrap();
}

fn all_seen(dataset: &Dataset) -> Vec<(String, i64)> {
    let mut rows = Vec::new();
    dataset
        .read::<Seen<'static>, DatasetError>(|row| {
            let row = row.into_owned();
            rows.push((row.host.into_owned(), row.number));
            Ok(())
        })
        .unwrap();
    assert_eq!(dataset.row_count::<Seen<'static>>().unwrap(), rows.len() as u64);
    assert_eq!(dataset.parts::<Seen<'static>>().unwrap().is_empty(), rows.is_empty());
    rows
}

/// Every folder and file below, relative.
fn tree(dir: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let mut left = vec![dir.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            all.push(path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned());
            if path.is_dir() {
                left.push(path);
            }
        }
    }
    all.sort();
    all
}

#[test]
fn rows_of_hosts_come_by_host_and_day_and_as_written() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    assert!(all_seen(&dataset).is_empty());
    let mut b = dataset.writer(Role::Host("b".to_owned()), "test").unwrap();
    let mut a = dataset.writer(Role::Host("a".to_owned()), "test").unwrap();
    let mut raw = dataset.writer(Role::Raw, "test").unwrap();
    add(&mut b, "b", "2026-11-21", [1]);
    add(&mut b, "b", "2026-11-20", [2, 3]);
    add(&mut a, "a", "2026-11-21", [4]);
    add(&mut a, "a", "2026-11-21", [5]);
    add(&mut raw, "a", "2026-11-21", [6]);
    let rows = [("a", 6), ("a", 4), ("a", 5), ("b", 2), ("b", 3), ("b", 1)];
    assert_eq!(all_seen(&dataset), rows.map(|(host, number)| (host.to_owned(), number)));
    let parts = dataset.parts::<Seen<'static>>().unwrap();
    assert_eq!((parts[0].leaf().host(), parts[0].leaf().day()), (Some("a"), Some(day("2026-11-21"))));
    let expected = [
        "seen",
        "seen/host=a",
        "seen/host=a/date=2026-11-21",
        "seen/host=a/date=2026-11-21/part-0000000001-0000000001.parquet",
        "seen/host=a/date=2026-11-21/part-0000000001-0000000001@a.parquet",
        "seen/host=a/date=2026-11-21/part-0000000002-0000000002@a.parquet",
        "seen/host=b",
        "seen/host=b/date=2026-11-20",
        "seen/host=b/date=2026-11-20/part-0000000002-0000000002@b.parquet",
        "seen/host=b/date=2026-11-21",
        "seen/host=b/date=2026-11-21/part-0000000001-0000000001@b.parquet",
    ];
    assert_eq!(tree(dir.path()).into_iter().filter(|path| path.starts_with("seen")).collect::<Vec<_>>(), expected);
    // A new writer goes on behind what is there.
    drop(a);
    add(&mut dataset.writer(Role::Host("a".to_owned()), "test").unwrap(), "a", "2026-11-21", [7]);
    assert!(dir.path().join("seen/host=a/date=2026-11-21/part-0000000003-0000000003@a.parquet").exists());
}

#[test]
fn hosts_with_odd_names_stay_apart_and_inside() {
    const HOSTS: [&str; 12] =
        ["", ".", "..", "/", "../..", "a", "a=", "a-1", "%61", "ä \u{202e}\n", "__HIVE_DEFAULT_PARTITION__", "a.commit.json"];
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("dataset");
    let dataset = Dataset::open_or_create(&inside).unwrap();
    // All of them at once, each in the middle of a transaction.
    let mut writers: Vec<Writer> = HOSTS.iter().map(|host| dataset.writer(Role::Host((*host).to_owned()), host).unwrap()).collect();
    let mut transactions: Vec<Transaction<'_>> = writers.iter_mut().map(|writer| writer.begin().unwrap()).collect();
    for (n, (transaction, host)) in transactions.iter_mut().zip(HOSTS).enumerate() {
        transaction.append_split(seen(host, [n as i64]), host, day("2026-11-20")).unwrap();
        transaction.append(builder([n as i64])).unwrap();
        transaction.update_manifest(|manifest| manifest.hosts.extend([host.to_owned()])).unwrap();
        assert!(matches!(dataset.writer(Role::Host(host.to_owned()), ""), Err(DatasetError::Locked { .. })));
    }
    transactions.into_iter().for_each(|transaction| transaction.commit().unwrap());
    drop(writers);
    let mut expected: Vec<(String, i64)> = HOSTS.iter().enumerate().map(|(n, host)| ((*host).to_owned(), n as i64)).collect();
    expected.sort();
    assert_eq!(all_seen(&dataset), expected);
    assert_eq!(dataset.row_count::<Link<'static>>().unwrap(), HOSTS.len() as u64);
    assert_eq!(dataset.manifest().unwrap().hosts, HOSTS.map(str::to_owned).into());
    assert_eq!(files(dir.path()), ["dataset"]);
    assert!(tree(&inside).iter().all(|path| path.is_ascii() && !path.contains(['\n', ' '])), "{:?}", tree(&inside));
    for host in HOSTS {
        let role = Role::Host(host.to_owned());
        assert_eq!(Role::of_commit_file(&role.commit_file()), Some(role.clone()));
        for other in
            HOSTS.iter().filter(|other| **other != host).map(|other| Role::Host((*other).to_owned())).chain([Role::Raw, Role::Derived])
        {
            assert!(!role.hidden_prefix().starts_with(&other.hidden_prefix()), "{role:?} {other:?}");
            assert!(role.lock_file() != other.lock_file() && !role.lock_file().ends_with(".commit.json"));
        }
    }
}

#[test]
fn a_killed_writer_of_a_host_is_finished_by_readers_and_its_next() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let role = Role::Host("n/1".to_owned());
    let mut writer = dataset.writer(role.clone(), "test").unwrap();
    let mut raw = dataset.writer(Role::Raw, "test").unwrap();
    add(&mut writer, "n/1", "2026-11-20", [1]);
    let mut transaction = writer.begin().unwrap();
    transaction.append_split(seen("n/1", [2]), "n/1", day("2026-11-20")).unwrap();
    transaction.append_split(seen("n/1", [3]), "n/1", day("2026-11-21")).unwrap();
    transaction.update_manifest(|manifest| manifest.hosts.extend(["n/1".to_owned()])).unwrap();
    fs::write(dir.path().join(role.commit_file()), serde_json::to_vec(&transaction.commit).unwrap()).unwrap();
    transaction.done = true;
    drop(transaction);
    // And what it leaves when it is killed before the moment of commit.
    fs::write(dir.path().join(".host=n%2F1=3-1.tmp"), "half").unwrap();
    drop(writer);
    let rows: Vec<(String, i64)> = (1..4).map(|number| ("n/1".to_owned(), number)).collect();
    // Another writer adds to the manifest meanwhile, and neither takes away what the other said.
    let mut transaction = raw.begin().unwrap();
    transaction.update_manifest(|manifest| manifest.clusters.extend(["lab".to_owned()])).unwrap();
    transaction.commit().unwrap();
    for next in [false, true, true] {
        if next {
            dataset.writer(role.clone(), "test").unwrap();
        }
        assert_eq!(all_seen(&dataset), rows);
        let manifest = dataset.manifest().unwrap();
        assert!(manifest.hosts.contains("n/1") && manifest.clusters.contains("lab"));
        assert!(numbers(&dataset).is_empty());
    }
    let left: Vec<String> = tree(dir.path()).into_iter().filter(|path| path.ends_with(".tmp") || path.ends_with(".commit.json")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn writers_of_one_host_stand_side_by_side() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writers: Vec<Writer> = (0..3).map(|_| dataset.host_writer("n/1", "test").unwrap()).collect();
    // In turns, so that their numbers are the same; merging leaves those of another.
    for n in 0..20 {
        for (at, writer) in writers.iter_mut().enumerate() {
            add(writer, "n/1", "2026-11-20", [100 * at as i64 + n]);
            writer.merge_small_files::<Seen<'static>>().unwrap();
        }
    }
    let numbers = |dataset: &Dataset| all_seen(dataset).into_iter().map(|(_, number)| number).collect::<Vec<_>>();
    assert_eq!(numbers(&dataset), (0..20).chain(100..120).chain(200..220).collect::<Vec<_>>());
    let names = files(&dir.path().join("seen/host=n%2F1/date=2026-11-20"));
    assert!(names.contains(&"part-0000000001-0000000016@n%2F1.parquet".to_owned()), "{names:?}");
    assert!(names.contains(&"part-0000000001-0000000016@n%2F1+2.parquet".to_owned()), "{names:?}");
    let places = |dataset: &Dataset| dataset.host_places("n/1").unwrap();
    assert_eq!(places(&dataset), [Role::of_host("n/1", 0), Role::of_host("n/1", 1), Role::of_host("n/1", 2)]);
    // The second is killed, after a commit and in the middle of the next write; the first goes on, and the third place is free.
    let mut killed = writers.remove(1);
    let mut transaction = killed.begin().unwrap();
    transaction.append_split(seen("n/1", [7]), "n/1", day("2026-11-21")).unwrap();
    fs::write(dir.path().join(Role::of_host("n/1", 1).commit_file()), serde_json::to_vec(&transaction.commit).unwrap()).unwrap();
    transaction.done = true;
    drop(transaction);
    fs::write(dir.path().join(".host=n%2F1+1=9-1.tmp"), "half").unwrap();
    fs::write(dir.path().join(".host=n%2F1+2=9-1.tmp"), "half").unwrap();
    let expected: Vec<i64> = (0..20).chain(100..120).chain(200..220).chain([7]).collect();
    assert_eq!(numbers(&dataset), expected);
    // What one that runs has begun is left to it.
    drop(killed);
    let next = dataset.host_writer("n/1", "test").unwrap();
    assert_eq!(next.role, Role::of_host("n/1", 1));
    let left = || -> Vec<String> {
        tree(dir.path()).into_iter().filter(|path| path.ends_with(".tmp") || path.ends_with(".commit.json")).collect()
    };
    assert_eq!(left(), [".host=n%2F1+2=9-1.tmp"]);
    // Whoever comes next cleans up, also where it does not write.
    drop((writers, next));
    let next = dataset.host_writer("n/1", "test").unwrap();
    assert_eq!((next.role.clone(), left()), (Role::of_host("n/1", 0), Vec::new()));
    assert_eq!(numbers(&dataset), expected);
    // Another host's are his.
    fs::write(dir.path().join(".host=n+1=9-1.tmp"), "half").unwrap();
    drop(next);
    let _next = dataset.host_writer("n/1", "test").unwrap();
    assert_eq!(left(), [".host=n+1=9-1.tmp"]);
}

#[test]
fn names_of_writers_beside_others_are_exactly_ours() {
    for host in ["a", "a+1", "+", "a.lock", "a=b", "a.commit.json", ""] {
        for number in [0, 1, 2, 10, u32::MAX] {
            let role = Role::of_host(host, number);
            assert_eq!(Role::of_commit_file(&role.commit_file()), Some(role.clone()));
            for name in [role.commit_file(), role.lock_file(), format!("{}3-1.tmp", role.hidden_prefix())] {
                assert_eq!(Role::of_hidden(&name), Some(role.clone()), "{name}");
            }
            let part = PartName { owner: role.owner(), first: 1, last: 2 };
            assert_eq!(PartName::new(&part.file_name()), Some(part));
        }
    }
    for name in
        ["part-0000000001-0000000001@a+0.parquet", "part-0000000001-0000000001@a+01.parquet", "part-0000000001-0000000001@a+.parquet"]
    {
        assert_eq!(PartName::new(name), None, "{name}");
    }
    for name in [".host=a+0.lock", ".host=a+1+1.lock", ".host=a+-1.lock", ".host=a", ".raw.lock", "host=a.lock", ".host=a/b=1-1.tmp"] {
        assert_eq!(Role::of_hidden(name), None, "{name}");
    }
}

#[test]
fn small_files_of_a_host_are_merged_within_a_day() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Host("a".to_owned()), "test").unwrap();
    let mut raw = dataset.writer(Role::Raw, "test").unwrap();
    for n in 0..40 {
        add(&mut writer, "a", if n % 2 == 0 { "2026-11-20" } else { "2026-11-21" }, [n]);
        add(&mut raw, "a", "2026-11-20", [100 + n]);
        writer.merge_small_files::<Seen<'static>>().unwrap();
    }
    let expected: Vec<i64> = (100..140).chain((0..40).step_by(2)).chain((1..40).step_by(2)).collect();
    assert_eq!(all_seen(&dataset).into_iter().map(|(_, number)| number).collect::<Vec<_>>(), expected);
    let leaf = files(&dir.path().join("seen/host=a/date=2026-11-21"));
    assert_eq!(leaf.len(), 5, "{leaf:?}");
    // A merge takes a number as well.
    assert_eq!(leaf[0], "part-0000000002-0000000033@a.parquet");
    assert_eq!(files(&dir.path().join("seen/host=a/date=2026-11-20")).len(), 40 + 5, "those of another writer are left to him");
}

#[test]
fn a_list_of_a_host_leads_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let (inside, victim) = (dir.path().join("dataset"), dir.path().join("victim"));
    fs::write(&victim, "mine").unwrap();
    let dataset = Dataset::open_or_create(&inside).unwrap();
    let role = Role::Host("a".to_owned());
    let list = inside.join(role.commit_file());
    let part = "part-0000000001-0000000001@a.parquet";
    let good = format!("seen/host=a/date=2026-11-20/{part}");
    let moving = |from: &str, to: &str| format!(r#"{{"moves":[["{from}","{to}"]],"deletes":[]}}"#);
    let refused = [
        moving("../victim", &good),
        moving(".raw-1-1.tmp", &good),
        moving("seen/.host=a=1-1.tmp", &good),
        moving(".host=a=1-1.tmp", &format!("seen/host=a/date=2026-11-20/../{part}")),
        moving(".host=a=1-1.tmp", &format!("seen/host=%2E%2E/date=2026-11-20/{part}")),
        moving(".host=a=1-1.tmp", &format!("seen/../date=2026-11-20/{part}")),
        moving(".host=a=1-1.tmp", &format!("seen/host=a/date=2026-11-31/{part}")),
        moving(".host=a=1-1.tmp", &format!("seen/{part}")),
        moving(".host=a=1-1.tmp", &format!("links/host=a/date=2026-11-20/{part}")),
        moving(".host=a=1-1.tmp", "links/part-0000000001-0000000001.parquet"),
        moving(".host=a=1-1.tmp", "links/part-1-1@a.parquet"),
        moving(".host=a=1-1.tmp", "flowmine.json"),
        moving(".host=a=1-1.tmp", ".state/../victim"),
        r#"{"moves":[],"deletes":["links/part-0000000001-0000000001.parquet"]}"#.to_owned(),
        r#"{"moves":[],"deletes":[".state/memory"]}"#.to_owned(),
    ];
    for text in refused {
        fs::write(&list, &text).unwrap();
        assert!(matches!(dataset.writer(role.clone(), "test"), Err(DatasetError::Foreign { .. })), "{text}");
        assert!(matches!(dataset.parts::<Seen<'static>>(), Err(DatasetError::Foreign { .. })), "{text}");
    }
    // A folder that leads out is not followed, in whatever depth it stands.
    let outside = dir.path().join("outside");
    fs::create_dir_all(outside.join("date=2026-11-20")).unwrap();
    fs::create_dir(inside.join("seen")).unwrap();
    std::os::unix::fs::symlink(&outside, inside.join("seen/host=a")).unwrap();
    fs::write(inside.join(".host=a=1-1.tmp"), "rows").unwrap();
    fs::write(&list, moving(".host=a=1-1.tmp", &good)).unwrap();
    assert!(matches!(dataset.writer(role.clone(), "test"), Err(DatasetError::Foreign { .. })));
    assert!(matches!(dataset.parts::<Seen<'static>>(), Err(DatasetError::Foreign { .. })));
    fs::remove_file(&list).unwrap();
    let mut writer = dataset.writer(role, "test").unwrap();
    assert!(matches!(writer.begin().unwrap().append_split(seen("a", [1]), "a", day("2026-11-20")), Err(DatasetError::Foreign { .. })));
    assert_eq!((fs::read(&victim).unwrap(), tree(&outside)), (b"mine".to_vec(), vec!["date=2026-11-20".to_owned()]));
}

#[test]
fn writers_of_many_hosts_lose_nothing_of_the_manifest() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    std::thread::scope(|scope| {
        for host in 0..8 {
            let dataset = &dataset;
            scope.spawn(move || {
                for step in 0..10 {
                    let mut writer = dataset.writer(Role::Host(host.to_string()), "test").unwrap();
                    let mut transaction = writer.begin().unwrap();
                    transaction.append(builder([host * 10 + step])).unwrap();
                    transaction.update_manifest(|manifest| manifest.hosts.extend([format!("{host} {step}")])).unwrap();
                    transaction.commit().unwrap();
                    dataset.parts::<Link<'static>>().unwrap();
                }
            });
        }
    });
    assert_eq!(dataset.manifest().unwrap().hosts.len(), 80);
    assert_eq!(numbers(&dataset).len(), 80);
}

proptest::proptest! {
    #[test]
    fn a_host_in_a_path_is_that_host(host in ".{0,20}", other in ".{0,20}|[_%A-F0-9=/.]{0,8}") {
        let escaped = host_folder::escape_host(&host);
        proptest::prop_assert!(escaped.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-%".contains(&b)) && !escaped.is_empty());
        proptest::prop_assert_eq!(host_folder::unescape_host(&escaped), Some(host));
        // What is read at all is what would be written.
        if let Some(host) = host_folder::unescape_host(&other) {
            proptest::prop_assert_eq!(host_folder::escape_host(&host), other);
        }
    }
}

/// Paths below a directory with their modes.
fn modes(dir: &Path) -> Vec<(std::path::PathBuf, u32)> {
    use std::os::unix::fs::MetadataExt;
    let mut found = vec![(dir.to_owned(), fs::metadata(dir).unwrap().mode() & 0o777)];
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(modes(&path));
        } else {
            found.push((path.clone(), fs::metadata(&path).unwrap().mode() & 0o777));
        }
    }
    found
}

#[test]
fn a_private_dataset_stays_private() {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("above/d");
    let dataset = Dataset::open_or_create_with(&inside, Access::Private, false).unwrap();
    assert_eq!(dataset.access(), Access::Private);
    let only_ours = || modes(&inside).iter().all(|(path, mode)| *mode == if path.is_dir() { 0o700 } else { 0o600 });
    // Also what is there for a moment only.
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder([1])).unwrap();
    transaction.put_state("memory.json", b"{}").unwrap();
    transaction.update_manifest(|m| _ = m.clusters.insert("lab".to_owned())).unwrap();
    assert!(modes(&inside).iter().any(|(path, _)| path.to_string_lossy().ends_with(".tmp")));
    assert!(only_ours(), "{:?}", modes(&inside));
    transaction.commit().unwrap();
    drop(writer);
    // It need not be given a second time.
    for role in [Role::Raw, Role::Derived] {
        let mut writer = Dataset::open_or_create(&inside).unwrap().writer(role, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([2])).unwrap();
        transaction.commit().unwrap();
    }
    assert!(only_ours(), "{:?}", modes(&inside));

    // An empty directory is shut before anything lies in it; a dataset that is there stays as it is.
    let open = dir.path().join("open");
    fs::create_dir(&open).unwrap();
    assert_eq!(Dataset::open_or_create_with(&open, Access::Private, false).unwrap().access(), Access::Private);
    let shared = dir.path().join("shared");
    let first = Dataset::open_or_create(&shared).unwrap().access();
    assert_eq!(Dataset::open_or_create_with(&shared, Access::Private, false).unwrap().access(), first);
}

/// Takes out of `links` the rows with these numbers; gives what stays.
fn retain(dataset: &Dataset, gone: impl Fn(i64) -> bool) -> (Vec<i64>, Pruned) {
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    let leaf = &dataset.leaves::<Link<'static>>().unwrap()[0];
    let pruned = transaction.retain::<SourceTime<'static>>(leaf, |row| !gone(row.source_ns.unwrap())).unwrap();
    transaction.commit().unwrap();
    (numbers(dataset), pruned)
}

#[test]
fn rows_are_taken_out_wherever_they_lie_and_the_order_stays() {
    // Files of three rows; which of them go, as bits of a number.
    for files in [1usize, 2, 3] {
        for gone in (0..1u32 << (3 * files)).step_by(if files < 3 { 1 } else { 7 }) {
            let dir = tempfile::tempdir().unwrap();
            let dataset = Dataset::open_or_create(dir.path()).unwrap();
            let mut writer = dataset.writer(Role::Raw, "test").unwrap();
            for file in 0..files as i64 {
                let mut transaction = writer.begin().unwrap();
                transaction.append(builder(3 * file..3 * file + 3)).unwrap();
                transaction.commit().unwrap();
            }
            drop(writer);
            let goes = |n: i64| n < 32 && gone & (1 << n) != 0;
            let (stay, pruned) = retain(&dataset, goes);
            let mut expected: Vec<i64> = (0..3 * files as i64).filter(|n| !goes(*n)).collect();
            assert_eq!(stay, expected, "{files} files, {gone:b}");
            assert_eq!((pruned.rows, pruned.kept), (u64::from(gone.count_ones()), expected.len() as u64));
            // A second time there is nothing to do, and files are not written again.
            let before = names(&dir.path().join("links"));
            assert_eq!(retain(&dataset, goes).1.rows, 0);
            assert_eq!(names(&dir.path().join("links")), before);
            // What is written afterwards comes after it.
            let mut writer = dataset.writer(Role::Raw, "test").unwrap();
            let mut transaction = writer.begin().unwrap();
            transaction.append(builder([100])).unwrap();
            transaction.commit().unwrap();
            drop(writer);
            expected.push(100);
            assert_eq!(numbers(&dataset), expected, "{files} files, {gone:b}");
        }
    }
}

fn names(dir: &Path) -> Vec<String> {
    if dir.exists() { files(dir) } else { Vec::new() }
}

#[test]
fn a_transaction_that_takes_out_and_is_dropped_does_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Raw, "test").unwrap();
    let mut transaction = writer.begin().unwrap();
    transaction.append(builder(0..9)).unwrap();
    transaction.commit().unwrap();
    let before = files(&dir.path().join("links"));
    let mut transaction = writer.begin().unwrap();
    let leaf = &dataset.leaves::<Link<'static>>().unwrap()[0];
    let pruned = transaction.retain::<Link<'static>>(leaf, |row| row.source_ns > Some(4)).unwrap();
    assert_eq!((pruned.rows, pruned.kept), (5, 4));
    drop(transaction);
    assert_eq!(numbers(&dataset), (0..9).collect::<Vec<_>>());
    assert_eq!(files(&dir.path().join("links")), before);
    assert!(files(dir.path()).iter().all(|name| !name.ends_with(".tmp")));
}

#[test]
fn a_split_table_keeps_its_hosts_and_days() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let mut writer = dataset.writer(Role::Host("n 1".to_owned()), "test").unwrap();
    let days = [Day::parse("2026-11-20").unwrap(), Day::parse("2026-11-21").unwrap()];
    let mut transaction = writer.begin().unwrap();
    for (number, day) in days.into_iter().enumerate() {
        let mut builder = Builder::<Seen<'static>>::new();
        for n in [0, 1] {
            builder.push(&Seen { host: "n 1".into(), number: 10 * number as i64 + n, ..Default::default() });
        }
        transaction.append_split(builder, "n 1", day).unwrap();
    }
    transaction.commit().unwrap();
    let mut transaction = writer.begin().unwrap();
    for leaf in dataset.leaves::<Seen<'static>>().unwrap() {
        let _ = transaction.retain::<Number<'static>>(&leaf, |row| row.number > 10).unwrap();
    }
    transaction.commit().unwrap();
    let mut seen = Vec::new();
    dataset
        .read::<Seen<'static>, DatasetError>(|row| {
            seen.push((row.host.into_owned(), row.number));
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, [("n 1".to_owned(), 11)]);
}
