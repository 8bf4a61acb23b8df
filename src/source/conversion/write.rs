//! Rust as rustfmt writes it in new projects: 120 columns, and whatever fits into a line is one.

pub const WIDTH: usize = 120;
/// The indentation of a function's body.
const INDENT: usize = 8;

/// A field in a pattern or a value, with a comment behind it.
pub struct Line {
    text: String,
    comment: Option<String>,
}

impl Line {
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), comment: None }
    }

    pub fn with_comment(text: &str, comment: String) -> Self {
        Self { text: text.to_owned(), comment: Some(comment) }
    }
}

/// Returns the body of a function that takes one struct apart and makes another one.
pub fn struct_body(from: &str, pattern: &[Line], value: &[Line]) -> Vec<String> {
    let mut res = format_fields(&format!("let {from}"), pattern, " = it;");
    res.extend(format_fields("Self", value, ""));
    res
}

fn format_fields(head: &str, fields: &[Line], tail: &str) -> Vec<String> {
    let texts: Vec<&str> = fields.iter().map(|field| field.text.as_str()).collect();
    let line = if texts.is_empty() {
        format!("{head} {{}}{tail}")
    } else {
        format!("{head} {{ {} }}{tail}", texts.join(", "))
    };
    if fields.iter().all(|field| field.comment.is_none()) && INDENT + line.len() <= WIDTH {
        return vec![line];
    }
    let mut res = vec![format!("{head} {{")];
    // rustfmt aligns the comments of lines that follow each other.
    for run in fields.chunk_by(|one, other| one.comment.is_some() && other.comment.is_some()) {
        let width = run.iter().map(|line| line.text.len()).max().unwrap_or_default() + 1;
        res.extend(run.iter().map(|Line { text, comment }| match comment {
            Some(comment) => format!("    {:width$} // {comment}", format!("{text},")),
            None => format!("    {text},"),
        }));
    }
    res.push(format!("}}{tail}"));
    res
}

/// Returns the body of a function that matches every variant: patterns and values without the names of the enums.
pub fn match_body(from: &str, arms: &[(String, String)]) -> Vec<String> {
    if arms.is_empty() {
        return vec!["match it {}".to_owned()];
    }
    let mut res = vec!["match it {".to_owned()];
    for (pattern, value) in arms {
        let value = if value.starts_with("compile_error!") {
            value.clone()
        } else {
            format!("Self::{value}")
        };
        let line = format!("    {from}::{pattern} => {value},");
        if INDENT + line.len() <= WIDTH {
            res.push(line);
        } else {
            res.extend([
                format!("    {from}::{pattern} => {{"),
                format!("        {value}"),
                "    }".to_owned(),
            ]);
        }
    }
    res.push("}".to_owned());
    res
}

/// Sorts names as rustfmt does: a number within a name is compared by its value.
pub fn sort_key(name: &str) -> Vec<(&str, u64)> {
    let mut pairs = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(digits);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        pairs.push((word, after[..end].parse().unwrap_or_default()));
        rest = &after[end..];
    }
    pairs
}
