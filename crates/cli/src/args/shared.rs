//! Arguments that several commands take.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

/// Who may read what is written.
#[derive(Debug, Args)]
pub struct Kept {
    /// Make the dataset for its owner alone (modes 0700 and 0600, whatever the umask lets); a
    /// dataset that is so stays so without this.
    #[arg(long)]
    pub private: bool,
    /// As whom it is written.
    #[command(flatten)]
    pub written: AsOwner,
}

/// As whom a dataset is written.
#[derive(Debug, Clone, Copy, Args)]
pub struct AsOwner {
    /// For root: write into a dataset that belongs to another user, as that user. Without it root
    /// refuses, since whoever owns a directory can put anything into the way of who writes there.
    #[arg(long)]
    pub as_owner: bool,
}

/// Where a log comes from.
#[derive(Debug, Args, Clone)]
#[group(required = true, multiple = true)]
pub struct SourceArgs {
    /// Sources, recognised by their content: a dataset, log files (XES, OCEL), tables (CSV,
    /// Parquet), recordings of squeue or sacct, I/O traces, files and directories of workflow
    /// engines. Several are read together.
    #[arg(value_name = "PATH", conflicts_with = "dataset")]
    pub paths: Vec<PathBuf>,
    /// The dataset.
    #[arg(long, value_name = "DIR")]
    pub dataset: Option<PathBuf>,
    /// A log file instead of a dataset: XES, OCEL; with --dataset the name of a log that was
    /// imported into it. `discover` also takes tables (CSV, Parquet), `-` for standard input, and
    /// several files (--log A --log B) as one log, such as those of `export --part`.
    #[arg(long, value_name = "FILE")]
    pub log: Vec<PathBuf>,
}

impl SourceArgs {
    /// The sources as they were given.
    pub fn names(&self) -> impl Iterator<Item = &PathBuf> {
        let resolved = self.paths.is_empty().then_some(self.dataset.iter().chain(&self.log));
        self.paths.iter().chain(resolved.into_iter().flatten())
    }

    /// The dataset, when no log is asked for.
    pub fn only_dataset(&self) -> Option<&Path> {
        self.dataset.as_deref().filter(|_| self.log.is_empty())
    }
}

/// The dataset of a command that reads only datasets.
#[derive(Debug, Args, Clone)]
#[group(required = true, multiple = false)]
pub struct DatasetArgs {
    /// A dataset, or sources of one, recognised by their content: recordings of squeue or sacct,
    /// I/O traces, files and directories of workflow engines.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The dataset.
    #[arg(long, value_name = "DIR")]
    pub dataset: Option<PathBuf>,
}

impl DatasetArgs {
    /// Directory of the dataset. Paths are recognised before a command runs.
    ///
    /// # Errors
    /// When there is none.
    pub fn dir(&self) -> anyhow::Result<&Path> {
        self.dataset.as_deref().ok_or_else(|| anyhow::anyhow!("there is no dataset: give PATH or --dataset DIR"))
    }
}

/// Which events to look at.
#[derive(Debug, Args, Clone, Default)]
#[command(next_help_heading = "Filters")]
pub struct FilterArgs {
    /// Only jobs of this account; may be given more than once.
    #[arg(long, value_name = "NAME")]
    pub account: Vec<String>,
    /// Only jobs of this user; may be given more than once.
    #[arg(long, value_name = "NAME")]
    pub user: Vec<String>,
    /// Only events at or after this time: 2026-11-20, 2026-11-20T13:00 (UTC), with a zone, today,
    /// yesterday (UTC), or 2h, 3d (before now).
    #[arg(long, visible_alias = "since", value_name = "TIME", value_parser = time)]
    pub from: Option<i64>,
    /// Only events before this time.
    #[arg(long, visible_alias = "until", value_name = "TIME", value_parser = time)]
    pub to: Option<i64>,
}

/// Which moment of an observed interval counts as an event's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum TimestampArg {
    /// What Slurm itself says, within the interval; the interval's end where Slurm says nothing.
    #[default]
    Reported,
    /// The interval's end: when the change was seen.
    ObservedAt,
    /// The interval's beginning.
    NotBefore,
}

pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let bad = || format!("{text:?} is not a length of time such as 30s, 2m or 1h");
    let (number, unit) = match text.char_indices().find(|(_, c)| c.is_ascii_alphabetic()) {
        Some((at, _)) => text.split_at(at),
        None => (text, "s"),
    };
    let number: f64 = number.trim().parse().map_err(|_| bad())?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86_400.0,
        "w" => number * 604_800.0,
        _ => return Err(bad()),
    };
    if (0.001..=366.0 * 86_400.0).contains(&seconds) { Ok(Duration::from_secs_f64(seconds)) } else { Err(bad()) }
}

pub(crate) fn time(text: &str) -> Result<i64, String> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
    time_at(text, now)
}

/// A time, or how long before `now` it is.
pub(crate) fn time_at(text: &str, now: i64) -> Result<i64, String> {
    const DAY_NS: i64 = 86_400 * flowmine_schema::time::SECOND_NS;
    let today = now - now.rem_euclid(DAY_NS);
    match text {
        "now" => return Ok(now),
        "today" => return Ok(today),
        "yesterday" => return Ok(today - DAY_NS),
        _ => {}
    }
    if let Some(before) = text.ends_with(|c: char| c.is_ascii_alphabetic()).then(|| duration(text).ok()).flatten() {
        return i64::try_from(before.as_nanos())
            .ok()
            .and_then(|before| now.checked_sub(before))
            .ok_or_else(|| format!("{text:?} is too long ago"));
    }
    flowmine_schema::time::parse(text).ok_or_else(|| {
        format!(
            "{text:?} is not a time such as 2026-11-20, 2026-11-20T13:04:05 (UTC), 2026-11-20T13:04:05+01:00, seconds since 1970, \
             today, yesterday (from 0:00 UTC), or 90m, 2h, 3d, 2w (before now)"
        )
    })
}
