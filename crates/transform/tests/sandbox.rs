//! Outputs of every kind come out of a sandbox as they do without it, or the task fails and what it
//! made is kept.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod common;
#[path = "../../../tests/support/require.rs"]
mod require;

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{SHELLS, install, is_root, plan, seen};
use flowmine_transform::algebra::{Collisions, Composition, NoContents};
use flowmine_transform::builtin;
use flowmine_transform::workflow::{NoFiles, Workflow};

fn sandbox() -> Composition {
    Composition::read("sandbox", builtin::text("sandbox").unwrap(), None, &[]).unwrap()
}

/// What a reader finds below a name, through links; how many names a file has where it is several.
fn content(path: &Path, depth: usize) -> String {
    let Ok(of) = fs::metadata(path) else {
        return fs::symlink_metadata(path).map_or("nothing".to_owned(), |_| "a link to nothing".to_owned());
    };
    if of.is_dir() && depth < 4 {
        let mut names: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        let inside = names.iter().map(|path| format!("{:?}: {}", path.file_name().unwrap(), content(path, depth + 1)));
        format!("{{{}}}", inside.collect::<Vec<_>>().join(", "))
    } else if of.is_file() {
        format!("{:?}", fs::read_to_string(path).unwrap())
    } else if of.file_type().is_fifo() {
        "a FIFO".to_owned()
    } else {
        "something else".to_owned()
    }
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// `in`, `dir/in` and `existing/old` in the directory of the workflow, `x` and `data/x` outside.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["flow/dir", "flow/existing", "outside/data"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for file in ["flow/in", "flow/dir/in", "flow/existing/old", "outside/x", "outside/data/x"] {
            fs::write(dir.path().join(file), format!("{file}\n")).unwrap();
        }
        Self { dir }
    }

    fn flow(&self) -> PathBuf {
        self.dir.path().join("flow")
    }

    fn run(&self, command: &str) -> Output {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .current_dir(self.flow())
            .env("OUT", self.dir.path().join("outside"))
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null());
        shell.output().unwrap()
    }

    fn outputs(&self, names: &[&str]) -> Vec<String> {
        names.iter().map(|name| content(&self.flow().join(name), 0)).collect()
    }

    fn sandboxes(&self) -> Vec<PathBuf> {
        let all = fs::read_dir(self.flow()).unwrap().map(|entry| entry.unwrap().path());
        all.filter(|path| path.to_string_lossy().contains(".box.")).collect()
    }
}

/// A command, its inputs and its outputs.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

const CASES: [Case; 38] = [
    ("mkdir d; echo result >d/y; ln -s d/y o", &[], &["o"]),
    ("mkdir d; echo result >d/y; ln -s \"$PWD/d/y\" o", &[], &["o"]),
    ("mkdir d; echo result >d/y; ln -s \"$(pwd -P)/./d/../d/y\" o", &[], &["o"]),
    ("echo result >y; ln -s y m; ln -s m n; ln -s n o", &[], &["o"]),
    ("echo result >y; ln -s y m; ln -s m o", &[], &["o", "m"]),
    ("echo result >y; ln -s y o", &[], &["o", "y"]),
    ("echo result >y; ln -s \"$PWD/y\" o", &[], &["y", "o"]),
    ("echo result >y; ln -s y o; ln -s y p", &[], &["o", "p"]),
    ("ln -s nowhere o", &[], &["o"]),
    ("ln -s \"$PWD/nowhere\" o", &[], &["o"]),
    ("ln -s no/such/place o", &[], &["o"]),
    ("ln -s o o", &[], &["o"]),
    ("ln -s \"$OUT/x\" o", &[], &["o"]),
    ("ln -s ../outside/x o", &[], &["o"]),
    ("ln -s \"$OUT/data\" d; ln -s d/x o", &[], &["o"]),
    ("ln -s in o", &["in"], &["o"]),
    ("ln -s \"$PWD/in\" o", &["in"], &["o"]),
    ("ln -s dir/in o", &["dir"], &["o"]),
    ("mkdir d; echo 1 >d/1; ln -s d o", &[], &["o"]),
    ("mkdir -p d/e; echo 1 >d/1; ln -s ../1 d/e/l; ln -s d/ o", &[], &["o"]),
    ("mkdir o d; echo 1 >d/1; ln -s ../d/1 o/1; ln -s 1 o/2; ln -s \"$PWD/d/1\" o/3; ln -s \"$PWD/o/1\" o/4; ln -s none o/5", &[], &["o"]),
    ("mkdir -p o/p d; echo 1 >d/1; ln -s ../../d o/p/d; ln -s .. o/p/up", &[], &["o"]),
    ("mkdir existing; echo new >existing/new; ln -s new existing/link", &[], &["existing"]),
    ("mkdir o; echo 1 >o/1", &[], &["o/"]),
    ("echo 1 >dir/o; ln -s o dir/p", &[], &["dir/o", "dir/p"]),
    ("mkdir new; echo 1 >new/o", &[], &["new/o"]),
    ("mkfifo o", &[], &["o"]),
    ("mkfifo f; ln -s f o", &[], &["o"]),
    ("mkdir o; mkfifo o/f; ln -s f o/l", &[], &["o"]),
    ("echo 1 >o; ln o p", &[], &["o", "p"]),
    ("echo 1 >y; ln -s y ./-rf; ln -s ./-rf 'a b'", &[], &["-rf", "a b"]),
    ("mkdir 'd \n'; echo 1 >'d \n/y\n'; ln -s 'd \n/y\n' 'o\n'", &[], &["o\n"]),
    ("mkdir ./-d; echo 1 >./-d/-y; ln -s -d/-y ./-o", &[], &["-o"]),
    ("echo 1 >\"it's\"; ln -s \"it's\" '$(touch pwned)'", &[], &["$(touch pwned)"]),
    ("echo more >>in", &["in"], &["in"]),
    ("mkdir o; echo 1 >o/1; exit 3", &[], &["o"]),
    ("mkdir d; echo 1 >d/y; ln -s d/y o; kill -TERM $$", &[], &["o"]),
    (":", &[], &["o"]),
];

