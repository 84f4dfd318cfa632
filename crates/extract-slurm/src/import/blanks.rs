//! squeue's text with blanks between its columns: fixed widths (`squeue`, `-l`, `-O`), or one blank
//! and no widths (`-o "%a %i %E %o %T %g"`, as the case study has it).
//!
//! Names, commands and reasons hold blanks too. With fixed widths a column is where the header and
//! all rows have a blank between it and the next. Without, a row is taken only when exactly one way
//! to give its words to the columns makes the job id a job id, the state one of the 24, the
//! dependency a dependency, times times and numbers numbers, and keeps user, account, group and the
//! like to one word each; a row with none or several such ways is rejected with its line, never
//! guessed.

use std::borrow::Cow;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_slurm::dependency;
use flowmine_slurm::state::State;
use flowmine_slurm::units;

use super::error::{ImportError, usable};
use super::kind::FileKind;
use super::squeue_columns::{Column, Columns, is_known_state, is_plausible, record};
use super::table::{self, FORGERY};
use super::zone::Zone;
use crate::record::JobRecord;
use crate::squeue::Field;
use flowmine_slurm::units::shown;

/// Most words that a row may have; more is no row of squeue.
const MOST_WORDS: usize = 20_000;

/// A row's cells, or why it is rejected.
type Split<'a> = Result<Vec<&'a [u8]>, Rejected>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rejected {
    NoWay,
    SeveralWays,
    Misaligned,
}

/// Reads the rows below a header.
pub(super) fn read<'a>(
    bytes: &'a [u8],
    header: &'a [u8],
    header_line: u64,
    zone: &mut Zone,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<JobRecord<'a>>, ImportError> {
    let kind = FileKind::SqueueText;
    let spans = spans(header);
    let names: Vec<&[u8]> = spans.iter().map(|&(begin, end)| &header[begin..end]).collect();
    let mut columns = Columns::new(&names, true, kind, header_line)?;
    let mut rows = Vec::new();
    for (number, line) in table::lines(bytes).map(|(number, line)| (number + header_line, line)) {
        if line.trim_ascii() == header.trim_ascii() {
            return Err(ImportError::SeveralPolls { line: number });
        }
        if !line.trim_ascii().is_empty() {
            rows.push((number, line));
        }
    }

    let layout = Layout::new(header, &spans, &rows);
    let aligned: Vec<Split<'a>> = rows.iter().map(|(_, row)| layout.split(row, &columns.columns)).collect();
    let single = spans.windows(2).all(|pair| pair[1].0 - pair[0].1 == 1) && spans.first().is_some_and(|first| first.0 == 0);
    let words: Vec<Split<'a>> = rows.iter().map(|(_, row)| assign(row, &columns.columns)).collect();
    let good = |split: &[Split<'a>]| split.iter().filter(|row| row.is_ok()).count();
    let (by_words, by_width) = (good(&words), good(&aligned));
    let fixed = if single { by_width > by_words } else { by_width >= by_words };
    let chosen = if fixed { aligned } else { words };

    let first_id = columns.columns.iter().position(|&column| column == Column::JobId);
    let displayed_first = first_id.is_some_and(|at| chosen.iter().flatten().any(|cells| units::digits(cells[at]).is_none()));
    columns.resolve_ids(displayed_first);
    let mut records = Vec::with_capacity(chosen.len());
    let mut rejected = 0;
    let mut last_used = None;
    for ((number, row), cells) in rows.iter().zip(chosen) {
        let cells = match cells {
            Ok(cells) => cells,
            Err(why) => {
                rejected += 1;
                diagnostics.push(why.tell(row).at(*number, None));
                continue;
            }
        };
        if let Some(mut record) = record(&columns, &cells, *number, zone, diagnostics) {
            if let State::Other(word) = &record.state
                && let Some(state) = state_beginning(word.as_bytes())
            {
                record.state = state;
            }
            if let Some(expression) = record.dependency.take() {
                record.dependency = whole_terms(expression, *number, diagnostics);
            }
            records.push(record);
            last_used = Some(*number);
        }
    }
    if let Some(last) = last_used.filter(|&last| !bytes.ends_with(b"\n") && rows.last().is_some_and(|&(number, _)| number == last)) {
        let message = "the last line has no newline: its last field may be cut short";
        diagnostics.push(Diagnostic::warning("no_last_newline", message).at(last, None));
    }
    if fixed && let Some((line, name)) = layout.first_filled(&rows, &columns.columns, &names) {
        let message = format!("column {name} has a fixed width and is filled to it: longer values were cut short and cannot be restored");
        let advice = "record with a separator and no widths, as in squeue -o '%i|%j|%T', or with flowmine observe";
        diagnostics.push(Diagnostic::warning("columns_cut", message).at(line, None).advise(advice));
    }
    usable(kind, records.len(), rejected, diagnostics)?;
    Ok(records)
}

