//! Parts of a log: a log and what is wanted of it in, the log of that part out.
//!
//! First instances are chosen (by time, activity, attribute), then cases (by attribute, path,
//! variant). A case of which no instance is left is not in the result; a case that had none before
//! stays, unless cases are chosen.

use crate::columns::{ActivityLog, Cases, Flow, Flows, Instances, NONE};
use crate::variants::variants;

/// What is wanted. The default wants all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Only instances whose start (or only moment) is at this time or later, UTC nanoseconds since 1970.
    pub from_ns: Option<i64>,
    /// Only instances whose start (or only moment) is before this time, in nanoseconds since 1970.
    pub to_ns: Option<i64>,
    /// Only these activities; `*` stands for any text. Empty for all.
    pub activities: Vec<String>,
    /// Only instances of none of these activities; `*` stands for any text.
    pub without_activities: Vec<String>,
    /// Only instances with one of these values of an attribute that the log keeps; several
    /// attributes must all fit.
    pub instances_where: Vec<(String, Vec<String>)>,
    /// Only cases with an instance with one of these values of an attribute.
    pub cases_where: Vec<(String, Vec<String>)>,
    /// Only cases of these names. Empty for all.
    pub case_names: Vec<String>,
    /// Only cases in which the second activity comes right after the first, by start.
    pub paths: Vec<(String, String)>,
    /// Only cases of so many most frequent variants.
    pub top_variants: Option<usize>,
    /// Only cases of the most frequent variants that together cover this share of all cases (0 to
    /// 1).
    pub variant_coverage: Option<f64>,
}

/// Why a log cannot be filtered so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// The log keeps no such attribute.
    #[error("the log has no attribute {0:?} to choose by")]
    NoAttribute(String),
    /// Cases are to be chosen, and it is not said what a case is.
    #[error("to choose cases, say which objects are the cases (--case-notion object:TYPE)")]
    NoCases,
}

impl Filter {
    /// Whether the filter lets everything pass.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn chooses_cases(&self) -> bool {
        !self.case_names.is_empty()
            || !self.cases_where.is_empty()
            || !self.paths.is_empty()
            || self.top_variants.is_some()
            || self.variant_coverage.is_some()
    }

    /// The wanted part of a log.
    ///
    /// # Errors
    /// [`FilterError`] when the log does not have what is asked for.
    pub fn apply(&self, log: ActivityLog) -> Result<ActivityLog, FilterError> {
        if self.is_empty() {
            return Ok(log);
        }
        let wanted = self.instances(&log)?;
        let log = if wanted.iter().all(|&wanted| wanted) { log } else { keep(log, &wanted, None) };
        if !self.chooses_cases() {
            return Ok(log);
        }
        let [cases] = &log.groups[..] else { return Err(FilterError::NoCases) };
        let chosen = self.cases(&log, cases)?;
        let mut wanted = vec![false; log.len()];
        for case in (0..cases.len()).filter(|&case| chosen[case]) {
            cases.of(case).for_each(|at| wanted[at as usize] = true);
        }
        Ok(keep(log, &wanted, Some(&chosen)))
    }

    fn instances(&self, log: &ActivityLog) -> Result<Vec<bool>, FilterError> {
        let by_name: Vec<bool> = (log.activities.iter())
            .map(|name| {
                let fits = |list: &[String]| list.iter().any(|pattern| matches(pattern, name));
                (self.activities.is_empty() || fits(&self.activities)) && !fits(&self.without_activities)
            })
            .collect();
        let mut wanted: Vec<bool> = log.instances.activity.iter().map(|&activity| by_name[activity as usize]).collect();
        if self.from_ns.is_some() || self.to_ns.is_some() {
            for (at, wanted) in wanted.iter_mut().enumerate() {
                let inside = |ns: i64| self.from_ns.is_none_or(|from| ns >= from) && self.to_ns.is_none_or(|to| ns < to);
                *wanted &= log.start_ns(at as u32).is_some_and(inside);
            }
        }
        for (key, values) in &self.instances_where {
            let has = having(log, key, values)?;
            wanted.iter_mut().zip(has).for_each(|(wanted, has)| *wanted &= has);
        }
        Ok(wanted)
    }

    fn cases(&self, log: &ActivityLog, cases: &Cases) -> Result<Vec<bool>, FilterError> {
        let mut chosen = vec![true; cases.len()];
        if !self.case_names.is_empty() {
            for (case, chosen) in chosen.iter_mut().enumerate() {
                *chosen = self.case_names.iter().any(|name| name == cases.names.get(case as u32));
            }
        }
        for (key, values) in &self.cases_where {
            let has = having(log, key, values)?;
            for (case, chosen) in chosen.iter_mut().enumerate() {
                *chosen &= cases.of(case).any(|at| has[at as usize]);
            }
        }
        for (first, second) in &self.paths {
            let fits = |pattern: &str| -> Vec<bool> { log.activities.iter().map(|name| matches(pattern, name)).collect() };
            let (first, second) = (fits(first), fits(second));
            for (case, chosen) in chosen.iter_mut().enumerate() {
                let activity = |at: u32| log.instances.activity[at as usize] as usize;
                let steps = cases.of(case).zip(cases.of(case).skip(1));
                *chosen &= steps.into_iter().any(|(a, b)| first[activity(a)] && second[activity(b)]);
            }
        }
        if self.top_variants.is_some() || self.variant_coverage.is_some() {
            let variants = variants(log, cases);
            let mut most = self.top_variants.unwrap_or(usize::MAX).min(variants.variants.len());
            if let Some(share) = self.variant_coverage {
                let needed = share.clamp(0.0, 1.0) * cases.len() as f64;
                let mut covered = 0;
                let enough = variants.variants.iter().position(|variant| {
                    covered += variant.count;
                    covered as f64 >= needed
                });
                most = most.min(enough.map_or(usize::MAX, |at| at + 1));
            }
            chosen.iter_mut().zip(&variants.of_case).for_each(|(chosen, &variant)| *chosen &= (variant as usize) < most);
        }
        Ok(chosen)
    }
}

