//! Concatenation of logs: the parts of a log that several processes wrote, or the files of several
//! months.
//!
//! The input is logs with cases, one after the other; the result is one log with all their cases,
//! in that order. Cases of the same name in two logs stay two cases, and are counted.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::builder::TooLarge;
use crate::columns::{ActivityLog, Attribute, Cases, Flow, Flows, Measure, NONE, UNKNOWN};
use crate::names::{Interner, Names};

/// Reason why logs cannot be concatenated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConcatenateError {
    /// The result would exceed what 32 bits can count.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// One log has no cases, or groupings by several types of objects.
    #[error("an object can be in several object-centric logs, which are then not one: choose a type of objects as the cases")]
    NoCases,
    /// The cases of the logs are not of the same kind.
    #[error("the cases of the logs are of different kinds")]
    Kinds,
    /// The bytes that instances gave to others were traced in one log and declared in another.
    #[error("bytes were traced in one log and declared in another: they cannot be added")]
    Flows,
}

/// Logs on their way to be one.
#[derive(Debug, Default)]
pub struct Concatenation {
    log: ActivityLog,
    cases: Cases,
    activities: Interner,
    resources: Interner,
    measures: BTreeMap<Measure, Vec<i64>>,
    attributes: Vec<(Attribute, Interner)>,
    names: FxHashSet<String>,
    repeated_cases: usize,
    any: bool,
}

/// Adds a column that may be missing on either side; missing values are `none`.
fn add<T: Copy>(column: &mut Vec<T>, before: usize, added: Vec<T>, rows: usize, none: T, value: impl Fn(T) -> T) {
    if added.is_empty() && column.is_empty() {
        return;
    }
    column.resize(before, none);
    column.extend(added.into_iter().map(value));
    column.resize(before + rows, none);
}

/// Returns the numbers of the names of one log in the concatenated log.
fn renumbered(names: &Names, all: &mut Interner) -> Vec<u32> {
    names.iter().map(|name| all.intern(name)).collect()
}

/// Shifts numbers; [`NONE`] stays.
fn shifted(by: u32) -> impl Fn(u32) -> u32 {
    move |number| if number == NONE { NONE } else { number + by }
}

fn mapped(numbers: &[u32]) -> impl Fn(u32) -> u32 {
    |number| numbers.get(number as usize).copied().unwrap_or(NONE)
}

impl Concatenation {
    /// Adds a log after those before it.
    ///
    /// # Errors
    /// If the log cannot be concatenated with them. The concatenation is unusable after an error.
    pub fn push(&mut self, log: ActivityLog) -> Result<(), ConcatenateError> {
        let ActivityLog { activities, resources, events, instances, mut groups, attributes, flows, left_out, words } = log;
        let (Some(cases), true) = (groups.pop(), groups.is_empty()) else { return Err(ConcatenateError::NoCases) };
        let (before, rows) = (self.log.len(), instances.activity.len());
        let events_before = self.log.events.time_ns.len();
        let many = |what| TooLarge { what };
        let first = u32::try_from(before).map_err(|_| many("instances"))?;
        u32::try_from(before + rows).ok().filter(|all| *all < NONE).ok_or(many("instances"))?;
        u32::try_from(events_before + events.time_ns.len()).ok().filter(|all| *all < NONE).ok_or(many("events"))?;
        let first_event = events_before as u32;

        self.push_cases(cases, first, rows)?;
        self.push_flows(flows, first)?;
        if !(self.log.events.record.is_empty() && events.record.is_empty()) {
            let places = |column: &mut Vec<u32>, up_to: usize| column.extend(column.len() as u32..up_to as u32);
            places(&mut self.log.events.record, events_before);
            self.log.events.record.extend(events.record.iter().map(|record| first_event + record));
            places(&mut self.log.events.record, events_before + events.time_ns.len());
        }
        self.log.events.time_ns.extend(events.time_ns);

        let of_activity = renumbered(&activities, &mut self.activities);
        let of_resource = renumbered(&resources, &mut self.resources);
        let all = &mut self.log.instances;
        all.activity.extend(instances.activity.into_iter().map(mapped(&of_activity)));
        all.start.extend(instances.start.into_iter().map(shifted(first_event)));
        all.end.extend(instances.end.into_iter().map(shifted(first_event)));
        add(&mut all.ready, before, instances.ready, rows, NONE, shifted(first_event));
        add(&mut all.resource, before, instances.resource, rows, NONE, mapped(&of_resource));
        add(&mut all.status, before, instances.status, rows, Default::default(), |status| status);
        add(&mut all.attempt, before, instances.attempt, rows, 0, |attempt| attempt);
        add(&mut all.bytes_from, before, instances.bytes_from, rows, Default::default(), |from| from);
        for (measure, column) in instances.measures {
            add(self.measures.entry(measure).or_default(), before, column, rows, UNKNOWN, |value| value);
        }
        for attribute in attributes {
            let place = self.attributes.iter().position(|(known, _)| known.key == attribute.key).unwrap_or_else(|| {
                self.attributes.push((Attribute { key: attribute.key.clone(), ..Attribute::default() }, Interner::default()));
                self.attributes.len() - 1
            });
            let (known, names) = &mut self.attributes[place];
            let numbers = renumbered(&attribute.names, names);
            add(&mut known.of, before, attribute.of, rows, NONE, mapped(&numbers));
        }
        self.log.left_out.add(&left_out);
        if !self.any {
            self.log.words = words;
        } else {
            let known = &mut self.log.words;
            if known.instance != words.instance {
                known.instance = "instance".to_owned();
            }
            if known.notion != words.notion {
                known.notion.clear();
            }
        }
        self.any = true;
        Ok(())
    }

