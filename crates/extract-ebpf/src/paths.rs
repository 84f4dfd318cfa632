//! Paths from the reports of the kernel side: names from the leaf up, strings as a program gave
//! them, and where its root was met.
//!
//! In: the parts of a record's tail and the host's mounts. Out: the path as the host sees it and as
//! the process sees it. Refused: a path that was cut or could not be read is unknown, never a part
//! of one.

use crate::host_mounts::HostMounts;
use crate::wire::{TailPart, part_flag};

/// A place in the tree of files: as the host sees it and as the process sees it; `None` where that
/// is not known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// Its path as the host sees it.
    pub host: Option<Vec<u8>>,
    /// Its path as the process sees it.
    pub process: Option<Vec<u8>>,
    /// Whether the process has other mounts than the host.
    pub foreign: bool,
}

impl Place {
    /// What `container_path` says: the process's view where it is another.
    pub fn container(&self) -> Option<&[u8]> {
        if self.process == self.host { None } else { self.process.as_deref() }
    }
}

/// Names from the leaf up, each ended by a NUL, to a path from the top. `None` when the last name
/// is not ended.
fn from_leaf(names: &[u8]) -> Option<Vec<u8>> {
    let Some(names) = names.strip_suffix(b"\0") else {
        return if names.is_empty() { Some(b"/".to_vec()) } else { None };
    };
    let mut path = Vec::with_capacity(names.len() + 1);
    for name in names.split(|byte| *byte == 0).rev() {
        path.push(b'/');
        path.extend_from_slice(name);
    }
    Some(path)
}

/// The place of a walked dentry. `inner` is the part behind it, when its mounts are not the host's.
pub fn place(part: &TailPart<'_>, inner: Option<&TailPart<'_>>, mounts: &mut HostMounts) -> Place {
    let bad = part_flag::CUT | part_flag::UNREAD;
    if part.flags & bad != 0 {
        return Place::default();
    }
    let foreign = part.flags & part_flag::FOREIGN != 0;
    let whole = from_leaf(part.bytes);
    let process = if part.flags & part_flag::ROOTED != 0 {
        part.bytes.get(..usize::from(part.root)).and_then(from_leaf)
    } else if part.flags & part_flag::DETACHED != 0 {
        None
    } else {
        whole.clone()
    };
    let host = if part.flags & (part_flag::FOREIGN | part_flag::DETACHED) == 0 {
        whole
    } else {
        let inner = inner.filter(|inner| inner.flags & bad == 0);
        inner.and_then(|inner| mounts.place(crate::wire::device(inner.device), &from_leaf(inner.bytes)?))
    };
    // What no mount of the host shows is at least known as the process sees it.
    Place { host, process, foreign }
}

/// A string that a program gave, from the place where it begins: its working directory, a
/// directory's descriptor or its root.
///
/// Leading `..` are followed up that place, which is exact because it has no symbolic links in it.
/// A `..` behind a name stays as it is: the name may be a symbolic link, so only the kernel knows
/// where it goes. Links on the way are not followed either; the path still names the file, as the
/// program did. Under the mounts of a container only a single name can be given as the host sees
/// it, because a mount may lie behind each `/`.
pub fn given(start: &Place, string: &[u8]) -> Place {
    let mut host = start.host.clone();
    let mut process = start.process.clone();
    let mut names = 0;
    for name in string.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." if names == 0 => {
                if process.as_deref() != Some(b"/") {
                    host = host.map(parent);
                    process = process.map(parent);
                }
            }
            name => {
                names += 1;
                host = host.map(|path| below(path, name));
                process = process.map(|path| below(path, name));
            }
        }
    }
    if start.foreign && names > 1 {
        host = None;
    }
    Place { host, process, foreign: start.foreign }
}

fn parent(mut path: Vec<u8>) -> Vec<u8> {
    let at = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    path.truncate(at.max(1));
    path
}

fn below(mut path: Vec<u8>, name: &[u8]) -> Vec<u8> {
    if path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
