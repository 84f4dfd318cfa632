//! Evaluates expressions of JX: makes values of them.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::bounds::{DEPTH, NAMES, STEPS, STEPS_PER_TASK};
use super::syntax::{Binary, Definition, Expr, Kind, Loop, Step, Unary};
use super::{Value, functions, numbers};
use crate::error::{Fault, Place};
use crate::jx::Data;

/// Evaluates expressions with the definitions of one file. A definition is evaluated where its name
/// is used, and sees the names that are bound there.
pub struct Evaluator {
    definitions: HashMap<Arc<str>, Rc<Definition>>,
    known: RefCell<HashMap<Arc<str>, Known>>,
    /// The names that the definitions use which are being evaluated, the innermost last.
    uses: RefCell<Vec<HashSet<Arc<str>>>>,
    busy: RefCell<HashSet<Arc<str>>>,
    steps: Cell<u64>,
    depth: Cell<u32>,
}

/// The value of a definition where none of the names that it uses is bound.
#[derive(Clone)]
struct Known {
    value: Value,
    uses: Rc<HashSet<Arc<str>>>,
}

/// Names that are bound around an expression: arguments of functions, names of comprehensions.
#[derive(Default)]
pub struct Scope<'a> {
    outer: Option<&'a Scope<'a>>,
    names: Vec<(Arc<str>, Value)>,
}

impl<'a> Scope<'a> {
    /// These names, and those outside of them.
    pub fn within(outer: &'a Scope<'a>, names: Vec<(Arc<str>, Value)>) -> Self {
        Self { outer: Some(outer), names }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let mut scopes = std::iter::successors(Some(self), |scope| scope.outer);
        scopes.find_map(|scope| scope.names.iter().rev().find(|(n, _)| &**n == name).map(|(_, value)| value))
    }
}

impl Evaluator {
    /// Refuses a name that is defined twice.
    pub fn new(definitions: Vec<Definition>) -> Result<Self, Fault> {
        let mut by_name: HashMap<Arc<str>, Rc<Definition>> = HashMap::new();
        for definition in definitions {
            if let Some(first) = by_name.get(&definition.name) {
                return Err(Fault::new(definition.at, format!("“{}” is defined at {} already", definition.name, first.at)));
            }
            by_name.insert(definition.name.clone(), Rc::new(definition));
        }
        Ok(Self {
            definitions: by_name,
            known: RefCell::default(),
            uses: RefCell::default(),
            busy: RefCell::default(),
            steps: Cell::new(0),
            depth: Cell::new(0),
        })
    }

    /// Gives some of the steps back that were taken: another task's evaluation begins.
    pub fn begin(&self) {
        self.steps.set(self.steps.get().saturating_sub(STEPS_PER_TASK));
    }

    /// The definition of a name.
    pub fn definition(&self, name: &str) -> Option<Rc<Definition>> {
        self.definitions.get(name).cloned()
    }

    /// The value of an expression.
    pub fn eval(&self, expr: &Expr, scope: &Scope<'_>) -> Result<Value, Fault> {
        self.step(expr.at, 1)?;
        let depth = self.depth.get() + 1;
        if depth > 2 * DEPTH {
            return Err(Fault::new(expr.at, "definitions and expressions nest too deep to be evaluated"));
        }
        self.depth.set(depth);
        let value = self.eval_kind(expr, scope);
        self.depth.set(depth - 1);
        value
    }

    pub(super) fn step(&self, at: Place, steps: u64) -> Result<(), Fault> {
        let taken = self.steps.get().saturating_add(steps);
        self.steps.set(taken);
        if taken > STEPS { Err(Fault::new(at, format!("the evaluation takes more than {STEPS} steps"))) } else { Ok(()) }
    }

