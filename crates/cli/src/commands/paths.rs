//! PATHs of reading commands: recognised, imported where that is needed, and put in the place of
//! `--dataset` and `--log` before the command runs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use flowmine_api::recognised::{self, Data, Opened};
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;

use crate::args::Command;
use crate::messages;
use crate::outcome::Outcome;
use crate::output;
use crate::terminal::Terminal;

/// The path that stands for standard input.
const STANDARD_INPUT: &str = "-";

/// The signals that end the program unless it catches them, and are no faults of its own.
const ENDING: [i32; 11] = [SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ];

/// Number of times that a directory is removed into which another thread writes.
const REMOVALS: usize = 10;

/// Where the sources of a command are given.
struct Place<'c> {
    paths: &'c [PathBuf],
    dataset: &'c mut Option<PathBuf>,
    /// Of commands that read log files.
    log: Option<&'c mut Vec<PathBuf>>,
}

impl<'c> Place<'c> {
    fn of(command: &'c mut Command) -> Option<Self> {
        Some(match command {
            Command::Discover(args) => {
                let source = &mut args.request.source;
                Self { paths: &source.given, dataset: &mut source.dataset, log: Some(&mut source.logs) }
            }
            Command::Export(args) => Self { paths: &args.source.paths, dataset: &mut args.source.dataset, log: Some(&mut args.source.log) },
            Command::Report(args) => Self { paths: &args.source.paths, dataset: &mut args.source.dataset, log: Some(&mut args.source.log) },
            Command::Serve(args) => Self { paths: &args.source.paths, dataset: &mut args.source.dataset, log: Some(&mut args.source.log) },
            Command::Run(args) => Self { paths: &args.source.paths, dataset: &mut args.source.dataset, log: None },
            Command::Evaluate(args) => Self { paths: &args.source.paths, dataset: &mut args.source.dataset, log: None },
            Command::Correlate(args) => Self { paths: &args.source.paths, dataset: &mut args.source.dataset, log: None },
            _ => return None,
        })
    }
}

/// The sources of a command. A temporary dataset lives as long as this.
#[derive(Default)]
pub struct Sources {
    is_lossy: bool,
    temporary: Option<Temporary>,
}

/// A dataset that was made of the sources.
struct Temporary {
    opened: Opened,
    /// The paths of which it was made, for messages.
    given: String,
    /// Removes it on signals.
    _removal: Option<Removal>,
}

impl Sources {
    /// Recognises the paths of a command and opens what they name.
    ///
    /// # Errors
    /// When a path is not recognised or cannot be read, or the command does not read its kind.
    pub fn new(command: &mut Command) -> anyhow::Result<Self> {
        // A server ends by itself on signals, and its dataset with it.
        let ends_by_itself = matches!(command, Command::Serve(args) if !args.once);
        let Some(Place { paths, dataset, mut log }) = Place::of(command) else { return Ok(Self::default()) };
        let (piped, paths): (Vec<PathBuf>, Vec<PathBuf>) = paths.iter().cloned().partition(|path| path == Path::new(STANDARD_INPUT));
        if !piped.is_empty() {
            let log = log.as_mut().context("this command reads datasets; standard input is read as a log or a table")?;
            log.extend(piped);
        }
        if paths.is_empty() {
            return Ok(Self::default());
        }
        let mut removal = None;
        let opened = recognised::open(&paths, &Terminal, &mut |dir| removal = Removal::on_signals(dir.to_owned()))?;
        removal = removal.filter(|_| !ends_by_itself);
        let is_lossy = opened.is_lossy;
        match &opened.data {
            Data::Logs(files) => {
                let log = log.context("this command reads datasets, and these are log files: discover and export read them")?;
                log.splice(..0, files.iter().cloned());
            }
            Data::Dataset(dir) => *dataset = Some(dir.clone()),
            Data::Temporary(dir) => {
                *dataset = Some(dir.path().to_owned());
                let given = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
                return Ok(Self { is_lossy, temporary: Some(Temporary { opened, given, _removal: removal }) });
            }
        }
        Ok(Self { is_lossy, temporary: None })
    }

    /// How the command ended, with what was lost before it ran. Its errors name the paths that were
    /// given in place of the temporary dataset.
    pub fn outcome(self, outcome: anyhow::Result<Outcome>) -> anyhow::Result<Outcome> {
        match (outcome, &self.temporary) {
            (Ok(Outcome::Clean), _) if self.is_lossy => Ok(Outcome::WithLosses),
            (Err(error), Some(Temporary { opened, given, .. })) if !output::is_broken_pipe(&error) => {
                let dir = opened.dataset().unwrap_or(Path::new("")).display().to_string();
                let text = messages::chain(&error);
                Err(if text.contains(&dir) { anyhow::anyhow!("{}", text.replace(&dir, given)) } else { error })
            }
            (outcome, _) => outcome,
        }
    }
}

/// Removes a directory when a signal ends the program, as long as this lives.
struct Removal(Handle);

impl Removal {
    /// `None` where signals cannot be waited for; the directory is then removed when the command
    /// ends, and by no signal.
    #[expect(clippy::disallowed_methods, reason = "a directory of this process with a name that nobody knew before")]
    fn on_signals(dir: PathBuf) -> Option<Self> {
        // A thread that cannot be started must leave no signal caught.
        let (caught, to_be_caught) = std::sync::mpsc::sync_channel::<Signals>(1);
        let wait = move || {
            let Ok(mut signals) = to_be_caught.recv() else { return };
            if let Some(signal) = signals.forever().next() {
                // Other threads may write a file meanwhile.
                let _ = (0..REMOVALS).find(|_| fs::remove_dir_all(&dir).is_ok() || !dir.exists());
                let _ = emulate_default_handler(signal);
            }
        };
        std::thread::Builder::new().spawn(wait).ok()?;
        let ignored = ignored_signals();
        // A signal that whoever started the program has it ignore (nohup) does not end it.
        let signals = Signals::new(ENDING.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0)).ok()?;
        let handle = signals.handle();
        caught.send(signals).ok()?;
        Some(Self(handle))
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The signals that are ignored, a bit for each, as proc_pid_status(5) has them.
pub fn ignored_signals() -> u64 {
    let status = flowmine_files::kernel::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
