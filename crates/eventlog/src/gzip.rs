//! gz on all processors: bytes in, one gzip member out (RFC 1952).
//!
//! What is written is cut into pieces of one size, each is deflated for itself on some thread and
//! ends on a byte (a sync flush), so that the pieces in their order are one deflate stream. The
//! checksum of the whole comes out of those of the pieces. One member and not several, because
//! process_mining and some readers in Java stop after the first. No name and no time are in the
//! header, and pieces are cut by their size alone: the same bytes in give the same bytes out, on
//! any machine and however they arrive.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder};

use flate2::{Compress, Compression, Crc, FlushCompress};

use crate::error::LogError;

/// How much is deflated at a time. The window of deflate is 32 KiB: what a piece loses by not
/// seeing the one before is small against this.
const PIECE_BYTES: usize = 1 << 20;

/// Measured on XES with zlib-rs, one thread, MB/s of text and size of the result: 1: 1450, 9.7 %;
/// 2: 990, 7.4 %; 3: 740, 6.7 %; 4: 560, 6.0 %; 5: 530, 5.6 %; 6: 310, 5.5 %. A piece that sees the
/// end of the one before is less than 1 % smaller.
const LEVEL: u32 = 5;

/// Magic, deflate, no flags, no time, no hint, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// A final block without content, which ends the stream of blocks.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// Calls `content` with something to write to and writes what it wrote as gz. The caller flushes
/// `out`.
///
/// # Errors
/// The first of `content` or `out`.
pub fn write<T>(out: &mut dyn Write, content: impl FnOnce(&mut dyn Write) -> Result<T, LogError>) -> Result<T, LogError> {
    let workers = thread::available_parallelism().map_or(1, std::num::NonZero::get).clamp(1, 8);
    let (to_workers, work) = sync_channel(workers);
    // Only the workers have it: were they all gone, sending to them would fail and not wait for ever.
    let work = Arc::new(Mutex::new(work));
    thread::scope(|scope| {
        let start = |_: &usize| {
            let work = Arc::clone(&work);
            Builder::new().spawn_scoped(scope, move || deflate_all(&work)).is_ok()
        };
        let started = (0..workers).take_while(start).count();
        drop(work);
        // Dropped at the end of this closure, with or without an error: then the workers end.
        let mut encoder = Encoder {
            out,
            to_workers: (started > 0).then_some(to_workers),
            waiting: VecDeque::new(),
            most_waiting: 2 * workers,
            piece: Vec::with_capacity(PIECE_BYTES),
            used: Vec::new(),
            crc: Crc::new(),
        };
        encoder.out.write_all(&HEADER)?;
        let result = content(&mut encoder)?;
        encoder.finish()?;
        Ok(result)
    })
}

#[derive(Default)]
struct Buffers {
    plain: Vec<u8>,
    deflated: Vec<u8>,
}

type Answer = io::Result<(Buffers, Crc)>;

type Work = (Buffers, SyncSender<Answer>);

fn compressor() -> Compress {
    Compress::new(Compression::new(LEVEL), false)
}

fn deflate_all(work: &Mutex<Receiver<Work>>) {
    let mut compress = compressor();
    loop {
        // The lock is held only while waiting for the next piece.
        let next = match work.lock() {
            Ok(work) => work.recv(),
            Err(_) => break,
        };
        let Ok((buffers, answer)) = next else { break };
        // After an error, nothing receives the answer.
        let _ = answer.send(deflated(&mut compress, buffers));
    }
}

fn deflated(compress: &mut Compress, mut buffers: Buffers) -> Answer {
    let mut crc = Crc::new();
    crc.update(&buffers.plain);
    deflate(compress, &buffers.plain, &mut buffers.deflated)?;
    Ok((buffers, crc))
}

/// Deflates a piece into an emptied buffer, to the end of a byte and without a final block.
fn deflate(compress: &mut Compress, plain: &[u8], deflated: &mut Vec<u8>) -> io::Result<()> {
    compress.reset();
    deflated.clear();
    // Room for the worst case at once: what comes out never depends on how much room there was.
    deflated.reserve(plain.len() + plain.len() / 4 + 1024);
    loop {
        let rest = plain.get(compress.total_in() as usize..).unwrap_or_default();
        compress.compress_vec(rest, deflated, FlushCompress::Sync)?;
        if compress.total_in() as usize == plain.len() && deflated.len() < deflated.capacity() {
            return Ok(());
        }
        deflated.reserve(1024);
    }
}

