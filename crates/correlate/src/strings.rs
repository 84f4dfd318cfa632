//! Texts that occur often, kept once.
//!
//! In go texts in any order ([`StringsBuilder`]); out come numbers for them. When all are in,
//! [`StringsBuilder::finish`] renumbers them in the order of the texts, so that a [`Sym`] depends
//! on what was read and not on the order in which it came, and comparing two of them is comparing
//! their texts.

use std::num::NonZeroU32;

use rustc_hash::FxHashMap;

/// The number of a text; sorts as the text does (by code point).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sym(NonZeroU32);

impl Sym {
    /// The text's place among all texts, from 0.
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    fn at(index: usize) -> Self {
        // Saturates far above what fits in memory: four thousand million different texts.
        Self(u32::try_from(index + 1).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX))
    }
}

/// Gives each different text a provisional number, in the order of first use.
#[derive(Debug, Default)]
pub struct StringsBuilder {
    known: FxHashMap<Box<str>, Sym>,
}

impl StringsBuilder {
    /// The provisional number of a text.
    pub fn intern(&mut self, text: &str) -> Sym {
        if let Some(&sym) = self.known.get(text) {
            return sym;
        }
        let sym = Sym::at(self.known.len());
        self.known.insert(text.into(), sym);
        sym
    }

    /// The texts in their order, and the final number of each provisional one.
    pub fn finish(self) -> (Strings, Renumbering) {
        let mut texts: Vec<(Box<str>, Sym)> = self.known.into_iter().collect();
        texts.sort_unstable();
        let mut strings = Strings::default();
        strings.text.reserve(texts.iter().map(|(text, _)| text.len()).sum());
        strings.ends.reserve(texts.len());
        let mut renumbering = Renumbering(vec![Sym::at(0); texts.len()]);
        for (index, (text, provisional)) in texts.into_iter().enumerate() {
            strings.text.push_str(&text);
            strings.ends.push(strings.text.len());
            renumbering.0[provisional.index()] = Sym::at(index);
        }
        (strings, renumbering)
    }
}

/// The final number of each text, by its provisional number.
#[derive(Debug)]
pub struct Renumbering(Vec<Sym>);

impl Renumbering {
    /// Replaces a provisional number by the final one.
    pub fn apply(&self, sym: &mut Sym) {
        *sym = self.0[sym.index()];
    }

    /// Renumbers in place where there is a text.
    pub fn apply_to(&self, sym: &mut Option<Sym>) {
        if let Some(sym) = sym {
            self.apply(sym);
        }
    }
}

/// All texts, each once, in ascending order.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Strings {
    text: String,
    ends: Vec<usize>,
}

impl Strings {
    /// The text of a number that came from here; empty for one that did not.
    pub fn get(&self, sym: Sym) -> &str {
        let index = sym.index();
        let start = if index == 0 { 0 } else { self.ends.get(index - 1).copied().unwrap_or(0) };
        self.ends.get(index).and_then(|&end| self.text.get(start..end)).unwrap_or("")
    }

    /// The number of a text, if it occurs.
    pub fn find(&self, text: &str) -> Option<Sym> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(Sym::at(middle)).cmp(text) {
                std::cmp::Ordering::Equal => return Some(Sym::at(middle)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// All texts, in the order of their symbols.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.get(Sym::at(index)))
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sort_as_texts_whatever_came_first() {
        let words = ["b", "a", "", "ä", "b", "8_*", "8_3"];
        let number = |words: &[&str]| {
            let mut builder = StringsBuilder::default();
            let mut syms: Vec<Sym> = words.iter().map(|w| builder.intern(w)).collect();
            let (strings, renumbering) = builder.finish();
            syms.iter_mut().for_each(|s| renumbering.apply(s));
            for (word, sym) in words.iter().zip(&syms) {
                assert_eq!(strings.get(*sym), *word);
                assert_eq!(strings.find(word), Some(*sym));
            }
            strings
        };
        let mut backwards = words;
        backwards.reverse();
        let strings = number(&words);
        assert_eq!(strings, number(&backwards));
        assert_eq!(strings.len(), 6);
        assert_eq!(strings.find("c"), None);
        assert!(strings.find("a") < strings.find("b") && strings.find("b") < strings.find("ä"));
        assert_eq!(size_of::<Option<Sym>>(), 4);
    }
}
