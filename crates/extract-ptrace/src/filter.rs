//! The filter program that selects the system calls at which the kernel stops (seccomp(2)); all
//! others run at full speed.
//!
//! In: the calls. Out: a classic BPF program over `struct seccomp_data`. Numbers mean something
//! else in other calling conventions (32-bit programs, x32), so the convention is looked at first;
//! calls of these are stopped with [`FOREIGN`], to be counted and not to be misread. Calls that
//! could make a process without a tracer are stopped with [`MAKES_TASK`] in each convention.
//!
//! The kernel reports a stop that a filter of the program's own asks for in the same way. The words
//! of this filter distinguish the two: another filter's word is another number, as a rule 0.

use crate::calls::{Known, When};
use crate::untraced;

/// The filter's word for a native call that is recorded.
pub(crate) const RECORDED: u32 = 0x666d;
/// The filter's word for a call of another calling convention.
pub(crate) const FOREIGN: u32 = RECORDED + 1;
/// The filter's word for a call that may make a process without a tracer.
pub(crate) const MAKES_TASK: u32 = RECORDED + 2;

/// The native calling convention (`AUDIT_ARCH_…`, linux/audit.h).
#[cfg(target_arch = "x86_64")]
pub(crate) const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub(crate) const NATIVE: u32 = 0xc000_00b7;

/// Set in the numbers of the x32 convention, which has the `arch` of x86-64.
pub(crate) const X32: u32 = 0x4000_0000;

const RETURN_ALLOW: u32 = 0x7fff_0000;
const RETURN_TRACE: u32 = 0x7ff0_0000;

// struct seccomp_data: nr, arch, instruction pointer, six arguments.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ARGUMENTS: u32 = 16;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const HAS: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

fn instruction(code: u16, k: u32, if_true: u8, if_false: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt: if_true, jf: if_false, k }
}

fn load(offset: u32) -> libc::sock_filter {
    instruction(LOAD, offset, 0, 0)
}

fn give(what: u32) -> libc::sock_filter {
    instruction(RETURN, what, 0, 0)
}

/// The lower half of an argument.
fn argument(n: usize) -> libc::sock_filter {
    let low = if cfg!(target_endian = "big") { 4 } else { 0 };
    load(ARGUMENTS + 8 * n as u32 + low)
}

/// Stops a call with a word when its arguments are of interest. The number is loaded; it still is
/// when the call is another one.
fn stop(number: u32, when: When, word: u32) -> Vec<libc::sock_filter> {
    let trace = give(RETURN_TRACE | word);
    let block: Vec<libc::sock_filter> = match when {
        When::Always => vec![trace],
        When::ArgumentIs(n, values) => {
            let mut block = vec![argument(n)];
            for value in values {
                block.extend([instruction(EQUAL, *value, 0, 1), trace]);
            }
            block.push(give(RETURN_ALLOW));
            block
        }
        When::ArgumentLacks(n, bits) => vec![argument(n), instruction(HAS, bits, 0, 1), give(RETURN_ALLOW), trace],
        When::ArgumentHas(n, bits) => vec![argument(n), instruction(HAS, bits, 0, 1), trace, give(RETURN_ALLOW)],
    };
    // A block is a few instructions, as its values are few.
    [vec![instruction(EQUAL, number, 0, block.len() as u8)], block].concat()
}

