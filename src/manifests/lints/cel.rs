//! CEL rules that do not compile: their syntax, and the names that they use of what is around them.
//!
//! Not the whole of what an API server checks: types of values and the cost of a rule are not looked at.

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::parser::Parser;

use super::{Fault, once, says, text, walk};
use crate::yaml::Value;

const RULE: &str = "see https://kubernetes.io/docs/reference/using-api/cel for what a rule may say";
const OLD: &str = "put the rule on the list itself or above it, or merge the list by keys";

pub fn faults(schema: &Value) -> Vec<Fault> {
    let mut res = Vec::new();
    walk("", schema, &mut |at, it| {
        let rules = it.get("x-kubernetes-validations").and_then(Value::as_array);
        for rule in rules.into_iter().flatten() {
            let mut say = |message: String| {
                res.push(Fault { at: at.to_owned(), message, hint: RULE });
            };
            let (source, message) = (text(rule, "rule"), text(rule, "message"));
            if source.trim().is_empty() {
                say("has a rule that is empty".to_owned());
                continue;
            }
            if source.trim().contains('\n') && message.trim().is_empty() {
                say(format!("has a rule of several lines without a message: `{}`", first(source)));
            }
            if message.trim().contains('\n') || (!message.is_empty() && message.trim().is_empty()) {
                say(format!("has a message of several lines, or of none: `{}`", first(source)));
            }
            let optional = says(rule, "optionalOldSelf");
            expression(source, it, optional, &mut say);
            match text(rule, "messageExpression") {
                "" => {}
                other => expression(other, it, optional, &mut say),
            }
            let uses = mentions(source);
            if uses && between(schema, at) {
                let message = format!(
                    "has a rule on `oldSelf` within a list whose items have no identity: `{}`",
                    first(source)
                );
                res.push(Fault { at: at.to_owned(), message, hint: OLD });
            }
        }
    });
    once(res)
}

/// The first line of a rule.
fn first(source: &str) -> &str {
    source.trim().lines().next().unwrap_or_default()
}

fn expression(source: &str, schema: &Value, optional: bool, say: &mut impl FnMut(String)) {
    match Parser::default().enable_optional_syntax(true).parse(source) {
        Err(errors) => {
            let Some(error) = errors.errors.first() else { return };
            let what = error.msg.trim_start_matches("Syntax error: ");
            let (line, column) = error.pos;
            say(format!(
                "has a rule that does not compile: `{}`: {line}:{column}: {what}",
                first(source)
            ));
        }
        Ok(ast) => {
            let mut names = Names { scope: Vec::new(), faults: Vec::new() };
            names.scope.push(("self".to_owned(), Some(schema)));
            names.scope.push(("oldSelf".to_owned(), (!optional).then_some(schema)));
            names.visit(&ast);
            for fault in names.faults {
                say(format!("has a rule that does not compile: `{}`: {fault}", first(source)));
            }
        }
    }
}

fn mentions(source: &str) -> bool {
    let ast = Parser::default().enable_optional_syntax(true).parse(source);
    let mut names = Names { scope: vec![("self".to_owned(), None)], faults: Vec::new() };
    ast.is_ok_and(|ast| {
        names.visit(&ast);
        names.faults.iter().any(|it| it.contains("`oldSelf`"))
    })
}

/// Whether a list on the way to `at` is not merged by keys, so that old items have no new ones.
fn between(schema: &Value, at: &str) -> bool {
    let mut here = schema;
    for part in at.split('.') {
        let (name, lists) = match part.find("[]") {
            Some(end) => (&part[..end], part[end..].len() / 2),
            None => (part, 0),
        };
        let next = match name {
            "*" => here.get("additionalProperties"),
            name => here.get("properties").and_then(|it| it.get(name)),
        };
        let Some(next) = next else { return false };
        here = next;
        for _ in 0..lists {
            if text(here, "x-kubernetes-list-type") != "map" {
                return true;
            }
            let Some(items) = here.get("items") else { return false };
            here = items;
        }
    }
    false
}

/// The names in scope, each with the schema of its value where that is known.
struct Names<'a> {
    scope: Vec<(String, Option<&'a Value>)>,
    faults: Vec<String>,
}

