//! A graph for other programs: nodes and edges with their labels, colours and numbers in; GraphML,
//! GML or Cytoscape's JSON out.
//!
//! All three have the same content. A node has its `id`, its name as `label`, the form (`shape`),
//! its fill (`colour`), the explanation (`title`) and everything in [`Node::data`](crate::Node); an
//! edge has an `id` (`e0`, `e1`, …, as in SVG), its text as `label`, `width` in pixels, `colour`,
//! `title` and its data. What is unknown is left out. A datum whose name is taken (`id`, `label`,
//! …) is written with `data_` before it.
//!
//! - [`graphml`]: GraphML 1.0 (Brandes and others, 2002): one typed `<key>` a datum; whole numbers
//!   are `long`, numbers `double`. yEd, Gephi and networkx read it.
//! - [`gml`]: GML (Himsolt, 1997) as Gephi and networkx read it: 7-bit text, other characters as
//!   `&#…;`, nodes counted from 0 with their id as `name`.
//! - [`cytoscape`]: `elements` of Cytoscape.js and Cytoscape:
//!   `{"elements": {"nodes": [{"data": {…}}], "edges": […]}}`.
//!
//! Names may hold anything: what is invisible or special is shown as an escape, as in the figure,
//! since neither XML 1.0 nor GML can hold control characters. Numbers that are not finite are left
//! out, because the formats cannot hold them. An edge without an existing end is refused
//! ([`LayoutError`]).

use std::collections::BTreeMap;
use std::fmt::Write;

use flowmine_layout::LayoutError;
use serde_json::{Map, Value, json};

use crate::graph::{Datum, Edge, Graph, Mark, Node, Shape};
use crate::text::{visible, xml};

/// Names that the formats or this module use themselves.
const TAKEN: [&str; 14] =
    ["id", "value", "key", "name", "label", "shape", "colour", "title", "width", "dashed", "marked", "source", "target", "graphics"];

/// A name and a value, in the order in which they are written.
type Fields = Vec<(String, Datum)>;

/// A value, and whether a format can hold it.
fn finite(datum: &Datum) -> bool {
    !matches!(datum, Datum::Number(number) if !number.is_finite())
}

