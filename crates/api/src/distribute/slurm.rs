//! A job array of Slurm and a job for the merge.
//!
//! The scripts contain paths in quotes of sh and numbers, and no name of the dataset. sbatch reads a
//! script from its standard input, so that submitting needs no shell that sees a path.

use std::time::Duration;

use flowmine_discover::workflow::quoted;
use flowmine_extract_slurm::runner::{Local, Runner};

use super::estimate::{Need, Needs};
use super::{LOGS, PLAN};
use crate::error::{Error, Result};

/// Longest time that sbatch may take.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Name of the script of the array.
const ARRAY: &str = "array.sh";
/// Name of the script of the merge.
const MERGE: &str = "merge.sh";
/// Name of the script that submits both.
const SUBMIT: &str = "submit.sh";

/// The scripts.
pub(super) struct Scripts {
    /// `None` if no task is missing.
    array: Option<String>,
    /// The merge, in two parts: options of a dependency come between them.
    merge: (String, String),
}

impl Scripts {
    pub(super) fn new(dir: &str, program: &str, missing: &[usize], needs: &Needs) -> Self {
        let work = |task: &str, log: &str| {
            let (program, plan) = (quoted(program), quoted(&format!("{dir}/{PLAN}")));
            format!("exec {program} work {plan} {task} > {}/{log} 2>&1\n", quoted(&format!("{dir}/{LOGS}")))
        };
        let array = (!missing.is_empty()).then(|| {
            let numbers = ranges(missing);
            let options = format!("#SBATCH --array={numbers}\n");
            let work = work("\"$SLURM_ARRAY_TASK_ID\"", "task-\"$SLURM_ARRAY_TASK_ID\".log");
            format!("{}{options}{work}", head("flowmine-partial", needs.task))
        });
        Self { array, merge: (head("flowmine-merge", needs.merge), work("merge", "merge.log")) }
    }

    /// The files, by name.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        let mut submit =
            "#!/bin/sh\n# Submits the array and the merge, which waits for it.\nset -eu\ncd \"$(dirname \"$0\")\"\n".to_owned();
        submit.push_str(if self.array.is_some() {
            "array=$(sbatch --parsable array.sh)\nsbatch --dependency=afterok:\"${array%%;*}\" --kill-on-invalid-dep=yes merge.sh\n"
        } else {
            "sbatch merge.sh\n"
        });
        let merge = (MERGE.to_owned(), format!("{}{}", self.merge.0, self.merge.1));
        self.array.iter().map(|array| (ARRAY.to_owned(), array.clone())).chain([merge, (SUBMIT.to_owned(), submit)]).collect()
    }

    /// Submits the jobs, and returns their numbers.
    ///
    /// # Errors
    /// When Slurm refuses one; the message names those that it has taken.
    pub(super) fn submit(&self) -> Result<Vec<String>> {
        let mut jobs = Vec::new();
        if let Some(array) = &self.array {
            jobs.push(submit(array)?);
        }
        let dependency = jobs.first().map(|array| format!("#SBATCH --dependency=afterok:{array}\n#SBATCH --kill-on-invalid-dep=yes\n"));
        let merge = format!("{}{}{}", self.merge.0, dependency.unwrap_or_default(), self.merge.1);
        match submit(&merge) {
            Ok(job) => jobs.push(job),
            Err(error) if jobs.is_empty() => return Err(error),
            Err(error) => {
                return Err(Error::Refused(format!(
                    "{error}; the array was submitted as job {}: cancel it with scancel, or merge later",
                    jobs[0]
                )));
            }
        }
        Ok(jobs)
    }
}

fn head(name: &str, Need { minutes, mebibytes }: Need) -> String {
    // The log is written by the script, as sbatch would read patterns in its path.
    format!(
        "#!/bin/sh\n#SBATCH --job-name={name}\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n#SBATCH --time={minutes}\n\
         #SBATCH --mem={mebibytes}M\n#SBATCH --output=/dev/null\n"
    )
}

/// Numbers as sbatch reads them: `1-3,7`.
fn ranges(numbers: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let text = |(first, last): &(usize, usize)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Gives a script to sbatch, and returns the number of its job.
fn submit(script: &str) -> Result<String> {
    let output = Local.run("exec sbatch --parsable", script.as_bytes(), TIMEOUT).map_err(|error| Error::Refused(error.to_string()))?;
    let refused = || {
        let said = String::from_utf8_lossy(&output.stderr);
        Error::Refused(format!("sbatch refused the job: {}", flowmine_schema::text::visible(said.trim())))
    };
    if !output.success() {
        return Err(refused());
    }
    // The name of a cluster may follow.
    let said = String::from_utf8_lossy(&output.stdout);
    let job = said.trim().split(';').next().unwrap_or_default();
    if job.is_empty() || !job.bytes().all(|byte| byte.is_ascii_digit()) { Err(refused()) } else { Ok(job.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Needs = Needs { task: Need { minutes: 7, mebibytes: 600 }, merge: Need { minutes: 9, mebibytes: 700 } };

    #[test]
    fn numbers_are_written_as_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(ranges(&[5]), "5");
    }

    #[test]
    fn scripts_quote_each_path() {
        let scripts = Scripts::new("/s/it's %A; rm -rf ~", "/opt/$(id)/flowmine", &[1, 2, 5], &NEEDS);
        let files = scripts.files();
        let array = &files[0].1;
        assert_eq!(files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["array.sh", "merge.sh", "submit.sh"]);
        assert!(array.contains("#SBATCH --array=1-2,5\n") && array.contains("#SBATCH --time=7\n#SBATCH --mem=600M\n"), "{array}");
        let last = array.lines().last().unwrap();
        assert_eq!(
            last,
            "exec '/opt/$(id)/flowmine' work '/s/it'\\''s %A; rm -rf ~/plan.json' \"$SLURM_ARRAY_TASK_ID\" > \
             '/s/it'\\''s %A; rm -rf ~/logs'/task-\"$SLURM_ARRAY_TASK_ID\".log 2>&1"
        );
    }

    #[test]
    fn without_a_missing_task_there_is_no_array() {
        let files = Scripts::new("/s", "flowmine", &[], &NEEDS).files();
        assert_eq!(files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["merge.sh", "submit.sh"]);
        assert!(files[1].1.ends_with("\nsbatch merge.sh\n"));
    }
}
