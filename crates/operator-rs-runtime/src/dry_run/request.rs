//! What a request may do, by its method and path, and the same request without an effect.

use http::{HeaderValue, Method, Request, Uri, header};
use kube::client::Body;
use serde_json::{Value, json};

/// What a request may do.
pub enum Kind {
    /// Nothing.
    Read,
    /// Something that the API server can be asked to leave out.
    Write(Write),
    /// Something else.
    Unsafe,
}

/// Subresources that have an effect in spite of `dryRun`.
const UNSAFE: [&str; 4] = ["exec", "attach", "portforward", "proxy"];

/// Groups whose objects are questions, and are not stored.
const QUESTIONS: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

/// A write to an object, or to all objects of a path.
pub struct Write {
    method: Method,
    /// The path of all objects of its kind and namespace.
    collection: String,
    group: String,
    plural: String,
    namespace: String,
    name: String,
    subresource: String,
}

impl Kind {
    pub fn of(request: &Request<Body>) -> Self {
        let is_read = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
        match Write::of(request.method(), request.uri().path()) {
            Some(it) if UNSAFE.contains(&it.subresource.as_str()) => Self::Unsafe,
            _ if is_read => Self::Read,
            Some(it) => Self::Write(it),
            None => Self::Unsafe,
        }
    }
}

impl Write {
    /// Nothing where the path is none of an object.
    fn of(method: &Method, path: &str) -> Option<Self> {
        let words: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (root, group, rest) = match words.as_slice() {
            ["api", version, rest @ ..] => (format!("/api/{version}"), "", rest),
            ["apis", group, version, rest @ ..] => (format!("/apis/{group}/{version}"), *group, rest),
            _ => return None,
        };
        let (root, namespace, rest) = match rest {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() && !["status", "finalize"].contains(&rest[0]) => {
                (format!("{root}/namespaces/{namespace}"), *namespace, rest)
            }
            rest => (root, "", rest),
        };
        let (plural, name, subresource) = match rest {
            [plural] => (*plural, "", ""),
            [plural, name] => (*plural, *name, ""),
            [plural, name, subresource, ..] => (*plural, *name, *subresource),
            [] => return None,
        };
        Some(Self {
            method: method.clone(),
            collection: format!("{root}/{plural}"),
            group: group.into(),
            plural: plural.into(),
            namespace: namespace.into(),
            name: name.into(),
            subresource: subresource.into(),
        })
    }