#[test]
fn outputs_come_out_as_they_do_without_the_sandbox() {
    for shell in SHELLS {
        for (command, inputs, outputs) in CASES {
            let (plain, boxed) = (Place::new(), Place::new());
            // What the command makes is not there before: it is told from what it makes anew.
            let command = command.replace("mkdir existing", "mkdir -p existing");
            let status = seen(plain.run(&command).status);
            let plan = plan(&serde_json::json!({"command": command, "inputs": inputs, "outputs": outputs}), &sandbox());
            let done = boxed.run(&install(&plan, &boxed.flow(), shell));
            let about = format!("{command}\nin {shell}: {}", String::from_utf8_lossy(&done.stderr));
            assert_eq!(seen(done.status), status, "{about}");
            assert_eq!(boxed.outputs(outputs), plain.outputs(outputs), "{about}");
            assert_eq!(boxed.sandboxes(), Vec::<PathBuf>::new(), "{about}");
            assert_eq!(content(&boxed.dir.path().join("outside"), 0), content(&plain.dir.path().join("outside"), 0), "{about}");
            assert!(!boxed.flow().join("pwned").exists(), "{about}");
        }
    }
}

/// Links whose target is there afterwards stay links, with the text that they have without the
/// layer.
#[test]
fn links_that_lead_to_what_is_there_stay_links() {
    for shell in SHELLS {
        for (command, outputs) in [
            ("echo 1 >y; ln -s y o", ["o", "y"]),
            ("echo 1 >y; ln -s \"$PWD/y\" o", ["o", "y"]),
            ("ln -s ../outside/x o; ln -s \"$OUT/x\" p", ["o", "p"]),
            ("ln -s nowhere o; ln -s \"$PWD/nowhere\" p", ["o", "p"]),
            ("ln -s in o; ln -s \"$PWD/in\" p", ["o", "p"]),
            ("mkdir d; echo 1 >d/1; ln -s 1 d/2; ln -s d/2 o", ["o", "d"]),
        ] {
            let (plain, boxed) = (Place::new(), Place::new());
            plain.run(command);
            let plan = plan(&serde_json::json!({"command": command, "inputs": ["in"], "outputs": outputs}), &sandbox());
            assert!(boxed.run(&install(&plan, &boxed.flow(), shell)).status.success());
            for name in outputs {
                let text = |place: &Place| {
                    let text = fs::read_link(place.flow().join(name)).ok()?;
                    Some(text.to_string_lossy().replace(&*place.dir.path().to_string_lossy(), "PLACE"))
                };
                assert_eq!(text(&boxed), text(&plain), "{shell}: {command}: {name}");
            }
        }
    }
}

#[test]
fn hard_links_stay_one_file() {
    for shell in SHELLS {
        let place = Place::new();
        let plan = plan(&serde_json::json!({"command": "echo 1 >o; ln o p", "outputs": ["o", "p"]}), &sandbox());
        assert!(place.run(&install(&plan, &place.flow(), shell)).status.success());
        let inode = |name: &str| fs::metadata(place.flow().join(name)).unwrap().ino();
        assert_eq!(inode("o"), inode("p"), "{shell}");
    }
}

