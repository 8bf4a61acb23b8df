//! The objects of a bundle, read as operator-sdk reads them before it checks anything.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::annotations, Files, Findings, Manifest, Rule, beta, format, of};
use diagnostics::{Diagnostics, utf8_text};
use go_data::{
    kubernetes,
    yaml::{self, Value, json},
};

/// What the checks look at.
pub struct Loaded<'a> {
    /// The file with annotations, which is usually metadata/annotations.yaml.
    pub annotated: &'a str,
    pub annotations: BTreeMap<String, String>,
    /// Where the manifests are, with a `/` at its end; empty for the bundle's own folder.
    pub folder: String,
    /// Every object, as it is written.
    pub objects: Vec<Manifest<'a>>,
    /// The ClusterServiceVersion and the CRDs, as Go decodes them.
    pub csv: Manifest<'a>,
    pub crds: Vec<Manifest<'a>>,
}

impl<'a> Loaded<'a> {
    /// Reads a bundle that no command has validated before. `label` is its name in messages.
    pub fn read(label: &str, files: &'a Files) -> anyhow::Result<Self> {
        let mut findings = Findings::default();
        load(files, &mut findings).ok_or_else(|| {
            let headline = format!("cannot read the bundle `{label}`");
            let list = findings.located(files).iter().map(|it| it.diagnostic(label)).collect();
            Diagnostics { headline, list }.into()
        })
    }

    /// The manifests besides the ClusterServiceVersion, as they are written.
    pub fn others(&self) -> impl Iterator<Item = &Manifest<'a>> {
        self.objects.iter().filter(|it| it.path != self.csv.path)
    }

    /// The ClusterServiceVersion, as it is written.
    pub fn written_csv(&self) -> &Value {
        let csv = self.objects.iter().find(|it| it.path == self.csv.path);
        csv.map_or(&Value::Null, |it| &it.object)
    }

    /// Whether the folder of the manifests has no directory. One with files was found when these were read.
    pub fn require_no_folders(&self, folders: &[String], findings: &mut Findings) -> bool {
        let inside = folders.iter().filter_map(|it| it.strip_prefix(&self.folder));
        let names: BTreeSet<&str> = inside.filter_map(|it| it.split('/').next()).collect();
        for name in &names {
            let path = format!("{}{name}", self.folder);
            findings.error(Rule::Subdirectory, &*path, subdirectory(name));
        }
        names.is_empty()
    }
}

fn subdirectory(name: &str) -> String {
    format!("bundle manifests dir contains directory: {name}")
}

/// operator-sdk checks nothing where it cannot read everything: these faults are then all that is found.
pub fn load<'a>(files: &'a Files, findings: &mut Findings) -> Option<Loaded<'a>> {
    let mut faults = Findings::default();
    let found = format::annotations(files, &mut faults);
    let folder = found.as_ref().and_then(|it| folder(&it.1, &mut faults));
    let (Some((annotated, annotations)), Some(folder)) = (found, folder) else {
        findings.0.append(&mut faults.0);
        return None;
    };
    let (mut objects, mut csvs, mut crds) = (Vec::new(), Vec::new(), Vec::new());
    for (path, bytes) in files {
        let path = path.as_str();
        let Some(name) = path.strip_prefix(&folder) else { continue };
        let (object, again) = match object(name, bytes) {
            Ok(read) => read,
            Err((rule, fault)) => {
                faults.error(rule, path, fault);
                continue;
            }
        };
        match of::kind(&object) {
            "ClusterServiceVersion" => csvs.extend(typed(path, CSV, again, &mut faults)),
            "CustomResourceDefinition" => match of::text(&object, "/apiVersion") {
                version if version == CRD.1 => crds.extend(typed(path, CRD, again, &mut faults)),
                BETA => match again.and_then(|it| beta::to_v1(&it)) {
                    Ok(crd) => crds.extend(typed(path, CRD, Ok(crd), &mut faults)),
                    Err(fault) => faults.error(
                        Rule::CrdConvert,
                        path,
                        format!("unable to parse CRD: {fault}"),
                    ),
                },
                version => faults.error(
                    Rule::CrdVersion,
                    (path, "/apiVersion"),
                    format!("unsupported CRD version {version}"),
                ),
            },
            _ => {}
        }
        objects.push(Manifest { path, object });
        if has_more(bytes) {
            let message = "operator-sdk and OLM v0 read only the first document of the file";
            findings.warning(Rule::MoreDocuments, path, message);
        }
    }
    match objects.iter().filter(|it| of::kind(&it.object) == "ClusterServiceVersion").count() {
        0 if faults.0.is_empty() => faults.error(
            Rule::NoCsv,
            folder.trim_end_matches('/'),
            "no ClusterServiceVersion in bundle",
        ),
        0 | 1 => {}
        _ => {
            for it in objects.iter().filter(|it| of::kind(&it.object) == "ClusterServiceVersion") {
                faults.error(
                    Rule::MultipleCsvs,
                    (it.path, "/kind"),
                    "invalid bundle: contains multiple CSVs",
                );
            }
        }
    }
    if faults.0.is_empty() {
        return Some(Loaded { annotated, annotations, folder, objects, csv: csvs.pop()?, crds });
    }
    findings.0.append(&mut faults.0);
    None
}

