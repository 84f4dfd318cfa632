//! Parses JX: makes expressions of tokens.

use std::sync::Arc;

use super::bounds::{DEPTH, TEXT_BYTES};
use super::lex::{Token, tokens};
use super::syntax::{Binary, Definition, Expr, Kind, Loop, Program, Step, Unary};
use crate::error::{Fault, Place};

/// Reads a text: definitions and at most one expression to be evaluated.
pub fn parse(text: &str) -> Result<Program, Fault> {
    let begin = Place { line: 1, column: 1 };
    if text.len() > TEXT_BYTES {
        return Err(Fault::new(begin, format!("the text has more than {TEXT_BYTES} bytes")));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser { tokens: tokens(text, begin)?, next: 0, depth: 0 };
    parser.program()
}

/// Operators by rank, those that bind least first.
const LEVELS: [&[(&str, Binary)]; 5] = [
    &[("&&", Binary::And), ("and", Binary::And)],
    &[("||", Binary::Or), ("or", Binary::Or)],
    &[("==", Binary::Eq), ("!=", Binary::Ne), ("<=", Binary::Le), (">=", Binary::Ge), ("<", Binary::Lt), (">", Binary::Gt)],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul), ("/", Binary::Div), ("%", Binary::Rem)],
];

const RESERVED: [&str; 11] = ["true", "false", "null", "for", "in", "if", "and", "or", "not", "let", "define"];

struct Parser {
    tokens: Vec<(Place, Token)>,
    next: usize,
    depth: u32,
}

impl Parser {
    fn at(&self) -> Place {
        self.tokens[self.next].0
    }

    fn token(&self) -> &Token {
        &self.tokens[self.next].1
    }

    fn advance(&mut self) -> Token {
        let token = self.token().clone();
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
        token
    }

    fn is(&self, text: &str) -> bool {
        match self.token() {
            Token::Mark(mark) => *mark == text,
            Token::Word(word) => &**word == text,
            _ => false,
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.advance();
        }
        found
    }

    fn need(&mut self, text: &str) -> Result<(), Fault> {
        if self.eat(text) { Ok(()) } else { Err(Fault::new(self.at(), format!("“{text}” is expected, and {} found", self.found()))) }
    }

    fn found(&self) -> String {
        match self.token() {
            Token::Word(word) => format!("“{}”", word.chars().take(40).collect::<String>()),
            Token::Text(_) => "a text in quotes".to_owned(),
            Token::Int(_) | Token::Float(_) => "a number".to_owned(),
            Token::Mark(mark) => format!("“{mark}”"),
            Token::End => "the end of the file".to_owned(),
        }
    }

    fn program(&mut self) -> Result<Program, Fault> {
        let mut program = Program::default();
        loop {
            while self.eat(";") {}
            let at = self.at();
            if *self.token() == Token::End {
                return Ok(program);
            }
            let follows_name = matches!(self.tokens.get(self.next + 1), Some((_, Token::Word(_))));
            if self.is("let") && follows_name {
                self.advance();
                let name = self.name()?;
                self.need("=")?;
                let body = self.expression()?;
                program.definitions.push(Definition { at, name, arguments: None, body });
            } else if self.is("define") && follows_name {
                program.definitions.push(self.function(at)?);
            } else {
                self.eat("eval");
                if program.result.is_some() {
                    return Err(Fault::new(at, "a file has one expression; `let` and `define` may come before it"));
                }
                program.result = Some(self.expression()?);
            }
        }
    }

    fn function(&mut self, at: Place) -> Result<Definition, Fault> {
        self.advance();
        let name = self.name()?;
        self.need("(")?;
        let mut arguments = Vec::new();
        while !self.eat(")") {
            if !arguments.is_empty() {
                self.need(",")?;
            }
            arguments.push(self.name()?);
        }
        // The paper's definition has an equals sign, its figures have none.
        self.eat("=");
        Ok(Definition { at, name, arguments: Some(arguments), body: self.expression()? })
    }

    fn name(&mut self) -> Result<Arc<str>, Fault> {
        let at = self.at();
        let found = self.found();
        match self.advance() {
            Token::Word(word) if !RESERVED.contains(&&*word) => Ok(word),
            _ => Err(Fault::new(at, format!("a name is expected, and {found} found"))),
        }
    }

