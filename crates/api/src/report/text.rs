//! The report as plain text of the size of a mail: the first findings, and accounts by week.

use std::collections::BTreeMap;
use std::fmt::Write;

use flowmine_activity_log::{JobWait, WaitKind};
use flowmine_dataset::Dataset;
use flowmine_discover::calendar;
use flowmine_discover::pictures::findings as picture;
use flowmine_discover::waits::weeks::{self, Group};
use flowmine_draw::text::{count, counted, duration};
use flowmine_schema::text::visible;

use super::damage::Damage;
use super::{Evidence, ReportRequest, findings, load, of_dataset, quality};
use crate::error::Result;
use crate::job_waits;
use crate::sink::Sink;
use crate::usual_notion;

/// Number of findings.
const FINDINGS: usize = 3;
/// Number of weeks, the last ones.
const WEEKS: usize = 4;
/// Number of accounts, those with most core-time in the queue and running.
const ACCOUNTS: usize = 12;
/// Number of characters of an account's name.
const NAME: usize = 20;
/// The state of a job that ended as it should.
const COMPLETED: &str = "COMPLETED";

/// Returns a report as text, and whether something of the sources was lost.
///
/// # Errors
/// When the source cannot be read, or has no rows.
pub fn text(request: &ReportRequest, sink: &dyn Sink) -> Result<(String, bool)> {
    let dataset = request.source.only_dataset().map(Dataset::open).transpose()?;
    let (loaded, _) = load(request, sink)?;
    let mut of_findings = findings::waits::Builder::new(&loaded.log);
    let damage = Damage::new(sink);
    let accounts = of_dataset(dataset.as_ref(), &damage, |dataset| Accounts::read(dataset, request, &mut of_findings, sink));
    let evidence = Evidence { waits: of_findings.finish().filter(|_| accounts.is_ok()), ..Evidence::default() };
    let mut found = evidence.findings(&loaded)?;
    let more = found.findings.len().saturating_sub(FINDINGS) as u64;
    found.findings.truncate(FINDINGS);
    let mut out = String::new();
    let sources: Vec<String> = request.source.names().map(|path| visible(&path.display().to_string()).into_owned()).collect();
    // A string takes all.
    let _ = writeln!(out, "flowmine report of {}\n", sources.join(", "));
    out.push_str(&picture::text(&found));
    if more > 0 {
        let _ = writeln!(out, "\n{}: flowmine discover findings", counted(more, "finding more", "findings more"));
    }
    match accounts {
        Ok(accounts) => accounts.write(&mut out),
        Err(reason) => {
            let _ = writeln!(out, "\nThere is no table of accounts: {}.", visible(&reason));
        }
    }
    let lacks = dataset.as_ref().map(|dataset| quality(dataset, sink)).transpose()?.unwrap_or_default();
    if lacks.errors + lacks.warnings > 0 {
        let _ = writeln!(out, "\nInputs: {} rejected, {} odd.", count(lacks.errors), count(lacks.warnings));
    }
    if let Some(lost) = &lacks.lost {
        let _ = writeln!(out, "{}.", visible(lost));
    }
    Ok((out, loaded.is_lossy || lacks.errors > 0 || damage.is_found()))
}

/// Jobs that were submitted in a week.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    failed: u64,
    open: u64,
    core_ns: i128,
}

/// Jobs by account and week.
#[derive(Default)]
struct Accounts {
    sums: BTreeMap<(String, i64), Sums>,
    groups: Vec<Group>,
}

impl Accounts {
    fn read(dataset: &Dataset, request: &ReportRequest, of_findings: &mut findings::waits::Builder, sink: &dyn Sink) -> Result<Self> {
        let notion = usual_notion::chosen(request.cases.case_notion.as_deref())?;
        let (mut found, mut weeks) = (Self::default(), weeks::Builder::default());
        job_waits::for_each(dataset, notion, &request.filter, request.cases.timestamp, sink, |job| {
            weeks.add(job);
            of_findings.add(job);
            found.add(job);
        })?;
        found.groups = weeks.finish().groups.into_iter().filter(|group| group.by == "account").collect();
        Ok(found)
    }

