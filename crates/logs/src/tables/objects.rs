//! Object-centric tables:
//!
//! - PM4Py's relations (`ocel:eid`, `ocel:activity`, `ocel:timestamp`, `ocel:oid`, `ocel:type`), a
//!   relation of an event and an object in each row;
//! - the flat form of OCEL 1.0, an event in each row, with the objects of a type in the column
//!   `ocel:type:TYPE`, as lists (`['o1', 'o2']`, as Python or JSON writes them);
//! - the flat form of process_mining (Rust4PM), with `id`, `activity`, `timestamp`, and the objects
//!   of a type in the column `ot:TYPE`, as references ([`references`](super::references)).
//!
//! Out comes a log with a grouping for each type of objects, by name. Events are in the order of
//! their times, at equal times of their first rows; those without a time keep their places. An
//! event's activity, time, numbers and attributes are those of its first row, an object's type too.
//! An event that is related to an object twice is one event of it. Rows without an event are left
//! out and counted as without a case, and so are events of no object, which stay in the log.

use std::borrow::Cow;

use flowmine_activity_log::{
    ActivityLog, Attribute, BytesFrom, Cases, Events, Instances, Interner, Measure, NONE, Names, TooLarge, UNKNOWN,
};

use super::assemble::{is_bytes, name_the_unnamed, sort};
use super::choose::Chooser;
use super::columns::{Coded, Faults, Source, Taking, Want, in_order_of_rows};
use super::error::TableError;
use super::options::{ReadTable, TableOptions};
use super::references::{is_no_event, references};
use super::times::TimeRules;

const EVENT: &str = "ocel:eid";
const OBJECT: &str = "ocel:oid";
const KIND: &str = "ocel:type";
const KIND_OF_LIST: &str = "ocel:type:";
const KIND_OF_REFERENCES: &str = "ot:";

/// The places of the columns of an object-centric table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    event: Option<usize>,
    activity: usize,
    time: usize,
    objects: ObjectColumns,
    measures: Vec<(Measure, usize)>,
    attributes: Vec<(String, usize)>,
}

/// In which columns the objects of an event are.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ObjectColumns {
    /// One in each row, with its type.
    Rows(usize, usize),
    /// Columns of lists of objects, each with the type of its objects.
    Lists(Vec<(String, usize)>),
    /// Columns of references to objects, each with the type of its objects.
    References(Vec<(String, usize)>),
}

/// The columns of an object-centric table, if it is one and no case column is asked for.
pub fn choose(names: &[String], options: &TableOptions) -> Result<Option<Choice>, TableError> {
    let place = |name: &str| names.iter().position(|other| other == name);
    if options.case_column.is_some() {
        return Ok(None);
    }
    let lists: Vec<(String, usize)> =
        names.iter().enumerate().filter_map(|(at, name)| Some((name.strip_prefix(KIND_OF_LIST)?.to_owned(), at))).collect();
    let kind_of_references = |name: &str| {
        let (prefix, kind) = name.split_at_checked(KIND_OF_REFERENCES.len())?;
        prefix.eq_ignore_ascii_case(KIND_OF_REFERENCES).then(|| kind.to_owned())
    };
    let references: Vec<(String, usize)> =
        names.iter().enumerate().filter_map(|(at, name)| Some((kind_of_references(name)?, at))).collect();
    let has_references = !references.is_empty() && ["id", "activity", "timestamp"].iter().all(|name| place(name).is_some());
    let objects = match (place(EVENT), place(OBJECT), place(KIND)) {
        (Some(_), Some(object), Some(kind)) => ObjectColumns::Rows(object, kind),
        _ if !lists.is_empty() => ObjectColumns::Lists(lists),
        _ if has_references => ObjectColumns::References(references),
        _ => return Ok(None),
    };
    let of = Chooser::new(names);
    let needed = |what, option, asked: &Option<String>, usual: &[&str]| match asked {
        Some(name) => of.named(what, name),
        None => of.usual(usual).ok_or_else(|| TableError::NoColumn { what, option, columns: super::choose::shown(names) }),
    };
    let mut measures = Vec::new();
    for (measure, asked, usual) in [
        (Measure::ReadBytes, &options.read_bytes_column, "io:read_bytes"),
        (Measure::WrittenBytes, &options.written_bytes_column, "io:written_bytes"),
    ] {
        let at = match asked.as_deref() {
            Some("") => None,
            Some(name) => Some(of.named("bytes", name)?),
            None => of.usual(&[usual]),
        };
        measures.extend(at.map(|at| (measure, at)));
    }
    let attributes = options.keep.iter().map(|name| Ok((name.clone(), of.named("attribute to keep", name)?)));
    Ok(Some(Choice {
        event: match objects {
            ObjectColumns::Rows(..) => place(EVENT),
            ObjectColumns::Lists(_) => None,
            ObjectColumns::References(_) => place("id"),
        },
        activity: needed("activity", "--activity-column", &options.activity_column, &["ocel:activity", "concept:name", "activity"])?,
        time: needed("time", "--timestamp-column", &options.timestamp_column, &["ocel:timestamp", "time:timestamp", "timestamp"])?,
        objects,
        measures,
        attributes: attributes.collect::<Result<_, TableError>>()?,
    }))
}