/// Names that start a function's or a type's name.
const NAMESPACES: &[&str] = &[
    "sets",
    "optional",
    "ip",
    "cidr",
    "format",
    "math",
    "strings",
    "semver",
    "google",
    "type",
    "bool",
    "bytes",
    "double",
    "duration",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "timestamp",
    "uint",
    "kubernetes",
    "net",
    "base64",
];

impl<'a> Names<'a> {
    /// Looks at an expression, and says of which schema its value is, where that is known.
    fn visit(&mut self, expr: &IdedExpr) -> Option<&'a Value> {
        match &expr.expr {
            Expr::Ident(name) => match self.scope.iter().rev().find(|(it, _)| it == name) {
                Some((_, schema)) => *schema,
                None => {
                    if !name.starts_with('@') && !NAMESPACES.contains(&name.as_str()) {
                        self.fault(format!("nothing is called `{name}`"));
                    }
                    None
                }
            },
            Expr::Select(it) => {
                let of = self.visit(&it.operand)?;
                self.field(of, &it.field)
            }
            Expr::Call(it) => {
                let target = it.target.as_ref().and_then(|it| self.visit(it));
                let values: Vec<_> = it.args.iter().map(|it| self.visit(it)).collect();
                match (it.func_name.as_str(), &values[..]) {
                    ("_[_]", [of, _]) => of.and_then(item),
                    ("filter", _) => target,
                    _ => None,
                }
            }
            Expr::Comprehension(it) => {
                let range = self.visit(&it.iter_range);
                self.visit(&it.accu_init);
                let depth = self.scope.len();
                let list = range.is_some_and(|it| text(it, "type") == "array");
                // Over a map, the variable is a key; with two variables, the second is the item.
                let (one, two) = match &it.iter_var2 {
                    None => (range.filter(|_| list).and_then(item), None),
                    Some(_) => (None, range.and_then(item)),
                };
                self.scope.push((it.iter_var.clone(), one));
                if let Some(name) = &it.iter_var2 {
                    self.scope.push((name.clone(), two));
                }
                self.scope.push((it.accu_var.clone(), None));
                self.visit(&it.loop_cond);
                self.visit(&it.loop_step);
                self.visit(&it.result);
                self.scope.truncate(depth);
                None
            }
            Expr::List(it) => {
                for it in &it.elements {
                    self.visit(it);
                }
                None
            }
            Expr::Map(it) => {
                for entry in &it.entries {
                    if let EntryExpr::MapEntry(it) = &entry.expr {
                        self.visit(&it.key);
                        self.visit(&it.value);
                    }
                }
                None
            }
            Expr::Struct(_) | Expr::Literal(_) | Expr::Unspecified => None,
        }
    }

    fn field(&mut self, of: &'a Value, field: &str) -> Option<&'a Value> {
        let name = unescaped(field);
        if let Some(found) = of.get("properties").and_then(|it| it.get(&name)) {
            return Some(found);
        }
        // Of a map, any name is a key; of what takes unknown fields, nothing is known.
        if let Some(more) = of.get("additionalProperties") {
            return Some(more).filter(|it| it.is_object());
        }
        let embedded = says(of, "x-kubernetes-embedded-resource");
        let root = ["apiVersion", "kind", "metadata"].contains(&name.as_str());
        let known = text(of, "type") == "object" && !says(of, "x-kubernetes-int-or-string");
        // The schema's top has these without saying so; which ones of `metadata` rules may use is not looked at.
        if known && !(root || embedded) {
            self.fault(format!("there is no field `{name}`"));
        }
        None
    }

    fn fault(&mut self, what: String) {
        if !self.faults.contains(&what) {
            self.faults.push(what);
        }
    }
}

/// What an item of a list, or a value of a map, is.
fn item(of: &Value) -> Option<&Value> {
    of.get("items").or_else(|| of.get("additionalProperties")).filter(|it| it.is_object())
}

/// A field's name as the schema has it: CEL writes some characters and its own words otherwise.
fn unescaped(name: &str) -> String {
    const WORDS: &[&str] = &[
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ];
    let word = name.strip_prefix("__").and_then(|it| it.strip_suffix("__"));
    if let Some(word) = word.filter(|it| WORDS.contains(it)) {
        return word.to_owned();
    }
    name.replace("__underscores__", "__")
        .replace("__dot__", ".")
        .replace("__dash__", "-")
        .replace("__slash__", "/")
}
