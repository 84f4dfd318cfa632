//! Dependency expressions, as squeue's DEPENDENCY column and `sbatch --dependency` write them
//! (sbatch(1), `-d`).
//!
//! In go `afterok:3(unfulfilled),after:8_*+10(unfulfilled)?singleton`; out come the terms. A word
//! or target that is not understood makes the expression an error, with the byte where it stands.

/// The jobs that a term of a dependency waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A job, or a whole array when the id is an array's (only squeue distinguishes them).
    Job(i64),
    /// One task of an array.
    ArrayTask(i64, i64),
    /// A whole array: `8_*`.
    Array(i64),
    /// Every earlier job of the same user with the same name: `singleton`.
    UserAndName,
}

impl Target {
    /// Its kind, and the ids of the job and the task that it names.
    pub fn parts(self) -> (TargetKind, Option<i64>, Option<i64>) {
        match self {
            Self::Job(id) => (TargetKind::Job, Some(id), None),
            Self::ArrayTask(id, task) => (TargetKind::ArrayTask, Some(id), Some(task)),
            Self::Array(id) => (TargetKind::Array, Some(id), None),
            Self::UserAndName => (TargetKind::UserAndName, None, None),
        }
    }
}

/// What a term waits for, without ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TargetKind {
    /// A job by its raw id.
    Job,
    /// One task of an array.
    ArrayTask,
    /// An array as a whole.
    Array,
    /// Earlier jobs of the same user with the same name.
    UserAndName,
    /// None of these: another word in the column.
    Other,
}

impl TargetKind {
    /// The word in `job_dependencies.target_kind`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::ArrayTask => "array_task",
            Self::Array => "array",
            Self::UserAndName => "user_and_name",
            Self::Other => "other",
        }
    }

    /// The kind that a word in `job_dependencies.target_kind` names.
    pub fn new(word: &str) -> Self {
        let all = [Self::Job, Self::ArrayTask, Self::Array, Self::UserAndName];
        all.into_iter().find(|kind| kind.name() == word).unwrap_or(Self::Other)
    }
}

/// How the terms of an expression combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// All terms must hold; Slurm writes `,` between them.
    And,
    /// One term suffices; Slurm writes `?` between them.
    Or,
}

impl Operator {
    /// The word in `job_dependencies.operator`.
    pub fn name(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
        }
    }
}

/// What dependencies are called (sbatch(1), `--dependency`). A later Slurm may know more: a term
/// keeps any word.
pub const KINDS: [&str; 8] = ["after", "afterany", "afterok", "afternotok", "aftercorr", "afterburstbuffer", "expand", "singleton"];

/// One term of a dependency, such as `afterok:7` (sbatch(1), `--dependency`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// `afterok` and so on, as written.
    pub kind: String,
    /// The job, task, array or name that is waited for.
    pub target: Target,
    /// Delay in seconds, 0 for none.
    pub delay_s: i64,
    /// The term's state that squeue writes in parentheses, such as `unfulfilled`.
    pub state: Option<String>,
}

impl Term {
    /// Whether both say the same, in whatever state.
    pub fn is_same(&self, other: &Term) -> bool {
        self.kind == other.kind && self.target == other.target && self.delay_s == other.delay_s
    }
}

impl std::fmt::Display for Term {
    /// As Slurm writes it: `after:8_3+1(unfulfilled)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.kind)?;
        match self.target {
            Target::Job(id) => write!(f, ":{id}")?,
            Target::ArrayTask(id, task) => write!(f, ":{id}_{task}")?,
            Target::Array(id) => write!(f, ":{id}_*")?,
            Target::UserAndName => {}
        }
        if self.delay_s != 0 {
            write!(f, "+{}", self.delay_s / 60)?;
        }
        match &self.state {
            Some(state) => write!(f, "({state})"),
            None => Ok(()),
        }
    }
}

/// A dependency expression: terms that are joined by one operator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expression {
    /// What joins the terms; `None` for a single term.
    pub operator: Option<Operator>,
    /// The terms in the order of the expression.
    pub terms: Vec<Term>,
}

/// Where an expression stopped making sense: the byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUnderstood(pub usize);

/// Reads an expression. Nothing (`(null)`, empty) is an expression without terms.
///
/// # Errors
/// With the byte at which the first word that is not understood begins.
pub fn parse(text: &str) -> Result<Expression, NotUnderstood> {
    let mut expression = Expression::default();
    if crate::units::is_nothing(text.as_bytes()) {
        return Ok(expression);
    }
    let mut at = 0;
    for piece in text.split_inclusive([',', '?']) {
        let (term, separator) = match piece.char_indices().next_back() {
            Some((end, ',')) => (&piece[..end], Some(Operator::And)),
            Some((end, '?')) => (&piece[..end], Some(Operator::Or)),
            _ => (piece, None),
        };
        parse_term(term, &mut expression.terms).ok_or(NotUnderstood(at))?;
        expression.operator = expression.operator.or(separator);
        at += piece.len();
    }
    // `afterok:1:2` is two terms without a separator: both must hold.
    if expression.terms.len() > 1 && expression.operator.is_none() {
        expression.operator = Some(Operator::And);
    }
    Ok(expression)
}

