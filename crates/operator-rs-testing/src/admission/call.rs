//! The call of a webhook, in the words of the real server.

use super::{
    super::{patch, refusal::Refusal, request::Request, structural},
    Review, Stage,
    configuration::Webhook,
};
use http::{Response, StatusCode};
use hyper::body::Bytes;
use k8s_openapi::ByteString;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::time::timeout;

/// Why there is no answer that counts.
pub struct Failure(pub String);

/// A JSON patch, which may be empty.
pub struct Patch(Value);

/// The verdict of a webhook and its warnings, or why there is none.
type CallResult = Result<(Result<Patch, Refusal>, Vec<String>), Failure>;

/// Calls a webhook with the object as it is by now.
pub async fn call_webhook(
    webhook: &Webhook,
    request: &Request,
    review: &Review,
    object: &Value,
    (is_dry_run, options): (bool, &Value),
) -> CallResult {
    static CALLS: AtomicU64 = AtomicU64::new(1);
    let uid = format!("00000000-0000-4000-9000-{:012x}", CALLS.fetch_add(1, Relaxed));
    let mut asked = request_of_review(request, review);
    asked["uid"] = uid.clone().into();
    asked["object"] = object.clone();
    asked["dryRun"] = is_dry_run.into();
    asked["options"] = options.clone();
    asked["options"]["kind"] = match review.operation {
        "CREATE" => "CreateOptions",
        "UPDATE" => "UpdateOptions",
        _ => "DeleteOptions",
    }
    .into();
    let body = json!({ "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": asked });
    let uri = format!("{}?timeout={}s", webhook.path, webhook.timeout.as_secs());
    let sent = http::Request::post(uri).header("content-type", "application/json").body(body.to_string().into());
    let sent = sent.map_err(|error| Failure(error.to_string()))?;
    let answer = match timeout(webhook.timeout, (webhook.service)(sent)).await {
        Ok(answer) => answer
            .and_then(|response| parse_response(&response))
            .map_err(|why| Failure(format!("failed to call webhook: {why}")))?,
        Err(_) => return Err(Failure("failed to call webhook: context deadline exceeded".into())),
    };
    let response = check_response(&answer, &uid, review.stage);
    let response = response.map_err(|why| Failure(format!("received invalid webhook response: {why}")))?;
    let warnings = serde_json::from_value(response["warnings"].clone()).unwrap_or_default();
    Ok((read_verdict(response, webhook), warnings))
}

/// The request in a review, without what differs from call to call.
fn request_of_review(request: &Request, review: &Review) -> Value {
    let (resource, group) = request.resource.split_once('.').unwrap_or((&request.resource, ""));
    let version = request.api_version.rsplit('/').next().unwrap_or_default();
    let kind = json!({ "group": group, "version": version, "kind": review.kind });
    let resource = json!({ "group": group, "version": version, "resource": resource });
    let mut asked = json!({
        "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
        "operation": review.operation, "oldObject": review.old,
        "userInfo": { "username": "test", "groups": ["system:authenticated"] },
    });
    for (name, value) in [
        ("name", &review.name),
        ("namespace", &request.namespace),
        ("subResource", &request.subresource),
        ("requestSubResource", &request.subresource),
    ] {
        if !value.is_empty() {
            asked[name] = value.clone().into();
        }
    }
    asked
}

/// An object as it is sent.
pub fn with_object_type(object: &Value, request: &Request, kind: &str) -> Value {
    let mut object = object.clone();
    if object.is_object() {
        object["apiVersion"] = request.api_version.clone().into();
        object["kind"] = kind.into();
        match request.namespace.as_str() {
            "" => drop(object["metadata"].as_object_mut().map(|metadata| metadata.remove("namespace"))),
            namespace => object["metadata"]["namespace"] = namespace.into(),
        }
    }
    object
}

/// The options of a request, as a review has them.
pub fn request_options(request: &Request, body: &[u8]) -> Value {
    let mut options = match request.verb {
        "delete" | "deletecollection" => serde_json::from_slice::<Map<String, Value>>(body).unwrap_or_default(),
        _ => Map::new(),
    };
    for name in ["fieldManager", "fieldValidation", "propagationPolicy"] {
        if !request.param(name).is_empty() {
            options.entry(name).or_insert_with(|| request.param(name).into());
        }
    }
    if request.is_dry_run {
        options.insert("dryRun".into(), json!(["All"]));
    }
    options.insert("apiVersion".into(), "meta.k8s.io/v1".into());
    options.into()
}

