//! Taking rows out, interrupted at any step, against lists of numbers: what flowmine's readers see,
//! and what others see who read the files as they lie there.

use std::fs::File;
use std::os::unix::fs::{PermissionsExt, chown};

use proptest::prelude::*;

use super::*;
use crate::projection::Projection;
use crate::rows::Rows;
use crate::table_file::TableFile;

/// Another user, who needs no account.
const OTHER: u32 = 4711;

#[derive(Debug, Clone)]
enum Interruption {
    None,
    /// Killed before the commit.
    Before,
    /// Killed after the commit and this number of renames.
    After(usize),
    /// These files can neither be renamed nor removed, until an administrator has intervened.
    Refused(Vec<bool>),
}

fn interruptions() -> impl Strategy<Value = Interruption> {
    prop_oneof![
        Just(Interruption::None),
        Just(Interruption::Before),
        (0..12usize).prop_map(Interruption::After),
        proptest::collection::vec(any::<bool>(), 8).prop_map(Interruption::Refused),
    ]
}

/// The numbers in all files of a table, as seen by a program that ignores lists and the range in a
/// file's name.
fn as_they_lie_there(dir: &Path) -> Vec<i64> {
    let mut numbers = Vec::new();
    for name in files(&dir.join("links")).iter().filter(|name| !name.starts_with('.')) {
        let file = TableFile::open(File::open(dir.join("links").join(name)).unwrap()).unwrap();
        let rows = Rows::<SourceTime<'static>>::of(file.read_whole(None, Projection::new::<SourceTime<'static>>()).unwrap()).unwrap();
        numbers.extend(rows.iter().map(|row| row.source_ns.unwrap()));
    }
    numbers
}

/// Lets the directory's owner add and rename files of his own in a folder, but not those of root.
fn refuse(folder: &Path, refused: &[bool]) {
    chown(folder, Some(0), Some(0)).unwrap();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o1777)).unwrap();
    for (name, _) in files(folder).iter().zip(refused).filter(|(_, refused)| **refused) {
        chown(folder.join(name), Some(0), Some(0)).unwrap();
    }
}

/// Does the first renames of a list, as a writer that is killed then.
fn begin(dir: &Path, commit: &crate::commit::Commit, steps: usize) {
    std::fs::write(dir.join(".raw.commit.json"), serde_json::to_vec(commit).unwrap()).unwrap();
    let moves = commit.moves.iter().map(|(from, to)| (from.clone(), to.clone()));
    let aside = commit.deletes.iter().enumerate().map(|(number, path)| (path.clone(), format!(".raw-replaced-{number}.tmp")));
    for (from, to) in moves.chain(aside).take(steps) {
        std::fs::rename(dir.join(from), dir.join(to)).unwrap();
    }
}

proptest! {
    #[test]
    fn rows_are_there_once_whatever_happens(
        sizes in proptest::collection::vec(1..4usize, 1..8),
        stays in proptest::collection::vec(any::<bool>(), 32),
        interruption in interruptions(),
    ) {
        let is_refused = matches!(interruption, Interruption::Refused(_));
        // Only root can be refused as another user.
        prop_assume!(!is_refused || flowmine_files::is_root());
        let temporary = tempfile::tempdir().unwrap();
        let dir = temporary.path().join("dataset");
        std::fs::create_dir(&dir).unwrap();
        if is_refused {
            chown(&dir, Some(OTHER), Some(OTHER)).unwrap();
        }
        std::fs::set_permissions(temporary.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let dataset = Dataset::open_or_create_with(&dir, Access::Umask, is_refused).unwrap();
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut before = Vec::new();
        for size in sizes {
            let first = before.len() as i64;
            let rows: Vec<i64> = (first..first + size as i64).collect();
            let mut transaction = writer.begin().unwrap();
            transaction.append(builder(rows.iter().copied())).unwrap();
            transaction.commit().unwrap();
            before.extend(rows);
        }
        let mut after: Vec<i64> = before.iter().copied().filter(|n| stays[*n as usize]).collect();
        if let Interruption::Refused(refused) = &interruption {
            refuse(&dir.join("links"), refused);
        }

        let leaf = &dataset.leaves::<Link<'static>>().unwrap()[0];
        let mut transaction = writer.begin().unwrap();
        let _ = transaction.retain::<SourceTime<'static>>(leaf, |row| stays[row.source_ns.unwrap() as usize]).unwrap();
        match &interruption {
            Interruption::None => transaction.commit().unwrap(),
            Interruption::Before => {
                transaction.done = true;
                drop(transaction);
                after.clone_from(&before);
            }
            Interruption::After(steps) => {
                if !transaction.commit.is_empty() {
                    begin(&dir, &transaction.commit, *steps);
                }
                transaction.done = true;
                drop(transaction);
            }
            Interruption::Refused(_) => match transaction.commit() {
                Ok(()) => prop_assert_eq!(&as_they_lie_there(&dir), &after),
                Err(_) => prop_assert_eq!(&as_they_lie_there(&dir), &before),
            },
        }
        prop_assert_eq!(&numbers(&dataset), &after);
        drop(writer);
        prop_assert_eq!(&numbers(&dataset), &after);

        for name in files(&dir.join("links")).iter().filter(|_| is_refused) {
            chown(dir.join("links").join(name), Some(OTHER), Some(OTHER)).unwrap();
        }
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        prop_assert_eq!(&numbers(&dataset), &after);
        prop_assert_eq!(&as_they_lie_there(&dir), &after);
        let hidden: Vec<_> = files(&dir).into_iter().filter(|name| name.ends_with(".tmp") || name.ends_with(".commit.json")).collect();
        prop_assert!(hidden.is_empty(), "{:?}", hidden);
        let mut transaction = writer.begin().unwrap();
        transaction.append(builder([1000])).unwrap();
        transaction.commit().unwrap();
        after.push(1000);
        prop_assert_eq!(&numbers(&dataset), &after);
    }
}
