//! Transformations: incomplete tasks with variables that are bound when they are applied (Figures
//! "Abstract Singularity transformation" and "Resulting task").

use std::rc::Rc;
use std::sync::Arc;

use super::collisions;
use super::id::{Contents, task_id};
use super::task::{
    Command, Environment, FileName, Layer, Parts, Resources, Setting, Task, amount_of, command_of, environment_of, files_of,
};
use crate::error::{Error, Fault, Place, Result};
use crate::jx::syntax::{Kind, Step};
use crate::jx::{Evaluator, Expr, Scope, Value, parse};

/// One transformation, with the definitions of its file.
#[derive(Clone)]
pub struct Transformation {
    /// Name of the transformation.
    pub name: String,
    file: Arc<str>,
    at: Place,
    parameter: Arc<str>,
    members: Rc<Vec<(Arc<str>, Expr)>>,
    evaluator: Rc<Evaluator>,
}

/// Transformations in the order in which they are applied: the first is the innermost.
#[derive(Clone, Default)]
pub struct Composition(pub Vec<Transformation>);

const FIELDS: [&str; 8] = ["name", "command", "inputs", "outputs", "environment", "resources", "sandbox", "dataset"];

impl Composition {
    /// Reads a file: an object (with T unbound), or `define F(T) …`. `choice` names one of several
    /// functions; functions of functions, `define Both(T) = Outer(Inner(T))`, are compositions.
    /// `values` replace the values that the file's `let` binds.
    pub fn read(file: &str, text: &str, choice: Option<&str>, values: &[(String, String)]) -> Result<Self> {
        Self::read_text(file, text, choice, values).map_err(|fault| fault.in_file(file))
    }

    fn read_text(file: &str, text: &str, choice: Option<&str>, values: &[(String, String)]) -> Result<Self, Fault> {
        let mut program = parse(text)?;
        for definition in program.definitions.iter_mut().filter(|d| d.arguments.is_none()) {
            if let Some((_, value)) = values.iter().rev().find(|(name, _)| **name == *definition.name) {
                definition.body.kind = Kind::Text(value.as_str().into());
            }
        }
        let end = Place { line: 1, column: 1 };
        let functions: Vec<Arc<str>> =
            program.definitions.iter().filter(|d| d.arguments.as_ref().is_some_and(|a| a.len() == 1)).map(|d| d.name.clone()).collect();
        let result = program.result.take();
        let evaluator = Rc::new(Evaluator::new(program.definitions)?);
        let file: Arc<str> = file.into();
        let known = || functions.iter().map(|f| &**f).collect::<Vec<_>>().join(", ");
        let wanted = match (choice, &result) {
            (Some(name), _) => name.to_owned(),
            (None, Some(Expr { kind: Kind::Name(name), .. })) => name.to_string(),
            (None, Some(body)) => {
                let stem = std::path::Path::new(&*file).file_stem().map_or_else(|| "layer".into(), |s| s.to_string_lossy().into_owned());
                return Ok(Self(vec![Transformation::from_body(&stem, &file, "T".into(), body, &evaluator)?]));
            }
            (None, None) if functions.len() == 1 => functions[0].to_string(),
            (None, None) if functions.is_empty() => {
                return Err(Fault::new(end, "the file holds no transformation: an object, or define F(T) = {…}"));
            }
            (None, None) => return Err(Fault::new(end, format!("the file defines {}: name one, as FILE#{}", known(), functions[0]))),
        };
        let mut out = Vec::new();
        resolve(&wanted, end, &file, &evaluator, &mut out, 0)?;
        Ok(Self(out))
    }

    /// First this, then the other: both are functions, and this is the inner one.
    pub fn then(mut self, outer: Composition) -> Self {
        self.0.extend(outer.0);
        self
    }

    /// The task with all transformations applied, the first one innermost.
    pub fn apply(&self, mut task: Task, contents: &dyn Contents) -> Result<Task> {
        for transformation in &self.0 {
            task = transformation.apply(task, contents)?;
        }
        Ok(task)
    }
}

