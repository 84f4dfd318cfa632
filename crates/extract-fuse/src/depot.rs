//! Descriptors beyond the tracer's limit, which is one for each table of descriptors
//! (`RLIMIT_NOFILE`, getrlimit(2)): they are kept in tables of their own, each of a thread
//! (`CLONE_FILES`, unshare(2)).
//!
//! In: a descriptor. Out: a [`Deposit`], by which a descriptor of the same open file description is
//! had again, with its position, its locks and its file, whatever became of the file's name. The
//! threads do nothing but take, give and close. They are started by one that was there before
//! anything was open, so that no table begins as a copy of the tracer's.

use std::io;
use std::mem::{size_of, size_of_val};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use crate::system::{self, Errno};

/// Descriptors of a table that are not deposits: the line to it, and one for a moment.
const OWN: usize = 4;
/// A thread here needs nearly no stack.
const STACK_BYTES: usize = 128 << 10;

/// What is asked of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Keep the descriptor that comes with the order; the answer is its number.
    Keep,
    /// Give the descriptor of this number.
    Give(RawFd),
    /// Close the descriptor of this number.
    Close(RawFd),
}

impl Order {
    fn words(self) -> [i32; 2] {
        match self {
            Order::Keep => [0, 0],
            Order::Give(number) => [1, number],
            Order::Close(number) => [2, number],
        }
    }

    fn new(words: [i32; 2]) -> Option<Self> {
        match words {
            [0, _] => Some(Order::Keep),
            [1, number] => Some(Order::Give(number)),
            [2, number] => Some(Order::Close(number)),
            _ => None,
        }
    }
}

/// Room for one descriptor in a message (cmsg(3)), aligned as its header has to be.
#[repr(C, align(8))]
struct Control([u8; 64]);

fn message(part: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    // SAFETY: all-zero is a valid `msghdr`.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message
}

/// Sends two numbers, and a descriptor with them.
fn send(line: RawFd, mut words: [i32; 2], fd: Option<RawFd>) -> Result<(), Errno> {
    let mut control = Control([0; 64]);
    let mut part = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size_of_val(&words) };
    let mut message = message(&mut part, &mut control);
    // SAFETY: the control buffer has room for one descriptor, and all parts live until the call
    // returns.
    unsafe {
        message.msg_controllen = 0;
        if let Some(fd) = fd {
            message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
            let head = libc::CMSG_FIRSTHDR(&raw const message);
            (*head).cmsg_level = libc::SOL_SOCKET;
            (*head).cmsg_type = libc::SCM_RIGHTS;
            (*head).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(head).cast::<RawFd>().write_unaligned(fd);
        }
        system::moved(libc::sendmsg(line, &raw const message, libc::MSG_NOSIGNAL)).map(|_| ())
    }
}

/// Receives what [`send`] sent. A descriptor for which the table has no room does not come.
fn receive(line: RawFd) -> Result<([i32; 2], Option<RawFd>), Errno> {
    let mut words = [0i32; 2];
    let mut control = Control([0; 64]);
    loop {
        let mut part = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: size_of_val(&words) };
        let mut message = message(&mut part, &mut control);
        message.msg_controllen = size_of::<Control>() as _;
        // SAFETY: both buffers have the room that is stated; the header is read only where the
        // kernel has filled it in.
        unsafe {
            match system::moved(libc::recvmsg(line, &raw mut message, libc::MSG_CMSG_CLOEXEC)) {
                Err(libc::EINTR) => continue,
                Err(errno) => return Err(errno),
                Ok(0) => return Err(libc::EPIPE),
                Ok(_) => {}
            }
            let head = libc::CMSG_FIRSTHDR(&raw const message);
            let whole = libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize;
            let has = !head.is_null() && (*head).cmsg_type == libc::SCM_RIGHTS && (*head).cmsg_len as usize >= whole;
            return Ok((words, has.then(|| libc::CMSG_DATA(head).cast::<RawFd>().read_unaligned())));
        }
    }
}

