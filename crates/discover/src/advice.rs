//! Noteworthy reads and writes of a run, by named thresholds: what Darshan's job summary shows and
//! Drishti advises of POSIX calls (Bez, Ather & Byna, *Drishti: Guiding End-Users in the I/O
//! Optimization Journey*, PDSW 2022), of any program, not of MPI alone.

use flowmine_draw::text::count as number;

use crate::io_profile_numbers::{Group, KindOf, Profile};

pub use crate::noteworthy::{Advice, Thresholds};

/// Maximum number of pieces of advice, those with most time.
const MOST: usize = 30;

/// Returns the noteworthy parts of a profile, those with most time first.
pub fn of(profile: &Profile, thresholds: &Thresholds) -> Vec<Advice> {
    let mut found = Vec::new();
    for group in &profile.groups {
        let mut finder = Finder { group, thresholds, found: &mut found };
        finder.sizes();
        finder.order();
        finder.again();
        finder.metadata();
        finder.balance();
        finder.syncs();
    }
    small_files(profile, thresholds, &mut found);
    found.sort_by(|a, b| b.time_ns.cmp(&a.time_ns).then_with(|| (a.what, &a.group).cmp(&(b.what, &b.group))));
    found.truncate(MOST);
    found
}

struct Finder<'g, 'f> {
    group: &'g Group,
    thresholds: &'g Thresholds,
    found: &'f mut Vec<Advice>,
}

const DIRECTIONS: [(&str, &str); 2] = [("read", "reads"), ("write", "writes")];

fn percent(share: f64) -> String {
    flowmine_draw::axis::percent(share)
}

impl Finder<'_, '_> {
    fn kind(&self, name: &str) -> Option<&KindOf> {
        self.group.operations.iter().find(|of| of.kind == name)
    }

