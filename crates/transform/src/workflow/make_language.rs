//! Makeflow's own language: `outputs: inputs`, a tab and a command below it, variables, `export`,
//! categories.
//!
//! It is read as by the lexer of Makeflow 8, including its treatment of backslashes and quotes.
//! Text that this lexer reads in a way that no user can intend (a comment after a variable's value
//! takes the next line into the value), or for which it reads the user's environment, is refused
//! with its place.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value as Json, json};

use super::makeflow::Makeflow;
use super::{Entry, Form, Note, Workflow};
use crate::algebra::{Command, Environment, FileName, Parts, Resources, Setting, Task, amount_of, is_variable};
use crate::error::{Fault, Place};
use crate::jx::syntax::{Definition, Kind};
use crate::jx::{Data, Value};

/// Maximum depth of values within values.
const DEPTH: usize = 32;

/// Maximum length of values and commands, in characters: variables within variables double them.
const TEXT_CHARACTERS: usize = 16 << 20;

/// Maximum size of the text that variables and categories insert into rules and values, in bytes.
const MOST_PUT_IN: usize = 256 << 20;

/// Size of a piece of a command or a name in addition to its characters, in bytes.
const PIECE: usize = 32;

/// Resources of a rule, by the variable that sets them.
const RESOURCES: [(&str, &str); 5] =
    [("CORES", "cores"), ("MEMORY", "memory"), ("DISK", "disk"), ("GPUS", "gpus"), ("WALL_TIME", "wall-time")];

/// Reads a workflow. `arguments` are values of variables that the file does not set.
pub(super) fn read(file: &str, text: &str, arguments: &[Definition]) -> Result<Workflow, Fault> {
    let mut flow = Flow { category: "default".to_owned(), ..Flow::default() };
    for argument in arguments {
        let Kind::Value(value) = &argument.body.kind else { continue };
        let text = match &value.data {
            Data::Text(text) => text.to_string(),
            Data::Int(number) => number.to_string(),
            _ => continue,
        };
        flow.given.insert(argument.name.to_string(), text);
    }
    if let Some((n, line)) = text.lines().enumerate().find(|(_, line)| line.contains('\0')) {
        let column = line.chars().take_while(|c| *c != '\0').count() + 1;
        let place = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        return Err(Fault::new(Place { line: place(n + 1), column: place(column) }, "a NUL byte is not allowed in a workflow"));
    }
    let mut cursor = Cursor::new(text, Place { line: 1, column: 1 }, false);
    while cursor.peek().is_some() {
        flow.line(&mut cursor)?;
    }
    if let Some(rule) = &flow.open {
        return Err(Fault::new(rule.at, "the rule has no command: a line below it that begins with a tab"));
    }
    flow.finish(file)
}

/// A place in a text; in the value of a variable all of it is where the variable stands.
struct Cursor<'t> {
    text: std::iter::Peekable<std::str::Chars<'t>>,
    at: Place,
    fixed: bool,
}

impl<'t> Cursor<'t> {
    fn new(text: &'t str, at: Place, fixed: bool) -> Self {
        Self { text: text.chars().peekable(), at, fixed }
    }

    fn peek(&mut self) -> Option<char> {
        self.text.peek().copied()
    }

    /// The character after the next one.
    fn second(&self) -> Option<char> {
        self.text.clone().nth(1)
    }

    fn next(&mut self) -> Option<char> {
        let next = self.text.next()?;
        if !self.fixed {
            self.at = match next {
                '\n' => Place { line: self.at.line.saturating_add(1), column: 1 },
                _ => Place { column: self.at.column.saturating_add(1), ..self.at },
            };
        }
        Some(next)
    }

