//! JSON from other programs as a tree, with bounded memory.
//!
//! Three bytes of text (`[],`) become up to a hundred bytes of a tree, so that the size of the text
//! is no bound: values are counted while the tree grows. serde_json bounds the nesting (128).

use std::cell::Cell;
use std::fmt;

use flowmine_schema::diagnostic::Diagnostic;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Maximum number of values in one document: enough for several hundred thousand tasks.
const MOST_VALUES: u64 = 10_000_000;

/// Parses a text that contains one value.
///
/// # Errors
/// When it is not JSON or has too many values.
pub fn from_str(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).map(|Document(value)| value)
}

/// Parses a JSON value from bytes, as [`from_str`] does from text.
///
/// # Errors
/// As [`from_str`].
pub fn from_slice(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes).map(|Document(value)| value)
}

/// Parses the value with which a text begins, and ignores the rest.
///
/// # Errors
/// As [`from_str`].
pub fn first(text: &str) -> Result<Value, serde_json::Error> {
    Document::deserialize(&mut serde_json::Deserializer::from_str(text)).map(|Document(value)| value)
}

/// Parses the values of a text, which may be on one line or on many, and passes each with the line
/// on which it begins. A broken or truncated value is a diagnostic; parsing then resumes at the
/// next line that begins with `{`.
pub fn each(text: &str, mut see: impl FnMut(Result<Value, Diagnostic>, u64)) {
    let (mut begin, mut line) = (0, 1);
    while begin < text.len() {
        let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter::<Document>();
        let (mut counted, mut error) = (0, None);
        loop {
            let from = begin + values.byte_offset();
            let Some(value) = values.next() else { break };
            let blank = text[from..].len() - text[from..].trim_start().len();
            line += newlines(&text[begin + counted..from + blank]);
            counted = from + blank - begin;
            match value {
                Ok(Document(value)) => see(Ok(value), line),
                Err(e) => {
                    error = Some((from + blank, e));
                    break;
                }
            }
        }
        let Some((from, e)) = error else { break };
        let message = format!("an object that begins here is no JSON: {}", without_place(&e));
        see(Err(Diagnostic::error("json_bad", message).at(line, Some(1))), line);
        let Some(next) = text[from..].find("\n{") else { break };
        begin = from + next + 1;
        line += newlines(&text[from..begin]);
    }
}

fn newlines(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
}

/// Returns serde_json's message without its position, which counts from the start of the parse.
fn without_place(e: &serde_json::Error) -> String {
    let message = e.to_string();
    message.split(" at line ").next().unwrap_or(&message).to_owned()
}

/// A value with all its contents.
struct Document(Value);

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Tree { left: &Cell::new(MOST_VALUES) }.deserialize(deserializer).map(Self)
    }
}

/// Builds a tree until the number of values is exhausted.
#[derive(Clone, Copy)]
struct Tree<'c> {
    left: &'c Cell<u64>,
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => {
                return Err(D::Error::custom(format_args!(
                    "there are more than {MOST_VALUES} values; split the file and import its parts"
                )));
            }
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(truth.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self)? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            values.insert(key, map.next_value_seed(self)?);
        }
        Ok(values.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_what_serde_json_reads(text in r#"([\[\]{},: ]|"|\\|1|-|0\.5|e5|null|true|"a":|"\\n"|\n|é){0,12}"#) {
            let ours = from_str(&text).map_err(|e| e.to_string());
            prop_assert_eq!(ours, serde_json::from_str::<Value>(&text).map_err(|e| e.to_string()));
        }
    }

    #[test]
    fn too_many_values() {
        let of = |values: u64| {
            let mut json = serde_json::Deserializer::from_str("[[],{\"a\":[1,2]}]");
            Tree { left: &Cell::new(values) }.deserialize(&mut json)
        };
        assert!(of(6).is_ok());
        assert!(of(5).unwrap_err().to_string().contains("values"));
    }
}
