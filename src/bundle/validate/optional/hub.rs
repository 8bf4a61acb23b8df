//! What OperatorHub.io asks of a ClusterServiceVersion.

use semver::Version;

use super::{
    super::{Findings, Rule, csv, grammar::versions, load::Loaded, of},
    Context,
};
use diagnostics::slips;
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
    maintainers(path, csv, findings);
    links(path, csv, findings);
    let version = versions::tolerant(of::text(csv, "/spec/version"));
    let none = Version::new(0, 0, 0);
    if version.is_none_or(|it| it.cmp_precedence(&none).is_eq()) {
        findings.error(Rule::HubVersion, (path, "/spec/version"), "csv.Spec.Version must be set");
    }
    icons(bundle, findings);
    csv::min_kube_version(path, csv, findings);
}

fn maintainers(path: &str, csv: &Value, findings: &mut Findings) {
    for (at, maintainer) in of::list(csv, "/spec/maintainers").iter().enumerate() {
        let place = || (path, format!("/spec/maintainers/{at}/email"));
        let [name, email] = ["/name", "/email"].map(|it| of::text(maintainer, it));
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

fn links(path: &str, csv: &Value, findings: &mut Findings) {
    for (at, link) in of::list(csv, "/spec/links").iter().enumerate() {
        let [name, url] = ["/name", "/url"].map(|it| of::text(link, it));
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

fn icons(bundle: &Loaded, findings: &mut Findings) {
    let path = bundle.csv.path;
    let list = |csv: &'_ Value| csv.pointer("/spec/icon").and_then(Value::as_array).cloned();
    // Go leaves out a list that is empty, where it writes.
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
    let [data, type_] = ["/base64data", "/mediatype"].map(|it| of::text(icon, it));
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

pub fn capabilities(bundle: &Loaded, findings: &mut Findings) {
    if let Some(level) = annotation(bundle, "capabilities").filter(|it| !CAPABILITIES.contains(it))
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

pub fn categories(bundle: &Loaded, context: &Context, findings: &mut Findings) {
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
    for it in text.split(',').filter(|it| !list.contains(&it.trim())) {
        findings.error(
            Rule::Categories,
            (bundle.csv.path, "/metadata/annotations/categories"),
            format!("csv.Metadata.Annotations[\"categories\"] value {it:?} is not in the set of {which} categories"),
        );
    }
}

/// The level that a misspelt one must be.
pub fn known_capability(level: &str) -> Option<&'static str> {
    only_match(level, CAPABILITIES)
}

/// The list with each category as it is known; none where one is like no known category, or like several.
pub fn known_categories(text: &str, context: &Context) -> Option<String> {
    let known: Vec<&str> = match &context.categories {
        None => CATEGORIES.to_vec(),
        Some(list) => list.as_ref().ok()?.iter().map(String::as_str).collect(),
    };
    let category = |it: &str| {
        let word = it.trim();
        let found = if known.contains(&word) { word } else { only_match(word, &known)? };
        Some(it.replace(word, found))
    };
    let parts = text.split(',').filter(|it| !it.trim().is_empty());
    let parts: Vec<String> = parts.map(category).collect::<Option<_>>()?;
    Some(parts.join(",")).filter(|it| !it.is_empty())
}

/// The only word that is the same but for case, spaces and signs, or else but for a slip.
fn only_match<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let letters = |it: &str| -> String {
        let text = it.to_lowercase().replace('&', "and");
        text.chars().filter(|it| it.is_alphanumeric()).collect()
    };
    let only = |is: &dyn Fn(&str) -> bool| {
        let mut found = known.iter().copied().filter(|it| is(it));
        found.next().filter(|_| found.next().is_none())
    };
    only(&|it| letters(it) == letters(word)).or_else(|| only(&|it| slips(it, word) == 1))
}

#[test]
fn a_misspelt_word_is_corrected_where_one_word_can_be_meant() {
    let categories = |text: &str| {
        known_categories(text, &Context::without_images(&std::collections::BTreeMap::new()))
    };
    let check = |text: &str, expected: Option<&str>| {
        assert_eq!(categories(text).as_deref(), expected, "{text}");
    };
    check("database, Logging and tracing,Storage", Some("Database, Logging & Tracing,Storage"));
    check("AI/Machine learning,", Some("AI/Machine Learning"));
    check("Securty", Some("Security"));
    check("Database,Mine", None);
    check(",", None);
    assert_eq!(known_capability("basic-install"), Some("Basic Install"));
    assert_eq!(known_capability("Seamless Upgrade"), Some("Seamless Upgrades"));
    assert_eq!(known_capability("Pilot"), None);
}

fn annotation<'a>(bundle: &'a Loaded, key: &str) -> Option<&'a str> {
    let value = bundle.csv.object.pointer("/metadata/annotations")?.get(key)?;
    Some(value.as_str().unwrap_or_default())
}
