//! The commands of a shell script, as far as they can be known without running it: words with their
//! places, what is quoted, what is substituted into what.
//!
//! Nothing is expanded. A word that holds a variable, a substitution or a pattern has no literal
//! value. Commands in `$(…)`, backquotes, loops and conditions are commands as any other; the text
//! of here-documents is passed over.

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends in the text, in bytes.
    pub end: usize,
    /// Its value, where it does not depend on what happens when the script runs.
    pub literal: Option<String>,
    /// Whether it is what a redirection goes to.
    pub redirected: bool,
}

/// A simple command: a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Simple {
    /// Its words, assignments before it left out.
    pub words: Vec<Word>,
    /// The variable that gets its output, `jid` of `jid=$(…)`.
    pub into: Option<String>,
    /// The names that assignments before its words set, with the words that do.
    pub assigned: Vec<Word>,
    /// Whether it stands in a loop or a function, and so may run more than once.
    pub repeated: bool,
    /// Whether it runs, in the script's own shell, whenever the script comes past it.
    pub plain: bool,
    /// Where the shell ends that runs it: at the end of `(…)` or `$(…)`, else nowhere.
    pub until: usize,
}

/// What is known of a script without running it.
pub(super) struct Script {
    /// All simple commands, in the order in which they begin.
    pub commands: Vec<Simple>,
    /// Comments, from byte to byte.
    pub comments: Vec<(usize, usize)>,
}

const KEYWORDS: [&str; 14] = ["if", "then", "else", "elif", "while", "until", "do", "time", "!", "{", "}", "fi", "done", "exec"];

/// All simple commands of a script that have words, in the order in which they begin.
pub(super) fn commands(text: &str) -> Vec<Simple> {
    let mut found = script(text).commands;
    found.retain(|command| !command.words.is_empty());
    found
}

/// What a script consists of; an unclosed quote ends where the text does.
pub(super) fn script(text: &str) -> Script {
    let mut reader = Reader::of(text);
    while reader.at < reader.text.len() {
        reader.list(None, None, 0);
        // A closing bracket that nobody opened.
        reader.lost |= reader.at < reader.text.len();
        reader.at += 1;
    }
    let first = |command: &Simple| command.assigned.iter().chain(&command.words).map(|word| word.start).min();
    let mut commands: Vec<Simple> = reader.found.into_iter().filter(|command| first(command).is_some()).collect();
    commands.sort_by_key(first);
    Script { commands, comments: reader.comments }
}

/// The word that a text is, with nothing but a comment behind it.
pub(super) fn alone(text: &str) -> Option<Word> {
    let mut reader = Reader::of(text);
    let word = reader.word(0, Position::Other);
    let rest = text.get(word.end..)?.trim_start_matches([' ', '\t', ';']);
    (word.end > word.start && (rest.is_empty() || rest.starts_with('#'))).then_some(word)
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    found: Vec<Simple>,
    /// Ends of here-documents that begin after this line, and whether tabs before them go.
    documents: Vec<(Vec<u8>, bool)>,
    /// Whether what is read stands between backquotes, the next of which ends it.
    backquoted: bool,
    /// What is open, outermost first.
    open: Vec<Open>,
    /// The number of loops and functions among it.
    repeating: usize,
    /// Whether something was closed that was not open: then nothing is sure to be run.
    lost: bool,
    comments: Vec<(usize, usize)>,
    /// Commands, by their numbers, that change the directory of a shell which has not ended yet.
    moving: Vec<usize>,
    /// Whether what is read stands between double quotes.
    double: bool,
}

/// Where a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Where a command begins, so that it can be an assignment.
    First,
    /// Behind a redirection.
    Target,
    Other,
}

/// What a script opens and closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    If,
    Case,
    /// `for`, `while`, `until`, `select`.
    Loop,
    Group,
    Function,
    /// A shell of its own, with the number of commands before it that change the directory.
    Shell(usize),
}

impl Open {
    fn repeats(self) -> bool {
        matches!(self, Self::Loop | Self::Function)
    }
}

