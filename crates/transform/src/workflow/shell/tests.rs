#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]
use super::*;

fn told(text: &str) -> Vec<String> {
    let word = |word: &Word| match &word.literal {
        Some(literal) => literal.clone(),
        None => format!("«{}»", &text[word.start..word.end]),
    };
    let one = |command: Simple| {
        let into = command.into.map(|name| format!("{name}=")).unwrap_or_default();
        let to =
            command.redirections.iter().map(|to| format!(" {}{}", if to.writes { '>' } else { '<' }, &text[to.word.start..to.word.end]));
        format!("{into}{}{}", command.words.iter().map(word).collect::<Vec<_>>().join(" "), to.collect::<String>())
    };
    script(text, Dialect::Bash).unwrap().commands.into_iter().map(one).collect()
}

#[test]
fn commands_of_scripts_as_people_write_them() {
    for (text, expected) in [
        ("sbatch a.sh # sbatch no\n", vec!["sbatch a.sh"]),
        ("jid1=$(sbatch --parsable 'my job.sh' 1)\n", vec!["", "jid1=sbatch --parsable my job.sh 1"]),
        ("A=1 B=2 sbatch x >log 2>&1 && sbatch y & ", vec!["sbatch x >log", "sbatch y"]),
        ("id=`sbatch a.sh | cut -d' ' -f4`", vec!["", "id=sbatch a.sh", "id=cut -d  -f4"]),
        ("for i in 1 2; do sbatch a.sh $i \"$(date)\"; done", vec!["", "sbatch a.sh «$i» «\"$(date)\"»", "date"]),
        ("if ! sbatch a.sh; then exit 1; fi", vec!["sbatch a.sh", "exit 1"]),
        ("cat <<EOF\nsbatch no $(date)\nEOF\nsbatch yes\n", vec!["cat", "date", "sbatch yes"]),
        ("cat <<-'E' | tr a b\n\tsbatch no\n\tE\nsbatch yes", vec!["cat", "tr a b", "sbatch yes"]),
        ("echo 'sbatch no' \"sbatch $(sbatch yes)\"", vec!["echo sbatch no «\"sbatch $(sbatch yes)\"»", "sbatch yes"]),
        ("a[1]=x\nsbatch yes\n", vec!["", "sbatch yes"]),
        ("a=(sbatch no\nx)\nsbatch yes\n", vec!["", "sbatch yes"]),
        ("sbatch \\\n  --mem=1G \\\n  a.sh", vec!["sbatch --mem=1G a.sh"]),
        ("x=${y:-$(z)} sbatch a.sh", vec!["sbatch a.sh", "z"]),
        ("(sbatch a; sbatch b)", vec!["sbatch a", "sbatch b"]),
        ("RES=$(sbatch sim) && sbatch -d afterok:${RES##* } post", vec!["", "RES=sbatch sim", "sbatch -d «afterok:${RES##* }» post"]),
        ("f() { sbatch \"$@\"; }\nf", vec!["sbatch «\"$@\"»", "f"]),
        ("sbatch a IN=~/x ~ y:~ a~", vec!["sbatch a «IN=~/x» «~» «y:~» a~"]),
        ("case $x in a|b) sbatch a;; (*) sbatch b\nesac >log", vec![" >log", "sbatch a", "sbatch b"]),
        ("while [[ $a < b && ( -f c ) ]]; do ((a++)); done <in", vec![" <in"]),
        ("for ((i=0; i<$(n); i++)); do :; done", vec!["n", ":"]),
        ("if a; then b; elif c; then d; else e; fi; { f; }", vec!["a", "b", "c", "d", "e", "f"]),
    ] {
        assert_eq!(told(text), expected, "{text}");
    }
}

/// What two shells, or a shell and this reader, can take for different things.
#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    let mut wrong = Vec::new();
    for (text, at) in [
        ("a 'b", 2),
        ("a \"b", 2),
        ("a $(b", 4),
        ("a `b", 2),
        ("a `b \\`c\\``", 3),
        ("if a; then b", 10),
        ("a <<E\nb\n", 4),
        ("a; fi", 3),
        ("a )", 2),
        ("a <(b)", 2),
        ("a @(b)", 3),
        ("a ;; b", 2),
        ("f() ( a )", 4),
        ("a $((b) | (c))", 6),
        ("a \"${b:-'c'}\"", 8),
        ("a\r\nb", 1),
        ("a <<E 'b\nE\nc'\nE\n", 8),
        ("a <<E $(b)\nE\n", 6),
        ("a && ", 5),
        ("a $[1]", 2),
        ("time a", 0),
    ] {
        let unclear = script(text, Dialect::Bash).unwrap_err();
        if unclear.at != at {
            wrong.push(format!("{text}: {} at {}, not {at}", unclear.why, unclear.at));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    for text in [
        "[[ a > b ]]",
        "((a))",
        "a+=b",
        "a=(b)",
        "a &>b",
        "a <<<b",
        "a $'b'",
        "function f { a; }",
        "a[1]=b",
        "for ((;;)); do a; done",
        "a |& b",
    ] {
        assert!(script(text, Dialect::Posix).unwrap_err().why.contains("#!/bin/bash"), "{text}");
        assert!(script(text, Dialect::Bash).is_ok(), "{text}");
    }
}

#[test]
fn any_text_ends() {
    for text in [
        "$(",
        "`",
        "`(`",
        "`a(b`c)",
        "$((((",
        "\"$(`",
        "${",
        "${\\",
        "<<",
        "<<-",
        "a<<E",
        "\\",
        ")",
        "a)b",
        "'",
        "<<a\n\\",
        &"$(".repeat(5000),
        &"(".repeat(5000),
        &"{ ".repeat(5000),
    ] {
        assert!(script(text, Dialect::Bash).is_err(), "{text:.20}");
    }
}
