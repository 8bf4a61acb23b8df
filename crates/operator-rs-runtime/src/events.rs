//! Events, which `kubectl describe` shows. kube's `Recorder` keeps each for six minutes, reads all
//! of them whenever it publishes one, and needs the right to `patch`; ours are published on
//! transitions only, so there is nothing to count.

use crate::{Operator, error::is_terminating, explain};
use k8s_openapi::{
    api::{core::v1::ObjectReference, events::v1::Event},
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use kube::{
    Api, Resource,
    api::{ObjectMeta, PostParams},
};

/// How important an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Information.
    Normal,
    /// Something needs attention.
    Warning,
}

impl Operator {
    /// Publishes a `Normal` event about an object. Call it on transitions, not on each reconcile.
    pub async fn normal<K: Resource<DynamicType = ()>>(&self, about: &K, reason: &str, note: &str) {
        self.publish(Severity::Normal, about.object_ref(&()), reason, note).await;
    }

    /// Publishes a `Warning` event about an object. Call it on transitions, not on each reconcile.
    pub async fn warning<K: Resource<DynamicType = ()>>(&self, about: &K, reason: &str, note: &str) {
        self.publish(Severity::Warning, about.object_ref(&()), reason, note).await;
    }

    /// Publishes an event. If that fails, the error is logged and the reconcile goes on.
    pub async fn publish(&self, severity: Severity, about: ObjectReference, reason: &str, note: &str) {
        if self.dry_run.is_some() {
            return tracing::debug!(reason, note, "a dry run publishes no event");
        }
        let now = Timestamp::now();
        // Events about cluster-scoped objects belong to `default`.
        let namespace = about.namespace.clone().unwrap_or_else(|| "default".into());
        // A name may have 253 characters, with the time at its end.
        let subject: String = about.name.as_deref().unwrap_or("object").chars().take(230).collect();
        let instance = std::env::var("POD_NAME").unwrap_or_else(|_| self.identity.name.into());
        let event = Event {
            metadata: ObjectMeta {
                name: Some(format!("{}.{:x}", subject.trim_end_matches(['.', '-']), now.as_nanosecond())),
                ..ObjectMeta::default()
            },
            action: Some("Reconcile".into()),
            event_time: Some(MicroTime(now)),
            note: Some(beginning(note, 1024).into()),
            reason: Some(reason.into()),
            regarding: Some(about),
            reporting_controller: Some(self.identity.name.into()),
            reporting_instance: Some(beginning(&instance, 128).into()),
            type_: Some(format!("{severity:?}")),
            ..Event::default()
        };
        let api: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        if let Err(error) = api.create(&PostParams::default(), &event).await {
            if matches!(&error, kube::Error::Api(it) if is_terminating(it)) {
                return tracing::debug!(
                    reason,
                    namespace,
                    "no event is published in a namespace that is being deleted"
                );
            }
            tracing::warn!(error = explain(&error), reason, "cannot publish an event");
        }
    }
}

/// As much of a text as has no more bytes than the server takes.
fn beginning(text: &str, bytes: usize) -> &str {
    let ends = text.char_indices().map(|(at, it)| at + it.len_utf8());
    &text[..ends.take_while(|it| *it <= bytes).last().unwrap_or(0)]
}
