//! The way through a jump host: a `direct-tcpip` channel of its session (RFC 4254, section 7.2),
//! which a thread joins to one end of a pair of sockets; libssh2 speaks with the next host through
//! the other end.
//!
//! The input is a logged-in connection to the jump host and the address of the next host, which the
//! jump host looks up; the output is a socket. At most 64 KiB wait in each direction. The thread
//! keeps the jump host's connection alive and ends with the socket, with the channel, or with the
//! jump host's connection. It stores the reason in [`Way::trouble`] before it closes the socket, so
//! that the reader of the socket can report it.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use flowmine_schema::text::visible;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use ssh2::{BlockDirections, Channel, ErrorCode};

use super::SshError;
use super::auth::{is_gone, is_timeout, said};
use super::connection::{Connection, milliseconds};

/// The most bytes that wait in each direction.
const ROOM: usize = 64 << 10;
/// The longest sleep: a sign of life that is due, and whatever libssh2 received without our seeing
/// it, wait no longer.
const LONGEST_SLEEP: Duration = Duration::from_millis(1000);

/// A way through a jump host, as the connection behind it sees it.
pub(crate) struct Way {
    /// This end of a socket pair; the other is connected to the jump host's channel.
    pub socket: UnixStream,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Way {
    /// Opens the way to `host:port` within `limit`; the jump host looks up the name.
    pub fn open(jump: Connection, host: &str, port: u16, shown: &str, limit: Duration) -> Result<Self, SshError> {
        let session = jump.session();
        session.set_blocking(true);
        session.set_timeout(milliseconds(limit));
        let channel = session.channel_direct_tcpip(host, port, None).map_err(|error| refusal(&jump, shown, limit, &error))?;
        let pair = UnixStream::pair().and_then(|(ours, theirs)| theirs.set_nonblocking(true).map(|()| (ours, theirs)));
        let (ours, theirs) = pair.map_err(|error| SshError::Connect {
            place: shown.to_owned(),
            why: format!("no pair of sockets for the way through {}: {error}", jump.place()),
        })?;
        let trouble = Arc::new(Mutex::new(None));
        let told = Arc::clone(&trouble);
        let pump = Pump { channel, socket: theirs, outwards: Buffer::default(), inwards: Buffer::default(), jump };
        thread::Builder::new().spawn(move || pump.run(&told)).map_err(|error| SshError::Connect {
            place: shown.to_owned(),
            why: format!("no thread for the way through a jump host: {error}"),
        })?;
        Ok(Self { socket: ours, trouble })
    }

    /// Why the way ended, when it ended on the jump host's side.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Why there is no channel. The reason is the jump host's (RFC 4254, section 5.1), which libssh2
/// puts in brackets.
fn refusal(jump: &Connection, place: &str, limit: Duration, error: &ssh2::Error) -> SshError {
    if is_timeout(error) {
        return SshError::TimedOut { place: place.to_owned(), step: "being connected to by the jump host", after: limit };
    }
    if is_gone(error) {
        return SshError::Broken { place: jump.place().to_owned(), step: "opening a way", why: jump.why(said(error)) };
    }
    let why = said(error);
    let (advice, away) = if why.contains("prohibited") {
        ("it allows no forwarding (AllowTcpForwarding, PermitOpen in its sshd_config, restrict in authorized_keys): ask the site", false)
    } else if why.contains("connect failed") || why.contains("shortage") {
        ("check name and port of the host behind it, as the jump host sees them", true)
    } else {
        ("check with `ssh -v` and the same jump host", false)
    };
    // A refusal is an answer; anything else may be a fault of the moment.
    let away = away || !matches!(error.code(), ErrorCode::Session(-21));
    SshError::Forward { jump: jump.place().to_owned(), place: place.to_owned(), why, advice, away }
}

/// Bytes that wait to be written.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    written: usize,
}

impl Buffer {
    fn is_empty(&self) -> bool {
        self.written == self.bytes.len()
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.written..]
    }

    /// Reads into the empty buffer; gives how much came.
    fn fill(&mut self, mut from: impl Read) -> std::io::Result<usize> {
        self.bytes.resize(ROOM, 0);
        self.written = 0;
        let read = from.read(&mut self.bytes);
        self.bytes.truncate(*read.as_ref().unwrap_or(&0));
        read
    }
}

/// Why bytes are no longer passed on between the socket and the channel.
enum End {
    /// Whoever uses the way is done with it.
    Here,
    /// The channel or the jump host's connection ended.
    There(String),
}

struct Pump {
    // Before the connection: freeing a channel needs its session.
    channel: Channel,
    socket: UnixStream,
    /// Bytes on their way from the socket to the channel.
    outwards: Buffer,
    /// Bytes on their way from the channel to the socket.
    inwards: Buffer,
    jump: Connection,
}

