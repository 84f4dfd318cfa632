use flowmine_activity_log::{BytesFrom, InstanceRow, LogBuilder, Measure, Status, UNKNOWN};
use proptest::prelude::*;

use super::*;

const HOUR_NS: i64 = 3_600_000_000_000;

/// A job in an independent model; times in hours, memory in GiB.
#[derive(Debug, Clone, Copy)]
struct Job {
    user: usize,
    hours: Option<i64>,
    cpus: Option<i64>,
    gpus: Option<i64>,
    gpu_percent: Option<i64>,
    used_hours: Option<i64>,
    memory: Option<i64>,
    peak: Option<i64>,
    limit: Option<i64>,
    status: Status,
    cancelled: bool,
}

const USERS: [&str; 3] = ["ann", "bob", "eve"];

fn log(jobs: &[Job]) -> ActivityLog {
    let mut builder = LogBuilder::new(&["user".to_owned(), STATE.to_owned()]);
    for job in jobs {
        let activity = builder.activity("run");
        let measures: Vec<(Measure, i64)> = [
            (Measure::Cpus, job.cpus),
            (Measure::Gpus, job.gpus),
            (Measure::GpuPercent, job.gpu_percent),
            (Measure::CpuTimeNs, job.used_hours.map(|hours| hours * HOUR_NS)),
            (Measure::MemoryBytes, job.memory.map(|gib| gib << 30)),
            (Measure::PeakMemoryBytes, job.peak.map(|gib| gib << 30)),
            (Measure::TimeLimitNs, job.limit.map(|hours| hours * HOUR_NS)),
        ]
        .into_iter()
        .filter_map(|(measure, value)| Some((measure, value?)))
        .collect();
        let user = builder.value(0, USERS[job.user]);
        let state = builder.value(1, if job.cancelled { "CANCELLED" } else { "FAILED" });
        let row = InstanceRow {
            activity,
            ready_ns: UNKNOWN,
            start_ns: 0,
            end_ns: job.hours.map_or(UNKNOWN, |hours| hours * HOUR_NS),
            resource: None,
            status: job.status,
            attempt: 0,
            measures: &measures,
            bytes_from: BytesFrom::Nobody,
            attributes: &[(0, user), (1, state)],
        };
        builder.instance(&row).expect("few");
    }
    builder.end_case("case").expect("one");
    builder.finish()
}

fn found(jobs: &[Job]) -> Resources {
    let log = log(jobs);
    discover(&log, &log.groups[0])
}

const BIG: Job = Job {
    user: 0,
    hours: Some(2),
    cpus: Some(64),
    gpus: None,
    gpu_percent: None,
    used_hours: Some(2),
    memory: Some(256),
    peak: Some(1),
    limit: Some(8),
    status: Status::Completed,
    cancelled: false,
};

/// Output of seff and reportseff for such a job: 1.56 % CPU, 0.39 % memory, 25 % of the time limit.
#[test]
fn one_job_has_the_efficiencies_of_seff_and_reportseff() {
    let total = found(&[BIG]).total;
    assert_eq!(total.cpu_efficiency, Some(2.0 / 128.0));
    assert_eq!(total.memory_efficiency, Some(1.0 / 256.0));
    assert_eq!(total.time_efficiency, Some(0.25));
    assert_eq!(total.core_ns, Some(128 * i128::from(HOUR_NS)));
    assert_eq!(total.idle_core_ns, Some(126 * i128::from(HOUR_NS)));
    assert_eq!((total.gpu_ns, total.failed_core_ns, total.cancelled_core_ns), (None, None, None));
}

/// Four GPUs of which Slurm says 396 %, two without a number, and one that is idle.
#[test]
fn gpu_time_used_and_occupied() {
    let gpus = |hours, gpus, gpu_percent| Job { hours: Some(hours), gpus: Some(gpus), gpu_percent, ..BIG };
    let total = found(&[gpus(10, 4, Some(396)), gpus(3, 2, None), gpus(10, 1, Some(0))]).total;
    let tenths = |tenths: i128| Some(tenths * i128::from(HOUR_NS) / 10);
    assert_eq!((total.gpu_ns, total.gpu_used_ns), (tenths(560), tenths(396)));
    assert_eq!((total.gpu_efficiency, found(&[gpus(3, 2, None)]).total.gpu_efficiency), (Some(39.6 / 50.0), None));
}

#[test]
fn what_failed_and_what_was_cancelled_is_lost_whole() {
    let failed = Job { status: Status::Failed, ..BIG };
    let total = found(&[failed, Job { cancelled: true, hours: Some(1), ..failed }]).total;
    let hours = |hours: i128| Some(hours * i128::from(HOUR_NS));
    assert_eq!((total.failed_core_ns, total.cancelled_core_ns, total.idle_core_ns), (hours(128), hours(64), None));
    assert_eq!(total.at_stake_core_ns, hours(192));
}

