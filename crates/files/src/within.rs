//! Directories that a user gave to be read. Below them no link is followed.
//!
//! Who lists a directory and then opens what is in it, by its path, opens what has that path by
//! then: another user, whose directory it is, can put a link there in between, also in the place of
//! a directory on the way. So as long as a directory is given ([`within`]), paths below it are
//! opened by [`crate::open_plain`], [`crate::open_given`] and [`Folder::open_listed`] step by step
//! from the directory as it was opened first.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::path::{Component, Path, PathBuf};

use crate::{FileError, Folder};

thread_local! {
    static GIVEN: RefCell<Vec<Given>> = const { RefCell::new(Vec::new()) };
}

#[derive(Debug)]
struct Given {
    number: u64,
    path: PathBuf,
    root: Folder,
    /// Paths that the user named too: these may be links.
    named: HashSet<PathBuf>,
}

/// What [`within`] began ends with this. It counts for the thread that made it.
#[derive(Debug)]
pub struct Within {
    number: u64,
    of_thread: PhantomData<*const ()>,
}

/// Notes which of these paths are directories, as long as the result is kept: in this thread, no
/// link below them is followed, unless it is one of the paths.
///
/// ```
/// let dir = tempfile::tempdir()?;
/// std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link"))?;
/// let given = flowmine_files::within(&[dir.path()]);
/// assert!(flowmine_files::open_plain(&dir.path().join("link")).is_err());
/// drop(given);
/// assert!(flowmine_files::open_plain(&dir.path().join("link")).is_ok());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn within(paths: &[impl AsRef<Path>]) -> Within {
    let absolute: Vec<PathBuf> = paths.iter().filter_map(|path| std::path::absolute(path).ok()).collect();
    let named: HashSet<PathBuf> = absolute.iter().cloned().collect();
    GIVEN.with_borrow_mut(|all| {
        let number = all.last().map_or(0, |last| last.number + 1);
        for path in absolute {
            // What cannot be opened now is not read later either, or it is a file.
            if let Ok(root) = Folder::open(&path) {
                all.push(Given { number, path, root, named: named.clone() });
            }
        }
        Within { number, of_thread: PhantomData }
    })
}

impl Drop for Within {
    fn drop(&mut self) {
        GIVEN.with_borrow_mut(|all| all.retain(|given| given.number != self.number));
    }
}

/// Whether a path is below a directory that is given.
pub fn is_within(path: &Path) -> bool {
    matches!(steps(path), Ok(Some(_)))
}

/// The directory that is given and the names from there to a path below it; nothing for other paths.
fn steps(path: &Path) -> io::Result<Option<(Folder, Vec<OsString>)>> {
    GIVEN.with_borrow(|all| {
        if all.is_empty() {
            return Ok(None);
        }
        let path = std::path::absolute(path)?;
        let names = |given: &Given| {
            let rest = path.strip_prefix(&given.path).ok().filter(|_| !given.named.contains(&path))?;
            let names = rest.components().map(|step| if let Component::Normal(name) = step { Some(name.to_owned()) } else { None });
            names.collect::<Option<Vec<_>>>().filter(|names| !names.is_empty())
        };
        let Some((given, names)) = all.iter().rev().find_map(|given| Some((given, names(given)?))) else { return Ok(None) };
        Ok(Some((given.root.try_clone()?, names)))
    })
}

/// Opens a plain file below a directory that is given; nothing for other paths.
pub(crate) fn open(path: &Path) -> Result<Option<File>, FileError> {
    let Some((mut folder, names)) = steps(path)? else { return Ok(None) };
    let Some((last, way)) = names.split_last() else { return Ok(None) };
    for name in way {
        folder = folder.folder(name)?;
    }
    folder.read(last).map(Some)
}

impl Folder {
    /// Opens a directory to list it. Below a directory that is given ([`within`]) no link is
    /// followed; any other path is opened as by [`Folder::open`].
    ///
    /// # Errors
    /// When there is none, or a link below a directory that is given.
    pub fn open_listed(path: &Path) -> io::Result<Self> {
        let Some((mut folder, names)) = steps(path)? else { return Self::open(path) };
        for name in names {
            folder = folder.folder(name)?;
        }
        folder.path = path.to_owned();
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::{open_given, open_plain};

    #[test]
    fn no_link_below_a_given_directory_is_followed() {
        let top = tempfile::tempdir().unwrap();
        let (dir, secret) = (top.path().join("given"), top.path().join("secret"));
        fs::create_dir_all(dir.join("in")).unwrap();
        fs::create_dir(&secret).unwrap();
        fs::write(secret.join("file"), "secret").unwrap();
        fs::write(dir.join("in/file"), "open").unwrap();
        symlink(secret.join("file"), dir.join("link")).unwrap();
        symlink(&secret, dir.join("way")).unwrap();
        symlink("in/file", dir.join("inside")).unwrap();
        symlink(&dir, top.path().join("to")).unwrap();
        let read = |path: PathBuf| {
            let mut text = String::new();
            open_plain(&path).and_then(|mut file| Ok(file.read_to_string(&mut text)?)).map(|_| text)
        };
        assert_eq!(read(dir.join("way/file")).unwrap(), "secret");
        for given in [dir.clone(), top.path().join("to"), top.path().join("./given/")] {
            let _within = within(&[&given]);
            for path in ["link", "way/file", "inside"].map(|name| given.join(name)) {
                assert!(open_plain(&path).is_err() && open_given(&path).is_err(), "{}", path.display());
            }
            assert!(Folder::open_listed(&given.join("way")).is_err() && is_within(&given.join("way")));
            assert_eq!(read(given.join("in/file")).unwrap(), "open");
            assert_eq!(Folder::open_listed(&given.join("in")).unwrap().names().unwrap(), ["file"]);
            assert_eq!(Folder::open_listed(&given).unwrap().path(), given);
            assert_eq!(read(secret.join("file")).unwrap(), "secret");
        }
        // A path that is named beside the directory is the user's own word.
        let outer = within(&[&dir, &dir.join("link")]);
        assert_eq!(read(dir.join("link")).unwrap(), "secret");
        assert!(read(dir.join("way/file")).is_err());
        // One that a program found in it is not.
        let inner = within(&[&dir.join("way/file")]);
        assert!(read(dir.join("way/file")).is_err());
        drop((outer, inner));
        assert_eq!(read(dir.join("way/file")).unwrap(), "secret");
    }

    #[test]
    fn the_directory_is_the_one_that_was_given() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("given");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("file"), "open").unwrap();
        let _within = within(&[&dir]);
        fs::rename(&dir, top.path().join("away")).unwrap();
        symlink("/etc", &dir).unwrap();
        assert!(open_plain(&dir.join("passwd")).is_err());
        assert!(open_plain(&dir.join("file")).is_ok());
    }
}
