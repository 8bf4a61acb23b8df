//! Corrections of the ClusterServiceVersion.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{
    super::{csv, format, grammar::versions, load, of, optional},
    Case, Edit, Finding, Fix, Step, What,
};
use go_data::yaml::{self, Value, json};

/// An annotation of OLM in another case, unless it is there in further ones.
pub fn annotation_case(case: &Case, finding: &Finding) -> Option<Fix> {
    let (map, key) = finding.field.rsplit_once('/')?;
    let spelled = csv::spelled(key)?;
    let written = case.written(&finding.file)?;
    let annotations = written.pointer(map)?.as_object()?;
    if annotations.keys().filter(|it| it.eq_ignore_ascii_case(spelled)).count() != 1 {
        return None;
    }
    let step = case.edit(&finding.file, &finding.field, Edit::Rename(spelled.to_owned()))?;
    Some(Fix { change: format!("renamed `{key}` to `{spelled}`"), steps: vec![step] })
}

/// `1.33` and `v1.33.0` are 1.33.0 for Kubernetes' own tools.
pub fn min_kube_version(case: &Case, finding: &Finding) -> Option<Fix> {
    let written = case.written(&finding.file)?;
    let was = match written.pointer(&finding.field)? {
        // The number 1.3 may be written `1.30`.
        Value::Number(it) => {
            let line = format!("minKubeVersion: {it}");
            let is_literal = case.text(&finding.file)?.lines().any(|it| it.trim() == line);
            is_literal.then(|| it.to_string())?
        }
        it => it.as_str()?.to_owned(),
    };
    let version = versions::tolerant(&was)?.to_string();
    let change = format!("changed `{was}` to `{version}`");
    let step = case.edit(&finding.file, &finding.field, Edit::Set(version.into()))?;
    Some(Fix { change, steps: vec![step] })
}

/// Properties in an annotation, where the bundle has no file of properties yet.
pub fn properties(case: &Case, finding: &Finding) -> Option<Fix> {
    const FILE: &str = "metadata/properties.yaml";
    let bundle = case.bundle?;
    let written = case.written(&finding.file)?;
    let text = written.pointer(&finding.field)?.as_str()?;
    let list = yaml::from_json(text).ok()?;
    let remove = case.edit(&finding.file, &finding.field, Edit::Remove)?;
    let list = list.as_array()?;
    if list.is_empty() {
        let change = "removed the annotation: it names no property".to_owned();
        return Some(Fix { change, steps: vec![remove] });
    }
    let is_property = |it: &Value| {
        it.as_object().is_some_and(|map| {
            map.len() == 2 && !of::text(it, "/type").is_empty() && map.contains_key("value")
        })
    };
    // Catalogs take these two from the annotation, but not from a file.
    let is_own = |it: &Value| matches!(of::text(it, "/type"), "olm.package" | "olm.gvk");
    let is_movable = |it: &Value| is_property(it) && !is_own(it) && is_exact(it);
    // Only one of the files in metadata/ is read. `community` of operator-sdk looks for them in the annotation only.
    if !list.iter().all(is_movable) || has_file(case) || optional::needs_annotation(bundle) {
        return None;
    }
    let text = yaml::to_text(&json!({ "properties": list }));
    let create = Step { file: FILE.to_owned(), what: What::Create(text) };
    Some(Fix { change: format!("moved the properties to {FILE}"), steps: vec![create, remove] })
}

/// Whether all numbers are the same once YAML was written and read.
fn is_exact(value: &Value) -> bool {
    const MOST: u64 = 1 << 53;
    match value {
        Value::Number(it) => it.as_i64().is_some_and(|it| it.unsigned_abs() <= MOST),
        Value::Array(list) => list.iter().all(is_exact),
        Value::Object(map) => map.values().all(is_exact),
        _ => true,
    }
}

/// Whether a file in metadata/ has properties, or may have some.
fn has_file(case: &Case) -> bool {
    let may_have = |bytes: &[u8]| {
        let file = load::parsed(bytes);
        file.map_or(true, |it| format::field(&it, "properties").is_ok_and(|it| it.is_some()))
    };
    let in_metadata = case.files.iter().filter(|it| it.0.as_str().starts_with("metadata/"));
    in_metadata.map(|it| it.1).any(|it| may_have(it))
}

/// With conversion webhooks, AllNamespaces is the only mode that OLM accepts.
pub fn install_modes(case: &Case, finding: &Finding) -> Option<Fix> {
    const AT: &str = "/spec/installModes";
    let written = case.written(&finding.file)?;
    let modes = of::list(&written, AT);
    let is_supported = |it: &Value| it.get("supported") == Some(&Value::Bool(true));
    let is_all = |it: &Value| of::text(it, "/type") == "AllNamespaces";
    if !modes.iter().any(|it| is_all(it) && is_supported(it)) {
        return None;
    }
    let others = modes.iter().enumerate().filter(|(_, it)| is_supported(it) && !is_all(it));
    let names: Vec<String> =
        others.clone().map(|it| format!("`{}`", of::text(it.1, "/type"))).collect();
    let steps: Option<Vec<Step>> = others
        .map(|(at, _)| {
            let pointer = format!("{AT}/{at}/supported");
            case.edit(&finding.file, &pointer, Edit::Set(false.into()))
        })
        .collect();
    let change = format!("set `supported: false` for {}", names.join(", "));
    Some(Fix { change, steps: steps? })
}

