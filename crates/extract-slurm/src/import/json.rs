//! Slurm's JSON, read so that nothing odd in one job harms the others.
//!
//! Slurm 21.08 and 22.05 write plain numbers and strings; the data_parser plugins (from 23.02,
//! named `v0.0.39` and on) write `{"set": …, "infinite": …, "number": …}` for numbers that can be
//! missing, lists for states, objects for exit codes; and both change between versions. So a job is
//! kept as a tree of the few keys that are of use, whatever their type, and each reader asks for
//! what it wants. Only syntax can fail, and what was read before stays.
//!
//! json-c writes bytes that are no UTF-8 as they are, which JSON does not allow; they are made
//! `\xNN` first, as in [`flowmine_schema::text`].

use std::borrow::Cow;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::error::ImportError;
use super::kind::FileKind;
use flowmine_slurm::units::shown;

/// What a number in Slurm's JSON says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Absent, null, `set: false`, or Slurm's NO_VAL.
    Nothing,
    /// `infinite: true`, or Slurm's INFINITE.
    Infinite,
    /// A number that is neither of these.
    Is(i64),
    /// Something that is no number.
    Odd,
}

impl Number {
    /// The number when it is one.
    pub fn value(self) -> Option<i64> {
        match self {
            Number::Is(number) => Some(number),
            _ => None,
        }
    }
}

/// One job of a file, its keys and their values.
pub struct Job {
    keys: Map<String, Value>,
    /// Strings are as the file has them: their backslashes must still be doubled
    /// ([`text::decode`]). Otherwise they were already.
    plain: bool,
    /// Which job of the file, from 1.
    pub number: u64,
}

impl Job {
    /// The value at a path of keys; JSON's null is nothing.
    pub fn get(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        let value = rest.iter().try_fold(self.keys.get(*first)?, |value, key| value.get(*key))?;
        Some(value).filter(|value| !value.is_null())
    }

    /// Text at a path, as the tables have it; nothing when it is empty or no text.
    pub fn text(&self, path: &[&str]) -> Option<Cow<'static, str>> {
        self.decode(self.get(path)?.as_str()?)
    }

    /// A string of this file as the tables have it.
    pub fn decode(&self, text: &str) -> Option<Cow<'static, str>> {
        if text.is_empty() {
            return None;
        }
        Some(if self.plain { text::decode(text.as_bytes()).into_owned() } else { text.to_owned() }.into())
    }

    /// The number at a path of names.
    pub fn number(&self, path: &[&str]) -> Number {
        number(self.get(path))
    }

    /// A number at a path that is not 0, which is Slurm's word for "not set" in times and ids.
    pub fn nonzero(&self, path: &[&str]) -> Option<i64> {
        self.number(path).value().filter(|&number| number != 0)
    }

    /// A time in seconds since 1970 as nanoseconds.
    pub fn time(&self, path: &[&str]) -> Option<i64> {
        flowmine_schema::time::from_seconds(self.nonzero(path).filter(|&seconds| seconds > 0)?)
    }

    /// A state, or the state that says most of several.
    pub fn states(&self, path: &[&str]) -> Vec<Cow<'static, str>> {
        match self.get(path) {
            Some(Value::String(state)) => self.decode(state).into_iter().collect(),
            Some(Value::Array(states)) => states.iter().filter_map(|state| self.decode(state.as_str()?)).collect(),
            _ => Vec::new(),
        }
    }

    /// Says that something about this job is wrong.
    pub fn warn(&self, code: &'static str, what: &str) -> Diagnostic {
        Diagnostic::warning(code, self.about(what))
    }

    /// Says why this job is not taken.
    pub fn reject(&self, what: &str) -> Diagnostic {
        Diagnostic::error("job_rejected", self.about(what))
    }

    fn about(&self, what: &str) -> String {
        match self.nonzero(&["job_id"]) {
            Some(id) => format!("job {id} (number {} of the file): {what}", self.number),
            None => format!("job number {} of the file: {what}", self.number),
        }
    }
}

