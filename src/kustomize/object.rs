//! An object on its way through the kustomizations, with what it was called before.

use super::scope;
use crate::{
    model::ProjectPath,
    yaml::{Map, Value, json},
};

/// Stands for "no namespace" where a namespace is compared.
const NOWHERE: &str = "_non_namespaceable_";

#[derive(Clone, Debug)]
pub struct Object {
    pub value: Value,
    /// The file it came from.
    pub origin: ProjectPath,
    /// What it was before each change of its name or namespace, the oldest first.
    former: Vec<Former>,
    /// What was put before and after its name, the innermost first.
    pub prefixes: Vec<String>,
    pub suffixes: Vec<String>,
    /// Whether a hash of its content belongs to its name.
    pub hashed: bool,
}

#[derive(Clone, Debug)]
struct Former {
    namespace: String,
    name: String,
    kind: String,
}

/// Who an object is among all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub name: String,
    /// The effective one: `default` where none is given, and a word of its own outside namespaces.
    pub namespace: String,
}

impl Id {
    pub fn is_cluster_scoped(&self) -> bool {
        self.namespace == NOWHERE
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { group, version, kind, name, namespace } = self;
        let slash = if group.is_empty() { "" } else { "/" };
        write!(f, "{group}{slash}{version} {kind} `{name}`")?;
        if self.is_cluster_scoped() { Ok(()) } else { write!(f, " in namespace `{namespace}`") }
    }
}

impl Object {
    pub fn new(value: Value, origin: ProjectPath) -> Self {
        Self {
            value,
            origin,
            former: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            hashed: false,
        }
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
    /// As written; empty where none is.
    pub fn namespace(&self) -> &str {
        self.value["metadata"]["namespace"].as_str().unwrap_or_default()
    }

    pub fn is_cluster_scoped(&self) -> bool {
        scope::is_cluster_scoped(self.api_version(), self.kind())
    }

    /// Who it is now.
    pub fn id(&self) -> Id {
        let (group, version) = self.group_version();
        let namespace = match self.namespace() {
            _ if self.is_cluster_scoped() => NOWHERE,
            "" => "default",
            namespace => namespace,
        };
        Id {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: self.kind().to_owned(),
            name: self.name().to_owned(),
            namespace: namespace.to_owned(),
        }
    }

    /// Who it was before, the oldest first.
    pub fn former_ids(&self) -> impl Iterator<Item = Id> {
        let (group, version) = self.group_version();
        self.former.iter().map(move |it| Id {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: it.kind.clone(),
            name: it.name.clone(),
            namespace: it.namespace.clone(),
        })
    }

    /// Who it was at first.
    pub fn original_id(&self) -> Id {
        self.former_ids().next().unwrap_or_else(|| self.id())
    }

    /// To be called before a change of name or namespace.
    pub fn remember(&mut self) {
        let Id { namespace, name, kind, .. } = self.id();
        self.former.push(Former { namespace, name, kind });
    }

    pub fn set_name(&mut self, name: &str) {
        self.set("name", Some(name));
    }

    /// Sets the namespace, or takes it away.
    pub fn set_namespace(&mut self, namespace: Option<&str>) {
        self.set("namespace", namespace);
    }

    fn set(&mut self, key: &str, value: Option<&str>) {
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

    /// A patch may leave nothing of an object.
    pub fn is_empty(&self) -> bool {
        self.value.is_null() || self.value.as_object().is_some_and(Map::is_empty)
    }

    /// Whether it is there for tools only, and is not printed.
    pub fn is_local(&self) -> bool {
        let local = &self.value["metadata"]["annotations"]["config.kubernetes.io/local-config"];
        !local.is_null() && local != "false"
    }

    /// As it is printed: annotations are strings, and no annotations are no field.
    pub fn finish(mut self) -> anyhow::Result<Value> {
        let whole = format!("{}: {}", self.origin, self.id());
        if let Some(Value::Object(metadata)) = self.value.get_mut("metadata") {
            match metadata.get("annotations") {
                Some(Value::Object(map)) => {
                    if let Some((key, _)) = map.iter().find(|it| !it.1.is_string()) {
                        anyhow::bail!("{whole}: its annotation `{key}` is not a string");
                    }
                    if map.is_empty() {
                        metadata.remove("annotations");
                    }
                }
                Some(Value::Null) => drop(metadata.remove("annotations")),
                Some(_) => anyhow::bail!("{whole}: its `annotations` are no map"),
                None => {}
            }
        }
        Ok(self.value)
    }
}

/// Objects in the order in which they were met; no two are the same.
#[derive(Debug, Default)]
pub struct Objects(pub Vec<Object>);

impl Objects {
    pub fn add(&mut self, object: Object) -> anyhow::Result<()> {
        let id = object.id();
        // Names are compared first: an id is five strings, and objects may be many.
        let same = |it: &&Object| it.name() == object.name() && it.id() == id;
        if let Some(other) = self.0.iter().find(same) {
            anyhow::bail!("{}: {id} is there already, from {}", object.origin, other.origin);
        }
        self.0.push(object);
        Ok(())
    }

    /// Adds what a generator made.
    pub fn absorb(&mut self, object: Object) -> anyhow::Result<()> {
        let id = object.id();
        let same = |it: &&Object| it.id() == id || it.former_ids().any(|it| it == id);
        if let Some(other) = self.0.iter().find(same) {
            anyhow::bail!("{}: {id} is there already, from {}", object.origin, other.origin);
        }
        self.0.push(object);
        Ok(())
    }

    /// The objects that are, or were, what is asked for.
    pub fn by_any_id(&self, id: &Id) -> Vec<usize> {
        let is = |it: &Object| it.id() == *id || it.former_ids().any(|it| it == *id);
        (0..self.0.len()).filter(|at| is(&self.0[*at])).collect()
    }
}
