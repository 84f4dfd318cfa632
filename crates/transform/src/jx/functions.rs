//! The functions of JX that need nothing from outside.

use super::{Data, Evaluator, VALUE_SIZE, Value};
use crate::error::{Fault, Place};

/// What can be called besides `define`d functions.
pub const NAMES: [&str; 17] = [
    "range", "format", "template", "join", "len", "str", "int", "float", "ceil", "floor", "basename", "dirname", "keys", "values", "items",
    "escape", "let",
];

/// Calls one of the functions in [`NAMES`].
pub fn call(evaluator: &Evaluator, at: Place, name: &str, arguments: &[Value]) -> Result<Value, Fault> {
    let wrong = |usage: &str| Err(Fault::new(at, format!("it is {usage}, and {} arguments are given", arguments.len())));
    match (name, arguments) {
        ("range", _) => range(evaluator, at, arguments),
        ("format", [format, rest @ ..]) => self::format(at, format.as_text("the format")?, rest),
        ("template", [text, names]) => {
            template(at, text, &|name| names.get(name).cloned().ok_or_else(|| text.fault(format!("the template's object has no “{name}”"))))
        }
        ("join", [list]) => join(at, list, " "),
        ("join", [list, separator]) => join(at, list, separator.as_text("what stands between the texts")?),
        ("len", [value]) => match &value.data {
            Data::Text(text) => Ok(Value::int(at, text.chars().count() as i64)),
            _ => Ok(Value::int(at, value.as_list("what is counted")?.len() as i64)),
        },
        ("str", [value]) => Value::text(at, plain(value)),
        ("int" | "ceil" | "floor", [value]) => round(at, name, value),
        ("float", [value]) => match &value.data {
            Data::Int(number) => Ok(Value::atom(at, Data::Float(*number as f64))),
            Data::Text(text) => real(at, text).map(|number| Value::atom(at, Data::Float(number))),
            _ => Ok(value.clone()),
        },
        ("basename", [path]) => basename(at, path.as_text("a path")?, ""),
        ("basename", [path, ending]) => basename(at, path.as_text("a path")?, ending.as_text("an ending")?),
        ("dirname", [path]) => dirname(at, path.as_text("a path")?),
        ("keys", [object]) => {
            let members = object.as_object("what has keys")?;
            Value::list(at, members.iter().map(|(name, _)| Value::text(at, name.clone())).collect::<Result<_, _>>()?)
        }
        ("values", [object]) => Value::list(at, object.as_object("what has values")?.iter().map(|(_, value)| value.clone()).collect()),
        ("items", [object]) => {
            let pair = |(name, value): &(std::sync::Arc<str>, Value)| Value::list(at, vec![Value::text(at, name.clone())?, value.clone()]);
            Value::list(at, object.as_object("what has items")?.iter().map(pair).collect::<Result<_, _>>()?)
        }
        ("escape", [text]) => Value::text(at, crate::script::quote(text.as_text("what is quoted")?)),
        ("format", _) => wrong("format(text, values…)"),
        ("template", _) => wrong("template(text) or template(text, object)"),
        ("join", _) => wrong("join(list) or join(list, between)"),
        ("fetch" | "listdir" | "project" | "select" | "like" | "schema", _) => Err(Fault::new(
            at,
            format!(
                "{name}() is not evaluated: a workflow is transformed without the network and without looking around (jx2json does both, and writes JSON)"
            ),
        )),
        _ if NAMES.contains(&name) => wrong(&format!("{name}(value)")),
        _ => Err(Fault::new(at, format!("there is no function “{name}”; there are {}, and what `define` names", NAMES.join(", ")))),
    }
}

fn range(evaluator: &Evaluator, at: Place, arguments: &[Value]) -> Result<Value, Fault> {
    let mut numbers = Vec::new();
    for value in arguments {
        match value.data {
            Data::Int(number) => numbers.push(number),
            _ => return Err(value.fault("range takes whole numbers")),
        }
    }
    let (from, to, step) = match numbers[..] {
        [to] => (0, to, 1),
        [from, to] => (from, to, 1),
        [from, to, step] if step != 0 => (from, to, step),
        _ => return Err(Fault::new(at, "it is range(end), range(begin, end) or range(begin, end, step) with a step other than 0")),
    };
    let mut out = Vec::new();
    let mut next = Some(from);
    while let Some(number) = next.filter(|number| if step > 0 { *number < to } else { *number > to }) {
        evaluator.step(at, 1)?;
        out.push(Value::int(at, number));
        next = number.checked_add(step);
    }
    Value::list(at, out)
}

/// A value as text: texts as they are, all else as JSON.
pub(super) fn plain(value: &Value) -> String {
    match &value.data {
        Data::Text(text) => text.to_string(),
        _ => value.to_json(),
    }
}

fn join(at: Place, list: &Value, separator: &str) -> Result<Value, Fault> {
    let texts = list.as_list("what is joined")?.iter().map(|v| v.as_text("what is joined")).collect::<Result<Vec<_>, _>>()?;
    let size = texts.iter().map(|text| (text.len() + separator.len()) as u64).sum::<u64>();
    if size > VALUE_SIZE {
        return Err(Fault::new(at, "the joined text is too long"));
    }
    Value::text(at, texts.join(separator))
}