fn parse_term(text: &str, terms: &mut Vec<Term>) -> Option<()> {
    let text = text.trim();
    let mut pieces = text.split(':');
    let (kind, state) = with_state(pieces.next()?)?;
    if kind.is_empty() || !kind.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_') {
        // `--dependency=123` is an old way to write afterany.
        let target = target(kind)?;
        terms.push(Term { kind: "afterany".to_owned(), target, delay_s: 0, state });
        return Some(());
    }
    let mut targets = 0;
    for piece in pieces {
        let (target_text, state) = with_state(piece)?;
        let (id, delay) = match target_text.split_once('+') {
            Some((id, minutes)) => (id, minutes.parse::<i64>().ok().filter(|m| (0..=i64::from(u32::MAX)).contains(m))? * 60),
            None => (target_text, 0),
        };
        terms.push(Term { kind: kind.to_owned(), target: target(id)?, delay_s: delay, state });
        targets += 1;
    }
    if targets == 0 {
        if kind != "singleton" {
            return None;
        }
        terms.push(Term { kind: kind.to_owned(), target: Target::UserAndName, delay_s: 0, state });
    }
    Some(())
}

fn with_state(text: &str) -> Option<(&str, Option<String>)> {
    match text.split_once('(') {
        Some((before, state)) => Some((before, Some(state.strip_suffix(')')?.to_owned()))),
        None => Some((text, None)),
    }
}

fn target(text: &str) -> Option<Target> {
    let number = |text: &str| crate::units::digits(text.as_bytes()).filter(|&id| id <= i64::from(u32::MAX));
    match text.split_once('_') {
        Some((id, "*")) => Some(Target::Array(number(id)?)),
        Some((id, task)) => Some(Target::ArrayTask(number(id)?, number(task)?)),
        None => Some(Target::Job(number(text)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn term(kind: &str, target: Target, delay_s: i64, state: &str) -> Term {
        Term { kind: kind.into(), target, delay_s, state: Some(state.to_owned()).filter(|s| !s.is_empty()) }
    }

    #[test]
    fn forms_that_squeue_prints() {
        let e = parse("afterok:3(unfulfilled),afterany:2(failed)").unwrap();
        assert_eq!(e.operator, Some(Operator::And));
        assert_eq!(e.terms, [term("afterok", Target::Job(3), 0, "unfulfilled"), term("afterany", Target::Job(2), 0, "failed")]);
        let e = parse("afterok:2(unfulfilled)?afterok:1(unfulfilled)").unwrap();
        assert_eq!(e.operator, Some(Operator::Or));
        assert_eq!(parse("aftercorr:8_*(unfulfilled)").unwrap().terms, [term("aftercorr", Target::Array(8), 0, "unfulfilled")]);
        assert_eq!(parse("afterok:8_3(unfulfilled)").unwrap().terms, [term("afterok", Target::ArrayTask(8, 3), 0, "unfulfilled")]);
        assert_eq!(parse("after:1+1(unfulfilled)").unwrap().terms, [term("after", Target::Job(1), 60, "unfulfilled")]);
        let e = parse("singleton(unfulfilled),afterok:1(unfulfilled)").unwrap();
        assert_eq!(e.terms, [term("singleton", Target::UserAndName, 0, "unfulfilled"), term("afterok", Target::Job(1), 0, "unfulfilled")]);
        assert_eq!(parse("(null)").unwrap(), Expression::default());
        assert_eq!(parse("expand:7").unwrap().terms, [term("expand", Target::Job(7), 0, "")]);
    }

    #[test]
    fn forms_that_people_submit() {
        let e = parse("afterok:1:2+5,after:3").unwrap();
        assert_eq!(
            e.terms,
            [term("afterok", Target::Job(1), 0, ""), term("afterok", Target::Job(2), 300, ""), term("after", Target::Job(3), 0, "")]
        );
        assert_eq!(parse("17").unwrap().terms, [term("afterany", Target::Job(17), 0, "")]);
    }

    #[test]
    fn nonsense_is_an_error_with_its_place() {
        assert_eq!(parse("afterok:1,afterok:x"), Err(NotUnderstood(10)));
        assert_eq!(parse("afterok"), Err(NotUnderstood(0)));
        assert_eq!(parse("afterok:1(unfulfilled"), Err(NotUnderstood(0)));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(afterok|after|singleton|[a-z]{0,3}|:|,|\\?|_|\\*|\\+|[0-9]{0,4}|\\(|\\)|é){0,20}") {
            let _ = parse(&text);
        }
    }
}