    fn eval_kind(&self, expr: &Expr, scope: &Scope<'_>) -> Result<Value, Fault> {
        let at = expr.at;
        match &expr.kind {
            Kind::Null => Ok(Value::atom(at, Data::Null)),
            Kind::Bool(value) => Ok(Value::atom(at, Data::Bool(*value))),
            Kind::Int(number) => Ok(Value::int(at, *number)),
            Kind::Float(number) => Ok(Value::atom(at, Data::Float(*number))),
            Kind::Text(text) => Value::text(at, text.clone()),
            Kind::Value(value) => Ok(value.clone().found_at(at)),
            Kind::Name(name) => self.name(at, name, scope),
            Kind::List(list) => Value::list(at, list.iter().map(|e| self.eval(e, scope)).collect::<Result<_, _>>()?),
            Kind::Comprehension(element, loops) => {
                let mut out = Vec::new();
                self.comprehend(element, loops, scope, &mut out)?;
                Value::list(at, out)
            }
            Kind::Object(members) => {
                let mut out = Vec::with_capacity(members.len());
                for (name, value) in members {
                    let name = self.eval(name, scope)?;
                    out.push((Arc::from(name.as_text("the name of a member")?), self.eval(value, scope)?));
                }
                Value::object(at, out)
            }
            Kind::Unary(Unary::Not, operand) => {
                let value = self.eval(operand, scope)?.as_bool("the operand of `not`")?;
                Ok(Value::atom(at, Data::Bool(!value)))
            }
            Kind::Unary(operator @ (Unary::Minus | Unary::Plus), operand) => signed(at, *operator, self.eval(operand, scope)?),
            Kind::Chain(first, rest) => self.chain(first, rest, scope),
            Kind::Steps(base, steps) => self.steps(base, steps, scope),
        }
    }

    /// Operands of one rank, grouped from the right.
    fn chain(&self, first: &Expr, rest: &[(Binary, Place, Expr)], scope: &Scope<'_>) -> Result<Value, Fault> {
        let mut left = vec![self.eval(first, scope)?];
        for (_, _, expr) in rest {
            left.push(self.eval(expr, scope)?);
        }
        let Some(mut value) = left.pop() else { return Err(Fault::new(first.at, "an operand is expected")) };
        for ((operator, place, _), left) in rest.iter().zip(left).rev() {
            let compared = matches!(operator, Binary::Eq | Binary::Ne);
            let cost = |value: &Value| if compared { value.size() as u64 / 8 } else { cost(value) };
            self.step(*place, cost(&left) + cost(&value))?;
            value = binary(*place, *operator, &left, &value)?;
        }
        Ok(value)
    }

    fn name(&self, at: Place, name: &Arc<str>, scope: &Scope<'_>) -> Result<Value, Fault> {
        if let Some(uses) = self.uses.borrow_mut().last_mut() {
            uses.insert(name.clone());
        }
        if let Some(value) = scope.get(name) {
            return Ok(value.clone());
        }
        let none_is_bound = |uses: &HashSet<Arc<str>>| !uses.iter().any(|name| scope.get(name).is_some());
        let known = self.known.borrow().get(name).cloned();
        if let Some(known) = known {
            self.step(at, known.uses.len() as u64 / 8)?;
            if none_is_bound(&known.uses) {
                self.uses.borrow_mut().last_mut().into_iter().for_each(|uses| uses.extend(known.uses.iter().cloned()));
                return Ok(known.value);
            }
        }
        let Some(definition) = self.definition(name) else {
            let hint = if &**name == "ID" { "; the identifier of a task T is T.ID" } else { "" };
            return Err(Fault::new(at, format!("“{name}” is not defined{hint}")));
        };
        if definition.arguments.is_some() {
            return Err(Fault::new(at, format!("“{name}” is a function: write {name}(…)")));
        }
        self.uses.borrow_mut().push(HashSet::new());
        let value = self.guarded(at, name, || self.eval(&definition.body, scope));
        let uses = self.uses.borrow_mut().pop().unwrap_or_default();
        let value = value?;
        self.uses.borrow_mut().last_mut().into_iter().for_each(|outer| outer.extend(uses.iter().cloned()));
        if none_is_bound(&uses) {
            self.known.borrow_mut().insert(name.clone(), Known { value: value.clone(), uses: Rc::new(uses) });
        }
        Ok(value)
    }

