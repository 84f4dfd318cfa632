//! `.makeflowlog`: lines in, runs with their attempts out.
//!
//! ```text
//! # COMMAND 0 wc -w < a > b                           between tabs; with --log-verbose, before the run begins
//! # STARTED 1795318114504024                          microseconds since 1970
//! # FILE 1795318114520478 b 2 16755                   name, state (2: it exists), bytes
//! 1795318114508267 0 1 2521 3 1 0 0 0 4               node, state, job; how many wait, run, are complete, failed, aborted; all
//! # COMPLETED 1795318115548090                        also when rules failed
//! ```
//!
//! A node is a rule, numbered from 0 in the order of the workflow file. Its states: 0 waiting, 1 running, 2 complete, 3 failed, 4 aborted.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;

use crate::{Row, input};

/// What is known of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rule {
    /// Its shell command.
    pub command: Option<String>,
    /// Its category; `default` when the user chose none.
    pub category: Option<String>,
    /// Numbers of the rules whose outputs it reads; `None` when not told.
    pub parents: Option<Vec<String>>,
    /// Files that it reads.
    pub inputs: Option<Vec<String>>,
    /// Files that it makes.
    pub outputs: Option<Vec<String>>,
    /// Cores, and memory and disk in bytes, that it asks for.
    pub resources: [Option<i64>; 3],
}

/// A run.
#[derive(Debug, Default)]
pub struct Run {
    /// When it began, as the log writes it.
    pub began: Option<String>,
    /// Its attempts in the order in which they began; they know their node only.
    pub rows: Vec<Row>,
    /// Its rules by number.
    pub rules: BTreeMap<String, Rule>,
    /// The last known bytes of files.
    pub bytes: HashMap<String, i64>,
    /// How many rules there are.
    pub total: Option<usize>,
    /// The attempt of each node that has not ended.
    open: HashMap<String, usize>,
    attempts: HashMap<String, i64>,
    /// Line of the mark at its end, the mark, and how many waited, were complete, failed, aborted.
    end: Option<(u64, String)>,
    counters: Option<[usize; 4]>,
    /// How many files and parents of rules were named.
    names: usize,
}

/// Reads a log; several runs can be in one, when Makeflow was started again.
///
/// # Errors
/// When reading fails. What is wrong in a line is said in `said`.
pub fn read(reader: impl BufRead, source: &str, said: &mut Diagnostics) -> io::Result<Vec<Run>> {
    let mut lines = input::lines(reader);
    let mut runs = Vec::new();
    let mut run = Run::default();
    let mut before = 0;
    while let Some((number, line)) = lines.next()? {
        // Sixteen names take as much as a task.
        input::not_too_many(before + run.rules.len() + run.rows.len() + (run.bytes.len() + run.names) / 16)?;
        let line = text::decode(line);
        let understood = match line.strip_prefix("# ") {
            Some(mark) => {
                if mark.starts_with("STARTED ") && run.began.is_some() {
                    let rules = run.rules.clone();
                    // Each run has the rules of those before it.
                    before += 1 + run.rules.len() + run.rows.len() + (run.bytes.len() + run.names) / 16;
                    runs.push(std::mem::take(&mut run).finish(said));
                    run.rules = rules;
                }
                run.see_mark(mark, number)
            }
            None if line.trim().is_empty() => Some(()),
            None => run.see_change(&line, number, source),
        };
        if understood.is_none() {
            let shown: String = line.chars().take(60).collect();
            said.push(Diagnostic::error("line_bad", format!("{shown:?} is no line of a Makeflow log")).at(number, Some(1)));
        }
    }
    runs.push(run.finish(said));
    Ok(runs)
}

impl Run {
    fn see_mark(&mut self, mark: &str, line: u64) -> Option<()> {
        if let Some(rest) = mark.strip_prefix("FILE ") {
            // The name may hold blanks.
            let (_, rest) = rest.split_once(' ')?;
            let (rest, bytes) = rest.rsplit_once(' ')?;
            let (name, state) = rest.rsplit_once(' ')?;
            let bytes: i64 = bytes.parse().ok()?;
            if state == "2" {
                self.bytes.insert(name.to_owned(), bytes);
            }
            return Some(());
        }
        if let Some((what, time)) = mark.split_once(' ')
            && !mark.contains('\t')
        {
            match what {
                "STARTED" => self.began = Some(time.trim().to_owned()),
                "COMPLETED" | "FAILED" | "ABORTED" => self.end = Some((line, what.to_owned())),
                _ => return None,
            }
            return Some(());
        }
        let mut fields = mark.split('\t');
        let (what, node) = (fields.next()?, fields.next()?);
        let rest: Vec<String> = fields.filter(|field| !field.is_empty()).map(str::to_owned).collect();
        self.names += rest.len();
        let rule = self.rules.entry(node.to_owned()).or_default();
        match what {
            "COMMAND" => rule.command = Some(rest.join("\t")),
            "CATEGORY" => rule.category = rest.into_iter().next(),
            "PARENTS" => rule.parents = Some(rest),
            "SOURCES" => rule.inputs = Some(rest),
            "TARGETS" => rule.outputs = Some(rest),
            // NODE repeats the command, SYMBOL the category.
            "NODE" | "SYMBOL" => {}
            _ => return None,
        }
        Some(())
    }

    fn see_change(&mut self, text: &str, line: u64, source: &str) -> Option<()> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [time, node, state, job, waiting, _running, complete, failed, aborted, total] = fields[..] else { return None };
        let ns = time.parse::<i64>().ok()?.checked_mul(1000)?;
        node.parse::<u32>().ok()?;
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
                engine: super::NAME.into(),
                task_id: Some(node.to_owned().into()),
                attempt: Some(*attempt),
                source: source.to_owned().into(),
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

    fn finish(mut self, said: &mut Diagnostics) -> Self {
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
            said.push(Diagnostic::warning("run_incomplete", message).at(*line, None));
        }
        self
    }
}
