//! In go the jobs of a dataset, part after part; out come all submissions in the order of age.

use crate::attempts::JobAttempt;
use crate::cases::signed;
use crate::components;
use crate::exchanges::Exchanges;
use crate::jobs::Jobs;
use crate::packed_int::PackedInt;
use crate::strings::StringsBuilder;
use crate::submitted::{AllSubmitted, Submitted};

/// Takes the jobs of a dataset, part after part.
#[derive(Debug, Default)]
pub(crate) struct Gatherer {
    strings: StringsBuilder,
    all: Vec<Submitted>,
}

impl Gatherer {
    pub fn add(&mut self, jobs: &Jobs, exchanges: &Exchanges) {
        let start = self.all.len();
        for (submission, oldest) in jobs.submissions.iter().zip(components::oldest(jobs)) {
            let first = &jobs.attempts[submission.first_attempt as usize];
            let mut text = |sym| self.strings.intern(jobs.text(sym));
            self.all.push(Submitted {
                since_ns: submission.since_ns,
                cluster: text(submission.cluster),
                id: submission.id,
                generation: submission.generation,
                user: first.user.map(&mut text),
                name: first.name.map(&mut text),
                activity: text(first.activity),
                command: first.command.map(&mut text),
                arguments: first.arguments.map(&mut text),
                comment: first.comment.map(&mut text),
                work_dir: first.work_dir.map(&mut text),
                submit_node: first.submit_node.map(&mut text),
                submit_session: first.submit_session,
                started_ns: PackedInt::UNKNOWN,
                ended_ns: PackedInt::known(i64::MIN + 1),
                is_successful: true,
                declared: start as u32 + oldest,
                data_flow: exchanges.of_files.group(components::key(jobs, oldest)),
                engine_run: signed(jobs, first).map(|(_, run)| self.strings.intern(&run)),
            });
        }
        for attempt in jobs.attempts.iter().filter(|attempt| !jobs.is_array_record(attempt)) {
            let submitted = &mut self.all[start + attempt.submission as usize];
            submitted.ended_ns = match (submitted.ended_ns.get(), attempt.ended_ns.get()) {
                (Some(known), Some(end)) => PackedInt::known(known.max(end)),
                _ => PackedInt::UNKNOWN,
            };
            let starts = [submitted.started_ns.get(), attempt.start_ns.get()];
            submitted.started_ns = starts.into_iter().flatten().min().map_or(PackedInt::UNKNOWN, PackedInt::known);
            submitted.is_successful &= is_successful(jobs, attempt);
        }
    }

    pub fn finish(self) -> AllSubmitted {
        let (strings, renumbering) = self.strings.finish();
        let mut all = self.all;
        for submitted in &mut all {
            submitted.symbols().for_each(|sym| renumbering.apply(sym));
        }
        let mut order: Vec<u32> = (0..all.len() as u32).collect();
        order.sort_unstable_by_key(|&at| {
            let submitted = &all[at as usize];
            (submitted.since_ns, submitted.cluster, submitted.id, submitted.generation)
        });
        let mut place = vec![0; order.len()];
        for (new, &old) in (0u32..).zip(&order) {
            place[old as usize] = new;
        }
        let moved = |old: u32| Submitted { declared: place[all[old as usize].declared as usize], ..all[old as usize] };
        let all = order.iter().map(|&old| moved(old)).collect();
        AllSubmitted { strings, all }
    }
}

fn is_successful(jobs: &Jobs, attempt: &JobAttempt) -> bool {
    attempt.final_state.is_none_or(|state| jobs.text(state) == "COMPLETED")
}
