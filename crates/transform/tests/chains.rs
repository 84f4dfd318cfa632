//! Submission chains whose jobs depend on what the shell does: what cannot be known stays as it is, and
//! what is replaced runs the same jobs. A stand-in for `sbatch` copies the job script at once, as Slurm
//! does, and runs the copies after the chain.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod common;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowmine_transform::algebra::{Collisions, Composition, NoContents};
use flowmine_transform::builtin;
use flowmine_transform::workflow::{Files, Workflow};

struct Beside(PathBuf);

impl Files for Beside {
    fn text(&self, name: &str) -> io::Result<String> {
        fs::read_to_string(self.0.join(name))
    }
}

/// The stand-in: it leaves out options, and takes the directory of `--chdir`.
const SBATCH: &str = r#"#!/bin/sh
n=$(ls "$QUEUE" | wc -l)
while :; do
  case $1 in
    --wrap=*) printf '#!/bin/sh\n%s\n' "${1#*=}" >"$QUEUE.$n"; set -- "$QUEUE.$n"; break ;;
    -*) shift ;;
    *) break ;;
  esac
done
script=$1
shift
dir=$(sed -n 's/^#SBATCH \(--chdir=\|-D *\)//p' "$script")
mkdir "$QUEUE/$n" && cp "$script" "$QUEUE/$n/job" && chmod +x "$QUEUE/$n/job" || exit
printf '%s\n' "$PWD/$dir" >"$QUEUE/$n/dir"
for a; do printf '%s\n' "$a"; done >"$QUEUE/$n/arguments"
echo "Submitted batch job $n"
"#;

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["bin", "flow/sub", "flow/work", "queue"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let job = |name: &str, head: &str| format!("#!/bin/bash\n{head}echo {name} \"$@\" >>\"$RESULTS\"\n");
        let place = Self { dir };
        place.put("bin/sbatch", SBATCH);
        for name in ["job1.sh", "job2.sh", "sub/job1.sh", "gen.sh"] {
            place.put(&format!("flow/{name}"), &job(name, ""));
        }
        place.put("flow/there.sh", &job("there.sh", "#SBATCH --chdir=work\n"));
        place.put("flow/data.txt", "#!/bin/sh\necho data >>\"$RESULTS\"\n");
        place.put("flow/conf.sh", "J=job2.sh\n");
        place.put("flow/tmpl", "#!/bin/bash\necho N >>\"$RESULTS\"\n");
        place
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn flow(&self) -> PathBuf {
        self.dir.path().join("flow")
    }

    /// What the chain prints, and what its jobs do.
    fn run(&self, script: &str) -> String {
        let queue = self.dir.path().join("queue");
        let results = self.dir.path().join("results");
        let path = format!("{}:{}", self.dir.path().join("bin").display(), std::env::var("PATH").unwrap());
        let run = |program: &Path, arguments: &[String], dir: &Path| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(dir).env("PATH", &path).env("QUEUE", &queue).env("RESULTS", &results);
            command.env("JOB", "job2.sh").output().unwrap()
        };
        let done = run(Path::new("bash"), &[script.to_owned()], &self.flow());
        let mut said = String::from_utf8_lossy(&done.stdout).into_owned();
        for n in 0.. {
            let job = queue.join(n.to_string());
            let Ok(dir) = fs::read_to_string(job.join("dir")) else { break };
            let arguments: Vec<String> = fs::read_to_string(job.join("arguments")).unwrap().lines().map(str::to_owned).collect();
            let done = run(&job.join("job"), &arguments, Path::new(dir.trim_end()));
            said.push_str(&format!("job {n}: {:?}\n", done.status.code()));
        }
        said + &fs::read_to_string(results).unwrap_or_default()
    }
}

/// Reads and transforms a chain as it lies in a place.
fn transformed(place: &Place, chain: &str) -> Result<(String, Vec<String>, usize), String> {
    let retry = Composition::read("retry", builtin::text("retry").unwrap(), None, &[]).unwrap();
    let flow = Workflow::read("v.sh", chain.as_bytes(), &Beside(place.flow())).map_err(|error| error.to_string())?;
    let plan = flow.transform(&retry, &[], Collisions::Refuse, &NoContents).unwrap();
    common::install(&plan, &place.flow(), "dash");
    for file in &plan.files {
        place.put(&format!("flow/{}", file.name), &file.text);
    }
    let notes = flow.notes.iter().map(|note| format!("{}: {}", note.at, note.message)).collect();
    Ok((plan.workflow, notes, plan.tasks.len()))
}

