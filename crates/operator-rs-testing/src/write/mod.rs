//! Creates, updates and patches of one object.

mod change;
mod checks;
mod reviews;

use super::{
    admission::Desk,
    apply::{Manager, Writer},
    built_in::is_built_in,
    crd::declared_schema,
    kinds::Kind,
    object::{Key, Object},
    patch,
    refusal::{Refusal, Subject},
    request::Request,
    secret::encode_string_data,
    store::Store,
    structural,
    versions::{self, Versions},
};
use serde_json::{Value, json};
use std::sync::Arc;

/// The result of a write: the HTTP status code, and the object.
pub type Written = Result<(u16, Arc<Object>), Refusal>;

/// One write to one object.
struct WriteRequest<'a> {
    store: &'a mut Store,
    request: &'a Request,
    kind: Kind,
    declared: Option<Value>,
    versions: Option<Versions>,
    desk: &'a mut Desk,
}

/// An update creates these where they are not there, and needs a version where they are.
const LEASES: &str = "leases.coordination.k8s.io";

/// Carries out a create, an update, a patch or an apply.
pub fn write(store: &mut Store, request: &Request, body: Value, desk: &mut Desk) -> Written {
    let kind = learn_kind(store, &request.resource, &body);
    let declared = declared_schema(store, &request.resource, &request.api_version);
    let versions = Versions::of(store, &request.resource);
    let mut write = WriteRequest { store, request, kind, declared, versions, desk };
    match request.verb {
        "create" => write.create(body),
        "update" => write.update(body),
        "apply" => write.apply(body),
        _ => write.patch(body),
    }
}

/// Creates or replaces an object, its status too, without a resource version.
pub fn put(store: &mut Store, resource: &str, mut body: Value) -> Written {
    let word = |it: &str| body["metadata"][it].as_str().unwrap_or_default().to_owned();
    let (namespace, name) = (word("namespace"), word("name"));
    let versions = Versions::of(store, resource);
    let version = match (&versions, resource.split_once('.')) {
        (Some(versions), _) => versions.stored.clone(),
        (None, Some((_, group))) => format!("{group}/v1"),
        (None, None) => "v1".to_owned(),
    };
    let api_version = body["apiVersion"].as_str().map_or(version, Into::into);
    let kind = Kind { status: false, ..learn_kind(store, resource, &body) };
    let before = store.get(resource, &(namespace.clone(), name.clone()));
    if let Some(meta) = body["metadata"].as_object_mut() {
        meta.remove("uid");
        meta.remove("resourceVersion");
    }
    if let Some(before) = &before {
        body["metadata"]["resourceVersion"] = before.version.to_string().into();
    }
    let exists = before.is_some();
    let verb = if exists { "update" } else { "create" };
    let agent = "test".into();
    let resource = resource.into();
    let request = Request { verb, resource, api_version, namespace, name, agent, ..Request::default() };
    let declared = declared_schema(store, &request.resource, &request.api_version);
    let mut desk = Desk::without_webhooks();
    let mut write = WriteRequest { store, request: &request, kind, declared, versions, desk: &mut desk };
    if exists { write.update(body) } else { write.create(body) }
}

/// The kind of a resource: what is written says it.
fn learn_kind(store: &mut Store, resource: &str, body: &Value) -> Kind {
    let kind = &mut store.collection(resource).kind;
    if let (true, Some(name)) = (kind.guessed, body["kind"].as_str()) {
        (kind.name, kind.guessed) = (name.into(), false);
    }
    kind.clone()
}

