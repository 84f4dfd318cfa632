//! Objects merged from rows of different tables.
//!
//! In go objects, relations and mentions in any order; out come the objects, each once, with all of
//! its relations. An object that a relation or event refers to and that no table describes has no
//! attributes, but is included to keep the relation. All records are sorted by id outside of
//! memory, which holds one object.

use flowmine_eventlog::sorted::SortRecords;
use flowmine_eventlog::{Attribute, LogError, Object, Record, Relation};
use flowmine_spill::{Sorted, Sorter, put_ordered_text};

const TOLD: u8 = 0;
/// Described as well, and there only if something leads to it.
const ON_DEMAND: u8 = 1;
const RELATION: u8 = 2;
const MENTION: u8 = 3;

/// Takes parts of objects in any order and merges them.
#[derive(Default)]
pub struct Assembler {
    parts: Sorter,
    key: Vec<u8>,
}

/// The place of an object among all: its type's, then its id's.
pub fn place(rank: u8, id: &str) -> Vec<u8> {
    let mut place = vec![rank];
    put_ordered_text(id, &mut place);
    place
}

impl Assembler {
    /// An object as far as one row describes it. Of several with the same id the first one has the
    /// say on attributes; relations are added up. It comes out at `place`, which begins with the
    /// rank of its type.
    pub fn object(&mut self, place: &[u8], object: Object<'_>) -> Result<(), LogError> {
        self.told(TOLD, place, object)
    }

    /// The same for an object that is there only if something leads to it.
    pub fn on_demand(&mut self, place: &[u8], object: Object<'_>) -> Result<(), LogError> {
        self.told(ON_DEMAND, place, object)
    }

    fn told(&mut self, part: u8, place: &[u8], object: Object<'_>) -> Result<(), LogError> {
        self.key(&object.id, part);
        let record = Record::Object(object);
        self.parts
            .push(&self.key, |bytes| {
                bytes.extend_from_slice(&(place.len() as u32).to_le_bytes());
                bytes.extend_from_slice(place);
                record.encode(bytes);
            })
            .map_err(Into::into)
    }

    /// Adds an object with attributes; its place follows from its id.
    pub fn simple(&mut self, rank: u8, kind: &str, id: &str, attributes: Vec<Attribute<'_>>) -> Result<(), LogError> {
        let object = Object { id: id.into(), kind: kind.into(), attributes, relations: Vec::new() };
        self.object(&place(rank, id), object)
    }

    /// Adds a relation between two objects. Both are included in the log.
    pub fn relate(&mut self, (rank, from): (u8, &str), qualifier: &str, (to_rank, to): (u8, &str)) -> Result<(), LogError> {
        self.mention(rank, from)?;
        self.mention(to_rank, to)?;
        self.key(from, RELATION);
        put_ordered_text(qualifier, &mut self.key);
        put_ordered_text(to, &mut self.key);
        let relation = Relation { object: to.into(), qualifier: qualifier.into() };
        let record = Record::Object(Object { relations: vec![relation], ..Object::default() });
        self.parts.push(&self.key, |bytes| record.encode(bytes)).map_err(Into::into)
    }

    /// Records that an event refers to the object.
    pub fn mention(&mut self, rank: u8, id: &str) -> Result<(), LogError> {
        self.key(id, MENTION);
        self.parts.push(&self.key, |bytes| bytes.push(rank)).map_err(Into::into)
    }

    fn key(&mut self, id: &str, part: u8) {
        self.key.clear();
        put_ordered_text(id, &mut self.key);
        self.key.push(part);
    }

    /// The objects by place. `kinds` are the types by rank.
    pub fn finish(self, kinds: &[&str]) -> Result<Sorted, LogError> {
        let parts = self.parts.finish()?;
        let mut walk = parts.walk()?;
        let mut whole = Sorter::default();
        let mut object = Whole::default();
        let mut of_id: Vec<u8> = Vec::new();
        loop {
            let next = walk.next()?;
            // The id ends with two zeros, which no other id has there.
            if next.is_none_or(|(key, _)| of_id.is_empty() || !key.starts_with(&of_id)) {
                std::mem::take(&mut object).finish(&of_id, kinds, &mut whole)?;
                of_id.clear();
            }
            let Some((key, part)) = next else { return whole.finish().map_err(Into::into) };
            if of_id.is_empty() {
                let end = key.windows(2).position(|two| two == [0, 0]).ok_or(LogError::Damaged)?;
                of_id = key[..end + 2].to_vec();
            }
            object.take(*key.get(of_id.len()).ok_or(LogError::Damaged)?, part)?;
        }
    }
}

