//! Access control lists of folders: users and groups that the mode does not show.
//!
//! A POSIX list (acl(5)) is the extended attribute `system.posix_acl_access`; with one, the bits of
//! the group in the mode are the mask of the list. A list of NFS version 4 (RFC 7530, section 6.2)
//! is `system.nfs4_acl` on its clients, and gives rights of which the mode has no bits at all.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A user or a group that may write, by a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Writer {
    /// A user with this id.
    User(u32),
    /// A group with this id.
    Group(u32),
    /// The group of the folder.
    OwnGroup,
    /// A user or a group of NFS, by its name.
    Named(String),
}

/// Tags and rights of a POSIX list, as Linux stores them (`linux/posix_acl_xattr.h`).
const USER: u16 = 0x02;
const OWN_GROUP: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const WRITE: u16 = 2;
const VERSION: u32 = 2;

/// Rights of NFS by which a folder's entries, or the list, are changed: to add files and folders, to
/// delete a child, to write the list or the owner.
const CHANGES: u32 = 0x2 | 0x4 | 0x40 | 0x4_0000 | 0x8_0000;
/// Type of an entry that allows.
const ALLOWS: u32 = 0;
/// Flag of an entry that counts for what is made in the folder only.
const INHERIT_ONLY: u32 = 0x8;
/// Longest list that is read, in bytes: the kernel's limit for an attribute.
const LONGEST: usize = 1 << 16;

/// Those who may write a folder by its lists; `None` where it has none.
///
/// # Errors
/// When a list is there and cannot be read, or is of an unknown form.
pub(crate) fn writers(folder: &File) -> io::Result<Option<Vec<Writer>>> {
    let unknown = || io::Error::new(io::ErrorKind::InvalidData, "an access control list has an unknown form");
    if let Some(list) = attribute(folder, c"system.posix_acl_access")? {
        return posix(&list).map(Some).ok_or_else(unknown);
    }
    match attribute(folder, c"system.nfs4_acl")? {
        Some(list) => nfs(&list).map(Some).ok_or_else(unknown),
        None => Ok(None),
    }
}

/// Reads an extended attribute; `None` where the file or its file system has none.
fn attribute(folder: &File, name: &CStr) -> io::Result<Option<Vec<u8>>> {
    // The folder may be open as a place only (O_PATH), of which fgetxattr(2) reads nothing.
    let path = format!("/proc/self/fd/{}\0", folder.as_raw_fd());
    let mut list = vec![0_u8; LONGEST];
    // SAFETY: two texts with a zero at their ends, and room of the length that is given.
    let length = unsafe { nix::libc::getxattr(path.as_ptr().cast(), name.as_ptr(), list.as_mut_ptr().cast(), list.len()) };
    match usize::try_from(length) {
        Ok(length) => {
            list.truncate(length);
            Ok(Some(list))
        }
        Err(_) => match io::Error::last_os_error() {
            // Without /proc no list can be read, and what has one is not known.
            error if matches!(error.raw_os_error(), Some(nix::libc::ENODATA | nix::libc::EOPNOTSUPP)) => Ok(None),
            error => Err(error),
        },
    }
}

/// A number in the order of bytes of a list, taken from its front.
fn take<const N: usize>(list: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = list.split_first_chunk::<N>()?;
    *list = rest;
    Some(*first)
}

fn posix(mut list: &[u8]) -> Option<Vec<Writer>> {
    if u32::from_le_bytes(take(&mut list)?) != VERSION {
        return None;
    }
    let (mut found, mut mask) = (Vec::new(), WRITE);
    while !list.is_empty() {
        let tag = u16::from_le_bytes(take(&mut list)?);
        let rights = u16::from_le_bytes(take(&mut list)?);
        let id = u32::from_le_bytes(take(&mut list)?);
        match tag {
            MASK => mask = rights,
            USER if rights & WRITE != 0 => found.push(Writer::User(id)),
            GROUP if rights & WRITE != 0 => found.push(Writer::Group(id)),
            OWN_GROUP if rights & WRITE != 0 => found.push(Writer::OwnGroup),
            _ => {}
        }
    }
    Some(if mask & WRITE != 0 { found } else { Vec::new() })
}

fn nfs(mut list: &[u8]) -> Option<Vec<Writer>> {
    let mut found = Vec::new();
    for _ in 0..u32::from_be_bytes(take(&mut list)?) {
        let [kind, flags, rights, length] =
            [take(&mut list)?, take(&mut list)?, take(&mut list)?, take(&mut list)?].map(u32::from_be_bytes);
        let length = usize::try_from(length).ok()?;
        let who = list.get(..length)?;
        list = list.get(length.next_multiple_of(4)..)?;
        // Those of the mode: its bits are the mode's.
        let of_mode = matches!(who, b"OWNER@" | b"GROUP@" | b"EVERYONE@");
        if kind == ALLOWS && flags & INHERIT_ONLY == 0 && rights & CHANGES != 0 && !of_mode {
            found.push(Writer::Named(String::from_utf8_lossy(who).into_owned()));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posix_list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let entry = |(tag, rights, id): &(u16, u16, u32)| [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat();
        entries.iter().fold(2_u32.to_le_bytes().to_vec(), |list, one| [list, entry(one)].concat())
    }

    #[test]
    fn a_posix_list_gives_what_its_mask_lets_pass() {
        const NONE: u32 = u32::MAX;
        let list =
            |mask| posix_list(&[(1, 7, NONE), (2, 7, 6001), (2, 5, 6002), (4, 7, NONE), (8, 2, 6003), (16, mask, NONE), (32, 5, NONE)]);
        assert_eq!(posix(&list(7)), Some(vec![Writer::User(6001), Writer::OwnGroup, Writer::Group(6003)]));
        assert_eq!(posix(&list(5)), Some(Vec::new()));
        assert_eq!(posix(&list(7)[..9]), None);
        assert_eq!(posix(&[3, 0, 0, 0]), None);
    }

    #[test]
    fn a_list_of_nfs_gives_whom_the_mode_does_not_show() {
        let entry = |kind: u32, flags: u32, rights: u32, who: &str| {
            let mut entry: Vec<u8> = [kind, flags, rights, who.len() as u32].into_iter().flat_map(u32::to_be_bytes).collect();
            entry.extend(who.as_bytes());
            entry.resize(16 + who.len().next_multiple_of(4), 0);
            entry
        };
        let all = [
            entry(0, 0, 0x1f_01ff, "OWNER@"),
            entry(0, 0, 0x2, "ann@example.org"),
            entry(1, 0, 0x2, "denied@example.org"),
            entry(0, 8, 0x2, "later@example.org"),
            entry(0, 0, 0x1, "reads@example.org"),
            entry(0, 0x40, 0x40, "group@example.org"),
            entry(0, 0, 0x2, "EVERYONE@"),
        ];
        let list = [(all.len() as u32).to_be_bytes().to_vec(), all.concat()].concat();
        let named = |name: &str| Writer::Named(name.to_owned());
        assert_eq!(nfs(&list), Some(vec![named("ann@example.org"), named("group@example.org")]));
        assert_eq!(nfs(&list[..list.len() - 1]), None);
    }
}
