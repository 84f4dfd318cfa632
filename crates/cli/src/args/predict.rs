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
    /// The model, a JSON or TOML file (by its ending; others are JSON).
    #[arg(value_name = "MODEL", required_unless_present = "dataset", conflicts_with = "dataset")]
    pub model: Option<PathBuf>,
    /// Fit the model to the runs of this dataset, traced and correlated; may be given several
    /// times.
    #[arg(long, value_name = "DIR", help_heading = "Models from traces")]
    pub dataset: Vec<PathBuf>,
    /// The run that is predicted: its name, its id, or the directory of its dataset. Needed when
    /// there are several.
    #[arg(long, value_name = "RUN", requires = "dataset", help_heading = "Models from traces")]
    pub run: Option<String>,
    /// Learn from the other runs only; of the predicted one take its tasks, who reads from whom,
    /// and the bytes that were there before.
    #[arg(long, requires = "run", help_heading = "Models from traces")]
    pub held_out: bool,
    /// When tasks start: with the delays that were observed, or as soon as what they read is there.
    #[arg(long, value_name = "START", default_value = "observed", value_parser = choice::<Start>(), requires = "dataset", help_heading = "Models from traces")]
    pub start: Start,
    /// Let these tasks read as their input is written, though they did not when they were traced.
    #[arg(long, value_name = "TASK,TASK…", value_delimiter = ',', requires = "dataset", help_heading = "Models from traces")]
    pub stream: Vec<String>,
    /// As if so many times as much were read of what was there before the run.
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, requires = "dataset", help_heading = "Models from traces")]
    pub inputs_times: f64,
    /// What these tasks wait for elsewhere (neither processor nor files: the network) is one thing
    /// that they share, of which each had all when it was traced.
    #[arg(long, value_name = "NAME=TASK,TASK…", requires = "dataset", help_heading = "Models from traces")]
    pub share: Vec<String>,
    /// Write the model to a file, to be edited and predicted again: TOML by its ending, else JSON.
    #[arg(long, value_name = "FILE")]
    pub write_model: Option<PathBuf>,
    /// How the prediction is written; by the ending of -o when not given, else text.
    #[arg(long, value_name = "FORMAT", value_parser = choice::<Format>())]
    pub format: Option<Format>,
    /// The file to write; standard output without.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also tell how much each process uses of what it is given of each resource, and what of each
    /// data input waits: in pictures below each process (of one process always), in CSV a row for
    /// each of them. JSON has it always.
    #[arg(long)]
    pub details: bool,
    /// Say for each thing that limits how much earlier all would finish with this many times as
    /// much of it.
    #[arg(long, value_name = "TIMES", help_heading = "What if")]
    pub widen: Option<f64>,
    /// Say the same as if there were no limit.
    #[arg(long, conflicts_with = "widen", help_heading = "What if")]
    pub unlimited: bool,
    /// With --widen: say it for the so many longest times in which one thing limits a process, each
    /// alone.
    #[arg(long, value_name = "NUMBER", requires = "widen", help_heading = "What if")]
    pub segments: Option<usize>,
    /// Predict with a number of the model swept over a range, set (=) or multiplied (*):
    /// `shared[link].part[download]=0.5..0.99/600`.
    #[arg(long, value_name = "PATH=LOW..HIGH/POINTS", help_heading = "What if")]
    pub sweep: Option<String>,
    /// With --sweep and a picture: draw what was measured too, a CSV file with a value and seconds
    /// in each line.
    #[arg(long, value_name = "FILE", requires = "sweep", help_heading = "What if")]
    pub measured: Option<PathBuf>,
    /// Say by how much the finish changes when any capacity, allocation, requirement or input is
    /// one per cent more.
    #[arg(long, help_heading = "What if")]
    pub sensitivity: bool,
    /// Draw a number of the model at random: as likely in all of a range (`PATH*0.9..1.1`), or
    /// normal around a mean (`PATH*1+-0.05`); may be given several times.
    #[arg(long, value_name = "PATH=LOW..HIGH", help_heading = "What if")]
    pub vary: Vec<String>,
    /// How many times it is drawn.
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, requires = "vary", help_heading = "What if")]
    pub samples: usize,
    /// Another seed draws others.
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
