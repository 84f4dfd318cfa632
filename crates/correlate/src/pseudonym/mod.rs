//! Pseudonyms for every name in a dataset.
//!
//! In go raw rows and a key; out come the same rows with a keyed code in place of each name. Rows are changed before anything is
//! derived from them, so that ids, cases, activities, objects and every format are made of codes, and no name survives on a forgotten path.
//!
//! | column | becomes |
//! |---|---|
//! | `user`, `account`, `group`, `qos`, `cluster`, each of `partition` | a code of its kind: `user-…`, `account-…` |
//! | `node_list` | the hosts, a code for each ([`hosts`]) |
//! | `name`, `activity`, `command`, `work_dir` | paths, part by part ([`path`]) |
//! | `arguments`, `submit_line` | word by word ([`path`]) |
//! | `comment` | one code |
//! | `features` | one code |
//! | `tres_per_node`, `requested_tres`, `allocated_tres` | Slurm's own resources and counts stay, what a site called one is a code |
//! | `changed` | names of our columns stay |
//! | `reason` | Slurm's own word or sentence; what else it says is one code |
//! | `state`, `change`, `source`, and the words of a dependency | Slurm's and our own words stay, any other is a code |
//! | `job`, `array_tasks` | stay when they hold no letter, else a code |
//! | `cancelled_by_uid` | null: a user's name in another form, and too short to be hidden in a number |
//!
//! [`tasks`] has the columns of tasks, processes and files.
//!
//! Ids, indices, times, counts, sizes, limits and exit codes stay. Who may see the cluster's own records can find a job by them:
//! `docs/pseudonyms.md` says what that means.

mod cache;
mod code;
pub mod hosts;
pub mod key;
pub mod path;
pub mod tasks;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use flowmine_schema::Row;
use flowmine_schema::tables::{JobDependency, JobState};

use cache::Cache;
use code::{Coder, Kind};
pub use key::{KeyFileWarning, PseudonymError};
use words::{DEPENDENCIES, OURS, REASONS, RESOURCES, SENTENCES, STATES, Words};

/// Ways to replace that are not one code of a kind; their numbers in the cache follow those of the kinds.
#[derive(Clone, Copy)]
enum Way {
    Path = Kind::Word as isize + 1,
    Hosts,
}
const _: () = assert!((Way::Hosts as usize) < cache::WAYS);

/// Replaces names by codes that are stable within a key and say nothing without it.
///
/// It can be shared by threads; a clone has a cache of its own.
pub struct Pseudonymiser {
    coder: Coder,
    cache: Cache,
}

impl Clone for Pseudonymiser {
    fn clone(&self) -> Self {
        Self { coder: self.coder.clone(), cache: Cache::default() }
    }
}

impl fmt::Debug for Pseudonymiser {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pseudonymiser").finish_non_exhaustive()
    }
}

impl Pseudonymiser {
    /// With the key in a file, all of its bytes; and what its owner should know about the file.
    ///
    /// # Errors
    /// When the file cannot be read, or holds no key ([`PseudonymError`]).
    pub fn from_key_file(path: impl AsRef<Path>) -> Result<(Self, Option<KeyFileWarning>), PseudonymError> {
        let path = path.as_ref();
        let (key, warning) = key::read(path)?;
        let coder = Coder::new(&key).ok_or_else(|| PseudonymError::Short { path: path.to_owned(), length: key.len() })?;
        Ok((Self { coder, cache: Cache::default() }, warning))
    }

    /// The pseudonym of a user, as in the column `user`.
    pub fn user(&self, name: &str) -> String {
        self.code(Kind::User, name)
    }

    /// The pseudonym of an account, as in the column `account`.
    pub fn account(&self, name: &str) -> String {
        self.code(Kind::Account, name)
    }

    /// The pseudonym of a group, as in the column `group`.
    pub fn group(&self, name: &str) -> String {
        self.code(Kind::Group, name)
    }

    /// The pseudonym of a cluster, as in the column `cluster`.
    pub fn cluster(&self, name: &str) -> String {
        self.code(Kind::Cluster, name)
    }

