//! What columns can reveal of people, projects and a site, declared together with the column
//! ([`table!`](crate::table)).
//!
//! `--pseudonymise` follows it for every table, and `docs/tables.md` lists it.

/// Personal data that a column can contain. It determines how the column is pseudonymised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Private {
    /// Nothing personal: numbers, times, and words that flowmine itself chose.
    Harmless,
    /// A cluster's name.
    Cluster,
    /// A host's name.
    Host,
    /// Hosts, as Slurm writes lists of them: `n[1-4,7]`.
    HostList,
    /// A user's name.
    User,
    /// A group's name.
    Group,
    /// An account's name.
    Account,
    /// The name of a quality of service (QOS).
    Qos,
    /// Partitions or queues, with commas between.
    Partitions,
    /// The number of a user or group: a name in another form, and too short to be hidden in another
    /// number.
    UserId,
    /// A path, a file's name, or a name that often is one.
    Path,
    /// A command line, or other words with blanks between.
    Line,
    /// A command line as a JSON array of words.
    JsonLine,
    /// Comment of a user on a job.
    Comment,
    /// The message of a diagnostic.
    Message,
    /// Name that a site chose.
    Label,
    /// Resources as Slurm writes them: `cpu=4,gres/gpu:a100=2`.
    Resources,
    /// A task's id, which contains the names of engine, run and task.
    Task,
    /// The id of a container or pod, or the name of a systemd unit.
    Container,
    /// An id of digits and signs, as Slurm and batch systems give: `8_3`.
    Number,
    /// A step of a job: a number, or one of Slurm's own words.
    Step,
    /// One of a list of words that are no names.
    Word(Vocabulary),
    /// Names of columns of `job_states`, with commas between.
    ColumnNames,
    /// Why a job waits or ended: Slurm's word, and what may follow it.
    Reason,
    /// Scope of an id, of the kind that the named column contains: a cluster, a host, an engine.
    ScopeOf(&'static str),
    /// An id of the kind that the named column contains: a job, a task, a process, a container, …
    IdOf(&'static str),
    /// Values that pseudonymised logs do not contain: text of many names, digests, histograms.
    Withheld,
}

/// A list of words that are no names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    /// Slurm's words for the states of jobs.
    States,
    /// Words of dependencies, Slurm's and flowmine's.
    Dependencies,
    /// Flowmine's own words for a change and for the source that reported it.
    Ours,
    /// Words of tasks, processes and files: engines, kinds, relations, file systems.
    OfTasks,
}

impl Private {
    /// Returns the column that determines the contents of this one.
    pub const fn depends_on(self) -> Option<&'static str> {
        match self {
            Private::ScopeOf(column) | Private::IdOf(column) => Some(column),
            _ => None,
        }
    }

    /// Returns the pseudonymised form of the column, in the words of `docs/tables.md`.
    pub const fn becomes(self) -> &'static str {
        match self {
            Private::Harmless => "",
            Private::HostList => "a code for each host",
            Private::Partitions => "a code for each name",
            Private::Path => "codes, part by part",
            Private::Line | Private::JsonLine => "codes, word by word",
            Private::Resources => "codes but for Slurm's own",
            Private::Number => "stays without letters, else a code",
            Private::Step | Private::Word(_) | Private::ColumnNames => "known words stay, else a code",
            Private::Reason => "Slurm's words stay, the rest a code",
            Private::UserId | Private::Withheld => "left out",
            Private::Cluster
            | Private::Host
            | Private::User
            | Private::Group
            | Private::Account
            | Private::Qos
            | Private::Comment
            | Private::Message
            | Private::Label
            | Private::Task
            | Private::Container
            | Private::ScopeOf(_)
            | Private::IdOf(_) => "a code",
        }
    }
}
