//! Logs for tests, and checks of pictures.

#![allow(dead_code)]

pub mod check;

use flowmine_activity_log::{ActivityLog, BytesFrom, InstanceRow, LogBuilder, Measure, Status, UNKNOWN};

/// An instance for a log: case, activity, ready, start, end in seconds; a negative time is not
/// known.
pub type Row<'a> = (&'a str, &'a str, i64, i64, i64);

pub fn seconds(s: i64) -> i64 {
    if s < 0 { UNKNOWN } else { s * 1_000_000_000 }
}

/// A log of rows; those of a case stand together.
pub fn log(rows: &[Row<'_>]) -> ActivityLog {
    let mut builder = LogBuilder::new(&[]);
    for case in rows.chunk_by(|a, b| a.0 == b.0) {
        for &(_, activity, ready, start, end) in case {
            let activity = builder.activity(activity);
            let [ready_ns, start_ns, end_ns] = [ready, start, end].map(seconds);
            let row = InstanceRow { activity, ready_ns, start_ns, end_ns, ..empty() };
            builder.instance(&row).expect("few");
        }
        builder.end_case(case[0].0).expect("few");
    }
    builder.finish()
}

pub fn empty() -> InstanceRow<'static> {
    InstanceRow {
        activity: 0,
        ready_ns: UNKNOWN,
        start_ns: UNKNOWN,
        end_ns: UNKNOWN,
        resource: None,
        status: Status::Unknown,
        attempt: 0,
        measures: &[],
        bytes_from: BytesFrom::Nobody,
        attributes: &[],
    }
}

/// Numbers that look random and are always the same (a linear congruential generator, Knuth's
/// constants).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n.max(1)
    }
}

const STEPS: [(&str, u64, u64); 11] = [
    ("NFCORE_RNASEQ:PREPARE_GENOME:GUNZIP_GTF", 20, 1),
    ("FASTQC", 240, 2),
    ("TRIMGALORE", 600, 4),
    ("BBMAP_BBSPLIT", 1800, 8),
    ("SALMON_QUANT", 900, 6),
    ("STAR_ALIGN", 3600, 12),
    ("SAMTOOLS_SORT", 300, 4),
    ("PICARD_MARKDUPLICATES", 700, 2),
    ("QUALIMAP_RNASEQ", 500, 2),
    ("DESEQ2_QC", 90, 1),
    ("MULTIQC", 60, 1),
];

/// Runs of a workflow such as bioinformaticians have: so many cases, in which tasks wait, run,
/// fail, are tried again and move bytes.
pub fn workflow(cases: u64) -> ActivityLog {
    let mut random = Random(7);
    let mut builder = LogBuilder::new(&[]);
    for case in 0..cases {
        let mut now = 1_790_000_000 + case as i64 * 5000 + random.below(3000) as i64;
        for (at, &(name, seconds_of, cpus)) in STEPS.iter().enumerate() {
            if at == 4 && case % 3 == 0 || at == 7 && case % 5 == 1 {
                continue;
            }
            let lanes = if (1..7).contains(&at) { 1 + case % 3 } else { 1 };
            for lane in 0..lanes {
                let mut attempt = 1;
                loop {
                    let ready = now + lane as i64;
                    let start = ready + random.below(40 + 300 * u64::from(case % 7 == 2)) as i64;
                    let took = (seconds_of / 2 + random.below(seconds_of)) as i64;
                    let fails = random.below(40) == 0;
                    let cached = case % 9 == 8 && at < 3;
                    let measures = [
                        (Measure::ReadBytes, took * 3_000_000 + 17),
                        (Measure::WrittenBytes, took * 800_000),
                        (Measure::CpuTimeNs, took * (cpus as i64) * 700_000_000),
                        (Measure::Cpus, cpus as i64),
                        (Measure::MemoryBytes, (cpus as i64) << 31),
                        (Measure::PeakMemoryBytes, ((cpus as i64) << 30) + took * 100_000),
                    ];
                    let status = if cached {
                        Status::Cached
                    } else if fails {
                        Status::Failed
                    } else {
                        Status::Completed
                    };
                    let row = InstanceRow {
                        activity: builder.activity(name),
                        ready_ns: seconds(ready),
                        start_ns: if cached { UNKNOWN } else { seconds(start) },
                        end_ns: if cached { UNKNOWN } else { seconds(start + took) },
                        resource: Some(builder.resource(["n1", "n2", "n3"][random.below(3) as usize])),
                        status,
                        attempt,
                        measures: if cached { &[] } else { &measures },
                        bytes_from: if cached { BytesFrom::Nobody } else { BytesFrom::Trace },
                        attributes: &[],
                    };
                    builder.instance(&row).expect("few");
                    if lane + 1 == lanes && at != 1 {
                        now = now.max(start + took);
                    }
                    if !fails || attempt > 2 {
                        break;
                    }
                    attempt += 1;
                }
            }
        }
        builder.end_case(&format!("run_{case:04}")).expect("few");
    }
    let mut log = builder.finish();
    log.words.instance = "task".to_owned();
    log.words.notion = "a run of the workflow".to_owned();
    log.words.ready = "submitted".to_owned();
    log
}

/// A log of so many instances in cases of this length, of 24 activities, with bytes.
pub fn large(instances: u64, length: u64) -> ActivityLog {
    let mut random = Random(3);
    let mut builder = LogBuilder::new(&[]);
    let names: Vec<u32> = (0..24).map(|n| builder.activity(&format!("activity {n:02}"))).collect();
    let nodes: Vec<u32> = (0..50).map(|n| builder.resource(&format!("node{n:02}"))).collect();
    for case in 0..instances / length {
        let mut now = 1_790_000_000_000_000_000 + case as i64 * 60_000_000_000;
        for at in 0..length {
            let start = now + random.below(100_000_000_000) as i64;
            let end = start + random.below(900_000_000_000) as i64;
            let row = InstanceRow {
                activity: names[(at % 10 * 2 + random.below(4) * u64::from(random.below(4) == 0)) as usize],
                ready_ns: now,
                start_ns: start,
                end_ns: end,
                resource: Some(nodes[random.below(50) as usize]),
                status: Status::Completed,
                attempt: 1,
                measures: &[(Measure::ReadBytes, random.below(1 << 30) as i64), (Measure::WrittenBytes, random.below(1 << 28) as i64)],
                bytes_from: BytesFrom::Engine,
                ..empty()
            };
            builder.instance(&row).expect("few");
            now = end;
        }
        builder.end_case(&format!("case {case}")).expect("few");
    }
    builder.finish()
}
