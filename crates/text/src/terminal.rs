//! What stands between a program's output and a terminal.

use std::io::{self, Write};

use crate::visible;

/// A writer that lets text through in lines, with what would steer a terminal made visible
/// ([`visible`]).
///
/// Line ends (LF, CR LF) and tabs are let through; bytes that are not UTF-8 become `\xNN`.
#[derive(Debug)]
pub struct Visible<W> {
    out: W,
    /// What has come since the last line end.
    pending: Vec<u8>,
}

/// A line longer than this goes through in pieces.
const LONGEST: usize = 1 << 16;

impl<W: Write> Visible<W> {
    /// A writer to `out` through which nothing was written yet.
    pub fn new(out: W) -> Self {
        Self { out, pending: Vec::new() }
    }

    /// Passes on the first bytes of the pending ones.
    fn let_through(&mut self, bytes: usize) -> io::Result<()> {
        let mut text = String::with_capacity(bytes + 16);
        for line in self.pending[..bytes].split_inclusive(|&byte| byte == b'\n') {
            let (line, end) = match line.strip_suffix(b"\n") {
                Some(line) => line.strip_suffix(b"\r").map_or((line, "\n"), |line| (line, "\r\n")),
                None => (line, ""),
            };
            for (nth, cell) in line.split(|&byte| byte == b'\t').enumerate() {
                text.push_str(if nth > 0 { "\t" } else { "" });
                for chunk in cell.utf8_chunks() {
                    text.push_str(&visible(chunk.valid()));
                    chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
                }
            }
            text.push_str(end);
        }
        self.pending.drain(..bytes);
        self.out.write_all(text.as_bytes())
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // No pending line has ended.
        let mut ready = memchr::memrchr(b'\n', bytes).map_or(0, |end| self.pending.len() + end + 1);
        self.pending.extend_from_slice(bytes);
        if self.pending.len() - ready > LONGEST {
            // A character that is cut, and a CR whose LF may follow, wait for the rest.
            ready = match std::str::from_utf8(&self.pending) {
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                _ if self.pending.ends_with(b"\r") => self.pending.len() - 1,
                _ => self.pending.len(),
            };
        }
        self.let_through(ready)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.let_through(self.pending.len())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn through(text: &[u8], piece: usize) -> String {
        let mut out = Visible::new(Vec::new());
        text.chunks(piece).for_each(|piece| out.write_all(piece).unwrap());
        out.flush().unwrap();
        String::from_utf8(out.out).unwrap()
    }

    #[test]
    fn what_steers_a_terminal_is_seen() {
        for piece in [1, 3, 1000] {
            assert_eq!(
                through(b"a\tb\r\n\x1b]0;title\x07\xc2\x9b31m\xff \rover\nn\xc3\xa4ive", piece),
                "a\tb\r\n\\x1b]0;title\\x07\\x9b31m\\xff \\rover\nnäive"
            );
            let long = "ä".repeat(LONGEST);
            assert_eq!(through(long.as_bytes(), piece), long);
        }
    }

    proptest! {
        #[test]
        fn nothing_unsafe_comes_out(bytes in proptest::collection::vec(any::<u8>(), 0..200), piece in 1_usize..50) {
            let out = through(&bytes, piece);
            prop_assert!(out.replace("\r\n", "\n").chars().all(|c| matches!(c, '\n' | '\t') || !crate::is_unsafe(c)), "{:?}", out);
        }
    }
}
