//! A graph in Graphviz' language: the same nodes, labels, widths and colours as in SVG.
//!
//! Nodes are called by their ids, so that no name can become syntax; names appear in quoted labels
//! only. In Graphviz' strings a backslash and a quotation mark are special, and so is `&`, since
//! HTML entities are replaced there.

use std::fmt::Write;

use flowmine_layout::LayoutError;

use crate::graph::{Direction, Edge, Graph, Mark, Node, Shape};
use crate::text::{visible, wrap_name};

/// Writes a graph in Graphviz' language.
///
/// # Errors
/// [`LayoutError`] when an edge of the graph names a node that is not there.
pub fn dot(picture: &Graph) -> Result<String, LayoutError> {
    let mut heading = vec![visible(&picture.title)];
    heading.extend(picture.facts.iter().map(|fact| visible(fact)));
    if !picture.left_out.is_empty() {
        heading.push(format!("Not shown: {}.", visible(&picture.left_out.join("; "))));
    }
    heading.extend(picture.legend.iter().map(|entry| visible(&entry.words())));
    written(picture, heading)
}

/// Writes a graph in Graphviz' language without heading and legend.
///
/// # Errors
/// As [`dot`].
pub fn plain(picture: &Graph) -> Result<String, LayoutError> {
    written(picture, Vec::new())
}

fn written(picture: &Graph, mut heading: Vec<String>) -> Result<String, LayoutError> {
    let mut out = String::new();
    heading.retain(|line| !line.is_empty());
    let across = picture.direction == Direction::Across;
    let rank = if across { "LR" } else { "TB" };
    let label = heading.iter().map(|l| quoted(&shortened(l))).collect::<Vec<_>>().join("\\l");
    let label = if label.is_empty() { String::new() } else { format!(", labelloc=t, labeljust=l, label=\"{label}\\l\"") };
    let name = if picture.name.is_empty() { "graph" } else { picture.name };
    let _ = writeln!(out, "digraph {name} {{");
    let _ = writeln!(out, "  graph [charset=\"UTF-8\", rankdir={rank}, fontname=\"sans-serif\"{label}];");
    let _ = writeln!(out, "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=13];");
    let _ = writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=11];");
    picture.nodes.iter().for_each(|shape| node(&mut out, shape, across));
    for (at, line) in picture.edges.iter().enumerate() {
        let id = |node: usize| picture.nodes.get(node).ok_or(LayoutError::UnknownNode { edge: at, node, nodes: picture.nodes.len() });
        edge(&mut out, &id(line.from)?.id, &id(line.to)?.id, line);
    }
    out.push_str("}\n");
    Ok(out)
}

fn node(out: &mut String, node: &Node, across: bool) {
    let mut lines = wrap_name(&node.name, 13.0, 172.0, 3);
    lines.extend(node.lines.iter().cloned());
    let form = match node.shape {
        Shape::Box if node.unsure => ", style=\"rounded,filled,dashed\"".to_owned(),
        Shape::Box => String::new(),
        Shape::File if node.unsure => ", shape=note, style=\"filled,dashed\"".to_owned(),
        Shape::File => ", shape=note, style=filled".to_owned(),
        Shape::Start | Shape::End => ", fontcolor=\"#ffffff\"".to_owned(),
        Shape::Circle => ", shape=circle, style=filled".to_owned(),
        Shape::Bar if across => ", shape=box, style=filled, height=0.5, width=0.1".to_owned(),
        Shape::Bar => ", shape=box, style=filled, height=0.1, width=0.5".to_owned(),
    };
    let fill = match node.shape {
        Shape::Start | Shape::End | Shape::Bar => "#334155",
        _ if node.fill.is_empty() => "#ffffff",
        _ => &node.fill,
    };
    if node.name.is_empty() && !matches!(node.shape, Shape::Box | Shape::File) {
        lines.clone_from(&node.lines);
    }
    let mark = if node.mark == Mark::Halo { ", penwidth=3, color=\"#ffd766\"" } else { "" };
    let _ = writeln!(
        out,
        "  {} [label=\"{}\", tooltip=\"{}\", fillcolor=\"{}\"{form}{mark}];",
        node.id,
        joined(&lines),
        joined(&node.title),
        quoted(fill)
    );
}

fn edge(out: &mut String, from: &str, to: &str, line: &Edge) {
    let mark = if line.mark == Mark::Halo { ", style=bold" } else { "" };
    let dash = if line.dashed { ", style=dashed" } else { "" };
    let head = if line.headless { ", arrowhead=none" } else { "" };
    let _ = writeln!(
        out,
        "  {from} -> {to} [label=\"{}\", tooltip=\"{}\", penwidth={:.2}, color=\"{}\", weight={}{mark}{dash}{head}];",
        joined(&line.label),
        joined(&line.title),
        line.width,
        quoted(&line.colour),
        line.weight.max(1).ilog2() + 1
    );
}

/// Lines of a label, centred.
fn joined(lines: &[String]) -> String {
    lines.iter().map(|l| quoted(&shortened(l))).collect::<Vec<_>>().join("\\n")
}

/// Graphviz refuses strings of more than 16,384 bytes.
fn shortened(line: &str) -> String {
    const MOST: usize = 1000;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Text for the inside of a quoted string.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_a_string() {
        assert_eq!(quoted(r#"a"]; b [x="\N & &lt;"#), r#"a\"]; b [x=\"\\N &amp; &amp;lt;"#);
    }
}
