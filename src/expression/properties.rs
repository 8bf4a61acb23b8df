//! A CEL rule over a bundle's properties: whether it compiles, as far as its types are known here.

use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, LiteralValue};
use cel::parser::Parser;

use super::{TYPES, parse_with};

#[derive(Clone, Debug, PartialEq)]
enum Type {
    Any,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Null,
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
}
use Type::{Any, Bool, Bytes, Double, Int, List, Map, Null, Text, Uint};

enum Fault {
    Wrong(String),
    /// A function or a type that is not known here.
    Unknown,
}

/// Whether the rule compiles for certain: false where its types are not all known; an error where it does not.
pub fn compiles(rule: &str) -> Result<bool, String> {
    let ast = parse_with(Parser::default(), rule)?;
    let property = Map(Box::new(Text), Box::new(Any));
    let mut names = vec![("properties".to_owned(), List(Box::new(property)))];
    match type_of(&ast, &mut names) {
        Ok(Bool) => Ok(true),
        Ok(_) => Err("cel expressions must have type Bool".to_owned()),
        Err(Fault::Unknown) => Ok(false),
        Err(Fault::Wrong(why)) => Err(why),
    }
}

type Names = Vec<(String, Type)>;

fn type_of(expression: &IdedExpr, names: &mut Names) -> Result<Type, Fault> {
    match &expression.expr {
        Expr::Ident(name) => match names.iter().rev().find(|it| it.0 == *name) {
            Some((_, type_)) => Ok(type_.clone()),
            None if TYPES.contains(&name.as_str()) => Err(Fault::Unknown),
            None => Err(Fault::Wrong(format!("undeclared reference to `{name}`"))),
        },
        Expr::Literal(literal) => Ok(match literal {
            LiteralValue::Boolean(_) => Bool,
            LiteralValue::Bytes(_) => Bytes,
            LiteralValue::Double(_) => Double,
            LiteralValue::Int(_) => Int,
            LiteralValue::Null => Null,
            LiteralValue::String(_) => Text,
            LiteralValue::UInt(_) => Uint,
        }),
        Expr::Select(select) => {
            let found = match type_of(&select.operand, names)? {
                Any => Any,
                Map(key, value) if *key == Text || *key == Any => *value,
                _ => {
                    return Err(Fault::Wrong(format!(
                        "a type that has no field `{}`",
                        select.field
                    )));
                }
            };
            Ok(if select.test { Bool } else { found })
        }
        Expr::List(list) => {
            let mut item = None;
            for it in &list.elements {
                let type_ = type_of(it, names)?;
                item = Some(if item.as_ref().is_none_or(|it| *it == type_) { type_ } else { Any });
            }
            Ok(List(Box::new(item.unwrap_or(Any))))
        }
        Expr::Call(call) => called(call, names),
        Expr::Comprehension(it) => comprehension(it, names),
        Expr::Map(_) | Expr::Struct(_) | Expr::Unspecified => Err(Fault::Unknown),
    }
}

fn comprehension(it: &ComprehensionExpr, names: &mut Names) -> Result<Type, Fault> {
    let item = match type_of(&it.iter_range, names)? {
        List(item) => *item,
        Map(key, _) => *key,
        Any => Any,
        _ => {
            return Err(Fault::Wrong(
                "a comprehension over what is neither a list nor a map".to_owned(),
            ));
        }
    };
    if it.iter_var2.is_some() {
        return Err(Fault::Unknown);
    }
    let start = type_of(&it.accu_init, names)?;
    names.push((it.accu_var.clone(), start));
    names.push((it.iter_var.clone(), item));
    let checked = type_of(&it.loop_cond, names).and_then(|_| type_of(&it.loop_step, names));
    names.pop();
    names.pop();
    names.push((it.accu_var.clone(), checked?));
    let res = type_of(&it.result, names);
    names.pop();
    res
}

