//! Starting a command under the filter and under our eyes.
//!
//! In: what to run. Out: the number of a process that has not yet become the program: from there on
//! nothing of it is missed. What cannot be started is an error with the reason that the system
//! gave.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use flowmine_trace::TraceError;

use crate::requests;

/// The command that is started and traced.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// The program, looked for in `PATH` when it has no slash, and its arguments.
    pub arguments: Vec<OsString>,
    /// Its environment; `None` for our own.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Its working directory; `None` for our own.
    pub directory: Option<PathBuf>,
}

impl Command {
    /// A program with its arguments.
    pub fn new(arguments: &[OsString]) -> Self {
        Command { arguments: arguments.to_vec(), ..Command::default() }
    }
}

/// Everything that the child needs, made before the fork: after it nothing may be allocated.
struct Prepared {
    candidates: Vec<CString>,
    arguments: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    directory: Option<CString>,
    /// Owns the texts to which the pointers above point.
    _texts: (Vec<CString>, Vec<CString>),
}

fn c_string(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "an argument has a zero byte"))
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

impl Prepared {
    fn new(command: &Command) -> io::Result<Self> {
        let arguments: Vec<CString> = command.arguments.iter().map(|argument| c_string(argument.as_bytes())).collect::<io::Result<_>>()?;
        let pairs = command.environment.clone().unwrap_or_else(|| std::env::vars_os().collect());
        let environment: Vec<CString> =
            pairs.iter().map(|(name, value)| c_string(&[name.as_bytes(), b"=", value.as_bytes()].concat())).collect::<io::Result<_>>()?;
        let program = command.arguments.first().map(|program| program.as_bytes()).unwrap_or_default();
        let candidates = if program.contains(&b'/') {
            vec![c_string(program)?]
        } else {
            let path = pairs.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_bytes().to_vec());
            // As execvp(3) has it.
            let path = path.unwrap_or_else(|| b"/bin:/usr/bin".to_vec());
            let dirs = path.split(|&byte| byte == b':').map(|dir| if dir.is_empty() { &b"."[..] } else { dir });
            dirs.map(|dir| c_string(&[dir, b"/", program].concat())).collect::<io::Result<_>>()?
        };
        Ok(Prepared {
            candidates,
            arguments: pointers(&arguments),
            environment: pointers(&environment),
            directory: command.directory.as_ref().map(|dir| c_string(dir.as_os_str().as_bytes())).transpose()?,
            _texts: (arguments, environment),
        })
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both were just made and have no other owner.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// A command that is traced and waits to become its program.
pub(crate) struct Started {
    pub(crate) pid: u32,
    go: OwnedFd,
    failed: OwnedFd,
}

impl Started {
    /// Lets the command run, which has waited to be traced.
    pub(crate) fn release(&self) {
        // SAFETY: one byte of ours. If the child is gone, waiting for it reports that.
        let _ = unsafe { libc::write(self.go.as_raw_fd(), [1u8].as_ptr().cast(), 1) };
    }

    /// Why it did not become its program, once it has ended without.
    pub(crate) fn error(&self) -> Option<io::Error> {
        let mut number = [0u8; 4];
        // SAFETY: the buffer is ours; the other end is closed, as the child is gone.
        let count = unsafe { libc::read(self.failed.as_raw_fd(), number.as_mut_ptr().cast(), 4) };
        (count == 4).then(|| io::Error::from_raw_os_error(i32::from_ne_bytes(number)))
    }
}

/// Starts a command under the filter. It belongs to the calling thread, which must do all the
/// tracing.
///
/// # Errors
/// When the command is no command, or the system refuses to make or to trace a process.
pub(crate) fn start(command: &Command, filter: &[libc::sock_filter]) -> Result<Started, TraceError> {
    let Some(program) = command.arguments.first() else { return Err(TraceError::NotHere("no command was given".to_owned())) };
    let what = || format!("starting {}", program.to_string_lossy());
    let prepared = Prepared::new(command).map_err(TraceError::system(what()))?;
    let (wait, go) = pipe().map_err(TraceError::system(what()))?;
    let (failed, fail) = pipe().map_err(TraceError::system(what()))?;
    // SAFETY: the child calls only what signal-safety(7) allows, uses only memory that was made before, and never returns.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        child(&prepared, filter, &wait, &go, &fail);
    }
    if pid < 0 {
        return Err(TraceError::system(what())(io::Error::last_os_error()));
    }
    let pid = pid as u32;
    if let Err(e) = requests::seize(pid) {
        // It waits for us and has done nothing.
        // SAFETY: the process is our child and was not waited for, so that its number is still its own.
        unsafe {
            libc::kill(pid as libc::pid_t, libc::SIGKILL);
            libc::waitpid(pid as libc::pid_t, std::ptr::null_mut(), 0);
        }
        return Err(TraceError::system(
            "tracing a process (ptrace; is it forbidden by kernel.yama.ptrace_scope, a container or a sandbox?)",
        )(e));
    }
    Ok(Started { pid, go, failed })
}

/// The child's side. Nothing here may allocate or lock: other threads of the parent may have been
/// anywhere.
fn child(prepared: &Prepared, filter: &[libc::sock_filter], wait: &OwnedFd, go: &OwnedFd, fail: &OwnedFd) -> ! {
    // SAFETY: plain system calls with memory of ours; `execve` gets arrays that end with a null pointer.
    unsafe {
        libc::close(go.as_raw_fd());
        flowmine_trace::stop::as_without_us();
        flowmine_trace::inherited::give_back();
        let mut byte = 0u8;
        loop {
            match libc::read(wait.as_raw_fd(), (&raw mut byte).cast(), 1) {
                1 => break,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                // The tracer is gone: so is the reason to run.
                _ => libc::_exit(125),
            }
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        // Our runtime ignores it; programs expect to be ended by it.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut good = true;
        if let Some(directory) = &prepared.directory {
            good = libc::chdir(directory.as_ptr()) == 0;
        }
        if good && install(filter) {
            let mut denied = false;
            for candidate in &prepared.candidates {
                libc::execve(candidate.as_ptr(), prepared.arguments.as_ptr(), prepared.environment.as_ptr());
                match *libc::__errno_location() {
                    libc::EACCES => denied = true,
                    libc::ENOENT | libc::ENOTDIR => {}
                    _ => break,
                }
            }
            // As execvp(3) has it: one that was found but may not be run is the reason.
            if denied && *libc::__errno_location() != libc::ENOEXEC {
                *libc::__errno_location() = libc::EACCES;
            }
        }
        let number = (*libc::__errno_location()).to_ne_bytes();
        libc::write(fail.as_raw_fd(), number.as_ptr().cast(), 4);
        libc::_exit(127)
    }
}

/// Installs the filter. Without privilege that is allowed only to a process that gives up to gain
/// any by set-uid programs (seccomp(2)).
///
/// # Safety
/// Only system calls are made, so that it may run between fork and exec.
pub(crate) unsafe fn install(filter: &[libc::sock_filter]) -> bool {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program lives until the calls return, and the kernel checks it.
    unsafe {
        let set = || libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) == 0;
        set() || (*libc::__errno_location() == libc::EACCES && libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && set())
    }
}
