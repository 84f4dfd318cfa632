//! Snakemake's metadata of outputs in `.snakemake/metadata`: for each output a JSON file named by
//! the base64 of its path.
//!
//! A long name is split into folders that begin with `@`. A record describes the last attempt at
//! the output; since version 9 this can be a failed one, without a mark. `endtime` is the time at
//! which Snakemake had noticed the end and touched the output. `starttime` is the start of the job;
//! on a cluster it is, depending on the version, the submission, the start of the job there, or as
//! late as `endtime`.

use std::io;
use std::path::{Path, PathBuf};

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use serde_json::Value;

use crate::{input, json};

/// The metadata of an output.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The output's path, in the form that Snakemake was given.
    pub output: String,
    /// Name of the rule that made the output.
    pub rule: String,
    /// Input files of the job, as the rule declares them.
    pub inputs: Vec<String>,
    /// Shell command; null where the job runs none.
    pub command: Option<String>,
    /// Container image of the job, `container_img_url` of the metadata.
    pub container: Option<String>,
    /// Snakemake's number of the job, equal for all outputs of the job.
    pub job_hash: Option<i64>,
    /// Start of the job in nanoseconds since 1970, where it is before the end.
    pub began_ns: Option<i64>,
    /// End of the job in nanoseconds since 1970.
    pub ended_ns: Option<i64>,
}

/// Returns the files below a folder, including links, sorted.
pub fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in input::entries(&dir)? {
            if entry.is_dir() {
                open.push(entry.path);
            } else {
                found.push(entry.path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a folder of metadata.
///
/// # Errors
/// When a folder cannot be read. Errors in a file are diagnostics.
pub fn read(dir: &Path, diagnostics: &mut Diagnostics) -> io::Result<Vec<Record>> {
    let mut records = Vec::new();
    for path in files(dir)? {
        let name = output(path.strip_prefix(dir).unwrap_or(&path));
        let read = match &name {
            None => Err("its name is no path in base64".to_owned()),
            Some(_) if input::is_no_plain_file(&path) => Err("it is no plain file".to_owned()),
            Some(name) => input::whole(&path).map_err(|e| e.to_string()).and_then(|text| record(name, &text)),
        };
        match read {
            Ok(record) => records.push(record),
            Err(why) => {
                let shown = name.unwrap_or_else(|| flowmine_schema::text::decode(path.as_os_str().as_encoded_bytes()).into_owned());
                let shown: String = shown.chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
                diagnostics.push(Diagnostic::error("metadata_bad", format!("the record of {shown:?}: {why}")));
            }
        }
    }
    Ok(records)
}

fn record(output: &str, text: &str) -> Result<Record, String> {
    let record = json::from_str(text).map_err(|e| format!("no JSON: {e}"))?;
    let rule = record["rule"].as_str().filter(|rule| !rule.is_empty()).ok_or("it has no rule")?;
    // An f64 holds the time to the microsecond.
    let ns = |name: &str| {
        let seconds = record[name].as_f64().filter(|seconds| (0.0..9e9).contains(seconds))?;
        ((seconds * 1e6).round() as i64).checked_mul(1000)
    };
    let text = |name: &str| record[name].as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let ended_ns = ns("endtime");
    Ok(Record {
        output: output.to_owned(),
        rule: rule.to_owned(),
        inputs: record["input"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        command: text("shellcmd"),
        container: text("container_img_url"),
        job_hash: record["job_hash"].as_i64(),
        began_ns: ns("starttime").filter(|began| ended_ns.is_none_or(|ended| *began < ended)),
        ended_ns,
    })
}

/// Returns the output's path that is encoded in a file's path below the folder.
fn output(path: &Path) -> Option<String> {
    let mut encoded = String::new();
    for part in path.components() {
        let part = part.as_os_str().to_str()?;
        encoded.push_str(part.strip_prefix('@').unwrap_or(part));
    }
    let bytes = from_base64(encoded.trim_end_matches('='))?;
    Some(flowmine_schema::text::decode(&bytes).into_owned()).filter(|path| !path.is_empty())
}

/// Decodes base64 of RFC 4648 without padding, with the alphabet for file names or, from old
/// versions, the standard one.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for c in text.bytes() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(six)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_records() {
        for (path, expected) in [
            ("Y291bnRzL2EuYnl0ZXM=", Some("counts/a.bytes")),
            ("@Y291bnRz/L2EuYnl0ZXM=", Some("counts/a.bytes")),
            ("ZGF0YS9hLnR4dA==", Some("data/a.txt")),
            ("w7zDvw==", Some("üÿ")),
            ("no base64!", None),
            ("", None),
        ] {
            assert_eq!(output(Path::new(path)).as_deref(), expected, "{path}");
        }
    }
}
