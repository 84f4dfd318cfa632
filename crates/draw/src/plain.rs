//! A figure without heading and legend, for papers: an SVG document of this crate in, one that is
//! the drawing alone out.
//!
//! A document marks its parts: `<g class="heading">`, `<g class="legend">`, and
//! `<view id="drawing">` with the rectangle of the drawing. The title and the description for
//! screen readers remain.

use std::borrow::Cow;

use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;
use quick_xml::{Reader, Writer};

use crate::embed::EmbedError;

/// Returns the drawing of a figure; the whole figure if it marks no drawing.
///
/// # Errors
/// When the text is no well-formed XML.
pub fn plain(document: &str) -> Result<String, EmbedError> {
    let Some(frame) = frame(document)? else { return Ok(document.to_owned()) };
    let mut reader = Reader::from_str(document);
    let mut writer = Writer::new(Vec::with_capacity(document.len()));
    // Depth of the element that is left out, while it is open.
    let (mut depth, mut left_out, mut has_ground) = (0u32, None, false);
    loop {
        match reader.read_event()? {
            Event::Start(element) => {
                depth += 1;
                if left_out.is_none() && depth == 2 && is_around(&element)? {
                    left_out = Some(depth);
                }
                if left_out.is_none() {
                    let element = if depth == 1 { framed(&element, &frame)? } else { element.into_owned() };
                    writer.write_event(Event::Start(element))?;
                }
            }
            Event::End(element) => {
                if left_out.is_none() {
                    writer.write_event(Event::End(element))?;
                } else if left_out == Some(depth) {
                    left_out = None;
                }
                depth = depth.saturating_sub(1);
            }
            Event::Eof => break,
            _ if left_out.is_some() => {}
            Event::Empty(element) if depth == 1 && element.name().as_ref() == "view" => {}
            // The first rectangle is the white ground.
            Event::Empty(element) if depth == 1 && !has_ground && element.name().as_ref() == "rect" => {
                has_ground = true;
                let mut ground = BytesStart::new("rect");
                for (key, value) in ["x", "y", "width", "height"].into_iter().zip(&frame) {
                    push(&mut ground, key, value);
                }
                push(&mut ground, "fill", "#ffffff");
                writer.write_event(Event::Empty(ground))?;
            }
            other => writer.write_event(other)?,
        }
    }
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
}

/// The rectangle of the drawing: x, y, width and height as they are written.
fn frame(document: &str) -> Result<Option<[String; 4]>, EmbedError> {
    let mut reader = Reader::from_str(document);
    loop {
        match reader.read_event()? {
            Event::Empty(element) if element.name().as_ref() == "view" => {
                for attribute in element.attributes() {
                    let attribute = attribute?;
                    if attribute.key.as_ref() == "viewBox" {
                        let numbers: Vec<String> = attribute.value.as_ref().split(' ').map(str::to_owned).collect();
                        return Ok(numbers.try_into().ok());
                    }
                }
            }
            Event::Eof => return Ok(None),
            _ => {}
        }
    }
}

/// Whether an element is a part around the drawing.
fn is_around(element: &BytesStart<'_>) -> Result<bool, EmbedError> {
    for attribute in element.attributes() {
        let attribute = attribute?;
        if attribute.key.as_ref() == "class" && ["heading", "legend"].contains(&attribute.value.as_ref()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The root with the size of the drawing.
fn framed(root: &BytesStart<'_>, [x, y, width, height]: &[String; 4]) -> Result<BytesStart<'static>, EmbedError> {
    let mut new = BytesStart::new(root.name().as_ref().to_owned());
    for attribute in root.attributes() {
        let attribute = attribute?;
        let value = match attribute.key.as_ref() {
            "width" => width.clone(),
            "height" => height.clone(),
            "viewBox" => format!("{x} {y} {width} {height}"),
            _ => attribute.value.as_ref().to_owned(),
        };
        push(&mut new, attribute.key.as_ref(), &value);
    }
    Ok(new)
}

/// Adds an attribute; the value is escaped already.
fn push(element: &mut BytesStart<'static>, key: &str, value: &str) {
    element.push_attribute(Attribute { key: QName(key), value: Cow::Borrowed(value) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legend::{Entry, Sample};
    use crate::{Edge, Graph, Node, svg};

    #[test]
    fn only_the_drawing_is_left_and_it_has_the_size_of_the_graph() {
        let node = |id: &str, name: &str| Node { id: id.into(), name: name.into(), title: vec![name.into()], ..Node::default() };
        let graph = Graph {
            title: "Heading & more".into(),
            facts: vec!["a fact".into()],
            left_out: vec!["a rest".into()],
            nodes: vec![node("a0", "x & y"), node("a1", "</g>")],
            edges: vec![Edge { from: 0, to: 1, width: 1.0, ..Edge::default() }],
            legend: vec![Entry::new("Sample", Sample::Words, "a note")],
            ..Graph::default()
        };
        let document = svg::svg(&graph).expect("two nodes");
        let found = plain(&document).expect("a figure");
        for absent in ["a note", ">a fact<", "Not shown", "<view", "font-size=\"18\""] {
            assert!(document.contains(absent) && !found.contains(absent), "{absent}: {found}");
        }
        for present in ["<title>Heading &amp; more</title>", "x &amp; y", "&lt;/g&gt;", "id=\"e0\""] {
            assert!(document.contains(present) && found.contains(present), "{present}: {found}");
        }
        let width = |text: &str| text.split("width=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
        assert!(width(&found) < Some(200.0) && width(&document) > Some(500.0), "{found}");
        assert_eq!(plain("<svg><g class=\"legend\"></g></svg>").expect("well-formed"), "<svg><g class=\"legend\"></g></svg>");
    }
}
