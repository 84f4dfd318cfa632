//! The formats of models.

use crate::options::Choice;

/// The format of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// SVG.
    Svg,
    /// PNG, drawn from the SVG.
    Png,
    /// Graphviz's DOT.
    Dot,
    /// JSON.
    Json,
    /// CSV.
    Csv,
    /// GraphML.
    Graphml,
    /// GML.
    Gml,
    /// Cytoscape's JSON.
    Cytoscape,
    /// Text for a terminal.
    Text,
    /// Perfetto's trace.
    Perfetto,
    /// PNML (ISO/IEC 15909-2).
    Pnml,
    /// BPMN 2.0.
    Bpmn,
    /// Profile of Snakemake.
    Snakemake,
    /// `#SBATCH` lines of Slurm.
    Slurm,
    /// Nextflow's configuration.
    Nextflow,
}

impl Choice for Format {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("svg", "A figure", Self::Svg),
        ("png", "The same as pixels, for slides", Self::Png),
        ("dot", "For Graphviz", Self::Dot),
        ("json", "Everything, for programs", Self::Json),
        ("csv", "The numbers as a table", Self::Csv),
        ("graphml", "Graphs for yEd, Gephi, networkx", Self::Graphml),
        ("gml", "Graphs for Gephi, networkx", Self::Gml),
        ("cytoscape", "Graphs for Cytoscape", Self::Cytoscape),
        ("text", "For a terminal", Self::Text),
        ("perfetto", "A trace for Perfetto's page or chrome://tracing", Self::Perfetto),
        ("pnml", "Petri nets (ISO/IEC 15909-2), for ProM, PM4Py and others", Self::Pnml),
        ("bpmn", "BPMN 2.0 with its diagram", Self::Bpmn),
        ("snakemake", "A profile of Snakemake", Self::Snakemake),
        ("slurm", "#SBATCH lines of Slurm", Self::Slurm),
        ("nextflow", "Nextflow's configuration", Self::Nextflow),
    ];
}

impl Format {
    /// The endings of files' names, and the formats that they stand for.
    pub const ENDINGS: [(&'static str, Self); 15] = [
        ("svg", Self::Svg),
        ("png", Self::Png),
        ("dot", Self::Dot),
        ("gv", Self::Dot),
        ("json", Self::Json),
        ("csv", Self::Csv),
        ("graphml", Self::Graphml),
        ("gml", Self::Gml),
        ("cyjs", Self::Cytoscape),
        ("txt", Self::Text),
        ("pnml", Self::Pnml),
        ("bpmn", Self::Bpmn),
        ("sh", Self::Slurm),
        ("config", Self::Nextflow),
        ("yaml", Self::Snakemake),
    ];

    /// The formats of graphs, the usual one first.
    pub const GRAPH: &'static [Self] = &[Self::Svg, Self::Png, Self::Dot, Self::Json, Self::Csv, Self::Graphml, Self::Gml, Self::Cytoscape];
    /// The formats of charts, the usual one first.
    pub const CHART: &'static [Self] = &[Self::Svg, Self::Png, Self::Json, Self::Csv];
    /// The formats of lists, the usual one first.
    pub const LIST: &'static [Self] = &[Self::Text, Self::Csv, Self::Json];

    /// Whether a person looks at it: other programs get everything.
    pub fn is_seen(self) -> bool {
        matches!(self, Self::Svg | Self::Png | Self::Dot | Self::Text)
    }
}
