//! The dependencies on crates of ours in a Cargo.toml of the user: by version, or on the source in `vendor/`.

use semver::Version;
use toml_edit::{DocumentMut, InlineTable, Item, RawString, TableLike, Value, value};

use super::{SupportCode, SupportCrate, VENDOR};

/// Cargo.toml with each dependency as the project wants it. `up` leads from its folder to the project's. Forks, other
/// paths and requirements that are no plain version stay.
pub fn depend(text: &str, support: &SupportCode, up: &str) -> String {
    // The reader of the source reports a malformed one.
    let Ok(mut manifest) = text.parse::<DocumentMut>() else { return text.to_owned() };
    for_each_dependency(manifest.as_table_mut(), false, &|key, dependency| {
        let package = text_field(dependency, "package").unwrap_or(key);
        if let Some(it) = support.crates.iter().find(|krate| krate.name == package) {
            let path = format!("{up}{VENDOR}/{}", it.name);
            update_dependency(dependency, it, &path, support.is_vendored);
        }
    });
    manifest.to_string()
}

/// Calls `change` for the dependencies in all tables of dependencies.
fn for_each_dependency(table: &mut dyn TableLike, is_list: bool, change: &dyn Fn(&str, &mut Item)) {
    for (key, item) in table.iter_mut() {
        if is_list {
            change(key.get(), item);
        } else if let Some(below) = item.as_table_like_mut() {
            for_each_dependency(below, key.get().ends_with("dependencies"), change);
        }
    }
}

fn text_field<'a>(dependency: &'a Item, key: &str) -> Option<&'a str> {
    dependency.as_table_like()?.get(key)?.as_str()
}

fn has_field(dependency: &Item, key: &str) -> bool {
    dependency.as_table_like().is_some_and(|table| table.contains_key(key))
}

/// Changes one dependency.
fn update_dependency(dependency: &mut Item, to: &SupportCrate, path: &str, is_vendored: bool) {
    if ["git", "registry", "workspace"].iter().any(|text| has_field(dependency, text)) {
        return;
    }
    let version = to.version.to_string();
    let is_older = |text: &str| text.parse::<Version>().is_ok_and(|version| version < to.version);
    match (is_vendored, text_field(dependency, "path").map(|field| field.trim_end_matches('/'))) {
        (true, None) if dependency.is_str() => {
            let table = InlineTable::from_iter([("path", path)]);
            replace_value(dependency, Value::from(table));
        }
        (true, None) if has_field(dependency, "version") => {
            rename_field(dependency, "version", "path", path);
        }
        (false, Some(it)) if it == path => rename_field(dependency, "path", "version", &version),
        (false, None) if dependency.as_str().is_some_and(is_older) => {
            replace_value(dependency, Value::from(version));
        }
        (false, None) if text_field(dependency, "version").is_some_and(is_older) => {
            rename_field(dependency, "version", "version", &version);
        }
        _ => {}
    }
}

