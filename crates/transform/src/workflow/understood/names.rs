//! Names of files in a script that submits jobs: whether they can be those of job scripts, or of
//! files that flowmine adds. Shapes of words have `$` for parts that are known only in a run.

/// Whether a name in the directory of the workflow is one of flowmine's own.
pub(super) fn is_of_flowmine(path: &str) -> bool {
    let first = path.split('/').find(|part| !matches!(*part, "" | ".")).unwrap_or_default();
    !path.starts_with('/') && (first.starts_with("t_") || first.starts_with(".t_"))
}

/// Refuses a pattern that can match the scripts and records of layers.
pub(super) fn sees_no_scripts(shape: &str) -> Result<(), String> {
    match parts_here(shape).any(|part| part.contains(GLOB) && may_be_of_flowmine(part)) {
        false => Ok(()),
        true => Err(format!(
            "the pattern “{}” can match the new script or those of the layers: name the directory, or how the names begin or end",
            shown(shape)
        )),
    }
}

/// Whether a shape names files: it has a pattern, or literal text.
pub(super) fn names_files(shape: &str) -> bool {
    shape.contains(GLOB) || has_text(shape)
}

/// Whether a name has a literal part.
pub(super) fn has_text(shape: &str) -> bool {
    shape.contains(|c| !matches!(c, '$' | '/' | '.'))
}

/// Whether a text has characters of patterns.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(GLOB)
}

/// Whether a name or a pattern is, or can match, a file of the directory of the workflow.
pub(super) fn can_be(shape: &str, file: &str) -> bool {
    let file: Vec<char> = file.chars().collect();
    // A part that is known only in a run can be any name, so it is no evidence for this one.
    parts_here(shape).filter(|part| names_files(part)).any(|part| matches(&steps(part), &file))
}

/// Whether a value can be a part of a name in the directory of the workflow.
pub(super) fn is_part(shape: &str, name: &[char]) -> bool {
    let shape = shape.trim_start_matches("./");
    match shape.contains('/') {
        // What is before the last slash can lead anywhere.
        true => shape.starts_with(['$', '/', '*', '.']),
        false => matches(&steps(shape), name),
    }
}

/// Whether a name with patterns of sbatch(1), such as `log_%j.txt`, can be a path.
pub(in crate::workflow) fn can_be_written(shape: &str, path: &str) -> bool {
    let tidy = |path: &str| path.split('/').filter(|part| !matches!(*part, "" | ".")).collect::<Vec<_>>().join("/");
    has_text(shape) && matches(&steps(&tidy(shape)), &tidy(path).chars().collect::<Vec<_>>())
}

/// Replaces conversions such as `%d`, `%04d` and `%j` in a text by `$`.
pub(in crate::workflow) fn without_conversions(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(behind) = behind.strip_prefix('%') {
            out.push('%');
            rest = behind;
            continue;
        }
        out.push('$');
        let end = behind.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '#' | '.' | '\'' | '*')).unwrap_or(behind.len());
        rest = behind[end..].strip_prefix(|_: char| true).unwrap_or_default();
    }
    out + rest
}

/// The beginning of a shape, for messages.
pub(super) fn shown(shape: &str) -> String {
    shape.chars().take(60).collect()
}

/// The parts of a path that can be in the directory of the workflow: not those in one below it.
fn parts_here(shape: &str) -> impl Iterator<Item = &str> {
    let mut open = false;
    shape.split('/').filter(|part| *part != ".").enumerate().filter_map(move |(n, part)| {
        let here = n == 0 || open;
        open |= part.contains(OPEN) || matches!(part, "" | "..");
        here.then_some(part)
    })
}

/// A step of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    One(char),
    Any,
    Many,
}

/// The steps of a part of a path. What is not known of it, and a set that is no plain one, is any text.
fn steps(part: &str) -> Vec<Step> {
    let (mut steps, mut rest) = (Vec::new(), part);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        steps.push(match c {
            '*' | '$' => Step::Many,
            '?' => Step::Any,
            '[' => match rest.split_once(']') {
                Some((set, behind)) if !set.is_empty() && !set.contains(['[', '$', '!', '^', '\\']) => {
                    rest = behind;
                    Step::Any
                }
                _ => {
                    rest = rest.rsplit_once(']').map_or("", |(_, behind)| behind);
                    Step::Many
                }
            },
            c => Step::One(c),
        });
    }
    steps
}

