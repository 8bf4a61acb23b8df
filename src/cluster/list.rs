//! Reads whole lists, page by page.

use kube::api::ListParams;

use super::{
    Cluster,
    discovery::Resource,
    object::uid,
    refusal::{self, Refusal},
};
use crate::yaml::Value;

/// The largest number of pages, of 500 objects each.
const PAGES: usize = 1000;

impl Cluster {
    /// The metadata of all objects of a kind, or why they cannot be listed; none if the kind is not served.
    pub(super) fn list_metadata(
        &self,
        resource: &Resource,
        namespace: &str,
    ) -> anyhow::Result<Result<Option<Vec<Value>>, Refusal>> {
        let requests = resource.all(namespace)?;
        let wrong = |what: &str| Ok(Err(Refusal::new(format!("the server's list {what}"), None)));
        let mut res = Vec::new();
        let mut token = String::new();
        for _ in 0..PAGES {
            let page = ListParams::default().limit(500);
            let page = if token.is_empty() { page } else { page.continue_token(&token) };
            let mut answer = self.send(&requests.list_metadata(&page)?)?;
            if answer.code == 410 && !token.is_empty() {
                // The token has expired: as other clients do, read everything again in one page.
                res.clear();
                answer = self.send(&requests.list_metadata(&ListParams::default())?)?;
            }
            match answer.code {
                200 => {}
                404 => return Ok(Ok(None)),
                _ => return Ok(Err(refusal::of(&answer))),
            }
            let is_list = answer.body["kind"].as_str().is_some_and(|it| it.ends_with("List"));
            let items = match answer.body.get_mut("items").map(Value::take) {
                Some(Value::Array(items)) => items,
                // Go writes an empty list like this.
                None | Some(Value::Null) if is_list => Vec::new(),
                _ => return wrong("is not a list"),
            };
            for it in &items {
                let metadata = &it["metadata"];
                if metadata["name"].as_str().is_none_or(str::is_empty) || uid(it).is_empty() {
                    return wrong("has an item without a name or a uid");
                }
                if !namespace.is_empty() && metadata["namespace"] != *namespace {
                    return wrong("has an item of another namespace");
                }
            }
            res.extend(items);
            match answer.body["metadata"]["continue"].as_str() {
                None | Some("") => return Ok(Ok(Some(res))),
                Some(next) if next == token => return wrong("repeats the same page"),
                Some(next) => next.clone_into(&mut token),
            }
        }
        wrong("has no end")
    }
}
