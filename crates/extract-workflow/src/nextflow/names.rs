//! What stands in the names that Nextflow gives: process and tag, work directory and hash.

/// Process (with sub-workflow path) and tag of a task's name: `S:SOFIA (a (b))` is `S:SOFIA` and `a (b)`. A name without parentheses has no tag.
pub fn process_and_tag(name: &str) -> (&str, Option<&str>) {
    match name.split_once(" (").and_then(|(process, rest)| Some((process, rest.strip_suffix(')')?))) {
        Some((process, tag)) => (process, Some(tag)),
        None => (name, None),
    }
}

/// `…/19/2c6526a42e35b104d009c7369098f1` as Nextflow shows it: `19/2c6526`.
pub fn cache_key_of_dir(work_dir: &str) -> Option<String> {
    let mut parts = work_dir.trim_end_matches('/').rsplit('/');
    let (rest, first) = (parts.next()?, parts.next()?);
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase());
    (first.len() == 2 && rest.len() >= 6 && hex(first) && hex(rest)).then(|| format!("{first}/{}", &rest[..6]))
}

/// A hash at the beginning of a message, `[19/2c6526] Submitted process > …`, and what follows.
pub fn leading_key(message: &str) -> Option<(&str, &str)> {
    let (key, rest) = message.strip_prefix('[')?.split_once("] ")?;
    (key.len() == 9 && cache_key_of_dir(key).is_some()).then_some((key, rest))
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
    fn keys() {
        assert_eq!(cache_key_of_dir("s3://b/w/19/2c6526a42e35b104d009c7369098f1/").as_deref(), Some("19/2c6526"));
        for none in ["/w/19", "/w/1x/2c6526a", "/w/19/2c65", "", "é/2c6526a"] {
            assert_eq!(cache_key_of_dir(none), None, "{none}");
        }
        assert_eq!(leading_key("[19/2c6526] Cached process > p"), Some(("19/2c6526", "Cached process > p")));
        assert_eq!(leading_key("[SLURM] submitted"), None);
    }
}
