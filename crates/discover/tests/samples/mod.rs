//! Logs for pictures: made by rule, with a small generator of numbers that gives the same on every
//! machine.

use flowmine_activity_log::{EventRow, LogBuilder};
use flowmine_discover::dfg::{Dfg, dfg};

const S: i64 = 1_000_000_000;

/// Numbers that look random and are always the same.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n.max(1)
    }

    /// True this many times out of a hundred.
    pub fn percent(&mut self, n: u64) -> bool {
        self.below(100) < n
    }
}

struct Log {
    names: Vec<String>,
    traces: Vec<Vec<(u32, i64)>>,
}

impl Log {
    fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), traces: Vec::new() }
    }

    fn dfg(self, notion: &str) -> Dfg {
        let mut builder = LogBuilder::new(&[]);
        for (case, trace) in self.traces.iter().enumerate() {
            for &(id, time_ns) in trace {
                let activity = builder.activity(&self.names[id as usize]);
                builder.event(&EventRow { activity, time_ns, ..EventRow::default() }).expect("few events");
            }
            builder.end_case(&case.to_string()).expect("few cases");
        }
        let mut log = builder.finish();
        log.words.notion = notion.to_owned();
        dfg(&log, &log.groups[0])
    }
}

/// The workflow of the case study: pre-processing, two jobs side by side, merge; some tried twice.
pub fn diamond() -> Dfg {
    let mut log = Log::new(["pre", "p1", "p2", "merge"]);
    let mut n = Numbers::new(1);
    for _ in 0..120 {
        let mut t = 0;
        let mut trace = vec![(0, t)];
        if n.percent(8) {
            t += 30 * S;
            trace.push((0, t));
        }
        let (a, b) = if n.percent(60) { (1, 2) } else { (2, 1) };
        t += (20 + n.below(60) as i64) * S;
        trace.push((a, t));
        if n.percent(15) {
            t += (200 + n.below(100) as i64) * S;
            trace.push((a, t));
        }
        t += (1 + n.below(20) as i64) * S;
        trace.push((b, t));
        t += (600 + n.below(1800) as i64) * S;
        trace.push((3, t));
        log.traces.push(trace);
    }
    log.dfg("jobs joined by declared dependencies")
}

/// Fifteen steps with tries, rework and a branch.
pub fn fifteen() -> Dfg {
    let names = [
        "stage_in.sh",
        "checksum.sh",
        "split_fastq.sh",
        "fastqc.sh",
        "trim_galore.sh",
        "align_star.sh",
        "align_salmon.sh",
        "sort_bam.sh",
        "mark_duplicates.sh",
        "count_features.sh",
        "merge_counts.sh",
        "deseq2.R",
        "multiqc.sh",
        "archive.sh",
        "cleanup.sh",
    ];
    let mut log = Log::new(names);
    let mut n = Numbers::new(7);
    for _ in 0..340 {
        let mut t = 0i64;
        let mut trace = vec![(0u32, 0i64)];
        let mut at = 0u32;
        while at != 14 && trace.len() < 60 {
            let next = match at {
                1 if n.percent(10) => 0,
                2 => {
                    if n.percent(70) {
                        3
                    } else {
                        4
                    }
                }
                3 if n.percent(12) => 2,
                4 => {
                    if n.percent(65) {
                        5
                    } else {
                        6
                    }
                }
                5 if n.percent(6) => 5,
                5 => 7,
                6 => 9,
                8 if n.percent(9) => 7,
                10 if n.percent(14) => 4,
                10 => {
                    if n.percent(50) {
                        11
                    } else {
                        12
                    }
                }
                11 if n.percent(20) => 11,
                12 if n.percent(5) => 2,
                13 if n.percent(3) => 0,
                x => x + 1,
            };
            t += match next {
                5 => 3600 + n.below(7200) as i64,
                11 => 600 + n.below(900) as i64,
                _ => 1 + n.below(90) as i64,
            } * S;
            trace.push((next, t));
            at = next;
        }
        log.traces.push(trace);
    }
    let mut dfg = log.dfg("one case for each account and group");
    dfg.words.filters = vec!["account = bio".to_owned(), "from 2026-01-01".to_owned()];
    dfg
}

