//! Reads whole lists, page by page.

use http::Request;
use kube::api::ListParams;

use super::{
    Cluster, Id,
    discovery::{Resource, supports_verb},
    object::uid,
    refusal::{self, Refusal},
    request::{RemainingSize, SizeLimits},
    response::ApiResponse,
    unreachable::is_final,
};
use go_data::yaml::Value;
use model::TimedOut;

/// The largest number of pages, of 500 objects each.
const PAGES: usize = 1000;

/// The limits of all lists that a command reads, together.
const LISTS: SizeLimits = SizeLimits { what: "all lists", text: 256 << 20, memory: 1 << 30 };

impl Cluster {
    /// All objects of a kind, in one namespace or (empty) in all. Empty if the kind is not served.
    pub fn list(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
    ) -> anyhow::Result<Vec<Value>> {
        let id = Id {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: String::new(),
        };
        let Some(resource) = self.find_resource(&id)? else { return Ok(Vec::new()) };
        let list = |page: &ListParams| Ok(resource.requests_in(namespace)?.list(page)?);
        let items = self.list_pages(namespace, list)?;
        let mut items = items
            .map_err(|refusal| {
                refusal.into_error(&format!("the objects of kind {kind} cannot be listed"))
            })?
            .unwrap_or_default();
        // In a list, neither is repeated for each object.
        for item in &mut items {
            item["apiVersion"] = api_version.into();
            item["kind"] = kind.into();
        }
        Ok(items)
    }

    /// The metadata of all objects of a kind, or why they cannot be listed; none if the kind is not served.
    pub(super) fn list_metadata(
        &self,
        resource: &Resource,
        namespace: &str,
        selector: &str,
    ) -> anyhow::Result<Result<Option<Vec<Value>>, Refusal>> {
        self.list_pages(namespace, |page| {
            let page = ListParams {
                label_selector: Some(selector.to_owned()).filter(|selector| !selector.is_empty()),
                ..page.clone()
            };
            Ok(resource.requests_in(namespace)?.list_metadata(&page)?)
        })
    }

    /// The metadata of the objects of a kind that has been discovered, or why they are not known. The kind may be gone with
    /// its CRD by now.
    pub(super) fn list_discovered(
        &self,
        resource: &Resource,
        namespace: &str,
        selector: &str,
        may_be_gone: bool,
    ) -> anyhow::Result<Result<Vec<Value>, String>> {
        if !supports_verb(resource, "list") {
            return Ok(Err("they can be deleted but not listed".to_owned()));
        }
        Ok(match self.list_metadata(resource, namespace, selector) {
            Ok(Ok(Some(items))) => Ok(items),
            Ok(Ok(None)) if may_be_gone || !self.still_serves(resource)? => Ok(Vec::new()),
            Ok(Ok(None)) => Err("the server has the kind but does not find its list".to_owned()),
            Ok(Err(refusal)) => Err(refusal.message),
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => Err(error.to_string()),
        })
    }

    /// Reads all pages of a list within the limits of all lists. A list that is read again does not count twice: the
    /// deadline ends repetitions.
    pub(super) fn list_pages(
        &self,
        namespace: &str,
        request: impl Fn(&ListParams) -> anyhow::Result<Request<Vec<u8>>>,
    ) -> anyhow::Result<Result<Option<Vec<Value>>, Refusal>> {
        let list = request(&ListParams::default())?.uri().to_string();
        self.listed_sizes.borrow_mut().remove(&list);
        let mut remaining = RemainingSize::from(&LISTS);
        for (text, memory) in self.listed_sizes.borrow().values() {
            remaining.text = remaining.text.saturating_sub(*text);
            remaining.memory = remaining.memory.saturating_sub(*memory);
        }
        let (text, memory) = (remaining.text, remaining.memory);
        let pages = self.list_pages_within(namespace, request, &mut remaining);
        // A response that exceeds the limits has used up what was left.
        let used = if pages.is_err() {
            (text, memory)
        } else {
            (text.saturating_sub(remaining.text), memory.saturating_sub(remaining.memory))
        };
        self.listed_sizes.borrow_mut().insert(list, used);
        pages
    }

