//! The functions of JX that need nothing from outside.

use super::{Data, Evaluator, VALUE_SIZE, Value, numbers};
use crate::error::{Fault, Place};

/// Built-in functions, which can be called in addition to those of `define`.
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
        ("len", [list]) => Ok(Value::int(at, list.as_list("what is counted")?.len() as i64)),
        ("str", [value]) => Value::text(at, plain(value)),
        ("ceil" | "floor", [value]) => rounded(name, value),
        ("int", [value]) => int(at, value),
        ("float", [value]) => match &value.data {
            Data::Int(number) => Ok(Value::atom(at, Data::Float(*number as f64))),
            Data::Text(text) => real(at, text).map(|number| Value::atom(at, Data::Float(number))),
            _ => Ok(value.clone()),
        },
        ("basename", [path]) => basename(at, path.as_text("a path")?, ""),
        ("basename", [path, ending]) => basename(at, path.as_text("a path")?, ending.as_text("an ending")?),
        ("dirname", [path]) => dirname(at, path.as_text("a path")?),
        // Makeflow has the last member first.
        ("keys", [object]) => {
            let members = object.as_object("what has keys")?.iter().rev();
            Value::list(at, members.map(|(name, _)| Value::text(at, name.clone())).collect::<Result<_, _>>()?)
        }
        ("values", [object]) => {
            Value::list(at, object.as_object("what has values")?.iter().rev().map(|(_, value)| value.clone()).collect())
        }
        ("items", [object]) => {
            let pair = |(name, value): &(std::sync::Arc<str>, Value)| Value::list(at, vec![Value::text(at, name.clone())?, value.clone()]);
            Value::list(at, object.as_object("what has items")?.iter().rev().map(pair).collect::<Result<_, _>>()?)
        }
        ("escape", [text]) => Value::text(at, escape(text.as_text("what is quoted")?)),
        ("format", _) => wrong("format(text, values…)"),
        ("template", _) => wrong("template(text) or template(text, object)"),
        ("join", _) => wrong("join(list) or join(list, between)"),
        ("project" | "select" | "like" | "schema", _) => {
            Err(Fault::new(at, format!("{name}() is not evaluated: versions of Makeflow disagree on what it gives (jx2json writes JSON)")))
        }
        ("fetch" | "listdir", _) => Err(Fault::new(
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

/// `%d` of whole numbers, `%s` of texts, `%e %f %g` of numbers with a point, and `%%`, as C prints
/// them: no more, as in Makeflow.
fn format(at: Place, format: &str, values: &[Value]) -> Result<Value, Fault> {
    let mut out = String::new();
    let mut values = values.iter();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let conversion = after.chars().next().ok_or_else(|| Fault::new(at, "the format ends after a “%”"))?;
        rest = &after[conversion.len_utf8()..];
        if conversion == '%' {
            out.push('%');
            continue;
        }
        let value = values.next().ok_or_else(|| Fault::new(at, "the format asks for more values than are given"))?;
        out.push_str(&converted(at, conversion, value)?);
        if out.len() as u64 > VALUE_SIZE {
            return Err(Fault::new(at, "the formatted text is too long"));
        }
    }
    out.push_str(rest);
    if values.next().is_some() {
        return Err(Fault::new(at, "more values are given than the format asks for"));
    }
    Value::text(at, out)
}

fn converted(at: Place, conversion: char, value: &Value) -> Result<String, Fault> {
    /// Digits behind the point, or in all.
    const PRECISION: usize = 6;
    match (conversion, &value.data) {
        ('d' | 'i', Data::Int(number)) => Ok(number.to_string()),
        ('e', Data::Float(number)) => Ok(numbers::exponential(*number, PRECISION)),
        ('E', Data::Float(number)) => Ok(numbers::exponential(*number, PRECISION).to_uppercase()),
        ('f' | 'F', Data::Float(number)) => Ok(format!("{number:.PRECISION$}")),
        ('g', Data::Float(number)) => Ok(numbers::general(*number, PRECISION)),
        ('G', Data::Float(number)) => Ok(numbers::general(*number, PRECISION).to_uppercase()),
        ('s', Data::Text(text)) => Ok(text.to_string()),
        ('d' | 'i' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 's', _) => {
            let wanted = match conversion {
                'd' | 'i' => "a whole number",
                's' => "a text",
                _ => "a number with a point",
            };
            let given = if matches!(value.data, Data::Int(_)) { "a whole number" } else { value.kind() };
            Err(value.fault(format!("“%{conversion}” is for {wanted}, and this is {given}")))
        }
        _ => Err(Fault::new(at, format!("“%{conversion}” is not understood: there are %d %i %e %f %g %s %%, without width and precision"))),
    }
}

/// `{name}` in a text becomes the value of the name; `{{` and `}}` are braces.
pub(super) fn template(at: Place, text: &Value, value_of: &dyn Fn(&str) -> Result<Value, Fault>) -> Result<Value, Fault> {
    let mut rest = text.as_text("a template")?;
    let mut out = String::new();
    while let Some(brace) = rest.find(['{', '}']) {
        out.push_str(&rest[..brace]);
        rest = &rest[brace..];
        if let Some((doubled, brace)) = [("{{", '{'), ("}}", '}')].into_iter().find(|(doubled, _)| rest.starts_with(doubled)) {
            out.push(brace);
            rest = &rest[doubled.len()..];
            continue;
        }
        let Some(after) = rest.strip_prefix('{') else {
            return Err(Fault::new(at, "a “}” of the template has no “{” before it; “}}” is a brace"));
        };
        let (name, after) = after.split_once('}').ok_or_else(|| Fault::new(at, "a “{” of the template is not closed; “{{” is a brace"))?;
        let name = name.trim_ascii();
        if !crate::algebra::is_variable(name) {
            return Err(Fault::new(at, "the braces of a template contain one name, of letters, digits and “_”"));
        }
        let value = value_of(name)?;
        match value.data {
            Data::Text(_) | Data::Int(_) | Data::Float(_) => out.push_str(&plain(&value)),
            _ => return Err(value.fault(format!("“{name}” is put into a template, and is {}", value.kind()))),
        }
        if out.len() as u64 > VALUE_SIZE {
            return Err(Fault::new(at, "the template's text is too long"));
        }
        rest = after;
    }
    out.push_str(rest);
    Value::text(at, out)
}

fn real(at: Place, text: &str) -> Result<f64, Fault> {
    text.trim().parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(|| Fault::new(at, "the text is no number"))
}

fn int(at: Place, value: &Value) -> Result<Value, Fault> {
    let number = match &value.data {
        Data::Int(_) => return Ok(value.clone()),
        Data::Float(number) => *number,
        Data::Text(text) => match text.trim().parse::<i64>() {
            Ok(number) => return Ok(Value::int(at, number)),
            Err(_) => real(at, text)?,
        },
        _ => return Err(value.fault(format!("int takes a number, and not {}", value.kind()))),
    };
    let whole = numbers::whole(number).ok_or_else(|| Fault::new(at, "the number does not fit 64 bits"))?;
    Ok(Value::int(at, whole))
}

/// Whole numbers stay whole numbers, others stay others. Makeflow takes them for numbers with a
/// point meanwhile, which do not know all that is beyond 2^53.
fn rounded(name: &str, value: &Value) -> Result<Value, Fault> {
    let of = |number: f64| if name == "ceil" { number.ceil() } else { number.floor() };
    let data = match value.data {
        Data::Float(number) => Data::Float(of(number)),
        Data::Int(number) => Data::Int(numbers::whole(of(number as f64)).ok_or_else(|| value.fault("the number does not fit 64 bits"))?),
        _ => return Err(value.fault(format!("{name} takes a number, and not {}", value.kind()))),
    };
    Ok(Value::atom(value.at, data))
}

/// A text as one word of the shell, in double quotes.
fn escape(text: &str) -> String {
    let quoted = text.chars().flat_map(|c| [Some('\\').filter(|_| matches!(c, '"' | '\\' | '$' | '`')), Some(c)]).flatten();
    std::iter::once('"').chain(quoted).chain(std::iter::once('"')).collect()
}

/// The last part of a path, as basename(3) has it, without an ending.
fn basename(at: Place, path: &str, ending: &str) -> Result<Value, Fault> {
    let name = match path.trim_end_matches('/') {
        "" if path.is_empty() => ".",
        "" => "/",
        path => path.rsplit('/').next().unwrap_or_default(),
    };
    Value::text(at, name.strip_suffix(ending).unwrap_or(name))
}

/// A path without its last part, as dirname(3) of the GNU C library has it: two slashes at the
/// beginning stay two.
fn dirname(at: Place, path: &str) -> Result<Value, Fault> {
    let root = if path.starts_with("//") && !path.starts_with("///") { "//" } else { "/" };
    let directory = match path.trim_end_matches('/') {
        "" if path.is_empty() => ".",
        "" => root,
        trimmed => match trimmed.rfind('/').map(|end| trimmed[..end].trim_end_matches('/')) {
            Some("") => root,
            Some(directory) => directory,
            None => ".",
        },
    };
    Value::text(at, directory)
}
