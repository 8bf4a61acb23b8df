//! Checks the good practices that operator-framework recommends.

use semver::Version;

use super::super::{Findings, Rule, load::Loaded, of};
use go_data::yaml::Value;

const VERSION: &str =
    r"([0-9]+)\.([0-9]+)\.([0-9]+)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+)?$";

pub fn check(bundle: &Loaded, findings: &mut Findings) {
    let csv = &bundle.csv.object;
    let path = bundle.csv.path;
    check_requests(bundle, findings);
    for part in ["owned", "required"] {
        let list = format!("/spec/customresourcedefinitions/{part}");
        for (at, crd) in of::list(csv, &list).iter().enumerate() {
            if of::text(crd, "/description").is_empty() {
                findings.warning(
                    Rule::CrdDescription,
                    (path, format!("{list}/{at}")),
                    format!("{part} CRD {:?} has an empty description", of::name_of(crd)),
                );
            }
        }
    }
    if ["permissions", "clusterPermissions"].iter().any(|part| may_create_crds(csv, part)) {
        findings.warning(
            Rule::CrdPermission,
            (path, "/spec/install/spec"),
            "CSV contains permissions to create CRD. An Operator shouldn't deploy or manage other operators (such patterns are known as \
             meta or super operators or include CRDs in its Operands). It's the Operator Lifecycle Manager's job to manage the deployment \
             and lifecycle of operators. Please, review the design of your solution and if you should not be using Dependency Resolution \
             from OLM instead. More info: https://sdk.operatorframework.io/docs/best-practices/common-recommendation/",
        );
    }
    check_name(path, of::name(csv), findings);
}

fn check_requests(bundle: &Loaded, findings: &mut Findings) {
    let path = bundle.csv.path;
    let deployments = |csv| of::list(csv, "/spec/install/spec/deployments");
    let has_requests =
        |container: &Value| container.pointer("/resources/requests").is_some_and(Value::is_object);
    let containers = "/spec/template/spec/containers";
    if bundle.csv.object.pointer("/spec/install/spec/deployments").is_none_or(Value::is_null) {
        findings.error(
            Rule::NoDeployment,
            (path, "/spec/install"),
            "unable to find a deployment to install in the CSV",
        );
    }
    for (place, deployment) in deployments(&bundle.csv.object).iter().enumerate() {
        for (at, container) in of::list(deployment, containers).iter().enumerate() {
            // Go does not write empty requests.
            let original = deployments(bundle.written_csv()).get(place);
            let original = original.and_then(|deployment| of::list(deployment, containers).get(at));
            if !has_requests(container) && !original.is_some_and(has_requests) {
                findings.warning(
                    Rule::Requests,
                    (path, format!("/spec/install/spec/deployments/{place}{containers}/{at}")),
                    format!(
                        "unable to find the resource requests for the container: ({}). It is recommended to ensure the resource request \
                         for CPU and Memory. Be aware that for some clusters configurations it is required to specify requests or limits \
                         for those values. Otherwise, the system or quota may reject Pod creation. More info: \
                         https://master.sdk.operatorframework.io/docs/best-practices/managing-resources/",
                        of::name_of(container)
                    ),
                );
            }
        }
    }
}

fn may_create_crds(csv: &Value, part: &str) -> bool {
    let grants = |rule: &Value| {
        let any =
            |field: &str, words: &[&str]| of::texts(rule, field).any(|word| words.contains(&word));
        any("/apiGroups", &["apiextensions.k8s.io"])
            && any("/resources", &["customresourcedefinitions", "*", "[*]"])
            && any("/verbs", &["create", "*", "[*]", "patch"])
    };
    let permissions = of::list(csv, &format!("/spec/install/spec/{part}"));
    permissions.iter().any(|permission| of::list(permission, "/rules").iter().any(grants))
}

fn check_name(path: &str, name: &str, findings: &mut Findings) {
    let version = regex_lite::Regex::new(VERSION).ok().and_then(|pattern| pattern.find(name));
    if version.is_none_or(|version| Version::parse(version.as_str()).is_err()) {
        findings.warning(
            Rule::NameVersion,
            (path, "/metadata/name"),
            format!(
                "csv.metadata.Name {name} is not following the versioning convention (MAJOR.MINOR.PATCH e.g 0.0.1): https://semver.org/"
            ),
        );
    }
    if name.split(".v").count() != 2 {
        findings.warning(
            Rule::NameForm,
            (path, "/metadata/name"),
            format!(
                "csv.metadata.Name {name} is not following the recommended naming convention: <operator-name>.v<semver> \
                 e.g. memcached-operator.v0.0.1"
            ),
        );
    }
}
