//! The objects and the parts of the Deployment that the values `metrics.enabled` and `webhook.enabled` switch off.

use super::{
    manager::Manager,
    names::{collect_texts, object_title},
    release::{self, is_one_of},
    roles::Role,
};
use go_data::yaml::{Value, json, pointer};

/// The label of what the operator needs to make its own certificate, which config/manifests selects as well.
const COMPONENT: (&str, &str) = ("app.kubernetes.io/component", "webhook-certificates");
const CONFIGURATIONS: &[&str] = &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
/// Variables that name objects of the webhooks for a certificate of the operator's own.
const WEBHOOK_ENV: &[&str] = &[
    "METRICS_SERVICE",
    "MUTATING_WEBHOOK_CONFIGURATION",
    "VALIDATING_WEBHOOK_CONFIGURATION",
    "WEBHOOK_SECRET",
    "WEBHOOK_SERVICE",
];
/// The directory of the webhooks' certificate, if no argument names another.
const WEBHOOK_CERTIFICATE: &str = "/tmp/k8s-webhook-server/serving-certs";

/// The argument and the variable for the certificate of the metrics.
const METRICS_CERTIFICATE: (&str, &str) = ("--metrics-cert-path", "METRICS_CERT_PATH");

/// A part of the operator that a release can do without.
pub struct Switch {
    /// The name of the value, and of the folder of the objects.
    pub name: &'static str,
    pub objects: Vec<Value>,
    /// Why it has to be on.
    pub fixed: Option<String>,
    /// The argument that turns it off in the operator.
    argument: &'static str,
    /// Flags that mean nothing then.
    flags: Vec<&'static str>,
    env: Vec<&'static str>,
    /// Ports of the container.
    ports: Vec<u64>,
    /// Names of volumes.
    volumes: Vec<String>,
}

/// Takes the objects of each part of the operator out of all others.
pub fn take_switches(
    objects: &mut Vec<Value>,
    crds: &[Value],
    manager: &Manager,
    roles: &[Role],
) -> Vec<Switch> {
    let mut found = [find_metrics(objects, manager), find_webhooks(objects, crds, manager)];
    if let [Some(metrics), Some(webhook)] = &mut found {
        leave_shared_certificate_to_webhook(metrics, webhook);
    }
    let mut switches: Vec<Switch> = found.into_iter().flatten().collect();
    for switch in &mut switches {
        switch.add_certificates(objects, manager);
        let fixed = switch.find_dangling_reference(objects, manager, roles);
        switch.fixed = switch.fixed.take().or(fixed);
    }
    objects.retain(|object| !switches.iter().any(|switch| switch.objects.contains(object)));
    switches
}

/// Removes the webhooks' certificate from the switch of the metrics if both have it: the webhooks keep it.
fn leave_shared_certificate_to_webhook(metrics: &mut Switch, webhook: &mut Switch) {
    let is_shared = |volume: &String| webhook.volumes.contains(volume);
    if metrics.volumes.iter().any(is_shared) {
        metrics.volumes.retain(|volume| !is_shared(volume));
        webhook.flags.push(METRICS_CERTIFICATE.0);
        webhook.env.push(METRICS_CERTIFICATE.1);
    }
}

impl Switch {
    /// Renders what the templates take out of the Deployment, and add to it.
    pub fn render_file(&self) -> Value {
        json!({
            "argument": self.argument,
            "env": self.env,
            "fixed": self.fixed,
            "flags": self.flags,
            "ports": self.ports,
            "volumes": self.volumes,
        })
    }

    /// Adds the Certificates whose Secrets no other volume has, and the Issuers that no other Certificate has, with the
    /// Certificates of these.
    fn add_certificates(&mut self, objects: &[Value], manager: &Manager) {
        let volumes = pointer::list(&manager.deployment, "/spec/template/spec/volumes");
        let own = volumes
            .iter()
            .filter(|volume| self.volumes.iter().any(|name| volume["name"] == **name));
        let mut secrets: Vec<&Value> = own.map(|volume| &volume["secret"]["secretName"]).collect();
        let issuer = |certificate: &Value| certificate["spec"]["issuerRef"]["name"].clone();
        loop {
            let (certificates, others): (Vec<_>, Vec<_>) = objects
                .iter()
                .filter(|object| release::is_certificate(object))
                .partition(|certificate| secrets.contains(&&certificate["spec"]["secretName"]));
            let issuers = objects.iter().filter(|object| object["kind"] == "Issuer").filter(
                |issuer_object| {
                    let name = &issuer_object["metadata"]["name"];
                    certificates.iter().any(|certificate| issuer(certificate) == *name)
                        && !others.iter().any(|certificate| issuer(certificate) == *name)
                },
            );
            let authorities = issuers.clone().map(|issuer| &issuer["spec"]["ca"]["secretName"]);
            let more: Vec<&Value> = authorities
                .filter(|secret| secret.is_string() && !secrets.contains(secret))
                .collect();
            if more.is_empty() {
                self.objects.extend(certificates.iter().copied().chain(issuers).cloned());
                return;
            }
            secrets.extend(more);
        }
    }

