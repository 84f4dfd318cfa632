//! Makeflow's own language: against Makeflow's own reader (`makeflow_viz -D json`), run by the real
//! Makeflow, and what is refused with its place.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "../../../tests/support/makeflow.rs"]
mod makeflow;
#[path = "../../../tests/support/require.rs"]
mod require;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use flowmine_transform::algebra::{Collisions, Composition, NoContents};
use flowmine_transform::workflow::{NoFiles, Plan, Workflow};
use makeflow::makeflow_is_there;
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(text: &str) -> Workflow {
    Workflow::read("flow.makeflow", text.as_bytes(), &NoFiles).unwrap()
}

fn fault(text: &str) -> String {
    Workflow::read("flow.makeflow", text.as_bytes(), &NoFiles).err().unwrap().to_string()
}

fn retry() -> Composition {
    Composition::read("retry", flowmine_transform::builtin::text("retry").unwrap(), None, &[]).unwrap()
}

/// The plan in which the rule that makes `selected` has a layer, or all rules have one.
fn plan(text: &str, selected: &[&str]) -> Plan {
    let selected: Vec<String> = selected.iter().map(|name| (*name).to_owned()).collect();
    read(text).transform(&retry(), &selected, Collisions::Refuse, &NoContents).unwrap()
}

/// All rules as they are in Makeflow's JSON; a last one is there to be transformed in their place.
fn ours(text: &str) -> Vec<Value> {
    let plan = plan(&format!("{text}\nthe_last_rule:\n\ttrue\n"), &["the_last_rule"]);
    let flow: Value = serde_json::from_str(&plan.workflow).unwrap();
    let rules = flow["rules"].as_array().unwrap();
    rules[..rules.len() - 1].to_vec()
}

const FLOWS: [&str; 9] = [
    "a b: c\n\tcat c >a; cp a b\n\nd : a\tb \n\tLOCAL  cat   a b>d\n",
    // As the public examples have them: comments, rules that begin with a blank, many outputs, globs.
    "#This is the last\n#\ntop.txt : x.0.txt x.1.txt count.pl\n\tperl count.pl\n\n#about\nx.0.txt x.1.txt : q\n   split.py q --n=2 -o x:y\nq:\n\tLOCAL curl -s -o q http://a/b\n",
    "A=1\nB = two  words\nCURL=/usr/bin/curl\nC+=x\nC+=y\nL=f1 f2.$A\n\nout.$A other-${A}: in.txt $L $(C)z\n\techo \"$A $(A) \\$HOME #x \\\"q\\\" a\\\\nb\" $B '$A \\n' \\$HOME a\\#b >out.1 && cp in.txt other-1 # gone\n",
    "CATEGORY=count\nCORES=2\nMEMORY=100\nDISK=10\na:\n\ttouch a\n.MAKEFLOW CATEGORY sum\n.MAKEFLOW CORES 4 # four\nb: a\n\tcp a b\n",
    "a: b\n@BATCH_OPTIONS=-p debug\n@CORES=3\n@CATEGORY=own\n\ttouch a \\\n  && true\nb->inner.b: c d->e\n\ttouch inner.b\n",
    "X=\"with 'quotes' and  blanks\"\nY='$X \"'\nZ=a\\tb\\\\c$X\n\na:\n\techo $X $Y \"$Z\" \"$Y\" >a\n",
    "V=ls\nV=$V -l\nM=LOCAL\na:\n\t$M $V  >a\nBATCH_LOCAL=1\nb: a\n\tcat a >b\n",
    "EMPTY=\na: \n\n\t\n\techo$EMPTY\t\tx >a 2>&1 </dev/null; awk '{print $1 \"a\" #}' a\n",
    "a\\ b c\\:d: in\\#1\n\ttouch 'a b' \"c:d\"\n",
];

