//! A stand-in for Slurm's queue, and chains that are transformed in a directory of their own.

#![allow(dead_code, reason = "each test takes a part of it")]

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowmine_transform::algebra::{Collisions, Composition, NoContents};
use flowmine_transform::builtin;
use flowmine_transform::workflow::{Files, Workflow, can_change_in, has_other_names_in, leads_here_in};

use crate::common;

/// The files beside a workflow.
pub struct Beside(pub PathBuf);

impl Files for Beside {
    fn text(&self, name: &str) -> io::Result<String> {
        fs::read_to_string(self.0.join(name))
    }

    fn can_change(&self, changed: &str, script: &str) -> bool {
        can_change_in(&self.0, changed, script)
    }

    fn has_other_names(&self, script: &str) -> bool {
        has_other_names_in(&self.0, script)
    }

    fn leads_here(&self, name: &str) -> bool {
        leads_here_in(&self.0, name)
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

/// A directory with job scripts, and a queue.
pub struct Place {
    pub dir: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["bin", "flow/sub", "flow/work", "flow/d1", "flow/d2", "queue"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let job = |name: &str, head: &str| format!("#!/bin/bash\n{head}echo {name} \"$@\" >>\"$RESULTS\"\n");
        let place = Self { dir };
        place.put("bin/sbatch", SBATCH);
        for name in ["job1.sh", "job2.sh", "sub/job1.sh", "gen.sh", "d1/job1.sh", "d2/job1.sh"] {
            place.put(&format!("flow/{name}"), &job(name, ""));
        }
        place.put("flow/there.sh", &job("there.sh", "#SBATCH --chdir=work\n"));
        place.put("flow/data.txt", "#!/bin/sh\necho data >>\"$RESULTS\"\n");
        place.put("flow/patterns", "* *.sh *.record ?_*\n");
        place.put("flow/conf.sh", "J=job2.sh\n");
        place.put("flow/moves.sh", "cd sub\n");
        place.put("flow/tmpl", "#!/bin/bash\necho N >>\"$RESULTS\"\n");
        place
    }

    pub fn put(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    pub fn flow(&self) -> PathBuf {
        self.dir.path().join("flow")
    }

    /// What the chain prints, and what its jobs do.
    pub fn run(&self, script: &str) -> String {
        let queue = self.dir.path().join("queue");
        let results = self.dir.path().join("results");
        let path = format!("{}:{}", self.dir.path().join("bin").display(), std::env::var("PATH").unwrap());
        let run = |program: &Path, arguments: &[String], dir: &Path| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(dir).env("PATH", &path).env("QUEUE", &queue).env("RESULTS", &results);
            command.env("JOB", "job2.sh").env("HOME", "/home/of/nobody").output().unwrap()
        };
        let done = run(Path::new("bash"), &[script.to_owned()], &self.flow());
        let mut said = format!("{}ended {:?}\n", String::from_utf8_lossy(&done.stdout), done.status.code());
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
pub fn transformed(place: &Place, chain: &str) -> Result<(String, Vec<String>, usize), String> {
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

/// What a chain does plain and transformed, or why it is refused.
pub fn compare(chain: &str) -> Result<(String, String), String> {
    let (plain, place) = (Place::new(), Place::new());
    let (new, _, _) = transformed(&place, chain)?;
    plain.put("flow/v.sh", chain);
    place.put("flow/v.sh", &new);
    Ok((plain.run("v.sh"), place.run("v.sh")))
}
