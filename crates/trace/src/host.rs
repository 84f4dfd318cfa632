//! What this host is: read in one place. Files of `/proc` are read below a root folder that tests
//! can choose.

use std::path::Path;

use crate::clock;
use flowmine_files::kernel;

/// A host, for the table `hosts`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostFacts {
    /// The host's name, `uname -n`.
    pub name: String,
    /// Id of the boot, `/proc/sys/kernel/random/boot_id`.
    pub boot_id: Option<String>,
    /// Release of the kernel, `uname -r`.
    pub kernel: Option<String>,
    /// The machine's architecture, `uname -m`.
    pub architecture: Option<String>,
    /// Number of processors that are online.
    pub processors: Option<u32>,
    /// Main memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Added to nanoseconds after boot it gives nanoseconds since 1970, when the trace began.
    pub boot_offset_ns: i64,
}

impl HostFacts {
    /// Reads them from the running kernel; `proc` is `/proc`.
    pub fn read(proc: &Path) -> Self {
        let uname = nix::sys::utsname::uname().ok();
        let of = |text: &std::ffi::OsStr| flowmine_schema::text::decode(std::os::unix::ffi::OsStrExt::as_bytes(text)).into_owned();
        HostFacts {
            name: uname.as_ref().map_or_else(|| "unknown".to_owned(), |u| of(u.nodename())),
            boot_id: kernel::read_to_string(proc.join("sys/kernel/random/boot_id")).ok().map(|id| id.trim().to_owned()),
            kernel: uname.as_ref().map(|u| of(u.release())),
            architecture: uname.as_ref().map(|u| of(u.machine())),
            processors: nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_ONLN).ok().flatten().and_then(|n| u32::try_from(n).ok()),
            memory_bytes: memory_bytes(&kernel::read_to_string(proc.join("meminfo")).unwrap_or_default()),
            boot_offset_ns: clock::pair().offset_ns(),
        }
    }
}

/// `MemTotal` of proc_meminfo(5), which is in KiB.
fn memory_bytes(meminfo: &str) -> Option<u64> {
    let rest = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The number of a user, given by name or number (getpwnam(3)).
pub fn user_id(name: &str) -> Option<u32> {
    name.parse().ok().or_else(|| nix::unistd::User::from_name(name).ok().flatten().map(|user| user.uid.as_raw()))
}

/// The number of a group, given by name or number (getgrnam(3)).
pub fn group_id(name: &str) -> Option<u32> {
    name.parse().ok().or_else(|| nix::unistd::Group::from_name(name).ok().flatten().map(|group| group.gid.as_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_in_kib() {
        assert_eq!(memory_bytes("MemTotal:       24684084 kB\nMemFree: 1 kB\n"), Some(24_684_084 * 1024));
        assert_eq!(memory_bytes("nothing"), None);
    }

    #[test]
    fn this_host_has_a_name_and_processors() {
        let facts = HostFacts::read(Path::new("/proc"));
        assert!(!facts.name.is_empty() && facts.processors > Some(0) && facts.memory_bytes > Some(0), "{facts:?}");
    }
}
