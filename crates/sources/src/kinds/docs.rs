//! The table of kinds in the documentation.

use super::KINDS;
use crate::Reading;

/// The kinds as a table in Markdown.
pub fn markdown() -> String {
    let mut text = "| source | what is recognised | where it goes |\n|---|---|---|\n".to_owned();
    for kind in KINDS {
        let goes = match kind.reading {
            Reading::Dataset => "it is read as it is".to_owned(),
            Reading::Log => "it is read as a log; several are one log".to_owned(),
            Reading::NotRead => "an error says what to do".to_owned(),
            Reading::Slurm | Reading::IoCsv | Reading::Tasks(_) => format!("a temporary dataset, as by `flowmine import {}`", kind.name),
        };
        text.push_str(&format!("| {} | {} | {goes} |\n", kind.title, kind.reads));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    const BEGIN: &str = "<!-- kinds: begin, generated -->\n";
    const END: &str = "<!-- kinds: end -->\n";

    #[test]
    fn docs_sources_md_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sources.md");
        let then = fs::read_to_string(&path).unwrap();
        let (before, rest) = then.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        let now = format!("{before}{BEGIN}{}{END}{after}", markdown());
        if std::env::var_os("FLOWMINE_UPDATE").is_some() {
            fs::write(&path, &now).unwrap();
            return;
        }
        assert!(then == now, "docs/sources.md is stale: run FLOWMINE_UPDATE=1 cargo test --workspace --lib docs_");
    }
}
