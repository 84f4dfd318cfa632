//! Text tables: lines with their numbers, the header's separator found out from the header, and
//! rows split by it.

use memchr::{memchr, memchr_iter, memmem};

use flowmine_slurm::units::shown;

/// Lines with their numbers from 1, without their end (`\n` or `\r\n`).
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = Some(bytes);
    let mut number = 0;
    std::iter::from_fn(move || {
        let bytes = rest.filter(|rest| !rest.is_empty())?;
        number += 1;
        let line = match memchr(b'\n', bytes) {
            Some(end) => {
                rest = Some(&bytes[end + 1..]);
                &bytes[..end]
            }
            None => {
                rest = None;
                bytes
            }
        };
        Some((number, line.strip_suffix(b"\r").unwrap_or(line)))
    })
}

/// No header is longer, in bytes.
pub const LONGEST_HEADER: usize = 64 << 10;

/// What follows the line that `bytes` begins with.
pub fn after_line(bytes: &[u8]) -> &[u8] {
    memchr(b'\n', bytes).map_or(&[], |end| &bytes[end + 1..])
}

/// The words of a header: runs of letters, digits and `_`.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| !is_word(*b)).filter(|word| !word.is_empty())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// What to do about rejected rows.
pub const FORGERY: &str =
    "a name that contains the separator or a newline causes this; --json of squeue and sacct, or `flowmine observe`, avoids it";

/// How a header separates its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Separator {
    /// These bytes between two columns, or after each.
    Bytes(Vec<u8>),
    /// Blanks: columns of fixed width, or single blanks.
    Blanks,
}

/// Finds the separator of a header by the names that `known` accepts. `None` when no separator
/// yields known names.
pub fn separator(header: &[u8], known: impl Fn(&[u8]) -> bool) -> Option<Separator> {
    if header.len() > LONGEST_HEADER {
        return None;
    }
    // The first known name, and what stands between it and the next word.
    let mut at = 0;
    let first_end = loop {
        let begin = at + header[at..].iter().position(|&b| is_word(b))?;
        let end = begin + header[begin..].iter().position(|&b| !is_word(b)).unwrap_or(header.len() - begin);
        // The one name that is not a word.
        let end = if header[begin..].starts_with(b"NODELIST(REASON)") { begin + 16 } else { end };
        if known(&header[begin..end]) {
            break end;
        }
        // A separator of letters touches the names: look for a name at the beginning of the word.
        if let Some(length) = (3..end - begin).rev().find(|&length| known(&header[begin..begin + length])) {
            break begin + length;
        }
        at = end;
    };
    let run = header[first_end..].iter().position(|&b| is_word(b)).unwrap_or(header.len() - first_end);
    let run = &header[first_end..first_end + run];
    let core = run.trim_ascii_start().trim_ascii_end();
    let core = if run.contains(&b'\t') && core.is_empty() { b"\t" } else { core };
    let fits = |candidate: &[u8]| {
        let cells: Vec<&[u8]> = split(header, candidate).map(<[u8]>::trim_ascii).collect();
        let known = cells.iter().filter(|cell| known(cell)).count();
        known >= 2 && 2 * known >= cells.len()
    };
    if !core.is_empty() {
        // A column without a name puts two separators side by side.
        for parts in 1..=3 {
            let candidate = &core[..core.len() / parts];
            if core.len() % parts == 0 && candidate.repeat(parts) == core && fits(candidate) {
                return Some(Separator::Bytes(candidate.to_vec()));
            }
        }
    } else if !run.is_empty() {
        let cells: Vec<&[u8]> = header.split(|b| *b == b' ').filter(|cell| !cell.is_empty()).collect();
        if 2 * cells.iter().filter(|cell| known(cell)).count() >= cells.len().max(4) {
            return Some(Separator::Blanks);
        }
    }
    // A separator with letters in it, such as a token drawn at random.
    let longest = header.len().saturating_sub(first_end).min(40);
    let found = (1..=longest).map(|length| &header[first_end..first_end + length]).find(|candidate| {
        let mut cells: Vec<&[u8]> = split(header, candidate).collect();
        if cells.last().is_some_and(|cell| cell.is_empty()) {
            cells.pop();
        }
        cells.len() >= 2 && cells.iter().filter(|cell| known(cell)).count() * 10 >= cells.len() * 8
    });
    found.map(|found| Separator::Bytes(found.to_vec()))
}

/// Splits a line at each separator.
pub fn split<'a>(line: &'a [u8], separator: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut ends: Vec<usize> =
        if separator.len() == 1 { memchr_iter(separator[0], line).collect() } else { memmem::find_iter(line, separator).collect() };
    ends.push(line.len());
    let width = separator.len();
    let mut at = 0;
    ends.into_iter().map(move |end| {
        let piece = &line[at..end];
        at = end + width;
        piece
    })
}

