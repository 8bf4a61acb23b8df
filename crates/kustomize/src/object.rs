//! An object during rendering. As in kustomize, annotations hold its former names, so a patch that removes the
//! annotations also removes them.

use std::borrow::Cow;

use anyhow::Context as _;

use super::{budget::Budget, id::Id, kinds, share};
use diagnostics::Hint as _;
use go_data::yaml::{self, Map, Value, json};
use model::ProjectPath;

const INTERNAL_PREFIX: &str = "internal.config.kubernetes.io/";
const FORMER_NAMES: &str = "internal.config.kubernetes.io/previousNames";
const FORMER_NAMESPACES: &str = "internal.config.kubernetes.io/previousNamespaces";
const FORMER_KINDS: &str = "internal.config.kubernetes.io/previousKinds";
pub const PREFIXES: &str = "internal.config.kubernetes.io/prefixes";
pub const SUFFIXES: &str = "internal.config.kubernetes.io/suffixes";
pub const BEHAVIOR: &str = "internal.config.kubernetes.io/generatorBehavior";
pub const HASHED: &str = "internal.config.kubernetes.io/needsHashSuffix";
const LEGACY: [&str; 3] =
    ["config.kubernetes.io/index", "config.kubernetes.io/path", "config.k8s.io/id"];
/// The annotations after `INTERNAL_PREFIX` that are not printed.
const INTERNAL_NAMES: &str = "previousNames previousNamespaces previousKinds prefixes suffixes generatorBehavior \
needsHashSuffix allowNameChange allowKindChange refBy path index seqindent id annotations-migration-resource-id";
const ALSO_REMOVED: [&str; 3] = [
    "internal.config.kubernetes.io/helm-generated",
    "config.kubernetes.io/origin",
    "alpha.config.kubernetes.io/transformations",
];

#[derive(Clone, Debug)]
pub struct Object {
    pub value: Value,
    /// The file it came from.
    pub origin: ProjectPath,
    pub budget: Budget,
    /// The number of scalars that several fields of the object share.
    pub shared: usize,
    /// True if its annotations were `null`: the first patch of them then removes its history.
    pub had_null_annotations: bool,
    /// True if it has notes of quoted scalars.
    pub knows_quotes: bool,
}

impl Object {
    pub fn new(value: Value, origin: ProjectPath, budget: &Budget) -> Self {
        let budget = budget.clone();
        Self { value, origin, budget, shared: 0, had_null_annotations: false, knows_quotes: false }
    }

    /// Removes annotations that are `null`, which are never printed.
    pub fn without_null_annotations(mut self) -> Self {
        if let Some(Value::Object(metadata)) = self.value.get_mut("metadata") {
            self.had_null_annotations = metadata.get("annotations").is_some_and(Value::is_null);
            metadata.retain(|key, value| key != "annotations" || !value.is_null());
        }
        self
    }

    pub fn kind(&self) -> &str {
        self.value["kind"].as_str().unwrap_or_default()
    }
    pub fn api_version(&self) -> &str {
        self.value["apiVersion"].as_str().unwrap_or_default()
    }
    pub fn group_version(&self) -> (&str, &str) {
        let text = self.api_version();
        text.split_once('/').unwrap_or(("", text))
    }
    pub fn name(&self) -> &str {
        self.value["metadata"]["name"].as_str().unwrap_or_default()
    }
    /// Returns the namespace as it is written; empty if there is none.
    pub fn namespace(&self) -> &str {
        self.value["metadata"]["namespace"].as_str().unwrap_or_default()
    }

    pub fn is_cluster_scoped(&self) -> bool {
        kinds::is_cluster_scoped(self.api_version(), self.kind())
    }

    /// Returns its current identity.
    pub fn id(&self) -> Id {
        Id::new(self.api_version(), self.kind(), self.name(), self.namespace())
    }

