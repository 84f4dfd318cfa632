//! Counts the memory that is taken, so that an input which takes too much of it is a finding.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// What any input may take: buffers, pages of SQLite, the rows of a table.
const ALWAYS: usize = 96 << 20;
/// What it may take for each of its bytes. A line of a few bytes can be a row of a kilobyte.
const FOR_A_BYTE: usize = 8 << 10;

/// The system's memory, counted.
pub struct Counting;

fn take(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// How much is taken now; from now on the most is noted anew.
pub fn begin() -> usize {
    let now = NOW.load(Ordering::Relaxed);
    MOST.store(now, Ordering::Relaxed);
    now
}

/// Panics when more was taken since [`begin`] than such an input may.
pub fn check(before: usize, input: &[u8]) {
    let most = MOST.load(Ordering::Relaxed).saturating_sub(before);
    // What is packed may unpack to much more; for that there are tests of their own (tests/bombs.rs).
    let packed = input.windows(2).any(|pair| pair == [0x1f, 0x8b]);
    assert!(packed || most <= ALWAYS + input.len() * FOR_A_BYTE, "{} bytes took {} MiB of memory", input.len(), most >> 20);
}
