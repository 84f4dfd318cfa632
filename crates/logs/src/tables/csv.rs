//! CSV as a table: bytes in, plain or packed as gz; columns out.
//!
//! - The first line names the columns, unless it has a date or a number and none of the usual
//!   names: then columns are numbered from 1. How fields and lines are separated says [`Dialect`].
//! - Fields as in RFC 4180: in quotes where they hold a delimiter, a quote (written twice) or a
//!   line break. Lines end with LF, CR LF or CR. Text behind a closing quote belongs to the field.
//!   A byte order mark is skipped.
//! - An empty field without quotes is missing; so are `NA`, `NaN`, `NaT`, `null`, `None` where a
//!   time or number is read.
//! - Text that our own export made harmless for spreadsheets (an apostrophe before `=`, `+`, `-`,
//!   `@`) is as it was, in the rows that its column `flowmine:escaped` names
//!   ([`flowmine_eventlog::csv`]). Elsewhere an apostrophe belongs to the text.
//! - Without a named encoding, text is UTF-16 where the first bytes are, else UTF-8. Where texts
//!   are not UTF-8, the whole table decides: with more of them than of texts of UTF-8 beyond ASCII
//!   it is windows-1252, else their bytes are written as `\xNN`. Names that differ stay different.
//!
//! A row with fewer fields than there are columns misses the last ones. Rows with more (other than
//! empty ones), of more than [`LONGEST_ROW`], or with a quote that is not closed to the end of the
//! file or for so long are counted and reported, and reading goes on in the next line.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use flowmine_activity_log::{NONE, TooLarge, UNKNOWN};
use flowmine_dataset::foreign_parquet::{FEW_ROWS, ROWS_PER_BYTE};
use flowmine_eventlog::flat::ESCAPED;
use flowmine_schema::text::is_formula;
use memchr::{memchr, memchr2};

use super::columns::{Faults, Got, Read, Source, Want};
use super::dialect::{Dialect, has_values};
use super::encoding::{Decoded, Encoding, MARK};
use super::options::{CsvRules, Inferred};
use super::raw_texts::{RawTexts, TextsOf};
use super::times::{TimeRules, TimesReading};
use super::{TableError, choose, values};

/// How many bytes a row may have.
pub const LONGEST_ROW: usize = 16 << 20;

/// How many columns a table may have. What a row has beyond is not looked at.
const MOST_COLUMNS: usize = 10_000;

const BLOCK: usize = 1 << 18;

/// Whether a file's name says that it is CSV.
pub fn is_named_so(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.ends_with(".csv") || name.ends_with(".tsv")
}

/// Whether a file that begins so is CSV of a log: its first line has the usual names.
pub fn looks_so(head: &[u8]) -> bool {
    choose::looks_like_a_log(first_fields(head).iter().map(String::as_str))
}

/// The fields of the first line of CSV that begins so, cut at each delimiter and without quotes.
pub fn first_fields(head: &[u8]) -> Vec<String> {
    let mut unpacked = Vec::new();
    let head = if head.starts_with(GZ) {
        // What is cut off gives an error behind what there is.
        let _ = MultiGzDecoder::new(head).take(1 << 16).read_to_end(&mut unpacked);
        &unpacked
    } else {
        head
    };
    let decoded;
    let head = match Encoding::seen(head) {
        Some(encoding) => {
            decoded = encoding.text(head);
            decoded.as_bytes()
        }
        None => head.strip_prefix(MARK).unwrap_or(head),
    };
    let dialect = Dialect::new(head);
    let line = head[dialect.preamble..].split(|&byte| byte == dialect.line_end).next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.split(char::from(dialect.delimiter)).map(|name| name.trim_matches(['"', '\r']).to_owned()).collect()
}

const GZ: &[u8] = &[0x1f, 0x8b];

/// Counts what is read, to know how much the input was before it was unpacked.
struct Counted<R> {
    source: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: io::Read> io::Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.bytes.set(self.bytes.get() + read as u64);
        Ok(read)
    }
}