impl Rejected {
    fn tell(self, row: &[u8]) -> Diagnostic {
        let seen = shown(row);
        match self {
            Rejected::NoWay => Diagnostic::error("row_rejected", format!("{seen:?} does not fit the header")).advise(FORGERY),
            Rejected::SeveralWays => {
                Diagnostic::error("row_ambiguous", format!("{seen:?} fits the header in several ways, because values hold blanks"))
                    .advise("record with a separator, as in squeue -o '%i|%j|%T', or with flowmine observe")
            }
            Rejected::Misaligned => {
                Diagnostic::error("row_rejected", format!("{seen:?} does not keep to the columns of the header")).advise(FORGERY)
            }
        }
    }
}

/// Where the words of a header begin and end.
fn spans(header: &[u8]) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut begin = None;
    for (at, &byte) in header.iter().chain(b" ").enumerate() {
        match (byte, begin) {
            (b' ', Some(from)) => {
                spans.push((from, at));
                begin = None;
            }
            (b' ', None) => {}
            (_, None) => begin = Some(at),
            _ => {}
        }
    }
    spans
}

/// Whether a column's value is one word, so that it has no blank in it.
fn is_word(column: Column) -> bool {
    !matches!(
        column,
        Column::Field(Field::Name | Field::Command | Field::WorkDir | Field::Comment | Field::Reason) | Column::NodesOrReason | Column::Any
    )
}

/// Returns whether a word can be the value of a column that holds one word.
fn fits(column: Column, word: &[u8]) -> bool {
    match column {
        Column::Field(Field::NodeList) => true,
        _ if word.is_empty() => false,
        Column::Field(Field::State) => is_known_state(word),
        Column::Field(Field::Dependency) => std::str::from_utf8(word).is_ok_and(|word| dependency::parse(word).is_ok()),
        Column::Field(Field::TimeLimit) => units::duration(word).is_ok(),
        Column::Field(Field::Nodes | Field::Cpus) => units::count(word).is_ok(),
        Column::Field(Field::Memory) => units::memory(word).is_ok(),
        _ => is_plausible(column, word),
    }
}

/// The state that a word cut short by its column begins, when only one does.
fn state_beginning(word: &[u8]) -> Option<State> {
    let mut found = State::ALL.into_iter().filter(|state| word.len() >= 4 && state.name().as_bytes().starts_with(word));
    found.next().filter(|_| found.next().is_none())
}

/// A dependency that its column cut short, up to its last whole term.
fn whole_terms<'a>(expression: Cow<'a, str>, line: u64, diagnostics: &mut Diagnostics) -> Option<Cow<'a, str>> {
    let Err(dependency::NotUnderstood(at)) = dependency::parse(&expression) else { return Some(expression) };
    let whole = expression.get(..at).unwrap_or_default().trim_end_matches([',', '?']);
    let message = format!("the dependency {:?} was cut short by its column; read up to its last whole term", shown(expression.as_bytes()));
    diagnostics.push(Diagnostic::warning("dependency_cut", message).at(line, None));
    (!whole.is_empty()).then(|| Cow::Owned(whole.to_owned()))
}

/// Layout of a text table with columns of fixed width, as squeue(1) prints it.
struct Layout {
    /// For each column but the last: the byte between it and the next.
    gaps: Vec<usize>,
    /// Whether the file is of `-O`: flush left, no blank between columns, the last one padded too.
    /// A value that fills its column touches the next.
    touching: bool,
}

impl Layout {
    fn new(header: &[u8], spans: &[(usize, usize)], rows: &[(u64, &[u8])]) -> Self {
        let touching = header.ends_with(b" ") && spans.first().is_some_and(|first| first.0 == 0);
        let gaps = spans.windows(2).map(|pair| {
            let (from, to) = (pair[0].1, pair[1].0);
            if touching {
                return to - 1;
            }
            let filled = |at: usize| rows.iter().filter(|(_, row)| row.get(at).is_some_and(|&b| b != b' ')).count();
            // A column that is flush right ends with its header; one that is flush left begins with it.
            let (ends, begins) = (filled(from), filled(to - 1));
            if ends.min(begins) * 10 > rows.len() {
                // One flush left and the next flush right: somewhere between.
                (from..to).take(200).min_by_key(|&at| filled(at)).unwrap_or(from)
            } else if begins < ends {
                to - 1
            } else {
                from
            }
        });
        Self { gaps: gaps.collect(), touching }
    }

