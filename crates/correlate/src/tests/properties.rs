use proptest::prelude::*;

use super::support::*;
use crate::cases::{ALL, Entities};
use crate::jobs::Jobs;
use crate::joined::kept_state;
use crate::parts::Parts;
use crate::row_rules::RowRules;
use crate::{CorrelateError, Share, Timestamp, correlate};
use crate::{EventLog, Filter};

/// When the first poll sees a job, in seconds after its submission.
const SEEN_AFTER: i64 = 3;

/// What happened to one job: its id from a small range, so that ids meet, and a few steps.
#[derive(Debug, Clone)]
pub struct Life {
    pub label: String,
    pub submit: i64,
    steps: Vec<(u8, i64)>,
    waits_for: Vec<(u8, u8)>,
    user: u8,
}

fn life() -> impl Strategy<Value = Life> {
    let label = (1u8..9, 0u8..5).prop_map(|(id, form)| match form {
        0 => format!("{id}_*"),
        1 => format!("{id}_1"),
        2 => format!("{id}_2"),
        3 => format!("{id}+1"),
        _ => id.to_string(),
    });
    (label, 0i64..2000, prop::collection::vec((0u8..7, 1i64..40), 0..5), prop::collection::vec((0u8..12, 0u8..4), 0..3), 0u8..2)
        .prop_map(|(label, submit, steps, waits_for, user)| Life { label, submit, steps, waits_for, user })
}

impl Life {
    fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        let mut at = self.submit + SEEN_AFTER;
        let job = &self.label;
        rows.new_job(job, self.submit, "PENDING", at);
        for &(step, wait) in &self.steps {
            let before = at;
            at += wait;
            match step {
                0 => drop(rows.state(job, self.submit, "RUNNING", before, at).clone()),
                1 => drop(rows.state(job, self.submit, "SUSPENDED", before, at).clone()),
                2 => drop(rows.state(job, self.submit, "COMPLETED", before, at).clone()),
                3 => drop(rows.left(job, Some(self.submit), before, at).clone()),
                4 => drop(rows.requeued(job, self.submit, "PENDING", before, at).clone()),
                5 => drop(rows.accounting(job, self.submit, "FAILED", Some(before), Some(at), at + 100).clone()),
                _ => drop(rows.accounting(job, self.submit, "CANCELLED", None, Some(at), at + 100).clone()),
            }
        }
        for row in &mut rows.states {
            row.user = Some(if self.user == 0 { "ann" } else { "bob" }.into());
        }
        for &(id, form) in &self.waits_for {
            let term = match form {
                0 => format!("afterok:{id}_*"),
                1 => format!("afterany:{id}_1"),
                2 => "singleton".to_owned(),
                _ => format!("afterok:{id}"),
            };
            rows.depends(job, self.submit, &term, self.submit + SEEN_AFTER);
        }
        rows
    }
}

/// Lives with different (label, submit): rows of different lives belong to different attempts.
pub fn lives() -> impl Strategy<Value = Vec<Life>> {
    prop::collection::vec(life(), 1..14).prop_map(|mut lives| {
        lives.sort_by_key(|l| (l.label.clone(), l.submit));
        lives.dedup_by_key(|l| (l.label.clone(), l.submit));
        lives
    })
}

pub fn together<'a>(lives: impl Iterator<Item = &'a Life>) -> Rows {
    let mut all = Rows::default();
    for life in lives {
        let rows = life.rows();
        all.states.extend(rows.states);
        all.dependencies.extend(rows.dependencies);
    }
    all
}

/// Rows of different jobs mixed, those of one job in order.
pub fn interleaved(lives: &[Life]) -> Rows {
    let mut all = Rows::default();
    let mut queues: Vec<_> = lives.iter().rev().map(|l| l.rows()).map(|r| (r.states.into_iter(), r.dependencies.into_iter())).collect();
    let mut some = true;
    while some {
        some = false;
        for (states, dependencies) in &mut queues {
            let (state, dependency) = (states.next(), dependencies.next());
            some |= state.is_some() || dependency.is_some();
            all.states.extend(state);
            all.dependencies.extend(dependency);
        }
    }
    all
}

fn assert_same(a: &Jobs, b: &Jobs) {
    assert_eq!(a.strings, b.strings);
    assert_eq!(a.attempts, b.attempts);
    assert_eq!(a.events, b.events);
    assert_eq!(a.submissions, b.submissions);
    assert_eq!(a.dependencies, b.dependencies);
    assert_eq!(a.diagnostics.iter().collect::<Vec<_>>(), b.diagnostics.iter().collect::<Vec<_>>());
}