/// Where an output has another name in the workflow, relative links in it are no longer what they
/// were.
#[test]
fn renamed_outputs_that_are_links_have_their_content() {
    let layer = r#"define layer(T) { "outputs": T.outputs + [ {"inner_name": "log", "outer_name": "log." + T.ID}, {"inner_name": "dir", "outer_name": "logs/of " + T.ID} ],
        "command": { "post": [ "echo text >y; ln -s y log; mkdir dir; ln -s ../y dir/up; echo 1 >dir/1; ln -s 1 dir/2" ] } }"#;
    for shell in SHELLS {
        let place = Place::new();
        let plan = plan(&serde_json::json!({"command": ":"}), &Composition::read("layer.jx", layer, None, &[]).unwrap());
        let done = place.run(&install(&plan, &place.flow(), shell));
        assert!(done.status.success(), "{shell}: {done:?}");
        let id = &plan.tasks[0].1[0].id;
        let found = [format!("log.{id}"), format!("logs/of {id}")].map(|name| content(&place.flow().join(name), 0));
        assert_eq!(found, ["\"text\\n\"", "{\"1\": \"1\\n\", \"2\": \"1\\n\", \"up\": \"text\\n\"}"], "{shell}");
    }
}

/// What cannot come out is kept, and a message says where.
#[test]
fn nothing_is_lost_that_cannot_come_out() {
    for shell in SHELLS {
        for (command, outputs, kept) in [
            // The sandbox itself cannot be in itself.
            ("echo 1 >y; ln -s . o", &["o"][..], "y"),
            // A directory is where the file goes, and a file where the directory goes.
            ("echo 1 >existing", &["existing"], "existing"),
            ("mkdir in; echo 1 >in/y", &["in"], "in/y"),
        ] {
            let place = Place::new();
            let before = content(&place.flow(), 0);
            let plan = plan(&serde_json::json!({"command": command, "outputs": outputs}), &sandbox());
            let script = install(&plan, &place.flow(), shell);
            let done = place.run(&script);
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(seen(done.status), 125, "{shell}: {command}: {said}");
            let boxes = place.sandboxes();
            assert!(boxes.len() == 1 && said.contains(&format!("what is left is in {}", boxes[0].display())), "{shell}: {command}: {said}");
            assert_eq!(fs::read_to_string(boxes[0].join(kept)).unwrap(), "1\n", "{shell}: {command}");
            assert!(before.contains("flow/in") && fs::read(place.flow().join("in")).unwrap() == b"flow/in\n", "{shell}: {command}");
        }
    }
}

/// The words before a command that give it mounts of its own; nothing where that cannot be.
fn with_mounts() -> Option<&'static str> {
    let alone = if is_root() { "unshare -m" } else { "unshare -rm" };
    let works =
        Command::new("sh").args(["-c", &format!("{alone} mount -t tmpfs none /mnt")]).output().is_ok_and(|done| done.status.success());
    require::require("mount", "unshare and mount, as root or in a user namespace", works).then_some(alone)
}

/// What is behind a mount that a task leaves in its sandbox is not the task's: nothing there is
/// removed, moved or gets another mode, and the task does not succeed.
#[test]
fn nothing_behind_a_mount_in_a_sandbox_is_touched() {
    let Some(alone) = with_mounts() else { return };
    let cases: [(&str, &[&str]); 6] = [
        ("mkdir m; mount --bind \"$OUT/data\" m; cat m/x >o", &["o"]),
        ("mkdir m; mount --bind \"$OUT/data\" m; echo 1 >o; exit 3", &["o"]),
        ("mkdir m; mount --bind \"$OUT/data\" m", &["m"]),
        ("mkdir m; mount --bind \"$OUT/data\" m", &["m/x"]),
        ("mkdir -p 'd\\040/ \t\n#'; mount --bind \"$OUT/data\" 'd\\040/ \t\n#'; echo 1 >o", &["o"]),
        ("mount --bind \"$OUT/data\" \"$PWD\"", &["o"]),
    ];
    for shell in SHELLS {
        for (command, outputs) in cases {
            let place = Place::new();
            let closed = place.dir.path().join("outside/data/closed");
            fs::create_dir(&closed).unwrap();
            fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
            let x = place.dir.path().join("outside/data/x");
            let outside = || (content(&x, 0), x.metadata().unwrap().ino(), closed.metadata().unwrap().mode());
            let before = outside();
            let plan = plan(&serde_json::json!({"command": command, "outputs": outputs}), &sandbox());
            let done = place.run(&format!("exec {alone} {}", install(&plan, &place.flow(), shell)));
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(outside(), before, "{shell}: {command}: {said}");
            assert_eq!(seen(done.status), if command.contains("exit 3") { 3 } else { 125 }, "{shell}: {command}: {said}");
            assert!(said.contains("a file system is mounted in the sandbox"), "{shell}: {command}: {said}");
            assert_eq!((place.sandboxes().len(), place.outputs(&["o"])), (1, vec!["nothing".to_owned()]), "{shell}: {command}");
        }
    }
}

