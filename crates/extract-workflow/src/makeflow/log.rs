//! `.makeflowlog`: lines in, runs with their attempts out.
//!
//! ```text
//! # COMMAND 0 wc -w < a > b                           between tabs; with --log-verbose, before the run begins
//! # STARTED 1795318114504024                          microseconds since 1970
//! # FILE 1795318114520478 b 2 16755                   name, state (2: it exists), bytes
//! 1795318114508267 0 1 2521 3 1 0 0 0 4               node, state, job; waiting, running, complete, failed, aborted; total
//! # COMPLETED 1795318115548090                        also when rules failed
//! ```
//!
//! A node is a rule, numbered from 0 in the order of the workflow file. Its states: 0 waiting, 1
//! running, 2 complete, 3 failed, 4 aborted.
//!
//! Versions of cctools differ in their marks. Until 2015 a tab follows `STARTED` and similar marks,
//! and rules are always described; until 2014 the mark of the category is `SYMBOL` or missing. In
//! 2015 a file was `# 2 NAME TIME`, with its state and without bytes. `GC`, `ALLOC`, `MOUNT`,
//! `CACHE` and `EVENT` do not concern tasks; Makeflow itself ignores unknown marks.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead};

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;

use crate::{Row, input};

/// A rule in the log or in the workflow file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rule {
    /// The rule's shell command.
    pub command: Option<String>,
    /// Whether a line after the command may be a mark or a comment that belongs to the command.
    pub is_unsure: bool,
    /// Whether the command continues after such a line.
    pub is_cut: bool,
    /// The variables that the workflow file sets for it.
    pub environment: BTreeMap<String, String>,
    /// Its category; `default` when the user chose none.
    pub category: Option<String>,
    /// Numbers of the rules that make its inputs; `None` when not known.
    pub parents: Option<Vec<String>>,
    /// Files that the rule reads; `None` when not known.
    pub inputs: Option<Vec<String>>,
    /// Files that the rule makes; `None` when not known.
    pub outputs: Option<Vec<String>>,
    /// Cores, and memory and disk in bytes, that it asks for.
    pub resources: [Option<i64>; 3],
}

impl Rule {
    /// Returns the approximate size in bytes of its texts in the row of an attempt.
    pub fn bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let list = |list: &Option<Vec<String>>| list.iter().flatten().map(|text| text.len() + 24).sum::<usize>();
        // The command is also the name, and its program the logical task.
        let variables = self.environment.iter().map(|(name, value)| name.len() + value.len() + 12).sum::<usize>();
        variables + 3 * text(&self.command) + text(&self.category) + list(&self.parents) + list(&self.inputs) + list(&self.outputs)
    }
}

/// One run of Makeflow, as its log describes it.
#[derive(Debug, Default)]
pub struct Run {
    /// Time at which it began, as the log writes it.
    pub began: Option<String>,
    /// Attempts in the order in which they began; only their node is set.
    pub rows: Vec<Row>,
    /// The rules of the run by their numbers in the log.
    pub rules: BTreeMap<String, Rule>,
    /// Last known size of each file, in bytes.
    pub bytes: HashMap<String, i64>,
    /// Total number of rules.
    pub total: Option<usize>,
    /// The running attempt of each node.
    open: HashMap<String, usize>,
    attempts: HashMap<String, i64>,
    /// Line of the final mark, and the mark. The counters are the number of rules that waited, were
    /// complete, failed and aborted.
    end: Option<(u64, String)>,
    counters: Option<[usize; 4]>,
    /// Number of files, parents and continuation lines of commands read so far.
    names: usize,
    last_command: Option<LastCommand>,
}

/// A command that may continue on the next lines, since Makeflow does not escape newlines.
#[derive(Debug)]
struct LastCommand {
    node: String,
    /// Whether it is the command that the rule keeps.
    is_kept: bool,
    /// Number of empty lines after it.
    blank: usize,
}

