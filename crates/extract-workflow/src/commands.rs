//! Tasks of a traced command, from its trace: the command as a whole, or each command that a script
//! starts.
//!
//! The input is the rows of `processes` of one trace. The output is rows of `task_runs` of the
//! engine `flowmine`, with the process as native id, so that the join needs no inference. A command
//! of a script is a process below it that became a program, if no process between them had done so
//! when it was forked: in `(a && b)` the shell in between forks `a` and becomes `b`, and both are
//! commands. Neither the script's own work is a task, nor a program that replaces the script
//! (`exec`): that is still the process of the script.

use std::collections::BTreeMap;
use std::path::Path;

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::{Process, TaskRun};
use flowmine_schema::time::SECOND_NS;

use crate::Row;

/// Name of the engine, as in the column `engine`.
pub const NAME: &str = "flowmine";

/// Value of the column `source`: the rows come from no file.
const SOURCE: &str = "flowmine trace";

/// The part of a traced command that becomes tasks.
#[derive(Debug, Clone, Copy)]
pub enum Which<'n> {
    /// The whole traced command is one task with this name.
    Whole(&'n str),
    /// Each command that it starts is a task.
    Commands,
}

/// A traced command and the trace that contains it.
#[derive(Debug, Clone)]
pub struct Traced<'t> {
    /// Name of the host, as in the tables.
    pub host: &'t str,
    /// The trace, as in the column `trace_ns`.
    pub trace_ns: i64,
    /// The command's process number, in the host's pid namespace.
    pub pid: i32,
    /// Name of the run when its commands are tasks.
    pub name: &'t str,
}

/// Columns of a process that are kept until the tasks are made.
#[derive(Debug, Clone)]
struct Ran {
    as_of_ns: i64,
    work_dir: Option<String>,
    /// The command line of the first program, which can be executed again.
    words: Vec<String>,
    /// The first word of the last program, which names the command.
    program: Option<String>,
    executable: Option<String>,
    /// Time at which the process was forked, as in the column `started_ns` of `processes`.
    forked_ns: Option<i64>,
    /// Time at which it became its first program, in nanoseconds since 1970.
    first_exec_ns: Option<i64>,
    /// Time at which the command began. It is later than the fork where a shell waited for other
    /// commands before it became this one.
    began_ns: Option<i64>,
    precision_ns: Option<i64>,
    exit_ns: Option<i64>,
    exit_code: Option<i32>,
    exit_signal: Option<i32>,
}

/// A process that runs the script, at least for some time.
#[derive(Debug)]
struct Inside {
    line: Option<String>,
    /// Time at which it became a command, in nanoseconds since 1970; null if it has not.
    until_ns: Option<i64>,
    /// Time at which the last command that it had forked before `until_ns` ended, in nanoseconds
    /// since 1970.
    before_ns: Option<i64>,
}

/// Process number and start, which identify a process within a trace.
type Key = (i32, Option<i64>);

flowmine_schema::columns! {
    /// The columns of a process that are read.
    struct ProcessRow of Process {
        host, trace_ns, pid, process_start_ns, start_precision_ns, as_of_ns, started_ns,
        parent_pid, parent_start_ns, executable, command_line, command_line_cut, work_dir, earlier_programs, exec_ns,
        execs, exit_ns, exit_code, exit_signal,
    }
}

