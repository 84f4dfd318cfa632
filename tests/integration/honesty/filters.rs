//! Every filter of logs against its definition: first instances are chosen, then cases.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::logs::{Interval, cases, model, time, written};
use super::queue::config;
use crate::support::flowmine;

/// What is asked for, beside options for instances at most one for cases.
#[derive(Debug, Clone)]
struct Asked {
    from: Option<u32>,
    to: Option<u32>,
    only: Option<&'static str>,
    without: Option<&'static str>,
    team: Option<&'static str>,
    cases: Option<Choice>,
}

/// A choice of cases.
#[derive(Debug, Clone)]
enum Choice {
    Names(Vec<usize>),
    Path(char, char),
    Team(&'static str),
    TopVariants(usize),
    Coverage(u32),
}

/// Whether a case of this number, with the instances that are left of it, is in the part.
type Chosen<'a> = Box<dyn Fn(usize, &[Interval]) -> bool + 'a>;

fn asked() -> impl Strategy<Value = Asked> {
    let moment = || prop::option::weighted(0.3, 0u32..3000);
    let pattern = || prop::option::weighted(0.3, prop::sample::select(vec!["a", "b", "*", "c*", "*b", "x"]));
    let team = || prop::sample::select(vec!["even", "odd"]);
    let choice = prop_oneof![
        prop::collection::vec(0usize..6, 1..3).prop_map(Choice::Names),
        (prop::char::range('a', 'c'), prop::char::range('a', 'c')).prop_map(|(a, b)| Choice::Path(a, b)),
        team().prop_map(Choice::Team),
        (1usize..4).prop_map(Choice::TopVariants),
        (1u32..100).prop_map(Choice::Coverage),
    ];
    (moment(), moment(), pattern(), pattern(), prop::option::weighted(0.3, team()), prop::option::weighted(0.6, choice))
        .prop_map(|(from, to, only, without, team, cases)| Asked { from, to, only, without, team, cases })
}

fn team_of(interval: &Interval) -> &'static str {
    if interval.1.is_multiple_of(2) { "even" } else { "odd" }
}

/// Whether a pattern of one letter and stars fits an activity of one letter.
fn fits(pattern: &str, activity: char) -> bool {
    pattern == "*" || pattern.trim_matches('*') == activity.to_string()
}

