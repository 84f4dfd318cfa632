//! What the descriptors of threads lead to: files with their identity, paths and positions.

use std::ffi::{CStr, CString};
use std::os::fd::AsRawFd;
use std::rc::Rc;

use flowmine_trace::clock::boot_ns;
use flowmine_trace::options::PSEUDO_FILE_SYSTEMS;
use flowmine_trace::proc::fdinfo::FdInfo;
use flowmine_trace::proc::files::Looked;
use flowmine_trace::proc::memory::Memory;
use flowmine_trace::proc::paths::{Paths, View};
use flowmine_trace::record::{FileKey, OpenFile};

use crate::descriptors::{OpenRef, Slot};
use crate::locate::{Asker, Located};
use crate::requests::{self, Shared};
use crate::tracer::Tracer;

/// An open file that was just opened or found.
pub(crate) struct Found {
    pub(crate) looked: Looked,
    pub(crate) file: FileKey,
    pub(crate) file_system: Option<String>,
    pub(crate) paths: Paths,
}

/// Why no file was found behind a descriptor.
pub(crate) enum NotFound {
    /// The descriptor is not open.
    Closed,
    /// We may not look, or it went away while we did.
    Unreadable,
    /// It is of a kind that is not recorded, or left out by a filter.
    Other,
}

const O_TMPFILE: u32 = (libc::O_TMPFILE & !libc::O_DIRECTORY) as u32;

