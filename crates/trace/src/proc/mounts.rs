//! `/proc/PID/mountinfo` (proc_pid_mountinfo(5)): which file system a file or a path is on, and
//! where a file of another mount namespace is in ours.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;

use flowmine_files::kernel;
use rustc_hash::FxHashSet;

use super::text::{LONGEST, number};

/// A mount, as a line of `mountinfo` describes it (proc_pid_mountinfo(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Number of the mount, as `fdinfo` and statx(2) give it.
    pub id: u64,
    /// Device number of the file system, as stat(2) gives it.
    pub device: u64,
    /// Which directory of the file system is seen here.
    pub root: Vec<u8>,
    /// Where it is mounted, relative to the root of the process.
    pub point: Vec<u8>,
    /// Type of the file system.
    pub kind: String,
    /// Whether a process of this machine answers for its files. A tracer that stops this process
    /// and asks for such a file waits for ever.
    pub served: bool,
}

/// The mounts that a `mountinfo` lists, in its order. Lines of another form are left out.
pub fn parse(text: &[u8]) -> Vec<Mount> {
    let (mut mounts, layers): (Vec<_>, Vec<_>) = text.split(|&byte| byte == b'\n').filter_map(mount).unzip();
    // The layers of an overlay may be mounted after it.
    let over: Vec<usize> = (0..mounts.len()).filter(|&at| lies_on_served(&mounts, &layers[at])).collect();
    over.into_iter().for_each(|at| mounts[at].served = true);
    mounts
}

/// Whether the files of a type of file system come from a process: FUSE, and autofs, which mounts
/// when it is asked.
fn is_served(kind: &str) -> bool {
    matches!(kind, "fuse" | "fuseblk" | "autofs") || kind.starts_with("fuse.")
}

fn lies_on_served(mounts: &[Mount], layers: &[Vec<u8>]) -> bool {
    layers.iter().any(|layer| innermost(mounts, layer).is_some_and(|mount| mount.served))
}

/// The directories of which an overlay consists, from its options (overlayfs in the kernel's
/// documentation).
fn layers(options: &[u8]) -> Vec<Vec<u8>> {
    let of = |option: &[u8]| {
        ["lowerdir=", "lowerdir+=", "upperdir="].iter().find_map(|name| option.strip_prefix(name.as_bytes()).map(<[u8]>::to_vec))
    };
    let lists = options.split(|&byte| byte == b',').filter_map(of);
    lists.flat_map(|list| list.split(|&byte| byte == b':').map(unescape).collect::<Vec<_>>()).collect()
}

/// A mount, and the layers of which it consists where it is an overlay.
fn mount(line: &[u8]) -> Option<(Mount, Vec<Vec<u8>>)> {
    let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    // Optional fields come before a dash, the type after it.
    let dash = fields.iter().skip(6).position(|field| *field == b"-")? + 6;
    let device = std::str::from_utf8(fields[2]).ok()?;
    let (major, minor) = device.split_once(':')?;
    let kind = String::from_utf8_lossy(fields.get(dash + 1)?).into_owned();
    let layers = if kind == "overlay" { layers(fields.get(dash + 3).unwrap_or(&&b""[..])) } else { Vec::new() };
    let mount = Mount {
        id: number(fields[0])?,
        device: libc::makedev(major.parse().ok()?, minor.parse().ok()?),
        root: unescape(fields[3]),
        point: unescape(fields[4]),
        served: is_served(&kind),
        kind,
    };
    Some((mount, layers))
}

