//! Whether this backend works here, and what it can see: facts by trying, and what follows from
//! them.

use std::path::Path;

use flowmine_files::kernel;
use flowmine_trace::options::Detail;
use flowmine_trace::probe::{Check, Verdict};
use flowmine_trace::proc::memory::Memory;

use crate::calls;
use crate::filter;
use crate::requests::{self, CallStop, Shared};

/// What of the host decides whether ptrace can trace here, and how well.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// `kernel.yama.ptrace_scope`; `None` without Yama, which then forbids nothing.
    pub yama: Option<u8>,
    /// Whether a child could be traced, or what the system said.
    pub trace: Option<Result<(), String>>,
    /// Whether a stop says which call it is of (`PTRACE_GET_SYSCALL_INFO`, Linux 5.3).
    pub call_info: bool,
    /// Whether the kernel has `SECCOMP_RET_TRACE` and takes our filter, or what it said.
    pub filter: Option<Result<(), String>>,
    /// Whether the filter is taken without `no_new_privs` (CAP_SYS_ADMIN), so that set-uid programs
    /// stay what they are.
    pub keeps_privileges: bool,
    /// Whether kcmp(2) can compare open files.
    pub kcmp: bool,
    /// Whether memory of a traced process can be read (process_vm_readv(2)).
    pub memory: bool,
    /// Whether counters of a traced process can be read (`/proc/PID/io`).
    pub counters: bool,
}

impl Facts {
    /// Tries everything on a child that does nothing. `proc` is `/proc`.
    pub fn read(proc: &Path) -> Self {
        let yama = kernel::read_to_string(proc.join("sys/kernel/yama/ptrace_scope")).ok().and_then(|text| text.trim().parse().ok());
        let mut facts = Facts { yama, ..Facts::default() };
        let filter = filter::program(&calls::calls(Detail::Events), &calls::foreign(Detail::Events));
        let witness = [0x5eed_u64];
        // SAFETY: the child calls only pause(2) and _exit(2).
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            loop {
                // SAFETY: as above.
                unsafe { libc::pause() };
            }
        }
        if pid < 0 {
            facts.trace = Some(Err(std::io::Error::last_os_error().to_string()));
            return facts;
        }
        let tid = pid as u32;
        facts.trace = Some(requests::seize(tid).map_err(|e| e.to_string()));
        if facts.trace == Some(Ok(())) {
            let mut status = 0;
            // SAFETY: numbers, and a status of ours.
            let stopped = unsafe {
                libc::ptrace(libc::PTRACE_INTERRUPT, pid, 0, 0) == 0
                    && libc::waitpid(pid, &raw mut status, libc::__WALL) == pid
                    && libc::WIFSTOPPED(status)
            };
            facts.call_info = stopped && matches!(requests::call_stop(tid), Ok(CallStop::None | CallStop::Entry | CallStop::Exit(_)));
            facts.memory = Memory::of_own(tid).word(witness.as_ptr() as usize as u64) == Some(witness[0]);
            facts.kcmp = requests::same(std::process::id(), tid, Shared::Descriptors) == Some(false);
            facts.counters = kernel::read(proc.join(format!("{pid}/io"))).is_ok_and(|text| text.starts_with(b"rchar"));
        }
        // SAFETY: the process is our child and was not waited for to its end, so that its number is still its own.
        unsafe {
            libc::kill(pid, libc::SIGKILL);
            libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL);
        }
        let (taken, without) = try_filter(&filter);
        (facts.filter, facts.keeps_privileges) = (Some(taken), without);
        facts
    }
}

/// Installs a filter in a child that ends at once. The second value says whether that took no
/// giving up of privileges.
fn try_filter(filter: &[libc::sock_filter]) -> (Result<(), String>, bool) {
    // SAFETY: the child makes system calls only, with memory that was made before.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: as above; the exit code shows it.
        unsafe {
            let before = libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
            if !crate::start::install(filter) {
                libc::_exit((*libc::__errno_location()).min(255));
            }
            let after = libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
            // Neither is an error number that a filter gives.
            libc::_exit(if before == after { 0 } else { 254 });
        }
    }
    let mut status = 0;
    // SAFETY: the status is ours.
    if pid < 0 || unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) } != pid {
        return (Err(std::io::Error::last_os_error().to_string()), false);
    }
    match libc::WEXITSTATUS(status) {
        _ if !libc::WIFEXITED(status) => (Err("the process that tried was killed".to_owned()), false),
        0 => (Ok(()), true),
        254 => (Ok(()), false),
        error => (Err(std::io::Error::from_raw_os_error(error).to_string()), false),
    }
}

