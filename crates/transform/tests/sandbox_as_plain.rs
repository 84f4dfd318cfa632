//! A sandbox against the plain task, as root and as an ordinary user: the same exit code and, of all
//! names, the same kinds, contents, modes, targets of links and names of one file.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod common;
#[path = "common/plain.rs"]
mod plain;

use common::is_root;
use plain::{NOBODY, Place, Task, Tree, all_end_as_plain, is_long, runs, task};

/// Whatever links to nothing, to themselves, or to places that only other hosts have lie there.
#[test]
fn links_to_directories_that_came_in_stay_links() {
    let outputs = ["out"];
    let elsewhere = "ln -s /only/on/other/hosts ref/far";
    all_end_as_plain(&[
        task(&["ref"], &outputs, elsewhere, "ln -s ref out"),
        task(&["ref"], &outputs, elsewhere, "ln -s \"$PWD/ref\" out"),
        task(&["ref"], &outputs, elsewhere, "mkdir out; ln -s ../ref out/r; ln -s ../ref/x out/x"),
        task(&["ref"], &outputs, elsewhere, "ln -s ref/sub out"),
        task(&["ref/sub"], &outputs, "", "ln -s ref/sub out"),
        task(&["ref/sub"], &outputs, "", "ln -s ref out"),
        task(&["linked"], &outputs, "ln -s ref linked", "ln -s linked out"),
        task(&["linked"], &outputs, "ln -s ../precious linked", "mkdir -p out/d; ln -s ../../linked out/d/l"),
        task(&["ref"], &outputs, "ln -s sub ref/current", "ln -s ref/current out"),
        task(&["ref", "ref/x"], &outputs, "", "ln -s ref/x out"),
    ]);
}

/// Where the task has changed an input, what it made of it is in the output. Links in what is copied
/// lead where they led.
#[test]
fn content_of_directories_has_its_links() {
    for (user, shell) in runs(0) {
        let place = Place::new(user);
        let done = place.run(&task(&["ref"], &["out"], "", "echo new >ref/new; rm ref/x; ln -s ref out"), Some(shell));
        assert_eq!(done.end.status, 0, "{shell}: {}", done.said);
        let below = |name: &str| done.end.tree.get(&format!("flow/{name}")).map(String::as_str);
        assert_eq!(below("out/new"), Some("file 644 \"new\\n\" []"), "{shell}");
        assert_eq!((below("out/x"), below("out/dangling"), below("out/cycle")), (None, Some("-> nowhere []"), Some("-> . []")), "{shell}");
        let command = "mkdir -p d/e x; echo 1 >d/1; echo 2 >x/y; ln -s ../1 d/e/l; ln -s ../x d/x; ln -s \"$PWD/d/1\" d/abs; ln -s d/ out";
        let done = place.run(&task(&[], &["out"], "", command), Some(shell));
        assert_eq!(done.end.status, 0, "{shell}: {}", done.said);
        let below = |name: &str| done.end.tree.get(&format!("flow/out/{name}")).map(String::as_str);
        assert_eq!((below("e/l"), below("abs")), (Some("-> ../1 []"), Some("-> 1 []")), "{shell}");
        assert_eq!(below("x/y"), Some("file 644 \"2\\n\" []"), "{shell}");
    }
}