/// The same of the directory of a layer, and of one that an output would replace.
#[test]
fn nothing_behind_a_mount_elsewhere_is_removed() {
    let Some(alone) = with_mounts() else { return };
    let mounts =
        r#"define Mounts(T) {"command": {"pre": "mkdir $FLOWMINE_DIR/m; mount --bind $OUT/data $FLOWMINE_DIR/m", "cmd": "./" + T.script}}"#;
    let mounts = Composition::read("mounts", mounts, None, &[]).unwrap();
    for shell in SHELLS {
        let place = Place::new();
        let plan_of_layer = plan(&serde_json::json!({"command": "echo 1 >o", "outputs": ["o"]}), &mounts);
        let done = place.run(&format!("exec {alone} {}", install(&plan_of_layer, &place.flow(), shell)));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success() && said.contains("a file system is mounted in"), "{shell}: {said}");
        assert_eq!(fs::read(place.dir.path().join("outside/data/x")).unwrap(), b"outside/data/x\n", "{shell}: {said}");

        let place = Place::new();
        let before = "mkdir -p existing/y/m; mount --bind \"$OUT/data\" existing/y/m";
        let plan = plan(&serde_json::json!({"command": "mkdir existing; echo 1 >existing/y", "outputs": ["existing"]}), &sandbox());
        let script = install(&plan, &place.flow(), shell);
        let done = place.run(&format!("exec {alone} sh -c '{before}; exec {script}'"));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(seen(done.status), 125, "{shell}: {said}");
        assert_eq!(fs::read(place.dir.path().join("outside/data/x")).unwrap(), b"outside/data/x\n", "{shell}: {said}");
        assert_eq!(fs::read(place.sandboxes()[0].join("existing/y")).unwrap(), b"1\n", "{shell}: {said}");
    }
}

/// A task that removes its own sandbox has lost its outputs, and says so.
#[test]
fn a_sandbox_that_is_gone_is_no_success() {
    for shell in SHELLS {
        let place = Place::new();
        let plan = plan(&serde_json::json!({"command": "echo 1 >o; rm -rf \"$PWD\"", "outputs": ["o"]}), &sandbox());
        let done = place.run(&install(&plan, &place.flow(), shell));
        assert_eq!(seen(done.status), 125, "{shell}: {done:?}");
    }
}

/// Outputs that are reached by a link of the task's to somewhere else stay there too.
#[test]
fn nothing_is_taken_from_elsewhere() {
    for shell in SHELLS {
        let place = Place::new();
        let plan = plan(&serde_json::json!({"command": "ln -s \"$OUT/data\" d", "outputs": ["d/x"]}), &sandbox());
        let done = place.run(&install(&plan, &place.flow(), shell));
        assert!(done.status.success(), "{shell}: {done:?}");
        for path in ["outside/data/x", "flow/d/x"] {
            assert_eq!(fs::read(place.dir.path().join(path)).unwrap(), b"outside/data/x\n", "{shell}: {path}");
        }
        // To the workflow's own directory: the output is there already.
        let plan = plan_of("ln -s \"$HERE/dir\" dir; echo new >dir/in", "dir/in");
        let done = place.run(&format!("HERE=$PWD; export HERE; {}", install(&plan, &place.flow(), shell)));
        assert!(done.status.success(), "{shell}: {done:?}");
        assert_eq!(fs::read(place.flow().join("dir/in")).unwrap(), b"new\n", "{shell}");
    }
}

fn plan_of(command: &str, output: &str) -> flowmine_transform::workflow::Plan {
    // The directory of an output is there before, for the plain task and in the sandbox.
    plan(&serde_json::json!({"command": format!("rmdir dir; {command}"), "outputs": [output]}), &sandbox())
}

