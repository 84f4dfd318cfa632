//! Without a truth: the quality of the model that the cases of each notion lead to.
//!
//! Cases that mix runs lead to a model that allows anything, or that few cases fit. The model is that
//! of the Inductive Miner with noise threshold 0.2 (IMf), since without it fitness is always 1.
//! Simplicity is that of the mean degree of the arcs (F. R. Blum, Metrics in process discovery, 2015),
//! as PM4Py has it: 1 where no node of the net has more than two arcs on average.

use flowmine_dataset::Dataset;
use flowmine_discover::process_model;
use flowmine_process_models::PetriNet;

use super::{Options, notions};
use crate::error::{Result, ensure};
use crate::log::{self, Attributes};
use crate::request::Request;
use crate::sink::Sink;
use crate::source::SourcePaths;

/// Noise threshold of the discovery.
const NOISE: f64 = 0.2;

/// The model of a notion's cases.
#[derive(Debug, Clone, PartialEq)]
pub struct OfModel {
    /// Name of the notion.
    pub notion: &'static str,
    /// Number of cases with events.
    pub cases: u64,
    /// Number of distinct traces.
    pub variants: u64,
    /// Fitness by token-based replay; `None` where the log is too large for a model.
    pub fitness: Option<f64>,
    /// Precision by token-based replay; `None` if the log has no state to judge.
    pub precision: Option<f64>,
    /// Simplicity of the net.
    pub simplicity: Option<f64>,
}

/// Discovers a model of the jobs of a dataset for each notion.
///
/// # Errors
/// When the dataset cannot be read, or has nothing of which a log can be made.
pub fn evaluate_models(options: &Options, sink: &dyn Sink) -> Result<Vec<OfModel>> {
    let dataset = Dataset::open(&options.dataset)?;
    ensure!(crate::jobs::has_any(&dataset)?, "the dataset has no jobs");
    let mut found = Vec::new();
    for notion in notions(options, &dataset)?.into_iter().filter(|notion| !notion.is_of_tasks()) {
        let source = SourcePaths { dataset: Some(options.dataset.clone()), ..SourcePaths::default() };
        let mut request = Request::read::<&str>("tree", source, None, [])?;
        request.cases.case_notion = Some(notion.name().to_owned());
        let loaded = log::load(&request, &Attributes::default(), sink)?;
        let cases = loaded.cases()?;
        let options = process_model::Options { noise: NOISE, alignments: false };
        let model = process_model::discover(&loaded.log, cases, &options).ok();
        let number = (0..cases.len()).filter(|&case| cases.of(case).len() > 0).count();
        found.push(OfModel {
            notion: notion.name(),
            cases: number as u64,
            variants: model.as_ref().map_or(0, |model| model.variants),
            fitness: model.as_ref().map(|model| model.fitness),
            precision: model.as_ref().and_then(|model| model.precision),
            simplicity: model.as_ref().map(|model| simplicity(&model.net)),
        });
    }
    Ok(found)
}

/// One over the mean number of arcs of a node, beyond two.
fn simplicity(net: &PetriNet) -> f64 {
    let arcs: usize = net.transitions().iter().map(|transition| transition.inputs.len() + transition.outputs.len()).sum();
    let nodes = net.places() as usize + net.transitions().len();
    // Each arc has two ends.
    let degree = 2.0 * arcs as f64 / nodes.max(1) as f64;
    1.0 / (1.0 + (degree - 2.0).max(0.0))
}

#[cfg(test)]
mod tests {
    use flowmine_process_models::{Node, PetriNet, ProcessTree};

    use super::simplicity;

    #[test]
    fn a_sequence_is_simple_and_a_choice_is_not() {
        let of = |root: Node| {
            let labels = ["a", "b", "c"].map(str::to_owned).to_vec();
            let nodes = vec![Node::Activity(0), Node::Activity(1), Node::Activity(2), root];
            simplicity(&PetriNet::of_tree(&ProcessTree::new(labels, nodes).unwrap()))
        };
        assert_eq!(of(Node::Sequence(vec![0, 1, 2])), 1.0);
        // Two places, three transitions, six arcs: 12 ends of arcs on 5 nodes.
        assert!((of(Node::Xor(vec![0, 1, 2])) - 1.0 / 1.4).abs() < 1e-12);
    }
}
