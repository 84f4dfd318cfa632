//! A task of the algebra, typed: section "Notation" of the paper.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Fault, Place};
use crate::jx::{Data, Value};

/// Commands of a task: a shell command, with commands before and after it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// Shell commands before it; the first that fails ends the task.
    pub pre: Vec<String>,
    /// The shell command of the task itself.
    pub cmd: String,
    /// Shell commands after it, also after a failure; they see `EXIT` and may change it.
    pub post: Vec<String>,
}

/// A file of a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileName {
    /// Its name where the task runs.
    pub inner: String,
    /// Its name in the workflow.
    pub outer: String,
    /// Whether each run of the task adds its number to that name, because the runs would make one
    /// file else.
    pub each_run: bool,
}

impl FileName {
    /// A file that has one name.
    pub fn plain(name: &str) -> Self {
        Self { inner: name.to_owned(), outer: name.to_owned(), each_run: false }
    }

    /// Whether it has another name where the task runs.
    pub fn is_renamed(&self) -> bool {
        self.inner != self.outer
    }
}

/// Change of a variable of the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// The variable has this value.
    Set(String),
    /// The variable is unset where the task runs.
    Mask,
    /// This stands before the value that it has where the task runs.
    Prepend(String),
    /// This stands after the value that it has where the task runs.
    Append(String),
}

impl Setting {
    /// Returns the text that is set, prepended or appended; empty if the variable is unset.
    fn text(&self) -> &str {
        match self {
            Self::Set(text) | Self::Prepend(text) | Self::Append(text) => text,
            Self::Mask => "",
        }
    }
}

/// Changes of variables of the environment, by name.
pub type Environment = BTreeMap<String, Setting>;

/// Resources by kind: `cores` and `gpus` as numbers, `memory` and `disk` in MB, `wall-time` in
/// seconds, others as the engine takes them.
pub type Resources = BTreeMap<String, i64>;

/// Parts of a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parts {
    /// The command that runs.
    pub command: Command,
    /// The files that it reads.
    pub inputs: Vec<FileName>,
    /// The files that it writes.
    pub outputs: Vec<FileName>,
    /// Its changes of the environment.
    pub environment: Environment,
    /// The resources that it needs.
    pub resources: Resources,
}

impl Parts {
    /// About how many bytes they have in memory.
    fn size(&self) -> usize {
        const EACH: usize = 64;
        let commands = self.command.pre.iter().chain([&self.command.cmd]).chain(&self.command.post).map(String::len);
        let files = self.inputs.iter().chain(&self.outputs).map(|file| file.inner.len() + file.outer.len());
        let settings = self.environment.iter().map(|(name, setting)| name.len() + setting.text().len());
        let resources = self.resources.keys().map(String::len);
        commands.chain(files).chain(settings).chain(resources).fold(0, |sum, bytes| sum.saturating_add(bytes + EACH))
    }
}

/// A task below the outermost transformation: what its script does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Name of the transformation; `task` for the plain task.
    pub name: String,
    /// The checksum, [`super::task_id`].
    pub id: String,
    /// Its parts, with the variables that this layer itself sets.
    pub parts: Parts,
    /// Whether it runs in a directory of its own.
    pub sandbox: bool,
    /// Whether no pattern of a shell finds what belongs to it.
    pub hidden: bool,
}

impl Layer {
    /// Name of the layer's script, as in the paper.
    pub fn script(&self) -> String {
        self.file("sh")
    }

    /// Name of a file that belongs to the layer.
    pub fn file(&self, ending: &str) -> String {
        own_file(&self.id, self.hidden, ending)
    }
}

fn own_file(id: &str, hidden: bool, ending: &str) -> String {
    format!("{}t_{id}.{ending}", if hidden { "." } else { "" })
}

/// A task, plain or transformed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name in messages and records.
    pub name: String,
    /// Its place in the workflow.
    pub at: Place,
    /// The outermost task, as an engine sees it; its environment is the merged one.
    pub parts: Parts,
    /// The variables that the outermost layer itself sets.
    pub own_environment: Environment,
    /// Name of the outermost transformation; `task` where there is none.
    pub layer: String,
    /// Whether the outermost layer runs in a directory of its own.
    pub sandbox: bool,
    /// Whether its scripts and records have hidden names: the script that starts it may list the
    /// directory.
    pub hidden: bool,
    /// The layers below, the plain task first.
    pub under: Vec<Layer>,
}

const FIELDS: [&str; 5] = ["command", "inputs", "outputs", "environment", "resources"];

impl Task {
    /// A task to which no transformation was applied.
    pub fn plain(name: impl Into<String>, at: Place, parts: Parts) -> Self {
        let own_environment = parts.environment.clone();
        Self { name: name.into(), at, parts, own_environment, layer: "task".to_owned(), sandbox: false, hidden: false, under: Vec::new() }
    }

