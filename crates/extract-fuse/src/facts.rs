//! Whether an overlay can be had on this host: what is read of the host, and what follows from it.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use flowmine_files::kernel;
use flowmine_trace::probe::{Check, Verdict};

use crate::wire::init;

/// What of the host decides whether an overlay by FUSE is possible, and which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FuseFacts {
    /// Whether `/dev/fuse` exists.
    pub device_exists: bool,
    /// Whether this process may open it for reading and writing.
    pub device_opens: bool,
    /// `CAP_SYS_ADMIN` over our own namespaces: a mount namespace needs no user namespace then.
    pub admin: bool,
    /// How many user namespaces a user may have (`/proc/sys/user/max_user_namespaces`); `None`
    /// where the kernel has none.
    pub user_namespaces: Option<u64>,
    /// Debian's `kernel.unprivileged_userns_clone`, where there is one.
    pub userns_clone: Option<bool>,
    /// `kernel.apparmor_restrict_unprivileged_userns`, where there is one.
    pub apparmor_restricts: Option<bool>,
    /// Most pages of a request (`/proc/sys/fs/fuse/max_pages_limit`); `None` before Linux 6.13,
    /// where it is 256.
    pub max_pages: Option<u32>,
    /// `/proc` belongs to a PID namespace that differs from ours: its numbers are not those of
    /// requests.
    pub foreign_proc: bool,
}

/// What an overlay can be here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FuseDecision {
    /// With `CAP_SYS_ADMIN`: for processes of all users.
    Privileged,
    /// In a user namespace: for processes of our user.
    UserNamespace,
    /// Not at all: why, and the line that would enable it.
    No {
        /// Why there can be no overlay here.
        why: String,
        /// What an administrator can type.
        enable: Option<String>,
    },
}

impl FuseFacts {
    /// Reads them from the host; `root` is `/` but for tests.
    pub fn read(root: &Path) -> Self {
        let proc = root.join("proc");
        let number = |name: &str| kernel::read_to_string(proc.join(name)).ok().and_then(|text| text.trim().parse::<u64>().ok());
        let device = root.join("dev/fuse");
        let opens = CString::new(device.as_os_str().as_bytes()).is_ok_and(|path| {
            // SAFETY: a zero-terminated path; what was opened is closed again.
            unsafe {
                let fd = libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
                fd >= 0 && libc::close(fd) == 0
            }
        });
        let status = kernel::read_to_string(proc.join("self/status")).unwrap_or_default();
        FuseFacts {
            device_exists: device.exists(),
            device_opens: opens,
            admin: capabilities(&status) & (1 << 21) != 0,
            foreign_proc: status.lines().find_map(|line| line.strip_prefix("NSpid:")).is_some_and(|of| of.split_whitespace().count() != 1),
            user_namespaces: number("sys/user/max_user_namespaces"),
            userns_clone: number("sys/kernel/unprivileged_userns_clone").map(|value| value != 0),
            apparmor_restricts: number("sys/kernel/apparmor_restrict_unprivileged_userns").map(|value| value != 0),
            max_pages: number("sys/fs/fuse/max_pages_limit").and_then(|pages| u32::try_from(pages).ok()),
        }
    }

    /// Most pages that we ask a request to have: 16 MiB of memory for each serving thread are
    /// enough.
    pub fn pages(&self) -> u16 {
        self.max_pages.unwrap_or(256).clamp(32, 4096) as u16
    }
}

/// `CapEff` of proc_pid_status(5).
fn capabilities(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0)
}