    /// Finds a reference to an object or a port that is gone if this part is switched off.
    fn find_dangling_reference(
        &self,
        objects: &[Value],
        manager: &Manager,
        roles: &[Role],
    ) -> Option<String> {
        if let Some(port) = manager.probed_ports().find(|port| self.ports.contains(port)) {
            return Some(format!("a probe of the Deployment asks port {port}"));
        }
        let named = self
            .objects
            .iter()
            .filter(|object| is_one_of(object, &["Certificate", "Issuer", "Secret", "Service"]));
        let names: Vec<&str> = named
            .flat_map(|object| {
                ["/metadata/name", "/spec/secretName"].map(|at| pointer::text(object, at))
            })
            .filter(|text| !text.is_empty())
            .map(super::short_name)
            .collect();
        let mut rest: Vec<Value> =
            objects.iter().filter(|object| !self.objects.contains(object)).cloned().collect();
        // A certificate may be for a name that nothing has.
        let certificates = rest.iter_mut().filter(|object| release::is_certificate(object));
        certificates.for_each(|certificate| certificate["spec"]["dnsNames"] = Value::Null);
        rest.extend(roles.iter().map(|role| role.render_file()["role"].clone()));
        rest.push(self.deployment_without(manager));
        rest.iter().find_map(|object| {
            let mut texts = Vec::new();
            collect_texts(object, &mut texts);
            let name =
                names.iter().find(|name| texts.iter().any(|text| mentions_name(text, name)))?;
            Some(format!("{} refers to `{name}`", object_title(object)))
        })
    }

    /// The Deployment without this part.
    fn deployment_without(&self, manager: &Manager) -> Value {
        let mut deployment = manager.deployment.clone();
        let pod = &mut deployment["spec"]["template"]["spec"];
        let is_own = |item: &Value| self.volumes.iter().any(|name| item["name"] == **name);
        let drop = |list: Option<&mut Value>, gone: &dyn Fn(&Value) -> bool| {
            list.and_then(Value::as_array_mut)
                .into_iter()
                .for_each(|items| items.retain(|item| !gone(item)));
        };
        drop(pod.get_mut("volumes"), &is_own);
        let container = &mut pod["containers"][manager.container];
        let is_flag = |argument: &Value| {
            let flag = argument.as_str().and_then(|text| text.split('=').next());
            self.flags.iter().any(|known| flag == Some(known))
        };
        drop(container.get_mut("args"), &is_flag);
        drop(container.get_mut("env"), &|variable| {
            self.env.iter().any(|name| variable["name"] == **name)
        });
        drop(container.get_mut("volumeMounts"), &is_own);
        deployment
    }
}

/// Returns whether a text has a name as a whole word, or as the end of one with a prefix.
fn mentions_name(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text[..at].chars().last(), text[at + name.len()..].chars().next());
        !before.is_some_and(char::is_alphanumeric)
            && !after.is_some_and(|character| character.is_alphanumeric() || character == '-')
    })
}

/// The metrics, if the operator serves them.
fn find_metrics(objects: &[Value], manager: &Manager) -> Option<Switch> {
    let address = manager.find_setting("--metrics-bind-address")?;
    let port = address.rsplit(':').next()?.parse().ok().filter(|number| *number > 0)?;
    let mut metrics = Switch {
        name: "metrics",
        objects: Vec::new(),
        fixed: None,
        argument: "--metrics-bind-address=0",
        flags: vec![METRICS_CERTIFICATE.0],
        env: vec![METRICS_CERTIFICATE.1, "METRICS_SERVICE"],
        ports: vec![port],
        volumes: manager
            .find_setting(METRICS_CERTIFICATE.0)
            .map_or(Vec::new(), |path| manager.volumes_mounted_at(&path)),
    };
    for service in objects.iter().filter(|object| object["kind"] == "Service") {
        let ports = manager.ports_of_service(service);
        if !ports.contains(&port) {
            continue;
        }
        if ports.iter().all(|number| *number == port) {
            metrics.objects.push(service.clone());
        } else {
            metrics.fixed = Some(format!("{} has other ports as well", object_title(service)));
        }
    }
    let services = metrics.objects.clone();
    let of_metrics = |object: &&Value| match pointer::text(object, "/kind") {
        "ServiceMonitor" => {
            services.iter().any(|service| release::monitors_service(object, service))
        }
        "PodMonitor" => {
            let mut ports = pointer::list(object, "/spec/podMetricsEndpoints").iter();
            release::selects_pods(object, &manager.deployment)
                && ports.all(|endpoint| manager.port_number(&endpoint["port"]) == Some(port))
        }
        "ClusterRole" => is_reader(object) || is_authorizer(object),
        "ClusterRoleBinding" => {
            let role = &object["roleRef"]["name"];
            let is_role = |object: &&Value| {
                object["kind"] == "ClusterRole" && object["metadata"]["name"] == *role
            };
            objects.iter().find(is_role).is_some_and(is_authorizer)
        }
        _ => false,
    };
    metrics.objects.extend(objects.iter().filter(of_metrics).cloned());
    Some(metrics)
}

