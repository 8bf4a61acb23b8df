//! Tables in TOML files.

use toml::{Table, Value, de::DeTable};

use super::{Content, Entry, Fault, Gap, position_of, whole_lines};

/// Returns the place of the only table.
pub fn only_table(fragment: &str) -> Result<String, Fault> {
    let table: Table = fragment.parse().map_err(|error| parse_fault(&error))?;
    Ok(table.keys().next().cloned().unwrap_or_default())
}

pub fn parse_content(text: &str, table: &str) -> Result<Option<Content>, Fault> {
    let mut file: Table = text.parse().map_err(|error| parse_fault(&error))?;
    let Some(Value::Table(data)) = file.insert(table.to_owned(), Value::Boolean(true)) else {
        return Ok(None);
    };
    let spans = DeTable::parse(text).map_err(|error| parse_fault(&error))?;
    let spans = spans.get_ref().get(table).and_then(|span| span.get_ref().as_table());
    let mut entries = Vec::new();
    for (key, value) in spans.into_iter().flatten() {
        let name = key.get_ref().to_string();
        let Some(data) = data.get(&name) else { continue };
        let range = key.span().start..value.span().end;
        let (line, column) = position_of(text, range.start);
        let lines = whole_lines(text, &range, "#");
        entries.push(Entry {
            data: format!("{name} = {data}"),
            form: match data {
                Value::String(_) => format!("{name} = \"\""),
                _ => format!("{name} = {data}"),
            },
            names: vec![name.clone()],
            defines: vec![name],
            line,
            column,
            lines: lines.map(|pair| pair.0),
            // An array may have comments between its items.
            has_comment: lines.is_some_and(|pair| pair.1 || pair.0.0 + 1 < pair.0.1),
        });
    }
    Ok(Some(Content { rest: format!("{file:?}"), entries, gap: Gap::Nothing }))
}

fn parse_fault(error: &toml::de::Error) -> Fault {
    let message = error.message().to_owned();
    Fault::Byte(message, error.span().map_or(0, |span| span.start))
}
