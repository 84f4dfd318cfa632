//! `docs/tables.md` from the table declarations.

use std::fmt::Write;

use crate::tables::ALL;

/// The whole page as Markdown.
pub fn markdown() -> String {
    let mut out = String::from(
        "# The tables of a dataset\n\n\
         This page is generated from `crates/schema/src/tables/`.\n\n\
         A dataset is a directory: `flowmine.json` and one folder of Parquet files for each table.\n\
         Times are UTC nanoseconds since 1970, and sizes are bytes.\n\
         The name of a column contains its unit, and null means unknown.\n\
         Bytes that are not UTF-8 are written as `\\xNN`, and the backslash of a literal `\\x` as `\\x5c`.\n\n\
         - The column \u{201c}with `--pseudonymise`\u{201d} has what pseudonymisation does with the values; an\n  \
         empty cell means that they stay.\n\
         - The column \u{201c}`--drop`\u{201d} marks what can be left out: columns of `job_states`, and attributes\n  \
         of these names of tasks, processes and files in logs.\n",
    );
    for table in ALL {
        let _ = write!(out, "\n## `{}`\n\n{}\n", table.name, paragraphs(table.doc));
        if table.split {
            let _ = writeln!(
                out,
                "\nIts files are in `{}/host=NAME/date=YYYY-MM-DD/`.\nThe column `host` is in the name of the folder only, as readers of Hive partitions expect.",
                table.name
            );
        }
        let _ = write!(out, "\n| column | type | null | meaning | with `--pseudonymise` | `--drop` |\n|---|---|---|---|---|---|\n");
        for column in table.columns {
            let null = if column.nullable { "yes" } else { "no" };
            let doc = column.doc.trim().replace('|', "\\|");
            let (private, drop) = (column.private.becomes(), if column.droppable { "yes" } else { "" });
            let _ = writeln!(out, "| `{}` | {} | {} | {} | {} | {} |", column.name, column.kind.name(), null, doc, private, drop);
        }
    }
    out
}

fn paragraphs(doc: &str) -> String {
    let lines: Vec<&str> = doc.lines().map(str::trim).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn docs_tables_md_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tables.md");
        let now = super::markdown();
        if std::env::var_os("FLOWMINE_UPDATE").is_some() {
            std::fs::write(path, &now).unwrap();
        }
        let then = std::fs::read_to_string(path).unwrap_or_default();
        assert!(then == now, "docs/tables.md is stale: run FLOWMINE_UPDATE=1 cargo test --release -p flowmine-schema");
    }
}
