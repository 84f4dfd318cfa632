//! Declarative constraints that a log keeps: what is always there, what comes first, what follows
//! what.
//!
//! In: [`Variants`] and thresholds. Out: [`Constraint`]s, each with how many cases it says
//! something about and in how many of these it holds. Refused: thresholds outside 0 to 1, and more
//! pairs of activities than [`Options::max_pairs`].
//!
//! The templates are those of Declare (Pesic, Schonenberg, van der Aalst 2007; Maggi et al. 2011),
//! the counting is that of PM4Py's `discover_declare` 2.7.23: a case counts where the constraint is
//! activated, that is for a pair where the activating activity occurs, and it is one unit however
//! often that is.

use rustc_hash::FxHashMap;

use crate::{Error, Variants};

/// What a constraint says of its activities, `a` and where there are two `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Template {
    /// `a` occurs at least once in the case.
    Existence,
    /// `a` does not occur in the case.
    Absence,
    /// `a` occurs exactly once in the case.
    ExactlyOne,
    /// `a` is the first activity of the case.
    Init,
    /// Where `a` occurs, `b` occurs.
    RespondedExistence,
    /// `a` and `b` occur together or not at all.
    Coexistence,
    /// After each `a` there is a `b`.
    Response,
    /// Before each `b` there is an `a`.
    Precedence,
    /// Response and precedence: after each `a` a `b`, and before each `b` an `a`.
    Succession,
    /// After each `a` there is a `b` before the next `a`.
    AlternateResponse,
    /// Before each `b` there is an `a` after the `b` before.
    AlternatePrecedence,
    /// Alternate response and alternate precedence.
    AlternateSuccession,
    /// Directly after each `a` is a `b`.
    ChainResponse,
    /// Directly before each `b` is an `a`.
    ChainPrecedence,
    /// Chain response and chain precedence.
    ChainSuccession,
    /// `a` and `b` do not both occur.
    NotCoexistence,
    /// Not succession: where `a` or `b` occurs, not both that after each `a` there is a `b` and
    /// before each `b` an `a`.
    NotSuccession,
    /// Not chain succession: where `a` or `b` occurs, not both chain response and chain precedence.
    NotChainSuccession,
}

impl Template {
    /// The name that PM4Py gives it.
    pub fn name(self) -> &'static str {
        match self {
            Template::Existence => "existence",
            Template::Absence => "absence",
            Template::ExactlyOne => "exactly_one",
            Template::Init => "init",
            Template::RespondedExistence => "responded_existence",
            Template::Coexistence => "coexistence",
            Template::Response => "response",
            Template::Precedence => "precedence",
            Template::Succession => "succession",
            Template::AlternateResponse => "altresponse",
            Template::AlternatePrecedence => "altprecedence",
            Template::AlternateSuccession => "altsuccession",
            Template::ChainResponse => "chainresponse",
            Template::ChainPrecedence => "chainprecedence",
            Template::ChainSuccession => "chainsuccession",
            Template::NotCoexistence => "noncoexistence",
            Template::NotSuccession => "nonsuccession",
            Template::NotChainSuccession => "nonchainsuccession",
        }
    }
}

/// A constraint and how the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Constraint {
    /// What it says of its activities.
    pub template: Template,
    /// The first activity, as an index into [`Variants::activities`].
    pub a: u32,
    /// The second activity, where the template has two.
    pub b: Option<u32>,
    /// In how many cases it is activated: its support.
    pub activated: u64,
    /// In how many of the cases that activate it the constraint holds.
    pub holds: u64,
    /// How many cases the log has.
    pub cases: u64,
}

impl Constraint {
    /// The share of cases in which it is activated.
    pub fn support(&self) -> f64 {
        if self.cases == 0 { 0.0 } else { self.activated as f64 / self.cases as f64 }
    }

    /// The share of these in which it holds.
    pub fn confidence(&self) -> f64 {
        if self.activated == 0 { 0.0 } else { self.holds as f64 / self.activated as f64 }
    }
}

/// Which constraints are given, and how many pairs are looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The least share of cases in which a constraint is activated.
    pub min_support: f64,
    /// The least share of these in which it holds.
    pub min_confidence: f64,
    /// The most ordered pairs of activities of the log that are looked at.
    pub max_pairs: u64,
}

impl Default for Options {
    /// Constraints that hold in nine of ten cases and are about one of ten.
    fn default() -> Self {
        Options { min_support: 0.1, min_confidence: 0.9, max_pairs: 4_000_000 }
    }
}

/// For one ordered pair of activities, in how many cases each template holds among those where both
/// occur.
#[derive(Default, Clone, Copy)]
struct Pair {
    both: u64,
    response: u64,
    precedence: u64,
    succession: u64,
    alternate_response: u64,
    alternate_precedence: u64,
    alternate_succession: u64,
    chain_response: u64,
    chain_precedence: u64,
    chain_succession: u64,
}

