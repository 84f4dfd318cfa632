//! Paths of cgroups by their ids, as the kernel's hooks tell them: an id is the inode of the cgroup's directory (cgroups(7)).
//!
//! In: the mounted hierarchies (`/proc/self/mountinfo` and the directories it names). Out: a path for an id in each hierarchy. Cgroups that are made
//! later are added as they are told ([`Cgroups::add`]); a cgroup that is gone keeps its path, because its processes' rows still want it.

use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

/// A mounted hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// The controllers of a v1 hierarchy (or `name=systemd`), empty for v2.
    pub controllers: Vec<String>,
    /// Where it is mounted.
    pub mount: PathBuf,
    /// Which of its cgroups is seen there; `/` unless inside of a container.
    pub root: Vec<u8>,
}

impl Hierarchy {
    /// Whether it is the v2 hierarchy.
    pub fn is_v2(&self) -> bool {
        self.controllers.is_empty()
    }
}

/// How many paths are remembered for a hierarchy; a host that makes more forgets the others and says so with a null.
const MOST: usize = 1 << 20;

/// Paths by (hierarchy, id).
#[derive(Debug, Default)]
pub struct Cgroups {
    hierarchies: Vec<Hierarchy>,
    paths: Vec<FxHashMap<u64, Vec<u8>>>,
}

impl Cgroups {
    /// Walks every mounted hierarchy; `root` is `/`, or a folder with files of a test.
    pub fn read(root: &Path) -> Self {
        let mountinfo = fs::read(root.join("proc/self/mountinfo")).unwrap_or_default();
        let mut cgroups = Cgroups::default();
        for hierarchy in hierarchies(&mountinfo) {
            let mut paths = FxHashMap::default();
            let below = hierarchy.mount.strip_prefix("/").unwrap_or(&hierarchy.mount);
            walk(&root.join(below), &hierarchy.root, &mut paths, 0);
            cgroups.hierarchies.push(hierarchy);
            cgroups.paths.push(paths);
        }
        cgroups
    }

    /// The hierarchies, in the order of their mounts.
    pub fn hierarchies(&self) -> &[Hierarchy] {
        &self.hierarchies
    }

    /// The path of a v2 cgroup.
    pub fn v2(&self, id: u64) -> Option<&[u8]> {
        self.path(|hierarchy| hierarchy.is_v2(), id)
    }

    /// The path of a cgroup in the v1 hierarchy of a controller.
    pub fn v1(&self, controller: &str, id: u64) -> Option<&[u8]> {
        self.path(|hierarchy| hierarchy.controllers.iter().any(|name| name == controller), id)
    }

    fn path(&self, wanted: impl Fn(&Hierarchy) -> bool, id: u64) -> Option<&[u8]> {
        let at = self.hierarchies.iter().position(wanted)?;
        self.paths.get(at)?.get(&id).map(Vec::as_slice)
    }

    /// A cgroup was made; `controller` is `None` for the v2 hierarchy.
    pub fn add(&mut self, controller: Option<&str>, id: u64, path: &[u8]) {
        let wanted = |hierarchy: &Hierarchy| match controller {
            None => hierarchy.is_v2(),
            Some(name) => hierarchy.controllers.iter().any(|controller| controller == name),
        };
        if let Some(at) = self.hierarchies.iter().position(wanted)
            && let Some(paths) = self.paths.get_mut(at)
            && (paths.len() < MOST || paths.contains_key(&id))
        {
            paths.insert(id, path.to_vec());
        }
    }

    /// Looks again for an id of the v2 hierarchy that is not known, by walking it. For use now and then only.
    pub fn refresh(&mut self, root: &Path) {
        for (hierarchy, paths) in self.hierarchies.iter().zip(&mut self.paths) {
            let below = hierarchy.mount.strip_prefix("/").unwrap_or(&hierarchy.mount);
            walk(&root.join(below), &hierarchy.root, paths, 0);
        }
    }

    /// The id of a cgroup that a user named: by its directory, or by its path in the v2 hierarchy. With it whether it is of v2.
    ///
    /// # Errors
    /// A sentence, when there is no such cgroup.
    pub fn named(&self, name: &Path) -> Result<(u64, Option<String>), String> {
        let as_path = |hierarchy: &Hierarchy| {
            let below = name.strip_prefix("/").unwrap_or(name);
            hierarchy.mount.join(below)
        };
        let direct = fs::metadata(name).ok().filter(fs::Metadata::is_dir);
        for hierarchy in &self.hierarchies {
            let found = if name.starts_with(&hierarchy.mount) {
                direct.as_ref().map(MetadataExt::ino)
            } else if hierarchy.is_v2() {
                fs::metadata(as_path(hierarchy)).ok().filter(fs::Metadata::is_dir).map(|metadata| metadata.ino())
            } else {
                None
            };
            if let Some(id) = found {
                return Ok((id, hierarchy.controllers.first().cloned()));
            }
        }
        let mounts: Vec<_> = self.hierarchies.iter().map(|hierarchy| hierarchy.mount.display().to_string()).collect();
        Err(format!("{}: there is no such cgroup; give a directory below {}", name.display(), mounts.join(", ")))
    }
}

