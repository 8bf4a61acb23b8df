//! Requests of which nothing is stored: carried out on a copy of the server.

use super::{
    Cluster,
    admission::Desk,
    built_in::is_built_in,
    execute::execute_request,
    refusal::Refusal,
    request::Request,
    store::{Collection, Store},
};
use serde_json::{Value, json};

/// Returns true if nothing of a request is to be stored. A body with options takes the place of the query.
pub fn is_dry_run(request: &Request, body: &[u8]) -> bool {
    let options: Value = serde_json::from_slice(body).unwrap_or_default();
    match request.verb {
        "delete" | "deletecollection" if !body.is_empty() => options["dryRun"] == json!(["All"]),
        _ => request.param("dryRun") == "All",
    }
}

/// The answer to a request, as if it had been carried out.
pub fn dry_run(cluster: &Cluster, request: &Request, body: &[u8], desk: &mut Desk) -> Result<(u16, String), Refusal> {
    let (before, copy) = cluster.with_store(|store| {
        let before = store.get(&request.resource, &(request.namespace.clone(), request.name.clone()));
        // No two answers have the same new uid.
        store.uids += 1;
        (before, Cluster::default().with_copy(store))
    });
    let mut request = Request { is_dry_run: false, ..request.clone() };
    request.query.remove("dryRun");
    let sent: Value = serde_json::from_slice(body).unwrap_or_default();
    let version = &sent["metadata"]["resourceVersion"];
    let (code, text) = execute_request(&copy, &request, body, desk)?;
    let mut object: Value = serde_json::from_str(&text).unwrap_or_default();
    if let ("delete", "Status", Some(before)) = (request.verb, object["kind"].as_str().unwrap_or_default(), &before) {
        // One that takes away the last finalizer answers with an object that has only its type: the real server changes
        // the finalizers first, and then does not find the object of which nothing was stored.
        if before.value()["metadata"]["finalizers"].is_array() {
            let kind = copy.with_store(|store| store.collection(&request.resource).kind.name.clone());
            object = json!({ "apiVersion": request.api_version, "kind": kind });
            if is_built_in(&request.resource) {
                object["metadata"] = json!({});
            }
            return Ok((code, object.to_string()));
        }
    }
    // The version is that of what is stored, or else the one that was sent.
    if let Some(meta) = object["metadata"].as_object_mut() {
        match before {
            Some(it) => meta.insert("resourceVersion".into(), it.version.to_string().into()),
            None => match version.as_str() {
                Some(version) if !version.is_empty() => meta.insert("resourceVersion".into(), version.into()),
                _ => meta.remove("resourceVersion"),
            },
        };
    }
    Ok((code, object.to_string()))
}

impl Cluster {
    fn with_copy(self, of: &Store) -> Self {
        self.with_store(|store| {
            store.version = of.version;
            store.converter = of.converter.clone();
            store.uids = of.uids - 1;
            for (resource, Collection { kind, objects, .. }) in of.collections() {
                store.collection(resource).kind = kind.clone();
                objects.values().for_each(|object| store.seed(resource, object.value()));
            }
        });
        self
    }
}