struct Encoder<'a> {
    out: &'a mut dyn Write,
    /// `None` where the system gives no threads.
    to_workers: Option<SyncSender<Work>>,
    /// Answers to come, in the order of the pieces.
    waiting: VecDeque<Receiver<Answer>>,
    most_waiting: usize,
    piece: Vec<u8>,
    used: Vec<Buffers>,
    crc: Crc,
}

impl Encoder<'_> {
    /// Sends the current piece to be deflated.
    fn send(&mut self) -> io::Result<()> {
        if self.waiting.len() >= self.most_waiting {
            self.take()?;
        }
        let mut buffers = self.used.pop().unwrap_or_default();
        std::mem::swap(&mut buffers.plain, &mut self.piece);
        self.piece.clear();
        let (answer, receiver) = sync_channel(1);
        match &self.to_workers {
            Some(workers) => workers.send((buffers, answer)).map_err(|_| stopped())?,
            None => answer.send(deflated(&mut compressor(), buffers)).map_err(|_| stopped())?,
        }
        self.waiting.push_back(receiver);
        Ok(())
    }

    /// Waits for the oldest piece and writes it.
    fn take(&mut self) -> io::Result<()> {
        let Some(oldest) = self.waiting.pop_front() else { return Ok(()) };
        let (buffers, crc) = oldest.recv().map_err(|_| stopped())??;
        self.out.write_all(&buffers.deflated)?;
        self.crc.combine(&crc);
        self.used.push(buffers);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.piece.is_empty() {
            self.send()?;
        }
        while !self.waiting.is_empty() {
            self.take()?;
        }
        self.out.write_all(&LAST_BLOCK)?;
        self.out.write_all(&self.crc.sum().to_le_bytes())?;
        // The length modulo 2³², as RFC 1952 has it.
        self.out.write_all(&self.crc.amount().to_le_bytes())
    }
}

impl Write for Encoder<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        if self.piece.len() == PIECE_BYTES {
            self.send()?;
        }
        Ok(taken)
    }

    /// Does nothing: to flush a piece that is not full would make the bytes depend on when it was
    /// asked for.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn stopped() -> io::Error {
    io::Error::other("a thread that compresses ended without a word")
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    fn packed(plain: &[u8], step: usize) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, |to| plain.chunks(step).try_for_each(|part| to.write_all(part)).map_err(LogError::from)).unwrap();
        out
    }

    #[test]
    fn one_member_with_everything_and_always_the_same_bytes() {
        // Hard to compress and longer than several pieces.
        let mut state = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .take(PIECE_BYTES + PIECE_BYTES / 2)
        .collect();
        let text = "<string key=\"concept:name\"/>".repeat(PIECE_BYTES / 12).into_bytes();
        for plain in [noise.as_slice(), &text, &text[..PIECE_BYTES], &text[..PIECE_BYTES + 1], &text[..1], &[]] {
            let packed_once = packed(plain, 1 << 20);
            assert!(packed_once == packed(plain, 77_777));
            // The plain decoder reads one member and no more: nothing may be left over.
            let mut decoder = GzDecoder::new(packed_once.as_slice());
            let mut back = Vec::new();
            decoder.read_to_end(&mut back).unwrap();
            assert!(back == plain);
            assert!(decoder.into_inner().is_empty());
        }
    }

    #[test]
    fn an_error_of_either_side_ends_it() {
        /// Takes the header and one piece.
        struct Full(u8);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let full = write(&mut Full(2), |to| Ok(to.write_all(&vec![0; 10 * PIECE_BYTES])?));
        assert!(matches!(full, Err(LogError::Io(error)) if error.kind() == io::ErrorKind::StorageFull));
        let damaged = write(&mut Vec::new(), |to| {
            to.write_all(&vec![0; 7 * PIECE_BYTES])?;
            Err::<(), _>(LogError::Damaged)
        });
        assert!(matches!(damaged, Err(LogError::Damaged)));
    }
}
