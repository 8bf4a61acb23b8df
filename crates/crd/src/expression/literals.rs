//! Checks literals that API servers read when they compile a rule: regular expressions, durations and timestamps.

use cel::common::ast::{CallExpr, Expr, LiteralValue};

use super::{go_regex, regex::is_match};

const DURATION: &str = r"^([-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+|[-+]?0)$";
const TIMESTAMP: &str = r"^\d{4}-\d{2}-\d{2}T\d{1,2}:\d{2}:\d{2}([.,]\d+)?(Z|[+-]\d{2}:\d{2})$";

/// Returns the reason why a literal argument of a function does not compile.
pub fn check_literal(function: &str, call: &CallExpr) -> Option<String> {
    let first = if function == "matches" { call.args.last() } else { call.args.first() };
    let Expr::Literal(LiteralValue::String(text)) = &first?.expr else { return None };
    let text = text.inner();
    let is_none = |pattern: &str| is_match(pattern, text) == Some(false);
    let what = match function {
        "matches" | "find" | "findAll" => {
            return go_regex::find_regex_fault(text).map(|why| {
                format!("`{text}` is not a regular expression that Go compiles: {why}")
            });
        }
        "duration" if is_none(DURATION) => "a duration such as `1h30m`",
        "timestamp" if is_none(TIMESTAMP) => "a timestamp such as `2006-01-02T15:04:05Z`",
        _ => return None,
    };
    Some(format!("`{text}` is not {what}"))
}
