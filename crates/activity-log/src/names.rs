//! Names, each kept once and known by its number.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Texts in one piece of memory, numbered from 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    text: String,
    ends: Vec<usize>,
}

impl Names {
    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Number of bytes that the texts and their places take in memory.
    pub fn size_bytes(&self) -> usize {
        self.text.len() + size_of_val(&self.ends[..])
    }

    /// The text of a number; empty when there is no such number.
    pub fn get(&self, number: u32) -> &str {
        let at = number as usize;
        let Some(&end) = self.ends.get(at) else { return "" };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start..end]
    }

    /// All in the order of their numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at as u32))
    }

    /// Adds a text, even if it is there already, and gives its number.
    pub fn push(&mut self, text: &str) -> u32 {
        self.text.push_str(text);
        self.ends.push(self.text.len());
        (self.ends.len() - 1) as u32
    }

    /// The number of a text, found by looking at all.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.iter().position(|name| name == text).map(|at| at as u32)
    }

    /// The numbers in the order of their texts (by code point).
    pub fn sorted(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| self.get(a).cmp(self.get(b)).then(a.cmp(&b)));
        order
    }
}

impl<S: AsRef<str>> FromIterator<S> for Names {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> Self {
        let mut names = Self::default();
        texts.into_iter().for_each(|text| {
            names.push(text.as_ref());
        });
        names
    }
}

/// Gives numbers to texts, the same number to the same text.
#[derive(Debug, Clone, Default)]
pub struct Interner {
    names: Names,
    table: HashTable<u32>,
}

fn hash(text: &str) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(text)
}

impl Interner {
    /// Reserves room for `more` further texts.
    pub fn reserve(&mut self, more: usize) {
        let names = &self.names;
        self.table.reserve(more, |&number| hash(names.get(number)));
    }

    /// The number of a text, a new one if it has none yet.
    pub fn intern(&mut self, text: &str) -> u32 {
        let names = &mut self.names;
        let key = hash(text);
        if let Some(&number) = self.table.find(key, |&number| names.get(number) == text) {
            return number;
        }
        let number = names.push(text);
        let names = &self.names;
        self.table.insert_unique(key, number, |&number| hash(names.get(number)));
        number
    }

    /// The number of a text that has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.table.find(hash(text), |&number| self.names.get(number) == text).copied()
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The texts so far, by their numbers.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// All texts, by their numbers.
    pub fn into_names(self) -> Names {
        self.names
    }
}

impl From<Names> for Interner {
    fn from(names: Names) -> Self {
        let mut interner = Self::default();
        for at in 0..names.len() as u32 {
            let key = hash(names.get(at));
            if interner.table.find(key, |&number| names.get(number) == names.get(at)).is_none() {
                interner.table.insert_unique(key, at, |&number| hash(names.get(number)));
            }
        }
        interner.names = names;
        interner
    }
}
