//! A log file's bytes as its readers get them.
//!
//! The input is any [`Read`], plain or gzip; the output is its bytes through [`BufRead`], all of
//! them UTF-8, with the line and column up to which they were consumed. Refused with their place:
//! text in other encodings, damaged or truncated gzip, and input that would fill the memory of the
//! parser: an XML token longer than [`Limits::text_bytes`], a JSON record larger than
//! [`Limits::record_bytes`].
//!
//! Parsers see a refusal as an [`io::Error`]; [`Input::explain`] gives the [`LogError`] behind it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

use crate::error::LogError;
use crate::read::Limits;
use crate::read::unpack::Unpacked;

const CHUNK_BYTES: usize = 64 * 1024;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u64,
    /// Column in the line, in bytes, from 1. A byte order mark has no column.
    pub column: u64,
}

impl Position {
    /// The place where a text begins: line 1, column 1.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The place behind `text` that begins here.
    pub fn behind(self, text: &[u8]) -> Self {
        // Lines are counted with LF, so CR LF is one line end.
        match text.iter().rposition(|&byte| byte == b'\n') {
            None => Self { line: self.line, column: self.column + text.len() as u64 },
            Some(last) => {
                let lines = text[..=last].iter().filter(|&&byte| byte == b'\n').count();
                Self { line: self.line + lines as u64, column: (text.len() - last) as u64 }
            }
        }
    }

    /// An error at this place.
    pub fn refuse(self, message: impl Into<String>) -> LogError {
        LogError::Refused { line: self.line, column: self.column, message: message.into() }
    }
}

/// A guarded input that knows where it is.
pub struct Input<'r> {
    source: Box<dyn Read + 'r>,
    gz: bool,
    buffer: Vec<u8>,
    /// The next byte to hand out.
    start: usize,
    /// Behind the last byte that may be handed out; up to `filled` follows the beginning of a
    /// character or what is refused.
    end: usize,
    filled: usize,
    /// The offset in the text of the buffer's first byte.
    base: u64,
    /// The place of `buffer[counted]`.
    place: Position,
    counted: usize,
    /// What is consumed between two calls of [`Input::token_done`] is at most so long.
    most: u64,
    /// Where the token begins in the buffer, until its place is worked out, which the buffer's next
    /// turn asks for.
    token_at: usize,
    token: Option<Position>,
    token_offset: u64,
    /// What is wrong with the byte at `end`.
    stop: Option<LogError>,
    failure: Option<LogError>,
    failed: bool,
}

impl<'r> Input<'r> {
    /// An input for XML: between two calls of [`Input::token_done`] at most [`Limits::text_bytes`]
    /// can be consumed.
    ///
    /// # Errors
    /// From the operating system; when the text is in UTF-16 or says that it is in an encoding
    /// other than UTF-8 or US-ASCII.
    pub fn xml(source: impl Read + 'r, limits: &Limits) -> Result<Self, LogError> {
        Self::new(Box::new(source), limits.text_bytes)?.begun_xml()
    }

