//! Checks and evaluates rules in CEL, the Common Expression Language: those of CRDs, and those of OLM's dependencies.
//!
//! This is the only module that uses a CEL library. It has none of Kubernetes' own functions (`isURL`, `quantity`, …):
//! a rule that uses one is checked, and is not evaluated.

mod budget;
mod calls;
mod checker;
mod compile;
mod cost;
mod estimates;
mod evaluate;
mod functions;
mod go_regex;
mod literals;
mod names;
mod regex;
mod schema;
mod sizes;
mod types;

pub use compile::{compile_bundle_rule, compile_crd_rule, max_values_per_request};
pub use evaluate::{Evaluator, Outcome};
pub use go_regex::find_regex_fault;
pub use names::uses_old_self;
pub use regex::is_match;

use cel::{common::ast::IdedExpr, parser::Parser};

/// Names of types, each also a function that converts to it.
const TYPES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    "duration",
    "google",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "timestamp",
    "type",
    "uint",
];

/// Returns the syntax tree of a rule, or the line, column and cause of its first error.
fn parse_rule(source: &str) -> Result<IdedExpr, String> {
    parse_with(Parser::default().enable_optional_syntax(true), source)
}

/// The most code points of an expression, by default in cel-go's `parser.Options`.
const MOST_CODE_POINTS: usize = 100_000;

fn parse_with(parser: Parser, source: &str) -> Result<IdedExpr, String> {
    let size = source.chars().count();
    if size > MOST_CODE_POINTS {
        return Err(format!(
            "expression code point size exceeds limit: size: {size}, limit {MOST_CODE_POINTS}"
        ));
    }
    parser.parse(source).map_err(|errors| match errors.errors.first() {
        Some(error) => {
            let (line, column) = error.pos;
            format!("{line}:{column}: {}", error.msg.trim_start_matches("Syntax error: "))
        }
        None => "it cannot be parsed".to_owned(),
    })
}
