//! `export --format slurm`, `makeflow`, `snakemake` of traced scripts: what is complete does the same again, in each language
//! and for real; what the trace shows to be missing is refused.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::require::require;
use crate::support::{doctor, expect, flowmine, has_program, makeflow::makeflow_is_there};

/// A traced script, in a directory with a file of lines.
struct Traced {
    dir: TempDir,
    path: String,
}

const LINES: &str = "pear\napple\nfig\n";

impl Traced {
    fn new(backend: &str, programs: &[&str], script: &str) -> Self {
        Self::by("sh", backend, programs, script, Stdio::null())
    }

    /// A script that another shell ran, with what it got as standard input.
    fn by(shell: &str, backend: &str, programs: &[&str], script: &str, input: Stdio) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for name in programs {
            fs::copy("/bin/cp", bin.join(name)).unwrap();
        }
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let traced = Self { dir, path };
        let run = traced.place("run");
        fs::write(run.join("all.sh"), script).unwrap();
        let mut command = flowmine();
        command
            .args(["trace", "--backend", backend, "--tasks", "commands", "--dataset"])
            .arg(traced.dataset())
            .args(["--", shell, "all.sh"]);
        command.env("PATH", &traced.path).current_dir(&run).stdin(input).output().unwrap();
        expect(flowmine().args(["correlate", "--dataset"]).arg(traced.dataset()), 0);
        traced
    }

    fn dataset(&self) -> PathBuf {
        self.dir.path().join("dataset")
    }

    /// A directory with the file of lines.
    fn place(&self, name: &str) -> PathBuf {
        let place = self.dir.path().join(name);
        fs::create_dir(&place).unwrap();
        fs::write(place.join("in.txt"), LINES).unwrap();
        place
    }

    fn spec(&self, format: &str) -> Output {
        flowmine().args(["export", "--format", format, "--dataset"]).arg(self.dataset()).output().unwrap()
    }

    /// Runs the workflow of a language in a directory of its own; gives the files that are there then.
    fn again(&self, format: &str, file: &str, engine: &mut Command) -> BTreeMap<String, Vec<u8>> {
        let place = self.place(format);
        let made = self.spec(format);
        assert_eq!(made.status.code(), Some(0), "{format}: {}", String::from_utf8_lossy(&made.stderr));
        fs::write(place.join(file), made.stdout).unwrap();
        expect(engine.env("PATH", &self.path).current_dir(&place), 0);
        files(&place)
    }

    /// Runs what is written in all languages.
    fn runs_again(&self, languages: &[&str]) {
        let wanted = files(&self.dir.path().join("run"));
        assert!(wanted.len() > 1, "{wanted:?}");
        for language in languages {
            let found = match *language {
                "slurm" => {
                    self.stand_in();
                    self.again("slurm", "submit.sh", Command::new("sh").arg("submit.sh"))
                }
                "makeflow" => self.again("makeflow", "flow.json", Command::new("makeflow").args(["-T", "local", "--json", "flow.json"])),
                "make" => self.again("make", "flow.mf", Command::new("makeflow").args(["-T", "local", "flow.mf"])),
                _ => {
                    let program = std::env::var_os("FLOWMINE_SNAKEMAKE").unwrap_or_else(|| "snakemake".into());
                    self.again("snakemake", "Snakefile", Command::new(program).args(["--cores", "1"]))
                }
            };
            assert_eq!(found, wanted, "{language}");
        }
    }

    /// An `sbatch` that runs what it is given at once, after what it waits for.
    fn stand_in(&self) {
        let file = self.dir.path().join("bin/sbatch");
        fs::write(&file, "#!/bin/sh\nfor word; do case $word in --wrap=*) sh -c \"${word#--wrap=}\" >&2 || exit 1 ;; esac; done\necho 7\n")
            .unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// The files of a run, without those that the engines and the test itself wrote.
fn files(place: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let own = |name: &String| {
        ["all.sh", "submit.sh", "Snakefile", ".snakemake"].contains(&name.as_str())
            || name.starts_with("flow.")
            || name.starts_with("makeflow.")
    };
    names.filter(|name| !own(name)).map(|name| (name.clone(), fs::read(place.join(&name)).unwrap())).collect()
}

fn backends() -> Vec<&'static str> {
    let (works, how) = doctor::says("ebpf");
    if require("bpf", &format!("eBPF ({how})"), works) { vec!["ptrace", "ebpf"] } else { vec!["ptrace"] }
}

