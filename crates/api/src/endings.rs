//! What the ending of a file's name stands for.

use std::path::Path;

use crate::error::{Result, refuse};

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
    refuse!(
        "{}: no format has the ending .{}. The endings known here are {}; without an ending the default format is written, and --format \
         names one",
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
        let refused = of("a.svg.pdf").unwrap_err().to_string();
        assert!(refused.contains("a.svg.pdf: no format has the ending .pdf") && refused.contains("are .svg, .txt;"), "{refused}");
    }
}
