//! One job as one source shows it at one time: what every decoder makes and the queue comparison
//! takes.

use std::borrow::Cow;

use flowmine_schema::tables::{JobState, change};
use flowmine_slurm::job_ref::{JobRef, label};
use flowmine_slurm::state::State;
use flowmine_slurm::tres;

use crate::{command, submit_line};

/// One job as one source shows it. Text is decoded ([`flowmine_schema::text`]); nothing is `None`.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields are the columns of `job_states` of the same name and are documented there")]
pub struct JobRecord<'a> {
    pub job_id: i64,
    pub job: JobRef<'a>,
    pub state: State,
    pub submit_ns: Option<i64>,
    pub start_ns: Option<i64>,
    pub end_ns: Option<i64>,
    pub time_limit_s: Option<i64>,
    pub priority: Option<i64>,
    pub nice: Option<i64>,
    pub features: Option<Cow<'a, str>>,
    pub tres_per_node: Option<Cow<'a, str>>,
    pub licenses: Option<Cow<'a, str>>,
    pub submit_node: Option<Cow<'a, str>>,
    pub submit_session: Option<i64>,
    pub requested_tres: Option<Cow<'a, str>>,
    pub allocated_tres: Option<Cow<'a, str>>,
    pub eligible_ns: Option<i64>,
    pub max_rss_bytes: Option<i64>,
    pub step_memory_bytes: Option<i64>,
    pub cpu_time_ns: Option<i64>,
    pub name: Option<Cow<'a, str>>,
    pub user: Option<Cow<'a, str>>,
    pub group: Option<Cow<'a, str>>,
    pub account: Option<Cow<'a, str>>,
    pub partition: Option<Cow<'a, str>>,
    pub qos: Option<Cow<'a, str>>,
    pub reason: Option<Cow<'a, str>>,
    pub comment: Option<Cow<'a, str>>,
    /// Path and arguments in one string, as squeue has it.
    pub command_line: Option<Cow<'a, str>>,
    pub work_dir: Option<Cow<'a, str>>,
    pub nodes: Option<i64>,
    pub node_list: Option<Cow<'a, str>>,
    pub cpus: Option<i64>,
    pub memory_bytes: Option<i64>,
    pub total_memory_bytes: Option<i64>,
    /// The expression as Slurm prints it, see [`flowmine_slurm::dependency`].
    pub dependency: Option<Cow<'a, str>>,
    /// Whether the source says what the job waits for now, so that no dependency means that there
    /// is none.
    pub tells_dependency: bool,
    pub exit_code: Option<i64>,
    pub exit_signal: Option<i64>,
    pub cancelled_by_uid: Option<i64>,
    pub read_bytes: Option<i64>,
    pub written_bytes: Option<i64>,
    pub submit_line: Option<Cow<'a, str>>,
}

