//! Objects of an object-centric log, and which events each takes part in.

use flowmine_activity_log::{ActivityLog, Cases, Interner, NONE, Names, TooLarge};
use flowmine_eventlog::read::Severity;
use flowmine_eventlog::{Event, LogError, Object};

use crate::log_file::{Findings, found};

/// Takes objects and the relations of events, in any order.
#[derive(Debug, Default)]
pub(super) struct Objects {
    types: Interner,
    ids: Interner,
    /// Of each id its type, once an object with it has come.
    kind: Vec<u32>,
    /// Relations: where those of each event end.
    ends: Vec<u32>,
    objects: Vec<u32>,
    event_ids: Interner,
    duplicate_objects: u64,
    used: bool,
    /// The qualifiers that count; empty for all.
    qualifiers: Vec<String>,
    /// The qualifiers of the log, where only some count.
    seen_qualifiers: Interner,
}

impl Objects {
    /// Objects with relations of these qualifiers; none for all.
    pub fn with_qualifiers(qualifiers: Vec<String>) -> Self {
        Self { qualifiers, ..Self::default() }
    }

    /// Refuses a qualifier that no relation has.
    fn check_qualifiers(&self) -> Result<(), LogError> {
        let Some(unknown) = self.qualifiers.iter().find(|wanted| self.seen_qualifiers.find(wanted).is_none()) else { return Ok(()) };
        let known: Vec<&str> = self.seen_qualifiers.names().iter().collect();
        let message = format!("no relation of an event has the qualifier {unknown:?}; there are: {}", known.join(", "));
        Err(LogError::RefusedAt { place: "--qualifier".to_owned(), message })
    }

    pub fn declare(&mut self, name: &str) {
        self.types.intern(name);
    }

    pub fn is_object_log(&mut self) {
        self.used = true;
    }

    pub fn is_used(&self) -> bool {
        self.used
    }

    fn id(&mut self, text: &str) -> u32 {
        let id = self.ids.intern(text);
        if self.kind.len() <= id as usize {
            self.kind.resize(id as usize + 1, NONE);
        }
        id
    }

    pub fn object(&mut self, object: &Object<'_>) -> Result<(), TooLarge> {
        self.used = true;
        let id = self.id(&object.id) as usize;
        if self.kind[id] == NONE {
            self.kind[id] = self.types.intern(&object.kind);
        } else {
            self.duplicate_objects += 1;
        }
        Ok(())
    }

    pub fn event(&mut self, event: &Event<'_>) -> Result<(), TooLarge> {
        self.used = true;
        self.event_ids.intern(&event.id);
        let first = self.objects.len();
        for relation in &event.relations {
            if !self.qualifiers.is_empty() {
                self.seen_qualifiers.intern(&relation.qualifier);
                if !self.qualifiers.iter().any(|wanted| *wanted == relation.qualifier) {
                    continue;
                }
            }
            let id = self.id(&relation.object);
            // An event that is related to an object in two ways is one event of it.
            if !self.objects[first..].contains(&id) {
                self.objects.push(id);
            }
        }
        self.ends.push(u32::try_from(self.objects.len()).map_err(|_| TooLarge { what: "relations" })?);
        Ok(())
    }

