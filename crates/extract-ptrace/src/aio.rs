//! Requests of io_submit(2), which are counted and not recorded: `struct iocb` of linux/aio_abi.h.

use flowmine_trace::proc::memory::Memory;
use flowmine_trace::record::Op;

/// Bytes of a request up to its number of bytes.
const SIZE: usize = 40;
/// `IOCB_CMD_PREADV` and `IOCB_CMD_PWRITEV`.
const VECTORED: [u16; 2] = [7, 8];

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    /// `None` for what is no operation on a file, such as `IOCB_CMD_POLL`.
    pub(crate) op: Option<Op>,
    pub(crate) descriptor: i32,
    vectored: bool,
    buffer: u64,
    bytes: u64,
}

impl Request {
    /// Reads it at an address of a thread's memory; `None` where that cannot be read.
    pub(crate) fn read(memory: &Memory, address: u64) -> Option<Self> {
        let bytes = memory.exactly::<SIZE>(address)?;
        let word = |at: usize| <[u8; 8]>::try_from(&bytes[at..at + 8]).map_or(0, u64::from_ne_bytes);
        let code = u16::from_ne_bytes([bytes[16], bytes[17]]);
        let op = match code {
            0 | 7 => Some(Op::Read),
            1 | 8 => Some(Op::Write),
            2 | 3 => Some(Op::Sync),
            _ => None,
        };
        let descriptor = i32::from_ne_bytes([bytes[20], bytes[21], bytes[22], bytes[23]]);
        Some(Request { op, descriptor, vectored: VECTORED.contains(&code), buffer: word(24), bytes: word(32) })
    }

    /// Bytes that it asks for; `None` when it moves none, or they cannot be read.
    pub(crate) fn bytes(&self, memory: &Memory) -> Option<u64> {
        match self.op {
            Some(Op::Read | Op::Write) if self.vectored => memory.vector_bytes(self.buffer, self.bytes),
            Some(Op::Read | Op::Write) => Some(self.bytes),
            _ => None,
        }
    }
}
