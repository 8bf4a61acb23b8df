//! The reasons to refuse a write.

use super::{
    super::{
        built_in::is_built_in,
        object::Object,
        refusal::{Refusal, Subject},
        structural,
    },
    LEASES, WriteRequest,
};
use serde_json::Value;

impl WriteRequest<'_> {
    pub(super) fn check_apply(&self, body: &Value) -> Result<(), Refusal> {
        if self.request.param("fieldManager").is_empty() {
            let it = Subject { resource: "patchoptions.meta.k8s.io", kind: "PatchOptions", name: "" };
            let why = "Required value: is required for apply patch";
            return Err(Refusal::invalid(it, "fieldManager", "FieldValueRequired", why));
        }
        if body["metadata"]["managedFields"].as_array().is_some_and(|entries| !entries.is_empty()) {
            return Err(Refusal::bad_request("metadata.managedFields must be nil"));
        }
        self.check_name(body)?;
        let mut unknown = Vec::new();
        if let Some(schema) = &self.declared {
            unknown.extend(structural::undeclared_in_apply(body, schema));
        } else if !self.kind.conditions && !body["status"]["conditions"].is_null() {
            unknown.push("status.conditions".to_owned());
        }
        if !unknown.is_empty() {
            let meta = |it: &str| body["metadata"][it].as_str().unwrap_or_default().to_owned();
            let (group, kind) = (&self.request.api_version, &self.kind.name);
            let object = format!("{}/{}; {group}, Kind={kind}", meta("namespace"), meta("name"));
            let lines =
                unknown.iter().map(|field| format!(".{field}: field not declared in schema")).collect::<Vec<_>>();
            let lines = if lines.len() == 1 { lines.concat() } else { format!("errors:\n  {}", lines.join("\n  ")) };
            return Err(Refusal::new(500, "", format!("failed to create typed patch object ({object}): {lines}")));
        }
        Ok(())
    }

    pub(super) fn check_name(&self, body: &Value) -> Result<(), Refusal> {
        let name = body["metadata"]["name"].as_str().unwrap_or_default();
        if !name.is_empty() && name != self.request.name {
            let url = &self.request.name;
            let why = format!("the name of the object ({name}) does not match the name on the URL ({url})");
            return Err(Refusal::bad_request(why));
        }
        Ok(())
    }

    pub(super) fn check_namespace(&self, body: &Value) -> Result<(), Refusal> {
        let namespace = body["metadata"]["namespace"].as_str().unwrap_or_default();
        if !namespace.is_empty() && !self.request.namespace.is_empty() && namespace != self.request.namespace {
            let why = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Refusal::bad_request(why));
        }
        Ok(())
    }

    /// A condition has all that the schema of a custom resource requires. Without a CRD, this is what the usual type of
    /// conditions requires.
    pub(super) fn check_conditions(&self, new: &Value) -> Result<(), Refusal> {
        const REQUIRED: [&str; 4] = ["lastTransitionTime", "message", "reason", "status"];
        let conditions = |schema: &Value| schema["properties"]["status"]["properties"]["conditions"]["items"].clone();
        let declared = self.declared.as_ref().map(conditions);
        let required: Vec<&str> = match &declared {
            Some(item) => item["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
            None => REQUIRED.to_vec(),
        };
        let all = new["status"]["conditions"].as_array().filter(|_| !is_built_in(&self.request.resource));
        for (at, condition) in all.into_iter().flatten().enumerate() {
            if let Some(field) = required.iter().find(|name| condition[**name].is_null()) {
                let (field, name) = (format!("status.conditions[{at}].{field}"), &self.request.name);
                return Err(Refusal::invalid(self.subject(name), &field, "FieldValueRequired", "Required value"));
            }
        }
        Ok(())
    }

    /// The uid that the body of an update may have is that of the object.
    pub(super) fn check_uid(&self, before: &Object, body: &Value) -> Result<(), Refusal> {
        let uid = body["metadata"]["uid"].as_str();
        if let Some(uid) = uid.filter(|uid| *uid != before.uid && !uid.is_empty()) {
            let key = format!("/registry/{}/{}/{}", self.request.resource, before.key.0, before.key.1);
            let why = format!("StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0");
            let uids = format!("UID in precondition: {uid}, UID in object meta: {}", before.uid);
            let why = format!("{why}, AdditionalErrorMsg: Precondition failed: {uids}");
            return Err(Refusal::other_uid(self.subject(&before.key.1), &why));
        }
        Ok(())
    }

    /// The version and the uid that a body may have are those of the object.
    pub(super) fn check_version(&self, before: &Object, body: &Value) -> Result<(), Refusal> {
        let meta = &body["metadata"];
        let is_update = self.request.verb == "update";
        // The strategy of a status takes all metadata from the object that is there.
        let uid = meta["uid"].as_str().filter(|_| !self.to_status());
        let uid = uid.filter(|uid| *uid != before.uid && !uid.is_empty());
        let has_to_name_it = !is_built_in(&self.request.resource) || self.request.resource == LEASES;
        match meta["resourceVersion"].as_str() {
            None | Some("") if is_update && has_to_name_it => {
                let why = "Invalid value: 0: must be specified for an update";
                let kind = self.request.resource.split('.').next().unwrap_or_default();
                let it = Subject { kind, ..self.subject(&before.key.1) };
                return Err(Refusal::invalid(it, "metadata.resourceVersion", "FieldValueInvalid", why));
            }
            None | Some("") => {}
            Some(version) if version == before.version.to_string() => {}
            Some("0") if self.request.verb == "apply" => {}
            Some(_) => return Err(Refusal::conflict(self.subject(&before.key.1))),
        }
        match uid {
            Some(uid) => {
                let why = format!("Invalid value: \"{uid}\": field is immutable");
                Err(Refusal::invalid(self.subject(&before.key.1), "metadata.uid", "FieldValueInvalid", &why))
            }
            None => Ok(()),
        }
    }

    /// At most one owner is the controller.
    pub(super) fn check_owners(&self, object: &Value, name: &str) -> Result<(), Refusal> {
        let all = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        let controllers: Vec<_> = all.filter(|owner| owner["controller"] == true).collect();
        let [first, second, ..] = controllers.as_slice() else { return Ok(()) };
        let word = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let [first, second] = [first, second].map(|owner| format!("{}/{}", word(&owner["kind"]), word(&owner["name"])));
        let why = format!(
            "Invalid value: {}: Only one reference can have Controller set to true. Found \"true\" in references for \
             {first} and {second}",
            object["metadata"]["ownerReferences"],
        );
        Err(Refusal::invalid(self.subject(name), "metadata.ownerReferences", "FieldValueInvalid", &why))
    }

    pub(super) fn check_finalizers(&self, old: &Value, new: &Value) -> Result<(), Refusal> {
        if old["metadata"]["deletionTimestamp"].is_null() {
            return Ok(());
        }
        let list = |it: &Value| it["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
        let known = list(old);
        let added: Vec<_> = list(new)
            .into_iter()
            .filter(|finalizer| !known.contains(finalizer))
            .map(|finalizer| finalizer.to_string())
            .collect();
        if added.is_empty() {
            return Ok(());
        }
        let why = "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers";
        let why = format!("{why} []string{{{}}}", added.join(", "));
        Err(Refusal::invalid(self.subject(&self.request.name), "metadata.finalizers", "FieldValueForbidden", &why))
    }
}