/// What a value says as a number.
pub fn number(value: Option<&Value>) -> Number {
    // slurm.h: NO_VAL is -2 and INFINITE is -1, in 32 and in 64 bits.
    const NO_VAL: i64 = 0xffff_fffe;
    const INFINITE: i64 = 0xffff_ffff;
    match value {
        None | Some(Value::Null) => Number::Nothing,
        Some(Value::Number(number)) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(NO_VAL | -2), _, _) | (_, Some(0xffff_ffff_ffff_fffe), _) => Number::Nothing,
            (Some(INFINITE | -1), _, _) | (_, Some(u64::MAX), _) => Number::Infinite,
            (Some(number), _, _) => Number::Is(number),
            (_, _, Some(number)) if number.abs() < 9.0e15 => Number::Is(number as i64),
            _ => Number::Odd,
        },
        Some(Value::String(text)) => match text.as_str() {
            "" => Number::Nothing,
            "UNLIMITED" | "INFINITE" => Number::Infinite,
            text => flowmine_slurm::units::digits(text.as_bytes()).map_or(Number::Odd, Number::Is),
        },
        Some(Value::Object(fields)) => {
            let says = |key: &str| fields.get(key).and_then(Value::as_bool);
            match (says("infinite"), says("set")) {
                (Some(true), _) => Number::Infinite,
                (_, Some(false)) => Number::Nothing,
                _ => match fields.get("number") {
                    Some(Value::Object(_)) => Number::Odd,
                    number => self::number(number),
                },
            }
        }
        Some(Value::Bool(_) | Value::Array(_)) => Number::Odd,
    }
}

/// What stands around the jobs.
#[derive(Debug, Default)]
pub struct Around {
    /// The file's `meta`, as it stands there; null without one.
    pub meta: Value,
    /// The file's `last_update`.
    pub last_update: Value,
    /// How many jobs there were.
    pub jobs: u64,
    /// Whether the file had the key `jobs`.
    pub has_jobs: bool,
}

impl Around {
    /// Returns the name of the cluster that the file names as its source.
    pub fn cluster(&self) -> Option<String> {
        let names = [&["slurm", "cluster"][..], &["Slurm", "cluster"]];
        names
            .iter()
            .find_map(|path| Some(path.iter().try_fold(&self.meta, |value, key| value.get(*key))?.as_str()?.to_owned()))
            .filter(|name| !name.is_empty())
    }
}

/// Reads a file: `each` gets every job with only the keys in `keep`.
///
/// What is wrong with the syntax is an error only when no job stands before it.
pub fn read(
    bytes: &[u8],
    kind: FileKind,
    keep: &[&str],
    diagnostics: &mut Diagnostics,
    mut each: impl FnMut(&Job, &mut Diagnostics),
) -> Result<Around, ImportError> {
    let Some((bytes, plain)) = make_utf8(bytes) else {
        let why = "half of it is not UTF-8; convert the file with iconv -f ENCODING -t UTF-8".to_owned();
        return Err(ImportError::Json { kind, line: 1, column: 1, why });
    };
    let mut around = Around::default();
    let mut json = serde_json::Deserializer::from_slice(&bytes);
    let mut documents = 0;
    let failed = loop {
        let whole = Whole { keep, plain, around: &mut around, diagnostics, each: &mut each };
        if let Err(error) = whole.deserialize(&mut json) {
            break Some(error);
        }
        documents += 1;
        match json.end() {
            Ok(()) => break None,
            // Another document follows. Of accounting it is read too, since it cannot contradict; and what is no document fails there.
            Err(error) if kind == FileKind::SqueueJson && byte_at(&bytes, error.line(), error.column()) == Some(b'{') => {
                return Err(ImportError::SeveralPolls { line: error.line() as u64 });
            }
            Err(_) => {}
        }
    };
    if let Some(error) = failed {
        let (line, column) = (error.line() as u64, error.column() as u64);
        let why = if error.is_eof() {
            "the file ends in the middle; it was cut short".to_owned()
        } else {
            text::visible(&error.to_string()).into_owned()
        };
        if around.jobs == 0 && documents == 0 {
            return Err(ImportError::Json { kind, line, column, why });
        }
        let message = format!("{why}; the {} jobs before it are read, what follows is not", around.jobs);
        diagnostics.push(Diagnostic::error("json_bad", message).at(line, Some(column)));
    }
    if !around.has_jobs {
        return Err(ImportError::Json { kind, line: 1, column: 1, why: "there is no list of jobs".to_owned() });
    }
    Ok(around)
}

