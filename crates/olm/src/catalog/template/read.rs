//! The document of a template.

use super::super::{document, go};
use diagnostics::Diagnostic;
use go_data::yaml::{self, Dialect, Map, Value};

pub struct TemplateDocument {
    title: String,
    line: usize,
    pub map: Map<String, Value>,
}

/// Parses the first document. Others are refused, as they would be ignored.
pub fn parse_document(bytes: &[u8], title: &str) -> anyhow::Result<TemplateDocument> {
    let fault = |position: (usize, usize), message: String| {
        Diagnostic::in_file(title, message).at_position(position.0, position.1).into_error()
    };
    let documents =
        document::parse_documents(bytes, document::WINDOW_OF_CATALOGS).map_err(|problem| {
            fault(problem.position, format!("decoding template input: {}", problem.message))
        })?;
    if let Some(duplicate) = find_duplicate_key(bytes) {
        let error = Diagnostic::in_file(title, duplicate.message)
            .at_position(duplicate.mark.line, duplicate.mark.column);
        return Err(error
            .with_hint("what it held before would be ignored: keep one of them")
            .into_error());
    }
    let mut documents = documents.into_iter();
    let Some(first) = documents.next() else {
        return Err(fault((1, 1), "decoding template input: EOF".to_owned()));
    };
    if let Some(second) = documents.next() {
        return Err(fault(
            (second.line, 1),
            "a template is one document: this one would be ignored".to_owned(),
        ));
    }
    match first.value {
        Value::Object(map) => {
            Ok(TemplateDocument { title: title.to_owned(), line: first.line, map })
        }
        it => {
            let what = go::describe_type(&it);
            Err(fault(
                (first.line, 1),
                format!("unmarshalling template: this is {what}, not an object"),
            ))
        }
    }
}

/// Finds a key that occurs twice in one mapping: `opm` refuses it, too.
fn find_duplicate_key(bytes: &[u8]) -> Option<yaml::YamlError> {
    let text = std::str::from_utf8(bytes).ok()?;
    yaml::parse_numbered_documents(text, Dialect::Kubernetes).ok()?;
    yaml::parse_numbered_documents(text, Dialect::Strict).err()
}

impl TemplateDocument {
    pub fn fault(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::in_file(&self.title, message).at_position(self.line, 1)
    }

    pub fn text(&self, name: &str) -> anyhow::Result<String> {
        match go::find_field(&self.map, name) {
            None => Ok(String::new()),
            Some(Value::String(it)) => Ok(it.clone()),
            Some(value) => Err(self.type_error(name, value, "a string")),
        }
    }

    pub fn type_error(&self, name: &str, value: &Value, expected: &str) -> anyhow::Error {
        self.fault(format!("`{name}` is {}, not {expected}", go::describe_type(value))).into_error()
    }
}
