//! Applied to the API server before the tests begin: the CRDs, and the account of the operator with exactly the
//! roles of config/rbac.

use std::{path::PathBuf, time::Duration};

use anyhow::Context as _;

use super::control_plane::ControlPlane;
use crate::project::{Operator, Project};
use crate::{
    app::{cluster_args, derive, proxies::proxies, rendered},
    disk::Root,
    manifests,
};
use cluster::{ApplyOptions, Event, Limit};
use go_data::yaml::{self, Value};
use model::{ProjectPath, Tree as _};

/// The objects to apply, as config/ has them.
pub struct Stage {
    crds: Vec<Value>,
    /// The account, its namespace, its roles and their bindings.
    rbac: Vec<Value>,
    /// The registrations of webhooks.
    webhooks: Vec<Value>,
    pub account: Option<Account>,
    /// The roles of config/rbac/role.yaml.
    pub roles: Vec<Value>,
    /// The namespace to which the operator is limited, if it is.
    pub namespace: Option<String>,
    operator: Operator,
}

/// The ServiceAccount of the manager's Deployment.
pub struct Account {
    pub namespace: String,
    pub name: String,
}

impl Account {
    /// Its user name on an API server.
    pub fn user(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.namespace, self.name)
    }
}

/// The time limit until a new server serves the CRDs.
const PATIENCE: Duration = Duration::from_secs(60);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const STALE: &str =
    "run `operator-rs manifests` first: the tests use the CRDs and the role in config/";

/// The credentials of the account.
const RBAC: [&str; 6] =
    ["Namespace", "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];

impl Stage {
    pub fn of(root: &Root, project: &Project) -> anyhow::Result<Self> {
        rendered::derived(root, project)?.changes().require_none(STALE)?;
        let render = |folder: &'static str| -> anyhow::Result<Vec<Value>> {
            let file = ProjectPath::fixed(folder).join("kustomization.yaml")?;
            match root.read(&file)? {
                Some(_) => kustomize::build(root, &ProjectPath::fixed(folder), &[]),
                None => Ok(Vec::new()),
            }
        };
        let crds = render(rendered::CRDS)?;
        let all = render(rendered::EVERYTHING)?;
        let account = account(&all);
        let kind = |it: &Value| it["kind"].as_str().unwrap_or_default().to_owned();
        let webhooks = all.iter().filter(|it| kind(it).ends_with("WebhookConfiguration"));
        let webhooks = webhooks.cloned().collect();
        let rbac = all.into_iter().filter(|it| RBAC.contains(&kind(it).as_str())).collect();
        let role = root.read(&ProjectPath::fixed("config/rbac/role.yaml"))?;
        let roles = yaml::documents(&role.unwrap_or_default(), yaml::Dialect::Kubernetes);
        let namespace = account.as_ref().filter(|_| project.namespaced);
        Ok(Self {
            crds,
            rbac,
            webhooks,
            namespace: namespace.map(|it| it.namespace.clone()),
            account,
            roles: roles.context("cannot read config/rbac/role.yaml")?,
            operator: derive::operator(root),
        })
    }

    /// Applies the objects, and returns the variables for the tests.
    pub fn set(
        &self,
        plane: &ControlPlane,
        controllers: bool,
    ) -> anyhow::Result<Vec<(&'static str, PathBuf)>> {
        let mut objects = [&self.crds[..], &self.rbac[..], &self.webhooks[..]].concat();
        let [port] = cluster::free_ports()?;
        // The test serves them, with the certificate of the API server.
        let has_webhooks = cluster::call_locally(&mut objects, port, &plane.certificate()?);
        let options = ApplyOptions { dry_run: false, force: false, limit: Limit::after(PATIENCE) };
        plane.cluster.apply(&objects, options, &mut |event| {
            if let Event::Warning(_) = event {
                cluster_args::report(event);
            }
        })?;
        let admin = plane.kubeconfig();
        let mut res = vec![
            ("KUBECONFIG", admin.clone()),
            ("E2E_KUBECONFIG", admin),
            ("KUBEBUILDER_ASSETS", plane.assets.clone()),
        ];
        // The client of the operator under test would use a proxy for this machine. Cargo still finds the proxy.
        let proxies = proxies()?;
        if proxies.https.is_some() || proxies.http.is_some() {
            let around = PathBuf::from(proxies.around());
            res.extend([("NO_PROXY", around.clone()), ("no_proxy", around)]);
        }
        if let Some(account) = &self.account {
            let Account { namespace, name } = account;
            let token = plane.cluster.service_account_token(namespace, name, DAY)?;
            let kubeconfig = plane.kubeconfig_of("operator", &account.namespace, &token)?;
            res.push(("E2E_OPERATOR_KUBECONFIG", kubeconfig));
        }
        if has_webhooks {
            res.push(("E2E_WEBHOOKS", "true".into()));
            res.push(("WEBHOOK_PORT", port.to_string().into()));
            res.extend(plane.serving_certificate());
        }
        if let Some(namespace) = &self.namespace {
            res.push(("E2E_NAMESPACE", namespace.into()));
        }
        if controllers {
            res.push(("E2E_CONTROLLERS", "true".into()));
        }
        Ok(res)
    }

    /// The resource of a kind of this project.
    pub fn plural(&self, group: &str, kind: &str) -> Option<String> {
        let mut all = manifests::versions(&self.operator);
        let found = all.find(|it| it.group() == group && it.kind() == kind);
        found.map(|it| it.plural().to_owned())
    }
}

fn account(objects: &[Value]) -> Option<Account> {
    let deployment = objects.iter().find(|it| it["kind"] == "Deployment")?;
    let name = deployment["spec"]["template"]["spec"]["serviceAccountName"].as_str()?;
    let namespace = deployment["metadata"]["namespace"].as_str()?;
    Some(Account { namespace: namespace.to_owned(), name: name.to_owned() })
}