/// Both ends of a line, on which messages stay whole.
fn line() -> Result<(OwnedFd, OwnedFd), Errno> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which are ours.
    unsafe {
        system::positive(libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Gives this thread a table of its own with nothing in it but one descriptor.
fn own_table(but: RawFd) -> io::Result<()> {
    // SAFETY: from here on descriptors of this thread are no other's: what it closes stays open
    // elsewhere.
    unsafe {
        if libc::unshare(libc::CLONE_FILES) != 0 {
            return Err(io::Error::last_os_error());
        }
        let numbers: Vec<RawFd> = flowmine_files::kernel::names("/proc/thread-self/fd")?
            .iter()
            .filter_map(|name| name.to_str()?.parse().ok())
            .filter(|number| *number != but)
            .collect();
        for number in numbers {
            libc::close(number);
        }
    }
    Ok(())
}

/// Keeps descriptors until its line is closed.
fn keep(line: RawFd) {
    while let Ok((words, fd)) = receive(line) {
        let answered = match Order::new(words) {
            Some(Order::Keep) => send(line, [fd.unwrap_or(-libc::EMFILE), 0], None),
            Some(Order::Give(number)) => send(line, [0, 0], Some(number)),
            Some(Order::Close(number)) => {
                // SAFETY: a number of this table, which only its deposit knows.
                unsafe { libc::close(number) };
                send(line, [0, 0], None)
            }
            None => return,
        };
        if answered.is_err() {
            return;
        }
    }
}

/// Starts a table for each line that it gets.
fn start_tables(line: RawFd) {
    while let Ok((_, Some(fd))) = receive(line) {
        let (ready, wait) = mpsc::channel();
        let table = move || {
            let own = own_table(fd);
            let good = own.is_ok();
            // The other side waits.
            let _ = ready.send(good);
            if good {
                keep(fd);
            }
        };
        let started = std::thread::Builder::new().name("flowmine-files".into()).stack_size(STACK_BYTES).spawn(table);
        let good = started.is_ok() && wait.recv().unwrap_or(false);
        // SAFETY: the thread has its own descriptor of it by now, or does not need it.
        unsafe { libc::close(fd) };
        if send(line, [if good { 0 } else { -libc::ENFILE }, 0], None).is_err() {
            return;
        }
    }
}

/// A table of descriptors, and the line to its thread.
#[derive(Debug)]
struct Table {
    line: Mutex<OwnedFd>,
    kept: AtomicUsize,
}

impl Table {
    /// An order and its answer.
    fn ask(&self, order: Order, fd: Option<RawFd>) -> Result<(i32, Option<RawFd>), Errno> {
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        send(line.as_raw_fd(), order.words(), fd)?;
        let ([word, _], fd) = receive(line.as_raw_fd())?;
        Ok((word, fd))
    }
}

/// A descriptor that is kept in another table. It is closed with it.
#[derive(Debug)]
pub(crate) struct Deposit {
    table: Arc<Table>,
    number: RawFd,
}

impl Deposit {
    /// A descriptor of the same open file description.
    ///
    /// # Errors
    /// `EMFILE` when the tracer's own table has no room.
    pub(crate) fn get(&self) -> Result<OwnedFd, Errno> {
        let (_, fd) = self.table.ask(Order::Give(self.number), None)?;
        // SAFETY: the kernel has just made it for us.
        fd.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }).ok_or(libc::EMFILE)
    }
}

