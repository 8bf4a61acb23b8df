//! The dependencies on crates of ours in a Cargo.toml of the user: by version, or on the source in `vendor/`.

use semver::Version;
use toml_edit::{DocumentMut, InlineTable, Item, TableLike, Value, value};

use super::{Crate, Support, VENDOR};

/// Cargo.toml with each dependency as the project wants it. `up` leads from its folder to the project's. Forks, other
/// paths and requirements that are no plain version stay.
pub fn depend(text: &str, support: &Support, up: &str) -> String {
    // The reader of the source reports a malformed one.
    let Ok(mut manifest) = text.parse::<DocumentMut>() else { return text.to_owned() };
    each(manifest.as_table_mut(), false, &|key, dependency| {
        let package = field(dependency, "package").unwrap_or(key);
        if let Some(it) = support.crates.iter().find(|it| it.name == package) {
            let path = format!("{up}{VENDOR}/{}", it.name);
            point(dependency, it, &path, support.is_vendored);
        }
    });
    manifest.to_string()
}

/// Calls `change` for the dependencies in all tables of dependencies.
fn each(table: &mut dyn TableLike, is_list: bool, change: &dyn Fn(&str, &mut Item)) {
    for (key, item) in table.iter_mut() {
        if is_list {
            change(key.get(), item);
        } else if let Some(below) = item.as_table_like_mut() {
            each(below, key.get().ends_with("dependencies"), change);
        }
    }
}

fn field<'a>(dependency: &'a Item, key: &str) -> Option<&'a str> {
    dependency.as_table_like()?.get(key)?.as_str()
}

fn has(dependency: &Item, key: &str) -> bool {
    dependency.as_table_like().is_some_and(|it| it.contains_key(key))
}

/// Changes one dependency.
fn point(dependency: &mut Item, to: &Crate, path: &str, is_vendored: bool) {
    if ["git", "registry", "workspace"].iter().any(|it| has(dependency, it)) {
        return;
    }
    let version = to.version.to_string();
    let is_older = |it: &str| it.parse::<Version>().is_ok_and(|it| it < to.version);
    match (is_vendored, field(dependency, "path").map(|it| it.trim_end_matches('/'))) {
        (true, None) if dependency.is_str() => {
            let table = InlineTable::from_iter([("path", path)]);
            replace(dependency, Value::from(table));
        }
        (true, None) if has(dependency, "version") => {
            rename(dependency, "version", "path", path);
        }
        (false, Some(it)) if it == path => rename(dependency, "path", "version", &version),
        (false, None) if dependency.as_str().is_some_and(is_older) => {
            replace(dependency, Value::from(version));
        }
        (false, None) if field(dependency, "version").is_some_and(is_older) => {
            rename(dependency, "version", "version", &version);
        }
        _ => {}
    }
}

/// Replaces a value, and keeps the comment behind it.
fn replace(item: &mut Item, mut new: Value) {
    if let Some(old) = item.as_value() {
        *new.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(new);
}

/// Gives a field another name and value, at its place.
fn rename(dependency: &mut Item, from: &str, to: &str, text: &str) {
    if let Some(inline) = dependency.as_inline_table() {
        let fields = inline.iter().filter(|it| it.0 == from || it.0 != to);
        let mut new = InlineTable::from_iter(fields.map(|(key, old)| match key == from {
            true => (to, Value::from(text)),
            false => (key, old.clone()),
        }));
        new.fmt();
        replace(dependency, Value::from(new));
    } else if let Some(table) = dependency.as_table_like_mut() {
        table.remove(from);
        table.insert(to, value(text));
    }
}