    /// Puts events in the order of their times and makes a grouping of each type, or of the one
    /// that is asked for.
    pub fn finish(self, log: &mut ActivityLog, wanted: Option<&str>, findings: &mut Findings) -> Result<(), LogError> {
        self.check_qualifiers()?;
        let again = self.ends.len() as u64 - self.event_ids.len() as u64;
        for (count, rule, what) in [
            (self.duplicate_objects, "duplicate_object_id", "objects have an id that came before; the first of each counts"),
            (again, "duplicate_event_id", "events have an id that came before; all count"),
        ] {
            if count > 0 {
                findings.push(found(Severity::Error, rule, "", format!("{count} {what}")));
            }
        }
        let wanted = match wanted {
            None => None,
            Some(name) => Some(self.types.find(name).ok_or_else(|| {
                let known: Vec<String> = self.types.names().iter().map(|name| format!("object:{name}")).collect();
                LogError::RefusedAt {
                    place: "--case-notion".to_owned(),
                    message: format!("the log has no objects of type {name:?}; it has: {}", known.join(", ")),
                }
            })?),
        };
        let events = self.ends.len();
        let mut order: Vec<u32> = (0..events as u32).collect();
        if !log.events.time_ns.is_sorted() {
            order.sort_by_key(|&at| log.events.time_ns[at as usize]);
            in_order(log, &order);
        }
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.types.len()];
        // Objects of each type in the order in which they came, with their place among those of their type.
        let mut names: Vec<Names> = vec![Names::default(); self.types.len()];
        let mut place = vec![NONE; self.kind.len()];
        let mut sizes: Vec<Vec<u32>> = vec![Vec::new(); self.types.len()];
        for (id, &kind) in self.kind.iter().enumerate().filter(|(_, kind)| **kind != NONE) {
            place[id] = names[kind as usize].push(self.ids.names().get(id as u32));
            sizes[kind as usize].push(0);
        }
        let relations = |event: u32| {
            let start = if event == 0 { 0 } else { self.ends[event as usize - 1] };
            &self.objects[start as usize..self.ends[event as usize] as usize]
        };
        let (mut dangling, mut in_none) = (0u64, 0u64);
        for event in 0..events as u32 {
            let mut any = false;
            for &object in relations(event) {
                match self.kind[object as usize] {
                    NONE => dangling += 1,
                    kind => {
                        sizes[kind as usize][place[object as usize] as usize] += 1;
                        any |= wanted.is_none_or(|wanted| wanted == kind);
                    }
                }
            }
            in_none += u64::from(!any);
        }
        if dangling > 0 {
            let message = format!("{dangling} relations lead to objects that there are none of, and are left out");
            findings.push(found(Severity::Error, "dangling_relation", "", message));
        }
        log.left_out.without_case += in_none;
        let mut cursors: Vec<Vec<u32>> = Vec::new();
        let mut offsets: Vec<Vec<u32>> = Vec::new();
        for (kind, sizes) in sizes.iter().enumerate() {
            let mut sum = 0;
            let mut ends = vec![0];
            for &size in sizes {
                sum += size;
                ends.push(sum);
            }
            members[kind] = vec![0; sum as usize];
            cursors.push(ends[..sizes.len()].to_vec());
            offsets.push(ends);
        }
        for (new, &old) in order.iter().enumerate() {
            for &object in relations(old) {
                let kind = self.kind[object as usize];
                if kind != NONE {
                    let cursor = &mut cursors[kind as usize][place[object as usize] as usize];
                    members[kind as usize][*cursor as usize] = new as u32;
                    *cursor += 1;
                }
            }
        }
        let types = self.types.into_names();
        log.groups.clear();
        for kind in types.sorted() {
            let at = kind as usize;
            if wanted.is_none_or(|wanted| wanted == kind) {
                log.groups.push(Cases {
                    kind: types.get(kind).to_owned(),
                    names: std::mem::take(&mut names[at]),
                    offsets: std::mem::take(&mut offsets[at]),
                    members: Some(std::mem::take(&mut members[at])),
                });
            }
        }
        log.words.instance = "event".to_owned();
        Ok(())
    }
}

/// Reorders a log in which each instance is an event.
fn in_order(log: &mut ActivityLog, order: &[u32]) {
    fn take<T: Copy>(column: &mut Vec<T>, order: &[u32]) {
        if !column.is_empty() {
            *column = order.iter().map(|&at| column[at as usize]).collect();
        }
    }
    take(&mut log.events.time_ns, order);
    log.events.record = order.to_vec();
    let instances = &mut log.instances;
    take(&mut instances.activity, order);
    take(&mut instances.resource, order);
    take(&mut instances.status, order);
    take(&mut instances.attempt, order);
    take(&mut instances.bytes_from, order);
    instances.measures.iter_mut().for_each(|(_, column)| take(column, order));
    log.attributes.iter_mut().for_each(|attribute| take(&mut attribute.of, order));
}
