//! Filters, which select a part of a log as a new log.
//!
//! A filter first selects whole cases by time frame, and parts of cases between two activities;
//! then instances (by time, activity, attribute), then cases (by attribute, path, first and last
//! activity, length, size, variant). The result does not contain cases that lost all instances. A
//! case that had none before stays, unless the filter selects cases.

use crate::columns::{ActivityLog, Cases, Flow, Flows, Instances, NONE};
use crate::condition::Condition;
use crate::variants::variants;

/// Treatment of cases that extend beyond a time frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimeFrame {
    /// It keeps only the instances that start within the frame; those cut off are counted.
    #[default]
    Trimmed,
    /// It is left out.
    Contained,
    /// It is kept whole if a part of it is within the frame.
    Intersecting,
}

/// Conditions that select a part of a log. The default selects all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Earliest start (or only moment) of an instance, UTC nanoseconds since 1970; earlier ones are
    /// left out.
    pub from_ns: Option<i64>,
    /// Only instances with a start (or only moment) before this time, UTC nanoseconds since 1970.
    pub to_ns: Option<i64>,
    /// Treatment of cases that extend beyond these two.
    pub frame: TimeFrame,
    /// Only these activities; `*` matches any text. Empty for all.
    pub activities: Vec<String>,
    /// Only instances of other activities than these; `*` matches any text.
    pub without_activities: Vec<String>,
    /// Only instances with attributes that fulfil the conditions. Conditions that require a value
    /// of the same attribute are alternatives; all others must hold.
    pub instances_where: Vec<Condition>,
    /// Only cases with an instance that fulfils the conditions, with the same alternatives.
    pub cases_where: Vec<Condition>,
    /// Only cases of these names. Empty for all.
    pub case_names: Vec<String>,
    /// Only cases in which the second activity comes right after the first, by start.
    pub paths: Vec<(String, String)>,
    /// Only cases in which the second activity comes some time after the first, by start.
    pub eventually: Vec<(String, String)>,
    /// Only cases with both activities in this order, and only their instances from one of the
    /// first activity to the next one of the second.
    pub between: Option<(String, String)>,
    /// Only cases that begin with one of these activities. Empty for all.
    pub starts_with: Vec<String>,
    /// Only cases that end with one of these activities. Empty for all.
    pub ends_with: Vec<String>,
    /// Only cases in which each of these activities occurs at least twice.
    pub rework: Vec<String>,
    /// Minimum duration of a case from its first to its last time, in nanoseconds.
    pub min_duration_ns: Option<i64>,
    /// Maximum duration of a case, in nanoseconds.
    pub max_duration_ns: Option<i64>,
    /// Minimum number of instances of a case.
    pub min_size: Option<usize>,
    /// Maximum number of instances of a case.
    pub max_size: Option<usize>,
    /// Number of most frequent variants to keep; cases of other variants are left out.
    pub top_variants: Option<usize>,
    /// Only cases of the most frequent variants that together cover this share of all cases (0 to
    /// 1).
    pub variant_coverage: Option<f64>,
}

/// Why a log cannot be filtered so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// The log has no such attribute.
    #[error("the log has no attribute {key:?} to choose by; it has: {known}")]
    NoAttribute {
        /// The requested key.
        key: String,
        /// The keys of the log.
        known: String,
    },
    /// The filter selects cases, but the case notion is unspecified.
    #[error("to choose cases, select an object type as case notion (--case-notion object:TYPE)")]
    NoCases,
}

impl Filter {
    /// Whether the filter lets everything pass.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it selects cases, so that the result contains no case without instances.
    pub fn chooses_cases(&self) -> bool {
        let of_instances = Self {
            from_ns: self.from_ns,
            to_ns: self.to_ns,
            activities: self.activities.clone(),
            without_activities: self.without_activities.clone(),
            instances_where: self.instances_where.clone(),
            ..Self::default()
        };
        *self != of_instances
    }