/// The constraints of a log, by template and then by activities. Activities that no case has are
/// left out.
///
/// # Errors
/// [`Error::Option`] for thresholds outside 0 to 1, [`Error::TooLarge`] where there are more pairs
/// than allowed.
pub fn discover(variants: &Variants, options: &Options) -> Result<Vec<Constraint>, Error> {
    for (option, value) in [("the least support", options.min_support), ("the least confidence", options.min_confidence)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(Error::Option { option, value, must: "from 0 to 1" });
        }
    }
    let n = variants.activities().len();
    let cases = variants.cases();
    let (mut present, mut once, mut first) = (vec![0u64; n], vec![0u64; n], vec![0u64; n]);
    for variant in variants.variants() {
        variant.trace.iter().for_each(|&a| present[a as usize] = 1);
    }
    let occurring: Vec<u32> = (0u32..).take(n).filter(|&a| present[a as usize] > 0).collect();
    if (occurring.len() as u64).saturating_mul(occurring.len() as u64) > options.max_pairs {
        return Err(Error::TooLarge { what: "pairs of activities", limit: options.max_pairs });
    }
    present.fill(0);
    let mut pairs: FxHashMap<(u32, u32), Pair> = FxHashMap::default();
    for variant in variants.variants() {
        let mut at: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (i, &a) in variant.trace.iter().enumerate() {
            at.entry(a).or_default().push(i);
        }
        let mut here: Vec<(u32, Vec<usize>)> = at.into_iter().collect();
        here.sort_unstable();
        if let Some(&a) = variant.trace.first() {
            first[a as usize] += variant.count;
        }
        for (a, places) in &here {
            present[*a as usize] += variant.count;
            once[*a as usize] += if places.len() == 1 { variant.count } else { 0 };
            for (b, other) in &here {
                if a != b {
                    pairs.entry((*a, *b)).or_default().add(places, other, &variant.trace, *a, *b, variant.count);
                }
            }
        }
    }
    let mut out = Vec::new();
    let mut give = |template: Template, a: u32, b: Option<u32>, activated: u64, holds: u64| {
        let constraint = Constraint { template, a, b, activated, holds, cases };
        if activated > 0 && holds > 0 && constraint.support() >= options.min_support && constraint.confidence() >= options.min_confidence {
            out.push(constraint);
        }
    };
    for &a in &occurring {
        let (is, one, init) = (present[a as usize], once[a as usize], first[a as usize]);
        give(Template::Existence, a, None, cases, is);
        give(Template::Absence, a, None, cases, cases - is);
        give(Template::ExactlyOne, a, None, cases, one);
        give(Template::Init, a, None, cases, init);
        for &b in occurring.iter().filter(|&&b| b != a) {
            let other = present[b as usize];
            let pair = pairs.get(&(a, b)).copied().unwrap_or_default();
            // Cases in which at least one of them occurs.
            let either = is + other - pair.both;
            use Template as T;
            for (template, activated, holds) in [
                (T::RespondedExistence, is, pair.both),
                (T::Coexistence, either, pair.both),
                (T::Response, is, pair.response),
                (T::Precedence, other, pair.precedence),
                (T::Succession, either, pair.succession),
                (T::AlternateResponse, is, pair.alternate_response),
                (T::AlternatePrecedence, other, pair.alternate_precedence),
                (T::AlternateSuccession, either, pair.alternate_succession),
                (T::ChainResponse, is, pair.chain_response),
                (T::ChainPrecedence, other, pair.chain_precedence),
                (T::ChainSuccession, either, pair.chain_succession),
                (T::NotCoexistence, either, either - pair.both),
                (T::NotSuccession, either, either - pair.succession),
                (T::NotChainSuccession, either, either - pair.chain_succession),
            ] {
                give(template, a, Some(b), activated, holds);
            }
        }
    }
    out.sort_unstable();
    Ok(out)
}

impl Pair {
    /// One variant in which both occur, at these places.
    fn add(&mut self, a_at: &[usize], b_at: &[usize], trace: &[u32], a: u32, b: u32, count: u64) {
        let response = a_at.last() < b_at.last();
        let precedence = a_at.first() < b_at.first();
        // A `b` lies between each `a` and the next, and behind the last.
        let between = |lower: &[usize], inner: &[usize]| {
            let mut rest = inner;
            lower.windows(2).all(|w| {
                let skip = rest.partition_point(|&x| x < w[0]);
                rest = &rest[skip..];
                rest.first().is_some_and(|&x| x < w[1])
            })
        };
        let alternate_response = response && between(a_at, b_at);
        let alternate_precedence = precedence && between(b_at, a_at);
        let chain_response = a_at.iter().all(|&i| trace.get(i + 1) == Some(&b));
        let chain_precedence = b_at.iter().all(|&i| i > 0 && trace.get(i - 1) == Some(&a));
        let mut add = |to: fn(&mut Pair) -> &mut u64, holds: bool| *to(self) += if holds { count } else { 0 };
        add(|p| &mut p.both, true);
        add(|p| &mut p.response, response);
        add(|p| &mut p.precedence, precedence);
        add(|p| &mut p.succession, response && precedence);
        add(|p| &mut p.alternate_response, alternate_response);
        add(|p| &mut p.alternate_precedence, alternate_precedence);
        add(|p| &mut p.alternate_succession, alternate_response && alternate_precedence);
        add(|p| &mut p.chain_response, chain_response);
        add(|p| &mut p.chain_precedence, chain_precedence);
        add(|p| &mut p.chain_succession, chain_response && chain_precedence);
    }
}
