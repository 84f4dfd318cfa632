//! Calls that fail because a name is not there. The kernel asks for each name on the way and
//! answers the call itself when one is missing: all that comes is a lookup that fails. The call and
//! its path are in `/proc/TID/syscall` and in the memory of the caller.
//!
//! Reported is only what is certain: a lookup may also fail in a call that succeeds, of a name that
//! is about to be made.

use std::sync::Arc;

use flowmine_trace::clock;
use flowmine_trace::record::Op;

use crate::caller::{Call, Thread};
use crate::identity::with_own_capabilities;
use crate::nodes::Node;
use crate::open_flags::without_largefile;
use crate::report::More;
use crate::session::Request;
use crate::system::Errno;
use crate::tracer::Tracer;

/// The descriptor of a directory, and the address of a path relative to it in the caller's memory.
type At = (i32, u64);

/// What a call does with names.
struct Named {
    op: Op,
    at: At,
    /// The new name of rename and link.
    new: Option<At>,
    flags: Option<u32>,
    size: Option<u64>,
}

impl Named {
    fn of(tracer: &Tracer, thread: &Thread, call: &Call) -> Option<Self> {
        let a = &call.arguments;
        let here = |at: usize| (libc::AT_FDCWD, a[at]);
        let below = |at: usize| (a[at] as i32, a[at + 1]);
        let named = |op, at| Some(Named { op, at, new: None, flags: None, size: None });
        let open = |at, flags: Option<u32>| Some(Named { flags, ..named(Op::Open, at)? });
        match call.number as libc::c_long {
            libc::SYS_openat => open(below(0), Some(a[2] as u32)),
            libc::SYS_openat2 => open(below(0), tracer.memory(thread.tid).word(a[2]).map(|flags| flags as u32)),
            libc::SYS_unlinkat if a[2] as i32 & libc::AT_REMOVEDIR == 0 => named(Op::Delete, below(0)),
            libc::SYS_renameat => Some(Named { new: Some(below(2)), ..named(Op::Rename, below(0))? }),
            libc::SYS_renameat2 => Some(Named { new: Some(below(2)), flags: Some(a[4] as u32), ..named(Op::Rename, below(0))? }),
            libc::SYS_linkat => Some(Named { new: Some(below(2)), ..named(Op::Link, below(0))? }),
            libc::SYS_truncate => Some(Named { size: Some(a[1]), ..named(Op::Truncate, here(0))? }),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => open(here(0), Some(a[1] as u32)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_creat => open(here(0), Some((libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC) as u32)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink => named(Op::Delete, here(0)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => Some(Named { new: Some(here(1)), ..named(Op::Rename, here(0))? }),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link => Some(Named { new: Some(here(1)), ..named(Op::Link, here(0))? }),
            _ => None,
        }
    }

    /// Whether the call fails because this name in the tree, `looked`, is missing. Its own paths
    /// are `path` and `new`.
    fn fails(&self, looked: &[u8], path: &[u8], new: Option<&[u8]>, errno: Errno) -> bool {
        let makes = self.flags.is_none_or(|flags| flags & libc::O_CREAT as u32 != 0);
        match self.op {
            // The last name is made. A name that is on the way to it must be there.
            Op::Open if makes && errno == libc::ENOENT => is_below(path, looked),
            Op::Rename | Op::Link => looked == path || is_below(path, looked) || new.is_some_and(|new| is_below(new, looked)),
            _ => true,
        }
    }
}

fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// A path as the caller gave it, with what it is relative to, and without its `.` parts. No link in
/// it is followed: the call may have failed before that.
fn whole(tracer: &Tracer, thread: &Thread, (directory, address): At, name: &[u8], looked: &[u8]) -> Option<Vec<u8>> {
    let text = with_own_capabilities(|| tracer.memory(thread.tid).path(address))?;
    let base = match directory {
        _ if text.first() == Some(&b'/') => "root".to_owned(),
        libc::AT_FDCWD => "cwd".to_owned(),
        fd => format!("fd/{fd}"),
    };
    // /proc gives no path of more than 4096 bytes, but we know where a name alone was looked up.
    tracer.link(thread.tid, &base).map(|base| joined(base, &text)).or_else(|| (text == name).then(|| looked.to_vec()))
}

fn joined(mut path: Vec<u8>, text: &[u8]) -> Vec<u8> {
    if path == b"/" {
        path.clear();
    }
    for part in text.split(|&byte| byte == b'/').filter(|part| !matches!(*part, b"" | b".")) {
        path.push(b'/');
        path.extend_from_slice(part);
    }
    path
}

/// Reports the call that fails because a lookup did.
pub(crate) fn tell(request: &Request<'_>, parent: &Arc<Node>, name: &[u8], errno: Errno) {
    let tracer = &request.session.tracer;
    if request.header.pid == 0 {
        return;
    }
    let Some((thread, Some(call))) = request.caller() else { return };
    let Some(named) = with_own_capabilities(|| Named::of(tracer, thread, call)).filter(|named| tracer.wants(named.op, &request.header))
    else {
        return;
    };
    // ESTALE is a node that we do not know: the kernel looks again.
    let Some(looked) = parent.path_of(name).filter(|_| errno != libc::ESTALE) else { return };
    let Some(path) = whole(tracer, thread, named.at, name, &looked) else { return };
    let new_path = named.new.and_then(|new| whole(tracer, thread, new, name, &looked));
    if !named.fails(&looked, &path, new_path.as_deref(), errno) {
        return;
    }
    // Where it is the last name, what led to it is known without links.
    let path = if path.rsplit(|&byte| byte == b'/').next() == Some(name) { looked } else { path };
    tracer.reporter.send(thread.operation(named.op, request.start_boot_ns, |row| {
        row.end_boot_ns = Some(clock::boot_ns());
        row.result = Some(-i64::from(errno));
        row.flags = if named.op == Op::Open { named.flags.map(without_largefile) } else { named.flags };
        row.size = named.size;
        let container_path = tracer.seen_by(thread, Some(&path));
        row.more = Some(Box::new(More { path: Some(path), container_path, new_path, ..More::default() }));
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(op: Op, flags: u32) -> Named {
        Named { op, at: (0, 0), new: None, flags: Some(flags), size: None }
    }

    #[test]
    fn paths_are_joined_without_being_resolved() {
        assert_eq!(joined(b"/".to_vec(), b"/a//./b/"), b"/a/b");
        assert_eq!(joined(b"/work".to_vec(), b"../x"), b"/work/../x");
        assert_eq!(joined(b"/work".to_vec(), b"."), b"/work");
    }

    #[test]
    fn a_missing_name_fails_the_call_unless_it_is_to_be_made() {
        let creating = named(Op::Open, libc::O_CREAT as u32);
        assert!(!creating.fails(b"/d/x", b"/d/x", None, libc::ENOENT));
        assert!(creating.fails(b"/d/x", b"/d/x/y", None, libc::ENOENT));
        assert!(creating.fails(b"/d/x", b"/d/x", None, libc::ENAMETOOLONG));
        // By a link, perhaps.
        assert!(!creating.fails(b"/other/x", b"/d/link", None, libc::ENOENT));
        assert!(named(Op::Open, 0).fails(b"/other/x", b"/d/link", None, libc::ENOENT));
        let rename = named(Op::Rename, 0);
        assert!(rename.fails(b"/d/old", b"/d/old", Some(b"/d/new"), libc::ENOENT));
        assert!(!rename.fails(b"/d/new", b"/d/old", Some(b"/d/new"), libc::ENOENT));
        assert!(rename.fails(b"/d/sub", b"/d/old", Some(b"/d/sub/new"), libc::ENOENT));
        assert!(named(Op::Delete, 0).fails(b"/d/x", b"/d/x", None, libc::ENOENT));
    }
}
