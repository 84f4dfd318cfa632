//! Loading programs. The kernel verifies each of them, which takes tens of milliseconds, so several
//! are loaded at a time.

use std::sync::{Mutex, PoisonError};
use std::thread;

use aya::programs::{Program, ProgramError};
use aya::{Btf, Ebpf};
use rustc_hash::FxHashMap;

/// A program of the object, and what it is loaded for: a tracepoint, a function, or what an
/// iterator goes over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramTarget {
    pub(crate) program: String,
    pub(crate) target: String,
}

impl ProgramTarget {
    pub(crate) fn new(program: &str, target: &str) -> Self {
        ProgramTarget { program: program.to_owned(), target: target.to_owned() }
    }
}

/// What the kernel refused, by program.
pub(crate) type Refused = FxHashMap<String, ProgramError>;

/// Loads programs, the first ones first. One that the object lacks is passed by.
pub(crate) fn load(ebpf: &mut Ebpf, wanted: &[ProgramTarget], btf: &Btf) -> Refused {
    let place = |name: &str| wanted.iter().position(|wanted| wanted.program == name);
    let mut programs: Vec<(usize, &mut Program)> =
        ebpf.programs_mut().filter_map(|(name, program)| Some((place(name)?, program))).collect();
    programs.sort_by_key(|(place, _)| *place);
    let threads = thread::available_parallelism().map_or(1, |count| count.get().min(programs.len()));
    let (next, refused) = (Mutex::new(programs.into_iter()), Mutex::new(Refused::default()));
    let work = || {
        loop {
            let one = next.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((place, program)) = one else { break };
            if let Err(error) = load_one(program, &wanted[place].target, btf) {
                refused.lock().unwrap_or_else(PoisonError::into_inner).insert(wanted[place].program.clone(), error);
            }
        }
    };
    thread::scope(|scope| {
        // Threads that the system refuses are done without.
        let _ = (1..threads).try_for_each(|_| thread::Builder::new().spawn_scoped(scope, work).map(drop));
        work();
    });
    refused.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn load_one(program: &mut Program, target: &str, btf: &Btf) -> Result<(), ProgramError> {
    match program {
        Program::BtfTracePoint(program) => program.load(target, btf),
        Program::FEntry(program) => program.load(target, btf),
        Program::FExit(program) => program.load(target, btf),
        Program::Iter(program) => program.load(target, btf),
        Program::KProbe(program) => program.load(),
        _ => Ok(()),
    }
}
