//! Who runs the program of a process, and who can have set its environment.
//!
//! A set-user-id program changes the effective user, and what it starts can have another real one,
//! but the environment comes from before. So the users of a variable are those of the first
//! program that had it: its own real user, and that of the program that started it. Whoever passes
//! the variable on with the same value did not set it.
//!
//! A program that is seen late may have been another user's: a set-user-id program of root's can
//! change the real user too, set variables, and then become the program that is seen. So who set
//! what root has is not known then.

use std::collections::BTreeSet;
use std::sync::Arc;

/// The real user who can have been anybody before.
const ROOT: u32 = 0;

/// Who started the program of a process, and its chosen variables.
#[derive(Debug, Clone, Default)]
pub(super) struct Origin {
    /// Real user of the program that it runs.
    operator: Option<u32>,
    /// Real user of the program that started this one.
    starter: Option<u32>,
    variables: Arc<Variables>,
}

#[derive(Debug, Default)]
struct Variables {
    pairs: Vec<(String, Vec<u8>)>,
    /// `None`: one who is not known.
    users: BTreeSet<Option<u32>>,
}

impl Origin {
    /// A process that runs its parent's program, with its parent's environment.
    pub(super) fn forked(parent: Option<&Origin>, real_uid: Option<u32>) -> Self {
        let parent = parent.cloned().unwrap_or_default();
        Self { operator: parent.operator.or(real_uid), ..parent }
    }

    /// A process that is first seen while it runs a program, which may not be its parent's.
    pub(super) fn running(parent: Option<&Origin>, real_uid: Option<u32>) -> Self {
        let mut origin = Self::forked(parent, None);
        origin.begins_program(real_uid);
        origin
    }

    /// The process becomes another program.
    pub(super) fn begins_program(&mut self, real_uid: Option<u32>) {
        self.starter = self.operator;
        self.operator = real_uid.or(self.operator);
    }

    /// The variables of the program are known, which was `seen_late` or when it began.
    pub(super) fn has_environment(&mut self, pairs: &[(String, Vec<u8>)], seen_late: bool) {
        let known = &self.variables;
        let (passed_on, new): (Vec<_>, Vec<_>) = pairs.iter().partition(|pair| known.pairs.contains(pair));
        let mut users = if passed_on.is_empty() { BTreeSet::new() } else { known.users.clone() };
        if !new.is_empty() {
            users.extend([self.starter, self.operator].into_iter().flatten().map(Some));
            users.extend((seen_late && self.operator == Some(ROOT)).then_some(None));
        }
        self.variables = Arc::new(Variables { pairs: pairs.to_vec(), users });
    }

    /// The users who can have set the variables; `None` is one who is not known.
    pub(super) fn users(&self) -> Vec<Option<u32>> {
        self.variables.users.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: u32 = 1001;
    const BOB: u32 = 1002;

    fn job(id: &str) -> Vec<(String, Vec<u8>)> {
        vec![("SLURM_JOB_ID".to_owned(), id.as_bytes().to_vec())]
    }

    fn program(before: &Origin, real_uid: u32, pairs: &[(String, Vec<u8>)]) -> Origin {
        let mut origin = before.clone();
        origin.begins_program(Some(real_uid));
        origin.has_environment(pairs, false);
        origin
    }

    /// The users of an environment, if all are known.
    fn users(origin: &Origin) -> Vec<u32> {
        origin.users().into_iter().map(Option::unwrap).collect()
    }

    fn child(parent: &Origin, real_uid: u32) -> Origin {
        Origin::forked(Some(parent), Some(real_uid))
    }

    #[test]
    fn a_set_user_id_program_did_not_set_what_it_was_given() {
        let shell = program(&child(&Origin::running(None, Some(ROOT)), BOB), BOB, &[]);
        let forger = program(&child(&shell, BOB), BOB, &job("5001"));
        let su = program(&forger, BOB, &job("5001"));
        assert_eq!(users(&su), [BOB]);
        // It becomes root, and starts another program.
        let command = program(&child(&su, ROOT), ROOT, &job("5001"));
        assert_eq!(users(&command), [BOB]);
        // It sets another one itself, for who called it.
        assert_eq!(users(&program(&child(&su, ROOT), ROOT, &job("7"))), [ROOT, BOB]);
        // A shell of root's, which sets one, is root's.
        let roots = program(&child(&su, ROOT), ROOT, &[]);
        assert_eq!(users(&program(&child(&roots, ROOT), ROOT, &job("7"))), [ROOT]);
    }

    #[test]
    fn slurms_daemon_sets_it_for_the_user_of_the_job() {
        let daemon = program(&Origin::running(None, Some(ROOT)), ROOT, &[]);
        assert_eq!(users(&program(&child(&daemon, ROOT), ROOT, &job("7"))), [ROOT], "the prolog");
        let script = program(&child(&daemon, ROOT), ALICE, &job("7"));
        assert_eq!(users(&script), [ROOT, ALICE]);
        // The job starts programs as another user, or by sudo as root.
        assert_eq!(users(&program(&child(&script, ALICE), BOB, &job("7"))), [ROOT, ALICE]);
        let mut step = job("7");
        step.push(("SLURM_STEP_ID".to_owned(), b"0".to_vec()));
        assert_eq!(users(&program(&child(&script, ALICE), ALICE, &step)), [ROOT, ALICE]);
    }

    /// cron(8) becomes the user without another program, and sets what the user wrote.
    #[test]
    fn a_daemon_that_sets_what_a_user_wrote() {
        let cron = program(&Origin::default(), ROOT, &[]);
        assert_eq!(users(&program(&child(&cron, ROOT), BOB, &job("5001"))), [ROOT, BOB]);
    }

    #[test]
    fn root_who_is_seen_late_may_have_been_another_user() {
        let late = |parent: &Origin, uid: u32, pairs: &[(String, Vec<u8>)]| {
            let mut origin = Origin::running(Some(parent), Some(uid));
            origin.has_environment(pairs, true);
            origin
        };
        let command = program(&Origin::default(), ROOT, &job("7"));
        assert_eq!(late(&command, ROOT, &job("5001")).users(), [None, Some(ROOT)]);
        // What the command had before is passed on by root too.
        assert_eq!(late(&command, ROOT, &job("7")).users(), [Some(ROOT)]);
        // A user cannot have been root's.
        let bobs = late(&command, BOB, &job("5001"));
        assert_eq!(bobs.users(), [Some(ROOT), Some(BOB)]);
        assert_eq!(late(&bobs, ROOT, &job("5001")).users(), [Some(ROOT), Some(BOB)]);
    }

    #[test]
    fn what_was_running_before_anything_was_seen() {
        let shell = Origin::running(None, Some(BOB));
        let mut sudo = Origin::running(Some(&shell), Some(ROOT));
        sudo.has_environment(&job("5001"), false);
        assert_eq!(users(&sudo), [ROOT, BOB]);
        let mut alone = Origin::running(None, Some(ROOT));
        alone.has_environment(&job("5001"), false);
        assert_eq!(users(&alone), [ROOT]);
    }
}
