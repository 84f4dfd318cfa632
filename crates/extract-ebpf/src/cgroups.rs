//! Control groups: which id is which path, in each hierarchy (cgroups(7)).
//!
//! In: `/proc/self/mountinfo`, `/proc/cgroups` and the mounted hierarchies below a root folder, and
//! later what the kernel reports of new groups. Out: paths by the id that the kernel uses, which is
//! the inode number of the group's directory. A hierarchy that is not mounted here has no paths.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flowmine_files::kernel;
use rustc_hash::FxHashMap;

/// Number of groups after which removed ones are forgotten.
const KNOWN_GROUPS: usize = 1 << 18;
/// A tree is not followed deeper; the kernel's own limit (`cgroup.max.depth`) is seldom set, but
/// paths end at PATH_MAX.
const DEPTH: usize = 64;

/// One hierarchy that is mounted here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// Its number as `/proc/PID/cgroup` has it; 0 is v2.
    pub number: i32,
    /// Its v1 controllers, or none.
    pub controllers: Vec<String>,
    /// Where the hierarchy is mounted.
    pub mount: PathBuf,
    /// What of it is mounted there.
    pub root: Vec<u8>,
}

/// The groups of this host.
#[derive(Debug, Clone, Default)]
pub struct Cgroups {
    proc: PathBuf,
    root: PathBuf,
    /// Mounted hierarchies by their number.
    pub hierarchies: BTreeMap<i32, Hierarchy>,
    paths: FxHashMap<(i32, u64), Vec<u8>>,
}

impl Cgroups {
    /// Reads what is there. `proc` is `/proc`; mount points are taken below `root`, which is `/`.
    pub fn read(proc: &Path, root: &Path) -> Self {
        let mut groups = Cgroups { proc: proc.to_owned(), root: root.to_owned(), ..Cgroups::default() };
        groups.read_again();
        groups
    }

    /// Reads again what is there, and forgets what is not.
    pub fn read_again(&mut self) {
        self.paths.clear();
        self.hierarchies.clear();
        let numbers = numbers(&kernel::read_to_string(self.proc.join("cgroups")).unwrap_or_default());
        let own = own_numbers(&kernel::read_to_string(self.proc.join("self/cgroup")).unwrap_or_default());
        let mounts = kernel::read(self.proc.join("self/mountinfo")).unwrap_or_default();
        for line in mounts.split(|byte| *byte == b'\n') {
            let Some(mount) = flowmine_trace::proc::mounts::parse(line).pop() else { continue };
            let point = || self.root.join(Path::new(std::ffi::OsStr::from_bytes(mount.point.strip_prefix(b"/").unwrap_or(&mount.point))));
            let hierarchy = match mount.kind.as_str() {
                "cgroup2" => Hierarchy { number: 0, controllers: Vec::new(), root: shown(&point(), &mount.root), mount: point() },
                "cgroup" => {
                    let options = String::from_utf8_lossy(line.rsplit(|byte| *byte == b' ').next().unwrap_or_default()).into_owned();
                    let controllers: Vec<String> =
                        options.split(',').filter(|name| numbers.contains_key(*name)).map(str::to_owned).collect();
                    let named = options.split(',').find(|name| name.starts_with("name="));
                    let number = controllers.first().and_then(|name| numbers.get(name)).or_else(|| named.and_then(|name| own.get(name)));
                    let Some(number) = number.copied() else { continue };
                    Hierarchy { number, controllers, root: shown(&point(), &mount.root), mount: point() }
                }
                _ => continue,
            };
            self.hierarchies.entry(hierarchy.number).or_insert(hierarchy);
        }
        for hierarchy in self.hierarchies.values() {
            walk(&hierarchy.mount, &hierarchy.root, hierarchy.number, &mut self.paths, 0);
        }
    }

    /// A group that the kernel reported.
    pub fn insert(&mut self, hierarchy: i32, id: u64, path: &[u8]) {
        if self.paths.len() >= KNOWN_GROUPS {
            self.read_again();
        }
        self.paths.insert((hierarchy, id), path.to_vec());
    }

    /// The path of a v2 group.
    pub fn v2(&self, id: u64) -> Option<&[u8]> {
        self.paths.get(&(0, id)).map(Vec::as_slice)
    }

    /// The path of a group in the hierarchy of a v1 controller.
    pub fn v1(&self, controller: &str, id: u64) -> Option<&[u8]> {
        let hierarchy = self.hierarchies.values().find(|hierarchy| hierarchy.controllers.iter().any(|name| name == controller))?;
        self.paths.get(&(hierarchy.number, id)).map(Vec::as_slice)
    }