/// The jobs of these are transformed, all of them.
#[test]
fn what_the_shell_does_is_read_as_the_shell_does_it() {
    for chain in [
        "OUT=/data/run\nIFS=, read -r A B <<< \"x,y\"\necho rm \"$OUT/*\"\nsbatch job1.sh \"$A\" \"$B\"\n",
        "M=$((1<<10))\necho $M\nsbatch job1.sh $M\n",
        "(( M = 1 << 3 ))\nfor ((i=0; i < 1<<1; i++)); do\n  sbatch job1.sh $i $M\ndone\n",
        "echo $'it\\'s'\nsbatch job1.sh $'a\\'b'\n",
        "x='a}b'\necho ${x#\"a}\"} \"${x#'a}'}\" ${x%'}'*}\nsbatch job1.sh\n",
        "cat <<X - $((1<<2)) 2>/dev/null\nit's\nX\nsbatch job1.sh\n",
        "k=$(case a in a) echo one;; *) echo two;; esac)\nJ=job1.sh\nsbatch $J $k\n",
        "(cd sub && pwd >/dev/null)\nd=$(cd sub; basename $PWD)\nsbatch job1.sh $d\n",
        "cd \"$(dirname \"$0\")\"\nsbatch job1.sh\n",
        "JOBS=.\nif [ ! -f job1.sh ]; then exit 1; fi\n# job1.sh, with JOBS\nsbatch \"$JOBS/job1.sh\" 1 >log.txt\n",
    ] {
        let chain = format!("#!/bin/bash\n{chain}");
        let (plain, place) = (Place::new(), Place::new());
        plain.put("flow/v.sh", &chain);
        let (new, notes, tasks) = transformed(&place, &chain).unwrap();
        assert_eq!((notes, tasks), (Vec::new(), 1), "{chain}");
        assert!(new.contains(".sbatch"), "{new}");
        place.put("flow/v.sh", &new);
        let expected = plain.run("v.sh");
        assert!(expected.contains("job1.sh"), "{expected}");
        assert_eq!(place.run("v.sh"), expected, "{chain}");
    }
}

