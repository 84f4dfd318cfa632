//! Reads and writes: by activity and by file, and what is noteworthy.

use flowmine_discover::io_profile::{Profile, Sums};
use flowmine_discover::pictures::io_profile as figure;
use flowmine_draw::text::counted;
use flowmine_draw::{axis, duration};
use flowmine_schema::text::visible;

use crate::ReportError;
use crate::block::{Block, Fact, Section, Table};
use crate::column::{Column, Kind};
use crate::results::Results;

/// The most rows of a table of files.
const MOST_FILES: usize = 20_000;
/// Number of pieces of advice in sentences.
const ADVICE: usize = 5;

/// The section.
pub fn section(results: &Results) -> Result<Section, ReportError> {
    let blocks = match &results.profile {
        Ok(found) => of_profile(found)?,
        Err(_) => vec![Block::missing(
            "Reads and writes were not traced.",
            "Run the command or workflow under flowmine trace, then correlate the dataset.",
        )],
    };
    Ok(Section { id: "io", title: "I/O", question: "Reads and writes by activity and file.", blocks })
}

fn of_profile(found: &Profile) -> Result<Vec<Block>, ReportError> {
    let total = &found.total;
    let time: i128 = total.operations.iter().map(|kind| kind.time_ns).sum();
    let mut blocks = vec![Block::Facts(vec![
        Fact::new("Read", axis::bytes(total.read_bytes)),
        Fact::new("Written", axis::bytes(total.written_bytes)),
        Fact::new("Read again", axis::bytes(total.read_again_bytes)).note("bytes that the same process had read before"),
        Fact::new("Time in operations", duration(time as f64)).note("all threads added up"),
        Fact::new("Files", counted(found.files.len() as u64, "file", "files")),
    ])];
    if !found.advice.is_empty() {
        let words = found.advice.iter().take(ADVICE).map(|advice| {
            let group = advice.group.as_deref().map_or_else(|| "All together".to_owned(), |group| visible(group).into_owned());
            format!(
                "{group}: {}. Action: {}. At most {} can be gained.",
                visible(&advice.seen),
                advice.advice,
                duration(advice.time_ns as f64)
            )
        });
        blocks.push(Block::List(words.collect()));
    }
    blocks.push(Block::figure("profile", "How files are read and written, by activity.", &figure::svg(found))?);
    blocks.push(Block::Table(groups(found)?));
    blocks.push(Block::Table(files(found)?));
    Ok(blocks)
}

fn groups(found: &Profile) -> Result<Table, ReportError> {
    let rows = &found.groups;
    let columns = [
        Column::text(found.by, rows.iter().map(|row| Some(row.name.as_str()))),
        Column::numbers("tasks", Kind::Count, rows.iter().map(|row| Some(row.tasks.into()))),
        Column::numbers("processes", Kind::Count, rows.iter().map(|row| Some(row.processes.into()))),
        Column::numbers("read", Kind::Bytes, rows.iter().map(|row| Some(row.read_bytes.into()))),
        Column::numbers("written", Kind::Bytes, rows.iter().map(|row| Some(row.written_bytes.into()))),
        Column::numbers("read again", Kind::Bytes, rows.iter().map(|row| Some(row.read_again_bytes.into()))),
        Column::numbers(
            "operations",
            Kind::Count,
            rows.iter().map(|row| Some(row.operations.iter().map(|kind| i128::from(kind.count)).sum())),
        ),
        Column::duration("time in operations", rows.iter().map(|row| Some(row.operations.iter().map(|kind| kind.time_ns).sum()))),
    ];
    Table::new("iogroups", format!("Reads and writes by {}", found.by), &columns)
}

fn files(found: &Profile) -> Result<Table, ReportError> {
    let rows = &found.files[..found.files.len().min(MOST_FILES)];
    let number = |name, kind, of: fn(&Sums) -> i128| Column::numbers(name, kind, rows.iter().map(|row| Some(of(&row.sums))));
    let columns = [
        Column::text("file", rows.iter().map(|row| Some(row.path.as_str()))),
        Column::numbers("processes", Kind::Count, rows.iter().map(|row| Some(row.processes.into()))),
        number("read", Kind::Bytes, |sums| sums.read_bytes.into()),
        number("written", Kind::Bytes, |sums| sums.written_bytes.into()),
        number("reads", Kind::Count, |sums| sums.read_calls.into()),
        number("writes", Kind::Count, |sums| sums.write_calls.into()),
        number("opens", Kind::Count, |sums| sums.opens.into()),
        Column::duration("time", rows.iter().map(|row| Some(row.sums.time_ns.into()))),
    ];
    let table = Table::new("files", "Files", &columns)?;
    let all = found.files.len();
    Ok(if all > rows.len() {
        table.left_out(format!(
            "The {} with most bytes of {} are in this table. flowmine discover io-profile --table files --format csv writes all.",
            counted(rows.len() as u64, "file", "files"),
            counted(all as u64, "file", "files")
        ))
    } else {
        table
    })
}
