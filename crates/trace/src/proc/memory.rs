//! Memory of another process (process_vm_readv(2)): paths, vectors, offsets.
//!
//! In: a thread and an address that it passed to a call. Out: bytes; `None` where the address is
//! none of its own, as the kernel would say EFAULT. The process may change its memory while we
//! look: what is read is what the kernel most likely read, not a proof.
//!
//! A page of a mapped file comes from who serves the file. Where that is a process, which may wait
//! for the tracer, a page that is not in memory yet is not read either (`places.rs`).

use std::os::unix::fs::FileExt;

use flowmine_files::kernel;
use rustc_hash::FxHashSet;

use super::Proc;
use super::paths::{View, Views};

/// The longest path that the kernel takes, its zero byte included (`PATH_MAX`).
const PATH_MAX: usize = 4096;
/// The longest vector that the kernel takes (`IOV_MAX`, `UIO_MAXIOV` in the kernel).
const IOV_MAX: usize = 1024;
const PAGE: usize = 4096;

/// The memory of a thread's process.
#[derive(Debug)]
pub struct Memory {
    tid: u32,
    /// Where processes serve files.
    guard: Option<Guard>,
}

impl Views {
    /// The memory of a thread, without pages that a process would have to be asked for.
    pub fn memory(&mut self, proc: &Proc, view: Option<&View>, tid: u32) -> Memory {
        let guard = self.knows_servers(view).then(|| Guard { proc: proc.clone(), served: Some(self.served_devices()) });
        Memory { tid, guard }
    }
}

impl Memory {
    /// The memory of a process of our own, which serves no files.
    pub fn of_own(tid: u32) -> Self {
        Memory { tid, guard: None }
    }

    /// The memory of a thread that waits for us to serve a file. A page of a file is read only when
    /// it is in memory: it may have to come from us.
    pub fn of_caller(proc: &Proc, tid: u32) -> Self {
        Memory { tid, guard: Some(Guard { proc: proc.clone(), served: None }) }
    }

    /// As many bytes from `address` as can be read, at most the whole buffer.
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        let Ok(start) = usize::try_from(address) else { return 0 };
        let mut done = 0;
        while done < buffer.len() {
            let Some(at) = start.checked_add(done) else { break };
            if self.guard.as_ref().is_some_and(|guard| !guard.lets_read(self.tid, at as u64)) {
                break;
            }
            // A remote range is read whole or not at all, so that it must not go into a page that may be missing.
            let size = (PAGE - at % PAGE).min(buffer.len() - done);
            let part = &mut buffer[done..done + size];
            let local = libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: size };
            let remote = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: size };
            // SAFETY: the local range is ours and writable; the remote one is only an address for the kernel to check.
            let count = unsafe { libc::process_vm_readv(self.tid as libc::pid_t, &raw const local, 1, &raw const remote, 1, 0) };
            let Ok(count) = usize::try_from(count) else { break };
            done += count;
            if count < size {
                break;
            }
        }
        done
    }

    /// Exactly `N` bytes from an address; `None` when fewer can be read.
    pub fn exactly<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        (address != 0 && self.read(address, &mut bytes) == N).then_some(bytes)
    }

    /// The given number of bytes from an address; `None` if fewer can be read.
    pub fn bytes(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        (address != 0 && self.read(address, &mut bytes) == length).then_some(bytes)
    }

    /// Reads a number of 64 bits.
    pub fn word(&self, address: u64) -> Option<u64> {
        self.exactly(address).map(u64::from_ne_bytes)
    }

    /// A path without its zero byte; `None` also for one that is too long for the kernel, which
    /// leads nowhere.
    pub fn path(&self, address: u64) -> Option<Vec<u8>> {
        let mut buffer = [0; PATH_MAX];
        // Most paths end in the page in which they begin, and are short.
        for most in [256, PATH_MAX] {
            let count = self.read(address, &mut buffer[..most]);
            if let Some(end) = buffer[..count].iter().position(|&byte| byte == 0) {
                return Some(buffer[..end].to_vec());
            }
            if count < most {
                return None;
            }
        }
        None
    }

    /// The bytes that a vector of `count` parts asks for.
    pub fn vector_bytes(&self, address: u64, count: u64) -> Option<u64> {
        let count = usize::try_from(count).ok().filter(|count| *count <= IOV_MAX)?;
        let mut bytes = vec![0; count * 16];
        if self.read(address, &mut bytes) < bytes.len() {
            return None;
        }
        // A pointer, then a length (struct iovec).
        let length = |part: &[u8]| <[u8; 8]>::try_from(&part[8..]).map_or(0, u64::from_ne_bytes);
        Some(bytes.chunks_exact(16).fold(0u64, |sum, part| sum.saturating_add(length(part))))
    }
}

/// Bits of an entry of `/proc/PID/pagemap`: the page is in memory, or swapped.
const PRESENT: u64 = 1 << 63 | 1 << 62;

/// The device of memory that is of no file.
const NO_FILE: u64 = 0;

/// What keeps a read from a page of a served file.
#[derive(Debug)]
struct Guard {
    proc: Proc,
    /// Devices of served file systems; `None` where any file may be on one.
    served: Option<FxHashSet<u64>>,
}

