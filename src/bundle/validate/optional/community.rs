//! A bundle with APIs that Kubernetes 1.22 removed must be kept from OpenShift 4.9 and later: by a property,
//! and by a label of its image.

use semver::Version;

use super::{
    super::{Findings, Rule, grammar::versions, load::Loaded},
    Context, removed,
};
use go_data::yaml::{self, Value};

const LABEL: &str = "com.redhat.openshift.versions";
const AT: &str = "/metadata/annotations/olm.properties";
const PROPERTY: &str = "olm.maxOpenShiftVersion";

pub fn check(bundle: &Loaded, context: &Context, findings: &mut Findings) {
    let found = removed::by_1_22(bundle);
    if found.is_empty() {
        return;
    }
    let path = bundle.csv.path;
    let apis = format!(
        "this bundle is using APIs which were deprecated and removed in v1.22. More info: \
         https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v1-22. Migrate the API(s) for {}",
        removed::list(&found)
    );
    let annotations = bundle.csv.object.pointer("/metadata/annotations");
    let properties = annotations.and_then(|it| it.get("olm.properties")).and_then(Value::as_str);
    match newest(properties.unwrap_or_default()) {
        Ok(None) => {}
        Ok(Some(warning)) => findings.warning(Rule::CommunityPatch, (path, AT), warning),
        Err(why) => findings.error(
            Rule::CommunityProperty,
            (path, AT),
            format!("csv.Annotations.olm.properties {why}: {apis}"),
        ),
    }
    match &context.index {
        None => findings.warning(
            Rule::CommunityIndex,
            path,
            format!("give the bundle's Dockerfile with `--optional-values index-path=bundle.Dockerfile`, so that its labels are checked: {apis}"),
        ),
        Some(Err(why)) => findings.error(Rule::CommunityLabel, path, format!("the file of `index-path` cannot be read: {why}")),
        Some(Ok(text)) => {
            if let Err(why) = labels(text) {
                findings.error(Rule::CommunityLabel, path, format!("{why}: {apis}"));
            }
        }
    }
}

/// Whether the property keeps the bundle from OpenShift 4.9; a warning where it says more than it may.
fn newest(properties: &str) -> Result<Option<String>, String> {
    if properties.is_empty() {
        return Err(format!("must name `{PROPERTY}` with a version before 4.9"));
    }
    let list = yaml::from_json(properties).ok();
    let is_property = |it: &Value| {
        ["type", "value"]
            .iter()
            .all(|key| it.get(key).is_none_or(|it| it.is_string() || it.is_null()))
            && (it.is_object() || it.is_null())
    };
    let Some(list) =
        list.as_ref().and_then(Value::as_array).filter(|it| it.iter().all(is_property))
    else {
        return Err("must be a list such as [{\"type\": \"key name\", \"value\": \"key value\"}]"
            .to_owned());
    };
    let Some(property) = list.iter().find(|it| it["type"] == PROPERTY) else {
        return Err(format!("must name `{PROPERTY}` with a version before 4.9"));
    };
    let text = property["value"].as_str().unwrap_or_default();
    let Some(version) = versions::tolerant(text) else {
        return Err(format!("has a version for `{PROPERTY}` that cannot be read ({text})"));
    };
    let minor = Version::new(version.major, version.minor, 0);
    if !version.cmp_precedence(&minor).is_eq() {
        return Ok(Some(format!(
            "{PROPERTY} must specify only major.minor versions, {version} will be truncated to {minor}"
        )));
    }
    if !is_before(&version) {
        return Err(format!("has the version {text} for `{PROPERTY}`, which is 4.9 or later"));
    }
    Ok(None)
}

/// Whether the first label of a Dockerfile keeps the bundle from OpenShift 4.9: `v4.6-v4.8` or `=v4.8`.
fn labels(text: &str) -> Result<(), String> {
    let Some(line) = text.split('\n').find(|it| it.contains(LABEL)) else {
        return Err(format!("the label {LABEL} is missing (e.g. LABEL {LABEL}='4.6-4.8')"));
    };
    let clean = |it: &str| it.replace(['\'', '"', 'v'], "");
    let values: Vec<&str> = line.split('=').collect();
    let version = match values[..] {
        [_] => return Err(format!("invalid syntax ({line}) for ({LABEL})")),
        [_, _, exact, ..] if !exact.is_empty() => clean(exact),
        [_, range, ..] => {
            let range = clean(range);
            if range.len() < 2 {
                return Err(format!("unable to get the range informed on {LABEL}"));
            }
            match range.split('-').nth(1) {
                Some(end) => end.to_owned(),
                None => return Err(format!("{LABEL} allows OpenShift 4.9 and later ({range})")),
            }
        }
        [] => String::new(),
    };
    match versions::tolerant(&version) {
        None => Err(format!("unable to parse the value ({version}) on ({LABEL})")),
        Some(it) if is_before(&it) => Ok(()),
        Some(_) => Err(format!("{LABEL} allows OpenShift 4.9 or later ({version})")),
    }
}

fn is_before(version: &Version) -> bool {
    version.cmp_precedence(&Version::new(4, 9, 0)).is_lt()
}