    /// About how many bytes it has in memory, with all its layers.
    pub fn size(&self) -> usize {
        self.under.iter().fold(self.parts.size(), |sum, layer| sum.saturating_add(layer.parts.size()))
    }

    /// The task that an object of the paper's form describes; a command may also be a text.
    pub fn from_value(value: &Value, name: String) -> Result<Self, Fault> {
        let members = value.as_object("a task")?;
        if let Some((field, at)) = members.iter().find(|(f, _)| !FIELDS.contains(&&**f) && &**f != "name") {
            return Err(at.fault(format!("a task has no “{field}”; it has {}", FIELDS.join(", "))));
        }
        let name = value.get("name").map_or(Ok(name), |n| n.as_text("the name of a task").map(str::to_owned))?;
        let command = value.get("command").ok_or_else(|| value.fault("the task has no “command”"))?;
        let parts = Parts {
            command: command_of(command, None)?,
            inputs: value.get("inputs").map_or(Ok(Vec::new()), |v| files_of(v, "inputs"))?,
            outputs: value.get("outputs").map_or(Ok(Vec::new()), |v| files_of(v, "outputs"))?,
            environment: value.get("environment").map_or(Ok(Environment::new()), environment_of)?,
            resources: value.get("resources").map_or(Ok(Resources::new()), resources_of)?,
        };
        Ok(Self::plain(name, value.at, parts))
    }

    /// The task as the value to which T is bound; `ID` and `script` are what this layer's are.
    pub fn to_value(&self, id: &str, at: Place) -> Result<Value, Fault> {
        let parts = &self.parts;
        let text = |text: &str| Value::text(at, text);
        let texts = |list: &[String]| Value::list(at, list.iter().map(|t| text(t)).collect::<Result<_, _>>()?);
        let object = |members: Vec<(&str, Value)>| Value::object(at, members.into_iter().map(|(n, v)| (Arc::from(n), v)).collect());
        let resources = parts.resources.iter().map(|(kind, amount)| (&**kind, Value::int(at, *amount))).collect();
        let mut environment = Vec::new();
        for (name, setting) in &parts.environment {
            if let Setting::Set(value) = setting {
                environment.push((&**name, text(value)?));
            }
        }
        let command =
            object(vec![("pre", texts(&parts.command.pre)?), ("cmd", text(&parts.command.cmd)?), ("post", texts(&parts.command.post)?)])?;
        object(vec![
            ("name", text(&self.name)?),
            ("ID", text(id)?),
            ("script", text(&own_file(id, self.hidden, "sh"))?),
            ("cmd", text(&parts.command.cmd)?),
            ("command", command),
            ("inputs", files_value(&parts.inputs, at)?),
            ("outputs", files_value(&parts.outputs, at)?),
            ("environment", object(environment)?),
            ("resources", object(resources)?),
        ])
    }
}

fn files_value(files: &[FileName], at: Place) -> Result<Value, Fault> {
    let one = |file: &FileName| {
        if !file.is_renamed() {
            return Value::text(at, &*file.outer);
        }
        let names = [("outer_name", &file.outer), ("inner_name", &file.inner)];
        Value::object(at, names.iter().map(|(n, v)| Ok((Arc::from(*n), Value::text(at, v.as_str())?))).collect::<Result<_, Fault>>()?)
    };
    Value::list(at, files.iter().map(one).collect::<Result<_, _>>()?)
}

/// A command: an object with `pre`, `cmd` and `post`, or the text of `cmd`. Where `cmd` is left out
/// it is `otherwise`.
pub(super) fn command_of(value: &Value, otherwise: Option<&str>) -> Result<Command, Fault> {
    let mut command = Command::default();
    if let Data::Text(text) = &value.data {
        command.cmd = text.to_string();
    } else {
        for (name, part) in value.as_object("a command")? {
            match &**name {
                "pre" => command.pre = texts_of(part, "pre")?,
                "cmd" => command.cmd = part.as_text("cmd")?.to_owned(),
                "post" => command.post = texts_of(part, "post")?,
                _ => return Err(part.fault(format!("a command has no “{name}”; it has pre, cmd and post"))),
            }
        }
        if value.get("cmd").is_none() {
            command.cmd = otherwise.ok_or_else(|| value.fault("the command has no “cmd”"))?.to_owned();
        }
    }
    if command.pre.iter().chain([&command.cmd]).chain(&command.post).any(|text| text.contains('\0')) {
        return Err(value.fault("a NUL byte is not allowed in a command"));
    }
    Ok(command)
}

fn texts_of(value: &Value, what: &str) -> Result<Vec<String>, Fault> {
    if let Data::Text(text) = &value.data {
        return Ok(vec![text.to_string()]);
    }
    value.as_list(what)?.iter().map(|v| Ok(v.as_text(what)?.to_owned())).collect()
}

