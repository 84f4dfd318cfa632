//! Colours, lengths and lines that the parts of the figure share.

pub(super) const LEFT: f64 = 24.0;

/// Steps of a curve, and of a line over the whole width.
pub(super) const STEPS: usize = 24;

pub(super) const ACROSS: usize = 380;

/// Grounds and lines of data inputs and of resources; the fifth has the colours of the first.
pub(super) const DATA: [&str; 4] = ["#bfdbfe", "#bbf7d0", "#ddd6fe", "#a5f3fc"];

pub(super) const DATA_LINES: [&str; 4] = ["#1d4ed8", "#15803d", "#6d28d9", "#0e7490"];

pub(super) const RESOURCES: [&str; 4] = ["#fed7aa", "#fde68a", "#fecaca", "#fbcfe8"];

pub(super) const RESOURCE_LINES: [&str; 4] = ["#c2410c", "#a16207", "#b91c1c", "#be185d"];

/// More pieces of a curve than this are drawn only as far as they can be distinguished.
pub(super) const SEEN: usize = 2000;
