//! Logs whose models are known from the literature, and inputs at the edge.

use flowmine_process_models::inductive::{Options, discover};
use flowmine_process_models::layout::{Layout, Sizes};
use flowmine_process_models::replay::{precision, replay};
use flowmine_process_models::{Error, Node, PetriNet, ProcessTree, Variant, Variants, align, bpmn, declare, pnml};

fn log(traces: &[(&str, u64)]) -> Variants {
    let letters = |t: &str| t.chars().map(String::from).collect::<Vec<_>>();
    Variants::from_names(traces.iter().map(|&(t, n)| (letters(t), n))).unwrap()
}

fn tree(traces: &[(&str, u64)], noise: f64) -> String {
    discover(&log(traces), Options { noise, ..Options::default() }).unwrap().tree.to_text()
}

#[test]
fn the_trees_of_the_books_logs() {
    // van der Aalst, Process Mining (2016): L1, L5, L7, L8 and the case of claims.
    assert_eq!(tree(&[("abcd", 3), ("acbd", 2), ("aed", 1)], 0.0), "->( 'a', X( +( 'b', 'c' ), 'e' ), 'd' )");
    let l5 = [("abef", 2), ("abecdbf", 3), ("abcedbf", 2), ("abcdebf", 4), ("aebcdbf", 3)];
    assert_eq!(tree(&l5, 0.0), "->( 'a', +( *( 'b', ->( 'c', 'd' ) ), 'e' ), 'f' )");
    assert_eq!(tree(&[("ac", 2), ("abc", 3), ("abbc", 2), ("abbbbc", 1)], 0.0), "->( 'a', *( tau, 'b' ), 'c' )");
    assert_eq!(tree(&[("abd", 3), ("abcbd", 2), ("abcbcbd", 1)], 0.0), "->( 'a', *( 'b', 'c' ), 'd' )");
    let claims = [
        ("abdeg", 455),
        ("acdeg", 100),
        ("adbeh", 191),
        ("abdeh", 177),
        ("adcefbdeh", 14),
        ("acdefdbeg", 9),
        ("adcefcdefbdeh", 2),
        ("acdefbdefdbeg", 1),
    ];
    assert_eq!(tree(&claims, 0.0), "->( 'a', *( ->( +( X( 'b', 'c' ), 'd' ), 'e' ), 'f' ), X( 'g', 'h' ) )");
}

#[test]
fn each_fall_through() {
    assert_eq!(tree(&[("", 3)], 0.0), "tau");
    assert_eq!(tree(&[("a", 3), ("", 2)], 0.0), "X( tau, 'a' )");
    // Once per trace; a tau loop.
    assert_eq!(tree(&[("a", 1), ("bacb", 1)], 0.0), "+( 'a', X( tau, *( 'b', 'c' ) ) )");
    assert_eq!(tree(&[("ab", 5), ("abab", 2)], 0.0), "*( ->( 'a', 'b' ), tau )");
    let chaos = [("abcabbca", 1), ("bcaacb", 1), ("cbabca", 1), ("aabbcc", 1), ("ccbbaa", 1)];
    assert_eq!(tree(&chaos, 0.0), "+( *( 'a', tau ), *( 'b', tau ), *( 'c', tau ) )");
    // A ring in which no activity is missed, and no start comes again.
    let ring = log(&["aw", "bw", "bx", "cx", "cy", "dy", "dz", "az"].map(|t| (t, 1)));
    let found = discover(&ring, Options::default()).unwrap();
    assert_eq!(found.tree.to_text(), "*( tau, X( 'a', 'b', 'c', 'd', 'w', 'x', 'y', 'z' ) )");
    assert_eq!((found.flowers, found.passed_over), (1, 0));
    let once = log(&[("a", 1), ("bacb", 1)]);
    let cut_short = discover(&once, Options { max_steps: 0, ..Options::default() }).unwrap();
    assert!(cut_short.passed_over > 0);
    assert_eq!(replay(&PetriNet::of_tree(&cut_short.tree), &once, Default::default()).fitness(), 1.0);
}

