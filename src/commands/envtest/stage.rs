//! Applied to the API server before the tests begin: the CRDs, and the account of the operator with exactly its roles.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use super::control_plane::ControlPlane;
use crate::project::{CRD_CONFIG, DEFAULT_CONFIG, Project};
use crate::{
    app::{
        cargo::Workspace,
        cluster_access::cluster_args,
        compile,
        crds::declared,
        deployment::{carried, given::GivenManifests, rendered},
        environment::proxies::proxies,
    },
    disk::Root,
    terminal,
};
use cluster::{ApplyOptions, Id, ProgressEvent};
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
    pub manifests: Option<GivenManifests>,
    /// Files of CRDs.
    pub crds: Option<GivenManifests>,
    pub namespace: Option<Namespace>,
    pub compile: compile::CompileFlags,
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
            match root.read_text(&file)? {
                Some(_) => kustomize::build_in_with_origins(
                    root,
                    &ProjectPath::fixed(folder),
                    &[],
                    namespace.as_deref(),
                ),
                None => Ok(Vec::new()),
            }
        };
        let crds = values_of(render(CRD_CONFIG)?);
        let declares = project.resources.iter().any(|resource| resource.api.is_some());
        if crds.is_empty() && declares {
            terminal::warn(format!("{} has no CRDs, so none are installed", CRD_CONFIG));
        }
        let all = render(DEFAULT_CONFIG)?;
        let values = all.iter().map(|rendered| rendered.value.clone()).collect();
        let mut stage = Self { roles_in: ROLE.to_owned(), ..Self::new(crds, values) };
        if let Some(account) = &stage.account {
            (stage.roles, stage.unbound) = divide_roles(&all, account);
        }
        let namespace = stage.account.as_ref().filter(|_| project.namespaced);
        stage.namespace = namespace.map(|account| account.namespace.clone());
        Ok(stage)
    }

    /// The objects of any cargo workspace: the CRDs of its source, and what was given.
    pub fn of_workspace(dir: &Path, inputs: Inputs) -> anyhow::Result<Self> {
        let is_crd = |object: &Value| Id::of(object).is_crd();
        let name =
            inputs.manifests.as_ref().map(|manifests| manifests.name.clone()).unwrap_or_default();
        let crds: Vec<Value>;
        if let Some(given) = inputs.crds {
            crds = given.objects.into_iter().filter(is_crd).collect();
            if crds.is_empty() {
                anyhow::bail!("`{}` has no CRDs", given.name);
            }
        } else {
            let workspace = Workspace::find(dir, None)?;
            let has_crds = |manifests: &&GivenManifests| manifests.objects.iter().any(is_crd);
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
        let placed =
            inputs.manifests.map(|manifests| manifests.with(None, inputs.namespace.as_ref()));
        let mut all = placed.transpose()?.unwrap_or_default();
        all.retain(|object| !is_crd(object));
        all.iter_mut().for_each(in_a_namespace);
        let mut stage = Self { roles_in: name, ..Self::new(crds, all) };
        if let Some(account) = &stage.account {
            stage.roles = bound_roles(&stage.rbac, account);
        }
        stage.rbac.splice(0..0, missing_namespaces(&stage.rbac));
        Ok(stage)
    }

    fn new(crds: Vec<Value>, all: Vec<Value>) -> Self {
        let account = find_account(&all);
        let kind = |object: &Value| object["kind"].as_str().unwrap_or_default().to_owned();
        let webhooks = all.iter().filter(|object| kind(object).ends_with("WebhookConfiguration"));
        let webhooks = webhooks.cloned().collect();
        let rbac = all.into_iter().filter(|object| RBAC.contains(&kind(object).as_str())).collect();
        let (roles, unbound, roles_in) = (Vec::new(), Vec::new(), String::new());
        Self { crds, rbac, webhooks, account, roles, unbound, roles_in, namespace: None }
    }

    /// Applies the objects, and returns the variables for the tests.
    pub fn apply_objects(
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
            if let ProgressEvent::Warning(_) = event {
                cluster_args::report(event);
            }
        })?;
        // For a moment, a server refuses requests for objects of a new CRD; clients of tests need not ask again.
        for crd in &self.crds {
            drop(plane.cluster.list_custom_objects(crd)?);
        }
        let admin = plane.kubeconfig();
        let mut variables = vec![
            ("KUBECONFIG", admin.clone()),
            ("E2E_KUBECONFIG", admin),
            ("KUBEBUILDER_ASSETS", plane.assets.clone()),
        ];
        // The client of the operator under test would use a proxy for this machine. Cargo still finds the proxy.
        let proxies = proxies()?;
        if proxies.https.is_some() || proxies.http.is_some() {
            let around = PathBuf::from(proxies.no_proxy_with_localhost());
            variables.extend([("NO_PROXY", around.clone()), ("no_proxy", around)]);
        }
        if let Some(account) = &self.account {
            let Account { namespace, name } = account;
            let token = plane.cluster.service_account_token(namespace, name, DAY)?;
            let kubeconfig = plane.kubeconfig_of("operator", &account.namespace, &token)?;
            variables.push(("E2E_OPERATOR_KUBECONFIG", kubeconfig));
        }
        if has_webhooks {
            variables.push(("E2E_WEBHOOKS", "true".into()));
            // `make run` serves none without it.
            variables.push(("ENABLE_WEBHOOKS", "true".into()));
            variables.push(("WEBHOOK_PORT", port.to_string().into()));
            variables.extend(plane.serving_certificate());
        }
        if let Some(namespace) = &self.namespace {
            variables.push(("E2E_NAMESPACE", namespace.into()));
        }
        if controllers {
            variables.push(("E2E_CONTROLLERS", "true".into()));
        }
        Ok(variables)
    }

    /// The resource of a kind whose CRD is installed.
    pub fn plural(&self, group: &str, kind: &str) -> Option<String> {
        let specs = self.crds.iter().map(|crd| &crd["spec"]);
        let found = { specs }.find(|spec| spec["group"] == group && spec["names"]["kind"] == kind);
        found?["names"]["plural"].as_str().map(str::to_owned)
    }
}

