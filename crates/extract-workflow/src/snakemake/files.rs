//! Parser of the lists of files in Snakemake's logs, and of the flags that it appends to names.
//!
//! `format_files` in Snakemake's `jobs.py` and, since 9.5, `fmt_iofile` in `io/fmt.py` print:
//!
//! | since | appended |
//! |---|---|
//! | 5 | `(dynamic)`, `(pipe)`; `<TBD>` for a file that a checkpoint decides |
//! | 7 | `(service)`, `(cached)` |
//! | 8 | `(retrieve from storage)`, `(send to storage)`, `(update)`, `(before update)` |
//! | 9 | `(nodelocal)`, `(keep remote on storage)` |
//! | 9.5 | `(only provide storage uri)`, `(access: …)`; in reasons `(in storage)`; and two at once, as in `(pipe, send to storage)` |
//!
//! No version appends anything for `shadow`.

/// Placeholder for a file with a name that a checkpoint decides.
const TO_BE_DECIDED: &str = "<TBD>";

/// Flags that are appended to the names of special files.
const SPECIAL: [&str; 8] = ["dynamic", "pipe", "service", "cached", "update", "before update", "nodelocal", "only provide storage uri"];

/// Beginning of the flag on a regular file: how a job accesses it.
const ACCESS: &str = "access: ";

/// A list of files.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Files {
    /// Paths of the files, or addresses of those in a storage.
    pub paths: Vec<String>,
    /// Special files, each with its flag in the log (`pipe`).
    pub special: Vec<(String, String)>,
    /// Whether the list contains files with undecided names.
    pub has_undecided: bool,
}

/// Parses a comma-separated list.
///
/// A name that contains a comma followed by a blank is split there: the log has no escape for it.
pub fn read(list: &str) -> Files {
    let mut files = Files::default();
    let mut parts = list.split(", ").filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        if part == TO_BE_DECIDED {
            files.has_undecided = true;
            continue;
        }
        // `x (pipe` and `send to storage)`.
        let rest = parts.next_if(|next| opens(part) && next.strip_suffix(')').is_some_and(is_known));
        let (path, marks) = marked(part, rest);
        if let Some(kind) = marks.iter().find(|mark| !mark.starts_with(ACCESS)) {
            files.special.push((path.to_owned(), (*kind).to_owned()));
        }
        files.paths.push(path.to_owned());
    }
    files
}

/// Returns the path of one file, without its flags.
pub fn path(file: &str) -> &str {
    marked(file, None).0
}

/// Whether `copy` is the path of the local copy of `address`, a file in a storage. Versions before
/// 8.30 record the copy: `s3://bucket/key` becomes `.snakemake/storage/s3/bucket/key`.
pub fn is_local_copy(copy: &str, address: &str) -> bool {
    let address = address.split_once("://").map_or(address, |(_, rest)| rest).trim_start_matches('/');
    let inside = copy.strip_prefix(".snakemake/storage/").and_then(|rest| rest.split_once('/'));
    !address.is_empty()
        && inside.is_some_and(|(_, rest)| rest.strip_suffix(address).is_some_and(|above| above.is_empty() || above.ends_with('/')))
}

fn is_known(mark: &str) -> bool {
    SPECIAL.contains(&mark) || mark.starts_with(ACCESS) || mark.ends_with(" storage")
}

/// Whether a part of a list ends with the first of two flags: `x (pipe`.
fn opens(part: &str) -> bool {
    part.rsplit_once(" (").is_some_and(|(_, mark)| is_known(mark))
}

/// Splits a part into the path and its flags; `rest` is the second of two flags.
fn marked<'t>(part: &'t str, rest: Option<&'t str>) -> (&'t str, Vec<&'t str>) {
    let Some((path, mark)) = part.rsplit_once(" (") else { return (part, Vec::new()) };
    let marks = match rest {
        Some(rest) => vec![mark, rest.trim_end_matches(')')],
        None => mark.strip_suffix(')').filter(|mark| is_known(mark)).into_iter().collect(),
    };
    if marks.is_empty() { (part, marks) } else { (path, marks) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_is_no_part_of_a_path() {
        let list = "a, b (pipe), c (pipe, send to storage), <TBD>, d (access: sequential), e (1), f (send to storage)";
        let files = read(list);
        assert_eq!(files.paths, ["a", "b", "c", "d", "e (1)", "f"]);
        let special: Vec<(&str, &str)> = files.special.iter().map(|(path, kind)| (path.as_str(), kind.as_str())).collect();
        assert_eq!(special, [("b", "pipe"), ("c", "pipe"), ("f", "send to storage")]);
        assert!(files.has_undecided && !read("a, b").has_undecided);
        assert_eq!((path("s3://b/k (in storage)"), path("x (2)")), ("s3://b/k", "x (2)"));
    }

    #[test]
    fn a_local_copy_has_the_end_of_the_address() {
        assert!(is_local_copy(".snakemake/storage/s3/bucket/key", "s3://bucket/key"));
        assert!(is_local_copy(".snakemake/storage/fs/data/a.txt", "/data/a.txt"));
        assert!(!is_local_copy(".snakemake/storage/fs/data/ba.txt", "a.txt"));
        assert!(!is_local_copy("data/a.txt", "/data/a.txt"));
    }
}