#[test]
fn noise_is_what_is_below_the_threshold() {
    // Of the two ways out of b, a and the end, the first is half as frequent: at one half it still counts, as the paper has
    // it. PM4Py drops it and finds ->( 'a', *( 'b', tau ) ). No smaller log shows the difference.
    assert_eq!(tree(&[("ab", 1), ("bab", 1)], 0.5), "+( 'a', *( 'b', tau ) )");
    assert_eq!(tree(&[("ab", 1), ("bab", 1)], 0.51), "->( 'a', *( 'b', tau ) )");
    assert_eq!(tree(&[("", 1), ("ab", 20)], 0.0), "X( tau, ->( 'a', 'b' ) )");
    assert_eq!(tree(&[("", 1), ("ab", 20)], 0.1), "->( 'a', 'b' )");
    let swapped = [("abc", 10), ("bac", 1)];
    assert_eq!(tree(&swapped, 0.0), "->( +( 'a', 'b' ), 'c' )");
}

#[test]
fn refused() {
    assert_eq!(Variants::new(vec![], vec![Variant { trace: vec![0], count: 1 }]), Err(Error::NoSuchActivity { index: 0, known: 0 }));
    assert!(matches!(discover(&log(&[("a", 1)]), Options { noise: f64::NAN, ..Options::default() }), Err(Error::Option { .. })));
    for text in ["", "->(", "->( )", "->( 'a' ) 'b'", "'a", "X( 'a' 'b' )", "*( )", ")", "'\\u{110000}'", "?"] {
        assert!(matches!(ProcessTree::parse(text), Err(Error::NotATree { .. })), "{text}");
    }
    let twice = ProcessTree::parse("->( 'a', 'a' )").unwrap();
    assert!(matches!(align::align(&twice, &log(&[("a", 1)]), Default::default()), Err(Error::ActivityTwice { .. })));
    let wide = Variants::new((0..3000).map(|i| i.to_string()).collect(), vec![Variant { trace: (0..3000).collect(), count: 1 }]).unwrap();
    assert!(matches!(declare::discover(&wide, &Default::default()), Err(Error::TooLarge { .. })));
}

#[test]
fn canonical_forms() {
    for (text, canonical) in [
        ("->( ->( 'a', tau ), ->( 'b', 'c' ) )", "->( 'a', 'b', 'c' )"),
        ("X( 'b', X( tau, X( 'a', tau ) ) )", "X( tau, 'a', 'b' )"),
        ("X( tau, *( 'a', tau ) )", "*( tau, 'a' )"),
        ("*( *( 'a', 'b' ), 'c' )", "*( 'a', X( 'b', 'c' ) )"),
        ("*( X( tau, 'a' ), tau )", "*( tau, 'a' )"),
        ("*( tau, X( tau, *( 'a', tau ), 'b' ) )", "*( tau, X( 'a', 'b' ) )"),
        ("+( tau, +( 'b', 'a' ) )", "+( 'a', 'b' )"),
        ("*( tau, tau )", "tau"),
        ("*( 'a', 'b', 'c' )", "*( 'a', X( 'b', 'c' ) )"),
    ] {
        assert_eq!(ProcessTree::parse(text).unwrap().canonical().to_text(), canonical);
    }
}

#[test]
fn nets_are_small() {
    for (text, places, transitions, silent) in [
        ("'a'", 2, 1, 0),
        ("tau", 2, 1, 1),
        ("->( 'a', +( 'b', 'c' ), 'd' )", 6, 4, 0),
        ("->( 'a', *( 'b', 'c' ), 'd' )", 4, 4, 0),
        ("->( 'a', X( 'b', 'c', tau ), 'd' )", 4, 5, 1),
        ("*( tau, X( 'a', 'b', 'c' ) )", 3, 5, 2),
    ] {
        let net = PetriNet::of_tree(&ProcessTree::parse(text).unwrap());
        assert_eq!((net.places(), net.transitions().len(), net.silent()), (places, transitions, silent), "{text}");
    }
}

