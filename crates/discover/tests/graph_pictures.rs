//! Pictures of directly-follows graphs: what they must say, what must not get into them, and how
//! they look.

mod samples;

use flowmine_discover::dfg::{Activity, Dfg, Edge, OnPath};
use flowmine_discover::pictures::dfg::{self as picture, Options};
use flowmine_discover::stats::Stats;
use flowmine_draw::{LayoutError, duration, visible};
use proptest::prelude::*;
use quick_xml::events::Event;

/// What an XML parser finds in a picture.
#[derive(Debug, Default)]
struct Parsed {
    elements: Vec<String>,
    attributes: Vec<(String, String)>,
    /// Text of `<text>` elements.
    texts: Vec<String>,
    /// Text of `<title>` elements.
    titles: Vec<String>,
}

fn parse(picture: &str) -> Parsed {
    let mut reader = quick_xml::Reader::from_str(picture);
    reader.config_mut().check_end_names = true;
    let mut parsed = Parsed::default();
    let mut inside: Vec<(String, String)> = Vec::new();
    let open = |parsed: &mut Parsed, e: &quick_xml::events::BytesStart| {
        let name = e.name().as_ref().to_owned();
        for a in e.attributes() {
            let a = a.expect("attributes are well-formed");
            parsed.attributes.push((a.key.as_ref().to_owned(), a.value.to_string()));
        }
        parsed.elements.push(name.clone());
        name
    };
    loop {
        match reader.read_event().expect("the picture is well-formed XML") {
            Event::Eof => break,
            Event::Start(e) => {
                let name = open(&mut parsed, &e);
                inside.push((name, String::new()));
            }
            Event::Empty(e) => {
                open(&mut parsed, &e);
            }
            Event::Text(t) => {
                if let Some((_, text)) = inside.last_mut() {
                    text.push_str(&t);
                }
            }
            Event::GeneralRef(r) => {
                let text = &mut inside.last_mut().expect("no reference outside of elements").1;
                match &*r {
                    "amp" => text.push('&'),
                    "lt" => text.push('<'),
                    "gt" => text.push('>'),
                    "quot" => text.push('"'),
                    "#39" => text.push('\''),
                    other => panic!("unknown reference &{other};"),
                }
            }
            Event::End(_) => {
                let (name, text) = inside.pop().expect("an element is open");
                match name.as_str() {
                    "text" => parsed.texts.push(text),
                    "title" => parsed.titles.push(text),
                    _ => {}
                }
            }
            Event::Decl(_) => {}
            other => panic!("a picture has no {other:?}"),
        }
    }
    assert!(inside.is_empty());
    parsed
}

/// Nothing but drawing, no characters that XML forbids or that cannot be seen, no numbers that are
/// none.
fn check_svg(picture: &str) -> Parsed {
    let parsed = parse(picture);
    let drawing = ["svg", "title", "desc", "rect", "g", "path", "text", "defs", "linearGradient", "stop", "view"];
    for e in &parsed.elements {
        assert!(drawing.contains(&e.as_str()), "element {e}");
    }
    for (key, value) in &parsed.attributes {
        assert!(!key.starts_with("on") && !key.contains("href"), "attribute {key}");
        assert!(!value.contains("NaN") && !value.contains("inf"), "{key}={value}");
    }
    for c in picture.chars() {
        assert!(c == '\n' || !flowmine_text::is_unsafe(c), "character {c:?}");
    }
    parsed
}

/// The parts of a DOT file outside of quoted strings.
fn outside_of_strings(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match (quoted, c) {
            (true, '\\') => {
                chars.next();
            }
            (_, '"') => {
                quoted = !quoted;
                out.push('"');
            }
            (false, c) => out.push(c),
            (true, c) => assert!(!flowmine_text::is_unsafe(c), "character {c:?} in a string"),
        }
    }
    assert!(!quoted, "a string is not closed");
    out
}

fn svg(dfg: &Dfg, options: &Options) -> Result<String, LayoutError> {
    flowmine_draw::svg::svg(&picture::graph(dfg, options))
}

fn dot(dfg: &Dfg, options: &Options) -> Result<String, LayoutError> {
    flowmine_draw::dot::dot(&picture::graph(dfg, options))
}

fn draw(dfg: &Dfg) -> String {
    svg(dfg, &Options::default()).expect("the graph is one")
}