    /// Returns its former identities, oldest first.
    pub fn former_ids(&self) -> impl Iterator<Item = Id> {
        let kinds =
            self.annotation_items(FORMER_KINDS).zip(self.annotation_items(FORMER_NAMESPACES));
        self.former_names()
            .zip(kinds)
            .map(|(name, (kind, namespace))| Id::new(self.api_version(), kind, name, namespace))
    }

    pub fn former_names(&self) -> impl Iterator<Item = &str> {
        self.annotation_items(FORMER_NAMES)
    }

    /// Returns its first identity.
    pub fn original_id(&self) -> Id {
        self.former_ids().next().unwrap_or_else(|| self.id())
    }

    /// Returns true if there are as many former names as namespaces and kinds.
    pub fn has_sound_history(&self) -> bool {
        let count = |key| self.annotation_items(key).count();
        count(FORMER_NAMES) == 0
            || [FORMER_NAMESPACES, FORMER_KINDS].iter().all(|key| count(key) == count(FORMER_NAMES))
    }

    /// Prepares for a patch of the annotations, and refuses one that would lose the former names.
    pub fn keep_history(&mut self) -> anyhow::Result<()> {
        if std::mem::take(&mut self.had_null_annotations)
            && self.find_annotation(FORMER_NAMES).is_some()
        {
            let message = format!(
                "{}: with `annotations: null`, kustomize forgets here the former name of {}",
                self.origin,
                self.id()
            );
            return Err(anyhow::format_err!(message)).hint("remove the empty `annotations`");
        }
        Ok(())
    }

    pub fn has_or_had_id(&self, id: &Id) -> bool {
        self.former_ids().any(|former| former.is_same_as(id)) || self.id().is_same_as(id)
    }

    /// Adds the current identity to the former ones, before a change of name, namespace or kind.
    pub fn record_identity(&mut self) -> anyhow::Result<()> {
        let Id { namespace, name, kind, .. } = self.id();
        // All former names are written and looked up again.
        self.budget.count_fields(self.find_annotation(FORMER_NAMES).map_or(0, str::len))?;
        for (key, text) in
            [(FORMER_NAMES, name), (FORMER_NAMESPACES, namespace), (FORMER_KINDS, kind)]
        {
            self.append_annotation(key, &text)?;
        }
        Ok(())
    }

    pub fn find_annotation(&self, key: &str) -> Option<&str> {
        self.value["metadata"]["annotations"].get(key)?.as_str()
    }

    /// Returns the items of an annotation that is a list.
    pub fn annotation_items(&self, key: &str) -> impl DoubleEndedIterator<Item = &str> {
        self.find_annotation(key).into_iter().flat_map(|items| items.split(','))
    }

