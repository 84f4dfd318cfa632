//! `flowmine-fuzz-seeds DIR` writes the first inputs of each target into `DIR/TARGET`, made of the
//! fixtures, and gives each to its target: fails when one of its readers is reached by none. Prints
//! the names of the targets with their numbers of runs. To be called in the repository's folder.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flowmine_fuzz::{BETWEEN, TARGETS, Target, all_reached, run};

/// Longer ones are cut: a fuzzer is quick with small inputs.
const LONGEST: usize = 40_000;
/// Of so many of a kind, which differ little.
const MOST: usize = 60;

fn main() -> ExitCode {
    let Some(dir) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: flowmine-fuzz-seeds DIR");
        return ExitCode::from(2);
    };
    for target in TARGETS {
        if let Err(error) = write(target, &dir.join(target.name)) {
            eprintln!("{}: {error}", target.name);
            return ExitCode::FAILURE;
        }
        println!("{} {}", target.name, target.runs);
    }
    let reached = all_reached();
    let missed: Vec<_> = TARGETS.iter().flat_map(|target| target.readers).filter(|reader| !reached.contains(*reader)).collect();
    if !missed.is_empty() {
        eprintln!("no seed reaches: {missed:?}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn write(target: &Target, dir: &Path) -> Result<(), String> {
    fs::create_dir_all(dir).map_err(|error| error.to_string())?;
    let mut together: Vec<u8> = Vec::new();
    let mut number = 0;
    for seeds in target.seeds {
        let files = files(Path::new(seeds.place), seeds.ending)?;
        if files.is_empty() {
            return Err(format!("nothing in {} ends in {:?}", seeds.place, seeds.ending));
        }
        for (at, file) in files.iter().take(MOST).enumerate() {
            let mut bytes = seeds.before.to_vec();
            bytes.extend(if seeds.ending == "airflow.sql" { database(file)? } else { contents(file, seeds.ending)? });
            run(target, &bytes);
            // What is cut is not a database any more.
            if !bytes.starts_with(b"SQLite") {
                bytes.truncate(LONGEST);
            }
            fs::write(dir.join(format!("{number:03}")), &bytes).map_err(|error| error.to_string())?;
            number += 1;
            // One of each sort, as files of one run.
            if at == 0 && together.len() + bytes.len() < LONGEST {
                if !together.is_empty() {
                    together.push(BETWEEN);
                }
                together.extend(bytes);
            }
        }
    }
    run(target, &together);
    fs::write(dir.join("together"), together).map_err(|error| error.to_string())
}

/// The files whose names end so, packed or not, in the order of their names.
fn files(place: &Path, ending: &str) -> Result<BTreeSet<PathBuf>, String> {
    let mut found = BTreeSet::new();
    let mut open = vec![place.to_owned()];
    while let Some(dir) = open.pop() {
        let entries = fs::read_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
            if path.is_dir() {
                open.push(path);
            } else if name.strip_suffix(b".gz").unwrap_or(name).ends_with(ending.as_bytes()) {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

/// A file's bytes, unpacked unless any file will do.
fn contents(path: &Path, ending: &str) -> Result<Vec<u8>, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if ending.is_empty() || !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    // Some fixtures are damaged, and give what they have.
    let _ = flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked);
    Ok(unpacked)
}

/// A database made of recorded SQL.
fn database(sql: &Path) -> Result<Vec<u8>, String> {
    let sql = fs::read_to_string(sql).map_err(|error| error.to_string())?;
    let path = flowmine_fuzz::folder().join("made.db");
    let _ = fs::remove_file(&path);
    let made = rusqlite::Connection::open(&path).and_then(|connection| {
        connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA page_size = 1024")?;
        connection.execute_batch(&sql)
    });
    made.map_err(|error| error.to_string())?;
    fs::read(&path).map_err(|error| error.to_string())
}
