//! PNML of a net, as ProM and PM4Py read it.
//!
//! In: a [`PetriNet`]. Out: a document of ISO/IEC 15909-2 (place/transition nets). Silent
//! transitions carry ProM's `$invisible$`; the final marking is in `finalmarkings`, which the
//! standard does not have and both programs read. Ids are of our own (`p0`, `t0`, `a0`). Nothing is
//! refused; characters that XML cannot hold are shown as their symbols (U+2400 on).

use std::fmt::Write as _;

use crate::net::PetriNet;
use crate::xml;

/// The net as PNML; `name` is the net's name.
pub fn to_pnml(net: &PetriNet, name: &str) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str("<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n");
    out.push_str("<net id=\"net1\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n");
    let _ = writeln!(out, "<name><text>{}</text></name>\n<page id=\"page1\">", xml::text(name));
    for place in 0..net.places() {
        let _ = match place {
            PetriNet::SOURCE => writeln!(
                out,
                "<place id=\"p{place}\"><name><text>source</text></name><initialMarking><text>1</text></initialMarking></place>"
            ),
            PetriNet::SINK => writeln!(out, "<place id=\"p{place}\"><name><text>sink</text></name></place>"),
            _ => writeln!(out, "<place id=\"p{place}\"><name><text>p{place}</text></name></place>"),
        };
    }
    let mut arcs = String::new();
    let mut arc = 0;
    for (t, transition) in net.transitions().iter().enumerate() {
        let _ = match transition.activity {
            Some(a) => writeln!(out, "<transition id=\"t{t}\"><name><text>{}</text></name></transition>", xml::text(net.label(a))),
            None => writeln!(
                out,
                "<transition id=\"t{t}\"><name><text>tau {t}</text></name><toolspecific tool=\"ProM\" version=\"6.4\" \
                 activity=\"$invisible$\" localNodeID=\"t{t}\"/></transition>"
            ),
        };
        let inputs = transition.inputs.iter().map(|p| (format!("p{p}"), format!("t{t}")));
        let outputs = transition.outputs.iter().map(|p| (format!("t{t}"), format!("p{p}")));
        for (from, to) in inputs.chain(outputs) {
            let _ = writeln!(arcs, "<arc id=\"a{arc}\" source=\"{from}\" target=\"{to}\"><inscription><text>1</text></inscription></arc>");
            arc += 1;
        }
    }
    out.push_str(&arcs);
    let sink = PetriNet::SINK;
    let _ = writeln!(out, "</page>\n<finalmarkings><marking><place idref=\"p{sink}\"><text>1</text></place></marking></finalmarkings>");
    out.push_str("</net>\n</pnml>\n");
    out
}
