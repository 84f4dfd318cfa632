//! Names of files in a script that submits jobs: whether they can be those of job scripts, or of
//! what flowmine adds. Shapes of words have `$` in the place of what is known only in a run.

/// Whether a name in the directory of the workflow is one of flowmine's own.
pub(super) fn is_of_flowmine(path: &str) -> bool {
    let first = path.split('/').find(|part| !matches!(*part, "" | ".")).unwrap_or_default();
    !path.starts_with('/') && (first.starts_with("t_") || first.starts_with(".t_"))
}

/// Refuses a pattern that can match the new script, or the scripts and records of layers.
pub(super) fn sees_no_scripts(shape: &str) -> Result<(), String> {
    let parts: Vec<&str> = shape.split('/').filter(|part| *part != ".").collect();
    for (n, part) in parts.iter().enumerate() {
        // In a directory below this one there are none.
        let below = n > 0 && parts[..n].iter().all(|part| !part.contains(OPEN) && !matches!(*part, "" | ".."));
        if part.contains(GLOB) && !below && may_be_of_flowmine(part) {
            return Err(format!(
                "the pattern “{}” can match the new script or those of the layers: name the directory, or how the names begin or end",
                shape.chars().take(60).collect::<String>()
            ));
        }
    }
    Ok(())
}

/// The directories that a pattern names in full before what is open in it.
pub(super) fn parents_of_pattern(shape: &str) -> impl Iterator<Item = &str> {
    let open = shape.find(OPEN).filter(|_| shape.contains(GLOB)).unwrap_or(0);
    shape[..open].match_indices('/').map(|(end, _)| &shape[..end]).filter(|parent| !parent.is_empty())
}

const GLOB: [char; 3] = ['*', '?', '['];
/// What is not known of a name.
const OPEN: [char; 4] = ['*', '?', '[', '$'];

/// Whether names of flowmine can begin and end as a part of a pattern does.
fn may_be_of_flowmine(part: &str) -> bool {
    let prefix = &part[..part.find(OPEN).unwrap_or(part.len())];
    let begins = ["t_", ".t_"].iter().any(|own| own.starts_with(prefix) || prefix.starts_with(own));
    let suffix = part.rsplit([']', '*', '?', '$']).next().unwrap_or_default();
    // `.sh`, `.sbatch`, `.record`, `.made`, those with the number of a job, and directories of runs.
    let ends = suffix.rsplit_once('.').is_none_or(|(_, ending)| {
        matches!(ending, "sh" | "sbatch" | "record" | "made") || ending.len() == 10 || ending.bytes().all(|byte| byte.is_ascii_digit())
    });
    begins && ends
}

/// `logs` of `logs/*.out`: the directory below this one in which a pattern matches.
pub(super) fn directory_of_pattern(shape: &str) -> Option<String> {
    let open = shape.find(OPEN)?;
    let directory = shape[..open].rsplit_once('/')?.0;
    let is_below = !directory.starts_with('/') && directory.split('/').all(|part| !matches!(part, "" | "." | ".."));
    let is_last = !shape[open..].contains('/') && !shape[open..].starts_with('$');
    (is_below && is_last).then(|| directory.to_owned())
}

/// Whether what is known of a name's end is the end of no script's name, nor of a directory around
/// one: `….txt` of `$out.txt`.
pub(super) fn ends_otherwise(shape: &str, scripts: &[String]) -> bool {
    let end = shape.rsplit(OPEN).next().unwrap_or_default();
    let (name, is_whole) = end.rsplit_once('/').map_or((end, false), |(_, name)| (name, true));
    let is_ending = name.rsplit_once('.').is_some_and(|(_, ending)| !ending.is_empty());
    let of_flowmine = may_be_of_flowmine(&if is_whole { name.to_owned() } else { format!("*{name}") });
    let is_of_script = |part: &str| if is_whole { part == name } else { part.ends_with(name) };
    is_ending && !of_flowmine && !scripts.iter().any(|script| script.split('/').any(is_of_script))
}
