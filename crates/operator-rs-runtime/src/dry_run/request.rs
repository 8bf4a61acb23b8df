//! Classifies a request by its method and path, and turns a write into a dry run.

use http::{HeaderValue, Method, Request, Uri, header};
use kube::client::Body;
use serde_json::{Value, json};

/// The effect that a request may have.
pub enum RequestEffect {
    /// The request changes nothing.
    Read,
    /// The request is a write that the API server can carry out without storing it.
    Write(Write),
    /// The request may have any other effect.
    Unsafe,
}

/// The subresources by which a read reaches a container, or another server than the API server.
const CONNECTING_SUBRESOURCES: [&str; 4] = ["exec", "attach", "portforward", "proxy"];

/// The subresources that can be updated with `dryRun`, so that the API server stores nothing (seen with Kubernetes
/// 1.36). The effect of `dryRun` on the subresources of other API servers is unknown.
const UPDATABLE_SUBRESOURCES: [&str; 6] = ["status", "scale", "finalize", "approval", "ephemeralcontainers", "resize"];

/// The subresources that can be created with `dryRun`. The token of a service account is missing here, because the API
/// server issues it in spite of `dryRun`.
const CREATABLE_SUBRESOURCES: [&str; 2] = ["eviction", "binding"];

/// The groups whose objects are reviews, which the API server answers and does not store.
const REVIEW_GROUPS: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

/// A write to an object, or to all objects of a path.
pub struct Write {
    method: Method,
    /// The path of all objects of the same kind and namespace.
    collection: String,
    group: String,
    plural: String,
    namespace: String,
    name: String,
    subresource: String,
    /// The path goes on after the subresource.
    has_extra_segments: bool,
}

impl RequestEffect {
    pub fn from_request(request: &Request<Body>) -> Self {
        let path = request.uri().path();
        // The API server decodes the path, so that `%65xec` is `exec`.
        if path.contains('%') || request.headers().contains_key(header::UPGRADE) {
            return Self::Unsafe;
        }
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let is_read = [Method::GET, Method::HEAD, Method::OPTIONS].contains(request.method());
        match Write::parse_path(request.method(), &segments) {
            Some(read) if is_read && CONNECTING_SUBRESOURCES.contains(&read.subresource.as_str()) => Self::Unsafe,
            _ if is_read => Self::Read,
            Some(write) if write.supports_dry_run() => Self::Write(write),
            _ => Self::Unsafe,
        }
    }
}

impl Write {
    /// Returns `None` if the path is not that of an object, or of all objects of a kind.
    fn parse_path(method: &Method, segments: &[&str]) -> Option<Self> {
        let (root, group, rest) = match segments {
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
        let (plural, name, subresource, has_extra_segments) = match rest {
            [plural] => (*plural, "", "", false),
            [plural, name] => (*plural, *name, "", false),
            [plural, name, subresource, rest @ ..] => (*plural, *name, *subresource, !rest.is_empty()),
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
            has_extra_segments,
        })
    }

    /// Returns whether the API server is known to respect `dryRun` for this write.
    fn supports_dry_run(&self) -> bool {
        let subresource = self.subresource.as_str();
        let supports_object = match &self.method {
            &Method::POST => CREATABLE_SUBRESOURCES.contains(&subresource),
            &Method::PUT | &Method::PATCH => subresource.is_empty() || UPDATABLE_SUBRESOURCES.contains(&subresource),
            &Method::DELETE => subresource.is_empty(),
            _ => false,
        };
        let supports_collection = [Method::POST, Method::DELETE].contains(&self.method);
        !self.has_extra_segments && if self.name.is_empty() { supports_collection } else { supports_object }
    }

