//! Exports that do not come to their end: killed, on a full disk, with a reader that goes away.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::cells::begin;
use super::{Recording, all_formats, said_by};
use crate::support::require::require;
use crate::support::{expect, flowmine, is_root};

/// Names in a directory.
fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Whether a process writes a file below a directory: one without a name, or in a hidden folder, and
/// no longer empty.
fn is_being_written(process: u32, dir: &Path) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    let links = open.filter_map(|entry| Some(entry.ok()?.path()));
    let mut below = links.filter(|link| fs::read_link(link).is_ok_and(|path| path.starts_with(dir)));
    below.any(|link| fs::metadata(link).is_ok_and(|data| data.is_file() && data.size() > 0))
}

#[test]
fn killed_it_leaves_what_was_there() {
    let recording = Recording::new();
    for format in all_formats() {
        let whole = fs::read(recording.export(format, "whole", &[])).unwrap();
        for old in [None, Some("what was there")] {
            let (mut tries, mut killed) = (0, 0);
            while killed == 0 {
                tries += 1;
                assert!(tries < 200, "{format}: it was never caught in the middle");
                let dir = tempfile::tempdir().unwrap();
                let to = dir.path().join(format!("log.{format}"));
                if let Some(old) = old {
                    fs::write(&to, old).unwrap();
                }
                let mut child = recording.command(format, &to).stderr(Stdio::null()).spawn().unwrap();
                while !is_being_written(child.id(), dir.path()) && child.try_wait().unwrap().is_none() {
                    std::thread::sleep(Duration::from_micros(50));
                }
                child.kill().unwrap();
                let in_the_middle = child.wait().unwrap().code().is_none();
                match fs::read(&to).ok() {
                    // The name came between the look and the kill.
                    Some(there) if there == whole => {}
                    there => {
                        assert_eq!(there.as_deref(), old.map(str::as_bytes), "{format}");
                        killed += u32::from(in_the_middle);
                    }
                }
                let left = names(dir.path());
                // SQLite needs a folder to write in, which the next export removes.
                let is_left = |name: &String| format == "ocel.sqlite" && *name == ".log.ocel.sqlite.flowmine-0.tmp";
                assert!(left.iter().all(|name| *name == format!("log.{format}") || is_left(name)), "{left:?}");
                expect(&mut recording.command(format, &to), 0);
                assert_eq!(names(dir.path()), [format!("log.{format}")]);
            }
        }
    }
}

#[test]
fn a_full_disk_is_an_error_that_harms_nothing() {
    if !require("mount", "root, to mount a small file system", is_root()) {
        return;
    }
    let recording = Recording::new();
    let small = recording.path("small");
    fs::create_dir(&small).unwrap();
    expect(Command::new("mount").args(["-t", "tmpfs", "-o", "size=40k", "tmpfs"]).arg(&small), 0);
    let unmount = Unmount(small.clone());
    for format in all_formats() {
        for old in [None, Some("what was there")] {
            let to = small.join(format!("log.{format}"));
            if let Some(old) = old {
                fs::write(&to, old).unwrap();
            }
            let text = said_by(&expect(&mut recording.command(format, &to), 2));
            let full = if format == "ocel.sqlite" { "disk is full" } else { "No space left on device" };
            assert!(text.contains(full) && text.contains(&to.display().to_string()), "{format}: {text}");
            assert_eq!(fs::read(&to).ok().as_deref(), old.map(str::as_bytes), "{format}");
            assert_eq!(names(&small).len(), usize::from(old.is_some()), "{format}: {:?}", names(&small));
            let _ = fs::remove_file(&to);
        }
    }
    drop(unmount);
}

struct Unmount(PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_device_that_is_full_is_said_to_be() {
    let recording = Recording::new();
    for format in all_formats() {
        let text = said_by(&expect(&mut recording.command(format, Path::new("/dev/full")), 2));
        let expected = if format == "ocel.sqlite" { "can only be a file" } else { "No space left on device" };
        assert!(text.contains("/dev/full") && text.contains(expected), "{format}: {text}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let recording = Recording::new();
    for format in all_formats().filter(|format| *format != "ocel.sqlite") {
        for reads in [true, false] {
            let mut command = flowmine();
            command.args(["export", "--format", format, "--dataset"]).arg(&recording.dataset);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut pipe = child.stdout.take();
            if reads {
                begin(pipe.take().unwrap());
            }
            drop(pipe);
            let output = child.wait_with_output().unwrap();
            let text = said_by(&output);
            assert_eq!(output.status.code(), Some(0), "{format}: {text}");
            assert!(text.lines().all(|line| line.contains("warning: ")), "{format}: {text}");
        }
    }
}

#[test]
fn nothing_is_left_behind() {
    let recording = Recording::new();
    let (dir, temporary) = (recording.path("out"), recording.path("temporary"));
    fs::create_dir(&dir).unwrap();
    fs::create_dir(&temporary).unwrap();
    for format in all_formats() {
        let to = dir.join(format!("log.{format}"));
        expect(recording.command(format, &to).env("TMPDIR", &temporary), 0);
    }
    let mut expected: Vec<String> = all_formats().map(|format| format!("log.{format}")).collect();
    expected.sort();
    assert_eq!(names(&dir), expected);
    assert_eq!(names(&temporary), Vec::<String>::new());
}

/// The log lies on a file system of its own that cannot be written to, or beside what belongs to
/// somebody else.
#[test]
fn where_nothing_can_be_written_it_says_where() {
    let recording = Recording::new();
    for format in all_formats() {
        let to = recording.path("no/such/folder").join("log");
        let text = said_by(&expect(&mut recording.command(format, &to), 2));
        assert!(text.contains(&to.display().to_string()), "{format}: {text}");
        let text = said_by(&expect(&mut recording.command(format, &recording.dataset), 2));
        assert!(text.contains(&recording.dataset.display().to_string()), "{format}: {text}");
        assert!(recording.dataset.join("flowmine.json").is_file());
    }
}
