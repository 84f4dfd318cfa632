//! Links on the way to the outputs of a sandbox, in inputs and made by the task, against the plain
//! task; and modes of directories that are reached by them.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod common;
#[path = "common/plain.rs"]
mod plain;

use plain::{Place, Task, each_ends_as_plain, runs, task};

const D: &str = "mkdir -p d/s; echo 1 >d/a; echo 2 >d/s/b";

/// The input `d`, after something else.
fn with_d(more: &str) -> String {
    format!("{D}; {more}")
}

/// A link of an input on the way to an output leads where it leads in the workflow.
#[test]
fn links_of_inputs_on_the_way_are_followed() {
    let one = |link: &str| task(&["d"], &["d/l/q"], &with_d(link), "echo new >d/l/q");
    let elsewhere = "ln -s ../../precious d/l";
    each_ends_as_plain(&[
        // To the directory itself, to another of the workflow, to one elsewhere.
        one("ln -s s d/l"),
        one("ln -s \"$PWD/d/s\" d/l"),
        one("mkdir e; ln -s ../e d/l"),
        one("mkdir e; ln -s \"$PWD/e\" d/l"),
        one("mkdir e; ln -s ../../flow/e d/l"),
        one(elsewhere),
        one("ln -s \"$TOP/precious\" d/l"),
        // To one above it.
        one("ln -s .. d/l"),
        one("ln -s \"$PWD\" d/l"),
        one("ln -s . d/l"),
        // Over several links.
        one("ln -s m d/l; ln -s ../k d/m; ln -s ../precious k"),
        one("mkdir e; ln -s ../k d/l; ln -s e k"),
        task(&["d"], &["d/l/m/q"], &with_d("ln -s s d/l; ln -s .. d/s/m"), "echo new >d/l/m/q"),
        task(&["d"], &["d/l/e/q"], &with_d(&format!("mkdir ../precious/e; {elsewhere}")), "echo new >d/l/e/q"),
        // With other names of the same place.
        task(&["d", "e"], &["d/l/q", "o"], &with_d("mkdir e; echo 5 >e/5; ln -s ../e d/l"), "echo new >d/l/q; cat e/* >o"),
        task(&["d", "e"], &["d/l/q", "o"], &with_d("mkdir e; echo 5 >e/5; ln -s \"$PWD/e\" d/l"), "echo new >d/l/q; cat e/* >o"),
        task(&["d"], &["d/l/q", "e/o"], &with_d("mkdir e; ln -s ../e d/l"), "echo new >d/l/q; cat e/q >e/o"),
        task(&["d"], &["d/l/q", "o"], &with_d(elsewhere), "cat d/l/x >o; echo new >d/l/q"),
        // A directory, and nothing.
        task(&["d"], &["d/l/q"], &with_d(elsewhere), "mkdir d/l/q; echo new >d/l/q/z; ln -s z d/l/q/y"),
        task(&["d"], &["d/l/q", "o"], &with_d(elsewhere), "echo new >o"),
        // A link in the place of an output.
        task(&["d"], &["d/l", "o"], &with_d(elsewhere), "echo new >o"),
        task(&["d"], &["d/l"], &with_d(elsewhere), "echo new >d/l/x; echo newer >d/l/z"),
    ]);
}

/// A link of the user's on the way to an output, which no input brings in.
#[test]
fn links_on_the_way_lead_to_what_the_sandbox_has() {
    each_ends_as_plain(&[
        task(&[], &["a/q"], "ln -s \"$TOP/precious\" a", "echo new >a/q"),
        task(&[], &["a/q"], "mkdir e; ln -s \"$PWD/e\" a", "echo new >a/q"),
        task(&[], &["a/q"], "mkdir e; ln -s b a; ln -s e b", "echo new >a/q"),
        task(&["ref"], &["a/x", "o"], "ln -s ref a", "echo new >a/x; cat ref/x >o"),
        task(&["ref"], &["a/n", "ref/m", "o"], "ln -s \"$PWD/ref\" a", "echo new >a/n; cat ref/n >o; mv ref/n ref/m"),
        task(&[], &["a/x", "b/y"], "mkdir e; ln -s e a; ln -s e b", "echo new >a/x; cat b/x >b/y"),
        task(&[], &["a/n", "b/y"], "ln -s ../precious a; ln -s ../precious b", "echo new >a/n; cat b/n >b/y"),
        task(&[], &["a/e/n", "b/y"], "mkdir ../precious/e; ln -s ../precious a; ln -s a/e b", "echo new >a/e/n; cat b/n >b/y"),
        task(&[], &["a/x"], "mkdir e; ln -s e a", "rm a; mkdir a; echo new >a/x"),
        task(&[], &["a/x"], "ln -s ../precious a", "rm a; mkdir r; ln -s r a; echo new >a/x"),
    ]);
}

