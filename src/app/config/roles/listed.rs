//! Entries that config/default/kustomization.yaml has to list.

use crate::plan::Plan;
use diagnostics::Diagnostic;
use go_data::yaml::{self, Value, json};
use model::ProjectPath;

/// Adds entries to lists of a kustomization, each given with the key of its list. A list that is not there is added with
/// its marker; where a list has no marker, a warning says what to add by hand.
pub fn add(plan: &mut Plan, path: &ProjectPath, text: &str, entries: &[(&str, Value)]) {
    let documents = yaml::parse_documents(text, yaml::Dialect::Kubernetes).unwrap_or_default();
    let [before] = &documents[..] else { return by_hand(plan, path, entries) };
    let is_listed = |entry: &&(&str, Value)| {
        before[entry.0]
            .as_array()
            .is_some_and(|items| items.iter().any(|item| is_same(item, &entry.1)))
    };
    let missing: Vec<&(&str, Value)> = entries.iter().filter(|entry| !is_listed(entry)).collect();
    let mut after = text.to_owned();
    for (key, _) in &missing {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let marker = format!("# {}", marker_of(key));
        if before.get(key).is_none() {
            let gap = if after.is_empty() || after.ends_with('\n') { "" } else { end };
            after += &format!("{gap}{key}:{end}{marker}{end}");
        }
    }
    let has_markers = missing.iter().all(|(key, _)| after.contains(&marker_of(key)));
    if !has_markers || !adds_nothing(before, &after, &missing) {
        return by_hand(plan, path, entries);
    }
    if after != text {
        plan.edit_file(path.clone(), text.to_owned(), after);
    }
    for (key, entry) in missing {
        plan.add_entries(path.clone(), key, yaml::to_text(&json!({ *key: [entry] })));
    }
}

fn marker_of(key: &str) -> String {
    format!("+operator-rs:scaffold:{key}")
}

/// Returns whether the new text has what the old one has, and empty lists.
fn adds_nothing(before: &Value, after: &str, lists: &[&(&str, Value)]) -> bool {
    let Ok(documents) = yaml::parse_documents(after, yaml::Dialect::Kubernetes) else {
        return false;
    };
    let mut expected = before.clone();
    for (key, _) in lists {
        if let Value::Object(fields) = &mut expected {
            fields.entry((*key).to_owned()).or_insert(Value::Null);
        }
    }
    documents == [expected]
}

/// Returns whether two entries name one file.
fn is_same(one: &Value, other: &Value) -> bool {
    let file = |entry: &Value| {
        let path = entry.as_str().or_else(|| entry["path"].as_str()).unwrap_or_default();
        path.trim_start_matches("./").trim_end_matches('/').to_owned()
    };
    !file(one).is_empty() && file(one) == file(other)
}

fn by_hand(plan: &mut Plan, path: &ProjectPath, entries: &[(&str, Value)]) {
    let lines: Vec<String> =
        entries.iter().map(|(key, entry)| format!("`{}`", json!({ *key: [entry] }))).collect();
    let message = "it does not list what binds the Roles of `namespace=`, and has no place for it";
    let hint = format!("add to its lists {}", lines.join(" and "));
    plan.warn(Diagnostic::in_file(path.as_str(), message).with_hint(hint));
}