proptest! {
    #[test]
    fn the_order_of_arrival_does_not_matter(lives in lives(), turn in 0usize..14) {
        let want = together(lives.iter()).jobs();
        let turn = turn % lives.len();
        let turned = together(lives[turn..].iter().chain(&lives[..turn])).jobs();
        assert_same(&want, &turned);
        assert_same(&want, &interleaved(&lives).jobs());
    }

    #[test]
    fn every_attempt_is_in_one_case_and_every_event_in_one_trace(lives in lives()) {
        let jobs = together(lives.iter()).jobs();
        for notion in ALL {
            let entities = Entities::new(&jobs);
            let assignment = notion.assign(&entities);
            prop_assert_eq!(assignment.case_of.len(), jobs.attempts.len());
            let mut ids = assignment.ids.clone();
            ids.sort();
            ids.dedup();
            prop_assert_eq!(ids.len(), assignment.ids.len());
            for id in &assignment.ids {
                let prefix = format!("{}:", notion.name());
                prop_assert!(id.starts_with(&prefix));
            }
            let log = EventLog::build(&entities, *notion, &Filter::default());
            let mut seen = vec![0; jobs.events.len()];
            let mut last = (i64::MIN, String::new());
            for case in &log.cases {
                let times: Vec<i64> = log.events(case).map(|e| e.time_ns).collect();
                prop_assert!(times.is_sorted());
                let key = (times[0], case.id.clone());
                prop_assert!(last < key);
                last = key;
                for &event in log.event_indices(case) {
                    seen[event as usize] += 1;
                    prop_assert_eq!(assignment.id_of(jobs.events[event as usize].attempt as usize), case.id.as_str());
                }
            }
            prop_assert!(seen.iter().all(|&n| n == 1));
        }
        for attempt in &jobs.attempts {
            let events = jobs.events_of(attempt);
            prop_assert!(events.iter().map(|e| e.time_ns).is_sorted());
        }
    }

    #[test]
    fn case_ids_stay_when_the_dataset_grows(lives in lives(), cut in 0usize..14) {
        let mut lives = lives;
        lives.sort_by_key(|l| l.submit);
        // Only whole jobs are added later, and none submitted before the last poll of the existing
        // jobs: that poll would have seen it.
        let mut cut = 1 + cut % lives.len();
        while cut < lives.len() && lives[cut].submit <= lives[cut - 1].submit + SEEN_AFTER {
            cut += 1;
        }
        let before = together(lives[..cut].iter()).jobs();
        let after = together(lives.iter()).jobs();
        for notion in ALL {
            let (old, new) = (notion.assign(&Entities::new(&before)), notion.assign(&Entities::new(&after)));
            let old_ids: Vec<&str> = old.ids.iter().map(String::as_str).collect();
            for (at, attempt) in before.attempts.iter().enumerate() {
                let id = before.attempt_id(attempt);
                let now = after.attempts.iter().position(|a| after.attempt_id(a) == id).unwrap();
                let (was, is) = (old.id_of(at), new.id_of(now));
                if was != is {
                    // Joined with an older case, which is one that was there before.
                    prop_assert!(old_ids.contains(&is), "{} was in {} and is in {}", id, was, is);
                    let members = |case: &str| (0..before.attempts.len()).filter(|&a| old.id_of(a) == case).collect::<Vec<_>>();
                    let first_of = |case: &str| members(case).iter().map(|&a| before.attempts[a].submission).min().unwrap();
                    prop_assert!(first_of(is) <= first_of(was), "{} was in {} and is in {}", id, was, is);
                }
            }
        }
    }
}

/// What is known of every attempt, sorted: its name, cases, events, and what it waits for.
fn told(jobs: &Jobs) -> Vec<String> {
    let assignments: Vec<_> = ALL.iter().map(|notion| notion.assign(&Entities::new(jobs))).collect();
    let mut all: Vec<String> = (0u32..)
        .zip(&jobs.attempts)
        .map(|(at, attempt)| {
            let cases: Vec<&str> = assignments.iter().map(|a| a.id_of(at as usize)).collect();
            let events: Vec<_> = jobs.events_of(attempt).iter().map(|e| (jobs.text(e.state), e.time_ns, e.lifecycle.name())).collect();
            let edges = jobs.dependencies.edges.iter().filter(|e| jobs.dependencies.terms[e.term as usize].attempt == at);
            let targets: Vec<String> = edges.map(|e| format!("{:?}", crate::write::link(jobs, e))).collect();
            format!("{} {} {cases:?} {events:?} {targets:?}", jobs.attempt_id(attempt), attempt.number)
        })
        .collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn parts_say_the_same_as_the_whole(lives in lives(), rows_at_once in 1u64..12) {
        let rows = interleaved(&lives);
        let dir = tempfile::tempdir().unwrap();
        let dataset = rows.dataset(dir.path());
        let mut by_part = Vec::new();
        let mut count = 0;
        let rules = RowRules::default();
        let parts = Parts::new(&dataset, Timestamp::Reported, &rules, rows_at_once).unwrap();
        // A second walk gives the same.
        for _ in 0..2 {
            (by_part, count) = (Vec::new(), 0);
            parts.for_each::<CorrelateError>(|jobs| {
                count += 1;
                by_part.extend(told(jobs));
                Ok(())
            }).unwrap();
        }
        by_part.sort();
        prop_assert!(count >= 1);
        prop_assert_eq!(by_part, told(&rows.jobs()));
    }

    #[test]
    fn all_shares_say_the_same_as_the_whole(lives in lives(), rows_at_once in 1u64..12, of in 1u32..5, kept in any::<bool>()) {
        let rows = interleaved(&lives);
        let dir = tempfile::tempdir().unwrap();
        let dataset = rows.dataset(dir.path());
        let rules = RowRules::default();
        if kept {
            let parts = Parts::new(&dataset, Timestamp::Reported, &rules, rows_at_once).unwrap();
            correlate(&dataset, &parts, ALL, None).unwrap();
        }
        prop_assert_eq!(kept_state(&dataset).unwrap().is_some(), kept);
        let mut by_share = Vec::new();
        for number in 1..=of {
            let share = Share::new(number, of).unwrap();
            let parts = Parts::of_share(&dataset, Timestamp::Reported, &rules, rows_at_once, share).unwrap();
            parts.for_each::<CorrelateError>(|jobs| {
                by_share.extend(told(jobs));
                Ok(())
            }).unwrap();
        }
        by_share.sort();
        prop_assert_eq!(by_share, told(&rows.jobs()));
    }
}