    /// Returns the selected part of a log.
    ///
    /// # Errors
    /// [`FilterError`] if the log lacks an attribute or the cases of the filter.
    pub fn apply(&self, mut log: ActivityLog) -> Result<ActivityLog, FilterError> {
        if self.is_empty() {
            return Ok(log);
        }
        self.count_cut_off(&mut log);
        let mut wanted = self.instances(&log)?;
        let by_frame = self.has_frame_of_cases().then(|| one_group(&log)).transpose()?;
        if let Some(cases) = by_frame {
            self.choose_by_frame(&log, cases, &mut wanted);
        }
        if let Some((first, last)) = &self.between {
            choose_between(&log, one_group(&log)?, first, last, &mut wanted);
        }
        let log = if wanted.iter().all(|&wanted| wanted) { log } else { keep(log, &wanted, None) };
        if !self.chooses_cases() {
            return Ok(log);
        }
        let cases = one_group(&log)?;
        let chosen = self.cases(&log, cases)?;
        let mut wanted = vec![false; log.len()];
        for case in (0..cases.len()).filter(|&case| chosen[case]) {
            cases.of(case).for_each(|at| wanted[at as usize] = true);
        }
        Ok(keep(log, &wanted, Some(&chosen)))
    }

    fn has_frame(&self) -> bool {
        self.from_ns.is_some() || self.to_ns.is_some()
    }

    /// Whether a time frame leaves parts of cases.
    fn trims(&self) -> bool {
        self.frame == TimeFrame::Trimmed && self.has_frame()
    }

    /// Whether an instance starts within the time frame.
    fn is_inside(&self, log: &ActivityLog, at: u32) -> bool {
        let inside = |ns: i64| self.from_ns.is_none_or(|from| ns >= from) && self.to_ns.is_none_or(|to| ns < to);
        log.start_ns(at).is_some_and(inside)
    }

    /// Counts the cases that the time frame has a part of, and what it leaves out of them.
    fn count_cut_off(&self, log: &mut ActivityLog) {
        let [cases] = &log.groups[..] else { return };
        if !self.trims() {
            return;
        }
        let (mut cut_cases, mut cut_instances) = (0, 0);
        for case in 0..cases.len() {
            let size = cases.of(case).len();
            let outside = cases.of(case).filter(|&at| !self.is_inside(log, at)).count();
            if (1..size).contains(&outside) {
                cut_cases += 1;
                cut_instances += outside as u64;
            }
        }
        flowmine_sums::add_to(&mut log.left_out.cut_cases, cut_cases);
        flowmine_sums::add_to(&mut log.left_out.cut_instances, cut_instances);
    }

    /// Whether a time frame selects whole cases.
    fn has_frame_of_cases(&self) -> bool {
        self.frame != TimeFrame::Trimmed && self.has_frame()
    }

    /// Keeps the whole cases that are within the frame, or have a part in it.
    fn choose_by_frame(&self, log: &ActivityLog, cases: &Cases, wanted: &mut [bool]) {
        let (from, to) = (self.from_ns.unwrap_or(i64::MIN), self.to_ns.unwrap_or(i64::MAX));
        for case in 0..cases.len() {
            let fits = match span(log, cases, case) {
                Some((first, last)) if self.frame == TimeFrame::Contained => first >= from && last < to,
                Some((first, last)) => first < to && last >= from,
                None => false,
            };
            if !fits {
                cases.of(case).for_each(|at| wanted[at as usize] = false);
            }
        }
    }

    fn instances(&self, log: &ActivityLog) -> Result<Vec<bool>, FilterError> {
        let by_name: Vec<bool> = (log.activities.iter())
            .map(|name| (self.activities.is_empty() || is_one_of(&self.activities, name)) && !is_one_of(&self.without_activities, name))
            .collect();
        let mut wanted: Vec<bool> = log.instances.activity.iter().map(|&activity| by_name[activity as usize]).collect();
        if self.trims() {
            for (at, wanted) in wanted.iter_mut().enumerate() {
                *wanted &= self.is_inside(log, at as u32);
            }
        }
        for has in fitting(log, &self.instances_where)? {
            wanted.iter_mut().zip(has).for_each(|(wanted, has)| *wanted &= has);
        }
        Ok(wanted)
    }

