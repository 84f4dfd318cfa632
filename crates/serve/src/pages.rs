//! Which state of the source a page is of.
//!
//! An observed source can change more often than its page is made. So a page that is in work or was
//! just made is shown as it is, and the page itself reports that the source has changed.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::engine::Ask;
use crate::pool::Pool;

/// How long a page that was made counts as just made.
const JUST: Duration = Duration::from_secs(15);
/// Number of pages of which the state is remembered.
const MOST: usize = 256;

/// The states of the pages that were asked for last, by what was asked.
#[derive(Debug, Default)]
pub struct Pages(Mutex<BTreeMap<String, String>>);

impl Pages {
    /// Returns the state of the page that is or was made last; `None` for one that was not asked for.
    pub fn state(&self, ask: &Ask) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&ask.key("")).cloned()
    }

    /// Returns the state of which the page is shown: the present one, or that of the page that is in
    /// work or was just made.
    pub fn choose(&self, ask: &Ask, present: &str, pool: &Pool) -> String {
        let known = self.state(ask).filter(|state| state != present);
        match known.filter(|state| pool.is_recent(&ask.key(state), JUST)) {
            Some(state) => state,
            None => present.to_owned(),
        }
    }

    /// Remembers the state of which a page is made.
    pub fn put(&self, ask: &Ask, state: &str) {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        states.insert(ask.key(""), state.to_owned());
        if states.len() > MOST {
            states.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{Answer, TEXT};
    use crate::pool::Asked;

    #[test]
    fn a_page_in_work_or_just_made_is_shown_though_the_source_changed() {
        let (pages, pool) = (Pages::default(), Pool::new(1, 1 << 20).expect("threads"));
        let ask = Ask::Page(Vec::new());
        assert_eq!((pages.state(&ask), pages.choose(&ask, "1", &pool)), (None, "1".to_owned()));
        pages.put(&ask, "1");
        assert_eq!(pages.choose(&ask, "2", &pool), "2", "nothing is in work");
        let (go, gone) = std::sync::mpsc::channel::<()>();
        let asked = pool.ask(&ask.key("1"), || {
            Box::new(move |_| {
                let _ = gone.recv();
                Answer::new(TEXT, "page")
            })
        });
        assert_eq!(pages.choose(&ask, "2", &pool), "1", "it is in work");
        go.send(()).expect("it waits");
        let Some(Asked::Working(waiting)) = asked else { panic!("it is in work") };
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(waiting.answer());
        assert_eq!(pages.choose(&ask, "2", &pool), "1", "it was just made");
        assert_eq!(pages.choose(&Ask::Page(vec![("user".to_owned(), "ann".to_owned())]), "2", &pool), "2");
        pool.close(Duration::from_secs(10));
    }
}