/// Relations of events and objects, by number; events in the order of their first rows.
#[derive(Default)]
struct Relations {
    event: Vec<u32>,
    object: Vec<u32>,
    ids: Names,
    kinds: Names,
    kind_of: Vec<u32>,
}

/// Reads an object-centric table as a log.
pub fn read(source: impl Source, choice: &Choice, names: &[String], rules: &TimeRules) -> Result<ReadTable, TableError> {
    let mut wanted = Vec::new();
    wanted.extend(choice.event.map(|at| (at, Want::Texts)));
    wanted.push((choice.activity, Want::Texts));
    match &choice.objects {
        ObjectColumns::Rows(object, kind) => wanted.extend([(*object, Want::Texts), (*kind, Want::Texts)]),
        ObjectColumns::Lists(of) | ObjectColumns::References(of) => wanted.extend(of.iter().map(|(_, at)| (*at, Want::Texts))),
    }
    wanted.extend(choice.attributes.iter().map(|(_, at)| (*at, Want::Texts)));
    wanted.push((choice.time, Want::Times));
    wanted.extend(choice.measures.iter().map(|(_, at)| (*at, Want::Numbers)));
    let mut taking = Taking::new(source.read(&wanted, rules)?, names, rules)?;

    let event = choice.event.map(|_| taking.texts());
    let mut activity = taking.texts();
    let (mut contradictions, mut bare) = (Faults::default(), Faults::default());
    let mut no_events = 0;
    let mut log = ActivityLog::default();
    // The first row of each event.
    let mut rows: Vec<u32> = Vec::new();
    let relations = match &choice.objects {
        ObjectColumns::Rows(..) => {
            let (mut object, kind) = (taking.texts(), taking.texts());
            let mut event = event.unwrap_or_default();
            let without_event = event.codes.iter().filter(|&&code| code == NONE).count();
            if without_event > 0 {
                // What has no event is no relation, and the first row of an object decides where it stands.
                object.codes.iter_mut().zip(&event.codes).filter(|(_, event)| **event == NONE).for_each(|(object, _)| *object = NONE);
            }
            flowmine_threads::both(|| in_order_of_rows(&mut event), || in_order_of_rows(&mut object));
            rows.reserve(event.names.len());
            for (row, &code) in event.codes.iter().enumerate() {
                if code as usize == rows.len() {
                    rows.push(row as u32);
                }
            }
            log.left_out.without_case += without_event as u64;
            of_rows(event.codes, object, kind, &mut contradictions)
        }
        ObjectColumns::Lists(lists) => {
            let columns: Vec<(&str, Coded)> = lists.iter().map(|(kind, _)| (kind.as_str(), taking.texts())).collect();
            rows.extend(0..activity.codes.len() as u32);
            columns.iter().for_each(|(kind, column)| note_bare(kind, column, &mut bare));
            of_texts(&columns, &rows, list)?
        }
        ObjectColumns::References(of) => {
            let columns: Vec<(&str, Coded)> = of.iter().map(|(kind, _)| (kind.as_str(), taking.texts())).collect();
            let event = event.unwrap_or_default();
            let text = |column: &Coded, row: u32| match column.codes[row as usize] {
                NONE => String::new(),
                code => column.names.get(code).to_owned(),
            };
            rows.extend((0..activity.codes.len() as u32).filter(|&row| !is_no_event(&text(&event, row), &text(&activity, row))));
            no_events = activity.codes.len() - rows.len();
            of_texts(&columns, &rows, references)?
        }
    };
    let attributes: Vec<(&String, Coded)> = choice.attributes.iter().map(|(key, _)| (key, taking.texts())).collect();
    let time = taking.times(choice.time)?;
    let first = |column: &[u32]| rows.iter().map(|&row| column[row as usize]).collect::<Vec<_>>();
    activity.codes = first(&activity.codes);
    log.left_out.unnamed += name_the_unnamed(&mut activity);
    let time: Vec<i64> = rows.iter().map(|&row| time[row as usize]).collect();
    let known = time.iter().copied().filter(|&time| time != UNKNOWN);
    let order = (!known.is_sorted()).then(|| {
        let mut order: Vec<u32> = (0..time.len() as u32).collect();
        sort(&mut order, &time, &mut Vec::new());
        order
    });
    let moved = |column: Vec<i64>| match &order {
        Some(order) => order.iter().map(|&at| column[at as usize]).collect(),
        None => column,
    };
    let moved_codes = |column: Vec<u32>| match &order {
        Some(order) => order.iter().map(|&at| column[at as usize]).collect(),
        None => column,
    };
    activity.codes = moved_codes(activity.codes);
    in_order_of_rows(&mut activity);
    let all: Vec<u32> = (0..time.len() as u32).collect();
    log.left_out.events_without_time = time.iter().filter(|&&time| time == UNKNOWN).count() as u64;
    log.instances = Instances { activity: activity.codes, start: all.clone(), end: all, ..Instances::default() };
    log.activities = activity.names;
    log.events = Events { time_ns: moved(time), record: Vec::new() };
    for &(measure, at) in &choice.measures {
        let (values, bad) = taking.measure(at, Want::Numbers);
        log.left_out.bad_numbers += bad;
        let mut values: Vec<i64> = moved(rows.iter().map(|&row| values[row as usize]).collect());
        for value in values.iter_mut().filter(|value| !measure.allows(**value) && **value != UNKNOWN) {
            *value = UNKNOWN;
            log.left_out.bad_numbers += 1;
        }
        if values.iter().any(|&value| value != UNKNOWN) {
            if log.instances.bytes_from.is_empty() {
                log.instances.bytes_from = vec![BytesFrom::Nobody; values.len()];
            }
            let known = log.instances.bytes_from.iter_mut().zip(&values).filter(|(_, value)| is_bytes(measure) && **value != UNKNOWN);
            known.for_each(|(from, _)| *from = BytesFrom::Log);
            log.instances.measures.push((measure, values));
        }
    }
    for (key, mut column) in attributes {
        column.codes = moved_codes(first(&column.codes));
        in_order_of_rows(&mut column);
        log.attributes.push(Attribute { key: key.clone(), names: column.names, of: column.codes });
    }
    let record = moved_codes(rows);
    if record.iter().enumerate().any(|(at, &row)| at as u32 != row) {
        log.events.record = record;
    }
    log.groups = group(relations, order.as_deref(), log.events.time_ns.len(), &mut log.left_out.without_case);
    log.words.instance = "event".to_owned();
    let mut notes = std::mem::take(&mut taking.notes);
    notes.extend(contradictions.sentence(
        "relation has another type for its object than the first",
        "relations have another type for their object than the first",
    ));
    notes.extend(bare.sentence(
        "text in a column of objects is no list and has '/' or '#' in it; it is the name of one object",
        "texts in columns of objects are no lists and have '/' or '#' in them; each is the name of one object",
    ));
    notes.extend(match no_events {
        0 => None,
        1 => Some("1 row is of objects alone (their relations or attributes), and is no event".to_owned()),
        more => Some(format!("{more} rows are of objects alone (their relations or attributes), and are no events")),
    });
    let Taking { inferred, time_unit, bad_rows, .. } = taking;
    Ok(ReadTable { log, notes, inferred, time_unit, bad_rows })
}