    fn list_pages_within(
        &self,
        namespace: &str,
        request: impl Fn(&ListParams) -> anyhow::Result<Request<Vec<u8>>>,
        remaining: &mut RemainingSize,
    ) -> anyhow::Result<Result<Option<Vec<Value>>, Refusal>> {
        let wrong = |what: &str| Ok(Err(invalid_list(what)));
        let mut items_so_far = Vec::new();
        let mut token = String::new();
        let (text, memory) = (remaining.text, remaining.memory);
        let mut is_restarted = false;
        for number in 1..=PAGES {
            let page = ListParams::default().limit(500);
            let page = if token.is_empty() { page } else { page.continue_token(&token) };
            let mut response = self.send_page(number, &request(&page)?, remaining)?;
            if response.code == 410 && !token.is_empty() && !is_restarted {
                // The token has expired: as other clients do, read everything again in one page, and only once.
                is_restarted = true;
                items_so_far.clear();
                (remaining.text, remaining.memory) = (text, memory);
                response = self.send_page(1, &request(&ListParams::default())?, remaining)?;
            }
            match response.code {
                200 => {}
                404 => return Ok(Ok(None)),
                _ => return Ok(Err(refusal::from_response(&response))),
            }
            match take_items(&mut response.body, namespace) {
                Ok(items) => items_so_far.extend(items),
                Err(refusal) => return Ok(Err(refusal)),
            }
            match response.body["metadata"]["continue"].as_str() {
                None | Some("") => return Ok(Ok(Some(items_so_far))),
                Some(next) if next == token => return wrong("repeats the same page"),
                Some(next) => next.clone_into(&mut token),
            }
        }
        wrong("has no end")
    }

    /// Requests a page of a list. An error names the page.
    pub(super) fn send_page(
        &self,
        number: usize,
        request: &Request<Vec<u8>>,
        remaining: &mut RemainingSize,
    ) -> anyhow::Result<ApiResponse> {
        self.send_within(request, remaining).map_err(|error| match error.downcast::<TimedOut>() {
            Ok(it) if number > 1 => {
                let page = format!("page {number} of the list {}", it.waiting_for);
                it.for_another(page).into()
            }
            Ok(it) => it.into(),
            Err(error) => error,
        })
    }
}

/// The objects of a page, in one namespace or (empty) in any.
pub(super) fn take_items(page: &mut Value, namespace: &str) -> Result<Vec<Value>, Refusal> {
    let is_list = page["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
    let items = match page.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => items,
        // Go writes an empty list like this.
        None | Some(Value::Null) if is_list => Vec::new(),
        _ => return Err(invalid_list("is not a list")),
    };
    for item in &items {
        let metadata = &item["metadata"];
        if metadata["name"].as_str().is_none_or(str::is_empty) || uid(item).is_empty() {
            return Err(invalid_list("has an item without a name or a uid"));
        }
        if !namespace.is_empty() && metadata["namespace"] != *namespace {
            return Err(invalid_list("has an item of another namespace"));
        }
    }
    Ok(items)
}

fn invalid_list(what: &str) -> Refusal {
    Refusal::new(format!("the server's list {what}"), None)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader, Write as _},
        net::TcpListener,
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    use super::*;

    /// Starts a server that answers each path with a status and a body, and returns its address.
    fn start_server(respond: impl Fn(&str) -> (u16, String) + Send + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let request = lines.next().unwrap().unwrap();
                lines.find(|line| line.as_ref().map_or(true, String::is_empty));
                let (status, body) = respond(request.split(' ').nth(1).unwrap());
                let length = body.len();
                let head = format!("HTTP/1.1 {status} X\r\nConnection: close");
                // The client closes the connection where the limit is exceeded.
                drop(write!(stream, "{head}\r\nContent-Length: {length}\r\n\r\n{body}"));
            }
        });
        address
    }

    #[test]
    fn an_expired_list_is_read_again_only_once() {
        let requests = AtomicUsize::new(0);
        let cluster = Cluster::without_auth(&start_server(move |path| {
            let number = requests.fetch_add(1, Ordering::Relaxed);
            if path.contains("continue=") {
                return (410, format!(r#"{{"message": "expired at request {number}"}}"#));
            }
            let metadata = format!(r#"{{"continue": "{number}"}}"#);
            (200, format!(r#"{{"kind": "XList", "items": [], "metadata": {metadata}}}"#))
        }));
        let resource = Resource::new("g/v1", "X", "xs", false).unwrap();
        let pages =
            cluster.list_pages("", |page| Ok(resource.requests_in("")?.list(page)?)).unwrap();
        assert_eq!(pages.unwrap_err().message, "expired at request 3");
    }

    #[test]
    fn all_lists_of_a_command_have_one_limit_and_a_repeated_list_counts_once() {
        let cluster = Cluster::without_auth(&start_server(|_| {
            let list = r#"{"kind": "XList", "items": []}"#;
            (200, format!("{list}{}", " ".repeat(100 << 20)))
        }));
        let pages = |plural: &str| {
            let resource = Resource::new("g/v1", "X", plural, false).unwrap();
            let pages = cluster.list_pages("", |page| Ok(resource.requests_in("")?.list(page)?));
            match pages {
                Ok(items) => format!("{:?}", items.map_err(|refusal| refusal.message)),
                Err(error) => error.to_string(),
            }
        };
        for plural in ["as", "as", "as", "bs"] {
            assert_eq!(pages(plural), "Ok(Some([]))", "{plural}");
        }
        for plural in ["cs", "ds"] {
            let expected = "exceeds the limit of 256 MiB for all lists";
            let shown = pages(plural);
            assert!(shown.ends_with(expected), "{shown}");
        }
    }
}
