//! Requests about directories. The offsets are those of the file system underneath, so that telldir
//! and seekdir mean what they mean there.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use flowmine_trace::record::FileKey;

use crate::handles::Handle;
use crate::names::{entry, visible_inode};
use crate::session::{Answer, Request, Worker};
use crate::system::{self, Errno};
use crate::wire::{self, Dirent, EntryOut, OpenOut};

/// A record of getdents64(2).
struct Record<'a> {
    inode: u64,
    offset: u64,
    kind: u8,
    name: &'a [u8],
    length: usize,
}

impl<'a> Record<'a> {
    /// The record at the front of the call's result.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let number = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let length = usize::from(u16::from_ne_bytes(bytes.get(16..18)?.try_into().ok()?));
        let kind = *bytes.get(18)?;
        let name = bytes.get(19..length)?;
        let end = name.iter().position(|&byte| byte == 0)?;
        Some(Record { inode: number(0)?, offset: number(8)?, kind, name: &name[..end], length })
    }
}

impl Worker {
    pub(crate) fn open_directory(&mut self, request: &Request<'_>) -> Result<Answer, Errno> {
        let session = request.session;
        let node = session.nodes.get(request.header.node)?;
        session.tracer.files.for_one_more()?;
        let directory = node.fd()?;
        // By the descriptor itself: a path with "." needs the right to search, too.
        let fd = session.tracer.keeper.with_room(|| system::reopen(directory.raw(), libc::O_RDONLY | libc::O_DIRECTORY))?;
        let open = session.tracer.files.keep(fd);
        let id = session.tracer.next_handle.fetch_add(1, Ordering::Relaxed);
        let file = FileKey { device: node.device, inode: node.inode, generation: None };
        session.handles.insert(Arc::new(Handle::new(id, open, node, file, false, false)));
        self.put(&OpenOut { handle: id, flags: 0, backing: 0 });
        Ok(Answer::Out)
    }

    pub(crate) fn read_directory(&mut self, request: &Request<'_>, plus: bool) -> Result<Answer, Errno> {
        let (read, _) = request.take::<wire::ReadIn>()?;
        let handle = request.session.handles.get(read.handle)?;
        let fd = handle.fd()?;
        let mut directory = handle.directory.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if directory.offset != read.offset {
            // seekdir, rewinddir, or a kernel that asks again for what it had no room for.
            // SAFETY: a descriptor of ours.
            if unsafe { libc::lseek(fd.raw(), read.offset as libc::off_t, libc::SEEK_SET) } < 0 {
                return Err(system::last());
            }
            directory.entries.clear();
            directory.at = 0;
            directory.offset = read.offset;
        } else if read.offset == 0 {
            // The start again: what has been made since must show.
            // SAFETY: a descriptor of ours.
            unsafe { libc::lseek(fd.raw(), 0, libc::SEEK_SET) };
            directory.entries.clear();
            directory.at = 0;
        }
        let room = (read.size as usize).min(request.session.max_bytes);
        let head = size_of::<Dirent>() + if plus { size_of::<EntryOut>() } else { 0 };
        loop {
            if directory.at >= directory.entries.len() {
                let length = 32 << 10;
                directory.entries.resize(length, 0);
                // SAFETY: the buffer is as long as stated.
                let n = unsafe { libc::syscall(libc::SYS_getdents64, fd.raw(), directory.entries.as_mut_ptr(), length) };
                let n = system::moved(n as isize);
                directory.at = 0;
                directory.entries.truncate(n.unwrap_or(0));
                match n {
                    Ok(0) => return Ok(Answer::Out),
                    Ok(_) => {}
                    Err(_) if !self.out.is_empty() => return Ok(Answer::Out),
                    Err(errno) => return Err(errno),
                }
            }
            let Some(record) = Record::parse(&directory.entries[directory.at..]) else { return Err(libc::EIO) };
            let padded = (head + record.name.len()).next_multiple_of(8);
            if self.out.len() + padded > room {
                return Ok(Answer::Out);
            }
            let mut inode = visible_inode(request.session, handle.node.device, record.inode);
            if plus {
                let found =
                    if matches!(record.name, b"." | b"..") { None } else { request.session.nodes.look_up(&handle.node, record.name).ok() };
                // A name without a node is one that the kernel will look up itself.
                let out = found.map_or_else(EntryOut::default, |(node, stat)| entry(request.session, &node, &stat));
                if out.node != 0 {
                    inode = out.attr.ino;
                }
                self.put(&out);
            }
            self.put(&Dirent { ino: inode, offset: record.offset, name_len: record.name.len() as u32, kind: record.kind.into() });
            self.out.extend_from_slice(record.name);
            self.out.resize(self.out.len().next_multiple_of(8), 0);
            let (length, offset) = (record.length, record.offset);
            directory.at += length;
            directory.offset = offset;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_directories_are_taken_apart_or_refused() {
        let mut bytes = vec![0u8; 24];
        bytes[0] = 7;
        bytes[8] = 9;
        bytes[16] = 24;
        bytes[18] = libc::DT_REG;
        bytes[19..22].copy_from_slice(b"ab\0");
        let record = Record::parse(&bytes).unwrap();
        assert_eq!((record.inode, record.offset, record.kind, record.name, record.length), (7, 9, libc::DT_REG, &b"ab"[..], 24));
        bytes[16] = 200;
        assert!(Record::parse(&bytes).is_none());
        assert!(Record::parse(&bytes[..10]).is_none());
    }
}
