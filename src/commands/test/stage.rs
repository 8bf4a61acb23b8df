//! Applied to the API server before the tests begin: the CRDs, and the account of the operator with exactly its roles.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use super::control_plane::ControlPlane;
use crate::project::Project;
use crate::{
    app::{
        cargo::Workspace, carried, cluster_args, compile, declared, given::Manifests,
        proxies::proxies, rendered,
    },
    disk::Root,
    terminal,
};
use cluster::{ApplyOptions, Event, Id};
use diagnostics::{Diagnostic, Hint as _};
use go_data::{
    kubernetes::rbac,
    yaml::{Value, pointer},
};
use kustomize::Rendered;
use model::{Deadline, Namespace, ProjectPath, Tree as _};

/// The objects to apply.
pub struct Stage {
    crds: Vec<Value>,
    /// The account, its namespace, its roles and their bindings.
    rbac: Vec<Value>,
    /// The registrations of webhooks.
    webhooks: Vec<Value>,
    pub account: Option<Account>,
    /// The roles to audit, and where they are.
    pub roles: Vec<Value>,
    /// Roles that are made from comments, and that no binding gives to the account.
    pub unbound: Vec<String>,
    pub roles_in: String,
    /// The namespace to which the operator is limited, if it is.
    pub namespace: Option<String>,
}

/// What a project without config/ is tested with.
pub struct Inputs {
    pub manifests: Option<Manifests>,
    /// Files of CRDs.
    pub crds: Option<Manifests>,
    pub namespace: Option<Namespace>,
    pub compile: compile::Flags,
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

    fn in_rbac(&self) -> rbac::Account<'_> {
        rbac::Account { namespace: &self.namespace, name: &self.name, default_namespace: NAMESPACE }
    }
}

/// The time limit until a new server serves the CRDs.
pub const PATIENCE: Duration = Duration::from_secs(60);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The role that is made from the comments in the source.
pub const ROLE: &str = "config/rbac/role.yaml";

/// The namespace of what names none.
pub const NAMESPACE: &str = "default";

const STALE: &str =
    "run `operator-rs manifests` first: the tests use the CRDs and the role in config/";

/// The credentials of the account.
const RBAC: [&str; 6] =
    ["Namespace", "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"];

