//! What must hold of any log and any tree.

use flowmine_process_models::inductive::discover;
use flowmine_process_models::layout::{Kind, Layout, Sizes};
use flowmine_process_models::replay::{precision, replay};
use flowmine_process_models::{Node, PetriNet, ProcessTree, Variant, Variants, align, bpmn, declare, inductive, pnml};
use proptest::prelude::*;

/// Logs of up to six activities.
fn logs() -> impl Strategy<Value = Variants> {
    (1usize..7, prop::collection::vec((prop::collection::vec(0u32..6, 0..8), 1u64..9), 1..10)).prop_map(|(n, traces)| {
        let names = (0..n).map(|i| format!("activity {i}")).collect();
        let trace = |t: Vec<u32>| t.into_iter().map(|a| a % n as u32).collect();
        Variants::new(names, traces.into_iter().map(|(t, count)| Variant { trace: trace(t), count }).collect()).unwrap()
    })
}

/// Trees in which each activity is at most once, as text.
fn trees() -> impl Strategy<Value = ProcessTree> {
    let leaf = prop_oneof![4 => Just("?".to_owned()), 1 => Just("tau".to_owned())];
    let text = leaf.prop_recursive(4, 14, 4, |inner| {
        (prop::sample::select(vec!["->", "X", "+", "*"]), prop::collection::vec(inner, 2..4)).prop_map(|(sign, mut children)| {
            if sign == "*" {
                children.truncate(2);
            }
            format!("{sign}( {} )", children.join(", "))
        })
    });
    text.prop_map(|text| {
        let mut out = String::new();
        let mut letters = 'a'..='z';
        for c in text.chars() {
            match c {
                '?' => out.push_str(&format!("'{}'", letters.next().unwrap())),
                c => out.push(c),
            }
        }
        ProcessTree::parse(&out).unwrap()
    })
}

/// A trace of the tree, its choices taken from `dice` in turn.
fn play(tree: &ProcessTree, node: usize, dice: &mut dyn FnMut(usize) -> usize) -> Vec<u32> {
    match &tree.nodes()[node] {
        Node::Activity(a) => vec![*a],
        Node::Tau => Vec::new(),
        Node::Sequence(c) => c.iter().flat_map(|&c| play(tree, c, dice)).collect(),
        Node::Xor(c) => play(tree, c[dice(c.len())], dice),
        Node::Parallel(c) => {
            let mut parts: Vec<Vec<u32>> = c.iter().map(|&c| play(tree, c, dice)).collect();
            let mut out = Vec::new();
            loop {
                parts.retain(|p| !p.is_empty());
                if parts.is_empty() {
                    return out;
                }
                let at = dice(parts.len());
                out.push(parts[at].remove(0));
            }
        }
        Node::Loop { body, redo } => {
            let mut out = play(tree, *body, dice);
            while out.len() < 12 && dice(3) == 0 {
                out.extend(play(tree, *redo, dice));
                out.extend(play(tree, *body, dice));
            }
            out
        }
    }
}

fn dice(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |n| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    }
}

fn log_of(tree: &ProcessTree, traces: Vec<Vec<u32>>) -> Variants {
    Variants::new(tree.labels().to_vec(), traces.into_iter().map(|trace| Variant { trace, count: 1 }).collect()).unwrap()
}