/// Position of a field of a row.
#[derive(Debug, Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
    quoted: bool,
    /// Whether the field is in the scratch buffer, where a field that contains quotes is unescaped.
    aside: bool,
}

/// How the cutting of a row into fields ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    /// The row is whole and ends before this place in the buffer.
    Whole(usize),
    /// The buffer ends before the row does.
    More,
}

/// A CSV table that is read row by row.
pub struct CsvTable<'r> {
    source: Box<dyn BufRead + 'r>,
    /// Bytes read before they were unpacked.
    packed: Rc<Cell<u64>>,
    names: Vec<String>,
    /// The column that says in which rows our export put apostrophes before texts.
    escaped: Option<usize>,
    dialect: Dialect,
    /// The first row, where it does not name the columns.
    first_row: Option<Vec<String>>,
    /// The encoding that is named, so that none is inferred.
    encoding: Option<Encoding>,
    inferred: Vec<Inferred>,
    buffer: Vec<u8>,
    /// What of the buffer has not been taken.
    start: usize,
    is_end: bool,
    /// Number of the line in which the next row begins, from 1.
    line: u64,
    /// Where the row began that was cut last.
    line_of_row: u64,
    fields: Vec<Field>,
    scratch: Vec<u8>,
}

impl<'r> CsvTable<'r> {
    /// Reads the names of the columns.
    pub fn open(source: impl io::Read + 'r, rules: &CsvRules) -> Result<Self, TableError> {
        let packed = Rc::new(Cell::new(0));
        let mut source = BufReader::with_capacity(BLOCK, Counted { source, bytes: Rc::clone(&packed) });
        let mut source: Box<dyn BufRead + 'r> = if source.fill_buf()?.starts_with(GZ) {
            Box::new(BufReader::with_capacity(BLOCK, MultiGzDecoder::new(source)))
        } else {
            Box::new(source)
        };
        let mut inferred = Vec::new();
        let seen = if rules.encoding.is_none() { Encoding::seen(source.fill_buf()?) } else { None };
        if let Some(encoding) = seen {
            inferred.push(Inferred { sentence: format!("its text is {}", encoding.name()), option: "--encoding" });
        }
        let encoding = rules.encoding.or(seen);
        if let Some(encoding) = encoding.filter(|encoding| *encoding != Encoding::UTF_8) {
            source = Box::new(BufReader::with_capacity(BLOCK, Decoded::new(source, encoding)));
        }
        let mut table = Self {
            source,
            packed,
            names: Vec::new(),
            escaped: None,
            dialect: Dialect { delimiter: b',', line_end: b'\n', preamble: 0 },
            first_row: None,
            encoding,
            inferred,
            buffer: Vec::new(),
            start: 0,
            is_end: false,
            line: 1,
            line_of_row: 1,
            fields: Vec::new(),
            scratch: Vec::new(),
        };
        while table.buffer.len() < BLOCK && !table.is_end {
            table.more()?;
        }
        if table.buffer.starts_with(b"PAR1") {
            return Err(TableError::Refused("this is Parquet, which cannot be read from a pipe: give the file by its name".to_owned()));
        }
        if table.buffer.starts_with(MARK) {
            table.start = MARK.len();
        }
        table.dialect = Dialect::new(&table.buffer[table.start..]);
        table.start += table.dialect.preamble;
        table.line += u64::from(table.dialect.preamble > 0);
        if let Some(delimiter) = rules.delimiter {
            table.dialect.delimiter = delimiter;
        }
        let (first, line) = (table.start, table.line);
        let mut faults = Faults::default();
        if !table.next(&mut faults)? {
            return Err(TableError::Refused("the table is empty: not even columns have names".to_owned()));
        }
        if faults.count > 0 {
            return Err(TableError::Refused("the names of the columns have no end: is this CSV?".to_owned()));
        }
        if table.fields.len() > MOST_COLUMNS {
            return Err(TableError::Refused(format!("the first line names more than {MOST_COLUMNS} columns: is this CSV?")));
        }
        let name = |at| match std::str::from_utf8(table.field(at).0) {
            Ok(name) => name.to_owned(),
            Err(_) => rules.encoding.unwrap_or(Encoding::WINDOWS_1252).text(table.field(at).0),
        };
        let mut names: Vec<String> = (0..table.fields.len()).map(name).collect();
        let is_headless = rules.has_header.map_or_else(|| has_values(&names), |has_header| !has_header);
        if is_headless {
            if rules.has_header.is_none() {
                let sentence = "its first line has values, so that columns are numbered from 1".to_owned();
                table.inferred.push(Inferred { sentence, option: "--header" });
            }
            table.names = (1..=names.len()).map(|number| number.to_string()).collect();
            table.first_row = Some(names);
            // The buffer has grown at its end only: nothing of it was taken before the first row.
            (table.start, table.line) = (first, line);
            return Ok(table);
        }
        if names.last().is_some_and(|last| last == ESCAPED) {
            table.escaped = Some(names.len() - 1);
            names.iter_mut().for_each(|name| *name = unescaped(name).to_owned());
        }
        table.names = names;
        Ok(table)
    }

    /// Reads on, behind what has not been taken.
    fn more(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        // As much again as there is: a long row is looked at a few times only.
        let wanted = self.buffer.len().max(BLOCK) as u64;
        let read = self.source.by_ref().take(wanted).read_to_end(&mut self.buffer)?;
        self.is_end = (read as u64) < wanted;
        Ok(())
    }

    fn field(&self, at: usize) -> (&[u8], bool) {
        let Some(field) = self.fields.get(at) else { return (&[], false) };
        let of = if field.aside { &self.scratch } else { &self.buffer };
        (&of[field.start..field.end], field.quoted)
    }

    /// The next row, its fields into `fields`. `false` at the end. Lines that are no rows are
    /// noted.
    fn next(&mut self, bad: &mut Faults) -> io::Result<bool> {
        loop {
            match self.row() {
                Row::Whole(end) if self.start == end => return Ok(false),
                Row::Whole(end) => {
                    let (start, line) = (std::mem::replace(&mut self.start, end), self.line);
                    let ended = self.dialect.lines(&self.buffer[start..end]);
                    self.line_of_row = line;
                    self.line = line + ended.max(1);
                    // A line without anything is no row.
                    if self.fields.len() > 1 || self.fields.first().is_some_and(|field| field.quoted || field.start < field.end) {
                        return Ok(true);
                    }
                }
                Row::More if self.is_end => {
                    let line = self.line;
                    bad.note(|| format!("line {line}: a quote is not closed"));
                    self.skip_line()?;
                }
                Row::More if self.buffer.len() - self.start > LONGEST_ROW => {
                    let line = self.line;
                    bad.note(|| format!("line {line}: more than {LONGEST_ROW} bytes; perhaps a quote is not closed"));
                    self.skip_line()?;
                }
                Row::More => self.more()?,
            }
        }
    }

    /// Goes behind the next line break.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            match memchr(self.dialect.line_end, &self.buffer[self.start..]) {
                Some(at) => {
                    self.start += at + 1;
                    self.line += 1;
                    return Ok(());
                }
                None => {
                    self.start = self.buffer.len();
                    if self.is_end {
                        return Ok(());
                    }
                    self.more()?;
                }
            }
        }
    }

    /// Cuts the row that comes next into fields.
    fn row(&mut self) -> Row {
        self.fields.clear();
        self.scratch.clear();
        let buffer = &self.buffer[..];
        let mut at = self.start;
        loop {
            let field;
            if buffer.get(at) == Some(&b'"') {
                let mut from = at + 1;
                let first = self.scratch.len();
                let mut aside = false;
                let close = loop {
                    let Some(quote) = memchr(b'"', &buffer[from..]).map(|quote| from + quote) else { return Row::More };
                    match buffer.get(quote + 1) {
                        Some(b'"') => {
                            self.scratch.extend_from_slice(&buffer[from..=quote]);
                            aside = true;
                            from = quote + 2;
                        }
                        None if !self.is_end => return Row::More,
                        _ => break quote,
                    }
                };
                at = close + 1;
                let Some(end) = self.end_of_field(at) else { return Row::More };
                let behind = self.dialect.trimmed(buffer, at, end);
                if aside || behind > at {
                    self.scratch.extend_from_slice(&buffer[from..close]);
                    self.scratch.extend_from_slice(&buffer[at..behind]);
                    field = Field { start: first, end: self.scratch.len(), quoted: true, aside: true };
                } else {
                    field = Field { start: from, end: close, quoted: true, aside: false };
                }
                at = end;
            } else {
                let Some(end) = self.end_of_field(at) else { return Row::More };
                field = Field { start: at, end: self.dialect.trimmed(buffer, at, end), quoted: false, aside: false };
                at = end;
            }
            if self.fields.len() <= MOST_COLUMNS {
                self.fields.push(field);
            }
            match buffer.get(at) {
                Some(&byte) if byte == self.dialect.delimiter => at += 1,
                Some(_) => return Row::Whole(at + 1),
                None => return Row::Whole(at),
            }
        }
    }

    /// Where a field without quotes ends that begins here or before.
    fn end_of_field(&self, from: usize) -> Option<usize> {
        match memchr2(self.dialect.delimiter, self.dialect.line_end, &self.buffer[from..]) {
            Some(at) => Some(from + at),
            None => self.is_end.then_some(self.buffer.len()),
        }
    }
}

