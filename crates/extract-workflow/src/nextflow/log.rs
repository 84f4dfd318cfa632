//! `.nextflow.log`: lines in, runs with their tasks out.
//!
//! A line begins with a time of day ([`super::clock`]), a thread, a level and a logger; any other
//! line continues the one before. The output of a user's script is also in the log, under other
//! loggers, and is ignored. Memory holds one line, the tasks of the runs, and at most 256 KiB of a
//! continued message.
//!
//! A log that filled its disk, or that was truncated, has a line that ends within the text: nothing
//! follows, or another line begins there.

use std::borrow::Cow;
use std::io::{self, BufRead};

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;

use super::clock::{self, Stamp};
use super::event::{Event, LEVELS, MOST_CONTINUATION};
use super::handler;
use super::names::hash_of_dir;
use super::run_builder::RunBuilder;
use super::status::Run;
use crate::input::without_escapes;
use crate::{Options, input};

/// Reads a log; a file with several logs one after the other contains several runs.
///
/// # Errors
/// When reading fails. Errors in a line are diagnostics.
pub fn read(reader: impl BufRead, mtime_ns: Option<i64>, options: &Options, diagnostics: &mut Diagnostics) -> io::Result<Vec<Run>> {
    let mut lines = input::lines(reader);
    let mut runs = Vec::new();
    let mut told = RunBuilder::default();
    let mut event: Option<Event> = None;
    let mut dumped: Option<Dumped> = None;
    while let Some((number, line)) = input::next_line(&mut lines, diagnostics)? {
        // If the file grew after a disk had lost written data, the gap contains zeros.
        let holes = line.iter().filter(|byte| **byte == 0).count();
        let line: Cow<'_, [u8]> = if holes == 0 { line.into() } else { line.iter().copied().filter(|byte| *byte != 0).collect() };
        if holes > 0 {
            let message = format!("{holes} bytes are missing here and replaced by zeros");
            diagnostics.push(Diagnostic::error("bytes_missing", message).at(number, None));
        }
        let line = text::decode(&line);
        let mut line = without_escapes(&line);
        if let Some(next) = line_within(&line) {
            let message = "this line is cut: another begins within it; the text between them is missing";
            diagnostics.push(Diagnostic::error("line_cut", message).at(number, Some(next as u64 + 1)));
            // The text about a task in the first part can be truncated as well; the second part is
            // complete.
            line = line[next..].to_owned().into();
        }
        let prefix = clock::prefix(&line);
        if (prefix.is_some() || line.starts_with("~> "))
            && let Some(dumped) = dumped.take()
        {
            dumped.tell(&mut told, diagnostics);
        }
        if let Some((month, day, ms, at)) = prefix {
            if let Some(event) = event.take() {
                told.see(event, diagnostics);
            }
            let stamp = told.clock.stamp(month, day, ms);
            if stamp.is_none() {
                let message = format!("{month:?} is no month that is known, or has no day {day}: the times of such lines are left out");
                diagnostics.push(Diagnostic::warning("month_unknown", message).at(number, Some(1)));
            }
            let this = Event::new(number, stamp, &line[at..], at);
            if this.is_launch() && !told.is_empty() {
                runs.extend(std::mem::take(&mut told).finish(options, mtime_ns, diagnostics));
                told.clock.stamp(month, day, ms);
            }
            event = Some(this);
        } else if let Some(text) = line.strip_prefix("~> ") {
            let stamp = event.as_ref().and_then(|event| event.stamp);
            dumped = Some(Dumped { line: number, stamp, text: text.to_owned(), more: String::new() });
        } else if let Some(event) = &mut event {
            if let Some(dumped) = &mut dumped {
                dumped.go_on(&line);
            }
            event.go_on(&line);
        }
    }
    if let Some(dumped) = dumped {
        dumped.tell(&mut told, diagnostics);
    }
    if let Some(mut event) = event {
        event.cut = !lines.whole && event.more.is_empty();
        if !lines.whole {
            let (line, column) = (event.line, event.column as u64 + 1);
            let message = "the file ends within this message: it was cut, or is being written";
            diagnostics.push(Diagnostic::warning("last_line_cut", message).at(line, Some(column)));
        }
        told.see(event, diagnostics);
    }
    runs.extend(told.finish(options, mtime_ns, diagnostics));
    Ok(runs)
}

/// A line of a dump of unfinished tasks with its continuation: the name of a task and its work
/// directory can contain newlines.
struct Dumped {
    line: u64,
    stamp: Option<Stamp>,
    text: String,
    more: String,
}

impl Dumped {
    fn go_on(&mut self, line: &str) {
        if self.more.len() + line.len() < MOST_CONTINUATION {
            self.more.push('\n');
            self.more.push_str(line);
        }
    }

    fn tell(self, told: &mut RunBuilder, diagnostics: &mut Diagnostics) {
        let is_whole = |text: &str| handler::parse(text).is_ok_and(|handler| handler.work_dir.and_then(hash_of_dir).is_some());
        let all = (!self.more.is_empty() && !is_whole(&self.text)).then(|| format!("{}{}", self.text, self.more.trim_end()));
        let text = all.filter(|all| is_whole(all)).unwrap_or(self.text);
        told.see_pending(&text, self.line, self.stamp, diagnostics);
    }
}

/// Returns the offset at which another line of the log begins within a line.
fn line_within(line: &str) -> Option<usize> {
    let (_, _, _, message) = clock::prefix(line)?;
    // The level follows a thread, as it does in no message.
    let begins = |at: usize| {
        clock::prefix(&line[at..]).is_some_and(|(_, _, _, after)| LEVELS.iter().any(|level| is_thread(&line[at + after..], level)))
    };
    let dashes = line[message..].match_indices('-').map(|(dash, _)| message + dash);
    // The longest suffix of the text before it that is the name of a month.
    let month_before = |dash: usize| {
        let word = line[message..dash].char_indices().rev().take_while(|(_, c)| c.is_alphabetic() || *c == '.').map(|(at, _)| message + at);
        word.filter(|at| super::months::month(&line[*at..dash]).is_some() && begins(*at)).min()
    };
    dashes.filter_map(month_before).next()
}

/// Maximum length of a thread's name in bytes.
const LONGEST_THREAD: usize = 300;

/// Whether a text begins with a thread in brackets and a level.
fn is_thread(rest: &str, level: &str) -> bool {
    let named = rest.strip_prefix('[').map(str::as_bytes).unwrap_or_default();
    let end = named.iter().take(LONGEST_THREAD).position(|byte| *byte == b']');
    end.is_some_and(|end| named[end..].starts_with(level.as_bytes()))
}