/// Returns the tasks of a traced command, in the order in which they began. Memory grows with the
/// number of commands.
///
/// # Errors
/// When the dataset cannot be read.
pub fn tasks(dataset: &Dataset, traced: &Traced<'_>, which: Which<'_>) -> Result<Vec<Row>, DatasetError> {
    let mut command: Option<(Key, Ran)> = None;
    // The command and its forked children that run, or ran, the command's own program.
    let mut inside: BTreeMap<Key, Inside> = BTreeMap::new();
    let mut commands: BTreeMap<(Option<i64>, i32), Ran> = BTreeMap::new();
    dataset.read::<ProcessRow<'static>, DatasetError>(|row| {
        if row.trace_ns != traced.trace_ns || row.host != traced.host {
            return Ok(());
        }
        let key = (row.pid, row.process_start_ns);
        // Another process may get the same number later.
        if row.pid == traced.pid && command.as_ref().is_none_or(|(known, _)| *known == key) {
            inside.insert(key, Inside::new(&row));
            command = Some((key, ran(&row)));
            return Ok(());
        }
        let parent = row.parent_pid.map(|pid| (pid, row.parent_start_ns));
        let Some(of_parent) = parent.and_then(|parent| inside.get_mut(&parent)) else { return Ok(()) };
        if of_parent.until_ns.is_some_and(|until| row.started_ns.is_none_or(|started| started >= until)) {
            return Ok(());
        }
        // A backend that notices a process late reports its program, but not the exec.
        let is_program = row.execs > 0 || row.command_line.is_some() && row.command_line.as_deref() != of_parent.line.as_deref();
        of_parent.before_ns = of_parent.before_ns.max(row.exit_ns.filter(|_| is_program));
        let known = inside.entry(key).or_insert_with(|| Inside::new(&row));
        if !is_program {
            return Ok(());
        }
        // Where the time of the exec is not known, all processes that it started belong to it.
        known.until_ns = Some(first_exec_ns(&row).unwrap_or(i64::MIN));
        let known = commands.entry((row.process_start_ns, row.pid)).or_insert_with(|| ran(&row));
        if known.as_of_ns <= row.as_of_ns {
            *known = ran(&row);
        }
        Ok(())
    })?;
    let rows = match (which, command) {
        (_, None) => Vec::new(),
        (Which::Whole(name), Some(((pid, _), ran))) => vec![task(traced, name, name, 1, pid, &ran)],
        (Which::Commands, Some(_)) => {
            for (&(start, pid), ran) in &mut commands {
                let waited = inside.get(&(pid, start)).and_then(|inside| inside.before_ns);
                if let Some(exec) = ran.first_exec_ns.filter(|exec| waited.is_some_and(|waited| waited <= *exec)) {
                    ran.began_ns = Some(exec);
                }
            }
            let named = commands.iter().enumerate().map(|(at, ((_, pid), ran))| task(traced, traced.name, program(ran), at + 1, *pid, ran));
            named.collect()
        }
    };
    Ok(rows)
}

impl Inside {
    fn new(row: &ProcessRow<'_>) -> Self {
        Self { line: row.command_line.as_deref().map(str::to_owned), until_ns: None, before_ns: None }
    }
}

/// Returns the time at which a process first became a program while it was traced.
fn first_exec_ns(row: &ProcessRow<'_>) -> Option<i64> {
    let earlier: Vec<serde_json::Value> = serde_json::from_str(row.earlier_programs.as_deref().unwrap_or("[]")).ok()?;
    earlier.iter().find_map(|program| program["exec_ns"].as_i64()).or(row.exec_ns)
}

/// Returns the command line of the last program of the process.
fn last_words(row: &ProcessRow<'_>) -> Vec<String> {
    row.command_line.as_deref().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default()
}

/// Returns the program that the script executed: the first program of the process, which others may
/// have replaced since (`env A=b tool` becomes the tool).
fn first_program(row: &ProcessRow<'_>) -> Option<First> {
    let earlier: Vec<serde_json::Value> = serde_json::from_str(row.earlier_programs.as_deref().unwrap_or("[]")).ok()?;
    let Some(first) = earlier.iter().find(|program| program["exec_ns"].is_i64()) else {
        let [executable, work_dir] = [&row.executable, &row.work_dir].map(|text| text.as_deref().map(str::to_owned));
        return (!row.command_line_cut).then_some(First { words: last_words(row), executable, work_dir });
    };
    let words = serde_json::from_value(first["command_line"].clone()).unwrap_or_default();
    let [executable, work_dir] = ["executable", "work_dir"].map(|name| first[name].as_str().map(str::to_owned));
    (first["command_line_cut"] != true).then_some(First { words, executable, work_dir })
}

/// The first program of a process.
#[derive(Default)]
struct First {
    words: Vec<String>,
    executable: Option<String>,
    work_dir: Option<String>,
}

impl First {
    /// Returns its words. The path of the program replaces a first word that does not lead to it,
    /// since the caller can choose any name (`exec -a`).
    fn into_words(mut self) -> Vec<String> {
        let (Some(word), Some(executable)) = (self.words.first_mut(), self.executable) else { return self.words };
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let is_it = |path: std::path::PathBuf| std::fs::canonicalize(path).is_ok_and(|found| found.as_os_str() == executable.as_str());
        let found = || {
            if word.contains('/') {
                return is_it(Path::new(self.work_dir.as_deref().unwrap_or("/")).join(&*word));
            }
            std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| is_it(dir.join(&*word))))
        };
        if last(word) != last(&executable) && !found() {
            *word = executable;
        }
        self.words
    }
}

