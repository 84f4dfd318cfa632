//! What `/proc` contains about processes from before the trace, in addition to the kernel side:
//! their command lines and environments, which the kernel side cannot read of another process.
//! `/proc` may meanwhile speak of another process of the same number, so its start time is
//! compared.
//!
//! Who reads the memory of a process that hangs with it locked hangs too (mmap_read_lock in the
//! kernel's mm/memory.c), so that is done by a thread that can be left behind.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use flowmine_trace::proc::Proc;
use flowmine_trace::proc::facts::{arguments, chosen};
use flowmine_trace::record::{ProcessKey, ProcessNews};

/// Maximum number of threads that may be left behind. On a machine with more hanging processes,
/// command lines stay unknown.
const LEFT_BEHIND: usize = 8;

/// Command line and environment, of the process that was meant.
type Read = Option<(Vec<u8>, Option<Vec<u8>>)>;

/// Adds command lines and chosen variables, of which each is waited for at most as long as
/// `patience`. `limit` is in bytes of a command line.
pub fn add(processes: &mut [Box<ProcessNews>], proc: &Proc, limit: usize, environment: &[String], patience: Duration) {
    let keys: Vec<ProcessKey> = processes.iter().map(|news| news.process).collect();
    let (mut next, mut left_behind) = (0, 0);
    while next < keys.len() && left_behind < LEFT_BEHIND {
        let answers = read(proc.clone(), keys[next..].to_vec(), !environment.is_empty());
        for news in &mut processes[next..] {
            match answers.recv_timeout(patience) {
                Ok(Some((command, variables))) => {
                    let (arguments, cut) = arguments(&command, limit);
                    (news.facts.arguments, news.facts.arguments_cut) = (Some(arguments), cut);
                    news.facts.environment = variables.map(|block| chosen(&block, environment));
                }
                Ok(None) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    left_behind += 1;
                    next += 1;
                    break;
                }
            }
            next += 1;
        }
    }
}

/// Reads in another thread, which ends when the receiver is gone.
fn read(proc: Proc, keys: Vec<ProcessKey>, environment: bool) -> Receiver<Read> {
    let (tell, answers) = channel();
    // Without a thread there is no answer, and the text stays unknown.
    let _ = std::thread::Builder::new().spawn(move || {
        for key in keys {
            let read = || {
                let command = proc.read(key.pid, "cmdline")?;
                let variables = environment.then(|| proc.read(key.pid, "environ")).flatten();
                // Exact to a tick.
                (proc.key(key.pid)?.start_boot_ns / proc.tick_ns() == key.start_boot_ns / proc.tick_ns()).then_some((command, variables))
            };
            if tell.send(read()).is_err() {
                return;
            }
        }
    });
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_trace::record::{Counters, ProcessChange, ProcessFacts};

    /// A pipe without a writer keeps its reader, as a hanging process does.
    #[test]
    fn a_process_that_hangs_is_passed_by() {
        let dir = tempfile::tempdir().unwrap();
        let proc = Proc::at(dir.path());
        let ticks = 1000;
        let mut processes = Vec::new();
        for pid in 1..=4u32 {
            let own = dir.path().join(pid.to_string());
            std::fs::create_dir(&own).unwrap();
            // The third is another process by now.
            let started = if pid == 3 { ticks + 1 } else { ticks };
            std::fs::write(own.join("stat"), format!("{pid} (a) b) S 0 0 0 0 -1 0 0 0 0 0 5 6 0 0 20 0 1 0 {started} 0 0")).unwrap();
            if pid == 2 {
                nix::unistd::mkfifo(&own.join("cmdline"), nix::sys::stat::Mode::S_IRWXU).unwrap();
            } else {
                std::fs::write(own.join("cmdline"), "cat\0in\0").unwrap();
            }
            std::fs::write(own.join("environ"), "A=1\0B=2\0").unwrap();
            processes.push(Box::new(ProcessNews {
                process: ProcessKey { pid, start_boot_ns: ticks * proc.tick_ns() + 7 },
                at_boot_ns: 0,
                change: ProcessChange::Running,
                facts: ProcessFacts::default(),
                counters: Counters::default(),
            }));
        }
        add(&mut processes, &proc, 5, &["B".to_owned()], Duration::from_millis(200));
        let told: Vec<_> = processes.iter().map(|news| (news.facts.arguments.clone(), news.facts.environment.clone())).collect();
        let known = (Some(vec![b"cat".to_vec(), b"i".to_vec()]), Some(vec![("B".to_owned(), b"2".to_vec())]));
        assert_eq!(told, [known.clone(), (None, None), (None, None), known]);
        assert!(processes[0].facts.arguments_cut);
    }
}
