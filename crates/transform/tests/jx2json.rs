//! Expressions of JX compared with Makeflow's own evaluation, `jx2json` of Debian.
//!
//! The rule: where we give a value it is theirs, to the byte; where we refuse, they do, or the refusal
//! is one of [`ON_PURPOSE`].

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "../../../tests/support/require.rs"]
mod require;

use std::path::Path;
use std::process::Command;

use flowmine_transform::jx::{Evaluator, Scope, parse};
use flowmine_transform::workflow::{NoFiles, Workflow};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// What we refuse and they do not; `docs/transform.md` has the reasons.
const ON_PURPOSE: [&str; 10] = [
    "64 bits",
    "no finite number",
    "range takes whole numbers",
    "it is range(",
    "it is len(",
    "a bound of a slice",
    "given twice in one object",
    "the name of a member must be a text",
    "the list has",
    "is not evaluated: versions of Makeflow disagree",
];

/// Comparisons are many, and the same in each run.
fn runner(cases: u32) -> TestRunner {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, b"jx as Makeflow's jx2json does it");
    TestRunner::new_with_rng(Config { cases, failure_persistence: None, ..Config::default() }, rng)
}

fn is_there() -> bool {
    require::require("makeflow", "jx2json (coop-computing-tools)", Command::new("jx2json").arg("--version").output().is_ok())
}

/// What Makeflow makes of a text.
#[derive(Debug)]
enum Theirs {
    Value(String),
    Refused,
    /// It crashed, or went on for more than a second, as it does at a slice to 2^62.
    NoAnswer,
}

/// What Makeflow makes of the last file, with the options before it.
fn theirs(arguments: &[&Path]) -> Theirs {
    let limited = "ulimit -v 500000; exec timeout 1 jx2json \"$@\"";
    let made = Command::new("sh").args(["-c", limited, "sh"]).args(arguments).output().unwrap();
    let text = String::from_utf8(made.stdout).unwrap();
    match text.trim_end_matches('\n') {
        _ if matches!(made.status.code(), None | Some(124..)) => Theirs::NoAnswer,
        // Errors are values to them; lists and objects that have one are errors too.
        "" => Theirs::Refused,
        text if text.starts_with("error(") || text.starts_with("invalid args") => Theirs::Refused,
        text => Theirs::Value(text.to_owned()),
    }
}

fn ours(text: &str) -> Result<String, String> {
    let run = || {
        let mut program = parse(text)?;
        let result = program.result.take();
        let evaluator = Evaluator::new(program.definitions)?;
        result.map(|expr| evaluator.eval(&expr, &Scope::default())).transpose()
    };
    run().map(|v| v.map_or_else(String::new, |v| v.to_json())).map_err(|fault| fault.message)
}

fn compare(ours: Result<String, String>, theirs: &Theirs) -> Result<(), TestCaseError> {
    match (&ours, theirs) {
        (Ok(value), Theirs::Value(other)) => prop_assert_eq!(value, other),
        (Err(_), Theirs::Refused) | (_, Theirs::NoAnswer) => {}
        (Err(why), Theirs::Value(_)) => prop_assert!(ON_PURPOSE.iter().any(|known| why.contains(known)), "{} and not {:?}", why, theirs),
        (Ok(_), Theirs::Refused) => prop_assert!(false, "{:?}, where jx2json refuses", ours),
    }
    Ok(())
}

fn check(dir: &Path, text: &str) -> Result<(), TestCaseError> {
    let file = dir.join("e.jx");
    std::fs::write(&file, text).unwrap();
    compare(ours(text), &theirs(&[&file]))
}

/// Expressions of each type, of a depth; those of `any` are of all types, also wrong ones.
struct Level {
    number: BoxedStrategy<String>,
    text: BoxedStrategy<String>,
    truth: BoxedStrategy<String>,
    list: BoxedStrategy<String>,
    any: BoxedStrategy<String>,
}

fn one_of(texts: &'static [&'static str]) -> BoxedStrategy<String> {
    select(texts).prop_map(str::to_owned).boxed()
}

