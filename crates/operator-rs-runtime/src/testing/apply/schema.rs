//! Which lists are sets, maps or atomic: a table of what the built-in kinds declare. The
//! in-memory server has no OpenAPI schemas.

use serde_json::{Map, Value};

/// How a value is merged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// As a whole.
    Leaf,
    /// Field by field.
    Struct,
    /// Item by item, by value.
    Set,
    /// Item by item, by these fields.
    Keyed(&'static [&'static str]),
}

impl Shape {
    /// The path element of an item of such a list.
    pub fn element(&self, item: &Value) -> String {
        let Self::Keyed(names) = self else { return format!("v:{item}") };
        let mut keys = Map::new();
        for name in *names {
            let default = if *name == "protocol" { Value::from("TCP") } else { Value::Null };
            keys.insert((*name).to_owned(), item.get(name).cloned().unwrap_or(default));
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
}

/// Whether a resource such as `deployments.apps` is one of Kubernetes itself.
pub fn is_built_in(resource: &str) -> bool {
    resource.split_once('.').is_none_or(|(_, group)| !group.contains('.') || group.ends_with(".k8s.io"))
}

impl<'a> Schema<'a> {
    /// The root of an object.
    pub fn of(resource: &'a str) -> Self {
        Self { resource, built_in: is_built_in(resource), parent: "", name: "", item: false }
    }

    /// A field of this place.
    pub fn field(self, name: &'a str) -> Self {
        Self { parent: self.name, name, item: false, ..self }
    }

    /// An item of the list at this place.
    pub fn item(self) -> Self {
        Self { item: true, ..self }
    }

    /// How the value at this place is merged.
    pub fn shape(self, value: &Value) -> Shape {
        match value {
            Value::Object(_) if !self.atomic_struct() => Shape::Struct,
            Value::Array(_) if !self.item => self.list(),
            _ => Shape::Leaf,
        }
    }

    fn atomic_struct(self) -> bool {
        if self.item {
            return self.name == "ownerReferences"
                || self.built_in && ["imagePullSecrets", "secrets"].contains(&self.name);
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

    fn list(self) -> Shape {
        const NAME: Shape = Shape::Keyed(&["name"]);
        const POD: Shape = Shape::Keyed(&["containerPort", "protocol"]);
        const SERVICE: Shape = Shape::Keyed(&["port", "protocol"]);
        match (self.parent, self.name) {
            ("metadata", "ownerReferences") => return Shape::Keyed(&["uid"]),
            ("metadata", "finalizers") => return Shape::Set,
            ("status", "conditions") if self.resource != "jobs.batch" => {
                return Shape::Keyed(&["type"]);
            }
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
            "volumeMounts" if in_container => Shape::Keyed(&["mountPath"]),
            "volumeDevices" if in_container => Shape::Keyed(&["devicePath"]),
            "ports" if in_container => POD,
            "ports" if self.resource == "services" => SERVICE,
            "imagePullSecrets" if self.resource != "serviceaccounts" => NAME,
            "secrets" if self.resource == "serviceaccounts" => NAME,
            "hostAliases" => Shape::Keyed(&["ip"]),
            "topologySpreadConstraints" => Shape::Keyed(&["topologyKey", "whenUnsatisfiable"]),
            "podIPs" => Shape::Keyed(&["ip"]),
            "podCIDRs" => Shape::Set,
            "addresses" if self.resource == "nodes" => Shape::Keyed(&["type"]),
            "claims" if self.parent == "resources" => NAME,
            "webhooks" | "matchConditions" => NAME,
            _ => Shape::Leaf,
        }
    }
}
