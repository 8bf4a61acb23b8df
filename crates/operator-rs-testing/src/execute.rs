//! Carries out a request on the stored objects.

use super::{
    Cluster,
    admission::Desk,
    delete::{delete, delete_by_policy, review_delete},
    list::{answer_list, select_objects},
    object::Object,
    refusal::{Refusal, Subject},
    request::Request,
    store::Store,
    versions,
    write::write,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns the HTTP status and the text of the answer.
pub fn execute_request(
    cluster: &Cluster,
    request: &Request,
    body: &[u8],
    desk: &mut Desk,
) -> Result<(u16, String), Refusal> {
    let body: Value = match body {
        [] => Value::Null,
        body => serde_json::from_slice(body).map_err(|error| Refusal::bad_request(error.to_string()))?,
    };
    let key = (request.namespace.clone(), request.name.clone());
    cluster.with_pages(|store, pages| match request.verb {
        "list" => Ok((200, answer_list(store, pages, request)?)),
        "get" => {
            let kind = store.collection(&request.resource).kind.name.clone();
            let it = Subject { resource: &request.resource, kind: &kind, name: &request.name };
            let object = store.get(&request.resource, &key).ok_or_else(|| Refusal::not_found(it))?;
            Ok((200, object_text(store, request, &object)?))
        }
        "delete" => {
            let deleted = delete(store, request, &key, &body, desk)?;
            if !deleted.gone || request.resource == "pods" {
                return Ok((200, object_text(store, request, &deleted.object)?));
            }
            let (plural, group) = request.resource.split_once('.').unwrap_or((&request.resource, ""));
            let mut details = json!({ "name": request.name, "kind": plural, "uid": deleted.object.uid });
            if !group.is_empty() {
                details["group"] = group.into();
            }
            let status = json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
                "details": details });
            Ok((200, status.to_string()))
        }
        "deletecollection" => {
            let policy = body["propagationPolicy"].as_str().unwrap_or_default();
            let answer = answer_list(store, pages, request)?;
            let objects = select_objects(store, request)?;
            let kind = store.collection(&request.resource).kind.name.clone();
            let mut refused = None;
            // All are reviewed before the first one goes, since a request is carried out again after each review.
            let allowed =
                objects.iter().take_while(|object| match review_delete(store, desk, request, &kind, object) {
                    Ok(()) => true,
                    Err(why) => {
                        refused = Some(why);
                        false
                    }
                });
            let allowed: Vec<_> = allowed.collect();
            if desk.is_missing_a_review() {
                return Err(refused.unwrap_or_else(|| Refusal::with_code(500)));
            }
            for object in allowed {
                delete_by_policy(store, &request.resource, object, policy);
            }
            refused.map_or(Ok((200, answer)), Err)
        }
        _ => {
            let (code, object) = write(store, request, body, desk)?;
            Ok((code, object_text(store, request, &object)?))
        }
    })
}

fn object_text(store: &mut Store, request: &Request, object: &Arc<Object>) -> Result<String, Refusal> {
    if request.metadata_only {
        return Ok(object.metadata_only());
    }
    let kind = store.collection(&request.resource).kind.name.clone();
    Ok(versions::read_object(store, request, object)?.typed(&request.api_version, &kind))
}