/// A link of another user at the place of an output directory is not followed.
#[test]
fn a_planted_link_takes_no_outputs_elsewhere() {
    if !is_root() {
        return;
    }
    for shell in SHELLS {
        let place = Place::new();
        let link = place.flow().join("o");
        symlink(place.dir.path().join("outside"), &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(6001), Some(6001)).unwrap();
        let before = content(&place.dir.path().join("outside"), 0);
        let plan = plan(&serde_json::json!({"command": "mkdir o; echo 1 >o/1", "outputs": ["o"]}), &sandbox());
        let done = place.run(&install(&plan, &place.flow(), shell));
        assert_eq!(seen(done.status), 125, "{shell}: {done:?}");
        assert_eq!(content(&place.dir.path().join("outside"), 0), before, "{shell}");
        assert_eq!(place.sandboxes().len(), 1, "{shell}");
    }
}

/// Inputs that are outputs too: what came in by half because the disk was full does not go out.
#[test]
fn half_an_input_is_no_output() {
    if !is_root() {
        return;
    }
    for shell in SHELLS {
        let place = Place::new();
        let plan = plan(&serde_json::json!({"command": "true", "inputs": ["d"], "outputs": ["d"]}), &sandbox());
        let command = install(&plan, &place.flow(), shell);
        let scripts: Vec<String> = plan.tasks[0].1.iter().map(|layer| layer.script()).collect();
        // A disk of one megabyte, in a mount namespace of the test's own.
        let run = format!(
            "mkdir ../small && mount -t tmpfs -o size=1m none ../small && cp -p {} ../small && cd ../small && mkdir d &&
             head -c 700000 /dev/zero | tr '\\0' x >d/large && {command}; echo $? && wc -c <d/large && ls",
            scripts.join(" ")
        );
        let done = Command::new("unshare").args(["-m", "sh", "-c", &run]).current_dir(place.flow()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[..2], ["125", "700000"], "{shell}: {said}{}", String::from_utf8_lossy(&done.stderr));
        assert!(!said.contains(".box."), "{shell}: {said}");
    }
}

/// Such a name means another file in a sandbox: of the workflow's own directory, or no file.
#[test]
fn names_that_lead_out_of_the_directory_are_refused() {
    for name in ["../x", "a/../../x", "..", ".", "a/.."] {
        for kind in ["inputs", "outputs"] {
            let task = serde_json::json!([{"command": "true", kind: [name]}]).to_string();
            let flow = Workflow::read("f.json", task.as_bytes(), &NoFiles).unwrap();
            let error = flow.transform(&sandbox(), &[], Collisions::Refuse, &NoContents).err().unwrap().to_string();
            assert!(error.contains("f.json:1:") && error.contains("is not below that directory"), "{name}: {error}");
            let retry = Composition::read("retry", builtin::text("retry").unwrap(), None, &[]).unwrap();
            assert!(flow.transform(&retry, &[], Collisions::Refuse, &NoContents).is_ok(), "{name}: without a sandbox it is what it is");
        }
    }
}

/// A task that is run again, in one directory: plain, and each time in a new sandbox.
fn again(command: &str, inputs: &[&str], outputs: &[&str], shell: Option<&str>, between: &str) -> (Vec<String>, Vec<i32>) {
    let place = Place::new();
    fs::write(place.flow().join("out"), "older\n").unwrap();
    fs::create_dir(place.dir.path().join("count")).unwrap();
    let command = format!("n=$(ls \"$OUT/../count\" | wc -l); : >\"$OUT/../count/$n\"; {command}");
    let run = match shell {
        None => format!("({command})"),
        Some(shell) => {
            install(&plan(&serde_json::json!({"command": command, "inputs": inputs, "outputs": outputs}), &sandbox()), &place.flow(), shell)
        }
    };
    let first = seen(place.run(&run).status);
    place.run(between);
    let statuses = vec![first, seen(place.run(&run).status)];
    assert_eq!(place.sandboxes(), Vec::<PathBuf>::new(), "{command}");
    (place.outputs(outputs), statuses)
}