    fn expression(&mut self) -> Result<Expr, Fault> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Fault::new(self.at(), format!("expressions nest deeper than {DEPTH}")));
        }
        let expression = self.level(0);
        self.depth -= 1;
        // Makeflow passes over one behind any expression.
        self.eat(";");
        expression
    }

    fn level(&mut self, level: usize) -> Result<Expr, Fault> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let at = self.at();
        let first = self.level(level + 1)?;
        let mut rest = Vec::new();
        while let Some((_, operator)) = operators.iter().find(|(text, _)| self.is(text)) {
            let place = self.at();
            self.advance();
            rest.push((*operator, place, self.level(level + 1)?));
        }
        Ok(if rest.is_empty() { first } else { Expr { at, kind: Kind::Chain(Box::new(first), rest) } })
    }

    fn unary(&mut self) -> Result<Expr, Fault> {
        let at = self.at();
        let operator = match self.token() {
            Token::Mark("!") => Unary::Not,
            Token::Mark("-") => Unary::Minus,
            Token::Mark("+") => Unary::Plus,
            Token::Word(word) if &**word == "not" => Unary::Not,
            _ => return self.steps(),
        };
        self.advance();
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Fault::new(at, format!("expressions nest deeper than {DEPTH}")));
        }
        let operand = self.unary();
        self.depth -= 1;
        let operand = operand?;
        // A number with its sign is a number: 0 - 0.0 would lose the sign.
        let kind = match (operator, operand.kind) {
            (Unary::Minus, Kind::Int(number)) => Kind::Int(-number),
            (Unary::Minus, Kind::Float(number)) => Kind::Float(-number),
            (Unary::Plus, kind @ (Kind::Int(_) | Kind::Float(_))) => kind,
            (operator, kind) => Kind::Unary(operator, Box::new(Expr { at: operand.at, kind })),
        };
        Ok(Expr { at, kind })
    }

    fn steps(&mut self) -> Result<Expr, Fault> {
        let at = self.at();
        let base = self.primary()?;
        let mut steps = Vec::new();
        loop {
            let place = self.at();
            // What begins on a new line is a member or a statement of its own.
            let same_line = self.next > 0 && self.tokens[self.next - 1].0.line == place.line;
            if self.eat(".") {
                let name = match self.advance() {
                    Token::Word(word) => word,
                    _ => return Err(Fault::new(place, "a name is expected after the dot")),
                };
                steps.push(Step::Index(place, Expr { at: place, kind: Kind::Text(name) }));
            } else if same_line && self.eat("[") {
                steps.push(self.index(place)?);
            } else if same_line && !steps.is_empty() && self.eat("{") {
                let at = self.at();
                let name = match self.advance() {
                    Token::Word(name) | Token::Text(name) => name,
                    _ => return Err(Fault::new(at, "a name is expected between the braces, as in T.resources{disk}")),
                };
                self.need("}")?;
                steps.push(Step::Index(place, Expr { at, kind: Kind::Text(name) }));
            } else if same_line && matches!(base.kind, Kind::Name(_)) && steps.is_empty() && self.eat("(") {
                let mut arguments = Vec::new();
                while !self.eat(")") {
                    if !arguments.is_empty() {
                        self.need(",")?;
                        // One comma may stand before the bracket.
                        if self.eat(")") {
                            break;
                        }
                    }
                    arguments.push(self.expression()?);
                }
                steps.push(Step::Call(place, arguments));
            } else {
                break;
            }
        }
        Ok(if steps.is_empty() { base } else { Expr { at, kind: Kind::Steps(Box::new(base), steps) } })
    }

    fn index(&mut self, place: Place) -> Result<Step, Fault> {
        let from = if self.is(":") { None } else { Some(self.expression()?) };
        if self.eat(":") {
            let to = if self.is("]") { None } else { Some(self.expression()?) };
            self.need("]")?;
            return Ok(Step::Slice(place, from, to));
        }
        self.need("]")?;
        from.map(|index| Step::Index(place, index)).ok_or_else(|| Fault::new(place, "an index is expected"))
    }

    fn primary(&mut self) -> Result<Expr, Fault> {
        let at = self.at();
        let found = self.found();
        let kind = match self.advance() {
            Token::Text(text) => Kind::Text(text),
            Token::Int(number) => Kind::Int(number),
            Token::Float(number) => Kind::Float(number),
            Token::Word(word) => match &*word {
                "true" => Kind::Bool(true),
                "false" => Kind::Bool(false),
                "null" => Kind::Null,
                word if RESERVED.contains(&word) && word != "let" => {
                    return Err(Fault::new(at, format!("a value is expected, and “{word}” found")));
                }
                _ => Kind::Name(word),
            },
            Token::Mark("(") => {
                let inner = self.expression()?;
                self.need(")")?;
                return Ok(inner);
            }
            Token::Mark("[") => self.list()?,
            Token::Mark("{") => return self.object(at),
            _ => return Err(Fault::new(at, format!("a value is expected, and {found} found"))),
        };
        Ok(Expr { at, kind })
    }

    /// Each element may be one of many, `x for x in list`: then the list is the sum of its parts.
    fn list(&mut self) -> Result<Kind, Fault> {
        let mut parts: Vec<(Place, Kind)> = Vec::new();
        let mut single = Vec::new();
        while !self.eat("]") {
            let at = self.at();
            let element = self.expression()?;
            if self.is("for") {
                if !single.is_empty() {
                    parts.push((at, Kind::List(std::mem::take(&mut single))));
                }
                parts.push((at, Kind::Comprehension(Box::new(element), self.loops()?)));
            } else {
                single.push(element);
            }
            if !self.is("]") {
                self.need(",")?;
            }
        }
        if parts.is_empty() {
            return Ok(Kind::List(single));
        }
        if !single.is_empty() {
            parts.push((self.at(), Kind::List(single)));
        }
        let mut parts = parts.into_iter();
        let Some((first_at, first)) = parts.next() else { return Ok(Kind::List(Vec::new())) };
        let rest: Vec<_> = parts.map(|(at, kind)| (Binary::Add, at, Expr { at, kind })).collect();
        Ok(if rest.is_empty() { first } else { Kind::Chain(Box::new(Expr { at: first_at, kind: first }), rest) })
    }

    fn loops(&mut self) -> Result<Vec<Loop>, Fault> {
        let mut loops = Vec::new();
        while self.eat("for") {
            if loops.len() >= DEPTH as usize {
                return Err(Fault::new(self.at(), format!("a comprehension has more than {DEPTH} loops")));
            }
            let name = self.name()?;
            self.need("in")?;
            let list = self.expression()?;
            let test = if self.eat("if") { Some(self.expression()?) } else { None };
            loops.push(Loop { name, list, test });
        }
        Ok(loops)
    }

    fn object(&mut self, at: Place) -> Result<Expr, Fault> {
        let mut members: Vec<(Expr, Expr)> = Vec::new();
        while !self.eat("}") {
            let name = self.expression()?;
            self.need(":")?;
            members.push((name, self.expression()?));
            // As in the paper's figures a member on a new line needs no comma before it.
            let new_line = self.next > 0 && self.at().line > self.tokens[self.next - 1].0.line && matches!(self.token(), Token::Text(_));
            if !new_line && !self.is("}") {
                self.need(",")?;
            }
        }
        if let [(Expr { kind: Kind::Text(key), .. }, Expr { at, kind: Kind::Text(text) })] = &members[..]
            && &**key == "eval"
        {
            return self.expression_in_text(*at, text);
        }
        Ok(Expr { at, kind: Kind::Object(members) })
    }

    /// `{"eval": "…"}`: places are counted from the text's opening quote.
    fn expression_in_text(&self, at: Place, text: &str) -> Result<Expr, Fault> {
        let begin = Place { line: at.line, column: at.column.saturating_add(1) };
        let mut parser = Parser { tokens: tokens(text, begin)?, next: 0, depth: self.depth };
        let expression = parser.expression()?;
        if *parser.token() == Token::End {
            Ok(expression)
        } else {
            Err(Fault::new(parser.at(), "the expression ends before its text does"))
        }
    }
}
