//! Evaluates a rule on a value as an API server does, or not at all: a rule is not evaluated if it uses something that
//! is not supported here, or if its result may differ.

use std::sync::Arc;

use cel::{
    Context, Env, ExecutionError, Program, Value as Cel,
    common::{
        ast::{EntryExpr, Expr, IdedExpr},
        types::{CelBool, CelOptional, CelString},
    },
    objects::{Key, Map},
};

use super::{
    budget::{self, Budget},
    names, parse_rule, regex, schema,
};
use crate::keyword::flag;
use go_data::yaml::Value;

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Bool(bool),
    Text(String),
    /// An API server cannot evaluate the rule either, and refuses the object.
    Error(String),
    /// The rule is not evaluated, for this reason.
    Unknown(String),
    /// The steps of this evaluator are used up.
    TooLong,
}

/// Functions that evaluate here as they do in an API server.
const FUNCTIONS: &[&str] = &[
    "_&&_",
    "_||_",
    "!_",
    "_?_:_",
    "_==_",
    "_!=_",
    "_<_",
    "_<=_",
    "_>_",
    "_>=_",
    "_+_",
    "_-_",
    "_*_",
    "_/_",
    "_%_",
    "-_",
    "_[_]",
    "_[?_]",
    "_?._",
    "@in",
    "@not_strictly_false",
    "bool",
    "charAt",
    "contains",
    "double",
    "dyn",
    "endsWith",
    "hasValue",
    "indexOf",
    "int",
    "join",
    "lastIndexOf",
    "lowerAscii",
    "matches",
    "none",
    "of",
    "or",
    "orValue",
    "optional.none",
    "optional.of",
    "replace",
    "size",
    "split",
    "startsWith",
    "string",
    "substring",
    "trim",
    "type",
    "uint",
    "upperAscii",
    "value",
];

pub struct Evaluator {
    env: Arc<Env>,
    budget: Budget,
}

impl Default for Evaluator {
    fn default() -> Self {
        let mut env = Env::stdlib();
        let extended = cel::extensions::strings(&mut env).and_then(|()| add_matches(&mut env));
        debug_assert!(extended.is_ok(), "no function is declared twice");
        Self { env: Arc::new(env), budget: Budget::default() }
    }
}

impl Evaluator {
    /// Gives the evaluator all its steps again.
    pub fn refill_budget(&self) {
        self.budget.refill();
    }

    pub fn is_exhausted(&self) -> bool {
        self.budget.is_spent()
    }

    /// Evaluates a rule on a value that is valid by the schema. Without an old value, `oldSelf` is `optional.none()`.
    pub fn evaluate(&self, source: &str, schema: &Value, value: &Value) -> Outcome {
        if self.budget.take_steps(budget::count_parts(value).saturating_add(source.len())).is_none()
        {
            return Outcome::TooLong;
        }
        let ast = match parse_rule(source) {
            Ok(ast) => ast,
            Err(error) => return Outcome::Unknown(error),
        };
        if let Some(why) = find_unsupported(&ast, schema) {
            return Outcome::Unknown(why);
        }
        let program = match self.env.compile(source) {
            Ok(program) => program,
            Err(error) => return Outcome::Unknown(error.to_string()),
        };
        let Some(value) = convert_value(value, schema) else {
            return Outcome::Unknown("it reads a value that does not match the schema".to_owned());
        };
        self.run_program(&program, value)
    }

    fn run_program(&self, program: &Program, value: Cel) -> Outcome {
        let mut context = Context::with_env(self.env.clone());
        let mut expression = program.expression().clone();
        if let Err(error) = self.budget.charge_loops(&mut expression, &mut context) {
            return Outcome::Unknown(error.to_string());
        }
        context.add_variable_from_value("self", value);
        context.add_variable_as_val("oldSelf", Box::new(CelOptional::none()));
        let result = context.resolve(&expression);
        // Operators such as `||` ignore the error of one side.
        if self.budget.is_spent() {
            return Outcome::TooLong;
        }
        match result {
            Ok(Cel::Bool(it)) => Outcome::Bool(it),
            Ok(Cel::String(it)) => Outcome::Text(it.to_string()),
            Ok(other) => Outcome::Unknown(format!("its result is a {}", other.type_of())),
            Err(
                error @ (ExecutionError::NoSuchKey(_)
                | ExecutionError::IndexOutOfBounds(_)
                | ExecutionError::DivisionByZero(_)
                | ExecutionError::RemainderByZero(_)
                | ExecutionError::Overflow(..)),
            ) => Outcome::Error(error.to_string()),
            Err(error) => Outcome::Unknown(error.to_string()),
        }
    }
}

