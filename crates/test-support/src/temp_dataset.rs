//! Datasets for the time of a test.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::Path;

use flowmine_dataset::{Builder, Dataset, Role};
use flowmine_schema::row::Row;
use flowmine_schema::time::{Day, SECOND_NS};
use tempfile::TempDir;

/// A dataset in a temporary directory, which is removed with it.
pub struct TempDataset {
    dir: TempDir,
    dataset: Dataset,
}

impl TempDataset {
    /// Makes an empty dataset.
    #[allow(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(&dir.path().join("dataset")).unwrap();
        Self { dir, dataset }
    }

    /// The directory of the dataset.
    pub fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("dataset")
    }

    /// The directory around it, for other files of the test.
    pub fn around(&self) -> &Path {
        self.dir.path()
    }

    /// Appends raw rows of a table that has no hosts, as one file.
    pub fn append<R: Row>(&self, rows: &[R::Of<'static>]) {
        let mut writer = self.dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(built::<R>(rows)).unwrap();
        transaction.commit().unwrap();
    }

    /// Replaces the derived rows of a table.
    pub fn derive<R: Row>(&self, rows: &[R::Of<'static>]) {
        let mut writer = self.dataset.writer(Role::Derived, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.replace(built::<R>(rows)).unwrap();
        transaction.commit().unwrap();
    }
}

impl Deref for TempDataset {
    type Target = Dataset;

    fn deref(&self) -> &Dataset {
        &self.dataset
    }
}

/// Returns rows as columns.
pub fn built<R: Row>(rows: &[R::Of<'static>]) -> Builder<R> {
    let mut builder = Builder::new();
    rows.iter().for_each(|row| builder.push(row));
    builder
}

/// Writes rows as a tracer does: those of a host and a day in one folder, in their order. `place`
/// returns the host and the time of a row.
pub fn write_by_host<R: Row<Of<'static> = R>>(dataset: &Dataset, rows: &[R], place: impl Fn(&R) -> (String, i64)) {
    let mut folders: BTreeMap<(String, i64), Builder<R>> = BTreeMap::new();
    for row in rows {
        let (host, ns) = place(row);
        folders.entry((host, ns / (86_400 * SECOND_NS))).or_default().push(row);
    }
    for ((host, day), rows) in folders {
        let mut writer = dataset.writer(Role::Host(host.clone()), "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append_split(rows, &host, Day::new(day * 86_400 * SECOND_NS)).unwrap();
        transaction.commit().unwrap();
    }
}
