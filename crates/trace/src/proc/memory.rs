//! Memory of another process (process_vm_readv(2)): paths, vectors, offsets.
//!
//! In: a thread and an address that it passed to a call. Out: bytes; `None` where the address is
//! none of its own, as the kernel would say EFAULT. The process may change its memory while we
//! look: what is read is what the kernel most likely read, not a proof.

/// The longest path that the kernel takes, its zero byte included (`PATH_MAX`).
const PATH_MAX: usize = 4096;
/// The longest vector that the kernel takes (`IOV_MAX`, `UIO_MAXIOV` in the kernel).
const IOV_MAX: usize = 1024;
const PAGE: usize = 4096;

/// As many bytes from `address` as can be read, at most the whole buffer.
fn read(tid: u32, address: u64, buffer: &mut [u8]) -> usize {
    let Ok(start) = usize::try_from(address) else { return 0 };
    let mut done = 0;
    while done < buffer.len() {
        let Some(at) = start.checked_add(done) else { break };
        // A remote range is read whole or not at all, so that it must not go into a page that may be missing.
        let size = (PAGE - at % PAGE).min(buffer.len() - done);
        let part = &mut buffer[done..done + size];
        let local = libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: size };
        let remote = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: size };
        // SAFETY: the local range is ours and writable; the remote one is only an address for the kernel to check.
        let count = unsafe { libc::process_vm_readv(tid as libc::pid_t, &raw const local, 1, &raw const remote, 1, 0) };
        let Ok(count) = usize::try_from(count) else { break };
        done += count;
        if count < size {
            break;
        }
    }
    done
}

/// Exactly `N` bytes from an address of a thread's process; `None` when fewer can be read.
pub fn exactly<const N: usize>(tid: u32, address: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    (address != 0 && read(tid, address, &mut bytes) == N).then_some(bytes)
}

/// So many bytes from an address of a thread's process; `None` when fewer can be read.
pub fn bytes(tid: u32, address: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    (address != 0 && read(tid, address, &mut bytes) == length).then_some(bytes)
}

/// Reads a number of 64 bits from a thread's memory.
pub fn word(tid: u32, address: u64) -> Option<u64> {
    exactly(tid, address).map(u64::from_ne_bytes)
}

/// A path without its zero byte; `None` also for one that is too long for the kernel, which leads
/// nowhere.
pub fn path(tid: u32, address: u64) -> Option<Vec<u8>> {
    let mut buffer = [0; PATH_MAX];
    // Most paths end in the page in which they begin, and are short.
    for most in [256, PATH_MAX] {
        let count = read(tid, address, &mut buffer[..most]);
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
pub fn vector_bytes(tid: u32, address: u64, count: u64) -> Option<u64> {
    let count = usize::try_from(count).ok().filter(|count| *count <= IOV_MAX)?;
    let mut bytes = vec![0; count * 16];
    if read(tid, address, &mut bytes) < bytes.len() {
        return None;
    }
    // A pointer, then a length (struct iovec).
    let length = |part: &[u8]| <[u8; 8]>::try_from(&part[8..]).map_or(0, u64::from_ne_bytes);
    Some(bytes.chunks_exact(16).fold(0u64, |sum, part| sum.saturating_add(length(part))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address<T>(value: *const T) -> u64 {
        value as usize as u64
    }

    #[test]
    fn strings_end_where_memory_ends() {
        let me = std::process::id();
        // SAFETY: a fresh mapping of two pages of which only the first stays; nobody else knows it.
        let page = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let at = libc::mmap(std::ptr::null_mut(), 2 * PAGE, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            assert_eq!(libc::munmap(at.cast::<u8>().add(PAGE).cast(), PAGE), 0);
            std::slice::from_raw_parts_mut(at.cast::<u8>(), PAGE)
        };
        page.fill(b'x');
        page[PAGE - 10..].copy_from_slice(b"some/path\0");
        assert_eq!(path(me, address(&page[PAGE - 10])), Some(b"some/path".to_vec()));
        page[PAGE - 1] = b'x';
        assert_eq!(path(me, address(&page[PAGE - 10])), None);
        assert_eq!(path(me, address(page.as_ptr())), None);
        page[PAGE - 1] = 0;
        assert_eq!(path(me, address(page.as_ptr())).map(|path| path.len()), Some(PAGE - 1));
        assert_eq!(path(me, 1), None);
        assert_eq!(word(me, address(&page[PAGE - 4])), None);
        assert_eq!(word(me, u64::MAX - 3), None);
    }

    #[test]
    fn vectors_are_added_up() {
        let me = std::process::id();
        let parts = [(1u64, 100u64), (2, 0), (3, 250)];
        let raw: Vec<u64> = parts.iter().flat_map(|part| [part.0, part.1]).collect();
        assert_eq!(vector_bytes(me, address(raw.as_ptr()), 3), Some(350));
        assert_eq!(vector_bytes(me, address(raw.as_ptr()), 1025), None);
        assert_eq!(vector_bytes(me, 8, 1), None);
        assert_eq!(vector_bytes(me, 0, 0), Some(0));
        assert_eq!(vector_bytes(me, address([7u64, u64::MAX, 7, 5].as_ptr()), 2), Some(u64::MAX));
    }
}