/// Spaces, tabs, newlines and backslashes stand as a backslash and three octal digits.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let digits = text.get(at + 1..at + 4).filter(|digits| byte == b'\\' && digits.iter().all(|digit| (b'0'..=b'7').contains(digit)));
        match digits {
            Some(digits) => {
                out.push(digits.iter().fold(0u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')));
                at += 4;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// What follows of `path` below `dir`: empty or with a slash first. `None` when it is not below.
pub fn below<'a>(dir: &[u8], path: &'a [u8]) -> Option<&'a [u8]> {
    if dir == b"/" {
        return path.first().filter(|&&byte| byte == b'/').map(|_| if path == b"/" { &path[1..] } else { path });
    }
    path.strip_prefix(dir).filter(|rest| rest.is_empty() || rest[0] == b'/')
}

/// `dir` and what [`below`] gave.
fn join(dir: &[u8], rest: &[u8]) -> Vec<u8> {
    match (dir, rest) {
        (b"/", b"") => b"/".to_vec(),
        (b"/", rest) => rest.to_vec(),
        (dir, rest) => [dir, rest].concat(),
    }
}

/// Where a path of another mount namespace may be found in ours: at mounts here of the same file
/// system that show the file. The same path is the first if it is on the same mount here: a mount
/// namespace begins with copies of the mounts of another. Then come mounts that show most of the
/// file system, the oldest first. `mount` is the number of the mount there, if it is known. Mounts can hide each other: what is
/// returned is to be looked at.
pub fn elsewhere(there: &[Mount], here: &[Mount], mount: Option<u64>, path: &[u8]) -> Vec<Vec<u8>> {
    let by_number = mount.and_then(|id| there.iter().find(|mount| mount.id == id));
    let by_path = || there.iter().rev().filter(|mount| below(&mount.point, path).is_some()).max_by_key(|mount| mount.point.len());
    let Some(mount) = by_number.or_else(by_path) else { return Vec::new() };
    let Some(rest) = below(&mount.point, path) else { return Vec::new() };
    let mut found = places(here, mount.device, &join(&mount.root, rest));
    let is_copied = here.iter().any(|ours| (ours.device, &ours.root, &ours.point) == (mount.device, &mount.root, &mount.point));
    if let Some(same) = found.iter().position(|place| is_copied && place == path) {
        found[..=same].rotate_right(1);
    }
    found
}

/// Where mounts show a path within a file system: those that show most of it first, then the
/// oldest.
pub fn places(mounts: &[Mount], device: u64, inside: &[u8]) -> Vec<Vec<u8>> {
    let mut found: Vec<(usize, Vec<u8>)> = mounts
        .iter()
        .filter(|mount| mount.device == device)
        .filter_map(|mount| Some((mount.root.len(), join(&mount.point, below(&mount.root, inside)?))))
        .collect();
    found.sort_by_key(|(root, _)| *root);
    found.into_iter().map(|(_, path)| path).collect()
}

/// The type of the file system on which a path lies: that of the innermost mount, and of several at
/// one place the last.
pub fn kind_of_path<'m>(mounts: &'m [Mount], path: &[u8]) -> Option<&'m str> {
    innermost(mounts, path).map(|mount| mount.kind.as_str())
}

fn innermost<'m>(mounts: &'m [Mount], path: &[u8]) -> Option<&'m Mount> {
    let over = mounts.iter().filter(|mount| below(&mount.point, path).is_some());
    over.max_by_key(|mount| mount.point.len())
}

/// The mounts of one namespace, read again when they changed.
#[derive(Debug)]
pub struct MountTable {
    file: File,
    mounts: Vec<Mount>,
    /// Devices of served file systems, also of those that are mounted no more: their files may be
    /// open still.
    served: FxHashSet<u64>,
}

impl MountTable {
    /// Opens a `mountinfo`, which stays that of the same namespace.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(mountinfo: &Path) -> std::io::Result<Self> {
        let mut table = MountTable { file: kernel::open(mountinfo)?, mounts: Vec::new(), served: FxHashSet::default() };
        table.read()?;
        Ok(table)
    }

    /// Those of the host: of process 1 where that is allowed, otherwise our own.
    ///
    /// # Errors
    /// When neither can be read.
    pub fn of_host(proc: &Path) -> std::io::Result<Self> {
        Self::open(&proc.join("1/mountinfo")).or_else(|_| Self::open(&proc.join("self/mountinfo")))
    }

    fn read(&mut self) -> std::io::Result<()> {
        let mut text = Vec::new();
        self.file.rewind()?;
        (&mut self.file).take(LONGEST).read_to_end(&mut text)?;
        self.mounts = parse(&text);
        self.served.extend(self.mounts.iter().filter(|mount| mount.served).map(|mount| mount.device));
        Ok(())
    }

    /// Reads them again. What was read before stays when that is not possible.
    pub fn read_again(&mut self) {
        let _ = self.read();
    }

    /// Reads them again when they changed since this was last asked, and says whether they did.
    pub fn changed(&mut self) -> bool {
        let mut poll = libc::pollfd { fd: self.file.as_raw_fd(), events: libc::POLLPRI, revents: 0 };
        // SAFETY: one valid `pollfd`; a timeout of 0 returns at once.
        let told = unsafe { libc::poll(&mut poll, 1, 0) };
        let changed = told > 0 && poll.revents & (libc::POLLPRI | libc::POLLERR) != 0;
        if changed {
            self.read_again();
        }
        changed
    }

    /// The mounts as they were read last.
    pub fn last(&self) -> &[Mount] {
        &self.mounts
    }

    /// The mounts as they are now.
    pub fn mounts(&mut self) -> &[Mount] {
        self.changed();
        &self.mounts
    }

    /// A mount by its number, or else one of a device.
    pub fn find(&mut self, mount: Option<u64>, device: u64) -> Option<&Mount> {
        let mounts = self.mounts();
        let by_number = mount.and_then(|id| mounts.iter().find(|mount| mount.id == id));
        by_number.or_else(|| mounts.iter().find(|mount| mount.device == device))
    }

    /// The type of the file system of a mount, or else of a device.
    pub fn kind(&mut self, mount: Option<u64>, device: u64) -> Option<&str> {
        self.find(mount, device).map(|mount| mount.kind.as_str())
    }

    /// Devices of the served file systems that were mounted here at any time ([`Mount::served`]).
    pub fn served(&self) -> &FxHashSet<u64> {
        &self.served
    }
}