/// What follows from the facts.
pub fn verdict(facts: &Facts) -> Verdict {
    let refused = |result: &Option<Result<(), String>>| match result {
        Some(Ok(())) => (true, "yes".to_owned()),
        Some(Err(reason)) => (false, reason.clone()),
        None => (false, "was not tried".to_owned()),
    };
    let ((traces, trace), (filters, filter)) = (refused(&facts.trace), refused(&facts.filter));
    let scope = match facts.yama {
        None => "without Yama".to_owned(),
        Some(scope) => format!("kernel.yama.ptrace_scope = {scope}"),
    };
    let remedy = match facts.yama {
        Some(3) => "restart with kernel.yama.ptrace_scope below 3: it cannot be lowered while the system runs",
        Some(2) => "sysctl kernel.yama.ptrace_scope=1, or run with CAP_SYS_PTRACE",
        _ => "allow ptrace in the sandbox or container (podman run --cap-add=SYS_PTRACE, or a seccomp profile that has it)",
    };
    let works = traces && filters && facts.call_info && facts.memory;
    let reason = if !traces {
        format!("a child cannot be traced ({trace}; {scope})")
    } else if !filters {
        format!("no system-call filter can be installed ({filter})")
    } else if !facts.call_info {
        "the kernel is older than 5.3 (no PTRACE_GET_SYSCALL_INFO)".to_owned()
    } else {
        "the memory of a traced process cannot be read (process_vm_readv)".to_owned()
    };
    let mut how = "a command of your own, by ptrace and seccomp".to_owned();
    if !facts.keeps_privileges {
        how.push_str("; set-uid programs in it get no privileges");
    }
    let sandbox = "allow it in the sandbox or container";
    Verdict {
        backend: "ptrace",
        works,
        how: if works { how } else { reason },
        whole_host: false,
        checks: vec![
            Check::new("trace a child", traces, format!("{trace}, {scope}")).or(remedy),
            Check::new("system-call filter", filters, filter)
                .or("a kernel with CONFIG_SECCOMP_FILTER, or a sandbox that lets programs filter"),
            Check::new("calls are reported", facts.call_info, yes(facts.call_info)).or("Linux 5.3 or later"),
            Check::new("read the memory of a traced process", facts.memory, yes(facts.memory)).or(sandbox),
            Check::new("set-uid programs keep their privileges", facts.keeps_privileges, yes(facts.keeps_privileges))
                .or("run with CAP_SYS_ADMIN; without it they run as the caller"),
            Check::new("kcmp tells open files apart", facts.kcmp, yes(facts.kcmp))
                .or("a kernel with CONFIG_KCMP, and a sandbox that allows it; without it descriptors passed over sockets have no handle"),
            Check::new("counters of processes", facts.counters, yes(facts.counters)).or("a kernel with CONFIG_TASK_IO_ACCOUNTING"),
        ],
    }
}

fn yes(holds: bool) -> &'static str {
    if holds { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Facts {
        Facts {
            yama: Some(1),
            trace: Some(Ok(())),
            call_info: true,
            filter: Some(Ok(())),
            keeps_privileges: false,
            kcmp: true,
            memory: true,
            counters: true,
        }
    }

    #[test]
    fn works_without_privilege_and_says_what_that_means() {
        let verdict = verdict(&good());
        assert!(verdict.works && !verdict.whole_host);
        assert!(verdict.how.contains("set-uid"), "{}", verdict.how);
        assert!(!super::verdict(&Facts { keeps_privileges: true, ..good() }).how.contains("set-uid"));
    }

    #[test]
    fn what_is_missing_is_the_reason() {
        let reasons = [
            (Facts { yama: Some(3), trace: Some(Err("Operation not permitted".into())), ..good() }, "ptrace_scope = 3"),
            (Facts { filter: Some(Err("Invalid argument".into())), ..good() }, "Invalid argument"),
            (Facts { call_info: false, ..good() }, "5.3"),
            (Facts { memory: false, ..good() }, "memory"),
            (Facts::default(), "was not tried"),
        ];
        for (facts, reason) in reasons {
            let verdict = verdict(&facts);
            assert!(!verdict.works && verdict.how.contains(reason), "{facts:?}: {}", verdict.how);
            assert!(verdict.checks.iter().any(|check| check.remedy.is_some()));
        }
        // Without kcmp it works, with less.
        assert!(verdict(&Facts { kcmp: false, ..good() }).works);
    }

    #[test]
    fn this_machine_is_as_consistent_as_any() {
        let facts = Facts::read(Path::new("/proc"));
        assert!(facts.trace.is_some() && facts.filter.is_some(), "{facts:?}");
    }
}