    fn blanks(&mut self) -> bool {
        let mut any = false;
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.next();
            any = true;
        }
        any
    }

    fn comment(&mut self) {
        while self.peek().is_some_and(|c| c != '\n') {
            self.next();
        }
    }

    fn fault<T>(&self, message: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::new(self.at, message))
    }

    /// Returns the place of the first such character on this line outside quotes.
    fn ahead(&self, wanted: char) -> Option<usize> {
        let (mut quote, mut chars) = (None, self.text.clone().enumerate());
        while let Some((n, c)) = chars.next() {
            match (quote, c) {
                (_, '\n') => return None,
                (Some(open), c) => quote = (open != c).then_some(open),
                (None, c) if c == wanted => return Some(n),
                (None, '\\') => drop(chars.next()),
                (None, '"' | '\'') => quote = Some(c),
                (None, _) => {}
            }
        }
        None
    }

    fn name(&mut self) -> Result<String, Fault> {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| !" \t\n\\\"'$#,.-(){},[]<>=+!?/:".contains(*c)) {
            name.push(c);
            self.next();
        }
        if name.is_empty() { self.fault("here is the name of a variable or a word of Makeflow’s language") } else { Ok(name) }
    }

    /// The character that a backslash stands before; the end of a line is a blank.
    fn escaped(&mut self) -> Result<char, Fault> {
        let at = self.at;
        self.next();
        match self.next() {
            Some('\n') => Ok(' '),
            Some(c) => Ok(c),
            None => Err(Fault::new(at, "nothing comes after the backslash")),
        }
    }

    /// Reads text between single quotes, with the quotes. Makeflow drops backslashes there too.
    fn single_quoted(&mut self, out: &mut String) -> Result<(), Fault> {
        let at = self.at;
        self.next();
        out.push('\'');
        loop {
            match self.peek() {
                Some('\'') => break,
                Some('\\') => out.push(self.escaped()?),
                Some(c) => {
                    out.push(c);
                    self.next();
                }
                None => {
                    return Err(Fault::new(
                        at,
                        "the single quote is not closed; Makeflow takes one within double quotes for an open one too",
                    ));
                }
            }
        }
        self.next();
        out.push('\'');
        Ok(())
    }
}

#[derive(Default)]
struct Rule {
    at: Place,
    category: String,
    inputs: Vec<FileName>,
    outputs: Vec<FileName>,
    variables: HashMap<String, String>,
    local: bool,
    nested: bool,
    command: String,
}

/// The values of a variable, each with the number of the rule before which it was set.
type Values = Vec<(usize, String)>;

#[derive(Default)]
struct Flow {
    rules: Vec<Rule>,
    /// The rule with a command that follows.
    open: Option<Rule>,
    category: String,
    variables: HashMap<String, HashMap<String, Values>>,
    given: HashMap<String, String>,
    exports: BTreeSet<String>,
    notes: Vec<Note>,
    /// Bytes that variables and categories have put into rules so far.
    put_in: Cell<usize>,
}

impl Flow {
    fn line(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        match cursor.peek() {
            Some('#') => cursor.comment(),
            Some('\n') => drop(cursor.next()),
            Some('\t' | ' ') => return self.command_line(cursor),
            Some('.') => return self.directive(cursor),
            Some('@') => {
                cursor.next();
                return self.variable_line(cursor);
            }
            _ => {
                return match (cursor.ahead(':'), cursor.ahead('=')) {
                    (Some(colon), equals) if equals.is_none_or(|equals| colon < equals) => self.files_line(cursor),
                    _ => self.variable_line(cursor),
                };
            }
        }
        Ok(())
    }

    /// Returns the value of a variable at the current place in the text.
    fn lookup(&self, name: &str) -> Option<&str> {
        let of_rule = self.open.as_ref().and_then(|rule| rule.variables.get(name));
        of_rule.map(String::as_str).or_else(|| self.value(&self.category, name, self.rules.len()))
    }

    /// Returns the value of a variable for a rule: that of its category, else that of the workflow.
    fn value(&self, category: &str, name: &str, rule: usize) -> Option<&str> {
        let of = |category: &str| {
            let values = self.variables.get(category)?.get(name)?;
            let set = values.partition_point(|(from, _)| *from <= rule);
            set.checked_sub(1).map(|last| values[last].1.as_str())
        };
        of(category).or_else(|| of("default")).or_else(|| self.given.get(name).map(String::as_str))
    }

    /// `$NAME`, `$(NAME)` or `${NAME}`: the name's value.
    fn substitution(&self, cursor: &mut Cursor<'_>) -> Result<(String, Place), Fault> {
        let at = cursor.at;
        cursor.next();
        let closer = match cursor.peek() {
            Some('(') => Some(')'),
            Some('{') => Some('}'),
            _ => None,
        };
        if closer.is_some() {
            cursor.next();
        }
        let name = cursor.name()?;
        if closer.is_some() && cursor.next() != closer {
            return Err(Fault::new(at, format!("“${name}” is not closed")));
        }
        let Some(value) = self.lookup(&name) else {
            let why = format!("“{name}” is not set in this file; Makeflow would take it from the environment in which it runs");
            return Err(Fault::new(at, format!("{why}: set it here, or with --jx-args (\\${name} leaves it to the shell)")));
        };
        self.put_in(at, value.len())?;
        Ok((value.to_owned(), at))
    }