/// What is written of an element: the fixed part, then its data.
fn fields(fixed: Vec<(&str, Option<Datum>)>, data: &[(&'static str, Datum)]) -> Fields {
    let mut out: Fields = fixed.into_iter().filter_map(|(name, datum)| Some((name.to_owned(), datum?))).collect();
    for (name, datum) in data.iter().filter(|(_, datum)| finite(datum)) {
        let name = if TAKEN.contains(name) { format!("data_{name}") } else { (*name).to_owned() };
        // A name that comes twice would be a different thing in each format: the first counts.
        if out.iter().all(|(other, _)| *other != name) {
            out.push((name, datum.clone()));
        }
    }
    out
}

fn text(words: &str) -> Option<Datum> {
    (!words.is_empty()).then(|| Datum::Text(visible(words)))
}

fn lines(lines: &[String]) -> Option<Datum> {
    (!lines.is_empty()).then(|| Datum::Text(lines.iter().map(|line| visible(line)).collect::<Vec<_>>().join(" / ")))
}

fn yes(flag: bool) -> Option<Datum> {
    flag.then_some(Datum::Integer(1))
}

fn of_node(node: &Node) -> Fields {
    let shape = match node.shape {
        Shape::Box => "box",
        Shape::Start => "start",
        Shape::End => "end",
        Shape::Circle => "circle",
        Shape::Bar => "bar",
        Shape::File => "file",
    };
    let fixed = vec![
        ("label", Some(Datum::Text(visible(&node.name)))),
        ("shape", text(shape)),
        ("colour", text(&node.fill)),
        ("title", lines(&node.title)),
        ("marked", yes(node.mark == Mark::Halo)),
        ("unsure", yes(node.unsure)),
    ];
    fields(fixed, &node.data)
}

fn of_edge(edge: &Edge) -> Fields {
    let fixed = vec![
        ("label", lines(&edge.label)),
        ("width", edge.width.is_finite().then_some(Datum::Number(edge.width))),
        ("colour", text(&edge.colour)),
        ("title", lines(&edge.title)),
        ("dashed", yes(edge.dashed)),
        ("marked", yes(edge.mark == Mark::Halo)),
    ];
    fields(fixed, &edge.data)
}

/// Refuses an edge without an existing end.
fn check(picture: &Graph) -> Result<(), LayoutError> {
    let nodes = picture.nodes.len();
    for (at, edge) in picture.edges.iter().enumerate() {
        if let Some(node) = [edge.from, edge.to].into_iter().find(|&node| node >= nodes) {
            return Err(LayoutError::UnknownNode { edge: at, node, nodes });
        }
    }
    Ok(())
}

/// Whether all values of a name are whole numbers, numbers or texts: a key has one type.
fn kind(datum: &Datum) -> u8 {
    match datum {
        Datum::Integer(_) => 0,
        Datum::Number(_) => 1,
        Datum::Text(_) => 2,
    }
}

/// Writes a graph as GraphML.
///
/// # Errors
/// [`LayoutError`] when an edge of the graph names a node that is not there.
pub fn graphml(picture: &Graph) -> Result<String, LayoutError> {
    check(picture)?;
    let nodes: Vec<Fields> = picture.nodes.iter().map(of_node).collect();
    let edges: Vec<Fields> = picture.edges.iter().map(of_edge).collect();
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns \
         http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n",
    );
    let of_nodes = keys(&mut out, "node", &nodes);
    let of_edges = keys(&mut out, "edge", &edges);
    let _ = writeln!(out, "<graph id=\"{}\" edgedefault=\"directed\">", xml(graph_name(picture)));
    if !picture.title.is_empty() {
        let _ = writeln!(out, "<desc>{}</desc>", xml(&visible(&picture.title)));
    }
    let data = |out: &mut String, fields: &Fields, keys: &BTreeMap<String, String>| {
        for (name, datum) in fields {
            let key = keys.get(name).map_or("", String::as_str);
            let _ = match datum {
                Datum::Integer(number) => writeln!(out, "  <data key=\"{key}\">{number}</data>"),
                Datum::Number(number) => writeln!(out, "  <data key=\"{key}\">{number}</data>"),
                Datum::Text(words) => writeln!(out, "  <data key=\"{key}\">{}</data>", xml(&visible(words))),
            };
        }
    };
    for (node, fields) in picture.nodes.iter().zip(&nodes) {
        let _ = writeln!(out, "<node id=\"{}\">", xml(&visible(&node.id)));
        data(&mut out, fields, &of_nodes);
        out.push_str("</node>\n");
    }
    for (at, (edge, fields)) in picture.edges.iter().zip(&edges).enumerate() {
        let id = |node: usize| xml(&visible(&picture.nodes[node].id));
        let _ = writeln!(out, "<edge id=\"e{at}\" source=\"{}\" target=\"{}\">", id(edge.from), id(edge.to));
        data(&mut out, fields, &of_edges);
        out.push_str("</edge>\n");
    }
    out.push_str("</graph>\n</graphml>\n");
    Ok(out)
}

/// Declares a key for each name, with the narrowest type that holds all its values. Gives the key
/// of each name.
fn keys(out: &mut String, of: &str, elements: &[Fields]) -> BTreeMap<String, String> {
    let mut names: Vec<(&str, u8)> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, datum) in elements.iter().flatten() {
        let at = *known.entry(name).or_insert_with(|| {
            names.push((name, 0));
            names.len() - 1
        });
        names[at].1 = names[at].1.max(kind(datum));
    }
    let mut keys = BTreeMap::new();
    for (at, (name, kind)) in names.into_iter().enumerate() {
        let key = format!("{}{at}", &of[..1]);
        let kind = ["long", "double", "string"][usize::from(kind)];
        let _ = writeln!(out, "<key id=\"{key}\" for=\"{of}\" attr.name=\"{}\" attr.type=\"{kind}\"/>", xml(&visible(name)));
        keys.insert(name.to_owned(), key);
    }
    keys
}

fn graph_name(picture: &Graph) -> &str {
    if picture.name.is_empty() { "graph" } else { picture.name }
}

/// Writes a graph as GML.
///
/// # Errors
/// [`LayoutError`] when an edge of the graph names a node that is not there.
pub fn gml(picture: &Graph) -> Result<String, LayoutError> {
    check(picture)?;
    let mut out = format!("graph [\n  directed 1\n  multigraph 1\n  name \"{}\"\n", ascii(&visible(&picture.title)));
    let data = |out: &mut String, fields: Fields| {
        for (name, datum) in fields {
            let name = key(&name);
            let _ = match datum {
                // Whole numbers of GML have 32 bits; readers take longer ones as texts or not at all.
                Datum::Integer(number) if i32::try_from(number).is_ok() => writeln!(out, "    {name} {number}"),
                Datum::Integer(number) => writeln!(out, "    {name} {number}.0"),
                Datum::Number(number) => writeln!(out, "    {name} {}", real(number)),
                Datum::Text(words) => writeln!(out, "    {name} \"{}\"", ascii(&visible(&words))),
            };
        }
    };
    for (at, node) in picture.nodes.iter().enumerate() {
        let _ = writeln!(out, "  node [\n    id {at}\n    name \"{}\"", ascii(&visible(&node.id)));
        data(&mut out, of_node(node));
        out.push_str("  ]\n");
    }
    for (at, edge) in picture.edges.iter().enumerate() {
        let _ = writeln!(out, "  edge [\n    source {}\n    target {}\n    key {at}\n    id \"e{at}\"", edge.from, edge.to);
        data(&mut out, of_edge(edge));
        out.push_str("  ]\n");
    }
    out.push_str("]\n");
    Ok(out)
}

