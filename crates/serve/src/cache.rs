//! Answers that are kept, with a bound on their bytes: those that were asked for longest ago go
//! first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::answer::Answer;

/// How long an answer without a result is kept: what failed may succeed later.
const FAILED: Duration = Duration::from_secs(10);

/// Answers by the requests that they answer.
#[derive(Debug)]
pub struct Cache {
    most: usize,
    bytes: usize,
    next: u64,
    answers: BTreeMap<String, Kept>,
    /// Keys by the number of their last use.
    used: BTreeMap<u64, String>,
}

#[derive(Debug)]
struct Kept {
    answer: Arc<Answer>,
    used: u64,
    made: Instant,
}

impl Cache {
    /// A cache for at most this number of bytes.
    pub fn new(most: usize) -> Self {
        Self { most, bytes: 0, next: 0, answers: BTreeMap::new(), used: BTreeMap::new() }
    }

    /// Number of bytes of the answers.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How long ago an answer that is kept was made.
    pub fn age(&self, key: &str) -> Option<Duration> {
        self.answers.get(key).map(|kept| kept.made.elapsed())
    }

    /// Returns an answer that is kept.
    pub fn get(&mut self, key: &str) -> Option<Arc<Answer>> {
        let kept = self.answers.get_mut(key)?;
        if !kept.answer.status.is_success() && kept.made.elapsed() > FAILED {
            self.remove(key);
            return None;
        }
        self.used.remove(&kept.used);
        kept.used = self.next;
        self.used.insert(self.next, key.to_owned());
        self.next += 1;
        Some(kept.answer.clone())
    }

    /// Keeps an answer, and drops others where there is no room. One that is larger than the cache
    /// is not kept.
    pub fn put(&mut self, key: &str, answer: Arc<Answer>) {
        self.remove(key);
        let bytes = answer.bytes();
        if bytes > self.most {
            return;
        }
        while self.bytes + bytes > self.most {
            let Some(oldest) = self.used.first_key_value().map(|(_, key)| key.clone()) else { break };
            self.remove(&oldest);
        }
        self.bytes += bytes;
        self.used.insert(self.next, key.to_owned());
        self.answers.insert(key.to_owned(), Kept { answer, used: self.next, made: Instant::now() });
        self.next += 1;
    }

    fn remove(&mut self, key: &str) {
        if let Some(kept) = self.answers.remove(key) {
            self.bytes -= kept.answer.bytes();
            self.used.remove(&kept.used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::TEXT;

    #[test]
    fn the_bytes_are_bounded_and_the_last_used_stay() {
        let answer = |bytes: usize| Arc::new(Answer::new(TEXT, vec![0u8; bytes]));
        let mut cache = Cache::new(10_000);
        cache.put("a", answer(3000));
        cache.put("b", answer(3000));
        assert!(cache.get("a").is_some());
        cache.put("c", answer(4000));
        assert!(cache.get("b").is_none() && cache.get("a").is_some() && cache.get("c").is_some());
        cache.put("d", answer(20_000));
        assert!(cache.get("d").is_none() && cache.bytes() <= 10_000);
        cache.put("a", answer(1));
        assert_eq!(cache.bytes(), 2 * 512 + 4001);
        assert_eq!(cache.used.len(), cache.answers.len());
    }
}
