//! A directly-follows graph in Graphviz' language: the same selection, labels, widths and colours as in SVG.
//!
//! Nodes are called `a0`, `a1`, …, `start` and `end`, so that no name of an activity can become syntax; names stand
//! in quoted labels only. In Graphviz' strings a backslash and a quotation mark are special, and so is `&`, since
//! HTML entities are replaced there.

use super::Options;
use super::picture::Picture;
use super::scale::box_colour;
use super::sheet::CASE_LINE;
use super::svg::{CASE_WIDTH, check};
use super::text::{count, wrap_name};
use crate::dfg::Dfg;
use crate::layout::LayoutError;
use std::fmt::Write;

/// Writes a graph.
///
/// # Errors
/// [`LayoutError`] when an edge of the graph names an activity that is not there.
pub fn dot(dfg: &Dfg, options: &Options) -> Result<String, LayoutError> {
    check(dfg)?;
    let picture = Picture::new(dfg, options);
    let mut out = String::new();
    let mut heading = vec![picture.title()];
    heading.extend(picture.facts());
    let left_out = picture.left_out();
    if !left_out.is_empty() {
        heading.push(format!("Not shown: {}.", left_out.join("; ")));
    }
    heading.extend(picture.legend());
    let _ = writeln!(out, "digraph dfg {{");
    let _ = writeln!(
        out,
        "  graph [charset=\"UTF-8\", rankdir=TB, fontname=\"sans-serif\", labelloc=t, labeljust=l, label=\"{}\\l\"];",
        heading.iter().map(|l| quoted(l)).collect::<Vec<_>>().join("\\l")
    );
    let _ = writeln!(out, "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=13];");
    let _ = writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=11];");
    for &a in &picture.activities {
        let activity = &dfg.activities[a];
        let mut lines = wrap_name(&activity.name, 13.0, 172.0, 3);
        lines.push(count(activity.frequency));
        let _ = writeln!(
            out,
            "  a{a} [label=\"{}\", tooltip=\"{}\", fillcolor=\"{}\"];",
            joined(&lines),
            joined(&picture.activity_title(a)),
            box_colour(picture.boxes, activity.frequency)
        );
    }
    for (list, name, text) in [(&picture.starts, "start", "▶ Start"), (&picture.ends, "end", "■ End")] {
        if !list.is_empty() {
            let _ = writeln!(out, "  {name} [label=\"{text}\", fillcolor=\"#334155\", fontcolor=\"#ffffff\"];");
        }
    }
    for &(a, n) in &picture.starts {
        terminal(&mut out, "start", &format!("a{a}"), n);
    }
    for &e in &picture.edges {
        let edge = &dfg.edges[e];
        let mark = if picture.is_slowest(e) { ", style=bold" } else { "" };
        let _ = writeln!(
            out,
            "  a{} -> a{} [label=\"{}\", tooltip=\"{}\", penwidth={:.2}, color=\"{}\", weight={}{mark}];",
            edge.from,
            edge.to,
            quoted(&picture.label(e)),
            joined(&picture.edge_title(e)),
            picture.widths.width(edge.frequency),
            picture.times.colour(picture.time.of(edge)),
            edge.frequency.max(1).ilog2() + 1
        );
    }
    for &(a, n) in &picture.ends {
        terminal(&mut out, &format!("a{a}"), "end", n);
    }
    out.push_str("}\n");
    Ok(out)
}

fn terminal(out: &mut String, from: &str, to: &str, n: u64) {
    let _ = writeln!(out, "  {from} -> {to} [label=\"{}\", penwidth={CASE_WIDTH}, color=\"{CASE_LINE}\", style=dashed];", count(n));
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