/// The strategies in a pattern's places `@`, in their order.
fn filled(pattern: &'static str, parts: &[&BoxedStrategy<String>]) -> BoxedStrategy<String> {
    let parts: Vec<BoxedStrategy<String>> = parts.iter().map(|part| (*part).clone()).collect();
    assert_eq!(pattern.matches('@').count(), parts.len(), "{pattern}");
    let fill = move |parts: Vec<String>| {
        let mut parts = parts.into_iter();
        pattern.chars().map(|c| if c == '@' { parts.next().unwrap() } else { c.to_string() }).collect()
    };
    parts.prop_map(fill).boxed()
}

fn leaves() -> Level {
    let number = one_of(&[
        "0",
        "1",
        "2",
        "3",
        "-1",
        "7",
        "007",
        "10",
        "-7",
        "9007199254740993",
        "4611686018427387904",
        "9223372036854775807",
        "-9223372036854775807",
        "1.5",
        "-2.5",
        ".5",
        "3.",
        "0.1",
        "0.0",
        "-0.0",
        "100000.0",
        "999999.5",
        "1e16",
        "1e-5",
        "1.0e-7",
        "123456.789",
        "1e300",
        "a",
    ]);
    let text = one_of(&[
        r#""""#,
        r#""a""#,
        r#""b c""#,
        r#""part.""#,
        r#""/x/y.txt""#,
        r#""y.txt/""#,
        r#""//p//q""#,
        r#""$HOME `id` \"q\" \\""#,
        r#""\q\$\u0041\t\n""#,
        r#"".txt""#,
        "b",
    ]);
    let truth = one_of(&["true", "false", "1 < 2", "c"]);
    let list = one_of(&["[]", "[1,2,3]", r#"["a","b"]"#, "[1.0,[2],null]", "[[1,2],[3]]", "range(4)", "[{\"k\":1}]"]);
    let any =
        prop_oneof![number.clone(), text.clone(), truth.clone(), list.clone(), one_of(&["null", "{}", r#"{"k":1,"l":"m"}"#, "nowhere"])]
            .boxed();
    Level { number, text, truth, list, any }
}

/// Expressions that are made of those of a level.
fn above(of: &Level) -> Level {
    let Level { number: n, text: t, truth: b, list: l, any } = of;
    let joined = |patterns: &[BoxedStrategy<String>]| proptest::strategy::Union::new(patterns.to_vec()).boxed();
    let number = joined(&[
        filled("@ + @", &[n, n]),
        filled("@ - @ - @", &[n, n, n]),
        filled("@ * @ + @", &[n, n, n]),
        filled("@ / @ / @", &[n, n, n]),
        filled("@ % @", &[n, n]),
        filled("(@ - @) * @", &[n, n, n]),
        filled("-@", &[n]),
        filled("-(@)", &[n]),
        filled("+(@ + @)", &[n, n]),
        filled("ceil(@)", &[n]),
        filled("floor(@)", &[n]),
        filled("len(@)", &[l]),
        filled("@[@]", &[l, n]),
        filled("{\"k\": @}[\"k\"]", &[any]),
    ]);
    let text = joined(&[
        filled("@ + @", &[t, any]),
        filled("@ + @", &[any, t]),
        filled("@ + @ + @", &[t, n, n]),
        filled("+@", &[t]),
        filled("format(\"%s-%d %%\", @, @)", &[t, n]),
        filled("format(\"%e|%E|%f|%F|%g|%G\", @, @, @, @, @, @)", &[n, n, n, n, n, n]),
        filled("format(\"%i%s\", @)", &[any]),
        filled("format(@, @)", &[any, any]),
        filled("format(\"%05d %.2f\", @, @)", &[n, n]),
        filled("join(@, @)", &[l, t]),
        filled("join([@, @])", &[t, t]),
        filled("basename(@)", &[t]),
        filled("basename(@, @)", &[t, t]),
        filled("dirname(@)", &[t]),
        filled("escape(@)", &[t]),
        filled("template(\"{x}-{ y_1 }{{}}\", {\"x\": @, \"y_1\": @})", &[any, any]),
        filled("template(@, {\"k\": @})", &[any, any]),
        filled("template(\"{x\" + @, {\"x\": 1})", &[t]),
    ]);
    let truth = joined(&[
        filled("@ == @", &[any, any]),
        filled("@ != @", &[any, any]),
        filled("@ < @", &[n, n]),
        filled("@ <= @", &[t, t]),
        filled("@ >= @", &[n, n]),
        filled("@ > @", &[any, any]),
        filled("@ == @ == @", &[n, n, b]),
        filled("@ and @ or @", &[b, b, b]),
        filled("@ or @ and @", &[b, b, b]),
        filled("@ && @ || @", &[b, any, b]),
        filled("not @ == @", &[b, b]),
        filled("!@", &[any]),
    ]);
    let list = joined(&[
        filled("[@, @]", &[any, any]),
        filled("@ + @", &[l, l]),
        filled("@ + @ + @", &[l, l, any]),
        filled("@[@:@]", &[l, n, n]),
        filled("@[:@]", &[l, n]),
        filled("@[@:]", &[l, any]),
        filled("[a + @ for a in @]", &[n, l]),
        filled("[[a, b] for a in @ for b in @ if @]", &[l, l, b]),
        filled("[x for x in @ if x != @]", &[l, any]),
        filled("[@, a for a in @, @,]", &[any, l, any]),
        filled("range(@)", &[n]),
        filled("range(@ % 30, @ % 9)", &[n, n]),
        filled("range(@ % 9, @ % 9, @ % 5)", &[n, n, n]),
        filled("keys({\"k\": @, \"j\": @})", &[any, any]),
        filled("values({\"k\": @, \"j\": @})", &[any, any]),
        filled("items({\"k\": @, @: 1})", &[any, t]),
        filled("select(@, @)", &[b, l]),
    ]);
    let any = prop_oneof![
        2 => number.clone(), 2 => text.clone(), 2 => truth.clone(), 2 => list.clone(), 1 => any.clone(),
        1 => filled("{@: @, \"z\": @}", &[t, any, any]), 1 => filled("@[@]", &[any, any]),
        1 => filled("@ + @ - @", &[any, any, any]), 1 => filled("(@)", &[any]),
    ]
    .boxed();
    Level { number, text, truth, list, any }
}

#[test]
fn generated_expressions_have_the_values_of_jx2json() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (above(&leaves()), above(&above(&leaves())));
    let expressions = prop_oneof![
        2 => first.number, 2 => first.text, 2 => first.truth, 2 => first.list, 1 => first.any,
        1 => second.number, 1 => second.text, 1 => second.truth, 1 => second.list, 1 => second.any,
    ];
    // Names that stand free are bound here, not to values of one type alone.
    let bound = expressions.prop_map(|text| format!("[{text} for a in [4] for b in [\"n\"] for c in [true]]"));
    runner(1500).run(&bound, |text| check(dir.path(), &text)).unwrap_or_else(|why| panic!("{why}"));
}

/// Each operator between values of each two types, each function of each type.
#[test]
fn operators_and_functions_of_all_types() {
    if !is_there() {
        return;
    }
    let values = ["null", "true", "false", "0", "-3", "2.5", "0.0", "\"\"", "\"x y\"", "[]", "[1,\"a\"]", "{}", "{\"k\":2}"];
    let mut texts = Vec::new();
    for a in values {
        for operator in ["+", "-", "!", "not "] {
            texts.push(format!("{operator}{a}"));
        }
        for function in
            ["range", "format", "join", "len", "ceil", "floor", "basename", "dirname", "keys", "values", "items", "escape", "template"]
        {
            texts.push(format!("{function}({a})"));
            texts.push(format!("{function}({a}, {a})"));
            texts.push(format!("{function}()"));
        }
        for conversion in ["d", "i", "e", "E", "f", "F", "g", "G", "s", "x", "c", "5d", "-5s", ".3f", ""] {
            texts.push(format!("format(\"<%{conversion}>\", {a})"));
        }
        for b in values {
            for operator in ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", " and ", " or ", "&&", "||"] {
                texts.push(format!("{a}{operator}{b}"));
            }
            texts.push(format!("{a}[{b}]"));
            texts.push(format!("[1,2,3][{a}:{b}]"));
            texts.push(format!("[x for x in {a} if {b}]"));
        }
    }
    texts.extend(
        [
            "1 - 2 - 3",
            "100 / 10 / 5",
            "7 % 4 % 2",
            "true or true and false",
            "2 * 7 / 2",
            "1 < 2 == true",
            "\"a\" + 1 + 2",
            "--1",
            "2--1",
            "-(0.0)",
            "0-0.0",
            "[1;,2]",
            "[1.0] == [1]",
            "[{\"a\":1,\"b\":2}] == [{\"b\":2,\"a\":1}]",
            "[x for x in [1,2] for x in [3]]",
            "[y for x in [[1,2],[3]] for y in x]",
            "[1,2,3][-9:2]",
            "ceil(9007199254740993)",
            "1.5 % 0.5",
            "(-9223372036854775807 - 1) / (-1)",
            "\"\u{b}\"",
            "1 +\u{b}\u{c}2",
            "error(\"x\")",
            "{\"a\": 1,}",
            "[,]",
            "f(1)",
            "1.2.3",
            "1e",
            "\"open",
        ]
        .map(str::to_owned),
    );
    let dir = tempfile::tempdir().unwrap();
    for text in texts {
        check(dir.path(), &text).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
}

/// Definitions, arguments and comprehensions, as whole workflows.
#[test]
fn names_mean_what_they_mean_to_jx2json() {
    if !is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (file, arguments) = (dir.path().join("flow.jx"), dir.path().join("args.jx"));
    let body =
        || one_of(&["1", "\"s\"", "a", "b", "c", "a + 1", "b + \"x\"", "[a, b]", "[a for a in [1, 2]]", "template(\"{b}\")", "nowhere"]);
    let define = filled(r#"{"a": @, "b": @, "c": @}"#, &[&body(), &body(), &body()]);
    let given = prop_oneof![one_of(&["{}"]), filled(r#"{"a": @}"#, &[&body()]), filled(r#"{"b": @, "d": @}"#, &[&body(), &body()])];
    let command = one_of(&["\"x\" + a", "\"\" + b + c", "template(\"{a} {b}\")", "d", "join([\"p\", \"\" + c])", "\"k\" + [a, 7][1]"]);
    let rules = filled(
        "@ @",
        &[&command.clone().boxed(), &one_of(&["", "for a in [5, 6]", "for b in [\"t\"] for a in [b]", "for c in [a] if b != c"])],
    );
    let flows = (define, given, rules);
    let run = |(define, given, rules): (String, String, String)| {
        // What a comprehension repeats is the whole rule.
        let (command, loops) = rules.split_at(rules.find(" for ").filter(|_| !rules.ends_with(' ')).unwrap_or(rules.len()));
        let text = format!(r#"{{"define": {define}, "rules": [{{"command": {command}, "inputs": [], "outputs": ["o"]}} {loops}]}}"#);
        std::fs::write(&file, &text).unwrap();
        std::fs::write(&arguments, &given).unwrap();
        let theirs = theirs(&[Path::new("--args"), &arguments, &file]);
        let flow = Workflow::read_with("flow.jx", text.as_bytes(), &NoFiles, &[("args.jx".to_owned(), given.clone().into_bytes())]);
        let commands = |made: &str| -> Option<Vec<String>> {
            let made: serde_json::Value = serde_json::from_str(made).unwrap();
            made["rules"].as_array().unwrap().iter().map(|rule| rule["command"].as_str().map(str::to_owned)).collect()
        };
        let ours = flow.map(|flow| flow.tasks.iter().map(|entry| entry.task.parts.command.cmd.clone()).collect::<Vec<_>>());
        let ours = ours.map(|commands| format!("{commands:?}")).map_err(|error| error.to_string());
        // A command that is no text is an error of the workflow, though not of JX.
        let theirs = match theirs {
            Theirs::Value(made) => commands(&made).map_or(Theirs::Refused, |commands| Theirs::Value(format!("{commands:?}"))),
            other => other,
        };
        compare(ours, &theirs)
    };
    runner(700).run(&flows, run).unwrap_or_else(|why| panic!("{why}"));
}
