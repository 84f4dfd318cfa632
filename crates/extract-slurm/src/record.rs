//! One job as one source shows it at one time: what every decoder makes and the queue comparison
//! takes.

use std::borrow::Cow;

use flowmine_schema::tables::{JobState, change};
use flowmine_slurm::job_ref::{JobRef, label};
use flowmine_slurm::state::{State, Times};
use flowmine_slurm::tres;

use crate::{command, submit_line};

/// Declares [`JobRecord`] by its columns of text and of numbers; other texts are in no column of
/// their name.
macro_rules! job_record {
    (texts: $($text:ident),+; numbers: $($number:ident),+; other texts: $($other:ident),+) => {
        /// One job as one source shows it. Text is decoded ([`flowmine_schema::text`]); nothing is
        /// `None`.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "the fields are the columns of `job_states` of the same name and are documented there")]
        pub struct JobRecord<'a> {
            pub job_id: i64,
            pub job: JobRef<'a>,
            pub state: State,
            /// Whether the source says what the job waits for now, so that no dependency means that
            /// there is none.
            pub tells_dependency: bool,
            $(pub $text: Option<Cow<'a, str>>,)+
            $(pub $number: Option<i64>,)+
            $(pub $other: Option<Cow<'a, str>>,)+
        }

        impl JobRecord<'_> {
    /// Slurm's times of the job.
    pub fn times(&self) -> Times {
        Times { submit_ns: self.submit_ns, start_ns: self.start_ns, end_ns: self.end_ns }
    }

            /// A record with only what every source knows.
            pub fn new(job_id: i64, job: JobRef<'_>, state: State) -> JobRecord<'_> {
                JobRecord { job_id, job, state, tells_dependency: false, $($text: None,)+ $($number: None,)+ $($other: None,)+ }
            }

            /// A record that borrows nothing.
            pub fn into_owned(self) -> JobRecord<'static> {
                fn own(text: Option<Cow<'_, str>>) -> Option<Cow<'static, str>> {
                    text.map(|text| Cow::Owned(text.into_owned()))
                }
                JobRecord {
                    job_id: self.job_id,
                    job: match self.job {
                        JobRef::Single => JobRef::Single,
                        JobRef::Task { array, task } => JobRef::Task { array, task },
                        JobRef::PendingArray { array, tasks } => JobRef::PendingArray { array, tasks: Cow::Owned(tasks.into_owned()) },
                        JobRef::Het { leader, offset } => JobRef::Het { leader, offset },
                    },
                    state: self.state,
                    tells_dependency: self.tells_dependency,
                    $($text: own(self.$text),)+
                    $($number: self.$number,)+
                    $($other: own(self.$other),)+
                }
            }

            /// The columns of the same name.
            fn columns(&self) -> JobState<'_> {
                JobState { $($text: self.$text.as_deref().map(Cow::Borrowed),)+ $($number: self.$number,)+ ..JobState::default() }
            }
        }
    };
}

job_record! {
    texts: features, tres_per_node, licenses, submit_node, requested_tres, allocated_tres, name, user, group, account,
        partition, qos, reason, comment, work_dir, node_list, submit_line;
    numbers: submit_ns, start_ns, end_ns, time_limit_s, priority, nice, submit_session, eligible_ns, max_rss_bytes,
        step_memory_bytes, cpu_time_ns, gpu_percent, gpu_memory_bytes, nodes, cpus, memory_bytes, total_memory_bytes, exit_code, exit_signal, cancelled_by_uid,
        read_bytes, written_bytes;
    // Path and arguments in one string, as squeue has it; the expression as Slurm prints it (flowmine_slurm::dependency).
    other texts: command_line, dependency
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
            state: Some(self.state.name().into()),
            gpus: self.gpus(),
            ..self.columns()
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