/// How many elements with this name the document has; fails where it is no XML.
fn elements(xml: &str, name: &str) -> usize {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut count = 0;
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Start(e) | quick_xml::events::Event::Empty(e) => {
                count += usize::from(e.name().as_ref() == name);
            }
            quick_xml::events::Event::Eof => return count,
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn im_fits_its_log(log in logs()) {
        let tree = discover(&log, inductive::Options::default()).unwrap().tree;
        prop_assert!(tree.labels_are_unique());
        let net = PetriNet::of_tree(&tree);
        let replayed = replay(&net, &log, Default::default());
        prop_assert_eq!(replayed.fitness(), 1.0, "{}", tree.to_text());
        prop_assert_eq!(replayed.fitting, 1.0);
        let aligned = align::align(&tree, &log, Default::default()).unwrap();
        prop_assert_eq!(aligned.fitness(), Some(1.0));
        let p = precision(&net, &log, Default::default());
        prop_assert!((0.0..=1.0).contains(&p.precision) && p.not_followed == 0, "{:?}", p);
    }

    #[test]
    fn noise_is_taken(log in logs(), noise in 0.0..1.0f64) {
        let tree = discover(&log, inductive::Options { noise, ..Default::default() }).unwrap().tree;
        prop_assert!(tree.labels_are_unique());
        prop_assert_eq!(tree.canonical(), tree);
    }

    #[test]
    fn names_do_not_change_the_structure(log in logs(), prefix in ".{0,4}") {
        let other = Variants::new(log.activities().iter().rev().map(|n| format!("{prefix}{n}")).collect(), log.variants().to_vec()).unwrap();
        let (a, b) = (discover(&log, Default::default()).unwrap(), discover(&other, Default::default()).unwrap());
        prop_assert_eq!(a.tree.nodes(), b.tree.nodes());
    }

    #[test]
    fn order_does_not_matter(log in logs(), noise in prop::sample::select(vec![0.0, 0.2])) {
        let mut turned = log.variants().to_vec();
        turned.reverse();
        let half = turned.clone().into_iter().map(|v| Variant { count: v.count * 2, ..v });
        let other = Variants::new(log.activities().to_vec(), turned.into_iter().chain(half).collect()).unwrap();
        let options = inductive::Options { noise, ..Default::default() };
        prop_assert_eq!(discover(&log, options).unwrap(), discover(&other, options).unwrap());
    }

    #[test]
    fn a_tree_fits_its_own_traces(tree in trees(), seed in any::<u64>()) {
        let mut dice = dice(seed);
        let traces: Vec<Vec<u32>> = (0..12).map(|_| play(&tree, tree.root(), &mut dice)).collect();
        let log = log_of(&tree, traces);
        for tree in [&tree, &tree.canonical()] {
            let aligned = align::align(tree, &log, Default::default()).unwrap();
            prop_assert!(aligned.variants.iter().all(|a| a.as_ref().is_some_and(|a| a.cost == 0)), "{}", tree.to_text());
            let replayed = replay(&PetriNet::of_tree(tree), &log, Default::default());
            prop_assert!(replayed.variants.iter().all(|t| t.fits()), "{}", tree.to_text());
        }
    }

    #[test]
    fn costs_are_what_a_search_finds_and_the_net_agrees(tree in trees(), seed in any::<u64>()) {
        let mut dice = dice(seed);
        let mut traces = Vec::new();
        for _ in 0..8 {
            let mut trace = play(&tree, tree.root(), &mut dice);
            for _ in 0..dice(4) {
                if trace.is_empty() || dice(2) == 0 {
                    if !tree.labels().is_empty() {
                        trace.insert(dice(trace.len() + 1), dice(tree.labels().len()) as u32);
                    }
                } else {
                    trace.remove(dice(trace.len()));
                }
            }
            traces.push(trace);
        }
        let log = log_of(&tree, traces);
        let options = align::Options { max_states_each: 200_000, ..Default::default() };
        let aligned = align::align(&tree, &log, options).unwrap();
        let same = align::align(&tree.canonical(), &log, options).unwrap();
        let replayed = replay(&PetriNet::of_tree(&tree), &log, Default::default());
        for (at, variant) in log.variants().iter().enumerate() {
            let (a, b) = (aligned.variants[at].clone().unwrap(), same.variants[at].clone().unwrap());
            prop_assert_eq!(a.cost, b.cost);
            // The search never goes beyond the cost that the tree gave: so the cost is no lower than the least, and the steps
            // that it finds show that it is no higher. That no cheaper steps exist follows from the order of the search.
            let moves = a.moves.unwrap();
            let alone = moves.iter().filter(|m| !matches!(m, align::Move::Both(_))).count() as u64;
            prop_assert_eq!(alone, a.cost, "{} {:?}", tree.to_text(), variant.trace);
            let log_side: Vec<u32> = moves.iter().filter_map(|m| match m {
                align::Move::Both(a) | align::Move::Log(a) => Some(*a),
                align::Move::Model(_) => None,
            }).collect();
            prop_assert_eq!(&log_side, &variant.trace);
            // A trace is in the language of the net exactly where its cost is 0.
            prop_assert_eq!(replayed.variants[at].fits(), a.cost == 0, "{} {:?}", tree.to_text(), variant.trace);
        }
    }

    #[test]
    fn text_and_json_keep_every_label(labels in prop::collection::btree_set(".{0,6}|[\\\\'\n\r\t\u{1}]{1,4}", 1..5)) {
        let labels: Vec<String> = labels.into_iter().collect();
        let mut nodes: Vec<Node> = (0..labels.len() as u32).map(Node::Activity).collect();
        nodes.push(Node::Sequence((0..labels.len()).collect()));
        let tree = ProcessTree::new(labels.clone(), nodes).unwrap();
        prop_assert_eq!(&ProcessTree::parse(&tree.to_text()).unwrap(), &tree);
        let json: serde_json::Value = serde_json::from_str(&tree.to_json()).unwrap();
        let read: Vec<&str> = json["children"].as_array().unwrap().iter().map(|c| c["activity"].as_str().unwrap()).collect();
        prop_assert_eq!(read, labels.iter().map(String::as_str).collect::<Vec<_>>());
        let net = PetriNet::of_tree(&tree);
        prop_assert_eq!(elements(&pnml::to_pnml(&net, "name <&\u{0}>"), "transition"), net.transitions().len());
        prop_assert_eq!(elements(&bpmn::to_bpmn(&tree, "name <&\u{0}>"), "bpmn:task"), labels.len());
    }

    #[test]
    fn documents_have_what_the_model_has(tree in trees()) {
        let net = PetriNet::of_tree(&tree);
        let xml = pnml::to_pnml(&net, "net");
        prop_assert_eq!(elements(&xml, "place") - 1, net.places() as usize);
        prop_assert_eq!(elements(&xml, "toolspecific"), net.silent());
        prop_assert_eq!(elements(&xml, "arc"), net.transitions().iter().map(|t| t.inputs.len() + t.outputs.len()).sum::<usize>());
        // A workflow net: only the source has nothing before it, only the sink nothing after it.
        for p in 0..net.places() {
            prop_assert_eq!(p == PetriNet::SOURCE, !net.transitions().iter().any(|t| t.outputs.contains(&p)));
            prop_assert_eq!(p == PetriNet::SINK, !net.transitions().iter().any(|t| t.inputs.contains(&p)));
        }
        let xml = bpmn::to_bpmn(&tree, "process");
        let layout = Layout::of_tree(&tree.canonical(), &Sizes::default());
        prop_assert_eq!(elements(&xml, "bpmndi:BPMNShape"), layout.shapes.len());
        prop_assert_eq!(elements(&xml, "bpmn:sequenceFlow"), layout.edges.len());
    }

    #[test]
    fn lines_cross_nothing(tree in trees(), row in prop::option::of(1i64..900), turns in any::<bool>()) {
        let layout = Layout::of_tree(&tree, &Sizes { row, ..Sizes::default() });
        let layout = if turns { layout.turned() } else { layout };
        let tasks = tree.nodes().iter().filter(|n| matches!(n, Node::Activity(_))).count();
        prop_assert_eq!(layout.shapes.iter().filter(|s| matches!(s.kind, Kind::Task(_))).count(), tasks);
        for (i, a) in layout.shapes.iter().enumerate() {
            prop_assert!(a.x >= 0 && a.y >= 0 && a.x + a.width <= layout.width && a.y + a.height <= layout.height);
            for b in &layout.shapes[i + 1..] {
                prop_assert!(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y);
            }
        }
        for (i, edge) in layout.edges.iter().enumerate() {
            prop_assert!(edge.points.len() >= 2);
            for s in edge.points.windows(2) {
                prop_assert!(s[0].0 == s[1].0 || s[0].1 == s[1].1);
                for shape in &layout.shapes {
                    let (x0, x1) = (s[0].0.min(s[1].0), s[0].0.max(s[1].0));
                    let (y0, y1) = (s[0].1.min(s[1].1), s[0].1.max(s[1].1));
                    let inside = x0 < shape.x + shape.width && x1 > shape.x && y0 < shape.y + shape.height && y1 > shape.y;
                    prop_assert!(!inside, "{} {:?} {:?}", tree.to_text(), s, shape);
                }
            }
            for other in &layout.edges[i + 1..] {
                // Lines of one gateway share its column.
                if edge.from == other.from || edge.to == other.to || edge.from == other.to || edge.to == other.from {
                    continue;
                }
                for s in edge.points.windows(2) {
                    for o in other.points.windows(2) {
                        let apart = |a: (i64, i64), b: (i64, i64)| a.0.max(a.1) < b.0.min(b.1) || b.0.max(b.1) < a.0.min(a.1);
                        let free = apart((s[0].0, s[1].0), (o[0].0, o[1].0)) || apart((s[0].1, s[1].1), (o[0].1, o[1].1));
                        prop_assert!(free, "{}: {:?} and {:?}", tree.to_text(), s, o);
                    }
                }
            }
        }
    }

    #[test]
    fn constraints_hold_as_often_as_they_say(log in logs()) {
        for c in declare::discover(&log, &declare::Options::default()).unwrap() {
            prop_assert!(c.confidence() > 0.0 && c.holds <= c.activated && c.activated <= log.cases());
        }
    }
}
