//! JSON of others as a tree, of which memory has a bound.
//!
//! Three bytes of text (`[],`) become up to a hundred of a tree, so that a file that may be held as
//! a text may not be held as a tree; values are counted while it grows. How deep they are nested is
//! bounded by serde_json (128).

use std::cell::Cell;
use std::fmt;

use flowmine_schema::diagnostic::Diagnostic;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Values of one document, with all that is in it: some hundred thousand tasks.
const MOST_VALUES: u64 = 10_000_000;

/// The one value of a text.
///
/// # Errors
/// When it is no JSON or too much of it.
pub fn from_str(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).map(|Document(value)| value)
}

/// Reads a JSON value from bytes, as [`from_str`] does from text.
///
/// # Errors
/// As [`from_str`].
pub fn from_slice(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes).map(|Document(value)| value)
}

/// The value with which a text begins, whatever follows it.
///
/// # Errors
/// As [`from_str`].
pub fn first(text: &str) -> Result<Value, serde_json::Error> {
    Document::deserialize(&mut serde_json::Deserializer::from_str(text)).map(|Document(value)| value)
}

/// The values of a text that stand one after the other, on one line or on many, each with the line
/// on which it begins. One that is broken or cut is a diagnostic, and the next one begins where an
/// object begins a line.
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

/// serde_json's message without its place, which counts from where reading began.
fn without_place(e: &serde_json::Error) -> String {
    let message = e.to_string();
    message.split(" at line ").next().unwrap_or(&message).to_owned()
}

/// A value with all that is in it.
struct Document(Value);

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Tree { left: &Cell::new(MOST_VALUES) }.deserialize(deserializer).map(Self)
    }
}

/// Makes a tree while values are left.
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