    fn push_cases(&mut self, cases: Cases, first: u32, rows: usize) -> Result<(), ConcatenateError> {
        if !self.any {
            self.cases = Cases { kind: cases.kind.clone(), offsets: vec![0], ..Cases::default() };
        }
        if self.cases.kind != cases.kind {
            return Err(ConcatenateError::Kinds);
        }
        if cases.members.is_some() && self.cases.members.is_none() {
            self.cases.members = Some((0..first).collect());
        }
        let base = self
            .cases
            .members
            .as_ref()
            .map_or(Ok(first), |members| u32::try_from(members.len()))
            .map_err(|_| TooLarge { what: "members of cases" })?;
        let last = cases.offsets.last().copied().unwrap_or(0);
        base.checked_add(last).filter(|all| *all < NONE).ok_or(TooLarge { what: "members of cases" })?;
        if let Some(members) = &mut self.cases.members {
            match cases.members {
                Some(added) => members.extend(added.into_iter().map(|member| member + first)),
                None => members.extend(first..first + rows as u32),
            }
        }
        self.cases.offsets.extend(cases.offsets.iter().skip(1).map(|offset| offset + base));
        // Names that stand twice in one log are its own matter.
        let mut new = Vec::new();
        for name in cases.names.iter() {
            self.cases.names.push(name);
            if self.names.contains(name) {
                self.repeated_cases += 1;
            } else {
                new.push(name.to_owned());
            }
        }
        self.names.extend(new);
        Ok(())
    }

    fn push_flows(&mut self, flows: Option<Flows>, first: u32) -> Result<(), ConcatenateError> {
        let Some(flows) = flows else { return Ok(()) };
        let all = self.log.flows.get_or_insert_with(|| Flows { declared: flows.declared, ..Flows::default() });
        if all.declared != flows.declared {
            return Err(ConcatenateError::Flows);
        }
        all.between.extend(flows.between.into_iter().map(|flow| Flow { from: flow.from + first, to: flow.to + first, ..flow }));
        all.from_outside.extend(flows.from_outside.into_iter().map(|(instance, bytes)| (instance + first, bytes)));
        all.read_by_others += flows.read_by_others;
        all.read_back += flows.read_back;
        Ok(())
    }

    /// Returns the number of cases with the name of a case of an earlier log.
    pub fn repeated_cases(&self) -> usize {
        self.repeated_cases
    }

    /// All as one log.
    pub fn finish(self) -> ActivityLog {
        let Self { mut log, cases, activities, resources, measures, attributes, any, .. } = self;
        let rows = log.len();
        log.activities = activities.into_names();
        log.resources = resources.into_names();
        // Those that the last logs did not have end early.
        let of_all = |(measure, mut column): (Measure, Vec<i64>)| {
            column.resize(rows, UNKNOWN);
            (measure, column)
        };
        log.instances.measures = measures.into_iter().map(of_all).collect();
        log.attributes = attributes
            .into_iter()
            .map(|(mut attribute, names)| {
                attribute.of.resize(rows, NONE);
                attribute.names = names.into_names();
                attribute
            })
            .collect();
        log.groups = if any { vec![cases] } else { Vec::new() };
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{InstanceRow, LogBuilder};
    use crate::columns::{BytesFrom, Status};

    /// One instance: its activity, resource, when it was ready, bytes read, user.
    type Row<'a> = (&'a str, Option<&'a str>, i64, i64, Option<&'a str>);

