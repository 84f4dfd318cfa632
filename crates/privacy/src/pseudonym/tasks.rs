//! Ids of tasks, processes and files, and what they are of; steps; command lines in JSON.

use std::borrow::Cow;

use super::Pseudonymiser;
use super::code::Kind;
use super::entity::Entity;
use super::words::TASKS;

type Text<'r> = Cow<'r, str>;

impl Pseudonymiser {
    /// The pseudonym of a task's id, as in the column `task_io.task`.
    pub fn task(&self, key: &str) -> String {
        self.code(Kind::Task, key)
    }

    /// A job's step: a number or one of Slurm's words (`batch`, …) stays, all else becomes a code.
    pub(super) fn step<'r>(&self, step: Text<'r>) -> Text<'r> {
        if step.bytes().all(|b| b.is_ascii_digit()) { step } else { self.word(&TASKS, step) }
    }

    /// Where an id is valid: a cluster, a host, an engine.
    pub(super) fn scope<'r>(&self, of: Entity, scope: Text<'r>) -> Text<'r> {
        match of {
            Entity::Job | Entity::Step => self.named(Kind::Cluster, scope),
            Entity::Task => self.word(&TASKS, scope),
            _ => self.named(Kind::Host, scope),
        }
    }

    /// The pseudonym of an id, in the form that its kind of entity has.
    pub(super) fn id<'r>(&self, of: Entity, id: Text<'r>) -> Text<'r> {
        match of {
            Entity::Task => self.named(Kind::Task, id),
            Entity::Job | Entity::Numbered => self.without_letters(id),
            Entity::Step => match id.split_once('.') {
                Some((job, step)) => format!("{}.{}", self.without_letters(job.into()), self.step(step.into())).into(),
                None => self.without_letters(id),
            },
            Entity::Unassigned => self.word(&TASKS, id),
            Entity::Other => self.named(Kind::Container, id),
        }
    }

    /// A JSON array of words; what is none is one code.
    pub(super) fn json_line(&self, line: &str) -> String {
        match serde_json::from_str::<Vec<String>>(line) {
            Ok(words) => serde_json::Value::from_iter(words.iter().map(|word| self.words(word))).to_string(),
            Err(_) => self.code(Kind::Name, line),
        }
    }
}

#[cfg(test)]
mod tests {
    use flowmine_schema::tables::{DataFlow, Link, Process, TaskIo, TaskRun, TaskTotal};
    use flowmine_schema::{ColumnKind, Record, Row};

    use super::*;

    /// A row in the form of temporary files, in which every text begins with `secret` and every
    /// number is 7.
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

    fn hides<R: Row + Record<'static>>(change: impl FnOnce(R) -> R) {
        let secrets: &'static [u8] = row_of_secrets::<R>().leak();
        let mut after = Vec::new();
        change(R::take(secrets).unwrap()).put(&mut after);
        let count = |bytes: &[u8], word: &str| bytes.windows(word.len()).filter(|part| *part == word.as_bytes()).count();
        let texts = R::COLUMNS.iter().filter(|column| column.kind == ColumnKind::Text).count();
        assert_eq!((count(secrets, "secret."), count(&after, "secret"), count(&after, "of me")), (texts, 0, 0), "{}", <R as Row>::TABLE);
    }

    #[test]
    fn no_column_of_text_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("key"), "a key of more than sixteen bytes").unwrap();
        let pseudonymiser = Pseudonymiser::from_key_file(dir.path().join("key")).unwrap().0;
        hides::<TaskRun<'static>>(|row| pseudonymiser.row(row));
        hides::<TaskIo<'static>>(|row| pseudonymiser.row(row));
        hides::<TaskTotal<'static>>(|row| pseudonymiser.row(row));
        hides::<DataFlow<'static>>(|row| pseudonymiser.row(row));
        hides::<Link<'static>>(|row| pseudonymiser.row(row));
        hides::<Process<'static>>(|row| pseudonymiser.row(row));
    }

    #[test]
    fn the_same_name_has_the_same_code_in_every_table() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("key"), "a key of more than sixteen bytes").unwrap();
        let p = Pseudonymiser::from_key_file(dir.path().join("key")).unwrap().0;
        let link = p.row(Link {
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
        let flow = p.row(DataFlow { writer_type: Some("task".into()), writer: Some("makeflow:x/1#1".into()), ..DataFlow::default() });
        assert_eq!(flow.writer.as_deref(), Some(&*p.task("makeflow:x/1#1")));
        let process = p.row(Process { command_line: Some(r#"["tr","-d","/home/ann/x.txt","a b"]"#.into()), ..Process::default() });
        let words: Vec<String> = serde_json::from_str(process.command_line.as_deref().unwrap()).unwrap();
        assert_eq!((words.len(), &*words[1], words[2].ends_with(".txt"), words[2].matches('/').count()), (4, "-d", true, 3));
    }
}