    /// Counts what stands once in the text and is put into many rules.
    fn put_in(&self, at: Place, bytes: usize) -> Result<(), Fault> {
        let sum = self.put_in.get().saturating_add(bytes);
        self.put_in.set(sum);
        if sum > MOST_PUT_IN {
            let message = format!("variables and categories up to here make more than {} MiB of rules", MOST_PUT_IN >> 20);
            return Err(Fault::new(at, message));
        }
        Ok(())
    }

    /// A value up to the end of the line, or what stands between double quotes.
    fn expandable(&self, cursor: &mut Cursor<'_>, end: char, out: &mut String) -> Result<(), Fault> {
        let begun = cursor.at;
        cursor.blanks();
        loop {
            match cursor.peek() {
                Some(c) if c == end => return Ok(()),
                None if end == '\n' => return Ok(()),
                None => return Err(Fault::new(begun, "the double quote is not closed")),
                Some('$') => out.push_str(&self.substitution(cursor)?.0),
                Some('\'') => cursor.single_quoted(out)?,
                Some('"') => self.double_quoted(cursor, out)?,
                Some('#') if end == '\n' => {
                    return cursor
                        .fault("a comment after a value: Makeflow would take the next line into the value; give it a line of its own");
                }
                Some('\\') => {
                    let c = cursor.escaped()?;
                    let code = [('a', '\x07'), ('b', '\x08'), ('f', '\x0c'), ('n', '\n'), ('r', '\r'), ('t', '\t'), ('v', '\x0b')];
                    out.push(code.iter().find(|(letter, _)| *letter == c).map_or(c, |(_, code)| *code));
                }
                Some(c) => {
                    out.push(c);
                    cursor.next();
                }
            }
            if out.len() > TEXT_CHARACTERS {
                return cursor.fault(format!("more than {TEXT_CHARACTERS} characters"));
            }
        }
    }

    fn double_quoted(&self, cursor: &mut Cursor<'_>, out: &mut String) -> Result<(), Fault> {
        cursor.next();
        out.push('"');
        self.expandable(cursor, '"', out)?;
        cursor.next();
        out.push('"');
        Ok(())
    }

    fn variable_line(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        cursor.blanks();
        let mut at = cursor.at;
        let mut name = cursor.name()?;
        let exported = name == "export";
        if exported {
            cursor.blanks();
            if cursor.ahead('=').is_none() {
                return self.export(cursor, at);
            }
            at = cursor.at;
            name = cursor.name()?;
            self.exports.insert(name.clone());
        }
        cursor.blanks();
        let append = cursor.peek() == Some('+');
        if append {
            cursor.next();
        }
        if cursor.next() != Some('=') {
            return Err(Fault::new(at, format!("neither a rule nor a variable: after “{name}” comes “=” or “+=”")));
        }
        let mut value = String::new();
        self.expandable(cursor, '\n', &mut value)?;
        cursor.next();
        self.set(at, &name, value, append, exported)
    }

    fn export(&mut self, cursor: &mut Cursor<'_>, at: Place) -> Result<(), Fault> {
        let before = self.exports.len();
        loop {
            cursor.blanks();
            match cursor.peek() {
                None | Some('\n' | '#') if self.exports.len() == before => {
                    return Err(Fault::new(at, "export needs the name of a variable"));
                }
                None | Some('\n' | '#') => {
                    cursor.comment();
                    return Ok(());
                }
                Some(_) => drop(self.exports.insert(cursor.name()?)),
            }
        }
    }

    fn set(&mut self, at: Place, name: &str, value: String, append: bool, exported: bool) -> Result<(), Fault> {
        let joined = |mut old: String, value: &str| {
            old.push(' ');
            old.push_str(value);
            if old.len() > TEXT_CHARACTERS { Err(Fault::new(at, format!("more than {TEXT_CHARACTERS} characters"))) } else { Ok(old) }
        };
        let mut copied = 0;
        if let Some(rule) = self.open.as_mut().filter(|_| !exported) {
            let global = || self.variables.get("default").and_then(|all| all.get(name)).and_then(|values| values.last());
            let old = if append { rule.variables.remove(name).or_else(|| global().map(|(_, value)| value.clone())) } else { None };
            let value = match old {
                Some(old) => {
                    copied = old.len();
                    joined(old, &value)?
                }
                None => value,
            };
            if matches!(name, "CATEGORY" | "SYMBOL") {
                rule.category.clone_from(&value);
            }
            rule.variables.insert(name.to_owned(), value);
            return self.put_in(at, copied);
        }
        if self.open.is_some() {
            return Err(Fault::new(at, "a variable is exported before a rule, not in it"));
        }
        let rule = self.rules.len();
        if append {
            let values = self.variables.entry("default".to_owned()).or_default().entry(name.to_owned()).or_default();
            match values.last_mut() {
                Some((_, old)) => *old = joined(std::mem::take(old), &value)?,
                None => values.push((rule, value.clone())),
            }
        } else {
            let category = if name == "CATEGORY" { "default".to_owned() } else { self.category.clone() };
            self.variables.entry(category).or_default().entry(name.to_owned()).or_default().push((rule, value.clone()));
        }
        if matches!(name, "CATEGORY" | "SYMBOL") {
            self.category = value;
        }
        Ok(())
    }