/// Objects are numbered in the order of their rows.
fn of_rows(event: Vec<u32>, object: Coded, kind: Coded, contradictions: &mut Faults) -> Relations {
    let mut kinds = kind.names;
    let mut kind_of = Vec::with_capacity(object.names.len());
    let mut untyped = None;
    for (row, (&object, &kind)) in object.codes.iter().zip(&kind.codes).enumerate() {
        if object == NONE {
            continue;
        }
        let kind = if kind == NONE { *untyped.get_or_insert_with(|| kinds.find("").unwrap_or_else(|| kinds.push(""))) } else { kind };
        match kind_of.get(object as usize) {
            None => kind_of.push(kind),
            Some(&first) if first != kind => contradictions.note(|| format!("row {}", row + 1)),
            Some(_) => {}
        }
    }
    Relations { event, object: object.codes, ids: object.names, kinds, kind_of }
}

/// Notes texts that could be several objects in the form of another program.
fn note_bare(kind: &str, column: &Coded, bare: &mut Faults) {
    for name in column.names.iter().map(str::trim).filter(|name| !name.starts_with('[') && name.contains(['/', '#'])) {
        bare.note(|| format!("{name:?} of type {kind:?}"));
    }
}

/// Objects by the texts of each row of an event.
fn of_texts(
    columns: &[(&str, Coded)],
    rows: &[u32],
    parse: impl for<'a> Fn(&'a str, &mut Vec<Cow<'a, str>>),
) -> Result<Relations, TooLarge> {
    let mut relations = Relations::default();
    let mut kinds = Interner::default();
    let mut ids: Vec<Interner> = Vec::new();
    // ObjectColumns each type and number in it, the number among all objects.
    let mut numbers: Vec<Vec<u32>> = Vec::new();
    let mut items = Vec::new();
    for (event, &row) in (0u32..).zip(rows) {
        for (kind, column) in columns {
            let kind = kinds.intern(kind);
            if ids.len() == kind as usize {
                ids.push(Interner::default());
                numbers.push(Vec::new());
            }
            let code = column.codes.get(row as usize).copied().unwrap_or(NONE);
            if code == NONE {
                continue;
            }
            parse(column.names.get(code), &mut items);
            for id in items.drain(..) {
                let number = ids[kind as usize].intern(&id) as usize;
                if number == numbers[kind as usize].len() {
                    numbers[kind as usize].push(relations.ids.push(&id));
                    relations.kind_of.push(kind);
                }
                relations.event.push(event);
                relations.object.push(numbers[kind as usize][number]);
            }
        }
        if relations.event.len() >= NONE as usize {
            return Err(TooLarge { what: "relations" });
        }
    }
    relations.kinds = kinds.into_names();
    Ok(relations)
}

