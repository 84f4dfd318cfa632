//! A name of its own for each case of a log.
//!
//! In XES a trace can be without `concept:name`, and several can have the same one. In a table and
//! among objects a case is what its name says: without names of their own such traces would become
//! one. The first trace of a name keeps it, the second is `NAME#2`, and the fifth trace of a log is
//! `case 5` if it has none.

use std::borrow::Cow;
use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::attribute::{Attribute, Value};
use crate::error::LogError;
use crate::id_hash::IdHash;
use crate::log::{Batches, CaseHeader, CaseLog, rebatched};
use crate::record::{self, Batch, BatchBuilder, Record};

/// The attribute of a trace that names its case.
pub const KEY: &str = "concept:name";

/// Gives names, trace after trace. Holds 16 bytes for each.
#[derive(Debug, Default)]
pub struct CaseNames {
    taken: FxHashSet<IdHash>,
    cases: u64,
}

/// What a case is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseName {
    /// The name, different from all before.
    pub name: String,
    /// The trace's own name (`concept:name`); `None` when it has none.
    pub told: Option<String>,
}

impl CaseName {
    /// Whether the name is not the trace's own.
    pub fn is_new(&self) -> bool {
        self.told.as_deref() != Some(&*self.name)
    }
}

impl CaseNames {
    /// The name of the next trace, which has these attributes.
    pub fn next(&mut self, attributes: &[Attribute<'_>]) -> CaseName {
        self.cases += 1;
        let told = Attribute::find(attributes, KEY).and_then(|attribute| attribute.value.as_name()).filter(|name| !name.is_empty());
        let first = told.as_deref().map_or_else(|| format!("case {}", self.cases), str::to_owned);
        let mut name = first.clone();
        let mut again = 1;
        while !self.taken.insert(IdHash::new(&name)) {
            again += 1;
            name = format!("{first}#{again}");
        }
        CaseName { name, told: told.map(Cow::into_owned) }
    }
}

/// A log in which each trace has a unique name.
pub struct WithCaseNames<'l>(pub &'l dyn CaseLog);

impl CaseLog for WithCaseNames<'_> {
    fn header(&self) -> &CaseHeader {
        self.0.header()
    }

    fn traces(&self) -> Batches<'_> {
        let mut names = CaseNames::default();
        rebatched(self.0.traces(), move |batch, filling, ready| rename(batch, &mut names, filling, ready))
    }
}

fn rename(batch: &Batch, names: &mut CaseNames, filling: &mut BatchBuilder, ready: &mut VecDeque<Batch>) -> Result<(), LogError> {
    for piece in batch.pieces() {
        if !record::is_trace(piece) {
            ready.extend(filling.push_piece(piece));
            continue;
        }
        let Record::Trace(mut attributes) = Record::decode(piece)? else { return Err(LogError::Damaged) };
        let name = Value::String(names.next(&attributes).name.into());
        match attributes.iter_mut().find(|attribute| attribute.key == KEY) {
            Some(attribute) => attribute.value = name,
            None => attributes.insert(0, Attribute::new(KEY, name)),
        }
        ready.extend(filling.push(&Record::Trace(attributes)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own() {
        let mut names = CaseNames::default();
        let mut next = |value: Option<Value<'static>>| {
            let name = names.next(&value.map(|value| Attribute::new(KEY, value)).into_iter().collect::<Vec<_>>());
            let new = name.is_new();
            (name.name, new)
        };
        let text = |text: &'static str| Some(Value::String(text.into()));
        assert_eq!(next(text("a")), ("a".to_owned(), false));
        assert_eq!(next(text("a")), ("a#2".to_owned(), true));
        assert_eq!(next(text("a#2")), ("a#2#2".to_owned(), true));
        assert_eq!(next(None), ("case 4".to_owned(), true));
        assert_eq!(next(text("")), ("case 5".to_owned(), true));
        assert_eq!(next(Some(Value::Integer(7))), ("7".to_owned(), false));
        assert_eq!(next(Some(Value::Container)), ("case 7".to_owned(), true));
        assert_eq!(next(text("case 9")), ("case 9".to_owned(), false));
        assert_eq!(next(None), ("case 9#2".to_owned(), true));
    }
}