/// Of each the last call cannot be known: a warning says where and why. The `--wrap` before it is
/// transformed, so that there is a chain to compare.
#[test]
fn what_is_not_sure_stays_with_a_warning() {
    let unknown = "what it submits is known only when it runs";
    let elsewhere = "its job runs in another directory";
    let moved = "the script may be in another directory by then";
    for (chain, why) in [
        ("J=job1.sh\n. ./conf.sh\nsbatch $J", unknown),
        ("J=job1.sh\nsource conf.sh\nsbatch $J", unknown),
        ("J=job1.sh\neval \"$(cat conf.sh)\"\nsbatch $J", unknown),
        ("J=job1.sh\nprintf -v J job2.sh\nsbatch $J", unknown),
        ("J=job1.sh\nV=J\nprintf -v $V job2.sh\nsbatch $J", unknown),
        ("J=job1.sh\nV=J\nread -r \"$V\" <<<job2.sh\nsbatch $J", unknown),
        ("J=job1.sh\ndeclare -n R=J\nR=job2.sh\nsbatch $J", unknown),
        ("J=job1.sh\nmapfile -t J <<<job2.sh\nsbatch $J", unknown),
        ("J=job1.sh\nfor J in job2.sh; do :; done\nsbatch $J", unknown),
        ("J=\n: ${J:=job2.sh}\nsbatch $J", unknown),
        ("if [ -n \"$NOPE\" ]; then\nJOB=job1.sh\nfi\nsbatch $JOB hello", unknown),
        ("[ -n \"$NOPE\" ] &&\nJOB=job1.sh\nsbatch $JOB hello", unknown),
        ("cat <<X >/dev/null\nJOB=job1.sh\nX\nsbatch \"$JOB\" hello", unknown),
        ("f() {\nJOB=job1.sh\n}\nsbatch $JOB", unknown),
        ("(\nJOB=job1.sh\n)\nsbatch $JOB", unknown),
        ("sbatch $JOB\nJOB=job1.sh", unknown),
        ("sbatch $JOB data.txt", unknown),
        ("J='job2.sh job1.sh'\nsbatch $J", unknown),
        ("for i in 1 2 3; do sed \"s/N/$i/\" tmpl >gen.sh; sbatch gen.sh; done", "the script may write “gen.sh” itself (line 3)"),
        ("G=gen.sh\nfor i in 1 2; do sed \"s/N/$i/\" tmpl >$G; sbatch $G; done", "the script may write “gen.sh” itself"),
        (
            "n=gen\nfor i in 1 2; do x=$n$((0)); sed \"s/N/$i/\" tmpl >\"${x%0}.sh\"; sbatch gen.sh; done",
            "the script may write “gen.sh” itself",
        ),
        ("for i in 1 2; do cp tmpl gen.sh; sed -i \"s/N/$i/\" gen.sh; sbatch ./gen.sh; done", "the script may write “./gen.sh” itself"),
        ("for i in 1 2; do bash -c \"sed s/N/$i/ tmpl >gen.sh\"; sbatch gen.sh; done", "the script may write “gen.sh” itself"),
        ("sbatch there.sh", elsewhere),
        ("sbatch --chdir=$PWD job1.sh", elsewhere),
        ("sbatch -QD. job1.sh", elsewhere),
        ("cd sub\nsbatch job1.sh", moved),
        ("for d in sub; do pushd $d >/dev/null; sbatch job1.sh; popd >/dev/null; done", moved),
    ] {
        let chain = format!("#!/bin/bash\nsbatch --wrap='echo wrapped >>\"$RESULTS\"'\n{chain}\n");
        let (plain, place) = (Place::new(), Place::new());
        plain.put("flow/v.sh", &chain);
        let (new, notes, tasks) = transformed(&place, &chain).unwrap();
        assert_eq!((notes.len(), tasks), (1, 1), "{chain}{notes:?}");
        assert!(notes[0].contains("this sbatch stays as it is: ") && notes[0].contains(why), "{chain}{notes:?}");
        place.put("flow/v.sh", &new);
        let told = |text: String| text.replace(" line 2", "");
        assert_eq!(told(place.run("v.sh")), told(plain.run("v.sh")), "{chain}");
    }
}

#[test]
fn scripts_that_are_no_lists_are_refused() {
    let place = Place::new();
    for (text, why) in [
        ("#!/bin/bash\ncd sub\necho $A\n", "v.sh:1:1: this is a script without a call of sbatch, and no list of commands"),
        ("#!/usr/bin/env python3\nrun(\n'''\nsbatch job1.sh\n''')\n", "v.sh:1:1: this is a script without a call of sbatch"),
        ("#!/bin/bash\n#SBATCH -n 1\n#SBATCH --chdir=$HOME/work\ntrue\n", "v.sh:3:1: its job runs in another directory"),
        ("#!/bin/bash\n#SBATCH -D work\ntrue\n", "v.sh:2:1: its job runs in another directory"),
        ("#!/bin/bash\n#SBATCH --chd work\ntrue\n", "v.sh:2:1: its job runs in another directory"),
    ] {
        let error = transformed(&place, text).unwrap_err();
        assert!(error.starts_with(why), "{error}");
    }
    assert_eq!(transformed(&place, "echo 1\necho 2\n").unwrap().2, 2);
}

#[test]
fn rules_that_use_others_are_said() {
    let text = "module m:\n    snakefile: 'x'\nuse rule * from m as m_*\nrule a:\n    output: 'a'\n    shell: 'x'\nuse rule a as b with:\n    output: 'b'\n";
    let flow = Workflow::read("Snakefile", text.as_bytes(), &Beside(PathBuf::new())).unwrap();
    let notes: Vec<String> = flow.notes.iter().map(|note| format!("{}: {}", note.at, note.message)).collect();
    assert_eq!(
        notes,
        [
            "3:1: the rule m_* stays as it is: it is another rule with changes (use rule)",
            "7:1: the rule b stays as it is: it is another rule with changes (use rule)",
        ]
    );
}