/// The items of a list as Python or JSON writes it; text that is no list is one item.
fn list<'a>(text: &'a str, items: &mut Vec<Cow<'a, str>>) {
    let text = text.trim();
    let Some(mut rest) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else {
        items.extend((!text.is_empty()).then_some(Cow::Borrowed(text)));
        return;
    };
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        let Some(first) = rest.chars().next() else { return };
        let (item, behind) = match first {
            '\'' | '"' => rest[1..].split_once(first).unwrap_or((&rest[1..], "")),
            _ => rest.find(',').map_or((rest, ""), |at| rest.split_at(at)),
        };
        items.push(Cow::Borrowed(item.trim()));
        rest = behind;
    }
}

/// The events of each object in their order, objects by type.
fn group(relations: Relations, order: Option<&[u32]>, events: usize, in_none: &mut u64) -> Vec<Cases> {
    let Relations { mut event, object, ids, kinds, kind_of } = relations;
    if let Some(order) = order {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old as usize] = new as u32);
        event.iter_mut().filter(|event| **event != NONE).for_each(|event| *event = place[*event as usize]);
    }
    // Relations by event, unless they are so already.
    let by_event = (!event.iter().filter(|&&event| event != NONE).is_sorted()).then(|| {
        let mut next = vec![0u32; events + 1];
        event.iter().filter(|&&event| event != NONE).for_each(|&event| next[event as usize + 1] += 1);
        (0..events).for_each(|at| next[at + 1] += next[at]);
        let mut by_event = vec![0; next[events] as usize];
        for (row, &event) in event.iter().enumerate().filter(|(_, event)| **event != NONE) {
            by_event[next[event as usize] as usize] = row as u32;
            next[event as usize] += 1;
        }
        by_event
    });
    // Both walks look at each pair once, at one place for each object: pairs and places side by side in memory.
    let pair = |row: usize| Some((event[row], object[row])).filter(|&(event, object)| event != NONE && object != NONE);
    let pairs: Vec<(u32, u32)> = match &by_event {
        Some(rows) => rows.iter().filter_map(|&row| pair(row as usize)).collect(),
        None => (0..event.len()).filter_map(pair).collect(),
    };
    drop((event, object, by_event));
    // ObjectColumns each object its last event and how many it has; one that comes twice comes one after the other.
    let mut places = vec![(NONE, 0u32); kind_of.len()];
    let (mut with_object, mut last_event) = (0, NONE);
    for &(event, object) in &pairs {
        let place = &mut places[object as usize];
        if place.0 != event {
            *place = (event, place.1 + 1);
        }
        with_object += u64::from(last_event != event);
        last_event = event;
    }
    *in_none += events as u64 - with_object;
    let mut groups: Vec<Cases> = kinds.iter().map(|kind| Cases { kind: kind.to_owned(), offsets: vec![0], ..Cases::default() }).collect();
    let mut ends = vec![0u32; groups.len()];
    for (object, (&kind, place)) in kind_of.iter().zip(&mut places).enumerate() {
        let (group, end) = (&mut groups[kind as usize], &mut ends[kind as usize]);
        let begin = *end;
        *end += place.1;
        *place = (NONE, begin);
        group.names.push(ids.get(object as u32));
        group.offsets.push(*end);
    }
    // The members of all types one after the other.
    let mut begins = vec![0u32; groups.len()];
    let mut all = 0;
    for (begin, &end) in begins.iter_mut().zip(&ends) {
        *begin = all;
        all += end;
    }
    for (place, &kind) in places.iter_mut().zip(&kind_of) {
        place.1 += begins[kind as usize];
    }
    let mut members = vec![0u32; all as usize];
    for &(event, object) in &pairs {
        let place = &mut places[object as usize];
        if place.0 != event {
            members[place.1 as usize] = event;
            *place = (event, place.1 + 1);
        }
    }
    for (group, (&begin, &length)) in groups.iter_mut().zip(begins.iter().zip(&ends)) {
        group.members = Some(members[begin as usize..(begin + length) as usize].to_vec());
    }
    groups.retain(|group| !group.is_empty());
    groups.sort_by(|a, b| a.kind.cmp(&b.kind));
    groups
}
