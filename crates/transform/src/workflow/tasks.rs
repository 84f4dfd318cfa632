//! Lists of tasks: objects of the paper's form, and commands, one a line.

use serde_json::{Map, Value as Json, json};

use super::{Entry, Form, Workflow, outermost, own_lines};
use crate::algebra::{Command, Layer, Parts, Setting, Task};
use crate::error::{Fault, Place};
use crate::jx::Value;

/// Reads a list of tasks of the paper's form.
pub(super) fn read(file: &str, list: &[Value]) -> Result<Workflow, Fault> {
    let mut tasks = Vec::with_capacity(list.len());
    for (n, value) in list.iter().enumerate() {
        tasks.push(Entry {
            task: Task::from_value(value, format!("task {}", n + 1))?,
            category: None,
            after: Vec::new(),
            files: true,
            repeats: None,
        });
    }
    Ok(Workflow { file: file.to_owned(), tasks, form: Form::Tasks, notes: Vec::new() })
}

/// Commands, one a line; empty lines and lines that begin with `#` stay as they are.
pub(super) fn lines(file: &str, text: &str) -> Result<Workflow, Fault> {
    let is_command = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    own_lines::check((1..).zip(text.lines()).filter(|(_, line)| is_command(line)))?;
    let (mut tasks, mut order, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for (n, line) in text.lines().enumerate() {
        let at = Place { line: u32::try_from(n + 1).unwrap_or(u32::MAX), column: 1 };
        if let Some(column) = line.chars().position(|c| c == '\0') {
            return Err(Fault::new(Place { column: column as u32 + 1, ..at }, "a NUL byte is not allowed in a command"));
        }
        lines.push(line.to_owned());
        if !is_command(line) {
            order.push(None);
            continue;
        }
        order.push(Some(tasks.len()));
        let command = Command { cmd: line.to_owned(), ..Command::default() };
        tasks.push(Entry {
            task: Task::plain(format!("line {}", n + 1), at, Parts { command, ..Parts::default() }),
            category: None,
            after: Vec::new(),
            files: false,
            repeats: None,
        });
    }
    Ok(Workflow { file: file.to_owned(), tasks, form: Form::Lines(order, lines), notes: Vec::new() })
}

pub(super) fn write_lines(order: &[Option<usize>], lines: &[String], tasks: &[(Task, Vec<Layer>)]) -> String {
    let mut out = String::new();
    for (task, line) in order.iter().zip(lines) {
        match task.and_then(|n| tasks.get(n)) {
            Some((task, layers)) if !layers.is_empty() => out.push_str(&outermost(task, layers).command),
            _ => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

pub(super) fn write_tasks(tasks: &[(Task, Vec<Layer>)]) -> String {
    let list: Vec<Json> = tasks.iter().map(|(task, layers)| task_json(task, layers)).collect();
    let mut out = format!("{:#}", Json::from(list));
    out.push('\n');
    out
}

/// A task in the paper's form, with all its fields; of a transformed one the command is the
/// outermost script.
fn task_json(task: &Task, layers: &[Layer]) -> Json {
    let parts = &task.parts;
    if layers.is_empty() {
        let files = |list: &[crate::algebra::FileName]| {
            let one = |file: &crate::algebra::FileName| match file.is_renamed() {
                true => json!({"outer_name": file.outer, "inner_name": file.inner}),
                false => Json::from(file.outer.as_str()),
            };
            Json::from(list.iter().map(one).collect::<Vec<_>>())
        };
        let environment: Map<String, Json> =
            parts.environment.iter().map(|(name, setting)| (name.clone(), setting_json(setting))).collect();
        return json!({
            "name": task.name,
            "command": {"pre": parts.command.pre, "cmd": parts.command.cmd, "post": parts.command.post},
            "inputs": files(&parts.inputs), "outputs": files(&parts.outputs),
            "environment": environment, "resources": parts.resources,
        });
    }
    let outer = outermost(task, layers);
    json!({
        "name": task.name,
        "command": {"pre": [], "cmd": outer.command, "post": []},
        "inputs": outer.inputs, "outputs": outer.outputs,
        "environment": {}, "resources": parts.resources,
    })
}

/// A setting of a variable as it is written.
pub(super) fn setting_json(setting: &Setting) -> Json {
    match setting {
        Setting::Set(value) => Json::from(value.as_str()),
        Setting::Mask => Json::Null,
        Setting::Prepend(text) => json!({"prepend": text}),
        Setting::Append(text) => json!({"append": text}),
    }
}
