//! What the states of events mean for waits, by the numbers of their words.

use flowmine_slurm::state::State;

use crate::state::{self, CHANGED, ELIGIBLE, HELD, LEFT, Phase, RELEASED};
use crate::strings::{Strings, Sym};

/// What the state of an event means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The attempt is over, or was no longer in the queue.
    End {
        /// Whether it is only known to be gone.
        left: bool,
    },
    /// It became eligible.
    Eligible,
    /// Something happened to it in the state that it has.
    Kept,
    /// It is in this phase.
    In(Phase),
}

impl Meaning {
    fn of(word: &str) -> Self {
        match word {
            LEFT => Self::End { left: true },
            ELIGIBLE => Self::Eligible,
            _ if state::keeps_state(word) => Self::Kept,
            _ => match state::phase(word) {
                phase if phase.ends_attempt() => Self::End { left: false },
                phase => Self::In(phase),
            },
        }
    }

    pub fn is_end(self) -> bool {
        matches!(self, Self::End { .. })
    }
}

/// The meanings of the words that occur. Each word is compared once, and not at each event.
#[derive(Debug)]
pub(super) struct Meanings(Vec<(Sym, Meaning)>);

impl Meanings {
    pub fn new(strings: &Strings) -> Self {
        let words = State::NAMES.into_iter().chain([LEFT, ELIGIBLE, HELD, RELEASED, CHANGED]);
        let mut known: Vec<(Sym, Meaning)> = words.filter_map(|word| Some((strings.find(word)?, Meaning::of(word)))).collect();
        known.sort_unstable_by_key(|(sym, _)| *sym);
        Self(known)
    }

    /// The meaning of a word; that of an unknown state where it is none of Slurm's or ours.
    pub fn of(&self, word: Sym) -> Meaning {
        self.0.binary_search_by_key(&word, |(sym, _)| *sym).map_or(Meaning::In(Phase::Other), |at| self.0[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strings::StringsBuilder;

    #[test]
    fn a_number_means_what_its_word_means() {
        let words: Vec<&str> = State::NAMES.into_iter().chain([LEFT, ELIGIBLE, HELD, RELEASED, CHANGED, "odd", "PD", ""]).collect();
        // With every word, and with every second one.
        for step in [1, 2] {
            let mut builder = StringsBuilder::default();
            words.iter().step_by(step).for_each(|word| {
                builder.intern(word);
            });
            let (strings, _) = builder.finish();
            let meanings = Meanings::new(&strings);
            for word in words.iter().step_by(step) {
                let sym = strings.find(word).unwrap();
                assert_eq!(meanings.of(sym), Meaning::of(word), "{word}");
            }
        }
        assert_eq!([LEFT, "COMPLETED", "REQUEUED"].map(Meaning::of).map(Meaning::is_end), [true; 3]);
        assert_eq!([HELD, "RUNNING", "odd"].map(Meaning::of), [Meaning::Kept, Meaning::In(Phase::Running), Meaning::In(Phase::Other)]);
    }
}