    /// Adds an item to an annotation that is a list.
    pub fn append_annotation(&mut self, key: &str, text: &str) -> anyhow::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.budget.take_bytes(text.len())?;
        let all = self
            .find_annotation(key)
            .map_or_else(|| text.to_owned(), |items| format!("{items},{text}"));
        self.set_annotation(key, &all);
        Ok(())
    }

    pub fn set_annotation(&mut self, key: &str, text: &str) {
        let Value::Object(object) = &mut self.value else { return };
        let metadata = object.entry("metadata").or_insert_with(|| json!({}));
        let Value::Object(metadata) = metadata else { return };
        if let Value::Object(map) = metadata.entry("annotations").or_insert_with(|| json!({})) {
            map.insert(key.to_owned(), text.into());
        }
    }

    /// Returns the annotations that are only for tools.
    pub fn internal_annotations(&self) -> Vec<(String, String)> {
        let own = |key: &str| key.starts_with(INTERNAL_PREFIX) || LEGACY.contains(&key);
        let map = self.value["metadata"]["annotations"].as_object().into_iter().flatten();
        map.filter(|entry| own(entry.0))
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
            .collect()
    }

    pub fn set_name(&mut self, name: &str) -> anyhow::Result<()> {
        self.budget.take_text(self.name(), name)?;
        self.set_metadata("name", Some(name));
        Ok(())
    }

    /// Sets or removes the namespace.
    pub fn set_namespace(&mut self, namespace: Option<&str>) -> anyhow::Result<()> {
        self.budget.take_text(self.namespace(), namespace.unwrap_or_default())?;
        self.set_metadata("namespace", namespace);
        Ok(())
    }

    fn set_metadata(&mut self, key: &str, value: Option<&str>) {
        let Value::Object(object) = &mut self.value else { return };
        let metadata = object.entry("metadata").or_insert_with(|| json!({}));
        if metadata.is_null() {
            *metadata = json!({});
        }
        let Value::Object(metadata) = metadata else { return };
        match value {
            Some(value) => drop(metadata.insert(key.to_owned(), value.into())),
            None => drop(metadata.remove(key)),
        }
    }

    /// Returns true if a patch has removed all of the object.
    pub fn is_empty(&self) -> bool {
        self.value.is_null() || self.value.as_object().is_some_and(Map::is_empty)
    }

    /// Returns true if the object is only for tools, and is not printed.
    pub fn is_local(&self) -> bool {
        let local = &self.value["metadata"]["annotations"]["config.kubernetes.io/local-config"];
        !local.is_null() && local != "false"
    }

    /// Returns the object as it is printed.
    pub fn into_printed(self) -> anyhow::Result<Value> {
        let whole = format!("{}: {}", self.origin, self.id());
        let mut value = self.into_stripped()?;
        convert_to_printed(&mut value)
            .map_err(|fault| anyhow::format_err!("{whole}: {fault}"))
            .hint("change the text that it comes from")?;
        Ok(value)
    }

    /// Removes the annotations that are only for tools, converts the others to strings, and omits empty fields.
    fn into_stripped(mut self) -> anyhow::Result<Value> {
        let whole = format!("{}: {}", self.origin, self.id());
        let metadata = self.value.get_mut("metadata").and_then(Value::as_object_mut);
        match metadata.and_then(|metadata| metadata.get_mut("annotations")) {
            None | Some(Value::Null) => {}
            Some(Value::Object(map)) => {
                share::convert_to_strings(map).with_context(|| whole.clone())?
            }
            Some(_) => anyhow::bail!("{whole}: its `annotations` are not a map"),
        }
        share::remove_notes(&mut self.value);
        // Only a list has no metadata, and kustomize adds it when it removes its own annotations.
        if let Value::Object(object) = &mut self.value {
            object.entry("metadata").or_insert_with(|| json!({}));
        }
        let Some(Value::Object(metadata)) = self.value.get_mut("metadata") else {
            return Ok(self.value);
        };
        let Some(Value::Object(annotations)) = metadata.get_mut("annotations") else {
            metadata.remove("annotations");
            return Ok(self.value);
        };
        annotations.retain(|key, _| {
            let internal = key
                .strip_prefix(INTERNAL_PREFIX)
                .is_some_and(|name| INTERNAL_NAMES.split(' ').any(|one| one == name));
            let removed = ALSO_REMOVED.contains(&key.as_str());
            !internal && !removed && !LEGACY.contains(&key.as_str())
        });
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
        Ok(self.value)
    }
}

/// Changes the strings of a value to those that kustomize prints.
fn convert_to_printed(value: &mut Value) -> Result<(), String> {
    match value {
        Value::String(text) => {
            if let Cow::Owned(printed) = yaml::printed_string(text)? {
                *text = printed;
            }
        }
        Value::Array(items) => items.iter_mut().try_for_each(convert_to_printed)?,
        Value::Object(map) => {
            if let Some(fault) = map.keys().find_map(|key| yaml::find_key_error(key)) {
                return Err(fault);
            }
            map.values_mut().try_for_each(convert_to_printed)?;
        }
        _ => {}
    }
    Ok(())
}