/// Steps without any structure.
pub fn random(activities: u64, cases: u64, seed: u64) -> Dfg {
    let mut log = Log::new((0..activities).map(|i| format!("step_{i:02}")));
    let mut n = Numbers::new(seed);
    for _ in 0..cases {
        let mut t = 0;
        let mut at = n.below(3);
        let mut trace = Vec::new();
        for _ in 0..8 + n.below(12) {
            trace.push((at as u32, t));
            let forward = at + 1 + n.below(4);
            at = if n.percent(12) { n.below(activities) } else { forward.min(activities - 1) };
            t += n.below(5000) as i64 * S / 10;
        }
        log.traces.push(trace);
    }
    log.dfg("made by rule")
}

/// Names of every unpleasant kind.
pub fn hostile_names() -> Vec<String> {
    [
        "<script>alert(1)</script>",
        "\"]; evil [label=\"x",
        "line one\nline two\r\n\ttab",
        "\u{1b}[31mred\u{1b}[0m\u{7}",
        "right\u{202e}tfel\u{202c} \u{2066}x\u{2069}",
        "bad\\xffbyte & &amp; &#10; ]]> <!-- -->",
        "\u{0}\u{1}\u{fffe}\u{ffff}\u{feff}",
        "",
        "  ",
        "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}zalgo",
        "日本語のとても長い名前のジョブをここに書いておきます。さらに続く。まだ続く。",
        "💥👩‍👩‍👧‍👦 emoji",
        "مرحبا بالعالم",
        "\\N\\G\\l\\",
        "${HOME} $(reboot) `reboot` %s {{x}}",
    ]
    .into_iter()
    .map(str::to_owned)
    .collect()
}

pub fn hostile() -> Dfg {
    let names = hostile_names();
    let mut log = Log::new(names.clone());
    for i in 0..names.len() as u32 {
        log.traces.push((0..names.len() as u32).map(|k| ((i * k) % names.len() as u32, i64::from(k) * S)).take(6).collect());
    }
    let mut dfg = log.dfg("a \"notion\" & more");
    dfg.words.filters = vec!["user = </text><script>".to_owned()];
    dfg
}

/// Names that no box holds.
pub fn long_names() -> Dfg {
    let names = [
        "/home/projects/climate/experiments/2026/ensemble-member-0042/run_preprocessing_of_boundary_conditions.sh".to_owned(),
        "postprocess".to_owned(),
        "W".repeat(300),
        "computeMeanSeaLevelPressureAnomaliesForAllEnsembleMembersAndWriteThemToNetCDF".to_owned(),
        "a name with many words that a human being would have written into the comment of a job".to_owned(),
    ];
    let mut log = Log::new(names);
    for i in 0..40i64 {
        log.traces.push(vec![(0, 0), (1, 60 * S * i), (2, 61 * S * i), (3, 70 * S * i), (4, 90 * S * i), (1, 100 * S * i)]);
    }
    log.dfg("")
}

pub fn single() -> Dfg {
    let mut log = Log::new(["only_step.sh"]);
    log.traces = vec![vec![(0, 0)]; 3];
    log.dfg("each job by itself")
}

pub fn chain(length: u32) -> Dfg {
    let mut log = Log::new((0..length).map(|i| format!("stage {i}")));
    for case in 0..25i64 {
        log.traces.push((0..length).map(|i| (i, i64::from(i) * S * 45 + case * i64::from(i * i) * S / 10)).collect());
    }
    log.dfg("jobs joined by declared dependencies")
}

pub fn empty() -> Dfg {
    Log::new(["never"]).dfg("jobs joined by declared dependencies")
}