/// A text without the apostrophe that our export put before it.
fn unescaped(text: &str) -> &str {
    text.strip_prefix('\'').filter(|_| is_formula(text)).unwrap_or(text)
}

/// A column that is being read.
struct Reading {
    field: usize,
    want: Want,
    texts: RawTexts,
    numbers: Vec<i64>,
    faults: Faults,
    times: TimesReading,
}

impl Reading {
    fn put(&mut self, (bytes, quoted): (&[u8], bool), is_escaped: bool, line: u64, not_utf8: &mut Faults) {
        let column = self.field + 1;
        let Ok(text) = std::str::from_utf8(bytes) else {
            not_utf8.note(|| format!("line {line}, column {column}"));
            return self.put_raw(bytes, line);
        };
        match self.want {
            Want::Texts if text.is_empty() && !quoted => self.texts.push_none(),
            Want::Texts => self.texts.push(if is_escaped { unescaped(text) } else { text }),
            Want::Times | Want::TimesOf(_) => self.times.push(text, line),
            Want::Numbers => self.put_number(text, line, values::number),
            Want::Seconds => self.put_number(text, line, values::seconds),
        }
    }

    fn put_raw(&mut self, bytes: &[u8], line: u64) {
        match self.want {
            Want::Texts => self.texts.push_raw(bytes),
            Want::Times | Want::TimesOf(_) => self.times.push(&Encoding::UTF_8.text(bytes), line),
            Want::Numbers => self.put_number(&Encoding::UTF_8.text(bytes), line, values::number),
            Want::Seconds => self.put_number(&Encoding::UTF_8.text(bytes), line, values::seconds),
        }
    }