/// The review in an answer.
fn parse_response(answer: &Response<Bytes>) -> Result<Value, String> {
    let body = serde_json::from_slice::<Value>(answer.body());
    if answer.status() != StatusCode::OK {
        let message = body.ok().and_then(|body| body["message"].as_str().map(str::to_owned));
        return Err(message.unwrap_or_else(|| format!("the webhook answered {}", answer.status())));
    }
    let body = body.map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
    match (body["apiVersion"].as_str(), body["kind"].as_str()) {
        (Some("admission.k8s.io/v1"), Some("AdmissionReview")) => Ok(body),
        (version, kind) => {
            Err(format!("expected an AdmissionReview of admission.k8s.io/v1, got {kind:?} of {version:?}"))
        }
    }
}

fn check_response<'a>(review: &'a Value, uid: &str, stage: Stage) -> Result<&'a Value, String> {
    let response = &review["response"];
    if response.is_null() {
        return Err("webhook response was absent".into());
    }
    let got = response["uid"].as_str().unwrap_or_default();
    if got != uid {
        return Err(format!("expected response.uid=\"{uid}\", got \"{got}\""));
    }
    let (patch, kind) = (&response["patch"], &response["patchType"]);
    match (stage, kind.as_str()) {
        (Stage::Validating, _) if !patch.is_null() => Err("validating webhook may not return response.patch".into()),
        (Stage::Validating, Some(_)) => Err("validating webhook may not return response.patchType".into()),
        (_, None) if !patch.is_null() => Err("webhook returned response.patch but not response.patchType".into()),
        (_, Some(_)) if patch.is_null() => Err("webhook returned response.patchType but not response.patch".into()),
        (_, Some(other)) if other != "JSONPatch" => {
            Err(format!("webhook returned invalid response.patchType of \"{other}\""))
        }
        _ => Ok(response),
    }
}

fn read_verdict(response: &Value, webhook: &Webhook) -> Result<Patch, Refusal> {
    if response["allowed"] == true {
        let patch = serde_json::from_value::<ByteString>(response["patch"].clone()).unwrap_or_default();
        return match patch.0.as_slice() {
            [] => Ok(Patch(json!([]))),
            patch => serde_json::from_slice(patch).map(Patch).map_err(|error| internal_error(&error.to_string())),
        };
    }
    let status = &response["status"];
    let word = |name: &str| status[name].as_str().filter(|text| !text.is_empty());
    let denied = format!("admission webhook \"{}\" denied the request", webhook.name);
    let message = match word("message").or(word("reason")) {
        Some(why) => format!("{denied}: {why}"),
        None => format!("{denied} without explanation"),
    };
    let code =
        status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400).unwrap_or(400);
    let reason = word("reason").unwrap_or_default();
    Err(Refusal { details: status["details"].clone(), ..Refusal::new(code, reason, message) })
}

impl Patch {
    /// The object after the patch, with the defaults of its schema.
    pub fn apply(self, webhook: &Webhook, review: &Review, object: &Value) -> Result<Value, Refusal> {
        if self.0 == json!([]) {
            return Ok(object.clone());
        }
        if object.is_null() {
            let why = "attempted to modify the object, which is not supported for this operation";
            return Err(internal_error(&format!("admission webhook \"{}\" {why}", webhook.name)));
        }
        let patched = patch::apply_patch("application/json-patch+json", "", object.clone(), self.0);
        let mut patched = patched.map_err(|refusal| internal_error(&refusal.message))?;
        let fixed = |it: &Value| ["name", "namespace", "managedFields"].map(|name| it["metadata"][name].clone());
        if fixed(&patched) != fixed(object) {
            let what = format!("webhook `{}`, which changes name, namespace or managed fields", webhook.name);
            return Err(Refusal::unsupported(&what));
        }
        if let Some(schema) = &review.declared {
            structural::complete(&mut patched, schema);
        }
        Ok(patched)
    }
}

/// 500 with the reason as its cause.
pub fn internal_error(why: &str) -> Refusal {
    let details = json!({ "causes": [{ "message": why }] });
    Refusal { details, ..Refusal::new(500, "InternalError", format!("Internal error occurred: {why}")) }
}
