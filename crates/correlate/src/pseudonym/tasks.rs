//! Rows of tasks, processes and files.
//!
//! | column | becomes |
//! |---|---|
//! | `engine`, `executor`, `native_kind`, `status`, `failed_layer`, `failed_in`, `file_system`, `step`, `relation`, … | our own and well-known words stay, any other is a code |
//! | `run_id`, `run_name`, `task_id`, `logical_task`, `cache_key`, `work_dir`, `container_image`, `path`, `executable`, `cgroup_path` | paths, part by part |
//! | `name`, `tag`, `command`, each word of `command_line` | word by word |
//! | `task`, and a task's id in `links` and `data_flow` | one code: engine, run and task are in it |
//! | `pod`, `container`, `unit`, `container_id` | a code |
//! | `native_id` | stays when it holds no letter, else a code |
//! | `error` | one code |
//! | `uid`, `gid` | null, as a user's name in another form |
//! | `environment`, `earlier_programs`, `cgroup_v1`, `machines`, `parents`, `inputs`, `outputs`, `evidence`, histograms | null or empty: no log has them |
//! | `layers` | null: the events of layers are left out |
//!
//! A column that is new in a table does not slip through: a test fills every column of text.

use std::borrow::Cow;

use flowmine_schema::tables::{DataFlow, Link, Process, TaskIo, TaskRun, TaskTotal};

use super::Pseudonymiser;
use super::code::Kind;
use super::words::TASKS;

type Text<'r> = Cow<'r, str>;

impl Pseudonymiser {
    /// The pseudonym of a task's id, as in the column `task_io.task`.
    pub fn task(&self, key: &str) -> String {
        self.code(Kind::Task, key)
    }

