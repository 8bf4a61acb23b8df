//! The objects of a bundle, read as operator-sdk reads them before it checks anything.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::annotations, Files, Findings, Manifest, Rule, beta, format, of};
use diagnostics::{Diagnostics, utf8_text};
use go_data::{
    kubernetes,
    yaml::{self, Value, json},
};

/// The parsed files of a bundle, which the checks read.
pub struct Loaded<'a> {
    /// The file with annotations, which is usually metadata/annotations.yaml.
    pub annotated: &'a str,
    pub annotations: BTreeMap<String, String>,
    /// The folder of the manifests, with a `/` at its end; empty for the root of the bundle.
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
        load_bundle(files, &mut findings).ok_or_else(|| {
            let headline = format!("cannot read the bundle `{label}`");
            let list = findings
                .into_located(files)
                .iter()
                .map(|finding| finding.to_diagnostic(label))
                .collect();
            Diagnostics { headline, list }.into()
        })
    }

    /// Returns the manifests except the ClusterServiceVersion, as they are in the files.
    pub fn other_manifests(&self) -> impl Iterator<Item = &Manifest<'a>> {
        self.objects.iter().filter(|manifest| manifest.path != self.csv.path)
    }

    /// The ClusterServiceVersion, as it is written.
    pub fn written_csv(&self) -> &Value {
        let csv = self.objects.iter().find(|manifest| manifest.path == self.csv.path);
        csv.map_or(&Value::Null, |manifest| &manifest.object)
    }

    /// Reports directories in the folder of the manifests, and returns whether there is none. Directories with files
    /// were reported when the files were read.
    pub fn require_no_folders(&self, folders: &[String], findings: &mut Findings) -> bool {
        let inside = folders.iter().filter_map(|folder| folder.strip_prefix(&self.folder));
        let names: BTreeSet<&str> = inside.filter_map(|path| path.split('/').next()).collect();
        for name in &names {
            let path = format!("{}{name}", self.folder);
            findings.error(Rule::Subdirectory, &*path, subdirectory_message(name));
        }
        names.is_empty()
    }
}

fn subdirectory_message(name: &str) -> String {
    format!("bundle manifests dir contains directory: {name}")
}

