//! A figure as part of an HTML page: an SVG document of this crate in, an element out.
//!
//! Several figures share a page, and a strict content security policy allows no `style` attribute.
//! The element therefore has no XML declaration and no `style`, and each id has a prefix, as have
//! references to ids. What a mark is in its own figure is in `data-mark`: `a3` for a node, `e7` for
//! an edge.

use std::borrow::Cow;

use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;
use quick_xml::{Reader, Writer};

/// How a figure is presented to screen readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// One image with a title and a description.
    Image,
    /// A group of elements that can be visited one by one.
    Group,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Image => "img",
            Self::Group => "group",
        }
    }
}

/// The error of a text that is no figure of this crate.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The text is no well-formed XML.
    #[error("the figure is no well-formed SVG: {0}")]
    Xml(#[from] quick_xml::Error),
    /// The result could not be written.
    #[error("the figure could not be written: {0}")]
    Io(#[from] std::io::Error),
}

impl From<quick_xml::events::attributes::AttrError> for EmbedError {
    fn from(error: quick_xml::events::attributes::AttrError) -> Self {
        Self::Xml(error.into())
    }
}

/// Returns an SVG document as an element for HTML; `prefix` distinguishes its ids from those of
/// other figures: letters, digits and hyphens.
///
/// # Errors
/// When the text is no well-formed XML.
pub fn embedded(document: &str, prefix: &str, role: Role) -> Result<String, EmbedError> {
    let mut reader = Reader::from_str(document);
    let mut writer = Writer::new(Vec::with_capacity(document.len()));
    let mut depth = 0u32;
    loop {
        match reader.read_event()? {
            Event::Decl(_) | Event::DocType(_) | Event::Comment(_) | Event::PI(_) => {}
            Event::Start(element) => {
                let root = (depth == 0).then_some(role);
                writer.write_event(Event::Start(converted(&element, prefix, root)?))?;
                depth += 1;
            }
            // The frame of the drawing is for the document.
            Event::Empty(element) if element.name().as_ref() == "view" => {}
            Event::Empty(element) => writer.write_event(Event::Empty(converted(&element, prefix, None)?))?,
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                writer.write_event(Event::End(element))?;
            }
            Event::Eof => break,
            Event::Text(text) if depth == 0 && text.trim().is_empty() => {}
            other => writer.write_event(other)?,
        }
    }
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
}

/// An element with its ids prefixed; the root has its role.
fn converted(element: &BytesStart<'_>, prefix: &str, root: Option<Role>) -> Result<BytesStart<'static>, EmbedError> {
    let name = element.name().as_ref().to_owned();
    let mut new = BytesStart::new(name);
    for attribute in element.attributes() {
        let attribute = attribute?;
        let key = attribute.key.as_ref().to_owned();
        // As it is written, with its entities.
        let value = attribute.value.as_ref().to_owned();
        match key.as_str() {
            "style" | "xmlns" => {}
            "role" if root.is_some() => {}
            "id" => {
                push(&mut new, "id", &format!("{prefix}-{value}"));
                push(&mut new, "data-mark", &value);
            }
            "href" => push(&mut new, "href", &referred(&value, "#", prefix)),
            _ => push(&mut new, &key, &referred(&value, "url(#", prefix)),
        }
    }
    if let Some(role) = root {
        push(&mut new, "role", role.name());
        push(&mut new, "class", "figure");
    }
    Ok(new)
}

/// Adds an attribute; the value is escaped already.
fn push(element: &mut BytesStart<'static>, key: &str, value: &str) {
    element.push_attribute(Attribute { key: QName(key), value: Cow::Borrowed(value) });
}

/// A value with the prefix in front of the id to which it refers.
fn referred(value: &str, before: &str, prefix: &str) -> String {
    match value.strip_prefix(before) {
        Some(id) => format!("{before}{prefix}-{id}"),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Frame, Sheet};
    use crate::{Edge, Graph, Node, svg};

    #[test]
    fn ids_are_distinguished_and_nothing_violates_a_strict_policy() {
        let node = |id: &str, name: &str| Node { id: id.into(), name: name.into(), title: vec![name.into()], ..Node::default() };
        let edge = Edge { from: 0, to: 1, width: 1.0, ..Edge::default() };
        let graph = Graph {
            title: "</svg><script>".into(),
            nodes: vec![node("a0", "x & y"), node("a1", "</title><img onerror=\"1\">")],
            edges: vec![edge],
            ..Graph::default()
        };
        let document = svg::svg(&graph).expect("a graph of two nodes");
        let element = embedded(&document, "f1", Role::Group).expect("a figure");
        assert!(element.starts_with("<svg ") && element.ends_with("</svg>"), "{element}");
        assert!(element.contains("id=\"f1-a0\" data-mark=\"a0\"") && element.contains("id=\"f1-e0\""), "{element}");
        assert!(element.contains("role=\"group\"") && !element.contains("role=\"img\""));
        for absent in ["style=", "<?xml", "xmlns=", "<script", "<img", "id=\"a0\""] {
            assert!(!element.contains(absent), "{absent}: {element}");
        }
        assert!(element.contains("x &amp; y"), "escaped once: {element}");
    }

    #[test]
    fn a_reference_follows_its_id() {
        let mut sheet = Sheet::default();
        sheet.gradient("scale", &["#000000".to_owned(), "#ffffff".to_owned()]);
        sheet.rect(Frame { x: 0.0, y: 0.0, w: 9.0, h: 9.0 }, 0.0, "url(#scale)", None);
        let element = embedded(&sheet.document(10.0, 10.0, "t", "d"), "f2", Role::Image).expect("a figure");
        assert!(element.contains("id=\"f2-scale\"") && element.contains("fill=\"url(#f2-scale)\""), "{element}");
        assert!(element.contains("role=\"img\""));
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        assert!(embedded("<svg><g></svg>", "f", Role::Image).is_err());
    }
}
