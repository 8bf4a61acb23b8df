//! Changes of YAML and JSON that leave it YAML: a value is another one, is gone, or is there twice.

use serde_yaml::Value;

use crate::random::Random;

pub fn applies(path: &str) -> bool {
    path.ends_with(".yaml") || path.ends_with(".journal") || path == "PROJECT"
}

/// The file with one value changed; nothing where it is not YAML.
pub fn mutate(bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    // A first line that says who has written the file stays.
    let head: String = text.split_inclusive('\n').take_while(|it| it.starts_with('#')).collect();
    let mut value: Value = serde_yaml::from_str(text).ok()?;
    let count = count(&value);
    let at = random.below(count);
    change(&mut value, &mut { at }, random);
    let text = serde_yaml::to_string(&value).ok()?;
    let json = random.one_in(10).then(|| serde_json::to_string(&value).ok()).flatten();
    Some((head + &json.unwrap_or(text)).into_bytes())
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Sequence(list) => list.iter().map(count).sum(),
        Value::Mapping(map) => map.iter().map(|it| count(it.1)).sum(),
        _ => 0,
    }
}

/// Changes the value at this place, as all of them are counted in order.
fn change(value: &mut Value, left: &mut usize, random: &mut Random) -> bool {
    if *left == 0 {
        *value = another(value, random);
        return true;
    }
    *left -= 1;
    match value {
        Value::Sequence(list) => list.iter_mut().any(|it| change(it, left, random)),
        Value::Mapping(map) => map.iter_mut().any(|(_, it)| change(it, left, random)),
        _ => false,
    }
}

fn another(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Sequence(list) if !list.is_empty() && random.one_in(2) => {
            let mut list = list.clone();
            let at = random.below(list.len());
            match random.below(4) {
                0 => drop(list.remove(at)),
                1 => list.insert(at, list[at].clone()),
                2 => list.reverse(),
                _ => list.insert(at, scalar(random)),
            }
            return Value::Sequence(list);
        }
        Value::Mapping(map) if !map.is_empty() && random.one_in(2) => {
            let mut map = map.clone();
            let keys: Vec<Value> = map.keys().cloned().collect();
            let key = random.pick(&keys).clone();
            match random.below(3) {
                0 => drop(map.remove(&key)),
                1 => drop(map.insert(scalar(random), Value::Null)),
                _ => {
                    let moved = map.remove(&key).unwrap_or_default();
                    map.insert(scalar(random), moved);
                }
            }
            return Value::Mapping(map);
        }
        _ => {}
    }
    match random.below(7) {
        0 => Value::Sequence(Vec::new()),
        1 => Value::Mapping(serde_yaml::Mapping::new()),
        2 => Value::Sequence(vec![value.clone(), value.clone()]),
        3 => Value::Mapping([(Value::from("a"), value.clone())].into_iter().collect()),
        4 => (0..1 << random.below(8)).fold(value.clone(), |it, _| Value::Sequence(vec![it])),
        _ => scalar(random),
    }
}

fn scalar(random: &mut Random) -> Value {
    const TEXTS: &[&str] = &[
        "",
        " ",
        "..",
        "../../victim/bashrc",
        "/etc/passwd",
        "\u{1b}[2J",
        "a\nb",
        "a\0b",
        "*",
        "&a",
        "~",
        "🦀",
        "A",
        "a.b",
        "-",
        "1",
        "0x1",
        "true",
        "v1",
        "v1alpha1",
        "Memcached",
        "memcacheds",
        "default",
        "manager",
        "Deployment",
        "apiextensions.k8s.io/v1",
        "https://127.0.0.1:1/",
        "(",
        "$(A)",
        "{{a}}",
    ];
    match random.below(9) {
        0 => Value::Null,
        1 => Value::from(true),
        2 => Value::from(i64::MIN),
        3 => Value::from(u64::MAX),
        4 => Value::from(-0.5),
        5 => Value::from("x".repeat(1 << random.below(17))),
        _ => Value::from(*random.pick(TEXTS)),
    }
}