/// Where annotations.yaml says that the manifests are.
fn folder(found: &BTreeMap<String, String>, findings: &mut Findings) -> Option<String> {
    let folder = found.get(annotations::MANIFESTS).map_or("manifests", String::as_str);
    let inside = model::resolve("", folder);
    if inside.is_none() {
        let key = annotations::MANIFESTS;
        let message = format!("the annotation {key:?} leads out of the bundle: {folder:?}");
        findings.error(Rule::ManifestsPath, "metadata", message);
    }
    inside.map(|it| if it.is_empty() { it } else { it + "/" })
}

/// Kind and version of what is decoded into Go types, and the word for it.
type Type = (&'static str, &'static str, &'static str);
const CSV: Type = ("ClusterServiceVersion", "operators.coreos.com/v1alpha1", "CSV");
const BETA: &str = "apiextensions.k8s.io/v1beta1";
const CRD: Type = ("CustomResourceDefinition", "apiextensions.k8s.io/v1", "CRD");

/// An object as Go decodes it into its type, which it chooses by the kind alone.
fn typed<'a>(
    path: &'a str,
    type_: Type,
    again: Result<Value, String>,
    faults: &mut Findings,
) -> Option<Manifest<'a>> {
    let (kind, version, word) = type_;
    let mut fault = |field: String, it: String| {
        faults.error(Rule::Unreadable, (path, field), format!("unable to parse {word}: {it}"));
    };
    let mut object = again.map_err(|it| fault(String::new(), it)).ok()?;
    let type_meta = ["apiVersion", "kind"].map(|key| format::field(&object, key).ok()?.cloned());
    if let Some(map) = object.as_object_mut() {
        map.extend([("apiVersion".to_owned(), json!(version)), ("kind".to_owned(), json!(kind))]);
    }
    // These two are read as they are written: no number becomes a string.
    let types: Value = ["apiVersion", "kind"]
        .into_iter()
        .map(str::to_owned)
        .zip(type_meta.clone().map(Option::unwrap_or_default))
        .collect();
    let misread = kubernetes::decode_as("operators.ClusterServiceVersion", &types).faults;
    let mut decoded = kubernetes::decode(&object);
    decoded.faults.extend(misread);
    for (key, value) in ["apiVersion", "kind"].iter().zip(type_meta) {
        decoded.value[key] = value.unwrap_or_default();
    }
    let is_good = decoded.faults.is_empty();
    decoded.faults.into_iter().for_each(|it| fault(it.pointer, it.message));
    is_good.then_some(Manifest { path, object: decoded.value })
}

