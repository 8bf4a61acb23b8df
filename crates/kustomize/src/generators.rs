//! `configMapGenerator` and `secretGenerator`, with the hash of their content in their names.

use super::{
    budget::Budget,
    kustomization::{Generator, Kustomization, Text},
    named_files,
    object::{BEHAVIOR, HASHED, Object},
    objects::Objects,
    share,
};
use go_data::yaml::{self, Map, Value, json};
use model::{Digest, Tree};

pub fn generate_object(
    tree: &impl Tree,
    kustomization: &Kustomization,
    generator: &Generator,
    budget: &Budget,
) -> anyhow::Result<Object> {
    let (mut data, mut binary) = (Map::new(), Map::new());
    for (key, bytes) in read_pairs(tree, kustomization, generator, budget)? {
        if data.contains_key(&key) || binary.contains_key(&key) {
            return Err(kustomization.error_at(
                generator.mark,
                &format!("`{}` has the key `{key}` twice", generator.name),
            ));
        }
        if let Some(message) = yaml::find_added_key_error(&key) {
            return Err(kustomization.error_at(generator.mark, &message));
        }
        let value = match String::from_utf8(bytes) {
            Ok(text) if !generator.secret => {
                if text.starts_with('\t') && text.contains('\n') {
                    let message =
                        format!("`{key}` begins with a tab, which kustomize cannot read back");
                    return Err(kustomization.error_at(generator.mark, &message));
                }
                Ok(text)
            }
            Ok(text) => Ok(encode_base64(text.as_bytes())),
            Err(error) => Err(encode_base64(error.as_bytes())),
        };
        match value {
            Err(base64) if !generator.secret => drop(binary.insert(key, base64.into())),
            Ok(text) | Err(text) => drop(data.insert(key, text.into())),
        }
    }
    let mut options = generator.options.clone();
    options.inherit_from(&kustomization.generator_options);
    let mut value = json!({
        "apiVersion": "v1",
        "kind": if generator.secret { "Secret" } else { "ConfigMap" },
        "metadata": { "name": generator.name },
    });
    if !generator.namespace.is_empty() {
        value["metadata"]["namespace"] = generator.namespace.as_str().into();
    }
    for (key, map) in [("labels", &options.labels), ("annotations", &options.annotations)] {
        if !map.is_empty() {
            value["metadata"][key] = json!(map);
            let added = budget.take_value(&value["metadata"][key], 0);
            added.map_err(|error| kustomization.locate_error(generator.mark, &error))?;
        }
    }
    if generator.secret {
        value["type"] = if generator.kind.is_empty() { "Opaque" } else { &generator.kind }.into();
    }
    if generator.secret || !data.is_empty() {
        value["data"] = Value::Object(data);
    }
    if !binary.is_empty() {
        value["binaryData"] = Value::Object(binary);
    }
    if options.immutable {
        value["immutable"] = true.into();
    }
    let mut object = Object::new(value, kustomization.path.clone(), budget);
    if !options.plain_name {
        object.set_annotation(HASHED, "enabled");
    }
    object.set_annotation(BEHAVIOR, generator.behavior);
    Ok(object)
}

/// Reads the pairs of files of variables, then of literals, then of files.
fn read_pairs(
    tree: &impl Tree,
    kustomization: &Kustomization,
    generator: &Generator,
    budget: &Budget,
) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut pairs = Vec::new();
    for item in &generator.envs {
        let (path, text) = named_files::read_text(tree, kustomization, item)?;
        budget
            .take_bytes(text.len())
            .map_err(|error| kustomization.locate_error(item.mark, &error))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        for (at, line) in text.split('\n').enumerate() {
            if line.len() >= MAX_LINE {
                anyhow::bail!("{path}:{}: this line is too long for kustomize", at + 1);
            }
            let line = line.strip_suffix('\r').unwrap_or(line).trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            if !key.is_empty() {
                pairs.push((key.to_owned(), value.into()));
            }
        }
    }
    for Text { text, mark } in &generator.literals {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => {
                pairs.push((key.to_owned(), strip_quotes(value).into()))
            }
            _ => {
                return Err(kustomization
                    .error_at(*mark, &format!("`{text}` is not of the form `key=value`")));
            }
        }
    }
    for item in &generator.files {
        let (key, file) = key_and_file(kustomization, item)?;
        let bytes = named_files::read_bytes(tree, kustomization, &file)?.1;
        budget
            .take_bytes(bytes.len())
            .map_err(|error| kustomization.locate_error(item.mark, &error))?;
        pairs.push((key, bytes));
    }
    Ok(pairs)
}

/// Parses the key and the path of an item of `files`, which is a path or `key=path`.
pub fn key_and_file(kustomization: &Kustomization, item: &Text) -> anyhow::Result<(String, Text)> {
    let (key, path) = match item.text.split_once('=') {
        None => (item.text.rsplit('/').next().unwrap_or_default(), item.text.as_str()),
        Some((key, path)) if !key.is_empty() && !path.is_empty() && !path.contains('=') => {
            (key, path)
        }
        Some(_) => {
            let message = format!("`{}` is not of the form `key=path`", item.text);
            return Err(kustomization.error_at(item.mark, &message));
        }
    };
    Ok((key.to_owned(), Text { text: path.to_owned(), mark: item.mark }))
}

/// The longest line that Go's scanner accepts.
const MAX_LINE: usize = 64 * 1024;

fn strip_quotes(text: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    text
}

/// Encodes bytes as kustomize does: in lines of 70 characters, each with its newline, unless one line is enough.
fn encode_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut all = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            all.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    if all.len() < 70 {
        return all;
    }
    let mut lines = String::new();
    for line in all.as_bytes().chunks(70) {
        lines.extend(line.iter().copied().map(char::from));
        lines.push('\n');
    }
    lines
}

/// Adds the hash of its content to the name of each generated object, once the content is final.
pub fn add_hashes(objects: &mut Objects) -> anyhow::Result<()> {
    for object in
        objects.0.iter_mut().filter(|object| object.find_annotation(HASHED) == Some("enabled"))
    {
        let mut value = object.value.clone();
        share::remove_notes(&mut value);
        let hash = content_hash(&value);
        object.record_identity()?;
        let name = format!("{}-{hash}", object.name());
        object.set_name(&name)?;
    }
    Ok(())
}

fn content_hash(object: &Value) -> String {
    let or_empty = |key: &str| object.get(key).cloned().unwrap_or_else(|| "".into());
    let mut content = json!({
        "kind": object["kind"],
        // kustomize means to put the name here, and looks it up where it is not.
        "name": "",
        "data": or_empty("data"),
    });
    let (extra, secret) = match object["kind"].as_str() {
        Some("Secret") => ("stringData", true),
        _ => ("binaryData", false),
    };
    if secret {
        content["type"] = or_empty("type");
    }
    if let Some(map) = object.get(extra).filter(|value| value.is_object()) {
        content[extra] = map.clone();
    }
    // Go escapes characters that are special in HTML.
    let text = content.to_string();
    let text = text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let text = text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    let digest = Digest::from_content(text.as_bytes());
    let hex = &digest.hex()[..10];
    // No vowels and no similar characters, so that no words are formed.
    let swap = |c: char| match c {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        c => c,
    };
    hex.chars().map(swap).collect()
}
