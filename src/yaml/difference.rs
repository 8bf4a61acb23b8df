//! Where two values differ.

use super::Value;

/// The first place where two values differ, and what is there in each.
pub fn difference(one: &Value, other: &Value) -> (String, String, String) {
    at(String::new(), one, other)
}

fn at(path: String, one: &Value, other: &Value) -> (String, String, String) {
    let nothing = || "nothing".to_owned();
    let step =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys()) {
                match (left.get(key), right.get(key)) {
                    (Some(one), Some(other)) if one == other => {}
                    (Some(one), Some(other)) => return at(step(key), one, other),
                    (Some(one), None) => return (step(key), one.to_string(), nothing()),
                    (None, Some(other)) => return (step(key), nothing(), other.to_string()),
                    (None, None) => {}
                }
            }
            (path, nothing(), nothing())
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let found = left.iter().zip(right).enumerate().find(|(_, (one, other))| one != other);
            match found {
                Some((index, (one, other))) => at(format!("{path}[{index}]"), one, other),
                None => (path, nothing(), nothing()),
            }
        }
        _ => (path, one.to_string(), other.to_string()),
    }
}

#[test]
fn the_first_difference_has_its_path() {
    let check = |one: Value, other: Value, expected: [&str; 3]| {
        let (path, one, other) = difference(&one, &other);
        assert_eq!([&*path, &*one, &*other], expected);
    };
    let json = |text: &str| super::from_json(text).unwrap();
    check(json("{\"a\":[1,{\"b\":2}]}"), json("{\"a\":[1,{\"b\":3}]}"), ["a[1].b", "2", "3"]);
    check(json("{\"a\":1}"), json("{}"), ["a", "1", "nothing"]);
    check(json("{}"), json("{\"a\":{\"b\":[]}}"), ["a", "nothing", "{\"b\":[]}"]);
}
