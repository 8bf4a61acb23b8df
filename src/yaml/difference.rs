//! Where two objects differ.

use super::Value;

/// The first place where two values differ, and both values there.
pub fn difference(one: &Value, other: &Value) -> (String, String, String) {
    below(String::new(), one, other)
}

fn below(at: String, one: &Value, other: &Value) -> (String, String, String) {
    let nothing = || "nothing".to_owned();
    let step = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys()) {
                match (left.get(key), right.get(key)) {
                    (Some(one), Some(other)) if one == other => {}
                    (Some(one), Some(other)) => return below(step(key), one, other),
                    (Some(one), None) => return (step(key), one.to_string(), nothing()),
                    (None, Some(other)) => return (step(key), nothing(), other.to_string()),
                    (None, None) => {}
                }
            }
            (at, nothing(), nothing())
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let found = left.iter().zip(right).enumerate().find(|(_, (one, other))| one != other);
            match found {
                Some((index, (one, other))) => below(format!("{at}[{index}]"), one, other),
                None => (at, nothing(), nothing()),
            }
        }
        _ => (at, one.to_string(), other.to_string()),
    }
}

#[test]
fn the_first_difference_is_named_by_its_path() {
    use super::json;
    let check = |one: Value, other: Value, expected: (&str, &str, &str)| {
        let (at, one, other) = difference(&one, &other);
        assert_eq!((at.as_str(), one.as_str(), other.as_str()), expected);
    };
    check(json!({ "a": [{ "b": 1 }] }), json!({ "a": [{ "b": 2 }] }), ("a[0].b", "1", "2"));
    check(json!({ "a": 1 }), json!({ "a": 1, "b": "x" }), ("b", "nothing", "\"x\""));
    check(json!([1]), json!([1, 2]), ("", "[1]", "[1,2]"));
}