/// POLLPRI reports once that they changed.
impl AsFd for MountTable {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &[u8] = b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
        40 22 0:50 / /srv/pods/7/merged rw shared:1 - overlay overlay rw\n\
        41 22 8:16 / /mnt/data\\040disk rw,relatime shared:3 master:4 - xfs /dev/sdb rw\n\
        bad line\n";
    const THERE: &[u8] = b"90 80 0:50 / / rw - overlay overlay rw\n\
        91 90 8:16 /project/a /data rw - xfs /dev/sdb rw\n\
        92 90 0:77 / /tmp rw - tmpfs tmpfs rw\n";

    #[test]
    fn a_path_of_a_container_is_found_here() {
        let (here, there) = (parse(HERE), parse(THERE));
        assert_eq!((here.len(), there.len()), (3, 3));
        assert_eq!(here[2].point, b"/mnt/data disk");
        assert_eq!(elsewhere(&there, &here, Some(91), b"/data/x/y"), [b"/mnt/data disk/project/a/x/y".to_vec()]);
        assert_eq!(elsewhere(&there, &here, None, b"/data"), [b"/mnt/data disk/project/a".to_vec()]);
        assert_eq!(elsewhere(&there, &here, None, b"/database"), [b"/srv/pods/7/merged/database".to_vec()]);
        assert_eq!(elsewhere(&there, &here, None, b"/"), [b"/srv/pods/7/merged".to_vec()]);
        // A file system that is not mounted here.
        assert_eq!(elsewhere(&there, &here, Some(92), b"/tmp/x"), Vec::<Vec<u8>>::new());
        // The number of the mount and the path do not fit: nothing is guessed.
        assert_eq!(elsewhere(&there, &here, Some(91), b"/tmp/x"), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_path_on_a_copy_of_our_mount_is_the_same_here() {
        let bind = |id: u64| format!("{id} 1 8:1 /store/tmp /work/tmp rw - ext4 /dev/sda1 rw\n");
        let here = parse(format!("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n{}", bind(2)).as_bytes());
        let there = parse(format!("11 0 8:1 / / rw - ext4 /dev/sda1 rw\n{}", bind(12)).as_bytes());
        let both = [&b"/work/tmp/x"[..], b"/store/tmp/x"];
        assert_eq!(elsewhere(&there, &here, Some(12), both[0]), both);
        assert_eq!(elsewhere(&there, &here, Some(11), both[1]), [both[1], both[0]]);
        // In a container the directory is at another place.
        let container = parse(b"21 0 8:1 /store/tmp /scratch rw - ext4 /dev/sda1 rw\n");
        assert_eq!(elsewhere(&container, &here, Some(21), b"/scratch/x"), [both[1], both[0]]);
    }

    #[test]
    fn files_of_a_server_are_known_also_through_an_overlay() {
        let mounts = parse(
            b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
            2 1 0:60 / /image rw - overlay overlay rw,lowerdir=/rootfs/a\\040b:/plain,upperdir=/up,workdir=/work\n\
            3 1 0:61 / /rootfs/a\\040b rw - fuse.squashfuse squashfuse rw\n\
            4 1 0:62 / /other rw - overlay overlay rw,lowerdir=/plain,upperdir=/rootfs\n\
            5 1 0:63 / /home rw - autofs auto.home rw\n\
            6 1 8:2 / /windows rw - fuseblk /dev/sda2 rw\n\
            7 1 0:64 / /sys/fs/fuse/connections rw - fusectl fusectl rw\n",
        );
        let served: Vec<u64> = mounts.iter().filter(|mount| mount.served).map(|mount| mount.id).collect();
        assert_eq!(served, [2, 3, 5, 6]);
    }

    #[test]
    fn a_path_lies_on_the_innermost_mount() {
        let here = parse(HERE);
        assert_eq!(kind_of_path(&here, b"/srv/pods/7/merged/x"), Some("overlay"));
        assert_eq!(kind_of_path(&here, b"/srv/pods/7/merged.old"), Some("ext4"));
        assert_eq!(kind_of_path(&here, b"/mnt/data disk"), Some("xfs"));
        assert_eq!(kind_of_path(&parse(THERE)[1..], b"/etc"), None);
    }

    #[test]
    fn ours_are_read_and_stay_readable() {
        let mut table = MountTable::open(Path::new("/proc/self/mountinfo")).unwrap();
        let first = table.mounts().to_vec();
        assert!(first.iter().any(|mount| mount.kind == "proc"), "{first:?}");
        let device = std::os::unix::fs::MetadataExt::dev(&std::fs::metadata("/proc").unwrap());
        assert_eq!(table.kind(None, device), Some("proc"));
        assert_eq!(table.kind(None, u64::MAX), None);
    }
}
