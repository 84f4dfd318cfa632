//! The mounts of a process, from `/proc/PID/mountinfo` (proc_pid_mountinfo(5)): which file system lies where.
//!
//! In: the text of that file. Out: where the host has a file of a file system, and the type of the file system on which a path lies. A line that is not understood is
//! left out.

use std::path::Path;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Device number as stat(2) tells it.
    pub device: u64,
    /// What of the file system is mounted.
    pub root: Vec<u8>,
    /// Where.
    pub point: Vec<u8>,
    /// Type of the file system.
    pub file_system: String,
}

/// Mounts, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mounts {
    /// All of them.
    pub all: Vec<Mount>,
}

impl Mounts {
    /// Reads those of the host: of process 1 where that is allowed, otherwise our own. `proc` is `/proc`.
    pub fn of_host(proc: &Path) -> Self {
        let text = std::fs::read(proc.join("1/mountinfo")).or_else(|_| std::fs::read(proc.join("self/mountinfo")));
        Self::parse(&text.unwrap_or_default())
    }

    /// Out of the text.
    pub fn parse(text: &[u8]) -> Self {
        Mounts { all: text.split(|byte| *byte == b'\n').filter_map(parse_line).collect() }
    }

    /// Where the host has a path within a file system; `None` when it shows it nowhere. Of several places the one that shows most of it, then the oldest.
    pub fn on_host(&self, device: u64, inner: &[u8]) -> Option<Vec<u8>> {
        let candidates = self.all.iter().enumerate().filter(|(_, mount)| mount.device == device);
        let (_, mount) =
            candidates.filter(|(_, mount)| rest(&mount.root, inner).is_some()).min_by_key(|(n, mount)| (mount.root.len(), *n))?;
        let rest = rest(&mount.root, inner)?;
        let mut path = if mount.point == b"/" && !rest.is_empty() { Vec::new() } else { mount.point.clone() };
        path.extend_from_slice(rest);
        Some(path)
    }

    /// The type of the file system on which a path of the host lies.
    pub fn file_system_of(&self, path: &[u8]) -> Option<&str> {
        let mounts = self.all.iter().enumerate().filter(|(_, mount)| rest(&mount.point, path).is_some());
        mounts.max_by_key(|(n, mount)| (mount.point.len(), *n)).map(|(_, mount)| mount.file_system.as_str())
    }
}

/// What of `path` is below `top`: empty for itself, otherwise beginning with `/`.
fn rest<'a>(top: &[u8], path: &'a [u8]) -> Option<&'a [u8]> {
    if top == b"/" {
        return Some(if path == b"/" { b"" } else { path });
    }
    let rest = path.strip_prefix(top)?;
    (rest.is_empty() || rest[0] == b'/').then_some(rest)
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let device = std::str::from_utf8(fields.nth(2)?).ok()?;
    let (major, minor) = device.split_once(':')?;
    let device = libc::makedev(major.parse().ok()?, minor.parse().ok()?);
    let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
    let file_system = fields.skip_while(|field| *field != b"-").nth(1)?;
    Some(Mount { device, root, point, file_system: String::from_utf8_lossy(file_system).into_owned() })
}

/// Space, tab, newline and backslash are written as octal numbers.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let octal = text.get(at + 1..at + 4).filter(|digits| text[at] == b'\\' && digits.iter().all(|digit| (b'0'..=b'7').contains(digit)));
        match octal {
            Some(digits) => {
                out.push(digits.iter().fold(0u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')));
                at += 4;
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n\
        23 22 0:21 / /proc rw - proc proc rw\n\
        24 22 254:1 /srv/vol /mnt/with\\040space rw - ext4 /dev/root rw\n\
        25 22 0:57 / /var/lib/containers/merged rw - overlay overlay rw\n\
        nonsense\n\
        26 22 0:58 /part /only/part rw master:2 propagate_from:3 - tmpfs t rw\n";

    #[test]
    fn a_file_of_another_mount_namespace_is_found_where_the_host_has_it() {
        let mounts = Mounts::parse(TEXT);
        assert_eq!(mounts.all.len(), 5);
        let host = |major, minor, inner: &[u8]| mounts.on_host(libc::makedev(major, minor), inner);
        assert_eq!(host(0, 57, b"/data/x").as_deref(), Some(&b"/var/lib/containers/merged/data/x"[..]));
        assert_eq!(host(254, 1, b"/srv/vol/f").as_deref(), Some(&b"/srv/vol/f"[..]));
        assert_eq!(host(254, 1, b"/").as_deref(), Some(&b"/"[..]));
        assert_eq!(host(0, 58, b"/part/f").as_deref(), Some(&b"/only/part/f"[..]));
        assert_eq!(host(0, 58, b"/party/f"), None);
        assert_eq!(host(0, 99, b"/f"), None);
    }

    #[test]
    fn a_path_lies_on_the_innermost_mount() {
        let mounts = Mounts::parse(TEXT);
        assert_eq!(mounts.file_system_of(b"/proc/1/stat"), Some("proc"));
        assert_eq!(mounts.file_system_of(b"/procession"), Some("ext4"));
        assert_eq!(mounts.all[2].point, b"/mnt/with space");
    }
}
