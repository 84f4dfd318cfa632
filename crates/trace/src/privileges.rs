//! Giving up capabilities (capabilities(7)), and their owner.

/// `struct __user_cap_header_struct` of linux/capability.h.
#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

/// `struct __user_cap_data_struct`; version 3 has two.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Data {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;
/// A file of one's own may be read-only: root can still write root's dataset.
const DAC_OVERRIDE: u32 = 1;

/// The user who started this program when it got its rights by its file (file capabilities,
/// set-uid) and not by who started it. The kernel says so (`AT_SECURE`, getauxval(3)); a user
/// cannot take that away. Such rights are lent: with them a user may see what is his own, and
/// nothing else.
pub fn lent_to() -> Option<u32> {
    // SAFETY: both only return numbers.
    let (user, secure) = unsafe { (libc::getuid(), libc::getauxval(libc::AT_SECURE)) };
    (user != 0 && secure != 0).then_some(user)
}

/// With lent rights: goes back to the caller's user and group for good, where the file was set-uid
/// or set-gid, and keeps no capability but these. Returns whether that could be done.
pub fn keep_of_lent(capabilities: &[u32]) -> bool {
    // SAFETY: plain system calls with numbers.
    let ids = unsafe {
        let (user, group) = (libc::getuid(), libc::getgid());
        let (own_user, own_group) = (libc::geteuid() == user, libc::getegid() == group);
        (own_group || libc::setresgid(group, group, group) == 0) && (own_user || libc::setresuid(user, user, user) == 0)
    };
    ids && keep(capabilities)
}

/// Gives up every capability of this thread but these, and those that it needs to go on writing its
/// output. Failing is harmless: then it keeps them.
pub fn keep_only(capabilities: &[u32]) {
    let all: Vec<u32> = capabilities.iter().copied().chain([DAC_OVERRIDE]).collect();
    keep(&all);
}

/// Gives up every capability of this thread but these; returns whether that could be done.
fn keep(capabilities: &[u32]) -> bool {
    let mut header = Header { version: VERSION, pid: 0 };
    let mut data = [Data::default(); 2];
    // SAFETY: header and data are laid out as capget(2) and capset(2) expect for version 3, and live until the calls return; 0 is the calling thread.
    unsafe {
        if libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) != 0 {
            return false;
        }
        let mut kept = [0u32; 2];
        for &capability in capabilities {
            if let Some(word) = kept.get_mut((capability / 32) as usize) {
                *word |= 1 << (capability % 32);
            }
        }
        for (data, kept) in data.iter_mut().zip(kept) {
            data.effective &= kept;
            data.permitted &= kept;
            data.inheritable = 0;
        }
        libc::syscall(libc::SYS_capset, &raw mut header, data.as_ptr()) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_up_is_gone_in_this_thread_only() {
        let held = |thread: &str| {
            let status = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
            u64::from_str_radix(line.trim(), 16).unwrap()
        };
        let before = held("thread-self");
        let after = std::thread::spawn(move || {
            keep_only(&[39, 38]);
            held("thread-self")
        });
        assert_eq!(after.join().unwrap(), before & (1 << 39 | 1 << 38 | 1 << 1));
        assert_eq!(held("thread-self"), before);
    }
}