    /// `.MAKEFLOW CORES 4` and the like.
    fn directive(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let at = cursor.at;
        let mut words: Vec<String> = Vec::new();
        loop {
            cursor.blanks();
            match cursor.peek() {
                None | Some('\n' | '#') => break,
                Some('\'') => {
                    let mut word = String::new();
                    cursor.single_quoted(&mut word)?;
                    words.push(word);
                }
                Some('"' | '$') => return cursor.fault("a word of a directive is not in double quotes and holds no variable"),
                Some(_) => {
                    let mut word = String::new();
                    while let Some(c) = cursor.peek().filter(|c| !" \t\n\"'$#".contains(*c)) {
                        if c == '\\' {
                            word.push(cursor.escaped()?);
                        } else {
                            word.push(c);
                            cursor.next();
                        }
                    }
                    words.push(word);
                }
            }
        }
        cursor.comment();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            [".MAKEFLOW", "CATEGORY" | "CORES" | "MEMORY" | "DISK", value] => self.set(at, words[1], value.to_owned(), false, false),
            [".MAKEFLOW", "MODE", "MAX_THROUGHPUT" | "MIN_WASTE" | "FIXED"] => {
                let message = "how Makeflow sizes the tasks of this category (MODE) is not in what comes out".to_owned();
                self.notes.push(Note { at, message });
                Ok(())
            }
            [".SIZE", _, _] => {
                self.notes.push(Note { at, message: "the expected size of a file (.SIZE) is not in what comes out".to_owned() });
                Ok(())
            }
            _ => {
                Err(Fault::new(at, "directives are .MAKEFLOW with CATEGORY, CORES, MEMORY, DISK or MODE and one word, and .SIZE FILE SIZE"))
            }
        }
    }

    fn files_line(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        if let Some(rule) = &self.open {
            return Err(Fault::new(rule.at, "the rule has no command: a line below it that begins with a tab"));
        }
        let at = cursor.at;
        let mut tokens = Vec::new();
        self.file_tokens(cursor, 0, &mut tokens)?;
        self.put_in(at, self.category.len())?;
        let mut rule = Rule { at, category: self.category.clone(), ..Rule::default() };
        let mut known: [HashSet<FileName>; 2] = Default::default();
        let mut tokens = tokens.into_iter().filter(|token| !matches!(token, FileToken::Blank)).peekable();
        let mut inputs = false;
        while let Some(token) = tokens.next() {
            match token {
                FileToken::Colon(_) if !inputs => inputs = true,
                FileToken::Colon(at) => return Err(Fault::new(at, "a second colon in the line of a rule; of a name it is written “\\:”")),
                FileToken::Name(outer) => {
                    let mut file = FileName::plain(&outer);
                    if tokens.next_if(|token| matches!(token, FileToken::Arrow(_))).is_some() {
                        let Some(FileToken::Name(inner)) = tokens.next() else {
                            return Err(Fault::new(at, format!("after “{outer}->” comes the file’s name where the task runs")));
                        };
                        file.inner = inner;
                    }
                    let list = if inputs { &mut rule.inputs } else { &mut rule.outputs };
                    if known[usize::from(inputs)].insert(file.clone()) {
                        list.push(file);
                    }
                }
                FileToken::Arrow(at) => return Err(Fault::new(at, "before “->” comes the name of a file")),
                FileToken::Blank => {}
            }
        }
        self.open = Some(rule);
        Ok(())
    }

    fn file_tokens(&self, cursor: &mut Cursor<'_>, depth: usize, out: &mut Vec<FileToken>) -> Result<(), Fault> {
        cursor.blanks();
        loop {
            let at = cursor.at;
            let c = match cursor.peek() {
                Some('\n') if depth > 0 => return cursor.fault("a line ends in the value of a variable among names of files"),
                None | Some('\n') => {
                    cursor.next();
                    return Ok(());
                }
                Some('#') if depth > 0 => return cursor.fault("a value among names of files holds “#”, which begins a comment"),
                Some('#') => {
                    cursor.comment();
                    continue;
                }
                Some('"' | '\'') => return cursor.fault("a quote among names of files: names stand there without quotes"),
                Some(' ' | '\t') => {
                    cursor.blanks();
                    out.push(FileToken::Blank);
                    continue;
                }
                Some('$') => {
                    let (value, at) = self.substitution(cursor)?;
                    deeper(depth, at)?;
                    self.file_tokens(&mut Cursor::new(&value, at, true), depth + 1, out)?;
                    continue;
                }
                Some(':') => {
                    cursor.next();
                    out.push(FileToken::Colon(at));
                    continue;
                }
                Some('-') if cursor.second() == Some('>') => {
                    cursor.next();
                    cursor.next();
                    out.push(FileToken::Arrow(at));
                    continue;
                }
                Some('\\') => cursor.escaped()?,
                Some(c) => {
                    cursor.next();
                    c
                }
            };
            match out.last_mut() {
                Some(FileToken::Name(name)) => name.push(c),
                _ => out.push(FileToken::Name(c.to_string())),
            }
            if out.len() > TEXT_CHARACTERS / PIECE {
                return Err(Fault::new(at, "too many files: variables within variables"));
            }
        }
    }

    fn command_line(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        cursor.blanks();
        let at = cursor.at;
        let mut pieces = Vec::new();
        self.command_pieces(cursor, 0, &mut pieces, &mut 0)?;
        let Some(mut rule) = self.open.take() else {
            if pieces.is_empty() {
                return Ok(());
            }
            return Err(Fault::new(at, "a command without a rule: the line before it is “outputs: inputs”"));
        };
        if pieces.is_empty() {
            self.open = Some(rule);
            return Ok(());
        }
        let is_local = |value: &str| matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes");
        let of_variable = rule.variables.get("BATCH_LOCAL").map(String::as_str);
        rule.local = of_variable.or_else(|| self.value(&rule.category, "BATCH_LOCAL", self.rules.len())).is_some_and(is_local);
        let mut pieces = pieces.into_iter().peekable();
        while let Some(piece) = pieces.next_if(|piece| matches!(piece.as_str(), "LOCAL" | "MAKEFLOW" | " ")) {
            rule.local |= piece == "LOCAL";
            rule.nested |= piece == "MAKEFLOW";
        }
        if rule.nested {
            let words: Vec<String> = pieces.filter(|piece| piece != " ").collect();
            let [file, rest @ ..] = &words[..] else { return Err(Fault::new(at, "after MAKEFLOW comes the name of a workflow")) };
            let directory = rest.first().map_or(".", String::as_str);
            let wrapper = rest.get(1).map(|wrapper| format!("{wrapper} ")).unwrap_or_default();
            rule.command = format!("cd {directory} && {wrapper}makeflow {file}");
        } else {
            rule.command = pieces.collect();
        }
        if rule.command.trim().is_empty() {
            return Err(Fault::new(at, "the command is empty"));
        }
        self.rules.push(rule);
        Ok(())
    }

    /// Words and the blanks between them, each blank one piece.
    fn command_pieces(&self, cursor: &mut Cursor<'_>, depth: usize, out: &mut Vec<String>, total: &mut usize) -> Result<(), Fault> {
        if cursor.blanks() && depth > 0 {
            out.push(" ".to_owned());
        }
        loop {
            *total += PIECE;
            match cursor.peek() {
                Some('\n') if depth > 0 => return cursor.fault("a line ends in the value of a variable outside double quotes"),
                None | Some('\n') => {
                    cursor.next();
                    return Ok(());
                }
                Some('#') if depth > 0 => {
                    return cursor.fault("a value outside double quotes holds “#”, where Makeflow ends the command");
                }
                Some('#') => cursor.comment(),
                Some(' ' | '\t') => {
                    cursor.blanks();
                    out.push(" ".to_owned());
                }
                Some('$') => {
                    let (value, at) = self.substitution(cursor)?;
                    deeper(depth, at)?;
                    self.command_pieces(&mut Cursor::new(&value, at, true), depth + 1, out, total)?;
                }
                Some(c) => {
                    let mut piece = String::new();
                    match c {
                        '"' => self.double_quoted(cursor, &mut piece)?,
                        '\'' => cursor.single_quoted(&mut piece)?,
                        _ => {
                            while let Some(c) = cursor.peek().filter(|c| !" \t\n\"'$#".contains(*c)) {
                                if c == '\\' {
                                    piece.push(cursor.escaped()?);
                                } else {
                                    piece.push(c);
                                    cursor.next();
                                }
                            }
                        }
                    }
                    *total += piece.len();
                    out.push(piece);
                }
            }
            if *total > TEXT_CHARACTERS {
                return cursor.fault("the command is too long: variables within variables");
            }
        }
    }

    fn finish(mut self, file: &str) -> Result<Workflow, Fault> {
        let (mut tasks, mut kept) = (Vec::new(), Vec::new());
        for (n, rule) in std::mem::take(&mut self.rules).into_iter().enumerate() {
            let of = |name: &str| rule.variables.get(name).map(String::as_str).or_else(|| self.value(&rule.category, name, n));
            let mut resources = Resources::new();
            for (variable, kind) in RESOURCES {
                if let Some(text) = of(variable) {
                    let amount = amount_of(&Value::text(rule.at, text)?);
                    resources
                        .insert(kind.to_owned(), amount.map_err(|fault| Fault::new(rule.at, format!("{variable}: {}", fault.message)))?);
                }
            }
            let mut environment = BTreeMap::new();
            for name in &self.exports {
                self.put_in(rule.at, PIECE)?;
                if let Some(value) = of(name) {
                    if !is_variable(name) {
                        return Err(Fault::new(rule.at, format!("“{name}” cannot be the name of a variable of the environment")));
                    }
                    // In the task and in the rule, each with its place in a map.
                    self.put_in(rule.at, 2 * (name.len() + value.len() + 64))?;
                    environment.insert(name.clone(), value.to_owned());
                }
            }
            let options = of("BATCH_OPTIONS").map(str::to_owned);
            let json = rule.json(&environment, options.as_deref(), &resources);
            if rule.nested {
                kept.push((None, json));
                continue;
            }
            kept.push((Some(tasks.len()), json));
            let parts = Parts {
                command: Command { cmd: rule.command, ..Command::default() },
                inputs: rule.inputs,
                outputs: rule.outputs,
                environment: environment.into_iter().map(|(name, value)| (name, Setting::Set(value))).collect::<Environment>(),
                resources,
            };
            let task = Task::plain(format!("rule {}", n + 1), rule.at, parts);
            tasks.push(Entry { task, category: Some(rule.category), after: Vec::new(), files: true, repeats: None });
        }
        let form = Form::Makeflow(Makeflow::new(Vec::new(), kept));
        Ok(Workflow { file: file.to_owned(), tasks, form, notes: self.notes })
    }
}