    fn log(cases: &[(&str, &[Row<'_>])]) -> ActivityLog {
        let mut builder = LogBuilder::new(&["user".to_owned()]);
        for (name, rows) in cases {
            for (number, &(activity, resource, ready_ns, bytes, user)) in (0i64..).zip(*rows) {
                let attributes: Vec<(usize, u32)> = user.iter().map(|user| (0, builder.value(0, user))).collect();
                let row = InstanceRow {
                    activity: builder.activity(activity),
                    ready_ns,
                    start_ns: 100 + 10 * number,
                    end_ns: 105 + 10 * number,
                    resource: resource.map(|resource| builder.resource(resource)),
                    status: if bytes > 5 { Status::Completed } else { Status::Unknown },
                    attempt: u32::from(bytes > 5),
                    measures: &[(Measure::ReadBytes, bytes)],
                    bytes_from: if bytes == UNKNOWN { BytesFrom::Nobody } else { BytesFrom::Log },
                    attributes: &attributes,
                };
                assert!(builder.instance(&row).unwrap());
            }
            builder.end_case(name).unwrap();
        }
        builder.finish()
    }

    fn all(logs: Vec<ActivityLog>) -> (ActivityLog, usize) {
        let mut all = Concatenation::default();
        logs.into_iter().for_each(|log| all.push(log).unwrap());
        let repeated = all.repeated_cases();
        (all.finish(), repeated)
    }

    const CASES: [(&str, &[Row<'_>]); 4] = [
        ("1", &[("align", None, UNKNOWN, UNKNOWN, None), ("sort", None, UNKNOWN, UNKNOWN, None)]),
        ("2", &[("sort", Some("n1"), 90, 7, Some("ada")), ("merge", None, UNKNOWN, 3, None)]),
        ("3", &[]),
        ("4", &[("align", Some("n2"), 80, UNKNOWN, Some("bob")), ("align", Some("n1"), UNKNOWN, 9, Some("ada"))]),
    ];

    #[test]
    fn parts_say_the_same_as_the_whole() {
        let whole = log(&CASES);
        for first in 0..=4 {
            for second in first..=4 {
                let parts = vec![log(&CASES[..first]), log(&CASES[first..second]), log(&CASES[second..])];
                assert_eq!(all(parts), (whole.clone(), 0), "{first}, {second}");
            }
        }
        assert_eq!(all(vec![whole.clone()]), (whole, 0));
    }

    #[test]
    fn cases_of_one_name_stay_two() {
        let (log, repeated) = all(vec![log(&CASES[..2]), log(&CASES[1..3])]);
        let cases = log.cases().unwrap();
        assert_eq!((cases.len(), repeated), (4, 1));
        assert_eq!(cases.names.iter().collect::<Vec<_>>(), ["1", "2", "2", "3"]);
        assert_eq!(cases.of(2).map(|instance| log.activity(instance)).collect::<Vec<_>>(), ["sort", "merge"]);
    }

    #[test]
    fn members_are_those_of_each_log() {
        let mut listed = log(&CASES[1..2]);
        listed.groups[0].members = Some(vec![1, 0, 1]);
        listed.groups[0].offsets = vec![0, 3];
        let (log, _) = all(vec![log(&CASES[..1]), listed, log(&CASES[3..])]);
        let cases = log.cases().unwrap();
        let of = |case| cases.of(case).collect::<Vec<_>>();
        assert_eq!((of(0), of(1), of(2)), (vec![0, 1], vec![3, 2, 3], vec![4, 5]));
    }

    #[test]
    fn bytes_between_instances_go_with_them() {
        let flows = |declared| {
            Some(Flows {
                between: vec![Flow { from: 0, to: 1, bytes: 5 }],
                from_outside: vec![(0, 2)],
                read_by_others: 1,
                read_back: 3,
                declared,
            })
        };
        let (mut first, mut second) = (log(&CASES[..1]), log(&CASES[1..2]));
        (first.flows, second.flows) = (flows(false), flows(false));
        let (log, _) = all(vec![first.clone(), second.clone()]);
        let found = log.flows.unwrap();
        assert_eq!(found.between, [Flow { from: 0, to: 1, bytes: 5 }, Flow { from: 2, to: 3, bytes: 5 }]);
        assert_eq!((found.from_outside, found.read_by_others, found.read_back), (vec![(0, 2), (2, 2)], 2, 6));
        second.flows = flows(true);
        let mut all = Concatenation::default();
        all.push(first).unwrap();
        assert_eq!(all.push(second), Err(ConcatenateError::Flows));
    }

    #[test]
    fn logs_without_one_kind_of_cases_are_refused() {
        let mut of_objects = log(&CASES[..1]);
        of_objects.groups[0].kind = "order".to_owned();
        let mut of_several = of_objects.clone();
        of_several.groups.push(Cases::default());
        let mut all = Concatenation::default();
        all.push(log(&CASES)).unwrap();
        assert_eq!(all.push(of_objects), Err(ConcatenateError::Kinds));
        assert_eq!(Concatenation::default().push(of_several), Err(ConcatenateError::NoCases));
    }
}
