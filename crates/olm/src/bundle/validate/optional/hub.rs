//! Checks the requirements of OperatorHub.io for a ClusterServiceVersion.

use semver::Version;

use super::{
    super::{Findings, Rule, csv, grammar::versions, load::Loaded, of},
    Context,
};
use go_data::{
    kubernetes::{mail, url::Url},
    yaml::Value,
};

const CAPABILITIES: &[&str] =
    &["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"];
const CATEGORIES: &[&str] = &[
    "AI/Machine Learning",
    "Application Runtime",
    "Big Data",
    "Cloud Provider",
    "Developer Tools",
    "Database",
    "Integration & Delivery",
    "Logging & Tracing",
    "Monitoring",
    "Modernization & Migration",
    "Networking",
    "OpenShift Optional",
    "Security",
    "Storage",
    "Streaming & Messaging",
    "Observability",
];
const ICONS: &[&str] = &["image/gif", "image/jpeg", "image/png", "image/svg+xml"];

pub fn check(bundle: &Loaded, findings: &mut Findings) {
    let csv = &bundle.csv.object;
    let path = bundle.csv.path;
    if of::text(csv, "/spec/provider/name").trim().is_empty() {
        findings.error(
            Rule::HubProvider,
            (path, "/spec/provider/name"),
            "csv.Spec.Provider.Name not specified",
        );
    }
    check_maintainers(path, csv, findings);
    check_links(path, csv, findings);
    let version = versions::parse_tolerant(of::text(csv, "/spec/version"));
    let none = Version::new(0, 0, 0);
    if version.is_none_or(|version| version.cmp_precedence(&none).is_eq()) {
        findings.error(Rule::HubVersion, (path, "/spec/version"), "csv.Spec.Version must be set");
    }
    check_icons(bundle, findings);
    csv::check_min_kube_version(path, csv, findings);
}

fn check_maintainers(path: &str, csv: &Value, findings: &mut Findings) {
    for (at, maintainer) in of::list(csv, "/spec/maintainers").iter().enumerate() {
        let place = || (path, format!("/spec/maintainers/{at}/email"));
        let [name, email] = ["/name", "/email"].map(|pointer| of::text(maintainer, pointer));
        if name.is_empty() || email.is_empty() {
            findings.error(
                Rule::HubMaintainers,
                (path, format!("/spec/maintainers/{at}")),
                "csv.Spec.Maintainers elements should contain both name and email",
            );
        }
        if email.is_empty() {
            continue;
        }
        match mail::is_address(email) {
            Some(true) => {}
            Some(false) => findings.error(Rule::HubEmail, place(), format!("csv.Spec.Maintainers email {email} is invalid")),
            None => findings.warning(
                Rule::HubEmailUnchecked,
                place(),
                format!("csv.Spec.Maintainers email {email} was not checked: quotes, comments and groups are not supported"),
            ),
        }
    }
}

fn check_links(path: &str, csv: &Value, findings: &mut Findings) {
    for (at, link) in of::list(csv, "/spec/links").iter().enumerate() {
        let [name, url] = ["/name", "/url"].map(|pointer| of::text(link, pointer));
        if name.is_empty() || url.is_empty() {
            findings.error(
                Rule::HubLinks,
                (path, format!("/spec/links/{at}")),
                "csv.Spec.Links elements should contain both name and url",
            );
        }
        if !url.is_empty() && Url::parse_request(url).is_none() {
            findings.error(
                Rule::HubUrl,
                (path, format!("/spec/links/{at}/url")),
                format!("csv.Spec.Links url {url} is invalid"),
            );
        }
    }
}

fn check_icons(bundle: &Loaded, findings: &mut Findings) {
    let path = bundle.csv.path;
    let list = |csv: &'_ Value| csv.pointer("/spec/icon").and_then(Value::as_array).cloned();
    // Go does not write empty lists.
    let Some(icons) = list(&bundle.csv.object).or_else(|| list(bundle.written_csv())) else {
        return findings.warning(Rule::HubIcon, (path, "/spec"), "csv.Spec.Icon not specified");
    };
    if icons.len() != 1 {
        findings.error(
            Rule::HubIconOne,
            (path, "/spec/icon"),
            "csv.Spec.Icon should only have one element",
        );
    }
    let Some(icon) = icons.first() else { return };
    let [data, type_] = ["/base64data", "/mediatype"].map(|pointer| of::text(icon, pointer));
    if data.is_empty() || type_.is_empty() {
        findings.error(
            Rule::HubIconData,
            (path, "/spec/icon/0"),
            "csv.Spec.Icon elements should contain both data and mediatype",
        );
    }
    if !type_.is_empty() && !ICONS.contains(&type_) {
        findings.error(
            Rule::HubIconType,
            (path, "/spec/icon/0/mediatype"),
            format!("csv.Spec.Icon {type_} does not have a valid mediatype"),
        );
    }
}

pub fn check_capabilities(bundle: &Loaded, findings: &mut Findings) {
    if let Some(level) =
        annotation(bundle, "capabilities").filter(|level| !CAPABILITIES.contains(level))
    {
        findings.error(
            Rule::Capabilities,
            (bundle.csv.path, "/metadata/annotations/capabilities"),
            format!(
                "csv.Metadata.Annotations.Capabilities {level:?} is not a valid capabilities level"
            ),
        );
    }
}

pub fn check_categories(bundle: &Loaded, context: &Context, findings: &mut Findings) {
    let Some(text) = annotation(bundle, "categories") else { return };
    let (list, which): (Vec<&str>, _) = match &context.categories {
        None => (CATEGORIES.to_vec(), "standard"),
        Some(Ok(list)) => (list.iter().map(String::as_str).collect(), "custom"),
        Some(Err(why)) => {
            return findings.error(
                Rule::CategoriesFile,
                bundle.csv.path,
                format!("could not read the file that OPERATOR_BUNDLE_CATEGORIES names: {why}"),
            );
        }
    };
    for category in text.split(',').filter(|category| !list.contains(&category.trim())) {
        findings.error(
            Rule::Categories,
            (bundle.csv.path, "/metadata/annotations/categories"),
            format!("csv.Metadata.Annotations[\"categories\"] value {category:?} is not in the set of {which} categories"),
        );
    }
}

fn annotation<'a>(bundle: &'a Loaded, key: &str) -> Option<&'a str> {
    let value = bundle.csv.object.pointer("/metadata/annotations")?.get(key)?;
    Some(value.as_str().unwrap_or_default())
}
