//! The objects that serve a catalog on the cluster: ConfigMaps with its content, a Deployment that runs `opm serve`,
//! and a Service.
//!
//! All have a name that follows from the content, so that new content is served next to the old one until OLM has
//! switched. A small catalog is mounted as a file. A large one is compressed, and an init container unpacks it.

use super::{CATALOG_LABEL, Content};
use go_data::yaml::{Value, json};

const PORT: u16 = 50051;

/// The settings of the server of a catalog.
pub struct Server<'a> {
    /// The name of the CatalogSource.
    pub catalog: &'a str,
    pub namespace: &'a str,
    /// An image with `opm`.
    pub image: &'a str,
    /// An image with `sh`, `cat` and `gzip`, for large catalogs.
    pub unpacking_image: &'a str,
    pub pull_policy: &'a str,
    /// Names of secrets with the credentials for these images.
    pub pull_secrets: &'a [String],
    pub service_account: Option<&'a str>,
    pub security: Security,
}

/// The security context of the catalog's pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// The defaults of the cluster.
    Legacy,
    /// The settings that the Pod Security Standard `restricted` requires.
    Restricted,
}

/// Returns whether an object serves this catalog, or has served it.
pub fn is_server_of(object: &Value, catalog: &str) -> bool {
    object["metadata"]["labels"][CATALOG_LABEL] == *catalog
}

/// Returns the package for which an object was created, by the same label.
pub fn package_of(object: &Value) -> Option<&str> {
    object["metadata"]["labels"][CATALOG_LABEL].as_str()?.strip_suffix("-catalog")
}

impl Server<'_> {
    /// Returns the name of all objects, which is also valid for a Service.
    pub fn name(text: &str) -> String {
        format!("operator-rs-catalog-{}", Content::short_digest(text))
    }

    /// Returns the address at which OLM finds a catalog with this content.
    pub fn address(&self, text: &str) -> String {
        format!("{}.{}.svc:{PORT}", Self::name(text), self.namespace)
    }

    pub fn build_objects(&self, text: String) -> Vec<Value> {
        let name = Self::name(&text);
        let content = Content::from_text(text);
        let files = content.files();
        let mut objects: Vec<Value> = Vec::new();
        let mut volumes = vec![json!({"name": "tmp", "emptyDir": {}})];
        let mut mounts = Vec::new();
        for (at, (key, data)) in files.iter().enumerate() {
            let map_name = match files.len() {
                1 => name.clone(),
                _ => format!("{name}-{at}"),
            };
            let mut map = self.build_object("v1", "ConfigMap", &map_name);
            for (field, value) in data.as_object().into_iter().flatten() {
                map[field] = value.clone();
            }
            // An update would be another catalog under the same name.
            map["immutable"] = true.into();
            objects.push(map);
            volumes.push(json!({"name": format!("content-{at}"), "configMap": {"name": map_name}}));
            // With a `subPath`, the file is no symlink, and opm does not see it twice.
            mounts.push(json!({"name": format!("content-{at}"), "subPath": key, "readOnly": true}));
        }
        let unpacked = matches!(content, Content::Pieces(_));
        let folder = if unpacked { "/compressed" } else { "/configs/operator-rs" };
        for (mount, (key, _)) in mounts.iter_mut().zip(&files) {
            mount["mountPath"] = format!("{folder}/{key}").into();
        }
        let mut serving = mounts.clone();
        if unpacked {
            volumes.push(json!({"name": "unpacked", "emptyDir": {}}));
            let mount = json!({"name": "unpacked", "mountPath": "/configs/operator-rs"});
            mounts.push(mount.clone());
            serving = vec![mount];
        }
        serving.push(json!({"name": "tmp", "mountPath": "/tmp"}));
        let mut pod = self.build_pod(volumes, serving);
        if unpacked {
            pod["initContainers"] = json!([self.with_container_defaults(json!({
                "name": "unpack",
                "image": self.unpacking_image,
                "command": ["sh", "-c", "cat /compressed/* | gzip -d -c > /configs/operator-rs/catalog.json"],
                "volumeMounts": mounts,
            }))]);
        }
        let labels = json!({"app": name, CATALOG_LABEL: self.catalog});
        let mut deployment = self.build_object("apps/v1", "Deployment", &name);
        deployment["spec"] = json!({
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        });
        let mut service = self.build_object("v1", "Service", &name);
        service["spec"] = json!({
            "selector": {"app": name},
            "ports": [{"name": "grpc", "port": PORT, "targetPort": PORT, "protocol": "TCP"}],
        });
        objects.extend([service, deployment]);
        objects
    }

    fn build_object(&self, api_version: &str, kind: &str, name: &str) -> Value {
        let labels = json!({CATALOG_LABEL: self.catalog});
        json!({
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": name, "namespace": self.namespace, "labels": labels},
        })
    }

    fn build_pod(&self, volumes: Vec<Value>, mounts: Vec<Value>) -> Value {
        let probe = json!({"grpc": {"port": PORT}, "periodSeconds": 2});
        // opm first builds its cache, which takes long for large catalogs.
        let mut startup = probe.clone();
        startup["failureThreshold"] = 150.into();
        let mut pod = json!({
            "containers": [self.with_container_defaults(json!({
                "name": "opm",
                "image": self.image,
                "command": ["opm", "serve", "/configs", "--port", PORT.to_string()],
                "ports": [{"name": "grpc", "containerPort": PORT, "protocol": "TCP"}],
                "volumeMounts": mounts,
                "startupProbe": startup,
                "readinessProbe": probe,
                "terminationMessagePolicy": "FallbackToLogsOnError",
            }))],
            "volumes": volumes,
            // Nothing in it calls the API server.
            "automountServiceAccountToken": false,
        });
        if let Some(account) = self.service_account {
            pod["serviceAccountName"] = account.into();
        }
        if !self.pull_secrets.is_empty() {
            let secrets: Vec<Value> =
                self.pull_secrets.iter().map(|secret| json!({"name": secret})).collect();
            pod["imagePullSecrets"] = secrets.into();
        }
        if self.security == Security::Restricted {
            // No user is set, because OpenShift assigns a range of users to each namespace.
            pod["securityContext"] =
                json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
        }
        pod
    }

    fn with_container_defaults(&self, mut container: Value) -> Value {
        container["imagePullPolicy"] = self.pull_policy.into();
        if self.security == Security::Restricted {
            container["securityContext"] =
                json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
        }
        container
    }
}