    /// The hierarchy, the id and the depth below the hierarchy's root of a group's directory;
    /// `None` when it is none.
    pub fn of_directory(&self, directory: &Path) -> Option<(&Hierarchy, u64, u32)> {
        let id = fs::metadata(directory).ok()?.ino();
        let directory = fs::canonicalize(directory).ok()?;
        let hierarchies = self.hierarchies.values().filter(|hierarchy| directory.starts_with(&hierarchy.mount));
        let hierarchy = hierarchies.max_by_key(|hierarchy| hierarchy.mount.as_os_str().len())?;
        let path = self.paths.get(&(hierarchy.number, id))?;
        let level = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).count();
        Some((hierarchy, id, u32::try_from(level).ok()?))
    }
}

fn walk(directory: &Path, path: &[u8], hierarchy: i32, paths: &mut FxHashMap<(i32, u64), Vec<u8>>, depth: usize) {
    let Ok(metadata) = fs::metadata(directory) else { return };
    paths.insert((hierarchy, metadata.ino()), path.to_vec());
    if depth >= DEPTH {
        return;
    }
    for name in kernel::folders(directory).unwrap_or_default() {
        let mut below = path.to_vec();
        if below.last() != Some(&b'/') {
            below.push(b'/');
        }
        below.extend_from_slice(name.as_bytes());
        walk(&directory.join(name), &below, hierarchy, paths, depth + 1);
    }
}

/// Which group a mount shows. Seen from a cgroup namespace, as in a container, the root of the
/// hierarchy is `/../..` (cgroup_namespaces(7)); its inode number is always 1.
fn shown(point: &Path, told: &[u8]) -> Vec<u8> {
    let from_inside = told.starts_with(b"/..") && fs::metadata(point).is_ok_and(|metadata| metadata.ino() == 1);
    if from_inside { b"/".to_vec() } else { told.to_vec() }
}

/// Hierarchy by controller, from `/proc/cgroups`; those of v2 have number 0 and are left out.
fn numbers(text: &str) -> BTreeMap<String, i32> {
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| {
        let mut fields = line.split_whitespace();
        let (name, number) = (fields.next()?, fields.next()?.parse::<i32>().ok()?);
        (number > 0).then(|| (name.to_owned(), number))
    })
    .collect()
}

/// Hierarchy by name (`name=systemd`), from `/proc/self/cgroup`.
fn own_numbers(text: &str) -> BTreeMap<String, i32> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let number = fields.next()?.parse().ok()?;
            Some((fields.next()?.to_owned(), number))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_both_versions_are_found_below_a_root() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().join("proc");
        for dir in ["proc/self", "cg/freezer/slurm/job_1", "cg/unified/a b/c", "cg/systemd/x"] {
            fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        fs::write(proc.join("cgroups"), "#subsys_name\thierarchy\tnum_cgroups\tenabled\nfreezer\t7\t3\t1\nmemory\t0\t1\t1\n").unwrap();
        fs::write(proc.join("self/cgroup"), "9:name=systemd:/x\n7:freezer:/\n0::/\n").unwrap();
        fs::write(
            proc.join("self/mountinfo"),
            "1 0 0:30 / /cg/freezer rw - cgroup cgroup rw,freezer\n2 0 0:31 / /cg/unified rw - cgroup2 cgroup2 rw\n3 0 0:32 / /cg/systemd rw - cgroup cgroup rw,xattr,name=systemd\n",
        )
        .unwrap();
        let mut groups = Cgroups::read(&proc, root.path());
        let id = |dir: &str| fs::metadata(root.path().join(dir)).unwrap().ino();
        assert_eq!(groups.v1("freezer", id("cg/freezer/slurm/job_1")), Some(&b"/slurm/job_1"[..]));
        assert_eq!(groups.v2(id("cg/unified/a b/c")), Some(&b"/a b/c"[..]));
        assert_eq!(groups.v2(id("cg/unified")), Some(&b"/"[..]));
        assert_eq!(groups.v1("memory", 1), None);
        let (hierarchy, of, level) = groups.of_directory(&root.path().join("cg/freezer/slurm/job_1")).unwrap();
        assert_eq!((hierarchy.number, of, level), (7, id("cg/freezer/slurm/job_1"), 2));
        assert_eq!(groups.hierarchies[&9].controllers, Vec::<String>::new());
        groups.insert(7, 4711, b"/slurm/job_2");
        assert_eq!(groups.v1("freezer", 4711), Some(&b"/slurm/job_2"[..]));
    }
}
