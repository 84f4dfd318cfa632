//! The input of everything here: the distinct traces of a log, each with how many cases ran so.
//!
//! In: names of activities, and traces as indices into them. Out: [`Variants`], sorted and without
//! doubles, so that results do not depend on the order of the input. Refused: an index that names
//! no activity, and more events than `u32` can count.

use crate::Error;

/// One distinct trace and the number of cases that ran exactly so.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variant {
    /// The activities in order, as indices into [`Variants::activities`]. May be empty.
    pub trace: Vec<u32>,
    /// How many cases ran so.
    pub count: u64,
}

/// The distinct traces of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variants {
    activities: Vec<String>,
    variants: Vec<Variant>,
}

impl Variants {
    /// Checks and orders traces: sorted by their indices, equal ones joined, those of no case left
    /// out.
    ///
    /// # Errors
    /// [`Error::NoSuchActivity`] for an index beyond `activities`, [`Error::TooLarge`] beyond
    /// `u32::MAX` activities or cases that `u64` cannot count.
    pub fn new(activities: Vec<String>, mut variants: Vec<Variant>) -> Result<Self, Error> {
        let known = u32::try_from(activities.len()).map_err(|_| Error::TooLarge { what: "activities", limit: u64::from(u32::MAX) })?;
        for variant in &variants {
            if let Some(&index) = variant.trace.iter().find(|&&a| a >= known) {
                return Err(Error::NoSuchActivity { index, known });
            }
        }
        variants.retain(|v| v.count > 0);
        variants.sort_unstable();
        let mut kept: Vec<Variant> = Vec::with_capacity(variants.len());
        let mut cases = 0u64;
        for variant in variants {
            cases = cases.checked_add(variant.count).ok_or(Error::TooLarge { what: "cases", limit: u64::MAX })?;
            match kept.last_mut() {
                Some(last) if last.trace == variant.trace => last.count += variant.count,
                _ => kept.push(variant),
            }
        }
        Ok(Self { activities, variants: kept })
    }

    /// The variants of traces given by name; activities are numbered in the order of their names.
    ///
    /// # Errors
    /// As [`Variants::new`].
    pub fn from_names<T: AsRef<[S]>, S: AsRef<str>>(traces: impl IntoIterator<Item = (T, u64)>) -> Result<Self, Error> {
        let traces: Vec<(T, u64)> = traces.into_iter().collect();
        let mut names: Vec<&str> = traces.iter().flat_map(|(t, _)| t.as_ref().iter().map(AsRef::as_ref)).collect();
        names.sort_unstable();
        names.dedup();
        let mut variants = Vec::with_capacity(traces.len());
        for (trace, count) in &traces {
            let mut indices = Vec::with_capacity(trace.as_ref().len());
            for name in trace.as_ref() {
                // Every name is in the list that was made of them.
                let at = names.binary_search(&name.as_ref()).unwrap_or(0);
                indices.push(u32::try_from(at).map_err(|_| Error::TooLarge { what: "activities", limit: u64::from(u32::MAX) })?);
            }
            variants.push(Variant { trace: indices, count: *count });
        }
        Self::new(names.iter().map(|&n| n.to_owned()).collect(), variants)
    }

    /// The names of the activities.
    pub fn activities(&self) -> &[String] {
        &self.activities
    }

    /// The distinct traces, sorted.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// How many cases there are.
    pub fn cases(&self) -> u64 {
        self.variants.iter().map(|v| v.count).sum()
    }
}
