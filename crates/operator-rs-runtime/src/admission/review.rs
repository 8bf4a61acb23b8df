//! Answers an AdmissionReview. If the request's uid can be read, the response is a review, even after a failure.

use super::{Denied, Operation, Request, objects::Objects};
use crate::{
    Manager,
    webhooks::{Call, error_response, json_response, run_guarded},
};
use http::{Response, StatusCode};
use hyper::body::Bytes;
use k8s_openapi::{ByteString, api::authentication::v1::UserInfo};
use kube::{Resource, core::GroupVersionKind};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use std::sync::Arc;

const API_VERSION: &str = "admission.k8s.io/v1";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AdmissionReview<'a> {
    api_version: String,
    kind: String,
    #[serde(borrow)]
    request: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RequestUid {
    uid: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AdmissionRequest<'a> {
    kind: GroupVersionKind,
    request_kind: Option<GroupVersionKind>,
    #[serde(default)]
    sub_resource: String,
    namespace: Option<String>,
    #[serde(default)]
    name: String,
    operation: Operation,
    #[serde(default)]
    user_info: UserInfo,
    #[serde(default)]
    dry_run: bool,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    old_object: Option<&'a RawValue>,
}

/// Answers a review with the verdict of `judge` and its JSON patch, if any.
pub async fn answer_review<K, F>(
    manager: Manager,
    call: Call,
    judge: impl FnOnce(Arc<Request>, Objects) -> F + Send + 'static,
) -> Response<Bytes>
where
    K: Resource<DynamicType = ()>,
    F: Future<Output = Result<Option<Vec<u8>>, Denied>> + Send + 'static,
{
    let (uid, request) = match parse_review(&call.body) {
        Ok(parsed) => parsed,
        Err(why) => return error_response(StatusCode::BAD_REQUEST, &why),
    };
    let request = match serde_json::from_str::<AdmissionRequest>(request.get()) {
        Ok(request) => request,
        Err(error) => {
            let status = json!({ "message": format!("the request cannot be read: {error}"), "reason": "BadRequest", "code": 400 });
            let response = json!({ "uid": uid, "allowed": false, "status": status });
            return json_response(StatusCode::OK, &to_admission_review(response));
        }
    };
    let bytes = |object: &RawValue| call.body.slice_ref(object.get().as_bytes());
    let objects = Objects { desired: request.object.map(bytes), current: request.old_object.map(bytes) };
    let request = Arc::new(request.into_request(uid, &manager));
    let verdict = match check_kind::<K>(&request) {
        Ok(()) => {
            let judged = run_guarded(&manager, call.until, judge(request.clone(), objects)).await;
            judged.unwrap_or_else(|why| Err(Denied::internal_error(why)))
        }
        Err(denied) => Err(denied),
    };
    let mut response = json!({ "uid": request.uid, "allowed": verdict.is_ok() });
    match verdict {
        Ok(None) => {}
        Ok(Some(patch)) => {
            response["patchType"] = "JSONPatch".into();
            response["patch"] = json!(ByteString(patch));
        }
        Err(denied) => response["status"] = denied.to_status(&request),
    }
    let warnings = request.take_warnings();
    if !warnings.is_empty() {
        response["warnings"] = warnings.into();
    }
    json_response(StatusCode::OK, &to_admission_review(response))
}

fn to_admission_review(response: serde_json::Value) -> serde_json::Value {
    json!({ "apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response })
}

/// Returns the uid and the request of a review.
///
/// # Errors
/// If the body is not a review, or its request has no uid: then no review can answer it.
fn parse_review(body: &[u8]) -> Result<(String, &RawValue), String> {
    if body.is_empty() {
        return Err("the body is empty: it has to be an AdmissionReview".into());
    }
    let review: AdmissionReview =
        serde_json::from_slice(body).map_err(|error| format!("the body is no AdmissionReview: {error}"))?;
    if (&*review.api_version, &*review.kind) != (API_VERSION, "AdmissionReview") {
        let (version, kind) = (review.api_version, review.kind);
        return Err(format!("`{kind}` of `{version}` is not supported: send an AdmissionReview of `{API_VERSION}`"));
    }
    let request = review.request.ok_or("the AdmissionReview has no request")?;
    match serde_json::from_str::<RequestUid>(request.get()) {
        Ok(RequestUid { uid }) if !uid.is_empty() => Ok((uid, request)),
        _ => Err("the request of the AdmissionReview has no uid".into()),
    }
}

/// Denies a request for another kind than `K`: the rules of the webhook's configuration are wrong.
fn check_kind<K: Resource<DynamicType = ()>>(request: &Request) -> Result<(), Denied> {
    let (group, version, kind) = (K::group(&()), K::version(&()), K::kind(&()));
    let sent = &request.kind;
    if (&*sent.group, &*sent.version, &*sent.kind) == (&*group, &*version, &*kind) {
        return Ok(());
    }
    let api_version =
        |group: &str, version: &str| if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    Err(Denied::bad_request(format!(
        "this webhook is for `{kind}` of `{}` and was sent `{}` of `{}`: correct its rules",
        api_version(&group, &version),
        sent.kind,
        api_version(&sent.group, &sent.version)
    )))
}

impl AdmissionRequest<'_> {
    fn into_request(self, uid: String, manager: &Manager) -> Request {
        Request {
            uid,
            operation: self.operation,
            request_kind: self.request_kind.unwrap_or_else(|| self.kind.clone()),
            kind: self.kind,
            subresource: self.sub_resource,
            namespace: self.namespace.filter(|namespace| !namespace.is_empty()),
            name: self.name,
            user: self.user_info,
            dry_run: self.dry_run,
            client: manager.client.clone(),
            warnings: Default::default(),
        }
    }
}
