//! An event log: the events of a dataset, in the cases of one notion.
//!
//! In go entities, a case notion and a filter; out come traces, sorted by the time of their first
//! event, then by case id. Events in a trace are sorted by time; at equal times in the order of
//! submission of their attempts (then by cluster, job id, job), and those of one attempt keep their
//! order. A case without an event that passes the filter is left out.
//!
//! The log borrows the [`Jobs`]: an event costs four bytes more, a case its id.

use rustc_hash::FxHashMap;

use crate::attempts::JobAttempt;
use crate::cases::{CaseNotion, Entities};
use crate::events::Event;
use crate::jobs::Jobs;
use crate::strings::Sym;

/// Which events are wanted. The default wants all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only jobs charged to one of these accounts; empty for all. A job with an unknown account is
    /// in none of them.
    pub accounts: Vec<String>,
    /// Only jobs of one of these users; empty for all.
    pub users: Vec<String>,
    /// Only events at this time or later, UTC nanoseconds since 1970.
    pub from_ns: Option<i64>,
    /// Only events before this time, UTC nanoseconds since 1970.
    pub to_ns: Option<i64>,
}

impl Filter {
    /// The filter with its names looked up.
    pub fn resolve<'j>(&self, jobs: &'j Jobs) -> ResolvedFilter<'j> {
        let look_up = |names: &[String]| -> Option<Vec<Sym>> {
            (!names.is_empty()).then(|| names.iter().filter_map(|name| jobs.strings.find(name)).collect())
        };
        ResolvedFilter {
            jobs,
            accounts: look_up(&self.accounts),
            users: look_up(&self.users),
            from_ns: self.from_ns.unwrap_or(i64::MIN),
            to_ns: self.to_ns,
        }
    }
}

/// A [`Filter`] for one dataset.
#[derive(Debug, Clone)]
pub struct ResolvedFilter<'j> {
    jobs: &'j Jobs,
    accounts: Option<Vec<Sym>>,
    users: Option<Vec<Sym>>,
    from_ns: i64,
    to_ns: Option<i64>,
}

impl<'j> ResolvedFilter<'j> {
    /// Whether the attempt's account and user are wanted.
    pub fn wants(&self, attempt: &JobAttempt) -> bool {
        let in_list =
            |list: &Option<Vec<Sym>>, name: Option<Sym>| list.as_ref().is_none_or(|list| name.is_some_and(|name| list.contains(&name)));
        in_list(&self.accounts, attempt.account) && in_list(&self.users, attempt.user)
    }

    /// The indices of the wanted events of an attempt, in order; none when the attempt is not
    /// wanted.
    pub fn events(&self, attempt: &JobAttempt) -> impl Iterator<Item = u32> + use<'_, 'j> {
        let (first, end) = if self.wants(attempt) { attempt.events } else { (0, 0) };
        (first..end).filter(|&at| {
            let time = self.jobs.events[at as usize].time_ns;
            time >= self.from_ns && self.to_ns.is_none_or(|to| time < to)
        })
    }
}

/// One case of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseTrace {
    /// Id of the case.
    pub id: String,
    /// Whether events of other parts ([`crate::parts`]) can be in it too.
    pub goes_on: bool,
    /// The lowest confidence of its jobs ([`Why::confidence`](crate::cases::Why::confidence)), where
    /// the notion estimates it.
    pub confidence: Option<f32>,
    first: u32,
    end: u32,
}

/// What an event's label in a model is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Classifier {
    /// The activity: the command's file name.
    #[default]
    Activity,
    /// The activity and the state: `merge.sh+RUNNING`.
    ActivityState,
}

/// The labels of a log's events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// The names, sorted, each once.
    pub names: Vec<String>,
    /// For each event of [`Jobs::events`] its label: an index into `names`. Events outside of the
    /// log have `u32::MAX`.
    pub of_event: Vec<u32>,
}

/// The events of a dataset in the cases of one notion.
#[derive(Debug, Clone)]
pub struct EventLog<'j> {
    /// The jobs to which the events of the log belong.
    pub jobs: &'j Jobs,
    /// Name of the case notion.
    pub notion: &'static str,
    /// The cases of the log, each with its events.
    pub cases: Vec<CaseTrace>,
    events: Vec<u32>,
}