/// `%d`, `%s`, `%f`, `%%` and such with a width and a precision, as C prints them.
fn format(at: Place, format: &str, values: &[Value]) -> Result<Value, Fault> {
    let mut out = String::new();
    let mut values = values.iter();
    let mut rest = format;
    while let Some(percent) = rest.find('%') {
        out.push_str(&rest[..percent]);
        rest = &rest[percent + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(|| Fault::new(at, "the format ends after a “%”"))?;
        let (flags, conversion) = (&rest[..end], &rest[end..=end]);
        rest = &rest[end + 1..];
        let value = values.next().ok_or_else(|| Fault::new(at, "the format asks for more values than are given"))?;
        out.push_str(&conversion_of(at, flags, conversion, value)?);
    }
    out.push_str(rest);
    if values.next().is_some() {
        return Err(Fault::new(at, "more values are given than the format asks for"));
    }
    Value::text(at, out)
}

fn conversion_of(at: Place, flags: &str, conversion: &str, value: &Value) -> Result<String, Fault> {
    let (width, precision) = flags.split_once('.').map_or((flags, None), |(width, precision)| (width, Some(precision)));
    let size = |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<usize>().ok().filter(|n| *n <= 1000).ok_or(()) };
    let (left, zero) = (width.starts_with('-'), width.starts_with('0'));
    let sizes = (size(width.trim_start_matches('-')), precision.map(size).transpose());
    let (Ok(width), Ok(precision)) = sizes else { return Err(Fault::new(at, format!("“%{flags}{conversion}” is not understood"))) };
    let text = match (conversion, &value.data) {
        ("d" | "i", Data::Int(number)) => number.to_string(),
        ("d" | "i", Data::Float(number)) => format!("{number:.0}"),
        ("f" | "g" | "e", Data::Int(number)) => format!("{:.*}", precision.unwrap_or(6), *number as f64),
        ("f" | "g" | "e", Data::Float(number)) => format!("{number:.*}", precision.unwrap_or(6)),
        ("s", _) => {
            let text = plain(value);
            precision.map_or(text.clone(), |n| text.chars().take(n).collect())
        }
        _ => return Err(value.fault(format!("“%{conversion}” does not go with {}", value.kind()))),
    };
    Ok(match (left, zero && conversion != "s") {
        (true, _) => format!("{text:<width$}"),
        (false, true) if text.starts_with('-') => format!("-{:0>1$}", &text[1..], width.saturating_sub(1)),
        (false, true) => format!("{text:0>width$}"),
        (false, false) => format!("{text:>width$}"),
    })
}

/// `{name}` in a text becomes the value of the name; `{{` and `}}` are braces.
pub(super) fn template(at: Place, text: &Value, value_of: &dyn Fn(&str) -> Result<Value, Fault>) -> Result<Value, Fault> {
    let text = text.as_text("a template")?;
    let mut out = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((begin, c)) = chars.next() {
        let doubled = matches!(c, '{' | '}') && chars.peek().is_some_and(|(_, next)| *next == c);
        if doubled {
            chars.next();
            out.push(c);
        } else if c == '{' {
            let rest = &text[begin + 1..];
            let end = rest.find('}').ok_or_else(|| Fault::new(at, "a “{” of the template is not closed; “{{” is a brace"))?;
            out.push_str(&plain(&value_of(rest[..end].trim())?));
            if out.len() as u64 > VALUE_SIZE {
                return Err(Fault::new(at, "the template's text is too long"));
            }
            while chars.peek().is_some_and(|(place, _)| *place <= begin + 1 + end) {
                chars.next();
            }
        } else {
            out.push(c);
        }
    }
    Value::text(at, out)
}

fn real(at: Place, text: &str) -> Result<f64, Fault> {
    text.trim().parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(|| Fault::new(at, "the text is no number"))
}

fn round(at: Place, name: &str, value: &Value) -> Result<Value, Fault> {
    let number = match &value.data {
        Data::Int(_) => return Ok(value.clone()),
        Data::Float(number) => *number,
        Data::Text(text) => match text.trim().parse::<i64>() {
            Ok(number) => return Ok(Value::int(at, number)),
            Err(_) => real(at, text)?,
        },
        _ => return Err(value.fault(format!("{name} takes a number, and not {}", value.kind()))),
    };
    let whole = match name {
        "ceil" => number.ceil(),
        "floor" => number.floor(),
        _ => number.trunc(),
    };
    if whole.abs() < 9e18 { Ok(Value::int(at, whole as i64)) } else { Err(Fault::new(at, "the number does not fit 64 bits")) }
}

fn basename(at: Place, path: &str, ending: &str) -> Result<Value, Fault> {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let name = if name.is_empty() && path.starts_with('/') { "/" } else { name };
    Value::text(at, name.strip_suffix(ending).filter(|rest| !rest.is_empty()).unwrap_or(name))
}

fn dirname(at: Place, path: &str) -> Result<Value, Fault> {
    let trimmed = path.trim_end_matches('/');
    let directory = match trimmed.rfind('/') {
        Some(0) => "/",
        Some(end) => trimmed[..end].trim_end_matches('/'),
        None if trimmed.is_empty() && path.starts_with('/') => "/",
        None => ".",
    };
    Value::text(at, directory)
}