fn called(call: &CallExpr, names: &mut Names) -> Result<Type, Fault> {
    let mut types = Vec::new();
    for it in call.target.as_deref().into_iter().chain(&call.args) {
        types.push(type_of(it, names)?);
    }
    let name = call.func_name.as_str();
    let wrong = || Err(Fault::Wrong(format!("found no matching overload for `{name}`")));
    let is = |type_: &Type, wanted: &Type| type_ == wanted || *type_ == Any;
    let all = |wanted: &Type| types.iter().all(|it| is(it, wanted));
    match (name, &types[..]) {
        ("_&&_" | "_||_" | "!_" | "@not_strictly_false", _) if all(&Bool) => Ok(Bool),
        ("_?_:_", [test, one, other]) if is(test, &Bool) => {
            if one == other {
                Ok(one.clone())
            } else if *one == Any || *other == Any {
                Ok(Any)
            } else {
                wrong()
            }
        }
        ("_==_" | "_!=_", [one, other]) if is_comparable(one, other) => Ok(Bool),
        ("_<_" | "_<=_" | "_>_" | "_>=_", [one, other]) => {
            let is_ordered = |it: &Type| !matches!(it, List(_) | Map(..) | Null);
            if is_ordered(one) && is_ordered(other) && is_comparable(one, other) {
                Ok(Bool)
            } else {
                wrong()
            }
        }
        ("@in", [_, Any]) => Ok(Bool),
        ("@in", [one, List(item) | Map(item, _)]) if is_comparable(one, item) => Ok(Bool),
        ("_[_]", [Any, _]) => Ok(Any),
        ("_[_]", [List(item), at]) if is(at, &Int) => Ok((**item).clone()),
        ("_[_]", [Map(key, value), at]) if is_comparable(key, at) => Ok((**value).clone()),
        ("_+_", [List(one), List(other)]) => {
            Ok(List(if one == other { one.clone() } else { Box::new(Any) }))
        }
        ("_+_" | "_-_" | "_*_" | "_/_", [one, other]) => match (one, other) {
            (Int | Uint | Double, _) if is(other, one) => Ok(one.clone()),
            (Any, Int | Uint | Double) => Ok(other.clone()),
            (Text | Bytes, _) if name == "_+_" && is(other, one) => Ok(one.clone()),
            (Any, Text | Bytes) if name == "_+_" => Ok(other.clone()),
            (Any, Any) => Ok(Any),
            (Any, _) | (_, Any) => Err(Fault::Unknown),
            _ => wrong(),
        },
        ("semver_compare", [_, _]) if call.target.is_none() => Ok(Int),
        ("startsWith" | "endsWith" | "contains", [_, _]) if call.target.is_some() && all(&Text) => {
            Ok(Bool)
        }
        ("matches", [_, _]) if all(&Text) => Ok(Bool),
        ("size", [Text | Bytes | List(_) | Map(..) | Any]) => Ok(Int),
        (known, _) if KNOWN.contains(&known) => wrong(),
        (other, _) if STANDARD.contains(&other) => Err(Fault::Unknown),
        _ => Err(Fault::Wrong(format!("undeclared reference to `{name}`"))),
    }
}

/// Functions of which every use is above.
const KNOWN: &[&str] = &[
    "_&&_",
    "_||_",
    "!_",
    "@not_strictly_false",
    "_?_:_",
    "_==_",
    "_!=_",
    "@in",
    "_[_]",
    "semver_compare",
    "startsWith",
    "endsWith",
    "contains",
    "matches",
    "size",
];

/// Functions whose types are not looked at.
const STANDARD: &[&str] = &[
    "_%_",
    "-_",
    "bool",
    "bytes",
    "double",
    "duration",
    "dyn",
    "int",
    "string",
    "timestamp",
    "type",
    "uint",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
];

fn is_comparable(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Any, _) | (_, Any) => true,
        (List(one), List(other)) => is_comparable(one, other),
        (Map(a, b), Map(c, d)) => is_comparable(a, c) && is_comparable(b, d),
        _ => one == other,
    }
}

#[test]
fn rules_are_told_from_what_does_not_compile() {
    for rule in [
        "properties.exists(p, p.type == 'certified')",
        "properties.exists(p, p.type == 'olm.package' && semver_compare(p.value.version, '1.0.0') >= 0)",
        "properties.all(p, has(p.value) || size(p.type) > 2)",
        "properties.filter(p, p.type.startsWith('olm.')).size() == 1",
        "properties.map(p, p.type)[0] in ['a', 'b']",
    ] {
        assert_eq!(compiles(rule), Ok(true), "{rule}");
    }
    for rule in [
        "",
        "properties.exists(p, p.type ==)",
        "other == 1",
        "1 + 1",
        "properties == 1",
        "properties.exists(p, p)[0]",
        "properties[0].type",
        "foo(1)",
        "1 == 'a'",
    ] {
        assert!(compiles(rule).is_err(), "{rule}: {:?}", compiles(rule));
    }
    assert_eq!(compiles("int(properties[0].value) % 2 == 0"), Ok(false));
}