/// The transformations of a function: its own body's, or those of the functions that it calls.
fn resolve(
    name: &str,
    at: Place,
    file: &Arc<str>,
    evaluator: &Rc<Evaluator>,
    out: &mut Vec<Transformation>,
    depth: usize,
) -> Result<(), Fault> {
    let definition = evaluator.definition(name);
    let Some((definition, arguments)) = definition.as_ref().and_then(|d| d.arguments.as_ref().map(|a| (d, a))) else {
        return Err(Fault::new(at, format!("“{name}” is no transformation of this file")));
    };
    let [parameter] = &arguments[..] else {
        return Err(Fault::new(definition.at, "a transformation has one argument, the task"));
    };
    if depth > 64 || out.len() > 64 {
        return Err(Fault::new(at, format!("“{name}” needs itself, or more than 64 transformations")));
    }
    let mut calls = Vec::new();
    let mut body = &definition.body;
    while let Kind::Steps(base, steps) = &body.kind {
        let (Kind::Name(function), [Step::Call(at, arguments)]) = (&base.kind, &steps[..]) else { break };
        let [argument] = &arguments[..] else { return Err(Fault::new(*at, "a transformation is applied to one task")) };
        calls.push((function.clone(), *at));
        body = argument;
    }
    if calls.is_empty() {
        out.push(Transformation::from_body(name, file, parameter.clone(), body, evaluator)?);
        return Ok(());
    }
    match &body.kind {
        Kind::Name(n) if n == parameter => {}
        _ => return Err(Fault::new(body.at, format!("the innermost function is applied to {parameter}"))),
    }
    calls.iter().rev().try_for_each(|(function, at)| resolve(function, *at, file, evaluator, out, depth + 1))
}

impl Transformation {
    fn from_body(name: &str, file: &Arc<str>, parameter: Arc<str>, body: &Expr, evaluator: &Rc<Evaluator>) -> Result<Self, Fault> {
        let Kind::Object(written) = &body.kind else {
            return Err(Fault::new(body.at, "a transformation is an object with command, inputs, outputs, environment, resources"));
        };
        let mut members: Vec<(Arc<str>, Expr)> = Vec::new();
        let mut name = name.to_owned();
        for (field, value) in written {
            let Kind::Text(field_name) = &field.kind else {
                return Err(Fault::new(field.at, "the fields of a transformation are written in quotes"));
            };
            if !FIELDS.contains(&&**field_name) {
                return Err(Fault::new(field.at, format!("a transformation has no “{field_name}”; it has {}", FIELDS.join(", "))));
            }
            if members.iter().any(|(known, _)| known == field_name) {
                return Err(Fault::new(field.at, format!("“{field_name}” is given twice")));
            }
            match (&**field_name, &value.kind) {
                ("name", Kind::Text(text)) => name = text.to_string(),
                ("name", _) => return Err(Fault::new(value.at, "the name of a transformation is a text")),
                _ => members.push((field_name.clone(), value.clone())),
            }
        }
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')) || name == "task" {
            return Err(Fault::new(body.at, "the name of a transformation has letters, digits, “_”, “-” and “.”, and is not “task”"));
        }
        Ok(Self { name, file: file.clone(), at: body.at, parameter, members: Rc::new(members), evaluator: evaluator.clone() })
    }

    /// The directory of the dataset to which the command of the layer writes, the same for all
    /// tasks; `None` when it writes to none.
    ///
    /// # Errors
    /// When the field `dataset` is no text, or depends on the task.
    pub fn dataset(&self) -> Result<Option<String>> {
        let Some((_, expr)) = self.members.iter().find(|(name, _)| &**name == "dataset") else { return Ok(None) };
        self.evaluator.begin();
        let value = self.evaluator.eval(expr, &Scope::default()).and_then(|value| Ok(value.as_text("dataset")?.to_owned()));
        value.map(Some).map_err(|fault| fault.in_file(&self.file))
    }

    /// Binds the variables to a task; the task itself becomes the script that `T.script` names.
    pub fn apply(&self, task: Task, contents: &dyn Contents) -> Result<Task> {
        let name = format!("{} (at {})", task.name, task.at);
        self.bind(task, contents).map_err(|fault| Error::Application {
            file: self.file.to_string(),
            at: fault.at,
            layer: self.name.clone(),
            task: name,
            message: fault.message,
        })
    }

    fn bind(&self, task: Task, contents: &dyn Contents) -> Result<Task, Fault> {
        self.evaluator.begin();
        let id = task_id(&task, contents);
        let below = Layer {
            name: task.layer.clone(),
            id: id.clone(),
            parts: Parts { environment: task.own_environment.clone(), ..task.parts.clone() },
            sandbox: task.sandbox,
            hidden: task.hidden,
        };
        // A layer with a directory of its own gives its files their names in the workflow: layers
        // above it rename none.
        let mut seen = task;
        if seen.sandbox {
            outer_names(&mut seen.parts);
        }
        let scope_value = seen.to_value(&id, self.at)?;
        let outside = Scope::default();
        let scope = Scope::within(&outside, vec![(self.parameter.clone(), scope_value)]);
        let value = |field: &str| {
            let expr = self.members.iter().find(|(name, _)| &**name == field).map(|(_, expr)| expr);
            expr.map(|expr| self.evaluator.eval(expr, &scope)).transpose()
        };
        let own_environment = match value("environment")? {
            Some(value) => extended(environment_of(&value)?, &seen.parts.environment),
            None => Environment::new(),
        };
        let mut parts = Parts {
            command: value("command")?.map_or(Ok(Command { cmd: format!("./{}", below.script()), ..Command::default() }), |v| {
                command_of(&v, Some(&format!("./{}", below.script())))
            })?,
            inputs: value("inputs")?.map_or(Ok(seen.parts.inputs.clone()), |v| files_of(&v, "inputs"))?,
            outputs: value("outputs")?.map_or(Ok(seen.parts.outputs.clone()), |v| files_of(&v, "outputs"))?,
            environment: seen.parts.environment.clone().into_iter().chain(own_environment.clone()).collect(),
            resources: self.resources(&seen.parts.resources, &scope)?,
        };
        // Each script calls the one below it, so all of them go where the task goes.
        for layer in seen.under.iter().chain([&below]) {
            let script = FileName::plain(&layer.script());
            if !parts.inputs.iter().any(|input| input.outer == script.outer) {
                parts.inputs.push(script);
            }
        }
        collisions::within(self.at, &seen.parts, &parts, &below.script())?;
        let sandbox = value("sandbox")?.map_or(Ok(false), |v| v.as_bool("sandbox"))?;
        let mut under = seen.under;
        under.push(below);
        Ok(Task { name: seen.name, at: seen.at, parts, own_environment, layer: self.name.clone(), sandbox, hidden: seen.hidden, under })
    }

    /// Resources compose by kind (the paper's section "Resource Provisioning"): an expression over
    /// `T.resources` is the amount itself. Otherwise memory and disk are added, and other resources
    /// are the maximum, unless the layer specifies `{"add": …}`, `{"max": …}` or `{"set": …}`. An
    /// amount that the task does not specify stays unspecified when another is added to it.
    fn resources(&self, before: &Resources, scope: &Scope<'_>) -> Result<Resources, Fault> {
        let mut out = before.clone();
        let Some((_, expr)) = self.members.iter().find(|(name, _)| &**name == "resources") else { return Ok(out) };
        let Kind::Object(members) = &expr.kind else {
            return Err(Fault::new(expr.at, "resources are an object, written here"));
        };
        for (kind, amount) in members {
            let Kind::Text(kind) = &kind.kind else { return Err(Fault::new(kind.at, "the kind of a resource is written in quotes")) };
            let known = before.get(&**kind).copied();
            let mentions = amount.mentions(&self.parameter, "resources");
            if mentions && known.is_none() {
                continue;
            }
            let value = self.evaluator.eval(amount, scope)?;
            let by_kind = if matches!(&**kind, "memory" | "disk") { "add" } else { "max" };
            let (how, value) = match &value.data {
                crate::jx::Data::Object(given) => match &given[..] {
                    [(how, value)] => (how.to_string(), value.clone()),
                    _ => return Err(value.fault("a resource is an amount, or one of add, max and set with an amount")),
                },
                _ if mentions => ("set".to_owned(), value),
                _ => (by_kind.to_owned(), value),
            };
            if let Some(amount) = composed(&how, known, &value)? {
                out.insert(kind.to_string(), amount);
            }
        }
        Ok(out)
    }
}

