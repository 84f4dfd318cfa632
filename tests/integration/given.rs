//! What a user or a workflow names to be read: a named pipe, a directory, a device or a closed file
//! in the place of a file is refused at once, by every command that reads one. Links and the pipes
//! of a shell are read.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{expect, flowmine, is_root, repository};

/// A command with the file that it reads; `@` stands for the file, `%` for a dataset of jobs.
const READERS: [&str; 15] = [
    "validate @",
    "predict @",
    "predict model.json --sweep shared[link].part[download-1]=0.5..0.95/2 --measured @ -o sweep.svg",
    "evaluate --truth @ --dataset %",
    "discover dfg @",
    "discover dfg --log @",
    "export --log @ -o out.xes",
    "export --dataset % --pseudonymise @ -o out.xes",
    "import slurm @ --dataset new",
    "import nextflow @ --dataset new",
    "import airflow @ --dataset new",
    "transform @ --apply retry --check",
    "transform flow.json --apply @ --check",
    "transform flow.jx --apply retry --jx-args @ --check",
    "transform Snakefile --apply retry --check",
];

struct World {
    dir: tempfile::TempDir,
    program: PathBuf,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        // Another user may not get to where it was built.
        let program = dir.path().join("flowmine");
        fs::copy(env!("CARGO_BIN_EXE_flowmine"), &program).unwrap();
        let mut import = flowmine();
        import.args(["import", "slurm"]).arg(repository("fixtures/case-study/sacct-token.txt.gz")).arg("--dataset");
        expect(import.arg(dir.path().join("dataset")), 0);
        let world = Self { dir, program };
        world.write("flow.json", r#"[{"command": "true"}]"#);
        world.write("flow.jx", r#"{"rules": [{"command": "true"}]}"#);
        let model = fs::read_to_string(repository("crates/predict/examples/evaluation.json")).unwrap();
        world.write("model.json", &model.replace("download 1", "download-1"));
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Runs a reader; one that waits is ended after 20 s with the status 124.
    fn run(&self, reader: &str, file: &Path) -> Output {
        let include = format!("include: {:?}\nrule a:\n    output: 'b'\n    shell: 'echo > b'\n", file.to_str().unwrap());
        self.write("Snakefile", &include);
        let mut command = Command::new("timeout");
        command.arg("20").arg(&self.program);
        for word in reader.split(' ') {
            match word {
                "@" => command.arg(file),
                "%" => command.arg(self.path("dataset")),
                // Of the user who runs it.
                "new" => {
                    let dir = tempfile::tempdir_in(self.dir.path()).unwrap().keep();
                    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
                    command.arg(dir)
                }
                word => command.arg(word),
            };
        }
        command.current_dir(self.dir.path()).env("TMPDIR", self.dir.path());
        if is_root() && file.ends_with("closed") {
            // Root reads everything.
            command.uid(65_534).gid(65_534);
        }
        command.output().unwrap()
    }
}

#[test]
fn what_is_no_readable_file_is_refused_at_once() {
    let world = World::new();
    assert!(Command::new("mkfifo").arg(world.path("pipe")).status().unwrap().success());
    symlink("pipe", world.path("link")).unwrap();
    fs::create_dir(world.path("folder")).unwrap();
    fs::write(world.path("closed"), "x").unwrap();
    fs::set_permissions(world.path("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    expect(Command::new("chmod").args(["-R", "a+rX"]).arg(world.path("dataset")), 0);
    let mut faults = Vec::new();
    for reader in READERS {
        for name in ["pipe", "link", "folder", "closed", "/dev/zero", "none"] {
            // Directories are imported, and read as sources.
            if name == "folder" && (reader.starts_with("import") || reader == "discover dfg @") {
                continue;
            }
            let out = world.run(reader, &world.path(name));
            let told = String::from_utf8_lossy(&out.stderr);
            let is_refused = matches!(out.status.code(), Some(1 | 2)) && told.contains(name);
            if !is_refused {
                faults.push(format!("{reader} with {name}: {:?}\n{told}{}", out.status, String::from_utf8_lossy(&out.stdout)));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// `<(…)`, `/dev/stdin` and links work where a user names one file.
#[test]
fn pipes_of_a_shell_and_links_are_read() {
    let world = World::new();
    world.write("table.csv", "case_id,activity,timestamp\n1,a,2026-11-20T13:00:00Z\n1,b,2026-11-20T13:00:01Z\n");
    symlink("table.csv", world.path("link")).unwrap();
    world.write("key", "a key that nobody knows, of 32 bytes or more");
    world.write("truth", "job,case\n1,a\n");
    let bash = |line: &str| {
        let mut command = Command::new("timeout");
        command.args(["20", "bash", "-c", line]).current_dir(world.dir.path()).output().unwrap()
    };
    let plain = bash("./flowmine discover dfg --log table.csv --format csv");
    assert!(plain.status.success() && plain.stdout.len() > 20, "{plain:?}");
    let linked = bash("./flowmine discover dfg --log link --format csv");
    assert!(linked.status.success() && linked.stdout == plain.stdout, "{linked:?}");
    for (line, code) in [
        ("./flowmine transform <(cat flow.json) --apply retry --check", 0),
        ("./flowmine transform flow.json --apply <(sleep 0.1; echo 'define l(T) {}') --check", 0),
        ("./flowmine export --dataset dataset --pseudonymise <(sleep 0.1; cat key) -o coded.xes", 0),
        ("./flowmine import slurm <(zcat FIXTURE) --dataset piped", 0),
        ("./flowmine evaluate --truth <(sleep 0.1; cat truth) --dataset dataset", 0),
        ("./flowmine predict <(sleep 0.1; cat model.json)", 0),
    ] {
        let fixture = repository("fixtures/case-study/sacct-token.txt.gz");
        let out = bash(&line.replace("FIXTURE", fixture.to_str().unwrap()));
        assert_eq!(out.status.code(), Some(code), "{line}: {out:?}");
    }
}
