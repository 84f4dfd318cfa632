//! Random numbers of the system, the same in every run: keys of hash tables would otherwise change
//! what code an input reaches, and with it the inputs that follow.

use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Replaces libc's function of this name.
///
/// # Safety
/// As libc's: `buffer` has `length` bytes that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut u8, length: usize, _flags: u32) -> isize {
    for at in 0..length {
        // SplitMix64 (Steele, Lea, Flood 2014).
        let mut mixed = NEXT.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // SAFETY: `at` is below the length that the caller promises.
        unsafe { buffer.add(at).write((mixed >> 56) as u8) };
    }
    length as isize
}