#[test]
fn what_an_earlier_attempt_left_goes_as_without_the_sandbox() {
    for (command, inputs, outputs, between) in [
        // Four parts and failure, then two.
        ("rm -rf d; mkdir d; for p in 0 1 2 3; do [ $n$p = 12 ] && exit; echo $n >d/part$p; done; exit 1", &[][..], &["d"][..], ""),
        // Four parts, then two: run again after success.
        ("rm -rf d; mkdir d; for p in 0 1 2 3; do [ $n$p = 12 ] && exit; echo $n >d/part$p; done", &[], &["d"], ""),
        ("rm -rf d; mkdir -p d/$n; echo $n >\"d/$n/a b\"; [ $n = 1 ]", &[], &["d"], ""),
        // What was there before, and what others put there, stays.
        ("mkdir -p existing; echo $n >existing/new", &[], &["existing"], "echo mine >existing/notes"),
        ("rm -f out; [ $n = 1 ] || echo $n >out; [ $n = 1 ]", &[], &["out"], ""),
        // What came in and was deleted.
        ("rm -f dir/in; echo $n >dir/new", &["dir"], &["dir"], "echo theirs >dir/theirs"),
        ("echo 1 >out; rm -f in; [ $n = 1 ] || exit 3", &["in"], &["in", "out"], "echo back >in"),
        ("mv dir/in dir/other; rmdir dir/none; mkdir dir/none", &["dir"], &["dir"], "mv dir/other dir/in"),
    ] {
        let plain = again(command, inputs, outputs, None, between);
        for shell in SHELLS {
            assert_eq!(again(command, inputs, outputs, Some(shell), between), plain, "{shell}: {command}");
        }
    }
}

/// What the user changed or made since an earlier attempt is not that attempt's.
#[test]
fn what_the_user_put_among_the_outputs_stays() {
    for shell in SHELLS {
        let change = "rm d/0; echo mine >d/0; touch -d '+1 hour' d/1; echo notes >d/notes";
        let (outputs, statuses) =
            again("mkdir d; [ $n = 1 ] || echo x | tee d/0 d/1 d/2; echo $n >d/new", &[], &["d"], Some(shell), change);
        assert_eq!(statuses, [0, 0], "{shell}");
        let expected = "{\"0\": \"mine\\n\", \"1\": \"x\\n\", \"new\": \"1\\n\", \"notes\": \"notes\\n\"}";
        // The number of the new file may be that of the old one.
        assert!(outputs[0] == expected || outputs[0] == expected.replacen("\"0\": \"mine\\n\", ", "", 1), "{shell}: {outputs:?}");
    }
}

/// A list that others can write to is not the user's word of what may go.
#[test]
fn a_list_that_others_could_change_removes_nothing() {
    for shell in SHELLS {
        let command = "umask 000; mkdir -p d; [ $n != 0 ] || echo old >d/old; echo $n >d/new";
        for (between, kept) in
            [("[ -z \"$(find . -name '*.made' -perm /077)\" ] || echo open >d/open", false), ("chmod 666 t_*.made", true)]
        {
            let (outputs, statuses) = again(command, &[], &["d"], Some(shell), between);
            assert_eq!(statuses, [0, 0], "{shell}");
            let last = outputs.last().unwrap();
            assert_eq!((last.contains("\"old\""), last.contains("\"open\"")), (kept, false), "{shell} {between}: {last}");
        }
    }
}

/// What the directory holds afterwards, with the kinds of all names, and files outside of it.
fn tree(place: &Place) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![place.dir.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.strip_prefix(place.dir.path()).unwrap().to_string_lossy().into_owned();
            if name.starts_with("flow/t_") {
                continue;
            }
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            let shown = match () {
                () if kind.is_symlink() => format!("-> {}", fs::read_link(&path).unwrap().display()),
                () if kind.is_dir() => "directory".to_owned(),
                () if kind.is_fifo() => "FIFO".to_owned(),
                () => fs::read_to_string(&path).unwrap(),
            };
            if kind.is_dir() {
                folders.push(path);
            }
            found.push((name, shown));
        }
    }
    found.sort();
    found
}

/// Runs a task so often, plain or in a sandbox, where `before` has been.
fn attempts(before: &str, command: &str, io: (&[&str], &[&str]), shell: Option<&str>, times: usize) -> (Vec<(String, String)>, Vec<i32>) {
    let place = Place::new();
    assert!(place.run(before).status.success(), "{before}");
    let run = match shell {
        None => format!("({command})"),
        Some(shell) => {
            install(&plan(&serde_json::json!({"command": command, "inputs": io.0, "outputs": io.1}), &sandbox()), &place.flow(), shell)
        }
    };
    let run = format!("timeout 20 sh -c '{}'", run.replace('\'', "'\\''"));
    let statuses = (0..times).map(|n| seen(place.run(&format!("N={n}; export N; {run}")).status)).collect();
    assert_eq!(place.sandboxes(), Vec::<PathBuf>::new(), "{command}");
    (tree(&place), statuses)
}

