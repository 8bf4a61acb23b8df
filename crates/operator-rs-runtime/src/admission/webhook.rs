//! The webhooks that call a [`Defaulter`] or a [`Validator`].

use super::{
    Defaulter, Denied, Operation, Request, Validator, Verdict, merge,
    objects::{Objects, to_value},
    review,
};
use crate::{Component, webhooks::Webhook};
use futures::FutureExt;
use serde_json::Value;
use std::sync::Arc;

/// Returns a webhook that completes objects, served at this path.
pub fn mutating_webhook<D: Defaulter>(path: &str, defaulter: D) -> Component {
    let defaulter = Arc::new(defaulter);
    let review = Arc::new(move |manager, call| {
        let defaulter = defaulter.clone();
        review::answer_review::<D::Object, _>(manager, call, async move |request: Arc<Request>, objects| {
            run_defaulter(&*defaulter, &request, &objects).await
        })
        .boxed()
    });
    Webhook::Admission { path: path.to_owned(), review }.into()
}

/// Returns a webhook that checks objects, served at this path.
pub fn validating_webhook<V: Validator>(path: &str, validator: V) -> Component {
    let validator = Arc::new(validator);
    let review = Arc::new(move |manager, call| {
        let validator = validator.clone();
        review::answer_review::<V::Object, _>(manager, call, async move |request: Arc<Request>, objects| {
            run_validator(&*validator, &request, &objects).await.map(|()| None)
        })
        .boxed()
    });
    Webhook::Admission { path: path.to_owned(), review }.into()
}

/// Completes the desired object. Returns a JSON patch if that changes it.
async fn run_defaulter<D: Defaulter>(
    defaulter: &D,
    request: &Request,
    objects: &Objects,
) -> Result<Option<Vec<u8>>, Denied> {
    let is_write = matches!(request.operation, Operation::Create | Operation::Update);
    if !is_write || objects.changes_only_metadata_of_deleted() {
        return Ok(None);
    }
    let Ok(mut object) = objects.parse_desired::<D::Object>() else { return Ok(None) };
    let before = to_value(&object)?;
    defaulter.default(&mut object, request).await?;
    let after = to_value(&object)?;
    let raw: Value = objects.parse_desired()?;
    let patch = json_patch::diff(&raw, &merge::merge_changes(&raw, &before, &after));
    Ok((!patch.0.is_empty()).then(|| serde_json::to_vec(&patch).expect("a patch is JSON")))
}

async fn run_validator<V: Validator>(validator: &V, request: &Request, objects: &Objects) -> Verdict {
    match request.operation {
        Operation::Create => validator.create(&objects.parse_desired()?, request).await,
        Operation::Update if objects.changes_only_metadata_of_deleted() => Ok(()),
        Operation::Update => {
            let new = objects.parse_desired()?;
            match objects.parse_current() {
                Ok(old) => validator.update(&old, &new, request).await,
                Err(_) => validator.create(&new, request).await,
            }
        }
        Operation::Delete => match objects.parse_current() {
            Ok(old) => validator.delete(&old, request).await,
            Err(why) => {
                request.warn(format!("deleted without the check of `{}`: {why}", request.kind.kind));
                Ok(())
            }
        },
        Operation::Connect => Err(Denied::bad_request("a connection has no object to check")),
    }
}