/// Replaces a value, and keeps the comment behind it.
fn replace_value(item: &mut Item, mut new: Value) {
    if let Some(old) = item.as_value() {
        *new.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(new);
}

/// Gives a field another name and value, at its place.
fn rename_field(dependency: &mut Item, from: &str, to: &str, text: &str) {
    if let Some(inline) = dependency.as_inline_table() {
        let fields = inline.iter().filter(|pair| pair.0 == from || pair.0 != to);
        let mut new = InlineTable::from_iter(fields.map(|(key, old)| {
            if key == from { (to, Value::from(text)) } else { (key, old.clone()) }
        }));
        new.fmt();
        replace_value(dependency, Value::from(new));
    } else if let Some(table) = dependency.as_table_like_mut() {
        table.remove(from);
        table.insert(to, value(text));
    }
}

/// Cargo.toml with a feature of one of our crates switched on or off; none if the package does not depend on the crate in
/// a way that names its features.
pub fn feature(text: &str, package: &str, feature: &str, on: bool) -> Option<String> {
    let mut manifest = text.parse::<DocumentMut>().ok()?;
    let dependencies = manifest.get_mut("dependencies")?.as_table_like_mut()?;
    let is_it = |key: &str, item: &Item| text_field(item, "package").unwrap_or(key) == package;
    let key = dependencies.iter().find(|(key, dependency)| is_it(key, dependency))?.0.to_owned();
    let dependency = dependencies.get_mut(&key)?;
    if has_field(dependency, "workspace") {
        return None;
    }
    if let Some(version) = dependency.as_str().map(str::to_owned) {
        replace_value(dependency, InlineTable::from_iter([("version", version)]).into());
    }
    let table = dependency.as_table_like_mut()?;
    if on && !table.contains_key("features") {
        table.insert("features", value(toml_edit::Array::new()));
    }
    let Some(features) = table.get_mut("features") else { return Some(text.to_owned()) };
    let features = features.as_array_mut()?;
    let at = features.iter().position(|value| value.as_str() == Some(feature));
    match (at, on) {
        (None, true) => {
            // In the order of the alphabet, whichever was needed first.
            let next =
                features.iter().position(|value| value.as_str().is_some_and(|name| feature < name));
            features.insert(next.unwrap_or(features.len()), feature);
            let behind = next.and_then(|at| features.get_mut(at + 1)).map(Value::decor_mut);
            if let Some(decor) = behind.filter(|behind| behind.prefix().is_none_or(is_empty)) {
                decor.set_prefix(" ");
            }
        }
        (Some(at), false) => {
            let removed = features.remove(at);
            if let Some(first) = features.get_mut(0).filter(|_| at == 0) {
                *first.decor_mut() = removed.decor().clone();
            }
        }
        _ => return Some(text.to_owned()),
    }
    if features.is_empty() {
        table.remove("features");
    }
    if let Some(inline) = dependency.as_inline_table_mut() {
        inline.fmt();
    }
    Some(manifest.to_string())
}

fn is_empty(text: &RawString) -> bool {
    text.as_str().is_some_and(str::is_empty)
}

#[test]
fn features_are_in_the_order_of_the_alphabet_and_comments_stay() {
    let check = |before: &str, after: &str| {
        let text = |text: &str| {
            format!("[dependencies]\nrun = {{ version = \"1\", features = {text} }}\n")
        };
        let found = feature(&text(before), "run", "admission", true);
        assert_eq!(found.as_deref(), Some(&*text(after)));
    };
    check("[\"conversion\"]", "[\"admission\", \"conversion\"]");
    check("[\"abc\", \"conversion\"]", "[\"abc\", \"admission\", \"conversion\"]");
    check("[ # mine\n\"abc\", # one\n]", "[ # mine\n\"abc\", \"admission\", # one\n]");
    let text = |text: &str| format!("[dependencies]\nrun = {{ features = {text} }}\n");
    for before in ["[\"conversion\"]", "[\"conversion\", \"d\"]"] {
        let on = feature(&text(before), "run", "admission", true).expect("it is found");
        assert_eq!(feature(&on, "run", "admission", false), Some(text(before)));
    }
}

#[test]
fn a_feature_is_switched_on_and_off() {
    let check = |before: &str, after: &str| {
        let text = |text: &str| format!("[dependencies]\na = \"1\" # one\n{text} # two\n\n[x]\n");
        let on = feature(&text(before), "run", "admission", true);
        assert_eq!(on.as_deref(), Some(&*text(after)));
        assert_eq!(feature(&text(after), "run", "admission", true).as_deref(), Some(&*text(after)));
        on.and_then(|text| feature(&text, "run", "admission", false))
    };
    for before in [
        "runtime = { package = \"run\", path = \"vendor/run\" }",
        "runtime = { package = \"run\", path = \"vendor/run\", features = [\"abc\"] }",
        "run = { version = \"1\" }",
    ] {
        let after = if before.contains("features") {
            before.replace("\"]", "\", \"admission\"]")
        } else {
            before.replace(" }", ", features = [\"admission\"] }")
        };
        let off = check(before, &after).expect("it is found");
        assert!(off.contains(&format!("{before} # two\n")), "{off}");
    }
    check("run = \"1\"", "run = { version = \"1\", features = [\"admission\"] }");
    for text in ["", "[dependencies]\nrun.workspace = true", "[dependencies]\nruns = \"1\"", "]"] {
        assert_eq!(feature(text, "run", "admission", true), None, "{text}");
    }
}