impl Stage {
    /// The objects of a project, as config/ has them.
    pub fn of(
        root: &Root,
        project: &Project,
        namespace: Option<&Namespace>,
    ) -> anyhow::Result<Self> {
        let namespace = namespace.map(ToString::to_string);
        rendered::derived(root, project)?.changes().require_none(STALE)?;
        let render = |folder: &'static str| -> anyhow::Result<Vec<Rendered>> {
            let file = ProjectPath::fixed(folder).join("kustomization.yaml")?;
            match root.read(&file)? {
                Some(_) => kustomize::build_in_with_origins(
                    root,
                    &ProjectPath::fixed(folder),
                    &[],
                    namespace.as_deref(),
                ),
                None => Ok(Vec::new()),
            }
        };
        let crds = values_of(render(rendered::CRDS)?);
        let declares = project.resources.iter().any(|it| it.api.is_some());
        if crds.is_empty() && declares {
            terminal::warn(format!("{} has no CRDs, so none are installed", rendered::CRDS));
        }
        let all = render(rendered::EVERYTHING)?;
        let values = all.iter().map(|it| it.value.clone()).collect();
        let mut res = Self { roles_in: ROLE.to_owned(), ..Self::new(crds, values) };
        if let Some(account) = &res.account {
            (res.roles, res.unbound) = divided(&all, account);
        }
        let namespace = res.account.as_ref().filter(|_| project.namespaced);
        res.namespace = namespace.map(|it| it.namespace.clone());
        Ok(res)
    }

    /// The objects of any cargo workspace: the CRDs of its source, and what was given.
    pub fn of_workspace(dir: &Path, inputs: Inputs) -> anyhow::Result<Self> {
        let is_crd = |it: &Value| Id::of(it).is_crd();
        let name = inputs.manifests.as_ref().map(|it| it.name.clone()).unwrap_or_default();
        let crds: Vec<Value>;
        if let Some(given) = inputs.crds {
            crds = given.objects.into_iter().filter(is_crd).collect();
            if crds.is_empty() {
                anyhow::bail!("`{}` has no CRDs", given.name);
            }
        } else {
            let workspace = Workspace::find(dir, None)?;
            let has_crds = |it: &&Manifests| it.objects.iter().any(is_crd);
            crds = match inputs.manifests.as_ref().filter(has_crds) {
                Some(manifests) => carried::crds(&workspace, Some(inputs.compile), manifests)?,
                None => declared::crds(&workspace, Some(inputs.compile)).hint(
                    "or install CRDs from files in place of those of the source: `--crds DIR|FILE`",
                )?,
            };
        }
        if crds.is_empty() {
            terminal::warn(
                Diagnostic::from("no kind is declared in this workspace, so no CRDs are installed")
                    .with_hint("`--crds DIR|FILE` installs some"),
            );
        }
        let placed = inputs.manifests.map(|it| it.with(None, inputs.namespace.as_ref()));
        let mut all = placed.transpose()?.unwrap_or_default();
        all.retain(|it| !is_crd(it));
        all.iter_mut().for_each(in_a_namespace);
        let mut res = Self { roles_in: name, ..Self::new(crds, all) };
        if let Some(account) = &res.account {
            res.roles = bound(&res.rbac, account);
        }
        res.rbac.splice(0..0, missing_namespaces(&res.rbac));
        Ok(res)
    }

    fn new(crds: Vec<Value>, all: Vec<Value>) -> Self {
        let account = account(&all);
        let kind = |it: &Value| it["kind"].as_str().unwrap_or_default().to_owned();
        let webhooks = all.iter().filter(|it| kind(it).ends_with("WebhookConfiguration"));
        let webhooks = webhooks.cloned().collect();
        let rbac = all.into_iter().filter(|it| RBAC.contains(&kind(it).as_str())).collect();
        let (roles, unbound, roles_in) = (Vec::new(), Vec::new(), String::new());
        Self { crds, rbac, webhooks, account, roles, unbound, roles_in, namespace: None }
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
        let options =
            ApplyOptions { dry_run: false, force: false, deadline: Deadline::after(PATIENCE) };
        plane.cluster.apply(&objects, options, &mut |event| {
            if let Event::Warning(_) = event {
                cluster_args::report(event);
            }
        })?;
        // For a moment, a server refuses requests for objects of a new CRD; clients of tests need not ask again.
        for crd in &self.crds {
            drop(plane.cluster.held(crd)?);
        }
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
            // `make run` serves none without it.
            res.push(("ENABLE_WEBHOOKS", "true".into()));
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

    /// The resource of a kind whose CRD is installed.
    pub fn plural(&self, group: &str, kind: &str) -> Option<String> {
        let specs = self.crds.iter().map(|it| &it["spec"]);
        let found = { specs }.find(|it| it["group"] == group && it["names"]["kind"] == kind);
        found?["names"]["plural"].as_str().map(str::to_owned)
    }
}

fn values_of(rendered: Vec<Rendered>) -> Vec<Value> {
    rendered.into_iter().map(|it| it.value).collect()
}

fn account(objects: &[Value]) -> Option<Account> {
    let deployment = objects.iter().find(|it| it["kind"] == "Deployment")?;
    let name = deployment["spec"]["template"]["spec"]["serviceAccountName"].as_str()?;
    let namespace = deployment["metadata"]["namespace"].as_str()?;
    Some(Account { namespace: namespace.to_owned(), name: name.to_owned() })
}

