//! Sorts the objects by their use in the bundle. A warning names each object that the bundle does not use.

use std::collections::BTreeSet;

use super::{Refusals, Warnings, kinds, object};
use go_data::yaml::Value;
use model::PackageName;

const SCORECARD: &str = "scorecard.operatorframework.io";
pub const RBAC: &str = "rbac.authorization.k8s.io";

#[derive(Default)]
pub struct SortedObjects<'a> {
    pub csv: Option<&'a Value>,
    /// The CSVs of other packages, judged by their names.
    pub foreign_csvs: Vec<&'a Value>,
    pub deployments: Vec<&'a Value>,
    pub service_accounts: Vec<&'a Value>,
    pub roles: Vec<&'a Value>,
    pub cluster_roles: Vec<&'a Value>,
    pub role_bindings: Vec<&'a Value>,
    pub cluster_role_bindings: Vec<&'a Value>,
    pub services: Vec<&'a Value>,
    pub crds: Vec<&'a Value>,
    /// The webhooks of every ValidatingWebhookConfiguration.
    pub validating: Vec<&'a Value>,
    /// The webhooks of every MutatingWebhookConfiguration.
    pub mutating: Vec<&'a Value>,
    pub scorecard: Option<&'a Value>,
    /// Objects of the kinds that the CRDs define.
    pub samples: Vec<&'a Value>,
    /// Other kinds that a bundle can hold.
    pub others: Vec<&'a Value>,
}