/// Decides from the facts which overlay is possible.
pub fn decide(facts: &FuseFacts) -> FuseDecision {
    let no = |why: &str, enable: Option<&str>| FuseDecision::No { why: why.to_owned(), enable: enable.map(str::to_owned) };
    if !facts.device_exists {
        return no("there is no /dev/fuse", Some("modprobe fuse"));
    }
    if !facts.device_opens {
        return no("/dev/fuse cannot be opened by this user", Some("chmod 666 /dev/fuse"));
    }
    if facts.foreign_proc {
        return no("/proc is that of another PID namespace, so that callers cannot be identified", Some("mount -t proc proc /proc"));
    }
    if facts.admin {
        return FuseDecision::Privileged;
    }
    match facts.user_namespaces {
        None => return no("this kernel has no user namespaces, and mounting without them needs CAP_SYS_ADMIN", None),
        Some(0) => return no("user namespaces are turned off", Some("sysctl user.max_user_namespaces=15000")),
        Some(_) => {}
    }
    if facts.userns_clone == Some(false) {
        return no("user namespaces are turned off for users", Some("sysctl kernel.unprivileged_userns_clone=1"));
    }
    if facts.apparmor_restricts == Some(true) {
        return no(
            "AppArmor takes the rights in user namespaces away from programs without a profile",
            Some("sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
        );
    }
    FuseDecision::UserNamespace
}

/// The finding, for `flowmine doctor`.
pub fn verdict(facts: &FuseFacts) -> Verdict {
    let decision = decide(facts);
    let (works, how) = match &decision {
        FuseDecision::Privileged => (true, "an overlay for processes of all users".to_owned()),
        FuseDecision::UserNamespace => (true, "an overlay in a user namespace".to_owned()),
        FuseDecision::No { why, .. } => (false, why.clone()),
    };
    let namespaces = match facts.user_namespaces {
        None => "the kernel has none".to_owned(),
        Some(most) => format!("user.max_user_namespaces = {most}"),
    };
    let allowed =
        facts.user_namespaces.is_some_and(|most| most > 0) && facts.userns_clone != Some(false) && facts.apparmor_restricts != Some(true);
    let device = if facts.device_opens { "can be opened" } else { "cannot be opened" };
    let mut checks = vec![
        Check::new("/dev/fuse", facts.device_opens, if facts.device_exists { device } else { "is not there" }),
        Check::new("CAP_SYS_ADMIN", facts.admin, if facts.admin { "held" } else { "not held; user namespaces do without" }),
        Check::new("user namespaces", allowed, namespaces),
    ];
    if let FuseDecision::No { why, enable: Some(line) } = &decision {
        checks.push(Check::new("an overlay", false, why.clone()).or(line.clone()));
    }
    Verdict { backend: "fuse", works, how, whole_host: false, checks }
}

/// The features that we use of those that the kernel offers.
pub(crate) fn features_wanted(privileged: bool) -> u64 {
    let always = init::ASYNC_READ
        | init::POSIX_LOCKS
        | init::FLOCK_LOCKS
        | init::ATOMIC_O_TRUNC
        | init::BIG_WRITES
        | init::DONT_MASK
        | init::IOCTL_DIR
        | init::AUTO_INVAL_DATA
        | init::DO_READDIRPLUS
        | init::READDIRPLUS_AUTO
        | init::PARALLEL_DIROPS
        | init::MAX_PAGES
        | init::CACHE_SYMLINKS
        | init::HANDLE_KILLPRIV_V2
        | init::SETXATTR_EXT
        | init::INIT_EXT
        | init::DIRECT_IO_ALLOW_MMAP
        // Without it io_uring reads some bytes twice where a file ends: it goes on after a short read, and the kernel has not moved its position.
        | init::ASYNC_DIO;
    // Access lists are checked by the kernel as the caller; without privileges the file system underneath checks, since the caller is we.
    if privileged { always | init::POSIX_ACL | init::PASSTHROUGH } else { always }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: FuseFacts = FuseFacts {
        device_exists: true,
        device_opens: true,
        admin: false,
        user_namespaces: Some(1000),
        userns_clone: None,
        apparmor_restricts: None,
        max_pages: None,
        foreign_proc: false,
    };

    #[test]
    fn what_a_host_allows() {
        assert_eq!(decide(&USER), FuseDecision::UserNamespace);
        assert_eq!(decide(&FuseFacts { admin: true, user_namespaces: Some(0), ..USER }), FuseDecision::Privileged);
        let refused = [
            (FuseFacts { device_exists: false, ..USER }, "modprobe"),
            (FuseFacts { device_opens: false, admin: true, ..USER }, "chmod"),
            (FuseFacts { foreign_proc: true, admin: true, ..USER }, "mount -t proc"),
            (FuseFacts { user_namespaces: Some(0), ..USER }, "user.max_user_namespaces"),
            (FuseFacts { userns_clone: Some(false), ..USER }, "unprivileged_userns_clone"),
            (FuseFacts { apparmor_restricts: Some(true), ..USER }, "apparmor"),
        ];
        for (facts, line) in refused {
            let FuseDecision::No { enable: Some(enable), .. } = decide(&facts) else { panic!("{facts:?}") };
            assert!(enable.contains(line), "{enable}");
        }
        assert!(matches!(decide(&FuseFacts { user_namespaces: None, ..USER }), FuseDecision::No { enable: None, .. }));
    }

    #[test]
    fn facts_are_read_below_a_root() {
        let root = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("proc/self/status", "Name:\tx\nNSpid:\t7\nCapEff:\t0000000000200000\n"),
            ("proc/sys/user/max_user_namespaces", "12\n"),
            ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"),
            ("proc/sys/fs/fuse/max_pages_limit", "512\n"),
            ("dev/fuse", ""),
        ] {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let facts = FuseFacts::read(root.path());
        let want = FuseFacts { admin: true, user_namespaces: Some(12), apparmor_restricts: Some(true), max_pages: Some(512), ..USER };
        assert_eq!(facts, want);
        assert_eq!(facts.pages(), 512);
        std::fs::write(root.path().join("proc/self/status"), "NSpid:\t7\t1\n").unwrap();
        assert!(FuseFacts::read(root.path()).foreign_proc);
        assert_eq!(FuseFacts::read(Path::new("/nonexistent")), FuseFacts::default());
    }
}