fn job() -> impl Strategy<Value = Job> {
    let number = |most: i64| proptest::option::weighted(0.8, 1..most);
    let status = proptest::sample::select(vec![Status::Completed, Status::Failed, Status::Aborted, Status::Cached, Status::Unknown]);
    let sizes = (number(50), number(64), number(5), number(200), number(256), number(256), number(100));
    (0..USERS.len(), sizes, status, any::<bool>()).prop_map(
        |(user, (hours, cpus, gpus, used_hours, memory, peak, limit), status, cancelled)| Job {
            user,
            hours,
            cpus,
            gpus,
            gpu_percent: gpus.map(|gpus| gpus * 37),
            used_hours,
            memory,
            peak,
            limit,
            status,
            cancelled,
        },
    )
}

/// Returns the sum of the known values, in hours; `None` without any.
fn sum(jobs: &[Job], of: impl Fn(&Job) -> Option<i64>) -> Option<i128> {
    jobs.iter().filter_map(of).map(i128::from).reduce(|a, b| a + b)
}

proptest! {
    #[test]
    fn sums_are_those_of_an_independent_model(jobs in proptest::collection::vec(job(), 1..40)) {
        let found = found(&jobs);
        let ran: Vec<Job> = jobs.iter().copied().filter(|job| job.hours.is_some() && job.status != Status::Cached).collect();
        let users = found.by.iter().find(|group| group.name == "user").expect("a dimension");
        let rows = users.rows.iter().map(|row| (Some(row.value.as_str()), row));
        for (user, row) in rows.chain([(None, &found.total)]) {
            let of: Vec<Job> = ran.iter().copied().filter(|job| user.is_none_or(|user| USERS[job.user] == user)).collect();
            let core = |job: &Job| Some(job.hours? * job.cpus?);
            let is_lost = |job: &Job| matches!(job.status, Status::Failed | Status::Aborted);
            let was_cancelled = |job: &Job| job.status == Status::Aborted || job.status == Status::Failed && job.cancelled;
            let ns = |hours: Option<i128>| hours.map(|hours| hours * i128::from(HOUR_NS));
            prop_assert_eq!(row.instances, of.len() as u64);
            prop_assert_eq!(row.without_cpus, of.iter().filter(|job| job.cpus.is_none()).count() as u64);
            prop_assert_eq!(row.core_ns, ns(sum(&of, core)));
            prop_assert_eq!(row.cpu_used_ns, ns(sum(&of, |job| job.used_hours)));
            prop_assert_eq!(row.gpu_ns, ns(sum(&of, |job| Some(job.hours? * job.gpus?))));
            prop_assert_eq!(row.lost_gpu_ns, ns(sum(&of, |job| Some(job.hours? * job.gpus? * i64::from(is_lost(job))))));
            prop_assert_eq!(row.limit_ns, ns(sum(&of, |job| job.limit)));
            let gib = |hours: Option<i128>| ns(hours).map(|ns| ns << 30);
            prop_assert_eq!(row.memory_byte_ns, gib(sum(&of, |job| Some(job.hours? * job.memory?))));
            let idle = sum(&of, |job| (!is_lost(job)).then_some((core(job)? - job.used_hours?).max(0)));
            let cancelled = sum(&of, |job| was_cancelled(job).then(|| core(job))?);
            let failed = sum(&of, |job| (is_lost(job) && !was_cancelled(job)).then(|| core(job))?);
            prop_assert_eq!((row.idle_core_ns, row.cancelled_core_ns, row.failed_core_ns), (ns(idle), ns(cancelled), ns(failed)));
            let parts = [idle, cancelled, failed].into_iter().flatten().reduce(|a, b| a + b);
            prop_assert_eq!(row.at_stake_core_ns, ns(parts));
            let both: Vec<Job> = of.iter().copied().filter(|job| core(job).is_some() && job.used_hours.is_some()).collect();
            let efficiency = sum(&both, core).map(|core| sum(&both, |job| job.used_hours).unwrap_or(0) as f64 / core as f64);
            let is_equal = match (row.cpu_efficiency, efficiency) {
                (Some(one), Some(other)) => (one - other).abs() < 1e-9,
                (one, other) => one.is_none() && other.is_none(),
            };
            prop_assert!(is_equal, "{:?} {:?}", row.cpu_efficiency, efficiency);
        }
        let of_users: i128 = users.rows.iter().filter_map(|row| row.core_ns).sum();
        prop_assert_eq!(of_users, found.total.core_ns.unwrap_or(0));
    }

    #[test]
    fn no_number_is_too_large(cpus in any::<i64>(), used in any::<i64>(), memory in any::<i64>(), end in any::<i64>()) {
        let mut builder = LogBuilder::new(&[]);
        for _ in 0..3 {
            let activity = builder.activity("a");
            let measures = [(Measure::Cpus, cpus), (Measure::CpuTimeNs, used), (Measure::MemoryBytes, memory), (Measure::PeakMemoryBytes, used)];
            let row = InstanceRow {
                activity, ready_ns: UNKNOWN, start_ns: 0, end_ns: end, resource: None, status: Status::Completed, attempt: 0,
                measures: &measures, bytes_from: BytesFrom::Nobody, attributes: &[],
            };
            builder.instance(&row).expect("few");
        }
        builder.end_case("case").expect("one");
        let log = builder.finish();
        let found = discover(&log, &log.groups[0]);
        prop_assert!(found.total.cpu_efficiency.is_none_or(|share| share >= 0.0));
    }
}
