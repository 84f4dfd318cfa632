//! What Slurm prints (`flowmine-extract-slurm`): files of others, and what squeue and sacct answer
//! when they are asked.

use flowmine_extract_slurm::accounting::Accounting;
use flowmine_extract_slurm::import::{self, FileKind, Imported, Options};
use flowmine_extract_slurm::naming::Naming;
use flowmine_extract_slurm::queue::{Changes, PollTime, Queue};
use flowmine_extract_slurm::{sacct, squeue, submit_line};
use flowmine_schema::diagnostic::Diagnostics;

use crate::{Seeds, choice, from, reached};

const IMPORT: &str = "fixtures/import";

/// See [`text`].
pub const TEXT_SEEDS: &[Seeds] = &[
    from(b"\0", IMPORT, ".txt"),
    from(b"\0", "fixtures/case-study/squeue", ".txt"),
    from(b"\x01", IMPORT, ".txt"),
    from(b"\x01", "fixtures/case-study", "sacct-iso.txt"),
    from(b"\x01", "fixtures/case-study", "sacct.txt"),
    from(b"\x02", IMPORT, ".tsv"),
    from(b"\x02", IMPORT, ".csv"),
    from(b"\x03", "fixtures/case-study/polls", "Z.txt"),
    from(b"\x04", "fixtures/case-study", "sacct-token.txt"),
    from(b"\x05", "fuzz/seeds", "submit-line"),
];

/// Text: the first byte says which, and with which options.
pub fn text(bytes: &[u8]) {
    let (first, bytes) = choice(bytes);
    match first % 6 {
        0 => file(bytes, FileKind::SqueueText, first),
        1 => file(bytes, FileKind::SacctText, first),
        2 => file(bytes, FileKind::SlurmMiner, first),
        3 => {
            let Some(token) = squeue::token_of(bytes) else { return };
            let mut diagnostics = Diagnostics::default();
            let mut queue = Queue::new("c");
            let mut changes = Changes::new(Naming::default());
            let mut poll = queue.poll(PollTime::at(1_700_000_000_000_000_000), "squeue", &mut changes, &mut diagnostics);
            let read = squeue::parse(bytes, token, &mut Diagnostics::default(), |record| poll.see(&record));
            reached(read.is_ok(), "what squeue answers");
            poll.finish();
            queue.remember();
        }
        4 => {
            let Some(at) = bytes.iter().position(|byte| *byte == 0x1f) else { return };
            let token = &bytes[at..bytes.len().min(at + 9)];
            reached(sacct::parse(bytes, token, 0, &mut Diagnostics::default()).is_ok_and(|read| !read.is_empty()), "what sacct answers");
        }
        _ => {
            let line = String::from_utf8_lossy(bytes);
            let known = submit_line::Known { name: Some("a job"), comment: Some("of it"), work_dir: Some("/home/u") };
            submit_line::read(&line, &known);
            submit_line::read(&line, &submit_line::Known::default());
            reached(true, "a submit line");
        }
    }
}

/// JSON of squeue and sacct.
pub fn json(bytes: &[u8]) {
    for kind in [FileKind::SqueueJson, FileKind::SacctJson] {
        file(bytes, kind, 0);
    }
}

/// A log of another scheduler. The first byte says with which options.
pub fn workload(bytes: &[u8]) {
    let (first, bytes) = choice(bytes);
    file(bytes, FileKind::Swf, first);
}

/// A file as `import slurm` and `import sacct` read it, taken for this kind.
fn file(bytes: &[u8], kind: FileKind, options: u8) {
    let _ = import::recognise(bytes);
    let zone_offset_s = if options & 64 == 0 { None } else { Some(5 * 3600 + 1800) };
    let separator = if options & 128 == 0 { None } else { Some("|".to_owned()) };
    let mut gate = import::gate();
    if gate.pass(bytes).is_err() {
        return;
    }
    let mut diagnostics = Diagnostics::default();
    let Ok(imported) = import::read(bytes, kind, &Options { zone_offset_s, separator }, &mut diagnostics) else { return };
    reached(true, kind.name());
    let mut changes = Changes::new(Naming::default());
    let mut queue = Queue::new("c");
    match imported {
        Imported::Queue { observed_at_ns, source, records, whole, .. } => {
            let mut poll = queue.poll(PollTime::at(observed_at_ns.unwrap_or(0)), source, &mut changes, &mut diagnostics);
            records.iter().for_each(|record| poll.see(record));
            if whole {
                poll.finish();
            } else {
                poll.finish_changes(true);
            }
            // Everything leaves.
            queue.poll(PollTime::at(observed_at_ns.unwrap_or(0)), source, &mut changes, &mut diagnostics).finish();
        }
        Imported::Log { source, mut entries, .. } => {
            entries.sort_by_key(|(ns, _)| *ns);
            for (ns, record) in &entries {
                let mut poll = queue.poll(PollTime::at(*ns), source, &mut changes, &mut diagnostics);
                poll.see(record);
                poll.finish_changes(true);
            }
        }
        Imported::Accounting { source, records } => {
            let mut accounting = Accounting::new("c");
            for (_, record) in &records {
                accounting.see(record, 1_700_000_000_000_000_000, source, &mut changes, &mut diagnostics);
            }
            accounting.remember();
        }
    }
    queue.remember();
}
