//! A model that was discovered and can be written.

use std::io::Write;

use flowmine_draw::{Graph, dot, exchange, plain, png, svg};

use crate::error::{Result, refuse};
use crate::format::Format;
use crate::groups::Drawing;
use crate::options::Choice;
use crate::request::Request;

/// How a model is written in a format.
type Writer = Box<dyn Fn(Format, &mut dyn Write) -> Result<()> + Send + Sync>;

/// A model that was discovered.
pub struct Found {
    /// Name of the model.
    pub model: &'static str,
    /// The formats in which this result can be written. Of most models these are all; of a model
    /// whose content depends on the format, that of the request.
    pub formats: Vec<Format>,
    /// Whether the source or the trace lost something, so that the model lacks it.
    pub is_lossy: bool,
    drawing: Drawing,
    write: Writer,
}

impl Found {
    /// Makes the result of a request that can be written in all formats of its model.
    pub fn new(request: &Request, is_lossy: bool, write: impl Fn(Format, &mut dyn Write) -> Result<()> + Send + Sync + 'static) -> Self {
        let about = request.model.about();
        Self { model: about.name, formats: about.formats.to_vec(), is_lossy, drawing: request.drawing, write: Box::new(write) }
    }

    /// Restricts the result to the format of its request.
    #[must_use]
    pub fn only(self, request: &Request) -> Self {
        Self { formats: vec![request.format], ..self }
    }

    /// Excludes a format, of which the result lacks what it needs.
    #[must_use]
    pub fn without(mut self, format: Format) -> Self {
        self.formats.retain(|of| *of != format);
        self
    }

    /// Writes the model.
    ///
    /// # Errors
    /// When this result is not written in that format, or the writing fails.
    pub fn write(&self, format: Format, out: &mut dyn Write) -> Result<()> {
        if !self.formats.contains(&format) {
            refuse!("this result of the model {} is not written as {}", self.model, format.name());
        }
        let is_plain = self.drawing.is_plain && matches!(format, Format::Svg | Format::Png);
        if format != Format::Png && !is_plain {
            return (self.write)(format, out);
        }
        let mut figure = Vec::new();
        (self.write)(Format::Svg, &mut figure)?;
        let mut figure = String::from_utf8_lossy(&figure).into_owned();
        if is_plain {
            figure = plain::plain(&figure)?;
        }
        match format {
            Format::Png => Ok(out.write_all(&png::png(&figure, self.drawing.scale)?)?),
            _ => Ok(out.write_all(figure.as_bytes())?),
        }
    }
}

/// Writes a graph as a figure or for other programs.
pub(crate) fn write_graph(mut graph: Graph, drawing: Drawing, format: Format, out: &mut dyn Write) -> Result<()> {
    graph.direction = drawing.direction.unwrap_or_default();
    let text = match format {
        Format::Dot if drawing.is_plain => dot::plain(&graph)?,
        Format::Dot => dot::dot(&graph)?,
        Format::Graphml => exchange::graphml(&graph)?,
        Format::Gml => exchange::gml(&graph)?,
        Format::Cytoscape => exchange::cytoscape(&graph)?,
        _ => svg::svg(&graph)?,
    };
    Ok(out.write_all(text.as_bytes())?)
}
