//! A stand-in for Slurm's commands, where what must come out has to be known: it plays the recorded
//! polls.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{expect, flowmine, repository};

/// A directory with a `squeue` that shows the recorded poll whose number stands in the file `now`,
/// and an `scontrol`.
pub struct StandIn {
    pub dir: PathBuf,
    pub polls: usize,
}

impl StandIn {
    pub fn new(dir: &Path) -> Self {
        let (bin, polls) = (dir.join("bin"), dir.join("polls"));
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(&polls).unwrap();
        let recording = repository("fixtures/case-study/polls");
        let mut names: Vec<_> = fs::read_dir(recording).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        for (at, path) in names.iter().enumerate() {
            let packed = fs::File::open(path).unwrap();
            let unpacked = expect(Command::new("gzip").arg("-dc").stdin(packed), 0).stdout;
            fs::write(polls.join(at.to_string()), unpacked).unwrap();
        }
        // The token of the recording is replaced by the one that is asked for, which follows the first field in the format.
        let squeue = format!(
            "#!/bin/sh\ncd '{}'\npoll=polls/$(cat now)\nwanted=$(printf %s \"$SQUEUE_FORMAT2\" | cut -c8-15)\n\
             recorded=$(head -c 14 $poll | tail -c 8)\nexec sed \"s/\x1f$recorded/\x1f$wanted/g\" $poll\n",
            dir.display()
        );
        for (name, script) in [
            ("squeue", squeue),
            ("scontrol", "#!/bin/sh\necho \"Configuration data as of $(date +%s)\"\necho 'ClusterName = played'\n".to_owned()),
        ] {
            fs::write(bin.join(name), script).unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { dir: dir.to_owned(), polls: names.len() }
    }

    pub fn show(&self, poll: usize) {
        fs::write(self.dir.join("now"), poll.to_string()).unwrap();
    }

    pub fn observe(&self, dataset: &Path) -> Command {
        let mut command = flowmine();
        command.args(["observe", "--slurm-bin-dir"]).arg(self.dir.join("bin")).arg("--dataset").arg(dataset);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }
}