/// A link of the task's on the way to an output stays one.
#[test]
fn links_of_the_task_on_the_way_stay_links() {
    let one = |outputs: &[&'static str], command: &str| task(&["ref"], outputs, "", command);
    each_ends_as_plain(&[
        one(&["l/q"], "mkdir r; ln -s r l; echo 1 >l/q"),
        one(&["l/q"], "mkdir r; ln -s \"$PWD/r\" l; echo 1 >l/q"),
        one(&["l/q", "r"], "mkdir r; ln -s r l; echo 1 >l/q"),
        one(&["l/q", "r/q"], "mkdir r; ln -s r l; echo 1 >l/q"),
        one(&["l/q", "r/z"], "mkdir r; ln -s r l; echo 1 >l/q; echo 2 >r/z"),
        one(&["l/q"], "ln -s \"$TOP/precious\" l; echo 1 >l/q"),
        one(&["l/q"], "ln -s ref l; echo 1 >l/q"),
        one(&["l/q", "ref"], "ln -s ref l; echo 1 >l/q"),
        one(&["l/q/z"], "mkdir -p r/q; ln -s r l; echo 1 >l/q/z"),
        one(&["l/m/z"], "mkdir r s; ln -s r l; ln -s ../s l/m; echo 1 >l/m/z"),
        one(&["x/l/q", "x"], "mkdir -p x/r; ln -s r x/l; echo 1 >x/l/q"),
        one(&["x/l/q"], "mkdir -p x/r; ln -s r x/l; echo 1 >x/l/q"),
        one(&["l/q"], "mkdir 'a\nb'; ln -s 'a\nb' l; echo 1 >l/q"),
        Task { attempts: 2, ..one(&["l/q"], "rm -rf l r; mkdir r; ln -s r l; echo $N >l/q; [ $N = 1 ]") },
    ]);
}

/// Directories that the task closed have their modes where a link leads to them too.
#[test]
fn closed_directories_behind_links_have_their_modes() {
    let closed = "mkdir -p a/q/s; echo 1 >a/q/s/z; chmod 0 a/q/s; chmod 500 a/q";
    let made = "mkdir -p r/q; ln -s r l; echo 1 >l/q/z; chmod 555 l/q";
    each_ends_as_plain(&[
        task(&[], &["a/q"], "ln -s ../precious a", closed),
        task(&[], &["a"], "ln -s ../precious a", closed),
        task(&["a"], &["a"], "ln -s ../precious a; mkdir ../precious/q", "chmod 555 a/q"),
        task(&[], &["a/q"], "mkdir e; ln -s e a", closed),
        task(&["d"], &["d/l/q"], &with_d("ln -s s d/l"), "mkdir d/l/q; echo 1 >d/l/q/z; chmod 555 d/l/q"),
        task(&["d"], &["d/l/q"], &with_d("ln -s ../../precious d/l"), "mkdir d/l/q; echo 1 >d/l/q/z; chmod 555 d/l/q"),
        task(&[], &["l/q"], "", made),
        task(&[], &["l/q", "r"], "", made),
        // Directories on the way that the task made.
        task(&[], &["e/x"], "", "mkdir -m 700 e; echo 1 >e/x"),
        task(&[], &["e/f/x"], "", "mkdir -p e/f; echo 1 >e/f/x; chmod 555 e/f; chmod 711 e"),
    ]);
}

/// Closed directories in what a link becomes.
#[test]
fn closed_directories_have_their_modes_in_copies() {
    for (user, shell) in runs(0) {
        let place = Place::new(user);
        let command = "mkdir -p r/q/s r/t; echo 1 >r/q/z; chmod 555 r/q r/q/s; chmod 300 r/t; ln -s r o; ln -s r/q p";
        let done = place.run(&task(&[], &["o", "p"], "", command), Some(shell));
        assert_eq!(done.end.status, 0, "{shell}: {}", done.said);
        let modes = ["o", "o/q", "o/q/s", "o/t", "p", "p/s"].map(|name| done.end.tree[&format!("flow/{name}")].clone());
        assert_eq!(modes, ["755", "555", "555", "300", "555", "555"].map(|mode| format!("directory {mode} []")), "{shell}, {user:?}");
    }
}

/// A link to an input stays one where what the task changed in it is an output.
#[test]
fn links_to_inputs_with_outputs_in_them_stay_links() {
    let one = |outputs: &[&'static str], command: &str| task(&["d"], outputs, D, command);
    each_ends_as_plain(&[
        one(&["d/n", "out"], "echo new >d/n; ln -s d out"),
        one(&["d/n", "out"], "echo new >d/n; mkdir out; ln -s ../d out/l"),
        one(&["d/s", "out"], "echo new >d/s/n; rm d/s/b; ln -s d out"),
        one(&["d/z/y/n", "out"], "mkdir -p d/z/y; echo new >d/z/y/n; ln -s d out"),
        one(&["d/a", "out"], "echo new >d/a; ln -s \"$PWD/d\" out"),
        one(&["d/a", "out"], "rm d/a; ln -s d out"),
        task(&["in"], &["out", "o"], "", "ln -s \"$PWD\" out; echo new >o"),
        one(&["d/n[*]", "out"], "echo new >'d/n[*]'; ln -s d out"),
        task(&["d/s"], &["d/n", "out"], "mkdir -p d/s; echo 2 >d/s/b", "echo new >d/n; ln -s d out"),
        // Links of the input itself, to a directory above.
        task(&["d"], &["d"], &with_d("ln -s .. d/up"), "echo new >d/q"),
        task(&["d"], &["d"], &with_d("ln -s \"$PWD\" d/up; ln -s ../.. d/s/up"), "echo new >d/q; echo x >temporary; rm temporary"),
        task(&["d/s"], &["d/s"], &with_d("ln -s .. d/s/up; rm d/a"), "echo new >d/s/q"),
        // Absolute links of the input.
        task(&["d"], &["d", "o"], &with_d("ln -s \"$PWD/d/a\" d/l"), "echo new >d/a; cat d/l >o"),
        task(&["d"], &["d", "o"], &with_d("ln -s \"$PWD/d/a\" d/l"), "echo new >d/l; cat d/a >o; mv d/l d/m"),
    ]);
    // What else it changed is not lost.
    for (user, shell) in runs(0) {
        let place = Place::new(user);
        let done = place.run(&one(&["d/n", "out"], "echo new >d/n; echo more >d/more; ln -s d out"), Some(shell));
        assert_eq!(done.end.status, 0, "{shell}: {}", done.said);
        assert_eq!(done.end.tree["flow/out/more"], "file 644 \"more\\n\" []", "{shell}");
    }
}

/// A link to nothing that comes with an input, and a file on the way: as the plain task, or not a success.
#[test]
fn what_is_no_directory_on_the_way_is_never_a_success_that_the_plain_task_is_not() {
    for one in [
        task(&["d"], &["d/l/q"], &with_d("ln -s ../e d/l"), "mkdir -p d/l; echo new >d/l/q"),
        task(&["d"], &["d/l/q"], &with_d("ln -s ../e d/l"), "mkdir e; echo new >d/l/q"),
        task(&["d"], &["d/l/q"], &with_d("ln -s \"$PWD/e\" d/l"), "mkdir e; echo new >d/l/q"),
        task(&["d"], &["d/l/q"], &with_d("ln -s a d/l"), "mkdir -p d/l; echo new >d/l/q"),
        task(&[], &["a/x"], "echo 1 >a", "mkdir -p a; echo new >a/x"),
        task(&[], &["a/x"], "echo 1 >a", "rm -f a; mkdir a; echo new >a/x"),
    ] {
        for (user, shell) in runs(0) {
            let place = Place::new(user);
            let plain = place.run(&one, None);
            let boxed = place.run(&one, Some(shell));
            assert!(boxed.end == plain.end || boxed.end.status != 0, "{shell}, {user:?}: {one:?}: {:?}\n{:?}", boxed.end, plain.end);
        }
    }
}

/// What one sandbox cannot hold is refused before the task runs; what it does in spite of that is kept.
#[test]
fn links_that_a_sandbox_cannot_hold_are_refused() {
    let ran = "echo ran >\"$TOP/count/ran\"";
    let runs_not = |inputs: &[&'static str], outputs: &[&'static str], before: &str| task(inputs, outputs, before, ran);
    for (task, said, kept) in [
        (runs_not(&[], &["a", "b"], "ln -s ../precious a; ln -s ../precious b"), "the link b leads to the place of another link", 0),
        // The plain task finds a link to nothing, and makes its output behind it or not at all.
        (runs_not(&[], &["a/x"], "ln -s nowhere a"), "the link a on the way to an output does not lead to a directory", 0),
        (runs_not(&[], &["a/b/x"], "mkdir a; ln -s \"$PWD/nowhere\" a/b"), "the link a/b on the way to an output does not lead", 0),
        (runs_not(&[], &["a/x"], "ln -s ../precious/x a"), "the link a on the way to an output does not lead", 0),
        (runs_not(&[], &["a/x"], "ln -s a a"), "the link a on the way to an output does not lead", 0),
        (runs_not(&[], &["a/b/x"], "ln -s ../precious a; ln -s nowhere a/b"), "the link a/b on the way to an output does not lead", 0),
        (runs_not(&["ref"], &["a"], "ln -s ref a"), "the link a in the place of an output leads to ref", 0),
        (
            task(&[], &["a/x"], "ln -s ../precious a", "echo 1 >a/x; rm a; mkdir a; echo 2 >a/x"),
            "what the task wrote through the link a before it removed it",
            1,
        ),
        (task(&[], &["l/q"], "mkdir r; ln -s ../precious r/s", "mkdir -p r/s; ln -s r/s l; echo 1 >l/q"), "the link l on the way", 1),
    ] {
        for (user, shell) in runs(0) {
            let place = Place::new(user);
            let done = place.run(&task, Some(shell));
            assert_eq!((done.end.status, done.kept), (125, kept), "{shell}, {user:?}: {task:?}: {}", done.said);
            assert!(done.said.contains(said), "{shell}: {task:?}: {}", done.said);
            assert!(!done.end.tree.contains_key("count/ran"), "{shell}: {task:?}");
            assert_eq!(done.end.tree["precious/x"], "file 644 \"PRECIOUS\\n\" []", "{shell}: {task:?}");
        }
    }
}
