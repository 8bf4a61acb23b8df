//! Corrections of the manifests beside the ClusterServiceVersion.

use std::collections::BTreeSet;

use super::{
    super::{csv, of},
    Case, Edit, Finding, Fix, Step, What,
};
use go_data::yaml::{self, Dialect, Map, Value};

/// Kinds of a bundle whose objects are in no namespace.
const CLUSTER: &[&str] =
    &["ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "PriorityClass"];

/// OLM chooses the namespace of what it installs.
pub fn namespace(case: &Case, finding: &Finding) -> Option<Fix> {
    let forbidden = "metadata.namespace: Forbidden: not allowed on this type";
    let step = case.edit(&finding.file, "/metadata/namespace", Edit::Remove)?;
    let written = case.written(&finding.file)?;
    let why = match of::kind(&written) {
        kind if CLUSTER.contains(&kind) => format!("a {kind} has none"),
        kind if kind.starts_with("Console") => format!("a {kind} has none"),
        _ => "OLM chooses the namespace".to_owned(),
    };
    finding
        .message
        .ends_with(forbidden)
        .then(|| Fix { change: format!("removed `metadata.namespace`: {why}"), steps: vec![step] })
}

/// A second file with the same CRD, if its comments are in the first one, too.
pub fn same_crd(case: &Case, finding: &Finding) -> Option<Fix> {
    let bundle = case.bundle?;
    let written =
        |path: &str| bundle.objects.iter().find(|it| it.path == path).map(|it| &it.object);
    let this = written(&finding.file)?;
    let name = of::name(this);
    let mut others = bundle.crds.iter().filter(|it| of::name(&it.object) == name);
    let other = others.find(|it| it.path != finding.file && written(it.path) == Some(this))?.path;
    // The first one stays, unless only the first one may be deleted.
    let pairs = [(finding.file.as_str(), other), (other, finding.file.as_str())];
    let may_delete = |(file, kept): &(&str, &str)| {
        let may_edit = file.parse().is_ok_and(|it| (case.may_edit)(&it));
        may_edit
            && comments(case, file)
                .is_some_and(|it| comments(case, kept).is_some_and(|kept| it.is_subset(&kept)))
    };
    let (file, kept) = pairs.into_iter().find(may_delete)?;
    Some(Fix { change: format!("deleted `{file}`: `{kept}` is the same CRD"), steps: delete(file) })
}

/// A service account that says nothing but its name, and that OLM creates for the permissions of the CSV.
pub fn service_account(case: &Case, finding: &Finding) -> Option<Fix> {
    let account = case.written(&finding.file)?;
    let has_only = |map: &Map<String, Value>, keys: &[&str]| {
        map.iter().all(|(key, it)| it.is_null() || keys.contains(&key.as_str()))
    };
    let metadata = account.get("metadata")?.as_object()?;
    let labels = metadata.get("labels").and_then(Value::as_object);
    let is_recommended = |key: &String| key.starts_with("app.kubernetes.io/");
    let is_created = csv::has_permissions(&case.bundle?.csv.object, of::name(&account));
    let is_plain = has_only(account.as_object()?, &["apiVersion", "kind", "metadata"])
        && has_only(metadata, &["name", "labels"])
        && labels.is_none_or(|it| it.keys().all(is_recommended))
        && comments(case, &finding.file)?.is_empty();
    (is_plain && is_created).then(|| Fix {
        change: "deleted the file: OLM creates the service account".to_owned(),
        steps: delete(&finding.file),
    })
}

/// The certificate of a conversion webhook that OLM runs.
pub fn cert_annotation(case: &Case, finding: &Finding) -> Option<Fix> {
    let bundle = case.bundle?;
    let crd = bundle.crds.iter().find(|it| it.path == finding.file)?;
    let webhooks = of::list(&bundle.csv.object, "/spec/webhookdefinitions");
    let converts = |it: &Value| {
        of::text(it, "/type") == "ConversionWebhook"
            && of::texts(it, "/conversionCRDs").any(|it| it == of::name(&crd.object))
    };
    let step = case.without_annotation(&finding.file, &finding.field)?;
    webhooks.iter().any(converts).then(|| Fix {
        change: "removed the annotation: OLM provides the certificate".to_owned(),
        steps: vec![step],
    })
}

fn delete(file: &str) -> Vec<Step> {
    vec![Step { file: file.to_owned(), what: What::Delete }]
}

/// The comments of a file with one document; none where it has more, which nobody reads.
fn comments<'a>(case: &'a Case, file: &str) -> Option<BTreeSet<&'a str>> {
    let text = case.text(file)?;
    if yaml::documents(text, Dialect::Kubernetes).ok()?.len() != 1 {
        return None;
    }
    let comment = |it: &'a str| it.find('#').map(|at| it[at..].trim_end());
    Some(text.lines().filter_map(comment).collect())
}
