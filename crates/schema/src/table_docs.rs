//! `docs/tables.md` from the table declarations.

use std::fmt::Write;

use crate::tables::ALL;

/// The whole page as Markdown.
pub fn markdown() -> String {
    let mut out = String::from(
        "# The tables of a dataset\n\n\
         Generated from `crates/schema/src/tables/` by `cargo test --release -p flowmine-schema`, which fails when this page is stale\n\
         (`FLOWMINE_UPDATE=1` writes it anew).\n\n\
         A dataset is a directory: `flowmine.json` and one folder of Parquet files a table. Times are UTC nanoseconds since 1970,\n\
         sizes are bytes, a name carries its unit, and null means unknown. Bytes that were not UTF-8 are written `\\xNN` (and the\n\
         backslash of a literal `\\x` as `\\x5c`, so that it can be undone).\n\n\
         What `--pseudonymise` makes of a column stands beside it; without a word it stays. Columns that `--drop` can leave out say so:\n\
         those of `job_states`, and what logs tell under these names of tasks, processes and files.\n",
    );
    for table in ALL {
        let _ = write!(out, "\n## `{}`\n\n{}\n", table.name, paragraphs(table.doc));
        if table.split {
            let _ = writeln!(
                out,
                "\nIts files lie in `{}/host=NAME/date=YYYY-MM-DD/`; the column `host` stands in the folder's name only, as Hive's readers want it.",
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
