//! Pseudonyms for every name in a dataset.
//!
//! In go raw rows and a key; out come the same rows with a keyed code in place of each name. Rows
//! are changed before anything is derived from them, so that ids, cases, activities, objects and
//! every format are made of codes, and no name survives on a forgotten path.
//!
//! What a column holds is declared where the column is ([`Private`], in
//! `crates/schema/src/tables/`), and `docs/tables.md` shows what becomes of it. Here is how:
//!
//! | what | becomes |
//! |---|---|
//! | users, accounts, groups, clusters, hosts, each partition | a code of its kind: `user-…`, `account-…` |
//! | lists of hosts | a code for each host ([`hosts`]) |
//! | paths, and names that often are paths | codes, part by part ([`path`]) |
//! | command lines | codes, word by word ([`path`]) |
//! | comments, messages, features | one code |
//! | resources | Slurm's own resources and counts stay, what a site called one is a code |
//! | reasons | Slurm's own word or sentence stays; what else they say is one code |
//! | states, kinds, and other words | Slurm's, well-known and our own words stay, any other is a code |
//! | ids of jobs | stay when they hold no letter, else a code |
//! | ids of tasks, containers, pods, units | a code: engine, run and task are in a task's id |
//! | numbers of users and groups | null: a user's name in another form, and too short to be hidden in a number |
//! | what no log has: environments, histograms, evidence, layers, … | null or empty |
//!
//! Ids, indices, times, counts, sizes, limits and exit codes stay. Who may see the cluster's own
//! records can find a job by them: `docs/pseudonyms.md` says what that means.

mod cache;
mod code;
mod entity;
pub mod hosts;
pub mod key;
pub mod path;
mod tasks;
mod words;

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use flowmine_schema::tables::JobState;
use flowmine_schema::{Private, Record, View};

use cache::Cache;
use code::{Coder, Kind};
use entity::Entity;
pub use key::{KeyFileWarning, PseudonymError};
use words::{REASONS, RESOURCES, SENTENCES, Words};

/// Ways to replace that are not one code of a kind; their numbers in the cache follow those of the
/// kinds.
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
    /// Whether what looks like a code stays.
    keeps_codes: bool,
}

impl Clone for Pseudonymiser {
    fn clone(&self) -> Self {
        Self { coder: self.coder.clone(), cache: Cache::default(), keeps_codes: self.keeps_codes }
    }
}

impl fmt::Debug for Pseudonymiser {
    /// Writes the type's name only: the key must not be shown.
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
        Ok((Self { coder, cache: Cache::default(), keeps_codes: false }, warning))
    }

    /// The same for rows that may hold codes of the same key already: what has the form of a code
    /// stays, so that a name has one code however often rows are read and written.
    #[must_use]
    pub fn keeping_codes(self) -> Self {
        Self { coder: self.coder, cache: Cache::default(), keeps_codes: true }
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

    /// A row of any table with pseudonyms, by the table's declaration of each column.
    pub fn row<'r, R: Record<'r>>(&self, mut row: R) -> R {
        // Kinds of the ids, before the words for them are replaced.
        let mut entities: Vec<(&'static str, Entity)> = Vec::new();
        row.each_cell(|column, _| entities.extend(column.private.depends_on().map(|of| (of, Entity::Other))));
        if !entities.is_empty() {
            row.each_cell(|column, cell| {
                let of = Entity::new(cell.text());
                entities.iter_mut().filter(|(name, _)| *name == column.name).for_each(|(_, entity)| *entity = of);
            });
        }
        row.each_cell(|column, cell| match column.private {
            Private::Harmless => {}
            Private::UserId | Private::Withheld => cell.clear(),
            private => {
                let of = private.depends_on().and_then(|of| entities.iter().find(|(name, _)| *name == of));
                cell.replace(|text| self.text(private, of.map_or(Entity::Other, |(_, entity)| *entity), text));
            }
        });
        row
    }

    /// A text of a column; of ids and their scopes, what they are of.
    fn text<'r>(&self, private: Private, of: Entity, text: Cow<'r, str>) -> Cow<'r, str> {
        match private {
            Private::Harmless => text,
            Private::UserId | Private::Withheld => Cow::default(),
            Private::Cluster => self.named(Kind::Cluster, text),
            Private::Host => self.named(Kind::Host, text),
            Private::HostList => self.hosts(&text).into(),
            Private::User => self.named(Kind::User, text),
            Private::Group => self.named(Kind::Group, text),
            Private::Account => self.named(Kind::Account, text),
            Private::Qos => self.named(Kind::Qos, text),
            Private::Partitions => self.partitions(&text).into(),
            Private::Path => self.path(&text).into(),
            Private::Line => self.words(&text).into(),
            Private::JsonLine => self.json_line(&text).into(),
            Private::Comment => self.named(Kind::Comment, text),
            Private::Message => self.named(Kind::Detail, text),
            Private::Label => self.named(Kind::Word, text),
            Private::Resources => self.resources(&text).into(),
            Private::Task => self.named(Kind::Task, text),
            Private::Container => self.named(Kind::Container, text),
            Private::Number => self.without_letters(text),
            Private::Step => self.step(text),
            Private::Word(vocabulary) => self.word(words::of_vocabulary(vocabulary), text),
            Private::ColumnNames => self.column_names(&text).into(),
            Private::Reason => self.reason(text),
            Private::ScopeOf(_) => self.scope(of, text),
            Private::IdOf(_) => self.id(of, text),
        }
    }

    /// The code of a text; nothing stays nothing.
    fn code(&self, kind: Kind, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        if self.keeps_codes && code::is_code(text) {
            return text.to_owned();
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

    /// `cpu=4,gres/gpu:a100=2,mem=8G`: Slurm's own resources and numbers stay, what a site has
    /// called one is a code.
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

    /// Slurm's word or sentence stays. `ReqNodeNotAvail, UnavailableNodes:n[1-2]` keeps its first
    /// word; what follows is one code.
    fn reason<'r>(&self, text: Cow<'r, str>) -> Cow<'r, str> {
        let blanks = text.replace('_', " ");
        if REASONS.contains(&*text) || SENTENCES.contains(&blanks.as_str()) {
            return text;
        }
        let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        if REASONS.contains(word) && self.keeps_codes && rest.strip_prefix(", ").is_some_and(code::is_code) {
            text
        } else if REASONS.contains(word) {
            Cow::Owned(format!("{word}, {}", self.code(Kind::Detail, rest)))
        } else {
            self.named(Kind::Detail, text)
        }
    }
}
