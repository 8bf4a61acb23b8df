//! Finds the path of a field from the line and column in an error of serde. (The crate that does this wraps the whole
//! deserializer.)

/// Returns the path of the value that ends at this position in valid JSON, or of the object or list that begins there.
pub fn path_at(json: &[u8], line: usize, column: usize) -> String {
    let start =
        json.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum::<usize>();
    let json = &json[..json.len().min(start + column)];
    // The current key or index in each object or list that is still open.
    let mut open: Vec<PathStep> = vec![];
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'{' => open.push(PathStep::Key(None)),
            b'[' => open.push(PathStep::Index(0)),
            b'}' | b']' if at + 1 < json.len() => drop(open.pop()),
            b',' => match open.last_mut() {
                Some(PathStep::Index(index)) => *index += 1,
                Some(key) => *key = PathStep::Key(None),
                None => {}
            },
            b'"' => {
                let begin = at;
                at += 1;
                while json.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if json[at] == b'\\' { 2 } else { 1 };
                }
                if let Some(PathStep::Key(key @ None)) = open.last_mut() {
                    *key = json.get(begin..=at).and_then(|quoted| serde_json::from_slice(quoted).ok());
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
            PathStep::Key(None) => {}
            PathStep::Key(Some(key)) if path.is_empty() => path = key,
            PathStep::Key(Some(key)) => path = format!("{path}.{key}"),
            PathStep::Index(index) => path = format!("{path}[{index}]"),
        }
    }
    path
}

enum PathStep {
    Key(Option<String>),
    Index(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, upto: &str, expected: &str) {
        let end = json.find(upto).unwrap() + upto.len();
        let line = json[..end].matches('\n').count() + 1;
        let column = end - json[..end].rfind('\n').map_or(0, |newline| newline + 1);
        assert_eq!(path_at(json.as_bytes(), line, column), expected, "{json} {upto}");
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
