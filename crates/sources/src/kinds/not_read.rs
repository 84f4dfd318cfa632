//! Formats that are known and not read, so that the error is about them.

use crate::{Answer, Kind, Reading, Sample};

/// First bytes of formats, what they are, and what to do.
const MAGIC: &[(&[u8], &str, &str)] = &[
    (b"\x28\xb5\x2f\xfd", "a file packed with zstd", "unpack it first: unzstd FILE"),
    (b"\xfd7zXZ\0", "a file packed with xz", "unpack it first: unxz FILE"),
    (b"BZh", "a file packed with bzip2", "unpack it first: bunzip2 FILE"),
    (b"PK\x03\x04", "a zip archive", "unpack it first: unzip FILE"),
    (b"\xff\xfe", "text in UTF-16", "convert it first: iconv -f UTF-16 -t UTF-8 FILE"),
    (b"\xfe\xff", "text in UTF-16", "convert it first: iconv -f UTF-16 -t UTF-8 FILE"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "it holds no events; give the log of the program that wrote it"),
    (b"%PDF-", "a PDF document", "it holds no events"),
];

/// Known formats that are not read.
pub const KIND: Kind = Kind {
    name: "not-read",
    title: "known, not read",
    reads: "files packed with zstd, xz, bzip2 or zip, text in UTF-16, logs of Work Queue: an error names them",
    reading: Reading::NotRead,
    extensions: &[],
    looks_at: |_| false,
    recognise,
};

fn recognise(sample: &Sample) -> Answer {
    let of = |what: &str, advice: &str| Answer::NotRead { what: what.to_owned(), advice: advice.to_owned() };
    if let Some((_, what, advice)) = MAGIC.iter().find(|(magic, ..)| sample.head().starts_with(magic)) {
        return of(what, advice);
    }
    if sample.head().get(257..262) == Some(b"ustar") {
        return of("a tar archive", "unpack it first: tar -xf FILE");
    }
    let lines = sample.lines();
    let first = lines.first().map(String::as_str).unwrap_or_default();
    if first.starts_with("# time manager_pid ") || first.starts_with("# time master_pid ") {
        let advice = "this log is not read; give the log of the engine that used it, such as Makeflow's";
        return of("a transaction log of Work Queue", advice);
    }
    Answer::No
}