    /// What a name is in a template. Makeflow evaluates no definition for it: one that is not written
    /// as a value is an error.
    fn in_template(&self, at: Place, name: &Arc<str>, scope: &Scope<'_>) -> Result<Value, Fault> {
        let is_value = |body: &Expr| matches!(body.kind, Kind::Text(_) | Kind::Int(_) | Kind::Float(_) | Kind::Value(_));
        if scope.get(name).is_none() && self.definition(name).is_some_and(|known| !is_value(&known.body)) {
            let message = format!("“{name}” is defined by an expression, which Makeflow puts into no template: give it in the object");
            return Err(Fault::new(at, message));
        }
        self.name(at, name, scope)
    }

    fn guarded(&self, at: Place, name: &Arc<str>, work: impl FnOnce() -> Result<Value, Fault>) -> Result<Value, Fault> {
        if !self.busy.borrow_mut().insert(name.clone()) {
            return Err(Fault::new(at, format!("the definition of “{name}” needs itself")));
        }
        let value = work();
        self.busy.borrow_mut().remove(name);
        value
    }

    /// The value of a defined function.
    pub fn call(&self, at: Place, name: &Arc<str>, arguments: Vec<Value>) -> Result<Value, Fault> {
        let Some(definition) = self.definition(name) else {
            self.step(at, arguments.iter().map(work).sum())?;
            let value = functions::call(self, at, name, &arguments)?;
            self.step(at, work(&value))?;
            return Ok(value);
        };
        let Some(names) = &definition.arguments else {
            return Err(Fault::new(at, format!("“{name}” is a value and no function")));
        };
        if names.len() != arguments.len() {
            return Err(Fault::new(at, format!("“{name}” takes {} arguments, and {} are given", names.len(), arguments.len())));
        }
        let scope = Scope { outer: None, names: names.iter().cloned().zip(arguments).collect() };
        self.guarded(at, name, || self.eval(&definition.body, &scope))
    }

    fn comprehend(&self, element: &Expr, loops: &[Loop], scope: &Scope<'_>, out: &mut Vec<Value>) -> Result<(), Fault> {
        let Some((first, rest)) = loops.split_first() else {
            out.push(self.eval(element, scope)?);
            return Ok(());
        };
        let list = self.eval(&first.list, scope)?;
        for value in list.as_list("what a comprehension goes through")? {
            self.step(first.list.at, 1)?;
            let inner = Scope::within(scope, vec![(first.name.clone(), value.clone())]);
            let holds = match &first.test {
                Some(test) => self.eval(test, &inner)?.as_bool("the condition of a comprehension")?,
                None => true,
            };
            if holds {
                self.comprehend(element, rest, &inner, out)?;
            }
        }
        Ok(())
    }

    fn steps(&self, base: &Expr, steps: &[Step], scope: &Scope<'_>) -> Result<Value, Fault> {
        let mut steps = steps.iter();
        let mut value = match (&base.kind, steps.as_slice().first()) {
            (Kind::Name(name), Some(Step::Call(at, arguments))) => {
                steps.next();
                self.call_in_scope(*at, name, arguments, scope)?
            }
            _ => self.eval(base, scope)?,
        };
        for step in steps {
            value = match step {
                Step::Index(at, index) => {
                    self.step(*at, member_cost(&value))?;
                    lookup(*at, &value, &self.eval(index, scope)?)?
                }
                Step::Slice(at, from, to) => {
                    let bound = |e: &Option<Expr>| e.as_ref().map(|e| self.eval(e, scope)).transpose();
                    self.step(*at, cost(&value))?;
                    slice(*at, &value, bound(from)?, bound(to)?)?
                }
                Step::Call(at, _) => return Err(Fault::new(*at, "only a name can be called")),
            };
        }
        Ok(value)
    }

