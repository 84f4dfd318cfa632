//! Where rows lie: the folders of a table, the names of its files, and host names as parts of a
//! path.
//!
//! The input is names from a disk or from a list of steps. Anything but a name that flowmine itself
//! would give is refused as `None`, so that no name can lead elsewhere.

use flowmine_schema::tables;
use flowmine_schema::time::Day;

use crate::host_folder::{escape_host, unescape_host};
use crate::role::{DERIVED, split_owner};

/// A folder that holds files of a table: the table's own, or for a table that is split the one of a
/// host and a day.
///
/// In the order in which a table is read: by host, then by day.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf {
    table: &'static str,
    split: Option<(String, Day)>,
}

impl Leaf {
    /// The folder of a table that is not split.
    pub(crate) fn whole(table: &'static str) -> Self {
        Self { table, split: None }
    }

    /// The folder of a host and a day, of a table that is split.
    pub(crate) fn split(table: &'static str, host: &str, day: Day) -> Self {
        Self { table, split: Some((host.to_owned(), day)) }
    }

    /// The host, of a table that is split.
    pub fn host(&self) -> Option<&str> {
        self.split.as_ref().map(|(host, _)| host.as_str())
    }

    /// The day, of a table that is split.
    pub fn day(&self) -> Option<Day> {
        self.split.as_ref().map(|(_, day)| *day)
    }

    pub(crate) fn table(&self) -> &'static str {
        self.table
    }

    /// The folder's path relative to the dataset.
    pub(crate) fn folder(&self) -> String {
        match &self.split {
            None => self.table.to_owned(),
            Some((host, day)) => format!("{}/{}/{}", self.table, host_folder(host), day_folder(*day)),
        }
    }

    /// The path of one of its files relative to the dataset.
    pub(crate) fn path_of(&self, name: &PartName) -> String {
        format!("{}/{}", self.folder(), name.file_name())
    }

    /// The folder and the name in it, when a path relative to the dataset is that of a table's
    /// file.
    pub(crate) fn of_part(path: &str) -> Option<(Self, PartName)> {
        let (folder, name) = path.rsplit_once('/')?;
        Some((Self::of_folder(folder)?, PartName::new(name)?))
    }

    /// The folder with this path relative to the dataset.
    pub(crate) fn of_folder(folder: &str) -> Option<Self> {
        let mut steps = folder.split('/');
        let table = steps.next()?;
        let table = known_tables().find(|known| known.name == table)?;
        let split = match (steps.next(), steps.next(), steps.next()) {
            (None, ..) if !table.split => None,
            (Some(host), Some(day), None) if table.split => Some((of_host_folder(host)?, of_day_folder(day)?)),
            _ => return None,
        };
        Some(Self { table: table.name, split })
    }
}

fn known_tables() -> impl Iterator<Item = &'static tables::TableDef> {
    let all = tables::ALL.iter();
    #[cfg(test)]
    let all = all.chain(crate::tests::TABLES);
    all
}

/// Name of the folder of a host, percent-encoded.
pub fn host_folder(host: &str) -> String {
    format!("host={}", escape_host(host))
}

/// The host of a folder with a name that [`host_folder`] gives; `None` for other names.
pub fn of_host_folder(name: &str) -> Option<String> {
    unescape_host(name.strip_prefix("host=")?)
}

fn day_folder(day: Day) -> String {
    format!("date={day}")
}

pub(crate) fn of_day_folder(name: &str) -> Option<Day> {
    Day::parse(name.strip_prefix("date=")?)
}

/// Name of a table's file: its writer and the numbers of the writes that it contains; ordered by
/// writer, then as written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PartName {
    /// Owner of the writes in the file, see [`crate::Role::owner`].
    pub(crate) owner: Option<String>,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl PartName {
    pub(crate) fn new(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("part-")?.strip_suffix(".parquet")?;
        let (numbers, owner) = match rest.split_once('@') {
            None => (rest, None),
            Some((numbers, DERIVED)) => (numbers, Some(DERIVED.to_owned())),
            Some((numbers, owner)) => (numbers, Some(unescape_host(split_owner(owner)?.0).map(|_| owner.to_owned())?)),
        };
        let (first, last) = numbers.split_once('-')?;
        let part = Self { owner, first: first.parse().ok()?, last: last.parse().ok()? };
        (part.first <= part.last && part.file_name() == name).then_some(part)
    }

    pub(crate) fn file_name(&self) -> String {
        let owner = self.owner.as_ref().map(|owner| format!("@{owner}")).unwrap_or_default();
        format!("part-{:010}-{:010}{owner}.parquet", self.first, self.last)
    }

    pub(crate) fn covers(&self, other: &PartName) -> bool {
        self != other && self.owner == other.owner && self.first <= other.first && other.last <= self.last
    }
}
