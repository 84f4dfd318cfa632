//! Files of strangers: each fault has its file, line and column, and nothing hangs, panics or runs.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use flowmine_transform::algebra::{Collisions, Composition, NoContents};
use flowmine_transform::jx::{Evaluator, Scope, parse};
use flowmine_transform::script::quote;
use flowmine_transform::workflow::{NoFiles, Workflow};
use proptest::prelude::*;

fn value(text: &str) -> Result<String, String> {
    let run = || {
        let mut program = parse(text)?;
        let result = program.result.take();
        let evaluator = Evaluator::new(program.definitions)?;
        result.map(|expr| evaluator.eval(&expr, &Scope::default())).transpose()
    };
    run().map(|v| v.map_or_else(String::new, |v| v.to_json())).map_err(|fault| format!("{}: {}", fault.at, fault.message))
}

#[test]
fn expressions_have_the_values_of_the_jx_manual() {
    for (text, json) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("[1, 2] + [] + [4, [5, 6]]", "[1,2,4,[5,6]]"),
        ("\"a\" + 'b'", "\"ab\""),
        ("range(-1, 10, 2)", "[-1,1,3,5,7,9]"),
        ("range(5, 0, -1)", "[5,4,3,2,1]"),
        ("[x + y for x in [\"a\", \"b\"] for y in [\"1\", \"2\"] if y != \"1\"]", "[\"a2\",\"b2\"]"),
        ("[1, 2, 3][-1]", "3"),
        ("[1, 2, 3, 4][1:3]", "[2,3]"),
        ("{\"a\": {\"b\": 1}}[\"a\"][\"b\"]", "1"),
        ("format(\"%s-%d-%g%%\", \"x\", 7, 2.25)", "\"x-7-2.25%\""),
        ("join([\"a\", \"b\"], \", \")", "\"a, b\""),
        ("let({\"f\": 2}, f + 3)", "5"),
        ("[template(\"{x} {y}\", {\"y\": 1}) for x in [2]]", "[\"2 1\"]"),
        ("10 == 20 or not false", "true"),
        ("10G", "10240"),
        ("let x = [1]\ndefine f(a) = a + x\neval f([0])", "[0,1]"),
        ("basename(\"/a/b.txt\", \".txt\") + dirname(\"/a/b\")", "\"b/a\""),
        ("escape(\"a b$\")", "\"\\\"a b\\\\$\\\"\""),
        ("{\"eval\": \"1 + 1\"}", "2"),
        ("\"\\u00e9\\ud83d\\ude00\"", "\"é😀\""),
    ] {
        assert_eq!(value(text).as_deref(), Ok(json), "{text}");
    }
}

#[test]
fn faults_have_their_places() {
    for (text, fault) in [
        ("{\"a\": 1,\n  \"b\": }", "2:8: a value is expected, and “}” found"),
        ("\"open", "1:1: the text that begins here has no closing quote"),
        ("let a = b\nlet b = a\neval a", "2:9: the definition of “a” needs itself"),
        ("define f(x) = f(x)\neval f(1)", "1:16: the definition of “f” needs itself"),
        ("1 / 0", "1:3: division by zero"),
        ("[1][4]", "1:4: the list has 1 elements, and none at 4"),
        (
            "fetch(\"http://x\")",
            "1:6: fetch() is not evaluated: a workflow is transformed without the network and without looking around (jx2json does both, and writes JSON)",
        ),
        ("\"a\\u0000\"", "1:3: a NUL byte is not allowed in a command or a name"),
        ("{\"a\": 1, \"a\": 2}", "1:15: “a” is given twice in one object"),
        ("9223372036854775807 + 1", "1:21: the result does not fit 64 bits"),
        ("let a = 1\nlet a = 2", "2:1: “a” is defined at 1:1 already"),
    ] {
        assert_eq!(value(text).unwrap_err(), fault, "{text}");
    }
}

