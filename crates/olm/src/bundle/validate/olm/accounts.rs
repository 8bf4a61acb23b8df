//! The service accounts of a bundle, and what binds them: OLM creates accounts and bindings in the namespace that its
//! user chooses.

use std::collections::BTreeSet;

use super::{
    super::{csv, load::Loaded},
    Faults, Rule, located_deployments, of,
};
use go_data::{
    kubernetes::rbac::{self, Account},
    yaml::Value,
};

/// A namespace that no object of a bundle names: the one that the user chooses.
const CHOSEN: &str = "";

pub fn check(bundle: &Loaded, faults: &mut Faults) {
    for (at, deployment) in located_deployments(&bundle.csv.object) {
        check_permissions(bundle, &at, deployment, faults);
    }
    check_fixed_namespaces(bundle, faults);
}

/// Reports a service account that neither OLM nor the bundle creates, or that has no permission from the CSV or a
/// binding.
fn check_permissions(bundle: &Loaded, at: &str, deployment: &Value, faults: &mut Faults) {
    let object = &bundle.csv.object;
    let account = account_of(deployment);
    if csv::has_permissions(object, account) {
        return;
    }
    let place = (bundle.csv.path, format!("{at}/spec/template/spec/serviceAccountName"));
    let name = of::name_of(deployment);
    let is_account =
        |object: &Value| of::kind(object) == "ServiceAccount" && of::name(object) == account;
    // Every namespace has this one.
    if account != "default" && !bundle.objects.iter().any(|manifest| is_account(&manifest.object)) {
        let message = format!(
            "neither OLM nor the bundle creates the service account `{account}` of the Deployment `{name}`, and without it there are no pods"
        );
        return faults.push(Rule::AccountMissing, place, message);
    }
    if !bundle.objects.iter().any(|manifest| may_bind(&manifest.object, account)) {
        let message = format!(
            "nothing in the bundle gives the service account `{account}` of the Deployment `{name}` a permission"
        );
        faults.push(Rule::NoPermissions, place, message);
    }
}

fn account_of(deployment: &Value) -> &str {
    match of::text(deployment, "/spec/template/spec/serviceAccountName") {
        "" => "default",
        name => name,
    }
}

/// Returns whether a binding is of this account in the namespace that the user chooses, or in one that the binding names.
fn may_bind(binding: &Value, account: &str) -> bool {
    let subjects = of::list(binding, "/subjects").iter();
    let named = subjects.map(|subject| of::text(subject, "/namespace"));
    named.chain([CHOSEN]).any(|namespace| {
        rbac::binds_account(
            binding,
            Account { namespace, name: account, default_namespace: namespace },
        )
    })
}

/// Reports bindings with a fixed namespace of an account that OLM creates in the namespace that the user chooses.
fn check_fixed_namespaces(bundle: &Loaded, faults: &mut Faults) {
    let manifests =
        bundle.objects.iter().filter(|manifest| of::kind(&manifest.object) == "ServiceAccount");
    let deployments: Vec<_> = located_deployments(&bundle.csv.object).collect();
    let accounts: BTreeSet<&str> = manifests
        .map(|manifest| of::name(&manifest.object))
        .chain(deployments.iter().map(|(_, deployment)| account_of(deployment)))
        .filter(|name| *name != "default")
        .collect();
    for manifest in bundle.objects.iter().filter(|manifest| rbac::is_binding(&manifest.object)) {
        for (at, subject) in of::list(&manifest.object, "/subjects").iter().enumerate() {
            let (name, namespace) = (of::name_of(subject), of::text(subject, "/namespace"));
            let is_fixed = of::kind(subject) == "ServiceAccount" && !namespace.is_empty();
            if is_fixed && accounts.contains(name) {
                let message = format!(
                    "{} gives rights to the service account `{name}` of the namespace `{namespace}`, and OLM creates `{name}` in the namespace that its user chooses",
                    of::title(&manifest.object)
                );
                let place = (manifest.path, format!("/subjects/{at}/namespace"));
                faults.push(Rule::BindingNamespace, place, message);
            }
        }
    }
}