impl Drop for Deposit {
    fn drop(&mut self) {
        // The answer is waited for: what goes with the last descriptor, such as a lock, is gone
        // then. Without its thread the table is gone already.
        let _ = self.table.ask(Order::Close(self.number), None);
        self.table.kept.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All tables.
#[derive(Debug)]
pub(crate) struct Depot {
    /// The line to the thread that starts tables.
    starter: Mutex<OwnedFd>,
    tables: Mutex<Vec<Arc<Table>>>,
    /// Descriptors of a table at most.
    most: usize,
}

impl Depot {
    /// To be called before any file is open that another process waits to see closed. `limit` is
    /// that of descriptors of one table.
    ///
    /// # Errors
    /// When the thread that starts tables cannot be started.
    pub(crate) fn new(limit: usize) -> io::Result<Self> {
        let (ours, its) = line().map_err(io::Error::from_raw_os_error)?;
        let (ready, wait) = mpsc::channel();
        let its = its.into_raw_fd();
        std::thread::Builder::new().name("flowmine-tables".into()).stack_size(STACK_BYTES).spawn(move || {
            let own = own_table(its);
            let good = own.is_ok();
            // The other side waits.
            let _ = ready.send(own);
            if good {
                start_tables(its);
            }
        })?;
        let own = wait.recv().map_err(|_| io::Error::other("a thread ended before it began"))?;
        // SAFETY: the thread has its own descriptor of it by now, or does not need it.
        unsafe { libc::close(its) };
        own?;
        Ok(Depot { starter: Mutex::new(ours), tables: Mutex::default(), most: limit.saturating_sub(OWN).max(1) })
    }

    /// Keeps one more descriptor of an open file description.
    ///
    /// # Errors
    /// `ENFILE` when no more can be kept.
    pub(crate) fn put(&self, fd: RawFd) -> Result<Deposit, Errno> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let free = tables.iter().find(|table| table.kept.load(Ordering::Relaxed) < self.most).map(Arc::clone);
        let table = match free {
            Some(table) => table,
            None => {
                let table = Arc::new(self.start()?);
                tables.push(Arc::clone(&table));
                table
            }
        };
        table.kept.fetch_add(1, Ordering::Relaxed);
        drop(tables);
        let number = match table.ask(Order::Keep, Some(fd)) {
            Ok((number, _)) if number >= 0 => number,
            refused => {
                table.kept.fetch_sub(1, Ordering::Relaxed);
                return Err(refused.err().unwrap_or(libc::ENFILE));
            }
        };
        Ok(Deposit { table, number })
    }

    fn start(&self) -> Result<Table, Errno> {
        let starter = self.starter.lock().unwrap_or_else(PoisonError::into_inner);
        let (ours, its) = line()?;
        send(starter.as_raw_fd(), [0, 0], Some(its.as_raw_fd()))?;
        let ([word, _], _) = receive(starter.as_raw_fd())?;
        if word < 0 { Err(-word) } else { Ok(Table { line: Mutex::new(ours), kept: AtomicUsize::new(0) }) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn what_is_kept_is_the_same_open_file() {
        let depot = Depot::new(OWN + 2).unwrap();
        let mut files: Vec<_> = (0..5).map(|_| tempfile::tempfile().unwrap()).collect();
        for (n, file) in files.iter_mut().enumerate() {
            writeln!(file, "file {n}").unwrap();
            file.seek(io::SeekFrom::Start(5)).unwrap();
        }
        let deposits: Vec<_> = files.iter().map(|file| depot.put(file.as_raw_fd()).unwrap()).collect();
        // Two in a table.
        assert_eq!(depot.tables.lock().unwrap().len(), 3);
        // SAFETY: flock(2) of a descriptor of ours.
        assert_eq!(unsafe { libc::flock(files[0].as_raw_fd(), libc::LOCK_EX) }, 0);
        let path = format!("/proc/self/fd/{}", files[0].as_raw_fd());
        let other = std::fs::File::open(path).unwrap();
        drop(files);
        // SAFETY: as above.
        let lock = || unsafe { libc::flock(other.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
        assert_eq!(lock(), -1, "a lock goes on with what is kept");
        for (n, deposit) in deposits.iter().enumerate() {
            let mut text = String::new();
            std::fs::File::from(deposit.get().unwrap()).read_to_string(&mut text).unwrap();
            assert_eq!(text, format!("{n}\n"));
        }
        drop(deposits);
        assert_eq!(lock(), 0, "and ends with it");
        let again = depot.put(other.as_raw_fd()).unwrap();
        assert_eq!(depot.tables.lock().unwrap().len(), 3, "room is used again");
        drop(again);
    }

    #[test]
    fn a_table_begins_empty() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let depot = Depot::new(64).unwrap();
        let kept = depot.put(writer.as_raw_fd()).unwrap();
        drop(writer);
        drop(kept);
        // No process has an end for writing any more.
        let mut text = Vec::new();
        assert_eq!(reader.read_to_end(&mut text).unwrap(), 0);
    }
}
