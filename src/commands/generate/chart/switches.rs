//! What the values `metrics.enabled` and `webhook.enabled` switch off: objects, and parts of the Deployment.

use super::{
    manager::Manager,
    names::{collect, title},
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
/// What the runtime serves webhooks with, if no argument says otherwise.
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
pub fn take(
    objects: &mut Vec<Value>,
    crds: &[Value],
    manager: &Manager,
    roles: &[Role],
) -> Vec<Switch> {
    let mut found = [metrics(objects, manager), webhook(objects, crds, manager)];
    if let [Some(metrics), Some(webhook)] = &mut found {
        share(metrics, webhook);
    }
    let mut res: Vec<Switch> = found.into_iter().flatten().collect();
    for switch in &mut res {
        switch.add_certificates(objects, manager);
        let fixed = switch.reference(objects, manager, roles);
        switch.fixed = switch.fixed.take().or(fixed);
    }
    objects.retain(|it| !res.iter().any(|switch| switch.objects.contains(it)));
    res
}

/// Has the metrics do without the webhooks' certificate, if that is theirs as well, and keep it for the webhooks.
fn share(metrics: &mut Switch, webhook: &mut Switch) {
    let is_shared = |it: &String| webhook.volumes.contains(it);
    if metrics.volumes.iter().any(is_shared) {
        metrics.volumes.retain(|it| !is_shared(it));
        webhook.flags.push(METRICS_CERTIFICATE.0);
        webhook.env.push(METRICS_CERTIFICATE.1);
    }
}

impl Switch {
    /// What the templates take out of the Deployment, and add to it.
    pub fn file(&self) -> Value {
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
        let own = volumes.iter().filter(|it| self.volumes.iter().any(|name| it["name"] == **name));
        let mut secrets: Vec<&Value> = own.map(|it| &it["secret"]["secretName"]).collect();
        let issuer = |it: &Value| it["spec"]["issuerRef"]["name"].clone();
        loop {
            let (certificates, others): (Vec<_>, Vec<_>) = objects
                .iter()
                .filter(|it| release::is_certificate(it))
                .partition(|it| secrets.contains(&&it["spec"]["secretName"]));
            let issuers = objects.iter().filter(|it| it["kind"] == "Issuer").filter(|it| {
                let name = &it["metadata"]["name"];
                certificates.iter().any(|it| issuer(it) == *name)
                    && !others.iter().any(|it| issuer(it) == *name)
            });
            let authorities = issuers.clone().map(|it| &it["spec"]["ca"]["secretName"]);
            let more: Vec<&Value> =
                authorities.filter(|it| it.is_string() && !secrets.contains(it)).collect();
            if more.is_empty() {
                self.objects.extend(certificates.iter().copied().chain(issuers).cloned());
                return;
            }
            secrets.extend(more);
        }
    }

    /// What would refer to an object or a port that is gone.
    fn reference(&self, objects: &[Value], manager: &Manager, roles: &[Role]) -> Option<String> {
        if let Some(port) = manager.probed().find(|it| self.ports.contains(it)) {
            return Some(format!("a probe of the Deployment asks port {port}"));
        }
        let named = self
            .objects
            .iter()
            .filter(|it| is_one_of(it, &["Certificate", "Issuer", "Secret", "Service"]));
        let names: Vec<&str> = named
            .flat_map(|it| ["/metadata/name", "/spec/secretName"].map(|at| pointer::text(it, at)))
            .filter(|it| !it.is_empty())
            .map(super::short)
            .collect();
        let mut rest: Vec<Value> =
            objects.iter().filter(|it| !self.objects.contains(it)).cloned().collect();
        // A certificate may be for a name that nothing has.
        let certificates = rest.iter_mut().filter(|it| release::is_certificate(it));
        certificates.for_each(|it| it["spec"]["dnsNames"] = Value::Null);
        rest.extend(roles.iter().map(|it| it.file()["role"].clone()));
        rest.push(self.without(manager));
        rest.iter().find_map(|it| {
            let mut texts = Vec::new();
            collect(it, &mut texts);
            let name = names.iter().find(|name| texts.iter().any(|it| mentions(it, name)))?;
            Some(format!("{} refers to `{name}`", title(it)))
        })
    }

    /// The Deployment without this part.
    fn without(&self, manager: &Manager) -> Value {
        let mut res = manager.deployment.clone();
        let pod = &mut res["spec"]["template"]["spec"];
        let is_own = |it: &Value| self.volumes.iter().any(|name| it["name"] == **name);
        let drop = |list: Option<&mut Value>, gone: &dyn Fn(&Value) -> bool| {
            list.and_then(Value::as_array_mut).into_iter().for_each(|it| it.retain(|it| !gone(it)));
        };
        drop(pod.get_mut("volumes"), &is_own);
        let container = &mut pod["containers"][manager.container];
        let is_flag = |it: &Value| {
            let flag = it.as_str().and_then(|it| it.split('=').next());
            self.flags.iter().any(|it| flag == Some(it))
        };
        drop(container.get_mut("args"), &is_flag);
        drop(container.get_mut("env"), &|it| self.env.iter().any(|name| it["name"] == **name));
        drop(container.get_mut("volumeMounts"), &is_own);
        res
    }
}

/// Whether a text has a name as a whole word, or as the end of one with a prefix.
fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text[..at].chars().last(), text[at + name.len()..].chars().next());
        !before.is_some_and(char::is_alphanumeric)
            && !after.is_some_and(|it| it.is_alphanumeric() || it == '-')
    })
}

