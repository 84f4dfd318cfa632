//! Texts that were replaced lately, so that the names of a million rows are not hashed a million
//! times.
//!
//! The cache changes no result. It is emptied when it holds more than [`MOST_BYTES`], so that
//! memory does not grow with the dataset. Its hashing is seeded at random, since the texts are
//! chosen by users.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The most bytes of text in a cache: the names of a large site, yet not much more than a
/// processor's own cache.
const MOST_BYTES: usize = 4 << 20;

/// How a text is replaced. Each has results of its own.
pub(super) const WAYS: usize = 16;

#[derive(Default)]
struct Known {
    of: [HashMap<Box<str>, Box<str>>; WAYS],
    bytes: usize,
}

/// A cache that threads can share.
#[derive(Default)]
pub(super) struct Cache(Mutex<Known>);

impl Cache {
    /// The text's replacement in this way (below [`WAYS`]; others are not kept).
    pub fn get(&self, way: usize, text: &str, replace: impl FnOnce() -> String) -> String {
        {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = known.of.get(way).and_then(|of| of.get(text)) {
                return String::from(&**found);
            }
        }
        let new = replace();
        let size = text.len() + new.len() + 64;
        if size <= MOST_BYTES / 4 {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.bytes + size > MOST_BYTES {
                *known = Known::default();
            }
            if let Some(of) = known.of.get_mut(way)
                && of.insert(text.into(), new.as_str().into()).is_none()
            {
                known.bytes += size;
            }
        }
        new
    }
}
