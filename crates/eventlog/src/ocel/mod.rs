//! OCEL 2.0: an object-centric log in; JSON, XML or SQLite out.
//!
//! All three hold the same: types, objects, events, relations with qualifiers, and for each value
//! of an object's attribute since when it holds. What OCEL does not have at all, lists and
//! attributes of attributes, becomes text, see [`crate::nested`].

pub mod json;
pub mod sqlite;
pub mod xml;