/// The languages whose engines are here; that of Slurm needs none.
fn languages() -> Vec<&'static str> {
    let mut languages = vec!["slurm"];
    if makeflow_is_there() {
        languages.extend(["makeflow", "make"]);
    }
    let is_there = std::env::var_os("FLOWMINE_SNAKEMAKE").is_some() || has_program("snakemake");
    if require("snakemake", "snakemake", is_there) {
        languages.push("snakemake");
    }
    languages
}

#[test]
fn what_the_trace_shows_to_be_missing_is_refused_by_name() {
    for backend in backends() {
        for (script, why) in [
            ("sort in.txt > s.txt", "the command line of \"sort\" is not all of its command: the trace shows a redirection to"),
            ("sort in.txt >> s.txt", "a redirection to"),
            ("sort -o s.txt < in.txt", "a redirection from"),
            ("(sort in.txt) > s.txt", "a redirection to"),
            ("{ cat in.txt; cat in.txt; } > s.txt", "a redirection to"),
            ("exec > s.txt; cat in.txt", "a redirection to"),
            ("(cat in.txt) > s.txt; (cp s.txt t.txt)", "a redirection to"),
            ("sort -o s.txt in.txt 2> err.txt", "err.txt by a redirection of the shell"),
            ("sort -o s.txt in.txt; : > flag", "flag by a redirection of the shell"),
            ("echo hi > g.txt; cp g.txt h.txt", "g.txt by a redirection of the shell"),
            ("cp in.txt s.txt; exec gzip s.txt", "it becomes its last command in its own place"),
            ("grep -q nothing in.txt; cp in.txt s.txt", "\"grep\" failed in the run"),
        ] {
            let traced = Traced::new(backend, &[], &format!("{script}\n"));
            let refused = traced.spec("slurm");
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(refused.status.code() == Some(2) && said.contains(why), "{backend}: {script}: {said}");
        }
    }
}

/// What goes on after its command has ended: a script does not wait for it, and neither does an engine.
#[test]
fn what_outlives_its_command_is_refused_or_warned_of() {
    let until = |condition: &str| format!("while {condition}; do sleep 0.01; done");
    for backend in backends() {
        let late = format!("sh -c '({}; cp in.txt late) &'\n", until("[ ! -e s.txt ]"));
        let script = format!("{late}sort -o s.txt in.txt\nsh -c '{}'\n", until("[ ! -e late ]"));
        let refused = Traced::new(backend, &[], &script).spec("slurm");
        let said = String::from_utf8(refused.stderr).unwrap();
        let why = "the command line of \"sh\" is not all of its command: the trace shows that ";
        assert!(refused.status.code() == Some(2) && said.contains(why) && said.contains("goes on with files"), "{backend}: {said}");
        // It waits and uses no file meanwhile.
        let script = "perl -e 'exit if fork; select(undef, undef, undef, .01) until -e \"s.txt\"'\nsort -o s.txt in.txt\n";
        let warned = Traced::new(backend, &[], script).spec("slurm");
        let said = String::from_utf8(warned.stderr).unwrap();
        assert!(warned.status.code() == Some(1) && said.contains("perl goes on after its command has ended"), "{backend}: {said}");
    }
}

/// Data in a pipe leaves few traces; a workflow without it is never written as if it were whole.
#[test]
fn pipes_and_here_documents_are_refused_or_warned_of() {
    for backend in backends() {
        for script in [
            "cat in.txt | sort -o s.txt",
            "(cat in.txt; sleep 0.2) | sort -o s.txt",
            "echo x | sort -o s.txt",
            "sort -o s.txt <<E\nb\na\nE\n",
            "cat in.txt | while read -r line; do echo \"$line\"; done | sort -o s.txt",
        ] {
            let traced = Traced::new(backend, &[], &format!("{script}\n"));
            let made = traced.spec("slurm");
            let said = String::from_utf8(made.stderr).unwrap();
            let (code, named) = (made.status.code(), said.contains("\"sort\"") && said.contains("pipe"));
            assert!(named && matches!(code, Some(1 | 2)), "{backend}: {script}: {code:?} {said}");
        }
    }
}

#[test]
fn a_complete_script_runs_again_in_each_language() {
    for backend in backends() {
        let script = "sort -o s.txt in.txt\ngzip -nk s.txt\ncp s.txt.gz copy.gz\nsh -c 'head -n 1 s.txt > first.txt'\nenv LC_ALL=C sort -r -o last.txt first.txt s.txt\n";
        let traced = Traced::new(backend, &[], script);
        let said = String::from_utf8(traced.spec("slurm").stderr).unwrap();
        assert!(said.contains("variables that the script set"), "{said}");
        traced.runs_again(&languages());
    }
}

