//! `configMapGenerator` and `secretGenerator`, with the hash of their content in their names.

use super::{
    budget::Budget,
    load::{Generator, Kustomization, Text},
    object::{BEHAVIOR, HASHED, Object},
    objects::Objects,
    resources, share,
};
use go_data::yaml::{self, Map, Value, json};
use model::{Digest, Tree};

pub fn generate(
    tree: &impl Tree,
    of: &Kustomization,
    from: &Generator,
    budget: &Budget,
) -> anyhow::Result<Object> {
    let (mut data, mut binary) = (Map::new(), Map::new());
    for (key, bytes) in pairs(tree, of, from, budget)? {
        if data.contains_key(&key) || binary.contains_key(&key) {
            return Err(
                of.problem(from.mark, &format!("`{}` has the key `{key}` twice", from.name))
            );
        }
        if let Some(message) = yaml::added_key_fault(&key) {
            return Err(of.problem(from.mark, &message));
        }
        let value = match String::from_utf8(bytes) {
            Ok(text) if !from.secret => {
                if text.starts_with('\t') && text.contains('\n') {
                    let message =
                        format!("`{key}` begins with a tab, which kustomize cannot read back");
                    return Err(of.problem(from.mark, &message));
                }
                Ok(text)
            }
            Ok(text) => Ok(base64(text.as_bytes())),
            Err(error) => Err(base64(error.as_bytes())),
        };
        match value {
            Err(base64) if !from.secret => drop(binary.insert(key, base64.into())),
            Ok(text) | Err(text) => drop(data.insert(key, text.into())),
        }
    }
    let mut options = from.options.clone();
    options.inherit(&of.generator_options);
    let mut value = json!({
        "apiVersion": "v1",
        "kind": if from.secret { "Secret" } else { "ConfigMap" },
        "metadata": { "name": from.name },
    });
    if !from.namespace.is_empty() {
        value["metadata"]["namespace"] = from.namespace.as_str().into();
    }
    for (key, map) in [("labels", &options.labels), ("annotations", &options.annotations)] {
        if !map.is_empty() {
            value["metadata"][key] = json!(map);
            let added = budget.take_value(&value["metadata"][key], 0);
            added.map_err(|it| of.located(from.mark, &it))?;
        }
    }
    if from.secret {
        value["type"] = if from.kind.is_empty() { "Opaque" } else { &from.kind }.into();
    }
    if from.secret || !data.is_empty() {
        value["data"] = Value::Object(data);
    }
    if !binary.is_empty() {
        value["binaryData"] = Value::Object(binary);
    }
    if options.immutable {
        value["immutable"] = true.into();
    }
    let mut object = Object::new(value, of.path.clone(), budget);
    if !options.plain_name {
        object.annotate(HASHED, "enabled");
    }
    object.annotate(BEHAVIOR, from.behavior);
    Ok(object)
}

/// From files of variables, then literals, then files.
fn pairs(
    tree: &impl Tree,
    of: &Kustomization,
    from: &Generator,
    budget: &Budget,
) -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut res = Vec::new();
    for item in &from.envs {
        let (path, text) = resources::text(tree, of, item)?;
        budget.take(text.len()).map_err(|it| of.located(item.mark, &it))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        for (at, line) in text.split('\n').enumerate() {
            if line.len() >= LONGEST {
                anyhow::bail!("{path}:{}: this line is too long for kustomize", at + 1);
            }
            let line = line.strip_suffix('\r').unwrap_or(line).trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            if !key.is_empty() {
                res.push((key.to_owned(), value.into()));
            }
        }
    }
    for Text { text, mark } in &from.literals {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => {
                res.push((key.to_owned(), unquoted(value).into()))
            }
            _ => return Err(of.problem(*mark, &format!("`{text}` is not of the form `key=value`"))),
        }
    }
    for item in &from.files {
        let (key, file) = key_and_file(of, item)?;
        let bytes = resources::bytes(tree, of, &file)?.1;
        budget.take(bytes.len()).map_err(|it| of.located(item.mark, &it))?;
        res.push((key, bytes));
    }
    Ok(res)
}

/// The key and the path of an item of `files`, which is a path or `key=path`.
pub fn key_and_file(of: &Kustomization, item: &Text) -> anyhow::Result<(String, Text)> {
    let (key, path) = match item.text.split_once('=') {
        None => (item.text.rsplit('/').next().unwrap_or_default(), item.text.as_str()),
        Some((key, path)) if !key.is_empty() && !path.is_empty() && !path.contains('=') => {
            (key, path)
        }
        Some(_) => {
            let message = format!("`{}` is not of the form `key=path`", item.text);
            return Err(of.problem(item.mark, &message));
        }
    };
    Ok((key.to_owned(), Text { text: path.to_owned(), mark: item.mark }))
}

/// The longest line that Go's scanner accepts.
const LONGEST: usize = 64 * 1024;

fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|it| it.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    text
}

/// In lines of 70, each with its newline, where one line is not enough: as kustomize writes it.
fn base64(bytes: &[u8]) -> String {
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
    let mut res = String::new();
    for line in all.as_bytes().chunks(70) {
        res.extend(line.iter().copied().map(char::from));
        res.push('\n');
    }
    res
}

/// Called once at the end, when the content is final.
pub fn add_hashes(objects: &mut Objects) -> anyhow::Result<()> {
    for object in objects.0.iter_mut().filter(|it| it.annotation(HASHED) == Some("enabled")) {
        let mut value = object.value.clone();
        share::clear(&mut value);
        let hash = hash(&value);
        object.remember()?;
        let name = format!("{}-{hash}", object.name());
        object.set_name(&name)?;
    }
    Ok(())
}

fn hash(object: &Value) -> String {
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
    if let Some(map) = object.get(extra).filter(|it| it.is_object()) {
        content[extra] = map.clone();
    }
    // Go escapes characters that are special in HTML.
    let text = content.to_string();
    let text = text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    let text = text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    let digest = Digest::of(text.as_bytes());
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
