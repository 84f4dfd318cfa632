//! How an imagined user works.

use flowmine_random::Random;

/// The shape of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One step after another.
    Chain,
    /// One step, several parallel ones, one step.
    Diamond,
    /// The same step for each sample, then one that merges.
    FanIn,
    /// Several steps for each sample, then one that merges.
    Samples,
    /// One step with many parameters.
    Sweep,
}

/// Who submits the jobs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// A person, stage by stage, after looking at the results.
    Person,
    /// A script that waits for a stage, then submits the next.
    Script,
    /// A script that submits all at once; the jobs wait for their inputs themselves.
    AtOnce,
}

/// Where jobs are submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directory {
    /// All in one.
    One,
    /// One for each workflow.
    PerWorkflow,
    /// One for each run.
    PerRun,
}

/// From which shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// One that stays open for weeks.
    One,
    /// One for each day.
    PerDay,
    /// One for each run.
    PerRun,
}

/// What names and arguments show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// Scripts with names of their own.
    Steps,
    /// Scripts with names of their own, and the sample in arguments.
    Samples,
    /// Names that count.
    Counted,
    /// One script for all, with the step as argument.
    OneScript,
}

/// A workflow of a user.
#[derive(Debug, Clone)]
pub struct Workflow {
    pub name: String,
    pub shape: Shape,
    /// Names of the steps, in order.
    pub steps: Vec<String>,
    /// Of each step the median duration of a job, in seconds.
    pub median_s: Vec<u64>,
    /// Maximum number of parallel jobs.
    pub width: u64,
}

/// A user.
#[derive(Debug, Clone)]
pub struct Habits {
    pub user: String,
    pub account: String,
    pub driver: Driver,
    pub directory: Directory,
    pub shell: Shell,
    pub naming: Naming,
    pub workflows: Vec<Workflow>,
    /// Median time from an end to the next submission by hand, in seconds.
    pub think_s: u64,
    /// Median pause between runs, in seconds.
    pub pause_s: u64,
}

const STEPS: &[&str] = &[
    "prepare",
    "fetch",
    "clean",
    "align",
    "sort",
    "filter",
    "call",
    "mesh",
    "solve",
    "simulate",
    "train",
    "evaluate",
    "predict",
    "render",
    "merge",
    "report",
    "index",
    "count",
    "normalise",
    "fit",
    "relax",
    "equilibrate",
    "analyse",
    "convert",
];

impl Habits {
    /// The habits of the user of this number.
    pub fn draw(number: usize, random: &mut Random) -> Self {
        let workflows = (0..random.between(1, 3)).map(|workflow| Workflow::draw(number, workflow, random)).collect();
        Self {
            user: format!("user{number:02}"),
            account: format!("account{}", number / 3),
            driver: random.one_of(&[Driver::Person, Driver::Person, Driver::Script, Driver::Script, Driver::AtOnce]),
            directory: random.one_of(&[Directory::One, Directory::PerWorkflow, Directory::PerRun]),
            shell: random.one_of(&[Shell::One, Shell::PerDay, Shell::PerDay, Shell::PerRun]),
            naming: random.one_of(&[Naming::Steps, Naming::Samples, Naming::Samples, Naming::Counted, Naming::OneScript]),
            workflows,
            think_s: random.one_of(&[60, 120, 240, 480]),
            pause_s: random.one_of(&[900, 2400, 7200]),
        }
    }
}

impl Workflow {
    fn draw(user: usize, number: u64, random: &mut Random) -> Self {
        let shape = random.one_of(&[Shape::Chain, Shape::Chain, Shape::Diamond, Shape::FanIn, Shape::Samples, Shape::Sweep]);
        let count = match shape {
            Shape::Chain => random.between(3, 6),
            Shape::Samples => random.between(3, 4),
            Shape::Diamond => 3,
            Shape::FanIn => 2,
            Shape::Sweep => 1,
        };
        // A place to begin and a stride without common divisor: no step twice.
        let (first, stride) = (random.below(STEPS.len() as u64), random.one_of(&[1, 5, 7, 11]));
        let steps = (0..count).map(|step| STEPS[((first + step * stride) % STEPS.len() as u64) as usize].to_owned()).collect();
        let median_s = (0..count).map(|_| random.one_of(&[60, 180, 400, 900, 1800])).collect();
        Self { name: format!("project{user}{number}"), shape, steps, median_s, width: random.between(2, 8) }
    }
}
