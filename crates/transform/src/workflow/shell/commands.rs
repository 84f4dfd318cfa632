//! Lists, compound commands, functions and simple commands.

use super::{Function, Loop, Outcome, Reader, Redirection, SUBSCRIPT, Simple, Word, is_name, runs_commands};

/// End of a list, which is left for the caller to read.
#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    Text,
    /// A closing bracket.
    Bracket,
    /// One of these words.
    Words(&'static [&'static str]),
    /// `;;` or `esac`.
    Branch,
}

/// Words that begin or end compound commands.
const KEYWORDS: [&str; 18] =
    ["if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "{", "}", "!", "select", "time"];

/// Commands with arguments that can be assignments of arrays.
const DECLARING: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];

impl Reader<'_> {
    /// Passes over blanks, comments and lines that go on; with `lines` over ends of lines too.
    fn blanks(&mut self, lines: bool) -> Outcome<()> {
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek(1) == Some(b'\n') => self.at += 2,
                Some(b'\r') => return self.unclear("this line ends with a carriage return, which the shell takes into the last word"),
                Some(b'#') => {
                    let start = self.at;
                    self.at += self.rest().iter().take_while(|byte| **byte != b'\n').count();
                    self.script.comments.push((start, self.at));
                }
                Some(b'\n') if lines => {
                    self.at += 1;
                    self.pass_documents()?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// The word that stands here, where it has no quotes and nothing to expand.
    fn keyword(&self) -> &str {
        let rest = self.rest();
        let end = rest.iter().position(|byte| b" \t\r\n;&|()<>".contains(byte)).unwrap_or(rest.len());
        std::str::from_utf8(&rest[..end]).unwrap_or_default()
    }

    fn is_end(&self, end: End) -> bool {
        match end {
            End::Text => self.peek(0).is_none(),
            End::Bracket => self.peek(0) == Some(b')'),
            End::Words(words) => words.contains(&self.keyword()),
            End::Branch => self.rest().starts_with(b";;") || self.keyword() == "esac",
        }
    }

    fn expect(&mut self, word: &str) -> Outcome<()> {
        if self.keyword() != word {
            return self.unclear(format!("“{word}” is expected here"));
        }
        self.at += word.len();
        Ok(())
    }

    /// Commands up to `end`: a block.
    pub(super) fn list(&mut self, end: End) -> Outcome<()> {
        let outer = std::mem::replace(&mut self.block, self.script.blocks.len());
        self.script.blocks.push(outer);
        let done = self.commands(end);
        self.block = outer;
        done
    }

    fn commands(&mut self, end: End) -> Outcome<()> {
        let begun = self.at;
        let pending = self.documents.len();
        loop {
            self.blanks(true)?;
            if self.is_end(end) {
                return match self.documents.get(pending) {
                    Some(document) => self.unfinished(document.start, "the here-document"),
                    None => Ok(()),
                };
            }
            if self.peek(0).is_none() {
                return self.unfinished(begun, "what begins here");
            }
            let single = self.pipelines()?;
            self.blanks(false)?;
            let is_plain = match self.peek(0) {
                Some(b';') if !self.rest().starts_with(b";;") => {
                    self.at += 1;
                    true
                }
                Some(b'&') => {
                    self.at += 1;
                    false
                }
                Some(b'\n') | None => true,
                _ if self.is_end(end) => false,
                Some(_) => return self.unclear(format!("“{}” is not expected here", self.shown())),
            };
            let outermost = self.compounds == 0 && self.shell == 0;
            match single.filter(|_| is_plain) {
                Some(Single::Simple(n)) => {
                    (self.script.commands[n].sure, self.script.commands[n].plain) = (true, outermost);
                }
                Some(Single::Function(n)) => self.script.functions[n].plain = outermost,
                None => {}
            }
        }
    }

    /// Returns the text at the current place, for a message.
    fn shown(&self) -> String {
        let word = self.keyword();
        let shown =
            if word.is_empty() { String::from_utf8_lossy(&self.rest()[..self.rest().len().min(1)]).into_owned() } else { word.to_owned() };
        shown.chars().take(20).collect()
    }

    /// Pipelines with `&&` and `||` between them: the command, where there is one only.
    fn pipelines(&mut self) -> Outcome<Option<Single>> {
        let mut single = None;
        for n in 0usize.. {
            let is_negated = self.keyword() == "!";
            if is_negated {
                self.at += 1;
                self.blanks(false)?;
            }
            let command = self.deeper(Self::command)?;
            single = command.filter(|_| n == 0 && !is_negated);
            self.blanks(false)?;
            let length = match self.rest() {
                [b'&', b'&', ..] | [b'|', b'|', ..] | [b'|', b'&', ..] => 2,
                [b'|', ..] => 1,
                _ => break,
            };
            if self.rest().starts_with(b"|&") {
                self.needs_bash("“|&”")?;
            }
            single = None;
            self.at += length;
            self.blanks(true)?;
            if self.peek(0).is_none() {
                return self.unfinished(self.at, "the command");
            }
        }
        Ok(single)
    }

    fn command(&mut self) -> Outcome<Option<Single>> {
        let start = self.at;
        let keyword = self.keyword().to_owned();
        match keyword.as_str() {
            "if" => self.compound(start, false, Self::conditional)?,
            "while" | "until" => self.compound(start, true, |reader| {
                reader.at += keyword.len();
                reader.list(End::Words(&["do"]))?;
                reader.body()
            })?,
            "for" => {
                let head = self.for_head()?;
                self.compound(start, true, |reader| {
                    reader.script.commands.extend(head);
                    reader.body()
                })?;
            }
            "case" => self.compound(start, false, Self::case)?,
            "{" => self.compound(start, false, Self::group)?,
            "function" => {
                self.needs_bash("“function”")?;
                self.at += keyword.len();
                self.blanks(false)?;
                let name = self.keyword().to_owned();
                self.at += name.len();
                self.blanks(false)?;
                if self.rest().starts_with(b"()") {
                    self.at += 2;
                }
                return self.function(start, name).map(Some);
            }
            "[[" => self.test(start)?,
            _ if self.rest().starts_with(b"((") => {
                self.needs_bash("“((”")?;
                self.compound(start, false, |reader| {
                    reader.at += 2;
                    reader.arithmetic()
                })?;
            }
            "" if self.peek(0) == Some(b'(') => self.compound(start, false, |reader| {
                reader.at += 1;
                let into = reader.into.clone();
                reader.in_shell(into, |reader| reader.list(End::Bracket))?;
                reader.at += 1;
                Ok(())
            })?,
            word if KEYWORDS.contains(&word) => return self.unclear(format!("“{word}” is not expected here")),
            word => {
                let behind = &self.rest()[word.len()..];
                let blanks = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                if is_name(word.as_bytes()) && behind[blanks..].starts_with(b"()") {
                    let name = word.to_owned();
                    self.at += word.len() + blanks + 2;
                    return self.function(start, name).map(Some);
                }
                return self.simple().map(Some);
            }
        }
        Ok(None)
    }

    /// Reads a compound command, with the redirections after it.
    fn compound(&mut self, start: usize, repeats: bool, read: impl FnOnce(&mut Self) -> Outcome<()>) -> Outcome<()> {
        self.compounds += 1;
        self.loops += usize::from(repeats);
        let done = read(self);
        self.loops -= usize::from(repeats);
        self.compounds -= 1;
        done?;
        let mut command = self.empty(start);
        loop {
            self.blanks(false)?;
            if !self.redirection(&mut command)? {
                break;
            }
        }
        if !command.redirections.is_empty() {
            self.script.commands.push(command);
        }
        Ok(())
    }

    fn conditional(&mut self) -> Outcome<()> {
        self.at += 2;
        loop {
            self.list(End::Words(&["then"]))?;
            self.expect("then")?;
            self.list(End::Words(&["elif", "else", "fi"]))?;
            let word = self.keyword().to_owned();
            self.at += word.len();
            match word.as_str() {
                "elif" => {}
                "else" => {
                    self.list(End::Words(&["fi"]))?;
                    return self.expect("fi");
                }
                _ => return Ok(()),
            }
        }
    }

    /// `do … done`.
    fn body(&mut self) -> Outcome<()> {
        self.expect("do")?;
        self.list(End::Words(&["done"]))?;
        self.expect("done")
    }

    fn group(&mut self) -> Outcome<()> {
        self.at += 1;
        self.list(End::Words(&["}"]))?;
        self.expect("}")
    }

    /// `for name in words;` and `for ((…));`, up to `do`: a command without words that has the values.
    fn for_head(&mut self) -> Outcome<Option<Simple>> {
        let mut head = self.empty(self.at);
        self.at += 3;
        self.blanks(false)?;
        if self.rest().starts_with(b"((") {
            self.needs_bash("“for ((”")?;
            self.at += 2;
            self.three_calculations()?;
        } else {
            let name = self.keyword().to_owned();
            if !is_name(name.as_bytes()) {
                return self.unclear("the name of a variable is expected here");
            }
            self.at += name.len();
            self.blanks(true)?;
            if self.keyword() == "in" {
                self.at += 2;
                self.blanks(false)?;
                while !matches!(self.peek(0), None | Some(b';' | b'\n')) {
                    let word = self.argument()?;
                    head.values.push(word);
                    self.blanks(false)?;
                }
            }
            // Its list is the next one that begins.
            let block = self.script.blocks.len();
            self.script.loops.push(Loop { name, values: head.values.clone(), start: head.start, block });
        }
        self.blanks(false)?;
        if self.peek(0) == Some(b';') {
            self.at += 1;
        }
        self.blanks(true)?;
        Ok((!head.values.is_empty()).then_some(head))
    }

    /// `case word in pattern) list;; … esac`.
    fn case(&mut self) -> Outcome<()> {
        self.at += 4;
        self.blanks(false)?;
        self.argument()?;
        self.blanks(true)?;
        self.expect("in")?;
        loop {
            self.blanks(true)?;
            if self.keyword() == "esac" {
                self.at += 4;
                return Ok(());
            }
            if self.peek(0) == Some(b'(') {
                self.at += 1;
            }
            loop {
                self.blanks(false)?;
                self.argument()?;
                self.blanks(false)?;
                match self.peek(0) {
                    Some(b'|') => self.at += 1,
                    Some(b')') => break,
                    _ => return self.unclear("a pattern of “case” ends with a bracket"),
                }
            }
            self.at += 1;
            self.list(End::Branch)?;
            if self.rest().starts_with(b";;&") {
                return self.unclear("“;;&” is not understood");
            }
            if self.rest().starts_with(b";;") {
                self.at += 2;
            }
        }
    }

    /// `[[ … ]]`: brackets and angles are operators, nothing is redirected.
    fn test(&mut self, start: usize) -> Outcome<()> {
        self.needs_bash("“[[”")?;
        self.at += 2;
        self.compound(start, false, |reader| {
            let begun = reader.at;
            loop {
                reader.blanks(true)?;
                match reader.peek(0) {
                    None => return reader.unfinished(begun, "“[[”"),
                    Some(b'(' | b')' | b'<' | b'>' | b'&' | b'|') => reader.at += 1,
                    Some(b';') => return reader.unclear("“;” is not expected here"),
                    Some(_) if reader.keyword() == "]]" => {
                        reader.at += 2;
                        return Ok(());
                    }
                    Some(_) => {
                        let word = reader.argument()?;
                        if word.literal.as_deref().is_some_and(runs_commands) {
                            reader.at = word.start;
                            return reader.unclear(SUBSCRIPT);
                        }
                    }
                }
            }
        })
    }

    fn function(&mut self, start: usize, name: String) -> Outcome<Single> {
        if !is_name(name.as_bytes()) {
            return self.unclear("the name of a function is expected here");
        }
        self.blanks(true)?;
        if self.peek(0) != Some(b'{') || self.keyword() != "{" {
            return self.unclear("the commands of a function must be in braces");
        }
        self.compound(start, true, Self::group)?;
        self.script.functions.push(Function { name, start, plain: false });
        Ok(Single::Function(self.script.functions.len() - 1))
    }

    fn empty(&self, start: usize) -> Simple {
        Simple { start, into: self.into.clone(), repeated: self.loops > 0, block: self.block, shell: self.shell, ..Simple::default() }
    }

    /// A word that is there.
    fn argument(&mut self) -> Outcome<Word> {
        let word = self.word(None)?;
        if word.end == word.start {
            return self.unclear(format!("“{}” is not expected here", self.shown()));
        }
        Ok(word)
    }

    fn simple(&mut self) -> Outcome<Single> {
        let mut command = self.empty(self.at);
        loop {
            self.blanks(false)?;
            if matches!(self.peek(0), None | Some(b'\n' | b';' | b'|' | b')')) {
                break;
            }
            if self.peek(0) == Some(b'&') && self.peek(1) != Some(b'>') {
                break;
            }
            if self.redirection(&mut command)? {
                continue;
            }
            let may_assign = command.words.is_empty() || command.program().is_some_and(|program| DECLARING.contains(&program));
            let head = if may_assign { self.assignment()? } else { None };
            let is_assigned = head.is_some();
            let mut word = match head {
                Some(_) => self.word(head)?,
                None => self.argument()?,
            };
            if is_assigned && self.peek(0) == Some(b'(') && self.text[word.start..word.end].ends_with(b"=") {
                self.array(&mut command)?;
                (word.literal, word.end) = (None, self.at);
            } else if self.peek(0) == Some(b'(') {
                return self.unclear("a bracket in a word is not understood");
            }
            if is_assigned && command.words.is_empty() {
                command.assigned.push(word);
            } else {
                command.words.push(word);
            }
        }
        if command.words.is_empty() && command.assigned.is_empty() && command.redirections.is_empty() {
            return self.unclear(format!("“{}” is not expected here", self.shown()));
        }
        self.script.commands.push(command);
        Ok(Single::Simple(self.script.commands.len() - 1))
    }

    /// `(…)` of `name=(…)`.
    fn array(&mut self, command: &mut Simple) -> Outcome<()> {
        self.needs_bash("an array")?;
        let begun = self.at;
        self.at += 1;
        loop {
            self.blanks(true)?;
            match self.peek(0) {
                None => return self.unfinished(begun, "the array"),
                Some(b')') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => {
                    let word = self.argument()?;
                    command.values.push(word);
                }
            }
        }
    }

    /// A redirection, where one stands here.
    fn redirection(&mut self, command: &mut Simple) -> Outcome<bool> {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (begun, rest) = (self.at, &self.rest()[digits..]);
        let operators: [(&[u8], bool); 12] = [
            (b"<<<", false),
            (b"<<-", false),
            (b"<<", false),
            (b"<&", false),
            (b"<>", true),
            (b"<", false),
            (b">>", true),
            (b">|", true),
            (b">&", true),
            (b">", true),
            (b"&>>", true),
            (b"&>", true),
        ];
        let Some((operator, writes)) = operators.into_iter().find(|(operator, _)| rest.starts_with(operator)) else { return Ok(false) };
        if operator.starts_with(b"&") && digits > 0 {
            return Ok(false);
        }
        if operator == b"<<<" || operator.starts_with(b"&") {
            self.needs_bash(&format!("“{}”", String::from_utf8_lossy(operator)))?;
        }
        self.at += digits + operator.len();
        if self.peek(0) == Some(b'(') {
            self.at = begun;
            return self.unclear("the input or output of a command as a file, <(…) or >(…), is not understood: write it into a file");
        }
        if operator == b"<<" || operator == b"<<-" {
            self.document(operator == b"<<-")?;
            return Ok(true);
        }
        self.blanks(false)?;
        let word = self.argument()?;
        let is_descriptor = operator.ends_with(b"&")
            && word
                .literal
                .as_deref()
                .is_some_and(|text| text == "-" || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()));
        if !is_descriptor {
            command.redirections.push(Redirection { word, writes });
        } else if command.words.is_empty() && command.redirections.is_empty() {
            // Descriptors alone are a command too.
            command.redirections.push(Redirection { word, writes: false });
        }
        Ok(true)
    }
}

/// A command that stands alone, by its number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Single {
    Simple(usize),
    Function(usize),
}