/// Splits a record as RFC 4180 has it, where quotes protect separators and newlines: the cells, and
/// how many bytes of `bytes` they take with the line's end. `None` when the quotes do not fit, or
/// the record is longer than anything that a job has.
pub fn split_quoted(bytes: &[u8], separator: u8) -> Option<(Vec<Vec<u8>>, usize)> {
    const LONGEST: usize = 1 << 20;
    const MOST_LINES: usize = 100;
    let end = memchr_iter(b'\n', &bytes[..bytes.len().min(LONGEST)]).nth(MOST_LINES).map_or(bytes.len().min(LONGEST), |end| end + 1);
    let whole = end == bytes.len();
    let bytes = &bytes[..end];
    let mut cells = Vec::new();
    let mut at = 0;
    loop {
        let mut cell = Vec::new();
        if bytes.get(at) == Some(&b'"') {
            at += 1;
            loop {
                let end = at + memchr(b'"', &bytes[at..])?;
                cell.extend_from_slice(&bytes[at..end]);
                at = end + 1;
                if bytes.get(at) != Some(&b'"') {
                    break;
                }
                cell.push(b'"');
                at += 1;
            }
        } else {
            let end = bytes[at..].iter().position(|&b| b == separator || b == b'\n').map_or(bytes.len(), |end| at + end);
            cell.extend_from_slice(&bytes[at..end]);
            if bytes.get(end) != Some(&separator) && cell.ends_with(b"\r") {
                cell.pop();
            }
            at = end;
        }
        cells.push(cell);
        match bytes.get(at) {
            Some(&b) if b == separator => at += 1,
            None => return whole.then_some((cells, at)),
            Some(b'\n') => return Some((cells, at + 1)),
            Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => return Some((cells, at + 2)),
            Some(_) => return None,
        }
    }
}

/// For messages: a separator as a person would write it.
pub fn shown_separator(separator: &[u8]) -> String {
    match separator {
        b"\t" => "tab".to_owned(),
        other => format!("{:?}", shown(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(header: &str) -> Option<Separator> {
        const NAMES: &[&str] = &[
            "ACCOUNT",
            "USER",
            "JOBID",
            "NAME",
            "STATE",
            "ST",
            "NODELIST(REASON)",
            "START_TIME",
            "NICE",
            "COMMAND",
            "JobID",
            "State",
            "Cluster",
        ];
        separator(header.as_bytes(), |word| NAMES.iter().any(|name| name.as_bytes() == word))
    }

    fn bytes(separator: &str) -> Option<Separator> {
        Some(Separator::Bytes(separator.as_bytes().to_vec()))
    }

    #[test]
    fn separators_are_found_in_the_header() {
        assert_eq!(find("JOBID|NAME|STATE"), bytes("|"));
        assert_eq!(find("NODELIST(REASON);JOBID;STATE"), bytes(";"));
        assert_eq!(find("JOBID\tNAME\tSTATE"), bytes("\t"));
        assert_eq!(find("JOBID, NAME, STATE"), bytes(","));
        assert_eq!(find("             JOBID| NAME|    STATE"), bytes("|"));
        assert_eq!(find("JOBID@@NAME@@UNKNOWN_COLUMN@@STATE"), bytes("@@"));
        assert_eq!(find("JOBID^^^NAME^^^STATE"), bytes("^^^"));
        assert_eq!(find("NICE^^^^^^START_TIME^^^JOBID^^^STATE"), bytes("^^^"), "a column without a name");
        assert_eq!(find("JobID\u{1f}aB3dE6gHState\u{1f}aB3dE6gHCluster\u{1f}aB3dE6gH"), bytes("\u{1f}aB3dE6gH"));
        assert_eq!(find("JobIDxxStatexxCluster"), bytes("xx"));
        assert_eq!(find("             JOBID     NAME     USER ST"), Some(Separator::Blanks));
        assert_eq!(find("JOBID NAME STATE"), Some(Separator::Blanks));
        assert_eq!(find("what is this"), None);
        assert_eq!(find(""), None);
    }

    #[test]
    fn quoted_records() {
        let (cells, length) = split_quoted(b"1,\"a,\"\"b\"\"\nc\",,x\r\nrest", b',').unwrap();
        assert_eq!(cells, [&b"1"[..], b"a,\"b\"\nc", b"", b"x"]);
        assert_eq!(length, b"1,\"a,\"\"b\"\"\nc\",,x\r\n".len());
        assert_eq!(split_quoted(b"1,\"a", b','), None);
        assert_eq!(split_quoted(b"1,\"a\"b", b','), None);
        assert_eq!(split_quoted(b"1,2", b',').unwrap().0.len(), 2);
    }

    #[test]
    fn lines_of_all_ends() {
        let got: Vec<_> = lines(b"a\r\n\nb").collect();
        assert_eq!(got, [(1, &b"a"[..]), (2, b""), (3, b"b")]);
        assert_eq!(lines(b"").count(), 0);
    }
}
