//! What a script gives its commands without a file: here-documents, here-strings, and descriptors.
//!
//! Where counts of calls do not suffice (a program may need fewer reads to start), the text of the
//! script is read: bash has no here-document without `<<`.

use std::io::Read as _;
use std::path::Path;

use flowmine_activity_log::RunGraph;

use super::{Script, Traced};

/// Maximum number of bytes read of a script.
const LONGEST_SCRIPT: u64 = 1 << 20;

/// Parts of a word by which a command names a descriptor that it was given.
const DESCRIPTORS: [&str; 3] = ["/dev/fd/", "/proc/self/fd/", "/dev/stdin"];

impl Script {
    /// Returns whether the script's shell writes here-documents itself, so that its own counts show
    /// them.
    pub(super) fn shell_is_dash(&self) -> bool {
        self.program() == Some("dash")
    }

    /// A here-document that the text of the script may have.
    pub(super) fn find_here_documents(&self, run: &mut RunGraph) {
        let Some(shell) = self.shell.and_then(|shell| self.processes.get(&shell)).filter(|_| !self.shell_is_dash()) else { return };
        if text(shell).is_some_and(|text| text.contains("<<")) {
            run.doubts.push("the script has a \"<<\": its here-documents and here-strings are not in the workflow".to_owned());
        }
    }

    /// Commands that name a descriptor which the script opened.
    pub(super) fn find_descriptors(&self, run: &mut RunGraph) {
        for task in run.tasks.iter_mut().filter(|task| task.process.is_some()) {
            let command = task.command.as_deref().unwrap_or_default();
            if let Some(name) = DESCRIPTORS.into_iter().find(|name| command.contains(name)) {
                task.missing.push(format!("a file that it was given open, by its name {name}"));
            }
        }
    }
}

/// What the shell executed: the word after `-c`, or the script that is its first word.
fn text(shell: &Traced) -> Option<String> {
    let mut words = shell.words.iter().skip(1);
    let options: Vec<&String> = words.clone().take_while(|word| word.starts_with(['-', '+'])).collect();
    let word = words.nth(options.len())?;
    if options.iter().any(|option| !option.starts_with("--") && option.contains('c')) {
        return Some(word.clone());
    }
    let file = flowmine_files::open_plain(&Path::new(shell.work_dir.as_deref().unwrap_or(".")).join(word)).ok()?;
    let mut bytes = Vec::new();
    file.take(LONGEST_SCRIPT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
