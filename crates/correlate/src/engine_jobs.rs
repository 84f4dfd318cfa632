//! Activities of jobs that workflow engines submit, derived from Slurm's records of the jobs.
//!
//! | engine | how its jobs are recognised | activity |
//! |---|---|---|
//! | Snakemake (executor plugin for Slurm) | the name is a UUID, the comment is `rule_NAME` or `rule_NAME_wildcards_VALUES` | NAME |
//! | Nextflow | the command is `.command.run`, the name is `nf-PROCESS` or `nf-PROCESS_(TAG)` | PROCESS |
//!
//! Makeflow gives all its jobs one command (`slurm.wrapper`) and names them by number: Slurm does
//! not record the rule.

/// The activity that an engine's job has, by the file name of its command, its name and comment;
/// `None` for any other job.
pub(crate) fn activity<'a>(command: Option<&str>, name: Option<&'a str>, comment: Option<&'a str>) -> Option<&'a str> {
    let name = name?;
    if command == Some(".command.run") {
        let process = name.strip_prefix("nf-")?;
        return Some(process.split_once("_(").map_or(process, |(process, _)| process)).filter(|process| !process.is_empty());
    }
    let rule = comment?.strip_prefix("rule_").filter(|_| is_uuid(name))?;
    Some(rule.split_once("_wildcards_").map_or(rule, |(rule, _)| rule)).filter(|rule| !rule.is_empty())
}

/// Whether a text is a UUID as RFC 9562 writes it.
pub(crate) fn is_uuid(text: &str) -> bool {
    let is_place = |(at, byte): (usize, u8)| if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { byte.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(is_place)
}

#[cfg(test)]
mod tests {
    use super::activity;

    const UUID: &str = "3f2b8c1e-90ab-4cde-8f01-23456789abcd";

    #[test]
    fn engines_jobs_by_what_slurm_records() {
        let snakemake = |comment| activity(None, Some(UUID), Some(comment));
        assert_eq!(snakemake("rule_trim_wildcards_s1"), Some("trim"));
        assert_eq!(snakemake("rule_call_variants"), Some("call_variants"));
        assert_eq!((snakemake("rule_"), snakemake("my own comment")), (None, None));
        assert_eq!(activity(None, Some("trim"), Some("rule_trim")), None, "the name is no UUID");
        let nextflow = |name| activity(Some(".command.run"), Some(name), None);
        assert_eq!(nextflow("nf-RNASEQ_FASTQC_(s1)"), Some("RNASEQ_FASTQC"));
        assert_eq!((nextflow("nf-merge"), nextflow("nf-"), nextflow("merge")), (Some("merge"), None, None));
        assert_eq!(activity(Some("run.sh"), Some("nf-merge"), None), None, "another command");
        assert_eq!(activity(Some("slurm.wrapper"), Some("makeflow3"), None), None);
    }
}
