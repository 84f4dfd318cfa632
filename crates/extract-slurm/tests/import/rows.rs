//! Text of Slurm as files, with all rows and diagnostics in `tests/expected/`: files that others
//! recorded, and the answers to an observer poll after poll.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::Path;
use std::time::Duration;

use flowmine_extract_slurm::import;
use flowmine_extract_slurm::import_files::{Options, import_files};
use flowmine_extract_slurm::observe::{self, Observer};
use flowmine_extract_slurm::runner::{Output, RunError, Runner};
use flowmine_extract_slurm::squeue::FIELDS;
use flowmine_schema::diagnostic::Diagnostics;
use flowmine_schema::tables::{ControllerClock, JobDependency, JobState, NodeState};
use flowmine_schema::time::{self, SECOND_NS};
use flowmine_test_support::{Cases, TempDataset, table_text};

/// The difference of the clocks of a recording and of the machine that tests; chance.
const OF_THIS_MACHINE: &str = "clock_skew";

fn tests() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
}

/// The diagnostics, one a line.
fn diagnostics_text(diagnostics: &Diagnostics) -> String {
    let shown = diagnostics.iter().filter(|told| told.code != OF_THIS_MACHINE).map(|told| {
        let line = told.line.map_or_else(String::new, |line| format!(":{line}"));
        format!("{:?} {}{line}*{}: {:?}\n", told.severity, told.code, told.count, told.message)
    });
    shown.collect()
}

