//! Submission chains whose jobs depend on what the shell does: what cannot be known stays as it is, and
//! what is replaced runs the same jobs. A stand-in for `sbatch` copies the job script at once, as Slurm
//! does, and runs the copies after the chain.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

mod common;
#[path = "common/queue.rs"]
mod queue;

use std::path::PathBuf;

use flowmine_transform::workflow::Workflow;
use queue::{Beside, Place, compare, transformed};

/// The jobs of these are transformed, all of them.
#[test]
fn what_the_shell_does_is_read_as_the_shell_does_it() {
    for chain in [
        "OUT=/data/run\nIFS=, read -r A B <<< \"x,y\"\necho rm \"$OUT/*\"\nsbatch job1.sh \"$A\" \"$B\"\n",
        "M=$((1<<10))\necho $M\nsbatch job1.sh $M\n",
        "(( M = 1 << 3 ))\nfor ((i=0; i < 1<<1; i++)); do\n  sbatch job1.sh $i $M\ndone\n",
        "echo $'it\\'s'\nsbatch job1.sh $'a\\'b'\n",
        "x='a}b'\necho ${x#\"a}\"} ${x%'}'*}\nsbatch job1.sh\n",
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
    for (chain, why) in [
        ("J=job1.sh\nprintf -v J job2.sh\nsbatch $J", unknown),
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
        ("sbatch there.sh", elsewhere),
        ("sbatch --chdir=$PWD job1.sh", elsewhere),
        ("sbatch -QD. job1.sh", elsewhere),
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

/// Whatever may change a job script, the directory, or what flowmine's own files are among, is refused
/// at its place.
#[test]
fn what_may_change_a_job_script_is_refused() {
    let mut wrong = Vec::new();
    for (chain, why) in [
        ("for i in 1 2; do ln -sfn d$i cur; sbatch cur/job1.sh $i; done", "v.sh:2:18: ln may change a job script"),
        ("rm -rf sub; cp -r d1 sub\nsbatch sub/job1.sh", "v.sh:2:1: what rm gets is, holds or leads to “sub/job1.sh”"),
        ("sbatch job1.sh\nmv d1 sub", "v.sh:3:1: mv may change"),
        ("sbatch job1.sh\nrm -f job*.sh", "v.sh:3:1: what rm gets may be a job script, because its name is a pattern"),
        ("sbatch job1.sh\nrm -f ./job1.sh", "v.sh:3:1: what rm gets is, holds or leads to “job1.sh”"),
        ("sbatch d1/job1.sh\nrm -rf d1", "v.sh:3:1: what rm gets is"),
        ("sbatch d1/job1.sh\nrm -rf d1/*.sh", "v.sh:3:1: what rm gets is"),
        ("sbatch d1/job1.sh\nrm -rf $1", "v.sh:3:1: what rm gets may be a job script"),
        ("find . -name 'job*' -delete\nsbatch job1.sh", "v.sh:2:1: find may change"),
        ("sed \"s/N/1/\" tmpl >job1.sh; sbatch job1.sh", "v.sh:2:20: what is written here is"),
        ("sed \"s/N/$1/\" tmpl >out.txt; sbatch job1.sh", "v.sh:2:1: the arguments of sed are known only when it runs"),
        ("G=gen.sh\necho x >$G\nsbatch $G", "v.sh:3:9: what is written here is"),
        ("echo x >$1.sh\nsbatch gen.sh", "v.sh:2:9: what is written here may be"),
        ("echo x >v.sh\nsbatch gen.sh", "v.sh:2:9: what is written here is"),
        ("sed -i s/a/b/ gen.sh\nsbatch gen.sh", "v.sh:2:1: sed may write files"),
        ("bash -c 'cp tmpl gen.sh'\nsbatch gen.sh", "v.sh:2:1: what “bash” does is not known"),
        ("python3 gen.py\nsbatch gen.sh", "v.sh:2:1: what “python3” does is not known"),
        (". ./moves.sh\nsbatch job1.sh", "v.sh:2:1: . can do anything"),
        ("eval \"cd sub\"\nsbatch job1.sh", "v.sh:2:1: eval can do anything"),
        ("go() { eval \"cd $1\"; }; go sub\nsbatch job1.sh", "v.sh:2:8: eval can do anything"),
        ("go sub\ngo() { echo; }\nsbatch job1.sh", "v.sh:2:1: the function go is defined behind its call"),
        ("false && go() { echo; }\ngo sub\nsbatch job1.sh", "v.sh:2:10: it is not certain that the function go"),
        ("CMD=cd; $CMD sub\nsbatch job1.sh", "v.sh:2:9: “$CMD” is known only when it runs"),
        ("CMD=(sbatch job1.sh)\n\"${CMD[@]}\" a b", "v.sh:3:1: “\"${CMD[@]}\"” is known only"),
        ("A=(sbatch job1.sh x); A+=(y z); \"${A[@]}\"", "v.sh:2:33: “\"${A[@]}\"” is known only"),
        ("sbatch job1.sh <(echo hi) x", "v.sh:2:16: the input or output of a command as a file"),
        ("sbatch() { echo \"$@\"; }\nsbatch job1.sh", "v.sh:2:1: a function is called sbatch here"),
        ("cd sub\nsbatch job1.sh", "v.sh:2:1: cd leaves the directory"),
        ("for d in sub; do pushd $d; sbatch job1.sh; popd; done", "v.sh:2:18: what “pushd” does is not known"),
        ("(cd sub && sbatch job1.sh)", "v.sh:2:12: cd in these brackets"),
        ("for f in *.sh; do sbatch job1.sh $f; done", "v.sh:2:10: the pattern “*.sh” can match"),
        ("P='*.sh'\nsbatch job1.sh $P", "v.sh:2:1: the pattern"),
        ("n=$(ls | wc -l)\nsbatch job1.sh $n", "v.sh:2:5: ls lists the directory"),
        ("n=$(ls sub/.. | wc -l)\nsbatch job1.sh $n", "v.sh:2:5: ls lists the directory"),
        ("n=$(grep -rl job . | wc -l)\nsbatch job1.sh $n", "v.sh:2:5: grep searches the directory"),
        ("grep -r job\nsbatch job1.sh", "v.sh:2:1: grep searches the directory"),
        ("grep --recur -e job sub \"$1\"\nsbatch job1.sh", "v.sh:2:1: grep searches the directory"),
        ("G=-rl\ngrep $G job .\nsbatch job1.sh", "v.sh:3:1: grep searches the directory"),
        ("grep $1 job .\nsbatch job1.sh", "v.sh:2:1: grep searches the directory"),
        ("P=$'*.sh'\nsbatch job1.sh $P", "v.sh:2:1: the pattern"),
        ("P=$'\\x2a.sh' Q=\"${F:-*.sh}\"\nsbatch job1.sh $Q", "v.sh:2:14: the pattern"),
        ("set -- '*.sh'\nsbatch job1.sh $1", "v.sh:2:1: the pattern"),
        ("read -r P <<<'*.sh'\nsbatch job1.sh $P", "v.sh:2:1: the pattern"),
        ("printf -v P '*.sh'\nsbatch job1.sh $P", "v.sh:2:1: the pattern"),
        ("f() { sbatch job1.sh $1; }\nf '*.sh'", "v.sh:3:1: the pattern"),
        ("sbatch job1.sh ${FILES:-*.sh}", "v.sh:2:16: the pattern"),
        ("for f in ${FILES-*.sh}; do sbatch job1.sh $f; done", "v.sh:2:10: the pattern"),
        ("PATH=.:$PATH\nsbatch job1.sh", "v.sh:2:1: PATH changes"),
        ("chmod 000 job1.sh\nsbatch job1.sh", "v.sh:2:1: chmod may make"),
        ("V=J\nprintf -v $V job2.sh\nsbatch job1.sh", "v.sh:3:1: which variable printf sets"),
        ("V=J\nread -r \"$V\" <<<job2.sh\nsbatch job1.sh", "v.sh:3:1: which variable read sets"),
        ("declare -n R=J\nR=job2.sh\nsbatch job1.sh", "v.sh:2:1: -n gives a variable a second name"),
        ("echo x >$PWD/job1.sh\nsbatch job1.sh", "v.sh:2:9: what is written here may be"),
        ("rm -rf \"x$1.d\"\nsbatch job1.sh >$1.txt; rm $1.sh", "v.sh:3:25: what rm gets may be"),
        ("f() { sbatch job1.sh; }\n(cd sub; f)", "v.sh:3:10: cd in these brackets"),
        ("env -C sub sbatch job1.sh", "v.sh:2:1: what “env” does is not known"),
        ("env \"$X\" sbatch job1.sh", "v.sh:2:1: what “env” does is not known"),
        ("./cat x\nsbatch job1.sh", "v.sh:2:1: what “./cat” does is not known"),
        ("/home/of/cat x\nsbatch job1.sh", "v.sh:2:1: what “/home/of/cat” does"),
        ("sbatch job1.sh 'a", "v.sh:2:16: the text in quotes has no end"),
    ] {
        let chain = format!("#!/bin/bash\n{chain}\n");
        match transformed(&Place::new(), &chain) {
            Err(refused) if refused.starts_with(why) => {}
            other => wrong.push(format!("{chain}{other:?}")),
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let refused = transformed(&Place::new(), "#!/bin/zsh\nsbatch job1.sh\n").unwrap_err();
    assert!(refused.starts_with("v.sh:1:1: the language of zsh"), "{refused}");
    let refused = transformed(&Place::new(), "#!/bin/sh\n[[ a > job1.sh ]]\nsbatch job1.sh\n").unwrap_err();
    assert!(refused.starts_with("v.sh:2:1: “[[” is not in the shell of POSIX"), "{refused}");
}

/// A name that leads to a job script, by a link or as its second name.
#[test]
fn other_names_of_a_job_script_are_found() {
    for make in ["ln -s job1.sh log", "ln job1.sh log", "ln -s . log", "mkdir x; mv job1.sh x; ln -s x/job1.sh job1.sh; ln -s x log"] {
        let place = Place::new();
        let made = std::process::Command::new("sh").args(["-c", make]).current_dir(place.flow()).status();
        assert!(made.unwrap().success());
        for chain in ["sbatch job1.sh >log", "sbatch job1.sh; rm -r log/"] {
            let refused = transformed(&place, &format!("#!/bin/bash\n{chain}\n")).unwrap_err();
            assert!(refused.contains("is, holds or leads to “job1.sh”"), "{make}: {refused}");
        }
    }
    // A name that is known only when the chain runs.
    for make in ["ln job1.sh out.txt", "mv job1.sh out.txt; ln -s out.txt job1.sh"] {
        let place = Place::new();
        let made = std::process::Command::new("sh").args(["-c", make]).current_dir(place.flow()).status();
        assert!(made.unwrap().success());
        let refused = transformed(&place, "#!/bin/bash\nn=$1\necho x >$n.txt; sbatch job1.sh\n").unwrap_err();
        assert!(refused.starts_with("v.sh:3:9: what is written here may be “job1.sh”, which is a link"), "{make}: {refused}");
        assert!(transformed(&place, "#!/bin/bash\nn=$1\necho x >$n.txt; sbatch job2.sh\n").is_ok(), "{make}");
    }
}

/// Each call that stays as it is has a note, also on the line of another.
#[test]
fn calls_by_a_variable_have_a_note() {
    let chain = "#!/bin/bash\nS=sbatch; sbatch job1.sh; $S job2.sh; echo sbatch # sbatch\n";
    let (plain, place) = (Place::new(), Place::new());
    plain.put("flow/v.sh", chain);
    let (new, notes, tasks) = transformed(&place, chain).unwrap();
    let expected = [
        "2:27: this sbatch stays as it is: its name is in a variable, write it out",
        "2:3: this sbatch is no command here, and stays as it is",
    ];
    assert_eq!((tasks, notes), (1, expected.map(str::to_owned).to_vec()));
    place.put("flow/v.sh", &new);
    assert_eq!(place.run("v.sh"), plain.run("v.sh"));
}

/// What writes and removes in a way that is certain stays possible, and words are the shell's.
#[test]
fn what_is_certain_to_leave_job_scripts_alone_is_done() {
    for chain in [
        "mkdir -p logs results/$1; touch logs/a; rm -rf results logs/*.out; sbatch job1.sh",
        "sbatch job1.sh IN=~/data x=~ ~ a:~",
        "log() { echo \"$@\" | tee -a log.txt; }\nlog start; for i in {1..3}; do id=$(sbatch job1.sh $i | awk '{print $4}'); log $id; done",
        "for f in sub/* d1/*.sh; do sbatch job1.sh $f; done",
        "n=$(grep -c echo job1.sh; grep -rl echo sub d1); sbatch job1.sh $n",
        // Patterns that nothing in the script tells: names of the layers' files are hidden.
        "read -r P Q <patterns; sbatch job1.sh $P $Q $(cat patterns); for f in $P; do echo $f; done",
        "set -euo pipefail\nS=\"sbatch -Q\"\n$S job2.sh\nx=$(sbatch job1.sh | sed 's/.* //'); echo ${x##* } >ids_$x.txt; cat ids_$x.txt",
    ] {
        let (plain, new) = compare(&format!("#!/bin/bash\n{chain}\n")).unwrap();
        assert!(plain.contains("job1.sh"), "{chain}: {plain}");
        assert_eq!(new, plain, "{chain}");
    }
}

/// Chains of random commands: each is refused, or does what it does plain. There is no third thing.
#[test]
fn random_chains_are_refused_or_do_the_same() {
    const COMMANDS: [&str; 44] = [
        "sbatch job1.sh $i",
        "sbatch job2.sh \"a b\" ~ c=~",
        "id=$(sbatch --parsable job1.sh | awk '{print $4}'); echo $id",
        "sbatch -d afterok:$id job2.sh \"$id\"",
        "J=job2.sh; sbatch $J",
        "sbatch ./sub/job1.sh",
        "sbatch cur/job1.sh",
        "sbatch gen.sh $(date +%Y)",
        "sbatch --wrap='echo w >>\"$RESULTS\"'",
        "echo \"$i\" >log.txt; cat log.txt",
        "mkdir -p logs; echo x >>logs/a.txt",
        "rm -rf logs",
        "if [ -f job1.sh ]; then echo there; else echo gone; fi",
        "case $i in 1) echo one ;; *) echo other ;; esac",
        "X=(1 \"2 3\"); sbatch job1.sh \"${X[@]}\"",
        "f() { sbatch job1.sh \"$@\"; }; f x \"y z\"",
        "cat <<E\n$(echo $((1 + 2)))\nE",
        "[[ a < b ]] && echo less",
        "while read -r l; do sbatch job2.sh $l; done <data.txt",
        "(sbatch job1.sh q; exit 0)",
        "sbatch job1.sh | tail -n 1 | cut -d' ' -f4",
        "printf '%s\\n' {a,b}$i; sbatch job1.sh {a,b}$i",
        "sbatch job1.sh `echo 1 2`",
        "set -e; false || true",
        "ls sub | wc -l",
        "ln -sfn d1 cur",
        "ln -sfn d2 cur",
        "cp tmpl gen.sh",
        "cp d1/* .",
        "mv job1.sh old.sh",
        "rm -f job2.sh",
        "sed -i s/echo/printf/ gen.sh",
        "sed s/N/$i/ tmpl >gen.sh; chmod +x gen.sh",
        "cd sub",
        "cd .",
        "pushd d1 >/dev/null",
        ". ./moves.sh",
        "eval 'cd sub'",
        "C=cd; $C sub",
        "sbatch *.sh",
        "for f in *; do sbatch job1.sh $f; done",
        "echo '#!/bin/sh' | tee job1.sh",
        "sbatch() { echo no; }",
        "exec sbatch job1.sh",
    ];
    let (mut state, mut done, mut refused) = (0x9e37_79b9_7f4a_7c15_u64, 0, 0);
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..CHAINS {
        // Some of what is refused, mostly of the rest.
        let mut one = || if random(12) == 0 { COMMANDS[random(COMMANDS.len())] } else { COMMANDS[random(25)] };
        let mut lines: Vec<String> = (0..4).map(|_| one().to_owned()).collect();
        lines.push("sbatch job1.sh last".to_owned());
        let wrapped = lines[1].clone();
        match random(4) {
            0 => lines[1] = format!("for i in 1 2; do\n{wrapped}\ndone"),
            1 => lines[1] = format!("if true; then\n{wrapped}\nfi"),
            2 => lines[1] = format!("{{\n{wrapped}\n}} >out.txt; cat out.txt"),
            _ => {}
        }
        let chain = format!("#!/bin/bash\ni=0\n{}\n", lines.join("\n"));
        match compare(&chain) {
            Ok((plain, new)) => {
                assert_eq!(new, plain, "{chain}");
                done += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(done > CHAINS / 4 && refused > CHAINS / 8, "{done} done, {refused} refused");
}

/// The number of random chains.
const CHAINS: usize = 40;

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

/// Without `#!` each line is a task: lines that belong together are refused.
#[test]
fn lines_that_are_a_script_are_refused() {
    let (place, mut wrong) = (Place::new(), Vec::new());
    for (text, why) in [
        ("OUT=/data/run\necho rm -rf $OUT/*\n", "v.sh:1:1: the variable is for the lines behind it"),
        ("x=1; echo $x\necho a ${x}\n", "v.sh:2:8: the variable x is set on a line before"),
        ("for i in 1 2; do echo $i; done\necho $i\n", "v.sh:2:6: the variable i is set on a line before"),
        ("a=$(sbatch --parsable job1.sh)\nsbatch -d afterok:$a job2.sh $a\n", "v.sh:1:5: “sbatch” is for the lines behind it"),
        ("echo a\nsbatch job1.sh\n", "v.sh:2:1: “sbatch” is for"),
        ("echo a\ncd sub\npwd\n", "v.sh:2:1: “cd” is for"),
        ("mkdir -p d && cd d\npwd\n", "v.sh:1:15: “cd” is for"),
        ("export A=1\npwd\n", "v.sh:1:1: “export” is for"),
        ("set -e\nfalse\npwd\n", "v.sh:1:1: “set” is for"),
        ("false || exit 1\npwd\n", "v.sh:1:10: “exit” is for"),
        ("if true\nthen pwd\nfi\n", "v.sh:1:3: what begins here has no end"),
        ("fi\n", "v.sh:1:1: “fi” belongs to the lines before"),
        ("echo 'a\nb'\n", "v.sh:1:6: the text in quotes has no end"),
        ("f() { pwd; }\nf\n", "v.sh:1:1: the function f is for"),
        ("true &&\npwd\n", "v.sh:1:8: the command has no end"),
        ("cat <<E\nx\nE\n", "v.sh:1:7: the here-document has no end"),
        ("echo a \\\n  b\n", "v.sh:1:8: "),
    ] {
        match transformed(&place, text) {
            Err(refused) if refused.starts_with(why) && refused.contains("begins with #!/bin/bash") => {}
            other => wrong.push(format!("{text}{other:?}")),
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let lines = "(cd sub && pwd)\nA=1 env\nx=1; echo $x\nfor j in 1; do echo $j; done\ndiff <(echo) <(echo) >/dev/null\necho $HOME \"a\"\n";
    assert_eq!(transformed(&place, lines).unwrap().2, 6);
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

/// A name without quotes is several names where its value has blanks. What is certain, or in quotes, is not.
#[test]
fn names_that_the_shell_takes_apart_are_refused() {
    let mut wrong = Vec::new();
    for (chain, at) in [
        ("for x in \"d1 a\"; do sbatch d1/job.sh; rm -rf $x.txt; done", "v.sh:2:46: “$x.txt”"),
        ("x=\"job1.sh a\"\nsbatch job1.sh\nrm -f $x.txt", "v.sh:4:7: “$x.txt”"),
        ("x=$(cat name)\necho a | tee -a ${x}.log\nsbatch job1.sh", "v.sh:3:17: “${x}.log”"),
        ("rm -f $(cat name).log\nsbatch job1.sh", "v.sh:2:7: “$(cat name).log”"),
        ("rm -f `cat name`.log\nsbatch job1.sh", "v.sh:2:7: “`cat name`.log”"),
        ("rm -f \"$@.txt\"\nsbatch job1.sh", "v.sh:2:7: “\"$@.txt\"”"),
        ("A=(job1.sh b)\nrm -f \"${A[@]}.txt\"\nsbatch job1.sh", "v.sh:3:7: “\"${A[@]}.txt\"”"),
        ("x='A[@]'\nrm -f \"${!x}.txt\"\nsbatch job1.sh", "v.sh:3:7: “\"${!x}.txt\"”"),
        ("rm -f logs/*$1.out\nsbatch job1.sh", "v.sh:2:7: “logs/*$1.out”"),
        ("n=3\nn=$1\nrm -f out_$n.txt\nsbatch job1.sh", "v.sh:4:7: “out_$n.txt”"),
        ("IFS=_\nfor i in 1 2; do rm -f job1.sh_$i.txt; done\nsbatch job1.sh", "v.sh:3:24: “job1.sh_$i.txt”"),
        ("rm -f out_$i.txt\nfor i in 1 2; do sbatch job1.sh; done", "v.sh:2:7: “out_$i.txt”"),
    ] {
        let chain = format!("#!/bin/bash\n{chain}\n");
        match transformed(&with_job(), &chain) {
            Err(refused) if refused.starts_with(at) && refused.contains("write double quotes around it") => {}
            other => wrong.push(format!("{chain}{other:?}")),
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    // What a pattern matches behind a variable with a slash is anywhere.
    let refused = transformed(&Place::new(), "#!/bin/bash\nrm -f logs/*\"$1\"\nsbatch job1.sh\n").unwrap_err();
    assert!(refused.contains("its name is a pattern"), "{refused}");
    for chain in [
        "x=a; rm -f $x.txt; sbatch job1.sh",
        "for i in 1 2; do echo $i | tee out_$i.txt; rm -f out_$i.txt; sbatch job1.sh $i; done",
        "for i in $(seq 1 3); do rm -f out_$i.txt; sbatch job1.sh; done",
        "for i in {1..3}; do rm -f \"out_$i.txt\" {a,b}.txt; sbatch job1.sh; done",
        "rm -f \"$1.txt\" $$.txt $((1 + 2)).log; sbatch job1.sh",
        "echo x >\"$1.txt\"; IFS=, read -r a b <data.txt; n=5; rm -f $n.txt; sbatch job1.sh \"$a\"",
    ] {
        let (plain, new) = compare(&format!("#!/bin/bash\n{chain}\n")).unwrap();
        assert!(plain.contains("job1.sh"), "{chain}: {plain}");
        assert_eq!(new, plain, "{chain}");
    }
}

fn with_job() -> Place {
    let place = Place::new();
    place.put("flow/d1/job.sh", "#!/bin/sh\necho job\n");
    place
}

/// An option without quotes can be several words, or none: the call stays as it is, and does what it did.
#[test]
fn options_that_the_shell_takes_apart_stay_with_a_warning() {
    for chain in [
        "for M in \"1 job2.sh\"; do sbatch -t$M job1.sh a; done",
        "for M in \"1 job2.sh\"; do sbatch -t $M job1.sh a; done",
        "M=\"1 job2.sh\"\nsbatch --time=$M job1.sh a",
        "M=\"1 job2.sh\"\nsbatch --time=`echo $M` job1.sh a",
        "M=\"nm job2.sh\"\nsbatch -J $M job1.sh a",
        "M=\"10 --chdir=d1\"\nsbatch -t$M job1.sh a",
        "M=\nsbatch -J $M job1.sh job2.sh",
        "Q=$(echo \"5 job2.sh\")\nN=\"--mem=$Q\"\nsbatch $N job1.sh a",
        "sbatch --array=1-$1 job1.sh",
        "sbatch -J {a,job2.sh} job1.sh",
        "if [ -z \"$MEM\" ]; then MEM=4G; fi\nsbatch --mem=$MEM job1.sh",
        "f() { local M=$1; sbatch --mem=$M job1.sh; }\nf \"4G job2.sh\"",
        "id=$(sbatch job2.sh)\nsbatch -d afterok:$id job1.sh",
        "N=$(wc -l <nothing)\nsbatch -a $N job1.sh job2.sh",
        "for f in sub/*; do sbatch --job-name=$f job1.sh; done",
        "while read -r n; do sbatch --job-name=$n job1.sh; done <data.txt",
        "A=(\"a job2.sh\")\nfor a in \"${A[@]}\"; do sbatch --job-name=$a job1.sh; done",
    ] {
        let chain = format!("#!/bin/bash\nsbatch --wrap='echo wrapped >>\"$RESULTS\"'\n{chain}\n");
        let (plain, place) = (Place::new(), Place::new());
        plain.put("flow/v.sh", &chain);
        let (new, notes, _) = transformed(&place, &chain).unwrap();
        let split: Vec<&String> = notes.iter().filter(|note| note.contains("this sbatch stays as it is: its option “")).collect();
        assert_eq!(split.len(), 1, "{chain}{notes:?}");
        assert!(split[0].contains("write double quotes around it"), "{chain}{notes:?}");
        place.put("flow/v.sh", &new);
        assert_eq!(place.run("v.sh"), plain.run("v.sh"), "{chain}");
    }
    let refused = transformed(&Place::new(), "#!/bin/bash\nenv A=$1 sbatch job1.sh\n").unwrap_err();
    assert!(refused.starts_with("v.sh:2:1: “A=$1” comes before sbatch"), "{refused}");
}

/// A short option whose value is behind it without a blank takes the next word where the value is empty.
#[test]
fn short_options_that_may_have_no_value_stay_with_a_warning() {
    for chain in [
        "M=\"\"\nsbatch -J$M job1.sh job2.sh",
        "M=''\nsbatch -J\"$M\" job1.sh job2.sh",
        "M=\nsbatch -J\"$M\" job1.sh job2.sh",
        "sbatch -J\"$1\" job1.sh job2.sh",
        "sbatch -J\"$NOT_SET\" job1.sh job2.sh",
        "sbatch -J\"${1:-}\" job1.sh job2.sh",
        "M=a\nM=\nsbatch -J\"$M\" job1.sh job2.sh",
        "x=$y\nsbatch -J\"$x\" job1.sh job2.sh",
    ] {
        let chain = format!("#!/bin/bash\nsbatch --wrap='echo wrapped >>\"$RESULTS\"'\n{chain}\n");
        let (_, notes, tasks) = transformed(&Place::new(), &chain).unwrap();
        assert_eq!((notes.len(), tasks), (1, 1), "{chain}{notes:?}");
        assert!(notes[0].contains("takes the next word where its value is empty"), "{chain}{notes:?}");
    }
    for chain in [
        "M=a\nsbatch -J$M job1.sh",
        "M=a\nsbatch -J\"$M\" job1.sh",
        "sbatch -J\"x$1\" job1.sh",
        "sbatch -t$((1 + 1)) job1.sh",
        "M=\nsbatch -J \"$M\" job1.sh",
        "M=\nsbatch --job-name=\"$M\" job1.sh",
        "for m in a b; do sbatch -J$m job1.sh; done",
    ] {
        let (_, notes, tasks) = transformed(&Place::new(), &format!("#!/bin/bash\n{chain}\n")).unwrap();
        assert_eq!((notes, tasks), (Vec::new(), 1), "{chain}");
    }
}

/// A link to the directory itself, or to one around it, shows what is in it.
#[test]
fn links_to_the_directory_are_the_directory() {
    for chain in [
        "for f in lnk/*; do sbatch $f; done",
        "for f in $(ls lnk); do sbatch $f; done",
        "for f in sub/up/*.sh; do sbatch $f; done",
        "for f in out/flow/*; do echo $f; done",
        "n=$(ls out | wc -l)",
        "grep -r x lnk >list",
    ] {
        let place = Place::new();
        for (to, name) in [(".", "lnk"), ("..", "sub/up"), ("..", "out")] {
            std::os::unix::fs::symlink(to, place.flow().join(name)).unwrap();
        }
        let refused = transformed(&place, &format!("#!/bin/bash\n{chain}\nsbatch job1.sh\n")).unwrap_err();
        assert!(refused.starts_with("v.sh:2:") && refused.contains("the scripts of the layers are"), "{chain}: {refused}");
    }
    let place = Place::new();
    std::os::unix::fs::symlink("sub", place.flow().join("lnk")).unwrap();
    let (_, notes, tasks) = transformed(&place, "#!/bin/bash\nfor f in lnk/*; do echo $f; done\nsbatch job1.sh\n").unwrap();
    assert_eq!((notes, tasks), (Vec::new(), 1));
}

/// What people write with values that are certain to be one word has no note.
#[test]
fn options_that_are_one_word_are_transformed() {
    for chain in [
        "MEM=4G\nsbatch --mem=$MEM -t $MEM job1.sh",
        "export MEM=4G T=10\nexport T\necho \"MEM $MEM, T $T\"\nsbatch --mem=$MEM -t$T job1.sh",
        "MEM=4G\nif [ -n \"$BIG\" ]; then MEM=64G; fi\nsbatch --mem=$MEM job1.sh",
        "for s in a b \"c\"; do sbatch -J $s --output=log_$s.txt job1.sh $s; done",
        "for i in $(seq 1 3) {4..5}; do sbatch --job-name=run_$i job1.sh $i; done",
        "L=\"a b\"\nfor s in $L; do n=x_$s; sbatch -J $n job1.sh; done",
        "A=(a b)\nfor s in \"${A[@]}\"; do sbatch --job-name=$s job1.sh; done",
        "id=$(sbatch --parsable job2.sh)\nsbatch --dependency=afterok:$id job1.sh\necho \"id $id\"",
        "for i in 1 2; do id=$(sbatch job2.sh $i | awk '{print $4}'); sbatch -d afterok:$id job1.sh $i; done",
        "a=$(sbatch job2.sh | cut -d' ' -f4)\nb=$(sbatch job2.sh | cut -d ' ' -f 4)\nD=afterok:$a:$b\nsbatch -d $D job1.sh",
        "out=$(sbatch job2.sh)\nid=${out##* }\nsbatch --dependency=afterok:$id job1.sh\nsbatch -d afterok:${out##* } job1.sh",
        "N=$(wc -l <data.txt)\nsbatch --array=1-$N job1.sh\nsbatch --array=1-$((N * 2)) job1.sh",
        "sbatch --array=1-$# --job-name=r_$(date +%Y%m%d) job1.sh",
        "sbatch --mem=\"$1\" -J \"$2\" --time=\"${3:-10}\" job1.sh",
        "D=\nif [ -n \"$1\" ]; then D=\"--qos=low\"; fi\nsbatch $D job1.sh",
        "f() { local M=4G; sbatch --mem=$M job1.sh; }\nf",
        "first=$(sbatch --parsable job2.sh)\nids=\nfor n in 0 1; do id=$(sbatch --parsable -d afterok:$first job1.sh $n); ids=$ids:$id; done\nsbatch -d afterok$ids job2.sh",
    ] {
        let chain = format!("#!/bin/bash\n{chain}\n");
        let place = Place::new();
        let (new, notes, tasks) = transformed(&place, &chain).unwrap();
        assert_eq!((notes, tasks), (Vec::new(), chain.matches("sbatch").count()), "{chain}");
        let plain = Place::new();
        plain.put("flow/v.sh", &chain);
        place.put("flow/v.sh", &new);
        assert_eq!(place.run("v.sh"), plain.run("v.sh"), "{chain}");
    }
}

/// What shows hidden names or other letters, and commands in subscripts.
#[test]
fn what_shows_hidden_names_or_runs_subscripts_is_refused() {
    let mut wrong = Vec::new();
    for (chain, why) in [
        ("shopt -s dotglob", "v.sh:2:1: this use of shopt"),
        ("shopt -s nocaseglob", "v.sh:2:1: this use of shopt"),
        ("GLOBIGNORE=x", "v.sh:2:1: GLOBIGNORE changes"),
        ("export GLOBIGNORE=x", "v.sh:2:1: GLOBIGNORE changes"),
        ("find . -name '*.sh'", "v.sh:2:1: find may change"),
        ("compgen -G '*'", "v.sh:2:1: what “compgen” does is not known"),
        ("n=$(ls -a | wc -l)", "v.sh:2:5: the option -a of ls"),
        ("n=$(ls -1A . | wc -l)", "v.sh:2:5: the option -1A of ls"),
        ("ls -f .", "v.sh:2:1: the option -f of ls"),
        ("ls --all .", "v.sh:2:1: the option --all of ls"),
        ("ls -I a.txt", "v.sh:2:1: the option -I of ls"),
        ("ls --hide a.txt", "v.sh:2:1: the option --hide of ls"),
        ("ls -w 80", "v.sh:2:1: the option -w of ls"),
        ("ls -T 4", "v.sh:2:1: the option -T of ls"),
        ("ls --sort time", "v.sh:2:1: the option --sort of ls"),
        ("ls d1/..", "v.sh:2:1: ls lists the directory"),
        ("ls sub/$1*", "v.sh:2:1: ls lists the directory"),
        ("printf -v 'a[$(echo 1 >job1.sh)0]' x", "v.sh:2:1: printf -v is understood with the name"),
        ("printf -v 'a[0]' x", "v.sh:2:1: printf -v is understood with the name"),
        ("read -r 'a[$(echo 1 >job1.sh)0]' <data.txt", "v.sh:2:1: a subscript with commands"),
        ("test -v 'a[$(echo 1 >job1.sh)0]'", "v.sh:2:1: a subscript with commands"),
        ("x='a[`echo 1 >job1.sh`0]'; echo $((x))", "v.sh:2:1: a subscript with commands"),
        ("x='a[$(echo 1 >job1.sh)0]'; [[ $x -eq 1 ]]", "v.sh:2:1: a subscript with commands"),
        ("[[ -v 'a[$(echo 1 >job1.sh)0]' ]]", "v.sh:2:7: a subscript with commands"),
        ("for x in 'a[$(echo 1 >job1.sh)0]'; do echo $((x)); done", "v.sh:2:10: a subscript with commands"),
    ] {
        match transformed(&Place::new(), &format!("#!/bin/bash\n{chain}\nsbatch job1.sh\n")) {
            Err(refused) if refused.starts_with(why) => {}
            other => wrong.push(format!("{chain}: {other:?}")),
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    let (plain, new) = compare("#!/bin/bash\nls -l1d --color=never sub >list; n=$(ls -1 sub | wc -l); sbatch job1.sh $n\n").unwrap();
    assert_eq!(new, plain);
}

/// The new script is a file of the directory: a name that the chain builds when it runs must not be its.
#[test]
fn names_that_are_built_at_run_time_are_not_that_of_the_new_script() {
    let mut wrong = Vec::new();
    let place = Place::new();
    place.put("flow/job9.sh", "#!/bin/sh\ntrue\n");
    for (chain, at) in [
        ("for i in 8 9; do sbatch job$i.sh; done", "v.sh:2:25"),
        ("sbatch job{8,9}.sh", "v.sh:2:8"),
        ("for j in job{8,9}.sh; do sbatch $j; done", "v.sh:2:10"),
        ("sbatch ./job${1}.sh", "v.sh:2:8"),
        ("sbatch \"job$(date +%d).sh\"", "v.sh:2:8"),
        ("sbatch job$((8 + 1)).sh", "v.sh:2:8"),
        ("J=job$1.sh\nsbatch $J", "v.sh:2:1"),
        ("f() { sbatch $1; }\nf job$2.sh", "v.sh:3:3"),
        ("J=(job$1.sh)\nsbatch ${J[0]}", "v.sh:2:"),
        ("J=$(printf 'job%d.sh\\n' 9)\nsbatch $J", "v.sh:2:12"),
        ("for j in $(echo \"job8.sh job9.sh\"); do sbatch $j; done", "v.sh:2:17"),
        ("if [ -f \"job$1.sh\" ]; then echo; fi", "v.sh:2:9"),
        ("cat <job$1.sh", "v.sh:2:6"),
        ("x=job; y=9.sh\nsbatch $x$y", "v.sh:3:8"),
        ("x=job\nfor i in 8 9; do sbatch \"${x}${i}\".sh; done", "v.sh:3:25"),
        ("x=job; read -r y <data.txt\nsbatch $x$y", "v.sh:3:8"),
        ("a=job; x=$a\nfor y in 8.sh 9.sh; do z=$x$y; sbatch $z; done", "v.sh:3:24"),
        ("x=./job; y=9.sh\nsbatch $x$y", "v.sh:3:8"),
        ("for f in {sub/,}*.sh; do echo $f; done", "v.sh:2:10"),
    ] {
        let chain = format!("#!/bin/bash\n{chain}\nsbatch job1.sh\n");
        let flow = Workflow::read("v.sh", chain.as_bytes(), &Beside(place.flow()));
        match flow.and_then(|flow| flow.refuse_mentioned("job9.sh")).map_err(|error| error.to_string()) {
            Err(refused) if refused.starts_with(at) => {}
            other => wrong.push(format!("{chain}{other:?}")),
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    for chain in [
        "for i in 8 9; do sbatch job$i.sh; done",
        "x=job; y=9.sh; echo $x$y $x/$y \"$1$2\"",
        "x=out; y=$(date +%s); mkdir -p \"$x$y\"; echo \"$x$y: $1\" done",
        "for f in {sub,d1}/*.txt data_$1/$2; do echo $f; done",
    ] {
        let chain = format!("#!/bin/bash\n{chain}\nsbatch job1.sh\n");
        let flow = Workflow::read("v.sh", chain.as_bytes(), &Beside(place.flow())).unwrap();
        assert!(flow.refuse_mentioned("all.retry").is_ok(), "{chain}");
    }
}

/// A call that stays as it is may submit the file that the new script would replace.
#[test]
fn a_script_that_may_be_submitted_is_not_replaced() {
    let read = |chain: &str| Workflow::read("v.sh", chain.as_bytes(), &Beside(Place::new().flow())).unwrap();
    let unknown = read("#!/bin/bash\nsbatch job1.sh\nsbatch \"$1\"\n");
    let refused = unknown.refuse_replaced("job9.sh", "#!/bin/sh\necho 9\n").unwrap_err().to_string();
    assert!(refused.starts_with("v.sh:3:1: “job9.sh” exists, and this sbatch may submit it"), "{refused}");
    let known = read("#!/bin/bash\nsbatch job1.sh\n");
    assert!(known.refuse_replaced("job9.sh", "#!/bin/sh\necho 9\n").is_ok());
    let (new, _, _) = transformed(&Place::new(), "#!/bin/bash\nsbatch job1.sh\nsbatch \"$1\"\n").unwrap();
    assert!(unknown.refuse_replaced("new.sh", &new).is_ok(), "{new}");
}

/// Which word is the job script depends on the options before it.
#[test]
fn options_are_read_as_sbatch_reads_them() {
    for (options, tasks) in [
        ("--oom-kill-step job1.sh job2.sh", 2),
        ("--oom job1.sh", 2),
        ("-k job1.sh job2.sh", 2),
        ("--no-kill --resv-ports --propagate --nice job1.sh", 2),
        ("-kD/x job1.sh", 2),
        ("--segment 2 --context a --tasks-per-node 1 job1.sh job2.sh", 2),
        ("-- job1.sh -D sub", 2),
        ("--of-a-plugin=x job1.sh", 2),
        ("--of-a-plugin job1.sh job2.sh", 1),
        ("--wai job1.sh", 1),
        ("-QI job1.sh", 1),
    ] {
        let chain = format!("#!/bin/bash\nsbatch --wrap=true\nsbatch {options}\n");
        let (new, notes, found) = transformed(&Place::new(), &chain).unwrap();
        assert_eq!((found, notes.len()), (tasks, 2 - tasks), "{chain}{notes:?}");
        assert_eq!(new.lines().last().unwrap().contains("job1.sh"), tasks == 1, "{new}");
    }
}

/// With layers a job reads its script when it runs: what it writes first must be another file.
#[test]
fn the_output_of_a_job_is_no_job_script() {
    for (chain, at) in [
        ("sbatch -o job1.sh job1.sh", "v.sh:2:11"),
        ("sbatch --err=./job1.sh job1.sh", "v.sh:2:8"),
        ("sbatch --output=job%a.sh -a 1-2 job1.sh", "v.sh:2:8"),
        ("for i in 1 2; do sbatch -o job$i.sh job2.sh; sbatch job1.sh; done", "v.sh:2:28"),
        ("sbatch out.sh", "v.sh:2:1"),
    ] {
        let place = Place::new();
        place.put("flow/out.sh", "#!/bin/sh\n#SBATCH -o out.sh\ntrue\n");
        let refused = transformed(&place, &format!("#!/bin/bash\n{chain}\n")).unwrap_err();
        assert!(refused.starts_with(at) && refused.contains("the output of the job goes to"), "{chain}: {refused}");
    }
    for chain in ["sbatch -o log_%j.txt -e /dev/null job1.sh", "sbatch -o \"$1\" job1.sh", "sbatch --output=sub/%x.sh.out job1.sh"] {
        assert_eq!(transformed(&Place::new(), &format!("#!/bin/bash\n{chain}\n")).unwrap().2, 1, "{chain}");
    }
}