impl Asked {
    fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        let mut add = |name: &str, value: String| options.extend([name.to_owned(), value]);
        self.from.iter().for_each(|from| add("--from", time(*from)));
        self.to.iter().for_each(|to| add("--to", time(*to)));
        self.only.iter().for_each(|only| add("--only-activity", (*only).to_owned()));
        self.without.iter().for_each(|without| add("--without-activity", (*without).to_owned()));
        self.team.iter().for_each(|team| add("--where", format!("team={team}")));
        match &self.cases {
            None => {}
            Some(Choice::Names(names)) => names.iter().for_each(|name| add("--case", name.to_string())),
            Some(Choice::Path(first, second)) => add("--path", format!("{first}=>{second}")),
            Some(Choice::Team(team)) => add("--cases-where", format!("team={team}")),
            Some(Choice::TopVariants(count)) => add("--top-variants", count.to_string()),
            Some(Choice::Coverage(percent)) => add("--variant-coverage", percent.to_string()),
        }
        options
    }

    /// What the program says of cases that the time frame cuts; `None` with other filters.
    fn note(&self, log: &[Vec<Interval>]) -> Option<String> {
        if self.only.is_some() || self.without.is_some() || self.team.is_some() || self.cases.is_some() {
            return None;
        }
        let is_inside = |interval: &&Interval| self.from.is_none_or(|from| interval.1 >= from) && self.to.is_none_or(|to| interval.1 < to);
        let outside = log.iter().map(|case| (case.iter().filter(is_inside).count(), case.len()));
        let cut: Vec<usize> = outside.filter(|(inside, all)| (1..*all).contains(inside)).map(|(inside, all)| all - inside).collect();
        let (cases, instances) = (cut.len(), cut.iter().sum::<usize>());
        let several = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let lie = if instances == 1 { "lies outside and is" } else { "lie outside and are" };
        Some(match cases {
            0 => String::new(),
            _ => format!(
                "flowmine: note: the time frame cuts {}, of which {} {lie} left out; --time-frame contained or intersecting keeps cases whole\n",
                several(cases, "case"),
                several(instances, "instance")
            ),
        })
    }

    /// The part of the log; `None` where variants of equal frequency leave open which are taken.
    fn part(&self, log: &[Vec<Interval>]) -> Option<Vec<Vec<Interval>>> {
        let is_wanted = |interval: &&Interval| {
            let (activity, start, _) = **interval;
            self.from.is_none_or(|from| start >= from)
                && self.to.is_none_or(|to| start < to)
                && self.only.is_none_or(|only| fits(only, activity))
                && self.without.is_none_or(|without| !fits(without, activity))
                && self.team.is_none_or(|team| team_of(interval) == team)
        };
        let part: Vec<(usize, Vec<Interval>)> = (log.iter().enumerate())
            .map(|(name, case)| {
                let mut case: Vec<Interval> = case.iter().filter(is_wanted).copied().collect();
                case.sort_by_key(|interval| interval.1);
                (name, case)
            })
            .filter(|(_, case)| !case.is_empty())
            .collect();
        let mut frequency: BTreeMap<String, usize> = BTreeMap::new();
        let variant = |case: &[Interval]| case.iter().map(|interval| interval.0).collect::<String>();
        part.iter().for_each(|(_, case)| *frequency.entry(variant(case)).or_default() += 1);
        let mut most: Vec<usize> = frequency.values().copied().collect();
        most.sort_by(|a, b| b.cmp(a));
        // The least frequency that is taken, where it is clear which variants these are.
        let least = |count: usize| match most.get(count) {
            Some(next) if *next == most[count - 1] => None,
            _ => Some(most.get(count - 1).copied().unwrap_or(0)),
        };
        let is_chosen: Chosen<'_> = match &self.cases {
            None => Box::new(|_, _| true),
            Some(Choice::Names(names)) => Box::new(|name, _| names.contains(&name)),
            Some(Choice::Path(first, second)) => {
                Box::new(|_, case| case.windows(2).any(|pair| (pair[0].0, pair[1].0) == (*first, *second)))
            }
            Some(Choice::Team(team)) => Box::new(|_, case| case.iter().any(|interval| team_of(interval) == *team)),
            Some(Choice::TopVariants(count)) => {
                let least = least((*count).min(most.len()).max(1))?;
                Box::new(move |_, case| frequency[&variant(case)] >= least)
            }
            Some(Choice::Coverage(percent)) => {
                let needed = f64::from(*percent) / 100.0 * part.len() as f64;
                let enough = (1..=most.len()).find(|count| most[..*count].iter().sum::<usize>() as f64 >= needed);
                let least = least(enough.unwrap_or(most.len()).max(1))?;
                Box::new(move |_, case| frequency[&variant(case)] >= least)
            }
        };
        Some(part.iter().filter(|(name, case)| is_chosen(*name, case)).map(|(_, case)| case.clone()).collect())
    }
}

proptest! {
    #![proptest_config(Config { cases: 80, max_shrink_iters: 200, ..config() })]

    #[test]
    fn every_filter_leaves_the_part_of_its_definition(log in cases(), asked in asked()) {
        let Some(part) = asked.part(&log) else { return Ok(()) };
        let dir = tempfile::tempdir().unwrap();
        let mut text = "case,activity,start,end,team\n".to_owned();
        for (name, case) in log.iter().enumerate() {
            for interval in case {
                let (activity, start, end) = *interval;
                writeln!(text, "{name},{activity},{},{},{}", time(start), time(end), team_of(interval)).unwrap();
            }
        }
        let path = dir.path().join("log.csv");
        fs::write(&path, text).unwrap();
        let output = flowmine().args(["discover", "dfg", "--format", "json"]).args(asked.options()).arg("--log").arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if part.is_empty() {
            // What leaves nothing is said.
            prop_assert!(!said.is_empty() || output.status.code() == Some(2), "{:?}", asked);
            return Ok(());
        }
        prop_assert_eq!(output.status.code(), Some(0), "{}", said);
        prop_assert_eq!(said.as_ref(), asked.note(&log).unwrap_or_else(|| said.to_string()));
        let is_framed = asked.from.is_some() || asked.to.is_some();
        prop_assert!(said.lines().all(|line| is_framed && line.starts_with("flowmine: note: the time frame cuts ")), "{}", said);
        prop_assert_eq!(written(&output.stdout), model(&part), "{:?}", asked.options());
    }
}