/// The rows of a dataset, with the name of each table.
fn rows_text(dataset: &TempDataset) -> String {
    let tables = [
        ("job_states", table_text::<JobState<'static>>(dataset)),
        ("job_dependencies", table_text::<JobDependency<'static>>(dataset)),
        ("controller_clocks", table_text::<ControllerClock<'static>>(dataset)),
        ("node_states", table_text::<NodeState<'static>>(dataset)),
    ];
    tables.into_iter().filter(|(_, rows)| !rows.is_empty()).map(|(name, rows)| format!("[{name}]\n{rows}")).collect()
}

/// What an import of one file writes and reports.
fn imported(path: &Path) -> String {
    let dataset = TempDataset::new();
    let options = Options {
        cluster: Some("lab".to_owned()),
        observed_at_ns: Some(1_795_190_000 * SECOND_NS),
        import: import::Options { zone_offset_s: Some(0), separator: None },
    };
    let reports = import_files(&dataset, &[path.to_owned()], &options, |_, _| {}).unwrap();
    let [report] = &reports[..] else { panic!("{} files", reports.len()) };
    let kind = report.kind.map_or_else(|| "refused".to_owned(), |kind| format!("{kind:?}"));
    format!(
        "{kind}: {} records, {} changes\n{}{}",
        report.records,
        report.changes,
        diagnostics_text(&report.diagnostics),
        rows_text(&dataset)
    )
}

#[test]
fn files_of_others() {
    let files = tests().join("../../../fixtures/import");
    Cases::new(files, tests().join("expected/import")).check(|name| name != "README.md", imported);
}

/// An answer of one of Slurm's commands: the records by the names of their fields, or the words with
/// which it fails.
#[derive(Debug, Clone)]
enum Answer {
    Records(Vec<BTreeMap<String, String>>),
    Fails(String),
}

/// The answers at one poll.
#[derive(Debug)]
struct Poll {
    at_ns: i64,
    answers: BTreeMap<String, Answer>,
}

/// Slurm and the machine where its commands run.
struct Played {
    polls: VecDeque<Poll>,
    /// The clock of the machine is ahead of slurmctld's.
    ahead_ns: i64,
}

/// The polls of a session, as `sessions/README.md` describes them.
fn session(text: &str) -> Played {
    let mut played = Played { polls: VecDeque::new(), ahead_ns: 0 };
    let (mut command, mut names) = (String::new(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let Some(line) = line.strip_prefix('@') else {
            let values: Vec<String> = line.split('|').map(|value| value.trim().replace("\\n", "\n").replace("\\p", "|")).collect();
            if names.is_empty() {
                names = values;
                continue;
            }
            assert_eq!(names.len(), values.len(), "{line}");
            let record = names.iter().cloned().zip(values).collect();
            let Some(Answer::Records(records)) = played.polls.back_mut().unwrap().answers.get_mut(&command) else { panic!("{line}") };
            records.push(record);
            continue;
        };
        match line.split_once(' ') {
            Some(("ahead", seconds)) => played.ahead_ns = seconds.parse::<i64>().unwrap() * SECOND_NS,
            Some(("poll", at)) => played.polls.push_back(Poll { at_ns: time::parse(at).unwrap(), answers: BTreeMap::new() }),
            Some((of, words)) => {
                let words = words.strip_prefix("fails ").unwrap_or_else(|| panic!("{line}")).to_owned();
                played.polls.back_mut().unwrap().answers.insert(of.to_owned(), Answer::Fails(words));
            }
            None => {
                command = line.to_owned();
                names.clear();
                played.polls.back_mut().unwrap().answers.insert(command.clone(), Answer::Records(Vec::new()));
            }
        }
    }
    played
}

impl Runner for Played {
    fn run(&mut self, script: &'static str, stdin: &[u8], _: Duration) -> Result<Output, RunError> {
        // The next poll begins with squeue.
        let command = ["squeue ", "scontrol ", "sinfo ", "sacct "].into_iter().find(|command| script.contains(command)).unwrap().trim();
        if command == "squeue" && self.polls.len() > 1 && self.polls[0].answers.is_empty() {
            self.polls.pop_front();
        }
        let poll = &mut self.polls[0];
        let date = format!("{}\n", poll.at_ns);
        let input: Vec<&str> = std::str::from_utf8(stdin).unwrap().lines().collect();
        let printed = match (command, poll.answers.remove(command)) {
            ("scontrol", None) => {
                let controller = time::rfc3339((poll.at_ns - self.ahead_ns).div_euclid(SECOND_NS) * SECOND_NS);
                format!("Configuration data as of {}\nClusterName             = lab\n", controller.trim_end_matches('Z'))
            }
            (_, Some(Answer::Fails(words))) => {
                return Ok(Output { stdout: vec![], stderr: words.into_bytes(), status: 1, signal: None });
            }
            (_, Some(Answer::Records(records))) => table(command, &input, &records),
            (_, None) => panic!("{command} has no answer at {date}"),
        };
        let stdout = match command {
            "sacct" => format!("{printed}flowmine-end 0\n"),
            _ => format!("{date}{printed}{date}flowmine-end 0\n"),
        };
        Ok(Output { stdout: stdout.into_bytes(), stderr: vec![], status: 0, signal: None })
    }

    fn describe(&self) -> String {
        "a file".to_owned()
    }
}

/// Records as the command prints them: the fields that it is asked for, each with the delimiter that
/// it is given.
fn table(command: &str, input: &[&str], records: &[BTreeMap<String, String>]) -> String {
    let (fields, token): (Vec<&str>, &str) = match command {
        "sacct" => (input[4].split(',').collect(), input[2]),
        _ => {
            let fields: Vec<(&str, &str)> = input[2].split(',').map(|field| field.split_once(':').unwrap()).collect();
            (fields.iter().map(|(name, _)| *name).collect(), fields[0].1)
        }
    };
    let known = |name: &String| assert!(fields.contains(&name.as_str()), "{command} is not asked for {name}");
    records.iter().flat_map(BTreeMap::keys).for_each(known);
    let unknown = if command == "squeue" { "(null)" } else { "" };
    let line = |value: &dyn Fn(usize, &str) -> String| {
        let values: Vec<String> = fields.iter().enumerate().map(|(at, name)| format!("{}{token}", value(at, name))).collect();
        values.concat() + "\n"
    };
    let header = match command {
        "squeue" => line(&|at, _| FIELDS[at].2.to_owned()),
        "sacct" => line(&|_, name| name.to_owned()),
        _ => String::new(),
    };
    let rows = records.iter().map(|record| line(&|_, name| record.get(name).map_or(unknown, String::as_str).to_owned()));
    header + &rows.collect::<String>()
}

/// What an observer writes and reports, poll after poll.
fn observed(path: &Path) -> String {
    let dataset = TempDataset::new();
    let played = session(&fs::read_to_string(path).unwrap());
    let of = |command: &str| played.polls.iter().any(|poll| poll.answers.contains_key(command));
    let options =
        observe::Options { cluster: Some("lab".to_owned()), accounting: of("sacct"), nodes: of("sinfo"), ..observe::Options::default() };
    let times: Vec<i64> = played.polls.iter().map(|poll| poll.at_ns).collect();
    let mut observer = Observer::open(&dataset, Box::new(played), options).unwrap();
    let mut text = String::new();
    for at_ns in times {
        text.push_str(&format!("poll {}: ", time::rfc3339(at_ns)));
        match observer.poll() {
            Ok(report) => {
                text.push_str(&format!("{} records, {} changes\n", report.records, report.changes));
                text.push_str(&diagnostics_text(&report.diagnostics));
            }
            Err(error) => text.push_str(&format!("{error}\n")),
        }
    }
    text + &rows_text(&dataset)
}

#[test]
fn sessions_of_an_observer() {
    Cases::new(tests().join("sessions"), tests().join("expected/sessions")).check(|name| name.ends_with(".txt"), observed);
}
