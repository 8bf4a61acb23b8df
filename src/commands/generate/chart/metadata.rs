//! Chart.yaml, which is the user's once it is written.

use diagnostics::{Diagnostic, Hint as _};
use go_data::yaml::{self, Dialect, Map, Value, json, pointer};
use model::{ProjectPath, Tree};
use olm::bundle::CargoPackage;

use crate::{app::charts::LISTED_CRDS as CRDS, project::Project};

/// The values of Chart.yaml, in the order of its lines.
pub struct ChartMetadata(Vec<(&'static str, Value)>);

impl ChartMetadata {
    /// From Cargo.toml, and from the base of the ClusterServiceVersion if there is one.
    pub fn read(tree: &impl Tree, project: &Project, crds: &[Value]) -> anyhow::Result<Self> {
        let cargo = tree.read_text(&ProjectPath::fixed("Cargo.toml"))?.unwrap_or_default();
        let cargo = CargoPackage::from_text(&cargo)?;
        let Some(version) = &cargo.version else {
            return Err(anyhow::format_err!("Cargo.toml has no version for the chart"))
                .hint("put `version = \"0.0.1\"` below `[package]`");
        };
        let base = format!("config/manifests/bases/{}.clusterserviceversion.yaml", project.name);
        let base: ProjectPath = base.parse()?;
        let csv = match tree.read_text(&base)? {
            Some(text) => yaml::from_text(&text, Dialect::Kubernetes)
                .map_err(yaml::locate_error(base.as_str(), &text))?,
            None => Value::Null,
        };
        let annotations = artifact_hub_annotations(&cargo, &csv, crds);
        let or = |own: Value, other: Value| if is_empty(&own) { other } else { own };
        let about = format!("Kubernetes operator {}", project.name);
        let description = or(cargo.description.into(), about.into());
        let home = or(cargo.homepage.into(), cargo.repository.clone().into());
        let sources = Some(cargo.repository).filter(|repository| !repository.is_empty());
        let fields = [
            ("apiVersion", "v2".into()),
            ("name", project.name.to_string().into()),
            ("description", description),
            ("type", "application".into()),
            ("version", version.to_string().into()),
            ("appVersion", version.to_string().into()),
            ("home", home),
            ("sources", sources.map_or(Value::Null, |url| json!([url]))),
            ("keywords", or(cargo.keywords.into(), csv["spec"]["keywords"].clone())),
            ("maintainers", csv["spec"]["maintainers"].clone()),
            ("annotations", annotations),
        ];
        Ok(Self(fields.into_iter().filter(|field| !is_empty(&field.1)).collect()))
    }

    pub fn to_yaml(&self) -> String {
        self.0.iter().map(|(key, value)| yaml::to_text(&json!({ *key: value }))).collect()
    }

    fn field(&self, name: &str) -> &Value {
        self.0.iter().find(|entry| entry.0 == name).map_or(&Value::Null, |entry| &entry.1)
    }

    /// Warns where a Chart.yaml has other versions or CRDs than the project.
    pub fn compare_with(&self, path: &ProjectPath, text: &str) -> anyhow::Result<Vec<Diagnostic>> {
        let found = yaml::from_text(text, Dialect::Kubernetes)
            .map_err(yaml::locate_error(path.as_str(), text))?;
        let mut diagnostics = Vec::new();
        let warn = |message: String, hint: String| {
            Diagnostic::in_file(path.as_str(), message).with_hint(hint)
        };
        let (version, own) = (pointer::text(&found, "/appVersion"), self.field("appVersion"));
        if version != *own {
            diagnostics.push(warn(
                format!("`appVersion` is `{version}`, and Cargo.toml has {own}"),
                "change it, and `version` with it: each chart that is published needs another one"
                    .to_owned(),
            ));
        }
        let (crds, own) = (&found["annotations"][CRDS], &self.field("annotations")[CRDS]);
        if !crds.is_null() && crds != own {
            let list = yaml::to_text(&json!({ CRDS: own }));
            let list = list.trim_end().replace('\n', "\n  ");
            diagnostics.push(warn(
                format!("the annotation `{CRDS}` is not about the CRDs of the project"),
                format!("replace it:\n  {list}"),
            ));
        }
        Ok(diagnostics)
    }
}

fn artifact_hub_annotations(cargo: &CargoPackage, csv: &Value, crds: &[Value]) -> Value {
    let mut annotations: Map<String, Value> = Map::new();
    let mut put = |name: &str, value: Value| {
        if !is_empty(&value) {
            annotations.insert(format!("artifacthub.io/{name}"), value);
        }
    };
    put("operator", "true".into());
    put("license", cargo.license.clone().into());
    put("operatorCapabilities", csv["metadata"]["annotations"]["capabilities"].clone());
    let as_text =
        |value: Value| if is_empty(&value) { value } else { yaml::to_text(&value).into() };
    put("links", as_text(csv["spec"]["links"].clone()));
    let crds = crds.iter().flat_map(|crd| {
        let versions = pointer::list(crd, "/spec/versions").iter();
        versions.filter(|version| version["served"] == true).map(move |version| {
            let kind = &crd["spec"]["names"]["kind"];
            let schema = &version["schema"]["openAPIV3Schema"];
            let description = schema["description"].as_str().map_or(kind.clone(), Into::into);
            json!({
                "description": description,
                "displayName": kind,
                "kind": kind,
                "name": crd["metadata"]["name"],
                "version": version["name"],
            })
        })
    });
    put("crds", as_text(crds.collect::<Vec<_>>().into()));
    annotations.into()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