#[test]
fn a_large_catalog_is_unpacked_by_an_init_container() {
    let server = Server {
        catalog: "a-catalog",
        namespace: "ns",
        image: "opm:latest",
        unpacking_image: "ubi",
        pull_policy: "Always",
        pull_secrets: &["pull".to_owned()],
        service_account: Some("account"),
        security: Security::Restricted,
    };
    let kinds = |objects: &[Value]| -> String {
        objects.iter().map(|it| format!("{} ", it["kind"].as_str().unwrap())).collect()
    };
    let small = server.build_objects("{}".into());
    assert_eq!(kinds(&small), "ConfigMap Service Deployment ");
    let pod = &small[2]["spec"]["template"]["spec"];
    assert!(pod["initContainers"].is_null());
    assert_eq!(
        pod["containers"][0]["volumeMounts"][0]["mountPath"],
        "/configs/operator-rs/catalog.json"
    );
    assert!(small.iter().all(|it| is_server_of(it, "a-catalog")));
    assert_eq!(server.address("{}"), format!("{}.ns.svc:50051", Server::name("{}")));

    let text: String =
        (0..400_000u32).map(|it| format!("{:08x}", it.wrapping_mul(2_654_435_761))).collect();
    let large = server.build_objects(text);
    assert_eq!(kinds(&large), "ConfigMap ConfigMap Service Deployment ");
    let pod = &large[3]["spec"]["template"]["spec"];
    let mounts = |it: &Value| -> Vec<String> {
        let all = it["volumeMounts"].as_array().unwrap();
        all.iter().map(|it| it["mountPath"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        mounts(&pod["initContainers"][0]),
        [
            "/compressed/catalog.json.gz.000",
            "/compressed/catalog.json.gz.001",
            "/configs/operator-rs"
        ]
    );
    assert_eq!(mounts(&pod["containers"][0]), ["/configs/operator-rs", "/tmp"]);
}