/// Returns whether a role only allows reading the metrics.
fn is_reader(role: &Value) -> bool {
    let rules = pointer::list(role, "/rules");
    !rules.is_empty() && rules.iter().all(|rule| rule["nonResourceURLs"] == json!(["/metrics"]))
}

/// Returns whether a role is the scaffolded one for reviews of clients that read the metrics, without additions.
fn is_authorizer(role: &Value) -> bool {
    let reviews = ["subjectaccessreviews", "tokenreviews"];
    let is_review = |rule: &Value| {
        rule["verbs"] == json!(["create"])
            && reviews.iter().any(|name| rule["resources"] == json!([name]))
    };
    super::short_name(pointer::text(role, "/metadata/name")) == "metrics-auth-role"
        && pointer::list(role, "/rules").iter().all(is_review)
}

/// The webhooks, if API servers call any.
fn find_webhooks(objects: &[Value], crds: &[Value], manager: &Manager) -> Option<Switch> {
    let services: Vec<&Value> = objects
        .iter()
        .filter(|object| {
            object["kind"] == "Service" && !manager.ports_of_service(object).is_empty()
        })
        .collect();
    let of_name = |name: &Value| {
        services.iter().find(|service| service["metadata"]["name"] == *name).copied()
    };
    let called = |client: &Value| of_name(&client["service"]["name"]);
    let (mut found, mut fixed) = (Vec::<&Value>::new(), None);
    for configuration in objects.iter().filter(|object| is_one_of(object, CONFIGURATIONS)) {
        let clients = pointer::list(configuration, "/webhooks")
            .iter()
            .map(|webhook| called(&webhook["clientConfig"]));
        let clients: Vec<_> = clients.collect();
        if clients.iter().any(Option::is_some) {
            found.extend(clients.iter().flatten());
            found.push(configuration);
        }
        if clients.iter().any(Option::is_some) && clients.iter().any(Option::is_none) {
            fixed = Some(format!("{} calls other servers as well", object_title(configuration)));
        }
    }
    for crd in crds {
        if let Some(service) = called(&crd["spec"]["conversion"]["webhook"]["clientConfig"]) {
            found.push(service);
            let name = pointer::text(crd, "/metadata/name");
            fixed = Some(format!("API servers call the operator to convert `{name}`"));
        }
    }
    if found.is_empty() || manager.find_setting("--enable-webhooks").as_deref() == Some("false") {
        return None;
    }
    let has_label = |object: &&Value| object["metadata"]["labels"][COMPONENT.0] == COMPONENT.1;
    found.extend(objects.iter().filter(has_label));
    let path = manager.find_setting("--webhook-cert-path");
    let objects =
        objects.iter().filter(|object| found.contains(object)).cloned().collect::<Vec<_>>();
    Some(Switch {
        name: "webhook",
        fixed,
        argument: "--enable-webhooks=false",
        flags: vec!["--webhook-cert-path"],
        env: WEBHOOK_ENV.to_vec(),
        ports: objects.iter().flat_map(|service| manager.ports_of_service(service)).collect(),
        volumes: manager.volumes_mounted_at(path.as_deref().unwrap_or(WEBHOOK_CERTIFICATE)),
        objects,
    })
}

#[test]
fn names_are_mentioned_as_whole_words() {
    let check =
        |text: &str, expected: bool| assert_eq!(mentions_name(text, "a-cert"), expected, "{text}");
    check("a-cert", true);
    check("namespace/shop-a-cert", true);
    check("a-cert.namespace.svc", true);
    check("a-cert-path", false);
    check("a-certs", false);
    check("extra-cert", false);
}
