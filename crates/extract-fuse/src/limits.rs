//! Limits of the tracer that would otherwise be those of the command (getrlimit(2)), and the
//! command's own as they were.

use std::sync::OnceLock;

/// What the command has open and what the kernel knows takes descriptors here: as many as we may
/// have. Returns the limit as it was, and how many there are now.
pub(crate) fn raise_limit() -> (libc::rlimit, usize) {
    let mut limit = libc::rlimit { rlim_cur: 1024, rlim_max: 1024 };
    let most = std::fs::read_to_string("/proc/sys/fs/nr_open").ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1 << 20);
    // SAFETY: the structures are of this frame.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let all = libc::rlimit { rlim_cur: most, rlim_max: limit.rlim_max.max(most) };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &all) != 0 {
            libc::setrlimit(libc::RLIMIT_NOFILE, &libc::rlimit { rlim_cur: limit.rlim_max, ..limit });
        }
        let mut now = limit;
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut now);
        (limit, usize::try_from(now.rlim_cur).unwrap_or(usize::MAX))
    }
}

/// The limit of file sizes as it was.
static FILE_SIZE: OnceLock<libc::rlimit> = OnceLock::new();

/// What the command writes is written here, too: the kernel has held it to the command's limit by
/// then, which need not be ours any more.
pub(crate) fn lift_file_size() {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the structures are of this frame.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) == 0 {
            FILE_SIZE.get_or_init(|| limit);
            libc::setrlimit(libc::RLIMIT_FSIZE, &libc::rlimit { rlim_cur: limit.rlim_max, ..limit });
        }
    }
}

/// In the child before its exec: gives it back the limit that it had.
pub(crate) fn restore_file_size() {
    if let Some(limit) = FILE_SIZE.get() {
        // SAFETY: a plain system call.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, limit) };
    }
}
