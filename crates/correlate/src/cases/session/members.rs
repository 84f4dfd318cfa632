//! The attributes of a user's jobs that show to which run they belong. Texts are replaced by
//! numbers.

use rustc_hash::FxHashMap;

use super::evidence::BURST_NS;
use crate::strings::Sym;
use crate::submitted::{AllSubmitted, Submitted};
use crate::words::{has_digit, stem, words};
use flowmine_schema::time::SECOND_NS;

/// Number of a text that is not known.
pub const NONE: u32 = u32::MAX;

/// Words of a job that are compared, at most.
const MOST_WORDS: usize = 8;

/// Words of a text that are read, at most.
const MOST_READ: usize = 64;

/// Words without digits are compared from this length on.
const SHORTEST_WORD: usize = 3;

/// A submission that follows an end in the same session within this time is a script's.
const SCRIPT_NS: i64 = 60 * SECOND_NS;

/// A word of a job: what it is, and its value where it counts something. `sample_07` and
/// `sample_08` are one thing with two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Word {
    /// The word without numbers, with the word before a bare number.
    pub thing: u32,
    /// The word with its numbers.
    pub value: u32,
}

/// A job of a user.
#[derive(Debug)]
pub struct Member {
    /// Its number in [`AllSubmitted::all`].
    pub at: u32,
    /// When it was submitted, in nanoseconds since 1970.
    pub since_ns: i64,
    /// When it ended, in nanoseconds since 1970; the largest number while it has not.
    pub ended_ns: i64,
    /// Whether it ended well, or goes on.
    pub is_successful: bool,
    /// Number of its step: command and name without counters, with the verb.
    pub step: u32,
    /// Whether a command, or a name that not all jobs of the user have, shows what it does.
    pub has_step: bool,
    /// Number of the session that submitted it, or [`NONE`].
    pub session: u32,
    /// Number of its work directory, or [`NONE`].
    pub directory: u32,
    /// Words in its name, arguments and comment.
    pub words: Vec<Word>,
}

/// How often a word occurs.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    jobs: u32,
    step: u32,
    has_several_steps: bool,
}

/// All jobs of a user, in the order of age.
#[derive(Debug)]
pub struct Members {
    /// The jobs.
    pub all: Vec<Member>,
    /// Of each step the number of its jobs.
    pub in_step: Vec<u32>,
    /// Of each directory the number of jobs in it.
    pub in_directory: Vec<u32>,
    /// Of each session the number of its jobs.
    pub in_session: Vec<u32>,
    /// Of each session whether it submits as scripts do.
    pub is_script: Vec<bool>,
    /// How much it says that a submission follows within seconds, from 0 to 1.
    pub quickness: f64,
    uses: FxHashMap<Word, Uses>,
    /// Of each thing the number of values, and of those that several steps have.
    values: FxHashMap<u32, (u32, u32)>,
}

/// Gives each different key a number.
#[derive(Debug)]
struct Numbers<K>(FxHashMap<K, u32>);

impl<K: std::hash::Hash + Eq> Numbers<K> {
    fn new() -> Self {
        Self(FxHashMap::default())
    }

    fn of(&mut self, key: K) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(key).or_insert(next)
    }
}

impl Members {
    /// The jobs of one user: numbers in the order of age.
    pub fn new(submitted: &AllSubmitted, jobs: &[u32], quickness: f64) -> Self {
        let (mut steps, mut texts) = (Numbers::new(), Numbers::new());
        let (mut directories, mut sessions) = (Numbers::new(), Numbers::new());
        // A user has many jobs, but few different names.
        let mut stems: FxHashMap<Sym, String> = FxHashMap::default();
        let mut all = Vec::with_capacity(jobs.len());
        for &at in jobs {
            let job = &submitted.all[at as usize];
            let mut stem_of = |sym: Sym| stems.entry(sym).or_insert_with(|| stem(submitted.text(sym))).clone();
            let verb = job.arguments.and_then(|arguments| verb(submitted.text(arguments)));
            let step = steps.of((stem_of(job.activity), job.name.map(&mut stem_of), verb));
            all.push(Member {
                at,
                since_ns: job.since_ns,
                ended_ns: job.ended_ns.get().unwrap_or(i64::MAX).max(job.since_ns),
                is_successful: job.is_successful,
                step,
                has_step: job.command.is_some(),
                session: job.session().map_or(NONE, |session| sessions.of(session)),
                directory: job.work_dir.map_or(NONE, |directory| directories.of(directory)),
                words: words_of(submitted, job, &mut texts),
            });
        }
        if steps.0.len() > 1 {
            for (member, &at) in all.iter_mut().zip(jobs) {
                member.has_step |= submitted.all[at as usize].name.is_some();
            }
        }
        let mut members = Self {
            in_step: count(steps.0.len(), all.iter().map(|member| member.step)),
            in_directory: count(directories.0.len(), all.iter().map(|member| member.directory)),
            in_session: count(sessions.0.len(), all.iter().map(|member| member.session)),
            is_script: scripts(sessions.0.len(), &all),
            quickness,
            all,
            uses: FxHashMap::default(),
            values: FxHashMap::default(),
        };
        members.count_words();
        members
    }

