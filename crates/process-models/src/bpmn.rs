//! BPMN 2.0 of a process tree, with the places of its shapes, as editors show it.
//!
//! In: a [`ProcessTree`] and its [`Layout`]. Out: a document of ISO/IEC 19510 with tasks, exclusive and parallel
//! gateways and sequence flows, and their BPMN diagram interchange. Ids are of our own. Nothing is
//! refused; characters that XML cannot hold are shown as their symbols (U+2400 on).

use std::fmt::Write as _;

use crate::layout::{Kind, Layout, Sizes};
use crate::tree::ProcessTree;
use crate::xml;

/// The tree as BPMN in one row; `name` is the process's name. The tree is brought into canonical
/// form first.
pub fn to_bpmn(tree: &ProcessTree, name: &str) -> String {
    let tree = tree.canonical();
    with_layout(&tree, &Layout::of_tree(&tree, &Sizes::default()), name)
}

/// The tree as BPMN with this layout of it; `name` is the process's name.
pub fn with_layout(tree: &ProcessTree, layout: &Layout, name: &str) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(
        "<bpmn:definitions xmlns:bpmn=\"http://www.omg.org/spec/BPMN/20100524/MODEL\" \
         xmlns:bpmndi=\"http://www.omg.org/spec/BPMN/20100524/DI\" xmlns:dc=\"http://www.omg.org/spec/DD/20100524/DC\" \
         xmlns:di=\"http://www.omg.org/spec/DD/20100524/DI\" id=\"definitions1\" targetNamespace=\"http://bpmn.io/schema/bpmn\">\n",
    );
    let _ = writeln!(out, "<bpmn:process id=\"process1\" name=\"{}\" isExecutable=\"false\">", xml::text(name));
    let (mut incoming, mut outgoing) = (vec![Vec::new(); layout.shapes.len()], vec![Vec::new(); layout.shapes.len()]);
    for (e, edge) in layout.edges.iter().enumerate() {
        outgoing[edge.from].push(e);
        incoming[edge.to].push(e);
    }
    for (s, shape) in layout.shapes.iter().enumerate() {
        let (tag, more) = match shape.kind {
            Kind::Start => ("startEvent", String::new()),
            Kind::End => ("endEvent", String::new()),
            Kind::Task(a) => ("task", format!(" name=\"{}\"", xml::text(tree.label(a)))),
            Kind::XorSplit => ("exclusiveGateway", " gatewayDirection=\"Diverging\"".to_owned()),
            Kind::XorJoin => ("exclusiveGateway", " gatewayDirection=\"Converging\"".to_owned()),
            Kind::AndSplit => ("parallelGateway", " gatewayDirection=\"Diverging\"".to_owned()),
            Kind::AndJoin => ("parallelGateway", " gatewayDirection=\"Converging\"".to_owned()),
        };
        let _ = write!(out, "<bpmn:{tag} id=\"shape{s}\"{more}>");
        for e in &incoming[s] {
            let _ = write!(out, "<bpmn:incoming>flow{e}</bpmn:incoming>");
        }
        for e in &outgoing[s] {
            let _ = write!(out, "<bpmn:outgoing>flow{e}</bpmn:outgoing>");
        }
        let _ = writeln!(out, "</bpmn:{tag}>");
    }
    for (e, edge) in layout.edges.iter().enumerate() {
        let (from, to) = (edge.from, edge.to);
        let _ = writeln!(out, "<bpmn:sequenceFlow id=\"flow{e}\" sourceRef=\"shape{from}\" targetRef=\"shape{to}\"/>");
    }
    out.push_str("</bpmn:process>\n<bpmndi:BPMNDiagram id=\"diagram1\">\n<bpmndi:BPMNPlane id=\"plane1\" bpmnElement=\"process1\">\n");
    for (s, shape) in layout.shapes.iter().enumerate() {
        let marker = if matches!(shape.kind, Kind::XorSplit | Kind::XorJoin) { " isMarkerVisible=\"true\"" } else { "" };
        let (x, y, width, height) = (shape.x, shape.y, shape.width, shape.height);
        let _ = writeln!(
            out,
            "<bpmndi:BPMNShape id=\"shape{s}_di\" bpmnElement=\"shape{s}\"{marker}>\
             <dc:Bounds x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/></bpmndi:BPMNShape>"
        );
    }
    for (e, edge) in layout.edges.iter().enumerate() {
        let _ = write!(out, "<bpmndi:BPMNEdge id=\"flow{e}_di\" bpmnElement=\"flow{e}\">");
        for (x, y) in &edge.points {
            let _ = write!(out, "<di:waypoint x=\"{x}\" y=\"{y}\"/>");
        }
        out.push_str("</bpmndi:BPMNEdge>\n");
    }
    out.push_str("</bpmndi:BPMNPlane>\n</bpmndi:BPMNDiagram>\n</bpmn:definitions>\n");
    out
}