    fn split<'a>(&self, row: &'a [u8], columns: &[Column]) -> Split<'a> {
        let mut cells = Vec::with_capacity(columns.len());
        let mut begin = 0;
        for &gap in &self.gaps {
            let mut end = gap;
            if row.get(gap).is_some_and(|&b| b != b' ') {
                if !self.touching {
                    return Err(Rejected::Misaligned);
                }
                end = gap + 1;
            }
            cells.push(row.get(begin..end.min(row.len())).unwrap_or_default().trim_ascii());
            begin = gap + 1;
        }
        cells.push(row.get(begin..).unwrap_or_default().trim_ascii());
        let good = columns.iter().zip(&cells).all(|(&column, cell)| match column {
            Column::Field(Field::State) => is_known_state(cell) || state_beginning(cell).is_some(),
            _ if is_word(column) => is_plausible(column, cell) && !cell.contains(&b' '),
            _ => true,
        });
        if good { Ok(cells) } else { Err(Rejected::NoWay) }
    }

    /// The first value of text that fills its column.
    fn first_filled(&self, rows: &[(u64, &[u8])], columns: &[Column], names: &[&[u8]]) -> Option<(u64, String)> {
        rows.iter().find_map(|&(number, row)| {
            let mut begin = 0;
            for ((&gap, &column), name) in self.gaps.iter().zip(columns).zip(names) {
                let cell = row.get(begin..gap).unwrap_or_default();
                let fills = cell.len() >= 4 && cell.first() != Some(&b' ') && cell.last() != Some(&b' ') && row.get(gap).is_some();
                let is_text = !is_word(column)
                    || matches!(
                        column,
                        Column::Field(
                            Field::DisplayedId
                                | Field::RawId
                                | Field::User
                                | Field::Group
                                | Field::Account
                                | Field::Partition
                                | Field::Qos
                                | Field::Dependency
                        )
                    );
                if fills && is_text {
                    return Some((number, shown(name)));
                }
                begin = gap + 1;
            }
            None
        })
    }
}

/// Gives the words of a row to the columns, when there is exactly one way.
fn assign<'a>(row: &'a [u8], columns: &[Column]) -> Split<'a> {
    let mut words = vec![(0, 0)];
    words.clear();
    let mut begin = 0;
    for end in memchr::memchr_iter(b' ', row).chain([row.len()]) {
        words.push((begin, end));
        begin = end + 1;
        if words.len() > MOST_WORDS {
            return Err(Rejected::NoWay);
        }
    }
    // ways[c][w]: number of ways in which the first c columns take the first w words; 2 means two
    // or more.
    let (width, count) = (columns.len(), words.len());
    let mut ways = vec![vec![0u8; count + 1]; width + 1];
    ways[0][0] = 1;
    for (c, &column) in columns.iter().enumerate() {
        for w in 1..=count {
            ways[c + 1][w] = if is_word(column) {
                if ways[c][w - 1] > 0 && fits(column, &row[words[w - 1].0..words[w - 1].1]) { ways[c][w - 1] } else { 0 }
            } else {
                // It begins with this word, or goes on.
                (ways[c][w - 1] + ways[c + 1][w - 1]).min(2)
            };
        }
    }
    match ways[width][count] {
        0 => return Err(Rejected::NoWay),
        1 => {}
        _ => return Err(Rejected::SeveralWays),
    }
    let mut cells = vec![&row[..0]; width];
    let mut w = count;
    for (c, &column) in columns.iter().enumerate().rev() {
        let end = words[w - 1].1;
        w -= 1;
        while !is_word(column) && ways[c][w] == 0 {
            w -= 1;
        }
        cells[c] = &row[words[w].0..end];
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::squeue_columns::column;

    fn columns(header: &str) -> Vec<Column> {
        header.split(' ').map(|name| column(name.as_bytes()).unwrap()).collect()
    }

    fn check(header: &str, row: &str, expected: Result<&[&str], Rejected>) {
        let cells = assign(row.as_bytes(), &columns(header))
            .map(|cells| cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect::<Vec<_>>());
        assert_eq!(cells, expected.map(|cells| cells.iter().map(|&cell| cell.to_owned()).collect()));
    }

    const CASE_STUDY: &str = "ACCOUNT JOBID DEPENDENCY COMMAND STATE GROUP";

    #[test]
    fn commands_with_blanks_between_pinned_columns() {
        check(CASE_STUDY, "acc 7 (null) /x/a b.sh 1 2 RUNNING grp", Ok(&["acc", "7", "(null)", "/x/a b.sh 1 2", "RUNNING", "grp"]));
        check(CASE_STUDY, "acc 7 (null) /x/a.sh RUNNING g RUNNING grp", Ok(&["acc", "7", "(null)", "/x/a.sh RUNNING g", "RUNNING", "grp"]));
        check(CASE_STUDY, "acc 7 (null)  RUNNING grp", Ok(&["acc", "7", "(null)", "", "RUNNING", "grp"]));
        check(CASE_STUDY, "acc 7 (null) /x RUNNING two words", Err(Rejected::NoWay));
        check(CASE_STUDY, "4242 forged", Err(Rejected::NoWay));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_not_read() {
        check("JOBID NAME COMMAND STATE", "7 a /b RUNNING", Ok(&["7", "a", "/b", "RUNNING"]));
        check("JOBID NAME COMMAND STATE", "7 a b /c RUNNING", Err(Rejected::SeveralWays));
        check("JOBID NAME STATE COMMAND", "7 a RUNNING RUNNING x", Err(Rejected::SeveralWays));
    }

    #[test]
    fn an_empty_list_of_nodes_is_one() {
        check("JOBID NODELIST STATE", "7  PENDING", Ok(&["7", "", "PENDING"]));
    }

    #[test]
    fn states_that_a_width_cuts() {
        assert_eq!(state_beginning(b"PENDI"), Some(State::Pending));
        assert_eq!(state_beginning(b"COMPLET"), None);
        assert_eq!(state_beginning(b"COMPLETE"), Some(State::Completed));
    }
}
