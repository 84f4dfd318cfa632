//! Why a partial result is refused.

use std::path::PathBuf;

use flowmine_dataset::DatasetError;
use flowmine_schema::text::visible;

/// Why a partial result cannot be written or merged. Each message names it.
#[derive(Debug, thiserror::Error)]
pub enum PartialError {
    /// A directory has no partial result.
    #[error("{}: there is no partial result in it: give the directory that `flowmine correlate --partial` wrote", .0.display())]
    None(PathBuf),
    /// The manifest cannot be read.
    #[error("{}: line {}, column {}: {source}: the manifest is damaged; make this partial result again", .path.display(), .source.line(), .source.column())]
    Manifest {
        /// Path of the manifest.
        path: PathBuf,
        /// The JSON parser's error.
        source: serde_json::Error,
    },
    /// The manifest is not what was written.
    #[error("{}: its digest is another: it was altered; make this partial result again", .0.display())]
    Altered(PathBuf),
    /// Another user can change it.
    #[error("{}: another user made this directory or can write it: make the partial result again in a directory of your own, or merge as that user", .0.display())]
    OfAnother(PathBuf),
    /// It was made by another version.
    #[error("{}: made by flowmine {made_by}, format {format}; this is flowmine {} with format {}: make it again with this version", .path.display(), env!("CARGO_PKG_VERSION"), super::FORMAT)]
    Version {
        /// Path of the partial result.
        path: PathBuf,
        /// The version that made it.
        made_by: String,
        /// Its format.
        format: u32,
    },
    /// It is of another host than its folder's name.
    #[error("{}: its manifest names the host {}: it was renamed or replaced; make it again", .path.display(), visible(.host))]
    Renamed {
        /// Path of the partial result.
        path: PathBuf,
        /// The host in the manifest.
        host: String,
    },
    /// The dataset has no host of this name.
    #[error("{}: the dataset has no host {}: this partial result is of another dataset", .path.display(), visible(.host))]
    Foreign {
        /// Path of the partial result.
        path: PathBuf,
        /// The host.
        host: String,
    },
    /// It was made of other rows than the dataset has.
    #[error("{}: made of another {file} than the dataset has: the dataset has changed since, or is another one; make it again", .path.display())]
    OtherInput {
        /// Path of the partial result.
        path: PathBuf,
        /// The file of the dataset that differs.
        file: String,
    },
    /// Two of the partial results are of one host.
    #[error("{} and {}: both are partial results of the host {}: give one of them", .first.display(), .second.display(), visible(.host))]
    Doubled {
        /// The first.
        first: PathBuf,
        /// The second.
        second: PathBuf,
        /// Their host.
        host: String,
    },
    /// Hosts have no partial result.
    #[error("no partial result of {}: make it with `flowmine correlate --host HOST --partial DIR`", listed(.0))]
    Missing(Vec<String>),
    /// A file of it is missing, damaged, or of another partial result.
    #[error("{source}: make this partial result again")]
    Damaged {
        /// What is wrong with the file.
        source: DatasetError,
    },
    /// A row cannot be one of a partial result.
    #[error("the partial result of the host {}: a row of {table} refers to nothing: make it again", visible(.host))]
    Row {
        /// The host.
        host: String,
        /// The table.
        table: &'static str,
    },
}

/// Hosts that a message names, at most.
const MOST_HOSTS: usize = 10;

fn listed(hosts: &[String]) -> String {
    let named: Vec<_> = hosts.iter().take(MOST_HOSTS).map(|host| visible(host).into_owned()).collect();
    let more = hosts.len().saturating_sub(MOST_HOSTS);
    let hosts = if hosts.len() == 1 { "the host" } else { "the hosts" };
    if more > 0 { format!("{hosts} {} and {more} more", named.join(", ")) } else { format!("{hosts} {}", named.join(", ")) }
}