fn ran(row: &ProcessRow<'_>) -> Ran {
    // A command line that was truncated, or is not text, cannot be executed again.
    let first = first_program(row).unwrap_or_default();
    let work_dir = first.work_dir.clone();
    let words = first.into_words();
    let is_whole = !words.iter().any(|word| word.contains(char::REPLACEMENT_CHARACTER));
    let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
    Ran {
        as_of_ns: row.as_of_ns,
        work_dir: work_dir.or_else(|| text(&row.work_dir)),
        words: if is_whole { words } else { Vec::new() },
        program: last_words(row).into_iter().next(),
        executable: text(&row.executable),
        forked_ns: row.started_ns,
        first_exec_ns: first_exec_ns(row),
        began_ns: row.started_ns,
        precision_ns: row.start_precision_ns,
        exit_ns: row.exit_ns,
        exit_code: row.exit_code,
        exit_signal: row.exit_signal,
    }
}

/// Returns the name of the program of a command.
fn program(ran: &Ran) -> &str {
    let path = ran.program.as_ref().or(ran.executable.as_ref()).map_or("", String::as_str);
    Some(path.rsplit('/').next().unwrap_or_default()).filter(|name| !name.is_empty()).unwrap_or("unknown program")
}

fn task(traced: &Traced<'_>, run: &str, name: &str, number: usize, pid: i32, ran: &Ran) -> Row {
    let status = match (ran.exit_code, ran.exit_ns, ran.exit_signal) {
        (Some(0), _, None) => "completed",
        (Some(_), _, _) | (_, _, Some(_)) => "failed",
        (None, Some(_), None) => "unknown",
        (None, None, None) => "running",
    };
    // Where starts come from `/proc`, ends are found by polling.
    let end_precision = ran.precision_ns.map(|precision| if precision <= 1 { precision } else { precision.max(SECOND_NS) });
    TaskRun {
        engine: NAME.into(),
        run_id: Some(format!("{}:{}", traced.host, traced.trace_ns).into()),
        run_name: Some(run.to_owned().into()),
        task_id: Some(number.to_string().into()),
        attempt: Some(1),
        name: name.to_owned().into(),
        logical_task: name.to_owned().into(),
        work_dir: ran.work_dir.clone().map(Into::into),
        executor: Some("local".into()),
        native_id: Some(pid.to_string().into()),
        native_kind: Some("pid".into()),
        host: Some(traced.host.to_owned().into()),
        submitted_ns: ran.forked_ns,
        submitted_precision_ns: ran.forked_ns.and(ran.precision_ns),
        started_ns: ran.began_ns,
        started_precision_ns: ran.began_ns.and(ran.precision_ns),
        finished_ns: ran.exit_ns,
        finished_precision_ns: ran.exit_ns.and(end_precision),
        status: status.into(),
        exit_code: ran.exit_code.map(i64::from),
        command: (!ran.words.is_empty()).then(|| command(&ran.words).into()),
        error: ran.exit_signal.map(|signal| format!("signal {signal} ended it").into()),
        realtime_s: ran.exit_ns.zip(ran.began_ns).map(|(end, start)| end.saturating_sub(start) as f64 / 1e9),
        source: SOURCE.into(),
        ..TaskRun::default()
    }
}