fn values_of(rendered: Vec<Rendered>) -> Vec<Value> {
    rendered.into_iter().map(|rendered| rendered.value).collect()
}

fn find_account(objects: &[Value]) -> Option<Account> {
    let deployment = objects.iter().find(|object| object["kind"] == "Deployment")?;
    let name = deployment["spec"]["template"]["spec"]["serviceAccountName"].as_str()?;
    let namespace = deployment["metadata"]["namespace"].as_str()?;
    Some(Account { namespace: namespace.to_owned(), name: name.to_owned() })
}

/// Sets the namespace that clients take where an object has none.
fn in_a_namespace(object: &mut Value) {
    let kinds = ["ServiceAccount", "Role", "RoleBinding", "Deployment"];
    if kinds.iter().any(|kind| object["kind"] == *kind) && object["metadata"]["namespace"].is_null()
    {
        object["metadata"]["namespace"] = NAMESPACE.into();
    }
}

/// The namespaces that objects are in and that are not among them.
fn missing_namespaces(objects: &[Value]) -> Vec<Value> {
    let namespaces = objects.iter().filter_map(|object| object["metadata"]["namespace"].as_str());
    let is_there = |name: &&str| {
        *name == "default"
            || objects
                .iter()
                .any(|object| object["kind"] == "Namespace" && object["metadata"]["name"] == *name)
    };
    let missing: BTreeSet<&str> = namespaces.filter(|name| !is_there(name)).collect();
    let namespace = |name| serde_json::json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    missing.into_iter().map(namespace).collect()
}

/// The roles that an account is bound to. One that is bound in a namespace allows there what it has.
fn bound_roles(objects: &[Value], account: &Account) -> Vec<Value> {
    let objects: Vec<&Value> = objects.iter().collect();
    rbac::collect_grants(&objects, account.in_rbac()).into_iter().filter_map(granted_role).collect()
}

/// A role as a binding gives it.
fn granted_role(grant: rbac::Grant<'_>) -> Option<Value> {
    let mut role = grant.role?.clone();
    if let Some(namespace) = grant.namespace {
        role["kind"] = "Role".into();
        role["metadata"]["namespace"] = namespace.into();
    }
    Some(role)
}

/// Divides the roles that are made from comments: those that bindings give to an account, and the titles of the others.
fn divide_roles(rendered: &[Rendered], account: &Account) -> (Vec<Value>, Vec<String>) {
    let objects: Vec<&Value> = rendered.iter().map(|object| &object.value).collect();
    let grants = rbac::collect_grants(&objects, account.in_rbac());
    let (mut roles, mut unbound) = (Vec::new(), Vec::new());
    for role in
        rendered.iter().filter(|object| object.origin.as_str() == ROLE).map(|object| &object.value)
    {
        let is_of_role = |grant: &&rbac::Grant<'_>| {
            grant.role.is_some_and(|granted| std::ptr::eq(granted, role))
        };
        let before = roles.len();
        roles.extend(grants.iter().filter(is_of_role).copied().filter_map(granted_role));
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
    let (roles, unbound) = divide_roles(&rendered, &account);
    assert_eq!(roles, [rendered[0].value.clone()]);
    assert_eq!(unbound, ["Role `b`", "ClusterRole `c`"]);
}