impl Pump {
    fn run(mut self, told: &Mutex<Option<String>>) {
        self.jump.session().set_blocking(false);
        let end = self.carry().unwrap_or_else(|end| end);
        if let End::There(why) = end {
            let why = format!("the way through {} ended: {why}", self.jump.place());
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        }
        let _ = self.socket.shutdown(Shutdown::Both);
        // What waits for an answer here would wait for a jump host that may be gone: the socket is shut first.
        self.jump.shut();
    }

    /// Carries bytes until one side ends.
    ///
    /// A packet that was sent in part must be finished before another begins, which decides the
    /// side that continues after an "again": the writing side, or the reading side, which widens
    /// the window.
    fn carry(&mut self) -> Result<End, End> {
        let (mut read_pending, mut write_pending) = (false, false);
        let mut sign_of_life = Instant::now() + self.jump.keepalive();
        loop {
            let mut progress = false;
            if self.outwards.is_empty() {
                match self.outwards.fill(&self.socket) {
                    Ok(0) => return Ok(End::Here),
                    Ok(_) => progress = true,
                    Err(error) if waits(&error) => {}
                    Err(_) => return Ok(End::Here),
                }
            }
            if !self.outwards.is_empty() && !read_pending {
                match self.channel.write(self.outwards.rest()) {
                    Ok(n) => {
                        self.outwards.written += n;
                        write_pending = false;
                        progress |= n > 0;
                    }
                    Err(error) if waits(&error) => write_pending = self.half_sent(),
                    Err(error) => return Err(self.broke(&error)),
                }
            }
            // After writing, which also reads what has come.
            if self.inwards.is_empty() && !write_pending {
                match self.inwards.fill(&mut self.channel) {
                    Ok(0) if self.channel.eof() => return Ok(End::There("the host behind it hung up".to_owned())),
                    Ok(n) => {
                        read_pending = false;
                        progress |= n > 0;
                    }
                    Err(error) if waits(&error) => read_pending = self.half_sent(),
                    Err(error) => return Err(self.broke(&error)),
                }
            }
            if !self.inwards.is_empty() {
                match self.socket.write(self.inwards.rest()) {
                    Ok(n) => {
                        self.inwards.written += n;
                        progress = true;
                    }
                    Err(error) if waits(&error) => {}
                    Err(_) => return Ok(End::Here),
                }
            }
            if !progress {
                if Instant::now() >= sign_of_life && !read_pending && !write_pending {
                    sign_of_life = Instant::now() + self.jump.keepalive();
                    if let Err(error) = self.jump.session().keepalive_send()
                        && !matches!(error.code(), ErrorCode::Session(-37))
                    {
                        return Err(End::There(self.jump.why(said(&error))));
                    }
                    write_pending = self.half_sent();
                }
                self.sleep()?;
            }
        }
    }

    fn half_sent(&self) -> bool {
        matches!(self.jump.session().block_directions(), BlockDirections::Outbound | BlockDirections::Both)
    }

    fn broke(&self, error: &std::io::Error) -> End {
        End::There(self.jump.why(visible(&error.to_string()).into_owned()))
    }

    /// Until one side has something, or room for what waits.
    fn sleep(&self) -> Result<(), End> {
        let mut carrier = PollFlags::POLLIN;
        if self.half_sent() {
            carrier |= PollFlags::POLLOUT;
        }
        // While the socket accepts no more data, data of the channel stays in its window and does
        // not wake this thread.
        if !self.inwards.is_empty() {
            carrier -= PollFlags::POLLIN;
        }
        let mut socket = PollFlags::empty();
        if self.outwards.is_empty() {
            socket |= PollFlags::POLLIN;
        }
        if !self.inwards.is_empty() {
            socket |= PollFlags::POLLOUT;
        }
        let mut both = [PollFd::new(self.jump.carrier(), carrier), PollFd::new(self.socket.as_fd(), socket)];
        let longest = PollTimeout::try_from(LONGEST_SLEEP).unwrap_or(PollTimeout::ZERO);
        match poll(&mut both, longest) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(End::There(format!("poll: {error}"))),
        }
        // Hung up and nothing to read: without this a socket that is closed while bytes wait for the channel would spin.
        let hung_up = |fd: &PollFd<'_>| fd.revents().is_some_and(|r| r.intersects(PollFlags::POLLHUP | PollFlags::POLLERR));
        if hung_up(&both[1]) && !self.outwards.is_empty() {
            return Err(End::Here);
        }
        Ok(())
    }
}

fn waits(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_written_in_pieces() {
        let mut buffer = Buffer::default();
        assert!(buffer.is_empty());
        assert_eq!(buffer.fill(&b"abc"[..]).unwrap(), 3);
        buffer.written += 2;
        assert_eq!(buffer.rest(), b"c");
        buffer.written += 1;
        assert!(buffer.is_empty());
        assert_eq!(buffer.fill(&b""[..]).unwrap(), 0);
        assert!(buffer.is_empty());
    }
}