/// Quotes words for a shell. The first word could be an assignment (`A=b`), a reserved word (`if`,
/// `!`, `{`), a function or an alias: it is then quoted, so that it can only name a program.
fn command(words: &[String]) -> String {
    const RESERVED: [&str; 22] = [
        "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "time", "function", "select",
        "coproc", "{", "}", "!", "[[", "]]",
    ];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,+@%".contains(c);
    let one = |(at, word): (usize, &String)| {
        let means = at == 0 && (RESERVED.contains(&word.as_str()) || word.contains('='));
        let plain = !word.is_empty() && word.chars().all(|c| is_plain(c) || c == '=');
        if plain && !means { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    words.iter().enumerate().map(one).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use flowmine_dataset::{Builder, Dataset, Role};
    use flowmine_schema::time::Day;

    use super::*;

    /// Process number, parent, number of execs, command line, end.
    type Made = (i32, i32, i32, Option<&'static str>, Option<(i64, Option<i32>, Option<i32>)>);

    fn dataset(made: &[Made]) -> (tempfile::TempDir, Dataset) {
        let dir = tempfile::tempdir().unwrap();
        let dataset = Dataset::open_or_create(dir.path()).unwrap();
        let mut rows = Builder::<Process<'static>>::new();
        for &(pid, parent, execs, line, end) in made {
            rows.push(&Process {
                host: "n1".into(),
                trace_ns: 7,
                pid,
                process_start_ns: Some(i64::from(pid)),
                start_precision_ns: Some(1),
                started_ns: Some(i64::from(pid) * SECOND_NS),
                parent_pid: Some(parent),
                parent_start_ns: Some(i64::from(parent)),
                command_line: line.map(Into::into),
                execs,
                // Half a second after its start, or later where it forks a process before.
                exec_ns: (execs > 0).then(|| if pid == 18 { 29 * SECOND_NS } else { i64::from(pid) * SECOND_NS + SECOND_NS / 2 }),
                exit_ns: end.map(|(at, _, _)| at * SECOND_NS),
                exit_code: end.and_then(|(_, code, _)| code),
                exit_signal: end.and_then(|(_, _, signal)| signal),
                ..Process::default()
            });
        }
        let mut writer = dataset.writer(Role::Host("n1".into()), "test").unwrap();
        let mut transaction = writer.begin().unwrap();
        transaction.append_split(rows, "n1", Day::new(0)).unwrap();
        transaction.commit().unwrap();
        (dir, dataset)
    }

    #[test]
    fn the_commands_of_a_script() {
        let (_dir, dataset) = dataset(&[
            (10, 1, 1, Some(r#"["sh","all.sh"]"#), Some((90, Some(0), None))),
            (11, 10, 1, Some(r#"["/usr/bin/sort","-o","a b","in"]"#), Some((20, Some(0), None))),
            // A process that the command starts belongs to it.
            (12, 11, 1, Some(r#"["gzip"]"#), Some((19, Some(0), None))),
            // `( cd d; tool )`: the shell in between is not a command.
            (13, 10, 0, None, Some((40, Some(0), None))),
            (14, 13, 1, Some(r#"["tool"]"#), Some((30, Some(3), None))),
            (15, 10, 2, Some(r#"["slow"]"#), Some((50, None, Some(9)))),
            (16, 10, 1, Some(r#"["server"]"#), None),
            (17, 2, 1, Some(r#"["other"]"#), None),
            // `(first && last)`: the shell in between becomes the last command.
            (18, 10, 1, Some(r#"["last"]"#), Some((60, Some(0), None))),
            (19, 18, 1, Some(r#"["first"]"#), Some((28, Some(0), None))),
            (30, 18, 1, Some(r#"["child"]"#), Some((31, Some(0), None))),
        ]);
        let traced = Traced { host: "n1", trace_ns: 7, pid: 10, name: "all.sh" };
        let rows = tasks(&dataset, &traced, Which::Commands).unwrap();
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.logical_task.as_ref(), row.status.as_ref(), row.exit_code, row.native_id.as_deref().unwrap(), row.realtime_s))
            .collect();
        assert_eq!(
            told,
            [
                ("sort", "completed", Some(0), "11", Some(9.0)),
                ("tool", "failed", Some(3), "14", Some(16.0)),
                ("slow", "failed", None, "15", Some(35.0)),
                ("server", "running", None, "16", None),
                ("last", "completed", Some(0), "18", Some(31.0)),
                ("first", "completed", Some(0), "19", Some(9.0)),
            ]
        );
        assert_eq!((rows[0].command.as_deref(), rows[0].run_name.as_deref()), (Some("/usr/bin/sort -o 'a b' in"), Some("all.sh")));
        assert_eq!(rows[2].error.as_deref(), Some("signal 9 ended it"));
        let whole = tasks(&dataset, &traced, Which::Whole("prepare")).unwrap();
        let [row] = &whole[..] else { panic!("{whole:?}") };
        assert_eq!((row.name.as_ref(), row.native_id.as_deref(), row.finished_ns), ("prepare", Some("10"), Some(90 * SECOND_NS)));
        assert!(tasks(&dataset, &Traced { pid: 99, ..traced }, Which::Commands).unwrap().is_empty());
    }
}