/// The byte at which serde_json says that something is wrong; its columns count from 1.
fn byte_at(bytes: &[u8], line: usize, column: usize) -> Option<u8> {
    bytes.split(|&b| b == b'\n').nth(line.checked_sub(1)?)?.get(column.checked_sub(1)?).copied()
}

/// The document: an object with `jobs`, or the list itself.
struct Whole<'r, F> {
    keep: &'r [&'r str],
    plain: bool,
    around: &'r mut Around,
    diagnostics: &'r mut Diagnostics,
    each: &'r mut F,
}

impl<'de, F: FnMut(&Job, &mut Diagnostics)> DeserializeSeed<'de> for Whole<'_, F> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(&Job, &mut Diagnostics)> Visitor<'de> for Whole<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object with a list of jobs")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match key.as_ref() {
                "jobs" => map.next_value_seed(Jobs(&mut self))?,
                "meta" => self.around.meta = map.next_value()?,
                "last_update" => self.around.last_update = map.next_value()?,
                "errors" | "warnings" => {
                    let list: Value = map.next_value()?;
                    self.tell(&list);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, list: A) -> Result<(), A::Error> {
        Jobs(&mut self).visit_seq(list)
    }
}

impl<F> Whole<'_, F> {
    /// Slurm's own errors and warnings.
    fn tell(&mut self, list: &Value) {
        for item in list.as_array().into_iter().flatten() {
            let said = item
                .get("description")
                .or_else(|| item.get("error"))
                .and_then(Value::as_str)
                .map_or_else(|| item.to_string(), str::to_owned);
            self.diagnostics.push(Diagnostic::warning("slurm_said", format!("Slurm reports: {}", shown(said.as_bytes()))));
        }
    }
}

/// Reads the list of jobs of a file, one job after the other.
struct Jobs<'w, 'r, F>(&'w mut Whole<'r, F>);

impl<'de, F: FnMut(&Job, &mut Diagnostics)> DeserializeSeed<'de> for Jobs<'_, '_, F> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(&Job, &mut Diagnostics)> Visitor<'de> for Jobs<'_, '_, F> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of jobs")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.around.has_jobs = true;
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let whole = self.0;
        whole.around.has_jobs = true;
        while let Some(keys) = list.next_element_seed(OneJob(whole.keep))? {
            whole.around.jobs += 1;
            let number = whole.around.jobs;
            match keys {
                Some(keys) => (whole.each)(&Job { keys, plain: whole.plain, number }, whole.diagnostics),
                None => whole.diagnostics.push(Diagnostic::error("job_rejected", format!("job number {number} of the file is no object"))),
            }
        }
        Ok(())
    }
}