/// A number with a point, as GML's grammar wants it.
fn real(number: f64) -> String {
    let text = format!("{number:?}");
    match text.split_once('e') {
        Some((digits, power)) if !digits.contains('.') => format!("{digits}.0E{power}"),
        Some((digits, power)) => format!("{digits}E{power}"),
        None => text,
    }
}

/// A name of GML: letters and digits, beginning with a letter.
fn key(name: &str) -> String {
    let out: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    if out.starts_with(|c: char| c.is_ascii_alphabetic()) { out } else { format!("data_{out}") }
}

/// Text for the inside of a quoted string.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            ' '..='~' => out.push(c),
            c => {
                let _ = write!(out, "&#{};", c as u32);
            }
        }
    }
    out
}

/// Writes Cytoscape's JSON.
///
/// # Errors
/// [`LayoutError`] when an edge of the graph names a node that is not there.
pub fn cytoscape(picture: &Graph) -> Result<String, LayoutError> {
    check(picture)?;
    let data = |mut map: Map<String, Value>, fields: Fields| {
        for (name, datum) in fields {
            let value = match datum {
                Datum::Integer(number) => json!(number),
                Datum::Number(number) => json!(number),
                Datum::Text(words) => json!(words),
            };
            map.insert(name, value);
        }
        json!({ "data": map })
    };
    let id = |node: usize| json!(visible(&picture.nodes[node].id));
    let nodes: Vec<Value> = (picture.nodes.iter().enumerate())
        .map(|(at, node)| {
            // networkx takes the id from `value`, and distinguishes parallel edges by `key`.
            let map = [("id".to_owned(), id(at)), ("value".to_owned(), id(at)), ("name".to_owned(), json!(visible(&node.name)))];
            data(map.into_iter().collect(), of_node(node))
        })
        .collect();
    let edges: Vec<Value> = (picture.edges.iter().enumerate())
        .map(|(at, edge)| {
            let map =
                [("id".to_owned(), json!(format!("e{at}"))), ("source".to_owned(), id(edge.from)), ("target".to_owned(), id(edge.to))];
            data(map.into_iter().collect(), of_edge(edge))
        })
        .collect();
    let whole = json!({
        "data": { "name": visible(&picture.title) },
        "directed": true,
        "multigraph": true,
        "elements": { "nodes": nodes, "edges": edges },
    });
    let mut bytes = Vec::new();
    // A vector takes all that is written to it, and what is written is UTF-8.
    let _ = crate::json::write(&whole, &mut bytes);
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\"]<&>\u{1b}\n\u{202e}日本 ü&quot;";

    fn picture() -> Graph {
        let node = |id: &str, name: &str, n: i64| Node {
            id: id.into(),
            name: name.into(),
            fill: "#a8cce8".into(),
            data: vec![("count", n.into()), ("share", 0.25.into()), ("label", "taken".into()), ("none", f64::NAN.into())],
            ..Node::default()
        };
        let edge = |from, to, n: u64| Edge {
            from,
            to,
            label: vec!["3 · 2h".into(), HOSTILE.into()],
            colour: "#123456".into(),
            width: 2.5,
            data: vec![("count", n.into()), ("mean_ns", 1e21.into()), ("how", HOSTILE.into())],
            ..Edge::default()
        };
        Graph {
            title: HOSTILE.into(),
            nodes: vec![node("n0", HOSTILE, 7), node("n1", "b", i64::MAX)],
            edges: vec![edge(0, 1, 3), edge(0, 1, 4), edge(1, 1, u64::MAX)],
            name: "test",
            ..Graph::default()
        }
    }

    /// Elements of an XML text with their attributes and their text.
    fn elements(text: &str) -> Vec<(String, BTreeMap<String, String>, String)> {
        use quick_xml::events::Event;
        let mut reader = quick_xml::Reader::from_str(text);
        let mut out: Vec<(String, BTreeMap<String, String>, String)> = Vec::new();
        loop {
            match reader.read_event().expect("it is XML") {
                Event::Start(tag) | Event::Empty(tag) => {
                    let attributes = tag.attributes().map(|a| {
                        let a = a.expect("an attribute");
                        let value = quick_xml::escape::unescape(&a.value).expect("known entities").into_owned();
                        (a.key.as_ref().to_owned(), value)
                    });
                    out.push((tag.name().as_ref().to_owned(), attributes.collect(), String::new()));
                }
                Event::Text(words) => {
                    let words = (*words).to_owned();
                    if let Some(last) = out.last_mut().filter(|_| !words.trim().is_empty()) {
                        last.2.push_str(&words);
                    }
                }
                Event::GeneralRef(name) => {
                    let words = quick_xml::escape::unescape(&format!("&{};", &*name)).expect("known entities").into_owned();
                    out.last_mut().expect("inside an element").2.push_str(&words);
                }
                Event::Eof => return out,
                _ => {}
            }
        }
    }

    #[test]
    fn graphml_comes_back_with_all_data() {
        let text = graphml(&picture()).expect("the graph is one");
        assert!(!text.chars().any(|c| c != '\n' && crate::text::is_hidden(c)));
        let all = elements(&text);
        let keys: BTreeMap<String, (String, String)> = (all.iter().filter(|e| e.0 == "key"))
            .map(|e| (e.1["id"].clone(), (format!("{}.{}", e.1["for"], e.1["attr.name"]), e.1["attr.type"].clone())))
            .collect();
        let types: BTreeMap<&str, &str> = keys.values().map(|(name, kind)| (name.as_str(), kind.as_str())).collect();
        assert_eq!((types["node.count"], types["node.share"], types["node.label"]), ("long", "double", "string"));
        // One count does not fit into 64 bits with a sign.
        assert_eq!(types["edge.count"], "double");
        assert!(!types.contains_key("node.none"));
        let value = |name: &str, nth: usize| {
            let found = all.iter().filter(|e| e.0 == "data" && keys[&e.1["key"]].0 == name).nth(nth);
            found.expect("it has a value").2.clone()
        };
        assert_eq!((value("node.count", 1), value("node.label", 0)), (i64::MAX.to_string(), visible(HOSTILE)));
        assert_eq!((value("node.data_label", 0), value("edge.how", 2)), ("taken".to_owned(), visible(HOSTILE)));
        let ends: Vec<(&str, &str)> =
            all.iter().filter(|e| e.0 == "edge").map(|e| (e.1["source"].as_str(), e.1["target"].as_str())).collect();
        assert_eq!(ends, [("n0", "n1"), ("n0", "n1"), ("n1", "n1")]);
    }

    #[test]
    fn cytoscape_comes_back_with_all_data() {
        let text = cytoscape(&picture()).expect("the graph is one");
        let back: Value = serde_json::from_str(&text).expect("it is JSON");
        let (nodes, edges) = (&back["elements"]["nodes"], &back["elements"]["edges"]);
        assert_eq!(nodes[0]["data"]["name"], json!(visible(HOSTILE)));
        assert_eq!((&nodes[1]["data"]["count"], &nodes[1]["data"]["data_label"]), (&json!(i64::MAX), &json!("taken")));
        assert_eq!((&edges[1]["data"]["source"], &edges[1]["data"]["count"]), (&json!("n0"), &json!(4)));
        assert_eq!((&edges[2]["data"]["id"], &edges[2]["data"]["mean_ns"]), (&json!("e2"), &json!(1e21)));
        assert!(nodes[0]["data"].get("none").is_none());
    }

    #[test]
    fn gml_is_plain_and_nothing_gets_out_of_a_string() {
        let text = gml(&picture()).expect("the graph is one");
        assert!(text.bytes().all(|b| b == b'\n' || (b' '..=b'~').contains(&b)));
        // Each line is a word and a bracket, or a word and one value.
        for line in text.lines().map(str::trim).filter(|line| *line != "]") {
            let (name, value) = line.split_once(' ').expect("a word and a value");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{line}");
            let quoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
            assert!(value == "[" || value.parse::<f64>().is_ok() || quoted.is_some_and(|v| !v.contains('"')), "{line}");
        }
        assert!(text.contains("    count 9223372036854775807.0\n") && text.contains("    mean_ns 1.0E21\n"), "{text}");
        assert!(text.contains("&#26085;") && text.contains("    data_label \"taken\"\n"), "{text}");
    }

    #[test]
    fn an_edge_into_nothing_is_refused() {
        let mut broken = picture();
        broken.edges[1].to = 9;
        let problem = LayoutError::UnknownNode { edge: 1, node: 9, nodes: 2 };
        for result in [graphml(&broken), gml(&broken), cytoscape(&broken)] {
            assert_eq!(result, Err(problem.clone()));
        }
    }
}
