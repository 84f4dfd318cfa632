//! Command lines as squeue prints them, path and arguments in one string without quotes, taken
//! apart.

/// A command line, taken apart into the path of the command and its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command<'a> {
    /// The command's path as submitted, relative or absolute.
    pub path: &'a str,
    /// The path's last part; what is mined as activity.
    pub file_name: &'a str,
    /// The arguments, as one text; `None` when there are none.
    pub arguments: Option<&'a str>,
}

/// Takes a command line apart.
///
/// A path may hold spaces, and squeue does not say where it ends. Two things help. A line that
/// begins with the work directory goes on with the file in it. And the job's name is the script's
/// file name unless the user chose another: where the path's last part, as far as the first space,
/// is the beginning of the name, and the whole name stands there followed by a space or the end,
/// the file is the name. Otherwise the path ends at the first space. `None` for an empty line.
pub fn split<'a>(line: &'a str, job_name: Option<&str>, work_dir: Option<&str>) -> Option<Command<'a>> {
    let line = line.trim_start();
    if line.is_empty() {
        return None;
    }
    let in_work_dir = work_dir.and_then(|dir| line.strip_prefix(dir)?.strip_prefix('/')).map_or(0, |rest| line.len() - rest.len());
    let first_space = line[in_work_dir..].find(' ').map_or(line.len(), |at| in_work_dir + at);
    let file_begins = line[..first_space].rfind('/').map_or(0, |slash| slash + 1);
    let named = job_name.filter(|name| !name.is_empty()).and_then(|name| {
        let rest = line[file_begins..].strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with(' ')).then_some(line.len() - rest.len())
    });
    let end = named.unwrap_or(first_space);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, name: &str, path: &str, file: &str, arguments: Option<&str>) {
        assert_eq!(split(line, Some(name), Some("/data/my files")), Some(Command { path, file_name: file, arguments }));
    }

    #[test]
    fn path_and_arguments() {
        check("/home/hpc/step.sh 4 0", "sim", "/home/hpc/step.sh", "step.sh", Some("4 0"));
        check("/home/hpc/step.sh", "step.sh", "/home/hpc/step.sh", "step.sh", None);
        check("./my job, v2.sh 6 0 arg with space", "my job, v2.sh", "./my job, v2.sh", "my job, v2.sh", Some("6 0 arg with space"));
        check("./my job, v2.sh 6", "other", "./my", "my", Some("job, v2.sh 6"));
        check("/data/my files/run.sh x", "sim", "/data/my files/run.sh", "run.sh", Some("x"));
        check("run.sh /data/run.sh", "run.sh", "run.sh", "run.sh", Some("/data/run.sh"));
        check("/bin/é", "", "/bin/é", "é", None);
        assert_eq!(split("", None, None), None);
    }

    #[test]
    fn a_job_named_like_an_argument() {
        check("flow/pre.sh /work/run-003 3.3", "run-003", "flow/pre.sh", "pre.sh", Some("/work/run-003 3.3"));
        check("flow/pre.sh pre.sh", "pre.sh", "flow/pre.sh", "pre.sh", Some("pre.sh"));
    }
}
