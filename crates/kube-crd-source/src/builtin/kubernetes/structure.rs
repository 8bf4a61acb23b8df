//! A type's fields, and how its hand-written `Serialize` writes each: for default values and struct literals.

use super::item;

/// How a type is built and written.
#[derive(Debug)]
pub enum Structure {
    /// Fields that are written under names, beside texts that are always there (`apiVersion`, `kind`).
    Struct { texts: Vec<(String, String)>, fields: Vec<Field>, default: bool },
    /// Written as what is in it.
    Newtype { ty: Box<syn::Type>, default: bool },
    /// Variants of one value each, written as that value. The default one is the number 0 of a variant.
    Enum { variants: Vec<(String, syn::Type)>, default: Option<String> },
    /// Written by code of its own, such as a time.
    Other,
}

#[derive(Debug)]
pub struct Field {
    /// In Rust: `type_`.
    pub name: String,
    /// In JSON: `type`.
    pub json: String,
    pub ty: syn::Type,
    /// Left out where it is `None`; otherwise always written.
    pub optional: bool,
}

type Read<T> = Result<T, String>;

pub fn read(name: &str, text: &str) -> Read<Structure> {
    let Some(writes) = item(text, &format!("impl crate::serde::Serialize for {name} {{")) else {
        return Ok(Structure::Other);
    };
    let default = || derives_default(name, text);
    if let Some(code) = item(text, &format!("pub struct {name} {{")) {
        let parsed: syn::ItemStruct = parse(code)?;
        return Ok(match struct_(name, text, writes, &parsed)? {
            Some((texts, fields)) => Structure::Struct { texts, fields, default: default() },
            None => Structure::Other,
        });
    }
    if let Some(line) = text.lines().find(|it| it.starts_with(&format!("pub struct {name}("))) {
        let parsed: syn::ItemStruct = parse(line)?;
        let whole = format!("serializer.serialize_newtype_struct(\"{name}\", &self.0)");
        let mut fields = parsed.fields.into_iter();
        return match (fields.next(), fields.next()) {
            (Some(it), None) if body(writes) == [whole] => {
                Ok(Structure::Newtype { ty: Box::new(it.ty), default: default() })
            }
            _ => Ok(Structure::Other),
        };
    }
    match item(text, &format!("pub enum {name} {{")) {
        Some(code) => enum_(name, text, writes, parse(code)?),
        None => Ok(Structure::Other),
    }
}

fn parse<T: syn::parse::Parse>(code: &str) -> Read<T> {
    syn::parse_str(code).map_err(|it| it.to_string())
}

fn derives_default(name: &str, text: &str) -> bool {
    let mut lines = text.lines().peekable();
    let head = format!("pub struct {name}");
    while let Some(line) = lines.next() {
        let next = lines.peek().and_then(|it| it.strip_prefix(&head));
        if next.is_some_and(|it| it.starts_with(" {") || it.starts_with('(')) {
            return line
                .strip_prefix("#[derive(")
                .is_some_and(|it| it.split([',', ')']).any(|it| it.trim() == "Default"));
        }
    }
    false
}

/// The lines inside the one function of an impl.
fn body(code: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = code.lines().skip(2).map(str::trim).collect();
    lines.truncate(lines.len().saturating_sub(2));
    lines
}

type Fields = (Vec<(String, String)>, Vec<Field>);

/// None where a line is not one of those that the generator writes.
fn struct_(name: &str, text: &str, writes: &str, parsed: &syn::ItemStruct) -> Read<Option<Fields>> {
    let (mut texts, mut fields) = (Vec::new(), Vec::new());
    let mut lines = body(writes).into_iter();
    if lines.next() != Some("let mut state = serializer.serialize_struct(") {
        return Ok(None);
    }
    // How many fields there are going to be.
    if !lines.any(|it| it == ")?;") {
        return Ok(None);
    }
    let mut some = None;
    for line in lines {
        if line == "crate::serde::ser::SerializeStruct::end(state)" {
            break;
        }
        if let Some(it) = line.strip_prefix("if let Some(value) = &self.") {
            some = it.strip_suffix(" {");
            continue;
        }
        if line == "}" {
            some = None;
            continue;
        }
        let parts = line
            .strip_prefix("crate::serde::ser::SerializeStruct::serialize_field(&mut state, \"")
            .and_then(|it| it.strip_suffix(")?;"))
            .and_then(|it| it.split_once("\", "));
        let Some((json, value)) = parts else { return Ok(None) };
        let (member, optional) = match (value, some, value.strip_prefix("&self.")) {
            ("value", Some(member), _) => (member, true),
            (_, None, Some(member)) => (member, false),
            ("<Self as crate::Resource>::API_VERSION", None, _) => {
                texts.push((json.to_owned(), constant(name, text, "API_VERSION")?));
                continue;
            }
            ("<Self as crate::Resource>::KIND", None, _) => {
                texts.push((json.to_owned(), constant(name, text, "KIND")?));
                continue;
            }
            _ => return Ok(None),
        };
        let field = { parsed.fields.iter() }
            .find(|it| it.ident.as_ref().is_some_and(|it| it == member))
            .ok_or_else(|| format!("it writes a field `{member}` that it does not have"))?;
        fields.push(Field {
            name: member.to_owned(),
            json: json.to_owned(),
            ty: field.ty.clone(),
            optional,
        });
    }
    match fields.len() == parsed.fields.len() {
        true => Ok(Some((texts, fields))),
        false => Err("it does not write all of its fields".to_owned()),
    }
}

/// A text of `impl Resource`.
fn constant(name: &str, text: &str, constant: &str) -> Read<String> {
    let code = item(text, &format!("impl crate::Resource for {name} {{"));
    let head = format!("const {constant}: &'static str = \"");
    { code.into_iter() }
        .flat_map(str::lines)
        .find_map(|it| it.trim().strip_prefix(&head)?.strip_suffix("\";"))
        .map(str::to_owned)
        .ok_or_else(|| format!("it has no `{constant}`"))
}

fn enum_(name: &str, text: &str, writes: &str, parsed: syn::ItemEnum) -> Read<Structure> {
    let lines = body(writes);
    let as_itself = |line: &&str| {
        let arm = line.strip_prefix(name).and_then(|it| it.strip_prefix("::"));
        let parts = arm.and_then(|it| it.split_once(") => ")?.0.split_once('('));
        parts.is_some_and(|(variant, it)| {
            **line == format!("{name}::{variant}({it}) => {it}.serialize(serializer),")
        })
    };
    let [first, arms @ .., last] = &lines[..] else { return Ok(Structure::Other) };
    if *first != "match self {" || *last != "}" || !arms.iter().all(as_itself) {
        return Ok(Structure::Other);
    }
    let mut variants = Vec::new();
    for variant in parsed.variants {
        let mut fields = variant.fields.into_iter();
        match (fields.next(), fields.next()) {
            (Some(it), None) => variants.push((variant.ident.to_string(), it.ty)),
            _ => return Ok(Structure::Other),
        }
    }
    let default =
        item(text, &format!("impl Default for {name} {{")).and_then(|it| match body(it)[..] {
            [line] => line.strip_prefix(&format!("{name}::"))?.strip_suffix("(0)"),
            _ => None,
        });
    Ok(Structure::Enum { variants, default: default.map(str::to_owned) })
}
