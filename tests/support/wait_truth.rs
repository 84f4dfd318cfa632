//! What kept the jobs of fixtures/scenario/waits.sh waiting, against what a dataset says of it.

use std::collections::BTreeMap;
use std::path::Path;

use flowmine_schema::tables::WaitPart;

use super::truth::table;

const SECOND_NS: i64 = 1_000_000_000;

/// The causes that are the job's own wishes, as `docs/tables.md` lists them.
const WISHES: [&str; 9] = [
    "predecessor",
    "never_satisfiable",
    "begin_time",
    "held_by_user",
    "held_by_admin",
    "held",
    "array_throttle",
    "reservation",
    "not_eligible",
];

/// The cause that kept a job from starting, or paused it, between two moments.
#[derive(Debug)]
struct Planned {
    job: String,
    cause: String,
    from_ns: i64,
    to_ns: i64,
}

/// When slurmctld submitted, started and ended a job.
#[derive(Debug)]
struct Life {
    submit_ns: i64,
    start_ns: i64,
    end_ns: i64,
}

/// The truth of the scenario.
pub struct WaitTruth {
    planned: Vec<Planned>,
    lives: BTreeMap<String, Life>,
}

impl WaitTruth {
    /// Reads `waits.tsv` and `truth-states.tsv`.
    pub fn read(dir: &Path) -> Self {
        let lives: BTreeMap<String, Life> = table(&dir.join("truth-states.tsv"))
            .into_iter()
            .map(|row| {
                let at = |event: &str| {
                    let exact = row[&format!("{event}_ns")].parse::<i64>();
                    exact.unwrap_or_else(|_| row[&format!("{event}_s")].parse::<i64>().expect("every job ran") * SECOND_NS)
                };
                (row["job"].clone(), Life { submit_ns: at("submit"), start_ns: at("start"), end_ns: at("end") })
            })
            .collect();
        let moment = |job: &str, text: &str| {
            let (job, event) = text.split_once(':').unwrap_or((job, text));
            match event {
                "submit" => lives[job].submit_ns,
                "start" => lives[job].start_ns,
                "end" => lives[job].end_ns,
                time => time.parse().expect("nanoseconds"),
            }
        };
        let planned = table(&dir.join("waits.tsv"))
            .into_iter()
            .map(|row| Planned {
                from_ns: moment(&row["job"], &row["from"]),
                to_ns: moment(&row["job"], &row["to"]),
                job: row["job"].clone(),
                cause: row["cause"].clone(),
            })
            .collect();
        Self { planned, lives }
    }

    /// Checks that each cause was found, with both borders as exact as `tolerance_ns`.
    pub fn check_found(&self, rows: &[WaitPart<'_>], tolerance_ns: i64) {
        let mut wrong = Vec::new();
        for planned in &self.planned {
            // A job waits for a cause once; its reason may change meanwhile.
            let parts = rows.iter().filter(|row| row.job.as_deref() == Some(&*planned.job) && row.cause == planned.cause);
            let from = parts.clone().map(|row| row.from_ns).min().unwrap_or_default();
            let to = parts.map(|row| row.to_ns).max().unwrap_or_default();
            if (from - planned.from_ns).abs() > tolerance_ns || (to - planned.to_ns).abs() > tolerance_ns {
                wrong.push(format!("{planned:?} is not in {}", self.shown(rows, &planned.job)));
            }
        }
        assert!(wrong.is_empty(), "{} of {} waits:\n{}", wrong.len(), self.planned.len(), wrong.join("\n"));
        assert!(self.planned.len() > 10, "the scenario made {} waits", self.planned.len());
    }

    /// Checks that no cause is stated of a time in which it did not keep the job waiting. A reason
    /// that holds for no longer than the tolerance is one that the scheduler gave first.
    pub fn check_stated(&self, rows: &[WaitPart<'_>], tolerance_ns: i64) {
        let mut wrong = Vec::new();
        let neutral = ["unknown", "queued", "not_eligible", "configuring", "running"];
        for row in rows.iter().filter(|row| !neutral.contains(&row.cause.as_ref()) && row.to_ns - row.from_ns > tolerance_ns) {
            let is_true = |planned: &&Planned| {
                row.job.as_deref() == Some(&*planned.job)
                    && row.cause == planned.cause
                    && planned.from_ns - tolerance_ns <= row.from_ns
                    && row.to_ns <= planned.to_ns + tolerance_ns
            };
            if !self.planned.iter().any(|planned| is_true(&planned)) {
                let job = row.job.as_deref().unwrap_or_default();
                wrong.push(format!("{} of job {job} is not true: {}", row.cause, self.shown(rows, job)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Checks that starts and ends are as exact as `tolerance_ns`.
    pub fn check_times(&self, rows: &[WaitPart<'_>], tolerance_ns: i64) {
        for (job, life) in &self.lives {
            let ran = rows.iter().filter(|row| row.job.as_deref() == Some(&**job) && matches!(row.cause.as_ref(), "running" | "suspended"));
            let start = ran.clone().map(|row| row.from_ns).min().unwrap_or_default();
            let end = ran.map(|row| row.to_ns).max().unwrap_or_default();
            let is_near = (start - life.start_ns).abs() <= tolerance_ns && (end - life.end_ns).abs() <= tolerance_ns;
            assert!(is_near, "job {job} ran {life:?}, and not as in {}", self.shown(rows, job));
        }
    }

    /// Checks the sums of all jobs: the time of their own wishes, in the queue, and after the start.
    pub fn check_sums(&self, rows: &[WaitPart<'_>], percent: i64) {
        let is_wish = |cause: &str| WISHES.contains(&cause);
        let is_started = |cause: &str| matches!(cause, "configuring" | "running" | "suspended");
        let sum = |of: &dyn Fn(&str) -> bool| -> i64 { rows.iter().filter(|row| of(&row.cause)).map(|row| row.to_ns - row.from_ns).sum() };
        let wished: i64 =
            self.planned.iter().filter(|planned| is_wish(&planned.cause)).map(|planned| planned.to_ns - planned.from_ns).sum();
        let waited: i64 = self.lives.values().map(|life| life.start_ns - life.submit_ns).sum();
        let ran: i64 = self.lives.values().map(|life| life.end_ns - life.start_ns).sum();
        let queued = |cause: &str| !is_wish(cause) && !is_started(cause);
        for (name, found, truth) in [
            ("own wishes", sum(&is_wish), wished),
            ("in the queue", sum(&queued), waited - wished),
            ("after the start", sum(&is_started), ran),
        ] {
            let off = (found - truth).abs();
            assert!(off * 100 <= truth * percent, "{name}: {found} ns, and in truth {truth} ns");
        }
    }

    fn shown(&self, rows: &[WaitPart<'_>], job: &str) -> String {
        let of_job = rows.iter().filter(|row| row.job.as_deref() == Some(job));
        let parts: Vec<String> = of_job.map(|row| format!("{} {} to {} ({:?})", row.cause, row.from_ns, row.to_ns, row.reason)).collect();
        format!("{:?} {parts:#?}", self.lives.get(job))
    }
}