impl<'t> Reader<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
            found: Vec::new(),
            documents: Vec::new(),
            backquoted: false,
            open: Vec::new(),
            repeating: 0,
            lost: false,
            comments: Vec::new(),
            moving: Vec::new(),
            double: false,
        }
    }
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// Commands up to `end`, which is passed over by whoever asked.
    fn list(&mut self, end: Option<u8>, into: Option<&str>, depth: usize) {
        let mut command = Simple { into: into.map(str::to_owned), until: usize::MAX, ..Simple::default() };
        let (mut redirected, base) = (false, self.open.len());
        // What ended the command before (`|` for `&&` too): after and before these it is not sure to run, or to run here.
        let mut before = b'\n';
        while let Some(byte) = self.peek(0) {
            let in_shell = self.open.len() > base && matches!(self.open.last(), Some(Open::Shell(_)));
            let in_case = self.open.len() > base && self.open.last() == Some(&Open::Case);
            match byte {
                // The next backquote ends it, whatever is open: the shell takes the text out before it reads it.
                b'`' if end == Some(b'`') => break,
                b')' if in_case => {
                    self.close(&mut command, before, byte);
                    before = byte;
                    self.at += 1;
                }
                b')' if !in_shell => break,
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\\' if self.peek(1) == Some(b'\n') => self.at += 2,
                b'#' => {
                    let start = self.at;
                    self.at += self.text[self.at..].iter().take_while(|byte| **byte != b'\n').count();
                    self.comments.push((start, self.at));
                }
                b'\n' => {
                    let goes_on = before == b'|' && command.words.is_empty() && command.assigned.is_empty();
                    self.close(&mut command, before, byte);
                    before = if goes_on { before } else { byte };
                    self.at += 1;
                    self.pass_documents();
                }
                b'(' if self.is_arithmetic() => self.arithmetic(depth),
                b';' | b'&' | b'|' | b'(' | b')' => {
                    // `2>&1` and `&>` belong to the command.
                    if byte == b'&' && (self.at > 0 && matches!(self.text[self.at - 1], b'>' | b'<') || self.peek(1) == Some(b'>')) {
                        self.at += 1;
                        continue;
                    }
                    self.close(&mut command, before, byte);
                    let is_and = byte == b'&' && self.at > 0 && self.text[self.at - 1] == b'&';
                    before = if is_and { b'|' } else { byte };
                    match byte {
                        b'(' => self.open.push(Open::Shell(self.moving.len())),
                        b')' => self.shell_ends(),
                        _ => {}
                    }
                    self.at += 1;
                }
                b'<' if self.text[self.at..].starts_with(b"<<<") => {
                    redirected = true;
                    self.at += 3;
                }
                b'<' if self.peek(1) == Some(b'<') => self.document(),
                b'<' | b'>' => {
                    redirected = true;
                    self.at += 1;
                }
                _ => {
                    let is_target = std::mem::take(&mut redirected);
                    let position = match () {
                        () if is_target => Position::Target,
                        () if command.words.is_empty() => Position::First,
                        () => Position::Other,
                    };
                    let word = self.word(depth, position);
                    self.take(word, is_target, &mut command);
                }
            }
        }
        self.close(&mut command, before, b'\n');
        if end.is_some() && self.open.len() > base {
            self.lost = true;
            while self.open.len() > base {
                self.pop();
            }
        }
    }

    /// A command ends here.
    fn close(&mut self, command: &mut Simple, before: u8, after: u8) {
        let next = Simple { into: command.into.clone(), until: usize::MAX, ..Simple::default() };
        let mut done = std::mem::replace(command, next);
        done.plain = self.open.is_empty() && !self.lost && matches!(before, b'\n' | b';') && matches!(after, b'\n' | b';');
        if done.changes_directory() {
            self.moving.push(self.found.len());
        }
        self.found.push(done);
    }

    fn pop(&mut self) -> Option<Open> {
        let open = self.open.pop();
        self.repeating -= usize::from(open.is_some_and(Open::repeats));
        open
    }

    /// The innermost shell ends here.
    fn shell_ends(&mut self) {
        if let Some(Open::Shell(first)) = self.pop() {
            for n in self.moving.drain(first.min(self.moving.len())..) {
                self.found[n].until = self.at;
            }
        }
    }

    fn take(&mut self, mut word: Word, is_target: bool, command: &mut Simple) {
        let raw = &self.text[word.start..word.end];
        let digits_before_redirection = raw.iter().all(u8::is_ascii_digit) && matches!(self.peek(0), Some(b'<' | b'>'));
        let is_first = command.words.is_empty();
        if is_first && !is_target {
            let ends = match raw {
                b"fi" => Some(Open::If),
                b"done" => Some(Open::Loop),
                b"esac" => Some(Open::Case),
                b"}" => Some(if self.open.last() == Some(&Open::Function) { Open::Function } else { Open::Group }),
                _ => None,
            };
            match raw {
                b"if" => self.opens(Open::If),
                b"for" | b"while" | b"until" | b"select" => self.opens(Open::Loop),
                b"case" => self.opens(Open::Case),
                b"{" if self.text[..word.start].trim_ascii_end().ends_with(b")") => self.opens(Open::Function),
                b"{" => self.opens(Open::Group),
                _ => {}
            }
            if let Some(ends) = ends {
                if self.open.last() == Some(&ends) {
                    self.pop();
                } else {
                    self.lost = true;
                }
            }
            command.repeated = self.repeating > 0;
        } else if raw == b"{" && command.words.first().is_some_and(|word| word.literal.as_deref() == Some("function")) {
            // `function name {`
            self.opens(Open::Function);
            command.words.clear();
            return;
        }
        if is_first && !is_target && (assigned(raw).is_some() || is_element(raw)) {
            command.assigned.push(word);
            return;
        }
        if digits_before_redirection || is_first && !is_target && word.literal.as_deref().is_some_and(|text| KEYWORDS.contains(&text)) {
            return;
        }
        word.redirected = is_target;
        command.words.push(word);
    }

    fn opens(&mut self, open: Open) {
        self.repeating += usize::from(open.repeats());
        self.open.push(open);
    }

    /// Whether a calculation `((…))` begins here, and no shell in a shell.
    fn is_arithmetic(&self) -> bool {
        if self.peek(1) != Some(b'(') {
            return false;
        }
        let mut open = 0;
        for (n, byte) in self.text[self.at..].iter().take(LONGEST_CALCULATION).enumerate() {
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => continue,
            }
            if open == 1 && *byte == b')' {
                return self.peek(n + 1) == Some(b')');
            }
        }
        false
    }

    /// Passes over `((…))`, with the commands in it whose output is calculated with.
    fn arithmetic(&mut self, depth: usize) {
        let mut open = 0;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'$' | b'`' if !(self.backquoted && byte == b'`') => {
                    self.expansion(self.at, depth);
                    continue;
                }
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                break;
            }
        }
    }

    /// `<<END`, `<<-'END'`: the text begins after this line.
    fn document(&mut self) {
        self.at += 2;
        let tabs = self.peek(0) == Some(b'-');
        self.at += usize::from(tabs);
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let start = self.at;
        while self.peek(0).is_some_and(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b';' | b'&' | b'|' | b')' | b'<' | b'>')) {
            self.at += 1;
        }
        let end: Vec<u8> = self.text[start..self.at].iter().copied().filter(|byte| !matches!(byte, b'\'' | b'"' | b'\\')).collect();
        self.documents.push((end, tabs));
    }

    fn pass_documents(&mut self) {
        for (end, tabs) in std::mem::take(&mut self.documents) {
            while self.at < self.text.len() {
                let line = self.text[self.at..].split(|byte| *byte == b'\n').next().unwrap_or_default();
                self.at = (self.at + line.len() + 1).min(self.text.len());
                let without = line.iter().skip_while(|byte| tabs && **byte == b'\t');
                if without.copied().eq(end.iter().copied()) {
                    break;
                }
            }
        }
    }

    /// The length of the subscript that begins here, when what it belongs to is assigned to:
    /// `a[1<<3]=x`, `a[i]+=x`. Nothing in it is an operator of the shell.
    fn subscript(&self, word: usize) -> Option<usize> {
        let rest = &self.text[self.at..];
        let (mut open, mut quote) = (0, None);
        for (n, byte) in rest.iter().take(LONGEST_CALCULATION).enumerate() {
            match (quote, byte) {
                (None, b'\'' | b'"') => quote = Some(byte),
                (Some(begun), _) if begun == byte => quote = None,
                (_, b'\n') => return None,
                (Some(_), _) => {}
                (None, b'[') => open += 1,
                (None, b']') => open -= 1,
                (None, _) => {}
            }
            if open == 0 {
                let behind = &rest[n + 1..];
                let is_assigned = behind.starts_with(b"=") || behind.starts_with(b"+=");
                return Some(n + 1).filter(|_| is_assigned && is_name(&self.text[word..self.at]));
            }
        }
        None
    }

    fn word(&mut self, depth: usize, position: Position) -> Word {
        let redirected = position == Position::Target;
        let start = self.at;
        let mut literal = Some(Vec::new());
        let put = |literal: &mut Option<Vec<u8>>, byte: u8| literal.iter_mut().for_each(|text| text.push(byte));
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                b'`' if self.backquoted => break,
                b'\\' => {
                    match self.peek(1) {
                        Some(b'\n') | None => {}
                        Some(next) => put(&mut literal, next),
                    }
                    self.at += 2;
                }
                b'\'' => {
                    self.at += 1;
                    while let Some(byte) = self.peek(0).filter(|byte| *byte != b'\'') {
                        put(&mut literal, byte);
                        self.at += 1;
                    }
                    self.at += 1;
                }
                b'"' => {
                    self.at += 1;
                    self.double_quoted(start, &mut literal, depth);
                    self.at += 1;
                }
                b'$' if self.peek(1) == Some(b'\'') => {
                    self.ansi_quoted();
                    literal = None;
                }
                b'$' | b'`' => {
                    self.expansion(start, depth);
                    literal = None;
                }
                b'[' if position == Position::First && self.subscript(start).is_some() => {
                    self.pass_subscript(start, depth);
                    literal = None;
                }
                b'*' | b'?' | b'[' | b'{' if !redirected => {
                    // A pattern is what it is when the script runs; braces alone are words of the shell.
                    let alone = self.at == start && self.text.get(self.at + 1).is_none_or(u8::is_ascii_whitespace);
                    if alone {
                        put(&mut literal, byte)
                    } else {
                        literal = None
                    }
                    self.at += 1;
                }
                _ => {
                    put(&mut literal, byte);
                    self.at += 1;
                }
            }
        }
        self.at = self.at.min(self.text.len());
        if self.text.get(start) == Some(&b'~') {
            literal = None;
        }
        Word { start, end: self.at, literal: literal.and_then(|text| String::from_utf8(text).ok()), redirected: false }
    }

    /// Passes over a subscript, with the commands in it whose output is calculated with.
    fn pass_subscript(&mut self, word: usize, depth: usize) {
        let end = self.at + self.subscript(word).unwrap_or_default();
        while self.at < end {
            match self.text[self.at] {
                b'$' | b'`' if !(self.backquoted && self.text[self.at] == b'`') => self.expansion(self.at, depth),
                _ => self.at += 1,
            }
        }
    }

    /// `$'…'`, in which a backslash stands before a quote too. Its value is not worked out.
    fn ansi_quoted(&mut self) {
        self.at += 2;
        while let Some(byte) = self.peek(0).filter(|byte| *byte != b'\'') {
            self.at += if byte == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
    }

    fn double_quoted(&mut self, word: usize, literal: &mut Option<Vec<u8>>, depth: usize) {
        let outer = std::mem::replace(&mut self.double, true);
        while let Some(byte) = self.peek(0).filter(|byte| *byte != b'"') {
            match byte {
                b'\\' => {
                    if let (Some(next), Some(text)) = (self.peek(1), literal.as_mut()) {
                        match next {
                            b'\n' => {}
                            b'$' | b'`' | b'"' | b'\\' => text.push(next),
                            _ => text.extend([b'\\', next]),
                        }
                    }
                    self.at += 2;
                }
                b'$' | b'`' => {
                    self.expansion(word, depth);
                    *literal = None;
                }
                _ => {
                    literal.iter_mut().for_each(|text| text.push(byte));
                    self.at += 1;
                }
            }
        }
        self.double = outer;
    }

    /// A variable, or commands whose output stands there.
    fn expansion(&mut self, word: usize, depth: usize) {
        let into = assigned(&self.text[word..self.at]).map(str::to_owned);
        let into = into.as_deref();
        if depth > 64 {
            self.at = self.text.len();
            return;
        }
        let outer = self.backquoted;
        match (self.peek(0), self.peek(1)) {
            (Some(b'`'), _) => {
                self.backquoted = true;
                self.at += 1;
                self.substitution(b'`', into, depth);
            }
            (_, Some(b'(')) => {
                self.at += 1;
                self.backquoted = false;
                if self.is_arithmetic() {
                    self.arithmetic(depth + 1);
                } else {
                    self.at += 1;
                    self.substitution(b')', into, depth);
                }
            }
            // The old form of a calculation.
            (_, Some(b'[')) => {
                self.at += self.text[self.at..].iter().take_while(|byte| !matches!(byte, b']' | b'\n')).count();
            }
            (_, Some(b'{')) => {
                self.at += 2;
                self.braced(depth);
            }
            _ => self.at += 1,
        }
        self.backquoted = outer;
        self.at = self.at.min(self.text.len());
    }
}

