//! Progress on a terminal: a line a stage, and a bar where the amount of work is known. Elsewhere
//! nothing is shown.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// One stage of a command; the line goes away when it is dropped.
pub struct Stage(ProgressBar);

impl Stage {
    /// A stage of unknown length.
    pub fn new(what: &'static str) -> Self {
        let bar = ProgressBar::new_spinner().with_message(what);
        // The thread that ticks is started without a question.
        if !bar.is_hidden() && flowmine_threads::can_start() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self(bar)
    }
}

impl flowmine_api::Stage for Stage {
    fn at(&self, done: usize, total: usize) {
        if self.0.length() != Some(total as u64) {
            self.0.set_length(total as u64);
            if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}") {
                self.0.set_style(style);
            }
        }
        self.0.set_position(done as u64);
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