#[test]
fn depth_size_and_steps_are_bounded() {
    for text in ["[".repeat(100_000), "{\"a\":".repeat(100_000), "-".repeat(100_000), "(".repeat(100_000)] {
        assert!(value(&text).unwrap_err().contains("deeper than"), "{}", &text[..4]);
    }
    assert!(value(&format!("1{}", "+1".repeat(200_000))).is_ok(), "long is not deep");
    let chain: String = (1..2000).map(|n| format!("let x{n} = [x{}]\n", n - 1)).collect();
    assert!(value(&format!("let x0 = 1\n{chain}eval x1999")).is_err());
    let doubling: String = (1..90).map(|n| format!("let x{n} = [x{0}, x{0}]\n", n - 1)).collect();
    assert!(value(&format!("let x0 = \"aaaa\"\n{doubling}eval x89")).unwrap_err().contains("parts and bytes"));
    let texts: String = (1..90).map(|n| format!("let x{n} = x{0} + x{0}\n", n - 1)).collect();
    assert!(value(&format!("let x0 = \"aaaa\"\n{texts}eval x89")).is_err());
    assert!(value("range(0, 9000000000000)").unwrap_err().contains("steps"));
    assert!(value("[1 for a in range(10000) for b in range(10000)]").unwrap_err().contains("steps"));
    assert!(value(&format!("\"{}\"", "x".repeat(100_000))).is_ok());
}

/// Texts that double with each line, or that a reader would go through again for each of their words.
#[test]
fn work_is_bounded_by_what_is_written() {
    let loops = "for x in [1] ".repeat(100_000);
    assert!(value(&format!("[1 {loops}]")).unwrap_err().contains("more than 100 loops"));
    let doubling: String = (1..22).map(|n| format!("let x{n} = x{0} + x{0}\n", n - 1)).collect();
    for repeated in ["x21 == x21", "len(x21 + x21)", "format(\"%s\", str(x21))", "join([str(x21)])", "template(\"{s}\", {\"s\": str(x21)})"]
    {
        let text = format!("let x0 = [\"a\", 1]\n{doubling}eval [{repeated} for a in range(3000) for b in range(3000)]");
        let refused = value(&text).unwrap_err();
        assert!(refused.contains("steps") || refused.contains("parts and bytes"), "{repeated}: {refused}");
    }
    let object: String = (0..100_000).map(|n| format!("\"k{n}\": {n},")).collect();
    let refused = value(&format!("let o = {{{object}}}\neval [o[\"k99999\"] for a in range(3000) for b in range(3000)]")).unwrap_err();
    assert!(refused.contains("steps"), "{refused}");
    assert!(value(&format!("let({{{object}}}, k1)")).unwrap_err().contains("more than 1000 names"));
}

/// Scripts of a megabyte in which each line or word is like the others.
#[test]
fn scripts_are_read_once() {
    let begun = std::time::Instant::now();
    let lines = |line: &dyn Fn(usize) -> String| (0..60_000).map(line).collect::<String>();
    for body in [
        lines(&|n| format!("a{n}=x{n}\n")),
        lines(&|_| "x=sbatch\n".to_owned()),
        lines(&|_| "# sbatch sbatch".to_owned()),
        lines(&|_| "{ ".to_owned()),
        format!("a={}", "$b".repeat(400_000)),
        format!("sbatch {}\n", "$a ".repeat(300_000)),
        format!(
            "x=aaaa\n{}",
            (1..60).map(|n| format!("x{n}=\"$x{0}$x{0}\"\n", if n == 1 { String::new() } else { (n - 1).to_string() })).collect::<String>()
        ),
    ] {
        let _ = Workflow::read("s.sh", format!("#!/bin/sh\n{body}\nsbatch --wrap=true\n").as_bytes(), &NoFiles);
    }
    let makeflow = [
        lines(&|n| format!("A={n}\na{n}:\n\ttrue\n")),
        format!("a: {}\n\ttrue\n", lines(&|n| format!("f{n} "))),
        lines(&|n| format!("export E{n}\nb{n}:\n\ttrue\n")),
    ];
    for body in &makeflow {
        let _ = Workflow::read("m.makeflow", body.as_bytes(), &NoFiles);
    }
    assert!(begun.elapsed().as_secs() < 120, "{:?}", begun.elapsed());
}