    fn add(&mut self, job: &JobWait<'_>) {
        let Some(first) = job.parts.first() else { return };
        let week_ns = calendar::week_begin_ns(first.from_ns);
        let sums = self.sums.entry((job.account.unwrap_or_default().to_owned(), week_ns)).or_default();
        sums.failed += u64::from(job.state.is_some_and(|state| state != COMPLETED));
        sums.open += u64::from(job.ended_ns.is_none());
        let ran = job.parts.iter().filter(|part| part.kind == WaitKind::Started);
        sums.core_ns += ran.map(|part| i128::from(part.len_ns())).sum::<i128>() * i128::from(job.cpus.unwrap_or(0));
    }

    fn write(&self, out: &mut String) {
        let mut weeks: Vec<i64> = self.groups.iter().flat_map(|group| group.weeks.iter().map(|week| week.begin_ns)).collect();
        weeks.sort_unstable();
        weeks.dedup();
        let first = weeks[weeks.len().saturating_sub(WEEKS)..].first().copied().unwrap_or(i64::MAX);
        let of_group =
            |group: &Group| -> i128 { group.queue_core_ns + self.of(&group.value, first).map(|sums| sums.core_ns).sum::<i128>() };
        let mut groups: Vec<&Group> = self.groups.iter().collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(of_group(group)), &group.value));
        let left_out = groups.len().saturating_sub(ACCOUNTS) as u64;
        let _ = writeln!(
            out,
            "\nJobs by account and week of submission (weeks begin on Monday, UTC), of the last {} with jobs\n",
            counted(weeks.len().min(WEEKS) as u64, "week", "weeks")
        );
        let _ = writeln!(
            out,
            "{:NAME$} {:10} {:>8} {:>7} {:>7} {:>11} {:>9} {:>9}",
            "account", "week of", "jobs", "failed", "open", "core-hours", "waited", "90 %"
        );
        for group in groups.into_iter().take(ACCOUNTS) {
            for week in group.weeks.iter().filter(|week| week.begin_ns >= first) {
                let sums = self.sums.get(&(group.value.clone(), week.begin_ns)).copied().unwrap_or_default();
                let _ = writeln!(
                    out,
                    "{:NAME$} {:10} {:>8} {:>7} {:>7} {:>11.1} {:>9} {:>9}",
                    cut(&group.value),
                    calendar::monday(week.begin_ns),
                    count(week.jobs),
                    count(sums.failed),
                    count(sums.open),
                    sums.core_ns as f64 / 3.6e12,
                    duration(week.median_ns as f64),
                    duration(week.ninth_decile_ns as f64)
                );
            }
        }
        if left_out > 0 {
            let _ = writeln!(out, "and {}", counted(left_out, "account more", "accounts more"));
        }
    }

    fn of(&self, account: &str, first: i64) -> impl Iterator<Item = &Sums> {
        self.sums.range((account.to_owned(), first)..=(account.to_owned(), i64::MAX)).map(|(_, sums)| sums)
    }
}

/// A name that fits in its column.
fn cut(name: &str) -> String {
    let name = visible(name);
    match name.char_indices().nth(NAME) {
        Some(_) => name.chars().take(NAME - 1).chain(['…']).collect(),
        None if name.is_empty() => "(unknown)".to_owned(),
        None => name.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_hostile_names_fit() {
        assert_eq!(cut("chem"), "chem");
        assert_eq!(cut(""), "(unknown)");
        assert_eq!(cut(&"é".repeat(NAME + 1)).chars().count(), NAME);
        assert!(!cut("a\u{1b}[31m\n").contains(['\u{1b}', '\n']));
    }
}