fn composed(how: &str, known: Option<i64>, value: &Value) -> Result<Option<i64>, Fault> {
    let amount = amount_of(value)?;
    Ok(match how {
        "set" => Some(amount),
        "max" => Some(known.map_or(amount, |known| known.max(amount))),
        "add" => match known {
            Some(known) => Some(known.checked_add(amount).ok_or_else(|| value.fault("the sum does not fit 64 bits"))?),
            None => None,
        },
        _ => return Err(value.fault(format!("a resource has no “{how}”; there are add, max and set"))),
    })
}

/// Resolves settings that extend a variable with a known value to the extended value.
fn extended(own: Environment, before: &Environment) -> Environment {
    let with = |(name, setting): (String, Setting)| {
        let setting = match (setting, before.get(&name)) {
            (Setting::Prepend(text), Some(Setting::Set(value))) => Setting::Set(format!("{text}{value}")),
            (Setting::Append(text), Some(Setting::Set(value))) => Setting::Set(format!("{value}{text}")),
            (setting, _) => setting,
        };
        (name, setting)
    };
    own.into_iter().map(with).collect()
}

fn outer_names(parts: &mut Parts) {
    for file in parts.inputs.iter_mut().chain(&mut parts.outputs) {
        file.inner.clone_from(&file.outer);
    }
}