/// An install mode that says the same once more.
pub fn same_install_mode(case: &Case, finding: &Finding) -> Option<Fix> {
    let item = finding.field.strip_suffix("/type")?;
    let (list, at) = item.rsplit_once('/')?;
    let modes = of::list(case.bundle?.written_csv(), list);
    let mode = modes.get(at.parse::<usize>().ok()?)?;
    let mut same = modes.iter().filter(|it| of::text(it, "/type") == of::text(mode, "/type"));
    if !same.all(|it| it == mode) {
        return None;
    }
    let what = What::Edit(item.to_owned(), Some(mode.clone()), Edit::Remove);
    let step = Step { file: finding.file.clone(), what };
    Some(Fix { change: "removed the duplicate".to_owned(), steps: vec![step] })
}

/// The name of the only CRD with the kind and the group.
pub fn owned_name(case: &Case, finding: &Finding) -> Option<Fix> {
    let owned = finding.field.strip_suffix("/name")?;
    let written = case.written(&finding.file)?;
    let others = of::list(&written, owned.rsplit_once('/')?.0);
    let owned = written.pointer(owned)?;
    let (_, group) = of::name_of(owned).split_once('.')?;
    let mut crds = case.bundle?.crds.iter().map(|it| &it.object).filter(|it| {
        of::text(it, "/spec/names/kind") == of::kind(owned) && of::text(it, "/spec/group") == group
    });
    let crd = crds.next()?;
    // An entry of its own may have the name.
    if crds.next().is_some() || others.iter().any(|it| of::name_of(it) == of::name(crd)) {
        return None;
    }
    case.set(&finding.file, &finding.field, of::name(crd))
}

/// A range without an end ends before the bundle's own version.
pub fn skip_range(case: &Case, finding: &Finding) -> Option<Fix> {
    let written = case.written(&finding.file)?;
    let range = written.pointer(&finding.field)?.as_str()?.trim();
    let version = versions::tolerant(of::text(&written, "/spec/version"))?;
    let start = range.strip_prefix(">=").or_else(|| range.strip_prefix('>'))?.trim_start();
    let is_one = start.starts_with(|it: char| it.is_ascii_digit())
        && !start.contains(['<', '>', '=', '!', '|', ' ', ',']);
    if !is_one || versions::tolerant(start)?.cmp_precedence(&version).is_ge() {
        return None;
    }
    case.set(&finding.file, &finding.field, &format!("{range} <{version}"))
}

pub fn capabilities(case: &Case, finding: &Finding) -> Option<Fix> {
    let written = case.written(&finding.file)?;
    let level = written.pointer(&finding.field)?.as_str()?;
    case.set(&finding.file, &finding.field, optional::known_capability(level)?)
}

pub fn categories(case: &Case, finding: &Finding) -> Option<Fix> {
    let written = case.written(&finding.file)?;
    let list = written.pointer(&finding.field)?.as_str()?;
    case.set(&finding.file, &finding.field, &optional::known_categories(list, case.context)?)
}

/// The media type of an icon is what its data begins with.
pub fn icon_type(case: &Case, finding: &Finding) -> Option<Fix> {
    const ICON: &str = "/spec/icon/0";
    const TYPE: &str = "/spec/icon/0/mediatype";
    let written = case.written(&finding.file)?;
    let icon = written.pointer(ICON)?;
    let media_type = media_type(of::text(icon, "/base64data"))?;
    if icon.get("mediatype").is_some() {
        return case.set(&finding.file, TYPE, media_type);
    }
    let edit = Edit::Insert("mediatype".to_owned(), media_type.into());
    let step = case.edit(&finding.file, ICON, edit)?;
    Some(Fix { change: format!("added `mediatype: {media_type}`"), steps: vec![step] })
}

fn media_type(data: &str) -> Option<&'static str> {
    let data: String = data.split_whitespace().collect();
    let bytes = STANDARD.decode(data).ok()?;
    let starts = [
        ("image/png", &b"\x89PNG\r\n\x1a\n"[..]),
        ("image/jpeg", b"\xff\xd8\xff"),
        ("image/gif", b"GIF87a"),
        ("image/gif", b"GIF89a"),
        ("image/svg+xml", b"<svg"),
    ];
    if let Some((it, _)) = starts.iter().find(|it| bytes.starts_with(it.1)) {
        return Some(it);
    }
    let text = std::str::from_utf8(&bytes).ok()?.trim_start_matches('\u{feff}').trim_start();
    let is_xml = text.starts_with("<svg") || text.starts_with("<?xml") && text.contains("<svg");
    is_xml.then_some("image/svg+xml")
}
