//! Names of types and attributes in, names of tables and columns out.
//!
//! SQLite's names do not know upper from lower case among ASCII letters, a type's table begins with
//! `event_` or `object_`, where the standard has tables too, and a column can be called like one
//! that the standard has. So:
//!
//! - A type's table is called by the ASCII letters and digits of its name, each word beginning with
//!   a capital, 60 at most, `Type` if there is none (`job submitted` is `event_JobSubmitted`).
//!   Where that is taken, `_2`, `_3`, … follows. The type keeps its name in `event_map_type`.
//! - An attribute's column is called like the attribute: the form has no other place for its name.
//!   Where that is taken, by another attribute in other case or by a column of the standard or of
//!   PM4Py, `_2`, `_3`, … follows; NUL becomes `\x00`.

use rustc_hash::FxHashSet;

/// Columns that the standard gives to the tables of types.
const STANDARD: [&str; 3] = ["ocel_id", "ocel_time", "ocel_changed_field"];

/// Columns that PM4Py has in addition to the attributes; it writes some of them into its files too.
pub const OF_PM4PY: [&str; 8] =
    ["ocel:eid", "ocel:oid", "ocel:activity", "ocel:timestamp", "ocel:type", "ocel:field", "@@index", "@@cumcount"];

/// What follows `event_` or `object_` in the names of the tables, one for each type, in order.
pub fn tables<'a>(types: impl Iterator<Item = &'a str>) -> Vec<String> {
    // The standard has `event_object` and `object_object`; `…_map_type` cannot be made here.
    let mut names = Names::taking(&["object"]);
    types.map(|name| names.free(bare(name))).collect()
}

/// The columns of attributes, one for each, in order.
pub fn columns<'a>(attributes: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names = Names::taking(&[&STANDARD[..], &OF_PM4PY].concat());
    attributes.map(|name| names.free(name.replace('\0', "\\x00"))).collect()
}

/// A name as SQL has it.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn bare(name: &str) -> String {
    let mut out = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out.truncate(60);
    if out.is_empty() { "Type".to_owned() } else { out }
}

struct Names {
    taken: FxHashSet<String>,
    /// The number to try next for a name that was taken; without it a hundred thousand types of one
    /// name would take forever.
    next: rustc_hash::FxHashMap<String, u64>,
}

impl Names {
    fn taking(names: &[&str]) -> Self {
        Self { taken: names.iter().map(|name| name.to_ascii_lowercase()).collect(), next: rustc_hash::FxHashMap::default() }
    }

    fn free(&mut self, wanted: String) -> String {
        let lower = wanted.to_ascii_lowercase();
        if self.taken.insert(lower.clone()) {
            return wanted;
        }
        let next = self.next.entry(lower).or_insert(2);
        loop {
            let name = format!("{wanted}_{next}");
            *next += 1;
            if self.taken.insert(name.to_ascii_lowercase()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_tables_have_one_name() {
        let types =
            ["job submitted", "Job Submitted", "jobsubmitted_2", "object", "map_type", "", "作业", "\"; drop table event; --", "a\nb"];
        let expected = ["JobSubmitted", "JobSubmitted_2", "Jobsubmitted2", "Object_2", "MapType", "Type", "Type_2", "DropTableEvent", "AB"];
        assert_eq!(tables(types.into_iter()), expected);
    }

    #[test]
    fn no_two_columns_have_one_name() {
        let attributes = ["a", "A", "a_2", "ocel_ID", "ocel_changed_field", "ocel:timestamp", "x\0", "", "ä", "Ä"];
        let expected = ["a", "A_2", "a_2_2", "ocel_ID_2", "ocel_changed_field_2", "ocel:timestamp_2", "x\\x00", "", "ä", "Ä"];
        assert_eq!(columns(attributes.into_iter()), expected);
    }
}