    fn count_words(&mut self) {
        for member in &self.all {
            for &word in &member.words {
                let uses = self.uses.entry(word).or_insert(Uses { step: member.step, ..Uses::default() });
                uses.jobs += 1;
                uses.has_several_steps |= uses.step != member.step;
            }
        }
        for (word, uses) in &self.uses {
            let (values, linking) = self.values.entry(word.thing).or_default();
            *values += 1;
            *linking += u32::from(uses.has_several_steps);
        }
    }

    /// How much it says that two jobs share a word: the logarithm of how rare it is.
    pub fn rarity(&self, word: Word) -> f64 {
        let jobs = self.uses.get(&word).map_or(1, |uses| uses.jobs);
        (self.all.len() as f64 / f64::from(jobs)).ln()
    }

    /// The share of a thing's values that jobs of several steps have: from 0, where a counter is
    /// new in each job, to 1, where it goes through a run as the name of a sample does.
    pub fn is_linking(&self, thing: u32) -> f64 {
        self.values.get(&thing).map_or(0.0, |&(values, linking)| f64::from(linking) / f64::from(values))
    }
}

/// The first argument where it can name what one script for all is to do: `run.sh align`.
fn verb(arguments: &str) -> Option<&str> {
    let first = arguments.split_whitespace().next()?;
    first.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '_')).then_some(first).filter(|first| !first.starts_with('-'))
}

fn count(length: usize, numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut counts = vec![0; length];
    for number in numbers.filter(|&number| number != NONE) {
        counts[number as usize] += 1;
    }
    counts
}

/// Of each session whether four of five submissions followed an end within seconds, or all were
/// made at once.
fn scripts(sessions: usize, all: &[Member]) -> Vec<bool> {
    struct Seen {
        last_ns: i64,
        ends: [i64; 4],
        quick: u32,
        later: u32,
    }
    let mut seen: Vec<Option<Seen>> = (0..sessions).map(|_| None).collect();
    for member in all.iter().filter(|member| member.session != NONE) {
        let of = &mut seen[member.session as usize];
        match of {
            None => *of = Some(Seen { last_ns: member.since_ns, ends: [member.ended_ns; 4], quick: 0, later: 0 }),
            Some(seen) => {
                let ended = seen.ends.iter().filter(|&&end| end <= member.since_ns).max().copied().unwrap_or(i64::MIN);
                // A person, too, submits many jobs of a step at once.
                if member.since_ns - seen.last_ns > BURST_NS {
                    seen.quick += u32::from(member.since_ns.saturating_sub(ended) <= SCRIPT_NS);
                    seen.later += 1;
                }
                seen.last_ns = member.since_ns;
                seen.ends.rotate_left(1);
                seen.ends[3] = member.ended_ns;
            }
        }
    }
    seen.iter().map(|seen| seen.as_ref().is_some_and(|seen| seen.quick * 5 >= seen.later * 4)).collect()
}

/// The words of a job's name, arguments and comment, no more than some: those that count first, then
/// in this order.
fn words_of(submitted: &AllSubmitted, job: &Submitted, texts: &mut Numbers<String>) -> Vec<Word> {
    let (mut counters, mut others) = (Vec::new(), Vec::new());
    for text in [job.name, job.arguments, job.comment].into_iter().flatten() {
        let mut before = "";
        for word in words(submitted.text(text)).take(MOST_READ) {
            let (thing, value, to) = if has_digit(word) {
                let is_bare = word.bytes().all(|byte| byte.is_ascii_digit());
                let before = if is_bare { before } else { "" };
                (format!("{before} {}", stem(word)), format!("{before} {word}"), &mut counters)
            } else {
                before = word;
                if word.len() < SHORTEST_WORD {
                    continue;
                }
                (word.to_owned(), word.to_owned(), &mut others)
            };
            if to.len() < MOST_WORDS {
                let word = Word { thing: texts.of(thing), value: texts.of(value) };
                if !to.contains(&word) {
                    to.push(word);
                }
            }
        }
    }
    counters.extend(others);
    counters.truncate(MOST_WORDS);
    counters
}
