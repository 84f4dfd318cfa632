//! The true cases of jobs: a table, or a case notion.

use std::collections::HashMap;
use std::path::Path;

use flowmine_correlate::cases::CaseNotion;

use crate::error::{Context, Result, ensure, refuse};
use crate::{inputs, jobs};

/// The names that the columns of a table can have.
const CASE: [&str; 2] = ["case", "run"];
const JOB: [&str; 2] = ["job", "job_id"];
const CLUSTER: &str = "cluster";
/// Maximum size of a table, in bytes.
const LARGEST: u64 = 256 << 20;

/// The true cases.
#[derive(Debug)]
pub enum Truth {
    /// Those of a notion.
    Notion(&'static dyn CaseNotion),
    /// Those of a table.
    Table(Table),
}

/// Jobs and their true cases.
#[derive(Debug, Default)]
pub struct Table(HashMap<(Option<String>, String), String>);

impl Truth {
    /// The case notion of this name, or the table in this file.
    ///
    /// # Errors
    /// When it is neither.
    pub fn read(name: &str) -> Result<Self> {
        if let Ok(notion) = jobs::notion(name) {
            return Ok(Self::Notion(notion));
        }
        Ok(Self::Table(Table::read_as(name, &CASE, "no case notion, and as a file")?))
    }
}

impl Table {
    /// Reads the table in this file, with one of these names over the column of the truth.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(name: &str, truth: &[&str]) -> Result<Self> {
        Self::read_as(name, truth, "as a file")
    }

    fn read_as(name: &str, truth: &[&str], what: &str) -> Result<Self> {
        let path = Path::new(name);
        let text = inputs::text(path, LARGEST).with_context(|| format!("{name}: {what}"))?;
        Self::parse(name, &text, truth)
    }

    /// Reads lines of columns with commas or tabs between, and with the names of the columns in the
    /// first one.
    fn parse(name: &str, text: &str, truth: &[&str]) -> Result<Self> {
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        let divider = if header.contains('\t') { '\t' } else { ',' };
        let columns: Vec<&str> = header.split(divider).map(str::trim).collect();
        let find = |names: &[&str]| columns.iter().position(|column| names.contains(column));
        let (Some(job), Some(case)) = (find(&JOB), find(truth)) else {
            let (job, truth, first) = (JOB.join(" or "), truth.join(" or "), truth.first().copied().unwrap_or_default());
            refuse!("{name}:1: there is no column {job} or none {truth}: write a first line such as job,{first}");
        };
        let cluster = find(&[CLUSTER]);
        let mut known = HashMap::new();
        for (number, line) in (2..).zip(lines).filter(|(_, line)| !line.trim().is_empty()) {
            let fields: Vec<&str> = line.split(divider).map(str::trim).collect();
            ensure!(fields.len() == columns.len(), "{name}:{number}: {} columns, and {} in the first line", fields.len(), columns.len());
            let key = (cluster.map(|at| fields[at].to_owned()), fields[job].to_owned());
            let before = known.insert(key, fields[case].to_owned());
            ensure!(before.is_none_or(|before| before == fields[case]), "{name}:{number}: job {} is in two {}s", fields[job], truth[0]);
        }
        Ok(Self(known))
    }

    /// The case of a job by one of its names.
    pub fn case_of(&self, cluster: &str, names: &[&str]) -> Option<&str> {
        let find = |cluster: Option<&str>, name: &str| self.0.get(&(cluster.map(str::to_owned), name.to_owned()));
        names.iter().find_map(|name| find(Some(cluster), name).or_else(|| find(None, name))).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::{CASE, Table};

    #[test]
    fn tables_of_true_cases() {
        let table = Table::parse("t", "run\tjob_id\tx\na\t7\t1\nb\t8\t2\n\n", &CASE).unwrap();
        assert_eq!(
            (table.case_of("lab", &["7"]), table.case_of("lab", &["8_*", "8"]), table.case_of("lab", &["9"])),
            (Some("a"), Some("b"), None)
        );
        let table = Table::parse("t", "cluster,job,case\nlab,7,a\nother,7,b\n", &CASE).unwrap();
        assert_eq!((table.case_of("other", &["7"]), table.case_of("third", &["7"])), (Some("b"), None));
        for (text, want) in [
            ("", "t:1: there is no column job or job_id or none case or run: write a first line such as job,case"),
            ("job,case\n7,a,b\n", "t:2: 3 columns, and 2 in the first line"),
            ("job,case\n7,a\n7,b\n", "t:3: job 7 is in two cases"),
        ] {
            assert_eq!(Table::parse("t", text, &CASE).unwrap_err().to_string(), want);
        }
    }
}
