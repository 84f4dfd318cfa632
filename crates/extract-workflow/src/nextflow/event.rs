//! An event of Nextflow's log: a line with its logger and message, and its continuation lines.

use super::clock::Stamp;

/// Maximum size in bytes of a message of several lines.
pub const MOST_CONTINUATION: usize = 256 << 10;

/// The levels, in the form in which they follow a thread.
pub const LEVELS: [&str; 5] = ["] TRACE ", "] DEBUG ", "] INFO ", "] WARN ", "] ERROR "];

/// A line with its continuation.
pub struct Event {
    pub line: u64,
    pub stamp: Option<Stamp>,
    pub is_error: bool,
    pub logger: String,
    pub message: String,
    /// Offset of the message in its line, in bytes.
    pub column: usize,
    pub more: String,
    /// Whether the file ends within the event.
    pub cut: bool,
}

impl Event {
    /// Parses the text after the time: `[main] DEBUG nextflow.Session - Session start`.
    pub fn new(line: u64, stamp: Option<Stamp>, rest: &str, at: usize) -> Self {
        let level = LEVELS.iter().filter_map(|level| Some((rest.find(level)?, level))).min();
        let after = level.map_or(0, |(at, level)| at + level.len());
        let (logger, message_at) =
            rest[after..].find(" - ").map_or((rest, rest.len()), |dash| (&rest[after..after + dash], after + dash + 3));
        Self {
            line,
            stamp,
            is_error: level.is_some_and(|(_, level)| *level == "] ERROR "),
            logger: logger.trim().to_owned(),
            message: rest[message_at..].to_owned(),
            column: at + message_at,
            more: String::new(),
            cut: false,
        }
    }

    /// Adds a line to the continuation, up to the maximum size.
    pub fn go_on(&mut self, line: &str) {
        if self.more.len() + line.len() < MOST_CONTINUATION {
            self.more.push_str(line);
            self.more.push('\n');
        }
    }

    /// Whether a run begins with this event.
    pub fn is_launch(&self) -> bool {
        self.logger.ends_with(".Launcher") && self.message.starts_with("$>")
    }

    /// Whether a user's script wrote this event.
    pub fn is_of_script(&self) -> bool {
        self.logger == "nextflow.Nextflow" || self.logger.starts_with("nextflow.script.") && !self.logger.ends_with(".ScriptRunner")
    }
}