/// A list of names, or of objects with `outer_name` and `inner_name` (Makeflow: `dag_name` and
/// `task_name`, or only `name`).
pub(crate) fn files_of(value: &Value, what: &str) -> Result<Vec<FileName>, Fault> {
    let mut out: Vec<FileName> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for element in value.as_list(what)? {
        let file = file_of(element)?;
        // The same file twice is that file: `T.inputs + ["image"]` where the task reads the image itself.
        if seen.insert(file.clone()) {
            out.push(file);
        }
    }
    Ok(out)
}

fn file_of(value: &Value) -> Result<FileName, Fault> {
    let file = if let Data::Text(name) = &value.data {
        FileName::plain(name)
    } else {
        let (mut inner, mut outer) = (None, None);
        for (field, name) in value.as_object("a file")? {
            let name = name.as_text("the name of a file")?.to_owned();
            match &**field {
                "inner_name" | "task_name" => inner = Some(name),
                "outer_name" | "dag_name" | "name" => outer = Some(name),
                _ => return Err(value.fault(format!("a file has no “{field}”; it has outer_name and inner_name"))),
            }
        }
        match (inner, outer) {
            (Some(inner), Some(outer)) => FileName { inner, outer, each_run: false },
            (Some(name), None) | (None, Some(name)) => FileName::plain(&name),
            (None, None) => return Err(value.fault("the file has no name")),
        }
    };
    for name in [&file.inner, &file.outer] {
        if name.is_empty() || name.contains('\0') {
            return Err(value.fault("the name of a file is empty or holds a NUL byte"));
        }
    }
    let own = |part: &str| part.is_empty() || part == "." || part == "..";
    if file.is_renamed() && (file.inner.starts_with('/') || file.inner.split('/').any(own)) {
        return Err(value.fault("an inner_name is a path below the task's directory, without “.”, “..” and a leading “/”"));
    }
    Ok(file)
}

/// Variables: texts and numbers are values, `null` masks, `{"prepend": "dir:"}` and
/// `{"append": ":dir"}` extend.
pub(crate) fn environment_of(value: &Value) -> Result<Environment, Fault> {
    let mut out = Environment::new();
    for (name, setting) in value.as_object("environment")? {
        if !is_variable(name) {
            return Err(
                setting.fault("the name of a variable has letters, digits and underscores, and begins with no digit and not with fm_")
            );
        }
        let extension = |text: &Value| Ok::<_, Fault>(text.as_text("what extends a variable")?.to_owned());
        let setting = match &setting.data {
            Data::Null => Setting::Mask,
            Data::Text(text) => Setting::Set(text.to_string()),
            Data::Int(_) | Data::Float(_) => Setting::Set(setting.to_json()),
            Data::Object(members) => match &members[..] {
                [(kind, text)] if &**kind == "prepend" => Setting::Prepend(extension(text)?),
                [(kind, text)] if &**kind == "append" => Setting::Append(extension(text)?),
                _ => return Err(setting.fault("a variable is extended by {\"prepend\": text} or {\"append\": text}")),
            },
            _ => return Err(setting.fault(format!("the value of a variable is a text or null, and not {}", setting.kind()))),
        };
        out.insert(name.to_string(), setting);
    }
    Ok(out)
}

/// Whether the environment can have a variable of this name. Those of the scripts begin with `fm_`.
pub(crate) fn is_variable(name: &str) -> bool {
    if name.starts_with("fm_") {
        return false;
    }
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    begins && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Resources: whole numbers (memory and disk in MB, or with M, G, T).
pub(crate) fn resources_of(value: &Value) -> Result<Resources, Fault> {
    let mut out = Resources::new();
    for (kind, amount) in value.as_object("resources")? {
        out.insert(kind.to_string(), amount_of(amount)?);
    }
    Ok(out)
}

/// An amount of a resource: a number from 0, or a text as `10G`.
pub(crate) fn amount_of(value: &Value) -> Result<i64, Fault> {
    let amount = match &value.data {
        Data::Int(number) => Some(*number),
        Data::Float(number) => Some(number.ceil() as i64),
        Data::Text(text) => {
            let factor = [('M', 1), ('G', 1 << 10), ('T', 1 << 20)].into_iter().find(|(unit, _)| text.ends_with(*unit));
            match factor {
                Some((unit, factor)) => crate::jx::size_in_mb(text.trim_end_matches(unit).trim(), factor),
                None => crate::jx::size_in_mb(text.trim(), 1),
            }
        }
        _ => None,
    };
    amount.filter(|n| *n >= 0).ok_or_else(|| value.fault("an amount is a number from 0, or a size as 10G"))
}