#[test]
fn tokens_of_a_damaged_case() {
    // No b: one token missing before d, one left before b. Produced: start, a (2), c, d; consumed: a, c, d (2), end.
    let net = PetriNet::of_tree(&ProcessTree::parse("->( 'a', +( 'b', 'c' ), 'd' )").unwrap());
    let replayed = replay(&net, &log(&[("acd", 3)]), Default::default());
    let t = replayed.variants[0];
    assert_eq!((t.produced, t.consumed, t.missing, t.remaining), (5, 5, 1, 1));
    assert!((replayed.fitness() - 0.8).abs() < 1e-12);
    assert_eq!(replayed.fitting, 0.0);
    // What the net does not know is passed over.
    assert!(replay(&net, &log(&[("abxcd", 1)]), Default::default()).variants[0].fits());
}

#[test]
fn a_case_that_a_greedy_replay_loses() {
    // The first a is of the second round: begun in the first, it would need its d before the second b.
    let tree = ProcessTree::parse("*( +( X( tau, ->( 'a', 'd' ) ), 'b' ), tau )").unwrap();
    let log = log(&[("babd", 1)]);
    assert_eq!(align::align(&tree, &log, Default::default()).unwrap().fitness(), Some(1.0));
    assert!(replay(&PetriNet::of_tree(&tree), &log, Default::default()).variants[0].fits());
    let blind = flowmine_process_models::replay::Options { max_states_each: 0, max_states: 0 };
    let lost = replay(&PetriNet::of_tree(&tree), &log, blind);
    assert!(!lost.variants[0].fits() && lost.cut_short == 1);
}