    /// A row of `task_runs` with pseudonyms.
    pub fn task_run<'r>(&self, row: TaskRun<'r>) -> TaskRun<'r> {
        TaskRun {
            engine: self.word(&TASKS, row.engine),
            run_id: self.a_path(row.run_id),
            run_name: self.a_path(row.run_name),
            task_id: self.a_path(row.task_id),
            name: self.words(&row.name).into(),
            logical_task: self.path(&row.logical_task).into(),
            tag: row.tag.map(|text| self.words(&text).into()),
            cache_key: self.a_path(row.cache_key),
            work_dir: self.a_path(row.work_dir),
            executor: row.executor.map(|word| self.word(&TASKS, word)),
            queue: row.queue.map(|list| self.partitions(&list).into()),
            native_id: row.native_id.map(|id| self.without_letters(id)),
            native_kind: row.native_kind.map(|word| self.word(&TASKS, word)),
            host: row.host.map(|name| self.named(Kind::Host, name)),
            user: row.user.map(|name| self.named(Kind::User, name)),
            container_image: self.a_path(row.container_image),
            container_id: row.container_id.map(|id| self.named(Kind::Container, id)),
            status: self.word(&TASKS, row.status),
            command: row.command.map(|text| self.words(&text).into()),
            error: row.error.map(|text| self.named(Kind::Detail, text)),
            failed_layer: row.failed_layer.map(|word| self.word(&TASKS, word)),
            failed_in: row.failed_in.map(|word| self.word(&TASKS, word)),
            layers: None,
            machines: None,
            parents: None,
            inputs: None,
            outputs: None,
            source: self.path(&row.source).into(),
            source_sha256: None,
            ..row
        }
    }

    /// A row of `task_io` with pseudonyms.
    pub fn task_io<'r>(&self, row: TaskIo<'r>) -> TaskIo<'r> {
        TaskIo {
            task: row.task.map(|key| self.named(Kind::Task, key)),
            engine: row.engine.map(|word| self.word(&TASKS, word)),
            run_id: self.a_path(row.run_id),
            run_name: self.a_path(row.run_name),
            logical_task: self.a_path(row.logical_task),
            cluster: row.cluster.map(|name| self.named(Kind::Cluster, name)),
            job: row.job.map(|job| self.without_letters(job)),
            step: row.step.map(|step| self.step(step)),
            pod: row.pod.map(|id| self.named(Kind::Container, id)),
            container: row.container.map(|id| self.named(Kind::Container, id)),
            unit: row.unit.map(|name| self.named(Kind::Container, name)),
            unassigned: row.unassigned.map(|word| self.word(&TASKS, word)),
            uid: None,
            host: self.named(Kind::Host, row.host),
            file_system: row.file_system.map(|word| self.word(&TASKS, word)),
            path: self.a_path(row.path),
            read_pattern: row.read_pattern.map(|word| self.word(&TASKS, word)),
            write_pattern: row.write_pattern.map(|word| self.word(&TASKS, word)),
            read_sizes: None,
            write_sizes: None,
            read_latencies: None,
            write_latencies: None,
            ..row
        }
    }

    /// A row of `task_totals` with pseudonyms.
    pub fn task_total<'r>(&self, row: TaskTotal<'r>) -> TaskTotal<'r> {
        TaskTotal {
            task: row.task.map(|key| self.named(Kind::Task, key)),
            engine: row.engine.map(|word| self.word(&TASKS, word)),
            run_id: self.a_path(row.run_id),
            run_name: self.a_path(row.run_name),
            logical_task: self.a_path(row.logical_task),
            cluster: row.cluster.map(|name| self.named(Kind::Cluster, name)),
            job: row.job.map(|job| self.without_letters(job)),
            step: row.step.map(|step| self.step(step)),
            pod: row.pod.map(|id| self.named(Kind::Container, id)),
            container: row.container.map(|id| self.named(Kind::Container, id)),
            unit: row.unit.map(|name| self.named(Kind::Container, name)),
            unassigned: row.unassigned.map(|word| self.word(&TASKS, word)),
            uid: None,
            host: self.named(Kind::Host, row.host),
            time_source: row.time_source.map(|word| self.word(&TASKS, word)),
            ..row
        }
    }

    /// A row of `data_flow` with pseudonyms.
    pub fn data_flow<'r>(&self, row: DataFlow<'r>) -> DataFlow<'r> {
        let (writer_scope, writer) = self.entity(row.writer_type.as_deref(), row.writer_scope, row.writer);
        let (reader_scope, reader) = self.entity(row.reader_type.as_deref(), row.reader_scope, row.reader);
        DataFlow {
            host: row.host.map(|name| self.named(Kind::Host, name)),
            path: self.a_path(row.path),
            origin: self.word(&TASKS, row.origin),
            writer_type: row.writer_type.map(|word| self.word(&TASKS, word)),
            writer_scope,
            writer,
            reader_type: row.reader_type.map(|word| self.word(&TASKS, word)),
            reader_scope,
            reader,
            ..row
        }
    }

    /// A row of `links` with pseudonyms.
    pub fn link<'r>(&self, row: Link<'r>) -> Link<'r> {
        let (source_scope, source) = self.entity(Some(&row.source_type), Some(row.source_scope), Some(row.source));
        let (target_scope, target) = self.entity(Some(&row.target_type), Some(row.target_scope), Some(row.target));
        Link {
            source_type: self.word(&TASKS, row.source_type),
            source_scope: source_scope.unwrap_or_default(),
            source: source.unwrap_or_default(),
            target_type: self.word(&TASKS, row.target_type),
            target_scope: target_scope.unwrap_or_default(),
            target: target.unwrap_or_default(),
            relation: self.word(&TASKS, row.relation),
            rule: self.word(&TASKS, row.rule),
            strength: self.word(&TASKS, row.strength),
            evidence: Text::default(),
            ..row
        }
    }

    /// A row of `processes` with pseudonyms.
    pub fn process<'r>(&self, row: Process<'r>) -> Process<'r> {
        Process {
            host: self.named(Kind::Host, row.host),
            first_seen: self.word(&TASKS, row.first_seen),
            uid: None,
            user: row.user.map(|name| self.named(Kind::User, name)),
            gid: None,
            cgroup_path: self.a_path(row.cgroup_path),
            cgroup_v1: None,
            executable: self.a_path(row.executable),
            command_line: row.command_line.map(|line| self.command_line(&line).into()),
            work_dir: self.a_path(row.work_dir),
            earlier_programs: None,
            environment: None,
            ..row
        }
    }

    fn a_path<'r>(&self, text: Option<Text<'r>>) -> Option<Text<'r>> {
        text.map(|text| self.path(&text).into())
    }

    /// `0`, `batch`, …
    fn step<'r>(&self, step: Text<'r>) -> Text<'r> {
        if step.bytes().all(|b| b.is_ascii_digit()) { step } else { self.word(&TASKS, step) }
    }

    /// Scope and id of an entity, as the table `links` names it.
    fn entity<'r>(&self, kind: Option<&str>, scope: Option<Text<'r>>, id: Option<Text<'r>>) -> (Option<Text<'r>>, Option<Text<'r>>) {
        let scope = scope.map(|scope| match kind {
            Some("job" | "step") => self.named(Kind::Cluster, scope),
            Some("task") => self.word(&TASKS, scope),
            _ => self.named(Kind::Host, scope),
        });
        let id = id.map(|id| match kind {
            Some("task") => self.named(Kind::Task, id),
            Some("job" | "process" | "cgroup") => self.without_letters(id),
            Some("step") => match id.split_once('.') {
                Some((job, step)) => format!("{}.{}", self.without_letters(job.into()), self.step(step.into())).into(),
                None => self.without_letters(id),
            },
            Some("unassigned") => self.word(&TASKS, id),
            _ => self.named(Kind::Container, id),
        });
        (scope, id)
    }

    /// A JSON array of words; what is none is one code.
    fn command_line(&self, line: &str) -> String {
        match serde_json::from_str::<Vec<String>>(line) {
            Ok(words) => serde_json::Value::from_iter(words.iter().map(|word| self.words(word))).to_string(),
            Err(_) => self.code(Kind::Name, line),
        }
    }
}

