//! Calls that would make a process without a tracer (`CLONE_UNTRACED`, clone(2)).
//!
//! Such a process inherits the filter, but no tracer answers its stops: the kernel lets each
//! stopped call fail with ENOSYS (seccomp(2)). So the flag is taken out of the call. Visible
//! changes are undone when the call ends, in the process that made the call and in the new one: the
//! register, and the flags in memory where they had to be changed in place. A filter of the
//! program's own is asked again after the change (kernel/seccomp.c, `recheck_after_trace`), so only
//! calls that have the flag are changed.
//!
//! clone3(2) has its flags in memory. The kernel is given a changed copy, below the stack of the
//! thread that calls, where a signal might write at any time and a program can keep nothing. Other
//! threads that use the structure at the same time see no change.

use flowmine_trace::proc::memory::Memory;

use crate::calls::When;
use crate::filter::X32;
use crate::requests;
use crate::tracer::Tracer;

const UNTRACED: u32 = libc::CLONE_UNTRACED as u32;

/// The native calls that make processes and have flags. clone3(2) is stopped always, because the
/// filter cannot read memory.
pub(crate) const CALLS: [(u32, When); 2] =
    [(libc::SYS_clone as u32, When::ArgumentHas(0, UNTRACED)), (libc::SYS_clone3 as u32, When::Always)];
/// The same calls of 32-bit programs; their numbers are those of x86 and of ARM.
pub(crate) const FOREIGN_CALLS: [(u32, When); 2] = [(120, When::ArgumentHas(0, UNTRACED)), (435, When::Always)];

/// Sizes of `struct clone_args` that the kernel takes (`CLONE_ARGS_SIZE_VER0`, a page); it refuses
/// others.
const SIZES: std::ops::RangeInclusive<u64> = 64..=4096;
/// Bytes below the stack pointer that a function may use without moving it (System V ABI).
const RED_ZONE: u64 = 128;
const ALIGNMENT: u64 = 16;

/// What has to be put back after a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Changed {
    arch: u32,
    /// The first argument as the program gave it.
    argument: u64,
    /// Address and content of a word of memory that was changed in place.
    word: Option<(u64, u64)>,
}

impl Tracer<'_> {
    /// Has the process traced that a stopped call is about to make.
    pub(crate) fn trace_new_task(&mut self, tid: u32, arch: u32, number: u64, arguments: &[u64; 6], stack: u64) {
        let [argument, size, ..] = *arguments;
        let changed = if number & !u64::from(X32) == libc::SYS_clone3 as u64 {
            change_structure(tid, &self.memory(tid), arch, argument, size, stack)
        } else {
            // Stopped because of its flag, as the filter has it.
            change_register(tid, arch, argument, argument & !u64::from(UNTRACED))
        };
        if let Some(task) = self.tasks.get_mut(&tid) {
            task.changed = changed;
        }
    }

    /// Puts back what was changed of the call that a thread has made, or that has made it.
    pub(crate) fn restore(&mut self, tid: u32) {
        let Some(changed) = self.tasks.get_mut(&tid).and_then(|task| task.changed.take()) else { return };
        // On ARM the register has the result by now.
        if cfg!(target_arch = "x86_64") {
            // That the thread is gone is learnt by waiting.
            let _ = requests::set_first_argument(tid, changed.arch, changed.argument);
        }
        if let Some((address, word)) = changed.word {
            let _ = requests::poke_memory(tid, address, word);
        }
    }
}

fn change_register(tid: u32, arch: u32, argument: u64, other: u64) -> Option<Changed> {
    requests::set_first_argument(tid, arch, other).ok()?;
    Some(Changed { arch, argument, word: None })
}

/// Changes the flags of clone3(2). What cannot be read the kernel cannot read either, but for a
/// process that forbids to be looked at (`PR_SET_DUMPABLE`): that is left as it is.
fn change_structure(tid: u32, memory: &Memory, arch: u32, address: u64, size: u64, stack: u64) -> Option<Changed> {
    let flags = memory.word(address).filter(|flags| flags & u64::from(UNTRACED) != 0)?;
    let traced = flags & !u64::from(UNTRACED);
    if !SIZES.contains(&size) {
        return None;
    }
    let copy = stack.checked_sub(RED_ZONE + size).map(|place| place & !(ALIGNMENT - 1));
    if let (Some(copy), Some(mut structure)) = (copy, memory.bytes(address, size as usize)) {
        structure[..8].copy_from_slice(&traced.to_ne_bytes());
        if requests::write_memory(tid, copy, &structure) {
            return change_register(tid, arch, address, copy);
        }
    }
    // The stack has no room.
    requests::poke_memory(tid, address, traced).ok()?;
    Some(Changed { arch, argument: address, word: Some((address, flags)) })
}
