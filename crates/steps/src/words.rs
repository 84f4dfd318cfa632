//! Words with a meaning in names of jobs and in commands.

/// Endings of scripts, which are no part of a name.
pub const ENDINGS: &[&str] = &[
    ".sh", ".bash", ".zsh", ".ksh", ".csh", ".slurm", ".sbatch", ".sub", ".job", ".jobscript", ".batch", ".pbs", ".py", ".pl", ".r", ".R",
    ".jl", ".rb", ".m", ".lua", ".jar",
];

/// Words that describe no work: a name of such words alone is not used across users.
pub const GENERIC: &[&str] = &[
    "a", "auto", "batch", "bin", "cmd", "command", "default", "exec", "execute", "final", "interactive", "job", "jobs", "jobscript",
    "launch", "launcher", "main", "makeflow", "my", "myjob", "new", "nf", "node", "old", "pipeline", "process", "run", "runner", "runs",
    "salloc", "sbatch", "script", "slurm", "snakejob", "spawner", "srun", "start", "sub", "submit", "submission", "task", "tasks", "tmp",
    "unknown", "work", "worker", "workflow", "wrap", "wrapper",
];

/// Words that a number makes an instance: `sample_07`, `rep2`, `chr1`.
pub const COUNTED: &[&str] = &[
    "array", "batch", "block", "bin", "chr", "chrom", "chromosome", "chunk", "cond", "config", "draw", "drr", "epoch", "err", "exp",
    "experiment", "fold", "frame", "gsm", "id", "idx", "index", "inst", "instance", "iter", "iteration", "item", "job", "lane", "lib",
    "lot", "member", "model", "no", "node", "num", "number", "param", "part", "patient", "piece", "point", "rank", "rep", "replica",
    "replicate", "res", "run", "sample", "scan", "seed", "set", "shard", "sim", "slice", "srr", "srx", "sub", "subj", "subject", "task",
    "tile", "traj", "trial", "try", "attempt", "ver", "version", "window",
];

/// Words of which the number is a step: `step3` differs from `step4`.
pub const STAGES: &[&str] = &["level", "phase", "stage", "step"];

/// Programs with a number in their name.
pub const NUMBERED: &[&str] = &[
    "bcl2fastq", "bowtie2", "bwa-mem2", "deseq2", "gatk4", "hisat2", "htslib2", "kraken2", "macs2", "macs3", "md5sum", "metaphlan4",
    "mem2", "minimap2", "mutect2", "openfoam2", "orca5", "picard2", "qiime2", "sha1sum", "sha256sum", "strelka2", "tophat2",
    "trinity2", "vasp5", "vasp6",
];

/// Shells.
pub const SHELLS: &[&str] = &["ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"];

/// Interpreters of which the script is the program. A version may follow.
pub const INTERPRETERS: &[&str] = &["R", "Rscript", "julia", "lua", "matlab", "node", "octave", "perl", "php", "pypy", "python", "ruby"];

/// Programs that start what follows in their place.
pub const WRAPPERS: &[&str] = &[
    "chrt", "command", "env", "exec", "ionice", "ltrace", "mpiexec", "mpirun", "nice", "nohup", "numactl", "perf", "prterun", "setsid",
    "srun", "stdbuf", "strace", "sudo", "taskset", "time", "timeout", "xvfb-run",
];

/// Programs that hold containers, control jobs or run other tasks: they show nothing of the work.
pub const CARRIERS: &[&str] = &[
    "apptainer", "conmon", "containerd-shim", "crun", "docker", "enroot", "hydra_pmi_proxy", "makeflow", "nextflow", "orted", "podman",
    "runc", "sarus", "sbatch", "shifter", "singularity", "slurm_script", "slurmd", "slurmstepd", "snakemake", "starter", "flowmine",
];

/// Programs that many steps use in passing.
pub const BASIC: &[&str] = &[
    "[", "[[", "alias", "awk", "basename", "bc", "break", "cat", "cd", "chmod", "chown", "cksum", "clear", "cmp", "comm", "conda",
    "continue", "cp", "curl", "cut", "date", "dd", "declare", "df", "diff", "dirname", "du", "echo", "egrep", "eval", "exit", "expand",
    "export", "expr", "factor", "false", "fgrep", "file", "find", "flock", "fmt", "fold", "gawk", "getconf", "grep", "gunzip", "gzip",
    "head", "hostname", "id", "install", "join", "kill", "ldconfig", "let", "ln", "local", "locale", "ls", "lscpu", "mawk", "md5sum",
    "mkdir", "mkfifo", "mktemp", "ml", "module", "mv", "nl", "nproc", "od", "paste", "pgrep", "pigz", "pkill", "popd", "printenv",
    "printf", "ps", "pushd", "pwd", "read", "readlink", "readonly", "realpath", "return", "rm", "rmdir", "rsync", "scontrol", "sed",
    "seq", "set", "sha1sum", "sha256sum", "shift", "shopt", "shuf", "sleep", "sort", "source", "split", "squeue", "stat", "sum",
    "sync", "tac", "tail", "tar", "tee", "test", "touch", "tput", "tr", "trap", "true", "tty", "type", "ulimit", "umask", "uname",
    "uniq", "unset", "unzip", "uptime", "wait", "wc", "wget", "which", "whoami", "xargs", "xz", "yes", "zcat", "zip", "zstd", ".", ":",
];

/// Words of a shell that stand before a command.
pub const BEFORE_COMMANDS: &[&str] = &["!", "do", "elif", "else", "if", "then", "until", "while", "{", "("];

/// Words of a shell with which no command begins.
pub const NO_COMMANDS: &[&str] = &["case", "done", "esac", "fi", "for", "function", "in", "select", "}", ")"];

/// Whether a list has a word, whatever its case.
pub fn is_in(list: &[&str], word: &str) -> bool {
    word.len() <= 24 && list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_of_two_kinds_that_exclude_each_other() {
        for (one, other) in [(STAGES, COUNTED), (STAGES, GENERIC), (SHELLS, BASIC), (WRAPPERS, BASIC), (CARRIERS, BASIC), (SHELLS, CARRIERS)] {
            assert_eq!(one.iter().find(|word| is_in(other, word)), None);
        }
    }
}
