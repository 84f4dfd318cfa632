//! Process models by the Inductive Miner: a tree, a Petri net and BPMN of the same model.

use flowmine_discover::pictures::process_model as picture;
use flowmine_discover::process_model::{self, Options};
use flowmine_draw::document::DocumentFormat;

use crate::error::Result;
use crate::format::Format;
use crate::found::{Found, write_graph};
use crate::groups;
use crate::log;
use crate::options::{Kind, OptionSpec};
use crate::request::Request;
use crate::sink::Sink;

/// The format of their JSON document, which is the same.
pub const DOCUMENT: DocumentFormat = picture::DOCUMENT;

/// `--noise`.
pub const NOISE: OptionSpec =
    OptionSpec::new("noise", "SHARE", Kind::Number(0.0, 1.0), "Share of the most frequent edge below which an edge is noise")
        .details("Of the edges out of the same activity, 0 to 1. 0 keeps every trace possible")
        .by_default("0");

/// `--direction` of diagrams with gateways.
pub const DIRECTION: OptionSpec = groups::DIRECTION.by_default("LR");

/// `--row-width`.
pub const ROW_WIDTH: OptionSpec =
    OptionSpec::new("row-width", "PIXELS", Kind::Count, "Width at which a diagram goes on in a row below; 0 for one row")
        .details("By default a figure of more than 1,000 pixels gets the ratio of an A4 page in landscape, and a BPMN file is one row");

/// Discovers the process model of a request. Its figure is the tree or the net.
pub fn discover(request: &Request, sink: &dyn Sink, draws_net: bool) -> Result<Found> {
    let loaded = log::load(request, &log::Attributes::default(), sink)?;
    let _stage = sink.stage("discovering");
    let drawing = request.drawing;
    let arrangement = picture::Arrangement { direction: drawing.direction, row_width: request.values.count(ROW_WIDTH.name) };
    let usual = Options::default();
    let options = Options { noise: request.values.number(NOISE.name).unwrap_or(usual.noise), ..usual };
    let found = process_model::discover(&loaded.log, loaded.cases()?, &options)?;
    Ok(Found::new(request, loaded.is_lossy, move |format, out| match format {
        Format::Json => Ok(picture::json(&found, out)?),
        Format::Text => Ok(out.write_all(picture::text(&found).as_bytes())?),
        Format::Pnml => Ok(out.write_all(picture::to_pnml(&found).as_bytes())?),
        Format::Bpmn => Ok(out.write_all(picture::to_bpmn(&found, arrangement).as_bytes())?),
        Format::Svg if !draws_net => Ok(out.write_all(picture::tree_svg(&found, arrangement).as_bytes())?),
        _ => write_graph(picture::net_graph(&found), drawing, format, out),
    }))
}
