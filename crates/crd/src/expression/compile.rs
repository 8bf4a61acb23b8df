//! Compiles rules: those of CRDs, and those over a bundle's properties.

use std::sync::LazyLock;

use cel::parser::Parser;

use super::{
    checker::Checker,
    cost,
    functions::{CRD_FUNCTIONS, Functions, parse_functions},
    parse_rule, parse_with, schema,
    sizes::{self, Values},
    types::Type,
};
use go_data::yaml::Value;

/// The result of compiling a rule.
#[derive(Debug, Default)]
pub struct Compiled {
    pub faults: Vec<String>,
    pub unchecked: Option<String>,
    /// Its estimated maximum cost; zero unless it compiles.
    pub cost: u64,
}

/// Compiles a rule on values of a schema as an API server does. `result` is the type that it must
/// have: `bool` or `string`.
pub fn compile_crd_rule(
    source: &str,
    (schema, is_resource): (&Value, bool),
    optional_old_self: bool,
    result: &'static str,
) -> Compiled {
    let failed = |fault| Compiled { faults: vec![fault], ..Compiled::default() };
    let ast = match parse_rule(source) {
        Ok(ast) => ast,
        Err(error) => return failed(error),
    };
    let is_resource = is_resource || schema::is_embedded(schema);
    let Some(type_) = schema::type_of(schema, is_resource) else {
        return failed("rules cannot use values without a type".to_owned());
    };
    let old = if optional_old_self { Type::optional(type_.clone()) } else { type_.clone() };
    let scope = vec![("self".to_owned(), type_), ("oldSelf".to_owned(), old)];
    let mut checker = Checker::new(&CRD_FUNCTIONS, scope);
    let type_ = checker.type_of(&ast);
    let is_known = checker.faults.is_empty() && checker.unchecked.is_none();
    if is_known && type_ != Type::Simple(result) {
        checker.faults.push(format!("its result is {type_}, and must be {result}"));
    }
    let cost = if is_known {
        cost::estimate_cost(&ast, &checker, Values::Of(schema, is_resource))
    } else {
        0
    };
    let Checker { faults, unchecked, .. } = checker;
    Compiled { faults, unchecked, cost }
}

/// The functions that rules over properties can call: the standard functions of CEL, and one of OLM's.
static BUNDLE_FUNCTIONS: LazyLock<Functions> = LazyLock::new(|| {
    let mut functions = parse_functions("semver_compare(dyn, dyn) int");
    let crd_functions = parse_functions(include_str!("functions.txt"));
    let is_standard = |name: &str| {
        name.contains(['_', '@']) || STANDARD.contains(&name) || name.starts_with("get")
    };
    functions.extend(crd_functions.into_iter().filter(|function| is_standard(function.0)));
    functions
});

/// The standard functions without operators and without functions of timestamps and durations.
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

/// Compiles a rule over properties. Returns true if it certainly compiles, false if not all of it is checked, and an
/// error if it does not compile.
pub fn compile_bundle_rule(rule: &str) -> Result<bool, String> {
    let ast = parse_with(Parser::default(), rule)?;
    let properties = Type::list(Type::map(Type::Simple("string"), Type::Dyn));
    let mut checker = Checker::new(&BUNDLE_FUNCTIONS, vec![("properties".to_owned(), properties)]);
    checker.is_homogeneous = false;
    let type_ = checker.type_of(&ast);
    match checker.faults.into_iter().next() {
        Some(fault) => Err(fault),
        None if checker.unchecked.is_some() => Ok(false),
        None if type_ == Type::Simple("bool") => Ok(true),
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
        assert_eq!(compile_bundle_rule(rule), Ok(true), "{rule}");
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
        assert!(compile_bundle_rule(rule).is_err(), "{rule}: {:?}", compile_bundle_rule(rule));
    }
    assert_eq!(compile_bundle_rule("int(properties[0].value) % 2 == 0"), Ok(true));
}

#[test]
fn an_expression_is_as_long_as_cel_go_reads() {
    let rule = |size: usize| format!("{}true", " ".repeat(size - 4));
    assert_eq!(compile_bundle_rule(&rule(100_000)), Ok(true));
    let fault = "expression code point size exceeds limit: size: 100001, limit 100000";
    assert_eq!(compile_bundle_rule(&rule(100_001)), Err(fault.to_owned()));
}

/// Returns how many values of a schema fit into a request.
pub fn max_values_per_request(schema: &Value, is_resource: bool) -> u64 {
    let is_resource = is_resource || schema::is_embedded(schema);
    sizes::REQUEST / (Values::Of(schema, is_resource).min_bytes() + 1)
}