    fn call_in_scope(&self, at: Place, name: &Arc<str>, arguments: &[Expr], scope: &Scope<'_>) -> Result<Value, Fault> {
        // `let({"a": 1}, a + 2)` binds names in its second argument.
        if &**name == "let" {
            let [names, body] = arguments else { return Err(Fault::new(at, "let takes an object and an expression")) };
            let names = self.eval(names, scope)?;
            let bound = names.as_object("the first argument of let")?.to_vec();
            if bound.len() > NAMES {
                return Err(names.fault(format!("let binds more than {NAMES} names")));
            }
            return self.eval(body, &Scope::within(scope, bound));
        }
        let mut values: Vec<Value> = arguments.iter().map(|e| self.eval(e, scope)).collect::<Result<_, _>>()?;
        if &**name == "template" && matches!(values.len(), 1 | 2) {
            // What the object has comes before what the names around mean.
            let text = values.remove(0);
            let names = values.pop();
            names.iter().try_for_each(|names| names.as_object("the second argument of template").map(drop))?;
            self.step(at, work(&text))?;
            return functions::template(at, &text, &|name| {
                self.step(at, names.as_ref().map_or(0, member_cost) + 1)?;
                let own = names.as_ref().and_then(|names| names.get(name)).cloned();
                own.map_or_else(|| self.in_template(at, &Arc::from(name), scope), Ok)
            });
        }
        self.call(at, name, values)
    }
}

/// The steps that it takes to copy a value: its elements share their parts.
fn cost(value: &Value) -> u64 {
    match &value.data {
        Data::List(list) => list.len() as u64,
        Data::Object(members) => members.len() as u64,
        Data::Text(text) => text.len() as u64 / 64,
        _ => 0,
    }
}

/// The steps that it takes to read or write a value with all its parts.
fn work(value: &Value) -> u64 {
    value.size() as u64 / 16
}

/// The steps that it takes to find a member: they are passed one by one.
fn member_cost(value: &Value) -> u64 {
    if let Data::Object(members) = &value.data { members.len() as u64 / 16 } else { 0 }
}

/// A member of an object or an element of a list; negative indices count from the end.
fn lookup(at: Place, value: &Value, index: &Value) -> Result<Value, Fault> {
    match (&value.data, &index.data) {
        (Data::Object(members), Data::Text(name)) => value.get(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = members.iter().map(|(name, _)| &**name).take(12).collect();
            Fault::new(
                at,
                format!("there is no “{name}” among {}", if known.is_empty() { "no members".to_owned() } else { known.join(", ") }),
            )
        }),
        (Data::List(list), Data::Int(number)) => {
            let place = if *number < 0 { list.len() as i64 + number } else { *number };
            let found = usize::try_from(place).ok().and_then(|place| list.get(place)).cloned();
            found.ok_or_else(|| Fault::new(at, format!("the list has {} elements, and none at {number}", list.len())))
        }
        _ => Err(Fault::new(at, format!("{} cannot be looked up in {}", index.kind(), value.kind()))),
    }
}

fn slice(at: Place, value: &Value, from: Option<Value>, to: Option<Value>) -> Result<Value, Fault> {
    let list = value.as_list("what is sliced")?;
    let len = list.len() as i64;
    let bound = |value: Option<Value>, otherwise: i64| match value.map(|v| (v.data.clone(), v)) {
        None => Ok(otherwise),
        Some((Data::Int(n), _)) => Ok(if n < 0 { (len + n).max(0) } else { n.min(len) }),
        Some((_, value)) => Err(value.fault("a bound of a slice must be a whole number")),
    };
    let (from, to) = (bound(from, 0)?, bound(to, len)?);
    Value::list(at, if from < to { list[from as usize..to as usize].to_vec() } else { Vec::new() })
}