    /// Returns the plural name, the group and the subresource, such as `deployments.apps/status`.
    pub fn resource_name(&self) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        let slash = if self.subresource.is_empty() { "" } else { "/" };
        format!("{}{dot}{}{slash}{}", self.plural, self.group, self.subresource)
    }

    /// Returns the key of the object: `namespace/name`, or `/name` if the object is cluster-scoped.
    pub fn object_key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    pub fn is_delete(&self) -> bool {
        self.method == Method::DELETE
    }

    pub fn is_create(&self) -> bool {
        self.method == Method::POST
    }

    /// Returns whether the API server only answers the request, and stores nothing.
    pub fn stores_nothing(&self) -> bool {
        REVIEW_GROUPS.contains(&self.group.as_str())
    }

    /// Returns a request that lists the objects of the write, or `None` for a create.
    pub fn list_request(&self, query: &str) -> Option<Request<Body>> {
        let query = match (self.name.as_str(), self.is_create()) {
            (_, true) => return None,
            ("", false) => query.to_owned(),
            (name, false) => format!("fieldSelector=metadata.name%3D{name}"),
        };
        Request::get(format!("{}?{query}", self.collection)).body(Body::empty()).ok()
    }

    /// Returns the same request as a dry run. Its response is the whole object.
    pub async fn dry_run_request(&self, request: Request<Body>) -> kube::Result<Request<Body>> {
        let (mut parts, mut body) = request.into_parts();
        let query = parts.uri.query().unwrap_or_default().split('&');
        let is_kept = |parameter: &&str| !parameter.is_empty() && parameter.split('=').next() != Some("dryRun");
        let query = query.filter(is_kept);
        let query: Vec<&str> = query.chain(["dryRun=All"]).collect();
        parts.uri = format!("{}?{}", parts.uri.path(), query.join("&"))
            .parse::<Uri>()
            .map_err(|error| kube::Error::HttpError(error.into()))?;
        if self.is_delete() {
            // The API server ignores the query if the body has options.
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
            ("PATCH", &format!("{pod}/ephemeralcontainers"), "pods/ephemeralcontainers n/p"),
            (
                "POST",
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                "selfsubjectaccessreviews.authorization.k8s.io /",
            ),
            ("DELETE", "/api/v1/pods", "pods /"),
            ("POST", "/api/v1/namespaces/n/serviceaccounts/a/token", "unsafe"),
            ("PUT", "/apis/subresources.kubevirt.io/v1/namespaces/n/virtualmachines/a/start", "unsafe"),
            ("DELETE", &format!("{pod}/status"), "unsafe"),
            ("POST", pod, "unsafe"),
            ("PUT", "/api/v1/namespaces/n/pods", "unsafe"),
            ("PUT", &format!("{pod}/status/more"), "unsafe"),
            ("GET", &format!("{pod}%2Fexec"), "unsafe"),
            ("POST", &format!("{pod}/%65viction"), "unsafe"),
            ("GET", "/api/v1/namespaces/n/pods//p//proxy/a", "unsafe"),
            ("GET", "/apis/custom.metrics.k8s.io/v1beta1/namespaces/n/pods/p/requests", "read"),
            ("GET", "/", "read"),
            ("CONNECT", pod, "unsafe"),
        ] {
            let found = match RequestEffect::from_request(&request(method, path, "")) {
                RequestEffect::Read => "read".to_owned(),
                RequestEffect::Unsafe => "unsafe".to_owned(),
                RequestEffect::Write(write) => format!("{} {}", write.resource_name(), write.object_key()),
            };
            assert_eq!(found, expected, "{method} {path}");
        }
        let mut upgrade =
            request("GET", "/apis/subresources.kubevirt.io/v1/namespaces/n/virtualmachineinstances/a/vnc", "");
        upgrade.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        assert!(matches!(RequestEffect::from_request(&upgrade), RequestEffect::Unsafe));
    }

    #[tokio::test]
    async fn no_parameter_of_the_caller_undoes_it() {
        for (method, query, body, expected) in [
            ("PATCH", "?dryRun=&force=true", "{}", ("force=true&dryRun=All", "{}")),
            ("PUT", "", "{}", ("dryRun=All", "{}")),
            ("PATCH", "?a=b&dryRun=All", "{}", ("a=b&dryRun=All", "{}")),
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
            let RequestEffect::Write(write) = RequestEffect::from_request(&request) else { panic!("a write") };
            let (parts, body) = write.dry_run_request(request).await.unwrap().into_parts();
            let body = String::from_utf8(body.collect_bytes().await.unwrap().to_vec()).unwrap();
            assert_eq!((parts.uri.query().unwrap(), body.as_str()), expected);
        }
        let bad = request("DELETE", "/api/v1/namespaces/n/pods/p", "[]");
        let RequestEffect::Write(write) = RequestEffect::from_request(&bad) else { panic!("a write") };
        assert!(write.dry_run_request(bad).await.is_err());
    }
}
