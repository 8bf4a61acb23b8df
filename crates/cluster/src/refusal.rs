//! Refusals of an API server, as messages with a hint.

use std::collections::BTreeMap;

use super::response::ApiResponse;
use diagnostics::with_hints;
use go_data::yaml::Value;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
    pub hint: Option<String>,
}

impl Refusal {
    pub fn new(message: impl Into<String>, hint: Option<&str>) -> Self {
        Self { message: message.into(), hint: hint.map(str::to_owned) }
    }

    pub fn into_error(self, what: &str) -> anyhow::Error {
        combine_refusals(what, &[(String::new(), self)])
    }
}

/// The hints for objects that cannot be applied: they depend on the origin of the objects.
#[derive(Clone, Debug)]
pub struct ApplyHints {
    /// Other field managers have set some of its fields.
    pub conflict: String,
    /// One of its fields cannot be changed in place.
    pub immutable: String,
}

/// The hints for the objects of a project.
impl Default for ApplyHints {
    fn default() -> Self {
        Self { conflict: CONFLICT_HINT.to_owned(), immutable: IMMUTABLE_HINT.to_owned() }
    }
}

const CONFLICT_HINT: &str =
    "remove the fields from config/, or take them over with `--force-conflicts`";
const CREDENTIALS_HINT: &str = "log in again, or pass another `--context`";
const IMMUTABLE_HINT: &str = "immutable fields cannot be changed in place: run `operator-rs undeploy` first, or delete that object by hand";

const STORED_VERSIONS_HINT: &str = "objects may be stored in the version that the new CRD lacks: apply a CRD that still has it and stores objects in another one, run `operator-rs migrate`, then apply this one";

/// The refusal of an response that is no success.
pub fn from_response(response: &ApiResponse) -> Refusal {
    from_apply_response(response, &ApplyHints::default())
}

/// Converts the response to an apply request into a refusal, with the hints of the object's owner.
pub fn from_apply_response(response: &ApiResponse, apply_hints: &ApplyHints) -> Refusal {
    let message = response.message();
    if response.code == 401 {
        return Refusal::new(
            "the server does not accept the credentials (401 Unauthorized)",
            Some(CREDENTIALS_HINT),
        );
    }
    if let Some(message) = conflict_message(&response.body) {
        return Refusal::new(message, Some(&apply_hints.conflict));
    }
    // The caller names the object, so its kind and name are left out here.
    let parts = [" is forbidden: ", " is invalid: "];
    let rest =
        parts.iter().find_map(|separator| message.split_once(separator).map(|parts| parts.1));
    let lines: Vec<&str> = rest.unwrap_or(&message).lines().map(str::trim).collect();
    let message = lines.join(" ");
    let immutable = response.code == 422
        && ["immutable", "cannot change roleRef"].iter().any(|sign| message.contains(sign));
    if response.code == 422 && message.contains("status.storedVersions") {
        return Refusal::new(message, Some(STORED_VERSIONS_HINT));
    }
    let hint = if immutable {
        Some(apply_hints.immutable.as_str())
    } else {
        hint_for_status(response.code)
    };
    Refusal::new(message, hint)
}

/// Returns the hint that follows from an HTTP status alone.
fn hint_for_status(code: u16) -> Option<&'static str> {
    match code {
        300..=399 => {
            Some("an API server does not redirect: check `server` of the kubeconfig's cluster")
        }
        429 | 502..=504 => {
            Some("the server is overloaded or not ready: run the command again later")
        }
        _ => None,
    }
}

/// Returns a message with the owners of the fields that an apply would have changed.
fn conflict_message(status: &Value) -> Option<String> {
    let mut owners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for cause in status["details"]["causes"].as_array()? {
        if cause["reason"] == "FieldManagerConflict" {
            let message = cause["message"].as_str().unwrap_or_default();
            let owner = message.split('"').nth(1).unwrap_or(message);
            owners.entry(owner).or_default().push(cause["field"].as_str().unwrap_or_default());
        }
    }
    if owners.is_empty() {
        return None;
    }
    let owners = owners.iter().map(|(owner, fields)| format!("`{owner}` ({})", fields.join(", ")));
    let owners = owners.collect::<Vec<_>>().join(", ");
    Some(format!("it conflicts with fields that others have set: {owners}"))
}

