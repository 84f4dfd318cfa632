//! `/proc/PID/fdinfo/FD` (proc_pid_fdinfo(5)): position and flags of an open file description.

use super::text::number;

/// What is used of `/proc/PID/fdinfo/FD` (proc_pid_fdinfo(5)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FdInfo {
    /// Offset at which the open file is, in bytes.
    pub position: u64,
    /// Flags of open(2) and of fcntl(2).
    pub flags: u32,
    /// The mount, as in `mountinfo`.
    pub mount: Option<u64>,
}

impl FdInfo {
    /// Reads the file; `None` without position or flags.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (mut position, mut flags, mut mount) = (None, None, None);
        // What belongs to the kind of file (locks, watches, names of them) comes after these lines.
        for line in text.split(|&byte| byte == b'\n').take(4) {
            let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
            let value = &line[colon + 1..];
            match &line[..colon] {
                b"pos" => position = number::<i64>(value).and_then(|position| u64::try_from(position).ok()),
                b"flags" => flags = std::str::from_utf8(value).ok().and_then(|value| u32::from_str_radix(value.trim(), 8).ok()),
                b"mnt_id" => mount = number(value),
                _ => {}
            }
        }
        Some(FdInfo { position: position?, flags: flags?, mount })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_octal_and_only_the_head_counts() {
        let info = FdInfo::parse(b"pos:\t4096\nflags:\t0102001\nmnt_id:\t29\nino:\t7\npos:\t1\n");
        assert_eq!(info, Some(FdInfo { position: 4096, flags: 0o102_001, mount: Some(29) }));
        assert_eq!(FdInfo::parse(b"pos:\t-1\nflags:\t0\n"), None);
        assert_eq!(FdInfo::parse(b""), None);
    }
}
