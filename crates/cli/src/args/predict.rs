//! `flowmine predict`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use flowmine_api::predict::{Format, Link, Of, Options, Request, Runs, Start, Studies, Vary, Wider};

use super::options::choice;

/// `flowmine predict`.
#[derive(Debug, Args)]
#[command(
    after_help = "The model says of each process what data and resources its progress takes and what it is given of them; docs/prediction.md has \
    the format and examples. A PATH is that of the model file with numbers or names, such as `processes[align].resources[cpu].allocation` or \
    `shared[link].part[download]`."
)]
pub struct Predict {
    /// Model, a JSON or TOML file (by its suffix; others are JSON).
    #[arg(value_name = "MODEL", required_unless_present = "dataset", conflicts_with = "dataset")]
    pub model: Option<PathBuf>,
    /// Fit the model to the runs of this dataset, traced and correlated; repeatable.
    #[arg(long, value_name = "DIR", help_heading = "Models from traces")]
    pub dataset: Vec<PathBuf>,
    /// The run that is predicted: its name, its id, or the directory of its dataset. Needed when
    /// there are several.
    #[arg(long, value_name = "RUN", requires = "dataset", help_heading = "Models from traces")]
    pub run: Option<String>,
    /// Learn from the other runs only; the predicted run provides its tasks, their data flow and
    /// the sizes of its input files.
    #[arg(long, requires = "run", help_heading = "Models from traces")]
    pub held_out: bool,
    /// Start of tasks: with the observed delays, or as soon as their inputs exist.
    #[arg(long, value_name = "START", default_value = "observed", value_parser = choice::<Start>(), requires = "dataset", help_heading = "Models from traces")]
    pub start: Start,
    /// Tasks that read while their input is written, although they did not in the trace.
    #[arg(long, value_name = "TASK,TASK…", value_delimiter = ',', requires = "dataset", help_heading = "Models from traces")]
    pub stream: Vec<String>,
    /// Factor for the bytes of input files that existed before the run.
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, requires = "dataset", help_heading = "Models from traces")]
    pub inputs_times: f64,
    /// Tasks that share one external resource (neither processor nor files, such as the network);
    /// in the trace each had all of it.
    #[arg(long, value_name = "NAME=TASK,TASK…", requires = "dataset", help_heading = "Models from traces")]
    pub share: Vec<String>,
    /// Write the model to a file, for editing and another prediction: TOML by its suffix, else
    /// JSON.
    #[arg(long, value_name = "FILE")]
    pub write_model: Option<PathBuf>,
    /// Format of the prediction [default: by the suffix of -o, else text].
    #[arg(long, value_name = "FORMAT", value_parser = choice::<Format>())]
    pub format: Option<Format>,
    /// Output file [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also give the used share of each resource of each process, and the waiting part of each data
    /// input: in figures below each process, in CSV a row each. JSON always has it.
    #[arg(long)]
    pub details: bool,
    /// Leave out heading and legend of the figure, for papers.
    #[arg(long)]
    pub plain: bool,
    /// Gain in time for each limiting resource with this multiple of it.
    #[arg(long, value_name = "TIMES", help_heading = "What if")]
    pub widen: Option<f64>,
    /// Gain in time for each limiting resource without its limit.
    #[arg(long, conflicts_with = "widen", help_heading = "What if")]
    pub unlimited: bool,
    /// With --widen: number of longest intervals with one limiting resource, widened one at a time.
    #[arg(long, value_name = "NUMBER", requires = "widen", help_heading = "What if")]
    pub segments: Option<usize>,
    /// Predict with a number of the model swept over a range, set (=) or multiplied (*):
    /// `shared[link].part[download]=0.5..0.99/600`.
    #[arg(long, value_name = "PATH=LOW..HIGH/POINTS", help_heading = "What if")]
    pub sweep: Option<String>,
    /// With --sweep and a figure: also draw measurements, a CSV file with a value and seconds in
    /// each line.
    #[arg(long, value_name = "FILE", requires = "sweep", help_heading = "What if")]
    pub measured: Option<PathBuf>,
    /// Change of the finish with one per cent more of each capacity, allocation, requirement or
    /// input.
    #[arg(long, help_heading = "What if")]
    pub sensitivity: bool,
    /// Draw a number of the model at random: uniform in a range (`PATH*0.9..1.1`), or normal around
    /// a mean (`PATH*1+-0.05`); repeatable.
    #[arg(long, value_name = "PATH=LOW..HIGH", help_heading = "What if")]
    pub vary: Vec<String>,
    /// Number of draws.
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, requires = "vary", help_heading = "What if")]
    pub samples: usize,
    /// Seed of the draws.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "vary", help_heading = "What if")]
    pub seed: u64,
}

impl Predict {
    /// The request for the library.
    ///
    /// # Errors
    /// When a text is no study, or no thing that tasks share.
    pub fn request(&self) -> anyhow::Result<Request> {
        Ok(Request {
            of: match &self.model {
                Some(path) => Of::File(path.clone()),
                None => Of::Runs(self.runs()?),
            },
            studies: self.studies()?,
            write_model: self.write_model.clone(),
            format: self.format,
            output: self.output.clone(),
            details: self.details,
            plain: self.plain,
            measured: self.measured.clone(),
        })
    }

    fn runs(&self) -> anyhow::Result<Runs> {
        let share = self.share.iter().map(|text| link(text)).collect::<anyhow::Result<Vec<_>>>()?;
        let options = Options { start: self.start, stream: self.stream.clone(), inputs_times: self.inputs_times, share };
        Ok(Runs { datasets: self.dataset.clone(), run: self.run.clone(), held_out: self.held_out, options })
    }

    fn studies(&self) -> anyhow::Result<Studies> {
        Ok(Studies {
            wider: if self.unlimited { Some(Wider::Unlimited) } else { self.widen.map(Wider::Times) },
            segments: self.widen.zip(self.segments),
            sweep: self.sweep.as_deref().map(str::parse).transpose()?,
            sensitivity: self.sensitivity,
            vary: self.vary.iter().map(|text| text.parse()).collect::<Result<Vec<Vary>, _>>()?,
            samples: self.samples,
            seed: self.seed,
        })
    }
}

fn link(text: &str) -> anyhow::Result<Link> {
    let (name, tasks) = text
        .split_once('=')
        .filter(|(name, tasks)| !name.is_empty() && !tasks.is_empty())
        .with_context(|| format!("--share {text:?} is not NAME=TASK,TASK…"))?;
    Ok(Link { name: name.to_owned(), tasks: tasks.split(',').map(str::to_owned).collect() })
}
