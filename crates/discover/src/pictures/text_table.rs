//! Tables for terminals: cells in, aligned lines out. Cells are made visible here, so that no name
//! can move the cursor.

use std::fmt::Write;

use flowmine_text::visible;

/// A column of a table for a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Column {
    /// What stands above several columns; printed over the first of those that have it.
    pub group: String,
    /// What stands above the cells of the column.
    pub heading: String,
    /// Whether its cells end at the same place, as numbers do.
    pub right: bool,
    /// The cells from top to bottom, one for each row.
    pub cells: Vec<String>,
}

/// Names are not longer than this.
const WIDEST: usize = 48;

/// Writes a table; columns are two spaces apart and lines have no spaces at their ends.
pub fn write(columns: &[Column]) -> String {
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    let shown: Vec<Vec<String>> = columns.iter().map(|column| column.cells.iter().map(|cell| shortened(cell)).collect()).collect();
    let mut widths: Vec<usize> = columns.iter().zip(&shown).map(|(column, cells)| widest(column, cells)).collect();
    // A group must not run into the next one.
    let mut at = 0;
    while at < columns.len() {
        let same = columns[at..].iter().take_while(|column| column.group == columns[at].group).count();
        let there: usize = widths[at..at + same].iter().sum::<usize>() + 2 * (same - 1);
        let needed = width(&columns[at].group);
        widths[at] += needed.saturating_sub(there);
        at += same;
    }
    let mut out = String::new();
    if columns.iter().any(|column| !column.group.is_empty()) {
        group_line(&mut out, columns, &widths);
    }
    line(&mut out, columns, &widths, |column| &columns[column].heading);
    for row in 0..rows {
        line(&mut out, columns, &widths, |column| shown[column].get(row).map_or("", String::as_str));
    }
    out
}

fn widest(column: &Column, cells: &[String]) -> usize {
    cells.iter().map(|cell| width(cell)).max().unwrap_or(0).max(width(&column.heading))
}

fn group_line(out: &mut String, columns: &[Column], widths: &[usize]) {
    let mut text = String::new();
    let mut at = 0;
    while at < columns.len() {
        let same = columns[at..].iter().take_while(|column| column.group == columns[at].group).count();
        let room: usize = widths[at..at + same].iter().sum::<usize>() + 2 * (same - 1);
        let group = &columns[at].group;
        let rule = room.saturating_sub(width(group) + 1);
        let line = if group.is_empty() || same == 1 { String::new() } else { format!(" {}", "─".repeat(rule)) };
        let whole = if same == 1 && columns[at].right && !group.is_empty() {
            format!("{}{group}", " ".repeat(room.saturating_sub(width(group))))
        } else {
            format!("{group}{line}")
        };
        let _ = write!(text, "{whole}{}", " ".repeat(room.saturating_sub(width(&whole)) + 2));
        at += same;
    }
    out.push_str(text.trim_end());
    out.push('\n');
}

fn line<'a>(out: &mut String, columns: &[Column], widths: &[usize], cell: impl Fn(usize) -> &'a str) {
    let mut text = String::new();
    for (at, (column, &room)) in columns.iter().zip(widths).enumerate() {
        let cell = cell(at);
        let space = " ".repeat(room.saturating_sub(width(cell)));
        let _ = if column.right { write!(text, "{space}{cell}  ") } else { write!(text, "{cell}{space}  ") };
    }
    out.push_str(text.trim_end());
    out.push('\n');
}

/// A name as it is shown, cut in its middle where it is long.
fn shortened(cell: &str) -> String {
    // Enough for any cell; a name of megabytes is not walked.
    let head: String = cell.chars().take(4 * WIDEST).collect();
    let whole = head.len() == cell.len();
    let shown = visible(&head);
    if whole && width(&shown) <= WIDEST {
        return shown.into_owned();
    }
    let tail: Vec<char> = cell.chars().rev().take(WIDEST).collect();
    let tail: String = tail.into_iter().rev().collect();
    let tail = visible(&tail).into_owned();
    let half = WIDEST / 2;
    let mut front = String::new();
    for c in shown.chars() {
        if width(&front) + char_width(c) > half {
            break;
        }
        front.push(c);
    }
    let mut back: Vec<char> = Vec::new();
    let mut used = 0;
    for c in tail.chars().rev() {
        used += char_width(c);
        if used > WIDEST - half - 1 {
            break;
        }
        back.push(c);
    }
    front.push('…');
    front.extend(back.into_iter().rev());
    front
}

/// Columns of a terminal that a text takes.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// As wcwidth(3) has it, for the common scripts: none for marks over others, two for Chinese,
/// Japanese, Korean and most pictures.
fn char_width(c: char) -> usize {
    match c as u32 {
        0x300..=0x36f | 0x483..=0x489 | 0x591..=0x5bd | 0x610..=0x61a | 0x64b..=0x65f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff => 0,
        0x20d0..=0x20ff | 0x302a..=0x302d | 0x3099..=0x309a | 0xfe20..=0xfe2f => 0,
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xa960..=0xa97c | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff01..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1f64f | 0x1f680..=0x1f6ff | 0x1f900..=0x1f9ff => 2,
        0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn column(group: &str, heading: &str, right: bool, cells: &[&str]) -> Column {
        Column { group: group.into(), heading: heading.into(), right, cells: cells.iter().map(|cell| (*cell).to_owned()).collect() }
    }

    #[test]
    fn tables_by_hand() {
        let table = write(&[
            column("", "name", false, &["a", "日本", "x\u{1b}[2J"]),
            column("time", "mean", true, &["1s", "", "12s"]),
            column("time", "sum", true, &["10s", "2s"]),
        ]);
        let wanted = "          time ────\nname      mean  sum\na           1s  10s\n日本             2s\nx\\x1b[2J   12s\n";
        assert_eq!(table, wanted);
    }

    proptest! {
        #[test]
        fn any_name_is_one_line(name in any::<String>(), again in 0usize..40) {
            let name = name.repeat(again);
            let table = write(&[column("", "n", false, &[&name]), column("", "m", true, &["1"])]);
            prop_assert_eq!(table.lines().count(), 2);
            prop_assert!(table.lines().all(|line| width(line) <= WIDEST + 3));
            prop_assert!(!table.chars().any(|c| c != '\n' && flowmine_text::is_unsafe(c)));
        }
    }
}