/// Commands that share no file keep their order where the language can say so.
#[test]
fn the_order_of_a_script_is_kept() {
    for backend in backends() {
        let script = "cp in.txt a\nsort -o b a\ncp b a\nsort -r -o c a\nmv c d\nmkdir made\nrmdir made\ntouch e\n";
        let traced = Traced::new(backend, &[], script);
        let made = String::from_utf8(traced.spec("slurm").stdout).unwrap();
        let orders = [("j1", "j0"), ("j2", "j1"), ("j3", "j2"), ("j4", "j3"), ("j5", "j4"), ("j6", "j5"), ("j7", "j6")];
        orders.iter().for_each(|(job, before)| assert!(waits(&made, job, before), "{backend}: {job} {before}\n{made}"));
        traced.runs_again(&["slurm"]);
        let refused = traced.spec("makeflow");
        assert_eq!(refused.status.code(), Some(2), "a file that two tasks make");
    }
}

/// Names of programs and files that mean something to a shell, to Makeflow or to Snakemake.
#[test]
fn names_that_mean_something_are_quoted_in_each_language() {
    let names =
        ["A=b", "a b", "-x", "*", "~", "$HOME", "if", "time", "!", "{", "}", "#c", "a'b", "a\"b", "a\\b", "&", ";", "[[", "(x)", "é"];
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    for backend in backends() {
        let line = |(at, name): (usize, &&str)| format!("{} -- in.txt 'out $ {at}'\n", quoted(name));
        let script: String = names.iter().enumerate().map(line).collect();
        let traced = Traced::new(backend, &names, &script);
        assert_eq!(files(&traced.dir.path().join("run")).len(), names.len() + 1);
        traced.runs_again(&languages());
        // A line's end in a command has no place in Makeflow's own language.
        let traced = Traced::new(backend, &["a\nb"], "'a\nb' in.txt 'o\nut'\n");
        let mut with_lines = languages();
        with_lines.retain(|language| *language != "make");
        traced.runs_again(&with_lines);
        let refused = traced.spec("make");
        assert!(refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains("line's end"));
    }
}

/// Makeflow and Snakemake take a task's outputs for results: what was there before would be lost.
#[test]
fn what_was_there_before_is_no_output() {
    for backend in backends() {
        for script in ["sort -o b in.txt\nsort -r -o in.txt in.txt\n", "sort -o b in.txt\nsed -i s/p/X/ in.txt\n"] {
            let traced = Traced::new(backend, &[], script);
            for language in ["makeflow", "make", "snakemake"] {
                let refused = traced.spec(language);
                let said = String::from_utf8(refused.stderr).unwrap();
                let named = said.contains("\"in.txt\", which was there before the run");
                assert!(refused.status.code() == Some(2) && named, "{backend}: {language}: {script}: {said}");
            }
            traced.runs_again(&["slurm"]);
        }
    }
}

/// Whether a job of Slurm's script waits for another, or for one that does.
fn waits(script: &str, job: &str, before: &str) -> bool {
    let line = script.lines().find(|line| line.starts_with(&format!("{job}="))).unwrap_or_default();
    let options = line.split(" --wrap=").next().unwrap_or_default();
    options.split("${").skip(1).filter_map(|rest| rest.split_once("%%")).any(|(of, _)| of == before || waits(script, of, before))
}

