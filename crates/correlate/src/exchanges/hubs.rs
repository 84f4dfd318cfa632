//! Hub files: files that unrelated runs read, such as a reference genome, and that join no jobs.
//!
//! In go the exchanges of data, one version of a file after the other; out come the components that
//! they join, and the hubs with the reason. An exchange joins unless one of these holds:
//!
//! * `kind`: the path is in a directory of an environment or a cache, or is a history, a log, a
//!   lock or a Python cache ([`is_shared_kind`]).
//! * `age`: the reader read it longer after it was written than [`HubLimits::age_ns`].
//! * `fan-out`: without files with several readers, the readers are jobs of at least
//!   [`HubLimits::runs`] groups of several jobs, or of [`HubLimits::readers`] groups.
//!   Submissions of one user in the directory of the writer, each within [`SWEEP_NS`] of the one
//!   before, are a sweep, and a sweep is one run.
//!
//! Files with few readers are weighed first, so that a file that all jobs of a run read is
//! recognised as the run's own.

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

use flowmine_dataset::HubLimits;
use flowmine_schema::time::SECOND_NS;

/// Submissions of a sweep follow each other within this time.
const SWEEP_NS: i64 = 60 * SECOND_NS;

/// A file with fewer readers is no hub by its fan-out.
const FEW: usize = 3;

/// Directories of environments, caches and settings.
const SHARED_DIRECTORIES: &[&str] =
    &[".cache", ".conda", ".config", ".local", ".singularity", ".apptainer", ".nv", "site-packages", "__pycache__", "conda-meta"];

/// Ends of names of logs, locks and histories.
const SHARED_ENDS: &[&str] = &[".log", ".lock", ".pid", "_history", ".pyc"];

/// Reason why a file joins no jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HubReason {
    /// What it is.
    Kind,
    /// It was read long after it was written.
    Age,
    /// Many runs read it.
    FanOut,
}

impl HubReason {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::Age => "age",
            Self::FanOut => "fan-out",
        }
    }
}

/// A file that was treated as a hub.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hub {
    /// Its path, empty where it is not known.
    pub path: String,
    /// Why.
    pub reason: HubReason,
    /// The number of components of jobs that read it and are not joined by it.
    pub readers: usize,
}

/// What is known of a component.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// When its oldest submission was made, in nanoseconds since 1970.
    pub since_ns: i64,
    /// Number of submissions that exchanged data.
    pub submissions: usize,
    /// Number of its user and work directory.
    pub place: u32,
}

/// One exchange through a version of a file, between components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Exchange {
    writer: u32,
    reader: u32,
}

/// Takes the exchanges of a version, then those of the next one.
pub struct Joiner {
    limits: HubLimits,
    components: UnionFind<u32>,
    about: Vec<About>,
    /// Files with several readers, weighed at the end.
    widely_read: Vec<(String, Vec<Exchange>)>,
    hubs: Vec<Hub>,
}

impl Joiner {
    pub fn new(limits: HubLimits, about: Vec<About>) -> Self {
        let components = UnionFind::new(about.len());
        Self { limits, components, about, widely_read: Vec::new(), hubs: Vec::new() }
    }

    /// Adds all exchanges through one version of a file: writer, reader, and the time between.
    pub fn add(&mut self, path: &str, exchanges: &[(u32, u32, Option<i64>)]) {
        let is_shared = is_shared_kind(path);
        let is_old = |age: &Option<i64>| age.is_some_and(|age| age > self.limits.age_ns);
        let mut joining: Vec<Exchange> = Vec::new();
        let mut left_out: Vec<u32> = Vec::new();
        for &(writer, reader, age) in exchanges.iter().filter(|(writer, reader, _)| writer != reader) {
            if is_shared || is_old(&age) {
                left_out.push(reader);
            } else {
                joining.push(Exchange { writer, reader });
            }
        }
        left_out.sort_unstable();
        left_out.dedup();
        if !left_out.is_empty() {
            let reason = if is_shared { HubReason::Kind } else { HubReason::Age };
            self.hubs.push(Hub { path: path.to_owned(), reason, readers: left_out.len() });
        }
        joining.sort_unstable();
        joining.dedup();
        if readers(&joining) < FEW {
            for exchange in joining {
                self.components.union(exchange.writer, exchange.reader);
            }
        } else {
            self.widely_read.push((path.to_owned(), joining));
        }
    }

    /// The components, and the hubs in the order of paths.
    pub fn finish(mut self) -> (UnionFind<u32>, Vec<Hub>) {
        let mut widely_read = std::mem::take(&mut self.widely_read);
        widely_read.sort_by(|(path, a), (other, b)| (readers(a), path, a).cmp(&(readers(b), other, b)));
        for (path, exchanges) in widely_read {
            let groups = self.groups(&exchanges);
            if self.is_hub(&groups, &exchanges) {
                self.hubs.push(Hub { path, reason: HubReason::FanOut, readers: groups.len() });
            } else {
                for exchange in exchanges {
                    self.components.union(exchange.writer, exchange.reader);
                }
            }
        }
        self.hubs.sort();
        self.hubs.dedup();
        (self.components, self.hubs)
    }

    /// The readers that are not of a writer's group, by the groups that are known so far.
    fn groups(&mut self, exchanges: &[Exchange]) -> Vec<Vec<u32>> {
        let mut writers: Vec<u32> = exchanges.iter().map(|exchange| self.components.find_mut(exchange.writer)).collect();
        writers.sort_unstable();
        let mut groups: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for exchange in exchanges {
            let group = self.components.find_mut(exchange.reader);
            if writers.binary_search(&group).is_err() {
                groups.entry(group).or_default().push(exchange.reader);
            }
        }
        let mut groups: Vec<Vec<u32>> = groups.into_values().collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort_unstable();
        groups
    }

    fn is_hub(&mut self, groups: &[Vec<u32>], exchanges: &[Exchange]) -> bool {
        if groups.len() < self.limits.runs.min(self.limits.readers) || self.is_sweep(groups, exchanges) {
            return false;
        }
        let tops: Vec<u32> = groups.iter().map(|group| self.components.find_mut(group[0])).collect();
        let mut submissions: FxHashMap<u32, usize> = FxHashMap::default();
        for at in 0..self.about.len() as u32 {
            *submissions.entry(self.components.find_mut(at)).or_default() += self.about[at as usize].submissions;
        }
        let several = tops.iter().filter(|top| submissions.get(top).is_some_and(|count| *count > 1)).count();
        several >= self.limits.runs || groups.len() >= self.limits.readers
    }

    fn is_sweep(&self, groups: &[Vec<u32>], exchanges: &[Exchange]) -> bool {
        let about = |at: u32| &self.about[at as usize];
        let place = about(exchanges[0].writer).place;
        let mut since: Vec<i64> = groups.iter().flatten().map(|&at| about(at).since_ns).collect();
        since.sort_unstable();
        groups.iter().flatten().all(|&at| about(at).place == place) && since.windows(2).all(|pair| pair[1] - pair[0] <= SWEEP_NS)
    }
}

fn readers(exchanges: &[Exchange]) -> usize {
    let mut readers: Vec<u32> = exchanges.iter().map(|exchange| exchange.reader).collect();
    readers.sort_unstable();
    readers.dedup();
    readers.len()
}

/// Whether a path is of a kind that many programs of a user, or all, read and write.
fn is_shared_kind(path: &str) -> bool {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    directories.split('/').any(|directory| SHARED_DIRECTORIES.contains(&directory)) || SHARED_ENDS.iter().any(|end| name.ends_with(end))
}