/// The metrics, if the operator serves them.
fn metrics(objects: &[Value], manager: &Manager) -> Option<Switch> {
    let address = manager.setting("--metrics-bind-address")?;
    let port = address.rsplit(':').next()?.parse().ok().filter(|it| 0 < *it)?;
    let mut res = Switch {
        name: "metrics",
        objects: Vec::new(),
        fixed: None,
        argument: "--metrics-bind-address=0",
        flags: vec![METRICS_CERTIFICATE.0],
        env: vec![METRICS_CERTIFICATE.1, "METRICS_SERVICE"],
        ports: vec![port],
        volumes: manager
            .setting(METRICS_CERTIFICATE.0)
            .map_or(Vec::new(), |it| manager.mounted(&it)),
    };
    for service in objects.iter().filter(|it| it["kind"] == "Service") {
        let ports = manager.ports(service);
        match ports.contains(&port) {
            true if ports.iter().all(|it| *it == port) => res.objects.push(service.clone()),
            true => res.fixed = Some(format!("{} has other ports as well", title(service))),
            false => {}
        }
    }
    let services = res.objects.clone();
    let of_metrics = |it: &&Value| match pointer::text(it, "/kind") {
        "ServiceMonitor" => services.iter().any(|service| release::monitors(it, service)),
        "PodMonitor" => {
            let mut ports = pointer::list(it, "/spec/podMetricsEndpoints").iter();
            release::selects_pods(it, &manager.deployment)
                && ports.all(|it| manager.number(&it["port"]) == Some(port))
        }
        "ClusterRole" => is_reader(it) || is_authorizer(it),
        "ClusterRoleBinding" => {
            let role = &it["roleRef"]["name"];
            let is_role =
                |it: &&Value| it["kind"] == "ClusterRole" && it["metadata"]["name"] == *role;
            objects.iter().find(is_role).is_some_and(is_authorizer)
        }
        _ => false,
    };
    res.objects.extend(objects.iter().filter(of_metrics).cloned());
    Some(res)
}

/// Whether a role is about reading the metrics.
fn is_reader(role: &Value) -> bool {
    let rules = pointer::list(role, "/rules");
    !rules.is_empty() && rules.iter().all(|it| it["nonResourceURLs"] == json!(["/metrics"]))
}

/// Whether it is the scaffolded role to authorize those who read the metrics, and nothing was added to it.
fn is_authorizer(role: &Value) -> bool {
    let reviews = ["subjectaccessreviews", "tokenreviews"];
    let is_review = |it: &Value| {
        it["verbs"] == json!(["create"])
            && reviews.iter().any(|name| it["resources"] == json!([name]))
    };
    super::short(pointer::text(role, "/metadata/name")) == "metrics-auth-role"
        && pointer::list(role, "/rules").iter().all(is_review)
}

/// The webhooks, if API servers call any.
fn webhook(objects: &[Value], crds: &[Value], manager: &Manager) -> Option<Switch> {
    let services: Vec<&Value> = objects
        .iter()
        .filter(|it| it["kind"] == "Service" && !manager.ports(it).is_empty())
        .collect();
    let of_name =
        |name: &Value| services.iter().find(|it| it["metadata"]["name"] == *name).copied();
    let called = |client: &Value| of_name(&client["service"]["name"]);
    let (mut found, mut fixed) = (Vec::<&Value>::new(), None);
    for it in objects.iter().filter(|it| is_one_of(it, CONFIGURATIONS)) {
        let clients = pointer::list(it, "/webhooks").iter().map(|it| called(&it["clientConfig"]));
        let clients: Vec<_> = clients.collect();
        if clients.iter().any(Option::is_some) {
            found.extend(clients.iter().flatten());
            found.push(it);
        }
        if clients.iter().any(Option::is_some) && clients.iter().any(Option::is_none) {
            fixed = Some(format!("{} calls other servers as well", title(it)));
        }
    }
    for it in crds {
        if let Some(service) = called(&it["spec"]["conversion"]["webhook"]["clientConfig"]) {
            found.push(service);
            let name = pointer::text(it, "/metadata/name");
            fixed = Some(format!("API servers call the operator to convert `{name}`"));
        }
    }
    if found.is_empty() || manager.setting("--enable-webhooks").as_deref() == Some("false") {
        return None;
    }
    let has_label = |it: &&Value| it["metadata"]["labels"][COMPONENT.0] == COMPONENT.1;
    found.extend(objects.iter().filter(has_label));
    let path = manager.setting("--webhook-cert-path");
    let objects = objects.iter().filter(|it| found.contains(it)).cloned().collect::<Vec<_>>();
    Some(Switch {
        name: "webhook",
        fixed,
        argument: "--enable-webhooks=false",
        flags: vec!["--webhook-cert-path"],
        env: WEBHOOK_ENV.to_vec(),
        ports: objects.iter().flat_map(|it| manager.ports(it)).collect(),
        volumes: manager.mounted(path.as_deref().unwrap_or(WEBHOOK_CERTIFICATE)),
        objects,
    })
}

#[test]
fn names_are_mentioned_as_whole_words() {
    let check =
        |text: &str, expected: bool| assert_eq!(mentions(text, "a-cert"), expected, "{text}");
    check("a-cert", true);
    check("namespace/shop-a-cert", true);
    check("a-cert.namespace.svc", true);
    check("a-cert-path", false);
    check("a-certs", false);
    check("extra-cert", false);
}
