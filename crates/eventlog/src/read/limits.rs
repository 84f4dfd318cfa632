//! How large the parts of a log file may be.

/// How large the parts of a file may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one text: a value, a key, an id.
    pub text_bytes: usize,
    /// Bytes of one event, object or head of a trace, with all that is in it.
    pub record_bytes: usize,
    /// How deep elements, lists and attributes of attributes may be nested.
    pub depth: usize,
    /// How many event types, object types, attributes of one type, extensions, globals and
    /// classifiers there may be, each.
    pub definitions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text_bytes: 16 << 20, record_bytes: 64 << 20, depth: 64, definitions: 100_000 }
    }
}
