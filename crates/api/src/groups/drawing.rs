//! How figures are drawn, of every model.

use flowmine_draw::Direction;

use super::Grouped;
use crate::options::{Choice, Group, Kind, OptionSpec, Values};

/// How a figure is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drawing {
    /// Whether heading and legend are left out.
    pub is_plain: bool,
    /// The number of pixels of a PNG for one of the SVG.
    pub scale: f32,
    /// The direction of a graph; `None` if the model has no such option.
    pub direction: Option<Direction>,
}

impl Choice for Direction {
    const VALUES: &'static [(&'static str, &'static str, Self)] =
        &[("TB", "From top to bottom", Self::Down), ("LR", "From left to right", Self::Across)];
}

/// `--direction`, with the names of Graphviz's `rankdir`.
pub const DIRECTION: OptionSpec = OptionSpec::choice::<Direction>("direction", "DIRECTION", "Direction of the flow");

/// The options of a figure that is a graph in layers.
pub const OF_GRAPHS: Group = Group { heading: "Figure", options: &[DIRECTION.by_default("TB")] };

impl Grouped for Drawing {
    const GROUP: &'static Group = &Group {
        heading: "Figure",
        options: &[
            OptionSpec::flag("plain", "Leave out heading, facts and legend of the figure, for papers"),
            OptionSpec::new("scale", "N", Kind::Number(0.0, f64::MAX), "Number of pixels of a PNG for one of the SVG")
                .by_default("2")
                .rare(),
        ],
    };

    fn read(values: &Values) -> Self {
        Self {
            is_plain: values.flag("plain"),
            scale: values.number("scale").unwrap_or(1.0) as f32,
            direction: values.choice(DIRECTION.name),
        }
    }
}