impl WriteRequest<'_> {
    fn subject<'a>(&'a self, name: &'a str) -> Subject<'a> {
        Subject { resource: &self.request.resource, kind: &self.kind.name, name }
    }

    fn key(&self) -> Key {
        (self.request.namespace.clone(), self.request.name.clone())
    }

    fn to_status(&self) -> bool {
        self.request.subresource == "status"
    }

    /// The fields that this request cannot write.
    fn protected_fields(&self) -> &'static [&'static str] {
        match (self.to_status(), self.kind.status) {
            (true, _) => &["metadata", "spec"],
            (false, true) => &["status"],
            (false, false) => &[],
        }
    }

    fn writer(&self) -> Writer<'_> {
        let agent = self.request.agent.split('/').next().filter(|name| !name.is_empty()).unwrap_or("unknown");
        let name = match self.request.param("fieldManager") {
            "" => agent,
            name => name,
        };
        let manager = Manager {
            apply: self.request.verb == "apply",
            name: name.into(),
            api_version: self.request.api_version.clone(),
            subresource: self.request.subresource.clone(),
        };
        let (resource, declared) = (&self.request.resource, self.declared.as_ref());
        let versions = self.versions.as_ref();
        Writer { resource, manager, reset: self.protected_fields(), declared, versions, now: &self.desk.now }
    }

    fn create(&mut self, mut body: Value) -> Written {
        if !body["metadata"].is_object() {
            body["metadata"] = json!({});
        }
        self.check_namespace(&body)?;
        let mut empty = json!({ "metadata": {} });
        if is_built_in(&self.request.resource) && body["spec"].is_object() {
            empty["spec"] = json!({});
        }
        let sent = body.clone();
        self.restore_fixed_fields(&mut body, None);
        self.conform_to_schema(&mut body)?;
        let object = self.writer().update(&empty, body, true)?;
        let mut object = self.review_mutation(object, &sent, None)?;
        let meta = &mut object["metadata"];
        if let (None | Some(""), Some(prefix)) = (meta["name"].as_str(), meta["generateName"].as_str()) {
            meta["name"] = format!("{prefix}{}", self.desk.name_suffix(self.store)).into();
        }
        let name = meta["name"].as_str().unwrap_or_default().to_owned();
        if name.is_empty() {
            let why = "Required value: name or generateName is required";
            return Err(Refusal::invalid(self.subject(""), "metadata.name", "FieldValueRequired", why));
        }
        let object = self.complete_new(object, &name)?;
        // Only storing it is refused.
        let version = sent["metadata"]["resourceVersion"].as_str().filter(|_| !self.desk.is_dry_run);
        if version.is_some_and(|version| !version.is_empty()) {
            return Err(Refusal::new(500, "", "resourceVersion should not be set on objects to be created"));
        }
        let key = (self.request.namespace.clone(), name.clone());
        if self.store.get(&self.request.resource, &key).is_some() {
            return Err(Refusal::already_exists(self.subject(&name)));
        }
        Ok((201, self.put(object)?))
    }

    /// A new object as it is stored.
    fn complete_new(&mut self, mut object: Value, name: &str) -> Result<Value, Refusal> {
        self.check_owners(&object, name)?;
        // An update drops them, too: a repeated apply would change the object otherwise.
        change::drop_null_fields(&mut object);
        if self.request.resource == LEASES && object["spec"].is_null() {
            object["spec"] = json!({}); // it is never absent
        }
        let meta = &mut object["metadata"];
        meta["name"] = name.into();
        if !self.request.namespace.is_empty() {
            meta["namespace"] = self.request.namespace.clone().into();
        }
        meta["uid"] = self.desk.new_uid(self.store).into();
        meta["creationTimestamp"] = self.desk.now.clone().into();
        if self.kind.generation {
            meta["generation"] = 1.into();
        }
        self.review_validation(object, None)
    }

    fn update(&mut self, body: Value) -> Written {
        self.check_name(&body)?;
        self.check_namespace(&body)?;
        if self.request.resource == LEASES && self.current_object().is_err() {
            let mut body = body;
            if let Some(uid) = body["metadata"]["uid"].as_str().filter(|uid| !uid.is_empty()) {
                let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: ");
                return Err(Refusal::other_uid(self.subject(&self.request.name), &why));
            }
            if let Some(meta) = body["metadata"].as_object_mut() {
                meta.remove("resourceVersion");
            }
            return self.create(body);
        }
        let before = self.current_object()?;
        self.check_uid(&before, &body)?;
        self.replace(&before, body)
    }

    fn patch(&mut self, body: Value) -> Written {
        patch::check_content_type(&self.request.content_type, &self.request.resource)?;
        let before = self.current_object()?;
        let value = self.value_of(&before)?;
        let mut after = patch::apply_patch(&self.request.content_type, &self.request.resource, value, body)?;
        if !after.is_object() || !after["metadata"].is_object() {
            return Err(Refusal::patch_failed());
        }
        after["metadata"]["name"] = before.key.1.clone().into();
        self.replace(&before, after)
    }

    fn apply(&mut self, body: Value) -> Written {
        self.check_apply(&body)?;
        let key = self.key();
        let force = self.request.flag("force");
        let Some(before) = self.store.get(&self.request.resource, &key) else {
            if self.to_status() {
                return Err(Refusal::not_found(self.subject(&key.1)));
            }
            if let Some(uid) = body["metadata"]["uid"].as_str() {
                return Err(Refusal::absent_uid(self.subject(&key.1), uid));
            }
            if body["metadata"]["name"].as_str().is_none_or(str::is_empty) {
                let why = "was undeterminable: name must be provided";
                return Err(Refusal::bad_request(format!("the name of the object ({} based on URL) {why}", key.1)));
            }
            let object = self.writer().apply(&json!({ "metadata": {} }), body.clone(), force)?;
            let object = self.with_defaults(object);
            let object = self.review_mutation(object, &body, None)?;
            let object = self.complete_new(object, &key.1)?;
            return Ok((201, self.put(object)?));
        };
        let value = self.value_of(&before)?;
        let after = self.writer().apply(&value, body.clone(), force)?;
        let after = self.with_defaults(after);
        let mut sent = value.clone();
        for name in ["resourceVersion", "uid"].iter().filter(|name| !body["metadata"][**name].is_null()) {
            sent["metadata"][name] = body["metadata"][name].clone();
        }
        if self.desk.has_webhooks() && !body["status"].is_null() {
            let whole = Writer { reset: &[], ..self.writer() }.apply(&value, body.clone(), true)?;
            sent["status"] = whole["status"].clone();
        }
        let after = self.review_mutation(after, &sent, Some(&value))?;
        self.check_version(&before, &body)?;
        self.store_change(&before, value, after)
    }

    fn with_defaults(&self, mut object: Value) -> Value {
        change::drop_empty_metadata(&mut object);
        encode_string_data(&self.request.resource, &mut object);
        if let Some(schema) = &self.declared {
            structural::complete(&mut object, schema);
        }
        object
    }

    /// A stored object in the version of the request.
    fn value_of(&self, object: &Object) -> Result<Value, Refusal> {
        versions::read_version(self.store, self.request, object)
    }

    /// An object of the request in the version that is stored.
    fn as_stored(&self, object: Value) -> Result<Value, Refusal> {
        match &self.versions {
            Some(it) => it.convert(&object, &self.request.api_version, &it.stored),
            None => Ok(object),
        }
    }

    fn current_object(&self) -> Result<Arc<Object>, Refusal> {
        let key = self.key();
        let object = self.store.get(&self.request.resource, &key);
        object.ok_or_else(|| Refusal::not_found(self.subject(&key.1)))
    }
}