impl Reader<'_> {
    /// Commands whose output stands here, in a shell of their own.
    fn substitution(&mut self, end: u8, into: Option<&str>, depth: usize) {
        self.opens(Open::Shell(self.moving.len()));
        let double = std::mem::take(&mut self.double);
        self.list(Some(end), into, depth + 1);
        self.double = double;
        self.shell_ends();
        self.at += 1;
    }

    /// The rest of `${…}`: quotes in it may hold a brace.
    fn braced(&mut self, depth: usize) {
        let mut open = 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'`' if self.backquoted => return,
                b'\\' => self.at += 1,
                b'$' | b'`' => {
                    self.expansion(self.at, depth + 1);
                    continue;
                }
                b'"' if depth < 64 => {
                    self.at += 1;
                    self.double_quoted(self.at, &mut None, depth + 1);
                }
                b'\'' if !self.double => {
                    self.at += 1 + self.text[self.at + 1..].iter().take_while(|byte| **byte != b'\'').count();
                }
                b'{' => open += 1,
                b'}' => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
    }
}

impl Simple {
    /// Its program, where that is known.
    pub(super) fn program(&self) -> Option<&str> {
        self.words.first()?.literal.as_deref()
    }

    /// Whether the shell that runs it may be in another directory afterwards.
    pub(super) fn changes_directory(&self) -> bool {
        self.words.iter().take(2).any(|word| matches!(word.literal.as_deref(), Some("cd" | "pushd" | "popd")))
    }
}

