//! Command lines as squeue prints them, path and arguments in one string without quotes, taken apart.

/// A command taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command<'a> {
    /// The path as submitted.
    pub path: &'a str,
    /// The path's last part; what is mined as activity.
    pub file_name: &'a str,
    /// What follows, or `None`.
    pub arguments: Option<&'a str>,
}

/// Takes a command line apart.
///
/// A path may hold spaces, and squeue does not say where it ends. The job's name helps: unless the user chose another, it is the
/// script's file name, so a part of the line that follows a `/` (or begins the line), equals the name, and is followed by
/// a space or the end is the file. Otherwise the path ends at the first space. `None` for an empty line.
pub fn split<'a>(line: &'a str, job_name: Option<&str>) -> Option<Command<'a>> {
    let line = line.trim_start();
    if line.is_empty() {
        return None;
    }
    let end = job_name.and_then(|name| end_of_file_named(line, name)).unwrap_or_else(|| line.find(' ').unwrap_or(line.len()));
    let path = &line[..end];
    let arguments = line[end..].strip_prefix(' ').filter(|rest| !rest.is_empty());
    Some(Command { path, file_name: file_name(path), arguments })
}

/// The last part of a path: the path itself when it ends in a slash or has none.
pub fn file_name(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some((_, name)) if !name.is_empty() => name,
        _ => path,
    }
}

fn end_of_file_named(line: &str, name: &str) -> Option<usize> {
    if name.is_empty() || !line.contains(name) {
        return None;
    }
    line.match_indices(name).map(|(at, _)| (at, at + name.len())).find_map(|(start, end)| {
        let begins = start == 0 || line.as_bytes()[start - 1] == b'/';
        let ends = end == line.len() || line.as_bytes()[end] == b' ';
        (begins && ends).then_some(end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, name: &str, path: &str, file: &str, arguments: Option<&str>) {
        assert_eq!(split(line, Some(name)), Some(Command { path, file_name: file, arguments }));
    }

    #[test]
    fn path_and_arguments() {
        check("/home/hpc/step.sh 4 0", "sim", "/home/hpc/step.sh", "step.sh", Some("4 0"));
        check("/home/hpc/step.sh", "step.sh", "/home/hpc/step.sh", "step.sh", None);
        check("./my job, v2.sh 6 0 arg with space", "my job, v2.sh", "./my job, v2.sh", "my job, v2.sh", Some("6 0 arg with space"));
        check("./my job, v2.sh 6", "other", "./my", "my", Some("job, v2.sh 6"));
        check("/data/my files/run.sh x", "run.sh", "/data/my files/run.sh", "run.sh", Some("x"));
        check("run.sh /data/run.sh", "run.sh", "run.sh", "run.sh", Some("/data/run.sh"));
        check("/bin/é", "", "/bin/é", "é", None);
        assert_eq!(split("", None), None);
    }
}