/// Loads a bundle. If a file cannot be read, operator-sdk checks nothing, and these errors are the only findings.
pub fn load_bundle<'a>(files: &'a Files, findings: &mut Findings) -> Option<Loaded<'a>> {
    let mut faults = Findings::default();
    let annotations_file = format::find_annotations(files, &mut faults);
    let folder = annotations_file
        .as_ref()
        .and_then(|found_file| manifests_folder(&found_file.1, &mut faults));
    let (Some((annotated, annotations)), Some(folder)) = (annotations_file, folder) else {
        findings.0.append(&mut faults.0);
        return None;
    };
    let (mut objects, mut csvs, mut crds) = (Vec::new(), Vec::new(), Vec::new());
    for (path, bytes) in files {
        let path = path.as_str();
        let Some(name) = path.strip_prefix(&folder) else { continue };
        let (object, again) = match read_object(name, bytes) {
            Ok(read) => read,
            Err((rule, fault)) => {
                faults.error(rule, path, fault);
                continue;
            }
        };
        match of::kind(&object) {
            "ClusterServiceVersion" => csvs.extend(decode_typed(path, CSV, again, &mut faults)),
            "CustomResourceDefinition" => match of::text(&object, "/apiVersion") {
                version if version == CRD.1 => {
                    crds.extend(decode_typed(path, CRD, again, &mut faults))
                }
                BETA => match again.and_then(|crd| beta::to_v1(&crd)) {
                    Ok(crd) => crds.extend(decode_typed(path, CRD, Ok(crd), &mut faults)),
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
    match objects
        .iter()
        .filter(|manifest| of::kind(&manifest.object) == "ClusterServiceVersion")
        .count()
    {
        0 if faults.0.is_empty() => faults.error(
            Rule::NoCsv,
            folder.trim_end_matches('/'),
            "no ClusterServiceVersion in bundle",
        ),
        0 | 1 => {}
        _ => {
            for manifest in objects
                .iter()
                .filter(|manifest| of::kind(&manifest.object) == "ClusterServiceVersion")
            {
                faults.error(
                    Rule::MultipleCsvs,
                    (manifest.path, "/kind"),
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

/// Returns the folder of the manifests, from annotations.yaml.
fn manifests_folder(
    annotations: &BTreeMap<String, String>,
    findings: &mut Findings,
) -> Option<String> {
    let folder = annotations.get(annotations::MANIFESTS).map_or("manifests", String::as_str);
    let inside = model::resolve_path("", folder);
    if inside.is_none() {
        let key = annotations::MANIFESTS;
        let message = format!("the annotation {key:?} leads out of the bundle: {folder:?}");
        findings.error(Rule::ManifestsPath, "metadata", message);
    }
    inside.map(|folder| if folder.is_empty() { folder } else { folder + "/" })
}

/// Kind and version of what is decoded into Go types, and the word for it.
type Type = (&'static str, &'static str, &'static str);
const CSV: Type = ("ClusterServiceVersion", "operators.coreos.com/v1alpha1", "CSV");
const BETA: &str = "apiextensions.k8s.io/v1beta1";
const CRD: Type = ("CustomResourceDefinition", "apiextensions.k8s.io/v1", "CRD");

/// Decodes an object into its Go type, which Go chooses by the kind alone.
fn decode_typed<'a>(
    path: &'a str,
    type_: Type,
    again: Result<Value, String>,
    faults: &mut Findings,
) -> Option<Manifest<'a>> {
    let (kind, version, word) = type_;
    let mut fault = |field: String, message: String| {
        faults.error(Rule::Unreadable, (path, field), format!("unable to parse {word}: {message}"));
    };
    let mut object = again.map_err(|message| fault(String::new(), message)).ok()?;
    let type_meta = ["apiVersion", "kind"].map(|key| format::go_field(&object, key).ok()?.cloned());
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
    decoded
        .faults
        .into_iter()
        .for_each(|decode_fault| fault(decode_fault.pointer, decode_fault.message));
    is_good.then_some(Manifest { path, object: decoded.value })
}

/// Returns the object of a file, and the value that operator-sdk gets when it reads the file again to decode the
/// object.
fn read_object(name: &str, bytes: &[u8]) -> Result<(Value, Result<Value, String>), (Rule, String)> {
    if let Some((folder, _)) = name.split_once('/') {
        return Err((Rule::Subdirectory, subdirectory_message(folder)));
    }
    if name.starts_with('.') {
        return Err((Rule::HiddenFile, format!("bundle manifests dir has hidden file: {name}")));
    }
    let fault = |message: String| (Rule::Unreadable, format!("unable to decode object: {message}"));
    let text = utf8_text(bytes).map_err(fault)?;
    let (document, end) =
        cut_first_document(text).map_err(fault)?.ok_or_else(|| fault("EOF".to_owned()))?;
    let object = parse_first_value(&document).map_err(fault)?;
    if !object.is_null() && !of::has_kind(&object) {
        return Err(fault("Object 'Kind' is missing".to_owned()));
    }
    if end == text.len() {
        return Ok((object.clone(), Ok(object)));
    }
    // Go continues with the rest of its buffer, and then reads the file from its start.
    let rest = &bytes[end..buffered_end(bytes, end)];
    let again = String::from_utf8_lossy(&[rest, bytes].concat()).into_owned();
    let again = self::cut_first_document(&again)
        .and_then(|document| document.map_or(Ok(Value::Null), |cut| parse_first_value(&cut.0)));
    Ok((object, again))
}

/// Returns the end of the bytes that Go has buffered when it has used those before `end`. It reads lines through a
/// buffer of 4 KiB.
fn buffered_end(bytes: &[u8], end: usize) -> usize {
    let (mut at, mut filled) = (0, 0);
    while at < end {
        match bytes[at..filled].iter().position(|byte| *byte == b'\n') {
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

/// Cuts out the first document of a file, as Kubernetes does before it parses YAML, and returns it with its end.
fn cut_first_document(text: &str) -> Result<Option<(String, usize)>, String> {
    let mut document = String::new();
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
            if !document.is_empty() {
                return Ok(Some((document, at)));
            }
        }
        document.push_str(line.trim_end_matches('\n').trim_end_matches('\r'));
        document.push('\n');
    }
    Ok((!document.is_empty()).then_some((document, at)))
}

/// Parses the first document of a text. Go ignores the others.
fn parse_first_value(text: &str) -> Result<Value, String> {
    yaml::parse_first_document(text).map_err(|error| format!("{:#}", anyhow::Error::from(error)))
}

/// Returns whether a file has further documents behind the one that is read.
pub fn has_more(bytes: &[u8]) -> bool {
    let Ok(text) = utf8_text(bytes) else { return false };
    let Ok(Some((first, end))) = cut_first_document(text) else { return false };
    let is_end = |line: &str| line.trim_end() == "...";
    let is_content = |line: &str| {
        let line = line.strip_prefix("---").unwrap_or(line).trim();
        !line.is_empty() && !line.starts_with('#') && !is_end(line)
    };
    let behind = first.lines().skip_while(|line| !is_end(line));
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

/// Returns the value that Go reads from a file.
pub fn first_value(bytes: &[u8]) -> Result<Option<Value>, String> {
    cut_first_document(utf8_text(bytes)?)?.map(|cut| parse_first_value(&cut.0)).transpose()
}

/// Returns the value that Go reads from a file that it does not split into documents: comments are no document, and
/// only the first document is read.
pub fn parse_file(bytes: &[u8]) -> Result<Value, String> {
    let mut rest = utf8_text(bytes)?;
    while let Some((piece, end)) = cut_first_document(rest)? {
        let is_content = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        if piece.lines().any(is_content) {
            return parse_first_value(&piece);
        }
        rest = &rest[end..];
    }
    Ok(Value::Null)
}