impl Guard {
    fn lets_read(&self, tid: u32, address: u64) -> bool {
        let is_served = |device| self.served.as_ref().map_or(device != NO_FILE, |served| served.contains(&device));
        self.has_page(tid, address).unwrap_or(false) || !self.mapped_device(tid, address).is_some_and(is_served)
    }

    fn has_page(&self, tid: u32, address: u64) -> Option<bool> {
        // SAFETY: sysconf(3) takes a number and has no effect.
        let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
        let mut entry = [0; 8];
        kernel::open(self.proc.path(tid, "pagemap")).ok()?.read_exact_at(&mut entry, address / page * 8).ok()?;
        Some(u64::from_ne_bytes(entry) & PRESENT != 0)
    }

    /// The device of the file that is mapped at an address, or [`NO_FILE`] (proc_pid_maps(5)).
    fn mapped_device(&self, tid: u32, address: u64) -> Option<u64> {
        let maps = self.proc.read(tid, "maps")?;
        maps.split(|&byte| byte == b'\n').find_map(|line| {
            // What follows these fields is a path, of any bytes.
            let mut fields = line.splitn(5, |&byte| byte == b' ').map(|field| std::str::from_utf8(field).unwrap_or_default());
            let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
            let (start, end) = fields.next()?.split_once('-')?;
            if !(hexadecimal(start)?..hexadecimal(end)?).contains(&address) {
                return None;
            }
            let (major, minor) = fields.nth(2)?.split_once(':')?;
            Some(libc::makedev(hexadecimal(major)? as u32, hexadecimal(minor)? as u32))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address<T>(value: *const T) -> u64 {
        value as usize as u64
    }

    #[test]
    fn strings_end_where_memory_ends() {
        let me = Memory::of_own(std::process::id());
        // SAFETY: a fresh mapping of two pages of which only the first stays; it is used here only.
        let page = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let at = libc::mmap(std::ptr::null_mut(), 2 * PAGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            assert_eq!(libc::munmap(at.cast::<u8>().add(PAGE).cast(), PAGE), 0);
            std::slice::from_raw_parts_mut(at.cast::<u8>(), PAGE)
        };
        page.fill(b'x');
        page[PAGE - 10..].copy_from_slice(b"some/path\0");
        assert_eq!(me.path(address(&page[PAGE - 10])), Some(b"some/path".to_vec()));
        page[PAGE - 1] = b'x';
        assert_eq!(me.path(address(&page[PAGE - 10])), None);
        assert_eq!(me.path(address(page.as_ptr())), None);
        page[PAGE - 1] = 0;
        assert_eq!(me.path(address(page.as_ptr())).map(|path| path.len()), Some(PAGE - 1));
        assert_eq!(me.path(1), None);
        assert_eq!(me.word(address(&page[PAGE - 4])), None);
        assert_eq!(me.word(u64::MAX - 3), None);
    }

    #[test]
    fn vectors_are_added_up() {
        let me = Memory::of_own(std::process::id());
        let parts = [(1u64, 100u64), (2, 0), (3, 250)];
        let raw: Vec<u64> = parts.iter().flat_map(|part| [part.0, part.1]).collect();
        assert_eq!(me.vector_bytes(address(raw.as_ptr()), 3), Some(350));
        assert_eq!(me.vector_bytes(address(raw.as_ptr()), 1025), None);
        assert_eq!(me.vector_bytes(8, 1), None);
        assert_eq!(me.vector_bytes(0, 0), Some(0));
        assert_eq!(me.vector_bytes(address([7u64, u64::MAX, 7, 5].as_ptr()), 2), Some(u64::MAX));
    }

    #[test]
    fn pages_of_a_served_file_are_read_when_they_are_there() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"some/path\0".repeat(PAGE)).unwrap();
        let device = std::os::unix::fs::MetadataExt::dev(&file.as_file().metadata().unwrap());
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(file.as_file());
        // SAFETY: a fresh mapping that is used here only; MADV_RANDOM keeps its pages away until
        // they are touched.
        let start = unsafe {
            let at = libc::mmap(std::ptr::null_mut(), 8 * PAGE, libc::PROT_READ, libc::MAP_SHARED, descriptor, 0);
            assert_ne!(at, libc::MAP_FAILED);
            assert_eq!(libc::madvise(at, 8 * PAGE, libc::MADV_RANDOM), 0);
            at.cast::<u8>()
        };
        let me = std::process::id();
        let memory = |served: &[u64]| {
            let served = Some(served.iter().copied().collect());
            Memory { tid: me, guard: Some(Guard { proc: Proc::here(), served }) }
        };
        assert_eq!(Memory::of_caller(&Proc::here(), me).path(address(start)), None);
        assert_eq!(memory(&[device]).path(address(start)), None);
        assert_eq!(memory(&[device + 1]).path(address(start)), Some(b"some/path".to_vec()));
        // SAFETY: the first byte of the mapping, and the file is long enough.
        assert_eq!(unsafe { start.read_volatile() }, b's');
        assert_eq!(memory(&[device]).path(address(start)), Some(b"some/path".to_vec()));
        assert_eq!(Memory::of_caller(&Proc::here(), me).path(address(start)), Some(b"some/path".to_vec()));
    }
}
