//! Parts of Nextflow's names: process and tag, work directory and hash.

/// Splits a task's name into process (with the path of sub-workflows) and tag: `S:SOFIA (a (b))` is
/// `S:SOFIA` and `a (b)`. A name without parentheses has no tag.
pub fn process_and_tag(name: &str) -> (&str, Option<&str>) {
    match name.split_once(" (").and_then(|(process, rest)| Some((process, rest.strip_suffix(')')?))) {
        Some((process, tag)) => (process, Some(tag)),
        None => (name, None),
    }
}

/// Maximum number of tasks of a run that are indexed under one displayed hash. Each line with the
/// hash is compared with all of them, which takes minutes for tens of thousands. Two tasks hardly
/// ever share the eight digits of a hash, let alone a hundred.
pub const MOST_OF_A_HASH: usize = 100;

/// Length of a hash as Nextflow displays it.
const SHOWN: usize = "19/2c6526".len();

/// Returns the hash at the end of the path of a work directory: for
/// `…/19/2c6526a42e35b104d009c7369098f1` everything from `19`.
pub fn hash_of_dir(work_dir: &str) -> Option<&str> {
    let path = work_dir.trim_end_matches('/');
    let (above, rest) = path.rsplit_once('/')?;
    let first = above.rsplit('/').next()?;
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase());
    let is_one = first.len() == 2 && rest.len() >= 6 && hex(first) && hex(rest);
    is_one.then(|| &path[above.len() - first.len()..])
}

/// Returns a hash as Nextflow displays it: `19/2c6526`. Two tasks can share this part.
pub fn shown(hash: &str) -> &str {
    hash.get(..SHOWN).unwrap_or(hash)
}

/// Whether two hashes can be the same, as far as they are known.
pub fn can_be_same(a: &str, b: &str) -> bool {
    a.starts_with(b) || b.starts_with(a)
}

/// Whether two hashes are known beyond the displayed part, and are the same: then the task is the
/// same, whatever else differs.
pub fn surely_same(a: &str, b: &str) -> bool {
    a.len().min(b.len()) > SHOWN && can_be_same(a, b)
}

/// Whether two names can belong to the same task. An error logged before the task had a name
/// contains the process alone.
pub fn names_agree(a: &str, b: &str) -> bool {
    let is_process = |short: &str, long: &str| process_and_tag(long).0 == short;
    a == b || is_process(a, b) || is_process(b, a)
}

/// Whether two names belong to the same process and have a bare number as tag, which Nextflow gives
/// to tasks without tag and counts anew in each run: `p (1)`, `p (2)`.
pub fn differ_by_number(a: &str, b: &str) -> bool {
    let number = |tag: Option<&str>| tag.is_none_or(|tag| !tag.is_empty() && tag.bytes().all(|b| b.is_ascii_digit()));
    let ((a, a_tag), (b, b_tag)) = (process_and_tag(a), process_and_tag(b));
    a == b && number(a_tag) && number(b_tag)
}

/// Splits off a hash at the beginning of a message such as `[19/2c6526] Submitted process > …`.
pub fn leading_key(message: &str) -> Option<(&str, &str)> {
    let (key, rest) = message.strip_prefix('[')?.split_once("] ")?;
    (key.len() == SHOWN && is_hash(key)).then_some((key, rest))
}

/// Whether the text is a hash or the beginning of one, and nothing else.
pub fn is_hash(text: &str) -> bool {
    hash_of_dir(text) == Some(text)
}

/// Length of a whole hash.
const WHOLE: usize = "19/2c6526a42e35b104d009c7369098f1".len();

/// Returns the whole hash at the end of a work directory's path.
pub fn whole_hash(dir: &str) -> Option<&str> {
    hash_of_dir(dir).filter(|hash| hash.len() == WHOLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, process, tag) in [
            ("A:B:C (x)", "A:B:C", Some("x")),
            ("C", "C", None),
            ("C (a (b), [c])", "C", Some("a (b), [c]")),
            ("C (", "C (", None),
            ("C ()", "C", Some("")),
        ] {
            assert_eq!(process_and_tag(name), (process, tag));
        }
    }

    #[test]
    fn hashes() {
        let whole = "19/2c6526a42e35b104d009c7369098f1";
        assert_eq!(hash_of_dir(&format!("s3://b/w/{whole}/")), Some(whole));
        assert_eq!(shown(whole), "19/2c6526");
        assert_eq!(
            (whole_hash(&format!("../../{whole}")), whole_hash("/w/19/2c6526"), whole_hash(&format!("/w/{whole}0"))),
            (Some(whole), None, None)
        );
        assert!(is_hash(whole) && is_hash("19/2c6526") && !is_hash("d41d8cd98f00b204e9800998ecf8427e") && !is_hash("/19/2c6526"));
        for none in ["/w/19", "/w/1x/2c6526a", "/w/19/2c65", "", "é/2c6526a", "2c6526"] {
            assert_eq!(hash_of_dir(none), None, "{none}");
        }
        assert_eq!(leading_key("[19/2c6526] Cached process > p"), Some(("19/2c6526", "Cached process > p")));
        assert_eq!(leading_key("[SLURM] submitted"), None);
        assert!(can_be_same(whole, "19/2c6526") && !surely_same(whole, "19/2c6526") && surely_same(whole, whole));
        assert!(!can_be_same(whole, "19/2c6526ff") && !can_be_same("19/2c6526", "19/2c6527"));
    }

    #[test]
    fn agreeing_names() {
        assert!(names_agree("A:B (x)", "A:B (x)") && names_agree("A:B (x)", "A:B") && names_agree("A:B", "A:B (x)"));
        assert!(!names_agree("A:B (x)", "A:B (y)") && !names_agree("A:B", "A:C (y)"));
        assert!(differ_by_number("A:B (1)", "A:B (12)") && differ_by_number("A:B", "A:B (1)"));
        assert!(
            !differ_by_number("A:B (1)", "A:B (s2)") && !differ_by_number("A:B (1)", "A:C (1)") && !differ_by_number("A:B ()", "A:B (1)")
        );
    }
}