impl JobRecord<'_> {
    /// What is wrong with times of accounting that cannot follow each other so.
    pub(crate) fn times_out_of_order(&self) -> impl Iterator<Item = &'static str> + use<> {
        let order = [
            (self.submit_ns, self.start_ns, "it started before it was submitted; the times are kept"),
            (self.start_ns, self.end_ns, "it ended before it started; the times are kept"),
        ];
        order.into_iter().filter(|(first, then, _)| first.zip(*then).is_some_and(|(first, then)| then < first)).map(|(.., what)| what)
    }

    /// A record with only what every source knows.
    pub fn new(job_id: i64, job: JobRef<'_>, state: State) -> JobRecord<'_> {
        JobRecord {
            job_id,
            job,
            state,
            submit_ns: None,
            start_ns: None,
            end_ns: None,
            time_limit_s: None,
            priority: None,
            nice: None,
            features: None,
            tres_per_node: None,
            licenses: None,
            submit_node: None,
            submit_session: None,
            requested_tres: None,
            allocated_tres: None,
            eligible_ns: None,
            max_rss_bytes: None,
            step_memory_bytes: None,
            cpu_time_ns: None,
            name: None,
            user: None,
            group: None,
            account: None,
            partition: None,
            qos: None,
            reason: None,
            comment: None,
            command_line: None,
            work_dir: None,
            nodes: None,
            node_list: None,
            cpus: None,
            memory_bytes: None,
            total_memory_bytes: None,
            dependency: None,
            tells_dependency: false,
            exit_code: None,
            exit_signal: None,
            cancelled_by_uid: None,
            read_bytes: None,
            written_bytes: None,
            submit_line: None,
        }
    }

    /// What helps to read its submit line.
    pub fn known(&self) -> submit_line::Known<'_> {
        submit_line::Known { name: self.name.as_deref(), comment: self.comment.as_deref(), work_dir: self.work_dir.as_deref() }
    }

    /// The dependency in its submit line, and whether lost quotes leave that open.
    pub fn submitted_dependency(&self) -> Option<(String, bool)> {
        let read = submit_line::read(self.submit_line.as_deref()?, &self.known());
        read.dependency.map(|dependency| (dependency.to_owned(), read.is_doubtful))
    }

    /// How many GPUs it was given or asks for.
    pub fn gpus(&self) -> Option<i64> {
        let in_all = |list: &Option<Cow<'_, str>>| list.as_deref().and_then(tres::gpus);
        let of_nodes = || tres::gpus(self.tres_per_node.as_deref()?)?.checked_mul(self.nodes?);
        in_all(&self.allocated_tres).or_else(|| in_all(&self.requested_tres)).or_else(of_nodes)
    }

    /// Whether its user or an administrator keeps it from starting.
    pub fn is_held(&self) -> bool {
        self.state == State::Pending && change::is_hold(self.priority, self.reason.as_deref())
    }

    /// The job's name in the tables: `7`, `8_3`, `8_*`, `18+1`.
    pub fn label(&self) -> String {
        label(self.job_id, &self.job)
    }

    /// The row that this record makes; what only the comparison knows (`change`, the interval) is
    /// left at its default.
    pub fn to_row(&self) -> JobState<'_> {
        let mut row = JobState {
            job: self.label().into(),
            job_id: self.job_id,
            submit_ns: self.submit_ns,
            state: Some(self.state.name().into()),
            start_ns: self.start_ns,
            end_ns: self.end_ns,
            time_limit_s: self.time_limit_s,
            priority: self.priority,
            nice: self.nice,
            features: self.features.as_deref().map(Cow::Borrowed),
            tres_per_node: self.tres_per_node.as_deref().map(Cow::Borrowed),
            licenses: self.licenses.as_deref().map(Cow::Borrowed),
            submit_node: self.submit_node.as_deref().map(Cow::Borrowed),
            submit_session: self.submit_session,
            requested_tres: self.requested_tres.as_deref().map(Cow::Borrowed),
            allocated_tres: self.allocated_tres.as_deref().map(Cow::Borrowed),
            gpus: self.gpus(),
            eligible_ns: self.eligible_ns,
            max_rss_bytes: self.max_rss_bytes,
            step_memory_bytes: self.step_memory_bytes,
            cpu_time_ns: self.cpu_time_ns,
            name: self.name.as_deref().map(Cow::Borrowed),
            user: self.user.as_deref().map(Cow::Borrowed),
            group: self.group.as_deref().map(Cow::Borrowed),
            account: self.account.as_deref().map(Cow::Borrowed),
            partition: self.partition.as_deref().map(Cow::Borrowed),
            qos: self.qos.as_deref().map(Cow::Borrowed),
            reason: self.reason.as_deref().map(Cow::Borrowed),
            comment: self.comment.as_deref().map(Cow::Borrowed),
            work_dir: self.work_dir.as_deref().map(Cow::Borrowed),
            nodes: self.nodes,
            node_list: self.node_list.as_deref().map(Cow::Borrowed),
            cpus: self.cpus,
            memory_bytes: self.memory_bytes,
            total_memory_bytes: self.total_memory_bytes,
            exit_code: self.exit_code,
            exit_signal: self.exit_signal,
            cancelled_by_uid: self.cancelled_by_uid,
            read_bytes: self.read_bytes,
            written_bytes: self.written_bytes,
            submit_line: self.submit_line.as_deref().map(Cow::Borrowed),
            ..JobState::default()
        };
        match &self.job {
            JobRef::Single => {}
            JobRef::Task { array, task } => {
                row.array_job_id = Some(*array);
                row.array_task_id = Some(*task);
            }
            JobRef::PendingArray { array, tasks } => {
                row.array_job_id = Some(*array);
                row.array_tasks = Some(Cow::Borrowed(tasks));
            }
            JobRef::Het { leader, offset } => {
                row.het_job_id = Some(*leader);
                row.het_offset = Some(*offset);
            }
        }
        match self.command_line.as_deref().and_then(|line| command::split(line, self.name.as_deref(), self.work_dir.as_deref())) {
            Some(command) => {
                row.command = Some(command.path.into());
                row.arguments = command.arguments.map(Into::into);
                row.activity = Some(command.file_name.into());
            }
            // squeue shows the command where there is one. Accounting does not, but the submit line has the script.
            None => match self.submit_line.as_deref() {
                None => row.activity = self.name.as_deref().map(Cow::Borrowed),
                Some(line) => {
                    row.activity = submit_line::read(line, &self.known()).script.map(|script| command::file_name(script).into());
                }
            },
        }
        row
    }
}
