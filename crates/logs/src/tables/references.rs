//! References to objects in a cell of the flat form of process_mining (Rust4PM):
//! `i1#part-of{"price": "5"}/i2`.
//!
//! A reference is the name of an object, then its qualifier after `#`, then attributes as JSON. `/`
//! separates references. A backslash before `/`, `#`, `{` or itself makes that plain text.

use std::borrow::Cow;

/// Activity of the rows that relate objects to each other.
const OF_OBJECTS: &str = "o2o";

/// Returns whether a row with this id and activity is no event: it relates objects to each other, or
/// changes attributes.
pub fn is_no_event(id: &str, activity: &str) -> bool {
    let activity = activity.trim();
    activity.eq_ignore_ascii_case(OF_OBJECTS) || (id.trim().is_empty() && activity.is_empty())
}

/// Adds the names of the objects in a cell.
pub fn references<'a>(text: &'a str, items: &mut Vec<Cow<'a, str>>) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = until(rest, &['/', '#', '{']);
        let name = rest[..end].trim();
        if !name.is_empty() {
            items.push(plain(name));
        }
        rest = &rest[end..];
        if rest.starts_with('#') {
            rest = &rest[until(rest, &['/', '{'])..];
        }
        if rest.starts_with('{') {
            rest = &rest[json_end(rest)..];
        }
        rest = rest.find('/').map_or("", |at| &rest[at + 1..]);
    }
}

/// Returns the place of the first of the marks that no backslash precedes, or the end.
fn until(text: &str, marks: &[char]) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if marks.contains(&c) => return at,
            _ => {}
        }
    }
    text.len()
}

/// Returns the place behind the JSON object at the beginning of the text, or the end.
fn json_end(text: &str) -> usize {
    let (mut depth, mut in_text, mut is_escaped) = (0u32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth += 1,
            b'}' if !in_text => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// Returns a name without its backslashes; one that escapes nothing is itself.
fn plain(name: &str) -> Cow<'_, str> {
    if !name.contains('\\') {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '\\' && ['/', '#', '{', '\\'].contains(&next) => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects() {
        for (text, expected) in [
            ("i1", vec!["i1"]),
            ("i1/i2", vec!["i1", "i2"]),
            ("i1#part-of/ i2 #has", vec!["i1", "i2"]),
            (r#"i1#part-of{"price": "5/6 }#", "of": {"a": "\""}}/i2"#, vec!["i1", "i2"]),
            (r#"i1{"price": "50"}"#, vec!["i1"]),
            (r"a\/b/c\#d\{e\\/C:\x", vec!["a/b", r"c#d{e\", r"C:\x"]),
            ("/", vec![]),
            ("#q", vec![]),
            ("i1{", vec!["i1"]),
        ] {
            let mut items = Vec::new();
            references(text, &mut items);
            assert_eq!(items, expected, "{text}");
        }
    }
}
