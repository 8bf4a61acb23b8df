//! Helm reads every number of a chart's data as a floating-point one.

use super::names::object_title;
use diagnostics::{Diagnostic, Diagnostics};
use go_data::yaml::{Number, Value};

/// Bounds in schemas, which API servers read as floating-point numbers as well.
const FLOATS: &[&str] = &["maximum", "minimum", "multipleOf"];

/// Refuses numbers that would be others after that.
pub fn require_exact(objects: &[Value]) -> anyhow::Result<()> {
    let mut list = Vec::new();
    for object in objects {
        let mut found = Vec::new();
        collect_inexact(object, "", &mut found);
        for (number, key) in found {
            let message = format!(
                "{}: Helm would change the number {number} of `{key}`",
                object_title(object)
            );
            list.push(Diagnostic::from(message).with_hint("use a number up to 2^53, or a string"));
        }
    }
    if list.is_empty() {
        Ok(())
    } else {
        Err(Diagnostics { headline: "the project cannot be turned into a chart".to_owned(), list }
            .into())
    }
}

fn collect_inexact<'a>(value: &'a Value, key: &'a str, found: &mut Vec<(&'a Number, &'a str)>) {
    match value {
        Value::Number(number) if !FLOATS.contains(&key) && !is_exact(number) => {
            found.push((number, key));
        }
        Value::Array(list) => list.iter().for_each(|item| collect_inexact(item, key, found)),
        Value::Object(map) => map.iter().for_each(|(key, item)| collect_inexact(item, key, found)),
        _ => {}
    }
}

fn is_exact(number: &Number) -> bool {
    const EXACT: u64 = 1 << 53;
    number.is_f64()
        || number.as_u64().is_some_and(|number| number <= EXACT)
        || number.as_i64().is_some_and(|number| number.unsigned_abs() <= EXACT)
}

#[test]
fn numbers_up_to_two_to_the_power_of_53_are_exact() {
    let check =
        |number: Number, expected: bool| assert_eq!(is_exact(&number), expected, "{number}");
    check((1_u64 << 53).into(), true);
    check(((1_u64 << 53) + 1).into(), false);
    check((-(1_i64 << 53)).into(), true);
    check(i64::MIN.into(), false);
}