#[cfg(test)]
mod tests {
    use flowmine_schema::row::{ColumnKind, Row};

    use super::*;

    /// A row in the form of temporary files, in which every text begins with `secret` and every number is 7.
    fn row_of_secrets<R: Row>() -> Vec<u8> {
        let mut bytes = Vec::new();
        for column in R::COLUMNS {
            let number: &[u8] = match column.kind {
                ColumnKind::Text => {
                    let text = format!("secret.{}/of me", column.name);
                    bytes.extend_from_slice(&(text.len() as u32 + u32::from(column.nullable)).to_le_bytes());
                    bytes.extend_from_slice(text.as_bytes());
                    continue;
                }
                ColumnKind::I64 => &7i64.to_le_bytes(),
                ColumnKind::I32 => &7i32.to_le_bytes(),
                ColumnKind::F64 => &7f64.to_le_bytes(),
                ColumnKind::Bool => &[1],
            };
            bytes.extend(column.nullable.then_some(1));
            bytes.extend_from_slice(number);
        }
        bytes
    }

    fn hides<R: Row<Of<'static> = R>>(change: impl FnOnce(R) -> R) {
        let secrets: &'static [u8] = row_of_secrets::<R>().leak();
        let mut after = Vec::new();
        R::put(&change(R::take(secrets).unwrap()), &mut after);
        let count = |bytes: &[u8], word: &str| bytes.windows(word.len()).filter(|part| *part == word.as_bytes()).count();
        let texts = R::COLUMNS.iter().filter(|column| column.kind == ColumnKind::Text).count();
        assert_eq!((count(secrets, "secret."), count(&after, "secret"), count(&after, "of me")), (texts, 0, 0), "{}", R::TABLE);
    }

    #[test]
    fn no_column_of_text_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("key"), "a key of more than sixteen bytes").unwrap();
        let pseudonymiser = Pseudonymiser::from_key_file(dir.path().join("key")).unwrap().0;
        hides::<TaskRun<'static>>(|row| pseudonymiser.task_run(row));
        hides::<TaskIo<'static>>(|row| pseudonymiser.task_io(row));
        hides::<TaskTotal<'static>>(|row| pseudonymiser.task_total(row));
        hides::<DataFlow<'static>>(|row| pseudonymiser.data_flow(row));
        hides::<Link<'static>>(|row| pseudonymiser.link(row));
        hides::<Process<'static>>(|row| pseudonymiser.process(row));
    }

    #[test]
    fn the_same_name_has_the_same_code_in_every_table() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("key"), "a key of more than sixteen bytes").unwrap();
        let p = Pseudonymiser::from_key_file(dir.path().join("key")).unwrap().0;
        let link = p.link(Link {
            source_type: "process".into(),
            source_scope: "n1".into(),
            source: "17".into(),
            target_type: "step".into(),
            target_scope: "lab".into(),
            target: "8_3.batch".into(),
            relation: "belongs-to".into(),
            ..Link::default()
        });
        assert_eq!((&*link.source, &*link.target, &*link.relation), ("17", "8_3.batch", "belongs-to"));
        assert_eq!((&*link.source_scope, &*link.target_scope), (&*p.host("n1"), &*p.cluster("lab")));
        let flow = p.data_flow(DataFlow { writer_type: Some("task".into()), writer: Some("makeflow:x/1#1".into()), ..DataFlow::default() });
        assert_eq!(flow.writer.as_deref(), Some(&*p.task("makeflow:x/1#1")));
        let process = p.process(Process { command_line: Some(r#"["tr","-d","/home/ann/x.txt","a b"]"#.into()), ..Process::default() });
        let words: Vec<String> = serde_json::from_str(process.command_line.as_deref().unwrap()).unwrap();
        assert_eq!((words.len(), &*words[1], words[2].ends_with(".txt"), words[2].matches('/').count()), (4, "-d", true, 3));
    }
}
