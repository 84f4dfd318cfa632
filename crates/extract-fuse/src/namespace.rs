//! Starts a command in a mount namespace of its own, in which file systems of ours lie over some
//! directories.
//!
//! In: the command and where to mount. Out: for each directory a descriptor of `/dev/fuse`, and the
//! child, which waits with its exec until it is let go. Nothing is mounted where others see it: the
//! namespace holds the mounts and goes with the last process in it. Without `CAP_SYS_ADMIN` the
//! namespace is one of a new user namespace in which user and group stay what they are
//! (user_namespaces(7)).

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;

use flowmine_trace::{TraceError, inherited};

use crate::report::Item;
use crate::root::{KIND, Mount};
use crate::tracer::Tracer;

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name and arguments; not empty.
    pub arguments: Vec<OsString>,
    /// The directory in which the program starts.
    pub directory: PathBuf,
}

/// A child that waits in its mount namespace until it may go on.
pub(crate) struct Started {
    /// Its overlays, in the order of the mounts.
    pub(crate) devices: Vec<OwnedFd>,
    gate: OwnedFd,
}

impl Started {
    /// Lets the child go on; requests come from now on.
    pub(crate) fn go(&self) -> io::Result<()> {
        send(self.gate.as_raw_fd(), 0, None)
    }

    /// What the child could not do, after it has failed; nothing when it was the exec itself.
    pub(crate) fn failed_at(&self) -> Option<&'static str> {
        receive(self.gate.as_raw_fd()).ok().flatten().and_then(|(step, _)| STEPS.get(usize::from(step)).copied())
    }
}

/// Whether a mount namespace can be had without a user namespace, found out by a child that tries.
pub(crate) fn privileged() -> bool {
    // SAFETY: the child only makes system calls and ends with `_exit`.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(libc::c_int::from(libc::unshare(libc::CLONE_NEWNS) != 0));
        }
        let mut status = 0;
        child > 0 && libc::waitpid(child, &mut status, 0) == child && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

/// The steps of the child, reported to us by their number when one fails.
const STEPS: [&str; 8] = [
    "unshare(2) of the mount namespace",
    "unshare(2) of a user namespace",
    "writing /proc/self/uid_map",
    "keeping the mounts private",
    "opening /dev/fuse",
    "mounting the overlay",
    "talking with the tracer",
    "changing to the working directory",
];

/// In the child: reports which step failed, and returns why.
fn failed(socket: RawFd, step: u8) -> io::Error {
    let error = io::Error::last_os_error();
    let _ = send(socket, step, None);
    error
}

fn c(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

/// Starts the child.
pub(crate) fn start(program: &Program, mounts: &[Mount], privileged: bool, tracer: &Arc<Tracer>) -> Result<Started, TraceError> {
    let system = TraceError::system;
    let (ours, theirs) = socket_pair().map_err(system("socketpair(2)"))?;
    // SAFETY: these only return numbers.
    let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
    let nul = |error: io::Error| TraceError::System { what: "a path with a zero byte".into(), source: error };
    let mut targets = Vec::new();
    for mount in mounts {
        // Own access needs no `allow_other`; children of other users do. `default_permissions` lets the kernel check as the caller, whom only a
        // privileged tracer cannot be by itself.
        let options = format!(
            "rootmode={:o},user_id={uid},group_id={gid},allow_other{}",
            mount.mode & libc::S_IFMT,
            if privileged { ",default_permissions" } else { "" }
        );
        targets.push((c(&mount.at).map_err(nul)?, options, mount.flags));
    }
    let directory = c(&program.directory).map_err(nul)?;
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{uid} {uid} 1")),
        ("/proc/self/gid_map", format!("{gid} {gid} 1")),
    ];
    let Some((name, arguments)) = program.arguments.split_first() else {
        return Err(TraceError::NotHere("no command".into()));
    };
    let mut command = Command::new(name);
    // Its environment is ours, in its order: std sorts one that it is given.
    command.args(arguments);
    let setup = move || -> io::Result<()> {
        let socket = theirs.as_raw_fd();
        flowmine_trace::stop::as_without_us();
        // SAFETY: system calls on strings and descriptors that live until exec; nothing here allocates, since another thread of the tracer may
        // have held the allocator's lock at the fork. The formatted options are small and on the stack.
        unsafe {
            if privileged {
                if libc::unshare(libc::CLONE_NEWNS) != 0 {
                    return Err(failed(socket, 0));
                }
            } else {
                if libc::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWUSER) != 0 {
                    return Err(failed(socket, 1));
                }
                for (path, content) in &maps {
                    let mut name = [0u8; 64];
                    name[..path.len()].copy_from_slice(path.as_bytes());
                    let fd = libc::open(name.as_ptr().cast(), libc::O_WRONLY | libc::O_CLOEXEC);
                    if fd < 0 || libc::write(fd, content.as_ptr().cast(), content.len()) < 0 {
                        return Err(failed(socket, 2));
                    }
                    libc::close(fd);
                }
            }
            // From the host inwards mounts still come, outwards none go.
            if libc::mount(c"none".as_ptr(), c"/".as_ptr(), std::ptr::null(), libc::MS_REC | libc::MS_SLAVE, std::ptr::null()) != 0 {
                return Err(failed(socket, 3));
            }
            for (target, options, flags) in &targets {
                let device = libc::open(c"/dev/fuse".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
                if device < 0 {
                    return Err(failed(socket, 4));
                }
                let mut data = [0u8; 160];
                let mut at = std::io::Cursor::new(&mut data[..159]);
                let _ = std::io::Write::write_fmt(&mut at, format_args!("fd={device},{options}"));
                if libc::mount(c"flowmine".as_ptr(), target.as_ptr(), KIND.as_ptr(), *flags, data.as_ptr().cast()) != 0 {
                    return Err(failed(socket, 5));
                }
                send(socket, DEVICE, Some(device))?;
                libc::close(device);
            }
            if receive(socket)?.is_none() {
                return Err(io::Error::from_raw_os_error(libc::ECANCELED));
            }
            for (target, ..) in &targets {
                // Until the first request, the kernel assumes root as the owner of the directory,
                // and in a user namespace lets no process write to it.
                let mut stat: libc::stat = std::mem::zeroed();
                libc::stat(target.as_ptr(), &mut stat);
            }
            inherited::give_back();
            if libc::chdir(directory.as_ptr()) != 0 {
                return Err(failed(socket, 7));
            }
        }
        Ok(())
    };
    // SAFETY: see the closure.
    unsafe { command.pre_exec(setup) };
    let tracer = Arc::clone(tracer);
    let child = std::thread::Builder::new()
        .name("flowmine-command".into())
        .spawn(move || {
            // `spawn` returns when the command is executed, which needs the overlay served: hence a thread of its own.
            let child = command.spawn();
            drop(command);
            let ended = match child {
                Ok(child) => follow(child, &tracer),
                Err(error) => Err(error),
            };
            let error = ended.as_ref().err().and_then(io::Error::raw_os_error);
            tracer.reporter.send(Item::Ended(ended));
            error
        })
        .map_err(system("starting a thread"))?;
    let mut devices = Vec::new();
    while devices.len() < mounts.len() {
        let step = match receive(ours.as_raw_fd()) {
            Ok(Some((DEVICE, Some(device)))) => {
                devices.push(device);
                continue;
            }
            Ok(Some((step, _))) => STEPS.get(usize::from(step)).copied(),
            Ok(None) | Err(_) => None,
        };
        let source = match child.join() {
            Ok(Some(errno)) => io::Error::from_raw_os_error(errno),
            _ => io::Error::other("the child went away"),
        };
        return Err(TraceError::System { what: step.unwrap_or("starting the command").to_owned(), source });
    }
    Ok(Started { devices, gate: ours })
}

