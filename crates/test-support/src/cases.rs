//! Cases as files: an input, and a file with what is expected of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::diff::line_diff;

/// What the name of an expected file ends with, after the name of its input.
const EXPECTED: &str = ".rows";

/// A directory of inputs and one with their expected rows.
///
/// Each file of the first is a case. The second contains a file `INPUT.rows` for each and nothing
/// else. With `FLOWMINE_UPDATE=1` it is written.
pub struct Cases {
    inputs: PathBuf,
    expected: PathBuf,
    is_updated: bool,
}

impl Cases {
    /// The cases of these two directories.
    pub fn new(inputs: impl Into<PathBuf>, expected: impl Into<PathBuf>) -> Self {
        let is_updated = std::env::var_os("FLOWMINE_UPDATE").is_some();
        Self { inputs: inputs.into(), expected: expected.into(), is_updated }
    }

    /// Compares what `rows` returns for each input that `is_case` accepts by its name.
    ///
    /// # Panics
    /// If a case differs, an expected file has no input, or there is no case.
    pub fn check(&self, is_case: impl Fn(&str) -> bool, rows: impl Fn(&Path) -> String) {
        let inputs: BTreeSet<String> = names(&self.inputs).into_iter().filter(|name| is_case(name)).collect();
        assert!(!inputs.is_empty(), "{}: no case", self.inputs.display());
        let mut wrong = Vec::new();
        for name in &inputs {
            let expected = self.expected.join(format!("{name}{EXPECTED}"));
            let found = rows(&self.inputs.join(name));
            if self.is_updated {
                fs::create_dir_all(&self.expected).unwrap();
                fs::write(&expected, found).unwrap();
                continue;
            }
            let diff = line_diff(&fs::read_to_string(&expected).unwrap_or_default(), &found);
            if !diff.is_empty() {
                wrong.push(format!("{} (+ is found)\n{diff}", expected.display()));
            }
        }
        for name in names(&self.expected) {
            if name.strip_suffix(EXPECTED).is_some_and(|input| inputs.contains(input)) {
                continue;
            }
            if self.is_updated {
                fs::remove_file(self.expected.join(&name)).unwrap();
            } else {
                wrong.push(format!("{}: no input of this name\n", self.expected.join(name).display()));
            }
        }
        assert!(wrong.is_empty(), "\n{}FLOWMINE_UPDATE=1 writes what is found", wrong.join("\n"));
    }
}

/// The names of the files of a directory; none if it is missing.
fn names(dir: &Path) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(dir) else { return BTreeSet::new() };
    let files = entries.map(|entry| entry.unwrap()).filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

/// Compares two texts.
///
/// # Panics
/// If they differ, with the lines.
pub fn assert_text(what: &str, expected: &str, found: &str) {
    let diff = line_diff(expected, found);
    assert!(diff.is_empty(), "{what} (+ is found)\n{diff}");
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn cases(dir: &Path, is_updated: bool) -> Cases {
        Cases { inputs: dir.join("in"), expected: dir.join("out"), is_updated }
    }

    fn fault(cases: &Cases, rows: fn(&Path) -> String) -> Option<String> {
        let checked = catch_unwind(AssertUnwindSafe(|| cases.check(|name| name.ends_with(".txt"), rows)));
        checked.err().map(|panic| panic.downcast_ref::<String>().cloned().unwrap())
    }

    #[test]
    fn a_case_fails_that_differs_that_is_new_and_that_lost_its_input() {
        let upper = |path: &Path| fs::read_to_string(path).unwrap().to_uppercase();
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("in")).unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        let (asked, updated) = (cases(dir.path(), false), cases(dir.path(), true));
        assert!(fault(&asked, upper).unwrap().contains("no case"));
        put("in/a.txt", "a\n");
        put("in/b.md", "not a case");
        assert!(fault(&asked, upper).unwrap().contains("out/a.txt.rows (+ is found)\n+A\n"));
        assert_eq!(fault(&updated, upper), None);
        assert_eq!(fault(&asked, upper), None);
        put("in/a.txt", "b\n");
        assert!(fault(&asked, upper).unwrap().contains("-A\n+B\n"));
        put("in/a.txt", "a\n");
        put("out/gone.txt.rows", "");
        assert!(fault(&asked, upper).unwrap().contains("out/gone.txt.rows: no input of this name"));
        assert_eq!(fault(&updated, upper), None);
        assert!(!dir.path().join("out/gone.txt.rows").exists());
    }
}
