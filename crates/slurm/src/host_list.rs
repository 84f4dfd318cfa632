//! Slurm host lists: `n[1-4,07],m01` in, node names out.
//!
//! A list is names divided by commas; a name can hold brackets with numbers and ranges, several of
//! them (`r[1-2]n[01-16]`). The width of a range's first number is kept (`n[08-10]` is n08, n09,
//! n10). What is refused: brackets that do not close or hold something else, ranges that run
//! backwards, and more names than the caller allows.

/// Why a list was not expanded.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HostListError {
    /// The text is not a host list as Slurm writes them; why not.
    #[error("not a Slurm host list: {0}")]
    Malformed(&'static str),
    /// The list has more names than the caller allows, which is the number.
    #[error("more than {0} nodes in one host list")]
    TooMany(usize),
}

/// The names in a list, in the order of the list, at most `limit`.
///
/// # Errors
/// When it is malformed or longer than `limit`.
pub fn expand(list: &str, limit: usize) -> Result<Vec<String>, HostListError> {
    let mut names = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    for (at, c) in list.char_indices() {
        match c {
            '[' if depth == 1 => return Err(HostListError::Malformed("a bracket inside brackets")),
            '[' => depth += 1,
            ']' if depth == 0 => return Err(HostListError::Malformed("a bracket closes that was not opened")),
            ']' => depth -= 1,
            ',' if depth == 0 => {
                one(&list[start..at], limit, &mut names)?;
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(HostListError::Malformed("a bracket is not closed"));
    }
    one(&list[start..], limit, &mut names)?;
    Ok(names)
}

fn one(name: &str, limit: usize, names: &mut Vec<String>) -> Result<(), HostListError> {
    if name.is_empty() {
        return Err(HostListError::Malformed("an empty name"));
    }
    let room = limit.saturating_sub(names.len());
    let mut prefixes = vec![String::new()];
    let mut rest = name;
    while let Some((before, inside)) = rest.split_once('[') {
        let (ranges, after) = inside.split_once(']').ok_or(HostListError::Malformed("a bracket is not closed"))?;
        let numbers = numbers(ranges, room)?;
        if numbers.len().saturating_mul(prefixes.len()) > room {
            return Err(HostListError::TooMany(limit));
        }
        prefixes = prefixes.iter().flat_map(|prefix| numbers.iter().map(move |n| format!("{prefix}{before}{n}"))).collect();
        rest = after;
    }
    if prefixes.len() > room {
        return Err(HostListError::TooMany(limit));
    }
    names.extend(prefixes.into_iter().map(|prefix| prefix + rest));
    Ok(())
}

fn numbers(ranges: &str, limit: usize) -> Result<Vec<String>, HostListError> {
    let number = |text: &str| -> Result<u64, HostListError> {
        if text.is_empty() || text.len() > 18 || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(HostListError::Malformed("something else than numbers in brackets"));
        }
        text.parse().map_err(|_| HostListError::Malformed("something else than numbers in brackets"))
    };
    let mut out = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (from, to) = (number(first)?, number(last)?);
        if to < from {
            return Err(HostListError::Malformed("a range that runs backwards"));
        }
        let width = first.len();
        if to - from >= (limit.saturating_sub(out.len())) as u64 {
            return Err(HostListError::TooMany(limit));
        }
        out.extend((from..=to).map(|n| format!("{n:0width$}")));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(list: &str) -> Vec<String> {
        expand(list, 1000).unwrap()
    }

    #[test]
    fn lists_of_slurm() {
        assert_eq!(names("n1"), ["n1"]);
        assert_eq!(names("n[1-3,7],m01"), ["n1", "n2", "n3", "n7", "m01"]);
        assert_eq!(names("n[08-11]"), ["n08", "n09", "n10", "n11"]);
        assert_eq!(names("r[1-2]n[01-02]-ib"), ["r1n01-ib", "r1n02-ib", "r2n01-ib", "r2n02-ib"]);
    }

    #[test]
    fn what_is_refused() {
        for bad in ["", "n[1", "n1]", "n[1-]", "n[a]", "n[3-1]", "n[1[2]]", "a,,b", "n[]", "n[+1]"] {
            assert!(matches!(expand(bad, 10), Err(HostListError::Malformed(_))), "{bad}");
        }
        assert_eq!(expand("n[1-11]", 10), Err(HostListError::TooMany(10)));
        assert_eq!(expand("n[1-999999999999999999]", 10), Err(HostListError::TooMany(10)));
        assert_eq!(expand("n[1-4]m[1-4]", 10), Err(HostListError::TooMany(10)));
        assert_eq!(expand("a,b,c", 2), Err(HostListError::TooMany(2)));
        assert_eq!(expand("a,b,n[1-8]", 10).map(|n| n.len()), Ok(10));
    }

    proptest! {
        #[test]
        fn never_panics_and_keeps_the_limit(list in "[an\\[\\]0-9,\\-ü]{0,30}") {
            if let Ok(names) = expand(&list, 50) {
                prop_assert!(names.len() <= 50);
            }
        }
    }
}