#[test]
fn an_alignment_shows_its_steps() {
    use align::Move::{Both, Log, Model};
    let tree = ProcessTree::parse("->( 'a', X( 'b', 'c' ), 'd' )").unwrap();
    let options = align::Options { max_states_each: 10_000, ..Default::default() };
    let found = align::align(&tree, &log(&[("add", 2)]), options).unwrap();
    let alignment = found.variants[0].as_ref().unwrap();
    assert_eq!((alignment.cost, alignment.worst), (2, 6));
    let moves = alignment.moves.clone().unwrap();
    assert_eq!(moves.iter().filter(|m| matches!(m, Both(_))).count(), 2);
    assert_eq!(moves.iter().filter(|m| matches!(m, Log(1))).count(), 1);
    assert_eq!(moves.iter().filter(|m| matches!(m, Model(_))).count(), 1);
    assert!((found.fitness().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    let none = align::align(&tree, &log(&[("add", 2)]), align::Options { max_steps_each: 3, ..Default::default() }).unwrap();
    assert_eq!((none.fitness(), none.undecided()), (None, 2));
}

#[test]
fn names_are_shown_in_documents() {
    let tree = ProcessTree::new(vec!["<a & \"b\">\n\u{0}\u{1b}".into()], vec![Node::Activity(0)]).unwrap();
    for document in [pnml::to_pnml(&PetriNet::of_tree(&tree), "n"), bpmn::to_bpmn(&tree, "n")] {
        assert!(document.contains("&lt;a &amp; &quot;b&quot;&gt;␊␀␛"), "{document}");
    }
}

#[test]
fn big_and_deep_inputs_are_bounded() {
    // As many activities as cases have; one long sequence; all of them at once.
    let names: Vec<String> = (0..100_000).map(|i| format!("activity {i}")).collect();
    let long = Variants::new(names.clone(), vec![Variant { trace: (0..100_000).collect(), count: 1 }]).unwrap();
    let found = discover(&long, Options::default()).unwrap().tree;
    assert!(matches!(&found.nodes()[found.root()], Node::Sequence(c) if c.len() == 100_000));
    let each = Variants::new(names, (0..100_000).map(|a| Variant { trace: vec![a], count: 1 }).collect()).unwrap();
    let found = discover(&each, Options::default()).unwrap().tree;
    assert!(matches!(&found.nodes()[found.root()], Node::Xor(c) if c.len() == 100_000));
    let net = PetriNet::of_tree(&found);
    assert_eq!(precision(&net, &each, Default::default()).precision, 1.0);
    // A tree a hundred thousand nodes deep.
    let mut nodes = vec![Node::Activity(0)];
    for depth in 1..100_000u32 {
        nodes.push(Node::Activity(depth));
        let (inner, leaf) = (nodes.len() - 2, nodes.len() - 1);
        nodes.push(if depth % 2 == 0 { Node::Parallel(vec![inner, leaf]) } else { Node::Sequence(vec![inner, leaf]) });
    }
    let deep = ProcessTree::new((0..100_000).map(|i| i.to_string()).collect(), nodes).unwrap();
    assert_eq!(deep.canonical().nodes().len(), deep.nodes().len());
    assert_eq!(ProcessTree::parse(&deep.to_text()).unwrap().nodes().len(), deep.nodes().len());
    assert!(deep.to_json().len() > 1_000_000);
    assert_eq!(Layout::of_tree(&deep, &Sizes::default()).shapes.len(), 100_000 + 2 + 2 * 49_999);
    assert!(PetriNet::of_tree(&deep).transitions().len() >= 100_000);
}

/// Logs of many variants: walks that skip ahead, the same with events exchanged, and chance.
fn many(activities: u32, variants: usize, length: usize, kind: &str) -> Variants {
    let mut seed = 42u64;
    let mut dice = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let mut trace = || -> Vec<u32> {
        if kind == "chance" {
            return (0..length).map(|_| dice(activities as usize) as u32).collect();
        }
        let (mut at, mut trace) = (0, Vec::new());
        while at < activities as usize && trace.len() < length {
            trace.push(at as u32);
            at += 1 + dice(2 * activities as usize / length);
        }
        if kind == "exchanged" {
            for _ in 0..dice(4) {
                let (i, j) = (dice(trace.len()), dice(trace.len()));
                trace.swap(i, j);
            }
        }
        trace
    };
    let list = (0..variants).map(|_| Variant { trace: trace(), count: 1 }).collect();
    Variants::new((0..activities).map(|i| format!("activity {i:06}")).collect(), list).unwrap()
}

#[test]
#[ignore = "measures; run with --release --nocapture"]
fn speed() {
    for (kind, activities, variants, length) in [
        ("ahead", 1_000, 100_000, 20),
        ("exchanged", 1_000, 100_000, 20),
        ("chance", 1_000, 100_000, 20),
        ("chance", 100_000, 100_000, 20),
        ("exchanged", 100_000, 20_000, 50),
        ("ahead", 30, 100_000, 20),
        ("exchanged", 30, 100_000, 20),
    ] {
        let log = many(activities, variants, length, kind);
        let clock = std::time::Instant::now();
        let lap = |what: &str| println!("  {what}: {:.2} s so far", clock.elapsed().as_secs_f64());
        println!("{kind}: {} variants, {activities} activities", log.variants().len());
        let found = discover(&log, Options::default()).unwrap();
        lap(&format!("discover, {} nodes, {} flowers, {} passed over", found.tree.nodes().len(), found.flowers, found.passed_over));
        if std::env::var_os("FLOWMINE_DISCOVER_ONLY").is_some() {
            continue;
        }
        let net = PetriNet::of_tree(&found.tree);
        let bytes = pnml::to_pnml(&net, "net").len() + bpmn::to_bpmn(&found.tree, "process").len();
        lap(&format!("net of {} transitions, {} silent, written in {bytes} bytes", net.transitions().len(), net.silent()));
        let replayed = replay(&net, &log, Default::default());
        lap(&format!("replay, fitness {}, cut short {}", replayed.fitness(), replayed.cut_short));
        lap(&format!("precision, {:?}", precision(&net, &log, Default::default())));
        let aligned = align::align(&found.tree, &log, Default::default()).unwrap();
        lap(&format!("alignments, fitness {:?}, undecided {}", aligned.fitness(), aligned.undecided()));
    }
}
