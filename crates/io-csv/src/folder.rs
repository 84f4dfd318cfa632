//! A host's name as the name of a directory, and back.
//!
//! Everything but ASCII letters, digits, `_`, `-` and `.` is written `%XX`, a point in front too,
//! since scripts pass over hidden directories.

use flowmine_schema::text::percent;

/// The name of a host's directory.
pub fn of_host(host: &str) -> String {
    match host.strip_prefix('.') {
        None if host.is_empty() => "%".to_owned(),
        None => percent::encode(host),
        Some(rest) => format!("%2E{}", percent::encode(rest)),
    }
}

/// The host of a directory: what [`of_host`] was given when it could have made this name, else the
/// name itself.
pub fn host(name: &str) -> String {
    let undone = if name == "%" { Some(String::new()) } else { percent::decode(name) };
    undone.filter(|host| of_host(host) == name).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_lead_nowhere() {
        assert_eq!(of_host("node-1.example_x"), "node-1.example_x");
        assert_eq!((of_host(".."), of_host("../a"), of_host("")), ("%2E.".to_owned(), "%2E.%2Fa".to_owned(), "%".to_owned()));
        assert_eq!((host("50%41"), host("node 1")), ("50%41".to_owned(), "node 1".to_owned()), "not ours");
    }

    proptest! {
        #[test]
        fn a_host_comes_back(name in ".{0,12}|[%.0-9A-F/]{0,9}") {
            let folder = of_host(&name);
            prop_assert!(!folder.contains('/') && !folder.starts_with('.') && !folder.is_empty());
            prop_assert_eq!(host(&folder), name);
        }
    }
}
