//! What the batch commands share: a dataset's jobs, filters and notions as resolved from the arguments.

use std::path::Path;

use flowmine_correlate::cases::{self, CaseNotion};
use flowmine_correlate::{Filter, Jobs, Timestamp};
use flowmine_schema::{Dataset, time};

use crate::args::{FilterArgs, TimestampArg};
use crate::messages;
use crate::progress::Stage;

/// Opens a dataset and folds its rows into jobs.
pub fn read(dir: &Path, timestamp: TimestampArg) -> anyhow::Result<(Dataset, Jobs)> {
    let dataset = Dataset::open(dir)?;
    let _stage = Stage::new("reading the dataset");
    let jobs = Jobs::read(&dataset, self::timestamp(timestamp))?;
    messages::diagnostics("dataset", &jobs.diagnostics);
    Ok((dataset, jobs))
}

fn timestamp(arg: TimestampArg) -> Timestamp {
    match arg {
        TimestampArg::Reported => Timestamp::Reported,
        TimestampArg::ObservedAt => Timestamp::ObservedAt,
        TimestampArg::NotBefore => Timestamp::NotBefore,
    }
}

/// The filter that was asked for; names that no job has are said, because an empty result would look like an empty cluster.
pub fn filter(args: &FilterArgs, jobs: &Jobs) -> anyhow::Result<Filter> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && from >= to
    {
        anyhow::bail!("--from {} is not before --to {}: no event can be between them", time::rfc3339(from), time::rfc3339(to));
    }
    for (option, names) in [("--account", &args.account), ("--user", &args.user)] {
        for name in names {
            let known = jobs.attempts.iter().any(|attempt| {
                let of_attempt = if option == "--user" { attempt.user } else { attempt.account };
                jobs.text_of(of_attempt) == Some(name.as_str())
            });
            if !known {
                messages::warning(&format!("{option} {name:?}: no job in the dataset has it"));
            }
        }
    }
    Ok(Filter { accounts: args.account.clone(), users: args.user.clone(), from_ns: args.from, to_ns: args.to })
}

/// A filter in words, for pictures.
pub fn filter_words(args: &FilterArgs) -> Vec<String> {
    let mut words = Vec::new();
    for (what, names) in [("account", &args.account), ("user", &args.user)] {
        if !names.is_empty() {
            words.push(format!("{what} {}", names.join(" or ")));
        }
    }
    words.extend(args.from.map(|from| format!("from {}", time::rfc3339(from))));
    words.extend(args.to.map(|to| format!("before {}", time::rfc3339(to))));
    words
}

/// The notion of that name.
pub fn notion(name: &str) -> anyhow::Result<&'static dyn CaseNotion> {
    cases::find(name).ok_or_else(|| {
        let known: Vec<String> = cases::ALL.iter().map(|notion| format!("{} ({})", notion.name(), notion.description())).collect();
        anyhow::anyhow!("there is no case notion {name:?}; there are: {}", known.join(", "))
    })
}