    fn cases(&self, log: &ActivityLog, cases: &Cases) -> Result<Vec<bool>, FilterError> {
        // A case without instances has neither a time nor an activity.
        let needs_instances = self.between.is_some() || self.has_frame_of_cases();
        let mut chosen: Vec<bool> = (0..cases.len()).map(|case| !needs_instances || cases.of(case).len() > 0).collect();
        if !self.case_names.is_empty() {
            for (case, chosen) in chosen.iter_mut().enumerate() {
                *chosen = self.case_names.iter().any(|name| name == cases.names.get(case as u32));
            }
        }
        for has in fitting(log, &self.cases_where)? {
            for (case, chosen) in chosen.iter_mut().enumerate() {
                *chosen &= cases.of(case).any(|at| has[at as usize]);
            }
        }
        for (case, chosen) in chosen.iter_mut().enumerate() {
            *chosen = *chosen && self.fits_case(log, cases, case);
        }
        for (first, second) in &self.paths {
            let (first, second) = (named(log, first), named(log, second));
            for (case, chosen) in chosen.iter_mut().enumerate() {
                let mut steps = cases.of(case).zip(cases.of(case).skip(1));
                *chosen &= steps.any(|(a, b)| is_of(log, a, &first) && is_of(log, b, &second));
            }
        }
        for (first, second) in &self.eventually {
            let (first, second) = (named(log, first), named(log, second));
            for (case, chosen) in chosen.iter_mut().enumerate() {
                let mut behind = cases.of(case).skip_while(|&at| !is_of(log, at, &first)).skip(1);
                *chosen &= behind.any(|at| is_of(log, at, &second));
            }
        }
        for pattern in &self.rework {
            for (case, chosen) in chosen.iter_mut().enumerate() {
                *chosen &= comes_again(log, cases, case, pattern);
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

impl Filter {
    /// Whether a case begins, ends and lasts as wanted.
    fn fits_case(&self, log: &ActivityLog, cases: &Cases, case: usize) -> bool {
        let size = cases.of(case).len();
        let fits = |list: &[String], at: Option<u32>| list.is_empty() || at.is_some_and(|at| is_one_of(list, log.activity(at)));
        if !fits(&self.starts_with, cases.of(case).next()) || !fits(&self.ends_with, cases.of(case).last()) {
            return false;
        }
        if self.min_size.is_some_and(|least| size < least) || self.max_size.is_some_and(|most| size > most) {
            return false;
        }
        if self.min_duration_ns.is_none() && self.max_duration_ns.is_none() {
            return true;
        }
        let Some((first, last)) = span(log, cases, case) else { return false };
        let duration = last.saturating_sub(first);
        self.min_duration_ns.is_none_or(|least| duration >= least) && self.max_duration_ns.is_none_or(|most| duration <= most)
    }
}

fn one_group(log: &ActivityLog) -> Result<&Cases, FilterError> {
    match &log.groups[..] {
        [cases] => Ok(cases),
        _ => Err(FilterError::NoCases),
    }
}

fn is_one_of(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// Returns for each activity whether it matches a pattern.
fn named(log: &ActivityLog, pattern: &str) -> Vec<bool> {
    log.activities.iter().map(|name| matches(pattern, name)).collect()
}

fn is_of(log: &ActivityLog, at: u32, activities: &[bool]) -> bool {
    activities[log.instances.activity[at as usize] as usize]
}

/// The first and the last time of a case; `None` where no time of it is known.
fn span(log: &ActivityLog, cases: &Cases, case: usize) -> Option<(i64, i64)> {
    let times = || cases.of(case).flat_map(|at| [log.start_ns(at), log.end_ns(at)]).flatten();
    Some((times().min()?, times().max()?))
}

/// Keeps the instances of each case from one of the first activity to the next one of the last.
fn choose_between(log: &ActivityLog, cases: &Cases, first: &str, last: &str, wanted: &mut [bool]) {
    let (first, last) = (named(log, first), named(log, last));
    for case in 0..cases.len() {
        let mut open: Vec<u32> = Vec::new();
        let mut inside: Vec<u32> = Vec::new();
        for at in cases.of(case) {
            if !open.is_empty() || is_of(log, at, &first) {
                open.push(at);
            }
            if open.len() > 1 && is_of(log, at, &last) {
                inside.append(&mut open);
            }
        }
        let mut inside = inside.into_iter().peekable();
        for at in cases.of(case) {
            if inside.next_if_eq(&at).is_none() {
                wanted[at as usize] = false;
            }
        }
    }
}

/// Whether an activity that matches the pattern occurs at least twice in a case.
fn comes_again(log: &ActivityLog, cases: &Cases, case: usize, pattern: &str) -> bool {
    let mut seen: Vec<u32> = cases.of(case).map(|at| log.instances.activity[at as usize]).collect();
    seen.sort_unstable();
    seen.windows(2).any(|pair| pair[0] == pair[1] && matches(pattern, log.activities.get(pair[0])))
}

/// Returns, for each group of alternative conditions, the instances that fulfil it.
fn fitting(log: &ActivityLog, conditions: &[Condition]) -> Result<Vec<Vec<bool>>, FilterError> {
    let mut groups: Vec<Vec<&Condition>> = Vec::new();
    for condition in conditions {
        match groups.iter_mut().find(|group| condition.is_alternative_to(group[0])) {
            Some(group) => group.push(condition),
            None => groups.push(vec![condition]),
        }
    }
    let of = |group: Vec<&Condition>| {
        let key = &group[0].key;
        let Some(attribute) = log.attributes.iter().find(|attribute| attribute.key == *key) else {
            let known: Vec<&str> = log.attributes.iter().map(|attribute| attribute.key.as_str()).collect();
            return Err(FilterError::NoAttribute { key: key.clone(), known: known.join(", ") });
        };
        let fits: Vec<bool> = attribute.names.iter().map(|name| group.iter().any(|condition| condition.fits(name))).collect();
        Ok(attribute.of.iter().map(|&value| fits.get(value as usize).copied().unwrap_or(false)).collect())
    };
    groups.into_iter().map(of).collect()
}

/// Whether a text matches a pattern in which `*` matches any text.
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

    fn condition(text: &str) -> Condition {
        Condition::parse(text).expect("a condition")
    }

    fn names(filter: &Filter) -> String {
        traces(filter).into_iter().map(|(name, _)| name).collect()
    }

    /// Times of the cases are 0, 1 and 2 ns, and case 4 has none.
    #[test]
    fn cases_by_what_they_are() {
        let starts = |name: &str| Filter { starts_with: vec![name.into()], ..Filter::default() };
        assert_eq!((names(&starts("a")), names(&starts("b"))), ("123".into(), String::new()));
        assert_eq!(names(&Filter { ends_with: vec!["b".into(), "x".into()], ..Filter::default() }), "3");
        assert_eq!(names(&Filter { eventually: vec![("a".into(), "b".into())], ..Filter::default() }), "123");
        assert_eq!(names(&Filter { eventually: vec![("b".into(), "c".into())], ..Filter::default() }), "12");
        assert_eq!(names(&Filter { min_size: Some(3), ..Filter::default() }), "123");
        assert_eq!(names(&Filter { max_size: Some(2), ..Filter::default() }), "4");
        assert_eq!(names(&Filter { min_duration_ns: Some(2), max_duration_ns: Some(2), ..Filter::default() }), "123");
        assert_eq!(names(&Filter { min_duration_ns: Some(3), ..Filter::default() }), "");
        assert_eq!(names(&Filter { rework: vec!["*".into()], ..Filter::default() }), "");
        let between = Filter { between: Some(("a".into(), "b".into())), ..Filter::default() };
        assert_eq!(traces(&between), pairs(&[("1", "ab"), ("2", "ab"), ("3", "acb")]));
        let between = Filter { between: Some(("b".into(), "c".into())), ..Filter::default() };
        assert_eq!(traces(&between), pairs(&[("1", "bc"), ("2", "bc")]));
    }

    #[test]
    fn frames_take_whole_cases_or_cut_them() {
        let frame = |frame, from, to| traces(&Filter { from_ns: Some(from), to_ns: Some(to), frame, ..Filter::default() });
        assert_eq!(frame(TimeFrame::Contained, 0, 3).len(), 3);
        assert_eq!(frame(TimeFrame::Contained, 0, 2), []);
        assert_eq!(frame(TimeFrame::Intersecting, 2, 3), pairs(&[("1", "abc"), ("2", "abc"), ("3", "acb")]));
        assert_eq!(frame(TimeFrame::Intersecting, 3, 9), []);
        let cut = |frame, from, to| {
            let log = Filter { from_ns: Some(from), to_ns: Some(to), frame, ..Filter::default() }.apply(log());
            log.expect("it has cases").left_out.cut_sentence().unwrap_or_default()
        };
        assert_eq!(cut(TimeFrame::Trimmed, 0, 1), "the time frame cuts 3 cases, of which 6 instances lie outside and are left out");
        for (kind, from, to) in
            [(TimeFrame::Trimmed, 0, 3), (TimeFrame::Trimmed, 5, 9), (TimeFrame::Contained, 0, 2), (TimeFrame::Intersecting, 0, 1)]
        {
            assert_eq!(cut(kind, from, to), "", "{kind:?} {from} {to}");
        }
    }

    #[test]
    fn rework_and_segments() {
        let mut builder = LogBuilder::new(&[]);
        for (at, letter) in "xabaybz".chars().enumerate() {
            let activity = builder.activity(&letter.to_string());
            let row = EventRow { activity, time_ns: at as i64, transition: Transition::Untold, ..EventRow::default() };
            builder.event(&row).expect("few");
        }
        builder.end_case("1").expect("few");
        let log = builder.finish();
        let left = |filter: Filter| {
            let log = filter.apply(log.clone()).expect("a log with cases");
            (0..log.len() as u32).map(|at| log.activity(at).to_owned()).collect::<String>()
        };
        assert_eq!(left(Filter { between: Some(("a".into(), "b".into())), ..Filter::default() }), "abayb");
        assert_eq!(left(Filter { rework: vec!["a".into()], ..Filter::default() }), "xabaybz");
        assert_eq!(left(Filter { rework: vec!["x".into()], ..Filter::default() }), "");
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
        let wanted = Filter { instances_where: vec![condition("user=bob")], ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("2", "abc"), ("3", "acb"), ("4", "")]));
        let wanted = Filter { paths: vec![("c".into(), "b".into())], ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("3", "acb")]));
        let wanted = Filter { top_variants: Some(1), ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("1", "abc"), ("2", "abc")]));
        let wanted = Filter { variant_coverage: Some(0.75), ..Filter::default() };
        assert_eq!(traces(&wanted).len(), 3);
        let wanted = Filter { cases_where: vec![condition("user=ann")], ..Filter::default() };
        assert_eq!(traces(&wanted), pairs(&[("1", "abc")]));
        let unknown = Filter { cases_where: vec![condition("colour=red")], ..Filter::default() };
        let error = FilterError::NoAttribute { key: "colour".into(), known: "user".into() };
        assert_eq!(unknown.apply(log()), Err(error));
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
