//! The lists that are sets, maps or atomic: a table of the built-in kinds, and the schema in the CRD of
//! a custom resource. The in-memory server has no other OpenAPI schemas.

use super::super::built_in::is_built_in;
use serde_json::{Map, Value};

/// The way in which a value is merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape<'a> {
    /// The value is merged as a whole.
    Leaf,
    /// Field by field.
    Struct,
    /// Item by item, by value.
    Set,
    /// Item by item, by these fields.
    Keyed(Keys<'a>),
}

/// The fields that the items of a list are found by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Keys<'a> {
    /// The list of a built-in kind.
    Known(&'static [&'static str]),
    /// The keys from the schema of the list in a CRD.
    Declared(&'a Value),
}

impl<'a> Keys<'a> {
    /// Their names.
    pub fn key_names(self) -> Vec<&'a str> {
        match self {
            Self::Known(names) => names.to_vec(),
            Self::Declared(list) => {
                let names = list["x-kubernetes-list-map-keys"].as_array();
                names.into_iter().flatten().filter_map(Value::as_str).collect()
            }
        }
    }

    /// The value of one that an item leaves out.
    fn default(self, name: &str) -> Value {
        match self {
            Self::Known(_) if name == "protocol" => "TCP".into(),
            Self::Known(_) => Value::Null,
            Self::Declared(list) => list["items"]["properties"][name]["default"].clone(),
        }
    }
}

impl Shape<'_> {
    /// The path element of an item of such a list.
    pub fn path_element(&self, item: &Value) -> String {
        let Self::Keyed(names) = self else { return format!("v:{item}") };
        let mut keys = Map::new();
        for name in names.key_names() {
            keys.insert(name.to_owned(), item.get(name).cloned().unwrap_or_else(|| names.default(name)));
        }
        format!("k:{}", Value::Object(keys))
    }
}

/// A place in an object: enough of its path to know its shape.
#[derive(Clone, Copy, Debug)]
pub struct Schema<'a> {
    resource: &'a str,
    built_in: bool,
    parent: &'a str,
    name: &'a str,
    item: bool,
    /// The schema of this place, where the CRD is known.
    declared: Option<&'a Value>,
}

impl<'a> Schema<'a> {
    /// The root of an object, and its schema where the CRD is known.
    pub fn root(resource: &'a str, declared: Option<&'a Value>) -> Self {
        Self { resource, built_in: is_built_in(resource), parent: "", name: "", item: false, declared }
    }

    /// A field of this place.
    pub fn field(self, name: &'a str) -> Self {
        let below = |it: &'a Value| it["properties"].get(name).unwrap_or(&it["additionalProperties"]);
        let is_metadata = self.name.is_empty() && name == "metadata";
        let declared = self.declared.filter(|_| !is_metadata).map(below);
        Self { parent: self.name, name, item: false, declared, ..self }
    }

    /// Returns true if this place is a map of a custom resource, with this name as a key and not as a declared field.
    pub fn is_key(self, name: &str) -> bool {
        let root = self.name.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name);
        !root && self.declared.is_some_and(|schema| schema["properties"].get(name).is_none())
    }

    /// An item of the list at this place.
    pub fn item(self) -> Self {
        Self { item: true, declared: self.declared.map(|schema| &schema["items"]), ..self }
    }

    /// The way in which the value at this place is merged.
    pub fn shape(self, value: &Value) -> Shape<'a> {
        match value {
            Value::Object(_) if !self.atomic_struct() => Shape::Struct,
            Value::Array(_) if !self.item => self.list_shape(),
            _ => Shape::Leaf,
        }
    }

    fn atomic_struct(self) -> bool {
        if self.item && self.name == "ownerReferences" {
            return true;
        }
        if let Some(declared) = self.declared {
            return declared["x-kubernetes-map-type"] == "atomic";
        }
        if self.item {
            return self.built_in && ["imagePullSecrets", "secrets"].contains(&self.name);
        }
        const ATOMIC: [&str; 18] = [
            "selector",
            "labelSelector",
            "podSelector",
            "namespaceSelector",
            "objectSelector",
            "nodeSelector",
            "secretKeyRef",
            "configMapKeyRef",
            "fieldRef",
            "resourceFieldRef",
            "roleRef",
            "scaleTargetRef",
            "involvedObject",
            "regarding",
            "related",
            "port",
            "requiredDuringSchedulingIgnoredDuringExecution",
            "paramKind",
        ];
        self.built_in && ATOMIC.contains(&self.name)
    }

    fn list_shape(self) -> Shape<'a> {
        const fn keyed(names: &'static [&'static str]) -> Shape<'static> {
            Shape::Keyed(Keys::Known(names))
        }
        const NAME: Shape = keyed(&["name"]);
        const POD: Shape = keyed(&["containerPort", "protocol"]);
        const SERVICE: Shape = keyed(&["port", "protocol"]);
        match (self.parent, self.name) {
            ("metadata", "ownerReferences") => return keyed(&["uid"]),
            ("metadata", "finalizers") => return Shape::Set,
            _ if self.declared.is_some() => return self.declared.map_or(Shape::Leaf, of_list),
            ("status", "conditions") if self.resource != "jobs.batch" => return keyed(&["type"]),
            _ if !self.built_in => return Shape::Leaf,
            _ => {}
        }
        let in_container = ["containers", "initContainers", "ephemeralContainers"].contains(&self.parent);
        match self.name {
            "containers"
            | "initContainers"
            | "ephemeralContainers"
            | "volumes"
            | "resourceClaims"
            | "schedulingGates" => NAME,
            "env" if in_container => NAME,
            "volumeMounts" if in_container => keyed(&["mountPath"]),
            "volumeDevices" if in_container => keyed(&["devicePath"]),
            "ports" if in_container => POD,
            "ports" if self.resource == "services" => SERVICE,
            "imagePullSecrets" if self.resource != "serviceaccounts" => NAME,
            "secrets" if self.resource == "serviceaccounts" => NAME,
            "hostAliases" => keyed(&["ip"]),
            "topologySpreadConstraints" => keyed(&["topologyKey", "whenUnsatisfiable"]),
            "podIPs" => keyed(&["ip"]),
            "podCIDRs" => Shape::Set,
            "addresses" if self.resource == "nodes" => keyed(&["type"]),
            "claims" if self.parent == "resources" => NAME,
            "webhooks" | "matchConditions" => NAME,
            _ => Shape::Leaf,
        }
    }
}

/// The way in which a list with this schema is merged.
fn of_list(schema: &Value) -> Shape<'_> {
    match schema["x-kubernetes-list-type"].as_str() {
        Some("map") => Shape::Keyed(Keys::Declared(schema)),
        Some("set") => Shape::Set,
        _ => Shape::Leaf,
    }
}
