//! Wildcard patterns of ssh_config(5), section PATTERNS, as `Host` lines and known_hosts files have
//! them.
//!
//! The input is a pattern and a name; the output is whether they match. `*` matches any number of
//! characters, `?` one, and a list may contain negated patterns: a match of one of them refuses the
//! whole list.

/// Whether `text` as a whole matches `pattern`. Works in place and never recurses, so a hostile
/// pattern of many `*` costs at most the product of both lengths.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where the last `*` stood, and the text position from which it was last tried.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == b'?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, t));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

/// Whether a list matches: at least one pattern does, and no negated (`!`) one.
pub(crate) fn list_matches<'a>(patterns: impl IntoIterator<Item = &'a str>, text: &str) -> bool {
    let mut found = false;
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            Some(negated) if matches(negated.as_bytes(), text.as_bytes()) => return false,
            Some(_) => {}
            None => found |= matches(pattern.as_bytes(), text.as_bytes()),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "anything", true),
            ("?", "", false),
            ("?", "a", true),
            ("*.example.org", "a.b.example.org", true),
            ("*.example.org", "example.org", false),
            ("192.168.0.?", "192.168.0.7", true),
            ("192.168.0.?", "192.168.0.77", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("", "", true),
            ("", "a", false),
            ("[host]:22*", "[host]:2222", true),
            ("**a", "a", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn negation_wins_wherever_it_stands() {
        assert!(list_matches(["*.org", "!bad.org"], "good.org"));
        assert!(!list_matches(["*.org", "!bad.org"], "bad.org"));
        assert!(!list_matches(["!bad.org", "*.org"], "bad.org"));
        assert!(!list_matches(["!bad.org"], "good.org"), "a negated pattern alone matches nothing");
    }

    proptest! {
        #[test]
        fn a_text_matches_itself_and_a_star(text in "[a-z.]{0,40}", other in ".{0,40}") {
            prop_assert!(matches(text.as_bytes(), text.as_bytes()));
            prop_assert!(matches(b"*", other.as_bytes()));
            let _ = matches(other.as_bytes(), text.as_bytes());
        }

        #[test]
        fn a_cut_text_matches_with_a_star_in_the_gap(a in "[a-z]{0,9}", gap in "[a-z]{0,9}", b in "[a-z]{0,9}") {
            let (pattern, text) = (format!("{a}*{b}"), format!("{a}{gap}{b}"));
            prop_assert!(matches(pattern.as_bytes(), text.as_bytes()));
        }
    }
}