/// Reads a log, which contains several runs when Makeflow was started again.
///
/// # Errors
/// When reading fails. Errors in a line are diagnostics.
pub fn read(reader: impl BufRead, diagnostics: &mut Diagnostics) -> io::Result<Vec<Run>> {
    let mut lines = input::lines(reader);
    let mut runs = Vec::new();
    let mut run = Run::default();
    let mut before = 0;
    let mut repeated = 0_usize;
    while let Some((number, line)) = input::next_line(&mut lines, diagnostics)? {
        // Sixteen names need as much memory as a task.
        input::not_too_many(before + run.rules.len() + run.rows.len() + (run.bytes.len() + run.names) / 16)?;
        let line = text::decode(line);
        let understood = match line.strip_prefix("# ") {
            Some(mark) => {
                if kind(mark).0 == "STARTED" && run.began.is_some() {
                    repeated = repeated.saturating_add(run.rules.values().map(Rule::bytes).sum());
                    if repeated > input::MOST_REPEATED {
                        return Err(input::too_large(format!(
                            "line {number}: it has too many runs for the rules of all to fit in memory; split it and import its parts"
                        )));
                    }
                    let rules = run.rules.clone();
                    // Each run inherits the rules of the earlier runs.
                    before += 1 + run.rules.len() + run.rows.len() + (run.bytes.len() + run.names) / 16;
                    runs.push(std::mem::take(&mut run).finish(diagnostics));
                    run.rules = rules;
                }
                run.see_mark(mark, number, diagnostics)
            }
            None if line.trim().is_empty() => {
                run.last_command.iter_mut().for_each(|last| last.blank += 1);
                Some(())
            }
            None => run.see_change(&line, number).or_else(|| run.see_more(&line)),
        };
        if understood.is_none() {
            let shown: String = line.chars().take(60).collect();
            diagnostics.push(Diagnostic::error("line_bad", format!("{shown:?} is no line of a Makeflow log")).at(number, Some(1)));
        }
    }
    // The last run of the log; the earlier ones were restarted.
    if run.end.is_none() && run.counters.is_none() {
        let message = "the log has no event of a rule: it was cut before the first one, or its run never began; it gives no rows";
        diagnostics.push(Diagnostic::warning("run_without_events", message));
    }
    runs.push(run.finish(diagnostics));
    Ok(runs)
}

/// Splits a mark into its kind and the rest.
fn kind(mark: &str) -> (&str, &str) {
    mark.split_once([' ', '\t']).unwrap_or((mark, ""))
}

/// Whether this is `2 NAME TIME`, the state of a file in the format of 2015.
fn is_old_file(mark: &str) -> bool {
    let state = mark.split_once(' ').map(|(state, _)| state);
    let time = mark.rsplit_once(' ').map(|(_, time)| time);
    state.is_some_and(|state| matches!(state.as_bytes(), [b'0'..=b'6'])) && time.is_some_and(is_time) && mark.split(' ').nth(2).is_some()
}