/// What categories and the workflow say is in each rule, and what layers add in each task.
#[test]
fn what_is_repeated_for_each_task_is_bounded() {
    let rules = "{\"command\": \"true\", \"outputs\": []},".repeat(3000);
    let long = "v".repeat(1 << 20);
    let text = format!("{{\"environment\": {{\"A\": \"{long}\"}}, \"rules\": [{rules}]}}");
    let refused = Workflow::read("w.json", text.as_bytes(), &NoFiles).err().unwrap().to_string();
    assert!(refused.contains("environments and resources"), "{}", &refused[..200.min(refused.len())]);
    let layer = format!("let a = \"{long}\"\ndefine big(T) {{\"command\": a, \"outputs\": T.outputs}}");
    let layer = Composition::read("big.jx", &layer, None, &[]).unwrap();
    let flow = Workflow::read("w.txt", "true\n".repeat(3000).as_bytes(), &NoFiles).unwrap();
    let refused = flow.transform(&layer, &[], Collisions::Refuse, &NoContents).err().unwrap().to_string();
    assert!(refused.starts_with("w.txt:") && refused.contains("the layers add too much"), "{refused}");
}

#[test]
fn transformations_of_strangers() {
    for (text, fault) in [
        ("define f(T) {\"comand\": 1}", "x.jx:1:14: a transformation has no “comand”"),
        ("define f(T) {\"name\": \"$(rm)\"}", "x.jx:1:13: the name of a transformation has letters"),
        ("{\"command\": {\"cmd\": T.scrpt}}", "x.jx:1:22: f"),
        ("{\"environment\": {\"A;rm -rf\": \"1\"}}", "x.jx:1:30: f"),
        ("{\"outputs\": [{\"inner_name\": \"../up\", \"outer_name\": \"b\"}]}", "x.jx:1:14: f"),
        ("{\"resources\": {\"disk\": -1}}", "x.jx:1:24: f"),
        ("1", "x.jx:1:1: a transformation is an object"),
        ("", "x.jx:1:1: the file holds no transformation"),
    ] {
        let text = text.replacen("{\"command\"", "{\"name\": \"f\", \"command\"", 0);
        let error = Composition::read("x.jx", &text, None, &[]).and_then(|c| {
            let flow = Workflow::read("w.txt", b"true\n", &NoFiles)?;
            flow.transform(&c, &[], Collisions::Refuse, &NoContents).map(|_| ())
        });
        let error = error.unwrap_err().to_string();
        let place = fault.trim_end_matches('f').trim_end();
        assert!(error.starts_with(if fault.ends_with(": f") { place } else { fault }), "{text}: {error}");
    }
    assert!(
        Workflow::read("w.json", b"[{\"command\": \"a\xff\"}]", &NoFiles)
            .err()
            .unwrap()
            .to_string()
            .starts_with("w.json:1:16: the text is not UTF-8")
    );
    assert!(Workflow::read("w.txt", b"true\na\0b\n", &NoFiles).err().unwrap().to_string().starts_with("w.txt:2:2: a NUL"));
    assert!(Workflow::read("w.jx", b"{\"rules\": [{}]}", &NoFiles).err().unwrap().to_string().starts_with("w.jx:1:12: the rule has no"));
}

proptest! {
    #[test]
    fn a_quoted_text_is_one_word(text in "[^\u{0}]{0,40}") {
        let out = std::process::Command::new("sh").args(["-c", &format!("printf '%s' {}", quote(&text))]).output().unwrap();
        prop_assert_eq!(String::from_utf8(out.stdout).unwrap(), text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}(),:;.+a-cT\"0-9 \n#=G-]{0,60}") {
        let _ = value(&text);
        if let Ok(c) = Composition::read("x.jx", &text, None, &[]) {
            let flow = Workflow::read("w.txt", b"true\n", &NoFiles).unwrap();
            let _ = flow.transform(&c, &[], Collisions::Refuse, &NoContents);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Workflow::read("w.jx", &bytes, &NoFiles);
        let _ = Workflow::read("w", &bytes, &NoFiles);
    }
}