    fn put_number(&mut self, text: &str, line: u64, parse: fn(&str) -> Option<i64>) {
        let value = if values::is_missing(text.trim_ascii()) { Some(UNKNOWN) } else { parse(text) };
        if value.is_none() {
            let field = self.field + 1;
            self.faults.note(|| format!("line {line}, column {field} has {:?}", text.chars().take(60).collect::<String>()));
        }
        self.numbers.push(value.unwrap_or(UNKNOWN));
    }

    fn put_two(&mut self, date: &[u8], time: &[u8], line: u64) {
        self.times.push_two(&Encoding::UTF_8.text(date), &Encoding::UTF_8.text(time), line);
    }
}

/// What texts are in which some bytes are not UTF-8, and the sentence that says so.
fn inferred_encoding(columns: &[Reading], faults: &Faults) -> (TextsOf, Option<Inferred>) {
    let (mut raw, mut beyond_ascii) = (0, 0);
    for column in columns {
        raw += column.texts.raw();
        beyond_ascii += column.texts.beyond_ascii();
    }
    let places = faults.first.join("; ");
    let (texts, sentence) = if raw > beyond_ascii {
        (TextsOf::Encoding(Encoding::WINDOWS_1252), format!("its text is not UTF-8 ({places}) and is read as windows-1252"))
    } else {
        (TextsOf::Bytes, format!("bytes that are not UTF-8 are written as \\xNN ({places})"))
    };
    (texts, Some(Inferred { sentence, option: "--encoding" }))
}