/// One job: the keys to keep, or `None` when it is no object.
struct OneJob<'k>(&'k [&'k str]);

impl<'de> DeserializeSeed<'de> for OneJob<'_> {
    type Value = Option<Map<String, Value>>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneJob<'_> {
    type Value = Option<Map<String, Value>>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a job")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut keys = Map::new();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if self.0.contains(&key.as_ref()) {
                keys.insert(key.into_owned(), map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Some(keys))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// Makes bytes valid UTF-8. The flag is true when they were valid; strings must then still go
/// through [`text::decode`]. Otherwise this is done here: invalid bytes are `\\xNN`, and a
/// backslash before an `x` is `\\x5c`, both with the backslash doubled for JSON. `None` when the
/// number of invalid bytes indicates another encoding and not a few odd names: each becomes five
/// bytes.
fn make_utf8(bytes: &[u8]) -> Option<(Cow<'_, [u8]>, bool)> {
    if std::str::from_utf8(bytes).is_ok() {
        return Some((Cow::Borrowed(bytes), true));
    }
    let most = bytes.len().saturating_mul(2).max(1 << 20);
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    for chunk in bytes.utf8_chunks() {
        double(chunk.valid().as_bytes(), &mut out);
        for byte in chunk.invalid() {
            out.extend_from_slice(format!("\\\\x{byte:02x}").as_bytes());
        }
        if out.len() > most {
            return None;
        }
    }
    Some((Cow::Owned(out), false))
}

/// Copies, with the backslash of a literal `\x` as `\x5c`. An escape never spans invalid bytes:
/// what follows its backslash is ASCII.
fn double(valid: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(backslash) = memchr::memchr(b'\\', &valid[at..]) {
        out.extend_from_slice(&valid[at..at + backslash]);
        at += backslash;
        let length = match valid.get(at + 1) {
            None => 1,
            Some(b'u') => 6.min(valid.len() - at),
            Some(_) => 2,
        };
        let escape = &valid[at..at + length];
        let next = &valid[at + length..];
        let is_backslash = escape == b"\\\\" || escape.eq_ignore_ascii_case(b"\\u005c");
        if is_backslash && (next.starts_with(b"x") || next.starts_with(b"\\u0078")) {
            out.extend_from_slice(b"\\\\x5c");
        } else {
            out.extend_from_slice(escape);
        }
        at += length;
    }
    out.extend_from_slice(&valid[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_of_all_versions() {
        for (value, expected) in [
            (json!(null), Number::Nothing),
            (json!(7), Number::Is(7)),
            (json!(7.0), Number::Is(7)),
            (json!("7"), Number::Is(7)),
            (json!({"set": true, "infinite": false, "number": 7}), Number::Is(7)),
            (json!({"set": false, "infinite": false, "number": 7}), Number::Nothing),
            (json!({"set": false, "infinite": true, "number": 0}), Number::Infinite),
            (json!({"set": true, "infinite": false, "number": 80.0}), Number::Is(80)),
            (json!({"number": {"number": 7}}), Number::Odd),
            (json!(4_294_967_294u32), Number::Nothing),
            (json!(u32::MAX), Number::Infinite),
            (json!(u64::MAX - 1), Number::Nothing),
            (json!([1]), Number::Odd),
        ] {
            assert_eq!(number(Some(&value)), expected, "{value}");
        }
    }

    fn names(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut names = Vec::new();
        read(bytes, FileKind::SqueueJson, &["name"], &mut Diagnostics::default(), |job, _| {
            names.push(text::encode(&job.text(&["name"]).unwrap()))
        })
        .unwrap();
        names
    }

    #[test]
    fn bytes_that_are_no_utf8_come_through() {
        let file = b"{\"jobs\": [{\"name\": \"bad\xff\xfeutf \\\\x41 \\\\\\\\x \\u005cx \\\\\\u0078 \\\\n\"}]}";
        assert_eq!(names(file), [b"bad\xff\xfeutf \\x41 \\\\x \\x \\x \\n".to_vec()]);
        let valid = b"{\"jobs\": [{\"name\": \"utf \\\\x41 \\\\\\\\x \\u005cx \\\\\\u0078 \\\\n\"}]}";
        assert_eq!(names(valid), [b"utf \\x41 \\\\x \\x \\x \\n".to_vec()]);
    }

    #[test]
    fn a_cut_file_keeps_what_stands_before() {
        let mut diagnostics = Diagnostics::default();
        let mut count = 0;
        read(b"{\"jobs\": [{\"name\": \"a\"},\n{\"na", FileKind::SqueueJson, &["name"], &mut diagnostics, |_, _| count += 1).unwrap();
        assert_eq!(count, 1);
        let told: Vec<_> = diagnostics.iter().map(|d| (d.code, d.line)).collect();
        assert_eq!(told, [("json_bad", Some(2))]);
        let nothing = read(b"{\"jobs\": [{\"na", FileKind::SqueueJson, &["name"], &mut diagnostics, |_, _| ());
        assert!(matches!(nothing, Err(ImportError::Json { line: 1, .. })));
    }

    #[test]
    fn a_job_that_is_none_harms_no_other() {
        let mut diagnostics = Diagnostics::default();
        let mut count = 0;
        let file = br#"{"jobs": [1, {"name": "a"}, "x", [{"name": 1}], null, {"name": {}}]}"#;
        let around = read(file, FileKind::SqueueJson, &["name"], &mut diagnostics, |_, _| count += 1).unwrap();
        assert_eq!((around.jobs, count, diagnostics.errors()), (6, 2, 4));
    }
}