#[test]
fn makeflows_own_reader_says_the_same() {
    if !makeflow_is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for text in FLOWS {
        let file = dir.path().join("flow.makeflow");
        std::fs::write(&file, text).unwrap();
        let out = Command::new("makeflow_viz").args(["-D", "json"]).arg(&file).output().unwrap();
        assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
        // It writes a backslash before single quotes, which JSON does not know.
        let theirs: Value = serde_json::from_str(&String::from_utf8(out.stdout).unwrap().replace("\\'", "'")).unwrap();
        let ours = ours(text);
        assert_eq!(ours.len(), theirs["rules"].as_array().unwrap().len(), "{text}");
        for (ours, rule) in ours.iter().zip(theirs["rules"].as_array().unwrap()) {
            assert_eq!(ours["command"], rule["command"], "{text}");
            // It gives the two names of a renamed file the wrong way round.
            let names = |list: &Value| -> Vec<BTreeSet<String>> {
                let one = |file: &Value| match file.as_object() {
                    Some(names) => names.values().map(|name| name.as_str().unwrap().to_owned()).collect(),
                    None => BTreeSet::from([file.as_str().unwrap().to_owned()]),
                };
                list.as_array().map(|list| list.iter().map(one).collect()).unwrap_or_default()
            };
            assert_eq!(names(&ours["inputs"]), names(&rule["inputs"]), "{text}");
            assert_eq!(names(&ours["outputs"]), names(&rule["outputs"]), "{text}");
            let category = rule["category"].as_str().unwrap_or("default");
            assert_eq!(ours["category"], category, "{text}");
            assert_eq!(ours["local_job"] == true, rule["local_job"] == true, "{text}");
            for kind in ["cores", "memory", "disk"] {
                let amount = [&rule["resources"][kind], &theirs["categories"][category][kind]].into_iter().find(|n| !n.is_null());
                assert_eq!(ours["resources"].get(kind), amount, "{text}: {kind}");
            }
        }
    }
}

#[test]
fn the_real_makeflow_makes_the_same_files() {
    if !makeflow_is_there() {
        return;
    }
    let text = "export KEPT=one two\nLATER=x\nexport LATER QUOTED\nQUOTED=\"a  b\"\nPARTS=p.0 p.1\n\n$PARTS: in.txt\n\tsplit -n l/2 -d -a 1 in.txt p.\n\
        CATEGORY=count\nMEMORY=50\nc.0: p.0\n@BATCH_OPTIONS=-p nowhere\n\twc -l <p.0 >c.0\nc.1: p.1\n wc -l <p.1 >c.1\nLATER=y\n\
        sum: c.0 c.1\n\tLOCAL cat c.0 c.1 | awk '{ s += $1 } END { print s, \"done\" }' >sum; echo \"\\$KEPT,\\$LATER,\\$QUOTED,$KEPT\" >>sum\n";
    let mut sums = Vec::new();
    for transformed in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("in.txt"), "line\n".repeat(100)).unwrap();
        let mut makeflow = Command::new("makeflow");
        makeflow.args(["-T", "local"]).env("HOME", dir.path()).current_dir(dir.path());
        if transformed {
            let plan = plan(text, &[]);
            let rules: Value = serde_json::from_str(&plan.workflow).unwrap();
            assert_eq!(rules["rules"][1]["environment"], json!({"BATCH_OPTIONS": "-p nowhere"}), "what the batch system is told stays");
            assert_eq!(rules["rules"][1]["resources"]["memory"], 50);
            std::fs::write(dir.path().join("flow.json"), &plan.workflow).unwrap();
            (0..plan.tasks.len()).flat_map(|n| plan.scripts(n)).for_each(|script| executable(&dir.path().join(&script.name), &script.text));
            makeflow.args(["--json", "flow.json"]);
        } else {
            std::fs::write(dir.path().join("flow.makeflow"), text).unwrap();
            makeflow.arg("flow.makeflow");
        }
        let ran = makeflow.output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        sums.push(std::fs::read_to_string(dir.path().join("sum")).unwrap_or_else(|error| panic!("{error}: {said}")));
    }
    assert!(sums[0].starts_with("100 done\n"), "{}", sums[0]);
    assert_eq!(sums[0], sums[1]);
}