    fn put(
        &mut self,
        what: &'static str,
        (value, threshold, limit): (f64, &'static str, f64),
        time_ns: i128,
        seen: String,
        advice: &'static str,
    ) {
        if value > limit {
            let group = Some(self.group.name.clone());
            self.found.push(Advice { what, group, value, threshold, limit, time_ns, seen, advice });
        }
    }

    /// Finds small and unaligned requests, of reads and of writes.
    fn sizes(&mut self) {
        let of = *self.thresholds;
        for (direction, (kind, many)) in DIRECTIONS.into_iter().enumerate() {
            let sizes = &self.group.sizes[direction];
            let count = sizes.count();
            if count < of.least_calls {
                continue;
            }
            let time = self.kind(kind).map_or(0, |of| of.time_ns);
            let small = sizes.below(of.small_bytes);
            let share = small as f64 / count as f64;
            let seen =
                format!("{} of {} {many} ask for less than {}", percent(share), number(count), flowmine_draw::axis::bytes(of.small_bytes));
            let (what, advice) = if direction == 0 {
                ("small_reads", "read more at once: a larger buffer, or a library that reads ahead")
            } else {
                ("small_writes", "write more at once: a larger buffer, and no flush after each line")
            };
            self.put(what, (share, "small_share", of.small_share), time * i128::from(small) / i128::from(count), seen, advice);
            let unaligned = self.group.unaligned[direction];
            let share = unaligned as f64 / count as f64;
            let what = if direction == 0 { "unaligned_reads" } else { "unaligned_writes" };
            // Small requests are always unaligned.
            if small as f64 <= of.small_share * count as f64 {
                let seen = format!("{} of {} {many} begin or end within a page of 4,096 bytes", percent(share), number(count));
                self.put(what, (share, "unaligned_share", of.unaligned_share), time, seen, "move whole pages, from multiples of 4,096 on");
            }
        }
    }

    fn order(&mut self) {
        let of = *self.thresholds;
        for (direction, (kind, many)) in DIRECTIONS.into_iter().enumerate() {
            let random = self.group.random[direction];
            let all = random + self.group.sequential[direction] + self.group.strided[direction];
            if all < of.least_calls {
                continue;
            }
            let share = random as f64 / all as f64;
            let time = self.kind(kind).map_or(0, |of| of.time_ns) * i128::from(random) / i128::from(all);
            let seen = format!("{} of {} {many} jump to another place of the file", percent(share), number(all));
            let (what, advice) = if direction == 0 {
                ("random_reads", "read in the order of the file, or copy it to memory or a local disk first")
            } else {
                ("random_writes", "write in the order of the file, or build it in memory or on a local disk")
            };
            self.put(what, (share, "random_share", of.random_share), time, seen, advice);
        }
    }

    fn again(&mut self) {
        let of = *self.thresholds;
        if self.group.read_bytes < of.least_bytes {
            return;
        }
        let share = self.group.read_again_bytes as f64 / self.group.read_bytes as f64;
        let time = (self.kind("read").map_or(0, |of| of.time_ns) as f64 * share) as i128;
        let seen = format!(
            "{} of what was read had been read before by the same process ({})",
            percent(share),
            flowmine_draw::axis::bytes(self.group.read_again_bytes)
        );
        self.put(
            "read_again",
            (share, "again_share", of.again_share),
            time,
            seen,
            "keep the data in memory, or read the file once and pass the data on",
        );
    }

    fn metadata(&mut self) {
        let of = *self.thresholds;
        let all: i128 = self.group.operations.iter().map(|of| of.time_ns).sum();
        let data: i128 =
            self.group.operations.iter().filter(|of| matches!(of.kind, "read" | "write" | "sync" | "fault")).map(|of| of.time_ns).sum();
        let calls: u64 =
            self.group.operations.iter().filter(|of| !matches!(of.kind, "read" | "write" | "sync" | "fault")).map(|of| of.count).sum();
        if calls >= of.least_calls && all > 0 {
            let share = (all - data) as f64 / all as f64;
            let seen = format!("opening, closing, deleting and the like take {} of the time in operations ({calls} calls)", percent(share));
            let advice = "use fewer files: one archive or database for many, a local disk for temporary ones";
            self.put("metadata", (share, "metadata_share", of.metadata_share), all - data, seen, advice);
        }
        if let Some(open) = self.kind("open").filter(|open| open.count >= of.least_calls).cloned() {
            let share = open.failed as f64 / open.count as f64;
            let seen = format!("{} of {} opens found no file", percent(share), open.count);
            let advice = "shorten search paths (PATH, LD_LIBRARY_PATH, PYTHONPATH): each directory is searched for each name";
            let time = open.time_ns * i128::from(open.failed) / i128::from(open.count.max(1));
            self.put("failed_opens", (share, "failed_open_share", of.failed_open_share), time, seen, advice);
        }
    }

    fn balance(&mut self) {
        let of = *self.thresholds;
        let Some(bytes) = self.group.process_bytes.summary().filter(|of| of.count > 1) else { return };
        if bytes.max < of.least_bytes || bytes.mean <= 0.0 {
            return;
        }
        let times = bytes.max as f64 / bytes.mean;
        let time: i128 = self.group.operations.iter().map(|of| of.time_ns).sum();
        let share = bytes.max as f64 / bytes.sum.max(1) as f64;
        let seen = format!("one of {} processes moved {}, {times:.1} times the mean", bytes.count, flowmine_draw::axis::bytes(bytes.max));
        let advice = "divide the work by bytes, or let one process do this work for all on purpose";
        self.put("imbalance", (times, "imbalance", of.imbalance), (time as f64 * share) as i128, seen, advice);
    }

    fn syncs(&mut self) {
        let of = *self.thresholds;
        let Some(sync) = self.kind("sync").filter(|sync| sync.count >= 16).cloned() else { return };
        let mib = self.group.written_bytes as f64 / 1_048_576.0;
        let rate = sync.count as f64 / mib.max(1.0);
        let seen = format!("{} times it waited until the disk had everything, {rate:.1} times for each MiB written", sync.count);
        let advice = "wait for the disk once, at the end";
        self.put("many_syncs", (rate, "syncs_per_mib", of.syncs_per_mib), sync.time_ns, seen, advice);
    }
}

fn small_files(profile: &Profile, of: &Thresholds, found: &mut Vec<Advice>) {
    let read = || profile.files.iter().filter(|file| file.sums.read_bytes > 0);
    let all = read().count() as u64;
    if all < of.least_calls {
        return;
    }
    let small = read().filter(|file| file.sums.read_bytes < of.small_bytes);
    let (count, time_ns) = small.fold((0u64, 0i128), |(count, time), file| (count + 1, time + i128::from(file.sums.time_ns)));
    let value = count as f64 / all as f64;
    if value > of.small_file_share {
        found.push(Advice {
            what: "small_files",
            group: None,
            value,
            threshold: "small_file_share",
            limit: of.small_file_share,
            time_ns,
            seen: format!("less than {} was read of {count} of {all} files", flowmine_draw::axis::bytes(of.small_bytes)),
            advice: "put many small files into an archive or a database, and copy that to a local disk",
        });
    }
}