/// Combines refusals into one error, each with the object that it is about; every hint appears once.
pub fn combine_refusals(what: &str, refusals: &[(String, Refusal)]) -> anyhow::Error {
    let mut hints: Vec<String> = Vec::new();
    for hint in refusals.iter().filter_map(|refusal| refusal.1.hint.as_ref()) {
        if !hints.contains(hint) {
            hints.push(hint.clone());
        }
    }
    let text = match refusals {
        [(about, refusal)] if about.is_empty() => format!("{what}: {}", refusal.message),
        _ => {
            let lines =
                refusals.iter().map(|(about, refusal)| format!("\n  {about}: {}", refusal.message));
            format!("{what}:{}", lines.collect::<String>())
        }
    };
    let error = anyhow::Error::msg(text);
    match with_hints::<()>(error, hints.into_iter()) {
        Err(error) => error,
        Ok(()) => unreachable!("it is an error"),
    }
}

#[test]
fn a_refusal_says_who_what_and_the_way_out() {
    use go_data::yaml::json;
    let check = |code: u16, body: Value, expected: &str, hint: Option<&str>| {
        let is =
            from_response(&ApiResponse { code, body, warnings: Vec::new(), retry_after: None });
        assert_eq!((is.message.as_str(), is.hint.as_deref()), (expected, hint));
    };
    let forbidden = "deployments.apps \"a\" is forbidden: User \"jane\" cannot patch resource \"deployments\" in API group \"apps\" in the namespace \"b\"";
    check(403, json!({"message": forbidden}), &forbidden[35..], None);
    let grant = "roles \"a\" is forbidden: user \"jane\" is attempting to grant RBAC permissions not currently held:\n{Verbs:[\"get\"]}";
    check(
        403,
        json!({"message": grant}),
        "user \"jane\" is attempting to grant RBAC permissions not currently held: {Verbs:[\"get\"]}",
        None,
    );
    let conflict = json!({"message": "Apply failed", "details": {"causes": [
        {"reason": "FieldManagerConflict", "field": ".spec.replicas", "message": "conflict with \"kubectl\" using apps/v1"},
        {"reason": "FieldManagerConflict", "field": ".spec.paused", "message": "conflict with \"kubectl\" using apps/v1"},
        {"reason": "FieldManagerConflict", "field": ".spec.a", "message": "conflict with \"argo\" using apps/v1"},
    ]}});
    check(
        409,
        conflict,
        "it conflicts with fields that others have set: `argo` (.spec.a), `kubectl` (.spec.replicas, .spec.paused)",
        Some(CONFLICT_HINT),
    );
    let selector =
        "Deployment.apps \"a\" is invalid: spec.selector: Invalid value: {}: field is immutable";
    check(
        422,
        json!({"message": selector}),
        "spec.selector: Invalid value: {}: field is immutable",
        Some(IMMUTABLE_HINT),
    );
    let stored = "CustomResourceDefinition.apiextensions.k8s.io \"as.b.c\" is invalid: status.storedVersions[0]: Invalid value: \"v1alpha1\": missing from spec.versions";
    check(
        422,
        json!({"message": stored}),
        "status.storedVersions[0]: Invalid value: \"v1alpha1\": missing from spec.versions",
        Some(
            "objects may be stored in the version that the new CRD lacks: apply a CRD that still has it and stores objects in another one, run `operator-rs migrate`, then apply this one",
        ),
    );
    check(
        401,
        json!({"message": "Unauthorized"}),
        "the server does not accept the credentials (401 Unauthorized)",
        Some(CREDENTIALS_HINT),
    );
    let apply_hints =
        ApplyHints { conflict: "wait".to_owned(), immutable: "start again".to_owned() };
    let of_other = |code, body| {
        from_apply_response(
            &ApiResponse { code, body, warnings: Vec::new(), retry_after: None },
            &apply_hints,
        )
        .hint
    };
    let conflict = json!({"details": {"causes": [{"reason": "FieldManagerConflict", "field": ".spec.a", "message": "conflict"}]}});
    assert_eq!(of_other(409, conflict).as_deref(), Some("wait"));
    assert_eq!(of_other(422, json!({"message": selector})).as_deref(), Some("start again"));
}
