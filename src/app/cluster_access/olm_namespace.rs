//! The namespace that an operator runs in, and the objects of OLM there.

use cluster::{ApplyHints, Cluster, Id, Owner};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use olm::lifecycle::{self, V1, V1_ALPHA1};

/// A namespace of a cluster that has OLM.
pub struct InstallNamespace {
    pub cluster: Cluster,
    pub namespace: String,
}

/// Returns the owner of the objects that run a package in a namespace.
pub fn owner(package: &str, namespace: &str) -> Owner {
    let remove = format!(
        "remove the operator with {} and run the command again",
        cleanup(package, namespace)
    );
    let owner =
        Owner::for_project(&format!("{package}.{namespace}.olm")).with_agents(&lifecycle::MANAGERS);
    owner.with_apply_hints(ApplyHints {
        conflict: format!("set fields that others have changed back by hand, or {remove}"),
        immutable: format!("immutable fields cannot be changed in place: {remove}"),
    })
}

/// Returns the command that removes a package.
pub fn cleanup(package: &str, namespace: &str) -> String {
    format!("`operator-rs cleanup {package} --namespace {namespace}`")
}

/// The hint about a workload that does not run.
pub fn again_or_cleanup(package: &str, namespace: &str) -> String {
    format!("run the command again, or remove it with {}", cleanup(package, namespace))
}

impl InstallNamespace {
    /// Returns the ClusterExtensions that install a package.
    pub fn extensions(&self, package: &str) -> anyhow::Result<Vec<Value>> {
        let mut objects = self.cluster.list(lifecycle::v1::API, "ClusterExtension", "")?;
        objects.retain(|object| object["spec"]["source"]["catalog"]["packageName"] == *package);
        Ok(objects)
    }

    /// Fails if the server has no OLM.
    pub fn require_olm(&self) -> anyhow::Result<()> {
        let has = |kind: &str| self.cluster.serves(V1_ALPHA1, kind);
        if has("Subscription")? && has("ClusterServiceVersion")? && has("CatalogSource")? {
            return Ok(());
        }
        if self.cluster.serves(lifecycle::v1::API, "ClusterExtension")? {
            return Err(anyhow::format_err!("{} has OLM v1, and not OLM v0", self.cluster.server))
                .hint("use OLM v1 with `--target olmv1`, or install OLM v0 with `operator-rs olm install`");
        }
        Err(anyhow::format_err!("OLM is not installed on {}", self.cluster.server))
            .hint("install it with `operator-rs olm install`, or run the operator without OLM: `operator-rs deploy`")
    }

    /// Fails if the server can never meet the requirements of a version, which OLM would wait for.
    pub fn require_possible(&self, csv: &Value) -> anyhow::Result<()> {
        let version = self.cluster.get("/version")?.body;
        let version = version["gitVersion"].as_str().unwrap_or_default();
        let serves = |api_version: &str, kind: &str| self.cluster.serves(api_version, kind);
        let unmet = lifecycle::impossible_requirements(csv, version, serves)?;
        if unmet.is_empty() {
            return Ok(());
        }
        let name = csv["metadata"]["name"].as_str().unwrap_or_default();
        let lines: String = unmet.iter().map(|line| format!("\n  {line}")).collect();
        Err(anyhow::format_err!("OLM would not install `{name}` on this server:{lines}"))
            .hint("use a cluster that has these, or correct the ClusterServiceVersion")
    }

    /// Returns the namespace, if it must be created for a package or has been.
    pub fn missing_namespace(&self, package: &str) -> anyhow::Result<Option<Value>> {
        let namespace = lifecycle::build_namespace(&self.namespace, package)?;
        // If the user may not read it, an existing one is used.
        let found = self.cluster.read(&Id::of(&namespace)).unwrap_or(Some(Value::Null));
        let is_ours = found.as_ref().is_none_or(|value| {
            lifecycle::is_server_of(value, &lifecycle::catalog_name(package).unwrap_or_default())
        });
        Ok(Some(namespace).filter(|_| is_ours))
    }

    /// Returns the Subscriptions of a package.
    pub fn subscriptions(&self, package: &str) -> anyhow::Result<Vec<Value>> {
        let mut objects = self.cluster.list(V1_ALPHA1, "Subscription", &self.namespace)?;
        objects.retain(|object| object["spec"]["name"] == *package);
        Ok(objects)
    }

    pub fn groups(&self) -> anyhow::Result<Vec<Value>> {
        self.cluster.list(V1, "OperatorGroup", &self.namespace)
    }

    pub fn csv(&self, name: &str) -> anyhow::Result<Option<Value>> {
        self.read(V1_ALPHA1, "ClusterServiceVersion", name)
    }

    pub fn read(&self, api_version: &str, kind: &str, name: &str) -> anyhow::Result<Option<Value>> {
        self.cluster.read(&self.id(api_version, kind, name))
    }

    pub fn id(&self, api_version: &str, kind: &str, name: &str) -> Id {
        Id {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: self.namespace.clone(),
            name: name.to_owned(),
        }
    }

    /// Returns the objects that serve a catalog, or have served it.
    pub fn servers(&self, catalog: &str) -> anyhow::Result<Vec<Value>> {
        let mut objects = Vec::new();
        for (api_version, kind) in
            [("apps/v1", "Deployment"), ("v1", "Service"), ("v1", "ConfigMap")]
        {
            objects.extend(self.cluster.list(api_version, kind, &self.namespace)?);
        }
        objects.retain(|value| lifecycle::is_server_of(value, catalog));
        Ok(objects)
    }
}
