//! `TaskHandler[…]`: the form of a task in Nextflow's log.
//!
//! ```text
//! TaskHandler[jobId: 11433; id: 1; name: a:b (x); status: COMPLETED; exit: 0; error: -; workDir: /w/19/2c65… started: 1642395569926; exited: 2022-01-17T04:59:26Z; ]
//! TaskHandler[id: 4; name: get; status: COMPLETED; exit: -; error: -; workDir: /w/32/5179…]
//! ```
//!
//! Names and errors may contain any text, even `; status: `; the frame is therefore parsed from
//! both ends.

/// Fields of a handler; `-` is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handler<'a> {
    /// `jobId`, which only grid executors log.
    pub job: Option<&'a str>,
    /// Nextflow's number of the task.
    pub id: &'a str,
    /// Name of the task, with its tag.
    pub name: &'a str,
    /// `COMPLETED`, `RUNNING`, …: state of the handler, not outcome of the task.
    pub status: &'a str,
    /// Exit code of the task.
    pub exit: Option<i64>,
    /// The exception that the handler has stored for the task.
    pub error: Option<&'a str>,
    /// Work directory of the task.
    pub work_dir: Option<&'a str>,
    /// Time at which the poller noticed that the task runs, in milliseconds since 1970.
    pub started_ms: Option<i64>,
    /// Time at which the file with the exit code was written, ISO 8601 in UTC.
    pub exited: Option<&'a str>,
}

/// Parses a handler; an error is the offset of the first unreadable byte of `text`, and the reason.
pub fn parse(text: &str) -> Result<Handler<'_>, (usize, &'static str)> {
    const OPEN: &str = "TaskHandler[";
    let begin = text.find(OPEN).ok_or((0, "there is no TaskHandler["))? + OPEN.len();
    let end = text.rfind(']').filter(|end| *end >= begin).ok_or((text.len(), "it has no end: the line is cut"))?;
    let body = &text[begin..end];
    let at = |what: &str| begin + what.as_ptr() as usize - body.as_ptr() as usize;

    let name_key = body.find("; name: ").ok_or((begin, "it has no name"))?;
    let (front, rest) = (&body[..name_key], &body[name_key + "; name: ".len()..]);
    let (before, id) = front.rsplit_once("id: ").ok_or((begin, "it has no id"))?;
    let job = before.trim_end().trim_end_matches(';').strip_prefix("jobId: ");

    // The name ends where the complete middle part follows, not at the first "; status: ".
    let middle = |at: &usize| {
        let mut parts = rest[at + "; status: ".len()..].splitn(3, "; ");
        let status = parts.next().filter(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'));
        let exit = parts.next().and_then(|part| part.strip_prefix("exit: "));
        let exit = exit.filter(|exit| *exit == "-" || exit.parse::<i64>().is_ok());
        let tail = parts.next().and_then(|part| part.strip_prefix("error: "));
        Some((status?, exit?, tail?))
    };
    let found = rest.match_indices("; status: ").map(|(at, _)| at).find_map(|at| Some((at, middle(&at)?)));
    let (name_end, (status, exit, tail)) = found.ok_or((at(rest), "after its name, status, exit and error do not follow"))?;
    let (error, place) = tail.rsplit_once("; workDir: ").ok_or((at(tail), "it has no workDir"))?;

    let (mut work_dir, mut started_ms, mut exited) = (place.trim_end(), None, None);
    // Only for grid executors, and in the versions examined without a `;` before it.
    if let Some((dir, times)) = place.rsplit_once(" started: ")
        && let Some((started, after)) = times.split_once("; exited: ")
    {
        work_dir = dir.trim_end().trim_end_matches(';');
        started_ms = started.trim().parse().ok().filter(|ms| *ms > 0);
        exited = Some(after.trim_end_matches([';', ' '])).filter(|exited| *exited != "-");
    }
    let told = |text: &'_ str| text != "-" && !text.is_empty();
    Ok(Handler {
        job: job.filter(|job| told(job) && *job != "null"),
        id,
        name: &rest[..name_end],
        status,
        // In some versions Java's largest int means that there is no exit code.
        exit: exit.parse().ok().filter(|code| *code != i64::from(i32::MAX)),
        error: Some(error).filter(|error| told(error)),
        work_dir: Some(work_dir).filter(|dir| told(dir)),
        started_ms,
        exited,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid() {
        let text = "x > TaskHandler[jobId: 21607439_38; id: 12; name: S:SOFIA (a, [b]); status: COMPLETED; exit: 0; error: -; \
                    workDir: s3://bucket/my work/19/2c6526a42e35b104d009c7369098f1 started: 1642395569926; exited: 2022-01-17T04:59:26.12Z; ]";
        let handler = parse(text).unwrap();
        assert_eq!(handler.job, Some("21607439_38"));
        assert_eq!((handler.id, handler.name, handler.status, handler.exit), ("12", "S:SOFIA (a, [b])", "COMPLETED", Some(0)));
        assert_eq!(handler.work_dir, Some("s3://bucket/my work/19/2c6526a42e35b104d009c7369098f1"));
        assert_eq!((handler.started_ms, handler.exited), (Some(1_642_395_569_926), Some("2022-01-17T04:59:26.12Z")));
    }

    #[test]
    fn local_and_hostile_names() {
        let text = "TaskHandler[id: 4; name: p (x; status: RUNNING; exit: 7]); status: COMPLETED; exit: -; error: java.io.E: [a]; b; workDir: /w/32/5179]";
        let handler = parse(text).unwrap();
        assert_eq!((handler.id, handler.name), ("4", "p (x; status: RUNNING; exit: 7])"));
        assert_eq!((handler.exit, handler.error), (None, Some("java.io.E: [a]; b")));
        assert_eq!((handler.job, handler.work_dir, handler.exited), (None, Some("/w/32/5179"), None));
    }

    #[test]
    fn vanished() {
        let text = "TaskHandler[jobId: null; id: 4; name: p; status: RUNNING; exit: 2147483647; error: -; workDir: /w/32/51 started: -; exited: -; ]";
        let handler = parse(text).unwrap();
        assert_eq!((handler.job, handler.exit, handler.started_ms, handler.exited), (None, None, None, None));
        assert_eq!(handler.work_dir, Some("/w/32/51"));
    }

    #[test]
    fn cut() {
        for (text, why) in [
            ("Task completed > TaskHandler[id: 4; name: p; status: COMP", "it has no end: the line is cut"),
            ("TaskHandler[name: p]", "it has no name"),
            ("TaskHandler[id: 4; name: p]", "after its name, status, exit and error do not follow"),
            ("TaskHandler[id: 4; name: p; status: RUNNING; exit: -; error: -]", "it has no workDir"),
        ] {
            assert_eq!(parse(text).unwrap_err().1, why, "{text}");
        }
    }
}