    /// The pseudonym of one host, as in the column `node_list`.
    pub fn host(&self, name: &str) -> String {
        self.code(Kind::Host, name)
    }

    /// The pseudonym of one partition, as in the column `partition`.
    pub fn partition(&self, name: &str) -> String {
        self.code(Kind::Partition, name)
    }

    /// The pseudonym of a path, a file name, a job's name or an activity.
    pub fn path(&self, path: &str) -> String {
        self.cache.get(Way::Path as usize, path, || self.path_uncached(path))
    }

    /// A row of `job_states` with pseudonyms.
    pub fn job_state<'r>(&self, row: JobState<'r>) -> JobState<'r> {
        // All columns are named, so that a new one cannot be forgotten here.
        let JobState {
            cluster,
            job,
            job_id,
            submit_ns,
            change,
            changed,
            state,
            not_before_ns,
            observed_at_ns,
            reported_ns,
            source,
            array_job_id,
            array_task_id,
            array_tasks,
            het_job_id,
            het_offset,
            name,
            user,
            group,
            account,
            partition,
            qos,
            reason,
            comment,
            activity,
            command,
            arguments,
            work_dir,
            nodes,
            node_list,
            cpus,
            memory_bytes,
            total_memory_bytes,
            time_limit_s,
            priority,
            nice,
            features,
            tres_per_node,
            requested_tres,
            allocated_tres,
            gpus,
            eligible_ns,
            start_ns,
            end_ns,
            exit_code,
            exit_signal,
            cancelled_by_uid: _,
            read_bytes,
            written_bytes,
            max_rss_bytes,
            cpu_time_ns,
            submit_line,
            lifetime,
        } = row;
        JobState {
            cluster: self.named(Kind::Cluster, cluster),
            job: self.without_letters(job),
            job_id,
            submit_ns,
            change: self.word(&OURS, change),
            changed: changed.map(|names| self.column_names(&names).into()),
            state: state.map(|word| self.word(&STATES, word)),
            not_before_ns,
            observed_at_ns,
            reported_ns,
            source: self.word(&OURS, source),
            array_job_id,
            array_task_id,
            array_tasks: array_tasks.map(|text| self.without_letters(text)),
            het_job_id,
            het_offset,
            name: name.map(|name| self.path(&name).into()),
            user: user.map(|name| self.named(Kind::User, name)),
            group: group.map(|name| self.named(Kind::Group, name)),
            account: account.map(|name| self.named(Kind::Account, name)),
            partition: partition.map(|list| self.partitions(&list).into()),
            qos: qos.map(|name| self.named(Kind::Qos, name)),
            reason: reason.map(|text| self.reason(text)),
            comment: comment.map(|text| self.named(Kind::Comment, text)),
            activity: activity.map(|name| self.path(&name).into()),
            command: command.map(|path| self.path(&path).into()),
            arguments: arguments.map(|line| self.words(&line).into()),
            work_dir: work_dir.map(|path| self.path(&path).into()),
            nodes,
            node_list: node_list.map(|list| self.hosts(&list).into()),
            cpus,
            memory_bytes,
            total_memory_bytes,
            time_limit_s,
            priority,
            nice,
            features: features.map(|text| self.named(Kind::Word, text)),
            tres_per_node: tres_per_node.map(|list| self.resources(&list).into()),
            requested_tres: requested_tres.map(|list| self.resources(&list).into()),
            allocated_tres: allocated_tres.map(|list| self.resources(&list).into()),
            gpus,
            eligible_ns,
            start_ns,
            end_ns,
            exit_code,
            exit_signal,
            cancelled_by_uid: None,
            read_bytes,
            written_bytes,
            max_rss_bytes,
            cpu_time_ns,
            submit_line: submit_line.map(|line| self.words(&line).into()),
            lifetime,
        }
    }

    /// A row of `job_dependencies` with pseudonyms.
    pub fn job_dependency<'r>(&self, row: JobDependency<'r>) -> JobDependency<'r> {
        let JobDependency {
            cluster,
            job,
            job_id,
            submit_ns,
            position,
            operator,
            kind,
            target_kind,
            target_job_id,
            target_task_id,
            delay_s,
            state,
            observed_at_ns,
            source,
            lifetime,
        } = row;
        JobDependency {
            cluster: self.named(Kind::Cluster, cluster),
            job: self.without_letters(job),
            job_id,
            submit_ns,
            position,
            operator: operator.map(|word| self.word(&DEPENDENCIES, word)),
            kind: self.word(&DEPENDENCIES, kind),
            target_kind: self.word(&DEPENDENCIES, target_kind),
            target_job_id,
            target_task_id,
            delay_s,
            state: state.map(|word| self.word(&DEPENDENCIES, word)),
            observed_at_ns,
            source: self.word(&OURS, source),
            lifetime,
        }
    }

    /// The code of a text; nothing stays nothing.
    fn code(&self, kind: Kind, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        self.cache.get(kind as usize, text, || self.coder.code(kind, text))
    }

    fn named<'r>(&self, kind: Kind, text: Cow<'r, str>) -> Cow<'r, str> {
        Cow::Owned(self.code(kind, &text))
    }

    fn hosts(&self, list: &str) -> String {
        if list.is_empty() {
            return String::new();
        }
        self.cache.get(Way::Hosts as usize, list, || self.hosts_uncached(list))
    }

    /// `debug,short`, in the order in which the user asked for them.
    fn partitions(&self, list: &str) -> String {
        let codes: Vec<String> = list.split(',').map(|name| self.code(Kind::Partition, name)).collect();
        codes.join(",")
    }

    /// `cpu=4,gres/gpu:a100=2,mem=8G`: Slurm's own resources and numbers stay, what a site has called one is a code.
    fn resources(&self, list: &str) -> String {
        let pieces = list.split_inclusive(|c: char| ",:/=()".contains(c)).map(|piece| {
            let end = piece.len() - piece.chars().next_back().filter(|c| ",:/=()".contains(*c)).map_or(0, char::len_utf8);
            let (token, sign) = piece.split_at(end);
            let is_size = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b".-".contains(&b));
            let is_known =
                token.is_empty() || RESOURCES.contains(token) || is_size(token.strip_suffix(['K', 'M', 'G', 'T', 'P']).unwrap_or(token));
            if is_known { piece.to_owned() } else { format!("{}{sign}", self.code(Kind::Word, token)) }
        });
        pieces.collect()
    }

    /// The names of our own columns, with commas between.
    fn column_names(&self, names: &str) -> String {
        let is_ours = |name: &str| name.is_empty() || name == "dependency" || JobState::COLUMNS.iter().any(|column| column.name == name);
        let codes: Vec<Cow<'_, str>> =
            names.split(',').map(|name| if is_ours(name) { name.into() } else { self.code(Kind::Word, name).into() }).collect();
        codes.join(",")
    }

    fn word<'r>(&self, known: &Words, word: Cow<'r, str>) -> Cow<'r, str> {
        if known.contains(&*word) { word } else { self.named(Kind::Word, word) }
    }

    /// `8_3`, `18+1`, `3-9%3`: what Slurm writes of digits and signs.
    fn without_letters<'r>(&self, text: Cow<'r, str>) -> Cow<'r, str> {
        let plain = text.bytes().all(|b| b.is_ascii_digit() || b"_+*-,:%.[]".contains(&b));
        if plain { text } else { self.named(Kind::Word, text) }
    }

    /// Slurm's word or sentence stays. `ReqNodeNotAvail, UnavailableNodes:n[1-2]` keeps its first word; what follows is one code.
    fn reason<'r>(&self, text: Cow<'r, str>) -> Cow<'r, str> {
        let blanks = text.replace('_', " ");
        if REASONS.contains(&*text) || SENTENCES.contains(&blanks.as_str()) {
            return text;
        }
        let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        if REASONS.contains(word) {
            Cow::Owned(format!("{word}, {}", self.code(Kind::Detail, rest)))
        } else {
            self.named(Kind::Detail, text)
        }
    }
}