    /// As `deployments.apps/status`.
    pub fn resource(&self) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        let slash = if self.subresource.is_empty() { "" } else { "/" };
        format!("{}{dot}{}{slash}{}", self.plural, self.group, self.subresource)
    }

    /// Namespace and name.
    pub fn object(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    pub fn is_delete(&self) -> bool {
        self.method == Method::DELETE
    }

    pub fn is_create(&self) -> bool {
        self.method == Method::POST
    }

    /// Whether the server answers a question only.
    pub fn stores_nothing(&self) -> bool {
        QUESTIONS.contains(&self.group.as_str())
    }

    /// A list of the objects that the write is about; nothing for a create.
    pub fn list(&self, query: &str) -> Option<Request<Body>> {
        let query = match (self.name.as_str(), self.is_create()) {
            (_, true) => return None,
            ("", false) => query.to_owned(),
            (name, false) => format!("fieldSelector=metadata.name%3D{name}"),
        };
        Request::get(format!("{}?{query}", self.collection)).body(Body::empty()).ok()
    }

    /// The same request, of which nothing is stored. The answer is the whole object.
    pub async fn without_effect(&self, request: Request<Body>) -> kube::Result<Request<Body>> {
        let (mut parts, mut body) = request.into_parts();
        let query = parts.uri.query().unwrap_or_default().split('&');
        let query = query.filter(|it| !it.is_empty() && it.split('=').next() != Some("dryRun"));
        let query: Vec<&str> = query.chain(["dryRun=All"]).collect();
        parts.uri = format!("{}?{}", parts.uri.path(), query.join("&"))
            .parse::<Uri>()
            .map_err(|it| kube::Error::HttpError(it.into()))?;
        if self.is_delete() {
            // A body with options takes the place of the query.
            let bytes = body.collect_bytes().await?;
            let mut options = match &bytes[..] {
                [] => json!({}),
                bytes => serde_json::from_slice::<Value>(bytes).map_err(kube::Error::SerdeError)?,
            };
            let is_options = options.is_object();
            if let Some(options) = options.as_object_mut() {
                options.insert("dryRun".into(), json!(["All"]));
                options.entry("apiVersion").or_insert_with(|| "meta.k8s.io/v1".into());
                options.entry("kind").or_insert_with(|| "DeleteOptions".into());
            }
            if !is_options {
                return Err(kube::Error::Service("the options of a deletion are no object".into()));
            }
            body = Body::from(options.to_string().into_bytes());
            parts.headers.remove(header::CONTENT_LENGTH);
            parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        parts.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        Ok(Request::from_parts(parts, body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, uri: &str, body: &str) -> Request<Body> {
        Request::builder().method(method).uri(uri).body(Body::from(body.as_bytes().to_vec())).unwrap()
    }

    #[test]
    fn what_a_request_may_do_is_known_by_its_path() {
        let pod = "/api/v1/namespaces/n/pods/p";
        for (method, path, expected) in [
            ("GET", pod, "read"),
            ("GET", "/version", "read"),
            ("GET", "/api/v1/pods?watch=true", "read"),
            ("GET", &format!("{pod}/log"), "read"),
            ("GET", &format!("{pod}/exec?command=rm"), "unsafe"),
            ("POST", &format!("{pod}/exec"), "unsafe"),
            ("GET", &format!("{pod}/proxy/any/path"), "unsafe"),
            ("GET", "/api/v1/nodes/n/proxy/run", "unsafe"),
            ("POST", "/logs", "unsafe"),
            ("PUT", "/apis", "unsafe"),
            ("TRACE", "/api/v1", "unsafe"),
            ("PATCH", "/apis/apps/v1/namespaces/n/deployments/d/status", "deployments.apps/status n/d"),
            ("PUT", "/api/v1/namespaces/n/finalize", "namespaces/finalize /n"),
            ("DELETE", "/api/v1/namespaces/n", "namespaces /n"),
            ("POST", &format!("{pod}/eviction"), "pods/eviction n/p"),
        ] {
            let found = match Kind::of(&request(method, path, "")) {
                Kind::Read => "read".to_owned(),
                Kind::Unsafe => "unsafe".to_owned(),
                Kind::Write(it) => format!("{} {}", it.resource(), it.object()),
            };
            assert_eq!(found, expected, "{method} {path}");
        }
    }

    #[tokio::test]
    async fn no_parameter_of_the_caller_undoes_it() {
        for (method, query, body, expected) in [
            ("PATCH", "?dryRun=&force=true", "{}", ("force=true&dryRun=All", "{}")),
            ("POST", "", "{}", ("dryRun=All", "{}")),
            (
                "DELETE",
                "?gracePeriodSeconds=0",
                r#"{"dryRun":[],"propagationPolicy":"Background"}"#,
                (
                    "gracePeriodSeconds=0&dryRun=All",
                    r#"{"apiVersion":"meta.k8s.io/v1","dryRun":["All"],"kind":"DeleteOptions","propagationPolicy":"Background"}"#,
                ),
            ),
        ] {
            let request = request(method, &format!("/api/v1/namespaces/n/pods/p{query}"), body);
            let Kind::Write(write) = Kind::of(&request) else { panic!("a write") };
            let (parts, body) = write.without_effect(request).await.unwrap().into_parts();
            let body = String::from_utf8(body.collect_bytes().await.unwrap().to_vec()).unwrap();
            assert_eq!((parts.uri.query().unwrap(), body.as_str()), expected);
        }
        let bad = request("DELETE", "/api/v1/namespaces/n/pods/p", "[]");
        let Kind::Write(write) = Kind::of(&bad) else { panic!("a write") };
        assert!(write.without_effect(bad).await.is_err());
    }
}
