//! Expressions as they are written.

use std::sync::Arc;

use super::Value;
use crate::error::Place;

/// An expression and its place.
#[derive(Debug, Clone)]
pub struct Expr {
    /// Place in its file at which it begins.
    pub at: Place,
    /// Kind of the expression, with its parts.
    pub kind: Kind,
}

/// The kinds of expressions. Operators of one rank form a flat chain, grouped from the right, so
/// that long sums are not deep.
#[derive(Debug, Clone)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A whole number, or a size in MB.
    Int(i64),
    /// A number with a point or an exponent.
    Float(f64),
    /// Text in quotes, with its escapes undone.
    Text(Arc<str>),
    /// The value of an argument of the workflow.
    Value(Value),
    /// A name, which refers to the value that is bound to it.
    Name(Arc<str>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `[element for name in list if test …]`.
    Comprehension(Box<Expr>, Vec<Loop>),
    /// `{"a": 1}`.
    Object(Vec<(Expr, Expr)>),
    /// `!a`, `-a`, `+a`.
    Unary(Unary, Box<Expr>),
    /// `a + b - c`.
    Chain(Box<Expr>, Vec<(Binary, Place, Expr)>),
    /// `a.b[0]{c}(d)`.
    Steps(Box<Expr>, Vec<Step>),
}

/// One `for` of a comprehension.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The name that is bound.
    pub name: Arc<str>,
    /// To the elements of this list.
    pub list: Expr,
    /// Only those elements for which this holds, if it is given.
    pub test: Option<Expr>,
}

/// An operator before its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// `!`, `not`.
    Not,
    /// `-`.
    Minus,
    /// `+`.
    Plus,
}

/// An operator between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

/// Operation that follows a value and is applied to it.
#[derive(Debug, Clone)]
pub enum Step {
    /// `[index]`, `.name`, `{name}`.
    Index(Place, Expr),
    /// `[from:to]`.
    Slice(Place, Option<Expr>, Option<Expr>),
    /// `(arguments)`.
    Call(Place, Vec<Expr>),
}

/// A definition of a file.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Place in its file at which it begins.
    pub at: Place,
    /// The name that it defines.
    pub name: Arc<str>,
    /// The names of a function's arguments; none for `let`.
    pub arguments: Option<Vec<Arc<str>>>,
    /// The expression for which the name stands.
    pub body: Expr,
}

/// A whole text: definitions, then what they are for.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The names that `let` and `define` bind, in their order.
    pub definitions: Vec<Definition>,
    /// `eval X`, or an expression alone.
    pub result: Option<Expr>,
}

impl Expr {
    /// Whether the member `member` of the name `name` is looked up anywhere in the expression.
    pub fn mentions(&self, name: &str, member: &str) -> bool {
        let all = |list: &[Expr]| list.iter().any(|e| e.mentions(name, member));
        match &self.kind {
            Kind::Null | Kind::Bool(_) | Kind::Int(_) | Kind::Float(_) | Kind::Text(_) | Kind::Value(_) | Kind::Name(_) => false,
            Kind::List(list) => all(list),
            Kind::Comprehension(element, loops) => {
                element.mentions(name, member)
                    || loops.iter().any(|l| l.list.mentions(name, member) || l.test.as_ref().is_some_and(|t| t.mentions(name, member)))
            }
            Kind::Object(members) => members.iter().any(|(_, value)| value.mentions(name, member)),
            Kind::Unary(_, operand) => operand.mentions(name, member),
            Kind::Chain(first, rest) => first.mentions(name, member) || rest.iter().any(|(_, _, e)| e.mentions(name, member)),
            Kind::Steps(base, steps) => {
                let here = matches!(&base.kind, Kind::Name(n) if &**n == name)
                    && matches!(steps.first(), Some(Step::Index(_, Expr { kind: Kind::Text(t), .. })) if &**t == member);
                here || base.mentions(name, member)
                    || steps.iter().any(|step| match step {
                        Step::Index(_, e) => e.mentions(name, member),
                        Step::Slice(_, a, b) => a.iter().chain(b).any(|e| e.mentions(name, member)),
                        Step::Call(_, arguments) => all(arguments),
                    })
            }
        }
    }
}