/// The seccomp filter (seccomp(2)) that stops the calls that are traced, as a BPF program.
pub(crate) fn program(calls: &[Known], foreign: &[(u32, &'static str)]) -> Vec<libc::sock_filter> {
    let mut other = vec![load(NUMBER)];
    for (number, when) in untraced::FOREIGN_CALLS {
        other.extend(stop(number, when, MAKES_TASK));
    }
    for (number, _) in foreign {
        other.extend([instruction(EQUAL, *number, 0, 1), give(RETURN_TRACE | FOREIGN)]);
    }
    other.push(give(RETURN_ALLOW));
    let mut program = vec![load(ARCH), instruction(EQUAL, NATIVE, 1, 0)];
    // A jump that always goes may go far.
    program.push(instruction((libc::BPF_JMP | libc::BPF_JA) as u16, u32::MAX, 0, 0));
    let far = program.len() - 1;
    program.push(load(NUMBER));
    for (number, when) in untraced::CALLS {
        program.extend(stop(number, when, MAKES_TASK));
    }
    if cfg!(target_arch = "x86_64") {
        for (number, when) in untraced::CALLS {
            program.extend(stop(X32 | number, when, MAKES_TASK));
        }
        program.extend([instruction(AT_LEAST, X32, 0, 1), give(RETURN_TRACE | FOREIGN)]);
    }
    for known in calls {
        program.extend(stop(known.number, known.when, RECORDED));
    }
    program.push(give(RETURN_ALLOW));
    program[far].k = (program.len() - far - 1) as u32;
    program.extend(other);
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::{calls, foreign};
    use flowmine_trace::options::Detail;

    /// `AUDIT_ARCH_I386`, as an example.
    const FOREIGN_ARCH: u32 = 0x4000_0003;

    /// Runs a program as the kernel does.
    fn run(program: &[libc::sock_filter], arch: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let (mut at, mut word) = (0, 0u32);
        loop {
            let i = program[at];
            at += 1;
            match i.code {
                LOAD => {
                    word = match i.k {
                        NUMBER => number,
                        ARCH => arch,
                        offset => {
                            assert!((ARGUMENTS..64).contains(&offset) && offset % 4 == 0);
                            let argument = arguments[(offset - ARGUMENTS) as usize / 8];
                            if offset % 8 == 0 { argument as u32 } else { (argument >> 32) as u32 }
                        }
                    }
                }
                RETURN => return i.k,
                5 => at += i.k as usize,
                code => {
                    let jump = match code {
                        EQUAL => word == i.k,
                        AT_LEAST => word >= i.k,
                        HAS => word & i.k != 0,
                        code => panic!("{code}"),
                    };
                    at += usize::from(if jump { i.jt } else { i.jf });
                }
            }
        }
    }

    #[test]
    fn it_stops_what_is_of_interest_and_nothing_else() {
        for detail in [Detail::Totals, Detail::Events] {
            let (calls, foreign) = (calls(detail), foreign(detail));
            let program = program(&calls, &foreign);
            assert!(program.len() < 4096);
            for number in 0..600 {
                let got = run(&program, NATIVE, number, [0; 6]);
                let expected = match calls.iter().find(|known| known.number == number).map(|known| known.when) {
                    None if number == libc::SYS_clone3 as u32 => RETURN_TRACE | MAKES_TASK,
                    None | Some(When::ArgumentHas(..)) => RETURN_ALLOW,
                    Some(When::ArgumentIs(_, values)) => {
                        if values.contains(&0) {
                            RETURN_TRACE | RECORDED
                        } else {
                            RETURN_ALLOW
                        }
                    }
                    Some(_) => RETURN_TRACE | RECORDED,
                };
                assert_eq!(got, expected, "{number} {detail:?}");
                let got = run(&program, FOREIGN_ARCH, number, [0; 6]);
                let expected = match number {
                    435 => RETURN_TRACE | MAKES_TASK,
                    _ if foreign.iter().any(|(n, _)| *n == number) => RETURN_TRACE | FOREIGN,
                    _ => RETURN_ALLOW,
                };
                assert_eq!(got, expected, "foreign {number}");
            }
            let read = run(&program, NATIVE, libc::SYS_read as u32, [0; 6]);
            assert_eq!(read == RETURN_TRACE | RECORDED, detail == Detail::Events);
        }
    }

    #[test]
    fn arguments_decide() {
        let program = program(&calls(Detail::Totals), &foreign(Detail::Totals));
        let of = |number: libc::c_long, n: usize, value: u64| {
            let mut arguments = [0; 6];
            arguments[n] = value;
            run(&program, NATIVE, number as u32, arguments) == RETURN_TRACE | RECORDED
        };
        assert!(of(libc::SYS_fcntl, 1, libc::F_DUPFD_CLOEXEC as u64) && !of(libc::SYS_fcntl, 1, libc::F_GETFL as u64));
        assert!(
            of(libc::SYS_mmap, 3, libc::MAP_PRIVATE as u64) && !of(libc::SYS_mmap, 3, (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64)
        );
        assert!(of(libc::SYS_unshare, 0, libc::CLONE_FILES as u64) && !of(libc::SYS_unshare, 0, libc::CLONE_NEWUSER as u64));
    }

    #[test]
    fn who_would_have_no_tracer_is_stopped_in_each_convention() {
        let program = program(&calls(Detail::Totals), &foreign(Detail::Totals));
        let of = |arch: u32, number: u32, flags: libc::c_int| run(&program, arch, number, [flags as u64, 0, 0, 0, 0, 0]);
        let clones = [(NATIVE, libc::SYS_clone as u32), (FOREIGN_ARCH, 120)];
        let x32 = cfg!(target_arch = "x86_64").then_some((NATIVE, X32 | libc::SYS_clone as u32));
        for (arch, number) in clones.into_iter().chain(x32) {
            assert_eq!(of(arch, number, libc::CLONE_UNTRACED | libc::SIGCHLD), RETURN_TRACE | MAKES_TASK);
            assert_eq!(of(arch, number, libc::SIGCHLD), RETURN_ALLOW);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn x32_is_not_misread() {
        let program = program(&calls(Detail::Events), &foreign(Detail::Events));
        assert_eq!(run(&program, NATIVE, X32 | libc::SYS_read as u32, [0; 6]), RETURN_TRACE | FOREIGN);
    }
}