/// Cgroups nest at most this deep for us; the kernel's own limit is `cgroup.max.depth`.
const DEEPEST: usize = 64;

fn walk(dir: &Path, path: &[u8], paths: &mut FxHashMap<u64, Vec<u8>>, depth: usize) {
    let Ok(metadata) = fs::symlink_metadata(dir) else { return };
    if !metadata.is_dir() || depth > DEEPEST || paths.len() >= MOST {
        return;
    }
    paths.insert(metadata.ino(), path.to_vec());
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let mut below = path.to_vec();
            if below.last() != Some(&b'/') {
                below.push(b'/');
            }
            below.extend_from_slice(entry.file_name().as_bytes());
            walk(&entry.path(), &below, paths, depth + 1);
        }
    }
}

/// The cgroup mounts of proc_pid_mountinfo(5). A hierarchy that is mounted twice counts once, where it is mounted first.
fn hierarchies(mountinfo: &[u8]) -> Vec<Hierarchy> {
    let mut found: Vec<Hierarchy> = Vec::new();
    for line in mountinfo.split(|&byte| byte == b'\n') {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
        let Some(dash) = fields.iter().position(|field| *field == b"-") else { continue };
        let (Some(root), Some(mount), Some(kind), Some(options)) =
            (fields.get(3), fields.get(4), fields.get(dash + 1), fields.get(dash + 3))
        else {
            continue;
        };
        let controllers = match *kind {
            b"cgroup2" => Vec::new(),
            b"cgroup" => String::from_utf8_lossy(options)
                .split(',')
                .filter(|option| !matches!(*option, "rw" | "ro" | "xattr" | "noprefix" | "clone_children" | "nosuid" | "nodev" | "noexec"))
                .filter(|option| !option.starts_with("release_agent="))
                .map(str::to_owned)
                .collect(),
            _ => continue,
        };
        let mount = PathBuf::from(std::ffi::OsString::from_vec(unescape(mount)));
        if !found.iter().any(|hierarchy| hierarchy.controllers == controllers) {
            found.push(Hierarchy { controllers, mount, root: unescape(root) });
        }
    }
    found
}

/// Mount points have spaces, tabs, newlines and backslashes as three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut at = 0;
    while let Some(&byte) = field.get(at) {
        let octal = field.get(at + 1..at + 4).filter(|digits| byte == b'\\' && digits.iter().all(|digit| (b'0'..=b'7').contains(digit)));
        match octal {
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

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "25 1 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
        26 25 0:23 / /sys/fs/cgroup/unified rw,nosuid shared:4 - cgroup2 cgroup2 rw\n\
        27 25 0:24 / /sys/fs/cgroup/cpu\\040x rw - cgroup cgroup rw,cpu,cpuacct\n\
        28 25 0:25 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,release_agent=/x,name=systemd\n\
        29 25 0:25 / /mnt/again rw - cgroup cgroup rw,name=systemd\nbroken\n";

    #[test]
    fn mounts_of_both_versions_are_found() {
        let found = hierarchies(HYBRID.as_bytes());
        let names: Vec<_> = found.iter().map(|h| (h.controllers.join(","), h.mount.display().to_string())).collect();
        assert_eq!(
            names,
            [
                (String::new(), "/sys/fs/cgroup/unified".to_owned()),
                ("cpu,cpuacct".to_owned(), "/sys/fs/cgroup/cpu x".to_owned()),
                ("name=systemd".to_owned(), "/sys/fs/cgroup/systemd".to_owned())
            ]
        );
    }

    #[test]
    fn ids_are_inodes_of_directories() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("proc/self")).unwrap();
        fs::write(root.path().join("proc/self/mountinfo"), HYBRID).unwrap();
        let job = root.path().join("sys/fs/cgroup/unified/slurm/job_7");
        fs::create_dir_all(&job).unwrap();
        let freezer = root.path().join("sys/fs/cgroup/cpu x/a");
        fs::create_dir_all(&freezer).unwrap();
        let mut cgroups = Cgroups::read(root.path());
        let id = fs::metadata(&job).unwrap().ino();
        assert_eq!(cgroups.v2(id), Some(b"/slurm/job_7".as_slice()));
        assert_eq!(cgroups.v1("cpuacct", fs::metadata(&freezer).unwrap().ino()), Some(b"/a".as_slice()));
        assert_eq!(cgroups.v1("freezer", id), None);
        cgroups.add(None, 4711, b"/short/lived");
        assert_eq!(cgroups.v2(4711), Some(b"/short/lived".as_slice()));
        // Gone from the file system, not from memory.
        fs::remove_dir(&job).unwrap();
        cgroups.refresh(root.path());
        assert_eq!(cgroups.v2(id), Some(b"/slurm/job_7".as_slice()));
    }
}
