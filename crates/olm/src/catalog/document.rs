//! Reads files like Go's `YAMLOrJSONDecoder`: JSON values one after another, or YAML documents.

use go_data::yaml::{self, Value};

/// One document, and the line that it begins on.
pub struct Document {
    pub line: usize,
    /// `null` where it has no content.
    pub value: Value,
}

/// An error in a document.
#[derive(Debug)]
pub struct Fault {
    /// Line and column; the column is 1 where it is not known.
    pub position: (usize, usize),
    pub message: String,
}

/// The number of bytes that Go reads to detect JSON.
pub const WINDOW_OF_CATALOGS: usize = 4096;
const WINDOW_OF_MANIFESTS: usize = 30;

/// Returns the first document of a manifest, and whether others follow it. Registries ignore those.
pub fn first_document(bytes: &[u8]) -> Result<Option<(Value, bool)>, Fault> {
    let mut parsed = parse_documents(bytes, WINDOW_OF_MANIFESTS)?.into_iter();
    let first = parsed.next();
    Ok(first.map(|document| (document.value, parsed.next().is_some())))
}

/// Parses all documents of a file.
pub fn parse_documents(bytes: &[u8], window: usize) -> Result<Vec<Document>, Fault> {
    let mut parsed = Vec::new();
    for_each_document(bytes, window, &mut |document| parsed.push(document))?;
    Ok(parsed)
}

/// Calls `document` for each document of a file, also for those before an error.
pub fn for_each_document(
    bytes: &[u8],
    window: usize,
    document: &mut dyn FnMut(Document),
) -> Result<(), Fault> {
    let text = diagnostics::utf8_or_position(bytes)
        .map_err(|position| Fault { position, message: "this is not UTF-8".to_owned() })?;
    let start = text.trim_start();
    let is_json = start.starts_with('{') && text.len() - start.len() < window;
    if !is_json {
        return yaml_documents(text, 0, document);
    }
    let mut count = 0;
    let (mut at, mut newlines) = (text.len() - start.len(), Lines::default());
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            None => return Ok(()),
            Some(Ok(value)) => {
                document(Document { line: newlines.line_at(text, at + blank), value });
                count += 1;
                at += values.byte_offset();
            }
            Some(Err(error)) => {
                let line = newlines.line_at(text, at) - 1;
                // One value may be the first document of YAML; more than one are JSON.
                if count < 2 {
                    let skipped = after_blank_line(rest);
                    let line = newlines.line_at(text, at + skipped) - 1;
                    let mut more = Vec::new();
                    if yaml_documents(&rest[skipped..], line, &mut |parsed| more.push(parsed))
                        .is_ok()
                    {
                        more.into_iter().for_each(document);
                        return Ok(());
                    }
                }
                let position = (line + error.line().max(1), error.column().max(1));
                let message = error.to_string();
                let message = message.split(" at line ").next().unwrap_or_default().to_owned();
                return Err(Fault { position, message });
            }
        }
    }
}

/// Returns the length of the leading white space of a text, at most to the end of the line.
fn after_blank_line(text: &str) -> usize {
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return at + 1,
            c if c.is_whitespace() => {}
            _ => return at,
        }
    }
    text.len()
}

fn yaml_documents(
    text: &str,
    before: usize,
    document: &mut dyn FnMut(Document),
) -> Result<(), Fault> {
    let fault = |fault: yaml::YamlError| Fault {
        position: (before + fault.mark.line.max(1), fault.mark.column.max(1)),
        message: match fault.hint {
            Some(hint) => format!("{}: {hint}", fault.message),
            None => fault.message,
        },
    };
    let mut each = |line, value| document(Document { line: before + line, value });
    yaml::visit_documents(text, &mut each).map_err(fault)
}

/// Counts lines from the last requested position.
#[derive(Default)]
struct Lines {
    at: usize,
    count: usize,
}

impl Lines {
    /// Returns the line of a byte, from 1.
    fn line_at(&mut self, text: &str, at: usize) -> usize {
        self.count += text.as_bytes()[self.at..at].iter().filter(|byte| **byte == b'\n').count();
        self.at = at;
        self.count + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(usize, &str)]) {
        let found = parse_documents(text.as_bytes(), WINDOW_OF_CATALOGS).expect("readable");
        let found: Vec<_> = found.iter().map(|it| (it.line, it.value.to_string())).collect();
        let expected: Vec<_> = expected.iter().map(|it| (it.0, it.1.to_owned())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn json_values_and_yaml_documents_are_distinguished() {
        check("", &[]);
        check("a: 1\n---\nb: 2\n", &[(1, r#"{"a":1}"#), (3, r#"{"b":2}"#)]);
        check(
            "{\"a\": 1}\n\n{\"b\": 2} {\"c\":3}",
            &[(1, r#"{"a":1}"#), (3, r#"{"b":2}"#), (3, r#"{"c":3}"#)],
        );
        check("{\"a\": 1}\n---\nb: 2\n", &[(1, r#"{"a":1}"#), (3, r#"{"b":2}"#)]);
        check("{a: 1}\n---\nb: 2\n", &[(1, r#"{"a":1}"#), (3, r#"{"b":2}"#)]);
        check("# x\n---\na: 1\n", &[(1, "null"), (3, r#"{"a":1}"#)]);
    }

    #[test]
    fn what_is_no_document_has_its_place() {
        let place =
            |text: &[u8]| parse_documents(text, WINDOW_OF_CATALOGS).err().map(|it| it.position);
        assert_eq!(place(b"{\"a\":1}\n{\"a\":1}\n{\"a\"\n"), Some((4, 1)));
        assert_eq!(place(b"a: 1\n\xff"), Some((2, 1)));
        assert_eq!(place(b"a: 1\n---\nb: [\n").map(|it| it.0), Some(4));
    }
}
