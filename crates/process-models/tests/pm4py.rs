//! Compared with what PM4Py 2.7.23.11 said of the same logs; `fixtures/make.py` made the expectations.

use std::collections::BTreeSet;

use flowmine_process_models::inductive::{Options, discover};
use flowmine_process_models::{Node, ProcessTree, Variants};

struct Log {
    name: String,
    variants: Variants,
    trees: Vec<(f64, String)>,
}

fn logs() -> Vec<Log> {
    let entries: Vec<serde_json::Value> = serde_json::from_str(include_str!("fixtures/logs.json")).unwrap();
    let log = |entry: &serde_json::Value| {
        let traces = entry["variants"].as_array().unwrap().iter().map(|v| {
            let trace: Vec<String> = v[0].as_array().unwrap().iter().map(|a| a.as_str().unwrap().to_owned()).collect();
            (trace, v[1].as_u64().unwrap())
        });
        Log {
            name: entry["name"].as_str().unwrap().to_owned(),
            variants: Variants::from_names(traces).unwrap(),
            trees: entry["trees"].as_object().unwrap().iter().map(|(k, v)| (k.parse().unwrap(), v.as_str().unwrap().to_owned())).collect(),
        }
    };
    entries.iter().map(log).collect()
}

/// The traces of a tree of at most `longest` events, by composing sets. At most `most` of them, or none at all.
fn language(tree: &ProcessTree, longest: usize, most: usize) -> Option<BTreeSet<Vec<String>>> {
    type Words = BTreeSet<Vec<String>>;
    fn shuffle(a: &[String], b: &[String], head: &mut Vec<String>, out: &mut Words) {
        match (a, b) {
            ([], rest) | (rest, []) => out.insert([head.as_slice(), rest].concat()),
            ([x, ra @ ..], [y, rb @ ..]) => {
                head.push(x.clone());
                shuffle(ra, b, head, out);
                head.pop();
                head.push(y.clone());
                shuffle(a, rb, head, out);
                head.pop();
                true
            }
        };
    }
    let join = |a: &Words, b: &Words, both: bool| -> Option<Words> {
        let mut out = Words::new();
        for x in a {
            for y in b {
                if x.len() + y.len() <= longest {
                    if both {
                        shuffle(x, y, &mut Vec::new(), &mut out);
                    } else {
                        out.insert([x.as_slice(), y].concat());
                    }
                }
            }
            if out.len() > most {
                return None;
            }
        }
        Some(out)
    };
    let mut sets: Vec<Words> = Vec::new();
    for node in tree.nodes() {
        let set = match node {
            Node::Activity(a) => Words::from([vec![tree.label(*a).to_owned()]]),
            Node::Tau => Words::from([Vec::new()]),
            Node::Xor(c) => c.iter().flat_map(|&c| sets[c].clone()).collect(),
            Node::Sequence(c) | Node::Parallel(c) => {
                let both = matches!(node, Node::Parallel(_));
                let mut all = Words::from([Vec::new()]);
                for &c in c {
                    all = join(&all, &sets[c], both)?;
                }
                all
            }
            Node::Loop { body, redo } => {
                let round = join(&sets[*redo], &sets[*body], false)?;
                let mut all = sets[*body].clone();
                loop {
                    let more = join(&all, &round, false)?;
                    let before = all.len();
                    all.extend(more);
                    if all.len() > most {
                        return None;
                    }
                    if all.len() == before {
                        break all;
                    }
                }
            }
        };
        sets.push(set);
    }
    sets.pop()
}

/// A tree as PM4Py prints it: a lone activity stands there without quotes, a lone silent step as `None` or `tau`.
fn read(text: &str) -> ProcessTree {
    match text {
        "None" => ProcessTree::parse("tau").unwrap(),
        bare if !bare.contains(['(', '\'']) && bare != "tau" => ProcessTree::parse(&format!("'{bare}'")).unwrap(),
        text => ProcessTree::parse(text).unwrap(),
    }
}

/// Whether two trees have the same language: by their canonical forms, and where these differ by their short traces.
fn same_language(a: &ProcessTree, b: &ProcessTree) -> bool {
    if a.canonical().to_text() == b.canonical().to_text() {
        return true;
    }
    for longest in (1..=9).rev() {
        if let (Some(a), Some(b)) = (language(a, longest, 60_000), language(b, longest, 60_000)) {
            eprintln!("  compared {} and {} traces of up to {longest} events", a.len(), b.len());
            return a == b;
        }
    }
    false
}

#[test]
fn the_trees_have_the_languages_of_pm4pys() {
    let mut differ = Vec::new();
    let logs = logs();
    assert!(logs.len() >= 50);
    for log in &logs {
        for (noise, expected) in &log.trees {
            let ours = discover(&log.variants, Options { noise: *noise, ..Options::default() }).unwrap().tree;
            let theirs = read(expected);
            if !same_language(&ours, &theirs) {
                differ.push(format!("{} at {noise}:\n  ours   {}\n  PM4Py  {}", log.name, ours.to_text(), theirs.canonical().to_text()));
            }
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}
