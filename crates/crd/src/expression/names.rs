//! Resolves the names in a rule on a schema: each must be declared, and leads to the schema of its value.

use cel::common::ast::{EntryExpr, Expr, IdedExpr};

use super::{TYPES, parse_rule, schema::unescape_name};
use crate::keyword::{flag, text};
use go_data::yaml::Value;

/// Returns true if a rule compares a value with the one before it.
pub fn uses_old_self(source: &str) -> bool {
    let mut names = NameChecker::new(&Value::Null);
    parse_rule(source).is_ok_and(|ast| {
        names.visit(&ast);
        names.faults.iter().any(|fault| fault.contains("`oldSelf`"))
    })
}

/// Visits a rule with the names in scope, and collects its faults and the schemas that it reads or compares.
pub struct NameChecker<'a> {
    /// Each name with the schema of its value where that is known.
    scope: Vec<(String, Option<&'a Value>)>,
    pub faults: Vec<String>,
    /// The schemas of values that the rule reads, and of those that it compares or adds.
    pub read: Vec<&'a Value>,
    pub compared: Vec<&'a Value>,
}

/// NameChecker that a function's name begins with, besides those of types.
const NAMESPACES: &[&str] = &[
    "base64",
    "cidr",
    "format",
    "ip",
    "kubernetes",
    "math",
    "net",
    "optional",
    "semver",
    "sets",
    "strings",
];

/// Operators whose result depends on all of a value.
const COMPARISONS: &[&str] = &["_==_", "_!=_", "_+_", "@in"];

impl<'a> NameChecker<'a> {
    pub fn new(schema: &'a Value) -> Self {
        let schema = Some(schema).filter(|schema| !schema.is_null());
        let scope = vec![("self".to_owned(), schema)];
        Self { scope, faults: Vec::new(), read: Vec::new(), compared: Vec::new() }
    }

    pub fn declare_name(&mut self, name: &str) {
        self.scope.push((name.to_owned(), None));
    }

    /// Visits an expression, and returns the schema of its value, if that is known.
    pub fn visit(&mut self, expr: &IdedExpr) -> Option<&'a Value> {
        let found = self.schema_of(expr);
        if !matches!(&expr.expr, Expr::Select(it) if it.test) {
            self.read.extend(found);
        }
        found
    }

    fn schema_of(&mut self, expr: &IdedExpr) -> Option<&'a Value> {
        match &expr.expr {
            Expr::Ident(name) => match self.scope.iter().rev().find(|(it, _)| it == name) {
                Some((_, schema)) => *schema,
                None => {
                    if !name.starts_with('@')
                        && ![TYPES, NAMESPACES].concat().contains(&name.as_str())
                    {
                        self.report(format!("there is no variable `{name}`"));
                    }
                    None
                }
            },
            Expr::Select(it) => {
                let of = self.visit(&it.operand)?;
                self.schema_of_field(of, &it.field)
            }
            Expr::Call(it) => {
                let target = it.target.as_ref().and_then(|target| self.visit(target));
                let values: Vec<_> = it.args.iter().map(|arg| self.visit(arg)).collect();
                if COMPARISONS.contains(&it.func_name.as_str()) {
                    self.compared.extend(values.iter().flatten());
                }
                match (it.func_name.as_str(), &values[..]) {
                    ("_[_]", [of, _]) => of.and_then(item_schema),
                    ("filter", _) => target,
                    _ => None,
                }
            }
            Expr::Comprehension(it) => {
                let range = self.visit(&it.iter_range);
                self.visit(&it.accu_init);
                let depth = self.scope.len();
                let list = range.is_some_and(|schema| text(schema, "type") == "array");
                // Over a map, the variable is a key; with two variables, the second is the item.
                let (one, two) = match &it.iter_var2 {
                    None => (range.filter(|_| list).and_then(item_schema), None),
                    Some(_) => (None, range.and_then(item_schema)),
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

    fn schema_of_field(&mut self, of: &'a Value, field: &str) -> Option<&'a Value> {
        let name = unescape_name(field);
        if let Some(found) = of.get("properties").and_then(|properties| properties.get(&name)) {
            return Some(found);
        }
        // Any name is a key of a map; nothing is known about a value with unknown fields.
        if let Some(more) = of.get("additionalProperties") {
            return Some(more).filter(|schema| schema.is_object());
        }
        let embedded = flag(of, "x-kubernetes-embedded-resource");
        let root = ["apiVersion", "kind", "metadata"].contains(&name.as_str());
        let known = text(of, "type") == "object" && !flag(of, "x-kubernetes-int-or-string");
        // The schema's top has these without saying so; the fields of `metadata` that rules may use are not checked.
        if known && !(root || embedded) {
            self.report(format!("there is no field `{name}`"));
        }
        None
    }

    fn report(&mut self, what: String) {
        if !self.faults.contains(&what) {
            self.faults.push(what);
        }
    }
}

/// Returns the schema of a list's items or of a map's values.
fn item_schema(of: &Value) -> Option<&Value> {
    of.get("items").or_else(|| of.get("additionalProperties")).filter(|schema| schema.is_object())
}
