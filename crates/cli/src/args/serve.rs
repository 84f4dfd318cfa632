//! Arguments of `flowmine serve`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use flowmine_api::groups::TableColumns;
use flowmine_api::observe::{Options, Request, Rhythm};
use flowmine_api::options::parse::duration;
use flowmine_api::target::Target;

use super::Ssh;
use super::options::Group;
use super::shared::SourceArgs;

/// `flowmine serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "The address that is printed has a token, which opens the page once and is then a cookie of the browser. The server is \
    read-only and ends with Ctrl-C. On a remote machine: `flowmine serve --port 8765 DATASET` there, `ssh -L 8765:127.0.0.1:8765 HOST` here, \
    and open the address here. docs/serve.md describes the page, /api/ and /metrics."
)]
pub struct Serve {
    /// What to serve.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Port of 127.0.0.1 [default: a free one].
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "socket")]
    pub port: Option<u16>,
    /// Unix socket (mode 0600) instead of a port, in a directory into which only you can write.
    #[arg(long, value_name = "FILE")]
    pub socket: Option<PathBuf>,
    /// File (mode 0600) for the address with its token, instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub url_file: Option<PathBuf>,
    /// Host of a reverse proxy before the server, as browsers send it, with its port if that is
    /// not 80 or 443; repeatable.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub allow_host: Vec<String>,
    /// Memory for results that are kept, in MiB.
    #[arg(long, value_name = "MIB", default_value = "256", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub cache: u32,
    /// Memory for logs that were read, in MiB; a larger log is read for each model. A model in work
    /// has a copy of its log.
    #[arg(long, value_name = "MIB", default_value = "1024", value_parser = clap::value_parser!(u32).range(0..=1_048_576))]
    pub memory: u32,
    /// Write static pages for a web server into the directory of -o, and end.
    #[arg(long, requires = "out", conflicts_with_all = ["port", "socket", "url_file", "allow_host", "observe"])]
    pub once: bool,
    /// Directory of the static pages.
    #[arg(long, short, visible_alias = "output", value_name = "DIR", requires = "once")]
    pub out: Option<PathBuf>,
    /// Also poll the Slurm queue into the dataset, which is made when it does not exist.
    #[arg(long, requires = "dataset", conflicts_with = "log")]
    pub observe: bool,
    /// Interval of the polls.
    #[arg(long, visible_alias = "every", value_name = "TIME", default_value = "60s", value_parser = duration, requires = "observe")]
    pub interval: Duration,
    /// Directory of Slurm's commands, where PATH does not have it.
    #[arg(long, value_name = "DIR", requires = "observe")]
    pub slurm_bin_dir: Option<String>,
    /// Place of the queue.
    #[command(flatten)]
    pub ssh: Ssh,
    /// Contents of a table's columns.
    #[command(flatten)]
    pub columns: Group<TableColumns>,
}

impl Serve {
    /// What the server observes, for the library.
    pub fn observation(&self) -> Option<Request> {
        let dir = self.source.dataset.clone().filter(|_| self.observe)?;
        Some(Request {
            into: Target { dir, ..Target::default() },
            login_node: self.ssh.login_node(),
            rhythm: Rhythm::Every { interval: self.interval, polls: None },
            options: Options { slurm_bin_dir: self.slurm_bin_dir.clone(), ..Options::default() },
            pseudonymise: None,
        })
    }
}
