//! Taking a hash table out of the kernel many entries at a time (`BPF_MAP_LOOKUP_AND_DELETE_BATCH`,
//! since 5.6), because one at a time is three calls an entry.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::try_out::Attributes;
use crate::wire;

/// `BPF_MAP_LOOKUP_AND_DELETE_BATCH` (linux/bpf.h).
const LOOKUP_AND_DELETE_BATCH: libc::c_int = 25;
/// Entries of a batch. It must be as many as one bucket of the table holds, which is a few.
const ENTRIES: usize = 4096;

/// The entries of a table of totals, each taken out of it as it is handed on.
pub(crate) struct Batches<'t> {
    table: BorrowedFd<'t>,
    /// Where the kernel goes on; nothing before the first.
    position: Option<u32>,
    ended: bool,
    keys: Vec<u8>,
    values: Vec<u8>,
    /// Bytes of a key and of a value.
    sizes: (usize, usize),
}

impl<'t> Batches<'t> {
    pub(crate) fn new(table: BorrowedFd<'t>) -> Self {
        Self::of(table, (wire::totals_key::SIZE, wire::totals_value::SIZE))
    }

    /// Of a table whose keys and values have these sizes.
    pub(crate) fn of(table: BorrowedFd<'t>, sizes: (usize, usize)) -> Self {
        let (keys, values) = (vec![0; ENTRIES * sizes.0], vec![0; ENTRIES * sizes.1]);
        Batches { table, position: None, ended: false, keys, values, sizes }
    }

    /// Takes the next ones. False when the table was at its end before.
    ///
    /// # Errors
    /// Those of bpf(2).
    pub(crate) fn next(&mut self, each: &mut dyn FnMut(&[u8], &[u8])) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let (from, mut to) = (self.position.unwrap_or(0), 0u32);
        // struct { in_batch, out_batch, keys, values: u64; count, map_fd: u32; elem_flags, flags: u64 }: of a hash the position is a number of 32 bits.
        let mut attributes = Attributes::new()
            .long(0, self.position.map_or(0, |_| (&raw const from) as u64))
            .long(8, (&raw mut to) as u64)
            .long(16, self.keys.as_mut_ptr() as u64)
            .long(24, self.values.as_mut_ptr() as u64)
            .word(32, ENTRIES as u32)
            .word(36, self.table.as_raw_fd() as u32);
        // SAFETY: the attributes are 128 initialised bytes, more than the command reads; keys and values have room for as many entries as the count says, and all that is
        // pointed to outlives the call.
        let done = unsafe { libc::syscall(libc::SYS_bpf, LOOKUP_AND_DELETE_BATCH, attributes.0.as_mut_ptr(), attributes.0.len()) };
        if done < 0 {
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                // These were the last ones.
                Some(libc::ENOENT) => self.ended = true,
                _ => return Err(error),
            }
        }
        self.position = Some(to);
        let count = u32::from_ne_bytes([attributes.0[32], attributes.0[33], attributes.0[34], attributes.0[35]]) as usize;
        let (keys, values) = (self.keys.chunks_exact(self.sizes.0), self.values.chunks_exact(self.sizes.1));
        keys.zip(values).take(count).for_each(|(key, value)| each(key, value));
        Ok(true)
    }
}