/// One object while its records are merged.
#[derive(Default)]
struct Whole {
    place: Option<Vec<u8>>,
    object: Object<'static>,
    on_demand: bool,
    rank: Option<u8>,
}

impl Whole {
    fn take(&mut self, part: u8, bytes: &[u8]) -> Result<(), LogError> {
        if part == MENTION {
            self.rank = bytes.first().copied();
            return Ok(());
        }
        let mut rest = bytes;
        let mut place = None;
        if part != RELATION {
            let (length, after) = rest.split_first_chunk().ok_or(LogError::Damaged)?;
            let (told, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(LogError::Damaged)?;
            (place, rest) = (Some(told), after);
        }
        let Record::Object(object) = Record::decode(rest)? else { return Err(LogError::Damaged) };
        for relation in object.relations {
            let relation = Relation { object: relation.object.into_owned().into(), qualifier: relation.qualifier.into_owned().into() };
            // Equal ones come one after the other; those given with the object are few.
            if self.object.relations.last() != Some(&relation) {
                self.object.relations.push(relation);
            }
        }
        if let Some(place) = place.filter(|_| self.place.is_none()) {
            self.place = Some(place.to_vec());
            self.on_demand = part == ON_DEMAND;
            self.object.id = object.id.into_owned().into();
            self.object.kind = object.kind.into_owned().into();
            self.object.attributes = object.attributes.into_iter().map(Attribute::into_owned).collect();
        }
        Ok(())
    }

    fn finish(self, of_id: &[u8], kinds: &[&str], whole: &mut Sorter) -> Result<(), LogError> {
        if of_id.is_empty() {
            return Ok(());
        }
        let Self { place, mut object, on_demand, rank } = self;
        let place = match (place, rank) {
            (Some(_), None) if on_demand => return Ok(()),
            (Some(place), _) => place,
            (None, Some(rank)) => {
                object.id = id_of(of_id)?.into();
                object.kind = kinds.get(usize::from(rank)).map(|kind| (*kind).to_owned()).ok_or(LogError::Damaged)?.into();
                // After those that were described.
                [&[rank][..], &[0xff; 8], of_id].concat()
            }
            (None, None) => return Err(LogError::Damaged),
        };
        whole.push_record(&place, &Record::Object(object))
    }
}

/// The id in a key that [`put_ordered_text`] made.
fn id_of(key: &[u8]) -> Result<String, LogError> {
    let text = key.strip_suffix(&[0, 0]).ok_or(LogError::Damaged)?;
    let mut id = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        id.push(byte);
        if byte == 0 {
            bytes.next();
        }
    }
    String::from_utf8(id).map_err(|_| LogError::Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_whole_and_once() {
        let mut assembler = Assembler::default();
        assembler.relate((1, "b"), "wrote", (0, "z\0y")).unwrap();
        assembler.simple(1, "task", "b", vec![Attribute::text("x", "first")]).unwrap();
        assembler.simple(1, "task", "b", vec![Attribute::text("x", "second")]).unwrap();
        assembler.relate((1, "b"), "read", (1, "c")).unwrap();
        assembler.relate((1, "b"), "read", (1, "c")).unwrap();
        assembler.simple(1, "task", "bb", Vec::new()).unwrap();
        assembler.mention(0, "a").unwrap();
        let asked_for = |id: &'static str| Object { id: id.into(), kind: "task".into(), ..Object::default() };
        assembler.on_demand(&place(1, "d"), asked_for("d")).unwrap();
        assembler.on_demand(&place(1, "e"), asked_for("e")).unwrap();
        assembler.mention(1, "e").unwrap();
        let sorted = assembler.finish(&["job", "task"]).unwrap();
        let mut walk = sorted.walk().unwrap();
        let mut told = Vec::new();
        while let Some((_, bytes)) = walk.next().unwrap() {
            let Record::Object(object) = Record::decode(bytes).unwrap() else { panic!("an object") };
            let relations: Vec<String> = object.relations.iter().map(|r| format!("{} {}", r.qualifier, r.object)).collect();
            told.push(format!("{} {} {} {}", object.kind, object.id, object.attributes.len(), relations.join(", ")));
        }
        assert_eq!(told, ["job a 0 ", "job z\0y 0 ", "task b 1 read c, wrote z\0y", "task bb 0 ", "task e 0 ", "task c 0 "]);
    }
}