/// Whether a name fits the steps of a pattern.
fn matches(steps: &[Step], name: &[char]) -> bool {
    let (mut step, mut at, mut again) = (0, 0, None);
    while at < name.len() {
        match steps.get(step) {
            Some(Step::Many) => {
                again = Some((step, at));
                step += 1;
            }
            Some(Step::One(c)) if *c == name[at] => (step, at) = (step + 1, at + 1),
            Some(Step::Any) => (step, at) = (step + 1, at + 1),
            _ => match &mut again {
                Some((many, from)) => {
                    *from += 1;
                    (step, at) = (*many + 1, *from);
                }
                None => return false,
            },
        }
    }
    steps[step..].iter().all(|step| *step == Step::Many)
}

/// Returns the directories that a pattern names in full before its first unknown part.
pub(super) fn parents_of_pattern(shape: &str) -> impl Iterator<Item = &str> {
    let open = shape.find(OPEN).filter(|_| shape.contains(GLOB)).unwrap_or(0);
    shape[..open].match_indices('/').map(|(end, _)| &shape[..end]).filter(|parent| !parent.is_empty())
}

const GLOB: [char; 3] = ['*', '?', '['];
/// Characters of unknown parts of a name.
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

/// Whether the known end of a name is neither the end of a script's name nor of a directory around
/// one: `….txt` of `$out.txt`.
pub(super) fn ends_otherwise(shape: &str, scripts: &[String]) -> bool {
    let end = shape.rsplit(OPEN).next().unwrap_or_default();
    let (name, is_whole) = end.rsplit_once('/').map_or((end, false), |(_, name)| (name, true));
    let is_ending = name.rsplit_once('.').is_some_and(|(_, ending)| !ending.is_empty());
    let of_flowmine = may_be_of_flowmine(&if is_whole { name.to_owned() } else { format!("*{name}") });
    let is_of_script = |part: &str| if is_whole { part == name } else { part.ends_with(name) };
    is_ending && !of_flowmine && !scripts.iter().any(|script| script.split('/').any(is_of_script))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_can_match_the_new_script() {
        for shape in ["job*.sh", "job_retry.sh", "./job*.sh", "job?retry.sh", "job[_x]*.sh", "$*.sh", "../job*.sh", "/data/job_*.sh"] {
            assert!(can_be(shape, "job_retry.sh"), "{shape}");
        }
        for shape in ["job?.sh", "job[0-9].sh", "jobs/*.sh", "./jobs/job*.sh", "job*.txt", "job_retry.s", "jobs/job_retry.sh", "ob*"] {
            assert!(!can_be(shape, "job_retry.sh"), "{shape}");
        }
        for shape in ["job$.sh", "job$retry.sh", "$.sh", "./job_$", "$/job_retry.sh"] {
            assert!(can_be(shape, "job_retry.sh"), "{shape}");
        }
        for shape in ["$", "$$", "$/$", "data_$/$", "jobs/job$.sh", "job$.txt"] {
            assert!(!can_be(shape, "job_retry.sh"), "{shape}");
        }
        assert!(can_be("[[:alpha:]]*.sh", "new.sh") && can_be("[!a]ew.sh", "new.sh") && can_be("n[", "new.sh"));
    }

    #[test]
    fn names_that_sbatch_and_printf_fill_in() {
        assert_eq!(without_conversions("job%d.sh %04d 100%% %j %"), "job$.sh $ 100% $ $");
        assert!(can_be_written("job$.sh", "job1.sh") && can_be_written("./d/$.sh", "d/job.sh") && can_be_written("job1.sh", "./job1.sh"));
        assert!(!can_be_written("log_$.txt", "job1.sh") && !can_be_written("$", "job1.sh"));
    }
}