fn having(log: &ActivityLog, key: &str, values: &[String]) -> Result<Vec<bool>, FilterError> {
    let attribute = log.attributes.iter().find(|attribute| attribute.key == key).ok_or_else(|| FilterError::NoAttribute(key.to_owned()))?;
    let fits: Vec<bool> = attribute.names.iter().map(|name| values.iter().any(|value| value == name)).collect();
    Ok(attribute.of.iter().map(|&value| fits.get(value as usize).copied().unwrap_or(false)).collect())
}

/// Whether a text fits a pattern in which `*` stands for any text.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return text.ends_with(part);
        }
        let Some(at) = text.find(part) else { return false };
        text = &text[at + part.len()..];
    }
    true
}

/// The log of the wanted instances; of the first grouping only these cases are kept, where they are
/// given.
fn keep(log: ActivityLog, wanted: &[bool], chosen: Option<&[bool]>) -> ActivityLog {
    let mut new_place = vec![NONE; log.len()];
    let mut kept = Vec::new();
    for (at, &wanted) in wanted.iter().enumerate() {
        if wanted {
            new_place[at] = kept.len() as u32;
            kept.push(at as u32);
        }
    }
    let groups = log.groups.iter().enumerate().map(|(at, group)| regroup(group, &new_place, chosen.filter(|_| at == 0))).collect();
    let Instances { activity, ready, start, end, resource, status, attempt, bytes_from, measures } = log.instances;
    fn take<T: Copy>(column: &[T], kept: &[u32]) -> Vec<T> {
        if column.is_empty() { Vec::new() } else { kept.iter().map(|&at| column[at as usize]).collect() }
    }
    ActivityLog {
        instances: Instances {
            activity: take(&activity, &kept),
            ready: take(&ready, &kept),
            start: take(&start, &kept),
            end: take(&end, &kept),
            resource: take(&resource, &kept),
            status: take(&status, &kept),
            attempt: take(&attempt, &kept),
            bytes_from: take(&bytes_from, &kept),
            measures: measures.into_iter().map(|(measure, column)| (measure, take(&column, &kept))).collect(),
        },
        groups,
        attributes: log.attributes.into_iter().map(|attribute| crate::Attribute { of: take(&attribute.of, &kept), ..attribute }).collect(),
        flows: log.flows.map(|flows| reflow(flows, &new_place)),
        ..log
    }
}

fn regroup(group: &Cases, new_place: &[u32], chosen: Option<&[bool]>) -> Cases {
    let mut out = Cases { kind: group.kind.clone(), offsets: vec![0], ..Cases::default() };
    let mut members = Vec::new();
    for case in 0..group.len() {
        let before = members.len();
        members.extend(group.of(case).map(|at| new_place[at as usize]).filter(|&at| at != NONE));
        let stays = match chosen {
            Some(chosen) => chosen[case],
            None => members.len() > before || group.of(case).len() == 0,
        };
        if stays {
            out.names.push(group.names.get(case as u32));
            out.offsets.push(members.len() as u32);
        } else {
            members.truncate(before);
        }
    }
    let whole = new_place.iter().filter(|&&at| at != NONE).count();
    let identity = members.len() == whole && members.iter().enumerate().all(|(place, &at)| place as u32 == at);
    out.members = (!identity).then_some(members);
    out
}

