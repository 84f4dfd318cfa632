//! Resources: requested against used, what was lost, and what to request.

use flowmine_discover::requests::{Request, Suggestion};
use flowmine_discover::resources::{Group, Row};
use flowmine_draw::axis::percent;

use super::words::{core_hours, share};
use crate::ReportError;
use crate::block::{Block, Fact, Section, Table};
use crate::column::{Column, Kind};
use crate::results::{LogResults, Results};

/// The dimensions that have a table here.
const DIMENSIONS: [(&str, &str, &str); 4] = [
    ("activity", "resourcesbyactivity", "Resources by activity"),
    ("user", "resourcesbyuser", "Resources by user"),
    ("account", "resourcesbyaccount", "Resources by account"),
    ("partition", "resourcesbypartition", "Resources by partition"),
];

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let mut blocks = Vec::new();
    match &results.log {
        Ok(found) if found.resources.total.core_ns.is_some() => blocks.extend(of_log(found)?),
        _ => blocks.push(Block::missing(
            "Requested and used resources are not known.",
            "Import sacct, or a workflow engine's trace with cpus, %cpu, memory and peak_rss.",
        )),
    }
    Ok(Section { id: "resources", title: "Resources", question: "Requested and used resources, and suggested requests.", blocks })
}

fn of_log(found: &LogResults) -> Result<Vec<Block>, ReportError> {
    let total = &found.resources.total;
    let core_ns = total.core_ns.unwrap_or(0);
    let mut facts = vec![Fact::new("Occupied", core_hours(core_ns))];
    for (name, lost) in [("Lost to failures", total.failed_core_ns), ("Cancelled", total.cancelled_core_ns), ("Idle", total.idle_core_ns)] {
        if let Some(lost) = lost.filter(|lost| *lost > 0) {
            facts.push(Fact::new(name, core_hours(lost)).note(share(lost, core_ns).unwrap_or_default()));
        }
    }
    for (name, used) in
        [("CPU used", total.cpu_efficiency), ("Memory used", total.memory_efficiency), ("Time limit used", total.time_efficiency)]
    {
        facts.push(match used {
            Some(used) => Fact::new(name, percent(used)),
            None => Fact::new(name, "not known").note("not recorded by the source"),
        });
    }
    let mut blocks = vec![Block::Facts(facts)];
    if !found.requests.activities.is_empty() {
        blocks.push(Block::Table(requests(&found.requests.activities)?));
        blocks.push(Block::Text(
            "A suggestion is the largest use plus 20 %; CPUs have no margin. \
             The command flowmine discover requests writes suggestions for Slurm, Nextflow and Snakemake."
                .to_owned(),
        ));
    }
    for (name, id, title) in DIMENSIONS {
        if let Some(group) = found.resources.by.iter().find(|group| group.name == name).filter(|group| !group.rows.is_empty()) {
            blocks.push(Block::Table(by(group, id, title)?));
        }
    }
    Ok(blocks)
}

fn requests(rows: &[Request]) -> Result<Table, ReportError> {
    let of = |name, kind, of: &dyn Fn(&Request) -> Option<i64>| Column::numbers(name, kind, rows.iter().map(|row| of(row).map(i128::from)));
    let time = |name, of: &dyn Fn(&Suggestion) -> Option<i64>| {
        Column::duration(name, rows.iter().map(|row| row.time_ns.as_ref().and_then(of).map(i128::from)))
    };
    let columns = [
        Column::text("activity", rows.iter().map(|row| Some(row.activity.as_str()))),
        Column::numbers("instances", Kind::Count, rows.iter().map(|row| Some(row.instances.into()))),
        time("time limit requested", &|of| of.asked),
        time("used at most", &|of| Some(of.used)),
        time("suggested", &|of| Some(of.suggested)),
        of("memory requested", Kind::Bytes, &|row| row.memory_bytes?.asked),
        of("memory used at most", Kind::Bytes, &|row| row.memory_bytes.map(|of| of.used)),
        of("memory suggested", Kind::Bytes, &|row| row.memory_bytes.map(|of| of.suggested)),
        of("CPUs requested", Kind::Count, &|row| row.cpus?.asked),
        of("CPUs used at most", Kind::Count, &|row| row.cpus.map(|of| of.used)),
        of("CPUs suggested", Kind::Count, &|row| row.cpus.map(|of| of.suggested)),
        Column::core_hours("core-hours saved", rows.iter().map(|row| row.cpus.and_then(|of| of.saved))),
    ];
    Table::new("requests", "Suggested requests", &columns)
}

fn by(group: &Group, id: &'static str, title: &'static str) -> Result<Table, ReportError> {
    let rows = &group.rows;
    let core = |name, of: fn(&Row) -> Option<i128>| Column::core_hours(name, rows.iter().map(of));
    let columns = [
        Column::text(group.name, rows.iter().map(|row| Some(row.value.as_str()))),
        Column::numbers("instances", Kind::Count, rows.iter().map(|row| Some(row.instances.into()))),
        Column::duration("run, sum", rows.iter().map(|row| Some(row.elapsed_ns))),
        core("core-hours", |row| row.core_ns),
        core("failed", |row| row.failed_core_ns),
        core("cancelled", |row| row.cancelled_core_ns),
        core("idle", |row| row.idle_core_ns),
        Column::share("CPU used", rows.iter().map(|row| row.cpu_efficiency)),
        Column::share("memory used", rows.iter().map(|row| row.memory_efficiency)),
        Column::share("time limit used", rows.iter().map(|row| row.time_efficiency)),
    ];
    Table::new(id, title, &columns)
}
