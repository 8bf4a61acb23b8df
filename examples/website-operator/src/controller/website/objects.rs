//! The objects that a Website owns. These functions are pure: the same Website always gives the same objects.

use api::web::v1alpha1::Website;
use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{
            Capabilities, ConfigMap, ConfigMapVolumeSource, Container, EmptyDirVolumeSource, PodSecurityContext,
            PodSpec, PodTemplateSpec, SeccompProfile, SecretVolumeSource, SecurityContext, Service, ServicePort,
            ServiceSpec, Volume, VolumeMount,
        },
    },
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};
use kube::ResourceExt as _;
use operator_rs_runtime::{Labels, label_value};
use std::collections::BTreeMap;

const HTTP: i32 = 8080;
const HTTPS: i32 = 8443;

/// The labels of every object that this controller creates, by which it watches them.
pub fn common_labels() -> Labels {
    Labels::from([
        ("app.kubernetes.io/name".into(), "website".into()),
        ("app.kubernetes.io/managed-by".into(), env!("CARGO_PKG_NAME").into()),
    ])
}

/// One file of nginx's configuration for each domain.
pub fn config_for(website: &Website) -> ConfigMap {
    let tls = match website.spec.certificate {
        Some(_) => format!(
            "  listen {HTTPS} ssl;\n  ssl_certificate /etc/tls/tls.crt;\n  ssl_certificate_key /etc/tls/tls.key;\n"
        ),
        None => String::new(),
    };
    let file = |domain: &String| {
        let text =
            format!("server {{\n  listen {HTTP};\n{tls}  server_name {domain};\n  root /usr/share/nginx/html;\n}}\n");
        (format!("{domain}.conf"), text)
    };
    let data = Some(website.spec.domains.iter().map(file).collect());
    ConfigMap { metadata: metadata(website), data, ..ConfigMap::default() }
}

pub fn service_for(website: &Website) -> Service {
    let port = |name: &str, port| ServicePort { name: Some(name.into()), port, ..ServicePort::default() };
    let mut ports = vec![port("http", HTTP)];
    if website.spec.certificate.is_some() {
        ports.push(port("https", HTTPS));
    }
    let spec = ServiceSpec { selector: Some(labels_for(website)), ports: Some(ports), ..ServiceSpec::default() };
    Service { metadata: metadata(website), spec: Some(spec), ..Service::default() }
}

/// `certificate` is the version of the certificate.
pub fn deployment_for(website: &Website, image: &str, certificate: Option<&str>) -> Deployment {
    let config = ConfigMapVolumeSource { name: website.name_any(), ..ConfigMapVolumeSource::default() };
    let mut volumes = vec![
        Volume { name: "config".into(), config_map: Some(config), ..Volume::default() },
        Volume { name: "tmp".into(), empty_dir: Some(EmptyDirVolumeSource::default()), ..Volume::default() },
    ];
    let mut mounts = vec![mount("config", "/etc/nginx/conf.d"), mount("tmp", "/tmp")];
    if let Some(name) = &website.spec.certificate {
        let secret = SecretVolumeSource { secret_name: Some(name.clone()), ..SecretVolumeSource::default() };
        volumes.push(Volume { name: "tls".into(), secret: Some(secret), ..Volume::default() });
        mounts.push(mount("tls", "/etc/tls"));
    }
    let container = Container {
        name: "nginx".into(),
        image: Some(image.into()),
        volume_mounts: Some(mounts),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            read_only_root_filesystem: Some(true),
            capabilities: Some(Capabilities { drop: Some(vec!["ALL".into()]), ..Capabilities::default() }),
            ..SecurityContext::default()
        }),
        ..Container::default()
    };
    // nginx reads its configuration when it starts: a change of these annotations replaces the pods.
    let annotations = BTreeMap::from([
        ("web.example.com/domains".into(), website.spec.domains.join(",")),
        ("web.example.com/certificate".into(), certificate.unwrap_or("none").into()),
    ]);
    let labels = labels_for(website);
    let template = PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: Some(labels.clone()),
            annotations: Some(annotations),
            ..ObjectMeta::default()
        }),
        spec: Some(PodSpec {
            containers: vec![container],
            volumes: Some(volumes),
            security_context: Some(PodSecurityContext {
                run_as_non_root: Some(true),
                seccomp_profile: Some(SeccompProfile { type_: "RuntimeDefault".into(), ..SeccompProfile::default() }),
                ..PodSecurityContext::default()
            }),
            ..PodSpec::default()
        }),
    };
    let spec = DeploymentSpec {
        replicas: Some(website.spec.replicas),
        selector: LabelSelector { match_labels: Some(labels), ..LabelSelector::default() },
        template,
        ..DeploymentSpec::default()
    };
    Deployment { metadata: metadata(website), spec: Some(spec), ..Deployment::default() }
}

fn mount(name: &str, path: &str) -> VolumeMount {
    VolumeMount { name: name.into(), mount_path: path.into(), ..VolumeMount::default() }
}

/// The runtime adds the namespace and the owner reference, by which Kubernetes deletes the object after its Website.
fn metadata(website: &Website) -> ObjectMeta {
    ObjectMeta { name: Some(website.name_any()), labels: Some(labels_for(website)), ..ObjectMeta::default() }
}

fn labels_for(website: &Website) -> Labels {
    let mut labels = common_labels();
    labels.insert("app.kubernetes.io/instance".into(), label_value(&website.name_any()));
    labels
}