/// The object of a file, and what operator-sdk gets when it reads the file once more to decode the object.
fn object(name: &str, bytes: &[u8]) -> Result<(Value, Result<Value, String>), (Rule, String)> {
    if let Some((folder, _)) = name.split_once('/') {
        return Err((Rule::Subdirectory, subdirectory(folder)));
    }
    if name.starts_with('.') {
        return Err((Rule::HiddenFile, format!("bundle manifests dir has hidden file: {name}")));
    }
    let fault = |it: String| (Rule::Unreadable, format!("unable to decode object: {it}"));
    let text = utf8_text(bytes).map_err(fault)?;
    let (document, end) = document(text).map_err(fault)?.ok_or_else(|| fault("EOF".to_owned()))?;
    let object = value(&document).map_err(fault)?;
    if !object.is_null() && !of::has_kind(&object) {
        return Err(fault("Object 'Kind' is missing".to_owned()));
    }
    if end == text.len() {
        return Ok((object.clone(), Ok(object)));
    }
    // Go goes on with what its buffer still holds, and from there to the start of the file.
    let rest = &bytes[end..buffered(bytes, end)];
    let again = String::from_utf8_lossy(&[rest, bytes].concat()).into_owned();
    let again = self::document(&again).and_then(|it| it.map_or(Ok(Value::Null), |it| value(&it.0)));
    Ok((object, again))
}

/// The end of what Go has read of a file when it has used the bytes before `end`: lines, from a buffer of 4 KiB.
fn buffered(bytes: &[u8], end: usize) -> usize {
    let (mut at, mut filled) = (0, 0);
    while at < end {
        match bytes[at..filled].iter().position(|it| *it == b'\n') {
            Some(length) => at += length + 1,
            None if filled - at < BUFFER && filled < bytes.len() => {
                filled = bytes.len().min(at + BUFFER)
            }
            None => at = filled,
        }
    }
    filled
}

const BUFFER: usize = 4096;

/// The first document of a file, as Kubernetes' reader cuts it out before YAML is parsed, and where it ends.
fn document(text: &str) -> Result<Option<(String, usize)>, String> {
    let mut res = String::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if let Some(after) = line.strip_prefix("---") {
            let after = after.trim();
            if !after.is_empty() && !after.starts_with('#') {
                return Err(format!(
                    "invalid Yaml document separator: {after}: write the document on a line of its own"
                ));
            }
            if !res.is_empty() {
                return Ok(Some((res, at)));
            }
        }
        res.push_str(line.trim_end_matches('\n').trim_end_matches('\r'));
        res.push('\n');
    }
    Ok((!res.is_empty()).then_some((res, at)))
}

/// The first document of a text: Go looks at nothing behind it.
fn value(text: &str) -> Result<Value, String> {
    yaml::first(text).map_err(|it| format!("{:#}", anyhow::Error::from(it)))
}

/// Whether a file has further documents behind the one that is read.
pub fn has_more(bytes: &[u8]) -> bool {
    let Ok(text) = utf8_text(bytes) else { return false };
    let Ok(Some((first, end))) = document(text) else { return false };
    let is_end = |it: &str| it.trim_end() == "...";
    let is_content = |it: &str| {
        let it = it.strip_prefix("---").unwrap_or(it).trim();
        !it.is_empty() && !it.starts_with('#') && !is_end(it)
    };
    let behind = first.lines().skip_while(|it| !is_end(it));
    behind.chain(text[end..].lines()).any(is_content)
}

#[test]
fn whatever_follows_the_first_document_is_noticed() {
    let check =
        |text: &str, expected: bool| assert_eq!(has_more(text.as_bytes()), expected, "{text}");
    for text in [
        "a: 1\n",
        "---\na: 1\n---\n",
        "a: 1\n---\n# b\n--- # c\n...\n",
        "a: 1\n...\n",
        "a: |\n  ---\n  b\n",
    ] {
        check(text, false);
    }
    for text in [
        "a: 1\n---\nb: 1",
        "a: 1\n---\n- b\n",
        "# a\n---\na: 1\n",
        "a: 1\n...\nb: 1\n",
        "a: 1\n---\n{\n",
    ] {
        check(text, true);
    }
}

/// What Go reads of a file.
pub fn first(bytes: &[u8]) -> Result<Option<Value>, String> {
    document(utf8_text(bytes)?)?.map(|it| value(&it.0)).transpose()
}

/// What Go reads of a file that it parses without cutting it up: comments are no document, and what follows on the
/// first one is not looked at.
pub fn parsed(bytes: &[u8]) -> Result<Value, String> {
    let mut rest = utf8_text(bytes)?;
    while let Some((piece, end)) = document(rest)? {
        let is_content = |it: &str| !it.trim().is_empty() && !it.starts_with('#');
        if piece.lines().any(is_content) {
            return value(&piece);
        }
        rest = &rest[end..];
    }
    Ok(Value::Null)
}
