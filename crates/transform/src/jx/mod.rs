//! JX, Makeflow's JSON with expressions, and the paper's notation (section "Notation").
//!
//! The input is text; the result is a [`Value`] with the place of each part. JX accepts JSON;
//! `+ - * / %`, comparisons, `and or not` (also `&& || !`), lookups `a.b`, `a["b"]`, `a{b}` (as the
//! paper writes), slices, comprehensions `[x for x in list if test]`, functions
//! ([`functions::NAMES`]), sizes (`3G` is 3072, in MB), comments from `#` to the end of a line; and
//! as statements `let X = Y`, `define F(X) = Y` and `eval X`. `{"eval": "text"}` is an expression
//! in a file that must be JSON.
//!
//! Results equal those of jx2json (coop-computing-tools 9.9): operators of one rank are grouped
//! from the right (`1 - 2 - 3` is 2), `or` binds closer than `and`, both operands of which are
//! evaluated, and a definition is evaluated where its name is used, so that it can use the names of
//! the comprehensions around. `docs/transform.md` lists the differences.
//!
//! Nothing here reads a file, asks the network or runs a program: Makeflow's `fetch` and `listdir`
//! are refused. Depth, sizes and steps are bounded, and a definition that needs itself is refused.

mod bounds;
pub mod eval;
pub mod functions;
mod lex;
pub(crate) use lex::size_in_mb;
mod numbers;
mod parse;
pub mod syntax;
mod value;

pub use bounds::{DEPTH, STEPS, TEXT_BYTES, VALUE_SIZE};
pub use eval::{Evaluator, Scope};
pub use parse::parse;
pub use syntax::{Expr, Program};
pub use value::{Data, Value, quote_json};