impl Tracer<'_> {
    /// How a thread sees files.
    pub(crate) fn view(&mut self, tid: u32) -> Option<Rc<View>> {
        let age = self.views_age;
        let task = self.tasks.get_mut(&tid)?;
        if let Some((then, view)) = &task.view
            && *then == age
        {
            return view.clone();
        }
        let view = self.views.of(&self.proc, tid).map(Rc::new);
        task.view = Some((age, view.clone()));
        view
    }

    /// What a thread has in memory.
    pub(crate) fn memory(&mut self, tid: u32) -> Memory {
        let view = self.view(tid);
        self.views.memory(&self.proc, view.as_deref(), tid)
    }

    /// Whether files of a type of file system are wanted. One that is not known passes, unless
    /// certain ones are asked for.
    pub(crate) fn wants_file_system(&self, kind: Option<&str>) -> bool {
        let among = |list: &[String]| kind.is_some_and(|kind| list.iter().any(|name| name == kind));
        if among(&self.filters.file_systems_out) {
            return false;
        }
        match self.filters.file_systems.is_empty() {
            true => !kind.is_some_and(|kind| PSEUDO_FILE_SYSTEMS.contains(&kind)),
            false => among(&self.filters.file_systems),
        }
    }

    /// The file with its generation; `path` leads to it.
    fn file_key(&mut self, path: &CString, looked: &Looked) -> FileKey {
        self.descriptors.known_file(looked.device, looked.inode).unwrap_or_else(|| {
            let generation = self.generations.ask(path, looked);
            FileKey { device: looked.device, inode: looked.inode, generation }
        })
    }

    /// Looks at what a descriptor leads to.
    pub(crate) fn find(&mut self, tid: u32, fd: i32, flags: Option<u32>) -> Result<Found, NotFound> {
        let name = format!("fd/{fd}");
        let path = self.proc.c_path(tid, &name);
        let looked = match self.look_at(tid, &path) {
            Ok(looked) => looked,
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => return Err(NotFound::Closed),
            Err(_) => return Err(NotFound::Unreadable),
        };
        if looked.kind().is_none() {
            return Err(NotFound::Other);
        }
        let view = self.view(tid);
        let file_system = self.views.kind(view.as_deref(), &looked).or_else(|| self.unmounted.kind(&looked).map(str::to_owned));
        if !self.wants_file_system(file_system.as_deref()) {
            return Err(NotFound::Other);
        }
        let nameless = flags.is_some_and(|flags| flags & O_TMPFILE != 0);
        let paths = match if nameless { None } else { self.proc.link(tid, &name) } {
            Some(link) => self.views.paths(view.as_deref(), &link, &looked),
            None => Paths::default(),
        };
        let file = self.file_key(&path, &looked);
        Ok(Found { looked, file, file_system, paths })
    }

    /// What a descriptor is; `None` when it is not open.
    pub(crate) fn resolve(&mut self, tid: u32, fd: i32) -> Option<Slot> {
        let table = self.tasks.get(&tid)?.table;
        if let Some(slot) = self.descriptors.get(table, fd) {
            if !self.descriptors.doubted(table) {
                return Some(slot);
            }
            let looked = self.look_at(tid, &self.proc.c_path(tid, &format!("fd/{fd}"))).ok();
            match (slot, looked) {
                (Slot::File(open), Some(looked)) if (open.file.device, open.file.inode) == (looked.device, looked.inode) => {
                    return Some(slot);
                }
                _ => self.descriptors.clear(table, fd),
            }
        }
        if fd < 0 {
            return None;
        }
        // Most descriptors with an untraced open are pipes and the like, and need only this check.
        let looked = self.look_at(tid, &self.proc.c_path(tid, &format!("fd/{fd}")));
        let info = if looked.is_ok_and(|looked| looked.kind().is_some()) { self.position(tid, fd) } else { None };
        let found = match self.find(tid, fd, info.map(|info| info.flags)) {
            Ok(found) => found,
            Err(NotFound::Closed) => return None,
            Err(reason) => {
                if let NotFound::Unreadable = reason {
                    self.lose("open-file", "unreadable", 1, None);
                }
                self.descriptors.set(table, fd, Slot::Other);
                return Some(Slot::Other);
            }
        };
        let file = found.file;
        let recognised = self
            .descriptors
            .recognise(file.device, file.inode, |other, other_fd| requests::same(tid, other, Shared::OpenFile(fd, other_fd)));
        let number = match recognised {
            Ok(number) => Some(number),
            Err(untold) => {
                let number = (!untold).then(|| self.descriptors.new_number());
                self.tell_open(OpenFile {
                    at_boot_ns: boot_ns(),
                    open_file: number,
                    file,
                    kind: found.looked.kind(),
                    file_system: found.file_system.as_deref(),
                    size: Some(found.looked.size),
                    path: found.paths.host.as_deref(),
                    container_path: found.paths.container.as_deref(),
                });
                number
            }
        };
        let path_only = info.is_some_and(|info| info.flags & libc::O_PATH as u32 != 0);
        let slot = Slot::File(OpenRef { number, file, seen_open: false, path_only });
        self.descriptors.set(table, fd, slot);
        Some(slot)
    }

    /// The same, when it is a file that is recorded.
    pub(crate) fn resolve_file(&mut self, tid: u32, fd: i32) -> Option<OpenRef> {
        match self.resolve(tid, fd) {
            Some(Slot::File(open)) => Some(open),
            _ => None,
        }
    }

    /// Position and flags of a descriptor.
    pub(crate) fn position(&mut self, tid: u32, fd: i32) -> Option<FdInfo> {
        let table = self.tasks.get(&tid)?.table;
        self.positions.read(table, fd, || self.proc.path(tid, &format!("fdinfo/{fd}")))
    }

    /// The size of the file of a descriptor.
    pub(crate) fn size(&mut self, tid: u32, fd: i32) -> Option<u64> {
        self.look_at(tid, &self.proc.c_path(tid, &format!("fd/{fd}"))).ok().map(|looked| looked.size)
    }

    /// Looks at the file behind a link of a thread.
    fn look_at(&mut self, tid: u32, link: &CStr) -> std::io::Result<Looked> {
        let view = self.view(tid);
        self.views.look(view.as_deref(), libc::AT_FDCWD, link, 0)
    }

    /// Where a path leads that a thread passed to a call.
    pub(crate) fn locate(&mut self, tid: u32, base: i32, path: &[u8]) -> Located {
        let view = self.view(tid);
        let Some(task) = self.tasks.get(&tid) else { return Located::default() };
        let asker = Asker { proc: &self.proc, process: task.process.pid, thread: tid, view: view.as_deref() };
        asker.locate(&mut self.views, base, path)
    }

    /// The type of the file system of a directory that [`Tracer::locate`] found.
    pub(crate) fn file_system_of(&mut self, tid: u32, located: &Located) -> Option<String> {
        let view = self.view(tid);
        let (_, looked) = located.directory.as_ref()?;
        self.views.kind(view.as_deref(), looked)
    }

    /// What is at a place; `follow` says whether a link leads further.
    pub(crate) fn looked_at(&mut self, tid: u32, located: &Located, follow: bool) -> Option<Looked> {
        let view = self.view(tid);
        let place = located.open(&mut self.views, view.as_deref(), follow)?;
        self.views.look(view.as_deref(), place.as_raw_fd(), c"", libc::AT_EMPTY_PATH).ok()
    }

    /// The file at a place, with its generation, and the paths by which it is reached when links
    /// are followed.
    pub(crate) fn file_at(&mut self, tid: u32, located: &Located, follow: bool) -> Option<(Looked, FileKey, Paths)> {
        let view = self.view(tid);
        // A link of a process with another root leads somewhere else for us.
        let follow = follow && view.as_deref().is_some_and(View::is_ours);
        let place = located.open(&mut self.views, view.as_deref(), follow)?;
        let looked = self.views.look(view.as_deref(), place.as_raw_fd(), c"", libc::AT_EMPTY_PATH).ok()?;
        let own = std::process::id();
        let name = format!("fd/{}", place.as_raw_fd());
        let file = self.file_key(&self.proc.c_path(own, &name), &looked);
        let paths = match if follow { self.proc.link(own, &name) } else { None } {
            Some(link) => self.views.paths(view.as_deref(), &link, &looked),
            None => Paths::default(),
        };
        Some((looked, file, paths))
    }
}
