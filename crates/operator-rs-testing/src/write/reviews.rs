//! The webhooks that review a write.

use super::{
    super::{admission::Stage, object::Object, refusal::Refusal, structural},
    WriteRequest,
    change::{FIXED, drop_null_fields},
};
use serde_json::Value;
use std::sync::Arc;

impl WriteRequest<'_> {
    /// Returns the object after the mutating webhooks. They see the values in `sent` of fields that the request cannot
    /// change.
    pub(super) fn review_mutation(
        &mut self,
        mut object: Value,
        sent: &Value,
        before: Option<&Value>,
    ) -> Result<Value, Refusal> {
        if !self.desk.has_webhooks() {
            return Ok(object);
        }
        let version = if before.is_some() { &object } else { sent };
        let kept = [("resourceVersion", version), ("managedFields", &object)];
        let kept = kept.map(|(name, of)| (name, of["metadata"][name].clone()));
        for name in FIXED.iter().filter(|name| **name != "managedFields").chain(&["resourceVersion"]) {
            object["metadata"][name] = sent["metadata"][name].clone();
        }
        if self.kind.status && !self.to_status() {
            object["status"] = sent["status"].clone();
        }
        drop_null_fields(&mut object);
        let (kind, declared) = (&self.kind.name, self.declared.as_ref());
        let objects = (object, before);
        let mut object = self.desk.review(Stage::Mutating, self.request, kind, declared, objects)?;
        self.restore_fixed_fields(&mut object, before);
        for (name, value) in kept {
            object["metadata"][name] = value;
        }
        drop_null_fields(&mut object);
        Ok(object)
    }

    /// An object that validating webhooks allow to be stored.
    pub(super) fn review_validation(&mut self, object: Value, before: Option<&Value>) -> Result<Value, Refusal> {
        if !self.desk.has_webhooks() {
            return Ok(object);
        }
        let objects = (object, before);
        self.desk.review(Stage::Validating, self.request, &self.kind.name, None, objects)
    }

    /// Stores an object, without the unknown fields that webhooks may have added.
    pub(super) fn put(&mut self, mut object: Value) -> Result<Arc<Object>, Refusal> {
        if let Some(schema) = self.declared.as_ref().filter(|_| self.desk.has_webhooks()) {
            structural::remove_unknown(&mut object, schema);
        }
        let object = self.as_stored(object)?;
        Ok(self.store.put(&self.request.resource, object))
    }
}
