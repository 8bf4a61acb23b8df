//! The events of a watch, as text.

use super::{
    super::{
        object::Object,
        store::{Change, Event},
    },
    Watch,
};
use serde_json::json;

impl Watch {
    /// The event of a change, if it is one for this watch.
    pub(super) fn event_line(&self, change: &Change) -> Option<String> {
        let matches = |it: &Object| self.selector.matches(it);
        let before = change.before.as_deref().is_some_and(matches);
        let after = change.event != Event::Deleted && matches(&change.object);
        Some(match (before, after) {
            (false, false) => return None,
            (false, true) => self.object_line("ADDED", &change.object),
            (true, true) => self.object_line("MODIFIED", &change.object),
            (true, false) if change.event == Event::Deleted => self.object_line("DELETED", &change.object),
            (true, false) => {
                // It left the selector: its last state within, with the version of the change.
                let last = change.before.as_ref().map(|object| Object::new(object.value(), change.version))?;
                self.object_line("DELETED", &last)
            }
        })
    }

    pub(super) fn object_line(&self, event: &str, object: &Object) -> String {
        let typed = |it: &Object| it.typed(&self.request.api_version, &self.kind);
        match &self.versions {
            _ if self.request.metadata_only => self.watch_line(event, object.metadata_only()),
            None => self.watch_line(event, typed(object)),
            Some(versions) => match versions.convert(&object.value(), &versions.stored, &self.request.api_version) {
                Ok(value) => self.watch_line(event, typed(&Object::new(value, object.version))),
                Err(refusal) => self.watch_line("ERROR", refusal.status().to_string()),
            },
        }
    }

    pub(super) fn watch_line(&self, event: &str, object: String) -> String {
        format!("{{\"type\":\"{event}\",\"object\":{object}}}\n")
    }

    pub(super) fn bookmark_line(&self, version: u64, initial: bool) -> String {
        let mut meta = json!({ "resourceVersion": version.to_string(), "creationTimestamp": null });
        if initial {
            meta["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        let object = json!({ "apiVersion": self.request.api_version, "kind": self.kind, "metadata": meta });
        self.watch_line("BOOKMARK", object.to_string())
    }
}
