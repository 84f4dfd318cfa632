//! What the ending of a file's name stands for.

use std::ffi::OsStr;
use std::path::Path;

use crate::error::{Result, refuse};

/// Endings of formats that nothing here writes, and what makes such a file. Another format in a file
/// with such a name would be no such file.
const UNWRITTEN: [(&str, &str); 3] = [
    ("pdf", "rsvg-convert -f pdf makes one of an SVG"),
    ("html", "flowmine report writes a page"),
    ("htm", "flowmine report writes a page"),
];

/// Returns what makes a file with this ending, which nothing here writes.
fn made_by(ending: &OsStr) -> Option<&'static str> {
    UNWRITTEN.iter().find(|(unwritten, _)| ending.eq_ignore_ascii_case(unwritten)).map(|(_, made_by)| *made_by)
}

/// Returns the format of a result: the given one, or what the ending of its name stands for.
///
/// # Errors
/// Those of [`by_ending`]. With a format too when the name promises one that nothing here writes.
pub fn format_of<T: Copy>(given: Option<T>, file: Option<&Path>, endings: &[(&str, T)], known: impl Fn(T) -> bool) -> Result<Option<T>> {
    let Some(given) = given else { return by_ending(file, endings, known) };
    if let Some((file, ending)) = file.and_then(|file| Some((file, file.extension()?)))
        && let Some(made_by) = made_by(ending)
    {
        let ending = ending.to_string_lossy();
        refuse!("{}: no format has the ending .{ending} ({made_by}): choose another name for the result", file.display())
    }
    Ok(Some(given))
}

/// Returns what the ending of a result's name stands for; `None` without a file or an ending. Of
/// several meanings that which is `known` here counts.
///
/// # Errors
/// When it stands for nothing; the message has the endings whose meaning is `known` here.
pub fn by_ending<T: Copy>(file: Option<&Path>, endings: &[(&str, T)], known: impl Fn(T) -> bool) -> Result<Option<T>> {
    let Some((file, ending)) = file.and_then(|file| Some((file, file.extension()?))) else { return Ok(None) };
    let meanings = || endings.iter().filter(|(name, _)| ending.eq_ignore_ascii_case(name)).map(|(_, meaning)| *meaning);
    if let Some(meaning) = meanings().find(|meaning| known(*meaning)).or(meanings().next()) {
        return Ok(Some(meaning));
    }
    let known: Vec<String> = endings.iter().filter(|(_, meaning)| known(*meaning)).map(|(name, _)| format!(".{name}")).collect();
    let made_by = made_by(ending).map_or_else(String::new, |made_by| format!(" ({made_by})"));
    refuse!(
        "{}: no format has the ending .{}{made_by}. The endings known here are {}; without an ending the default format is written, and \
         --format names one",
        file.display(),
        ending.to_string_lossy(),
        known.join(", ")
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use super::*;

    #[test]
    fn an_ending_is_known_or_refused() {
        let endings = [("svg", 1), ("txt", 2), ("pnml", 3), ("svg", 4)];
        let of = |name: &str| by_ending(Some(Path::new(name)), &endings, |meaning| meaning < 3);
        assert_eq!((of("a.svg").unwrap(), of("b.c/a.TXT").unwrap(), of("a.pnml").unwrap()), (Some(1), Some(2), Some(3)));
        assert_eq!(by_ending(Some(Path::new("a.svg")), &endings, |meaning| meaning == 4).unwrap(), Some(4));
        for name in ["-", "graph", ".svg", "/dev/stdout"] {
            assert_eq!(of(name).unwrap(), None, "{name}");
        }
        assert_eq!(by_ending(None, &endings, |_| true).unwrap(), None);
        for (given, name) in [(Some(1), "a.pdf"), (Some(1), "a.HTML"), (None, "a.htm")] {
            let refused = format_of(given, Some(Path::new(name)), &endings, |_| true).unwrap_err().to_string();
            let made_by = if name == "a.pdf" { " (rsvg-convert -f pdf makes one of an SVG)" } else { " (flowmine report writes a page)" };
            assert!(refused.contains("no format has the ending .") && refused.contains(made_by), "{refused}");
        }
        assert_eq!(format_of(Some(4), Some(Path::new("a.txt")), &endings, |_| true).unwrap(), Some(4));
        let refused = of("a.svg.pdf").unwrap_err().to_string();
        assert!(
            refused.contains("a.svg.pdf: no format has the ending .pdf (rsvg-convert -f pdf") && refused.contains("are .svg, .txt;"),
            "{refused}"
        );
    }
}
