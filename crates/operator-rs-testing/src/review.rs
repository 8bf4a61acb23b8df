//! The answer to who asks what they may do: what the rules of the server forbid.

use super::{Cluster, fault::Fault, request::Request};
use serde_json::{Value, json};

/// The resource of such questions.
pub const REVIEWS: &str = "selfsubjectaccessreviews.authorization.k8s.io";

/// Answers one.
pub fn answer_review(cluster: &Cluster, body: &[u8]) -> String {
    let mut review: Value = serde_json::from_slice(body).unwrap_or_default();
    let word = |it: &str| review["spec"]["resourceAttributes"][it].as_str().unwrap_or_default().to_owned();
    let verb = ["list", "watch", "create", "patch", "delete", "get", "update"]
        .into_iter()
        .find(|known| *known == word("verb"));
    let asked = Request {
        verb: verb.unwrap_or_default(),
        resource: format!("{}.{}", word("resource"), word("group")).trim_end_matches('.').to_owned(),
        subresource: word("subresource"),
        namespace: word("namespace"),
        ..Request::default()
    };
    let is_denied = match cluster.fault_of(&asked) {
        Some(Fault::Forbid | Fault::Refuse { code: 403 }) => true,
        Some(Fault::RefuseWith(refusal)) => refusal.code == 403,
        _ => false,
    };
    review["status"] = json!({ "allowed": !is_denied });
    review.to_string()
}