/// Returns the part of a rule that cannot be evaluated as an API server does.
fn find_unsupported(ast: &IdedExpr, schema: &Value) -> Option<String> {
    let mut names = names::NameChecker::new(schema);
    names.declare_name("oldSelf");
    names.visit(ast);
    if let Some(fault) = names.faults.first() {
        return Some(fault.clone());
    }
    let is_time = |value: &Value| {
        let format = value.get("format").and_then(Value::as_str).unwrap_or_default();
        matches!(format, "byte" | "date" | "date-time" | "duration")
    };
    if names.read.iter().any(|schema| is_time(schema))
        || names.compared.iter().any(|schema| any_schema(schema, &is_time))
    {
        return Some("it reads a date, a duration or bytes".to_owned());
    }
    // Lists of these types are compared and added without regard to their order.
    let is_unordered = |value: &Value| {
        let kind = value.get("x-kubernetes-list-type").and_then(Value::as_str);
        matches!(kind, Some("map" | "set"))
    };
    if names.compared.iter().any(|schema| any_schema(schema, &is_unordered)) {
        return Some("it compares or adds lists of the type `set` or `map`".to_owned());
    }
    let function = unknown_function(ast)?;
    Some(format!("`{function}` is not evaluated by operator-rs"))
}

/// Returns true if `fits` returns true for a schema or one in it.
fn any_schema(schema: &Value, fits: &impl Fn(&Value) -> bool) -> bool {
    let inner = ["properties", "items", "additionalProperties"].map(|keyword| schema.get(keyword));
    fits(schema)
        || match inner {
            [Some(Value::Object(all)), ..] => all.values().any(|schema| any_schema(schema, fits)),
            [_, Some(one), _] | [_, _, Some(one)] => any_schema(one, fits),
            _ => false,
        }
}

fn unknown_function(expression: &IdedExpr) -> Option<String> {
    let first = |all: &[&IdedExpr]| all.iter().find_map(|expression| unknown_function(expression));
    match &expression.expr {
        Expr::Call(call) => {
            let regex = call.args.last().map(|arg| &arg.expr);
            if call.func_name == "matches" && !matches!(regex, Some(Expr::Literal(_))) {
                return Some("matches".to_owned());
            }
            if !FUNCTIONS.contains(&call.func_name.as_str()) {
                return Some(call.func_name.clone());
            }
            call.target.as_deref().into_iter().chain(&call.args).find_map(unknown_function)
        }
        Expr::Select(it) => unknown_function(&it.operand),
        Expr::List(it) => it.elements.iter().find_map(unknown_function),
        Expr::Map(it) => it.entries.iter().find_map(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => first(&[&entry.key, &entry.value]),
            EntryExpr::StructField(_) => Some("a message".to_owned()),
        }),
        Expr::Comprehension(it) if it.iter_var2.is_some() => {
            Some("a macro of two variables".to_owned())
        }
        Expr::Comprehension(it) => {
            first(&[&it.iter_range, &it.accu_init, &it.loop_cond, &it.loop_step, &it.result])
        }
        Expr::Struct(_) => Some("a message".to_owned()),
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => None,
    }
}

/// Converts a value to that of a rule; none if it does not match the schema.
fn convert_value(value: &Value, schema: &Value) -> Option<Cel> {
    if value.is_null() {
        return flag(schema, "nullable").then_some(Cel::Null);
    }
    if flag(schema, "x-kubernetes-int-or-string") {
        return value.as_i64().map(Cel::Int).or_else(|| value.as_str().map(Cel::from));
    }
    match (schema.get("type").and_then(Value::as_str)?, value) {
        ("object", Value::Object(map)) => {
            let mut entries = Vec::new();
            for (key, value) in map {
                let (key, schema) = match schema.get("properties") {
                    // An optional field that is null is absent.
                    Some(_) if value.is_null() => continue,
                    Some(properties) => match properties.get(key) {
                        Some(schema) => (schema::escape_name(key), schema),
                        None => continue,
                    },
                    None => match schema.get("additionalProperties") {
                        Some(schema) => (key.clone(), schema),
                        None => continue,
                    },
                };
                // Rules cannot read a value without a type.
                if schema.get("type").is_some()
                    || schema.get("x-kubernetes-int-or-string").is_some()
                {
                    entries.push((Key::from(key), convert_value(value, schema)?));
                }
            }
            Some(Cel::Map(Map { map: Arc::new(entries.into_iter().collect()) }))
        }
        ("array", Value::Array(items)) => {
            let schema = schema.get("items")?;
            let items: Option<Vec<Cel>> =
                items.iter().map(|item| convert_value(item, schema)).collect();
            Some(Cel::List(Arc::new(items?)))
        }
        ("string", Value::String(text)) => Some(Cel::from(text.as_str())),
        ("boolean", Value::Bool(it)) => Some(Cel::Bool(*it)),
        ("integer", Value::Number(it)) => it.as_i64().map(Cel::Int),
        ("number", Value::Number(it)) => it.as_f64().map(Cel::Float),
        _ => None,
    }
}

fn add_matches(env: &mut Env) -> Result<(), cel::DeclarationError> {
    cel::add_member_overload!(env, fn matches: (CelString, CelString) -> Result<CelBool>)?;
    cel::add_overload!(env, fn matches: (CelString, CelString) -> Result<CelBool>)
}

fn matches(text: &CelString<'_>, regex: &CelString<'_>) -> Result<CelBool, ExecutionError> {
    match regex::is_match(regex.inner(), text.inner()) {
        Some(found) => Ok(CelBool::from(found)),
        None => Err(ExecutionError::function_error("matches", "unsupported regular expression")),
    }
}