/// Sets the namespace that clients take where an object has none.
fn in_a_namespace(object: &mut Value) {
    let kinds = ["ServiceAccount", "Role", "RoleBinding", "Deployment"];
    if kinds.iter().any(|it| object["kind"] == *it) && object["metadata"]["namespace"].is_null() {
        object["metadata"]["namespace"] = NAMESPACE.into();
    }
}

/// The namespaces that objects are in and that are not among them.
fn missing_namespaces(objects: &[Value]) -> Vec<Value> {
    let namespaces = objects.iter().filter_map(|it| it["metadata"]["namespace"].as_str());
    let is_there = |name: &&str| {
        *name == "default"
            || objects.iter().any(|it| it["kind"] == "Namespace" && it["metadata"]["name"] == *name)
    };
    let missing: BTreeSet<&str> = namespaces.filter(|it| !is_there(it)).collect();
    let namespace = |name| serde_json::json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    missing.into_iter().map(namespace).collect()
}

/// The roles that an account is bound to. One that is bound in a namespace allows there what it has.
fn bound(objects: &[Value], account: &Account) -> Vec<Value> {
    let objects: Vec<&Value> = objects.iter().collect();
    rbac::grants(&objects, account.in_rbac()).into_iter().filter_map(granted).collect()
}

/// A role as a binding gives it.
fn granted(grant: rbac::Grant<'_>) -> Option<Value> {
    let mut role = grant.role?.clone();
    if let Some(namespace) = grant.namespace {
        role["kind"] = "Role".into();
        role["metadata"]["namespace"] = namespace.into();
    }
    Some(role)
}

/// Divides the roles that are made from comments: those that bindings give to an account, and the titles of the others.
fn divided(rendered: &[Rendered], account: &Account) -> (Vec<Value>, Vec<String>) {
    let objects: Vec<&Value> = rendered.iter().map(|it| &it.value).collect();
    let grants = rbac::grants(&objects, account.in_rbac());
    let (mut roles, mut unbound) = (Vec::new(), Vec::new());
    for role in rendered.iter().filter(|it| it.origin.as_str() == ROLE).map(|it| &it.value) {
        let is_of_role = |grant: &&rbac::Grant<'_>| {
            grant.role.is_some_and(|granted| std::ptr::eq(granted, role))
        };
        let before = roles.len();
        roles.extend(grants.iter().filter(is_of_role).copied().filter_map(granted));
        if roles.len() == before {
            let part = |pointer: &str| pointer::text(role, pointer).to_owned();
            unbound.push(format!("{} `{}`", part("/kind"), part("/metadata/name")));
        }
    }
    (roles, unbound)
}

#[test]
fn only_bound_roles_of_comments_are_audited_and_where_their_bindings_are() {
    use go_data::yaml::json;
    let version = "rbac.authorization.k8s.io/v1";
    let object = |origin: &str, value: Value| Rendered {
        value,
        origin: origin.parse().expect("a path"),
        original_name: String::new(),
        original_namespace: String::new(),
    };
    let role = |kind: &str, name: &str| {
        object(
            ROLE,
            json!({ "apiVersion": version, "kind": kind, "metadata": { "name": name, "namespace": "infra" } }),
        )
    };
    let binding = |namespace: &str, role: &str| {
        let subject = json!({ "kind": "ServiceAccount", "name": "m", "namespace": "own" });
        object(
            "a.yaml",
            json!({
                "apiVersion": version,
                "kind": "RoleBinding",
                "metadata": { "name": role, "namespace": namespace },
                "roleRef": { "kind": "Role", "name": role },
                "subjects": [subject],
            }),
        )
    };
    let rendered = [
        role("Role", "a"),
        role("Role", "b"),
        role("ClusterRole", "c"),
        binding("infra", "a"),
        binding("own", "b"),
    ];
    let account = Account { namespace: "own".to_owned(), name: "m".to_owned() };
    let (roles, unbound) = divided(&rendered, &account);
    assert_eq!(roles, [rendered[0].value.clone()]);
    assert_eq!(unbound, ["Role `b`", "ClusterRole `c`"]);
}
