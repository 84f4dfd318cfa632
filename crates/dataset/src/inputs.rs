//! The files that a derivation reads, by name and content, so that a partial result can be checked
//! against a dataset without reading rows.
//!
//! The digest of a file covers its footer, which has a checksum of each column chunk
//! (`parquet_checks.rs`). So it identifies all bytes, and reading it costs the footer alone. Files
//! without checksums are digested as a whole.

use flowmine_schema::row::Row;
use flowmine_schema::tables;
use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::error::{DatasetError, parquet_error};
use crate::part::Part;
use crate::place::Leaf;
use crate::role::DERIVED;

/// A file of raw rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its path relative to the dataset.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256 of its footer with the checksums of all columns, in hexadecimal.
    pub sha256: String,
}

impl Dataset {
    /// The files with raw rows of one host, in the order of tables and of reading.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged.
    pub fn inputs_of_host(&self, host: &str) -> Result<Vec<Input>, DatasetError> {
        let mut inputs = Vec::new();
        for table in tables::ALL.iter().filter(|table| table.split) {
            for leaf in self.leaves_of_host(table.name, host)? {
                self.add_inputs(&leaf, &mut inputs)?;
            }
        }
        Ok(inputs)
    }

    /// The files with raw rows of a table that is not split by host.
    ///
    /// # Errors
    /// When a file cannot be read or is damaged.
    pub fn inputs_of<R: Row>(&self) -> Result<Vec<Input>, DatasetError> {
        const { assert!(!R::SPLIT, "this table is split by host: use inputs_of_host") };
        let mut inputs = Vec::new();
        self.add_inputs(&Leaf::whole(R::TABLE), &mut inputs)?;
        Ok(inputs)
    }

    fn add_inputs(&self, leaf: &Leaf, inputs: &mut Vec<Input>) -> Result<(), DatasetError> {
        for part in self.parts_of_any_version(leaf)?.iter().filter(|part| part.name.owner.as_deref() != Some(DERIVED)) {
            inputs.push(part.input()?);
        }
        Ok(())
    }
}

impl Part {
    fn input(&self) -> Result<Input, DatasetError> {
        let sha256 = self.open()?.digest().map_err(parquet_error(&self.path))?;
        Ok(Input { path: self.leaf.path_of(&self.name), bytes: self.bytes, sha256 })
    }
}

#[cfg(test)]
mod tests {
    use flowmine_schema::tables::{Host, JobState};
    use flowmine_schema::time::Day;

    use super::*;
    use crate::{Builder, Role};

    fn with_jobs(dir: &std::path::Path, jobs: &[i64]) -> Dataset {
        let dataset = Dataset::open_or_create(dir).unwrap();
        let mut rows = Builder::<JobState<'static>>::new();
        rows.extend(jobs.iter().map(|job_id| JobState { cluster: "lab".into(), job_id: *job_id, ..JobState::default() }));
        let mut writer = dataset.writer(Role::Raw, "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append(rows).unwrap();
        transaction.commit().unwrap();
        dataset
    }

    #[test]
    fn the_same_rows_have_the_same_digest_and_others_another() {
        let dir = tempfile::tempdir().unwrap();
        let inputs = |name: &str, jobs: &[i64]| with_jobs(&dir.path().join(name), jobs).inputs_of::<JobState<'static>>().unwrap();
        let one = inputs("a", &[1, 2]);
        assert_eq!(one.len(), 1);
        assert_eq!((one[0].path.as_str(), one[0].sha256.len()), ("job_states/part-0000000001-0000000001.parquet", 64));
        assert_eq!(one, inputs("b", &[1, 2]));
        // Of the same size: only the checksum of a column differs.
        let other = inputs("c", &[1, 3]);
        assert_eq!(one[0].bytes, other[0].bytes);
        assert_ne!(one[0].sha256, other[0].sha256);
    }

    #[test]
    fn the_inputs_of_a_host_are_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        for host in ["n1", "n 2"] {
            let mut rows = Builder::<Host<'static>>::new();
            rows.push(&Host { host: host.into(), ..Host::default() });
            let mut writer = dataset.writer(Role::Host(host.to_owned()), "test").unwrap();
            let mut transaction = writer.begin().unwrap();
            transaction.append_split(rows, host, Day::new(0)).unwrap();
            transaction.commit().unwrap();
        }
        let paths: Vec<String> = dataset.inputs_of_host("n 2").unwrap().into_iter().map(|input| input.path).collect();
        assert_eq!(paths, ["hosts/host=n%202/date=1970-01-01/part-0000000001-0000000001@n%202.parquet"]);
        assert!(dataset.inputs_of_host("n3").unwrap().is_empty());
    }
}