/// Each name of an output directory is replaced: nothing is written through what has the name.
#[test]
fn names_in_output_directories_are_replaced() {
    let anew = "rm -rf d; mkdir d; echo new >d/b";
    let both: (&[&str], &[&str]) = (&["d"], &["d"]);
    let out: (&[&str], &[&str]) = (&[], &["d"]);
    for (before, command, io) in [
        ("mkdir d; echo PRECIOUS >p; ln -s ../p d/b", anew, out),
        ("mkdir d; echo PRECIOUS >p; ln -s ../p d/b", "rm d/b; echo new >d/b", both),
        ("mkdir d; echo old >d/b; cp -al d d.bak", anew, out),
        ("mkdir d; echo old >d/b; cp -al d d.bak", "rm d/b; echo new >d/b", both),
        ("mkdir d; mkfifo d/b", anew, out),
        ("mkdir -p d/b/c; echo old >d/b/c/f", anew, out),
        ("mkdir d; ln -s nowhere d/b", anew, out),
        ("mkdir d; echo old >d/b; chmod 444 d/b", anew, out),
        ("mkdir -p d q; echo kept >q/f; ln -s ../q d/b", "rm -rf d; mkdir -p d/b; echo new >d/b/f", out),
        ("mkdir d; echo old >d/b", "rm -rf d; mkdir -p d/b; echo new >d/b/f; ln -s b d/-l; mkfifo \"d/a b\"", out),
        ("mkdir d; ln -s ../in d/-l", "rm -rf d; mkdir d; echo new >./d/-l", out),
        ("echo PRECIOUS >p; ln -s p o", "rm -f o; echo new >o", (&[], &["o"])),
        ("echo old >o; ln o p", "rm -f o; echo new >o", (&[], &["o"])),
        ("mkdir d; echo old >d/b; ln d/b p", "rm -rf d; ln -s \"$OUT/data\" d", (&[], &["d/x"])),
    ] {
        // A directory of the workflow and a link of the task's to another place are two things; the names in it are the plain task's.
        let plain = attempts(before, command, io, None, 1);
        for shell in SHELLS {
            let boxed = attempts(before, command, io, Some(shell), 1);
            if io.1 == ["d/x"] {
                assert!(boxed.0.contains(&("flow/p".to_owned(), "old\n".to_owned())), "{shell}: {boxed:?}");
            } else {
                assert_eq!(boxed, plain, "{shell}: {before}: {command}");
            }
        }
    }
}

/// What came in may have another kind when it goes out.
#[test]
fn inputs_are_replaced_by_outputs_of_other_kinds() {
    for (before, command) in [
        ("mkdir -p d/e; echo 1 >d/e/x; echo 2 >d/y", "rm -rf d; echo new >d"),
        ("mkdir -p d/e; echo 1 >d/e/x; ln -s ../in d/l", "rm -rf d; ln -s in d"),
        ("mkdir d; echo PRECIOUS >p; ln -s ../p d/l; mkfifo d/f", "rm -rf d; mkfifo d"),
        ("mkdir d; echo old >d/x; ln d/x p", "rm -rf d; echo new >d; exit 3"),
        ("echo old >d", "rm d; mkdir -p d/e; echo new >d/e/x"),
        ("echo old >p; ln -s p d", "rm d; mkdir d; echo new >d/x"),
        ("mkdir q; echo old >q/x; ln -s q d", "rm -rf d; echo new >d"),
        ("mkdir d; echo old >'d/a b'; echo old >./d/-x", "rm -rf d; if [ $N = 1 ]; then mkdir d; fi; echo $N >d || echo $N >d/again"),
    ] {
        let io: (&[&str], &[&str]) = (&["d"], &["d"]);
        let plain = attempts(before, command, io, None, 3);
        for shell in SHELLS {
            assert_eq!(attempts(before, command, io, Some(shell), 3), plain, "{shell}: {before}: {command}");
        }
    }
}

/// A file that somebody else puts into the directory while the task runs is nobody's to delete.
#[test]
fn what_others_put_into_an_input_stays() {
    for shell in SHELLS {
        let place = Place::new();
        let command = "rm -rf dir; echo new >dir; echo theirs >\"$OUT/../flow/dir/theirs\"";
        let plan = plan(&serde_json::json!({"command": command, "inputs": ["dir"], "outputs": ["dir"]}), &sandbox());
        let done = place.run(&install(&plan, &place.flow(), shell));
        assert_eq!(seen(done.status), 125, "{shell}: {done:?}");
        assert_eq!(fs::read_to_string(place.flow().join("dir/theirs")).unwrap(), "theirs\n", "{shell}");
        assert_eq!(fs::read_to_string(place.sandboxes()[0].join("dir")).unwrap(), "new\n", "{shell}");
    }
}