impl Rule {
    /// The rule as Makeflow's JSON has it.
    fn json(&self, environment: &BTreeMap<String, String>, options: Option<&str>, resources: &Resources) -> Map<String, Json> {
        let files = |list: &[FileName]| {
            let one = |file: &FileName| match file.is_renamed() {
                true => json!({"dag_name": file.outer, "task_name": file.inner}),
                false => Json::from(file.outer.as_str()),
            };
            Json::from(list.iter().map(one).collect::<Vec<_>>())
        };
        let mut out = Map::new();
        out.insert("command".to_owned(), Json::from(self.command.as_str()));
        out.insert("inputs".to_owned(), files(&self.inputs));
        out.insert("outputs".to_owned(), files(&self.outputs));
        out.insert("category".to_owned(), Json::from(self.category.as_str()));
        if self.local {
            out.insert("local_job".to_owned(), Json::from(true));
        }
        let mut variables: Map<String, Json> = environment.iter().map(|(name, value)| (name.clone(), Json::from(value.as_str()))).collect();
        variables.extend(options.map(|options| ("BATCH_OPTIONS".to_owned(), Json::from(options))));
        if !variables.is_empty() {
            out.insert("environment".to_owned(), Json::from(variables));
        }
        if !resources.is_empty() {
            out.insert("resources".to_owned(), json!(resources));
        }
        out
    }
}

enum FileToken {
    Name(String),
    Colon(Place),
    Arrow(Place),
    Blank,
}

fn deeper(depth: usize, at: Place) -> Result<(), Fault> {
    if depth >= DEPTH { Err(Fault::new(at, format!("variables within variables, more than {DEPTH} deep"))) } else { Ok(()) }
}