fn executable(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_rule_that_runs_another_workflow_stays() {
    let text = "a: sub.makeflow\n\tMAKEFLOW sub.makeflow dir\nb: a\n\tcp a b\n";
    let plan = plan(text, &[]);
    assert_eq!(plan.tasks.len(), 1);
    let flow: Value = serde_json::from_str(&plan.workflow).unwrap();
    assert_eq!(flow["rules"][0]["command"], "cd dir && makeflow sub.makeflow");
    assert!(flow["rules"][1]["command"].as_str().unwrap().starts_with("./t_"));
}

#[test]
fn what_is_not_in_what_comes_out_is_said() {
    let flow = read(".SIZE in 10\n.MAKEFLOW MODE FIXED\na: in\n\tcp in a\n");
    let notes: Vec<String> = flow.notes.iter().map(|note| format!("{}: {}", note.at, note.message)).collect();
    assert_eq!(notes.len(), 2);
    assert!(notes[0].starts_with("1:1: the expected size") && notes[1].starts_with("2:1: how Makeflow sizes"), "{notes:?}");
}

#[test]
fn values_from_outside() {
    let text = b"a: $SRC\n\tcp $SRC a\n";
    let arguments = [("args.jx".to_owned(), b"{ \"SRC\": \"in.txt\", \"N\": 2 }".to_vec())];
    let flow = Workflow::read_with("f.makeflow", text, &NoFiles, &arguments).unwrap();
    assert_eq!(flow.tasks[0].task.parts.command.cmd, "cp in.txt a");
}

#[test]
fn faults_have_their_places() {
    for (text, expected) in [
        ("A=1 # one\nB=2\n", "1:5: a comment after a value: Makeflow would take the next line into the value"),
        ("a: b\n\techo $(HOME)\n", "2:7: “HOME” is not set in this file; Makeflow would take it from the environment"),
        ("a: b\n\techo $(A\n", "2:7: “$A” is not closed"),
        ("a: b\n\techo 'x\n", "2:7: the single quote is not closed"),
        ("a: b\n\techo \"it's\" x\n", "2:10: the single quote is not closed; Makeflow takes one within double quotes"),
        ("a: b\n\techo \"x\n\n", "2:8: the double quote is not closed"),
        ("a: b\n\n", "1:1: the rule has no command"),
        ("a: b\nc: d\n\tx\n", "1:1: the rule has no command"),
        ("\techo x\n", "1:2: a command without a rule"),
        ("a: b: c\n\tx\n", "1:5: a second colon"),
        ("a: \"b\"\n\tx\n", "1:4: a quote among names of files"),
        ("->a: b\n\tx\n", "1:1: before “->” comes"),
        ("a->: b\n\tx\n", "1:1: after “a->” comes"),
        ("what is this\n", "1:1: neither a rule nor a variable"),
        ("export\n", "1:1: export needs the name"),
        ("export A-B=1\na:\n\tx\n", "1:8: neither a rule nor a variable: after “A”"),
        (".MAKEFLOW CORE 1\n", "1:1: directives are"),
        (".UMBRELLA SPEC x\n", "1:1: directives are"),
        ("CORES=many\n\na:\n\tx\n", "3:1: CORES: an amount is a number"),
        ("a: b\n\techo \0\n", "2:7: a NUL byte"),
        ("A=x\\#y\na:\n\techo $A z\n", "3:7: a value outside double quotes holds “#”"),
        ("a: b\n\techo \\", "2:7: nothing comes after the backslash"),
        ("a: b\n\tLOCAL \n", "2:2: the command is empty"),
        ("a: b\n\tMAKEFLOW\n", "2:2: after MAKEFLOW comes"),
    ] {
        let error = fault(text);
        assert!(error.starts_with(&format!("flow.makeflow:{expected}")), "{text:?}: {error}");
    }
    let bytes = b"a: b\n\techo \xff\n";
    let error = Workflow::read("flow.makeflow", bytes, &NoFiles).err().unwrap().to_string();
    assert!(error.starts_with("flow.makeflow:2:7: the text is not UTF-8"), "{error}");
}

/// Variables that double each other end before memory does, and so do those within each other.
#[test]
fn variables_that_grow() {
    let mut text = "A0=xxxxxxxxxxxxxxxx\n".to_owned();
    for n in 1..40 {
        text.push_str(&format!("A{n}=$(A{0})$(A{0})\n", n - 1));
    }
    assert!(fault(&text).contains("more than 16777216 characters"));
    // What stands once and is put into many rules.
    let (long, rules) = ("x".repeat(100_000), "a: b\n\techo $A\n".repeat(4_000));
    assert!(fault(&format!("A={long}\n{rules}")).contains("make more than 256 MiB of rules"));
    assert!(fault(&format!("CATEGORY={long}\n{}", rules.replace("$A", "1"))).contains("make more than 256 MiB of rules"));
    let exports: String = (0..2_000).map(|n| format!("V{n}=1\nexport V{n}\n")).collect();
    assert!(fault(&format!("A=1\n{exports}{}", rules.repeat(2))).contains("make more than 256 MiB of rules"));
    // Adding to a value costs what is added.
    read(&format!("{}a: b\n\techo 1\n", "A+=x\n".repeat(300_000)));
    let mut deep = "A0=x\n".to_owned();
    for n in 1..50 {
        deep.push_str(&format!("A{n}=\\$A{}\n", n - 1));
    }
    deep.push_str("a:\n\techo $A49\n");
    assert!(fault(&deep).contains("variables within variables, more than 32 deep"), "{}", fault(&deep));
    let wide = format!("B={}\nC={}\na:\n\techo {}\n", "x ".repeat(4000), "\\$B ".repeat(4000), "$C ".repeat(4000));
    assert!(fault(&wide).contains("too long"), "{}", fault(&wide));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(a|b|:|->|=|\\+=|[ \t\n'\"$(){}#\\\\@.]|export |LOCAL |\n\t|.MAKEFLOW |CORES|é){0,40}") {
        if let Ok(flow) = Workflow::read("flow.makeflow", text.as_bytes(), &NoFiles) {
            for entry in &flow.tasks {
                prop_assert!(!entry.task.parts.command.cmd.trim().is_empty());
            }
        }
    }
}
