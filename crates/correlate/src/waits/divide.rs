//! The division itself: a pure function.

use flowmine_slurm::reason::Blocker;

use super::{Cause, Change, Doing, Evidence, Facts, Moment, Part, Released, Wait};

/// Divides the time of an attempt from its submission to its end.
pub fn divide<'a>(mut facts: Facts<'a>) -> Wait<'a> {
    let mut changes = std::mem::take(&mut facts.changes);
    let facts = &facts;
    put_in_bounds(facts, &mut changes);
    let mut parts: Vec<Part<'a>> = Vec::with_capacity(changes.len() + 2);
    let begin = Moment::exact(facts.submit_ns);
    let mut from = Change { moment: begin, doing: Doing::Waits(None, None) };
    for next in changes.into_iter().chain([Change { moment: end(facts), doing: Doing::Unseen }]) {
        put(facts, from, next.moment, &mut parts);
        from = next;
    }
    let before_ready_ns = before_ready(facts, &parts);
    Wait { parts, before_ready_ns }
}

/// The end, which is not before the submission.
fn end(facts: &Facts<'_>) -> Moment {
    Moment { at_ns: facts.end.at_ns.max(facts.submit_ns), ..facts.end }
}

/// The changes with times that lie between submission and end and never run backwards: of two that
/// contradict each other the later one holds. Borders between own wishes and queueing move to where
/// they are known better.
fn put_in_bounds(facts: &Facts<'_>, changes: &mut [Change<'_>]) {
    let mut before = Doing::Waits(None, None);
    for change in changes.iter_mut() {
        let after = change.doing;
        if let Some(border) = known_border(facts, before, *change) {
            change.moment = border;
        }
        before = after;
    }
    let mut latest = end(facts).at_ns;
    for change in changes.iter_mut().rev() {
        latest = latest.min(change.moment.at_ns).max(facts.submit_ns);
        change.moment.at_ns = latest;
    }
}

/// Where a change between two polls must have been, when it ended what the job itself wished.
fn known_border(facts: &Facts<'_>, before: Doing<'_>, change: Change<'_>) -> Option<Moment> {
    let (Doing::Waits(_, Some(before)), Doing::Waits(_, after)) = (before, change.doing) else { return None };
    if !before.is_own_wish() || after.is_some_and(Blocker::is_own_wish) {
        return None;
    }
    if let Some(eligible) = facts.eligible_ns.filter(|time| change.moment.can_be(*time)) {
        return Some(Moment::exact(eligible));
    }
    match facts.released {
        Released::At(moment) if before == Blocker::Predecessor && change.moment.can_be(moment.at_ns) => Some(moment),
        _ => None,
    }
}

/// Adds what an attempt did until the next change, divided where it became eligible and where its
/// predecessors had ended.
fn put<'a>(facts: &Facts<'a>, from: Change<'a>, to: Moment, parts: &mut Vec<Part<'a>>) {
    let Doing::Waits(reason, blocker) = from.doing else {
        let cause = match from.doing {
            Doing::Configures => Cause::Configuring,
            Doing::Runs => Cause::Running,
            Doing::Pauses => Cause::Suspended,
            Doing::Unseen | Doing::Waits(..) => Cause::Unknown,
        };
        let evidence = if cause == Cause::Unknown { Evidence::Nothing } else { Evidence::Times };
        return push(Part { cause, from: from.moment, to, reason: None, evidence }, parts);
    };
    let released = match facts.released {
        Released::At(moment) => Some(moment),
        Released::WithoutDependency | Released::Unknown => None,
    };
    let mut borders = [facts.eligible_ns.map(Moment::exact), released];
    borders.sort_by_key(|border| border.map(|border| border.at_ns));
    let mut begin = from.moment;
    for border in borders.into_iter().flatten().filter(|border| from.moment.at_ns < border.at_ns && border.at_ns < to.at_ns).chain([to]) {
        let (cause, evidence) = waiting(facts, blocker, begin.at_ns, released);
        // A reason that is known to be out of date is none.
        let reason = reason.filter(|_| evidence == Evidence::Poll);
        push(Part { cause, from: begin, to: border, reason, evidence }, parts);
        begin = border;
    }
}

/// Why an attempt waited from a moment on until the next border.
fn waiting(facts: &Facts<'_>, blocker: Option<Blocker>, from_ns: i64, released: Option<Moment>) -> (Cause, Evidence) {
    let is_eligible = facts.eligible_ns.is_some_and(|eligible| eligible <= from_ns);
    // Slurm gives another reason only when its scheduler next looks at the job. A hold can come later.
    let seen = blocker.filter(|blocker| !is_eligible || !blocker.is_own_wish() || blocker.is_hold());
    match seen {
        // A begin time of the user's was reached by the attempt before.
        Some(Blocker::BeginTime) if facts.is_again => (Cause::Requeued, Evidence::Poll),
        Some(blocker) => (Cause::Blocked(blocker), Evidence::Poll),
        None if is_eligible => (Cause::Queued, Evidence::Times),
        None if released.is_some_and(|released| from_ns < released.at_ns) => (Cause::Blocked(Blocker::Predecessor), Evidence::Dependencies),
        None if facts.eligible_ns.is_none() => (Cause::Unknown, Evidence::Nothing),
        None if facts.is_again && facts.released == Released::WithoutDependency => (Cause::Requeued, Evidence::Times),
        None => (Cause::NotEligible, Evidence::Times),
    }
}

/// Adds a part, to the one before it where the cause goes on.
fn push<'a>(part: Part<'a>, parts: &mut Vec<Part<'a>>) {
    if part.len_ns() <= 0 {
        return;
    }
    let goes_on =
        |last: &Part<'_>| last.cause == part.cause && (last.reason == part.reason || last.reason.is_none() || part.reason.is_none());
    match parts.last_mut().filter(|last| goes_on(last)) {
        Some(last) => {
            last.to = part.to;
            last.reason = last.reason.or(part.reason);
            last.evidence = last.evidence.min(part.evidence);
        }
        None => parts.push(part),
    }
}

/// The time before the start in which the attempt was not ready.
fn before_ready(facts: &Facts<'_>, parts: &[Part<'_>]) -> Option<i64> {
    let mut sum = 0i64;
    let nexts = parts.iter().skip(1).map(Some).chain([None]);
    for (part, next) in parts.iter().zip(nexts).take_while(|(part, _)| !part.cause.is_after_start()) {
        // What had a wish left was not ready before either.
        let has_wish = part.cause == Cause::Unknown && next.is_some_and(|next| next.cause.is_own_wish());
        if part.cause.is_own_wish() || has_wish {
            sum = sum.saturating_add(part.len_ns());
        } else if part.cause == Cause::Unknown && facts.released == Released::Unknown {
            return None;
        }
    }
    Some(sum)
}