/// Reports the command and waits for it; what it has used is read while it is a zombie.
fn follow(mut child: Child, tracer: &Tracer) -> io::Result<ExitStatus> {
    tracer.reporter.send(Item::Started(child.id()));
    tracer.find_overlays(child.id());
    let process = tracer.processes.command_started(child.id(), &tracer.reporter);
    // SAFETY: all-zero is a valid `siginfo_t`, which the call fills in; the child stays a zombie.
    let waited = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        loop {
            let waited = libc::waitid(libc::P_PID, child.id(), &mut info, libc::WEXITED | libc::WNOWAIT);
            if waited == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                break waited;
            }
        }
    };
    let counters = process.as_ref().filter(|_| waited == 0).map(|process| tracer.processes.counters(&process.key)).unwrap_or_default();
    let status = child.wait()?;
    if let Some(process) = process {
        tracer.processes.command_ended(&process, status.into_raw(), counters, &tracer.reporter);
    }
    Ok(status)
}

/// Says that a descriptor of `/dev/fuse` comes along.
const DEVICE: u8 = 255;

fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: the array has room for the two descriptors; on success they are ours alone.
    unsafe {
        if libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

/// Room for the control message with one descriptor, aligned as `cmsghdr` wants it.
#[repr(C, align(8))]
struct Control([u8; 64]);

fn send(socket: RawFd, byte: u8, device: Option<RawFd>) -> io::Result<()> {
    // SAFETY: all pointers are to locals that outlive the call; the control buffer has room for a header and one descriptor. No allocation: this
    // runs between fork and exec.
    unsafe {
        let mut part = libc::iovec { iov_base: std::ptr::from_ref(&byte).cast_mut().cast(), iov_len: 1 };
        let mut control = Control([0; 64]);
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        if let Some(device) = device {
            message.msg_control = control.0.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(4) as _;
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(4) as _;
            libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(device);
        }
        if libc::sendmsg(socket, &message, libc::MSG_NOSIGNAL) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// A byte and perhaps a descriptor; nothing when the other side is gone.
fn receive(socket: RawFd) -> io::Result<Option<(u8, Option<OwnedFd>)>> {
    let mut byte = 0u8;
    // SAFETY: as in `send`; a descriptor that arrives is ours alone.
    unsafe {
        let mut part = libc::iovec { iov_base: std::ptr::from_mut(&mut byte).cast(), iov_len: 1 };
        let mut control = Control([0; 64]);
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = 64 as _;
        loop {
            match libc::recvmsg(socket, &mut message, libc::MSG_CMSG_CLOEXEC) {
                0 => return Ok(None),
                n if n > 0 => break,
                _ if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return Err(io::Error::last_os_error()),
            }
        }
        let header = libc::CMSG_FIRSTHDR(&message);
        let device = (!header.is_null() && (*header).cmsg_type == libc::SCM_RIGHTS)
            .then(|| OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned()));
        Ok(Some((byte, device)))
    }
}
