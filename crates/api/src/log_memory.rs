//! Logs that are kept in memory, for callers that make several models of the same log.
//!
//! What is kept is the log before the filters that choose among its instances: the part that is
//! asked for is taken of a copy. Messages of reading a log are passed on each time.

use std::sync::{Arc, Mutex, PoisonError};

use flowmine_activity_log::ActivityLog;

use crate::report::messages::Messages;
use crate::sink::Sink;

/// Logs with a bound on their bytes.
#[derive(Debug)]
pub struct LogMemory {
    most: usize,
    /// The last used at the end.
    kept: Mutex<Vec<Entry>>,
}

#[derive(Debug)]
struct Entry {
    key: String,
    bytes: usize,
    log: Arc<KeptLog>,
}

/// A log that is kept.
#[derive(Debug)]
pub(crate) struct KeptLog {
    pub log: ActivityLog,
    pub is_lossy: bool,
    /// The names of its account and user.
    pub names: [&'static str; 2],
    /// The messages of reading it.
    pub messages: Vec<String>,
}

/// The logs of one state of a source.
#[derive(Debug, Clone)]
pub struct Remembered {
    /// The logs.
    pub memory: Arc<LogMemory>,
    /// The state of the source: a log of another state is not used.
    pub state: String,
}

impl LogMemory {
    /// A memory for at most this number of bytes, not counting copies that are in use.
    pub fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// Number of bytes of the logs.
    pub fn bytes(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|entry| entry.bytes).sum()
    }
}

impl Remembered {
    /// Returns a log that is kept, and passes its messages on.
    pub(crate) fn get(&self, key: &str, sink: &dyn Sink) -> Option<Arc<KeptLog>> {
        let key = self.key(key);
        let mut kept = self.memory.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|entry| entry.key == key)?;
        let entry = kept.remove(at);
        let log = entry.log.clone();
        kept.push(entry);
        drop(kept);
        for message in &log.messages {
            match (message.strip_prefix(Messages::NOTE), message.strip_prefix(Messages::WARNING)) {
                (_, Some(text)) => sink.warning(text),
                (Some(text), _) => sink.note(text),
                (None, None) => sink.note(message),
            }
        }
        Some(log)
    }

    /// Whether a log can be kept.
    pub(crate) fn has_room(&self, log: &ActivityLog) -> bool {
        log.size_bytes() <= self.memory.most
    }

    /// Keeps a log, and drops those that were used longest ago where there is no room.
    pub(crate) fn put(&self, key: &str, log: KeptLog) {
        let (key, bytes) = (self.key(key), log.log.size_bytes());
        if bytes > self.memory.most {
            return;
        }
        let mut kept = self.memory.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have read the same.
        kept.retain(|entry| entry.key != key);
        while kept.iter().map(|entry| entry.bytes).sum::<usize>() + bytes > self.memory.most {
            kept.remove(0);
        }
        kept.push(Entry { key, bytes, log: Arc::new(log) });
    }

    fn key(&self, key: &str) -> String {
        format!("{} {key}", self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::Silent;

    fn log(instances: usize, message: &str) -> KeptLog {
        let mut log = ActivityLog::default();
        log.instances.activity = vec![0; instances];
        KeptLog { log, is_lossy: false, names: ["", ""], messages: vec![message.to_owned()] }
    }

    #[test]
    fn logs_of_this_state_are_found_with_their_messages_until_others_need_the_room() {
        let of = |state: &str, memory: &Arc<LogMemory>| Remembered { memory: memory.clone(), state: state.to_owned() };
        let memory = Arc::new(LogMemory::new(10_000));
        let (one, two) = (of("1", &memory), of("2", &memory));
        one.put("a", log(1000, "Warning: odd"));
        let messages = Messages::new(&Silent);
        assert!(one.get("a", &messages).is_some_and(|kept| kept.log.len() == 1000));
        assert_eq!(messages.all(), ["Warning: odd"]);
        assert!(two.get("a", &Silent).is_none());
        two.put("a", log(2000, "Note: b"));
        assert!(one.get("a", &Silent).is_none() && two.get("a", &Silent).is_some(), "no room for both");
        two.put("b", log(1_000_000, ""));
        assert!(two.get("b", &Silent).is_none() && memory.bytes() <= 10_000);
    }
}