/// A link at the name of an output, or on the way to one, is followed where the task followed it.
#[test]
fn links_to_directories_are_followed_as_the_task_follows_them() {
    let again = |command: &str, outputs: &[&'static str]| Task { attempts: 2, ..task(&[], outputs, "", command) };
    all_end_as_plain(&[
        // Left by an earlier attempt.
        again("rm -rf a; if [ $N = 0 ]; then ln -s \"$TOP/precious\" a; exit 1; fi; mkdir a; echo new >a/x", &["a"]),
        again("rm -rf a b; if [ $N = 0 ]; then mkdir b; ln -s b a; exit 1; fi; mkdir a b; echo new >a/x; echo b >b/y", &["a", "b"]),
        // Made by the user.
        task(&[], &["a"], "ln -s ../precious a", "rm -rf a; mkdir a; echo new >a/x"),
        task(&[], &["a"], "ln -s ../precious a", "mkdir -p a; echo new >a/y"),
        task(&[], &["a"], "ln -s ../precious a", "echo new >a/x"),
        task(&[], &["a"], "ln -s ../precious a", "rm a; echo new >a"),
        task(&[], &["a/x"], "ln -s ../precious a", "rm -rf a; mkdir a; echo new >a/x"),
        task(&[], &["a/x"], "ln -s ../precious a", "echo new >a/x"),
        task(&[], &["a/b/x"], "ln -s ../precious a; mkdir ../precious/d; ln -s d ../precious/b", "echo new >a/b/x"),
        task(&["a"], &["a"], "ln -s ../precious a", "rm -rf a; mkdir a; echo new >a/x"),
        task(&["a"], &["a"], "ln -s ../precious a; echo y >../precious/y", "rm a/x; echo new >a/z"),
        task(&["a"], &["a"], "ln -s ../precious/x a", "rm a; echo new >a"),
        task(&["a"], &["a"], "ln -s ../precious/x a", "echo new >a"),
        task(&["a"], &["a"], "ln -s ../precious/x a", ":"),
        // To another output.
        task(&["c"], &["a", "c"], "echo old >a; ln -s a c", "cat c; rm a; echo new >a"),
    ]);
}

/// What the task wrote through a link that it then removed cannot be told from what it wrote behind
/// it: the task fails, and nothing behind the link is changed.
#[test]
fn nothing_behind_a_link_is_changed_that_the_task_may_not_have_changed() {
    for (user, shell) in runs(0) {
        let place = Place::new(user);
        let command = "echo new >a/x; rm a; mkdir a; echo newer >a/x";
        let done = place.run(&task(&[], &["a"], "ln -s ../precious a", command), Some(shell));
        assert_eq!((done.end.status, done.kept), (125, 1), "{shell}: {}", done.said);
        assert!(done.said.contains("through the link a"), "{shell}: {}", done.said);
        assert_eq!(done.end.tree["precious/x"], "file 644 \"PRECIOUS\\n\" []", "{shell}");
        // A link that comes up while the task runs is not the one that the task found.
        let command = "mkdir a; echo new >a/x; ln -s \"$TOP/precious\" \"$TOP/flow/a\"";
        let done = place.run(&task(&[], &["a"], "", command), Some(shell));
        assert_eq!((done.end.status, done.kept), (125, 1), "{shell}: {}", done.said);
        assert_eq!(done.end.tree["precious/x"], "file 644 \"PRECIOUS\\n\" []", "{shell}");
    }
}

/// A link leads to another output: which of what the task wrote to both came last is not known.
#[test]
fn outputs_that_are_links_to_outputs_are_not_mixed_up() {
    for (outputs, command) in [
        (["a", "c"], "echo new >a; echo through >c"),
        (["c", "a"], "echo new >a; echo through >c"),
        (["a", "c"], "echo through >c; rm -f a; ln -s nowhere a"),
    ] {
        for (user, shell) in runs(0) {
            let place = Place::new(user);
            let done = place.run(&task(&["c"], &outputs, "echo old >a; ln -s a c", command), Some(shell));
            assert_eq!((done.end.status, done.kept), (125, 1), "{shell}: {command}: {}", done.said);
            assert_eq!(done.end.tree["flow/c"], "-> a []", "{shell}: {command}");
        }
    }
}

/// Directories that are closed to writing, and to reading, for a user who is not root.
#[test]
fn closed_directories_come_out_with_their_modes() {
    let both = ["e"];
    all_end_as_plain(&[
        task(&[], &["e"], "", "mkdir e; echo 1 >e/x; chmod 555 e"),
        task(&[], &["e"], "", "mkdir -p e/s/t; echo 1 >e/s/t/x; chmod 500 e/s/t; chmod 555 e/s; chmod 555 e"),
        task(&[], &["e"], "", "mkdir -p e/s; echo 1 >e/s/x; chmod 700 e/s; chmod 2750 e"),
        task(&[], &["e/x"], "mkdir e", "echo 1 >e/x; chmod 755 e"),
        task(&both, &both, "mkdir -p e/s; echo 1 >e/s/x; chmod 555 e/s", "echo 2 >e/y"),
        task(&both, &both, "mkdir -p e/s; echo 1 >e/s/x; chmod 555 e/s e", ":"),
        task(&both, &both, "mkdir -p e/s; echo 1 >e/s/x; chmod 555 e/s", "chmod 755 e/s; rm e/s/x; echo 2 >e/s/y; chmod 555 e/s"),
        task(&both, &both, "mkdir -p e/s; echo 1 >e/s/x; chmod 555 e/s", "chmod 755 e/s; rm -rf e/s"),
        task(&both, &both, "mkdir -p e/s; echo 1 >e/s/x", "chmod 500 e/s; chmod 2755 e; chmod 600 e/s/x"),
        task(&["ref"], &["o"], "chmod 555 ref/sub ref", "ls ref >o"),
        Task {
            attempts: 2,
            ..task(
                &[],
                &["e"],
                "",
                "[ $N = 1 ] || { mkdir -p e/s; echo 1 >e/s/x; chmod 0 e/s; chmod 555 e; exit 1; }; chmod 755 e; chmod 755 e/s; rm -rf e",
            )
        },
    ]);
}

/// Names of one file, and names with blanks and line feeds.
#[test]
fn names_are_what_they_are_without_the_sandbox() {
    let both = ["e"];
    all_end_as_plain(&[
        task(&["in", "e"], &both, "mkdir e", "ln in e/1"),
        task(&["e"], &["e", "o"], "mkdir e; echo 1 >e/1", "ln e/1 e/2; ln e/1 o"),
        task(&both, &both, "mkdir e; echo 1 >e/1; ln e/1 e/2", "echo more >>e/1"),
        task(&both, &both, "mkdir e; echo 1 >'e/a\nb'; echo 2 >'e/\nc'; echo 3 >'e/d '; mkdir 'e/s\n'; echo 4 >'e/s\n/x'", "rm -rf e/*"),
        task(&both, &both, "mkdir e; echo 1 >'e/a\nb'; echo 2 >e/a; echo 3 >e/b", "rm 'e/a\nb'; echo 4 >'e/c\n'"),
        task(&["a\nb"], &["a\nb"], "echo 1 >'a\nb'; echo 2 >a", "rm 'a\nb'"),
        Task { attempts: 2, ..task(&["in"], &["a"], "", "rm -rf a; if [ $N = 0 ]; then ln -s in a; exit 1; fi; ln in a") },
        Task { attempts: 2, ..task(&[], &["e"], "", "rm -rf e; mkdir e; [ $N = 1 ] || { echo 1 >'e/a\nb '; exit 1; }") },
    ]);
}

/// Names of which one holds another: of inputs, of outputs, and of both.
#[test]
fn names_that_hold_each_other_end_as_plain() {
    let d = "mkdir -p d/s; echo 1 >d/a; echo 2 >d/s/b";
    let link = "mkdir -p d/s; echo 1 >d/a; echo 2 >d/s/b; ln -s s d/l";
    let away = "mkdir -p d/s e; echo 1 >d/a; echo 2 >e/z; echo 3 >e/y; ln -s ../e d/l";
    let linked = "mkdir -p d/s; echo 1 >d/a; echo 2 >d/s/b; ln -s d l";
    let closed = "mkdir -p d/s; echo 1 >d/a; echo 2 >d/s/b; chmod 444 d/a d/s/b; chmod 555 d/s d";
    all_end_as_plain(&[
        // An output below an input.
        task(&["d"], &["d/s", "o"], d, "find d | sort >o; echo 3 >d/s/b"),
        task(&["d"], &["d/new", "o"], d, "find d | sort >o; echo 3 >d/new"),
        task(&["d/s"], &["d/s/b"], d, "rm d/s/b"),
        task(&["d", "d/s"], &["d/s/b"], d, "cat d/a >>d/s/b"),
        task(&["d"], &["d/l/x"], link, "cat d/l/b >d/l/x"),
        task(&["l"], &["l/n"], linked, "cat l/a l/s/b >l/n"),
        // An input below an output.
        task(&["d/s"], &["d"], d, "rm d/s/b; echo 3 >d/n"),
        task(&["d/l"], &["d"], away, "cat d/l/z >d/z; echo 4 >d/l/x; rm d/l/z"),
        task(&["d/l"], &["d"], away, ":"),
        task(&["d/s"], &["d"], "mkdir -p d/s; echo 2 >d/s/b", "rm -r d"),
        task(&["d/s/b"], &["d/s/b", "d"], "mkdir -p d/s; echo 2 >d/s/b", "rm -r d"),
        task(&["d/s/b"], &["d"], "mkdir -p d/s; echo 2 >d/s/b", "rm -r d; echo 3 >d"),
        // An input below an input.
        task(&["d/s/b", "d/s"], &["o"], d, "cat d/s/b >o"),
        task(&["d/s/b", "d/s", "d"], &["o"], closed, "cat d/a d/s/b >o"),
        task(&["l/s", "l"], &["l/s"], linked, "rm l/s/b"),
        // An output below an output.
        task(&[], &["d/x/y", "d/x", "d"], "", "mkdir -p d/x; echo 1 >d/x/y; chmod 2750 d/x; chmod 555 d"),
        task(&["d"], &["d", "d/n"], d, "echo 3 >d/n"),
        task(&["d"], &["d/n", "d"], d, "echo 3 >d/n; rm d/a"),
    ]);
}

/// What a task does through a link that came with a directory, and that leads to no output, cannot come
/// out: the task fails.
#[test]
fn links_below_inputs_are_no_outputs() {
    let before = "mkdir -p d/s; echo 1 >d/s/b; ln -s s d/l; ln -s ../in d/up";
    for (inputs, output, command, said) in [
        (["d", "ref"], "d/l", "echo 2 >d/l/b", "through the link d/l"),
        (["d", "ref"], "d/up", "[ ! -e d/up ] || echo 2 >d/up", "the output d/up is a link that leads out"),
        (["d", "d/up"], "o", "cat d/up >o", "the input d/up is a link that leads out"),
    ] {
        for (user, shell) in runs(0) {
            let place = Place::new(user);
            let done = place.run(&task(&inputs, &[output], before, command), Some(shell));
            assert_eq!(done.end.status, 125, "{shell}: {command}: {}", done.said);
            assert!(done.said.contains(said), "{shell}: {command}: {}", done.said);
            assert_eq!(done.end.tree["flow/in"], "file 644 \"in\\n\" []", "{shell}");
            assert_eq!(done.end.tree["flow/d/s/b"], "file 644 \"1\\n\" []", "{shell}");
        }
    }
}

/// Numbers that are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// One thing that a task does to a name. What fails does nothing.
fn action(random: &mut Random, names: &[&'static str]) -> String {
    let (name, other, value) = (random.of(names), random.of(names), random.below(100));
    let up = "../".repeat(name.matches('/').count());
    let target = match random.below(12) {
        0 => format!("'{up}{other}'"),
        1 => format!("{up}ref"),
        2 => format!("{up}ref/sub"),
        3 => format!("{up}in"),
        4 => "nowhere".to_owned(),
        5 => "../x".to_owned(),
        6 => format!("\"$PWD\"/'{other}'"),
        7 => "\"$PWD/ref\"".to_owned(),
        8 => "\"$TOP/precious\"".to_owned(),
        9 => "\"$TOP/precious/x\"".to_owned(),
        10 => format!("{up}ref/dangling"),
        _ => "x".to_owned(),
    };
    let mode = ["444", "555", "500", "640", "700", "755", "2755"][random.below(7)];
    match random.below(13) {
        0 => format!("mkdir '{name}'"),
        1 => format!("mkdir -p '{name}'; echo {value} >'{name}/x'"),
        2 => format!("[ -p '{name}' ] || echo {value} >'{name}'"),
        3 => format!("rm -rf '{name}'; echo {value} >'{name}'"),
        4 => format!("ln '{other}' '{name}'"),
        5 => format!("ln in '{name}'"),
        6 => format!("rm -rf '{name}'; ln -s {target} '{name}'"),
        7 => format!("ln -s {target} '{name}'"),
        8 => format!("[ -L '{name}' ] || chmod {mode} '{name}'"),
        9 => format!("rm -rf '{name}'"),
        10 => format!("mv -T '{other}' '{name}'"),
        11 => format!("mkfifo '{name}'"),
        _ => format!("chmod 755 '{name}'; rm -f '{name}'"),
    }
}

fn random_task(random: &mut Random) -> Task {
    let names = ["a", "b", "c", "a/x", "a/y", "a/s", "a/s/x", "a/n\nl", "b/x", "b/ t ", "c/x"];
    let top = ["a", "b", "c"];
    let both: Vec<&str> = top.into_iter().filter(|_| random.below(5) < 2).collect();
    let fresh: Vec<&str> = top.into_iter().filter(|name| !both.contains(name)).collect();
    let actions = |random: &mut Random, n: usize| (0..n).map(|_| action(random, &names)).collect::<Vec<_>>().join("; ");
    let n = random.below(6) + 1;
    let mut before = format!("exec 2>/dev/null; {}", actions(random, n));
    // What an output has from before is seen by the plain task only, unless it is a link to a directory.
    for name in &fresh {
        before
            .push_str(&format!("; [ -L {name} ] && [ -d {name} ] || {{ find {name} -type d -exec chmod 755 {{}} \\; ; rm -rf {name}; }}"));
    }
    for name in &both {
        before.push_str(&format!("; [ -e {name} ] || echo old >{name}; [ -e {name} ] || {{ rm -rf {name}; echo old >{name}; }}"));
    }
    before.push_str("; :");
    let attempts = random.below(3) + 1;
    let mut command = "exec 2>/dev/null".to_owned();
    for name in &fresh {
        command.push_str(&format!("; find {name} -type d -exec chmod u+rwx {{}} \\; ; rm -rf {name}"));
    }
    command.push_str("; case $N in");
    for attempt in 0..attempts {
        let n = random.below(6) + 1;
        command.push_str(&format!(" {attempt}) {} ;;", actions(random, n)));
    }
    let last = if attempts == 1 && random.below(4) == 0 { 3 } else { 0 };
    command.push_str(&format!(" esac; [ $N = {} ] || exit 1; exit {last}", attempts - 1));
    let inputs = ["in", "ref"].into_iter().chain(both).collect();
    Task { before, command, inputs, outputs: top.into(), attempts }
}

/// A task that reads all of its inputs and changes its outputs, of which one may hold another.
fn random_nested_task(random: &mut Random) -> Task {
    let files = ["d/1", "d/s/2", "d/s/t/3", "e/4", "e/g/5"];
    let holds = |holder: &str, name: &str| name.strip_prefix(holder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let some = |random: &mut Random, all: &[&'static str]| -> Vec<&'static str> {
        let chosen: Vec<_> = (0..=random.below(3)).map(|_| all[random.below(all.len())]).collect();
        all.iter().copied().filter(|name| chosen.contains(name)).collect()
    };
    let mut inputs = some(random, &["d", "d/s", "d/s/t", "e", "e/g", "d/1", "d/s/2", "d/s/t/3", "e/4", "e/g/5"]);
    let mut outputs = some(random, &["d", "d/s", "d/s/t", "d/n", "d/s/n", "e", "e/n", "e/g/5", "d/1", "d/s/2"]);
    if random.below(2) == 0 {
        inputs.reverse();
        outputs.reverse();
    }
    // What an output has from before is seen by the plain task only.
    let there = |name: &str| !outputs.iter().any(|output| holds(output, name)) || inputs.iter().any(|input| holds(input, name));
    let mut before = "mkdir -p d/s/t e/g".to_owned();
    for name in files {
        if there(name) {
            before.push_str(&format!("; echo {name} >{name}"));
        }
    }
    before.push_str("; rmdir -p d/s/t e/g 2>/dev/null; :");
    let mut command = "exec 2>/dev/null".to_owned();
    for name in &inputs {
        command.push_str(&format!("; find {name} | LC_ALL=C sort >>log; find {name} -type f -exec cat {{}} + | sort >>log"));
    }
    for name in &outputs {
        command.push_str(&match random.below(7) {
            0 => format!("; [ ! -f {name} ] || echo more >>{name}"),
            1 => format!("; mkdir -p {name}; rm -rf {name}; echo new >{name}"),
            2 => format!("; mkdir -p {name}; rm -rf {name}; mkdir {name}; echo new >{name}/z"),
            3 => format!("; rm -rf {name}"),
            4 => format!("; [ ! -d {name} ] || {{ echo new >{name}/new; rm -f {name}/1 {name}/2; }}"),
            5 => format!("; [ ! -d {name} ] || chmod 750 {name}"),
            _ => String::new(),
        });
    }
    command.push_str("; :");
    outputs.push("log");
    Task { before, command, inputs, outputs, attempts: 1 }
}

/// Whether all that the task does to names is done to its outputs.
fn keeps_to_its_files(task: &Task, before: &Tree, after: &Tree) -> bool {
    let is_output = |name: &str| {
        let name = name.strip_prefix("flow/").unwrap_or_default();
        task.outputs.iter().any(|output| name.strip_prefix(output).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    let others = |tree: &Tree| -> Vec<(String, String)> {
        // Without the other names of a file.
        let shown = |shown: &String| shown[..shown.rfind(" [").unwrap()].to_owned();
        tree.iter().filter(|(name, _)| !is_output(name)).map(|(name, of)| (name.clone(), shown(of))).collect()
    };
    others(before) == others(after)
}

/// The end of random tasks is that of the plain run, or the task fails and says so.
fn random_ends_are_as_plain(tasks: usize, make: fn(&mut Random) -> Task) {
    let users = if is_root() { vec![None, Some(NOBODY)] } else { vec![None] };
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..tasks {
        let mut random = Random(0x2545_f491_4f6c_dd1d ^ (seed as u64) << 20);
        random.below(2);
        let task = make(&mut random);
        let user = users[seed % users.len()];
        // The commands of busybox's shell differ from those of the plain run's.
        let shell = ["dash", "bash"][seed / 2 % 2];
        let place = Place::new(user);
        let untouched = place.run(&Task { attempts: 0, ..task.clone() }, None);
        let plain = place.run(&task, None);
        if !keeps_to_its_files(&task, &untouched.end.tree, &plain.end.tree) {
            continue;
        }
        let boxed = place.run(&task, Some(shell));
        if boxed.said.contains("flowmine transform: ") {
            refused += 1;
            continue;
        }
        compared += 1;
        assert_eq!(boxed.end, plain.end, "seed {seed}, {shell}, {user:?}: {task:#?}\n{}", boxed.said);
    }
    assert!(compared > tasks / 2 && refused < tasks / 4, "{compared} compared, {refused} refused");
}

#[test]
fn random_tasks_end_as_without_the_sandbox() {
    random_ends_are_as_plain(if is_long() { 1000 } else { 20 }, random_task);
}

#[test]
fn random_nested_names_end_as_without_the_sandbox() {
    random_ends_are_as_plain(if is_long() { 500 } else { 8 }, random_nested_task);
}