/// What takes a file away, executes it, maps it or lists its directory uses it.
#[test]
fn uses_that_read_nothing_keep_their_order() {
    let maps = "env -i PATH=/usr/bin:/bin python3 -c 'import mmap; f = open(\"a\", \"r+b\"); open(\"b\", \"wb\").write(mmap.mmap(f.fileno(), 0)[:])'\n";
    for backend in backends() {
        for (script, orders) in [
            ("cp in.txt a\nsort -o b a\ngzip a\n".to_owned(), &[("j1", "j0"), ("j2", "j1")][..]),
            ("sort -o b in.txt\nsed -i s/p/X/ in.txt\n".to_owned(), &[("j1", "j0")]),
            ("cp in.txt q\nsort -o b in.txt\nsh -c 'mv in.txt x; cp q y'\n".to_owned(), &[("j2", "j0"), ("j2", "j1")]),
            ("cp /bin/cp mycp\n./mycp in.txt out.txt\n".to_owned(), &[("j1", "j0")]),
            ("cp in.txt p1\ncp in.txt p2\nfind . -name 'p[12]' -fprint list\n".to_owned(), &[("j2", "j0"), ("j2", "j1")]),
            (format!("cp in.txt a\n{maps}"), &[("j1", "j0")]),
            ("install -D in.txt d/e/x\ncp in.txt d/e/y\n".to_owned(), &[("j1", "j0")]),
            ("perl -e 'symlink(\"in.txt\",\"l\");open F,\">\",\"o\";print F 1'\nsort -o out l\n".to_owned(), &[("j1", "j0")]),
            ("cp in.txt a\nsh -c 'test -e a && cp in.txt b'\n".to_owned(), &[("j1", "j0")]),
            ("cp in.txt a\nsh -c 'rm a; cp in.txt o'\nsh -c '[ -e a ] || cp in.txt y'\n".to_owned(), &[("j1", "j0"), ("j2", "j1")]),
        ] {
            let traced = Traced::new(backend, &[], &script);
            let made = traced.spec("slurm");
            let text = String::from_utf8(made.stdout).unwrap();
            orders.iter().for_each(|(job, before)| {
                assert!(waits(&text, job, before), "{backend}: {job} {before}\n{text}{}", String::from_utf8_lossy(&made.stderr));
            });
        }
        // Each of them is what the script started, not what that starts.
        let nested = Traced::new(backend, &[], "sh -c 'test -e in.txt && cp in.txt b'\nsh -c 'cp b c; cp c d'\n");
        let made = String::from_utf8(nested.spec("slurm").stdout).unwrap();
        assert_eq!(made.matches("--wrap=").count(), 2, "{backend}: {made}");
        let traced = Traced::new(backend, &[], "cp /bin/cp mycp\n./mycp in.txt out.txt\n");
        traced.runs_again(&languages());
    }
}

/// bash writes a here-document in the process that becomes the command.
#[test]
fn here_documents_of_bash_are_refused_or_warned_of() {
    for backend in backends() {
        for script in [
            "sort -o out <<X\nb\na\nX\n",
            "sort -o out <<< b\n",
            "python3 - <<X\nopen('out', 'w').write('hi')\nX\n",
            "bash -c 'sort -o out; cp out two' <<X\na\nX\n",
        ] {
            let traced = Traced::by("bash", backend, &[], script, Stdio::null());
            let made = traced.spec("slurm");
            let said = String::from_utf8(made.stderr).unwrap();
            assert!(made.status.code() == Some(1) && said.contains("pipe or a here-document"), "{backend}: {script}: {said}");
            assert!(said.contains("\"<<\""), "{backend}: {script}: {said}");
        }
        let whole = Traced::by("bash", backend, &[], "sort -o out in.txt\n", Stdio::null()).spec("slurm");
        assert_eq!(whole.status.code(), Some(0), "{}", String::from_utf8_lossy(&whole.stderr));
    }
}

#[test]
fn files_that_were_open_before_are_refused() {
    for backend in backends() {
        for script in ["exec 3<in.txt\nsort -r -o out.txt /dev/fd/3\n", "exec {fd}<in.txt\nsort -o out.txt /proc/self/fd/$fd\n"] {
            let refused = Traced::by("bash", backend, &[], script, Stdio::null()).spec("slurm");
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(refused.status.code() == Some(2) && said.contains("\"sort\"") && said.contains("given open"), "{backend}: {said}");
        }
        let input = tempfile::NamedTempFile::new().unwrap();
        fs::write(input.path(), LINES).unwrap();
        let refused = Traced::by("bash", backend, &[], "sort -o out.txt\n", fs::File::open(input.path()).unwrap().into()).spec("slurm");
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(2) && said.contains("was open before the run"), "{backend}: {said}");
    }
}

/// Tables write bytes that are not UTF-8 as `\xNN`, which is no command.
#[test]
fn bytes_that_are_no_text_are_refused_and_a_literal_escape_is_not() {
    for backend in backends() {
        for script in ["sort -o b in.txt\ncp in.txt $'caf\\xe9'\n", "cp in.txt $'\\xff'\ncp $'\\xff' out.txt\n"] {
            let refused = Traced::by("bash", backend, &[], script, Stdio::null()).spec("slurm");
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(refused.status.code() == Some(2) && said.contains("\"cp\"") && said.contains("not UTF-8"), "{backend}: {said}");
        }
        Traced::new(backend, &[], "cp in.txt 'l\\x41'\nsort -o '\\x5cx' 'l\\x41'\n").runs_again(&languages());
    }
}