/// Whether a text is a time as Makeflow writes it, in microseconds since 1970.
fn is_time(text: &str) -> bool {
    text.len() > 13 && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a log of any version begins with this line.
pub fn is_first_line(line: &str) -> bool {
    let Some(mark) = line.strip_prefix("# ") else {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        return fields.len() == 10 && is_time(fields[0]) && fields.iter().all(|field| field.parse::<i64>().is_ok());
    };
    let (what, rest) = kind(mark);
    match what {
        "NODE" => mark.starts_with("NODE\t"),
        "STARTED" | "FILE" | "GC" | "ALLOC" | "MOUNT" | "CACHE" | "EVENT" => rest.split([' ', '\t']).next().is_some_and(is_time),
        _ => is_old_file(mark),
    }
}

impl Run {
    fn see_mark(&mut self, mark: &str, line: u64, diagnostics: &mut Diagnostics) -> Option<()> {
        let (what, rest) = kind(mark);
        let last = self.last_command.take();
        match what {
            "STARTED" => self.began = Some(rest.trim().to_owned()),
            "COMPLETED" | "FAILED" | "ABORTED" => self.end = Some((line, what.to_owned())),
            "FILE" => self.see_file(rest)?,
            "GC" | "ALLOC" | "MOUNT" | "CACHE" | "EVENT" => {}
            "NODE" | "COMMAND" | "CATEGORY" | "SYMBOL" | "PARENTS" | "SOURCES" | "TARGETS" => self.see_rule(what, rest)?,
            _ if is_old_file(mark) => {}
            _ => {
                if let Some(rule) = last.as_ref().filter(|last| last.is_kept).and_then(|last| self.rules.get_mut(&last.node)) {
                    rule.is_unsure = true;
                }
                self.last_command = last;
                let shown: String = what.chars().take(20).collect();
                let message = format!("the mark {shown:?} is not known, and is passed over as Makeflow does");
                diagnostics.push(Diagnostic::warning("mark_unknown", message).at(line, Some(1)));
            }
        }
        Some(())
    }

    fn see_file(&mut self, rest: &str) -> Option<()> {
        // The name may contain blanks.
        let (_, rest) = rest.split_once(' ')?;
        let (rest, bytes) = rest.rsplit_once(' ')?;
        let (name, state) = rest.rsplit_once(' ')?;
        let bytes: i64 = bytes.parse().ok()?;
        if state == "2" {
            self.bytes.insert(name.to_owned(), bytes);
        }
        Some(())
    }

    fn see_rule(&mut self, what: &str, rest: &str) -> Option<()> {
        let mut fields = rest.split('\t');
        let node = fields.next().filter(|node| node.parse::<u32>().is_ok())?;
        let mut rest: Vec<String> = fields.filter(|field| !field.is_empty()).map(str::to_owned).collect();
        self.names += rest.len();
        let rule = self.rules.entry(node.to_owned()).or_default();
        if matches!(what, "COMMAND" | "NODE") {
            let is_kept = what == "COMMAND" || rule.command.is_none();
            (rule.is_unsure, rule.is_cut) = (rule.is_unsure && !is_kept, rule.is_cut && !is_kept);
            self.last_command = Some(LastCommand { node: node.to_owned(), is_kept, blank: 0 });
        }
        match what {
            "COMMAND" => rule.command = Some(rest.join("\t")),
            // The user's command; COMMAND is the one that Makeflow executes.
            "NODE" => rule.command = rule.command.take().or_else(|| Some(rest.join("\t"))),
            "CATEGORY" => rule.category = rest.into_iter().next(),
            "SYMBOL" => rule.category = rule.category.take().or_else(|| rest.into_iter().next()),
            // Repeated for each file that the rule makes.
            "PARENTS" => {
                let mut seen = HashSet::new();
                rest.retain(|parent| seen.insert(parent.clone()));
                rule.parents = Some(rest);
            }
            "SOURCES" => rule.inputs = Some(rest),
            _ => rule.outputs = Some(rest),
        }
        Some(())
    }

    /// Reads a continuation line of the last command.
    fn see_more(&mut self, line: &str) -> Option<()> {
        let last = self.last_command.as_mut()?;
        let rule = self.rules.get_mut(&last.node).filter(|_| last.is_kept);
        if let Some(rule) = rule {
            rule.is_cut |= rule.is_unsure;
            let command = rule.command.get_or_insert_default();
            command.extend(std::iter::repeat_n('\n', last.blank + 1));
            command.push_str(line);
        }
        self.names += last.blank + 1;
        last.blank = 0;
        Some(())
    }

    fn see_change(&mut self, text: &str, line: u64) -> Option<()> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [time, node, state, job, waiting, _running, complete, failed, aborted, total] = fields[..] else { return None };
        let ns = time.parse::<i64>().ok()?.checked_mul(1000)?;
        node.parse::<u32>().ok()?;
        self.last_command = None;
        let count = |text: &str| text.parse::<usize>().ok();
        self.counters = Some([count(waiting)?, count(complete)?, count(failed)?, count(aborted)?]);
        self.total = Some(count(total)?);
        let status = match state {
            "0" => return Some(()),
            "1" => "running",
            "2" => "completed",
            "3" => "failed",
            "4" => "aborted",
            _ => return None,
        };
        let open = if state == "1" { None } else { self.open.remove(node) };
        let at = open.unwrap_or_else(|| {
            let attempt = self.attempts.entry(node.to_owned()).and_modify(|n| *n += 1).or_insert(1);
            self.rows.push(Row {
                engine: crate::engine_names::MAKEFLOW.into(),
                task_id: Some(node.to_owned().into()),
                attempt: Some(*attempt),
                line: Some(line as i64),
                ..Row::default()
            });
            self.rows.len() - 1
        });
        let row = &mut self.rows[at];
        row.status = status.into();
        row.native_id = Some(job.to_owned().into());
        if state == "1" {
            (row.submitted_ns, row.submitted_precision_ns) = (Some(ns), Some(1000));
            self.open.insert(node.to_owned(), at);
        } else {
            row.finished_ns = Some(ns);
        }
        Some(())
    }

    fn finish(mut self, diagnostics: &mut Diagnostics) -> Self {
        if self.end.as_ref().is_some_and(|(_, mark)| mark == "ABORTED") {
            for at in self.open.values() {
                self.rows[*at].status = "aborted".into();
            }
        }
        if let (Some((line, mark)), Some([waiting, complete, failed, aborted])) = (&self.end, self.counters)
            && mark == "COMPLETED"
            && failed + aborted + waiting > 0
        {
            let message = format!(
                "the log says COMPLETED, but of {} rules {complete} are complete, {failed} failed, {aborted} were aborted and {waiting} never ran",
                self.total.unwrap_or_default()
            );
            diagnostics.push(Diagnostic::warning("run_incomplete", message).at(*line, None));
        }
        self
    }
}