impl Source for CsvTable<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn first_row(&self) -> Option<&[String]> {
        self.first_row.as_deref()
    }

    fn read(mut self, wanted: &[(usize, Want)], rules: &TimeRules) -> Result<Read, TableError> {
        let reading = |&(field, want): &(usize, Want)| Reading {
            field,
            want,
            texts: RawTexts::default(),
            numbers: Vec::new(),
            faults: Faults::default(),
            times: TimesReading::new(field, "line", rules),
        };
        let mut columns: Vec<Reading> = wanted.iter().map(reading).collect();
        let (mut bad, mut short, mut not_utf8) = (Faults::default(), Faults::default(), Faults::default());
        let mut rows = 0u64;
        loop {
            if !self.next(&mut bad)? {
                break;
            }
            let (fields, of) = (self.fields.len(), self.names.len());
            let line = self.line_of_row;
            if fields > of && (of..fields).any(|at| !self.field(at).0.is_empty()) {
                bad.note(|| format!("line {line}: {fields} fields for {of} columns"));
                continue;
            }
            if fields < of {
                short.note(|| format!("line {line}"));
            }
            rows += 1;
            if rows > FEW_ROWS && rows / ROWS_PER_BYTE > self.packed.get() {
                let message = format!("{} bytes give more than {rows} rows: it is made to fill the memory", self.packed.get());
                return Err(TableError::Refused(message));
            }
            if rows >= u64::from(NONE) - 16 {
                return Err(TooLarge { what: "rows" }.into());
            }
            let is_escaped = self.escaped.is_some_and(|at| self.field(at).0 == b"true");
            for column in &mut columns {
                match column.want {
                    Want::TimesOf(date) => column.put_two(self.field(date).0, self.field(column.field).0, line),
                    _ => column.put(self.field(column.field), is_escaped, line, &mut not_utf8),
                }
            }
        }
        let mut notes: Vec<String> = Vec::new();
        notes.extend(bad.sentence("line is no row and is left out", "lines are no rows and are left out"));
        notes.extend(short.sentence("row has fewer fields than there are columns", "rows have fewer fields than there are columns"));
        let mut inferred = self.inferred;
        let texts = match (not_utf8.count, self.encoding) {
            (0, _) => TextsOf::Bytes,
            (_, None) => {
                let (texts, sentence) = inferred_encoding(&columns, &not_utf8);
                inferred.extend(sentence);
                texts
            }
            (_, Some(encoding)) => {
                let what = format!("text is not {}; its bytes are written as \\xNN", encoding.name());
                notes.extend(not_utf8.sentence(&what, &what.replacen("text is", "texts are", 1)));
                TextsOf::Bytes
            }
        };
        let columns = columns.into_iter().map(|column| match column.want {
            Want::Texts => Got::Texts(column.texts.finish(texts)),
            Want::Times | Want::TimesOf(_) => Got::Times(Box::new(column.times)),
            Want::Numbers | Want::Seconds => Got::Numbers(column.numbers, column.faults),
        });
        Ok(Read { columns: columns.collect(), notes, inferred, bad_rows: bad.count })
    }
}