#[test]
fn hostile_names_are_shown_and_harmless() {
    let dfg = samples::hostile();
    let picture = draw(&dfg);
    let parsed = check_svg(&picture);
    assert!(!picture.contains("<script"));
    for name in samples::hostile_names() {
        let shown = visible(&name);
        assert!(parsed.titles.iter().any(|t| t.lines().next() == Some(shown.as_str())), "{shown}");
    }
    let text = dot(&dfg, &Options::default()).expect("the graph is one");
    for line in outside_of_strings(&text).lines() {
        let known = line.chars().all(|c| c.is_ascii_alphanumeric() || " \"[]{}=,;->.".contains(c));
        assert!(known, "{line}");
    }
}

#[test]
fn long_names_are_shortened_and_told_in_full() {
    let parsed = check_svg(&draw(&samples::long_names()));
    let full = "W".repeat(300);
    assert!(parsed.titles.iter().any(|t| t.contains(&full)));
    assert!(parsed.texts.iter().all(|t| t.chars().count() < 110));
    assert!(parsed.texts.iter().any(|t| t.contains('…')));
}

#[test]
fn an_empty_graph_says_so() {
    let parsed = check_svg(&draw(&samples::empty()));
    assert!(parsed.texts.iter().any(|t| t == "There are no events."));
    outside_of_strings(&dot(&samples::empty(), &Options::default()).expect("the graph is one"));
    check_svg(&draw(&Dfg::default()));
}

#[test]
fn what_is_left_out_is_said_in_the_picture() {
    let dfg = samples::random(90, 400, 9);
    let parsed = check_svg(&draw(&dfg));
    let all = parsed.texts.join(" ");
    assert!(all.contains("Not shown: 30 of 90 activities"), "{all}");
    assert!(all.contains(" lines, with "), "{all}");
    assert!(dot(&dfg, &Options::default()).expect("the graph is one").contains("Not shown: 30 of 90 activities"));
    let small = check_svg(&draw(&samples::diamond()));
    assert!(!small.texts.iter().any(|t| t.contains("Not shown")));
}

#[test]
fn the_legend_has_the_numbers_of_the_picture() {
    let dfg = samples::diamond();
    let parsed = check_svg(&draw(&dfg));
    let has = |text: &str| parsed.texts.iter().any(|t| t == text);
    let least = dfg.edges.iter().map(|e| e.frequency).min().expect("edges");
    let most = dfg.edges.iter().map(|e| e.frequency).max().expect("edges");
    assert!(has(&least.to_string()) && has(&most.to_string()));
    let median = |e: &Edge| e.wait_ns.expect("times are known").median;
    for time in [dfg.edges.iter().map(median).fold(f64::INFINITY, f64::min), dfg.edges.iter().map(median).fold(0.0, f64::max)] {
        assert!(has(&duration(time)));
    }
    assert!(has("▲ Costs most") && has("A case is: jobs joined by declared dependencies"));
    assert!(has("120 cases, 512 events, 4 activities, 9 directly-follows pairs."));
    // Every edge has its label, and exactly the marked ones have the mark.
    let marked = parsed.texts.iter().filter(|t| t.starts_with("▲ Σ ")).count();
    // Those with a twentieth of all waiting or more, three at most.
    let sums: Vec<i128> = dfg.edges.iter().map(|e| e.wait_ns.expect("times are known").sum).collect();
    let dear = sums.iter().filter(|&&sum| sum * 20 >= sums.iter().sum::<i128>()).count();
    assert_eq!(marked, dear.min(3));
    for e in &dfg.edges {
        let label = format!("{} · {}", e.frequency, duration(median(e)));
        assert!(parsed.texts.contains(&label), "{label}");
    }
    // One activity has no edges: nothing to say about lines.
    let single = check_svg(&draw(&samples::single()));
    assert!(!single.texts.iter().any(|t| t.starts_with("Line")));
}

#[test]
fn a_chain_of_thirty_is_drawn_in_full() {
    let dfg = samples::chain(30);
    let parsed = check_svg(&draw(&dfg));
    for i in 0..30 {
        assert!(parsed.texts.iter().any(|t| *t == format!("stage {i}")));
    }
    assert_eq!(parsed.texts.iter().filter(|t| t.contains(" · ") && t.contains("25")).count(), 29 + 1, "29 edges and the legend");
}

