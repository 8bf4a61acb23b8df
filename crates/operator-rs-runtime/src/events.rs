//! Publishes events, which `kubectl describe` shows. kube's `Recorder` keeps each event for six minutes, reads all of
//! them whenever it publishes one, and needs the permission to `patch`. Our events are published on transitions only,
//! so repetitions need not be counted.

use crate::{Manager, error::is_terminating, explain};
use k8s_openapi::{
    api::{core::v1::ObjectReference, events::v1::Event},
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use kube::{
    Api, Resource,
    api::{ObjectMeta, PostParams},
};

/// The `type` of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Information.
    Normal,
    /// A state that needs attention.
    Warning,
}

/// Publishes an event about an object. [`Manager::event`] returns it.
#[must_use = "an event is published by `normal` or `warning`"]
pub struct EventPublisher<'a> {
    manager: &'a Manager,
    about: ObjectReference,
}

impl EventPublisher<'_> {
    /// Publishes a `Normal` event: information. `reason` is one word in UpperCamelCase, `note` a sentence of at most 1
    /// 024 bytes. If publishing fails, the error is logged.
    pub async fn normal(self, reason: &str, note: &str) {
        self.manager.publish(Severity::Normal, self.about, reason, note).await;
    }

    /// Publishes a `Warning` event: a state that needs attention. The arguments are those of [`normal`](Self::normal).
    pub async fn warning(self, reason: &str, note: &str) {
        self.manager.publish(Severity::Warning, self.about, reason, note).await;
    }
}

impl Manager {
    /// Prepares an event about `object`, which `kubectl describe` shows. Publish events on transitions, not on each
    /// reconcile.
    ///
    /// ```no_run
    /// # async fn sketch(manager: operator_rs_runtime::Manager, site: k8s_openapi::api::core::v1::ConfigMap) {
    /// manager.event(&site).normal("Available", "the load balancer has an address").await;
    /// # }
    /// ```
    pub fn event<K: Resource<DynamicType = ()>>(&self, object: &K) -> EventPublisher<'_> {
        EventPublisher { manager: self, about: object.object_ref(&()) }
    }

    /// Publishes an event. If that fails, the error is logged and the reconcile goes on.
    pub(crate) async fn publish(&self, severity: Severity, about: ObjectReference, reason: &str, note: &str) {
        if self.dry_run.is_some() {
            return tracing::debug!(reason, note, "a dry run publishes no event");
        }
        let now = Timestamp::now();
        // Events about cluster-scoped objects belong to `default`.
        let namespace = about.namespace.clone().unwrap_or_else(|| "default".into());
        // The name of an event may have 253 characters and ends with the time.
        let subject: String = about.name.as_deref().unwrap_or("object").chars().take(230).collect();
        let instance = std::env::var("POD_NAME").unwrap_or_else(|_| self.identity.name.into());
        let event = Event {
            metadata: ObjectMeta {
                name: Some(format!("{}.{:x}", subject.trim_end_matches(['.', '-']), now.as_nanosecond())),
                ..ObjectMeta::default()
            },
            action: Some("Reconcile".into()),
            event_time: Some(MicroTime(now)),
            note: Some(truncate_to_bytes(note, 1024).into()),
            reason: Some(reason.into()),
            regarding: Some(about),
            reporting_controller: Some(self.identity.name.into()),
            reporting_instance: Some(truncate_to_bytes(&instance, 128).into()),
            type_: Some(format!("{severity:?}")),
            ..Event::default()
        };
        let api: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        if let Err(error) = api.create(&PostParams::default(), &event).await {
            if matches!(&error, kube::Error::Api(status) if is_terminating(status)) {
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

/// Cuts a text after its last character that ends within this number of bytes.
fn truncate_to_bytes(text: &str, bytes: usize) -> &str {
    let ends = text.char_indices().map(|(start, character)| start + character.len_utf8());
    &text[..ends.take_while(|end| *end <= bytes).last().unwrap_or(0)]
}
