//! The path of a field from the place in the text that serde's errors give. (A crate for it wraps the whole
//! deserializer.)

/// The path of the value that ends, or begins as an object or list, at this place in valid JSON.
pub fn path(json: &[u8], line: usize, column: usize) -> String {
    let start = json.split_inclusive(|it| *it == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum::<usize>();
    let json = &json[..json.len().min(start + column)];
    // For each open object or list, where in it this is.
    let mut open: Vec<Step> = vec![];
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'{' => open.push(Step::Key(None)),
            b'[' => open.push(Step::Index(0)),
            b'}' | b']' if at + 1 < json.len() => drop(open.pop()),
            b',' => match open.last_mut() {
                Some(Step::Index(it)) => *it += 1,
                Some(key) => *key = Step::Key(None),
                None => {}
            },
            b'"' => {
                let begin = at;
                at += 1;
                while json.get(at).is_some_and(|it| *it != b'"') {
                    at += if json[at] == b'\\' { 2 } else { 1 };
                }
                if let Some(Step::Key(key @ None)) = open.last_mut() {
                    *key = json.get(begin..=at).and_then(|it| serde_json::from_slice(it).ok());
                }
            }
            _ => {}
        }
        at += 1;
    }
    if matches!(json.last(), Some(b'{' | b'[' | b'}' | b']')) {
        open.pop();
    }
    let mut path = String::new();
    for step in open {
        match step {
            Step::Key(None) => {}
            Step::Key(Some(key)) if path.is_empty() => path = key,
            Step::Key(Some(key)) => path = format!("{path}.{key}"),
            Step::Index(index) => path = format!("{path}[{index}]"),
        }
    }
    path
}

enum Step {
    Key(Option<String>),
    Index(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, upto: &str, expected: &str) {
        let end = json.find(upto).unwrap() + upto.len();
        let line = json[..end].matches('\n').count() + 1;
        let column = end - json[..end].rfind('\n').map_or(0, |it| it + 1);
        assert_eq!(path(json.as_bytes(), line, column), expected, "{json} {upto}");
    }

    #[test]
    fn a_place_is_the_path_of_the_value_there() {
        let json = r#"{"a":{"b":[1,{"c":"x, \"]}","d":[]}],"e":true},"f":{}}"#;
        check(json, r#""a":{"#, "a");
        check(json, r#""b":[1"#, "a.b[0]");
        check(json, r#""c":"x, \"]}""#, "a.b[1].c");
        check(json, r#""d":["#, "a.b[1].d");
        check(json, r#"[]}"#, "a.b[1]");
        check(json, r#"[]}]"#, "a.b");
        check(json, r#"true"#, "a.e");
        check(json, r#""f":{}"#, "f");
        check("{\n  \"a\": {\n    \"b\": 3\n  }\n}", "3", "a.b");
        check("{}", "{}", "");
    }
}
