//! Panics that are expected and caught, without a word on standard error.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What `work` gives, or `None` when it panics: polars trusts a file's own numbers in places and
/// panics on damaged ones. The file is refused with an error then, and a backtrace would only hide
/// it.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.try_with(Cell::get).unwrap_or(false) {
                others(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::thread;

    /// The test runs itself once more, because a hook is one for all threads of a process.
    #[test]
    fn only_what_is_caught_is_quiet() {
        const INNER: &str = "FLOWMINE_TEST_QUIET";
        let name = "quiet::tests::only_what_is_caught_is_quiet";
        if std::env::var_os(INNER).is_none() {
            let mut again = Command::new(std::env::current_exe().unwrap());
            let output = again.args(["--exact", name, "--nocapture"]).env(INNER, "1").output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.contains("is shown"), "{said}");
            assert!(!said.contains("is hidden"), "{said}");
            return;
        }
        assert_eq!(caught(|| 1), Some(1));
        assert_eq!(caught(|| panic!("is hidden")), None::<()>);
        assert!(thread::spawn(|| panic!("is shown")).join().is_err());
    }
}
