//! Files, and who read and wrote them.

use flowmine_eventlog::{Attribute, Relation, ValueType};
use flowmine_schema::tables::TaskIo;
use flowmine_schema::text::ids::escape;

use super::TaskLogError;
use super::making::{FILE, JOB, Making, Order, TASK_RANK, job_id, relation, task_id};

pub(super) const FILE_ATTRIBUTES: &[(&str, ValueType)] = &[
    ("host", ValueType::String),
    ("path", ValueType::String),
    ("file_system", ValueType::String),
    ("device", ValueType::Integer),
    ("inode", ValueType::Integer),
    ("generation", ValueType::Integer),
    ("incarnation", ValueType::Integer),
];

const EVENT_ATTRIBUTES: &[(&str, ValueType)] = &[
    ("activity", ValueType::String),
    ("bytes", ValueType::Integer),
    ("calls", ValueType::Integer),
    ("errors", ValueType::Integer),
    ("unique_bytes", ValueType::Integer),
    ("ranges", ValueType::Integer),
    ("time_ns", ValueType::Integer),
    ("latency_max_ns", ValueType::Integer),
    ("pattern", ValueType::String),
    ("last", ValueType::Time),
];

flowmine_schema::columns! {
    /// What a task did to a file.
    struct Accesses of TaskIo {
        task, logical_task, cluster, job, job_submit_ns, host, device, inode, generation,
        incarnation, file_system, path, read_calls, write_calls, read_errors, write_errors,
        read_bytes, written_bytes, unique_read_bytes, unique_written_bytes, read_ranges,
        written_ranges, first_read_ns, last_read_ns, first_write_ns, last_write_ns, read_pattern,
        write_pattern, read_time_ns, write_time_ns, read_latency_max_ns, write_latency_max_ns,
    }
}

/// What a row of `task_io` says of one direction.
struct Access<'r> {
    kind: &'static str,
    qualifier: &'static str,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    numbers: [(&'static str, Option<i64>); 7],
    pattern: Option<&'r str>,
    calls: i64,
}

fn accesses<'r>(row: &'r Accesses<'_>) -> impl Iterator<Item = Access<'r>> {
    let read = Access {
        kind: "read file",
        qualifier: "read",
        first_ns: row.first_read_ns,
        last_ns: row.last_read_ns,
        numbers: [
            ("bytes", Some(row.read_bytes)),
            ("calls", Some(row.read_calls)),
            ("errors", Some(row.read_errors)),
            ("unique_bytes", row.unique_read_bytes),
            ("ranges", row.read_ranges),
            ("time_ns", Some(row.read_time_ns)),
            ("latency_max_ns", row.read_latency_max_ns),
        ],
        pattern: row.read_pattern.as_deref(),
        calls: row.read_calls - row.read_errors,
    };
    let written = Access {
        kind: "wrote file",
        qualifier: "wrote",
        first_ns: row.first_write_ns,
        last_ns: row.last_write_ns,
        numbers: [
            ("bytes", Some(row.written_bytes)),
            ("calls", Some(row.write_calls)),
            ("errors", Some(row.write_errors)),
            ("unique_bytes", row.unique_written_bytes),
            ("ranges", row.written_ranges),
            ("time_ns", Some(row.write_time_ns)),
            ("latency_max_ns", row.write_latency_max_ns),
        ],
        pattern: row.write_pattern.as_deref(),
        calls: row.write_calls - row.write_errors,
    };
    // What only failed was neither read nor written.
    [read, written].into_iter().filter(|access| access.calls > 0)
}

fn file_id(row: &Accesses<'_>) -> String {
    let told = |number: Option<i64>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let mut id = String::from("file:");
    escape(&row.host, &mut id);
    id.push_str(&format!(":{}:{}", told(row.device), told(row.inode)));
    id.extend(row.generation.map(|generation| format!(".{generation}")));
    if row.incarnation > 1 {
        id.push_str(&format!("#{}", row.incarnation));
    }
    id
}

pub(super) fn add(making: &mut Making<'_>) -> Result<(), TaskLogError> {
    let from = making.from;
    from.dataset.read::<Accesses<'static>, TaskLogError>(|row| {
        let row = from.rules.apply(row);
        let task = row.task.as_deref().filter(|_| making.wanted.tasks).map(task_id);
        let job = row.job.as_deref().filter(|_| making.wanted.jobs);
        let job = job.map(|job| job_id(row.cluster.as_deref().unwrap_or_default(), job, row.job_submit_ns));
        let (rank, who) = match (&task, &job) {
            (Some(task), _) => (TASK_RANK, task),
            (None, Some(job)) => (JOB, job),
            (None, None) => {
                making.left_out.accesses_of_others += u64::from(accesses(&row).next().is_some());
                let bytes = flowmine_sums::add(row.read_bytes, row.written_bytes);
                flowmine_sums::add_to(&mut making.left_out.bytes_of_others, bytes);
                return Ok(());
            }
        };
        let file = file_id(&row);
        let mut used = false;
        for (number, access) in (0u8..).zip(accesses(&row)) {
            let Some(time_ns) = access.first_ns.filter(|time| from.wants(*time)) else { continue };
            used = true;
            let mut attributes: Vec<Attribute<'_>> =
                row.logical_task.as_deref().filter(|_| task.is_some()).map(|name| Attribute::text("activity", name)).into_iter().collect();
            attributes.extend(access.numbers.into_iter().filter_map(|(name, number)| Some(Attribute::integer(name, number?))));
            attributes.extend(access.pattern.map(|pattern| Attribute::text("pattern", pattern)));
            attributes.extend(access.last_ns.map(|last| Attribute::time("last", last)));
            let mut relations: Vec<Relation<'_>> = task.as_deref().map(|task| relation(task, "task")).into_iter().collect();
            relations.extend(job.as_deref().map(|job| relation(job, "job")));
            relations.push(relation(&file, "file"));
            making.event(&Order::File(who, &file, number), access.kind, EVENT_ATTRIBUTES, time_ns, attributes, relations)?;
            making.objects.relate((rank, who), access.qualifier, (FILE, &file))?;
        }
        if !used {
            return Ok(());
        }
        if let (Some(_), Some(job)) = (&task, &job) {
            making.objects.mention(JOB, job)?;
        }
        let drop = &from.rules.drop;
        let texts = [("host", Some(&row.host)), ("path", row.path.as_ref()), ("file_system", row.file_system.as_ref())];
        let texts = texts.into_iter().filter(|(name, _)| !drop.leaves_out(name));
        let mut attributes: Vec<_> = texts.filter_map(|(name, text)| Some(Attribute::text(name, text?.as_ref()))).collect();
        let numbers =
            [("device", row.device), ("inode", row.inode), ("generation", row.generation), ("incarnation", Some(row.incarnation))];
        attributes.extend(numbers.into_iter().filter_map(|(name, number)| Some(Attribute::integer(name, number?))));
        making.objects.simple(FILE, "file", &file, attributes)?;
        Ok(())
    })
}
