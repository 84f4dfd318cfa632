//! Text into tokens with their places.

use std::sync::Arc;

use crate::error::{Fault, Place};

/// A token of JX.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// A name or a word of the language.
    Word(Arc<str>),
    /// Text in quotes, with its escapes undone.
    Text(Arc<str>),
    /// A whole number; a size in MB.
    Int(i64),
    /// A number with a point or an exponent.
    Float(f64),
    /// Punctuation and operators.
    Mark(&'static str),
    /// The end of the text.
    End,
}

const MARKS: [&str; 25] =
    ["&&", "||", "==", "!=", "<=", ">=", "{", "}", "[", "]", "(", ")", ",", ":", ";", ".", "+", "-", "*", "/", "%", "<", ">", "=", "!"];

/// The tokens of a text; the last is [`Token::End`].
pub fn tokens(text: &str, begin: Place) -> Result<Vec<(Place, Token)>, Fault> {
    let mut lexer = Lexer { text, byte: 0, at: begin };
    let mut out = Vec::new();
    loop {
        lexer.skip_blanks();
        let at = lexer.at;
        let token = lexer.next()?;
        let end = token == Token::End;
        out.push((at, token));
        if end {
            return Ok(out);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    byte: usize,
    at: Place,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.byte..].chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.byte += c.len_utf8();
        if c == '\n' {
            self.at = Place { line: self.at.line.saturating_add(1), column: 1 };
        } else {
            self.at.column = self.at.column.saturating_add(1);
        }
        Some(c)
    }

    fn skip_blanks(&mut self) {
        while let Some(c) = self.peek() {
            if c == '#' {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.take();
                }
            } else if matches!(c, ' ' | '\t' | '\r' | '\n' | '\x0b' | '\x0c') {
                self.take();
            } else {
                return;
            }
        }
    }

    fn next(&mut self) -> Result<Token, Fault> {
        let at = self.at;
        let Some(c) = self.peek() else { return Ok(Token::End) };
        if c == '"' || c == '\'' {
            return self.quoted(c);
        }
        let digit_after_dot = c == '.' && self.text[self.byte + 1..].starts_with(|c: char| c.is_ascii_digit());
        if c.is_ascii_digit() || digit_after_dot {
            return self.number();
        }
        if c.is_ascii_alphabetic() || c == '_' {
            let start = self.byte;
            while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                self.take();
            }
            return Ok(Token::Word(self.text[start..self.byte].into()));
        }
        let Some(mark) = MARKS.iter().find(|mark| self.text[self.byte..].starts_with(**mark)) else {
            return Err(Fault::new(at, format!("“{c}” has no meaning here")));
        };
        for _ in 0..mark.len() {
            self.take();
        }
        Ok(Token::Mark(mark))
    }

    fn number(&mut self) -> Result<Token, Fault> {
        let at = self.at;
        let start = self.byte;
        let mut whole = true;
        while let Some(c) = self.peek() {
            let exponent = matches!(c, '+' | '-') && self.text[..self.byte].ends_with(['e', 'E']);
            match c {
                '0'..='9' => {}
                '.' | 'e' | 'E' => whole = false,
                _ if exponent && !whole => {}
                _ => break,
            }
            self.take();
        }
        let text = &self.text[start..self.byte];
        let wrong = || Fault::new(at, format!("“{text}” is no number that fits 64 bits"));
        let factor = match self.peek() {
            Some('M') => Some(1),
            Some('G') => Some(1 << 10),
            Some('T') => Some(1 << 20),
            _ => None,
        };
        let next = self.text[self.byte..].chars().nth(usize::from(factor.is_some()));
        if next.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return Err(Fault::new(at, "a number is followed by letters: sizes end in M, G or T (megabytes, gigabytes, terabytes)"));
        }
        if let Some(factor) = factor {
            self.take();
            return Ok(Token::Int(size_in_mb(text, factor).ok_or_else(wrong)?));
        }
        if whole {
            return Ok(Token::Int(text.parse().map_err(|_| wrong())?));
        }
        let number: f64 = text.parse().map_err(|_| wrong())?;
        if number.is_finite() { Ok(Token::Float(number)) } else { Err(wrong()) }
    }

    fn quoted(&mut self, quote: char) -> Result<Token, Fault> {
        let begin = self.at;
        self.take();
        let mut out = String::new();
        loop {
            let at = self.at;
            let Some(c) = self.take() else { return Err(Fault::new(begin, "the text that begins here has no closing quote")) };
            match c {
                c if c == quote => return Ok(Token::Text(out.into())),
                '\\' => out.push(self.escape(at)?),
                '\0' => return Err(Fault::new(at, "a NUL byte is not allowed in a command or a name")),
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self, at: Place) -> Result<char, Fault> {
        let c = match self.take() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => {
                let first = self.hex(at)?;
                if (0xd800..0xdc00).contains(&first) && self.text[self.byte..].starts_with("\\u") {
                    self.take();
                    self.take();
                    let second = self.hex(at)?;
                    let low = second.checked_sub(0xdc00).filter(|low| *low < 0x400);
                    low.and_then(|low| char::from_u32(0x10000 + ((first - 0xd800) << 10) + low))
                } else {
                    char::from_u32(first)
                }
                .ok_or_else(|| Fault::new(at, "half of a surrogate pair is no character"))?
            }
            // JSON has an escape of quotes, backslashes and slashes; Makeflow takes any character so.
            Some(c) => c,
            None => return Err(Fault::new(at, "the text ends within an escape")),
        };
        if c == '\0' { Err(Fault::new(at, "a NUL byte is not allowed in a command or a name")) } else { Ok(c) }
    }

    fn hex(&mut self, at: Place) -> Result<u32, Fault> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.take().and_then(|c| c.to_digit(16));
            value = value * 16 + digit.ok_or_else(|| Fault::new(at, "\\u needs four hexadecimal digits"))?;
        }
        Ok(value)
    }
}

/// A size in MB; nothing where it is none or too large. Parts of a MB are rounded up.
pub fn size_in_mb(number: &str, factor: i64) -> Option<i64> {
    if let Ok(whole) = number.parse::<i64>() {
        return whole.checked_mul(factor);
    }
    let size = (number.parse::<f64>().ok()? * factor as f64).ceil();
    (0.0..9e15).contains(&size).then_some(size as i64)
}