/// What the shell had is named each time; a command that names the directory of the run is warned of.
#[test]
fn what_binds_a_command_to_its_run_is_said() {
    let traced = Traced::new("ptrace", &[], "umask 077\nsort -o b \"$PWD/in.txt\"\n");
    let said = String::from_utf8(traced.spec("slurm").stderr).unwrap();
    assert!(said.contains("its umask and its limits are not in the workflow"), "{said}");
    assert!(said.contains("1 tasks name paths in") && said.contains("\"sort\""), "{said}");
}

/// A command that is traced as one task is no script.
#[test]
fn a_command_that_is_one_task_is_written_whole() {
    let dir = tempfile::tempdir().unwrap();
    let [run, dataset] = ["run", "dataset"].map(|name| dir.path().join(name));
    fs::create_dir(&run).unwrap();
    fs::write(run.join("in.txt"), LINES).unwrap();
    let mut trace = flowmine();
    trace.args(["trace", "--backend", "ptrace", "--task", "order", "--dataset"]).arg(&dataset);
    expect(trace.args(["--", "perl", "-e", "rename(q(in.txt), q(out.txt)) or die"]).current_dir(&run), 0);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    let mut spec = flowmine();
    let made = expect(spec.args(["export", "--format", "slurm", "--dataset"]).arg(&dataset), 0);
    assert!(String::from_utf8(made.stdout).unwrap().contains("rename(q(in.txt)"));
}

/// What a program is called need not be its name.
#[test]
fn a_program_that_is_called_otherwise_is_found() {
    for backend in backends() {
        Traced::by("bash", backend, &[], "(exec -a other cp in.txt out.txt)\n", Stdio::null()).runs_again(&languages());
    }
}

/// A run of an engine in a directory, imported; what is written of it in Makeflow's JSON runs for real.
fn engine_again(engine: &str, run: &mut Command, imports: &[&str], file: (&str, &str), output: &str) -> [String; 2] {
    let dir = tempfile::tempdir().unwrap();
    let [first, again] = ["first", "again"].map(|name| dir.path().join(name));
    let dataset = dir.path().join("dataset");
    [&first, &again].into_iter().for_each(|place| fs::create_dir(place).unwrap());
    fs::write(first.join(file.0), file.1).unwrap();
    expect(run.current_dir(&first), 0);
    expect(flowmine().args(["import", engine, "--dataset"]).arg(&dataset).args(imports).current_dir(&first), 0);
    let made = flowmine().args(["export", "--format", "makeflow", "--dataset"]).arg(&dataset).output().unwrap();
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    fs::write(again.join("flow.json"), made.stdout).unwrap();
    expect(Command::new("makeflow").args(["-T", "local", "--json", "flow.json"]).current_dir(&again), 0);
    [first, again].map(|place| fs::read_to_string(place.join(output)).unwrap())
}

/// Snakemake gives its commands to bash, which ends at the first that fails.
#[test]
fn commands_of_snakemake_run_by_bash() {
    if !languages().contains(&"snakemake") || !makeflow_is_there() {
        return;
    }
    let command = "echo x{{1..3}} \"a'b\" $- > {output}; [[ a == a ]]; read -r A <<< $(set -o | grep pipefail); echo $A >> {output}";
    let rules = format!("rule all:\n    output: \"o\"\n    shell: {command:?}\n");
    let program = std::env::var_os("FLOWMINE_SNAKEMAKE").unwrap_or_else(|| "snakemake".into());
    let [first, again] = engine_again("snakemake", Command::new(program).args(["--cores", "1"]), &["."], ("Snakefile", &rules), "o");
    assert!(again == first && first.starts_with("x1 x2 x3 a'b") && first.ends_with("pipefail on\n"), "{first}{again}");
}

/// Variables of the workflow, of a category and of a rule; what is nearer to the rule holds.
#[test]
fn variables_of_makeflow_are_set_again() {
    if !makeflow_is_there() {
        return;
    }
    let flow = r#"{"environment": {"EV": "of all", "TWICE": "all"}, "categories": {"c": {"environment": {"CV": "it's", "TWICE": "c"}}},
        "rules": [{"command": "echo $EV $CV $RV $TWICE > e", "inputs": [], "outputs": ["e"], "category": "c", "environment": {"RV": "rule", "TWICE": "r"}}]}"#;
    let run = &mut Command::new("makeflow");
    let [first, again] = engine_again(
        "makeflow",
        run.args(["-T", "local", "--json", "flow.json"]),
        &["flow.json.makeflowlog", "flow.json"],
        ("flow.json", flow),
        "e",
    );
    assert_eq!(again, first);
    assert!(first.starts_with("of all it's rule"), "{first}");
}