impl<'a> SortedObjects<'a> {
    pub fn new(
        objects: &'a [Value],
        package: &PackageName,
        refusals: &mut Refusals,
        warnings: &mut Warnings,
    ) -> Self {
        let mut sorted = Self::default();
        let mut rest = Vec::new();
        let mut seen = BTreeSet::new();
        for object in objects {
            if !seen.insert(object.to_string()) {
                continue;
            }
            let (group, version) = object::group_version(object);
            match (group, object::kind(object)) {
                ("operators.coreos.com", "ClusterServiceVersion") => {
                    if object::name(object).starts_with(&format!("{package}.")) {
                        set_single(&mut sorted.csv, object, refusals);
                    } else {
                        sorted.foreign_csvs.push(object);
                    }
                }
                (SCORECARD, "Configuration") if object::name(object).is_empty() => {
                    warnings.leave_out(object, "it has no name");
                }
                (SCORECARD, "Configuration") => set_single(&mut sorted.scorecard, object, refusals),
                ("apps", "Deployment") => sorted.deployments.push(object),
                ("", "ServiceAccount") => sorted.service_accounts.push(object),
                ("", "Service") => sorted.services.push(object),
                (RBAC, "Role") => sorted.roles.push(object),
                (RBAC, "ClusterRole") => sorted.cluster_roles.push(object),
                (RBAC, "RoleBinding") => sorted.role_bindings.push(object),
                (RBAC, "ClusterRoleBinding") => sorted.cluster_role_bindings.push(object),
                ("apiextensions.k8s.io", "CustomResourceDefinition") if version == "v1" => {
                    sorted.crds.push(object);
                }
                ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration") => {
                    sorted.validating.extend(object::list(object, "/webhooks"));
                }
                ("admissionregistration.k8s.io", "MutatingWebhookConfiguration") => {
                    sorted.mutating.extend(object::list(object, "/webhooks"));
                }
                _ => rest.push(object),
            }
        }
        if sorted.csv.is_some() {
            for csv in &sorted.foreign_csvs {
                warnings.push(format!(
                    "{} is ignored: it belongs to another package, because its name does not begin with `{package}.`",
                    object::title(csv)
                ));
            }
        }
        sorted.refuse_twins(refusals);
        sorted.sort_remaining(rest, refusals, warnings);
        sorted
    }

    /// Refuses objects that operator-sdk treats as one, because it compares their content without the kind.
    fn refuse_twins(&mut self, refusals: &mut Refusals) {
        for webhooks in [&mut self.validating, &mut self.mutating] {
            let mut seen = BTreeSet::new();
            webhooks.retain(|webhook| seen.insert(webhook.to_string()));
        }
        let numbers_differ = ["objectSelector", "matchConditions", "reinvocationPolicy"];
        let are_twins = |webhook: &&&Value| {
            self.validating.contains(webhook)
                && numbers_differ.iter().all(|field| webhook.get(field).is_none())
        };
        for webhook in self.mutating.iter().filter(are_twins) {
            refusals.push(
                format!("the webhook `{}` is validating and mutating: operator-sdk leaves out the mutating one", object::text(webhook, "/name")),
                "rename one of them or change its path",
            );
        }
        let parts =
            |object: &Value| [object.get("metadata").cloned(), object.get("rules").cloned()];
        for role in &self.cluster_roles {
            if self.roles.iter().any(|other| parts(other) == parts(role))
                && role.get("aggregationRule").is_none()
            {
                refusals.push(
                    format!("{} has the same name and rules as a Role: operator-sdk leaves out the ClusterRole", object::title(role)),
                    "rename one of the two, or give the Role a namespace",
                );
            }
        }
    }

    /// Sorts samples and other kinds, and warns of objects that a bundle cannot contain.
    fn sort_remaining(
        &mut self,
        rest: Vec<&'a Value>,
        refusals: &mut Refusals,
        warnings: &mut Warnings,
    ) {
        for object in rest {
            let (group, version) = object::group_version(object);
            let kind = object::kind(object);
            let crd = self.crds.iter().find(|crd| {
                object::text(crd, "/spec/group") == group
                    && object::text(crd, "/spec/names/kind") == kind
            });
            if let Some(crd) = crd {
                // operator-sdk checks only the kind.
                if kinds::is_supported_kind(kind) {
                    self.others.push(object);
                }
                if served_versions(crd).any(|served| object::text(served, "/name") == version) {
                    self.samples.push(object);
                } else {
                    warnings.leave_out(object, "its CRD does not serve its version");
                }
                continue;
            }
            match (group, kind) {
                // The administrator who installs the operator chooses its namespace.
                ("", "Namespace") if self.is_home(object) => {}
                ("cert-manager.io", "Certificate") if !self.is_of_webhook(object) => {
                    let reason = "a bundle cannot hold this kind, and OLM creates the certificates of webhooks only: have the operator create it, \
                                  or mount a Secret that is there";
                    warnings.leave_out(object, reason);
                }
                ("cert-manager.io", "Issuer" | "Certificate") => {
                    warnings.leave_to_olm(object, "OLM creates the certificates of webhooks");
                }
                ("apiextensions.k8s.io", "CustomResourceDefinition") => refusals.push(
                    format!("{} has a version that Kubernetes 1.22 removed", object::title(object)),
                    "convert it to `apiextensions.k8s.io/v1`",
                ),
                _ => {
                    if kinds::is_supported_kind(kind) {
                        self.others.push(object);
                    }
                    if !kinds::is_supported(group, kind) {
                        kinds::warn_of_unsupported(object, warnings);
                    }
                }
            }
        }
    }

    /// Returns whether this is the namespace that the operator's Deployments are in.
    fn is_home(&self, namespace: &Value) -> bool {
        self.deployments
            .iter()
            .any(|deployment| object::namespace(deployment) == object::name(namespace))
    }

    /// Returns whether a certificate may be for a Service of webhooks: one of its names begins with that of the
    /// Service.
    fn is_of_webhook(&self, certificate: &Value) -> bool {
        let webhooks = [&self.validating[..], &self.mutating].concat();
        let of_webhooks =
            webhooks.iter().map(|webhook| object::text(webhook, "/clientConfig/service/name"));
        let conversion = "/spec/conversion/webhook/clientConfig/service/name";
        let of_crds = self.crds.iter().map(|crd| object::text(crd, conversion));
        let names = || {
            object::texts(certificate, "/spec/dnsNames").map(|dns_name| dns_name.split('.').next())
        };
        names().next().is_none()
            || of_webhooks.chain(of_crds).any(|service| names().any(|name| name == Some(service)))
    }

    /// Returns the namespace of an object if none of the operator's Deployments may be in it.
    pub fn foreign_namespace<'b>(&self, object: &'b Value) -> Option<&'b str> {
        let namespace = object::namespace(object);
        let is_home =
            |deployment: &&Value| object::may_be_same(object::namespace(deployment), namespace);
        (!self.deployments.iter().any(is_home)).then_some(namespace)
    }
}

/// The versions that a CRD serves.
pub fn served_versions(crd: &Value) -> impl Iterator<Item = &Value> {
    let served =
        |version: &&Value| version.get("served").and_then(Value::as_bool).unwrap_or_default();
    object::list(crd, "/spec/versions").iter().filter(served)
}

fn set_single<'a>(place: &mut Option<&'a Value>, object: &'a Value, refusals: &mut Refusals) {
    match place {
        None => *place = Some(object),
        Some(first) => refusals.push(
            format!("there are both {} and {}", object::title(object), object::title(first)),
            "a bundle contains only one of them: remove the other from config/manifests",
        ),
    }
}