/// The value of two operands.
fn binary(at: Place, operator: Binary, a: &Value, b: &Value) -> Result<Value, Fault> {
    use Binary::{Add, And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    let truth = |value| Ok(Value::atom(at, Data::Bool(value)));
    match (operator, &a.data, &b.data) {
        (Eq | Ne, Data::Object(_), Data::Object(_)) => Err(Fault::new(at, "objects are not compared")),
        (Eq | Ne, Data::Int(_) | Data::Float(_), Data::Int(_) | Data::Float(_)) => truth((number(a) == number(b)) == (operator == Eq)),
        (Eq, ..) => truth(a.same(b)),
        (Ne, ..) => truth(!a.same(b)),
        (And, Data::Bool(x), Data::Bool(y)) => truth(*x && *y),
        (Or, Data::Bool(x), Data::Bool(y)) => truth(*x || *y),
        (And | Or, ..) => {
            let other = if matches!(a.data, Data::Bool(_)) { b } else { a };
            Err(Fault::new(at, format!("an operand of `and` and `or` is true or false, and not {}", other.kind())))
        }
        (Add, Data::Text(x), _) if is_atomic(b) => Value::text(at, format!("{x}{}", functions::plain(b))),
        (Add, _, Data::Text(y)) if is_atomic(a) => Value::text(at, format!("{}{y}", functions::plain(a))),
        (Add, Data::List(x), Data::List(y)) => Value::list(at, x.iter().chain(y.iter()).cloned().collect()),
        (Lt | Le | Gt | Ge, Data::Text(x), Data::Text(y)) => truth(ordered(operator, x.cmp(y))),
        (_, Data::Int(x), Data::Int(y)) => whole(at, operator, *x, *y),
        (_, Data::Int(_) | Data::Float(_), Data::Int(_) | Data::Float(_)) => real(at, operator, number(a), number(b)),
        _ => Err(Fault::new(at, format!("{} and {} do not go with this operator", a.kind(), b.kind()))),
    }
}

/// Whether a value can be added to a text.
fn is_atomic(value: &Value) -> bool {
    matches!(value.data, Data::Text(_) | Data::Int(_) | Data::Float(_) | Data::Bool(_))
}

/// A value with a sign before it; a text may have the plus.
fn signed(at: Place, operator: Unary, value: Value) -> Result<Value, Fault> {
    match (operator, &value.data) {
        (Unary::Plus, Data::Int(_) | Data::Float(_) | Data::Text(_)) => Ok(value),
        (Unary::Minus, Data::Int(_) | Data::Float(_)) => binary(at, Binary::Sub, &Value::int(at, 0), &value),
        _ => Err(value.fault(format!("a sign is allowed before a number, and not before {}", value.kind()))),
    }
}

fn ordered(operator: Binary, order: std::cmp::Ordering) -> bool {
    match operator {
        Binary::Lt => order.is_lt(),
        Binary::Le => order.is_le(),
        Binary::Gt => order.is_gt(),
        _ => order.is_ge(),
    }
}

fn number(value: &Value) -> f64 {
    match value.data {
        Data::Int(number) => number as f64,
        Data::Float(number) => number,
        _ => f64::NAN,
    }
}

fn whole(at: Place, operator: Binary, a: i64, b: i64) -> Result<Value, Fault> {
    let value = match operator {
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        Binary::Mul => a.checked_mul(b),
        Binary::Div | Binary::Rem if b == 0 => return Err(Fault::new(at, "division by zero")),
        Binary::Div => a.checked_div(b),
        Binary::Rem => a.checked_rem(b),
        _ => return Ok(Value::atom(at, Data::Bool(ordered(operator, a.cmp(&b))))),
    };
    value.map(|value| Value::int(at, value)).ok_or_else(|| Fault::new(at, "the result does not fit 64 bits"))
}

fn real(at: Place, operator: Binary, a: f64, b: f64) -> Result<Value, Fault> {
    let value = match operator {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Div if b == 0.0 => return Err(Fault::new(at, "division by zero")),
        Binary::Div => a / b,
        // Makeflow takes the remainder of the whole numbers, toward zero.
        Binary::Rem => match numbers::whole(a).zip(numbers::whole(b)) {
            Some((_, 0)) => return Err(Fault::new(at, "division by zero")),
            Some((a, b)) => a.checked_rem(b).unwrap_or_default() as f64,
            None => return Err(Fault::new(at, "an operand of % does not fit 64 bits")),
        },
        _ => return Ok(Value::atom(at, Data::Bool(a.partial_cmp(&b).is_some_and(|order| ordered(operator, order))))),
    };
    if value.is_finite() { Ok(Value::atom(at, Data::Float(value))) } else { Err(Fault::new(at, "the result is no finite number")) }
}
