//! gz unpacked in a thread of its own, so that whoever parses does not wait for it.
//!
//! In goes what unpacks, as a [`Read`]; out come the same bytes, and the same error behind the same
//! bytes. What waits is bounded: a few blocks.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

const BLOCK_BYTES: usize = 256 * 1024;

/// How many blocks wait at most.
const BLOCKS: usize = 2;

/// A block, full or the last before the end or an error; or the end, an empty one; or the error.
type Message = io::Result<Vec<u8>>;

/// The bytes that another thread makes.
pub(super) struct Unpacked {
    blocks: Receiver<Message>,
    used: SyncSender<Vec<u8>>,
    block: Vec<u8>,
    at: usize,
    over: bool,
}

impl Unpacked {
    /// Begins to read from `source` at once.
    pub(super) fn new(source: impl Read + Send + 'static) -> io::Result<Self> {
        let (to_reader, blocks) = sync_channel(BLOCKS);
        let (used, to_fill) = sync_channel(BLOCKS + 2);
        // It ends with the source, or when its blocks are no longer received.
        thread::Builder::new().name("unpack".to_owned()).spawn(move || unpack(source, &to_reader, &to_fill))?;
        Ok(Self { blocks, used, block: Vec::new(), at: 0, over: false })
    }
}

fn unpack(mut source: impl Read, to_reader: &SyncSender<Message>, to_fill: &Receiver<Vec<u8>>) {
    loop {
        let mut block = to_fill.try_recv().unwrap_or_default();
        block.resize(BLOCK_BYTES, 0);
        let mut filled = 0;
        let mut error = None;
        while let Some(free) = block.get_mut(filled..).filter(|free| !free.is_empty()) {
            match source.read(free) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(interrupted) if interrupted.kind() == io::ErrorKind::Interrupted => {}
                Err(other) => {
                    error = Some(other);
                    break;
                }
            }
        }
        let over = filled < block.len() && error.is_none();
        block.truncate(filled);
        if !block.is_empty() && to_reader.send(Ok(block)).is_err() {
            return;
        }
        let last = error.map(Err).or_else(|| over.then(|| Ok(Vec::new())));
        if let Some(last) = last {
            // After an error elsewhere, nothing receives the block.
            let _ = to_reader.send(last);
            return;
        }
    }
}

impl Read for Unpacked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            if self.over {
                return Ok(0);
            }
            let next = self.blocks.recv().map_err(|_| io::Error::other("the thread that unpacks ended without a word"))??;
            let used = std::mem::replace(&mut self.block, next);
            self.at = 0;
            self.over = self.block.is_empty();
            // Nothing receives it when all is unpacked.
            let _ = self.used.try_send(used);
        }
        let n = self.block.get(self.at..).unwrap_or_default().read(into)?;
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Breaks(usize);

    impl Read for Breaks {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.0.min(into.len()).min(1000);
            if n == 0 {
                return Err(io::Error::other("broken"));
            }
            into[..n].fill(b'a');
            self.0 -= n;
            Ok(n)
        }
    }

    #[test]
    fn bytes_and_errors_come_in_their_order() {
        for length in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 5 * BLOCK_BYTES] {
            let text: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let mut out = Vec::new();
            let mut unpacked = Unpacked::new(io::Cursor::new(text.clone())).unwrap();
            unpacked.read_to_end(&mut out).unwrap();
            assert!(out == text);
            assert_eq!(unpacked.read(&mut [0]).unwrap(), 0);
            let mut out = Vec::new();
            let error = Unpacked::new(Breaks(length)).unwrap().read_to_end(&mut out).unwrap_err();
            assert_eq!((out.len(), error.to_string().as_str()), (length, "broken"));
        }
        // The thread ends although its blocks are not received, and nothing waits for it.
        drop(Unpacked::new(Breaks(100 * BLOCK_BYTES)).unwrap());
    }
}
