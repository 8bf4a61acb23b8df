//! Lists: whole or in pages, of whole objects or of their metadata.

use super::{
    built_in::is_built_in,
    object::{Key, Object},
    refusal::Refusal,
    request::Request,
    selector::Selector,
    store::Store,
    versions::read_all,
};
use serde_json::json;
use std::{collections::VecDeque, ops::Bound, sync::Arc};

/// Lists that were begun: each keeps its objects as they were when it began.
#[derive(Debug, Default)]
pub struct Pages {
    lists: VecDeque<Page>,
    next: u64,
}

#[derive(Debug)]
struct Page {
    token: String,
    version: u64,
    rest: VecDeque<Arc<Object>>,
}

/// The number of lists whose pages are kept.
const LISTS: usize = 64;

/// The objects that a list or a watch selects.
pub fn select_objects(store: &mut Store, request: &Request) -> Result<Vec<Arc<Object>>, Refusal> {
    let selector = Selector::of_request(store, request)?;
    let objects = &store.collection(&request.resource).objects;
    let namespace = &request.namespace;
    let from = Bound::Included((namespace.clone(), String::new()));
    let range = objects.range::<Key, _>((from, Bound::Unbounded));
    let within = range.take_while(|((it, _), _)| namespace.is_empty() || it == namespace);
    let matching = within.filter(|(_, it)| selector.matches(it));
    Ok(matching.map(|(_, it)| it.clone()).collect())
}

/// Answers a list.
pub fn answer_list(store: &mut Store, pages: &mut Pages, request: &Request) -> Result<String, Refusal> {
    let current = store.version;
    if request.param("resourceVersion").parse::<u64>().is_ok_and(|version| version > current) {
        let asked = request.param("resourceVersion");
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let details = json!({ "causes": [{ "reason": "ResourceVersionTooLarge",
            "message": "Too large resource version" }], "retryAfterSeconds": 1 });
        return Err(Refusal { details, ..Refusal::new(504, "Timeout", message) });
    }
    let token = request.param("continue");
    let (version, mut rest) =
        if token.is_empty() { (current, select_objects(store, request)?.into()) } else { pages.take_page(token)? };
    let limit = request.param("limit").parse().ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let after = rest.split_off(rest.len().min(limit));
    let mut meta = json!({ "resourceVersion": version.to_string() });
    if !is_built_in(&request.resource) {
        meta["continue"] = "".into();
    }
    if !after.is_empty() {
        if request.param("labelSelector").is_empty() && request.param("fieldSelector").is_empty() {
            meta["remainingItemCount"] = after.len().into();
        }
        meta["continue"] = pages.keep_page(version, after).into();
    }
    let objects = if request.metadata_only { rest.into() } else { read_all(store, request, rest.into())? };
    Ok(write_list(store, request, &objects, &meta.to_string()))
}

fn write_list(store: &mut Store, request: &Request, objects: &[Arc<Object>], meta: &str) -> String {
    let kind = store.collection(&request.resource).kind.name.clone();
    let (mut kind_of_list, mut api_version) = (format!("{kind}List"), request.api_version.as_str());
    if request.metadata_only {
        (kind_of_list, api_version) = ("PartialObjectMetadataList".into(), "meta.k8s.io/v1");
    }
    let mut out = format!(r#"{{"kind":"{kind_of_list}","apiVersion":"{api_version}","metadata":{meta},"items":["#);
    for (i, object) in objects.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        if request.metadata_only {
            out.push_str(&object.metadata_only());
        } else if is_built_in(&request.resource) {
            // The real server omits the type from the items of built-in kinds.
            out.push_str(object.item());
        } else {
            out.push_str(&object.typed(&request.api_version, &kind));
        }
    }
    out.push_str("]}");
    out
}

impl Pages {
    fn keep_page(&mut self, version: u64, rest: VecDeque<Arc<Object>>) -> String {
        self.next += 1;
        let token = format!("{version}-{}", self.next);
        self.lists.push_back(Page { token: token.clone(), version, rest });
        if LISTS < self.lists.len() {
            self.lists.pop_front();
        }
        token
    }

    fn take_page(&mut self, token: &str) -> Result<(u64, VecDeque<Arc<Object>>), Refusal> {
        let page = self.lists.iter().find(|page| page.token == token);
        let page = page.ok_or_else(|| {
            let message = "The provided continue parameter is too old to display a consistent list result.";
            Refusal::new(410, "Expired", message)
        })?;
        Ok((page.version, page.rest.clone()))
    }

    /// Forgets all lists that were begun.
    pub fn forget_all(&mut self) {
        self.lists.clear();
    }
}
