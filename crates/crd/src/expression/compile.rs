//! Whether rules compile: those of CRDs, and those over a bundle's properties.

use std::sync::LazyLock;

use cel::parser::Parser;

use super::{
    checker::Checker,
    cost,
    functions::{Functions, OF_CRDS, parse as functions},
    parse, parse_with, schema,
    sizes::{self, Values},
    types::Type,
};
use go_data::yaml::Value;

/// Why a rule does not compile, and what of it is not checked here.
#[derive(Debug, Default)]
pub struct Compiled {
    pub faults: Vec<String>,
    pub unchecked: Option<String>,
    /// Its estimated maximum cost; zero unless it compiles.
    pub cost: u64,
}

/// Compiles a rule on values of a schema as an API server does. `result` is the type that it must
/// have: `bool` or `string`.
pub fn of_crd(
    source: &str,
    (schema, is_resource): (&Value, bool),
    optional_old_self: bool,
    result: &'static str,
) -> Compiled {
    let failed = |it| Compiled { faults: vec![it], ..Compiled::default() };
    let ast = match parse(source) {
        Ok(ast) => ast,
        Err(error) => return failed(error),
    };
    let is_resource = is_resource || schema::is_embedded(schema);
    let Some(type_) = schema::type_of(schema, is_resource) else {
        return failed("rules cannot use values without a type".to_owned());
    };
    let old = if optional_old_self { Type::optional(type_.clone()) } else { type_.clone() };
    let scope = vec![("self".to_owned(), type_), ("oldSelf".to_owned(), old)];
    let mut checker = Checker::new(&OF_CRDS, scope);
    let found = checker.type_of(&ast);
    let is_known = checker.faults.is_empty() && checker.unchecked.is_none();
    if is_known && found != Type::Simple(result) {
        checker.faults.push(format!("its result is {found}, and must be {result}"));
    }
    let cost = match is_known {
        true => cost::of(&ast, &checker, Values::Of(schema, is_resource)),
        false => 0,
    };
    let Checker { faults, unchecked, .. } = checker;
    Compiled { faults, unchecked, cost }
}

/// What rules over properties can call: the standard functions of CEL, and one of OLM's.
static OF_BUNDLES: LazyLock<Functions> = LazyLock::new(|| {
    let mut res = functions("semver_compare(dyn, dyn) int");
    let all = functions(include_str!("functions.txt"));
    let is_standard = |name: &str| {
        name.contains(['_', '@']) || STANDARD.contains(&name) || name.starts_with("get")
    };
    res.extend(all.into_iter().filter(|it| is_standard(it.0)));
    res
});

/// Without operators and those of times.
const STANDARD: &[&str] = &[
    "bool",
    "bytes",
    "contains",
    "double",
    "duration",
    "dyn",
    "endsWith",
    "int",
    "matches",
    "size",
    "startsWith",
    "string",
    "timestamp",
    "type",
    "uint",
];

/// Whether a rule over properties compiles for certain: false where not all of it is checked; an error where it does not.
pub fn compiles(rule: &str) -> Result<bool, String> {
    let ast = parse_with(Parser::default(), rule)?;
    let properties = Type::list(Type::map(Type::Simple("string"), Type::Dyn));
    let mut checker = Checker::new(&OF_BUNDLES, vec![("properties".to_owned(), properties)]);
    checker.is_homogeneous = false;
    let found = checker.type_of(&ast);
    match checker.faults.into_iter().next() {
        Some(fault) => Err(fault),
        None if checker.unchecked.is_some() => Ok(false),
        None if found == Type::Simple("bool") => Ok(true),
        None => Err("cel expressions must have type Bool".to_owned()),
    }
}

#[test]
fn rules_are_distinguished_from_what_does_not_compile() {
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
    assert_eq!(compiles("int(properties[0].value) % 2 == 0"), Ok(true));
}

#[test]
fn an_expression_is_as_long_as_cel_go_reads() {
    let rule = |size: usize| format!("{}true", " ".repeat(size - 4));
    assert_eq!(compiles(&rule(100_000)), Ok(true));
    let fault = "expression code point size exceeds limit: size: 100001, limit 100000";
    assert_eq!(compiles(&rule(100_001)), Err(fault.to_owned()));
}

/// The most times that values of a schema fit into a request.
pub fn times_per_request(schema: &Value, is_resource: bool) -> u64 {
    let is_resource = is_resource || schema::is_embedded(schema);
    sizes::REQUEST / (Values::Of(schema, is_resource).smallest() + 1)
}
