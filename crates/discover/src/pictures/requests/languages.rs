//! Suggested requests as what Slurm, Nextflow and Snakemake read. Names come from others: each is
//! quoted by the rules of its language, or left out with a comment where the language has no form
//! for it.

use std::fmt::Write as _;

use flowmine_draw::text::{counted, visible};
use flowmine_text::is_unsafe;

use super::{killed, rule};
use crate::requests::{Request, Requests};

/// Bytes of a MiB.
const MIB: i64 = 1 << 20;
/// Bytes of a megabyte.
const MB: i64 = 1_000_000;
/// Nanoseconds of a minute.
const MINUTE_NS: i64 = 60_000_000_000;

/// A whole number of units that is not less.
fn units(value: i64, unit: i64) -> i64 {
    value / unit + i64::from(value % unit != 0)
}

/// Comments about an activity, each a line that begins with `mark`.
fn comments(of: &Request, mark: &str) -> String {
    let mut out = format!("{mark} {}: {}\n", visible(&of.activity), counted(of.instances, "instance", "instances"));
    if let Some(killed) = killed(of) {
        let _ = writeln!(out, "{mark} would have killed {killed}");
    }
    out
}

/// `#SBATCH` lines for each activity (sbatch(1)).
pub fn slurm(found: &Requests) -> String {
    let mut out = format!("# Suggested by flowmine: {}.\n", rule(found.rule));
    out.push_str("# Memory and CPUs are those of a whole job. Divide --mem by the nodes of a job on several nodes,\n");
    out.push_str("# and the CPUs by its tasks (--ntasks).\n");
    for of in &found.activities {
        // A line that begins with `#SBATCH` is an option: a space follows the mark.
        let _ = write!(out, "\n{}", comments(of, "#"));
        if let Some(time) = of.time_ns {
            let minutes = units(time.suggested, MINUTE_NS);
            let _ = writeln!(out, "#SBATCH --time={:02}:{:02}:00", minutes / 60, minutes % 60);
        }
        if let Some(memory) = of.memory_bytes {
            let _ = writeln!(out, "#SBATCH --mem={}M", units(memory.suggested, MIB));
        }
        if let Some(cpus) = of.cpus {
            let _ = writeln!(out, "#SBATCH --cpus-per-task={}", cpus.suggested);
        }
    }
    out
}

/// A `process` scope with `withName` selectors (Nextflow's documentation, Configuration).
///
/// A selector is a regular expression of Java, which has to match a whole name.
pub fn nextflow(found: &Requests) -> String {
    let mut out = format!("// Suggested by flowmine: {}.\nprocess {{\n", rule(found.rule));
    for of in &found.activities {
        out.push_str(&comments(of, "    //"));
        let _ = writeln!(out, "    withName: {} {{", groovy(&java_pattern(&of.activity)));
        if let Some(time) = of.time_ns {
            let _ = writeln!(out, "        time = '{} min'", units(time.suggested, MINUTE_NS));
        }
        if let Some(memory) = of.memory_bytes {
            // A megabyte of Nextflow is a MiB.
            let _ = writeln!(out, "        memory = '{} MB'", units(memory.suggested, MIB));
        }
        if let Some(cpus) = of.cpus {
            let _ = writeln!(out, "        cpus = {}", cpus.suggested);
        }
        out.push_str("    }\n");
    }
    out.push_str("}\n");
    out
}

