//! What figures of directly-follows graphs show.

use flowmine_discover::pictures::dfg::{Options, Show, Statistic};

use super::Grouped;
use crate::options::{Choice, Group, Kind, OptionSpec, Values};

/// What figures of directly-follows graphs show; the other formats have everything.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure(pub Options);

impl Choice for Statistic {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("median", "The median", Self::Median),
        ("mean", "The arithmetic mean", Self::Mean),
        ("p95", "The 95th percentile", Self::P95),
        ("max", "The longest", Self::Max),
        ("sum", "The sum", Self::Sum),
    ];
}

impl Choice for Show {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("path", "Where the time is: critical paths of cases coloured, the rest pale", Self::Path),
        ("all", "Frequency, duration, bytes", Self::All),
        ("frequency", "Frequency", Self::Frequency),
        ("time", "Duration", Self::Time),
        ("bytes", "Bytes", Self::Bytes),
    ];
}

impl Grouped for Figure {
    const GROUP: &'static Group = &Group {
        heading: "Figure",
        options: &[
            OptionSpec::choice::<Statistic>("time", "STATISTIC", "Statistic of the times of nodes and edges").by_default("median"),
            OptionSpec::choice::<Show>("show", "WHAT", "Labels and colours of nodes and edges").by_default("path"),
            OptionSpec::new("coverage", "PERCENT", Kind::Percent, "Show the most frequent edges up to this share of all steps")
                .details("By default all edges of a small graph; of a larger one 80, and about fifty edges at most"),
            OptionSpec::new("min-count", "N", Kind::Count, "Leave out activities and edges that occur less often").by_default("0"),
            OptionSpec::new("most-activities", "N", Kind::Count, "Maximum number of activities, the most frequent ones").by_default("60"),
        ],
    };

    fn read(values: &Values) -> Self {
        let usual = Options::default();
        Self(Options {
            time: values.choice("time").unwrap_or(usual.time),
            show: values.choice("show").unwrap_or(usual.show),
            coverage: values.number("coverage"),
            min_count: values.count("min-count").unwrap_or(usual.min_count),
            most_activities: values.count("most-activities").map_or(usual.most_activities, |n| n as usize),
            ..usual
        })
    }
}