fn reflow(flows: Flows, new_place: &[u32]) -> Flows {
    let mut out = Flows { declared: flows.declared, read_by_others: flows.read_by_others, read_back: flows.read_back, ..Flows::default() };
    let mut outside: Vec<(u32, i128)> = Vec::new();
    for (at, bytes) in flows.from_outside {
        match new_place[at as usize] {
            NONE => out.read_by_others += bytes,
            at => outside.push((at, bytes)),
        }
    }
    for Flow { from, to, bytes } in flows.between {
        match (new_place[from as usize], new_place[to as usize]) {
            (_, NONE) => out.read_by_others += i128::from(bytes),
            (NONE, to) => outside.push((to, i128::from(bytes))),
            (from, to) => out.between.push(Flow { from, to, bytes }),
        }
    }
    outside.sort_unstable();
    for (at, bytes) in outside {
        match out.from_outside.last_mut() {
            Some((last, sum)) if *last == at => *sum += bytes,
            _ => out.from_outside.push((at, bytes)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventRow, LogBuilder, Transition};

    fn log() -> ActivityLog {
        let mut builder = LogBuilder::new(&["user".to_owned()]);
        for (case, trace, user) in [("1", "abc", "ann"), ("2", "abc", "bob"), ("3", "acb", "bob"), ("4", "", "")] {
            let user = builder.value(0, user);
            for (at, letter) in trace.chars().enumerate() {
                let activity = builder.activity(&letter.to_string());
                let row = EventRow {
                    activity,
                    time_ns: at as i64,
                    transition: Transition::Untold,
                    attributes: &[(0, user)],
                    ..EventRow::default()
                };
                builder.event(&row).expect("few");
            }
            builder.end_case(case).expect("few");
        }
        builder.finish()
    }

    fn traces(filter: &Filter) -> Vec<(String, String)> {
        let log = filter.apply(log()).expect("the log has what is asked for");
        let cases = log.cases().expect("it has cases");
        let text = |case: usize| cases.of(case).map(|at| log.activity(at).to_owned()).collect::<String>();
        (0..cases.len()).map(|case| (cases.names.get(case as u32).to_owned(), text(case))).collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn each_filter_keeps_what_it_says() {
        let wanted = Filter { activities: vec!["b".into()], ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("1", "b"), ("2", "b"), ("3", "b"), ("4", "")]));
        let wanted = Filter { without_activities: vec!["*b*".into()], ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("1", "ac"), ("2", "ac"), ("3", "ac"), ("4", "")]));
        let wanted = Filter { from_ns: Some(1), to_ns: Some(2), ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("1", "b"), ("2", "b"), ("3", "c"), ("4", "")]));
        let wanted = Filter { instances_where: vec![("user".into(), vec!["bob".into()])], ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("2", "abc"), ("3", "acb"), ("4", "")]));
        let wanted = Filter { paths: vec![("c".into(), "b".into())], ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("3", "acb")]));
        let wanted = Filter { top_variants: Some(1), ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("1", "abc"), ("2", "abc")]));
        let wanted = Filter { variant_coverage: Some(0.75), ..Filter::default() };
        assert_eq!(traces(&wanted).len(), 3);
        let wanted = Filter { cases_where: vec![("user".into(), vec!["ann".into()])], ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("1", "abc")]));
        let unknown = Filter { cases_where: vec![("colour".into(), vec![])], ..Filter::default() };
        assert_eq!(unknown.apply(log()), Err(FilterError::NoAttribute("colour".into())));
    }

    #[test]
    fn patterns() {
        for (pattern, text, fits) in
            [("a*c", "abc", true), ("a*c", "ab", false), ("*", "", true), ("a*a", "a", false), ("*b*", "abc", true), ("a", "ab", false)]
        {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn bytes_stay_whole() {
        let mut log = log();
        log.flows = Some(Flows {
            between: vec![Flow { from: 0, to: 1, bytes: 5 }, Flow { from: 1, to: 2, bytes: 7 }],
            from_outside: vec![(1, 3)],
            ..Flows::default()
        });
        let kept = Filter { without_activities: vec!["a".into()], ..Filter::default() }.apply(log).expect("no attribute is asked for");
        let flows = kept.flows.expect("flows stay");
        assert_eq!(flows.between, [Flow { from: 0, to: 1, bytes: 7 }]);
        assert_eq!((flows.from_outside, flows.read_by_others), (vec![(0, 8)], 0));
    }
}