/// A link of a failed attempt, and a file with a time to come, go as they do without the sandbox.
#[test]
fn names_of_failed_attempts_go_by_themselves() {
    for command in [
        "if [ $N = 0 ]; then echo 1 >o; ln -s o l; exit 1; fi; rm -rf o l; echo 2 >o",
        "if [ $N = 0 ]; then mkdir d; ln -s ../in d/l; ln -s none l; exit 1; fi; rm -rf d o l; mkdir d; echo 2 >o",
        "if [ $N = 0 ]; then echo 1 >o; touch -d '+2 days' o; exit 1; fi; rm -f o",
        "if [ $N = 0 ]; then mkdir d; ln -s none d/b; exit 1; fi; rm -rf d; mkdir d; echo 2 >d/b",
        "if [ $N = 0 ]; then mkdir -p d/b; echo 1 >d/b/c; exit 1; fi; rm -rf d; mkdir d; echo 2 >d/b",
        "if [ $N = 0 ]; then echo 1 >o; exit 1; fi; rm -f o; mkdir o; echo 2 >o/x",
        "if [ $N = 0 ]; then mkdir -p o/p; echo 1 >o/p/x; exit 1; fi; rm -rf o; echo 2 >o",
    ] {
        let io: (&[&str], &[&str]) = (&[], &["o", "l", "d"]);
        let plain = attempts(":", command, io, None, 2);
        for shell in SHELLS {
            assert_eq!(attempts(":", command, io, Some(shell), 2), plain, "{shell}: {command}");
        }
    }
}

/// Names are bytes: what is no text in the locale is a name like others.
#[test]
fn names_that_are_no_text_go_as_others() {
    for (before, command) in [
        (":", r#"rm -rf d; mkdir d; echo 1 >d/a; if [ $N = 0 ]; then echo 1 >d/old; echo 1 >"d/$(printf "b\\377")"; fi"#),
        (":", r#"rm -rf d; mkdir d; echo 1 >d/a; echo 1 >"d/$(printf "b\\377")"; if [ $N = 0 ]; then echo 1 >d/old; fi"#),
        ("mkdir q; echo 1 >q/a; ln -s q d", r#"echo 1 >"d/$(printf "b\\377$N")""#),
        ("mkdir q; echo 1 >q/a; ln -s q d", r#"rm d; mkdir d; ln -s a "d/$(printf "b\\377")"; echo 1 >"d/$(printf "\\303")""#),
    ] {
        let io: (&[&str], &[&str]) = (&[], &["d"]);
        let plain = attempts(before, command, io, None, 2);
        for shell in SHELLS {
            assert_eq!(attempts(before, command, io, Some(shell), 2), plain, "{shell}: {before}: {command}");
        }
    }
}

/// Random trees, actions and attempts: the result is the plain run's.
#[test]
fn random_trees_and_attempts_end_as_without_the_sandbox() {
    const MADE: [&str; 7] =
        ["echo $N >d/F", "ln -s ../in d/F", "ln -s none d/F", "mkfifo d/F", "mkdir d/F", "mkdir d/F; echo $N >d/F/a", "ln in d/F"];
    const DONE: [&str; 4] = ["rm -rf d/F", "rm -rf d/F; MADE", "mkdir -p d/G; rm -rf d/G/F; echo $N >d/G/F", ":"];
    let (mut state, names) = (0x2545_f491_4f6c_dd1d_u64, ["a", "b c", "-x", ".h"]);
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for n in 0..12 {
        let mut before = "mkdir d".to_owned();
        for name in names {
            if random(3) > 0 {
                before.push_str(&format!("; {}", MADE[random(MADE.len())].replace("$N", "old").replace("d/F", &format!("'d/{name}'"))));
            }
        }
        before.push_str("; cp -al d d.bak");
        let mut command = String::from(":");
        for _ in 0..3 {
            let name = names[random(4)];
            let made = MADE[random(6)];
            let action = DONE[random(DONE.len())]
                .replace("MADE", made)
                .replace("d/G/F", &format!("'d/G/{name}'"))
                .replace("d/F", &format!("'d/{name}'"));
            command.push_str(&format!("; {}", action.replace("''", "")));
        }
        command.push_str("; [ $N = 2 ]");
        let io: (&[&str], &[&str]) = (&["d"], &["d"]);
        let plain = attempts(&before, &command, io, None, 3);
        let boxed = attempts(&before, &command, io, Some(SHELLS[n % SHELLS.len()]), 3);
        assert_eq!(boxed, plain, "{}: {before}\n{command}", SHELLS[n % SHELLS.len()]);
    }
}
