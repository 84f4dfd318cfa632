//! How a model is to be made of runs.

/// When tasks of the model start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// With the delays that were observed: those that wait for nothing at their time, the others so
    /// long after what they waited for.
    #[default]
    Observed,
    /// As soon as what they read is there.
    Ready,
}

/// How a model is made.
#[derive(Debug, Clone)]
pub struct Options {
    /// When the tasks of the model start.
    pub start: Start,
    /// Names of tasks that read as their input is written, though they did not when they were
    /// traced.
    pub stream: Vec<String>,
    /// Factor of the data from before the run.
    pub inputs_times: f64,
    /// Links that several tasks share.
    pub share: Vec<Link>,
}

impl Default for Options {
    fn default() -> Self {
        Self { start: Start::Observed, stream: Vec::new(), inputs_times: 1.0, share: Vec::new() }
    }
}

/// What tasks wait for elsewhere is one thing that they share, of which each had all when it was
/// traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Name of the link in the model.
    pub name: String,
    /// Names of the tasks that share it.
    pub tasks: Vec<String>,
}