    /// The same of a file; gz is unpacked in a thread of its own.
    ///
    /// # Errors
    /// As [`Input::xml`].
    pub fn xml_file(file: File, limits: &Limits) -> Result<Input<'static>, LogError> {
        Input::of_file(file, limits.text_bytes)?.begun_xml()
    }

    fn begun_xml(mut self) -> Result<Self, LogError> {
        let input = &mut self;
        input.begin()?;
        if let Some((at, name)) = declared_encoding(&input.buffer[input.start..input.end])
            && !["utf-8", "utf8", "us-ascii", "ascii"].iter().any(|known| name.eq_ignore_ascii_case(known))
        {
            let place = input.place.behind(&input.buffer[input.start..input.start + at]);
            return Err(place.refuse(other_encoding(&name)));
        }
        Ok(self)
    }

    /// Returns an input for the JSON parsers, which read whole records: between two calls of
    /// [`Input::token_done`] at most [`Limits::record_bytes`] can be consumed.
    ///
    /// # Errors
    /// From the operating system; when the text is in UTF-16.
    pub fn records(source: impl Read + 'r, limits: &Limits) -> Result<Self, LogError> {
        let mut input = Self::new(Box::new(source), limits.record_bytes)?;
        input.begin()?;
        Ok(input)
    }

    /// As [`Input::records`] of a file; gz is unpacked in a thread of its own.
    ///
    /// # Errors
    /// As [`Input::records`].
    pub fn records_file(file: File, limits: &Limits) -> Result<Input<'static>, LogError> {
        let mut input = Input::of_file(file, limits.record_bytes)?;
        input.begin()?;
        Ok(input)
    }

    fn new(mut source: Box<dyn Read + 'r>, most: usize) -> Result<Self, LogError> {
        let (known, magic) = magic(&mut source)?;
        let gz = magic[..known] == GZ;
        let whole = Cursor::new(magic).take(known as u64).chain(source);
        let source: Box<dyn Read + 'r> =
            if gz { Box::new(MultiGzDecoder::new(BufReader::with_capacity(CHUNK_BYTES, whole))) } else { Box::new(whole) };
        Ok(Self::of_text(source, gz, most))
    }

    fn of_file(mut file: File, most: usize) -> Result<Input<'static>, LogError> {
        let (known, magic) = magic(&mut file)?;
        let gz = magic[..known] == GZ;
        let whole = Cursor::new(magic).take(known as u64).chain(file);
        let source: Box<dyn Read> =
            if gz { Box::new(Unpacked::new(MultiGzDecoder::new(BufReader::with_capacity(CHUNK_BYTES, whole)))?) } else { Box::new(whole) };
        Ok(Input::of_text(source, gz, most))
    }

    fn of_text(source: Box<dyn Read + 'r>, gz: bool, most: usize) -> Self {
        Self {
            source,
            gz,
            buffer: vec![0; CHUNK_BYTES],
            start: 0,
            end: 0,
            filled: 0,
            base: 0,
            place: Position::START,
            counted: 0,
            most: most as u64,
            token_at: 0,
            token: None,
            token_offset: 0,
            stop: None,
            failure: None,
            failed: false,
        }
    }

    /// Reads the first bytes: what encoding they are in, and past the byte order mark.
    fn begin(&mut self) -> Result<(), LogError> {
        // A pipe can give bytes one by one; these are enough for a byte order mark and what follows, and for an XML declaration.
        const DECLARATION_BYTES: usize = 1024;
        loop {
            let head = &self.buffer[..self.filled];
            let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
            let declaration = text.starts_with(b"<?xml") && head.len() < DECLARATION_BYTES && !head.windows(2).any(|pair| pair == b"?>");
            if head.len() >= 8 && !declaration {
                break;
            }
            match self.read_more() {
                Ok(0) => break,
                Ok(n) => self.filled += n,
                // What came before it can still be read.
                Err(error) => {
                    self.stop = Some(error);
                    break;
                }
            }
        }
        let head = &self.buffer[..self.filled];
        let other = match head {
            [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] | [b'<' | b'{', 0, 0, 0, ..] | [0, 0, 0, b'<' | b'{', ..] => Some("UTF-32"),
            [0xff, 0xfe, ..] | [b'<' | b'{', 0, ..] => Some("UTF-16LE"),
            [0xfe, 0xff, ..] | [0, b'<' | b'{', ..] => Some("UTF-16BE"),
            _ => None,
        };
        if let Some(name) = other {
            return Err(Position::START.refuse(other_encoding(name)));
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            (self.start, self.counted) = (3, 3);
        }
        self.end = self.start;
        self.admit();
        self.token_done();
        Ok(())
    }

    /// Where the next byte to be consumed is.
    pub fn position(&mut self) -> Position {
        self.token();
        self.place = self.place.behind(&self.buffer[self.counted..self.start]);
        self.counted = self.start;
        self.place
    }

    /// How many bytes of the text have been consumed.
    pub fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Says that what was consumed so far is done with, so that a token begins here.
    pub fn token_done(&mut self) {
        (self.token, self.token_at) = (None, self.start);
        self.token_offset = self.offset();
    }

    /// Where [`Input::token_done`] was last called.
    pub fn token(&mut self) -> Position {
        // Each byte is counted once: what is behind the token will not be asked for again.
        *self.token.get_or_insert_with(|| {
            self.place = self.place.behind(&self.buffer[self.counted..self.token_at]);
            self.counted = self.token_at;
            self.place
        })
    }

    /// Consumes white space, however much there is.
    ///
    /// # Errors
    /// As [`BufRead::fill_buf`], explained.
    pub fn skip_white_space(&mut self) -> Result<(), LogError> {
        loop {
            self.token_offset = self.offset();
            let white = match self.fill_buf() {
                Ok(bytes) => bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count(),
                Err(error) => return Err(self.explain(error)),
            };
            if white == 0 {
                return Ok(());
            }
            self.consume(white);
        }
    }

    /// What lies ready, not more than a token can have.
    pub(crate) fn ready(&self) -> &[u8] {
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        let end = if self.failed { self.start } else { self.end.min(self.start.saturating_add(most)) };
        self.buffer.get(self.start..end).unwrap_or_default()
    }

    /// Why reading from this input failed: the refusal of the input itself if there was one, else
    /// `otherwise` at the beginning of the current token.
    pub fn explain(&mut self, otherwise: impl std::fmt::Display) -> LogError {
        let place = self.token();
        self.failure.take().unwrap_or_else(|| place.refuse(otherwise.to_string()))
    }

    /// The refusal of the input itself, if there was one.
    pub fn failure(&mut self) -> Option<LogError> {
        self.failure.take()
    }

    fn read_more(&mut self) -> Result<usize, LogError> {
        loop {
            match self.source.read(&mut self.buffer[self.filled..]) {
                Ok(n) => return Ok(n),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if self.gz => {
                    let place = self.place.behind(&self.buffer[self.counted..self.filled]);
                    return Err(place.refuse(match error.kind() {
                        io::ErrorKind::UnexpectedEof => "the gz file ends here, in the middle: it is cut".to_owned(),
                        _ => format!("the gz file is damaged here: {error}"),
                    }));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Lets `end` go as far as the bytes are UTF-8.
    fn admit(&mut self) {
        let fresh = &self.buffer[self.end..self.filled];
        let mut good = fresh.len();
        if let Err(error) = std::str::from_utf8(fresh) {
            good = error.valid_up_to();
            if error.error_len().is_some() {
                self.stop = Some(self.not_utf8(self.end + good));
            }
        }
        self.end += good;
    }

    fn not_utf8(&self, at: usize) -> LogError {
        let byte = self.buffer.get(at).copied().unwrap_or_default();
        let place = self.place.behind(&self.buffer[self.counted..at]);
        place.refuse(format!("byte 0x{byte:02x} is not UTF-8; convert the file with iconv -f ENCODING -t UTF-8"))
    }

    fn refill(&mut self) -> Result<(), LogError> {
        if let Some(stop) = self.stop.take() {
            return Err(stop);
        }
        self.position();
        self.base += self.start as u64;
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        (self.start, self.counted, self.end) = (0, 0, 0);
        while self.end == 0 && self.stop.is_none() {
            let n = self.read_more()?;
            if n == 0 {
                return if self.filled == 0 { Ok(()) } else { Err(self.not_utf8(0)) };
            }
            self.filled += n;
            self.admit();
        }
        match self.stop.take_if(|_| self.end == 0) {
            Some(stop) => Err(stop),
            None => Ok(()),
        }
    }

    fn fail(&mut self, error: LogError) -> io::Error {
        self.failed = true;
        self.failure = Some(error);
        refused()
    }
}

const GZ: [u8; 2] = [0x1f, 0x8b];

/// The first two bytes, and how many of them there are.
fn magic(source: &mut dyn Read) -> io::Result<(usize, [u8; 2])> {
    let mut magic = [0; 2];
    let mut known = 0;
    while known < magic.len() {
        match source.read(&mut magic[known..]) {
            Ok(0) => break,
            Ok(n) => known += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((known, magic))
}

fn refused() -> io::Error {
    io::Error::other("the input was refused")
}

fn other_encoding(name: &str) -> String {
    format!(
        "the file is in {name}, and only UTF-8 is read; convert it with iconv -f {name} -t UTF-8 (and change its XML declaration, if it has one)"
    )
}

/// The encoding that an XML declaration names, and where in `head`.
fn declared_encoding(head: &[u8]) -> Option<(usize, String)> {
    let inside = head.strip_prefix(b"<?xml").filter(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))?;
    let inside = &inside[..inside.windows(2).position(|pair| pair == b"?>")?];
    let word = inside.windows(8).position(|word| word == b"encoding")?;
    let mut at = word + 8;
    let skip = |at: usize| at + inside[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    at = skip(at);
    inside.get(at).filter(|&&byte| byte == b'=')?;
    at = skip(at + 1);
    let quote = *inside.get(at).filter(|&&byte| byte == b'"' || byte == b'\'')?;
    let name = &inside[at + 1..];
    let name = &name[..name.iter().position(|&byte| byte == quote)?];
    let clean = name.iter().take(40).map(|&byte| if byte.is_ascii_graphic() { char::from(byte) } else { '?' }).collect();
    Some(("<?xml".len() + at + 1, clean))
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.failed {
            return Err(refused());
        }
        if self.start == self.end
            && let Err(error) = self.refill()
        {
            return Err(self.fail(error));
        }
        let left = self.most.saturating_sub(self.offset() - self.token_offset);
        if left == 0 && self.end > self.start {
            let message = format!("what begins here is longer than {} bytes", self.most);
            let error = self.token().refuse(message);
            return Err(self.fail(error));
        }
        let end = self.end.min(self.start.saturating_add(usize::try_from(left).unwrap_or(usize::MAX)));
        Ok(&self.buffer[self.start..end])
    }

    fn consume(&mut self, amount: usize) {
        self.start = (self.start + amount).min(self.end);
    }
}

impl Read for Input<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(into)?;
        self.consume(n);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn small() -> Limits {
        Limits { text_bytes: 10, record_bytes: 100, depth: 5, definitions: 3 }
    }

    /// The text as it comes out, and what stopped it.
    fn drain(mut input: Input<'_>) -> (Vec<u8>, Option<String>) {
        let mut out = Vec::new();
        let result = input.read_to_end(&mut out);
        (out, result.err().map(|error| input.explain(error).to_string()))
    }

    /// Gives a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(into.len()).min(self.0.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn encodings() {
        let limits = Limits::default();
        for (text, expected) in [
            (&b"\xff\xfe<\0"[..], "line 1, column 1: the file is in UTF-16LE, "),
            (b"\0<\0?", "line 1, column 1: the file is in UTF-16BE, "),
            (b"\xff\xfe\0\0", "line 1, column 1: the file is in UTF-32, "),
            (b"<?xml version='1.0'\n encoding = 'ISO-8859-1' ?>", "line 2, column 14: the file is in ISO-8859-1, "),
        ] {
            let error = Input::xml(text, &limits).err().unwrap().to_string();
            assert!(error.starts_with(expected), "{error}");
            assert!(error.contains("iconv"), "{error}");
        }
        for text in ["<?xml version='1.0' encoding='utf-8'?>", "<?xml?>", "<?xml encoding", "<a encoding='x'/>", "", "<", "\u{feff}"] {
            assert_eq!(drain(Input::xml(text.as_bytes(), &limits).unwrap()).1, None, "{text}");
        }
        let slow = Drops("<?xml version='1.0' encoding='latin1'?>".as_bytes(), 1);
        assert!(Input::xml(slow, &limits).err().unwrap().to_string().starts_with("line 1, column 31: the file is in latin1"));
        let (text, error) = drain(Input::records(Drops("\u{feff}ä\n{€\u{10ffff}}".as_bytes(), 1), &limits).unwrap());
        assert_eq!((String::from_utf8(text).unwrap().as_str(), error), ("ä\n{€\u{10ffff}}", None));
        for cut in [&b"a\nb\xe2\x82"[..], b"a\nb\xe2\x82c", b"a\nb\xe2"] {
            let (text, error) = drain(Input::records(cut, &limits).unwrap());
            assert_eq!(text, b"a\nb");
            assert!(error.unwrap().starts_with("line 2, column 2: byte 0xe2 is not UTF-8"));
        }
    }

    #[test]
    fn a_cut_gz_says_where_its_text_ends() {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut gz, b"one\ntwo").unwrap();
        let gz = gz.finish().unwrap();
        let (text, error) = drain(Input::xml([gz.as_slice(), &gz].concat().as_slice(), &Limits::default()).unwrap());
        assert_eq!((text.as_slice(), error), (&b"one\ntwoone\ntwo"[..], None));
        let (text, error) = drain(Input::xml(&gz[..gz.len() - 4], &Limits::default()).unwrap());
        assert!(b"one\ntwo".starts_with(&text));
        assert!(error.unwrap().ends_with("the gz file ends here, in the middle: it is cut"));
        let mut broken = gz.clone();
        broken[gz.len() - 6] ^= 1;
        assert!(drain(Input::xml(broken.as_slice(), &Limits::default()).unwrap()).1.unwrap().contains("damaged here"));
    }

    #[test]
    fn a_token_is_no_longer_than_the_limit() {
        let mut input = Input::xml(&b"ab\ncd0123456789x"[..], &small()).unwrap();
        input.consume(5);
        input.token_done();
        assert_eq!(input.token(), Position { line: 2, column: 3 });
        input.consume(10);
        assert_eq!(input.offset(), 15);
        let error = input.fill_buf().unwrap_err();
        assert_eq!(input.explain(error).to_string(), "line 2, column 3: what begins here is longer than 10 bytes");
        assert!(input.fill_buf().is_err());
    }

    proptest! {
        /// However the bytes come, the same comes out, and the place is that of the text's end.
        #[test]
        fn pieces_do_not_matter(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'{'), Just(b'\n')], 0..60), drop in 1..7usize, records: bool) {
            let open = |drop| {
                let source = Drops(&bytes, drop);
                if records { Input::records(source, &small()) } else { Input::xml(source, &small()) }
            };
            match (open(drop), open(1000)) {
                (Ok(mut one), Ok(two)) => {
                    let (text, error) = drain(two);
                    let mut out = Vec::new();
                    let mut byte = [0];
                    while let Ok(1) = one.read(&mut byte) {
                        out.push(byte[0]);
                        prop_assert_eq!(one.position(), Position::START.behind(&out));
                    }
                    prop_assert_eq!(&out, &text);
                    prop_assert_eq!(one.failure().map(|error| error.to_string()), error);
                }
                (Err(one), Err(two)) => prop_assert_eq!(one.to_string(), two.to_string()),
                _ => prop_assert!(false),
            }
        }
    }
}