/// Longer calculations are read as shells in shells.
const LONGEST_CALCULATION: usize = 512;
/// Longer names of variables are not known: each word is asked for one again at each `$` in it.
const LONGEST_NAME: usize = 256;

/// The name of the variable that a word `name=…` or `name+=…` assigns to.
fn assigned(raw: &[u8]) -> Option<&str> {
    let name = &raw[..raw.iter().take(LONGEST_NAME).position(|byte| *byte == b'=')?];
    let name = name.strip_suffix(b"+").unwrap_or(name);
    std::str::from_utf8(name).ok().filter(|_| is_name(name))
}

/// Whether a word assigns to an element of an array, `name[…]=…`.
fn is_element(raw: &[u8]) -> bool {
    let name = raw.iter().take(LONGEST_NAME).position(|byte| *byte == b'[').map(|end| &raw[..end]);
    name.is_some_and(is_name) && raw.windows(2).any(|pair| pair == b"]=" || pair == b"]+")
}

/// Whether this is the name of a variable.
fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed")]
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let word = |word: &Word| match (&word.literal, word.redirected) {
            (_, true) => ">".to_owned(),
            (Some(literal), _) => literal.clone(),
            (None, _) => format!("«{}»", &text[word.start..word.end]),
        };
        let one = |command: Simple| {
            let into = command.into.map(|name| format!("{name}=")).unwrap_or_default();
            format!("{into}{}", command.words.iter().map(word).collect::<Vec<_>>().join(" "))
        };
        commands(text).into_iter().map(one).collect()
    }

    #[test]
    fn commands_of_scripts_as_people_write_them() {
        for (text, expected) in [
            ("sbatch a.sh # sbatch no\n", vec!["sbatch a.sh"]),
            ("jid1=$(sbatch --parsable 'my job.sh' 1)\n", vec!["jid1=sbatch --parsable my job.sh 1"]),
            ("A=1 B=2 sbatch x >log 2>&1 && sbatch y & ", vec!["sbatch x > >", "sbatch y"]),
            ("id=`sbatch a.sh | cut -d' ' -f4`", vec!["id=sbatch a.sh", "id=cut -d  -f4"]),
            ("for i in 1 2; do sbatch a.sh $i \"$(date)\"; done", vec!["for i in 1 2", "sbatch a.sh «$i» «\"$(date)\"»", "date"]),
            ("if ! sbatch a.sh; then exit 1; fi", vec!["sbatch a.sh", "exit 1"]),
            ("cat <<EOF\nsbatch no\nEOF\nsbatch yes\n", vec!["cat", "sbatch yes"]),
            ("cat <<-'E' | sh\n\tsbatch no\n\tE\nsbatch yes", vec!["cat", "sh", "sbatch yes"]),
            ("echo 'sbatch no' \"sbatch $(sbatch yes)\"", vec!["echo sbatch no «\"sbatch $(sbatch yes)\"»", "sbatch yes"]),
            ("a[1<<3]=x\nsbatch yes\n3\n", vec!["sbatch yes", "3"]),
            (
                "B=1 a[$(n) << 2]+=$(sbatch x); echo a[1<<3]=x\nsbatch no\n3]=x\nsbatch yes",
                vec!["n", "sbatch x", "echo «a[1»", "sbatch yes"],
            ),
            ("sbatch \\\n  --mem=1G \\\n  a.sh", vec!["sbatch --mem=1G a.sh"]),
            ("x=${y:-$(z)} sbatch a.sh", vec!["sbatch a.sh"]),
            ("(sbatch a; sbatch b)", vec!["sbatch a", "sbatch b"]),
            (
                "RES=$(sbatch sim) && sbatch --dependency=afterok:${RES##* } post",
                vec!["RES=sbatch sim", "sbatch «--dependency=afterok:${RES##* }» post"],
            ),
            ("id=`(sbatch a` sbatch b", vec!["id=sbatch a", "sbatch b"]),
            ("f() { sbatch \"$@\"; }", vec!["f", "sbatch «\"$@\"»"]),
            ("sbatch 'unclosed", vec!["sbatch unclosed"]),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn any_text_ends() {
        for text in [
            "$(",
            "`",
            "`(`",
            "`a(b`c)",
            "$((((",
            "\"$(`",
            "${",
            "<<",
            "<<-",
            "a<<E",
            "\\",
            ")",
            "a)b",
            "'",
            &"$(".repeat(5000),
            &"(".repeat(5000),
        ] {
            let _ = commands(text);
        }
    }
}
