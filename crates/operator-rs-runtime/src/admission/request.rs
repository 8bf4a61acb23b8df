//! The request that an admission webhook decides on.

use k8s_openapi::api::authentication::v1::UserInfo;
use kube::{Client, core::GroupVersionKind};
use serde::Deserialize;
use std::sync::Mutex;

/// The operation on the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// The object is created.
    Create,
    /// The object is changed.
    Update,
    /// The object is deleted.
    Delete,
    /// A connection to the object is opened, as by `kubectl exec`.
    Connect,
}

/// A request to the API server that a webhook decides on.
pub struct Request {
    /// The identifier of this call.
    pub uid: String,
    /// The operation on the object.
    pub operation: Operation,
    /// The kind of the objects that the webhook gets.
    pub kind: GroupVersionKind,
    /// The kind of the original request, which may name another version.
    pub request_kind: GroupVersionKind,
    /// The subresource, such as `status`, or nothing.
    pub subresource: String,
    /// The namespace of the object; `None` if it is cluster-scoped.
    pub namespace: Option<String>,
    /// The name of the object; empty if it is to be generated.
    pub name: String,
    /// The user who sent the request.
    pub user: UserInfo,
    /// True for a dry run, which stores nothing. Code that changes other systems must then do nothing.
    pub dry_run: bool,
    /// The client of the operator's account.
    pub client: Client,
    pub(super) warnings: Mutex<Vec<String>>,
}

impl Request {
    /// Warns the user, whether the request is allowed or not. The API server may cut a message after 120 characters.
    pub fn warn(&self, message: impl Into<String>) {
        crate::lock(&self.warnings).push(message.into());
    }

    /// Takes the warnings that fit the API server's limit on their total length: it would drop the rest silently.
    pub(super) fn take_warnings(&self) -> Vec<String> {
        const ALL: usize = 4096;
        const EACH: usize = 256;
        let mut warnings = std::mem::take(&mut *crate::lock(&self.warnings));
        for warning in &mut warnings {
            // The user receives a warning as a header, which has one line.
            let words: Vec<_> = warning.split_whitespace().collect();
            *warning = words.join(" ");
            if let Some((at, _)) = warning.char_indices().nth(EACH) {
                warning.truncate(at);
                warning.pop();
                warning.push('…');
            }
        }
        warnings.retain(|warning| !warning.is_empty());
        let (mut left, all) = (ALL - EACH, warnings.len());
        let mut fits = |warning: &String| {
            let rest = left.checked_sub(warning.chars().count());
            left = rest.unwrap_or_default();
            rest.is_some()
        };
        let kept = warnings.iter().take_while(|warning| fits(warning)).count();
        warnings.truncate(kept);
        if kept < all {
            warnings.push(format!("{} more warnings are left out", all - kept));
        }
        warnings
    }
}