impl<'j> EventLog<'j> {
    /// Makes the log of a notion's cases, with the events that pass the filter.
    pub fn build(entities: &Entities<'j>, notion: &dyn CaseNotion, filter: &Filter) -> Self {
        let jobs = entities.jobs;
        let assignment = notion.assign(entities);
        let filter = filter.resolve(jobs);
        // Count, then place: one array for all traces.
        let mut ends = vec![0u32; assignment.ids.len() + 1];
        for (attempt, &case) in jobs.attempts.iter().zip(&assignment.case_of) {
            ends[case as usize + 1] += filter.events(attempt).count() as u32;
        }
        for case in 1..ends.len() {
            ends[case] += ends[case - 1];
        }
        let starts = ends.clone();
        let mut unsorted = vec![0u32; ends.last().map_or(0, |&n| n as usize)];
        for (attempt, &case) in jobs.attempts.iter().zip(&assignment.case_of) {
            for event in filter.events(attempt) {
                let place = &mut ends[case as usize];
                unsorted[*place as usize] = event;
                *place += 1;
            }
        }
        let confidence = assignment.confidence();
        let mut cases: Vec<CaseTrace> = assignment
            .ids
            .into_iter()
            .zip(assignment.goes_on)
            .enumerate()
            .map(|(case, (id, goes_on))| CaseTrace {
                id,
                goes_on,
                confidence: confidence.get(case).copied().flatten(),
                first: starts[case],
                end: ends[case],
            })
            .filter(|case| case.first < case.end)
            .collect();
        let time = |event: u32| jobs.events[event as usize].time_ns;
        for case in &cases {
            // Events are numbered in the order of submission, so their number decides between equal times.
            unsorted[case.first as usize..case.end as usize].sort_unstable_by_key(|&event| (time(event), event));
        }
        cases.sort_unstable_by(|a, b| (time(unsorted[a.first as usize]), &a.id).cmp(&(time(unsorted[b.first as usize]), &b.id)));
        let mut events = Vec::with_capacity(unsorted.len());
        for case in &mut cases {
            let first = events.len() as u32;
            events.extend_from_slice(&unsorted[case.first as usize..case.end as usize]);
            (case.first, case.end) = (first, events.len() as u32);
        }
        Self { jobs, notion: notion.name(), cases, events }
    }

    /// The events of a case in order.
    pub fn events(&self, case: &CaseTrace) -> impl ExactSizeIterator<Item = &'j Event> + '_ {
        let jobs = self.jobs;
        self.event_indices(case).iter().map(move |&at| &jobs.events[at as usize])
    }

    /// The same as indices into [`Jobs::events`].
    pub fn event_indices(&self, case: &CaseTrace) -> &[u32] {
        &self.events[case.first as usize..case.end as usize]
    }

    /// How many events there are in all cases.
    pub fn event_count(&self) -> usize {
        self.events.len()
    }

    /// The attempts that have an event in the log: indices into [`Jobs::attempts`], ascending.
    pub fn attempts(&self) -> Vec<u32> {
        let mut attempts: Vec<u32> = self.events.iter().map(|&e| self.jobs.events[e as usize].attempt).collect();
        attempts.sort_unstable();
        attempts.dedup();
        attempts
    }

    /// The labels of the events under a classifier.
    pub fn labels(&self, classifier: Classifier) -> Labels {
        let jobs = self.jobs;
        let key = |event: &Event| {
            let state = (classifier == Classifier::ActivityState).then_some(event.state);
            (jobs.attempt_of(event).activity, state)
        };
        let mut of_key: FxHashMap<(Sym, Option<Sym>), u32> = FxHashMap::default();
        for &at in &self.events {
            of_key.entry(key(&jobs.events[at as usize])).or_insert(0);
        }
        let name = |&(activity, state): &(Sym, Option<Sym>)| match state {
            None => jobs.text(activity).to_owned(),
            Some(state) => format!("{}+{}", jobs.text(activity), jobs.text(state)),
        };
        let mut names: Vec<String> = of_key.keys().map(name).collect();
        names.sort_unstable();
        // Two keys can give one name when a name has a plus sign in it.
        names.dedup();
        for (key, number) in &mut of_key {
            *number = names.binary_search(&name(key)).unwrap_or_default() as u32;
        }
        let mut of_event = vec![u32::MAX; jobs.events.len()];
        for &at in &self.events {
            of_event[at as usize] = of_key[&key(&jobs.events[at as usize])];
        }
        Labels { names, of_event }
    }

    /// A case as (label, time in nanoseconds) in order, into `trace`.
    pub fn label_trace(&self, case: &CaseTrace, labels: &Labels, trace: &mut Vec<(u32, i64)>) {
        trace.clear();
        let events = self.event_indices(case).iter();
        trace.extend(events.map(|&at| (labels.of_event[at as usize], self.jobs.events[at as usize].time_ns)));
    }
}
