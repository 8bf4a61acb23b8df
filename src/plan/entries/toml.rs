//! Tables in TOML files.

use toml::{Table, Value, de::DeTable};

use super::{Content, Entry, Fault, Gap, position, whole_lines};

/// The place of the only table.
pub fn place(fragment: &str) -> Result<String, Fault> {
    let table: Table = fragment.parse().map_err(|it| fault(&it))?;
    Ok(table.keys().next().cloned().unwrap_or_default())
}

pub fn read(text: &str, table: &str) -> Result<Option<Content>, Fault> {
    let mut file: Table = text.parse().map_err(|it| fault(&it))?;
    let Some(Value::Table(data)) = file.insert(table.to_owned(), Value::Boolean(true)) else {
        return Ok(None);
    };
    let spans = DeTable::parse(text).map_err(|it| fault(&it))?;
    let spans = spans.get_ref().get(table).and_then(|it| it.get_ref().as_table());
    let mut entries = Vec::new();
    for (key, value) in spans.into_iter().flatten() {
        let name = key.get_ref().to_string();
        let Some(data) = data.get(&name) else { continue };
        let range = key.span().start..value.span().end;
        let (line, column) = position(text, range.start);
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
            lines: lines.map(|it| it.0),
            // An array may have comments between its items.
            has_comment: lines.is_some_and(|it| it.1 || it.0.0 + 1 < it.0.1),
        });
    }
    Ok(Some(Content { rest: format!("{file:?}"), entries, gap: Gap::Nothing }))
}

fn fault(error: &toml::de::Error) -> Fault {
    let message = error.message().to_owned();
    Fault::Byte(message, error.span().map_or(0, |it| it.start))
}