#[test]
fn filters_and_what_an_activity_is_are_named() {
    let mut dfg = samples::fifteen();
    dfg.words.activity = "command+state".into();
    let parsed = check_svg(&draw(&dfg));
    assert!(parsed.texts.iter().any(|t| t == "Filtered: account = bio; from 2026-01-01"));
    assert!(parsed.texts.iter().any(|t| t == "An activity is: command+state"));
}

#[test]
fn what_costs_most_is_marked_however_rare_it_is() {
    let mut dfg = samples::diamond();
    let day = 86_400_000_000_000;
    let rare = dfg.edges.len() - 1;
    dfg.edges[rare].wait_ns = Stats::new(&mut [1000 * day]);
    dfg.edges[rare].last_wait_ns = 1000 * i128::from(day);
    dfg.edges[rare].frequency = 1;
    let picture = picture::graph(&dfg, &Options { coverage: Some(0.01), ..Options::default() });
    let marked = |e: &flowmine_draw::Edge| e.label.iter().any(|line| line.starts_with("▲ Σ 1,000d"));
    assert_eq!(picture.edges.iter().filter(|e| marked(e)).count(), 1);
}

#[test]
fn the_diamond_looks_as_it_did() {
    insta::assert_snapshot!("diamond.svg", draw(&samples::diamond()));
    insta::assert_snapshot!("diamond.dot", dot(&samples::diamond(), &Options::default()).expect("the graph is one"));
    let mut bytes = Vec::new();
    picture::json(&samples::diamond(), &mut bytes).expect("memory takes it");
    insta::assert_snapshot!("diamond.json", String::from_utf8(bytes).expect("UTF-8"));
}

#[test]
fn the_single_activity_looks_as_it_did() {
    insta::assert_snapshot!("single.svg", draw(&samples::single()));
}

prop_compose! {
    fn any_dfg()(n in 1usize..7)(
        names in proptest::collection::btree_set(any::<String>(), n),
        edges in proptest::collection::btree_map((0..n, 0..n), (0u64..u64::MAX / 64, any::<i64>()), 0..14),
        starts in proptest::collection::btree_map(0..n, 0u64..1 << 40, 0..n),
        ends in proptest::collection::btree_map(0..n, 0u64..1 << 40, 0..n),
        words in any::<(String, String, String)>(),
    ) -> Dfg {
        let stats = |t: i64| Stats::new(&mut [t, t / 2]);
        let on_path = |t: i64| (t % 2 == 0).then(|| OnPath {
            frequency: t.unsigned_abs(),
            time_ns: i128::from(t).abs(),
            core_ns: (t % 4 == 0).then(|| i128::from(t).abs() * 64),
        });
        let mut dfg = Dfg {
            activities: names.into_iter().enumerate()
                .map(|(i, name)| Activity {
                    name, frequency: 1 << (i * 9), cases: i as u64, read_bytes: stats(i as i64), on_path: on_path(i as i64), ..Activity::default()
                })
                .collect(),
            edges: edges.into_iter().map(|((from, to), (frequency, t))| Edge {
                from, to, frequency, cases: 1, wait_ns: stats(t), last_wait_ns: i128::from(t), bytes: if t % 3 == 0 { stats(t.saturating_abs()) } else { None },
                on_path: on_path(t),
            }).collect(),
            starts: starts.into_iter().collect(),
            ends: ends.into_iter().collect(),
            instances: 5,
            ..Dfg::default()
        };
        dfg.words.instance = words.0;
        dfg.words.notion = words.1;
        dfg.words.filters = vec![words.2];
        dfg
    }
}

proptest! {
    #[test]
    fn any_graph_gives_well_formed_pictures(dfg in any_dfg(), most in 0usize..9) {
        let options = Options { most_activities: most, coverage: Some(0.5), ..Options::default() };
        for options in [Options::default(), options] {
            let picture = svg(&dfg, &options)?;
            check_svg(&picture);
            prop_assert_eq!(picture, svg(&dfg, &options)?);
            let text = dot(&dfg, &options)?;
            let outside = outside_of_strings(&text);
            prop_assert_eq!(outside.matches('{').count(), 1);
            prop_assert_eq!(text, dot(&dfg, &options)?);
        }
        let mut bytes = Vec::new();
        picture::json(&dfg, &mut bytes)?;
        let value: serde_json::Value = serde_json::from_slice(&bytes)?;
        for (activity, entry) in dfg.activities.iter().zip(value["activities"].as_array().expect("a list")) {
            prop_assert_eq!(entry["name"].as_str(), Some(activity.name.as_str()));
        }
    }
}