/// A regular expression of Java that matches exactly this text.
///
/// A backslash before a sign stands for the sign. Spaces and what cannot be seen are written by
/// their numbers: Nextflow removes spaces at the ends, and Groovy has none of the rest in quotes.
fn java_pattern(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c == ' ' || is_unsafe(c) => {
                let _ = write!(out, "\\x{{{:x}}}", c as u32);
            }
            '_' | ':' => out.push(c),
            c if c.is_ascii_punctuation() => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A text without line ends in single quotes of Groovy, in which nothing is replaced.
fn groovy(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        if matches!(c, '\'' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('\'');
    out
}

/// A profile (`config.yaml`) with `set-threads` and `set-resources` (Snakemake's documentation,
/// Profiles). What is no name of a rule is left out with a comment.
pub fn snakemake(found: &Requests) -> String {
    let mut out = format!("# Suggested by flowmine: {}.\n", rule(found.rule));
    let is_rule = |of: &&Request| is_rule_name(&of.activity);
    for of in found.activities.iter().filter(|of| !is_rule(of)) {
        let _ = writeln!(out, "# left out, no name of a rule: {}", visible(&of.activity));
    }
    let rules: Vec<&Request> = found.activities.iter().filter(is_rule).collect();
    let threads: Vec<_> = rules.iter().filter_map(|of| Some((&of.activity, of.cpus?))).collect();
    if !threads.is_empty() {
        out.push_str("set-threads:\n");
        for (activity, cpus) in threads {
            let _ = writeln!(out, "  \"{activity}\": {}", cpus.suggested);
        }
    }
    if !rules.is_empty() {
        out.push_str("set-resources:\n");
    }
    for of in rules {
        out.push_str(&comments(of, "  #"));
        let _ = writeln!(out, "  \"{}\":", of.activity);
        if let Some(time) = of.time_ns {
            let _ = writeln!(out, "    runtime: {}", units(time.suggested, MINUTE_NS));
        }
        if let Some(memory) = of.memory_bytes {
            // Snakemake counts megabytes, its executor for Slurm hands them on as MiB: the number of megabytes is enough for both.
            let _ = writeln!(out, "    mem_mb: {}", units(memory.suggested, MB));
        }
    }
    out
}

/// Whether a text can be the name of a rule: an identifier of Python, here with ASCII letters.
fn is_rule_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::about::About;
    use crate::requests::{Rule, Suggestion};

    fn found(names: &[&str]) -> Requests {
        let of = |suggested| Some(Suggestion { measured: 3, used: suggested, suggested, ..Suggestion::default() });
        let activities = names
            .iter()
            .map(|name| Request {
                activity: (*name).to_owned(),
                instances: 3,
                cut_short: 0,
                time_ns: of(61 * MINUTE_NS),
                memory_bytes: of(2048 * MIB),
                cpus: of(4),
                ..Request::default()
            })
            .collect();
        Requests { about: About::default(), rule: Rule::default(), activities }
    }

    const HOSTILE: [&str; 8] =
        ["a\n#SBATCH --wrap=evil", "a' + 'b", "x'}\nprocess.executor='local'\n//", "a\\", "!negated", ".*", "a: 1\n  b", "\u{2028}#SBATCH"];

    #[test]
    fn sbatch_lines() {
        let text = slurm(&found(&["align"]));
        for line in ["#SBATCH --time=01:01:00", "#SBATCH --mem=2048M", "#SBATCH --cpus-per-task=4", "# align: 3 instances"] {
            assert!(text.lines().any(|of| of == line), "{line} in {text}");
        }
        let options = slurm(&found(&HOSTILE)).lines().filter(|line| line.starts_with("#SBATCH")).count();
        assert_eq!(options, 3 * HOSTILE.len());
        assert!(slurm(&found(&HOSTILE)).lines().all(|line| line.is_empty() || line.starts_with('#')));
    }

    #[test]
    fn names_of_others_stay_names_for_nextflow() {
        assert_eq!(groovy(&java_pattern("NFCORE:ALIGN")), "'NFCORE:ALIGN'");
        assert_eq!(groovy(&java_pattern("!a.*")), "'\\\\!a\\\\.\\\\*'");
        assert_eq!(groovy(&java_pattern("it's\n\\ ")), r"'it\\\'s\\x{a}\\\\\\x{20}'");
        let text = nextflow(&found(&HOSTILE));
        assert_eq!(text.lines().count(), 3 + 6 * HOSTILE.len());
        assert!(!text.lines().any(|line| line.trim_start().starts_with("process.executor")));
    }

    #[test]
    fn a_profile_has_rules_and_nothing_else() {
        let text = snakemake(&found(&["align", "a: 1\n  b", "x y"]));
        assert!(text.contains("set-threads:\n  \"align\": 4\nset-resources:\n"), "{text}");
        assert!(text.contains("  \"align\":\n    runtime: 61\n    mem_mb: 2148\n"), "{text}");
        assert_eq!(text.matches("# left out, no name of a rule: ").count(), 2);
        let keys = text.lines().filter(|line| !line.trim_start().starts_with('#') && !line.is_empty()).count();
        assert_eq!(keys, 6, "{text}");
    }
}
