//! Input of rules: the observed properties of a process, a script that it opened, its place.

use std::borrow::Cow;
use std::rc::Rc;

use flowmine_schema::tables::Process;
use serde::Deserialize;

use super::claim::JobClaim;
use crate::entities::Run;

/// The name of the user who may act for every other.
pub const ROOT: &str = "root";

/// Observed properties of a process.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Name of the host.
    pub host: String,
    /// Process number in the host's pid namespace.
    pub pid: i64,
    /// Its number in its own pid namespace, if that is another.
    pub container_pid: Option<i64>,
    /// Id of its real user, if the source has it.
    pub real_uid: Option<i64>,
    /// Whether its fork was seen.
    pub forked: bool,
    /// When the process started, UTC nanoseconds since 1970.
    pub started_ns: Option<i64>,
    /// When the process ended, UTC nanoseconds since 1970.
    pub exit_ns: Option<i64>,
    /// Path of the process's cgroup in the v2 hierarchy.
    pub cgroup_path: Option<String>,
    /// Paths of the process's cgroups in the v1 hierarchies.
    pub cgroup_v1: Vec<String>,
    /// Environment variables that were kept.
    pub environment: Vec<(String, String)>,
    /// The users who can have set them; `None` if the source does not have them.
    pub environment_users: Option<Vec<User>>,
    /// Its exit code; 128 and the number of the signal that ended it.
    pub exit_code: Option<i64>,
    /// The programs that it was one after the other, the last one included: a shell may execute its
    /// last command in its own place. The first is its parent's when nothing is known of it.
    pub programs: Vec<Program>,
    /// The nearest engine above it that was seen.
    pub engine: Option<Rc<Run>>,
}

/// A program that a process was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Program {
    /// Since when, in nanoseconds since 1970; `None` when it was so from the beginning.
    pub exec_ns: Option<i64>,
    /// The program's command line, word by word.
    pub command_line: Option<Vec<String>>,
    /// Whether the command line is incomplete.
    pub command_line_cut: bool,
    /// Working directory of the process when it began the program.
    pub work_dir: Option<String>,
    /// The user who started the program.
    pub real_user: Option<User>,
}

/// A user, as named in a trace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum User {
    /// A user with a name.
    Named(Box<str>),
    /// A user with an id that has no name on the host, as in a user namespace.
    Unnamed(i64),
    /// A user whom the tracer could not determine.
    Unknown,
}

impl User {
    fn new(name: Option<&str>, uid: Option<i64>) -> Option<Self> {
        name.map(|name| User::Named(name.into())).or(uid.map(User::Unnamed))
    }

    /// The name, if there is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            User::Named(name) => Some(name),
            User::Unnamed(_) | User::Unknown => None,
        }
    }
}

impl Program {
    /// Whether the command line is known by its first word only: that is what a trace keeps of
    /// processes of others.
    pub fn only_program(&self) -> bool {
        self.command_line_cut && self.command_line.as_ref().is_some_and(|words| words.len() == 1)
    }
}

impl Facts {
    /// The facts that a row of `processes` gives.
    pub fn of(row: &Process<'_>) -> Self {
        let object = |text: &Option<Cow<'_, str>>| -> Vec<(String, String)> {
            let map = text.as_deref().and_then(|text| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).ok());
            map.into_iter().flatten().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
        };
        Self {
            host: row.host.to_string(),
            pid: row.pid.into(),
            container_pid: row.container_pid.map(i64::from),
            real_uid: row.real_uid,
            forked: row.first_seen == "fork",
            started_ns: row.started_ns,
            exit_ns: row.exit_ns,
            cgroup_path: row.cgroup_path.as_deref().map(str::to_owned),
            cgroup_v1: object(&row.cgroup_v1).into_iter().map(|(_, path)| path).collect(),
            environment: object(&row.environment),
            environment_users: row.environment_users.as_deref().and_then(|text| serde_json::from_str(text).ok()),
            exit_code: row.exit_code.or(row.exit_signal.map(|signal| 128 + signal)).map(i64::from),
            programs: programs(row),
            engine: None,
        }
    }

    /// The program that it was at a moment; the first one when that was before it is known what it
    /// was.
    pub fn program_at(&self, ns: i64) -> Option<&Program> {
        let then = self.programs.iter().rev().find(|program| program.exec_ns.is_none_or(|since| since <= ns));
        then.or(self.programs.first())
    }

    /// The user who started its last program.
    pub fn real_user(&self) -> Option<&User> {
        self.programs.last().and_then(|program| program.real_user.as_ref())
    }

    /// The users who can have set its environment. What only root set, root gave to the user who
    /// runs the program.
    pub fn environment_makers(&self) -> Vec<User> {
        let told = self.environment_users.iter().flatten().filter(|user| user.name() != Some(ROOT));
        let told: Vec<User> = told.cloned().collect();
        if told.is_empty() { self.real_user().cloned().into_iter().collect() } else { told }
    }

    /// An environment variable that is set to something.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// All paths of its control groups.
    pub fn cgroups(&self) -> impl Iterator<Item = &str> {
        self.cgroup_path.iter().chain(&self.cgroup_v1).map(String::as_str)
    }
}

fn programs(row: &Process<'_>) -> Vec<Program> {
    let mut programs: Vec<Program> = row.earlier_programs.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    programs.push(Program {
        exec_ns: row.exec_ns,
        command_line: row.command_line.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        command_line_cut: row.command_line_cut,
        work_dir: row.work_dir.as_deref().map(str::to_owned),
        real_user: User::new(row.real_user.as_deref(), row.real_uid).or_else(|| User::new(row.user.as_deref(), row.uid)),
    });
    programs
}

/// A file that a process opened for reading, and which a rule may assign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Path of the file as the host sees it.
    pub path: String,
    /// Path of the file as the process sees it, if that differs.
    pub container_path: Option<String>,
    /// When the process opened it, UTC nanoseconds since 1970.
    pub at_ns: i64,
}

/// Place of a process, as found by the rules for single processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The Slurm job in which the process is.
    pub job: Option<JobClaim>,
    /// Uid of the pod in which the process is.
    pub pod: Option<String>,
    /// Id of the container in which the process is.
    pub container: Option<String>,
}
